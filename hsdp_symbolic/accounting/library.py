"""The libraries' parameters → the paper's: the one place where noise multiplier and clip norm become σ² and S_g.

A DP-SGD library updates θ ← θ − lr·(Σ clipped gradients + z·C·N(0, I))/b. The paper's step is θ ← θ − η·(mean gradient)
+ √(2ησ²)·N(0, I). So η = lr and 2ησ² = (lr·z·C/b)², an exact rational. Replacing one record moves a sum of gradients of
norm at most C by up to 2C, so S_g = 2C; adding or removing one moves it by C.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import ArgumentError
from ..letters import LARGEST_EXPONENT
from ..setting import Setting, to_fraction

REPLACE_ONE_FACTOR = 2
"""S_g over the clip norm, for neighbouring datasets that differ in one record, replaced."""


@dataclass(frozen=True)
class TrainingRun:
    """The exact setting of a run, and its number of steps where that is not K·n/b.

    `parameters` are the libraries' names for it, as given.
    """

    setting: Setting
    steps: int | None
    parameters: tuple[tuple[str, Any], ...] = ()


def admit_count(name: str, value: object) -> int:
    """A whole number from 1 to 10^30; text and floats are refused, because a count is never approximate."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentError(name, value, "not a whole number", "give an int such as 10")
    count = int(value)
    if not 1 <= count <= 10**LARGEST_EXPONENT:
        raise ArgumentError(name, value, "out of range", f"give a whole number from 1 to 10^{LARGEST_EXPONENT}")
    return count


def _positive(name: str, value: object, what: str) -> Fraction:
    result = to_fraction(name, value)
    if result <= 0:
        raise ArgumentError(name, value, f"{what} must be positive", "give a number > 0")
    return result


def _either(first: str, a: object, second: str, b: object) -> None:
    if (a is None) == (b is None):
        problem = f"{second} is given too" if a is not None else f"neither {first} nor {second} is given"
        raise ArgumentError(first, a, problem, "give one of the two")


def _batches(n: object, sample_rate: object, batch_size: object) -> tuple[int, int]:
    """Dataset size and batch size; from the rate alone, any pair of that ratio will do."""
    _either("sample_rate", sample_rate, "batch_size", batch_size)
    if batch_size is not None:
        if n is None:
            raise ArgumentError("n", None, "batch_size is given without it", "give n, or sample_rate")
        size, records = admit_count("batch_size", batch_size), admit_count("n", n)
        if size > records:
            raise ArgumentError(
                "batch_size",
                batch_size,
                f"a batch cannot exceed the dataset of n = {records}",
                "choose batch_size <= n",
            )
        return records, size
    rate = to_fraction("sample_rate", sample_rate)
    if not 0 < rate <= 1:
        raise ArgumentError(
            "sample_rate", sample_rate, "a record is sampled with probability above 0, at most 1", "give b/n, e.g. 0.01"
        )
    if n is None:
        if rate.denominator > 10**LARGEST_EXPONENT:
            raise ArgumentError("sample_rate", sample_rate, "too fine", "round it to 30 digits")
        return rate.denominator, rate.numerator
    size_exact = rate * admit_count("n", n)
    if size_exact.denominator != 1:
        raise ArgumentError(
            "sample_rate", sample_rate, f"n·sample_rate = {size_exact} is no batch size", "give batch_size instead"
        )
    return admit_count("n", n), int(size_exact)


def training_run(
    *,
    noise_multiplier: Any,
    max_grad_norm: Any = None,
    clip_norm: Any = None,
    sample_rate: Any = None,
    batch_size: Any = None,
    n: Any = None,
    steps: Any = None,
    epochs: Any = None,
    learning_rate: Any = None,
    lam: Any = None,
    beta: Any = None,
) -> TrainingRun:
    """The run a DP-SGD library's parameters describe.

    `max_grad_norm` and `clip_norm` are two names for the norm C gradients are clipped to; it matters only where the
    loss is known to be smooth, and is 1 unless given. An epoch is ⌊n/b⌋ steps. `learning_rate`, `lam` and `beta` are
    what hidden-state bounds need to know of the loss and the step; without them composition is all there is.

    >>> training_run(noise_multiplier=10, max_grad_norm=2, n=50, batch_size=2, epochs=40, learning_rate="0.02").setting
    Setting(n='50', b='2', K='40', eta='1/50', sigma='1', S_g='4')
    """
    z = _positive("noise_multiplier", noise_multiplier, "the noise")
    if max_grad_norm is not None and clip_norm is not None:
        raise ArgumentError("clip_norm", clip_norm, "max_grad_norm is given too", "give one of the two")
    name, value = ("clip_norm", clip_norm) if max_grad_norm is None else ("max_grad_norm", max_grad_norm)
    clip = Fraction(1) if value is None else _positive(name, value, "the clip norm")
    records, size = _batches(n, sample_rate, batch_size)
    _either("steps", steps, "epochs", epochs)
    batches = records // size
    count = admit_count("steps", steps) if epochs is None else admit_count("epochs", epochs) * batches
    if learning_rate is None and not (lam is None and beta is None):
        raise ArgumentError("learning_rate", None, "lam or beta is given without it", "give the learning rate")
    rate = Fraction(1) if learning_rate is None else _positive("learning_rate", learning_rate, "the learning rate")
    whole = count % batches == 0
    setting = Setting(
        n=records,
        b=size,
        K=count // batches if whole else None,
        eta=rate,
        lam=lam,
        beta=beta,
        sigma_squared=rate * z**2 * clip**2 / (2 * size**2),
        S_g=REPLACE_ONE_FACTOR * clip,
    )
    given = {
        "noise_multiplier": noise_multiplier,
        name if value is not None else "max_grad_norm": 1 if value is None else value,
        "sample_rate": sample_rate,
        "batch_size": batch_size,
        "n": n,
        "steps": steps,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "lam": lam,
        "beta": beta,
    }
    return TrainingRun(setting, None if whole else count, tuple((k, v) for k, v in given.items() if v is not None))
