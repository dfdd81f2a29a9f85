"""`HitMoment`: the moment of a sum over hits, each discounted by the misses after it.

A draw is a hit if it takes the differing record, else a miss. Read backwards from the last draw, a hit multiplies by
e^(c·r^m), where m counts the misses so far, r = q². So f(m) ← p·e^(c·r^m)·f(m) + (1 − p)·f(m − 1), from f(0) = 1, and
the moment is Σ f(m). From some m on the factors are 1 to all digits asked for; all such counts are kept as one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, S, cancel, exp, log

from ..arithmetic.engines import Engine, Unbounded
from ..errors import HsdpError, OutsideDoubleRange, TooManySteps, ValueTooLarge
from ..progress import Ticker
from ..setting.arrays import Array
from ..symbols import alpha_minus_1
from .interface import Balls, Long, Rules, Trend, agree, must_count
from .sketch import Table

MOST_TERMS = 8 * 10**6
"""The most terms (draws times counts of misses) that an enclosure computes one by one."""
MOST_DRAWS = 10**5
"""The most draws that doubles go through one by one."""
_STRIDE = 64
"""Draws between two looks at whether the moment has settled."""


class HitMoment(Long):
    """log E[e^(cost·X)], X the sum over hits of q^(2·later misses), in `count` draws that hit with chance `rate`.

    M_T(c) of the recursion M_(t+1)(c) = p·e^c·M_t(c) + (1 − p)·M_t(q²c), M_0 = 1.
    """

    nargs = 4  # cost, q, rate, count
    rank = 3
    unit, budget = "terms of a moment", "terms"

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        cost, q, rate, count = self.args
        must_count(count)
        hit, miss = exp(cost) * exp(self), exp(self.func(q**2 * cost, q, rate, count))
        start = self.func(cost, q, rate, S.Zero), S.Zero
        return start, (self.func(cost, q, rate, count + 1), log(rate * hit + (1 - rate) * miss))

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        cost, q, rate, count = numbers
        finest = min(over.tolerance, over.engine.resolution * 2**40)
        return _log_moment(over.engine, cost, q**2, rate, int(count), finest)

    @classmethod
    def curve(cls, *numbers: Any) -> Sequence[float]:
        *others, count = numbers
        found: list[float] = _curve(*map(float, others), int(count)).tolist()
        return found

    @classmethod
    def work(cls, *others: Fraction) -> int:
        """How many terms an enclosure to 20 digits computes, if it does not settle early."""
        q, rate, draws = others
        r = float(q) ** 2
        return int(draws) * (_counts(r, float(rate), int(draws), 1e-20) if r < 1 else int(draws) + 1)

    @classmethod
    def sketch(cls, costs: Array, *others: Fraction) -> Array:
        return _table(*others).at(costs, 1)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        return rules.joint(self.args)  # more hits, or later misses that forget less, only add to the sum

    def per_order(self, rules: Rules) -> Trend | None:
        """The mean of e^(cX), to the power 1/c, increases with c."""
        return agree([rules.joint(self.args), rules.of(cancel(self.args[0] / alpha_minus_1))])


@lru_cache(maxsize=64)
def _table(q: Fraction, rate: Fraction, draws: Fraction) -> Table:
    def one(cost: float) -> float:
        try:
            return float(HitMoment.array(cost, q, rate, draws))
        except HsdpError:  # a cost beyond doubles
            return np.inf

    return Table(lambda costs, _: np.array([[one(cost)] for cost in costs.tolist()]))


def _log_moment(engine: Engine, cost: Fraction, r: Fraction, rate: Fraction, draws: int, rtol: Fraction) -> Any:
    """The logarithm of the moment after `draws` draws, an interval of the engine."""
    counts = _counts(float(r), float(rate), draws, float(rtol))
    if min(draws, _STRIDE) * counts > MOST_TERMS:  # refused below in any case; better before so many exponentials
        raise TooManySteps(draws, "a moment")
    factors = _factors(engine, cost, r, rate, counts, pooled=counts <= draws)
    grows = _ends(engine, factors[0])
    if (grows is None or grows[0] >= 1) and draws * len(factors) > MOST_TERMS:
        raise TooManySteps(draws, "a moment")  # p·e^c ≥ 1: it never settles
    miss = engine.ball(1 - rate)
    ticker, settled = Ticker(), None
    zero = engine.ball(Fraction(0))
    f = [engine.ball(Fraction(1))]
    for done in range(1, draws + 1):
        # The last count stands for all beyond: their factors lie between its own and the one at no cost.
        ahead = [engine.mul(miss, x) for x in f]
        f = [engine.mul(factor, x) for factor, x in zip(factors[: len(f)], f, strict=True)]
        if len(f) < len(factors):
            f.append(zero)
        else:
            f[-1] = engine.add(f[-1], ahead.pop())
        f[1:] = map(engine.add, f[1:], ahead[: len(f) - 1])
        if done % _STRIDE == 0 and done < draws:
            ticker.say(f"moments: {done:,} of {draws:,} draws")
            settled = _settled(engine, cost, r, rate, f, rtol)
            if settled is not None:
                break
            if done * len(factors) > MOST_TERMS:
                ticker.clear()
                raise TooManySteps(draws, "a moment")
    ticker.clear()
    return settled if settled is not None else engine.log(_sum(engine, f))


def _sum(engine: Engine, terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = engine.add(total, term)
    return total


def _counts(r: float, rate: float, draws: int, rtol: float) -> int:
    """How many misses until what hits add is negligible: draws·r^m below rtol·rate (of at most 10⁹ draws)."""
    if r == 0:
        return 2
    if r == 1:  # or so close that a double cannot tell
        return draws + 1
    wanted = (math.log(64 * min(draws, 10**9)) - math.log(rtol) - math.log(rate)) / -math.log(r)
    return int(min(wanted + 2, draws + 1))


def _ends(engine: Engine, x: Any) -> tuple[Fraction, Fraction] | None:
    """Exact endpoints; None where there are none, or where they are too large to be written down."""
    try:
        return engine.bounds(x)
    except ValueTooLarge:
        return None


def _factors(engine: Engine, cost: Fraction, r: Fraction, rate: Fraction, counts: int, *, pooled: bool) -> list[Any]:
    """p·e^(c·r^m) for m = 0, 1, …; if `pooled`, the last is widened down to p, so that it holds for every larger m."""
    found, here, base = [], engine.ball(cost), engine.ball(r)
    hit = engine.ball(rate)
    for _ in range(counts):
        found.append(engine.mul(hit, engine.exp(here)))
        here = engine.mul(here, base)
    if pooled:
        bounds = engine.bounds(found[-1])
        if bounds is None:
            raise Unbounded
        found[-1] = engine.interval(min(rate, bounds[0]), bounds[1])
    return found


def _settled(engine: Engine, cost: Fraction, r: Fraction, rate: Fraction, f: list[Any], rtol: Fraction) -> Any:
    """The logarithm for any number of further draws, if they hardly matter; None if they do.

    From m misses on, all further draws together multiply by at most ((1 − p)/(1 − p·e^x))^(1/(1 − r)), x = c·r^m
    (`thm:amp_samp_wo_replacement:limit`), and by at least 1.
    """
    least = _ends(engine, _sum(engine, f))
    most: Any = None
    here, base, one = engine.ball(cost), engine.ball(r), engine.ball(Fraction(1))
    for term in f:
        left = engine.add(one, engine.mul(engine.ball(-rate), engine.exp(here)))
        if rate == 1 or (ends := _ends(engine, left)) is None or ends[0] <= 0 or r == 1:
            return None
        ceiling = engine.mul(engine.ball(1 - rate), engine.inverse(left))
        grown = engine.mul(term, engine.exp(engine.mul(engine.ball(1 / (1 - r)), engine.log(ceiling))))
        most = grown if most is None else engine.add(most, grown)
        here = engine.mul(here, base)
    above = _ends(engine, most)
    if least is None or above is None or least[0] <= 1:
        return None
    low, high = engine.log(engine.ball(least[0])), engine.log(engine.ball(above[1]))
    bottom, top = engine.bounds(low), engine.bounds(high)
    if bottom is None or top is None or top[1] - bottom[0] > rtol * top[1] / 2:
        return None
    return engine.interval(bottom[0], top[1])


@lru_cache(maxsize=1 << 10)
def _curve(cost: float, q: float, rate: float, draws: int) -> Array:
    """Values for 1, 2, … draws, until they settle; summed as excesses over no cost, so small ones are accurate.

    With f = g + e, where g is f at no cost (which sums to 1): e(m) ← p·(e^x·e(m) + (e^x − 1)·g(m)) + (1 − p)·e(m − 1).
    """
    r = q * q
    counts = _counts(r, rate, draws, 1e-17)
    if counts > MOST_DRAWS + 1:  # it cannot settle before as many misses
        raise TooManySteps(draws, "a moment")
    x = cost * r ** np.arange(counts, dtype=np.float64)
    if cost > 600:
        raise OutsideDoubleRange("the moment of one hit")
    grow, gain = rate * np.exp(x), rate * np.expm1(x)
    g, e = np.zeros(counts), np.zeros(counts)
    g[0], scale, found = 1.0, 0.0, []
    for done in range(1, draws + 1):
        hidden, passed = (1 - rate) * g, (1 - rate) * e
        e *= grow
        e += gain * g
        g *= rate
        e[1:] += passed[:-1]
        g[1:] += hidden[:-1]
        e[-1] += passed[-1]
        g[-1] += hidden[-1]
        total = float(e.sum())
        if total > 2.0**100:  # so that one more factor, up to e^600, does not overflow
            shift = math.frexp(total)[1]
            e *= 2.0**-shift
            g *= 2.0**-shift
            scale, total = scale + shift * math.log(2), total * 2.0**-shift
        found.append(scale + math.log(total) if scale else math.log1p(total))
        if done % _STRIDE == 0 and found[-1] == found[-_STRIDE]:
            break
        if done >= MOST_DRAWS and done < draws:
            raise TooManySteps(draws, "a moment")
    return np.array(found)
