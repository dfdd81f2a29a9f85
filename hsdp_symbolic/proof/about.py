"""What a theorem is about, read off its proposition and hypotheses: what a statement says of itself comes from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Eq, Expr, Or, Symbol
from sympy.core.relational import Relational

from .. import symbols
from ..display import undisplay
from ..functions.interface import BoundFunction
from ..meaning import OF_A_RUN, Asks, Quantity, Released, Scheme, Sensitivity, Terms
from .facts import all_facts
from .kernel import (
    Refused,
    Theorem,
    assume,
    branch,
    cancel,
    cases,
    chain,
    closed,
    named,
    proof_of,
    rests_on,
    rewrite,
    squeeze,
    swap,
)
from .propositions import (
    Abbreviation,
    AtMost,
    Batches,
    Descent,
    Either,
    Equal,
    Every,
    From,
    Less,
    Lipschitz,
    LossesBetween,
    Mixed,
    Proposition,
    proposition_of,
)
from .search import short

_NUMBERS = (Equal, AtMost, Less, Either)
_OF_A_RUN = (*OF_A_RUN, Quantity.DIVERGENCE_ADDED)
GATE = frozenset([AtMost(symbols.b, symbols.n)])
"""What is checked of every setting, whatever the statement."""


def fits(label: str, theorem: Theorem, printed: Sequence[Relational | Or], side: str | None) -> None:
    """Refuse what is no theorem, or one that assumes other relations between letters than are printed."""
    if type(theorem) is not Theorem:
        raise TypeError(f"{label}: {theorem!r} is no theorem; only rules of proof.kernel make one")
    if side not in (None, "left", "right"):
        raise TypeError(f"{label}: {side!r} is no side of an inequality")
    unfit = [each for each in theorem.hypotheses if not _may_assume(theorem, each)]
    if unfit:
        raise TypeError(f"{label}: a statement cannot assume: {'; '.join(map(str, unfit))}")
    told = set(map(proposition_of, printed))
    needed = {each for each in theorem.hypotheses if isinstance(each, _NUMBERS)}
    if needed - told - GATE or told - needed:
        different = "; ".join(map(str, (needed - told - GATE) | (told - needed)))
        raise TypeError(f"{label}: its hypotheses are not those of its theorem: {different}")
    if isinstance(theorem.proposition, _NUMBERS) != (side is not None):
        raise TypeError(f"{label}: say which side is the value, for an inequality between numbers and only there")


def _may_assume(theorem: Theorem, hypothesis: Proposition) -> bool:
    """Whether a statement may rest on a hypothesis: relations, definitions and, if it bounds a run, what updates do.

    A bound on a run that assumes a bound on a run says nothing. Lemmas may assume bounds on any two laws.
    """
    if isinstance(hypothesis, Abbreviation):
        return bool(symbols.ABBREVIATIONS.get(hypothesis.symbol) == hypothesis.meaning)
    if isinstance(hypothesis, _NUMBERS):
        return True
    if terms_of(theorem) is not None:
        return hypothesis.assumable or hypothesis.asks is not None
    return hypothesis != theorem.proposition


def verified(label: str, theorem: Theorem) -> tuple[Theorem, ...]:
    """The nodes of a statement's proof, all replayed; `Refused` unless its abbreviations lie in their ranges."""
    found = closed(theorem)
    known = set(all_facts().values())
    for fact in rests_on(theorem):
        if fact not in known:
            raise Refused(f"{label} rests on {fact.name}, which is not among the facts (`proof.facts`)")
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


def mixture_in(proposition: Proposition) -> Quantity | None:
    """The divergence of mixtures, if that is what a proposition bounds."""
    return Quantity.DIVERGENCE_MIXTURE if isinstance(proposition.pair_bounded, Mixed) else None


def scheme_in(proposition: Proposition) -> Scheme:
    """How the batches of the run that a proposition is about are made; empty if it is about none, or about any."""
    run = descent_of(proposition)
    return run.batches.scheme if run is not None and isinstance(run.batches, Batches) else Scheme.NONE


