"""Optimal shifts for a fixed order of batches: `shift:cyclic`, `shift:convex` and, shuffled once, `shift:shuffle`.

A drifted copy of the second run is steered into the first (`proof.facts.drift`): an update turns its distance z into
at most qz + s·hit, and noise hides a of it at the price of a Gaussian shift. Any a with z ≥ 0 throughout and z = 0 at
the end gives a bound; the best a is a greatest convex minorant, which for one hit per epoch has at most two edges.
Where the first would be the steeper one they are pooled into one, the chord. No log-Sobolev constant is needed.
Distances are in units of s = ηS_g/b; j = N − j0 updates are left at the last hit. For full batches these are the
shifts of Bok, Su & Altschuler (2024).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, fraction
from sympy.core.symbol import Str

from ..display import Dot, LogAverage, Named, Over, Plus, times, undisplay
from ..functions.cyclic_shifts import CyclicShifts
from ..functions.geometric import GeometricSum
from ..functions.log_mean_exp import LogMeanExp
from ..functions.pooled import Pooled
from ..paper.descents import (
    BATCH,
    CONVEX_STEP,
    EPOCHS,
    FIXED_ORDER,
    ORDER,
    STRONGLY_CONVEX,
    by_contraction,
    contraction,
    losses_assumed,
)
from ..paper.fixed_order import STEP_COST, at_order, remaining, remaining_positive
from ..paper.mixtures import over_places
from ..paper.shuffle import SHUFFLED
from ..proof import kernel
from ..proof.kernel import Theorem, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, From, Renyi
from ..proof.search import claimed, equal_bound, given, positive_from_one, short
from ..statement import Statement
from ..symbols import D, K, N, P_t, a_t, alpha, b, ell, g, i, j, j0, q, rho0, sigma2, w, whole, x_2, z_2
from .cycle import at_use, first_squares, largest_rate, last_squares, spent, steered, units
from .least import at_the_end
from .pattern import WHERE

AT = {g: CyclicShifts(q, N, K, whole).edges()[0], D: CyclicShifts(q, N, K, whole).edges()[1]} | {
    x_2: last_squares(q, whole),
    P_t: q ** (N * (K - 1)),
}
"""What stands for slope g and length D of the first edge, in units of the second, for the squared weights x_2 of the
last steps, of which there are `whole`, and for what is left, P_t, of a first hit when the last one comes."""
LARGEST, FIRST = g * P_t / x_2, D * x_2 / P_t**2
"""In these letters: the largest rate, and the squared weights of the steps up to the last use."""
SPENT = a_t**2 * FIRST + (1 + P_t * FIRST * (LARGEST - a_t)) ** 2 / x_2
CHORD = P_t / x_2 * (1 + g * D) / (1 + D)
"""The rate of the chord."""


def _there(theorem: Theorem) -> Theorem:
    """A theorem about these letters, as one about the run."""
    return substitute(substitute(theorem, AT), {whole: N - j0}, remaining())


def written_out(case: Theorem) -> Theorem:
    """`Pooled` without a maximum: the first edge is the less steep one (g ≤ 1), or it is not (1 ≤ g)."""
    edges_stay = case.proposition.right == 1  # type: ignore[attr-defined]
    kink = combine(S.Zero, 1 - g, (S.One, case)) if edges_stay else combine(1 - g, S.Zero, (S.One, case))
    return rewrite(kernel.unfold(Pooled(g, D), 0), kernel.greater(kink))


@cache
def _steered_in_letters() -> Theorem:
    """The copy meets the first run, at any rate that is slow enough; Σa² in terms of slope and length."""
    known = units(q).nonzero
    found = steered(q)
    for old, new in ((q * at_use(q, K - 1), P_t * FIRST * (LARGEST - a_t)), (first_squares(q), FIRST)):
        equal = cancel(old, new.subs(AT, simultaneous=True), *known)
        found = rewrite(found, substitute(equal, {whole: N - j0}, remaining()))
    return found


def _at_rate(rate: Expr, slow: Theorem, case: Theorem) -> Theorem:
    """The copy meets the first run for Σa² = `CyclicShifts`, in one of the two cases."""
    form = written_out(case)
    least = cancel(SPENT.subs(a_t, rate), Pooled(g, D) / x_2, by=[form])
    positive = _there(kernel.positive(rate))
    there = positive.proposition.right  # type: ignore[attr-defined]
    found = cut(substitute(_steered_in_letters(), {a_t: there}, positive), _there(slow))
    pooled = rewrite(found, _there(least))
    return equal_bound(pooled, 2 * rho0 * least_spent(), some_left(), by=[kernel.unfold(least_spent(), 0, some_left())])


@cache
def cyclic_steered() -> Theorem:
    """The copy meets the first run for Σa² = `CyclicShifts`: two edges, or their chord if the first is steeper."""
    less, more = assume(AtMost(g, S.One)), assume(AtMost(S.One, g))
    slower = combine(CHORD, LARGEST, (P_t / x_2 / (1 + D), more))
    two_edges = _at_rate(LARGEST, combine(LARGEST, LARGEST), less)
    return kernel.named(kernel.cases(two_edges, _at_rate(CHORD, slower, more)), "the best shifts")


_LEAST = 2 * w * LARGEST * FIRST - w**2 * FIRST + 2 * z_2 - z_2**2 * x_2
"""What any shifts spend, at prices that belong to a rate w up to the last use and z_2 from there on."""


@cache
def _least_in_letters() -> Theorem:
    """What any shifts spend, in terms of slope and length."""
    found = at_the_end(q)
    hits = GeometricSum(q**-N, K - 1)
    for old, new in ((hits, LARGEST * FIRST), (first_squares(q), FIRST)):
        equal = cancel(old, new.subs(AT, simultaneous=True), *units(q).nonzero)
        found = rewrite(found, substitute(equal, {whole: N - j0}, remaining()))
    return found


def _least_at(rates: tuple[Expr, Expr], rise: Theorem, case: Theorem) -> Theorem:
    """No shifts spend less than `CyclicShifts`, in one of the two cases; `rise` says that prices do not fall."""
    form = written_out(case)
    least = cancel(_LEAST.subs({w: rates[0], z_2: rates[1]}, simultaneous=True), Pooled(g, D) / x_2, by=[form])
    found = _least_in_letters()
    for price, each in zip((w, z_2), rates, strict=True):  # one by one: comparing a price with the other takes long
        positive = _there(kernel.positive(each))
        found = substitute(found, {price: positive.proposition.right}, positive)  # type: ignore[attr-defined]
    found = cut(found, _there(rise))
    pooled = rewrite(found, _there(least))
    return equal_bound(pooled, least_spent(), some_left(), by=[kernel.unfold(least_spent(), 0, some_left())])


@cache
def cyclic_least() -> Theorem:
    """No shifts that leave nothing spend less than `CyclicShifts`."""
    less, more = assume(AtMost(g, S.One)), assume(AtMost(S.One, g))
    two_edges = _least_at((LARGEST, 1 / x_2), combine(LARGEST / P_t, 1 / x_2, (1 / x_2, less)), less)
    same = combine(CHORD / P_t, CHORD / P_t)
    chord = _least_at((CHORD, CHORD / P_t), same, more)
    return kernel.named(kernel.cases(two_edges, chord), "no shifts spend less")


@cache
def convex_least() -> Theorem:
    """No shifts that leave nothing spend less than (K − 1)/N + 1/(N − j0), if nothing contracts."""
    inverse = substitute(kernel.positive(1 / whole), {whole: N - j0}, remaining())
    rates = {w: 1 / N, z_2: 1 / (N - j0)}
    rise = combine(*rates.values(), (j0 / N, inverse), nonzero=[remaining_positive()])
    found = cut(substitute(at_the_end(S.One), rates, inverse), kernel.loosen(rise))
    return kernel.named(equal_bound(found, (K - 1) / N + 1 / (N - j0), remaining_positive()), "no shifts spend less")


@cache
def convex_steered() -> Theorem:
    """The copy meets the first run for Σa² = (K − 1)/N + 1/(N − j0), if nothing contracts."""
    rate = largest_rate(S.One, K - 1)
    found = cut(substitute(steered(S.One), {a_t: rate}), combine(rate, rate))
    used = spent(S.One).subs(a_t, rate)
    return rewrite(found, cancel(used, (K - 1) / N + 1 / (N - j0), remaining_positive()))


def spent_shown(at: Expr, cost: Expr = STEP_COST) -> tuple[Expr, tuple[tuple[str, Expr], ...]]:
    """cost·Σa² for j = `at`, with g and ℓ under their names, and what these stand for."""
    last = GeometricSum(q**-2, at)
    slope = Dot(q ** Plus(N, -2), Over(Dot(1 + q**N, last), Dot(1 + q ** times(N, K - 1), GeometricSum(q**2, N))))
    length = Dot(q**2, Over(GeometricSum(q**2, times(N, K - 1)), last))
    names = {"g": slope, r"\ell": length}
    shown = Dot(cost, Over(Pooled(*(Named(Str(name), value) for name, value in names.items())), last))
    return shown, (*names.items(), (r"\Psi(g, \ell)", Over(*fraction(Pooled(g, ell).closed()))))


def chord(left: Expr = j) -> tuple[Expr, Expr]:
    """Rise and length of the chord, in units of the last hit and its square; Σa² is rise²/length if pooled."""
    return GeometricSum(q**N, K), q ** (2 - 2 * left) * GeometricSum(q**2, N * (K - 1) + left)


def least_spent() -> Expr:
    """Σa² of the best shifts."""
    return CyclicShifts(q, N, K, N - j0)


@cache
def some_left() -> Theorem:
    """The sum of squared weights from the last use on is not 0."""
    return substitute(kernel.positive(last_squares(q, whole)), {whole: N - j0}, remaining())


@cache
def cyclic() -> Statement:
    """`shift:cyclic`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX, BATCH)
    expr = alpha * rho0 * least_spent()
    shown, where = spent_shown(N - j0)
    return Statement(
        label="shift:cyclic",
        title="Optimal shifts, fixed order",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, by the best shifts; exactly "
        "tight for the first batch.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, expr),
            relations,
            by_contraction(FIXED_ORDER),
            lambda: at_order(units(q).ended(cyclic_steered()), expr),
        ),
        shown=shown,
        printed_with=lambda: [some_left()],
        also=where,
        hypotheses=relations,
    )


