"""The bounds the paper compares with: Balle et al. 2019 over epochs, the sampled Gaussian of Mironov et al. 2019."""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Eq, Expr, Integer, Piecewise, S, exp, log, sqrt

from ..display import Dot, Over, Plus, times
from ..functions.sampled_gaussian import SampledGaussian
from ..meaning import ONE_DIVISOR, Asks, Neighbouring, Quantity, Released, Terms
from ..proof import kernel
from ..proof.facts.definitions import RUN, before_first_use, nothing_seen, one_order
from ..proof.facts.epochs import composition_at_one_order, sampled_each_time
from ..proof.facts.published import mixing_and_diffusion, sampled_gaussian_at_least
from ..proof.facts.published import sampled_gaussian as sampled_gaussian_fact
from ..proof.facts.renyi import composition
from ..proof.kernel import (
    Theorem,
    apply,
    assume,
    cancel,
    chain,
    combine,
    cut,
    loosen,
    rewrite,
    substitute,
    swap,
    weaken,
)
from ..proof.propositions import (
    Apart,
    AtMost,
    Descent,
    EachByItself,
    Every,
    From,
    GradientSteps,
    Less,
    LossesBetween,
    PerOrder,
    Proposition,
    Renyi,
)
from ..proof.search import claimed, equal_bound, given, induct, ranged, short
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    K,
    N,
    S_g,
    X,
    after,
    alpha,
    alpha_minus_1,
    b,
    beta,
    count,
    epoch,
    eta,
    further,
    i,
    j0,
    k,
    lam,
    n,
    noise_1,
    order,
    place,
    q_balle,
    rate,
    rho0,
    s_unit,
    sigma,
    start,
    t,
    t_tilt,
    z,
)
from .composition import step_without
from .descents import (
    BATCH,
    EPOCHS,
    FIXED_ORDER,
    NOISE,
    ORDER,
    STRONGLY_CONVEX,
    TWO_BATCHES,
    apart,
    losses_assumed,
)
from .fixed_order import STEP_COST, at_order, one_use
from .steps import from_the_start

POISSON = Terms(Neighbouring.ADD_REMOVE, Released.EVERY, Asks.NOTHING)


# --- Balle et al. 2019 ----------------------------------------------------------------------------------------------

_BASE = 1 - 2 * eta * beta * lam / (beta + lam)


@ranged(q_balle)
@cache
def _base_positive() -> tuple[Theorem]:
    """0 < 1 − 2ηβλ/(β+λ), since 2ηβλ/(β+λ) < 4βλ/(β+λ)² ≤ 1."""
    slack = (2 * beta * lam / (beta + lam), given(STRONGLY_CONVEX[2]))
    return (combine(S.Zero, ABBREVIATIONS[q_balle], slack, ((beta - lam) ** 2 / (beta + lam) ** 2,)),)


@cache
def _base() -> Theorem:
    """q_balle = 1 − 2ηβλ/(β+λ)."""
    return chain(short(q_balle), cancel(ABBREVIATIONS[q_balle], _BASE))


def one_pass_cost(more: Expr) -> Expr:
    """u after the record is used from a point and so many further steps, over ρ₀."""
    return q_balle ** ((more + 1) / Integer(2)) / more


def one_pass(more: Expr, at_least: Theorem, at_most: Theorem) -> Theorem:
    """u after the record is used from a point in epoch k, and so many further steps, 1 ≤ more ≤ N − 1."""
    premises = (
        assume(GradientSteps(FIXED_ORDER, eta)),
        assume(LossesBetween(FIXED_ORDER, lam, beta)),
        given(STRONGLY_CONVEX[0]),
        given(STRONGLY_CONVEX[1]),
        kernel.positive(eta),
        loosen(given(STRONGLY_CONVEX[2])),
        _base(),
        apart(FIXED_ORDER, b),
        kernel.positive(NOISE),
        at_least,
        at_most,
    )
    found = apply(mixing_and_diffusion, *premises, put={count: N, place: j0, epoch: k, further: more})
    positive = combine(S.Zero, more, (S.One, at_least), (S.One,))
    return equal_bound(found, rho0 * one_pass_cost(more), positive, by=[short(rho0)])


