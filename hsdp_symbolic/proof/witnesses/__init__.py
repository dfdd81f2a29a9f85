"""Witnesses: cases in which a cited fact can be checked as it is stated, and a wrong version of it is rejected.

A witness is a function of the fact; it evaluates the expressions that stand in the fact itself at a few points and
yields, for each, whether what the fact concludes is true there. Handed a changed fact, it must yield a `False`.
Trusted by nobody: a witness proves nothing, but catches a fact that was written down wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

from sympy import Expr

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
    """Versions of a fact that claim too much: the bound halved, or the larger side of an inequality."""
    found = fact.conclusion
    if found.value_at is not None:
        yield replace(fact, conclusion=_with(found, found.value_at, found.value / 2))
    elif isinstance(found, AtMost | Less | Equal):
        yield replace(fact, conclusion=_with(found, "right", found.right / 2 - 1))


def _with(found: Proposition, field: str, value: Expr) -> Proposition:
    return replace(found, **{field: value})  # type: ignore[arg-type]
