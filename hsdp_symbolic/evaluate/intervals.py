"""Programs over exact rationals and over intervals.

Values stay exact rationals while they are small and become intervals only when they must, so a bound without exp
or log is often enclosed by a single point.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..arithmetic.engines import Engine, Unbounded
from ..errors import ExactTooLarge, GridExhausted, NotRational, TooManySteps, ValueTooLarge
from .program import Parts, Program

HYBRID_BITS = 512
"""Rationals are kept exact up to this size; beyond it intervals are faster and as good."""
MAX_STEPS = 5 * 10**6
"""Steps of a recursion, or terms of a mean, that an enclosure is ready to compute one by one."""
MAX_NODES = 3 * 10**5
DIRECT_TERMS = 32
"""Terms of a mean that are added one by one before anything cleverer is tried."""
ARGUMENT_BITS = 2**20
GRID_RTOL = Fraction(1, 10)
"""How closely a dynamic programme is bracketed where no width is asked for."""
MAX_BINOMIAL_ORDER = 2**16
"""Whole orders up to this use the binomial sum of the sampled Gaussian, all others the trapezoidal rule."""


class Rationals:
    """Exact arithmetic on fractions, up to a size."""

    def __init__(self, max_bits: int) -> None:
        self._max_bits = max_bits

    def add(self, *terms: Any) -> Any:
        return sum(terms)

    def mul(self, *factors: Any) -> Any:
        return math.prod(factors)

    def power(self, base: Any, exponent: Any) -> Any:
        k = whole(exponent)
        if self.power_bits(base, k) > self._max_bits:
            return self.too_large(base, k)
        return base**k

    def power_bits(self, base: Fraction, k: int) -> int:
        if base in (0, 1, -1):
            return 1
        return abs(k) * max(abs(base.numerator).bit_length(), base.denominator.bit_length())

    def too_large(self, base: Any, k: int) -> Any:
        raise ExactTooLarge(self.power_bits(base, k))

    def exp(self, x: Any) -> Any:
        if x == 0:
            return Fraction(1)
        raise NotRational("exp")

    def expm1(self, x: Any) -> Any:
        return self.exp(x) - 1

    def log(self, x: Any) -> Any:
        if x == 1:
            return Fraction(0)
        raise NotRational("log")

    def floordiv(self, top: Fraction, bottom: Fraction) -> Fraction:
        return Fraction(top // bottom)

    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        (step,) = programs(parts)
        return 1 - step.run(self, values)

    def geometric(self, x: Any, k: Any) -> Any:
        if x == 1:
            return k
        return self.mul(self.add(Fraction(1), self.mul(Fraction(-1), self.power(x, k))), 1 / (1 - x))

    def log_mix(self, weight: Any, x: Any, y: Any) -> Any:
        if x == y:
            return x
        raise NotRational("log")

    def pooled(self, slope: Any, length: Any) -> Any:
        """Chord and what convex edges add to it: where it cannot be decided which, the addition is nearly 0."""
        chord = self.add(Fraction(1), self.mul(slope, length))
        kink = self.short_of_one(slope)
        whole_length = self.add(Fraction(1), length)
        return self.mul(
            self.add(self.mul(chord, chord), self.mul(kink, kink, length)), self.power(whole_length, Fraction(-1))
        )

    def short_of_one(self, x: Any) -> Any:
        """max(0, 1 − x), for x ≥ 0."""
        return max(Fraction(0), 1 - x)

    def sampled_gaussian(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        rate, rho, order = (part.run(Rationals(ARGUMENT_BITS), values) for part in programs(parts))
        return self.sampled_gaussian_moment(rate, rho, order) if rho else Fraction(0)

    def sampled_gaussian_moment(self, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
        raise NotRational("log")

    def shift_control(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        cost, *others = (part.run(Rationals(ARGUMENT_BITS), values) for part in programs(parts))
        return self.shift_control_moment(cost, *others) if cost else Fraction(0)

    def shift_control_moment(self, cost: Fraction, q: Fraction, rate: Fraction, batches: Any, epochs: Any) -> Any:
        raise NotRational("log")

    def capped_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        cost, *others = (part.run(Rationals(ARGUMENT_BITS), values) for part in programs(parts))
        return self.capped_moment_of(cost, *others) if cost else Fraction(0)

    def capped_moment_of(self, cost: Fraction, q: Fraction, rate: Fraction, count: Any) -> Any:
        raise NotRational("log")

    def hit_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        cost, *others = (part.run(Rationals(ARGUMENT_BITS), values) for part in programs(parts))
        return self.hit_moment_of(cost, *others) if cost else Fraction(0)

    def hit_moment_of(self, cost: Fraction, q: Fraction, rate: Fraction, count: Any) -> Any:
        raise NotRational("log")

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        left, right, then, otherwise = programs(parts)
        return (then if left.run(self, values) == right.run(self, values) else otherwise).run(self, values)

    def log_mean_exp(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        raise NotRational("log")

    def accumulated(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        raise NotRational("log")

    def compounded(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        factor, index, cost, count, _ = parts
        assert isinstance(factor, Program)
        total = Fraction(0)
        for step in range(whole(self._run(count, values))):
            total = factor.run(self, {**values, str(index): Fraction(step)}) * (total + self._run(cost, values))
            bits = total.denominator.bit_length()
            if bits > self._max_bits:
                raise ExactTooLarge(bits)
        return total

    def _run(self, part: Program | str, values: Mapping[str, Any]) -> Any:
        assert isinstance(part, Program)
        return part.run(self, values)


class Intervals(Rationals):
    """Fractions while they are small, the engine's intervals beyond."""

    def __init__(self, engine: Engine, max_bits: int = HYBRID_BITS, tolerance: Fraction = GRID_RTOL) -> None:
        super().__init__(max_bits)
        self._engine, self._tolerance = engine, tolerance
        self._exponentials: dict[Fraction, Any] = {}
        self._kept: dict[tuple[int, int], Any] = {}  # by numerator and denominator: hashing a Fraction is slow
        self._bases: dict[tuple[int, int], tuple[Any, Any]] = {}

    def _ball(self, x: Any) -> Any:
        return self._engine.ball(x) if isinstance(x, Fraction) else x

    def _kept_ball(self, x: Fraction) -> Any:
        """The ball of a number that is likely to be asked for again."""
        key = (x.numerator, x.denominator)
        if key not in self._kept:
            self._kept[key] = self._engine.ball(x)
        return self._kept[key]

    def _fold(self, combine: Any, on_balls: Any, values: tuple[Any, ...]) -> Any:
        """Rationals together, exactly, then the intervals."""
        exact_part, ball = None, None
        for value in values:
            if isinstance(value, Fraction):
                exact_part = value if exact_part is None else combine(exact_part, value)
            else:
                ball = value if ball is None else on_balls(ball, value)
        if ball is None:
            return exact_part
        return ball if exact_part is None else on_balls(ball, self._kept_ball(exact_part))

    def add(self, *terms: Any) -> Any:
        return self._fold(operator.add, self._engine.add, terms)

    def mul(self, *factors: Any) -> Any:
        if any(isinstance(factor, Fraction) and not factor for factor in factors):
            return Fraction(0)
        return self._fold(operator.mul, self._engine.mul, factors)

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(exponent, Fraction) and exponent.denominator != 1:
            if isinstance(base, Fraction) and base == 0 and exponent > 0:
                return Fraction(0)
            return self.exp(self.mul(exponent, self.log(base)))
        if isinstance(base, Fraction):
            return super().power(base, exponent)
        return self.too_large(base, whole(exponent))

    def too_large(self, base: Any, k: int) -> Any:
        if k == 0:
            return Fraction(1)
        result = self._engine.power(self._ball(base), abs(k))
        return self._engine.inverse(result) if k < 0 else result

    def exp(self, x: Any) -> Any:
        if not isinstance(x, Fraction):
            return self._engine.exp(x)
        if x not in self._exponentials:
            self._exponentials[x] = self._engine.exp(self._ball(x)) if x else Fraction(1)
        return self._exponentials[x]

    def expm1(self, x: Any) -> Any:
        return self.add(self.exp(x), Fraction(-1))

    def log(self, x: Any) -> Any:
        return Fraction(0) if isinstance(x, Fraction) and x == 1 else self._engine.log(self._ball(x))

    def geometric(self, x: Any, k: Any) -> Any:
        if isinstance(x, Fraction):
            if x == 1 or self.power_bits(x, whole(k)) <= self._max_bits:
                return super().geometric(x, k)
            key = (x.numerator, x.denominator)
            if key not in self._bases:
                self._bases[key] = self._engine.ball(x), self._engine.ball(1 / (x - 1))
            base, scale = self._bases[key]
            missing = self._engine.add(self._engine.power(base, whole(k)), self._kept_ball(Fraction(-1)))
            return self._engine.mul(missing, scale)
        below = self._engine.add(self._ball(Fraction(1)), self.mul(Fraction(-1), x))
        powers = self.add(Fraction(1), self.mul(Fraction(-1), self.power(x, k)))
        return self.mul(powers, self._engine.inverse(below))

    def log_mix(self, weight: Any, x: Any, y: Any) -> Any:
        rest = self.add(Fraction(1), self.mul(Fraction(-1), weight))
        if isinstance(x, Fraction) and x > 64:  # shifted, so that e^x itself is not needed
            falling = self.exp(self.add(y, -x))
            return self.add(x, self.log(self.add(weight, self.mul(rest, falling))))
        return self.log(self.add(self.mul(weight, self.exp(x)), self.mul(rest, self.exp(y))))

    def short_of_one(self, x: Any) -> Any:
        if isinstance(x, Fraction):
            return super().short_of_one(x)
        missing = self.add(Fraction(1), self.mul(Fraction(-1), x))
        try:
            low, high = self._bounds(missing)
        except ValueTooLarge:
            return Fraction(0)  # at most 1, and too large to be written down: negative
        if low >= 0:
            return missing
        return self._engine.interval(Fraction(0), high) if high > 0 else Fraction(0)

    def log_mean_exp(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """Term by term, until the rest can be summed as a whole: by series, or because it is so close to 1."""
        body, index, count_program = parts
        assert isinstance(body, Program)
        count = whole(self._run(count_program, values))
        term = body.prepare(Intervals(self._engine, max_bits=64), values, str(index))  # each term ends as a ball anyway
        total: Any = self._ball(Fraction(0))
        for done in range(1, count + 1):
            value = term(Fraction(done))
            if done == 1 and isinstance(value, Fraction) and value == 0:
                return value  # the largest exponent is 0, and none is negative
            exponent = self._ball(value)
            total = self._engine.add(total, self._engine.exp(exponent))
            if done % DIRECT_TERMS == 0 and done < count:
                rest = self._rest_of_mean(exponent, body, values, str(index), done, count)
                if rest is not None:
                    total = self._engine.add(total, rest)
                    break
        return self.log(self.mul(Fraction(1, count), total))

    def _rest_of_mean(
        self, exponent: Any, body: Program, values: Mapping[str, Any], index: str, done: int, count: int
    ) -> Any:
        """The sum of the terms after `done`, whose exponent is given; None if they must be added one by one."""
        if (bounds := self._engine.bounds(exponent)) and bounds[1] < self._engine.resolution:
            ceiling = 1 + 2 * max(bounds[1], Fraction(0))  # e^x ≤ 1 + 2x for 0 ≤ x ≤ 1
            return self.mul(Fraction(count - done), self._engine.interval(Fraction(1), ceiling))
        if self._engine.has_series:
            from ..functions.means import sum_of_exponentials

            return sum_of_exponentials(self._engine, body, values, index, done + 1, count)
        if done >= MAX_STEPS:
            raise TooManySteps(count, "a mean")
        return None

    def accumulated(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """Step by step along a thin trajectory, until what is left to come is enclosed.

        The map is increasing with slope at most 1, so rounding errors add up and never grow; the increments
        decrease, so the remaining ones lie between the increment here and the one at the highest point ahead.
        """
        increment, state, count_program, room, ceiling, gain = parts
        assert isinstance(increment, Program)
        total = whole(self._run(count_program, values))
        step_at = increment.prepare(self, values, str(state))
        limit = None
        if self._bounds(self._run(room, values))[0] > 0:
            slope = self.add(Fraction(1), self.mul(Fraction(-1), self._run(gain, values)))
            limit = self._bounds(self._run(ceiling, values)), slope
            gain_there = 1 - self._bounds(slope)[0]
            if total > MAX_STEPS and MAX_STEPS * gain_there < 20 and total * gain_there < 1000:
                raise TooManySteps(total, "a recursion")  # not settled at the end, and too long to follow until then
        if step_at(Fraction(0)) == 0:
            return Fraction(0)
        here, error = self._ball(Fraction(0)), Fraction(0)
        for done in range(total):
            step = self._ball(step_at(here))
            if done % 32 == 0:
                closed = self._close(here, error, step, total - done, limit, step_at)
                if closed is not None:
                    return closed
                if done >= MAX_STEPS:
                    raise TooManySteps(total, "a recursion")
            here, radius = self._engine.recentre(self._engine.add(here, step))
            error += radius
        return self._engine.add(here, self._engine.interval(-error, error))

    def compounded(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """Step by step, until it makes no difference whether the remaining factors stay or jump to the limit."""
        factor, index, cost_program, count_program, limit_program = parts
        assert isinstance(factor, Program)
        factor_at = factor.prepare(self, values, str(index))
        cost, limit = self._run(cost_program, values), self._run(limit_program, values)
        count = whole(self._run(count_program, values))
        here: Any = Fraction(0)
        for done in range(count):
            now = factor_at(Fraction(done))
            if done % 32 == 0 and done:
                ends = [self._compound(here, kept, cost, count - done) for kept in (now, limit)]
                low, high = self._bounds(ends[0])[0], self._bounds(ends[1])[1]
                if high - low <= self._engine.resolution * high * 2**40:
                    return self._engine.interval(low, high)
                if done >= MAX_STEPS:
                    raise TooManySteps(count, "a recursion")
            here = self._ball(self.mul(now, self.add(here, cost)))
        return here

    def _compound(self, here: Any, factor: Any, cost: Any, steps: int) -> Any:
        """The value after so many steps with one and the same factor."""
        kept = self.mul(self.power(factor, Fraction(steps)), here)
        return self.add(kept, self.mul(cost, factor, self.geometric(factor, Fraction(steps))))

    def _close(
        self,
        here: Any,
        error: Fraction,
        step: Any,
        remaining: int,
        limit: tuple[tuple[Fraction, Fraction], Any] | None,
        step_at: Callable[[Any], Any],
    ) -> Any:
        """The end value, if the steps that remain are known closely enough; None otherwise.

        Below the fixed point the map's slope is at most the slope there: the distance shrinks at least so fast.
        """
        low, high = self._bounds(here)
        top = high + error + remaining * max(self._bounds(step)[1], Fraction(0))
        if limit is not None:
            top = min(top, limit[0][1])
        least = max(self._bounds(step_at(self._ball(top)))[0], Fraction(0))
        bottom = low - error + remaining * least
        if limit is not None:
            (settled, highest), slope = limit
            gain = 1 - self._bounds(slope)[1]
            # Past any precision a higher power of the slope only makes for a longer fraction.
            enough = remaining if gain <= 0 else min(remaining, int(64 * self._engine.precision / gain) + 1)
            shrunk = self._error(self.power(slope, Fraction(enough)))
            bottom = max(bottom, settled - shrunk * (highest - low + error))
        if top - bottom > self._engine.resolution * top * 2**40:
            return None
        return self._engine.interval(min(bottom, top), top)

    def sampled_gaussian_moment(self, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
        if rate == 1:
            return rho * order * (order - 1)
        if order.denominator == 1 and order <= MAX_BINOMIAL_ORDER:
            return self._binomial_moment(rate, rho, int(order))
        if rho > 4 * (self._digits() + order):
            return self._separated_moment(rate, rho, order)
        return self._trapezoidal_moment(rate, rho, order)

    def _digits(self) -> int:
        """−log of the resolution, and some: what an error estimate e^(−digits) may be neglected against."""
        return math.ceil(self._engine.resolution.denominator.bit_length() * math.log(2)) + 20

    def _separated_moment(self, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
        """log((1−p)^α + p^α·e^(ρα(α−1))), for so little noise that the two cases hardly mix.

        For α ≥ 1, (a + b)^α exceeds a^α + b^α by 0 to (2^α − 1)·√(ab)·(a^(α−1) + b^(α−1)); here a = 1 − p, b = p·e^u,
        and the mean of e^(cu) is e^(ρc(c−1)).
        """
        engine = self._engine

        def term(x: Fraction, power: Fraction, y: Fraction, other: Fraction, exponent: Fraction) -> Any:
            logs = self.add(self.mul(power, self.log(x)), self.mul(other, self.log(y)), exponent)
            return engine.exp(self._ball(logs))

        half = Fraction(1, 2)
        main = engine.add(
            term(1 - rate, order, rate, Fraction(0), Fraction(0)),
            term(rate, order, 1 - rate, Fraction(0), rho * order * (order - 1)),
        )
        mixed = engine.add(
            term(1 - rate, order - half, rate, half, -rho / 4),
            term(rate, order - half, 1 - rate, half, rho * (order - half) * (order - 3 * half)),
        )
        excess = self.mul(mixed, self.exp(self.mul(order, self.log(Fraction(2)))), engine.inverse(main))
        return engine.add(engine.log(main), engine.interval(Fraction(0), self._error(excess)))

    def _binomial_moment(self, rate: Fraction, rho: Fraction, order: int) -> Any:
        """log Σ_k C(α, k) (1−p)^(α−k) p^k e^(ρk(k−1)), by the ratios of successive terms."""
        engine = self._engine
        growth = engine.exp(self._ball(2 * rho))  # e^(ρ(k+1)k) = e^(ρk(k−1))·(e^(2ρ))^k
        odds = self._ball(rate / (1 - rate))
        term = engine.power(self._ball(1 - rate), order)
        total, factor = term, self._ball(Fraction(1))
        for k in range(order):
            term = engine.mul(engine.mul(term, odds), engine.mul(factor, self._ball(Fraction(order - k, k + 1))))
            factor = engine.mul(factor, growth)
            total = engine.add(total, term)
        return engine.log(total)

    def _trapezoidal_moment(self, rate: Fraction, rho: Fraction, order: Fraction) -> Any:
        """log ∫ ((1−p) + p·e^(sx − s²/2))^α φ(x) dx, s² = 2ρ, by the trapezoidal rule with its error.

        The integrand f is analytic for |Im x| < π/s, and there ∫|f(x + ia)| dx ≤ e^(a²/2) ∫f, so the rule with
        step h errs by at most the fraction δ = 2e^(a²/2)/(e^(2πa/h) − 1) of the integral (Trefethen & Weideman
        2014, Theorem 5.1). Nodes are kept within X of the two peaks 0 and αs: (u + v)^α ≤ 2^(α−1)(u^α + v^α) bounds
        what is left out by the fraction τ = 2^α·(Gaussian tail beyond X).
        """
        engine = self._engine
        spread = max(float(2 * rho) ** 0.5, 1e-150)
        digits = self._digits()
        strip = Fraction(min(math.sqrt(2 * digits), 3 / spread)).limit_denominator(10**6)
        step = Fraction(2 * math.pi * float(strip) / (float(strip) ** 2 / 2 + digits) * 0.99).limit_denominator(10**9)
        reach = Fraction(math.ceil(math.sqrt(2 * (digits + float(order) * math.log(2)))) + 1)
        root = engine.exp(engine.mul(self._ball(Fraction(1, 2)), engine.log(self._ball(2 * rho))))
        if self._bounds(self.mul(strip, root))[1] >= 3.1:
            raise Unbounded
        total: Any = self._ball(Fraction(0))
        nodes = _nodes(float(order) * spread, float(reach), step)
        if len(nodes) > MAX_NODES:
            raise TooManySteps(len(nodes), "a trapezoidal rule")
        for node in nodes:
            x = node * step
            ratio = engine.exp(engine.add(engine.mul(root, self._ball(x)), self._ball(-rho)))
            base = engine.log(self.add(1 - rate, self.mul(rate, ratio)))
            total = engine.add(total, engine.exp(self.add(self.mul(order, base), -x * x / 2)))
        two_pi = engine.mul(self._ball(Fraction(2)), engine.pi())
        delta = self.mul(
            Fraction(2),
            engine.exp(self._ball(strip**2 / 2)),
            engine.inverse(self.add(engine.exp(self.mul(two_pi, strip / step)), Fraction(-1))),
        )
        tail = self.mul(
            Fraction(2) * step,
            engine.exp(self._ball(-(reach**2) / 2)),
            engine.inverse(self.add(Fraction(1), self.mul(Fraction(-1), engine.exp(self._ball(-reach * step))))),
            engine.exp(self.mul(order, engine.log(self._ball(Fraction(2))))),
        )
        error = self._error(delta) + self._error(tail)
        if error > Fraction(1, 2):
            raise Unbounded
        # log A − log S lies between −log(1 + δ) ≥ −δ and −log(1 − δ − τ) ≤ 2(δ + τ).
        normal = engine.mul(self._ball(Fraction(-1, 2)), engine.log(two_pi))
        logarithm = self.add(engine.log(total), engine.log(self._ball(step)), normal)
        return engine.add(logarithm, engine.interval(-error, 2 * error))

    def shift_control_moment(self, cost: Fraction, q: Fraction, rate: Fraction, batches: Any, epochs: Any) -> Any:
        """The bracket of `sharper.dynamic`, whatever the engine: it has a rigorous arithmetic of its own."""
        from ..functions.shift_control import FINEST, MOST_POINTS, Programme, bracket

        wanted = self._tolerance * Fraction(999, 1000)
        if wanted < FINEST:
            raise GridExhausted(MOST_POINTS, self._tolerance, FINEST)
        found = bracket(Programme(cost, q, rate, whole(batches), whole(epochs)), float(wanted))
        low, high = Fraction(found.lo), Fraction(found.hi)
        if high - low > wanted * high:
            raise GridExhausted(found.points, self._tolerance, 1 - found.lo / found.hi)
        return self._engine.interval(low, high)

    def capped_moment_of(self, cost: Fraction, q: Fraction, rate: Fraction, count: Any) -> Any:
        from ..functions.capped_moment import Capped

        return Capped(self, self._engine, cost, q, rate).after(whole(count))

    def hit_moment_of(self, cost: Fraction, q: Fraction, rate: Fraction, count: Any) -> Any:
        from ..functions.hit_moment import log_moment

        finest = min(self._tolerance, self._engine.resolution * 2**40)
        return log_moment(self._engine, cost, q**2, rate, whole(count), finest)

    def _error(self, x: Any) -> Fraction:
        """An upper bound on x ≥ 0, no finer than the working precision needs (a longer fraction only costs time)."""
        return max(self._bounds(x)[1], self._engine.resolution**4)

    def _bounds(self, x: Any) -> tuple[Fraction, Fraction]:
        if isinstance(x, Fraction):
            return x, x
        bounds = self._engine.bounds(x)
        if bounds is None:
            raise Unbounded
        return bounds


def _nodes(far_peak: float, reach: float, step: Fraction) -> Sequence[int]:
    """Whole multiples of `step` within `reach` of 0 or of `far_peak` (generously)."""
    unit = float(step)
    margin = math.ceil(reach / unit) + 2
    centre = round(far_peak / unit)
    if centre - margin - 2 <= margin + 1:
        if margin > MAX_NODES:  # before `len`, which fails on ranges past a machine word
            raise TooManySteps(centre + 2 * margin, "a trapezoidal rule")
        return range(-margin, centre + margin + 3)
    if margin > MAX_NODES:
        raise TooManySteps(4 * margin, "a trapezoidal rule")
    return [*range(-margin, margin + 1), *range(centre - margin - 2, centre + margin + 3)]


def programs(parts: Parts) -> tuple[Program, ...]:
    """All parts, where all of them are programs."""
    return tuple(part for part in parts if isinstance(part, Program))


def whole(exponent: Any) -> int:
    """`exponent` as an int."""
    if not (isinstance(exponent, Fraction) and exponent.denominator == 1):
        raise NotRational(f"the non-integer exponent {exponent}")
    return int(exponent)
