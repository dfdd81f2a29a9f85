"""Rigorous interval engines behind one small protocol: arb (python-flint) and padded mpmath.

Guarantee of every operation: the true result for any points of the operands lies in the result.
Neither engine touches the user's precision settings: arb's is restored, mpmath's functions are called with an explicit
precision.

Threads: flint keeps one precision for the whole process, and mpmath one cache of π, e and log 2, which threads that
compute at the same time can corrupt. So our threads take turns at arb (`TURN`), every operation of arb is repeated if
other code changed the precision meanwhile, and mpmath's elementary functions are called in a copy of our own.
"""

from __future__ import annotations

import importlib.util
import operator
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from threading import RLock
from types import ModuleType
from typing import Any, Protocol

from ..errors import SeriesShortened, ValueTooLarge
from .doubles import require_nearest
from .erfc import Bracket, alternating, ascending

EXPONENT_CAP = 2**25
"""Endpoints below 2^−EXPONENT_CAP are widened to 0 or that power: exact fractions of that size fill memory."""
_LARGE = 20
"""Beyond x = 2^_LARGE, erfc(x) ≤ e^(−x²) is less than 2^−2^(2·_LARGE), and is not computed."""
MOST_TRIES = 10_000
"""How often one operation is tried again because another thread changed flint's settings meanwhile."""

TURN = RLock()
"""Held by the thread that computes with arb, or looks up a constant of mpmath."""
# After a fork the child must not find the lock held by a thread it does not have, nor flint's precision half changed.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=TURN.acquire, after_in_parent=TURN.release, after_in_child=TURN.release)


class Unbounded(ArithmeticError):
    """Nothing can be said at this precision; a higher one may do."""


class Engine(Protocol):
    """Interval arithmetic at one working precision. `Any` is the engine's own interval type."""

    name: str
    precision: int
    resolution: Fraction
    """The relative size of a rounding error at the working precision."""
    has_series: bool
    """Whether there are power series of its intervals, by which `functions.exponential_sums` sums very many terms."""

    def working(self) -> Any:
        """A context in which the engine computes at its precision."""

    def ball(self, value: Fraction) -> Any: ...
    def interval(self, low: Fraction, high: Fraction) -> Any: ...
    def pi(self) -> Any: ...
    def add(self, x: Any, y: Any) -> Any: ...
    def mul(self, x: Any, y: Any) -> Any: ...
    def inverse(self, x: Any) -> Any: ...
    def power(self, x: Any, k: int) -> Any:
        """x^k for k ≥ 1."""

    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def sqrt(self, x: Any) -> Any:
        """√x; unbounded if x may be negative."""

    def erfc(self, x: Any) -> Any:
        """The complementary error function, 2/√π times the integral of e^(−t²) from x on."""

    def recentre(self, x: Any) -> tuple[Any, Fraction]:
        """A point interval and a radius that together enclose x."""

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        """Exact endpoints enclosing x, or None if x is unbounded."""


