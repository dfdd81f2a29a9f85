"""Two Gaussians: the integral that defines their divergence, at order 2, added up on a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...symbols import cost_1, inverse, order
from ..facts.gaussian_laws import gaussian_divergence
from ..kernel import Fact
from . import witness


def _divergence(gap: float, variance: float) -> float:
    """log ∫ μ²/ν, by the trapezoidal rule, far beyond the precision asked for."""
    deviation = math.sqrt(variance)
    nodes = [gap + k * deviation / 20 for k in range(-400, 401)]
    total = sum(math.exp((-2 * (x - gap) ** 2 + x**2) / (2 * variance)) for x in nodes) * deviation / 20
    return math.log(total / math.sqrt(2 * math.pi * variance))


@witness(gaussian_divergence)
def _gaussians(fact: Fact) -> Iterator[bool]:
    for gap, variance in ((1, 2), (0.5, 1)):
        said = fact.conclusion.value.subs({cost_1: gap, inverse: variance, order: 2})
        yield abs(float(said) - _divergence(gap, variance)) < 1e-9
