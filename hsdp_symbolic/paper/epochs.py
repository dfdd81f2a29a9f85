"""Runs whose epochs use the record at most once, in whatever order: how many of their first steps use it."""

from __future__ import annotations

from functools import cache

from sympy import Expr, S

from ..proof import kernel
from ..proof.facts.epochs import no_use_yet, once_an_epoch, used_or_not
from ..proof.kernel import Theorem, apply, combine, loosen
from ..proof.propositions import AtMost, OnceAnEpoch, Proposition
from ..proof.search import induct
from ..symbols import N, count, epoch, i, k, steps, uses_before
from .descents import descent

ONCE_AN_EPOCH = descent(OnceAnEpoch(N))


def uses(steps_: Expr) -> Expr:
    """How many of the first steps use the record, if an epoch of N steps does so at most once."""
    return uses_before(N, steps_)


@cache
def uses_at_most() -> Theorem:
    """k epochs use the record at most k times."""

    def claim(epochs: Expr) -> Proposition:
        return AtMost(uses(N * epochs), epochs)

    def step(so_far: Theorem) -> Theorem:
        once = apply(once_an_epoch, put={count: N, epoch: k})
        return combine(uses(N * (k + 1)), k + 1, (S.One, once), (S.One, so_far))

    base = loosen(apply(no_use_yet, put={count: N}))
    return kernel.named(induct(k, 0, claim, base, step), "k epochs use the record at most k times")


@cache
def used_or_missed() -> Theorem:
    """Step i does not count, or counts once."""
    return apply(used_or_not, put={count: N, steps: i})
