"""δ as a function of ε: Gaussian differential privacy, its composition, and runs whose batches are shuffled.

A bound on how hard it is to tell two laws apart, at every level of error at once, is a trade-off function (Dong, Roth &
Su 2022); the larger it is, the smaller every ∫(μ − e^ε·ν)₊ and every Rényi divergence (Blackwell).
"""

from __future__ import annotations

from sympy import Integer, S, factorial

from ...functions.gaussian_profile import GaussianProfile
from ...symbols import (
    cost_1,
    cost_2,
    count,
    distance,
    epsilon_1,
    inverse,
    noise_1,
    rate,
    records,
    size,
    start,
    steps,
    weight,
    whole,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    DeltaAtMost,
    Descent,
    Equal,
    Every,
    From,
    Gaussian,
    GaussianExactly,
    GaussianLaws,
    InOrder,
    LastPlaces,
    Less,
    Mixed,
    NeverUsed,
    ShuffledOnce,
    Unused,
)
from .definitions import GIVEN, PAIR, RUN
from .drift import DONG
from .mixtures import FIRST, SECOND

BALLE = "Balle, Barthe & Gaboardi 2018"

# --- Gaussian differential privacy ----------------------------------------------------------------------------------

nothing_seen_gaussian = Fact(
    "nothing_seen_gaussian", "", (), Gaussian(Every(RUN, Integer(0)), Integer(0)), "no iterate is seen yet"
)
gaussian_step = Fact(
    "gaussian_step",
    DONG,
    (Apart(GIVEN, distance), Less(S.Zero, noise_1)),
    Gaussian(From(GIVEN, start, Integer(1)), distance**2 / noise_1),
    "N(x, vI) and N(y, vI) are told apart as N(0, 1) and N(‖x − y‖/√v, 1)",
)
gaussian_step_unused = Fact(
    "gaussian_step_unused",
    "",
    (Unused(GIVEN.batches, start),),
    Gaussian(From(GIVEN, start, Integer(1)), Integer(0)),
    "one map and one noise on both datasets: the same law",
)
gaussian_composition = Fact(
    "gaussian_composition",
    DONG,
    (Gaussian(Every(GIVEN, steps), cost_1), Gaussian(From(GIVEN, steps, Integer(1)), cost_2)),
    Gaussian(Every(GIVEN, steps + 1), cost_1 + cost_2),
    "each step is at most this hard on whoever tells from the worst point, given all iterates before it: squares of μ "
    "add up",
)
gaussian_profile = Fact(
    "gaussian_profile",
    DONG,
    (Gaussian(PAIR, cost_1),),
    DeltaAtMost(PAIR, epsilon_1, GaussianProfile(cost_1, epsilon_1)),
    "∫(μ − e^ε·ν)₊ of laws that come from N(0, 1) and N(μ, 1) by one map is at most that of these",
)
gaussian_exactly = Fact(
    "gaussian_exactly",
    "",
    (GaussianLaws(PAIR, cost_1, inverse), Less(S.Zero, inverse)),
    GaussianExactly(PAIR, cost_1**2 / inverse),
    "N(x, v) and N(y, v) are N(0, 1) and N((y − x)/√v, 1), moved and stretched",
)

# --- Mixtures -------------------------------------------------------------------------------------------------------

profile_of_mixture = Fact(
    "profile_of_mixture",
    BALLE,
    (
        AtMost(S.Zero, weight),
        AtMost(weight, S.One),
        DeltaAtMost(FIRST, epsilon_1, cost_1),
        DeltaAtMost(SECOND, epsilon_1, cost_2),
    ),
    DeltaAtMost(Mixed(weight, FIRST, SECOND), epsilon_1, weight * cost_1 + (1 - weight) * cost_2),
    "(x)₊ is convex and homogeneous, so ∫(μ − e^ε·ν)₊ is jointly convex",
)


def _run(batches: Anything | InOrder | LastPlaces | NeverUsed | ShuffledOnce) -> From:
    return From(Descent(batches, noise_1), start, steps)


same_batches_profile = Fact(
    "same_batches_profile",
    "",
    (AtMost(S.Zero, epsilon_1),),
    DeltaAtMost(_run(NeverUsed()), epsilon_1, S.Zero),
    "without the record both runs are the same",
)
last_place_profile = Fact(
    "last_place_profile",
    "",
    (DeltaAtMost(_run(InOrder(count, count - 1)), epsilon_1, cost_1),),
    DeltaAtMost(_run(LastPlaces(count, S.One)), epsilon_1, cost_1),
    "the last of the batches",
)
one_more_place_profile = Fact(
    "one_more_place_profile",
    "",
    (
        DeltaAtMost(
            Mixed(whole / (whole + 1), _run(LastPlaces(count, whole)), _run(InOrder(count, count - whole - 1))),
            epsilon_1,
            cost_1,
        ),
        AtMost(whole + 1, count),
    ),
    DeltaAtMost(_run(LastPlaces(count, whole + 1)), epsilon_1, cost_1),
    "the record is in one of the last k batches, each as likely, or in the one before them",
)
shuffled_once_profile = Fact(
    "shuffled_once_profile",
    "",
    (
        Equal(factorial(records - 1) * factorial(size) / (factorial(size - 1) * factorial(records)), rate),
        DeltaAtMost(Mixed(count * rate, _run(LastPlaces(count, count)), _run(NeverUsed())), epsilon_1, cost_1),
    ),
    DeltaAtMost(_run(ShuffledOnce(count, rate)), epsilon_1, cost_1),
    "of the n!/(b!^N·rest!) ways to make N batches of b out of n records, (n−1)!/((b−1)!·b!^(N−1)·rest!) put the "
    "record into a given batch; otherwise it is left out",
)