@cache
def two_batches() -> Theorem:
    """1 ≤ N − 1."""
    two = kernel.floor_at_least(combine(Integer(2), n / b, (2 / b, given(TWO_BATCHES))))
    return combine(S.One, N - 1, (S.One, rewrite(two, swap(short(N)))))


@cache
def _before_use() -> Theorem:
    """u before the record is used in epoch k: every epoch costs as if its record came first."""
    cost = rho0 * one_pass_cost(N - 1)

    def miss(so_far: Theorem) -> Theorem:
        unused = apply(before_first_use, assume(AtMost(i + 1, j0)), given(BATCH), put={count: N, after: i})
        return apply(composition, so_far, step_without(unused))

    def quiet(steps_: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), steps_), Integer(0))

    def claim(epochs: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), N * epochs + j0), cost * epochs)

    def step(so_far: Theorem) -> Theorem:
        epoch_ = one_pass(N - 1, two_batches(), combine(N - 1, N - 1))
        found = rewrite(apply(composition, so_far, epoch_), cancel(N * k + j0 + N, N * (k + 1) + j0))
        return equal_bound(found, cost * (k + 1), _strictly(two_batches()))

    until = induct(i, 0, quiet, from_the_start(FIXED_ORDER, Integer(0)), miss, upper=j0)
    until = cut(substitute(until, {i: j0}), combine(j0, j0))
    return kernel.named(induct(k, 0, claim, until, step), "k epochs, each by the one-pass bound")


def _strictly(at_least_one: Theorem) -> Theorem:
    """0 < x, from 1 ≤ x."""
    value = at_least_one.proposition.right  # type: ignore[attr-defined]
    return combine(S.Zero, value, (S.One, at_least_one), (S.One,))


def _composed(last: Expr) -> Expr:
    """ε after K epochs, the last of which costs ρ₀·last."""
    return alpha * rho0 * (K - 1) * one_pass_cost(N - 1) + alpha * rho0 * last


def _final() -> Expr:
    """What the last use of the record costs, over ρ₀: nothing is gained in the last batch."""
    return Piecewise((1, Eq(j0, N - 1)), (one_pass_cost(N - j0 - 1), True))


def _with_last(part: Theorem, last: Expr, total: Theorem, case: Theorem, *nonzero: Theorem) -> Theorem:
    """ε after K epochs, `part` being the last use and what follows; `case` says which one of `_final` this is."""
    before = substitute(_before_use(), {k: K - 1})
    found = rewrite(apply(composition, before, part), total)
    found = at_order(found, _composed(last), _strictly(two_batches()), *nonzero)
    return weaken(found, swap(kernel.branch(_composed(_final()), case, _strictly(two_batches()), *nonzero)))


def _balle_proof() -> Theorem:
    in_last = kernel.squeeze(given(BATCH), assume(AtMost(N - 1, j0)))
    only = substitute(one_use(), {start: N * (K - 1) + j0})
    ends = cancel(N * (K - 1) + j0 + 1, K * N, by=[in_last])
    at_end = _with_last(only, S.One, ends, in_last)

    earlier = assume(Less(j0, N - 1))
    left = combine(S.One, N - j0 - 1, (S.One, kernel.next_whole(earlier)))
    part = substitute(one_pass(N - j0 - 1, left, combine(N - j0 - 1, N - 1, (j0,))), {k: K - 1})
    goes_on = cancel(N * (K - 1) + N, K * N)
    before_end = _with_last(part, one_pass_cost(N - j0 - 1), goes_on, earlier, _strictly(left))
    return kernel.cases(at_end, cut(before_end, earlier))


