"""Sums of e^body over very many terms, in a time that grows with the logarithm of their number (arb only).

The body is completely monotone in the index: a nonnegative mixture of decaying exponentials, such as
A/(1 + x + … + x^(i−1)) with x ≥ 1. Then so is f = e^body, and |f(z)| ≤ f(Re z) where Re z > 0: by Cauchy's estimate the
Taylor polynomial of f at c with d terms misses f(c + t) by at most f(c − R)·s^d/(1 − s), s = |t|/R, for |t| < R < c.
Blocks of terms are summed by such polynomials, with s ≤ 1/4; they grow as they move away from 0.

A body with pooled edges (`nodes.CyclicShifts`) is two such functions, one before the index at which the edges pool and
one from there on; each range is summed by itself. The second function is never above the body, so that the estimate
above, taken from the body at c − R, covers both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

from .engines import Unbounded
from .intervals import DIRECT_TERMS, Intervals, whole
from .program import Program

MOST_ONE_BY_ONE = 100
"""Stretches of DIRECT_TERMS terms that may resist being summed as a block."""


class Watching(Intervals):
    """Intervals that keep the last slope of a first edge they saw."""

    slope: Any = None

    def pooled(self, slope: Any, length: Any) -> Any:
        self.slope = self._ball(slope)
        return super().pooled(slope, length)


class Series(Intervals):
    """Power series in the index around a centre; what does not depend on the index stays a number."""

    def __init__(self, engine: Any, max_bits: int, *, convex: bool) -> None:
        super().__init__(engine, max_bits)
        self._convex = convex

    def pooled(self, slope: Any, length: Any) -> Any:
        rise = self.mul(slope, length)
        if self._convex:
            return self.add(Fraction(1), self.mul(slope, rise))
        chord = self.add(Fraction(1), rise)
        return self.mul(chord, chord, self.power(self.add(Fraction(1), length), Fraction(-1)))

    def power(self, base: Any, exponent: Any) -> Any:
        if hasattr(exponent, "coeffs"):
            return (exponent * self._ball(self.log(base))).exp()
        if isinstance(base, Fraction) or not hasattr(base, "coeffs"):
            return super().power(base, exponent)
        k, result = whole(exponent), base
        for _ in range(abs(k) - 1):
            result = result * base
        if k < 0:
            if result.coeffs()[0].contains(0):
                raise Unbounded
            return 1 / result
        return result

    def geometric(self, x: Any, k: Any) -> Any:
        if isinstance(k, Fraction):
            return super().geometric(x, k)
        if isinstance(x, Fraction) and x == 1:
            return k
        below = self._engine.inverse(self._ball(self.add(x, Fraction(-1))))
        return ((k * self.log(x)).exp() - 1) * below


def sum_of_exponentials(
    engine: Any, body: Program, values: Mapping[str, Any], index: str, first: int, last: int
) -> Any:
    """Σ e^body over index = first, …, last, for first > DIRECT_TERMS, by arb; close to its working precision."""
    total_of = partial(_sum_of_range, engine, body, values, index)
    if not any(operation == "pooled" for operation, _, _ in body.code):
        return total_of(first, last, convex=True)
    watching = Watching(engine, max_bits=64)
    at = body.prepare(watching, values, index)

    def first_where(reached: Callable[[Any], bool]) -> int:
        low, high = first, last + 1
        while low < high:
            middle = (low + high) // 2
            at(Fraction(middle))
            low, high = (low, middle) if reached(watching.slope) else (middle + 1, high)
        return low

    # The slope rises with the index; terms at which it cannot be told from 1 are added one by one.
    kink, pools = first_where(lambda slope: not slope < 1), first_where(lambda slope: slope >= 1)
    if pools - kink > MOST_ONE_BY_ONE:
        raise Unbounded
    between = sum((_exponential(engine, at(Fraction(place))) for place in range(kink, pools)), engine.ball(Fraction(0)))
    return total_of(first, kink - 1, convex=True) + between + total_of(pools, last, convex=False)


def _sum_of_range(
    engine: Any, body: Program, values: Mapping[str, Any], index: str, first: int, last: int, *, convex: bool
) -> Any:
    """Σ e^body over a range in which edges are `convex` as they are, or all pool.

    A block whose polynomial loses too many digits to cancellation is halved. Where the body has sunk below the
    precision, the rest is known to lie between 1 and a little more.
    """
    import flint

    order = engine.precision // 2 + 16
    algebras = Intervals(engine, max_bits=64), Series(engine, max_bits=64, convex=convex)
    plain, series = (body.prepare(algebra, values, index) for algebra in algebras)
    total, start, length, one_by_one = flint.arb(0), first, last, 0
    tolerance = engine.ball(engine.resolution * 2**24)

    def term(place: int) -> Any:
        return _exponential(engine, plain(Fraction(place)))

    with _series_length(flint.ctx, order):
        single = 1 / _odd_part(flint.arb(1) / 2, order)
        while start <= last:
            here = term(start)
            if here < 1 + tolerance:
                return total + (last - start + 1) * here.union(flint.arb(1))
            length = min(2 * length, 2 * ((start - 1) // 3) + 1, last - start + 1)
            while length >= DIRECT_TERMS:
                half = Fraction(length - 1, 2)
                centre = flint.arb_series([engine.ball(start + half), engine.ball(half)], order)  # t in units of `half`
                block = _sum_of_polynomial(series(centre).exp().coeffs(), length, order, single)
                if block.rad() < length * (tolerance * here + 64 * here.rad()):
                    farthest = term(int(start - 3 * half))  # f(c − R) with R = 4·half; the index is at least 1
                    missed = farthest * length * flint.arb(4) ** (1 - order) / 3
                    total += block + missed.union(-missed)
                    break
                length //= 2
            else:
                one_by_one += 1
                if one_by_one > MOST_ONE_BY_ONE:
                    raise Unbounded  # cancellation everywhere: a higher precision will do
                length = min(DIRECT_TERMS, last - start + 1)
                total += sum((term(start + k) for k in range(length)), flint.arb(0))
            start += length
    return total


def _exponential(engine: Any, value: Any) -> Any:
    return engine.exp(engine.ball(value) if isinstance(value, Fraction) else value)


def _odd_part(scale: Any, order: int) -> Any:
    """2·sinh(scale·D)/D as a series in D."""
    import flint

    zero, grown = flint.arb(0), flint.arb_series([0, scale], order + 1).exp().coeffs()
    return flint.arb_series([zero if p % 2 else 2 * c for p, c in enumerate(grown[1:])], order)


def _sum_of_polynomial(coefficients: list[Any], length: int, order: int, single: Any) -> Any:
    """Σ_p a_p·Σ_t (t/h)^p over the `length` numbers t = −h, …, h, with h = (length−1)/2.

    Σ_t e^(tD) = sinh(length·D/2)/sinh(D/2) is the generating function of the sums of t^p; `single` is D/(2·sinh(D/2)).
    """
    import flint

    inner = (_odd_part(flint.arb(length) / 2, order) * single).coeffs()
    total, unit, scale = flint.arb(0), (flint.arb(2) / (length - 1)) ** 2, flint.arb(1)
    for p, (a, s) in enumerate(zip(coefficients[::2], inner[::2], strict=False)):
        total += a * s * scale
        scale *= unit * ((2 * p + 1) * (2 * p + 2))  # (2p)!/h^(2p)
    return total


@contextmanager
def _series_length(context: Any, order: int) -> Iterator[None]:
    """flint's global truncation order, put back afterwards."""
    before = context.cap
    context.cap = order + 1
    try:
        yield
    finally:
        context.cap = before
