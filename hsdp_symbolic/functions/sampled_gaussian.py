"""`SampledGaussian`: the log-moment of the sampled Gaussian mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Rational, Tuple

from ..arithmetic.engines import Unbounded
from ..errors import OutsideDoubleRange, TooManySteps
from ..setting.arrays import Array
from ..symbols import alpha, alpha_minus_1
from .interface import Balls, OfNumbers, Printer, Rules, Trend

MOST_BINOMIAL_ORDER = 2**16
"""Whole orders up to this use the binomial sum, all others the trapezoidal rule."""
MOST_NODES = 3 * 10**5
"""The most nodes a trapezoidal rule may have."""


class SampledGaussian(OfNumbers):
    """log E[(1 − p + p·e^(√(2ρ)·x − ρ))^α], x standard normal (Mironov et al. 2019).

    p is the sampling rate, ρ = 1/(2·noise²), α the order: log Σ_k C(α, k) (1−p)^(α−k) p^k e^(ρk(k−1)) for whole α.
    """

    nargs = 3  # p, rho, alpha
    slow_at_high_orders = True

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        rate, rho, order = numbers
        if rate == 1:
            return rho * order * (order - 1)
        if order.denominator == 1 and order <= MOST_BINOMIAL_ORDER:
            return _binomial(over, rate, rho, int(order))
        if rho > 4 * (_digits(over) + order):
            return _separated(over, rate, rho, order)
        return _trapezoidal(over, rate, rho, order)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        rate, rho, order = arguments
        beta = order - 1  # exact, before anything is rounded to a double
        try:
            p, r, a = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (rate, rho, beta)))
        except OverflowError:
            raise OutsideDoubleRange("the cost of a step") from None
        triples = zip(p.ravel().tolist(), r.ravel().tolist(), a.ravel().tolist(), strict=True)
        return np.array([_in_doubles(*triple) for triple in triples]).reshape(p.shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Rarer sampling and more noise act on what is released, and no divergence increases by that.

        This, and that a divergence increases with its order, are van Erven & Harremoës 2014, Theorems 9 and 3.
        """
        return rules.joint(self.args)

    def per_order(self, rules: Rules) -> Trend | None:
        share, rho, order = self.args
        return rules.joint([order, share, rho]) if order == 1 + alpha_minus_1 else None

    def tex(self, printer: Printer) -> str:
        order = self.args[2]
        if order in printer.values:
            order = Rational(printer.values[order])
        p, rho, written = map(printer._print, self.args)
        printer.free_letter(Tuple(*self.args), "k")
        if not order.is_number or order.is_integer:
            weight = rf"\binom{{{written}}}{{k}} \left(1 - {p}\right)^{{{written} - k}} \left({p}\right)^{{k}}"
            return rf"\log\left(\sum_{{k=0}}^{{{written}}} {weight} e^{{{rho} k \left(k - 1\right)}}\right)"
        # The binomial sum is for whole orders; the moment itself is for all.
        law = r"\underset{x \sim \mathcal{N}(0, 1)}{\mathrm{E}}"
        inside = rf"1 - {p} + {p} e^{{\sqrt{{2 \cdot {rho}}} x - {rho}}}"
        return rf"\log\left({law} \left({inside}\right)^{{{written}}}\right)"

    def tex_note(self, printer: Printer) -> str:
        return "" if alpha in printer.values else r"\text{for whole orders}\ \alpha"


def _digits(over: Balls) -> int:
    """−log of the resolution, and a margin: relative errors of e^(−digits) do not matter."""
    return math.ceil(over.engine.resolution.denominator.bit_length() * math.log(2)) + 20


