"""Programs over intervals, and over power series of intervals.

Values stay exact rationals while they are small and become intervals only when they must, so a bound without exp
or log is often enclosed by a single point.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from ..arithmetic.engines import Engine, Unbounded
from ..functions.interface import BoundFunction, Pointwise
from .rationals import Rationals, whole

HYBRID_BITS = 512
"""Rationals are kept exact up to this size; beyond it intervals are faster and as good."""
ROUGH_BITS = 64
"""The same, where every result ends as an interval anyway."""
GRID_RTOL = Fraction(1, 10)
"""How closely a dynamic programme is bracketed where no width is asked for."""


class Intervals(Rationals):
    """Fractions while they are small, the engine's intervals beyond."""

    def __init__(self, engine: Engine, max_bits: int = HYBRID_BITS, tolerance: Fraction = GRID_RTOL) -> None:
        super().__init__(max_bits)
        self.engine, self.tolerance = engine, tolerance
        self._kept: dict[Any, Any] = {}

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        return partial(function.ball, self)

    def roughly(self) -> Intervals:
        return Intervals(self.engine, ROUGH_BITS)

    def watching(self) -> Watching:
        return Watching(self.engine, ROUGH_BITS)

    def series(self, engine: Engine, *, switched: bool) -> Series:
        return Series(engine, switched=switched)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def ball(self, x: Any) -> Any:
        return self.engine.ball(x) if isinstance(x, Fraction) else x

    def kept_ball(self, x: Fraction) -> Any:
        """The ball of a number that is likely to be asked for again."""
        key = (x.numerator, x.denominator)  # hashing a Fraction is slow
        if key not in self._kept:
            self._kept[key] = self.engine.ball(x)
        return self._kept[key]

    def _fold(self, combine: Any, on_balls: Any, values: tuple[Any, ...]) -> Any:
        """The rationals combined exactly, then the intervals, then both."""
        exact_part, ball = None, None
        for value in values:
            if isinstance(value, Fraction):
                exact_part = value if exact_part is None else combine(exact_part, value)
            else:
                ball = value if ball is None else on_balls(ball, value)
        if ball is None:
            return exact_part
        return ball if exact_part is None else on_balls(ball, self.kept_ball(exact_part))

    def add(self, *terms: Any) -> Any:
        return self._fold(operator.add, self.engine.add, terms)

    def mul(self, *factors: Any) -> Any:
        if any(isinstance(factor, Fraction) and not factor for factor in factors):
            return Fraction(0)
        return self._fold(operator.mul, self.engine.mul, factors)

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(exponent, Fraction) and exponent.denominator != 1:
            if isinstance(base, Fraction) and base == 0 and exponent > 0:
                return Fraction(0)
            return self.exp(self.mul(exponent, self.log(base)))
        if isinstance(base, Fraction):
            return super().power(base, exponent)
        return self.too_large(base, whole(exponent))

    def too_large(self, base: Any, k: int) -> Any:
        if k == 0:
            return Fraction(1)
        result = self.engine.power(self.ball(base), abs(k))
        return self.engine.inverse(result) if k < 0 else result

    def exp(self, x: Any) -> Any:
        if not isinstance(x, Fraction):
            return self.engine.exp(x)
        return self.kept(("exp", x), lambda: self.engine.exp(self.ball(x))) if x else Fraction(1)

    def log(self, x: Any) -> Any:
        return Fraction(0) if isinstance(x, Fraction) and x == 1 else self.engine.log(self.ball(x))

    def positive_part(self, x: Any) -> Any:
        if isinstance(x, Fraction):
            return super().positive_part(x)
        low, high = self.bounds(x)
        if low >= 0:
            return x
        return self.engine.interval(Fraction(0), high) if high > 0 else Fraction(0)

    def error(self, x: Any) -> Fraction:
        """An upper bound on x ≥ 0, no finer than the working precision needs (a longer fraction only costs time)."""
        return max(self.bounds(x)[1], self.engine.resolution**4)

    def bounds(self, x: Any) -> tuple[Fraction, Fraction]:
        if isinstance(x, Fraction):
            return x, x
        bounds = self.engine.bounds(x)
        if bounds is None:
            raise Unbounded
        return bounds


class Watching(Intervals):
    """Intervals that keep the last value by which a function with two forms chose between them."""

    switch: Any = None

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        if not (issubclass(function, Pointwise) and function.has_two_forms):
            return super().operation(function)

        def watched(*operands: Any) -> Any:
            self.switch = self.ball(function.switch(self, *operands))
            return function.ball(self, *operands)

        return watched


class Series(Intervals):
    """Power series in one name around a centre; what does not depend on that name stays a number."""

    def __init__(self, engine: Engine, *, switched: bool) -> None:
        super().__init__(engine, ROUGH_BITS)
        self.switched = switched
        """Whether functions with two forms take the second."""

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        return partial(function.series, self)

    def power(self, base: Any, exponent: Any) -> Any:
        if is_series(exponent):
            return self.engine.exp(self.engine.mul(exponent, self.ball(self.log(base))))
        if isinstance(base, Fraction) or not is_series(base):
            return super().power(base, exponent)
        k, result = whole(exponent), base
        for _ in range(abs(k) - 1):
            result = self.engine.mul(result, base)
        if k < 0:
            if result[0].contains(0):
                raise Unbounded
            return self.engine.inverse(result)
        return result


def is_series(x: Any) -> bool:
    return hasattr(x, "coeffs")
