"""Moments of the sampled Gaussian."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES, Arb, PaddedMpmath
from hsdp_symbolic.errors import ArgumentError


class TestSampledGaussian:
    """The inputs on which other accountants return negative or wrong numbers (inputs as binary doubles)."""

    CASES = (
        (0.5, 14, 60.5, "0.0417746344156751853738"),
        (1e-8, 1, 1.1, "9.45054982666836754953e-17"),
        (0.04, 100, 800.5, "6.42403827353057924363e-5"),
    )

    @staticmethod
    def run(rate, noise):
        """One step with sampling rate b/n and noise multiplier √(2ησ²)/(ηS_g/b): η = 1, S_g = b, σ² = noise²/2."""
        rate = Fraction(rate)
        b, n = rate.numerator, rate.denominator
        return Setting(n=n, b=b, K=1, eta=1, S_g=b, sigma_squared=Fraction(noise) ** 2 / 2)

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(("rate", "noise", "order", "value"), CASES)
    @pytest.mark.smoke
    def test_known_values(self, rate, noise, order, value, engine):
        run = self.run(rate, noise)
        steps = int(run["n"] // run["b"])
        found = statement("mironov2019").enclose(run, alpha=Fraction(order), engine=engine)
        assert found.lo / steps <= Fraction(value) * (1 + Fraction(1, 10**20))
        assert found.hi / steps >= Fraction(value) * (1 - Fraction(1, 10**20))
        assert found.relative_width <= Fraction(1, 10**20)

    def test_whole_orders_by_both_methods(self):
        from hsdp_symbolic.evaluate.intervals import Intervals
        from hsdp_symbolic.functions.sampled_gaussian import _binomial, _trapezoidal

        for engine in (Arb(128), PaddedMpmath(128)):
            with engine.working():
                algebra = Intervals(engine)
                for rate, rho, order in ((Fraction(1, 25), Fraction(1, 200), 15), (Fraction(1, 3), Fraction(2), 4)):
                    sums = engine.bounds(_binomial(algebra, rate, rho, order))
                    rule = engine.bounds(_trapezoidal(algebra, rate, rho, Fraction(order)))
                    assert sums[0] <= rule[1]
                    assert rule[0] <= sums[1]
                    assert rule[1] - rule[0] < Fraction(1, 10**30)

    def test_never_negative_on_a_grid(self):
        run, found = self.run("0.3", 10), statement("mironov2019")
        orders = np.arange(11, 1001) / 10
        values = found.numeric(run, alpha=orders)
        assert np.all(values > 0)
        assert np.all(np.diff(values) > 0)
        for order in ("1.1", "2.5", "37.7", "99.9"):
            assert found.numeric(run, alpha=order) == pytest.approx(found.upper(run, alpha=order), rel=1e-13)

    @pytest.mark.smoke
    def test_agrees_with_dp_accounting_at_whole_orders(self):
        import dp_accounting
        from dp_accounting.rdp import rdp_privacy_accountant

        for rate, noise in (("0.04", 10), ("0.3", 2), ("0.001", 1)):
            orders = list(range(2, 65))
            theirs = rdp_privacy_accountant.RdpAccountant(orders)
            event = dp_accounting.PoissonSampledDpEvent(float(rate), dp_accounting.GaussianDpEvent(noise))
            theirs.compose(event, 1)
            run = self.run(rate, noise)
            ours = statement("mironov2019").numeric(run, alpha=orders) / float(run["n"] // run["b"])
            np.testing.assert_allclose(ours, theirs._rdp, rtol=1e-10)

    def test_small_rate_lies_below(self, figure_run):
        for order in [*range(2, 40), "1.01", "2.5", "17.3"]:
            below = statement("mironov2019:small_rate").exact(figure_run, alpha=order)
            assert below <= statement("mironov2019").enclose(figure_run, alpha=order).lo

    def test_small_rate_is_claimed_where_b_divides_n_only(self, figure_run):
        with pytest.raises(ArgumentError, match=r"n = 51"):
            statement("mironov2019:small_rate").exact(figure_run, alpha="2.5", n=51)

    @pytest.mark.parametrize(
        ("sigma", "order"), [("1e78", "2.5"), ("1e300", "1.5"), ("1e-300", "2.5"), ("1e-3", 10**4)]
    )
    @pytest.mark.parametrize("engine", [pytest.param(e, marks=[pytest.mark.slow] * (e == "mpmath")) for e in ENGINES])
    def test_noise_of_any_size(self, figure_run, sigma, order, engine):
        found = statement("mironov2019").enclose(figure_run, alpha=order, sigma=sigma, engine=engine, rtol="1e-10")
        assert 0 < found.lo <= found.hi
