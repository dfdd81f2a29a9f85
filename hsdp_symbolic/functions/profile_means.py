"""The mean of δ_G(√(cost·u); ε) over very many numbers u, enclosed; δ_G(μ; ε) is that of N(0, 1) and N(μ, 1).

With x = cost·u, g(x) = δ_G(√x; ε) has the derivatives g' = e^(−(ε²/x − ε + x/4)/2)/(2·√(2πx)) > 0 and
g'' = g'·(ε²/x − x/4 − 1)/(2x). Numbers that are close to each other are summed at once, as their count times g at their
mean, with g' for what rounding left of the mean, and with g'' over the range they lie in for how far they scatter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..arithmetic.engines import Arb
from ..arithmetic.rounded import UNIT, require_nearest_arrays
from ..setting.arrays import Array
from .gaussian_profile import profile

_BINS = 8, 6
"""Bins for every doubling, to begin with, and for how many of these; what is smaller is one bin."""
_NARROW = 1.5
"""In a bin whose ends differ by more than this factor the derivatives are not asked: g rises, that is all."""
_LEAST_NARROW = 2.0**-200
_ROUNDS = 24
"""How often bins are divided before precision is raised instead."""
_LEAST_SHARE = 2.0**-64
"""The least part of a bin that is cut off, in the size of its numbers: 0 may be among these."""
_FIRST_PRECISION, _LAST_PRECISION = 128, 2**14
_SKETCH = 64, 40
"""The same, in doubles."""


@dataclass(frozen=True, eq=False)
class Bin:
    """Numbers from `low` to `high`: their weight, the first two moments of their distance from `centre`, and errors."""

    begin: int
    end: int
    low: float
    high: float
    centre: float
    weight: float
    first: float
    first_size: float
    second: float
    second_size: float
    roundings: int
    """How many, of what `weight` and the two sizes say, are behind weight and moments."""
    exact: bool = True
    """Whether the second moment is known, and not only that it is no more than that."""

    @property
    def is_wide(self) -> bool:
        """Whether the ends differ much, or squares of differences may be too little for a double."""
        return self.high > _NARROW * self.low or self.high < _LEAST_NARROW

    @cached_property
    def balls(self) -> tuple[Any, ...]:
        """Weight, moments, centre, and all that lies between the ends, as balls; errors of the sums are counted in."""
        engine, slack = Arb(_FIRST_PRECISION), Fraction(self.roundings) * Fraction(UNIT)

        def sum_of(value: float, size: float, least: float) -> Any:
            error = Fraction(size) * slack
            return engine.interval(Fraction(least) - error, Fraction(value) + error)

        with engine.working():
            return (
                sum_of(self.weight, self.weight, self.weight),
                sum_of(self.first, self.first_size, self.first),
                sum_of(self.second, self.second_size, self.second if self.exact else 0.0),
                engine.ball(Fraction(self.centre)),
                engine.interval(Fraction(self.low), Fraction(self.high)),
            )


class Scattered:
    """Numbers u ≥ 0 with weights whose sum is 1."""

    def __init__(self, values: Array, weights: Array) -> None:
        """Weights may be off by a few roundings each."""
        require_nearest_arrays()
        order = np.argsort(values, axis=None)
        self.values: Array = np.ascontiguousarray(values.ravel()[order])
        self.weights: Array = np.ascontiguousarray(np.broadcast_to(weights, values.shape).ravel()[order])
        self._made: dict[tuple[int, int], Bin] = {}
        """Bins that were looked at: means for other ε want the same ones."""

    @cached_property
    def _bins(self) -> list[Bin]:
        return list(self._cut(*_BINS))

    def _cut(self, bins: int, doublings: int) -> Iterator[Bin]:
        """So many bins for every doubling, below the largest number; one for numbers that are far smaller."""
        least = float(self.values[-1]) * 2.0**-doublings
        logs = np.floor(np.log2(np.maximum(self.values, least)) * bins)
        ends = [0, *(np.flatnonzero(np.diff(logs)) + 1).tolist(), len(self.values)]
        for begin, end in pairwise(ends):
            yield self._bin(begin, end)

    def _bin(self, begin: int, end: int) -> Bin:
        if (begin, end) not in self._made:
            self._made[begin, end] = self._new_bin(begin, end)
        return self._made[begin, end]

    def _new_bin(self, begin: int, end: int) -> Bin:
        values, weights = self.values[begin:end], self.weights[begin:end]
        weight = float(weights.sum())
        low, high = float(values[0]), float(values[-1])
        centre = min(max(float((weights * values).sum()) / weight, low), high)
        away = values - centre
        moment = weights * away
        second = float((moment * away).sum())
        return Bin(
            *(begin, end, low, high, centre, weight),
            *(float(moment.sum()), float(np.abs(moment).sum()), second, second),
            end - begin + 32,  # each is a sum of so many products, of up to ten roundings each; and some for weights
        )

    def _halves(self, whole: Bin) -> list[Bin]:
        """Two bins for one, divided in the middle of its range."""
        middle = max(math.sqrt(whole.low) * math.sqrt(whole.high), whole.high * _LEAST_SHARE)
        cut = whole.begin + int(np.searchsorted(self.values[whole.begin : whole.end], middle, side="right"))
        if not whole.begin < cut < whole.end:
            return [whole]
        return [self._bin(whole.begin, cut), self._bin(cut, whole.end)]

    def mean(self, cost: Fraction, epsilon: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds on the mean of g(cost·u), `tolerance` apart relative to it, or as close as doubles allow."""
        precision, best = _FIRST_PRECISION, (Fraction(0), Fraction(1))
        while precision <= _LAST_PRECISION:
            low, high = self._refined(_Profile(cost, epsilon, precision), tolerance)
            best = max(best[0], low), min(best[1], high)
            if best[1] - best[0] <= tolerance * best[1] or best[1] < 2 * best[0]:  # then bins are what is wide
                break
            precision *= 4
        return best

    def _refined(self, profile: _Profile, tolerance: Fraction) -> tuple[Fraction, Fraction]:
        found = {each: profile.over(each) for each in self._bins}
        for _ in range(_ROUNDS):
            low, high = profile.total(found.values())
            if high - low <= tolerance * high:
                break
            allowed = float(tolerance * min(high, Fraction(1))) / (4 * len(found))
            wide = [each for each, ball in found.items() if not float(ball.rad()) <= allowed]
            divided = {each: halves for each in wide if len(halves := self._halves(each)) > 1}
            if not divided:
                break
            for each, halves in divided.items():
                del found[each]
                found |= {half: profile.over(half) for half in halves}
        return max(low, Fraction(0)), min(high, Fraction(1))

    @cached_property
    def _sketch(self) -> tuple[Array, Array]:
        bins = list(self._cut(*_SKETCH))
        return np.array([each.centre for each in bins]), np.array([each.weight for each in bins])

    def rough(self, cost: float, epsilon: float) -> float:
        """The mean in doubles, to about six digits."""
        values, weights = self._sketch
        found = profile(cost * values, np.full(values.shape, abs(epsilon)))
        if epsilon < 0:
            found = math.exp(epsilon) * found - math.expm1(epsilon)
        return float(weights @ found)


