"""What one step does to two runs, and a few steps in a row: the lemmas that bounds on whole runs are made of.

A bound is carried as u with R_a ≤ a·u for *every* order a > 1: the change of order in lem:recursive is then harmless,
and the ε of a theorem is α·u.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr

from ..functions.geometric import GeometricSum
from ..proof import kernel
from ..proof.facts.definitions import RUN, same_start, update_per_order
from ..proof.facts.renyi import composition, composition_within, data_processing, gaussian_mechanism
from ..proof.kernel import Theorem, apply, assume
from ..proof.propositions import Descent, From, PerOrder, Unused
from ..proof.search import equal_bound, use
from ..symbols import i, q, start, u
from .descents import NOISE, apart, below_one, contracts
from .lsi import after_map, spread
from .postprocessing import noise_shrinks


def from_the_start(run: Descent, at: Expr) -> Theorem:
    """Both runs start at one point: u = 0."""
    return apply(same_start, put={RUN: run, start: at})


@cache
def first_use(run: Descent, size: Expr, variance: Expr) -> Theorem:
    """A map that uses the record, from a point, then noise of this variance: u = (ηS_g/size)²/(2·variance)."""
    return apply(gaussian_mechanism, apart(run, size), kernel.positive(variance), put={start: start})


@cache
def used(run: Descent, size: Expr, cost: Expr, definition: Theorem) -> Theorem:
    """A step that uses the record, from a point: u = cost, which is short for (ηS_g/size)²/(4ησ²)."""
    found = apply(update_per_order, first_use(run, size, NOISE))
    return equal_bound(found, cost, by=[definition])


def after_use(before: Theorem, one: Theorem) -> Theorem:
    """u + cost, after a step that uses the record; `one` is what it costs from a point."""
    at = before.proposition.pair.step  # type: ignore[attr-defined]
    return apply(composition, before, kernel.substitute(one, {start: at}))


def after_partial_use(before: Theorem, one: Theorem) -> Theorem:
    """u + cost, after a map that uses the record and part of the noise; `one` is what that costs from a point."""
    at = before.proposition.pair.step  # type: ignore[attr-defined]
    return apply(composition_within, before, kernel.substitute(one, {start: at}))


def after_shared(before: Theorem, unused: Theorem, spread_here: Theorem, lipschitz: Theorem) -> Theorem:
    """u·L²V/(L²V + v), after a step that does not use the record; V is 1/c before it."""
    moved = apply(data_processing, unused, before)
    spread_moved = after_map(spread_here, lipschitz)
    V = spread_moved.proposition.value
    lemma = use(noise_shrinks(), moved, spread_moved, kernel.positive(NOISE), kernel.positive(V))
    return apply(update_per_order, lemma)


@cache
def shared(run: Descent, factor: Expr) -> Theorem:
    """A step that does not use the record, i steps after a point: u ↦ u·L²V_i/V_(i+1), V_i = v·Σ_(s<i) L^(2s)."""
    before = assume(PerOrder(From(run, start, i), u))
    unused = assume(Unused(run.batches, start + i))
    found = after_shared(before, unused, spread(run, factor), contracts(run, factor))
    ratio = factor**2 * GeometricSum(factor**2, i) / GeometricSum(factor**2, i + 1)
    return kernel.named(equal_bound(found, u * ratio, *_apart_from_one(factor)), "a step without the record")


@cache
def shared_at_most(run: Descent) -> Theorem:
    """A step that does not use the record: u ↦ at most q²u, whatever came before."""
    exact = shared(run, q)
    more = q**2 * u * q ** (2 * i) / GeometricSum(q**2, i + 1)
    comparison = kernel.combine(exact.proposition.value, q**2 * u, (more,), nonzero=[below_one()])
    return kernel.named(kernel.weaken(exact, comparison), "a step without the record, at most")


def _apart_from_one(factor: Expr) -> list[Theorem]:
    return [below_one()] if factor == q else []
