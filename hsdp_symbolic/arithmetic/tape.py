"""Record NumPy operations once, replay them on cache-sized pieces of large arrays.

Expressions are evaluated on `Traced` stand-ins first: whatever involves only scalars is computed at once, and the array
operations that remain are recorded on a `Tape`. Replaying them costs one NumPy call each, reusing buffers whose values
are no longer needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = npt.NDArray[Any]
Source = Callable[[Any], Array]
"""Finds an input array among the values that a tape is played with."""
ELEMENTS_AT_ONCE = 1 << 15
"""Elements per piece: the few buffers alive at a time then stay in the second-level cache."""


_SMALLEST = 1e-100
"""Merged scalar factors stay between this and its inverse, so that they cannot under- or overflow."""


@dataclass(frozen=True)
class _Slot:
    """The result of a recorded call, or an input array; numbered in the order of appearance."""

    index: int


@dataclass(frozen=True)
class _Call:
    function: Callable[..., Any]
    operands: tuple[_Slot | float, ...]


class Traced(NDArrayOperatorsMixin):
    """Stands for `scale` times an array of magnitude at most `bound` (and nonnegative, if known) while recording."""

    def __init__(
        self, tape: Tape, slot: _Slot, scale: float = 1.0, bound: float = math.inf, *, nonnegative: bool = False
    ) -> None:
        self.tape, self.slot, self.scale, self.bound, self.nonnegative = tape, slot, scale, bound, nonnegative

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        if ufunc is np.multiply:
            return self.tape.multiply(*inputs)
        if ufunc is np.add:
            return self.tape.add(*inputs)
        if ufunc is np.divide and not isinstance(inputs[0], Traced):
            return self.tape.multiply(float(inputs[0]), self.tape.invert(inputs[1]))
        return self.tape.record(ufunc, *inputs)


def bound(x: Any) -> float:
    """An upper bound on the magnitude of a scalar or traced array (infinite if nothing is known)."""
    return x.bound * abs(x.scale) if isinstance(x, Traced) else abs(float(x))


def at_most(x: Any, limit: float) -> bool:
    """Whether a scalar or traced array is known not to exceed `limit` ≥ 0."""
    return bound(x) <= limit or (isinstance(x, Traced) and x.nonnegative and x.scale <= 0)


class Tape:
    """The array operations of one evaluation, in order."""

    def __init__(self) -> None:
        self._inputs: dict[_Slot, Source] = {}
        self._calls: dict[_Slot, _Call] = {}
        self._known: dict[_Call, _Slot] = {}
        self._players: dict[_Slot, _Player] = {}

    def read(self, source: Source, magnitude: float = math.inf, *, nonnegative: bool = False) -> Traced:
        """An input array, of elements no larger than `magnitude`; `source` finds it among the values of a play."""
        slot = self._new_slot()
        self._inputs[slot] = source
        return Traced(self, slot, bound=magnitude, nonnegative=nonnegative)

    def _new_slot(self) -> _Slot:
        return _Slot(len(self._inputs) + len(self._calls))

    def record(self, function: Callable[..., Any], *inputs: Any) -> Traced:
        """One call on values with their scale applied, recorded once however often it is asked for."""
        return Traced(self, self._call(function, *(self._settled(x) for x in inputs)))

    def multiply(self, x: Any, y: Any) -> Traced:
        """A product; its scalar factors are merged and applied when the value is needed."""
        if not isinstance(x, Traced):
            x, y = y, x
        if not isinstance(y, Traced):
            return self._scaled(x, float(y))
        both = x.nonnegative and y.nonnegative
        slot = self._call(np.multiply, x.slot, y.slot)
        return self._scaled(Traced(self, slot, x.scale, x.bound * y.bound, nonnegative=both), y.scale)

    def add(self, x: Any, y: Any) -> Traced:
        total = bound(x) + bound(y)
        if isinstance(x, Traced) and x.scale == -1.0:
            x, y = y, x
        if isinstance(y, Traced) and y.scale == -1.0:
            return Traced(self, self._call(np.subtract, self._settled(x), y.slot), bound=total)
        return Traced(self, self._call(np.add, self._settled(x), self._settled(y)), bound=total)

    def invert(self, x: Traced) -> Traced:
        return self._scaled(Traced(self, self._call(np.divide, 1.0, x.slot)), 1.0 / x.scale)

    def _scaled(self, x: Traced, factor: float) -> Traced:
        product = x.scale * factor
        if _SMALLEST < abs(product) < 1 / _SMALLEST:
            return Traced(self, x.slot, product, x.bound, nonnegative=x.nonnegative)
        return self.record(np.multiply, x, factor)  # merging would under- or overflow

    def _settled(self, x: Any) -> _Slot | float:
        """Where the value of `x` is, with its scale applied; a scalar as it is."""
        if not isinstance(x, Traced):
            return float(x)
        return x.slot if x.scale == 1.0 else self._call(np.multiply, x.slot, x.scale)

    def _call(self, function: Callable[..., Any], *operands: _Slot | float) -> _Slot:
        call = _Call(function, operands)
        if call not in self._known:
            slot = self._new_slot()
            self._known[call], self._calls[slot] = slot, call
        return self._known[call]

    def play(self, result: Any, values: Any = None) -> Array:
        """The value of `result` (a `Traced` of this tape, or a scalar) over the broadcast inputs found in `values`.

        A tape may be played again with other values, but not by two threads at a time: its buffers are reused.
        """
        arrays = [source(values) for source in self._inputs.values()]
        out = np.empty(np.broadcast_shapes(*(array.shape for array in arrays)))
        if not isinstance(result, Traced):
            out[...] = result
            return out
        last = self._last(result)
        if last not in self._players:
            self._players[last] = _Player(self._schedule(last), list(self._inputs))
        self._players[last].fill(out, [a.reshape((1,) * (out.ndim - a.ndim) + a.shape) for a in arrays])
        return out

    def stepper(self, result: Traced, state: list[Traced], values: Any) -> Callable[[], Array]:
        """A function that computes `result` anew from the current contents of the input arrays in `state`.

        What does not depend on the state is computed now, once. The state must be float64.
        """
        steps = self._schedule(self._last(result), keep=True)
        _, calls = _Player(steps, list(self._inputs)).bind([source(values) for source in self._inputs.values()])
        depends, varying = {part.slot for part in state}, []
        for (slot, call, _), bound_call in zip(steps, calls, strict=True):
            function, operands, target = bound_call
            if depends.intersection(call.operands):
                depends.add(slot)
                varying.append(bound_call)
            else:
                function(*operands, out=target)

        def step() -> Array:
            for function, operands, target in varying:
                function(*operands, out=target)
            last: Array = calls[-1][2]
            return last

        return step

    def _last(self, result: Traced) -> _Slot:
        last = self._settled(result)
        if last in self._inputs:
            last = self._call(np.positive, last)
        assert isinstance(last, _Slot)
        return last

    def _schedule(self, last: _Slot, *, keep: bool = False) -> list[_Step]:
        """The calls `last` needs, each with its slot and the slots whose last reader it is (none with `keep`)."""
        needed, steps = {last}, []
        for slot in reversed(self._calls):
            if slot not in needed:
                continue
            reads = {operand for operand in self._calls[slot].operands if isinstance(operand, _Slot)}
            steps.append((slot, self._calls[slot], () if keep else tuple(reads - needed)))
            needed |= reads
        return steps[::-1]


_Step = tuple[_Slot, _Call, tuple[_Slot, ...]]


class _Player:
    """Replays a schedule piece by piece; every value gets its buffer beforehand, since allocation takes most time."""

    def __init__(self, steps: list[_Step], inputs: list[_Slot]) -> None:
        self._steps, self._inputs = steps, inputs
        self._bound: dict[Any, tuple[list[Any], list[Any]]] = {}

    def fill(self, out: Array, arrays: list[Array]) -> None:
        if out.size <= ELEMENTS_AT_ONCE:
            self._fill_piece(out, arrays)
            return
        axis = next(a for a, length in enumerate(out.shape) if length > 1)
        length = max(1, ELEMENTS_AT_ONCE * out.shape[axis] // out.size)
        for start in range(0, out.shape[axis], length):
            window = (slice(None),) * axis + (slice(start, start + length),)
            self.fill(out[window], [array[window] if array.shape[axis] > 1 else array for array in arrays])

    def _fill_piece(self, out: Array, arrays: list[Array]) -> None:
        key = tuple((array.shape, array.dtype) for array in arrays)
        if key not in self._bound:
            self._bound[key] = self.bind(arrays)
        sources, calls = self._bound[key]
        for array, (buffer, readers) in zip(arrays, sources, strict=True):
            if buffer is not None:
                buffer[...] = array
            for operands, position in readers:
                operands[position] = array
        for function, operands, target in calls[:-1]:
            function(*operands, out=target)
        function, operands, _ = calls[-1]
        function(*operands, out=out)

    def bind(self, arrays: list[Array]) -> tuple[list[Any], list[Any]]:
        """The calls with operands and targets filled in; targets reuse the buffers of values no longer needed.

        A source is read where it lies if it is float64 already, and copied to a buffer if not.
        """
        in_place = {slot: array.dtype == np.float64 for slot, array in zip(self._inputs, arrays, strict=True)}
        values: dict[_Slot, Array] = {
            slot: array if in_place[slot] else array.astype(np.float64)
            for slot, array in zip(self._inputs, arrays, strict=True)
        }
        readers: dict[_Slot, list[Any]] = {slot: [] for slot in self._inputs}
        spare: dict[tuple[int, ...], list[Array]] = {}
        calls = []
        for slot, call, dying in self._steps:
            operands = [values[x] if isinstance(x, _Slot) else x for x in call.operands]
            for position, x in enumerate(call.operands):
                if isinstance(x, _Slot) and in_place.get(x):
                    readers[x].append((operands, position))
            shape = np.broadcast_shapes(*(x.shape for x in operands if isinstance(x, np.ndarray)))
            for dead in dying:
                if dead not in readers:
                    spare.setdefault(values[dead].shape, []).append(values[dead])
            values[slot] = spare[shape].pop() if spare.get(shape) else np.empty(shape)
            calls.append((call.function, operands, values[slot]))
        sources = [(None if in_place[slot] else values[slot], readers[slot]) for slot in self._inputs]
        return sources, calls
