"""Witnesses: cases in which a cited fact can be checked as it is stated, and a wrong version of it is rejected.

A witness is a function of the fact; it evaluates the expressions that stand in the fact itself at a few points and
yields, for each, whether what the fact concludes is true there. Handed a changed fact, it must yield a `False`.
Trusted by nobody: a witness proves nothing, but catches a fact that was written down wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from importlib import import_module
from importlib.util import find_spec

from sympy import Expr, Integer, Lambda

from ..facts import PARTS
from ..kernel import Fact
from ..propositions import AtMost, Equal, Less, Proposition

Witness = Callable[[Fact], Iterator[bool]]
WITNESSES: dict[str, Witness] = {}


def witness(fact: Fact) -> Callable[[Witness], Witness]:
    """Registers the witness of a fact."""

    def register(check: Witness) -> Witness:
        WITNESSES[fact.name] = check
        return check

    return register


def load() -> dict[str, Witness]:
    """All witnesses, by the name of their fact."""
    for part in PARTS:
        if find_spec(f"{__package__}.{part}") is not None:
            import_module(f".{part}", __package__)
    return WITNESSES


def mutants(fact: Fact) -> Iterator[Fact]:
    """Versions of a fact that claim too much: the bound halved, a function doubled, or a premise that asks for less."""
    found = fact.conclusion
    functions = [field.name for field in fields(found) if isinstance(getattr(found, field.name), Lambda)]
    if found.value_at is not None:
        yield replace(fact, conclusion=_with(found, found.value_at, found.value / 2 if found.value else Integer(-1)))
    elif isinstance(found, AtMost | Less | Equal):
        yield replace(fact, conclusion=_with(found, "right", found.right / 2 - 1))
    elif functions:
        last: Lambda = getattr(found, functions[-1])
        yield replace(fact, conclusion=_with(found, functions[-1], Lambda(last.variables, 2 * last.expr)))
    else:
        numbers = [place for place, each in enumerate(fact.premises) if isinstance(each, AtMost | Less | Equal)]
        for place in numbers[:1]:
            weaker = _with(fact.premises[place], "left", fact.premises[place].left / 2)  # type: ignore[attr-defined]
            yield replace(fact, premises=(*fact.premises[:place], weaker, *fact.premises[place + 1 :]))


def _with(found: Proposition, field: str, value: Expr) -> Proposition:
    return replace(found, **{field: value})