@cache
def convex() -> Statement:
    """`shift:convex`."""
    relations = (ORDER, EPOCHS, CONVEX_STEP, BATCH)
    expr = alpha * rho0 * ((K - 1) / N + 1 / (N - j0))

    def prove() -> Theorem:
        found = at_order(units(S.One).ended(convex_steered()), expr, remaining_positive())
        return cut(found, contraction(FIXED_ORDER, Integer(0)))

    return Statement(
        label="shift:convex",
        title="Optimal shifts, convex loss",
        where=WHERE,
        says="ε after K epochs over a fixed sequence of batches, for data in batch j0, by the best shifts, without "
        "strong convexity: the bound of thm:convexsmooth, which no choice of shifts improves.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FIXED_ORDER, Integer(0), K * N), alpha, expr),
            relations,
            losses_assumed(FIXED_ORDER, b, S.Zero),
            prove,
        ),
        shown=Dot(STEP_COST, Plus(Over(K - 1, N), Over(1, N - j0))),
        printed_with=lambda: [remaining_positive()],
        hypotheses=relations,
    )


@cache
def positive_bound() -> Theorem:
    """0 < ε of `shift:cyclic`."""
    value = alpha * rho0 * CyclicShifts(q, N, K, whole)
    return substitute(kernel.positive(value), {whole: N - j0}, remaining())


