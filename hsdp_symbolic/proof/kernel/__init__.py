"""The kernel: what a theorem is, and the only rules that make one.

A `Theorem` says: under its hypotheses, and if its facts are true, its proposition holds, for all values of its symbols
within their ranges. It cannot be made but by a function of this package that carries `@rule`; each checks what it is
given and computes what follows, or raises `Refused`. Hypotheses and facts add up by themselves.

To read it: `theorem` (what a theorem is, and what rules have in common), `defined` and `values` (what every rule asks
of expressions: nothing is divided by 0, no name is captured, values lie in their ranges), then the rules: `hypotheses`,
`numbers`, `directions`, `calculus`, `for_all`; last `proofs` (promises, and applying every rule again).

What a reader must believe: this package; `signs.py` and `algebra.py`, which see signs and equality (SymPy's expand,
cancel, factor and derivatives are trusted there); what functions of the bounds say of themselves (closed form, sign,
direction, defining equations: `functions/`, and `evaluate/trend.py`); the checker of polynomials (`positivity.py`);
what an integral means (`integrals.py`), and that unknown functions are smooth; the facts (`facts/`), each with its
reference. Everything else in this room looks for proofs and is believed by nobody: what it finds has to pass here.

SymPy cancels x/x without asking. So no theorem divides by what is 0 where its hypotheses hold: each rule that brings in
an expression asks that its divisors are seen not to be 0, or are divisors in a premise already; a hypothesis that
divides by 0 counts as one that does not hold.

A `promise` is a theorem whose proof is written later: it states its conclusion at once, so that a value can be computed
without its proof. `closed` keeps all promises of a theorem, or raises. Only a closed theorem is proved.
"""

from __future__ import annotations

from .calculus import at_zero, linear, rises, tends, under_integral, work_out
from .directions import monotone, moves
from .for_all import apply, induct, substitute, weaken
from .hypotheses import abbreviate, also, assume, cases, cut, each_case, under
from .numbers import (
    branch,
    cancel,
    chain,
    combine,
    compare,
    floor_at_least,
    floor_at_most,
    greater,
    loosen,
    mean,
    mean_at_most,
    next_whole,
    plain_mean,
    polynomial,
    positive,
    rewrite,
    squeeze,
    swap,
    unfold,
)
from .proofs import check_again, closed, named, nodes, promise, proof_of, replay, rests_on
from .theorem import RULES, Fact, Factor, Refused, Theorem, rule

__all__ = [
    "RULES",
    "Fact",
    "Factor",
    "Refused",
    "Theorem",
    "abbreviate",
    "also",
    "apply",
    "assume",
    "at_zero",
    "branch",
    "cancel",
    "cases",
    "chain",
    "check_again",
    "closed",
    "combine",
    "compare",
    "cut",
    "each_case",
    "floor_at_least",
    "floor_at_most",
    "greater",
    "induct",
    "linear",
    "loosen",
    "mean",
    "mean_at_most",
    "monotone",
    "moves",
    "named",
    "next_whole",
    "nodes",
    "plain_mean",
    "polynomial",
    "positive",
    "promise",
    "proof_of",
    "replay",
    "rests_on",
    "rewrite",
    "rises",
    "rule",
    "squeeze",
    "substitute",
    "swap",
    "tends",
    "under",
    "under_integral",
    "unfold",
    "weaken",
    "work_out",
]
