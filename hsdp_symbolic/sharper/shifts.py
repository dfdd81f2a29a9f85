"""Optimal shifts for a fixed order of batches: `shift:cyclic`, `shift:convex` and, shuffled once, `shift:shuffle`.

Two runs from the same start, one per dataset, are compared through a distance z: an update turns z into at most qz +
s·hit, and noise takes a off it at the price of a Gaussian shift. Any a with z ≥ 0 throughout and z = 0 at the end gives
a bound; the best a is a greatest convex minorant, which for one hit per epoch has at most two edges. Where the first
would be the steeper one they are pooled into one, the chord. No log-Sobolev constant is needed. Distances are in units
of s = ηS_g/b; j = N − j0 updates are left at the last hit.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, fraction
from sympy.core.relational import Relational
from sympy.core.symbol import Str

from ..display import Dot, LogAverage, Named, Over, Plus, times
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.geometric import GeometricSum
from ..functions.log_mean_exp import LogMeanExp
from ..functions.pooled import Pooled
from ..meaning import BY_CONTRACTION, BY_CONVEXITY, Quantity
from ..paper import gaussian
from ..paper.fixed_order import BATCH, EPOCHS, ORDER, STEP_COST, batch_in_range
from ..paper.lsi import CONVEX_STEP, STRONGLY_CONVEX, contraction
from ..paper.shuffle import mixture_of_exponentials, over_batches
from ..proof.checks import Certificate, Induction, Limit, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    A2,
    ABBREVIATIONS,
    H_1,
    H_2,
    K,
    K_minus_1,
    N,
    S_g,
    V,
    Y,
    a,
    a_t,
    alpha,
    b,
    ell,
    eta,
    g,
    hit,
    i,
    j,
    j0,
    lam,
    p,
    q,
    q_less,
    rho0,
    s_f,
    s_jump,
    s_maps,
    sigma2,
    slack,
    v,
    x_1,
    x_2,
    z,
    z_corner,
    z_near,
)
from .fixed_order import WHERE
from .pattern import REDUCTION

_CHORD = (H_1 + H_2) ** 2 / (x_1 + x_2)
_KINK = 1 / x_1 + 1 / x_2


def _lemma(d: Derivation, modulus: Expr, step_size: Relational, factor: Expr) -> None:
    """Any shifts that keep z ≥ 0 and end at 0 bound the divergence by αρ₀·Σa²."""
    lipschitz = contraction(d, modulus, step_size)
    d.identity("Its Lipschitz constant, as it is abbreviated below.", lipschitz, factor.subs(q, ABBREVIATIONS[q]))
    d.at_most(
        "Triangle inequality: points z apart are at most qz + s apart after the two updates, s being how far the maps "
        "differ (0 without the record, ηS_g/b with it). Laws that can be coupled within z can then be within qz + s.",
        s_f + s_maps,
        factor * z + s_jump,
        [
            (Integer(1), Slack(factor * z - s_f, "the update contracts by q")),
            (Integer(1), Slack(s_jump - s_maps, "sensitivity of the gradients")),
        ],
    )
    reach, noise = gaussian.renyi().subs(a, z), gaussian.renyi().subs(a, a_t)
    d.cite(
        "Noise N(0, v) takes a off the distance: if the laws are within z + a of a pair with divergence D, then after "
        "the noise they are within z of a pair with divergence at most D + αa²/2v (witness: Gaussians of variance V).",
        REDUCTION,
        Certificate(
            gaussian.renyi().subs({a: z + a_t, v: V + v}, simultaneous=True),
            reach.subs(v, V) + noise,
            (
                (
                    alpha / (2 * V * v * (V + v)),
                    Slack((z * v - a_t * V) ** 2, "a square"),
                ),
            ),
        ),
    )
    d.identity(
        "In units of ηS_g/b, with noise 2ησ², a shift a costs αρ₀a²; both runs start alike, so z starts at 0.",
        gaussian.renyi().subs({a: a_t * eta * S_g / b, v: 2 * eta * sigma2}, simultaneous=True),
        alpha * ABBREVIATIONS[rho0] * a_t**2,
    )


def _block(d: Derivation) -> None:
    """What it costs to take a weighted distance h off in updates whose squared weights add up to x."""
    even = H_1 / x_1
    d.identity(
        "Shifts a = r·q^i over updates with Σq^(2i) = x take h = r·x off the weighted distance and cost r²x = h²/x.",
        even**2 * x_1,
        H_1**2 / x_1,
    )
    d.at_most(
        "No others do it for less: Σa² − h²/x is the sum of (a − (h/x)q^i)² (Cauchy–Schwarz).",
        H_1**2 / x_1,
        A2,
        [(Integer(1), Slack(A2 - 2 * even * H_1 + even**2 * x_1, "a sum of squares"))],
    )


def _corners(d: Derivation) -> tuple[Expr, Expr]:
    """Weighted hits and squared weights from the first hit until i epochs later."""
    d.identity(
        "Weighted by q to the number i of updates still to come, z only moves by hits and shifts: q^i(qz + hit − a).",
        q**i * (q * z + hit - a_t),
        q ** (i + 1) * z + q**i * (hit - a_t),
    )
    hits = q ** (N * (K - i) + j - 1) * GeometricSum(q**N, i)
    d.check(
        "Just before hit i + 1 (counted from 0 to K − 1), the i hits so far weigh …",
        Induction(hits, i, 0, Integer(0), Y, Y + q ** (N * (K - 1 - i) + j - 1)),
    )
    squares = q ** (2 * (N * (K - 1 - i) + j)) * GeometricSum(q**2, N * i)
    d.check(
        "… and the squared weights of the updates since the first hit add up to …",
        Induction(squares, i, 0, Integer(0), Y, Y + q ** (2 * (N * (K - 2 - i) + j)) * GeometricSum(q**2, N)),
    )
    return hits, squares


def _feasible(d: Derivation, hits: Expr, squares: Expr) -> None:
    """Every corner lies above the line to the last one."""
    steepness = q ** (N - j - 1 - N * (K - 1 - i)) * (1 + q**N) / ((1 + q ** (N * i)) * GeometricSum(q**2, N))
    d.identity("The line from the first hit to corner i has this slope.", hits / squares, steepness)
    at_least = steepness.subs(i, K - 1)
    later = {K: 1 + i + K_minus_1}
    d.at_most(
        "The last corner has the least of these slopes: even shifts up to it, or fewer, keep z ≥ 0 at every corner, "
        "and so throughout, since z falls between hits.",
        at_least.subs(later),
        steepness.subs(later),
        [
            (
                steepness.subs(later) * (1 - q) / (1 + q ** (N * (i + K_minus_1))),
                Slack(GeometricSum(q, N * K_minus_1), "1 − q^(Nr) = (1 − q)·(a sum of powers), r epochs before"),
            )
        ],
        domain={q: 1 / (1 + p)},
    )


def _minimum(d: Derivation) -> None:
    """The least cost of two blocks, with a distance z ≥ 0 carried over the corner between them."""
    cost = (H_1 - z_corner) ** 2 / x_1 + (H_2 + z_corner) ** 2 / x_2
    steeper = H_2 / x_2 - H_1 / x_1
    d.identity(
        "With a weighted distance z carried over the last corner, the two blocks cost H₁²/x₁ and H₂²/x₂ changed by z: "
        "the chord's cost and a square.",
        cost,
        _CHORD + (steeper + z_corner * _KINK) ** 2 / _KINK,
    )
    d.at_most(
        "If the second edge is the steeper one, z = 0 is best: both edges stay.",
        cost.subs(z_corner, 0),
        cost,
        [(2 * z_corner, Slack(steeper, "the edges are convex")), (z_corner**2 * _KINK, Slack(Integer(1), "positive"))],
    )
    d.at_most(
        "If not, nothing is below the chord …",
        _CHORD,
        cost,
        [(1 / _KINK, Slack((steeper + z_corner * _KINK) ** 2, "a square"))],
    )
    d.identity(
        "… and some z ≥ 0 attains it. So this is the least that any shifts cost.",
        cost.subs(z_corner, -steeper / _KINK),
        _CHORD,
    )
    units = {H_1: g * ell * H_2, x_1: ell * x_2}
    unit = H_2**2 / x_2
    pooled = Pooled(g, ell).closed()
    for says, values, kept in (
        (
            "In units of the second edge, slope g and length ℓ: if g > 1, Φ(g, ℓ) is the chord …",
            {g: 1 + slack},
            _CHORD,
        ),
        ("… and if g < 1 the two edges.", {g: 1 / (1 + p)}, cost.subs(z_corner, 0)),
    ):
        d.identity(says, unit * pooled.subs(values), kept.subs(units, simultaneous=True).subs(values))


def _monotone(d: Derivation) -> None:
    """Σa² rises with q and K and falls with N and j: evaluation over ranges relies on it."""
    d.at_most(
        "Shifts that do for one run do for a tamer one, cut short where z reaches 0: a smaller z, contracted more, "
        "stays smaller. So the minimum rises with q, and with K (drop the first epoch) …",
        q_less * z_near,
        q * z,
        [
            (q_less, Slack(z - z_near, "the distance so far is no larger")),
            (z, Slack(q - q_less, "nor is the contraction factor")),
        ],
    )
    d.at_most(
        "… and falls with N and j (insert updates without hit and without shift).",
        q * z,
        z,
        [(z, Slack(1 - q, "0 < q < 1"))],
        domain={q: 1 / (1 + p)},
    )


def _units(d: Derivation, hits: Expr, squares: Expr) -> CyclicShifts:
    """The function `CyclicShifts`, with the steps that its edges are those derived."""
    found = CyclicShifts(q, N, K, j)
    last, weights = q ** (j - 1), GeometricSum(q**2, j)
    up_to_last = {i: K - 1}
    d.identity(
        "The last hit by itself: weight q^(j−1) over Σ_(s<j) q^(2s).", last**2 / weights, 1 / GeometricSum(q**-2, j)
    )
    ratio, length = found.edges()
    d.identity("The length of the first edge in units of the last …", squares.subs(up_to_last) / weights, length)
    d.identity("… and its slope g.", (hits / squares).subs(up_to_last) / (last / weights), ratio)
    later = q ** (N * (K - 1))
    d.identity(
        "So g ≥ 1 exactly if q^(2j)·((1−q^N)(1+q^(N(K−1))) + q^N) ≤ q^N.",
        ratio - 1,
        (q**N - q ** (2 * j) * ((1 - q**N) * (1 + later) + q**N)) / (q ** (2 * j) * (1 - q**N) * (1 + later)),
    )
    return found


def _shown(at: Expr) -> tuple[Expr, tuple[tuple[str, Expr], ...]]:
    """The bound for j = `at`, with g and ℓ under their names, and what these stand for."""
    last = GeometricSum(q**-2, at)
    slope = Dot(q ** Plus(N, -2), Over(Dot(1 + q**N, last), Dot(1 + q ** times(N, K - 1), GeometricSum(q**2, N))))
    length = Dot(q**2, Over(GeometricSum(q**2, times(N, K - 1)), last))
    names = {"g": slope, r"\ell": length}
    shown = Dot(STEP_COST, Over(Pooled(*(Named(Str(name), value) for name, value in names.items())), last))
    return shown, (*names.items(), (r"\Phi(g, \ell)", Over(*fraction(Pooled(g, ell).closed()))))


@cache
def cyclic() -> Statement:
    """`shift:cyclic`."""
    d = Derivation()
    d.later(_lemma, lam, STRONGLY_CONVEX[-1], q)
    d.later(batch_in_range)
    d.later(_block)
    hits, squares = _corners(d)
    d.later(_feasible, hits, squares)
    d.later(_minimum)
    least = _units(d, hits, squares)
    d.later(_monotone)
    expr = alpha * rho0 * least.subs(j, N - j0)
    shown, where = _shown(N - j0)
    return Statement(
        label="shift:cyclic",
        title="Optimal shifts, fixed order",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, by the best shifts; exactly "
        "tight for the first batch, and for the first half of them as K grows.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        also=where,
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX, BATCH),
        steps=d.steps,
        terms=BY_CONTRACTION,
    )


@cache
def convex() -> Statement:
    """`shift:convex`."""
    d = Derivation()
    d.later(_lemma, Integer(0), CONVEX_STEP, Integer(1))
    d.later(batch_in_range)
    d.later(_block)
    d.check(
        "All weights are 1: before hit i + 1 there have been i hits in Ni updates, so all corners lie on one line.",
        Induction(N * i, i, 0, Integer(0), Y, Y + N),
    )
    d.later(_minimum)
    ratio, length = CyclicShifts(Integer(1), N, K, j).edges()
    d.identity("The slope of that line, over that of the last edge, is j/N …", ratio, j / N)
    d.at_most("… at most 1: both edges stay.", j / N, Integer(1), [(1 / N, Slack(N - j, "j = N − j0 ≤ N"))])
    kept = Pooled(g, ell).closed().subs(g, 1 / (1 + p)).subs({p: 1 / ratio - 1, ell: length})
    per_order = d.identity("Σa² is then that of K − 1 epochs and of the last hit.", kept / j, (K - 1) / N + 1 / j)
    edges = CyclicShifts(1 / (1 + p), N, K, j).edges()
    both = (1 + edges[0] ** 2 * edges[1]) / GeometricSum((1 + p) ** 2, j)
    d.check(
        "It is the limit q → 1 of the strongly convex case (q = 1/(1+p), p ↓ 0).", Limit(both, p, Integer(0), per_order)
    )
    expr = alpha * rho0 * per_order.subs(j, N - j0)
    shown = Dot(STEP_COST, Plus(Over(K - 1, N), Over(1, N - j0)))
    return Statement(
        label="shift:convex",
        title="Optimal shifts, convex loss",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, by the best shifts, without "
        "strong convexity: the bound of thm:convexsmooth, which no choice of shifts improves.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        hypotheses=(ORDER, EPOCHS, CONVEX_STEP, BATCH),
        steps=d.steps,
        terms=BY_CONVEXITY,
    )


def chord() -> tuple[Expr, Expr]:
    """Rise and length of the chord, in units of the last hit and its square; Σa² is rise²/length if pooled."""
    return GeometricSum(q**N, K), q ** (2 - 2 * j) * GeometricSum(q**2, N * (K - 1) + j)


@cache
def shuffled() -> Statement:
    """`shift:shuffle`."""
    d = Derivation()
    d.later(over_batches)
    ratio, length = CyclicShifts(q, N, K, j).edges()
    last, decay, later = GeometricSum(q**-2, j), q ** (2 * j), q ** (2 * N * (K - 1))
    d.at_most(
        "g rises with j: the edges pool from some j on.",
        ratio,
        ratio.subs(j, j + 1),
        [(ratio * q ** (-2 * j) / last, Slack(Integer(1), "one more positive power"))],
    )
    d.identity(
        "Before that, the first edge costs the same for every j …",
        ratio**2 * length / last,
        (ratio**2 * length / last).subs(j, 1),
    )
    d.later(mixture_of_exponentials)
    above, below = chord()
    d.identity("… and afterwards the chord, with its rise …", 1 + ratio * length, above)
    d.identity("… and its length, …", (1 + length) * last, below)
    d.identity(
        "… is such a mixture too, with y = q^(2j), c = q^(2N(K−1)): y + c·y² + c²·y³ + …",
        above**2 / below,
        above**2 * (1 - q**2) / q**2 * (decay + later * decay**2 / (1 - later * decay)),
    )
    expr = LogMeanExp((alpha - 1) * alpha * rho0 * CyclicShifts(q, N, K, i), i, N) / (alpha - 1)
    body, where = _shown(N - j0)
    shown = Dot(Over(1, alpha - 1), LogAverage(times(alpha - 1, Named(Str(r"\varepsilon_{j_0}"), body)), j0, N))
    return Statement(
        label="shift:shuffle",
        title="Optimal shifts, shuffled once",
        where=WHERE,
        says="ε after K epochs over batches shuffled once, for any record, by the best shifts for each batch.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        also=((r"\varepsilon_{j_0}", body), *where),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:cyclic", "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
    )
