"""Secret hits: batches drawn afresh at every step, and nobody is told which of the last steps used the record.

`profile:without_replacement` gives δ as a function of ε, `secret:without_replacement` the Rényi divergence;
`profile:poisson` and `secret:poisson` are for Poisson sampling and a record added or removed. In the last `window` (ν)
steps each step spends a share of its noise on hiding whether it used the record, as composition does, and the rest on
hiding how far a drifted copy of the second run is away (`proof.facts.secret`): the run forgets, and sampling helps. Any
ν and any g give a bound; f_i, about min(1, g·q^(−i)), is the share of the i-th step from the end. With what is left,
the best portions of a distance to drift by are those of a geometric sum: W = Σ_(i<ν) q^(2i)·(1 − f_i), and a distance z
costs μ² = q^(2ν)z²/(vW).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from sympy import Expr, Integer, S, exp

from ..display import Dot, Over, Plus
from ..functions.binomial_tail import BinomialTail
from ..functions.drift_weight import DriftWeight
from ..functions.expected import Expected
from ..functions.interface import BoundFunction
from ..functions.poisson_window_divergence import PoissonWindowDivergence
from ..functions.secret_divergence import SecretDivergence
from ..functions.secret_poisson import SecretPoisson
from ..functions.secret_poisson_divergence import SecretPoissonDivergence
from ..functions.secret_profile import SecretProfile
from ..functions.window_divergence import WindowDivergence
from ..meaning import ONE_DIVISOR
from ..paper.descents import ORDER, STRONGLY_CONVEX
from ..paper.draws import CHANCE, chance_of_a_hit, shares
from ..paper.fixed_order import STEP_SQUARE
from ..paper.mixtures import mixture
from ..proof import kernel
from ..proof.facts.mixtures import divergence_of
from ..proof.facts.profiles import profile_of_mixture
from ..proof.facts.secret import (
    AnyApart,
    Onward,
    Records,
    from_the_start,
    from_the_start_moment,
    never_large,
    one_more_told,
    one_more_told_moment,
    one_more_told_moment_poisson,
    one_more_told_poisson,
    unless_large,
    window_moment,
    window_moment_poisson,
    window_profile,
    window_profile_poisson,
)
from ..proof.kernel import Fact, Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    Apart,
    DeltaAtMost,
    From,
    Less,
    Lipschitz,
    LipschitzUpTo,
    Proposition,
    Renyi,
)
from ..proof.search import claimed, equal_bound, given, induct, short
from ..statement import ON_A_GRID_TEXT, Statement
from ..symbols import (
    T,
    alpha,
    b,
    distance,
    drifted,
    epsilon,
    epsilon_1,
    k,
    n,
    q,
    records,
    rho0,
    s,
    share,
    size,
    state,
    u,
    window,
)
from .secret_steps import (
    ALL_BATCHES,
    DRAWN,
    ENOUGH,
    MOST,
    POISSON,
    REACH,
    SECRET,
    SHARED,
    SMOOTHER,
    Draws,
    most_shown,
    poisson_draws,
    smoother,
    some_weight,
    will_meet,
    without_replacement_draws,
)

Mixture = Callable[[Theorem, Theorem], Theorem]
_AWAY = {drifted: REACH * u, epsilon_1: epsilon, distance: REACH}
_RECORDS = {records: n, size: b}


# --- The whole run --------------------------------------------------------------------------------------------------


def _before(body: Expr, told: Expr, at: Expr) -> Expected:
    """The mean of `body`, a function of the distance in units, after so many told steps from the distance `at`."""
    return Expected(body, state, q * state + 1, q * state, CHANCE, told, at)


def _told(draws: Draws, window_theorem: Theorem, one_more: Fact, mixed: Mixture) -> Theorem:
    """k told steps before the window, from u units away: the mean over their draws of what the window gives."""
    found = window_theorem.proposition
    body = found.value.subs(u, state)

    def claim(told: Expr) -> Proposition:
        pair = Onward(draws.run, REACH * u, told, window, draws.most)
        return replace(found, pair=pair, **{found.value_at: _before(body, told, u)})  # type: ignore[arg-type, call-arg]

    def step(_: Theorem, after_hit: Theorem, after_miss: Theorem) -> Theorem:
        near = cancel(REACH * (q * u + 1), q * REACH * u + REACH), cancel(REACH * (q * u), q * REACH * u)
        hit, miss = (rewrite(each, equal) for each, equal in zip((after_hit, after_miss), near, strict=True))
        signs = (kernel.loosen(kernel.positive(each)) for each in (q, REACH))
        away = kernel.positive(REACH * u)
        both = mixed(hit, miss)
        more = apply(one_more, draws.contracts, draws.apart, *signs, away, draws.independent, both)
        return kernel.weaken(more, kernel.swap(kernel.unfold(_before(body, k, u), 1, _weight())))

    base = kernel.weaken(window_theorem, kernel.swap(kernel.unfold(_before(body, S.Zero, u), 0, _weight())))
    others = {u: q * u + 1}, {u: q * u}
    return kernel.named(induct(k, 0, claim, base, step, others=others), "k told steps before the window")


def _mixed_profiles(first: Theorem, second: Theorem) -> Theorem:
    return apply(profile_of_mixture, *shares(), first, second)


@cache
def _at_window(draws: Draws) -> Theorem:
    return cut(substitute(will_meet(draws), {k: window}), combine(S.One, window, (window - 1,)))


def _in_units(found: Theorem, node: BoundFunction, *wanted: tuple[int, Expr]) -> Theorem:
    """The same with arguments of a function in it written in units, ρ₀ for what it is short for."""
    for place, new in wanted:
        found = rewrite(found, cancel(node.args[place], new, _weight(), by=[short(rho0)]))
    return found


@cache
def _weight() -> Theorem:
    """0 < W."""
    return cut(substitute(some_weight(), {k: window}), combine(S.One, window, (window - 1,)))


DRIFT = 2 * rho0 * q ** (2 * window) / DriftWeight(share, q, window, window)
"""μ² of a distance of one unit."""


def _ended(told: Theorem) -> tuple[Theorem, Theorem]:
    """From no distance, T steps in all; and that there are no fewer."""
    room = combine(S.Zero, T - window, (S.One, given(SECRET)))
    return substitute(substitute(told, {u: Integer(0)}), {k: T - window}, room), room


def _value(node: type[BoundFunction], last: Expr) -> BoundFunction:
    """A function of a run with secret hits; the last argument is ε or an order."""
    return node(CHANCE, 2 * rho0, q, T, window, share, last)


def _all_steps(whole: Theorem) -> Theorem:
    """T − ν told steps and ν secret ones are T steps."""
    pair: From = whole.proposition.pair  # type: ignore[attr-defined]
    return rewrite(whole, cancel(pair.steps, T))


@cache
def drawn_profile() -> Theorem:
    """δ after T steps whose batches are drawn without replacement."""
    draws = without_replacement_draws()
    found = apply(window_profile, _at_window(draws), put=_AWAY)
    found = _in_units(found, found.proposition.value, (1, 2 * rho0), (5, DRIFT * u**2))
    ended, room = _ended(_told(draws, found, one_more_told, _mixed_profiles))
    whole = _all_steps(apply(from_the_start, chance_of_a_hit(), combine(b, b), ended, put=_RECORDS, ranges=[room]))
    value = _value(SecretProfile, epsilon)
    return kernel.weaken(whole, kernel.swap(kernel.unfold(value, 0, _weight())))


def _mean_positive(body: Expr) -> Theorem:
    """0 < the mean over k told steps of what is seen to be positive."""

    def claim(told: Expr) -> Less:
        return Less(S.Zero, _before(body, told, u))

    def step(_: Theorem, after_hit: Theorem, after_miss: Theorem) -> Theorem:
        unfolded = kernel.unfold(_before(body, k, u), 1, _weight())
        terms = (CHANCE, after_hit), (shares()[1], kernel.loosen(after_miss))
        return combine(S.Zero, _before(body, k + 1, u), *terms, by=[unfolded], nonzero=[_weight()])

    at_first = kernel.unfold(_before(body, S.Zero, u), 0, _weight())
    positive = substitute(kernel.positive(exp(s)), {s: body.args[0].subs(state, u)}, _weight())
    base = kernel.chain(positive, kernel.swap(at_first))
    return induct(k, 0, claim, base, step, others=({u: q * u + 1}, {u: q * u}))


def _moments(draws: Draws, start: Fact, one_more: Fact, node: type[BoundFunction]) -> tuple[Theorem, Theorem]:
    """The moment after T − ν told steps and the window, and that it is positive."""
    above = given(ORDER)
    found = apply(start, _at_window(draws), above, put=_AWAY)
    (sampled,) = found.proposition.value.atoms(node)
    found = _in_units(found, sampled, (1, 2 * rho0))
    cost = (alpha - 1) * sampled.func(sampled.args[0], 2 * rho0, *sampled.args[2:])
    body = exp(cost + alpha * (alpha - 1) * DRIFT * u**2 / 2)
    found = equal_bound(found, body, _weight(), by=[short(rho0)])

    def mixed(first: Theorem, second: Theorem) -> Theorem:
        return mixture(CHANCE, first, second, shares(), above)

    return _ended(_told(draws, found, one_more, mixed))[0], _ended(_mean_positive(body.subs(u, state)))[0]


def _divergence(whole: Theorem, positive: Theorem, value: BoundFunction) -> Theorem:
    """R_α from its moment."""
    above = given(ORDER)
    found = apply(divergence_of, _all_steps(whole), above, positive)
    return kernel.weaken(found, kernel.swap(kernel.unfold(value, 0, _weight(), above, positive)))


@cache
def drawn_divergence() -> Theorem:
    """R_α after T steps whose batches are drawn without replacement."""
    ended, positive = _moments(without_replacement_draws(), window_moment, one_more_told_moment, WindowDivergence)
    room = combine(S.Zero, T - window, (S.One, given(SECRET)))
    whole = apply(from_the_start_moment, chance_of_a_hit(), combine(b, b), ended, put=_RECORDS, ranges=[room])
    return _divergence(whole, positive, _value(SecretDivergence, alpha))


@cache
def poisson_profile() -> Theorem:
    """δ after T steps of Poisson sampling."""
    draws = poisson_draws()
    found = apply(window_profile_poisson, _at_window(draws), put=_AWAY)
    found = _in_units(found, found.proposition.value, (1, 2 * rho0), (5, DRIFT * u**2))
    ended, room = _ended(_told(draws, found, one_more_told_poisson, _mixed_profiles))
    most = assume(Records(POISSON, n + 1))
    whole = _all_steps(apply(unless_large, most, shares()[1], ended, ranges=[room]))
    value = _value(SecretPoisson, epsilon)
    large = T * BinomialTail(n + 1, CHANCE, MOST)
    return equal_bound(rewrite(whole, kernel.swap(kernel.unfold(value, 0, _weight()))), value + large)


@cache
def poisson_divergence() -> Theorem:
    """R_α after T steps of Poisson sampling, if no batch can be too large."""
    ended, positive = _moments(
        poisson_draws(), window_moment_poisson, one_more_told_moment_poisson, PoissonWindowDivergence
    )
    room = combine(S.Zero, T - window, (S.One, given(SECRET)))
    most = assume(Records(POISSON, n + 1))
    whole = apply(never_large, most, given(ALL_BATCHES), ended, ranges=[room])
    return _divergence(whole, positive, _value(SecretPoissonDivergence, alpha))


# --- Statements -----------------------------------------------------------------------------------------------------

_WHERE = "not in the paper"
_FREE = "any window and any share give a bound"
_DRAWN_RELATIONS = (*STRONGLY_CONVEX, ENOUGH, SECRET, SHARED)
_DRAWN_ASSUMED = (Lipschitz(DRAWN, q), AnyApart(DRAWN, REACH))
_POISSON_RELATIONS = (*STRONGLY_CONVEX, SMOOTHER, ENOUGH, SECRET, SHARED)
_POISSON_ASSUMED = (LipschitzUpTo(POISSON, q, MOST), Apart(POISSON, REACH), Records(POISSON, n + 1))


def _shown(node: type[BoundFunction], last: Expr) -> BoundFunction:
    """A function of a run with secret hits, as it is printed."""
    return node(Over(b, n), STEP_SQUARE, q, T, window, share, last)


@cache
def without_replacement() -> Statement:
    """`profile:without_replacement`."""
    return Statement(
        label="profile:without_replacement",
        title="Profile by secret hits, batches drawn without replacement",
        where=_WHERE,
        says="δ at ε after T steps whose batches are drawn afresh, the last of which keep secret whether they used the "
        "record; " + _FREE + ".",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(From(DRAWN, Integer(0), T), epsilon, _value(SecretProfile, epsilon)),
            _DRAWN_RELATIONS,
            _DRAWN_ASSUMED,
            drawn_profile,
        ),
        shown=_shown(SecretProfile, epsilon),
        hypotheses=_DRAWN_RELATIONS,
        rtol=ON_A_GRID_TEXT,
    )


@cache
def without_replacement_divergence() -> Statement:
    """`secret:without_replacement`."""
    relations = (ORDER, *_DRAWN_RELATIONS)
    return Statement(
        label="secret:without_replacement",
        title="Secret hits, batches drawn without replacement",
        where=_WHERE,
        says="ε after T steps whose batches are drawn afresh, the last of which keep secret whether they used the "
        "record; " + _FREE + ".",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(DRAWN, Integer(0), T), alpha, _value(SecretDivergence, alpha)),
            relations,
            _DRAWN_ASSUMED,
            drawn_divergence,
        ),
        shown=_shown(SecretDivergence, alpha),
        hypotheses=relations,
        rtol=ON_A_GRID_TEXT,
    )


@cache
def poisson() -> Statement:
    """`profile:poisson`."""
    large = T * BinomialTail(n + 1, CHANCE, MOST)
    return Statement(
        label="profile:poisson",
        title="Profile by secret hits, Poisson sampling",
        where=_WHERE,
        says="δ at ε after T steps of Poisson sampling at rate b/n, a record being added or removed, the last of which "
        "keep secret whether they used the record; "
        + _FREE
        + ". The last term is the chance that some batch is so large that "
        "its update need not contract.",
        bounds=r"\delta(\varepsilon)",
        theorem=claimed(
            DeltaAtMost(From(POISSON, Integer(0), T), epsilon, _value(SecretPoisson, epsilon) + large),
            _POISSON_RELATIONS,
            _POISSON_ASSUMED,
            lambda: kernel.also(poisson_profile(), smoother()),
        ),
        shown=Plus(_shown(SecretPoisson, epsilon), Dot(T, BinomialTail(n + 1, Over(b, n), most_shown()))),
        printed_with=lambda: [smoother()],
        hypotheses=_POISSON_RELATIONS,
        assumes=(ONE_DIVISOR,),
        rtol=ON_A_GRID_TEXT,
    )


@cache
def poisson_divergence_statement() -> Statement:
    """`secret:poisson`."""
    relations = (ORDER, *_POISSON_RELATIONS, ALL_BATCHES)
    return Statement(
        label="secret:poisson",
        title="Secret hits, Poisson sampling",
        where=_WHERE,
        says="ε after T steps of Poisson sampling at rate b/n, a record being added or removed, the last of which "
        "keep secret whether they used the record; " + _FREE + ".",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(POISSON, Integer(0), T), alpha, _value(SecretPoissonDivergence, alpha)),
            relations,
            _POISSON_ASSUMED,
            lambda: kernel.also(poisson_divergence(), smoother()),
        ),
        shown=_shown(SecretPoissonDivergence, alpha),
        hypotheses=relations,
        assumes=(ONE_DIVISOR,),
        rtol=ON_A_GRID_TEXT,
    )
