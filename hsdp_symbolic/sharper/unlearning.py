"""Forgetting a record: `unlearn:zero_out` and its kin, for a run that goes on without a record it was trained with.

What is compared, and how, is said in `forgetting`. Where every step of training may have used the record, its noise
hides a part of it too.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..meaning import Neighbouring
from ..paper.descents import (
    CONVEX_STEP,
    EPOCHS,
    NOISE,
    STRONGLY_CONVEX,
    below_one,
    contraction,
    losses_assumed,
)
from ..paper.fixed_order import STEP_SQUARE
from ..proof import kernel
from ..proof.facts.definitions import BATCHES, RUN
from ..proof.facts.drift import (
    Drift,
    drift_end,
    drift_start,
    hide,
)
from ..proof.facts.forgetting import (
    Forgetting,
    noise_in_training,
)
from ..proof.kernel import Theorem, apply, assume, combine, cut, substitute
from ..proof.propositions import Apart, AtMost, EveryStep, From, Gaussian, Lipschitz
from ..proof.search import claimed, equal_bound, induct
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    a_t,
    after,
    b,
    count,
    eta,
    forgetting,
    hidden,
    i,
    n,
    noise_1,
    noise_2,
    noise_ratio,
    q,
    rho_n,
    u,
    z,
)
from .descent import away_in_descent, largest_rate, not_beyond
from .forgetting import ASSUMES, ONCE, WHERE, Course, fading, forgotten, square
from .gaussian import FULL_BATCH_SQUARE, SQUARE

ALWAYS = Forgetting(EveryStep(), NOISE, Neighbouring.ADD_REMOVE, K, noise_ratio * NOISE)


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
    """μ² after r further steps, every step of training having used the record; so written, it is seen to rise in K."""
    left, then = q ** (2 * forgetting), noise_ratio * GeometricSum(q**2, forgetting)
    return 2 * rho_n * left * GeometricSum(q, K) / (then / GeometricSum(q, K) + left * (1 + q**K) / (1 + q))


# --- Statements -----------------------------------------------------------------------------------------------------


def _shown(factor: Expr) -> Expr:
    """μ² as it is printed."""
    apart_then = GeometricSum(factor**N, K) ** 2
    left = K**2 if factor == 1 else Dot(factor ** times(2, forgetting), apart_then)
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
            lambda: equal_bound(forgotten(q), square(q)),
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
            lambda: cut(equal_bound(forgotten(S.One), square(S.One)), contraction(ONCE, Integer(0))),
        ),
        shown=_shown(S.One),
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
