"""`split:capped`: the paper's sampling recursion with its hit step capped, so that it converges for every order.

A hit is an update whose batch holds the record. If only a share θ of its noise is spent on hiding it, the rest shrinks
what was there before. The best share makes the hit step √u ← q√u + √(ρ₀(1 − q²)), wherever that share is at most 1;
θ = 1 is the paper's u ← u + ρ₀. For smaller u the formula would add less than ρ₀ and is not a bound, so the capped step
is not simply the minimum of the two.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Max, S, exp, log, sqrt
from sympy.core.symbol import Str

from ..display import Dot, Named, Over
from ..functions.capped_hit import CappedHit
from ..functions.capped_moment import CappedMoment
from ..functions.geometric import GeometricSum
from ..paper.descents import EPOCHS, NOISE, ORDER, STRONGLY_CONVEX, below_one, by_contraction, contracts
from ..paper.draws import (
    BATCHES,
    CHANCE,
    DRAWN,
    EXPONENTIAL,
    GIVEN,
    KAPPA,
    Rules,
    any_step_is,
    divergence_over_draws,
    hit,
    jensen,
    kappa_positive,
    last_draw,
    mean_at_most_of,
    mean_positive,
    miss,
    shares,
)
from ..paper.lsi import after_map, after_noise, spread
from ..paper.postprocessing import noise_shrinks
from ..paper.sampling import accumulated, at_next, grown
from ..paper.steps import after_partial_use, first_use
from ..proof import kernel
from ..proof.facts.definitions import noise_adds, update_per_order
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Equal, From, Less, PerOrder, Renyi
from ..proof.search import at_most, claimed, equal_bound, given, induct, left_of, right_of, short, use
from ..statement import Statement
from ..symbols import (
    K,
    N,
    R,
    alpha,
    b,
    bound,
    decay,
    gap,
    i,
    k,
    kappa,
    moment_1,
    moment_2,
    mu,
    mu_1,
    n,
    q,
    r_miss,
    rho0,
    s,
    start,
    state,
    u,
    w1,
    weight,
    x0,
    y,
)

# --- A hit whose noise is split ---------------------------------------------------------------------------------------


def with_share(cost: Expr, at: Expr, share: Expr) -> Expr:
    """What a hit makes of u = at if a share of its noise hides it."""
    return (at + cost / share) * (q**2 + share * (1 - q**2))


@cache
def split_hit() -> Theorem:
    """A step of which a share θ < 1 of the noise hides the record: (u + ρ₀/θ)(q² + θ(1 − q²)) at most."""
    part, below = w1 * NOISE, assume(Less(w1, S.One))
    before = assume(PerOrder(From(GIVEN, Integer(0), i), u))
    hidden = equal_bound(first_use(GIVEN, b, part), rho0 / w1, by=[short(rho0)])
    used = after_partial_use(before, hidden)
    spread_here = after_noise(after_map(substitute(spread(GIVEN, q), {start: Integer(0)}), contracts(GIVEN, q)), part)
    rest = combine(S.Zero, (1 - w1) * NOISE, (below, NOISE))
    V = spread_here.proposition.value
    shrunk = apply(noise_adds, use(noise_shrinks(), used, spread_here, rest, kernel.loosen(kernel.positive(V))))
    whole = rewrite(shrunk, cancel(part + (1 - w1) * NOISE, NOISE))
    stepped = apply(update_per_order, whole)
    slack = (u + rho0 / w1) * q ** (2 * i + 2) / GeometricSum(q**2, i + 1)
    found = at_most(stepped, with_share(rho0, u, w1), (slack, below), nonzero=[below_one()])
    return kernel.named(any_step_is(found, u), "a step whose noise is split")


# --- The best share ---------------------------------------------------------------------------------------------------

_ROOT, _KICK = sqrt(u * Max(0, 1 - q**2)), q * sqrt(x0)
"""√(u(1 − q²)) and q√ρ₀: θ = kick/root is the best share if the kick is the smaller one."""
_OF_ROOT, _OF_KICK = Equal(u, gap**2 / (1 - q**2)), Equal(x0, bound**2 / q**2)


@cache
def _square_below_one() -> Theorem:
    """q² < 1."""
    return combine(q**2, S.One, (below_one(), 1 + q))


@cache
def _roots() -> tuple[Theorem, Theorem, Theorem]:
    """u and ρ₀ by root and kick; the root is not negative."""
    loss = combine(S.Zero, 1 - q**2, (S.One, _square_below_one()))
    plain = kernel.greater(loss)
    positive = chain(loss, kernel.swap(plain))
    written = cancel(u * mu / (1 - q**2), u, _square_below_one(), by=[assume(Equal(mu, 1 - q**2))])
    put = {mu: Max(0, 1 - q**2)}
    root = cut(substitute(written, put, positive), plain)
    return kernel.swap(root), cancel(x0, x0), substitute(kernel.positive(sqrt(u * mu)), put, positive)


def _in_roots(lemma: Theorem, *premises: Theorem) -> Theorem:
    """A lemma about letters for root and kick, of root and kick."""
    put = {gap: _ROOT, bound: _KICK}
    found = substitute(lemma, put, _roots()[2])
    return cut(found, *(each for each in (*_roots(), *premises) if each.proposition in found.hypotheses))


@cache
def _low() -> Theorem:
    """Up to where the best share is 1, a hit adds ρ₀."""
    closed = kernel.unfold(CappedHit(x0, q, u), 0)
    none = kernel.greater(combine(_ROOT - _KICK, S.Zero, (S.One, assume(AtMost(_ROOT, _KICK)))))
    return rewrite(closed, none)


@cache
def _high() -> Theorem:
    """Beyond, u + ρ₀ − (root − kick)²."""
    closed = kernel.unfold(CappedHit(x0, q, u), 0)
    some = kernel.greater(combine(S.Zero, _ROOT - _KICK, (S.One, assume(Less(_KICK, _ROOT)))))
    return rewrite(closed, some)


@cache
def capped_at_most() -> Theorem:
    """The capped step is at most that of any share θ ≤ 1."""
    roots = [assume(_OF_ROOT), assume(_OF_KICK)]
    known, share = [_square_below_one()], assume(AtMost(w1, S.One))
    value = with_share(x0, u, w1)
    below = assume(AtMost(gap, bound))
    terms = (1 / w1, share, below, bound + gap), (1 / w1, share, share, gap**2)
    small = combine(u + x0, value, *terms, nonzero=known, by=roots)
    large = combine(u + x0 - (gap - bound) ** 2, value, (1 / w1, (w1 * gap - bound) ** 2), nonzero=known, by=roots)
    first = chain(_low(), _in_roots(small))
    second = chain(_high(), _in_roots(large))
    return kernel.named(kernel.cases(first, second), "the best share is best")


@cache
def best_share() -> Theorem:
    """Beyond, the capped step is that of the share θ = kick/root."""
    roots = [assume(_OF_ROOT), assume(_OF_KICK)]
    positive = assume(Less(S.Zero, bound)), assume(Less(S.Zero, gap))
    share = with_share(x0, u, bound / gap)
    written = cancel(u + x0 - (gap - bound) ** 2, share, _square_below_one(), *positive, by=roots)
    return chain(_high(), _in_roots(written, kernel.positive(_KICK), _root_positive()))


@cache
def _root_positive() -> Theorem:
    """0 < root, being more than the kick."""
    return chain(kernel.positive(_KICK), assume(Less(_KICK, _ROOT)))


@cache
def _share_in_range() -> tuple[Theorem, Theorem]:
    """0 < kick/root < 1."""
    above, root = assume(Less(bound, gap)), assume(Less(S.Zero, gap))
    inverse = substitute(kernel.positive(1 / mu), {mu: gap}, root)
    most = combine(bound / gap, S.One, (above, inverse), nonzero=[root])
    least = combine(S.Zero, bound / gap, (assume(Less(S.Zero, bound)), inverse), nonzero=[root])
    premises = kernel.positive(_KICK), _root_positive(), assume(Less(_KICK, _ROOT))
    return _in_roots(least, *premises), _in_roots(most, *premises)


@cache
def capped_hit() -> Theorem:
    """A step, whatever its batch: u ↦ the capped step."""
    put = {x0: rho0}
    positive, below = (substitute(each, put) for each in _share_in_range())
    split = cut(substitute(split_hit(), {w1: (_KICK / _ROOT).subs(put)}, positive), below)
    beyond = rewrite(split, kernel.swap(substitute(best_share(), put)))
    up_to = rewrite(hit(), kernel.swap(rewrite(substitute(_low(), put), cancel(u + rho0, rho0 + u))))
    return kernel.named(kernel.cases(up_to, beyond), "a step, capped")


@cache
def rules() -> Rules:
    """The capped step on a hit, u ↦ q²u on a miss."""
    return Rules(capped_hit(), miss())


# --- The mean over draws ----------------------------------------------------------------------------------------------

COST = KAPPA * rho0
"""What a hit adds to log S, up to where it is capped."""
_FACTOR = q**2 + w1 * (1 - q**2)
"""By how much a hit with a share θ shrinks what was there."""
_ADDED = rho0 * (q**2 / w1 + 1 - q**2)
"""What it adds."""
_HIT, _MISS = exp(kappa * CappedHit(rho0, q, state)), exp(kappa * q**2 * state)


def _moment(draws: Expr) -> Expr:
    return CappedMoment(COST, q, CHANCE, draws)


def _mean(draws: Expr) -> Expr:
    return rules().mean(EXPONENTIAL.subs(kappa, KAPPA), draws, S.Zero)


@cache
def _factor_in_range() -> tuple[Theorem, Theorem]:
    """0 < q² + θ(1 − q²) ≤ 1."""
    least = combine(S.Zero, _FACTOR, (q**2,), (w1, _square_below_one()))
    return least, kernel.loosen(combine(_FACTOR, S.One, (assume(AtMost(w1, S.One)), _square_below_one())))


@cache
def _hit_at_most() -> Theorem:
    """The mean of e^(κ·capped step) is at most e^(κ·what a share θ adds) times a power of that of e^(κu) (Jensen)."""
    capped_ = combine(
        kappa * CappedHit(rho0, q, u),
        kappa * with_share(rho0, u, w1),
        (kappa, substitute(capped_at_most(), {x0: rho0})),
    )
    pointwise = kernel.monotone(exp(s), s, capped_)
    least, most = _factor_in_range()
    concave = cut(substitute(jensen(rules(), EXPONENTIAL), {r_miss: _FACTOR}, least), most)
    second = left_of(concave).args[0]
    factor = exp(kappa * _ADDED)
    linear = mean_at_most_of(rules(), _HIT, factor, second, pointwise)
    mean = right_of(concave)
    known = [mean_positive(rules(), EXPONENTIAL)]
    return combine(left_of(linear), factor * mean, (S.One, linear), (factor, concave), nonzero=known)


@cache
def _one_step() -> Theorem:
    """p·X₁ + (1−p)·X₂ ≤ p·e^(s+Ay) + (1−p)·e^(ry), for X₁ ≤ e^s·X^A and X₂ ≤ X^r, X ≤ e^y."""
    below = assume(AtMost(mu_1, exp(y)))
    first = assume(AtMost(moment_1, exp(s) * mu_1**decay))
    second = assume(AtMost(moment_2, mu_1**r_miss))
    least, most = assume(AtMost(S.Zero, weight)), assume(AtMost(weight, S.One))
    powers = [kernel.monotone(mu**each, mu, below) for each in (decay, r_miss)]
    left = weight * moment_1 + (1 - weight) * moment_2
    right = weight * exp(s + decay * y) + (1 - weight) * exp(r_miss * y)
    terms = (least, first), (least, exp(s), powers[0]), (most, second), (most, powers[1])
    return combine(left, right, *terms)


@cache
def with_any_share() -> Theorem:
    """The mean of e^(κu) after k + 1 draws, from that after k being at most e^y: by a share θ ≤ 1."""
    at = {kappa: KAPPA, u: S.Zero}
    here = kappa_positive()
    positive = substitute(mean_positive(rules(), EXPONENTIAL), at, here)
    hit_ = substitute(_hit_at_most(), at, here)
    missed = cut(
        substitute(jensen(rules(), EXPONENTIAL), {**at, r_miss: q**2}, here), kernel.loosen(_square_below_one())
    )
    put = {mu_1: _mean(k), s: KAPPA * _ADDED, decay: _FACTOR, r_miss: q**2, weight: CHANCE}
    put |= {each: left_of(part) for each, part in ((moment_1, hit_), (moment_2, missed))}
    step = cut(substitute(_one_step(), put, positive, _factor_in_range()[0]), hit_, missed, *shares())
    last = substitute(last_draw(rules(), EXPONENTIAL, (S.One, _HIT), (S.One, _MISS)), at, here)
    exponent = cancel(KAPPA * _ADDED + _FACTOR * y, with_share(COST, y, w1))
    return kernel.named(rewrite(chain(last, step), exponent), "one more draw, with any share")


@cache
def not_negative() -> Theorem:
    """0 ≤ s, after any number k of steps of the capped recursion."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(S.Zero, _moment(draws))

    at_least = [
        kernel.monotone(exp(s), s, kernel.loosen(kernel.positive(each))) for each in (CappedHit(x0, q, u), q**2 * u)
    ]
    mixed = CHANCE * exp(CappedHit(x0, q, u)) + (1 - CHANCE) * exp(q**2 * u)
    above = combine(S.One, mixed, (CHANCE, at_least[0]), (shares()[1], at_least[1]))
    grows = kernel.monotone(log(mu), mu, above, combine(S.Zero, mixed, (S.One, above), (S.One,)))

    def step(so_far: Theorem) -> Theorem:
        found = substitute(grows, {x0: COST, u: _moment(k)}, _cost_positive(), so_far)
        return chain(found, kernel.swap(kernel.unfold(_moment(k), 1, _positive())))

    base = chain(combine(S.Zero, S.Zero), kernel.swap(kernel.unfold(_moment(S.Zero), 0)))
    return kernel.named(induct(k, 0, claim, base, step), "s is not negative")


