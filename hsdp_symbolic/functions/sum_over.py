"""`SumOver`: a sum over an index, for proofs."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from .interface import BoundFunction, must_count


class SumOver(BoundFunction):
    """The sum of the body over index = 0, …, count − 1. Only proofs use it."""

    nargs = 3  # body, index, count
    own_name_at = 1
    only_in_proofs = True
    normalised = (0, 2)

    @classmethod
    def eval(cls, body: Expr, index: Expr, count: Expr) -> Expr | None:
        return S.Zero if count.is_zero else None

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """One term, and one term more."""
        body, index, count = self.args
        must_count(count)
        first = self.func(body, index, S.One), body.subs(index, S.Zero)
        return first, (self.func(body, index, count + 1), self + body.subs(index, count))

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_is_integer(self) -> bool | None:
        return True if self.args[0].is_integer else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative else None
