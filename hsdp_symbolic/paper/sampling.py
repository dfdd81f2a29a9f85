"""Batches drawn afresh without replacement: `thm:amp_samp_wo_replacement`, by the repaired argument.

The paper applies lem:recursive at one order throughout, which that lemma does not allow. Carrying a bound for all
orders at once, R_a ≤ a·u_B for each batch sequence B, repairs it: the S of the theorem is then an upper bound on the
expectation of e^(α(α−1)u_B).
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integer, S, exp, log
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus, times
from ..functions.accumulated import Accumulated
from ..functions.log_mix import LogMix
from ..proof import kernel
from ..proof.kernel import Theorem, assume, cancel, chain, combine, cut, substitute
from ..proof.propositions import AtMost, Equal, From, Renyi
from ..proof.search import claimed, given, induct, left_of, right_of, short
from ..statement import Statement
from ..symbols import (
    A_hit,
    K,
    N,
    S_exp,
    S_g,
    alpha,
    b,
    decay,
    eta,
    g_i,
    k,
    kappa,
    lam,
    moment_2,
    mu,
    mu_1,
    n,
    nu,
    q,
    r_miss,
    rate,
    rho0,
    s,
    s_log,
    sigma,
    u,
    weight,
    x_i,
    y,
)
from .descents import EPOCHS, ORDER, STRONGLY_CONVEX, below_one, by_contraction
from .draws import (
    CHANCE,
    DRAWN,
    EXPONENTIAL,
    KAPPA,
    by_log_sobolev,
    divergence_over_draws,
    jensen,
    kappa_positive,
    last_draw,
    mean_positive,
    shares,
)

COST = KAPPA * rho0
"""What a hit adds to log S."""
_LOSS = eta * lam * (1 + q)
"""1 − q²."""
_WEIGHT = -rate / (1 - rate)


def _increment(chance: Expr, at: Expr) -> Expr:
    """log S after one more batch, less log S = at: log(p·e^(κρ₀) + (1−p)·e^(−(1−q²)s))."""
    return LogMix(chance, COST, -_LOSS * at)


def _ceiling(chance: Expr) -> Expr:
    """Where log S stands still: log((1−p)/(1−p·e^(κρ₀)))/(1−q²)."""
    return -LogMix(_WEIGHT.subs(rate, chance), COST, Integer(0)) / _LOSS


def accumulated(steps: Expr) -> Expr:
    """log S after so many batches."""
    room = -log(rate) - COST  # > 0 exactly if p·e^(κρ₀) < 1
    gain = _LOSS * (1 - rate * exp(COST))
    parts = [part.subs(rate, CHANCE) for part in (_increment(rate, s_log), room, _ceiling(rate), gain)]
    return Accumulated(parts[0], s_log, steps, *parts[1:])


@cache
def _one_step() -> Theorem:
    """p·e^s·X + (1−p)·X' ≤ p·e^(s+y) + (1−p)·e^(ry), for X ≤ e^y and X' ≤ X^r: the recursion never falls with S."""
    below, small = assume(AtMost(mu_1, exp(y))), assume(AtMost(moment_2, mu_1**r_miss))
    power = kernel.monotone(mu**r_miss, mu, below)
    most = assume(AtMost(weight, S.One))
    first = (assume(AtMost(S.Zero, weight)), exp(s), below)
    left, right = weight * exp(s) * mu_1 + (1 - weight) * moment_2, weight * exp(s + y) + (1 - weight) * exp(r_miss * y)
    return combine(left, right, first, (most, small), (most, power))


@cache
def after_last_draw() -> Theorem:
    """The mean of e^(κu) after one more batch, by whether that holds the record; κ is any number > 0."""
    shrunk = EXPONENTIAL.subs(kappa, q**2 * kappa)
    return last_draw(by_log_sobolev(), EXPONENTIAL, (exp(kappa * rho0), EXPONENTIAL), (S.One, shrunk))


def _mean(draws: Expr) -> Expr:
    """The mean of e^(κu) after so many batches."""
    return by_log_sobolev().mean(EXPONENTIAL.subs(kappa, KAPPA), draws, S.Zero)


@cache
def _square_below_one() -> Theorem:
    """q² ≤ 1."""
    return kernel.loosen(combine(q**2, S.One, (below_one(), 1 + q)))


def bounded_by(bound: Expr, so_far: Theorem, at_next: Theorem) -> Theorem:
    """The mean after k + 1 batches is at most e^next, from that after k of them: at most e^bound (`so_far`).

    `at_next` says what p·e^(κρ₀+bound) + (1−p)·e^(q²·bound) is at most.
    """
    at = {kappa: KAPPA, u: S.Zero}
    rules = by_log_sobolev()
    positive = substitute(mean_positive(rules, EXPONENTIAL), at, kappa_positive())
    concave = cut(substitute(jensen(rules, EXPONENTIAL), {**at, r_miss: q**2}, kappa_positive()), _square_below_one())
    put = {mu_1: _mean(k), moment_2: left_of(concave), y: bound, r_miss: q**2, s: COST, weight: CHANCE}
    step = cut(substitute(_one_step(), put, positive, at_next), *shares(), concave, so_far)
    return chain(_in_that_order(substitute(after_last_draw(), at, kappa_positive()), step), step, at_next)


def _in_that_order(equality: Theorem, step: Theorem) -> Theorem:
    """The equality, its right side written as the left side of the step."""
    wanted = left_of(step)
    found = right_of(equality)
    return equality if found == wanted else chain(equality, cancel(found, wanted))


@cache
def _written() -> Theorem:
    """p·e^(κρ₀+y) + (1−p)·e^(q²y) = e^g, for g = y + log(p·e^(κρ₀) + (1−p)·e^(−(1−q²)y))."""
    meaning = assume(Equal(g_i, y + _increment(CHANCE, y)))
    value = CHANCE * exp(COST + y) + (1 - CHANCE) * exp(q**2 * y)
    grows = exp(COST), exp(-_LOSS * y)
    positive = combine(S.Zero, CHANCE * grows[0] + (1 - CHANCE) * grows[1], (CHANCE, grows[0]), (shares()[1], grows[1]))
    return cancel(value, exp(g_i), positive, by=[meaning, short(q)])


@cache
def at_next() -> Theorem:
    """p·e^(κρ₀+s) + (1−p)·e^(q²s) is e to the next s of the recursion."""
    put = {y: accumulated(k), g_i: accumulated(k + 1)}
    return cut(substitute(_written(), put), kernel.unfold(accumulated(k), 1))


def grown(smaller: Expr, larger: Expr, below: Theorem, *nonzero: Theorem) -> Theorem:
    """p·e^(κρ₀+s) + (1−p)·e^(q²s) never falls with s; `below` says that one e^s is at most the other.

    `nonzero` says that neither divides by 0.
    """
    put = {mu_1: exp(x_i), moment_2: exp(q**2 * x_i), s: COST, weight: CHANCE, r_miss: q**2}
    found = cut(substitute(_one_step(), put), combine(exp(q**2 * x_i), exp(q**2 * x_i)), *shares())
    left = CHANCE * exp(COST + x_i) + (1 - CHANCE) * exp(q**2 * x_i)
    step = chain(cancel(left, left_of(found)), found)
    return cut(substitute(step, {x_i: smaller, y: larger}, *nonzero), below)


@cache
def mean_at_most() -> Theorem:
    """The mean of e^(κu) after k batches is at most S, as the recursion says."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(_mean(draws), exp(accumulated(draws)))

    def step(so_far: Theorem) -> Theorem:
        return bounded_by(accumulated(k), so_far, at_next())

    at_first = [kernel.unfold(_mean(S.Zero), 0), kernel.unfold(accumulated(k), 0)]
    base = combine(_mean(S.Zero), exp(accumulated(S.Zero)), by=at_first)
    return kernel.named(induct(k, 0, claim, base, step), "the recursion for S")


