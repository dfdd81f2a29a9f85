"""Losses with known strong convexity, smoothness and gradient sensitivity, for simulation.

A loss has a gradient, vectorised over chains (independent runs), and declares its constants λ, β and S_g. `measure`
tries to catch a wrong declaration: it samples gradients and refuses a loss that leaves the declared constants.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError

Array = npt.NDArray[np.float64]
"""Doubles; parameters and gradients have shape (chains, d)."""

_SLACK = 1e-9


class Loss(ABC):
    """ℓ(θ; x): λ-strongly convex, β-smooth, and ‖∇ℓ(θ; x) − ∇ℓ(θ; x')‖ ≤ S_g for any two records."""

    lam: float
    beta: float
    sensitivity: float
    dimension: int | None = None
    """The number of parameters, where it is not the length of a record."""

    @abstractmethod
    def gradient(self, theta: Array, record: Array) -> Array:
        """∇ℓ at each row of `theta`; `record` is one record, or one for each row."""

    @property
    def affine(self) -> bool:
        """Whether the gradient is λθ − x, so that the update is affine and the exact law is known."""
        return False

    def kinks(self, record: Array) -> tuple[float, ...]:
        """Where the gradient of a loss of one parameter has no derivative."""
        return ()


@dataclass(frozen=True)
class Quadratic(Loss):
    """λ|θ|²/2 − ⟨x, θ⟩: the loss that attains the bounds where they are tight. Records: |x − x'| ≤ S_g."""

    lam: float
    sensitivity: float

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, sensitivity=self.sensitivity)

    @property
    def beta(self) -> float:  # type: ignore[override]
        return self.lam

    @property
    def affine(self) -> bool:
        return True

    def gradient(self, theta: Array, record: Array) -> Array:
        return self.lam * theta - record


@dataclass(frozen=True)
class Huber(Loss):
    """λ|θ|²/2 + κ·Σ huber(θ_i − x_i): curvature between λ and λ + κ, a gradient that saturates at κδ per coordinate."""

    lam: float
    kappa: float
    delta: float
    dimension: int = 1

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, kappa=self.kappa, delta=self.delta, dimension=self.dimension)

    @property
    def beta(self) -> float:  # type: ignore[override]
        return self.lam + self.kappa

    @property
    def sensitivity(self) -> float:  # type: ignore[override]
        return float(2 * self.kappa * self.delta * self.dimension**0.5)

    def gradient(self, theta: Array, record: Array) -> Array:
        return self.lam * theta + self.kappa * np.clip(theta - record, -self.delta, self.delta)

    def kinks(self, record: Array) -> tuple[float, ...]:
        return float(record[0]) - self.delta, float(record[0]) + self.delta


@dataclass(frozen=True)
class RidgeLogistic(Loss):
    """log(1 + e^(−⟨x, θ⟩)) + λ|θ|²/2, the label folded into the sign of x; records have |x| ≤ `radius`."""

    lam: float
    radius: float

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, radius=self.radius)

    @property
    def beta(self) -> float:  # type: ignore[override]
        return self.lam + self.radius**2 / 4

    @property
    def sensitivity(self) -> float:  # type: ignore[override]
        return 2 * self.radius

    def gradient(self, theta: Array, record: Array) -> Array:
        score = np.sum(theta * record, axis=-1, keepdims=True)
        return self.lam * theta - record * _sigmoid(-score)


@dataclass(frozen=True)
class ScalarLogistic(Loss):
    """log(1 + e^(−xθ)) of one parameter, its gradient clipped to [−C, C], then λθ added; |x| ≤ `radius`, C = `clip`."""

    lam: float
    radius: float
    clip: float
    dimension: int = 1

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, radius=self.radius, clip=self.clip)

    @property
    def beta(self) -> float:  # type: ignore[override]
        return self.lam + self.radius**2 / 4

    @property
    def sensitivity(self) -> float:  # type: ignore[override]
        return 2 * min(self.clip, self.radius)

    def gradient(self, theta: Array, record: Array) -> Array:
        return self.lam * theta + np.clip(-record * _sigmoid(-theta * record), -self.clip, self.clip)

    def kinks(self, record: Array) -> tuple[float, ...]:
        x = float(record[0])
        return () if abs(x) <= self.clip else (float(np.log(abs(x) / self.clip - 1)) / x,)


