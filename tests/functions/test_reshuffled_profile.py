"""The mean profile over the places of the last epochs: against exact patterns, references and all permutations."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sympy import Rational

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, GridExhausted
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.numeric import evaluate
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.convex_minorant import pattern_exact
from hsdp_symbolic.functions.planned_costs import Plans, Powers, geometric, shares
from hsdp_symbolic.functions.profile_means import Scattered
from hsdp_symbolic.functions.reshuffled_profile import ReshuffledProfile, best_known, bracket

FIGURE = Fraction("0.01"), Fraction("0.98"), 25, 40


def pattern(batches, places):
    """Hits in these places of successive epochs, each so many updates from the end of its own (1: the last batch)."""
    return [int(batch == batches - place) for place in places for batch in range(batches)]


def profile(cost, epsilon):
    """δ_G, with 40 digits."""
    with mpmath.workdps(40):
        mu, eps = mpmath.sqrt(mpmath.mpf(cost.numerator) / cost.denominator), mpmath.mpf(str(epsilon))
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def by_hand(cost, q, batches, epochs, known, epsilon):
    """The mean over all places in the last epochs, one by one, from exact patterns."""
    total = mpmath.mpf(0)
    for places in itertools.product(range(1, batches + 1), repeat=known):
        spent = 2 * pattern_exact(pattern(batches, (1,) * (epochs - known) + places), q=q)
        total += profile(cost * spent, epsilon)
    return total / batches**known


def enclosure(*arguments, rtol="1e-6", engine="arb"):
    return enclose(compile_expression(ReshuffledProfile(*map(Rational, arguments))), {}, rtol=rtol, engine=engine)


class TestPlans:
    def test_every_plan_is_its_pattern(self):
        """Only two hits of the first epochs can be vertices, whatever their number: all patterns, exactly."""
        rng = random.Random(1)
        for _ in range(400):
            batches, epochs = rng.randint(1, 6), rng.randint(1, 6)
            known, q = rng.randint(1, min(epochs, 4)), Fraction(rng.randint(1, 20), 20)
            last_first = [rng.randint(1, batches) for _ in range(known)]
            places = (1,) * (epochs - known) + tuple(reversed(last_first))
            exact = 2 * pattern_exact(pattern(batches, places), q=q)
            low, high = Plans(q, batches, epochs, known).bounds([np.array([place]) for place in last_first])
            assert Fraction(low.item()) <= exact <= Fraction(high.item())
            assert high.item() - low.item() <= 1e-12 * high.item()

    def test_hits_that_are_too_low_for_a_double(self):
        plans, places = Plans(Fraction(1, 100), 300, 3, 1), [1, 2, 150, 250, 300]
        low, high = plans.bounds([np.array(places)])
        for place, below, above in zip(places, low.tolist(), high.tolist(), strict=True):
            exact = 2 * pattern_exact(pattern(300, (1, 1, place)), q=plans.q)
            assert Fraction(below) <= exact <= Fraction(above)

    def test_powers_and_their_sums(self):
        q = Fraction(997, 1000)
        powers, places = Powers(q, 5000), np.array([0, 1, 2, 1023, 1024, 1025, 3000, 5000])
        found, sums = powers.at(places)
        for place, power, total in zip(places.tolist(), found.tolist(), sums.tolist(), strict=True):
            assert float(q**place) == pytest.approx(power, rel=1e-15)
            assert float((1 - q ** (2 * place)) / (1 - q**2)) == pytest.approx(total, rel=1e-14)

    @pytest.mark.parametrize("q", [Fraction(1), Fraction(1, 3), Fraction(999, 1000)])
    def test_geometric_sums(self, q):
        for count in (0, 1, 2, 7, 40):
            assert geometric(q, 3, count) == pytest.approx(float(sum(q ** (3 * i) for i in range(count))), rel=1e-15)

    def test_groups_are_all_places_once(self):
        plans = Plans(Fraction("0.999"), 1000, 50, 3)
        for epoch in range(3):
            found = shares(plans, epoch, Fraction(1, 16))
            assert found.first[0] == 1
            assert found.last[-1] == 1000
            assert np.array_equal(found.first[1:], found.last[:-1] + 1)
            assert found.sizes.sum() == 1000
            assert len(found.sizes) < 200

    def test_an_earlier_hit_never_costs_more(self):
        """What groups rely on, and why places before the last epochs need not be known: 14 000 patterns."""
        rng, checked = random.Random(2), 0
        while checked < 14_000:
            steps, q = rng.randint(2, 9), Fraction(rng.randint(1, 10), 10)
            hits = [rng.randint(0, 1) for _ in range(steps)]
            free = [place for place in range(steps) if hits[place] == 0]
            used = [place for place in range(steps) if hits[place] == 1]
            moves = [(late, early) for late in used for early in free if early < late]
            cost = pattern_exact(hits, q=q)
            for late, early in moves:
                moved = list(hits)
                moved[late], moved[early] = 0, 1
                assert pattern_exact(moved, q=q) <= cost
            checked += len(moves)


class TestValue:
    @pytest.mark.parametrize("known", [1, 2, 3])
    @pytest.mark.parametrize("epsilon", ["0", "0.1", "0.7"])
    def test_the_mean_over_all_places(self, known, epsilon):
        found = enclosure("0.2", "0.9", 4, 3, known, epsilon)
        exact = by_hand(Fraction("0.2"), Fraction("0.9"), 4, 3, known, epsilon)
        assert mpmath.mpf(float(found.lo)) * (1 - 1e-15) <= exact <= mpmath.mpf(float(found.hi)) * (1 + 1e-15)
        assert found.hi - found.lo <= Fraction("1e-6") * found.hi

    def test_never_below_all_permutations(self):
        """Every epoch's place enumerated: no more known places give a smaller bound, all of them the mixture itself."""
        rng = random.Random(3)
        for _ in range(12):
            batches, epochs = rng.randint(2, 4), rng.randint(2, 3)
            cost, q = Fraction(rng.randint(1, 40), 40), Fraction(rng.randint(10, 20), 20)
            epsilon = Fraction(rng.randint(0, 12), 10)
            true = by_hand(cost, q, batches, epochs, epochs, float(epsilon))
            bounds = [enclosure(cost, q, batches, epochs, known, epsilon) for known in range(1, epochs + 1)]
            for fewer, more in itertools.pairwise(bounds):
                assert more.lo <= fewer.hi
            assert all(float(each.hi) >= true * (1 - 1e-12) for each in bounds)
            assert float(bounds[-1].lo) <= true * (1 + 1e-12)

    def test_groups_hold_the_value(self):
        """Places taken together, and all one by one."""
        plans, cost = Plans(Fraction("0.99"), 200, 10, 1), Fraction("0.05")
        costs = plans.least(np.arange(1, 201))
        for epsilon in (0.0, 0.3, 0.9):
            single = sum(float(profile(Fraction(0.05 * u), epsilon)) for u in costs.tolist()) / 200
            for tolerance in (Fraction(1, 10), Fraction(1, 10**5)):
                low, high = bracket(plans, cost, Fraction(epsilon), tolerance)
                assert float(low) <= single * (1 + 1e-12)
                assert single * (1 - 1e-12) <= float(high)

    @pytest.mark.parametrize("engine", [*ENGINES, "both"])
    def test_engines(self, engine):
        assert enclosure("0.01", "0.98", 25, 40, 2, "0.2591", engine=engine).hi < Fraction("1.0003e-5")

    def test_no_cost(self):
        assert enclosure(0, "0.9", 4, 3, 2, "0.1").hi == 0
        found = enclosure(0, "0.9", 4, 3, 2, "-1")
        assert float(found.lo) == pytest.approx(1 - float(np.exp(-1)))

    def test_below_zero(self):
        """δ(−ε) = 1 − e^(−ε) + e^(−ε)·δ(ε)."""
        one, other = (enclosure("0.2", "0.9", 4, 3, 2, each) for each in ("0.5", "-0.5"))
        assert float(other.lo) == pytest.approx(1 - np.exp(-0.5) + np.exp(-0.5) * float(one.lo), rel=1e-6)

    @pytest.mark.parametrize(
        ("run", "known", "delta", "epsilon"),
        [
            (FIGURE, 1, "1e-5", "0.2613"),
            (FIGURE, 2, "1e-5", "0.2592"),
            (FIGURE, 3, "1e-5", "0.2580"),
            ((Fraction("0.04"), Fraction("0.98"), 10, 100), 4, "1e-5", "0.8455"),
            ((Fraction("0.01"), Fraction("0.999"), 1000, 50), 1, "1e-5", "0.1112"),
        ],
    )
    def test_settings_of_interest(self, run, known, delta, epsilon):
        cost, *others = run
        start = time.perf_counter()
        low, high = bracket(Plans(*others, known), cost, Fraction(epsilon), Fraction(1, 1000))
        assert high <= Fraction(delta)
        assert low >= Fraction(delta) * Fraction("0.98")
        assert time.perf_counter() - start < 5

    def test_as_many_places_as_are_worth_it(self):
        cost, q, batches, epochs = FIGURE
        assert best_known(cost, q, batches, epochs, Fraction("1e-5")) == 3
        assert best_known(cost, Fraction("0.5"), 1000, 50, Fraction("1e-5")) == 1
        assert best_known(cost, q, 10, 2, Fraction("1e-5")) == 2


