"""The exact law of noisy descent on a quadratic loss, from a point start: what no bound may fall below.

For ℓ(θ; x) = λθ²/2 − xθ the update is affine, so the last iterate is Gaussian, with one variance for both datasets.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integer, S

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..proof import kernel
from ..proof.facts.definitions import RUN, before_first_use, between_uses
from ..proof.facts.gaussian_laws import (
    affine_update,
    gaussian_divergence,
    gaussian_mapped,
    gaussian_mapped_apart,
    gaussian_noised,
    gaussian_point,
    update_gaussian,
    used_every_time,
    used_in_turn,
)
from ..proof.facts.profiles import gaussian_exactly
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    AtMost,
    Descent,
    From,
    GaussianExactly,
    GaussianLaws,
    GradientSteps,
    Proposition,
    QuadraticLosses,
    RenyiEquals,
    Unused,
    Used,
)
from ..proof.search import claimed, equal_bound, given, induct, short
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    after,
    alpha,
    b,
    cost_1,
    count,
    epoch,
    eta,
    factor,
    i,
    j0,
    k,
    lam,
    n,
    place,
    q,
    rho0,
    rho_n,
    sigma,
    start,
    steps,
    theta,
    x_i,
)
from .descents import BATCH, EPOCHS, FIXED_ORDER, FULL_BATCH, NOISE, ORDER, STRONGLY_CONVEX, below_one
from .lsi import inverse_constant

_ASSUMES = (
    "the loss is λθ²/2 − xθ in one dimension, with records that differ by S_g",
    "the start is a point; the law of the last iterate is compared, all others are hidden",
)


def _assumed(run: Descent, size: Expr) -> tuple[Proposition, ...]:
    return GradientSteps(run, eta), QuadraticLosses(run, lam, S_g, size)


@cache
def affine(run: Descent, size: Expr) -> Theorem:
    """The gradient is λθ − x, so an update maps θ to qθ + ηx before the noise."""
    slope = kernel.work_out(Derivative(lam * theta**2 / 2 - x_i * theta, theta))
    meant = slope.proposition.right  # type: ignore[attr-defined]
    moved = rewrite(cancel(theta - eta * meant, q * theta + eta * x_i, by=[short(q)]), kernel.swap(slope))
    return apply(affine_update, *map(assume, _assumed(run, size)), moved, put={factor: q})


def _laws(run: Descent, steps_: Expr, gap: Expr) -> GaussianLaws:
    """Gaussians so far apart after so many steps from the start; the variance is the same for every run."""
    return GaussianLaws(From(run, Integer(0), steps_), gap, inverse_constant(q, steps_))


def _step(run: Descent, size: Expr, *, hit: bool) -> Theorem:
    """The laws after one more step, i steps from the start, which uses the record or does not."""
    before = assume(_laws(run, i, cost_1))
    uses = assume((Used if hit else Unused)(run.batches, i))
    mapped = apply(gaussian_mapped_apart if hit else gaussian_mapped, affine(run, size), uses, before)
    found = apply(update_gaussian, apply(gaussian_noised, mapped, kernel.positive(NOISE)))
    grown = found.proposition.variance  # type: ignore[attr-defined]
    return rewrite(found, cancel(grown, inverse_constant(q, i + 1), below_one()))


@cache
def step_with(run: Descent, size: Expr) -> Theorem:
    """A step that uses the record: the gap a becomes q·a + ηS_g/size."""
    return kernel.named(_step(run, size, hit=True), "a step with the record, exactly")


@cache
def step_without(run: Descent, size: Expr) -> Theorem:
    """A step that does not use the record: the gap a becomes q·a."""
    return kernel.named(_step(run, size, hit=False), "a step without the record, exactly")


def _written(found: Theorem, gap: Expr, *, by: tuple[Theorem, ...] = ()) -> Theorem:
    """The same with the gap written in another way."""
    old = found.proposition.gap  # type: ignore[attr-defined]
    return found if old == gap else rewrite(found, cancel(old, gap, by=by))


def _point(run: Descent) -> Theorem:
    return apply(gaussian_point, put={RUN: run, start: Integer(0)})


def _gaussian(found: Theorem, expr: Expr, cost: Expr) -> Theorem:
    """μ² of the two Gaussians, written as `expr`."""
    positive = kernel.positive(found.proposition.variance)  # type: ignore[attr-defined]
    return equal_bound(apply(gaussian_exactly, found, positive), expr, by=[short(cost)])


def _exactly(found: Theorem, expr: Expr, cost: Expr) -> Theorem:
    """R_α of the two Gaussians, written as `expr`."""
    positive = kernel.positive(found.proposition.variance)  # type: ignore[attr-defined]
    return equal_bound(apply(gaussian_divergence, found, positive, given(ORDER)), expr, by=[short(cost)])


# --- Fixed order ----------------------------------------------------------------------------------------------------

_REACH = eta * S_g / b


@cache
def _until_first_use() -> Theorem:
    """The laws are the same until the record's batch comes."""

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_first_use, assume(AtMost(i + 1, j0)), given(BATCH), put={count: N, after: i})
        return cut(substitute(step_without(FIXED_ORDER, b), {cost_1: Integer(0)}), so_far, unused)

    found = induct(i, 0, lambda at: _laws(FIXED_ORDER, at, Integer(0)), _point(FIXED_ORDER), step, upper=j0)
    return cut(substitute(found, {i: j0}), combine(j0, j0))


