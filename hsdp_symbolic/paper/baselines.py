"""The bounds the paper compares with: Balle et al. 2019 over epochs, the sampled Gaussian of Mironov et al. 2019."""

from __future__ import annotations

from functools import cache

from sympy import Eq, Integer, Lt, Piecewise, Rational, binomial, floor, sqrt

from ..checks import AtPoint, Identity, Slack
from ..derivation import Derivation
from ..nodes import Dot, Over, Plus, SampledGaussian, times
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    K,
    L,
    N,
    S_g,
    alpha,
    b,
    beta,
    eta,
    i,
    j,
    j0,
    lam,
    n,
    other_shift,
    q_balle,
    rho0,
    shift,
    sigma,
    sigma2,
    variance,
)
from . import gaussian
from .fixed_order import EPOCHS, HIDDEN, MIRONOV, ORDER, STEP_COST, TWO_BATCHES
from .lsi import STRONGLY_CONVEX

POISSON = ("batches are drawn by Poisson sampling of rate b/n; every iterate may be released",)
BALLE = "Balle et al. 2019, Theorem 5"


@cache
def balle() -> Statement:
    """Theorem 5 of Balle et al., in the paper's letters, composed over epochs."""
    d = Derivation()
    theirs = 2 * L**2 / variance  # per order, for the last point: their noise variance and Lipschitz constant
    d.cite(
        "One pass, the record in batch j0: ε is α·2L²/v for the last batch, and before it "
        "α·2L²/((N−j0−1)·v)·(1−2ηβλ/(β+λ))^((N−j0)/2) (witness: the last batch, the Gaussian mechanism with shift 2L).",
        BALLE,
        Identity(alpha * theirs, gaussian.renyi().subs(shift, 2 * L)),
    )
    d.identity(
        "Translated as in the appendix, L ↦ (ηS_g/2)/b and v ↦ 2ησ²: 2L²/v becomes ρ₀.",
        theirs.subs({L: eta * S_g / 2 / b, variance: 2 * eta * sigma2}, simultaneous=True),
        ABBREVIATIONS[rho0],
    )
    between = q_balle ** (N / Integer(2)) / (N - 1)
    after = q_balle ** ((N - j0) / Integer(2)) / (N - j0 - 1)
    d.identity(
        "From one use of the record to the next there are N − 1 updates: each epoch but the last costs as if j0 = 0.",
        after.subs(j0, 0),
        between,
    )
    product = gaussian.renyi().subs(shift**2, shift**2 + other_shift**2)
    d.cite(
        "These costs add up over the epochs (witness: independent Gaussian shifts).",
        MIRONOV,
        Identity(gaussian.renyi() + gaussian.renyi().subs(shift, other_shift), product),
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
        relation="<=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX[:2], eta <= 2 / (lam + beta), j0 <= N - 1),
        steps=tuple(d.steps),
        assumes=HIDDEN,
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
        Identity(gaussian.renyi().subs({alpha: 2, shift: 1}, simultaneous=True), 1 / variance),
    )
    # E e^(kx/v) for x ~ N(0, v) is e^(k²/(2v)), by completing the square.
    d.identity(
        "For whole orders the binomial theorem and E e^(kx/noise²) = e^(k²/(2·noise²)) give "
        "A_α = Σ C(α,k)(1−p)^(α−k)p^k e^(ρ₀k(k−1)).",
        (i**2 / (2 * variance) - i / (2 * variance)).subs(variance, 1 / (2 * rho0)),
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
        relation="=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, EPOCHS, b <= n),
        steps=tuple(d.steps),
        assumes=POISSON,
    )


@cache
def small_rate() -> Statement:
    """(b/n)·αρ₀·K, which the paper uses for `mironov2019`: a lower bound on it at whole orders."""
    d = Derivation()
    d.identity(
        "C(α,k)·k(k−1) = α(α−1)·C(α−2,k−2), so the mean of k(k−1) under the binomial law is α(α−1)p².",
        binomial(j + 2, i + 2) * (i + 2) * (i + 1) / binomial(j, i),
        (j + 2) * (j + 1),
    )
    d.cite(
        "Jensen: A_α, the binomial mean of e^(ρ₀k(k−1)), is at least e^(ρ₀α(α−1)p²): a step costs at least p²·αρ₀ "
        "(witness: α = 2, p = 1/2, ρ₀ = log 2, where √2 < 7/4).",
        "Jensen's inequality",
        AtPoint(sqrt(2), Rational(1, 4) + Rational(1, 2) + Rational(1, 4) * 4, Lt, "α = 2, p = 1/2, ρ₀ = log 2"),
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
        says="What the paper uses for the composition bound; for whole orders and b dividing n it is a lower bound.",
        bounds=r"\varepsilon_{SGM}",
        relation=">=",
        expr=expr,
        shown=d.printed(expr, Dot(Over(b, n), STEP_COST, K)),
        hypotheses=(ORDER, EPOCHS, b <= n, alpha <= floor(alpha), n <= b * N),
        steps=tuple(d.steps),
        uses=("mironov2019",),
        assumes=POISSON,
    )
