"""How far told places lead: bounds on the law of z = Σ_(e < told) q^(Ne + i_e), each i_e one of 0, …, N − 1 by itself.

On a grid, for means of functions of z that rise and are convex. From above what lies between two points of the grid is
moved to both of them, its mean kept, so that such a mean can only grow; from below what lies between them is gathered
at its mean. What rounding moves or loses is made up for at the end.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.rounded import UNIT, require_nearest_arrays
from ..setting.arrays import Array

MOST_PLACES = 512
"""Places of an epoch that are told apart; if there are more, neighbours share one."""
NEGLIGIBLE = 1e-9
"""Epochs that together add less than this are not averaged over."""
MOST_EPOCHS = 2000


class Distances(NamedTuple):
    """Distances and their chances, rounded to one side."""

    away: Array
    chances: Array


@lru_cache(maxsize=1 << 10)
def told_distances(factor: Fraction, count: int, told: int, cells: int, *, above: bool) -> Distances:
    """The law on at most `cells` intervals, for convex rising functions rounded up (`above`) or down."""
    require_nearest_arrays()
    if not told:
        return Distances(np.zeros(1), np.ones(1))
    places, shares = _places(factor, count, above=above)
    shrink = _power(factor, count, above=above)
    epochs, rest = _epochs(shrink, told)
    away, chances = np.array([rest if above else 0.0]), np.ones(1)
    top, rounded = rest, 8.0
    for _ in range(epochs):
        top = (shrink * top + 1.0) * (1 + 8 * UNIT)
        moved = (shrink * away[:, None] + places[None, :]).ravel()
        weights = (chances[:, None] * shares[None, :]).ravel()
        away, chances = (_spread if above else _gathered)(moved, weights, top, cells)
        rounded += moved.size + 8.0
    side = 1.0 if above else -1.0
    off = top * (16.0 * epochs + 16.0) * UNIT * (cells + 8)
    chances = chances * (1 + side * 4 * UNIT * rounded)
    return Distances(np.maximum(away + side * off, 0.0), np.maximum(chances, 0.0))


def _power(factor: Fraction, exponent: int, *, above: bool) -> float:
    """factor^exponent for 0 < factor ≤ 1, rounded to the side asked for, by squaring."""
    square, pad = (double_above(factor), 1 + 4 * UNIT) if above else (double_below(factor), 1 - 4 * UNIT)
    found = 1.0
    while exponent:
        if exponent & 1:
            found *= square * pad
        square *= square * pad
        exponent >>= 1
    return min(found, 1.0)


def _places(factor: Fraction, count: int, *, above: bool) -> tuple[Array, Array]:
    """q^i for the places that are told apart, and the chance of each."""
    stride = -(-count // MOST_PLACES)
    firsts = np.arange(0, count, stride)
    many = np.minimum(stride, count - firsts)
    taken = firsts if above else firsts + many - 1
    found = np.array([_power(factor, place, above=above) for place in taken.tolist()])
    return found, many / count


def _epochs(shrink: float, told: int) -> tuple[int, float]:
    """How many of the epochs are averaged over, and how far all the others may lead together."""
    epochs, left = 0, 1.0
    while epochs < min(told, MOST_EPOCHS):
        rest = _others(shrink, told - epochs)
        if left * rest < NEGLIGIBLE:
            break
        epochs, left = epochs + 1, left * shrink
    return epochs, _others(shrink, told - epochs) * (1 + 1e-9)


def _others(shrink: float, many: int) -> float:
    """Σ_(e < many) shrink^e, or more."""
    return float(many) if shrink >= 1 else min(float(many), (1 + 1e-12) / (1 - shrink))


def _spread(moved: Array, weights: Array, top: float, cells: int) -> tuple[Array, Array]:
    """Each point moved to the two points of the grid around it, its mean kept."""
    scaled = moved * (cells / top)
    low = np.minimum(np.floor(scaled).astype(np.int64), cells - 1)
    part = np.clip(scaled - low, 0.0, 1.0)
    found = np.bincount(low, weights * (1 - part), cells + 1) + np.bincount(low + 1, weights * part, cells + 1)
    return np.arange(cells + 1) * (top / cells), found


def _gathered(moved: Array, weights: Array, top: float, cells: int) -> tuple[Array, Array]:
    """All points between two of the grid gathered at their mean."""
    low = np.minimum(np.floor(moved * (cells / top)).astype(np.int64), cells - 1)
    mass, sums = np.bincount(low, weights, cells), np.bincount(low, weights * moved, cells)
    some = mass > 1e-200
    return sums[some] / mass[some], mass[some]
