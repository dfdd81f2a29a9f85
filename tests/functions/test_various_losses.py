"""Compositions of steps of several kinds: against one integral, Gaussians in closed form, and steps that are alike."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic.errors import GridExhausted
from hsdp_symbolic.functions.loss_profiles import Repeated, Various, deltas, epsilons
from hsdp_symbolic.functions.sampled_losses import Pair
from tests.functions.sampled_reference import DIGITS, after_one_step, gaussian, number, one_step

PERCENT, THOUSANDTH = Fraction(1, 100), Fraction(1, 1000)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS // 2):
        yield


def two_kinds(pair, first, second, epsilon):
    """δ of one step of each of two kinds: one integral."""
    (p, mu), (rate, size) = first, second
    kinks = {Pair.REMOVE: mpmath.log1p(-rate), Pair.ADD: -mpmath.log1p(-rate), Pair.BOTH: mpmath.mpf(0)}[pair]
    found = after_one_step(pair, p, mu, epsilon, lambda at: one_step(pair, rate, size, at), [kinks])
    return max(mpmath.mpf(0), found)


def kind(rng):
    return Fraction(rng.choice((rng.uniform(0.01, 0.95), 10 ** rng.uniform(-2, 0)))), Fraction(
        10 ** rng.uniform(-2, 0.5)
    )


def check_two(pair, seed, rtol=PERCENT):
    rng = random.Random(seed)
    both = [kind(rng), kind(rng)]
    run = Various(tuple(Repeated(pair, rate, cost, 1) for rate, cost in both))
    exact = [(number(rate), mpmath.sqrt(number(cost))) for rate, cost in both]
    epsilon = Fraction(rng.uniform(-3, 2) * run.size)
    low, high = deltas([run], "arb", epsilon, rtol)
    truth = two_kinds(pair, *exact, number(epsilon))
    assert number(low) <= truth * (1 + mpmath.mpf(10) ** -15)
    assert truth <= number(high) * (1 + mpmath.mpf(10) ** -15), (seed, truth, high)
    assert high - low <= rtol * high


@pytest.mark.parametrize("pair", Pair)
def test_two_kinds(pair):
    for seed in range(6):
        check_two(pair, seed)


@pytest.mark.slow
@pytest.mark.parametrize("pair", Pair)
def test_many_pairs_of_kinds(pair):
    refused = 0
    for seed in range(100, 150):
        try:
            check_two(pair, seed, rtol=5 * PERCENT)
        except GridExhausted:  # kinds so unlike that no grid suits both
            refused += 1
    assert refused <= 3


@pytest.mark.parametrize("pair", Pair)
def test_gaussians_add_up(pair):
    """With every record in every batch, μ² is the sum over steps, whatever their number."""
    rng = random.Random(7)
    for _ in range(4):
        parts = [(Fraction(10 ** rng.uniform(-4, -1)), rng.randrange(1, 30)) for _ in range(rng.randrange(2, 8))]
        run = Various(tuple(Repeated(pair, Fraction(1), cost, count) for cost, count in parts))
        mu = mpmath.sqrt(number(sum(cost * count for cost, count in parts)))
        epsilon = Fraction(rng.uniform(0, 3) * float(mu))
        low, high = deltas([run], "arb", epsilon, PERCENT)
        assert number(low) <= gaussian(mu, number(epsilon)) <= number(high)


def test_kinds_that_are_alike_are_one():
    alike = Repeated(Pair.BOTH, Fraction(1, 20), Fraction(1, 4), 30)
    parts = tuple(Repeated(Pair.BOTH, Fraction(1, 20), Fraction(1, 4), count) for count in (1, 9, 20))
    (low, high), (least, most) = (
        epsilons([each], "arb", Fraction(1, 10**5), THOUSANDTH) for each in (alike, Various(parts))
    )
    assert max(low, least) <= min(high, most)


def test_a_kind_of_hardly_any_cost():
    """One step in a hundred with a thousand times the noise: it may be left out, from below."""
    loud = Repeated(Pair.REMOVE, Fraction(1, 20), Fraction(1, 4), 99)
    quiet = Repeated(Pair.REMOVE, Fraction(1, 20), Fraction(1, 4 * 10**6), 1)
    (low, _), (_, most) = (
        epsilons([each], "arb", Fraction(1, 10**5), THOUSANDTH) for each in (loud, Various((loud, quiet)))
    )
    assert low <= most <= low * (1 + 3 * THOUSANDTH)
