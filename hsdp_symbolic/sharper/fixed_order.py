"""`thm:strconvexsmooth` with the factor that its proof gives and the theorem drops, for any split of an epoch.

Also `thm:shuffle` with that factor. An epoch of N updates is split at m: the first m are counted from a fixed start,
the other N − m contract. The paper takes m = ⌊N/2⌋ and drops the contraction of the last epoch, a factor q^(2(N−m)).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Ge, Integer

from ..display import Dot, FirstEpoch, LogAverage, Over, Plus, PowerSum, times, undisplay
from ..functions.geometric import GeometricSum
from ..functions.log_mean_exp import LogMeanExp
from ..meaning import BY_CONTRACTION, Quantity
from ..paper.fixed_order import (
    BATCH,
    EPOCHS,
    FIRST_EPOCH,
    ORDER,
    TWO_BATCHES,
    first_epoch,
    first_epoch_named,
    first_term,
    two_batches,
    whole_epochs,
)
from ..paper.lsi import STRONGLY_CONVEX
from ..paper.shuffle import first_term_comes_out, mixture_of_exponentials, over_batches
from ..proof.checks import Induction, Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import K, N, Y, alpha, gap, i, j, j0, m, p, q, split

WHERE = "not in the paper"
_USES = (FIRST_EPOCH, "lem:LSIseq_stronglyconvex", "lem:recursive")
_SPLIT_RANGE = (Ge(split, 1, evaluate=False), split <= N)


def _carried_shown(at: Expr) -> Expr:
    return Dot(FirstEpoch(at, alpha), PowerSum(q ** times(2, N - at), K - 1))


def _bound(d: Derivation, at: Expr) -> tuple[Expr, Expr]:
    """The bound with an epoch split at `at`, and how it is printed."""
    start = first_epoch().expr / alpha
    carried = whole_epochs(d, start, at)
    expr = alpha * carried + alpha * start.subs(j, N - j0)
    shown = Plus(_carried_shown(at), FirstEpoch(N - j0, alpha))
    return expr, d.printed(expr, shown, first_epoch=undisplay(first_epoch().shown), index=j)


@cache
def with_factor() -> Statement:
    """`strconvexsmooth:factor`."""
    d = Derivation()
    d.later(two_batches)
    expr, shown = _bound(d, m)
    return Statement(
        label="strconvexsmooth:factor",
        title="Theorem 3.3 with the factor its proof gives",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0: thm:strconvexsmooth with the "
        "factor that the last line of its proof drops.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        names=first_epoch_named(),
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX, BATCH),
        steps=d.steps,
        uses=_USES,
        terms=BY_CONTRACTION,
    )


def _settled(at: Expr) -> Expr:
    """The first term over αρ₀ after infinitely many epochs, x = q², for a split below N."""
    x = q**2
    return x ** (N - 1) / ((1 - x) * GeometricSum(x, at) * GeometricSum(x, N - at))


@cache
def any_split() -> Statement:
    """`strconvexsmooth:split`."""
    d = Derivation()
    expr, shown = _bound(d, split)
    x, better = q**2, split + gap
    d.check(
        "After many epochs the sum over epochs is 1/(1 − q^(2(N−m))) …",
        Induction((1 - x ** ((N - split) * i)) / (1 - x ** (N - split)), i, 0, Integer(0), Y, x ** (N - split) * Y + 1),
    )
    d.identity(
        "… and the first term is then ρ₀·x^(N−1)(1−x)/((1−x^m)(1−x^(N−m))), x = q².",
        x ** (N - split) / (GeometricSum(x**-1, split) * (1 - x ** (N - split))),
        _settled(split),
    )
    room = {N: split + better + i}
    d.at_most(
        "Moving the split from m to m + d ≤ N − m lowers it: the products of the two sums differ by x^m(1−x^d)"
        "(1−x^(N−2m−d))/(1−x)². So it falls up to the middle and, being symmetric, rises again: the paper's m is best.",
        _settled(better).subs(room),
        _settled(split).subs(room),
        [
            (
                (_settled(split) * x**split / (GeometricSum(x, better) * GeometricSum(x, N - better))).subs(room)
                * GeometricSum(x, gap),
                Slack(GeometricSum(x, i), "i = N − 2m − d ≥ 0"),
            )
        ],
        domain={q: 1 / (1 + p)},
    )
    d.at_most(
        "For K = 2 the first term is ρ₀·x^(N−1)/Σ_(s<m) x^s: the larger m the better, so m = N is best.",
        x ** (N - 1) / GeometricSum(x, split + 1),
        x ** (N - 1) / GeometricSum(x, split),
        [
            (
                x ** (N - 1) * x**split / (GeometricSum(x, split) * GeometricSum(x, split + 1)),
                Slack(Integer(1), "one more positive power"),
            )
        ],
        domain={split: 1 + gap},
    )
    return Statement(
        label="strconvexsmooth:split",
        title="Theorem 3.3 with any split of an epoch",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, with every epoch split after "
        "m updates; `best_split` finds the best m.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=shown,
        names=first_epoch_named(),
        hypotheses=(ORDER, EPOCHS, *STRONGLY_CONVEX, BATCH, *_SPLIT_RANGE),
        steps=d.steps,
        uses=_USES,
        terms=BY_CONTRACTION,
    )


@cache
def shuffled() -> Statement:
    """`shuffle:factor`."""
    d = Derivation()
    d.later(over_batches)
    d.later(first_term_comes_out)
    d.later(mixture_of_exponentials)
    start, decay = first_epoch().expr, q ** (2 * (N - m))
    with_, without = decay * first_term(), first_term()
    d.identity(
        "The first term is that of strconvexsmooth:factor.",
        with_factor().expr - start.subs(j, N - j0),
        with_,
    )
    d.at_most(
        "It is at most that of thm:shuffle.",
        with_,
        without,
        [(without * (1 - q**2), Slack(GeometricSum(q**2, N - m), "1 − q^(2(N−m)) = (1 − q²)·(positive powers)"))],
        domain={q: 1 / (1 + p)},
    )
    expr = with_ + LogMeanExp((alpha - 1) * start.subs(j, i), i, N) / (alpha - 1)
    average = LogAverage(times(alpha - 1, FirstEpoch(N - j0, alpha)), j0, N)
    shown = Plus(_carried_shown(m), Dot(Over(1, alpha - 1), average))
    return Statement(
        label="shuffle:factor",
        title="Theorem 4.2 with the factor of Theorem 3.3's proof",
        where=WHERE,
        says="ε after K epochs over batches shuffled once, for any record: thm:shuffle with the dropped factor.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown, first_epoch=undisplay(first_epoch().shown), index=j),
        names=first_epoch_named(),
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX),
        steps=d.steps,
        uses=("strconvexsmooth:factor", FIRST_EPOCH, "lem:rootconvexity1"),
        terms=BY_CONTRACTION,
    )
