"""Negative controls of a proof: wrong versions of its claim, its hypotheses and its steps, all to be refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sympy import Expr
from sympy.core.relational import Relational

from .evidence import Check, Evidence, Method, Verdict, proved
from .kernel import Refused, Theorem, nodes, promise, proof_of, replay
from .mutants import mutations
from .propositions import Abbreviation, AtMost, Equal, Less, Proposition

MAX_STEPS = 6
"""How many applications of rules are tampered with, spread over the proof."""


@dataclass(frozen=True)
class Tampered(Check):
    """A step of a proof with one input changed: its rule must refuse it."""

    step: Theorem
    field: str
    value: Any

    def verify(self) -> Evidence:
        try:
            return proved([replay(self.step, **{self.field: self.value})])
        except Refused as why:
            return Evidence(Method.THEOREM, Verdict.UNDECIDED, "", str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        return iter(())

    def formula(self) -> Relational:
        from .tree import relation_of

        return relation_of(self.step)


def mutants(theorem: Theorem) -> Iterator[tuple[str, Check]]:
    """The same proof for another value, or from fewer hypotheses; and the proof with a step that was tampered with."""
    from .tree import Proved

    proof = proof_of(theorem)
    for what, wrong in _wrong(theorem.proposition):
        yield what, Proved(promise(wrong, theorem.hypotheses, lambda: proof))
    for hypothesis in proof.hypotheses:
        if not isinstance(hypothesis, Abbreviation):
            rest = [each for each in theorem.hypotheses if each != hypothesis]
            yield f"without {hypothesis}", Proved(promise(theorem.proposition, rest, lambda: proof))
    steps = [node for node in nodes(theorem) if node.rule in ("cancel", "combine")]
    for step in steps[:: max(1, len(steps) // MAX_STEPS)][:MAX_STEPS]:
        right = dict(step.inputs)["right"]
        for what, changed in mutations(right, limit=1):
            yield f"{step.rule}: {what} in {right}", Tampered(step, "right", changed)


def _wrong(proposition: Proposition) -> Iterator[tuple[str, Proposition]]:
    """Propositions with another value or right side."""
    field = "right" if isinstance(proposition, AtMost | Less | Equal) else proposition.value_at
    if field is None:
        return
    value: Expr = getattr(proposition, field)
    yield "off by one", replace(proposition, **{field: value + 1})  # type: ignore[arg-type]
    for what, changed in mutations(value, limit=3):
        yield what, replace(proposition, **{field: changed})  # type: ignore[arg-type]
