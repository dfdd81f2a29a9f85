"""The last steps of a run with secret hits: with k of them left, a drifted copy z away meets the run at the end.

What each step spends on hiding whether it used the record, and what is left for the drift; batches drawn without
replacement, or every record by itself, which asks that no batch be too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sympy import Expr, S

from ..display import Over, Plus, times
from ..functions.drift_weight import DriftWeight
from ..functions.noise_share import NoiseShare, Stair
from ..meaning import Neighbouring
from ..paper.descents import NOISE, contracts, descent
from ..paper.draws import CHANCE
from ..proof import kernel
from ..proof.facts.epochs import drawn_each_time, sampled_each_time
from ..proof.facts.losses import SumGradients, SummedSteps, lipschitz_sum, sum_descent
from ..proof.facts.secret import (
    AnyApart,
    Sampled,
    SampledByItself,
    WillMeet,
    any_size,
    release_drift,
    release_drift_poisson,
    release_hit,
    release_hit_poisson,
    release_last,
    release_last_poisson,
)
from ..proof.kernel import Fact, Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    Apart,
    AtMost,
    Descent,
    DrawnAfresh,
    EachByItself,
    Less,
    LipschitzUpTo,
    LossesBetween,
    Proposition,
)
from ..proof.search import given, induct, left_of, short
from ..symbols import (
    G,
    P,
    S_g,
    T,
    X,
    b,
    beta,
    cost_2,
    distance,
    eta,
    gap,
    i,
    k,
    lam,
    most_1,
    move,
    n,
    noise_1,
    portion,
    q,
    rate,
    share,
    share_1,
    slack,
    window,
    window_1,
    x_1,
)

REACH = eta * S_g / b
"""How far apart two update maps can be that differ in one record of the batch."""
SECRET = window <= T
SHARED = share < 1
ENOUGH = b <= n
DRAWN = descent(DrawnAfresh(CHANCE))
PARTS = Sampled(CHANCE, REACH**2 / NOISE, share, q, window)


# --- Shares ---------------------------------------------------------------------------------------------------------


@cache
def share_at_most_one() -> Theorem:
    """f_i ≤ 1."""
    ratio, node = q ** Stair(window, i) / share, NoiseShare(share, q, window, i)
    unfolded = kernel.unfold(node, 0)
    above, below = assume(AtMost(S.One, ratio)), assume(AtMost(ratio, S.One))
    small = rewrite(unfolded, kernel.greater(above))
    less = combine(small.proposition.right, S.One, (1 / ratio, above))  # type: ignore[attr-defined]
    all_of_it = rewrite(unfolded, kernel.greater(below))
    return kernel.cases(kernel.loosen(kernel.chain(small, less)), kernel.loosen(all_of_it))


@cache
def last_share() -> Theorem:
    """f_0 = g, as g < 1."""
    unfolded = kernel.unfold(NoiseShare(share, q, window, S.Zero), 1)
    above = combine(S.One, 1 / share, (1 / share, given(SHARED)))
    return rewrite(unfolded, kernel.greater(kernel.loosen(above)))


@cache
def some_weight() -> Theorem:
    """0 < W, for k ≥ 1 steps."""

    def claim(count: Expr) -> Proposition:
        return Less(S.Zero, DriftWeight(share, q, window, count))

    def step(so_far: Theorem) -> Theorem:
        later = kernel.unfold(DriftWeight(share, q, window, k), 1)
        more = substitute(share_at_most_one(), {i: k})
        return combine(S.Zero, DriftWeight(share, q, window, k + 1), (S.One, so_far), (q ** (2 * k), more), by=[later])

    first = kernel.unfold(DriftWeight(share, q, window, S.Zero), 1)
    none = kernel.unfold(DriftWeight(share, q, window, S.Zero), 0)
    base = combine(S.Zero, DriftWeight(share, q, window, S.One), (S.One, given(SHARED)), by=[first, none, last_share()])
    return kernel.named(induct(k, 1, claim, base, step), "some noise is left for the drift")


# --- The last steps -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draws:
    """A way of drawing batches afresh: the run, what is assumed of it, and the facts about its steps."""

    run: Descent
    mechanisms: Sampled | SampledByItself
    most: Expr
    """The largest batch whose update is known to contract."""
    contracts: Theorem
    apart: Theorem
    independent: Theorem
    last: Fact
    drift: Fact
    hit: Fact


@cache
def without_replacement_draws() -> Draws:
    """b of n records, at every step."""
    sized = apply(any_size, contracts(DRAWN, q), put={most_1: b})
    independent = apply(drawn_each_time, put={rate: CHANCE, noise_1: NOISE})
    apart = assume(AnyApart(DRAWN, REACH))
    return Draws(DRAWN, PARTS, b, sized, apart, independent, release_last, release_drift, release_hit)


POISSON = Descent(EachByItself(CHANCE), NOISE, Neighbouring.ADD_REMOVE)
MOST = 2 * b * (1 - eta * lam) / (eta * (beta - lam))
"""The largest batch whose smoothness allows the step: |B|·(β − λ)/b + 2λ ≤ 2/η."""
SMOOTHER = lam < beta
ALL_BATCHES = n + 1 <= MOST


@cache
def sized_contraction() -> Theorem:
    """Sums of gradients of at most B_max records, divided by b, and λθ: such an update contracts by 1 − ηλ.

    Every record's loss is convex and (β − λ)-smooth.
    """
    losses = assume(LossesBetween(POISSON, S.Zero, beta - lam))
    scale = 2 * b * q / eta
    points = assume(SumGradients(POISSON, MOST, X, P, G))
    contracting = rewrite(kernel.positive(q), short(q))
    at_best = apply(sum_descent, points, losses, _most_not_negative(), put={move: 1 / scale})
    spelled = cancel(left_of(at_best), G / scale, smoother(), contracting, by=[short(q)])
    at_best = rewrite(at_best, spelled)
    moved = (1 - eta * lam) ** 2 * X - 2 * (1 - eta * lam) * eta / b * P + (eta / b) ** 2 * G
    smaller = combine(moved, q**2 * X, (2 * q * eta / b, at_best), nonzero=[contracting], by=[short(q)])
    steps = assume(SummedSteps(POISSON, eta, b, lam))
    positive = kernel.loosen(kernel.positive(q))
    found = apply(lipschitz_sum, steps, smaller, positive, put={most_1: MOST}, ranges=[smoother()])
    return kernel.named(found, "the update of a batch that is not too large contracts")


@cache
def _most_not_negative() -> Theorem:
    """0 ≤ B_max."""
    seen = kernel.positive(2 * b * q / (eta * slack))
    found = substitute(seen, {slack: beta - lam}, combine(S.Zero, beta - lam, (S.One, given(SMOOTHER))))
    return kernel.loosen(kernel.chain(found, cancel(found.proposition.right, MOST, smoother(), by=[short(q)])))  # type: ignore[attr-defined]


@cache
def poisson_draws() -> Draws:
    """Every record by itself, at every step."""
    return Draws(
        POISSON,
        SampledByItself(CHANCE, REACH**2 / NOISE, share, q, window),
        MOST,
        assume(LipschitzUpTo(POISSON, q, MOST)),
        assume(Apart(POISSON, REACH)),
        apply(sampled_each_time, put={rate: CHANCE, noise_1: NOISE}),
        release_last_poisson,
        release_drift_poisson,
        release_hit_poisson,
    )


def coefficient(steps: Expr) -> Expr:
    """μ²/z², with so many steps left."""
    return q ** (2 * steps) / (NOISE * DriftWeight(share, q, window, steps))


@cache
def will_meet(draws: Draws) -> Theorem:
    """With k ≥ 1 secret steps left, a copy z away meets the run for μ² = q^(2k)z²/(vW)."""
    noise, size_of = kernel.positive(NOISE), kernel.loosen(kernel.positive(q))

    def claim(steps: Expr) -> WillMeet:
        return WillMeet(draws.run, steps, draws.mechanisms, draws.most, coefficient(steps))

    def hit(found: Theorem) -> Theorem:
        return apply(draws.hit, draws.apart, draws.independent, noise, found)

    def step(so_far: Theorem) -> Theorem:
        there = {x_1: DriftWeight(share, q, window, k), gap: 1 - NoiseShare(share, q, window, k)}
        below = substitute(share_at_most_one(), {i: k})
        ranges = some_weight(), combine(S.Zero, there[gap], (S.One, below))

        def at(theorem: Theorem) -> Theorem:
            return substitute(theorem, there, *ranges)

        later = x_1 + q ** (2 * k) * gap
        moved, spent = q ** (2 * k) * gap / later, q ** (4 * k + 2) * gap / (later**2 * NOISE)
        limits = kernel.positive(moved), kernel.loosen(combine(moved, S.One, (x_1 / later,))), kernel.positive(spent)
        enough = combine((moved * q) ** 2, spent * gap * NOISE)
        put = {portion: moved.subs(there), cost_2: spent.subs(there), share_1: share, distance: REACH, window_1: window}
        premises = *map(at, (*limits, enough)), so_far
        found = apply(draws.drift, draws.contracts, size_of, noise, *premises, put=put, ranges=[*map(at, limits)])
        value = q ** (2 * k) / (NOISE * x_1) * ((1 - moved) * q) ** 2 + spent
        found = kernel.weaken(found, at(cancel(value, q ** (2 * k + 2) / (NOISE * later))))
        return hit(rewrite(found, kernel.swap(kernel.unfold(DriftWeight(share, q, window, k), 1))))

    none, first = (kernel.unfold(DriftWeight(share, q, window, S.Zero), place) for place in (0, 1))
    weight = cut(substitute(some_weight(), {k: S.One}), combine(S.One, S.One))
    enough = combine(
        q**2,
        coefficient(S.One) * (1 - NoiseShare(share, q, window, S.Zero)) * NOISE,
        nonzero=[weight],
        by=[first, none],
    )
    put = {cost_2: coefficient(S.One), share_1: share, distance: REACH, window_1: window}
    base = hit(apply(draws.last, draws.contracts, size_of, noise, enough, put=put))
    found = induct(k, 1, claim, base, step)
    return kernel.named(found, "with k secret steps left")


@cache
def smoother() -> Theorem:
    """0 < η(β − λ): what is divided by."""
    return combine(S.Zero, eta * (beta - lam), (eta, given(SMOOTHER)))


def most_shown() -> Expr:
    """The largest batch whose update is known to contract, as it is printed."""
    return Over(times(2, b, 1 - eta * lam), times(eta, Plus(beta, -lam)))
