"""`NoiseShare`: which share of a step's noise hides whether the step used the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr, Max, S

from .interface import BoundFunction


class Stair(BoundFunction):
    """r·⌊i/r⌋, r = ⌈window/64⌉: i, rounded down so that a window has at most 64 different ones. Only proofs use it."""

    nargs = 2  # window, i
    only_in_proofs = True

    def _eval_is_integer(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True


class NoiseShare(BoundFunction):
    """f_i = min(1, g·q^(−Stair(window, i))): the share of the i-th step from the end of a window. Only proofs use it.

    The rest hides how far a drifted copy is away. Written as 1/max(1, q^…/g), in which nothing is negative.
    """

    nargs = 4  # g, q, window, i
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """For any step; and for the last, where the stair is 0."""
        share, factor, window, place = self.args
        last = self.func(share, factor, window, S.Zero)
        return (self, 1 / Max(S.One, factor ** Stair(window, place) / share)), (last, 1 / Max(S.One, 1 / share))

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive and self.args[1].is_positive else None

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1
