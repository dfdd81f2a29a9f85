"""What steps of many kinds do, as doubles on their safe sides: whole columns at once.

Exact numbers are read into the nearest doubles, and every operation is followed by a step to its safe side. What lies
so far out that products might leave the doubles is computed exactly, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.rounded import require_nearest_arrays
from ..meaning import Neighbouring, Scheme
from ..setting.arrays import Array
from .run import TrainingRun
from .sensitivity import moved_apart
from .timeline import Kind, Timeline, timeline

MOST_EXACT = 1000
"""Kinds of steps that are looked at exactly."""
_LEAST, _MOST = 2.0**-120, 2.0**120
"""Products of a few numbers between these are normal doubles."""


def up(x: Array) -> Array:
    """The doubles above."""
    found: Array = np.nextafter(x, inf)
    return found


def down(x: Array) -> Array:
    """The doubles below, towards 0."""
    found: Array = np.nextafter(x, 0.0)
    return found


def _ignoring() -> np.errstate:
    """What leaves the doubles is computed exactly afterwards."""
    return np.errstate(all="ignore")


def nearest(values: Iterable[Fraction]) -> Array:
    """One of the two doubles around each; 0 or infinity beyond them."""
    return np.array([_quotient(each.numerator, each.denominator) for each in values])


def _quotient(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return inf


@dataclass(frozen=True, eq=False)
class Columns:
    """Of the kinds of steps of a run."""

    line: Timeline
    sensitivity: Fraction
    """S_g."""
    unit: Fraction | None = None
    """That of lengths, if they are to be looked at one by one."""

    @classmethod
    def of(cls, run: TrainingRun, scheme: Scheme, relation: Neighbouring) -> Columns:
        """In a unit of the run's own, unless its steps are of too many kinds, none of them extreme."""
        found = cls(timeline(run, scheme), moved_apart(run, relation))
        if len(found.kinds) > MOST_EXACT and not found._outside.size:
            return found
        return replace(found, unit=max(map(found.jump_of, found.kinds)) or Fraction(1))

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.line.kinds

    @cached_property
    def eta(self) -> Array:
        return nearest(each.eta for each in self.kinds)

    @cached_property
    def _sigma2(self) -> Array:
        return nearest(each.sigma2 for each in self.kinds)

    @cached_property
    def _size(self) -> Array:
        return np.array([float(min(each.b, 2**60)) for each in self.kinds])

    @cached_property
    def _divisor(self) -> Array:
        return np.array([float(min(each.divisor, 2**60)) for each in self.kinds])

    @cached_property
    def _outside(self) -> Array:
        """The kinds that are computed one by one."""
        require_nearest_arrays()
        least, most = (np.minimum(self.eta, self._sigma2), np.maximum(self.eta, self._sigma2))
        whole = np.maximum(self._size, self._divisor) < 2.0**53
        good = whole & (least > _LEAST) & (most < _MOST) & (_LEAST < self.sensitivity < _MOST)
        return np.flatnonzero(~good)

    def jump_of(self, kind: Kind) -> Fraction:
        """η·S_g/divisor: how far a step can move two runs apart."""
        return kind.eta * self.sensitivity / kind.divisor

    def jump(self) -> Array:
        """Never below that, for every kind."""
        with _ignoring():
            found = up(up(up(self.eta) * double_above(self.sensitivity)) / self._divisor)
        for place in self._one_by_one:
            found[place] = double_above(self.jump_of(self.kinds[place]) / (self.unit or 1))
        return found

    def noise(self) -> Array:
        """Never above 2ησ²·(b/divisor)²: the variance of its noise."""
        ratio = down(self._size / self._divisor)
        with _ignoring():
            found = down(down(2 * down(self.eta) * down(self._sigma2)) * down(ratio * ratio))
        for place in self._one_by_one:
            found[place] = double_below(self._noise_of(self.kinds[place]) / (self.unit or 1) ** 2)
        return found

    @property
    def _one_by_one(self) -> Sequence[int]:
        return self._outside.tolist() if self.unit is None else range(len(self.kinds))

    def _noise_of(self, kind: Kind) -> Fraction:
        return 2 * kind.eta * kind.sigma2 * Fraction(kind.b, kind.divisor) ** 2

    def contraction(self, lam: Fraction) -> Array:
        """Never below 1 − ηλ, where that is not negative."""
        if not lam:
            return np.ones(len(self.kinds))
        with _ignoring():
            found: Array = np.minimum(up(1.0 - down(down(self.eta) * double_below(lam))), 1.0)
        for place in self._outside.tolist():
            found[place] = double_above(1 - self.kinds[place].eta * lam)
        return found

    def square(self) -> tuple[Array, Array]:
        """Around S_g²·η/(2σ²b²): μ² of a step whose iterate is seen."""
        scale = self.sensitivity**2 / 2
        with _ignoring():
            below = down(down(double_below(scale) * down(self.eta)) / up(self._sigma2)) / up(self._size * self._size)
            above = up(up(double_above(scale) * up(self.eta)) / down(self._sigma2)) / down(self._size * self._size)
            below, above = down(below), up(above)
        for place in self._outside.tolist():
            kind = self.kinds[place]
            exact = scale * kind.eta / (kind.sigma2 * kind.b**2)
            below[place], above[place] = double_below(exact), double_above(exact)
        return below, above
