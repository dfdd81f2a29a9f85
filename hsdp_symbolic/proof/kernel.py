"""The kernel: what a theorem is, and the only rules that make one.

A `Theorem` says: under its hypotheses, and if its facts are true, its proposition holds, for all values of its symbols
within their ranges. It cannot be made but by a function of this module that carries `@rule`; each checks what it is
given and computes what follows, or raises `Refused`. Hypotheses and facts add up by themselves.

What a reader must believe: this module; `signs.py` and `algebra.py`, which see signs and equality (SymPy's expand,
cancel, factor and derivatives are trusted there); what functions of the bounds say of themselves (closed form, sign,
direction, defining equations: `functions/`); the facts (`facts/`), each with its reference. Everything else in this
package looks for proofs and is believed by nobody: what it finds has to pass here.

A quotient x/0 is taken for some real number of which nothing is known; whatever cancels a divisor asks for a proof that
it is not 0.

A `promise` is a theorem whose proof is written later: it states its conclusion at once, so that a value can be computed
without its proof. `closed` keeps all promises of a theorem, or raises. Only a closed theorem is proved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import pairwise
from typing import Any, NoReturn, ParamSpec

from sympy import (
    Add,
    Basic,
    Derivative,
    Expr,
    Float,
    Integer,
    Integral,
    Lambda,
    Pow,
    S,
    Symbol,
    binomial,
    combsimp,
    factorial,
    floor,
    limit,
    log,
)
from sympy.core.function import UndefinedFunction

from ..errors import HsdpError
from ..evaluate.trend import PRESUMED_POSITIVE, trend
from ..functions.interface import BoundFunction, Trend
from ..functions.log_mean_exp import LogMeanExp
from ..symbols import ABBREVIATIONS, CONTRACTIONS, N, alpha, b, m, m_rest, n, sigma, sigma2
from .algebra import close_sums, is_zero, normal_form
from .propositions import (
    Abbreviation,
    Anything,
    AtMost,
    Either,
    Equal,
    Less,
    Proposition,
    Tends,
    Term,
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
    eigen: tuple[Symbol, ...] = ()
    """Symbols of which the premises must hold whatever their values; they stand for themselves."""
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


RULES: dict[str, Callable[..., Theorem]] = {}
"""Every rule, by name."""


def rule(conclude: Callable[P, Concluded]) -> Callable[P, Theorem]:
    """A rule, from the function that checks its arguments and says what follows."""
    signature = inspect.signature(conclude)
    word = conclude.__name__

    @wraps(conclude)
    def apply(*args: P.args, **kwargs: P.kwargs) -> Theorem:
        found = conclude(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        premises = tuple(_theorems(bound.arguments.values()))
        hypotheses = _union(each.hypotheses for each in premises) if found.hypotheses is None else found.hypotheses
        facts = found.facts.union(*(each.facts for each in premises))
        return _make(found.proposition, tuple(hypotheses), facts, word, tuple(bound.arguments.items()), premises, "")

    RULES[word] = apply
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
        elif isinstance(thing, tuple | list):
            yield from _theorems(thing)
        elif isinstance(thing, Mapping):
            yield from _theorems(thing.values())


def _union(parts: Iterable[Iterable[Proposition]]) -> tuple[Proposition, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _require(holds: object, why: str) -> None:
    if holds is not True:
        raise Refused(why)


# --- Hypotheses and definitions -------------------------------------------------------------------------------------


@rule
def assume(proposition: Proposition) -> Concluded:
    """p ⊢ p."""
    _require(isinstance(proposition, Proposition), f"{proposition} is not a proposition")
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
    """Without the hypotheses that the lemmas prove; what these rest on comes in their place. a < b proves a ≤ b."""
    kept = list(theorem.hypotheses)
    for lemma in lemmas:
        found = lemma.proposition
        proved = [found, AtMost(found.left, found.right)] if isinstance(found, Less) else [found]
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
def cases(first: Theorem, second: Theorem) -> Concluded:
    """p, from proofs under a ≤ b and under b ≤ a (or b < a)."""
    _require(first.proposition == second.proposition, "the two cases prove different things")
    for one in first.hypotheses:
        if isinstance(one, AtMost | Less):
            for other in (AtMost(one.right, one.left), Less(one.right, one.left)):
                if other in second.hypotheses and not (isinstance(one, Less) and isinstance(other, Less)):
                    rest = _union([_without(first, one), _without(second, other)])
                    return Concluded(first.proposition, rest)
    raise Refused("no hypothesis of one is the opposite of a hypothesis of the other")


@rule
def each_case(either: Theorem, *proofs: Theorem) -> Concluded:
    """p, from one of several things and a proof of p under each of them."""
    _require(isinstance(either.proposition, Either), "the first theorem is no choice")
    (conclusion,) = {each.proposition for each in proofs}
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
    return Concluded((Less if found is Sign.POSITIVE else AtMost)(S.Zero, expr))


@rule
def cancel(left: Expr, right: Expr, *nonzero: Theorem, by: Sequence[Theorem] = ()) -> Concluded:
    """left = right, both having the same normal form; no divisor is 0, as is seen or as the theorems say.

    Before, symbols and functions may be replaced `by` what equalities say of them.
    """
    _check_equal(left, right, nonzero, by)
    return Concluded(Equal(left, right))


def _check_equal(left: Expr, right: Expr, nonzero: Sequence[Theorem], by: Sequence[Theorem]) -> None:
    meanings = [(_left(each), _right(each)) for each in by]
    bound = _bound_names(left) | _bound_names(right)
    for each, (short, _) in zip(by, meanings, strict=True):
        is_definition = isinstance(each.proposition, Equal) and isinstance(short, Symbol | BoundFunction)
        _require(is_definition, f"{each.proposition} does not say what a symbol or function is")
        _refuse_restricted(each, bound)

    def spelled(expr: Expr) -> Expr:
        return expr.subs(meanings)

    known = [spelled(_positive_part(each)) for each in nonzero]

    def closes(node: Expr) -> bool:
        """A function is written out only where that divides by nothing that may be 0."""
        return isinstance(node, BoundFunction) and all(is_nonzero(d, known) for d in divisors(node.closed()))

    left, right = spelled(left), spelled(right)
    for divisor in {d for side in (left, right) for d in divisors(side)}:
        _require(is_nonzero(divisor, known), f"{divisor} may be 0: give a theorem that it is not")
    for side in (left, right):
        _require(not side.has(Float), f"{side} is rounded")
    _require(is_zero(left - right, closes), f"not seen to be equal: {left} and {right}")


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
    _check_equal(right - left, total, [*nonzero, *_strict(terms)], by)
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
    _refuse_restricted(equality, {name for part in theorem.proposition.expressions() for name in _bound_names(part)})
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
    for side in (_left(theorem), _right(theorem)):
        _in_range(symbol, side, ranges)
    presumed = _at([{symbol: _left(theorem)}, {symbol: _right(theorem)}], _presumed(expr, symbol))
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
    sums = expr.atoms(Add)
    found: list[Proposition] = [Less(S.One, alpha)] if alpha in letters else []
    found += [AtMost(b, n)] if {b, n} <= letters else []
    found += [Less(each, S.One) for each in CONTRACTIONS if each in letters]
    found += [Less(S.Zero, each) for each in PRESUMED_POSITIVE if any(s.primitive()[1] == each for s in sums)]
    found += [Less(S.Zero, N - half) for half in (m, m_rest) if {N, half} <= letters]
    found += [Equal(N, m + m_rest)] if {m, m_rest} <= letters else []
    differences = [each for each in sums if any(term.could_extract_minus_sign() for term in each.args)]
    found += [AtMost(Integer(2), N)] if any(N in each.free_symbols for each in differences) else []
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
    presumed = [*_presumed(expr, symbol), *(Less(S.Zero, each) for each in meanings)]
    spelled = [each.changed(_speller(meanings)) for each in presumed]
    hypotheses = _union([_at([{}, {symbol: symbol + by}], spelled)])
    if found in (Trend.UP, Trend.FLAT):
        return Concluded(AtMost(here, later), hypotheses)
    _require(found is Trend.DOWN, f"no rule tells how {expr} responds to {symbol}")
    return Concluded(AtMost(later, here), hypotheses)


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
def work_out(expr: Expr) -> Concluded:
    """Derivatives, integrals, factorials and binomials in `expr` are what SymPy says they are."""
    _require(expr.has(Derivative, Integral, factorial, binomial), f"{expr} has nothing in it to work out")
    found = combsimp(expr) if expr.has(factorial, binomial) else expr
    return Concluded(Equal(expr, found.doit()))


@rule
def tends(expr: Expr, symbol: Symbol, point: Expr) -> Concluded:
    """The limit of `expr` as the symbol falls to the point, as SymPy finds it."""
    return Concluded(Tends(expr, symbol, point, limit(close_sums(expr), symbol, point, "+")))


@rule
def rises(expr: Expr, symbol: Symbol, slope: Theorem, by: Symbol) -> Concluded:
    """expr ≤ expr(symbol + by), its derivative being at least 0 over the whole range of the symbol."""
    _require(slope.proposition == AtMost(S.Zero, Derivative(expr, symbol)), "that is not 0 ≤ its derivative")
    _require(by.is_nonnegative and by not in expr.free_symbols, f"{by} is not a fresh symbol ≥ 0")
    _require(not symbol.is_integer, f"{symbol} counts: there is no derivative")
    _require(all(symbol not in each.free_symbols for each in slope.hypotheses), f"{symbol} is restricted")
    return Concluded(AtMost(expr, expr.subs(symbol, symbol + by)))


@rule
def unfold(node: BoundFunction, place: int) -> Concluded:
    """One of the equations that define a function (`definition` of its class)."""
    left, right = node.definition()[place]
    return Concluded(Equal(left, right))


@rule
def floor_at_least(theorem: Theorem) -> Concluded:
    """k ≤ ⌊x⌋, from k ≤ x, for whole k."""
    _require(bool(_left(theorem).is_integer), f"{_left(theorem)} is not whole")
    return Concluded(AtMost(_left(theorem), floor(_right(theorem))))


@rule
def floor_at_most(expr: Expr) -> Concluded:
    """⌊x⌋ ≤ x."""
    return Concluded(AtMost(floor(expr), expr))


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


# --- For all --------------------------------------------------------------------------------------------------------


@rule
def substitute(theorem: Theorem, put: Mapping[Any, Any], *ranges: Theorem) -> Concluded:
    """The same with other values for symbols, terms or unknown functions; values lie in the symbols' ranges.

    That is seen, or the theorems say so. A function is replaced by a `Lambda` whose values need no range.
    """
    for symbol, value in put.items():
        if isinstance(symbol, Symbol):
            _in_range(symbol, value, ranges)
        elif isinstance(symbol, UndefinedFunction):
            _require(isinstance(value, Lambda), f"{symbol} is a function: give a Lambda")
            _require(_has_no_range(symbol), f"values of {symbol} have a range")
        else:
            _require(isinstance(symbol, Anything) and isinstance(value, Term), f"{symbol} stands for nothing")
    for part in (each for where in (theorem.proposition, *theorem.hypotheses) for each in where.expressions()):
        _refuse_capture(part, put)
    change = _replacer(put)
    hypotheses = [each.changed(change) for each in theorem.hypotheses]
    return Concluded(theorem.proposition.changed(change), _union([hypotheses, *(each.hypotheses for each in ranges)]))


def _bound_names(part: Basic) -> set[Symbol]:
    """The names that functions in an expression bind, as an index of a sum."""
    return {node.own_name for node in part.atoms(BoundFunction) if node.own_name is not None}


def _refuse_restricted(equality: Theorem, bound: set[Symbol]) -> None:
    """Refuse an equality that holds for some values only of a name that is bound where it is to be used."""
    restricted = bound.intersection(*[set[Symbol]().union(*(each.free_symbols for each in equality.hypotheses))])
    _require(not restricted, f"{restricted} is restricted, and bound in what is rewritten")


def _refuse_capture(part: Basic, *puts: Mapping[Any, Any]) -> None:
    """Refuse a change of a name that is bound, or a value that holds one."""
    bound = _bound_names(part)
    for put in puts if bound else ():
        numbers = {symbol: value for symbol, value in put.items() if isinstance(symbol, Symbol)}
        touched = numbers.keys() | set[Symbol]().union(*(value.free_symbols for value in numbers.values()))
        _require(not bound & touched, f"{bound & touched} is the index of a sum or mean in {part}")


def _replacer(put: Mapping[Any, Any]) -> Callable[[object], object]:
    numbers = {symbol: value for symbol, value in put.items() if isinstance(symbol, Symbol)}
    functions = {symbol: value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction)}

    def change(part: object) -> object:
        if isinstance(part, Anything):
            return put.get(part, part)
        if isinstance(part, Basic):
            found = part.subs(numbers, simultaneous=True) if numbers else part
            for function, value in functions.items():
                found = found.replace(function, value)
            return found.doit() if functions and found.has(Derivative) else found
        return part

    return change


def _has_no_range(function: UndefinedFunction) -> bool:
    return not any(getattr(function, f"is_{kind}", None) for kind in ("positive", "nonnegative", "integer"))


def _in_range(symbol: Symbol, value: Expr, ranges: Sequence[Theorem]) -> None:
    """Refuse unless every assumption made of the symbol holds of the value."""
    value = Integer(value) if isinstance(value, int) else value
    if symbol.is_integer:
        _require(bool(value.is_integer), f"{symbol} is whole, and {value} need not be")
    if symbol.is_positive:
        _require(_known(value, ranges, strict=True), f"{symbol} > 0: give a theorem that 0 < {value}")
    elif symbol.is_nonnegative:
        _require(_known(value, ranges, strict=False), f"{symbol} >= 0: give a theorem that 0 <= {value}")
    else:
        _require(
            bool(value.is_real or not symbol.is_real or _is_real(value)), f"{symbol} is real, and {value} need not be"
        )


def _is_real(value: Expr) -> bool:
    """Whether it is a real number, x/0 being taken for some real: no root or logarithm of what may be negative."""
    roots = all(power.exp.is_integer or sign(power.base) is not None for power in value.atoms(Pow))
    logs = all(sign(each.args[0]) is Sign.POSITIVE for each in value.atoms(log))
    return roots and logs and all(symbol.is_real for symbol in value.free_symbols)


def _known(value: Expr, ranges: Sequence[Theorem], *, strict: bool) -> bool:
    found = seen(value)
    if found is not None and (found is Sign.POSITIVE or not strict):
        return True
    for each in ranges:
        if isinstance(each.proposition, AtMost | Less):
            more = normal_form(value - (_right(each) - _left(each)))  # what the value has beyond what is not negative
            positive_ = isinstance(each.proposition, Less) or bool(more.is_positive)
            if more.is_number and more.is_nonnegative and (positive_ or not strict):
                return True
    return False


@rule
def induct(index: Symbol, start: int, base: Theorem, step: Theorem, upper: Expr | None = None) -> Concluded:
    """P for every index ≥ start (and ≤ upper), from P at the start and P(index) ⊢ P(index + 1).

    The step may also assume start ≤ index and index + 1 ≤ upper.
    """
    _require(bool(index.is_integer and index.is_nonnegative), f"{index} does not count")
    claim = _claimed(step, index)
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
    rest = [each for each in step.hypotheses if each not in discharged]
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

    Values lie in the ranges of the symbols they stand for, as is seen or as premises or `ranges` say.
    """
    _require(len(premises) == len(fact.premises), f"{fact.name} has {len(fact.premises)} premises")
    binding: dict[Any, Any] = dict(put or {})
    for template, premise in zip(fact.premises, premises, strict=True):
        _match(template, premise.proposition, binding, fact)
    for symbol, value in binding.items():
        if isinstance(symbol, Symbol):
            _in_range(symbol, value, (*premises, *ranges))
    change = _replacer(binding)
    for template, premise in zip(fact.premises, premises, strict=True):
        wanted = template.changed(change)
        _require(premise.proposition == wanted, f"{fact.name} asks for: {wanted}; given: {premise.proposition}")
    assumed = [each.changed(change) for each in fact.under]
    used = _union(each.hypotheses for each in (*premises, *ranges))
    hypotheses = [each for each in used if each not in assumed]
    conclusion = fact.conclusion.changed(change)
    for each in (*hypotheses, conclusion):
        _require(each.free_symbols.isdisjoint(fact.eigen), f"{fact.name}: {each} restricts {fact.eigen}")
    return Concluded(conclusion, hypotheses, facts=frozenset([fact]))


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
    return _make(proposition, tuple(hypotheses), frozenset(), "promise", inputs, (), name)


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
    if theorem._proof is None:  # type: ignore[has-type]
        found: Theorem = dict(theorem.inputs)["prove"]()
        what = theorem.name or "a promise"
        _require(isinstance(found, Theorem), f"{what}: no theorem came out")
        _require(found.proposition == theorem.proposition, f"{what} says {theorem.proposition}; {found} was proved")
        more = [each for each in found.hypotheses if each not in theorem.hypotheses]
        _require(not more, f"{what} also rests on: {'; '.join(map(str, more))}")
        object.__setattr__(theorem, "_proof", found)
    kept: Theorem = theorem._proof  # type: ignore[assignment, has-type]
    return kept


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
    _require(same and again.facts == node.facts, f"{node.name or node.rule} was changed after it was proved")


def replay(node: Theorem, **changes: Any) -> Theorem:
    """What a node's rule makes of its inputs, some of them perhaps changed."""
    inputs = dict(node.inputs) | changes
    if node.rule == "promise":
        proof_of(node)
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
