"""The checks a derivation is made of; each can fail.

A check states something as SymPy objects, `verify()` says by which method it holds and over which scope,
and `mutants()` yields wrong versions of itself that `verify()` must not prove: its negative control.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache

from sympy import (
    Eq,
    Expr,
    Ge,
    Gt,
    Integral,
    Lambda,
    Le,
    Lt,
    Poly,
    PolynomialError,
    Pow,
    Rational,
    S,
    Symbol,
    binomial,
    cancel,
    combsimp,
    factorial,
    fraction,
    limit,
    pdsolve,
    rsolve,
    together,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from .. import symbols
from ..errors import HsdpError
from ..evaluate.enclosure import Enclosure, enclose
from ..evaluate.program import compile_expression
from ..functions.interface import BoundFunction
from .algebra import close_sums, is_zero
from .mutants import mutations


class Method(StrEnum):
    """How a claim is supported, from strongest to weakest."""

    THEOREM = "theorem"
    """A theorem of the kernel (`proof.kernel`): rules, applied again."""
    IDENTITY = "identity"
    """A difference reduces to exactly 0."""
    CERTIFICATE = "certificate"
    """An inequality follows from a nonnegative combination, a positive polynomial or rules for every node."""
    POINTS = "points"
    """Exact arithmetic at stated points."""
    SIMULATION = "simulation"
    """Simulated runs, or exact laws of instances: evidence, not proof."""
    CITED = "cited"
    """Taken from the literature."""


class Verdict(StrEnum):
    """What the evidence amounts to. Only `PROVED`, `CERTIFIED` and (openly) `CONSISTENT` and `CITED` pass."""

    PROVED = "proved"
    CERTIFIED = "certified"
    """It holds at the points stated, and nothing more is claimed."""
    CONSISTENT = "consistent"
    """Nothing speaks against it; that is no proof."""
    CITED = "cited"
    """Taken from the literature, and checked only on a witness."""
    UNDECIDED = "undecided"
    """Neither a proof nor a counterexample was found."""
    REFUTED = "refuted"
    """There is an exact counterexample."""

    @property
    def passes(self) -> bool:
        return self in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONSISTENT, Verdict.CITED)


@dataclass(frozen=True)
class Evidence:
    """The outcome of one check: by which method, over which scope, with which result."""

    method: Method
    verdict: Verdict
    scope: str
    detail: str


ALL_PARAMETERS = "all parameters"


class Check(ABC):
    """Something that can be verified, and whose mutants must not be."""

    @abstractmethod
    def verify(self) -> Evidence:
        """Decide the claim; `UNDECIDED` where the method finds neither proof nor counterexample."""

    @abstractmethod
    def mutants(self) -> Iterator[tuple[str, Check]]:
        """Wrong versions of this check, each with a word on what is wrong."""

    @abstractmethod
    def formula(self) -> Relational:
        """The claim as one SymPy relation, for printing."""


@dataclass(frozen=True)
class Identity(Check):
    """lhs = rhs for all values of the symbols; proved if the residual reduces to exactly 0."""

    lhs: Expr
    rhs: Expr

    def verify(self) -> Evidence:
        residual = _evaluated(self.lhs) - self.rhs
        if is_zero(residual):
            return Evidence(Method.IDENTITY, Verdict.PROVED, ALL_PARAMETERS, "residual reduces to 0")
        return _fails(Method.IDENTITY, residual, "the two sides differ")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for what, rhs in mutations(self.rhs):
            yield what, replace(self, rhs=rhs)

    def formula(self) -> Relational:
        return Eq(self.lhs, self.rhs, evaluate=False)


@cache
def _evaluated(expr: Expr) -> Expr:
    """`expr` with integrals and factorials worked out; only in `verify`, so that derivations cost little to build."""
    if expr.has(factorial, binomial):
        expr = combsimp(expr)
    return expr.doit() if expr.has(Integral) else expr


@dataclass(frozen=True)
class Induction(Check):
    """`sequence` in `index` starts at `initial` and obeys y(index + 1) = successor, for all index ≥ start.

    `successor` is written with `previous` standing for y(index). Proved by the initial value and one step;
    with `cross_check`, SymPy's own solution of the (linear, constant-coefficient) recurrence must agree too.
    """

    sequence: Expr
    index: Symbol
    start: int
    initial: Expr
    previous: Symbol
    successor: Expr
    cross_check: bool = False

    def verify(self) -> Evidence:
        here = {self.previous: self.sequence}
        first = self.sequence.subs(self.index, self.start) - self.initial
        step = self.sequence.subs(self.index, self.index + 1) - self.successor.subs(here)
        for residual, what in ((first, "initial value"), (step, "induction step")):
            if not is_zero(residual):
                return _fails(Method.IDENTITY, residual, f"{what} fails")
        detail = "induction: initial value and step reduce to 0"
        if self.cross_check:
            solved = _solve(self.successor, self.previous, self.index, self.start, self.initial)
            if not is_zero(solved - self.sequence):
                return _fails(Method.IDENTITY, solved - self.sequence, "rsolve finds a different solution")
            detail += "; rsolve agrees"
        return Evidence(
            Method.IDENTITY, Verdict.PROVED, f"{ALL_PARAMETERS}, every {self.index} >= {self.start}", detail
        )

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "initial value off by one", replace(self, initial=self.initial + 1)
        for what, sequence in mutations(self.sequence):
            yield what, replace(self, sequence=sequence)

    def formula(self) -> Relational:
        return Eq(self.previous, self.sequence, evaluate=False)


@cache
def _solve(successor: Expr, previous: Symbol, index: Symbol, start: int, initial: Expr) -> Expr:
    """SymPy's own solution of y(index + 1) = successor."""
    y = symbols.y_at
    return rsolve(y(index + 1) - successor.subs(previous, y(index)), y(index), {y(start): initial})


