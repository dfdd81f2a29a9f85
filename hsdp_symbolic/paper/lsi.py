"""Log-Sobolev (LSI) constants along noisy mini-batch descent: `lem:LSIseq_convex`, `lem:LSIseq_stronglyconvex`.

The larger the constant c of a law, the more concentrated it is; 1/c is carried. Two facts are cited: how a Lipschitz
map and a Gaussian convolution change the constant. Everything else, the contraction factor of a gradient step included,
is derived.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Gt, Integer
from sympy.core.relational import Relational

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..meaning import Asks, Neighbouring, Quantity
from ..proof.checks import Identity, Induction, Limit, Slack, domain_of
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    G,
    K,
    L,
    N,
    P,
    W,
    X,
    Y,
    beta,
    eta,
    g_i,
    i,
    j,
    k,
    lam,
    p,
    q,
    s,
    sigma2,
    t,
    theta,
    v,
    x_i,
)
from . import gaussian

VEMPALA_16 = "Vempala & Wibisono 2019, Lemma 16"
VEMPALA_17 = "Vempala & Wibisono 2019, Lemma 17"


def pushforward(inverse_c: Expr, lipschitz: Expr) -> Expr:
    """1/c of f#μ, for μ with 1/c = `inverse_c` and f Lipschitz (cited)."""
    return lipschitz**2 * inverse_c


def convolution(inverse_c: Expr, time: Expr) -> Expr:
    """1/c of μ * N(0, 2·time·σ²I) (cited)."""
    return inverse_c + 2 * time * sigma2


def noisy_step(inverse_c: Expr, lipschitz: Expr, time: Expr) -> Expr:
    """1/c after a Lipschitz map followed by Gaussian noise of variance 2·time·σ²."""
    return convolution(pushforward(inverse_c, lipschitz), time)


def cite_lsi_facts(d: Derivation) -> None:
    """The two primitive facts, each checked on the Gaussian, whose LSI constant is 1/variance."""
    d.cite(
        "A map with Lipschitz constant L turns the LSI constant c into c/L² (witness: Gaussian variances scale alike).",
        VEMPALA_16,
        Identity(gaussian.expectation((L * theta) ** 2, Integer(0), v), pushforward(v, L)),
    )
    both = [gaussian.expectation(theta**2, Integer(0), part) for part in (v, 2 * t * sigma2)]
    d.cite(
        "Adding independent N(0, 2tσ²I) turns 1/c into 1/c + 2tσ² (witness: Gaussian variances add alike).",
        VEMPALA_17,
        Identity(sum(both), convolution(v, t)),
    )


CONVEX_STEP = eta < 2 / beta
STEP_CONTRACTS = "step contracts"
STRONGLY_CONVEX = (Gt(lam, 0, evaluate=False), lam <= beta, eta < 2 / (lam + beta))


def contraction(d: Derivation, modulus: Expr, step_size: Relational) -> Expr:
    """The Lipschitz constant of f(θ) = θ − η∇ℓ(θ), for ℓ strongly convex with `modulus` and β-smooth.

    `step_size` is the hypothesis of the statement that calls this.
    """
    factor = 1 - eta * modulus
    d.later(_contracts, modulus, step_size, factor)
    return factor


def _contracts(d: Derivation, modulus: Expr, step_size: Relational, factor: Expr) -> None:
    """f(θ) = θ − η∇ℓ(θ) contracts by `factor`, for ℓ strongly convex with `modulus` and β-smooth.

    Smoothness and convexity are used as quadratic bounds, ℓ(y) − ℓ(x) − ⟨∇ℓ(x), y − x⟩ between (μ/2)‖y − x‖² and
    (β/2)‖y − x‖².

    X, P, G stand for ‖Δθ‖², ⟨Δ∇ℓ, Δθ⟩, ‖Δ∇ℓ‖² at two points: the argument holds in any dimension, and for the
    average loss of a batch as for a single one. (For β = λ the vector w below is 0 and all is equality.)
    """
    smoothness = beta - modulus
    d.identity(
        "With μ the modulus of convexity, φ = ℓ − (μ/2)‖·‖² is convex and (β−μ)-smooth: (μ/2)‖·‖² contributes exactly "
        "(μ/2)‖y − x‖² to the quadratic bounds (coordinate by coordinate, y = x + Δ).",
        modulus / 2 * ((s + x_i) ** 2 - s**2 - 2 * s * x_i) + smoothness / 2 * x_i**2,
        beta / 2 * x_i**2,
    )
    w2 = d.identity(
        "w = Δ∇φ has ‖w‖² = G − 2μP + μ²X (coordinate by coordinate).",
        (g_i - modulus * x_i) ** 2,
        g_i**2 - 2 * modulus * g_i * x_i + modulus**2 * x_i**2,
    )
    w2 = w2.expand().subs({g_i**2: G, g_i * x_i: P, x_i**2: X}, simultaneous=True)
    d.identity(
        "Moving by −s·w changes φ − ⟨∇φ(x), ·⟩ by at most W((β−μ)s²/2 − s), W = ‖w‖², by smoothness; "
        "completing the square, the best s = 1/(β−μ) lowers it by W/(2(β−μ)).",
        W * (smoothness * s**2 / 2 - s),
        smoothness * W * (s - 1 / smoothness) ** 2 / 2 - W / (2 * smoothness),
    )
    cocoercive = d.identity(
        "So both Bregman divergences of φ are at least W/(2(β−μ)); they sum to ⟨w, Δθ⟩ = P − μX, and "
        "(β−μ)⟨w, Δθ⟩ − W ≥ 0 reads (β+μ)P − G − βμX ≥ 0.",
        smoothness * (P - modulus * X) - w2,
        (beta + modulus) * P - G - beta * modulus * X,
    )
    d.at_most(
        "Convexity (P ≥ μX) and Cauchy–Schwarz (P² ≤ XG) give μ²X² ≤ XG: gradients differ by at least μ‖Δθ‖.",
        modulus**2 * X**2,
        X * G,
        [
            (Integer(1), Slack(X * G - P**2, "Cauchy–Schwarz")),
            (Integer(1), Slack((P - modulus * X) * (P + modulus * X), "convexity")),
        ],
    )
    moved = d.identity(
        "f(θ) − f(θ') has squared norm X − 2ηP + η²G (coordinate by coordinate).",
        (x_i - eta * g_i) ** 2,
        x_i**2 - 2 * eta * g_i * x_i + eta**2 * g_i**2,
    )
    d.at_most(
        f"For {step_size} the step contracts by 1 − ημ (here μ = {modulus}).",
        moved.expand().subs({g_i**2: G, g_i * x_i: P, x_i**2: X}, simultaneous=True),
        factor**2 * X,
        [
            (2 * eta / (beta + modulus), Slack(cocoercive, "co-coercivity")),
            (eta * (2 / (beta + modulus) - eta), Slack(G - modulus**2 * X, "gradients differ by at least μ‖Δθ‖")),
        ],
        domain=domain_of(step_size, beta),
        name=STEP_CONTRACTS,
    )


