"""Bounds on runs whose steps are not all alike, that show more than the last iterate, or that are projected.

One theorem bounds them all: whatever steps do, shifts that hide every use of the record cost Σa²/v in all
(`functions.scheduled_shifts`). Where the order of the records is random, δ is the mean over the rank of the record in
it; records are taken in groups, each as if it had the last rank of its group.

Guarantee: μ² is never below what the theorem gives, and δ is certified from above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf, nextafter

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..functions.scheduled_set import from_step, spent_in_set
from ..functions.scheduled_shifts import Schedule as ShiftsOfSteps
from ..functions.scheduled_shifts import Steps
from ..meaning import Neighbouring, Scheme
from ..setting.arrays import Array
from .run import TrainingRun
from .sensitivity import moved_apart
from .step_constants import Constants
from .timeline import Kind, timeline

MOST_GROUPS = 64
MOST_WORK = 6 * 10**6
"""Steps that are looked at in all, over all groups."""


@dataclass(frozen=True)
class Cost:
    """μ² for records of such ranks, and how many of all records these are."""

    share: Fraction
    square: float


class Costs:
    """What a run costs by shifts, for every group of ranks."""

    def __init__(self, run: TrainingRun, scheme: Scheme, relation: Neighbouring = Neighbouring.REPLACE_ONE) -> None:
        self.run, self.scheme = run, scheme
        self.line = timeline(run, scheme)
        self.S_g = moved_apart(run, relation)
        self.constants = Constants.of(run, self.line.kinds)
        kinds, self._which = self.line.kinds, self.line.kind
        moves = [_moves(kind, self.S_g) for kind in kinds]
        factors = [self.constants.factor(kind) for kind in kinds]
        self._factor = np.array([1.0 if each is None else double_above(each) for each in factors])[self._which]
        self._jump = np.array([double_above(jump) for jump, _ in moves])[self._which]
        self._noise = np.array([double_below(noise) for _, noise in moves])[self._which]
        blank = np.flatnonzero(np.array([each is None for each in factors])[self._which])
        steps = self.line.steps
        self.cuts = np.unique(np.concatenate([np.array(run.released.seen(steps), dtype=np.int64), blank[blank > 0]]))
        """Numbers of steps after which both runs must be at one point: it is seen, or may be spread by the next."""
        self._inside = self.cuts[self.cuts < steps]
        self._bounds, splits = self._groups()
        self._epochs = np.union1d(self.line.epochs, splits)
        """Where what uses a record at most once begins: epochs, cut where it is known on which side the record is."""

    def all(self) -> Iterator[Cost]:
        """μ² for each group of ranks; where batches are the same in every run, only the largest counts."""
        for low, high in pairwise(self._bounds):
            yield Cost(Fraction(high - low, self.line.records), self._of(self._places(low, high)))

    def _groups(self) -> tuple[list[int], Array]:
        """Ranks at which groups begin, and the end of the last; and the cuts that no group has on both sides."""
        line, n = self.line, self.line.records
        cuts = self._inside
        if self.scheme is Scheme.FULL_BATCH:
            return [0, n], cuts[:0]
        ends = line.last
        if self.scheme is Scheme.RESHUFFLE:
            ends, cuts = ends[line.epoch == line.epoch[-1]], cuts[line.epoch[cuts] == line.epoch[-1]]
        most = max(2, min(MOST_GROUPS, MOST_WORK // line.steps))
        chosen = np.unique(line.first[cuts])  # lower ranks are used before the cut, others after it
        if len(chosen) > most:
            chosen, cuts = chosen[:0], cuts[:0]
        if self.scheme is not Scheme.FIXED:
            chosen = np.union1d(chosen, _some(np.unique(ends), most))
        return sorted({0, n, *chosen.tolist()}), cuts

    def _places(self, low: int, high: int) -> Array:
        """For every epoch (or what is left of one between cuts) the last step that may use such a record, or −1."""
        line, begins = self.line, self._epochs
        last = np.maximum.reduceat(np.where(line.first < high, np.arange(line.steps), -1), begins)
        last = np.where(line.last[last] <= low, -1, last)
        if self.scheme is Scheme.RESHUFFLE:  # only in the last epoch is it known where the record is
            ends = np.append(begins[1:], line.steps) - 1
            last = np.where(line.epoch[begins] < line.epoch[-1], ends, last)
        return last

    @cached_property
    def _shifts(self) -> ShiftsOfSteps:
        return ShiftsOfSteps(self._steps, self.cuts)

    @property
    def _steps(self) -> Steps:
        return Steps(self._factor, self._noise, self._jump, self._epochs)

    def _of(self, places: Array) -> float:
        """μ² for one plan."""
        plain = self._shifts.spent(places)
        if self.run.projection is None:
            return plain
        known = int(self._inside[-1]) if self._inside.size else 0
        early = np.where(self._epochs < known, np.minimum(places, known - 1), -1)
        before = self._shifts.spent(early) if known else 0.0
        after = spent_in_set(*from_step(self._steps, places, known), double_above(self.run.projection))
        return min(plain, nextafter(before + after, inf))


def _moves(kind: Kind, S_g: Fraction) -> tuple[Fraction, Fraction]:
    """How far a step can move two runs apart, and the variance of its noise."""
    noise = 2 * kind.eta * kind.sigma2 * Fraction(kind.b, kind.divisor) ** 2
    return kind.eta * S_g / kind.divisor, noise


def _some(values: Array, most: int) -> Array:
    """At most so many of these, half of them evenly and half towards the last."""
    if len(values) <= most:
        return values
    half = most // 2
    even = np.linspace(0, len(values) - 1, half).round().astype(np.int64)
    late = len(values) - 1 - np.round(np.geomspace(1, len(values), half) - 1).astype(np.int64)
    return values[np.union1d(even, late[late >= 0])]


def square_at_once(run: TrainingRun, scheme: Scheme, relation: Neighbouring) -> Fraction:
    """μ² if every iterate is seen: in every epoch the record is used once, in the step where that costs most."""
    line, S_g = timeline(run, scheme), moved_apart(run, relation)
    moves = [_moves(kind, S_g) for kind in line.kinds]
    values = sorted({jump**2 / noise for jump, noise in moves})
    place = {value: number for number, value in enumerate(values)}
    rank = np.array([place[jump**2 / noise] for jump, noise in moves])[line.kind]
    counts = np.bincount(np.maximum.reduceat(rank, line.epochs), minlength=len(values))
    return sum((value * int(count) for value, count in zip(values, counts, strict=True)), Fraction(0))
