"""What shifts spend on steps that all differ: certified, about the least, and never below what really happens."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.functions.gaussian_profile import profile
from hsdp_symbolic.functions.scheduled_set import spent_in_set
from hsdp_symbolic.functions.scheduled_shifts import Schedule, Steps, spent

from .schedules_reference import Exact, drawn, planned

NARROW, LITTLE = Fraction(1, 10**9), Fraction(1, 10**280)


def even(length, every, *, factor=1.0, jump=1.0):
    """Steps that are alike, in epochs of so many."""
    one = np.ones(length)
    return Steps(factor * one, one, jump * one, np.arange(0, length, every))


class TestLastIterate:
    def test_about_the_least_of_shifts_and_never_below(self):
        rng, seen = random.Random(1), 0
        for _ in range(600):
            run = drawn(rng, 14)
            places = planned(rng, run)
            start = rng.choice([Fraction(0), Fraction(rng.randint(0, 9), 4)])
            exact = run.of_plan(places, start)
            found = spent(run.steps(), np.array(places), start=float(start))
            assert exact <= Fraction(found) <= exact * (1 + NARROW) + LITTLE
            seen += exact > 0
        assert seen > 500

    @pytest.mark.parametrize("most", [5, pytest.param(7, marks=pytest.mark.slow)])
    def test_no_way_to_use_the_record_costs_more(self, most):
        """All placements no later than planned, each with the best shifts for it and as it is on a line."""
        rng, tried = random.Random(2), 0
        for _ in range(120):
            run = drawn(rng, most)
            places = planned(rng, run)
            found = Fraction(spent(run.steps(), np.array(places)))
            for placement in run.placements(places):
                hits = run.hits(placement)
                assert run.seen_apart(hits, []) <= run.least(hits) <= found
                tried += 1
        assert tried > 500

    def test_one_jump_that_only_shrinks_is_exactly_that_hard(self):
        run = Exact([Fraction(3, 4)] * 6, [Fraction(1)] * 6, [Fraction(1)] * 6, [0])
        for place in range(6):
            hits = run.hits([place])
            assert Fraction(spent(run.steps(), np.array([place]))) == pytest.approx(float(run.least(hits)), rel=1e-12)

    def test_an_early_use_of_a_large_step_is_not_forgotten(self):
        """Where the learning rate falls, a use before the planned place amounts to more than one in that place."""
        run = Exact([Fraction(1)] * 3, [Fraction(1)] * 3, [Fraction(9), Fraction(3), Fraction(1)], [0])
        early = run.seen_apart(run.hits([0]), [])
        forgetful = run.steps()._replace(jump=np.array([0.0, 0.0, 1.0]))
        assert spent(forgetful, np.array([2])) < early <= Fraction(spent(run.steps(), np.array([2])))

    def test_sums_over_all_steps_would_lose_the_late_ones(self):
        """For c = 1.4, prefix sums of doubles give less than what happens on a line."""
        length, every = 200, 5
        steps, places = even(length, every, factor=1.4), np.arange(0, length, every)
        exact = Exact(*([Fraction(x)] * length for x in (steps.factor[0], 1, 1)), places.tolist())
        weight = np.append(np.cumprod(np.full(length - 1, 1.4))[::-1], 1.0)
        used = np.isin(np.arange(length), places)
        run, rise = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight**2, weight * used))
        blocks = [(part[places + every] - part[places])[: len(places)] for part in (rise, run)]
        naive = sum(up**2 / across for up, across in zip(*blocks, strict=True) if across)
        least = float(exact.of_plan(places.tolist()))
        assert naive < 0.7 * least
        assert least <= spent(steps, places) <= least * (1 + 1e-12)

    def test_composition_is_never_exceeded(self):
        rng = random.Random(3)
        for _ in range(200):
            run = drawn(rng, 12, largest=24)
            places = planned(rng, run)
            jumps = run.planned_jumps(places)
            at_once = sum(jump**2 / v for jump, v in zip(jumps, run.variance, strict=True))
            assert spent(run.steps(), np.array(places)) <= at_once * (1 + NARROW)

    def test_later_places_cost_no_less_and_none_costs_nothing(self):
        rng = random.Random(4)
        for _ in range(200):
            run = drawn(rng, 10)
            places = planned(rng, run)
            earlier = [rng.choice([-1, *range(*each)]) for each in zip(run.epochs, np.add(places, 1), strict=True)]
            schedule = Schedule(run.steps())
            assert schedule.spent(np.array(earlier)) <= schedule.spent(np.array(places)) * (1 + 1e-9) + 1e-280
            assert schedule.spent(np.full(len(places), -1)) == 0.0


class TestExtremes:
    VALUES = ([0, 1e-300, 1e-100, 1, 1e100, 1e300], [1e-320, 1e-160, 0.5, 1, 1e50], [0, 1e80, 1e-80, 1])

    def test_never_below_whatever_the_sizes(self):
        rng, finite = random.Random(5), 0
        for _ in range(400):
            run = drawn(rng, 8)
            pool = rng.choice(self.VALUES)
            run = Exact(
                [Fraction(rng.choice(pool)) for _ in run.factor],
                [Fraction(rng.choice([1, 1e-200, 1e200, 0.3])) for _ in run.factor],
                [Fraction(rng.choice([0, 1, 1e-200, 1e150, 0.7])) for _ in run.factor],
                run.epochs,
            )
            places, start = planned(rng, run), rng.choice([0.0, 1e-100, 3.0])
            found = spent(run.steps(), np.array(places), start=start)
            if found < float("inf"):
                assert run.of_plan(places, Fraction(start)) <= Fraction(found)
                finite += 1
        assert finite > 300

    def test_a_million_steps(self):
        begun = time.process_time()
        found = spent(even(10**6, 1000, factor=0.999), np.arange(0, 10**6, 1000) + 500)
        assert found == pytest.approx(spent(even(10**5, 1000, factor=0.999), np.arange(0, 10**5, 1000) + 500), rel=1e-6)
        assert time.process_time() - begun < 3

    @pytest.mark.slow
    @pytest.mark.parametrize("every", [1, 1000, 10**6])
    def test_a_million_steps_that_all_differ(self, every):
        rng, length = np.random.default_rng(6), 10**6
        steps = Steps(
            rng.uniform(0.99, 1, length), np.ones(length), rng.uniform(0, 1, length), np.arange(0, length, every)
        )
        begun = time.process_time()
        assert spent(steps, np.arange(0, length, every) + every // 2) > 0
        assert time.process_time() - begun < 12

    def test_one_straight_line_is_a_formula(self):
        """One use at the start, c = 1: what all steps hide together costs s²/(T·v)."""
        assert spent(even(10**5, 10**5), np.array([0])) == pytest.approx(1e-5, rel=1e-8)


class TestReleases:
    def test_no_way_to_use_the_record_is_easier_to_tell(self):
        rng, tried, tight = random.Random(7), 0, 0
        for _ in range(150):
            run = drawn(rng, 6)
            places = planned(rng, run)
            released = sorted(rng.sample(range(1, run.length + 1), rng.randint(0, run.length)))
            found = Fraction(spent(run.steps(), np.array(places), released=np.array(released, dtype=int)))
            most = Fraction(0)
            for placement in run.placements(places):
                hits = run.hits(placement)
                cuts = [0, *sorted({*released, run.length})]
                apart = sum(run.least(hits, 0, *each) for each in pairwise(cuts))
                assert run.seen_apart(hits, released) <= apart <= found
                most, tried = max(most, apart), tried + 1
            tight += found <= most * (1 + NARROW)
        assert tried > 900
        assert tight > 90  # else an early use, raised to its planned place, is what makes the difference

    def test_every_iterate_is_the_dearest_place_of_every_epoch(self):
        rng = random.Random(8)
        for _ in range(100):
            run = drawn(rng, 10)
            places = planned(rng, run)
            each = (
                max((run.jump[t] ** 2 / run.variance[t] for t in range(begin, place + 1)), default=Fraction(0))
                for begin, place in zip(run.epochs, places, strict=True)
            )
            exact = sum(each, Fraction(0))
            found = Fraction(spent(run.steps(), np.array(places), released=np.arange(1, run.length + 1)))
            assert exact <= found <= exact * (1 + NARROW)

    def test_the_mean_of_the_last_iterates_is_no_easier(self):
        rng = random.Random(9)
        for _ in range(120):
            run = drawn(rng, 6)
            places, last = planned(rng, run), rng.randint(1, run.length)
            seen = np.arange(run.length - last + 1, run.length + 1)
            found = Fraction(spent(run.steps(), np.array(places), released=seen))
            assert all(run.mean_apart(run.hits(each), last) <= found for each in run.placements(places))

    def test_what_is_not_hidden_at_a_release_shows(self):
        """Shifts for the last iterate alone are not enough once an earlier one is seen."""
        run = Exact([Fraction(1, 2)] * 8, [Fraction(1)] * 8, [Fraction(1)] * 8, [0])
        both = run.seen_apart(run.hits([0]), [1])
        assert spent(run.steps(), np.array([0])) < both
        assert both <= Fraction(spent(run.steps(), np.array([0]), released=np.array([1])))

    def test_an_epoch_that_a_release_cuts_counts_once(self):
        """A use is before the release or after it: not both."""
        steps = even(4, 4)
        both = spent(even(4, 2), np.array([1, 3]), released=np.array([2]))
        once = spent(steps, np.array([3]), released=np.array([2]))
        assert (once, both) == (pytest.approx(1), pytest.approx(2))

    def test_the_end_is_always_seen(self):
        steps, places = even(6, 3), np.array([1, 4])
        assert spent(steps, places, released=np.array([6])) == spent(steps, places)


class TestBoundedSet:
    """Processes on [0, D], projected after every step, by numerical integration; their maps are bent."""

    CELLS, BEND = 120, 0.25

    def told_apart(self, run, hits, diameter, epsilon):
        """∫(μ − e^ε·ν)₊ of the last iterate: starting points and laws on a grid, in doubles."""
        grid = (np.arange(self.CELLS) + 0.5) / self.CELLS * diameter
        points = np.concatenate([[0.0], grid, [diameter]])
        edges = np.linspace(0, diameter, self.CELLS + 1)
        laws = [np.eye(len(points))[0]] * 2
        normal = np.vectorize(NormalDist().cdf)
        for step in range(run.length):
            for which in range(2):
                bent = np.abs(points - self.BEND * diameter * (step % 2))
                moved = float(run.factor[step]) * bent + (float(hits[step]) if which else 0.0)
                below = normal((edges[None, :] - moved[:, None]) / float(run.variance[step]) ** 0.5)
                chances = np.diff(
                    np.concatenate([np.zeros((len(points), 1)), below, np.ones((len(points), 1))], axis=1)
                )
                laws[which] = laws[which] @ chances
        return max(np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in (laws, laws[::-1]))

    def cases(self, number, seed):
        rng = random.Random(seed)
        for _ in range(number):
            length = rng.randint(2, 5)
            run = Exact(
                [Fraction(rng.randint(4, 9), 8) for _ in range(length)],
                [Fraction(rng.randint(1, 4), 4) for _ in range(length)],
                [Fraction(rng.choice([0, 1, 4, 40])) for _ in range(length)],
                list(range(length)),
            )
            yield run, Fraction(rng.randint(2, 8), 4)

    def bound(self, run, diameter):
        return spent_in_set(run.steps(), np.arange(run.length), float(diameter))

    def test_no_easier_than_the_bound(self):
        below, of_use = 0, 0
        for run, diameter in self.cases(20, 10):
            cost = self.bound(run, diameter)
            of_use += cost < spent(run.steps(), np.arange(run.length)) * 0.99
            for epsilon in (0.0, 0.5):
                true = self.told_apart(run, run.jump, float(diameter), epsilon)
                assert true <= profile(np.array([cost]), np.array([epsilon]))[0] + 1e-6
                below += 1
        assert below == 40
        assert of_use > 5

    @pytest.mark.slow
    def test_no_easier_than_the_bound_in_many_cases(self):
        for run, diameter in self.cases(150, 11):
            cost = self.bound(run, diameter)
            for epsilon in (0.0, 0.3, 1.0):
                true = self.told_apart(run, run.jump, float(diameter), epsilon)
                assert true <= profile(np.array([cost]), np.array([epsilon]))[0] + 1e-6

    def test_half_the_diameter_is_not_enough(self):
        """Runs that were pushed to the two ends: a bound from half of the way between them is exposed."""
        run = Exact([Fraction(1)] * 3, [Fraction(1, 4)] * 3, [Fraction(0), Fraction(40), Fraction(0)], [0, 1, 2])
        true = self.told_apart(run, run.jump, 1.0, 0.0)
        wrong, right = (profile(np.array([self.bound(run, Fraction(d))]), np.zeros(1))[0] for d in (Fraction(1, 2), 1))
        assert wrong < true <= right

    def test_is_never_above_the_unbounded_and_close_to_every_beginning(self):
        rng = random.Random(12)
        for _ in range(100):
            run = drawn(rng, 10)
            places, diameter = planned(rng, run), Fraction(rng.randint(0, 12), 4)
            found = Fraction(spent_in_set(run.steps(), np.array(places), float(diameter)))
            exact = run.of_plan(places)
            for begin in range(1, run.length):
                later = [each - begin for each in run.epochs if each > begin]
                rest = Exact(run.factor[begin:], run.variance[begin:], run.jump[begin:], [0, *later])
                kept = places[len(places) - len(rest.epochs) :]
                exact = min(exact, rest.of_plan([p - begin if p >= begin else -1 for p in kept], diameter))
            assert exact <= found <= run.of_plan(places) * (1 + NARROW) + LITTLE


class TestArguments:
    @pytest.mark.parametrize(
        ("changed", "places", "more", "name"),
        [
            ({"factor": np.array([1.0, -1.0])}, [0], {}, "factor"),
            ({"factor": np.array([1.0, np.nan])}, [0], {}, "factor"),
            ({"variance": np.array([1.0, 0.0])}, [0], {}, "variance"),
            ({"jump": np.array([1.0, np.inf])}, [0], {}, "jump"),
            ({"jump": np.array([1.0])}, [0], {}, "steps"),
            ({"epochs": np.array([1])}, [1], {}, "epochs"),
            ({"epochs": np.array([0, 0])}, [0, 0], {}, "epochs"),
            ({}, [2], {}, "places"),
            ({}, [0, 1], {}, "places"),
            ({}, [0.5], {}, "places"),
            ({}, [0], {"start": -1.0}, "start"),
            ({}, [0], {"start": float("nan")}, "start"),
            ({}, [0], {"released": np.array([0])}, "released"),
            ({}, [0], {"released": np.array([3])}, "released"),
        ],
    )
    def test_are_checked(self, changed, places, more, name):
        with pytest.raises(ArgumentError, match=name):
            spent(even(2, 2)._replace(**changed), np.array(places), **more)

    def test_so_is_the_diameter(self):
        with pytest.raises(ArgumentError, match="diameter"):
            spent_in_set(even(2, 2), np.array([0]), -1.0)