def _gap_before(epochs: Expr) -> Expr:
    """How far apart the means are before the record is used in an epoch."""
    return _REACH * q ** (N - 1) * GeometricSum(q**N, epochs)


def _from_use(before: Theorem) -> Theorem:
    """The laws after the record is used in epoch k and i ≤ N − 1 further steps."""
    here = N * k + j0
    gap = before.proposition.gap  # type: ignore[attr-defined]
    used = apply(used_in_turn, given(BATCH), put={count: N, place: j0, epoch: k})
    first = cut(substitute(step_with(FIXED_ORDER, b), {i: here, cost_1: gap}), before, used)

    def claim(more: Expr) -> Proposition:
        return _laws(FIXED_ORDER, here + 1 + more, q**more * (q * gap + _REACH))

    def step(so_far: Theorem) -> Theorem:
        last = combine(i + 1, N - 1, (S.One, assume(AtMost(i + 1, N - 1))))
        unused = apply(between_uses, combine(S.One, i + 1, (i,)), last, put={count: N, place: j0, epoch: k})
        value = so_far.proposition.gap  # type: ignore[attr-defined]
        found = cut(substitute(step_without(FIXED_ORDER, b), {i: here + 1 + i, cost_1: value}), so_far, unused)
        return _written(found, claim(i + 1).gap)  # type: ignore[attr-defined]

    return induct(i, 0, claim, first, step, upper=N - 1)


@cache
def _before_use() -> Theorem:
    """The laws before the record is used in epoch k."""

    def claim(epochs: Expr) -> Proposition:
        return _laws(FIXED_ORDER, N * epochs + j0, _gap_before(epochs))

    def step(so_far: Theorem) -> Theorem:
        found = cut(substitute(_from_use(so_far), {i: N - 1}), combine(N - 1, N - 1))
        found = rewrite(found, cancel(N * k + j0 + N, N * (k + 1) + j0))
        return _written(found, _gap_before(k + 1), by=(kernel.unfold(GeometricSum(q**N, k), 1),))

    return kernel.named(induct(k, 0, claim, _until_first_use(), step), "k epochs, exactly")


def _after_epochs() -> Theorem:
    """The laws after K epochs."""
    last = substitute(_from_use(assume(_laws(FIXED_ORDER, N * k + j0, _gap_before(k)))), {k: K - 1})
    left = combine(S.Zero, N - 1 - j0, (S.One, given(BATCH)))
    last = cut(substitute(last, {i: N - 1 - j0}, left), combine(N - 1 - j0, N - 1, (j0,)))
    found = cut(last, substitute(_before_use(), {k: K - 1}))
    found = rewrite(found, cancel(N * (K - 1) + N, K * N))
    sums = kernel.unfold(GeometricSum(q**N, K - 1), 1)
    return _written(found, _REACH * q ** (N - 1 - j0) * GeometricSum(q**N, K), by=(sums,))


_ATTAINED = q ** (2 * (N - 1 - j0)) * GeometricSum(q**N, K) ** 2 / GeometricSum(q**2, K * N)
"""Squared gap over variance, in units: the Σa² that no shifts can do without."""
_ATTAINED_SHOWN = (
    q ** Dot(2, Plus(N, -j0, -1)),
    Over(GeometricSum(q**N, K) ** 2, GeometricSum(q**2, times(K, N))),
)


