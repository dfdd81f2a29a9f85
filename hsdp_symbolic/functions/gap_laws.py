"""What it costs to hide every hit before the next one, batches being reshuffled every epoch: its law, enclosed.

The cost U is u(N − j_1 + j_2) + … + u(N − j_K) for places j_1, …, j_K drawn by themselves (`gap_moment`). Places are
taken together in groups. A hit in one group, and the next in another, is counted as a whole number of strides of a
grid; by how much U is off is known by its mean, which is exact, and its mean square, of which no more is claimed than
an upper bound: given all groups, u rises with the place of the hit and falls with that of the next one, so what a place
adds to the gap before it and to the gap after it are of opposite order, and their covariance is not positive. What the
strides and the groups leave out is therefore of second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, frexp, ldexp, log

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.engines import Arb
from ..arithmetic.rounded import require_nearest_arrays
from ..setting.arrays import Array
from .gap_moment import log_moment_in_doubles
from .profile_means import Bin, Scattered

MOST_PLACES = 2**11
"""The most batches of an epoch."""
MOST_WORK, LITTLE_WORK = 2**32, 2**27
"""The most pairs of groups, times places of the grid, times epochs, that are followed; and what takes no time."""
_LOST = 80 * log(2)
"""Sums so large that they come about with a chance of 2^−80 are not followed."""
_TILTS = tuple(2.0**power for power in range(-4, 6))
_PRECISION = 128


@dataclass(frozen=True)
class Gaps:
    """Lipschitz constant, batches of an epoch, and epochs."""

    factor: Fraction
    batches: int
    epochs: int


@lru_cache(maxsize=32)
def shares(factor: Fraction, most: int) -> tuple[Array, Array]:
    """Doubles below and above u(g), for g = 1, …, most."""
    engine, below, above = Arb(_PRECISION), [], []
    with engine.working():
        ratio, power = engine.ball(1 / factor**2), engine.ball(Fraction(1))
        total = power
        for _ in range(most):
            ends = engine.bounds(engine.inverse(total))
            assert ends is not None
            below.append(double_below(ends[0]))
            above.append(double_above(ends[1]))
            power = engine.mul(power, ratio)
            total = engine.add(total, power)
    return np.array(below), np.array(above)


class _Grid:
    """Groups of places, and the stride; what a hit in one group costs if the next is in another, in whole strides."""

    def __init__(self, gaps: Gaps, fineness: float) -> None:
        """The stride is at most so much of a mean share."""
        self.below, self.above = shares(gaps.factor, 2 * gaps.batches - 1)
        count = gaps.batches
        many = np.minimum(np.arange(1, 2 * count), np.arange(2 * count - 1, 0, -1))
        mean = float((many * self.above).sum()) / count**2
        self.stride = ldexp(1.0, frexp(fineness * mean)[1] - 1)
        self.first = self._groups(count)
        self.sizes = np.diff([*self.first, count])
        self.chances = self.sizes / count
        start, stop = self.first, self.first + self.sizes - 1
        nearest, farthest = count - stop[:, None] + start, count - start[:, None] + stop
        one = np.arange(count)
        self.between = self._steps(count - one[:, None] + one, nearest, farthest, pairs=True)
        self.last = self._steps(count - one, count - stop, count - start, pairs=False)

    def _groups(self, count: int) -> Array:
        """Where groups begin: no longer than what moves no share by more than a stride."""
        left, right = self.above[count - 1 :: -1], self.above[:count]  # a hit there, the next at once; and the reverse
        begins = [0]
        for place in range(1, count):
            begin = begins[-1]
            if left[place] - left[begin] > self.stride or right[begin] - right[place] > self.stride:
                begins.append(place)
        return np.array(begins)

    def _steps(self, gap: Array, nearest: Array, farthest: Array, *, pairs: bool) -> _Steps:
        share = self.above[gap - 1]

        def mean(values: Array) -> Array:
            total = np.add.reduceat(values, self.first, axis=0) / self.sizes.reshape(-1, *[1] * (values.ndim - 1))
            return np.add.reduceat(total, self.first, axis=1) / self.sizes if pairs else total

        strides = np.rint(mean(share) / self.stride).astype(np.int64)
        counted = np.repeat(strides, self.sizes, axis=0)
        counted = np.repeat(counted, self.sizes, axis=1) if pairs else counted
        off = share - counted * self.stride
        least = float((self.below[farthest - 1] - strides * self.stride).min())
        most = float((self.above[nearest - 1] - strides * self.stride).max())
        return _Steps(strides, mean(off), mean(off * off), min(least, 0.0), max(most, 0.0))


@dataclass(frozen=True, eq=False)
class _Steps:
    """In strides; by how much more a hit costs, in the mean and in the mean square; at least and at most."""

    strides: Array
    off: Array
    off_square: Array
    least: float
    most: float


class GapLaw(Scattered):
    """The law of U on a grid; what is beyond it has a chance of at most `lost`."""

    def __init__(self, gaps: Gaps, grid: _Grid, length: int) -> None:
        require_nearest_arrays()
        self.gaps = gaps
        rows, self.lost = _followed(gaps, grid, length)
        kept = np.flatnonzero(rows[0])
        weight, first, second = rows[:, kept]
        self._nominal = kept * grid.stride
        self._moments = weight, first, second
        self._least, self._most = (
            (gaps.epochs - 1) * each + end
            for each, end in ((grid.between.least, grid.last.least), (grid.between.most, grid.last.most))
        )
        self._off = max(-self._least, self._most)
        self._exact = len(grid.sizes) == gaps.batches
        longest = int(grid.sizes.max())
        self._roundings = 16 * gaps.epochs * (len(grid.sizes) + longest + 16)
        self.values, self.weights, self._made = self._nominal, weight, {}

    def _new_bin(self, begin: int, end: int) -> Bin:
        """The moments about one centre.

        Roundings of weights and moments are relative to what U can be off; those of shares, which are at most 1, to 1.
        """
        part = slice(begin, end)
        weight, first, second = (each[part] for each in self._moments)
        nominal, total = self._nominal[part], float(weight.sum())
        centre = float((weight * nominal + first).sum()) / total
        away = nominal - centre
        reach = float(np.abs(away).max()) + 2 * self._off + 1
        low = max(float(nominal[0]) + self._least - self._margin, 0.0)
        return Bin(
            *(begin, end, min(low, centre), max(float(nominal[-1]) + self._most + self._margin, centre), centre, total),
            *(float((first + weight * away).sum()), reach * total),
            max(float((second + 2 * away * first + weight * away**2).sum()), 0.0),
            reach**2 * total,
            self._roundings + end - begin,
            self._exact,
        )

    def _halves(self, whole: Bin) -> list[Bin]:
        if whole.end - whole.begin == 1:
            return [whole]
        middle = (whole.begin + whole.end) // 2
        return [self._bin(whole.begin, middle), self._bin(middle, whole.end)]

    @cached_property
    def _margin(self) -> float:
        """More than what is rounded in sums of the shares of all epochs."""
        return ldexp(float(self.gaps.epochs), -44)

    def mean(self, cost: Fraction, epsilon: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
        low, high = super().mean(cost, epsilon, tolerance)
        return low, min(high + self.lost, Fraction(1))


@lru_cache(maxsize=32)
def gap_law(gaps: Gaps, fineness: float, most_work: int = MOST_WORK) -> GapLaw | None:
    """The law on a grid whose stride is at most so much of what a hit costs in the mean; None if that is more work."""
    grid = _Grid(gaps, fineness)
    length = _length(gaps, grid)
    if len(grid.sizes) ** 2 * length * gaps.epochs > most_work:
        return None
    return GapLaw(gaps, grid, length)


def _followed(gaps: Gaps, grid: _Grid, length: int) -> tuple[Array, Fraction]:
    """Weight, first and second moment of what U is off, by its strides; and the chance of what was not followed."""
    groups, chances, between = len(grid.sizes), grid.chances, grid.between
    here = np.zeros((groups, 3, 1))
    here[:, 0, 0] = chances
    begin, lost = 0, 0.0
    for _ in range(gaps.epochs - 1):
        last = min(begin + here.shape[2] - 1 + int(between.strides.max()), length - 1)
        start = begin + int(between.strides.min())
        after = np.zeros((groups, 3, max(last - start + 1, 1)))
        for place in range(groups):
            lost += _move(here[place], begin, between, place, chances, after, start)
        here, begin = after, start
    end = np.zeros((3, min(begin + here.shape[2] + int(grid.last.strides.max()), length)))
    for place in range(groups):
        at = begin + int(grid.last.strides[place])
        kept = max(0, min(here.shape[2], end.shape[1] - at))
        moved = _moved(here[place][:, :kept], grid.last.off[place], grid.last.off_square[place])
        for row, more in zip(end[:, at : at + kept], moved, strict=True):
            row += more
        lost += float(here[place][0, kept:].sum())
    return end, 2 * Fraction(lost)


def _move(row: Array, begin: int, steps: _Steps, place: int, chances: Array, after: Array, start: int) -> float:
    """Add what comes after a hit in this group, for all groups of the next; the chance of what is lost."""
    strides = steps.strides[place]
    ends = [0, *(np.flatnonzero(np.diff(strides)) + 1).tolist(), len(strides)]
    lost = 0.0
    for first, beyond in pairwise(ends):
        group = slice(first, beyond)
        at = begin + int(strides[first]) - start
        kept = max(0, min(row.shape[1], after.shape[2] - at))
        chance = chances[group, None]
        weight, off, square = row[:, None, :kept]
        mean, mean_square = steps.off[place, group, None], steps.off_square[place, group, None]
        into = after[group, :, at : at + kept]
        into[:, 0] += chance * weight
        into[:, 1] += chance * off + (chance * mean) * weight
        into[:, 2] += chance * square + (2 * chance * mean) * off + (chance * mean_square) * weight
        if kept < row.shape[1]:
            lost += float(row[0, kept:].sum()) * float(chance.sum())
    return lost


def _moved(row: Array, mean: float, mean_square: float) -> tuple[Array, Array, Array]:
    weight, off, square = row
    return weight, off + mean * weight, square + 2 * mean * off + mean_square * weight


def _length(gaps: Gaps, grid: _Grid) -> int:
    """How many strides are followed: larger sums are next to never."""
    stride, most = grid.stride, gaps.epochs + 1.0
    for tilt in _TILTS:
        moment = log_moment_in_doubles(tilt, gaps.factor, gaps.batches, gaps.epochs)
        most = min(most, (moment + _LOST) / tilt)
    return ceil((most + 2 * gaps.epochs * (grid.between.most - grid.between.least)) / stride) + 2
