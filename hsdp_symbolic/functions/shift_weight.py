"""`ShiftWeight`, `ShiftSum`: by how much a copy drifts in each of the last steps, and how far that takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr, S

from .interface import BoundFunction, must_count


class ShiftWeight(BoundFunction):
    """w_i = q^(r⌊i/r⌋), r = ⌈window/64⌉, for i < window, else 0. Only proofs use it."""

    nargs = 3  # q, window, i
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The last step's."""
        factor, window, _ = self.args
        return ((self.func(factor, window, S.Zero), S.One),)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_positive else None

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1


class ShiftSum(BoundFunction):
    """Σ_(i<k) q^i·w_i, w_i being the `ShiftWeight` of a window. Only proofs use it."""

    nargs = 3  # q, window, k
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """No step, and one step more."""
        factor, window, count = self.args
        must_count(count)
        more = factor**count * ShiftWeight(factor, window, count)
        return (self.func(factor, window, S.Zero), S.Zero), (self.func(factor, window, count + 1), self + more)
