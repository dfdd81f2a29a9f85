"""From Rényi divergence to (ε, δ) and back: never below the formula, nor below an exact law."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic.accounting import (
    delta,
    delta_at,
    epsilon,
    epsilon_at,
    training_run,
)


def to_mpf(x):
    return mpmath.mpf(x.numerator) / x.denominator


def formula(R, order, probability):
    """Canonne, Kamath & Steinke 2020, Proposition 12, to the current precision and not from the package."""
    R, order, probability = map(to_mpf, (R, order, probability))
    return R + mpmath.log1p(-1 / order) - mpmath.log(probability * order) / (order - 1)


def delta_formula(R, order, loss):
    R, order, loss = map(to_mpf, (R, order, loss))
    return mpmath.exp((order - 1) * (R - loss)) / (order - 1) * (1 - 1 / order) ** order


def draw_conversion(rng):
    def exact(low, high):
        return Fraction(repr(math.exp(rng.uniform(math.log(low), math.log(high)))))

    return exact(1e-9, 1e3), 1 + exact(1e-4, 1e4), exact(1e-30, 0.9)


def check_conversions(count, seed):
    rng, naive_below = random.Random(seed), 0
    with mpmath.workdps(60):
        for _ in range(count):
            R, order, probability = draw_conversion(rng)
            truth = max(mpmath.mpf(0), formula(R, order, probability))
            found = epsilon_at(R, order=order, delta=probability)
            assert mpmath.mpf(found.upper()) >= truth >= mpmath.mpf(found.lower())
            assert found.upper() - found.lower() <= 4e-16 * found.upper() + 1e-30
            r, a, d = float(R), float(order), float(probability)
            naive_below += mpmath.mpf(r + math.log1p(-1 / a) - math.log(d * a) / (a - 1)) < truth
            if truth > 0:
                back = delta_at(R, order=order, epsilon=Fraction(found.upper()))
                there = delta_formula(R, order, Fraction(found.upper()))
                assert mpmath.mpf(back.upper()) >= min(there, 1)
                assert back.hi <= probability
    return naive_below


def test_conversion_is_never_below_its_formula():
    assert check_conversions(400, seed=1) > 40  # plain doubles are: the test can fail


@pytest.mark.slow
def test_conversion_is_never_below_its_formula_on_many_points():
    assert check_conversions(10**5, seed=2) > 10**4


def gaussian_delta(mu, loss):
    """The exact δ(ε) of the Gaussian mechanism (Balle & Wang 2018, Theorem 8)."""
    return mpmath.ncdf(mu / 2 - loss / mu) - mpmath.exp(loss) * mpmath.ncdf(-mu / 2 - loss / mu)


@pytest.mark.parametrize("noise", ["0.3", "1", "5", "40"])
@pytest.mark.parametrize("epochs", [1, 7, 100])
def test_composition_is_never_below_the_exact_gaussian_mechanism(noise, epochs):
    run = training_run(noise_multiplier=noise, n=100, batch_size=100, epochs=epochs)
    with mpmath.workdps(60):
        mu = 2 * mpmath.sqrt(epochs) / mpmath.mpf(noise)  # replacing a record: sensitivity 2C
        for probability in ("1e-2", "1e-5", "1e-12"):
            found = epsilon(run, delta=probability, scheme="full_batch")
            assert found.bound == "gdp:composition:full_batch"
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon)) <= mpmath.mpf(probability)
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon) * (1 - 1e-11)) > mpmath.mpf(probability)  # it is exact
            back = delta(run, epsilon=found.epsilon, scheme="full_batch")
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon)) <= back.delta <= float(probability) * (1 + 1e-15)
            by_order = epsilon(run, delta=probability, scheme="full_batch", orders=range(2, 100))
            assert by_order.bound == "composition:full_batch"
            assert by_order.epsilon > found.epsilon


@pytest.mark.smoke
def test_mironovs_form_is_larger(figure_run):
    best = epsilon(figure_run, delta="1e-5", scheme="shuffle")
    simple = epsilon(figure_run, delta="1e-5", scheme="shuffle", conversion="mironov2017")
    assert best.epsilon < simple.epsilon < 2 * best.epsilon
    assert simple.bound == "shift:shuffle"  # a conversion is of divergences: no profile is used
    at = {"order": simple.order, "delta": "1e-5"}
    assert epsilon_at("0.1", conversion="mironov2017", **at).hi > epsilon_at("0.1", **at).hi


def test_an_enclosure_of_zero_is_no_trouble():
    assert epsilon_at(0, order=2, delta="1/4").hi < Fraction(1, 10**30)  # log(1/2) − log(1/2), exactly
