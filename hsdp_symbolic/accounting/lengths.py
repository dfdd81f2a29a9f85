"""A run cut short: its first K epochs, whether it was described by a schedule, a number of steps or whole epochs."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from ..errors import ArgumentError
from ..meaning import Scheme
from .planned import with_schedule
from .run import Leftover, TrainingRun, batches_in
from .schedule import Schedule
from .timeline import epoch_lengths


class Lengths:
    """The first K epochs of a run under a scheme.

    Where a schedule says what the steps do, or the run is a number of steps, the last epoch ends with the run, finished
    or not. A run without a schedule may be made longer than it was.
    """

    def __init__(self, run: TrainingRun, scheme: Scheme) -> None:
        self.run, self.scheme = run, scheme
        self._ends = tuple(accumulate(epoch_lengths(run, scheme))) if run.schedule is not None else ()
        """The number of steps after each epoch of the schedule."""

    @property
    def epochs(self) -> int | None:
        """How many epochs the run begins, if it says so."""
        if self.run.schedule is not None:
            return len(self._ends)
        if self.run.steps is None:
            return int(self.run.setting["K"]) if "K" in self.run.setting else None
        return -(-self.run.steps // self._batches)

    def unfinished(self, K: int) -> str:
        """What of the last of K epochs is left out, in words; empty where it is finished."""
        run, made = self.first(K), self.run.steps
        if made is None or run.steps != made or self._finished:
            return ""
        return f"K = {K} is the whole run of {made} steps, which ends within an epoch"

    @cached_property
    def _finished(self) -> bool:
        """Whether the run ends with an epoch: after a schedule, one step more would begin another."""
        if self.run.schedule is None:
            return self.run.steps is None or self.run.steps % self._batches == 0
        last = self.run.schedule.stretches[-1]
        longer = Schedule.of([*self.run.schedule.stretches, replace(last, steps=1)])
        lengths = list(epoch_lengths(replace(self.run, schedule=longer, steps=longer.steps), self.scheme))
        return len(lengths) > len(self._ends)

    def first(self, K: int) -> TrainingRun:
        """The run that stops after K epochs."""
        run = self.run
        if run.schedule is not None:
            if len(self._ends) < K:
                problem = f"the schedule says what {len(self._ends)} epochs do"
                raise ArgumentError("epochs", K, problem, f"give numbers up to {len(self._ends)}")
            return with_schedule(run, run.schedule.first(self._ends[K - 1]), self._in_epoch)
        return run if run.steps is not None and self.epochs == K else run.with_epochs(K)

    def _in_epoch(self, size: int) -> int:
        """Steps in an epoch of batches of this size."""
        if self.scheme is Scheme.FULL_BATCH:
            return 1
        leftover = self.run.leftover if self.scheme.goes_through_epochs else Leftover.DROPPED
        return batches_in(int(self.run.setting["n"]), size, leftover)

    @property
    def _batches(self) -> int:
        for name in ("n", "b"):
            if name not in self.run.setting:
                raise ArgumentError(name, None, "not given, so it is not known what an epoch is", f"give {name}")
        return self._in_epoch(int(self.run.setting["b"]))
