"""Checks that rest on trends: an expression is monotone in a symbol, a mean is at most its largest term."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sympy import Expr, Ge, Le, S, Symbol
from sympy.core.relational import Relational

from ..evaluate.trend import trend
from ..functions.interface import Trend, functions_in
from ..functions.log_mean_exp import LogMeanExp
from ..symbols import more, slack
from ..symbols import whole as counted
from . import kernel
from .algebra import normal_form
from .checks import Check, FromTheorems, equality
from .evidence import Evidence, Method, Verdict
from .kernel import Refused, Theorem
from .propositions import AtMost, Less
from .signs import seen
from .tree import relation_of


def _further(symbol: Symbol) -> Symbol:
    """By how much a symbol grows: whole for one that counts."""
    return more if symbol.is_integer else slack


def _from_the_start(found: Theorem) -> Theorem:
    """The same without hypotheses about the later end that follow from those about the earlier one."""
    for later in found.hypotheses:
        for earlier in found.hypotheses:
            pair = later, earlier
            if later != earlier and all(isinstance(each, AtMost | Less) for each in pair):
                gaps = [each.right - each.left for each in pair]  # type: ignore[attr-defined]
                if seen(normal_form(gaps[0] - gaps[1])) is not None and later.free_symbols & {more, slack}:
                    terms = (S.One, kernel.assume(earlier)), (normal_form(gaps[0] - gaps[1]),)
                    found = kernel.cut(found, kernel.combine(later.left, later.right, *terms))  # type: ignore[attr-defined]
                    break
    return found


@dataclass(frozen=True)
class Monotone(FromTheorems):
    """`expr` never falls (or never rises) as `symbol` grows; what it abbreviates with that symbol grows along."""

    expr: Expr
    symbol: Symbol
    direction: Trend
    where: tuple[Relational, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        found = kernel.moves(self.expr, self.symbol, _further(self.symbol))
        low, high = found.proposition.left, found.proposition.right  # type: ignore[attr-defined]
        rises = not low.has(_further(self.symbol))
        if low == high or rises != (self.direction is Trend.UP):
            raise Refused(f"rule by rule: {found.proposition}")
        return [_from_the_start(found)]

    def verify(self) -> Evidence:
        """Proved by the kernel's rule; *consistent* where a function of the bounds says its direction without proof."""
        words = {type(each).__name__ for each in functions_in(self.expr) if not each.moves_in_proofs}
        if not words or trend(self.expr, self.symbol) is not self.direction:
            return super().verify()
        told = f"{self.direction.name} in {self.symbol}, as {', '.join(sorted(words))} says of itself"
        return Evidence(
            Method.DIRECTIONS, Verdict.CONSISTENT, "wherever its hypotheses hold", f"{told}: argued, not proved"
        )

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "the other direction", replace(self, direction=Trend(-self.direction))
        yield "the reciprocal", replace(self, expr=1 / self.expr)
        yield "times a power of the symbol", replace(self, expr=self.expr * self.symbol ** (-100 * self.direction))

    def formula(self) -> Relational:
        try:
            return relation_of(self.theorems()[0])
        except Refused:
            before, after = self.expr, self.expr.subs(self.symbol, self.symbol + _further(self.symbol))
        return Le(before, after, evaluate=False) if self.direction is Trend.UP else Ge(before, after, evaluate=False)


@dataclass(frozen=True)
class LargestTerm(FromTheorems):
    """The mean of e^body, as a logarithm, is at most `value`: the body at index 1, because it falls with the index."""

    mean: LogMeanExp
    value: Expr
    where: tuple[Relational, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        body, index, count = self.mean.args
        falls = kernel.moves(body.xreplace({index: counted}), counted, more)
        from_one = kernel.assume(AtMost(S.One, index))
        first = kernel.substitute(falls, {counted: S.One, more: index - 1}, from_one)
        largest: Expr = first.proposition.right  # type: ignore[attr-defined]
        if first.proposition.left != body:  # type: ignore[attr-defined]
            raise Refused(f"rule by rule: {falls.proposition}")
        whole = first if largest == self.value else kernel.chain(first, equality(largest, self.value, self.where))
        return [kernel.mean_at_most(whole, index, count)]

    def mutants(self) -> Iterator[tuple[str, Check]]:
        body, index, count = self.mean.args
        yield "half the value", replace(self, value=self.value / 2)
        yield "the second term", replace(self, value=body.subs(index, 2))
        yield "a rising body", replace(self, mean=LogMeanExp(1 / body, index, count), value=1 / self.value)

    def formula(self) -> Relational:
        return Le(self.mean, self.value, evaluate=False)
