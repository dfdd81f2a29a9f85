"""`SampledDivergence`: the Rényi divergence of one step on a batch drawn without replacement."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sympy import Expr

from ..arithmetic.engines import Arb
from ..errors import ArgumentError, OutsideDoubleRange, TooManySteps
from ..setting.arrays import Array
from .interface import Balls, OfNumbers, Printer, Rules, Trend
from .loss_profiles import check_sampled, written
from .sampled_notes import divergence_note

PANEL = Fraction(1, 2)
"""Half of the length of a panel, at most."""
MOST_PANELS = 20_000

NAME = r"\mathrm{R}_{\mathrm{C}}"


class SampledDivergence(OfNumbers):
    """r_α of the Gaussian pair of μ² = `cost`, subsampled without replacement at `rate`, at the order α.

    (α − 1)·r_α is the logarithm of 1 + ∫ φ(x)·(R^α − R + R^(1−α) − 1) dx over x > μ/2, R = 1 − p + p·e^(μx − μ²/2): the
    pair with the profile of `SampledProfile` has the likelihood ratio R there, 1/R on the mirror image, and 1 on all
    that is left. It is α(α − 1)∫ (e^((α−1)t) + e^(−αt))·δ(t) dt over t > 0 that is added to 1.
    """

    nargs = 3  # rate, cost, order
    normalised = (0, 1, 2)
    rank = 1
    slow_at_high_orders = True

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0] * numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        rate, cost, order = numbers
        check_sampled(rate, cost)
        check_order(order)
        return over.mul(1 / (order - 1), log_moment(over, rate, over.ball(cost), order))

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        rate, cost, order = arguments
        beta = order - 1  # exact, before anything is rounded to a double
        try:
            p, c, b = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (rate, cost, beta)))
        except OverflowError:
            raise OutsideDoubleRange("the cost of a step") from None
        triples = zip(p.ravel().tolist(), c.ravel().tolist(), b.ravel().tolist(), strict=True)
        return np.array([log_moment_in_doubles(*triple) / triple[2] for triple in triples]).reshape(p.shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with all: profiles rise with rate and cost (see `SampledProfile`), Rényi divergences with the order."""
        return rules.joint(self.args)

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return divergence_note(NAME, "C")


def check_order(order: Fraction) -> None:
    if order <= 1:
        raise ArgumentError("order", order, "a Rényi divergence of order 1 or less", "give an order above 1")


def log_moment(over: Balls, rate: Fraction, cost: Any, order: Fraction) -> Any:
    """(α − 1)·r_α, for a cost that is an interval of the engine."""
    engine = over.engine
    if rate == 1:
        return over.mul(order * (order - 1) / 2, cost)
    return engine.log(over.add(Fraction(1), _Excess(over, rate, cost, order).integral()))