# --- What the views of `Accumulated` rely on ------------------------------------------------------------------------


def _slope_of() -> tuple[Expr, Expr]:
    """The increment, with A = p·e^(κρ₀) and 1 − q² as a letter each, and what it is the logarithm of."""
    inside = A_hit + (1 - rate) * exp(-decay * s_log)
    return log(inside), inside


@cache
def increment_falls() -> Theorem:
    """The increment log(A + (1−p)·e^(−(1−q²)s)) never rises with s."""
    increment, inside = _slope_of()
    share, (positive, inverse) = assume(AtMost(rate, S.One)), _inside(inside)
    slope = kernel.work_out(Derivative(increment, s_log), positive)
    terms = decay * exp(-decay * s_log), share, inverse
    falls = combine(right_of(slope), S.Zero, terms, nonzero=[positive])
    return kernel.named(chain(slope, falls), "the increment falls")


def _inside(inside: Expr) -> tuple[Theorem, Theorem]:
    """What the increment is the logarithm of is positive, and so is 1 over it."""
    share = assume(AtMost(rate, S.One))
    positive = combine(S.Zero, inside, (A_hit,), (share, exp(-decay * s_log)))
    return positive, substitute(kernel.positive(1 / mu), {mu: inside}, positive)


@cache
def map_rises() -> Theorem:
    """s + increment never falls with s, 1 − q² being at most 1."""
    increment, inside = _slope_of()
    share, part = assume(AtMost(rate, S.One)), assume(AtMost(decay, S.One))
    positive, inverse = _inside(inside)
    slope = kernel.work_out(Derivative(s_log + increment, s_log), positive)
    terms = (A_hit, inverse), (share, part, exp(-decay * s_log), inverse)
    rises = combine(S.Zero, right_of(slope), *terms, nonzero=[positive])
    return kernel.named(chain(rises, kernel.swap(slope)), "the map rises")


