"""Softmax regression with numbers: a record, parameters and a direction, everything computed from its definition.

Derivatives are taken by differences of the clipped gradient itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Symbol

from ...symbols import (
    Delta_2,
    G,
    P,
    X,
    bias_1,
    clip_1,
    clip_scale,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    count,
    cov_12,
    cov_uu,
    cov_uv,
    cov_vv,
    decay_1,
    epsilon_1,
    epsilon_2,
    factor,
    features_1,
    norm_2,
    p_own,
    p_squares,
    place,
    step_1,
    t_squares,
    t_variance,
    w_across,
    w_along,
    w_bar,
    w_max,
    w_mean,
    w_mean_square,
    w_min,
    w_own,
    w_squares,
    w_variance,
)
from ..facts import regression as facts
from ..facts.regression import Vectors
from ..kernel import Fact
from ..propositions import AtMost, Equal, Less, Proposition
from . import witness

Vector = NDArray[np.float64]
CLOSE = 1e-6
"""How far rounding, and a difference in the place of a derivative, may be off."""


@dataclass(frozen=True, eq=False)
class Case:
    """One record, of class 0, at some parameters, in some direction."""

    features: Vector
    parameters: Vector
    direction: Vector
    clip: float
    decay: float = 0.3
    bias: int = 1

    @cached_property
    def inputs(self) -> Vector:
        return np.append(self.features, np.ones(self.bias))

    def residual_at(self, parameters: Vector) -> Vector:
        """p − y."""
        scores = np.exp(parameters @ self.inputs)
        found: Vector = scores / scores.sum()
        found[0] -= 1
        return found

    def gradient_at(self, parameters: Vector) -> Vector:
        """The gradient of the loss, clipped."""
        found: Vector = np.outer(self.residual_at(parameters), self.inputs)
        return found * min(1.0, self.clip / float(np.linalg.norm(found)))

    @cached_property
    def residual(self) -> Vector:
        return self.residual_at(self.parameters)

    @cached_property
    def p(self) -> Vector:
        found = self.residual.copy()
        found[0] += 1
        return found

    @cached_property
    def rates(self) -> Vector:
        """w: how the scores change."""
        found: Vector = self.direction @ self.inputs
        return found

    @cached_property
    def derivative(self) -> Vector:
        """AΔ, by differences."""
        h = 1e-5
        ends = (self.gradient_at(self.parameters + side * h * self.direction) for side in (1, -1))
        return np.subtract(*ends) / (2 * h)

    @property
    def is_clipped(self) -> bool:
        return bool(np.linalg.norm(self.residual) * np.linalg.norm(self.inputs) > self.clip)

    def covariance(self, first: Vector, second: Vector) -> float:
        return float(self.p @ (first * second) - (self.p @ first) * (self.p @ second))

    @cached_property
    def unit(self) -> tuple[Vector, Vector]:
        """û, and a unit vector orthogonal to it in whose plane w lies."""
        along = self.residual / np.linalg.norm(self.residual)
        across = self.rates - (self.rates @ along) * along
        return along, across / np.linalg.norm(across)

    @cached_property
    def change(self) -> Vector:
        """t: Tw, or (I − ûûᵀ)Tw where the gradient is clipped."""
        found: Vector = self.p * self.rates - self.p * (self.p @ self.rates)
        u = self.unit[0]
        return found - (u @ found) * u if self.is_clipped else found

    @cached_property
    def values(self) -> dict[Symbol, float]:
        w, (u, v) = self.rates, self.unit
        length = float(np.linalg.norm(self.residual) * np.linalg.norm(self.inputs))
        return {
            count: len(w),
            features_1: float(np.linalg.norm(self.features)),
            bias_1: self.bias,
            clip_1: self.clip,
            decay_1: self.decay,
            p_own: float(self.p[0]),
            p_squares: float(self.p @ self.p),
            norm_2: float(self.inputs @ self.inputs),
            Delta_2: float((self.direction**2).sum()),
            w_squares: float(w @ w),
            w_mean: float(self.p @ w),
            w_mean_square: float(self.p @ w**2),
            w_variance: self.covariance(w, w),
            w_max: float(w.max()),
            w_min: float(w.min()),
            w_bar: float(w.mean()),
            w_own: float(w[0]),
            w_along: float(w @ u),
            w_across: float(w @ v),
            cov_uu: self.covariance(u, u),
            cov_uv: self.covariance(u, v),
            cov_vv: self.covariance(v, v),
            t_squares: float(self.change @ self.change),
            t_variance: self.covariance(self.change, self.change),
            clip_scale: self.clip / length,
            X: float((self.direction**2).sum()),
            P: float((self.direction * self.derivative).sum()),
            G: float((self.derivative**2).sum()),
        }


def _case(classes: int, clip: float, bias: int = 1) -> Case:
    return Case(
        features=np.array([0.6, -0.8]),
        parameters=np.array([[0.3, 0.2, -0.1], [-0.5, 0.4, 0.2], [0.1, -0.7, 0.3]])[:classes, : 2 + bias],
        direction=np.array([[0.2, -0.4, 0.9], [0.5, 0.3, -0.2], [-0.6, 0.1, 0.4]])[:classes, : 2 + bias],
        clip=clip,
        bias=bias,
    )


CLIPPED = (_case(2, 0.4), _case(3, 0.5), _case(3, 0.5, bias=0))
NOT_CLIPPED = (_case(2, 9.0), _case(3, 9.0), _case(3, 9.0, bias=0))


def number(expr: Expr, values: dict[Symbol, float]) -> float:
    """The value of an expression at a point."""
    return float(expr.subs(values))


def holds(proposition: Proposition, values: dict[Symbol, float]) -> bool:
    """Whether an equality or inequality is true at a point, up to rounding."""
    if not isinstance(proposition, AtMost | Less | Equal):
        raise TypeError(f"{proposition} relates no numbers")
    gap = number(proposition.right - proposition.left, values)
    return abs(gap) < CLOSE if isinstance(proposition, Equal) else gap > -CLOSE


def _at_each(fact: Fact, cases: tuple[Case, ...]) -> Iterator[bool]:
    for case in cases:
        yield holds(fact.conclusion, case.values)


for _fact in (facts.feature_norm, facts.own_squared, facts.squares_at_most_one, facts.between_extremes):
    witness(_fact)(lambda fact: _at_each(fact, (*CLIPPED, *NOT_CLIPPED)))
for _fact in (facts.two_squares, facts.others_apart, facts.plain_norm):
    witness(_fact)(lambda fact: _at_each(fact, NOT_CLIPPED))
for _fact in (facts.bent_norm, facts.clip_is_shorter, facts.clip_reached):
    witness(_fact)(lambda fact: _at_each(fact, CLIPPED))


def _are(fact: Fact, case: Case, first: Vector, second: Vector) -> bool:
    """Whether two vectors have the inner products and covariances that a fact says."""
    if not isinstance(fact.conclusion, Vectors):
        raise TypeError(f"{fact.name} says nothing of two vectors")
    inner = [float(x @ y) for x, y in ((first, first), (first, second), (second, second))]
    covariances = [case.covariance(x, y) for x, y in ((first, first), (first, second), (second, second))]
    said = [part for part in fact.conclusion.parts() if isinstance(part, Expr)]
    pairs = zip(said, (*inner, *covariances), strict=True)
    return all(abs(number(part, case.values) - value) < CLOSE for part, value in pairs)


@witness(facts.bent_vectors)
def _bent_vectors(fact: Fact) -> Iterator[bool]:
    for case in CLIPPED:
        yield _are(fact, case, *case.unit)


@witness(facts.bent_change)
def _bent_change(fact: Fact) -> Iterator[bool]:
    for case in CLIPPED:
        yield _are(fact, case, case.rates, case.change)


@witness(facts.plain_vectors)
def _plain_vectors(fact: Fact) -> Iterator[bool]:
    for case in NOT_CLIPPED:
        yield _are(fact, case, case.rates, case.change)


@witness(facts.two_classes)
def _two_classes(fact: Fact) -> Iterator[bool]:
    case = CLIPPED[0]
    for values in (cov_uv, cov_vv, t_squares):  # each a covariance with a vector orthogonal to p − y
        yield holds(fact.conclusion, {cov_12: case.values[values]})


@witness(facts.clipped_or_not)
def _clipped_or_not(fact: Fact) -> Iterator[bool]:
    """The premises' ⟨Δ, AΔ⟩ and ‖AΔ‖² are those of differences; weights at which the bound is attained."""
    for premise, cases in ((fact.premises[1], NOT_CLIPPED), (fact.premises[2], CLIPPED)):
        for case in cases:
            for weights in ((0, 1, 0), (0, 0, 1)):
                put = dict(zip((coefficient_1, coefficient_2, coefficient_3), weights, strict=True))
                said = number(premise.right.subs(put), case.values)  # type: ignore[attr-defined]
                yield abs(said - (case.values[P] if weights[1] else case.values[G])) < CLOSE
            tight = {coefficient_1: -case.values[P] / case.values[X], coefficient_2: 1, coefficient_3: 0}
            yield holds(fact.conclusion, {**case.values, **tight})


