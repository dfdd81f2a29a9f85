"""Optimal shifts for every pattern: any shifts that leave nothing give a bound, and those of a minorant spend least.

Step t is c_t-Lipschitz (c_t may exceed 1), its two maps are at most s_t apart (0 where it does not use the record), its
noise has variance v_t. Shifts a_t ≥ 0 turn a distance z_t into z_(t+1) = c_t·z_t + s_t − a_t ≥ 0. Where prices
w_t = 2a_t/v_t, the slopes of a path in the coordinates of `functions.convex_minorant`, rise only where nothing is left
to hide, no other shifts spend less: that is what pooling steps whose slopes fall ends with (isotonic regression).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Lambda, S

from ..functions.sum_over import SumOver
from ..proof import kernel
from ..proof.facts.definitions import RUN
from ..proof.facts.drift import (
    Drift,
    Scheduled,
    drift_end,
    drift_maps,
    drift_start,
    drift_wider,
    hide,
    scheduled_apart,
    scheduled_lipschitz,
    scheduled_noise,
)
from ..proof.facts.spending import (
    PATTERN,
    Rising,
    Shifted,
    Spent,
    Varying,
    higher_price,
    nothing_left,
    nothing_spent,
    price_rises,
    price_stays,
    shifted_start,
    shifted_step,
    spent_step,
    varying_step,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, rewrite, substitute
from ..proof.propositions import AtMost, Equal
from ..proof.search import equal_bound, induct
from ..symbols import (
    H_1,
    H_2,
    T,
    a_t,
    after,
    away_at,
    cost_2,
    factor_at,
    hidden,
    i,
    inverse,
    jump_at,
    price_at,
    shift_at,
    time_1,
    variance_at,
    x_1,
    x_2,
    z,
)

_FACTORS, _VARIANCES, _JUMPS, _AWAY, _PRICES = (
    Lambda(time_1, each(time_1)) for each in (factor_at, variance_at, jump_at, away_at, price_at)
)


def _more(body: Expr, steps: Expr) -> Theorem:
    """A sum over steps + 1 terms, from that over so many."""
    one = SumOver(body, time_1, steps + 1)
    return kernel.unfold(one, 0) if steps == 0 else kernel.unfold(SumOver(body, time_1, steps), 1)


# --- Any shifts that leave nothing give a bound ---------------------------------------------------------------------


_SPENT = shift_at(time_1) ** 2 / variance_at(time_1)


@cache
def any_shifts() -> Theorem:
    """Whatever the pattern: shifts that leave nothing at the end give Gaussian privacy with μ² = Σ a_t²/v_t."""
    schedule = assume(Scheduled(RUN, _FACTORS, _VARIANCES, _JUMPS))
    shifts = assume(Shifted(_FACTORS, _JUMPS, Lambda(time_1, shift_at(time_1)), _AWAY))

    def claim(steps: Expr) -> Drift:
        return Drift(RUN, steps, away_at(steps), SumOver(_SPENT, time_1, steps))

    def step(so_far: Theorem) -> Theorem:
        lipschitz, apart, noise = (
            apply(fact, schedule, put={after: i}) for fact in (scheduled_lipschitz, scheduled_apart, scheduled_noise)
        )
        maps = apply(drift_maps, lipschitz, apart, so_far)
        left = apply(shifted_step, shifts, put={after: i})
        mapped = maps.proposition.distance  # type: ignore[attr-defined]
        room = combine(shift_at(i), mapped, (S.One, kernel.loosen(left)), (away_at(i + 1),))
        level = kernel.positive(variance_at(i))
        found = apply(hide, maps, noise, kernel.positive(shift_at(i)), room, level, put={hidden: shift_at(i)})
        return equal_bound(rewrite(found, kernel.swap(left)), claim(i + 1).cost, by=[_more(_SPENT, i)])

    start = apply(drift_wider, apply(drift_start), kernel.positive(away_at(Integer(0))))
    found = substitute(induct(i, 0, claim, start, step), {i: T})
    met = rewrite(found, assume(Equal(away_at(T), S.Zero)))
    return kernel.named(apply(drift_end, met), "any shifts that leave nothing")


# --- Those of a minorant spend least --------------------------------------------------------------------------------

_PATTERN = Varying(_FACTORS, _VARIANCES, _JUMPS)
_SHIFT = variance_at(time_1) * price_at(time_1) / 2
"""The best shift at a price w, v·w/2; it spends …"""
_LEAST = variance_at(time_1) * price_at(time_1) ** 2 / 4
_BOUND = price_at(time_1) * jump_at(time_1) - _LEAST
"""What a step adds to what any shifts spend, at its price, if nothing is left."""


@cache
def priced() -> Theorem:
    """What any shifts must have spent after i + 1 steps, if prices rise."""
    rising = assume(Rising(_FACTORS, _PRICES, _AWAY))

    def claim(steps: Expr) -> Spent:
        return Spent(_PATTERN, steps + 1, price_at(steps), SumOver(_BOUND, time_1, steps + 1))

    def one(before: Theorem, at: Expr) -> Theorem:
        """One step at the price that belongs to it: a²/v − w·a is least at a = v·w/2."""
        price, variance, so_far = price_at(at), variance_at(at), before.proposition.value
        more = so_far + _BOUND.subs(time_1, at)
        left = more - price * (factor_at(at) * z + jump_at(at) - a_t)
        right = so_far - factor_at(at) * price * z + a_t**2 / variance
        least = kernel.loosen(combine(left, right, ((a_t - variance * price / 2) ** 2 / variance,)))
        step = apply(varying_step, put={after: at})
        put = {inverse: price, cost_2: more}
        found = apply(spent_step, before, step, kernel.positive(variance), least, put=put)
        return rewrite(found, cancel(more, claim(at).least, by=[_more(_BOUND, at)]))

    def step(so_far: Theorem) -> Theorem:
        return one(apply(higher_price, so_far, apply(price_rises, rising, put={after: i})), i + 1)

    nothing = apply(nothing_spent, put={PATTERN: _PATTERN})
    free = apply(higher_price, nothing, kernel.positive(factor_at(Integer(0)) * price_at(Integer(0))))
    return kernel.named(induct(i, 0, claim, one(free, Integer(0)), step), "what any shifts spend")


@cache
def attained() -> Theorem:
    """Shifts v·w/2 have spent no more than they must, after i + 1 steps, if prices rise only where nothing is left."""
    rising = assume(Rising(_FACTORS, _PRICES, _AWAY))
    shift = variance_at(time_1) * price_at(time_1) / 2
    shifts = assume(Shifted(_FACTORS, _JUMPS, Lambda(time_1, shift), _AWAY))

    put = {shift_at: Lambda(time_1, shift)}

    def claim(steps: Expr) -> AtMost:
        left, bound = (SumOver(body, time_1, steps + 1) for body in (_LEAST, _BOUND))
        return AtMost(left, bound - price_at(steps) * away_at(steps + 1))

    def one(at: Expr, *terms: tuple[kernel.Factor, ...]) -> Theorem:
        """Once more, because of these terms and since w·z, after a step, is no more than planned."""
        planned = kernel.loosen(apply(shifted_step, shifts, put={**put, after: at}))
        wanted, sums = claim(at), [_more(body, at) for body in (_LEAST, _BOUND)]
        return kernel.loosen(combine(wanted.left, wanted.right, (price_at(at), planned), *terms, by=sums))

    def step(so_far: Theorem) -> Theorem:
        stays = kernel.loosen(apply(price_stays, rising, put={after: i}))
        return one(i + 1, (S.One, so_far), (S.One, stays))

    nothing = kernel.loosen(apply(shifted_start, shifts, put=put))
    first = factor_at(Integer(0)) * price_at(Integer(0))
    found = induct(i, 0, claim, one(Integer(0), (first, nothing)), step)
    return kernel.named(found, "no more than any shifts spend")


@cache
def least_shifts() -> Theorem:
    """Whatever the pattern: no shifts spend less than those whose prices rise, and only where nothing is left."""
    end = {i: T - 1}
    bound = apply(nothing_left, substitute(priced(), end))
    spent = substitute(attained(), end)
    nothing = assume(Equal(away_at(T), S.Zero))
    left, right = SumOver(_LEAST, time_1, T), SumOver(_BOUND, time_1, T)
    enough = combine(left, right, (S.One, spent), (price_at(T - 1), kernel.loosen(kernel.swap(nothing))))
    return kernel.named(kernel.weaken(bound, kernel.loosen(enough)), "no shifts spend less")


@cache
def best_shifts() -> Theorem:
    """These shifts give Gaussian privacy with μ² = Σ v_t·w_t²/4, which is what `least_shifts` says any shifts spend."""
    found = substitute(any_shifts(), {shift_at: Lambda(time_1, _SHIFT)})
    return kernel.named(equal_bound(found, SumOver(_LEAST, time_1, T)), "the best shifts, whatever the pattern")


# --- Pooling --------------------------------------------------------------------------------------------------------


def _pooled(first: bool) -> Theorem:
    """The chord of two edges that rise by H_1 over x_1 and by H_2 over x_2, at a part P of one of them."""
    falls = assume(AtMost(H_2 / x_2, H_1 / x_1))
    slope, part = (H_1 + H_2) / (x_1 + x_2), z / (1 + z)
    if first:
        low, high, over = slope * part * x_1, H_1 * part, x_1 * part * x_2
    else:
        low, high, over = H_1 + H_2 - slope * part * x_2, H_1 + H_2 - H_2 * part, x_2 * part * x_1
    return kernel.loosen(combine(low, high, (over / (x_1 + x_2), falls)))


@cache
def pooled_below_first() -> Theorem:
    """Where the second of two edges is no steeper than the first, their chord lies below the first."""
    return kernel.named(_pooled(first=True), "pooling stays below the first edge")


@cache
def pooled_below_second() -> Theorem:
    """It lies below the second, too, seen from its end: a path below the points stays so when edges are pooled."""
    return kernel.named(_pooled(first=False), "pooling stays below the second edge")
