"""Two laws while Gaussian noise is added to both: their densities, their divergence, and what moves it.

s is the variance of the noise, per coordinate; p(θ, s) and p'(θ, s) are the two densities, R(a, s) is the divergence.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Derivative, Expr, Lambda, S, exp, log

from ...meaning import Quantity
from ...symbols import (
    a,
    alpha,
    cost_1,
    cost_2,
    distance,
    epsilon_1,
    epsilon_2,
    factor,
    hit,
    inverse,
    noise_2,
    order,
    p_at,
    p_prime_at,
    ratio_at,
    renyi_at,
    s,
    t,
    tau,
    theta,
)
from ..integrals import Coordinatewise, Everywhere
from ..kernel import Fact
from ..propositions import (
    Anything,
    AtMost,
    Batches,
    Either,
    Equal,
    Less,
    LogSobolev,
    Noised,
    Pair,
    PerOrder,
    Proposition,
    Unused,
)
from .definitions import BATCHES, PAIR
from .log_sobolev import VEMPALA

EVANS = "Evans 2010, Partial Differential Equations (the heat equation; Green's identities)"
BILLINGSLEY = "Billingsley 1995, Probability and Measure (derivatives under the integral sign)"

# --- What is known of densities ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Densities(Proposition):
    """The laws have the densities `first` and `second`, functions of θ, in this order or the other; they are positive
    and smooth. `divergence` is R_a of the first from the second, a smooth function of a > 1, finite at every a, as are
    E[(p/p')^a·‖∇log(p/p')‖²] under p' and the integrals of (p/p')^a·p'·log(p/p').
    """

    pair: Pair | Anything
    first: Lambda
    second: Lambda
    divergence: Lambda
    words = "{pair} has smooth densities {first} and {second}, and the divergence {divergence}, with finite moments"


@dataclass(frozen=True)
class Diffusing(Proposition):
    """With N(0, sI) added, for every s > 0, the laws have the densities `first` and `second`, functions of θ and s, in
    this order or the other, and `divergence` is R_a of the first from the second, a function of a and s. Before, R_a is
    finite at every order a, in both directions.
    """

    pair: Pair | Anything
    first: Lambda
    second: Lambda
    divergence: Lambda
    words = "{pair} with noise has densities {first} and {second}, and the divergence {divergence}"


@dataclass(frozen=True)
class Converges(Proposition):
    """An integral converges."""

    integral: Expr
    words = "{integral} converges"


@dataclass(frozen=True)
class Known(Proposition):
    """A divergence, as a function of its order, has this value and this derivative at `order`."""

    divergence: Lambda
    order: Expr
    value_there: Expr
    slope: Expr
    words = "{divergence} is {value_there} at order {order}, its derivative by the order is {slope}"


@dataclass(frozen=True)
class InformationAtLeast(Proposition):
    """I_order/E_order of the first density against the second, which are those of the laws, is at least `ratio`."""

    pair: Pair | Anything
    first: Lambda
    second: Lambda
    order: Expr
    ratio: Expr
    value_at = "ratio"
    relation = ">="
    quantity = Quantity.INFORMATION
    words = "the information I/E at order {order} is at least {ratio}, for {pair} with densities {first} and {second}"


@dataclass(frozen=True)
class RateAtMost(Proposition):
    """∂/∂t of the divergence at this order, N(0, speed·t·I) being added to the laws, is at most `rate` at this `time`,
    if that is above 0; `divergence` is a function of order and variance.
    """

    pair: Pair | Anything
    divergence: Lambda
    order: Expr
    speed: Expr
    time: Expr
    rate: Expr
    value_at = "rate"
    quantity = Quantity.DIVERGENCE_STEP
    words = (
        "at time {time} > 0 the divergence {divergence} at order {order} changes at a rate of at most {rate}, for "
        "{pair} with noise whose variance grows at rate {speed}"
    )


@dataclass(frozen=True)
class Hits(Proposition):
    """`hit` is 1 if the batch of step `time` holds the record, and 0 if not."""

    batches: Batches | Anything
    time: Expr
    hit: Expr
    words = "{hit} says whether step {time} uses the record"


# --- Names ------------------------------------------------------------------------------------------------------------

FIRST, SECOND = p_at(theta, tau), p_prime_at(theta, tau)
RATIO = FIRST / SECOND
RENYI = renyi_at(alpha, tau)
MOMENT = exp((alpha - 1) * RENYI)
"""E_α, by definition of R_α."""
MOMENT_OVER = RATIO**alpha * SECOND
"""The integrand of E_α."""
INFORMATION_OVER = RATIO**alpha * Derivative(log(RATIO), theta) ** 2 * SECOND
"""The integrand of I_α."""
INFORMATION = Coordinatewise(INFORMATION_OVER, theta)
HAVE_DENSITIES = Densities(PAIR, Lambda(theta, FIRST), Lambda(theta, SECOND), Lambda(a, renyi_at(a, tau)))
"""τ is any parameter that the laws may depend on."""
DIFFUSE = Diffusing(
    PAIR,
    Lambda((theta, s), p_at(theta, s)),
    Lambda((theta, s), p_prime_at(theta, s)),
    Lambda((a, s), renyi_at(a, s)),
)
_ABOVE_ONE = Less(S.One, alpha)

# --- Definitions ------------------------------------------------------------------------------------------------------

moment = Fact(
    "moment",
    "",
    (HAVE_DENSITIES, _ABOVE_ONE),
    Equal(Everywhere(MOMENT_OVER, theta), MOMENT),
    "R_α = log E_α/(α − 1), E_α the integral of (p/p')^α·p'",
)
information_converges = Fact(
    "information_converges",
    "",
    (HAVE_DENSITIES, _ABOVE_ONE),
    Converges(Coordinatewise(factor * INFORMATION_OVER, theta)),
    "part of what is assumed of the densities",
)
known_divergence = Fact(
    "known_divergence",
    "",
    (Known(HAVE_DENSITIES.divergence, alpha, epsilon_1, epsilon_2),),
    Equal(RENYI, epsilon_1),
    "R_α is the number that it is said to be",
)
known_slope = Fact(
    "known_slope",
    "",
    (Known(HAVE_DENSITIES.divergence, alpha, epsilon_1, epsilon_2),),
    Equal(Derivative(RENYI, alpha), epsilon_2),
    "so is its derivative by the order",
)
information_at_least = Fact(
    "information_at_least",
    "",
    (HAVE_DENSITIES, AtMost(distance, INFORMATION / MOMENT), _ABOVE_ONE),
    InformationAtLeast(PAIR, HAVE_DENSITIES.first, HAVE_DENSITIES.second, alpha, distance),
    "I_α is the integral of (p/p')^α·‖∇log(p/p')‖²·p'",
)
rate_at_most = Fact(
    "rate_at_most",
    "",
    (DIFFUSE, AtMost(Derivative(renyi_at(alpha, noise_2 * t), t), distance), Less(S.Zero, noise_2)),
    RateAtMost(PAIR, DIFFUSE.divergence, alpha, noise_2, t, distance),
    "R_α at time t is the divergence with noise of variance speed·t",
    under_each=((), (Less(S.Zero, t),), ()),
)
divergence_of_densities = Fact(
    "divergence_of_densities",
    "",
    (DIFFUSE, PerOrder(Noised(PAIR, noise_2), cost_1), Less(S.Zero, noise_2), Less(S.One, order)),
    AtMost(renyi_at(order, noise_2), order * cost_1),
    "R(a, s) is the divergence, in one direction, with noise of variance s",
)
hit_or_not = Fact(
    "hit_or_not",
    "",
    (Hits(BATCHES, distance, hit),),
    Either((Equal(hit, S.One), Equal(hit, S.Zero))),
    "a step uses the record, or not",
)
not_hit = Fact(
    "not_hit",
    "",
    (Hits(BATCHES, distance, hit), Equal(hit, S.Zero)),
    Unused(BATCHES, distance),
    "0 says that it does not",
)

# --- Cited ------------------------------------------------------------------------------------------------------------

through_densities = Fact(
    "through_densities",
    "Evans 2010, Partial Differential Equations (the heat equation smooths)",
    (PerOrder(PAIR, cost_1), Less(S.Zero, noise_2), AtMost(renyi_at(alpha, noise_2), alpha * cost_2)),
    PerOrder(Noised(PAIR, noise_2), cost_2),
    "with noise there are densities, and R is smooth in its order and the noise; what is proved of R whichever law is "
    "named first holds in both directions; the argument is ours: the book has the heat equation, not R",
    eigen=(alpha, p_at, p_prime_at, renyi_at),
    under=(DIFFUSE, _ABOVE_ONE),
)
noise_smooths = Fact(
    "noise_smooths",
    "Efron 2011 (Tweedie's formula), with Hölder's inequality",
    (DIFFUSE,),
    Densities(Noised(PAIR, tau), *(HAVE_DENSITIES.first, HAVE_DENSITIES.second, HAVE_DENSITIES.divergence)),
    "derivatives of log p, with noise in p, are conditional means of polynomials in the noise and have all moments; "
    "the argument is ours: the paper has Tweedie's formula, not the moments",
)
kl_below_fisher = Fact(
    "kl_below_fisher",
    f"{VEMPALA}; Bakry, Gentil & Ledoux 2014",
    (
        LogSobolev(PAIR, inverse),
        HAVE_DENSITIES,
        Equal(Everywhere(ratio_at(theta) * SECOND, theta), S.One),
        Converges(Coordinatewise(ratio_at(theta) * Derivative(log(ratio_at(theta)), theta) ** 2 * SECOND, theta)),
    ),
    AtMost(
        Everywhere(ratio_at(theta) * log(ratio_at(theta)) * SECOND, theta),
        inverse / 2 * Coordinatewise(ratio_at(theta) * Derivative(log(ratio_at(theta)), theta) ** 2 * SECOND, theta),
    ),
    "log-Sobolev with constant c for ν: KL(ρ‖ν) ≤ J(ρ‖ν)/(2c) for every ρ = h·ν with finite J",
)
differentiated_by_order = Fact(
    "differentiated_by_order",
    BILLINGSLEY,
    (HAVE_DENSITIES, _ABOVE_ONE),
    Equal(Derivative(MOMENT, alpha), Everywhere(Derivative(MOMENT_OVER, alpha), theta)),
    "∂_α of E_α under the integral sign: (p/p')^α·|log(p/p')| is at most a sum of other powers of p/p'",
)
differentiated_by_noise = Fact(
    "differentiated_by_noise",
    BILLINGSLEY,
    (DIFFUSE, _ABOVE_ONE),
    Equal(Derivative(MOMENT, tau), Everywhere(Derivative(MOMENT_OVER, tau), theta)),
    "∂_s of E_α under the integral sign: moments of ∂_s log p are bounded while s stays away from 0",
)


def _heat(name: str, density: Expr) -> Fact:
    return Fact(
        name,
        EVANS,
        (DIFFUSE,),
        Equal(
            Everywhere(RATIO**order * Derivative(density, tau), theta),
            Coordinatewise(RATIO**order * Derivative(density, theta, theta), theta) / 2,
        ),
        "a density with noise of variance s solves the heat equation ∂_s p = Δp/2; tested with powers of p/p'",
    )


def _green(name: str, density: Expr) -> Fact:
    return Fact(
        name,
        EVANS,
        (DIFFUSE,),
        Equal(
            Coordinatewise(RATIO**order * Derivative(density, theta, theta), theta),
            -Coordinatewise(Derivative(RATIO**order, theta) * Derivative(density, theta), theta),
        ),
        "Green's identity; there are no boundary terms, as both sides and (p/p')^a·∇p are integrable",
    )


heat_first, heat_second = _heat("heat_first", FIRST), _heat("heat_second", SECOND)
green_first, green_second = _green("green_first", FIRST), _green("green_second", SECOND)