def _sequence(d: Derivation, lipschitz: Expr, solution: Expr) -> Expr:
    """1/c after `i` noisy steps from a point mass: the recursion, and its solution by induction and by rsolve."""
    d.later(cite_lsi_facts)
    after = d.identity(
        "One update is a Lipschitz map, then noise of variance 2ησ²: 1/c ↦ L²/c + 2ησ².",
        noisy_step(Y, lipschitz, eta),
        lipschitz**2 * Y + 2 * eta * sigma2,
    )
    d.check(
        "A point mass has 1/c = 0; solving the recursion gives 1/c after i updates.",
        Induction(solution, i, 0, Integer(0), Y, after, cross_check=True),
    )
    return solution.subs(i, k * N + j)


_INDICES = (k <= K - 1, j <= N - 1, k * N + j >= 1)


@cache
def lsi_convex() -> Statement:
    """`lem:LSIseq_convex`."""
    d = Derivation()
    factor = contraction(d, Integer(0), CONVEX_STEP)
    inverse_c = _sequence(d, factor, 2 * eta * sigma2 * i)
    return Statement(
        label="lem:LSIseq_convex",
        kind="lemma",
        assumes=(Asks.CONVEX.words(Neighbouring.REPLACE_ONE), "the start is a fixed point"),
        title="LSI constants for convex smooth loss",
        where="Lemma D.2 (Appendix D.3)",
        says="LSI constant of the parameters after k epochs and j iterations, for convex β-smooth loss.",
        bounds="c_k^j",
        quantity=Quantity.LOG_SOBOLEV,
        relation="=",
        expr=1 / inverse_c,
        shown=d.printed(1 / inverse_c, Over(1, Dot(times(2, eta, sigma2), Plus(k * N, j)))),
        hypotheses=(CONVEX_STEP, *_INDICES),
        steps=d.steps,
    )


@cache
def lsi_strongly_convex() -> Statement:
    """`lem:LSIseq_stronglyconvex`."""
    d = Derivation()
    d.identity(
        "The contraction factor is what q abbreviates.", contraction(d, lam, STRONGLY_CONVEX[-1]), ABBREVIATIONS[q]
    )
    inverse_c = _sequence(d, q, 2 * eta * sigma2 * GeometricSum(q**2, i))
    d.check(
        "For q → 1 (q = 1/(1+p), p ↓ 0) it becomes the constant of the convex case.",
        Limit(inverse_c.subs(q, 1 / (1 + p)).doit(), p, Integer(0), 2 * eta * sigma2 * (k * N + j)),
    )
    return Statement(
        label="lem:LSIseq_stronglyconvex",
        kind="lemma",
        assumes=(Asks.STRONGLY_CONVEX.words(Neighbouring.REPLACE_ONE), "the start is a fixed point"),
        title="LSI constants for strongly convex smooth loss",
        where="Lemma D.3 (Appendix D.3)",
        says="LSI constant of the parameters after k epochs and j iterations, for λ-strongly convex β-smooth loss.",
        bounds="c_k^j",
        quantity=Quantity.LOG_SOBOLEV,
        relation="=",
        expr=1 / inverse_c,
        shown=d.printed(
            1 / inverse_c, Dot(Over(1, times(2, eta, sigma2)), Over(1, GeometricSum(q**2, Plus(k * N, j))))
        ),
        hypotheses=(*STRONGLY_CONVEX, *_INDICES),
        steps=d.steps,
    )
