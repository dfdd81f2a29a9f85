"""Iterates that are projected onto a convex set, after their noise: what holds of the run without it holds of it.

Bounds by drift and by secret hits ask three things of an update map: a Lipschitz constant, how far its two versions are
apart, how far those of any two records. A projection before it makes none of these larger. The last iterate is
projected after all that is bounded here, which can only hide more.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..proof import kernel
from ..proof.facts.projected import (
    PLAIN,
    AfterProjection,
    projected_any_apart,
    projected_apart,
    projected_lipschitz,
    projected_up_to,
)
from ..proof.facts.secret import AnyApart
from ..proof.kernel import Theorem, apply, assume
from ..proof.propositions import Apart, Lipschitz, LipschitzUpTo
from . import expanding, gaussian, profiles, reshuffled, secret

_FACTS = {
    Lipschitz: projected_lipschitz,
    LipschitzUpTo: projected_up_to,
    Apart: projected_apart,
    AnyApart: projected_any_apart,
}


def if_projected(theorem: Theorem) -> Theorem:
    """The same of a run that is projected: what was assumed of its updates is assumed of those without projection."""
    found = []
    for each in theorem.hypotheses:
        fact = _FACTS.get(type(each))
        if fact is not None:
            projected = assume(AfterProjection(each.descent, PLAIN))  # type: ignore[attr-defined]
            plain = assume(replace(each, descent=PLAIN))  # type: ignore[call-arg]
            found.append(apply(fact, projected, plain))
    return kernel.named(kernel.cut(theorem, *found), "iterates that are projected")


@cache
def projected_cyclic() -> Theorem:
    """`gdp:cyclic` where iterates are projected: so too whatever asks for a Lipschitz constant and a sensitivity."""
    return if_projected(gaussian.cyclic().theorem)


@cache
def projected_expanding() -> Theorem:
    """`gdp:expanding` where iterates are projected."""
    return if_projected(expanding.fixed().theorem)


@cache
def projected_shuffled() -> Theorem:
    """`profile:shuffle` where iterates are projected."""
    return if_projected(profiles.shuffled().theorem)


@cache
def projected_reshuffled() -> Theorem:
    """`profile:reshuffle` where iterates are projected."""
    return if_projected(reshuffled.reshuffle().theorem)


@cache
def projected_drawn() -> Theorem:
    """`profile:without_replacement` where iterates are projected."""
    return if_projected(secret.without_replacement().theorem)


@cache
def projected_poisson() -> Theorem:
    """`profile:poisson` where iterates are projected."""
    return if_projected(secret.poisson().theorem)
