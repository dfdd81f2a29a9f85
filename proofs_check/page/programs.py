"""A statement's program as plain data, for the calculator in the page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from hsdp_symbolic.program import Program, compile_expression
from hsdp_symbolic.statement import Statement
from hsdp_symbolic.tex import latex

HERE = Path(__file__).parent


@cache
def known_operations() -> frozenset[str]:
    """What the calculator can do, read from its source."""
    source = (HERE / "calculator.js").read_text(encoding="utf-8")
    tables = re.findall(r"const (?:operations|wholes) = \{\n(.*?)\n  \};", source, re.S)
    return frozenset({"constant", "leaf", *re.findall(r"^    (\w+):", "\n".join(tables), re.M)})


def as_data(program: Program) -> list[list[Any]]:
    """The instructions; constants are doubles, parts are programs of their own."""
    return [[operation, list(operands), _payload(operation, payload)] for operation, operands, payload in program.code]


def _payload(operation: str, payload: Any) -> Any:
    if operation == "constant":
        return float(payload)
    if isinstance(payload, tuple):
        return [as_data(part) if isinstance(part, Program) else part for part in payload]
    return payload


def operations(program: Program) -> set[str]:
    """Every operation a program uses, those of its parts included."""
    found = {operation for operation, _, _ in program.code}
    for _, _, payload in program.code:
        if isinstance(payload, tuple):
            found = found.union(*(operations(part) for part in payload if isinstance(part, Program)))
    return found


def live(statement: Statement) -> dict[str, Any] | None:
    """What the calculator needs to evaluate a statement, hypotheses included; None where it cannot."""
    program = compile_expression(statement.expr)
    if operations(program) - known_operations():
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
