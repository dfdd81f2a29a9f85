"""`shift:pattern`: the best shifts for any pattern of hits, as the greatest convex minorant of a polygon.

Two runs, one on each dataset, differ only through hits: updates whose batch holds the record. Their distance contracts
by q_t, grows by at most s_t on a hit, and must be hidden by the end; the noise of a step, of variance v_t, can hide a
distance a_t (a shift) at the price α·a_t²/(2v_t). With P_t = Π_(i>t) q_i, x_t = Σ_(i<t) v_i·P_i² and
H_t = Σ_(i<t) P_i·s_i·hit_i, a choice of shifts is a path A from (0, 0) to (x_T, H_T) that stays below H; it costs
Σ (ΔA)²/(2Δx), and the cheapest path is the greatest convex minorant of the points (x_t, H_t).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, sqrt

from ..display import Dot, Over, times
from ..meaning import BY_CONTRACTION, Quantity
from ..paper import gaussian
from ..paper.fixed_order import ORDER
from ..paper.lsi import STRONGLY_CONVEX
from ..proof.checks import Certificate, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    A_1,
    A_2,
    D2,
    D,
    P_t,
    S_g,
    a,
    alpha,
    b,
    eta,
    g_1,
    g_2_minus_g_1,
    h_1,
    h_1_minus_A_1,
    q,
    removed,
    rho0,
    s_leap,
    sigma,
    sigma2,
    v,
    x_1,
    x_2,
    z,
    z_2,
)

CONTRACTION = "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 21"
REDUCTION = "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 20"
BATCHES = "the indices in each batch do not depend on the records, so that both datasets can be given the same"


def cost(hidden: Expr) -> Expr:
    """What hiding a distance, in units of ηS_g/b, costs at order α."""
    return alpha * rho0 * hidden**2


def _lemmas(d: Derivation) -> None:
    """Both lemmas about shifted divergences, R^(z)(μ‖ν) = inf of R(μ'‖ν) over μ' within distance z of μ."""
    d.cite(
        "An update takes laws within distance z to laws within qz, or qz + s if the batch holds the record, and does "
        "not raise the divergence (witness: the triangle inequality between ψ(x), ψ(y) and ψ'(y)).",
        CONTRACTION,
        Certificate(
            z_2,
            q * z + s_leap,
            (
                (Integer(1), Slack(D + D2 - z_2, "triangle inequality")),
                (Integer(1), Slack(q * z - D, "an update contracts by q")),
                (Integer(1), Slack(s_leap - D2, "the two updates differ by at most s = ηS_g/b")),
            ),
        ),
    )
    d.cite(
        "Noise of variance v lowers the distance by a at the price αa²/(2v) (witness: Gaussians of variance V, where "
        "it says (x + a)²/(V + v) ≤ x²/V + a²/v).",
        REDUCTION,
        _two_edges(z, a, x_1, v),
    )
    price = alpha * a**2 / (2 * v)
    d.identity("αa²/(2v) is the divergence of N(a, v) from N(0, v).", gaussian.renyi(), price)
    unit, noise = eta * S_g / b, 2 * eta * sigma2
    d.identity(
        "With a in units of s = ηS_g/b, and v = 2ησ², that is α·ρ₀·a².",
        gaussian.renyi().subs({a: removed * unit, v: noise}),
        cost(removed).subs(rho0, unit**2 / (2 * noise)),
    )


def _two_edges(first: Expr, second: Expr, x1: Expr, x2: Expr) -> Certificate:
    """(A₁ + A₂)²/(x₁ + x₂) ≤ A₁²/x₁ + A₂²/x₂."""
    square = Slack((first * x2 - second * x1) ** 2, "a square")
    whole = (first + second) ** 2 / (x1 + x2)
    return Certificate(whole, first**2 / x1 + second**2 / x2, ((1 / (x1 * x2 * (x1 + x2)), square),))


@cache
def shifted_step() -> Statement:
    """`shift:pattern`."""
    d = Derivation()
    d.later(_lemmas)
    d.identity(
        "Weighted by what is left of a distance at the end, P_(t−1) = q·P_t, distances telescope: P_t·z_(t+1) is "
        "P_(t−1)·z_t + P_t(s·hit − a). So z_(t+1) ≥ 0 says that Σ P_i·a_i ≤ Σ P_i·s·hit_i, i.e. A ≤ H, and z_T = 0 "
        "that both end together.",
        P_t * (q * z + s_leap - removed),
        (P_t * q) * z + P_t * (s_leap - removed),
    )
    d.identity(
        "The price of a step is that of its edge: a²/v = (ΔA)²/Δx with ΔA = P·a and Δx = v·P².",
        removed**2 / v,
        (P_t * removed) ** 2 / (v * P_t**2),
    )
    d.check(
        "Two edges never cost less than the straight one, so a chord between touching points is the cheapest way.",
        _two_edges(A_1, A_2, x_1, x_2),
    )
    d.at_most(
        "Optimality. For any slope g, (ΔA)²/Δx ≥ 2g·ΔA − g²·Δx, with equality on an edge of slope g.",
        2 * g_1 * A_1 - g_1**2 * x_1,
        A_1**2 / x_1,
        [(1 / x_1, Slack((A_1 - g_1 * x_1) ** 2, "a square"))],
    )
    slope2 = g_1 + g_2_minus_g_1
    d.identity(
        "Summation by parts: Σ g·ΔA = g_T·A_T − Σ (g_(t+1) − g_t)·A_t, one vertex at a time.",
        g_1 * A_1 + slope2 * (A_2 - A_1),
        slope2 * A_2 - g_2_minus_g_1 * A_1,
    )
    d.at_most(
        "With the minorant's slopes, which only grow, and only where it touches H: A ≤ H there, so Σ g·ΔA is least on "
        "the minorant, and no path that stays below H costs less.",
        g_1 * h_1 + slope2 * (A_2 - h_1),
        g_1 * (h_1 - h_1_minus_A_1) + slope2 * (A_2 - (h_1 - h_1_minus_A_1)),
        [(g_2_minus_g_1, Slack(h_1_minus_A_1, "A ≤ H"))],
    )
    shown = Dot(Over(times(alpha, eta, S_g**2), times(4, sigma**2, b**2)), removed**2)
    d.printed(cost(removed), shown)
    return Statement(
        label="shift:pattern",
        title="The price of a shift",
        where="not in the paper; after Feldman et al. 2018",
        says="What one step adds to ε for hiding a distance; `functions.convex_minorant` finds the best ones, given "
        "all hits.",
        bounds=r"\varepsilon_{t+1} - \varepsilon_t",
        quantity=Quantity.DIVERGENCE_ADDED,
        relation="<=",
        expr=cost(removed),
        shown=shown,
        hypotheses=(ORDER, *STRONGLY_CONVEX),
        steps=d.steps,
        kind="lemma",
        terms=BY_CONTRACTION,
        assumes=(BATCHES,),
    )


def miss_by_shifts(d: Derivation) -> Expr:
    """u ↦ q²·u for a step without the record, from shifts alone; returns the factor."""
    stretch = x_1 / (q**2 * x_1 + v)
    d.identity(
        "A step without the record moves the points (x_t, H_t) to (q²x_t, qH_t) and adds (q²x + v, qH). The old path, "
        "times q and stretched by 1/c = (q²x + v)/x to the new axis, costs q²c times as much, edge by edge …",
        (q * A_1) ** 2 / (x_2 / stretch),
        q**2 * stretch * A_1**2 / x_2,
    )
    d.at_most(
        "… stays below H, because 1/c ≥ q² (it is reached later) and paths do not fall …",
        q**2,
        1 / stretch,
        [(v / x_1, Slack(Integer(1), "noise"))],
    )
    d.at_most(
        "… and q²c ≤ q², because x ≤ v(1 + q² + q⁴ + …).",
        stretch,
        Integer(1),
        [((1 - q**2) / (q**2 * x_1 + v), Slack(v / (1 - q**2) - x_1, "a geometric sum"))],
        domain={q: 1 / sqrt(1 + g_2_minus_g_1)},
    )
    return q**2


def hit_by_shifts(d: Derivation) -> Expr:
    """u ↦ u + ρ₀ for a step with the record, from shifts alone; returns what is added."""
    d.identity(
        "A step with the record: follow the old path, then hide the whole jump at once, a = 1.",
        cost(removed).subs(removed, 1),
        alpha * rho0,
    )
    return rho0
