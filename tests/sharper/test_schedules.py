"""What is proved of schedules: what it assumes, what the rules refuse without it, and that plans are as assumed."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from sympy import Lambda, S

from hsdp_symbolic.functions.sum_over import SumOver
from hsdp_symbolic.proof import controls, kernel
from hsdp_symbolic.proof.evidence import Verdict
from hsdp_symbolic.proof.facts.drift import Scheduled
from hsdp_symbolic.proof.facts.schedules import (
    AheadOfPlan,
    Confined,
    GoneWhereSeen,
    Grouped,
    InGroup,
    MeanSeen,
    NoLater,
    Seen,
    Steered,
    followed_step,
    group_gaussian,
    one_more_group,
)
from hsdp_symbolic.proof.kernel import Refused, apply, assume, closed
from hsdp_symbolic.proof.propositions import AtMost, DeltaAtMost, Equal, From, Gaussian
from hsdp_symbolic.sharper import schedules
from hsdp_symbolic.symbols import T, ahead_at, away_at, i, j, k, place, seen_at, time_1

from ..functions.schedules_reference import drawn, planned

PLANNED = {Scheduled, NoLater, AheadOfPlan, Steered}


def kinds(theorem):
    return {type(each) for each in theorem.hypotheses}


class TestProofs:
    @pytest.mark.parametrize(
        ("prove", "pair", "more"),
        [
            (schedules.planned_schedule, From, {Equal}),
            (schedules.planned_releases, Seen, {GoneWhereSeen}),
            (schedules.planned_mean, MeanSeen, {GoneWhereSeen}),
            (schedules.planned_in_set, From, {Confined, AtMost, Equal}),
        ],
    )
    def test_what_is_claimed_and_what_is_assumed(self, prove, pair, more):
        found = prove()
        assert closed(found)
        assert isinstance(found.proposition, Gaussian)
        assert isinstance(found.proposition.pair, pair)
        assert kinds(found) == PLANNED | more

    def test_nothing_is_left_at_the_end(self):
        found = schedules.planned_schedule()
        assert {Equal(away_at(T), S.Zero), Equal(ahead_at(T), S.Zero)} <= set(found.hypotheses)
        assert found.proposition.cost == SumOver(schedules._SPENT, time_1, T)

    def test_a_bounded_set_counts_from_where_shifts_begin(self):
        found = schedules.planned_in_set()
        assert found.proposition.cost == SumOver(schedules._SPENT.subs(time_1, k + time_1), time_1, j + 1)

    def test_groups_are_added_up(self):
        found = schedules.over_groups()
        assert closed(found)
        assert isinstance(found.proposition, DeltaAtMost)
        assert kinds(found) == {Grouped}


PROVED = ("planned_schedule", "planned_releases", "planned_mean", "planned_in_set", "over_groups")


@pytest.mark.parametrize("name", PROVED)
def test_wrong_versions_of_a_proof_do_not_go_through(name):
    """Functions of the step among them: they are changed in their bodies."""
    tried = list(controls.sample(getattr(schedules, name)(), 20, seed=5))
    assert len(tried) >= 15
    assert [what for what, check in tried if check.verify().verdict is Verdict.PROVED] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVED)
def test_no_wrong_version_of_a_proof_goes_through(name):
    assert controls.survivors(getattr(schedules, name)()) == []


class TestRefusals:
    """A use ahead of its plan: leave out any one of the reasons, and there is no room for it."""

    @pytest.mark.parametrize("left_out", range(6))
    def test_every_condition_is_needed(self, monkeypatch, left_out):
        def careless(left, right, *terms):
            assert len(terms) == 6
            return kernel.combine(left, right, *terms[:left_out], *terms[left_out + 1 :])

        monkeypatch.setattr(schedules, "combine", careless)
        with pytest.raises(Refused, match="not seen to be equal"):
            schedules.room_for_use(S.Zero, i, kernel.positive(i))

    def test_what_is_carried_counts(self):
        """Without the carry, a step with a use ahead of plan leads beyond what is planned."""
        plan = assume(schedules._PLAN)
        ahead = apply(schedules.ahead_of_plan, plan, put={schedules.after: i})
        with pytest.raises(Refused, match="not seen to be equal"):
            kernel.combine(away_at(i) + ahead_at(i), away_at(i), (S.One, ahead))

    def test_steps_before_the_beginning_say_nothing(self):
        """`Steered` and `AheadOfPlan` hold from a step on."""
        with pytest.raises(Refused):
            schedules.room_for_use(k, i, kernel.positive(i))

    def test_an_iterate_is_not_seen_where_something_is_left(self):
        premises = [assume(each) for each in followed_step.premises[:-1]]
        other = assume(Equal(seen_at(schedules.after + 1) * schedules.inverse, S.Zero))
        assert apply(followed_step, *premises, assume(followed_step.premises[-1]))
        with pytest.raises(Refused):
            apply(followed_step, *premises, other)

    def test_a_group_adds_no_less_than_its_chance(self):
        grouped, room, so_far, own = (assume(each) for each in one_more_group.premises)
        other = assume(group_gaussian.conclusion)
        assert apply(one_more_group, grouped, room, so_far, own)
        with pytest.raises(Refused):
            apply(one_more_group, grouped, room, so_far, other)

    def test_another_group_is_refused(self):
        grouped, room, so_far, own = one_more_group.premises
        moved = own.changed(
            lambda part: part if not hasattr(part, "subs") or part.has(Lambda) else part.subs(place, place + 1)
        )
        assert moved.pair.descent.batches.random == InGroup(own.pair.descent.batches.random.random, place + 1)
        with pytest.raises(Refused):
            apply(one_more_group, *map(assume, (grouped, room, so_far, moved)))


class TestPlans:
    """The facts about plans hold of what they describe: every placement no later than planned."""

    def test_as_the_facts_say(self):
        rng, tried = random.Random(1), 0
        for _ in range(100):
            run = drawn(rng, 6)
            places = planned(rng, run)
            plan = [int(step in places) for step in range(run.length)]
            worst, carried = self._worst(run, places)
            for placement in run.placements(places):
                used = [int(step in placement) for step in range(run.length)]
                ahead = self._ahead(run, places, placement)
                assert ahead[0] == ahead[-1] == 0
                for step in range(run.length):
                    assert ahead[step] + used[step] <= ahead[step + 1] + plan[step]
                    assert plan[step] * ahead[step + 1] == 0
                    jump = run.jump[step] if ahead[step] or used[step] or ahead[step + 1] else Fraction(0)
                    assert jump <= worst[step]
                    assert run.factor[step] * carried[step] <= worst[step]
                    assert worst[step] * (1 - plan[step]) <= carried[step + 1]
                tried += 1
            assert [w * p for w, p in zip(worst, plan, strict=True)] == run.planned_jumps(places)
        assert tried > 400

    def _ahead(self, run, places, placement):
        found = [0] * (run.length + 1)
        for place_, use in zip(places, placement, strict=True):
            for step in range(use + 1, place_ + 1) if use >= 0 else ():
                found[step] = 1
        return found

    def _worst(self, run, places):
        """As small as allowed; after its planned place an epoch does not jump."""
        worst, carried = [Fraction(0)] * run.length, [Fraction(0)] * (run.length + 1)
        for begin, place_ in zip(run.epochs, places, strict=True):
            for step in range(begin, place_ + 1):
                worst[step] = max(run.jump[step], run.factor[step] * carried[step])
                carried[step + 1] = worst[step] if step < place_ else Fraction(0)
        return worst, carried