@cache
def map_convex() -> Theorem:
    """s + increment is convex in s."""
    increment, inside = _slope_of()
    share, (positive, inverse) = assume(AtMost(rate, S.One)), _inside(inside)
    second = kernel.work_out(Derivative(s_log + increment, (s_log, 2)), positive)
    terms = decay**2 * A_hit * exp(-decay * s_log), share, inverse, inverse
    convex = combine(S.Zero, right_of(second), terms, nonzero=[positive])
    return kernel.named(chain(convex, kernel.swap(second)), "the map is convex")


@cache
def slope_at_rest() -> Theorem:
    """Where the increment is 0, the slope of s + increment is 1 − (1 − q²)(1 − A)."""
    increment, inside = _slope_of()
    slope = kernel.work_out(Derivative(s_log + increment, s_log), _inside(inside)[0])
    rest = assume(Equal(A_hit, 1 - (1 - rate) * exp(-decay * s_log)))
    value = 1 - decay * (1 - A_hit)
    return kernel.named(chain(slope, cancel(right_of(slope), value, by=[rest])), "the slope at rest")


# --- The limit -------------------------------------------------------------------------------------------------------

LEFT_OUT = b <= n - 1
CONVERGES = b * exp(COST) / n < 1


@cache
def _not_always() -> Theorem:
    """0 < 1 − b/n."""
    return combine(S.Zero, 1 - CHANCE, (1 / n, given(LEFT_OUT)), (1 / n,))


@cache
def _log_mix() -> Expr:
    return LogMix(_WEIGHT.subs(rate, CHANCE), COST, Integer(0))


@cache
def _moment_positive() -> Theorem:
    """0 < (1 − p·e^(κρ₀))/(1 − p), written as a mixture."""
    room = combine(S.Zero, 1 - CHANCE * exp(COST), (S.One, given(CONVERGES)))
    inverse = substitute(kernel.positive(1 / mu), {mu: 1 - CHANCE}, _not_always())
    return combine(S.Zero, exp(_log_mix().closed()), (room, inverse), nonzero=[_not_always()])


@cache
def _log_mix_written() -> Theorem:
    """The logarithm of that mixture, as a logarithm."""
    return cancel(_log_mix(), _log_mix().closed(), _not_always(), _moment_positive())


@cache
def stands_still() -> Theorem:
    """p·e^(κρ₀+s*) + (1−p)·e^(q²s*) = e^(s*)."""
    value = CHANCE * exp(COST + y) + (1 - CHANCE) * exp(y + _log_mix())
    at_rest = cancel(value, exp(y), _not_always(), _moment_positive())
    shrunk = cancel(x_i / -_LOSS + x_i, q**2 * x_i / -_LOSS, kernel.positive(1 + q), by=[short(q)])
    exponent = substitute(shrunk, {x_i: _log_mix()}, _not_always())
    return kernel.rewrite(substitute(at_rest, {y: _ceiling(CHANCE)}, _not_always()), exponent)


@cache
def ceiling_not_negative() -> Theorem:
    """0 ≤ s*."""
    moment = exp(_log_mix().closed())
    at_least_one = kernel.monotone(exp(s), s, combine(S.Zero, COST, (kappa_positive(), rho0)))
    inverse = substitute(kernel.positive(1 / mu), {mu: 1 - CHANCE}, _not_always())
    below = combine(moment, S.One, (CHANCE, at_least_one, inverse), nonzero=[_not_always()])
    falls = kernel.monotone(log(mu), mu, below, _moment_positive())
    return combine(S.Zero, _ceiling(CHANCE), (1 / _LOSS, chain(_log_mix_written(), falls)), nonzero=[_not_always()])


@cache
def ceiling_as_printed() -> tuple[Theorem, ...]:
    """log(1 − w + w·e^(κρ₀)), w = −p/(1−p), is −log((1−p)/(1−p·e^(κρ₀))), as it is printed; what that divides by."""
    room = combine(S.Zero, 1 - CHANCE * exp(COST), (S.One, given(CONVERGES)))
    turned = cancel(log(nu / mu), -log(mu / nu))
    parts = {mu: 1 - CHANCE, nu: 1 - CHANCE * exp(COST)}
    moment = cancel(exp(_log_mix().closed()), parts[nu] / parts[mu], _not_always())
    written = kernel.rewrite(_log_mix_written(), moment)
    equal = chain(written, substitute(turned, parts, _not_always(), room))
    return equal, short(q), given(ORDER), below_one(), kernel.positive(1 + q), _not_always(), room