class _Profile:
    """g and its derivatives at one cost and one ε, by arb."""

    def __init__(self, cost: Fraction, epsilon: Fraction, precision: int) -> None:
        self.engine = Arb(precision)
        self.cost, self.epsilon = cost, epsilon

    def over(self, each: Bin) -> Any:
        """The part of the mean that a bin makes up."""
        parts = each.balls
        with self.engine.working():
            return (self._wide if each.is_wide else self._narrow)(each, *parts)

    def total(self, parts: Iterable[Any]) -> tuple[Fraction, Fraction]:
        """Bounds on a sum."""
        engine = self.engine
        with engine.working():
            found = engine.ball(Fraction(0))
            for part in parts:
                found = engine.add(found, part)
            bounds = engine.bounds(found)
        return bounds if bounds is not None else (Fraction(0), Fraction(1))

    def _wide(self, each: Bin, weight: Any, *_: Any) -> Any:
        engine = self.engine
        return engine.mul(weight, engine.union(self._value(self._times_cost(each.high)), self._least(each.low)))

    def _narrow(self, each: Bin, weight: Any, first: Any, second: Any, centre: Any, around: Any) -> Any:
        engine, cost = self.engine, self._cost
        x = engine.mul(centre, cost)
        total = engine.mul(weight, self._value(x))
        if each.low < each.high:
            y = engine.mul(around, cost)
            tilt = self._sum(self._over(self._square(self._epsilon), y), self._part(y, -4), engine.ball(Fraction(-1)))
            curved = engine.mul(self._slope(y), self._over(tilt, self._part(y, Fraction(1, 2))))
            linear = engine.mul(engine.mul(cost, first), self._slope(x))
            scattered = engine.mul(engine.mul(self._square(cost), second), self._part(curved, 2))
            total = self._sum(total, linear, scattered)
        return total

    def _least(self, low: float) -> Any:
        """g at the lower end of a wide bin, or what it is at 0 and so at least: max(0, 1 − e^ε)."""
        engine = self.engine
        if low:
            return self._value(self._times_cost(low))
        if self.epsilon < 0:
            return self._sum(engine.ball(Fraction(1)), self._part(engine.exp(self._epsilon), -1))
        return engine.ball(Fraction(0))

    def _value(self, x: Any) -> Any:
        """½·erfc((ε/√x − √x/2)/√2) − e^ε·½·erfc((ε/√x + √x/2)/√2)."""
        engine, epsilon = self.engine, self._epsilon
        root = engine.sqrt(self._part(x, Fraction(1, 2)))
        far = self._over(epsilon, root)
        first, second = (engine.erfc(engine.add(far, self._part(root, fourth))) for fourth in (-4, 4))
        return self._part(self._sum(first, self._part(engine.mul(engine.exp(epsilon), second), -1)), 2)

    def _slope(self, x: Any) -> Any:
        """g'."""
        engine, epsilon = self.engine, self._epsilon
        exponent = self._sum(epsilon, self._part(self._over(self._square(epsilon), x), -1), self._part(x, -4))
        root = engine.sqrt(engine.mul(self._part(engine.pi(), Fraction(1, 2)), x))
        return self._part(self._over(engine.exp(self._part(exponent, 2)), root), 2)

    @property
    def _cost(self) -> Any:
        return self.engine.ball(self.cost)

    @property
    def _epsilon(self) -> Any:
        return self.engine.ball(self.epsilon)

    def _times_cost(self, x: float) -> Any:
        return self.engine.mul(self.engine.ball(Fraction(x)), self._cost)

    def _part(self, x: Any, divisor: int | Fraction) -> Any:
        """x/divisor, for a number."""
        return self.engine.mul(x, self.engine.ball(1 / Fraction(divisor)))

    def _over(self, x: Any, y: Any) -> Any:
        return self.engine.mul(x, self.engine.inverse(y))

    def _square(self, x: Any) -> Any:
        return self.engine.mul(x, x)

    def _sum(self, first: Any, *others: Any) -> Any:
        for each in others:
            first = self.engine.add(first, each)
        return first
