"""Any pattern of hits, told by how many steps there are from each to the next: which steps do not use the record."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Lambda, S

from ...functions.sum_over import SumOver
from ...symbols import after, epoch, gap_at, place, time_1
from ..kernel import Fact
from ..propositions import Anything, AtMost, Batches, Proposition, Unused
from .definitions import BATCHES


@dataclass(frozen=True)
class Pattern(Proposition):
    """Hit k comes in step first + gap(0) + … + gap(k − 1): no other step uses the record."""

    batches: Batches | Anything
    first: Expr
    gap: Lambda
    assumable = True
    words = "the record is used in step {first} at the earliest, and then {gap} steps after a hit"


_PATTERN = Pattern(BATCHES, place, Lambda(time_1, gap_at(time_1)))

before_first_hit = Fact(
    "before_first_hit",
    "",
    (_PATTERN, AtMost(after + 1, place)),
    Unused(BATCHES, after),
    "the first hit comes later",
)
between_hits = Fact(
    "between_hits",
    "",
    (_PATTERN, AtMost(S.One, after), AtMost(after + 1, gap_at(epoch))),
    Unused(BATCHES, place + SumOver(gap_at(time_1), time_1, epoch) + after),
    "after a hit and before the next",
)
