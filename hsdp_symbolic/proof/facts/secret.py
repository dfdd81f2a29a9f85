"""Secret hits: a drifted copy of a run whose batches are drawn afresh, when nobody is told which steps used the record.

The last steps of a run keep their draws secret. In each of them the copy follows the first run's own map, whatever was
drawn, and drifts by a portion of its distance. Of the noise a share hides whether the record was drawn: that part is
released first, and costs what a sampled Gaussian costs, as the draw is independent of all that came before; the rest
hides the drift, which may depend on the draw. Released in the other order the draw would no longer be independent of
what was seen: so there is no rule for that order (`release_drift` leads to `AfterHit`, and only `release_hit` leads
on). Earlier steps tell their draws, and the copy does not drift in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S, binomial, exp

from ...functions.binomial_tail import BinomialTail
from ...functions.noise_share import NoiseShare
from ...functions.poisson_window_divergence import PoissonWindowDivergence
from ...functions.poisson_window_profile import PoissonWindowProfile
from ...functions.window_divergence import WindowDivergence
from ...functions.window_profile import WindowProfile
from ...meaning import Neighbouring, Sensitivity
from ...symbols import (
    cost_1,
    cost_2,
    distance,
    drifted,
    epsilon_1,
    factor,
    most_1,
    noise_1,
    order,
    portion,
    rate,
    records,
    share_1,
    size,
    steps,
    told,
    window_1,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    DeltaAtMost,
    Descent,
    DrawnAfresh,
    EachByItself,
    Equal,
    From,
    Less,
    Lipschitz,
    LipschitzUpTo,
    Mixed,
    Moment,
    Pair,
    Proposition,
    StepsIndependent,
    Term,
)
from .definitions import RUN
from .drift import DONG

ZHU = "Zhu, Dong & Wang 2022"


@dataclass(frozen=True)
class AnyApart(Proposition):
    """At every point, to exchange one record of a batch for any other changes its update map by at most `distance`.

    Any two records of either dataset, not only the two in which the datasets differ.
    """

    descent: Descent | Anything
    distance: Expr
    assumable = True
    sensitivity = Sensitivity.ANY_TWO
    words = "to exchange one record of a batch for any other changes its update map by at most {distance}"


@dataclass(frozen=True)
class Records(Proposition):
    """Neither dataset has more than so many records."""

    descent: Descent | Anything
    count: Expr
    assumable = True
    words = "neither dataset has more than {count} records"


@dataclass(frozen=True)
class Sampled(Term):
    """For the i-th step from the end C_rate(G(√(cost/f_i))), f_i being the `NoiseShare` of a window.

    C_p(G) is what the Gaussian mechanism becomes if its record is used with chance p, one record being replaced.
    """

    rate: Expr
    cost: Expr
    share: Expr
    factor: Expr
    window: Expr
    words = "Gaussians of μ² = {cost}, sampled at rate {rate}, with shares min(1, {share}·{factor}^(−i)) of the noise"


@dataclass(frozen=True)
class SampledByItself(Term):
    """The same for Poisson sampling and a record added or removed: (1 − p)·N(0, 1) + p·N(μ, 1) against N(0, 1)."""

    rate: Expr
    cost: Expr
    share: Expr
    factor: Expr
    window: Expr
    words = "Gaussians of μ² = {cost}, Poisson-sampled at rate {rate}, with shares min(1, {share}·{factor}^(−i))"


@dataclass(frozen=True)
class WillMeet(Proposition):
    """With `steps` steps left, whose draws stay secret, a copy meets the first run at the end, from any distance z.

    Then whoever sees the transcript of these steps tells it from the second run's no better than one who sees
    `mechanisms`, one for each step, and N(0, 1) or N(μ, 1) besides, μ² = coefficient·z². All this unless a batch has
    more than `most` records: then nothing is said.
    """

    descent: Descent | Anything
    steps: Expr
    mechanisms: Term
    most: Expr
    coefficient: Expr
    value_at = "coefficient"
    words = "with {steps} secret updates left a copy z away meets the run, for μ² ≤ {coefficient}·z² and {mechanisms}"


@dataclass(frozen=True)
class AfterHit(Proposition):
    """The same, once the part of the first of these steps that hides its draw has been released."""

    descent: Descent | Anything
    steps: Expr
    mechanisms: Term
    most: Expr
    coefficient: Expr
    value_at = "coefficient"
    words = (
        "with {steps} secret updates left, the first one's draw hidden already, a copy at distance z meets the run, "
        "for μ² ≤ {coefficient}·z² and {mechanisms} of later steps"
    )


@dataclass(frozen=True)
class Onward(Pair):
    """The laws at the end of a run that a copy within `away`, at no cost so far, has before it.

    First `told` steps, in which the draws are told and the copy does not drift, then `window` steps that keep them
    secret. Nothing is said of what happens if a batch has more than `most` records.
    """

    descent: Descent | Anything
    away: Expr
    told: Expr
    window: Expr
    most: Expr
    words = "what is to come of a copy {away} away, {told} updates told and {window} secret"


_DRAWN = Descent(DrawnAfresh(rate), noise_1)
_POISSON = Descent(EachByItself(rate), noise_1, Neighbouring.ADD_REMOVE)
_PARTS = Sampled(rate, distance**2 / noise_1, share_1, factor, window_1)
_POISSON_PARTS = SampledByItself(rate, distance**2 / noise_1, share_1, factor, window_1)
_LEFT = 1 - NoiseShare(share_1, factor, window_1, steps)
"""The share of the noise that a drift has, in the step before `steps` others."""

any_size = Fact(
    "any_size",
    "",
    (Lipschitz(RUN, factor),),
    LipschitzUpTo(RUN, factor, most_1),
    "every update map means: of whatever batch",
)


def _release_last(name: str, run: Descent, parts: Sampled | SampledByItself) -> Fact:
    return Fact(
        name,
        DONG,
        (
            LipschitzUpTo(run, factor, most_1),
            AtMost(S.Zero, factor),
            Less(S.Zero, noise_1),
            AtMost(factor**2, cost_2 * (1 - NoiseShare(share_1, factor, window_1, S.Zero)) * noise_1),
        ),
        AfterHit(run, S.One, parts, most_1, cost_2),
        "in the last step the copy drifts all the way: one map for both, whatever was drawn, so at most L·z, and what "
        "noise is left hides that",
    )


def _release_drift(name: str, run: Descent, parts: Sampled | SampledByItself) -> Fact:
    return Fact(
        name,
        DONG,
        (
            LipschitzUpTo(run, factor, most_1),
            AtMost(S.Zero, factor),
            Less(S.Zero, noise_1),
            AtMost(S.Zero, portion),
            AtMost(portion, S.One),
            AtMost(S.Zero, cost_2),
            AtMost((portion * factor) ** 2, cost_2 * _LEFT * noise_1),
            WillMeet(run, steps, parts, most_1, cost_1),
        ),
        AfterHit(run, steps + 1, parts, most_1, cost_1 * ((1 - portion) * factor) ** 2 + cost_2),
        "one map for both, whatever was drawn, brings the distance to L·z; a drift by the portion λ of it is at most "
        "λ·L·z long, whatever it depends on, and leaves (1 − λ)·L·z; Gaussian mechanisms chosen one after another "
        "compose",
    )


def _release_hit(name: str, run: Descent, apart: Proposition, parts: Sampled | SampledByItself, note: str) -> Fact:
    return Fact(
        name,
        DONG,
        (apart, StepsIndependent(run), Less(S.Zero, noise_1), AfterHit(run, steps, parts, most_1, cost_1)),
        WillMeet(run, steps, parts, most_1, cost_1),
        note,
    )


release_last = _release_last("release_last", _DRAWN, _PARTS)
release_drift = _release_drift("release_drift", _DRAWN, _PARTS)
release_hit = _release_hit(
    "release_hit",
    _DRAWN,
    AnyApart(_DRAWN, distance),
    _PARTS,
    "a batch is S and i if the record i is drawn, else S and another record j; given S and j that is a Gaussian "
    "mechanism whose record is used with chance p, independently of all that came before (subsampling; advanced joint "
    "convexity, Balle, Barthe & Gaboardi 2018)",
)
release_last_poisson = _release_last("release_last_poisson", _POISSON, _POISSON_PARTS)
release_drift_poisson = _release_drift("release_drift_poisson", _POISSON, _POISSON_PARTS)
release_hit_poisson = _release_hit(
    "release_hit_poisson",
    _POISSON,
    Apart(_POISSON, distance),
    _POISSON_PARTS,
    "given all other draws the step is N(x, fvI) on one dataset and, with chance p, moved by at most `distance` on the "
    "other, independently of all that came before",
)


# --- From the last steps to the whole run ---------------------------------------------------------------------------

_CHANCE = Equal(binomial(records - 1, size - 1), rate * binomial(records, size))


def _window_profile(name: str, run: Descent, parts: Sampled | SampledByItself, node: type) -> Fact:
    value = node(rate, distance**2 / noise_1, factor, window_1, share_1, cost_1 * drifted**2, epsilon_1)
    return Fact(
        name,
        ZHU,
        (WillMeet(run, window_1, parts, most_1, cost_1),),
        DeltaAtMost(Onward(run, drifted, Integer(0), window_1, most_1), epsilon_1, value),
        "mechanisms that dominate step by step, chosen one after another, dominate together; copy and second run are "
        "one function of their transcripts, and the copy has met the first run",
    )


def _window_moment(name: str, run: Descent, parts: Sampled | SampledByItself, node: type) -> Fact:
    sampled = node(rate, distance**2 / noise_1, factor, window_1, share_1, order)
    value = exp((order - 1) * sampled + order * (order - 1) * cost_1 * drifted**2 / 2)
    return Fact(
        name,
        ZHU,
        (WillMeet(run, window_1, parts, most_1, cost_1), Less(S.One, order)),
        Moment(Onward(run, drifted, Integer(0), window_1, most_1), order, value),
        "the same for Rényi divergences, which add up; that of N(0, 1) and N(μ, 1) is aμ²/2",
    )


def _one_more_told(name: str, run: Descent, apart: Proposition, bound: type) -> Fact:
    """One told step in front, for profiles (`DeltaAtMost`) or for moments."""
    at = epsilon_1 if bound is DeltaAtMost else order
    hit, miss = (Onward(run, away, told, window_1, most_1) for away in (factor * drifted + distance, factor * drifted))
    return Fact(
        name,
        "",
        (
            LipschitzUpTo(run, factor, most_1),
            apart,
            AtMost(S.Zero, factor),
            AtMost(S.Zero, distance),
            AtMost(S.Zero, drifted),
            StepsIndependent(run),
            bound(Mixed(rate, hit, miss), at, cost_1),
        ),
        bound(Onward(run, drifted, told + 1, window_1, most_1), at, cost_1),
        "the next batch holds the record with this chance, whatever was drawn before; without a drift the copy is then "
        "within L·z + s, or within L·z",
    )


def _from_the_start(name: str, bound: type) -> Fact:
    at = epsilon_1 if bound is DeltaAtMost else order
    return Fact(
        name,
        "",
        (_CHANCE, AtMost(size, most_1), bound(Onward(_DRAWN, Integer(0), told, window_1, most_1), at, cost_1)),
        bound(From(_DRAWN, Integer(0), told + window_1), at, cost_1),
        "copy and runs start at one point; of the batches of b out of n records, so many hold the record, and none has "
        "more than b",
    )


window_profile = _window_profile("window_profile", _DRAWN, _PARTS, WindowProfile)
window_moment = _window_moment("window_moment", _DRAWN, _PARTS, WindowDivergence)
one_more_told = _one_more_told("one_more_told", _DRAWN, AnyApart(_DRAWN, distance), DeltaAtMost)
one_more_told_moment = _one_more_told("one_more_told_moment", _DRAWN, AnyApart(_DRAWN, distance), Moment)
from_the_start = _from_the_start("from_the_start", DeltaAtMost)
from_the_start_moment = _from_the_start("from_the_start_moment", Moment)

window_profile_poisson = _window_profile("window_profile_poisson", _POISSON, _POISSON_PARTS, PoissonWindowProfile)
window_moment_poisson = _window_moment("window_moment_poisson", _POISSON, _POISSON_PARTS, PoissonWindowDivergence)
one_more_told_poisson = _one_more_told("one_more_told_poisson", _POISSON, Apart(_POISSON, distance), DeltaAtMost)
one_more_told_moment_poisson = _one_more_told(
    "one_more_told_moment_poisson", _POISSON, Apart(_POISSON, distance), Moment
)
unless_large = Fact(
    "unless_large",
    "",
    (
        Records(_POISSON, records),
        AtMost(rate, S.One),
        DeltaAtMost(Onward(_POISSON, Integer(0), told, window_1, most_1), epsilon_1, cost_1),
    ),
    DeltaAtMost(
        From(_POISSON, Integer(0), told + window_1),
        epsilon_1,
        cost_1 + (told + window_1) * BinomialTail(records, rate, most_1),
    ),
    "the copy is made beside the run that comes first, in either direction; it meets that run unless one of its "
    "batches is too large",
)
never_large = Fact(
    "never_large",
    "",
    (
        Records(_POISSON, records),
        AtMost(records, most_1),
        Moment(Onward(_POISSON, Integer(0), told, window_1, most_1), order, cost_1),
    ),
    Moment(From(_POISSON, Integer(0), told + window_1), order, cost_1),
    "no batch has more records than the dataset",
)
