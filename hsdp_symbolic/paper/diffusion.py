"""What Gaussian noise does to the divergence of two laws, derived: the theorems behind `paper.postprocessing`.

s is the variance of the noise; p and p' are the densities, r = p/p', R(a, s) is the divergence, E_α = e^((α−1)R), and
I_α the integral of r^α·‖∇log r‖²·p'.
"""

from __future__ import annotations

from functools import cache

from sympy import Add, Derivative, Expr, Lambda, S, log

from ..proof import kernel
from ..proof.facts.definitions import PAIR
from ..proof.facts.diffusion import (
    DIFFUSE,
    FIRST,
    HAVE_DENSITIES,
    INFORMATION,
    INFORMATION_OVER,
    MOMENT,
    MOMENT_OVER,
    RATIO,
    RENYI,
    SECOND,
    differentiated_by_noise,
    differentiated_by_order,
    divergence_of_densities,
    green_first,
    green_second,
    heat_first,
    heat_second,
    information_converges,
    kl_below_fisher,
    moment,
    noise_smooths,
    through_densities,
)
from ..proof.facts.log_sobolev import lsi_convolution
from ..proof.facts.renyi import noise_processing
from ..proof.integrals import Coordinatewise, Everywhere, Integrated
from ..proof.kernel import (
    Theorem,
    apply,
    assume,
    cancel,
    chain,
    combine,
    cut,
    linear,
    named,
    substitute,
    swap,
    under_integral,
)
from ..proof.propositions import AtMost, Less, LogSobolev, Noised, PerOrder
from ..proof.search import given, later, use
from ..symbols import (
    alpha,
    alpha_minus_1,
    c,
    cost_1,
    cost_2,
    factor,
    inverse,
    later_s,
    little,
    noise_2,
    noise_more,
    order,
    ratio_at,
    renyi_at,
    slope_z,
    spread_0,
    tau,
    theta,
)


def _split(head: type[Integrated], old: Expr, *terms: Expr) -> Theorem:
    """∫ old = the sum of the integrals of the terms, which add up to it; constants come out."""
    return _split_by(head, cancel(old, Add(*terms)))


def _split_by(head: type[Integrated], equality: Theorem) -> Theorem:
    inside = under_integral(head, equality, theta)
    return chain(inside, linear(inside.proposition.right))  # type: ignore[attr-defined]


def _above_one() -> Theorem:
    return given(alpha > 1)


def _dense() -> Theorem:
    return assume(HAVE_DENSITIES)


def _moment() -> Theorem:
    """∫ r^α·p' = E_α."""
    return apply(moment, _dense(), _above_one())


_TILT = RATIO**alpha / MOMENT
"""ρ/p', for the tilted law ρ = r^α·p'/E_α."""
_FISHER_OVER = (_TILT * Derivative(log(_TILT), theta) ** 2 * SECOND).doit()
"""The integrand of J(ρ‖p')."""


@cache
def _fisher_over() -> Theorem:
    """α²/E_α times the integrand of I_α is that of J(ρ‖p'): E_α does not depend on θ."""
    worked = kernel.work_out(alpha**2 / MOMENT * INFORMATION_OVER)
    return chain(worked, cancel(worked.proposition.right, _FISHER_OVER))  # type: ignore[attr-defined]


@cache
def fisher_of_tilted() -> Theorem:
    """J(ρ‖p') = α²·I_α/E_α."""
    return named(_split_by(Coordinatewise, swap(_fisher_over())), "the Fisher information of the tilted law")


@cache
def kl_of_tilted() -> Theorem:
    """KL(ρ‖p') = R + α(α−1)·∂_α R."""
    slope = kernel.work_out(Derivative(MOMENT_OVER, alpha))
    logs = slope.proposition.right  # type: ignore[attr-defined]
    parts = _split(Everywhere, _TILT * log(_TILT) * SECOND, alpha / MOMENT * logs, -log(MOMENT) / MOMENT * MOMENT_OVER)
    moved = chain(
        under_integral(Everywhere, swap(slope), theta),
        swap(apply(differentiated_by_order, _dense(), _above_one())),
        kernel.work_out(Derivative(MOMENT, alpha)),
    )
    found = kernel.rewrite(kernel.rewrite(parts, moved), _moment())
    value = RENYI + alpha * (alpha - 1) * Derivative(RENYI, alpha)
    return named(chain(found, cancel(found.proposition.right, value)), "KL of the tilted law")  # type: ignore[attr-defined]


