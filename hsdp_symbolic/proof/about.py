"""What a theorem is about, read off its proposition and hypotheses: what a statement says of itself comes from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr, Or, Symbol
from sympy.core.relational import Relational

from .. import symbols
from ..display import undisplay
from ..meaning import Asks, Quantity, Released, Terms
from .kernel import Refused, Theorem, cancel, closed, named, proof_of
from .propositions import (
    Abbreviation,
    AtMost,
    Descent,
    Either,
    Equal,
    Every,
    From,
    Less,
    Lipschitz,
    LossesBetween,
    Proposition,
    proposition_of,
)
from .search import short

_NUMBERS = (Equal, AtMost, Less, Either)
_OF_A_RUN = (Quantity.DIVERGENCE, Quantity.DIVERGENCE_ADDED)
GATE = frozenset([AtMost(symbols.b, symbols.n)])
"""What is checked of every setting, whatever the statement."""


def fits(label: str, theorem: Theorem, printed: Sequence[Relational | Or], side: str | None) -> None:
    """Refuse what is no theorem, or one that assumes other relations between letters than are printed."""
    if not isinstance(theorem, Theorem):
        raise TypeError(f"{label}: {theorem!r} is no theorem; only rules of proof.kernel make one")
    told = set(map(proposition_of, printed))
    needed = {each for each in theorem.hypotheses if isinstance(each, _NUMBERS)}
    if needed - told - GATE or told - needed:
        different = "; ".join(map(str, (needed - told - GATE) | (told - needed)))
        raise TypeError(f"{label}: its hypotheses are not those of its theorem: {different}")
    if isinstance(theorem.proposition, _NUMBERS) != (side is not None):
        raise TypeError(f"{label}: say which side is the value, for an inequality between numbers and only there")


def verified(label: str, theorem: Theorem) -> tuple[Theorem, ...]:
    """The nodes of a statement's proof, all replayed; `Refused` unless its abbreviations lie in their ranges."""
    found = closed(theorem)
    proved = proof_of(theorem)
    used = theorem.proposition.free_symbols.union(*(each.free_symbols for each in theorem.hypotheses))
    for symbol in symbols.ABBREVIATIONS:
        if symbol in used and Abbreviation(symbol, symbols.ABBREVIATIONS[symbol]) not in proved.hypotheses:
            raise Refused(f"{label}: nothing says that {symbol} lies in its range")
    return found


def descent_of(proposition: Proposition) -> Descent | None:
    """The run a proposition is about, if it is about one."""
    pair = proposition.pair_bounded
    run = pair.descent if isinstance(pair, From | Every) else None
    return run if isinstance(run, Descent) else None


def terms_of(theorem: Theorem) -> Terms | None:
    """On what terms a theorem bounds a run; None if it bounds none."""
    run = descent_of(theorem.proposition)
    if run is None or theorem.proposition.quantity not in _OF_A_RUN:
        return None
    released = Released.EVERY if isinstance(theorem.proposition.pair_bounded, Every) else Released.LAST
    return Terms(run.neighbours, released, _asks(theorem.hypotheses))


def _asks(hypotheses: Sequence[Proposition]) -> Asks:
    for each in hypotheses:
        if isinstance(each, Lipschitz):
            return Asks.CONTRACTION
        if isinstance(each, LossesBetween):
            return Asks.CONVEX if each.convexity == 0 else Asks.STRONGLY_CONVEX
        if each.asks is not None:
            return each.asks
    return Asks.NOTHING


def unneeded(theorem: Theorem) -> list[Proposition]:
    """Hypotheses that are stated and that the proof does without."""
    used = proof_of(theorem).hypotheses
    return [each for each in theorem.hypotheses if each not in used and not isinstance(each, Abbreviation)]


def printed(
    value: Expr, shown: Expr, first_epoch: tuple[Expr, Symbol] | None, nonzero: Callable[[], Sequence[Theorem]]
) -> tuple[Theorem, ...]:
    """That a display tree means the value, with costs spelled out; one theorem for each case of `hit`."""
    meant = undisplay(shown, *(first_epoch or ()))
    spelled = [short(cost) for cost in symbols.COSTS if value.has(cost) or meant.has(cost) or cost == symbols.sigma2]
    cases = [{symbols.hit: 0}, {symbols.hit: 1}] if value.has(symbols.hit) else [{}]
    return tuple(
        named(cancel(value.subs(case), meant.subs(case), *nonzero(), by=spelled), "as printed") for case in cases
    )