class _Excess:
    """The integral of φ(x)·(e^u − 1)·(R − e^(−u)) over x > μ/2, where u = (α − 1)·log R, panel by panel.

    A panel from c − a to c + a is integrated by the rule of Gauss with n nodes. The integrand is analytic in the
    ellipse with half-axes (ρ ± 1/ρ)·a/2, ρ = 4, and there bounded by some M; so the rule errs by at most
    (64/15)·M·a·ρ^(2−2n)/(1 − ρ^(−2)) (Trefethen, Approximation Theory and Approximation Practice, Theorem 19.3).
    There |Im μx| ≤ 3/2, so |R(x)| is at most R(Re x) and at least 1 − p + p·cos(3/2)·e^(μ·Re x − μ²/2); |φ(x)| is
    φ(Re x)·e^((Im x)²/2).
    """

    def __init__(self, over: Balls, rate: Fraction, cost: Any, order: Fraction) -> None:
        self.over, self.engine, self.rate, self.order = over, over.engine, rate, order
        engine = self.engine
        self.mu, self.half = engine.sqrt(cost), engine.mul(cost, over.ball(Fraction(-1, 2)))
        self.cost = cost
        self.size = math.sqrt(over.bounds(cost)[1])
        self.density = engine.inverse(engine.sqrt(engine.mul(over.ball(Fraction(2)), engine.pi())))
        expected = log_moment_in_doubles(float(rate), self.size**2, float(order - 1))
        self.digits = engine.precision - max(0.0, expected / math.log(2))
        """−log2 of an error that does not matter."""

    def integral(self) -> Any:
        over, engine = self.over, self.engine
        start, reach = engine.mul(self.mu, over.ball(Fraction(1, 2))), self._reach()
        length = reach - self.size / 2
        panels = math.ceil(max(1.0, length / 2 / float(PANEL), length * self.size * 0.65))
        if panels > MOST_PANELS:
            raise TooManySteps(panels, "a divergence")
        end = over.ball(Fraction(reach))
        half = over.mul(Fraction(1, 2 * panels), over.add(end, over.mul(Fraction(-1), start)))
        total: Any = over.ball(Fraction(0))
        for panel in range(panels):
            centre = engine.add(start, over.mul(Fraction(2 * panel + 1), half))
            total = engine.add(total, self._panel(centre, half))
        return engine.add(total, engine.interval(Fraction(0), self._beyond(end)))

    def _at(self, x: Any) -> Any:
        over, engine = self.over, self.engine
        ratio = engine.exp(engine.add(engine.mul(self.mu, x), self.half))
        whole = over.add(1 - self.rate, over.mul(self.rate, ratio))
        grown = engine.exp(over.mul(self.order - 1, engine.log(whole)))
        first = over.add(grown, Fraction(-1))
        second = over.add(whole, over.mul(Fraction(-1), engine.inverse(grown)))
        gauss = engine.exp(over.mul(Fraction(-1, 2), engine.mul(x, x)))
        return engine.mul(engine.mul(self.density, gauss), engine.mul(first, second))

    def _panel(self, centre: Any, half: Any) -> Any:
        over, engine = self.over, self.engine
        bound = self._bound(centre, half)
        count = max(4, math.ceil((_log2(over.bounds(bound)[1]) + self.digits) / 4) + 2)
        total: Any = over.ball(Fraction(0))
        for node, weight in gauss_rule(count, engine.precision + 32):
            where, heavy = engine.interval(*node), engine.interval(*weight)
            total = engine.add(total, engine.mul(heavy, self._at(engine.add(centre, engine.mul(half, where)))))
        error = over.error(over.mul(5 * Fraction(4) ** (2 - 2 * count), bound))  # 64/15/(1 − 1/16) < 5
        return engine.mul(half, engine.add(total, engine.interval(-error, error)))

    def _bound(self, centre: Any, half: Any) -> Any:
        """On the ellipse, which reaches 17/8 half-lengths to either side and 15/8 up."""
        over, engine, p = self.over, self.engine, self.rate
        low = over.bounds(over.add(centre, over.mul(Fraction(-17, 8), half)))[0]
        high = over.bounds(over.add(centre, over.mul(Fraction(17, 8), half)))[1]
        up = over.mul(Fraction(15, 8), half)
        assert over.bounds(engine.mul(self.mu, up))[1] <= Fraction(3, 2)
        least, most = (
            over.add(1 - p, over.mul(p * turned, engine.exp(engine.add(engine.mul(self.mu, over.ball(x)), self.half))))
            for x, turned in ((low, Fraction(7, 100)), (high, Fraction(1)))  # cos(3/2) > 0.07
        )
        larger = over.add(Fraction(1), most)
        grown = engine.exp(over.mul(self.order, engine.log(larger)))
        fallen = engine.exp(over.mul(1 - self.order, engine.log(least)))
        exponent = over.add(over.mul(Fraction(1, 2), engine.mul(up, up)), -(max(low, Fraction(0)) ** 2) / 2)
        return over.mul(engine.exp(over.ball(exponent)), over.add(grown, fallen, larger))

    def _reach(self) -> float:
        """Beyond this, nothing matters."""
        a, spread, p = float(self.order), self.size, float(self.rate)
        digits, moment = (self.digits + 4) * math.log(2), a * (a - 1) * spread**2 / 2
        far = a * spread + math.sqrt(2 * max(0.0, digits + moment))
        mixed = digits + a * math.log(2)
        near = max(
            math.sqrt(2 * max(0.0, mixed)),
            a * spread + math.sqrt(2 * max(0.0, mixed + a * math.log(p) + moment)),
        )
        return spread / 2 + max(1.0, min(far, near))

    def _beyond(self, end: Any) -> Fraction:
        """A bound on the integral from `end` on, where R ≥ 1 and so the integrand is at most φ·R^α.

        R is at most e^v, v = μx − μ²/2, and at most 2·max(1, p·e^v); the mean of e^(αv) beyond x is e^(α(α−1)μ²/2)·Φ(αμ
        − x).
        """
        over, engine, a = self.over, self.engine, self.order

        def tail(x: Any) -> Any:
            scaled = engine.mul(x, engine.inverse(engine.sqrt(over.ball(Fraction(2)))))
            return over.mul(Fraction(1, 2), engine.erfc(scaled))

        moment = over.mul(a * (a - 1) / 2, self.cost)
        shifted = tail(over.add(end, over.mul(-a, self.mu)))
        far = engine.mul(engine.exp(moment), shifted)
        twice = over.mul(a, over.log(Fraction(2)))
        mixed = engine.exp(over.add(twice, over.mul(a, over.log(self.rate)), moment))
        near = over.add(engine.mul(engine.exp(twice), tail(end)), engine.mul(mixed, shifted))
        return min(over.error(far), over.error(near))


