"""What the secret epochs of balls in bins cost from a distance z: certified moments, in doubles rounded to one side.

Only sums and products of positive doubles are rounded, so that errors are relative; they are counted, and made up for.
Numbers that a range or a library function could spoil come from intervals of an engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.engines import Engine, Unbounded
from ..arithmetic.rounded import UNIT, expm1_bounds
from ..errors import OutsideDoubleRange
from ..setting.arrays import Array

LEVELS = 64
"""How many different shifts a window has at most."""
MOST = 1e250
"""No number on the way may be larger: then what is lost below the least double is nothing to speak of …"""
LOST = 1e-30
"""… and this is more than it."""
LARGEST_EXPONENT = 200.0


def too_large() -> OutsideDoubleRange:
    """The error for losses that are beyond doubles, certified or not."""
    remedy = "use composition:balls_in_bins, which has no such limit, a lower order, or fewer secret epochs"
    return OutsideDoubleRange("the moment of a secret epoch", remedy)


@dataclass(frozen=True)
class Bins:
    """Balls in bins: N batches in an epoch, μ² of one use, q, how many of the last epochs and steps are secret, drift.

    In the last `window` of the `count`·`known` secret steps, the i-th from the end, a copy drifts by A·z·w_i in units
    of a use, w_i = q^(r⌊i/r⌋), r = ⌈window/64⌉, and A = q^(count·known)/Σ q^i·w_i.
    """

    count: int
    cost: Fraction
    factor: Fraction
    known: int
    window: int

    @property
    def stride(self) -> int:
        return -(-self.window // LEVELS)

    @property
    def levels(self) -> list[int]:
        """The steps from the end at which a level begins."""
        return list(range(0, self.window, self.stride))

    def groups(self, epoch: int) -> Iterator[tuple[int | None, int]]:
        """For an epoch, counted from the last: each level of shifts in it, None for none, and how many steps it has."""
        first, stop = epoch * self.count, (epoch + 1) * self.count
        for level, start in enumerate(self.levels):
            many = min(start + self.stride, self.window, stop) - max(start, first)
            if many > 0:
                yield level, many
        if stop > self.window:
            yield None, stop - max(self.window, first)


class Drift(NamedTuple):
    """Intervals of an engine: A·w for every level, A²·Σw² and A·Σw."""

    shifts: list[Any]
    squares: Any
    total: Any


def drift_of(engine: Engine, bins: Bins) -> Drift:
    """How far the copy drifts, for each unit of its distance."""
    q = engine.ball(bins.factor)
    weights = [engine.power(q, start) for start in bins.levels]
    many = [min(bins.stride, bins.window - start) for start in bins.levels]
    zero = engine.ball(Fraction(0))
    reached = squares = total = zero
    for weight, steps in zip(weights, many, strict=True):
        square = engine.mul(weight, weight)
        reached = engine.add(reached, engine.mul(square, geometric(engine, bins.factor, steps)))
        squares = engine.add(squares, engine.mul(engine.ball(Fraction(steps)), square))
        total = engine.add(total, engine.mul(engine.ball(Fraction(steps)), weight))
    scale = engine.mul(engine.power(q, bins.count * bins.known), engine.inverse(reached))
    return Drift(
        [engine.mul(scale, weight) for weight in weights],
        engine.mul(engine.mul(scale, scale), squares),
        engine.mul(scale, total),
    )


def geometric(engine: Engine, factor: Fraction, steps: int) -> Any:
    """Σ_(i < steps) q^i."""
    if factor == 1:
        return engine.ball(Fraction(steps))
    rest = engine.add(
        engine.ball(Fraction(1)), engine.mul(engine.ball(Fraction(-1)), engine.power(engine.ball(factor), steps))
    )
    return engine.mul(rest, engine.ball(1 / (1 - factor)))


def _double(engine: Engine, x: Any, *, above: bool) -> float:
    """An end of an interval of what is not negative."""
    ends = engine.bounds(x)
    if ends is None:
        raise Unbounded
    return double_above(ends[1]) if above else max(0.0, double_below(ends[0]))


def _exponential(x: Array, *, above: bool) -> Array:
    """e^x for x ≥ 0, rounded."""
    if float(np.max(x, initial=0.0)) > LARGEST_EXPONENT:
        raise too_large()
    low, high = expm1_bounds(x)
    return (1.0 + high) * (1 + 2 * UNIT) if above else (1.0 + low) * (1 - 2 * UNIT)


def _checked(values: Array) -> Array:
    if not float(np.max(values, initial=0.0)) < MOST:
        raise too_large()
    return values


def added_moments(engine: Engine, bins: Bins, order: Fraction, away: Array, *, above: bool) -> Array:
    """E of the exponential of α(α − 1)·(μ²/2)·Σ(a_i + 1/N)², without its constant, over distances: `record added`."""
    drift = drift_of(engine, bins)
    half = engine.ball(order * (order - 1) * bins.cost / 2)
    twice = engine.mul(half, engine.ball(Fraction(2, bins.count)))
    square = _double(engine, engine.mul(half, drift.squares), above=above)
    linear = _double(engine, engine.mul(twice, drift.total), above=above)
    pad = 1 + (8 if above else -8) * UNIT
    return _exponential((square * away * away + linear * away) * pad, above=above)


def removed_moments(engine: Engine, bins: Bins, order: int, away: Array, *, above: bool) -> Array:
    """The mean over the places of `order` copies in every secret epoch, over distances: `record removed`."""
    drift = drift_of(engine, bins)
    pad = 1 + (8 if above else -8) * UNIT
    pairs = engine.ball(order * (order - 1) * bins.cost / 2)
    square = _double(engine, engine.mul(pairs, drift.squares), above=above)
    found = _exponential(square * away * away * pad, above=above)
    each = engine.ball((order - 1) * bins.cost)
    slopes = [_double(engine, engine.mul(each, shift), above=above) for shift in drift.shifts]
    still = 0
    for epoch in range(bins.known):
        groups = list(bins.groups(epoch))
        if groups[0][0] is None:  # this epoch and all before it have no drift
            still = bins.known - epoch
            break
        found = _checked(found * _epoch(engine, bins, order, groups, slopes, away, above=above))
    if still:
        plain = _still(engine, bins.count, bins.cost, order, above=above)
        scale = _power_of(plain, still)
        found = _checked(found * scale * (1 + (4 if above else -4) * UNIT * (still + 2)))
    return found + LOST if above else np.maximum(found - LOST, 1.0)


def _power_of(base: float, exponent: int) -> float:
    if exponent * math.log2(base) > 800:
        raise too_large()
    found = 1.0
    for bit in bin(exponent)[2:]:
        found *= found
        found *= base if bit == "1" else 1.0
    return found


def _epoch(
    engine: Engine,
    bins: Bins,
    order: int,
    groups: list[tuple[int | None, int]],
    slopes: list[float],
    away: Array,
    *,
    above: bool,
) -> Array:
    """α!/α^α times the coefficient of x^α in the product over the steps of one epoch, in units of x·N/α."""
    total, units = np.zeros((away.size, order + 1)), 8.0
    total[:, 0] = 1.0
    for level, many in groups:
        plain, behind = _together(engine, bins.count, bins.cost, order, many, above=above)
        factor = np.broadcast_to(plain, total.shape)
        if level is not None:
            pad = 1 + (2 if above else -2) * UNIT
            grown = _exponential(slopes[level] * away * pad, above=above)
            powers = np.cumprod(np.repeat(grown[:, None], order, axis=1), axis=1)
            factor = np.concatenate([factor[:, :1], factor[:, 1:] * powers], axis=1)
        units += behind + 2 * order + 4
        total = _checked(_product(total, factor))
    return total[:, order] * _normal(order, above=above) * (1 + (1 if above else -1) * 2 * UNIT * units)


def _product(left: Array, right: Array) -> Array:
    """Of polynomials, row by row, up to the same degree."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused by whoever looks at it
        found = left * right[..., :1]
        for power in range(1, left.shape[-1]):
            found[..., power:] += left[..., : left.shape[-1] - power] * right[..., power : power + 1]
    return found


