"""Updates that need not contract: `gdp:expanding`, `profile:shuffle:expanding` and `expanding:reshuffle`.

All that is asked of the update is a Lipschitz constant c. Hits are hidden one by one (`gaps`): for a fixed order and
c ≥ 1 these are the best shifts, and for c = 1 the bound is that of thm:convexsmooth. On the full batch, where the next
hit comes with the next step, u = 1 is left: composition.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S

from ..display import Dot, Over, Plus
from ..functions.gaussian_profile import GaussianProfile
from ..functions.mean_over import MeanOver
from ..paper.descents import BATCH, EPOCHS, FIXED_ORDER, by_lipschitz, contraction
from ..paper.fixed_order import STEP_SQUARE, remaining, remaining_positive
from ..paper.shuffle import SHUFFLED
from ..proof import kernel
from ..proof.facts.definitions import between_uses
from ..proof.facts.drift import Drift
from ..proof.kernel import Theorem, apply, assume, combine, cut, substitute
from ..proof.propositions import AtMost, DeltaAtMost, From, Gaussian
from ..proof.search import claimed, equal_bound, induct
from ..statement import Statement
from ..symbols import K, N, count, epoch, epsilon, i, j0, k, lipschitz, place, rho0, u, whole
from .cycle import units, until_first_use
from .gaps import at_most_one, share, squares, until_next, written
from .gaussian import SQUARE, convex, each_once
from .pattern import WHERE
from .profiles import as_printed, mean_shown, over_places


@cache
def _between() -> Theorem:
    """From use k of the record until `whole` ≤ N steps later."""

    def unused(one: Theorem, last: Theorem) -> Theorem:
        limits = one, combine(i, N - 1, (S.One, last), (S.One, assume(AtMost(whole, N))))
        return apply(between_uses, *limits, put={count: N, place: j0, epoch: k})

    return until_next(units(lipschitz), N * k + j0, unused)


@cache
def met() -> Theorem:
    """The copy meets the first run for Σa² = (K − 1)·u(N) + u(N − j0)."""
    here = units(lipschitz)
    each = cut(substitute(_between(), {whole: N}), combine(N, N))

    def claim(uses: Expr) -> Drift:
        return here.state(N * uses + j0, S.Zero, uses * share(N))

    def step(so_far: Theorem) -> Theorem:
        found = cut(substitute(each, {u: k * share(N)}), so_far)
        return written(found, claim(k + 1))

    uses = induct(k, 0, claim, until_first_use(lipschitz), step)
    last = substitute(_between(), {whole: N - j0}, remaining())
    last = substitute(last, {k: K - 1, u: (K - 1) * share(N)})
    found = cut(last, substitute(uses, {k: K - 1}), combine(N - j0, N, (j0,)))
    return kernel.named(written(found, here.state(K * N, S.Zero, _spent())), "every hit hidden until the next")


def _spent(left: Expr = N - j0) -> Expr:
    """Σa² in units, for a record that so many steps are left for, from its last use on."""
    return (K - 1) * share(N) + share(left)


@cache
def _some_left() -> Theorem:
    """The sum over the steps from the last use on is positive."""
    return substitute(kernel.positive(squares(whole)), {whole: N - j0}, remaining())


_SHOWN = Dot(STEP_SQUARE, Plus(Over(K - 1, squares(N)), Over(1, squares(N - j0))))


@cache
def fixed() -> Statement:
    """`gdp:expanding`."""
    relations = (EPOCHS, BATCH)
    return Statement(
        label="gdp:expanding",
        title="Gaussian differential privacy, fixed order, any Lipschitz constant",
        where=WHERE,
        says="μ² of Gaussian differential privacy after K epochs over a fixed sequence of batches, for data in batch "
        "j0, for updates that are c-Lipschitz: they may expand. Never more than composition.",
        bounds=SQUARE,
        theorem=claimed(
            Gaussian(From(FIXED_ORDER, Integer(0), K * N), 2 * rho0 * _spent()),
            relations,
            by_lipschitz(FIXED_ORDER),
            lambda: units(lipschitz).gaussian(met()),
        ),
        shown=_SHOWN,
        printed_with=lambda: [_some_left()],
        hypotheses=relations,
    )


@cache
def at_most_composition() -> Theorem:
    """μ² of `gdp:expanding` is at most that of `gdp:composition:fixed`, whatever c is."""
    last = substitute(at_most_one(), {whole: N - j0}, remaining())
    every = substitute(at_most_one(), {whole: N})
    found = combine(
        fixed().expr, each_once().expr, (2 * rho0 * (K - 1), every), (2 * rho0, last), nonzero=[_some_left()]
    )
    return kernel.named(found, "never above composition")


@cache
def without_expansion() -> Theorem:
    """`gdp:convex` is `gdp:expanding` at c = 1, which updates of smooth convex losses have."""
    found = cut(substitute(fixed().theorem, {lipschitz: S.One}), contraction(FIXED_ORDER, Integer(0)))
    return kernel.named(equal_bound(found, convex().expr, remaining_positive()), "c = 1")


# --- Shuffled once --------------------------------------------------------------------------------------------------

_COST = 2 * rho0 * _spent(i)
"""μ² for a record in the i-th batch from the last."""


@cache
def shuffled() -> Statement:
    """`profile:shuffle:expanding`."""
    relations = (EPOCHS,)
    return Statement(
        label="profile:shuffle:expanding",
        title="Profile, shuffled once, any Lipschitz constant",
        where=WHERE,
        says="δ at ε after K epochs over batches shuffled once, for any record, for updates that are c-Lipschitz: the "
        "mean of gdp:expanding over batches.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(From(SHUFFLED, Integer(0), K * N), epsilon, MeanOver(GaussianProfile(_COST, epsilon), i, N)),
            relations,
            by_lipschitz(SHUFFLED),
            lambda: over_places(fixed().theorem, _COST),
        ),
        shown=mean_shown(_SHOWN),
        printed_with=lambda: [as_printed(_SHOWN, _COST, squares(i))],
        also=((r"\mu_{j_0}^2", _SHOWN),),
        hypotheses=relations,
        uses=("gdp:expanding",),
    )
