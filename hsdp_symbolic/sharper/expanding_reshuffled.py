"""`expanding:reshuffle`: updates that need not contract, batches shuffled anew in every epoch.

Given the record's places in all epochs, every hit is hidden before the next one comes (`gaps`). A hit in place j of an
epoch has N − j + j' steps if the next is in place j' of the next epoch, and N − j if it is the last. Places are drawn
by themselves, so the moment over all of them is a product of matrices.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, exp
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, times
from ..functions.gap_moment import GapMoment
from ..functions.log_mean_exp import LogMeanExp
from ..functions.planned_gaps import PlannedGaps, PlannedGapsBefore
from ..functions.planned_shifts import PlannedPlace
from ..paper.descents import EPOCHS, ORDER, by_lipschitz, descent
from ..paper.fixed_order import at_order
from ..paper.mixtures import chance_of_a_place, first_term, next_term, with_next
from ..proof import kernel
from ..proof.facts.drift import Drift, gaussian_to_renyi
from ..proof.facts.mixtures import apart_in_outcome, divergence_in_exponent, maps_of_outcome, moment_of
from ..proof.facts.reshuffled import (
    FirstPlans,
    WithPlan,
    all_plans_moment,
    before_planned,
    between_planned,
    first_plan_moment,
    not_after_plan,
    one_more_plan_moment,
    plan_may_be,
    planned_within,
    whichever_outcome_moment,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import Anything, Apart, AsDrawn, AtMost, Batches, From, Lipschitz, Moment, Proposition, Renyi
from ..proof.search import claimed, equal_bound, given, induct
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    after,
    alpha,
    b,
    count,
    epoch,
    epochs_1,
    epsilon_1,
    eta,
    i,
    k,
    known_1,
    lipschitz,
    n,
    plan,
    rate,
    records,
    rho0,
    sigma,
    size,
    slack,
    u,
    whole,
)
from .drifts import Units
from .gaps import at_most_one, squares, until_next
from .pattern import WHERE
from .reshuffled import RESHUFFLED

PLANS = N, b / n, K, K
_RUN = descent(AsDrawn(WithPlan(*PLANS, plan)))
_HERE = Units(_RUN, b, lipschitz, rho0)
_AT = {count: N, rate: b / n, epochs_1: K, plan: plan}
"""What facts about plans are about."""


def _place(epoch_: Expr) -> Expr:
    return PlannedPlace(N, K, K, plan, epoch_)


def _before(epoch_: Expr) -> Expr:
    """What was spent before the hit of an epoch."""
    return PlannedGapsBefore(lipschitz, N, K, plan, epoch_)


def _at_hit(epoch_: Expr) -> Drift:
    """Before the hit of an epoch nothing is left to hide."""
    return _HERE.state(N * epoch_ + _place(epoch_), S.Zero, _before(epoch_))


def _within(epoch_: Expr) -> Theorem:
    """The place is one of N batches."""
    return apply(planned_within, put={count: N, epochs_1: K, known_1: K, plan: plan, epoch: epoch_})


def _put() -> dict[Expr, Expr]:
    return {key: value for key, value in _AT.items() if key != value}


@cache
def until_first_hit() -> Theorem:
    """Nothing to hide until the first epoch's place comes."""

    def claim(steps: Expr) -> Drift:
        return _HERE.state(steps, S.Zero, S.Zero)

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_planned, assume(AtMost(i + 1, _place(S.Zero))), put={**_put(), after: i})
        return _HERE.hiding(_HERE.unused(so_far, unused), S.Zero, claim(i + 1), combine(S.Zero, S.Zero))

    found = induct(i, 0, claim, _HERE.started(), step, upper=_place(S.Zero))
    return cut(substitute(found, {i: _place(S.Zero)}), combine(_place(S.Zero), _place(S.Zero)))


@cache
def until_next_hit() -> Theorem:
    """From the hit of epoch k to that of the next: u of the gap is spent."""
    gap = N - _place(k) + _place(k + 1)
    two = assume(AtMost(k + 2, K))

    def unused(one: Theorem, last: Theorem) -> Theorem:
        room = combine(i + 1, gap, (S.One, last), (S.One, assume(AtMost(whole, gap))))
        return apply(between_planned, one, room, two, put={**_put(), epoch: k, after: i})

    found = until_next(_HERE, N * k + _place(k), unused)
    some = combine(S.One, gap, (S.One, _within(k)), (_place(k + 1),))
    found = substitute(found, {whole: gap, u: _before(k)}, some)
    found = cut(found, combine(gap, gap))
    return kernel.named(_hidden(found, _at_hit(k + 1), gap, some, _before(k)), "until the next hit")


