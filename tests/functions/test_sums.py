"""Means and recursions: certified values, their limits and their refusals."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import HypothesisError, TooManySteps
from tests import oracle


@pytest.mark.parametrize("draws", [4, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("label", oracle.SUMS)
def test_truth_lies_inside_for_sums_and_recursions(label, draws):
    truth_of, limits = oracle.SUMS[label]
    rng, found = random.Random(3), statement(label)
    with mpmath.workdps(120):
        for _ in range(draws):
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
