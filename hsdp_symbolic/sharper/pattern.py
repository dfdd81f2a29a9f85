"""`shift:pattern`: what one step costs that hides a distance, whichever steps use the record.

A drifted copy of the second run is away from the first only through hits: updates whose batch holds the record. Its
distance contracts by q_t, grows by at most s_t on a hit, and must be hidden by the end; the noise of a step, of
variance v_t, can hide a distance a_t (a shift) at the price α·a_t²/(2v_t). With P_t = Π_(i>t) q_i, x_t = Σ_(i<t)
v_i·P_i² and H_t = Σ_(i<t) P_i·s_i·hit_i, a choice of shifts is a path A from (0, 0) to (x_T, H_T) that stays below H,
and it costs Σ (ΔA)²/(2Δx); `functions.convex_minorant` takes the greatest convex minorant of the points (x_t, H_t).
After the shifted interpolation of Bok, Su & Altschuler (2024), and Altschuler & Talwar (2022).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Max, S

from ..display import Dot, Over, times
from ..paper.descents import ANY, ORDER, STRONGLY_CONVEX, by_contraction
from ..paper.draws import BATCHES
from ..proof import kernel
from ..proof.facts.drift import Added, Drift, drift_adds
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Equal, From
from ..proof.search import at_most, claimed, equal_bound, given, short
from ..statement import Statement
from ..symbols import S_g, alpha, b, cost_1, cost_2, drifted, eta, i, q, removed, rho0, s, sigma, steps, z
from .drifts import Units

WHERE = "not in the paper; after Bok, Su & Altschuler 2024"


def cost(hidden: Expr) -> Expr:
    """What hiding a distance, in units of ηS_g/b, costs at order α."""
    return alpha * rho0 * hidden**2


def left_over(away: Expr, hidden: Expr) -> Expr:
    """What is left of a distance of which the noise hides so much, or all."""
    return Max(S.Zero, away - hidden)


@cache
def step_hides() -> Theorem:
    """A step that may use the record brings a copy from z to max(0, qz + 1 − a), for 2ρ₀·a² more."""
    here, away = Units(ANY, b, q, rho0), q * z + 1

    def state(steps: Expr, distance: Expr, more: Expr) -> Drift:
        return Drift(ANY, steps, here.unit * distance, cost_1 + more)

    maps = here.used(assume(state(i, z, S.Zero)))
    some, all_ = assume(AtMost(removed, away)), assume(AtMost(away, removed))
    left = combine(S.Zero, away - removed, (S.One, some))
    partly = here.hiding(maps, removed, state(i + 1, away - removed, 2 * rho0 * removed**2), left)
    partly = rewrite(partly, kernel.swap(kernel.greater(left)))
    nothing = kernel.greater(combine(away - removed, S.Zero, (S.One, all_)))
    scaled = cancel(here.unit * s, S.Zero, by=[assume(Equal(s, S.Zero))])
    scaled = cut(substitute(scaled, {s: left_over(away, removed)}), nothing)
    wholly = here.hiding(maps, away, state(i + 1, S.Zero, 2 * rho0 * away**2), combine(S.Zero, S.Zero))
    wholly = at_most(wholly, cost_1 + 2 * rho0 * removed**2, (2 * rho0, all_, removed + away))
    return kernel.named(kernel.cases(partly, rewrite(wholly, kernel.swap(scaled))), "a step hides what it can")


@cache
def shifted_step() -> Statement:
    """`shift:pattern`."""
    relations = (ORDER, *STRONGLY_CONVEX)
    here = Units(ANY, b, q, rho0)
    away, left = here.unit * z, here.unit * left_over(q * z + 1, removed)

    def prove() -> Theorem:
        put = {steps: i, drifted: away, cost_2: 2 * rho0 * removed**2}
        found = apply(drift_adds, step_hides(), given(ORDER), put=put)
        return equal_bound(kernel.also(found, short(q)), cost(removed))

    return Statement(
        label="shift:pattern",
        title="The price of a shift",
        where=WHERE,
        says="What one step adds to ε for hiding a distance; `functions.convex_minorant` chooses what each step hides, "
        "given all hits.",
        bounds=r"\varepsilon_{t+1} - \varepsilon_t",
        theorem=claimed(
            Added(From(ANY, S.Zero, i + 1), alpha, away, left, cost(removed)), relations, by_contraction(ANY), prove
        ),
        shown=Dot(Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2)), removed**2),
        hypotheses=relations,
        kind="lemma",
        assumes=(BATCHES,),
    )
