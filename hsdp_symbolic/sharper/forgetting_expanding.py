"""`unlearn:expanding`: forgetting a record after training whose updates need not contract.

Every use of the record but the last is hidden by the noise of its own step. Of the last a share is; what is left of it
may grow by c in each of the steps that remain, which are fewer than N. The r further steps hide that.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, Plus, times
from ..paper.descents import EPOCHS, NOISE, by_lipschitz
from ..paper.epochs import used_or_missed, uses
from ..paper.fixed_order import STEP_SQUARE
from ..proof import kernel
from ..proof.facts.definitions import BATCHES, RUN
from ..proof.facts.drift import Drift, drift_end, drift_start, hide
from ..proof.facts.epochs import not_counted, once_an_epoch
from ..proof.facts.forgetting import (
    apart_after_training,
    apart_in_training,
    noise_after_training,
    noise_in_training,
    not_hidden,
)
from ..proof.kernel import Theorem, apply, assume, combine, cut, substitute
from ..proof.propositions import AtMost, From, Gaussian, Proposition
from ..proof.search import at_most, claimed, equal_bound, given, induct
from ..statement import Statement
from ..symbols import (
    K,
    N,
    T,
    after,
    count,
    epoch,
    forgetting,
    hidden,
    i,
    k,
    lipschitz,
    noise_1,
    noise_2,
    noise_ratio,
    removed,
    rho0,
    split,
    steps,
    u,
    z,
)
from .forgetting import ASSUMES, ONCE, WHERE, course, never_fewer
from .gaps import squares, written
from .gaussian import SQUARE
from .schedules import planned_schedule

EXPANDS = lipschitz >= 1
"""Below 1 the last use does not grow, and better statements hold."""
_PUT = {BATCHES: ONCE.batches, noise_1: NOISE, noise_2: noise_ratio * NOISE, count: K * N}


@cache
def never_shrinks() -> Theorem:
    """1 ≤ c^i."""
    above = given(EXPANDS)

    def step(so_far: Theorem) -> Theorem:
        return combine(S.One, lipschitz ** (i + 1), (lipschitz, so_far), (S.One, above))

    return induct(i, 0, lambda power: AtMost(S.One, lipschitz**power), combine(S.One, S.One), step)


# --- Training -------------------------------------------------------------------------------------------------------


def _since(steps_: Expr) -> Expr:
    """How often the first so many steps of epoch k use the record."""
    return uses(N * k + steps_) - uses(N * k)


@cache
def _used_so_far() -> Theorem:
    """0 ≤ uses in the first i steps of epoch k."""
    return combine(S.Zero, _since(i), (S.One, never_fewer()))


@cache
def one_epoch() -> Theorem:
    """Epoch k, where nothing was left to hide: a share of a use is hidden at once, and the rest grows."""
    here, rest = course(lipschitz), combine(S.Zero, 1 - removed, (S.One, assume(AtMost(removed, S.One))))

    def claim(steps_: Expr) -> Drift:
        away = (1 - removed) * lipschitz ** (steps_ - 1) * _since(steps_)
        return here.state(N * k + steps_, away, u + removed**2 * _since(steps_))

    def grown(found: Theorem, case: Proposition, *more: tuple[kernel.Factor, ...]) -> Theorem:
        """As far away as claimed, and as dear, in the case that says how often the record was used."""
        counted, target = kernel.loosen(kernel.swap(assume(case))), claim(i + 1)
        dearer = at_most(found, target.cost, (2 * rho0 * removed**2, counted))
        terms = (here.unit * lipschitz**i, rest, counted), *more
        room = combine(dearer.proposition.distance, target.distance, *terms)  # type: ignore[attr-defined]
        return here.wider(dearer, target, kernel.loosen(room))

    def step(so_far: Theorem) -> Theorem:
        either = substitute(used_or_missed(), {i: N * k + i})
        missed, hit = either.proposition.cases  # type: ignore[attr-defined]
        unused = apply(not_counted, assume(missed), put={count: N, steps: N * k + i})
        same = apply(not_hidden, here.maps(so_far, apply(apart_in_training, unused, put=_PUT)))
        inside = assume(AtMost(i + 1, N)), assume(AtMost(k + 1, K))
        within = combine(N * k + i + 1, K * N, (S.One, inside[0]), (N, inside[1]))
        maps = here.used(so_far)
        away, shift = maps.proposition.distance, here.unit * removed  # type: ignore[attr-defined]
        left = combine(shift, away, (here.unit, rest), (here.unit * lipschitz**i, rest, _used_so_far()))
        level = apply(noise_in_training, within, put={**_PUT, after: N * k + i})
        found = apply(hide, maps, level, kernel.positive(shift), left, kernel.positive(NOISE), put={hidden: shift})
        now = (1 - removed) * lipschitz**i * _since(i) + 1 - removed
        found = here.told(found, here.state(N * k + i + 1, now, u + removed**2 * _since(i) + removed**2))
        larger = here.unit, rest, never_shrinks()
        return kernel.each_case(either, grown(same, missed), grown(found, hit, larger))

    base = here.told(assume(here.state(N * k, S.Zero, u)), claim(Integer(0)))
    found = cut(substitute(induct(i, 0, claim, base, step, upper=N), {i: N}), combine(N, N))
    once = apply(once_an_epoch, put={count: N, epoch: k})
    end = here.state(N * (k + 1), (1 - removed) * lipschitz ** (N - 1), u + removed**2)
    found = written(
        found, here.state(N * (k + 1), (1 - removed) * lipschitz ** (N - 1) * _since(N), u + removed**2 * _since(N))
    )
    found = at_most(found, end.cost, (2 * rho0 * removed**2, once))
    room = combine(found.proposition.distance, end.distance, (here.unit * lipschitz ** (N - 1), rest, once))  # type: ignore[attr-defined]
    return kernel.named(here.wider(found, end, kernel.loosen(room)), "an epoch, from nothing left to hide")


@cache
def trained() -> Theorem:
    """After training: all uses but the last are hidden, and a share of that."""
    here = course(lipschitz)

    def claim(epochs: Expr) -> Drift:
        return here.state(N * epochs, S.Zero, epochs)

    def step(so_far: Theorem) -> Theorem:
        whole_ = substitute(one_epoch(), {removed: S.One, u: k})
        inside = combine(k + 1, K, (S.One, assume(AtMost(k + 1, K - 1))), (S.One,))
        return here.told(cut(whole_, so_far, combine(S.One, S.One), inside), claim(k + 1))

    start = here.told(apply(drift_start, put={RUN: here.run}), claim(Integer(0)))
    found = induct(k, 0, claim, start, step, upper=K - 1)
    found = cut(substitute(found, {k: K - 1}), combine(K - 1, K - 1))
    last = cut(substitute(one_epoch(), {k: K - 1, u: K - 1}), found, combine(K, K))
    return kernel.named(
        here.told(last, here.state(K * N, _left(), K - 1 + removed**2)), "training, its last use in part"
    )


def _left() -> Expr:
    """How far away the copy is at the end of training."""
    return (1 - removed) * lipschitz ** (N - 1)


# --- After training -------------------------------------------------------------------------------------------------


@cache
def fading() -> Theorem:
    """From z units away and u spent, at the end of training, all is hidden within r steps."""
    here, first = course(lipschitz), K * N
    some, not_negative = kernel.positive(squares(forgetting)), combine(S.Zero, z, (S.One, assume(AtMost(S.Zero, z))))

    def away(steps_: Expr) -> Expr:
        return z * lipschitz**-steps_ * squares(forgetting - steps_) / squares(forgetting)

    def claim(steps_: Expr) -> Drift:
        left = squares(forgetting) - lipschitz ** (-2 * steps_) * squares(forgetting - steps_)
        return here.state(
            first + steps_, away(steps_), u + (lipschitz * z / squares(forgetting)) ** 2 * left / noise_ratio
        )

    def step(so_far: Theorem) -> Theorem:
        put, later = {**_PUT, after: first + i}, combine(first, first + i, (i,))
        maps = here.maps(so_far, apply(apart_after_training, later, put=put))
        shift = here.unit * z * lipschitz ** (1 - i) / squares(forgetting)
        scale = here.unit * lipschitz ** (1 - i) / squares(forgetting)
        taken = combine(S.Zero, shift, (scale, not_negative), nonzero=[some])
        one_more = kernel.unfold(squares(forgetting - i - 1), 1)
        more = combine(S.Zero, forgetting - i - 1, (S.One, assume(AtMost(i + 1, forgetting))))
        after_ = substitute(kernel.positive(squares(split)), {split: forgetting - i - 1}, more)
        terms = (scale * lipschitz**-2, not_negative, after_)
        room = combine(shift, maps.proposition.distance, terms, nonzero=[some], by=[one_more])  # type: ignore[attr-defined]
        level = apply(noise_after_training, later, put=put)
        found = apply(hide, maps, level, taken, room, kernel.positive(noise_ratio * NOISE), put={hidden: shift})
        return here.told(found, claim(i + 1), some, by=[one_more])

    base = here.told(assume(here.state(first, z, u)), claim(Integer(0)), some)
    found = induct(i, 0, claim, base, step, upper=forgetting)
    found = cut(substitute(found, {i: forgetting}), combine(forgetting, forgetting))
    end = here.state(first + forgetting, S.Zero, u + lipschitz**2 * z**2 / (noise_ratio * squares(forgetting)))
    return kernel.named(here.told(found, end, some), "the noise of r further steps hides what is left")


# --- The best share -------------------------------------------------------------------------------------------------


def _kept() -> Expr:
    """How much of the last use the further steps hide, for each part that its own step does."""
    return noise_ratio * lipschitz ** (-2 * N) * squares(forgetting)


def _spent() -> Expr:
    return K - 1 + 1 / (1 + _kept())


@cache
def forgotten() -> Theorem:
    """The copy has met the first run after r further steps."""
    here, share, some = course(lipschitz), 1 / (1 + _kept()), kernel.positive(squares(forgetting))
    below = kernel.loosen(combine(share, S.One, (_kept() * share,), nonzero=[some]))
    there = cut(substitute(trained(), {removed: share}), below)
    left = _left().subs(removed, share)
    away = here.told(there, here.state(K * N, left, K - 1 + share**2), some)
    not_negative = combine(S.Zero, left, (lipschitz ** (N - 1) * _kept() * share,), nonzero=[some])
    found = cut(substitute(fading(), {z: left, u: K - 1 + share**2}), away, kernel.loosen(not_negative))
    return apply(drift_end, here.told(found, here.state(K * N + forgetting, S.Zero, _spent()), some))


@cache
def expanding() -> Statement:
    """`unlearn:expanding`."""
    relations = (EPOCHS, EXPANDS)
    left = Dot(noise_ratio, lipschitz ** times(-2, N), squares(forgetting))
    return Statement(
        label="unlearn:expanding",
        title="Forgetting a record, any Lipschitz constant",
        where=WHERE,
        says="As unlearn:zero_out, for updates that are c-Lipschitz, c ≥ 1: they may expand. The noise of training, if "
        "it is not known, hides all uses of the record but the last; the r steps help with that. Never more than "
        "composition.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(ONCE, Integer(0), K * N + forgetting), 2 * rho0 * _spent()),
            relations,
            by_lipschitz(ONCE),
            lambda: equal_bound(forgotten(), 2 * rho0 * _spent()),
        ),
        shown=Dot(STEP_SQUARE, Plus(K - 1, Over(1, Plus(1, left)))),
        hypotheses=relations,
        assumes=ASSUMES,
    )


@cache
def at_most_composition() -> Theorem:
    """μ² of `unlearn:expanding` is at most 2ρ₀K, that of composition, whatever c is."""
    some, spare = kernel.positive(squares(forgetting)), (2 * rho0, _kept() / (1 + _kept()))
    return kernel.named(combine(expanding().expr, 2 * rho0 * K, spare, nonzero=[some]), "never above composition")


@cache
def by_shifts() -> Theorem:
    """Shifts of a plan, over training and the further steps, give Gaussian privacy of forgetting, μ² = Σ a_t²/v_t."""
    found = substitute(planned_schedule(), {RUN: ONCE, T: K * N + forgetting})
    return kernel.named(found, "forgetting, by the shifts of a plan")
