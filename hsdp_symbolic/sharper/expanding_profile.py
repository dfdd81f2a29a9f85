"""`profile:reshuffle:expanding`: δ as a function of ε for updates that need not contract, reshuffled every epoch.

Given the record's places in all epochs, every hit is hidden before the next one comes (`expanding_reshuffled`): that is
Gaussian differential privacy. Over the places, ∫(μ − e^ε·ν)₊ is averaged.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, S
from sympy.core.symbol import Str

from ..display import Named
from ..functions.gap_profile import GapProfile
from ..functions.gaussian_profile import GaussianProfile
from ..functions.mean_over import MeanOver
from ..functions.planned_gaps import PlannedGaps
from ..paper.descents import EPOCHS, by_lipschitz
from ..paper.fixed_order import STEP_SQUARE
from ..paper.mixtures import chance_of_a_place
from ..proof import kernel
from ..proof.facts.profiles import gaussian_profile, profile_of_mixture
from ..proof.facts.reshuffled import FirstPlans, all_plans, first_plan, one_more_plan, whichever_outcome
from ..proof.kernel import Theorem, apply, assume, chain, combine, cut, substitute
from ..proof.propositions import AtMost, DeltaAtMost, Proposition
from ..proof.search import claimed, induct
from ..statement import Statement
from ..symbols import (
    K,
    N,
    b,
    epsilon,
    epsilon_1,
    i,
    k,
    known_1,
    lipschitz,
    n,
    plan,
    records,
    rho0,
    size,
    u,
    weight,
    whole,
)
from .expanding_reshuffled import PLANS, drawn, given_places, spent_at_most
from .pattern import WHERE
from .profiles import one_more_term
from .reshuffled import RESHUFFLED

_COST = 2 * rho0
_BODY = GaussianProfile(_COST * PlannedGaps(lipschitz, N, K, i), epsilon)


@cache
def one_plan() -> Theorem:
    """δ given a plan."""
    return apply(whichever_outcome, apply(gaussian_profile, given_places(), put={epsilon_1: epsilon}))


@cache
def over_plans() -> Theorem:
    """δ of batches shuffled anew in every epoch: the mean over all plans."""

    def claim(plans: Expr) -> Proposition:
        return DeltaAtMost(drawn(FirstPlans(*PLANS, plans)), epsilon, MeanOver(_BODY, i, plans))

    def step(so_far: Theorem) -> Theorem:
        share, one, room = k / (k + 1), assume(AtMost(S.One, k)), assume(AtMost(k + 1, N**K))
        here = substitute(one_plan(), {plan: k + 1})
        shares = combine(S.Zero, share, (share,)), kernel.loosen(combine(share, S.One, (1 / (k + 1),)))
        mixed = apply(profile_of_mixture, *shares, so_far, here, put={weight: share})
        more = apply(one_more_plan, mixed, room, put={whole: k, known_1: K}, ranges=[one])
        return kernel.weaken(more, one_more_term(MeanOver(_BODY, i, k), here.proposition.value))

    alone = kernel.swap(kernel.unfold(MeanOver(_BODY, i, S.One), 0))
    base = kernel.weaken(apply(first_plan, substitute(one_plan(), {plan: S.One})), alone)
    found = kernel.named(induct(k, 1, claim, base, step, upper=N**K), "one of the first k plans")
    found = apply(all_plans, chance_of_a_place(), _of_all(found), put={records: n, size: b, known_1: K})
    return kernel.named(found, "over all plans")


def _of_all(found: Theorem) -> Theorem:
    """The same of all N^K plans, which are one or more."""
    some = substitute(combine(S.One, whole, (whole - 1,)), {whole: N**K})
    return cut(substitute(found, {k: N**K}), some, combine(N**K, N**K))


def _named(text: str) -> Expr:
    return Named(Str(text), epsilon)


_WHERE_SHOWN = (
    (
        r"\overline{\delta}\left(\mu, c, N, K; \varepsilon\right)",
        _named(
            r"\mathrm{E}_{j_1, \dots, j_K}\ \delta_{\mathrm{G}}\left(\mu \sqrt{U_{j_1, \dots, j_K}}; \varepsilon\right)"
        ),
    ),
    (r"U_{j_1, \dots, j_K}", _named(r"\sum_{k < K} u(N - j_k + j_{k+1}) + u(N - j_K)")),
    (r"u(g)", _named(r"1/\sum_{s=0}^{g-1} c^{-2s}")),
)
"""The mean over the places of all epochs, 0, …, N − 1; and what it costs to hide every hit before the next."""


@cache
def reshuffle() -> Statement:
    """`profile:reshuffle:expanding`."""
    relations = (EPOCHS,)
    expr = GapProfile(_COST, lipschitz, N, K, epsilon)

    def prove() -> Theorem:
        return kernel.weaken(over_plans(), kernel.swap(kernel.unfold(expr, 0)))

    return Statement(
        label="profile:reshuffle:expanding",
        title="Profile, a new permutation every epoch, any Lipschitz constant",
        where=WHERE,
        says="δ at ε after K epochs, each in a fresh order, for any record, for updates that are c-Lipschitz: the "
        "average over the record's places in all epochs. Never more than composition.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(drawn(RESHUFFLED.batches), epsilon, expr), relations, by_lipschitz(RESHUFFLED), prove
        ),
        shown=GapProfile(STEP_SQUARE, lipschitz, N, K, epsilon),
        also=_WHERE_SHOWN,
        hypotheses=relations,
        rtol="1e-3",
    )


@cache
def at_most_composition() -> Theorem:
    """δ of `profile:reshuffle:expanding` is at most that of composition, N(0, 1) against N(√(2ρ₀K), 1), for every c."""
    value, most = GapProfile(_COST, lipschitz, N, K, epsilon), GaussianProfile(_COST * K, epsilon)
    spent = substitute(spent_at_most(), {plan: i}, assume(AtMost(S.One, i)))
    body = GaussianProfile(u, epsilon)
    each = kernel.monotone(body, u, combine(_COST * spent.proposition.left, _COST * K, (_COST, spent)))  # type: ignore[attr-defined]

    def claim(plans: Expr) -> AtMost:
        return AtMost(MeanOver(_BODY, i, plans), most)

    def step(so_far: Theorem) -> Theorem:
        here = cut(substitute(each, {i: k + 1}), combine(S.One, k + 1, (k,)))
        terms = (k / (k + 1), so_far), (1 / (k + 1), here)
        return combine(MeanOver(_BODY, i, k + 1), most, *terms, by=[kernel.unfold(MeanOver(_BODY, i, k), 1)])

    alone = kernel.unfold(MeanOver(_BODY, i, S.One), 0)
    base = chain(alone, cut(substitute(each, {i: S.One}), combine(S.One, S.One)))
    mean = _of_all(induct(k, 1, claim, base, step, upper=N**K))
    return kernel.named(chain(kernel.unfold(value, 0), mean), "never above composition")
