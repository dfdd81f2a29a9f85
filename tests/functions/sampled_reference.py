"""Profiles and divergences of sampled Gaussians in mpmath, from their definitions and not from the package.

Closed forms are good to the working precision, integrals nearly so.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
from mpmath import mpf

from hsdp_symbolic.functions.sampled_losses import Pair

DIGITS, FEWER = 60, 24
"""Of closed forms, and of integrals where many of them are wanted."""


def far():
    """What is beyond this, of a standard normal, is lost among the digits."""
    return mpmath.sqrt(2 * mpmath.log(10) * mpmath.mp.dps) + 1


def number(x):
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def gaussian(mu, epsilon):
    """δ of N(0, 1) and N(μ, 1)."""
    if not mu:
        return max(mpf(0), -mpmath.expm1(epsilon))
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def one_step(pair, p, mu, epsilon):
    """δ of one step: a closed form, on either side of ε = 0."""
    if pair is Pair.ADD or (pair is Pair.BOTH and epsilon < 0):
        mirrored = one_step(Pair.REMOVE, p, mu, -epsilon)
        return max(mpf(0), mpmath.exp(epsilon) * mirrored - mpmath.expm1(epsilon))
    odds = 1 + mpmath.expm1(epsilon) / p
    return p * gaussian(mu, mpmath.log(odds)) if odds > 0 else -mpmath.expm1(epsilon)


def after_one_step(pair, p, mu, epsilon, profile, kinks):
    """The mean of profile(ε − loss) over the loss of one step; `kinks` are where the profile is not smooth.

    With R = 1 − p + p·e^(μx − μ²/2): (P, Q) has the loss log R and x the density φ·R; (Q, P) the loss −log R and the
    density φ. The larger of both has the first beyond x = μ/2, its mirror image, and no loss with the chance left.
    """

    def ratio(x):
        return 1 - p + p * mpmath.exp(mu * x - mu**2 / 2)

    def place(loss):
        odds = 1 + mpmath.expm1(loss) / p
        return mpmath.log(odds) / mu + mu / 2 if odds > 0 else None

    def removed(x):
        return mpmath.npdf(x) * ratio(x) * profile(epsilon - mpmath.log(ratio(x)))

    def added(x):
        return mpmath.npdf(x) * profile(epsilon + mpmath.log(ratio(x)))

    def integral(density, sign, start):
        cuts = [place(sign * (epsilon - kink)) for kink in kinks]
        inside = sorted(x for x in cuts if x is not None and start < x < far() + mu)
        return mpmath.quad(density, sorted({start, *inside, mu, far() + mu}))

    if pair is Pair.REMOVE:
        return integral(removed, 1, -far())
    if pair is Pair.ADD:
        return integral(added, -1, -far())
    rest = 1 - (2 - p) * mpmath.ncdf(-mu / 2) - p * mpmath.ncdf(mu / 2)
    return integral(removed, 1, mu / 2) + integral(added, -1, mu / 2) + rest * profile(epsilon)


def two_steps(pair, p, mu, epsilon):
    """δ of two such steps: one integral."""
    kinks = {Pair.REMOVE: [mpmath.log1p(-p)], Pair.ADD: [-mpmath.log1p(-p)], Pair.BOTH: [mpf(0)]}[pair]
    return max(mpf(0), after_one_step(pair, p, mu, epsilon, lambda at: one_step(pair, p, mu, at), kinks))


def distances(q, count, p):
    """Every value of Σ q^i·h_i over i < count, with its chance."""
    for hits in itertools.product((0, 1), repeat=count):
        chance = mpmath.fprod(p if hit else 1 - p for hit in hits)
        yield mpmath.fsum(q**i * hit for i, hit in enumerate(hits)), chance


def noise_shares(q, window, share):
    """What of its noise each step of a window of up to 64 spends on its own hit, the last step first."""
    assert window <= 64
    return [min(mpf(1), share * q**-i) for i in range(window)]


def drift_root(q, window, share, mu):
    """c: what is left of the distance z is hidden as well as N(0, 1) and N(cz, 1) are told apart."""
    spare = mpmath.fsum(q ** (2 * i) * (1 - f) for i, f in enumerate(noise_shares(q, window, share)))
    return mu * q**window / mpmath.sqrt(spare)


def one_secret_step(pair, p, mu, q, steps, share, epsilon):
    """δ of a run whose last step alone keeps its hit secret: every earlier hit enumerated, one integral."""
    root, told = drift_root(q, 1, share, mu), list(distances(q, steps - 1, p))

    def drift(at):
        return mpmath.fsum(chance * gaussian(root * z, at) for z, chance in told)

    return after_one_step(pair, p, mu / mpmath.sqrt(share), epsilon, drift, [mpf(0)])


def divergence(p, mu, order):
    """r_α of one step without replacement, from its profile at all ε > 0."""

    def at(t):
        weight = mpmath.exp((order - 1) * t) + mpmath.exp(-order * t)
        return weight * one_step(Pair.BOTH, p, mu, t)

    end = order * mu**2 + far() * mu
    whole = mpmath.quad(at, [end * mpf(2) ** -k for k in range(9, -1, -1)]) + mpmath.quad(at, [0, end / 512])
    return mpmath.log1p(order * (order - 1) * whole) / (order - 1)


def secret_divergence(p, mu, q, steps, window, share, order):
    """The sampled steps' divergences, and log E exp(α(α − 1)c²z²/2)/(α − 1), every hit enumerated."""
    root = drift_root(q, window, share, mu)
    moment = mpmath.fsum(
        chance * mpmath.exp(order * (order - 1) * (root * z) ** 2 / 2) for z, chance in distances(q, steps - window, p)
    )
    steps_own = mpmath.fsum(divergence(p, mu / mpmath.sqrt(f), order) for f in noise_shares(q, window, share))
    return steps_own + mpmath.log(moment) / (order - 1)
