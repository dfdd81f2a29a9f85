"""`CappedMoment`: a recursion for the moment of hits, in which what a hit adds is capped.

The map increases with a slope of at most 1, so rounding errors add up and never grow. From 0 the recursion climbs to
its fixed point, from cost·(1 + q)/(1 − q) it falls to it: once the two meet, further steps do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sympy import Expr, S, cancel, exp, log

from ..errors import TooManySteps
from ..symbols import alpha_minus_1
from .capped_hit import CappedHit
from .interface import Balls, OfSteps, Rules, Trend, agree, must_count

MOST_CAPPED_STEPS = 2 * 10**5
LONG = 512
"""Longer recursions are followed from above as well, to see whether they have settled."""


class CappedMoment(OfSteps):
    """s after `count` steps of s ← log(p·e^g(s) + (1 − p)·e^(q²s)) from s = 0, p the `rate`.

    g(s) = s + cost up to s = cost·q²/(1 − q²), and (q√s + √(cost·(1 − q²)))² beyond. Its derivation proves that the map
    increases with a slope of at most 1 and leads from cost·(1 + q)/(1 − q) no higher.
    """

    nargs = 4  # cost, q, rate, count
    rank = 1

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        cost, q, rate, count = self.args
        must_count(count)
        hit, miss = exp(CappedHit(cost, q, self)), exp(q**2 * self)
        start = self.func(cost, q, rate, S.Zero), S.Zero
        return start, (self.func(cost, q, rate, count + 1), log(rate * hit + (1 - rate) * miss))

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        cost, q, rate, count = numbers
        return _Capped(over, cost, q, rate).after(int(count))

    @classmethod
    def curve(cls, *numbers: Any) -> Sequence[float]:
        *others, count = numbers
        return _curve(*map(float, others), int(count))

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        return rules.joint(self.args)  # more hits, or later misses that forget less, only add to the sum

    def per_order(self, rules: Rules) -> Trend | None:
        """A recursion of means of e^(cX), each to the power 1/c."""
        return agree([rules.joint(self.args), rules.of(cancel(self.args[0] / alpha_minus_1))])


class _Capped:
    """The map for given numbers, in the arithmetic of an engine."""

    def __init__(self, over: Balls, cost: Fraction, q: Fraction, rate: Fraction) -> None:
        engine = over.engine
        self._over, self._engine, self._q, self._rate = over, engine, q, rate
        self._cost = engine.ball(cost)
        self._switch = cost * q**2 / (1 - q**2)
        self._kick = over.power(engine.ball(cost * (1 - q**2)), Fraction(1, 2))
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
                bottom, top = self._over.bounds(low)[0] - errors[0], self._over.bounds(high)[1] + errors[1]
                if top - bottom <= engine.resolution * 2**40 * top:
                    return engine.interval(bottom, top)
                if done >= MOST_CAPPED_STEPS:
                    raise TooManySteps(count, "a recursion")
        return engine.add(low, engine.interval(-errors[0], errors[0]))

    def _step(self, s: Any) -> Any:
        over, engine = self._over, self._engine
        low, high = over.bounds(s)
        if high <= self._switch:
            hit = engine.add(s, self._cost)
        else:
            root = over.power(s if low > 0 else engine.ball(high), Fraction(1, 2))
            mixed = engine.add(over.mul(self._q, root), self._kick)
            hit = engine.mul(mixed, mixed)
            if low < self._switch:  # both formulas agree where they meet: their hull is thin
                ends = (*over.bounds(hit), *over.bounds(engine.add(s, self._cost)))
                hit = engine.interval(min(ends), max(ends))
        missed = over.mul(self._q**2, s)
        falling = engine.exp(engine.add(missed, over.mul(Fraction(-1), hit)))
        share = over.add(self._rate, over.mul(1 - self._rate, falling))
        return engine.add(hit, over.log(share) if self._rate < 1 else engine.ball(Fraction(0)))


@lru_cache(maxsize=1 << 10)
def _curve(cost: float, q: float, rate: float, count: int) -> list[float]:
    """Values after 1, 2, … steps, until they no longer change."""
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
        if done >= MOST_CAPPED_STEPS and done < count:
            raise TooManySteps(count, "a recursion")
    return found
