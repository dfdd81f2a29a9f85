"""Random small runs with real records, and what the bounds say about them.

A `Shape` is all that a bound may look at; a `Case` is one run of that shape, with a loss and two datasets of its own.
In all of them η = 1/2 and σ = 1, which only fixes the unit of θ: a hit moves θ by at most S_g/2b, the noise of a step
is N(0, 1), so a hit costs μ = S_g/2b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import NoEstimate
from hsdp_symbolic.evaluate.enclosure import Enclosure
from hsdp_symbolic.experiment import plans
from hsdp_symbolic.experiment.losses import Huber, Loss, Quadratic, ScalarLogistic
from hsdp_symbolic.experiment.plans import Plan
from hsdp_symbolic.experiment.small_runs import Pair, Update, exact_pair
from hsdp_symbolic.statement import Statement

from . import drift_oracle as oracle

ETA, SIGMA = Fraction(1, 2), 1
SCHEMES = ("fixed", "full_batch", "shuffle", "reshuffle", "without_replacement", "poisson", "poisson_replace")
"""`poisson` is for a record added or removed, `poisson_replace` for one replaced."""
DRAWN_AFRESH = ("without_replacement", "poisson", "poisson_replace")
ORDERS = (1.25, 2.0, 4.0)


@dataclass(frozen=True)
class Shape:
    """What a bound looks at."""

    scheme: str
    n: int
    b: int
    K: int
    factor: Fraction
    mu: Fraction
    """What a hit costs."""
    window: int = 1
    share: Fraction = Fraction(1, 2)
    known: int = 1
    extra: int = 0
    """1 if the dataset of n records is the smaller of the two."""

    @property
    def batches(self) -> int:
        return self.n // self.b

    @property
    def steps(self) -> int:
        return self.K * self.batches

    @property
    def rate(self) -> Fraction:
        return Fraction(self.b, self.n)

    @property
    def lam(self) -> Fraction:
        return (1 - self.factor) / ETA

    @property
    def clip(self) -> float:
        """Gradients, without λθ, lie within this of 0: half of S_g, but all of it where a record comes or goes."""
        return float(2 * self.b * self.mu / (1 if self.scheme == "poisson" else 2))

    @property
    def steepest(self) -> float:
        """The largest curvature of a record with which every batch contracts; of the others' batches, under Poisson."""
        largest = self.n + self.extra - 1 if self.scheme.startswith("poisson") else self.b
        return float(2 * self.factor / ETA * Fraction(self.b, max(largest, 1)))

    def plan(self, count: int) -> Plan:
        if self.scheme.startswith("poisson"):
            return plans.poisson(count, float(self.rate), self.steps)
        if self.scheme == "without_replacement":
            return plans.without_replacement(self.n, self.b, self.steps)
        if self.scheme == "full_batch":
            return plans.full_batch(self.n, self.K)
        maker = {"fixed": plans.fixed, "shuffle": plans.shuffle, "reshuffle": plans.reshuffle}[self.scheme]
        return maker(self.n, self.b, self.K)

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        return Fraction(0), self.mu / 4, self.mu, 5 * self.mu / 2


@dataclass(frozen=True)
class Case:
    """One run: an update, the records, and which of them differs (on the second dataset it is `other`, or missing)."""

    shape: Shape
    update: Update
    records: np.ndarray
    index: int
    other: np.ndarray | None

    @property
    def place(self) -> int | None:
        """The batch of the record where the order is fixed; None if it is left out."""
        place = self.index // self.shape.b
        return place if place < self.shape.batches else None

    @property
    def neighbour(self) -> np.ndarray:
        """The records of the second dataset."""
        if self.other is None:
            return np.delete(self.records, self.index, axis=0)
        second = self.records.copy()
        second[self.index] = self.other
        return second

    def pair(self, **finer: float) -> Pair:
        first, second = ((records, self.shape.plan(len(records))) for records in (self.records, self.neighbour))
        return exact_pair(self.update, first, second, **finer)


class Bent(Loss):
    """A record is (tilt, steepness, centre, width): the gradient is λθ + tilt + steepness·clip(θ − centre, ±width)."""

    dimension = 1

    def __init__(self, lam: float, beta: float, sensitivity: float) -> None:
        self.lam, self.beta, self.sensitivity = lam, beta, sensitivity

    def gradient(self, theta: np.ndarray, record: np.ndarray) -> np.ndarray:
        tilt, steepness, centre, width = record
        return self.lam * theta + tilt + steepness * np.clip(theta - centre, -width, width)

    def kinks(self, record: np.ndarray) -> tuple[float, ...]:
        _, steepness, centre, width = record
        return (centre - width, centre + width) if steepness else ()


