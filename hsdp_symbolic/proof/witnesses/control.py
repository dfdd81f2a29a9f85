"""The last step of a pass that has used the record: W and the best choice are known there."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Rational

from ...functions.shift_control import Kept, ShiftValue
from ...symbols import cost_1, drifted, factor, hidden
from ..facts.control import best_choice
from ..kernel import Fact
from . import witness


@witness(best_choice)
def _best(fact: Fact) -> Iterator[bool]:
    """W(z) = c(qz)², and of c(y − z')² + c(qz')² the least is at z' = y/(1 + q²)."""

    def known(side: Expr) -> Expr:
        side = side.replace(ShiftValue, lambda *args: args[0] * (args[1] * args[-1]) ** 2)
        return side.replace(Kept, lambda *args: args[-1] / (1 + args[1] ** 2))

    left, right = known(fact.conclusion.left), known(fact.conclusion.right)  # type: ignore[attr-defined]
    for away, some in ((3, 1), (3, Rational(12, 5)), (1, 0)):
        put = {cost_1: 2, factor: Rational(1, 2), drifted: away, hidden: some}
        yield bool(left.subs(put) <= right.subs(put))
