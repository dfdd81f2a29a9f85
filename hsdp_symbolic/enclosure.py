"""`Enclosure` and the views that promise: exact rationals, and brackets that hold the truth.

Values stay exact rationals while they are small and become intervals only when they must, so a bound
without exp or log is often enclosed by a single point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from .engines import ENGINES, Engine
from .errors import ArgumentError, EnginesDisagree, ExactTooLarge, NotRational, PrecisionExhausted
from .setting import to_fraction

if TYPE_CHECKING:
    from .program import Program

DEFAULT_RTOL = Fraction(1, 10**20)
FIRST_PRECISION = 128
PRECISION_CAP = 2**16
EXACT_BITS = 2**20
"""`exact` refuses rationals with more bits than this: past it, writing them down is no longer useful."""
HYBRID_BITS = 512
"""Inside an enclosure, rationals are kept exact up to this size; beyond it intervals are faster and as good."""


@dataclass(frozen=True)
class Enclosure:
    """A closed interval with exact endpoints that contains the true value."""

    lo: Fraction
    hi: Fraction

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError("an enclosure needs lo <= hi")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, Fraction)) and self.lo <= value <= self.hi

    def overlaps(self, other: Enclosure) -> bool:
        return self.lo <= other.hi and other.lo <= self.hi

    @property
    def relative_width(self) -> Fraction:
        """Width over the largest magnitude inside; 0 for a point."""
        width = self.hi - self.lo
        return width / max(abs(self.lo), abs(self.hi)) if width else Fraction(0)

    def upper(self) -> float:
        """The least double that is not below the enclosure."""
        return _to_double(self.hi, up=True)

    def lower(self) -> float:
        """The greatest double that is not above the enclosure."""
        return _to_double(self.lo, up=False)

    def decimals(self, digits: int = 20) -> tuple[str, str]:
        """Both endpoints as decimal text of `digits` significant digits, rounded outwards.

        >>> Enclosure(Fraction(1, 3), Fraction(1, 3)).decimals(5)
        ('0.33333', '0.33334')
        """
        return _decimal(self.lo, digits, ROUND_FLOOR), _decimal(self.hi, digits, ROUND_CEILING)

    def __str__(self) -> str:
        return "[{}, {}]".format(*self.decimals())


def exact(program: Program, values: Mapping[str, Fraction]) -> Fraction:
    """The exact rational value; raises `ExactTooLarge` or `NotRational` where there is none to write down."""
    result = program.run(_Rationals(EXACT_BITS), values)
    assert isinstance(result, Fraction)
    return result


def enclose(
    program: Program, values: Mapping[str, Fraction], *, rtol: Any = DEFAULT_RTOL, engine: str = "arb"
) -> Enclosure:
    """An enclosure of relative width at most `rtol`, by `engine` (`arb`, `mpmath`, or `both`, which must overlap).

    True values below 2^−33554432 are enclosed between 0 and that power, whatever `rtol`.
    """
    tolerance = to_fraction("rtol", rtol)
    if tolerance <= 0:
        raise ArgumentError("rtol", rtol, "not a positive width", "give a relative width such as 1e-20")
    if engine == "both":
        first, second = (enclose(program, values, rtol=rtol, engine=name) for name in ENGINES)
        if not first.overlaps(second):
            raise EnginesDisagree(f"arb says {first}, mpmath says {second}; please report this setting")
        return Enclosure(max(first.lo, second.lo), min(first.hi, second.hi))
    if engine not in ENGINES:
        raise ArgumentError("engine", engine, "no such engine", f"use {', '.join(ENGINES)} or both")
    precision = FIRST_PRECISION
    while precision <= PRECISION_CAP:
        found = _at_precision(program, values, ENGINES[engine](precision))
        if found is not None and (found.relative_width <= tolerance or found.hi <= _NEGLIGIBLE):
            return found
        precision *= 2
    raise PrecisionExhausted(PRECISION_CAP, rtol)


_NEGLIGIBLE = Fraction(1, 1 << 2**25)


def _at_precision(program: Program, values: Mapping[str, Fraction], engine: Engine) -> Enclosure | None:
    with engine.working():
        result = program.run(_Intervals(engine), values)
        bounds = (result, result) if isinstance(result, Fraction) else engine.bounds(result)
    return None if bounds is None else Enclosure(*bounds)


class _Rationals:
    """Exact arithmetic on fractions, up to a size."""

    def __init__(self, max_bits: int) -> None:
        self._max_bits = max_bits

    def add(self, *terms: Any) -> Any:
        return sum(terms)

    def mul(self, *factors: Any) -> Any:
        return math.prod(factors)

    def power(self, base: Any, exponent: Any) -> Any:
        k = whole(exponent)
        if self.power_bits(base, k) > self._max_bits:
            return self.too_large(base, k)
        return base**k

    def power_bits(self, base: Fraction, k: int) -> int:
        if base in (0, 1, -1):
            return 1
        return abs(k) * max(abs(base.numerator).bit_length(), base.denominator.bit_length())

    def too_large(self, base: Any, k: int) -> Any:
        raise ExactTooLarge(self.power_bits(base, k))

    def exp(self, x: Any) -> Any:
        if x == 0:
            return Fraction(1)
        raise NotRational("exp")

    def log(self, x: Any) -> Any:
        if x == 1:
            return Fraction(0)
        raise NotRational("log")

    def floordiv(self, top: Fraction, bottom: Fraction) -> Fraction:
        return Fraction(top // bottom)

    def contraction(self, step: Fraction) -> Fraction:
        return 1 - step

    def geometric(self, x: Any, k: Any) -> Any:
        if x == 1:
            return k
        return self.mul(self.add(Fraction(1), self.mul(Fraction(-1), self.power(x, k))), 1 / (1 - x))

    def select(self, left: Fraction, right: Fraction, then: Any, otherwise: Any) -> Any:
        return then if left == right else otherwise


class _Intervals(_Rationals):
    """Fractions while they are small, the engine's intervals beyond."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(HYBRID_BITS)
        self._engine = engine

    def _ball(self, x: Any) -> Any:
        return self._engine.ball(x) if isinstance(x, Fraction) else x

    def _fold(self, operation: Any, values: tuple[Any, ...], start: Fraction, combine: Any) -> Any:
        exact_part = reduce(combine, (v for v in values if isinstance(v, Fraction)), start)
        balls = [v for v in values if not isinstance(v, Fraction)]
        if not balls:
            return exact_part
        return reduce(operation, balls) if exact_part == start else reduce(operation, balls, self._ball(exact_part))

    def add(self, *terms: Any) -> Any:
        return self._fold(self._engine.add, terms, Fraction(0), lambda x, y: x + y)

    def mul(self, *factors: Any) -> Any:
        return self._fold(self._engine.mul, factors, Fraction(1), lambda x, y: x * y)

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(base, Fraction):
            return super().power(base, exponent)
        return self.too_large(base, whole(exponent))

    def too_large(self, base: Any, k: int) -> Any:
        if k == 0:
            return Fraction(1)
        result = self._engine.power(self._ball(base), abs(k))
        return self._engine.inverse(result) if k < 0 else result

    def exp(self, x: Any) -> Any:
        return Fraction(1) if x == 0 and isinstance(x, Fraction) else self._engine.exp(self._ball(x))

    def log(self, x: Any) -> Any:
        return Fraction(0) if x == 1 and isinstance(x, Fraction) else self._engine.log(self._ball(x))

    def geometric(self, x: Any, k: Any) -> Any:
        if isinstance(x, Fraction):
            return super().geometric(x, k)
        below = self._engine.add(self._ball(Fraction(1)), self.mul(Fraction(-1), x))
        powers = self.add(Fraction(1), self.mul(Fraction(-1), self.power(x, k)))
        return self.mul(powers, self._engine.inverse(below))


def whole(exponent: Any) -> int:
    """`exponent` as an int; exponents of the paper's formulas are whole numbers."""
    if not (isinstance(exponent, Fraction) and exponent.denominator == 1):
        raise NotRational(f"the non-integer exponent {exponent}")
    return int(exponent)


def _to_double(value: Fraction, *, up: bool) -> float:
    """The nearest double on the stated side of `value` (±inf beyond the range)."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if math.isinf(nearest):
        outward = up == (value > 0)
        return nearest if outward else math.nextafter(nearest, 0)
    if Fraction(nearest) == value or (Fraction(nearest) > value) == up:
        return nearest
    return math.nextafter(nearest, math.inf if up else -math.inf)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
