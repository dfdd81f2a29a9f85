"""`thm:strconvexsmooth` with the factor that its proof gives and the theorem drops, for any split of an epoch.

Also `thm:shuffle` with that factor. An epoch of N updates is split at m: the first m are counted from a fixed start,
the other N − m contract. The paper takes m = ⌊N/2⌋ and drops the contraction of the last epoch, a factor q^(2(N−m)).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Ge, Integer, S, Symbol

from ..display import Dot, FirstEpoch, Plus, PowerSum, times
from ..functions.geometric import GeometricSum
from ..paper.descents import (
    BATCH,
    EPOCHS,
    FIXED_ORDER,
    ORDER,
    STRONGLY_CONVEX,
    TWO_BATCHES,
    below_one,
    by_contraction,
)
from ..paper.fixed_order import (
    FIRST_EPOCH,
    at_order,
    before_epoch,
    decay_below_one,
    epochs_split,
    first_epoch,
    first_epoch_meant,
    first_epoch_named,
    first_term,
    half,
    last_epoch,
    last_sums,
    positive_sums,
)
from ..paper.mixtures import over_places
from ..paper.shuffle import SHUFFLED, average_as_printed, average_shown, last_epoch_positive, shuffled_value
from ..proof import kernel
from ..proof.kernel import Theorem, assume, combine, substitute
from ..proof.propositions import AtMost, From, Renyi
from ..proof.search import claimed, equal_bound, given
from ..statement import Statement
from ..symbols import K, N, alpha, j, j0, k, m, mu, q, split, whole

WHERE = "not in the paper"
_USES = (FIRST_EPOCH, "lem:LSIseq_stronglyconvex", "lem:recursive")
_SPLIT_RANGE = (Ge(split, 1, evaluate=False), split <= N)


def _carried_shown(at: Expr) -> Expr:
    return Dot(FirstEpoch(at, alpha), PowerSum(q ** times(2, N - at), K - 1))


def _last() -> Expr:
    """What the steps after the last use of the record cost."""
    return first_epoch().expr.subs(j, N - j0)


def _value(at: Expr) -> Expr:
    """The bound with an epoch split at `at`."""
    return alpha * before_epoch(at, K - 1) + _last()


def _proof(at: Symbol, positive: Theorem, within: Theorem) -> Theorem:
    before = substitute(epochs_split(at, positive, within), {k: K - 1})
    return at_order(last_epoch(before, q), _value(at), *last_sums())


def _proof_for_any_split() -> Theorem:
    """For a split that is seen to be at least 1, and so for every one that is."""
    found = _proof(whole, combine(S.One, whole, (whole - 1,)), assume(AtMost(whole, N)))
    return substitute(found, {whole: split}, given(_SPLIT_RANGE[0]))


@cache
def with_factor() -> Statement:
    """`strconvexsmooth:factor`."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX, BATCH)
    return Statement(
        label="strconvexsmooth:factor",
        title="Theorem 3.3 with the factor its proof gives",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0: thm:strconvexsmooth with the "
        "factor that the last line of its proof drops.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, _value(m)),
            relations,
            by_contraction(FIXED_ORDER),
            lambda: _proof(m, *half()),
        ),
        shown=Plus(_carried_shown(m), FirstEpoch(N - j0, alpha)),
        first_epoch=first_epoch_meant(),
        printed_with=lambda: [*last_sums(), decay_below_one()],
        names=first_epoch_named(),
        hypotheses=relations,
        uses=_USES,
    )


@cache
def any_split() -> Statement:
    """`strconvexsmooth:split`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX, BATCH, *_SPLIT_RANGE)
    return Statement(
        label="strconvexsmooth:split",
        title="Theorem 3.3 with any split of an epoch",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, with every epoch split after "
        "m updates; `best_split` finds the best m.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, _value(split)),
            relations,
            by_contraction(FIXED_ORDER),
            _proof_for_any_split,
        ),
        shown=Plus(_carried_shown(split), FirstEpoch(N - j0, alpha)),
        first_epoch=first_epoch_meant(),
        printed_with=lambda: [*last_sums(), *positive_sums((split, given(_SPLIT_RANGE[0])))],
        names=first_epoch_named(),
        hypotheses=relations,
        uses=_USES,
    )


@cache
def shuffled() -> Statement:
    """`shuffle:factor`."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, *STRONGLY_CONVEX)
    common = q ** (2 * (N - m)) * first_term()

    def prove() -> Theorem:
        factored = with_factor().theorem
        fixed = equal_bound(factored, common + _last(), *last_sums())
        return over_places(fixed, _last(), last_epoch_positive(), common)

    return Statement(
        label="shuffle:factor",
        title="Theorem 4.2 with the factor of Theorem 3.3's proof",
        where=WHERE,
        says="ε after K epochs over batches shuffled once, for any record: thm:shuffle with the dropped factor.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(SHUFFLED, Integer(0), K * N), alpha, shuffled_value(common)),
            relations,
            by_contraction(SHUFFLED),
            prove,
        ),
        shown=Plus(_carried_shown(m), average_shown()),
        first_epoch=first_epoch_meant(),
        printed_with=lambda: [below_one(), decay_below_one(), given(ORDER), average_as_printed()],
        names=first_epoch_named(),
        hypotheses=relations,
        uses=("strconvexsmooth:factor", FIRST_EPOCH, "lem:rootconvexity1"),
    )


@cache
def larger_split_for_two_epochs() -> Theorem:
    """For K = 2 the first term is αρ₀·x^(N−1)/Σ_(s<m) x^s, x = q²: it falls with m ≥ 1, so m = N is best."""
    x = q**2
    here, following = (x ** (N - 1) / GeometricSum(x, at) for at in (whole, whole + 1))
    more = x ** (N - 1) * x**whole / (GeometricSum(x, whole) * GeometricSum(x, whole + 1))
    return kernel.named(combine(following, here, (more,), nonzero=[below_one()]), "two epochs: the larger split")


def settled(at: Expr, steps: Expr) -> Expr:
    """The first term over αρ₀ after infinitely many epochs of so many steps, x = q², for a split below that."""
    x = q**2
    return x ** (steps - 1) / ((1 - x) * GeometricSum(x, at) * GeometricSum(x, steps - at))


@cache
def middle_split_in_the_limit() -> Theorem:
    """Moving the split from m ≥ 1 to m + d never raises what it tends to, for N = 2m + d + i, that is m + d ≤ N − m.

    So it falls up to the middle and, being symmetric, rises again: the paper's m is best after many epochs.
    """
    x, steps = q**2, 2 * whole + j + k
    here, there = settled(whole, steps), settled(whole + j, steps)
    sums = GeometricSum(x, j) * GeometricSum(x, k) / (GeometricSum(x, whole + j) * GeometricSum(x, whole + k))
    inverse = substitute(kernel.positive(1 / mu), {mu: 1 - x}, combine(S.Zero, 1 - x, (below_one(), 1 + q)))
    weight = x ** (steps - 1 + whole) / (GeometricSum(x, whole) * GeometricSum(x, whole + j + k))
    found = combine(there, here, (inverse, weight * sums), nonzero=[below_one(), kernel.positive(1 + q)])
    return kernel.named(found, "many epochs: the middle split")