@cache
def _as_printed() -> Theorem:
    """The mean over batches, as it is printed, is the mean that is computed: term by term."""
    one = assume(AtMost(S.One, i))
    known = positive_from_one(GeometricSum(q**-2, i), i, one)
    meant = undisplay(_mean_shown()) * (alpha - 1)
    value = (alpha - 1) * alpha * rho0 * CyclicShifts(q, N, K, i)
    return kernel.mean(cancel(meant.args[0], value, known, by=[short(rho0), short(sigma2)]), i, N)


def _mean_shown() -> Expr:
    """The mean over batches as it is printed."""
    body, _ = spent_shown(N - j0)
    return Dot(Over(1, alpha - 1), LogAverage(times(alpha - 1, Named(Str(r"\varepsilon_{j_0}"), body)), j0, N))


@cache
def shuffled() -> Statement:
    """`shift:shuffle`."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)
    expr = LogMeanExp((alpha - 1) * alpha * rho0 * CyclicShifts(q, N, K, i), i, N) / (alpha - 1)
    body, where = spent_shown(N - j0)

    def prove() -> Theorem:
        return over_places(cyclic().theorem, cyclic().expr, positive_bound())

    return Statement(
        label="shift:shuffle",
        title="Optimal shifts, shuffled once",
        where=WHERE,
        says="ε after K epochs over batches shuffled once, for any record, by the best shifts for each batch.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(SHUFFLED, Integer(0), K * N), alpha, expr), relations, by_contraction(SHUFFLED), prove
        ),
        shown=_mean_shown(),
        printed_with=lambda: [given(ORDER), _as_printed()],
        also=((r"\varepsilon_{j_0}", body), *where),
        hypotheses=relations,
        uses=("shift:cyclic", "lem:rootconvexity1"),
    )
