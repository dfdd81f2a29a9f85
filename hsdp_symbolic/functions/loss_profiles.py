"""Profiles of compositions, certified: δ at an ε and ε at a δ, between the masses above and the masses below.

One pair of loss distributions serves every ε. How fine they have to be is found by trying: a profile is computed on a
grid, and on a finer one if what is above and what is below it are too far apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Protocol

from sympy import Expr

from ..arithmetic.engines import ENGINES, Unbounded
from ..errors import ArgumentError, GridExhausted, OutsideDoubleRange, TooManySteps
from .interface import Printer
from .privacy_losses import Curve, Losses, Scale
from .sampled_losses import EVEN, Pair, composition, farthest, grid_step, spread
from .secret_losses import Secret, secret_losses

COARSEST, FINEST = 0.05, 0.001
"""The first and the last fineness that is tried: about twice the final step of the grid, in standard deviations."""
FIRST_STEP = 3
"""The first step of the grid, in standard deviations of the loss of one step, in units of the fineness."""
WIDTH = 2.2
"""About the relative width of ε, in units of the squared fineness."""
STEEP = 16
"""About how much faster δ falls than ε grows, relatively, where δ is small."""
LONG, FEWER = 500, 9
"""Where losses reach so many standard deviations of one step's, tails are cut so many bits earlier, at first."""
SPARE = 24
"""Bits of masses beyond those of a tail."""
MOST_STEPS, MOST_SPREAD = 10**8, 60.0
"""The most steps, and the largest standard deviation of their losses together, that are followed."""
MOST_POINTS = 2**21
"""The most points on the grid of one step."""
MOST_HALVINGS = 12
"""By which the grid of one kind of step is finer than that of the usual ones."""
LOUD = "account for every iterate, or take more noise"
MOST_TAIL = 1200
"""A tail of 2^−this is the least that is looked for."""
MOST_TAIL_FROM_ABOVE = 160
"""The same where nothing but a bound from above is asked for, however small δ is."""


def check_sampled(rate: Fraction, cost: Fraction) -> None:
    """Refuse what no sampled Gaussian has."""
    if not 0 <= rate <= 1:
        raise ArgumentError("rate", rate, "not a chance", "give a number from 0 to 1")
    if cost < 0:
        raise ArgumentError("cost", cost, "a squared distance is not negative", "give a cost of 0 or more")


def check_count(name: str, count: Fraction, least: int = 0) -> None:
    if count.denominator != 1 or count < least:
        raise ArgumentError(name, count, "not a count", f"give a whole number from {least} on")


def check_secret(factor: Fraction, revealed: Fraction, window: Fraction, share: Fraction) -> None:
    """Refuse what no run with secret hits has."""
    check_count("revealed", revealed)
    check_count("window", window, 1)
    if not 0 < factor <= 1:
        raise ArgumentError("factor", factor, "not a contraction", "give a number above 0 and at most 1")
    if not 0 < share < 1:
        raise ArgumentError(
            "share", share, "no noise would be left for the hits or for the drift", "choose 0 < share < 1"
        )


def written(printer: Printer, name: str, arguments: Sequence[Expr]) -> str:
    """LaTeX of a function of a rate, a cost μ², of which the root is written, and others; the last is set apart."""
    rate, cost, *others, last = map(printer._print, arguments)
    first = ", ".join([rate, rf"\sqrt{{{cost}}}", *others])
    return rf"{name}\left({first}; {last}\right)"


class Run(Hashable, Protocol):
    """What is composed."""

    @property
    def steps(self) -> int: ...
    @property
    def size(self) -> float:
        """About the spread of the loss of one step."""

    def reach(self, tail: int) -> float:
        """The largest loss of one step, but for 2^−tail."""

    def losses(self, scale: Scale, step: Fraction, fineness: float, *, above: bool) -> Losses: ...


