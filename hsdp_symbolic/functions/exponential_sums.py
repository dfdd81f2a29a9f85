"""Sums of e^body over very many terms, in a time that grows with the logarithm of their number (arb only).

The body is completely monotone in the index: a nonnegative mixture of decaying exponentials, such as
A/(1 + x + … + x^(i−1)) with x ≥ 1. Then so is f = e^body, and |f(z)| ≤ f(Re z) where Re z > 0: by Cauchy's estimate the
Taylor polynomial of f at c with d terms misses f(c + t) by at most f(c − R)·s^d/(1 − s), s = |t|/R, for |t| < R < c.
Blocks of terms are summed by such polynomials, with s ≤ 1/4; they grow as they move away from 0.

A body with a function of two forms (`Pooled`) is two such functions, one before the index at which the form changes and
one from there on; each range is summed by itself. The second function is never above the body, so that the estimate
above, taken from the body at c − R, covers both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from ..arithmetic.engines import SeriesArb, Unbounded
from .interface import Balls, Pointwise, ProgramArgument, Values

DIRECT_TERMS = 32
"""Terms of a mean that are added one by one before anything cleverer is tried."""
MOST_ONE_BY_ONE = 100
"""Stretches of DIRECT_TERMS terms that may resist being summed as a block."""


def sum_of_exponentials(over: Balls, body: ProgramArgument, values: Values, index: str, first: int, last: int) -> Any:
    """Σ e^body over index = first, …, last, for first > DIRECT_TERMS, by arb; close to its working precision."""
    total_of = partial(_sum_of_range, over, body, values, index)
    if not any(issubclass(function, Pointwise) and function.has_two_forms for function in body.functions()):
        return total_of(first, last, switched=False)
    watching, engine = over.watching(), over.engine
    at = body.prepare(watching, values, index)

    def first_where(reached: Callable[[Any], bool]) -> int:
        low, high = first, last + 1
        while low < high:
            middle = (low + high) // 2
            at(Fraction(middle))
            low, high = (low, middle) if reached(watching.switch) else (middle + 1, high)
        return low

    # What decides between the forms rises with the index; terms at which it cannot be told from 1 are added one by one.
    near, beyond = first_where(lambda switch: not switch < 1), first_where(lambda switch: switch >= 1)
    if beyond - near > MOST_ONE_BY_ONE:
        raise Unbounded
    total = engine.add(total_of(first, near - 1, switched=False), total_of(beyond, last, switched=True))
    for place in range(near, beyond):
        total = engine.add(total, _exponential(over, at(Fraction(place))))
    return total


def _sum_of_range(
    over: Balls, body: ProgramArgument, values: Values, index: str, first: int, last: int, *, switched: bool
) -> Any:
    """Σ e^body over a range in which a function of two forms keeps one of them.

    A block whose polynomial loses too many digits to cancellation is halved. Once the body has sunk below the
    precision, each further term is known to lie between 1 and a little more.
    """
    engine: Any = over.engine
    machine = SeriesArb(engine.precision, engine.precision // 2 + 16)
    algebras = over.roughly(), over.series(machine, switched=switched)
    plain, series = (body.prepare(algebra, values, index) for algebra in algebras)

    def term(place: int) -> Any:
        return _exponential(over, plain(Fraction(place)))

    with machine.working():
        return _Blocks(engine, machine, term, series).sum(first, last)


class _Blocks:
    """Σ `term` from one place to another, by blocks; `series` is the logarithm of the term as a series in the place."""

    def __init__(
        self, engine: Any, machine: SeriesArb, term: Callable[[int], Any], series: Callable[[Any], Any]
    ) -> None:
        self._engine, self._machine, self._term, self._series = engine, machine, term, series
        self._tolerance = engine.ball(engine.resolution * 2**24)
        self._either_sign = engine.interval(Fraction(-1), Fraction(1))
        self._nothing_left = engine.ball(1 + engine.resolution * 2**24)
        self._powers = _PowerSums(engine, machine.order)

    def sum(self, first: int, last: int) -> Any:
        engine, start, length, one_by_one = self._engine, first, last, 0
        total = engine.ball(Fraction(0))
        while start <= last:
            here = self._term(start)
            if here < self._nothing_left:
                rest = engine.mul(engine.ball(Fraction(last - start + 1)), engine.union(here, engine.ball(Fraction(1))))
                return engine.add(total, rest)
            length = min(2 * length, 2 * ((start - 1) // 3) + 1, last - start + 1)
            while length >= DIRECT_TERMS:
                found = self._block(start, length, here)
                if found is not None:
                    total = engine.add(total, found)
                    break
                length //= 2
            else:
                one_by_one += 1
                if one_by_one > MOST_ONE_BY_ONE:
                    raise Unbounded  # cancellation everywhere: a higher precision will do
                length = min(DIRECT_TERMS, last - start + 1)
                for place in range(start, start + length):
                    total = engine.add(total, self._term(place))
            start += length
        return total

    def _block(self, start: int, length: int, here: Any) -> Any:
        """The sum of `length` terms from `start` on, or None if too many digits cancel."""
        engine, machine, half = self._engine, self._machine, Fraction(length - 1, 2)
        centre = machine.series([engine.ball(start + half), engine.ball(Fraction(1))])
        coefficients = machine.coefficients(machine.exp(self._series(centre)))
        found = self._powers.sum(coefficients, length)
        slack = engine.add(engine.mul(self._tolerance, here), engine.mul(engine.ball(Fraction(64)), here.rad()))
        if not found.rad() < engine.mul(engine.ball(Fraction(length)), slack):
            return None
        farthest = self._term(int(start - 3 * half))  # f(c − R) with R = 4·half; the index is at least 1
        missed = engine.mul(farthest, engine.ball(Fraction(length, 3 * 4 ** (machine.order - 1))))
        return engine.add(found, engine.mul(missed, self._either_sign))


def _exponential(over: Balls, value: Any) -> Any:
    return over.engine.exp(over.ball(value))


class _PowerSums:
    """Σ_p a_p·Σ_t t^p over t = −h, 1 − h, …, h, from Σ_t e^(tD) = sinh(length·D/2)/sinh(D/2), length = 2h + 1.

    D/2/sinh(D/2) = Σ_k (2 − 4^k)·B_2k/(2k)!·(D/2)^2k, with Bernoulli's numbers; odd powers add up to 0. Polynomials are
    in D², and flint never cuts those (as it does series).
    """

    def __init__(self, engine: Any, order: int) -> None:
        import flint

        self._engine, self._polynomial = engine, flint.arb_poly
        below, *others = (list(map(engine.rational, column)) for column in _constants((order + 1) // 2))
        self._below, (self._factorials, self._inverses) = flint.arb_poly(below), others

    def sum(self, coefficients: list[Any], length: int) -> Any:
        add, mul, above = self._engine.add, self._engine.mul, []
        power, square = (self._engine.ball(x) for x in (Fraction(length), Fraction(length**2, 4)))
        for inverse in self._inverses:
            above.append(mul(power, inverse))  # sinh(length·D/2)/(D/2) = Σ_k length^(2k+1)/4^k·D^2k/(2k+1)!
            power = mul(power, square)
        product = mul(self._polynomial(above), self._below)
        total = self._engine.ball(Fraction(0))
        for k, (coefficient, factorial) in enumerate(zip(coefficients[::2], self._factorials, strict=True)):
            total = add(total, mul(coefficient, mul(product[k], factorial)))
        return total


@cache
def _constants(count: int) -> tuple[list[Any], list[Any], list[Any]]:
    """(2 − 4^k)·B_2k/(4^k·(2k)!), (2k)! and 1/(2k + 1)! for k < count, as flint's rationals."""
    import flint

    even, odd = ([flint.fmpq(math.factorial(2 * k + shift)) for k in range(count)] for shift in (0, 1))
    below = [flint.fmpq.bernoulli(2 * k) * flint.fmpq(2 - 4**k, 4**k) / even[k] for k in range(count)]
    return below, even, [1 / each for each in odd]