@dataclass(frozen=True)
class Slack:
    """A fact `value ≥ 0` a certificate leans on, and why it holds.

    Where the value is manifestly nonnegative the certificate sees for itself; otherwise `why` must name the
    hypothesis, definition or earlier step that gives it.
    """

    value: Expr
    why: str

    @classmethod
    def of(cls, hypothesis: Relational) -> Slack:
        """The slack a hypothesis of a statement provides: change the hypothesis and the certificate fails."""
        return cls(hypothesis.gts - hypothesis.lts, f"hypothesis {hypothesis}")


def domain_of(hypothesis: Relational, symbol: Symbol) -> dict[Symbol, Expr]:
    """The values of `symbol` for which a strict hypothesis holds, parametrised by its slack > 0."""
    excess, _ = fraction(together(hypothesis.gts - hypothesis.lts - symbols.slack))
    slope = excess.diff(symbol)
    if slope.has(symbol):
        raise ValueError(f"{hypothesis} is not linear in {symbol}")
    return {symbol: cancel(symbol - excess / slope)}


@dataclass(frozen=True)
class Certificate(Check):
    """lhs ≤ rhs, because rhs − lhs = Σ multiplier·slack with every multiplier manifestly nonnegative.

    `domain` maps constrained symbols to the positive orthant; a slack's `why` says what makes it nonnegative.
    """

    lhs: Expr
    rhs: Expr
    terms: tuple[tuple[Expr, Slack], ...]
    domain: Mapping[Symbol, Expr] = field(default_factory=dict)

    def verify(self) -> Evidence:
        residual = self.rhs - self.lhs - sum(multiplier * slack.value for multiplier, slack in self.terms)
        if not is_zero(residual):
            return _fails(Method.CERTIFICATE, residual, "the combination does not add up")
        leans_on = []
        for multiplier, slack in self.terms:
            if not is_manifestly_nonnegative(multiplier, self.domain):
                detail = f"multiplier {multiplier} is not manifestly nonnegative"
                return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, detail)
            if is_manifestly_nonnegative(slack.value, self.domain) or _is_square(slack.value):
                leans_on.append(f"{slack.why} (seen)")
            elif slack.value.is_number or is_manifestly_nonnegative(-slack.value, self.domain):
                return Evidence(Method.CERTIFICATE, Verdict.REFUTED, str(slack.value), "a slack is negative")
            else:
                leans_on.append(f"{slack.why} (given)")
        detail = f"nonnegative combination of: {'; '.join(leans_on)}"
        return Evidence(Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, detail)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        negated = tuple((-multiplier, slack) for multiplier, slack in self.terms)
        yield "inequality reversed", replace(self, lhs=self.rhs, rhs=self.lhs, terms=negated)
        for position, (_, slack) in enumerate(self.terms):
            yield f"without {slack.why}", replace(self, terms=self.terms[:position] + self.terms[position + 1 :])
        for what, rhs in mutations(self.rhs):
            yield what, replace(self, rhs=rhs)

    def formula(self) -> Relational:
        return Le(self.lhs, self.rhs, evaluate=False)


def _is_square(expr: Expr) -> bool:
    return isinstance(expr, Pow) and expr.exp == 2 and bool(expr.base.is_real)


@dataclass(frozen=True)
class Limit(Check):
    """expr → value as symbol ↓ point."""

    expr: Expr
    symbol: Symbol
    point: Expr
    value: Expr

    def verify(self) -> Evidence:
        residual = _limit(self.expr, self.symbol, self.point) - self.value
        if is_zero(residual):
            detail = f"limit at {self.symbol} = {self.point}+"
            return Evidence(Method.IDENTITY, Verdict.PROVED, ALL_PARAMETERS, detail)
        return _fails(Method.IDENTITY, residual, "the limit is a different one")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for what, value in mutations(self.value):
            yield what, replace(self, value=value)

    def formula(self) -> Relational:
        return Eq(self.expr, self.value, evaluate=False)


