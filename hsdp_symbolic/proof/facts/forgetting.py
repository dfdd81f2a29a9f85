"""Runs that go on without the record once they are trained: which steps use it, and how loud their noise is."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S

from ...meaning import Neighbouring
from ...symbols import after, cost_1, count, drifted, noise_1, noise_2, steps
from ..kernel import Fact
from ..propositions import AtMost, Descent, Unused
from .definitions import BATCHES, RUN
from .drift import ApartAt, Close, Drift, NoiseAt


@dataclass(frozen=True)
class Forgetting(Descent):
    """Descent for `training` steps, then steps without the record, whose noise is `noise_then`.

    On the dataset without the record it is absent throughout. With `ADD_REMOVE` neighbours the two are the run that
    was trained with the record and then went on without it, and the run that never had it.
    """

    training: Expr = S.Zero
    noise_then: Expr = S.One
    words = "descent with noise {noise}; {batches}; after {training} steps without the record, with noise {noise_then}"


FORGETTING = Forgetting(BATCHES, noise_1, Neighbouring.ADD_REMOVE, count, noise_2)

apart_in_training = Fact(
    "apart_in_training",
    "",
    (Unused(BATCHES, after),),
    ApartAt(FORGETTING, after, S.Zero),
    "a batch without the record has one map for both datasets, during training and after it",
)
apart_after_training = Fact(
    "apart_after_training",
    "",
    (AtMost(count, after),),
    ApartAt(FORGETTING, after, S.Zero),
    "after training no step uses the record",
)
noise_in_training = Fact(
    "noise_in_training",
    "",
    (AtMost(after + 1, count),),
    NoiseAt(FORGETTING, after, noise_1),
    "every step of training has the same noise",
)
noise_after_training = Fact(
    "noise_after_training",
    "",
    (AtMost(count, after),),
    NoiseAt(FORGETTING, after, noise_2),
    "every step after training has the same noise",
)
not_hidden = Fact(
    "not_hidden",
    "",
    (Close(RUN, steps, drifted, cost_1),),
    Drift(RUN, steps + 1, drifted, cost_1),
    "without a drift a step adds the same noise to both, whatever its size: they stay as far apart, at no cost",
)
