"""The NumPy view: a program run in float64, stable from ηλ = 1e-15 to 0.99 and fast on large grids.

Scalars stay exact rationals until they meet an array. Powers of q = 1 − ηλ are kept as exponents and
combined before anything is exponentiated, so nothing cancels and nothing under- or overflows on the way
to a representable result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .enclosure import exact
from .engines import Arb
from .errors import ArgumentError, OutsideDoubleRange, UnsupportedNode
from .letters import LETTERS
from .program import Program
from .setting import admit

Array = npt.NDArray[np.float64]
CHUNK = 1 << 14
"""Elements evaluated at once: a handful of temporaries of this size stay in the second-level cache."""


def evaluate(program: Program, values: Mapping[str, Fraction | Array]) -> Array:
    """The program over broadcast arrays; 1-D arrays of different lengths span a grid in the order given."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    shape, arrays = _align(arrays)
    out = np.empty(shape)
    with np.errstate(under="ignore"):
        _fill(out, program, {**values, **arrays})
    return out


def admit_array(name: str, value: Any) -> Fraction | Array:
    """`value` as an exact scalar, or as a float64 array all of whose elements are in the letter's range."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (np.ndarray, Sequence)) or isinstance(value, str):
        return admit(name, value)
    if not isinstance(value, (np.ndarray, range)):
        value = _from_sequence(name, value)
    given = np.asarray(value)
    if given.dtype.kind not in "iuf":
        raise ArgumentError(name, given.dtype.name, "not an array of numbers", "give integers or floats")
    result = given.astype(np.float64)
    _check_range(name, given, result)
    return result


def first_violation(
    compare: Callable[[Any, Any], Any], left: Program, right: Program, values: Mapping[str, Any]
) -> tuple[Any, Any] | None:
    """The first pair of values for which `left` and `right` do not compare as they should, or None."""
    if not any(isinstance(values[name], np.ndarray) for name in left.leaves | right.leaves):
        pair = exact(left, values), exact(right, values)
        return None if compare(*pair) else pair
    sides = [evaluate(side, {name: values[name] for name in side.leaves}) for side in (left, right)]
    holds = compare(*sides)
    if np.all(holds):
        return None
    first = np.unravel_index(int(np.argmin(holds)), holds.shape)
    low, high = (float(np.broadcast_to(side, holds.shape)[first]) for side in sides)
    return low, high


def _from_sequence(name: str, value: Sequence[Any]) -> Any:
    """A nested list as an array; its elements pass the gate one by one unless they are plain numbers."""
    given = np.array(value, dtype=object)
    if given.size and all(type(element) in (int, float) for element in given.flat):
        return np.array(value)
    return np.vectorize(lambda element: float(admit(name, element)), otypes=[np.float64])(given)


def _check_range(name: str, given: npt.NDArray[Any], result: Array) -> None:
    letter = LETTERS[name]
    if result.size == 0:
        return
    least, greatest = result.min(), result.max()  # NaN if any element is
    inside = math.isfinite(least) and math.isfinite(greatest) and letter.admits(Fraction(least))
    whole = not letter.integer or (letter.admits(Fraction(greatest)) and _is_whole(given, result))
    if not (inside and whole):
        bad = next(x for x in result.flat if not (math.isfinite(x) and letter.admits(Fraction(x))))
        raise ArgumentError(name, float(bad), f"{letter.meaning} is out of range", f"give {letter.describe_range()}")


def _is_whole(given: npt.NDArray[Any], result: Array) -> bool:
    return given.dtype.kind in "iu" or bool(np.all(result == np.floor(result)))


def _align(arrays: dict[str, Array]) -> tuple[tuple[int, ...], dict[str, Array]]:
    """The common shape, and the arrays with as many axes as it has."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        if any(array.ndim != 1 for array in arrays.values()):
            sizes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ArgumentError("arrays", sizes, "shapes do not broadcast", "give them compatible shapes") from None
        arrays = dict(zip(arrays, np.ix_(*arrays.values()), strict=True))
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    return shape, {name: array.reshape((1,) * (len(shape) - array.ndim) + array.shape) for name, array in arrays.items()}


