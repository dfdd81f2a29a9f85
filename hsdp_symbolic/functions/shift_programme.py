"""The dynamic programme over shifts, in doubles with every rounding accounted for: a bracket around its exact value.

Two coupled runs differ in one record; a step is a hit if its batch holds that record. In units of ηS_g/b the distance z
of the runs becomes y = qz + 1 on a hit and y = qz otherwise; the noise of that step then hides the shift y − z', which
costs c·(y − z')², and W is the least log-moment of the cost still to come:

    E(y) = min over 0 ≤ z' ≤ y of c(y − z')² + W(z'),    W(z) ← log(p·e^E(qz+1) + (1 − p)·e^E(qz)),

from W(0) = 0, W(z > 0) = ∞ after the last step. W is convex and never falls with z (`sharper.programme` proves both):
a chord between grid points lies above it and a tangent below: `_Above` follows one policy, `_Below` keeps tangents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.rounded import UNIT, log_mix_bounds, require_nearest_arrays
from ..errors import ArgumentError, TooManySteps
from ..progress import Ticker
from ..setting.arrays import Array
from .sketch import LEAST_COST, MOST_COST

MOST_PROGRAMME_STEPS = 3 * 10**4
"""Steps that are followed one by one; what has not settled by then is refused."""
POINTS, MOST_POINTS = 640, 20_000
"""Grid points of the float view, and the most an enclosure takes."""
COARSE = 0.3
"""From this relative width on, a quarter of the points is tried first."""
SETTLED = 1e-4
"""A programme has settled once the farthest start costs at most this much more, relatively, than the nearest."""
FORGOTTEN = 14
"""It takes about this many times 1/(1 − q) steps to settle, or somewhat fewer."""
_UP, _DOWN = 1 + 2.0**-51, 1 - 2.0**-51


@dataclass(frozen=True)
class Programme:
    """`epochs` passes of `batches` steps each; the record is used at most once a pass, by each step with chance `rate`.

    One batch per pass is sampling afresh at every step; n/b batches per pass are a new permutation every epoch.
    """

    cost: Fraction
    q: Fraction
    rate: Fraction
    batches: int
    epochs: int

    @property
    def steps(self) -> int:
        return self.batches * self.epochs

    @property
    def farthest(self) -> Fraction:
        """No distance ever exceeds this."""
        return min(1 / (1 - self.q), Fraction(self.steps)) if self.q < 1 else Fraction(self.steps)

    @cached_property
    def settles(self) -> bool:
        """Whether `farthest` holds for any number of epochs."""
        return self.q < 1 and 1 / (1 - self.q) <= self.steps

    @property
    def steps_that_matter(self) -> int:
        """About as many steps, in whole passes, as it takes to settle, if that comes before the end."""
        if self.q == 1:
            return self.steps
        return min(self.epochs, math.ceil(FORGOTTEN / (1 - self.q) / self.batches)) * self.batches

    def chance(self, batch: int) -> Fraction:
        """The chance of a hit in this batch if there was none before in this pass."""
        return self.rate / (1 - batch * self.rate)


@dataclass(frozen=True)
class Bracket:
    """Doubles below and above the exact value, and how many grid points and steps they took."""

    lo: float
    hi: float
    points: int
    steps: int


@lru_cache(maxsize=256)
def bracket(programme: Programme, rtol: float) -> Bracket:
    """Doubles around the exact W₀(0), refined until they are within `rtol` of each other.

    Where the finest grid does not reach that, the bracket is wider and still holds; the caller decides whether it will
    do. Before the first grid and after each, `RoundingMode` is raised unless doubles round to nearest.
    """
    require_nearest_arrays()
    _check(programme)
    best: Bracket | None = None
    coarsest = POINTS if rtol < COARSE else POINTS // 4
    ticker, points = Ticker(), int(min(max(coarsest, 20 / math.sqrt(rtol)), MOST_POINTS))
    while True:
        found = _bracket(programme, points, rtol, ticker)
        require_nearest_arrays()
        best = found if best is None else Bracket(max(best.lo, found.lo), min(best.hi, found.hi), points, found.steps)
        width = best.hi - best.lo
        if width <= rtol * best.hi or points >= MOST_POINTS:
            ticker.clear()
            return best
        wanted = points * math.sqrt(1.3 * width / (rtol * best.hi))  # the gap falls with the square of the spacing
        points = int(min(max(1.4 * points, wanted), 8 * points, MOST_POINTS))


@lru_cache(maxsize=256)
def curve(programme: Programme, points: int = POINTS) -> tuple[float, ...]:
    """Upper values for 1, 2, … epochs, as far as asked or until they settle (the last then stands for all that follow).

    Running backwards from the last step, one pass through the programme yields the value of every shorter one.
    """
    _check(programme)
    above, ticker, found = _Above(programme, grid(double_above(programme.farthest), points)), Ticker(), []
    for epoch in range(programme.epochs):
        for batch in reversed(range(programme.batches)):
            above.step(batch)
            ticker.say(f"dynamic programme: epoch {epoch + 1:,} of {programme.epochs:,}")
        above.close()
        found.append(float(above.W[0]))
        if programme.settles and above.W[-1] - above.W[0] <= SETTLED * above.W[0]:
            found.append(float(above.W[-1]))
            break
        if (epoch + 1) * programme.batches >= MOST_PROGRAMME_STEPS and epoch + 1 < programme.epochs:
            raise TooManySteps(programme.steps, "a dynamic programme")
    ticker.clear()
    return tuple(found)


def _check(programme: Programme) -> None:
    forgets = 2 / (1 - programme.q) if programme.q < 1 else programme.steps  # nothing settles sooner
    if (
        max(min(forgets, programme.steps), programme.batches) > MOST_PROGRAMME_STEPS
    ):  # a pass is always followed to its end
        raise TooManySteps(programme.steps, "a dynamic programme")
    if programme.rate * programme.batches > 1:
        raise ArgumentError("b", str(programme.rate), "more batches than a permutation has", "choose b <= n")
    if not LEAST_COST <= programme.cost <= MOST_COST:
        size = f"about 10^{math.floor(_log10(programme.cost))}"
        raise ArgumentError(
            "alpha",
            size,
            "the cost α(α−1)ηS_g²/(4σ²b²) of a hit lies outside 1e-100 to 1e100",
            "choose a less extreme order, sensitivity or noise",
        )


def _log10(x: Fraction) -> float:
    return (x.numerator.bit_length() - x.denominator.bit_length()) * math.log10(2)


def grid(farthest: float, points: int) -> Array:
    """From 0 to `farthest`, fine near 0 and ever coarser beyond the length of a jump."""
    bend = max(1.0, min(farthest, 2.0))
    t = np.linspace(0.0, math.asinh(farthest / bend), points)
    z = bend * np.sinh(t)
    z[-1] = farthest
    return z


def _bracket(programme: Programme, points: int, rtol: float, ticker: Ticker) -> Bracket:
    z = grid(double_above(programme.farthest), points)
    above, below = _Above(programme, z), _Below(programme, z)
    hi = lo = math.nan
    for epoch in range(programme.epochs):
        for batch in reversed(range(programme.batches)):
            above.step(batch)
            below.step(batch)
            done = (epoch + 1) * programme.batches - batch
            ticker.say(f"dynamic programme on {points} points: {done:,} of {programme.steps:,} steps")
        above.close()
        below.close()
        hi, lo = float(above.W[0]), max(0.0, float(below.W[0]))
        if programme.settles and above.W[-1] - hi <= min(SETTLED, 0.05 * rtol) * hi:
            # If nothing is hidden before the last `done` steps, at most the farthest distance is left when they begin.
            return Bracket(lo, float(above.W[-1]) if epoch + 1 < programme.epochs else hi, points, done)
        if done >= MOST_PROGRAMME_STEPS and done < programme.steps:
            ticker.clear()
            raise TooManySteps(programme.steps, "a dynamic programme")
    return Bracket(lo, hi, points, programme.steps)


class _Side:
    """What both sides share: the grid, the two next distances from every point, and the chances of a hit.

    Steps are taken from the last to the first. `_fresh` is W for a record not used before in its pass, `_used` for one
    that was; both are None where no step follows. `W` is that of the start of a pass.
    """

    def __init__(self, programme: Programme, z: Array) -> None:
        self.z = z
        chances = [programme.chance(batch) for batch in range(programme.batches)]
        self._chances = [
            (double_below(hit), double_above(hit), double_below(1 - hit), double_above(1 - hit)) for hit in chances
        ]
        self.W: Array = np.zeros_like(z)

    def _weights(self, batch: int, first_is_larger: Array) -> tuple[Array, Array]:
        """Bounds on the weight of the larger exponent."""
        hit_low, hit_high, miss_low, miss_high = self._chances[batch]
        return np.where(first_is_larger, hit_low, miss_low), np.where(first_is_larger, hit_high, miss_high)


class _Above(_Side):
    """One policy, followed exactly: the best for the chords, so a bound from above.

    z' = z_j + θ·h_j for whatever doubles j and θ in [0, 1] come out: any feasible choice is a valid one. Where
    rounding leaves z' above y, E(y) ≤ E(z') covers it, as E never falls.
    """

    def __init__(self, programme: Programme, z: Array) -> None:
        super().__init__(programme, z)
        self._cost = double_above(programme.cost)
        q = double_above(programme.q)
        self._missed, self._hit = z * (q * _UP), (z * (q * _UP) + 1.0) * _UP
        self._both = np.concatenate([self._missed, self._hit])
        self._widths = np.diff(z)
        self._used: Array | None = None
        self._fresh: Array | None = None

    def step(self, batch: int) -> None:
        used = self._used
        if batch:  # both in one call: how many there are matters more than how long they are
            self._used, first = np.split(self._removed(used, self._both), 2)
        else:
            first = self._removed(used, self._hit)
        second = self._removed(self._fresh, self._missed)
        larger = first >= second
        base, gap = np.minimum(first, second), np.abs(first - second) * _UP
        mixed = log_mix_bounds(self._weights(batch, larger), gap).above
        self._fresh = (base + mixed) * _UP

    def close(self) -> None:
        """Finish this pass: the steps before it belong to another."""
        assert self._fresh is not None
        self._used = self.W = self._fresh

    def _removed(self, W: Array | None, y: Array) -> Array:
        """A bound on E(y), from bounds `W` at the grid points (None after the last step, where z' = 0)."""
        if W is None:
            return y * y * (self._cost * _UP**2)
        slopes = np.diff(W) / self._widths / (2 * self._cost)
        turns = np.empty(2 * len(slopes))
        turns[0::2], turns[1::2] = self.z[:-1] + slopes, self.z[1:] + slopes
        ends = np.empty_like(turns)
        ends[0::2], ends[1::2] = self.z[:-1], self.z[1:]
        target = np.interp(y, np.maximum.accumulate(turns), ends)
        cell = np.clip(np.searchsorted(self.z, target, side="right") - 1, 0, len(slopes) - 1)
        start, width = self.z[cell], self._widths[cell]
        theta = np.clip((target - start) / width, 0.0, 1.0)
        away = np.maximum((y - start) - theta * width + y * (8 * UNIT), 0.0)
        chord = (1.0 - theta) * W[cell] + theta * W[cell + 1]
        return (away * away * self._cost + chord) * (1 + 16 * UNIT)


class _Below(_Side):
    """Lines W_j + β_j·(z − z_j) that lie below W wherever a distance can be.

    For one line the least of c(y − z')² + line over z' ≥ 0 is known: h(y) = line(y) − β²/(4c), or line(0) + cy² where
    y < β/(2c). It is convex, so its tangents bound E from below, and the log-mixture of two tangents is convex again.
    """

    def __init__(self, programme: Programme, z: Array) -> None:
        super().__init__(programme, z)
        self._cost, self._q = double_below(programme.cost), float(programme.q)
        q = double_below(programme.q)
        self._missed, self._hit = z * (q * _DOWN), z * (q * _DOWN) + 1.0
        self._hit *= _DOWN
        self._both = np.concatenate([self._missed, self._hit])
        self._span = 1.01 * float(z[-1] if programme.settles else 2 * programme.steps)
        """Lines are valid up to here: from no distance on the grid do the steps lead farther."""
        self._used: tuple[Array, Array] | None = None
        self._fresh: tuple[Array, Array] | None = None

    def step(self, batch: int) -> None:
        used = self._used
        if batch:
            (value, first), (slope, rise) = (np.split(part, 2) for part in self._removed(used, self._both))
            self._used = value - 32 * UNIT * slope * self._span, self._q * slope
        else:
            first, rise = self._removed(used, self._hit)
        second, climb = self._removed(self._fresh, self._missed)
        larger = first >= second
        base, gap = np.minimum(first, second), np.abs(first - second) * _DOWN
        mixed = log_mix_bounds(self._weights(batch, larger), gap)
        top, bottom = np.where(larger, rise, climb), np.where(larger, climb, rise)
        slope = self._q * (mixed.share_below * top + (1 - mixed.share_below) * bottom)
        # A line turned about its point by a wrong slope stays below if it is lowered by the error times its length.
        doubt = (mixed.share_above - mixed.share_below + 32 * UNIT) * (top + bottom) * self._span
        value = base + mixed.below
        self._fresh = value - 4 * UNIT * (np.abs(base) + mixed.below) - 2 * doubt, slope

    def close(self) -> None:
        """Finish this pass: the steps before it belong to another."""
        assert self._fresh is not None
        self._used, self.W = self._fresh, self._fresh[0]

    def _removed(self, lines: tuple[Array, Array] | None, y: Array) -> tuple[Array, Array]:
        """A value below E(y) and the slope of a line through it that stays below E."""
        if lines is None:
            return y * y * (self._cost * _DOWN**2), 2 * self._cost * y
        W, beta = lines
        turn = beta / (2 * self._cost)
        after = np.clip(np.searchsorted(np.maximum.accumulate(self.z + turn), y), 1, len(W) - 1)
        best: tuple[Array, Array] | None = None
        for j in (after - 1, after):
            inside = y >= turn[j]
            away, paid = y - self.z[j], np.where(inside, beta[j] * turn[j] / 2, 0.0)
            value = np.where(inside, W[j] + beta[j] * away - paid, W[j] - beta[j] * self.z[j] + self._cost * y * y)
            value -= 16 * UNIT * (np.abs(W[j]) + beta[j] * (y + self.z[j]) + paid + self._cost * y * y * ~inside)
            slope = np.where(inside, beta[j], 2 * self._cost * y)
            if best is None:
                best = value, slope
            else:
                better = value > best[0]
                best = np.where(better, value, best[0]), np.where(better, slope, best[1])
        assert best is not None
        return best