def random_shape(scheme: str, rng: np.random.Generator) -> Shape:
    """Few records and steps; factors 0 and 1, one batch alone, all hits revealed but one, and none, are among them."""
    n, b = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (4, 1), (5, 2), (4, 3)][int(rng.integers(9))]
    if scheme == "full_batch":
        n = b = int(rng.integers(1, 4))
    if scheme.startswith("poisson"):
        n, b = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2)][int(rng.integers(5))]
    longest = 10 if scheme in DRAWN_AFRESH and rng.random() < 0.3 else 6
    K = int(rng.integers(1, max(2, longest // (n // b) + 1)))
    steps = K * (n // b)
    return Shape(
        scheme,
        n,
        b,
        K,
        Fraction(rng.choice(["0", "1/4", "1/2", "3/4", "9/10", "19/20", "1"])),
        Fraction(int(rng.choice([2, 5, 10, 15, 20])), 10),
        window=int(rng.integers(1, steps + 1)),
        share=Fraction(int(rng.integers(1, 10)), 10),
        known=int(rng.integers(1, K + 1)),
        extra=int(scheme == "poisson" and rng.random() < 0.7),
    )


def random_case(shape: Shape, rng: np.random.Generator) -> Case:
    loss, draw = FAMILIES[int(rng.integers(len(FAMILIES)))](shape, rng)
    count = shape.n + shape.extra
    records = np.array([draw() for _ in range(count)])
    index = int(rng.integers(count))
    other = draw()
    if rng.random() < 0.4:  # all others alike, as one of the two that differ
        records[np.arange(count) != index] = other if rng.random() < 0.5 else records[index]
    if isinstance(loss, Bent) and shape.scheme != "without_replacement" and rng.random() < 0.4:
        records[index] = _wild(shape, rng)
    interval = None
    if rng.random() < 0.3:
        ends = np.sort(rng.normal(scale=1.5, size=2))
        interval = (float(ends[0]), float(ends[1]))
    start = float(rng.choice([0.0, rng.normal(scale=2)]))
    update = Update(loss, float(ETA), float(SIGMA), shape.b, start, interval)
    return Case(shape, update, records, index, None if shape.scheme == "poisson" else other)


def _wild(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """A record neither convex nor smooth: the differing one may be so on one dataset, unless its hits are secret and
    two of them have to be compared at different places."""
    steepness = float(rng.normal(scale=20))
    return np.array([0.0, steepness, rng.normal(scale=1.5), shape.clip / abs(steepness)])


def _signed(rng: np.random.Generator) -> float:
    """Often an end of [−1, 1], else anywhere in it."""
    return float(rng.choice([-1.0, 1.0]) if rng.random() < 0.6 else rng.uniform(-1, 1))


def _quadratic(shape, rng):
    if shape.lam == 0:
        return _bent(shape, rng)
    return Quadratic(float(shape.lam), 2 * shape.clip), lambda: np.array([shape.clip * _signed(rng)])


def _huber(shape, rng):
    steepness = shape.steepest * float(rng.choice([1.0, rng.uniform(0.05, 1)]))
    if shape.lam == 0 or steepness == 0:
        return _bent(shape, rng)
    return Huber(float(shape.lam), steepness, shape.clip / steepness), lambda: np.array([rng.normal(scale=1.5)])


def _logistic(shape, rng):
    """|x| so large that the curvature x²/4 of a record may be as large as is allowed."""
    radius = 2 * math.sqrt(shape.steepest)
    if shape.lam == 0 or radius == 0:
        return _bent(shape, rng)
    return ScalarLogistic(float(shape.lam), radius, shape.clip), lambda: np.array([radius * _signed(rng)])


def _bent(shape, rng):
    loss = Bent(float(shape.lam), float(shape.lam) + shape.steepest, 2 * shape.clip)

    def draw() -> np.ndarray:
        steepness = shape.steepest * float(rng.choice([0.0, 1.0, rng.random()]))
        bend = float(rng.random()) if steepness else 0.0  # how much of the band [−C, C] the bend takes
        width = bend * shape.clip / steepness if steepness else 0.0
        tilt = (1 - bend) * shape.clip * _signed(rng)
        return np.array([tilt, steepness, rng.normal(scale=1.5), width])

    return loss, draw


FAMILIES = (_quadratic, _huber, _logistic, _bent, _bent)


def labels(shape: Shape) -> tuple[str | None, str | None]:
    """The statements that bound δ and the Rényi divergence of such a run; None where there is none."""
    seen = shape.window == shape.steps  # no hit is revealed: composition
    if shape.scheme in DRAWN_AFRESH and seen:
        divergence = "mironov2019" if shape.scheme == "poisson" else f"seen:{shape.scheme}"
        return f"profile:composition:{shape.scheme}", divergence
    if not 0 < shape.factor < 1:
        return None, None
    return {
        "fixed": ("gdp:cyclic", "shift:cyclic"),
        "full_batch": ("gdp:gd", "shift:gd"),
        "shuffle": ("profile:shuffle", "shift:shuffle"),
        "reshuffle": ("profile:reshuffle", None),
        "without_replacement": ("profile:without_replacement", "secret:without_replacement"),
        "poisson": ("profile:poisson", "secret:poisson"),
        "poisson_replace": (None, None),
    }[shape.scheme]


def _asked(shape: Shape, place: int | None, label: str) -> tuple[Statement, Setting, dict[str, object]]:
    """A statement, the setting it is asked about, and the letters it leaves open."""
    largest = shape.n + 1 if shape.scheme == "poisson" else shape.b
    curvature = 2 * shape.factor / ETA * Fraction(shape.b, largest)
    run = {"n": shape.n, "b": shape.b, "K": shape.K, "eta": ETA, "sigma": SIGMA, "S_g": 2 * shape.b * shape.mu}
    if 0 < shape.factor < 1:
        run |= {"lam": shape.lam, "beta": shape.lam + curvature * (1 if shape.scheme == "poisson" else Fraction(9, 10))}
    letters = {"j0": place, "known": shape.known, "window": shape.window, "share": shape.share}
    found = statement(label)
    return found, Setting(**run), {name: value for name, value in letters.items() if name in found.needs}


@cache
def certified_delta(shape: Shape, place: int | None, epsilon: Fraction) -> Enclosure | None:
    """What the statement says; None where there is none, or the record is left out."""
    label = labels(shape)[0]
    if label is None or place is None:
        return None
    found, run, letters = _asked(shape, place, label)
    return found.delta(run, epsilon, **letters)


@cache
def certified_divergence(shape: Shape, place: int | None, alpha: float) -> Enclosure | None:
    label = labels(shape)[1]
    if label is None or place is None:
        return None
    found, run, letters = _asked(shape, place, label)
    return found.enclose(run, alpha=Fraction(alpha), **letters)


@cache
def oracle_delta(shape: Shape, place: int | None, epsilon: Fraction) -> float:
    """The same by the second opinion, which has an answer for every shape."""
    mu, factor, e = float(shape.mu), float(shape.factor), float(epsilon)
    if shape.scheme in ("fixed", "full_batch"):
        cost = 0.0 if place is None else oracle.fixed_costs(factor, shape.batches, shape.K)[place]
        return oracle.gaussian(mu * math.sqrt(cost))(e)
    if shape.scheme in ("shuffle", "reshuffle"):
        return oracle.mixed_delta(_costs(shape), mu, e)
    return max(
        oracle.secret_delta(pair, float(shape.rate), mu, factor, shape.steps, shape.window, float(shape.share), e)
        for pair in _pairs(shape)
    )


@cache
def oracle_divergence(shape: Shape, place: int | None, alpha: float) -> float:
    mu, factor = float(shape.mu), float(shape.factor)
    if shape.scheme in ("fixed", "full_batch"):
        cost = 0.0 if place is None else oracle.fixed_costs(factor, shape.batches, shape.K)[place]
        return alpha * mu * mu * cost / 2
    if shape.scheme in ("shuffle", "reshuffle"):
        return oracle.mixed_divergence(_costs(shape), mu, alpha)
    return max(
        oracle.secret_divergence(
            pair, float(shape.rate), mu, factor, shape.steps, shape.window, float(shape.share), alpha
        )
        for pair in _pairs(shape)
    )


def _costs(shape: Shape) -> list[tuple[float, float]]:
    factor = float(shape.factor)
    if shape.scheme == "shuffle":
        return oracle.shuffle_costs(factor, shape.n, shape.b, shape.K)
    return oracle.reshuffle_costs(factor, shape.n, shape.b, shape.K, shape.known)


def _pairs(shape: Shape) -> tuple[oracle.Pair, ...]:
    return (oracle.removed, oracle.added) if shape.scheme == "poisson" else (oracle.sampled,)


def ratios(case: Case, pair: Pair) -> list[float]:
    """Exact value over bound, for both directions, every ε and every order; 1e-12 is what rounding may make.

    The bound is the statement's, or where there is none that of the second opinion. Orders that look further out than
    the laws were computed are left out.
    """
    found, shape = [], case.shape
    place = case.place if shape.scheme == "fixed" else 0
    for laws in (pair, pair.reversed):
        for epsilon in shape.epsilons:
            certified = certified_delta(shape, place, epsilon)
            bound = oracle_delta(shape, place, epsilon) if certified is None else float(certified.hi)
            found.append(laws.delta(float(epsilon)) / (bound + 1e-12))
        for alpha in ORDERS:
            try:
                value = laws.divergence(alpha)
            except NoEstimate:
                continue
            certified = certified_divergence(shape, place, alpha)
            bound = oracle_divergence(shape, place, alpha) if certified is None else float(certified.hi)
            found.append(value / (bound + 1e-12))
    return found