@cache
def fixed_order() -> Statement:
    """`exact:fixed_order`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX, BATCH)
    expr = alpha * rho0 * _ATTAINED
    shown = Dot(Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2)), *_ATTAINED_SHOWN)
    return Statement(
        label="exact:fixed_order",
        kind="law",
        title="Exact divergence for the quadratic loss, fixed order",
        where="not in the paper",
        says="R_α between the last iterates on a quadratic loss after K epochs, for data in batch j0.",
        bounds=r"R_\alpha(\theta_K^0\Vert{\theta'}_K^0)",
        theorem=claimed(
            RenyiEquals(From(FIXED_ORDER, Integer(0), K * N), alpha, expr),
            relations,
            _assumed(FIXED_ORDER, b),
            lambda: _exactly(_after_epochs(), expr, rho0),
        ),
        shown=shown,
        hypotheses=relations,
        assumes=_ASSUMES,
    )


@cache
def fixed_order_gaussian() -> Statement:
    """`gdp:exact:fixed_order`."""
    relations = (EPOCHS, *STRONGLY_CONVEX, BATCH)
    expr = 2 * rho0 * _ATTAINED
    return Statement(
        label="gdp:exact:fixed_order",
        kind="law",
        title="Exact Gaussian differential privacy for the quadratic loss, fixed order",
        where="not in the paper",
        says="μ² between the last iterates on a quadratic loss after K epochs, for data in batch j0: exactly.",
        bounds=r"\mu^2",
        theorem=claimed(
            GaussianExactly(From(FIXED_ORDER, Integer(0), K * N), expr),
            relations,
            _assumed(FIXED_ORDER, b),
            lambda: _gaussian(_after_epochs(), expr, rho0),
        ),
        shown=Dot(Over(times(eta, S_g**2), times(2, sigma**2, b**2)), *_ATTAINED_SHOWN),
        hypotheses=relations,
        assumes=_ASSUMES,
    )


# --- Full batch -----------------------------------------------------------------------------------------------------


@cache
def _full_batch_steps() -> Theorem:
    """The laws after i steps on the full batch."""
    reach = eta * S_g / n

    def claim(steps_: Expr) -> Proposition:
        return _laws(FULL_BATCH, steps_, reach * GeometricSum(q, steps_))

    def step(so_far: Theorem) -> Theorem:
        gap = so_far.proposition.gap  # type: ignore[attr-defined]
        used = apply(used_every_time, put={steps: i})
        found = cut(substitute(step_with(FULL_BATCH, n), {cost_1: gap}), so_far, used)
        return _written(found, reach * GeometricSum(q, i + 1), by=(kernel.unfold(GeometricSum(q, i), 1),))

    return kernel.named(induct(i, 0, claim, _point(FULL_BATCH), step), "i steps on the full batch, exactly")


@cache
def full_batch() -> Statement:
    """`exact:full_batch`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)
    expr = alpha * rho_n * GeometricSum(q, K) ** 2 / GeometricSum(q**2, K)
    shown = Dot(
        Over(times(alpha, eta, S_g**2), times(4, sigma**2, n**2)),
        Over(GeometricSum(q, K) ** 2, GeometricSum(q**2, K)),
    )
    return Statement(
        label="exact:full_batch",
        kind="law",
        title="Exact divergence for the quadratic loss, full batch",
        where="not in the paper",
        says="R_α between the last iterates on a quadratic loss after K steps on the full batch.",
        bounds=r"R_\alpha(\theta_K\Vert\theta_K')",
        theorem=claimed(
            RenyiEquals(From(FULL_BATCH, Integer(0), K), alpha, expr),
            relations,
            _assumed(FULL_BATCH, n),
            lambda: _exactly(substitute(_full_batch_steps(), {i: K}), expr, rho_n),
        ),
        shown=shown,
        hypotheses=relations,
        assumes=_ASSUMES,
    )


@cache
def full_batch_gaussian() -> Statement:
    """`gdp:exact:full_batch`."""
    relations = (EPOCHS, *STRONGLY_CONVEX)
    expr = 2 * rho_n * GeometricSum(q, K) ** 2 / GeometricSum(q**2, K)
    return Statement(
        label="gdp:exact:full_batch",
        kind="law",
        title="Exact Gaussian differential privacy for the quadratic loss, full batch",
        where="not in the paper",
        says="μ² between the last iterates on a quadratic loss after K steps on the full batch: exactly.",
        bounds=r"\mu^2",
        theorem=claimed(
            GaussianExactly(From(FULL_BATCH, Integer(0), K), expr),
            relations,
            _assumed(FULL_BATCH, n),
            lambda: _gaussian(substitute(_full_batch_steps(), {i: K}), expr, rho_n),
        ),
        shown=Dot(
            Over(times(eta, S_g**2), times(2, sigma**2, n**2)), Over(GeometricSum(q, K) ** 2, GeometricSum(q**2, K))
        ),
        hypotheses=relations,
        assumes=_ASSUMES,
    )
