"""δ as a function of ε for batches shuffled once: `profile:shuffle`.

Both runs use the same batches, whatever the order turned out to be: given the record's place, the run is a fixed order
(`gdp:cyclic`), and ∫(μ − e^ε·ν)₊ of a mixture is at most the mixture of those of its parts.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S
from sympy.core.symbol import Str

from ..display import Average, Named, undisplay
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.gaussian_profile import GaussianProfile
from ..functions.mean_over import MeanOver
from ..paper.descents import EPOCHS, STRONGLY_CONVEX, by_contraction
from ..paper.fixed_order import STEP_SQUARE
from ..paper.mixtures import at_place, chance_of_a_place, everywhere, in_every_place
from ..paper.shuffle import SHUFFLED
from ..proof import kernel
from ..proof.facts.profiles import (
    gaussian_profile,
    last_place_profile,
    one_more_place_profile,
    profile_of_mixture,
    same_batches_profile,
    shuffled_once_profile,
)
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine
from ..proof.propositions import AtMost, DeltaAtMost, Descent, From, LastPlaces, Proposition
from ..proof.search import claimed, induct, positive_from_one, short
from ..statement import Statement
from ..symbols import (
    K,
    N,
    b,
    epsilon,
    epsilon_1,
    i,
    j0,
    k,
    n,
    noise_1,
    q,
    records,
    rho0,
    sigma2,
    size,
    start,
    steps,
    weight,
    whole,
)
from .cycle import last_squares
from .gaussian import cyclic
from .pattern import WHERE
from .shifts import spent_shown

COST = 2 * rho0 * CyclicShifts(q, N, K, i)
"""μ² for a record in the i-th batch from the last."""


def over_places(theorem: Theorem, cost: Expr) -> Theorem:
    """δ of batches shuffled once, as a mean over the record's places, counted from the last batch.

    `theorem` gives μ² of a fixed order, `cost` is the same for a record in the i-th batch from the last.
    """
    known = in_every_place(apply(gaussian_profile, theorem, put={epsilon_1: epsilon}))
    pair = known.proposition.pair  # type: ignore[attr-defined]
    body = GaussianProfile(cost, epsilon)

    def claim(places: Expr) -> Proposition:
        run = Descent(LastPlaces(N, places), pair.descent.noise)
        return DeltaAtMost(From(run, pair.start, pair.steps), epsilon, MeanOver(body, i, places))

    def step(so_far: Theorem) -> Theorem:
        share, one, room = k / (k + 1), assume(AtMost(S.One, k)), assume(AtMost(k + 1, N))
        here = at_place(known, N - k - 1, combine(S.Zero, N - k - 1, (S.One, room)))
        shares = combine(S.Zero, share, (share,)), kernel.loosen(combine(share, S.One, (1 / (k + 1),)))
        mixed = apply(profile_of_mixture, *shares, so_far, here, put={weight: share})
        more = apply(one_more_place_profile, mixed, room, put={whole: k}, ranges=[one])
        return kernel.weaken(more, one_more_term(MeanOver(body, i, k), here.proposition.value))

    alone = kernel.swap(kernel.unfold(MeanOver(body, i, S.One), 0))
    base = kernel.weaken(apply(last_place_profile, at_place(known, N - 1)), alone)
    placed = kernel.named(induct(k, 1, claim, base, step, upper=N), "the record in one of k places")
    return _or_left_out(everywhere(placed), _not_negative(body))


def one_more_term(mean: MeanOver, term: Expr) -> Theorem:
    """k/(k + 1) of a mean over k places, and 1/(k + 1) of the next term, is the mean over k + 1."""
    share = k / (k + 1)
    unfolded = kernel.unfold(mean, 1)
    return chain(cancel(share * mean + (1 - share) * term, unfolded.proposition.right), kernel.swap(unfolded))  # type: ignore[attr-defined]


def _not_negative(body: Expr) -> Theorem:
    """0 ≤ the mean over all places."""

    def claim(places: Expr) -> AtMost:
        return AtMost(S.Zero, MeanOver(body, i, places))

    def step(so_far: Theorem) -> Theorem:
        terms = (k / (k + 1), so_far), (body.subs(i, k + 1) / (k + 1),)
        unfolded = kernel.unfold(MeanOver(body, i, k), 1)
        return kernel.loosen(combine(S.Zero, MeanOver(body, i, k + 1), *terms, by=[unfolded]))

    alone = kernel.unfold(MeanOver(body, i, S.One), 0)
    base = kernel.loosen(chain(kernel.positive(body.subs(i, 1)), kernel.swap(alone)))
    return everywhere(induct(k, 1, claim, base, step, upper=N))


def _or_left_out(placed: Theorem, not_negative: Theorem) -> Theorem:
    """Shuffled batches, from a record that is evenly placed: it may be left out, if b does not divide n."""
    pair, mean = placed.proposition.pair, placed.proposition.value  # type: ignore[attr-defined]
    share = N * b / n
    most = combine(share, S.One, (b / n, chain(short(N), kernel.floor_at_most(n / b))))
    run = {noise_1: pair.descent.noise, start: pair.start, steps: pair.steps, epsilon_1: epsilon}
    left_out = apply(same_batches_profile, kernel.positive(epsilon), put=run)
    shares = kernel.loosen(kernel.positive(share)), kernel.loosen(most)
    mixed = apply(profile_of_mixture, *shares, placed, left_out, put={weight: share})
    found = apply(shuffled_once_profile, chance_of_a_place(), mixed, put={records: n, size: b})
    return kernel.weaken(found, combine(found.proposition.value, mean, (most, not_negative)))


def as_printed(body: Expr, cost: Expr, squares: Expr) -> Theorem:
    """The mean over batches, as it is printed, is the mean that is computed: term by term; 0 < squares for i ≥ 1."""
    known = positive_from_one(squares, i, assume(AtMost(S.One, i)))
    meant = undisplay(mean_shown(body))
    return kernel.plain_mean(
        cancel(meant.args[0], GaussianProfile(cost, epsilon), known, by=[short(rho0), short(sigma2)]), i, N
    )


def mean_shown(body: Expr) -> Expr:
    """The mean over batches as it is printed, for μ² as it is printed."""
    return Average(GaussianProfile(Named(Str(r"\mu_{j_0}^2"), body), epsilon), j0, N)


@cache
def shuffled() -> Statement:
    """`profile:shuffle`."""
    relations = (EPOCHS, *STRONGLY_CONVEX)
    body, where = spent_shown(N - j0, STEP_SQUARE)
    return Statement(
        label="profile:shuffle",
        title="Profile, shuffled once",
        where=WHERE,
        says="δ at ε after K epochs over batches shuffled once, for any record: the mean of gdp:cyclic over batches.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(From(SHUFFLED, Integer(0), K * N), epsilon, MeanOver(GaussianProfile(COST, epsilon), i, N)),
            relations,
            by_contraction(SHUFFLED),
            lambda: over_places(cyclic().theorem, COST),
        ),
        shown=mean_shown(body),
        printed_with=lambda: [as_printed(body, COST, last_squares(q, i))],
        also=((r"\mu_{j_0}^2", body), *where),
        hypotheses=relations,
        uses=("gdp:cyclic",),
    )
