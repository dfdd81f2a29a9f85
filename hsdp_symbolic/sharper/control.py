"""`control:without_replacement` and `control:reshuffle`: shifts chosen step by step, before later hits are known.

A hit is an update whose batch holds the record; a shift is the distance between the two runs that the noise of a step
is made to hide. For each batch sequence any feasible shifts give a bound (`shift:pattern`), so a rule that looks at
past hits only gives one for all sequences at once; joint convexity (`lem:rootconvexity1`) averages e^((α−1)ε) over
them. The best rule solves a dynamic programme, whose value is the statement; `functions.shift_programme` brackets it.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Symbol, diff, exp, log
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus
from ..functions.shift_control import ShiftControl
from ..meaning import BY_CONTRACTION, Quantity
from ..paper.fixed_order import EPOCHS, ORDER
from ..paper.lsi import STRONGLY_CONVEX
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    D2,
    W_1,
    W_2,
    D,
    K,
    N,
    W_mid,
    a,
    a_more,
    alpha,
    b,
    ddf,
    ddh,
    df,
    dh,
    i,
    n,
    p,
    q,
    rate,
    removed,
    rho0,
    u,
    z,
    z_2,
)
from .moments import KAPPA, chance_of_a_hit
from .pattern import BATCHES, cost

CONTROL_RTOL = "1/20"
"""The relative width of an enclosure if none is asked for; the grid usually does much better, about 1e-3."""


def _convex(d: Derivation) -> None:
    """W is convex and never falls with the distance, so that chords are upper bounds and tangents lower bounds."""
    hit = KAPPA * rho0
    d.at_most(
        "W stays convex. First, E(y) = min c(y − z')² + W(z') over 0 ≤ z' ≤ y: halfway between two choices the square "
        "costs at most half of both, and so does W.",
        hit * ((z + z_2) / 2 - (D + D2) / 2) ** 2 + W_mid,
        (hit * (z - D) ** 2 + W_1 + hit * (z_2 - D2) ** 2 + W_2) / 2,
        [
            (rho0 * alpha * (alpha - 1) / 4, Slack(((z - D) - (z_2 - D2)) ** 2, "a square")),
            (Integer(1), Slack((W_1 + W_2) / 2 - W_mid, "W is convex, one step later")),
        ],
        domain={alpha: 1 + p},
    )
    first, second = df * a + ddf * a**2 / 2, dh * a + ddh * a**2 / 2
    # Second derivatives at a point depend on the functions through value, slope and curvature there only.
    mixed = log(rate * exp(first) + (1 - rate) * exp(u + second))
    share = rate / (rate + (1 - rate) * exp(u))
    d.identity(
        "Then a log-mixture of convex functions: its curvature is the mean of theirs, plus the variance of slopes.",
        diff(mixed, a, 2).subs(a, 0),
        share * ddf + (1 - share) * ddh + share * (1 - share) * (df - dh) ** 2,
    )
    d.at_most(
        "W never falls with the distance: with the same z', hiding from farther away costs more (and z' beyond y is "
        "not needed, as z' = y costs nothing and W has not fallen). So it never falls with q or c either, and, as a "
        "hit leaves more to hide than a miss, with the chance of a hit if draws are independent.",
        hit * (z - D) ** 2,
        hit * (z - D + a_more) ** 2,
        [(hit * a_more, Slack(2 * (z - D) + a_more, "z' ≤ y"))],
        domain={alpha: 1 + p, z: D + z_2},
    )


def _any_number_of_steps(d: Derivation) -> None:
    """Bounds on a long run from shorter ones: what stopping early leans on."""
    d.at_most(
        "A longer run costs no less: whatever its first pass brings, what it pays is at least 0, and W at the distance "
        "it leaves is at least W(0).",
        exp(W_1),
        rate * exp(W_1 + D) + (1 - rate) * exp(W_1 + D2),
        [
            (rate * exp(W_1), Slack(exp(D) - 1, "a payment, and W(z) − W(0), after a hit")),
            ((1 - rate) * exp(W_1), Slack(exp(D2) - 1, "a payment, and W(z) − W(0), after a miss")),
        ],
        domain={rate: 1 / (1 + p)},
    )
    d.at_most(
        "No distance exceeds 1/(1 − q): if z does not, neither does qz + 1. So hiding nothing before the last m steps "
        "bounds any longer run by the m-step value at that distance.",
        q * z + 1,
        1 / (1 - q),
        [(q, Slack(1 / (1 - q) - z, "so far"))],
        domain={q: 1 / (1 + p)},
    )


def _statement(
    d: Derivation, batches: Expr, epochs: Expr, chance: Expr, state: str, *, label: str, title: str, says: str
) -> Statement:
    d.identity(
        "One batch: all must be hidden at once, so W₀(0) = log(1 + p(e^(κρ₀) − 1)).",
        (rate * exp(KAPPA * cost(removed) / alpha) + (1 - rate)).subs(removed, 1),
        1 + rate * (exp(KAPPA * rho0) - 1),
    )
    expr = ShiftControl(KAPPA * rho0, q, b / n, batches, epochs) / (alpha - 1)
    shown = Dot(Over(1, alpha - 1), Named(Str(r"W_0(0)"), expr * (alpha - 1)))

    def name(text: str) -> Expr:
        return Named(Str(text), u)

    later, missed = name(rf"E_t{state}((1-\eta\lambda)z + 1)"), name(r"E_t((1-\eta\lambda)z)")
    mixed = Plus(Dot(chance, exp(later)), Dot(Plus(1, -chance), exp(missed)))
    away = name(r"\min_{0\leq z'\leq y} \alpha(\alpha-1)\rho_0 (y-z')^2 + W_{t+1}(z')")
    return Statement(
        label=label,
        title=title,
        says=says,
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        also=(("W_t(z)", log(mixed)), ("E_t(y)", away)),
        hypotheses=(ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:pattern", "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
        assumes=(BATCHES,),
        where="not in the paper",
        rtol=CONTROL_RTOL,
    )


@cache
def without_replacement() -> Statement:
    """`control:without_replacement`."""
    d = Derivation()
    chance_of_a_hit(d)
    d.later(_convex)
    d.later(_any_number_of_steps)
    return _statement(
        d,
        Integer(1),
        K * N,
        Over(b, n),
        "",
        label="control:without_replacement",
        title="Sampling without replacement, controlled shifts",
        says="ε after K epochs of n/b batches, each drawn afresh: the best shifts that look at past hits only.",
    )


@cache
def reshuffle() -> Statement:
    """`control:reshuffle`."""
    d = Derivation()
    place: Symbol = i
    d.identity(
        "In a fresh permutation the record lies in batch i with probability b/n for every i; not having been in an "
        "earlier one, with probability b/(n − ib) (records beyond the last whole batch are left out).",
        (b / n) / (1 - place * (b / n)),
        b / (n - place * b),
    )
    d.later(_convex)
    d.later(_any_number_of_steps)
    return _statement(
        d,
        N,
        K,
        Over(b, n - place * b),
        "'",
        label="control:reshuffle",
        title="A new permutation every epoch, controlled shifts",
        says="ε after K epochs, each in a fresh order: the best shifts that look at past hits only (E': already used).",
    )
