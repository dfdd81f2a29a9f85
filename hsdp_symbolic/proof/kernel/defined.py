"""What is divided by is not 0, what is a number, and which names an expression binds: asked by every rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Expr,
    Lambda,
    Max,
    Min,
    Mul,
    Piecewise,
    Pow,
    S,
    Subs,
    Symbol,
    binomial,
    exp,
    factorial,
    floor,
    log,
)
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef

from ...functions.interface import BoundFunction
from ...functions.log_mean_exp import LogMeanExp
from ...functions.mean_over import MeanOver
from ...symbols import fresh
from ..algebra import is_zero
from ..integrals import Integrated
from ..propositions import AtMost, Either, Less, Proposition, Tends
from ..signs import Sign, divisors, is_nonzero, seen, sign
from .theorem import Theorem, apart_by, left_of, require, right_of

_MEANS = (LogMeanExp, MeanOver)


def require_defined(exprs: Iterable[Expr], *theorems: Theorem, known: Sequence[Expr] = ()) -> None:
    """Refuse expressions with a divisor that is neither seen not to be 0, nor known so, nor a divisor in a theorem."""
    exprs = tuple(exprs)
    found = {divisor for expr in exprs for divisor in divisors_of(expr)}
    if not found:
        return
    bound = set[Symbol]().union(*map(varied, exprs))
    theorems = tuple(each for each in theorems if not restricts(each, bound))
    parts = (part for each in theorems for part in each.proposition.expressions() if not part.has(Piecewise))
    found -= {divisor for part in parts for divisor in divisors_of(part)}
    positive_ = [*known, *(right_of(each) - left_of(each) for each in theorems if isinstance(each.proposition, Less))]
    for divisor in found:
        require(is_nonzero(divisor, positive_), "{} may be 0: give a theorem that it is not", divisor)


def divisors_of(expr: Basic) -> Iterator[Expr]:
    """`divisors` of what the value depends on, the index of a mean counting from 1 within it."""
    if expr.has(*_MEANS):
        expr = expr.replace(lambda node: isinstance(node, _MEANS), _from_one)
    if any(node.for_views for node in expr.atoms(BoundFunction)):
        expr = expr.replace(lambda node: isinstance(node, BoundFunction) and node.for_views, _without_hints)
    return divisors(expr)


def _without_hints(node: BoundFunction) -> Expr:
    return node.func(*(S.One if place in node.for_views else each for place, each in enumerate(node.args)))


def _from_one(mean: BoundFunction) -> Expr:
    body, index, count = mean.args
    return mean.func(body.xreplace({index: _counting(index)}), _counting(index), count)


@lru_cache(maxsize=64)
def _counting(index: Symbol) -> Symbol:
    return index if index.is_positive else fresh(index.name, integer=True, positive=True)


def is_written_out(node: BoundFunction, known: Sequence[Expr]) -> bool:
    """Whether a function may be written out: that divides by nothing that may be 0, nor takes a logarithm of it."""
    written = node.closed()
    return all(is_nonzero(each, known) for each in divisors(written)) and has_logarithms(written, known)


def has_logarithms(expr: Expr, known: Sequence[Expr]) -> bool:
    """Whether every logarithm in an expression is that of a positive number, as is seen or known.

    SymPy writes the logarithm of a negative number with i.
    """

    def is_positive(x: Expr) -> bool:
        return seen(x) is Sign.POSITIVE or any(is_zero(x - each) for each in known)

    return not expr.has(S.ImaginaryUnit) and all(is_positive(each.args[0]) for each in expr.atoms(log))


def falling(proposition: Proposition) -> set[Symbol]:
    """The symbol of a limit: a name, as the index of a sum is."""
    if isinstance(proposition, Either):
        return set[Symbol]().union(*map(falling, proposition.cases))
    return {proposition.symbol} if isinstance(proposition, Tends) else set()


def bound_names(part: Basic) -> set[Symbol]:
    """The names that an expression binds, as the index of a sum or the variable of an integral."""
    own = {node.own_name for node in part.atoms(BoundFunction) if node.own_name is not None}
    integrals = {node.variable for node in part.atoms(Integrated)}
    return own.union(integrals, *(node.variables for node in part.atoms(ExprWithLimits, Lambda)))


def varied(part: Basic, old: Basic | None = None) -> set[Symbol]:
    """The names of which an expression looks at more than one value: those it binds, and those it differentiates by.

    Derivatives that do not hold `old` within are left out.
    """
    derivatives = (node for node in part.atoms(Derivative, Subs) if old is None or node.expr.has(old))
    return bound_names(part).union(*(node.variables for node in derivatives))


def restricts(theorem: Theorem, names: set[Symbol]) -> bool:
    """Whether a theorem holds for some values only of these names."""
    return any(not names.isdisjoint(each.free_symbols) for each in theorem.hypotheses)


def refuse_restricted(equality: Theorem, bound: set[Symbol]) -> None:
    """Refuse an equality that holds for some values only of a name that is bound where it is to be used."""
    require(not restricts(equality, bound), "one of {} is restricted, and bound in what is rewritten", bound)


@lru_cache(maxsize=4096)
def is_number(value: Expr, *, positive_: tuple[Expr, ...] = (), least: tuple[Expr, ...] = ()) -> bool:
    """Whether it is a real number wherever no divisor is 0: no root or logarithm of what may be negative.

    A function of the bounds is taken for some number where its closed form takes the logarithm of what is negative; it
    is not written out there (`has_logarithms`).
    """

    def all_numbers(parts: Iterable[Expr]) -> bool:
        return all(is_number(each, positive_=positive_, least=least) for each in parts)

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


def signs_of(theorems: Iterable[Theorem]) -> dict[str, tuple[Expr, ...]]:
    """What theorems say is positive, or at least 0, for `is_number`."""
    found = [each.proposition for each in theorems]
    least = [each.right - each.left for each in found if isinstance(each, AtMost)]
    return {"positive_": tuple(apart_by(found)), "least": tuple(least)}
