"""The checks that claims are made of; each can fail, and what it proves is a theorem of the kernel.

A check states something as SymPy objects, `verify()` says by which method it holds and over which scope,
and `mutants()` yields wrong versions of itself that `verify()` must not prove: its negative control.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from sympy import (
    Derivative,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Integral,
    Lambda,
    Le,
    Lt,
    Ne,
    Rational,
    Symbol,
    binomial,
    factorial,
    pdsolve,
    rsolve,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from .. import symbols
from ..errors import HsdpError, UnsupportedNode
from ..evaluate.enclosure import Enclosure, enclose
from ..evaluate.program import compile_expression
from ..functions.interface import BoundFunction
from . import kernel
from .algebra import close_sums, is_zero
from .evidence import EVERYWHERE, Check, Evidence, Method, Verdict, proved, scope_of, surviving_mutants
from .kernel import Refused, Theorem
from .mutants import mutations
from .propositions import Less
from .search import given


def undecided(why: str) -> Evidence:
    """Neither proved nor refuted, and why."""
    return Evidence(Method.THEOREM, Verdict.UNDECIDED, "", why)


class FromTheorems(Check):
    """A check that is proved by the theorems it makes, and refuted by a point where it is wrong."""

    where: tuple[Relational, ...]

    @abstractmethod
    def theorems(self) -> Sequence[Theorem]:
        """What proves it; `Refused` if that does not work."""

    def gap(self) -> Expr | None:
        """A number that would be 0, or not negative, if the claim were true."""
        return None

    def is_wrong(self, gap: Enclosure) -> bool:
        """Whether such a number shows that the claim is false."""
        return 0 not in gap

    def verify(self) -> Evidence:
        if not all(isinstance(relation, Relational) for relation in self.where):
            return undecided("a hypothesis is true, or false, whatever the letters are")
        if self.where and _can_be_sampled(self.where) and next(_points(self.where, self.where), None) is None:
            return undecided("no values of the letters are known for which all hypotheses hold")
        try:
            return proved(self.theorems())
        except Refused as why:
            return self._refuted() or undecided(str(why))

    def _refuted(self) -> Evidence | None:
        gap = self.gap()
        if gap is None or not _can_be_sampled([gap, *self.where]):
            return None
        for point in _points([gap], self.where):
            value = _enclosed(gap.subs(point).doit())
            if value is not None and self.is_wrong(value):
                where = ", ".join(f"{symbol} = {x}" for symbol, x in point.items())
                shown = value.lo if value.lo == value.hi and value.lo.denominator < 10**40 else value
                return Evidence(Method.POINTS, Verdict.REFUTED, where, f"right side − left side: {shown}")
        return None

    def without_hypotheses(self) -> Iterator[tuple[str, Check]]:
        """Mutants that lack one hypothesis: each of them must be needed."""
        for place, relation in enumerate(self.where):
            rest = self.where[:place] + self.where[place + 1 :]
            yield f"without {relation}", replace(self, where=rest)  # type: ignore[type-var]


@dataclass(frozen=True)
class Identity(FromTheorems):
    """lhs = rhs wherever `where` holds: strict inequalities there, and theorems `nonzero`, say that a divisor is not 0.

    Both sides must be different trees, or there is nothing to prove (`Definition`). Functions and abbreviations are
    written out `by` equalities.
    """

    lhs: Expr
    rhs: Expr
    where: tuple[Relational, ...] = ()
    by: tuple[Theorem, ...] = ()
    nonzero: tuple[Theorem, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        if self.lhs == self.rhs:
            raise Refused("both sides are one tree: there is nothing to prove")
        return [equality(self.lhs, self.rhs, self.where, self.by, self.nonzero)]

    def gap(self) -> Expr:
        return self.rhs - self.lhs

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "off by one", replace(self, rhs=self.rhs + 1)
        for what, rhs in mutations(self.rhs):
            yield what, replace(self, rhs=rhs)
        yield from self.without_hypotheses()

    def formula(self) -> Relational:
        return Eq(self.lhs, self.rhs, evaluate=False)


def equality(
    lhs: Expr,
    rhs: Expr,
    where: Sequence[Relational] = (),
    by: Sequence[Theorem] = (),
    nonzero: Sequence[Theorem] = (),
) -> Theorem:
    """lhs = rhs, both worked out and brought to normal form; if need be, with one step of each sum written out."""
    first, second = (kernel.work_out(side) if side.has(*_TO_WORK_OUT) else None for side in (lhs, rhs))
    ends = [each.proposition.right if each else side for each, side in ((first, lhs), (second, rhs))]  # type: ignore[attr-defined]
    assumed = [*strict(where), *nonzero]
    try:
        found = kernel.cancel(*ends, *assumed, by=by)
    except Refused:
        further = _unfolded(ends)
        if not further:
            raise
        found = kernel.cancel(*ends, *assumed, by=[*by, *further])
    found = kernel.chain(first, found) if first else found
    return kernel.chain(found, kernel.swap(second)) if second else found


_TO_WORK_OUT = (Derivative, Integral, factorial, binomial)


def strict(where: Sequence[Relational]) -> list[Theorem]:
    """The strict inequalities among relations, which say that something is not 0."""
    return [each for each in map(given, where) if isinstance(each.proposition, Less)]


def _unfolded(sides: Sequence[Expr]) -> list[Theorem]:
    """Defining equations of functions that occur both at an index and at the next."""
    nodes = {node for side in sides for node in side.atoms(BoundFunction)}
    found = []
    for node in sorted(nodes, key=str):
        for place, (left, _) in enumerate(_definition(node)):
            if left in nodes and left != node:
                found.append(kernel.unfold(node, place))
    return found


def _definition(node: BoundFunction) -> Sequence[tuple[Expr, Expr]]:
    try:
        return node.definition()
    except UnsupportedNode:
        return ()


@dataclass(frozen=True)
class Definition(Check):
    """What is printed (`lhs`) is how it is written here (`rhs`), as a tree: a name, or a way of writing."""

    lhs: Expr
    rhs: Expr

    def verify(self) -> Evidence:
        if self.lhs == self.rhs:
            return Evidence(
                Method.DEFINITION,
                Verdict.DEFINITION,
                EVERYWHERE,
                "both sides are one expression: a name or a way of writing",
            )
        return undecided(f"{self.lhs} is not written as {self.rhs}")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "off by one", replace(self, rhs=self.rhs + 1)
        for what, rhs in mutations(self.rhs):
            yield what, replace(self, rhs=rhs)

    def formula(self) -> Relational:
        return Eq(self.lhs, self.rhs, evaluate=False)


@dataclass(frozen=True)
class Induction(FromTheorems):
    """`sequence` in `index` starts at `initial` and obeys y(index + 1) = successor, for all index ≥ start.

    `successor` is written with `previous` standing for y(index). Proved by two theorems, the initial value and one
    step; with `cross_check`, SymPy's own solution of the (linear, constant-coefficient) recurrence must agree too.
    """

    sequence: Expr
    index: Symbol
    start: int
    initial: Expr
    previous: Symbol
    successor: Expr
    cross_check: bool = False
    where: tuple[Relational, ...] = ()
    nonzero: tuple[Theorem, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        known = self.nonzero
        first, step = (equality(left, right, self.where, nonzero=known) for left, right in self._equations())
        found = [first, step]
        if self.cross_check:
            solved = _solve(self.successor, self.previous, self.index, self.start, self.initial)
            found.append(equality(solved, self.sequence, self.where))
        return found

    def _equations(self) -> Sequence[tuple[Expr, Expr]]:
        """The initial value, and one step."""
        first = self.sequence.subs(self.index, self.start), self.initial
        step = self.sequence.subs(self.index, self.index + 1), self.successor.subs(self.previous, self.sequence)
        return first, step

    def gap(self) -> Expr | None:
        gaps = [right - left for left, right in self._equations()]
        return next((gap for gap in gaps if not is_zero(gap)), None)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "initial value off by one", replace(self, initial=self.initial + 1)
        for what, sequence in mutations(self.sequence):
            yield what, replace(self, sequence=sequence)
        yield from self.without_hypotheses()

    def formula(self) -> Relational:
        return Eq(self.previous, self.sequence, evaluate=False)


@cache
def _solve(successor: Expr, previous: Symbol, index: Symbol, start: int, initial: Expr) -> Expr:
    """SymPy's own solution of y(index + 1) = successor."""
    y = symbols.y_at
    return rsolve(y(index + 1) - successor.subs(previous, y(index)), y(index), {y(start): initial})


