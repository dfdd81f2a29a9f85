"""A proof as people read it: the theorems of its tree that have names, what each says, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Eq, Ge, Le, Lt, true
from sympy.core.relational import Relational

from ..symbols import R
from .kernel import Fact, Theorem, nodes, proof_of
from .propositions import AtMost, Equal, Less, Proposition


@dataclass(frozen=True)
class Line:
    """A named theorem of a proof: what it says, and what it rests on directly."""

    number: int
    theorem: Theorem
    lines: tuple[int, ...]
    """The named theorems it uses."""
    facts: tuple[Fact, ...]
    """The facts it uses."""

    @property
    def name(self) -> str:
        return self.theorem.name

    @property
    def support(self) -> str:
        """What it rests on, in words."""
        cited = [fact.name for fact in self.facts]
        return "; ".join(
            filter(
                None,
                (
                    f"from {', '.join(map(str, self.lines))}" if self.lines else "",
                    f"by {', '.join(cited)}" if cited else "",
                ),
            )
        )


def outline(theorem: Theorem) -> tuple[Line, ...]:
    """The named theorems of a proof, each after what it rests on, the theorem itself last."""
    numbers: dict[tuple[str, object, frozenset[object]], int] = {}
    found: list[Line] = []
    for node in nodes(theorem):
        if (node.name or node is theorem) and _key(node) not in numbers:
            lines, facts = _rests_on(node, numbers)
            numbers[_key(node)] = len(found) + 1
            found.append(Line(len(found) + 1, node, lines, facts))
    return tuple(found)


def _key(node: Theorem) -> tuple[str, object, frozenset[object]]:
    return node.name, node.proposition, frozenset(node.hypotheses)


def _rests_on(
    theorem: Theorem, numbers: dict[tuple[str, object, frozenset[object]], int]
) -> tuple[tuple[int, ...], tuple[Fact, ...]]:
    """The named theorems and the facts below a theorem, down to the next name."""
    lines: set[int] = set()
    facts: dict[str, Fact] = {}
    visited, below = {id(theorem)}, list(_below(theorem))
    if theorem.rule == "apply":
        fact = dict(theorem.inputs)["fact"]
        facts[fact.name] = fact
    while below:
        node = below.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if node.name and _key(node) in numbers:
            lines.add(numbers[_key(node)])
            continue
        if node.rule == "apply":
            fact = dict(node.inputs)["fact"]
            facts[fact.name] = fact
        below.extend(_below(node))
    return tuple(sorted(lines)), tuple(facts[name] for name in sorted(facts))


def _below(node: Theorem) -> tuple[Theorem, ...]:
    return (proof_of(node),) if node.rule == "promise" else node.premises


def every_rule(theorem: Theorem) -> Iterator[str]:
    """The whole proof, a line for each application of a rule, premises first."""
    numbers: dict[int, int] = {}
    for node in nodes(theorem):
        numbers[id(node)] = len(numbers) + 1
        used = ", ".join(str(numbers[id(each)]) for each in _below(node))
        fact = f" {dict(node.inputs)['fact'].name}" if node.rule == "apply" else ""
        name = f" «{node.name}»" if node.name else ""
        yield f"{numbers[id(node)]}. {node.rule}{fact}{f' ({used})' if used else ''}{name}: {node.proposition}"


def relation_of(theorem: Theorem) -> Relational:
    """What a theorem says of numbers, as a SymPy relation."""
    return relation_in(theorem.proposition)


def relation_in(found: Proposition) -> Relational:
    """What a proposition says of numbers, as a SymPy relation; of others, the bound `R ≤ value`, or nothing: `True`."""
    kinds = {Equal: Eq, AtMost: Le, Less: Lt}
    if isinstance(found, Equal | AtMost | Less):
        return kinds[type(found)](found.left, found.right, evaluate=False)
    if found.value_at is None:
        return true
    return {"<=": Le, ">=": Ge, "=": Eq}[found.relation](R, found.value, evaluate=False)


__all__ = ["Line", "every_rule", "outline", "relation_in", "relation_of"]
