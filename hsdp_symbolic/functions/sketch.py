"""Sketches of functions that take long: plain doubles, for many costs at once. They only tell a search where to look.

Runs that differ in noise, sensitivity and order alone are one function at different costs, and its logarithm is a
smooth function of log cost. So it is tabulated along powers of two and interpolated.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from ..setting.arrays import Array

LEAST_COST, MOST_COST = 1e-100, 1e100
"""Costs outside are refused; what is computed from those inside stays within doubles."""
PER_OCTAVE = 4
"""Entries of a table for every factor of 2 in the cost."""
WIDE = 3.0
"""Costs spread over more octaves (factors of 2) than this are interpolated between powers of two."""


class Table:
    """Logarithms of values at costs 2^(k/4), by k, after 1, 2, … epochs; rows are added where asked for."""

    def __init__(self, values: Callable[[Array, int], Array]) -> None:
        self._values = values
        self._rows: dict[int, Array] = {}
        self._epochs = 0
        self._filling = Lock()

    def at(self, costs: Array, epochs: int) -> Array:
        """The value for each cost after so many epochs; infinite for costs out of range."""
        found = np.full(costs.shape, np.inf)
        inside = (costs >= 4 * LEAST_COST) & (costs <= MOST_COST / 8)
        if np.any(inside):
            with self._filling:  # all threads share a table, and a longer run starts it afresh
                found[inside] = self._interpolated(PER_OCTAVE * np.log2(costs[inside]), epochs)
        return found

    def _interpolated(self, exponents: Array, epochs: int) -> Array:
        """By the cubic through the four nearest entries of a table with entries every `stride`."""
        stride = PER_OCTAVE if np.ptp(exponents) > WIDE * PER_OCTAVE else 1
        below = np.floor(exponents / stride).astype(int)
        t = exponents / stride - below
        cells = {int(cell) for cell in below}
        self._fill(sorted({(cell + j) * stride for cell in cells for j in (-1, 0, 1, 2)}), epochs)

        def entry(j: int) -> Array:
            rows = (self._rows[(int(cell) + j) * stride] for cell in below)
            return np.array([row[min(epochs, len(row)) - 1] for row in rows])

        left, right = entry(0), entry(1)
        with np.errstate(invalid="ignore"):
            cubic = (
                -t * (t - 1) * (t - 2) / 6 * entry(-1)
                + (t + 1) * (t - 1) * (t - 2) / 2 * left
                - (t + 1) * t * (t - 2) / 2 * right
                + (t + 1) * t * (t - 1) / 6 * entry(2)
            )
        # Values rise with the cost; near the cost at which a moment explodes a cubic overshoots, or is not finite.
        logs = np.where(np.isfinite(cubic), np.clip(cubic, left, right), right)
        with np.errstate(over="ignore"):
            found: Array = np.exp(logs)
        return found

    def _fill(self, wanted: list[int], epochs: int) -> None:
        if epochs > self._epochs:
            self._rows.clear()
            self._epochs = epochs
        missing = [k for k in wanted if k not in self._rows]
        if missing:
            rows = self._values(2.0 ** (np.array(missing) / PER_OCTAVE), self._epochs)
            self._rows.update(zip(missing, np.log(rows), strict=True))
