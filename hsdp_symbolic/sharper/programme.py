"""W, the value of the dynamic programme of `control`, never falls with the distance and is convex in it.

`functions.shift_programme` brackets W by chords and tangents, and stops early, because of that. Both are proved
backwards from the last step: W in a state is a log-mixture of E(y) = min over 0 ≤ z' ≤ y of c(y − z')² + W'(z'),
where W' belongs to the state after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sympy import Expr, Integer, Lambda, S, diff, exp, log

from ..functions.log_mix import LogMix
from ..functions.shift_control import Kept, ShiftValue
from ..paper.descents import ORDER, below_one
from ..paper.draws import CHANCE, shares
from ..paper.mixtures import inside
from ..proof import kernel
from ..proof.facts.control import (
    IsConvex,
    NeverFalls,
    at_no_less,
    below_chord,
    best_choice,
    is_convex,
    kept_at_most,
    never_falls,
)
from ..proof.facts.mixtures import convex_on_segment
from ..proof.kernel import Fact, Theorem, apply, assume, cancel, chain, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Equal, Proposition
from ..proof.search import given, induct
from ..symbols import (
    N,
    Y,
    a,
    along,
    alpha,
    cost_1,
    count,
    drifted,
    epoch,
    factor,
    further,
    g_i,
    hidden,
    j,
    k,
    mu_1,
    n,
    q,
    rate,
    rho0,
    split,
    start,
    value_at,
    weight,
    x_i,
    y,
    z,
    z_2,
)
from .control import AFRESH, ANEW, Control, chances, places, room

_NAMES = cost_1, factor, rate, count, epoch, further, start


@cache
def _cost_positive(cost: Expr) -> Theorem:
    """0 < κρ₀."""
    return combine(S.Zero, cost, (alpha * rho0, given(ORDER)))


def _kept(value: ShiftValue, away: Expr) -> Theorem:
    """What is kept is at most what is there; that is seen not to be negative."""
    put = dict(zip(_NAMES, value.args[:-1], strict=True))
    return apply(kept_at_most, kernel.loosen(kernel.positive(away)), put=put | {drifted: away})


def _best(control: Control, value: ShiftValue, away: Expr, some: tuple[Theorem, Theorem], to_come: Theorem) -> Theorem:
    """No choice is better than the best; `some` says 0 ≤ choice ≤ away, `to_come` that a step is to come."""
    chance = kernel.loosen(kernel.positive(value.args[2]))
    put = dict(zip(_NAMES, value.args[:-1], strict=True)) | {drifted: away, hidden: some[0].proposition.right}  # type: ignore[attr-defined]
    left = combine(S.Zero, value.args[5], (value.args[5],))
    return apply(best_choice, *some, to_come, chance, all_chances(control), left, put=put)


@cache
def all_chances(control: Control) -> Theorem:
    """The chances of all batches of a pass add up to at most 1."""
    if control is AFRESH:
        return shares()[1]
    return kernel.loosen(combine(N * CHANCE, S.One, (1 / n, places())))


def _nothing_follows(value: ShiftValue, away: Expr) -> list[Theorem]:
    """At the end nothing is kept, and nothing is to pay."""
    return [kernel.unfold(Kept(*value.args[:-1], away), 0), kernel.unfold(value, 1)]


# --- One choice -----------------------------------------------------------------------------------------------------

Later = tuple[Theorem, Theorem] | None
"""What is known of W after a step, and that a step is to come; None at the end."""


def rising_choice(control: Control, value: ShiftValue, later: Later) -> Theorem:
    """E(z) ≤ E(z₂) for z ≤ z₂: with the same z' it costs more from farther away, and z' beyond z is no better."""
    order, cost = assume(AtMost(z, z_2)), _cost_positive(value.args[0])
    near, far = value.after(z), value.after(z_2)
    if later is None:
        known = [*_nothing_follows(value, z), *_nothing_follows(value, z_2)]
        return combine(near, far, (cost, order, z + z_2), by=known)
    known_later, to_come = later
    kept = Kept(*value.args[:-1], z_2)
    most, size = _kept(value, z_2), kernel.loosen(kernel.positive(kept))
    within = assume(AtMost(kept, z))
    same = _best(control, value, z, (size, within), to_come)
    first = combine(near, far, (S.One, same), (cost, order, within), (cost, order, most))
    beyond = assume(AtMost(z, kept))
    stay = _best(control, value, z, (kernel.loosen(kernel.positive(z)), combine(z, z)), to_come)
    rises = apply(at_no_less, known_later, beyond)
    second = combine(near, far, (S.One, stay), (S.One, rises), (cost, (z_2 - kept) ** 2))
    return kernel.cases(kernel.loosen(first), kernel.loosen(second))


def convex_choice(control: Control, value: ShiftValue, later: Later) -> Theorem:
    """E(wz + (1−w)z₂) ≤ w·E(z) + (1−w)·E(z₂): the choices, mixed, are a choice."""
    low, high = _weights()
    cost, middle = _cost_positive(value.args[0]), _mixed(z, z_2)
    left, right = value.after(middle), _mixed(value.after(z), value.after(z_2))
    if later is None:
        known = [each for away in (middle, z, z_2) for each in _nothing_follows(value, away)]
        return combine(left, right, (low, high, cost, (z - z_2) ** 2), by=known)
    known_later, to_come = later
    one, other = (Kept(*value.args[:-1], each) for each in (z, z_2))
    kept = _mixed(one, other)
    size = combine(S.Zero, kept, (low, one), (high, other))
    within = combine(kept, middle, (low, _kept(value, z)), (high, _kept(value, z_2)))
    best = _best(control, value, middle, (kernel.loosen(size), kernel.loosen(within)), to_come)
    chord = apply(below_chord, known_later, low, high, put={z: one, z_2: other})
    gap = ((z - one) - (z_2 - other)) ** 2
    return combine(left, right, (S.One, best), (S.One, chord), (low, high, cost, gap))


def _mixed(one: Expr, other: Expr) -> Expr:
    return weight * one + (1 - weight) * other


def _weights() -> tuple[Theorem, Theorem]:
    return assume(AtMost(S.Zero, weight)), assume(AtMost(weight, S.One))


# --- A hit or a miss ------------------------------------------------------------------------------------------------

_IS_CHANCE = AtMost(S.Zero, Y), AtMost(Y, S.One)


@cache
def rising_mixture() -> Theorem:
    """log(p·e^x + (1−p)·e^y) never falls with x and y."""
    low, high = map(assume, _IS_CHANCE)
    steps = [kernel.monotone(exp(along), along, assume(AtMost(*ends))) for ends in ((x_i, g_i), (y, a))]
    sums = [Y * exp(one) + (1 - Y) * exp(other) for one, other in ((x_i, y), (g_i, a))]
    more = combine(*sums, (low, steps[0]), (high, steps[1]))
    positive = [substitute(inside(exp(one), exp(other)), {along: Y}) for one, other in ((x_i, y), (g_i, a))]
    found = kernel.monotone(log(mu_1), mu_1, more, *positive)
    parts = zip(((x_i, y), (g_i, a)), sums, positive, strict=True)
    ends = [cancel(LogMix(Y, one, other), log(total), above) for (one, other), total, above in parts]
    return chain(ends[0], found, kernel.swap(ends[1]))


@cache
def convex_mixture() -> Theorem:
    """It is convex in x and y together (Hölder): its second derivative along a segment is p(1−p)·e^x·e^y·(…)²/(…)²."""
    first, second = along * x_i + (1 - along) * g_i, along * y + (1 - along) * a
    total = Y * exp(first) + (1 - Y) * exp(second)
    low, high = map(assume, _IS_CHANCE)
    generic = substitute(inside(exp(x_i), exp(y)), {along: Y})
    positive = substitute(generic, {x_i: first, y: second})
    inverse = substitute(kernel.positive(mu_1**-2), {mu_1: total}, positive)
    slopes = ((x_i - g_i) - (y - a)) ** 2
    curved = combine(
        S.Zero, diff(log(total), along, 2), (low, high, exp(first + second), slopes, inverse), nonzero=[positive]
    )
    put = {value_at: Lambda(along, log(total))}
    found = apply(convex_on_segment, curved, *_weights(), put=put, ranges=[positive])
    ends = found.proposition
    between, other = (
        substitute(generic, {x_i: one, y: two}) for one, two in ((_mixed(x_i, g_i), _mixed(y, a)), (g_i, a))
    )
    left = cancel(LogMix(Y, _mixed(x_i, g_i), _mixed(y, a)), ends.left, between)  # type: ignore[attr-defined]
    right = cancel(ends.right, _mixed(LogMix(Y, x_i, y), LogMix(Y, g_i, a)), generic, other)  # type: ignore[attr-defined]
    return chain(left, found, right)


# --- One step before ------------------------------------------------------------------------------------------------


class Rising:
    """W never falls with the distance."""

    kind: type[NeverFalls] | type[IsConvex] = NeverFalls
    fact: Fact = never_falls
    name = "W never falls with the distance"

    def choice(self, control: Control, value: ShiftValue, later: Later, grown: Expr) -> Theorem:
        """What holds of E(y), for y = q·z + `grown`."""
        lemma = rising_choice(control, value, later)
        ends = {each: q * each + grown for each in (z, z_2)}
        return cut(substitute(lemma, ends), combine(ends[z], ends[z_2], (q, assume(AtMost(z, z_2)))))

    def mixture(self, chance: Expr, chances_: tuple[Theorem, Theorem], hit: Theorem, miss: Theorem) -> Theorem:
        """What holds of the log-mixture of two functions of which it holds."""
        ends = [each.proposition for each in (hit, miss)]
        put = {Y: chance, x_i: ends[0].left, g_i: ends[0].right, y: ends[1].left, a: ends[1].right}  # type: ignore[attr-defined]
        return cut(substitute(rising_mixture(), put, *chances_, hit, miss), *chances_, hit, miss)

    def read(self, found: Theorem, meaning: Theorem) -> Theorem:
        """The same of W, given what W is."""
        return chain(meaning, found, kernel.swap(substitute(meaning, {z: z_2})))


class Convex(Rising):
    """W is convex in the distance."""

    kind = IsConvex
    fact = is_convex
    name = "W is convex in the distance"

    def choice(self, control: Control, value: ShiftValue, later: Later, grown: Expr) -> Theorem:
        ends = {each: q * each + grown for each in (z, z_2)}
        found = substitute(convex_choice(control, value, later), ends)
        middle = q * _mixed(z, z_2) + grown
        found = rewrite(found, cancel(_mixed(ends[z], ends[z_2]), middle))
        left = found.proposition.left  # type: ignore[attr-defined]
        return chain(cancel(value.after(middle), left), found)

    def mixture(self, chance: Expr, chances_: tuple[Theorem, Theorem], hit: Theorem, miss: Theorem) -> Theorem:
        rises = super().mixture(chance, chances_, hit, miss)
        put = {Y: chance} | dict(zip((x_i, g_i, y, a), (*_ends(hit), *_ends(miss)), strict=True))
        return chain(rises, cut(substitute(convex_mixture(), put, *chances_, hit, miss), *chances_))

    def read(self, found: Theorem, meaning: Theorem) -> Theorem:
        low, high = _weights()
        size = combine(S.Zero, _mixed(z, z_2), (low, z), (high, z_2))
        value = meaning.proposition.left  # type: ignore[attr-defined]
        far = substitute(meaning, {z: z_2})
        put = {g_i: value, a: value.at(z_2), x_i: meaning.proposition.right, y: far.proposition.right}  # type: ignore[attr-defined]
        back = cut(substitute(_same_mixture(), put, meaning, far), meaning, far)
        return chain(substitute(meaning, {z: _mixed(z, z_2)}, size), found, back)


@cache
def _same_mixture() -> Theorem:
    """w·x + (1−w)·y = w·g + (1−w)·a, for g = x and a = y."""
    return cancel(_mixed(x_i, y), _mixed(g_i, a), by=[assume(Equal(g_i, x_i)), assume(Equal(a, y))])


def _ends(convex: Theorem) -> tuple[Expr, Expr]:
    """f(z) and f(z₂), of a theorem f(wz + (1−w)z₂) ≤ w·f(z) + (1−w)·f(z₂)."""
    right = convex.proposition.right  # type: ignore[attr-defined]
    return right.subs(weight, 1), right.subs(weight, 0)


def _chances(control: Control, left: Expr) -> tuple[Theorem, Theorem]:
    """0 < chance of a hit ≤ 1, with left + 1 batches to come."""
    return (kernel.positive(CHANCE), shares()[1]) if control is AFRESH else chances(left)


def _if_missed(control: Control, missed: ShiftValue, left: Expr) -> Theorem:
    """What W is one step before, in a pass that has not used the record: some records are left."""
    return kernel.unfold(missed, 2, *([] if control is AFRESH else [room(left)]))


def _step(way: Rising, control: Control, epochs: Expr, left: Expr, later: tuple[Later, Later], fresh: bool) -> Theorem:
    """What holds of W one step before it holds after a hit (or in a pass that has used the record) and after a miss."""
    value = control.value(epochs, left, Integer(0), z)
    if not fresh:
        meaning = kernel.unfold(value, 3)
        found = way.choice(control, value, later[0], S.Zero)
    else:
        missed = control.value(epochs, left, Integer(1), z)
        meaning = _if_missed(control, missed, left)
        weights = _chances(control, left)
        parts = way.choice(control, value, later[0], S.One), way.choice(control, missed, later[1], S.Zero)
        found = way.mixture(meaning.proposition.left.chance, weights, *parts)  # type: ignore[attr-defined]
    here = meaning.proposition.left  # type: ignore[attr-defined]
    return apply(way.fact, way.read(found, meaning), put=dict(zip(_NAMES, here.args[:-1], strict=True)))


# --- All steps ------------------------------------------------------------------------------------------------------


@cache
def _steps(way: Rising) -> tuple[Theorem, Theorem]:
    """One step before j batches and `split` passes, not both 0, in a pass that has used the record or not."""
    to_come = assume(AtMost(S.One, split + j))
    used, fresh = ((assume(_claim(way, ANEW, split, j, each)), to_come) for each in (0, 1))
    return _step(way, ANEW, split, j, (used, used), False), _step(way, ANEW, split, j, (used, fresh), True)


def _claim(way: Rising, control: Control, epochs: Expr, left: Expr, fresh: int) -> Proposition:
    return way.kind(*control.value(epochs, left, Integer(fresh), z).args[:-1])


@cache
def _next_pass(way: Rising, control: Control, before: Theorem, fresh: int) -> Theorem:
    """At the end of a pass W is what it is at the start of the next."""
    value = control.value(before.proposition.epochs, Integer(0), Integer(fresh), z)  # type: ignore[attr-defined]
    meaning = kernel.unfold(value, 0)
    names = meaning.proposition.left.args[:-1]  # type: ignore[attr-defined]
    if way.kind is NeverFalls:
        found = apply(at_no_less, before, assume(AtMost(z, z_2)))
    else:
        found = apply(below_chord, before, *_weights(), put={z: z, z_2: z_2})
    return apply(way.fact, way.read(found, meaning), put=dict(zip(_NAMES, names, strict=True)))


@cache
def _pass(way: Rising, epochs: Expr, used: Theorem | None, fresh: Theorem | None) -> tuple[Theorem, Theorem]:
    """What holds of W with j ≥ 1 batches of a pass to come, the record used or not, from what holds at its end."""
    one = assume(AtMost(S.One, j))
    to_come = combine(S.One, epochs + j, (S.One, one), (epochs,))
    lemmas = [substitute(each, {split: epochs}) for each in _steps(way)]

    def before(place: int, *later: Theorem) -> Theorem:
        return cut(lemmas[place], *later, kernel.loosen(to_come))

    def first(place: int) -> Theorem:
        if used is None or fresh is None:
            return _step(way, ANEW, epochs, Integer(0), (None, None), bool(place))
        more = kernel.loosen(combine(S.One, epochs, (epochs - 1,)))
        return cut(substitute(lemmas[place], {j: Integer(0)}), *(used, fresh)[: place + 1], more)

    all_used = induct(j, 1, lambda left: _claim(way, ANEW, epochs, left, 0), first(0), lambda here: before(0, here))
    all_fresh = induct(
        j, 1, lambda left: _claim(way, ANEW, epochs, left, 1), first(1), lambda here: before(1, all_used, here)
    )
    return all_used, all_fresh


def _at_start(fresh: Theorem) -> Theorem:
    """What holds for j ≥ 1 batches to come holds for N."""
    return cut(substitute(fresh, {j: N}), combine(S.One, N, (N - 1,)))


@cache
def reshuffled(way: Rising) -> Theorem:
    """What holds of W with k passes after this one, each in a fresh order."""

    def step(so_far: Theorem) -> Theorem:
        return _at_start(_pass(way, k + 1, *(_next_pass(way, ANEW, so_far, each) for each in (0, 1)))[1])

    base = _at_start(_pass(way, Integer(0), None, None)[1])
    found = induct(k, 0, lambda epochs: _claim(way, ANEW, epochs, N, 1), base, step)
    return kernel.named(found, way.name)


@cache
def drawn(way: Rising) -> Theorem:
    """What holds of W with k draws after this one."""

    def step(so_far: Theorem) -> Theorem:
        to_come = kernel.loosen(combine(S.One, k + 1, (k,)))
        later = [(_next_pass(way, AFRESH, so_far, each), to_come) for each in (0, 1)]
        return _step(way, AFRESH, k + 1, Integer(0), (later[0], later[1]), True)

    base = _step(way, AFRESH, Integer(0), Integer(0), (None, None), True)
    found = induct(k, 0, lambda epochs: _claim(way, AFRESH, epochs, Integer(1), 1), base, step)
    return kernel.named(found, way.name)


RISING, CONVEX = Rising(), Convex()


def rises_drawn() -> Theorem:
    """W never falls with the distance, whatever the number k of further draws."""
    return drawn(RISING)


def rises_reshuffled() -> Theorem:
    """W never falls with the distance, whatever the number k of further passes in fresh orders."""
    return reshuffled(RISING)


def convex_drawn() -> Theorem:
    """W is convex in the distance, whatever the number k of further draws."""
    return drawn(CONVEX)


def convex_reshuffled() -> Theorem:
    """W is convex in the distance, whatever the number k of further passes in fresh orders."""
    return reshuffled(CONVEX)


# --- Longer runs ----------------------------------------------------------------------------------------------------


@cache
def farthest() -> Theorem:
    """No distance exceeds 1/(1 − q): if z does not, neither does qz + 1."""
    below = below_one()
    limit = 1 / (1 - q)
    found = combine(q * z + 1, limit, (q, assume(AtMost(z, limit))), nonzero=[below])
    return kernel.named(found, "no distance is farther")


def _no_less(state: ShiftValue, away: Expr, rises: Theorem, so_far: Theorem) -> Theorem:
    """x ≤ E(y), from x ≤ W(0) after the step (`so_far`) and W never falling (`rises`)."""
    kept = Kept(*state.args[:-1], away)
    more = apply(at_no_less, rises, kernel.loosen(kernel.positive(kept)))
    low = so_far.proposition.left  # type: ignore[attr-defined]
    cost = _cost_positive(state.args[0])
    return kernel.loosen(combine(low, state.after(away), (S.One, so_far), (S.One, more), (cost, (away - kept) ** 2)))


def _step_no_less(
    control: Control, epochs: Expr, left: Expr, rises: Sequence[Theorem], so_far: Sequence[Theorem]
) -> Theorem:
    """x ≤ W(0) one step before, of a pass that has used the record (one theorem each) or has not (two)."""
    states = [control.value(epochs, left, fresh, z) for fresh in (Integer(0), Integer(1))]
    if len(rises) == 1:
        found = _no_less(states[0], S.Zero, rises[0], so_far[0])
        return chain(found, kernel.swap(substitute(kernel.unfold(states[0], 3), {z: S.Zero})))
    meaning = substitute(_if_missed(control, states[1], left), {z: S.Zero})
    parts = zip(states, (S.One, S.Zero), rises, so_far, strict=True)
    ends = [_no_less(state, away, up, low) for state, away, up, low in parts]
    low = ends[0].proposition.left  # type: ignore[attr-defined]
    weights = _chances(control, left)
    mixed = RISING.mixture(meaning.proposition.left.chance, weights, *ends)  # type: ignore[attr-defined]
    put = {x_i: low, Y: meaning.proposition.left.chance}  # type: ignore[attr-defined]
    alone = substitute(cancel(x_i, LogMix(Y, x_i, x_i)), put, *weights)
    return chain(alone, mixed, kernel.swap(meaning))


@cache
def longer_drawn() -> Theorem:
    """One more draw costs no less: what it pays is at least 0, and W at the distance it leaves is at least W(0)."""
    before = drawn(RISING)
    rises = [_next_pass(RISING, AFRESH, before, each) for each in (0, 1)]
    first = [_end_of_pass(AFRESH, each) for each in (0, 1)]
    return kernel.named(_step_no_less(AFRESH, k + 1, Integer(0), rises, first), "a longer run costs no less")


def _end_of_pass(control: Control, fresh: int) -> Theorem:
    """W(0) with k passes to come is at most what it is at the end of the pass before."""
    meaning = kernel.unfold(control.value(k, Integer(0), Integer(fresh), S.Zero), 0)
    return kernel.loosen(kernel.swap(meaning))


@cache
def longer_reshuffled() -> Theorem:
    """One more pass costs no less."""
    before = reshuffled(RISING)
    ends = [_next_pass(RISING, ANEW, before, each) for each in (0, 1)]
    used, fresh = _pass(RISING, k + 1, *ends)
    first = [_end_of_pass(ANEW, each) for each in (0, 1)]
    low = first[0].proposition.left  # type: ignore[attr-defined]

    def claim(state: int) -> Callable[[Expr], Proposition]:
        return lambda left: AtMost(low, ANEW.value(k + 1, left, Integer(state), S.Zero))

    all_used = induct(
        j,
        1,
        claim(0),
        _step_no_less(ANEW, k + 1, Integer(0), ends[:1], first[:1]),
        lambda here: _step_no_less(ANEW, k + 1, j, [used], [here]),
    )
    all_fresh = induct(
        j,
        1,
        claim(1),
        _step_no_less(ANEW, k + 1, Integer(0), ends, first),
        lambda here: _step_no_less(ANEW, k + 1, j, [used, fresh], [all_used, here]),
    )
    return kernel.named(_at_start(all_fresh), "a longer run costs no less")
