"""e^x − 1, without cancellation."""

from __future__ import annotations

from sympy import Expr, Function, exp


class Expm1(Function):
    """e^x − 1, kept whole: no cancellation for small x."""

    nargs = 1

    def closed(self) -> Expr:
        return exp(self.args[0]) - 1
