"""The cases of `regression`, for what is said of other classes and of vectors across the gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...symbols import factor, weight_1, weight_2
from ..facts import clipped_softmax as facts
from ..kernel import Fact
from . import witness
from .regression import CLIPPED, NOT_CLIPPED, holds


@witness(facts.others_mean)
def _others_mean(fact: Fact) -> Iterator[bool]:
    for case in (*CLIPPED, *NOT_CLIPPED):
        yield holds(fact.conclusion, case.values)


@witness(facts.moved_whole)
def _moved_whole(fact: Fact) -> Iterator[bool]:
    """With the least factor: the largest eigenvalue of T."""
    for case in CLIPPED:
        largest = np.linalg.eigvalsh(np.diag(case.p) - np.outer(case.p, case.p))[-1]
        yield holds(fact.conclusion, {**case.values, factor: float(largest)})


@witness(facts.square_across)
def _square_across(fact: Fact) -> Iterator[bool]:
    for case in CLIPPED:
        for weights in ((1, 0), (0, 1), (1, -1), (-0.2, 1)):
            yield holds(fact.conclusion, {**case.values, weight_1: weights[0], weight_2: weights[1]})
