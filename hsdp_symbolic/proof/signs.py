"""When the sign of an expression can be seen, and when its divisors cannot be 0. Trusted by the kernel.

`True` and a sign are proofs; `None` and `False` mean only that nothing was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache

from sympy import (
    Add,
    Expr,
    Max,
    Mul,
    Poly,
    Pow,
    Symbol,
    cancel,
    exp,
    factor_list,
    factorial,
    fraction,
    log,
    together,
)
from sympy.core.function import AppliedUndef
from sympy.polys.polyerrors import BasePolynomialError

from ..functions.interface import BoundFunction
from ..symbols import fresh
from .algebra import is_zero


class Sign(IntEnum):
    NONNEGATIVE = 1
    POSITIVE = 2


def sign(expr: Expr) -> Sign | None:
    """The sign of `expr` for all values of its symbols within their ranges, as far as its tree shows it."""
    if isinstance(expr, Symbol | BoundFunction | AppliedUndef) or expr.is_number:
        return Sign.POSITIVE if expr.is_positive else Sign.NONNEGATIVE if expr.is_nonnegative else None
    match expr:
        case Add():
            found = [sign(term) for term in expr.args]
            return None if None in found else max(found)  # type: ignore[type-var]
        case Mul():
            return _product(expr.args)
        case Pow():
            return _power(*expr.args)
        case exp():
            return Sign.POSITIVE if expr.args[0].is_real else None
        case log():
            return sign(expr.args[0] - 1)
        case Max():
            return max((each for each in map(sign, expr.args) if each is not None), default=None)
        case factorial():
            return Sign.POSITIVE if expr.args[0].is_integer and expr.args[0].is_nonnegative else None
    return None


def _product(factors: Sequence[Expr]) -> Sign | None:
    """The sign of a product; an even number of factors may be negative."""
    found, negative = [], 0
    for factor in factors:
        here = sign(factor)
        if here is None and (factor.is_number or isinstance(factor, Add)):
            opposite = Add(*(-term for term in Add.make_args(factor)))
            here = sign(opposite)
            negative += 1
        if here is None:
            return None
        found.append(here)
    return min(found) if negative % 2 == 0 else None


def _power(base: Expr, exponent: Expr) -> Sign | None:
    here = sign(base)
    if here is Sign.POSITIVE and exponent.is_real:
        return Sign.POSITIVE
    if here is Sign.NONNEGATIVE and exponent.is_positive:
        return Sign.NONNEGATIVE
    if exponent.is_even and exponent.is_positive and base.is_real:
        return Sign.NONNEGATIVE
    return None


@lru_cache(maxsize=4096)
def seen(expr: Expr) -> Sign | None:
    """`sign` of the tree, or of numerator and denominator as polynomials, a whole number ≥ 1 written as 1 + more."""
    found = sign(expr)
    if found is not None:
        return found
    if not all(sign(divisor) is Sign.POSITIVE for divisor in divisors(expr)):
        return None
    from_one = {s: 1 + fresh(s.name, integer=True, nonnegative=True) for s in expr.free_symbols if _counts(s)}
    for tree in (expr, expr.subs(from_one, simultaneous=True)) if from_one else (expr,):
        top, bottom = fraction(cancel(together(tree)))
        above, below = _polynomial(top), _polynomial(bottom)
        if above is not None and below is Sign.POSITIVE:
            return above
    return None


def _counts(symbol: Symbol) -> bool:
    return bool(symbol.is_integer and symbol.is_positive)


def _polynomial(expr: Expr) -> Sign | None:
    """The sign of a polynomial without a negative coefficient, in generators that are not negative."""
    if expr.is_number:
        return sign(expr)
    try:
        poly = Poly(expr)
    except BasePolynomialError:
        return sign(expr)
    if any(sign(gen) is None for gen in poly.gens) or any(sign(c) is None for c in poly.coeffs()):
        return None
    terms = [
        all(not power or sign(gen) is Sign.POSITIVE for gen, power in zip(poly.gens, powers, strict=True))
        for powers, _ in poly.terms()
    ]
    return Sign.POSITIVE if any(terms) and not poly.is_zero else Sign.NONNEGATIVE


def divisors(expr: Expr) -> Iterator[Expr]:
    """Everything `expr` divides by: bases of powers that may be negative."""
    for power in expr.atoms(Pow):
        if not power.exp.is_nonnegative and not (power.base.is_number and power.base.is_nonzero):
            yield power.base


def is_nonzero(expr: Expr, known: Sequence[Expr]) -> bool:
    """Whether `expr` cannot be 0, its factors being seen positive or equal, up to sign, to one of the `known`."""
    return _is_nonzero(expr, tuple(known))


@lru_cache(maxsize=4096)
def _is_nonzero(expr: Expr, known: tuple[Expr, ...]) -> bool:
    if seen(expr) is Sign.POSITIVE or seen(-expr) is Sign.POSITIVE or _is_known(expr, known):
        return True
    top, bottom = fraction(together(expr))
    try:
        constant, factors = factor_list(top)
    except BasePolynomialError:
        return False
    if constant == 0 or (len(factors) == 1 and factors[0][1] == 1 and factors[0][0] == expr):
        return False
    return all(_is_factor_nonzero(each, known) for each, _ in factors) and (bottom == 1 or is_nonzero(bottom, known))


def _is_factor_nonzero(expr: Expr, known: Sequence[Expr]) -> bool:
    return any(seen(side) is Sign.POSITIVE for side in (expr, -expr)) or _is_known(expr, known)


def _is_known(expr: Expr, known: Sequence[Expr]) -> bool:
    """Whether it is one of the known, or a factor of one: a product that is not 0 has no factor that is."""
    if any(is_zero(expr - each) or is_zero(expr + each) for each in known):
        return True
    return any(_divides(expr, each) for each in known)


def _divides(expr: Expr, product: Expr) -> bool:
    try:
        _, factors = factor_list(product)
    except BasePolynomialError:
        return False
    return any(is_zero(expr - each) or is_zero(expr + each) for each, _ in factors)
