"""Two runs that go on without a record, of which one was trained with it: what hiding the difference costs.

The one that never had the record meets the same batches, in which the record's gradient is there or 0, and the same
noise; so at the end of training they are no farther apart than the record's own steps pushed them: z in units of
ηS_g/b. The r steps that follow have the same maps for both, and their noise hides that distance (`proof.facts.drift`)
by shifts A·L^(−i). For this no noise of training is needed: it may be 0, and it may be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sympy import Expr, Integer, S

from ..functions.geometric import GeometricSum
from ..meaning import Neighbouring
from ..paper.descents import (
    NOISE,
    apart,
    below_one,
    contracts,
)
from ..paper.epochs import used_or_missed, uses
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
    not_hidden,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, OnceAnEpoch, Proposition
from ..proof.search import induct, power_below_one, short
from ..symbols import (
    K,
    N,
    S_g,
    after,
    b,
    count,
    epoch,
    eta,
    forgetting,
    hidden,
    i,
    k,
    noise_1,
    noise_2,
    noise_ratio,
    q,
    rho0,
    sigma2,
    split,
    steps,
    u,
    z,
)

WHERE = "not in the paper"
ASSUMES = (
    "without the record means that its gradient is 0 wherever it would be used: batches and divisor are the same",
    "no iterate of training is released, its last one included",
)
ONCE = Forgetting(OnceAnEpoch(N), NOISE, Neighbouring.ADD_REMOVE, K * N, noise_ratio * NOISE)


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

    def told(self, found: Theorem, target: Drift, *nonzero: Theorem, by: Sequence[Theorem] = ()) -> Theorem:
        """The same state, written as `target`, its cost with ρ."""
        for old, new in zip(found.proposition.expressions(), target.expressions(), strict=True):
            if old != new:
                spelled = [short(self.rho)] if new == target.cost and old.has(sigma2) else []
                found = rewrite(found, cancel(old, new, *self.nonzero, *nonzero, by=[*spelled, *by]))
        return found


# --- Training: how far apart ----------------------------------------------------------------------------------------


@cache
def course(factor: Expr) -> Course:
    """The run that uses the record at most once an epoch, for updates that are Lipschitz with this factor."""
    known: tuple[Theorem, ...] = ()
    if factor == q:
        known = below_one(), power_below_one(q, N, below_one())
    return Course(ONCE, b, factor, rho0, known)


def trained_apart(factor: Expr, epochs: Expr = K) -> Expr:
    """How far apart the runs are after so many epochs, in units."""
    return GeometricSum(factor**N, epochs)


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
def one_epoch(factor: Expr) -> Theorem:
    """Epoch k of training: what was there is carried on, and a use of the record pushes once."""
    here = course(factor)

    def away(steps_: Expr) -> Expr:
        so_far = uses(N * k + steps_) - uses(N * k)
        return factor**steps_ * z + so_far

    def claim(steps_: Expr) -> Drift:
        return here.state(N * k + steps_, away(steps_), S.Zero)

    def carried(found: Theorem, case: Proposition) -> Theorem:
        """The room that is left is (1 − L) times the uses so far."""
        terms: list[tuple[kernel.Factor, ...]] = [(here.unit, _counted(case))]
        if factor == q:
            terms.append((here.unit, below_one(), never_fewer()))
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
        return kernel.each_case(either, carried(same, missed), carried(here.used(so_far), hit))

    base = here.told(assume(here.state(N * k, z, S.Zero)), claim(Integer(0)))
    found = substitute(induct(i, 0, claim, base, step), {i: N})
    once = apply(once_an_epoch, put={count: N, epoch: k})
    target = here.state(N * (k + 1), factor**N * z + 1, S.Zero)
    found = here.told(found, here.state(N * (k + 1), away(N), S.Zero))
    room = combine(found.proposition.distance, target.distance, (here.unit, once))  # type: ignore[attr-defined]
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
        return here.told(found, end, some)

    base = here.told(assume(here.state(first, z, u)), claim(Integer(0)), some)
    found = induct(i, 0, claim, base, step, upper=forgetting)
    found = cut(substitute(found, {i: forgetting}), combine(forgetting, forgetting))
    end = here.state(first + forgetting, S.Zero, u + faded(factor, z))
    return kernel.named(here.told(found, end), "the noise of r further steps hides what is left")


def forgotten(factor: Expr) -> Theorem:
    """The copy has met the first run after r further steps."""
    here, apart_then = course(factor), trained_apart(factor)
    apart_here = here.told(trained(factor), here.state(K * N, apart_then, S.Zero))
    return apply(drift_end, cut(substitute(fading(here), {z: apart_then, u: S.Zero}), apart_here))


def square(factor: Expr) -> Expr:
    """μ² after r further steps."""
    return 2 * rho0 * faded(factor, trained_apart(factor))
