"""Shifts that are chosen step by step, the batches being drawn on the way: what is meant by a run that goes on.

Given the batches so far, the drift of a copy (`drift`) may depend on all of them. A run is in a state: how many batches
of this pass over the records are left, how many whole passes follow, and whether the pass has used the record; with it
goes how far the copy is away, and what it cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S, binomial, exp, factorial

from ...functions.shift_control import Kept, ShiftValue
from ...symbols import (
    cost_1,
    cost_2,
    count,
    distance,
    drifted,
    epoch,
    factor,
    further,
    hidden,
    i,
    inverse,
    moment_1,
    noise_1,
    order,
    rate,
    records,
    size,
    start,
    u,
    weight,
    z,
    z_2,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    AsDrawn,
    AtMost,
    Descent,
    DrawnAfresh,
    Equal,
    From,
    Less,
    Mixed,
    Moment,
    Pair,
    PerOrder,
    Proposition,
    ShuffledEachEpoch,
    Unused,
)
from .drift import Close, Drift
from .mixtures import RANDOM

_EPOCHS, _LEFT, _FRESH, _SECOND = epoch, further, start, inverse


@dataclass(frozen=True)
class Steered(Pair):
    """The laws at the end of a run in this state, whichever batches came before, the others still to be drawn.

    A drifted copy is within `distance` of the first run now, at a cost μ² ≤ `cost`; each of the shifts to come may
    depend on the batches up to its own step.
    """

    descent: Descent | Anything
    epochs: Expr
    left: Expr
    fresh: Expr
    distance: Expr
    cost: Expr
    words = "{descent}; {left} batches and {epochs} passes to come, a copy within {distance} at μ² ≤ {cost}"


@dataclass(frozen=True)
class Closing(Pair):
    """The same after the next draw and its maps, before its noise; the state is that after the step."""

    descent: Descent | Anything
    epochs: Expr
    left: Expr
    fresh: Expr
    distance: Expr
    cost: Expr
    words = (
        "{descent}; mapped; then {left} batches and {epochs} passes to come, a copy within {distance} at μ² ≤ {cost}"
    )


@dataclass(frozen=True)
class Leads(Proposition):
    """The maps of a step, whatever its batch, lead from a copy within `before` to one within `after`."""

    descent: Descent | Anything
    before: Expr
    after: Expr
    words = "maps lead from within {before} to within {after}, given the batches"


@dataclass(frozen=True)
class LeadsWithout(Proposition):
    """The same, of a step that does not use the record."""

    descent: Descent | Anything
    before: Expr
    after: Expr
    words = "maps of a step without the record lead from within {before} to within {after}, given the batches"


@dataclass(frozen=True)
class Controlled(Proposition):
    """In this state, with a copy within unit·z at a cost 2ρu, the moment is at most e^(κρu + W(z)), whatever z, u ≥ 0.

    κ = order·(order − 1), and W(z) is `ShiftValue` for the cost κρ in this state.
    """

    descent: Descent | Anything
    order: Expr
    unit: Expr
    rho: Expr
    factor: Expr
    rate: Expr
    batches: Expr
    epochs: Expr
    left: Expr
    fresh: Expr
    words = "W bounds the log-moment at order {order}, {left} batches and {epochs} passes before the end; {descent}"


@dataclass(frozen=True)
class NeverFalls(Proposition):
    """W(z) ≤ W(z') whenever 0 ≤ z ≤ z'; W is `ShiftValue` in this state."""

    cost: Expr
    factor: Expr
    rate: Expr
    batches: Expr
    epochs: Expr
    left: Expr
    fresh: Expr
    words = "W never falls with the distance, {left} batches and {epochs} passes before the end"


@dataclass(frozen=True)
class IsConvex(Proposition):
    """W(wz + (1 − w)z') ≤ w·W(z) + (1 − w)·W(z') whenever z, z' ≥ 0 and 0 ≤ w ≤ 1."""

    cost: Expr
    factor: Expr
    rate: Expr
    batches: Expr
    epochs: Expr
    left: Expr
    fresh: Expr
    words = "W is convex in the distance, {left} batches and {epochs} passes before the end"


_RUN, _GIVEN = Descent(RANDOM, noise_1), Descent(AsDrawn(RANDOM), noise_1)
_STATE = _EPOCHS, _LEFT, _FRESH


def _value(unit: Expr, rho: Expr, state: tuple[Expr, Expr, Expr]) -> Moment:
    kappa = order * (order - 1)
    here = ShiftValue(kappa * rho, factor, rate, count, *state, z)
    return Moment(Steered(_RUN, *state, unit * z, 2 * rho * u), order, exp(kappa * rho * u + here))


_CONTROLLED = Controlled(_RUN, order, distance, cost_1, factor, rate, count, *_STATE)

controlled = Fact(
    "controlled",
    "",
    (_value(distance, cost_1, _STATE),),
    _CONTROLLED,
    "whatever z and u",
    eigen=(z, u),
)
in_control = Fact(
    "in_control", "", (_CONTROLLED,), _value(distance, cost_1, _STATE), "what holds for all z and u holds for some"
)
kept_at_most = Fact(
    "kept_at_most",
    "",
    (AtMost(S.Zero, drifted),),
    AtMost(Kept(cost_1, factor, rate, count, *_STATE, drifted), drifted),
    "choices are from 0 to what is there",
)
leads = Fact(
    "leads",
    "",
    (Close(_GIVEN, i, distance, cost_1),),
    Leads(_RUN, drifted, distance),
    "what is derived of the maps of a step, whatever its number and the cost so far",
    eigen=(i, cost_1),
    under=(Drift(_GIVEN, i, drifted, cost_1),),
)
leads_without = Fact(
    "leads_without",
    "",
    (Close(_GIVEN, i, distance, cost_1),),
    LeadsWithout(_RUN, drifted, distance),
    "what is derived of the maps of a step that does not use the record",
    eigen=(i, cost_1),
    under=(Drift(_GIVEN, i, drifted, cost_1), Unused(AsDrawn(RANDOM), i)),
)
chosen_shift = Fact(
    "chosen_shift",
    "",
    (Drift(_GIVEN, i + 1, distance, cost_2), Moment(Steered(_RUN, *_STATE, distance, cost_2), order, moment_1)),
    Moment(Closing(_RUN, *_STATE, drifted, cost_1), order, moment_1),
    "the shift of a step may depend on the batches so far",
    eigen=(i,),
    under=(Close(_GIVEN, i, drifted, cost_1),),
)
all_hidden = Fact(
    "all_hidden",
    "",
    (PerOrder(From(_GIVEN, Integer(0), i), cost_2), Less(S.One, order)),
    Moment(Steered(_RUN, Integer(0), Integer(0), _FRESH, Integer(0), cost_1), order, exp(order * (order - 1) * cost_2)),
    "R_a ≤ a·u, so the moment e^((a−1)R_a) is at most e^(a(a−1)u)",
    eigen=(i,),
    under=(Drift(_GIVEN, i, Integer(0), cost_1),),
)


def _maps(run: Descent) -> tuple[Proposition, Proposition]:
    return Leads(run, drifted, distance), LeadsWithout(run, drifted, _SECOND)


def _after_draw(run: Descent, chance: Expr, left: Expr) -> Mixed:
    return Mixed(
        chance,
        Closing(run, _EPOCHS, left, Integer(0), distance, cost_1),
        Closing(run, _EPOCHS, left, Integer(1), _SECOND, cost_1),
    )


_AFRESH, _ANEW = Descent(DrawnAfresh(rate), noise_1), Descent(ShuffledEachEpoch(count, rate), noise_1)

drawn_step = Fact(
    "drawn_step",
    "",
    (*_maps(_AFRESH), Moment(_after_draw(_AFRESH, rate, Integer(0)), order, moment_1)),
    Moment(Steered(_AFRESH, _EPOCHS, Integer(1), Integer(1), drifted, cost_1), order, moment_1),
    "the next batch holds the record with this chance, whatever was drawn before",
)
drawn_again = Fact(
    "drawn_again",
    "",
    (Moment(Steered(_AFRESH, _EPOCHS, Integer(1), Integer(1), drifted, cost_1), order, moment_1),),
    Moment(Steered(_AFRESH, _EPOCHS + 1, Integer(0), _FRESH, drifted, cost_1), order, moment_1),
    "every draw is a pass of its own",
)
drawn_run = Fact(
    "drawn_run",
    "",
    (
        Equal(binomial(records - 1, size - 1), rate * binomial(records, size)),
        Moment(Steered(_AFRESH, _EPOCHS, Integer(1), Integer(1), Integer(0), Integer(0)), order, moment_1),
    ),
    Moment(From(_AFRESH, Integer(0), _EPOCHS + 1), order, moment_1),
    "both runs and the copy start at the same point; of the batches of b out of n records, so many hold the record",
)
shuffled_step = Fact(
    "shuffled_step",
    "",
    (*_maps(_ANEW), Moment(_after_draw(_ANEW, rate / (1 - (count - _LEFT - 1) * rate), _LEFT), order, moment_1)),
    Moment(Steered(_ANEW, _EPOCHS, _LEFT + 1, Integer(1), drifted, cost_1), order, moment_1),
    "each of the batches holds the record with the same chance, and only one of them does: so much is the chance of "
    "the next, if none before did",
)
shuffled_step_used = Fact(
    "shuffled_step_used",
    "",
    (
        LeadsWithout(_ANEW, drifted, distance),
        Moment(Closing(_ANEW, _EPOCHS, _LEFT, Integer(0), distance, cost_1), order, moment_1),
    ),
    Moment(Steered(_ANEW, _EPOCHS, _LEFT + 1, Integer(0), drifted, cost_1), order, moment_1),
    "a pass uses the record once",
)
shuffled_again = Fact(
    "shuffled_again",
    "",
    (Moment(Steered(_ANEW, _EPOCHS, count, Integer(1), drifted, cost_1), order, moment_1),),
    Moment(Steered(_ANEW, _EPOCHS + 1, Integer(0), _FRESH, drifted, cost_1), order, moment_1),
    "a new permutation for every pass",
)
shuffled_run = Fact(
    "shuffled_run",
    "",
    (
        Equal(factorial(records - 1) * factorial(size) / (factorial(size - 1) * factorial(records)), rate),
        Moment(Steered(_ANEW, _EPOCHS, count, Integer(1), Integer(0), Integer(0)), order, moment_1),
    ),
    Moment(From(_ANEW, Integer(0), (_EPOCHS + 1) * count), order, moment_1),
    "both runs and the copy start at the same point; of the ways to make batches of b out of n records, so many put "
    "the record into a given one",
)

_W = ShiftValue(cost_1, factor, rate, count, *_STATE, z)
_FALLS, _CONVEX = (kind(cost_1, factor, rate, count, *_STATE) for kind in (NeverFalls, IsConvex))
_BELOW = AtMost(_W, _W.at(z_2))
_CHORD = AtMost(_W.at(weight * z + (1 - weight) * z_2), weight * _W + (1 - weight) * _W.at(z_2))
_IS_WEIGHT = AtMost(S.Zero, weight), AtMost(weight, S.One)

never_falls = Fact(
    "never_falls", "", (_BELOW,), _FALLS, "whatever the distances", eigen=(z, z_2), under=(AtMost(z, z_2),)
)
at_no_less = Fact("at_no_less", "", (_FALLS, AtMost(z, z_2)), _BELOW, "what holds for all distances holds for some")
is_convex = Fact(
    "is_convex", "", (_CHORD,), _CONVEX, "whatever distances and weight", eigen=(z, z_2, weight), under=_IS_WEIGHT
)
below_chord = Fact(
    "below_chord", "", (_CONVEX, *_IS_WEIGHT), _CHORD, "what holds for all distances and weights holds for some"
)
best_choice = Fact(
    "best_choice",
    "Rudin 1976, Principles of Mathematical Analysis",
    (
        *(AtMost(S.Zero, hidden), AtMost(hidden, drifted), AtMost(S.One, _EPOCHS + _LEFT)),
        *(AtMost(S.Zero, rate), AtMost(count * rate, S.One), AtMost(S.Zero, _LEFT)),
    ),
    AtMost(_W.after(drifted), cost_1 * (drifted - hidden) ** 2 + _W.at(hidden)),
    "W is continuous as long as a step is to come (all chances being chances), so some choice is the best; the "
    "argument is ours: the book has that a continuous function has a least value on an interval, not that W is one",
)
