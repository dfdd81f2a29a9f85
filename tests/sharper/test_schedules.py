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
    Renewed,
    Seen,
    Steered,
    followed_anew,
    followed_step,
    group_gaussian,
    one_more_group,
    renewed_or_not,
)
from hsdp_symbolic.proof.kernel import Refused, apply, assume, closed
from hsdp_symbolic.proof.propositions import DeltaAtMost, Equal, From, Gaussian
from hsdp_symbolic.sharper import schedules
from hsdp_symbolic.symbols import T, after, ahead_at, away_at, i, inverse, place, seen_at, time_1

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
            (schedules.planned_in_set, Seen, {GoneWhereSeen, Confined, Renewed}),
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
            schedules.room_for_use.__wrapped__(schedules._AWAY, schedules._CARRIED)

    def test_what_is_carried_counts(self):
        """Without the carry, a step with a use ahead of plan leads beyond what is planned."""
        plan = assume(schedules._PLAN)
        ahead = apply(schedules.ahead_of_plan, plan, put={after: i})
        with pytest.raises(Refused, match="not seen to be equal"):
            kernel.combine(away_at(i) + ahead_at(i), away_at(i), (S.One, ahead))

    def test_only_in_a_bounded_set_may_a_step_begin_anew(self):
        """A distance that is made shorter is refused, unless the set is no wider."""
        enough = schedules.room_for_use(schedules._NEAR, schedules._KEPT)
        so_far, _, *known, _ = map(assume, followed_anew.premises)
        assert apply(followed_anew, *map(assume, followed_anew.premises))
        for without in (so_far, *known):
            others = [each for each in (so_far, *known) if each is not without]
            with pytest.raises(Refused):
                apply(followed_anew, *others, enough)
        choice = assume(renewed_or_not.conclusion)
        with pytest.raises(Refused):
            kernel.each_case(choice, assume(choice.proposition.cases[0]))

    def test_an_iterate_is_not_seen_where_something_is_left(self):
        gone = Equal(seen_at(after) * inverse, S.Zero)
        assert gone in followed_step.premises
        other = Equal(seen_at(after + 1) * inverse, S.Zero)
        premises = [other if each == gone else each for each in followed_step.premises]
        assert apply(followed_step, *map(assume, followed_step.premises))
        with pytest.raises(Refused):
            apply(followed_step, *map(assume, premises))

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
