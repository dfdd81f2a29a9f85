"""Fixed-order noisy mini-batch gradient descent: ε₀^j, `thm:strconvexsmooth`, `thm:convexsmooth`.

Throughout, a bound is carried as u with R_a ≤ a·u for *every* order a > 1: the change of order in lem:recursive
is then harmless, and the ε of a theorem is α·u.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Ge, Gt, Integer, Le, Rational

from ..display import Dot, FirstEpoch, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..meaning import BY_CONTRACTION, BY_CONVEXITY, Quantity
from ..proof.checks import AtPoint, Identity, Induction, Limit, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    A_epoch,
    K,
    L,
    N,
    S_g,
    Y,
    a,
    a2,
    alpha,
    b,
    c,
    eta,
    hit,
    i,
    j,
    j0,
    k,
    m,
    n,
    p,
    q,
    r_epoch,
    rho0,
    sigma,
    u,
)
from . import gaussian
from .lsi import CONVEX_STEP, STRONGLY_CONVEX, lsi_convex, lsi_strongly_convex
from .postprocessing import one_step

FIRST_EPOCH = "eqn:proof_strongly_convex_first_epoch"
MIRONOV = "Mironov 2017, Proposition 1"
FACTOR_DROPPED = "factor dropped"
ORDER = Gt(alpha, 1)
EPOCHS = Ge(K, 1, evaluate=False)
TWO_BATCHES = b <= n / Integer(2)
BATCH = j0 <= N - 1
STEP_COST = Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2))


def after_hit(before: Expr) -> Expr:
    """u after a batch with the differing record (lem:recursive)."""
    return one_step().expr.subs(hit, 1).subs(u, before)


def after_shared(before: Expr, lsi: Statement, epoch: Expr, updates: Expr, lipschitz: Expr) -> Expr:
    """u after a batch without the record, the LSI constant being that after `epoch` epochs and `updates` updates."""
    constant = lsi.expr.subs({k: epoch, j: updates}, simultaneous=True)
    return one_step().expr.subs(hit, 0).subs({u: before, c: constant, L: lipschitz}, simultaneous=True)


def _first_epoch(d: Derivation, lsi: Statement, lipschitz: Expr, ratio: Expr, solution: Expr) -> Expr:
    """u after j updates of the first epoch, the record being in batch 0; `solution` and `ratio` are in the index i."""
    pairs = [(Rational(3, 4), Rational(1, 2)), (Rational(1, 2), Rational(1, 4))]
    d.cite(
        "It is enough to start from a point: R_α is quasi-convex, so a random start costs no more than the worst "
        "point (witness: two mixed coin pairs, α = 2).",
        "van Erven & Harremoës 2014, Theorem 13",
        AtPoint(
            _chi_square_moment(*(sum(side) / 2 for side in zip(*pairs, strict=True))),
            max(_chi_square_moment(*pair) for pair in pairs),
            Le,
            "coins (3/4, 1/2) and (1/2, 1/4), mixed evenly",
        ),
    )
    first = d.identity("Both runs start alike (u = 0); the first update holds the record.", after_hit(Integer(0)), rho0)
    d.identity(
        "Each later update of the epoch multiplies u by the factor of lem:recursive at the constant after i updates.",
        after_shared(Y, lsi, Integer(0), i, lipschitz),
        Y * ratio,
    )
    d.check(
        "The product telescopes: u after i updates.",
        Induction(solution, i, 1, first, Y, Y * ratio),
    )
    return solution.subs(i, j)


def _chi_square_moment(mu: Rational, nu: Rational) -> Rational:
    """E_2 for two coins: Σ μ²/ν."""
    return mu**2 / nu + (1 - mu) ** 2 / (1 - nu)


def _compose(d: Derivation, says: str) -> None:
    """Rényi composition, cited, with Gaussians as the witness: for them it is an equality."""
    product = gaussian.renyi().subs(a**2, a**2 + a2**2)
    d.cite(
        f"{says} (witness: independent Gaussian shifts a and a2).",
        MIRONOV,
        Identity(gaussian.renyi() + gaussian.renyi().subs(a, a2), product),
    )


@cache
def first_epoch() -> Statement:
    """ε₀^j(α): the record was in the first batch, j updates have been made."""
    d = Derivation()
    ratio = q**2 * GeometricSum(q**2, i) / GeometricSum(q**2, i + 1)
    per_order = _first_epoch(d, lsi_strongly_convex(), q, ratio, rho0 * q ** (2 * (i - 1)) / GeometricSum(q**2, i))
    monotone = d.identity(
        "Dividing by the power: a single sum, manifestly increasing in q and decreasing in j.",
        per_order,
        rho0 / GeometricSum(q**-2, j),
    )
    shown = Dot(STEP_COST, q ** times(2, j - 1), Over(1, GeometricSum(q**2, j)))
    d.printed(alpha * monotone, shown)
    return Statement(
        label=FIRST_EPOCH,
        kind="equation",
        terms=BY_CONTRACTION,
        title="First-epoch bound",
        where="Appendix D.5, used in Theorem 3.3",
        says="ε after j iterations of the first epoch, for data in the first mini-batch.",
        bounds=r"\varepsilon_0^{j}(\alpha)",
        quantity=Quantity.DIVERGENCE,
        relation="=",
        expr=alpha * monotone,
        shown=shown,
        hypotheses=(ORDER, Ge(j, 1), j <= N, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )


def two_batches(d: Derivation) -> None:
    """The step that m = ⌊n/2b⌋ is at least 1."""
    d.at_most(
        "An epoch has at least two batches, so m = ⌊n/2b⌋ ≥ 1 and ε_0^m is defined.",
        Integer(2),
        n / b,
        [(2 / b, Slack.of(TWO_BATCHES))],
    )


def batch_in_range(d: Derivation) -> None:
    """The step that batch j0 exists."""
    d.at_most(
        "The record's batch exists, so N − j0 ≥ 1 updates follow its last use.",
        Integer(1),
        N - j0,
        [(Integer(1), Slack.of(BATCH))],
    )


_DECAY = q ** (2 * (N - m))


def whole_epochs(d: Derivation, start: Expr, split: Expr) -> Expr:
    """u after K − 1 epochs, each of which costs `split` updates from a fixed start and contracts by the others.

    `start` is the u after j updates of a first epoch.
    """
    _compose(
        d, "First m updates of an epoch: they cost at most what they cost from a fixed start, ε_k^m ≤ ε_k^0 + ε_0^m"
    )
    kept = q ** (2 * i) * GeometricSum(q**2, k * N + split) / GeometricSum(q**2, k * N + split + i)
    d.check(
        "The other updates hold no record: after i of them u is multiplied by this (telescoping again).",
        Induction(kept, i, 0, Integer(1), Y, after_shared(Y, lsi_strongly_convex(), k, split + i, q)),
    )
    decay = q ** (2 * (N - split))
    d.at_most(
        "Over the N − m updates that end epoch k the multiplier is at most q^(2(N−m)).",
        kept.subs(i, N - split),
        decay,
        [
            (
                decay * q ** (2 * (k * N + split)) / GeometricSum(q**2, k * N + N),
                Slack(GeometricSum(q**2, N - split), "a sum of N − m positive powers"),
            )
        ],
    )
    solved = A_epoch * r_epoch * GeometricSum(r_epoch, i)
    d.check(
        "So one epoch maps u to r(u + a), with r = q^(2(N−m)) and a the cost of m updates: solve over epochs.",
        Induction(
            solved,
            i,
            0,
            Integer(0),
            Y,
            r_epoch * (Y + A_epoch),
            cross_check=True,
        ),
    )
    _compose(d, "A record in batch j0 sees K−1 whole epochs and N−j0 further updates: ε ≤ ε_(K−1)^0 + ε_0^(N−j0)")
    d.later(batch_in_range)
    return solved.subs({r_epoch: decay, A_epoch: start.subs(j, split), i: K - 1}, simultaneous=True)


def first_epoch_named() -> tuple[tuple[Expr, Expr], ...]:
    """ε₀^j(α), which occurs by name in the bounds after K epochs, and what it stands for."""
    return ((FirstEpoch(j, alpha), first_epoch().shown),)


def first_term() -> Expr:
    """What K − 1 whole epochs leave behind: the term thm:strconvexsmooth and thm:shuffle share."""
    return first_epoch().expr.subs(j, m) * GeometricSum(_DECAY, K - 1)


def first_term_shown() -> Expr:
    """The same, as the paper prints it."""
    return Dot(FirstEpoch(m, alpha), Over(1 - q ** times(2, K - 1, N - m), 1 - q ** times(2, N - m)))


@cache
def strongly_convex() -> Statement:
    """`thm:strconvexsmooth`."""
    d = Derivation()
    start = first_epoch().expr / alpha  # u of the first epoch: ε₀^j over its order
    d.later(two_batches)
    carried = whole_epochs(d, start, m)
    decay = _DECAY
    printed = first_term() / alpha
    last = start.subs(j, N - j0)
    d.identity(
        "Term by term against the theorem: the first term carries a factor q^(2(N−m)) that the last line of the "
        "paper's proof drops; the second term is the same.",
        (carried + last) - (printed + last),
        (decay - 1) * printed,
    )
    d.at_most(
        "Dropping it is valid: the theorem's expression is at least the derived one.",
        alpha * (carried + last),
        alpha * (printed + last),
        [
            (
                alpha * printed * (1 - q**2),
                Slack(GeometricSum(q**2, N - m), "1 − q^(2(N−m)) = (1 − q²)·(a sum of positive powers)"),
            )
        ],
        domain={q: 1 / (1 + p)},
        name=FACTOR_DROPPED,
    )
    expr = alpha * printed + alpha * last  # not factored: each term reaches its own scale before they are added
    shown = Plus(first_term_shown(), FirstEpoch(N - j0, alpha))
    d.printed(expr, shown, first_epoch=undisplay(first_epoch().shown), index=j)
    return Statement(
        label="thm:strconvexsmooth",
        title="Privacy dynamics under strongly convex smooth loss",
        where="Theorem 3.3 (proof in Appendix D.5)",
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        names=first_epoch_named(),
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX, BATCH),
        steps=d.steps,
        uses=(FIRST_EPOCH, "lem:LSIseq_stronglyconvex", "lem:recursive"),
        terms=BY_CONTRACTION,
    )


@cache
def convex() -> Statement:
    """`thm:convexsmooth`."""
    d = Derivation()
    per_order = _first_epoch(d, lsi_convex(), Integer(1), i / (i + 1), rho0 / i)
    in_p = {q: 1 / (1 + p)}
    d.check(
        "It is the q → 1 case of ε₀^j (q = 1/(1+p), p ↓ 0).",
        Limit((first_epoch().expr / alpha).subs(in_p), p, Integer(0), per_order),
    )
    d.later(_compose, "Whole epochs add up: ε_(k+1)^0 ≤ ε_k^0 + ε_0^N")
    epochs = per_order.subs(j, N) * i
    d.check(
        "u after i epochs.",
        Induction(epochs, i, 0, Integer(0), Y, Y + per_order.subs(j, N), cross_check=True),
    )
    _compose(d, "A record in batch j0 sees K−1 whole epochs and N−j0 further updates: ε ≤ (K−1)·ε_0^N + ε_0^(N−j0)")
    d.later(batch_in_range)
    expr = alpha * (epochs.subs(i, K - 1) + per_order.subs(j, N - j0))
    limit_of_other = alpha * rho0 * ((K - 1) / m + 1 / (N - j0))
    d.check(
        "The q → 1 limit of thm:strconvexsmooth has 1/m where this has 1/N …",
        Limit(strongly_convex().expr.subs(in_p), p, Integer(0), limit_of_other),
    )
    d.at_most(
        "… and is therefore the weaker of the two: splitting an epoch in halves costs a factor (n/b)/m ≤ 3 as ηλ → 0.",
        expr,
        limit_of_other,
        [(alpha * rho0 * (K - 1) / (N * m), Slack(N - m, "m = ⌊N/2⌋ ≤ N"))],
        domain={K: 1 + i},
    )
    shown = Plus(Dot(STEP_COST, Over(1, N), K - 1), Dot(STEP_COST, Over(1, N - j0)))
    d.printed(expr, shown)
    return Statement(
        label="thm:convexsmooth",
        title="Privacy dynamics under convex smooth loss",
        where="Theorem D.4 (Appendix D.4)",
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, without strong convexity.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, EPOCHS, CONVEX_STEP, BATCH),
        steps=d.steps,
        uses=("lem:LSIseq_convex", "lem:recursive"),
        terms=BY_CONVEXITY,
    )