Factor: TypeAlias = Expr | Relational | Theorem
"""A number that is not negative: seen so, or the difference of two sides of a hypothesis or theorem."""


@dataclass(frozen=True)
class Certificate(FromTheorems):
    """lhs ≤ rhs, because rhs − lhs is a sum of `terms`, each a product of factors that are not negative.

    A factor is an expression whose sign is seen, a relation among the hypotheses `where`, or a theorem. `by` and
    `nonzero` are as for `Identity`.
    """

    lhs: Expr
    rhs: Expr
    terms: tuple[tuple[Factor, ...], ...]
    where: tuple[Relational, ...] = ()
    by: tuple[Theorem, ...] = ()
    nonzero: tuple[Theorem, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        terms = [[self._factor(factor) for factor in term] for term in self.terms]
        return [kernel.combine(self.lhs, self.rhs, *terms, nonzero=[*strict(self.where), *self.nonzero], by=self.by)]

    def _factor(self, factor: Factor) -> Expr | Theorem:
        if isinstance(factor, Relational):
            if factor not in self.where:
                raise Refused(f"{factor} is no hypothesis")
            return given(factor)
        return factor

    def gap(self) -> Expr:
        return self.rhs - self.lhs

    def is_wrong(self, gap: Enclosure) -> bool:
        return bool(gap.hi < 0)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        negated = tuple((Integer(-1), *term) for term in self.terms)
        yield "inequality reversed", replace(self, lhs=self.rhs, rhs=self.lhs, terms=negated)
        for position in range(len(self.terms)):
            yield (
                f"without term {position + 1}",
                replace(self, terms=self.terms[:position] + self.terms[position + 1 :]),
            )
        for what, rhs in mutations(self.rhs):
            yield what, replace(self, rhs=rhs)
        yield from self.without_hypotheses()

    def formula(self) -> Relational:
        return Le(self.lhs, self.rhs, evaluate=False)


@dataclass(frozen=True)
class Limit(FromTheorems):
    """expr → value as symbol ↓ point."""

    expr: Expr
    symbol: Symbol
    point: Expr
    value: Expr
    where: tuple[Relational, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        found = _tends(self.expr, self.symbol, self.point)
        limit: Expr = found.proposition.limit  # type: ignore[attr-defined]
        return [found] if limit == self.value else [found, kernel.cancel(limit, self.value, *strict(self.where))]

    def gap(self) -> Expr:
        return self.value - _tends(self.expr, self.symbol, self.point).proposition.limit  # type: ignore[attr-defined]

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "off by one", replace(self, value=self.value + 1)
        for what, value in mutations(self.value):
            yield what, replace(self, value=value)

    def formula(self) -> Relational:
        return Eq(self.expr, self.value, evaluate=False)


_tends = cache(kernel.tends)
_REVERSED = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt, Eq: Ne, Ne: Eq}


@dataclass(frozen=True)
class AtPoint(Check):
    """A relation between exact numbers at one stated point: it holds there, and nothing more is claimed."""

    lhs: Expr
    rhs: Expr
    relation: type[Relational]
    point: str

    def verify(self) -> Evidence:
        holds = self.relation(self.lhs, self.rhs)
        verdict = Verdict.CERTIFIED if holds == True else Verdict.REFUTED  # noqa: E712 — SymPy booleans
        sides = [str(side) if len(str(side)) <= 40 else str(side.evalf(20)) for side in (self.lhs, self.rhs)]
        return Evidence(Method.POINTS, verdict, self.point, f"{sides[0]} against {sides[1]}")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "relation reversed", replace(self, relation=_REVERSED[self.relation])

    def formula(self) -> Relational:
        return self.relation(self.lhs, self.rhs, evaluate=False)


@dataclass(frozen=True)
class Cited(Check):
    """A fact taken from the literature, not proved here; `witness` is a case in which it can be checked."""

    reference: str
    witness: Check

    def verify(self) -> Evidence:
        seen = self.witness.verify()
        if seen.verdict is not Verdict.PROVED and seen.verdict is not Verdict.CERTIFIED:
            return replace(seen, detail=f"the witness fails: {seen.detail}")
        return Evidence(Method.CITED, Verdict.CITED, "as cited", f"{self.reference}; checked on a witness")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for what, witness in self.witness.mutants():
            yield what, replace(self, witness=witness)

    def formula(self) -> Relational:
        return self.witness.formula()


@dataclass(frozen=True)
class SolvesPDE(FromTheorems):
    """`solution` solves the first-order equation `pde` = 0 for `unknown`, which is written as in `Derivative`.

    The theorem is that the equation holds of it. Besides, it must have the form of SymPy's general solution: `pdsolve`
    returns prefactor·F(invariant) with F free, and `solution` must be that for F = `profile`.
    """

    pde: Expr
    unknown: Expr
    solution: Expr
    profile: Lambda
    where: tuple[Relational, ...] = ()

    def theorems(self) -> Sequence[Theorem]:
        general = _pdsolve(self.pde, self.unknown).rhs
        (free,) = general.atoms(AppliedUndef)
        form = equality(general.subs(free, self.profile(*free.args)), self.solution, self.where)
        return [equality(self.pde.xreplace({self.unknown: self.solution}), Integer(0), self.where), form]

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for what, solution in mutations(self.solution):
            yield what, replace(self, solution=solution)

    def formula(self) -> Relational:
        return Eq(self.unknown, self.solution, evaluate=False)


@cache
def _pdsolve(pde: Expr, unknown: Expr) -> Relational:
    return pdsolve(Eq(pde, 0), unknown)


# --- Points at which a claim can be tried ---------------------------------------------------------------------------

_TYPICAL = {symbols.alpha: Rational(3), symbols.N: Rational(7), symbols.m: Rational(3), symbols.j0: Rational(2)}
"""Values that keep a counterexample inside the hypotheses: α > 1, m = ⌊N/2⌋, j0 < N."""
_WHOLE = tuple(map(Rational, (1, 2, 3, 4, 5, 8)))
_LARGE = (*_WHOLE, Rational(30), Rational(200), Rational(2000))
_OTHERS = tuple(
    Rational(*ends) for ends in ((1, 100), (1, 10), (1, 3), (1, 2), (9, 10), (1, 1), (3, 2), (3, 1), (50, 1))
)
MAX_POINTS, MAX_DRAWN = 3, 400
"""How many points that satisfy the hypotheses are tried, and how many are drawn to find them."""


def _can_be_sampled(parts: Iterable[Expr | Relational]) -> bool:
    """Whether it holds no unknown function."""
    return not any(part.atoms(AppliedUndef) for part in parts)


def _points(parts: Sequence[Expr | Relational], where: Sequence[Relational]) -> Iterator[dict[Symbol, Expr]]:
    """Exact values for the letters, within their ranges, for which the hypotheses hold; always the same ones."""
    every = [*parts, *where]
    indices = {node.own_name for part in every for node in part.atoms(BoundFunction)}
    letters = sorted(set[Symbol]().union(*(part.free_symbols for part in every)) - indices, key=str)
    rng, found = random.Random(0), 0
    for drawn in range(MAX_DRAWN if where else MAX_POINTS):
        point = (
            _first_point(letters)
            if drawn == 0
            else _drawn_point(letters, rng, _WHOLE if drawn < MAX_DRAWN // 2 else _LARGE)
        )
        if all(_holds(relation, point) for relation in where):
            yield point
            found += 1
            if found == MAX_POINTS:
                return


def _first_point(letters: Sequence[Symbol]) -> dict[Symbol, Expr]:
    generic = ((s, Rational(at) if s.is_integer else Rational(at, at + 3)) for at, s in enumerate(letters, start=2))
    return {symbol: _TYPICAL.get(symbol, value) for symbol, value in generic}


def _drawn_point(letters: Sequence[Symbol], rng: random.Random, counts: Sequence[Expr]) -> dict[Symbol, Expr]:
    point = {symbol: rng.choice(counts if symbol.is_integer else _OTHERS) for symbol in letters}
    return {s: value + 1 if s == symbols.alpha else value for s, value in point.items()}


def _holds(relation: Relational, point: dict[Symbol, Expr]) -> bool:
    gap = (relation.rhs - relation.lhs if isinstance(relation, Eq) else relation.gts - relation.lts).subs(point)
    value = _enclosed(gap)
    if value is None:
        return bool(gap == 0 and not isinstance(relation, Lt | Gt))
    if isinstance(relation, Eq):
        return bool(value.lo == value.hi == 0)
    return bool(value.lo > 0 or (value.lo == 0 and not isinstance(relation, Lt | Gt)))


def _enclosed(value: Expr) -> Enclosure | None:
    """An enclosure of a constant; None where it cannot be evaluated, or not be told from 0."""
    try:
        return enclose(compile_expression(close_sums(value)), {}, rtol="1e-6")
    except (HsdpError, ZeroDivisionError):
        return None


__all__ = [
    "EVERYWHERE", "AtPoint", "Certificate", "Check", "Cited", "Definition", "Evidence", "Factor", "FromTheorems",
    "Identity", "Induction", "Limit", "Method", "SolvesPDE", "Verdict", "equality", "proved", "scope_of", "strict",
    "surviving_mutants", "undecided",
]  # fmt: skip