def _separated(over: Balls, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
    """log((1−p)^α + p^α·e^(ρα(α−1))), for so little noise that the two cases hardly mix.

    For α ≥ 1, (a + b)^α exceeds a^α + b^α by 0 to (2^α − 1)·√(ab)·(a^(α−1) + b^(α−1)); here a = 1 − p, b = p·e^u,
    and the mean of e^(cu) is e^(ρc(c−1)).
    """
    engine = over.engine

    def term(x: Fraction, power: Fraction, y: Fraction, other: Fraction, exponent: Fraction) -> Any:
        logs = over.add(over.mul(power, over.log(x)), over.mul(other, over.log(y)), exponent)
        return engine.exp(over.ball(logs))

    half = Fraction(1, 2)
    main = engine.add(
        term(1 - rate, order, rate, Fraction(0), Fraction(0)),
        term(rate, order, 1 - rate, Fraction(0), rho * order * (order - 1)),
    )
    mixed = engine.add(
        term(1 - rate, order - half, rate, half, -rho / 4),
        term(rate, order - half, 1 - rate, half, rho * (order - half) * (order - 3 * half)),
    )
    beyond = over.mul(mixed, over.exp(over.mul(order, over.log(Fraction(2)))), engine.inverse(main))
    return engine.add(engine.log(main), engine.interval(Fraction(0), over.error(beyond)))


def _binomial(over: Balls, rate: Fraction, rho: Fraction, order: int) -> Any:
    """log Σ_k C(α, k) (1−p)^(α−k) p^k e^(ρk(k−1)), by the ratios of successive terms."""
    engine = over.engine
    growth = engine.exp(over.ball(2 * rho))  # e^(ρ(k+1)k) = e^(ρk(k−1))·(e^(2ρ))^k
    odds = over.ball(rate / (1 - rate))
    term = engine.power(over.ball(1 - rate), order)
    total, factor = term, over.ball(Fraction(1))
    for k in range(order):
        term = engine.mul(engine.mul(term, odds), engine.mul(factor, over.ball(Fraction(order - k, k + 1))))
        factor = engine.mul(factor, growth)
        total = engine.add(total, term)
    return engine.log(total)


def _trapezoidal(over: Balls, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
    """log ∫ ((1−p) + p·e^(sx − s²/2))^α φ(x) dx, s² = 2ρ, by the trapezoidal rule with its error.

    The integrand f is analytic for |Im x| < π/s, and there ∫|f(x + ia)| dx ≤ e^(a²/2) ∫f, so the rule with
    step h errs by at most the fraction δ = 2e^(a²/2)/(e^(2πa/h) − 1) of the integral (Trefethen & Weideman
    2014, Theorem 5.1). Nodes are kept within X of the two peaks 0 and αs: (u + v)^α ≤ 2^(α−1)(u^α + v^α) bounds
    what is left out by the fraction τ = 2^α·(Gaussian tail beyond X).
    """
    engine = over.engine
    spread = max(float(2 * rho) ** 0.5, 1e-150)
    digits = _digits(over)
    strip = Fraction(min(math.sqrt(2 * digits), 3 / spread)).limit_denominator(10**6)
    step = Fraction(2 * math.pi * float(strip) / (float(strip) ** 2 / 2 + digits) * 0.99).limit_denominator(10**9)
    reach = Fraction(math.ceil(math.sqrt(2 * (digits + float(order) * math.log(2)))) + 1)
    root = engine.exp(engine.mul(over.ball(Fraction(1, 2)), engine.log(over.ball(2 * rho))))
    if over.bounds(over.mul(strip, root))[1] >= 3.1:
        raise Unbounded
    total: Any = over.ball(Fraction(0))
    nodes = _nodes(float(order) * spread, float(reach), step)
    if len(nodes) > MOST_NODES:
        raise TooManySteps(len(nodes), "a trapezoidal rule")
    for node in nodes:
        x = node * step
        ratio = engine.exp(engine.add(engine.mul(root, over.ball(x)), over.ball(-rho)))
        base = engine.log(over.add(1 - rate, over.mul(rate, ratio)))
        total = engine.add(total, engine.exp(over.add(over.mul(order, base), -x * x / 2)))
    two_pi = engine.mul(over.ball(Fraction(2)), engine.pi())
    delta = over.mul(
        Fraction(2),
        engine.exp(over.ball(strip**2 / 2)),
        engine.inverse(over.add(engine.exp(over.mul(two_pi, strip / step)), Fraction(-1))),
    )
    tail = over.mul(
        Fraction(2) * step,
        engine.exp(over.ball(-(reach**2) / 2)),
        engine.inverse(over.add(Fraction(1), over.mul(Fraction(-1), engine.exp(over.ball(-reach * step))))),
        engine.exp(over.mul(order, engine.log(over.ball(Fraction(2))))),
    )
    error = over.error(delta) + over.error(tail)
    if error > Fraction(1, 2):
        raise Unbounded
    # log A − log S lies between −log(1 + δ) ≥ −δ and −log(1 − δ − τ) ≤ 2(δ + τ).
    normal = engine.mul(over.ball(Fraction(-1, 2)), engine.log(two_pi))
    logarithm = over.add(engine.log(total), engine.log(over.ball(step)), normal)
    return engine.add(logarithm, engine.interval(-error, 2 * error))


def _nodes(far_peak: float, reach: float, step: Fraction) -> Sequence[int]:
    """Whole multiples of `step` within `reach` of 0 or of `far_peak` (generously)."""
    unit = float(step)
    margin = math.ceil(reach / unit) + 2
    centre = round(far_peak / unit)
    if centre - margin - 2 <= margin + 1:
        if margin > MOST_NODES:  # before `len`, which fails on ranges past a machine word
            raise TooManySteps(centre + 2 * margin, "a trapezoidal rule")
        return range(-margin, centre + margin + 3)
    if margin > MOST_NODES:
        raise TooManySteps(4 * margin, "a trapezoidal rule")
    return [*range(-margin, margin + 1), *range(centre - margin - 2, centre + margin + 3)]


@lru_cache(maxsize=1 << 14)
def _in_doubles(rate: float, rho: float, beta: float) -> float:
    """Of order 1 + β: by the trapezoidal rule, as a sum of nonnegative excesses over 1 while the moment is moderate."""
    order = 1 + beta
    if rate == 1 or rho == 0:
        return rho * order * beta
    if rho > 4 * (45 + order):  # so little noise that the two cases, record drawn or not, hardly mix
        logs = order * math.log1p(-rate), order * math.log(rate) + rho * order * beta
        if logs[1] > 2:
            return float(np.logaddexp(*logs))
        drawn = rate * math.expm1(beta * math.log(rate) + rho * order * beta)
        return math.log1p((1 - rate) * math.expm1(beta * math.log1p(-rate)) + drawn)
    spread = math.sqrt(2 * rho)
    strip = min(math.sqrt(2 * 45.0), 3 / spread)
    step = 2 * math.pi * strip / (strip**2 / 2 + 45.0)
    reach = math.sqrt(2 * (45.0 + order * math.log(2))) + 1
    near = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    far = near + round(order * spread / step)
    nodes = step * np.union1d(near, far)
    tilt = spread * nodes - rho
    gauss = -(nodes**2) / 2 - 0.5 * math.log(2 * math.pi) + math.log(step)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        base = np.logaddexp(math.log1p(-rate) if rate < 1 else -math.inf, math.log(rate) + tilt)
        logs = order * base + gauss
        if logs.max() > 2:
            return float(np.logaddexp.reduce(logs))
        x = rate * np.expm1(tilt)
        ell = np.log1p(x)
        beyond = beta * _relative_entropy(x) + (1 + x) * _exp_minus_linear(beta * ell)
        return math.log1p(float(np.sum(np.exp(gauss) * beyond)))


def _relative_entropy(x: Array) -> Array:
    """(1 + x)·log(1 + x) − x ≥ 0, without cancellation."""
    series = x**2 * sum((-1) ** k * x ** (k - 2) / (k * (k - 1)) for k in range(2, 14))
    return np.where(np.abs(x) < 0.05, series, (1 + x) * np.log1p(x) - x)


def _exp_minus_linear(y: Array) -> Array:
    """e^y − 1 − y ≥ 0, without cancellation."""
    series = y**2 * sum(y ** (k - 2) / math.factorial(k) for k in range(2, 16))
    return np.where(np.abs(y) < 0.5, series, np.expm1(y) - y)
