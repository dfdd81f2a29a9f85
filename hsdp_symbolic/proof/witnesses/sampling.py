"""Gaussians on a line, sampled with chance 1 or for certain parts: a step is then a Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Rational, sqrt

from ...symbols import distance, noise_1, rate, steps
from ..facts.sampling import (
    domination_composes,
    domination_in_turn,
    poisson_replacing,
    poisson_subsampling,
    subsampling,
)
from ..kernel import Fact
from . import witness


def _one_step(fact: Fact) -> Iterator[bool]:
    """N(x, v) moved by s with the chance of the run: μ = s/√v, at the rate of the run."""
    found = fact.conclusion
    for apart, variance, chance in ((1, 2, 1), (3, Rational(1, 2), Rational(1, 4))):
        put = {distance: apart, noise_1: variance, rate: chance}
        cost, share = (each.subs(put) for each in (found.mechanism.cost, found.mechanism.rate))  # type: ignore[attr-defined]
        yield bool(cost >= (apart / sqrt(variance)) ** 2)
        yield bool(share >= chance)


for each in (subsampling, poisson_subsampling, poisson_replacing):
    witness(each)(_one_step)


@witness(domination_in_turn)
@witness(domination_composes)
def _composes(fact: Fact) -> Iterator[bool]:
    """As many mechanisms as steps."""
    found = fact.conclusion
    for so_far in (0, 7):
        yield bool(found.count.subs(steps, so_far) >= so_far + 1)  # type: ignore[attr-defined]
