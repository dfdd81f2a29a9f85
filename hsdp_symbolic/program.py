"""SymPy tree → straight-line program: the closed whitelist of nodes, walked once, run in any algebra.

Exact rationals, interval engines and NumPy all run the same program, so a formula is stated once and no
view can drift from another. A node outside the whitelist, or a `Float`, is refused when compiling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

from sympy import Add, Eq, Expr, Float, Mul, Piecewise, Pow, Rational, Symbol, floor, fraction
from sympy import exp as exponential
from sympy import log as logarithm

from . import symbols
from .errors import UnsupportedNode
from .nodes import GeometricSum


class Algebra(Protocol):
    """What a view must know how to do. Values may be of any type the algebra likes; constants are Fractions."""

    def add(self, *terms: Any) -> Any: ...
    def mul(self, *factors: Any) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def floordiv(self, top: Any, bottom: Any) -> Any: ...
    def contraction(self, step: Any) -> Any:
        """q = 1 − step, with step = ηλ possibly tiny."""

    def geometric(self, x: Any, k: Any) -> Any:
        """1 + x + … + x^(k−1)."""

    def select(self, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        """`then` where left = right (both exact), `otherwise` elsewhere."""


Instruction = tuple[str, tuple[int, ...], Fraction | str | None]


@dataclass(frozen=True)
class Program:
    """Instructions in dependency order; each names its operation and the registers it reads."""

    code: tuple[Instruction, ...]
    leaves: frozenset[str]

    def run(self, algebra: Algebra, values: Mapping[str, Any]) -> Any:
        """The value of the expression in `algebra`, with the leaves read from `values`."""
        registers: list[Any] = []
        for operation, operands, payload in self.code:
            if operation == "constant":
                registers.append(payload)
            elif operation == "leaf":
                registers.append(values[str(payload)])
            else:
                registers.append(getattr(algebra, operation)(*[registers[r] for r in operands]))
        return registers[-1]


@cache
def compile_expression(expr: Expr) -> Program:
    """The program of `expr`; raises `UnsupportedNode` on anything outside the whitelist."""
    compiler = _Compiler()
    compiler.visit(expr)
    leaves = {str(payload) for operation, _, payload in compiler.code if operation == "leaf"}
    return Program(tuple(compiler.code), frozenset(leaves))


class _Compiler:
    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self.registers: dict[Expr, int] = {}

    def visit(self, node: Expr) -> int:
        if node not in self.registers:
            self.registers[node] = self._translate(node)
        return self.registers[node]

    def emit(self, operation: str, *operands: Expr, payload: Fraction | str | None = None) -> int:
        reads = tuple(self.visit(operand) for operand in operands)
        self.code.append((operation, reads, payload))
        return len(self.code) - 1

    def _translate(self, node: Expr) -> int:
        if isinstance(node, Float):
            raise UnsupportedNode(f"{node} is an inexact Float; write it as a Rational")
        match node:
            case Rational():
                return self.emit("constant", payload=Fraction(int(node.p), int(node.q)))
            case Symbol():
                return self._symbol(node)
            case Add():
                return self.emit("add", *node.args)
            case Mul():
                return self.emit("mul", *node.args)
            case Pow():
                return self.emit("power", node.base, node.exp)
            case exponential():
                return self.emit("exp", *node.args)
            case logarithm():
                return self.emit("log", *node.args)
            case GeometricSum():
                return self.emit("geometric", *node.args)
            case floor():
                return self.emit("floordiv", *fraction(node.args[0]))
            case Piecewise() if len(node.args) == 2 and isinstance(node.args[0].cond, Eq):
                (then, condition), (otherwise, _) = node.args
                return self.emit("select", condition.lhs, condition.rhs, then, otherwise)
        raise UnsupportedNode(f"{type(node).__name__} is not among the nodes a view can evaluate: {node}")

    def _symbol(self, node: Symbol) -> int:
        if node == symbols.q:
            return self.emit("contraction", symbols.eta * symbols.lam)
        if node in symbols.ABBREVIATIONS and node != symbols.sigma2:
            return self.visit(symbols.ABBREVIATIONS[node])
        return self.emit("leaf", payload=node.name)