def _hidden(found: Theorem, wanted: Drift, gap: Expr, some: Theorem, spent: Expr) -> Theorem:
    """The same, written as wanted: what was `spent` is so by its definition, after a gap of one step or more."""
    positive = _positive(gap, some)
    found = rewrite(found, cancel(found.proposition.steps, wanted.steps))  # type: ignore[attr-defined]
    return equal_bound(found, wanted.cost, positive, by=[kernel.unfold(spent, 0, positive)])


def _positive(gap: Expr, some: Theorem) -> Theorem:
    """The sum over a gap is positive, as `some` says that the gap is."""
    return substitute(kernel.positive(squares(whole)), {whole: gap}, some)


@cache
def met() -> Theorem:
    """The copy meets the first run for Σa² = `PlannedGaps`."""

    def step(so_far: Theorem) -> Theorem:
        two = combine(k + 2, K, (S.One, assume(AtMost(k + 1, K - 1))))
        return cut(until_next_hit(), so_far, two)

    hits = induct(k, 0, _at_hit, until_first_hit(), step, upper=K - 1)
    last = cut(substitute(hits, {k: K - 1}), combine(K - 1, K - 1))
    place, left = _place(K - 1), N - _place(K - 1)

    def unused(one: Theorem, end: Theorem) -> Theorem:
        inside = combine(place + i + 1, N, (S.One, end), (S.One, assume(AtMost(whole, left))))
        later = combine(place + 1, place + i, (S.One, one))
        put = {**_put(), known_1: K, epoch: K - 1, after: place + i}
        return apply(not_after_plan, later, inside, combine(K, K), put=put)

    some = combine(S.One, left, (S.One, _within(K - 1)))
    found = until_next(_HERE, N * (K - 1) + place, unused)
    found = cut(substitute(found, {whole: left, u: _before(K - 1)}, some), combine(left, left), last)
    every = PlannedGaps(lipschitz, N, K, plan)
    return _hidden(found, _HERE.state(K * N, S.Zero, every), left, some, every)


@cache
def given_places() -> Theorem:
    """μ² ≤ 2ρ₀·`PlannedGaps`, given all places."""
    outcome = apply(plan_may_be, put={**_put(), known_1: K})
    maps = apply(maps_of_outcome, outcome, assume(Lipschitz(RESHUFFLED, lipschitz)))
    apart = apply(apart_in_outcome, outcome, assume(Apart(RESHUFFLED, _HERE.unit)))
    return cut(_HERE.gaussian(met()), maps, apart)


# --- All places -----------------------------------------------------------------------------------------------------

_COST = alpha * (alpha - 1) * rho0
_BODY = _COST * PlannedGaps(lipschitz, N, K, i)


def drawn(batches: Batches | Anything) -> From:
    return From(descent(batches), Integer(0), K * N)


@cache
def one_plan() -> Theorem:
    """The moment given a plan."""
    above = given(ORDER)
    spent = PlannedGaps(lipschitz, N, K, plan)
    per_order = equal_bound(apply(gaussian_to_renyi, given_places()), rho0 * spent)
    moment = apply(moment_of, at_order(per_order, alpha * rho0 * spent), above)
    moment = equal_bound(moment, exp(_BODY.subs(i, plan)))
    return apply(whichever_outcome_moment, moment, above)


@cache
def over_plans() -> Theorem:
    """The moment of batches shuffled anew in every epoch: the mean over all plans."""
    above = given(ORDER)

    def claim(plans: Expr) -> Proposition:
        return Moment(drawn(FirstPlans(*PLANS, plans)), alpha, exp(LogMeanExp(_BODY, i, plans)))

    def step(so_far: Theorem) -> Theorem:
        one, room = assume(AtMost(S.One, k)), assume(AtMost(k + 1, N**K))
        here = substitute(one_plan(), {plan: k + 1})
        mixed = with_next(so_far, here, above)
        more = apply(one_more_plan_moment, mixed, room, put={whole: k, known_1: K}, ranges=[one])
        return kernel.weaken(more, next_term(_BODY))

    first = apply(first_plan_moment, substitute(one_plan(), {plan: S.One}))
    found = induct(k, 1, claim, rewrite(first, first_term(_BODY)), step, upper=N**K)
    some = substitute(combine(S.One, whole, (whole - 1,)), {whole: N**K})
    found = cut(substitute(kernel.named(found, "one of the first k plans"), {k: N**K}), some, combine(N**K, N**K))
    return apply(all_plans_moment, chance_of_a_place(), found, put={records: n, size: b, known_1: K})


