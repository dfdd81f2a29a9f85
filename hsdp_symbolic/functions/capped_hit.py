"""`CappedHit`: what a hit makes of s, if the noise of its step is split in the best way."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Max, sqrt

from .interface import Spelled


class CappedHit(Spelled):
    """s + cost up to s = cost·q²/(1 − q²), and (q√s + √(cost·(1 − q²)))² beyond; s + cost for q ≥ 1.

    Only proofs use it.
    """

    nargs = 3  # cost, q, s
    only_in_proofs = True

    def closed(self) -> Expr:
        cost, q, s = self.args
        return s + cost - Max(0, sqrt(s * Max(0, 1 - q**2)) - q * sqrt(cost)) ** 2

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        return ((self, self.closed()),)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if all(each.is_nonnegative for each in self.args) else None
