"""Programs over exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from ..errors import ExactTooLarge, NotRational
from ..functions.interface import BoundFunction, Parts, ProgramArgument

ARGUMENT_BITS = 2**20
"""The most bits of an exact number that a function is computed from."""


class Rationals:
    """Exact arithmetic on fractions of at most `max_bits` bits."""

    def __init__(self, max_bits: int) -> None:
        self.max_bits = max_bits

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        return partial(function.exact, self)

    def add(self, *terms: Any) -> Any:
        return sum(terms)

    def mul(self, *factors: Any) -> Any:
        return math.prod(factors)

    def power(self, base: Any, exponent: Any) -> Any:
        k = whole(exponent)
        if self.power_bits(base, k) > self.max_bits:
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

    def positive_part(self, x: Any) -> Any:
        return max(Fraction(0), x)

    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        (step,) = parts
        return 1 - step.run(self, values)

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        left, right, then, otherwise = parts
        return (then if left.run(self, values) == right.run(self, values) else otherwise).run(self, values)

    def exactly(self, part: ProgramArgument, values: Mapping[str, Any]) -> Fraction:
        found: Fraction = part.run(Rationals(ARGUMENT_BITS), values)
        return found


def whole(exponent: Any) -> int:
    """`exponent` as an int."""
    if not (isinstance(exponent, Fraction) and exponent.denominator == 1):
        raise NotRational(f"the non-integer exponent {exponent}")
    return int(exponent)
