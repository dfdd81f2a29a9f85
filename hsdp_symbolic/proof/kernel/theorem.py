"""What a theorem is, and what every rule has in common: plain arguments, hypotheses and facts that add up."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import Any, NoReturn, ParamSpec, TypeAlias

from sympy import Basic, Expr, Integer, Lambda, Symbol, preorder_traversal
from sympy.core.function import AppliedUndef, UndefinedFunction

from ...errors import HsdpError
from ...functions.interface import BoundFunction
from ..integrals import Integrated
from ..propositions import Anything, AtMost, Equal, Less, NoTerm, Proposition, Term

P = ParamSpec("P")


class Refused(HsdpError):
    """A rule does not apply to what it was given."""


@dataclass(frozen=True)
class Fact:
    """Something taken from the literature, or true by definition, stated in symbols: premises, then conclusion.

    Symbols and `Anything` terms in it stand for whatever is put in their place.
    """

    name: str
    reference: str
    """Where it is proved; empty for a definition."""
    premises: tuple[Proposition, ...]
    conclusion: Proposition
    note: str = ""
    eigen: tuple[Symbol | UndefinedFunction, ...] = ()
    """Symbols, and unknown functions, of which the premises must hold whatever they are; they stand for themselves."""
    under: tuple[Proposition, ...] = ()
    """What the premises may assume of these symbols."""
    under_each: tuple[tuple[Proposition, ...], ...] = ()
    """What each premise may assume, where premises differ in that; it takes the place of `under`."""

    def __post_init__(self) -> None:
        if self.under_each and (self.under or len(self.under_each) != len(self.premises)):
            raise ValueError(f"{self.name}: say what each premise may assume, or what all may")

    def assumable(self) -> tuple[tuple[Proposition, ...], ...]:
        """What each premise may assume."""
        return self.under_each or (self.under,) * len(self.premises)

    @property
    def is_definition(self) -> bool:
        return not self.reference

    def __str__(self) -> str:
        given = "; ".join(map(str, self.premises))
        return f"{given} ⟹ {self.conclusion}" if given else str(self.conclusion)


class Theorem:
    """hypotheses, facts ⊢ proposition. Only rules make one."""

    __slots__ = ("_proof", "facts", "hypotheses", "inputs", "name", "premises", "proposition", "rule")

    hypotheses: tuple[Proposition, ...]
    facts: frozenset[Fact]
    """The facts its own tree names; those behind promises are known once they are kept."""
    proposition: Proposition
    rule: str
    inputs: tuple[tuple[str, Any], ...]
    """The arguments its rule was called with, by name."""
    premises: tuple[Theorem, ...]
    name: str
    """What people call it; means nothing to the rules."""
    _proof: Theorem | None

    def __new__(cls, *_: object, **__: object) -> Theorem:
        raise TypeError("only the rules of hsdp_symbolic.proof.kernel make theorems")

    def __init_subclass__(cls, **_: object) -> NoReturn:
        raise TypeError("Theorem has no subclasses: whatever has this type was made by a rule")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a theorem does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a theorem does not change")

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a theorem cannot be stored or copied: store how to derive it")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Theorem) and (
            self is other
            or (
                self.proposition == other.proposition
                and set(self.hypotheses) == set(other.hypotheses)
                and self.facts == other.facts
            )
        )

    def __hash__(self) -> int:
        return hash((self.proposition, frozenset(self.hypotheses)))

    def __str__(self) -> str:
        given = "; ".join(map(str, self.hypotheses))
        return f"{given} ⊢ {self.proposition}" if given else f"⊢ {self.proposition}"

    def __repr__(self) -> str:
        return f"<Theorem by {self.rule}: {self}>"


@dataclass(frozen=True)
class Concluded:
    """What a rule concludes; hypotheses and facts are those of the premises unless it says otherwise."""

    proposition: Proposition
    hypotheses: Iterable[Proposition] | None = None
    facts: frozenset[Fact] = frozenset()


def require(holds: object, why: str, *parts: object) -> None:
    """Raise `Refused` unless it holds; `parts` fill the places in `why`, and are written out only then."""
    if holds is not True:
        raise Refused(why.format(*parts))


def _theorem(given: object) -> Theorem:
    require(type(given) is Theorem, "{!r} is no theorem", given)
    return given  # type: ignore[return-value]


def _expression(given: object) -> Expr:
    if type(given) is int:
        return Integer(given)
    require(isinstance(given, Expr) and _is_ours(given), "{!r} is no expression made of SymPy's and our nodes", given)
    return given


@lru_cache(maxsize=1 << 16)
def _is_ours(expr: Basic) -> bool:
    """Whether all its nodes are SymPy's or ours: what others say of themselves, as their sign, is not believed."""
    kinds = {type(node) for node in preorder_traversal(expr)}
    return all(
        issubclass(kind, AppliedUndef) or kind.__module__.partition(".")[0] in ("sympy", _PACKAGE) for kind in kinds
    )