@cache
def balle() -> Statement:
    """Theorem 5 of Balle et al., in the paper's letters, composed over epochs."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX, BATCH)
    expr = _composed(_final())
    shown = Plus(
        Dot(STEP_COST, K - 1, Over(q_balle ** Over(N, 2), N - 1)),
        Dot(STEP_COST, Piecewise((1, Eq(j0, N - 1)), (Over(q_balle ** Over(N - j0, 2), N - j0 - 1), True))),
    )
    return Statement(
        label="balle2019",
        kind="baseline",
        title="Mixing and diffusion, composed over epochs (Balle et al. 2019)",
        where="Theorem D.5 and Figure 1 (Appendix D.6)",
        says="ε after K epochs over a fixed sequence of batches, by Balle et al.'s one-pass bound and composition.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, expr),
            relations,
            losses_assumed(FIXED_ORDER, b, lam),
            _balle_proof,
        ),
        shown=shown,
        printed_with=lambda: [_strictly(two_batches())],
        hypotheses=relations,
    )


# --- The sampled Gaussian mechanism ---------------------------------------------------------------------------------

SAMPLED = Descent(EachByItself(b / n), NOISE, Neighbouring.ADD_REMOVE)
_SHARE = b <= n


@cache
def _share_at_most_one() -> Theorem:
    """b/n ≤ 1."""
    return combine(b / n, S.One, (1 / n, given(_SHARE)))


@cache
def sampled_step() -> Theorem:
    """What one step costs from a point; the noise multiplier √(2ησ²)/(ηS_g/b) enters as 1/(2·noise²), which is ρ₀."""
    cost = cancel(rho0, (eta * S_g / b) ** 2 / (2 * NOISE), by=[short(rho0)])
    premises = apart(SAMPLED, b), cost, kernel.positive(NOISE), _share_at_most_one(), given(ORDER)
    return apply(sampled_gaussian_fact, *premises, put={start: start})


def _independent() -> Theorem:
    """What one step draws says nothing about the others."""
    return apply(sampled_each_time, put={rate: b / n, noise_1: NOISE})


@cache
def sampled_gaussian() -> Statement:
    """The composition bound of DP-SGD: Mironov, Talwar & Zhang 2019, Section 3.3."""
    relations = (ORDER, EPOCHS, _SHARE)
    one = SampledGaussian(b / n, rho0, alpha) / (alpha - 1)

    def claim(steps_: Expr) -> Proposition:
        return Renyi(Every(SAMPLED, steps_), alpha, steps_ * one)

    def step(so_far: Theorem) -> Theorem:
        here = substitute(sampled_step(), {start: i})
        found = apply(composition_at_one_order, _independent(), given(ORDER), so_far, here)
        return equal_bound(found, claim(i + 1).value, given(ORDER))

    def prove() -> Theorem:
        nothing = apply(one_order, apply(nothing_seen, put={RUN: SAMPLED}), given(ORDER))
        return substitute(induct(i, 0, claim, nothing, step), {i: K * N})

    shown = Dot(
        K, N, Over(1, alpha - 1), SampledGaussian(Over(b, n), Over(eta * S_g**2, times(4, sigma**2, b**2)), alpha)
    )
    return Statement(
        label="mironov2019",
        kind="baseline",
        title="DP-SGD by composition of sampled Gaussian mechanisms (Mironov et al. 2019)",
        where="Figure 2 (Section 4.1)",
        says="ε of releasing every iterate of K epochs with Poisson-sampled batches of rate b/n.",
        bounds=r"\varepsilon",
        names_it=True,
        theorem=claimed(
            Renyi(Every(SAMPLED, K * N), alpha, K * N * one), relations, (Apart(SAMPLED, eta * S_g / b),), prove
        ),
        shown=shown,
        printed_with=lambda: [given(ORDER)],
        hypotheses=relations,
        assumes=("batches are drawn by Poisson sampling of rate b/n", ONE_DIVISOR),
    )


@cache
def log_of_mixture_at_least() -> Theorem:
    """p·x ≤ log(1 − p + p·e^x), for x ≥ 0 and 0 < p ≤ 1: both are 0 at x = 0, and the right side rises faster."""
    gap = log(X + rate * exp(t)) - rate / (X + rate) * t
    slope = kernel.work_out(Derivative(gap, t))
    growing = kernel.work_out(Derivative(exp(t), t))
    grows = chain(kernel.positive(growing.proposition.right), swap(growing))  # type: ignore[attr-defined]
    above_one = substitute(kernel.rises(exp(t), t, loosen(grows), z), {t: Integer(0)})
    faster = (X * rate / ((X + rate) * (X + rate * exp(t))), substitute(above_one, {z: t}))
    positive = combine(S.Zero, slope.proposition.right, faster)  # type: ignore[attr-defined]
    rising = substitute(kernel.rises(gap, t, loosen(chain(positive, swap(slope))), z), {t: Integer(0)})
    rest = combine(S.Zero, 1 - rate, (S.One, assume(AtMost(rate, S.One))))
    return combine(rate * z, log(1 - rate + rate * exp(z)), (S.One, substitute(rising, {X: 1 - rate}, rest)))


@cache
def step_at_least() -> Theorem:
    """α·p²·ρ₀ ≤ log A_α/(α−1): Hölder with t = ps, s² = 2ρ₀."""
    above_one = combine(S.One, 1 + alpha_minus_1, (alpha_minus_1,))
    share = assume(AtMost(rate, S.One))
    moment = apply(sampled_gaussian_at_least, above_one, share, put={order: 1 + alpha_minus_1})
    at_best = {t_tilt: rate * s_unit}
    low = substitute(log_of_mixture_at_least(), {z: alpha_minus_1 * t_tilt * s_unit})
    value = (1 + alpha_minus_1) * rate**2 * s_unit**2 / 2
    size = moment.proposition.right / alpha_minus_1  # type: ignore[attr-defined]
    terms = (
        ((1 + alpha_minus_1) / alpha_minus_1, substitute(low, at_best)),
        (1 / alpha_minus_1, substitute(moment, at_best)),
    )
    found = combine(value, size, *terms)
    found = substitute(found, {s_unit: sqrt(2 * rho0), rate: b / n})
    return kernel.named(substitute(found, {alpha_minus_1: alpha - 1}, given(ORDER)), "a step costs at least α·p²·ρ₀")


@cache
def small_rate() -> Statement:
    """(b/n)·αρ₀·K, which the paper uses for `mironov2019`: a lower bound on it."""
    divides = n <= b * N
    relations = (ORDER, EPOCHS, _SHARE, divides)
    expr, bound = b / n * alpha * rho0 * K, sampled_gaussian().expr

    def prove() -> Theorem:
        at_least = cut(step_at_least(), _share_at_most_one())
        terms = (K * N, at_least), (K * b / n**2 * alpha * rho0, given(divides))
        return loosen(combine(expr, bound, *terms, nonzero=[given(ORDER)]))

    return Statement(
        label="mironov2019:small_rate",
        kind="baseline",
        title="Small-rate approximation of the composition bound",
        where="caption of Figure 2, Appendix E.1",
        says="What the paper uses for the composition bound; where b divides n it is a lower bound.",
        bounds=r"\varepsilon_{SGM}",
        side="left",
        bounded=Quantity.DIVERGENCE,
        theorem=claimed(AtMost(expr, bound), relations, (), prove),
        shown=Dot(Over(b, n), STEP_COST, K),
        hypotheses=relations,
        uses=("mironov2019",),
        assumes=(*POISSON.words, "batches are drawn by Poisson sampling of rate b/n", ONE_DIVISOR),
    )