def _named(text: str) -> Expr:
    return Named(Str(text), _COST)


_WHERE_SHOWN = (
    (r"M_{jj'}", _named(r"\frac{1}{N} e^{\alpha (\alpha - 1) \rho_0 u(N - j + j')}")),
    (r"f_j", _named(r"e^{\alpha (\alpha - 1) \rho_0 u(N - j)}")),
    (r"u(g)", _named(r"1/\sum_{s=0}^{g-1} c^{-2s}")),
    (r"N", _named(r"n/b")),
    (r"\rho_0", Over(times(eta, S_g**2), times(4, sigma**2, b**2))),
)
"""The places are 0, …, N − 1, in the rows of M that of one epoch, in its columns that of the next."""


@cache
def reshuffle() -> Statement:
    """`expanding:reshuffle`."""
    relations = (ORDER, EPOCHS)
    value = GapMoment(_COST, lipschitz, N, K)
    expr = value / (alpha - 1)

    def prove() -> Theorem:
        above = given(ORDER)
        moment = equal_bound(over_plans(), exp((alpha - 1) * expr), above, by=[kernel.unfold(value, 0)])
        return apply(divergence_in_exponent, moment, above, put={epsilon_1: expr})

    return Statement(
        label="expanding:reshuffle",
        title="A new permutation every epoch, any Lipschitz constant",
        where=WHERE,
        says="ε after K epochs, each in a fresh order, for any record, for updates that are c-Lipschitz: the average "
        "over the record's places. Never more than composition.",
        bounds=r"\varepsilon",
        theorem=claimed(Renyi(drawn(RESHUFFLED.batches), alpha, expr), relations, by_lipschitz(RESHUFFLED), prove),
        shown=Dot(Over(1, alpha - 1), Named(Str(r"\log\left(\frac{1}{N} \mathbf{1}^{\top} M^{K-1} f\right)"), value)),
        printed_with=lambda: [given(ORDER)],
        also=_WHERE_SHOWN,
        hypotheses=relations,
    )


# --- Never above composition ----------------------------------------------------------------------------------------


@cache
def spent_at_most() -> Theorem:
    """All hits cost at most K."""

    def claim(epochs: Expr) -> AtMost:
        return AtMost(_before(epochs), epochs)

    def one_gap(gap: Expr, some: Theorem) -> Theorem:
        return substitute(at_most_one(), {whole: gap}, some)

    def step(so_far: Theorem) -> Theorem:
        gap = N - _place(k) + _place(k + 1)
        some = combine(S.One, gap, (S.One, _within(k)), (_place(k + 1),))
        here = one_gap(gap, some)
        more = kernel.unfold(_before(k), 0, _positive(gap, some))
        return combine(_before(k + 1), k + 1, (S.One, so_far), (S.One, here), by=[more], nonzero=[_positive(gap, some)])

    before = substitute(induct(k, 0, claim, combine(S.Zero, S.Zero), step), {k: K - 1})
    left = N - _place(K - 1)
    some = combine(S.One, left, (S.One, _within(K - 1)))
    every = PlannedGaps(lipschitz, N, K, plan)
    total = kernel.unfold(every, 0, _positive(left, some))
    return combine(every, K, (S.One, before), (S.One, one_gap(left, some)), by=[total], nonzero=[_positive(left, some)])


@cache
def at_most_composition() -> Theorem:
    """ε of `expanding:reshuffle` is at most αρ₀K, that of composition, whatever c is."""
    above, value = given(ORDER), GapMoment(_COST, lipschitz, N, K)
    each = substitute(spent_at_most(), {plan: i}, assume(AtMost(S.One, i)))
    scale = combine(S.Zero, _COST, (alpha * rho0, above))
    most = combine(_BODY, _COST * K, (scale, each))
    mean = kernel.mean_at_most(most, i, N**K)
    found = combine(value, _COST * K, (S.One, mean), by=[kernel.unfold(value, 0)])
    inverse = substitute(kernel.positive(1 / slack), {slack: alpha - 1}, combine(S.Zero, alpha - 1, (S.One, above)))
    whole_ = combine(reshuffle().expr, alpha * rho0 * K, (inverse, found), nonzero=[above])
    return kernel.named(whole_, "never above composition")
