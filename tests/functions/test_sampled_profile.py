"""Profiles of sampled steps, every iterate seen: closed forms, one integral, Gaussians, and both directions."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from sympy import Rational

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, OutsideDoubleRange, TooManySteps
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions import loss_profiles, privacy_losses
from hsdp_symbolic.functions.loss_profiles import deltas
from hsdp_symbolic.functions.poisson_profile import PoissonProfile
from hsdp_symbolic.functions.sampled_losses import Pair, Step, spread
from hsdp_symbolic.functions.sampled_profile import SampledProfile
from tests.functions.sampled_reference import DIGITS, FEWER, gaussian, number, one_step, two_steps

PROFILES = {SampledProfile: (Pair.BOTH,), PoissonProfile: (Pair.REMOVE, Pair.ADD)}
THOUSANDTH = Fraction(1, 1000)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def reference(profile, steps, rate, cost):
    """δ as a function of ε, the larger of the directions: a closed form for one step, an integral for two."""
    p, mu = number(rate), mpmath.sqrt(number(cost))

    def at(epsilon):
        if steps == 1:
            return max(one_step(pair, p, mu, number(epsilon)) for pair in PROFILES[profile])
        with mpmath.workdps(FEWER):
            return max(two_steps(pair, p, mu, number(epsilon)) for pair in PROFILES[profile])

    return at


def check_delta(profile, steps, rate, cost, epsilon, rtol="0.01", engine="arb"):
    low, high = deltas(profile.runs(rate, cost, Fraction(steps)), engine, epsilon, Fraction(rtol))
    truth = reference(profile, steps, rate, cost)(epsilon)
    assert number(low) <= truth <= number(high), (profile, steps, rate, cost, epsilon)
    assert high - low <= Fraction(rtol) * high


def check_epsilon(profile, steps, rate, cost, delta, engine="arb"):
    """ε is bracketed, to a thousandth: the reference is at least δ at the one end, at most δ at the other."""
    low, high = profile.solved(engine, delta, THOUSANDTH, rate, cost, Fraction(steps))
    assert high - low <= THOUSANDTH * high
    at = reference(profile, steps, rate, cost)
    assert at(high) <= number(delta), (profile, steps, rate, cost, delta)
    assert not low or at(low) >= number(delta), (profile, steps, rate, cost, delta)


def setting(rng):
    return Fraction(rng.choice((rng.uniform(0.01, 0.99), 10 ** rng.uniform(-2.5, 0)))), Fraction(
        10 ** rng.uniform(-3, 0.6)
    )


def check_random(profile, steps, seeds, engine="arb"):
    for seed in seeds:
        rng = random.Random(seed)
        rate, cost = setting(rng)
        size = spread(rate, cost)
        delta = min(Fraction(10 ** rng.uniform(-9, -2)), Fraction(size / 20))
        check_epsilon(profile, steps, rate, cost, delta, engine)
        for deviations in (-rng.uniform(0, 5), rng.uniform(0, 2)):
            check_delta(profile, steps, rate, cost, Fraction(deviations * size), engine=engine)


@pytest.mark.parametrize("profile", PROFILES)
class TestAgainstReferences:
    @pytest.mark.parametrize("steps", [1, 2])
    def test_few_steps(self, profile, steps):
        check_random(profile, steps, range(4 if steps == 1 else 1))

    @pytest.mark.slow
    @pytest.mark.parametrize("steps", [1, 2])
    def test_few_steps_often(self, profile, steps):
        check_random(profile, steps, range(20, 40 if steps == 1 else 23))

    def test_the_other_engine(self, profile):
        check_random(profile, 1, [70], "mpmath")

    def test_engines_overlap(self, profile):
        for steps, delta in ((1, "1e-3"), (7, "1e-5"), (40, "1e-6")):
            one, other = (
                profile.solved(
                    engine, Fraction(delta), Fraction(1, 100), Fraction(1, 25), Fraction(1, 16), Fraction(steps)
                )
                for engine in ENGINES
            )
            assert max(one[0], other[0]) <= min(one[1], other[1])

    def test_without_sampling_it_is_a_gaussian(self, profile):
        """Rate 1: exactly that of √T·μ, where the function knows it and where only its masses do."""
        for steps in (1, 9, 400):
            cost = Fraction(1, 4 * steps)
            found = enclose(
                compile_expression(profile(1, Rational(1, 4 * steps), steps, Rational(3, 5))), {}, rtol="1e-30"
            )
            truth = gaussian(mpf(1) / 2, mpf(3) / 5)
            assert number(found.lo) <= truth <= number(found.hi)
            assert found.relative_width <= Fraction(1, 10**30)
            low, high = profile.solved("arb", Fraction(1, 10**5), THOUSANDTH, Fraction(1), cost, Fraction(steps))
            assert gaussian(mpf(1) / 2, number(high)) <= mpf("1e-5") <= gaussian(mpf(1) / 2, number(low))
            assert high - low <= THOUSANDTH * high

    @pytest.mark.parametrize("mistake", ["products", "values"])
    def test_mistakes_are_noticed(self, profile, mistake, monkeypatch):
        """Products that are too small by a hundredth, or values of one step: ε is on the wrong side."""
        convolved, value = privacy_losses.convolved, Step.value

        def smaller_products(*given, up):
            return [x * 99 // 100 for x in convolved(*given, up=up)]

        def smaller_values(step, grid, place):
            return value(step, grid, place) * 99 // 100

        loss_profiles.curve.cache_clear()
        if mistake == "products":
            monkeypatch.setattr(privacy_losses, "convolved", smaller_products)
        else:
            monkeypatch.setattr(Step, "value", smaller_values)
        with pytest.raises(AssertionError):
            check_epsilon(profile, 2, Fraction(3, 10), Fraction(1, 4), Fraction(1, 1000))
        loss_profiles.curve.cache_clear()  # what was remembered is wrong

    def test_more_of_anything_is_never_less(self, profile):
        """Rate, cost and steps each raise δ; a larger ε lowers it."""
        base = [Fraction(1, 10), Fraction(1, 4), Fraction(5), Fraction(1, 5)]

        def bounds(numbers):
            return deltas(profile.runs(*numbers[:3]), "arb", numbers[3], Fraction(1, 100))

        for place, more in enumerate((Fraction(1, 5), Fraction(1, 2), Fraction(9), Fraction(1, 10))):
            changed = [*base]
            changed[place] = more
            assert bounds(base)[1] < bounds(changed)[0]


class TestDirections:
    def test_the_larger_of_both(self):
        """Adding costs more at some δ and removing at others: the function has the larger, for one step and for two."""
        rate, cost = Fraction(1, 2), Fraction(1)
        p, mu = number(rate), mpf(1)
        for epsilon, larger in ((Fraction(1, 5), Pair.REMOVE), (Fraction(-1, 5), Pair.ADD)):
            values = {pair: one_step(pair, p, mu, number(epsilon)) for pair in (Pair.REMOVE, Pair.ADD)}
            assert max(values, key=values.get) is larger
            low, high = deltas(PoissonProfile.runs(rate, cost, Fraction(1)), "arb", epsilon, Fraction(1, 1000))
            assert number(low) <= values[larger] <= number(high)
            assert number(low) > min(values.values())

    def test_without_replacement_is_never_below_either(self):
        """One pair dominates both directions, at every number of steps."""
        for steps in (1, 20):
            given = Fraction(1, 10), Fraction(1, 4), Fraction(steps)
            for epsilon in (Fraction(-1, 10), Fraction(0), Fraction(1, 5)):
                both, either = (
                    deltas(profile.runs(*given), "arb", epsilon, THOUSANDTH)
                    for profile in (SampledProfile, PoissonProfile)
                )
                assert both[1] >= either[0]

    def test_zero_steps_and_nothing_sampled(self):
        for arguments in ((0, 1, 5), (Rational(1, 2), 0, 5), (Rational(1, 2), 1, 0)):
            for profile in PROFILES:
                nothing = enclose(compile_expression(profile(*arguments, Rational(1, 3))), {})
                assert nothing.lo == nothing.hi == 0
                found = enclose(compile_expression(profile(*arguments, Rational(-1, 3))), {}, rtol="1e-20")
                assert number(found.lo) <= -mpmath.expm1(mpf(-1) / 3) <= number(found.hi)


class TestLargeRuns:
    def test_the_figure(self):
        """1000 steps at rate 1/25, μ = 0.1: .4593 by a float on a fine grid; half a second is a long time for it."""
        loss_profiles.curve.cache_clear()
        started = time.process_time()
        low, high = SampledProfile.solved(
            "arb", Fraction(1, 10**5), THOUSANDTH, Fraction(1, 25), Fraction(1, 100), Fraction(1000)
        )
        assert time.process_time() - started < 2
        assert 0.4592 < low < 0.4593 < high < 0.4596

    def test_poisson_at_the_figure(self):
        low, high = PoissonProfile.solved(
            "arb", Fraction(1, 10**5), THOUSANDTH, Fraction(1, 25), Fraction(1, 400), Fraction(1000)
        )
        assert 0.2073 < low < 0.2075 < high + Fraction(1, 5000)
        assert high < 0.2077

    @pytest.mark.parametrize("profile", PROFILES)
    def test_sketches_are_near(self, profile):
        """The view in doubles is no bound, but near: a few parts in a thousand, or per cent where δ is tiny."""
        for steps in (1, 30, 1000):
            rate, cost, epsilon = Fraction(1, 25), Fraction(1, 100), Fraction(1, 50) * Fraction(steps**0.5)
            low, high = deltas(profile.runs(rate, cost, Fraction(steps)), "arb", epsilon, Fraction(1, 200))
            found = float(profile.array(rate, cost, steps, epsilon))
            away = 0.01 if high > 1e-6 else 0.05
            assert float(low) * (1 - away) < found < float(high) * (1 + away)

    def test_sketches_over_arrays(self):
        epsilons = np.array([0.0, 0.1, 0.3])
        found = SampledProfile.array(0.04, 0.01, np.array([[10], [100]]), epsilons)
        assert found.shape == (2, 3)
        assert np.all(np.diff(found, axis=1) < 0)
        assert np.all(np.diff(found, axis=0) > 0)

    def test_refusals(self):
        good = Fraction(1, 10), Fraction(1), Fraction(10)
        for place, bad in (
            (0, Fraction(2)),
            (0, Fraction(-1, 2)),
            (1, Fraction(-1)),
            (2, Fraction(1, 2)),
            (2, Fraction(-3)),
        ):
            with pytest.raises(ArgumentError):
                SampledProfile.runs(*(bad if k == place else x for k, x in enumerate(good)))
        for numbers, error in (
            ((Fraction(1, 10), Fraction(1, 100), Fraction(10**9)), TooManySteps),
            ((Fraction(1, 2), Fraction(100), Fraction(10**4)), TooManySteps),
            ((Fraction(1, 10), Fraction(10**7), Fraction(1)), OutsideDoubleRange),
        ):
            with pytest.raises(error):
                SampledProfile.solved("arb", Fraction(1, 10**5), THOUSANDTH, *numbers)
