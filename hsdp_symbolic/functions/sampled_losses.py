"""Losses of one step of the sampled Gaussian, on a grid: from values and tangents of its profile.

N(0, 1) is Q, and P = (1 − p)·N(0, 1) + p·N(μ, 1). For γ = e^ε > 1 − p the best set is all beyond some threshold, and

    δ(ε) = p·Φ(μ − x) − (γ − 1 + p)·Φ(−x) at x = log((γ − 1 + p)/p)/μ + μ/2;    δ(ε) = 1 − γ for γ ≤ 1 − p.

Every threshold x gives a line in γ that is nowhere above δ. Three pairs are made of it: `REMOVE` is (P, Q); `ADD` is
(Q, P), with the profile 1 − γ + γ·δ(−ε); `BOTH` has the larger of these two, which is the profile of (P, Q) for ε ≥ 0
and of (Q, P) below (Balle, Barthe & Gaboardi 2018). For p = 1 all three are N(0, 1) and N(μ, 1).

Above: chords between the values at some grid points (connect the dots: Doroshenko et al. 2022), since a profile is
convex in γ. Below: between two neighbouring grid points take one line; at a grid point the lower of the lines to its
left and right; chords between these values are nowhere above the lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..arithmetic.engines import Engine
from ..errors import OutsideDoubleRange, ValueTooLarge
from .privacy_losses import Bracket, Losses, Scale, bracket, double, paid, rounded, times

_LARGE = 300.0
"""A loss for which e^loss is still a double, with room to spare."""


class Pair(Enum):
    """Which pair: a record added, removed, or either."""

    REMOVE = "remove"
    ADD = "add"
    BOTH = "both"


@dataclass(frozen=True)
class Grid:
    """Multiples of `step` at which profiles of one rate are looked at, and what all of them need there."""

    scale: Scale
    rate: Fraction
    step: Fraction
    knots: Sequence[int]

    @cached_property
    def _growth(self) -> list[Any]:
        """γ = e^(k·step) at the knots k."""
        engine = self.scale.engine
        return [engine.exp(engine.ball(k * self.step)) for k in self.knots]

    @cached_property
    def odds(self) -> list[Bracket]:
        """γ − 1 + p."""
        engine, bits = self.scale.engine, self.scale.fine
        less = engine.ball(self.rate - 1)
        return [bracket(engine, engine.add(growth, less), bits) for growth in self._growth]

    @cached_property
    def logs(self) -> list[Any]:
        """log((γ − 1 + p)/p); None where γ may be 1 − p or less."""
        engine = self.scale.engine
        scale, shift = engine.ball(1 / self.rate), engine.ball((self.rate - 1) / self.rate)
        return [
            engine.log(engine.add(engine.mul(growth, scale), shift)) if odds[0] > 0 else None
            for growth, odds in zip(self._growth, self.odds, strict=True)
        ]

    @cached_property
    def middles(self) -> list[float | None]:
        """About the same halfway between neighbouring knots; None where γ is 1 − p or less there."""
        p, h = float(self.rate), float(self.step)
        found: list[float | None] = []
        for before, after in pairwise(self.knots):
            middle = h * (before + after) / 2
            if middle > _LARGE:  # where γ/p may be no double, and 1 is nothing beside it
                found.append(middle - math.log(p))
            else:
                odds = math.expm1(middle) / p
                found.append(math.log1p(odds) if odds > -1 else None)
        return found

    @cached_property
    def shrink(self) -> list[Bracket]:
        """1/γ."""
        engine = self.scale.engine
        return [bracket(engine, engine.exp(engine.ball(-k * self.step)), self.scale.fine) for k in self.knots]

    def slope(self, gap: int) -> Bracket:
        """γ/(γ' − γ) = 1/(e^(gap·step) − 1), for knots γ < γ' so far apart."""
        found = self._slopes.get(gap)
        if found is None:
            engine = self.scale.engine
            grown = engine.add(engine.exp(engine.ball(gap * self.step)), engine.ball(Fraction(-1)))
            found = self._slopes[gap] = bracket(engine, engine.inverse(grown), self.scale.fine)
        return found

    @cached_property
    def _slopes(self) -> dict[int, Bracket]:
        return {}


class Step:
    """A Gaussian of a cost μ², an interval of the engine, to be sampled at the rate of a grid."""

    def __init__(self, engine: Engine, cost: Any) -> None:
        self._engine = engine
        root = engine.sqrt(engine.mul(engine.ball(Fraction(2)), cost))
        self._scale, self._half = engine.inverse(root), engine.mul(root, engine.ball(Fraction(1, 4)))
        self._minus = engine.mul(self._half, engine.ball(Fraction(-1)))
        bounds = engine.bounds(cost)
        assert bounds is not None
        self.mu = math.sqrt(bounds[1])

    def value(self, grid: Grid, place: int) -> int:
        """Not below δ at a knot, in units of 2^−fine."""
        bits, log = grid.scale.fine, grid.logs[place]
        low, _ = grid.odds[place]
        whole = _share(1 << bits, grid.rate, up=True)
        if log is None:  # 1 − γ, or what that is a little farther down
            return whole - low
        near, far = self._tails(self._engine.mul(log, self._scale), bits)
        return _share(near[1], grid.rate, up=True) - (low * far[0] >> bits)

    def lines(self, grid: Grid, place: int) -> tuple[int, int]:
        """Not above a line below δ, at a knot and at the next; the line touches δ about halfway between them."""
        bits, middle = grid.scale.fine, grid.middles[place]
        ends = grid.odds[place][1], grid.odds[place + 1][1]
        if middle is None:
            whole = _share(1 << bits, grid.rate, up=False)
            return whole - ends[0], whole - ends[1]
        near, far = self._tails(double(self._engine, middle / (self.mu * math.sqrt(2))), bits)
        start = _share(near[0], grid.rate, up=False)
        first, second = (start + (-odds * far[1 if odds > 0 else 0] >> bits) for odds in ends)
        return first, second

    def _tails(self, place: Any, bits: int) -> tuple[Bracket, Bracket]:
        """Φ(μ − x) and Φ(−x) for the threshold x = √2·place + μ/2."""
        engine = self._engine
        near = bracket(engine, engine.erfc(engine.add(place, self._minus)), bits - 1)
        return near, bracket(engine, engine.erfc(engine.add(place, self._half)), bits - 1)


def _share(x: int, rate: Fraction, *, up: bool) -> int:
    """rate·x, rounded."""
    return -(-x * rate.numerator // rate.denominator) if up else x * rate.numerator // rate.denominator


Weighted = Sequence[tuple[Bracket, Step]]
"""Steps with their chances: which of them is made is seen by everybody, so profiles are averaged."""


def values_above(mixture: Weighted, grid: Grid, beyond: int) -> list[int]:
    """Upper bounds on the profile of `REMOVE` at the knots; `beyond` is a chance of which nothing is known."""
    bits = grid.scale.fine
    least = 1 << (bits - grid.scale.tail)
    found = [beyond] * len(grid.knots)
    for weight, step in mixture:
        value = 1 << bits
        for place in range(len(grid.knots)):
            if value > least:  # else what was found at a smaller ε will do: profiles fall
                value = times(step.value(grid, place), weight, bits, up=True)
            found[place] += value
    return found


def values_below(mixture: Weighted, grid: Grid) -> list[int]:
    """Values at the knots whose chords are below the profile of `REMOVE`; at the last at most 0.

    If the knots begin below 0, the chord from 1 at γ = 0 to the first value is below the profile too.
    """
    bits = grid.scale.fine
    least = 1 << (bits - grid.scale.tail)
    left, right = [0] * (len(grid.knots) - 1), [0] * (len(grid.knots) - 1)
    for weight, step in mixture:
        for place in range(len(grid.knots) - 1):
            first, second = (times(end, weight, bits, up=False) for end in step.lines(grid, place))
            if first <= least:
                break  # 0 is a line below the profile as well
            left[place] += first
            right[place] += second
    inner = [min(x, y) for x, y in zip(left[1:], right[:-1], strict=True)]
    found = [left[0], *inner, min(right[-1], 0)]
    if grid.knots[0] < 0:
        # 1 − γ = p − (γ − 1 + p) is below the profile too: up to where that is no longer the better bound.
        whole = _share(1 << bits, grid.rate, up=False)
        plain = [whole - odds[1] for odds in grid.odds]
        last = max((k for k, value in enumerate(found) if value < plain[k] and grid.knots[k] < 0), default=-1) + 1
        found[: last + 1] = plain[: last + 1]
    return found


def losses(pair: Pair, mixture: Weighted, grid: Grid, *, above: bool, beyond: int = 0) -> Losses:
    """Masses above or below the pair."""
    values = values_above(mixture, grid, beyond) if above else values_below(mixture, grid)
    return from_values(pair, values, grid, above=above)


def from_values(pair: Pair, values: Sequence[int], grid: Grid, *, above: bool) -> Losses:
    """The masses whose function has these values at the knots, and chords in γ between them.

    Between knots γ < γ' with values v, v' its slope is (v' − v)/(γ' − γ); before the first it is that of the line from
    1 at γ = 0, after the last 0. The mass at a knot is γ times the rise of the slope there. For `BOTH`, whose knots
    begin with 0, the rest is the mirror image: the mass at −ε is e^(−ε) times that at ε. `ADD` is the mirror image of
    all.
    """
    bits, one = grid.scale.fine, 1 << grid.scale.fine
    kept = list(range(len(values))) if above else _hull(values, grid)
    points, heights = [grid.knots[k] for k in kept], [values[k] for k in kept]
    slopes = [grid.slope(after - before) for before, after in pairwise(points)]
    falls = [x - y for x, y in pairwise(heights)]
    down = [times(x, slope, bits, up=above) for x, slope in zip(falls, slopes, strict=True)]
    up = [times(x, slope, bits, up=not above) for x, slope in zip(falls, slopes, strict=True)]
    # At a knot: (1 + 1/(e^d − 1))·(fall to here) − 1/(e^d' − 1)·(fall from here), and no fall from the last.
    masses = [fall + here - after for fall, here, after in zip(falls, down, [*up[1:], 0], strict=True)]
    masses.insert(0, one - heights[0] - (2 if pair is Pair.BOTH else 1) * up[0])
    found, infinite = dict(zip(points, masses, strict=True)), heights[-1]
    if pair is not Pair.REMOVE:
        images = {
            -k: times(x, grid.shrink[place], bits, up=above) for k, x, place in zip(points, masses, kept, strict=True)
        }
        if pair is Pair.ADD:
            found, infinite = images, one - times(one - heights[0], grid.shrink[0], bits, up=not above)
        else:
            found = images | found
    places = sorted(found)
    masses = [rounded(found[k], grid.scale.guard, up=above) for k in places]
    infinite = rounded(infinite, grid.scale.guard, up=above)
    if above:
        masses, infinite = [max(0, mass) for mass in masses], max(0, infinite)
    else:
        masses, owed = paid(masses)
        infinite = min(0, infinite) - owed
    first = places[0]
    _check_points(places[-1] - first)
    dense = [0] * (places[-1] - first + 1)
    for k, mass in zip(places, masses, strict=True):
        dense[k - first] = mass
    variance = _variance(places, masses, grid)
    return Losses(grid.scale, above, grid.step, first, dense, infinite, variance).trimmed()


def _hull(values: Sequence[int], grid: Grid) -> list[int]:
    """Which knots are left if those are dropped where the chords would bend downwards: that only lowers the chords."""
    knots, bits = grid.knots, grid.scale.fine
    kept: list[int] = []
    for place in range(len(values)):
        while len(kept) > 1:
            before, here = kept[-2:]
            fall, next_fall = values[before] - values[here], values[here] - values[place]
            less = times(next_fall, grid.slope(knots[place] - knots[here]), bits, up=True)
            if fall + times(fall, grid.slope(knots[here] - knots[before]), bits, up=False) >= less:
                break
            kept.pop()
        kept.append(place)
    return kept


def _variance(places: Sequence[int], masses: Sequence[int], grid: Grid) -> float:
    spare = max(0, grid.scale.bits - 64)
    weights = np.array([float(mass >> spare) for mass in masses])
    losses = float(grid.step) * np.array(places, dtype=np.float64)
    total = weights.sum()
    if not total:
        return 0.0
    mean = (weights @ losses) / total
    return float(weights @ (losses - mean) ** 2 / total)


MOST_POINTS = 1 << 21
"""What memory holds: losses that reach farther, as in steps with next to no noise, are refused."""
EVEN = 2.5
"""Losses up to so many standard deviations are resolved by the step of the grid, larger ones in proportion."""


def composition(
    scale: Scale,
    pair: Pair,
    rate: Fraction,
    costs: Sequence[tuple[Any, int]],
    step: Fraction,
    even: float,
    *,
    above: bool,
) -> Losses:
    """Of steps with these costs, intervals of the engine, each so many times."""
    engine, one = scale.engine, (1 << scale.fine,) * 2
    kinds = [(Step(engine, cost), count) for cost, count in costs]
    grid = step_grid(scale, pair, step, rate, max(kind.mu for kind, _ in kinds), even=even)
    found: Losses | None = None
    for kind, count in kinds:
        several = losses(pair, [(one, kind)], grid, above=above).power(count)
        found = several if found is None else found.times(several)
    assert found is not None
    return found


def grid_step(size: float) -> Fraction:
    """A dyadic number with few digits, about `size`."""
    mantissa, exponent = math.frexp(size)
    return Fraction(max(1, round(mantissa * 2**12))) * Fraction(2) ** (exponent - 12)


LEAST_COST, MOST_COST = Fraction(1, 10**120), Fraction(10**6)
"""The costs μ² of a step whose losses are followed."""


def spread(rate: Fraction, cost: Fraction) -> float:
    """About the standard deviation of the loss of one step under Q; an error where doubles do not hold it."""
    if not LEAST_COST <= cost <= MOST_COST:
        raise OutsideDoubleRange("the privacy loss of a step")
    p, mu = float(rate), math.sqrt(cost)
    x = np.linspace(-9, 9, 721)
    with np.errstate(over="ignore"):
        loss = np.logaddexp(math.log1p(-p), math.log(p) + mu * x - mu**2 / 2) if p < 1 else mu * x - mu**2 / 2
    return float(np.sqrt(np.exp(-(x**2) / 2) @ loss**2 * (x[1] - x[0]) / math.sqrt(2 * math.pi)))


def farthest(rate: float, mu: float, tail: int) -> float:
    """A loss beyond which the profile of a step is below 2^−tail."""
    x = mu + math.sqrt(2 * max(1.0, tail * math.log(2) + math.log(rate)))
    return (
        float(np.logaddexp(math.log1p(-rate), math.log(rate) + mu * x - mu**2 / 2)) if rate < 1 else mu * x - mu**2 / 2
    )


def _check_points(count: int) -> None:
    if count > MOST_POINTS:
        raise ValueTooLarge(count.bit_length())


def knots(last: int, even: int) -> list[int]:
    """From 0 to `last` or just beyond: all up to `even`, then gaps that double whenever the distance does."""
    _check_points(last)
    found, gap = [0], 1
    while found[-1] < last:
        if found[-1] >= even * gap:
            gap *= 2
        found.append(found[-1] + gap)
    return found


def step_grid(scale: Scale, pair: Pair, step: Fraction, rate: Fraction, most: float, *, even: float) -> Grid:
    """Knots for steps with a μ of at most `most`; losses up to `even` are resolved by the step of the grid."""
    h, p = float(step), float(rate)
    reach = farthest(p, most, scale.tail)
    near = max(8, math.ceil(even / h))
    found = knots(max(8, math.ceil(reach / h)), near)
    if pair is not Pair.BOTH:  # on this side losses end at log(1 − p), and are rarer than those of a Gaussian
        least = min(reach, -math.log1p(-p)) if p < 1 else reach
        found = [-k for k in reversed(knots(math.ceil(least / h) + 1, 4 * near))][:-1] + found
    return Grid(scale, rate, step, found)