@cache
def _cost_positive() -> Theorem:
    """0 < κρ₀."""
    return combine(S.Zero, COST, (kappa_positive(), rho0))


@cache
def mean_at_most() -> Theorem:
    """The mean of e^(κu) after k draws is at most e^s, as the capped recursion says."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(_mean(draws), exp(_moment(draws)))

    def step(so_far: Theorem) -> Theorem:
        put, ranges = {x0: COST, u: _moment(k)}, (_cost_positive(), not_negative())
        anywhere = cut(substitute(with_any_share(), {y: _moment(k)}), so_far)
        all_noise = cut(substitute(anywhere, {w1: S.One}), combine(S.One, S.One))
        up_to = _written(all_noise, substitute(_low(), put, *ranges))
        least, most = (substitute(each, put, *ranges) for each in _share_in_range())
        best = cut(substitute(anywhere, {w1: left_of(most)}, least), most)
        beyond = _written(best, substitute(best_share(), put, *ranges))
        return kernel.cases(up_to, beyond, not_negative(), given(ORDER))

    none = claim(S.Zero)
    at_first = [kernel.unfold(_mean(S.Zero), 0), kernel.unfold(_moment(S.Zero), 0)]
    base = combine(none.left, none.right, by=at_first)
    return kernel.named(induct(k, 0, claim, base, step), "the capped recursion")


def _written(bound_: Theorem, capped_: Theorem) -> Theorem:
    """A bound by p·e^(capped step) + (1−p)·e^(q²s), as e to the next s."""
    found = rewrite(bound_, kernel.swap(capped_))
    return chain(found, kernel.swap(_as_exponential(right_of(found))))


@cache
def _positive() -> Theorem:
    """0 < p·e^(capped step) + (1−p)·e^(q²s)."""
    generic = combine(S.Zero, CHANCE * exp(s) + (1 - CHANCE) * exp(y), (CHANCE, exp(s)), (shares()[1], exp(y)))
    return substitute(generic, {s: CappedHit(COST, q, _moment(k)), y: q**2 * _moment(k)})


# --- What the views of `CappedMoment` rely on -------------------------------------------------------------------------


@cache
def hit_rises() -> Theorem:
    """The capped step never falls with u: from u to u + R, R ≥ 0."""
    further = {u: u + R}
    bound_ = capped_at_most()
    low = substitute(_low(), further)
    flat = cut(substitute(bound_, {w1: S.One}), combine(S.One, S.One))
    first = chain(flat, combine(u + x0, u + R + x0, (R,)), kernel.swap(low))
    least, most = (substitute(each, further) for each in _share_in_range())
    best = cut(substitute(bound_, {w1: left_of(most)}, least), kernel.loosen(most))
    rises = kernel.monotone(with_share(x0, u, mu), u, combine(u, u + R, (R,)))
    there = substitute(rises, {mu: left_of(most)}, least)
    second = chain(best, there, kernel.swap(substitute(best_share(), further)))
    return kernel.named(cut(kernel.cases(first, second), below_one()), "the capped step rises")


@cache
def hit_slope() -> Theorem:
    """The capped step never rises faster than u: at u + R it is at most that at u, plus R."""
    further = {u: u + R}
    bound_ = substitute(capped_at_most(), further)
    flat = cut(substitute(bound_, {w1: S.One}), combine(S.One, S.One))
    here = CappedHit(x0, q, u)
    first = combine(CappedHit(x0, q, u + R), here + R, (S.One, flat), (S.One, kernel.loosen(kernel.swap(_low()))))
    share = _factor_in_range()
    grown = combine(with_share(x0, u + R, w1), with_share(x0, u, w1) + R, (R, share[1]))
    least, most = _share_in_range()
    any_ = combine(CappedHit(x0, q, u + R), with_share(x0, u, w1) + R, (S.One, bound_), (S.One, grown))
    best = cut(substitute(any_, {w1: left_of(most)}, least), kernel.loosen(most))
    return kernel.named(kernel.cases(first, rewrite(best, kernel.swap(best_share()))), "its slope is at most 1")


TOP = COST * (1 + q) / (1 - q)
"""A hit leads from here to itself: s never climbs beyond, at any order."""


@cache
def bounded() -> Theorem:
    """s ≤ κρ₀(1 + q)/(1 − q), after any number k of steps of the capped recursion."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(_moment(draws), TOP)

    share = q / (1 + q)
    at_share = cut(substitute(capped_at_most(), {w1: share}), combine(share, S.One, (1 / (1 + q),)))
    top = x0 * (1 + q) / (1 - q)
    below = assume(AtMost(u, top))
    hit_ = chain(at_share, combine(with_share(x0, u, share), top, (q, below), nonzero=[below_one()]))
    missed = combine(q**2 * u, top, (S.One, below), (u, _square_below_one()), nonzero=[below_one()])
    mixed = CHANCE * exp(CappedHit(x0, q, u)) + (1 - CHANCE) * exp(q**2 * u)
    powers = [kernel.monotone(exp(s), s, each) for each in (hit_, missed)]
    most = combine(mixed, exp(top), (CHANCE, powers[0]), (shares()[1], powers[1]), nonzero=[below_one()])
    grows = kernel.monotone(log(mu), mu, assume(AtMost(mu_1, exp(y))))

    def step(so_far: Theorem) -> Theorem:
        put = {x0: COST, u: _moment(k)}
        here = cut(substitute(most, put, _cost_positive(), not_negative()), so_far)
        inside = left_of(here)
        found = cut(substitute(grows, {mu_1: inside, y: TOP}, _positive(), below_one()), here)
        return chain(kernel.unfold(_moment(k), 1, _positive()), found)

    inverse = substitute(kernel.positive(1 / mu), {mu: 1 - q}, combine(S.Zero, 1 - q, (S.One, below_one())))
    least = combine(S.Zero, TOP, (_cost_positive(), 1 + q, inverse), nonzero=[below_one()])
    base = chain(kernel.unfold(_moment(S.Zero), 0), kernel.loosen(least))
    return kernel.named(induct(k, 0, claim, base, step), "bounded at every order")


