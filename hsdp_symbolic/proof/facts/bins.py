"""Balls in bins: every record picks one of the N batches of an epoch by itself; one record is added or removed.

What the other records pick is the same for both datasets and says nothing of the one that is added: it is told. In
early epochs the record's own place is told too, and a copy of the second run comes to be some way from the first. In
the last epochs the record's place stays secret, and the copy drifts until it has met the first run.

*Record removed*: the copy follows the first run's own maps, whatever the record's places, and drifts; the second run
uses no record. Given the places, the copy's transcript has the drifts h·u + w, of which w may depend on the places and
on all that came before, and is at most a·s long. So its density over that of pure noise is a mean, over the places, of
products of e^(⟨θ, y⟩/v − ‖θ‖²/(2v)), θ known from what came before. A whole power of it is a mean over so many copies
of the places, and E of a product of such for θ¹, …, θ^α is, one step at a time, at most e^(Σ⟨θ^i, θ^j⟩/v), the sum over
pairs: with c of the copies at a step, at most e^(μ²(C(c, 2) + (α − 1)·a·c + C(α, 2)·a²)).

*Record added*: now the first run does without the record, and the copy follows the maps without it. The second run's
density is a mean over places again, at least (Jensen's inequality) the density with drift u/N throughout, times
e^(−(μ²/2)(1 − 1/N)) for every epoch; that drift and the copy's own are at most (a + 1/N)·s apart.

Without a drift (a = 0) these are the bounds of Feldman & Shenfeld 2025 for one epoch whose iterates are all seen. Where
batches are permutations of the records nothing of this holds: the others move when the record moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S

from ...functions.binomial_tail import BinomialTail
from ...functions.bins_divergence import BinsDivergence
from ...functions.bins_seen import BinsSeen
from ...functions.bins_window import BinsWindow
from ...functions.over_places import OverPlaces
from ...functions.shift_weight import ShiftWeight
from ...meaning import Neighbouring
from ...symbols import (
    cost_1,
    count,
    distance,
    drifted,
    epochs_1,
    epsilon_1,
    factor,
    hidden,
    known_1,
    most_1,
    noise_1,
    order,
    records,
    state,
    steps,
    told,
    value_at,
    whole,
    window_1,
)
from ..kernel import Fact
from ..propositions import (
    Anything,
    Apart,
    AtMost,
    BallsInBins,
    DeltaAtMost,
    Descent,
    Every,
    From,
    Less,
    LipschitzUpTo,
    Moment,
    Pair,
    Proposition,
    Renyi,
)
from .definitions import PAIR, RUN
from .renyi import MIRONOV, VAN_ERVEN
from .secret import Records

FELDMAN = "Feldman & Shenfeld 2025"


@dataclass(frozen=True)
class Steered(Proposition):
    """A copy `away` away meets the first run within `steps` steps, if it drifts by at most `unit`·w_i in each.

    The i-th step is counted from the end, w_i is the `ShiftWeight` of `factor` and `window`. Copy and run follow one
    map, whatever batch it is of; nothing is said if a batch has more than `most` records.
    """

    descent: Descent | Anything
    steps: Expr
    away: Expr
    unit: Expr
    factor: Expr
    window: Expr
    most: Expr
    words = "a copy {away} away meets the run in {steps} steps, drifting by at most {unit} times the weight of each"


@dataclass(frozen=True)
class OnwardBins(Pair):
    """The laws at the end of a run that a copy within `away`, at no cost so far, has before it.

    First `told` epochs, in which the record's place is told and the copy does not drift, then `secret` epochs that keep
    it secret. Nothing is said of what happens if a batch has more than `most` records.
    """

    descent: Descent | Anything
    away: Expr
    told: Expr
    secret: Expr
    most: Expr
    words = "what is to come of a copy {away} away, {told} epochs told and {secret} secret"


_BINS = Descent(BallsInBins(count), noise_1, Neighbouring.ADD_REMOVE)

steered_there = Fact(
    "steered_there",
    "",
    (AtMost(drifted, S.Zero),),
    Steered(RUN, Integer(0), drifted, hidden, factor, window_1, most_1),
    "the copy is there",
)
steer = Fact(
    "steer",
    "",
    (
        LipschitzUpTo(RUN, factor, most_1),
        Less(S.Zero, factor),
        AtMost(S.Zero, hidden),
        AtMost(S.Zero, drifted),
        Steered(RUN, steps, drifted, hidden, factor, window_1, most_1),
    ),
    Steered(
        RUN,
        steps + 1,
        (drifted + hidden * ShiftWeight(factor, window_1, steps)) / factor,
        hidden,
        factor,
        window_1,
        most_1,
    ),
    "one map for both brings the distance z to at most L·z; a drift by the portion a/(L·z) of it is at most a long "
    "and leaves L·z − a",
)
secret_places = Fact(
    "secret_places",
    FELDMAN,
    (
        Steered(_BINS, count * known_1, drifted, hidden, factor, window_1, most_1),
        Apart(_BINS, distance),
        Less(S.Zero, distance),
        Less(S.Zero, noise_1),
        AtMost(S.Zero, hidden),
    ),
    Moment(
        OnwardBins(_BINS, drifted, Integer(0), known_1, most_1),
        whole + 1,
        BinsWindow(count, distance**2 / noise_1, factor, known_1, window_1, hidden / distance, whole + 1),
    ),
    "removed: a whole power of a mean is a mean over copies, and Gaussian densities with drifts known from what came "
    "before multiply to at most the exponential of their inner products over v; added: Jensen's inequality, then "
    "Gaussian mechanisms chosen one after another (theirs is the case without a drift)",
)
told_places = Fact(
    "told_places",
    "",
    (
        LipschitzUpTo(_BINS, factor, most_1),
        Apart(_BINS, distance),
        Less(S.Zero, factor),
        AtMost(S.Zero, distance),
        Moment(OnwardBins(_BINS, distance * state, Integer(0), known_1, most_1), order, value_at(state)),
    ),
    Moment(
        OnwardBins(_BINS, Integer(0), told, known_1, most_1),
        order,
        OverPlaces(value_at(state), state, factor, count, told),
    ),
    "places of told epochs are picked by themselves, each as likely; without a drift the copy is within L·z + s after "
    "a step that uses the record, else within L·z",
    eigen=(state,),
)
never_large_bins = Fact(
    "never_large_bins",
    "",
    (
        Records(_BINS, records),
        AtMost(records, most_1),
        Moment(OnwardBins(_BINS, Integer(0), told, known_1, most_1), order, cost_1),
    ),
    Moment(From(_BINS, Integer(0), count * (told + known_1)), order, cost_1),
    "copy and runs start at one point; no batch has more records than the dataset",
)
unless_large_bins = Fact(
    "unless_large_bins",
    "",
    (
        Records(_BINS, records),
        DeltaAtMost(OnwardBins(_BINS, Integer(0), told, known_1, most_1), epsilon_1, cost_1),
    ),
    DeltaAtMost(
        From(_BINS, Integer(0), count * (told + known_1)),
        epsilon_1,
        cost_1 + count * (told + known_1) * BinomialTail(records, 1 / count, most_1),
    ),
    "the copy is made beside the run that comes first, in either direction; it meets that run unless one of its "
    "batches is too large, and each record is in a given batch with chance 1/N, by itself",
)
whole_order = Fact(
    "whole_order",
    VAN_ERVEN,
    (
        Renyi(PAIR, whole + 1, BinsDivergence(count, cost_1, factor, epochs_1, known_1, window_1, whole)),
        Less(S.One, order),
    ),
    Renyi(PAIR, order, BinsDivergence(count, cost_1, factor, epochs_1, known_1, window_1, order - 1)),
    "a divergence rises with its order, and the function is that of the next whole one",
    eigen=(whole,),
)
epoch_seen = Fact(
    "epoch_seen",
    FELDMAN,
    (
        Apart(_BINS, distance),
        Less(S.Zero, noise_1),
        Less(S.One, order),
        Renyi(Every(_BINS, count * steps), order, epsilon_1),
    ),
    Renyi(Every(_BINS, count * (steps + 1)), order, epsilon_1 + BinsSeen(count, distance**2 / noise_1, order - 1)),
    "an epoch uses the record in one of its batches, picked by itself and each as likely; what it costs from the worst "
    f"point is added ({MIRONOV}); at an order that is not whole, the divergence at the next whole one is no smaller",
)