def _log2(x: Fraction) -> float:
    """About log2 of a positive number of any size."""
    size = x.numerator.bit_length() - x.denominator.bit_length()
    return size + math.log2(x / Fraction(2) ** size) if x > 0 else -math.inf


@lru_cache(maxsize=256)
def gauss_rule(count: int, bits: int) -> list[tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]]:
    """Enclosures of the nodes and weights of the rule with so many nodes on [−1, 1]."""
    from flint import arb

    engine = Arb(bits)
    found = []
    with engine.working():
        for k in range(count):
            root, weight = engine.again(arb.legendre_p_root, count, k, True)
            ends, sizes = engine.bounds(root), engine.bounds(weight)
            assert ends is not None
            assert sizes is not None
            found.append((ends, sizes))
    return found


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    """Nodes and weights of a panel; finding them takes longer than using them."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    return nodes, weights


@lru_cache(maxsize=1 << 14)
def log_moment_in_doubles(rate: float, cost: float, beta: float) -> float:
    """(α − 1)·r_α at the order 1 + β, as a sum of nonnegative terms."""
    mu, order = math.sqrt(cost), 1 + beta
    if rate == 1:
        return order * beta * cost / 2
    moment = order * beta * cost / 2
    digits = 40.0
    far = order * mu + math.sqrt(2 * (digits + moment))
    near = max(
        math.sqrt(2 * (digits + order * math.log(2))),
        order * mu + math.sqrt(2 * max(0.0, digits + order * math.log(2 * rate) + moment)),
    )
    end = mu / 2 + min(far, near)
    panels = math.ceil(max(1.0, end, 0.7 * end * mu))
    if panels > 10**5:
        raise TooManySteps(panels, "a divergence")
    nodes, weights = _gauss_legendre()
    half = (end - mu / 2) / (2 * panels)
    x = (mu / 2 + half * (2 * np.arange(panels)[:, None] + 1 + nodes)).ravel()
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        tilt = mu * x - cost / 2
        log_ratio = np.where(
            tilt < 30,
            np.log1p(rate * np.expm1(np.minimum(tilt, 30.0))),
            np.logaddexp(math.log1p(-rate), math.log(rate) + tilt),
        )
        u = beta * log_ratio
        first = np.where(u < 30, np.log(np.expm1(np.minimum(u, 30.0))), u)
        second = np.where(log_ratio < 30, np.log(np.expm1(np.minimum(log_ratio, 30.0)) - np.expm1(-u)), log_ratio)
        logs = first + second - x**2 / 2 - 0.5 * math.log(2 * math.pi) + np.log(half * np.tile(weights, panels))
        top = float(np.max(logs))
        if top == -math.inf:
            return 0.0
        total = top + math.log(float(np.exp(logs - top).sum()))
    return math.log1p(math.exp(total)) if total < 30 else float(np.logaddexp(0.0, total))
