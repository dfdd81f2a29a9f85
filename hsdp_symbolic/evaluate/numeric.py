"""The NumPy view: a program run in float64, stable from ηλ = 1e-15 to 0.99 and fast on large grids.

Scalars stay exact rationals until they meet an array. Powers of q = 1 − ηλ are kept as exponents and
combined before anything is exponentiated, so nothing cancels and nothing under- or overflows on the way
to a representable result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..arithmetic.scaled import LogQ, Scaled, is_one, log_q
from ..arithmetic.tape import Tape, Traced, bound
from ..errors import OutsideDoubleRange
from ..functions.interface import BoundFunction, Parts, ProgramArgument
from ..setting.arrays import Array, Samples
from .enclosure import certainly, exact, value_of
from .program import Program


def evaluate(program: Program, values: Mapping[str, Any]) -> Array:
    """The program over arrays that broadcast (see `setting.arrays.align`); an error for an infinity or a NaN."""
    with np.errstate(all="ignore"):
        result = evaluate_raw(program, values)
    if not np.all(np.isfinite(result)):
        raise OutsideDoubleRange("a value")
    return result


def evaluate_over(program: Program, values: Mapping[str, Any]) -> Array:
    """The program over all arrays given, also those that only a hypothesis depends on."""
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

    Exact if no array is involved; a letter that is an array is compared with a scalar by the extreme that decides.
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
    """The greatest (least) element where `side` is just a letter, all of its values where it is more."""
    bare = values.get(str(side.code[0][2])) if len(side.code) == 1 else None
    if isinstance(bare, Samples) and bare.array.size:
        return np.asarray(bare.greatest if greatest else bare.least)
    return evaluate(side, values)


class Float64:
    """The view in float64: its values are Fractions (scalars), doubles, arrays being traced, or `Scaled`.

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
        if not isinstance(x, Scaled):
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
            if isinstance(factor, Scaled) and (power is None or power.log_q is factor.log_q):
                power = factor if power is None else replace(power, exponent=self.add(power.exponent, factor.exponent))
                factor = factor.plain
            elif isinstance(factor, Scaled):
                factor = self.value(factor)
            if isinstance(factor, Fraction):
                scalar *= factor
            else:
                array = factor if array is None else array * factor
        plain = scalar if array is None else array if scalar == 1 else array * _double(scalar)
        return plain if power is None else replace(power, plain=plain)

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(base, Scaled):
            plain = base.plain if is_one(base.plain) else self.power(base.plain, exponent)
            return replace(base, plain=plain, exponent=self.mul(base.exponent, exponent))
        if isinstance(exponent, Fraction) and exponent.denominator == 1 and isinstance(base, Fraction):
            return base ** int(exponent)
        if exponent == -1:
            return 1.0 / self.value(base)
        return self.value(base) ** self.value(exponent)

    def positive_part(self, x: Any) -> Any:
        return max(Fraction(0), x) if isinstance(x, Fraction) else np.maximum(self.value(x), 0.0)

    def exp(self, x: Any) -> Any:
        return np.exp(self.value(x))

    def log(self, x: Any) -> Any:
        return np.log(self.value(x))

    def floordiv(self, top: Any, bottom: Any) -> Any:
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return Fraction(top // bottom)
        return np.floor_divide(self.value(top), self.value(bottom))

    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        (step,) = parts
        arrays = [name for name in step.leaves if isinstance(self._values[name], Samples)]
        if not arrays:
            size = exact(step, self._values)
            return Fraction(0) if size == 1 else Scaled(Fraction(1), Fraction(1), log_q(size))
        leading, rest = (self._tape.read(_logs_of(step, arrays, part)) for part in (0, 1))
        return Scaled(Fraction(1), Fraction(1), LogQ(leading, rest))

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        left, right, then, otherwise = parts
        sides = [side.run(self, values) for side in (left, right)]
        if all(isinstance(side, Fraction) for side in sides):
            return (then if sides[0] == sides[1] else otherwise).run(self, values)
        return self._tape.record(
            _where_equal, *(self.value(x) for x in (*sides, then.run(self, values), otherwise.run(self, values)))
        )

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        return partial(function.doubles, self)

    def record(self, function: Callable[..., Any], *operands: Any) -> Any:
        parts = [self.value(operand) for operand in operands]
        if any(isinstance(part, Traced) for part in parts):
            return self._tape.record(function, *parts)
        return function(*map(np.asarray, parts), out=np.empty(())).item()

    def whole(self, function: Callable[[Mapping[str, Any]], Array], parts: Parts) -> Any:
        """A number now, or an input of the tape, computed from whole arrays when it is played."""
        leaves = frozenset[str]().union(*(part.leaves for part in parts if isinstance(part, Program)))
        if any(isinstance(self._values.get(name), Samples) for name in leaves):
            return self._tape.read(function)
        return float(function(self._values))

    def evaluate(self, part: ProgramArgument, values: Mapping[str, Any]) -> Array:
        return evaluate(_program(part), values)

    def evaluate_raw(self, part: ProgramArgument, values: Mapping[str, Any]) -> Array:
        return evaluate_raw(_program(part), values)

    def exact_or_array(self, part: ProgramArgument, values: Mapping[str, Any]) -> Fraction | Array:
        needed = {name: values[name] for name in part.leaves}
        if any(isinstance(value, Samples) for value in needed.values()):
            return evaluate(_program(part), needed)
        return exact(_program(part), needed)

    def stepper(
        self, part: ProgramArgument, start: Mapping[str, float], values: Mapping[str, Any]
    ) -> tuple[dict[str, Array], Callable[[], Array]]:
        needed = {leaf: values[leaf] for leaf in part.leaves if leaf not in start}
        shape = np.broadcast_shapes(*(value.array.shape for value in needed.values() if isinstance(value, Samples)))
        state = {name: np.full(shape, first) for name, first in start.items()}
        tape = Tape()
        everything = {**needed, **{name: Samples(array, 0.0, math.inf) for name, array in state.items()}}
        view = Float64(tape, everything)
        inputs = view.traced(part.leaves)
        result = view.value(part.run(view, inputs))
        assert isinstance(result, Traced)
        return state, tape.stepper(result, [inputs[name] for name in state], everything)


def _program(part: ProgramArgument) -> Program:
    assert isinstance(part, Program)
    return part


def _logs_of(step: Program, arrays: list[str], part: int) -> Callable[[Mapping[str, Any]], Array]:
    return lambda values: _distinct_logs(step, arrays, values)[part]


def _array_of(name: str) -> Callable[[Mapping[str, Any]], Array]:
    return lambda values: values[name].array


def _double(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        raise OutsideDoubleRange("a factor of the bound") from None


def _where_equal(left: Array, right: Array, then: Array, otherwise: Array, *, out: Array) -> None:
    out[...] = np.where(left == right, then, otherwise)


def _distinct_logs(step: Program, arrays: list[str], values: Mapping[str, Any]) -> tuple[Array, Array]:
    """log(1 − step) for array letters, exactly rounded: one scalar computation per distinct combination of values."""
    spread = np.broadcast_arrays(*(values[name].array for name in arrays))
    rows, where = np.unique(np.stack([part.ravel() for part in spread]), axis=1, return_inverse=True)
    logs = []
    for row in rows.T.tolist():
        exact_row = {name: Fraction(x) for name, x in zip(arrays, row, strict=True)}
        logs.append(log_q(exact(step, {**values, **exact_row})))
    leading, rest = (np.array(part)[where.ravel()] for part in ([x.leading for x in logs], [x.rest for x in logs]))
    return leading.reshape(spread[0].shape), rest.reshape(spread[0].shape)
