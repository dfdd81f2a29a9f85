"""Two Gaussians on a line, N(m, w₁ + s) and N(0, w₂ + s), while noise of variance s is added: integrals are numbers.

With w₁ ≠ w₂ nothing is attained by chance; with w₁ = w₂ the inequalities are attained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import mpmath
from mpmath import fprod, fsum, inf, mpf, mpmathify, quad
from sympy import Add, Expr, Float, Integer, Lambda, Mul, Pow, Rational, Symbol, exp, log, pi, sqrt
from sympy.core.function import UndefinedFunction

from ...symbols import (
    a,
    alpha,
    cost_1,
    cost_2,
    inverse,
    noise_2,
    order,
    p_at,
    p_prime_at,
    ratio_at,
    renyi_at,
    s,
    tau,
    theta,
)
from ..facts.diffusion import (
    Densities,
    differentiated_by_noise,
    differentiated_by_order,
    green_first,
    green_second,
    heat_first,
    heat_second,
    kl_below_fisher,
    noise_smooths,
    through_densities,
)
from ..facts.renyi import noise_processing
from ..integrals import Integrated
from ..kernel import Fact
from ..propositions import AtMost, Equal, Proposition
from . import Witness, witness

TOLERANCE = Rational(1, 10**9)
_EXAMPLES = ((Integer(1), Integer(1), Integer(2)), (Rational(3, 2), Integer(1), Integer(1)))
"""m, w₁, w₂."""


def _normal(mean: Expr, variance: Expr) -> Expr:
    return exp(-((theta - mean) ** 2) / (2 * variance)) / sqrt(2 * pi * variance)


def _renyi(mean: Expr, first: Expr, second: Expr) -> Expr:
    """R_a of N(mean, first) from N(0, second): van Erven & Harremoës 2014."""
    between = (1 - a) * first + a * second
    return a * mean**2 / (2 * between) + log(between / (first ** (1 - a) * second**a)) / (2 * (1 - a))


def _laws(mean: Expr, first: Expr, second: Expr) -> dict[UndefinedFunction, Lambda]:
    return {
        p_at: Lambda((theta, s), _normal(mean, first + s)),
        p_prime_at: Lambda((theta, s), _normal(Integer(0), second + s)),
        renyi_at: Lambda((a, s), _renyi(mean, first + s, second + s)),
    }


def _number(expr: Expr, laws: Mapping[UndefinedFunction, Lambda], at: Mapping[Symbol, Expr]) -> Expr:
    """The value of an expression of facts for these laws, its integrals done by quadrature."""
    for function, law in laws.items():
        expr = expr.replace(function, law)
    expr = expr.doit().subs(at)

    def integrated(node: Integrated) -> Expr:
        return Float(quad(_of_one(node.integrand, node.variable), [-inf, -3, 0, 3, inf]))

    return expr.replace(lambda node: isinstance(node, Integrated), integrated).evalf()


def _of_one(expr: Expr, variable: Symbol) -> Callable[[mpf], mpf]:
    """An expression in one letter as a function of mpmath's numbers."""
    if not expr.has(variable):
        constant = mpmathify(expr.evalf())
        return lambda _: constant
    if expr == variable:
        return lambda x: x
    parts = [_of_one(each, variable) for each in expr.args]
    combine = _COMBINED[expr.func]
    return lambda x: combine(*(part(x) for part in parts))


_COMBINED = {
    Add: lambda *terms: fsum(terms),
    Mul: lambda *factors: fprod(factors),
    Pow: lambda base, exponent: base**exponent,
    exp: mpmath.exp,
    log: mpmath.log,
}


def _holds(found: Proposition, laws: Mapping[UndefinedFunction, Lambda], at: Mapping[Symbol, Expr]) -> bool:
    """Whether an equation or inequality holds, up to rounding."""
    if not isinstance(found, Equal | AtMost):
        raise TypeError(f"{found} compares no numbers")
    left, right = _number(found.left, laws, at), _number(found.right, laws, at)
    slack = TOLERANCE * (1 + abs(right))
    return bool(left <= right + slack and (isinstance(found, AtMost) or left >= right - slack))


def _identity(fact: Fact) -> Iterator[bool]:
    for example in _EXAMPLES:
        at = {alpha: Rational(5, 2), order: Rational(3, 2), tau: Rational(1, 2)}
        yield _holds(fact.conclusion, _laws(*example), at)


for _fact in (differentiated_by_order, differentiated_by_noise, heat_first, heat_second, green_first, green_second):
    _registered: Witness = witness(_fact)(_identity)


@witness(kl_below_fisher)
def _kl_below_fisher(fact: Fact) -> Iterator[bool]:
    """ρ = N(2, w) against N(0, 1), log-Sobolev with constant 1: attained for w = 1."""
    for variance in (Integer(1), Rational(1, 2)):
        laws = _laws(Integer(1), Integer(1), Rational(1, 2))
        laws[ratio_at] = Lambda(theta, _normal(Integer(2), variance) / _normal(Integer(0), Integer(1)))
        yield _holds(fact.conclusion, laws, {inverse: Integer(1), tau: Rational(1, 2)})


@witness(noise_smooths)
def _noise_smooths(fact: Fact) -> Iterator[bool]:
    """What are said to be the densities and the divergence fit together: ∫ p^a·p'^(1−a) = e^((a−1)R_a)."""
    found = fact.conclusion
    if not isinstance(found, Densities):
        raise TypeError(f"{found} speaks of no densities")
    for example in _EXAMPLES:
        first, second = found.first(theta), found.second(theta)
        moment = Integrated(first**alpha * second ** (1 - alpha), theta)
        equation = Equal(moment, exp((alpha - 1) * found.divergence(alpha)))
        yield _holds(equation, _laws(*example), {alpha: Rational(5, 2), tau: Rational(1, 2)})


@witness(through_densities)
def _through_densities(fact: Fact) -> Iterator[bool]:
    """N(m, w + v) from N(0, w + v): R_a = a·m²/(2(w + v)), which the bound on R, as it stands, gives back."""
    for mean, variance, noise in ((2, 1, 1), (3, 2, 5)):
        cost = Rational(mean**2, 2 * (variance + noise))
        yield bool(cost <= fact.conclusion.value.subs({cost_2: cost, noise_2: noise}))


@witness(noise_processing)
def _noise_processing(fact: Fact) -> Iterator[bool]:
    """N(m, w) from N(0, w): noise of variance v takes R_a/a from m²/(2w) to m²/(2(w + v))."""
    for mean, variance, noise in ((2, 1, Rational(1, 10)), (3, 2, Rational(1, 7))):
        before, after = mean**2 / (2 * Integer(variance)), mean**2 / (2 * (variance + noise))
        yield bool(after <= fact.conclusion.value.subs({cost_1: before, noise_2: noise}))
