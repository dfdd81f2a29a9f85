"""A convex minorant of two edges."""

from __future__ import annotations

from sympy import Expr, Function, Max


class Pooled(Function):
    """Σ slope²·length over a greatest convex minorant of two edges: slope g and length y, then slope 1 and length 1.

    If g ≤ 1 both edges are convex as they are; if g > 1 the chord takes their place. Increasing in g and in y.

    >>> from sympy import Rational
    >>> Pooled(Rational(1, 2), 4).closed(), Pooled(2, 4).closed()
    (2, 81/5)
    """

    nargs = 2

    def closed(self) -> Expr:
        g, y = self.args
        return ((1 + g * y) ** 2 + Max(0, 1 - g) ** 2 * y) / (1 + y)

    def _eval_is_positive(self) -> bool | None:
        return True if all(arg.is_nonnegative for arg in self.args) else None
