"""The bounds the paper compares with: Balle et al. 2019 over epochs, the sampled Gaussian of Mironov et al. 2019."""

from __future__ import annotations

from functools import cache

from sympy import Eq, Integer, Lt, Piecewise, Rational, sqrt

from ..display import Dot, Over, Plus, times
from ..functions.sampled_gaussian import SampledGaussian
from ..meaning import BY_STRONG_CONVEXITY, Asks, Neighbouring, Quantity, Released, Terms
from ..proof.checks import AtPoint, Identity, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    K,
    L,
    N,
    S_g,
    a,
    a2,
    alpha,
    b,
    beta,
    eta,
    i,
    j0,
    lam,
    n,
    q_balle,
    rate,
    rho0,
    s_unit,
    sigma,
    sigma2,
    t_tilt,
    v,
)
from . import gaussian
from .fixed_order import EPOCHS, MIRONOV, ORDER, STEP_COST, TWO_BATCHES
from .lsi import STRONGLY_CONVEX

POISSON = Terms(Neighbouring.ADD_REMOVE, Released.EVERY, Asks.NOTHING)
BALLE_5 = "Balle et al. 2019, Theorem 5"


@cache
def balle() -> Statement:
    """Theorem 5 of Balle et al., in the paper's letters, composed over epochs."""
    d = Derivation()
    theirs = 2 * L**2 / v  # per order, for the last point: their noise variance and Lipschitz constant
    d.cite(
        "One pass, the record in batch j0: ε is α·2L²/v for the last batch, and before it "
        "α·2L²/((N−j0−1)·v)·(1−2ηβλ/(β+λ))^((N−j0)/2) (witness: the last batch, the Gaussian mechanism with shift 2L).",
        BALLE_5,
        Identity(alpha * theirs, gaussian.renyi().subs(a, 2 * L)),
    )
    d.identity(
        "Translated as in the appendix, L ↦ (ηS_g/2)/b and v ↦ 2ησ²: 2L²/v becomes ρ₀.",
        theirs.subs({L: eta * S_g / 2 / b, v: 2 * eta * sigma2}, simultaneous=True),
        ABBREVIATIONS[rho0],
    )
    between = q_balle ** (N / Integer(2)) / (N - 1)
    after = q_balle ** ((N - j0) / Integer(2)) / (N - j0 - 1)
    d.identity(
        "From one use of the record to the next there are N − 1 updates: each epoch but the last costs as if j0 = 0.",
        after.subs(j0, 0),
        between,
    )
    product = gaussian.renyi().subs(a**2, a**2 + a2**2)
    d.cite(
        "These costs add up over the epochs (witness: independent Gaussian shifts).",
        MIRONOV,
        Identity(gaussian.renyi() + gaussian.renyi().subs(a, a2), product),
    )
    d.at_most(
        "The base stays nonnegative: 2ηβλ/(β+λ) ≤ 4βλ/(β+λ)² ≤ 1.",
        4 * beta * lam,
        (beta + lam) ** 2,
        [(Integer(1), Slack((beta - lam) ** 2, "a square"))],
    )
    final = Piecewise((1, Eq(j0, N - 1)), (after, True))
    expr = alpha * rho0 * (K - 1) * between + alpha * rho0 * final
    shown = Plus(
        Dot(STEP_COST, K - 1, Over(q_balle ** Over(N, 2), N - 1)),
        Dot(STEP_COST, Piecewise((1, Eq(j0, N - 1)), (Over(q_balle ** Over(N - j0, 2), N - j0 - 1), True))),
    )
    return Statement(
        label="balle2019",
        kind="baseline",
        title="Mixing and diffusion, composed over epochs (Balle et al. 2019)",
        where="Theorem D.5 and Figure 1 (Appendix D.6)",
        says="ε after K epochs over a fixed sequence of batches, by Balle et al.'s one-pass bound and composition.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX[:2], eta <= 2 / (lam + beta), j0 <= N - 1),
        steps=d.steps,
        terms=BY_STRONG_CONVEXITY,
    )


