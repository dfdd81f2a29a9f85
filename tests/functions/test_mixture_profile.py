"""δ of groups with known chances, and back: certified from above, and close."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.functions.mixture_profile import mixture_delta, mixture_epsilon
from hsdp_symbolic.functions.scheduled_shifts import spent

from .schedules_reference import drawn as drawn_steps


def exactly(weights, costs, epsilon):
    """Σ w·(Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2)), in 40 digits."""
    total = mpmath.mpf(0)
    for weight, cost in zip(weights, costs, strict=True):
        if cost:
            mu = mpmath.sqrt(mpmath.mpf(cost))
            near, far = (mpmath.ncdf(-epsilon / mu + side * mu / 2) for side in (1, -1))
            total += mpmath.mpf(weight.numerator) / weight.denominator * (near - mpmath.exp(epsilon) * far)
    return total


def drawn(rng):
    sizes = [rng.randint(0, 9) for _ in range(rng.randint(1, 6))]
    sizes[0] += 1
    weights = [Fraction(size, sum(sizes)) for size in sizes]
    return weights, np.array([rng.choice([0.0, 10 ** rng.uniform(-4, 1)]) for _ in weights])


def test_delta_is_never_too_small_and_close():
    rng = random.Random(1)
    with mpmath.workdps(40):
        for _ in range(120):
            weights, costs = drawn(rng)
            epsilon = Fraction(rng.randint(0, 40), 10)
            true = exactly(weights, costs, mpmath.mpf(epsilon.numerator) / epsilon.denominator)
            assert true <= mixture_delta(weights, costs, epsilon) <= true * (1 + 1e-9) + 1e-300


def test_epsilon_is_enough_and_hardly_more():
    rng, positive = random.Random(2), 0
    for _ in range(120):
        weights, costs = drawn(rng)
        delta = Fraction(1, 10 ** rng.randint(1, 12))
        found = mixture_epsilon(weights, costs, delta)
        assert Fraction(mixture_delta(weights, costs, Fraction(found))) <= delta
        if found:
            positive += 1
            assert Fraction(mixture_delta(weights, costs, Fraction(found * (1 - 1e-7)))) > delta
    assert positive > 60


def test_no_run_with_a_random_place_is_easier_to_tell():
    """x ↦ c·x + jump on a line, one epoch, the record in a random place: its law is a mixture of Gaussians."""
    rng, told = random.Random(3), 0
    for _ in range(120):
        run = drawn_steps(rng, 5)
        run = replace(run, epochs=[0])
        chances, jumps = [Fraction(1, run.length)] * run.length, np.array(run.jump, dtype=float)
        weight = np.cumprod([1.0, *map(float, run.factor[:0:-1])])[::-1]
        spread = float(np.sqrt(np.sum(weight**2 * np.array(run.variance, dtype=float))))
        means = weight * jumps / spread
        x = np.linspace(-9, means.max() + 9, 4001)
        first = np.mean([np.exp(-((x - mean) ** 2) / 2) for mean in means], axis=0) / np.sqrt(2 * np.pi)
        second = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        costs = np.array([spent(run.steps(), np.array([place])) for place in range(run.length)])
        for epsilon in (Fraction(0), Fraction(1, 2)):
            scale, bound = np.exp(float(epsilon)), mixture_delta(chances, costs, epsilon)
            for one, other in ((first, second), (second, first)):
                true = np.maximum(one - scale * other, 0).sum() * (x[1] - x[0])
                assert true <= bound + 1e-6
                told += true > bound / 4
    assert told > 60


def test_half_the_weights_are_not_enough():
    """The mean over the groups is what counts: the largest alone is more, half of the mean is less."""
    weights, costs = [Fraction(1, 2)] * 2, np.array([1.0, 4.0])
    found = mixture_delta(weights, costs, Fraction(1))
    true = exactly(weights, costs, mpmath.mpf(1))
    assert found / 2 < true <= found < mixture_delta([Fraction(1)], costs[1:], Fraction(1))


def test_what_costs_nothing_or_everything():
    zero, half = np.array([0.0, 0.0]), [Fraction(1, 2)] * 2
    assert mixture_delta(half, zero, Fraction(0)) == 0
    assert mixture_delta(half, np.array([0.0, np.inf]), Fraction(5)) == 0.5
    assert mixture_epsilon(half, np.array([0.0, np.inf]), Fraction(1, 2)) == np.inf
    assert mixture_epsilon(half, np.array([0.0, np.inf]), Fraction(2, 3)) == 0
    assert mixture_epsilon(half, zero, Fraction(1, 10**9)) == 0


@pytest.mark.parametrize(
    ("weights", "costs", "name"),
    [
        ([Fraction(1, 2)], [1.0], "weights"),
        ([Fraction(2), Fraction(-1)], [1.0, 1.0], "weights"),
        ([Fraction(1)], [1.0, 1.0], "costs"),
        ([Fraction(1)], [-1.0], "costs"),
        ([Fraction(1)], [float("nan")], "costs"),
    ],
)
def test_weights_and_costs_are_checked(weights, costs, name):
    with pytest.raises(ArgumentError, match=name):
        mixture_delta(weights, np.array(costs), Fraction(1))


def test_so_are_epsilon_and_delta():
    one = [Fraction(1)], np.array([1.0])
    with pytest.raises(ArgumentError, match="epsilon"):
        mixture_delta(*one, Fraction(-1))
    with pytest.raises(ArgumentError, match="delta"):
        mixture_epsilon(*one, Fraction(0))


def test_costs_next_to_nothing():
    """Beside others, and alone: what is far below all that matters takes no double out of its range."""
    half = [Fraction(1, 2), Fraction(1, 2)]
    found = mixture_epsilon(half, np.array([1.0, 5e-323]), Fraction(1, 10**5))
    assert found == pytest.approx(mixture_epsilon(half, np.array([1.0, 0.0]), Fraction(1, 10**5)), rel=1e-9)
    assert mixture_epsilon(half, np.array([1e-300, 5e-323]), Fraction(1, 10**5)) == 0