@dataclass(frozen=True)
class ClippedLogistic(Loss):
    """The gradient of `alg:noisymBGD_logistic`: softmax regression, per-example clipping, then regularisation.

    A record is its feature vector (clipped to norm `radius` here) followed by its one-hot label; parameters are the c
    rows of d + 1 weights, flattened. The unregularised gradient is clipped to norm `clip`, so S_g = 2·clip. With two
    classes, or where clipping never bites, it has the declared λ and β; with more it need not (see
    prop:smooth_strcvx_clip).
    """

    lam: float
    radius: float
    clip: float
    features: int
    classes: int = 2

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, radius=self.radius, clip=self.clip, features=self.features)
        if self.classes < 2:
            raise ArgumentError("classes", self.classes, "there is nothing to classify", "give at least 2 classes")

    @property
    def beta(self) -> float:  # type: ignore[override]
        return self.lam + (self.radius**2 + 1) / 2

    @property
    def sensitivity(self) -> float:  # type: ignore[override]
        return 2 * self.clip

    @property
    def dimension(self) -> int:  # type: ignore[override]
        return (self.features + 1) * self.classes

    def gradient(self, theta: Array, record: Array) -> Array:
        record = np.atleast_2d(record)
        x, label = record[:, : self.features], record[:, self.features :]
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        x = x * np.minimum(1, self.radius / np.maximum(norm, 1e-300))
        x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
        weights = theta.reshape(len(theta), self.classes, self.features + 1)
        scores = np.einsum("nkd,nd->nk", weights, np.broadcast_to(x, (len(theta), self.features + 1)))
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        residual = odds / odds.sum(axis=1, keepdims=True) - label
        plain = np.einsum("nk,nd->nkd", residual, np.broadcast_to(x, (len(theta), self.features + 1)))
        plain = plain.reshape(len(theta), -1)
        size = np.linalg.norm(plain, axis=1, keepdims=True)
        clipped: Array = plain * np.minimum(1, self.clip / np.maximum(size, 1e-300))
        return clipped + self.lam * theta


@dataclass(frozen=True)
class Custom(Loss):
    """A loss of your own: its gradient as a function of (θ of shape (chains, d), record), and declared constants."""

    function: Callable[[Array, Array], Array]
    lam: float
    beta: float
    sensitivity: float

    def __post_init__(self) -> None:
        _require_positive(lam=self.lam, beta=self.beta, sensitivity=self.sensitivity)

    def gradient(self, theta: Array, record: Array) -> Array:
        return self.function(theta, record)


def measure(loss: Loss, records: Array, *, reach: float = 5.0, samples: int = 4096, seed: int = 0) -> None:
    """Refuse a loss whose sampled curvature or sensitivity leaves the declared constants.

    It takes pairs of parameters, near and far apart, with coordinates up to `reach`. Half of them are tried with the
    first and the last record (the one that is replaced, and what replaces it), the others with records drawn from all.
    """
    rng = np.random.default_rng(seed)
    records = np.atleast_2d(records)
    dimension = loss.dimension or records.shape[1]
    first = rng.uniform(-reach, reach, (samples, dimension))
    steps = rng.normal(size=(samples, dimension))
    steps *= np.exp(rng.uniform(np.log(1e-3), np.log(reach), (samples, 1))) / np.linalg.norm(
        steps, axis=1, keepdims=True
    )
    places = rng.integers(len(records), size=(2, samples))
    places[:, : samples // 2] = rng.permuted([[0] * (samples // 2), [len(records) - 1] * (samples // 2)], axis=0)
    chosen, other = records[places]
    at_first, at_second, elsewhere = (
        finite(loss.gradient(theta, record), theta)
        for theta, record in ((first, chosen), (first + steps, chosen), (first, other))
    )
    slope = np.sum((at_second - at_first) * steps, axis=1) / np.sum(steps**2, axis=1)
    growth = np.linalg.norm(at_second - at_first, axis=1) / np.linalg.norm(steps, axis=1)
    apart = np.linalg.norm(at_first - elsewhere, axis=1)
    rounding = 1e-14 * max(np.abs(at_first).max(), np.abs(elsewhere).max())
    for name, declared, found, wrong in (
        ("lam", loss.lam, slope.min(), slope.min() < loss.lam * (1 - _SLACK) - _SLACK),
        ("beta", loss.beta, growth.max(), growth.max() > loss.beta * (1 + _SLACK) + _SLACK),
        ("sensitivity", loss.sensitivity, apart.max(), apart.max() > loss.sensitivity * (1 + _SLACK) + rounding),
    ):
        if wrong:
            raise ArgumentError(
                name, declared, f"the loss shows {found:.6g}", f"declare at {'most' if name == 'lam' else 'least'} that"
            )


def finite(gradient: npt.ArrayLike, theta: Array) -> Array:
    """The gradient as an array, refused unless it has the shape of `theta` and is finite."""
    gradient = np.asarray(gradient, dtype=float)
    if gradient.shape != theta.shape:
        raise ArgumentError(
            "loss",
            gradient.shape,
            f"gradients must have the shape {theta.shape} of the parameters",
            "return one row per chain",
        )
    if not np.isfinite(gradient).all():
        row = int(np.flatnonzero(~np.isfinite(gradient).all(axis=1))[0])
        raise ArgumentError(
            "loss", gradient[row].tolist(), f"not finite at theta = {theta[row].tolist()}", "return finite gradients"
        )
    return gradient


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1 + np.tanh(0.5 * x))


def _require_positive(**values: float) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
            raise ArgumentError(name, value, "not a positive finite number", "give e.g. 1.0")
