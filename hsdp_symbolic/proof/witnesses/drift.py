"""Gaussians on a line: maps x ↦ L·x and x ↦ L·x + s attain distances, and shifts of N(0, v) attain costs."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Rational, Symbol, exp, log, sqrt

from ...symbols import cost_1, distance, drifted, factor, hidden, noise_1
from ..facts.drift import drift_end, drift_maps, gaussian_to_renyi, hide
from ..kernel import Fact
from . import witness


def _at_least(value: Expr, true: Expr, put: dict[Symbol, Expr]) -> bool:
    return bool(true <= value.subs(put))


@witness(drift_maps)
def _maps(fact: Fact) -> Iterator[bool]:
    """The points z and 0 go to L·z + s and 0; what was spent stays spent."""
    for scale, away, apart, spent in ((2, 3, 1, 5), (Rational(1, 2), 1, 4, 2), (Rational(1, 2), 1, 0, 2)):
        put = {factor: scale, drifted: away, distance: apart, cost_1: spent}
        yield _at_least(fact.conclusion.distance, scale * away + apart, put)  # type: ignore[attr-defined]
        yield _at_least(fact.conclusion.value, spent, put)


@witness(hide)
def _hide(fact: Fact) -> Iterator[bool]:
    """N(0, 1) against N(μ, 1), then N(0, v) against N(a, v): log-moments of order 2 add up."""
    for away, taken, variance, spent in ((3, 1, 2, 5), (2, 2, 1, 0)):
        put = {drifted: away, hidden: taken, noise_1: variance, cost_1: spent}
        true = log(exp(spent) * exp(Rational(taken**2, variance)))  # E[(dN(μ,1)/dN(0,1))²] = e^(μ²)
        yield _at_least(fact.conclusion.distance, away - taken, put)  # type: ignore[attr-defined]
        yield _at_least(fact.conclusion.value, true, put)


@witness(drift_end)
def _end(fact: Fact) -> Iterator[bool]:
    """A transcript of one number, N(μ, 1) or N(0, 1), that is itself what comes out."""
    for spent in (4, 9):
        yield _at_least(fact.conclusion.value, sqrt(spent) ** 2, {cost_1: spent})


@witness(gaussian_to_renyi)
def _renyi(fact: Fact) -> Iterator[bool]:
    """At order 2, log E[(dN(μ,1)/dN(0,1))²] = μ²: twice what is claimed."""
    for spent in (4, 9):
        yield _at_least(2 * fact.conclusion.value, spent, {cost_1: spent})
