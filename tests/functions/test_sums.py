"""Means, recursions and the sampled Gaussian: certified values, their limits and their refusals."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES, Arb, PaddedMpmath
from hsdp_symbolic.errors import ArgumentError, HypothesisError, TooManySteps
from tests import oracle


@pytest.mark.parametrize("label", oracle.SUMS)
def test_truth_lies_inside_for_sums_and_recursions(label):
    truth_of, limits = oracle.SUMS[label]
    rng, found = random.Random(3), statement(label)
    with mpmath.workdps(120):
        for _ in range(12):
            case = oracle.tame(oracle.draw(rng, **limits), rng)
            run, arguments = oracle.split(case)
            arb, other = (found.enclose(Setting(**run), rtol="1e-15", engine=e, **arguments) for e in ENGINES)
            truth = truth_of(case)
            margin = abs(truth) * mpmath.mpf(10) ** (-60)
            for bracket in (arb, other):
                assert oracle.to_mpf(bracket.lo) - margin <= truth <= oracle.to_mpf(bracket.hi) + margin, case
                assert bracket.relative_width <= Fraction(1, 10**15), case
            assert arb.overlaps(other), case


class TestRecursions:
    def test_a_billion_epochs_cost_no_more_than_convergence(self, figure_run):
        found = statement("thm:amp_samp_wo_replacement")
        settled = found.enclose(figure_run, alpha=10, K=10**9)
        p, rho, q = Fraction(1, 25), Fraction(1, 200), Fraction(49, 50)
        with mpmath.workdps(40):
            room = 1 - oracle.to_mpf(p) * mpmath.exp(90 * oracle.to_mpf(rho))
            fixed_point = mpmath.log((1 - oracle.to_mpf(p)) / room) / (1 - oracle.to_mpf(q) ** 2) / 9
            assert abs(oracle.to_mpf(settled.hi) - fixed_point) < 1e-18
        assert found.numeric(figure_run, alpha=10, K=10**9) == pytest.approx(float(fixed_point), rel=1e-13)
        assert found.upper(figure_run, alpha=10, K=10**9) >= found.upper(figure_run, alpha=10, K=10**8)

    def test_the_limit_is_a_statement_of_its_own(self, figure_run):
        limit, recursion = (statement(f"thm:amp_samp_wo_replacement{end}") for end in (":limit", ""))
        for order in (2, "3.7", 15, 25):
            whole = limit.enclose(figure_run, alpha=order)
            assert whole.overlaps(recursion.enclose(figure_run, alpha=order, K=10**9))
            assert recursion.enclose(figure_run, alpha=order, K=40).lo < whole.hi
            assert limit.numeric(figure_run, alpha=order) == pytest.approx(whole.upper(), rel=1e-13)
        for view in ("upper", "numeric"):
            with pytest.raises(HypothesisError, match=r"n < 1"):
                getattr(limit, view)(figure_run, alpha=60)

    def test_growth_without_bound_is_followed(self, figure_run):
        """(b/n)·e^(α(α−1)ρ₀) > 1 at α = 60: the bound grows linearly, and so it is reported."""
        found = statement("thm:amp_samp_wo_replacement")
        small, large = (found.enclose(figure_run, alpha=60, K=K) for K in (10**6, 10**9))
        assert large.lo > 900 * small.hi

    def test_orders_of_ten_thousand_do_not_overflow(self, figure_run):
        for label in ("thm:amp_samp_wo_replacement", "thm:shuffle", "mironov2019"):
            found = statement(label)
            bracket = found.enclose(figure_run, alpha=10**4, K=2)
            assert found.numeric(figure_run, alpha=10**4, K=2) == pytest.approx(bracket.upper(), rel=1e-13)
            assert bracket.hi * (10**4 - 1) > 300

    def test_what_cannot_be_afforded_is_refused(self, monkeypatch):
        monkeypatch.setattr("hsdp_symbolic.functions.accumulated.MOST_STEPS_IN_BALLS", 1024)
        run = Setting(n=10**6, b=1, K=10**6, eta="1e-9", lam=1, beta=1, sigma=1, S_g=1)
        with pytest.raises(TooManySteps, match="fewer epochs"):
            statement("thm:amp_samp_wo_replacement").enclose(run, alpha=2)

    def test_extreme_costs_do_not_overflow(self, figure_run):
        found = statement("thm:amp_samp_wo_replacement")
        for order, sigma in ((10**4, "1e-3"), (10**4, "1e-8"), (10**9, 2)):
            bracket = found.enclose(figure_run, alpha=order, sigma=sigma)
            assert bracket.relative_width <= Fraction(1, 10**20)
            assert found.numeric(figure_run, alpha=order, sigma=sigma) == pytest.approx(bracket.upper(), rel=1e-13)
        assert found.upper(figure_run, alpha=10**4, sigma="1e-300") == math.inf

    def test_slow_contraction_settled_at_once(self, figure_run):
        found = statement("thm:amp_samp_wo_replacement")
        limit = statement("thm:amp_samp_wo_replacement:limit")
        run = figure_run.replace(eta="1e-6", K=10**9)
        assert found.enclose(run, alpha=3).overlaps(limit.enclose(run, alpha=3))
        assert found.numeric(run, alpha=3) == pytest.approx(limit.numeric(run, alpha=3), rel=1e-13)
        for view in (found.upper, found.numeric):
            with pytest.raises(TooManySteps):
                view(run, alpha=3, eta="1e-12")

    def test_no_sensitivity_no_cost(self, figure_run):
        for label in ("thm:shuffle", "thm:amp_samp_wo_replacement", "mironov2019"):
            assert statement(label).upper(figure_run, alpha=3, S_g=0) == 0
            assert statement(label).numeric(figure_run, alpha=3, S_g=0) == 0

    @pytest.mark.parametrize(("step", "number"), [("1e-12", 10**5), ("0.3", 10**6)])
    def test_a_million_batches(self, step, number):
        run = Setting(n=number, b=1, K=3, eta=step, lam=1, beta=1, sigma=1, S_g=1)
        found = statement("thm:shuffle")
        bracket = found.enclose(run, alpha=20, rtol="1e-15")
        assert bracket.relative_width <= Fraction(1, 10**15)
        assert found.numeric(run, alpha=20) == pytest.approx(bracket.upper(), rel=1e-13)


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
