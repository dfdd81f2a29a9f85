"""Gaussians a apart, whose divergence per order is a²/(2·variance): noise makes the variance larger."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Rational

from ...symbols import cost_1, epsilon_1, epsilon_2
from ..facts.epochs import composition_at_one_order, noise_processing
from ..kernel import Fact
from . import witness


@witness(noise_processing)
def _noise(fact: Fact) -> Iterator[bool]:
    for gap, variance, noise in ((1, 2, Rational(1, 1000)), (3, 1, 5)):
        before, after = (Rational(gap**2) / (2 * v) for v in (variance, variance + noise))
        yield bool(after <= fact.conclusion.value.subs(cost_1, before))


@witness(composition_at_one_order)
def _composition(fact: Fact) -> Iterator[bool]:
    for first, second in ((1, 2), (3, 0)):  # independent shifts: R_a is a·(their squares' sum)/2, exactly the sum
        at_two = {epsilon_1: first**2, epsilon_2: second**2}  # order 2, unit variance
        yield bool(first**2 + second**2 <= fact.conclusion.value.subs(at_two))
