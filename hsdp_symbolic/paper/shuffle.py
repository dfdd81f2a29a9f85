"""Batches shuffled once: `lem:rootconvexity1` (joint convexity) and `thm:shuffle`."""

from __future__ import annotations

from functools import cache

from sympy import Integer, diff, exp, factorial, log

from ..display import Dot, FirstEpoch, LogAverage, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..functions.log_mean_exp import LogMeanExp
from ..functions.log_mix import LogMix
from ..meaning import BY_CONTRACTION, Quantity
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    R1,
    R2,
    M,
    M_x,
    N,
    S_exp,
    alpha,
    alpha_minus_1,
    b,
    dmu,
    dnu,
    gap,
    i,
    j,
    j0,
    mu,
    n,
    nu,
    p,
    q,
    rate,
    w,
    w1,
)
from .fixed_order import (
    EPOCHS,
    FIRST_EPOCH,
    ORDER,
    TWO_BATCHES,
    first_epoch,
    first_epoch_named,
    first_term,
    first_term_shown,
)
from .lsi import STRONGLY_CONVEX


@cache
def joint_convexity() -> Statement:
    """`lem:rootconvexity1`."""
    d = Derivation()
    integrand = mu**alpha * nu ** (1 - alpha)
    second = diff(integrand, mu, 2) * dmu**2 + 2 * diff(integrand, mu, nu) * dmu * dnu + diff(integrand, nu, 2) * dnu**2
    positive = alpha * (alpha - 1) * mu ** (alpha - 2) * nu ** (-alpha - 1)
    d.at_most(
        "μ^α·ν^(1−α) is jointly convex: its second derivative in any direction is a positive multiple of a square.",
        Integer(0),
        second,
        [(positive, Slack((nu * dmu - mu * dnu) ** 2, "a square"))],
        domain={alpha: 1 + alpha_minus_1},
    )
    share = 1 / (1 + p)
    d.at_most(
        "From two components to any number: mixing one more, with weight 1 − w, into a mixture whose moment is at most "
        "the mean M of its components' keeps it so.",
        share * M_x + (1 - share) * w,
        share * M + (1 - share) * w,
        [(share, Slack(M - M_x, "the mixture so far"))],
    )
    scaled = [(alpha - 1) * each for each in (R1, R2)]
    d.identity(
        "e^((α−1)R) is that moment, so for two pairs (α−1)R is at most log(w·e^((α−1)R₁) + (1−w)·e^((α−1)R₂)).",
        exp(LogMix(w1, *scaled).closed()),
        w1 * exp(scaled[0]) + (1 - w1) * exp(scaled[1]),
    )
    expr = LogMix(w1, *scaled) / (alpha - 1)
    shown = Dot(
        Over(1, alpha - 1), log(Plus(Dot(w1, exp(times(alpha - 1, R1))), Dot(1 - w1, exp(times(alpha - 1, R2)))))
    )
    return Statement(
        label="lem:rootconvexity1",
        kind="lemma",
        title="Joint convexity of the exponentiated divergence",
        where="Lemma 4.1 (proof in Appendix E)",
        says="R_α of a mixture of two pairs of laws, from those of the pairs (any number of pairs: by induction).",
        bounds=r"R_\alpha(p_1\mu_1+(1-p_1)\mu_2\Vert p_1\nu_1+(1-p_1)\nu_2)",
        quantity=Quantity.DIVERGENCE_MIXTURE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        hypotheses=(alpha > 1, w1 <= 1),
        steps=d.steps,
    )


def over_batches(d: Derivation) -> None:
    """The moment e^((α−1)R) of a run whose record falls into a random batch is at most the mean over the batches."""
    arrangements = factorial(n) / factorial(b)
    with_record = factorial(n - 1) / factorial(b - 1)
    d.identity(
        "A random partition puts the record into batch j0 with probability b/n: of n!/b!^N arrangements, "
        "(n−1)!/((b−1)!·b!^(N−1)) do.",
        with_record / arrangements,
        b / n,
    )
    d.at_most(
        "If b does not divide n, the record is left out with probability 1 − N·b/n, and the plain average over the N "
        "batches is still an upper bound (S is the sum of N exponentials, each at least 1).",
        rate * S_exp + (1 - N * rate),
        S_exp / N,
        [((1 - N * rate) / N, Slack(S_exp - N, "every exponential is at least 1"))],
        domain={rate: 1 / (N + gap)},
    )
    d.at_most(
        "By lem:rootconvexity1, with N components of weight 1/N, the moment of the shuffled run is at most S/N.",
        M_x,
        S_exp / N,
        [(Integer(1), Slack(S_exp / N - M_x, "lem:rootconvexity1"))],
    )


def first_term_comes_out(d: Derivation) -> None:
    """What does not depend on the batch leaves the mean."""
    common, own = (alpha - 1) * M_x, (alpha - 1) * w
    d.identity(
        "The first term of thm:strconvexsmooth does not depend on j0 and comes out of the average.",
        exp(common + own),
        exp(common) * exp(own),
    )


def mixture_of_exponentials(d: Derivation) -> None:
    """ε₀^j is completely monotone in j, which the computation of a mean over batches relies on."""
    x, decay = q**-2, q ** (2 * j)
    d.identity(
        "ε₀^j is a nonnegative mixture of decaying exponentials: 1/Σ_(s<j) x^s = (x−1)·Σ_(r≥1) x^(−jr), x = q^(−2).",
        1 / GeometricSum(x, j),
        (x - 1) * (decay + decay**2 / (1 - decay)),
    )


@cache
def shuffled() -> Statement:
    """`thm:shuffle`."""
    d = Derivation()
    start = first_epoch().expr
    d.later(over_batches)
    d.later(first_term_comes_out)
    d.at_most(
        "ε₀^j decreases with j …",
        start.subs(j, j + 1),
        start,
        [
            (
                alpha * start.subs(alpha, 1) * q ** (-2 * j) / GeometricSum(q**-2, j + 1),
                Slack(Integer(1), "one more positive power"),
            )
        ],
    )
    d.at_most(
        "… so no term of the average exceeds the one with ε₀^1: the bound is at most that for the last batch.",
        start.subs(j, j + 1),
        start.subs(j, 1),
        [
            (
                start.subs(j, j + 1) * q**-2,
                Slack(GeometricSum(q**-2, j), "a sum of positive powers"),
            )
        ],
    )
    d.later(mixture_of_exponentials)
    expr = first_term() + LogMeanExp((alpha - 1) * start.subs(j, i), i, N) / (alpha - 1)
    average = LogAverage(times(alpha - 1, FirstEpoch(N - j0, alpha)), j0, N)
    shown = Plus(first_term_shown(), Dot(Over(1, alpha - 1), average))
    return Statement(
        label="thm:shuffle",
        title="Privacy dynamics under shuffle and partition",
        where="Theorem 4.2 (proof in Appendix E.1)",
        says="ε after K epochs over batches shuffled once, for any record.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown, first_epoch=undisplay(first_epoch().shown), index=j),
        names=first_epoch_named(),
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("thm:strconvexsmooth", FIRST_EPOCH, "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
    )
