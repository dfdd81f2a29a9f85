"""Gradients of two records with numbers: two vectors, one of them longer than the clip norm, or both, or none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sympy import Symbol

from ...symbols import cut_first, cut_grad, cut_product, cut_second, factor, grad_change
from ..facts import sensitivity as facts
from ..kernel import Fact
from . import witness
from .regression import holds

Vector = NDArray[np.float64]
CLIP = 1.5
PAIRS = (((3, 1), (0.2, -0.4)), ((2, 2), (-3, 0.5)), ((0.3, 0.4), (1, 0.1)), ((1.5, 0), (-1.5, 0)), ((4, 0), (5, 0)))


def _clipped(gradient: Vector) -> Vector:
    return gradient * min(1.0, CLIP / float(np.linalg.norm(gradient)))


def _case(one: tuple[float, float], other: tuple[float, float]) -> dict[Symbol, float]:
    raw = np.array(one), np.array(other)
    first, second = map(_clipped, raw)
    change, cut = raw[0] - raw[1], first - second
    products = (
        (cut_first, first @ first),
        (cut_second, second @ second),
        (cut_product, first @ second),
        (grad_change, change @ change),
        (cut_grad, cut @ change),
    )
    return {name: float(value) for name, value in products}


@witness(facts.sum_squared)
@witness(facts.rest_squared)
@witness(facts.clipped_both)
def _two_records(fact: Fact) -> Iterator[bool]:
    for pair in PAIRS:
        yield holds(fact.conclusion, _case(*pair))


@witness(facts.logistic_clipped)
def _logistic_clipped(fact: Fact) -> Iterator[bool]:
    """A clipped φ' at many scores: it rises by no more than the largest p(1 − p)‖x‖² at which it is not cut."""
    for length, clip in ((1.0, 0.2), (3.0, 0.5), (2.0, 1.5)):
        scores = np.linspace(-12, 12, 48_001)
        wrong = 1 / (1 + np.exp(scores))
        cut = -np.minimum(wrong, clip / length) * length**2
        rises = np.diff(cut) / np.diff(scores)
        kept = wrong * length <= clip
        curvature = float((wrong * (1 - wrong))[kept].max()) * length**2
        found = float(fact.conclusion.value.subs(factor, curvature))
        yield bool(rises.min() >= 0 and rises.max() <= found * (1 + 1e-6))
