"""Moments of random hits: exact, capped, over arrays."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import TooManySteps
from hsdp_symbolic.experiment.attack import attack
from hsdp_symbolic.functions.shift_control import ShiftControl

MOMENTS, CAPPED = "moments:without_replacement", "split:capped"


class TestMoments:
    def test_the_recursion_as_stated(self):
        """M_(t+1)(c) = p·e^c·M_t(c) + (1 − p)·M_t(rc), by recursion, in 40 digits."""
        rng = random.Random(4)
        with mpmath.workdps(40):
            for _ in range(10):
                n, b, K = rng.randint(2, 9), 1, rng.randint(1, 3)
                run = Setting(n=n, b=b, K=K, eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1, sigma=1, S_g=2)
                alpha = rng.randint(2, 9)
                q, p = 1 - run["eta"], mpmath.mpf(1) / n
                r = mpmath.mpf((q * q).numerator) / (q * q).denominator
                c = alpha * (alpha - 1) * mpmath.mpf(run["eta"].numerator) / run["eta"].denominator
                row = [mpmath.mpf(1)] * (n * K + 1)
                for _ in range(n * K):
                    row = [p * mpmath.exp(c * r**m) * row[m] + (1 - p) * row[m + 1] for m in range(len(row) - 1)]
                truth = mpmath.log(row[0]) / (alpha - 1)
                found = statement(MOMENTS).enclose(run, alpha=alpha)
                assert mpmath.mpf(found.lo.numerator) / found.lo.denominator <= truth * (1 + mpmath.mpf(10) ** -35)
                assert mpmath.mpf(found.hi.numerator) / found.hi.denominator >= truth * (1 - mpmath.mpf(10) ** -35)
                assert statement(MOMENTS).numeric(run, alpha=alpha) == pytest.approx(float(truth), rel=1e-13)

    def test_never_above_the_paper_and_below_it_somewhere(self):
        rng, better = random.Random(5), 0
        paper, ours = statement("thm:amp_samp_wo_replacement"), statement(MOMENTS)
        for _ in range(25):
            run = Setting(
                n=rng.randint(2, 30), b=1, K=rng.randint(1, 4), eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1,
                sigma=rng.randint(1, 5), S_g=1,
            )  # fmt: skip
            alpha = rng.randint(2, 20)
            assert ours.enclose(run, alpha=alpha).lo <= paper.enclose(run, alpha=alpha).hi
            better += ours.enclose(run, alpha=alpha).hi < paper.enclose(run, alpha=alpha).lo
        assert better > 15

    def test_any_number_of_epochs(self, figure_run):
        far = statement(MOMENTS).enclose(figure_run, K=10**20, alpha=15, rtol="1e-9")
        assert far.overlaps(statement(MOMENTS).enclose(figure_run, K=400, alpha=15, rtol="1e-9"))
        with pytest.raises(TooManySteps):
            statement(MOMENTS).enclose(figure_run, K=10**9, alpha=60)  # p·e^(κρ₀) > 1: grows without bound

    @pytest.mark.smoke
    def test_both_engines(self, figure_run):
        statement(MOMENTS).enclose(figure_run, K=2, alpha=15, engine="both")


class TestCapped:
    def test_the_recursion_as_stated(self):
        rng, beyond = random.Random(6), 0
        with mpmath.workdps(40):
            for _ in range(15):
                n, K, alpha = rng.randint(2, 9), rng.randint(1, 6), rng.randint(2, 40)
                run = Setting(n=n, b=1, K=K, eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1, sigma=1, S_g=2)
                q = mpmath.mpf((1 - run["eta"]).numerator) / (1 - run["eta"]).denominator
                c = alpha * (alpha - 1) * (1 - q)
                s, p = mpmath.mpf(0), mpmath.mpf(1) / n
                for _ in range(n * K):
                    near = s <= c * q**2 / (1 - q**2)
                    beyond += not near
                    hit = s + c if near else (q * mpmath.sqrt(s) + mpmath.sqrt(c * (1 - q**2))) ** 2
                    s = mpmath.log(p * mpmath.exp(hit) + (1 - p) * mpmath.exp(q**2 * s))
                found = statement(CAPPED).enclose(run, alpha=alpha)
                assert float(found.hi) == pytest.approx(float(s / (alpha - 1)), rel=1e-15)
                assert statement(CAPPED).numeric(run, alpha=alpha) == pytest.approx(float(found.hi), rel=1e-13)
        assert beyond > 20

    def test_every_order_is_bounded_where_the_paper_grows(self, figure_run):
        found = statement(CAPPED)
        for alpha in (10, 60, 200):
            most = alpha * 0.005 * (1 + 0.98) / 0.02
            assert found.upper(figure_run, alpha=alpha, K=10**20) <= most
        assert found.upper(figure_run, alpha=60) < 30
        assert statement("thm:amp_samp_wo_replacement").lower(figure_run, alpha=60) > 200

    def test_never_above_the_paper(self):
        rng, better = random.Random(7), 0
        for _ in range(20):
            run = Setting(n=rng.randint(2, 9), b=1, K=rng.randint(1, 9), eta="0.3", lam=1, beta=1, sigma=1, S_g=2)
            alpha = rng.randint(2, 20)
            ours, paper = (statement(x).enclose(run, alpha=alpha) for x in (CAPPED, "thm:amp_samp_wo_replacement"))
            assert ours.lo <= paper.hi
            better += ours.hi < paper.lo
        assert better > 5

    def test_the_formula_is_no_bound_before_the_switch(self):
        """One hit from nothing: the exact divergence is ρ₀, the formula of the capped step would say ρ₀(1 − q²)."""
        run = Setting(n=1, b=1, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        exact = attack(CAPPED, run, 3)
        assert exact.found == pytest.approx(3 * 0.125)
        assert exact.ratio == pytest.approx(1)
        assert exact.found > 3 * 0.125 * (1 - 0.25)


def test_moments_over_arrays_of_programmes():
    costs, epochs = np.array([[0.5], [1.0]]), np.array([1, 10, 3])
    table = ShiftControl.array(costs, Fraction(9, 10), Fraction(1, 10), Fraction(1), epochs)
    assert table.shape == (2, 3)
    assert np.all(np.diff(table[:, [0, 2, 1]], axis=1) > 0)
    assert table[0, 0] == pytest.approx(math.log1p(0.1 * math.expm1(0.5)), rel=1e-12)
