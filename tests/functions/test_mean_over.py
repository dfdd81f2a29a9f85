"""Means over an index: exact, term by term, by groups, in doubles, in proofs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sympy import Integer, Rational, exp

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.display import Average, Dot, undisplay
from hsdp_symbolic.errors import ArgumentError, ExactTooLarge, TooManySteps
from hsdp_symbolic.evaluate.enclosure import enclose, exact
from hsdp_symbolic.evaluate.numeric import evaluate
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.evaluate.rationals import Rationals
from hsdp_symbolic.evaluate.trend import sign, trend
from hsdp_symbolic.functions import mean_over
from hsdp_symbolic.functions.gaussian_profile import GaussianProfile
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.kernel import Refused
from hsdp_symbolic.proof.propositions import Equal
from hsdp_symbolic.proof.signs import Sign
from hsdp_symbolic.proof.signs import sign as seen_sign
from hsdp_symbolic.setting.arrays import Samples
from hsdp_symbolic.symbols import K, N, S_g, epsilon, eta, hit, i, j0, k, q, sigma2
from hsdp_symbolic.tex import latex
from tests.tex.latex_reader import Book

FALLING = GaussianProfile(S_g / (1 + i), Rational(1, 4))
"""A body that falls slowly with the index."""


def mean(body, count, values=None, **options):
    return enclose(compile_expression(MeanOver(body, i, Integer(count))), values or {}, **options)


class TestValues:
    def test_exact(self):
        for count in (1, 2, 7, 100):
            found = exact(compile_expression(MeanOver(1 / i, i, Integer(count))), {})
            assert found == sum(Fraction(1, place) for place in range(1, count + 1)) / count

    def test_exact_within_reason(self):
        with pytest.raises(TooManySteps):
            exact(compile_expression(MeanOver(1 / i, i, Integer(10**6))), {})
        with pytest.raises(ExactTooLarge):
            compile_expression(MeanOver(1 / i, i, Integer(1000))).run(Rationals(100), {})

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("count", [1, 2, 30, 200])
    def test_term_by_term(self, engine, count):
        terms = [
            enclose(compile_expression(FALLING.subs(i, place)), {"S_g": Fraction(1)}, rtol="1e-30")
            for place in range(1, count + 1)
        ]
        found = mean(FALLING, count, {"S_g": Fraction(1)}, engine=engine)
        assert found.lo <= sum(each.hi for each in terms) / count
        assert found.hi >= sum(each.lo for each in terms) / count
        assert found.relative_width <= Fraction(1, 10**20)

    def test_one_term_is_its_own_mean(self):
        assert mean(1 / i, 1).lo == 1

    def test_a_wrong_weight_is_noticed(self):
        """Divided by one more, or one term left out, it is another number."""
        total = sum(Fraction(1, place) for place in range(1, 31))
        found = mean(1 / i, 30)
        assert total / 30 in found
        assert total / 31 not in found
        assert (total - Fraction(1, 30)) / 30 not in found


class TestGroups:
    """Longer means are bracketed by groups; the bracket holds what all terms give."""

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("rtol", ["0.1", "1e-2", "1e-4", "1e-20"])
    @pytest.mark.parametrize("body", [1 / i, exp(-i / 10), FALLING, 1 + exp(-i), Rational(3, 7) + 0 * i])
    def test_they_hold_the_sum_of_all(self, body, rtol, engine, monkeypatch):
        count, values = 600, {"S_g": Fraction(1)}
        direct = mean(body, count, values, rtol="1e-30")
        monkeypatch.setattr(mean_over, "DIRECT_TERMS", 10)
        grouped = mean(body, count, values, rtol=rtol, engine=engine)
        assert grouped.relative_width <= Fraction(rtol)
        assert grouped.lo <= direct.lo
        assert grouped.hi >= direct.hi

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_billion_terms(self, engine):
        slow = mean(1 / (10**9 + i), 10**9, rtol="1e-2", engine=engine)  # about log 2
        assert float(slow.lo) * 10**9 == pytest.approx(np.log(2), rel=1e-2)
        assert slow.lo * 10**9 < Fraction(np.log(2)) < slow.hi * 10**9
        fast = mean(exp(-i), 10**9, engine=engine)  # only the first terms count
        assert fast.relative_width <= Fraction(1, 10**20)
        assert float(fast.hi) * 10**9 == pytest.approx(1 / np.expm1(1), rel=1e-14)

    def test_terms_too_small_to_write_down(self):
        found = mean(exp(-(i**4)), 10**6)
        assert found.relative_width <= Fraction(1, 10**20)

    def test_too_many(self, monkeypatch):
        monkeypatch.setattr(mean_over, "MOST_TERMS", 1000)
        with pytest.raises(TooManySteps):
            mean(1 / i, 10**6)

    def test_nothing_at_all(self):
        assert mean(0 * i, 10**5).hi == 0
        assert mean(GaussianProfile(S_g / i, Integer(1)), 10**5, {"S_g": Fraction(0)}).hi == 0

    def test_a_body_that_rises_is_refused(self):
        with pytest.raises(ArgumentError, match="rises with its index"):
            mean(1 - Rational(1, 2) ** i, 10**5, rtol="1e-3")


class TestDoubles:
    @pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 50_000])
    def test_close_to_the_enclosure(self, count):
        for body in (1 / i, FALLING, 1 + exp(-i)):
            found = evaluate(compile_expression(MeanOver(body, i, Integer(count))), {"S_g": Fraction(1)})
            if count <= 1000:
                assert float(found) == pytest.approx(float(mean(body, count, {"S_g": Fraction(1)}).lo), rel=1e-14)
            bracket = mean(body, count, {"S_g": Fraction(1)}, rtol="1e-3")
            assert bracket.lo <= Fraction(float(found)) * (1 + Fraction(1, 10**13))
            assert bracket.hi >= Fraction(float(found)) * (1 - Fraction(1, 10**13))

    def test_arrays_of_values_and_of_counts(self):
        program = compile_expression(MeanOver(GaussianProfile(S_g / i, epsilon), i, K))
        costs, counts = np.array([[0.5], [1.0], [2.0]]), np.array([[1.0, 3.0, 200.0, 3.0]])
        values = {"S_g": Samples(costs, 0.5, 2.0), "K": Samples(counts, 1.0, 200.0), "epsilon": Fraction(1, 2)}
        found = evaluate(program, values)
        assert found.shape == (3, 4)
        for row, cost in enumerate(costs.ravel().tolist()):
            for column, count in enumerate(counts.ravel().tolist()):
                at = {"S_g": Fraction(cost), "K": Fraction(count), "epsilon": Fraction(1, 2)}
                assert found[row, column] == pytest.approx(float(enclose(program, at).lo), rel=1e-13)

    @pytest.mark.parametrize("kind", [MeanOver, LogMeanExp])
    def test_a_body_without_the_index(self, kind):
        program = compile_expression(kind(S_g * eta, i, K))
        for count in (1, 3, 200):
            values = {"S_g": Fraction(3), "eta": Fraction(1, 2), "K": Fraction(count)}
            assert float(evaluate(program, values)) == pytest.approx(1.5)
            found = evaluate(program, {**values, "S_g": Samples(np.array([1.0, 2.0]), 1.0, 2.0)})
            assert found.tolist() == pytest.approx([0.5, 1.0])

    def test_a_flat_rest_is_added_at_once(self):
        found = evaluate(compile_expression(MeanOver(1 + exp(-i), i, Integer(10**15))), {})
        assert float(found) == pytest.approx(1, rel=1e-14)

    def test_too_many(self):
        with pytest.raises(TooManySteps):
            evaluate(compile_expression(MeanOver(1 / i, i, Integer(10**12))), {})


class TestDirections:
    def test_with_the_body_and_against_the_count(self):
        node = MeanOver(GaussianProfile(S_g / (i * sigma2), epsilon), i, K)
        assert trend(node, S_g) is Trend.UP
        assert trend(node, sigma2) is Trend.DOWN
        assert trend(node, epsilon) is Trend.DOWN
        assert trend(node, K) is Trend.DOWN
        assert sign(node) == 1

    def test_unknown_where_the_body_does_not_fall(self):
        assert trend(MeanOver(i * eta, i, K), K) is None
        assert trend(MeanOver(i * eta, i, K), eta) is Trend.UP

    def test_signs_that_proofs_see(self):
        assert seen_sign(MeanOver(1 / i, i, N)) is Sign.POSITIVE  # the index counts from 1
        assert seen_sign(MeanOver(hit * i, i, N)) is Sign.NONNEGATIVE
        assert seen_sign(MeanOver(1 - i, i, N)) is None
        assert seen_sign(MeanOver(S_g * i, i, k)) is None  # there may be no term
        assert seen_sign(MeanOver(S_g * i, i, q)) is None


class TestInProofs:
    def test_one_term_and_one_more(self):
        node = MeanOver(S_g / (1 + i), i, N)
        alone, more = (kernel.unfold(node, place) for place in (0, 1))
        assert alone.proposition == Equal(MeanOver(S_g / (1 + i), i, Integer(1)), S_g / 2)
        assert more.proposition == Equal(node.subs(N, N + 1), (N * node + S_g / (N + 2)) / (N + 1))

    def test_the_index_counts_from_one(self):
        assert kernel.unfold(MeanOver(S_g / i, i, N), 0).proposition == Equal(MeanOver(S_g / i, i, Integer(1)), S_g)
        with pytest.raises(Refused, match="may be 0"):
            kernel.unfold(MeanOver(S_g / (i - 1), i, N), 1)

    def test_there_are_only_two_equations(self):
        with pytest.raises(Refused):
            kernel.unfold(MeanOver(S_g / (1 + i), i, N), 2)

    def test_the_index_is_no_letter_of_it(self):
        assert MeanOver(S_g * i, i, N).free_symbols == {S_g, N}


class TestPrinted:
    def test_read_back(self):
        letters = {"K": Fraction(7), "S_g": Fraction(3, 2), "epsilon": Fraction(2, 5)}
        for body in (GaussianProfile(S_g / i, epsilon), S_g / i + 1, 1 / i):
            for whole in (lambda x: x, lambda x: 1 + 2 * x, lambda x: x**2):
                expr = whole(MeanOver(body, i, K))
                value = Book([rf"x = {latex(expr)}"]).value(letters)
                found = enclose(compile_expression(expr), letters)
                assert float(value) == pytest.approx(float(found.lo), rel=1e-13)

    def test_over_positions(self):
        """The position j₀ of the record is followed by n/b − j₀ updates, its index."""
        shown = Average(GaussianProfile(S_g / (N - j0), epsilon), j0, N)
        assert undisplay(shown) == MeanOver(GaussianProfile(S_g / i, epsilon), i, N)
        letters = {"n": Fraction(23), "b": Fraction(3), "S_g": Fraction(3, 2), "epsilon": Fraction(2, 5)}
        for whole in (
            lambda x: x,
            lambda x: 1 + 2 * x,
            lambda x: x**2,
            lambda x: x * epsilon,
            lambda x: Dot(x, epsilon),
        ):
            value = Book([rf"x = {latex(whole(shown))}"]).value(letters)
            found = enclose(compile_expression(undisplay(whole(shown))), letters)
            assert float(value) == pytest.approx(float(found.lo), rel=1e-13)

    def test_latex(self):
        assert latex(MeanOver(eta / i, i, K)) == r"\underset{1 \leq i \leq K}{Avg} \frac{\eta}{i}"
        assert latex(MeanOver(eta + i, i, K)) == r"\underset{1 \leq i \leq K}{Avg} \left(i + \eta\right)"
