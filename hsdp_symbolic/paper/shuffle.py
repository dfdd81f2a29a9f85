"""Batches shuffled once: `lem:rootconvexity1` (joint convexity) and `thm:shuffle`."""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, exp, log

from ..display import Dot, FirstEpoch, LogAverage, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..functions.log_mean_exp import LogMeanExp
from ..functions.log_mix import LogMix
from ..meaning import Quantity
from ..proof import kernel
from ..proof.facts.mixtures import FIRST, SECOND
from ..proof.kernel import Theorem, assume, combine, substitute
from ..proof.propositions import AtMost, From, Mixed, Renyi
from ..proof.search import claimed, given, positive_from_one, short, use
from ..statement import Statement
from ..symbols import R1, R2, K, N, alpha, epsilon_1, epsilon_2, i, j, j0, order, q, rho0, sigma2, w1, weight, whole
from .descents import EPOCHS, NOISE, ORDER, STRONGLY_CONVEX, TWO_BATCHES, below_one, by_contraction
from .fixed_order import (
    FIRST_EPOCH,
    decay_below_one,
    first_epoch,
    first_epoch_meant,
    first_epoch_named,
    first_term,
    first_term_shown,
    one_epoch_cost,
    remaining,
    strongly_convex,
)
from .mixtures import over_places, two_divergences
from .mixtures import shuffled as shuffled_run


@cache
def joint_convexity() -> Statement:
    """`lem:rootconvexity1`."""
    relations = (alpha > 1, w1 <= 1)
    scaled = [(alpha - 1) * each for each in (R1, R2)]
    expr = LogMix(w1, *scaled) / (alpha - 1)
    assumed = Renyi(FIRST, alpha, R1), Renyi(SECOND, alpha, R2)
    shown = Dot(
        Over(1, alpha - 1), log(Plus(Dot(w1, exp(times(alpha - 1, R1))), Dot(1 - w1, exp(times(alpha - 1, R2)))))
    )

    def mixed_positive() -> Theorem:
        first, second = map(exp, scaled)
        return combine(S.Zero, w1 * first + (1 - w1) * second, (w1, first), (given(relations[1]), second))

    def prove() -> Theorem:
        put = {order: alpha, weight: w1, epsilon_1: R1, epsilon_2: R2}
        return use(two_divergences(), kernel.loosen(kernel.positive(w1)), put=put)

    return Statement(
        label="lem:rootconvexity1",
        kind="lemma",
        title="Joint convexity of the exponentiated divergence",
        where="Lemma 4.1 (proof in Appendix E)",
        says="R_α of a mixture of two pairs of laws, from those of the pairs.",
        bounds=r"R_\alpha(p_1\mu_1+(1-p_1)\mu_2\Vert p_1\nu_1+(1-p_1)\nu_2)",
        bounded=Quantity.DIVERGENCE_MIXTURE,
        theorem=claimed(Renyi(Mixed(w1, FIRST, SECOND), alpha, expr), relations, assumed, prove),
        shown=shown,
        printed_with=lambda: [given(relations[0]), mixed_positive()],
        hypotheses=relations,
    )


@cache
def last_epoch_positive() -> Theorem:
    """0 < ε₀^(N−j0)(α)."""
    return substitute(kernel.positive(alpha * one_epoch_cost(q, whole)), {whole: N - j0}, remaining())


@cache
def falls_with_steps() -> Theorem:
    """ε₀^(j+1) ≤ ε₀^j, for j ≥ 1: no term of the mean exceeds that of the last batch."""
    start = alpha * one_epoch_cost(q, whole)
    more = start * q ** (-2 * whole) / GeometricSum(q**-2, whole + 1)
    return kernel.named(
        combine(start.subs(whole, whole + 1), start, (more,), nonzero=[below_one()]), "ε₀^j falls with j"
    )


@cache
def mixture_of_exponentials() -> Theorem:
    """1/Σ_(s<j) x^s = (x−1)·(y + y²/(1−y)), x = q^(−2), y = x^(−j): a nonnegative mixture of decaying exponentials.

    How means over batches are computed relies on it.
    """
    decay = q ** (2 * whole)
    below = combine(S.Zero, 1 - decay, (below_one(), 1 + q, GeometricSum(q**2, whole)))
    value = (q**-2 - 1) * (decay + decay**2 / (1 - decay))
    return kernel.cancel(1 / GeometricSum(q**-2, whole), value, below, below_one())


def shuffled_value(common: Expr) -> Expr:
    """ε of shuffled batches, for a first term that does not depend on the batch."""
    return common + LogMeanExp((alpha - 1) * first_epoch().expr.subs(j, i), i, N) / (alpha - 1)


def average_shown() -> Expr:
    """The mean over batches as the paper prints it."""
    return Dot(Over(1, alpha - 1), LogAverage(times(alpha - 1, FirstEpoch(N - j0, alpha)), j0, N))


@cache
def average_as_printed() -> Theorem:
    """The mean over batches, as it is printed, is the mean that is computed: term by term."""
    one = assume(AtMost(S.One, i))
    known = [below_one(), *(positive_from_one(GeometricSum(q**power, i), i, one) for power in (2, -2))]
    meant = undisplay(average_shown(), *first_epoch_meant()) * (alpha - 1)
    value = (alpha - 1) * first_epoch().expr.subs(j, i)
    return kernel.mean(kernel.cancel(meant.args[0], value, *known, by=[short(rho0), short(sigma2)]), i, N)


SHUFFLED = shuffled_run(NOISE)


@cache
def shuffled() -> Statement:
    """`thm:shuffle`."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX)

    def prove() -> Theorem:
        own = first_epoch().expr.subs(j, N - j0)
        return over_places(strongly_convex().theorem, own, last_epoch_positive(), first_term())

    return Statement(
        label="thm:shuffle",
        title="Privacy dynamics under shuffle and partition",
        where="Theorem 4.2 (proof in Appendix E.1)",
        says="ε after K epochs over batches shuffled once, for any record.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(SHUFFLED, Integer(0), K * N), alpha, shuffled_value(first_term())),
            relations,
            by_contraction(SHUFFLED),
            prove,
        ),
        shown=Plus(first_term_shown(), average_shown()),
        first_epoch=first_epoch_meant(),
        printed_with=lambda: [below_one(), decay_below_one(), given(ORDER), average_as_printed()],
        names=first_epoch_named(),
        hypotheses=relations,
        uses=("thm:strconvexsmooth", FIRST_EPOCH, "lem:rootconvexity1"),
    )
