"""Steps that use the record, counted, and steps that do not: what plain composition over epochs needs."""

from __future__ import annotations

from sympy import Expr, Integer, S, factorial

from ...meaning import Neighbouring
from ...symbols import (
    b,
    count,
    distance,
    epoch,
    epsilon_1,
    epsilon_2,
    n,
    noise_1,
    order,
    rate,
    start,
    steps,
    uses_before,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    Batches,
    BatchWith,
    BatchWithout,
    Descent,
    DrawnAfresh,
    EachByItself,
    Either,
    Equal,
    Every,
    From,
    Less,
    Mixed,
    OnceAnEpoch,
    Renyi,
    StepsIndependent,
    Unused,
)
from .definitions import BATCHES, RUN
from .renyi import MIRONOV

_SO_FAR, _NEXT = uses_before(count, steps), uses_before(count, steps + 1)

no_use_yet = Fact("no_use_yet", "", (), Equal(uses_before(count, Integer(0)), S.Zero), "before the first step")
used_or_not = Fact(
    "used_or_not",
    "",
    (),
    Either((Equal(_NEXT, _SO_FAR), Equal(_NEXT, _SO_FAR + 1))),
    "a step uses the record, or does not",
)
not_counted = Fact(
    "not_counted",
    "",
    (Equal(_NEXT, _SO_FAR),),
    Unused(OnceAnEpoch(count), steps),
    "a step that uses the record is counted",
)
once_an_epoch = Fact(
    "once_an_epoch",
    "",
    (),
    AtMost(uses_before(count, count * (epoch + 1)), uses_before(count, count * epoch) + 1),
    "an epoch uses the record at most once",
)

# --- Batches drawn afresh -------------------------------------------------------------------------------------------


def _one_step(batches: Batches | Anything) -> From:
    return From(Descent(batches, noise_1), start, Integer(1))


def _drawn(batches: Batches, chance: Expr) -> Mixed:
    """One step, with the chance of drawing the record spelled out."""
    return Mixed(chance, _one_step(BatchWith(batches)), _one_step(BatchWithout(batches)))


not_drawn = Fact("not_drawn", "", (), Unused(BatchWithout(BATCHES), start), "it was given that the record is not drawn")
apart_if_drawn = Fact(
    "apart_if_drawn",
    "",
    (Apart(Descent(BATCHES, noise_1), distance),),
    Apart(Descent(BatchWith(BATCHES), noise_1), distance),
    "what holds of every batch that may be drawn holds of those with the record",
)
drawn_or_not = Fact(
    "drawn_or_not",
    "",
    (
        Equal(n * factorial(n - 1) * factorial(b), b * factorial(b - 1) * factorial(n)),
        Renyi(_drawn(DrawnAfresh(b / n), b / n), order, epsilon_1),
    ),
    Renyi(_one_step(DrawnAfresh(b / n)), order, epsilon_1),
    "of the n!/(b!(n−b)!) batches of b out of n records, (n−1)!/((b−1)!(n−b)!) hold a given one: b/n of them",
)
drawn_by_itself = Fact(
    "drawn_by_itself",
    "",
    (Renyi(_drawn(EachByItself(rate), rate), order, epsilon_1),),
    Renyi(_one_step(EachByItself(rate)), order, epsilon_1),
    "with Poisson sampling the chance is given",
)
drawn_each_time = Fact(
    "drawn_each_time",
    "",
    (),
    StepsIndependent(Descent(DrawnAfresh(rate), noise_1)),
    "every step draws from all records",
)
drawn_by_itself_each_time = Fact(
    "drawn_by_itself_each_time",
    "",
    (),
    StepsIndependent(Descent(EachByItself(rate), noise_1)),
    "every step draws from all records",
)
sampled_each_time = Fact(
    "sampled_each_time",
    "",
    (),
    StepsIndependent(Descent(EachByItself(rate), noise_1, Neighbouring.ADD_REMOVE)),
    "every step draws from all records",
)
composition_at_one_order = Fact(
    "composition_at_one_order",
    MIRONOV,
    (
        StepsIndependent(RUN),
        Less(S.One, order),
        Renyi(Every(RUN, steps), order, epsilon_1),
        Renyi(From(RUN, steps, Integer(1)), order, epsilon_2),
    ),
    Renyi(Every(RUN, steps + 1), order, epsilon_1 + epsilon_2),
    "each step costs what it costs from the worst point, given all iterates before it",
)
