"""The dynamic programme over shifts in plain doubles, for many costs at once: a sketch of `ShiftControl`.

One pass backwards serves all costs; after each epoch of it there is the value for a run of so many epochs.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..progress import Ticker
from ..setting.arrays import Array
from .shift_programme import SETTLED, Programme, grid
from .sketch import Table

SKETCH_POINTS = 128
STEPS_IN_FULL = 4000
"""Longer programmes are sketched on half as many points."""
_STEEPEST = 500.0
"""Beyond this exponent a mixture continues along its tangent."""


def sketch_programme(costs: Array, shape: Programme) -> Array:
    """W₀(0) for `costs`, with all else as in `shape`, to a few per cent; infinite for costs out of its range."""
    return _table(shape.q, shape.rate, shape.batches).at(costs, shape.epochs)


@lru_cache(maxsize=64)
def _table(q: Fraction, rate: Fraction, batches: int) -> Table:
    return Table(lambda costs, epochs: values_by_epoch(costs, Programme(Fraction(1), q, rate, batches, epochs)))


def values_by_epoch(costs: Array, shape: Programme) -> Array:
    """W₀(0), one row per cost, after 1, 2, … epochs or until all rows have settled."""
    points = SKETCH_POINTS if shape.steps_that_matter <= STEPS_IN_FULL else SKETCH_POINTS // 2
    passes, ticker, found = _Passes(costs, shape, points), Ticker(), []
    for epoch in range(shape.epochs):
        passes.epoch()
        found.append(passes.fresh[:, 0].copy())
        ticker.say(f"looking for the best order: {epoch + 1:,} of {shape.epochs:,} epochs")
        rest = passes.fresh[:, -1] - passes.fresh[:, 0]
        if shape.settles and np.all(rest <= SETTLED * passes.fresh[:, 0]):
            break
    ticker.clear()
    return np.stack(found, axis=1)


class _Passes:
    """W over costs × grid points, one step back after the other; `used` is W for a record used already in this pass."""

    def __init__(self, costs: Array, shape: Programme, points: int) -> None:
        self._z = grid(float(shape.farthest), points)
        self._widths = np.diff(self._z)
        self._cost = costs[:, None]
        self._missed = float(shape.q) * self._z
        self._hit = self._missed + 1
        self._chances = [float(shape.chance(batch)) for batch in range(shape.batches)]
        self._rows = np.arange(len(costs))[:, None] * points
        cells = np.arange(points - 1)
        self._places = (self._rows + np.stack([cells, cells + 1], axis=1).ravel()).ravel().astype(float)
        self._ended = True
        self.fresh: Array = np.zeros((len(costs), points))
        self.used: Array = self.fresh

    def epoch(self) -> None:
        """One pass back through all its batches."""
        self.used = self.fresh
        for batch in reversed(range(len(self._chances))):
            self._step(batch)

    def _step(self, batch: int) -> None:
        if self._ended:  # after the last step nothing may be left: z' = 0
            hit, missed = (self._cost * y * y for y in (self._hit, self._missed))
            self.fresh, self.used, self._ended = _mixed(self._chances[batch], hit, missed), missed, False
            return
        if batch:
            both = self._removed(self.used, np.concatenate([self._missed, self._hit]))
            used, hit = both[:, : len(self._z)], both[:, len(self._z) :]
        else:
            used, hit = self.used, self._removed(self.used, self._hit)
        missed = self._removed(self.fresh, self._missed)
        self.fresh, self.used = _mixed(self._chances[batch], hit, missed), used

    def _removed(self, W: Array, y: Array) -> Array:
        """min over z' ≤ y of c(y − z')² + W(z'), with W linear between grid points."""
        slopes = np.diff(W) / (self._widths * (2 * self._cost))
        turns = np.empty((len(W), 2 * slopes.shape[1]))
        turns[:, 0::2], turns[:, 1::2] = self._z[:-1] + slopes, self._z[1:] + slopes
        turns = np.maximum.accumulate(turns, axis=1)
        # One sorted list for all rows: each is moved beyond the end of the one before.
        beyond = np.cumsum(turns[:, -1] + 1.0)[:, None] - (turns[:, -1] + 1.0)[:, None]
        wanted = np.clip(y, turns[:, :1], turns[:, -1:]) + beyond
        place = np.interp(wanted, (turns + beyond).ravel(), self._places) - self._rows
        cell = np.minimum(place.astype(int), len(self._widths) - 1)
        theta = place - cell
        away = np.maximum(y - self._z[cell] - theta * self._widths[cell], 0.0)
        start = self._rows + cell
        flat = W.ravel()
        here = flat[start]
        found: Array = self._cost * away * away + here + theta * (flat[start + 1] - here)
        return found


def _mixed(chance: float, first: Array, second: Array) -> Array:
    """log(p·e^first + (1 − p)·e^second), accurate for small values too."""
    gap = first - second
    weight = np.where(gap >= 0, chance, 1 - chance)
    np.abs(gap, out=gap)
    near = np.minimum(gap, _STEEPEST)
    found: Array = np.minimum(first, second) + (gap - near) + np.log1p(weight * np.expm1(near))
    return found
