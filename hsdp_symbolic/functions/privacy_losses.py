"""Distributions of privacy losses on a grid, between integers: convolved exactly, every rounding to a stated side.

A pair (P, Q) has the loss log dP/dQ and the profile δ(ε) = sup over sets A of P(A) − e^ε·Q(A). Masses m_i ≥ 0 at
losses i·h, and m_∞ at infinity, stand for the function

    ε ↦ Σ m_i·(1 − e^(ε − ih))_+ + m_∞.

They are *above* a pair if this is at least its profile at every real ε, *below* it if at most. Both pass on to
compositions, adaptive ones included: δ of the whole is the mean of δ₂(ε − L₁) over the loss L₁ of the first; put in the
masses of the second, and it is Σ_j m_j·δ₁(ε − jh) + m_∞, in which no m_j is negative, so the first may be replaced in
its turn. Masses above may therefore be rounded up or moved to larger losses, masses below rounded down or moved to
smaller ones, at any time. Nothing has to add up to 1.

Masses below may owe something, −m_∞ ≥ 0: the function minus that is at most the profile. If the masses m of the second
owe D, and those of the first D', their product owes D'·Σm + D.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..arithmetic.doubles import require_nearest
from ..arithmetic.engines import Arb, Engine, Unbounded
from ..errors import GridExhausted

Bracket = tuple[int, int]
"""A lower and an upper bound, in units of a power of two."""


@dataclass(frozen=True)
class Scale:
    """How finely losses and masses are told apart: masses count units of 2^−bits, tails of up to 2^−tail are cut."""

    engine: Engine
    bits: int
    guard: int
    """Bits with which single masses are computed beyond those that are kept."""
    tail: int
    coarsen: float
    """A grid is made coarser once its step is less than this share of the spread of losses."""

    @property
    def fine(self) -> int:
        """The bits of intermediate results."""
        return self.bits + self.guard

    @property
    def cut(self) -> int:
        return 1 << (self.bits - self.tail)


def bracket(engine: Engine, x: Any, bits: int) -> Bracket:
    """Integers around x·2^bits."""
    if isinstance(engine, Arb):
        if not x.is_finite():
            raise Unbounded
        (low, low_exp), (high, high_exp) = (end.man_exp() for end in engine.ends(x))
        return _shifted(int(low), int(low_exp) + bits), -_shifted(-int(high), int(high_exp) + bits)
    found = engine.bounds(x)
    if found is None:
        raise Unbounded
    least, most = found
    return (least.numerator << bits) // least.denominator, -((-most.numerator << bits) // most.denominator)


def _shifted(x: int, places: int) -> int:
    """x·2^places, rounded down."""
    return x << places if places >= 0 else x >> -places


def double(engine: Engine, x: float) -> Any:
    """A double as an interval of the engine, exactly."""
    if isinstance(engine, Arb):
        from flint import arb

        return arb(x)
    return engine.ball(Fraction(x))


def times(x: int, factor: Bracket, bits: int, *, up: bool) -> int:
    """x·factor in units, where `factor` ≥ 0 is in units of 2^−bits; rounded up or down."""
    chosen = factor[1] if (x > 0) == up else factor[0]
    return -(-x * chosen >> bits) if up else x * chosen >> bits


def rounded(x: int, bits: int, *, up: bool) -> int:
    """x/2^bits as an integer."""
    return -(-x >> bits) if up else x >> bits


@dataclass(frozen=True)
class Losses:
    """Masses at losses `step`·(first, first + 1, …) and at infinity, above or below a pair (see the module's text)."""

    scale: Scale
    above: bool
    step: Fraction
    first: int
    masses: Sequence[int]
    infinite: int
    variance: float
    """About the variance of the loss: it decides when the grid is made coarser, and nothing else."""

    @cached_property
    def total(self) -> int:
        return sum(self.masses)

    def times(self, other: Losses) -> Losses:
        """Of the composition, on the coarser grid of the two."""
        mine, theirs = self, other
        while mine.step < theirs.step:
            mine = mine.coarser()
        while theirs.step < mine.step:
            theirs = theirs.coarser()
        if mine.step != theirs.step:
            raise ValueError(f"grids of steps {self.step} and {other.step} have no common coarser one")
        bits, up = self.scale.bits, self.above
        product = convolved(self.scale.engine, mine.masses, theirs.masses, bits, up=up)
        if up:
            infinite = mine.infinite * (theirs.total + theirs.infinite) + mine.total * theirs.infinite
        else:
            infinite = mine.infinite * max(theirs.total, 1 << bits) + theirs.infinite * max(mine.total, 1 << bits)
        found = replace(
            mine,
            first=mine.first + theirs.first,
            masses=product,
            infinite=rounded(infinite, bits, up=up),
            variance=self.variance + other.variance,
        )
        return found.trimmed().fitted()

    def power(self, count: int) -> Losses:
        """Of `count` ≥ 1 of the same kind."""
        found: Losses | None = None
        square = self.fitted()
        while True:
            if count & 1:
                found = square if found is None else found.times(square)
            count >>= 1
            if not count:
                assert found is not None
                return found
            square = square.times(square)

    def trimmed(self) -> Losses:
        """Without its tails, each up to 2^−tail.

        Above, the one goes to infinity and the other up to where the rest begins; below, the one comes down and the
        other is dropped.
        """
        masses, cut = self.masses, self.scale.cut
        start, stop, low, high = 0, len(masses), 0, 0
        while start < stop - 1 and low + masses[start] <= cut:
            low += masses[start]
            start += 1
        while stop > start + 1 and high + masses[stop - 1] <= cut:
            stop -= 1
            high += masses[stop]
        kept = list(masses[start:stop])
        if self.above:
            kept[0] += low
        else:
            kept[-1] += high
            high = 0
        return replace(self, first=self.first + start, masses=kept, infinite=self.infinite + high)

    def fitted(self) -> Losses:
        """On a grid no finer than it has to be."""
        found = self
        while found.variance > 0 and float(found.step) < self.scale.coarsen * found.variance**0.5:
            found = found.coarser()
        return found

    def coarser(self) -> Losses:
        """On the grid of twice the step."""
        first, masses = self.first, list(self.masses)
        if first % 2:
            first, masses = first - 1, [0, *masses]
        if len(masses) % 2 == 0:
            masses.append(0)
        even, odd = masses[0::2], masses[1::2]
        if self.above:
            found = replace(self, step=2 * self.step, first=first // 2, masses=self._moved_out(even, odd))
        else:
            kept, owed = paid(self._moved_in(even, odd))
            infinite = self.infinite - owed
            found = replace(self, step=2 * self.step, first=first // 2 - 1, masses=kept, infinite=infinite)
        return found.trimmed()

    def _moved_out(self, even: list[int], odd: list[int]) -> list[int]:
        """Chords between even points, which are above the function, since it is convex in e^ε.

        A mass x at an odd point goes to its neighbours, x/(1 + e^h) down and the rest up.
        """
        engine, bits = self.scale.engine, self.scale.bits
        with engine.working():
            growth = engine.exp(engine.ball(self.step))
            share = bracket(engine, engine.inverse(engine.add(engine.ball(Fraction(1)), growth)), bits)
        falls = [x * share[0] >> bits for x in odd]
        rises = [x - y for x, y in zip(odd, falls, strict=True)]
        return [x + y + z for x, y, z in zip(even, [*falls, 0], [0, *rises], strict=True)]

    def _moved_in(self, even: list[int], odd: list[int]) -> list[int]:
        """Chords between values at even points that are below lines which are below the function.

        At each odd point take the line whose slope is the mean of the slopes to its left and right, at each even point
        the lower of the two lines at its sides. Compared with chords of the function itself, the value at an even point
        falls by (e^h − 1)·M/2, M = max(m_before, e^(−h)·m_after). So beside what the odd points give away (as above),
        the mass at an even point changes by ((u + v)·M − u·M_next − v·M_last)/2, u = 1/(1 + e^h), v = u·e^(2h). Masses
        may become negative; there is one more at either end.
        """
        engine, bits = self.scale.engine, self.scale.bits
        with engine.working():
            growth = engine.exp(engine.ball(self.step))
            down = engine.inverse(engine.add(engine.ball(Fraction(1)), growth))
            shrink = bracket(engine, engine.inverse(growth), bits)
            u = bracket(engine, down, bits)
            v = bracket(engine, engine.mul(down, engine.mul(growth, growth)), bits)
        most = [max(x, -(-y * shrink[1] >> bits)) for x, y in zip([0, *odd], [*odd, 0], strict=True)]
        found = []
        for x, before, after, last, here, following in zip(
            [0, *even, 0], [0, 0, *odd, 0], [0, *odd, 0, 0], [0, 0, *most], [0, *most, 0], [*most, 0, 0], strict=True
        ):
            gained = 2 * u[0] * after + (u[0] + v[0]) * here
            lost = 2 * u[1] * before + u[1] * following + v[1] * last
            found.append(x + before + (gained - lost >> bits + 1))
        return found


def paid(masses: Sequence[int]) -> tuple[list[int], int]:
    """Masses below, none of them negative, and what is owed then: what one lacks is taken from larger losses."""
    found, owed = [], 0
    for mass in masses:
        left = mass - owed
        found.append(max(0, left))
        owed = max(0, -left)
    return found, owed


def convolved(engine: Engine, left: Sequence[int], right: Sequence[int], bits: int, *, up: bool) -> list[int]:
    """The product of two polynomials with coefficients ≥ 0, exactly; then each coefficient over 2^bits, rounded.

    By flint's integers, which are exact at any setting, or without flint if the engine does without: each polynomial is
    written into one long number, in fields wide enough that none overflows.
    """
    require_nearest()  # flint multiplies long integers by means of doubles
    if isinstance(engine, Arb):
        from flint import fmpz_poly

        first = fmpz_poly(left)
        product = first * (first if right is left else fmpz_poly(right))
        # One by one: where flint divides polynomials, a coefficient smaller than the divisor gives 0, be it negative.
        more = (1 << bits) - 1 if up else 0
        found = [int(x) + more >> bits for x in product.coeffs()]
        require_nearest()
    else:
        widest = max(left).bit_length() + max(right).bit_length() + min(len(left), len(right)).bit_length()
        size = widest // 8 + 1
        numbers = [
            int.from_bytes(b"".join(x.to_bytes(size, "little") for x in part), "little") for part in (left, right)
        ]
        written = (numbers[0] * numbers[1]).to_bytes(size * (len(left) + len(right)), "little")
        found = [
            rounded(int.from_bytes(written[start : start + size], "little"), bits, up=up)
            for start in range(0, size * (len(left) + len(right) - 1), size)
        ]
    return found + [0] * (len(left) + len(right) - 1 - len(found))


class Curve:
    """The function of ε that masses stand for: an upper or a lower bound on a profile."""

    def __init__(self, losses: Losses) -> None:
        """At grid points, from the last to the first: δ(ε − h) = S − e^(−h)·(S − δ(ε)), S the mass above ε − h."""
        self.losses = losses
        self.bits = bits = losses.scale.fine
        engine, up = losses.scale.engine, losses.above
        with engine.working():
            low, high = bracket(engine, engine.exp(engine.ball(-losses.step)), bits)
        guard = losses.scale.guard
        mass = value = losses.infinite << guard
        masses, values = [mass], [value]
        for x in reversed(losses.masses):
            mass += x << guard
            away = mass - value
            value = mass - (away * low >> bits if up else -(-away * high >> bits))
            masses.append(mass)
            values.append(value)
        self._masses, self._values = masses[::-1], values[::-1]
        """The mass above, and the value at, each grid point and the one before the first."""

    @property
    def least(self) -> Fraction:
        """What it falls to: nothing, but for tails."""
        return Fraction(self._values[-1], 1 << self.bits)

    def at(self, epsilon: Fraction) -> Fraction:
        """The bound on δ: not below it from above, not above it from below."""
        losses = self.losses
        place = max(1, math.ceil(epsilon / losses.step) - losses.first + 1)
        engine, up = losses.scale.engine, losses.above
        with engine.working():
            if place >= len(self._values):
                found = self._values[-1]
            else:
                rest = epsilon - (losses.first - 1 + place) * losses.step
                low, high = bracket(engine, engine.exp(engine.ball(rest)), self.bits)
                mass = self._masses[place - 1]
                away = mass - self._values[place]
                found = mass - (away * low >> self.bits if up else -(-away * high >> self.bits))
            value = Fraction(found, 1 << self.bits)
            if up:
                return min(value, Fraction(1))
            if epsilon >= 0:
                return max(value, Fraction(0))
            least = Fraction(-bracket(engine, engine.exp(engine.ball(epsilon)), self.bits)[1], 1 << self.bits) + 1
            return max(value, least, Fraction(0))

    def solved(self, delta: Fraction) -> Fraction:
        """About the least ε ≥ 0 at which the function is at most `delta`: from above not less, from below not more.

        An error if there is none on the grid.
        """
        losses, up = self.losses, self.losses.above
        if self.at(Fraction(0)) <= delta:
            return Fraction(0)
        target = delta * (1 << self.bits)
        if self._values[-1] > target:
            raise GridExhausted(len(self._values), Fraction(0), 1.0)
        # The values fall with ε: the first that is at most the target.
        place = bisect_left(self._values, True, key=lambda value: value <= target)
        end = (losses.first - 1 + place) * losses.step
        mass, value = self._masses[place - 1], self._values[place]
        guess = end + Fraction(math.log((mass - target) / (mass - value))) if mass > value else end
        for digits in (12, 9, 6):
            margin = max(abs(guess), losses.step) / 10**digits
            tried = min(end, guess + margin) if up else max(end - losses.step, guess - margin)
            if (self.at(tried) <= delta) if up else (self.at(tried) >= delta):
                return max(tried, Fraction(0))
        return max(end if up else end - losses.step, Fraction(0))
