"""The recursion of `nodes.CappedMoment`: along thin intervals, and in doubles.

The map increases with a slope of at most 1, so rounding errors add up and never grow. What starts from 0 climbs to the
fixed point, what starts from c(1 + q)/(1 − q) falls to it: once the two meet, further steps do not matter.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Function

from ..arithmetic.engines import Engine, Unbounded
from ..errors import TooManySteps
from ..setting.arrays import Array


class CappedMoment(Function):
    """s after `count` steps of s ← log(p·e^g(s) + (1 − p)·e^(q²s)) from s = 0, p the `rate`.

    g(s) = s + cost up to s = cost·q²/(1 − q²), and (q√s + √(cost·(1 − q²)))² beyond. Its derivation proves that the map
    increases with a slope of at most 1 and leads from cost·(1 + q)/(1 − q) no higher.
    """

    nargs = 4  # cost, q, rate, count


if TYPE_CHECKING:
    from ..evaluate.intervals import Intervals

MAX_STEPS = 2 * 10**5
LONG = 512
"""Beyond so many steps it is watched from above too, whether it settles."""


class Capped:
    """The map for given numbers, in the arithmetic of an engine."""

    def __init__(self, algebra: Intervals, engine: Engine, cost: Fraction, q: Fraction, rate: Fraction) -> None:
        self._algebra, self._engine, self._q, self._rate = algebra, engine, q, rate
        self._cost = engine.ball(cost)
        self._switch = cost * q**2 / (1 - q**2)
        self._kick = algebra.power(engine.ball(cost * (1 - q**2)), Fraction(1, 2))
        self._top = cost * (1 + q) / (1 - q)

    def after(self, count: int) -> Any:
        engine = self._engine
        low, high = (engine.ball(x) for x in (Fraction(0), self._top))
        errors = [Fraction(0), Fraction(0)]
        for done in range(1, count + 1):
            low, radius = engine.recentre(self._step(low))
            errors[0] += radius
            if count <= LONG:
                continue
            high, radius = engine.recentre(self._step(high))
            errors[1] += radius
            if done % 32 == 0:
                bottom, top = self._ends(low)[0] - errors[0], self._ends(high)[1] + errors[1]
                if top - bottom <= engine.resolution * 2**40 * top:
                    return engine.interval(bottom, top)
                if done >= MAX_STEPS:
                    raise TooManySteps(count, "a recursion")
        return engine.add(low, engine.interval(-errors[0], errors[0]))

    def _step(self, s: Any) -> Any:
        algebra, engine = self._algebra, self._engine
        low, high = self._ends(s)
        if high <= self._switch:
            hit = engine.add(s, self._cost)
        else:
            root = algebra.power(s if low > 0 else engine.ball(high), Fraction(1, 2))
            mixed = engine.add(algebra.mul(self._q, root), self._kick)
            hit = engine.mul(mixed, mixed)
            if low < self._switch:  # both formulas agree where they meet: their hull is thin
                ends = (*self._ends(hit), *self._ends(engine.add(s, self._cost)))
                hit = engine.interval(min(ends), max(ends))
        missed = algebra.mul(self._q**2, s)
        falling = engine.exp(engine.add(missed, algebra.mul(Fraction(-1), hit)))
        share = algebra.add(self._rate, algebra.mul(1 - self._rate, falling))
        return engine.add(hit, algebra.log(share) if self._rate < 1 else engine.ball(Fraction(0)))

    def _ends(self, x: Any) -> tuple[Fraction, Fraction]:
        bounds = self._engine.bounds(x)
        if bounds is None:
            raise Unbounded
        return bounds


def capped_moments(cost: Any, q: Any, rate: Any, count: Any) -> Array:
    """The value over arrays that broadcast: one run for all numbers of steps."""
    given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in (cost, q, rate, count)))
    rows = list(zip(*(part.ravel().tolist() for part in given), strict=True))
    keys = [tuple(map(float, others)) for *others, _ in rows]
    longest: dict[tuple[float, ...], int] = {}
    for key, (*_, steps) in zip(keys, rows, strict=True):
        longest[key] = max(longest.get(key, 0), int(steps))
    out = np.empty(len(rows))
    for place, (key, (*_, steps)) in enumerate(zip(keys, rows, strict=True)):
        found = _curve(*key, longest[key])
        out[place] = found[min(int(steps), len(found)) - 1]
    return out.reshape(given[0].shape)


@lru_cache(maxsize=1 << 10)
def _curve(cost: float, q: float, rate: float, count: int) -> list[float]:
    """Values after 1, 2, … steps, until they stand still."""
    r = q * q
    switch, kick = (cost * r / (1 - r), math.sqrt(cost * (1 - r))) if r < 1 else (math.inf, 0.0)
    s, found = 0.0, []
    for done in range(1, count + 1):
        hit = s + cost if s <= switch else (q * math.sqrt(s) + kick) ** 2
        if hit <= 30:
            following = math.log1p(rate * math.expm1(hit) + (1 - rate) * math.expm1(r * s))
        else:
            following = hit + math.log(rate + (1 - rate) * math.exp(r * s - hit))
        found.append(following)
        if following == s:
            break
        s = following
        if done >= MAX_STEPS and done < count:
            raise TooManySteps(count, "a recursion")
    return found