@witness(facts.lipschitz_by_derivative)
def _lipschitz_by_derivative(fact: Fact) -> Iterator[bool]:
    """The premise's left side is the squared norm of (1 − ηλ)Δ − ηAΔ, so that no smaller constant will do."""
    for case in (*CLIPPED, *NOT_CLIPPED):
        step = 0.7
        moved = (1 - step * case.decay) * case.direction - step * case.derivative
        values = {**case.values, step_1: step, factor: 1}
        said = number(fact.premises[0].left, values)  # type: ignore[attr-defined]
        yield abs(said - float((moved**2).sum())) < CLOSE
        stretched = (float((moved**2).sum()) / case.values[X]) ** 0.5
        yield number(fact.conclusion.value, {factor: stretched}) >= stretched - CLOSE


@witness(facts.clipped_apart)
def _clipped_apart(fact: Fact) -> Iterator[bool]:
    """Two opposite gradients of the clip norm, in a batch of b records."""
    step, clip, size = 0.5, 2.0, 4
    said = number(fact.conclusion.distance, {step_1: step, clip_1: clip, place: size})  # type: ignore[attr-defined]
    yield abs(step * (clip - -clip) / size - said) < CLOSE


@witness(facts.normalised_first)
def _normalised_first(fact: Fact) -> Iterator[bool]:
    """Two Gaussian mechanisms, N(s, 1) against N(0, 1): together they are one with s² the sum of both."""
    order, first, second = 3, 2, 5
    spent = order * first / 2, order * second / 2
    said = number(fact.conclusion.value, {epsilon_1: spent[0], epsilon_2: spent[1]})
    yield order * (first + second) / 2 <= said
