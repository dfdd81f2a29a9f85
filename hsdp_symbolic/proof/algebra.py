"""Normal forms: when two expressions agree. Trusted by the kernel.

One-sided: `True` is a proof wherever no divisor is 0, `False` means only that none was found.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sympy import Expr, cancel, expand, expand_power_exp, log, together
from sympy import exp as exponential
from sympy.core.function import AppliedUndef

from ..functions.interface import BoundFunction


def has_no_logarithm(node: Expr) -> bool:
    """Whether the closed form of a function holds for all values of its arguments: a logarithm may be of nothing."""
    return isinstance(node, BoundFunction) and not node.closed().has(log)


def is_zero(expr: Expr, closes: Callable[[Expr], bool] = has_no_logarithm) -> bool:
    """Whether `expr` vanishes for all values of its symbols within their ranges, wherever no divisor is 0.

    Functions for which `closes` says so are written in their closed form (geometric sums: x ≠ 1), powers with symbolic
    exponents are split (q^(2N−2m) into q^N and q^m), and the rest is a rational function in independent generators,
    which is zero exactly if its numerator is.
    """
    return bool(normal_form(expr, closes) == 0)


def close_sums(expr: Expr, closes: Callable[[Expr], bool] = has_no_logarithm) -> Expr:
    """`expr` with functions in their closed forms, or with arguments in normal form."""

    def is_closed(node: Expr) -> bool:
        return isinstance(node, BoundFunction) and node.is_closed_in_proofs and closes(node)

    while expr.has(BoundFunction):
        closed = expr.replace(is_closed, lambda node: node.closed())
        if closed == expr:
            break
        expr = closed
    return expr.replace(
        lambda node: isinstance(node, BoundFunction) and not is_closed(node), lambda node: _normalised(node, closes)
    )


def _normalised(node: BoundFunction, closes: Callable[[Expr], bool]) -> Expr:
    args = enumerate(node.args)
    return node.func(*(normal_form(x, closes) if place in node.normalised else x for place, x in args))


def _is_applied(expr: Expr) -> bool:
    """An unknown function of something other than its bare variables: its arguments have normal forms of their own."""
    return isinstance(expr, AppliedUndef) and not all(arg.is_Symbol for arg in expr.args)


def normal_form(expr: Expr, closes: Callable[[Expr], bool] = has_no_logarithm) -> Expr:
    """`expr` as a reduced fraction in independent generators."""
    return _reduced(close_sums(expr, closes))


@lru_cache(maxsize=4096)
def _reduced(expr: Expr) -> Expr:
    """A reduced fraction, functions being what they are."""
    expr = expr.replace(_is_applied, lambda f: f.func(*(cancel(together(arg)) for arg in f.args)))
    expr = expr.replace(log, lambda x: log(expand(x)).expand(force=False))
    expr = expand(expand_power_exp(expand(expr, power_base=True, mul=True)))
    expr = expr.replace(exponential, lambda x: exponential(cancel(x)))
    expr = expand_power_exp(expr)
    return cancel(together(expand_power_exp(together(expr))))
