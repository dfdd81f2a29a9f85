"""Profiles of runs that reveal their early hits and keep the late ones secret: against all hits, enumerated."""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sympy import Rational

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions import loss_profiles, secret_losses
from hsdp_symbolic.functions.loss_profiles import deltas
from hsdp_symbolic.functions.loss_sketch import erfc
from hsdp_symbolic.functions.sampled_losses import Pair
from hsdp_symbolic.functions.sampled_profile import SampledProfile
from hsdp_symbolic.functions.secret_losses import Secret
from hsdp_symbolic.functions.secret_poisson import SecretPoisson
from hsdp_symbolic.functions.secret_profile import SecretProfile
from tests.functions.sampled_reference import FEWER, distances, drift_root, noise_shares, number, one_secret_step

PROFILES = {SecretProfile: (Pair.BOTH,), SecretPoisson: (Pair.REMOVE, Pair.ADD)}
FIGURE = Fraction(1, 25), Fraction(1, 100), Fraction(49, 50), Fraction(1000)
"""Rate, cost, factor and steps at the setting of the figures; under Poisson sampling a quarter of the cost."""
THOUSANDTH = Fraction(1, 1000)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(FEWER):
        yield


def tail(x):
    """Φ(−x)."""
    return erfc(np.asarray(x) / math.sqrt(2)) / 2


