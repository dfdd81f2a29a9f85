"""Exact laws of small runs with records of their own: every batch listed, any loss of one parameter.

The last iterate is a mixture of normal laws, one for each last batch and each place before it. How much of the run is
at which place is carried from step to step by Gauss–Legendre quadrature, in panels that end where an update has a kink,
so that everything integrated is smooth: tests compare it with closed forms and with finer panels, to ten digits. The
probability of an interval is a sum of error functions. No true bound for the run is below what its laws show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError, NoEstimate, TooManySteps
from .losses import Array, Loss, finite
from .plans import Batch, Plan

NODES = 10
"""Points in each panel."""
PANEL = 1.6
"""Width of a panel, in standard deviations of the noise of a step."""
REACH = 12.0
"""How far panels go beyond all centres, in standard deviations of the last iterate: orders look beyond δ."""
MOST_POINTS = 4000
TINY = 1e-140
"""Masses and densities of one step below it count as 0: products of two are still normal doubles, others are slow."""


@dataclass(frozen=True)
class Update:
    """θ ← θ − η·(λθ + (1/divisor)·Σ of the gradients of the batch without λθ) + N(0, 2ησ²), from a point.

    With an `interval`, θ is first projected onto it: the noise comes first and the projection after it, and what is
    released is the last iterate before it is projected, which tells no less. `divisor` None: the size of the batch.
    """

    loss: Loss
    eta: float
    sigma: float
    divisor: int | None
    start: float = 0.0
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("eta", "sigma"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ArgumentError(name, value, "not a positive finite number", "give e.g. 0.1")
        if self.divisor is not None and self.divisor < 1:
            raise ArgumentError("divisor", self.divisor, "not a positive whole number", "give b, or None")
        if self.interval is not None and not self.interval[0] < self.interval[1]:
            raise ArgumentError("interval", self.interval, "its ends are not in order", "give the lower end first")

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of one step."""
        return math.sqrt(2 * self.eta) * self.sigma

    def kinks(self, records: Array) -> list[float]:
        """Where the update of some batch has no derivative."""
        return [*(kink for record in records for kink in self.loss.kinks(record)), *(self.interval or ())]

    def centres(self, theta: Array, records: Array, batches: Sequence[Batch]) -> dict[Batch, Array]:
        """Where each batch moves every θ, before the noise."""
        held = theta if self.interval is None else np.clip(theta, *self.interval)
        column = held[:, None]
        pulls = [finite(self.loss.gradient(column, record), column)[:, 0] - self.loss.lam * held for record in records]
        kept, found = held * (1 - self.eta * self.loss.lam), {}
        for batch in batches:
            share = self.eta / (self.divisor or max(len(batch), 1))
            found[batch] = kept - share * sum((pulls[i] for i in batch), np.zeros_like(held))
        return found


@dataclass(frozen=True)
class Law:
    """Σ weight·N(centre, noise²), and its density at given points."""

    weights: Array
    centres: Array
    noise: float
    density: Array

    def at(self, y: Array) -> Array:
        return np.asarray(np.einsum("ij,j", _bell(y, self.centres, self.noise), self.weights))

    def above(self, y: float) -> float:
        """The probability of more than y."""
        apart = (y - self.centres) / (self.noise * math.sqrt(2))
        return math.fsum(self.weights / 2 * np.array([math.erfc(x) for x in apart.tolist()]))