@dataclass(frozen=True)
class Repeated:
    """So many steps of one sampled Gaussian, every iterate seen."""

    pair: Pair
    rate: Fraction
    cost: Fraction
    steps: int

    @property
    def size(self) -> float:
        return spread(self.rate, self.cost)

    def reach(self, tail: int) -> float:
        return farthest(float(self.rate), math.sqrt(self.cost), tail)

    def losses(self, scale: Scale, step: Fraction, fineness: float, *, above: bool) -> Losses:
        even = (EVEN if self.steps > 16 else 8.0) * self.size
        with scale.engine.working():
            costs = [(scale.engine.ball(self.cost), self.steps)]
            return composition(scale, self.pair, self.rate, costs, step, even, above=above)


@dataclass(frozen=True)
class Various:
    """Steps of several kinds, every iterate seen: each kind on a grid as fine as its own losses ask for."""

    parts: tuple[Repeated, ...]

    @property
    def steps(self) -> int:
        return sum(part.steps for part in self.parts)

    @property
    def size(self) -> float:
        """Of all steps together that over the root of their number."""
        return math.sqrt(math.fsum(part.steps * part.size**2 for part in self.parts) / self.steps)

    def reach(self, tail: int) -> float:
        return max(part.reach(tail) for part in self.parts)

    def losses(self, scale: Scale, step: Fraction, fineness: float, *, above: bool) -> Losses:
        """From the finest grid to the coarsest, so that a distribution is wide before its grid is made coarser."""
        size, parts = self.size, self.parts if above else self._loud(fineness)
        halvings = [min(MOST_HALVINGS, round(math.log2(size / part.size))) for part in parts]
        several = [
            part.losses(scale, step / Fraction(2) ** finer, fineness, above=above)
            for part, finer in zip(parts, halvings, strict=True)
        ]
        return reduce(Losses.times, sorted(several, key=lambda each: each.step))

    def _loud(self, fineness: float) -> list[Repeated]:
        """From below, steps may be left out: those whose losses are lost on a grid that is right for the others."""
        spare = self.steps * (self.size * fineness / 2) ** 2
        found = []
        for part in sorted(self.parts, key=lambda each: each.steps * each.size**2):
            spare -= part.steps * part.size**2
            if spare < 0:
                found.append(part)
        return found


@dataclass(frozen=True)
class Hidden:
    """A run whose last steps keep their hits secret."""

    pair: Pair
    secret: Secret

    @property
    def steps(self) -> int:
        return self.secret.window

    @property
    def size(self) -> float:
        return spread(self.secret.rate, self.secret.cost)

    def reach(self, tail: int) -> float:
        return farthest(float(self.secret.rate), math.sqrt(self.secret.cost / self.secret.share), tail)

    def losses(self, scale: Scale, step: Fraction, fineness: float, *, above: bool) -> Losses:
        return secret_losses(self.secret, scale, self.pair, step, fineness, above=above)


@dataclass(frozen=True)
class Quality:
    """How fine the grids are, in standard deviations of losses, and tails of 2^−tail."""

    fineness: float
    tail: int


def quality(fineness: float, tail: int) -> Quality:
    """Rounded to finer, so that similar wishes share one computation."""
    level = max(0, math.ceil(2 * math.log2(COARSEST / fineness) - 1e-9))
    return Quality(COARSEST * 2 ** (-level / 2), tail)


def _better(tried: Quality, excess: Fraction, rtol: Fraction, *, cut: bool) -> Quality:
    """After a width that was `excess` times too large, because tails were `cut` or because the grid is too coarse."""
    if cut:
        found = Quality(tried.fineness, math.ceil(tried.tail * 1.5))
    else:
        found = quality(tried.fineness * min(0.7, max(0.25, 0.9 / math.sqrt(excess))), tried.tail)
    if found.fineness < FINEST or found.tail > MOST_TAIL:
        raise GridExhausted(math.ceil(20 / tried.fineness), rtol, float(excess * rtol))
    return found


