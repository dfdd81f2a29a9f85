"""`BinomialTail`: both engines, exact sums, doubles, directions."""

from __future__ import annotations

from fractions import Fraction
from math import comb, floor

import pytest
from sympy import Integer, Rational

from hsdp_symbolic.evaluate.enclosure import Enclosure, enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.binomial_tail import BinomialTail


def _found(count: int, rate: Fraction, most: Fraction, engine: str = "arb", rtol: str = "1e-12") -> Enclosure:
    node = BinomialTail(Integer(count), Rational(*rate.as_integer_ratio()), Rational(*most.as_integer_ratio()))
    return enclose(compile_expression(node), {}, rtol=rtol, engine=engine)


def _exactly(count: int, rate: Fraction, most: Fraction) -> Fraction:
    hit, whole = rate.as_integer_ratio()
    first = max(0, floor(most) + 1)
    ways = sum(comb(count, k) * hit**k * (whole - hit) ** (count - k) for k in range(first, count + 1))
    return Fraction(ways, whole**count)


@pytest.mark.parametrize("engine", ["arb", "mpmath"])
@pytest.mark.parametrize("count", [1, 2, 7, 51])
@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2), Fraction(9, 10)])
def test_small_counts_are_exact_sums(engine: str, count: int, rate: Fraction) -> None:
    for most in (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(count, 3), Fraction(count - 1), Fraction(count)):
        true, found = _exactly(count, rate, most), _found(count, rate, most, engine)
        assert found.lo <= true <= found.hi


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(2, 5)])
def test_large_counts_are_exact_sums(rate: Fraction) -> None:
    count = 2500
    for most in (count * rate / 2, count * rate, 3 * count * rate / 2):
        true, found = _exactly(count, rate, most), _found(count, rate, most, rtol="1e-6")
        assert found.lo <= true <= found.hi


def test_far_tails_are_not_0() -> None:
    found = _found(60_001, Fraction(1, 100), Fraction(13_200), rtol="1e-6")
    assert 0 < found.lo <= found.hi < Fraction(1, 10**1000)


def test_doubles_agree() -> None:
    for count, rate, most in ((51, 0.04, 5.5), (60_001, 0.01, 700.0), (10, 0.5, 2.0)):
        found = _found(count, Fraction(rate), Fraction(most), rtol="1e-9")
        assert BinomialTail.array(count, rate, most) == pytest.approx(float(found.hi), rel=1e-7)


def test_directions() -> None:
    here = _found(50, Fraction(1, 10), Fraction(9))
    assert _found(51, Fraction(1, 10), Fraction(9)).lo > here.hi
    assert _found(50, Fraction(11, 100), Fraction(9)).lo > here.hi
    assert _found(50, Fraction(1, 10), Fraction(10)).hi < here.lo
