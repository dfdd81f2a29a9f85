"""δ as a function of ε for batches shuffled anew in every epoch: `profile:reshuffle`.

Given the record's places in the last epochs, a drifted copy is steered by the shifts that suit hits in those places,
and in the last batch of every epoch before (`PlannedShifts`). They do, too, where a hit comes earlier in its epoch than
planned, or not at all: until the planned place comes, the copy is at most one unit farther away than planned, since
what a hit adds shrinks from then on, and at that place the plan has a hit to come. So later hits never cost less.
Over the places, ∫(μ − e^ε·ν)₊ is averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from sympy import Expr, Integer, S
from sympy.core.symbol import Str

from ..display import Named
from ..functions.gaussian_profile import GaussianProfile
from ..functions.geometric import GeometricSum
from ..functions.mean_over import MeanOver
from ..functions.planned_shifts import PlannedAway, PlannedHit, PlannedPlace, PlannedShift, PlannedShifts, PlannedSpent
from ..functions.reshuffled_profile import ReshuffledProfile
from ..paper.descents import EPOCHS, STRONGLY_CONVEX, below_one, by_contraction, descent
from ..paper.fixed_order import STEP_SQUARE
from ..paper.mixtures import chance_of_a_place
from ..proof import kernel
from ..proof.facts.drift import Drift, close_wider, drift_end
from ..proof.facts.mixtures import apart_in_outcome, maps_of_outcome
from ..proof.facts.profiles import gaussian_profile, profile_of_mixture
from ..proof.facts.reshuffled import (
    FirstPlans,
    WithPlan,
    all_plans,
    counted_or_not,
    epoch_begins,
    first_plan,
    not_after_plan,
    not_counted_in_epoch,
    once_in_an_epoch,
    one_more_plan,
    plan_may_be,
    planned_hit,
    planned_within,
    whichever_outcome,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    Anything,
    Apart,
    AsDrawn,
    AtMost,
    Batches,
    DeltaAtMost,
    Equal,
    From,
    Lipschitz,
    Proposition,
    ShuffledEachEpoch,
)
from ..proof.search import claimed, equal_bound, induct
from ..statement import Statement
from ..symbols import (
    K,
    N,
    after,
    b,
    count,
    distance,
    epoch,
    epochs_1,
    epsilon,
    epsilon_1,
    i,
    j,
    k,
    known,
    known_1,
    n,
    plan,
    q,
    rate,
    records,
    rho0,
    s,
    size,
    uses_within,
    weight,
    whole,
    z,
)
from .drifts import Units
from .pattern import WHERE
from .profiles import one_more_term

RESHUFFLED = descent(ShuffledEachEpoch(N, b / n))
"""Descent over N batches, shuffled anew in every epoch."""
_PLANS = N, b / n, K, known
_RUN = descent(AsDrawn(WithPlan(*_PLANS, plan)))
_HERE = Units(_RUN, b, q, rho0)
Terms: TypeAlias = tuple[tuple[kernel.Factor, ...], ...]
_AT = {count: N, rate: b / n, epochs_1: K, known_1: known}
"""What facts about plans are about."""


def _of_plan(kind: type, step: Expr) -> Expr:
    """Something of the plan that belongs to a step."""
    found: Expr = kind(q, N, K, known, plan, step)
    return found


def _hit(step: Expr) -> Expr:
    return PlannedHit(N, K, known, plan, step)


_PLACE = PlannedPlace(N, K, known, plan, k)


def _uses(steps_: Expr) -> Expr:
    """How many of the first batches of epoch k hold the record."""
    return uses_within(*_PLANS, plan, k, steps_)


def _state(step: Expr, more: Expr = S.Zero) -> Drift:
    """Before a step the copy is no farther away than planned, and so many units; no more was spent than planned."""
    return _HERE.state(step, _of_plan(PlannedAway, step) + more, _of_plan(PlannedSpent, step))


def _step(
    maps: Theorem, step: Expr, more: Expr, *terms: tuple[kernel.Factor, ...], by: Sequence[Theorem] = ()
) -> Theorem:
    """One step by the plan, with so many units to spare; the terms say why that is enough, in units."""
    after_, unit = _state(step + 1, more), _HERE.unit
    shift = _of_plan(PlannedShift, step)
    room = unit * (_of_plan(PlannedAway, step + 1) + more + shift)
    planned = kernel.unfold(_of_plan(PlannedAway, step), 1)
    away = maps.proposition.distance  # type: ignore[attr-defined]
    wide = combine(away, room, *((unit, *term) for term in terms), by=[planned, *by])
    wider = apply(close_wider, maps, kernel.loosen(wide), put={distance: room})
    left = kernel.positive(_of_plan(PlannedAway, step + 1) + more)
    here = _HERE.state(step + 1, _of_plan(PlannedAway, step + 1) + more, _of_plan(PlannedSpent, step) + shift**2)
    found = _HERE.hiding(wider, shift, here, left)
    return equal_bound(found, after_.cost, by=[kernel.unfold(_of_plan(PlannedSpent, step), 1)])


def _either(
    so_far: Theorem,
    steps_: Expr,
    room: Theorem,
    more: Expr,
    terms: Callable[[Theorem], Terms],
    by: Sequence[Theorem] = (),
) -> Theorem:
    """One step that uses the record or not; `terms` say why there is room, in the case that is given."""
    choice = apply(counted_or_not, put={**_AT, epoch: k, after: steps_, plan: plan})
    missed, hit = map(assume, choice.proposition.cases)  # type: ignore[attr-defined]
    without = apply(not_counted_in_epoch, missed, room, put={**_AT, epoch: k, after: steps_, plan: plan})
    both = (missed, _HERE.unused(so_far, without)), (hit, _HERE.used(so_far))
    found = (_step(maps, N * k + steps_, more, *terms(case), by=by) for case, maps in both)
    return kernel.each_case(choice, *(kernel.also(each, case) for each, (case, _) in zip(found, both, strict=True)))


@cache
def _within() -> Theorem:
    """The planned place of epoch k is one of its N batches."""
    return apply(planned_within, put={count: N, epochs_1: K, known_1: known, plan: plan, epoch: k})


@cache
def until_planned() -> Theorem:
    """Until the planned place of epoch k comes, the copy is a unit farther away than planned if the record was used."""
    before = assume(_state(N * k))

    def claim(steps_: Expr) -> Drift:
        return _state(N * k + steps_, _uses(steps_))

    def step(so_far: Theorem) -> Theorem:
        inside = combine(i + 1, N, (S.One, assume(AtMost(i + 1, _PLACE))), (S.One, _within()), (S.One,))

        def terms(case: Theorem) -> Terms:
            counted = kernel.loosen(kernel.swap(case))
            return (_hit(N * k + i),), (_uses(i), below_one()), (S.One, counted)

        return _either(so_far, i, kernel.loosen(inside), _uses(i + 1), terms)

    none = apply(epoch_begins, put={**_AT, epoch: k, plan: plan})
    nothing = cancel(_HERE.unit * z, _HERE.unit * (z + s), by=[assume(Equal(s, S.Zero))])
    start = cut(substitute(nothing, {z: _of_plan(PlannedAway, N * k), s: _uses(Integer(0))}), none)
    found = induct(i, 0, claim, rewrite(before, start), step, upper=_PLACE)
    return kernel.named(cut(substitute(found, {i: _PLACE}), combine(_PLACE, _PLACE)), "until the planned place")


@cache
def at_planned() -> Theorem:
    """After the planned place the copy is no farther away than planned, whether and when the record was used."""
    most = [
        apply(once_in_an_epoch, each, put={**_AT, epoch: k, plan: plan})
        for each in (
            kernel.loosen(combine(_PLACE, N, (S.One, _within()), (S.One,))),
            combine(_PLACE + 1, N, (S.One, _within())),
        )
    ]
    here = apply(planned_hit, put={count: N, epochs_1: K, known_1: known, plan: plan, epoch: k})

    def terms(case: Theorem) -> Terms:
        if case.proposition.right == _uses(_PLACE):  # type: ignore[attr-defined]
            return (_uses(_PLACE), below_one()), (S.One, most[0])
        counted = kernel.loosen(kernel.swap(case))
        return (q, most[1]), (q, counted)

    inside = combine(_PLACE + 1, N, (S.One, _within()))
    return _either(until_planned(), _PLACE, inside, S.Zero, terms, [here])


@cache
def one_epoch() -> Theorem:
    """From the start of epoch k to its end."""
    first = N * k + _PLACE + 1

    def claim(steps_: Expr) -> Drift:
        return _state(first + steps_)

    def step(so_far: Theorem) -> Theorem:
        at = _PLACE + 1 + j
        inside = combine(at + 1, N, (S.One, assume(AtMost(j + 1, N - 1 - _PLACE))))
        later, epochs = combine(_PLACE + 1, at, (j,)), assume(AtMost(k + 1, K))
        unused = apply(not_after_plan, kernel.loosen(later), inside, epochs, put={**_AT, epoch: k, plan: plan})
        unused = rewrite(unused, cancel(unused.proposition.time, first + j))  # type: ignore[attr-defined]
        return _step(_HERE.unused(so_far, unused), first + j, S.Zero, (_hit(first + j),))

    left = N - 1 - _PLACE
    found = induct(j, 0, claim, at_planned(), step, upper=left)
    room = combine(S.Zero, left, (S.One, _within()))
    found = cut(substitute(found, {j: left}, room), combine(left, left))
    return kernel.named(_written(found, _state(N * (k + 1))), "one epoch by the plan")


def _written(found: Theorem, wanted: Proposition) -> Theorem:
    """The same, written as wanted."""
    for old, new in zip(found.proposition.expressions(), wanted.expressions(), strict=True):
        found = found if old == new else rewrite(found, cancel(old, new))
    return found


@cache
def as_planned() -> Theorem:
    """μ² ≤ 2ρ₀·Σa², for the shifts of any plan, if the record is used no later than planned."""

    def step(so_far: Theorem) -> Theorem:
        return cut(one_epoch(), so_far)

    found = induct(k, 0, lambda epochs: _state(N * epochs), _HERE.started(), step, upper=K)
    found = cut(substitute(found, {k: K}), combine(K, K))
    for kind in (PlannedAway, PlannedSpent):
        found = rewrite(found, kernel.unfold(_of_plan(kind, N * K), 0))
    met = apply(drift_end, found)
    outcome = apply(plan_may_be, put={**_AT, plan: plan})
    maps = apply(maps_of_outcome, outcome, assume(Lipschitz(RESHUFFLED, q)))
    apart = apply(apart_in_outcome, outcome, assume(Apart(RESHUFFLED, _HERE.unit)))
    return kernel.named(cut(met, maps, apart), "the shifts of a plan")


# --- All plans ------------------------------------------------------------------------------------------------------

_COST = 2 * rho0
_BODY = GaussianProfile(_COST * PlannedShifts(q, N, K, known, i), epsilon)


def _drawn(batches: Batches | Anything) -> From:
    return From(descent(batches), Integer(0), K * N)


@cache
def one_plan() -> Theorem:
    """δ given a plan."""
    each = apply(gaussian_profile, as_planned(), put={epsilon_1: epsilon})
    return apply(whichever_outcome, each)


@cache
def over_plans() -> Theorem:
    """δ of batches shuffled anew in every epoch, as a mean over all plans."""

    def claim(plans: Expr) -> Proposition:
        return DeltaAtMost(_drawn(FirstPlans(*_PLANS, plans)), epsilon, MeanOver(_BODY, i, plans))

    def step(so_far: Theorem) -> Theorem:
        share, one, room = k / (k + 1), assume(AtMost(S.One, k)), assume(AtMost(k + 1, N**known))
        here = substitute(one_plan(), {plan: k + 1})
        shares = combine(S.Zero, share, (share,)), kernel.loosen(combine(share, S.One, (1 / (k + 1),)))
        mixed = apply(profile_of_mixture, *shares, so_far, here, put={weight: share})
        more = apply(one_more_plan, mixed, room, put={whole: k, known_1: known}, ranges=[one])
        return kernel.weaken(more, one_more_term(MeanOver(_BODY, i, k), here.proposition.value))

    alone = kernel.swap(kernel.unfold(MeanOver(_BODY, i, S.One), 0))
    base = kernel.weaken(apply(first_plan, substitute(one_plan(), {plan: S.One})), alone)
    found = kernel.named(induct(k, 1, claim, base, step, upper=N**known), "one of the first k plans")
    some = substitute(combine(S.One, whole, (whole - 1,)), {whole: N**known})
    found = cut(substitute(found, {k: N**known}), some, combine(N**known, N**known))
    put = {records: n, size: b, known_1: known}
    return apply(all_plans, chance_of_a_place(), found, put=put)


@cache
def only_ends() -> Theorem:
    """Seen from the end, hits in the last batch of successive epochs rise ever more steeply: a majorant passes them by.

    From that of the k-th epoch from the end to the next, the height grows by q^(N(k+1)) and V by q^(2(Nk+1))·V_N.
    """

    def slope(at: Expr) -> Expr:
        return q ** (N * (at + 1)) / (q ** (2 * (N * at + 1)) * GeometricSum(q**2, N))

    steeper = (slope(k + 1), below_one(), GeometricSum(q, N))
    found = combine(slope(k), slope(k + 1), steeper, nonzero=[below_one()])
    return kernel.named(found, "hits in last batches, between the first and the last")


def _named(text: str) -> Expr:
    return Named(Str(text), epsilon)


_WHERE_SHOWN = (
    (
        r"\overline{\delta}_m\left(\mu, \gamma, N, K; \varepsilon\right)",
        _named(
            r"\mathrm{E}_{j_1, \dots, j_m}\ \delta_{\mathrm{G}}\left(\mu \sqrt{U_{j_1, \dots, j_m}}; \varepsilon\right)"
        ),
    ),
    (r"U_{j_1, \dots, j_m}", _named(r"\min_a \sum_t a_t^2")),
    (r"z_{t+1}", _named(r"\gamma z_t + \mathrm{hit}_t - a_t \geq 0,\ a_t \geq 0,\ z_0 = z_{NK} = 0")),
)
"""The mean over places, each of N, in the last m epochs, hits being in the last batch before; and what shifts spend."""


@cache
def reshuffle() -> Statement:
    """`profile:reshuffle`."""
    relations = (EPOCHS, known <= K, *STRONGLY_CONVEX)
    expr = ReshuffledProfile(_COST, q, N, K, known, epsilon)

    def prove() -> Theorem:
        return kernel.weaken(over_plans(), kernel.swap(kernel.unfold(expr, 0)))

    return Statement(
        label="profile:reshuffle",
        title="Profile, a new permutation every epoch",
        where=WHERE,
        says="δ at ε after K epochs, each in a fresh order, for any record: the average over its places in the last m "
        "epochs, its places before that being the worst.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(_drawn(RESHUFFLED.batches), epsilon, expr),
            relations,
            by_contraction(RESHUFFLED),
            prove,
        ),
        shown=ReshuffledProfile(STEP_SQUARE, q, N, K, known, epsilon),
        also=_WHERE_SHOWN,
        hypotheses=relations,
        rtol="1e-3",
    )
