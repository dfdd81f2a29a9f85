"""`Enclosure`, and the views that carry a guarantee: exact rationals, and intervals that contain the true value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.engines import ENGINES, Engine, Unbounded
from ..errors import ArgumentError, EnginesDisagree, NotRational, PrecisionExhausted
from ..setting.gate import Number, to_fraction

if TYPE_CHECKING:
    from .program import Program

DEFAULT_RTOL = Fraction(1, 10**20)
FIRST_PRECISION = 96
PRECISION_CAP = 2**16
"""Bits to begin with, doubled until an enclosure is narrow enough, and the most that are tried."""
EXACT_BITS = 2**20
"""`exact` refuses rationals with more bits than this: past it, writing them down is no longer useful."""


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

    def simplest(self) -> Fraction | float | str:
        """The value itself if it is a point, a double near it if it is narrow, both ends if not; for messages."""
        if self.lo == self.hi:
            return self.lo
        low, high = self.lower(), self.upper()
        return low if self.relative_width < 1e-15 else f"{low:.6g} to {high:.6g}"

    def upper(self) -> float:
        """The least double that is not below the enclosure."""
        return double_above(self.hi)

    def lower(self) -> float:
        """The greatest double that is not above the enclosure."""
        return double_below(self.lo)

    def decimals(self, digits: int = 20) -> tuple[str, str]:
        """Both endpoints as decimal text of `digits` significant digits, rounded outwards.

        >>> Enclosure(Fraction(1, 3), Fraction(1, 3)).decimals(5)
        ('0.33333', '0.33334')
        """
        return _decimal(self.lo, digits, ROUND_FLOOR), _decimal(self.hi, digits, ROUND_CEILING)

    def __str__(self) -> str:
        return "[{}, {}]".format(*self.decimals())


def root(found: Enclosure, bits: int = 256) -> Enclosure:
    """√x, by whole numbers rounded outwards.

    >>> root(Enclosure(Fraction(9, 4), Fraction(9, 4)))
    Enclosure(lo=Fraction(3, 2), hi=Fraction(3, 2))
    """
    if found.lo < 0:
        raise ArgumentError("x", found.simplest(), "no square", "give a number >= 0")
    low, high = (_root_of(end, bits) for end in (found.lo, found.hi))
    return Enclosure(low[0], high[1])


def _root_of(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """√value, from below and from above, with so many bits."""
    places = max(0, bits - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    scaled = value * 4**places
    below = math.isqrt(scaled.numerator // scaled.denominator)
    above = below if below * below == scaled else below + 1
    return Fraction(below, 2**places), Fraction(above, 2**places)


def exact(program: Program, values: Mapping[str, Fraction]) -> Fraction:
    """The exact rational value; raises `ExactTooLarge` or `NotRational` where there is none to write down."""
    from .rationals import Rationals

    result = program.run(Rationals(EXACT_BITS), values)
    assert isinstance(result, Fraction)
    return result


def certainly(relation: str, left: Enclosure, right: Enclosure) -> bool:
    """Whether left `relation` right (one of <, <=, >, >=) for all values inside: exact for points, never a guess."""
    if relation in (">", ">="):
        return certainly({">": "<", ">=": "<="}[relation], right, left)
    return left.hi < right.lo if relation == "<" else left.hi <= right.lo


def value_of(program: Program, values: Mapping[str, Fraction]) -> Enclosure:
    """The value as a point where it is rational, as a narrow enclosure where it is not."""
    try:
        point = exact(program, values)
    except NotRational:
        return enclose(program, values)
    return Enclosure(point, point)


def enclose(
    program: Program,
    values: Mapping[str, Fraction],
    *,
    rtol: Number = DEFAULT_RTOL,
    atol: Fraction = Fraction(0),
    engine: str = "arb",
) -> Enclosure:
    """An enclosure of relative width at most `rtol`, by `engine` (`arb`, `mpmath`, or `both`, which must overlap).

    A width of `atol` will do as well: for values that may be 0, for which no relative width can be reached.

    True values below 2^−33554432 are enclosed between 0 and that power, whatever `rtol`.
    """
    tolerance = to_fraction("rtol", rtol)
    if tolerance <= 0:
        raise ArgumentError("rtol", rtol, "not a positive width", "give a relative width such as 1e-20")
    check_engine(engine)
    if engine == "both":
        return agreed(enclose(program, values, rtol=rtol, atol=atol, engine=name) for name in ENGINES)
    precision = FIRST_PRECISION
    while precision <= PRECISION_CAP:
        found = _at_precision(program, values, ENGINES[engine](precision), tolerance)
        if found is not None and (
            found.relative_width <= tolerance
            or found.hi - found.lo <= atol
            or max(abs(found.lo), abs(found.hi)) <= _NEGLIGIBLE
        ):
            return found
        precision *= 2
    raise PrecisionExhausted(PRECISION_CAP, rtol)


def check_engine(engine: object) -> None:
    if not isinstance(engine, str) or engine not in (*ENGINES, "both"):
        raise ArgumentError("engine", engine, "no such engine", f"use {', '.join(ENGINES)} or both")


def agreed(found: Iterable[Enclosure]) -> Enclosure:
    """What two engines agree on; an error if they do not overlap."""
    first, second = found
    if not first.overlaps(second):
        raise EnginesDisagree(f"arb says {first}, mpmath says {second}; please report this setting")
    return Enclosure(max(first.lo, second.lo), min(first.hi, second.hi))


_NEGLIGIBLE = Fraction(1, 1 << 2**25)


def _at_precision(
    program: Program, values: Mapping[str, Fraction], engine: Engine, tolerance: Fraction
) -> Enclosure | None:
    from .intervals import Intervals

    with engine.working():
        try:
            result = program.run(Intervals(engine, tolerance=tolerance), values)
        except Unbounded:
            return None
        bounds = (result, result) if isinstance(result, Fraction) else engine.bounds(result)
    return None if bounds is None else Enclosure(*bounds)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    if max(abs(value.numerator).bit_length(), value.denominator.bit_length()) <= 20_000:
        rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
        last_place = Decimal(1).scaleb(rounded.adjusted() - digits + 1, context)
        return str(context.quantize(rounded, last_place) if rounded else rounded)
    # Exact conversion of millions of bits takes minutes: cut to digits + 20 places first, outwards by a margin that
    # dwarfs the rounding of the few decimal operations.
    wide = Context(prec=digits + 20, Emax=MAX_EMAX, Emin=MIN_EMIN)
    bits = 4 * (digits + 20)
    top, bottom = (part >> max(0, part.bit_length() - bits) for part in (abs(value.numerator), value.denominator))
    exponent = max(0, abs(value.numerator).bit_length() - bits) - max(0, value.denominator.bit_length() - bits)
    size = wide.multiply(wide.divide(Decimal(top), Decimal(bottom)), wide.power(Decimal(2), exponent))
    outwards = (rounding == ROUND_CEILING) == (value > 0)
    margin = Decimal(1).scaleb(-(digits + 10))
    size = wide.multiply(size, 1 + margin if outwards else 1 - margin)
    return str(context.plus(size if value > 0 else -size))
