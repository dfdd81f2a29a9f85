"""The NumPy view: a program run in float64, stable from ηλ = 1e-15 to 0.99 and fast on large grids.

Scalars stay exact rationals until they meet an array. Powers of q = 1 − ηλ are kept as exponents and
combined before anything is exponentiated, so nothing cancels and nothing under- or overflows on the way
to a representable result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from ..arithmetic.engines import Arb
from ..arithmetic.tape import Tape, Traced, at_most, bound
from ..errors import ArgumentError, OutsideDoubleRange, UnsupportedNode
from ..functions.floats import accumulated, compounded, log_mean_exp, log_mix, pooled, powers, sampled_gaussian
from ..setting.arrays import Array, Samples
from .enclosure import certainly, exact, value_of
from .intervals import ARGUMENT_BITS, Rationals, programs
from .program import Parts, Program


def evaluate(program: Program, values: Mapping[str, Any]) -> Array:
    """The program over arrays that broadcast (see `arrays.align`); never an infinity or a NaN."""
    with np.errstate(all="ignore"):
        result = evaluate_raw(program, values)
    if not np.all(np.isfinite(result)):
        raise OutsideDoubleRange("a value")
    return result


def evaluate_over(program: Program, values: Mapping[str, Any]) -> Array:
    """The program over all arrays given, also those it does not depend on (but some hypothesis did)."""
    result = evaluate(program, values)
    shape = np.broadcast_shapes(*(value.array.shape for value in values.values() if isinstance(value, Samples)))
    return result if result.shape == shape else np.broadcast_to(result, shape).copy()


def evaluate_raw(program: Program, values: Mapping[str, Any]) -> Array:
    """The program over arrays, whatever comes out."""
    needed = {name: values[name] for name in program.leaves}
    key = (id(program), *((name, _kind(value)) for name, value in needed.items()))
    recording = _recordings.get(key)
    if recording is None or not recording.lock.acquire(blocking=False):
        recording = _Recording(program, needed)
        recording.lock.acquire()
        if len(_recordings) >= 256:
            _recordings.clear()
        _recordings[key] = recording
    try:
        return recording.tape.play(recording.result, values)
    finally:
        recording.lock.release()


def _kind(value: Fraction | Samples) -> Any:
    """What a recording depends on: an exact scalar, or the sign and order of magnitude of an array."""
    if isinstance(value, Fraction):
        return value
    return value.least >= 0, _magnitude(value)


def _magnitude(value: Samples) -> float:
    largest = max(abs(value.least), abs(value.greatest))
    return 2.0 ** math.frexp(largest)[1] if math.isfinite(largest) else math.inf


class _Recording:
    """A program traced for given scalars, to be played with any arrays of the same kind."""

    def __init__(self, program: Program, values: Mapping[str, Any]) -> None:
        self.program = program  # kept alive, as its identity is part of the key
        self.tape, self.lock = Tape(), Lock()
        algebra = Float64(self.tape, values)
        self.result = algebra.value(program.run(algebra, algebra.traced(program.leaves)))


_recordings: dict[Any, _Recording] = {}


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def first_violation(relation: str, left: Program, right: Program, values: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """A pair of values for which `left` and `right` do not compare as they should, or None.

    Exact if no array is involved; a bare array against a scalar is represented by the extreme that decides.
    """
    if not any(isinstance(values[name], Samples) for name in left.leaves | right.leaves):
        pair = value_of(left, values), value_of(right, values)
        return None if certainly(relation, *pair) else (pair[0].simplest(), pair[1].simplest())
    below = relation in ("<", "<=")
    fixed = [not any(isinstance(values[name], Samples) for name in side.leaves) for side in (left, right)]
    sides = [
        _decisive(left, values, greatest=below) if fixed[1] else evaluate(left, values),
        _decisive(right, values, greatest=not below) if fixed[0] else evaluate(right, values),
    ]
    holds = _COMPARE[relation](*sides)
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


class Float64:
    """Values are Fractions (scalars), doubles, arrays being traced, or `_Scaled`.

    Means and recursions are not traced: they are computed over the whole of the arrays they depend on, and enter the
    tape as inputs.
    """

    def __init__(self, tape: Tape, values: Mapping[str, Any]) -> None:
        self._tape, self._values = tape, values

    def traced(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of `names`, arrays as inputs of the tape."""
        found: dict[str, Any] = {}
        for name, value in self._values.items():
            if name in names:
                found[name] = value
                if isinstance(value, Samples):
                    found[name] = self._tape.read(_array_of(name), _magnitude(value), nonnegative=value.least >= 0)
        return found

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
            if isinstance(factor, _Scaled) and (power is None or power.log_q is factor.log_q):
                power = factor if power is None else replace(power, exponent=self.add(power.exponent, factor.exponent))
                factor = factor.plain
            elif isinstance(factor, _Scaled):
                factor = self.value(factor)
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

    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        (step,) = programs(parts)
        arrays = [name for name in step.leaves if isinstance(self._values[name], Samples)]
        if not arrays:
            size = exact(step, self._values)
            return Fraction(0) if size == 1 else _Scaled(Fraction(1), Fraction(1), _log_q(size))
        leading, rest = (self._tape.read(_logs_of(step, arrays, part)) for part in (0, 1))
        return _Scaled(Fraction(1), Fraction(1), _LogQ(leading, rest))

    def geometric(self, x: Any, k: Any) -> Any:
        if not isinstance(x, _Scaled) or not _is_one(x.plain):
            raise UnsupportedNode("the NumPy view sums powers of q only")
        if isinstance(x.exponent, Fraction) and x.exponent == 0:
            return k
        if not (isinstance(x.exponent, Fraction) and x.exponent < 0):
            if isinstance(x.exponent, Traced):  # may be 0 somewhere
                return self._tape.record(powers, *map(self.value, (x.exponent, x.log_q.value, k)))
            log_x = self.value(x.exponent) * x.log_q.value
            return np.expm1(self.value(k) * log_x) * (1.0 / np.expm1(log_x))
        # Σ q^(−as) = q^(−a(k−1)) Σ q^(as): the growing power joins the other exponents.
        falling = replace(x, exponent=-x.exponent)
        return replace(x, plain=self.geometric(falling, k), exponent=self.mul(x.exponent, self.add(k, Fraction(-1))))

    def expm1(self, x: Any) -> Any:
        return np.expm1(self.value(x))

    def log_mix(self, weight: Any, x: Any, y: Any) -> Any:
        rest = self.add(Fraction(1), self.mul(Fraction(-1), weight))  # before rounding: 1 − w may be tiny
        parts = [self.value(part) for part in (weight, rest, x, y)]
        if at_most(parts[2], 30) and at_most(parts[3], 30):
            w, v, x, y = parts
            return np.log1p(w * np.expm1(x) + v * np.expm1(y))
        if not any(isinstance(part, Traced) for part in parts):
            return log_mix(*map(np.asarray, parts), out=np.empty(())).item()
        return self._tape.record(log_mix, *parts)

    def pooled(self, slope: Any, length: Any) -> Any:
        rise = self.mul(slope, length)  # as one: the slope alone may overflow where the edges pool
        if all(isinstance(part, Fraction) for part in (slope, length)):
            return Rationals(ARGUMENT_BITS).pooled(slope, length)
        parts = [self.value(part) for part in (slope, rise, length)]
        if any(isinstance(part, Traced) for part in parts):
            return self._tape.record(pooled, *parts)
        return pooled(*map(np.asarray, parts), out=np.empty(())).item()

    def sampled_gaussian(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        def moment(values: Mapping[str, Any]) -> Array:
            return sampled_gaussian(*(evaluate_any(part, values) for part in programs(parts)))

        return self._whole(moment, parts)

    def shift_control(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        def moment(values: Mapping[str, Any]) -> Array:
            from ..functions.shift_control import moments

            return moments(*(evaluate_any(part, values) for part in programs(parts)))

        return self._whole(moment, parts)

    def capped_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        def moment(values: Mapping[str, Any]) -> Array:
            from ..functions.capped_moment import capped_moments

            return capped_moments(*(evaluate_any(part, values) for part in programs(parts)))

        return self._whole(moment, parts)

    def hit_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        def moment(values: Mapping[str, Any]) -> Array:
            from ..functions.hit_moment import log_moments

            return log_moments(*(evaluate_any(part, values) for part in programs(parts)))

        return self._whole(moment, parts)

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        left, right, then, otherwise = programs(parts)
        sides = [side.run(self, values) for side in (left, right)]
        if all(isinstance(side, Fraction) for side in sides):
            return (then if sides[0] == sides[1] else otherwise).run(self, values)
        return self._tape.record(
            _where_equal, *(self.value(x) for x in (*sides, then.run(self, values), otherwise.run(self, values)))
        )

    def log_mean_exp(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        body, index, count = parts
        assert isinstance(body, Program)

        def mean(values: Mapping[str, Any]) -> Array:
            return log_mean_exp(body, str(index), evaluate_any(count, values), values)

        return self._whole(mean, parts)

    def accumulated(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        return self._whole(lambda values: accumulated(parts, values), parts)

    def compounded(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        return self._whole(lambda values: compounded(parts, values), parts)

    def _whole(self, function: Callable[[Mapping[str, Any]], Array], parts: Parts) -> Any:
        """A number now, or an input of the tape, computed from whole arrays when it is played."""
        leaves = frozenset[str]().union(*(part.leaves for part in programs(parts)))
        if any(isinstance(self._values.get(name), Samples) for name in leaves):
            return self._tape.read(function)
        return float(function(self._values))


def _logs_of(step: Program, arrays: list[str], part: int) -> Callable[[Mapping[str, Any]], Array]:
    return lambda values: _distinct_logs(step, arrays, values)[part]


def _array_of(name: str) -> Callable[[Mapping[str, Any]], Array]:
    return lambda values: values[name].array


def _is_one(x: Any) -> bool:
    return isinstance(x, Fraction) and x == 1


def _double(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        raise OutsideDoubleRange("a factor of the bound") from None


def evaluate_any(part: Program | str, values: Mapping[str, Any]) -> Fraction | Array:
    """A part over just the arrays it depends on: exact if there are none."""
    assert isinstance(part, Program)
    needed = {name: values[name] for name in part.leaves}
    if any(isinstance(value, Samples) for value in needed.values()):
        return evaluate(part, needed)
    return exact(part, needed)


def _where_equal(left: Array, right: Array, then: Array, otherwise: Array, *, out: Array) -> None:
    out[...] = np.where(left == right, then, otherwise)


def _distinct_logs(step: Program, arrays: list[str], values: Mapping[str, Any]) -> tuple[Array, Array]:
    """log(1 − step) for array letters, exactly rounded: one scalar computation per distinct combination of values."""
    spread = np.broadcast_arrays(*(values[name].array for name in arrays))
    rows, where = np.unique(np.stack([part.ravel() for part in spread]), axis=1, return_inverse=True)
    logs = []
    for row in rows.T.tolist():
        exact_row = {name: Fraction(x) for name, x in zip(arrays, row, strict=True)}
        logs.append(_log_q(exact(step, {**values, **exact_row})))
    leading, rest = (np.array(part)[where.ravel()] for part in ([x.leading for x in logs], [x.rest for x in logs]))
    return leading.reshape(spread[0].shape), rest.reshape(spread[0].shape)


@lru_cache(maxsize=1 << 16)
def _log_q(step: Fraction) -> _LogQ:
    """log(1 − step), from 256 bits."""
    engine = Arb(256)
    with engine.working():
        bounds = engine.bounds(engine.log(engine.ball(1 - step)))
    if bounds is None:
        raise ArgumentError("eta", float(step), "the update does not contract", "choose a smaller step size")
    mantissa, exponent = math.frexp(bounds[0])
    leading = math.ldexp(round(mantissa * 2**32), exponent - 32)
    return _LogQ(leading, float(bounds[0] - Fraction(leading)))
