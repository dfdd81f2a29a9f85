"""Shifts for a fixed order of batches: what a drifted copy of the first run costs, for one rate at which it is steered.

The record is used every N steps, for the first time in step j0, and j = N − j0 steps are left when its last use
comes. The shift of the i-th step after the first use is r·L^(−i); after the last use it may change its rate. Before
use k the copy is then L^(N−1)·Σ_(e<k) L^(Ne) − r·L^(Nk−1)·Σ_(i<Nk) L^(−2i) units away, which is not negative up to
the last use if it is not negative there. What is spent is Σa².
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, S

from ..functions.geometric import GeometricSum
from ..paper.descents import BATCH, FIXED_ORDER, below_one
from ..paper.fixed_order import remaining
from ..proof import kernel
from ..proof.facts.definitions import before_first_use, between_uses
from ..proof.facts.drift import Drift
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Proposition
from ..proof.search import given, induct, power_below_one
from ..symbols import K, N, a_t, after, b, count, epoch, i, j0, k, place, q, rho0, split, u, whole, z
from .drifts import Units


@cache
def units(factor: Expr) -> Units:
    """The run, for updates that are Lipschitz with this factor, q or 1."""
    apart_from_one = (below_one(), power_below_one(q, N, below_one())) if factor == q else ()
    return Units(FIXED_ORDER, b, factor, rho0, apart_from_one)


def first_squares(factor: Expr) -> Expr:
    """Σ L^(−2i) over the steps from the first use to the last."""
    return GeometricSum(factor**-2, N * (K - 1))


def last_squares(factor: Expr, left: Expr = N - j0) -> Expr:
    """Σ L^(−2i) over the steps from the last use on, of which so many are left."""
    return GeometricSum(factor**-2, left)


def at_use(factor: Expr, uses: Expr) -> Expr:
    """How far away the copy is, before the use of the record that comes after so many."""
    hits = factor ** (N - 1) * GeometricSum(factor**N, uses)
    return hits - a_t * factor ** (N * uses - 1) * GeometricSum(factor**-2, N * uses)


def within(factor: Expr, uses: Expr, steps: Expr) -> Expr:
    """How far away it is, so many steps after that use, the step of the use being the first."""
    hits = factor ** (steps - 1) * GeometricSum(factor**N, uses + 1)
    return hits - a_t * factor ** (N * uses + steps - 1) * GeometricSum(factor**-2, N * uses + steps)


def largest_rate(factor: Expr, uses: Expr) -> Expr:
    """The rate at which nothing is left before the use of the record that comes after so many."""
    weight = factor ** (N * uses)
    return factor ** (N - 2) * weight * (1 + factor**N) / ((1 + weight) * GeometricSum(factor**2, N))


def slow_enough(factor: Expr) -> Proposition:
    """The rate leaves something before the last use of the record, or nothing."""
    return AtMost(a_t, largest_rate(factor, K - 1))


@cache
def rates_fall(factor: Expr) -> Theorem:
    """The largest rate falls from use to use: here from use k to `split` uses later."""
    low, high = largest_rate(factor, k + split), largest_rate(factor, k)
    if factor == 1:
        return combine(low, high)
    more = high * (1 + q) / ((1 + q ** (N * (k + split))) * (1 + q))
    return combine(low, high, (more, below_one(), GeometricSum(q, N * split)))


@cache
def never_beyond(factor: Expr) -> Theorem:
    """0 ≤ distance before use k + 1, if k + 1 ≤ K − 1 and the rate is slow enough."""
    later = assume(AtMost(k + 1, K - 1))
    more = combine(S.Zero, K - 2 - k, (S.One, later))
    falls = substitute(rates_fall(factor), {split: K - 2 - k, k: k + 1}, more)
    falls = rewrite(falls, cancel(falls.proposition.left, largest_rate(factor, K - 1)))  # type: ignore[attr-defined]
    slow = kernel.chain(assume(slow_enough(factor)), falls)
    there = at_use(factor, k + 1)
    scale = factor ** (N * (k + 1) - 1) * GeometricSum(factor**-2, N * (k + 1))
    return combine(S.Zero, there, (scale, slow), nonzero=units(factor).nonzero)


@cache
def left_over(factor: Expr) -> Theorem:
    """0 ≤ distance i ≤ N steps after use k: it was carried on, and shifted, to what is left before the next use."""
    to_come = combine(S.Zero, N - i, (S.One, assume(AtMost(i, N))))
    gone = factor ** (-N * k - i - 1)
    shifts = substitute(kernel.positive(gone * GeometricSum(factor**-2, split)), {split: N - i}, to_come)
    return combine(
        S.Zero,
        within(factor, k, i),
        (factor ** (i - N), never_beyond(factor)),
        (a_t, shifts),
        nonzero=units(factor).nonzero,
    )


def _unused(steps: Expr, *limits: Theorem) -> Theorem:
    """So many steps after use k, fewer than N, the record is not used."""
    return apply(between_uses, *limits, put={count: N, place: j0, epoch: k})


@cache
def until_first_use(factor: Expr) -> Theorem:
    """Nothing to hide until the record's batch comes."""
    here = units(factor)

    def claim(steps: Expr) -> Drift:
        return here.state(steps, S.Zero, S.Zero)

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_first_use, assume(AtMost(i + 1, j0)), given(BATCH), put={count: N, after: i})
        return here.hiding(here.unused(so_far, unused), S.Zero, claim(i + 1), combine(S.Zero, S.Zero))

    found = induct(i, 0, claim, here.started(), step, upper=j0)
    return cut(substitute(found, {i: j0}), combine(j0, j0))


