"""A certified number is never below the truth: enclosures and their rounding."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Float, Symbol, exp, log, sin

from hsdp_symbolic import Enclosure, Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES, EXPONENT_CAP, PaddedMpmath
from hsdp_symbolic.errors import (
    ArgumentError,
    EnginesDisagree,
    ExactTooLarge,
    NotRational,
    PrecisionExhausted,
    UnsupportedNode,
)
from hsdp_symbolic.evaluate.enclosure import enclose, exact
from hsdp_symbolic.evaluate.program import compile_expression
from tests import oracle

FIGURE_VALUES = [
    ("thm:strconvexsmooth", {"alpha": 15, "j0": 24}, "0.0871296232726143"),
    ("thm:strconvexsmooth", {"alpha": 15, "j0": 0}, "0.0139008201950307"),
]


@pytest.mark.parametrize("engine", [*ENGINES, "both"])
@pytest.mark.parametrize(("label", "arguments", "digits"), FIGURE_VALUES)
@pytest.mark.smoke
def test_figure_setting(figure_run, label, arguments, digits, engine):
    found = statement(label).enclose(figure_run, engine=engine, **arguments)
    assert found.relative_width <= Fraction(1, 10**20)
    assert str(found.decimals()[0]).startswith(digits)
    assert statement(label).exact(figure_run, **arguments) in found


@pytest.mark.smoke
def test_convex_theorem_is_exact(figure_run):
    assert statement("thm:convexsmooth").exact(figure_run, alpha=15, j0=24) == Fraction(24, 125)
    assert statement("thm:convexsmooth").enclose(figure_run, alpha=15, j0=24) == Enclosure(
        Fraction(24, 125), Fraction(24, 125)
    )


@pytest.mark.parametrize("draws", [100, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("label", oracle.THEOREMS)
def test_truth_lies_inside_over_the_whole_domain(label, draws):
    rng = random.Random(20260101)
    found = statement(label)
    checked = 0
    with mpmath.workprec(900):
        for _ in range(draws):
            case = oracle.draw(rng)
            run, arguments = oracle.split(case)
            arb, other = (found.enclose(Setting(**run), rtol="1e-15", engine=e, **arguments) for e in ENGINES)
            truth = oracle.THEOREMS[label](case)
            margin = mpmath.ldexp(abs(truth), -200)  # the oracle's own rounding
            for bracket in (arb, other):
                assert oracle.to_mpf(bracket.lo) - margin <= truth <= oracle.to_mpf(bracket.hi) + margin, case
                assert bracket.relative_width <= Fraction(1, 10**15), case
            assert arb.overlaps(other), case
            assert oracle.to_mpf(found.upper(Setting(**run), **arguments)) >= truth - margin, case
            checked += 1
    assert checked == draws


FIGURE = [
    ("thm:shuffle", {"alpha": 15}, "0.0245109333448522"),
    ("thm:shuffle", {"alpha": 10}, "0.0154590461519436"),
    ("thm:amp_samp_wo_replacement", {"alpha": 15}, "0.1453135217648530"),
    ("thm:amp_samp_wo_replacement", {"alpha": 10}, "0.067240583479198"),
    ("mironov2019", {"alpha": 15}, "0.121211941449423"),
    ("mironov2019", {"alpha": 10}, "0.080650673188608"),
    ("balle2019", {"alpha": 15, "j0": 0}, "0.0832438157638868"),
    ("balle2019", {"alpha": 15, "j0": 24}, "0.15616272036978"),
]


@pytest.mark.parametrize("engine", [*ENGINES, "both"])
@pytest.mark.parametrize(("label", "arguments", "digits"), FIGURE)
@pytest.mark.smoke
def test_figure_setting_of_sums_and_baselines(figure_run, label, arguments, digits, engine):
    assert statement(label).enclose(figure_run, engine=engine, **arguments).decimals()[0].startswith(digits)


def test_printing_a_value_of_millions_of_digits_takes_no_time():
    run = Setting(n=10**6, b=1, K=1, eta="0.99", lam=1, beta=1, sigma=1, S_g=1)
    found = statement("thm:strconvexsmooth").enclose(run, alpha=2, j0=0)
    for end in found.decimals(20):
        mantissa, exponent = end.split("E")
        assert exponent == "-3999997"
        assert float(mantissa) == pytest.approx(4.949505, rel=1e-15)


def test_negative_values_keep_their_tolerance(figure_run):
    third = Fraction(10**290 + 1, 3 * 10**290)
    found = statement("lem:post_proc").enclose(
        figure_run, alpha=third + 2, t=third, c=third, L=third, R=third, dR=third, rtol="1e-100"
    )
    assert found.hi < 0
    assert found.relative_width <= Fraction(1, 10**100)


def test_extremes_beyond_any_run():
    """10^30 epochs of 10^30 records: the value is far below any double, and still bracketed."""
    run = Setting(n=10**30, b=1, K=10**30, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
    found = statement("thm:strconvexsmooth").enclose(run, alpha=2, j0=0)
    assert found.lo == 0 < found.hi <= Fraction(1, 2**EXPONENT_CAP)
    assert statement("thm:strconvexsmooth").upper(run, alpha=2, j0=0) == math.ulp(0.0)


@pytest.mark.parametrize(("rtol", "width"), [("1e-3", 1e-3), ("1e-50", 1e-50), (1e-200, 1e-200)])
def test_any_tolerance(figure_run, rtol, width):
    found = statement("thm:strconvexsmooth").enclose(figure_run, alpha=15, j0=24, rtol=rtol)
    assert float(found.relative_width) <= width


def test_precision_is_capped():
    """A difference that is exactly zero is never known to a relative tolerance."""
    difference = compile_expression(log(Symbol("t")) - log(Symbol("c")))
    with pytest.raises(PrecisionExhausted, match="larger rtol"):
        enclose(difference, {"t": Fraction(2), "c": Fraction(2)})


@pytest.mark.parametrize("rtol", [0, -1, "nan", "x", [], True])
def test_bad_tolerances_are_refused(figure_run, rtol):
    with pytest.raises(ArgumentError, match="rtol"):
        statement("thm:convexsmooth").enclose(figure_run, alpha=15, j0=0, rtol=rtol)


def test_unknown_engine_is_refused(figure_run):
    with pytest.raises(ArgumentError, match="engine = 'float'"):
        statement("thm:convexsmooth").enclose(figure_run, alpha=15, j0=0, engine="float")


@pytest.mark.smoke
def test_engines_that_disagree_give_no_answer(figure_run, monkeypatch):
    class Wrong(PaddedMpmath):
        def bounds(self, x):
            low, high = super().bounds(x)
            return 2 * low, 2 * high

    monkeypatch.setitem(ENGINES, "mpmath", Wrong)
    with pytest.raises(EnginesDisagree):
        statement("thm:strconvexsmooth").enclose(figure_run, alpha=15, j0=24, engine="both")


class TestExact:
    def test_says_when_the_rational_is_too_large(self, figure_run):
        with pytest.raises(ExactTooLarge, match=r"use \.enclose"):
            statement("thm:strconvexsmooth").exact(figure_run.replace(K=10**9), alpha=15, j0=24)

    def test_says_when_there_is_none(self):
        with pytest.raises(NotRational, match="enclose"):
            exact(compile_expression(exp(Symbol("alpha"))), {"alpha": Fraction(1)})

    def test_agrees_with_a_naive_sum(self, figure_run):
        """ε₀^j by adding up the powers one by one."""
        q = 1 - Fraction(1, 50)
        for j in range(1, 26):
            naive = 15 * Fraction(1, 200) * q ** (2 * (j - 1)) / sum(q ** (2 * s) for s in range(j))
            assert statement("eps0").exact(figure_run, alpha=15, j=j) == naive


class TestWhitelist:
    def test_floats_are_refused(self):
        with pytest.raises(UnsupportedNode, match="Float"):
            compile_expression(Symbol("alpha") * Float("0.5"))

    def test_other_nodes_are_refused(self):
        with pytest.raises(UnsupportedNode, match="sin"):
            compile_expression(sin(Symbol("alpha")))

    @pytest.mark.parametrize("engine", ENGINES)
    def test_rational_powers(self, engine):
        program = compile_expression(Symbol("alpha") ** Symbol("t"))
        root = enclose(program, {"alpha": Fraction(2), "t": Fraction(1, 2)}, engine=engine)
        assert root.lo**2 <= 2 <= root.hi**2
        with pytest.raises(NotRational, match="exponent"):
            exact(program, {"alpha": Fraction(2), "t": Fraction(1, 2)})


fractions = st.fractions(max_denominator=10**9) | st.builds(
    lambda sign, mantissa, exponent: sign * mantissa * Fraction(2) ** exponent,
    st.sampled_from([-1, 1]),
    st.integers(1, 2**80),
    st.integers(-1300, 1100),
)


@pytest.mark.smoke
class TestRounding:
    @given(fractions)
    def test_doubles_bracket_and_are_tight(self, value):
        box = Enclosure(value, value)
        low, high = box.lower(), box.upper()
        assert low == -math.inf or Fraction(low) <= value
        assert high == math.inf or value <= Fraction(high)
        assert high <= math.nextafter(low, math.inf)

    @given(fractions, st.integers(1, 40))
    def test_decimals_bracket(self, value, digits):
        low, high = Enclosure(value, value).decimals(digits)
        assert Fraction(low) <= value <= Fraction(high)

    def test_decimals_have_all_their_digits(self):
        assert Enclosure(Fraction(24, 125), Fraction(5)).decimals(20) == (
            "0.19200000000000000000",
            "5.0000000000000000000",
        )
        assert Enclosure(Fraction(0), Fraction(10) ** 30).decimals(3) == ("0", "1.00E+30")

    def test_an_enclosure_is_ordered(self):
        with pytest.raises(ValueError, match="lo <= hi"):
            Enclosure(Fraction(1), Fraction(0))
