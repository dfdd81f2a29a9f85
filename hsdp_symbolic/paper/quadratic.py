"""The exact law of noisy descent on a quadratic loss, from a point start: what no bound may fall below.

For ℓ(θ; x) = λθ²/2 − xθ the update is affine, so the last iterate is Gaussian, with one variance for both datasets.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer

from ..display import Dot, Over, Plus, times
from ..functions.geometric import GeometricSum
from ..meaning import Quantity
from ..proof.checks import Induction
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    Y,
    a,
    alpha,
    b,
    eta,
    i,
    j0,
    lam,
    n,
    q,
    rho0,
    rho_n,
    sigma,
    sigma2,
    theta,
    v,
    x_i,
)
from . import gaussian
from .fixed_order import EPOCHS, ORDER
from .lsi import STRONGLY_CONVEX

_ASSUMES = (
    "the loss is λθ²/2 − xθ in one dimension, with records that differ by S_g",
    "the start is a point; the law of the last iterate is compared, all others are hidden",
)


def _affine(d: Derivation) -> Expr:
    """The update and its noise; returns the variance after i updates."""
    d.identity(
        "The gradient is λθ − x, so an update maps θ to qθ + ηx before the noise.",
        (theta - eta * (lam * theta - x_i)).expand(),
        (1 - eta * lam) * theta + eta * x_i,
    )
    spread = 2 * eta * sigma2 * GeometricSum(q**2, i)
    d.check(
        "The variance v ↦ q²v + 2ησ², from 0.",
        Induction(spread, i, 0, Integer(0), Y, q**2 * Y + 2 * eta * sigma2, cross_check=True),
    )
    return spread


def _divergence(d: Derivation, gap: Expr, spread: Expr, result: Expr, spelled: dict[Expr, Expr]) -> Expr:
    """The divergence of Gaussians `gap` apart with variance `spread` is `result`, abbreviations `spelled` out."""
    d.identity(
        "R_α of two Gaussians with that variance and that distance.",
        gaussian.renyi().subs({a: gap, v: spread}, simultaneous=True),
        result.subs(spelled),
    )
    return result


@cache
def fixed_order() -> Statement:
    """`exact:fixed_order`."""
    d = Derivation()
    spread = _affine(d)
    reach = eta * S_g / b * q ** (N - 1 - j0)
    gap = reach * GeometricSum(q**N, i)
    d.check(
        "The means move apart by ηS_g/b in the update with the record, which N−1−j0 others follow: an epoch maps the "
        "distance a to q^N·a + (ηS_g/b)·q^(N−1−j0).",
        Induction(gap, i, 0, Integer(0), Y, q**N * Y + reach, cross_check=True),
    )
    expr = _divergence(
        d,
        gap.subs(i, K),
        spread.subs(i, K * N),
        alpha * rho0 * q ** (2 * (N - 1 - j0)) * GeometricSum(q**N, K) ** 2 / GeometricSum(q**2, K * N),
        {rho0: eta * S_g**2 / (4 * sigma2 * b**2)},
    )
    shown = Dot(
        Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2)),
        q ** Dot(2, Plus(N, -j0, -1)),
        Over(GeometricSum(q**N, K) ** 2, GeometricSum(q**2, times(K, N))),
    )
    return Statement(
        label="exact:fixed_order",
        kind="law",
        title="Exact divergence for the quadratic loss, fixed order",
        where="not in the paper",
        says="R_α between the last iterates on a quadratic loss after K epochs, for data in batch j0.",
        bounds=r"R_\alpha(\theta_K^0\Vert{\theta'}_K^0)",
        quantity=Quantity.DIVERGENCE,
        relation="=",
        expr=expr,
        shown=d.printed(expr, shown),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX, j0 <= N - 1),
        steps=d.steps,
        assumes=_ASSUMES,
    )


@cache
def full_batch() -> Statement:
    """`exact:full_batch`."""
    d = Derivation()
    spread = _affine(d)
    reach = eta * S_g / n
    gap = reach * GeometricSum(q, i)
    d.check(
        "Every update moves the means apart by ηS_g/n: the distance a becomes q·a + ηS_g/n.",
        Induction(gap, i, 0, Integer(0), Y, q * Y + reach, cross_check=True),
    )
    expr = _divergence(
        d,
        gap.subs(i, K),
        spread.subs(i, K),
        alpha * rho_n * GeometricSum(q, K) ** 2 / GeometricSum(q**2, K),
        {rho_n: eta * S_g**2 / (4 * sigma2 * n**2)},
    )
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
        quantity=Quantity.DIVERGENCE,
        relation="=",
        expr=expr,
        shown=d.printed(expr, shown),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        assumes=_ASSUMES,
    )
