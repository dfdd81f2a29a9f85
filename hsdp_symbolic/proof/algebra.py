"""Decision procedures for derivations: when is an expression zero, when is it manifestly nonnegative.

Both are one-sided: `True` is a proof, `False` means only that this procedure found none.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Poly, PolynomialError, S, Symbol, cancel, expand, expand_power_exp, fraction, log, together
from sympy import exp as exponential
from sympy.core.function import AppliedUndef

from ..functions.interface import BoundFunction


def is_zero(expr: Expr) -> bool:
    """Whether `expr` vanishes for all values of its symbols within their assumptions.

    Geometric sums are closed, powers with symbolic exponents are split (q^(2N−2m) into q^N and q^m), and
    the rest is a rational function in independent generators, which is zero exactly if its numerator is.
    """
    return bool(normal_form(expr) == 0)


def close_sums(expr: Expr) -> Expr:
    """`expr` with functions in their closed forms (geometric sums: x ≠ 1), or with arguments in normal form."""
    while expr.has(BoundFunction):
        closed = expr.replace(_is_closed, lambda node: node.closed())
        if closed == expr:
            break
        expr = closed
    return expr.replace(lambda node: isinstance(node, BoundFunction), _normalised)


def _is_closed(node: Expr) -> bool:
    return isinstance(node, BoundFunction) and node.is_closed_in_proofs


def _normalised(node: BoundFunction) -> Expr:
    return node.func(*(normal_form(x) if place in node.normalised else x for place, x in enumerate(node.args)))


def _is_applied(expr: Expr) -> bool:
    """An unknown function of something other than its bare variables: its arguments have normal forms of their own."""
    return isinstance(expr, AppliedUndef) and not all(arg.is_Symbol for arg in expr.args)


def normal_form(expr: Expr) -> Expr:
    """`expr` as a reduced fraction in independent generators."""
    expr = close_sums(expr).replace(_is_applied, lambda f: f.func(*(cancel(together(arg)) for arg in f.args)))
    expr = expr.replace(log, lambda x: log(expand(x)).expand(force=False))
    expr = expand(expand_power_exp(expand(expr, power_base=True, mul=True)))
    expr = expr.replace(exponential, lambda x: exponential(cancel(x)))
    expr = expand_power_exp(expr)
    return cancel(together(expand_power_exp(together(expr))))


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
