"""Laws that are mixtures: convexity of an integral, and runs whose batches are drawn at random."""

from __future__ import annotations

from sympy import Derivative, Integer, S, binomial, exp, factorial, log

from ...symbols import (
    along,
    cost_1,
    cost_2,
    count,
    distance,
    dmu,
    dnu,
    epsilon_1,
    factor,
    i,
    moment_1,
    moment_2,
    mu,
    mu_1,
    mu_2,
    noise_1,
    nu,
    nu_1,
    nu_2,
    order,
    place,
    rate,
    records,
    size,
    start,
    steps,
    value_at,
    weight,
    whole,
)
from ..kernel import Fact
from ..propositions import (
    AnyStep,
    Anything,
    Apart,
    AsDrawn,
    AtMost,
    Continued,
    Descent,
    DrawnAfresh,
    Equal,
    From,
    InOrder,
    LastPlaces,
    Less,
    Lipschitz,
    MayBe,
    Mixed,
    Moment,
    NeverUsed,
    PerOrder,
    Renyi,
    ShuffledOnce,
    StepWithout,
    Unused,
)
from .definitions import BATCHES, PAIR

FIRST, SECOND, RANDOM = Anything("P_1"), Anything("P_2"), Anything("B'")

# --- Convexity ------------------------------------------------------------------------------------------------------

_AT = value_at(mu, nu)
SECOND_DERIVATIVE = (
    Derivative(_AT, (mu, 2)) * dmu**2 + 2 * Derivative(_AT, mu, nu) * dmu * dnu + Derivative(_AT, (nu, 2)) * dnu**2
)
"""Of a function of two numbers, at (μ, ν), in the direction (dμ, dν)."""

convex_function = Fact(
    "convex_function",
    "Rockafellar 1970, Convex Analysis",
    (AtMost(S.Zero, SECOND_DERIVATIVE), AtMost(S.Zero, weight), AtMost(weight, S.One)),
    AtMost(
        value_at(weight * mu_1 + (1 - weight) * mu_2, weight * nu_1 + (1 - weight) * nu_2),
        weight * value_at(mu_1, nu_1) + (1 - weight) * value_at(mu_2, nu_2),
    ),
    "a function of two positive numbers whose second derivatives are not negative lies below its chords",
    eigen=(mu, nu, dmu, dnu),
)
convex_on_segment = Fact(
    "convex_on_segment",
    "Rockafellar 1970, Convex Analysis",
    (AtMost(S.Zero, Derivative(value_at(along), (along, 2))), AtMost(S.Zero, weight), AtMost(weight, S.One)),
    AtMost(value_at(weight), weight * value_at(S.One) + (1 - weight) * value_at(S.Zero)),
    "a function whose second derivative is not negative lies below its chord",
    eigen=(along,),
    under=(AtMost(S.Zero, along), AtMost(along, S.One)),
)
moment_of_mixture = Fact(
    "moment_of_mixture",
    "Rudin 1987, Real and Complex Analysis",
    (
        AtMost(
            (weight * mu_1 + (1 - weight) * mu_2) ** order * (weight * nu_1 + (1 - weight) * nu_2) ** (1 - order),
            weight * mu_1**order * nu_1 ** (1 - order) + (1 - weight) * mu_2**order * nu_2 ** (1 - order),
        ),
        Less(S.One, order),
        AtMost(S.Zero, weight),
        AtMost(weight, S.One),
        Moment(FIRST, order, moment_1),
        Moment(SECOND, order, moment_2),
    ),
    Moment(Mixed(weight, FIRST, SECOND), order, weight * moment_1 + (1 - weight) * moment_2),
    "what is at most another function everywhere has at most its integral; a mixture's densities are the mixed ones "
    "(where a density is 0, the limit of the premise says the same)",
    eigen=(mu_1, mu_2, nu_1, nu_2),
)

# --- Definitions ----------------------------------------------------------------------------------------------------

moment_of = Fact(
    "moment_of",
    "",
    (Renyi(PAIR, order, epsilon_1), Less(S.One, order)),
    Moment(PAIR, order, exp((order - 1) * epsilon_1)),
    "the divergence is the logarithm of the moment, over a − 1",
)
divergence_of = Fact(
    "divergence_of",
    "",
    (Moment(PAIR, order, moment_1), Less(S.One, order), Less(S.Zero, moment_1)),
    Renyi(PAIR, order, log(moment_1) / (order - 1)),
    "the divergence is the logarithm of the moment, over a − 1",
)

divergence_in_exponent = Fact(
    "divergence_in_exponent",
    "",
    (Moment(PAIR, order, exp((order - 1) * epsilon_1)), Less(S.One, order)),
    Renyi(PAIR, order, epsilon_1),
    "the same, of a moment that is written as an exponential",
)


