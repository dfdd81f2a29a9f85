"""Monotonicity proved from the structure of an expression, for all parameters at once.

Each node has a rule (a sum of increasing terms increases, a geometric sum increases in base and length, …); where no
rule applies the answer is "unknown", never a guess. Three rules rest on cited facts: the mean of e^(sx), to the power
1/s, increases with s (Jensen); the Rényi divergence of two laws increases with its order (van Erven & Harremoës 2014,
Theorem 3), and it does not increase under a channel (there, Theorem 9): more noise, rarer sampling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from math import prod

from sympy import Add, Expr, Ge, Integer, Le, Mul, Piecewise, Pow, Symbol, cancel, exp, floor, log, sqrt
from sympy.core.relational import Relational

from ..functions.accumulated import Accumulated
from ..functions.capped_moment import CappedMoment
from ..functions.compounded import Compounded
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.expm1 import Expm1
from ..functions.geometric import GeometricSum
from ..functions.hit_moment import HitMoment
from ..functions.log_mean_exp import LogMeanExp
from ..functions.log_mix import LogMix
from ..functions.sampled_gaussian import SampledGaussian
from ..functions.shift_control import ShiftControl
from ..symbols import (
    ABBREVIATIONS,
    CONTRACTIONS,
    K,
    N,
    alpha,
    b,
    eta,
    excess,
    extra_epochs,
    j,
    j0,
    k,
    lam,
    m,
    n,
    p,
    q,
    q_half,
    rate,
    rest,
    sigma,
    sigma2,
    slack,
    split,
    w1,
    with_costs_spelled,
)
from .algebra import is_zero
from .checks import ALL_PARAMETERS, Check, Evidence, Method, Verdict


class Trend(IntEnum):
    """How an expression responds to a symbol; `UP` and `DOWN` are not strict."""

    DOWN = -1
    FLAT = 0
    UP = 1


_ORTHANT = {alpha: 1 + excess, K: 1 + extra_epochs}
"""α > 1 and K ≥ 1, mapped so that the signs of α − 1 and K − 1 can be seen."""
_WEIGHTS = {n: b + slack, w1: 1 / (1 + p), rate: 1 / (1 + p)}
"""b < n and w₁ < 1 likewise, for the weights of mixtures only (with weight 1 the other part is simply absent)."""
_HALVES = {N: m + rest}
"""n/b as its two halves, both of which grow with it."""
_POSITIVE = {(count.subs(_HALVES)) for count in (N - j0, N - j0 - 1, N - m, N - split, N - 1, N * k + j)} | {1 - rate}
"""What hypotheses (or the branch of a case distinction) keep positive wherever it divides."""


@cache
def trend(expr: Expr, symbol: Symbol, atoms: frozenset[Symbol] = frozenset()) -> Trend | None:
    """How `expr` responds to `symbol` wherever α > 1, K ≥ 1, b ≤ n and 0 < q < 1; None where the rules do not tell.

    Abbreviations among the `atoms` are independent of the letters they abbreviate.

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

    def of(self, expr: Expr) -> Trend | None:
        if not self.depends(expr):
            return Trend.FLAT
        if expr == self._symbol:
            return Trend.UP
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
            case exp() | Expm1() | log() | floor():
                return self.of(expr.args[0])
            case GeometricSum():
                return self.joint(expr.args) if _sign(expr.args[0]) > 0 else None
            case LogMix():
                weight, x, y = expr.args
                return self._mixture(weight, [x, y], [weight, 1 - weight])
            case LogMeanExp():
                body, index, count = expr.args
                if self.depends(count) and trend(body, index) is not Trend.DOWN:
                    return None  # only where the terms fall with the index does their mean fall with the count
                return _agree([self.of(body), _flip(self.of(count))])
            case SampledGaussian():
                return self.joint(expr.args)
            case ShiftControl():
                return self._control(expr)
            case HitMoment() | CappedMoment():  # more hits, or later misses that forget less, only add to the sum
                return self.joint(expr.args)
            case CyclicShifts():
                contraction, spacing, hits, after = map(self.of, expr.args)  # as the derivation of shift:cyclic proves
                return _agree([contraction, _flip(spacing), hits, _flip(after)])
            case Accumulated():
                increment, _, count, *_ = expr.args  # the map increases with the state, and the state with the count
                return self.joint([increment, count])
            case Compounded():
                factor, _, cost, count, _ = expr.args
                return self.joint([factor, cost, count])
            case Piecewise():
                values, conditions = zip(*expr.args, strict=True)
                return None if any(map(self.depends, conditions)) else self.joint(values)
        return None

    def joint(self, parts: Iterable[Expr]) -> Trend | None:
        return _agree(map(self.of, parts))

    def _product(self, product: Expr) -> Trend | None:
        """Each factor, of known sign, pulls its way; a mean or recursion divided by the order is taken as one."""
        factors = list(product.args)
        pulls: list[tuple[int, Trend | None]] = []
        if self._symbol == excess and 1 / excess in factors:
            for node in factors:
                if isinstance(
                    node, (LogMeanExp, LogMix, SampledGaussian, ShiftControl, HitMoment, CappedMoment, Accumulated)
                ):
                    factors = [factor for factor in factors if factor not in (node, 1 / excess)]
                    pulls.append((_sign(node), self._per_order(node)))
                    break
        pulls += [(_sign(factor), self.of(factor)) for factor in factors]
        signs = [sign for sign, _ in pulls]
        if 0 in signs:  # allowed for the only factor that varies
            varying = [(sign, pull) for sign, pull in pulls if pull is not Trend.FLAT]
            if len(varying) != 1 or signs.count(0) > 1 or varying[0][0] != 0:
                return None
            signs.remove(0)
            return varying[0][1] if prod(signs) > 0 else _flip(varying[0][1])
        joint = _agree(pull if sign > 0 else _flip(pull) for sign, pull in pulls)
        return joint if prod(signs) > 0 else _flip(joint)

    def _rewritten(self, product: Expr) -> Trend | None:
        """Two occurrences of x made one: x/(a + bx) is 1/(a/x + b), and (e^y − 1)/x is (e^y − 1)/y times y/x."""
        x, factors = self._symbol, product.args
        for factor in factors:
            others = Mul(*(f for f in factors if f not in (factor, x, 1 / x)))
            if x in factors and isinstance(factor, Pow) and factor.exp == -1 and isinstance(factor.base, Add):
                return self.of(Mul(others, 1 / Add(*(term / x for term in factor.base.args))))
            if 1 / x in factors and isinstance(factor, LogMix):
                found = self._concave(factor, x)
                sign = -_sign(others)  # the mixture is negative
                pulls = [_flip(found), self.of(others) if _sign(others) > 0 else _flip(self.of(others))]
                return None if found is None or not sign else _agree(pulls) if sign > 0 else _flip(_agree(pulls))
            if 1 / x in factors and isinstance(factor, Expm1) and not self.depends(slope := factor.args[0] / x):
                sign = _sign(slope) * _sign(others)  # (e^y − 1)/y is positive and increases with y
                pulls = [self.of(factor.args[0]), self.of(others) if _sign(others) > 0 else _flip(self.of(others))]
                return None if sign == 0 else _agree(pulls) if sign > 0 else _flip(_agree(pulls))
        return None

    def _power(self, base: Expr, exponent: Expr) -> Trend | None:
        if _sign(base) <= 0:
            return None
        pulls: list[Trend | None] = []
        if self.depends(base):
            here = _sign(exponent)
            pulls.append(None if here == 0 else self.of(base) if here > 0 else _flip(self.of(base)))
        if self.depends(exponent):  # only where the base is known to lie between 0 and 1
            pulls.append(_flip(self.of(exponent)) if base in CONTRACTIONS else None)
        return _agree(pulls)

    def _mixture(self, weight: Expr, exponents: list[Expr], weights: list[Expr]) -> Trend | None:
        """log(w·e^x + (1−w)·e^y): up with an exponent of positive weight, up with w itself if x ≥ 0 ≥ y."""
        pulls: list[Trend | None] = []
        if self.depends(weight):
            pulls.append(self.of(weight) if _sign(exponents[0]) > 0 and _sign(-exponents[1]) > 0 else None)
        for exponent, own in zip(exponents, weights, strict=True):
            here = _sign(cancel(own.subs(_WEIGHTS)))
            if here == 0 and self.depends(exponent):
                return None
            pulls.append(self.of(exponent) if here >= 0 else _flip(self.of(exponent)))
        return _agree(pulls)

    def _control(self, node: Expr) -> Trend | None:
        """Up with cost, contraction and length (`sharper.control` proves it) and with the rate of independent draws."""
        cost, contraction, rate, batches, epochs = node.args
        if batches != 1 and (self.depends(rate) or self.depends(batches)):
            return None  # in a permutation, a record used early is a record not used late
        return self.joint([cost, contraction, rate, epochs])

    def _concave(self, node: Expr, s: Expr) -> Trend | None:
        """The trend of log(1 − |w|(e^x − 1))/s: concave in x and 0 at 0, so it falls with x where x/s does not."""
        weight, x, y = node.args
        if self.depends(weight) or y != 0 or _sign(x) <= 0 or _sign(cancel(weight.subs(_WEIGHTS))) >= 0:
            return None
        return _flip(_agree([self.of(x), self.of(cancel(with_costs_spelled(x) / s))]))

    def _per_order(self, node: Expr) -> Trend | None:
        """The trend in s = α − 1 of node/s."""
        match node:
            case LogMeanExp():
                body, _, count = node.args
                return _agree([Trend.UP, self.of(cancel(body / excess)), _flip(self.of(count))])
            case LogMix():
                weight, *exponents = node.args
                if self.depends(weight):
                    return None
                slopes = [self.of(cancel(exponent / excess)) for exponent in exponents]
                share = [_sign(cancel(each.subs(_WEIGHTS))) for each in (weight, 1 - weight)]
                if share == [1, 1]:
                    return _agree([Trend.UP, *slopes])
                return self._concave(node, excess)
            case SampledGaussian():
                share, rho, order = node.args
                return self.joint([order, share, rho]) if order == 1 + excess else None
            case HitMoment() | CappedMoment():  # a mean of e^(cX) to the power 1/c, or a recursion of such means
                return _agree([self.joint(node.args), self.of(cancel(node.args[0] / excess))])
            case ShiftControl():
                cost = node.args[0]  # for each policy the mean of e^(cX), to the power 1/c, increases with c
                return _agree([self._control(node), self.of(cancel(cost / excess))])
            case Accumulated():
                increment, state, count, *_ = node.args  # in the state divided by s
                return self.joint([increment.subs(state, excess * state) / excess, count])
        return None


