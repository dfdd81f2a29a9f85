"""Gaussians on a line and coins: profiles of these can be computed."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Max, Rational, erfc, exp, sqrt

from ...functions.gaussian_profile import GaussianProfile
from ...symbols import cost_1, cost_2, distance, epsilon_1, noise_1, weight
from ..facts.profiles import gaussian_composition, gaussian_profile, gaussian_step, profile_of_mixture
from ..kernel import Fact
from . import witness


def told_apart(cost: Expr, epsilon: Expr) -> Expr:
    """∫(μ − e^ε·ν)₊ of N(0, 1) and N(√cost, 1)."""
    near, far = (erfc((epsilon + side * cost / 2) / sqrt(2 * cost)) for side in (-1, 1))
    return (near - exp(epsilon) * far) / 2


@witness(gaussian_step)
def _step(fact: Fact) -> Iterator[bool]:
    """N(x, v) and N(x + s, v), divided by √v, are s/√v apart."""
    for apart, variance in ((1, 2), (3, Rational(1, 2))):
        yield bool(fact.conclusion.value.subs({distance: apart, noise_1: variance}) >= (apart / sqrt(variance)) ** 2)


@witness(gaussian_composition)
def _composition(fact: Fact) -> Iterator[bool]:
    """Two independent Gaussians with means (a, b) or (0, 0) are √(a² + b²) apart, along the line through the means."""
    for one, other in ((1, 2), (3, 4)):
        yield bool(fact.conclusion.value.subs({cost_1: one**2, cost_2: other**2}) >= one**2 + other**2)


@witness(gaussian_profile)
def _profile(fact: Fact) -> Iterator[bool]:
    for cost, epsilon in ((1, 0), (4, 1), (Rational(1, 4), Rational(1, 2))):
        value = fact.conclusion.value.subs({cost_1: cost, epsilon_1: epsilon}).replace(GaussianProfile, told_apart)
        yield bool(value.evalf() >= told_apart(Rational(cost), Rational(epsilon)).evalf() - 1e-12)


def _coins(first: tuple[Expr, ...], second: tuple[Expr, ...], scale: int) -> Expr:
    """Σ (p − scale·q)₊, over the points of two laws."""
    return sum((Max(0, p - scale * q) for p, q in zip(first, second, strict=True)), start=Rational(0))


@witness(profile_of_mixture)
def _mixture(fact: Fact) -> Iterator[bool]:
    """Coins that always fall the same way: the mixture of two such pairs, of which only one can be told apart."""
    heads, tails = (Rational(1), Rational(0)), (Rational(0), Rational(1))
    third = (Rational(1, 3), Rational(2, 3))
    for share in (Rational(1, 3), Rational(3, 4)):
        for pairs in (((heads, tails), (heads, heads)), ((heads, third), (third, heads))):
            parts = [_coins(*pair, 1) for pair in pairs]
            # The two parts are told apart by which of them it is, too: their points are different ones.
            true = share * parts[0] + (1 - share) * parts[1]
            yield bool(fact.conclusion.value.subs({weight: share, cost_1: parts[0], cost_2: parts[1]}) >= true)