@dataclass(frozen=True)
class Pair:
    """The laws of the last iterates of two runs, at the points of a quadrature with these weights."""

    first: Law
    second: Law
    points: Array
    weights: Array

    @property
    def reversed(self) -> Pair:
        return Pair(self.second, self.first, self.points, self.weights)

    def delta(self, epsilon: float) -> float:
        """The hockey-stick divergence sup_A P(A) − e^ε·Q(A), P the first law and Q the second.

        The best set is where p > e^ε·q: its ends are found by bisection, and an error there counts only squared.
        """
        factor = math.exp(epsilon)
        better = self.first.density > factor * self.second.density
        places = np.flatnonzero(better[1:] != better[:-1])
        low, high = self.points[places], self.points[places + 1]
        for _ in range(20 if len(places) else 0):
            middle = (low + high) / 2
            as_left = (self.first.at(middle) > factor * self.second.at(middle)) == better[places]
            low, high = np.where(as_left, middle, low), np.where(as_left, high, middle)
        total = 1 - factor if better[0] else 0.0
        for y, leaves in zip(((low + high) / 2).tolist(), better[places], strict=True):
            beyond = self.first.above(y) - factor * self.second.above(y)
            total += -beyond if leaves else beyond
        return max(total, 1 - factor, 0.0)

    def divergence(self, alpha: float) -> float:
        """The Rényi divergence R_α(P ‖ Q); refused if it comes from further out than the points go."""
        if not 1 < alpha < math.inf:
            raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
        keep = np.minimum(self.first.density, self.second.density) > TINY**2
        log_p, log_q = np.log(self.first.density[keep]), np.log(self.second.density[keep])
        exponent = alpha * log_p + (1 - alpha) * log_q
        top = float(exponent.max())
        if max(exponent[0], exponent[-1]) > top - 28:
            raise NoEstimate(f"order {alpha:g} looks further out than the quadrature reaches; take a lower order")
        total = math.fsum(self.weights[keep] * np.exp(exponent - top))
        return (top + math.log(total)) / (alpha - 1)


def exact_pair(
    update: Update,
    first: tuple[npt.ArrayLike, Plan],
    second: tuple[npt.ArrayLike, Plan],
    *,
    nodes: int = NODES,
    reach: float = REACH,
) -> Pair:
    """The laws of the last iterate on two datasets, each with the plan of its batches.

    >>> from hsdp_symbolic.experiment.losses import Quadratic
    >>> from hsdp_symbolic.experiment.plans import fixed
    >>> step = Update(Quadratic(1.0, 1.0), eta=0.5, sigma=1.0, divisor=1)
    >>> pair = exact_pair(step, ([2.0], fixed(1, 1, 1)), ([0.0], fixed(1, 1, 1)))
    >>> round(pair.divergence(2), 12), round(pair.delta(0.0), 12)
    (1.0, 0.382924922548)
    """
    datasets = [(_as_records(records), plan) for records, plan in (first, second)]
    points, weights = _panels(update, datasets, nodes, reach)
    engine = _Engine(update, points, weights)
    one, other = (engine.law(records, plan) for records, plan in datasets)
    return Pair(one, other, points, weights)


@dataclass
class _Engine:
    """Masses at the points, and at the start, which comes before them: carried from step to step."""

    update: Update
    points: Array
    weights: Array
    _kernels: dict[bytes, Array] = field(default_factory=dict)

    def law(self, records: Array, plan: Plan) -> Law:
        places = np.concatenate([[self.update.start], self.points])
        centres = self.update.centres(places, records, plan.batches)
        mass = np.zeros(len(places))
        mass[0] = 1.0
        for turn in range(plan.times):
            last: dict[Batch, Array] = {}
            self._go(plan.outcomes, mass, centres, last)
            if turn < plan.times - 1:
                mass = self._moved(last, centres)
        density = self._density(last, centres)
        if abs(math.fsum(density * self.weights) - 1) > 1e-9:
            raise NoEstimate(f"the quadrature loses {1 - math.fsum(density * self.weights):.2g}; take more nodes")
        used = {batch: part > 0 for batch, part in last.items()}
        return Law(
            np.concatenate([part[used[batch]] for batch, part in last.items()]),
            np.concatenate([centres[batch][used[batch]] for batch in last]),
            self.update.noise,
            density,
        )

    def _go(
        self,
        outcomes: Sequence[tuple[float, tuple[Batch, ...]]],
        mass: Array,
        centres: dict[Batch, Array],
        last: dict[Batch, Array],
    ) -> None:
        """Add to `last`, for every last batch, the masses before it; what begins alike is computed once."""
        starts: dict[Batch, list[tuple[float, tuple[Batch, ...]]]] = {}
        for chance, (batch, *rest) in outcomes:
            starts.setdefault(batch, []).append((chance, tuple(rest)))
        for batch, rests in starts.items():
            if rests[0][1]:
                self._go(rests, self._moved({batch: mass}, centres), centres, last)
            else:
                share = math.fsum(chance for chance, _ in rests)
                last[batch] = last.get(batch, 0.0) + share * mass

    def _moved(self, parts: dict[Batch, Array], centres: dict[Batch, Array]) -> Array:
        """The masses after a step whose batch is known for each part."""
        mass = np.concatenate([[0.0], self.weights * self._density(parts, centres)])
        mass[mass < TINY] = 0.0
        return mass

    def _density(self, parts: dict[Batch, Array], centres: dict[Batch, Array]) -> Array:
        # Not `@`: so small a product gains nothing by threads, which on a busy machine wait for one another.
        return np.asarray(sum(np.einsum("ij,j", self._kernel(centres[batch]), part) for batch, part in parts.items()))

    def _kernel(self, centre: Array) -> Array:
        """Batches that move every place alike share one."""
        key = centre.tobytes()
        if key not in self._kernels:
            self._kernels[key] = _bell(self.points, centre, self.update.noise)
        return self._kernels[key]


