"""`split:capped`: the paper's sampling recursion with its hit step capped, so that it converges for every order.

A hit is an update whose batch holds the record. If only a share θ of its noise is spent on hiding it, the rest shrinks
what was there before. The best share makes the hit step √u ← q√u + √(ρ₀(1 − q²)), wherever that share is at most 1;
θ = 1 is the paper's u ← u + ρ₀. For smaller u the formula would add less than ρ₀ and is not a bound, so the capped step
is not simply the minimum of the two.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, diff
from sympy.core.symbol import Str

from ..display import Dot, Named, Over
from ..functions.capped_moment import CappedMoment
from ..meaning import BY_CONTRACTION, Quantity
from ..paper.fixed_order import EPOCHS, ORDER
from ..paper.lsi import STRONGLY_CONVEX
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    K,
    N,
    P_t,
    S_exp,
    a_more,
    alpha,
    b,
    g_2_minus_g_1,
    gap,
    n,
    p,
    q,
    r_miss,
    rate,
    rho0,
    s_leap,
    u,
    v,
    x_1,
    z,
)
from .moments import KAPPA, chance_of_a_hit
from .pattern import BATCHES, hit_by_shifts, miss_by_shifts

_BELOW_ONE = {q: 1 / (1 + p)}


def capped_step(root: Expr, kick: Expr) -> Expr:
    """u after a hit, for √u = root and √(ρ₀(1 − q²)) = kick."""
    return (q * root + kick) ** 2


def _best_share(d: Derivation) -> None:
    """What a hit costs if a share θ of its noise hides it; the best θ, and where it takes over from θ = 1."""
    share = 1 / (1 + g_2_minus_g_1)  # any 0 < θ ≤ 1
    d.identity(
        "Hide a hit with a share θ of the noise: s²/(2θv) = ρ₀/θ.",
        s_leap**2 / (2 * share * v),
        (s_leap**2 / (2 * v)) / share,
    )
    long = v / (1 - q**2)

    def factor(x: Expr) -> Expr:
        return (q**2 * x + share * v) / (q**2 * x + v)

    d.at_most(
        "The path so far, the ramp of the hit behind it, stretched together over the rest of the noise, cost "
        "(q²x + θv)/(q²x + v) times as much (still below H: it is only slower), which is at most q² + θ(1 − q²), its "
        "value at x = v/(1 − q²).",
        factor(long - gap),
        q**2 + share * (1 - q**2),
        [
            (
                g_2_minus_g_1 * q**2 * (1 - q**2) / ((1 + g_2_minus_g_1) * (q**2 * (long - gap) + v)),
                Slack(gap, "x ≤ v(1 + q² + …)"),
            )
        ],
        domain={**_BELOW_ONE, gap: long.subs(_BELOW_ONE) / (1 + x_1)},
    )
    root, kick = P_t, a_more  # √u and √(ρ₀(1 − q²))
    best = kick * q / (root * (1 - q**2))
    d.identity(
        "The best share is θ² = ρ₀q²/(u(1 − q²)), and gives √u ← q√u + √(ρ₀(1 − q²)).",
        (root**2 + kick**2 / (1 - q**2) / best) * (q**2 + best * (1 - q**2)),
        capped_step(root, kick),
    )
    edge_root = q * kick / (1 - q**2)  # where θ = 1
    d.identity(
        "At θ = 1 both steps agree: there √u = q√(ρ₀(1 − q²))/(1 − q²) …",
        capped_step(edge_root, kick),
        edge_root**2 + kick**2 / (1 - q**2),
    )
    slope = diff(capped_step(root, kick), root) / (2 * root)  # du'/du
    d.at_most(
        "… and so do their slopes; beyond, the slope is at most 1 …",
        slope.subs(root, edge_root + z),
        Integer(1),
        [((1 - q**2) / (edge_root + z), Slack(z, "√u beyond that point"))],
        domain=_BELOW_ONE,
    )
    d.at_most(
        "… and falls: the hit step g is concave.",
        diff(slope, root),
        Integer(0),
        [(q * kick / root**2, Slack(Integer(1), "positive"))],
    )


@cache
def capped() -> Statement:
    """`split:capped`."""
    d = Derivation()
    hit_by_shifts(d)
    d.later(_best_share)
    miss_by_shifts(d)
    draw = chance_of_a_hit(d)
    flat = 1 / (1 + g_2_minus_g_1)
    d.at_most(
        "Jensen, hit: with s = log S, e^g is concave in S because its second derivative is e^(g−2s)(g'' + g'² − g'), "
        "g'' ≤ 0 and 0 ≤ g' ≤ 1.",
        -u + flat**2 - flat,
        Integer(0),
        [(Integer(1), Slack(u, "−g'' ≥ 0")), (flat * (1 - flat), Slack(Integer(1), "0 ≤ g' ≤ 1"))],
    )
    d.at_most(
        "Jensen, miss: x^r is concave for 0 < r ≤ 1, r = q².",
        diff(S_exp**r_miss, S_exp, 2),
        Integer(0),
        [(r_miss * (1 - r_miss) * S_exp ** (r_miss - 2), Slack(Integer(1), "0 < r ≤ 1"))],
        domain={r_miss: 1 / (1 + p)},
    )
    d.identity(
        "A hit leads from u = ρ₀(1 + q)/(1 − q) to itself and a miss lower: no order grows beyond.",
        capped_step(P_t / (1 - q), P_t),
        (P_t / (1 - q)) ** 2,
    )
    expr = (CappedMoment(KAPPA * rho0, q, rate, K * N) / (alpha - 1)).subs(rate, draw)
    shown = Dot(Over(1, alpha - 1), Named(Str(r"s_{Kn/b}"), expr * (alpha - 1)))
    step = Named(Str(r"\log\left(\frac{b}{n} e^{g(s_t)} + (1-\frac{b}{n}) e^{(1-\eta\lambda)^2 s_t}\right)"), u)
    hit = Named(
        Str(
            r"s + \kappa\rho_0 \text{ for } s(1-(1-\eta\lambda)^2) \leq (1-\eta\lambda)^2\kappa\rho_0, \text{ else }"
            r" \left((1-\eta\lambda)\sqrt{s} + \sqrt{\kappa\rho_0(1-(1-\eta\lambda)^2)}\right)^2"
        ),
        u,
    )
    return Statement(
        label="split:capped",
        title="Sampling without replacement, capped",
        where="not in the paper; Theorem 4.3 with the noise of a hit split in the best way",
        says="ε after K epochs of n/b batches, each drawn afresh: never above Theorem 4.3, bounded for every order.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        also=(("s_0", Integer(0)), ("s_{t+1}", step), ("g(s)", hit), (r"\kappa", Dot(alpha, alpha - 1))),
        hypotheses=(ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:pattern", "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
        assumes=(BATCHES,),
    )
