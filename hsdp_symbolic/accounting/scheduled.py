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
from math import fsum, inf, nextafter

import numpy as np

from ..arithmetic.doubles import double_above
from ..evaluate.enclosure import Enclosure
from ..functions.scheduled_set import from_step, spent_in_set
from ..functions.scheduled_shifts import Schedule as ShiftsOfSteps
from ..functions.scheduled_shifts import Steps
from ..meaning import Scheme
from ..setting.arrays import Array
from .columns import Columns
from .run import TrainingRun
from .step_constants import Constants

MOST_GROUPS = 64
MOST_WORK = 6 * 10**6
"""Steps that are looked at in all, over all groups."""
MOST_EARLIER, MOST_PLANNED = 12, 4 * 10**5
"""Groups of ranks in the epoch before the last; and epochs that are looked at in all, over all pairs of groups."""


@dataclass(frozen=True)
class Cost:
    """μ² for records of such ranks, and how many of all records these are."""

    share: Fraction
    square: float


class Costs:
    """What a run costs by shifts, for every group of ranks."""

    def __init__(self, run: TrainingRun, scheme: Scheme, columns: Columns) -> None:
        self.run, self.scheme, self.line = run, scheme, columns.line
        self.constants = Constants.of(run, columns)
        which = self.line.kind
        known = np.isfinite(self.constants.factor)
        self._factor = np.where(known, self.constants.factor, 1.0)[which]
        self._jump, self._noise = columns.jump()[which], columns.noise()[which]
        blank = np.flatnonzero(~known[which])
        steps = self.line.steps
        self.cuts = np.unique(np.concatenate([np.array(run.released.seen(steps), dtype=np.int64), blank[blank > 0]]))
        """Numbers of steps after which both runs must be at one point: it is seen, or may be spread by the next."""
        self._inside = self.cuts[self.cuts < steps]
        self._bounds, splits = self._groups()
        self._epochs = np.union1d(self.line.epochs, splits)
        """Where what uses a record at most once begins: epochs, cut where it is known on which side the record is."""

    def all(self) -> Iterator[Cost]:
        """μ² for each group of ranks; where batches are the same in every run, only the largest counts.

        Reshuffled, ranks in the last epoch and in the one before it are independent: groups are pairs of groups.
        """
        n = self.line.records
        earlier = [(high - low, self._places(low, high)) for low, high in pairwise(self._earlier)]
        before_last = self.line.epoch[self._epochs] == self.line.epoch[-1] - 1
        for low, high in pairwise(self._bounds):
            places = self._places(low, high)
            if self.scheme is not Scheme.RESHUFFLE:
                yield Cost(Fraction(high - low, n), min(self._shifts.spent(places), self._in_set(places)))
                continue
            worst = self._late(places, known=False)
            most = self._in_set(worst)
            if len(earlier) == 1:
                yield Cost(Fraction(high - low, n), min(self._shifts.spent(worst), most))
                continue
            for count, others in earlier:
                told = self._late(np.where(before_last, others, places), known=True)
                yield Cost(Fraction((high - low) * count, n * n), min(self._shifts.spent(told), most))

    @cached_property
    def _earlier(self) -> list[int]:
        """Ranks in the epoch before the last at which groups begin: one group where more would take long."""
        line, n = self.line, self.line.records
        epoch = line.epoch[-1] - 1
        plans = len(self._bounds) * MOST_EARLIER
        easy = plans * len(self._epochs) <= MOST_PLANNED and MOST_EARLIER * line.steps <= MOST_WORK
        plain = not np.any(line.epoch[self._inside] >= epoch)
        if self.scheme is not Scheme.RESHUFFLE or epoch < 0 or not (easy and plain):
            return [0, n]
        ends = np.unique(line.last[line.epoch == epoch])
        return sorted({0, n, *_some(ends, MOST_EARLIER).tolist()})

    def _late(self, places: Array, *, known: bool) -> Array:
        """Reshuffled, it is known only in the last epoch, or the last two, where the record is; else it is last."""
        line, begins = self.line, self._epochs
        ends = np.append(begins[1:], line.steps) - 1
        found: Array = np.where(line.epoch[begins] < line.epoch[-1] - known, ends, places)
        return found

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
        found: Array = np.where(line.last[last] <= low, -1, last)
        return found

    @cached_property
    def _shifts(self) -> ShiftsOfSteps:
        return ShiftsOfSteps(self._steps, self.cuts)

    @property
    def _steps(self) -> Steps:
        return Steps(self._factor, self._noise, self._jump, self._epochs)

    def _in_set(self, places: Array) -> float:
        """μ² for one plan, if iterates are projected onto a bounded set."""
        if self.run.projection is None:
            return inf
        known = int(self._inside[-1]) if self._inside.size else 0
        early = np.where(self._epochs < known, np.minimum(places, known - 1), -1)
        before = self._shifts.spent(early) if known else 0.0
        after = spent_in_set(*from_step(self._steps, places, known), double_above(self.run.projection))
        return nextafter(before + after, inf)


def _some(values: Array, most: int) -> Array:
    """At most so many of these, half of them evenly and half towards the last."""
    if len(values) <= most:
        return values
    half = most // 2
    even = np.linspace(0, len(values) - 1, half).round().astype(np.int64)
    late = len(values) - 1 - np.round(np.geomspace(1, len(values), half) - 1).astype(np.int64)
    return values[np.union1d(even, late[late >= 0])]


MOST_EXACT = 1000
"""Kinds of steps whose costs are added up exactly."""


def square_at_once(columns: Columns) -> Enclosure:
    """μ² if every iterate is seen: in every epoch the record is used once, in the step where that costs most."""
    line = columns.line
    if len(line.kinds) > MOST_EXACT:
        low, high = (np.maximum.reduceat(each[line.kind], line.epochs).tolist() for each in columns.square())
        return Enclosure(Fraction(nextafter(fsum(low), 0.0)), Fraction(nextafter(fsum(high), inf)))
    square = columns.sensitivity**2 / 2
    values = [square * each.eta / (each.sigma2 * each.b**2) for each in line.kinds]
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    rank = np.array([places[each] for each in values])[line.kind]
    counts = np.bincount(np.maximum.reduceat(rank, line.epochs), minlength=len(places))
    total = sum((value * int(count) for value, count in zip(places, counts, strict=True)), Fraction(0))
    return Enclosure(total, total)
