"""The kernel: what a theorem is, and the only rules that make one.

A `Theorem` says: under its hypotheses, and if its facts are true, its proposition holds, for all values of its symbols
within their ranges. It cannot be made but by a function of this module that carries `@rule`; each checks what it is
given and computes what follows, or raises `Refused`. Hypotheses and facts add up by themselves.

What a reader must believe: this module; `signs.py` and `algebra.py`, which see signs and equality (SymPy's expand,
cancel, factor and derivatives are trusted there); what functions of the bounds say of themselves (closed form, sign,
direction, defining equations: `functions/`); what an integral means (`integrals.py`), and that unknown functions are
smooth; the facts (`facts/`), each with its reference. Everything else in this package looks for proofs and is believed
by nobody: what it finds has to pass here.

SymPy cancels x/x without asking. So no theorem divides by what is 0 where its hypotheses hold: each rule that brings in
an expression asks that its divisors are seen not to be 0, or are divisors in a premise already; a hypothesis that
divides by 0 counts as one that does not hold.

A `promise` is a theorem whose proof is written later: it states its conclusion at once, so that a value can be computed
without its proof. `closed` keeps all promises of a theorem, or raises. Only a closed theorem is proved.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import pairwise, permutations
from types import MappingProxyType
from typing import Any, NoReturn, ParamSpec

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Dummy,
    Eq,
    Expr,
    Float,
    Integer,
    Integral,
    Lambda,
    Max,
    Min,
    Mul,
    Number,
    Piecewise,
    Pow,
    S,
    Subs,
    Symbol,
    Tuple,
    binomial,
    combsimp,
    exp,
    factorial,
    floor,
    limit,
    log,
    preorder_traversal,
)
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef, UndefinedFunction

from ..errors import HsdpError
from ..evaluate.trend import PRESUMED_POSITIVE, trend
from ..functions.interface import BoundFunction, Trend
from ..functions.log_mean_exp import LogMeanExp
from ..symbols import ABBREVIATIONS, CONTRACTIONS, N, alpha, b, m, m_rest, n, sigma, sigma2
from .algebra import close_sums, is_zero, normal_form
from .integrals import Integrated
from .propositions import (
    Abbreviation,
    Anything,
    AtMost,
    Either,
    Equal,
    Less,
    NoTerm,
    Proposition,
    Tends,
    Term,
    is_exact,
)
from .signs import Sign, divisors, is_nonzero, seen, sign

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

    def __new__(cls, *_: object, **__: object) -> NoReturn:
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


def _require(holds: object, why: str) -> None:
    if holds is not True:
        raise Refused(why)


def _theorem(given: object) -> Theorem:
    _require(type(given) is Theorem, f"{given!r} is no theorem")
    return given  # type: ignore[return-value]


def _expression(given: object) -> Expr:
    if type(given) is int:
        return Integer(given)
    _require(isinstance(given, Expr) and _is_ours(given), f"{given!r} is no expression made of SymPy's and our nodes")
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
    _require(isinstance(given, Symbol) and _is_ours(given), f"{given!r} is no symbol")
    return given  # type: ignore[return-value]


def _proposition(given: object) -> Proposition:
    _require(isinstance(given, Proposition), f"{given!r} is no proposition")
    _require(all(map(_is_ours, given.expressions())), f"{given} is not made of SymPy's and our nodes")  # type: ignore[attr-defined]
    return given  # type: ignore[return-value]


def _factors(given: object) -> tuple[Factor, ...]:
    _require(isinstance(given, tuple | list), f"{given!r} is no product: give a tuple of factors")
    return tuple(_theorem(each) if isinstance(each, Theorem) else _expression(each) for each in given)  # type: ignore[attr-defined]


def _several(kind: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def plain(given: object) -> tuple[Any, ...]:
        _require(isinstance(given, tuple | list), f"{given!r} is no sequence")
        return tuple(map(kind, given))  # type: ignore[call-overload]

    return plain


def _values(given: object) -> Mapping[Any, Any]:
    _require(isinstance(given, Mapping), f"{given!r} says nothing of what stands for what")
    found = {}
    for key, value in given.items():  # type: ignore[attr-defined]
        _require(isinstance(key, Symbol | UndefinedFunction | Anything), f"{key} stands for nothing")
        if isinstance(key, Symbol):
            found[key] = _expression(value)
        else:
            _require(isinstance(value, Lambda | Term), f"{value!r} cannot stand for {key}")
            parts = [value] if isinstance(value, Lambda) else value.expressions()
            _require(all(map(_is_ours, parts)), f"{value} is not made of SymPy's and our nodes")
            found[key] = value
    return MappingProxyType(found)


def _exactly(kind: type) -> Callable[[object], Any]:
    def plain(given: object) -> Any:
        _require(type(given) is kind, f"{given!r} is no {kind.__name__}")
        return given

    return plain


def _function(given: object) -> Any:
    _require(isinstance(given, BoundFunction) and _is_ours(given), f"{given!r} is no function of the bounds")
    return given


def _integral(given: object) -> Any:
    _require(isinstance(given, Integrated) and _is_ours(given), f"{given!r} is no integral")
    return given


def _kind_of_integral(given: object) -> Any:
    _require(isinstance(given, type) and issubclass(given, Integrated), f"{given!r} is no integral")
    _require(given.__module__.partition(".")[0] == _PACKAGE, f"{given!r} is not ours")  # type: ignore[attr-defined]
    return given


def _data(given: object) -> Any:
    """Tuples of plain words and numbers."""
    if isinstance(given, tuple | list):
        return tuple(map(_data, given))
    _require(type(given) in (int, str), f"{given!r} is no plain data")
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
    "Proposition": _proposition,
    "tuple[Proposition, ...]": _several(_proposition),
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
    if conclude.__module__ != __name__ or word in RULES:
        raise TypeError(f"{word}: rules are made in {__name__}, each once")
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
        hypotheses = _union(each.hypotheses for each in premises) if found.hypotheses is None else found.hypotheses
        facts = found.facts.union(*(each.facts for each in premises))
        return _make(found.proposition, tuple(hypotheses), facts, word, tuple(bound.arguments.items()), premises, "")

    _RULES[word] = apply
    return apply


def _make(
    proposition: Proposition,
    hypotheses: tuple[Proposition, ...],
    facts: frozenset[Fact],
    word: str,
    inputs: tuple[tuple[str, Any], ...],
    premises: tuple[Theorem, ...],
    name: str,
) -> Theorem:
    made: Theorem = object.__new__(Theorem)
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


def _union(parts: Iterable[Iterable[Proposition]]) -> tuple[Proposition, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


# --- Hypotheses and definitions -------------------------------------------------------------------------------------


@rule
def assume(proposition: Proposition) -> Concluded:
    """p ⊢ p."""
    _require(not isinstance(proposition, Abbreviation), "a definition is made by `abbreviate`, not assumed")
    return Concluded(proposition, (proposition,))


@rule
def under(theorem: Theorem, hypotheses: tuple[Proposition, ...]) -> Concluded:
    """The same under these hypotheses, in this order: all it has, and perhaps more."""
    missing = [each for each in theorem.hypotheses if each not in hypotheses]
    _require(not missing, f"it also rests on: {'; '.join(map(str, missing))}")
    added = [each for each in hypotheses if isinstance(each, Abbreviation) and each not in theorem.hypotheses]
    _require(not added, f"definitions are made by `abbreviate`: {'; '.join(map(str, added))}")
    return Concluded(theorem.proposition, hypotheses)


@rule
def also(theorem: Theorem, *others: Theorem) -> Concluded:
    """The same, under the hypotheses of the others too."""
    return Concluded(theorem.proposition)


@rule
def cut(theorem: Theorem, *lemmas: Theorem) -> Concluded:
    """Without the hypotheses that the lemmas prove; what these rest on comes in their place. a < b proves a ≤ b.

    a = b proves that a is short for b, which says no more; so a definition goes once a value was put for its symbol.
    """
    kept = list(theorem.hypotheses)
    for lemma in lemmas:
        found = lemma.proposition
        proved = [found, AtMost(found.left, found.right)] if isinstance(found, Less) else [found]
        if isinstance(found, Equal):
            proved.append(Abbreviation(found.left, found.right))  # type: ignore[arg-type]
        _require(any(each in theorem.hypotheses for each in proved), f"not among the hypotheses: {found}")
        kept = [each for each in kept if each not in proved]
    return Concluded(theorem.proposition, _union([kept, *(each.hypotheses for each in lemmas)]))


@rule
def abbreviate(symbol: Symbol, *ranges: Theorem) -> Concluded:
    """symbol = what it abbreviates, once that was proved to lie in the symbol's range."""
    _require(symbol in ABBREVIATIONS, f"{symbol} abbreviates nothing")
    meaning = ABBREVIATIONS[symbol]
    _in_range(symbol, meaning, ranges)
    definition = Abbreviation(symbol, meaning)
    return Concluded(Equal(symbol, meaning), _union([(definition,), *(each.hypotheses for each in ranges)]))


