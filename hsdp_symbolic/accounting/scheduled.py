"""Bounds on runs whose steps are not all alike, that show more than the last iterate, or that are projected.

One theorem bounds them all: whatever steps do, shifts that hide every use of the record cost Σa²/v in all
(`functions.scheduled_shifts`). Where the order of the records is random, δ is the mean over the rank of the record in
it (in the last two epochs, if the order is drawn anew in each); records are taken in groups, each as if it had the last
rank of its group.

Guarantee: μ² is never below what the theorem gives, and δ is certified from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import fsum, inf, nextafter, prod

import numpy as np

from ..arithmetic.doubles import double_above
from ..errors import ArgumentError
from ..evaluate.enclosure import Enclosure
from ..functions.scheduled_set import from_step, spent_in_set
from ..functions.scheduled_shifts import Schedule as ShiftsOfSteps
from ..functions.scheduled_shifts import Steps
from ..meaning import Scheme
from ..setting.arrays import Array
from .columns import MOST_EXACT, Columns
from .run import TrainingRun
from .step_constants import Constants

MOST_GROUPS = 64
MOST_WORK = 6 * 10**6
"""Steps that are looked at in all, over all groups."""
MOST_PIECES = 10**6
"""Pieces of epochs that are looked at in all, over all groups."""
MOST_PAIRS = 1024
"""Ranks in the last epoch, with ranks in the one before, that are told apart if a new order is drawn every epoch."""

LOUDER = "take more noise, or shorter steps"


@dataclass(frozen=True)
class Cost:
    """μ² for records of such ranks, and how many of all records these are."""

    share: Fraction
    square: float


class Costs:
    """What a run costs by shifts, for every group of ranks."""

    def __init__(self, run: TrainingRun, scheme: Scheme, columns: Columns) -> None:
        self.run, self.scheme, self.line, self.sensitivity = run, scheme, columns.line, columns.sensitivity
        self.constants = Constants.of(run, columns)
        which = self.line.kind
        known = np.isfinite(self.constants.factor)
        self._factor = np.where(known, self.constants.factor, 1.0)[which]
        self._jump, self._noise = columns.jump()[which], columns.noise()[which]
        self._unit = columns.unit or Fraction(1)
        blank = np.flatnonzero(~known[which])
        steps = self.line.steps
        self.cuts = np.unique(np.concatenate([np.array(run.released.seen(steps), dtype=np.int64), blank[blank > 0]]))
        """Numbers of steps after which both runs must be at one point: it is seen, or may be spread by the next."""
        self._inside = self.cuts[self.cuts < steps]
        self._bounds = self._groups()
        self._epochs = np.union1d(self.line.epochs, self._splits())
        """Where what uses a record at most once begins: epochs, cut where it is known on which side the record is."""

    def all(self) -> Iterator[Cost]:
        """μ² for each group of ranks, and how many of all records, or of all pairs of ranks, are in it."""
        n = self.line.records
        groups = [
            [(Fraction(high - low, n), self._places(low, high)) for low, high in pairwise(bounds)]
            for bounds in self._bounds
        ]
        for each in product(*groups):
            share = prod((share for share, _ in each), start=Fraction(1))
            yield Cost(share, self._of(self._plan([places for _, places in each])))

    def _groups(self) -> tuple[list[int], ...]:
        """Ranks at which groups begin, and the end of the last.

        If the order is drawn anew in every epoch, a record has one rank in the last and another in the one before it;
        both are told apart, unless that takes long.
        """
        line, n = self.line, self.line.records
        cuts = self._inside
        if self.scheme is Scheme.FULL_BATCH:
            return ([0, n],)
        ends = line.last
        if self.scheme is Scheme.RESHUFFLE:
            ends, cuts = ends[line.epoch == line.epoch[-1]], cuts[line.epoch[cuts] == line.epoch[-1]]
        most = max(2, min(MOST_GROUPS, MOST_WORK // line.steps))
        chosen = np.unique(line.first[cuts])  # lower ranks are used before the cut, others after it
        if len(chosen) > most:
            chosen = chosen[:0]
        late = sorted({0, n, *np.union1d(chosen, _some(np.unique(ends), most)).tolist()})
        if self.scheme is not Scheme.RESHUFFLE or not line.epoch[-1]:
            return (late,)
        ends = np.unique(line.last[line.epoch == line.epoch[-1] - 1])
        early = sorted({0, n, *_some(ends, MOST_PAIRS // len(late)).tolist()})
        pairs = (len(late) - 1) * (len(early) - 1)
        looked_at = len(line.epochs) if self.run.projection is None else line.steps
        return (late, early) if pairs <= MOST_PAIRS and pairs * looked_at <= MOST_PIECES else (late,)

    def _splits(self) -> Array:
        """Steps at which epochs are cut: of an epoch a group has records in one part only.

        So a use is not taken for one that was made earlier, with a longer step, by a record of another group.
        """
        line = self.line
        ago = line.epoch[-1] - line.epoch
        if self.scheme is Scheme.FULL_BATCH:
            return self._inside[:0]
        if self.scheme is Scheme.RESHUFFLE:
            cut = [(ago == number) & np.isin(line.first, bounds) for number, bounds in enumerate(self._bounds)]
            return np.flatnonzero(np.any(cut, axis=0))
        (bounds,) = self._bounds
        return np.flatnonzero((ago < max(1, MOST_PIECES // len(bounds) ** 2)) & np.isin(line.first, bounds))

    def _places(self, low: int, high: int) -> Array:
        """For every epoch (or what is left of one between cuts) the last step that may use such a record, or −1."""
        line, begins = self.line, self._epochs
        last = np.maximum.reduceat(np.where(line.first < high, np.arange(line.steps), -1), begins)
        return np.where(line.last[last] <= low, -1, last)

    def _plan(self, places: Sequence[Array]) -> Array:
        """The last step that may use the record, given it for its rank in the last epoch, and in the one before."""
        if self.scheme is not Scheme.RESHUFFLE:
            return places[0]
        begins = self._epochs
        ago = self.line.epoch[-1] - self.line.epoch[begins]
        ends = np.append(begins[1:], self.line.steps) - 1  # in earlier epochs it is not known where the record is
        return np.select([ago == number for number in range(len(places))], list(places), ends)

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
        after = spent_in_set(*from_step(self._steps, places, known), double_above(self.run.projection / self._unit))
        return min(plain, nextafter(before + after, inf))


def _some(values: Array, most: int) -> Array:
    """At most so many of these, half of them evenly and half towards the last."""
    if len(values) <= most:
        return values
    half = most // 2
    even = np.linspace(0, len(values) - 1, half).round().astype(np.int64)
    late = len(values) - 1 - np.round(np.geomspace(1, len(values), half) - 1).astype(np.int64)
    return values[np.union1d(even, late[late >= 0])]


def _sum(values: Array) -> float:
    """To the nearest double; infinite beyond them."""
    try:
        return fsum(values.tolist())
    except OverflowError:
        return inf


def square_at_once(columns: Columns) -> Enclosure:
    """μ² if every iterate is seen: in every epoch the record is used once, in the step where that costs most."""
    line = columns.line
    if len(line.kinds) > MOST_EXACT:
        low, high = (_sum(np.maximum.reduceat(each[line.kind], line.epochs)) for each in columns.square())
        if high == inf:
            raise ArgumentError("schedule", f"{line.steps} steps", "their cost is beyond all doubles", LOUDER)
        return Enclosure(Fraction(nextafter(low, 0.0)), Fraction(nextafter(high, inf)))
    square = columns.sensitivity**2 / 2
    values = [square * each.eta / (each.sigma2 * each.b**2) for each in line.kinds]
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    rank = np.array([places[each] for each in values])[line.kind]
    counts = np.bincount(np.maximum.reduceat(rank, line.epochs), minlength=len(places))
    total = sum((value * int(count) for value, count in zip(places, counts, strict=True)), Fraction(0))
    return Enclosure(total, total)
