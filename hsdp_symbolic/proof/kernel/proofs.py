"""Proofs: promises and how they are kept, the nodes of a proof, and every rule applied again."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..propositions import Proposition
from .theorem import RULES, Fact, Refused, Theorem, as_proposition, make, require


def promise(
    proposition: Proposition,
    hypotheses: Iterable[Proposition],
    prove: Callable[[], Theorem],
    name: str = "",
) -> Theorem:
    """A theorem whose proof, `prove()`, is written when it is asked for; until then it is not closed."""
    inputs = (("prove", prove),)
    hypotheses = tuple(map(as_proposition, hypotheses))
    return make(as_proposition(proposition), hypotheses, frozenset(), "promise", inputs, (), name)


def named(theorem: Theorem, name: str) -> Theorem:
    """The same theorem under a name."""
    if theorem.rule == "promise":
        raise Refused("name a promise when it is made")
    parts = (theorem.facts, theorem.rule, theorem.inputs, theorem.premises)
    return make(theorem.proposition, theorem.hypotheses, *parts, name)


def proof_of(theorem: Theorem) -> Theorem:
    """The proof behind a promise, which must conclude what was promised, from no more than was said; or itself."""
    if theorem.rule != "promise":
        return theorem
    found: Theorem | None = theorem._proof
    if found is None:
        found = dict(theorem.inputs)["prove"]()
        _check_kept(theorem, found)
        object.__setattr__(theorem, "_proof", found)
    return found


def _check_kept(theorem: Theorem, found: object) -> None:
    """Refuse what does not keep a promise."""
    what = theorem.name or "a promise"
    require(type(found) is Theorem, "{}: no theorem came out", what)
    assert isinstance(found, Theorem)  # what the line before decides, for the type checker
    require(found.proposition == theorem.proposition, "{} says {}; {} was proved", what, theorem.proposition, found)
    more = [each for each in found.hypotheses if each not in theorem.hypotheses]
    require(not more, "{} also rests on: {}", what, "; ".join(map(str, more)))


def nodes(theorem: Theorem) -> Iterator[Theorem]:
    """Every theorem of the tree, each once, premises first, promises kept."""
    entered: set[int] = set()
    finished: set[int] = set()
    stack: list[tuple[Theorem, bool]] = [(theorem, False)]
    while stack:
        node, done = stack.pop()
        if done:
            finished.add(id(node))
            yield node
        elif id(node) not in finished:
            require(id(node) not in entered, "{} is used to prove itself", node.name or node)
            entered.add(id(node))
            stack.append((node, True))
            below = (proof_of(node),) if node.rule == "promise" else node.premises
            stack.extend((each, False) for each in reversed(below))


def closed(theorem: Theorem) -> tuple[Theorem, ...]:
    """All nodes of a theorem whose promises were kept; each is what its rule makes of its inputs, done again."""
    found = tuple(nodes(theorem))
    for node in found:
        check_again(node)
    return found


_MADE_AGAIN: dict[int, tuple[Theorem, Theorem]] = {}
"""Nodes this process has looked at, by identity, with what their rules made of their inputs: proofs share most."""


def check_again(node: Theorem) -> None:
    """Refuse a node that is not what its rule makes, or made the first time we looked, of its inputs."""
    _, again = _MADE_AGAIN.get(id(node)) or _MADE_AGAIN.setdefault(id(node), (node, replay(node)))
    same = again.proposition == node.proposition and again.hypotheses == node.hypotheses
    same = same and again.facts == node.facts and len(again.premises) == len(node.premises)
    same = same and all(map(operator.is_, again.premises, node.premises))
    require(same, "{} was changed after it was proved", node.name or node.rule)


def replay(node: Theorem, **changes: Any) -> Theorem:
    """What a node's rule makes of its inputs, some of them perhaps changed."""
    inputs = dict(node.inputs) | changes
    if node.rule == "promise":
        _check_kept(node, proof_of(node))
        return promise(node.proposition, node.hypotheses, inputs["prove"])
    made = RULES[node.rule]
    parameters = inspect.signature(made).parameters
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(inputs[name])
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = inputs[name]
        else:
            positional.append(inputs[name])
    return made(*positional, **keywords)


def rests_on(theorem: Theorem) -> frozenset[Fact]:
    """All facts of a theorem, those behind its promises included."""
    return frozenset[Fact]().union(*(node.facts for node in nodes(theorem)))
