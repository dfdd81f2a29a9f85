"""Steps that use the record, counted, and steps that do not: what plain composition over epochs needs."""

from __future__ import annotations

from sympy import Integer, S

from ...symbols import cost_1, count, epoch, noise_2, steps, uses_before
from ..kernel import Fact
from ..propositions import AtMost, Either, Equal, Less, Noised, OnceAnEpoch, PerOrder, Unused
from .definitions import PAIR
from .renyi import VAN_ERVEN

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
noise_processing = Fact(
    "noise_processing",
    VAN_ERVEN,
    (PerOrder(PAIR, cost_1), Less(S.Zero, noise_2)),
    PerOrder(Noised(PAIR, noise_2), cost_1),
    "the same noise, added to both, does not raise the divergence",
)
