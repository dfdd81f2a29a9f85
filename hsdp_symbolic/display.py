"""SymPy nodes that say how the paper writes a formula: its order, its fractions, its names.

An expression that holds such nodes is a display tree; `undisplay` turns it into the expression it stands for.
"""

from __future__ import annotations

from sympy import Add, Expr, Function, Mul, Symbol

from .functions.geometric import GeometricSum
from .functions.log_mean_exp import LogMeanExp
from .functions.mean_over import MeanOver
from .symbols import i


class Display(Function):
    """A node that only says how something is written; `undisplay` turns it back into what it means."""

    def meaning(self) -> Expr:
        raise AttributeError(f"{type(self).__name__} means nothing by itself; tell `undisplay` what it stands for")


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


class Named(Display):
    """An expression shown under the name the paper gives it."""

    def meaning(self) -> Expr:
        return self.args[1]


class PowerSum(Display):
    """x + x² + … + x^k, with the sum written out."""

    def meaning(self) -> Expr:
        x, k = self.args
        return x * GeometricSum(x, k)


class LogAverage(Display):
    """log of the average of e^body over the position `place` of the record, from 0 to `count` − 1."""

    def meaning(self) -> Expr:
        body, place, count = self.args
        return LogMeanExp(body.subs(place, count - i), i, count)


class Average(Display):
    """The average of the body over the position `place` of the record, from 0 to `count` − 1."""

    def meaning(self) -> Expr:
        body, place, count = self.args
        return MeanOver(body.subs(place, count - i), i, count)


class FirstEpoch(Display):
    """ε₀^j(α), the paper's name for the first-epoch bound."""


def times(*factors: Expr | int) -> Expr:
    """A product in the order written, without dots."""
    return Mul(*factors, evaluate=False)


def undisplay(expr: Expr, first_epoch: Expr | None = None, index: Symbol | None = None) -> Expr:
    """What a display tree means, with ε₀^j(α) replaced by `first_epoch`, which is written in `index`."""
    if first_epoch is not None:
        expr = expr.replace(FirstEpoch, lambda j, _: first_epoch.subs(index, j))
    return expr.replace(lambda node: isinstance(node, Display), lambda node: node.meaning()).doit()
