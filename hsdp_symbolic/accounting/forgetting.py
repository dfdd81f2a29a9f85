"""What shifts spend that hide a record over training and the further steps that leave it out: a bound, step by step.

Statements in closed form hide most of it after training, or all of it before. The best shifts use the noise of both, in
whatever proportion spends least (`functions.scheduled_shifts`; `unlearn:expanding/by-shifts` is the theorem). They are
looked for whether updates contract or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, inf, log1p

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..functions.scheduled_shifts import Steps, spent
from ..setting import Setting
from ..setting.arrays import Array

THEOREM = "unlearn:expanding/by-shifts"
TITLE = "The best shifts, over training and the further steps"
MOST_STEPS = 10**5
"""Steps that are looked at one by one, those of training and further ones; what comes after them may help no more."""
_FADED = 64.0
"""Where updates expand by c, further steps after which c^r is e to that power add nothing."""
MOST_EPOCHS = 10**4
MOST_GROUPS = 32
"""Groups of places that are told apart where updates may expand."""


@dataclass(frozen=True)
class ShiftsOfForgetting:
    """Training in epochs of so many steps, each of which uses the record at most once; S_g is the clip norm.

    `in_order` says that all epochs use it in one place, if they do.
    """

    setting: Setting
    factor: Fraction
    batches: int
    epochs: int
    in_order: bool

    def square(self, further: int, ratio: Fraction) -> float:
        """A double never below μ² after so many further steps, their noise being so much of training's; inf if unknown.

        >>> run = Setting(n=4, b=2, K=1, eta=1, sigma=1, S_g=2)
        >>> found = ShiftsOfForgetting(run, Fraction(1), 2, 1, in_order=True)
        >>> round(found.square(1, Fraction(1)), 12), round(found.square(3, Fraction(1)), 12)
        (0.25, 0.125)
        """
        if self._length >= MOST_STEPS or self.epochs > MOST_EPOCHS:
            return inf
        return _dearest(self, min(further, MOST_STEPS - self._length, self._useful), ratio)

    @cached_property
    def _useful(self) -> int:
        """A number of further steps; once both runs have met, others change nothing."""
        return MOST_STEPS if self.factor <= 1 else ceil(min(_FADED / log1p(self.factor - 1), MOST_STEPS))

    @property
    def _length(self) -> int:
        return self.batches * self.epochs

    def groups(self) -> Iterator[tuple[int, int]]:
        """First and last place of each group: one group, unless what is used early grows and it is told where."""
        if self.factor <= 1 or not self.in_order:
            yield 0, self.batches - 1
            return
        ends = np.unique(np.linspace(0, self.batches, min(self.batches, MOST_GROUPS) + 1).round().astype(int))
        yield from zip(ends[:-1].tolist(), (ends[1:] - 1).tolist(), strict=True)

    def of_group(self, first: int, last: int, further: int, ratio: Fraction) -> float:
        """μ² for a record in one of these places; what counts as an epoch begins with the first of them."""
        begins = np.arange(self.epochs) * self.batches
        epochs, places = begins + first, begins + last
        if first:
            epochs, places = np.append(0, epochs), np.append(-1, places)
        places = np.append(places, -1)
        return spent(self._steps(np.append(epochs, self._length), further, ratio), places)

    def _steps(self, epochs: Array, further: int, ratio: Fraction) -> Steps:
        run = self.setting
        noise, jump = 2 * run["eta"] * run["sigma2"], run["eta"] * run["S_g"] / run["b"]
        training = np.arange(self._length + further) < self._length
        return Steps(
            factor=np.full(len(training), double_above(self.factor)),
            variance=np.where(training, double_below(noise), double_below(ratio * noise)),
            jump=np.where(training, double_above(jump), 0.0),
            epochs=epochs,
        )


@lru_cache(maxsize=1 << 10)
def _dearest(shifts: ShiftsOfForgetting, further: int, ratio: Fraction) -> float:
    return max(shifts.of_group(first, last, further, ratio) for first, last in shifts.groups())
