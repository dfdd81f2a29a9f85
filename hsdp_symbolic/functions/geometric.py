"""Geometric sums."""

from __future__ import annotations

from sympy import Expr, Function, S


class GeometricSum(Function):
    """1 + x + … + x^(k−1), kept whole: no 0/0 at x = 1, increasing in x ≥ 0 and in k.

    >>> from sympy import Rational
    >>> GeometricSum(Rational(1, 2), 3)
    7/4
    """

    nargs = 2

    @classmethod
    def eval(cls, x: Expr, k: Expr) -> Expr | None:
        if k in (S.Zero, S.One) or x is S.One:
            return k
        if x.is_Rational and k.is_Integer and 0 < k <= 64:
            return (1 - x**k) / (1 - x)
        return None

    def closed(self) -> Expr:
        """(1 − x^k)/(1 − x), for x ≠ 1."""
        x, k = self.args
        return (1 - x**k) / (1 - x)

    def _eval_is_nonnegative(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_positive else None

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None
