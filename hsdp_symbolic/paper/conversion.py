"""From a Rényi divergence to (ε, δ): the best conversion from the divergence at one order, and Mironov's simpler one.

The paper stops at Rényi differential privacy. The conversion is that of Canonne, Kamath & Steinke 2020 (Proposition 12)
and of Balle et al. 2020 (Theorem 21), derived here from the definition of (ε, δ).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, diff, exp, log

from ..display import Dot, Over, Plus
from ..meaning import Quantity
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import R, alpha, alpha_minus_1, delta, e_s, epsilon, mu, nu
from .fixed_order import ORDER

PROBABILITY = delta <= 1
_PEAK = (alpha - 1) / alpha


def log_delta() -> Expr:
    """log δ, as a function of R and ε."""
    return (alpha - 1) * (R - epsilon + log(_PEAK)) - log(alpha)


@cache
def to_delta() -> Statement:
    """δ at a given ε."""
    d = Derivation()
    d.identity(
        "By definition δ is ∫(μ − e^ε·ν)₊: the mean under μ of (1 − w)₊ with w = e^ε·ν/μ.",
        mu * (1 - exp(epsilon) * nu / mu),
        mu - exp(epsilon) * nu,
    )
    d.identity(
        "(1 − w)·w^(α−1) rises until w = (α−1)/α and falls from there on, by its derivative …",
        diff((1 - e_s) * e_s ** (alpha - 1), e_s),
        alpha * e_s ** (alpha - 2) * (_PEAK - e_s),
    )
    d.identity(
        "… so (1 − w)₊ is at most w^(1−α) times its peak, which is ((α−1)/α)^(α−1)/α.",
        ((1 - e_s) * e_s ** (alpha - 1)).subs(e_s, _PEAK),
        _PEAK ** (alpha - 1) / alpha,
    )
    d.identity(
        "The mean of w^(1−α) under μ is e^(−(α−1)ε)·∫μ^α·ν^(1−α), and that integral is e^((α−1)R_α).",
        mu * (mu / nu) ** (alpha - 1),
        mu**alpha * nu ** (1 - alpha),
    )
    d.identity(
        "In one exponential: the logarithm of peak and power together.",
        (alpha - 1) * (R - epsilon) + (alpha - 1) * log(_PEAK) - log(alpha),
        log_delta(),
    )
    peak = Dot(Over(1, alpha), (1 - Over(1, alpha)) ** (alpha - 1))
    return Statement(
        label="conversion:delta",
        kind="lemma",
        title="From Rényi divergence to δ at a given ε",
        where="Canonne, Kamath & Steinke 2020, Proposition 12; not in the paper",
        says="δ for which (ε, δ)-differential privacy holds, from the divergence of one order.",
        bounds=r"\delta",
        quantity=Quantity.DELTA,
        relation="<=",
        expr=exp(log_delta()),
        shown=Dot(peak, exp(Dot(alpha - 1, Plus(R, -epsilon)))),
        hypotheses=(ORDER,),
        steps=d.steps,
    )


@cache
def to_epsilon() -> Statement:
    """ε at a given δ."""
    d = Derivation()
    expr = R + log(_PEAK) - (log(delta) + log(alpha)) / (alpha - 1)
    d.identity("At this ε the bound of conversion:delta is δ.", log_delta().subs(epsilon, expr), log(delta))
    d.at_most(
        "That bound falls with ε, so δ is enough for every larger ε, and for ε = 0 where this is negative.",
        diff(log_delta(), epsilon),
        Integer(0),
        [(Integer(1), Slack(alpha - 1, "α > 1"))],
        domain={alpha: 1 + alpha_minus_1},
    )
    d.identity(
        "Besides R, ε falls with the order until α = 1/δ and rises from there on: no larger order can be best.",
        diff(expr, alpha),
        (log(delta) + log(alpha)) / (alpha - 1) ** 2,
    )
    return Statement(
        label="conversion:epsilon",
        kind="lemma",
        title="From Rényi divergence to ε at a given δ",
        where="Canonne, Kamath & Steinke 2020, Proposition 12; not in the paper",
        says="ε for which (ε, δ)-differential privacy holds, from the divergence of one order (read 0 where negative).",
        bounds=r"\varepsilon",
        quantity=Quantity.EPSILON,
        relation="<=",
        expr=expr,
        shown=Plus(R, log(1 - Over(1, alpha)), -Over(log(Dot(delta, alpha)), alpha - 1)),
        hypotheses=(ORDER, PROBABILITY),
        steps=d.steps,
        uses=("conversion:delta",),
    )


@cache
def mironov() -> Statement:
    """Mironov 2017, Proposition 3: the simpler form."""
    d = Derivation()
    expr = R - log(delta) / (alpha - 1)
    d.at_most(
        "It is never below conversion:epsilon.",
        to_epsilon().expr,
        expr,
        [
            (1 / (alpha - 1), Slack(log(alpha), "α > 1")),
            (Integer(1), Slack(-log(_PEAK), "(α−1)/α < 1")),
        ],
        domain={alpha: 1 + alpha_minus_1},
    )
    return Statement(
        label="conversion:mironov2017",
        kind="lemma",
        title="From Rényi divergence to ε, the simpler form",
        where="Mironov 2017, Proposition 3; not in the paper",
        says="ε for which (ε, δ)-differential privacy holds, without the terms that make conversion:epsilon sharper.",
        bounds=r"\varepsilon",
        quantity=Quantity.EPSILON,
        relation="<=",
        expr=expr,
        shown=Plus(R, Over(log(Over(1, delta)), alpha - 1)),
        hypotheses=(ORDER, PROBABILITY),
        steps=d.steps,
        uses=("conversion:epsilon",),
    )