class Arb:
    """FLINT's ball arithmetic: published error analysis, the default.

    A ball holds the truth whatever the precision it was computed at. Operations during which another thread changed the
    precision are repeated only to keep balls as narrow as they would be without that thread.
    """

    name = "arb"
    has_series = True

    def __init__(self, precision: int) -> None:
        import flint

        self._flint, self._context, self.precision = flint, flint.ctx, precision
        self.resolution = Fraction(1, 1 << precision)
        self._theirs = precision
        """The precision that other code last set."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """Compute at this precision, one thread at a time; afterwards flint has the precision that other code set.

        Refused where doubles do not round to nearest: flint multiplies long integers by means of doubles.
        """
        require_nearest()
        with TURN:
            outer, self._theirs = self._theirs, self._context.prec
            self._context.prec = self.precision
            try:
                yield
            finally:
                if self._context.prec == self.precision:  # otherwise other code has set it meanwhile
                    self._context.prec = self._theirs
                self._theirs = outer
        require_nearest()

    def again(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result at this precision; or, if other threads keep changing it, at whatever precision they set."""
        for _ in range(MOST_TRIES):
            if (theirs := self._context.prec) != self.precision:
                self._theirs, self._context.prec = theirs, self.precision
            found = operation(*operands)
            if self._context.prec == self.precision:
                break
        return found

    def ball(self, value: Fraction) -> Any:
        return self.rational(self._flint.fmpq(value.numerator, value.denominator))

    def rational(self, value: Any) -> Any:
        """The ball of one of flint's own rationals."""
        found = self._flint.arb(value)
        return found if self._context.prec == self.precision else self.again(self._flint.arb, value)

    def interval(self, low: Fraction, high: Fraction) -> Any:
        return self.union(self.ball(low), self.ball(high))

    def union(self, x: Any, y: Any) -> Any:
        """The least ball around both."""
        found = x.union(y)
        return found if self._context.prec == self.precision else self.again(x.union, y)

    def pi(self) -> Any:
        return self.again(self._flint.arb.pi)

    def recentre(self, x: Any) -> tuple[Any, Fraction]:
        if not x.is_finite():
            raise Unbounded
        man, exp = x.rad().man_exp()
        return x.mid(), dyadic(int(man), int(exp), up=True)

    def add(self, x: Any, y: Any) -> Any:
        found = x + y
        return found if self._context.prec == self.precision else self.again(operator.add, x, y)

    def mul(self, x: Any, y: Any) -> Any:
        found = x * y
        return found if self._context.prec == self.precision else self.again(operator.mul, x, y)

    def inverse(self, x: Any) -> Any:
        found = 1 / x
        return found if self._context.prec == self.precision else self.again(operator.truediv, 1, x)

    def power(self, x: Any, k: int) -> Any:
        exponent = self._flint.fmpz(k)
        found = x**exponent
        return found if self._context.prec == self.precision else self.again(operator.pow, x, exponent)

    def exp(self, x: Any) -> Any:
        found = x.exp()
        return found if self._context.prec == self.precision else self.again(x.exp)

    def log(self, x: Any) -> Any:
        found = x.log()
        return found if self._context.prec == self.precision else self.again(x.log)

    def sqrt(self, x: Any) -> Any:
        found = x.sqrt()
        return found if self._context.prec == self.precision else self.again(x.sqrt)

    def erfc(self, x: Any) -> Any:
        found = x.erfc()
        return found if self._context.prec == self.precision else self.again(x.erfc)

    def ends(self, x: Any) -> tuple[Any, Any]:
        """The ends of a ball, rounded outwards to this precision: flint's own numbers."""
        low, high = x.lower(), x.upper()
        if self._context.prec != self.precision:
            low, high = self.again(x.lower), self.again(x.upper)
        return low, high

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        if not x.is_finite():
            return None
        (low_man, low_exp), (high_man, high_exp) = (end.man_exp() for end in self.ends(x))
        return dyadic(int(low_man), int(low_exp), up=False), dyadic(int(high_man), int(high_exp), up=True)


class SeriesArb(Arb):
    """Power series besides balls: every result has its first `order` coefficients, or there is an error.

    flint truncates series to one length for the whole process. A series knows how many of its coefficients are right,
    so a result that another thread cut short is noticed, and computed again.
    """

    def __init__(self, precision: int, order: int) -> None:
        super().__init__(precision)
        self.order = order

    @contextmanager
    def working(self) -> Iterator[None]:
        with super().working():
            found, self._context.cap = self._context.cap, self.order
            try:
                yield
            finally:
                if self._context.cap == self.order:
                    self._context.cap = found

    def again(self, operation: Callable[..., Any], *operands: Any) -> Any:
        for _ in range(MOST_TRIES):
            found = super().again(operation, *operands)
            if self._is_whole(found):
                return found
            self._context.cap = self.order
        raise SeriesShortened(self.order)

    def _is_whole(self, x: Any) -> bool:
        return not isinstance(x, self._flint.arb_series) or x.prec >= self.order

    def series(self, coefficients: list[Any]) -> Any:
        """The series with these coefficients, and 0 beyond."""
        return self._flint.arb_series(coefficients, self.order)

    def coefficients(self, x: Any) -> list[Any]:
        """The first `order` coefficients, zeros included; an error if the series has fewer that are right."""
        if not self._is_whole(x):
            raise SeriesShortened(self.order)
        found: list[Any] = x.coeffs()
        return found + [self._flint.arb(0)] * (self.order - len(found))

    def add(self, x: Any, y: Any) -> Any:
        return self.again(operator.add, x, y)

    def mul(self, x: Any, y: Any) -> Any:
        return self.again(operator.mul, x, y)

    def inverse(self, x: Any) -> Any:
        """1/x; if x is a series, its first coefficient must not be 0."""
        return self.again(x.inv) if isinstance(x, self._flint.arb_series) else super().inverse(x)

    def exp(self, x: Any) -> Any:
        return self.again(x.exp)