_PACKAGE = __name__.partition(".")[0]


def _symbol(given: object) -> Symbol:
    require(isinstance(given, Symbol) and _is_ours(given), "{!r} is no symbol", given)
    return given


def as_proposition(given: object) -> Proposition:
    require(isinstance(given, Proposition), "{!r} is no proposition", given)
    require(all(map(_is_ours, given.expressions())), "{} is not made of SymPy's and our nodes", given)  # type: ignore[attr-defined]
    return given  # type: ignore[return-value]


def _factors(given: object) -> tuple[Factor, ...]:
    require(isinstance(given, tuple | list), "{!r} is no product: give a tuple of factors", given)
    return tuple(_theorem(each) if isinstance(each, Theorem) else _expression(each) for each in given)  # type: ignore[attr-defined]


def _several(kind: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def plain(given: object) -> tuple[Any, ...]:
        require(isinstance(given, tuple | list), "{!r} is no sequence", given)
        return tuple(map(kind, given))  # type: ignore[call-overload]

    return plain


def _values(given: object) -> Mapping[Any, Any]:
    require(isinstance(given, Mapping), "{!r} says nothing of what stands for what", given)
    found = {}
    for key, value in given.items():  # type: ignore[attr-defined]
        require(isinstance(key, Symbol | UndefinedFunction | Anything), "{} stands for nothing", key)
        if isinstance(key, Symbol):
            found[key] = _expression(value)
        else:
            require(isinstance(value, Lambda | Term), "{!r} cannot stand for {}", value, key)
            parts = [value] if isinstance(value, Lambda) else value.expressions()
            require(all(map(_is_ours, parts)), "{} is not made of SymPy's and our nodes", value)
            found[key] = value
    return MappingProxyType(found)


def _exactly(kind: type) -> Callable[[object], Any]:
    def plain(given: object) -> Any:
        require(type(given) is kind, "{!r} is no {}", given, kind.__name__)
        return given

    return plain


def _function(given: object) -> Any:
    require(isinstance(given, BoundFunction) and _is_ours(given), "{!r} is no function of the bounds", given)
    return given


def _integral(given: object) -> Any:
    require(isinstance(given, Integrated) and _is_ours(given), "{!r} is no integral", given)
    return given


def _kind_of_integral(given: object) -> Any:
    require(isinstance(given, type) and issubclass(given, Integrated), "{!r} is no integral", given)
    require(given.__module__.partition(".")[0] == _PACKAGE, "{!r} is not ours", given)
    return given


def _data(given: object) -> Any:
    """Tuples of plain words and numbers."""
    if isinstance(given, tuple | list):
        return tuple(map(_data, given))
    require(type(given) in (int, str), "{!r} is no plain data", given)
    return given


def _or_none(kind: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda given: None if given is None else kind(given)


_KINDS: dict[str, Callable[[object], Any]] = {
    "Theorem": _theorem,
    "Sequence[Theorem]": _several(_theorem),
    "Sequence[Factor]": _factors,
    "Expr": _expression,
    "Expr | None": _or_none(_expression),
    "Symbol": _symbol,
    "Proposition": as_proposition,
    "tuple[Proposition, ...]": _several(as_proposition),
    "Mapping[Any, Any]": _values,
    "Mapping[Any, Any] | None": _or_none(_values),
    "int": _exactly(int),
    "Fact": _exactly(Fact),
    "BoundFunction": _function,
    "tuple[Any, ...]": _data,
    "Sequence[Mapping[Symbol, Expr]]": _several(_values),
    "Integrated": _integral,
    "type[Integrated]": _kind_of_integral,
}
"""How an argument of a rule is made plain, or refused, by its annotation."""


_RULES: dict[str, Callable[..., Theorem]] = {}


RULES: Mapping[str, Callable[..., Theorem]] = MappingProxyType(_RULES)
"""Every rule, by name."""


def rule(conclude: Callable[P, Concluded]) -> Callable[P, Theorem]:
    """A rule, from the function that checks its arguments and says what follows.

    Arguments are first made plain, as their annotations say (`_KINDS`): a theorem is a `Theorem` and nothing that looks
    like one, containers are tuples, so that what a rule looks at is what is recorded.
    """
    signature = inspect.signature(conclude)
    word = conclude.__name__
    if conclude.__module__.rpartition(".")[0] != __name__.rpartition(".")[0] or word in RULES:
        raise TypeError(f"{word}: rules are made in hsdp_symbolic.proof.kernel, each once")
    kinds = {name: _KINDS[parameter.annotation] for name, parameter in signature.parameters.items()}
    many = {name for name, each in signature.parameters.items() if each.kind is each.VAR_POSITIONAL}

    @wraps(conclude)
    def apply(*args: P.args, **kwargs: P.kwargs) -> Theorem:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            bound.arguments[name] = tuple(map(kinds[name], value)) if name in many else kinds[name](value)
        try:
            found = conclude(*bound.args, **bound.kwargs)
        except NoTerm as why:
            raise Refused(str(why)) from why
        premises = tuple(_theorems(bound.arguments.values()))
        hypotheses = union(each.hypotheses for each in premises) if found.hypotheses is None else found.hypotheses
        facts = found.facts.union(*(each.facts for each in premises))
        return make(found.proposition, tuple(hypotheses), facts, word, tuple(bound.arguments.items()), premises, "")

    _RULES[word] = apply
    return apply


def make(
    proposition: Proposition,
    hypotheses: tuple[Proposition, ...],
    facts: frozenset[Fact],
    word: str,
    inputs: tuple[tuple[str, Any], ...],
    premises: tuple[Theorem, ...],
    name: str,
) -> Theorem:
    made = object.__new__(Theorem)
    for field, value in (
        ("proposition", proposition),
        ("hypotheses", hypotheses),
        ("facts", facts),
        ("rule", word),
        ("inputs", inputs),
        ("premises", premises),
        ("name", name),
        ("_proof", None),
    ):
        object.__setattr__(made, field, value)
    return made


def _theorems(things: Iterable[object]) -> Iterator[Theorem]:
    for thing in things:
        if isinstance(thing, Theorem):
            yield thing
        elif isinstance(thing, tuple):
            yield from _theorems(thing)


def union(parts: Iterable[Iterable[Proposition]]) -> tuple[Proposition, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def positive_part(theorem: Theorem) -> Expr:
    """x, for a theorem 0 < x or y < z with x = z − y."""
    found = theorem.proposition
    require(isinstance(found, Less), "{} does not say that something is not 0", found)
    return found.right - found.left  # type: ignore[attr-defined]


Factor: TypeAlias = Expr | Theorem
"""A number that is not negative: seen so, or because a theorem says so."""


def left_of(theorem: Theorem) -> Expr:
    return _relation(theorem).left  # type: ignore[attr-defined]


def right_of(theorem: Theorem) -> Expr:
    return _relation(theorem).right  # type: ignore[attr-defined]


def _relation(theorem: Theorem) -> Proposition:
    require(isinstance(theorem.proposition, Equal | AtMost | Less), "{} relates no numbers", theorem.proposition)
    return theorem.proposition


def apart_by(propositions: Iterable[Proposition]) -> list[Expr]:
    """z − y, for each that says y < z."""
    return [each.right - each.left for each in propositions if isinstance(each, Less)]
