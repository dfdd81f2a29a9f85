"""Checks that rest on trends: an expression is monotone in a symbol, a mean is at most its largest term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sympy import Expr, Ge, Le, Symbol
from sympy.core.relational import Relational

from ..evaluate.trend import trend
from ..functions.interface import Trend
from ..functions.log_mean_exp import LogMeanExp
from ..symbols import slack
from .algebra import is_zero
from .checks import ALL_PARAMETERS, Check, Evidence, Method, Verdict


@dataclass(frozen=True)
class Monotone(Check):
    """`expr` never falls (or never rises) as `symbol` grows, for all parameters."""

    expr: Expr
    symbol: Symbol
    direction: Trend

    def verify(self) -> Evidence:
        found = trend(self.expr, self.symbol)
        if found is self.direction:
            return Evidence(
                Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, f"rule by rule: {found.name} in {self.symbol}"
            )
        detail = "no rule tells" if found is None else f"rule by rule it is {found.name}"
        return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, detail)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "the other direction", replace(self, direction=Trend(-self.direction))
        yield "the reciprocal", replace(self, expr=1 / self.expr)
        yield "times a power of the symbol", replace(self, expr=self.expr * self.symbol ** (-100 * self.direction))

    def formula(self) -> Relational:
        before, after = self.expr, self.expr.subs(self.symbol, self.symbol + slack)
        return Le(before, after, evaluate=False) if self.direction is Trend.UP else Ge(before, after, evaluate=False)


@dataclass(frozen=True)
class LargestTerm(Check):
    """The mean of e^body, as a logarithm, is at most `value`: the body at index 1, because it falls with the index."""

    mean: LogMeanExp
    value: Expr

    def verify(self) -> Evidence:
        body, index, _ = self.mean.args
        if trend(body, index) is not Trend.DOWN:
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "no rule says that the body falls")
        if not is_zero(body.subs(index, 1) - self.value):
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "that is not the first term")
        return Evidence(
            Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, "the exponent falls with the index, rule by rule"
        )

    def mutants(self) -> Iterator[tuple[str, Check]]:
        body, index, count = self.mean.args
        yield "half the value", replace(self, value=self.value / 2)
        yield "the second term", replace(self, value=body.subs(index, 2))
        yield "a rising body", replace(self, mean=LogMeanExp(1 / body, index, count), value=1 / self.value)

    def formula(self) -> Relational:
        return Le(self.mean, self.value, evaluate=False)