@cache
def sampled_gaussian() -> Statement:
    """The composition bound of DP-SGD: Mironov, Talwar & Zhang 2019, Section 3.3."""
    d = Derivation()
    noise2 = 2 * eta * sigma2 / (eta * S_g / b) ** 2
    d.identity(
        "The noise multiplier √(2ησ²)/(ηS_g/b) enters as 1/(2·noise²), which is ρ₀.",
        1 / (2 * noise2),
        ABBREVIATIONS[rho0],
    )
    d.cite(
        "ε of one step is log A_α/(α−1), A_α = E[((1−p) + p·e^((2x−1)/(2·noise²)))^α] over x ~ N(0, noise²) "
        "(witness: at p = 1, whole order 2, log A is the Gaussian mechanism's).",
        "Mironov, Talwar & Zhang 2019, Theorems 4, 5 and Section 3.3",
        Identity(gaussian.renyi().subs({alpha: 2, a: 1}, simultaneous=True), 1 / v),
    )
    # E e^(kx/v) for x ~ N(0, v) is e^(k²/(2v)), by completing the square.
    d.identity(
        "For whole orders the binomial theorem and E e^(kx/noise²) = e^(k²/(2·noise²)) give "
        "A_α = Σ C(α,k)(1−p)^(α−k)p^k e^(ρ₀k(k−1)).",
        (i**2 / (2 * v) - i / (2 * v)).subs(v, 1 / (2 * rho0)),
        rho0 * i * (i - 1),
    )
    expr = K * N * SampledGaussian(b / n, rho0, alpha) / (alpha - 1)
    shown = Dot(
        K, N, Over(1, alpha - 1), SampledGaussian(Over(b, n), Over(eta * S_g**2, times(4, sigma**2, b**2)), alpha)
    )
    return Statement(
        label="mironov2019",
        kind="baseline",
        title="DP-SGD by composition of sampled Gaussian mechanisms (Mironov et al. 2019)",
        where="Figure 2 (Section 4.1)",
        says="ε of releasing every iterate of K epochs with Poisson-sampled batches of rate b/n.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, EPOCHS, b <= n),
        steps=d.steps,
        terms=POISSON,
        assumes=("batches are drawn by Poisson sampling of rate b/n",),
    )


@cache
def small_rate() -> Statement:
    """(b/n)·αρ₀·K, which the paper uses for `mironov2019`: a lower bound on it."""
    d = Derivation()
    d.cite(
        "Hölder, with Q = N(0, 1), P = (1−p)Q + p·N(s, 1), s² = 2ρ₀ and β = α − 1: log A_α ≥ α·log E_P e^(βtx) − "
        "β·log E_Q e^(αtx) for every t (witness: p = 1, t = s, where it is an equality).",
        "Hölder's inequality",
        Identity(
            gaussian.renyi().subs({a: s_unit, v: 1}, simultaneous=True) * (alpha - 1),
            alpha * ((alpha - 1) ** 2 / 2 + (alpha - 1)) * s_unit**2 - (alpha - 1) * alpha**2 * s_unit**2 / 2,
        ),
    )
    d.cite(
        "Convexity of exp: (1−p) + p·e^x ≥ e^(px), so log E_P e^(βtx) ≥ β²t²/2 + pβts (witness: p = 1/2, x = log 4).",
        "Jensen's inequality",
        AtPoint(sqrt(4), Rational(1, 2) + Rational(1, 2) * 4, Lt, "p = 1/2, x = log 4"),
    )
    exponent = alpha * (t_tilt**2 * (alpha - 1) ** 2 / 2 + rate * (alpha - 1) * t_tilt * s_unit)
    bound = (exponent - (alpha - 1) * alpha**2 * t_tilt**2 / 2) / (alpha - 1)
    d.identity(
        "That is R_α ≥ α(pst − t²/2), which at t = ps is αp²s²/2 = αp²ρ₀: at every order a step costs at least that.",
        bound.subs(t_tilt, rate * s_unit),
        alpha * rate**2 * s_unit**2 / 2,
    )
    d.identity(
        "An epoch of n/b steps with p = b/n costs at least (b/n)·αρ₀ (b divides n).",
        n / b * (b / n) ** 2 * alpha * rho0,
        b / n * alpha * rho0,
    )
    expr = b / n * alpha * rho0 * K
    return Statement(
        label="mironov2019:small_rate",
        kind="baseline",
        title="Small-rate approximation of the composition bound",
        where="caption of Figure 2, Appendix E.1",
        says="What the paper uses for the composition bound; where b divides n it is a lower bound.",
        bounds=r"\varepsilon_{SGM}",
        quantity=Quantity.DIVERGENCE,
        relation=">=",
        expr=expr,
        shown=d.printed(expr, Dot(Over(b, n), STEP_COST, K)),
        hypotheses=(ORDER, EPOCHS, b <= n, n <= b * N),
        steps=d.steps,
        uses=("mironov2019",),
        terms=POISSON,
        assumes=("batches are drawn by Poisson sampling of rate b/n",),
    )