@rule
def cases(first: Theorem, second: Theorem, *ranges: Theorem) -> Concluded:
    """p, from proofs under a ≤ b and under b ≤ a (or b < a), for real a and b whose divisors are not 0.

    That is seen, or the theorems say so.
    """
    _require(first.proposition == second.proposition, "the two cases prove different things")
    for one in first.hypotheses:
        if isinstance(one, AtMost | Less):
            for other in (AtMost(one.right, one.left), Less(one.right, one.left)):
                if other in second.hypotheses and not (isinstance(one, Less) and isinstance(other, Less)):
                    _require_defined([one.left, one.right], *ranges)
                    for side in (one.left, one.right):
                        is_real = _is_number(side, **_signs(ranges))
                        _require(is_real, f"{side} need not be real: there may be a third case")
                    used = (each.hypotheses for each in ranges)
                    rest = _union([_without(first, one), _without(second, other), *used])
                    return Concluded(first.proposition, rest)
    raise Refused("no hypothesis of one is the opposite of a hypothesis of the other")


@rule
def each_case(either: Theorem, *proofs: Theorem) -> Concluded:
    """p, from one of several things and a proof of p under each of them."""
    _require(isinstance(either.proposition, Either), "the first theorem is no choice")
    conclusions = {each.proposition for each in proofs}
    _require(len(conclusions) == 1, "the cases prove different things")
    (conclusion,) = conclusions
    hypotheses = [either.hypotheses]
    wanted = either.proposition.cases  # type: ignore[attr-defined]
    _require(len(wanted) == len(proofs), "there must be one proof for each case")
    for case, proof in zip(wanted, proofs, strict=True):
        _require(case in proof.hypotheses, f"no proof under {case}")
        hypotheses.append(_without(proof, case))
    return Concluded(conclusion, _union(hypotheses))


def _without(theorem: Theorem, hypothesis: Proposition) -> tuple[Proposition, ...]:
    return tuple(each for each in theorem.hypotheses if each != hypothesis)


# --- Numbers --------------------------------------------------------------------------------------------------------


@rule
def positive(expr: Expr) -> Concluded:
    """0 < expr, or 0 ≤ expr, where the sign can be seen."""
    found = seen(expr)
    _require(found is not None, f"the sign of {expr} cannot be seen")
    _require_defined([expr])
    return Concluded((Less if found is Sign.POSITIVE else AtMost)(S.Zero, expr))


@rule
def cancel(left: Expr, right: Expr, *nonzero: Theorem, by: Sequence[Theorem] = ()) -> Concluded:
    """left = right, both having the same normal form; no divisor is 0, as is seen or as the theorems say.

    Before, symbols and functions may be replaced `by` what equalities say of them. A function with a name of its own,
    as the index of a mean, that divides by what may be 0 is taken as a letter: only the same function is equal to it.
    """
    _check_equal(left, right, nonzero, by)
    return Concluded(Equal(left, right))


def _check_equal(left: Expr, right: Expr, nonzero: Sequence[Theorem], by: Sequence[Theorem]) -> None:
    meanings = [(_left(each), _right(each)) for each in by]
    sides = [left, right, *(side for pair in meanings for side in pair)]
    bound = set[Symbol]().union(*map(_varied, sides))
    for each, (short, _) in zip(by, meanings, strict=True):
        is_definition = isinstance(each.proposition, Equal) and isinstance(short, Symbol | BoundFunction)
        _require(is_definition, f"{each.proposition} does not say what a symbol or function is")
        _refuse_restricted(each, bound)

    def spelled(expr: Expr) -> Expr:
        return expr.subs(meanings)

    within = set[Symbol]().union(*map(_bound_names, sides))
    known = [
        spelled(_positive_part(each)) for each in nonzero if not _restricts(each, within)
    ]  # y < z is open: near it too

    def closes(node: Expr) -> bool:
        """A function is written out only where that divides by nothing that may be 0, nor takes a logarithm of it."""
        return isinstance(node, BoundFunction) and _is_written_out(node, known)

    left, right = spelled(left), spelled(right)
    letters = {
        node: Dummy(real=True)
        for node in left.atoms(BoundFunction) | right.atoms(BoundFunction)
        if node.own_name is not None and not all(is_nonzero(each, known) for each in divisors(node))
    }
    left, right = left.xreplace(letters), right.xreplace(letters)
    for divisor in {d for side in (left, right) for d in divisors(side)}:
        _require(is_nonzero(divisor, known), f"{divisor} may be 0: give a theorem that it is not")
    for side in (left, right):
        _require(not side.has(Float), f"{side} is rounded")
    _require(is_zero(left - right, closes), f"not seen to be equal: {left} and {right}")


def _require_defined(exprs: Iterable[Expr], *theorems: Theorem, known: Sequence[Expr] = ()) -> None:
    """Refuse expressions with a divisor that is neither seen not to be 0, nor known so, nor a divisor in a theorem."""
    exprs = tuple(exprs)
    found = {divisor for expr in exprs for divisor in _divisors(expr)}
    if not found:
        return
    bound = set[Symbol]().union(*map(_varied, exprs))
    theorems = tuple(each for each in theorems if not _restricts(each, bound))
    parts = (part for each in theorems for part in each.proposition.expressions() if not part.has(Piecewise))
    found -= {divisor for part in parts for divisor in _divisors(part)}
    positive_ = [*known, *(_right(each) - _left(each) for each in theorems if isinstance(each.proposition, Less))]
    for divisor in found:
        _require(is_nonzero(divisor, positive_), f"{divisor} may be 0: give a theorem that it is not")


