"""Clipped gradients of a quadratic loss with numbers: two coordinates, everything computed from its definition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sympy import Symbol

from ...symbols import (
    G,
    P,
    X,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    cut_grad,
    grad_change,
    grad_move,
    smoothness,
)
from ..facts import clipped_updates as facts
from ..kernel import Fact
from . import witness
from .regression import holds

Vector = NDArray[np.float64]
CLIP, CURVES = 1.5, np.array([4.0, 1.0])


def _clipped(gradient: Vector) -> Vector:
    return gradient * min(1.0, CLIP / float(np.linalg.norm(gradient)))


def _case(one: tuple[float, float], other: tuple[float, float]) -> dict[Symbol, float]:
    """ℓ = 2x² + y²/2 at two points."""
    points = np.array(one), np.array(other)
    gradients = [CURVES * point for point in points]
    move, change = points[1] - points[0], gradients[1] - gradients[0]
    cut = _clipped(gradients[1]) - _clipped(gradients[0])
    products = (
        (X, move @ move),
        (grad_move, change @ move),
        (grad_change, change @ change),
        (cut_grad, cut @ change),
        (P, cut @ move),
        (G, cut @ cut),
    )
    return {smoothness: float(CURVES.max()), **{name: float(value) for name, value in products}}


CASES = tuple(
    _case(*points) for points in (((0.1, 0.2), (0.3, 0.2)), ((1, 2), (-1, 0.5)), ((3, 1), (0.1, 0.1)), ((0, 3), (2, 3)))
)
WEIGHTS = ((1, 0, 0), (0, 1, -1), (-4, 1, 0), (1, 1, -2))


@witness(facts.cocoercive)
def _cocoercive(fact: Fact) -> Iterator[bool]:
    for values in CASES:
        yield holds(fact.conclusion, values)


@witness(facts.clipping_projects)
def _clipping_projects(fact: Fact) -> Iterator[bool]:
    for values in CASES:
        yield holds(fact.conclusion, values)


@witness(facts.square_of_three)
def _square_of_three(fact: Fact) -> Iterator[bool]:
    for values in CASES:
        for weights in WEIGHTS:
            put = dict(zip((coefficient_1, coefficient_2, coefficient_3), weights, strict=True))
            yield holds(fact.conclusion, {**values, **put})
