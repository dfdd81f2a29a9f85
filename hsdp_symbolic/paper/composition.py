"""Plain composition, which adds up what every iterate costs, for every way of making batches.

It needs neither convexity nor a hidden state (iterates that nobody sees).

Neighbouring datasets differ in one record, replaced, as in the paper; for Poisson sampling with a record added or
removed see `mironov2019`.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, exp, factorial, log

from ..display import Dot, Over, Plus, times
from ..functions.log_mix import LogMix
from ..proof import kernel
from ..proof.facts.definitions import BATCHES, RUN, nothing_seen, one_order, update_per_order
from ..proof.facts.epochs import (
    apart_if_drawn,
    composition_at_one_order,
    drawn_by_itself,
    drawn_by_itself_each_time,
    drawn_each_time,
    drawn_or_not,
    not_counted,
    not_drawn,
)
from ..proof.facts.renyi import composition_seen, data_processing, noise_processing
from ..proof.kernel import Fact, Theorem, apply, assume, chain, combine, cut, loosen, rewrite, substitute, swap, weaken
from ..proof.propositions import (
    Apart,
    Batches,
    BatchWith,
    DrawnAfresh,
    EachByItself,
    Equal,
    Every,
    PerOrder,
    Proposition,
    Renyi,
)
from ..proof.search import claimed, equal_bound, given, induct, short, use
from ..statement import Statement
from ..symbols import K, N, S_g, alpha, b, count, eta, i, k, n, noise_1, rate, rho0, rho_n, sigma, start, steps
from .descents import EPOCHS, FULL_BATCH, NOISE, ORDER, apart, descent
from .epochs import ONCE_AN_EPOCH, used_or_missed, uses, uses_at_most
from .fixed_order import STEP_COST, at_order
from .mixtures import two_divergences
from .steps import from_the_start, used

ENOUGH = b <= n


def step_without(unused: Theorem) -> Theorem:
    """A step that does not use the record costs nothing, from a point: `unused` says so of step t of a run."""
    run, at = descent(unused.proposition.batches), unused.proposition.time  # type: ignore[attr-defined]
    moved = apply(data_processing, unused, from_the_start(run, at))
    return apply(update_per_order, apply(noise_processing, moved, kernel.positive(NOISE)))


@cache
def uses_seen() -> Theorem:
    """Every iterate of i steps, by the number of uses of the record."""
    run = ONCE_AN_EPOCH

    def claim(steps_: Expr) -> Proposition:
        return PerOrder(Every(run, steps_), rho0 * uses(steps_))

    def missed(so_far: Theorem) -> Theorem:
        same = assume(Equal(uses(i + 1), uses(i)))
        here = step_without(apply(not_counted, same, put={count: N, steps: i}))
        return rewrite(apply(composition_seen, so_far, here), swap(same))

    def hit(so_far: Theorem) -> Theorem:
        one_more = assume(Equal(uses(i + 1), uses(i) + 1))
        here = substitute(used(run, b, rho0, short(rho0)), {start: i})
        found = apply(composition_seen, so_far, here)
        return rewrite(equal_bound(found, rho0 * (uses(i) + 1)), swap(one_more))

    def step(so_far: Theorem) -> Theorem:
        return kernel.each_case(used_or_missed(), missed(so_far), hit(so_far))

    seen = apply(nothing_seen, put={RUN: run})
    at_start = weaken(seen, kernel.positive(claim(Integer(0)).value))
    return kernel.named(induct(i, 0, claim, at_start, step), "every iterate, by the number of uses")


@cache
def each_once() -> Statement:
    """Composition where every record is used at most once an epoch."""
    relations = (ORDER, EPOCHS, ENOUGH)
    expr = K * alpha * rho0

    def prove() -> Theorem:
        counted = substitute(uses_seen(), {i: K * N})
        fewer = combine(counted.proposition.value, K * rho0, (rho0, substitute(uses_at_most(), {k: K})))
        return at_order(weaken(counted, fewer), expr)

    return Statement(
        label="composition:fixed",
        kind="baseline",
        title="Composition of Gaussian mechanisms, each record once an epoch",
        where="not in the paper",
        says="ε of releasing every iterate of K epochs, in whatever order batches come.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(Every(ONCE_AN_EPOCH, K * N), alpha, expr),
            relations,
            (Apart(ONCE_AN_EPOCH, eta * S_g / b),),
            prove,
        ),
        shown=Dot(K, STEP_COST),
        hypotheses=relations,
        assumes=("an epoch uses a record at most once, in any order",),
    )


@cache
def full_batch() -> Statement:
    """Composition where every update uses all records."""
    relations = (ORDER, EPOCHS)
    expr = K * alpha * rho_n

    def claim(steps_: Expr) -> Proposition:
        return PerOrder(Every(FULL_BATCH, steps_), rho_n * steps_)

    def step(so_far: Theorem) -> Theorem:
        here = substitute(used(FULL_BATCH, n, rho_n, short(rho_n)), {start: i})
        return equal_bound(apply(composition_seen, so_far, here), rho_n * (i + 1))

    def prove() -> Theorem:
        found = induct(i, 0, claim, apply(nothing_seen, put={RUN: FULL_BATCH}), step)
        return at_order(substitute(kernel.named(found, "every iterate of i steps"), {i: K}), expr)

    return Statement(
        label="composition:full_batch",
        kind="baseline",
        title="Composition of Gaussian mechanisms on the full batch",
        where="not in the paper",
        says="ε of releasing every iterate of K steps on the full batch.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(Every(FULL_BATCH, K), alpha, expr),
            relations,
            (Apart(FULL_BATCH, eta * S_g / n),),
            prove,
        ),
        shown=Dot(K, Over(times(alpha, eta, S_g**2), times(4, sigma**2, n**2))),
        hypotheses=relations,
    )


def _drawn_cost() -> Expr:
    """ε of one step whose batch holds the record with chance b/n."""
    return LogMix(b / n, alpha * (alpha - 1) * rho0, 0) / (alpha - 1)


def _mixed_step(batches: Batches) -> Theorem:
    """One step, the record drawn or not: the mixture of a step with it and one without it (lem:rootconvexity1)."""
    run, with_it = descent(batches), descent(BatchWith(batches))
    hit = cut(used(with_it, b, rho0, short(rho0)), apply(apart_if_drawn, apart(run, b)))
    miss = step_without(apply(not_drawn, put={BATCHES: batches, start: start}))
    first, second = (apply(one_order, each, given(ORDER)) for each in (hit, miss))
    share = loosen(kernel.positive(b / n)), combine(b / n, S.One, (1 / n, given(ENOUGH)))
    found = use(two_divergences(), first, second, given(ORDER), *share)
    return equal_bound(found, _drawn_cost())


def _seen_steps(batches: Batches, one: Theorem, independent: Fact) -> Theorem:
    """Every iterate of i steps, each of which costs `one`; `independent` says that each draws anew."""
    run, anew = descent(batches), apply(independent, put={rate: b / n, noise_1: NOISE})

    def claim(steps_: Expr) -> Proposition:
        return Renyi(Every(run, steps_), alpha, steps_ * _drawn_cost())

    def step(so_far: Theorem) -> Theorem:
        found = apply(composition_at_one_order, anew, given(ORDER), so_far, substitute(one, {start: i}))
        return equal_bound(found, claim(i + 1).value, given(ORDER))

    nothing = apply(one_order, apply(nothing_seen, put={RUN: run}), given(ORDER))
    return kernel.named(induct(i, 0, claim, nothing, step), "every iterate of i steps")


@cache
def _without_replacement() -> Theorem:
    """One step whose batch is drawn without replacement."""
    sides = n * factorial(n - 1) * factorial(b), b * factorial(b - 1) * factorial(n)
    chance = chain(kernel.work_out(sides[0]), swap(kernel.work_out(sides[1])))
    return apply(drawn_or_not, chance, _mixed_step(DrawnAfresh(b / n)), put={b: b, n: n})


@cache
def by_poisson_sampling() -> Theorem:
    """The same bound, K·N steps, if every record is drawn by itself with chance b/n."""
    batches = EachByItself(b / n)
    one = apply(drawn_by_itself, _mixed_step(batches))
    return kernel.named(
        substitute(_seen_steps(batches, one, drawn_by_itself_each_time), {i: K * N}),
        "composition:without_replacement, by Poisson",
    )


def _drawn_moment_positive() -> Theorem:
    """0 < (b/n)·e^(κρ₀) + 1 − b/n."""
    (mix,) = _drawn_cost().atoms(LogMix)
    (moment,) = mix.closed().args
    hit = b / n * exp(mix.args[1])
    return combine(S.Zero, moment, (hit,), (1 / n, given(ENOUGH)))


@cache
def sampled() -> Statement:
    """Composition where every batch is drawn afresh and holds the record with probability b/n.

    For Poisson sampling of rate b/n see `by_poisson_sampling`.
    """
    relations = (ORDER, EPOCHS, ENOUGH)
    batches = DrawnAfresh(b / n)
    expr = K * N * _drawn_cost()
    moment = Plus(
        1, -Over(b, n), Dot(Over(b, n), exp(Over(times(alpha - 1, alpha, eta, S_g**2), times(4, sigma**2, b**2))))
    )
    return Statement(
        label="composition:without_replacement",
        kind="baseline",
        title="Composition of sampled Gaussian mechanisms, one record replaced",
        where="not in the paper",
        says="ε of releasing every iterate of K epochs of n/b batches, each drawn afresh.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(Every(descent(batches), K * N), alpha, expr),
            relations,
            (Apart(descent(batches), eta * S_g / b),),
            lambda: substitute(_seen_steps(batches, _without_replacement(), drawn_each_time), {i: K * N}),
        ),
        shown=Dot(Over(times(K, N), alpha - 1), log(moment)),
        printed_with=lambda: [given(ORDER), _drawn_moment_positive()],
        hypotheses=relations,
        uses=("lem:rootconvexity1",),
        assumes=("batches are drawn without replacement, or by Poisson sampling of rate b/n",),
    )
