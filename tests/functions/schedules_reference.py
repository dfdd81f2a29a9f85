"""Schedules in exact arithmetic: what is spent, and what really happens on a line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hsdp_symbolic.functions.convex_minorant import pattern_exact
from hsdp_symbolic.functions.scheduled_shifts import Steps


@dataclass(frozen=True)
class Exact:
    """Steps in rational numbers."""

    factor: list[Fraction]
    variance: list[Fraction]
    jump: list[Fraction]
    epochs: list[int]

    @property
    def length(self):
        return len(self.factor)

    @property
    def ends(self):
        return [*self.epochs[1:], self.length]

    def steps(self):
        """In doubles, which these numbers are."""
        parts = (np.array([float(x) for x in part]) for part in (self.factor, self.variance, self.jump))
        return Steps(*parts, np.array(self.epochs))

    def planned_jumps(self, places):
        """In every planned place the most that a use in the epoch, then or before, amounts to."""
        found = [Fraction(0)] * self.length
        for begin, place in zip(self.epochs, places, strict=True):
            for step in range(begin, place + 1):
                found[place] = max(self.factor[step] * found[place], self.jump[step])
        return found

    def least(self, jumps, start=0, begin=0, end=None):
        """The least Σa²/v of shifts for these jumps, between two times, from that distance."""
        here = slice(begin, end)
        factor, variance, jumps = self.factor[here], self.variance[here], list(jumps[here])
        jumps[0] += factor[0] * start
        return 2 * pattern_exact([1] * len(jumps), q=factor, v=variance, s=jumps)

    def of_plan(self, places, start=0):
        return self.least(self.planned_jumps(places), start)

    def placements(self, places):
        """All ways to use the record no later than planned."""
        choices = ([-1, *range(begin, place + 1)] for begin, place in zip(self.epochs, places, strict=True))
        return itertools.product(*choices)

    def hits(self, places):
        found = [Fraction(0)] * self.length
        for place in places:
            if place >= 0:
                found[place] = self.jump[place]
        return found

    def seen_apart(self, jumps, released):
        """μ² of the iterates after so many steps each, for x ↦ c·x + jump and x ↦ c·x: exact."""
        total, begin = Fraction(0), 0
        for end in sorted({*released, self.length}):
            mean = spread = Fraction(0)
            for step in range(begin, end):
                mean = self.factor[step] * mean + jumps[step]
                spread = self.factor[step] ** 2 * spread + self.variance[step]
            total, begin = total + mean**2 / spread, end
        return total

    def mean_apart(self, jumps, last):
        """The same of the mean of the last so many iterates."""
        weight, after = Fraction(0), []
        for step in range(self.length - 1, -1, -1):
            weight = (Fraction(1, last) if step >= self.length - last else 0) + (
                weight * self.factor[step + 1] if step + 1 < self.length else 0
            )
            after.append(weight)
        after.reverse()
        mean = sum(w * x for w, x in zip(after, jumps, strict=True))
        return mean**2 / sum(w * w * v for w, v in zip(after, self.variance, strict=True))


def drawn(rng, most, largest=14):
    """A few steps that all differ, in epochs of any length."""
    length = rng.randint(1, most)
    factor = [Fraction(rng.choice([rng.randint(0, largest), 8]), 8) for _ in range(length)]
    variance, jump = ([Fraction(rng.randint(low, 9), 4) for _ in range(length)] for low in (1, 0))
    cuts = sorted(rng.sample(range(1, length), rng.randint(0, length - 1))) if length > 1 else []
    return Exact(factor, variance, jump, [0, *cuts])


def planned(rng, run, unused=0.2):
    """A place for every epoch, or none."""
    ends = zip(run.epochs, run.ends, strict=True)
    return [-1 if rng.random() < unused else rng.randrange(begin, end) for begin, end in ends]
