"""`control:without_replacement` and `control:reshuffle`: shifts chosen step by step, before later hits are known.

A hit is an update whose batch holds the record; a shift is the part of a drifted copy's distance that the noise of a
step is made to hide. Given the batches so far any shifts will do (`shift:pattern`), so a rule that looks at past hits
only gives a bound for all sequences at once; joint convexity (`lem:rootconvexity1`), one draw at a time, averages
e^((α−1)ε) over them. The best rule solves a dynamic programme, whose value is the statement;
`functions.shift_programme` brackets it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from sympy import Expr, Integer, S, exp, log
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus
from ..functions.log_mix import LogMix
from ..functions.shift_control import Kept, ShiftControl, ShiftValue
from ..paper.descents import EPOCHS, NOISE, ORDER, STRONGLY_CONVEX, by_contraction, descent
from ..paper.draws import BATCHES, CHANCE, KAPPA, chance_of_a_hit, shares
from ..paper.mixtures import chance_of_a_place, inside, mixture
from ..proof import kernel
from ..proof.facts.control import (
    Controlled,
    all_hidden,
    chosen_shift,
    controlled,
    drawn_again,
    drawn_run,
    drawn_step,
    in_control,
    kept_at_most,
    leads,
    leads_without,
    shuffled_again,
    shuffled_run,
    shuffled_step,
    shuffled_step_used,
)
from ..proof.facts.drift import Close, Drift
from ..proof.facts.mixtures import RANDOM, apart_in_outcome, divergence_in_exponent, drawn_may_be, maps_of_outcome
from ..proof.kernel import Fact, Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import (
    Apart,
    AsDrawn,
    Descent,
    DrawnAfresh,
    Equal,
    From,
    Lipschitz,
    Proposition,
    Renyi,
    ShuffledEachEpoch,
    Unused,
)
from ..proof.search import claimed, given, induct, short
from ..statement import Statement
from ..symbols import (
    K,
    N,
    S_g,
    along,
    alpha,
    b,
    cost_1,
    count,
    distance,
    drifted,
    epoch,
    epsilon_1,
    eta,
    factor,
    further,
    i,
    j,
    k,
    n,
    q,
    rate,
    records,
    rho0,
    s,
    size,
    split,
    start,
    u,
    weight,
    x_2,
    x_i,
    y,
    z,
)
from .drifts import Units

CONTROL_RTOL = "1/20"
"""The relative width of an enclosure if none is asked for; the grid usually does much better, about 1e-3."""
_COST = KAPPA * rho0
State = tuple[Expr, Expr, Expr]
"""How many whole passes follow this one, how many of its batches are left, and whether it has not used the record."""


@cache
def _mixed() -> Theorem:
    """w·e^(s+x) + (1−w)·e^(s+y) = e^(s + log(w·e^x + (1−w)·e^y))."""
    left = weight * exp(s + x_i) + (1 - weight) * exp(s + y)
    positive = substitute(inside(exp(x_i), exp(y)), {along: weight})
    return cancel(left, exp(s + LogMix(weight, x_i, y)), positive)


@cache
def _renamed() -> Theorem:
    """e^(s+x) = e^(s+y), for y = x."""
    return cancel(exp(s + x_i), exp(s + y), by=[assume(Equal(y, x_i))])


@dataclass(frozen=True)
class Control:
    """A way to draw batches, `batches` of them in a pass, and the rules that say so."""

    run: Descent
    batches: Expr

    @property
    def unit(self) -> Expr:
        return eta * S_g / b

    @property
    def given(self) -> Units:
        """The run with the batches given."""
        return Units(Descent(AsDrawn(self.run.batches), NOISE), b, q, rho0)

    def assumed_of_all(self, theorem: Theorem) -> Theorem:
        """A theorem about given batches, with its assumptions made of batches as they are drawn."""
        outcome = apply(drawn_may_be, put={RANDOM: self.run.batches})
        lipschitz = apply(maps_of_outcome, outcome, assume(Lipschitz(self.run, q)))
        apart = apply(apart_in_outcome, outcome, assume(Apart(self.run, self.unit)))
        return cut(theorem, *(each for each in (lipschitz, apart) if each.proposition in theorem.hypotheses))

    def value(self, *state: Expr) -> ShiftValue:
        """W in this state, at a distance."""
        return ShiftValue(_COST, q, CHANCE, self.batches, *state)

    def claim(self, *state: Expr) -> Controlled:
        return Controlled(self.run, alpha, self.unit, rho0, q, CHANCE, self.batches, *state)

    def maps(self, *, hit: bool) -> Theorem:
        """What the maps of a step do to a distance: z ↦ qz + 1 with the record, z ↦ qz without it."""
        here, before = self.given, assume(Drift(self.given.run, i, self.unit * z, cost_1))
        if hit:
            found = self.assumed_of_all(here.used(before))
            away = self.unit * (q * z + 1)
            found = rewrite(found, cancel(found.proposition.distance, away))  # type: ignore[attr-defined]
            return apply(leads, found, put={drifted: self.unit * z})
        unused = assume(Unused(here.run.batches, i))
        return apply(leads_without, self.assumed_of_all(here.unused(before, unused)), put={drifted: self.unit * z})

    def closing(self, state: State, away: Expr, later: Theorem | None) -> Theorem:
        """The moment after the maps of a step, which left the copy so far away, by the best shift.

        `later` says that W bounds the log-moment in the state after the step; None: nothing is to come.
        """
        here, after = self.given, self.value(*state, z)
        maps = assume(Close(here.run, i, self.unit * away, 2 * rho0 * u))
        kept: Expr = S.Zero if later is None else Kept(*after.args[:-1], away)
        spent = u + (away - kept) ** 2
        at_most = kernel.positive(away)
        if later is None:
            shift, left = at_most, combine(S.Zero, S.Zero)
            met = here.ended(assume(here.state(i, S.Zero, spent)))
            moment = apply(all_hidden, met, given(ORDER), put={start: state[2], cost_1: 2 * rho0 * spent})
            known = [
                kernel.unfold(Kept(*after.args[:-1], away), 0),
                kernel.unfold(after, 1),
            ]
        else:
            names = dict(zip((cost_1, factor, rate, count, epoch, further, start), after.args[:-1], strict=True))
            below = apply(kept_at_most, kernel.loosen(at_most), put=names | {drifted: away})
            shift, left = combine(S.Zero, away - kept, (S.One, below)), kernel.positive(kept)
            moment = apply(in_control, later, put={z: kept, u: spent})
            known = []
        hidden = here.hiding(maps, shift, here.state(i + 1, kept, spent), left)
        found = apply(chosen_shift, hidden, moment, put={drifted: self.unit * away, cost_1: 2 * rho0 * u})
        value = exp(_COST * u + after.after(away))
        return kernel.weaken(found, cancel(found.proposition.value, value, by=known))

    def in_control(self, found: Theorem, unfolded: Theorem) -> Theorem:
        """W bounds the log-moment in a state, from what was found for any z and u; `unfolded` says what W is there."""
        meaning = unfolded.proposition
        put = {s: _COST * u, y: meaning.left, x_i: meaning.right}  # type: ignore[attr-defined]
        there = kernel.weaken(found, cut(substitute(_renamed(), put, unfolded), unfolded))
        put = {distance: self.unit, cost_1: rho0, factor: q, rate: CHANCE, count: self.batches}
        return apply(controlled, there, put=put)

    def drawn(self, epochs: Expr, left: Expr, later: Sequence[Theorem | None], chances: Sequence[Theorem]) -> Theorem:
        """The moment over one more draw, a hit or a miss; `later` says what follows each."""
        after_hit = self.closing((epochs, left, Integer(0)), q * z + 1, later[0])
        after_miss = self.closing((epochs, left, Integer(1)), q * z, later[1])
        chance = self.value(epochs, left + 1, Integer(1), z).chance
        found = mixture(chance, after_hit, after_miss, chances, given(ORDER))
        ends = [each.proposition.value.args[0] - _COST * u for each in (after_hit, after_miss)]
        written = substitute(_mixed(), {weight: chance, s: _COST * u, x_i: ends[0], y: ends[1]}, found)
        return kernel.weaken(found, cut(written, *chances))


AFRESH = Control(descent(DrawnAfresh(CHANCE)), Integer(1))
ANEW = Control(descent(ShuffledEachEpoch(N, CHANCE)), N)


# --- Drawn afresh at every step -------------------------------------------------------------------------------------


def _drawn_step(epochs: Expr, *later: Theorem | None) -> Theorem:
    """W bounds the log-moment, with so many draws after the next; `later`: it does after a hit and after a miss."""
    mixed = AFRESH.drawn(epochs, Integer(0), later, shares())
    found = apply(drawn_step, AFRESH.maps(hit=True), AFRESH.maps(hit=False), mixed)
    return AFRESH.in_control(found, kernel.unfold(AFRESH.value(epochs, Integer(0), Integer(1), z), 2))


def _next_pass(control: Control, again: Fact, before: Theorem, fresh: Expr) -> Theorem:
    """W bounds the log-moment at the end of a pass, if it does at the start of the next."""
    state = before.proposition.epochs, Integer(0), fresh  # type: ignore[attr-defined]
    found = apply(again, apply(in_control, before, put={z: z, u: u}), put={start: fresh})
    return control.in_control(found, kernel.unfold(control.value(*state, z), 0))


def _from_the_start(control: Control, run: Fact, chance: Theorem, whole: Theorem) -> Theorem:
    """The moment after k + 1 passes from the start; `whole` says that W bounds the log-moment there."""
    found = apply(in_control, whole, put={z: S.Zero, u: S.Zero})
    found = apply(run, chance, found, put={records: n, size: b})
    least = ShiftControl(_COST, q, CHANCE, control.batches, k)
    return rewrite(found, kernel.swap(kernel.unfold(least, 0)))


def _divergence(moment: Theorem) -> Theorem:
    """R_α, from a moment that is written as an exponential."""
    value = moment.proposition.value.args[0]
    return apply(divergence_in_exponent, moment, given(ORDER), put={epsilon_1: value / (alpha - 1)})


@cache
def drawn_moment() -> Theorem:
    """The moment after k + 1 draws."""

    def claim(epochs: Expr) -> Proposition:
        return AFRESH.claim(epochs, Integer(1), Integer(1))

    def step(so_far: Theorem) -> Theorem:
        after_hit, after_miss = (_next_pass(AFRESH, drawn_again, so_far, Integer(each)) for each in (0, 1))
        return _drawn_step(k + 1, after_hit, after_miss)

    every = kernel.named(induct(k, 0, claim, _drawn_step(Integer(0), None, None), step), "any number of draws")
    return _from_the_start(AFRESH, drawn_run, chance_of_a_hit(), every)


# --- A new permutation for every pass -------------------------------------------------------------------------------


@cache
def places() -> Theorem:
    """N·b ≤ n."""
    return combine(N * b, n, (b, kernel.chain(short(N), kernel.floor_at_most(n / b))))


def room(left: Expr) -> Theorem:
    """0 < 1 − (N − left − 1)b/n: some records are left, with left + 1 batches to come."""
    return combine(S.Zero, 1 - (N - left - 1) * CHANCE, (1 / n, places()), (CHANCE, left + 1))


def chances(left: Expr) -> tuple[Theorem, Theorem]:
    """0 < b/(n − (N − left − 1)b) ≤ 1: the chance of a hit with left + 1 batches to come, if there was none before."""
    taken, some_left = 1 - (N - left - 1) * CHANCE, room(left)
    inverse, chance = (substitute(kernel.positive(each), {x_2: taken}, some_left) for each in (1 / x_2, CHANCE / x_2))
    terms = (inverse, 1 / n, places()), (inverse, CHANCE * left)
    most = combine(CHANCE / taken, S.One, *terms, nonzero=[some_left])
    return chance, kernel.loosen(most)


def _used_step(epochs: Expr, left: Expr, later: Theorem | None) -> Theorem:
    """W bounds the log-moment in a pass that has used the record, with left + 1 batches to come."""
    after = ANEW.closing((epochs, left, Integer(0)), q * z, later)
    found = apply(shuffled_step_used, ANEW.maps(hit=False), after)
    return ANEW.in_control(found, kernel.unfold(ANEW.value(epochs, left, Integer(0), z), 3))


def _fresh_step(epochs: Expr, left: Expr, *later: Theorem | None) -> Theorem:
    """W bounds the log-moment in a pass that has not; `later`: it does after a hit and after a miss."""
    mixed = ANEW.drawn(epochs, left, later, chances(left))
    found = apply(shuffled_step, ANEW.maps(hit=True), ANEW.maps(hit=False), mixed)
    return ANEW.in_control(found, kernel.unfold(ANEW.value(epochs, left, Integer(1), z), 2, room(left)))


@cache
def _steps() -> tuple[Theorem, Theorem]:
    """Both, for j batches and `split` passes after the step, from what holds there."""
    used, fresh = (assume(ANEW.claim(split, j, Integer(each))) for each in (0, 1))
    return _used_step(split, j, used), _fresh_step(split, j, used, fresh)


def _used_before(epochs: Expr, left: Expr, used: Theorem | None) -> Theorem:
    """The first of them, there or at the end of all."""
    if used is None:
        return _used_step(epochs, left, None)
    return cut(substitute(_steps()[0], {split: epochs, j: left}), used)


def _fresh_before(epochs: Expr, left: Expr, used: Theorem | None, fresh: Theorem | None) -> Theorem:
    """The second."""
    if used is None or fresh is None:
        return _fresh_step(epochs, left, None, None)
    return cut(substitute(_steps()[1], {split: epochs, j: left}), used, fresh)


def _pass(epochs: Expr, used: Theorem | None, fresh: Theorem | None) -> Theorem:
    """W bounds the log-moment at the start of a pass; `used`, `fresh`: it does at its end (None: nothing follows)."""
    every_used = induct(
        j,
        1,
        lambda left: ANEW.claim(epochs, left, Integer(0)),
        _used_before(epochs, Integer(0), used),
        lambda so_far: _used_before(epochs, j, so_far),
    )
    every_fresh = induct(
        j,
        1,
        lambda left: ANEW.claim(epochs, left, Integer(1)),
        _fresh_before(epochs, Integer(0), used, fresh),
        lambda so_far: _fresh_before(epochs, j, every_used, so_far),
    )
    return cut(substitute(every_fresh, {j: N}), combine(S.One, N, (N - 1,)))


@cache
def shuffled_moment() -> Theorem:
    """The moment after k + 1 passes, each in a fresh order."""

    def claim(epochs: Expr) -> Proposition:
        return ANEW.claim(epochs, N, Integer(1))

    def step(so_far: Theorem) -> Theorem:
        used, fresh = (_next_pass(ANEW, shuffled_again, so_far, Integer(each)) for each in (0, 1))
        return _pass(k + 1, used, fresh)

    every = kernel.named(induct(k, 0, claim, _pass(Integer(0), None, None), step), "any number of passes")
    return _from_the_start(ANEW, shuffled_run, chance_of_a_place(), every)


# --- The statements -------------------------------------------------------------------------------------------------


def _statement(
    control: Control,
    passes: Expr,
    moment: Callable[[], Theorem],
    chance: Expr,
    state: str,
    *,
    label: str,
    title: str,
    says: str,
) -> Statement:
    relations = (ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX)
    expr = ShiftControl(_COST, q, b / n, control.batches, passes) / (alpha - 1)

    def prove() -> Theorem:
        found = substitute(moment(), {k: passes - 1})
        return _divergence(kernel.also(found, short(q)))

    def name(text: str) -> Expr:
        return Named(Str(text), u)

    later, missed = name(rf"E_t{state}((1-\eta\lambda)z + 1)"), name(r"E_t((1-\eta\lambda)z)")
    mixed = Plus(Dot(chance, exp(later)), Dot(Plus(1, -chance), exp(missed)))
    away = name(r"\min_{0\leq z'\leq y} \alpha(\alpha-1)\rho_0 (y-z')^2 + W_{t+1}(z')")
    return Statement(
        label=label,
        title=title,
        says=says,
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(control.run, Integer(0), K * N), alpha, expr), relations, by_contraction(control.run), prove
        ),
        shown=Dot(Over(1, alpha - 1), Named(Str(r"W_0(0)"), expr * (alpha - 1))),
        printed_with=lambda: [given(ORDER)],
        also=(("W_t(z)", log(mixed)), ("E_t(y)", away)),
        hypotheses=relations,
        uses=("shift:pattern", "lem:rootconvexity1"),
        assumes=(BATCHES,),
        where="not in the paper",
        rtol=CONTROL_RTOL,
    )


@cache
def without_replacement() -> Statement:
    """`control:without_replacement`."""
    return _statement(
        AFRESH,
        K * N,
        drawn_moment,
        Over(b, n),
        "",
        label="control:without_replacement",
        title="Sampling without replacement, controlled shifts",
        says="ε after K epochs of n/b batches, each drawn afresh: the best shifts that look at past hits only.",
    )


@cache
def reshuffle() -> Statement:
    """`control:reshuffle`."""
    return _statement(
        ANEW,
        K,
        shuffled_moment,
        Over(b, n - i * b),
        "'",
        label="control:reshuffle",
        title="A new permutation every epoch, controlled shifts",
        says="ε after K epochs, each in a fresh order: the best shifts that look at past hits only (E': already used).",
    )
