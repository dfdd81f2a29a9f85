"""The NumPy view: a program run in float64, stable from ηλ = 1e-15 to 0.99 and fast on large grids.

Scalars stay exact rationals until they meet an array. Powers of q = 1 − ηλ are kept as exponents and
combined before anything is exponentiated, so nothing cancels and nothing under- or overflows on the way
to a representable result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .arrays import Array, Samples
from .enclosure import exact
from .engines import Arb
from .errors import ArgumentError, OutsideDoubleRange, UnsupportedNode
from .program import Program
from .tape import Tape, Traced, bound


def evaluate(program: Program, values: Mapping[str, Fraction | Samples]) -> Array:
    """The program over arrays that broadcast (see `arrays.align`)."""
    tape = Tape()
    inputs = {}
    for name, value in values.items():
        if name in program.leaves and isinstance(value, Samples):
            inputs[name] = tape.read(value.array, max(abs(value.least), abs(value.greatest)))
    algebra = _Float64()
    with np.errstate(under="ignore"):
        return tape.play(algebra.value(program.run(algebra, {**values, **inputs})))


def first_violation(
    compare: Callable[[Any, Any], Any], left: Program, right: Program, values: Mapping[str, Any]
) -> tuple[Any, Any] | None:
    """A pair of values for which `left` and `right` do not compare as they should, or None.

    Exact if no array is involved; a bare array is represented by the extreme that decides.
    """
    if not any(isinstance(values[name], Samples) for name in left.leaves | right.leaves):
        pair = exact(left, values), exact(right, values)
        return None if compare(*pair) else pair
    below = compare in (operator.lt, operator.le)
    sides = [_decisive(left, values, greatest=below), _decisive(right, values, greatest=not below)]
    holds = compare(*sides)
    if np.all(holds):
        return None
    first = np.unravel_index(int(np.argmin(holds)), holds.shape)
    low, high = (float(np.broadcast_to(side, holds.shape)[first]) for side in sides)
    return low, high


def _decisive(side: Program, values: Mapping[str, Any], *, greatest: bool) -> Array:
    bare = values.get(str(side.code[0][2])) if len(side.code) == 1 else None
    if isinstance(bare, Samples) and bare.array.size:
        return np.asarray(bare.greatest if greatest else bare.least)
    return evaluate(side, values)


@dataclass(frozen=True)
class _LogQ:
    """log q to about 30 digits: 32 leading bits, which times a whole number below 2^21 is exact, and the rest."""

    leading: Any
    rest: Any

    @property
    def value(self) -> Any:
        return self.leading + self.rest


@dataclass(frozen=True)
class _Scaled:
    """plain · q^exponent, with the power not yet taken."""

    plain: Any
    exponent: Any
    log_q: _LogQ


class _Float64:
    """Values are Fractions (scalars), float64 arrays, or `_Scaled`."""

    def value(self, x: Any) -> Any:
        """`x` as a double or an array of doubles."""
        if isinstance(x, Fraction):
            return _double(x)
        if not isinstance(x, _Scaled):
            return x
        exponent = self.value(x.exponent)
        log_power = exponent * x.log_q.value
        if bound(log_power) <= 8:
            return np.exp(log_power) * self.value(x.plain)
        # The logarithm may be hundreds, so an ulp of it would cost digits: its exact leading part is exponentiated,
        # the rest is a small correction. And q^e may underflow where plain·q^e does not: take it in two halves.
        root = np.exp(exponent * (0.5 * x.log_q.leading))
        return (1 + exponent * x.log_q.rest) * self.value(x.plain) * root * root

    def add(self, *terms: Any) -> Any:
        scalar = sum((term for term in terms if isinstance(term, Fraction)), Fraction(0))
        arrays = [self.value(term) for term in terms if not isinstance(term, Fraction)]
        if not arrays:
            return scalar
        return sum(arrays[1:], arrays[0] + _double(scalar) if scalar else arrays[0])

    def mul(self, *factors: Any) -> Any:
        scalar, array, power = Fraction(1), None, None
        for factor in factors:
            if isinstance(factor, _Scaled):
                power = factor if power is None else replace(power, exponent=self.add(power.exponent, factor.exponent))
                factor = factor.plain
            if isinstance(factor, Fraction):
                scalar *= factor
            else:
                array = factor if array is None else array * factor
        plain = scalar if array is None else array if scalar == 1 else array * _double(scalar)
        return plain if power is None else replace(power, plain=plain)

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(base, _Scaled):
            plain = base.plain if _is_one(base.plain) else self.power(base.plain, exponent)
            return replace(base, plain=plain, exponent=self.mul(base.exponent, exponent))
        if isinstance(exponent, Fraction) and exponent.denominator == 1 and isinstance(base, Fraction):
            return base ** int(exponent)
        if exponent == -1:
            return 1.0 / self.value(base)
        return self.value(base) ** self.value(exponent)

    def exp(self, x: Any) -> Any:
        return np.exp(self.value(x))

    def log(self, x: Any) -> Any:
        return np.log(self.value(x))

    def floordiv(self, top: Any, bottom: Any) -> Any:
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return Fraction(top // bottom)
        return np.floor_divide(self.value(top), self.value(bottom))

    def contraction(self, step: Any) -> _Scaled:
        if isinstance(step, Fraction):
            return _Scaled(Fraction(1), Fraction(1), _log_q(step))
        leading, rest = (step.tape.record(part, step) for part in (_leading_logs, _rest_of_logs))
        return _Scaled(Fraction(1), Fraction(1), _LogQ(leading, rest))

    def geometric(self, x: Any, k: Any) -> Any:
        if not isinstance(x, _Scaled) or not _is_one(x.plain):
            raise UnsupportedNode("the NumPy view sums powers of q only")
        if not (isinstance(x.exponent, Fraction) and x.exponent < 0):
            log_x = self.value(x.exponent) * x.log_q.value
            return np.expm1(self.value(k) * log_x) * (1.0 / np.expm1(log_x))
        # Σ q^(−as) = q^(−a(k−1)) Σ q^(as): the growing power joins the other exponents.
        falling = replace(x, exponent=-x.exponent)
        return replace(x, plain=self.geometric(falling, k), exponent=self.mul(x.exponent, self.add(k, Fraction(-1))))

    def select(self, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return then if left == right else otherwise
        sides = [self.value(x) for x in (left, right, then, otherwise)]
        tape = next(x.tape for x in sides if isinstance(x, Traced))
        return tape.record(_where_equal, *sides)


def _is_one(x: Any) -> bool:
    return isinstance(x, Fraction) and x == 1


def _double(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        raise OutsideDoubleRange("a factor of the bound") from None


def _where_equal(left: Array, right: Array, then: Array, otherwise: Array, *, out: Array) -> None:
    out[...] = np.where(left == right, then, otherwise)


def _leading_logs(steps: Array, *, out: Array) -> None:
    _per_distinct(steps, lambda step: _log_q(step).leading, out)


def _rest_of_logs(steps: Array, *, out: Array) -> None:
    _per_distinct(steps, lambda step: _log_q(step).rest, out)


def _per_distinct(steps: Array, function: Callable[[Fraction], float], out: Array) -> None:
    """A slow scalar function over an array with few distinct values."""
    distinct, where = np.unique(steps, return_inverse=True)
    out[...] = np.array([function(Fraction(x)) for x in distinct.tolist()])[where].reshape(steps.shape)


@lru_cache(maxsize=1 << 16)
def _log_q(step: Fraction) -> _LogQ:
    """log(1 − step), from 256 bits."""
    engine = Arb(256)
    with engine.working():
        bounds = engine.bounds(engine.log(engine.ball(1 - step)))
    if bounds is None:
        raise ArgumentError("eta", float(step), "eta*lam must be below 1", "choose a smaller step size")
    mantissa, exponent = math.frexp(bounds[0])
    leading = math.ldexp(round(mantissa * 2**32), exponent - 32)
    return _LogQ(leading, float(bounds[0] - Fraction(leading)))
