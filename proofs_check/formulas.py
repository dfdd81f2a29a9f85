"""What one update does to a bound, read off the statements and facts: what claims compare printed lines with."""

from __future__ import annotations

from sympy import Expr, Symbol

from hsdp_symbolic import statement
from hsdp_symbolic.paper import gaussian
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.facts.log_sobolev import lsi_convolution, lsi_push_forward
from hsdp_symbolic.proof.kernel import Theorem
from hsdp_symbolic.proof.propositions import Equal
from hsdp_symbolic.symbols import L, S_g, a, alpha, c, eta, factor, hit, inverse, noise_2, sigma2, u, v


def supposed(symbol: Symbol, value: Expr) -> Theorem:
    """symbol = value, as a hypothesis: for claims about letters that are given a value."""
    return kernel.assume(Equal(symbol, value))


def noisy_step(inverse_c: Expr, lipschitz: Expr, time: Expr) -> Expr:
    """1/c after a Lipschitz map and Gaussian noise of variance 2·time·σ²."""
    mapped = lsi_push_forward.conclusion.value.subs({factor: lipschitz, inverse: inverse_c}, simultaneous=True)
    return lsi_convolution.conclusion.value.subs({inverse: mapped, noise_2: 2 * time * sigma2}, simultaneous=True)


def after_shared(before: Expr, constant: Expr, lipschitz: Expr) -> Expr:
    """u after an update without the record (lem:recursive), c being this constant before it."""
    kept = statement("lem:recursive").expr.subs(hit, 0)
    return kept.subs({u: before, c: constant, L: lipschitz}, simultaneous=True)


def after_use(before: Expr) -> Expr:
    """u after an update with the record (lem:recursive)."""
    return statement("lem:recursive").expr.subs(hit, 1).subs(u, before)


def mechanism(size: Expr, variance: Expr = 2 * eta * sigma2) -> Expr:
    """R_α over α of one update with the record, from a point, from its definition: Gaussians ηS_g/size apart."""
    return gaussian_divergence(eta * S_g / size, variance) / alpha


def gaussian_divergence(shift: Expr, variance: Expr) -> Expr:
    """R_α of two Gaussians of this variance, so far apart, from its definition: log of the moment over α − 1."""
    return gaussian.log_moment().subs({a: shift, v: variance}, simultaneous=True) / (alpha - 1)
