"""Every iterate seen, batches drawn afresh: composition of sampled Gaussian mechanisms, as profiles and divergences.

`profile:composition:without_replacement`, `profile:composition:poisson` (a record added or removed),
`profile:composition:poisson_replace`, and the divergences `seen:without_replacement` and
`seen:poisson_replace` (for a record added or removed see `mironov2019`). They need neither convexity nor a
hidden state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr

from ..display import Dot, Over
from ..functions.interface import BoundFunction
from ..functions.poisson_profile import PoissonProfile
from ..functions.sampled_divergence import SampledDivergence
from ..functions.sampled_profile import SampledProfile
from ..meaning import ONE_DIVISOR, Neighbouring, Scheme
from ..paper.descents import NOISE, ORDER, descent
from ..paper.draws import CHANCE, shares
from ..paper.fixed_order import STEP_SQUARE
from ..proof import kernel
from ..proof.facts.definitions import RUN
from ..proof.facts.epochs import drawn_by_itself_each_time, drawn_each_time, sampled_each_time
from ..proof.facts.sampling import (
    MECHANISM,
    MECHANISMS,
    AddedAtRandom,
    Dominated,
    DominatedInTurn,
    EachDominated,
    LeftOutApart,
    UsedAtRandom,
    dominated_step,
    domination_composes,
    domination_in_turn,
    nothing_dominated,
    nothing_in_turn,
    poisson_profile,
    poisson_replacing,
    poisson_subsampling,
    sampled_divergence,
    sampled_profile,
    subsampling,
)
from ..proof.facts.secret import AnyApart
from ..proof.kernel import Fact, Theorem, apply, assume, cancel, rewrite, substitute
from ..proof.propositions import (
    Apart,
    DeltaAtMost,
    Descent,
    DrawnAfresh,
    EachByItself,
    Every,
    Proposition,
    Renyi,
    StepsIndependent,
)
from ..proof.search import claimed, given, induct, short
from ..statement import ON_A_GRID_TEXT, Statement
from ..symbols import S_g, T, alpha, b, epsilon, epsilon_1, eta, i, n, noise_1, rate, rho0, start, steps

REACH = eta * S_g / b
ENOUGH = b <= n
COST = 2 * rho0


@dataclass(frozen=True)
class Seen:
    """A way of drawing batches, what is assumed of the run, and what dominates one of its steps."""

    run: Descent
    assumed: tuple[Proposition, ...]
    step: Fact
    mechanism: UsedAtRandom | AddedAtRandom
    independent: Fact


DRAWN, POISSON = descent(DrawnAfresh(CHANCE)), Descent(EachByItself(CHANCE), NOISE, Neighbouring.ADD_REMOVE)
REPLACED = descent(EachByItself(CHANCE))
WITHOUT_REPLACEMENT = Seen(DRAWN, (AnyApart(DRAWN, REACH),), subsampling, UsedAtRandom(CHANCE, COST), drawn_each_time)
ADDED = Seen(POISSON, (Apart(POISSON, REACH),), poisson_subsampling, AddedAtRandom(CHANCE, COST), sampled_each_time)
REPLACING = Seen(
    REPLACED,
    (Apart(REPLACED, REACH), LeftOutApart(REPLACED, REACH)),
    poisson_replacing,
    UsedAtRandom(CHANCE, COST),
    drawn_by_itself_each_time,
)


@cache
def dominated(seen: Seen) -> Theorem:
    """All iterates of T steps are dominated by T mechanisms."""
    one = apply(seen.step, *map(assume, seen.assumed), shares()[1], kernel.positive(NOISE), put={start: i})
    one = rewrite(one, cancel(REACH**2 / NOISE, COST, by=[short(rho0)]))
    anew = apply(seen.independent, put={rate: CHANCE, noise_1: NOISE})

    def claim(steps: Expr) -> Proposition:
        return Dominated(Every(seen.run, steps), seen.mechanism, steps)

    nothing = apply(nothing_dominated, put={RUN: seen.run, MECHANISM: seen.mechanism})
    found = induct(i, 0, claim, nothing, lambda so_far: apply(domination_composes, anew, so_far, one))
    return substitute(kernel.named(found, "every iterate of i steps is dominated"), {i: T})


@cache
def steps_that_differ() -> Theorem:
    """All iterates of T steps are dominated by T mechanisms, one for each step, whatever these are."""

    def claim(steps: Expr) -> Proposition:
        return DominatedInTurn(Every(RUN, steps), MECHANISMS, steps)

    def step(so_far: Theorem) -> Theorem:
        one = apply(dominated_step, assume(EachDominated(RUN, MECHANISMS)), put={steps: i})
        return apply(domination_in_turn, assume(StepsIndependent(RUN)), so_far, one)

    found = induct(i, 0, claim, apply(nothing_in_turn), step)
    return substitute(kernel.named(found, "steps that differ, every iterate seen"), {i: T})


def _divided(seen: Seen) -> tuple[str, ...]:
    """Where batches differ in size, what their sums are divided by has to be said."""
    return (ONE_DIVISOR,) if seen.run.batches.scheme is Scheme.POISSON else ()  # type: ignore[union-attr]


def _profile(seen: Seen, label: str, title: str, says: str, node: type[BoundFunction], fact: Fact) -> Statement:
    relations = (ENOUGH,)
    return Statement(
        label=label,
        kind="baseline",
        title=title,
        where="Zhu, Dong & Wang 2022; not in the paper",
        says=says,
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(Every(seen.run, T), epsilon, node(CHANCE, COST, T, epsilon)),
            relations,
            seen.assumed,
            lambda: apply(fact, dominated(seen), put={epsilon_1: epsilon}),
        ),
        shown=node(Over(b, n), STEP_SQUARE, T, epsilon),
        hypotheses=relations,
        assumes=_divided(seen),
        rtol=ON_A_GRID_TEXT,
    )


@cache
def without_replacement() -> Statement:
    """`profile:composition:without_replacement`."""
    return _profile(
        WITHOUT_REPLACEMENT,
        "profile:composition:without_replacement",
        "Profile of all iterates, batches drawn without replacement",
        "δ at ε of releasing every iterate of T steps, each of which draws b of n records; one record is replaced.",
        SampledProfile,
        sampled_profile,
    )


@cache
def poisson() -> Statement:
    """`profile:composition:poisson`."""
    return _profile(
        ADDED,
        "profile:composition:poisson",
        "Profile of all iterates, Poisson sampling",
        "δ at ε of releasing every iterate of T steps of Poisson sampling at rate b/n; one record is added or removed.",
        PoissonProfile,
        poisson_profile,
    )


@cache
def poisson_replace() -> Statement:
    """`profile:composition:poisson_replace`."""
    return _profile(
        REPLACING,
        "profile:composition:poisson_replace",
        "Profile of all iterates, Poisson sampling, one record replaced",
        "δ at ε of releasing every iterate of T steps of Poisson sampling at rate b/n; one record is replaced.",
        SampledProfile,
        sampled_profile,
    )


def _divergence(seen: Seen, label: str, title: str, says: str) -> Statement:
    relations = (ORDER, ENOUGH)
    return Statement(
        label=label,
        kind="baseline",
        title=title,
        where="not in the paper",
        says=says,
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(Every(seen.run, T), alpha, T * SampledDivergence(CHANCE, COST, alpha)),
            relations,
            seen.assumed,
            lambda: apply(sampled_divergence, dominated(seen), given(ORDER)),
        ),
        shown=Dot(T, SampledDivergence(Over(b, n), STEP_SQUARE, alpha)),
        hypotheses=relations,
        assumes=_divided(seen),
    )


@cache
def divergence_without_replacement() -> Statement:
    """`seen:without_replacement`."""
    return _divergence(
        WITHOUT_REPLACEMENT,
        "seen:without_replacement",
        "Composition of sampled Gaussian mechanisms, one record replaced",
        "ε of releasing every iterate of T steps, each of which draws b of n records.",
    )


@cache
def divergence_poisson_replace() -> Statement:
    """`seen:poisson_replace`."""
    return _divergence(
        REPLACING,
        "seen:poisson_replace",
        "Composition of sampled Gaussian mechanisms, Poisson sampling, one record replaced",
        "ε of releasing every iterate of T steps of Poisson sampling at rate b/n.",
    )
