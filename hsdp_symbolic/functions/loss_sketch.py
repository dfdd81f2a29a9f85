"""Profiles of sampled Gaussians in plain doubles: quick, good to a few parts in a thousand, and no bound.

They serve NumPy views, and searches for the best choice of what may be chosen freely. Losses are convolved by Fourier
transforms, and weighted by e^(tilt·loss) first, so that the losses that matter are not lost among rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import OutsideDoubleRange
from ..setting.arrays import Array
from .discounted_hits import discounted_hits
from .sampled_losses import Pair, farthest, spread

FINENESS = 0.12
"""The step of the grid in standard deviations of the loss of one step."""
MOST_POINTS = 2**20
LARGEST_LOSS = 600.0
"""e^loss is a double, with room to spare."""
TAIL = 40
"""Losses of single steps beyond which less than 2^−this is left are taken for the last before."""
STAIRS = 16
"""Stairs in which shares of noise go up, in a sketch."""
NODES = 40
"""Distances of earlier hits that are told apart."""


def erfc(x: Array) -> Array:
    """The complementary error function of every element."""
    return np.fromiter(map(math.erfc, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


@dataclass(frozen=True)
class Sketched:
    """Masses at multiples of `step`, from `first` on."""

    step: float
    first: int
    masses: Array

    @property
    def losses(self) -> Array:
        return self.step * (self.first + np.arange(len(self.masses)))

    def profile(self) -> tuple[Array, Array]:
        """ε at the grid points, and δ there."""
        above = np.cumsum(self.masses[::-1])[::-1]
        away, carry = np.empty_like(above), 0.0  # Σ m_j·e^(ε − L_j) over L_j ≥ ε, in stretches that overflow nowhere
        stretch = max(1, int(300 / self.step))
        for stop in range(len(above), 0, -stretch):
            start = max(0, stop - stretch)
            growth = np.exp(self.step * np.arange(stop - start))
            inside = np.cumsum((self.masses[start:stop] / growth)[::-1])[::-1]
            away[start:stop] = (inside + carry * math.exp(-self.step * (stop - start))) * growth
            carry = float(away[start])
        return self.losses, above - away


def sketch_step(pair: Pair, rate: float, mu: float, step: float) -> Sketched:
    """One sampled Gaussian, by chords between the values of its profile."""
    reach = max(4, math.ceil(farthest(rate, mu, TAIL) / step))
    if reach > MOST_POINTS or reach * step > LARGEST_LOSS:
        raise OutsideDoubleRange("the privacy loss of a step, beside that of most steps,")
    least = 0
    if pair is not Pair.BOTH:
        least = reach if rate == 1 else min(reach, math.ceil(-math.log1p(-rate) / step) + 1)
    places = np.arange(-least, reach + 1)
    growth = np.exp(step * places)
    odds = np.expm1(step * places) / rate + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.log(odds) / (mu * math.sqrt(2))
    value = np.where(
        odds > 0,
        rate * (erfc(np.where(odds > 0, at, 0) - mu / math.sqrt(8)) / 2)
        - rate * odds * (erfc(np.where(odds > 0, at, 0) + mu / math.sqrt(8)) / 2),
        1 - growth,
    )
    fall = -np.diff(value)
    rise = fall / math.expm1(step)
    masses = np.maximum(np.r_[0.0, fall + rise] - np.r_[rise, 0.0], 0.0)
    masses[0] = 1 - value[0] - rise[0] * (2 if pair is Pair.BOTH else 1)
    masses[-1] += value[-1]
    mirrored = masses / growth
    if pair is Pair.REMOVE:
        return Sketched(step, -least, masses)
    if pair is Pair.ADD:
        return Sketched(step, -reach, mirrored[::-1])
    return Sketched(step, -reach, np.r_[mirrored[:0:-1], masses])


UNTILTED = 1e-8
"""A δ from this on is not lost among rounding errors, even without weights."""
MOST_TILTED = 600.0
"""Exponents up to this overflow no double."""


def _tilted(parts: Sequence[tuple[Sketched, int]], more: tuple[Array, Array], tilt: float) -> tuple[float, ...]:
    """log E e^(tilt·loss) of the composition, and mean and variance of losses weighted so."""
    found = np.zeros(3)
    logs = [(count, np.log(np.maximum(part.masses, 1e-320)) + tilt * part.losses, part.losses) for part, count in parts]
    spread = np.log(np.maximum(more[0], 1e-320)) + tilt * (1 + tilt) / 2 * more[1]
    for count, exponents, means in (*logs, (1, spread, (tilt + 0.5) * more[1])):
        top = float(exponents.max())
        weights = np.exp(exponents - top)
        total = float(weights.sum())
        mean = float(weights @ means) / total
        found += count * np.array([top + math.log(total), mean, float(weights @ (means - mean) ** 2) / total])
    weights = np.exp(spread - spread.max())
    found[2] += float(weights @ more[1] / weights.sum())
    return tuple(found.tolist())


def _tilt(parts: Sequence[tuple[Sketched, int]], more: tuple[Array, Array], delta: float) -> float:
    """The tilt whose losses are about as rare as `delta`, by Chernoff's bound: log δ = K(t) − t·K'(t)."""
    reach = max(part.step * (part.first + len(part.masses)) for part, _ in parts)
    low, high = 0.0, MOST_TILTED / reach
    for _ in range(30):
        middle = (low + high) / 2
        moment, mean, _ = _tilted(parts, more, middle)
        low, high = (middle, high) if moment - middle * mean > math.log(delta) else (low, middle)
    return low


def sketch_composition(parts: Sequence[tuple[Sketched, int]], more: tuple[Array, Array], delta: float) -> Sketched:
    """The composition of `parts`, each so often, with a mixture of Gaussians: `more`, their chances and costs μ².

    It is best where δ is about `delta`.
    """
    step = parts[0][0].step
    reach = max(part.step * (part.first + len(part.masses)) for part, _ in parts)
    deviations = math.sqrt(2 * math.log(1 / min(delta, 0.1)))
    _, mean, variance = _tilted(parts, more, 0.0)
    half = abs(mean) + (deviations + 6) * math.sqrt(variance) + reach
    tilt = _tilt(parts, more, delta) if delta < UNTILTED else 0.0
    if tilt:
        _, mean, variance = _tilted(parts, more, tilt)
        half = max(half, abs(mean) + 3 * math.sqrt(variance))
    size = min(MOST_POINTS, 2 ** math.ceil(math.log2(2 * half / step)))
    frequencies = 2 * np.pi * np.arange(size // 2 + 1) / (size * step)
    exponent = tilt - 1j * frequencies
    scale = tilt * (1 + tilt) / 2 * float(more[1].max())  # what a heavy tilt makes of the widest Gaussian may overflow
    total = np.exp(np.outer(exponent * (1 + exponent) / 2, more[1]) - scale) @ more[0]
    for part, count in parts:
        weights = part.masses * np.exp(tilt * part.losses)
        scale += count * math.log(weights.sum())
        wrapped = np.bincount((part.first + np.arange(len(weights))) % size, weights / weights.sum(), minlength=size)
        total = total * np.fft.rfft(wrapped) ** count
    masses = np.roll(np.fft.irfft(total, size), size // 2)
    losses = step * (np.arange(size) - size // 2)
    with np.errstate(over="ignore", divide="ignore"):
        masses = np.exp(np.log(np.maximum(masses, 0.0)) + (scale - tilt * losses))
    masses[~np.isfinite(masses)] = 0.0
    return Sketched(step, -(size // 2), masses)


NOTHING = np.ones(1), np.zeros(1)
"""A Gaussian of no cost."""
NO_LOSS = Sketched(1.0, 0, np.ones(1))
"""Of two equal distributions."""


@lru_cache(maxsize=256)
def sketch_repeated(pair: Pair, rate: Fraction, cost: Fraction, steps: int, delta: float = 1e-5) -> Sketched:
    """So many steps of one sampled Gaussian."""
    step = FINENESS * spread(rate, cost)
    return sketch_composition([(sketch_step(pair, float(rate), math.sqrt(cost), step), steps)], NOTHING, delta)


@lru_cache(maxsize=64)
def distances(rate: Fraction, factor: Fraction, count: int) -> tuple[Array, Array]:
    """Chances and values of the squared distance to which so many revealed steps lead."""
    hits = discounted_hits(rate, factor, count, above=True, finest=2.0**-6, tail=TAIL)
    values = hits.step * np.arange(len(hits.chances))
    width = max(1, math.ceil(len(values) / NODES))
    starts = np.arange(0, len(values), width)
    chances = np.add.reduceat(hits.chances, starts)
    squares = np.add.reduceat(hits.chances * values**2, starts) / np.maximum(chances, 1e-300)
    return chances, squares


@lru_cache(maxsize=256)
def sketch_secret(
    pair: Pair,
    rate: Fraction,
    cost: Fraction,
    factor: Fraction,
    revealed: int,
    window: int,
    share: float,
    delta: float = 1e-5,
) -> Sketched:
    """As `secret_losses`, with fewer stairs."""
    q, stride = float(factor), -(-window // STAIRS)
    step = FINENESS * spread(rate, cost)
    parts, spare = [], 0.0
    for start in range(0, window, stride):
        many = min(stride, window - start)
        noise = share / max(q**start, share)
        if noise >= 1:
            parts.append((1.0, window - start))
            break
        parts.append((noise, many))
        spare += (1 - noise) * q ** (2 * start) * (many if q == 1 else (1 - q ** (2 * many)) / (1 - q * q))
    chances, squares = distances(rate, factor, revealed)
    drift = float(cost) * q ** (2 * window) / spare
    kinds = [(sketch_step(pair, float(rate), math.sqrt(float(cost) / noise), step), many) for noise, many in parts]
    return sketch_composition(kinds, (chances, drift * squares), delta)


def epsilon_at(profile: Sketched, delta: float) -> float:
    """About the ε ≥ 0 at which δ is `delta`."""
    epsilons, deltas = profile.profile()
    inside = epsilons >= 0
    epsilons, deltas = epsilons[inside], deltas[inside]
    place = int(np.argmax(deltas <= delta)) if np.any(deltas <= delta) else len(deltas) - 1
    if place == 0:
        return 0.0
    pair = np.log(np.maximum(deltas[place - 1 : place + 1], 1e-320))
    share = (pair[0] - math.log(delta)) / (pair[0] - pair[1]) if pair[0] > pair[1] else 1.0
    return float(epsilons[place - 1] + min(max(share, 0.0), 1.0) * profile.step)


def delta_at(profile: Sketched, epsilon: float) -> float:
    """About δ at ε."""
    losses = profile.losses
    beyond = losses > epsilon
    found = float(profile.masses[beyond] @ -np.expm1(epsilon - losses[beyond]))
    return min(1.0, max(found, -math.expm1(epsilon) if epsilon < 0 else 0.0))


SEEN = 1e-11
"""A δ below this is lost among the rounding errors of a sketch."""


def sketch_over(
    sketches: Callable[..., Sequence[Sketched]], certified: Callable[..., float], arguments: Sequence[Any]
) -> Array:
    """The largest δ of some sketches, over arrays, the last of them ε; certified where it is too small for a sketch."""
    given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
    found = []
    for row in zip(*(part.ravel().tolist() for part in given), strict=True):
        *others, epsilon = map(Fraction, row)
        value = max(delta_at(sketch, float(epsilon)) for sketch in sketches(*others))
        found.append(value if value >= SEEN else certified(*others, epsilon))
    return np.array(found, dtype=np.float64).reshape(given[0].shape)
