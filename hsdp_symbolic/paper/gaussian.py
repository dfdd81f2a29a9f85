"""Gaussian laws, in which every inequality of the paper's analysis can be evaluated exactly.

Two Gaussians of equal variance v whose means differ by a attain the paper's inequalities. They show that nothing is
lost, and serve as witnesses for cited facts: a case in which a fact that is not proved here can be checked.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integral, Poly, cancel, exp, factorial2, oo, pi, sqrt

from ..symbols import a, alpha, theta, v


def normal_density(mean: Expr, var: Expr) -> Expr:
    """The density of N(mean, var) at θ."""
    return exp(-((theta - mean) ** 2) / (2 * var)) / sqrt(2 * pi * var)


def expectation(polynomial: Expr, mean: Expr, var: Expr) -> Expr:
    """E[polynomial(θ)] under N(mean, var), from E[(θ − mean)^2k] = (2k − 1)!!·var^k."""
    centred = Poly(polynomial.subs(theta, theta + mean), theta)
    return sum(
        coefficient * (factorial2(power - 1) * var ** (power // 2) if power % 2 == 0 else 0)
        for (power,), coefficient in centred.terms()
    )


@cache
def log_ratio() -> Expr:
    """log(μ/ν) for μ = N(a, v), ν = N(0, v): a polynomial in θ."""
    return (log_density(a) - log_density(0)).expand()


def log_density(mean: Expr) -> Expr:
    """log of the density of N(mean, v), up to the normalising constant both laws share."""
    return -((theta - mean) ** 2) / (2 * v)


@cache
def tilted_mean() -> Expr:
    """The law proportional to (μ/ν)^α·ν is N(α·a, v): this is its mean, read off the completed square."""
    exponent = Poly((alpha * log_ratio() + log_density(0)).expand(), theta)
    quadratic, linear = exponent.coeff_monomial(theta**2), exponent.coeff_monomial(theta)
    return cancel(-linear / (2 * quadratic))


@cache
def log_moment() -> Expr:
    """log E_ν[(μ/ν)^α], by completing the square: what is left of the exponent at its maximum."""
    exponent = (alpha * log_ratio() + log_density(0)).expand()
    return exponent.subs(theta, tilted_mean()).expand()


@cache
def renyi() -> Expr:
    """R_α(N(a, v) ‖ N(0, v)), from the definition."""
    return (log_moment() / (alpha - 1)).factor()


def moment_integral() -> Expr:
    """E_ν[(μ/ν)^α] as the unevaluated integral of its definition, for SymPy to do: an independent way to it."""
    return Integral(exp(alpha * log_ratio()) * normal_density(0, v), (theta, -oo, oo))
