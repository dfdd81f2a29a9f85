"""Directions, read off the structure of an expression and off what its functions say of themselves.

Each node has a rule (a sum of increasing terms increases, a positive power of a contraction decreases, …), each
function of the bounds its own (`functions.interface.BoundFunction.trend`); where no rule applies the answer is
"unknown", never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import prod

from sympy import Add, Expr, Mul, Piecewise, Pow, Symbol, exp, floor, log, sqrt

from ..functions.interface import BoundFunction, Trend, agree, flip
from ..symbols import (
    ABBREVIATIONS,
    CONTRACTIONS,
    K,
    K_minus_1,
    N,
    alpha,
    alpha_minus_1,
    eta,
    j,
    j0,
    k,
    m,
    m_rest,
    rate,
    sigma,
    sigma2,
    split,
    with_costs_spelled,
)

_ORTHANT = {alpha: 1 + alpha_minus_1, K: 1 + K_minus_1}
"""α > 1 and K ≥ 1, mapped so that the signs of α − 1 and K − 1 can be seen."""
_HALVES = {N: m + m_rest}
"""n/b as its two halves, both of which grow with it."""
PRESUMED_POSITIVE = (N - j0, N - j0 - 1, N - m, N - split, N - 1, N * k + j, 1 - rate)
"""What hypotheses (or the branch of a case distinction) keep positive wherever it divides."""
_POSITIVE = {count.subs(_HALVES) for count in PRESUMED_POSITIVE}


@cache
def trend(expr: Expr, symbol: Symbol, atoms: frozenset[Symbol] = frozenset()) -> Trend | None:
    """How `expr` responds to `symbol` wherever α > 1, K ≥ 1, b ≤ n and 0 < q < 1; None where the rules do not tell.

    Abbreviations among the `atoms` are taken as letters of their own, independent of those they abbreviate.

    >>> from hsdp_symbolic.symbols import sigma2, eta, rho0
    >>> trend(rho0, sigma2).name, trend(rho0, eta).name
    ('DOWN', 'UP')
    """
    (carrier,) = _ORTHANT.get(symbol, symbol).free_symbols
    return _Rules(carrier, atoms).of(expr.subs({**_ORTHANT, **_HALVES, sigma: sqrt(sigma2)}, simultaneous=True))


class _Rules:
    """The rules for one symbol."""

    def __init__(self, symbol: Symbol, atoms: frozenset[Symbol]) -> None:
        self._carriers = {symbol}
        for name, meaning in ABBREVIATIONS.items():  # in an order in which each uses only earlier ones, and σ
            if name != symbol and name not in atoms and self.depends(meaning):
                self._carriers.add(name)
        self._symbol = symbol

    def depends(self, expr: Expr) -> bool:
        return not self._carriers.isdisjoint(expr.free_symbols)

    def sign(self, expr: Expr) -> int:
        return sign(expr)

    def along(self, expr: Expr, symbol: Symbol) -> Trend | None:
        return trend(expr, symbol)

    def of(self, expr: Expr) -> Trend | None:
        if not self.depends(expr):
            return Trend.FLAT
        if expr == self._symbol:
            return Trend.UP
        if isinstance(expr, BoundFunction):
            return expr.trend(self)
        match expr:
            case Symbol():
                return self.of(ABBREVIATIONS[expr])
            case Add():
                return self.joint(expr.args)
            case Mul():
                found = self._product(expr)
                return self._rewritten(expr) if found is None else found
            case Pow():
                return self._power(*expr.args)
            case exp() | log() | floor():
                return self.of(expr.args[0])
            case Piecewise():
                values, conditions = zip(*expr.args, strict=True)
                return None if any(map(self.depends, conditions)) else self.joint(values)
        return None

    def joint(self, parts: Iterable[Expr]) -> Trend | None:
        return agree(map(self.of, parts))

    def size(self, expr: Expr) -> Trend | None:
        """The direction of |expr|, for an expression of known sign."""
        return self.of(expr) if sign(expr) > 0 else flip(self.of(expr))

    def _product(self, product: Expr) -> Trend | None:
        """Each factor, of known sign, pulls its way; a mean or recursion divided by α − 1 is taken as one factor."""
        factors = list(product.args)
        pulls: list[tuple[int, Trend | None]] = []
        if self._symbol == alpha_minus_1 and 1 / alpha_minus_1 in factors:
            for node in factors:
                if isinstance(node, BoundFunction) and type(node).per_order is not BoundFunction.per_order:
                    factors = [factor for factor in factors if factor not in (node, 1 / alpha_minus_1)]
                    pulls.append((sign(node), node.per_order(self)))
                    break
        pulls += [(sign(factor), self.of(factor)) for factor in factors]
        signs = [each for each, _ in pulls]
        if 0 in signs:  # allowed for the only factor that varies
            varying = [(each, pull) for each, pull in pulls if pull is not Trend.FLAT]
            if len(varying) != 1 or signs.count(0) > 1 or varying[0][0] != 0:
                return None
            signs.remove(0)
            return varying[0][1] if prod(signs) > 0 else flip(varying[0][1])
        joint = agree(pull if each > 0 else flip(pull) for each, pull in pulls)
        return joint if prod(signs) > 0 else flip(joint)

    def _rewritten(self, product: Expr) -> Trend | None:
        """Two occurrences of x made one: x/(a + bx) is 1/(a/x + b), and f(x)/x is known for some functions f."""
        x, factors = self._symbol, product.args
        for factor in factors:
            others = Mul(*(f for f in factors if f not in (factor, x, 1 / x)))
            if x in factors and isinstance(factor, Pow) and factor.exp == -1 and isinstance(factor.base, Add):
                return self.of(Mul(others, 1 / Add(*(term / x for term in factor.base.args))))
            known = factor.divided_by(x, self) if 1 / x in factors and isinstance(factor, BoundFunction) else None
            if known is not None:
                own, size = known
                joint = agree([size, self.size(others)])
                both = own * sign(others)
                return None if both == 0 else joint if both > 0 else flip(joint)
        return None

    def _power(self, base: Expr, exponent: Expr) -> Trend | None:
        if sign(base) <= 0:
            return None
        pulls: list[Trend | None] = []
        if self.depends(base):
            here = sign(exponent)
            pulls.append(None if here == 0 else self.of(base) if here > 0 else flip(self.of(base)))
        if self.depends(exponent):  # only where the base is known to lie between 0 and 1
            pulls.append(flip(self.of(exponent)) if base in CONTRACTIONS else None)
        return agree(pulls)


def sign(expr: Expr) -> int:
    """1 for nonnegative, −1 for nonpositive, 0 for unknown."""
    if isinstance(expr, BoundFunction):
        return expr.sign(sign)
    match expr:
        case Pow():
            return max(0, sign(expr.base))
        case Mul():
            return prod(map(sign, expr.args))
        case Piecewise():
            return _common(value for value, _ in expr.args)
        case Add() if expr.primitive()[1] in _POSITIVE or _is_missing_power(expr):
            return 1
        case Add():
            return _common(expr.args) or (1 if expr.is_nonnegative else -1 if expr.is_nonpositive else 0)
    return 1 if expr.is_nonnegative else -1 if expr.is_nonpositive else 0


def _common(parts: Iterable[Expr]) -> int:
    """The sign all parts share; 0 if they do not."""
    found = set(map(sign, parts))
    return found.pop() if len(found) == 1 else 0


def _is_missing_power(expr: Add) -> bool:
    """1 − q^e for a contraction q and e ≥ 0."""
    power = 1 - expr
    return isinstance(power, Pow) and power.base in CONTRACTIONS and sign(power.exp) > 0


def absorbed(expr: Expr) -> Expr:
    """`expr` with functions rewritten, as (1 − x^k)/(1 − x) for a geometric sum, where that makes factors η cancel.

    For a small step and many terms, η times such a sum hardly depends on η; the closed form shows it.
    """
    if isinstance(expr, Add):
        return Add(*map(absorbed, expr.args))
    spelled = with_costs_spelled(expr)
    closed = spelled.replace(
        lambda node: isinstance(node, BoundFunction),
        lambda node: node.with_step_in_front(lambda power: sign(power.subs(_HALVES))),
    )
    return closed if closed != spelled and eta not in closed.free_symbols else expr
