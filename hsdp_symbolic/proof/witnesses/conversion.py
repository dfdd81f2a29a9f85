"""Randomised response: two points, told apart with odds e^θ, whose δ and moments are sums of two terms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...symbols import epsilon_1, epsilon_2, factor, order
from ..facts.conversion import expectation_of_tail
from ..kernel import Fact
from . import witness


@witness(expectation_of_tail)
def _randomised_response(fact: Fact) -> Iterator[bool]:
    """At order 2 the best factor is 1/4: (1 − w)·w ≤ 1/4, with equality at w = 1/2, where all the mass is put."""
    epsilon = 0.5
    ratio = 2 * math.exp(epsilon)  # μ/ν at the point where w = e^ε·ν/μ is 1/2
    for mass in (1.0, 0.9):  # of μ at that point; the rest of μ is where ν has the rest
        other = 1 - mass / ratio
        moment = mass * ratio + ((1 - mass) ** 2 / other if mass < 1 else 0.0)
        delta = mass * (1 - math.exp(epsilon) / ratio) + max(0.0, (1 - mass) - math.exp(epsilon) * other)
        put = {factor: 0.25, order: 2, epsilon_1: math.log(moment), epsilon_2: epsilon}
        yield delta <= float(fact.conclusion.value.subs(put)) + 1e-12
