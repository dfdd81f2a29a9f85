"""`moments:without_replacement`: the mean of e^(α(α−1)u) in the paper's sampling recursion, without its Jensen step.

For each batch sequence B, R_a ≤ a·u_B for all orders a, with u ← u + ρ₀ on a hit (a batch that holds the record) and
u ← q²u otherwise. Here both follow from shifts (`shift:pattern`), so neither a log-Sobolev constant nor the paper's
step at one and the same order is needed.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, binomial, diff, exp
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus
from ..functions.hit_moment import HitMoment
from ..meaning import BY_CONTRACTION, Quantity
from ..paper.fixed_order import EPOCHS, ORDER
from ..paper.lsi import STRONGLY_CONVEX
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import K, N, S_exp, alpha, b, gap, n, p, q, r_miss, rate, rho0, s_log, u
from .pattern import BATCHES, hit_by_shifts, miss_by_shifts

KAPPA = alpha * (alpha - 1)


def chance_of_a_hit(d: Derivation) -> Expr:
    """b/n, with the step that derives it."""
    d.identity(
        "A batch of b out of n holds the record with probability b/n.",
        binomial(n - 1, b - 1) / binomial(n, b),
        b / n,
    )
    return b / n


@cache
def without_replacement() -> Statement:
    """`moments:without_replacement`."""
    d = Derivation()
    added, factor = hit_by_shifts(d), miss_by_shifts(d)
    draw = chance_of_a_hit(d)
    d.identity(
        "Given the batches so far, e^(κu) becomes p·e^(κ(u+ρ₀)) + (1−p)·e^(κq²u) in the mean, κ = α(α−1): on a hit it "
        "is multiplied by e^(κρ₀), after a miss it is the moment at q²κ. So M_(t+1)(κ) = p·e^(κρ₀)·M_t(κ) + "
        "(1−p)·M_t(q²κ).",
        rate * exp(KAPPA * (u + added)) + (1 - rate) * exp(KAPPA * factor * u),
        rate * exp(KAPPA * rho0) * exp(KAPPA * u) + (1 - rate) * exp(factor * KAPPA * u),
    )
    one = 1 + rate * (exp(s_log) - 1)  # M_1 at κρ₀ = s_log
    backwards = rate**2 * exp(2 * s_log) + rate * (1 - rate) * (exp(s_log) + exp(r_miss * s_log)) + (1 - rate) ** 2
    d.identity(
        "Read backwards, a hit counts q^(2·later misses): e.g. two draws, with r = q² and c = κρ₀.",
        rate * exp(s_log) * one + (1 - rate) * one.subs(s_log, r_miss * s_log),
        backwards,
    )
    d.at_most(
        "Never above the paper: x^r is concave for 0 < r ≤ 1, so M(q²κ) = E[(e^(κu))^r] ≤ M(κ)^r, r = q² (Jensen) …",
        diff(S_exp**r_miss, S_exp, 2),
        Integer(0),
        [(r_miss * (1 - r_miss) * S_exp ** (r_miss - 2), Slack(Integer(1), "0 < r ≤ 1"))],
        domain={r_miss: 1 / (1 + p)},
    )
    d.at_most(
        "… and with M ≤ S at one step, M ≤ S at the next, as the paper's step increases with S (S = M + gap).",
        rate * exp(s_log) * S_exp,
        rate * exp(s_log) * (S_exp + gap),
        [(rate * exp(s_log), Slack(gap, "M ≤ S so far"))],
    )
    expr = (HitMoment(KAPPA * rho0, q, rate, K * N) / (alpha - 1)).subs(rate, draw)
    shown = Dot(Over(1, alpha - 1), Named(Str(r"\log M_{Kn/b}(\kappa)"), expr * (alpha - 1)))
    kappa = Named(Str(r"\kappa"), KAPPA)
    here, shrunk = (Named(Str(rf"M_t({x})"), S_exp) for x in (r"\kappa", r"(1-\eta\lambda)^2\kappa"))
    step = Plus(Dot(Over(b, n), exp(Dot(kappa, rho0)), here), Dot(Plus(1, -Over(b, n)), shrunk))
    return Statement(
        label="moments:without_replacement",
        title="Sampling without replacement, exact moments",
        where="not in the paper; Theorem 4.3 without its Jensen step",
        says="ε after K epochs of n/b batches, each drawn afresh: never above thm:amp_samp_wo_replacement.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        also=((r"M_0(\kappa)", Integer(1)), (r"M_{t+1}(\kappa)", step), (r"\kappa", Dot(alpha, alpha - 1))),
        hypotheses=(ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("shift:pattern", "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
        assumes=(BATCHES,),
    )