def _panels(update: Update, datasets: list[tuple[Array, Plan]], nodes: int, reach: float) -> tuple[Array, Array]:
    """Points and weights over all that the iterates can reach.

    Two ways to say how far that is, and the nearer one is taken: where the run would be without noise, and `reach`
    times the deviation that a Lipschitz map leaves; or step by step, the noise of each at its furthest.
    """
    kinks = sorted({kink for records, _ in datasets for kink in update.kinks(records)})

    def images(low: float, high: float) -> tuple[float, float, float]:
        """Where the updates map an interval, and their Lipschitz constant on it."""
        tried = np.unique([*np.linspace(low, high, 65), *(kink for kink in kinks if low < kink < high)])
        moved = np.array([c for data, plan in datasets for c in update.centres(tried, data, plan.batches).values()])
        factor = np.abs(np.diff(moved) / np.diff(tried)).max(initial=0.0)
        return float(moved.min()), float(moved.max()), float(factor)

    quiet = far = whole = (update.start, update.start)
    spread, step = 0.0, reach * update.noise
    for _ in range(max(plan.steps for _, plan in datasets)):
        low, high, factor = images(*far)
        spread = math.hypot(update.noise, factor * spread)
        quiet = images(*quiet)[:2]
        far = (max(low - step, quiet[0] - reach * spread), min(high + step, quiet[1] + reach * spread))
        whole = (min(whole[0], far[0]), max(whole[1], far[1]))
    edges = [whole[0], *(kink for kink in kinks if whole[0] < kink < whole[1]), whole[1]]
    return _composite(edges, PANEL * update.noise, nodes)


def _composite(edges: list[float], width: float, nodes: int) -> tuple[Array, Array]:
    """Gauss–Legendre quadrature in panels no wider than `width`, which end at the edges."""
    cuts = [edges[0]]
    for left, right in pairwise(edges):
        cuts += np.linspace(left, right, 1 + math.ceil((right - left) / width))[1:].tolist()
    if nodes * (len(cuts) - 1) > MOST_POINTS:
        raise TooManySteps(nodes * (len(cuts) - 1), "a quadrature")
    half = np.diff(cuts) / 2
    places, shares = np.polynomial.legendre.leggauss(nodes)
    points = (np.array(cuts[:-1]) + half)[:, None] + half[:, None] * places
    return points.ravel(), (half[:, None] * shares).ravel()


def _bell(y: Array, centre: Array, noise: float) -> Array:
    """The density of N(centre, noise²), a row for each y."""
    exponent = np.square((y[:, None] - centre) / noise)
    exponent *= -0.5
    exponent[exponent < math.log(TINY)] = -np.inf
    return np.asarray(np.exp(exponent, out=exponent) / (noise * math.sqrt(2 * math.pi)))


def _as_records(given: npt.ArrayLike) -> Array:
    """The records as rows."""
    records = np.array(given, dtype=float)
    records = records[:, None] if records.ndim == 1 else records
    if records.ndim != 2 or not np.isfinite(records).all():
        raise ArgumentError("records", records.shape, "not finite rows of numbers", "give an array of shape (n, d)")
    return records