def _divisors(expr: Basic) -> Iterator[Expr]:
    """`divisors` of what the value depends on, the index of a mean counting from 1 within it."""
    if expr.has(LogMeanExp):
        expr = expr.replace(LogMeanExp, _from_one)
    if any(node.for_views for node in expr.atoms(BoundFunction)):
        expr = expr.replace(lambda node: isinstance(node, BoundFunction) and node.for_views, _without_hints)
    return divisors(expr)


def _without_hints(node: BoundFunction) -> Expr:
    return node.func(*(S.One if place in node.for_views else each for place, each in enumerate(node.args)))


def _from_one(body: Expr, index: Symbol, count: Expr) -> Expr:
    return LogMeanExp(body.xreplace({index: _counting(index)}), _counting(index), count)


@lru_cache(maxsize=64)
def _counting(index: Symbol) -> Symbol:
    return index if index.is_positive else Dummy(index.name, integer=True, positive=True)


def _is_written_out(node: BoundFunction, known: Sequence[Expr]) -> bool:
    """Whether a function may be written out: that divides by nothing that may be 0, nor takes a logarithm of it."""
    written = node.closed()
    return all(is_nonzero(each, known) for each in divisors(written)) and _has_logarithms(written, known)


def _has_logarithms(expr: Expr, known: Sequence[Expr]) -> bool:
    """Whether every logarithm in an expression is that of a positive number, as is seen or known.

    SymPy writes the logarithm of a negative number with i.
    """

    def is_positive(x: Expr) -> bool:
        return seen(x) is Sign.POSITIVE or any(is_zero(x - each) for each in known)

    return not expr.has(S.ImaginaryUnit) and all(is_positive(each.args[0]) for each in expr.atoms(log))


def _positive_part(theorem: Theorem) -> Expr:
    """x, for a theorem 0 < x or y < z with x = z − y."""
    found = theorem.proposition
    _require(isinstance(found, Less), f"{found} does not say that something is not 0")
    return found.right - found.left  # type: ignore[attr-defined]


Factor = Expr | Theorem
"""A number that is not negative: seen so, or because a theorem says so."""


@rule
def combine(
    left: Expr,
    right: Expr,
    *terms: Sequence[Factor],
    nonzero: Sequence[Theorem] = (),
    by: Sequence[Theorem] = (),
) -> Concluded:
    """left ≤ right, because right − left is a sum of products of what is not negative; left < right if one is positive.

    A factor is an expression whose sign is seen, or a theorem y ≤ z, which stands for z − y. `nonzero` and `by` are as
    for `cancel`.
    """
    total, strict = S.Zero, False
    for term in terms:
        product, is_strict = S.One, True
        for factor in term:
            value, positively = _factor(factor)
            product, is_strict = product * value, is_strict and positively
        total, strict = total + product, strict or is_strict
    positive_ = [*nonzero, *_strict(terms)]
    given = [each for term in terms for each in term if isinstance(each, Theorem)]
    seen_ = [each for term in terms for each in term if not isinstance(each, Theorem)]
    _require_defined([left, right, *seen_], *positive_, *given, *by)
    _check_equal(right - left, total, positive_, by)
    return Concluded((Less if strict else AtMost)(left, right))


def _strict(terms: Iterable[Sequence[Factor]]) -> list[Theorem]:
    """Factors that are theorems y < z also say that z − y is not 0."""
    factors = (each for term in terms for each in term if isinstance(each, Theorem))
    return [each for each in factors if isinstance(each.proposition, Less)]


def _factor(factor: Factor) -> tuple[Expr, bool]:
    if isinstance(factor, Theorem):
        found = factor.proposition
        _require(isinstance(found, AtMost | Less), f"{found} is no inequality")
        return found.right - found.left, isinstance(found, Less)  # type: ignore[attr-defined]
    here = seen(factor)
    _require(here is not None, f"the sign of {factor} cannot be seen")
    return factor, here is Sign.POSITIVE


@rule
def chain(*theorems: Theorem) -> Concluded:
    """a ≤ c, from a ≤ b, b ≤ c and so on; equalities and strict inequalities too."""
    for one, other in pairwise(theorems):
        _require(_right(one) == _left(other), f"{_right(one)} is not {_left(other)}")
    kinds = [type(each.proposition) for each in theorems]
    kind = Less if Less in kinds else AtMost if AtMost in kinds else Equal
    return Concluded(kind(_left(theorems[0]), _right(theorems[-1])))


def _left(theorem: Theorem) -> Expr:
    return _relation(theorem).left  # type: ignore[attr-defined, no-any-return]


def _right(theorem: Theorem) -> Expr:
    return _relation(theorem).right  # type: ignore[attr-defined, no-any-return]


def _relation(theorem: Theorem) -> Proposition:
    _require(isinstance(theorem.proposition, Equal | AtMost | Less), f"{theorem.proposition} relates no numbers")
    return theorem.proposition


@rule
def squeeze(low: Theorem, high: Theorem) -> Concluded:
    """a = b, from a ≤ b and b ≤ a."""
    for each in (low, high):
        _require(isinstance(each.proposition, AtMost), f"{each.proposition} is not of the form a ≤ b")
    opposite = _left(low) == _right(high) and _right(low) == _left(high)
    _require(opposite, f"{low.proposition} and {high.proposition} are not opposite")
    return Concluded(Equal(_left(low), _right(low)))


@rule
def branch(expr: Expr, *theorems: Theorem) -> Concluded:
    """The same with distinctions of cases replaced by the first case that holds.

    That is a condition a = b of which a theorem says so; one fails by a theorem a < b or b < a.
    """
    pieces = expr.atoms(Piecewise)
    _require(bool(pieces), f"{expr} distinguishes no cases")
    _require(not expr.has(Derivative, Integral, Lambda), f"{expr} looks at more than one value of its symbols")
    for each in theorems:
        _refuse_restricted(each, _bound_names(expr))
    known = {each.proposition for each in theorems}
    found = expr.xreplace({piece: _case(piece, known) for piece in pieces})
    _require_defined([found], *theorems)
    return Concluded(Equal(expr, found))


def _case(piece: Piecewise, known: set[Proposition]) -> Expr:
    """The first case that holds."""
    for value, condition in piece.args:
        if condition == True:  # noqa: E712 — SymPy booleans
            return value
        _require(isinstance(condition, Eq), f"{condition} is no equality")
        one, other = condition.args
        if known & {Equal(one, other), Equal(other, one)}:
            return value
        _require(bool(known & {Less(one, other), Less(other, one)}), f"nothing says whether {condition}")
    raise Refused(f"no case of {piece} holds")


@rule
def loosen(theorem: Theorem) -> Concluded:
    """a ≤ b, from a < b or a = b."""
    return Concluded(AtMost(_left(theorem), _right(theorem)))


@rule
def swap(theorem: Theorem) -> Concluded:
    """b = a, from a = b."""
    _require(isinstance(theorem.proposition, Equal), "only an equality can be read from right to left")
    return Concluded(Equal(_right(theorem), _left(theorem)))


@rule
def rewrite(theorem: Theorem, equality: Theorem) -> Concluded:
    """The same with b in the place of a, wherever a stands, from a = b."""
    _require(isinstance(equality.proposition, Equal), f"{equality.proposition} is no equality")
    old, new = _left(equality), _right(equality)
    bound = {name for part in theorem.proposition.expressions() for name in _varied(part, old)}
    _refuse_restricted(equality, bound | _falling(theorem.proposition))
    _require(old not in bound | _falling(theorem.proposition), f"{old} is a name there, not a number")
    found = theorem.proposition.changed(lambda part: part.xreplace({old: new}) if isinstance(part, Basic) else part)
    return Concluded(found)


