"""What the functions of sampled Gaussians mean that formulas name: values from their definitions, for few steps.

Divergences are integrated with mpmath, to more than fifteen digits; profiles come from `drift_oracle`, in doubles: from
two grids, whose errors fall with the square of the step, so that about 1e-4 of the value is left, and 1e-12. A record
is hit with chance p, and a hit moves a step by μ standard deviations. C: batches of fixed size, one record replaced; P:
Poisson sampling, a record added or removed. In a run with secret hits the last ν of T steps keep theirs, the i-th from
the end spending the share f_i of its noise on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np

from tests.experiment import drift_oracle as oracle

Number = Any
DIGITS = 30
STEPS = 12
"""The most steps that are followed; no share of noise is rounded for so few."""


def divergence_replaced(p: Number, mu: Number, alpha: Number) -> Number:
    """From the profile p·δ_G(μ; u) at t = log(1 + p(e^u − 1)): e^((α−1)R) = 1 + α(α−1)∫(e^((α−1)t) + e^(−αt))δ dt."""

    def integrand(u: Number) -> Number:
        whole = 1 + p * mpmath.expm1(u)
        powers = whole ** (alpha - 1) + whole**-alpha
        return powers * p * _gaussian(mu, u) * p * mpmath.exp(u) / whole

    panels = int(alpha * mu / 2) + 6
    return mpmath.log1p(alpha * (alpha - 1) * _integral(integrand, 2 * mu, panels)) / (alpha - 1)


def divergence_removed(p: Number, mu: Number, alpha: Number) -> Number:
    """E R^α under N(0, 1), R = 1 − p + p·e^(μx − μ²/2); when a record is added it is no larger."""

    def integrand(x: Number) -> Number:
        return mpmath.npdf(x) * (1 - p + p * mpmath.exp(mu * x - mu**2 / 2)) ** alpha

    step = 1 / (8 + 2 * mu)
    first, last = -int(12 / step), int((alpha * mu + 12) / step)
    return mpmath.log(step * mpmath.fsum(integrand(k * step) for k in range(first, last + 1))) / (alpha - 1)


def _gaussian(mu: Number, epsilon: Number) -> Number:
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@cache
def _rule(count: int) -> list[tuple[Number, Number]]:
    """Nodes and weights of the rule of Gauss on [−1, 1]."""
    found = []
    for root in np.polynomial.legendre.leggauss(count)[0].tolist():
        x = mpmath.findroot(lambda x: mpmath.legendre(count, x), root)
        slope = count * mpmath.legendre(count - 1, x) / (1 - x * x)
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return found


def _integral(function: Callable[[Number], Number], width: Number, panels: int) -> Number:
    """From 0 on, over panels of this width."""
    return mpmath.fsum(
        weight * width / 2 * function((panel + (1 + node) / 2) * width)
        for panel in range(panels)
        for node, weight in _rule(32)
    )


def divergence(one: Callable[..., Number]) -> Callable[..., Number]:
    """R of one step."""

    def found(p: Number, mu: Number, alpha: Number) -> Number:
        with mpmath.workdps(DIGITS):
            return one(p, mu, alpha) if p * mu else mpmath.mpf(0)

    return found


def secret_divergence(one: Callable[..., Number]) -> Callable[..., Number]:
    """The secret steps one by one, and the mean over what the others told."""

    def found(p: Number, mu: Number, q: Number, steps: Number, window: Number, share: Number, alpha: Number) -> Number:
        if not p * mu:
            return mpmath.mpf(0)
        with mpmath.workdps(DIGITS):
            parts = _shares(q, window, share)
            secret = mpmath.fsum(one(p, mu / mpmath.sqrt(part), alpha) for part in parts)
            moments = (
                chance * mpmath.exp(alpha * (alpha - 1) * drift**2 / 2)
                for chance, drift in _drifts(p, mu, q, steps, window, parts)
            )
            return secret + mpmath.log(mpmath.fsum(moments)) / (alpha - 1)

    return found


def _without_grid(value: Callable[[float], float]) -> Number:
    """What a value that depends on the fineness of a grid tends to."""
    coarse, fine = value(200), value(400)
    return mpmath.mpf((4 * fine - coarse) / 3)


def profile(*pairs: oracle.Pair) -> Callable[..., Number]:
    """The largest δ of these pairs, composed with themselves."""

    def found(p: Number, mu: Number, steps: Number, epsilon: Number) -> Number:
        if not p * mu:
            return mpmath.mpf(0)
        mus = (float(mu),) * _few(steps)

        def of(pair: oracle.Pair) -> Callable[[float], float]:
            return lambda fineness: oracle.composed(pair, float(p), mus, fineness=fineness).delta(float(epsilon))

        return max(_without_grid(of(pair)) for pair in pairs)

    return found


def secret_profile(*pairs: oracle.Pair) -> Callable[..., Number]:
    """The same for secret steps and the Gaussian that what was told is worth."""

    def found(
        p: Number, mu: Number, q: Number, steps: Number, window: Number, share: Number, epsilon: Number
    ) -> Number:
        if not p * mu:
            return mpmath.mpf(0)
        parts = _shares(q, window, share)
        mus = tuple(float(mu / mpmath.sqrt(part)) for part in parts)
        apart = [(float(chance), float(drift)) for chance, drift in _drifts(p, mu, q, steps, window, parts)]

        def of(pair: oracle.Pair) -> Callable[[float], float]:
            def mean(fineness: float) -> float:
                losses = oracle.composed(pair, float(p), mus, fineness=fineness)
                return math.fsum(chance * losses.delta(float(epsilon), drift) for chance, drift in apart)

            return mean

        return max(_without_grid(of(pair)) for pair in pairs)

    return found


def _few(steps: Number) -> int:
    if not 0 <= steps <= STEPS or steps != int(steps):
        raise ValueError(f"{steps} steps")
    return int(steps)


def _shares(q: Number, window: Number, share: Number) -> list[Number]:
    """f_i = min(1, g·q^(−i))."""
    return [min(mpmath.mpf(1), share * q**-i) for i in range(_few(window))]


def _drifts(
    p: Number, mu: Number, q: Number, steps: Number, window: Number, parts: list[Number]
) -> list[tuple[Number, Number]]:
    """Chances, and cz = μ·q^ν·z/√(Σ q^(2i)(1 − f_i)), for every pattern of told hits; z = Σ q^i·h_i."""
    room = mpmath.sqrt(mpmath.fsum(q ** (2 * i) * (1 - part) for i, part in enumerate(parts)))
    found = [(mpmath.mpf(1), mpmath.mpf(0))]
    for i in range(_few(steps - window)):
        found = [(c * w, z + h * q**i) for c, z in found for h, w in ((0, 1 - p), (1, p))]
    return [(chance, mu * q**window * z / room) for chance, z in found]


def more_than(count: Number, p: Number, most: Number) -> Number:
    """P(Bin(count, p) > most)."""
    if count < 0 or count != int(count) or not 0 <= p <= 1:
        raise ValueError(f"{count} trials at {p}")
    near = mpmath.nint(most)  # a quotient that is whole may have been rounded to less
    last = int(near if abs(most - near) < mpmath.mpf(10) ** -30 * (1 + abs(near)) else mpmath.floor(most))
    first = max(0, last + 1)
    return mpmath.fsum(mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) for k in range(first, int(count) + 1))
