"""How far revealed hits lead: the law of discounted hits, and the moment of its square, against every outcome."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import TooManySteps
from hsdp_symbolic.evaluate.intervals import Intervals
from hsdp_symbolic.functions import discounted_hits as module
from hsdp_symbolic.functions.discounted_hits import discounted_hits
from hsdp_symbolic.functions.squared_hits import log_squared_moment, log_squared_moment_in_doubles
from tests.functions.sampled_reference import DIGITS, distances, number


def outcomes(rate, factor, count):
    """Every value of the sum with its chance, exactly."""
    for hits in itertools.product((0, 1), repeat=count):
        ones = sum(hits)
        yield sum(factor**i for i, hit in enumerate(hits) if hit), rate**ones * (1 - rate) ** (count - ones)


def check_law(rng, *, finest=2.0**-7, tail=60):
    """Above: beyond every value lies at least the true chance; below: at most. And the means are near."""
    rate, factor, count = Fraction(rng.randint(1, 99), 100), Fraction(rng.randint(2, 100), 100), rng.randint(1, 9)
    exact = sorted(outcomes(rate, factor, count))
    values = [value for value, _ in exact]
    tails = list(itertools.accumulate((chance for _, chance in reversed(exact)), initial=Fraction(0)))[::-1]
    mean = rate * sum(factor**i for i in range(count))
    for above in (True, False):
        found = discounted_hits(rate, factor, count, above=above, finest=finest, tail=tail)
        step, chances = Fraction(found.step), [Fraction(x) for x in found.chances.tolist()]
        beyond = list(itertools.accumulate(reversed(chances), initial=Fraction(found.beyond)))[::-1]
        assert min(chances) >= 0
        if above:
            # P(sum ≥ v) is largest, compared with the law found, at the values themselves.
            for value, chance in zip(values, tails[:-1], strict=True):
                place = min(-(-value // step), len(chances))
                assert beyond[place] >= chance, (rate, factor, count, value)
        else:
            assert found.beyond == 0
            for place in range(len(chances)):
                chance = next((tails[k] for k, value in enumerate(values) if value >= place * step), Fraction(0))
                assert beyond[place] <= chance, (rate, factor, count, place)
        away = sum(k * step * x for k, x in enumerate(chances)) - mean
        assert 0 <= (away if above else -away) + Fraction(1, 10**12) <= 4 * Fraction(finest) * count


class TestLaw:
    def test_every_outcome(self):
        for seed in range(30):
            check_law(random.Random(seed))

    @pytest.mark.slow
    def test_every_outcome_often(self):
        for seed in range(100, 200):
            rng = random.Random(seed)
            check_law(rng, finest=2.0 ** -rng.randint(3, 10), tail=rng.choice((10, 30, 60)))

    def test_hits_that_all_count_the_same(self):
        """A binomial law, exactly, but for roundings: 4000 draws, far into the tail."""
        rate, count = Fraction(1, 25), 4000
        for above in (True, False):
            found = discounted_hits(rate, Fraction(1), count, above=above, finest=1.0, tail=200)
            with mpmath.workdps(DIGITS):
                for hits in (0, 100, 160, 250, 400):
                    exact = mpmath.binomial(count, hits) * number(rate) ** hits * (1 - number(rate)) ** (count - hits)
                    ratio = mpf(found.chances[hits].item()) / exact
                    assert 1 <= (ratio if above else 1 / ratio) <= 1 + mpf("1e-6")

    @pytest.mark.parametrize("factor", ["0.98", "0.9999", "0.5"])
    def test_long_runs(self, factor):
        """The first two moments of a hundred thousand draws, of which most are forgotten."""
        rate, q, count = Fraction(1, 50), Fraction(factor), 10**5
        p, f, finest = float(rate), float(q), 2.0**-7
        mean, square = (p * (1 - x**count) / (1 - x) for x in (f, f * f))
        means = []
        for above in (False, True):
            found = discounted_hits(rate, q, count, above=above, finest=finest, tail=50)
            assert found.chances.sum() == pytest.approx(1, abs=1e-9)
            values = found.step * np.arange(len(found.chances))
            means.append(found.chances @ values)
            variance = found.chances @ (values - means[-1]) ** 2
            assert variance == pytest.approx((1 - p) * square, rel=0.02)
        assert means[0] <= mean <= means[1]
        # A term is off by up to a step, and may be half the largest; what is forgotten counts as one step more.
        assert means[1] - means[0] <= 2.5 * finest * mean + 1.1 * finest

    def test_no_hits(self):
        for rate, count in ((Fraction(0), 5), (Fraction(1, 2), 0)):
            found = discounted_hits(rate, Fraction(1, 2), count, above=True, finest=0.5, tail=20)
            assert found.chances.tolist() == [1.0]
            assert found.beyond == 0

    def test_too_many_terms(self):
        with pytest.raises(TooManySteps):
            discounted_hits(Fraction(1, 2), 1 - Fraction(1, 10**9), 10**10, above=True, finest=2.0**-30, tail=20)

    @pytest.mark.parametrize("mistake", ["no room for roundings", "coarser to the wrong side", "tail dropped"])
    def test_mistakes_are_noticed(self, mistake, monkeypatch):
        law = module._Law
        if mistake == "no room for roundings":
            monkeypatch.setattr(module, "_ULP", -(2.0**-40))
        elif mistake == "coarser to the wrong side":
            coarsen = law._coarsen

            def flipped(self):
                self._above = not self._above
                coarsen(self)
                self._above = not self._above

            monkeypatch.setattr(law, "_coarsen", flipped)
        else:
            cut = law._cut
            monkeypatch.setattr(law, "_cut", lambda self, chances, many: (cut(self, chances[:-1], many)[0], 0.0))
        with pytest.raises(AssertionError):
            check_laws(range(12))


def check_laws(seeds):
    for seed in seeds:
        check_law(random.Random(seed))


def squared(rate, factor, count, square, engine="arb", bits=128):
    over = Intervals(ENGINES[engine](bits))
    with over.engine.working():
        return over.bounds(log_squared_moment(over, rate, factor, count, over.ball(square)))


def by_outcomes(rate, factor, count, square):
    p, q, s = number(rate), number(factor), number(square)
    return mpmath.log(mpmath.fsum(chance * mpmath.exp(s * z**2 / 2) for z, chance in distances(q, count, p)))


def check_squared(rng, engine="arb"):
    rate = Fraction(rng.choice((rng.uniform(0.001, 0.999), 10 ** rng.uniform(-5, 0))))
    factor, count = Fraction(rng.choice((1.0, rng.uniform(0.02, 1), 0.99))), rng.randint(1, 8)
    square = Fraction(10 ** rng.uniform(-4, 2))
    low, high = squared(rate, factor, count, square, engine)
    with mpmath.workdps(DIGITS):
        truth = by_outcomes(rate, factor, count, square)
        assert number(low) <= truth <= number(high), (rate, factor, count, square)
        assert number(high - low) <= mpf("1e-20") * max(1, truth)
        assert log_squared_moment_in_doubles(float(rate), float(factor), count, float(square)) == pytest.approx(
            float(truth), rel=1e-3
        )


class TestSquares:
    def test_every_outcome(self):
        for seed in range(8):
            check_squared(random.Random(seed))

    def test_the_other_engine(self):
        check_squared(random.Random(30), "mpmath")

    @pytest.mark.slow
    def test_every_outcome_often(self):
        for seed in range(100, 150):
            check_squared(random.Random(seed))

    def test_steep(self):
        """Where e^(s²z²/2) spans thousands of digits: what is left out must be bounded closely, not at more bits."""
        started = time.process_time()
        low, high = squared(Fraction(1, 2), Fraction(1, 20), 1, Fraction("5818.75"), bits=128)
        assert time.process_time() - started < 1
        with mpmath.workdps(DIGITS):
            truth = by_outcomes(Fraction(1, 2), Fraction(1, 20), 1, Fraction("5818.75"))
            assert str(truth).startswith("2908.68185281944")
            assert number(low) <= truth <= number(high)
        assert high - low <= Fraction(1, 10**20)

    @pytest.mark.parametrize("square", ["50", "500", "5000"])
    @pytest.mark.parametrize("factor", ["0.05", "0.5", "0.98", "1"])
    def test_steep_with_several_hits(self, factor, square):
        rate, factor, square = Fraction(1, 25), Fraction(factor), Fraction(square)
        low, high = squared(rate, factor, 4, square, bits=192)
        with mpmath.workdps(DIGITS):
            assert number(low) <= by_outcomes(rate, factor, 4, square) <= number(high)
        assert high - low <= Fraction(1, 10**18)
