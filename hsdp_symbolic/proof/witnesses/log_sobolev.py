"""Gaussians: N(0, V) has log-Sobolev constant 1/V, and what maps and noise do to V is plain arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from ...symbols import factor, inverse, noise_2
from ..facts.log_sobolev import lsi_convolution, lsi_point, lsi_push_forward
from ..kernel import Fact
from . import witness


@witness(lsi_point)
def _point(fact: Fact) -> Iterator[bool]:
    yield bool(fact.conclusion.value == 0)


@witness(lsi_push_forward)
def _push_forward(fact: Fact) -> Iterator[bool]:
    for scale, variance in ((2, 3), (5, 1)):  # θ ↦ scale·θ has variance scale²·variance
        yield bool(scale**2 * variance <= fact.conclusion.value.subs({factor: scale, inverse: variance}))


@witness(lsi_convolution)
def _convolution(fact: Fact) -> Iterator[bool]:
    for variance, noise in ((2, 3), (0, 7)):
        yield bool(variance + noise <= fact.conclusion.value.subs({inverse: variance, noise_2: noise}))
