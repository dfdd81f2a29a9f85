"""No shifts spend less than those of `cycle`: weak duality, step by step.

A price 2r·L^(−s) for what is left of a distance s steps after the first use makes the shift r·L^(−s) the best one in
each step. Prices may rise on the way, as z ≥ 0, and do so at the last use if the edges are two.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, S

from ..functions.geometric import GeometricSum
from ..paper.descents import BATCH, FIXED_ORDER
from ..paper.fixed_order import remaining
from ..proof import kernel
from ..proof.facts.definitions import before_first_use, between_uses
from ..proof.facts.spending import (
    PATTERN,
    Hits,
    Spent,
    higher_price,
    in_its_batch,
    nothing_left,
    nothing_spent,
    spent_step,
    step_with_hit,
    step_without_hit,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Proposition
from ..proof.search import given, induct
from ..symbols import K, N, a_t, after, cost_2, count, epoch, factor, i, inverse, j0, k, place, q, s, w, z, z_2
from .cycle import units

ORDERED = FIXED_ORDER.batches


def _step(so_far: Theorem, how: Theorem, hit: int, factor_: Expr, after_: Spent) -> Theorem:
    """One more step: c − wz + a² is least, for the distance it leaves, at a = (w/L)/2."""
    before, known = so_far.proposition, units(factor_).nonzero if factor_ == q else ()
    left = after_.least - after_.price * (factor_ * z + hit - a_t)
    right = before.least - before.price * z + a_t**2  # type: ignore[attr-defined]
    least = kernel.loosen(combine(left, right, ((a_t - after_.price / 2) ** 2,), nonzero=known))
    step = apply(step_with_hit if hit else step_without_hit, how, put={factor: factor_})
    put = {inverse: after_.price, cost_2: after_.least}
    return _written(apply(spent_step, so_far, step, kernel.positive(S.One), least, put=put), after_)


def _written(found: Theorem, wanted: Proposition, *known: Theorem) -> Theorem:
    """The same, written as wanted."""
    for old, new in zip(found.proposition.expressions(), wanted.expressions(), strict=True):
        found = found if old == new else rewrite(found, cancel(old, new, *known))
    return found


@cache
def one_stretch(factor_: Expr) -> Theorem:
    """From use k of the record on, i ≤ N steps: at a price that makes w·L^(−s) the best shift in the s-th of them."""
    first = N * k + j0

    def claim(steps: Expr) -> Spent:
        spent = s + 2 * w - w**2 * GeometricSum(factor_**-2, steps)
        return Spent(Hits(ORDERED, factor_), first + steps, 2 * w * factor_ ** (1 - steps), spent)

    def step(so_far: Theorem) -> Theorem:
        one, last = assume(AtMost(S.One, i)), assume(AtMost(i + 1, N))
        limits = one, combine(i, N - 1, (S.One, last))
        unused = apply(between_uses, *limits, put={count: N, place: j0, epoch: k})
        return _step(so_far, unused, 0, factor_, claim(i + 1))

    before = assume(Spent(Hits(ORDERED, factor_), first, 2 * w * factor_, s))
    used = apply(in_its_batch, kernel.loosen(kernel.positive(j0)), given(BATCH), put={count: N, epoch: k})
    base = _step(before, used, 1, factor_, claim(S.One))
    return induct(i, 1, claim, base, step, upper=N)


@cache
def until_first_use(factor_: Expr) -> Theorem:
    """Nothing need be spent until the record's batch comes."""

    def claim(steps: Expr) -> Spent:
        return Spent(Hits(ORDERED, factor_), steps, S.Zero, S.Zero)

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_first_use, assume(AtMost(i + 1, j0)), given(BATCH), put={count: N, after: i})
        return _step(so_far, unused, 0, factor_, claim(i + 1))

    start = apply(nothing_spent, put={PATTERN: Hits(ORDERED, factor_)})
    found = induct(i, 0, claim, start, step, upper=j0)
    return cut(substitute(found, {i: j0}), combine(j0, j0))


@cache
def before_use(factor_: Expr) -> Theorem:
    """What must have been spent before use k of the record, at the price that belongs to a rate w."""
    known = units(factor_).nonzero

    def claim(uses: Expr) -> Spent:
        spent = 2 * w * GeometricSum(factor_**-N, uses) - w**2 * GeometricSum(factor_**-2, N * uses)
        return Spent(Hits(ORDERED, factor_), N * uses + j0, 2 * w * factor_ ** (1 - N * uses), spent)

    def step(so_far: Theorem) -> Theorem:
        whole = cut(substitute(one_stretch(factor_), {i: N}), combine(S.One, N, (N - 1,)), combine(N, N))
        here = {w: w * factor_ ** (-N * k), s: claim(k).least}
        lemma = substitute(whole, here)
        wanted = next(each for each in lemma.hypotheses if isinstance(each, Spent))
        return _written(cut(lemma, _written(so_far, wanted, *known)), claim(k + 1), *known)

    priced = apply(higher_price, until_first_use(factor_), kernel.loosen(kernel.positive(2 * w * factor_)))
    found = induct(k, 0, claim, _written(priced, claim(S.Zero)), step)
    return kernel.named(found, "what any shifts spend, until use k")


@cache
def at_the_end(factor_: Expr) -> Theorem:
    """What any shifts spend: a rate w up to the last use and z_2 from there on, where that is no less."""
    before = substitute(before_use(factor_), {k: K - 1})
    rise = assume(AtMost(w * factor_ ** (-N * (K - 1)), z_2))
    old = before.proposition.price  # type: ignore[attr-defined]
    priced = apply(higher_price, before, kernel.loosen(combine(old, 2 * z_2 * factor_, (2 * factor_, rise))))
    last = substitute(one_stretch(factor_), {k: K - 1, i: N - j0}, remaining())
    last = substitute(last, {w: z_2, s: before.proposition.value})
    found = cut(last, priced, remaining(), combine(N - j0, N, (j0,)))
    found = rewrite(found, cancel(found.proposition.steps, K * N))  # type: ignore[attr-defined]
    return kernel.named(apply(nothing_left, found), "what any shifts spend")
