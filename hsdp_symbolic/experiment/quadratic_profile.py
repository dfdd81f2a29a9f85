"""The profile of noisy descent on a quadratic loss, in float64: what no bound on (ε, δ) may fall below.

For ℓ(θ; x) = λθ²/2 − xθ the last iterate is Gaussian given the batches; the means of the two datasets differ by
s·z, where z = Σ q^(T−1−t) over the steps t that use the record. So one law is N(0, V) and the other the mixture of
N(s·z, V) over z. Its density is found from its characteristic function, which is a product over steps or epochs, by one
Fourier transform: errors are of the order of 1e-15, far below any δ of interest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..meaning import Scheme
from ..setting import Setting

if TYPE_CHECKING:
    from ..setting.arrays import Array

POINTS = 1 << 17
_REACH = 12.0
"""How many standard deviations around the means the densities are followed."""
_FARTHEST = 60.0
"""The farthest mean that is followed; what lies beyond has no weight in runs that are private at all."""
_HIGHEST = 12.0
"""The highest frequency that e^(−u²/2), the transform of N(0, 1), leaves anything of."""
_NEGLIGIBLE = 1e-18
_ERROR = Fraction(1, 10**13)
"""More than δ is wrong by in float64."""


@dataclass(frozen=True)
class QuadraticProfile:
    """Two densities on one grid: of N(0, V), and of the mixture; in units in which V is 1."""

    step: float
    plain: Array
    mixed: Array

    def delta(self, epsilon: float) -> float:
        """∫(μ − e^ε·ν)₊, the larger of both directions."""
        scale = math.exp(epsilon)
        one, other = _positive(self.mixed - scale * self.plain), _positive(self.plain - scale * self.mixed)
        return max(one, other) * self.step

    def epsilon(self, delta: float) -> float:
        """The least ε ≥ 0 at which δ is at most `delta`, by bisection."""
        low, high = 0.0, 1.0
        if self.delta(low) <= delta:
            return 0.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
            if high > 700:
                raise ArgumentError("delta", delta, "too small for these densities", "give a larger delta")
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def epsilon_below(self, delta: int | Fraction) -> float:
        """At most the ε at `delta`: it is taken at a δ that is larger by more than float64 is wrong by."""
        return self.epsilon(float(delta + _ERROR))


def quadratic_profile(run: Setting, scheme: Scheme | str, *, steps: int | None = None) -> QuadraticProfile:
    """The two laws of the last iterate, for batches made by `scheme`; the record is replaced, or added under Poisson.

    S_g is what it moves a gradient by. `steps` is for schemes that draw afresh; else K whole epochs are run.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> round(quadratic_profile(run, "without_replacement").epsilon(1e-5), 4)
    0.1268
    """
    import numpy as np

    scheme = Scheme(scheme)
    if scheme is Scheme.NONE or (steps is not None and not scheme.draws_afresh):
        raise ArgumentError("steps", steps, f"{scheme or 'no scheme'} has whole epochs", "leave it out, or draw afresh")
    weights = _Weights(run, scheme, steps)
    spread = math.sqrt(weights.variance)
    length = (min(weights.farthest / spread, _FARTHEST) + 2 * _REACH) * 1.05
    step, begin = length / POINTS, round(_REACH * POINTS / length)
    frequency = 2 * math.pi * np.fft.fftfreq(POINTS, step)
    low = np.abs(frequency) < _HIGHEST
    transform = np.zeros(POINTS, dtype=complex)
    transform[low] = np.exp(-(frequency[low] ** 2) / 2) * weights.characteristic(frequency[low] / spread)
    mixed = np.roll(np.real(np.fft.fft(transform)) / length, begin)
    place = (np.arange(POINTS) - begin) * step
    plain = np.exp(-(place**2) / 2) / math.sqrt(2 * math.pi)
    return QuadraticProfile(step, plain, np.maximum(mixed, 0.0))


def _positive(values: Array) -> float:
    """The integral of the positive part of a smooth function, in units of the grid's step.

    A sum over grid points is exact but where the function changes its sign, from a to −b: there the area of half a cell
    is too much by ab/(a + b)/2, and, by Euler and Maclaurin, the rest too little by a twelfth of the slope a + b.
    """
    import numpy as np

    total = np.sum(np.maximum(values, 0.0))
    left, right = values[:-1], values[1:]
    at = np.nonzero(left * right < 0)[0]
    first, second = np.abs(left[at]), np.abs(right[at])
    slope = first + second
    return float(total + np.sum(slope / 12 - first * second / slope / 2))


class _Weights:
    """z, the sum of what is left at the end of every use of the record: q^(T−1−t) of one in step t."""

    def __init__(self, run: Setting, scheme: Scheme, steps: int | None) -> None:
        self._scheme, self._rate = scheme, float(run["b"] / run["n"])
        self._batches = 1 if scheme is Scheme.FULL_BATCH else int(run["n"] // run["b"])
        self._steps = int(run["K"]) * self._batches if steps is None else steps
        self._factor = float(1 - run["eta"] * run["lam"])
        size = run["n"] if scheme is Scheme.FULL_BATCH else run["b"]
        cost = float(run["eta"] * run["S_g"] ** 2 / (2 * run["sigma2"] * size**2))
        self.variance = _powers(self._factor**2, self._steps) / cost
        """Of the last iterate, in units of one use."""

    @property
    def _epochs(self) -> int:
        return self._steps // self._batches

    @property
    def farthest(self) -> float:
        if self._scheme.draws_afresh:
            return _powers(self._factor, self._steps)
        return _powers(self._factor**self._batches, self._epochs)

    def characteristic(self, frequency: Array) -> Array:
        """The mean of e^(iuz)."""
        import numpy as np

        places = self._factor ** np.arange(self._batches - 1, -1, -1.0)
        whole = _powers(self._factor**self._batches, self._epochs)
        match self._scheme:
            case Scheme.FULL_BATCH:
                return _mean_of(frequency, np.array([whole]))
            case Scheme.FIXED:  # the first batch: for that the law is exactly what bounds allow
                return _mean_of(frequency, places[:1] * whole)
            case Scheme.SHUFFLE:
                return _mean_of(frequency, places * whole)
        found: Array = np.ones(frequency.shape, dtype=complex)
        drawn = self._scheme.draws_afresh
        scale, shrinks = 1.0, self._factor if drawn else self._factor**self._batches
        for _ in range(self._steps if drawn else self._epochs):
            if scale < _NEGLIGIBLE:
                break
            found *= (
                1 - self._rate + self._rate * np.exp(1j * frequency * scale)
                if drawn
                else _mean_of(frequency, places * scale)
            )
            scale *= shrinks
        return found


def _mean_of(frequency: Array, places: Array) -> Array:
    """The mean of e^(iuz) over places that are all as likely."""
    import numpy as np

    total: Array = np.zeros(frequency.shape, dtype=complex)
    for place in places:
        total += np.exp(1j * frequency * place) / len(places)
    return total


def _powers(base: float, count: int) -> float:
    """1 + x + … + x^(count − 1)."""
    return float(count) if base == 1 else -math.expm1(count * math.log(base)) / (1 - base)
