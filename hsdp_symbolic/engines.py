"""Rigorous interval engines behind one small protocol: arb (python-flint) and padded mpmath.

Guarantee of every operation: the true result for any points of the operands lies in the result.
Neither engine touches the user's precision settings: arb's is restored, mpmath's interval functions are
called with an explicit precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol

from .errors import ValueTooLarge

EXPONENT_CAP = 2**25
"""Endpoints below 2^−EXPONENT_CAP are widened to 0 and that power: an exact fraction there fills memory."""


class Unbounded(ArithmeticError):
    """Nothing can be said at this precision; a higher one may do."""


class Engine(Protocol):
    """Interval arithmetic at one working precision. `Any` is the engine's own interval type."""

    name: str
    precision: int
    resolution: Fraction
    """The relative size of a rounding error at the working precision."""
    has_series: bool
    """Whether the engine can compute with power series, so that `means` can sum very many terms."""

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
    def recentre(self, x: Any) -> tuple[Any, Fraction]:
        """A point interval and a radius that together enclose x."""

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        """Exact endpoints enclosing x, or None if x is unbounded."""


class Arb:
    """FLINT's ball arithmetic: published error analysis, the default."""

    name = "arb"
    has_series = True

    def __init__(self, precision: int) -> None:
        import flint

        self._flint, self.precision = flint, precision
        self.resolution = Fraction(1, 1 << precision)

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._flint.ctx.workprec(self.precision):
            yield

    def ball(self, value: Fraction) -> Any:
        return self._flint.arb(self._flint.fmpq(value.numerator, value.denominator))

    def interval(self, low: Fraction, high: Fraction) -> Any:
        return self.ball(low).union(self.ball(high))

    def pi(self) -> Any:
        return self._flint.arb.pi()

    def recentre(self, x: Any) -> tuple[Any, Fraction]:
        if not x.is_finite():
            raise Unbounded
        man, exp = x.rad().man_exp()
        return x.mid(), dyadic(int(man), int(exp), up=True)

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def mul(self, x: Any, y: Any) -> Any:
        return x * y

    def inverse(self, x: Any) -> Any:
        return 1 / x

    def power(self, x: Any, k: int) -> Any:
        return x ** self._flint.fmpz(k)

    def exp(self, x: Any) -> Any:
        return x.exp()

    def log(self, x: Any) -> Any:
        return x.log()

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        if not x.is_finite():
            return None
        low, high = ((int(man), int(exp)) for man, exp in (x.lower().man_exp(), x.upper().man_exp()))
        return dyadic(*low, up=False), dyadic(*high, up=True)


class PaddedMpmath:
    """mpmath's interval functions, made sound: the independent second opinion.

    `exp` and `log` of mpmath 1.3 sometimes exclude the true value by up to 6e-4 ulp, so their results are
    widened by 8 ulp; integer powers are built from interval products.
    """

    name = "mpmath"
    has_series = False

    def __init__(self, precision: int) -> None:
        from mpmath import libmp

        self._lib, self.precision = libmp, precision
        self.resolution = Fraction(1, 1 << precision)
        self._one = (libmp.fone, libmp.fone)
        margin = libmp.mpf_shift(libmp.fone, 3 - precision)
        self._pad = (
            libmp.mpf_sub(libmp.fone, margin, precision, "f"),
            libmp.mpf_add(libmp.fone, margin, precision, "c"),
        )

    @contextmanager
    def working(self) -> Iterator[None]:
        yield

    def ball(self, value: Fraction) -> Any:
        return self.interval(value, value)

    def interval(self, low: Fraction, high: Fraction) -> Any:
        rational = self._lib.from_rational
        return tuple(
            rational(end.numerator, end.denominator, self.precision, way) for end, way in ((low, "f"), (high, "c"))
        )

    def pi(self) -> Any:
        return tuple(self._lib.mpf_pi(self.precision, way) for way in "fc")

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
        return self.mul(self._lib.libmpi.mpi_exp(x, self.precision), self._pad)

    def log(self, x: Any) -> Any:
        if not self._lib.mpf_gt(x[0], self._lib.fzero):
            return self._lib.fninf, self._lib.finf
        return self.mul(self._lib.libmpi.mpi_log(x, self.precision), self._pad)

    def bounds(self, x: Any) -> tuple[Fraction, Fraction] | None:
        special = (self._lib.finf, self._lib.fninf, self._lib.fnan)
        if x[0] in special or x[1] in special:
            return None
        (low, low_exp), (high, high_exp) = ((-int(m) if s else int(m), int(e)) for s, m, e, _ in x)
        return dyadic(low, low_exp, up=False), dyadic(high, high_exp, up=True)


ENGINES: dict[str, type[Arb] | type[PaddedMpmath]] = {Arb.name: Arb, PaddedMpmath.name: PaddedMpmath}


def dyadic(mantissa: int, exponent: int, *, up: bool) -> Fraction:
    """mantissa·2^exponent, rounded upwards (or downwards) past 2^−EXPONENT_CAP.

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
