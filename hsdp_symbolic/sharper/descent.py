"""Full-batch noisy gradient descent, exactly: `shift:gd` by optimal shifts, `split:gd` by the paper's own tools.

The proof of `thm:GD_tighter` splits the noise of a step in halves. The best split depends on the step, and with it the
log-Sobolev recursion arrives at the bound of the optimal shifts, which the quadratic loss attains (`attained`). The
shifts, and that they are the best ones, are those of Bok, Su & Altschuler (2024).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, times
from ..functions.geometric import GeometricSum
from ..paper.descents import (
    EPOCHS,
    FULL_BATCH,
    NOISE,
    ORDER,
    STRONGLY_CONVEX,
    below_one,
    by_contraction,
    contracts,
    for_losses,
    losses_assumed,
)
from ..paper.fixed_order import at_order
from ..paper.lsi import after_map, after_noise, spread
from ..paper.postprocessing import noise_shrinks
from ..paper.quadratic import full_batch
from ..paper.steps import after_partial_use, first_use, used
from ..proof import kernel
from ..proof.facts.definitions import noise_adds, update_per_order
from ..proof.facts.drift import Drift
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, From, Less, LogSobolev, PerOrder, Proposition, Renyi
from ..proof.search import claimed, equal_bound, induct, short, use
from ..statement import Statement
from ..symbols import H_1, K, S_g, a_t, alpha, eta, i, lam, n, q, rho_n, sigma, split, start, whole, x_1
from .drifts import Units
from .pattern import WHERE

_COST = Over(times(alpha, eta, S_g**2), times(4, sigma**2, n**2))
_GROWTH = (1 + q) * GeometricSum(q, K) / (1 + q**K)
"""Σa² of the best shifts, and u/ρ of the best split; in this form it can be seen to increase with K."""
_SHOWN = Dot(_COST, Over(times(1 + q, GeometricSum(q, K)), 1 + q**K))
_EXPR = alpha * rho_n * _GROWTH


@cache
def attained() -> Theorem:
    """The bound is the divergence of the quadratic loss: nothing smaller is a bound."""
    return kernel.named(cancel(_EXPR, full_batch().expr, below_one()), "attained by the quadratic loss")


# --- Shifts ---------------------------------------------------------------------------------------------------------


@cache
def _units() -> Units:
    return Units(FULL_BATCH, n, q, rho_n, (below_one(),))


def away_in_descent(steps: Expr) -> Expr:
    """How far away the copy is after so many steps, the shift of step i being r·q^(−i)."""
    return GeometricSum(q, steps) - a_t * q ** (steps - 1) * GeometricSum(q**-2, steps)


def largest_rate(steps: Expr) -> Expr:
    """The rate at which nothing is left after so many steps."""
    return q ** (steps - 1) * (1 + q) / (1 + q**steps)


@cache
def not_beyond() -> Theorem:
    """0 ≤ distance after i ≤ K steps: the largest rate falls with the number of steps."""
    falls = combine(
        largest_rate(i + split),
        largest_rate(i),
        (largest_rate(i) / (1 + q ** (i + split)), below_one(), GeometricSum(q, split)),
    )
    more = combine(S.Zero, K - i, (S.One, assume(AtMost(i, K))))
    slow = chain(assume(AtMost(a_t, largest_rate(K))), substitute(falls, {split: K - i}, more))
    scale = q ** (i - 1) * GeometricSum(q**-2, i)
    return combine(S.Zero, away_in_descent(i), (scale, slow), nonzero=[below_one()])


@cache
def steered() -> Theorem:
    """After i ≤ K steps, for any rate that leaves something, or nothing, after K."""
    here = _units()

    def claim(steps: Expr) -> Drift:
        return here.state(steps, away_in_descent(steps), a_t**2 * GeometricSum(q**-2, steps))

    def step(so_far: Theorem) -> Theorem:
        left = cut(substitute(not_beyond(), {i: i + 1}), assume(AtMost(i + 1, K)))
        return here.hiding(here.used(so_far), a_t * q**-i, claim(i + 1), left)

    return kernel.named(induct(i, 0, claim, here.started(), step, upper=K), "i steps, each hiding its share")


@cache
def _met() -> Theorem:
    """After K steps, at the largest rate, the copy has met the first run."""
    rate = largest_rate(K)
    found = substitute(steered(), {i: K, a_t: rate})
    found = cut(found, combine(K, K), combine(rate, rate))
    return rewrite(found, cancel(found.proposition.distance, S.Zero, below_one()))  # type: ignore[attr-defined]


def descent_spent() -> Expr:
    """Σa² of the best shifts."""
    return _GROWTH


def descent_met() -> Theorem:
    """What the copy costs, as Gaussian differential privacy."""
    return _units().gaussian(_met())


@cache
def by_shifts() -> Statement:
    """`shift:gd`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)

    def prove() -> Theorem:
        return at_order(_units().ended(_met()), _EXPR, below_one())

    return Statement(
        label="shift:gd",
        title="Optimal shifts, full batch",
        where=WHERE,
        says="ε after K steps on the full batch, by the best shifts: exactly tight.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FULL_BATCH, Integer(0), K), alpha, _EXPR), relations, by_contraction(FULL_BATCH, n), prove
        ),
        shown=_SHOWN,
        printed_with=lambda: [below_one()],
        hypotheses=relations,
    )


