"""The divergence of two Gaussian mixtures, certified: exact endpoints, the truth inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...arithmetic.engines import ENGINES, Engine, Unbounded
from ...errors import ArgumentError, PrecisionExhausted, TooManySteps
from ...evaluate.enclosure import PRECISION_CAP, Enclosure
from ...functions.sampled_gaussian import MOST_NODES
from ...setting.gate import to_fraction


@dataclass(frozen=True)
class Mixture:
    """Σ weight·N(mean, variance): exact weights that add up to 1, exact means, one exact variance."""

    parts: tuple[tuple[Fraction, Fraction], ...]
    variance: Fraction

    def __post_init__(self) -> None:
        if self.variance <= 0:
            raise ArgumentError("variance", self.variance, "not positive", "give the variance of the components")
        if not self.parts or any(weight <= 0 for weight, _ in self.parts) or sum(w for w, _ in self.parts) != 1:
            raise ArgumentError("parts", len(self.parts), "weights must be positive and add up to 1", "normalise them")

    @classmethod
    def of(cls, means: Sequence[Any], variance: Any, weights: Sequence[Any] | None = None) -> Mixture:
        """From numbers in any exact form; equal weights unless given.

        >>> Mixture.of(["0", "1/2"], 1).parts
        ((Fraction(1, 2), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 2)))
        """

        def exact(name: str, value: Any) -> Fraction:
            return value if isinstance(value, Fraction) else to_fraction(name, value)

        places = [exact("mean", mean) for mean in means]
        if not places:
            raise ArgumentError("means", means, "a mixture has at least one component", "give one mean or more")
        shares = [Fraction(1, len(places))] * len(places) if weights is None else [exact("weight", w) for w in weights]
        return cls(tuple(zip(shares, places, strict=True)), exact("variance", variance))

    @property
    def means(self) -> list[Fraction]:
        return [mean for _, mean in self.parts]


def mixture_divergence(
    alpha: Any, first: Mixture, second: Mixture, *, rtol: Any = "1e-12", engine: str = "arb"
) -> Enclosure:
    """R_α(first ‖ second), enclosed: the trapezoidal rule with its error, and the tails left out, bounded.

    With all means of `second` within r of the origin and V the variance, |f(x + ia)| ≤ e^(a²/2V)·cos(ar/V)^(1−α)·f(x)
    for the integrand f = p^α·q^(1−α) and ar/V < π/2; with the same for half the range of the means of `first`, neither
    density has a zero in that strip. So the rule with step h errs by at most the fraction
    δ = 2e^(a²/2V)cos(ar/V)^(1−α)/(e^(2πa/h) − 1) (Trefethen & Weideman 2014, Theorem 5.1). By Jensen q is at least a
    Gaussian at its mean, times e^(−variance of means/2V), which bounds f by Gaussians beyond the last nodes.

    >>> one, two = (Mixture.of([mean], 1) for mean in ("1/2", 0))
    >>> Fraction(3, 8) in mixture_divergence(3, one, two)
    True
    """
    order, tolerance = to_fraction("alpha", alpha), to_fraction("rtol", rtol)
    if order <= 1:
        raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
    if first.variance != second.variance:
        raise ArgumentError("variance", first.variance, f"not that of the other, {second.variance}", "use one variance")
    first, second = (_standard(each) for each in (first, second))
    if first == second:
        return Enclosure(Fraction(0), Fraction(0))
    precision = 96
    while precision <= min(PRECISION_CAP, 4096):
        machine = ENGINES[engine](precision)
        with machine.working():
            try:
                found = _trapezoid(order, first, second, machine)
            except Unbounded:
                found = None
        if found is not None and found.relative_width <= tolerance:
            return found
        precision *= 2
    raise PrecisionExhausted(precision // 2, rtol)


def _standard(mixture: Mixture) -> Mixture:
    """The same up to scale: equal means merged, in order, and a variance between 1/4 and 4 (a power of 4 taken out)."""
    size = mixture.variance.numerator.bit_length() - mixture.variance.denominator.bit_length()
    unit = Fraction(2) ** (size // 2)
    weights: dict[Fraction, Fraction] = {}
    for weight, mean in mixture.parts:
        weights[mean] = weights.get(mean, Fraction(0)) + weight
    parts = tuple((weight, mean / unit) for mean, weight in sorted(weights.items()))
    return Mixture(parts, mixture.variance / unit**2)


def _trapezoid(order: Fraction, first: Mixture, second: Mixture, engine: Engine) -> Enclosure:
    variance = second.variance
    origin = (min(second.means) + max(second.means)) / 2
    radius = max(second.means) - origin
    ps = [(weight, mean - origin) for weight, mean in first.parts]
    qs = [(weight, mean - origin) for weight, mean in second.parts]
    digits = engine.precision * math.log(2) + 10
    v, r, a_order = float(variance), float(radius), float(order)
    strip = math.sqrt(2 * v * digits)
    half_range = (max(first.means) - min(first.means)) / 2
    if widest := max(r, float(half_range)):
        strip = min(strip, v / widest)
    a = Fraction(strip)
    if a * max(radius, half_range) > Fraction(3, 2) * variance:
        raise Unbounded
    loss = strip**2 / (2 * v) - (a_order - 1) * math.log(math.cos(strip * r / v))
    step = Fraction(2 * math.pi * strip / (loss + digits) * 0.99)
    average = sum(weight * mean for weight, mean in qs)
    spread = sum(weight * mean**2 for weight, mean in qs)
    shifts = [order * end - (order - 1) * average for end in (min(m for _, m in ps), max(m for _, m in ps))]
    reach = math.sqrt(
        2 * v * (digits + (a_order - 1) * float(spread) / (2 * v) + max(float(s) ** 2 for s in shifts) / (2 * v))
    )
    low, high = (
        round((min(0.0, float(shifts[0])) - reach) / float(step)) - 2,
        round((max(0.0, float(shifts[1])) + reach) / float(step)) + 2,
    )
    if high - low > MOST_NODES:
        raise TooManySteps(high - low, "a trapezoidal rule")
    tilts = [
        [(engine.ball(w), engine.ball(m / variance), engine.ball(-m * m / (2 * variance))) for w, m in side]
        for side in (ps, qs)
    ]
    total: Any = engine.ball(Fraction(0))
    for node in range(low, high + 1):
        x = node * step
        ball = engine.ball(x)
        sums = []
        for side in tilts:
            value: Any = engine.ball(Fraction(0))
            for weight, slope, constant in side:
                value = engine.add(value, engine.mul(weight, engine.exp(engine.add(engine.mul(slope, ball), constant))))
            sums.append(engine.log(value))
        exponent = engine.add(engine.mul(engine.ball(order), sums[0]), engine.mul(engine.ball(1 - order), sums[1]))
        total = engine.add(total, engine.exp(engine.add(exponent, engine.ball(-x * x / (2 * variance)))))
    pi = engine.pi()
    half_log = engine.mul(
        engine.ball(Fraction(-1, 2)),
        engine.log(engine.mul(engine.ball(2 * variance), pi)),
    )
    logarithm = engine.add(engine.add(engine.log(total), engine.log(engine.ball(step))), half_log)
    cosine = _cosine_below(a * radius / variance)
    factor = engine.mul(
        engine.exp(engine.ball(a * a / (2 * variance))),
        engine.exp(engine.mul(engine.ball(1 - order), engine.log(engine.ball(cosine)))),
    )
    growth = engine.add(
        engine.exp(engine.mul(engine.ball(2 * a / step), pi)),
        engine.ball(Fraction(-1)),
    )
    delta = _upper(engine, engine.mul(engine.mul(engine.ball(Fraction(2)), factor), engine.inverse(growth)))
    tail = Fraction(0)
    for shift, distance in ((shifts[0], -low * step + shifts[0]), (shifts[1], high * step - shifts[1])):
        beyond = distance - step
        if beyond <= 0:
            raise Unbounded
        exponent = ((order - 1) * spread + shift**2 - beyond**2) / (2 * variance)
        tail += _upper(engine, engine.exp(engine.ball(exponent)))
    if delta + tail > Fraction(1, 2):
        raise Unbounded
    bounds = engine.bounds(logarithm)
    if bounds is None:
        raise Unbounded
    # log I lies between log S − log(1 + δ) ≥ log S − δ and log(S + T) − log(1 − δ) ≤ log S + T/S + 2δ, and S ≥ 1/2.
    low_end, high_end = (bounds[0] - delta) / (order - 1), (bounds[1] + 2 * tail + 2 * delta) / (order - 1)
    return Enclosure(max(low_end, Fraction(0)), max(high_end, Fraction(0)))


def _upper(engine: Engine, value: Any) -> Fraction:
    bounds = engine.bounds(value)
    if bounds is None:
        raise Unbounded
    return max(bounds[1], Fraction(0))


def _cosine_below(angle: Fraction) -> Fraction:
    """1 − x²/2 + x⁴/24 − x⁶/720 ≤ cos x, positive for 0 ≤ x ≤ 1.5."""
    if angle > Fraction(3, 2):
        raise Unbounded
    square = angle * angle
    return 1 - square / 2 + square**2 / 24 - square**3 / 720
