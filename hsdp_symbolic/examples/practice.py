"""What people really run: for each kind of run the Lipschitz constant of its update, what applies, and its ε.

All are the digits example: 1344 records of norm at most 1 in batches of 64, 15 epochs, learning rate 0.5, gradients
clipped to norm 1, noise multiplier 8, δ = 10⁻⁵; each row says what is different.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..accounting import (
    Guarantee,
    TrainingRun,
    average,
    checkpoints,
    convex,
    epsilon,
    logistic,
    smooth,
    softmax,
    training_run,
)
from ..progress import Ticker

DELTA = "1e-5"
DIGITS: Mapping[str, Any] = {
    "n": 1344,
    "batch_size": 64,
    "epochs": 15,
    "learning_rate": "0.5",
    "noise_multiplier": 8,
    "max_grad_norm": 1,
}
BINARY: Mapping[str, Any] = {"weight_decay": "0.01", "loss": logistic(feature_norm=1, bias=False)}
SHORT_RECORDS, LONG_RECORDS = (logistic(feature_norm=norm, bias=False) for norm in ("0.5", 4))
"""S_g is twice the clip norm at most, and less for short gradients; β is C(L − C) at most, for long ones."""
TEN_CLASSES = softmax(classes=10, feature_norm=1)
TEN_WITHOUT_BIAS = softmax(classes=10, feature_norm=1, bias=False)
HALVED = ["0.5"] * 5 + ["0.25"] * 5 + ["0.125"] * 5
STEPS_PER_EPOCH = 21


@dataclass(frozen=True)
class Practice:
    """A kind of run: what is said of it beyond `DIGITS`, and how its batches are made."""

    words: str
    scheme: str
    told: Mapping[str, Any] = field(default_factory=dict)
    neighbouring: str = "replace_one"

    def run(self) -> TrainingRun:
        return training_run(**{**DIGITS, **self.told})

    def constant(self) -> Fraction | None:
        """The Lipschitz constant known of its update, the largest if steps differ; None if there is none."""
        run = self.run()
        known = run.footing().setting
        if "lipschitz" in known:
            return known["lipschitz"]
        if "loss" not in self.told:
            return None
        rates = [known["eta"]] if run.schedule is None else [each.eta for each in run.schedule.stretches]
        return 1 - min(rates) * known["lam"] if "lam" in known else Fraction(1)

    def guarantee(self) -> Guarantee:
        return epsilon(self.run(), delta=DELTA, scheme=self.scheme, neighbouring=self.neighbouring)


PRACTICE = (
    Practice("binary logistic, weight decay added after clipping", "fixed", BINARY),
    Practice("the same, shuffled once", "shuffle", BINARY),
    Practice("the same, reshuffled every epoch", "reshuffle", BINARY),
    Practice("the same, drawn without replacement", "without_replacement", BINARY),
    Practice("the same, neighbours differ in a label alone", "shuffle", BINARY, "label_only"),
    Practice("the same, a record's gradient left out", "shuffle", BINARY, "zero_out"),
    Practice("the same, records of norm at most 1/2", "shuffle", {**BINARY, "loss": SHORT_RECORDS}),
    Practice("the same, records of norm at most 4", "shuffle", {**BINARY, "loss": LONG_RECORDS}),
    Practice("the same without weight decay", "shuffle", {**BINARY, "weight_decay": None}),
    Practice("the same, the regulariser clipped with the loss", "shuffle", {**BINARY, "regulariser": "inside"}),
    Practice("softmax, ten classes, weight decay 0.2", "shuffle", {"weight_decay": "0.2", "loss": TEN_CLASSES}),
    Practice("softmax without a bias", "shuffle", {"weight_decay": "0.2", "loss": TEN_WITHOUT_BIAS}),
    Practice("softmax, reshuffled every epoch", "reshuffle", {"weight_decay": "0.2", "loss": TEN_CLASSES}),
    Practice("softmax, weight decay 0.01", "shuffle", {"weight_decay": "0.01", "loss": TEN_CLASSES}),
    Practice(
        "any convex loss, 1/2-smooth, weight decay 0.2",
        "reshuffle",
        {"weight_decay": "0.2", "loss": convex(smoothness="0.5")},
    ),
    Practice(
        "any smooth loss, 1/100-smooth, weight decay 0.2",
        "reshuffle",
        {"weight_decay": "0.2", "loss": smooth(smoothness="0.01")},
    ),
    Practice(
        "binary logistic, learning rate halved every five epochs",
        "reshuffle",
        {**BINARY, "learning_rate": HALVED, "per": "epoch"},
    ),
    Practice(
        "the same, annealed along a cosine to nothing",
        "reshuffle",
        {**BINARY, "learning_rate": lambda step: 0.25 * (1 + math.cos(math.pi * step / (15 * STEPS_PER_EPOCH)))},
    ),
    Practice(
        "1347 records, the last batch shorter, one divisor",
        "reshuffle",
        {**BINARY, "n": 1347, "leftover": "partial", "divisor": 64},
    ),
    Practice("1347 records, three left out of every epoch", "reshuffle", {**BINARY, "n": 1347, "leftover": "dropped"}),
    Practice("the mean of the last ten iterates is released", "reshuffle", {**BINARY, "released": average(10)}),
    Practice(
        "iterates are released after epochs 5 and 10 too",
        "reshuffle",
        {**BINARY, "released": checkpoints(5 * STEPS_PER_EPOCH, 10 * STEPS_PER_EPOCH)},
    ),
    Practice("a network, plain hinge loss, momentum, Adam", "reshuffle", {"optimizer": "adam"}),
)
"""In the order of the documentation's table."""


@dataclass(frozen=True)
class Row:
    """What came of one kind of run."""

    practice: Practice
    constant: Fraction | None
    found: Guarantee

    def record(self) -> dict[str, Any]:
        return {
            "words": self.practice.words,
            "scheme": self.practice.scheme,
            "neighbouring": self.practice.neighbouring,
            "S_g": None if self.found.sensitivity is None else float(self.found.sensitivity.value),
            "lipschitz": None if self.constant is None else float(self.constant),
            "epsilon": self.found.epsilon,
            "bound": self.found.bound,
            "hidden_state": self.found.hidden_state,
        }


def rows(ticker: Ticker | None = None) -> Iterator[Row]:
    """One row for each kind of run.

    >>> first = next(rows())
    >>> first.found.bound, round(first.found.epsilon, 3), float(first.constant)
    ('gdp:cyclic', 1.163, 0.995)
    """
    for each in PRACTICE:
        if ticker is not None:
            ticker.say(each.words)
        yield Row(each, each.constant(), each.guarantee())