@rule
def monotone(expr: Expr, symbol: Symbol, theorem: Theorem, *ranges: Theorem) -> Concluded:
    """expr(a) ≤ expr(b), from a ≤ b, where expr never falls with the symbol; the other way where it never rises.

    The direction is read off the tree (`evaluate.trend`), each abbreviation taken as a letter of its own; what that
    presumes becomes a hypothesis, at a and at b. σ, ⌊n/b⌋ and its halves, which it rewrites, cannot be the symbol.
    """
    _require(symbol not in _REWRITTEN, f"{symbol} is rewritten by the rules for directions")
    _require(symbol != sigma2 or not expr.has(sigma), f"{sigma} is rewritten by {symbol}")
    found = trend(expr, symbol, frozenset(ABBREVIATIONS))
    _refuse_capture(expr, {symbol: _left(theorem)}, {symbol: _right(theorem)})
    low, high = (expr.subs(symbol, side) for side in (_left(theorem), _right(theorem)))
    above = tuple(_apart(each.proposition for each in ranges))
    numbers = all(_is_number(end, positive_=above) for end in (low, high))
    _require(numbers, f"{expr} need not be real")
    for side in (_left(theorem), _right(theorem)):
        _in_range(symbol, side, (theorem, *ranges))
    presumed = _at([{symbol: _left(theorem)}, {symbol: _right(theorem)}], _presumed(expr, symbol))
    _require_defined([low, high], theorem, *ranges, known=_apart(presumed))
    hypotheses = _union([theorem.hypotheses, *(each.hypotheses for each in ranges), presumed])
    if found in (Trend.UP, Trend.FLAT):
        return Concluded(AtMost(low, high), hypotheses)
    _require(found is Trend.DOWN, f"no rule tells how {expr} responds to {symbol}")
    return Concluded(AtMost(high, low), hypotheses)


_REWRITTEN = (sigma, N, m, m_rest)
"""Letters that `evaluate.trend` replaces before it looks: as a symbol to move, it would not see them."""


def _presumed(expr: Expr, symbol: Symbol) -> list[Proposition]:
    """What `evaluate.trend` takes for granted of the letters in an expression.

    It also writes ⌊n/b⌋ as the sum of two halves ≥ 1; where that could matter, it is presumed too.
    """
    letters = expr.free_symbols | {symbol}
    functions = expr.atoms(BoundFunction)
    others = {type(each).__name__ for each in functions if not each.moves_in_proofs}
    _require(not others, f"{', '.join(sorted(others))}: directions are known under conditions only")
    sums = expr.atoms(Add)
    found: list[Proposition] = [Less(S.One, alpha)] if alpha in letters else []
    found += [AtMost(b, n)] if {b, n} <= letters else []
    found += [Less(each, S.One) for each in CONTRACTIONS if each in letters]
    found += [Less(S.Zero, each) for each in PRESUMED_POSITIVE if any(s.primitive()[1] == each for s in sums)]
    found += [Less(S.Zero, N - half) for half in (m, m_rest) if {N, half} <= letters]
    found += [Equal(N, m + m_rest)] if {m, m_rest} <= letters else []
    differences = [each for each in sums if any(term.could_extract_minus_sign() for term in each.args)]
    found += [AtMost(Integer(2), N)] if any(N in each.free_symbols for each in differences) else []
    found += [AtMost(S.Zero, each) for function in functions for each in function.presumes()]
    found += [Less(S.Zero, each) for function in functions for each in function.presumes_positive()]
    return list(dict.fromkeys(found))


def _at(puts: Iterable[Mapping[Symbol, Expr]], propositions: Sequence[Proposition]) -> list[Proposition]:
    """Propositions at several values of symbols; those between numbers that are seen to hold are left out."""
    found = [each.changed(_replacer(put)) for put in puts for each in propositions]
    return [each for each in found if not _is_seen(each)]


def _is_seen(proposition: Proposition) -> bool:
    if not isinstance(proposition, AtMost | Less):
        return False
    here = seen(proposition.right - proposition.left)
    return here is Sign.POSITIVE or (here is not None and isinstance(proposition, AtMost))


@rule
def moves(expr: Expr, symbol: Symbol, by: Symbol) -> Concluded:
    """expr ≤ expr(symbol + by), where expr never falls with the symbol; the other way where it never rises.

    Abbreviations that depend on the symbol are spelled out, so that they move with it. What `evaluate.trend` presumes,
    and that these abbreviations are positive, becomes a hypothesis at both ends.
    """
    _require(by.is_nonnegative and by not in expr.free_symbols, f"{by} is not a fresh symbol ≥ 0")
    _require(bool(by.is_integer or not symbol.is_integer), f"{symbol} counts, and {by} need not be whole")
    _require(symbol not in _REWRITTEN, f"{symbol} is rewritten by the rules for directions")
    _require(symbol != sigma2 or not expr.has(sigma), f"{sigma} is rewritten by {symbol}")
    found = trend(expr, symbol)
    meanings = _moving(expr, symbol)
    _refuse_capture(expr, {symbol: symbol + by}, meanings)
    here = expr.subs(list(meanings.items()))
    later = here.subs(symbol, symbol + by)
    _require(_is_number(here) and _is_number(later), f"{expr} need not be real")
    presumed = [*_presumed(expr, symbol), *(Less(S.Zero, each) for each in meanings)]
    spelled = [each.changed(_speller(meanings)) for each in presumed]
    hypotheses = _union([_at([{}, {symbol: symbol + by}], spelled)])
    _require_defined([here, later], known=_apart(hypotheses))
    if found in (Trend.UP, Trend.FLAT):
        return Concluded(AtMost(here, later), hypotheses)
    _require(found is Trend.DOWN, f"no rule tells how {expr} responds to {symbol}")
    return Concluded(AtMost(later, here), hypotheses)


def _apart(propositions: Iterable[Proposition]) -> list[Expr]:
    """z − y, for each that says y < z."""
    return [each.right - each.left for each in propositions if isinstance(each, Less)]


def _moving(expr: Expr, symbol: Symbol) -> dict[Symbol, Expr]:
    """Abbreviations in an expression, or in their meanings, that depend on the symbol; later ones first."""
    depends = {symbol}
    for short, meaning in ABBREVIATIONS.items():  # in an order in which each uses only earlier ones
        if short != symbol and not depends.isdisjoint(meaning.free_symbols):
            depends.add(short)
    occur, found = set(expr.free_symbols), dict[Symbol, Expr]()
    for short in reversed(ABBREVIATIONS):
        if short in occur and short in depends - {symbol}:
            found[short] = ABBREVIATIONS[short]
            occur |= ABBREVIATIONS[short].free_symbols
    return found


def _speller(meanings: Mapping[Symbol, Expr]) -> Callable[[object], object]:
    return lambda part: part.subs(list(meanings.items())) if isinstance(part, Basic) else part


@rule
def work_out(expr: Expr, *nonzero: Theorem) -> Concluded:
    """Derivatives, integrals, factorials and binomials in `expr` are what SymPy says they are.

    Factorials and binomials of whole numbers ≥ 0 only; divisors that are not seen not to be 0 need theorems.
    """
    _require(expr.has(Derivative, Integral, factorial, binomial), f"{expr} has nothing in it to work out")
    for node in expr.atoms(factorial, binomial):
        _require(all(each.is_integer for each in node.args), f"{node}: whole numbers only")
        _require(bool(node.args[0].is_nonnegative), f"{node}: {node.args[0]} may be negative")
    found = combsimp(expr) if expr.has(factorial, binomial) else expr
    found = found.doit()
    _require_defined([expr, found], *nonzero)
    return Concluded(Equal(expr, found))


