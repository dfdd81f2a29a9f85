"""Log-Sobolev (LSI) constants along noisy mini-batch descent: `lem:LSIseq_convex`, `lem:LSIseq_stronglyconvex`.

The larger the constant c of a law, the more concentrated it is; 1/c is carried. Two facts are cited: how a Lipschitz
map and a Gaussian convolution change the constant. Everything else, the contraction factor of a gradient step included,
is derived.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..meaning import Asks, Neighbouring
from ..proof import kernel
from ..proof.facts.definitions import RUN, log_sobolev_constant, update_log_sobolev
from ..proof.facts.log_sobolev import lsi_convolution, lsi_point, lsi_push_forward
from ..proof.kernel import Theorem, apply
from ..proof.propositions import Descent, From, LogSobolev, LogSobolevConstant, Proposition
from ..proof.search import claimed, equal_bound, given, induct, short
from ..statement import Statement
from ..symbols import K, N, eta, i, j, k, lam, q, sigma2, start
from .descents import ANY, CONVEX_STEP, NOISE, STRONGLY_CONVEX, below_one, contraction, contracts, losses_assumed


def after_map(spread: Theorem, lipschitz: Theorem) -> Theorem:
    """1/c after the next update map."""
    return apply(lsi_push_forward, lipschitz, spread)


def after_noise(spread: Theorem, variance: Expr) -> Theorem:
    """1/c after independent noise."""
    return apply(lsi_convolution, spread, kernel.positive(variance))


def after_step(spread: Theorem, lipschitz: Theorem) -> Theorem:
    """1/c after the next step."""
    return apply(update_log_sobolev, after_noise(after_map(spread, lipschitz), NOISE))


def inverse_constant(factor: Expr, steps: Expr) -> Expr:
    """1/c after so many steps, each Lipschitz with this factor, from a point."""
    return NOISE * GeometricSum(factor**2, steps)


@cache
def spread(run: Descent, factor: Expr) -> Theorem:
    """1/c after i steps from step `start` on, from a point; `factor` is q or 1."""

    def claim(steps: Expr) -> Proposition:
        return LogSobolev(From(run, start, steps), inverse_constant(factor, steps))

    def step(so_far: Theorem) -> Theorem:
        found = after_step(so_far, contracts(run, factor))
        return equal_bound(found, inverse_constant(factor, i + 1), *([below_one()] if factor == q else []))

    point = apply(lsi_point, put={RUN: run, start: start})
    return kernel.named(induct(i, 0, claim, point, step), "1/c after i steps")


_INDICES = (k <= K - 1, j <= N - 1, k * N + j >= 1)
_STEPS = k * N + j


def _counted(factor: Expr) -> Theorem:
    """0 < 1/c, as there was at least one step."""
    return kernel.substitute(kernel.positive(inverse_constant(factor, K)), {K: _STEPS}, given(_INDICES[2]))


def _constant(factor: Expr, modulus: Expr) -> Theorem:
    """The constant after k epochs and j steps, for losses with this modulus of convexity."""
    here = kernel.substitute(spread(ANY, factor), {i: _STEPS, start: Integer(0)})
    found = apply(log_sobolev_constant, here, _counted(factor))
    rate = contraction(ANY, modulus)
    return kernel.cut(found, kernel.rewrite(rate, kernel.swap(short(q))) if factor == q else rate)


@cache
def lsi_convex() -> Statement:
    """`lem:LSIseq_convex`."""
    expr = 1 / inverse_constant(S.One, _STEPS)
    return Statement(
        label="lem:LSIseq_convex",
        kind="lemma",
        assumes=(Asks.CONVEX.words(Neighbouring.REPLACE_ONE), "the start is a fixed point"),
        title="LSI constants for convex smooth loss",
        where="Lemma D.2 (Appendix D.3)",
        says="LSI constant of the parameters after k epochs and j iterations, for convex β-smooth loss.",
        bounds="c_k^j",
        theorem=claimed(
            LogSobolevConstant(From(ANY, Integer(0), _STEPS), expr),
            (CONVEX_STEP, *_INDICES),
            losses_assumed(ANY, None, S.Zero),
            lambda: _constant(S.One, Integer(0)),
        ),
        hypotheses=(CONVEX_STEP, *_INDICES),
        shown=Over(1, Dot(times(2, eta, sigma2), Plus(k * N, j))),
        printed_with=lambda: [_counted(S.One)],
    )


@cache
def lsi_strongly_convex() -> Statement:
    """`lem:LSIseq_stronglyconvex`."""
    expr = 1 / inverse_constant(q, _STEPS)
    return Statement(
        label="lem:LSIseq_stronglyconvex",
        kind="lemma",
        assumes=(Asks.STRONGLY_CONVEX.words(Neighbouring.REPLACE_ONE), "the start is a fixed point"),
        title="LSI constants for strongly convex smooth loss",
        where="Lemma D.3 (Appendix D.3)",
        says="LSI constant of the parameters after k epochs and j iterations, for λ-strongly convex β-smooth loss.",
        bounds="c_k^j",
        theorem=claimed(
            LogSobolevConstant(From(ANY, Integer(0), _STEPS), expr),
            (*STRONGLY_CONVEX, *_INDICES),
            losses_assumed(ANY, None, lam),
            lambda: _constant(q, lam),
        ),
        hypotheses=(*STRONGLY_CONVEX, *_INDICES),
        shown=Dot(Over(1, times(2, eta, sigma2)), Over(1, GeometricSum(q**2, Plus(k * N, j)))),
        printed_with=lambda: [_counted(q)],
    )