@cache
def one_epoch(factor: Expr) -> Theorem:
    """From use k of the record to the next, hiding r·L^(−s) in the s-th step after the first use."""
    here, first = units(factor), N * k + j0
    before = assume(here.state(first, at_use(factor, k), a_t**2 * GeometricSum(factor**-2, N * k)))

    def claim(steps: Expr) -> Drift:
        spent = a_t**2 * GeometricSum(factor**-2, N * k + steps)
        return here.state(first + steps, within(factor, k, steps), spent)

    def left(steps: Expr, *limits: Theorem) -> Theorem:
        return cut(substitute(left_over(factor), {i: steps}), *limits)

    def step(so_far: Theorem) -> Theorem:
        one, last = assume(AtMost(S.One, i)), assume(AtMost(i + 1, N))
        maps = here.unused(so_far, _unused(i, one, combine(i, N - 1, (S.One, last))))
        return here.hiding(maps, a_t * factor ** (-N * k - i), claim(i + 1), left(i + 1, last))

    base = here.hiding(
        here.used(before), a_t * factor ** (-N * k), claim(S.One), left(S.One, combine(S.One, N, (N - 1,)))
    )
    found = induct(i, 1, claim, base, step, upper=N)
    found = cut(substitute(found, {i: N}), combine(S.One, N, (N - 1,)), combine(N, N))
    return kernel.named(found, "from one use of the record to the next")


@cache
def before_last_use(factor: Expr) -> Theorem:
    """Before the last use of the record, for any rate that is slow enough."""
    here = units(factor)

    def claim(uses: Expr) -> Drift:
        return here.state(N * uses + j0, at_use(factor, uses), a_t**2 * GeometricSum(factor**-2, N * uses))

    def step(so_far: Theorem) -> Theorem:
        found = cut(one_epoch(factor), so_far)
        target = claim(k + 1)
        for old, new in zip(found.proposition.expressions(), target.expressions(), strict=True):
            found = found if old == new else rewrite(found, cancel(old, new, *here.nonzero))
        return found

    found = induct(k, 0, claim, until_first_use(factor), step, upper=K - 1)
    return kernel.named(cut(substitute(found, {k: K - 1}), combine(K - 1, K - 1)), "until the last use of the record")


@cache
def last_stretch(factor: Expr) -> Theorem:
    """From the last use on: z away and u spent before it, all is hidden for (1 + Lz)²/Σ_(i<j) L^(−2i) more."""
    here, first, left = units(factor), N * (K - 1) + j0, N - j0
    before = assume(here.state(first, z, u))
    squares = last_squares(factor)
    rate = (1 + factor * z) / squares
    some, size = (
        substitute(kernel.positive(each.subs(left, whole)), {whole: left}, remaining()) for each in (squares, rate)
    )
    known = (some, *here.nonzero)

    def away(steps: Expr) -> Expr:
        return rate * factor ** (-steps - 1) * GeometricSum(factor**-2, left - steps)

    def claim(steps: Expr) -> Drift:
        return here.state(first + steps, away(steps), u + rate**2 * GeometricSum(factor**-2, steps))

    def not_negative(steps: Expr, limit: Theorem) -> Theorem:
        more = combine(S.Zero, left - steps, (S.One, limit))
        powers = substitute(kernel.positive(GeometricSum(factor**-2, split)), {split: left - steps}, more)
        return combine(S.Zero, away(steps), (factor ** (-steps - 1), size, powers), nonzero=known)

    def step(so_far: Theorem) -> Theorem:
        one, last = assume(AtMost(S.One, i)), assume(AtMost(i + 1, left))
        unused = _unused(i, one, combine(i, N - 1, (S.One, last), (j0,)))
        unused = substitute(unused, {k: K - 1})
        maps = here.unused(so_far, unused)
        return here.hiding(
            maps,
            combine(S.Zero, rate * factor**-i, (factor**-i, size), nonzero=known),
            claim(i + 1),
            not_negative(i + 1, last),
            *known,
        )

    base = here.hiding(here.used(before), size, claim(S.One), not_negative(S.One, remaining()), *known)
    found = induct(i, 1, claim, base, step, upper=left)
    found = cut(substitute(found, {i: left}, remaining()), remaining(), combine(left, left))
    end = here.state(K * N, S.Zero, u + (1 + factor * z) ** 2 / squares)
    for old, new in zip(found.proposition.expressions(), end.expressions(), strict=True):
        found = found if old == new else rewrite(found, cancel(old, new, *known))
    return kernel.named(found, "from the last use of the record on")


def spent(factor: Expr, left: Expr = N - j0) -> Expr:
    """Σa², for one rate up to the last use of the record and the rate that hides the rest from there on."""
    before = a_t**2 * first_squares(factor)
    return before + (1 + factor * at_use(factor, K - 1)) ** 2 / last_squares(factor, left)


@cache
def steered(factor: Expr) -> Theorem:
    """The copy meets the first run at the end, for any rate that is slow enough."""
    slow = assume(slow_enough(factor))
    scale = factor ** (N * (K - 1) - 1) * first_squares(factor)
    left = combine(S.Zero, at_use(factor, K - 1), (scale, slow), nonzero=units(factor).nonzero)
    end = {z: at_use(factor, K - 1), u: a_t**2 * first_squares(factor)}
    found = cut(substitute(last_stretch(factor), end, left), before_last_use(factor))
    return kernel.named(found, "any rate that is slow enough")
