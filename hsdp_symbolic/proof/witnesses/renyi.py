"""Gaussians on a line: R_a of N(x, v) from N(y, v) is a(x − y)²/(2v), so what a fact says of costs can be computed."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Rational

from ...symbols import cost_1, cost_2, distance, noise_2
from ..facts.renyi import composition, composition_seen, composition_within, data_processing, gaussian_mechanism
from ..kernel import Fact
from . import witness

_CASES = ((3, 2, 5), (1, 4, Rational(1, 2)))
"""Distances of two shifts, and a variance."""


def _cost(shift: object, variance: object) -> Expr:
    """R_a/a of a Gaussian from the same, shifted."""
    return Rational(shift) ** 2 / (2 * Rational(variance))


@witness(gaussian_mechanism)
def _gaussian_mechanism(fact: Fact) -> Iterator[bool]:
    for shift, _, variance in _CASES:
        yield bool(_cost(shift, variance) <= fact.conclusion.value.subs({distance: shift, noise_2: variance}))


@witness(data_processing)
def _data_processing(fact: Fact) -> Iterator[bool]:
    """The identity is a map, and leaves N(0, v) and N(x, v) as they are."""
    for shift, _, variance in _CASES:
        cost = _cost(shift, variance)
        yield bool(cost <= fact.conclusion.value.subs(cost_1, cost))


@witness(composition)
@witness(composition_within)
@witness(composition_seen)
def _composition(fact: Fact) -> Iterator[bool]:
    """Steps that release their own shifted noise, each independent of the others: divergences of a pair add up."""
    for first, second, variance in _CASES:
        costs = {cost_1: _cost(first, variance), cost_2: _cost(second, variance)}
        yield bool(sum(costs.values()) <= fact.conclusion.value.subs(costs))