@rule
def tends(expr: Expr, symbol: Symbol, point: Expr) -> Concluded:
    """The limit of `expr` as the symbol falls to the point, as SymPy finds it."""

    def closes(node: Expr) -> bool:
        return isinstance(node, BoundFunction) and (node.has(symbol) or _is_written_out(node, ()))

    return Concluded(Tends(expr, symbol, point, limit(close_sums(expr, closes), symbol, point, "+")))


@rule
def rises(expr: Expr, symbol: Symbol, slope: Theorem, by: Symbol) -> Concluded:
    """expr ≤ expr(symbol + by), its derivative being at least 0 over the whole range of the symbol."""
    _require(slope.proposition == AtMost(S.Zero, Derivative(expr, symbol)), "that is not 0 ≤ its derivative")
    _require(by.is_nonnegative and by not in expr.free_symbols, f"{by} is not a fresh symbol ≥ 0")
    _require(not symbol.is_integer, f"{symbol} counts: there is no derivative")
    _require(all(symbol not in each.free_symbols for each in slope.hypotheses), f"{symbol} is restricted")
    _require(_is_smooth(_constants_named(expr, symbol), ()), f"{expr} is not seen to be smooth in {symbol}")
    _refuse_capture(expr, {symbol: symbol + by})
    later = expr.subs(symbol, symbol + by)
    _require_defined([expr, later], slope)
    return Concluded(AtMost(expr, later))


def _constants_named(expr: Expr, symbol: Symbol) -> Expr:
    """`expr` with letters for functions that do not depend on the symbol: how smooth these are does not matter."""
    constant = {node: Dummy("constant", real=True) for node in expr.atoms(BoundFunction, floor) if not node.has(symbol)}
    return expr.xreplace(constant)


@rule
def unfold(node: BoundFunction, place: int, *nonzero: Theorem) -> Concluded:
    """One of the equations that define a function (`definition` of its class).

    No divisor is 0, its logarithms are of positive numbers, its roots of numbers ≥ 0, as is seen or as theorems say.
    """
    for one, other in permutations(node.args, 2):
        _require(_bound_names(one).isdisjoint(other.free_symbols), f"{node}: a name has two meanings")
    equations = node.definition()
    _require(0 <= place < len(equations), f"{node} has {len(equations)} equations")
    left, right = equations[place]
    _require_defined([left, right], *nonzero)
    known = [_positive_part(each) for each in nonzero]
    _require(_has_logarithms(right, known), f"{right}: give a theorem that 0 < what it is the logarithm of")
    for power in right.atoms(Pow):
        real = power.exp.is_integer or sign(power.base) is not None or power.base.is_nonnegative
        _require(bool(real or any(is_zero(power.base - each) for each in known)), f"{power} may not be real")
    return Concluded(Equal(left, right))


@rule
def floor_at_least(theorem: Theorem) -> Concluded:
    """k ≤ ⌊x⌋, from k ≤ x, for whole k."""
    _require(bool(_left(theorem).is_integer), f"{_left(theorem)} is not whole")
    return Concluded(AtMost(_left(theorem), floor(_right(theorem))))


@rule
def floor_at_most(expr: Expr) -> Concluded:
    """⌊x⌋ ≤ x."""
    _require_defined([expr])
    _require(_is_number(expr), f"{expr} need not be real")
    return Concluded(AtMost(floor(expr), expr))


@rule
def larger(theorem: Theorem) -> Concluded:
    """Max(a, b) = b, from a ≤ b."""
    _require(isinstance(theorem.proposition, AtMost | Less), f"{theorem.proposition} is no inequality")
    return Concluded(Equal(Max(_left(theorem), _right(theorem)), _right(theorem)))


@rule
def next_whole(theorem: Theorem) -> Concluded:
    """a + 1 ≤ b, from a < b, for whole a and b."""
    _require(isinstance(theorem.proposition, Less), "strict inequalities only")
    _require(bool(_left(theorem).is_integer and _right(theorem).is_integer), "whole numbers only")
    return Concluded(AtMost(_left(theorem) + 1, _right(theorem)))


@rule
def compare(left: Expr, right: Expr) -> Concluded:
    """left < right or left ≤ right, between numbers, by exact or interval arithmetic."""
    from ..evaluate.enclosure import enclose
    from ..evaluate.program import compile_expression

    _require(not (left.free_symbols or right.free_symbols), "numbers only")
    _require(
        not (left.has(BoundFunction) or right.has(BoundFunction)), "views of functions rely on what is proved elsewhere"
    )
    if (left < right) == True:  # noqa: E712 — SymPy booleans
        return Concluded(Less(left, right))
    if left == right:
        return Concluded(AtMost(left, right))
    gap = enclose(compile_expression(right - left), {}, rtol="1e-6")
    _require(gap.lo > 0, f"not seen: {left} < {right}")
    return Concluded(Less(left, right))


@rule
def polynomial(expr: Expr, certificate: tuple[Any, ...]) -> Concluded:
    """0 < expr on the positive orthant, by certificates for numerator and denominator, replayed with integers."""
    from .positivity import certifies

    _require(certifies(expr, certificate), f"the certificate does not show that {expr} is positive")
    return Concluded(Less(S.Zero, expr))


@rule
def mean(theorem: Theorem, index: Symbol, count: Expr) -> Concluded:
    """log mean e^a ≤ log mean e^b over index = 1, …, count, from a ≤ b for each of them; equality from equality."""
    _require(bool(count.is_integer and count.is_positive), f"{count} need not be a whole number ≥ 1")
    assumed = (AtMost(S.One, index), AtMost(index, count))
    rest = [each for each in theorem.hypotheses if each not in assumed]
    restricted = [each for each in rest if index in each.free_symbols]
    _require(not restricted, f"{'; '.join(map(str, restricted))} restricts {index}")
    _require(index not in count.free_symbols, f"{count} depends on {index}")
    left, right = (LogMeanExp(side, index, count) for side in (_left(theorem), _right(theorem)))
    return Concluded((Equal if isinstance(theorem.proposition, Equal) else AtMost)(left, right), rest)


@rule
def mean_at_most(theorem: Theorem, index: Symbol, count: Expr) -> Concluded:
    """log mean e^a ≤ b over index = 1, …, count, from a ≤ b for each of them, b not depending on the index."""
    _require(index not in _right(theorem).free_symbols, f"{_right(theorem)} depends on {index}")
    rest = mean(theorem, index, count).hypotheses
    return Concluded(AtMost(LogMeanExp(_left(theorem), index, count), _right(theorem)), rest)


# --- Integrals and limits ---------------------------------------------------------------------------------------------


@rule
def under_integral(head: type[Integrated], equality: Theorem, variable: Symbol) -> Concluded:
    """∫ f = ∫ g, from f = g at every point."""
    _require(issubclass(head, Integrated), f"{head} is no integral")
    _require(isinstance(equality.proposition, Equal), f"{equality.proposition} is no equality")
    unsigned = variable.is_real and not (variable.is_nonnegative or variable.is_nonpositive or variable.is_integer)
    _require(bool(unsigned), f"{variable} is not any real number")
    restricted = [each for each in equality.hypotheses if variable in each.free_symbols]
    _require(not restricted, f"{'; '.join(map(str, restricted))} restricts {variable}")
    return Concluded(Equal(head(_left(equality), variable), head(_right(equality), variable)))


