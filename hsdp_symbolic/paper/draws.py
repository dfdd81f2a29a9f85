"""Batches drawn afresh at every step: what a step does given its batch, and the mean over all draws.

Given the batches, R_a ≤ a·u at every order a, where each draw changes u: by one rule if its batch holds the record (a
hit), by another if not (a miss). By joint convexity, one draw at a time, the moment e^((α−1)R) of the run is at most
the mean of e^(α(α−1)u) over the draws, `Expected`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr, Integer, Lambda, S, Symbol, binomial, exp

from ..functions.expected import Expected
from ..proof import kernel
from ..proof.facts.mixtures import (
    RANDOM,
    all_draws,
    any_step,
    apart_in_outcome,
    divergence_in_exponent,
    drawn_may_be,
    maps_of_outcome,
    no_more_draws,
    one_more_draw,
    step_without,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, substitute
from ..proof.propositions import (
    Apart,
    AsDrawn,
    AtMost,
    Continued,
    DrawnAfresh,
    Equal,
    From,
    Less,
    Lipschitz,
    Moment,
    PerOrder,
    Proposition,
)
from ..proof.search import given, induct, right_of, short
from ..symbols import (
    K,
    N,
    S_g,
    alpha,
    b,
    cost_1,
    dmu,
    epsilon_1,
    eta,
    i,
    k,
    kappa,
    mu,
    mu_1,
    mu_2,
    n,
    noise_1,
    nu,
    q,
    r_miss,
    rate,
    records,
    rho0,
    size,
    start,
    state,
    u,
    weight,
)
from .descents import NOISE, ORDER, descent
from .mixtures import convex, mixture
from .steps import after_use, shared_at_most, used

CHANCE = b / n
KAPPA = alpha * (alpha - 1)
"""R_α ≤ α·u means e^((α−1)R_α) ≤ e^(κu)."""
BATCHES = "the indices in each batch do not depend on the records, so that both datasets can be given the same"
DRAWN = descent(DrawnAfresh(CHANCE))
GIVEN = descent(AsDrawn(DrawnAfresh(CHANCE)))


@cache
def chance_of_a_hit() -> Theorem:
    """Of all batches of b out of n records, b/n hold the record."""
    hits, part = binomial(n - 1, b - 1), CHANCE * binomial(n, b)
    same = kernel.work_out(hits - part)
    low, high = kernel.loosen(same), kernel.loosen(kernel.swap(same))
    found = kernel.squeeze(combine(hits, part, (S.One, low)), combine(part, hits, (S.One, high)))
    return kernel.named(found, "the chance of a hit")


@cache
def shares() -> tuple[Theorem, Theorem]:
    """0 ≤ b/n ≤ 1."""
    return kernel.loosen(kernel.positive(CHANCE)), combine(CHANCE, S.One, (1 / n, given(b <= n)))


def given_the_batches(theorem: Theorem) -> Theorem:
    """A theorem about given batches, with its assumptions made of batches as they are drawn."""
    outcome = apply(drawn_may_be, put={RANDOM: DRAWN.batches})
    lipschitz = apply(maps_of_outcome, outcome, assume(Lipschitz(DRAWN, q)))
    apart = apply(apart_in_outcome, outcome, assume(Apart(DRAWN, eta * S_g / b)))
    return cut(theorem, *(each for each in (lipschitz, apart) if each.proposition in theorem.hypotheses))


def any_step_is(theorem: Theorem, before: Expr) -> Theorem:
    """What a theorem says of one more step, i steps after a point, as a rule for u: whatever the batch."""
    return apply(any_step, given_the_batches(theorem), put={cost_1: before})


@cache
def hit() -> Theorem:
    """A step, whatever its batch: u ↦ u + ρ₀."""
    before = assume(PerOrder(From(GIVEN, Integer(0), i), u))
    found = after_use(before, used(GIVEN, b, rho0, short(rho0)))
    return kernel.named(any_step_is(found, u), "a step, whatever its batch")


@cache
def miss() -> Theorem:
    """A step whose batch does not hold the record: u ↦ at most q²u."""
    found = given_the_batches(substitute(shared_at_most(GIVEN), {start: Integer(0)}))
    return kernel.named(apply(step_without, found, put={cost_1: u}), "a step whose batch does not hold the record")


@dataclass(frozen=True)
class Rules:
    """What a hit and a miss make of u: theorems, in u."""

    hit: Theorem
    miss: Theorem

    def after(self, draw: Theorem, at: Expr) -> Expr:
        """u = at after a hit or a miss."""
        found: Expr = draw.proposition.after.subs(u, at)  # type: ignore[attr-defined]
        return found

    def mean(self, of: Expr, draws: Expr, at: Expr) -> Expected:
        """The mean of `of`, a function of `state`, after so many draws from u = at."""
        hit_, miss_ = (self.after(draw, state) for draw in (self.hit, self.miss))
        return Expected(of, state, hit_, miss_, CHANCE, draws, at)

    @property
    def others(self) -> tuple[dict[Symbol, Expr], dict[Symbol, Expr]]:
        """What u may be after the next draw."""
        return {u: self.after(self.hit, u)}, {u: self.after(self.miss, u)}


@cache
def by_log_sobolev() -> Rules:
    """u ↦ u + ρ₀ on a hit, u ↦ q²u on a miss."""
    return Rules(hit(), miss())


@cache
def moment_over_draws(rules: Rules) -> Theorem:
    """e^((α−1)R_α) after k draws is at most the mean of e^(κu)."""
    above, of = given(ORDER), exp(KAPPA * state)

    def claim(draws: Expr) -> Proposition:
        return Moment(Continued(DRAWN, u, draws), alpha, rules.mean(of, draws, u))

    def step(_: Theorem, after_hit: Theorem, after_miss: Theorem) -> Theorem:
        mixed = mixture(CHANCE, after_hit, after_miss, shares(), above)
        found = apply(one_more_draw, rules.hit, rules.miss, mixed)
        return kernel.weaken(found, kernel.swap(kernel.unfold(rules.mean(of, k, u), 1)))

    none = apply(no_more_draws, above, put={cost_1: u, rate: CHANCE, noise_1: NOISE})
    base = kernel.weaken(none, kernel.swap(kernel.unfold(rules.mean(of, S.Zero, u), 0)))
    everything = kernel.named(induct(k, 0, claim, base, step, others=rules.others), "any number of draws")
    ended = substitute(everything, {u: Integer(0)})
    return apply(all_draws, chance_of_a_hit(), ended, put={records: n, size: b})


def divergence_over_draws(rules: Rules, bound: Theorem) -> Theorem:
    """R_α ≤ value/(α − 1) after K·N draws, from `bound`: the mean of e^(κu) after k of them is at most e^value."""
    found = substitute(moment_over_draws(rules), {k: K * N})
    value = right_of(bound).args[0].subs(k, K * N)
    moment = kernel.weaken(found, substitute(bound, {k: K * N}))
    return apply(divergence_in_exponent, moment, given(ORDER), put={epsilon_1: value / (alpha - 1)})


# --- Means over draws -----------------------------------------------------------------------------------------------


def last_draw(rules: Rules, of: Expr, after_hit: tuple[Expr, Expr], after_miss: tuple[Expr, Expr]) -> Theorem:
    """The mean of `of` after k + 1 draws, by what the last of them does.

    `of` after a hit is a factor times another function, and so after a miss: (factor, function).
    """

    def right(draws: Expr, at: Expr) -> Expr:
        terms = [factor * rules.mean(each, draws, at) for factor, each in (after_hit, after_miss)]
        return CHANCE * terms[0] + (1 - CHANCE) * terms[1]

    def claim(draws: Expr) -> Equal:
        return Equal(rules.mean(of, draws + 1, u), right(draws, u))

    def step(_: Theorem, *later: Theorem) -> Theorem:
        unfolded = [kernel.unfold(rules.mean(each, k, u), 1) for each in (after_hit[1], after_miss[1])]
        first = kernel.unfold(rules.mean(of, k + 1, u), 1)
        return cancel(claim(k + 1).left, claim(k + 1).right, by=[first, *later, *unfolded])

    none = [kernel.unfold(rules.mean(of, S.Zero, at[u]), 0) for at in rules.others]
    none += [kernel.unfold(rules.mean(each, S.Zero, u), 0) for each in (after_hit[1], after_miss[1])]
    first = kernel.unfold(rules.mean(of, S.Zero, u), 1)
    base = cancel(claim(S.Zero).left, claim(S.Zero).right, by=[first, *none])
    return kernel.named(induct(k, 0, claim, base, step, others=rules.others), "what the last draw does")


def mean_positive(rules: Rules, of: Expr) -> Theorem:
    """0 < the mean of `of` after k draws, `of` being seen to be positive."""

    def claim(draws: Expr) -> Less:
        return Less(S.Zero, rules.mean(of, draws, u))

    def step(_: Theorem, after_hit: Theorem, after_miss: Theorem) -> Theorem:
        unfolded = kernel.unfold(rules.mean(of, k, u), 1)
        terms = (CHANCE, after_hit), (shares()[1], kernel.loosen(after_miss))
        return combine(S.Zero, rules.mean(of, k + 1, u), *terms, by=[unfolded])

    at_first = kernel.unfold(rules.mean(of, S.Zero, u), 0)
    base = kernel.chain(kernel.positive(of.subs(state, u)), kernel.swap(at_first))
    return induct(k, 0, claim, base, step, others=rules.others)


@cache
def power_concave() -> Theorem:
    """w·x^r + (1−w)·y^r ≤ (w·x + (1−w)·y)^r, for x, y > 0, 0 ≤ w ≤ 1 and 0 < r ≤ 1."""
    below = assume(AtMost(r_miss, S.One))
    found = convex(Lambda((mu, nu), -(mu**r_miss)), (r_miss * mu ** (r_miss - 2), below, dmu**2))
    mixed = weight * mu_1**r_miss + (1 - weight) * mu_2**r_miss
    return combine(mixed, (weight * mu_1 + (1 - weight) * mu_2) ** r_miss, (S.One, found))


def jensen(rules: Rules, of: Expr) -> Theorem:
    """The mean of of^r is at most the r-th power of that of `of`, for 0 < r ≤ 1."""
    powered = exp(r_miss * of.args[0])
    below, positive = assume(AtMost(r_miss, S.One)), mean_positive(rules, of)

    def claim(draws: Expr) -> AtMost:
        return AtMost(rules.mean(powered, draws, u), rules.mean(of, draws, u) ** r_miss)

    def step(_: Theorem, *later: Theorem) -> Theorem:
        unfolded = [kernel.unfold(rules.mean(each, k, u), 1) for each in (powered, of)]
        ranges = [substitute(positive, put) for put in rules.others]
        ends = {place: rules.mean(of, k, put[u]) for place, put in zip((mu_1, mu_2), rules.others, strict=True)}
        curved = cut(substitute(power_concave(), {weight: CHANCE, **ends}, *ranges), *shares())
        left, right = rules.mean(powered, k + 1, u), rules.mean(of, k + 1, u) ** r_miss
        return combine(left, right, (CHANCE, later[0]), (shares()[1], later[1]), (S.One, curved), by=unfolded)

    at_first = [kernel.unfold(rules.mean(each, S.Zero, u), 0) for each in (powered, of)]
    base = combine(rules.mean(powered, S.Zero, u), rules.mean(of, S.Zero, u) ** r_miss, by=at_first)
    found = induct(k, 0, claim, base, step, others=rules.others)
    return kernel.named(kernel.also(found, below), "Jensen's inequality over draws")


EXPONENTIAL = exp(kappa * state)
"""e^(κu), for any κ > 0."""


@cache
def kappa_positive() -> Theorem:
    """0 < α(α − 1)."""
    return combine(S.Zero, KAPPA, (alpha, given(ORDER)))


def mean_at_most_of(rules: Rules, first: Expr, factor: Expr, second: Expr, pointwise: Theorem) -> Theorem:
    """The mean of one function is at most a factor times that of another, as they are at every u (`pointwise`)."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(rules.mean(first, draws, u), factor * rules.mean(second, draws, u))

    def step(_: Theorem, after_hit: Theorem, after_miss: Theorem) -> Theorem:
        unfolded = [kernel.unfold(rules.mean(each, k, u), 1) for each in (first, second)]
        sides = claim(k + 1)
        terms = (CHANCE, after_hit), (shares()[1], after_miss)
        return combine(sides.left, sides.right, *terms, by=unfolded)

    at_first = [kernel.unfold(rules.mean(each, S.Zero, u), 0) for each in (first, second)]
    sides = claim(S.Zero)
    base = combine(sides.left, sides.right, (S.One, pointwise), by=at_first)
    return induct(k, 0, claim, base, step, others=rules.others)
