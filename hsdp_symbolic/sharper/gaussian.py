"""Gaussian differential privacy of runs with known batches: `gdp:cyclic`, `gdp:convex`, `gdp:gd` and composition.

What the drifted copy of `shifts` and `descent` costs is a Gaussian trade-off before it is a Rényi divergence:
μ² = 2ρ·Σa². Nothing is lost on the way to (ε, δ), which is exact wherever the quadratic loss attains μ². For full
batches this is due to Bok, Su & Altschuler (2024).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..paper.composition import ENOUGH
from ..paper.descents import (
    BATCH,
    CONVEX_STEP,
    EPOCHS,
    FIXED_ORDER,
    FULL_BATCH,
    NOISE,
    STRONGLY_CONVEX,
    apart,
    below_one,
    by_contraction,
    contraction,
    losses_assumed,
)
from ..paper.epochs import ONCE_AN_EPOCH, used_or_missed, uses, uses_at_most
from ..paper.fixed_order import STEP_SQUARE, remaining_positive
from ..proof import kernel
from ..proof.facts.definitions import RUN
from ..proof.facts.epochs import not_counted
from ..proof.facts.profiles import gaussian_composition, gaussian_step, gaussian_step_unused, nothing_seen_gaussian
from ..proof.kernel import Theorem, apply, assume, combine, cut, rewrite, substitute, swap, weaken
from ..proof.propositions import Apart, Descent, Equal, Every, From, Gaussian, Proposition
from ..proof.search import claimed, equal_bound, induct, short
from ..statement import Statement
from ..symbols import K, N, S_g, b, count, eta, i, j0, k, n, noise_1, q, rho0, rho_n, sigma, start, steps
from .cycle import units
from .descent import descent_met, descent_spent
from .pattern import WHERE
from .shifts import convex_steered, cyclic_steered, least_spent, some_left, spent_shown

FULL_BATCH_SQUARE = Over(times(eta, S_g**2), times(2, sigma**2, n**2))
SQUARE = r"\mu^2"


@cache
def cyclic() -> Statement:
    """`gdp:cyclic`."""
    relations = (EPOCHS, *STRONGLY_CONVEX, BATCH)
    shown, where = spent_shown(N - j0, STEP_SQUARE)
    return Statement(
        label="gdp:cyclic",
        title="Gaussian differential privacy, fixed order",
        where=WHERE,
        says="μ² of Gaussian differential privacy after K epochs over a fixed sequence of batches, for data in batch "
        "j0, by the best shifts; exactly tight for the first batch.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(FIXED_ORDER, Integer(0), K * N), 2 * rho0 * least_spent()),
            relations,
            by_contraction(FIXED_ORDER),
            lambda: units(q).gaussian(cyclic_steered()),
        ),
        shown=shown,
        printed_with=lambda: [some_left()],
        also=where,
        hypotheses=relations,
    )


@cache
def convex() -> Statement:
    """`gdp:convex`."""
    relations = (EPOCHS, CONVEX_STEP, BATCH)
    expr = 2 * rho0 * ((K - 1) / N + 1 / (N - j0))

    def prove() -> Theorem:
        found = equal_bound(units(S.One).gaussian(convex_steered()), expr, remaining_positive())
        return cut(found, contraction(FIXED_ORDER, Integer(0)))

    return Statement(
        label="gdp:convex",
        title="Gaussian differential privacy, fixed order, convex loss",
        where=WHERE,
        says="μ² of Gaussian differential privacy after K epochs over a fixed sequence of batches, for data in batch "
        "j0, without strong convexity.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(FIXED_ORDER, Integer(0), K * N), expr),
            relations,
            losses_assumed(FIXED_ORDER, b, S.Zero),
            prove,
        ),
        shown=Dot(STEP_SQUARE, Plus(Over(K - 1, N), Over(1, N - j0))),
        printed_with=lambda: [remaining_positive()],
        hypotheses=relations,
    )


@cache
def full_batch() -> Statement:
    """`gdp:gd`."""
    relations = (EPOCHS, *STRONGLY_CONVEX)
    expr = 2 * rho_n * descent_spent()
    return Statement(
        label="gdp:gd",
        title="Gaussian differential privacy, full batch",
        where="Bok, Su & Altschuler 2024; not in the paper",
        says="μ² of Gaussian differential privacy after K steps on the full batch: exactly tight.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(FULL_BATCH, Integer(0), K), expr),
            relations,
            by_contraction(FULL_BATCH, n),
            lambda: equal_bound(descent_met(), expr, below_one()),
        ),
        shown=Dot(FULL_BATCH_SQUARE, Over(times(1 + q, GeometricSum(q, K)), 1 + q**K)),
        printed_with=lambda: [below_one()],
        hypotheses=relations,
    )


# --- Every iterate seen ---------------------------------------------------------------------------------------------


def _used(run: Descent, size: Expr, rho: Expr) -> Theorem:
    """A step that uses the record costs μ² = 2ρ."""
    found = apply(gaussian_step, apart(run, size), kernel.positive(NOISE), put={start: i})
    return equal_bound(found, 2 * rho, by=[short(rho)])


@cache
def uses_seen() -> Theorem:
    """Every iterate of i steps costs 2ρ₀ for every use of the record."""
    run = ONCE_AN_EPOCH

    def claim(steps_: Expr) -> Proposition:
        return Gaussian(Every(run, steps_), 2 * rho0 * uses(steps_))

    def missed(so_far: Theorem) -> Theorem:
        same = assume(Equal(uses(i + 1), uses(i)))
        unused = apply(not_counted, same, put={count: N, steps: i})
        here = apply(gaussian_step_unused, unused, put={noise_1: NOISE})
        return rewrite(apply(gaussian_composition, so_far, here), swap(same))

    def hit(so_far: Theorem) -> Theorem:
        one_more = assume(Equal(uses(i + 1), uses(i) + 1))
        found = apply(gaussian_composition, so_far, _used(run, b, rho0))
        return rewrite(equal_bound(found, 2 * rho0 * (uses(i) + 1)), swap(one_more))

    def step(so_far: Theorem) -> Theorem:
        return kernel.each_case(used_or_missed(), missed(so_far), hit(so_far))

    at_start = weaken(apply(nothing_seen_gaussian, put={RUN: run}), kernel.positive(claim(Integer(0)).value))
    return kernel.named(induct(i, 0, claim, at_start, step), "every iterate, by the number of uses")


@cache
def each_once() -> Statement:
    """`gdp:composition:fixed`."""
    relations = (EPOCHS, ENOUGH)
    expr = 2 * rho0 * K

    def prove() -> Theorem:
        counted = substitute(uses_seen(), {i: K * N})
        return weaken(counted, combine(counted.proposition.value, expr, (2 * rho0, substitute(uses_at_most(), {k: K}))))

    return Statement(
        label="gdp:composition:fixed",
        kind="baseline",
        title="Gaussian differential privacy of all iterates, each record once an epoch",
        where="Dong, Roth & Su 2022; not in the paper",
        says="μ² of releasing every iterate of K epochs, in whatever order batches come.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(Every(ONCE_AN_EPOCH, K * N), expr), relations, (Apart(ONCE_AN_EPOCH, eta * S_g / b),), prove
        ),
        shown=Dot(K, STEP_SQUARE),
        hypotheses=relations,
        assumes=("an epoch uses a record at most once, in any order",),
    )


@cache
def all_at_once() -> Statement:
    """`gdp:composition:full_batch`."""
    relations = (EPOCHS,)

    def claim(steps_: Expr) -> Proposition:
        return Gaussian(Every(FULL_BATCH, steps_), 2 * rho_n * steps_)

    def step(so_far: Theorem) -> Theorem:
        found = apply(gaussian_composition, so_far, _used(FULL_BATCH, n, rho_n))
        return equal_bound(found, 2 * rho_n * (i + 1))

    def prove() -> Theorem:
        found = induct(i, 0, claim, apply(nothing_seen_gaussian, put={RUN: FULL_BATCH}), step)
        return substitute(kernel.named(found, "every iterate of i steps"), {i: K})

    return Statement(
        label="gdp:composition:full_batch",
        kind="baseline",
        title="Gaussian differential privacy of all iterates on the full batch",
        where="Dong, Roth & Su 2022; not in the paper",
        says="μ² of releasing every iterate of K steps on the full batch.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(Every(FULL_BATCH, K), 2 * rho_n * K), relations, (Apart(FULL_BATCH, eta * S_g / n),), prove
        ),
        shown=Dot(K, FULL_BATCH_SQUARE),
        hypotheses=relations,
    )
