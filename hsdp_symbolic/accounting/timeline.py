"""The steps of a run one after another: which batch each uses, how far it moves what it uses, and with what noise.

For batches that go through the records in turn, and for the full batch. A record has a rank, its place in the order of
an epoch; a batch holds the records of ranks `first` to `last` − 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from ..errors import ArgumentError, TooManySteps
from ..meaning import Scheme
from ..setting import Setting
from ..setting.arrays import Array
from .run import ACTUAL, Leftover, TrainingRun, not_said_what_is_left
from .schedule import Schedule, Stretch

LONGEST = 4 * 10**6
"""Steps that are looked at one by one."""
MOST_RECORDS = 10**15


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
        return max(Fraction(1), Fraction(self.b, self.divisor))

    def setting(self, run: TrainingRun) -> Setting:
        """One such step as an epoch by itself, in the letters of batches as large as the divisor."""
        told = run.setting.replace(n=None, b=None, K=None)
        noise = self.sigma2 * Fraction(self.b, self.divisor) ** 2
        return told.replace(n=self.divisor, b=self.divisor, K=1, eta=self.eta, sigma_squared=noise)


@dataclass(frozen=True)
class Block:
    """So many batches of one epoch, alike and one after another, the first of which begins at rank `first`."""

    epoch: int
    count: int
    kind: Kind
    first: int
    size: int


@dataclass(frozen=True)
class Timeline:
    """All steps of a run, in order."""

    records: int
    blocks: tuple[Block, ...]

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(dict.fromkeys(each.kind for each in self.blocks))

    @cached_property
    def steps(self) -> int:
        return sum(each.count for each in self.blocks)

    @cached_property
    def _counts(self) -> Array:
        return np.array([each.count for each in self.blocks])

    def _each(self, values: list[int]) -> Array:
        return np.repeat(np.array(values, dtype=np.int64), self._counts)

    @cached_property
    def kind(self) -> Array:
        """For every step the number of its kind."""
        number = {kind: place for place, kind in enumerate(self.kinds)}
        return self._each([number[each.kind] for each in self.blocks])

    @cached_property
    def epoch(self) -> Array:
        """For every step the number of its epoch."""
        return self._each([each.epoch for each in self.blocks])

    @cached_property
    def first(self) -> Array:
        """For every step the least rank in its batch."""
        begun = np.cumsum(self._counts) - self._counts
        within = np.arange(self.steps) - np.repeat(begun, self._counts)
        sizes = self._each([each.size for each in self.blocks])
        found: Array = self._each([each.first for each in self.blocks]) + within * sizes
        return found

    @cached_property
    def last(self) -> Array:
        """For every step one more than the largest rank in its batch."""
        found: Array = self.first + self._each([each.size for each in self.blocks])
        return found

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
    blocks = _full(run, schedule, n) if scheme is Scheme.FULL_BATCH else _in_turn(run, schedule, n)
    return Timeline(n, tuple(blocks))


def epoch_lengths(run: TrainingRun, scheme: Scheme) -> Iterator[int]:
    """The number of steps in each epoch; the last may end with the run.

    Where batches are drawn afresh, or are the whole data, an epoch is as many steps as would go through the records.
    """
    schedule, n = steps_of(run, scheme), int(run.setting["n"])
    if scheme is Scheme.FULL_BATCH:
        yield from (1 for _ in range(schedule.steps))
        return
    told = run if scheme.goes_through_epochs else replace(run, leftover=Leftover.DROPPED)
    for _, blocks in groupby(_in_turn(told, schedule, n), key=lambda block: block.epoch):
        yield sum(each.count for each in blocks)


def _full(run: TrainingRun, schedule: Schedule, n: int) -> Iterator[Block]:
    """Every step uses all records, and is an epoch by itself."""
    done = 0
    divisor = run.divisor if isinstance(run.divisor, int) else n
    for each in schedule.stretches:
        kind = Kind(each.eta, each.sigma2, n, divisor)
        for _ in range(each.steps):
            yield Block(done, 1, kind, 0, n)
            done += 1


def _in_turn(run: TrainingRun, schedule: Schedule, n: int) -> Iterator[Block]:
    epoch = rank = 0
    for each in schedule.stretches:
        left, divisor = each.steps, run.divisor if isinstance(run.divisor, int) else each.b
        full = Kind(each.eta, each.sigma2, each.b, divisor)
        while left:
            count = min(left, (n - rank) // each.b)
            if count:
                yield Block(epoch, count, full, rank, each.b)
            elif run.leftover in (Leftover.PARTIAL, Leftover.BLANK):
                count = 1
                yield _shorter(run, full, Block(epoch, 1, full, rank, n - rank))
            left, rank = left - count, min(n, rank + count * each.b)
            if _is_over(run, n - rank, each.b):
                epoch, rank = epoch + 1, 0


def _is_over(run: TrainingRun, remaining: int, size: int) -> bool:
    """Whether an epoch ends with so many records unused; an error where it was not said what becomes of them."""
    if remaining >= size or (remaining and run.leftover in (Leftover.PARTIAL, Leftover.BLANK)):
        return False
    if remaining and run.leftover is not Leftover.DROPPED:
        raise not_said_what_is_left(run, size, remaining)
    return True


def _shorter(run: TrainingRun, full: Kind, block: Block) -> Block:
    """The batch of the records left over; where all have one divisor, it is like the others.

    Blank records are no records: divided by its own size, a batch with them is as noisy as without.
    """
    if isinstance(run.divisor, int) or (run.leftover is Leftover.BLANK and run.divisor != ACTUAL):
        return block
    if run.divisor != ACTUAL:
        raise ArgumentError(
            "divisor",
            None,
            f"the last batch of an epoch has {block.size} records, the others {full.b}",
            f"say what sums of gradients are divided by: {full.b} for all of them, or 'actual' for each its own size",
        )
    noise = full.sigma2 * Fraction(full.b, block.size) ** 2
    kind = Kind(full.eta, noise, block.size, block.size)
    return Block(block.epoch, 1, kind, block.first, block.size)