def _sign(expr: Expr) -> int:
    """1 for nonnegative, −1 for nonpositive, 0 for unknown."""
    match expr:
        case LogMix():
            weight, x, y = expr.args
            own = _sign(cancel(weight.subs(_WEIGHTS)))
            if y == 0 and x.is_nonnegative:
                return own
            return 1 if x.is_nonnegative and y.is_nonnegative and own > 0 else 0
        case (
            LogMeanExp()
            | Accumulated()
            | Compounded()
            | SampledGaussian()
            | CyclicShifts()
            | ShiftControl()
            | HitMoment()
            | CappedMoment()
        ):
            return 1  # by what their derivations prove of them
        case Expm1():
            return _sign(expr.args[0])
        case GeometricSum():
            return max(0, _sign(expr.args[0]))
        case Pow():
            return max(0, _sign(expr.base))
        case Mul():
            return prod(map(_sign, expr.args))
        case Piecewise():
            return _common(value for value, _ in expr.args)
        case Add() if expr.primitive()[1] in _POSITIVE or _is_missing_power(expr):
            return 1
        case Add():
            return _common(expr.args) or (1 if expr.is_nonnegative else -1 if expr.is_nonpositive else 0)
    return 1 if expr.is_nonnegative else -1 if expr.is_nonpositive else 0