@rule
def linear(integral: Integrated) -> Concluded:
    """∫ (c₁f₁ + … + cₖfₖ) = c₁∫f₁ + … + cₖ∫fₖ, for numbers c that do not depend on the variable."""
    _require(isinstance(integral, Integrated), f"{integral} is no integral")
    variable, total = integral.variable, S.Zero
    for term in Add.make_args(integral.integrand):
        constant, rest = term.as_independent(variable, as_Add=False)
        total += constant * integral.func(rest, variable)
    return Concluded(Equal(integral, total))


@rule
def at_zero(theorem: Theorem, symbol: Symbol) -> Concluded:
    """a ≤ b(0), from a ≤ b(x) for every x > 0, b being rational in x, with divisors that are positive at 0 too."""
    _require(isinstance(theorem.proposition, AtMost | Less), f"{theorem.proposition} is no inequality")
    left, right = _left(theorem), _right(theorem)
    _require(bool(symbol.is_positive and not symbol.is_integer), f"{symbol} is not any number > 0")
    restricted = any(symbol in each.free_symbols for each in theorem.hypotheses)
    _require(not restricted and symbol not in left.free_symbols, f"{symbol} is restricted, or on the left")
    from_zero = right.xreplace({symbol: Dummy(symbol.name, nonnegative=True)})
    _require(bool(right.is_rational_function(symbol)), f"{right} is not rational in {symbol}")
    _require(all(sign(each) is Sign.POSITIVE for each in divisors(from_zero)), f"{right} may divide by 0")
    return Concluded(AtMost(left, right.subs(symbol, 0)))


# --- For all --------------------------------------------------------------------------------------------------------


@rule
def substitute(theorem: Theorem, put: Mapping[Any, Any], *ranges: Theorem) -> Concluded:
    """The same with other values for symbols, terms or unknown functions; values lie in the symbols' ranges.

    That is seen, or the theorems say so. A function is replaced by a `Lambda` whose values are seen to lie in its
    range; its variables are its own, and where it is differentiated it is smooth.
    """
    _check_put(put, ranges)
    for where in (theorem.proposition, *theorem.hypotheses):
        touched = put.keys() | _free(each for each in put.values() if isinstance(each, Basic))
        _require(_falling(where).isdisjoint(touched), f"{where}: the symbol that falls stays as it is")
        for part in where.expressions():
            _refuse_capture(part, put)
    change = _replacer(put)
    hypotheses = [each.changed(change) for each in theorem.hypotheses]
    return Concluded(theorem.proposition.changed(change), _union([hypotheses, *(each.hypotheses for each in ranges)]))


def _check_put(put: Mapping[Any, Any], ranges: Sequence[Theorem], eigen: Iterable[Any] = ()) -> None:
    """Refuse values outside the ranges of what they stand for.

    A function is that of a `Lambda` for all values of its variables, or of a fact's eigenvariables, as the fact says.
    """
    for symbol, value in put.items():
        if isinstance(symbol, Symbol):
            _in_range(symbol, value, ranges)
        elif isinstance(symbol, UndefinedFunction):
            _require(isinstance(value, Lambda), f"{symbol} is a function: give a Lambda")
            usable = _unrestricted(ranges, put, eigen)
            _require_defined([value.expr], *usable)
            _require(_has_range_of(value.expr, symbol, usable), f"values of {symbol} have a range")
        else:
            _require(isinstance(value, Term) and symbol.admits(value), f"{value} cannot stand for {symbol}")


def _unrestricted(ranges: Iterable[Theorem], put: Mapping[Any, Any], eigen: Iterable[Any]) -> list[Theorem]:
    """The theorems that hold for all values of the variables of functions."""
    variables = {name for value in put.values() if isinstance(value, Lambda) for name in value.variables}
    return [each for each in ranges if not _restricts(each, variables.difference(eigen))]


def _falling(proposition: Proposition) -> set[Symbol]:
    """The symbol of a limit: a name, as the index of a sum is."""
    if isinstance(proposition, Either):
        return set[Symbol]().union(*map(_falling, proposition.cases))
    return {proposition.symbol} if isinstance(proposition, Tends) else set()


def _bound_names(part: Basic) -> set[Symbol]:
    """The names that an expression binds, as the index of a sum or the variable of an integral."""
    own = {node.own_name for node in part.atoms(BoundFunction) if node.own_name is not None}
    integrals = {node.variable for node in part.atoms(Integrated)}
    return own.union(integrals, *(node.variables for node in part.atoms(ExprWithLimits, Lambda)))


def _varied(part: Basic, old: Basic | None = None) -> set[Symbol]:
    """The names of which an expression looks at more than one value: those it binds, and those it differentiates by.

    Derivatives that do not hold `old` within are left out.
    """
    derivatives = (node for node in part.atoms(Derivative, Subs) if old is None or node.expr.has(old))
    return _bound_names(part).union(*(node.variables for node in derivatives))


def _restricts(theorem: Theorem, names: set[Symbol]) -> bool:
    """Whether a theorem holds for some values only of these names."""
    return any(not names.isdisjoint(each.free_symbols) for each in theorem.hypotheses)


def _refuse_restricted(equality: Theorem, bound: set[Symbol]) -> None:
    """Refuse an equality that holds for some values only of a name that is bound where it is to be used."""
    _require(not _restricts(equality, bound), f"one of {bound} is restricted, and bound in what is rewritten")


def _refuse_capture(part: Basic, *puts: Mapping[Any, Any], ranges: Sequence[Theorem] = ()) -> None:
    """Refuse a change of a name that is bound, or a value that holds one; for functions, one differentiated by, too.

    A function that is differentiated is smooth: roots and logarithms are of what is positive, as is seen or as `ranges`
    say.
    """
    positive_ = [_right(each) - _left(each) for each in ranges if isinstance(each.proposition, Less)]
    bound, varied = _bound_names(part), _varied(part)
    for put in puts if varied else ():
        numbers = {symbol: value for symbol, value in put.items() if isinstance(symbol, Symbol)}
        touched = numbers.keys() | _free(numbers.values())
        _require(not bound & touched, f"{bound & touched} is the index of a sum or mean in {part}")
        within = _free(value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction))
        _require(not varied & within, f"{varied & within} is not constant in {part}")
        functions = [value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction)]
        smooth = all(_is_smooth(value.expr, positive_) for value in functions)
        _require(smooth or not part.has(Derivative), "what is differentiated must be smooth")


_SMOOTH = (Add, Mul, Pow, exp, log, AppliedUndef, Derivative, Symbol, Number, Tuple)


def _is_smooth(expr: Expr, positive_: Sequence[Expr]) -> bool:
    """Whether an expression is seen to have all derivatives, as unknown functions have."""
    for node in preorder_traversal(expr):
        is_root = isinstance(node, Pow) and not (node.exp.is_integer and node.exp.is_nonnegative)
        if is_root or isinstance(node, log):
            within = node.args[0]
            if sign(within) is not Sign.POSITIVE and not any(is_zero(within - each) for each in positive_):
                return False
        if not isinstance(node, _SMOOTH):
            return False
    return True


