"""Plain composition, which adds up what every iterate costs, for every way of making batches.

It needs neither convexity nor a hidden state (iterates that nobody sees).

Neighbouring datasets differ in one record, replaced, as in the paper; for Poisson sampling with a record added or
removed see `mironov2019`.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, binomial, exp, log

from ..display import Dot, Over, Plus, times
from ..functions.log_mix import LogMix
from ..meaning import COMPOSITION, Quantity
from ..proof.checks import Identity, Induction
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    R1,
    R2,
    K,
    N,
    S_g,
    Y,
    a,
    a2,
    alpha,
    b,
    eta,
    i,
    n,
    rate,
    rho0,
    rho_n,
    sigma,
    sigma2,
    v,
    w1,
)
from . import gaussian
from .fixed_order import EPOCHS, MIRONOV, ORDER, STEP_COST
from .shuffle import joint_convexity


def _one_use(d: Derivation, size: Expr, cost: Expr) -> Expr:
    """αρ: what one update costs whose batch, of the given size, holds the record (a Gaussian mechanism)."""
    return d.identity(
        "One update with the record: means at most ηS_g/size apart, noise of variance 2ησ².",
        gaussian.renyi().subs({a: eta * S_g / size, v: 2 * eta * sigma2}, simultaneous=True),
        alpha * ABBREVIATIONS[cost],
    )


def _composed(d: Derivation, one: Expr, count: Expr) -> Expr:
    """Rényi composition of `count` updates that cost `one` each."""
    product = gaussian.renyi().subs(a**2, a**2 + a2**2)
    d.cite(
        "Costs of successive updates add up, each given the iterates before it (witness: independent Gaussian shifts).",
        MIRONOV,
        Identity(gaussian.renyi() + gaussian.renyi().subs(a, a2), product),
    )
    d.check("So i of them cost i times one.", Induction(i * one, i, 0, Integer(0), Y, Y + one, cross_check=True))
    return count * one


@cache
def each_once() -> Statement:
    """Composition where every record is used at most once an epoch."""
    d = Derivation()
    _one_use(d, b, rho0)
    expr = _composed(d, alpha * rho0, K)
    return Statement(
        label="composition:fixed",
        kind="baseline",
        title="Composition of Gaussian mechanisms, each record once an epoch",
        where="not in the paper",
        says="ε of releasing every iterate of K epochs, in whatever order batches come.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, Dot(K, STEP_COST)),
        hypotheses=(ORDER, EPOCHS, b <= n),
        steps=d.steps,
        terms=COMPOSITION,
        assumes=("an epoch uses a record at most once, in any order",),
    )


@cache
def full_batch() -> Statement:
    """Composition where every update uses all records."""
    d = Derivation()
    _one_use(d, n, rho_n)
    expr = _composed(d, alpha * rho_n, K)
    return Statement(
        label="composition:full_batch",
        kind="baseline",
        title="Composition of Gaussian mechanisms on the full batch",
        where="not in the paper",
        says="ε of releasing every iterate of K steps on the full batch.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, Dot(K, Over(times(alpha, eta, S_g**2), times(4, sigma**2, n**2)))),
        hypotheses=(ORDER, EPOCHS),
        steps=d.steps,
        terms=COMPOSITION,
    )


@cache
def sampled() -> Statement:
    """Composition where every batch is drawn afresh and holds the record with probability b/n."""
    d = Derivation()
    _one_use(d, b, rho0)
    cost = alpha * (alpha - 1) * rho0
    d.identity(
        "One batch of b out of n, drawn without replacement, holds the record with probability b/n "
        "(by Poisson sampling: by definition).",
        binomial(n - 1, b - 1) / binomial(n, b),
        b / n,
    )
    mixed = joint_convexity().expr.subs({w1: rate, R1: alpha * rho0, R2: 0}, simultaneous=True)
    one = d.identity(
        "Batches with and without the record, mixed (lem:rootconvexity1).", mixed, LogMix(rate, cost, 0) / (alpha - 1)
    ).subs(rate, b / n)
    expr = _composed(d, one, K * N)
    moment = Plus(
        1, -Over(b, n), Dot(Over(b, n), exp(Over(times(alpha - 1, alpha, eta, S_g**2), times(4, sigma**2, b**2))))
    )
    return Statement(
        label="composition:without_replacement",
        kind="baseline",
        title="Composition of sampled Gaussian mechanisms, one record replaced",
        where="not in the paper",
        says="ε of releasing every iterate of K epochs of n/b batches, each drawn afresh.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=Dot(Over(times(K, N), alpha - 1), log(moment)),
        hypotheses=(ORDER, EPOCHS, b <= n),
        steps=d.steps,
        uses=("lem:rootconvexity1",),
        terms=COMPOSITION,
        assumes=("batches are drawn without replacement, or by Poisson sampling of rate b/n",),
    )
