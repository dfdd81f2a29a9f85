"""Composition of sampled Gaussian mechanisms: every iterate is seen of a run whose batches are drawn afresh.

A step is dominated by a pair of laws if it is no easier to tell its two outcomes apart, at any level, than those; pairs
that dominate step by step dominate together (Zhu, Dong & Wang 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S

from ...functions.poisson_profile import PoissonProfile
from ...functions.sampled_divergence import SampledDivergence
from ...functions.sampled_profile import SampledProfile
from ...meaning import Neighbouring, Sensitivity
from ...symbols import cost_1, distance, epsilon_1, noise_1, order, rate, start, steps
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    DeltaAtMost,
    Descent,
    DrawnAfresh,
    EachByItself,
    Every,
    From,
    Less,
    Pair,
    Proposition,
    Renyi,
    StepsIndependent,
    Term,
)
from .definitions import PAIR, RUN
from .drift import DONG
from .secret import ZHU, AnyApart

MECHANISM = Anything("M")


@dataclass(frozen=True)
class UsedAtRandom(Term):
    """C_p(G(√cost)): a Gaussian mechanism whose record, one being replaced, is used with chance p."""

    rate: Expr
    cost: Expr
    words = "a Gaussian of μ² = {cost}, its record used with chance {rate}"


@dataclass(frozen=True)
class AddedAtRandom(Term):
    """(1 − p)·N(0, 1) + p·N(√cost, 1) against N(0, 1), in either direction: a record is there or not."""

    rate: Expr
    cost: Expr
    words = "a Gaussian of μ² = {cost}, its record there with chance {rate} or not at all"


@dataclass(frozen=True)
class Dominated(Proposition):
    """Telling the laws apart is no easier than telling the outcomes of `count` independent `mechanism`s apart."""

    pair: Pair | Anything
    mechanism: Term
    count: Expr
    words = "dominated by {count} times {mechanism}: {pair}"


MECHANISMS = Anything("M")
"""A sequence of mechanisms, each with a rate and a cost of its own."""


@dataclass(frozen=True)
class DominatedInTurn(Proposition):
    """Telling the laws apart is no easier than telling the outcomes of the first `count` of independent mechanisms."""

    pair: Pair | Anything
    mechanisms: Term | Anything
    count: Expr
    words = "dominated by the first {count} of {mechanisms}: {pair}"


@dataclass(frozen=True)
class EachDominated(Proposition):
    """Every step t by itself, from whichever point, is dominated by the t-th of these mechanisms."""

    descent: Descent | Anything
    mechanisms: Term | Anything
    assumable = True
    words = "each step is dominated by one of {mechanisms}, in their order"


@dataclass(frozen=True)
class DominatedAt(Proposition):
    """Step `time` by itself is dominated by the mechanism of that number."""

    descent: Descent | Anything
    mechanisms: Term | Anything
    time: Expr
    words = "step {time} is dominated by its own of {mechanisms}"


@dataclass(frozen=True)
class LeftOutApart(Proposition):
    """At every point, to leave any one record out of a batch changes its update map by at most `distance`.

    Sums over a batch are divided by one number, whatever its size.
    """

    descent: Descent | Anything
    distance: Expr
    assumable = True
    sensitivity = Sensitivity.LEFT_OUT
    words = "to leave any record out of a batch changes its update map by at most {distance}"


_DRAWN = Descent(DrawnAfresh(rate), noise_1)
_POISSON = Descent(EachByItself(rate), noise_1, Neighbouring.ADD_REMOVE)
_REPLACED = Descent(EachByItself(rate), noise_1)
_CHANCE = AtMost(rate, S.One)

nothing_dominated = Fact(
    "nothing_dominated", "", (), Dominated(Every(RUN, Integer(0)), MECHANISM, Integer(0)), "no iterate is seen yet"
)
subsampling = Fact(
    "subsampling",
    DONG,
    (AnyApart(_DRAWN, distance), _CHANCE, Less(S.Zero, noise_1)),
    Dominated(From(_DRAWN, start, Integer(1)), UsedAtRandom(rate, distance**2 / noise_1), Integer(1)),
    "a batch is S and i if the record i is drawn, else S and another record j: given S and j, a Gaussian mechanism "
    "whose record is used with chance p (also Balle, Barthe & Gaboardi 2018: advanced joint convexity)",
)
poisson_subsampling = Fact(
    "poisson_subsampling",
    ZHU,
    (Apart(_POISSON, distance), _CHANCE, Less(S.Zero, noise_1)),
    Dominated(From(_POISSON, start, Integer(1)), AddedAtRandom(rate, distance**2 / noise_1), Integer(1)),
    "given all other draws, N(x, vI) against the mixture of it, with weight 1 − p, and of one at most `distance` away",
)
poisson_replacing = Fact(
    "poisson_replacing",
    DONG,
    (Apart(_REPLACED, distance), LeftOutApart(_REPLACED, distance), _CHANCE, Less(S.Zero, noise_1)),
    Dominated(From(_REPLACED, start, Integer(1)), UsedAtRandom(rate, distance**2 / noise_1), Integer(1)),
    "given all other draws, the record is used with chance p, on either dataset at most `distance` from not using it",
)
domination_composes = Fact(
    "domination_composes",
    ZHU,
    (
        StepsIndependent(RUN),
        Dominated(Every(RUN, steps), MECHANISM, steps),
        Dominated(From(RUN, steps, Integer(1)), MECHANISM, Integer(1)),
    ),
    Dominated(Every(RUN, steps + 1), MECHANISM, steps + 1),
    "each step is dominated from whichever point, given all iterates before it",
)
nothing_in_turn = Fact(
    "nothing_in_turn",
    "",
    (),
    DominatedInTurn(Every(RUN, Integer(0)), MECHANISMS, Integer(0)),
    "no iterate is seen yet",
)
dominated_step = Fact(
    "dominated_step",
    "",
    (EachDominated(RUN, MECHANISMS),),
    DominatedAt(RUN, MECHANISMS, steps),
    "what holds for every step holds for one",
)
domination_in_turn = Fact(
    "domination_in_turn",
    ZHU,
    (
        StepsIndependent(RUN),
        DominatedInTurn(Every(RUN, steps), MECHANISMS, steps),
        DominatedAt(RUN, MECHANISMS, steps),
    ),
    DominatedInTurn(Every(RUN, steps + 1), MECHANISMS, steps + 1),
    "each step is dominated from whichever point, given all iterates before it; mechanisms need not be alike",
)
sampled_profile = Fact(
    "sampled_profile",
    "",
    (Dominated(PAIR, UsedAtRandom(rate, cost_1), steps),),
    DeltaAtMost(PAIR, epsilon_1, SampledProfile(rate, cost_1, steps, epsilon_1)),
    "that is what the function is: the larger of both directions, which are equal, for so many mechanisms",
)
poisson_profile = Fact(
    "poisson_profile",
    "",
    (Dominated(PAIR, AddedAtRandom(rate, cost_1), steps),),
    DeltaAtMost(PAIR, epsilon_1, PoissonProfile(rate, cost_1, steps, epsilon_1)),
    "that is what the function is: the larger of both directions, for so many mechanisms",
)
sampled_divergence = Fact(
    "sampled_divergence",
    "",
    (Dominated(PAIR, UsedAtRandom(rate, cost_1), steps), Less(S.One, order)),
    Renyi(PAIR, order, steps * SampledDivergence(rate, cost_1, order)),
    "that is what the function is, for one of them; divergences of independent mechanisms add up, and are no larger "
    "where it is no easier to tell apart",
)
