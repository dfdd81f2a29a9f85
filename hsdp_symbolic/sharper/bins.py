"""Balls in bins: every record picks one of the N batches of each epoch by itself, anew; one record added or removed.

`composition:balls_in_bins` lets every iterate be seen, `secret:balls_in_bins` bounds the Rényi divergence of the last,
`profile:balls_in_bins` turns that into δ and adds the chance that a batch is too large for its update to contract. In
the last m epochs the record's places stay secret, and in the last ν steps of these a copy drifts until it has met the
run (`proof.facts.bins`). Any m and ν give a bound, and so does any whole order.

Batches that are permutations of the records, shuffled once or in every epoch, do not inherit any of this: where all
batches have one size, the others move when a record moves.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Lambda, S, exp

from ..display import Dot, Over, Plus
from ..functions.binomial_tail import BinomialTail
from ..functions.bins_divergence import BinsDivergence
from ..functions.bins_seen import BinsSeen
from ..functions.over_places import OverPlaces
from ..functions.shift_weight import ShiftSum, ShiftWeight
from ..meaning import Neighbouring
from ..paper.conversion import log_delta, to_delta
from ..paper.descents import EPOCHS, NOISE, ORDER, STRONGLY_CONVEX
from ..paper.fixed_order import STEP_SQUARE
from ..proof import kernel
from ..proof.facts.bins import (
    OnwardBins,
    Steered,
    epoch_seen,
    never_large_bins,
    secret_places,
    steer,
    steered_there,
    told_places,
    unless_large_bins,
    whole_order,
)
from ..proof.facts.conversion import power_by_logarithm
from ..proof.facts.definitions import RUN, nothing_seen, one_order
from ..proof.facts.mixtures import divergence_in_exponent, divergence_of, moment_of
from ..proof.facts.secret import Records
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    Apart,
    AtMost,
    BallsInBins,
    DeltaAtMost,
    Descent,
    Every,
    From,
    Less,
    LipschitzUpTo,
    Proposition,
    Renyi,
)
from ..proof.search import claimed, equal_bound, given, induct, short, use
from ..statement import ON_A_GRID_TEXT, Statement
from ..symbols import (
    K,
    N,
    R,
    alpha,
    cost_1,
    count,
    degree,
    drifted,
    epochs_1,
    epsilon,
    epsilon_1,
    factor,
    hidden,
    k,
    known,
    known_1,
    most_1,
    n,
    order,
    q,
    rho0,
    slack,
    state,
    steps,
    told,
    u,
    value_at,
    whole,
    window,
    window_1,
)
from .secret_steps import ALL_BATCHES, ENOUGH, MOST, REACH, SMOOTHER, most_shown, smoother

BINS = Descent(BallsInBins(N), NOISE, Neighbouring.ADD_REMOVE)
SECRET = known <= K
WITHIN = window <= N * known
COST = 2 * rho0
_STEPS = N * known
_SUM = ShiftSum(q, window, _STEPS)
_UNIT = REACH * state * q**_STEPS / _SUM
"""By how much a copy that is `state` uses away drifts in the last step."""


def contracting() -> Theorem:
    """The update of a batch that is not too large contracts: assumed."""
    return assume(LipschitzUpTo(BINS, q, MOST))


def apart() -> Theorem:
    """How much a record matters: assumed."""
    return assume(Apart(BINS, REACH))


# --- The secret epochs ----------------------------------------------------------------------------------------------


def _rising(relation: type[AtMost | Less], first: int, base: Theorem) -> Theorem:
    """That Σ_(i<k) q^i·w_i is at least 0, or more than 0, from some k on: nothing that is added is negative."""

    def claim(steps_: Expr) -> Proposition:
        return relation(S.Zero, ShiftSum(q, window, steps_))

    def step(so_far: Theorem) -> Theorem:
        later = kernel.unfold(ShiftSum(q, window, k), 1)
        more = q**k * ShiftWeight(q, window, k)
        return combine(S.Zero, ShiftSum(q, window, k + 1), (S.One, so_far), (more,), by=[later])

    return induct(k, first, claim, base, step)


@cache
def some_shift() -> Theorem:
    """0 < Σ_(i<k) q^i·w_i, for k ≥ 1 steps."""
    none, first = (kernel.unfold(ShiftSum(q, window, S.Zero), place) for place in (0, 1))
    weight = kernel.unfold(ShiftWeight(q, window, S.Zero), 0)
    base = combine(S.Zero, ShiftSum(q, window, S.One), (S.One,), by=[first, none, weight])
    return kernel.named(_rising(Less, 1, base), "a copy can drift")


@cache
def no_less() -> Theorem:
    """0 ≤ Σ_(i<k) q^i·w_i."""
    none = kernel.unfold(ShiftSum(q, window, S.Zero), 0)
    return _rising(AtMost, 0, combine(S.Zero, ShiftSum(q, window, S.Zero), by=[none]))


@cache
def _some_shift_at_all() -> Theorem:
    """The same in the secret epochs."""
    return cut(substitute(some_shift(), {k: _STEPS}), combine(S.One, _STEPS, (_STEPS - 1,)))


@cache
def steered() -> Theorem:
    """With k steps left a copy u·Σ_(i<k) q^i·w_i/q^k away meets the run, if it drifts by u·w_i."""

    def away(steps_: Expr) -> Expr:
        return u * ShiftSum(q, window, steps_) / q**steps_

    def claim(steps_: Expr) -> Proposition:
        return Steered(BINS, steps_, away(steps_), u, q, window, MOST)

    def step(so_far: Theorem) -> Theorem:
        some = combine(S.Zero, u, (u,))
        far = combine(S.Zero, away(k), (u * q**-k, no_less()))
        found = apply(steer, contracting(), kernel.positive(q), some, far, so_far)
        spelled = (away(k) + u * ShiftWeight(q, window, k)) / q
        return rewrite(found, cancel(spelled, away(k + 1), by=[kernel.unfold(ShiftSum(q, window, k), 1)]))

    nothing = combine(away(S.Zero), S.Zero, by=[kernel.unfold(ShiftSum(q, window, S.Zero), 0)])
    put = {RUN: BINS, hidden: u, factor: q, window_1: window, most_1: MOST, drifted: away(S.Zero)}
    base = apply(steered_there, nothing, put=put, ranges=[smoother()])
    return kernel.named(induct(k, 0, claim, base, step), "with k steps left a copy can be steered")


# --- The whole run --------------------------------------------------------------------------------------------------


@cache
def onward() -> Theorem:
    """R_α at a whole order, unless a batch is too large."""
    some = _some_shift_at_all()
    size = kernel.positive(REACH)
    at_window = substitute(steered(), {k: _STEPS})
    seen = kernel.loosen(kernel.positive(REACH * q**_STEPS / slack))
    inverse = substitute(seen, {slack: _SUM}, some)
    unit = combine(S.Zero, _UNIT, (state, inverse), nonzero=[some])
    there = substitute(at_window, {u: _UNIT}, unit)
    there = rewrite(there, cancel(there.proposition.away, REACH * state, some))  # type: ignore[attr-defined]
    found = apply(
        secret_places,
        there,
        apart(),
        size,
        kernel.positive(NOISE),
        unit,
        put={known_1: known, whole: whole, count: N},
    )
    found = rewrite(found, cancel(REACH**2 / NOISE, COST, by=[short(rho0)]))
    body = found.proposition.value
    room = combine(S.Zero, K - known, (S.One, given(SECRET)))
    positive, reach = kernel.positive(q), kernel.loosen(size)
    mean = apply(
        told_places,
        contracting(),
        apart(),
        positive,
        reach,
        found,
        put={value_at: Lambda(state, body), known_1: known, most_1: MOST, told: K - known},
        ranges=[room],
    )
    above = combine(S.One, whole + 1, (whole,))
    seen = kernel.positive(OverPlaces(body.subs(_SUM, slack), state, q, N, K - known))
    moment = substitute(seen, {slack: _SUM}, some)
    divergence = apply(divergence_of, mean, above, moment)
    return kernel.weaken(divergence, kernel.swap(kernel.unfold(_value(whole), 0, some, moment)))


def _value(less: Expr) -> BinsDivergence:
    return BinsDivergence(N, COST, q, K, known, window, less)


@cache
def divergence() -> Theorem:
    """R_α after K epochs, if no batch can be too large."""
    pair: OnwardBins = onward().proposition.pair  # type: ignore[attr-defined]
    exponential = apply(moment_of, onward(), combine(S.One, whole + 1, (whole,)))
    room = combine(S.Zero, pair.told, (S.One, given(SECRET)))
    put = {known_1: known, told: pair.told}
    run = apply(never_large_bins, assume(Records(BINS, n + 1)), given(ALL_BATCHES), exponential, put=put, ranges=[room])
    above = combine(S.One, whole + 1, (whole,))
    found = apply(divergence_in_exponent, run, above, put={epsilon_1: _value(whole)})
    put_value = {count: N, cost_1: COST, factor: q, epochs_1: K, known_1: known, window_1: window}
    return apply(whole_order, found, given(ORDER), put=put_value)


def _delta() -> Expr:
    """δ at ε from the divergence at a whole order."""
    return log_delta().subs({alpha: degree + 1, R: _value(degree)})


@cache
def profile() -> Theorem:
    """δ after K epochs."""
    there = substitute(onward(), {whole: degree})
    pair: OnwardBins = there.proposition.pair  # type: ignore[attr-defined]
    found = use(to_delta().theorem, there, combine(S.One, degree + 1, (degree,)))
    room = combine(S.Zero, pair.told, (S.One, given(SECRET)))
    put = {known_1: known, told: pair.told}
    return apply(unless_large_bins, assume(Records(BINS, n + 1)), found, put=put, ranges=[room])


@cache
def seen() -> Theorem:
    """R_α of all iterates of K epochs."""

    def claim(epochs: Expr) -> Proposition:
        return Renyi(Every(BINS, N * epochs), alpha, epochs * _seen())

    def step(so_far: Theorem) -> Theorem:
        found = apply(epoch_seen, apart(), kernel.positive(NOISE), given(ORDER), so_far, put={count: N, steps: k})
        return equal_bound(rewrite(found, cancel(REACH**2 / NOISE, COST, by=[short(rho0)])), claim(k + 1).value)

    nothing = apply(one_order, apply(nothing_seen, put={RUN: BINS}), given(ORDER))
    found = induct(k, 0, claim, nothing, step)
    return substitute(kernel.named(found, "every iterate of k epochs"), {k: K})


def _seen() -> BinsSeen:
    return BinsSeen(N, COST, alpha - 1)


# --- Statements -----------------------------------------------------------------------------------------------------

_WHERE = "not in the paper"
_FREE = "any such epochs, any window in which a copy drifts"
_RELATIONS = (*STRONGLY_CONVEX, SMOOTHER, EPOCHS, SECRET, WITHIN)
_ASSUMED = (LipschitzUpTo(BINS, q, MOST), Apart(BINS, REACH), Records(BINS, n + 1))


def _shown(less: Expr) -> BinsDivergence:
    """The function, as it is printed."""
    return BinsDivergence(N, STEP_SQUARE, q, K, known, window, less)


@cache
def divergence_statement() -> Statement:
    """`secret:balls_in_bins`."""
    relations = (ORDER, *_RELATIONS, ALL_BATCHES)
    return Statement(
        label="secret:balls_in_bins",
        title="Secret places, balls in bins",
        where=_WHERE,
        says="ε after K epochs of n/b batches, of which every record picks one by itself, anew in every epoch; one is "
        "added or removed, and its places in the last epochs stay secret: " + _FREE + " and any order give a bound.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(BINS, Integer(0), K * N), alpha, _value(alpha - 1)),
            relations,
            _ASSUMED,
            lambda: kernel.also(divergence(), smoother()),
        ),
        shown=_shown(alpha - 1),
        hypotheses=relations,
        rtol=ON_A_GRID_TEXT,
    )


def _peak_spelled() -> Theorem:
    """((α − 1)/α)^(α − 1), as it is printed, by its logarithm."""
    return apply(power_by_logarithm, kernel.positive(degree / (degree + 1)), put={order: degree})


@cache
def profile_statement() -> Statement:
    """`profile:balls_in_bins`."""
    large = K * N * BinomialTail(n + 1, 1 / N, MOST)
    peak = Dot(Over(1, degree + 1), Over(degree, degree + 1) ** degree)
    return Statement(
        label="profile:balls_in_bins",
        title="Profile by secret places, balls in bins",
        where=_WHERE,
        says="δ at ε after K epochs of n/b batches, of which every record picks one by itself, anew in every epoch; a "
        "record is added or removed, and its places in the last epochs stay secret: " + _FREE + " and any whole order "
        "(d + 1) give a bound. The last term is the chance that some batch is so large that its update need not "
        "contract.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(From(BINS, Integer(0), K * N), epsilon, exp(_delta()) + large),
            _RELATIONS,
            _ASSUMED,
            lambda: kernel.also(profile(), smoother()),
        ),
        shown=Plus(
            Dot(peak, exp(Dot(degree, Plus(_shown(degree), -epsilon)))),
            Dot(K, N, BinomialTail(n + 1, Over(1, N), most_shown())),
        ),
        printed_with=lambda: [smoother(), _peak_spelled()],
        hypotheses=_RELATIONS,
        rtol=ON_A_GRID_TEXT,
        uses=("conversion:delta",),
    )


@cache
def composition() -> Statement:
    """`composition:balls_in_bins`."""
    relations = (ORDER, EPOCHS, ENOUGH)
    return Statement(
        label="composition:balls_in_bins",
        kind="baseline",
        title="Composition of epochs, balls in bins",
        where="Feldman & Shenfeld 2025; not in the paper",
        says="ε of releasing every iterate of K epochs of n/b batches, of which every record picks one by itself, anew "
        "in every epoch; a record is added or removed.",
        bounds=r"\varepsilon",
        theorem=claimed(Renyi(Every(BINS, K * N), alpha, K * _seen()), relations, (Apart(BINS, REACH),), seen),
        shown=Dot(K, BinsSeen(N, STEP_SQUARE, alpha - 1)),
        hypotheses=relations,
    )
