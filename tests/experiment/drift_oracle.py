"""The bounds of drift, profiles and secret hits once more, in doubles: a second opinion on the certified ones.

Written from the mathematics alone (Gaussian composition, isotonic regression, subsampling, privacy loss distributions);
it knows none of the package's formulas. `factor` is the Lipschitz constant of an update, `mu` what a hit costs at once
(jump over noise), `rate` the chance of a hit. Grids are rounded so that values come out above the truth, by about 1e-5
of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np

Profile = Callable[[float], float]
"""δ as a function of ε, for every real ε."""


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian(mu: float) -> Profile:
    """N(0, 1) against N(mu, 1)."""

    def delta(epsilon: float) -> float:
        if mu == 0 or epsilon / mu > 35 + mu:
            return max(0.0, 1 - math.exp(epsilon))
        return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)

    return delta


def gaussians(mu: float, epsilons: np.ndarray) -> np.ndarray:
    """The same for many ε; mu > 0."""
    erfc = np.frompyfunc(math.erfc, 1, 1)
    first, second = (erfc((epsilons / mu + half) / math.sqrt(2)).astype(float) / 2 for half in (-mu / 2, mu / 2))
    return np.maximum(first - np.exp(np.minimum(epsilons, 700)) * second, np.maximum(0.0, -np.expm1(epsilons)))


def least_cost(factors: Sequence[float], variances: Sequence[float], jumps: Sequence[float]) -> float:
    """μ² of the drift lemma: for each step its Lipschitz constant, noise and jump (0 without a hit).

    Isotonic regression of the slopes, by pooling neighbours; what a factor of 0 wipes out costs nothing.
    """
    after, blocks = 1.0, []
    for factor, variance, jump in reversed(list(zip(factors, variances, jumps, strict=True))):
        width, height = variance * after * after, after * jump
        if width:
            blocks.append((width, height))
        after *= factor
    pooled: list[tuple[float, float]] = []
    for width, height in reversed(blocks):
        pooled.append((width, height))
        while len(pooled) > 1 and pooled[-2][1] * pooled[-1][0] >= pooled[-1][1] * pooled[-2][0]:
            last = pooled.pop()
            pooled[-1] = (pooled[-1][0] + last[0], pooled[-1][1] + last[1])
    return math.fsum(height * height / width for width, height in pooled)


def uniform_cost(factor: float, hits: Sequence[int]) -> float:
    """U: μ² in units of the cost of a hit."""
    return least_cost([factor] * len(hits), [1.0] * len(hits), list(hits))


def pattern(batches: int, places: Sequence[int | None]) -> list[int]:
    """A hit at one place of each epoch, or at none."""
    return [int(j == place) for place in places for j in range(batches)]


def fixed_costs(factor: float, batches: int, epochs: int) -> list[float]:
    """U for each place of the record."""
    return [uniform_cost(factor, pattern(batches, [j] * epochs)) for j in range(batches)]


def shuffle_costs(factor: float, n: int, b: int, epochs: int) -> list[tuple[float, float]]:
    """Chances and U, for one permutation."""
    found = [(b / n, cost) for cost in fixed_costs(factor, n // b, epochs)]
    return [*found, (1 - b * (n // b) / n, 0.0)]


def reshuffle_costs(factor: float, n: int, b: int, epochs: int, known: int) -> list[tuple[float, float]]:
    """Chances and U if the places in the last `known` epochs are averaged over, and the earlier ones taken as last."""
    batches = n // b
    places: list[tuple[float, int | None]] = [(b / n, j) for j in range(batches)]
    if b * batches < n:
        places.append((1 - b * batches / n, None))
    found = []
    for chosen in product(places, repeat=known):
        hits = pattern(batches, [batches - 1] * (epochs - known) + [place for _, place in chosen])
        found.append((math.prod(chance for chance, _ in chosen), uniform_cost(factor, hits)))
    return found


def mixed_delta(costs: Sequence[tuple[float, float]], mu: float, epsilon: float) -> float:
    return math.fsum(chance * gaussian(mu * math.sqrt(cost))(epsilon) for chance, cost in costs)


def mixed_divergence(costs: Sequence[tuple[float, float]], mu: float, alpha: float) -> float:
    terms = [chance * math.exp(alpha * (alpha - 1) * mu * mu * cost / 2) for chance, cost in costs]
    return math.log(math.fsum(terms)) / (alpha - 1)


# Random batches: profiles of one step, their privacy loss distributions, and secret hits.


def sampled(rate: float, mu: float) -> Profile:
    """C_p(G(μ)): one record of a batch drawn without replacement, replaced; both directions alike."""
    whole = gaussian(mu)

    def delta(epsilon: float) -> float:
        if epsilon < 0:
            return 1 - math.exp(epsilon) + math.exp(epsilon) * delta(-epsilon)
        return rate * whole(math.log1p(math.expm1(epsilon) / rate))

    return delta


def removed(rate: float, mu: float) -> Profile:
    """(1 − p)·N(0, 1) + p·N(μ, 1) against N(0, 1): a record drawn with chance p, and then removed."""
    whole = gaussian(mu)

    def delta(epsilon: float) -> float:
        inner = 1 + math.expm1(epsilon) / rate
        return 1 - math.exp(epsilon) if inner <= 0 else rate * whole(math.log(inner))

    return delta


def added(rate: float, mu: float) -> Profile:
    """The other direction: N(0, 1) is more than e^ε times the mixture up to some x."""

    def delta(epsilon: float) -> float:
        if mu == 0:
            return max(0.0, 1 - math.exp(epsilon))
        inner = (math.exp(-epsilon) - (1 - rate)) / rate
        if inner <= 0:
            return 0.0
        x = math.log(inner) / mu + mu / 2
        return normal(x) - math.exp(epsilon) * ((1 - rate) * normal(x) + rate * normal(x - mu))

    return delta


class Losses:
    """A privacy loss distribution on a grid: chances at the losses `low`, `low` + h, …, and of an infinite loss.

    Between points of the grid the profile is taken as linear in e^ε, so above what it is; `far` is where it ends.
    """

    def __init__(self, low: float, step: float, chances: np.ndarray, infinite: float) -> None:
        self.low, self.step, self.chances, self.infinite = low, step, chances, infinite

    @classmethod
    def none(cls, step: float) -> Losses:
        return cls(0.0, step, np.ones(1), 0.0)

    @classmethod
    def of(cls, profile: Profile, step: float, far: float) -> Losses:
        count = math.ceil(far / step)
        losses = step * np.arange(-count, count + 1)
        knots = np.concatenate([[0.0], np.exp(losses)])
        values = np.array([1.0, *(profile(loss) for loss in losses.tolist())])
        slopes = np.concatenate([np.diff(values) / np.diff(knots), [0.0]])
        chances = knots[1:] * np.diff(slopes)
        return cls(float(losses[0]), step, np.maximum(chances, 0.0), float(values[-1]))

    def and_then(self, other: Losses) -> Losses:
        chances = np.convolve(self.chances, other.chances)
        infinite = 1 - (1 - self.infinite) * (1 - other.infinite)
        return Losses(self.low + other.low, self.step, chances, infinite)._trimmed()

    def _trimmed(self) -> Losses:
        """What is too rare to matter: to the infinite loss at the far end, left out at the near one."""
        sums = np.cumsum(self.chances)
        first = int(np.searchsorted(sums, 1e-17))
        last = int(np.searchsorted(sums, sums[-1] - 1e-13)) + 1
        infinite = self.infinite + float(self.chances[last:].sum())
        chances = self.chances[first:last].copy()
        chances[0] += float(self.chances[:first].sum())  # a little larger a loss than it was
        return Losses(self.low + first * self.step, self.step, chances, infinite)

    def delta(self, epsilon: float, then: float = 0.0) -> float:
        """The profile at ε, composed with a Gaussian of this μ."""
        losses = self.low + self.step * np.arange(len(self.chances))
        if then == 0:
            gained = np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))
        else:
            gained = gaussians(then, epsilon - losses)
        return float(self.chances @ gained) + self.infinite


Pair = Callable[[float, float], Profile]
MOST_DISTANCES = 128
"""Up to so many distances between the runs are told apart; more are rounded up."""


@cache
def composed(pair: Pair, rate: float, mus: tuple[float, ...], *, fineness: float = 400) -> Losses:
    """One step for each μ, one after the other."""
    largest = max(mus, default=1.0)
    far = largest * largest / 2 + 7 * largest
    step = min(far, largest) / fineness
    found = Losses.none(step)
    once: dict[float, Losses] = {}
    for mu in mus:
        if mu not in once:
            once[mu] = Losses.of(pair(rate, mu), step, far)
        found = found.and_then(once[mu])
    return found


def shares(factor: float, window: int, share: float) -> list[float]:
    """The share of the noise that hides the hit, i steps before the end."""
    return [1.0 if share >= factor**i else share / factor**i for i in range(window)]


def drifts(
    rate: float, mu: float, factor: float, revealed: int, window: int, share: float
) -> list[tuple[float, float]]:
    """For every pattern of the revealed hits, its chance and what it costs, as a μ, to drift to the other run."""
    room = math.fsum(factor ** (2 * i) * (1 - part) for i, part in enumerate(shares(factor, window, share)))
    found: dict[float, float] = {0.0: 1.0}
    for i in range(revealed):
        after: dict[float, float] = {}
        for distance, chance in found.items():
            for more, weight in ((0.0, 1 - rate), (factor**i, rate)):
                place = distance + more
                after[place] = after.get(place, 0.0) + chance * weight
        found = after if len(after) <= MOST_DISTANCES else _grouped(after)
    return [(chance, 0.0 if z == 0 else mu * factor**window * z / math.sqrt(room)) for z, chance in found.items()]


def _grouped(found: dict[float, float]) -> dict[float, float]:
    """Distances rounded up, so that few are left."""
    unit, after = max(found) / (MOST_DISTANCES // 2), {}
    for distance, chance in found.items():
        place = unit * math.ceil(distance / unit - 1e-9)
        after[place] = after.get(place, 0.0) + chance
    return after


def secret_delta(
    pair: Pair, rate: float, mu: float, factor: float, steps: int, window: int, share: float, epsilon: float
) -> float:
    """Hits revealed up to the last `window` steps, and secret in those."""
    parts = [1.0] * window if window == steps else shares(factor, window, share)
    losses = composed(pair, rate, tuple(mu / math.sqrt(part) for part in parts))
    if window == steps:
        return losses.delta(epsilon)
    apart = drifts(rate, mu, factor, steps - window, window, share)
    return math.fsum(chance * losses.delta(epsilon, then) for chance, then in apart)


def divergence_of(profile: Profile, back: Profile, alpha: float, far: float) -> float:
    """R_α from the profiles of both directions, as E(P/Q)^α = 1 + α(α−1)·∫(e^((α−1)t)·H(t) + e^(−αt)·H'(t))dt."""
    places, parts = np.polynomial.legendre.leggauss(24)
    total, panels = 0.0, 60
    for panel in range(panels):
        for place, part in zip(places, parts, strict=True):
            t = far * ((panel + (1 + place) / 2) / panels) ** 2
            weight = part / 2 / panels * far * 2 * ((panel + (1 + place) / 2) / panels)
            total += weight * (math.exp((alpha - 1) * t) * profile(t) + math.exp(-alpha * t) * back(t))
    return math.log1p(alpha * (alpha - 1) * total) / (alpha - 1)


def pair_divergence(pair: Pair, rate: float, mu: float, alpha: float) -> float:
    """R_α of one step."""
    backwards = {sampled: sampled, removed: added, added: removed}[pair]
    far = (alpha + 1) * mu * mu + 12 * mu
    if (alpha - 1) * far > 690:  # more than a double holds, and than any test asks for
        return math.inf
    return divergence_of(pair(rate, mu), backwards(rate, mu), alpha, far)


def secret_divergence(
    pair: Pair, rate: float, mu: float, factor: float, steps: int, window: int, share: float, alpha: float
) -> float:
    parts = [1.0] * window if window == steps else shares(factor, window, share)
    total = math.fsum(pair_divergence(pair, rate, mu / math.sqrt(part), alpha) for part in parts)
    if window == steps:
        return total
    apart = drifts(rate, mu, factor, steps - window, window, share)
    exponents = [math.log(chance) + alpha * (alpha - 1) * then**2 / 2 for chance, then in apart if chance]
    top = max(exponents)
    return total + (top + math.log(math.fsum(math.exp(each - top) for each in exponents))) / (alpha - 1)


def more_than(count: int, rate: float, most: int) -> float:
    """P(Bin(count, rate) > most)."""
    return math.fsum(
        math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(max(most, -1) + 1, count + 1)
    )