def _run(batches: Anything | InOrder | LastPlaces | NeverUsed | ShuffledOnce) -> From:
    return From(Descent(batches, noise_1), start, steps)


same_batches = Fact(
    "same_batches",
    "",
    (),
    Moment(_run(NeverUsed()), order, S.One),
    "without the record both runs are the same",
)
last_place = Fact(
    "last_place",
    "",
    (Moment(_run(InOrder(count, count - 1)), order, moment_1),),
    Moment(_run(LastPlaces(count, S.One)), order, moment_1),
    "the last of the batches",
)
one_more_place = Fact(
    "one_more_place",
    "",
    (
        Moment(
            Mixed(whole / (whole + 1), _run(LastPlaces(count, whole)), _run(InOrder(count, count - whole - 1))),
            order,
            moment_1,
        ),
        AtMost(whole + 1, count),
    ),
    Moment(_run(LastPlaces(count, whole + 1)), order, moment_1),
    "the record is in one of the last k batches, each as likely, or in the one before them",
)
shuffled_once = Fact(
    "shuffled_once",
    "",
    (
        Equal(factorial(records - 1) * factorial(size) / (factorial(size - 1) * factorial(records)), rate),
        Moment(Mixed(count * rate, _run(LastPlaces(count, count)), _run(NeverUsed())), order, moment_1),
    ),
    Moment(_run(ShuffledOnce(count, rate)), order, moment_1),
    "of the n!/(b!^N·rest!) ways to make N batches of b out of n records, (n−1)!/((b−1)!·b!^(N−1)·rest!) put the "
    "record into a given batch; otherwise it is left out",
)
shuffled_may_be = Fact(
    "shuffled_may_be",
    "",
    (AtMost(place, count - 1),),
    MayBe(InOrder(count, place), ShuffledOnce(count, rate)),
    "shuffled once, the record ends up in some batch",
)
drawn_may_be = Fact("drawn_may_be", "", (), MayBe(AsDrawn(RANDOM), RANDOM), "every outcome is a possible one")
maps_of_outcome = Fact(
    "maps_of_outcome",
    "",
    (MayBe(BATCHES, RANDOM), Lipschitz(Descent(RANDOM, noise_1), factor)),
    Lipschitz(Descent(BATCHES, noise_1), factor),
    "every update map means: whichever batches are drawn",
)
apart_in_outcome = Fact(
    "apart_in_outcome",
    "",
    (MayBe(BATCHES, RANDOM), Apart(Descent(RANDOM, noise_1), distance)),
    Apart(Descent(BATCHES, noise_1), distance),
    "every step that uses the record means: whichever batches are drawn",
)

_SO_FAR = PerOrder(From(Descent(AsDrawn(RANDOM), noise_1), Integer(0), i), cost_1)
_NEXT = PerOrder(From(Descent(AsDrawn(RANDOM), noise_1), Integer(0), i + 1), cost_2)

any_step = Fact(
    "any_step",
    "",
    (_NEXT,),
    AnyStep(Descent(RANDOM, noise_1), cost_1, cost_2),
    "what is derived of a step, whatever its number",
    eigen=(i,),
    under=(_SO_FAR,),
)
step_without = Fact(
    "step_without",
    "",
    (_NEXT,),
    StepWithout(Descent(RANDOM, noise_1), cost_1, cost_2),
    "what is derived of a step that does not use the record, whatever its number",
    eigen=(i,),
    under=(_SO_FAR, Unused(AsDrawn(RANDOM), i)),
)
_DRAWN = Descent(DrawnAfresh(rate), noise_1)

no_more_draws = Fact(
    "no_more_draws",
    "",
    (Less(S.One, order),),
    Moment(Continued(_DRAWN, cost_1, Integer(0)), order, exp(order * (order - 1) * cost_1)),
    "R_a ≤ a·u, so the moment e^((a−1)R_a) is at most e^(a(a−1)u)",
)
one_more_draw = Fact(
    "one_more_draw",
    "",
    (
        AnyStep(_DRAWN, cost_1, epsilon_1),
        StepWithout(_DRAWN, cost_1, cost_2),
        Moment(Mixed(rate, Continued(_DRAWN, epsilon_1, steps), Continued(_DRAWN, cost_2, steps)), order, moment_1),
    ),
    Moment(Continued(_DRAWN, cost_1, steps + 1), order, moment_1),
    "the next batch holds the record with this chance, whatever was drawn before; the other draws follow",
)
all_draws = Fact(
    "all_draws",
    "",
    (
        Equal(binomial(records - 1, size - 1), rate * binomial(records, size)),
        Moment(Continued(_DRAWN, Integer(0), steps), order, moment_1),
    ),
    Moment(From(_DRAWN, Integer(0), steps), order, moment_1),
    "both runs start at the same point; of the batches of b out of n records, so many hold the record",
)
