"""Ways to a theorem: each calls rules of the kernel, and what it returns was checked there. Trusted by nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sympy import Expr, S, Symbol
from sympy.core.relational import Relational

from ..functions.geometric import GeometricSum
from ..symbols import ABBREVIATIONS, N, b, n, whole
from . import kernel
from .kernel import Theorem
from .propositions import Abbreviation, Anything, AtMost, Proposition, proposition_of


def given(relation: Relational) -> Theorem:
    """A hypothesis, as a theorem that rests on it."""
    return kernel.assume(proposition_of(relation))


def reads(*relations: Relational) -> tuple[Proposition, ...]:
    """Hypotheses as propositions."""
    return tuple(map(proposition_of, relations))


def later(
    proposition: Proposition, hypotheses: Iterable[Proposition], prove: Callable[[], Theorem], name: str = ""
) -> Theorem:
    """A promise: the theorem is proved when somebody looks at its proof."""
    return kernel.promise(proposition, hypotheses, prove, name)


def claimed(
    proposition: Proposition,
    relations: Iterable[Relational],
    assumed: Iterable[Proposition],
    prove: Callable[[], Theorem],
    name: str = "",
) -> Theorem:
    """What a statement claims: a promise, under relations between letters and what is assumed of the run.

    Abbreviations that occur must be in their ranges: the proof is completed by theorems that say so.
    """
    relations = tuple(reads(*relations))
    symbols = _abbreviations((proposition, *relations))
    definitions = tuple(Abbreviation(symbol, ABBREVIATIONS[symbol]) for symbol in symbols)
    gate = (AtMost(b, n),) if N in symbols and AtMost(b, n) not in relations else ()

    def full() -> Theorem:
        found = prove()
        missing = [short(each.symbol) for each in definitions if each not in found.hypotheses]
        return kernel.also(found, *missing) if missing else found

    return kernel.promise(proposition, (*relations, *assumed, *definitions, *gate), full, name)


def _abbreviations(where: Iterable[Proposition]) -> list[Symbol]:
    """Abbreviations that occur, or occur in what these stand for."""
    used = set[Symbol]().union(*(each.free_symbols for each in where))
    while more := set[Symbol]().union(*(ABBREVIATIONS[s].free_symbols for s in used if s in ABBREVIATIONS)) - used:
        used |= more
    return [symbol for symbol in ABBREVIATIONS if symbol in used]


def use(
    lemma: Theorem, *premises: Theorem, put: Mapping[Any, Any] | None = None, ranges: Sequence[Theorem] = ()
) -> Theorem:
    """What a lemma says once its hypotheses, with `put` in place, are proved by the premises.

    Symbols and `Anything` that stand alone in a hypothesis are read off the premise that fits it.
    """
    binding: dict[Any, Any] = dict(put or {})
    for premise in premises:
        for hypothesis in lemma.hypotheses:
            found = dict(binding)
            if _fits(hypothesis, premise.proposition, found):
                binding = found
                break
    binding = {key: value for key, value in binding.items() if key != value}
    instance = kernel.substitute(lemma, binding, *ranges) if binding else lemma
    wanted = [each for each in premises if each.proposition in instance.hypotheses]
    return kernel.cut(instance, *wanted) if wanted else instance


def _fits(template: object, given_: object, binding: dict[Any, Any]) -> bool:
    if isinstance(template, Anything | Symbol):
        return bool(binding.setdefault(template, given_) == given_)
    if isinstance(template, Proposition) or hasattr(template, "parts"):
        if type(template) is not type(given_):
            return False
        pairs = zip(template.parts(), given_.parts(), strict=True)  # type: ignore[attr-defined]
        return all(_fits(mine, theirs, binding) for mine, theirs in pairs)
    if isinstance(template, Expr):
        plain = {key: value for key, value in binding.items() if isinstance(key, Symbol)}
        return bool(template.subs(plain, simultaneous=True) == given_) or not template.free_symbols <= set(plain)
    return bool(template == given_)


def equal_bound(theorem: Theorem, value: Expr, *nonzero: Theorem, by: Sequence[Theorem] = ()) -> Theorem:
    """The same bound, written as `value`."""
    old = theorem.proposition.value
    return theorem if old == value else kernel.weaken(theorem, kernel.cancel(old, value, *nonzero, by=by))


def at_most(
    theorem: Theorem,
    value: Expr,
    *terms: Sequence[kernel.Factor],
    nonzero: Sequence[Theorem] = (),
    by: Sequence[Theorem] = (),
) -> Theorem:
    """The larger bound `value`; the difference is the sum of the terms, each a product of what is not negative."""
    old = theorem.proposition.value
    return kernel.weaken(theorem, kernel.combine(old, value, *terms, nonzero=nonzero, by=by))


def positive(expr: Expr, *terms: Sequence[kernel.Factor], nonzero: Sequence[Theorem] = ()) -> Theorem:
    """0 < expr or 0 ≤ expr: seen, or a sum of products of what is not negative."""
    return kernel.combine(S.Zero, expr, *terms, nonzero=nonzero) if terms else kernel.positive(expr)


def power_below_one(base: Expr, exponent: Expr, below: Theorem, *ranges: Theorem) -> Theorem:
    """0 < 1 − base^exponent, for a whole exponent ≥ 1 and 0 < base < 1 (`below`: base < 1).

    1 − x^e is (1 − x) times a sum of e powers; `ranges` show that e is positive where that is not seen.
    """
    generic = kernel.combine(S.Zero, 1 - base**whole, (below, GeometricSum(base, whole)))
    return kernel.substitute(generic, {whole: exponent}, *ranges)


def positive_from_one(expr: Expr, index: Symbol, at_least_one: Theorem) -> Theorem:
    """0 < expr, as is seen for a whole `index` ≥ 1; `at_least_one` says 1 ≤ index."""
    return kernel.substitute(kernel.positive(expr.subs(index, whole)), {whole: index}, at_least_one)


def on(expr: Expr, domain: Mapping[Symbol, tuple[Expr, Symbol, Expr, Theorem]]) -> Theorem:
    """The sign of `expr` where some symbols are written by others, seen in the new ones and read back.

    For q = 1/(1 + p): q → (1/(1 + p), p, 1/q − 1, the theorem 0 < 1/q − 1).
    """
    there = expr.subs({symbol: value for symbol, (value, *_) in domain.items()}, simultaneous=True)
    found = kernel.positive(there)
    back = {new: old for _, new, old, _ in domain.values()}
    ranges = [theorem for *_, theorem in domain.values()]
    read = kernel.substitute(found, back, *ranges)
    return kernel.chain(
        read,
        kernel.cancel(read.proposition.right, expr, *ranges),  # type: ignore[attr-defined]
    )


@cache
def batches_exist() -> Theorem:
    """1 ≤ ⌊n/b⌋, as b ≤ n."""
    one = kernel.combine(S.One, n / b, (1 / b, given(b <= n)))
    return kernel.floor_at_least(one)


@cache
def short(symbol: Symbol) -> Theorem:
    """symbol = what it is short for, with the hypotheses that put it into its range."""
    if symbol == N:
        return kernel.abbreviate(N, batches_exist())
    return kernel.abbreviate(symbol, *_ranges(symbol))


_RANGES: dict[Symbol, Callable[[], Sequence[Theorem]]] = {}


def ranged(symbol: Symbol) -> Callable[[Callable[[], Sequence[Theorem]]], Callable[[], Sequence[Theorem]]]:
    """Says how the range of an abbreviation is proved."""

    def register(prove: Callable[[], Sequence[Theorem]]) -> Callable[[], Sequence[Theorem]]:
        _RANGES[symbol] = prove
        return prove

    return register


def _ranges(symbol: Symbol) -> Sequence[Theorem]:
    return _RANGES[symbol]() if symbol in _RANGES else ()


def induct(
    index: Symbol,
    start: int,
    claim: Callable[[Expr], Proposition],
    base: Theorem,
    step: Callable[[Theorem], Theorem],
    upper: Expr | None = None,
) -> Theorem:
    """Induction: `step` is handed the claim at the index as a hypothesis, and proves it at the next."""
    return kernel.induct(index, start, base, step(kernel.assume(claim(index))), upper)
