"""Rules for directions: what rises or falls with a letter, read off the tree of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sympy import Add, Basic, Expr, Integer, S, Symbol

from ...evaluate.trend import PRESUMED_POSITIVE, trend
from ...functions.interface import BoundFunction, Trend
from ...symbols import ABBREVIATIONS, CONTRACTIONS, N, alpha, b, m, m_rest, n, sigma, sigma2
from ..propositions import AtMost, Equal, Less, Proposition
from ..signs import Sign, is_nonzero, seen
from .defined import divisors_of, is_number, require_defined
from .theorem import Concluded, Theorem, apart_by, left_of, require, right_of, rule, union
from .values import in_range, refuse_capture, replacer


@rule
def monotone(expr: Expr, symbol: Symbol, theorem: Theorem, *ranges: Theorem) -> Concluded:
    """expr(a) ≤ expr(b), from a ≤ b, where expr never falls with the symbol; the other way where it never rises.

    The direction is read off the tree (`evaluate.trend`), each abbreviation taken as a letter of its own; what that
    presumes becomes a hypothesis, at a and at b. σ, ⌊n/b⌋ and its halves, which it rewrites, cannot be the symbol.
    """
    require(symbol not in _REWRITTEN, "{} is rewritten by the rules for directions", symbol)
    require(symbol != sigma2 or not expr.has(sigma), "{} is rewritten by {}", sigma, symbol)
    found = trend(expr, symbol, frozenset(ABBREVIATIONS))
    refuse_capture(expr, {symbol: left_of(theorem)}, {symbol: right_of(theorem)})
    low, high = (expr.subs(symbol, side) for side in (left_of(theorem), right_of(theorem)))
    above = tuple(apart_by(each.proposition for each in ranges))
    numbers = all(is_number(end, positive_=above) for end in (low, high))
    require(numbers, "{} need not be real", expr)
    for side in (left_of(theorem), right_of(theorem)):
        in_range(symbol, side, (theorem, *ranges))
    presumed = _at([{symbol: left_of(theorem)}, {symbol: right_of(theorem)}], _presumed(expr, symbol))
    require_defined([low, high], theorem, *ranges, known=apart_by(presumed))
    hypotheses = union([theorem.hypotheses, *(each.hypotheses for each in ranges), presumed])
    if found in (Trend.UP, Trend.FLAT):
        return Concluded(AtMost(low, high), hypotheses)
    require(found is Trend.DOWN, "no rule tells how {} responds to {}", expr, symbol)
    return Concluded(AtMost(high, low), hypotheses)


_REWRITTEN = (sigma, N, m, m_rest)
"""Letters that `evaluate.trend` replaces before it looks: as a symbol to move, it would not see them."""


def _presumed(expr: Expr, symbol: Symbol) -> list[Proposition]:
    """What `evaluate.trend` takes for granted of the letters in an expression.

    It also writes ⌊n/b⌋ as the sum of two halves ≥ 1; where that could matter, it is presumed too.
    """
    letters = expr.free_symbols | {symbol}
    functions = sorted(expr.atoms(BoundFunction), key=str)
    others = {type(each).__name__ for each in functions if not each.moves_in_proofs}
    require(not others, "{}: directions are known under conditions only", ", ".join(sorted(others)))
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
    found = [each.changed(replacer(put)) for put in puts for each in propositions]
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
    and that these abbreviations and what is divided by are positive, becomes a hypothesis at both ends.
    """
    require(by.is_nonnegative and by not in expr.free_symbols, "{} is not a fresh symbol ≥ 0", by)
    require(bool(by.is_integer or not symbol.is_integer), "{} counts, and {} need not be whole", symbol, by)
    require(symbol not in _REWRITTEN, "{} is rewritten by the rules for directions", symbol)
    require(symbol != sigma2 or not expr.has(sigma), "{} is rewritten by {}", sigma, symbol)
    found = trend(expr, symbol)
    meanings = _moving(expr, symbol)
    refuse_capture(expr, {symbol: symbol + by}, meanings)
    here = expr.subs(list(meanings.items()))
    later = here.subs(symbol, symbol + by)
    require(is_number(here) and is_number(later), "{} need not be real", expr)
    presumed = [*_presumed(expr, symbol), *(Less(S.Zero, each) for each in meanings)]
    spelled = [each.changed(_speller(meanings)) for each in presumed]
    ends = _at([{}, {symbol: symbol + by}], spelled)
    found_in = sorted({each for side in (here, later) for each in divisors_of(side)}, key=str)
    unknown = [each for each in found_in if not is_nonzero(each, apart_by(ends))]
    hypotheses = union([ends, (Less(S.Zero, each) for each in unknown)])
    require_defined([here, later], known=apart_by(hypotheses))
    if found in (Trend.UP, Trend.FLAT):
        return Concluded(AtMost(here, later), hypotheses)
    require(found is Trend.DOWN, "no rule tells how {} responds to {}", expr, symbol)
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
