"""Steps that all differ, and a record that is used no later than planned: what a plan is, and what may be seen.

One copy of the second run is steered through all steps, and has met the first run wherever an iterate is seen: then
the iterates that are seen are one function of the transcripts, which is all that `facts.drift` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Lambda, S

from ...meaning import Quantity
from ...symbols import (
    after,
    ahead_at,
    away_at,
    carried_at,
    cost_1,
    cost_at,
    count,
    diameter,
    distance,
    drifted,
    epsilon_1,
    factor,
    factor_at,
    hidden,
    inverse,
    jump_at,
    kept_at,
    near_at,
    noise_1,
    place,
    planned_at,
    seen_at,
    shift_at,
    steps,
    time_1,
    used_at,
    variance_at,
    weight_at,
    worst_at,
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
    Gaussian,
    Less,
    Pair,
    Proposition,
)
from .definitions import RUN
from .drift import DONG, ApartAt, LipschitzAt, NoiseAt, Scheduled
from .mixtures import RANDOM
from .profiles import BALLE


def _each(function: type[Expr]) -> Lambda:
    return Lambda(time_1, function(time_1))


# --- Plans ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoLater(Proposition):
    """In every epoch the record is used at most once, no later than in the planned place of that epoch.

    Any division of the steps will do for epochs: where releases cut an epoch, its parts are meant.

    used(t) and planned(t) are 1 if step t uses the record, or is a planned place, else 0. ahead(t) is 1 if the epoch
    of step t used the record before step t and its planned place is still to come, else 0. An epoch that does not use
    the record may have a planned place; one that does has one.
    """

    descent: Descent | Anything
    used: Lambda
    planned: Lambda
    ahead: Lambda
    assumable = True
    words = "in every epoch the record is used at most once ({used}), no later than planned ({planned}; ahead: {ahead})"


@dataclass(frozen=True)
class AheadOfPlan(Proposition):
    """What a use of the record amounts to, in or before step t, its planned place being t or later: at most worst(t).

    For every step t, worst(t) is at least jump(t) and factor(t)·kept(t), and carried(t + 1) is at least worst(t) unless
    step t is planned.
    """

    factor: Lambda
    jump: Lambda
    planned: Lambda
    worst: Lambda
    kept: Lambda
    carried: Lambda
    words = "a use ahead of its plan ({planned}), {kept} before a step, becomes {worst}, and then {carried}"


@dataclass(frozen=True)
class Steered(Proposition):
    """away(t + 1) = factor(t)·near(t) + jump(t) − shift(t), for every step t."""

    factor: Lambda
    jump: Lambda
    shift: Lambda
    near: Lambda
    away: Lambda
    words = "shifts {shift} lead from {near} before a step to {away} after it, with factors {factor} and jumps {jump}"


_PLAN = NoLater(RUN, _each(used_at), _each(planned_at), _each(ahead_at))
_WORST = AheadOfPlan(*map(_each, (factor_at, jump_at, planned_at, worst_at, kept_at, carried_at)))
_EVERY = "what holds for every step holds for one"

ahead_of_plan = Fact(
    "ahead_of_plan",
    "",
    (_PLAN,),
    AtMost(ahead_at(after) + used_at(after), ahead_at(after + 1) + planned_at(after)),
    "a use is a planned one, or comes before its planned place; that place makes up for it",
)
plan_makes_up = Fact(
    "plan_makes_up",
    "",
    (_PLAN,),
    Equal(planned_at(after) * ahead_at(after + 1), S.Zero),
    "after its planned place an epoch has no place to come",
)
apart_if_used = Fact(
    "apart_if_used",
    "",
    (
        Scheduled(RUN, _each(factor_at), _each(variance_at), _each(jump_at)),
        _PLAN,
    ),
    ApartAt(RUN, after, jump_at(after) * used_at(after)),
    "a step that does not use the record has one map for both datasets",
)
worst_now = Fact("worst_now", "", (_WORST,), AtMost(jump_at(after), worst_at(after)), _EVERY)
worst_before = Fact("worst_before", "", (_WORST,), AtMost(factor_at(after) * kept_at(after), worst_at(after)), _EVERY)
worst_carried = Fact(
    "worst_carried",
    "",
    (_WORST,),
    AtMost(worst_at(after) * (1 - planned_at(after)), carried_at(after + 1)),
    _EVERY,
)
steered_step = Fact(
    "steered_step",
    "",
    (Steered(*map(_each, (factor_at, jump_at, shift_at, near_at, away_at))),),
    Equal(away_at(after + 1), factor_at(after) * near_at(after) + jump_at(after) - shift_at(after)),
    _EVERY,
)

# --- What is seen ---------------------------------------------------------------------------------------------------

_SEEN = _each(seen_at)


@dataclass(frozen=True)
class Seen(Pair):
    """The joint laws of the iterates right after those of the first `steps` steps t that have seen(t) = 1."""

    descent: Descent | Anything
    seen: Lambda
    steps: Expr
    words = "the iterates after those of {steps} updates t with {seen} = 1"


@dataclass(frozen=True)
class MeanSeen(Pair):
    """The laws of the mean of these iterates."""

    descent: Descent | Anything
    seen: Lambda
    steps: Expr
    words = "the mean of the iterates after those of {steps} updates t with {seen} = 1"


@dataclass(frozen=True)
class Followed(Proposition):
    """One drifted copy is within `distance`, at a cost of at most `cost` (`Drift`), and met the first run where seen.

    That is, right after each of the first `steps` steps t that have seen(t) = 1.
    """

    descent: Descent | Anything
    seen: Lambda
    steps: Expr
    distance: Expr
    cost: Expr
    value_at = "cost"
    quantity = Quantity.DIVERGENCE_STEP
    words = (
        "after {steps} updates a drifted copy that met the first run after those with {seen} = 1 is within {distance}, "
        "at a cost μ² ≤ {cost}"
    )


@dataclass(frozen=True)
class GoneWhereSeen(Proposition):
    """left(t + 1) = 0 for every step t that has seen(t) = 1; seen(t) = 0 for others."""

    seen: Lambda
    left: Lambda
    words = "{left} is 0 right after every step with {seen} = 1"


gone_where_seen = Fact(
    "gone_where_seen",
    "",
    (GoneWhereSeen(_SEEN, _each(away_at)),),
    Equal(seen_at(after) * away_at(after + 1), S.Zero),
    _EVERY,
)
followed_start = Fact(
    "followed_start",
    "",
    (),
    Followed(RUN, _SEEN, Integer(0), Integer(0), Integer(0)),
    "the copy starts where both runs start, and has drifted nowhere; nothing was seen",
)
followed_wider = Fact(
    "followed_wider",
    "",
    (Followed(RUN, _SEEN, steps, drifted, cost_1), AtMost(drifted, distance)),
    Followed(RUN, _SEEN, steps, distance, cost_1),
    "what is within a distance is within a larger one",
)
_STEP = (
    LipschitzAt(RUN, after, factor),
    ApartAt(RUN, after, distance),
    NoiseAt(RUN, after, noise_1),
    Less(S.Zero, noise_1),
    AtMost(S.Zero, hidden),
    AtMost(S.Zero, inverse),
    Equal(seen_at(after) * inverse, S.Zero),
)
"""What the step does, and hides; what is left is `inverse`, and nothing if its iterate is seen."""
followed_step = Fact(
    "followed_step",
    DONG,
    (
        Followed(RUN, _SEEN, after, drifted, cost_1),
        *_STEP,
        AtMost(factor * drifted + distance, inverse + hidden),
    ),
    Followed(RUN, _SEEN, after + 1, inverse, cost_1 + hidden**2 / noise_1),
    "the same copy goes on: its maps lead to within Lz + s, a drift hides a of that, Gaussian mechanisms chosen one "
    "after another compose; where nothing is left, it has met the first run",
)
followed_end = Fact(
    "followed_end",
    DONG,
    (Followed(RUN, _SEEN, steps, drifted, cost_1),),
    Gaussian(Seen(RUN, _SEEN, steps), cost_1),
    "what is seen of the first run is seen of the copy, and copy and second run are one function of their transcripts: "
    "post-processing",
)
mean_of_seen = Fact(
    "mean_of_seen",
    DONG,
    (Gaussian(Seen(RUN, _SEEN, steps), cost_1),),
    Gaussian(MeanSeen(RUN, _SEEN, steps), cost_1),
    "the mean of what is seen is a function of it: post-processing",
)

# --- A bounded set --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Confined(Proposition):
    """Every update map begins with a projection onto one convex set of this diameter (that of the step before)."""

    descent: Descent | Anything
    diameter: Expr
    assumable = True
    words = "every iterate is projected onto a convex set of diameter {diameter} before its update"


@dataclass(frozen=True)
class Renewed(Proposition):
    """For every step t, departs(t) is at least arrives(t), or at least the diameter."""

    arrives: Lambda
    departs: Lambda
    diameter: Expr
    words = "a step begins with {departs}, which is at least {arrives} or {diameter}"


renewed_or_not = Fact(
    "renewed_or_not",
    "",
    (Renewed(_each(away_at), _each(near_at), diameter),),
    Either((AtMost(away_at(after), near_at(after)), AtMost(diameter, near_at(after)))),
    _EVERY,
)
followed_anew = Fact(
    "followed_anew",
    "Altschuler & Talwar 2022",
    (
        Followed(RUN, _SEEN, after, drifted, cost_1),
        Confined(RUN, diameter),
        *_STEP,
        AtMost(factor * diameter + distance, inverse + hidden),
    ),
    Followed(RUN, _SEEN, after + 1, inverse, cost_1 + hidden**2 / noise_1),
    "however far away the copy was: what is projected onto the set is no farther from the first run than the set is "
    "wide, and a projection moves no two points apart",
)

# --- Groups of plans ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InGroup(Batches):
    """Batches drawn as `random` says, given that they are in this one of the groups they are divided into."""

    random: Batches | Anything
    group: Expr
    words = "{random}, given group {group}"


@dataclass(frozen=True)
class Grouped(Proposition):
    """Batches drawn as `random` says are in group g < `groups` with chance weight(g).

    Whatever batches of group g are drawn, the laws after `steps` updates are as hard to tell apart as N(0, 1) and
    N(μ, 1), with μ² ≤ cost(g). Groups are the same for both datasets.
    """

    random: Batches | Anything
    noise: Expr
    groups: Expr
    steps: Expr
    weight: Lambda
    cost: Lambda
    words = "given group g of {groups}, of chance {weight}, μ² ≤ {cost} after {steps} updates"


@dataclass(frozen=True)
class PartOfDelta(Proposition):
    """∫(μ − e^epsilon·ν)₊ of the laws after `steps` updates, with μ and ν those of the first `groups` groups only.

    Each with its chance, in either direction: at most `delta`.
    """

    random: Batches | Anything
    noise: Expr
    groups: Expr
    steps: Expr
    epsilon: Expr
    delta: Expr
    value_at = "delta"
    quantity = Quantity.DELTA
    words = "the first {groups} groups add at most {delta} to δ at ε = {epsilon}"


_GROUPED = Grouped(RANDOM, noise_1, count, steps, _each(weight_at), _each(cost_at))


def _part(groups: Expr, delta: Expr) -> PartOfDelta:
    return PartOfDelta(RANDOM, noise_1, groups, steps, epsilon_1, delta)


group_gaussian = Fact(
    "group_gaussian",
    "",
    (_GROUPED, AtMost(place + 1, count)),
    Gaussian(From(Descent(AsDrawn(InGroup(RANDOM, place)), noise_1), Integer(0), steps), cost_at(place)),
    "what holds for every group holds for one",
)
no_group = Fact("no_group", "", (), _part(Integer(0), Integer(0)), "nothing adds nothing")
one_more_group = Fact(
    "one_more_group",
    BALLE,
    (
        _GROUPED,
        AtMost(place + 1, count),
        _part(place, cost_1),
        DeltaAtMost(From(Descent(AsDrawn(InGroup(RANDOM, place)), noise_1), Integer(0), steps), epsilon_1, distance),
    ),
    _part(place + 1, cost_1 + weight_at(place) * distance),
    "(x)₊ is convex and homogeneous: of a sum it is at most the sum, and chances can be taken out",
)
all_groups = Fact(
    "all_groups",
    "",
    (_GROUPED, _part(count, cost_1)),
    DeltaAtMost(From(Descent(RANDOM, noise_1), Integer(0), steps), epsilon_1, cost_1),
    "whatever is drawn is in one of the groups",
)
