"""SymPy tree → straight-line program: the closed whitelist of nodes, walked once, run in any arithmetic.

Exact rationals, interval engines and NumPy all run the same program, so a formula is stated once and no
view can drift from another. A node outside the whitelist, or a `Float`, is refused when compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

from sympy import Add, Eq, Expr, Float, Mul, Piecewise, Pow, Rational, S, Symbol, floor, fraction
from sympy import exp as exponential
from sympy import log as logarithm

from .. import symbols
from ..errors import UnsupportedNode
from ..functions.interface import BoundFunction, Parts, Pointwise, Spelled


class View(Protocol):
    """One way to compute an expression, such as in exact rationals, and what it must know how to do.

    Its values may be of any type; constants are Fractions.
    """

    def add(self, *terms: Any) -> Any: ...
    def mul(self, *factors: Any) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def floordiv(self, top: Any, bottom: Any) -> Any: ...
    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (step,): 1 − step, with the step possibly tiny."""

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (left, right, then, otherwise): `then` where left = right (both exact), `otherwise` elsewhere."""

    def operation(self, function: type[BoundFunction]) -> Callable[..., Any]:
        """How this view computes a function: from values, or from parts and the values of their letters."""


Operation = str | type[BoundFunction]
Instruction = tuple[Operation, tuple[int, ...], Any]


@dataclass(frozen=True)
class Program:
    """Instructions in dependency order; each names its operation and the registers it reads.

    Where an instruction carries parts, programs of their own, the view runs these as it needs them.
    """

    code: tuple[Instruction, ...]
    leaves: frozenset[str]

    def functions(self) -> frozenset[type[BoundFunction]]:
        """The functions it calls, those within other functions' arguments not counted."""
        return frozenset(operation for operation, _, _ in self.code if not isinstance(operation, str))

    def run(self, view: View, values: Mapping[str, Any]) -> Any:
        """The value of the expression in `view`, with the leaves read from `values`."""
        registers: list[Any] = []
        for operation, operands, payload in self.code:
            registers.append(_perform(view, operation, [registers[r] for r in operands], payload, values))
        return registers[-1]

    def prepare(self, view: View, values: Mapping[str, Any], name: str) -> Callable[[Any], Any]:
        """The program as a function of one leaf: what does not depend on that leaf is done now, once."""
        registers: list[Any] = [None] * len(self.code)
        varying: list[tuple[int, Any, tuple[int, ...], Any]] = []
        depends: set[int] = set()
        for position, (operation, operands, payload) in enumerate(self.code):
            if depends.intersection(operands) or _reads(operation, payload, name):
                depends.add(position)
                method = None if operation == "leaf" else _method(view, operation)
                varying.append((position, method, operands, payload))
            else:
                registers[position] = _perform(view, operation, [registers[r] for r in operands], payload, values)

        def at(value: Any) -> Any:
            for position, method, operands, payload in varying:
                if method is None:
                    registers[position] = value
                elif payload is None:
                    registers[position] = method(*[registers[r] for r in operands])
                else:
                    registers[position] = method(payload, {**values, name: value})
            return registers[-1]

        return at


def _method(view: View, operation: Operation) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(view, operation) if isinstance(operation, str) else view.operation(operation)
    return found


def _perform(view: View, operation: Operation, operands: list[Any], payload: Any, values: Mapping[str, Any]) -> Any:
    if operation == "constant":
        return payload
    if operation == "leaf":
        return values[payload]
    if isinstance(payload, tuple):
        return _method(view, operation)(payload, values)
    return _method(view, operation)(*operands)


def _reads(operation: Operation, payload: Any, name: str) -> bool:
    if isinstance(payload, tuple):
        return any(isinstance(part, Program) and name in part.leaves for part in payload)
    return operation == "leaf" and bool(payload == name)


@cache
def compile_expression(expr: Expr, atoms: frozenset[Symbol] = frozenset()) -> Program:
    """The program of `expr`; raises `UnsupportedNode` on anything outside the whitelist.

    Abbreviations among the `atoms` become leaves instead of being spelled out.
    """
    compiler = _Compiler(atoms)
    compiler.visit(expr)
    return Program(tuple(compiler.code), frozenset(compiler.leaves))


class _Compiler:
    def __init__(self, atoms: frozenset[Symbol]) -> None:
        self.atoms = atoms
        self.code: list[Instruction] = []
        self.leaves: set[str] = set()
        self.registers: dict[Expr, int] = {}

    def visit(self, node: Expr) -> int:
        if node not in self.registers:
            self.registers[node] = self._translate(node)
        return self.registers[node]

    def emit(self, operation: Operation, *operands: Expr, payload: Any = None) -> int:
        reads = tuple(self.visit(operand) for operand in operands)
        self.code.append((operation, reads, payload))
        return len(self.code) - 1

    def emit_parts(self, operation: Operation, *parts: Expr, own_name: Symbol | None = None) -> int:
        """An instruction whose parts are programs; `own_name`, its index or state, is no leaf of the whole."""
        if own_name is not None and not isinstance(own_name, Symbol):
            raise UnsupportedNode(f"{own_name} is the index of a mean or recursion, and must be a symbol")
        compiled = tuple(part.name if part == own_name else compile_expression(part, self.atoms) for part in parts)
        for part in compiled:
            if isinstance(part, Program):
                self.leaves |= part.leaves - {own_name.name if own_name else ""}
        return self.emit(operation, payload=compiled)

    def _translate(self, node: Expr) -> int:
        if isinstance(node, BoundFunction):
            return self._function(node)
        match node:
            case Float():
                raise UnsupportedNode(f"{node} is an inexact Float; write it as a Rational")
            case Rational():
                return self.emit("constant", payload=Fraction(int(node.p), int(node.q)))
            case Symbol():
                return self._symbol(node)
            case S.Exp1:
                return self.emit("exp", S.One)
            case floor():
                return self.emit("floordiv", *fraction(node.args[0]))
            case Piecewise() if len(node.args) == 2 and isinstance(node.args[0].cond, Eq):
                (then, condition), (otherwise, _) = node.args
                return self.emit_parts("select", condition.lhs, condition.rhs, then, otherwise)
        if type(node) in _OPERATIONS:
            return self.emit(_OPERATIONS[type(node)], *node.args)
        raise UnsupportedNode(f"{type(node).__name__} is not among the nodes a view can evaluate: {node}")

    def _function(self, node: BoundFunction) -> int:
        if isinstance(node, Spelled):
            return self.visit(node.closed())
        if isinstance(node, Pointwise):
            return self.emit(type(node), *node.args)
        return self.emit_parts(type(node), *node.args, own_name=node.own_name)

    def _symbol(self, node: Symbol) -> int:
        if node not in self.atoms:
            if node in symbols.CONTRACTIONS:
                return self.emit_parts("contraction", symbols.CONTRACTIONS[node])
            if node in symbols.ABBREVIATIONS and node != symbols.sigma2:
                return self.visit(symbols.ABBREVIATIONS[node])
        self.leaves.add(node.name)
        return self.emit("leaf", payload=node.name)


_OPERATIONS = {Add: "add", Mul: "mul", Pow: "power", exponential: "exp", logarithm: "log"}
