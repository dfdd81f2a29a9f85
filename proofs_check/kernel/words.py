"""Propositions, and the terms they are about, in Coq: terms are inductive types, what is said of runs, predicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from sympy import Basic, Lambda, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction

from hsdp_symbolic.meaning import Neighbouring
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.propositions import (
    Abbreviation,
    Anything,
    AtMost,
    Batches,
    Descent,
    Either,
    Equal,
    FreshBatches,
    GivenBatches,
    Less,
    Pair,
    Proposition,
    Tends,
    Term,
)
from hsdp_symbolic.symbols import theta

from .trees import Tree, Untranslated, is_spatial, name_of, tree_of

SORTS: dict[type[Term], str] = {Batches: "batches", Descent: "descent", Pair: "laws"}
_FIELDS = {"batches": "batches", "random": "batches", "descent": "descent", "run": "descent"}
_FIELDS |= dict.fromkeys(("pair", "first", "second", "one", "other"), "laws")
_LOGICAL = (Equal, AtMost, Less, Abbreviation, Either, Tends)


FUNCTIONS = {("Densities", each): "(point -> R)" for each in ("first", "second")}
FUNCTIONS |= {("Diffusing", each): "(point -> R -> R)" for each in ("first", "second")}
FUNCTIONS |= {("InformationAtLeast", each): "(point -> R)" for each in ("first", "second")}
FUNCTIONS |= {("Densities", "divergence"): "(R -> R)", ("Known", "divergence"): "(R -> R)"}
FUNCTIONS |= {(kind, "divergence"): "(R -> R -> R)" for kind in ("Diffusing", "RateAtMost")}
FUNCTIONS |= {("Scheduled", each): "(R -> R)" for each in ("factor", "variance", "jump")}
FUNCTIONS |= {("Converges", "integral"): "(coordinate -> point -> R)"}
"""Parts of propositions that are functions, or depend on an integrand."""


def sort_of_field(kind: type[Term], name: str) -> str:
    """The Coq type of a field of a term or proposition."""
    annotation = str(kind.__annotations__.get(name, "")) or next(
        (str(each.__annotations__[name]) for each in kind.__mro__ if name in getattr(each, "__annotations__", {})), ""
    )
    if (kind.__name__, name) in FUNCTIONS:
        return FUNCTIONS[kind.__name__, name]
    if "Lambda" in annotation:
        raise Untranslated(f"{kind.__name__}: a function as a part")
    if annotation in ("Expr", "Symbol"):
        return "R"
    if annotation == "Neighbouring":
        return "neighbouring"
    for word, sort in (("Batches", "batches"), ("Descent", "descent"), ("Pair", "laws")):
        if word in annotation:
            return sort
    first = annotation.partition(" ")[0]
    if first == "Term" or first in others():
        return "thing"
    raise Untranslated(f"{kind.__name__}.{name}: {annotation}")


@cache
def kinds_of_terms() -> tuple[type[Term], ...]:
    """The kinds of terms and propositions of the room of proofs, in an order that does not depend on imports."""
    all_facts()  # imports all modules that define some
    found: list[type[Term]] = []
    waiting = [Term]
    while waiting:
        below = waiting.pop().__subclasses__()
        found += [each for each in below if each.__module__.startswith("hsdp_symbolic.proof.")]
        waiting += below
    return tuple(sorted(set(found), key=lambda each: (each.__module__, each.__name__)))


@cache
def terms() -> dict[str, tuple[type[Term], ...]]:
    """The kinds of terms of each sort, found in the modules of propositions and facts."""
    found: dict[str, dict[str, type[Term]]] = {sort: {} for sort in SORTS.values()}
    for kind in kinds_of_terms():
        for base, sort in SORTS.items():
            if issubclass(kind, base) and kind not in (Batches, Pair):
                found[sort][kind.__name__] = kind
    return {sort: tuple(kinds[name] for name in sorted(kinds)) for sort, kinds in found.items()}


@cache
def others() -> dict[str, type[Term]]:
    """Terms of no sort of their own: models of losses, ways of sampling."""
    sorted_ = {kind for kinds in terms().values() for kind in kinds}
    found = {}
    for kind in kinds_of_terms():
        if not issubclass(kind, Proposition | Anything) and kind not in (Batches, Pair, *sorted_):
            found[kind.__name__] = kind
    return dict(sorted(found.items()))


def constructor(kind: type[Term]) -> str:
    return f"mk_{kind.__name__}"


@dataclass(frozen=True)
class Written:
    """A proposition or term in Coq: its shape with places for numbers, and the numbers."""

    text: str
    numbers: tuple[Tree, ...]

    def __str__(self) -> str:
        return self.text.format(*self.numbers) if self.numbers else self.text.format()


Names = Mapping[Any, str]
"""What stands for an `Anything`."""


def written(part: object, env: Mapping[Any, Any] | None = None, sort: str = "") -> str:
    """A term or proposition in Coq; `env` says what stands for symbols (trees) and for any term (text)."""
    env = env or {}
    match part:
        case Anything():
            return str(env.get(part) or variable_for(part))
        case Equal():
            return f"({number(part.left, env)} = {number(part.right, env)})"
        case Abbreviation():
            return f"({number(part.symbol, env)} = {number(part.meaning, env)})"
        case AtMost():
            return f"({number(part.left, env)} <= {number(part.right, env)})"
        case Less():
            return f"({number(part.left, env)} < {number(part.right, env)})"
        case Either():
            return "(" + " \\/ ".join(written(each, env) for each in part.cases) + ")"
        case Term() if not isinstance(part, Tends):
            return _made(part, env)
    return _plain_part(part, env)


def _plain_part(part: object, env: Mapping[Any, Any]) -> str:
    """What is no term: numbers, functions and data."""
    match part:
        case Neighbouring():
            return f"neighbouring_{part.name}"
        case Lambda():
            spatial = is_spatial(part.expr)
            names = [f"({name_of(each)} : {'point' if spatial and each == theta else 'R'})" for each in part.variables]
            inside = {key: value for key, value in env.items() if key not in part.variables}
            return f"(fun {' '.join(names)} => {number(part.expr, inside)})"
        case Basic():
            return number(part, env)
        case int():
            return str(part)
    raise Untranslated(type(part).__name__)


def _made(part: Term, env: Mapping[Any, Any]) -> str:
    kind = type(part)
    word = kind.__name__ if isinstance(part, Proposition) else constructor(kind)
    for field in fields(part):
        sort_of_field(kind, field.name)
    if word == "Converges":
        (tree,) = tree_of_env(part.integral, env).args  # type: ignore[attr-defined]
        return f"(Converges {tree})"
    values = [written(getattr(part, field.name), env) for field in fields(part)]
    return f"({' '.join((word, *values))})" if values else word


def number(expr: Basic, env: Mapping[Any, Any]) -> str:
    return str(tree_of_env(expr, env))


def tree_of_env(expr: Basic, env: Mapping[Any, Any]) -> Tree:
    """The tree of an expression, with what `env` says of numbers and functions."""
    return tree_of(expr, {key: value for key, value in env.items() if isinstance(value, Tree | Lambda)})


def variable_for(anything: Anything) -> str:
    return "any_" + name_of(anything.name)


def numbers_in(part: object) -> tuple[Basic, ...]:
    """The expressions in a term or proposition, in order."""
    return tuple(part.expressions()) if isinstance(part, Term) else ()


def anythings(part: object, sort: str = "batches") -> dict[Anything, str]:
    """The `Anything` in a term, each with its sort."""
    found: dict[Anything, str] = {}
    if isinstance(part, tuple):
        for each in part:
            found |= anythings(each, sort)
    elif isinstance(part, Anything):
        found[part] = sort
    elif isinstance(part, Term):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, Term):
                is_any = isinstance(value, Anything)
                found |= anythings(value, sort_of_field(type(part), field.name) if is_any else "")
            elif isinstance(value, tuple):
                found |= anythings(value)
    return found


def kind_premise(anything: Anything) -> str | None:
    """What is asked of whatever takes the place of this."""
    if isinstance(anything, GivenBatches):
        return "given"
    return "fresh" if isinstance(anything, FreshBatches) else None


def symbols_in(part: Term) -> set[Symbol]:
    return {each for each in part.free_symbols if isinstance(each, Symbol)}


def unknown_functions(part: Term) -> set[UndefinedFunction]:
    from hsdp_symbolic.symbols import uses_before, uses_within

    found = {node.func for each in part.expressions() for node in each.atoms(AppliedUndef)}
    return {each for each in found if each not in (uses_before, uses_within)}