def _tail(runs: Sequence[Run], delta: Fraction | None) -> int:
    """Bits that do for this δ, or for one that is not very small.

    Where the rare losses of a step are far larger than the usual ones, every bit makes its grid much longer.
    """
    wanted = 20 if delta is None else max(20, delta.denominator.bit_length() - delta.numerator.bit_length())
    found = wanted + 20 + max(run.steps for run in runs).bit_length()
    if delta is not None and any(run.reach(found) > LONG * run.size for run in runs):
        found -= FEWER
    return found


def check_reach(run: Run, step: Fraction, tail: int) -> None:
    """Refuse runs whose losses are in the hundreds: a grid that far would fill memory, for an ε of no use."""
    if run.steps > MOST_STEPS or run.size * math.sqrt(run.steps) > MOST_SPREAD:
        raise TooManySteps(run.steps, "a distribution of privacy losses")
    if run.reach(tail) > MOST_POINTS * step:
        raise OutsideDoubleRange("the privacy loss of a step, beside that of most steps,")


@lru_cache(maxsize=64)
def curve(run: Run, engine: str, quality: Quality, *, above: bool) -> Curve:
    """The bound from above, or from below."""
    step = grid_step(FIRST_STEP * quality.fineness * run.size)
    check_reach(run, step, quality.tail)
    bits, guard = quality.tail + SPARE, 24 + max(16, math.ceil(1 / step).bit_length())
    scale = Scale(ENGINES[engine](bits + guard + 16), bits, guard, quality.tail, quality.fineness / 2)
    try:
        return Curve(run.losses(scale, step, quality.fineness, above=above))
    except Unbounded:  # two groups of distances whose profiles are both 1, to all bits
        raise OutsideDoubleRange("the privacy loss of what came before", LOUD) from None


def deltas(runs: Sequence[Run], engine: str, epsilon: Fraction, rtol: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the largest δ of these runs at ε, no farther apart than `rtol` times the upper one."""
    wanted = rtol * Fraction(999, 1000)  # and the rest for what an interval of an engine adds
    tried = quality(math.sqrt(rtol / (WIDTH * STEEP)), _tail(runs, None))
    if rtol >= 1:  # nothing but a bound from above is asked for
        tried = Quality(tried.fineness, MOST_TAIL_FROM_ABOVE)
        return Fraction(0), max(curve(run, engine, tried, above=True).at(epsilon) for run in runs)
    while True:
        above = [curve(run, engine, tried, above=True) for run in runs]
        high, most = max((each.at(epsilon), place) for place, each in enumerate(above))
        low = curve(runs[most], engine, tried, above=False).at(epsilon)
        if high - low <= wanted * high:
            return low, high
        cut = max(each.least for each in above) > (high - low) / 4
        tried = _better(tried, (high - low) / (wanted * high), rtol, cut=cut)


def epsilons(runs: Sequence[Run], engine: str, delta: Fraction, rtol: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the least ε ≥ 0 at which no δ of these runs is more than `delta`, no farther apart than `rtol`.

    One run whose δ is larger is enough to say that an ε is too small: that which is bounded worst.
    """
    tried = quality(math.sqrt(rtol / WIDTH), _tail(runs, delta))
    while True:
        above = [curve(run, engine, tried, above=True) for run in runs]
        if max(each.least for each in above) > delta / 4:
            tried = _better(tried, Fraction(1), rtol, cut=True)
            continue
        high, most = max((each.solved(delta), place) for place, each in enumerate(above))
        below = curve(runs[most], engine, tried, above=False)
        if below.least < -delta / 4:
            tried = _better(tried, Fraction(1), rtol, cut=False)
            continue
        low = below.solved(delta)
        if high - low <= rtol * high:
            return low, high
        tried = _better(tried, (high - low) / (rtol * high), rtol, cut=False)
