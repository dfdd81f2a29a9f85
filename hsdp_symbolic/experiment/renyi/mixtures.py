"""The divergence of two Gaussian mixtures, certified: an interval with exact endpoints that contains the truth."""

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
from ...setting.gate import Number, to_fraction


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
    def of(cls, means: Sequence[Number], variance: Number, weights: Sequence[Number] | None = None) -> Mixture:
        """From numbers in any exact form; equal weights unless given.

        >>> Mixture.of(["0", "1/2"], 1).parts
        ((Fraction(1, 2), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 2)))
        """

        def exact(name: str, value: Number) -> Fraction:
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
    alpha: Number, first: Mixture, second: Mixture, *, rtol: Number = "1e-12", engine: str = "arb"
) -> Enclosure:
    """R_α(first ‖ second), enclosed: the trapezoidal rule with its error, and the tails left out, bounded.

    Let p and q be the densities, f = p^α·q^(1−α) the integrand, V the variance, all means of `second` within r of the
    origin, and a the half-width of a strip around the real axis. If ar/V < π/2, |f(x + ia)| is at most
    e^(a²/2V)·cos(ar/V)^(1−α)·f(x); with the same for half the range of the means of `first`, neither density has a zero
    in the strip. So the rule with step h errs by at most the fraction δ = 2e^(a²/2V)cos(ar/V)^(1−α)/(e^(2πa/h) − 1)
    (Trefethen & Weideman 2014, Theorem 5.1). By Jensen q is at least a Gaussian at its mean, times
    e^(−variance of means/2V), which bounds f by Gaussians beyond the last nodes.

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
                found = _Rule(order, first, second, machine).divergence()
            except Unbounded:
                found = None
        if found is not None and found.relative_width <= tolerance:
            return found
        precision *= 2
    raise PrecisionExhausted(precision // 2, rtol)


def _standard(mixture: Mixture) -> Mixture:
    """The mixture on another scale: equal means merged, sorted; a variance from 1/4 to 4 (a power of 4 taken out)."""
    size = mixture.variance.numerator.bit_length() - mixture.variance.denominator.bit_length()
    unit = Fraction(2) ** (size // 2)
    weights: dict[Fraction, Fraction] = {}
    for weight, mean in mixture.parts:
        weights[mean] = weights.get(mean, Fraction(0)) + weight
    parts = tuple((weight, mean / unit) for mean, weight in sorted(weights.items()))
    return Mixture(parts, mixture.variance / unit**2)


class _Rule:
    """The trapezoidal rule for one pair of mixtures at one precision: its nodes, their sum and what it misses.

    Not python-flint's `acb.integral`: on most pairs it takes up to six times as long, it needs the same tails bounded
    by hand, and the second engine has nothing like it to check it with.
    """

    def __init__(self, order: Fraction, first: Mixture, second: Mixture, engine: Engine) -> None:
        self._order, self._variance, self._engine = order, second.variance, engine
        origin = (min(second.means) + max(second.means)) / 2
        self._radius = max(second.means) - origin
        self._half_range = (max(first.means) - min(first.means)) / 2
        self._ps = [(weight, mean - origin) for weight, mean in first.parts]
        self._qs = [(weight, mean - origin) for weight, mean in second.parts]
        average = sum(weight * mean for weight, mean in self._qs)
        self._spread = sum((weight * mean**2 for weight, mean in self._qs), Fraction(0))
        places = [mean for _, mean in self._ps]
        self._peaks = [order * end - (order - 1) * average for end in (min(places), max(places))]
        self._digits = engine.precision * math.log(2) + 10
        self._strip, self._step = self._strip_and_step()
        self._low, self._high = self._ends()

    def _strip_and_step(self) -> tuple[Fraction, Fraction]:
        """Half the width of the strip, and the step at which the rule errs by less than the precision."""
        v, r = float(self._variance), float(self._radius)
        strip = math.sqrt(2 * v * self._digits)
        if widest := max(r, float(self._half_range)):
            strip = min(strip, v / widest)
        if Fraction(strip) * max(self._radius, self._half_range) > Fraction(3, 2) * self._variance:
            raise Unbounded
        loss = strip**2 / (2 * v) - (float(self._order) - 1) * math.log(math.cos(strip * r / v))
        return Fraction(strip), Fraction(2 * math.pi * strip / (loss + self._digits) * 0.99)

    def _ends(self) -> tuple[int, int]:
        """The numbers of the first and the last node."""
        v = float(self._variance)
        farthest = max(float(peak) ** 2 for peak in self._peaks)
        flatter = (float(self._order) - 1) * float(self._spread) / (2 * v)
        reach = math.sqrt(2 * v * (self._digits + flatter + farthest / (2 * v)))
        low = round((min(0.0, float(self._peaks[0])) - reach) / float(self._step)) - 2
        high = round((max(0.0, float(self._peaks[1])) + reach) / float(self._step)) + 2
        if high - low > MOST_NODES:
            raise TooManySteps(high - low, "a trapezoidal rule")
        return low, high

    def divergence(self) -> Enclosure:
        """R_α, enclosed by the sum and the bounds on its errors."""
        missed, tail = self._fraction_missed(), self._tail()
        if missed + tail > Fraction(1, 2):
            raise Unbounded
        bounds = self._engine.bounds(self._log_sum())
        if bounds is None:
            raise Unbounded
        # log I lies between log S − log(1 + δ) ≥ log S − δ and log(S + T) − log(1 − δ) ≤ log S + T/S + 2δ, and S ≥ 1/2.
        low, high = bounds[0] - missed, bounds[1] + 2 * tail + 2 * missed
        return Enclosure(*(max(end / (self._order - 1), Fraction(0)) for end in (low, high)))

    def _log_sum(self) -> Any:
        """log S, the logarithm of the sum over the nodes."""
        engine, variance = self._engine, self._variance
        sides = [
            [(engine.ball(w), engine.ball(m / variance), engine.ball(-m * m / (2 * variance))) for w, m in side]
            for side in (self._ps, self._qs)
        ]
        powers = engine.ball(self._order), engine.ball(1 - self._order)
        total: Any = engine.ball(Fraction(0))
        for node in range(self._low, self._high + 1):
            x = node * self._step
            place = engine.ball(x)
            first, second = (engine.mul(powers[k], self._log_tilted(sides[k], place)) for k in (0, 1))
            exponent = engine.add(engine.add(first, second), engine.ball(-x * x / (2 * variance)))
            total = engine.add(total, engine.exp(exponent))
        normal = engine.mul(
            engine.ball(Fraction(-1, 2)), engine.log(engine.mul(engine.ball(2 * variance), engine.pi()))
        )
        return engine.add(engine.add(engine.log(total), engine.log(engine.ball(self._step))), normal)

    def _log_tilted(self, side: list[tuple[Any, Any, Any]], place: Any) -> Any:
        """The logarithm of a mixture's density at a place over that of a Gaussian at the origin."""
        engine = self._engine
        value: Any = engine.ball(Fraction(0))
        for weight, slope, constant in side:
            value = engine.add(value, engine.mul(weight, engine.exp(engine.add(engine.mul(slope, place), constant))))
        return engine.log(value)

    def _fraction_missed(self) -> Fraction:
        """δ: the fraction of the integral by which a sum over all nodes may be wrong."""
        engine, strip = self._engine, self._strip
        cosine = _cosine_below(strip * self._radius / self._variance)
        factor = engine.mul(
            engine.exp(engine.ball(strip * strip / (2 * self._variance))),
            engine.exp(engine.mul(engine.ball(1 - self._order), engine.log(engine.ball(cosine)))),
        )
        growth = engine.exp(engine.mul(engine.ball(2 * strip / self._step), engine.pi()))
        rest = engine.inverse(engine.add(growth, engine.ball(Fraction(-1))))
        return _upper(engine, engine.mul(engine.mul(engine.ball(Fraction(2)), factor), rest))

    def _tail(self) -> Fraction:
        """T: at most the sum over the nodes that are left out, on both sides."""
        left, right = self._peaks
        total = Fraction(0)
        for peak, distance in ((left, left - self._low * self._step), (right, self._high * self._step - right)):
            beyond = distance - self._step
            if beyond <= 0:
                raise Unbounded
            exponent = ((self._order - 1) * self._spread + peak**2 - beyond**2) / (2 * self._variance)
            total += _upper(self._engine, self._engine.exp(self._engine.ball(exponent)))
        return total


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