@cache
def _elementary() -> ModuleType:
    """A copy of mpmath's elementary functions, with a cache of constants of its own.

    mpmath caches π, e and log 2 together with the number of their bits. Two threads that need more bits at the same
    time can store the digits of one with the length of the other, and all later results are wrong. No other code uses
    this copy, and our threads take turns at it.
    """
    from mpmath.libmp import libelefun

    spec = importlib.util.spec_from_file_location("mpmath.libmp._own_elementary", libelefun.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PaddedMpmath:
    """mpmath's interval functions, made sound: the independent second opinion.

    Every precision is passed on explicitly, so that no global setting matters. `exp` and `log` of mpmath 1.3 sometimes
    exclude the true value by up to 6e-4 ulp, so their results are widened by 8 ulp; integer powers are built from
    interval products.
    """

    name = "mpmath"
    has_series = False

    def __init__(self, precision: int) -> None:
        from mpmath import libmp

        self._lib, self._own, self.precision = libmp, _elementary(), precision
        self.resolution = Fraction(1, 1 << precision)
        self._one = (libmp.fone, libmp.fone)
        margin = libmp.mpf_shift(libmp.fone, 3 - precision)
        self._pad = (
            libmp.mpf_sub(libmp.fone, margin, precision, "f"),
            libmp.mpf_add(libmp.fone, margin, precision, "c"),
        )

    @contextmanager
    def working(self) -> Iterator[None]:
        require_nearest()
        yield
        require_nearest()

    def ball(self, value: Fraction) -> Any:
        return self.interval(value, value)

    def _rounded(self, function: Callable[..., Any], ends: tuple[Any, ...]) -> Any:
        """An increasing function of mpmath at both ends, rounded outwards and widened."""
        with TURN:
            found = tuple(function(end, self.precision, way) for end, way in zip(ends, "fc", strict=True))
        return self.mul(found, self._pad)

    def interval(self, low: Fraction, high: Fraction) -> Any:
        rational = self._lib.from_rational
        return tuple(
            rational(end.numerator, end.denominator, self.precision, way) for end, way in ((low, "f"), (high, "c"))
        )

    def pi(self) -> Any:
        with TURN:
            return tuple(self._own.mpf_pi(self.precision, way) for way in "fc")

    def recentre(self, x: Any) -> tuple[Any, Fraction]:
        bounds = self.bounds(x)
        if bounds is None:
            raise Unbounded
        return (x[0], x[0]), bounds[1] - bounds[0]

    def add(self, x: Any, y: Any) -> Any:
        return self._lib.libmpi.mpi_add(x, y, self.precision)

    def mul(self, x: Any, y: Any) -> Any:
        return self._lib.libmpi.mpi_mul(x, y, self.precision)

    def inverse(self, x: Any) -> Any:
        return self._lib.libmpi.mpi_div(self._one, x, self.precision)

    def power(self, x: Any, k: int) -> Any:
        result = self._one
        for bit in bin(k)[2:]:
            result = self.mul(result, result)
            if bit == "1":
                result = self.mul(result, x)
        return result

    def exp(self, x: Any) -> Any:
        return self._rounded(self._own.mpf_exp, x)

    def log(self, x: Any) -> Any:
        if not self._lib.mpf_gt(x[0], self._lib.fzero):
            return self._lib.fninf, self._lib.finf
        return self._rounded(self._own.mpf_log, x)

    def sqrt(self, x: Any) -> Any:
        if self._lib.mpf_lt(x[0], self._lib.fzero):
            return self._lib.fninf, self._lib.finf
        return self._lib.libmpi.mpi_sqrt(x, self.precision)

    def erfc(self, x: Any) -> Any:
        """By sums of our own (`arithmetic.erfc`): mpmath's function makes no promise about the last digits."""
        low, high = x
        if low in (self._lib.fninf, self._lib.fnan) or high in (self._lib.finf, self._lib.fnan):
            return self._lib.fzero, self._lib.from_int(2)
        return self._erfc_at(high)[0], self._erfc_at(low)[1]

    def _erfc_at(self, x: Any) -> Any:
        """Of one number."""
        lib = self._lib
        sign, mantissa, exponent, length = x
        if not mantissa:
            return self._one
        if sign:
            above = self._erfc_at((0, mantissa, exponent, length))
            return self.add((lib.from_int(2),) * 2, lib.libmpi.mpi_neg(above))
        if exponent + length > _LARGE:  # and x ≥ 2^(exponent + length − 1)
            return lib.fzero, lib.mpf_shift(lib.fone, -(1 << 2 * _LARGE))
        square = lib.mpf_mul(x, x)
        t = max(0, 2 * exponent + 2 * length + 1)  # 2x² < 2^t
        bits = self.precision + 16 + t
        if t and (ratio := alternating(_fixed(lib.mpf_shift(square, 1), bits), bits)) is not None:
            return self._times_density(x, square, ratio, bits, self.precision + 8, from_above=True)
        # 1 − erf(x) loses the digits by which e^(−x²) is less than 1.
        bits += (lib.to_int(square) + 1) * 3 // 2
        total = ascending(_fixed(lib.mpf_shift(square, 1), bits), bits)
        below = self._times_density(x, square, total, bits, bits, from_above=False)
        return self.add(self._one, lib.libmpi.mpi_neg(below))

    def _times_density(
        self, x: Any, square: Any, factor: Bracket, bits: int, precision: int, *, from_above: bool
    ) -> Any:
        """factor·e^(−x²)/(x√π), or factor·2x·e^(−x²)/√π."""
        lib, finer = self._lib, PaddedMpmath(precision)
        scaled = tuple(lib.from_man_exp(end, -bits, precision, way) for end, way in zip(factor, "fc", strict=True))
        falling = finer.exp((lib.mpf_neg(square),) * 2)
        linear = finer.inverse((x, x)) if from_above else (lib.mpf_shift(x, 1),) * 2
        return finer.mul(finer.mul(scaled, falling), finer.mul(linear, finer.inverse(finer.sqrt(finer.pi()))))

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        special = (self._lib.finf, self._lib.fninf, self._lib.fnan)
        if x[0] in special or x[1] in special:
            return None
        (low, low_exp), (high, high_exp) = ((-int(m) if s else int(m), int(e)) for s, m, e, _ in x)
        return dyadic(low, low_exp, up=False), dyadic(high, high_exp, up=True)


def _fixed(x: Any, bits: int) -> Bracket:
    """A positive number of mpmath in units of 2^−bits, rounded down and up."""
    _, mantissa, exponent, _ = x
    shift = exponent + bits
    if shift >= 0:
        return mantissa << shift, mantissa << shift
    return mantissa >> -shift, -(-mantissa >> -shift)


ENGINES: dict[str, type[Arb] | type[PaddedMpmath]] = {Arb.name: Arb, PaddedMpmath.name: PaddedMpmath}


def dyadic(mantissa: int, exponent: int, *, up: bool) -> Fraction:
    """mantissa·2^exponent; where its size is below 2^−EXPONENT_CAP, rounded upwards (or downwards) to that or to 0.

    >>> dyadic(3, -2, up=True)
    Fraction(3, 4)
    """
    if exponent >= 0:
        if mantissa and exponent > EXPONENT_CAP:
            raise ValueTooLarge(exponent)
        return Fraction(mantissa << exponent)
    if mantissa and mantissa.bit_length() + exponent < -EXPONENT_CAP:
        outward = up == (mantissa > 0)
        return Fraction((1 if up else -1) if outward else 0, 1 << EXPONENT_CAP)
    return Fraction(mantissa, 1 << -exponent)
