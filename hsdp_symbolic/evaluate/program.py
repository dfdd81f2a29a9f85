"""SymPy tree → straight-line program: the closed whitelist of nodes, walked once, run in any algebra.

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
from ..functions.accumulated import Accumulated
from ..functions.capped_moment import CappedMoment
from ..functions.compounded import Compounded
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.expm1 import Expm1
from ..functions.geometric import GeometricSum
from ..functions.hit_moment import HitMoment
from ..functions.log_mean_exp import LogMeanExp
from ..functions.log_mix import LogMix
from ..functions.pooled import Pooled
from ..functions.sampled_gaussian import SampledGaussian
from ..functions.shift_control import ShiftControl


class Algebra(Protocol):
    """What a view must know how to do. Values may be of any type the algebra likes; constants are Fractions.

    The last nine evaluate programs of their own, with `values` for their leaves.
    """

    def add(self, *terms: Any) -> Any: ...
    def mul(self, *factors: Any) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def expm1(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def floordiv(self, top: Any, bottom: Any) -> Any: ...
    def geometric(self, x: Any, k: Any) -> Any:
        """1 + x + … + x^(k−1)."""

    def log_mix(self, weight: Any, x: Any, y: Any) -> Any: ...
    def pooled(self, slope: Any, length: Any) -> Any:
        """See `nodes.Pooled`."""

    def contraction(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (step,): 1 − step, with the step possibly tiny."""

    def sampled_gaussian(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (rate, rho, order): see `nodes.SampledGaussian`."""

    def shift_control(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (cost, q, rate, batches, epochs): see `nodes.ShiftControl`."""

    def capped_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (cost, q, rate, count): see `nodes.CappedMoment`."""

    def hit_moment(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (cost, q, rate, count): see `nodes.HitMoment`."""

    def select(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (left, right, then, otherwise): `then` where left = right (both exact), `otherwise` elsewhere."""

    def log_mean_exp(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (body, index, count): see `nodes.LogMeanExp`."""

    def accumulated(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (increment, state, count, room, ceiling, gain): see `nodes.Accumulated`."""

    def compounded(self, parts: Parts, values: Mapping[str, Any]) -> Any:
        """parts = (factor, index, cost, count, limit): see `nodes.Compounded`."""


Instruction = tuple[str, tuple[int, ...], Any]


@dataclass(frozen=True)
class Program:
    """Instructions in dependency order; each names its operation and the registers it reads."""

    code: tuple[Instruction, ...]
    leaves: frozenset[str]

    def run(self, algebra: Algebra, values: Mapping[str, Any]) -> Any:
        """The value of the expression in `algebra`, with the leaves read from `values`."""
        registers: list[Any] = []
        for operation, operands, payload in self.code:
            registers.append(_perform(algebra, operation, [registers[r] for r in operands], payload, values))
        return registers[-1]

    def prepare(self, algebra: Algebra, values: Mapping[str, Any], name: str) -> Callable[[Any], Any]:
        """The program as a function of one leaf: what does not depend on that leaf is done now, once."""
        registers: list[Any] = [None] * len(self.code)
        varying: list[tuple[int, Any, tuple[int, ...], Any]] = []
        depends: set[int] = set()
        for position, (operation, operands, payload) in enumerate(self.code):
            if depends.intersection(operands) or _reads(operation, payload, name):
                depends.add(position)
                method = None if operation == "leaf" else getattr(algebra, operation)
                varying.append((position, method, operands, payload))
            else:
                registers[position] = _perform(algebra, operation, [registers[r] for r in operands], payload, values)

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


Parts = tuple[Program | str, ...]
"""The programs (and bound names) an instruction evaluates by itself."""


def _perform(algebra: Algebra, operation: str, operands: list[Any], payload: Any, values: Mapping[str, Any]) -> Any:
    if operation == "constant":
        return payload
    if operation == "leaf":
        return values[payload]
    if isinstance(payload, tuple):
        return getattr(algebra, operation)(payload, values)
    return getattr(algebra, operation)(*operands)


def _reads(operation: str, payload: Any, name: str) -> bool:
    if isinstance(payload, tuple):
        return any(isinstance(part, Program) and name in part.leaves for part in payload)
    return operation == "leaf" and payload == name


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

    def emit(self, operation: str, *operands: Expr, payload: Any = None) -> int:
        reads = tuple(self.visit(operand) for operand in operands)
        self.code.append((operation, reads, payload))
        return len(self.code) - 1

    def emit_parts(self, operation: str, *parts: Expr, bound: Symbol | None = None) -> int:
        """An instruction whose parts are programs; `bound` is a name of its own, not a leaf of the whole."""
        if bound is not None and not isinstance(bound, Symbol):
            raise UnsupportedNode(f"{bound} is bound by a mean or recursion, and must be a symbol")
        compiled = tuple(part.name if part == bound else compile_expression(part, self.atoms) for part in parts)
        for part in compiled:
            if isinstance(part, Program):
                self.leaves |= part.leaves - {bound.name if bound else ""}
        return self.emit(operation, payload=compiled)

    def _translate(self, node: Expr) -> int:
        if isinstance(node, Float):
            raise UnsupportedNode(f"{node} is an inexact Float; write it as a Rational")
        match node:
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
            case LogMeanExp():
                return self.emit_parts("log_mean_exp", *node.args, bound=node.args[1])
            case Accumulated():
                return self.emit_parts("accumulated", *node.args, bound=node.args[1])
            case Compounded():
                return self.emit_parts("compounded", *node.args, bound=node.args[1])
            case SampledGaussian():
                return self.emit_parts("sampled_gaussian", *node.args)
            case CappedMoment():
                return self.emit_parts("capped_moment", *node.args)
            case HitMoment():
                return self.emit_parts("hit_moment", *node.args)
            case ShiftControl():
                return self.emit_parts("shift_control", *node.args)
            case CyclicShifts():
                return self.visit(node.closed())
        if type(node) in _OPERATIONS:
            return self.emit(_OPERATIONS[type(node)], *node.args)
        raise UnsupportedNode(f"{type(node).__name__} is not among the nodes a view can evaluate: {node}")

    def _symbol(self, node: Symbol) -> int:
        if node not in self.atoms:
            if node in symbols.CONTRACTIONS:
                return self.emit_parts("contraction", symbols.CONTRACTIONS[node])
            if node in symbols.ABBREVIATIONS and node != symbols.sigma2:
                return self.visit(symbols.ABBREVIATIONS[node])
        self.leaves.add(node.name)
        return self.emit("leaf", payload=node.name)


_OPERATIONS = {
    Add: "add",
    Mul: "mul",
    Pow: "power",
    exponential: "exp",
    Expm1: "expm1",
    logarithm: "log",
    GeometricSum: "geometric",
    LogMix: "log_mix",
    Pooled: "pooled",
}
