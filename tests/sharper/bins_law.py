"""Exact laws of small runs whose records pick their batches by themselves, or are permuted: by densities on a grid.

One coordinate, real records: losses whose clipped gradient is min(max(κ(θ − x), −C), C), so linear, kinked or constant
where it matters. The other records' batches are given, which makes the two laws easier to tell apart, not harder.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SmallRun:
    """θ ← (1 − ηλ)θ − η·Σ(clipped gradients of the batch) + N(0, v); `others[t]` are the records of step t's batch."""

    count: int
    epochs: int
    factor: float
    kappa: float
    clip: float
    variance: float
    record: float
    others: tuple[tuple[float, ...], ...]
    start: float = 0.0

    @property
    def cost(self) -> float:
        """μ² of one use of the record."""
        return self.clip**2 / self.variance

    def moved(self, theta: np.ndarray, step: int, *, uses: bool) -> np.ndarray:
        found = self.factor * theta
        for x in (*self.others[step], *([self.record] if uses else [])):
            found = found - np.clip(self.kappa * (theta - x), -self.clip, self.clip)
        return found


def random_run(rng: np.random.Generator, *, kinked: bool) -> SmallRun:
    """So few records, or so flat losses, that the update of every batch is q-Lipschitz."""
    count, epochs = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    factor, clip = float(rng.uniform(0.4, 1)), 1.0
    others = int(rng.integers(0, 4))
    kappa = 2 * factor / (others + 1) * float(rng.uniform(0.3, 1)) if kinked else 0.01
    places = rng.integers(0, count, size=(epochs, others))
    points = rng.uniform(-3, 3, size=others)
    batches = tuple(
        tuple(float(x) for x, place in zip(points, row, strict=True) if place == batch)
        for row in places
        for batch in range(count)
    )
    spread = float(np.exp(rng.uniform(-0.7, 1.5)))
    far = float(rng.uniform(-3, 3)) if kinked else 1e4
    return SmallRun(count, epochs, factor, kappa, clip, spread**2, far, batches, float(rng.uniform(-1, 1)))


def densities(run: SmallRun, points: int = 900) -> tuple[np.ndarray, np.ndarray, float]:
    """Densities of the last iterate with and without the record, on a grid, and its step."""
    steps = run.count * run.epochs
    reach = (
        abs(run.start)
        + steps * run.clip * (1 + max(map(len, run.others), default=0))
        + 9 * math.sqrt(run.variance * sum(run.factor ** (2 * i) for i in range(steps)))
    )
    grid, width = np.linspace(-reach, reach, points, retstep=True)

    def kernel(means: np.ndarray) -> np.ndarray:
        return np.exp(-((grid[:, None] - means[None, :]) ** 2) / (2 * run.variance)) / math.sqrt(
            2 * math.pi * run.variance
        )

    waiting: np.ndarray | None = None
    without = used = np.zeros(points)
    for step in range(steps):
        left = run.count - step % run.count
        if waiting is None:  # the first step starts from a point
            at = np.array([run.start])
            miss, hit = (kernel(run.moved(at, step, uses=uses))[:, 0] for uses in (False, True))
            without, waiting, used = miss, miss * (1 - 1 / left), hit / left
            continue
        if left == run.count:
            waiting, used = waiting + used, np.zeros(points)
        miss, hit = (kernel(run.moved(grid, step, uses=uses)) * width for uses in (False, True))
        without = miss @ without
        waiting, used = miss @ waiting * (1 - 1 / left), miss @ used + hit @ waiting / left
    assert waiting is not None
    return waiting + used, without, float(width)


def renyi(first: np.ndarray, second: np.ndarray, width: float, order: float) -> float:
    """R_order of two densities on a grid."""
    some = (first > 1e-280) & (second > 1e-280)
    logs = order * np.log(first[some]) + (1 - order) * np.log(second[some])
    return float(np.logaddexp.reduce(logs) + math.log(width)) / (order - 1)


def hockey_stick(first: np.ndarray, second: np.ndarray, width: float, epsilon: float) -> float:
    """∫(first − e^ε·second)₊."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum() * width)
