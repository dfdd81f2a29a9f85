"""Forgetting a record: `unlearn:zero_out` and its kin, for a run that goes on without a record it was trained with.

Beside it runs the one that never had the record. Both meet the same batches, in which the record's gradient is there
or 0, and the same noise; so at the end of training they are no farther apart than the record's own steps pushed
them: z in units of ηS_g/b. The r steps that follow have the same maps for both, and their noise hides that distance
(`proof.facts.drift`) by shifts A·L^(−i). For this no noise of training is needed: it may be 0, and it may be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr, Gt, Integer, S

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..meaning import Neighbouring
from ..paper.descents import (
    CONVEX_STEP,
    EPOCHS,
    NOISE,
    STRONGLY_CONVEX,
    apart,
    below_one,
    contraction,
    contracts,
    losses_assumed,
)
from ..paper.epochs import used_or_missed, uses
from ..paper.fixed_order import STEP_SQUARE
from ..proof import kernel
from ..proof.facts.definitions import BATCHES, RUN
from ..proof.facts.drift import (
    Drift,
    apart_at,
    drift_end,
    drift_maps,
    drift_start,
    drift_wider,
    hide,
    lipschitz_at,
)
from ..proof.facts.epochs import not_counted, once_an_epoch
from ..proof.facts.forgetting import (
    Forgetting,
    apart_after_training,
    apart_in_training,
    noise_after_training,
    noise_in_training,
    not_hidden,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import Apart, AtMost, EveryStep, From, Gaussian, Lipschitz, OnceAnEpoch, Proposition
from ..proof.search import claimed, equal_bound, given, induct, power_below_one, short
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    a_t,
    after,
    b,
    count,
    epoch,
    eta,
    forgetting,
    hidden,
    i,
    k,
    lipschitz,
    n,
    noise_1,
    noise_2,
    noise_ratio,
    q,
    rho0,
    rho_n,
    split,
    steps,
    u,
    z,
)
from .descent import away_in_descent, largest_rate, not_beyond
from .gaussian import FULL_BATCH_SQUARE, SQUARE

ONCE = Forgetting(OnceAnEpoch(N), NOISE, Neighbouring.ADD_REMOVE, K * N, noise_ratio * NOISE)
ALWAYS = Forgetting(EveryStep(), NOISE, Neighbouring.ADD_REMOVE, K, noise_ratio * NOISE)
EXPANDING = Gt(lipschitz, 1)
WHERE = "not in the paper"
ASSUMES = (
    "without the record means that its gradient is 0 wherever it would be used: batches and divisor are the same",
    "no iterate of training is released, its last one included",
)


@dataclass(frozen=True)
class Course:
    """A run that forgets, the size of its batches, its Lipschitz constant L, and ρ, short for unit²/(2·noise)."""

    run: Forgetting
    size: Expr
    factor: Expr
    rho: Expr
    nonzero: tuple[Theorem, ...] = ()
    """That 1 − L is not 0, if L is not 1: geometric sums in L are written out."""

    @property
    def unit(self) -> Expr:
        return eta * S_g / self.size

    def state(self, after_steps: Expr, away: Expr, spent: Expr) -> Drift:
        """After so many steps the copy is `away` units off; it cost 2ρ·spent."""
        return Drift(self.run, after_steps, self.unit * away, 2 * self.rho * spent)

    def maps(self, before: Theorem, apart_: Theorem) -> Theorem:
        """The next maps."""
        at = {steps: before.proposition.steps}  # type: ignore[attr-defined]
        return apply(drift_maps, apply(lipschitz_at, contracts(self.run, self.factor), put=at), apart_, before)

    def used(self, before: Theorem) -> Theorem:
        """The next maps, which may use the record."""
        size = kernel.loosen(kernel.positive(self.unit))
        at = {steps: before.proposition.steps}  # type: ignore[attr-defined]
        return self.maps(before, apply(apart_at, apart(self.run, self.size), size, put=at))

    def wider(self, before: Theorem, target: Drift, room: Theorem) -> Theorem:
        """What is within a distance is within the one of `target`; `room` says that this is not smaller."""
        found = apply(drift_wider, before, room)
        return self.told(found, target)

    def told(self, found: Theorem, target: Drift) -> Theorem:
        """The same state, written as `target`."""
        for old, new in zip(found.proposition.expressions(), target.expressions(), strict=True):
            if old != new:
                found = rewrite(found, cancel(old, new, *self.nonzero, by=[short(self.rho)]))  # type: ignore[arg-type]
        return found


# --- Training: how far apart ----------------------------------------------------------------------------------------


@cache
def expands() -> Theorem:
    """0 < L − 1."""
    return combine(S.Zero, lipschitz - 1, (S.One, given(EXPANDING)))


@cache
def _power_above_one() -> Theorem:
    """0 < L^N − 1."""
    return combine(S.Zero, lipschitz**N - 1, (expands(), GeometricSum(lipschitz, N)), nonzero=[expands()])


@cache
def course(factor: Expr) -> Course:
    """The run that uses the record at most once an epoch, for updates that are Lipschitz with this factor."""
    known: tuple[Theorem, ...] = ()
    if factor == q:
        known = below_one(), power_below_one(q, N, below_one())
    elif factor == lipschitz:
        known = expands(), _power_above_one()
    return Course(ONCE, b, factor, rho0, known)


def weight(factor: Expr, after_steps: Expr) -> Expr:
    """How far one use of the record can have pushed the runs apart, at most so many steps into an epoch."""
    return factor ** (after_steps - 1) if factor == lipschitz else S.One


def trained_apart(factor: Expr, epochs: Expr = K) -> Expr:
    """How far apart the runs are after so many epochs, in units."""
    return weight(factor, N) * GeometricSum(factor**N, epochs)


def _counted(case: Proposition) -> Theorem:
    """No fewer uses than that, in the case that there are so many."""
    return kernel.loosen(kernel.swap(assume(case)))


@cache
def never_fewer() -> Theorem:
    """0 ≤ uses in the first i steps of epoch k."""
    first = uses(N * k)

    def claim(steps_: Expr) -> Proposition:
        return AtMost(first, uses(N * k + steps_))

    def step(so_far: Theorem) -> Theorem:
        either = substitute(used_or_missed(), {i: N * k + i})
        found = [
            kernel.loosen(combine(first, uses(N * k + i + 1), (S.One, so_far), (S.One, _counted(case)), *more))
            for case, more in zip(either.proposition.cases, ((), ((S.One,),)), strict=True)  # type: ignore[attr-defined]
        ]
        return kernel.each_case(either, *found)

    return kernel.named(induct(i, 0, claim, combine(first, first), step), "uses are counted upwards")


@cache
def at_least_one() -> Theorem:
    """1 ≤ L^i."""

    def claim(steps_: Expr) -> Proposition:
        return AtMost(S.One, lipschitz**steps_)

    def step(so_far: Theorem) -> Theorem:
        return kernel.loosen(combine(S.One, lipschitz ** (i + 1), (lipschitz, so_far), (S.One, expands())))

    return induct(i, 0, claim, combine(S.One, S.One), step)


@cache
def one_epoch(factor: Expr) -> Theorem:
    """Epoch k of training: what was there is carried on, and a use of the record pushes once."""
    here = course(factor)

    def away(steps_: Expr) -> Expr:
        so_far = uses(N * k + steps_) - uses(N * k)
        return factor**steps_ * z + weight(factor, steps_) * so_far

    def claim(steps_: Expr) -> Drift:
        return here.state(N * k + steps_, away(steps_), S.Zero)

    def carried(found: Theorem, case: Proposition, pushed: int) -> Theorem:
        """The room that is left: (1 − L)·uses if L < 1, and L^i − 1 for a use if L > 1."""
        terms: list[tuple[kernel.Factor, ...]] = [(here.unit * weight(factor, i + 1), _counted(case))]
        if factor == q:
            terms.append((here.unit, below_one(), never_fewer()))
        if factor == lipschitz and pushed:
            terms.append((here.unit, at_least_one()))
        target = claim(i + 1)
        now = found.proposition.distance  # type: ignore[attr-defined]
        room = combine(now, target.distance, *terms)
        return here.wider(apply(not_hidden, found), target, kernel.loosen(room))

    def step(so_far: Theorem) -> Theorem:
        either = substitute(used_or_missed(), {i: N * k + i})
        missed, hit = either.proposition.cases  # type: ignore[attr-defined]
        unused = apply(not_counted, assume(missed), put={count: N, steps: N * k + i})
        put = {noise_1: NOISE, noise_2: noise_ratio * NOISE, count: K * N}
        same = here.maps(so_far, apply(apart_in_training, unused, put=put))
        return kernel.each_case(either, carried(same, missed, 0), carried(here.used(so_far), hit, 1))

    base = here.told(assume(here.state(N * k, z, S.Zero)), claim(Integer(0)))
    found = substitute(induct(i, 0, claim, base, step), {i: N})
    once = apply(once_an_epoch, put={count: N, epoch: k})
    target = here.state(N * (k + 1), factor**N * z + weight(factor, N), S.Zero)
    found = here.told(found, here.state(N * (k + 1), away(N), S.Zero))
    room = combine(found.proposition.distance, target.distance, (here.unit * weight(factor, N), once))  # type: ignore[attr-defined]
    return kernel.named(here.wider(found, target, kernel.loosen(room)), "an epoch pushes at most once")


@cache
def trained(factor: Expr) -> Theorem:
    """After K epochs, without a shift."""
    here = course(factor)

    def claim(epochs: Expr) -> Drift:
        return here.state(N * epochs, trained_apart(factor, epochs), S.Zero)

    def step(so_far: Theorem) -> Theorem:
        found = cut(substitute(one_epoch(factor), {z: trained_apart(factor, k)}), so_far)
        return here.told(found, claim(k + 1))

    start = here.told(apply(drift_start, put={RUN: here.run}), claim(Integer(0)))
    found = substitute(induct(k, 0, claim, start, step), {k: K})
    return kernel.named(found, "how far apart the runs are at the end of training")


# --- After training: all of it is hidden ----------------------------------------------------------------------------


def faded(factor: Expr, away: Expr) -> Expr:
    """What hiding so many units in r steps adds to Σa²."""
    return factor ** (2 * forgetting) * away**2 / (noise_ratio * GeometricSum(factor**2, forgetting))


@cache
def fading(here: Course) -> Theorem:
    """From z units away and u spent, at the end of training, all is hidden within r steps."""
    run, factor = here.run, here.factor
    first = run.training
    squares = GeometricSum(factor**-2, forgetting)
    rate = factor * z / squares
    some = kernel.positive(squares)
    size = kernel.loosen(kernel.positive(rate)) if rate.is_nonnegative else kernel.positive(rate)
    known = (some, *here.nonzero)

    def away(steps_: Expr) -> Expr:
        return rate * factor ** (-steps_ - 1) * GeometricSum(factor**-2, forgetting - steps_)

    def claim(steps_: Expr) -> Drift:
        spent = rate**2 * GeometricSum(factor**-2, steps_) / noise_ratio
        return here.state(first + steps_, away(steps_), u + spent)

    def not_negative(steps_: Expr, limit: Theorem) -> Theorem:
        more = combine(S.Zero, forgetting - steps_, (S.One, limit))
        powers = substitute(kernel.positive(GeometricSum(factor**-2, split)), {split: forgetting - steps_}, more)
        scale = here.unit * factor ** (-steps_ - 1)
        return combine(S.Zero, here.unit * away(steps_), (scale, size, powers), nonzero=known)

    def step(so_far: Theorem) -> Theorem:
        put = {BATCHES: run.batches, noise_1: NOISE, noise_2: noise_ratio * NOISE, count: first, after: first + i}
        later = combine(first, first + i, (i,))
        maps = here.maps(so_far, apply(apart_after_training, later, put=put))
        level = apply(noise_after_training, later, put=put)
        shift = here.unit * rate * factor**-i
        taken = combine(S.Zero, shift, (here.unit * factor**-i, size), nonzero=known)
        now = maps.proposition.distance  # type: ignore[attr-defined]
        end = claim(i + 1)
        rest = cancel(now - shift, end.distance, *known)
        left = rewrite(not_negative(i + 1, assume(AtMost(i + 1, forgetting))), kernel.swap(rest))
        room = combine(shift, now, (S.One, left), nonzero=known)
        found = apply(hide, maps, level, taken, room, kernel.positive(noise_ratio * NOISE), put={hidden: shift})
        for old, new in zip(found.proposition.expressions(), end.expressions(), strict=True):
            if old != new:
                found = rewrite(found, cancel(old, new, *known, by=[short(here.rho)]))  # type: ignore[arg-type]
        return found

    base = assume(here.state(first, z, u))
    start = claim(Integer(0))
    for old, new in zip(base.proposition.expressions(), start.expressions(), strict=True):
        base = base if old == new else rewrite(base, cancel(old, new, *known))  # type: ignore[arg-type]
    found = induct(i, 0, claim, base, step, upper=forgetting)
    found = cut(substitute(found, {i: forgetting}), combine(forgetting, forgetting))
    end = here.state(first + forgetting, S.Zero, u + faded(factor, z))
    return kernel.named(here.told(found, end), "the noise of r further steps hides what is left")


def _forgotten(factor: Expr) -> Theorem:
    """The copy has met the first run after r further steps."""
    here, apart_then = course(factor), trained_apart(factor)
    apart_here = here.told(trained(factor), here.state(K * N, apart_then, S.Zero))
    return apply(drift_end, cut(substitute(fading(here), {z: apart_then, u: S.Zero}), apart_here))


def square(factor: Expr) -> Expr:
    """μ² after r further steps."""
    return 2 * rho0 * faded(factor, trained_apart(factor))


# --- Every step uses the record, and the noise of training helps ------------------------------------------------------


@cache
def _always() -> Course:
    """The run whose every step of training uses the record."""
    return Course(ALWAYS, n, q, rho_n, (below_one(),))


def _kept() -> Expr:
    """The noise after training and before it, as it is at the end, in units of the noise of a step of training."""
    return noise_ratio * GeometricSum(q**2, forgetting) + q ** (2 * forgetting) * GeometricSum(q**2, K)


@cache
def _in_training() -> Theorem:
    """After i ≤ K steps of training, the shift of step i being a_t·q^(−i), for any rate that is slow enough."""
    here = _always()
    put = {BATCHES: ALWAYS.batches, noise_1: NOISE, noise_2: noise_ratio * NOISE, count: K, after: i}

    def claim(steps_: Expr) -> Drift:
        return here.state(steps_, away_in_descent(steps_), a_t**2 * GeometricSum(q**-2, steps_))

    def step(so_far: Theorem) -> Theorem:
        within = assume(AtMost(i + 1, K))
        left = cut(substitute(not_beyond(), {i: i + 1}), within)
        maps = here.used(so_far)
        now = maps.proposition.distance  # type: ignore[attr-defined]
        shift = here.unit * a_t * q**-i
        taken = kernel.loosen(kernel.positive(shift))
        room = combine(shift, now, (here.unit, left), nonzero=here.nonzero)
        level, noise = apply(noise_in_training, within, put=put), kernel.positive(NOISE)
        found = apply(hide, maps, level, taken, room, noise, put={hidden: shift})
        return here.told(found, claim(i + 1))

    base = here.told(apply(drift_start, put={RUN: ALWAYS}), claim(Integer(0)))
    found = induct(i, 0, claim, base, step, upper=K)
    return kernel.named(cut(substitute(found, {i: K}), combine(K, K)), "training, each step hiding its share")


def _hidden() -> Theorem:
    """The copy meets the first run at the rate for which shifts are in proportion to what is left of a noise."""
    here = _always()
    total = _kept()
    rate = q ** (2 * forgetting + K - 1) * GeometricSum(q, K) / total
    louder = (1 + q) * noise_ratio * GeometricSum(q**2, forgetting) * q ** (K - 1) / ((1 + q**K) * total)
    slow = combine(rate, largest_rate(K), (louder,), nonzero=[below_one()])
    positive = kernel.positive(rate)
    here_then = cut(substitute(_in_training(), {a_t: rate}, positive), kernel.loosen(slow))
    away = noise_ratio * GeometricSum(q**2, forgetting) * GeometricSum(q, K) / total
    spent = rate**2 * GeometricSum(q**-2, K)
    there = here.told(here_then, here.state(K, away, spent))
    return apply(drift_end, cut(substitute(fading(here), {z: away, u: spent}, kernel.positive(away)), there))


def always_square() -> Expr:
    """μ² after r further steps, every step of training having used the record; in this form it is seen to rise with K."""
    left, then = q ** (2 * forgetting), noise_ratio * GeometricSum(q**2, forgetting)
    return 2 * rho_n * left * GeometricSum(q, K) / (then / GeometricSum(q, K) + left * (1 + q**K) / (1 + q))


# --- Statements -----------------------------------------------------------------------------------------------------


def _shown(factor: Expr) -> Expr:
    """μ² as it is printed."""
    apart_then = GeometricSum(factor**N, K) ** 2
    powers = times(2, Plus(forgetting, N, -1)) if factor == lipschitz else times(2, forgetting)
    left = K**2 if factor == 1 else Dot(factor**powers, apart_then)
    return Dot(STEP_SQUARE, Over(left, Dot(noise_ratio, GeometricSum(factor**2, forgetting))))


@cache
def zero_out() -> Statement:
    """`unlearn:zero_out`."""
    relations = (EPOCHS, *STRONGLY_CONVEX)
    return Statement(
        label="unlearn:zero_out",
        title="Forgetting a record",
        where=WHERE,
        says="μ² of Gaussian differential privacy between two runs: one was trained with a record for K epochs, "
        "each of which used it at most once, and went on without it for r steps; the other never had it. It holds "
        "whatever the noise of training was, and even if that noise is known.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(ONCE, Integer(0), K * N + forgetting), square(q)),
            relations,
            (Lipschitz(ONCE, q), Apart(ONCE, eta * S_g / b)),
            lambda: equal_bound(_forgotten(q), square(q)),
        ),
        shown=_shown(q),
        printed_with=lambda: [below_one()],
        hypotheses=relations,
        assumes=ASSUMES,
    )


@cache
def convex() -> Statement:
    """`unlearn:convex`."""
    relations = (EPOCHS, CONVEX_STEP)
    return Statement(
        label="unlearn:convex",
        title="Forgetting a record, convex loss",
        where=WHERE,
        says="As unlearn:zero_out, without strong convexity: what the record did stays as large as it was, and the "
        "noise of further steps hides it.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(ONCE, Integer(0), K * N + forgetting), square(S.One)),
            relations,
            losses_assumed(ONCE, b, S.Zero),
            lambda: cut(equal_bound(_forgotten(S.One), square(S.One)), contraction(ONCE, Integer(0))),
        ),
        shown=_shown(S.One),
        hypotheses=relations,
        assumes=ASSUMES,
    )


@cache
def expanding() -> Statement:
    """`unlearn:expanding`."""
    relations = (EPOCHS, EXPANDING)
    return Statement(
        label="unlearn:expanding",
        title="Forgetting a record, updates that expand",
        where=WHERE,
        says="As unlearn:zero_out, for updates of which only a Lipschitz constant c > 1 is known: what the record did "
        "may grow, and more steps help only so far.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(ONCE, Integer(0), K * N + forgetting), square(lipschitz)),
            relations,
            (Lipschitz(ONCE, lipschitz), Apart(ONCE, eta * S_g / b)),
            lambda: equal_bound(_forgotten(lipschitz), square(lipschitz)),
        ),
        shown=_shown(lipschitz),
        printed_with=lambda: course(lipschitz).nonzero,
        hypotheses=relations,
        assumes=ASSUMES,
    )


@cache
def every_step() -> Statement:
    """`unlearn:every_step`."""
    relations = (EPOCHS, *STRONGLY_CONVEX)
    total = Plus(
        Dot(noise_ratio, GeometricSum(q**2, forgetting)), Dot(q ** times(2, forgetting), GeometricSum(q**2, K))
    )
    return Statement(
        label="unlearn:every_step",
        title="Forgetting a record that every step used",
        where=WHERE,
        says="As unlearn:zero_out, after K steps each of which may have used the record. The noise of training hides "
        "part of it, if that noise is not known; exactly tight for the full batch.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(ALWAYS, Integer(0), K + forgetting), always_square()),
            relations,
            (Lipschitz(ALWAYS, q), Apart(ALWAYS, eta * S_g / n)),
            lambda: equal_bound(_hidden(), always_square(), below_one()),
        ),
        shown=Dot(FULL_BATCH_SQUARE, Over(Dot(q ** times(2, forgetting), GeometricSum(q, K) ** 2), total)),
        printed_with=lambda: [below_one()],
        hypotheses=relations,
        assumes=ASSUMES,
    )