class TestViews:
    def test_doubles(self):
        rng = random.Random(4)
        for _ in range(30):
            cost, q = Fraction(rng.randint(1, 100), 100), Fraction(rng.randint(50, 100), 100)
            batches, epochs = rng.randint(1, 60), rng.randint(1, 40)
            known, epsilon = rng.randint(1, min(epochs, 2)), Fraction(rng.randint(-10, 30), 20)
            exact = enclosure(cost, q, batches, epochs, known, epsilon, rtol="1e-5")
            found = ReshuffledProfile.array(cost, q, batches, epochs, known, epsilon)
            assert found == pytest.approx(float(exact.hi), rel=1e-3, abs=1e-300)

    def test_arrays(self):
        found = ReshuffledProfile.array(0.01, Fraction("0.98"), 25, 40, 2, np.array([0.1, 0.2, 0.3]))
        assert found.shape == (3,)
        assert np.all(np.diff(found) < 0)
        expr = compile_expression(ReshuffledProfile(*map(Rational, ("0.01", "0.98", 25, 40, 2, "0.2"))))
        assert evaluate(expr, {}) == pytest.approx(found[1])

    @pytest.mark.parametrize("place", [0, 1, 3, 4, 5])
    def test_directions(self, place):
        """Up with cost, q and epochs, down with known places and ε."""
        rng = random.Random(place)
        for _ in range(10):
            numbers = [Fraction(rng.randint(1, 50), 100), Fraction(rng.randint(40, 90), 100), rng.randint(1, 9)]
            numbers += [rng.randint(2, 6), rng.randint(1, 2), Fraction(rng.randint(0, 20), 20)]
            more = list(numbers)
            more[place] += Fraction(1, 10) if place in (0, 1, 5) else 1
            if more[4] > more[3]:
                continue
            one, other = enclosure(*numbers), enclosure(*more)
            assert one.lo <= other.hi if place in (0, 1, 3) else other.lo <= one.hi

    @pytest.mark.parametrize(
        ("arguments", "name"),
        [
            (("0.1", "1.1", 4, 3, 1, "0.1"), "factor"),
            (("0.1", "0.9", 4, 3, 4, "0.1"), "known"),
            (("0.1", "0.9", "4.5", 3, 1, "0.1"), "batches"),
            (("0.1", "0.9", 2**40, 2**20, 1, "0.1"), "epochs"),
        ],
    )
    def test_refusals_name_the_argument(self, arguments, name):
        with pytest.raises(ArgumentError, match=name):
            enclosure(*arguments)

    def test_a_width_that_doubles_cannot_give_is_refused(self):
        with pytest.raises(GridExhausted):
            enclosure("0.01", "0.98", 25, 40, 3, "0.25", rtol="1e-12")


class TestMeans:
    def test_scattered_numbers(self):
        """Against the sum, term by term, with 40 digits: numbers over many magnitudes, zero among them."""
        rng = random.Random(5)
        values = np.array([0.0, 1e-250, *(10 ** rng.uniform(-6, 1) for _ in range(300))])
        weights = np.full(len(values), 1 / len(values))
        for epsilon in (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(3)):
            true = mpmath.mpf(max(0, -np.expm1(float(epsilon))))
            true += sum(profile(Fraction(u) / 10, float(epsilon)) for u in values.tolist() if u)
            low, high = Scattered(values, weights).mean(Fraction(1, 10), epsilon, Fraction(1, 10**6))
            assert float(low) <= true / len(values) * (1 + 1e-12)
            assert true / len(values) * (1 - 1e-12) <= float(high)
            assert high - low <= Fraction(1, 10**6) * high
