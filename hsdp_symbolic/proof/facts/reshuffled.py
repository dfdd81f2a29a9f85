"""Batches shuffled anew in every epoch: which steps may use the record, given a plan of its last places.

A record that is left out of an epoch (batches need not use all records) is given a place there nevertheless, each as
likely: then its places in the last epochs are any plan (`functions.planned_shifts`), each as likely, and given the plan
an epoch uses the record at most once, in the last epochs no later than planned. Nothing else is made use of.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S, factorial

from ...functions.planned_shifts import PlannedHit, PlannedPlace
from ...symbols import (
    after,
    cost_1,
    count,
    epoch,
    epochs_1,
    epsilon_1,
    known_1,
    moment_1,
    noise_1,
    order,
    plan,
    rate,
    records,
    size,
    steps,
    uses_within,
    whole,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    AsDrawn,
    AtMost,
    Batches,
    DeltaAtMost,
    Descent,
    Either,
    Equal,
    From,
    Less,
    MayBe,
    Mixed,
    Moment,
    ShuffledEachEpoch,
    Unused,
)
from .mixtures import RANDOM
from .profiles import BALLE
from .renyi import VAN_ERVEN


@dataclass(frozen=True)
class WithPlan(Batches):
    """Batches shuffled anew in each of `epochs` epochs, given a plan of the record's places in the last `known`."""

    count: Expr
    rate: Expr
    epochs: Expr
    known: Expr
    plan: Expr
    words = (
        "{count} batches, shuffled anew in each of {epochs} epochs (chance {rate} to be in a given one), the record's "
        "places in the last {known} epochs being those of plan {plan}"
    )


@dataclass(frozen=True)
class FirstPlans(Batches):
    """The same, given that they are those of one of the first so many plans, each of which is as likely."""

    count: Expr
    rate: Expr
    epochs: Expr
    known: Expr
    among: Expr
    words = (
        "{count} batches, shuffled anew in each of {epochs} epochs (chance {rate} to be in a given one), the record's "
        "places in the last {known} epochs being those of one of the first {among} plans, each as likely"
    )


_PLANS = count, rate, epochs_1, known_1
_GIVEN = AsDrawn(WithPlan(*_PLANS, plan))
_STEP = count * epoch + after
_PLACE = PlannedPlace(count, epochs_1, known_1, plan, epoch)
_ROOM = AtMost(after + 1, count)


def _uses(steps_: Expr) -> Expr:
    return uses_within(*_PLANS, plan, epoch, steps_)


# --- One plan -------------------------------------------------------------------------------------------------------

planned_within = Fact("planned_within", "", (), AtMost(_PLACE, count - 1), "there are so many batches, counted from 0")
planned_hit = Fact(
    "planned_hit",
    "",
    (),
    Equal(PlannedHit(count, epochs_1, known_1, plan, count * epoch + _PLACE), S.One),
    "the plan puts the record there",
)
epoch_begins = Fact("epoch_begins", "", (), Equal(_uses(Integer(0)), S.Zero), "no batch of the epoch came before")
counted_or_not = Fact(
    "counted_or_not",
    "",
    (),
    Either((Equal(_uses(after + 1), _uses(after)), Equal(_uses(after + 1), _uses(after) + 1))),
    "a batch holds the record, or does not",
)
not_counted_in_epoch = Fact(
    "not_counted_in_epoch",
    "",
    (Equal(_uses(after + 1), _uses(after)), _ROOM),
    Unused(_GIVEN, _STEP),
    "a step that uses the record is counted",
)
once_in_an_epoch = Fact(
    "once_in_an_epoch",
    "",
    (AtMost(after, count),),
    AtMost(_uses(after), S.One),
    "the batches of an epoch have no record in common",
)
not_after_plan = Fact(
    "not_after_plan",
    "",
    (AtMost(_PLACE + 1, after), _ROOM, AtMost(epoch + 1, epochs_1)),
    Unused(_GIVEN, _STEP),
    "before the last epochs the planned place is the last; then the record is in the planned place, or left out",
)
plan_may_be = Fact(
    "plan_may_be",
    "",
    (),
    MayBe(AsDrawn(WithPlan(*_PLANS, plan)), ShuffledEachEpoch(count, rate)),
    "what may come about given the plan may come about",
)

# --- One plan that has all places -----------------------------------------------------------------------------------

_ALL = AsDrawn(WithPlan(count, rate, epochs_1, epochs_1, plan))


def _place_in(epoch_: Expr) -> PlannedPlace:
    return PlannedPlace(count, epochs_1, epochs_1, plan, epoch_)