# --- Splits ---------------------------------------------------------------------------------------------------------


def _cost(steps: Expr) -> Expr:
    """u after so many steps, the noise of each split at its best."""
    return rho_n * GeometricSum(q, steps) ** 2 / GeometricSum(q**2, steps)


@cache
def _split_in_letters() -> Theorem:
    """A step with the portion θ = √(ρq²V/(uv)) of its noise paying for the gradient; u = ρ·H_1²/x_1, V = v·x_1.

    What follows is a post-processing that shrinks the divergence; it leaves √(u'V') = q√(uV) + √(ρv).
    """
    point = From(FULL_BATCH, Integer(0), whole)
    room = assume(Less(q * x_1, H_1))
    paying = q * x_1 / H_1 * NOISE
    rest = combine(S.Zero, NOISE - paying, (NOISE / H_1, room))
    part = after_partial_use(assume(PerOrder(point, rho_n * H_1**2 / x_1)), first_use(FULL_BATCH, n, paying))
    here = assume(LogSobolev(point, NOISE * x_1))
    concentration = after_noise(after_map(here, contracts(FULL_BATCH, q)), paying)
    positive = kernel.loosen(kernel.positive(concentration.proposition.value))
    noise = apply(noise_adds, use(noise_shrinks(), part, concentration, positive, rest))
    found = apply(update_per_order, rewrite(noise, cancel(noise.proposition.pair.variance, NOISE)))  # type: ignore[attr-defined]
    return equal_bound(found, rho_n * (1 + q * H_1) ** 2 / (1 + q**2 * x_1), by=[short(rho_n)])


@cache
def split_step() -> Theorem:
    """A step, r ≥ 1 steps after a point, with the best portion of its noise paying for the gradient."""
    sums = {H_1: GeometricSum(q, whole), x_1: GeometricSum(q**2, whole)}
    more = sums[H_1] * GeometricSum(q, whole + 1) / (1 + q)
    room = combine(q * sums[x_1], sums[H_1], (more, below_one()), nonzero=[below_one()])
    spread_here = substitute(spread(FULL_BATCH, q), {i: whole, start: Integer(0)})
    found = cut(substitute(_split_in_letters(), sums), room, spread_here)
    for each in sums.values():
        found = rewrite(found, kernel.swap(kernel.unfold(each, 1)))
    return kernel.named(found, "a step whose noise is split at its best")


@cache
def _split_steps() -> Theorem:
    """u after K steps."""

    def claim(steps: Expr) -> Proposition:
        return PerOrder(From(FULL_BATCH, Integer(0), steps), _cost(steps))

    def step(so_far: Theorem) -> Theorem:
        return cut(substitute(split_step(), {whole: i}, assume(AtMost(S.One, i))), so_far)

    first = substitute(used(FULL_BATCH, n, rho_n, short(rho_n)), {start: Integer(0)})
    found = induct(i, 1, claim, equal_bound(first, _cost(S.One)), step)
    return cut(substitute(found, {i: K}), combine(S.One, K, (K - 1,)))


@cache
def by_split() -> Statement:
    """`split:gd`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)

    def prove() -> Theorem:
        return for_losses(at_order(_split_steps(), _EXPR, below_one()), FULL_BATCH)

    return Statement(
        label="split:gd",
        title="Optimal noise split, full batch",
        where="not in the paper",
        says="ε after K steps on the full batch, by the recursion of thm:GD_tighter with the best split of each step's "
        "noise: the bound of shift:gd again.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FULL_BATCH, Integer(0), K), alpha, _EXPR), relations, losses_assumed(FULL_BATCH, n, lam), prove
        ),
        shown=_SHOWN,
        printed_with=lambda: [below_one()],
        hypotheses=relations,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )
