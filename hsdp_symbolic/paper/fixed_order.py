"""Fixed-order noisy mini-batch gradient descent: ε₀^j, `thm:strconvexsmooth`, `thm:convexsmooth`."""

from __future__ import annotations

from functools import cache

from sympy import Expr, Ge, Integer, S, Symbol

from ..display import Dot, FirstEpoch, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..proof import kernel
from ..proof.facts.definitions import before_first_use, between_uses, one_order
from ..proof.facts.renyi import composition
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, From, InOrder, PerOrder, Proposition, Renyi
from ..proof.search import at_most, claimed, equal_bound, given, induct, positive_from_one, short
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
    eta,
    i,
    j,
    j0,
    k,
    m,
    place,
    q,
    rho0,
    sigma,
    start,
    u,
    whole,
)
from .descents import (
    BATCH,
    CONVEX_STEP,
    EPOCHS,
    FIXED_ORDER,
    ORDER,
    STRONGLY_CONVEX,
    TWO_BATCHES,
    below_one,
    by_contraction,
    contraction,
    descent,
    losses_assumed,
)
from .steps import from_the_start, shared, shared_at_most, used

FIRST_EPOCH = "eqn:proof_strongly_convex_first_epoch"
STEP_COST = Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2))
STEP_SQUARE = Over(times(eta, S_g**2), times(2, sigma**2, b**2))


def one_use() -> Theorem:
    """A step with the record, from a point: u = ρ₀."""
    return used(FIXED_ORDER, b, rho0, short(rho0))


def one_epoch_cost(factor: Expr, steps: Expr) -> Expr:
    """u so many steps after the record was used from a point, the first of them being that step; factor is q or 1."""
    return rho0 / GeometricSum(factor**-2, steps)


@cache
def one_epoch(factor: Expr) -> Theorem:
    """u, i ≤ N steps after the record was used from a point in epoch k: the product of lem:recursive telescopes."""
    at = N * k + j0

    def claim(steps: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, at, steps), one_epoch_cost(factor, steps))

    def step(so_far: Theorem) -> Theorem:
        one, last = assume(AtMost(S.One, i)), assume(AtMost(i + 1, N))
        unused = apply(between_uses, one, combine(i, N - 1, (S.One, last)), put={count: N, place: j0, epoch: k})
        cost = one_epoch_cost(factor, i)
        positive = positive_from_one(cost, i, one)
        lemma = substitute(shared(FIXED_ORDER, factor), {start: at, u: cost}, positive)
        found = cut(lemma, so_far, unused)
        sums = [positive_from_one(GeometricSum(factor**power, i), i, one) for power in (2, -2)]
        return equal_bound(found, one_epoch_cost(factor, i + 1), *sums, *_not_one(factor))

    first = substitute(one_use(), {start: at})
    return kernel.named(induct(i, 1, claim, first, step, upper=N), "steps of one epoch, from a point")


def _not_one(factor: Expr) -> list[Theorem]:
    return [below_one()] if factor == q else []


@cache
def remaining() -> Theorem:
    """1 ≤ N − j0: the record's batch exists."""
    return combine(S.One, N - j0, (S.One, given(BATCH)))


@cache
def remaining_positive() -> Theorem:
    """0 < N − j0."""
    return combine(S.Zero, N - j0, (S.One, given(BATCH)), (S.One,))


@cache
def until_first_use(factor: Expr) -> Theorem:
    """u = 0 until the record's batch comes."""

    def claim(steps: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), steps), Integer(0))

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_first_use, assume(AtMost(i + 1, j0)), given(BATCH), put={count: N, after: i})
        return cut(substitute(shared(FIXED_ORDER, factor), {start: Integer(0), u: Integer(0)}), so_far, unused)

    found = induct(i, 0, claim, from_the_start(FIXED_ORDER, Integer(0)), step, upper=j0)
    return cut(substitute(found, {i: j0}), combine(j0, j0))


def before_epoch(at: Expr, epochs: Expr) -> Expr:
    """u before the record is used in an epoch, every epoch being split after `at` steps."""
    decay = q ** (2 * (N - at))
    return decay * one_epoch_cost(q, at) * GeometricSum(decay, epochs)


@cache
def epochs_split(at: Symbol, positive: Theorem, within: Theorem) -> Theorem:
    """u before the record is used in epoch k, for a split 1 ≤ at ≤ N (`positive`, `within`).

    The first `at` steps of an epoch cost what they cost from a point; the others contract by q² each.
    """
    cost = one_epoch_cost(q, at)
    part = cut(substitute(one_epoch(q), {i: at}), positive, within)

    def claim(epochs: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), N * epochs + j0), before_epoch(at, epochs))

    def step(so_far: Theorem) -> Theorem:
        whole = _rest_of_epoch(apply(composition, so_far, part), at, positive, within)
        whole = rewrite(whole, cancel(N * k + j0 + N, N * (k + 1) + j0))
        sums = kernel.unfold(GeometricSum(q ** (2 * (N - at)), k), 1)
        return equal_bound(whole, before_epoch(at, k + 1), positive_from_one(cost, at, positive), by=[sums])

    return kernel.named(induct(k, 0, claim, until_first_use(q), step), "k epochs, each split in two")


def _rest_of_epoch(before: Theorem, at: Symbol, positive: Theorem, within: Theorem) -> Theorem:
    """The N − at steps of epoch k that come after the split."""
    here, cost = N * k + j0 + at, before.proposition.value
    size = positive_from_one(cost, at, positive)

    def claim(steps: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), here + steps), cost * q ** (2 * steps))

    def step(so_far: Theorem) -> Theorem:
        unused = apply(
            between_uses,
            combine(S.One, at + i, (i,), (S.One, positive)),
            combine(at + i, N - 1, (S.One, assume(AtMost(i + 1, N - at)))),
            put={count: N, place: j0, epoch: k},
        )
        value = so_far.proposition.value
        range_ = combine(S.Zero, value, (q ** (2 * i), size), nonzero=[size])
        lemma = substitute(shared_at_most(FIXED_ORDER), {start: Integer(0), i: here + i, u: value}, range_)
        return equal_bound(cut(lemma, so_far, unused), claim(i + 1).value, size)

    found = induct(i, 0, claim, before, step, upper=N - at)
    left = combine(S.Zero, N - at, (S.One, within))
    return cut(substitute(found, {i: N - at}, left), combine(N - at, N - at))


def last_epoch(before: Theorem, factor: Expr) -> Theorem:
    """After K epochs: u before the last use of the record, and what the steps from there on cost from a point."""
    last = N - j0
    part = substitute(one_epoch(factor), {i: last, k: K - 1}, remaining())
    part = cut(part, remaining(), combine(last, N, (j0,)))
    found = apply(composition, before, part)
    return rewrite(found, cancel(N * (K - 1) + N, K * N))


def at_order(found: Theorem, value: Expr, *nonzero: Theorem) -> Theorem:
    """ε = α·u, written as `value`."""
    return equal_bound(apply(one_order, found, given(ORDER)), value, *nonzero)


@cache
def half() -> tuple[Theorem, Theorem]:
    """1 ≤ m ≤ N, for m = ⌊N/2⌋."""
    below = chain(short(m), kernel.floor_at_most(N / 2))
    return combine(S.One, m, (m - 1,)), chain(below, combine(N / 2, N, (N / 2,)))


def first_epoch_named() -> tuple[tuple[Expr, Expr], ...]:
    """ε₀^j(α), which occurs by name in the bounds after K epochs, and what it stands for."""
    return ((FirstEpoch(j, alpha), first_epoch().shown),)


def first_epoch_meant() -> tuple[Expr, Symbol]:
    """What ε₀^j(α) means, in j."""
    return undisplay(first_epoch().shown), j


def positive_sums(*counts: tuple[Symbol, Theorem]) -> list[Theorem]:
    """That sums of so many powers are not 0, and q is not 1."""
    sums = [positive_from_one(GeometricSum(q**power, at), at, one) for at, one in counts for power in (2, -2)]
    return [below_one(), *sums]


@cache
def first_epoch() -> Statement:
    """ε₀^j(α): the record was in the first batch, j updates have been made."""
    relations = (ORDER, Ge(j, 1), j <= N, *STRONGLY_CONVEX)
    expr, run = alpha * one_epoch_cost(q, j), descent(InOrder(N, Integer(0)))

    def prove() -> Theorem:
        here = substitute(one_epoch(q), {i: j, k: Integer(0), j0: Integer(0)})
        return at_order(here, expr, positive_from_one(expr, j, given(relations[1])))

    return Statement(
        label=FIRST_EPOCH,
        kind="equation",
        title="First-epoch bound",
        where="Appendix D.5, used in Theorem 3.3",
        says="ε after j iterations of the first epoch, for data in the first mini-batch.",
        bounds=r"\varepsilon_0^{j}(\alpha)",
        names_it=True,
        theorem=claimed(Renyi(From(run, Integer(0), j), alpha, expr), relations, by_contraction(run), prove),
        shown=Dot(STEP_COST, q ** times(2, j - 1), Over(1, GeometricSum(q**2, j))),
        printed_with=lambda: positive_sums((j, given(relations[1]))),
        hypotheses=relations,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )


def first_term() -> Expr:
    """What K − 1 whole epochs leave behind: the term thm:strconvexsmooth and thm:shuffle share."""
    return first_epoch().expr.subs(j, m) * GeometricSum(q ** (2 * (N - m)), K - 1)


def first_term_shown() -> Expr:
    """The same, as the paper prints it."""
    return Dot(FirstEpoch(m, alpha), Over(1 - q ** times(2, K - 1, N - m), 1 - q ** times(2, N - m)))


@cache
def rest_of_half() -> Theorem:
    """1 ≤ N − m."""
    positive = combine(S.Zero, N - m, (S.One, chain(short(m), kernel.floor_at_most(N / 2))), (N / 2,))
    return kernel.next_whole(positive)


@cache
def decay_below_one() -> Theorem:
    """0 < 1 − q^(2(N−m))."""
    below = combine(S.Zero, 1 - q ** (2 * whole), (below_one(), 1 + q, GeometricSum(q**2, whole)))
    return substitute(below, {whole: N - m}, rest_of_half())


def without_factor(found: Theorem, value: Expr) -> Theorem:
    """The same without the factor q^(2(N−m)) of the first term, which the last line of the paper's proof drops."""
    return at_most(found, value, (first_term(), decay_below_one()), nonzero=last_sums())


def last_sums() -> list[Theorem]:
    """That the sums over the steps after the last use are not 0, nor is 1 − q."""
    sums = [GeometricSum(q**power, whole) for power in (2, -2)]
    return [below_one(), *(substitute(kernel.positive(each), {whole: N - j0}, remaining()) for each in sums)]


@cache
def strongly_convex() -> Statement:
    """`thm:strconvexsmooth`."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX, BATCH)
    last = first_epoch().expr.subs(j, N - j0)
    expr = first_term() + last  # not factored: each term reaches its own scale before they are added

    def prove() -> Theorem:
        positive, within = half()
        before = substitute(epochs_split(m, positive, within), {k: K - 1})
        found = last_epoch(before, q)
        return without_factor(at_order(found, alpha * before_epoch(m, K - 1) + last, *last_sums()), expr)

    return Statement(
        label="thm:strconvexsmooth",
        title="Privacy dynamics under strongly convex smooth loss",
        where="Theorem 3.3 (proof in Appendix D.5)",
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, expr), relations, by_contraction(FIXED_ORDER), prove
        ),
        shown=Plus(first_term_shown(), FirstEpoch(N - j0, alpha)),
        first_epoch=first_epoch_meant(),
        printed_with=lambda: [*last_sums(), decay_below_one()],
        names=first_epoch_named(),
        hypotheses=relations,
        uses=(FIRST_EPOCH, "lem:LSIseq_stronglyconvex", "lem:recursive"),
    )


@cache
def convex() -> Statement:
    """`thm:convexsmooth`."""
    relations = (ORDER, EPOCHS, CONVEX_STEP, BATCH)
    expr = alpha * (one_epoch_cost(S.One, N) * (K - 1) + one_epoch_cost(S.One, N - j0))

    def claim(epochs: Expr) -> Proposition:
        return PerOrder(From(FIXED_ORDER, Integer(0), N * epochs + j0), one_epoch_cost(S.One, N) * epochs)

    def step(so_far: Theorem) -> Theorem:
        epoch_ = cut(substitute(one_epoch(S.One), {i: N}), combine(S.One, N, (N - 1,)), combine(N, N))
        found = rewrite(apply(composition, so_far, epoch_), cancel(N * k + j0 + N, N * (k + 1) + j0))
        return equal_bound(found, claim(k + 1).value)

    def prove() -> Theorem:
        before = kernel.named(induct(k, 0, claim, until_first_use(S.One), step), "k epochs")
        found = last_epoch(substitute(before, {k: K - 1}), S.One)
        return cut(at_order(found, expr, remaining_positive()), contraction(FIXED_ORDER, Integer(0)))

    return Statement(
        label="thm:convexsmooth",
        title="Privacy dynamics under convex smooth loss",
        where="Theorem D.4 (Appendix D.4)",
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, without strong convexity.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, expr),
            relations,
            losses_assumed(FIXED_ORDER, b, S.Zero),
            prove,
        ),
        shown=Plus(Dot(STEP_COST, Over(1, N), K - 1), Dot(STEP_COST, Over(1, N - j0))),
        printed_with=lambda: [remaining_positive()],
        hypotheses=relations,
        uses=("lem:LSIseq_convex", "lem:recursive"),
    )