@lru_cache(maxsize=1 << 10)
def _normal(order: int, *, above: bool) -> float:
    """α!/α^α."""
    value = Fraction(math.factorial(order), order**order)
    return double_above(value) if above else double_below(value)


def _together(engine: Engine, count: int, cost: Fraction, order: int, many: int, *, above: bool) -> tuple[Array, float]:
    """(Σ_c (αx/N)^c/c!·e^(μ²c(c−1)/2))^many up to x^α, and how many units of rounding are behind it."""
    return _together_kept(engine.name, count, cost, order, many, above)


@lru_cache(maxsize=1 << 10)
def _together_kept(name: str, count: int, cost: Fraction, order: int, many: int, above: bool) -> tuple[Array, float]:
    if many > 1:
        half, units = _together_kept(name, count, cost, order, many // 2, above)
        found, units = _checked(_product(half, half)), 2 * units + order + 4
        if many % 2:
            one, more = _together_kept(name, count, cost, order, 1, above)
            found, units = _checked(_product(found, one)), units + more + order + 4
        return found, units
    from ..arithmetic.engines import ENGINES

    engine = ENGINES[name](96)
    with engine.working():
        found = np.empty(order + 1)
        for uses in range(order + 1):
            weight = Fraction(order, count) ** uses / math.factorial(uses)
            if uses * (uses - 1) * cost > 1600:
                raise too_large()
            term = engine.mul(engine.ball(weight), engine.exp(engine.ball(uses * (uses - 1) * cost / 2)))
            found[uses] = _double(engine, term, above=above)
    return _checked(found), 2.0


def _still(engine: Engine, count: int, cost: Fraction, order: int, *, above: bool) -> float:
    """The moment of an epoch without drift, rounded."""
    plain, units = _together(engine, count, cost, order, count, above=above)
    found = float(plain[order]) * _normal(order, above=above) * (1 + (1 if above else -1) * 2 * UNIT * (units + 4))
    return found + LOST if above else max(1.0, found - LOST)