@cache
def information() -> Theorem:
    """(2c/α²)·(R + α(α−1)·∂_α R) ≤ I_α/E_α, for laws with log-Sobolev constant c."""
    one = kernel.rewrite(_split(Everywhere, _TILT * SECOND, MOMENT_OVER / MOMENT), _moment())
    converges = apply(information_converges, _dense(), _above_one(), put={factor: alpha**2 / MOMENT})
    finite = kernel.rewrite(converges, _fisher_over())
    spread = assume(LogSobolev(PAIR, 1 / c))
    below = apply(kl_below_fisher, spread, _dense(), one, finite, put={ratio_at: Lambda(theta, _TILT)})
    together = kernel.rewrite(chain(swap(kl_of_tilted()), below), fisher_of_tilted())
    left = 2 * c / alpha**2 * kl_of_tilted().proposition.right  # type: ignore[attr-defined]
    return named(combine(left, INFORMATION / MOMENT, (2 * c / alpha**2, together)), "information against divergence")


def _diffuses() -> Theorem:
    return assume(DIFFUSE)


@cache
def entropy_production() -> Theorem:
    """∂_s R ≤ −(α/2)·I_α/E_α; in fact they are equal."""
    worked = kernel.work_out(Derivative(MOMENT_OVER, tau))
    powers = (
        alpha * RATIO ** (alpha - 1) * Derivative(FIRST, tau),
        (1 - alpha) * RATIO**alpha * Derivative(SECOND, tau),
    )
    split = _split_by(Everywhere, chain(worked, cancel(worked.proposition.right, Add(*powers))))  # type: ignore[attr-defined]
    for heat, green, power in ((heat_first, green_first, alpha - 1), (heat_second, green_second, alpha)):
        flow, parts = (apply(fact, _diffuses(), put={order: power}) for fact in (heat, green))
        split = kernel.rewrite(kernel.rewrite(split, flow), parts)
    first, second = (
        Derivative(RATIO**power, theta) * Derivative(density, theta)
        for power, density in ((alpha - 1, FIRST), (alpha, SECOND))
    )
    both = alpha * first + (1 - alpha) * second
    plain = kernel.work_out(alpha * (alpha - 1) * INFORMATION_OVER)
    same = chain(plain, cancel(plain.proposition.right, both.doit()), swap(kernel.work_out(both)))  # type: ignore[attr-defined]
    gradients = _split_by(Coordinatewise, same)
    scaled = chain(swap(linear(Coordinatewise(alpha * (alpha - 1) * INFORMATION_OVER, theta))), gradients)
    moved = chain(
        swap(kernel.work_out(Derivative(MOMENT, tau))),
        apply(differentiated_by_noise, _diffuses(), _above_one()),
        split,
    )
    shrink = (_inverse_of_order(), 1 / MOMENT)
    found = combine(
        Derivative(RENYI, tau),
        -alpha / 2 * INFORMATION / MOMENT,
        (*shrink, kernel.loosen(moved)),
        (S.Half, *shrink, kernel.loosen(scaled)),
        nonzero=[_above_one()],
    )
    return named(found, "the divergence falls by the information")


@cache
def _inverse_of_order() -> Theorem:
    """0 < 1/(α − 1)."""
    return substitute(kernel.positive(1 / alpha_minus_1), {alpha_minus_1: alpha - 1}, _above_one())


