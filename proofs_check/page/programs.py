"""A statement's program as plain data, for the calculator in the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hsdp_symbolic.evaluate.program import Operation, Program, compile_expression
from hsdp_symbolic.statement import Statement
from hsdp_symbolic.tex import latex

HERE = Path(__file__).parent


OPERATIONS = frozenset(
    {"constant", "leaf", "add", "mul", "power", "exp", "log", "floordiv", "contraction", "select"}
    | {"Expm1", "GeometricSum", "LogMix", "Pooled", "SampledGaussian", "LogMeanExp", "Accumulated", "Compounded"}
    | {"CappedMoment"}
)
"""What the calculator can do; a browser test compares this with `Calculator.operations`."""


def as_data(program: Program) -> list[list[Any]]:
    """The instructions; constants are doubles, parts are programs of their own."""
    return [[_name(called), list(operands), _payload(called, payload)] for called, operands, payload in program.code]


def _name(operation: Operation) -> str:
    return operation if isinstance(operation, str) else operation.__name__


def _payload(operation: Operation, payload: Any) -> Any:
    if operation == "constant":
        return float(payload)
    if isinstance(payload, tuple):
        return [as_data(part) if isinstance(part, Program) else part for part in payload]
    return payload


def operations(program: Program) -> set[str]:
    """Every operation a program uses, those of its parts included."""
    found = {_name(operation) for operation, _, _ in program.code}
    for _, _, payload in program.code:
        if isinstance(payload, tuple):
            found = found.union(*(operations(part) for part in payload if isinstance(part, Program)))
    return found


def live(statement: Statement) -> dict[str, Any] | None:
    """What the calculator needs to evaluate a statement, hypotheses included; None where it cannot."""
    program = compile_expression(statement.expr)
    if operations(program) - OPERATIONS:
        return None
    conditions = [
        [
            {
                "left": as_data(compile_expression(each.lhs)),
                "relation": each.rel_op,
                "right": as_data(compile_expression(each.rhs)),
                "text": str(each).replace("**", "^"),
                "latex": latex(each),
            }
            for each in (hypothesis.args if hypothesis.func.__name__ == "Or" else (hypothesis,))
        ]
        for hypothesis in statement.hypotheses
    ]
    return {"program": as_data(program), "needs": list(statement.needs), "conditions": conditions}
