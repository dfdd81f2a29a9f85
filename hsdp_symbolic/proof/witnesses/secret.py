"""Linear maps on a line and a record that is always drawn: then nothing is secret, and everything is Gaussian."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Integer, Rational, Symbol, exp

from ...functions.noise_share import NoiseShare
from ...functions.poisson_window_divergence import PoissonWindowDivergence
from ...functions.poisson_window_profile import PoissonWindowProfile
from ...functions.window_divergence import WindowDivergence
from ...functions.window_profile import WindowProfile
from ...symbols import (
    cost_1,
    cost_2,
    distance,
    drifted,
    epsilon_1,
    factor,
    noise_1,
    order,
    portion,
    rate,
    share_1,
    window_1,
)
from ..facts.secret import (
    AfterHit,
    release_drift,
    release_drift_poisson,
    release_hit,
    release_hit_poisson,
    release_last,
    release_last_poisson,
    window_moment,
    window_moment_poisson,
    window_profile,
    window_profile_poisson,
)
from ..kernel import Fact
from ..propositions import AtMost
from . import witness
from .profiles import told_apart


def _left(fact: Fact, put: dict[Symbol, Expr]) -> Expr:
    """The least price that the premise about the drift allows, with half of the noise for it."""
    (premise,) = (each for each in fact.premises if isinstance(each, AtMost) and each.right.has(NoiseShare))
    asked = premise.right.replace(NoiseShare, lambda *_: Rational(1, 2)).subs(put)
    return premise.left.subs(put) / asked.coeff(cost_2)


def _meets_at_once(fact: Fact) -> Iterator[bool]:
    """x ↦ L·x brings z to L·z, and half of the noise hides it: μ² = (L·z)²/(v/2)."""
    for scale, variance in ((2, 3), (Rational(1, 2), 1)):
        put = {factor: scale, noise_1: variance}
        spent = fact.conclusion.value.subs(cost_2, _left(fact, put))
        yield bool(spent >= Rational(scale) ** 2 / Rational(variance, 2))


def _drifts(fact: Fact) -> Iterator[bool]:
    """A drift by a third of L·z, hidden by half of the noise, then what a distance of two thirds of L·z costs."""
    for scale, variance, later in ((2, 3, 5), (Rational(1, 2), 1, 7)):
        put = {factor: scale, noise_1: variance, portion: Rational(1, 3)}
        spent = fact.conclusion.value.subs({**put, cost_1: later, cost_2: _left(fact, put)})
        moved = Rational(scale) / 3
        yield bool(spent >= moved**2 / Rational(variance, 2) + later * (2 * moved) ** 2)


def _releases(fact: Fact) -> Iterator[bool]:
    """What hides the draw is a mechanism of its own: the price of the drift stays what it was."""
    (before,) = (each for each in fact.premises if isinstance(each, AfterHit))
    for spent in (3, 5):
        yield bool(fact.conclusion.value.subs(cost_1, spent) >= before.value.subs(cost_1, spent))


for each in (release_last, release_last_poisson):
    witness(each)(_meets_at_once)
for each in (release_drift, release_drift_poisson):
    witness(each)(_drifts)
for each in (release_hit, release_hit_poisson):
    witness(each)(_releases)


_ALWAYS = {rate: Integer(1), window_1: Integer(1), share_1: Rational(1, 2), distance: Integer(1), noise_1: Integer(2)}
"""One step, half of its noise for the hit, which is certain: μ² = cost/f, cost = 1/2."""


def _always(p: Expr, cost: Expr, q: Expr, window: Expr, share: Expr) -> Expr:
    """μ² of one hit that is certain."""
    assert (p, window) == (1, 1)
    return cost / share


def _profiles(fact: Fact) -> Iterator[bool]:
    """Two Gaussians, one for the hit and one for the drift, are told apart as one."""
    for spent, away, epsilon in ((1, 2, 1), (Rational(1, 4), 1, 0)):
        put = {**_ALWAYS, factor: Rational(1, 3), cost_1: spent, drifted: away, epsilon_1: epsilon}
        value = fact.conclusion.value.subs(put)
        for node in (WindowProfile, PoissonWindowProfile):
            value = value.replace(node, lambda *args: told_apart(_always(*args[:5]) + args[5], args[6]))
        yield bool(value.evalf() >= told_apart(Rational(1) + spent * away**2, Integer(epsilon)).evalf() - 1e-12)


def _moments(fact: Fact) -> Iterator[bool]:
    """E[(dN(μ,1)/dN(0,1))^a·…] = e^(a(a−1)μ²/2), for both together."""
    for spent, away, at in ((1, 2, 3), (Rational(1, 4), 1, 2)):
        put = {**_ALWAYS, factor: Rational(1, 3), cost_1: spent, drifted: away, order: at}
        value = fact.conclusion.value.subs(put)
        for node in (WindowDivergence, PoissonWindowDivergence):
            value = value.replace(node, lambda *args: args[5] * _always(*args[:5]) / 2)
        yield bool(value.evalf() >= exp(Rational(at * (at - 1), 2) * (1 + spent * away**2)).evalf() * (1 - 1e-12))


for each in (window_profile, window_profile_poisson):
    witness(each)(_profiles)
for each in (window_moment, window_moment_poisson):
    witness(each)(_moments)
