"""What any shifts must spend: a lower bound, carried from step to step.

A step t turns a distance z into c_t·z + s_t − a_t ≥ 0, from z = 0 on, and spends a_t²/v_t on its shift a_t ≥ 0. Which
c_t, v_t and s_t these are is a pattern. Whatever shifts were chosen, Σ a²/v so far is at least b − w·z, w being the
price of what is left: that is carried.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, Lambda, S

from ...symbols import (
    a_t,
    after,
    away_at,
    cost_1,
    cost_2,
    count,
    distance,
    drifted,
    epoch,
    factor,
    factor_at,
    inverse,
    jump_at,
    noise_1,
    place,
    price_at,
    shift_at,
    steps,
    time_1,
    variance_at,
    z,
)
from ..kernel import Fact
from ..propositions import Anything, AtMost, Batches, Equal, InOrder, Less, Proposition, Term, Unused
from .definitions import BATCHES

PATTERN = Anything("S")
_BEFORE, _AFTER, _JUMP = distance, inverse, drifted


@dataclass(frozen=True)
class Hits(Term):
    """A jump of 1 in steps that use the record and none in others, one factor for all, and noise of variance 1."""

    batches: Batches | Anything
    factor: Expr
    words = "steps with factor {factor} and jumps of 1 where the record is used; {batches}"


@dataclass(frozen=True)
class Varying(Term):
    """Factor, variance and jump of every step, as functions of its number."""

    factor: Lambda
    variance: Lambda
    jump: Lambda
    words = "steps t with factor {factor}, noise of variance {variance} and jump {jump}"


@dataclass(frozen=True)
class StepOf(Proposition):
    """Step `time` of a pattern has this factor, variance and jump."""

    pattern: Term | Anything
    time: Expr
    factor: Expr
    variance: Expr
    jump: Expr
    words = "step {time} has factor {factor}, variance {variance} and jump {jump}"


@dataclass(frozen=True)
class UsedAt(Proposition):
    """The batch of step `time` holds the record."""

    batches: Batches | Anything
    time: Expr
    words = "step {time} uses the record"


@dataclass(frozen=True)
class Spent(Proposition):
    """Any shifts that leave a distance z after so many steps have spent Σ a²/v ≥ `least` − `price`·z."""

    pattern: Term | Anything
    steps: Expr
    price: Expr
    least: Expr
    value_at = "least"
    relation = ">="
    words = "after {steps} updates shifts that leave z have spent at least {least} − {price}·z"


@dataclass(frozen=True)
class LeastSpent(Proposition):
    """Any shifts that leave nothing after so many steps have spent Σ a²/v ≥ `least`."""

    pattern: Term | Anything
    steps: Expr
    least: Expr
    value_at = "least"
    relation = ">="
    words = "shifts that leave nothing after {steps} updates have spent at least {least}"


@dataclass(frozen=True)
class Shifted(Proposition):
    """Shifts lead from nothing to away(t) before every step t: away(t + 1) = factor(t)·away(t) + jump(t) − shift(t)."""

    factor: Lambda
    jump: Lambda
    shift: Lambda
    away: Lambda
    words = "shifts {shift} leave {away}, from nothing on, with factors {factor} and jumps {jump}"


@dataclass(frozen=True)
class Rising(Proposition):
    """For every step t, price(t) ≤ factor(t + 1)·price(t + 1), and both are equal unless away(t + 1) = 0."""

    factor: Lambda
    price: Lambda
    away: Lambda
    words = "prices {price} rise, for factors {factor}, only where {away} is 0"


# --- One step -------------------------------------------------------------------------------------------------------

in_its_batch = Fact(
    "in_its_batch",
    "",
    (AtMost(S.Zero, place), AtMost(place, count - 1)),
    UsedAt(InOrder(count, place), count * epoch + place),
    "in every epoch the record's own batch holds it",
)
step_with_hit = Fact(
    "step_with_hit",
    "",
    (UsedAt(BATCHES, steps),),
    StepOf(Hits(BATCHES, factor), steps, factor, S.One, S.One),
    "it uses the record",
)
step_without_hit = Fact(
    "step_without_hit",
    "",
    (Unused(BATCHES, steps),),
    StepOf(Hits(BATCHES, factor), steps, factor, S.One, S.Zero),
    "it does not use the record",
)
_FACTORS, _VARIANCES, _JUMPS = (Lambda(time_1, each(time_1)) for each in (factor_at, variance_at, jump_at))
varying_step = Fact(
    "varying_step",
    "",
    (),
    StepOf(Varying(_FACTORS, _VARIANCES, _JUMPS), after, factor_at(after), variance_at(after), jump_at(after)),
    "as its functions say",
)

# --- What is spent --------------------------------------------------------------------------------------------------

nothing_spent = Fact(
    "nothing_spent",
    "",
    (),
    Spent(PATTERN, Integer(0), Integer(0), Integer(0)),
    "there is nothing to hide at the start, and nothing spent",
)
higher_price = Fact(
    "higher_price",
    "",
    (Spent(PATTERN, steps, _BEFORE, cost_1), AtMost(_BEFORE, _AFTER)),
    Spent(PATTERN, steps, _AFTER, cost_1),
    "z ≥ 0",
)
spent_step = Fact(
    "spent_step",
    "",
    (
        Spent(PATTERN, steps, _BEFORE, cost_1),
        StepOf(PATTERN, steps, factor, noise_1, _JUMP),
        Less(S.Zero, noise_1),
        AtMost(cost_2 - _AFTER * (factor * z + _JUMP - a_t), cost_1 - _BEFORE * z + a_t**2 / noise_1),
    ),
    Spent(PATTERN, steps + 1, _AFTER, cost_2),
    "z becomes cz + s − a, and a²/v is spent, whatever z and a",
    eigen=(z, a_t),
)
nothing_left = Fact(
    "nothing_left",
    "",
    (Spent(PATTERN, steps, _BEFORE, cost_1),),
    LeastSpent(PATTERN, steps, cost_1),
    "z = 0",
)

# --- Shifts for every step ------------------------------------------------------------------------------------------

_SHIFTED = Shifted(_FACTORS, _JUMPS, Lambda(time_1, shift_at(time_1)), Lambda(time_1, away_at(time_1)))
_RISING = Rising(_FACTORS, Lambda(time_1, price_at(time_1)), Lambda(time_1, away_at(time_1)))
_NEXT = factor_at(after + 1) * price_at(after + 1)

shifted_start = Fact("shifted_start", "", (_SHIFTED,), Equal(away_at(Integer(0)), S.Zero), "from nothing on")
shifted_step = Fact(
    "shifted_step",
    "",
    (_SHIFTED,),
    Equal(away_at(after + 1), factor_at(after) * away_at(after) + jump_at(after) - shift_at(after)),
    "what holds for every step holds for one",
)
price_rises = Fact(
    "price_rises", "", (_RISING,), AtMost(price_at(after), _NEXT), "what holds for every step holds for one"
)
price_stays = Fact(
    "price_stays",
    "",
    (_RISING,),
    Equal(away_at(after + 1) * _NEXT, away_at(after + 1) * price_at(after)),
    "one of the two is 0: the distance, or the difference of prices",
)