@cache
def at_most_paper() -> Theorem:
    """Never above thm:amp_samp_wo_replacement: e^s ≤ S after any number k of steps."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(exp(_moment(draws)), exp(accumulated(draws)))

    flat = cut(substitute(capped_at_most(), {w1: S.One}), combine(S.One, S.One))
    powered = kernel.monotone(exp(s), s, flat)
    mixed = CHANCE * exp(CappedHit(x0, q, u)) + (1 - CHANCE) * exp(q**2 * u)
    sums = combine(mixed, CHANCE * exp(x0 + u) + (1 - CHANCE) * exp(q**2 * u), (CHANCE, powered))

    def step(so_far: Theorem) -> Theorem:
        put = {x0: COST, u: _moment(k)}
        here = substitute(sums, put, _cost_positive(), not_negative())
        return chain(_as_exponential(left_of(here)), here, grown(_moment(k), accumulated(k), so_far), at_next())

    at_first = [kernel.unfold(_moment(S.Zero), 0), kernel.unfold(accumulated(S.Zero), 0)]
    base = combine(exp(_moment(S.Zero)), exp(accumulated(S.Zero)), by=at_first)
    return kernel.named(induct(k, 0, claim, base, step), "never above the paper's recursion")


def _as_exponential(inside: Expr) -> Theorem:
    """e to the next s is p·e^(capped step) + (1−p)·e^(q²s)."""
    following = kernel.unfold(_moment(k), 1, _positive())
    generic = cancel(exp(y), mu, by=[assume(Equal(y, log(mu)))])
    put = {mu: inside, y: left_of(following)}
    return cut(substitute(generic, put, _positive()), following)


@cache
def capped() -> Statement:
    """`split:capped`."""
    relations = (ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX)
    expr = _moment(K * N) / (alpha - 1)
    step = Named(Str(r"\log\left(\frac{b}{n} e^{g(s_t)} + (1-\frac{b}{n}) e^{(1-\eta\lambda)^2 s_t}\right)"), u)
    hit_shown = Named(
        Str(
            r"s + \kappa\rho_0 \text{ for } s(1-(1-\eta\lambda)^2) \leq (1-\eta\lambda)^2\kappa\rho_0, \text{ else }"
            r" \left((1-\eta\lambda)\sqrt{s} + \sqrt{\kappa\rho_0(1-(1-\eta\lambda)^2)}\right)^2"
        ),
        u,
    )
    return Statement(
        label="split:capped",
        title="Sampling without replacement, capped",
        where="not in the paper; Theorem 4.3 with the noise of a hit split in the best way",
        says="ε after K epochs of n/b batches, each drawn afresh: never above Theorem 4.3, bounded for every order.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(DRAWN, Integer(0), K * N), alpha, expr),
            relations,
            by_contraction(DRAWN),
            lambda: divergence_over_draws(rules(), mean_at_most()),
        ),
        shown=Dot(Over(1, alpha - 1), Named(Str(r"s_{Kn/b}"), expr * (alpha - 1))),
        printed_with=lambda: [given(ORDER)],
        also=(("s_0", Integer(0)), ("s_{t+1}", step), ("g(s)", hit_shown), (r"\kappa", Dot(alpha, alpha - 1))),
        hypotheses=relations,
        uses=("lem:recursive", "lem:LSIseq_stronglyconvex", "lem:rootconvexity1"),
        assumes=(BATCHES,),
    )
