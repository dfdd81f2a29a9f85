"""Mutants: small wrong versions of an expression, for the negative control of every check."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Integer, Mul, Pow, Symbol

from .algebra import is_zero


def mutations(expr: Expr, limit: int = 12) -> Iterator[tuple[str, Expr]]:
    """Up to `limit` genuinely different variants of `expr`, each with a word on what was done to it.

    Wrong exponent, dropped term, flipped sign, dropped factor, shifted index; a variant that equals the
    original (dropping a zero, shifting an index nothing depends on) is not a mutant and is left out.
    """
    seen: set[Expr] = {expr}
    produced = 0
    for what, variant in _variants(expr):
        if produced == limit:
            return
        if variant in seen:
            continue
        seen.add(variant)
        if not is_zero(variant - expr):
            produced += 1
            yield what, variant


def _variants(expr: Expr) -> Iterator[tuple[str, Expr]]:
    yield "doubled", 2 * expr
    for symbol in sorted(expr.atoms(Symbol), key=str):
        if symbol.is_integer:
            yield f"index {symbol} shifted", expr.subs(symbol, symbol + 1)
    yield from _local(expr)


def _local(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """Variants that change one node of the tree."""
    if isinstance(expr, Add):
        for term in expr.args:
            yield f"term {term} dropped", expr - term
            yield f"sign of {term} flipped", expr - 2 * term
    elif isinstance(expr, Mul):
        for factor in expr.args:
            if not factor.is_number:
                yield f"factor {factor} dropped", expr / factor
    elif isinstance(expr, Pow) and not expr.exp.is_negative:
        yield f"exponent of {expr} raised", expr.base ** (expr.exp + 1)
    elif isinstance(expr, Integer) and expr > 1:
        yield f"{expr} read as {expr + 1}", expr + 1
    for position, arg in enumerate(expr.args):
        if isinstance(arg, Expr):
            for what, changed in _local(arg):
                args = [*expr.args[:position], changed, *expr.args[position + 1 :]]
                yield what, expr.func(*args)
