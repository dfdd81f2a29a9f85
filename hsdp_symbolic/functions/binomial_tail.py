"""`BinomialTail`: the chance of more successes than some number."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr

from ..errors import ArgumentError
from ..setting.arrays import Array
from .interface import Arithmetic, Balls, OfNumbers, Parts, Printer, Rules, Trend, Values, agree, flip


class BinomialTail(OfNumbers):
    """P(X > most) for X ~ Bin(count, rate); `most` need not be whole. It is 0 only where it must be."""

    nargs = 3  # count, rate, most
    normalised = (0, 1, 2)
    rank = 1

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        count, rate, most = numbers
        if count.denominator != 1 or count < 0:
            raise ArgumentError("count", count, "not a count", "give a whole number from 0 on")
        if not 0 <= rate <= 1:
            raise ArgumentError("rate", rate, "not a chance", "give a number from 0 to 1")
        return most >= count or (not rate and most >= 0)

    @classmethod
    def exact(cls, over: Arithmetic, parts: Parts, values: Values) -> Any:
        count, rate, most = (over.exactly(part, values) for part in parts)
        if not cls.vanishes(count, rate, most) and (most < 0 or rate == 1):
            return Fraction(1)
        return super().exact(over, parts, values)

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        count, rate, most = int(numbers[0]), numbers[1], math.floor(numbers[2])
        if most < 0 or rate == 1:
            return Fraction(1)
        if most + 1 > count * rate:
            return _sum(over, count, rate, most + 1)
        # Fewer successes than the mean are more failures than theirs.
        return over.add(Fraction(1), over.mul(Fraction(-1), _sum(over, count, 1 - rate, count - most)))

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([_in_doubles(*row) for row in rows], dtype=np.float64).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with count and rate, down with `most`: one more try, or a better chance, can only add successes."""
        count, rate, most = map(rules.of, self.args)
        return agree([count, rate, flip(most)])

    def tex(self, printer: Printer) -> str:
        count, rate, most = map(printer._print, self.args)
        return rf"\mathrm{{P}}\left(\mathrm{{Bin}}({count}, {rate}) > {most}\right)"


def _sum(over: Balls, count: int, rate: Fraction, first: int) -> Any:
    """P(X ≥ first), for `first` above the mean: from there on terms fall, and their ratios too."""
    engine = over.engine
    term: Any = engine.mul(over.ball(Fraction(_choose(count, first))), engine.power(over.ball(rate), first))
    if first < count:
        term = engine.mul(term, engine.power(over.ball(1 - rate), count - first))
    odds, total = rate / (1 - rate), term
    for k in range(first, count):
        ratio = odds * Fraction(count - k, k + 1)
        term = engine.mul(term, over.ball(ratio))
        total = engine.add(total, term)
        if (count - k) % 16 == 0 and ratio < 1:
            rest = over.bounds(over.mul(ratio / (1 - ratio), term))[1]
            if rest < engine.resolution * over.bounds(total)[0]:
                return engine.add(total, engine.interval(Fraction(0), rest))
    return total


@lru_cache(maxsize=8)
def _choose(count: int, some: int) -> int:
    """C(count, some), which takes a second for a million records and is asked for at many an ε."""
    return math.comb(count, some)


def _in_doubles(count: Any, rate: Any, most: Any) -> float:
    n, p, m = int(count), float(rate), math.floor(most)
    if m >= n:
        return 0.0
    if m < 0 or p == 1:
        return 1.0
    if p == 0:
        return 0.0
    upper = m + 1 > n * p
    first, last = (m + 1, n) if upper else (0, m)
    spread = 40 + math.ceil(12 * math.sqrt(n * p * (1 - p) + 1))
    k = (
        np.arange(first, min(last, max(first, math.ceil(n * p)) + spread) + 1)
        if upper
        else np.arange(max(first, min(last, math.floor(n * p)) - spread), last + 1)
    )
    log_factorial = np.vectorize(math.lgamma, otypes=[np.float64])
    logs = (
        math.lgamma(n + 1)
        - log_factorial(k + 1.0)
        - log_factorial(n - k + 1.0)
        + k * math.log(p)
        + (n - k) * math.log1p(-p)
    )
    top = float(logs.max())
    found = math.exp(top) * float(np.exp(logs - top).sum())
    return found if upper else 1 - found
