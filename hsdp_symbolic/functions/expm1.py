"""`Expm1`: e^x − 1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Symbol, exp

from .interface import Arithmetic, Doubles, Pointwise, Rules, Trend


class Expm1(Pointwise):
    """e^x − 1, kept whole: no cancellation for small x."""

    nargs = 1
    is_closed_in_proofs = moves_in_proofs = True

    def closed(self) -> Expr:
        return exp(self.args[0]) - 1

    @classmethod
    def exact(cls, over: Arithmetic, x: Any) -> Any:
        return over.add(over.exp(x), Fraction(-1))

    @classmethod
    def doubles(cls, over: Doubles, x: Any) -> Any:
        return np.expm1(over.value(x))

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return sign(self.args[0])

    def trend(self, rules: Rules) -> Trend | None:
        return rules.of(self.args[0])

    def divided_by(self, x: Symbol, rules: Rules) -> tuple[int, Trend | None] | None:
        """(e^y − 1)/x is (e^y − 1)/y, which is positive and increases with y, times y/x."""
        slope = self.args[0] / x
        return None if rules.depends(slope) else (rules.sign(slope), rules.of(self.args[0]))
