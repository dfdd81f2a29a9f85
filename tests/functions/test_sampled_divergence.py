"""Rényi divergences of steps without replacement, alone and with secret hits: against integrals of their profiles."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from sympy import Rational

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.sampled_divergence import SampledDivergence
from hsdp_symbolic.functions.sampled_gaussian import SampledGaussian
from hsdp_symbolic.functions.secret_divergence import SecretDivergence
from hsdp_symbolic.functions.secret_losses import Secret
from tests.functions.sampled_reference import FEWER, divergence, number, secret_divergence

FIGURE = "0.04", "0.01"
"""Rate and cost: a record of 25 batches, μ = 0.1."""


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(FEWER):
        yield


def enclosure(function, *arguments, rtol="1e-12", engine="arb"):
    return enclose(compile_expression(function(*map(Rational, arguments))), {}, rtol=rtol, engine=engine)


def assert_holds(found, truth, *, rtol="1e-12"):
    """The truth is inside, but for the last digits of its own integral, and the enclosure is narrow."""
    slack = truth * mpf(10) ** (6 - FEWER)
    assert number(found.lo) - slack <= truth <= number(found.hi) + slack
    assert found.relative_width <= Fraction(rtol)


def check_step(rng, engine="arb"):
    rate = Fraction(rng.choice((rng.uniform(0.01, 0.99), 10 ** rng.uniform(-3, 0))))
    cost, order = Fraction(10 ** rng.uniform(-3, 0.3)), 1 + Fraction(10 ** rng.uniform(-1.5, 1.3))
    truth = divergence(number(rate), mpmath.sqrt(number(cost)), number(order))
    assert_holds(enclosure(SampledDivergence, rate, cost, order, engine=engine), truth)
    assert float(SampledDivergence.array(float(rate), float(cost), order)) == pytest.approx(float(truth), rel=1e-8)


def secret_setting(rng):
    window = rng.randint(1, 3)
    steps = window + rng.randint(0, 5)
    rate, cost = Fraction(rng.randint(2, 60), 100), Fraction(rng.randint(2, 80), 100)
    factor, share = Fraction(rng.randint(50, 100), 100), Fraction(rng.randint(20, 90), 100)
    return rate, cost, factor, Fraction(steps), Fraction(window), share, Fraction(rng.randint(12, 60), 10)


def check_secret(rng):
    rate, cost, factor, steps, window, share, order = given = secret_setting(rng)
    truth = secret_divergence(
        number(rate),
        mpmath.sqrt(number(cost)),
        number(factor),
        int(steps),
        int(window),
        number(share),
        number(order),
    )
    assert_holds(enclosure(SecretDivergence, *given), truth)
    assert float(SecretDivergence.array(*given)) == pytest.approx(float(truth), rel=1e-4)


def check_secrets(seeds):
    for seed in seeds:
        check_secret(random.Random(seed))


class TestOneStep:
    def test_against_the_profile(self):
        for seed in range(5):
            check_step(random.Random(seed))

    @pytest.mark.slow
    def test_against_the_profile_often(self):
        for seed in range(20, 40):
            check_step(random.Random(seed))

    def test_the_other_engine(self):
        check_step(random.Random(9), "mpmath")

    @pytest.mark.parametrize(("order", "value"), [(10, "0.0021627"), (15, "0.0032443")])
    def test_the_figure(self, order, value):
        """25 steps at rate 1/25, μ = 0.1; the values were rounded up."""
        found = enclosure(SampledDivergence, *FIGURE, order)
        assert float(value) - 1e-7 < 25 * found.lo <= 25 * found.hi < float(value)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_without_sampling(self, engine):
        found = enclosure(SampledDivergence, 1, "0.3", "2.5", engine=engine, rtol="1e-20")
        assert found.lo <= Fraction("0.375") <= found.hi
        assert found.relative_width <= Fraction(1, 10**20)

    def test_never_below_one_direction(self):
        """The larger of both directions at every ε costs at least what Poisson sampling costs in one of them."""
        for rate, cost, order in (("0.04", "0.01", 10), ("0.3", "1", 3), ("0.5", "0.25", 20)):
            moment = enclosure(SampledGaussian, rate, Fraction(cost) / 2, order)
            found = enclosure(SampledDivergence, rate, cost, order)
            assert moment.hi / (order - 1) < found.lo
            assert found.hi < 2 * moment.lo / (order - 1)

    def test_orders_of_one_or_less(self):
        with pytest.raises(ArgumentError):
            enclosure(SampledDivergence, *FIGURE, 1)


class TestSecretHits:
    def test_every_hit_enumerated(self):
        check_secrets(range(3))

    @pytest.mark.slow
    def test_every_hit_enumerated_often(self):
        check_secrets(range(10, 25))

    def test_nothing_revealed_is_composition(self):
        """With all steps in the window, only the shares of noise are left: each step costs what it has."""
        found = enclosure(SecretDivergence, *FIGURE, 1, 7, 7, "0.64", 10)
        one = enclosure(SampledDivergence, FIGURE[0], Fraction(FIGURE[1]) / Fraction("0.64"), 10)
        assert found.lo <= 7 * one.hi
        assert 7 * one.lo <= found.hi

    @pytest.mark.parametrize(("order", "most", "least"), [(15, 0.01472, 0.0119), (10, 0.00979, 0.0079)])
    def test_the_figure(self, order, most, least):
        """1000 steps, factor 0.98: the best window and share, as the search finds them."""
        known = dict(enumerate(map(Fraction, (*FIGURE, "0.98", 1000)))) | {6: Fraction(order)}
        chosen = SecretDivergence.choose(known)
        found = enclosure(SecretDivergence, *FIGURE, "0.98", 1000, chosen[4], chosen[5], order, rtol="1e-6")
        assert least < found.lo
        assert found.hi < most * 1.001

    @pytest.mark.parametrize("mistake", ["drift", "shares"])
    def test_mistakes_are_noticed(self, mistake, monkeypatch):
        """A drift that is a millionth too small; a secret step that has all the noise of its step."""
        if mistake == "drift":
            drift = Secret.drift

            def smaller(secret, engine):
                return engine.mul(drift(secret, engine), engine.ball(1 - Fraction(1, 10**6)))

            monkeypatch.setattr(Secret, "drift", smaller)
        else:
            monkeypatch.setattr(
                Secret, "shares", lambda secret, engine: [(engine.ball(Fraction(999, 1000)), secret.window)]
            )
        with pytest.raises(AssertionError):
            check_secrets(range(2))
