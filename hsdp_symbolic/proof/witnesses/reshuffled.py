"""Coins: what is drawn alike for both datasets, and then told."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Max, Rational

from ...symbols import cost_1, moment_1
from ..facts.reshuffled import whichever_outcome, whichever_outcome_moment
from ..kernel import Fact
from . import witness


@witness(whichever_outcome)
def _mixture(fact: Fact) -> Iterator[bool]:
    """One of two coins is tossed, and told which; δ at ε = 0 of their two chances of heads is the same for both."""
    for gap in (Rational(1, 3), Rational(1, 2)):
        pairs = ((Rational(1, 2), Rational(1, 2) - gap), (Rational(1), 1 - gap))
        each = [Max(0, heads - other) for heads, other in pairs]
        true = sum(each, start=Rational(0)) / 2
        yield bool(fact.conclusion.value.subs(cost_1, max(each)) >= true)


@witness(whichever_outcome_moment)
def _mixture_of_moments(fact: Fact) -> Iterator[bool]:
    """One of two fair coins or two coins that differ is tossed, and told which; the moment of order 2."""
    for other in (Rational(1, 3), Rational(1, 4)):
        each = [Rational(1), (Rational(1, 2) ** 2) * (1 / other + 1 / (1 - other))]
        true = sum(each, start=Rational(0)) / 2
        yield bool(fact.conclusion.value.subs(moment_1, max(each)) >= true)
