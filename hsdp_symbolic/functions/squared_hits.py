"""log E exp(s²z²/2) for z = Σ q^i·h_i over i < count, with independent h_i, each 1 with chance p.

For a standard normal g, e^(s²z²/2) is the mean of e^(sgz), so the moment is the integral of φ(g)·e^(K(sg)), where
K(x) = Σ_i log(1 − p + p·e^(x·q^i)) is the logarithm of the mean of e^(xz): one integral, by the trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import TooManySteps
from ..setting.arrays import Array
from .interface import Balls

MOST_TERMS = 4 * 10**6
"""Logarithms that are computed one by one."""
_BLOCK = 0.02
"""In bounds on what is left out, hits whose weights differ by less than about this share are taken for the largest."""


def log_squared_moment(over: Balls, rate: Fraction, factor: Fraction, count: int, square: Any) -> Any:
    """An interval around it; `square` is s², an interval of the engine."""
    return _Squared(over, rate, factor, count, square).logarithm()


class _Squared:
    """One such moment.

    The integrand f is analytic everywhere, and |f(g + ia)| ≤ e^(a²/2)·f(g), so the rule with step h errs by at most the
    fraction 2e^(a²/2)/(e^(2πa/h) − 1) of the integral, for every a (Trefethen & Weideman 2014, Theorem 5.1).
    """

    def __init__(self, over: Balls, rate: Fraction, factor: Fraction, count: int, square: Any) -> None:
        self.over, self.engine = over, over.engine
        self.rate, self.factor, self.count = rate, factor, count
        self.slope = self.engine.sqrt(square)
        self.size = math.sqrt(over.bounds(square)[1])
        self.digits = math.ceil(self.engine.precision * math.log(2)) + 8
        self.powers: list[Any] = [over.ball(Fraction(1))]
        self.terms = 0
        self.order = math.ceil((self.engine.precision + 16) / math.log2(3)) + 1
        self.coefficients = self._coefficients()

    def logarithm(self) -> Any:
        over, engine = self.over, self.engine
        strip = Fraction(math.isqrt(2 * self.digits) + 1)
        step = Fraction(2 * math.pi * float(strip) / (float(strip) ** 2 / 2 + self.digits) * 0.99).limit_denominator(
            10**6
        )
        low = math.ceil(math.sqrt(2 * self.digits) / step) + 1
        high, peak = self._last(float(step))
        total: Any = over.ball(Fraction(0))
        for k in range(-low, high + 1):
            x = k * step
            exponent = over.add(self.cumulant(over.ball(over.mul(x, self.slope))), -x * x / 2)
            total = engine.add(total, engine.exp(over.ball(exponent)))
        two_pi = engine.mul(over.ball(Fraction(2)), engine.pi())
        scaled = engine.mul(total, over.mul(step, engine.inverse(engine.sqrt(two_pi))))
        grown = over.add(engine.exp(over.mul(two_pi, strip / step)), Fraction(-1))
        fraction = over.error(over.mul(Fraction(2), engine.exp(over.ball(strip**2 / 2)), engine.inverse(grown)))
        # The whole rule A lies within the fraction of the integral I: A/(1 + fraction) ≤ I ≤ A/(1 − fraction).
        left = over.error(over.add(self._outside(step, low), *self._beyond(step, high, peak)))
        whole = engine.add(scaled, engine.interval(Fraction(0), left))
        around = engine.interval(1 / (1 + fraction), 1 / (1 - fraction))
        return engine.log(engine.mul(whole, around))

    def cumulant(self, x: Any) -> Any:
        """K(x): terms one by one while x·q^i is more than 1/2, then by power series in it."""
        over, engine = self.over, self.engine
        largest = max(map(abs, over.bounds(x)))
        first = 0
        if largest > Fraction(1, 2):
            shrinks = -math.log(self.factor) if self.factor < 1 else 0.0
            first = min(self.count, math.ceil(math.log(2 * largest) / shrinks) + 1) if shrinks else self.count
        if self.factor == 1 and first:
            return over.mul(Fraction(self.count), self._term(x))
        self.terms += first
        if self.terms > MOST_TERMS:
            raise TooManySteps(self.count, "a moment of squared hits")
        total: Any = over.ball(Fraction(0))
        for i in range(first):
            total = engine.add(total, self._term(engine.mul(x, self._power(i))))
        return engine.add(total, self._series(engine.mul(x, self._power(first)), self.count - first))

    def _term(self, y: Any) -> Any:
        over, engine = self.over, self.engine
        return engine.log(over.add(1 - self.rate, over.mul(self.rate, engine.exp(y))))

    def _power(self, i: int) -> Any:
        base = self.over.ball(self.factor)
        while len(self.powers) <= i:
            self.powers.append(self.engine.mul(self.powers[-1], base))
        return self.powers[i]

    def _sums(self, count: int) -> list[Any]:
        """Σ q^(in) over i < count, for n = 0, 1, … up to the order and one more."""
        over, engine = self.over, self.engine
        found: list[Any] = [over.ball(Fraction(count))]
        base, last = over.ball(self.factor), engine.power(over.ball(self.factor), count) if count else None
        power, ending = base, last
        for _ in range(self.order + 1):
            if not count or self.factor == 1:
                found.append(over.ball(Fraction(count)))
                continue
            top, bottom = (over.add(Fraction(1), over.mul(Fraction(-1), x)) for x in (ending, power))
            found.append(engine.mul(top, engine.inverse(bottom)))
            power, ending = engine.mul(power, base), engine.mul(ending, last)
        return found

    def _series(self, y: Any, count: int) -> Any:
        """Σ log(1 − p + p·e^(y·q^i)) over i < count, for |y| ≤ 1/2.

        On |y| = 3/2 the real part of e^y is positive, so with p ≤ 1/2 the logarithm is there at most log 3.3 + π/2 < 3
        in size, and its n-th coefficient at most 3/(3/2)^n. For p > 1/2 it is y plus the same for 1 − p and −y.
        """
        over, engine = self.over, self.engine
        if not count:
            return over.ball(Fraction(0))
        sums = self._sums_for(count)
        flipped = self.rate > Fraction(1, 2)
        z = over.mul(Fraction(-1), y) if flipped else y
        total: Any = engine.mul(y, sums[1]) if flipped else over.ball(Fraction(0))
        power: Any = z
        for n in range(1, self.order + 1):
            total = engine.add(total, engine.mul(engine.mul(self.coefficients[n], power), sums[n]))
            power = engine.mul(power, z)
        size = max(map(abs, over.bounds(y)))
        # Σ over n > order of 3·(size/(3/2))^n·Σ q^(in); the ratio is at most 1/3, and the sums fall with n.
        rest = over.mul(Fraction(9, 2) * (size * Fraction(2, 3)) ** (self.order + 1), sums[self.order + 1])
        error = over.error(rest)
        return engine.add(total, engine.interval(-error, error))

    def _sums_for(self, count: int) -> list[Any]:
        found: list[Any] = self.over.kept(("sums of powers", self.factor, count, self.order), lambda: self._sums(count))
        return found

    def _coefficients(self) -> list[Any]:
        """Of log(1 + p(e^y − 1)), p ≤ 1/2: from G = 1 + Σ p·y^n/n!, n·f_n = n·g_n − Σ k·f_k·g_(n−k)."""
        over, engine, p = self.over, self.engine, min(self.rate, 1 - self.rate)
        given = [over.ball(p / math.factorial(n)) for n in range(self.order + 1)]
        found: list[Any] = [over.ball(Fraction(0))]
        for n in range(1, self.order + 1):
            total = over.mul(Fraction(n), given[n])
            for k in range(1, n):
                total = over.add(total, over.mul(Fraction(-k), engine.mul(found[k], given[n - k])))
            found.append(over.ball(over.mul(Fraction(1, n), total)))
        return found

    def _last(self, step: float) -> tuple[int, float]:
        """The last node that matters, about, and the logarithm of the largest value."""
        end = self._end()
        g = np.arange(0, end + step, step)
        logs = self._roughly(g) - g**2 / 2
        peak = float(logs.max())
        return int(np.flatnonzero(logs > peak - self.digits - 3)[-1]) + 2, peak

    def _roughly(self, g: Array) -> Array:
        """K(sg), in doubles."""
        return cumulant_in_doubles(float(self.rate), float(self.factor), self.count, self.size * g)

    def _end(self) -> float:
        """From here on a bound by the largest z does."""
        q = float(self.factor)
        most = self.size * (self.count if q == 1 else (1 - q**self.count) / (1 - q))
        return most + math.sqrt(most**2 + 2 * self.digits) + 1

    def _outside(self, step: Fraction, low: int) -> Any:
        """What nodes below −low·step can have: K is not positive there."""
        return self._gaussian_rest(step, low * step)

    def _gaussian_rest(self, step: Fraction, start: Fraction) -> Any:
        """A bound on step·Σ φ over the nodes from `start` > 0 on: each is at most e^(−start·step) times the last."""
        over, engine = self.over, self.engine
        kept = over.add(Fraction(1), over.mul(Fraction(-1), engine.exp(over.ball(-start * step))))
        return over.mul(step, engine.exp(over.ball(-(start**2) / 2)), engine.inverse(kept))

    def _beyond(self, step: Fraction, high: int, peak: float) -> Iterator[Any]:
        """Bounds on what nodes above high·step can have, stretch by stretch."""
        over, engine = self.over, self.engine
        place, end = (high + 1) * step, Fraction(math.ceil(self._end() / float(step))) * step
        while place < end:
            after = min(end, place + self._stretch(place, step, peak))
            most = engine.exp(self._above(over.mul(after, self.slope)))
            yield engine.mul(most, self._gaussian_rest(step, place))
            place = after
        # From here on K(sg) is at most sg·z for the largest z.
        largest: Any = over.ball(Fraction(self.count))
        if self.factor != 1:
            power = engine.power(over.ball(self.factor), self.count)
            largest = over.mul(1 / (1 - self.factor), over.add(Fraction(1), over.mul(Fraction(-1), power)))
        shift = over.bounds(engine.mul(largest, self.slope))[1]
        if place <= shift:
            place = shift + 1
        moved = engine.exp(over.ball(shift**2 / 2))
        yield engine.mul(moved, self._gaussian_rest(step, place - shift))

    def _stretch(self, place: Fraction, step: Fraction, peak: float) -> Fraction:
        """How far one bound may serve beyond a node without mattering: about, and at least one step."""
        length = place / 8
        while length > step:
            after = self._roughly(np.array([float(place + length)]))[0]
            if after - float(place) ** 2 / 2 <= peak - self.digits + 2:
                break
            length /= 2
        return max(length, step)

    def _above(self, x: Any) -> Any:
        """Not below K(x), x > 0, from few terms: log(1 + p(e^y − 1)) ≤ 1.3·p·y for y ≤ 1/2."""
        over, engine = self.over, self.engine
        if self.factor == 1:
            return over.mul(Fraction(self.count), self._term(x))
        block = max(1, int(_BLOCK / -math.log(self.factor)))
        ratio = engine.power(over.ball(self.factor), block)
        total: Any = over.ball(Fraction(0))
        done = 0
        while done < self.count and over.bounds(x)[1] > Fraction(1, 2):
            total = engine.add(total, over.mul(Fraction(min(block, self.count - done)), self._term(x)))
            done += block
            x = engine.mul(x, ratio)
        if done < self.count:
            total = over.add(total, over.mul(Fraction(13, 10) * self.rate / (1 - self.factor), x))
        return total


def cumulant_in_doubles(rate: float, factor: float, count: int, x: Array) -> Array:
    """K at every element of x, in doubles."""
    if factor == 1:
        return count * _log_mix(rate, x)
    block = max(1, int(0.005 / -math.log(factor)))
    total = np.zeros_like(x)
    ends = min(count, math.ceil(45 / -math.log(factor)))
    starts = np.arange(0, ends, block)
    for begin in range(0, len(starts), 512):
        some = starts[begin : begin + 512]
        lengths = np.minimum(block, ends - some)
        # In the middle of a block: a block is so short that its mean is there.
        weights = factor ** (some + (lengths - 1) / 2)
        total += _log_mix(rate, np.outer(x, weights)) @ lengths
    return total


def _log_mix(rate: float, y: Array) -> Array:
    """log(1 − p + p·e^y), accurate for small y."""
    if rate == 1:
        return y
    near = np.log1p(rate * np.expm1(np.minimum(y, 30.0)))
    return np.where(y < 30, near, y + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(y, 30.0))))


@lru_cache(maxsize=1 << 12)
def log_squared_moment_in_doubles(rate: float, factor: float, count: int, square: float) -> float:
    """log E exp(s²z²/2) for s² = `square`, as a sum of excesses over 1."""
    if not count or not square or not rate:
        return 0.0
    s = math.sqrt(square)
    most = s * (count if factor == 1 else -math.expm1(count * math.log(factor)) / (1 - factor))
    end = min(most, 400.0) + math.sqrt(min(most, 400.0) ** 2 + 80) + 1
    step = 0.5
    g = np.arange(-math.ceil(9.5 / step), math.ceil(end / step) + 1) * step
    cumulants = cumulant_in_doubles(rate, factor, count, s * g)
    logs = cumulants - g**2 / 2 + math.log(step / math.sqrt(2 * math.pi))
    top = float(logs.max())
    if top > 2:
        return top + math.log(float(np.exp(logs - top).sum()))
    seen = logs > top - 60
    g, cumulants, logs = g[seen], cumulants[seen], logs[seen]
    weights = np.exp(-(g**2) / 2) * step / math.sqrt(2 * math.pi)
    mean = rate * s * (count if factor == 1 else -math.expm1(count * math.log(factor)) / (1 - factor))
    # The means of 1 and of g are known: what is left of e^K is nonnegative.
    small = weights * (np.expm1(np.minimum(cumulants, 1)) - mean * g)
    large = np.exp(logs) - weights * (1 + mean * g)  # where e^K need not be a double
    return math.log1p(float(np.where(cumulants > 1, large, small).sum()))
