"""The gate for arrays: like `gate.admit`, for many values at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError
from .gate import admit
from .letters import LETTERS, Letter

Array = npt.NDArray[Any]
"""Of doubles or whole numbers, and of truth values where arrays are compared: NumPy has no type for all three."""
_PIECE = 1 << 15
"""Elements looked at in one go, few enough to stay in the cache."""


@dataclass(frozen=True, eq=False)
class Samples:
    """An array all of whose elements are in a letter's range, with its extremes."""

    array: Array
    least: float
    greatest: float

    def __pow__(self, exponent: int) -> Samples:
        """The elementwise power, of positive values."""
        return Samples(self.array.astype(np.float64) ** exponent, self.least**exponent, self.greatest**exponent)


def admit_array(name: str, value: object) -> Fraction | Samples:
    """`value` as an exact scalar, or as an array whose elements all passed the gate.

    Elements of a list may be anything the scalar gate takes; those of a NumPy array count as the doubles they are, not
    as the shortest decimals of these.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (np.ndarray, Sequence)) or isinstance(value, str):
        return admit(name, value)
    array = value if isinstance(value, np.ndarray) else _from_sequence(name, value)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(name, array.dtype.name, "not a plain array of numbers", "give integers or float64")
    if array.size == 0:
        return Samples(array, math.inf, -math.inf)
    samples = Samples(array, *_extremes(array))
    _check(LETTERS[name] if name in LETTERS else Letter(name, "", name), samples)
    return samples


def align(values: Mapping[str, Fraction | Samples]) -> dict[str, Fraction | Samples]:
    """All arrays with as many axes as their common shape; 1-D arrays of different lengths span a grid, in order."""
    found = {name: value.array for name, value in values.items() if isinstance(value, Samples)}
    try:
        dimensions = len(np.broadcast_shapes(*(array.shape for array in found.values())))
    except ValueError:
        if any(array.ndim != 1 for array in found.values()):
            shapes = ", ".join(f"{name} {array.shape}" for name, array in found.items())
            raise ArgumentError("arrays", shapes, "shapes do not broadcast", "give compatible shapes") from None
        found = dict(zip(found, np.ix_(*found.values()), strict=True))
        dimensions = len(found)
    return {
        name: replace(value, array=found[name].reshape((1,) * (dimensions - found[name].ndim) + found[name].shape))
        if isinstance(value, Samples)
        else value
        for name, value in values.items()
    }


def _from_sequence(name: str, value: Sequence[object]) -> Array:
    if isinstance(value, range):
        return np.asarray(value)
    given = np.array(value, dtype=object)
    if any(isinstance(element, (list, tuple)) for element in given.flat):
        raise ArgumentError(name, value, "a ragged list is not an array", "give rows of equal length")
    if given.size and all(
        type(element) is float or (type(element) is int and abs(element) < 2**53) for element in given.flat
    ):
        return np.array(value)
    return np.array([float(admit(name, element)) for element in given.flat]).reshape(given.shape)


def _extremes(array: Array) -> tuple[float, float]:
    """Least and greatest element (NaN if any is), with one pass over memory."""
    pieces = [array[start : start + _PIECE] for start in range(0, len(array), _PIECE)] if array.ndim == 1 else [array]
    extremes = np.array([(piece.min(), piece.max()) for piece in pieces])
    return extremes[:, 0].min().item(), extremes[:, 1].max().item()


def _check(letter: Letter, samples: Samples) -> None:
    def fits(x: float) -> bool:
        return math.isfinite(x) and letter.admits(Fraction(x))

    array = samples.array
    fractional = letter.integer and array.dtype.kind == "f" and not np.all(array == np.floor(array))
    if fractional or not (fits(samples.least) and fits(samples.greatest)):
        bad = next(x.item() for x in array.flat if not fits(x.item()))
        raise ArgumentError(letter.name, bad, f"{letter.meaning} is out of range", f"give {letter.describe_range()}")
