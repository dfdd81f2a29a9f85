"""`GapMoment`: the moment of what it costs to hide every hit before the next one, batches being reshuffled every epoch.

With u(g) = 1/Σ_(s<g) c^(−2s) and places j_1, …, j_K, all equally likely in 0, …, N − 1, the sum is
u(N − j_1 + j_2) + … + u(N − j_(K−1) + j_K) + u(N − j_K). So its moment is N^(−1)·1ᵀM^(K−1)f with
M_(j,j') = N^(−1)·e^(cost·u(N − j + j')) and f_j = e^(cost·u(N − j)). Counted from the end of an epoch, a = N − 1 − j, a
row of M is part of one sequence: to apply it is to multiply two polynomials. All numbers are positive.

Vectors v ← Mv soon become multiples of each other. From v on, K' more epochs multiply 1ᵀv by something between the
K'-th powers of the least and the largest of (Mv)_j/v_j, as M has no negative entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, cancel

from ..arithmetic.engines import Engine, Unbounded
from ..arithmetic.scaled import log_q
from ..errors import ArgumentError, OutsideDoubleRange, TooManySteps
from ..progress import Ticker
from ..setting.arrays import Array
from ..symbols import alpha_minus_1, i
from .interface import Balls, OfNumbers, Printer, Rules, Trend, agree
from .log_mean_exp import LogMeanExp
from .planned_gaps import PlannedGaps

MOST_BATCHES = 2**14
"""The most batches of an epoch."""
MOST_TERMS = 4 * 10**6
"""The most entries of vectors, all epochs together, that are computed before they settle."""
MOST_PRODUCTS = 2 * 10**6
"""The most products that an engine without polynomials is asked for."""
_FIRST_LOOK, _STRIDE = 8, 4
"""Epochs before the first look at whether vectors have settled, and between two."""
_SETTLED = 2e-14
"""How much less than its size the growth of an epoch varies, in doubles, when it is taken to be the same everywhere."""
_LARGE = 2.0**300


class GapMoment(OfNumbers):
    """log E e^(cost·U): U is the sum of u over the gaps between hits, one an epoch, in places drawn by themselves.

    `factor` is c, `batches` N and `epochs` K in the words at the top of this file.
    """

    nargs = 4  # cost, factor, batches, epochs
    rank = 1

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The mean over all plans; only proofs write it so."""
        cost, factor, batches, epochs = self.args
        return ((self, LogMeanExp(cost * PlannedGaps(factor, batches, epochs, i), i, batches**epochs)),)

    def _eval_is_real(self) -> bool | None:
        return True if all(arg.is_real for arg in self.args) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self._eval_is_real() and self.args[0].is_nonnegative else None

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        return _log_moment(over.engine, *_admitted(*numbers), over.tolerance / 4)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        found = [log_moment_in_doubles(float(cost), *map(Fraction, rest)) for cost, *rest in rows]
        return np.array(found).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with the cost, with c (a sum of powers of 1/c falls) and with the epochs: M has columns that add up to 1
        or more. Unknown in the batches."""
        cost, factor, batches, epochs = self.args
        return None if rules.depends(batches) else rules.joint((cost, factor, epochs))

    def per_order(self, rules: Rules) -> Trend | None:
        """The mean of e^(cU), to the power 1/c, increases with c."""
        trend = self.trend(rules)
        return None if trend is None else agree([trend, rules.of(cancel(self.args[0] / alpha_minus_1))])

    def tex(self, printer: Printer) -> str:
        cost, factor, batches, epochs = map(printer._print, self.args)
        return rf"\log \mathrm{{E}}\, e^{{{cost} U}}\left({factor}, {batches}, {epochs}\right)"


def _admitted(
    cost: Fraction, factor: Fraction, batches: Fraction, epochs: Fraction
) -> tuple[Fraction, Fraction, int, int]:
    """What is asked for, if it can be answered."""
    if factor <= 0:
        raise ArgumentError("factor", float(factor), "not a Lipschitz constant", "give a number above 0")
    for name, count, most in (("batches", batches, MOST_BATCHES), ("epochs", epochs, None)):
        if count.denominator != 1 or count < 1 or (most is not None and count > most):
            limit = "" if most is None else f" and at most {most}"
            raise ArgumentError(name, float(count), "not a count that this is computed for", f"give one from 1{limit}")
    return cost, factor, int(batches), int(epochs)


# --- Intervals ------------------------------------------------------------------------------------------------------


def _log_moment(engine: Engine, cost: Fraction, factor: Fraction, batches: int, epochs: int, rtol: Fraction) -> Any:
    """The logarithm of the moment, an interval of the engine."""
    weights = _weights(engine, cost, factor, 2 * batches - 1)
    here, ticker = weights[:batches], Ticker()
    apply = _polynomials(engine, weights, batches) if engine.has_series else _sums(engine, weights, batches, epochs)
    for done in range(1, epochs):
        if done * batches > MOST_TERMS:
            raise TooManySteps(epochs, "a moment")
        ticker.say(f"moments: {done:,} of {epochs:,} epochs")
        before, here = here, apply(here)
        if done >= _FIRST_LOOK and done % _STRIDE == 0 and done + 1 < epochs:
            found = _settled(engine, before, here, epochs - 1 - done, rtol)
            if found is not None:
                ticker.clear()
                return found
    ticker.clear()
    return engine.log(_mean(engine, here))


def _weights(engine: Engine, cost: Fraction, factor: Fraction, most: int) -> list[Any]:
    """e^(cost·u(g)) for g = 1, …, most."""
    found, scale = [], engine.ball(cost)
    power = total = engine.ball(Fraction(1))
    ratio = engine.ball(1 / factor**2)
    for _ in range(most):
        found.append(engine.exp(engine.mul(scale, engine.inverse(total))))
        power = engine.mul(power, ratio)
        total = engine.add(total, power)
    return found


def _polynomials(engine: Any, weights: list[Any], batches: int) -> Callable[[list[Any]], list[Any]]:
    """v ↦ Mv by a product of polynomials, both written from the end of an epoch on."""
    import flint

    row, part = flint.arb_poly(weights), engine.ball(Fraction(1, batches))

    def apply(vector: list[Any]) -> list[Any]:
        product = engine.mul(engine.mul(row, flint.arb_poly(vector)), part)
        return [product[batches - 1 + place] for place in range(batches)]

    return apply


def _sums(engine: Engine, weights: list[Any], batches: int, epochs: int) -> Callable[[list[Any]], list[Any]]:
    """v ↦ Mv, product by product."""
    if batches**2 * min(epochs, _FIRST_LOOK) > MOST_PRODUCTS:
        raise TooManySteps(epochs, "a moment")

    def apply(vector: list[Any]) -> list[Any]:
        found = []
        for place in range(batches):
            terms = map(engine.mul, weights[place : place + batches], reversed(vector))
            found.append(engine.mul(engine.ball(Fraction(1, batches)), _sum(engine, list(terms))))
        return found

    return apply


def _sum(engine: Engine, terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = engine.add(total, term)
    return total


def _mean(engine: Engine, vector: list[Any]) -> Any:
    return engine.mul(engine.ball(Fraction(1, len(vector))), _sum(engine, vector))


def _settled(engine: Engine, before: list[Any], here: list[Any], more: int, rtol: Fraction) -> Any:
    """The logarithm after so many more epochs, from two vectors in a row; None if their quotients differ too much."""
    quotients = [engine.bounds(engine.mul(x, engine.inverse(y))) for x, y in zip(here, before, strict=True)]
    if any(each is None for each in quotients):
        raise Unbounded
    least, most = min(each[0] for each in quotients if each), max(each[1] for each in quotients if each)
    if least < 1:  # rounding: it is at least 1, as all weights are
        return None
    growth = engine.bounds(engine.log(engine.interval(least, most)))
    start = engine.log(_mean(engine, here))
    bounds = engine.bounds(start)
    if growth is None or bounds is None or more * (growth[1] - growth[0]) > rtol * (bounds[0] + more * growth[0]):
        return None
    return engine.add(start, engine.mul(engine.ball(Fraction(more)), engine.interval(*growth)))


# --- Doubles --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _shares(factor: Fraction, most: int) -> Array:
    """u(g) for g = 1, …, most."""
    if factor == 1:
        return 1.0 / np.arange(1.0, most + 1)
    log_ratio = log_q(1 - 1 / factor**2).value
    found: Array = np.expm1(log_ratio) / np.expm1(np.arange(1.0, most + 1) * log_ratio)
    return found


@lru_cache(maxsize=1 << 12)
def log_moment_in_doubles(cost: float, factor: Fraction, batches: Fraction | int, epochs: Fraction | int) -> float:
    """In doubles: all is written as excess over what it would be at no cost, so that small ones are accurate."""
    _, factor, count, rounds = _admitted(Fraction(0), factor, Fraction(batches), Fraction(epochs))
    if cost > 600:
        raise OutsideDoubleRange("the moment of one hit")
    excess = np.expm1(cost * _shares(factor, 2 * count - 1))
    cumulated = np.concatenate([[0.0], np.cumsum(excess)])
    row = (cumulated[count:] - cumulated[:count]) / count
    base, scale = 1.0, 0.0
    here = excess[:count]
    for done in range(1, rounds):
        if done * count > MOST_TERMS:
            raise TooManySteps(rounds, "a moment")
        products = np.convolve(excess, here, "valid") / count
        before, here = here, base * row + here.mean() + products
        grown = (here - before) / (base + before)
        low, high = float(grown.min()), float(grown.max())
        if high - low <= _SETTLED * high:
            more = (rounds - 1 - done) * math.log1p((low + high) / 2)
            return scale + _log_of(base, float(here.mean())) + more
        if (largest := float(here.max())) > _LARGE:
            base, here, scale = base / largest, here / largest, scale + math.log(largest)
    return scale + _log_of(base, float(here.mean()))


def _log_of(base: float, more: float) -> float:
    return math.log1p(more) if base == 1 else math.log(base + more)
