"""A proof as people read it: the theorems of its tree that have names, and what each rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Eq, Le, Lt, S
from sympy.core.relational import Relational

from .evidence import Check, Evidence, Method, Verdict, proved, scope_of
from .kernel import Refused, Theorem, nodes, proof_of
from .propositions import AtMost, Equal, Less


@dataclass(frozen=True)
class Proved(Check):
    """A theorem of the kernel: it holds if its promises are kept and every rule, applied again, says the same."""

    theorem: Theorem

    def verify(self) -> Evidence:
        try:
            return proved([self.theorem])
        except Refused as why:
            return Evidence(Method.THEOREM, Verdict.UNDECIDED, "", str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        from .controls import mutants

        yield from mutants(self.theorem)

    def formula(self) -> Relational:
        return relation_of(self.theorem)


def relation_of(theorem: Theorem) -> Relational:
    """What a theorem says of numbers, as a SymPy relation; for other theorems, the bound it gives."""
    found = theorem.proposition
    kinds = {Equal: Eq, AtMost: Le, Less: Lt}
    if isinstance(found, Equal | AtMost | Less):
        return kinds[type(found)](found.left, found.right, evaluate=False)
    return Eq(found.value, found.value, evaluate=False) if found.value_at else Eq(S.One, S.One, evaluate=False)


@dataclass(frozen=True)
class Step:
    """A named theorem of a proof."""

    says: str
    check: Proved
    name: str = ""


def steps_of(theorem: Theorem) -> tuple[Step, ...]:
    """The named theorems of a proof, each after what it rests on, the theorem itself last."""
    found = [node for node in nodes(theorem) if node.name or node is theorem]
    return tuple(Step(str(node.proposition), Proved(node), node.name) for node in found)


__all__ = ["Proved", "Step", "proof_of", "relation_of", "scope_of", "steps_of"]