def _free(values: Iterable[Basic]) -> set[Symbol]:
    return set[Symbol]().union(*(value.free_symbols for value in values))


def _replacer(put: Mapping[Any, Any]) -> Callable[[object], object]:
    numbers = {symbol: value for symbol, value in put.items() if isinstance(symbol, Symbol)}
    functions = {symbol: value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction)}

    def change(part: object) -> object:
        if isinstance(part, Anything):
            return put.get(part, part)
        if isinstance(part, Basic):
            found = _put_numbers(part, numbers) if numbers else part
            for function, value in functions.items():
                found = found.replace(function, value)
            return found.doit() if functions and found.has(Derivative) else found
        return part

    return change


def _put_numbers(part: Basic, numbers: Mapping[Symbol, Expr]) -> Basic:
    """Values for symbols, all at once.

    SymPy's own way of doing that takes a value for a variable of a derivative it stands under: there, symbols are
    renamed first and then replaced one by one, which it does rightly.
    """
    if not part.has(Derivative, Subs):
        return part.subs(numbers, simultaneous=True)
    fresh = {symbol: Dummy(symbol.name, **symbol.assumptions0) for symbol in numbers}
    found = part.xreplace(fresh)
    for symbol, value in numbers.items():
        found = found.subs(fresh[symbol], value)
    return found


def _has_range_of(value: Expr, function: UndefinedFunction, ranges: Sequence[Theorem]) -> bool:
    """Whether a value is seen to lie where those of the function do; theorems y < z say that z − y is positive."""
    applied = function(Dummy())
    kinds = {kind for kind in _RANGES if getattr(applied, f"is_{kind}", None)}
    if not kinds:
        return _is_number(value, positive_=tuple(_apart(each.proposition for each in ranges)))
    found = seen(value)
    if kinds == {"nonnegative"}:
        return found is not None
    return kinds == {"positive", "nonnegative", "nonzero"} and found is Sign.POSITIVE


_RANGES = (
    *("positive", "nonnegative", "negative", "nonpositive", "nonzero", "zero", "integer", "noninteger", "rational"),
    *("irrational", "algebraic", "transcendental", "even", "odd", "prime", "composite", "imaginary", "infinite"),
)
"""What may be assumed of the values of a function, besides that they are real."""


@lru_cache(maxsize=1024)
def _has_plain_range(symbol: Symbol) -> bool:
    """Whether all that is assumed of a symbol is among: real, whole, ≥ 0, > 0. Other ranges are not checked."""
    kinds = {kind: True for kind in ("real", "integer", "positive", "nonnegative") if symbol.assumptions0.get(kind)}
    return bool(symbol.assumptions0 == Symbol("x", **kinds).assumptions0)


def _in_range(symbol: Symbol, value: Expr, ranges: Sequence[Theorem]) -> None:
    """Refuse unless every assumption made of the symbol holds of the value, which divides by nothing that may be 0."""
    _require(_has_plain_range(symbol), f"{symbol} has a range that is not checked: {symbol.assumptions0}")
    _require_defined([value], *ranges)
    _require(is_exact(value), f"{value} is rounded, infinite or imaginary")
    if symbol.is_integer:
        _require(bool(value.is_integer), f"{symbol} is whole, and {value} need not be")
    if symbol.is_positive:
        _require(_known(value, ranges, strict=True), f"{symbol} > 0: give a theorem that 0 < {value}")
    elif symbol.is_nonnegative:
        _require(_known(value, ranges, strict=False), f"{symbol} >= 0: give a theorem that 0 <= {value}")
    elif symbol.is_real:
        is_bound = any(each.proposition.value_at and each.proposition.value == value for each in ranges)
        known = is_bound or _is_number(value, positive_=tuple(_apart(each.proposition for each in ranges)))
        _require(known or _known(value, ranges, strict=False), f"{symbol} is real, and {value} need not be")


@lru_cache(maxsize=4096)
def _is_number(value: Expr, *, positive_: tuple[Expr, ...] = (), least: tuple[Expr, ...] = ()) -> bool:
    """Whether it is a real number wherever no divisor is 0: no root or logarithm of what may be negative.

    A function of the bounds is taken for some number where its closed form takes the logarithm of what is negative; it
    is not written out there (`_has_logarithms`).
    """

    def all_numbers(parts: Iterable[Expr]) -> bool:
        return all(_is_number(each, positive_=positive_, least=least) for each in parts)

    if value.is_real:
        return True
    match value:
        case BoundFunction():
            return all_numbers(each for place, each in enumerate(value.args) if place not in value.for_views)
        case Pow() if not value.exp.is_integer:
            above = sign(value.base) is not None or any(is_zero(value.base - each) for each in (*positive_, *least))
            return above and all_numbers(value.args)
        case log():
            within = value.args[0]
            return sign(within) is Sign.POSITIVE or any(is_zero(within - each) for each in positive_)
        case Derivative() | Integrated():
            return all_numbers(value.args[:1])
        case Piecewise():
            return all_numbers(each for each, _ in value.args)
        case (
            Add() | Mul() | Pow() | exp() | floor() | Max() | Min() | Abs() | AppliedUndef() | factorial() | binomial()
        ):
            return all_numbers(value.args)
    return False


def _signs(theorems: Iterable[Theorem]) -> dict[str, tuple[Expr, ...]]:
    """What theorems say is positive, or at least 0, for `_is_number`."""
    found = [each.proposition for each in theorems]
    least = [each.right - each.left for each in found if isinstance(each, AtMost)]
    return {"positive_": tuple(_apart(found)), "least": tuple(least)}


def _known(value: Expr, ranges: Sequence[Theorem], *, strict: bool) -> bool:
    found = seen(value)
    if found is not None and (found is Sign.POSITIVE or not strict):
        return True
    positive_ = tuple(_right(each) - _left(each) for each in ranges if isinstance(each.proposition, Less))

    def closes(node: Expr) -> bool:
        return isinstance(node, BoundFunction) and _is_written_out(node, positive_)

    for each in ranges:
        if isinstance(each.proposition, AtMost | Less):
            more = normal_form(value - (_right(each) - _left(each)), closes)  # what it has beyond what is not negative
            positively = isinstance(each.proposition, Less) or bool(more.is_positive)
            if more.is_number and more.is_nonnegative and (positively or not strict):
                return True
    return False


@rule
def induct(
    index: Symbol,
    start: int,
    base: Theorem,
    step: Theorem,
    upper: Expr | None = None,
    others: Sequence[Mapping[Symbol, Expr]] = (),
) -> Concluded:
    """P for every index ≥ start (and ≤ upper), from P at the start and P(index) ⊢ P(index + 1).

    The step may also assume start ≤ index and index + 1 ≤ upper; and P(index) for other values of symbols on which
    nothing else depends, since base and step then hold for all their values: `others` say which.
    """
    _require(bool(index.is_integer and index.is_nonnegative), f"{index} does not count")
    _require(_has_plain_range(index) and start >= (1 if index.is_positive else 0), f"{index} starts later than {start}")
    claim = _claimed(step, index)
    for part in claim.expressions():
        _refuse_capture(part, {index: index + 1}, *others)
    at_start = claim.changed(lambda part: part.subs(index, start) if isinstance(part, Basic) else part)
    _require(base.proposition == at_start, f"the base is {base.proposition}, not {at_start}")
    discharged: list[Proposition] = [claim]
    kept: list[Proposition] = []
    lowest = AtMost(Integer(start), index)
    discharged.append(lowest)
    if start > 0:
        kept.append(lowest)
    if upper is not None:
        _require(index not in upper.free_symbols, f"{upper} depends on {index}")
        discharged.append(AtMost(index + 1, upper))
        kept.append(AtMost(index, upper))
    for put in others:
        for symbol, value in put.items():
            _require(symbol != index and index not in value.free_symbols, f"{value}: not another case of the claim")
            _in_range(symbol, value, ())
        discharged.append(claim.changed(_replacer(put)))
    rest = [each for each in step.hypotheses if each not in discharged]
    for each in (*rest, *base.hypotheses, *kept[start > 0 :]):
        fixed = {symbol for put in others for symbol in put} & each.free_symbols
        _require(not fixed, f"{each} restricts {fixed}")
    for each in (*rest, *base.hypotheses):
        _require(index not in each.free_symbols, f"{each} restricts {index}")
    return Concluded(claim, _union([kept, base.hypotheses, rest]))


