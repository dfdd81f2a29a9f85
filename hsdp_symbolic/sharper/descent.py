"""Full-batch noisy gradient descent, exactly: `shift:gd` by optimal shifts, `split:gd` by the paper's own tools.

The proof of `thm:GD_tighter` splits the noise of a step in halves. The best split depends on the step, and with it the
log-Sobolev recursion arrives at the bound of the optimal shifts, which the quadratic loss attains.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer

from ..display import Dot, Over, times
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.geometric import GeometricSum
from ..functions.pooled import Pooled
from ..meaning import BY_CONTRACTION, BY_STRONG_CONVEXITY, Quantity
from ..paper import gaussian
from ..paper.fixed_order import EPOCHS, ORDER
from ..paper.lsi import STRONGLY_CONVEX, lsi_strongly_convex, noisy_step
from ..paper.postprocessing import one_step
from ..paper.quadratic import full_batch
from ..proof.checks import Induction, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    V0,
    K,
    L,
    S_g,
    Y,
    a,
    alpha,
    b,
    c,
    eta,
    g,
    hit,
    i,
    j,
    j0,
    k,
    n,
    p,
    q,
    rho0,
    rho_n,
    sigma,
    sigma2,
    slack,
    sqrt_rho,
    sqrt_uV,
    theta_noise,
    u,
    v,
)
from .fixed_order import WHERE
from .shifts import cyclic

_COST = Over(times(alpha, eta, S_g**2), times(4, sigma**2, n**2))
_GROWTH = (1 + q) * GeometricSum(q, K) / (1 + q**K)
"""Σa² of the best shifts, and u/ρ of the best split; in this form it can be seen to increase with K."""


def _tight(d: Derivation) -> Expr:
    """The bound, with the step that it equals the exact divergence of the quadratic loss."""
    expr = alpha * rho_n * _GROWTH
    d.identity("It is the exact divergence of the quadratic loss: nothing smaller is a bound.", full_batch().expr, expr)
    return expr


_SHOWN = Dot(_COST, Over(times(1 + q, GeometricSum(q, K)), 1 + q**K))


@cache
def by_shifts() -> Statement:
    """`shift:gd`."""
    d = Derivation()
    d.identity(
        "Full-batch descent is the cyclic order with one batch: b = n, so ρ₀ is ρ_n, n/b = 1 and j0 = 0.",
        ABBREVIATIONS[rho0].subs(b, n),
        ABBREVIATIONS[rho_n],
    )
    (least,) = cyclic().expr.atoms(CyclicShifts)
    ratio, length = least.func(*(arg.subs(j0, 0).subs(least.args[1], 1) for arg in least.args)).edges()
    d.at_most(
        "Its edges always pool: g ≥ 1.",
        Integer(1),
        ratio,
        [((1 - q) / (q + q**K), Slack(GeometricSum(q, K), "1 − q^K = (1 − q)·(a sum of positive powers)"))],
        domain={q: 1 / (1 + p)},
    )
    chord = Pooled(g, length).closed().subs(g, 1 + slack).subs(slack, ratio - 1)
    d.identity("Then Φ(g, ℓ) is the chord.", chord, _GROWTH)
    expr = _tight(d)
    return Statement(
        label="shift:gd",
        title="Optimal shifts, full batch",
        where=WHERE,
        says="ε after K steps on the full batch, by the best shifts: exactly tight.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, _SHOWN),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:cyclic", "exact:full_batch"),
        terms=BY_CONTRACTION,
    )


def _split_step(d: Derivation) -> tuple[Expr, Expr]:
    """u after a sensitive step whose noise is split at θ; also 1/c after it."""
    noise = 2 * eta * sigma2
    d.identity(
        "Noise of variance 2ησ² is the sum of independent parts: a portion θ of it, and the rest.",
        theta_noise * noise + (1 - theta_noise) * noise,
        noise,
    )
    d.identity(
        "The portion θ pays for the gradient: R_α/α grows by at most ρ/θ.",
        gaussian.renyi().subs({a: eta * S_g / n, v: theta_noise * noise}, simultaneous=True) / alpha,
        ABBREVIATIONS[rho_n] / theta_noise,
    )
    within = noisy_step(V0, q, theta_noise * eta)
    rest = one_step().expr.subs(hit, 0).subs(sigma2, (1 - theta_noise) * sigma2)
    after = noisy_step(V0, q, eta)
    factor = d.identity(
        "The rest, after the identity map, multiplies by (q²V + θv)/(q²V + v), v = 2ησ² and V the 1/c before the step "
        "(lem:recursive).",
        rest.subs({L: 1, c: 1 / within, u: 1}, simultaneous=True),
        within / after,
    )
    return (u + rho_n / theta_noise) * factor, after


@cache
def by_split() -> Statement:
    """`split:gd`."""
    d = Derivation()
    bound, after = _split_step(d)
    noise = 2 * eta * sigma2
    roots = {u: sqrt_uV**2 / V0, rho_n: sqrt_rho**2 / noise}
    best = q * sqrt_rho * V0 / (sqrt_uV * noise)
    target = (q * sqrt_uV + sqrt_rho) ** 2
    scaled = (bound * after).subs(roots)
    d.at_most(
        "With r = √(uV) and s = √(ρv): whatever θ, the step leaves u'V' ≥ (qr + s)² of the bound …",
        target,
        scaled,
        [(1 / theta_noise, Slack((sqrt_uV * theta_noise * noise - q * sqrt_rho * V0) ** 2 / (noise * V0), "a square"))],
    )
    d.identity(
        "… with equality at θ = √(ρq²V/(uv)). So √(u'V') = q√(uV) + √(ρv).", scaled.subs(theta_noise, best), target
    )
    d.check(
        "From u = 0 (θ = 1): √(uV) after i steps, in units of √(ρv).",
        Induction(GeometricSum(q, i), i, 0, Integer(0), Y, q * Y + 1, cross_check=True),
    )
    spread = d.identity(
        "V after i steps, in units of v (lem:LSIseq_stronglyconvex).",
        1 / lsi_strongly_convex().expr.subs({k: 0, j: i}, simultaneous=True) / noise,
        GeometricSum(q**2, i),
    )
    d.at_most(
        "That θ is a portion: θ = q·Σq^(2s)/Σq^s ≤ 1.",
        q * spread,
        GeometricSum(q, i),
        [
            (q, Slack(GeometricSum(q, i) - spread, "q^(2s) ≤ q^s, termwise")),
            (1 - q, Slack(GeometricSum(q, i), "0 < q < 1")),
        ],
        domain={q: 1 / (1 + p)},
    )
    d.identity(
        "So u = ρ(Σq^s)²/Σq^(2s), and this is the bound of shift:gd.",
        alpha * rho_n * (GeometricSum(q, i) ** 2 / spread).subs(i, K),
        by_shifts().expr,
    )
    expr = _tight(d)
    return Statement(
        label="split:gd",
        title="Optimal noise split, full batch",
        where=WHERE,
        says="ε after K steps on the full batch, by the recursion of thm:GD_tighter with the best split of each step's "
        "noise: the bound of shift:gd again.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, _SHOWN),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:gd", "lem:LSIseq_stronglyconvex", "lem:recursive", "exact:full_batch"),
        terms=BY_STRONG_CONVEXITY,
    )
