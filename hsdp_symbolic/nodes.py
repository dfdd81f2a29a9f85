"""SymPy nodes the paper's formulas need and SymPy lacks: one that computes, a few that display."""

from __future__ import annotations

from sympy import Add, Expr, Function, Mul, S, Symbol


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


class Display(Function):
    """A node that only says how something is written; `undisplay` turns it back into what it means."""

    def meaning(self) -> Expr:
        raise AttributeError(f"{type(self).__name__} has no meaning of its own")


class Dot(Display):
    """A product with a dot between factors."""

    def meaning(self) -> Expr:
        return Mul(*self.args)


class Plus(Display):
    """A sum in the order written."""

    def meaning(self) -> Expr:
        return Add(*self.args)


class Over(Display):
    """A fraction as written, not cancelled."""

    def meaning(self) -> Expr:
        top, bottom = self.args
        return top / bottom


class FirstEpoch(Display):
    """ε₀^j(α), the paper's name for the first-epoch bound."""


def times(*factors: Expr | int) -> Expr:
    """A product in the order written, without dots."""
    return Mul(*factors, evaluate=False)


def undisplay(expr: Expr, first_epoch: Expr | None = None, index: Symbol | None = None) -> Expr:
    """What a display tree means, with ε₀^j(α) replaced by `first_epoch` (given in `index`)."""
    if first_epoch is not None:
        expr = expr.replace(FirstEpoch, lambda j, _: first_epoch.subs(index, j))
    return expr.replace(lambda node: isinstance(node, Display), lambda node: node.meaning()).doit()