def _claimed(step: Theorem, index: Symbol) -> Proposition:
    """The hypothesis of an induction step whose successor is its conclusion."""
    for each in step.hypotheses:
        later = each.changed(lambda part: part.subs(index, index + 1) if isinstance(part, Basic) else part)
        if later == step.proposition and index in each.free_symbols:
            return each
    raise Refused(f"no hypothesis of the step becomes its conclusion, {step.proposition}, for {index} + 1")


# --- Bounds and facts -----------------------------------------------------------------------------------------------


@rule
def weaken(theorem: Theorem, comparison: Theorem) -> Concluded:
    """A larger upper bound (or a smaller lower bound) than the one a theorem gives."""
    found = theorem.proposition
    _require(found.value_at is not None, f"{found} bounds nothing")
    exact = isinstance(comparison.proposition, Equal)
    ends = (_left(comparison), _right(comparison))
    old, new = ends if exact or found.relation == "<=" else ends[::-1]
    _require(found.relation != "=" or exact, "an exact value cannot be weakened")
    _require(found.value == old, f"the bound is {found.value}, not {old}")
    return Concluded(replace(found, **{found.value_at: new}))  # type: ignore[arg-type]


@rule
def apply(
    fact: Fact, *premises: Theorem, put: Mapping[Any, Any] | None = None, ranges: Sequence[Theorem] = ()
) -> Concluded:
    """What a fact concludes from its premises; `put` says what stands for what the premises leave open.

    Values lie in the ranges of the symbols they stand for, as is seen or as premises or `ranges` say. What a fact lets
    its premises assume (`under`) may be assumed where `eigen` is spoken of.
    """
    _require(len(premises) == len(fact.premises), f"{fact.name} has {len(fact.premises)} premises")
    binding: dict[Any, Any] = dict(put or {})
    _require(binding.keys().isdisjoint(fact.eigen), f"{fact.name} must hold for all {fact.eigen}: put nothing there")
    for template, premise in zip(fact.premises, premises, strict=True):
        _match(template, premise.proposition, binding, fact)
    _check_put(binding, (*premises, *ranges), fact.eigen)
    usable = _unrestricted((*premises, *ranges), binding, fact.eigen)
    for part in (each for where in (*fact.premises, *fact.under, fact.conclusion) for each in where.expressions()):
        _refuse_capture(part, binding, ranges=usable)
    change = _replacer(binding)
    for template, premise in zip(fact.premises, premises, strict=True):
        wanted = template.changed(change)
        _require(premise.proposition == wanted, f"{fact.name} asks for: {wanted}; given: {premise.proposition}")
    assumed = [each.changed(change) for each in fact.under]
    used = [tuple(each for each in one.hypotheses if not (fact.eigen and each in assumed)) for one in ranges]
    for template, premise in zip(fact.premises, premises, strict=True):
        general = not fact.eigen or not _mentioned(template).isdisjoint(fact.eigen)
        used.append(tuple(each for each in premise.hypotheses if not (general and each in assumed)))
    hypotheses = _union(used)
    conclusion = fact.conclusion.changed(change)
    for each in (*hypotheses, conclusion):
        _require(_mentioned(each).isdisjoint(fact.eigen), f"{fact.name}: {each} restricts {fact.eigen}")
    return Concluded(conclusion, hypotheses, facts=frozenset([fact]))


def _mentioned(proposition: Proposition) -> set[Any]:
    """The symbols and unknown functions in a proposition."""
    unknown = {node.func for part in proposition.expressions() for node in part.atoms(AppliedUndef)}
    return proposition.free_symbols | unknown


def _match(template: object, given: object, binding: dict[Any, Any], fact: Fact) -> None:
    """Bind what stands alone in a field of the template to what stands there in what is given."""
    if isinstance(template, Anything | Symbol):
        if template not in fact.eigen:
            binding.setdefault(template, given)
    elif isinstance(template, Term):
        _require(type(template) is type(given), f"{fact.name} asks for: {template}; given: {given}")
        for mine, theirs in zip(template.parts(), given.parts(), strict=True):  # type: ignore[attr-defined]
            _match(mine, theirs, binding, fact)


# --- Promises and replay --------------------------------------------------------------------------------------------


def promise(
    proposition: Proposition,
    hypotheses: Iterable[Proposition],
    prove: Callable[[], Theorem],
    name: str = "",
) -> Theorem:
    """A theorem whose proof, `prove()`, is written when it is asked for; until then it is not closed."""
    inputs = (("prove", prove),)
    hypotheses = tuple(map(_proposition, hypotheses))
    return _make(_proposition(proposition), hypotheses, frozenset(), "promise", inputs, (), name)


def named(theorem: Theorem, name: str) -> Theorem:
    """The same theorem under a name."""
    if theorem.rule == "promise":
        raise Refused("name a promise when it is made")
    parts = (theorem.facts, theorem.rule, theorem.inputs, theorem.premises)
    return _make(theorem.proposition, theorem.hypotheses, *parts, name)


def proof_of(theorem: Theorem) -> Theorem:
    """The proof behind a promise, which must conclude what was promised, from no more than was said; or itself."""
    if theorem.rule != "promise":
        return theorem
    found: Theorem | None = theorem._proof  # type: ignore[has-type]
    if found is None:
        found = dict(theorem.inputs)["prove"]()
        _check_kept(theorem, found)
        object.__setattr__(theorem, "_proof", found)
    return found  # type: ignore[return-value]


def _check_kept(theorem: Theorem, found: object) -> None:
    """Refuse what does not keep a promise."""
    what = theorem.name or "a promise"
    _require(type(found) is Theorem, f"{what}: no theorem came out")
    assert isinstance(found, Theorem)  # what the line before decides, for the type checker
    _require(found.proposition == theorem.proposition, f"{what} says {theorem.proposition}; {found} was proved")
    more = [each for each in found.hypotheses if each not in theorem.hypotheses]
    _require(not more, f"{what} also rests on: {'; '.join(map(str, more))}")


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
            _require(id(node) not in entered, f"{node.name or node} is used to prove itself")
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


def check_again(node: Theorem) -> None:
    """Refuse a node that is not what its rule makes of its inputs."""
    again = replay(node)
    same = again.proposition == node.proposition and again.hypotheses == node.hypotheses
    same = same and again.facts == node.facts and len(again.premises) == len(node.premises)
    same = same and all(map(operator.is_, again.premises, node.premises))
    _require(same, f"{node.name or node.rule} was changed after it was proved")


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
