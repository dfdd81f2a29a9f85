"""Logistic regression trained with noisy, clipped gradients on made-up data: accuracy beside the certified ε.

The training is Algorithm 1 of the paper with the gradient of `experiment.losses.ClippedLogistic` and batches shuffled
once. The result depends on the seed alone. The noise comes from NumPy's generator in floating point: an example, not a
secure implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..accounting.counts import admit_count
from ..accounting.regression import LogisticPrivacy, logistic_privacy
from ..errors import ArgumentError
from ..experiment.losses import ClippedLogistic
from ..progress import Ticker
from ..setting.arrays import Array
from ..setting.gate import to_fraction

DELTA = "1e-5"
NUMBER_OF_FEATURES = 4
SPREAD = 0.35
"""Standard deviation of the features around the centre of their class; centres have norm 1."""
TEST_RECORDS = 4000
BINARY: dict[str, Any] = {
    "n": 2000,
    "classes": 2,
    "feature_norm": 1,
    "clip_norm": "0.5",
    "lam": "0.05",
    "learning_rate": "0.5",
    "batch_size": 100,
    "epochs": 30,
    "noise_multiplier": 10,
}
MULTICLASS: dict[str, Any] = BINARY | {"classes": 4, "clip_norm": "0.1", "lam": "0.1"}
"""Four classes and a clip norm that bites: the case the paper's proposition does not cover."""


@dataclass(frozen=True)
class Trained:
    """Accuracy on fresh records: with noise (mean and standard deviation over runs), without, and by chance.

    `clipped` is the fraction of gradients that clipping shortened, over all steps of all noisy runs.
    """

    privacy: LogisticPrivacy
    accuracy: float
    deviation: float
    not_private: float
    chance: float
    clipped: float
    runs: int
    seed: int


def make_data(*, n: int, classes: int, rng: np.random.Generator) -> Array:
    """Records of Gaussian clusters around orthonormal centres: features, then the one-hot label."""
    labels = rng.integers(classes, size=n)
    centres = np.zeros((classes, max(NUMBER_OF_FEATURES, classes)))
    centres[np.arange(classes), np.arange(classes)] = 1
    features = centres[labels] + SPREAD * rng.standard_normal((n, centres.shape[1]))
    records: Array = np.concatenate([features, np.eye(classes)[labels]], axis=1)
    return records


def train(
    loss: ClippedLogistic,
    records: Array,
    *,
    learning_rate: float,
    batch_size: int,
    epochs: int,
    noise: float,
    rng: np.random.Generator,
) -> tuple[Array, float]:
    """The last iterate of Algorithm 1, started at 0, and the fraction of gradients that were clipped.

    `noise` is the standard deviation of what each step adds to each coordinate.
    """
    batches = len(records) // batch_size
    order = rng.permutation(len(records))[: batches * batch_size].reshape(batches, batch_size)
    theta, clipped = np.zeros(loss.dimension), 0
    for _ in range(epochs):
        for members in order:
            here = np.broadcast_to(theta, (batch_size, loss.dimension))
            gradients = loss.gradient(here, records[members])
            size = np.linalg.norm(gradients - loss.lam * here, axis=1)
            clipped += int(np.count_nonzero(size >= loss.clip * (1 - 1e-12)))
            theta = theta - learning_rate * gradients.mean(axis=0) + noise * rng.standard_normal(loss.dimension)
    return theta, clipped / (epochs * batches * batch_size)


def accuracy(loss: ClippedLogistic, theta: Array, records: Array) -> float:
    """The fraction of records whose class has the largest score (features clipped as in training)."""
    x, labels = records[:, : loss.features], records[:, loss.features :]
    x = x * np.minimum(1, loss.radius / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300))
    weights = theta.reshape(loss.classes, loss.features + 1)
    scores = x @ weights[:, :-1].T + weights[:, -1]
    return float(np.mean(scores.argmax(axis=1) == labels.argmax(axis=1)))


def demonstrate(*, seed: int = 0, runs: int = 5, delta: Any = DELTA, **parameters: Any) -> Trained:
    """Train privately `runs` times and once without noise; `parameters` as for `logistic_privacy` (default `BINARY`).

    >>> found = demonstrate(epochs=2, runs=1)
    >>> found.privacy.guarantee.bound, found.accuracy > found.chance
    ('profile:shuffle', True)
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ArgumentError("seed", seed, "not a whole number >= 0", "give an int such as 0")
    admit_count("runs", runs)
    given = BINARY | parameters
    if given.get("scheme", "shuffle") != "shuffle":
        raise ArgumentError("scheme", given["scheme"], "the example shuffles once", "leave the scheme out")
    privacy = logistic_privacy(**given, delta=delta)
    numbers = {
        name: float(to_fraction(name, given[name])) for name in ("lam", "feature_norm", "clip_norm", "learning_rate")
    }
    loss = ClippedLogistic(
        lam=numbers["lam"],
        radius=numbers["feature_norm"],
        clip=numbers["clip_norm"],
        features=max(NUMBER_OF_FEATURES, given["classes"]),
        classes=given["classes"],
    )
    start, *streams = np.random.default_rng(seed).spawn(runs + 2)
    records = make_data(n=given["n"], classes=loss.classes, rng=start)
    fresh = make_data(n=TEST_RECORDS, classes=loss.classes, rng=start)
    setting = privacy.run.setting
    noise = float(2 * setting["eta"] * setting["sigma2"]) ** 0.5  # what the certified ε was computed for
    steps: dict[str, Any] = {name: given[name] for name in ("batch_size", "epochs")}
    steps["learning_rate"] = numbers["learning_rate"]
    ticker, found = Ticker(), []
    for number, stream in enumerate(streams):
        ticker.say(f"training run {number + 1} of {runs + 1}")
        level = noise if number < runs else 0.0
        theta, clipped = train(loss, records, noise=level, rng=stream, **steps)
        found.append((accuracy(loss, theta, fresh), clipped))
    ticker.clear()
    noisy = np.array(found[:runs])
    return Trained(
        privacy=privacy,
        accuracy=float(noisy[:, 0].mean()),
        deviation=float(noisy[:, 0].std()),
        not_private=found[-1][0],
        chance=1 / loss.classes,
        clipped=float(noisy[:, 1].mean()),
        runs=runs,
        seed=seed,
    )
