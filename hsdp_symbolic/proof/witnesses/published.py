"""Cases in which the published bounds are nearly attained: quadratic losses, and the sampled Gaussian at order 2."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Rational, exp, log

from ...functions.sampled_gaussian import SampledGaussian
from ...symbols import base, cost_1, distance, further, noise_1, order, rate, s_unit, t_tilt
from ..facts.published import mixing_and_diffusion, sampled_gaussian, sampled_gaussian_at_least
from ..kernel import Fact
from . import witness


@witness(mixing_and_diffusion)
def _quadratic(fact: Fact) -> Iterator[bool]:
    """θ²/2 with small steps: means c^r apart, variance 1 + c² + … + c^(2r), exactly."""
    for steps, kept in ((5, Rational(999, 1000)), (3, Rational(99, 100))):
        exact = kept ** (2 * steps) / sum(kept ** (2 * s) for s in range(steps + 1)) / 2
        said = fact.conclusion.value.subs({base: kept, further: steps, distance: 1, noise_1: 1})
        yield bool(exact <= said)


def _at_order_two(expr: Expr) -> Expr:
    """The sampled Gaussian at order 2 is log(1 + p²(e^(2ρ) − 1))."""
    return expr.replace(SampledGaussian, lambda p, rho, _: log(1 + p**2 * (exp(2 * rho) - 1)))


@witness(sampled_gaussian)
def _sampled(fact: Fact) -> Iterator[bool]:
    for share, rho in ((Rational(1, 2), 1), (1, Rational(1, 3))):
        said = _at_order_two(fact.conclusion.value.subs({order: 2, rate: share, cost_1: rho}))
        yield bool((log(1 + share**2 * (exp(2 * rho) - 1)) - said).evalf() < Rational(1, 10**12))


@witness(sampled_gaussian_at_least)
def _hoelder(fact: Fact) -> Iterator[bool]:
    for share, shift in ((1, 1), (Rational(1, 2), 2)):
        put = {order: 2, rate: share, s_unit: shift, t_tilt: share * shift}
        low, high = (_at_order_two(side.subs(put)) for side in (fact.conclusion.left, fact.conclusion.right))  # type: ignore[attr-defined]
        yield bool((low - high).evalf() < Rational(1, 10**12))
