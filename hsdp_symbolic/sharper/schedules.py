"""Steps that all differ: shifts that suit a plan are enough whenever the record is used, if no later than planned.

Step t is c_t-Lipschitz (c_t may exceed 1), its noise has variance v_t, its two maps are at most s_t apart if it uses
the record. Let r_t be the most that a use in the epoch of step t, in or before step t, amounts to after the maps of
step t, its planned place being t or later: r_t = max(s_t, c_t·κ_t), κ_(t+1) = r_t unless step t is planned, else 0.
Shifts a_t ≥ 0 are made for a run that jumps by r_t in planned places and nowhere else: z_(t+1) = c_t·z_t + p_t·r_t −
a_t ≥ 0. Claim: a copy steered by them is never farther from the first run than z_t + κ_t·d_t, where d_t says whether
the record was used ahead of plan. So where the plan ends with z = 0, or wherever an iterate is seen and z = 0 = κ·d,
the run costs Σ a_t²/v_t, whichever steps used the record.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sympy import Expr, Integer, Lambda, S

from ..functions.gaussian_profile import GaussianProfile
from ..functions.sum_over import SumOver
from ..proof import kernel
from ..proof.facts.definitions import RUN
from ..proof.facts.drift import (
    Drift,
    Scheduled,
    close_wider,
    drift_end,
    drift_maps,
    drift_start,
    drift_wider,
    hide,
    scheduled_lipschitz,
    scheduled_noise,
)
from ..proof.facts.mixtures import RANDOM
from ..proof.facts.profiles import gaussian_profile
from ..proof.facts.schedules import (
    AheadOfPlan,
    Confined,
    Followed,
    GoneWhereSeen,
    Grouped,
    NoLater,
    PartOfDelta,
    Renewed,
    Steered,
    ahead_of_plan,
    all_groups,
    apart_if_used,
    followed_anew,
    followed_end,
    followed_start,
    followed_step,
    followed_wider,
    gone_where_seen,
    group_gaussian,
    mean_of_seen,
    no_group,
    one_more_group,
    plan_makes_up,
    renewed_or_not,
    steered_step,
    worst_before,
    worst_carried,
    worst_now,
)
from ..proof.kernel import Theorem, apply, assume, combine, substitute
from ..proof.propositions import AtMost, Equal
from ..proof.search import equal_bound, induct
from ..symbols import (
    T,
    after,
    ahead_at,
    away_at,
    carried_at,
    cost_at,
    count,
    diameter,
    distance,
    epsilon_1,
    factor_at,
    hidden,
    i,
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

_FACTORS, _VARIANCES, _JUMPS, _SHIFTS, _AWAY, _USED, _PLANNED, _AHEAD, _WORST, _CARRIED, _SEEN = (
    Lambda(time_1, each(time_1))
    for each in (
        *(factor_at, variance_at, jump_at, shift_at, away_at, used_at, planned_at, ahead_at, worst_at, carried_at),
        seen_at,
    )
)
_PLANNED_JUMPS = Lambda(time_1, planned_at(time_1) * worst_at(time_1))
_NEAR, _KEPT = (Lambda(time_1, each(time_1)) for each in (near_at, kept_at))
_SCHEDULE = Scheduled(RUN, _FACTORS, _VARIANCES, _JUMPS)
_PLAN = NoLater(RUN, _USED, _PLANNED, _AHEAD)
_WEIGHTS, _COSTS = (Lambda(time_1, each(time_1)) for each in (weight_at, cost_at))
_SPENT = shift_at(time_1) ** 2 / variance_at(time_1)
_GROUP_DELTA = weight_at(time_1) * GaussianProfile(cost_at(time_1), epsilon_1)
"""What a group adds to δ."""


def _within(step: Expr) -> Expr:
    """How far away the copy may be before a step: as planned, and what was used ahead of the plan."""
    return away_at(step) + carried_at(step) * ahead_at(step)


def _one(fact: kernel.Fact, step: Expr, *given: Theorem) -> Theorem:
    """What holds for every step, of this one."""
    return apply(fact, *given, put={after: step})


def _known(step: Expr) -> tuple[Theorem, Theorem, Theorem]:
    """Of a step: its Lipschitz constant, how far its maps are apart, its noise."""
    schedule = assume(_SCHEDULE)
    apart = _one(apart_if_used, step, schedule, assume(_PLAN))
    return _one(scheduled_lipschitz, step, schedule), apart, _one(scheduled_noise, step, schedule)


@cache
def room_for_use(near: Lambda, kept: Lambda) -> Theorem:
    """After the maps of a step, its shift and what is planned leave room: whether it uses the record or not.

    The step begins no farther away than `near`, and what was used ahead of the plan amounts to `kept`.
    """
    plan, worst = assume(_PLAN), assume(AheadOfPlan(_FACTORS, _JUMPS, _PLANNED, _WORST, kept, _CARRIED))
    steered = assume(Steered(_FACTORS, _PLANNED_JUMPS, _SHIFTS, near, _AWAY))
    moved = apply(steered_step, steered, put={after: i, jump_at: _PLANNED_JUMPS, near_at: near})
    return combine(
        factor_at(i) * (near(i) + kept(i) * ahead_at(i)) + jump_at(i) * used_at(i),
        _within(i + 1) + shift_at(i),
        (worst_at(i), _one(ahead_of_plan, i, plan)),
        (ahead_at(i), apply(worst_before, worst, put={after: i, kept_at: kept})),
        (used_at(i), apply(worst_now, worst, put={after: i, kept_at: kept})),
        (ahead_at(i + 1), apply(worst_carried, worst, put={after: i, kept_at: kept})),
        (worst_at(i), kernel.loosen(_one(plan_makes_up, i, plan))),
        (S.One, kernel.loosen(kernel.swap(moved))),
    )


def _hidden(maps: Theorem, step: Expr, room: Theorem, noise: Theorem) -> Theorem:
    """One step: of what is there after its maps, its shift is hidden."""
    wide, left = _within(step + 1) + shift_at(step), kernel.positive(_within(step + 1))
    wider = apply(close_wider, maps, room, put={distance: wide})
    rest = kernel.loosen(combine(shift_at(step), wide, (S.One, left)))
    level, size = kernel.positive(variance_at(step)), kernel.positive(shift_at(step))
    return apply(hide, wider, noise, size, rest, level, put={hidden: shift_at(step)})


def _more(body: Expr, number: Expr) -> Theorem:
    """A sum over so many terms and one, from that over so many."""
    one = SumOver(body, time_1, number + 1)
    return kernel.unfold(one, 0) if number == 0 else kernel.unfold(SumOver(body, time_1, number), 1)


# --- The last iterate -----------------------------------------------------------------------------------------------


@cache
def planned_schedule() -> Theorem:
    """Shifts of a plan give Gaussian privacy with μ² = Σ a_t²/v_t for any run that uses the record no later."""

    def claim(number: Expr) -> Drift:
        return Drift(RUN, number, _within(number), SumOver(_SPENT, time_1, number))

    def step(so_far: Theorem) -> Theorem:
        lipschitz, apart, noise = _known(i)
        found = _hidden(apply(drift_maps, lipschitz, apart, so_far), i, room_for_use(_AWAY, _CARRIED), noise)
        return equal_bound(found, claim(i + 1).cost, by=[_more(_SPENT, i)])

    start = apply(drift_wider, apply(drift_start), kernel.positive(_within(Integer(0))))
    found = substitute(induct(i, 0, claim, start, step), {i: T})
    return kernel.named(_met(found, T), "shifts of a plan, steps that all differ")


def _met(found: Theorem, step: Expr) -> Theorem:
    """At the end nothing is planned to be left, and nothing ahead of plan."""
    gone = [kernel.loosen(assume(Equal(each(step), S.Zero))) for each in (away_at, ahead_at)]
    nothing = combine(_within(step), S.Zero, (S.One, gone[0]), (carried_at(step), gone[1]))
    return apply(drift_end, apply(drift_wider, found, nothing))


# --- Several iterates -----------------------------------------------------------------------------------------------

_GONE = GoneWhereSeen(_SEEN, Lambda(time_1, _within(time_1)))


def _followed(step: Callable[[Theorem, tuple[Theorem, ...]], Theorem]) -> Theorem:
    """All iterates that are seen, by one step after the other; each is handed what is known of it."""

    def claim(number: Expr) -> Followed:
        return Followed(RUN, _SEEN, number, _within(number), SumOver(_SPENT, time_1, number))

    def one(so_far: Theorem) -> Theorem:
        signs = (kernel.positive(each) for each in (variance_at(i), shift_at(i), _within(i + 1)))
        gone = apply(gone_where_seen, assume(_GONE), put={after: i, away_at: _GONE.left})
        return equal_bound(step(so_far, (*_known(i), *signs, gone)), claim(i + 1).cost, by=[_more(_SPENT, i)])

    start = apply(followed_wider, apply(followed_start), kernel.positive(_within(Integer(0))))
    return apply(followed_end, substitute(induct(i, 0, claim, start, one), {i: T}))


_AT = {after: i, hidden: shift_at(i), inverse: _within(i + 1)}


@cache
def planned_releases() -> Theorem:
    """The same for all iterates that are seen together, if nothing is left, or ahead of plan, where one is seen."""

    def step(so_far: Theorem, known: tuple[Theorem, ...]) -> Theorem:
        return apply(followed_step, so_far, *known, room_for_use(_AWAY, _CARRIED), put=_AT)

    return kernel.named(_followed(step), "shifts of a plan, several iterates seen")


@cache
def planned_mean() -> Theorem:
    """The same for the mean of these iterates."""
    return kernel.named(apply(mean_of_seen, planned_releases()), "shifts of a plan, the mean of iterates")


# --- A bounded set --------------------------------------------------------------------------------------------------


@cache
def planned_in_set() -> Theorem:
    """Where iterates are projected onto a set, any step may begin anew, at the diameter of the set."""
    departs = Lambda(time_1, near_at(time_1) + kept_at(time_1) * ahead_at(time_1))
    renewed = assume(Renewed(_GONE.left, departs, diameter))

    def step(so_far: Theorem, known: tuple[Theorem, ...]) -> Theorem:
        choice = apply(renewed_or_not, renewed, put={after: i, away_at: _GONE.left, near_at: departs})
        as_before, anew = map(assume, choice.proposition.cases)  # type: ignore[attr-defined]
        enough, confined = room_for_use(_NEAR, _KEPT), assume(Confined(RUN, diameter))
        room = _within(i + 1) + shift_at(i)
        spare = [
            combine(factor_at(i) * begun + jump_at(i) * used_at(i), room, (factor_at(i), case), (S.One, enough))
            for begun, case in ((_within(i), as_before), (diameter, anew))
        ]
        return kernel.each_case(
            choice,
            apply(followed_step, so_far, *known, spare[0], put=_AT),
            apply(followed_anew, so_far, confined, *known, spare[1], put=_AT),
        )

    return kernel.named(_followed(step), "shifts of a plan, within a bounded set")


# --- Groups of plans ------------------------------------------------------------------------------------------------


@cache
def over_groups() -> Theorem:
    """δ of batches that are drawn: the mean over groups of outcomes, each with a μ² that is enough for it."""
    grouped = assume(Grouped(RANDOM, noise_1, count, steps, _WEIGHTS, _COSTS))

    def claim(groups: Expr) -> PartOfDelta:
        delta = SumOver(_GROUP_DELTA, time_1, groups)
        return PartOfDelta(RANDOM, noise_1, groups, steps, epsilon_1, delta)

    def step(so_far: Theorem) -> Theorem:
        room = assume(AtMost(i + 1, count))
        one = apply(gaussian_profile, apply(group_gaussian, grouped, room, put={place: i}), put={epsilon_1: epsilon_1})
        found = apply(one_more_group, grouped, room, so_far, one, put={place: i})
        return equal_bound(found, claim(i + 1).delta, by=[_more(_GROUP_DELTA, i)])

    none = apply(no_group, put={noise_1: noise_1, steps: steps, epsilon_1: epsilon_1, RANDOM: RANDOM})
    found = induct(i, 0, claim, none, step, upper=count)
    found = kernel.cut(substitute(found, {i: count}), combine(count, count))
    return kernel.named(apply(all_groups, grouped, found), "groups of plans")