def rounded_step(pair, p, mu, step, *, up):
    """Masses of one step's loss at multiples of `step`, from −reach on: each loss rounded to one side, in doubles."""
    reach = math.ceil(math.log(1 - p + p * math.exp(mu * (7 + mu))) / step) + 1
    edges = step * np.arange(-reach, reach + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = 1 + np.expm1(edges) / p
        at = np.where(odds > 0, np.log(np.where(odds > 0, odds, 1)) / mu + mu / 2, -np.inf)
    at[0], at[-1] = -np.inf, np.inf
    if pair is Pair.BOTH:
        at[: reach + 1] = mu / 2  # here losses of (P, Q) begin with 0
    base, shifted = -np.diff(tail(at)), -np.diff(tail(at - mu))
    of_p = (1 - p) * base + p * shifted
    places = np.zeros(2 * reach + 1)
    here = 1 if up else 0
    if pair is not Pair.ADD:
        places[here : here + 2 * reach] += of_p
    if pair is not Pair.REMOVE:  # losses of (Q, P) are those of (P, Q) with the other sign
        places[1 - (1 - here) : 2 * reach + here] += base[::-1]
    if pair is Pair.BOTH:
        places[reach] += 1 - places.sum()
    return places


def by_rounding(pair, numbers, epsilon, step, *, up):
    """δ with every loss of the window rounded to one side, and every earlier hit enumerated, in doubles."""
    rate, cost, _, steps, window, _ = map(float, numbers)
    q, many = number(numbers[2]), int(window)
    shares = map(float, noise_shares(q, many, number(numbers[5])))
    parts = [rounded_step(pair, rate, math.sqrt(cost / share), step, up=up) for share in shares]
    size = sum(map(len, parts)) - len(parts) + 1
    found = np.fft.irfft(math.prod(np.fft.rfft(part, 2 * size) for part in parts), 2 * size)[:size]
    losses = step * (np.arange(len(found)) - (len(found) - 1) // 2)
    root = float(drift_root(q, many, number(numbers[5]), mpmath.sqrt(number(numbers[1]))))
    told: dict[float, float] = {}
    for z, chance in distances(q, int(steps) - many, number(numbers[0])):
        told[float(z)] = told.get(float(z), 0.0) + float(chance)
    at, total = epsilon - losses, 0.0
    for z, chance in told.items():
        mu = root * z
        if mu:
            inner = np.clip(at, -700, 700)
            values = tail(inner / mu - mu / 2) - np.exp(inner) * tail(inner / mu + mu / 2)
        else:
            values = np.maximum(0.0, -np.expm1(np.minimum(at, 0)))
        total += chance * float(found @ values)
    return total


def setting(rng, windows, *, revealed=4):
    """A run of some steps, the hits of at most so many of them revealed."""
    window = rng.choice(windows)
    rate, cost = Fraction(rng.randint(5, 60), 100), Fraction(rng.randint(4, 60), 100)
    factor, share = Fraction(rng.randint(50, 100), 100), Fraction(rng.randint(25, 90), 100)
    return rate, cost, factor, Fraction(window + rng.randint(1, revealed)), Fraction(window), share


def certified(profile, numbers, epsilon, rtol="0.01", engine="arb"):
    low, high = deltas(profile.runs(*numbers), engine, epsilon, Fraction(rtol))
    assert high - low <= Fraction(rtol) * high
    return low, high


def check_one_secret_step(profile, rng, *, revealed):
    """One secret step: δ by one integral, at an ε on either side of 0; and ε by it."""
    rate, cost, factor, steps, _, share = numbers = setting(rng, [1], revealed=revealed)
    p, mu, q, f = number(rate), mpmath.sqrt(number(cost)), number(factor), number(share)

    def truth(epsilon):
        pairs = PROFILES[profile]
        return max(one_secret_step(pair, p, mu, q, int(steps), f, number(epsilon)) for pair in pairs)

    for epsilon in (Fraction(rng.randint(0, 8), 10), -Fraction(rng.randint(1, 10), 10)):
        low, high = certified(profile, numbers, epsilon, "0.003")
        assert number(low) <= truth(epsilon) <= number(high), (profile, numbers, epsilon)
    delta = Fraction(10 ** rng.uniform(-6, -2))
    low, high = profile.solved("arb", delta, THOUSANDTH, *numbers)
    assert truth(high) <= number(delta), (profile, numbers, delta)
    assert not low or truth(low) >= number(delta), (profile, numbers, delta)


def check_window(profile, rng, windows=(2, 3)):
    """Several secret steps: the certified interval meets that between losses rounded down and rounded up."""
    numbers = setting(rng, windows)
    epsilon, step = rng.uniform(0.05, 1.2), 4e-4
    below, above = (
        max(by_rounding(pair, numbers, epsilon, step, up=up) for pair in PROFILES[profile]) for up in (False, True)
    )
    assert 0 < above - below < 0.02 * above
    low, high = certified(profile, numbers, Fraction(epsilon), "0.003")
    assert low <= above * (1 + 1e-9) + 1e-12, (profile, numbers, epsilon)
    assert high >= below * (1 - 1e-9) - 1e-12, (profile, numbers, epsilon)


def check_windows(profile, seeds):
    for seed in seeds:
        check_window(profile, random.Random(seed))


@pytest.mark.parametrize("profile", PROFILES)
class TestFewSteps:
    def test_one_secret_step(self, profile):
        check_one_secret_step(profile, random.Random(2), revealed=2)

    @pytest.mark.slow
    def test_one_secret_step_often(self, profile):
        for seed in range(10, 12):
            check_one_secret_step(profile, random.Random(seed), revealed=4)

    def test_several_secret_steps(self, profile):
        check_windows(profile, [2])

    @pytest.mark.slow
    def test_several_secret_steps_often(self, profile):
        check_windows(profile, range(10, 15))

    def test_engines_overlap(self, profile):
        numbers = Fraction(1, 2), Fraction(1, 2), Fraction(9, 10), Fraction(4), Fraction(2), Fraction(1, 2)
        ends = [certified(profile, numbers, Fraction(1, 5), "0.1", engine) for engine in ENGINES]
        assert max(low for low, _ in ends) <= min(high for _, high in ends)


@pytest.mark.parametrize("mistake", ["drift", "shares", "hits", "weights"])
def test_mistakes_are_noticed(mistake, monkeypatch):
    """Drift without forgetting, a secret hit with all the noise, fewer hits, and means of z that are too small."""
    loss_profiles.curve.cache_clear()
    drift, hits, groups = Secret.drift, secret_losses.discounted_hits, secret_losses._groups

    def smaller(secret, engine):
        return engine.mul(drift(secret, engine), engine.ball(Fraction(9, 10)))

    def fewer(rate, *given, **options):
        return hits(rate * Fraction(19, 20), *given, **options)

    def lighter(*given):
        return [(start, stop, 0.97 * chance, mean) for start, stop, chance, mean in groups(*given)]

    changes = {
        "drift": (Secret, "drift", smaller),
        "shares": (Secret, "shares", lambda secret, engine: [(engine.ball(Fraction(99, 100)), secret.window)]),
        "hits": (secret_losses, "discounted_hits", fewer),
        "weights": (secret_losses, "_groups", lighter),
    }
    monkeypatch.setattr(*changes[mistake])
    with pytest.raises(AssertionError):
        check_window(SecretProfile, random.Random(2))
    loss_profiles.curve.cache_clear()  # what was remembered is wrong


class TestNothingRevealed:
    def test_window_of_all_steps(self):
        """Composition with the cost over the share: as with sampled steps, and never less than with all the noise."""
        rate, cost, share, steps = Fraction(1, 10), Fraction(1, 10), Fraction(4, 5), Fraction(30)
        secret = SecretProfile.runs(rate, cost, Fraction(1), steps, steps, share)
        sampled = SampledProfile.runs(rate, cost / share, steps)
        plain = SampledProfile.runs(rate, cost, steps)
        for epsilon in (Fraction(0), Fraction(1, 5), Fraction(3, 5)):
            one, other, less = (deltas(runs, "arb", epsilon, Fraction(1, 200)) for runs in (secret, sampled, plain))
            assert max(one[0], other[0]) <= min(one[1], other[1])
            assert less[1] < one[1]

    def test_no_cost_or_rate(self):
        for arguments in ((0, 1), (Rational(1, 2), 0)):
            for profile in PROFILES:
                others = (Rational(9, 10), 10, 4, Rational(1, 2))
                assert enclose(compile_expression(profile(*arguments, *others, Rational(1, 3))), {}).hi == 0
                found = enclose(compile_expression(profile(*arguments, *others, Rational(-1, 3))), {}, rtol="1e-15")
                assert number(found.lo) <= -mpmath.expm1(mpmath.mpf(-1) / 3) <= number(found.hi)

    def test_refusals(self):
        good = Fraction(1, 10), Fraction(1), Fraction(9, 10), Fraction(10), Fraction(4), Fraction(1, 2)
        for place, bad in ((2, Fraction(2)), (2, Fraction(0)), (4, Fraction(0)), (4, Fraction(11)), (5, Fraction(1))):
            with pytest.raises(ArgumentError):
                SecretProfile.runs(*(bad if k == place else x for k, x in enumerate(good)))


class TestTheFigure:
    @pytest.mark.parametrize(
        ("profile", "delta", "least", "most"),
        [
            (SecretProfile, "1e-5", "0.1268", "0.1475"),
            (SecretProfile, "1e-8", "0.1924", "0.2275"),
            (SecretPoisson, "1e-5", "0.0583", "0.0667"),
        ],
    )
    def test_epsilon(self, profile, delta, least, most):
        """With the window and the share that the search finds: not below what is lost in truth, and certified."""
        rate, cost, factor, steps = FIGURE
        cost = cost / 4 if profile is SecretPoisson else cost
        chosen = profile.choose(dict(enumerate((rate, cost, factor, steps))), delta=Fraction(delta))
        low, high = profile.solved("arb", Fraction(delta), THOUSANDTH, rate, cost, factor, steps, chosen[4], chosen[5])
        assert Fraction(least) < low < high < Fraction(most)
        assert high - low <= THOUSANDTH * high

    def test_other_windows_are_valid_and_worse(self):
        """Every choice bounds the same run: none gives less than the lower bound, and those near the best know it."""
        found = {}
        for window, share in ((40, "0.5"), (84, "0.5"), (86, "0.9")):
            given = *FIGURE, Fraction(window), Fraction(share)
            found[window, share] = SecretProfile.solved("arb", Fraction(1, 10**5), Fraction(1, 100), *given)
        assert min(low for low, _ in found.values()) > 0.1268
        assert found[84, "0.5"][0] <= 0.1457 + 0.0015
        assert min(found, key=lambda place: found[place][1]) == (84, "0.5")

    def test_far_tail(self):
        """δ at ε = 0.3 is about 2.3e-11: found in seconds, however far from 1e-5."""
        started = time.process_time()
        low, high = certified(SecretProfile, (*FIGURE, Fraction(86), Fraction("0.53")), Fraction(3, 10), "0.03")
        assert time.process_time() - started < 6
        assert 2.26e-11 < low < high < 2.34e-11

    @pytest.mark.parametrize("profile", PROFILES)
    def test_sketches_are_near(self, profile):
        given = *FIGURE, Fraction(86), Fraction("0.53")
        low, high = certified(profile, given, Fraction(1, 10), "0.03")
        # A sketch has fewer stairs of shares, and so a little less noise for every secret hit.
        assert float(low) * 0.98 < float(profile.array(*given, Fraction(1, 10))) < float(high) * 1.06
