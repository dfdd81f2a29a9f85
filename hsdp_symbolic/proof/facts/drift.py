"""Drift: a copy of the second run that is steered into the first, and what its steering costs.

X_(t+1) = φ_t(X_t) + Z_t on one dataset, X'_(t+1) = φ'_t(X'_t) + Z_t on the other, from one start. Beside X runs
X̃_(t+1) = φ'_t(X̃_t) + w_t + Z_t, from the same start and with the same noise, where the drift w_t is a fixed portion of
φ_t(X_t) − φ'_t(X̃_t). The transcript of X̃ is (w_t + Z_t)_t, that of X' is (Z_t)_t, and X̃, X' are one function of theirs.
Each w_t is a function of the transcript before step t: so transcripts are compared as the outputs of Gaussian
mechanisms that are chosen one after another. Once X̃ has met X, that compares X with X'.

This is the shifted interpolation of Bok, Su & Altschuler (2024) with the shifts left free; they found the best ones for
a fixed order of batches, and Altschuler & Talwar (2022) those of noisy descent with a bounded domain. Nothing is asked
of the losses: only how far maps of two points, and two maps of one point, are apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Lambda, S

from ...meaning import Quantity
from ...symbols import (
    after,
    cost_1,
    cost_2,
    distance,
    drifted,
    factor,
    factor_at,
    hidden,
    jump_at,
    noise_1,
    order,
    steps,
    time_1,
    variance_at,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    Descent,
    From,
    Gaussian,
    Less,
    Lipschitz,
    Pair,
    PerOrder,
    Proposition,
    Unused,
)
from .definitions import BATCHES, DESCENT, PAIR, RUN

BOK = "Bok, Su & Altschuler 2024"
DONG = "Dong, Roth & Su 2022"


@dataclass(frozen=True)
class Drift(Proposition):
    """After `steps` steps a drifted copy is within `distance` of the first run; its transcript costs at most `cost`.

    Cost: telling the transcripts of `steps` steps apart is no easier than telling N(0, 1) from N(μ, 1), μ² = cost.
    """

    descent: Descent | Anything
    steps: Expr
    distance: Expr
    cost: Expr
    value_at = "cost"
    quantity = Quantity.DIVERGENCE_STEP
    words = "after {steps} updates a drifted copy is within {distance}, at a cost μ² ≤ {cost}"


@dataclass(frozen=True)
class Close(Proposition):
    """The same after the update maps of the step that comes next, before its drift and its noise."""

    descent: Descent | Anything
    steps: Expr
    distance: Expr
    cost: Expr
    value_at = "cost"
    quantity = Quantity.DIVERGENCE_STEP
    words = "after {steps} updates and the next maps a drifted copy is within {distance}, at a cost μ² ≤ {cost}"


@dataclass(frozen=True)
class Added(Proposition):
    """A step of the run adds at most `epsilon` to what a drifted copy costs at this order, R_order.

    Whatever the copy cost so far, if it was within `away` before the step, it is within `left` after it.
    """

    pair: Pair | Anything
    order: Expr
    away: Expr
    left: Expr
    epsilon: Expr
    value_at = "epsilon"
    quantity = Quantity.DIVERGENCE_ADDED
    words = "a step that brings a copy from {away} to {left} adds at most {epsilon} at order {order}, for {pair}"


@dataclass(frozen=True)
class LipschitzAt(Proposition):
    """The update maps of step `time`, on either dataset, are Lipschitz with this constant."""

    descent: Descent | Anything
    time: Expr
    constant: Expr
    words = "the maps of step {time} are Lipschitz with constant {constant}"


@dataclass(frozen=True)
class ApartAt(Proposition):
    """At every point the two update maps of step `time` differ by at most `distance`, whether or not it is a hit."""

    descent: Descent | Anything
    time: Expr
    distance: Expr
    words = "the two maps of step {time} differ by at most {distance}"


@dataclass(frozen=True)
class NoiseAt(Proposition):
    """The noise of step `time` is N(0, variance·I)."""

    descent: Descent | Anything
    time: Expr
    variance: Expr
    words = "the noise of step {time} has variance {variance}"


@dataclass(frozen=True)
class Scheduled(Proposition):
    """The maps of every step t are factor(t)-Lipschitz and at most jump(t) apart; its noise is N(0, variance(t)·I)."""

    descent: Descent | Anything
    factor: Lambda
    variance: Lambda
    jump: Lambda
    assumable = True
    words = "every step t is {factor}-Lipschitz, has maps {jump} apart at most and noise of variance {variance}"


# --- What is known of one step --------------------------------------------------------------------------------------

lipschitz_at = Fact(
    "lipschitz_at",
    "",
    (Lipschitz(RUN, factor),),
    LipschitzAt(RUN, steps, factor),
    "every update map means: that of every step",
)
apart_at = Fact(
    "apart_at",
    "",
    (Apart(RUN, distance), AtMost(S.Zero, distance)),
    ApartAt(RUN, steps, distance),
    "a step uses the record, or has one map for both datasets",
)
apart_unused = Fact(
    "apart_unused", "", (Unused(BATCHES, steps),), ApartAt(DESCENT, steps, S.Zero), "both datasets have one map"
)
noise_at = Fact("noise_at", "", (), NoiseAt(DESCENT, steps, noise_1), "every step has the same noise")

_SCHEDULED = Scheduled(
    RUN, Lambda(time_1, factor_at(time_1)), Lambda(time_1, variance_at(time_1)), Lambda(time_1, jump_at(time_1))
)
_EVERY = "what holds for every step holds for one"
scheduled_lipschitz = Fact("scheduled_lipschitz", "", (_SCHEDULED,), LipschitzAt(RUN, after, factor_at(after)), _EVERY)
scheduled_apart = Fact("scheduled_apart", "", (_SCHEDULED,), ApartAt(RUN, after, jump_at(after)), _EVERY)
scheduled_noise = Fact("scheduled_noise", "", (_SCHEDULED,), NoiseAt(RUN, after, variance_at(after)), _EVERY)

# --- Drift ----------------------------------------------------------------------------------------------------------

drift_start = Fact(
    "drift_start",
    "",
    (),
    Drift(RUN, Integer(0), Integer(0), Integer(0)),
    "the copy starts where both runs start, and has drifted nowhere",
)
drift_maps = Fact(
    "drift_maps",
    BOK,
    (LipschitzAt(RUN, steps, factor), ApartAt(RUN, steps, distance), Drift(RUN, steps, drifted, cost_1)),
    Close(RUN, steps, factor * drifted + distance, cost_1),
    "triangle inequality: φ(x) and φ'(y) are no farther apart than φ(x), φ(y) and φ(y), φ'(y) together",
)
drift_wider = Fact(
    "drift_wider",
    "",
    (Drift(RUN, steps, drifted, cost_1), AtMost(drifted, distance)),
    Drift(RUN, steps, distance, cost_1),
    "what is within a distance is within a larger one",
)
close_wider = Fact(
    "close_wider",
    "",
    (Close(RUN, steps, drifted, cost_1), AtMost(drifted, distance)),
    Close(RUN, steps, distance, cost_1),
    "the same, after the maps",
)
hide = Fact(
    "hide",
    DONG,
    (
        Close(RUN, steps, drifted, cost_1),
        NoiseAt(RUN, steps, noise_1),
        AtMost(S.Zero, hidden),
        AtMost(hidden, drifted),
        Less(S.Zero, noise_1),
    ),
    Drift(RUN, steps + 1, drifted - hidden, cost_1 + hidden**2 / noise_1),
    "a drift by the portion a/z is at most a long; Gaussian mechanisms chosen one after another compose: "
    "N(0, 1) against N(μ₁, 1) and then against N(μ₂, 1) is N(0, 1) against N(√(μ₁² + μ₂²), 1) (with the drift so "
    "chosen: Bok, Su & Altschuler 2024)",
)
drift_end = Fact(
    "drift_end",
    DONG,
    (Drift(RUN, steps, Integer(0), cost_1),),
    Gaussian(From(RUN, Integer(0), steps), cost_1),
    "the copy has met the first run, and copy and second run are one function of their transcripts: post-processing",
)
gaussian_to_renyi = Fact(
    "gaussian_to_renyi",
    DONG,
    (Gaussian(PAIR, cost_1),),
    PerOrder(PAIR, cost_1 / 2),
    "what is as hard to tell apart as N(0, 1) and N(μ, 1) comes from these by one map (Blackwell), and R_a of these, "
    "in either direction, is aμ²/2",
)
drift_adds = Fact(
    "drift_adds",
    "",
    (Drift(DESCENT, steps + 1, distance, cost_1 + cost_2), Less(S.One, order)),
    Added(From(DESCENT, Integer(0), steps + 1), order, drifted, distance, order * cost_2 / 2),
    "R_a of N(0, 1) and N(μ, 1) is aμ²/2: what is added to μ² is added to it",
    eigen=(cost_1,),
    under=(Drift(DESCENT, steps, drifted, cost_1),),
)
