"""Mixtures: what is known of their components is known of them. `two` is joint convexity, of which the rest is made.

`over_places` and `drawn_afresh` are for runs whose batches are random: shuffled once, or drawn afresh at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sympy import Expr, Lambda, S, exp, factorial, log

from ..functions.log_mean_exp import LogMeanExp
from ..functions.log_mix import LogMix
from ..proof import kernel
from ..proof.facts.mixtures import (
    FIRST,
    SECOND,
    SECOND_DERIVATIVE,
    apart_in_outcome,
    convex_function,
    divergence_in_exponent,
    divergence_of,
    last_place,
    maps_of_outcome,
    moment_of,
    moment_of_mixture,
    one_more_place,
    same_batches,
    shuffled_may_be,
    shuffled_once,
)
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, cut, substitute
from ..proof.propositions import (
    Apart,
    AtMost,
    Descent,
    Equal,
    From,
    LastPlaces,
    Less,
    Lipschitz,
    Moment,
    Proposition,
    Renyi,
    ShuffledOnce,
)
from ..proof.search import equal_bound, induct, left_of, right_of, short, use
from ..symbols import (
    N,
    along,
    alpha,
    b,
    count,
    dmu,
    dnu,
    epsilon_1,
    epsilon_2,
    g_i,
    i,
    j0,
    k,
    moment_1,
    moment_2,
    mu,
    n,
    noise_1,
    nu,
    order,
    rate,
    records,
    s,
    size,
    start,
    steps,
    value_at,
    weight,
    whole,
    x_i,
    y,
)

ABOVE_ONE = Less(S.One, order)
WEIGHT = AtMost(S.Zero, weight), AtMost(weight, S.One)


def _between(at: Expr, one: Expr, other: Expr) -> Expr:
    """at·one + (1 − at)·other."""
    return at * one + (1 - at) * other


@cache
def inside(one: Expr, other: Expr) -> Theorem:
    """0 < t·one + (1 − t)·other, for 0 ≤ t ≤ 1 and ends that are seen to be positive."""
    value, low, high = _between(along, one, other), assume(AtMost(S.Zero, along)), assume(AtMost(along, S.One))
    at_end = combine(S.Zero, value, (other,), (assume(AtMost(along, S.Zero)), other), (low, one))
    return kernel.cases(at_end, combine(S.Zero, value, (assume(Less(S.Zero, along)), one), (high, other)))


def convex(function: Lambda, *terms: Sequence[kernel.Factor]) -> Theorem:
    """A function of μ and ν lies below its chords, its second derivative in any direction being a sum of such terms."""
    second = SECOND_DERIVATIVE.replace(value_at, function).doit()
    curved = combine(S.Zero, second, *terms)
    return apply(convex_function, kernel.loosen(curved), *map(assume, WEIGHT), put={value_at: function})


@cache
def integrand_convex() -> Theorem:
    """μ^a·ν^(1−a) is jointly convex: its second derivative in any direction is a positive multiple of a square."""
    above = assume(ABOVE_ONE)
    positive = combine(S.Zero, order, (S.One, above), (S.One,))
    square = positive, above, mu ** (order - 2) * nu ** (-order - 1), (nu * dmu - mu * dnu) ** 2
    found = convex(Lambda((mu, nu), mu**order * nu ** (1 - order)), square)
    return kernel.named(found, "μ^a·ν^(1−a) is jointly convex")


@cache
def two() -> Theorem:
    """The moment e^((a−1)R) of a mixture of two pairs is at most the mixture of their moments."""
    first, second = Moment(FIRST, order, moment_1), Moment(SECOND, order, moment_2)
    premises = map(assume, (ABOVE_ONE, *WEIGHT, first, second))
    return kernel.named(apply(moment_of_mixture, integrand_convex(), *premises), "a mixture of two")


@cache
def two_divergences() -> Theorem:
    """R_a of a mixture of two pairs is at most log(w·e^((a−1)R₁) + (1−w)·e^((a−1)R₂))/(a−1)."""
    above = assume(ABOVE_ONE)
    scaled = [(order - 1) * each for each in (epsilon_1, epsilon_2)]
    parts = assume(Renyi(FIRST, order, epsilon_1)), assume(Renyi(SECOND, order, epsilon_2))
    mixed = use(two(), *(apply(moment_of, each, above) for each in parts))
    positive = substitute(inside(*map(exp, scaled)), {along: weight})
    found = apply(divergence_of, mixed, above, positive)
    return equal_bound(found, LogMix(weight, *scaled) / (order - 1), above, positive)


# --- Batches shuffled once ------------------------------------------------------------------------------------------


def shuffled(noise: Expr) -> Descent:
    """Descent over N batches, shuffled once."""
    return Descent(ShuffledOnce(N, b / n), noise)


def in_every_place(theorem: Theorem) -> Theorem:
    """A theorem about N batches in a fixed order, with what it assumes assumed of shuffled batches instead."""
    outcome = apply(shuffled_may_be, assume(AtMost(j0, N - 1)), put={count: N, rate: b / n})
    lemmas = []
    for each in theorem.hypotheses:
        if isinstance(each, Lipschitz | Apart) and isinstance(each.descent, Descent):
            fact, bound = (
                (maps_of_outcome, "constant") if isinstance(each, Lipschitz) else (apart_in_outcome, "distance")
            )
            whole_run = type(each)(shuffled(each.descent.noise), getattr(each, bound))
            lemmas.append(apply(fact, outcome, assume(whole_run)))
    return cut(theorem, *lemmas)


def body_of(value: Expr) -> Expr:
    """(α − 1)·value, the record being in the i-th batch from the last; value is written in j0."""
    return (alpha - 1) * value.subs(j0, N - i)


@cache
def chance_of_a_place() -> Theorem:
    """The record is in a given batch of b out of n records with probability b/n."""
    ways = factorial(n - 1) * factorial(b) / (factorial(b - 1) * factorial(n))
    return kernel.named(kernel.work_out(ways), "the chance to be in a given batch")


def at_place(theorem: Theorem, at: Expr, *ranges: Theorem) -> Theorem:
    """What a theorem says of batch j0, for j0 = at ≤ N − 1; `ranges` say that at is not negative."""
    last = combine(at, N - 1, (N - 1 - at,))
    return cut(substitute(theorem, {j0: at}, *ranges), last)


@cache
def _split() -> Theorem:
    """e^((α−1)(y + x)) = e^((α−1)y + (α−1)x)."""
    return cancel(exp((alpha - 1) * (y + x_i)), exp((alpha - 1) * y + (alpha - 1) * x_i))


@cache
def _one_more_term() -> Theorem:
    """A mean over k + 1 terms is mixed of that over k of them, e^y, and of e^x: g is its logarithm; s is any number."""
    meaning = assume(Equal(g_i, log((k * exp(y) + exp(x_i)) / (k + 1))))
    share = k / (k + 1)
    return cancel(share * exp(s + y) + (1 - share) * exp(s + x_i), exp(s + g_i), by=[meaning])


@cache
def _one_more_at_least() -> Theorem:
    """It is at least 1 if both are."""
    both = assume(AtMost(S.One, exp(y))), assume(AtMost(S.One, exp(x_i)))
    meaning = assume(Equal(g_i, log((k * exp(y) + exp(x_i)) / (k + 1))))
    return combine(S.One, exp(g_i), (k / (k + 1), both[0]), (1 / (k + 1), both[1]), by=[meaning])


def _next_mean(lemma: Theorem, body: Expr, scale: Expr = S.Zero) -> Theorem:
    """A lemma about one more term of a mean, for the mean of e^(scale + body) over i = 1, …, k."""
    here = LogMeanExp(body, i, k)
    put = {y: here, x_i: body.subs(i, k + 1), g_i: LogMeanExp(body, i, k + 1), s: scale}
    positive = substitute(kernel.positive((k * exp(y) + exp(x_i)) / (k + 1)), {y: put[y], x_i: put[x_i]})
    return cut(substitute(lemma, put), kernel.unfold(here, 1, positive))


def next_term(body: Expr, scale: Expr = S.Zero) -> Theorem:
    """k/(k + 1) of e^(scale + the mean's logarithm) over k terms, and 1/(k + 1) of the next, is that over k + 1."""
    return _next_mean(_one_more_term(), body, scale)


def first_term(body: Expr, scale: Expr = S.Zero) -> Theorem:
    """e^(scale + body) at 1 is e^(scale + the mean's logarithm) of one term."""
    return _exponential(kernel.unfold(LogMeanExp(body, i, S.One), 0), scale)


def with_next(so_far: Theorem, following: Theorem, above: Theorem) -> Theorem:
    """The moment of k pairs, each as likely, mixed with one more."""
    share = k / (k + 1)
    shares = combine(S.Zero, share, (share,)), combine(share, S.One, (1 / (k + 1),))
    return mixture(share, so_far, following, shares, above)


def over_places(theorem: Theorem, own: Expr, lowest: Theorem, common: Expr = S.Zero) -> Theorem:
    """R_α of batches shuffled once, from that of a fixed order: common + LogMeanExp(body_of(own), i, N)/(α − 1).

    `theorem` bounds R_α by common + own for j0 ≤ N − 1; only `own` is written in j0, and `lowest` says 0 ≤ own. The
    mean is over the N places of the record, counted from the last batch.
    """
    found = in_every_place(theorem)
    pair = found.proposition.pair  # type: ignore[attr-defined]
    body, scale, above = body_of(own), (alpha - 1) * common, assume(Less(S.One, alpha))

    def claim(places: Expr) -> Proposition:
        run = Descent(LastPlaces(N, places), pair.descent.noise)
        return Moment(From(run, pair.start, pair.steps), alpha, exp(scale + LogMeanExp(body, i, places)))

    def moment_at(at: Expr, *ranges: Theorem) -> Theorem:
        here = apply(moment_of, at_place(found, at, *ranges), above)
        return kernel.weaken(here, substitute(_split(), {y: common, x_i: own.subs(j0, at)}))

    def step(so_far: Theorem) -> Theorem:
        one, room = assume(AtMost(S.One, k)), assume(AtMost(k + 1, N))
        here = moment_at(N - k - 1, combine(S.Zero, N - k - 1, (S.One, room)))
        more = apply(one_more_place, with_next(so_far, here, above), room, put={whole: k}, ranges=[one])
        return kernel.weaken(more, next_term(body, scale))

    base = kernel.rewrite(apply(last_place, moment_at(N - 1)), first_term(body, scale))
    placed = kernel.named(induct(k, 1, claim, base, step, upper=N), "the record in one of k places")
    least = everywhere(at_least_one(body, lowest))
    if common != 0:
        raised = kernel.monotone(exp(s), s, combine(S.Zero, scale, (above, common)))
        least = cut(substitute(_both_at_least(), {s: scale, y: LogMeanExp(body, i, N)}), raised, least)
    return _or_left_out(everywhere(placed), least, scale, LogMeanExp(body, i, N))


def _exponential(meaning: Theorem, scale: Expr) -> Theorem:
    """e^(s + x) = e^(s + y), from y = x."""
    generic = cancel(exp(s + x_i), exp(s + y), by=[assume(Equal(y, x_i))])
    return cut(substitute(generic, {s: scale, y: left_of(meaning), x_i: right_of(meaning)}), meaning)


@cache
def _both_at_least() -> Theorem:
    """1 ≤ e^(s + y), if both factors are."""
    first, second = assume(AtMost(S.One, exp(s))), assume(AtMost(S.One, exp(y)))
    return combine(S.One, exp(s + y), (S.One, first), (exp(s), second))


def mixture(share: Expr, first: Theorem, second: Theorem, shares: Sequence[Theorem], above: Theorem) -> Theorem:
    """The moment of a mixture of two pairs, the first with weight `share`; `shares` say that this is from 0 to 1."""
    lemma = substitute(
        two(),
        {
            weight: share,
            order: first.proposition.order,  # type: ignore[attr-defined]
            moment_1: first.proposition.value,
            moment_2: second.proposition.value,
            FIRST: first.proposition.pair_bounded,
            SECOND: second.proposition.pair_bounded,
        },
        *(*shares, first, second),
    )
    return cut(lemma, above, *shares, first, second)


@cache
def _absorbed() -> Theorem:
    """A part that is mixed in with moment 1 does not raise a moment e^y ≥ 1."""
    least, most = assume(AtMost(S.One, exp(y))), assume(WEIGHT[1])
    return combine(weight * exp(y) + (1 - weight), exp(y), (least, most))


def _or_left_out(placed: Theorem, least: Theorem, scale: Expr, mean: Expr) -> Theorem:
    """Shuffled batches, from a record that is evenly placed: it may be left out, if b does not divide n."""
    pair = placed.proposition.pair  # type: ignore[attr-defined]
    run = {noise_1: pair.descent.noise, start: pair.start, steps: pair.steps, order: alpha}
    share, above = N * b / n, assume(Less(S.One, alpha))
    most = combine(share, S.One, (b / n, chain(short(N), kernel.floor_at_most(n / b))))
    shares = kernel.loosen(kernel.positive(share)), most
    mixed = mixture(share, placed, apply(same_batches, put=run), shares, above)
    found = apply(shuffled_once, chance_of_a_place(), mixed, put={records: n, size: b})
    larger = kernel.weaken(found, cut(substitute(_absorbed(), {weight: share, y: scale + mean}), least, most))
    value = (scale + mean) / (alpha - 1)
    divergence = apply(divergence_in_exponent, larger, above, put={epsilon_1: value})
    apart = cancel((s + y) / (alpha - 1), s / (alpha - 1) + y / (alpha - 1), above)
    return kernel.weaken(divergence, substitute(apart, {s: scale, y: mean}))


def everywhere(theorem: Theorem) -> Theorem:
    """What holds for 1 ≤ k ≤ N, at N."""
    return cut(substitute(theorem, {k: N}), combine(S.One, N, (N - 1,)), combine(N, N))


def at_least_one(body: Expr, lowest: Theorem) -> Theorem:
    """1 ≤ the mean of e^body over i = 1, …, k, for k ≤ N; `lowest` says that what body is made of is not negative."""
    above = assume(Less(S.One, alpha))

    def term(at: Expr, *ranges: Theorem) -> Theorem:
        here = at_place(lowest, at, *ranges)
        generic = kernel.monotone(exp(s), s, combine(S.Zero, (alpha - 1) * y, (above, assume(AtMost(S.Zero, y)))))
        value = right_of(here)
        return cut(substitute(generic, {y: value}), here)

    def claim(places: Expr) -> AtMost:
        return AtMost(S.One, exp(LogMeanExp(body, i, places)))

    def step(so_far: Theorem) -> Theorem:
        here = term(N - k - 1, combine(S.Zero, N - k - 1, (S.One, assume(AtMost(k + 1, N)))))
        return cut(_next_mean(_one_more_at_least(), body), so_far, here)

    alone = kernel.unfold(LogMeanExp(body, i, S.One), 0)
    base = kernel.rewrite(term(N - 1), _exponential(alone, S.Zero))
    return kernel.named(induct(k, 1, claim, base, step, upper=N), "a mean of what is at least 1")