@cache
def accumulated_stays_below() -> Theorem:
    """The recursion itself, s = log S, stays below its fixed point: e^s ≤ e^(s*) after any number k of steps."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(exp(accumulated(draws)), exp(_ceiling(CHANCE)))

    def step(so_far: Theorem) -> Theorem:
        higher = grown(accumulated(k), _ceiling(CHANCE), so_far, _not_always())
        here = kernel.swap(at_next())
        return chain(here, higher, stands_still())

    at_least_one = kernel.monotone(exp(s), s, ceiling_not_negative())
    start_ = cancel(exp(accumulated(S.Zero)), S.One, by=[kernel.unfold(accumulated(S.Zero), 0)])
    return kernel.named(induct(k, 0, claim, chain(start_, at_least_one), step), "the recursion stays below")


@cache
def stays_below() -> Theorem:
    """The mean of e^(κu) after k batches is at most e^(s*)."""

    def claim(draws: Expr) -> AtMost:
        return AtMost(_mean(draws), exp(_ceiling(CHANCE)))

    def step(so_far: Theorem) -> Theorem:
        return bounded_by(_ceiling(CHANCE), so_far, stands_still())

    at_least_one = kernel.monotone(exp(s), s, ceiling_not_negative())
    base = chain(kernel.unfold(_mean(S.Zero), 0), at_least_one)
    return kernel.named(induct(k, 0, claim, base, step), "S stays below its fixed point")


def _hit_cost_shown() -> Expr:
    """α(α−1)ρ₀ as the paper prints it."""
    return Over(times(alpha - 1, alpha, eta, S_g**2), times(4, sigma**2, b**2))


@cache
def without_replacement() -> Statement:
    """`thm:amp_samp_wo_replacement`."""
    relations = (ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX)
    expr = accumulated(K * N) / (alpha - 1)
    here = Named(Str(r"S_k^j(\alpha)"), S_exp)
    printed_step = Plus(Dot(Over(b, n), exp(_hit_cost_shown()), here), Dot(Plus(1, -Over(b, n)), here ** (q**2)))
    return Statement(
        label="thm:amp_samp_wo_replacement",
        title="Recursive amplification by sampling without replacement",
        where="Theorem 4.3 (proof in Appendix E.2)",
        says="ε after K epochs of n/b batches, each drawn afresh without replacement.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(DRAWN, Integer(0), K * N), alpha, expr),
            relations,
            by_contraction(DRAWN),
            lambda: divergence_over_draws(by_log_sobolev(), mean_at_most()),
        ),
        shown=Dot(Over(1, alpha - 1), Named(Str(r"\log\left(S_K^0(\alpha)\right)"), expr * (alpha - 1))),
        printed_with=lambda: [given(ORDER)],
        also=(
            (r"S_0^0(\alpha)", Integer(1)),
            (r"S_k^{j+1}(\alpha)", printed_step),
            (r"S_{k+1}^0(\alpha)", Named(Str(r"S_k^{n/b}(\alpha)"), S_exp)),
        ),
        hypotheses=relations,
        uses=("lem:recursive", "lem:LSIseq_stronglyconvex", "lem:rootconvexity1"),
    )


@cache
def limit() -> Statement:
    """Where the recursion of `thm:amp_samp_wo_replacement` converges to, and when it does."""
    relations = (ORDER, *STRONGLY_CONVEX, LEFT_OUT, CONVERGES)
    expr = -_log_mix() / (_LOSS * (alpha - 1))
    moment = Over(Plus(1, -Over(b, n)), Plus(1, -Dot(Over(b, n), exp(_hit_cost_shown()))))

    def prove() -> Theorem:
        found = divergence_over_draws(by_log_sobolev(), stays_below())
        return cut(found, kernel.loosen(combine(b, n, (S.One, given(LEFT_OUT)), (S.One,))))

    return Statement(
        label="thm:amp_samp_wo_replacement:limit",
        title="Sampling without replacement, any number of epochs",
        where="implied by Theorem 4.3; not in the paper",
        says="ε for any number of epochs: the fixed point of the recursion of thm:amp_samp_wo_replacement.",
        bounds=r"\varepsilon",
        theorem=claimed(Renyi(From(DRAWN, Integer(0), K * N), alpha, expr), relations, by_contraction(DRAWN), prove),
        shown=Dot(Over(1, Dot(alpha - 1, 1 - q**2)), log(moment)),
        printed_with=ceiling_as_printed,
        hypotheses=relations,
        uses=("thm:amp_samp_wo_replacement",),
    )