@cache
def rate() -> Theorem:
    """∂_s R ≤ −(R/α + (α−1)·∂_α R)/(V₀ + s), if 1/c ≤ V₀ before any noise is added."""
    spread = apply(lsi_convolution, assume(LogSobolev(PAIR, spread_0)), kernel.positive(tau))
    dense = apply(noise_smooths, _diffuses(), put={tau: tau})
    here = use(information(), spread, dense, put={PAIR: Noised(PAIR, tau), c: 1 / (spread_0 + tau)})
    bound = -(RENYI / alpha + (alpha - 1) * Derivative(RENYI, alpha)) / (spread_0 + tau)
    found = combine(Derivative(RENYI, tau), bound, (S.One, entropy_production()), (alpha / 2, here))
    return named(found, "the divergence falls at least at this rate")


@cache
def along_characteristic() -> Theorem:
    """(V₀ + s)·R(a(s), s)/a(s) never rises with s, along a(s) = 1 + z(V₀ + s), for any z > 0."""
    path = 1 + slope_z * (spread_0 + tau)
    at_later = substitute(rate(), {tau: later_s})
    on_path = substitute(at_later, {alpha: path}, kernel.positive(path))
    on_path = cut(on_path, combine(S.One, path, (slope_z, spread_0 + tau)))
    here = substitute(on_path, {later_s: tau})
    scaled = -(spread_0 + tau) * renyi_at(path, tau) / path
    worked = kernel.work_out(Derivative(scaled, tau))
    rising = combine(S.Zero, worked.proposition.right, ((spread_0 + tau) / path, here))  # type: ignore[attr-defined]
    found = kernel.rises(scaled, tau, chain(rising, swap(worked)), noise_more)
    return named(found, "what never rises along a characteristic")


@cache
def _at_the_end() -> Theorem:
    """R at order 1 + z(V₀ + v) with noise of variance v: data processing bounds it at any s < v, and s tends to 0."""
    v, before = noise_more, assume(PerOrder(PAIR, cost_1))
    soon = v * little / (1 + little)  # runs through 0 < s < v
    path, end = 1 + slope_z * (spread_0 + soon), 1 + slope_z * (spread_0 + v)
    falls = substitute(along_characteristic(), {tau: soon, noise_more: v - soon}, combine(soon, v, (v / (1 + little),)))
    above_one = combine(S.One, path, (slope_z, spread_0 + soon))
    noised = apply(noise_processing, before, kernel.positive(soon))
    start = apply(divergence_of_densities, _diffuses(), noised, kernel.positive(soon), above_one)
    last = (spread_0 + v) * renyi_at(end, v) / end
    found = combine(last, cost_1 * (spread_0 + soon), (S.One, falls), ((spread_0 + soon) / path, start))
    least = kernel.at_zero(found, little)
    return combine(renyi_at(end, v), end * (cost_1 * spread_0 / (spread_0 + v)), (end / (spread_0 + v), least))


@cache
def noise_shrinks() -> Theorem:
    """Independent noise of variance v multiplies the divergence, over its order, by V/(V + v), V ≥ 1/c."""
    return later(
        PerOrder(Noised(PAIR, noise_2), cost_1 * inverse / (inverse + noise_2)),
        (PerOrder(PAIR, cost_1), LogSobolev(PAIR, inverse), AtMost(S.Zero, inverse), Less(S.Zero, noise_2)),
        _shrunk,
        "noise shrinks the divergence",
    )


def _shrunk() -> Theorem:
    """The end of a characteristic may have any order α > 1: z = (α−1)/(V₀ + v)."""
    z = (alpha - 1) / (spread_0 + noise_more)
    slope = combine(S.Zero, z, (1 / (spread_0 + noise_more), _above_one()))
    at_order = substitute(_at_the_end(), {slope_z: z}, slope)
    kept = cost_1 * spread_0 / (spread_0 + noise_more)
    found = apply(
        through_densities,
        assume(PerOrder(PAIR, cost_1)),
        kernel.positive(noise_more),
        at_order,
        put={noise_2: noise_more, cost_2: kept},
    )
    ranges = assume(AtMost(S.Zero, inverse)), assume(Less(S.Zero, noise_2))
    return substitute(found, {spread_0: inverse, noise_more: noise_2}, *ranges)