def _is_missing_power(expr: Add) -> bool:
    """1 − q^e for a contraction q and e ≥ 0."""
    rest = 1 - expr
    return isinstance(rest, Pow) and rest.base in CONTRACTIONS and _sign(rest.exp) > 0


def absorbed(expr: Expr) -> Expr:
    """`expr` with sums Σ_(s<k) x^s written as (1 − x^k)/(1 − x), for x a power of q, where that makes factors η cancel.

    For a small step and many terms, η times such a sum hardly depends on η; the closed form shows it.
    """
    if isinstance(expr, Add):
        return Add(*map(absorbed, expr.args))
    spelled = with_costs_spelled(expr)
    closed = spelled.replace(GeometricSum, _over_step)
    return closed if closed != spelled and eta not in closed.free_symbols else expr


def _over_step(x: Expr, k: Expr) -> Expr:
    """Σ_(s<k) x^s with 1 − x = ηλ·(1 + q + …) in front, if x is a positive power of q or of q_half."""
    base, power = (x.base, x.exp) if isinstance(x, Pow) else (x, Integer(1))
    if base not in (q, q_half) or _sign(power.subs(_HALVES)) <= 0:
        return GeometricSum(x, k)
    return (1 - x**k) / (eta * (lam if base == q else lam / 2) * GeometricSum(base, power))


