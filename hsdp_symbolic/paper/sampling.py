"""Batches drawn afresh without replacement: `thm:amp_samp_wo_replacement`, by the repaired argument.

The paper applies lem:recursive at one order throughout, which that lemma does not allow. Carrying a bound for all
orders at once, R_a ≤ a·u_B for each batch sequence B, repairs it: the S of the theorem is then an upper bound on the
expectation of e^(α(α−1)u_B).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, binomial, diff, exp, log
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus, times
from ..functions.accumulated import Accumulated
from ..functions.geometric import GeometricSum
from ..functions.log_mix import LogMix
from ..meaning import BY_CONTRACTION, Quantity
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    A_hit,
    K,
    N,
    S_exp,
    S_g,
    alpha,
    b,
    e_s,
    eta,
    i,
    lam,
    n,
    p,
    q,
    r_miss,
    rate,
    rho0,
    s_log,
    sigma,
    u,
)
from .fixed_order import EPOCHS, ORDER, after_hit, after_shared
from .lsi import STRONGLY_CONVEX, lsi_strongly_convex

BATCH_WITHOUT = "batch without the record"


def _hit_cost_shown() -> Expr:
    """α(α−1)ρ₀ as the paper prints it."""
    return Over(times(alpha - 1, alpha, eta, S_g**2), times(4, sigma**2, b**2))


@cache
def without_replacement() -> Statement:
    """`thm:amp_samp_wo_replacement`."""
    d = Derivation()
    kappa = alpha * (alpha - 1)
    cost = kappa * rho0
    d.identity("A batch with the record: u ↦ u + ρ₀.", after_hit(u), u + rho0)
    shared = after_shared(u, lsi_strongly_convex(), Integer(0), i, q)
    d.at_most(
        "A batch without it: u shrinks by at least q², whatever the number i ≥ 1 of updates so far.",
        shared,
        q**2 * u,
        [(q**2 * u * q ** (2 * i) / GeometricSum(q**2, i + 1), Slack(Integer(1), "one more positive power"))],
        name=BATCH_WITHOUT,
    )
    d.identity(
        "A batch of b out of n holds the record with probability b/n.",
        binomial(n - 1, b - 1) / binomial(n, b),
        b / n,
    )
    d.identity(
        "With κ = α(α−1), a hit multiplies e^(κu) by e^(κρ₀) …",
        exp(kappa * (u + rho0)),
        exp(cost) * exp(kappa * u),
    )
    d.identity("… and a miss raises it to the power q².", exp(kappa * q**2 * u), exp(q**2 * kappa * u))
    d.at_most(
        "x^r is concave for 0 < r ≤ 1, so E[x^r] ≤ (E x)^r (Jensen), with r = q².",
        diff(S_exp**r_miss, S_exp, 2),
        Integer(0),
        [(r_miss * (1 - r_miss) * S_exp ** (r_miss - 2), Slack(Integer(1), "0 < r ≤ 1"))],
        domain={r_miss: 1 / (1 + p)},
    )
    step = rate * exp(cost) * S_exp + (1 - rate) * S_exp ** (q**2)
    increment = LogMix(rate, cost, -eta * lam * (1 + q) * s_log)
    d.identity(
        "In the log domain, s = log S: log(p·e^(κρ₀)·S + (1−p)·S^(q²)) = s + log(p·e^(κρ₀) + (1−p)·e^(−(1−q²)s)).",
        (step.subs(S_exp, exp(s_log)) / exp(s_log)).subs(q, 1 - eta * lam),
        exp(increment.closed()).subs(q, 1 - eta * lam),
    )
    # With A = p·e^(κρ₀) and e = e^(−(1−q²)s) the increment is log(A + (1−p)·e), and de/ds = −(1−q²)·e.
    share = 1 / (1 + p)
    inside = A_hit + share * e_s
    slope = diff(log(inside), e_s) * (-(1 - q**2) * e_s)
    d.at_most(
        "The increment decreases with s …",
        slope,
        Integer(0),
        [(share * e_s / inside, Slack(1 - q**2, "0 < q < 1"))],
    )
    d.at_most(
        "… and the step s + increment increases with s.",
        Integer(0),
        1 + slope,
        [(1 / inside, Slack(A_hit + share * e_s * q**2, "positive terms"))],
    )
    curvature = diff(slope, e_s) * (-(1 - q**2) * e_s)
    d.at_most(
        "… and is convex: below the fixed point its slope is at most the slope there.",
        Integer(0),
        curvature,
        [(share * e_s * A_hit / inside**2, Slack((1 - q**2) ** 2, "a square"))],
    )
    room = -log(rate) - cost  # > 0 exactly if p·e^(κρ₀) < 1
    gain = eta * lam * (1 + q) * (1 - rate * exp(cost))
    d.identity(
        "At the fixed point, where A + (1−p)·e = 1, that slope is 1 − (1 − q²)(1 − A).",
        (1 + slope).subs(e_s, (1 - A_hit) / share),
        1 - (1 - q**2) * (1 - A_hit),
    )
    ceiling = -LogMix(-rate / (1 - rate), cost, Integer(0)) / (eta * lam * (1 + q))
    d.identity(
        "If p·e^(κρ₀) < 1 there is a fixed point s* = log((1−p)/(1−p·e^(κρ₀)))/(1−q²), where the increment is 0, "
        "and s, which increases, stays below it. (Otherwise the recursion grows without bound.)",
        rate * exp(cost) + (1 - rate) * (1 - rate * exp(cost)) / (1 - rate),
        Integer(1),
    )
    d.identity(
        "In stable form, (1−p·e^(κρ₀))/(1−p) = 1 + w·(e^(κρ₀) − 1) with w = −p/(1−p).",
        exp(LogMix(-rate / (1 - rate), cost, Integer(0)).closed()),
        (1 - rate * exp(cost)) / (1 - rate),
    )
    draws = {rate: b / n}
    parts = [part.subs(draws) for part in (increment, room, ceiling, gain)]
    expr = Accumulated(parts[0], s_log, K * N, *parts[1:]) / (alpha - 1)
    shown = Dot(Over(1, alpha - 1), Named(Str(r"\log\left(S_K^0(\alpha)\right)"), expr * (alpha - 1)))
    one_hit = _hit_cost_shown()
    here = Named(Str(r"S_k^j(\alpha)"), S_exp)
    printed_step = Plus(Dot(Over(b, n), exp(one_hit), here), Dot(Plus(1, -Over(b, n)), here ** (q**2)))
    d.printed(step.subs(draws), printed_step)
    return Statement(
        label="thm:amp_samp_wo_replacement",
        title="Recursive amplification by sampling without replacement",
        where="Theorem 4.3 (proof in Appendix E.2)",
        says="ε after K epochs of n/b batches, each drawn afresh without replacement.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        also=(
            (r"S_0^0(\alpha)", Integer(1)),
            (r"S_k^{j+1}(\alpha)", printed_step),
            (r"S_{k+1}^0(\alpha)", Named(Str(r"S_k^{n/b}(\alpha)"), S_exp)),
        ),
        hypotheses=(ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("lem:recursive", "lem:LSIseq_stronglyconvex", "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
    )


@cache
def limit() -> Statement:
    """Where the recursion of `thm:amp_samp_wo_replacement` converges to, and when it does."""
    d = Derivation()
    cost = alpha * (alpha - 1) * rho0
    top = (1 - rate) / (1 - rate * exp(cost))  # e^((1−q²)s*)
    d.identity(
        "At s* = log((1−p)/(1−p·e^(κρ₀)))/(1−q²) the recursion stands still: p·e^(κρ₀) + (1−p)·e^(−(1−q²)s*) = 1.",
        rate * exp(cost) + (1 - rate) / top,
        Integer(1),
    )
    d.at_most(
        "s* exists because p·e^(κρ₀) < 1, and is nonnegative because 1 − p·e^(κρ₀) ≤ 1 − p (S stands for e^(κρ₀)).",
        1 - rate * S_exp,
        1 - rate,
        [(rate, Slack(S_exp - 1, "e^(κρ₀) ≥ 1"))],
    )
    weight = -rate / (1 - rate)
    stable = -LogMix(weight, cost, Integer(0)) / (eta * lam * (1 + q) * (alpha - 1))
    d.identity(
        "In stable form: e^(−(1−q²)s*) = 1 + w·(e^(κρ₀) − 1), w = −p/(1−p), and 1 − q² = ηλ(1 + q).",
        exp(LogMix(weight, cost, Integer(0)).closed()),
        1 / top,
    )
    expr = stable.subs(rate, b / n)
    moment = Over(Plus(1, -Over(b, n)), Plus(1, -Dot(Over(b, n), exp(_hit_cost_shown()))))
    shown = Dot(Over(1, Dot(alpha - 1, 1 - q**2)), log(moment))
    return Statement(
        label="thm:amp_samp_wo_replacement:limit",
        title="Sampling without replacement, any number of epochs",
        where="implied by Theorem 4.3; not in the paper",
        says="ε for any number of epochs: the fixed point of the recursion of thm:amp_samp_wo_replacement.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        hypotheses=(ORDER, *STRONGLY_CONVEX, b <= n - 1, b * exp(cost) / n < 1),
        steps=d.steps,
        uses=("thm:amp_samp_wo_replacement",),
        terms=BY_CONTRACTION,
    )
