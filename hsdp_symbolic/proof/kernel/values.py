"""What may stand in the place of a symbol, a term or an unknown function: values in its range, no name captured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Basic,
    Derivative,
    Expr,
    Lambda,
    Mul,
    Number,
    Pow,
    Subs,
    Symbol,
    Tuple,
    exp,
    log,
    preorder_traversal,
)
from sympy.core.function import AppliedUndef, UndefinedFunction

from ...functions.interface import BoundFunction
from ...symbols import fresh
from ..algebra import is_zero, normal_form
from ..propositions import Anything, AtMost, Less, Term, is_exact
from ..signs import Sign, seen, sign
from .defined import bound_names, is_number, is_written_out, require_defined, restricts, varied
from .theorem import Theorem, apart_by, left_of, require, right_of


def check_put(put: Mapping[Any, Any], ranges: Sequence[Theorem], eigen: Iterable[Any] = ()) -> None:
    """Refuse values outside the ranges of what they stand for.

    A function is that of a `Lambda` for all values of its variables, or of a fact's eigenvariables, as the fact says.
    Of a symbol's value nothing counts that was derived from assumptions on eigenvariables: there may be no such ones.
    """
    eigen = tuple(eigen)
    always = [each for each in ranges if not restricts(each, {name for name in eigen if isinstance(name, Symbol)})]
    for symbol, value in put.items():
        if isinstance(symbol, Symbol):
            in_range(symbol, value, always)
        elif isinstance(symbol, UndefinedFunction):
            require(isinstance(value, Lambda), "{} is a function: give a Lambda", symbol)
            usable = unrestricted(ranges, put, eigen)
            require_defined([value.expr], *usable)
            require(_has_range_of(value.expr, symbol, usable), "values of {} have a range", symbol)
        else:
            require(isinstance(value, Term) and symbol.admits(value), "{} cannot stand for {}", value, symbol)


def unrestricted(ranges: Iterable[Theorem], put: Mapping[Any, Any], eigen: Iterable[Any]) -> list[Theorem]:
    """The theorems that hold for all values of the variables of functions."""
    variables = {name for value in put.values() if isinstance(value, Lambda) for name in value.variables}
    return [each for each in ranges if not restricts(each, variables.difference(eigen))]


def refuse_capture(part: Basic, *puts: Mapping[Any, Any], ranges: Sequence[Theorem] = ()) -> None:
    """Refuse a change of a name that is bound, or a value that holds one; for functions, one differentiated by, too.

    A function that is differentiated is smooth: roots and logarithms are of what is positive, as is seen or as `ranges`
    say.
    """
    positive_ = [right_of(each) - left_of(each) for each in ranges if isinstance(each.proposition, Less)]
    bound, looked_at = bound_names(part), varied(part)
    for put in puts if looked_at else ():
        numbers = {symbol: value for symbol, value in put.items() if isinstance(symbol, Symbol)}
        touched = numbers.keys() | free_in(numbers.values())
        require(not bound & touched, "{} is the index of a sum or mean in {}", bound & touched, part)
        within = free_in(value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction))
        require(not looked_at & within, "{} is not constant in {}", looked_at & within, part)
        functions = [value for symbol, value in put.items() if isinstance(symbol, UndefinedFunction)]
        smooth = all(is_smooth(value.expr, positive_) for value in functions)
        require(smooth or not part.has(Derivative), "what is differentiated must be smooth")


_SMOOTH = (Add, Mul, Pow, exp, log, AppliedUndef, Derivative, Symbol, Number, Tuple)


def is_smooth(expr: Expr, positive_: Sequence[Expr]) -> bool:
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


def free_in(values: Iterable[Basic]) -> set[Symbol]:
    return set[Symbol]().union(*(value.free_symbols for value in values))


def replacer(put: Mapping[Any, Any]) -> Callable[[object], object]:
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
    """Values for symbols, all at once."""
    held = part.atoms(Symbol)
    return _put(part, tuple((symbol, value) for symbol, value in numbers.items() if symbol in held))


@lru_cache(maxsize=1 << 14)
def _put(part: Basic, numbers: tuple[tuple[Symbol, Expr], ...]) -> Basic:
    """The same, for symbols that occur.

    SymPy's own way of doing that takes a value for a variable of a derivative it stands under: there, symbols are
    renamed first and then replaced one by one, which it does rightly.
    """
    if not numbers:
        return part
    if not part.has(Derivative, Subs):
        return part.subs(dict(numbers), simultaneous=True)
    renamed = {symbol: fresh(symbol.name, **symbol.assumptions0) for symbol, _ in numbers}
    found = part.xreplace(renamed)
    for symbol, value in numbers:
        found = found.subs(renamed[symbol], value)
    return found


def _has_range_of(value: Expr, function: UndefinedFunction, ranges: Sequence[Theorem]) -> bool:
    """Whether a value is seen to lie where those of the function do; theorems y < z say that z − y is positive."""
    applied = function(fresh())
    kinds = {kind for kind in _RANGES if getattr(applied, f"is_{kind}", None)}
    if not kinds:
        return is_number(value, positive_=tuple(apart_by(each.proposition for each in ranges)))
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
def has_plain_range(symbol: Symbol) -> bool:
    """Whether all that is assumed of a symbol is among: real, whole, ≥ 0, > 0. Other ranges are not checked."""
    kinds = {kind: True for kind in ("real", "integer", "positive", "nonnegative") if symbol.assumptions0.get(kind)}
    return bool(symbol.assumptions0 == fresh("x", **kinds).assumptions0)


def in_range(symbol: Symbol, value: Expr, ranges: Sequence[Theorem]) -> None:
    """Refuse unless every assumption made of the symbol holds of the value, which divides by nothing that may be 0."""
    require(has_plain_range(symbol), "{} has a range that is not checked: {}", symbol, symbol.assumptions0)
    require_defined([value], *ranges)
    require(is_exact(value), "{} is rounded, infinite or imaginary", value)
    if symbol.is_integer:
        require(bool(value.is_integer), "{} is whole, and {} need not be", symbol, value)
    if symbol.is_positive:
        require(_known(value, ranges, strict=True), "{} > 0: give a theorem that 0 < {}", symbol, value)
    elif symbol.is_nonnegative:
        require(_known(value, ranges, strict=False), "{} >= 0: give a theorem that 0 <= {}", symbol, value)
    elif symbol.is_real:
        is_bound = any(each.proposition.value_at and each.proposition.value == value for each in ranges)
        known = is_bound or is_number(value, positive_=tuple(apart_by(each.proposition for each in ranges)))
        require(known or _known(value, ranges, strict=False), "{} is real, and {} need not be", symbol, value)


def _known(value: Expr, ranges: Sequence[Theorem], *, strict: bool) -> bool:
    found = seen(value)
    if found is not None and (found is Sign.POSITIVE or not strict):
        return True
    positive_ = tuple(right_of(each) - left_of(each) for each in ranges if isinstance(each.proposition, Less))

    def closes(node: Expr) -> bool:
        return isinstance(node, BoundFunction) and is_written_out(node, positive_)

    for each in ranges:
        if isinstance(each.proposition, AtMost | Less):
            more = normal_form(value - (right_of(each) - left_of(each)), closes)  # beyond what is not negative
            positively = isinstance(each.proposition, Less) or bool(more.is_positive)
            if more.is_number and more.is_nonnegative and (positively or not strict):
                return True
    return False