def _fill(out: Array, program: Program, values: Mapping[str, Any]) -> None:
    if out.size <= CHUNK:
        out[...] = _Float64().value(program.run(_Float64(), values))
        return
    axis = int(np.argmax(np.array(out.shape) > 1))
    length = max(1, CHUNK * out.shape[axis] // out.size)
    for start in range(0, out.shape[axis], length):
        window = (slice(None),) * axis + (slice(start, start + length),)
        part = {
            name: value[window] if isinstance(value, np.ndarray) and value.shape[axis] > 1 else value
            for name, value in values.items()
        }
        _fill(out[window], program, part)


@dataclass(frozen=True)
class _LogQ:
    """log q to about 30 digits, as an unevaluated sum of two doubles."""

    hi: Any
    lo: Any

    def power(self, exponent: Any) -> Any:
        """q^exponent to full relative accuracy, for whole or half-whole exponents.

        The exponent times log q may be hundreds, so an error of one ulp in the product would cost digits: log q
        is cut such that its leading part times the exponent is exact, and the rest enters as a small correction.
        """
        largest = float(np.max(np.abs(exponent))) if np.size(exponent) else 0.0
        bits = max(26, 52 - max(1, math.frexp(largest)[1] + 1))
        grid = np.ldexp(1.0, bits - np.frexp(self.hi)[1])
        coarse = np.rint(self.hi * grid) / grid
        fine = exponent * ((self.hi - coarse) + self.lo)
        result = np.exp(exponent * coarse)
        fine *= 1 + 0.5 * fine
        fine += 1
        result *= fine
        return result


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
        root = x.log_q.power(0.5 * self.value(x.exponent))
        # Two halves: plain·q^e may be representable where q^e alone is not.
        return self.value(x.plain) * root * root

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
            plain = base.plain if base.plain == Fraction(1) else self.power(base.plain, exponent)
            return replace(base, plain=plain, exponent=self.mul(base.exponent, exponent))
        if isinstance(exponent, Fraction) and exponent.denominator == 1 and isinstance(base, Fraction):
            return base ** int(exponent)
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
        distinct, where = np.unique(step, return_inverse=True)
        logs = np.array([(log.hi, log.lo) for log in (_log_q(Fraction(x)) for x in distinct.tolist())])
        hi, lo = (logs[:, part][where].reshape(step.shape) for part in (0, 1))
        return _Scaled(Fraction(1), Fraction(1), _LogQ(hi, lo))

    def geometric(self, x: Any, k: Any) -> Any:
        if not isinstance(x, _Scaled) or x.plain != Fraction(1):
            raise UnsupportedNode("the NumPy view sums powers of q only")
        exponent = self.value(x.exponent)
        if np.all(exponent > 0):
            return np.expm1(self.value(self.mul(k, x.exponent)) * x.log_q.hi) / np.expm1(exponent * x.log_q.hi)
        # Σ q^(−as) = q^(−a(k−1)) Σ q^(as): the growing power joins the other exponents.
        rising = replace(x, exponent=self.mul(Fraction(-1), x.exponent))
        last = self.mul(x.exponent, self.add(k, Fraction(-1)))
        return replace(x, plain=self.geometric(rising, k), exponent=last)

    def select(self, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return then if left == right else otherwise
        return np.where(self.value(left) == self.value(right), self.value(then), self.value(otherwise))


def _double(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        raise OutsideDoubleRange("a factor of the bound") from None


@cache
def _log_q(step: Fraction) -> _LogQ:
    """log(1 − step), from 30 digits."""
    engine = Arb(256)
    with engine.working():
        bounds = engine.bounds(engine.log(engine.ball(1 - step)))
    if bounds is None:
        raise ArgumentError("eta", float(step), "eta*lam must be below 1", "choose a smaller step size")
    hi = float(bounds[0])
    return _LogQ(hi, float(bounds[0] - Fraction(hi)))