def terms_of(theorem: Theorem) -> Terms | None:
    """On what terms a theorem bounds a run; None if it bounds none (an exact law is no bound)."""
    run, found = descent_of(theorem.proposition), theorem.proposition
    if run is None or found.quantity not in _OF_A_RUN or found.relation == "=":
        return None
    released = Released.EVERY if isinstance(theorem.proposition.pair_bounded, Every) else Released.LAST
    bounded = (each.sensitivity for each in theorem.hypotheses if each.sensitivity is not None)
    return Terms(run.neighbours, released, _asks(theorem.hypotheses), next(bounded, Sensitivity.DIFFERING))


def _asks(hypotheses: Sequence[Proposition]) -> Asks:
    for each in hypotheses:
        if isinstance(each, Lipschitz):
            return Asks.LIPSCHITZ if each.constant == symbols.lipschitz else Asks.CONTRACTION
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
    """That a display tree means the value, with costs spelled out; one theorem for each case of `hit`.

    `nonzero` gives theorems that divisors are not 0, and equalities: of functions that are taken as letters otherwise,
    and of powers, by which these are read before the two are compared.
    """
    known = nonzero()
    equal = [each for each in known if isinstance(each.proposition, Equal)]
    letters = [each for each in equal if isinstance(each.proposition.left, Symbol | BoundFunction)]  # type: ignore[attr-defined]
    powers = [each for each in equal if each not in letters]
    other = [each for each in known if each not in equal]
    meant = undisplay(shown, *(first_epoch or ()))
    spelled = [short(cost) for cost in symbols.COSTS if value.has(cost) or meant.has(cost) or cost == symbols.sigma2]
    hits = [{symbols.hit: 0}, {symbols.hit: 1}] if value.has(symbols.hit) else [{}]
    found = (_equal(value.subs(hit), meant.subs(hit), other, [*letters, *spelled], powers) for hit in hits)
    return tuple(named(each, "as printed") for each in found)


def _equal(
    value: Expr, meant: Expr, nonzero: Sequence[Theorem], by: Sequence[Theorem], read_by: Sequence[Theorem]
) -> Theorem:
    """value = meant, parts of `meant` being read by equalities first; case by case, if there is a condition a = b."""
    for condition in sorted(value.atoms(Eq), key=str):
        one, other = condition.args
        same = squeeze(assume(AtMost(one, other)), assume(AtMost(other, one)))
        below, above = assume(Less(one, other)), assume(Less(other, one))
        found = [_in_case(value, meant, case, nonzero, by) for case in (same, above, below)]
        return cases(cases(*found[:2]), found[2])
    read = meant
    for each in read_by:
        read = read.xreplace({each.proposition.left: each.proposition.right})  # type: ignore[attr-defined]
    found_ = cancel(value, read, *nonzero, by=by)
    for each in reversed(read_by):
        found_ = rewrite(found_, swap(each))
    return found_


def _in_case(value: Expr, meant: Expr, case: Theorem, nonzero: Sequence[Theorem], by: Sequence[Theorem]) -> Theorem:
    """value = meant, where `case` decides the condition in both."""
    first, second = branch(value, case, *nonzero), branch(meant, case, *nonzero)
    ends = first.proposition.right, second.proposition.right  # type: ignore[attr-defined]
    strict = [case] if isinstance(case.proposition, Less) else []
    return chain(first, cancel(*ends, *nonzero, *strict, by=by), swap(second))


def printed_beside(label: str, equations: Sequence[tuple[str, Expr]], theorems: Sequence[Theorem]) -> None:
    """Refuse theorems beside a statement whose values are not those of the equations it is printed with."""
    if len(theorems) > len(equations):
        raise Refused(f"{label}: more theorems beside it than equations")
    for (name, shown), theorem in zip(equations[: len(theorems)], theorems, strict=True):
        if undisplay(shown) != theorem.proposition.value:
            raise Refused(f"{label}: it is printed with {name} = {shown}, and proved is {theorem.proposition}")