before_planned = Fact(
    "before_planned",
    "",
    (AtMost(after + 1, _place_in(Integer(0))),),
    Unused(_ALL, after),
    "the record is in its place of the first epoch, or left out",
)
between_planned = Fact(
    "between_planned",
    "",
    (
        AtMost(S.One, after),
        AtMost(after + 1, count - _place_in(epoch) + _place_in(epoch + 1)),
        AtMost(epoch + 2, epochs_1),
    ),
    Unused(_ALL, count * epoch + _place_in(epoch) + after),
    "the record is in its places of these two epochs, or left out: in no batch between",
)

# --- All plans ------------------------------------------------------------------------------------------------------


def _run(batches: Batches | Anything) -> From:
    return From(Descent(batches, noise_1), Integer(0), steps)


whichever_outcome = Fact(
    "whichever_outcome",
    BALLE,
    (DeltaAtMost(_run(AsDrawn(RANDOM)), epsilon_1, cost_1),),
    DeltaAtMost(_run(RANDOM), epsilon_1, cost_1),
    "what is drawn is drawn alike for both datasets, and ∫(μ − e^ε·ν)₊ is jointly convex: a mixture of what is at most "
    "δ is at most δ",
)
first_plan = Fact(
    "first_plan",
    "",
    (DeltaAtMost(_run(WithPlan(*_PLANS, S.One)), epsilon_1, cost_1),),
    DeltaAtMost(_run(FirstPlans(*_PLANS, S.One)), epsilon_1, cost_1),
    "the first plan",
)
one_more_plan = Fact(
    "one_more_plan",
    "",
    (
        DeltaAtMost(
            Mixed(whole / (whole + 1), _run(FirstPlans(*_PLANS, whole)), _run(WithPlan(*_PLANS, whole + 1))),
            epsilon_1,
            cost_1,
        ),
        AtMost(whole + 1, count**known_1),
    ),
    DeltaAtMost(_run(FirstPlans(*_PLANS, whole + 1)), epsilon_1, cost_1),
    "one of the first k plans, each as likely, or the next",
)
all_plans = Fact(
    "all_plans",
    "",
    (
        Equal(factorial(records - 1) * factorial(size) / (factorial(size - 1) * factorial(records)), rate),
        DeltaAtMost(
            From(Descent(FirstPlans(*_PLANS, count**known_1), noise_1), Integer(0), count * epochs_1),
            epsilon_1,
            cost_1,
        ),
    ),
    DeltaAtMost(
        From(Descent(ShuffledEachEpoch(count, rate), noise_1), Integer(0), count * epochs_1), epsilon_1, cost_1
    ),
    "every epoch is shuffled by itself, and each of its batches holds the record with the same chance: with a place "
    "for a record that is left out, too, each of the N^m plans is as likely",
)

# --- The same for moments -------------------------------------------------------------------------------------------

whichever_outcome_moment = Fact(
    "whichever_outcome_moment",
    VAN_ERVEN,
    (Moment(_run(AsDrawn(RANDOM)), order, moment_1), Less(S.One, order)),
    Moment(_run(RANDOM), order, moment_1),
    "what is drawn is drawn alike for both datasets, and ∫μ^a·ν^(1−a) is jointly convex: a mixture of what is at most "
    "M is at most M",
)
first_plan_moment = Fact(
    "first_plan_moment",
    "",
    (Moment(_run(WithPlan(*_PLANS, S.One)), order, moment_1),),
    Moment(_run(FirstPlans(*_PLANS, S.One)), order, moment_1),
    "the first plan",
)
one_more_plan_moment = Fact(
    "one_more_plan_moment",
    "",
    (
        Moment(
            Mixed(whole / (whole + 1), _run(FirstPlans(*_PLANS, whole)), _run(WithPlan(*_PLANS, whole + 1))),
            order,
            moment_1,
        ),
        AtMost(whole + 1, count**known_1),
    ),
    Moment(_run(FirstPlans(*_PLANS, whole + 1)), order, moment_1),
    "one of the first k plans, each as likely, or the next",
)
all_plans_moment = Fact(
    "all_plans_moment",
    "",
    (
        Equal(factorial(records - 1) * factorial(size) / (factorial(size - 1) * factorial(records)), rate),
        Moment(
            From(Descent(FirstPlans(*_PLANS, count**known_1), noise_1), Integer(0), count * epochs_1), order, moment_1
        ),
    ),
    Moment(From(Descent(ShuffledEachEpoch(count, rate), noise_1), Integer(0), count * epochs_1), order, moment_1),
    "every epoch is shuffled by itself, and each of its batches holds the record with the same chance: with a place "
    "for a record that is left out, too, each of the N^m plans is as likely",
)
