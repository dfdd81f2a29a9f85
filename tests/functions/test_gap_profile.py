"""The law of what hiding every hit before the next one costs: against all places, one by one; wrong laws exposed."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from sympy import Rational

from hsdp_symbolic.errors import ArgumentError, GridExhausted
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.numeric import evaluate
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions import gap_laws
from hsdp_symbolic.functions.gap_laws import Gaps, gap_law, shares
from hsdp_symbolic.functions.gap_profile import GapProfile, bracket
from hsdp_symbolic.functions.gaussian_profile import profile

FINENESSES = 1.0, 0.25, 2.0**-6
CONSTANTS = "1", "1.000001", "1.05", "1.3", "2"


def spent(c, batches, places):
    """Σ u(gap), from its definition."""
    times = [batches * epoch + place for epoch, place in enumerate(places)] + [batches * len(places)]
    return math.fsum(1 / math.fsum(c ** (-2 * s) for s in range(after - before)) for before, after in pairwise(times))


def every_cost(gaps):
    c, every = float(gaps.factor), product(range(gaps.batches), repeat=gaps.epochs)
    return np.array([spent(c, gaps.batches, places) for places in every])


def by_hand(gaps, cost, epsilon):
    """The mean over all places, one by one."""
    return float(profile(float(cost) * every_cost(gaps), np.full(gaps.batches**gaps.epochs, float(epsilon))).mean())


def drawn(rng):
    gaps = Gaps(Fraction(rng.choice(CONSTANTS)), rng.randint(1, 6), rng.randint(1, 4))
    return gaps, Fraction(rng.randint(1, 80), 20), Fraction(rng.randint(0, 60), 20)


def node(gaps, cost, epsilon):
    return GapProfile(*map(Rational, (cost, gaps.factor, gaps.batches, gaps.epochs, epsilon)))


class TestLaw:
    @pytest.mark.parametrize("fineness", FINENESSES)
    def test_bounds_hold_the_mean_over_all_places(self, fineness):
        """However coarse grid and groups are."""
        rng, widest = random.Random(1), 0.0
        for _ in range(60):
            gaps, cost, epsilon = drawn(rng)
            truth, law = by_hand(gaps, cost, epsilon), gap_law(gaps, fineness)
            low, high = law.mean(cost, epsilon, Fraction(1, 10**6))
            assert float(low) <= truth * (1 + 1e-12)
            assert truth <= float(high) * (1 + 1e-12)
            widest = max(widest, float((high - low) / high))
        assert widest < {1.0: 1, 0.25: 0.3, 2.0**-6: 1e-4}[fineness]

    @pytest.mark.parametrize("c", ["1", "1.02", "1.4"])
    def test_groups_of_places(self, c):
        """Places that are taken together: the mean is that of the costs, the mean square never below theirs."""
        for batches, epochs in ((40, 2), (12, 4)):
            gaps = Gaps(Fraction(c), batches, epochs)
            truth = every_cost(gaps)
            law = gap_law(gaps, 1.0)
            weight, first, second = law._moments
            assert len(gap_laws._Grid(gaps, 1.0).sizes) < batches, "nothing was taken together"
            assert weight.sum() == pytest.approx(1, abs=1e-13)
            assert (weight * law._nominal + first).sum() == pytest.approx(truth.mean(), rel=1e-12)
            square = (weight * law._nominal**2 + 2 * law._nominal * first + second).sum()
            assert square >= (truth**2).mean() * (1 - 1e-13)
            assert square <= (truth**2).mean() * 1.01
            for cost, epsilon in ((Fraction(1, 2), Fraction(1)), (Fraction(4), Fraction(5, 2))):
                low, high = law.mean(cost, epsilon, Fraction(1, 10**6))
                assert low <= by_hand(gaps, cost, epsilon) <= high

    def test_every_cost_is_within_its_bin(self):
        gaps = Gaps(Fraction("1.1"), 7, 3)
        for fineness in FINENESSES:
            law, truth = gap_law(gaps, fineness), every_cost(gaps)
            bins = [law._bin(place, place + 1) for place in range(len(law.values))]
            for each in truth.tolist():
                assert any(one.low <= each <= one.high for one in bins)
            assert max(one.high - one.low for one in bins) <= 3 * 2 * 2 * fineness

    def test_what_is_cut_off_is_counted(self, monkeypatch):
        """A grid that ends far too early: the upper bound stays one."""
        monkeypatch.setattr(gap_laws, "_LOST", math.log(50))
        gaps = Gaps(Fraction(1), 9, 4)
        grid = gap_laws._Grid(gaps, 0.25)
        law = gap_laws.GapLaw(gaps, grid, gap_laws._length(gaps, grid) * 2 // 3)
        assert law.lost > Fraction(1, 10**4)
        for epsilon in ("1/2", "2", "4"):
            low, high = law.mean(Fraction(1), Fraction(epsilon), Fraction(1, 100))
            assert low <= by_hand(gaps, 1, Fraction(epsilon)) <= high

    def test_shares_are_rounded_to_their_side(self):
        with mpmath.workdps(50):
            for c in ("1", "1.000000000001", "1.3", "1000"):
                below, above = shares(Fraction(c), 300)
                total = mpmath.mpf(0)
                for gap in range(300):
                    total += mpmath.mpf(c) ** (-2 * gap)
                    assert below[gap] <= 1 / total <= above[gap] <= below[gap] * (1 + 2.0**-51)


class TestFunction:
    def test_bracket_is_as_narrow_as_asked(self):
        rng = random.Random(2)
        for _ in range(20):
            gaps, cost, epsilon = drawn(rng)
            low, high = bracket(gaps, cost, epsilon, Fraction(1, 10**5))
            assert high - low <= Fraction(1, 10**5) * high
            assert float(low) * (1 - 1e-10) <= by_hand(gaps, cost, epsilon) <= float(high) * (1 + 1e-10)

    def test_views(self):
        gaps, cost, epsilon = Gaps(Fraction("1.1"), 5, 3), Fraction(1), Fraction(1)
        wanted = by_hand(gaps, cost, epsilon)
        for engine in ("arb", "mpmath"):
            found = enclose(compile_expression(node(gaps, cost, epsilon)), {}, rtol="1e-4", engine=engine)
            assert found.lo <= wanted <= found.hi
        assert float(evaluate(compile_expression(node(gaps, cost, epsilon)), {})) == pytest.approx(wanted, rel=1e-2)
        nothing = enclose(compile_expression(node(gaps, 0, epsilon)), {})
        assert (nothing.lo, nothing.hi) == (0, 0)

    def test_a_long_run_with_many_batches(self):
        """A hundred batches, twenty epochs: as a sample of places has it."""
        gaps, cost, epsilon = Gaps(Fraction(1), 100, 20), Fraction(1, 4), Fraction(1, 2)
        low, high = bracket(gaps, cost, epsilon, Fraction(1, 1000))
        rng = np.random.default_rng(3)
        places = rng.integers(100, size=(200_000, 20))
        costs = (1 / (100 - places[:, :-1] + places[:, 1:])).sum(axis=1) + 1 / (100 - places[:, -1])
        sample = profile(cost.__float__() * costs, np.full(costs.shape, float(epsilon)))
        error = sample.std() / math.sqrt(len(sample))
        assert float(low) - 5 * error <= sample.mean() <= float(high) + 5 * error
        assert error < 0.02 * float(high)

    def test_what_cannot_be_answered_is_refused(self):
        with pytest.raises(ArgumentError, match="batches"):
            enclose(compile_expression(node(Gaps(Fraction(1), 10**5, 2), 1, 1)), {})
        with pytest.raises(ArgumentError, match="factor"):
            enclose(compile_expression(GapProfile(1, 0, 2, 2, 1)), {})
        with pytest.raises(GridExhausted):
            bracket(Gaps(Fraction(1), 2000, 500), Fraction(1), Fraction(1), Fraction(1, 1000))
        with pytest.raises(GridExhausted):
            bracket(Gaps(Fraction(1), 5, 5), Fraction(1), Fraction(1), Fraction(1, 10**12))


class TestWrongLawsAreExposed:
    @pytest.mark.parametrize("wrong", ["a longer gap", "the next place in the wrong epoch", "the mean of costs"])
    def test(self, wrong):
        gaps, cost, epsilon = Gaps(Fraction("1.1"), 4, 3), Fraction(4), Fraction(4)
        low, _ = bracket(gaps, cost, epsilon, Fraction(1, 10**5))
        costs = []
        for places in product(range(4), repeat=3):
            if wrong == "a longer gap":
                costs.append(spent(1.1, 4, places) / 1.05)
            elif wrong == "the mean of costs":
                costs.append(every_cost(gaps).mean())
            else:
                times = [4 + one - other for one, other in pairwise(places)] + [4 - places[-1]]
                costs.append(math.fsum(1 / math.fsum(1.1 ** (-2 * s) for s in range(gap)) for gap in times))
        other = float(profile(float(cost) * np.array(costs), np.full(len(costs), float(epsilon))).mean())
        assert abs(other / float(low) - 1) > 0.01
