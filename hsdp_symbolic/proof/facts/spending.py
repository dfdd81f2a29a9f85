"""What any shifts must spend: a lower bound, carried from step to step.

Shifts a ≥ 0 turn a distance z into Lz + hit − a ≥ 0, from z = 0 on, hit being 1 in a step that uses the record and 0 in
others. Whatever shifts were chosen, Σa² so far is at least c − w·z: that is carried.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S

from ...symbols import a_t, cost_1, cost_2, count, distance, epoch, factor, inverse, place, steps, z
from ..kernel import Fact
from ..propositions import Anything, AtMost, Batches, InOrder, Proposition, Unused
from .definitions import BATCHES

_BEFORE, _AFTER = distance, inverse


@dataclass(frozen=True)
class UsedAt(Proposition):
    """The batch of step `time` holds the record."""

    batches: Batches | Anything
    time: Expr
    words = "step {time} uses the record"


@dataclass(frozen=True)
class Spent(Proposition):
    """Any shifts that leave a distance z after so many steps have spent Σa² ≥ `least` − `price`·z."""

    batches: Batches | Anything
    factor: Expr
    steps: Expr
    price: Expr
    least: Expr
    value_at = "least"
    relation = ">="
    words = "after {steps} updates shifts that leave z have spent at least {least} − {price}·z"


@dataclass(frozen=True)
class LeastSpent(Proposition):
    """Any shifts that leave nothing after so many steps have spent Σa² ≥ `least`."""

    batches: Batches | Anything
    factor: Expr
    steps: Expr
    least: Expr
    value_at = "least"
    relation = ">="
    words = "shifts that leave nothing after {steps} updates have spent at least {least}"


nothing_spent = Fact(
    "nothing_spent",
    "",
    (),
    Spent(BATCHES, factor, Integer(0), Integer(0), Integer(0)),
    "there is nothing to hide at the start, and nothing spent",
)
higher_price = Fact(
    "higher_price",
    "",
    (Spent(BATCHES, factor, steps, _BEFORE, cost_1), AtMost(_BEFORE, _AFTER)),
    Spent(BATCHES, factor, steps, _AFTER, cost_1),
    "z ≥ 0",
)
spent_unused = Fact(
    "spent_unused",
    "",
    (
        Spent(BATCHES, factor, steps, _BEFORE, cost_1),
        Unused(BATCHES, steps),
        AtMost(cost_2 - _AFTER * (factor * z - a_t), cost_1 - _BEFORE * z + a_t**2),
    ),
    Spent(BATCHES, factor, steps + 1, _AFTER, cost_2),
    "z becomes Lz − a, and a² is spent, whatever z and a",
    eigen=(z, a_t),
)
spent_used = Fact(
    "spent_used",
    "",
    (
        Spent(BATCHES, factor, steps, _BEFORE, cost_1),
        UsedAt(BATCHES, steps),
        AtMost(cost_2 - _AFTER * (factor * z + 1 - a_t), cost_1 - _BEFORE * z + a_t**2),
    ),
    Spent(BATCHES, factor, steps + 1, _AFTER, cost_2),
    "z becomes Lz + 1 − a, and a² is spent, whatever z and a",
    eigen=(z, a_t),
)
in_its_batch = Fact(
    "in_its_batch",
    "",
    (AtMost(S.Zero, place), AtMost(place, count - 1)),
    UsedAt(InOrder(count, place), count * epoch + place),
    "in every epoch the record's own batch holds it",
)
nothing_left = Fact(
    "nothing_left",
    "",
    (Spent(BATCHES, factor, steps, _BEFORE, cost_1),),
    LeastSpent(BATCHES, factor, steps, cost_1),
    "z = 0",
)