@cache
def _limit(expr: Expr, symbol: Symbol, point: Expr) -> Expr:
    return limit(close_sums(expr), symbol, point, "+")


_REVERSED = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt}


@dataclass(frozen=True)
class AtPoint(Check):
    """An inequality between exact numbers at one stated point: it holds there, and nothing more is claimed."""

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
        yield "inequality reversed", replace(self, relation=_REVERSED[self.relation])

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
class SolvesPDE(Check):
    """`solution` has the form of SymPy's general solution of the first-order equation `pde` = 0 for `unknown`.

    The cross-check of a solution found by characteristics: `pdsolve` returns prefactor·F(invariant) with F
    free, and `solution` must be that for F = `profile`.
    """

    pde: Expr
    unknown: Expr
    solution: Expr
    profile: Lambda

    def verify(self) -> Evidence:
        general = _pdsolve(self.pde, self.unknown).rhs
        (free,) = general.atoms(AppliedUndef)
        residual = general.subs(free, self.profile(*free.args)) - self.solution
        if is_zero(residual):
            detail = f"pdsolve: {self.unknown} = {general}"
            return Evidence(Method.IDENTITY, Verdict.PROVED, ALL_PARAMETERS, detail)
        return _fails(Method.IDENTITY, residual, "pdsolve finds a different family of solutions")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for what, solution in mutations(self.solution):
            yield what, replace(self, solution=solution)

    def formula(self) -> Relational:
        return Eq(self.unknown, self.solution, evaluate=False)


@cache
def _pdsolve(pde: Expr, unknown: Expr) -> Relational:
    return pdsolve(Eq(pde, 0), unknown)


def surviving_mutants(check: Check) -> tuple[int, list[str]]:
    """How many mutants of `check` were tried, and those its verification failed to reject."""
    survivors, tried = [], 0
    for what, mutant in check.mutants():
        tried += 1
        if mutant.verify().verdict.passes:
            survivors.append(what)
    return tried, survivors


def _fails(method: Method, residual: Expr, what: str) -> Evidence:
    """Refuted if some exact point makes the residual a non-zero number, undecided otherwise."""
    point = _sample_point(residual)
    if point is not None:
        value = _enclosed(residual.subs(point).doit())
        if value is not None and 0 not in value:
            where = ", ".join(f"{symbol} = {x}" for symbol, x in point.items())
            shown = value.lo if value.lo == value.hi else value
            return Evidence(method, Verdict.REFUTED, where, f"{what}: residual {shown}")
    return Evidence(method, Verdict.UNDECIDED, ALL_PARAMETERS, what)


def _enclosed(value: Expr) -> Enclosure | None:
    """An enclosure of a constant; None where it cannot be evaluated, or not be told from 0."""
    try:
        return enclose(compile_expression(close_sums(value)), {}, rtol="1e-6")
    except (HsdpError, ZeroDivisionError):
        return None


_TYPICAL = {symbols.alpha: Rational(3), symbols.N: Rational(7), symbols.m: Rational(3), symbols.j0: Rational(2)}
"""Values that keep a counterexample inside the hypotheses: α > 1, m = ⌊N/2⌋, j0 < N."""


def _sample_point(expr: Expr) -> dict[Symbol, Expr] | None:
    """Small exact values for the free symbols of `expr`, respecting their signs; None if it holds unknown functions."""
    if expr.atoms(AppliedUndef):
        return None
    point = {}
    indices = {node.own_name for node in expr.atoms(BoundFunction)}
    for position, symbol in enumerate(sorted(expr.free_symbols - indices, key=str), start=2):
        generic = Rational(position) if symbol.is_integer else Rational(position, position + 3)
        point[symbol] = _TYPICAL.get(symbol, generic)
    return point


def is_manifestly_nonnegative(expr: Expr, mapping: Mapping[Symbol, Expr]) -> bool:
    """Whether `expr`, with the domain mapped to the positive orthant, has only nonnegative coefficients.

    `mapping` sends each constrained symbol to an expression in nonnegative symbols (λ ≤ β becomes β = λ + gap);
    the numerator and denominator of the result must then be polynomials in nonnegative generators without
    a negative coefficient.
    """
    top, bottom = fraction(cancel(together(expr.subs(dict(mapping), simultaneous=True))))
    for part in (top, bottom):
        if part.is_number:
            if not part.is_nonnegative:
                return False
            continue
        try:
            poly = Poly(part)
        except PolynomialError:
            return False
        if not all(gen.is_nonnegative for gen in poly.gens):
            return False
        if any(not coeff.is_nonnegative for coeff in poly.coeffs()):
            return False
    return bool(bottom != S.Zero)
