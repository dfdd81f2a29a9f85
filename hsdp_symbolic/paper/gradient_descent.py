"""Full-batch noisy gradient descent: `thm:GD_tighter`, and the two exponential bounds it implies.

The noise of a step that uses the record is split in two halves: the first hides what the record does to the gradient,
the second is post-processing, which shrinks the divergence.
The bounds of Chourasia et al. (`thm:GD_baseline`, and `thm:naive_RDP_baseline` for batches) then follow, from any
start and without their argument.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, exp
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus, PowerSum, times
from ..functions.compounded import Compounded
from ..functions.expm1 import Expm1
from ..functions.geometric import GeometricSum
from ..meaning import BY_STRONG_CONVEXITY, Quantity
from ..proof.checks import Induction, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    A_epoch,
    K,
    L,
    S_g,
    Y,
    a,
    alpha,
    b,
    beta,
    c,
    e_half,
    eta,
    hit,
    i,
    j,
    k,
    lam,
    n,
    p,
    q,
    q_half,
    r_epoch,
    rho0,
    rho_n,
    sigma,
    sigma2,
    u,
    v,
    y_half,
)
from . import gaussian
from .fixed_order import EPOCHS, ORDER
from .lsi import STRONGLY_CONVEX, lsi_strongly_convex, noisy_step
from .postprocessing import one_step

SMALL_STEP = eta < 1 / beta


def split_step(d: Derivation, size: Expr, cost: Expr) -> Expr:
    """What a sensitive update on a batch of the given size does to u: u ↦ (u + 2ρ)·factor; returns the factor's bound.

    `cost` is the ρ of that batch size. The number i ≥ 0 of updates before it is arbitrary.
    """
    half = eta * sigma2
    d.identity(
        "Noise of variance 2ησ² is the sum of two independent halves of variance ησ².", half + half, 2 * eta * sigma2
    )
    before = 2 * eta * sigma2 * GeometricSum(q**2, i)
    d.identity(
        "Before the update 1/c is at most 2ησ²·Σ_(s<i) q^(2s) (lem:LSIseq_stronglyconvex).",
        1 / lsi_strongly_convex().expr.subs({k: 0, j: i}, simultaneous=True),
        before,
    )
    inverse_c = d.identity(
        "After the map and the first half of the noise, 1/c = 2ησ²·Σ_(s=1..i) q^(2s) + ησ².",
        noisy_step(before, q, eta / 2),
        2 * eta * sigma2 * q**2 * GeometricSum(q**2, i) + eta * sigma2,
    )
    d.identity(
        "The first half pays for the gradient: R_α/α grows by at most (ηS_g/size)²/(2ησ²) = 2ρ.",
        gaussian.renyi().subs({a: eta * S_g / size, v: half}, simultaneous=True) / alpha,
        2 * ABBREVIATIONS[cost],
    )
    halved = one_step().expr.subs(hit, 0).subs(sigma2, sigma2 / 2)
    exact_factor = 1 - 1 / (2 * GeometricSum(q**2, i + 1))
    d.identity(
        "The second half, after the identity map, multiplies by 1 − 1/(2·Σ_(s≤i) q^(2s)) (lem:recursive).",
        halved.subs({L: 1, c: 1 / inverse_c, u: 1}, simultaneous=True),
        exact_factor,
    )
    return exact_factor


def _bounded_factor(d: Derivation, exact_factor: Expr) -> Expr:
    """1 − ηλ/2, from the exact factor of the half step."""
    settled = d.at_most(
        "That is at most 1 − (1 − q²)/2, its value after infinitely many updates …",
        exact_factor,
        1 - (1 - q**2) / 2,
        [(q ** (2 * (i + 1)) / (2 * GeometricSum(q**2, i + 1)), Slack(Integer(1), "a positive power"))],
    )
    d.identity("(1 − ηλ/2 is (1 + q)/2.)", ABBREVIATIONS[q_half], ((1 + q) / 2).subs(q, ABBREVIATIONS[q]))
    d.at_most(
        "… and at most 1 − ηλ/2, since 0 < q < 1.",
        settled,
        (1 + q) / 2,
        [(q * (1 - q) / 2, Slack(Integer(1), "0 < q < 1"))],
        domain={q: 1 / (1 + p)},
    )
    return q_half


def _sum_over_hits(d: Derivation, factor: Expr, cost: Expr) -> Expr:
    """u after K updates that use the record."""
    solved = A_epoch * r_epoch * GeometricSum(r_epoch, i)
    d.check(
        "So a sensitive update maps u to at most x(u + a), with x = 1 − ηλ/2 and a = 2ρ: solve from u = 0.",
        Induction(solved, i, 0, Integer(0), Y, r_epoch * (Y + A_epoch), cross_check=True),
    )
    return solved.subs({r_epoch: factor, A_epoch: 2 * cost, i: K}, simultaneous=True)


def _exponential_form(d: Derivation, bound: Expr, size: Expr) -> Expr:
    """αS_g²/(λσ²·size²)·(1 − e^(−ληK/2)), from the geometric form, for all parameters."""
    x = 1 - y_half
    d.at_most(
        "With y = ηλ/2 and e = e^(−y): y·Σ_(k=1..K) (1−y)^k ≤ 1 − e^K.",
        y_half * x * GeometricSum(x, K),
        (1 - e_half) * GeometricSum(e_half, K),
        [
            (GeometricSum(e_half, K), Slack(1 - e_half - y_half * e_half, "e^y ≥ 1 + y")),
            (y_half, Slack(e_half * GeometricSum(e_half, K) - x * GeometricSum(x, K), "termwise, as 1 − y ≤ e^(−y)")),
        ],
    )
    d.identity("1 − e^K is (1 − e) times that sum.", (1 - e_half) * GeometricSum(e_half, K), 1 - e_half**K)
    expr = -alpha * S_g**2 / (lam * sigma2 * size**2) * Expm1(-lam * eta * K / 2)
    d.identity(
        "In the paper's letters: the geometric form is αS_g²/(λσ²·size²) times y·Σ_(k=1..K) (1−y)^k.",
        bound.subs({rho_n: ABBREVIATIONS[rho_n], rho0: ABBREVIATIONS[rho0]}),
        alpha * S_g**2 / (lam * sigma2 * size**2) * (eta * lam / 2) * q_half * GeometricSum(q_half, K),
    )
    return expr


def _exponential_shown(size: Expr) -> Expr:
    return Dot(Over(alpha * S_g**2, times(lam, sigma**2, size**2)), Plus(1, -exp(-lam * eta * K / 2)))


@cache
def tighter() -> Statement:
    """`thm:GD_tighter`."""
    d = Derivation()
    factor = _bounded_factor(d, split_step(d, n, rho_n))
    expr = alpha * _sum_over_hits(d, factor, rho_n)
    shown = Dot(Over(times(alpha, eta, S_g**2), times(2, sigma**2, n**2)), PowerSum(q_half, K))
    return Statement(
        label="thm:GD_tighter",
        title="Full-batch noisy gradient descent",
        where="Theorem D.6 (Appendix D.7)",
        says="ε after K steps on the full batch.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX[:2], SMALL_STEP),
        steps=d.steps,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
        terms=BY_STRONG_CONVEXITY,
    )


@cache
def exact_recursion() -> Statement:
    """The recursion of `thm:GD_tighter` with its factors as they are."""
    d = Derivation()
    factor = split_step(d, n, rho_n)
    d.at_most(
        "The factors increase with the number of updates …",
        factor,
        factor.subs(i, i + 1),
        [
            (
                q ** (2 * (i + 1)) / (2 * GeometricSum(q**2, i + 1) * GeometricSum(q**2, i + 2)),
                Slack(Integer(1), "one more positive power"),
            )
        ],
    )
    limit = d.at_most(
        "… and stay below (1 + q²)/2 < 1.",
        factor,
        (1 + q**2) / 2,
        [(q ** (2 * (i + 1)) / (2 * GeometricSum(q**2, i + 1)), Slack(Integer(1), "a positive power"))],
    )
    d.at_most(
        "So the bound is at most that of thm:GD_tighter, whose factor is (1 + q)/2.",
        limit,
        (1 + q) / 2,
        [(q * (1 - q) / 2, Slack(Integer(1), "0 < q < 1"))],
        domain={q: 1 / (1 + p)},
    )
    expr = alpha * Compounded(factor, i, 2 * rho_n, K, limit)
    here = Named(Str(r"u_k"), u)
    step = Dot(
        Plus(here, Over(times(eta, S_g**2), times(2, sigma**2, n**2))),
        Plus(1, -Over(1, times(2, GeometricSum(q**2, Plus(k, 1))))),
    )
    return Statement(
        label="thm:GD_tighter:recursion",
        title="Full-batch noisy gradient descent, before simplification",
        where="eqn:GD_recursive_complex (Appendix D.7)",
        says="ε after K steps on the full batch, by the recursion the proof of thm:GD_tighter simplifies.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=Dot(alpha, Named(Str("u_K"), expr / alpha)),
        also=(("u_0", Integer(0)), ("u_{k+1}", step)),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
        terms=BY_STRONG_CONVEXITY,
    )


@cache
def baseline() -> Statement:
    """`thm:GD_baseline`, as a consequence of `thm:GD_tighter`."""
    d = Derivation()
    expr = _exponential_form(d, tighter().expr, n)
    return Statement(
        label="thm:GD_baseline",
        kind="baseline",
        title="Full-batch noisy gradient descent (Chourasia et al. 2021, Corollary 1)",
        where="Theorem D.7 (Appendix D.7)",
        says="ε after K steps on the full batch, in exponential form; larger than thm:GD_tighter for all parameters.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, _exponential_shown(n)),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX[:2], SMALL_STEP),
        steps=d.steps,
        uses=("thm:GD_tighter",),
        terms=BY_STRONG_CONVEXITY,
        assumes=("as stated in the paper, the start is N(0, (2σ²/λ)I); as derived here, any start will do",),
    )


@cache
def naive() -> Statement:
    """`thm:naive_RDP_baseline`: the same on batches, without any gain from updates that do not use the record."""
    d = Derivation()
    factor = _bounded_factor(d, split_step(d, b, rho0))
    d.at_most(
        "An update without the record multiplies u by at most 1 (lem:recursive).",
        one_step().expr.subs(hit, 0),
        u,
        [(2 * c * eta * sigma2 * u / (L**2 + 2 * c * eta * sigma2), Slack(Integer(1), "positive"))],
    )
    expr = _exponential_form(d, alpha * _sum_over_hits(d, factor, rho0), b)
    return Statement(
        label="thm:naive_RDP_baseline",
        kind="baseline",
        title="Naive extension of Chourasia et al. to mini-batches",
        where="Theorem 2.1",
        says="ε after K epochs, counting only the K updates that hold the record.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, _exponential_shown(b)),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
        terms=BY_STRONG_CONVEXITY,
    )