def _common(parts: Iterable[Expr]) -> int:
    """The sign all parts share; 0 if they do not."""
    found = set(map(_sign, parts))
    return found.pop() if len(found) == 1 else 0


def _flip(here: Trend | None) -> Trend | None:
    return None if here is None else Trend(-here)


def _agree(trends: Iterable[Trend | None]) -> Trend | None:
    """The common direction of all that are not flat; None if they pull apart or one is unknown."""
    found = set(trends) - {Trend.FLAT}
    if len(found) > 1:
        return None
    return found.pop() if found else Trend.FLAT


@dataclass(frozen=True)
class Monotone(Check):
    """`expr` never falls (or never rises) as `symbol` grows, for all parameters."""

    expr: Expr
    symbol: Symbol
    direction: Trend

    def verify(self) -> Evidence:
        found = trend(self.expr, self.symbol)
        if found is self.direction:
            return Evidence(
                Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, f"rule by rule: {found.name} in {self.symbol}"
            )
        detail = "no rule tells" if found is None else f"rule by rule it is {found.name}"
        return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, detail)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        yield "the other direction", replace(self, direction=Trend(-self.direction))
        yield "the reciprocal", replace(self, expr=1 / self.expr)
        yield "times a power of the symbol", replace(self, expr=self.expr * self.symbol ** (-100 * self.direction))

    def formula(self) -> Relational:
        before, after = self.expr, self.expr.subs(self.symbol, self.symbol + slack)
        return Le(before, after, evaluate=False) if self.direction is Trend.UP else Ge(before, after, evaluate=False)


@dataclass(frozen=True)
class LargestTerm(Check):
    """The mean of e^body, as a logarithm, is at most `value`: the body at index 1, because it falls with the index."""

    mean: LogMeanExp
    value: Expr

    def verify(self) -> Evidence:
        body, index, _ = self.mean.args
        if trend(body, index) is not Trend.DOWN:
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "no rule says that the body falls")
        if not is_zero(body.subs(index, 1) - self.value):
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "that is not the first term")
        return Evidence(
            Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, "the exponent falls with the index, rule by rule"
        )

    def mutants(self) -> Iterator[tuple[str, Check]]:
        body, index, count = self.mean.args
        yield "half the value", replace(self, value=self.value / 2)
        yield "the second term", replace(self, value=body.subs(index, 2))
        yield "a rising body", replace(self, mean=LogMeanExp(1 / body, index, count), value=1 / self.value)

    def formula(self) -> Relational:
        return Le(self.mean, self.value, evaluate=False)
