"""The runs the paper's theorems are about, and what is assumed of their updates: where every proof starts.

An update is θ − η·(mean gradient of a batch) + N(0, 2ησ²I). `contraction` derives its Lipschitz constant from what is
assumed of the losses, so that theorems about Lipschitz updates become theorems about losses (`for_losses`).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Ge, Gt, Integer, S

from ..proof import kernel
from ..proof.facts.losses import descent_lemma, lipschitz_update, smoother
from ..proof.kernel import Theorem, apply, assume, chain, combine
from ..proof.propositions import (
    Anything,
    Apart,
    Batches,
    Descent,
    EveryStep,
    GivenBatches,
    Gradients,
    GradientSteps,
    InOrder,
    Lipschitz,
    LossesBetween,
    Proposition,
)
from ..proof.search import given, ranged, short
from ..symbols import ABBREVIATIONS, G, K, N, P, S_g, X, alpha, b, beta, eta, j0, lam, lipschitz, m, move, n, q, sigma2

NOISE = 2 * eta * sigma2
"""The variance of a step's noise, per coordinate."""
CONVEX_STEP = eta < 2 / beta
STRONGLY_CONVEX = (Gt(lam, 0, evaluate=False), lam <= beta, eta < 2 / (lam + beta))
ORDER = Gt(alpha, 1)
EPOCHS = Ge(K, 1, evaluate=False)
TWO_BATCHES = b <= n / Integer(2)
BATCH = j0 <= N - 1


def descent(batches: Batches | Anything) -> Descent:
    """Noisy descent of the paper, with these batches."""
    return Descent(batches, NOISE)


FIXED_ORDER = descent(InOrder(N, j0))
FULL_BATCH = descent(EveryStep())
ANY = descent(GivenBatches("B"))


def apart(run: Descent, size: Expr) -> Theorem:
    """Gradients of two records differ by at most S_g, so updates on batches of this size by ηS_g/size: assumed."""
    return assume(Apart(run, eta * S_g / size))


def contracts(run: Descent, by: Expr) -> Theorem:
    """Updates are Lipschitz with this constant: assumed."""
    return assume(Lipschitz(run, by))


@cache
def contraction(run: Descent, modulus: Expr) -> Theorem:
    """Updates are (1 − η·modulus)-Lipschitz, for losses that are strongly convex with this modulus and β-smooth.

    β may be raised to β' = 2/η − modulus, which the step size allows; then 2η(β' − modulus) times the descent lemma
    is all there is to it.
    """
    step_size = given(CONVEX_STEP if modulus == 0 else STRONGLY_CONVEX[2])
    raised = 2 / eta - modulus
    wide = combine(beta, raised, ((modulus + beta) / eta, step_size))
    slack = (Integer(1), given(STRONGLY_CONVEX[1])) if modulus != 0 else (beta,)
    room = combine(S.Zero, raised - modulus, ((modulus + beta) / eta, step_size), slack)
    losses = apply(smoother, assume(LossesBetween(run, modulus, beta)), kernel.loosen(wide))
    points = assume(Gradients(run, X, P, G))
    at_best = apply(descent_lemma, points, losses, put={move: 1 / (raised - modulus)}, ranges=[room])
    rate = 1 - eta * modulus
    moved = combine(X - 2 * eta * P + eta**2 * G, rate**2 * X, (eta**2, room, at_best))
    positive = combine(S.Zero, rate, (eta / 2, room)) if modulus != 0 else kernel.positive(rate)
    found = apply(lipschitz_update, assume(GradientSteps(run, eta)), moved, kernel.loosen(positive))
    return kernel.named(found, "an update is Lipschitz")


@ranged(q)
@cache
def _contraction_factor() -> tuple[Theorem]:
    """0 < 1 − ηλ."""
    size, order = given(STRONGLY_CONVEX[2]), given(STRONGLY_CONVEX[1])
    room = combine(S.Zero, 2 / eta - 2 * lam, ((lam + beta) / eta, size), (Integer(1), order))
    return (combine(S.Zero, 1 - eta * lam, (eta / 2, room)),)


@cache
def below_one() -> Theorem:
    """q < 1."""
    return chain(short(q), combine(ABBREVIATIONS[q], S.One, (eta * lam,)))


@ranged(m)
@cache
def _half_an_epoch() -> tuple[Theorem]:
    """1 ≤ ⌊N/2⌋: an epoch has at least two batches."""
    two = kernel.floor_at_least(combine(Integer(2), n / b, (2 / b, given(TWO_BATCHES))))
    whole = kernel.rewrite(two, kernel.swap(short(N)))
    return (kernel.floor_at_least(combine(S.One, N / 2, (S.Half, whole))),)


def losses_assumed(run: Descent, size: Expr | None, modulus: Expr) -> tuple[Proposition, ...]:
    """What theorems about losses assume of a run; `size` is that of its batches, where the record's effect matters."""
    losses = GradientSteps(run, eta), LossesBetween(run, modulus, beta)
    return losses if size is None else (*losses, Apart(run, eta * S_g / size))


def by_contraction(run: Descent, size: Expr = b) -> tuple[Proposition, ...]:
    """What bounds by contraction assume of a run: its updates are (1 − ηλ)-Lipschitz, and how much a record matters."""
    return Lipschitz(run, q), Apart(run, eta * S_g / size)


def by_lipschitz(run: Descent, size: Expr = b) -> tuple[Proposition, ...]:
    """What bounds assume that ask for a Lipschitz constant alone, whatever it is."""
    return Lipschitz(run, lipschitz), Apart(run, eta * S_g / size)


def for_losses(theorem: Theorem, run: Descent) -> Theorem:
    """A theorem about (1 − ηλ)-Lipschitz updates, for λ-strongly convex, β-smooth losses."""
    rate = kernel.rewrite(contraction(run, lam), kernel.swap(short(q)))
    return kernel.cut(theorem, rate)
