"""The exact law of small runs whose steps differ, with real records: every order of the records is enumerated.

θ ← (1 − ηλ)θ − (η/d)·Σ pulls of the batch + N(0, v), a pull being what a record adds that does not depend on θ: a
quadratic loss with its curvature in λ, or a gradient that is always clipped. Given the orders, all iterates are jointly
Gaussian; of what is released a linear function is looked at, which tells no more. Written from the algorithm alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np


@dataclass(frozen=True)
class Step:
    """One update: learning rate, variance of its noise, divisor, and the ranks of the records in its batch."""

    eta: float
    variance: float
    divisor: float
    ranks: tuple[int, ...]
    epoch: int


@dataclass(frozen=True)
class Law:
    """A mixture of Gaussians of one variance, on the line, by the means."""

    means: np.ndarray
    chances: np.ndarray
    deviation: float

    def density(self, x: np.ndarray) -> np.ndarray:
        z = (x[:, None] - self.means) / self.deviation
        return np.exp(-(z**2) / 2) @ self.chances / (self.deviation * math.sqrt(2 * math.pi))


def orders(scheme: str, n: int, epochs: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """For every epoch the order of the records; all are as likely."""
    same = tuple(range(n))
    if scheme in ("fixed", "full_batch"):
        yield (same,) * epochs
    elif scheme == "shuffle":
        yield from ((order,) * epochs for order in permutations(same))
    else:
        yield from product(permutations(same), repeat=epochs)


def law(
    scheme: str, steps: Sequence[Step], lam: float, pulls: Sequence[float], seen: dict[int, float], start: float = 0.0
) -> Law:
    """The law of Σ weight·iterate over what is `seen`, iterates being numbered by the steps before them."""
    n, epochs, T = len(pulls), 1 + max(step.epoch for step in steps), len(steps)
    passes = np.zeros(T)  # how much of what enters in a step is left in what is seen
    weight = 0.0
    for t in range(T - 1, -1, -1):
        weight += seen.get(t + 1, 0.0)
        passes[t] = weight
        weight *= 1 - steps[t].eta * lam
    noise = math.sqrt(sum(passes[t] ** 2 * steps[t].variance for t in range(T)))
    found: dict[float, float] = {}
    count = 0
    for chosen in orders(scheme, n, epochs):
        mean = weight * start
        for t, step in enumerate(steps):
            order = chosen[step.epoch]
            mean -= passes[t] * step.eta / step.divisor * sum(pulls[order[rank]] for rank in step.ranks)
        found[round(mean, 12)] = found.get(round(mean, 12), 0.0) + 1
        count += 1
    means = np.array(list(found))
    return Law(means, np.array(list(found.values())) / count, noise)


def delta(first: Law, second: Law, epsilon: float) -> float:
    """The larger of the two directions of ∫(p − e^ε·q)₊, by the trapezoidal rule."""
    assert math.isclose(first.deviation, second.deviation)
    means = np.concatenate([first.means, second.means])
    x = np.linspace(means.min() - 9 * first.deviation, means.max() + 9 * first.deviation, 6001)
    p, q, scale = first.density(x), second.density(x), math.exp(epsilon)
    return max(float(np.trapezoid(np.maximum(a - scale * b, 0), x)) for a, b in ((p, q), (q, p)))
