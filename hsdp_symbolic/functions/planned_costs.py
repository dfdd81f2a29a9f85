"""What the best shifts spend for one hit an epoch, all in the last batch but in the last few epochs: certified doubles.

A distance z ≥ 0 obeys z ← qz + hit − a and ends at 0; what is spent is Σa². Seen from the end, a hit that is n updates
from it (n = 1 for the last update) has the height q^(n−1), and the noise from it on has V_n = Σ_(i<n) q^(2i). The best
shifts are the slopes of the least concave majorant, from (0, 0) on, of heights added up, over V. Hits at regular
distances lie on a convex curve, so of those in last batches only the first and the last can be vertices: that leaves
two points more than there are known places, whatever the number of epochs.

All numbers are sums, products and quotients of positive doubles, and least or greatest of these: relative errors add
up, and nothing cancels. With slopes between neighbouring points given, that of the majorant at the j-th of them is
min_(a≤j) max_(b≥j) of the mean slope from the a-th to the b-th (isotonic regression): no decision has to be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..arithmetic.engines import Arb, Unbounded
from ..arithmetic.rounded import UNIT, require_nearest_arrays
from ..setting.arrays import Array

MOST_KNOWN = 8
"""The most epochs whose places are told apart."""
MOST_UPDATES = 2**50
"""The most updates of a run."""
_DIGIT = 10
"""Powers are put together from tables of 2^10 powers each."""
_PRECISION = 128
_NARROW = Fraction(1, 2**60)
"""The most that half the width of a ball may be, relatively, if its middle is taken for it."""
_LEAST_HIT = 2.0**-400
"""Lower hits are dropped. Together they are lower than 2^−320, which is what they add to √Σa² at most: paths add up,
and that to their sum costs no more than its square."""
_DROPPED = 2.0**-280
"""More than that adds to U = Σa² itself, which is at most the number of epochs: (√U + d)² = U + 2d√U + d²."""
_ROUNDINGS = 256
"""More than any entry of `least` has met. A power is a product of 6 numbers (11 roundings), V_n is put together in 6
steps of 12 each, a slope is a quotient of sums of at most 10 rises and of as many runs (110 with those of its parts),
and the result is a sum of 10 products of these with rises."""


@dataclass(frozen=True)
class Powers:
    """q^n and V_n = Σ_(i<n) q^(2i) for whole n up to `most`, as doubles."""

    q: Fraction
    most: int

    @cached_property
    def _tables(self) -> list[tuple[Array, Array]]:
        """For each digit of n to the base 2^10: powers, and V, of the digit times its weight."""
        engine, tables, size = Arb(_PRECISION), [], 1 << _DIGIT
        with engine.working():
            one, base, block = (engine.ball(x) for x in (Fraction(1), self.q, Fraction(1)))
            for place in range(max(1, -(-self.most.bit_length() // _DIGIT))):
                rows, power, total = [], one, engine.ball(Fraction(0))
                for _ in range(min(size, (self.most >> (_DIGIT * place)) + 1)):
                    rows.append((_double(engine, power), _double(engine, engine.mul(total, block))))
                    total = engine.add(total, engine.mul(power, power))
                    power = engine.mul(power, base)
                tables.append(rows)
                base, block = power, engine.mul(total, block)
        return [tuple(map(np.array, zip(*rows, strict=True))) for rows in tables]  # type: ignore[misc]

    def at(self, n: Any) -> tuple[Array, Array]:
        """q^n, or 0 where that is below 2^−400, and V_n."""
        n = np.asarray(n, dtype=np.int64)
        power, total = np.ones(n.shape), np.zeros(n.shape)
        for place, (powers, sums) in enumerate(self._tables):
            digit = (n >> (_DIGIT * place)) & ((1 << _DIGIT) - 1)
            total = total + power * power * sums[digit]
            power = power * powers[digit]
        return np.where(power < _LEAST_HIT, 0.0, power), total


def _double(engine: Arb, x: Any) -> float:
    """The middle of a ball, rounded once; refused if the ball is so wide that the truth may be another double.

    Another thread can lower flint's precision: the ball holds the truth then too, but its middle tells nothing.
    """
    middle, radius = engine.recentre(x)
    found = float(middle)
    if radius > _NARROW * max(Fraction(found), Fraction(_LEAST_HIT)):
        raise Unbounded
    return found


def geometric(q: Fraction, apart: int, count: int) -> float:
    """Σ_(i<count) q^(apart·i), for 0 < q ≤ 1, with one rounding: positive balls, doubled as often as needed."""
    engine = Arb(_PRECISION)
    with engine.working():
        one, ratio = engine.ball(Fraction(1)), engine.power(engine.ball(q), apart)
        total, power = engine.ball(Fraction(0)), one  # of the leading bits of `count`
        for bit in bin(count)[2:]:
            total, power = engine.add(total, engine.mul(power, total)), engine.mul(power, power)
            if bit == "1":
                total, power = engine.add(one, engine.mul(ratio, total)), engine.mul(ratio, power)
        return _double(engine, total)


@dataclass(frozen=True)
class Plans:
    """`epochs` epochs of `batches` batches: hits in the last batch of each, but anywhere in the last `known` epochs."""

    q: Fraction
    batches: int
    epochs: int
    known: int

    @cached_property
    def powers(self) -> Powers:
        return Powers(self.q, self.batches * (self.known + 1) + 1)

    def least(self, *places: Array) -> Array:
        """Σa² in doubles, for hits so many updates from the end of their epoch (1 to N), the last epoch first.

        The true values differ from these by a factor between 1 − 2^−45 and 1 + 2^−45, and their roots by 2^−320 more.
        """
        rises, runs = self._edges(places)
        count = len(rises)
        slopes = {
            (a, b): _quotient(sum(rises[a : b + 1]), sum(runs[a : b + 1]))
            for a in range(count)
            for b in range(a, count)
        }
        total: Any = 0.0
        for j in range(count):
            highest = [_extreme(np.maximum, [slopes[a, b] for b in range(j, count)]) for a in range(j + 1)]
            total = total + _extreme(np.minimum, highest) * rises[j]
        return np.asarray(total)

    def _edges(self, places: Sequence[Array]) -> tuple[list[Any], list[Any]]:
        """From each point to the next: by how much height and V grow."""
        ends: list[Any] = [np.asarray(each) + self.batches * epoch for epoch, each in enumerate(places)]
        if self.epochs > self.known:
            ends.append(np.int64(self.batches * self.known + 1))
        rises, runs, before = [], [], np.int64(0)
        for end in ends:
            rises.append(self.powers.at(end - 1)[0])
            runs.append(self.powers.at(before)[0] ** 2 * self.powers.at(end - before)[1])
            before = end
        if (more := self.epochs - 1 - self.known) > 0:
            first = self.powers.at(np.int64(self.batches * (self.known + 1)))[0]
            rises.append(first * geometric(self.q, self.batches, more))
            runs.append(self.powers.at(before)[0] ** 2 * geometric(self.q, 2, self.batches * more))
        return rises, runs

    def bounds(self, places: Sequence[Array]) -> tuple[Array, Array]:
        """Doubles that are not above, and not below, Σa² for all choices of one entry of each array, the last first."""
        require_nearest_arrays()
        found = self.least(*np.ix_(*places)) if places else self.least()
        pad = _ROUNDINGS * UNIT
        return np.maximum(found * (1 - pad), 0.0), found * (1 + pad) + _DROPPED


def _quotient(rise: Any, run: Any) -> Any:
    """rise/run; 0 where all of it was dropped."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(run > 0, rise / run, 0.0)


def _extreme(which: np.ufunc, arrays: Sequence[Any]) -> Any:
    found = arrays[0]
    for each in arrays[1:]:
        found = which(found, each)
    return found


@dataclass(frozen=True)
class Share:
    """Places that are taken together, in groups of these sizes, each from `first` to `last` updates from the end."""

    first: Array
    last: Array
    sizes: Array


def shares(plans: Plans, epoch: int, fineness: Fraction) -> Share:
    """The places of the epoch, so many before the last, in groups whose places differ by that much, relatively."""
    ends, scale = [0], plans.batches * epoch
    forgotten = int(min(Fraction(plans.batches), 1 / (1 - plans.q) if plans.q < 1 else Fraction(plans.batches)))
    while ends[-1] < plans.batches:
        away = min(ends[-1] + scale, max(forgotten, 1))
        ends.append(min(ends[-1] + max(1, int(fineness * away)), plans.batches))
    first, last = np.array(ends[:-1], dtype=np.int64) + 1, np.array(ends[1:], dtype=np.int64)
    return Share(first, last, (last - first + 1).astype(np.float64))
