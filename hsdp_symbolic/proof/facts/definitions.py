"""What is true because it was defined so: no theorem of anybody's, but a reader must agree that it is what is meant."""

from __future__ import annotations

from sympy import Integer, S

from ...symbols import after, cost_1, count, epoch, factor, inverse, noise_1, noise_2, order, place, start, steps
from ..kernel import Fact
from ..propositions import (
    Anything,
    AtMost,
    Descent,
    Every,
    FreshBatches,
    From,
    GivenBatches,
    InOrder,
    Less,
    LogSobolev,
    LogSobolevConstant,
    Mapped,
    Noised,
    PerOrder,
    Renyi,
    Unused,
)

PAIR, BATCHES, RUN = Anything("P"), Anything("B"), Anything("D")
GIVEN = Descent(GivenBatches("B"), noise_1)
FRESH = Descent(FreshBatches("B"), noise_1)
DESCENT = Descent(BATCHES, noise_1)
HERE = From(DESCENT, start, steps)
NEXT = From(DESCENT, start, steps + 1)

update_log_sobolev = Fact(
    "update_log_sobolev",
    "",
    (LogSobolev(Noised(Mapped(HERE), noise_1), inverse),),
    LogSobolev(NEXT, inverse),
    "a step is its update map, then its noise",
)
log_sobolev_constant = Fact(
    "log_sobolev_constant",
    "",
    (LogSobolev(PAIR, inverse), Less(S.Zero, inverse)),
    LogSobolevConstant(PAIR, 1 / inverse),
    "1/c is what is carried",
)
inverse_of_constant = Fact(
    "inverse_of_constant",
    "",
    (LogSobolevConstant(PAIR, factor), Less(S.Zero, factor)),
    LogSobolev(PAIR, 1 / factor),
    "the same, read the other way",
)
update_per_order = Fact(
    "update_per_order",
    "",
    (PerOrder(Noised(Mapped(HERE), noise_1), cost_1),),
    PerOrder(NEXT, cost_1),
    "a step is its update map, then its noise",
)
noise_adds = Fact(
    "noise_adds",
    "",
    (PerOrder(Noised(Noised(PAIR, noise_1), noise_2), cost_1),),
    PerOrder(Noised(PAIR, noise_1 + noise_2), cost_1),
    "independent N(0, v₁I) and N(0, v₂I) add up to N(0, (v₁+v₂)I)",
)
same_start = Fact(
    "same_start", "", (), PerOrder(From(RUN, start, Integer(0)), Integer(0)), "both runs start at the same point"
)
nothing_seen = Fact("nothing_seen", "", (), PerOrder(Every(RUN, Integer(0)), Integer(0)), "no iterate is seen yet")
one_order = Fact(
    "one_order",
    "",
    (PerOrder(PAIR, cost_1), Less(S.One, order)),
    Renyi(PAIR, order, order * cost_1),
    "what holds at every order holds at one",
)
between_uses = Fact(
    "between_uses",
    "",
    (AtMost(S.One, after), AtMost(after, count - 1)),
    Unused(InOrder(count, place), count * epoch + place + after),
    "in every epoch the record's own batch, and no other, holds it",
)
before_first_use = Fact(
    "before_first_use",
    "",
    (AtMost(after + 1, place), AtMost(place, count - 1)),
    Unused(InOrder(count, place), after),
    "the record is not used before its batch comes",
)
