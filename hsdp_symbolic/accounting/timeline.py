"""The steps of a run one after another: which batch each uses, how far it moves what it uses, and with what noise.

For batches that go through the records in turn, and for the full batch. A record has a rank, its place in the order of
an epoch; a batch holds the records of ranks `first` to `last` − 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..errors import ArgumentError, TooManySteps
from ..meaning import Scheme
from ..setting import Setting
from ..setting.arrays import Array
from .run import ACTUAL, Leftover, TrainingRun, batches_in, not_said_what_is_left
from .schedule import Schedule, Stretch

LONGEST = 4 * 10**6
"""Steps that are looked at one by one."""
MOST_RECORDS = 10**15
_ONE = Fraction(1)


@dataclass(frozen=True)
class Kind:
    """What a step does: learning rate, noise, the size of a full batch and what sums of gradients are divided by."""

    eta: Fraction
    sigma2: Fraction
    b: int
    divisor: int

    @property
    def load(self) -> Fraction:
        """The largest such batch over what its sum is divided by, and at least 1."""
        return Fraction(self.b, self.divisor) if self.b > self.divisor else _ONE

    def setting(self, run: TrainingRun) -> Setting:
        """One such step as an epoch by itself, in the letters of batches as large as the divisor."""
        told = run.setting.replace(n=None, b=None, K=None)
        noise = self.sigma2 * Fraction(self.b, self.divisor) ** 2
        return told.replace(n=self.divisor, b=self.divisor, K=1, eta=self.eta, sigma_squared=noise)


@dataclass(frozen=True, eq=False)
class Timeline:
    """All steps of a run, in order; each array has an entry for every step."""

    records: int
    kinds: tuple[Kind, ...]
    """What steps do; some of these may be alike."""
    kind: Array
    """The number of its kind."""
    epoch: Array
    """The number of its epoch."""
    first: Array
    """The least rank in its batch."""
    last: Array
    """One more than the largest rank in its batch."""

    @property
    def steps(self) -> int:
        return len(self.kind)

    @cached_property
    def epochs(self) -> Array:
        """The first step of every epoch."""
        return np.flatnonzero(np.diff(self.epoch, prepend=-1))


def steps_of(run: TrainingRun, scheme: Scheme) -> Schedule:
    """The steps of a run as a schedule, whether it was described by one or not."""
    if run.schedule is not None:
        return run.schedule
    setting = run.setting
    for name in ("n", "b", "eta", "sigma2", "S_g", *(("K",) if run.steps is None else ())):
        if name not in setting:
            raise ArgumentError(name, None, "not given, and steps are looked at one by one", f"give {name}")
    count = run.steps
    if count is None:
        count = int(setting["K"]) * (1 if scheme is Scheme.FULL_BATCH else run.batches())
    return Schedule((Stretch(count, setting["eta"], setting["sigma2"], int(setting["b"])),))


def timeline(run: TrainingRun, scheme: Scheme) -> Timeline:
    """The steps of a run under a scheme whose batches are known but for the order of the records."""
    schedule, n = steps_of(run, scheme), int(run.setting["n"])
    if schedule.steps > LONGEST:
        raise TooManySteps(schedule.steps, "steps of several kinds")
    if n > MOST_RECORDS:
        raise ArgumentError("n", n, f"more than {MOST_RECORDS} records", "composition is all there is")
    if scheme is Scheme.FULL_BATCH:
        return _full(run, schedule, n)
    return _in_turn(run, schedule, n)


def epoch_lengths(run: TrainingRun, scheme: Scheme) -> list[int]:
    """The number of steps in each epoch; the last may end with the run.

    Where batches are drawn afresh, or are the whole data, an epoch is as many steps as would go through the records.
    """
    alike = scheme.goes_through_epochs or scheme is Scheme.FULL_BATCH
    line = timeline(run if alike else replace(run, leftover=Leftover.DROPPED), scheme)
    return [int(each) for each in np.diff(line.epochs, append=line.steps)]


def _full(run: TrainingRun, schedule: Schedule, n: int) -> Timeline:
    """Every step uses all records, and is an epoch by itself."""
    divisor = run.divisor if isinstance(run.divisor, int) else n
    kinds = tuple(Kind(each.eta, each.sigma2, n, divisor) for each in schedule.stretches)
    steps = np.arange(schedule.steps)
    return Timeline(n, kinds, _stretch(schedule), steps, np.zeros_like(steps), np.full_like(steps, n))


def _stretch(schedule: Schedule) -> Array:
    """For every step the number of its stretch."""
    found: Array = np.repeat(np.arange(len(schedule.stretches)), [each.steps for each in schedule.stretches])
    return found


def _in_turn(run: TrainingRun, schedule: Schedule, n: int) -> Timeline:
    """Batches take the records in turn; what is too little for a batch is left, or is a shorter one."""
    stretch, shorter = _stretch(schedule), run.leftover in (Leftover.PARTIAL, Leftover.BLANK)
    kinds = [
        Kind(each.eta, each.sigma2, each.b, run.divisor if isinstance(run.divisor, int) else each.b)
        for each in schedule.stretches
    ]
    sizes = np.array([each.b for each in schedule.stretches], dtype=np.int64)
    if np.all(sizes == sizes[0]):
        size = int(sizes[0])
        if n % size and schedule.steps >= n // size:
            _is_over(run, n % size, size)  # or an error
        epoch, place = np.divmod(np.arange(schedule.steps), batches_in(n, size, run.leftover))
        first = place * size
    else:
        epoch, first = _places(run, sizes[stretch].tolist(), n)
    last = np.minimum(first + sizes[stretch], n)
    short = np.flatnonzero(last - first < sizes[stretch]) if shorter else np.zeros(0, dtype=np.int64)
    shape = list(zip(stretch[short].tolist(), (last - first)[short].tolist(), strict=True))
    short_of = {key: place for place, key in enumerate(dict.fromkeys(shape), len(kinds))}
    for each, size in short_of:
        kinds.append(_shorter(run, kinds[each], size))
    kind = stretch.copy()
    kind[short] = [short_of[key] for key in shape]
    return Timeline(n, tuple(kinds), kind, epoch, first, last)


def _places(run: TrainingRun, sizes: Sequence[int], n: int) -> tuple[Array, Array]:
    """For every step its epoch and the least rank in its batch, where batches differ in size."""
    epochs, ranks = [], []
    epoch = rank = 0
    for size in sizes:
        if rank and _is_over(run, n - rank, size):
            epoch, rank = epoch + 1, 0
        epochs.append(epoch)
        ranks.append(rank)
        rank = min(n, rank + size)
        if _is_over(run, n - rank, size):
            epoch, rank = epoch + 1, 0
    return np.array(epochs), np.array(ranks)


def _is_over(run: TrainingRun, left: int, size: int) -> bool:
    """Whether an epoch ends with so many records unused; an error where it was not said what becomes of them."""
    if left >= size or (left and run.leftover in (Leftover.PARTIAL, Leftover.BLANK)):
        return False
    if left and run.leftover is not Leftover.DROPPED:
        raise not_said_what_is_left(run, size, left)
    return True


def _shorter(run: TrainingRun, full: Kind, size: int) -> Kind:
    """The batch of the records left over; where all have one divisor, it is like the others.

    Blank records are no records: divided by its own size, a batch with them is as noisy as without.
    """
    if isinstance(run.divisor, int) or (run.leftover is Leftover.BLANK and run.divisor != ACTUAL):
        return full
    if run.divisor != ACTUAL:
        raise ArgumentError(
            "divisor",
            None,
            f"the last batch of an epoch has {size} records, the others {full.b}",
            f"say what sums of gradients are divided by: {full.b} for all of them, or 'actual' for each its own size",
        )
    return Kind(full.eta, full.sigma2 * Fraction(full.b, size) ** 2, size, size)
