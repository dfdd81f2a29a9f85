"""Full-batch noisy gradient descent: `thm:GD_tighter`, and the two exponential bounds it implies.

The noise of a step that uses the record is split in two halves: the first hides what the record does to the gradient,
the second is post-processing, which shrinks the divergence.
The bounds of Chourasia et al. (`thm:GD_baseline`, and `thm:naive_RDP_baseline` for batches) then follow, from any
start and without their argument.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integer, S, exp
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus, PowerSum, times
from ..functions.compounded import Compounded
from ..functions.expm1 import Expm1
from ..functions.geometric import GeometricSum
from ..proof import kernel
from ..proof.facts.definitions import noise_adds, update_per_order
from ..proof.facts.epochs import not_counted
from ..proof.kernel import (
    Theorem,
    apply,
    assume,
    cancel,
    chain,
    combine,
    cut,
    loosen,
    rewrite,
    substitute,
    swap,
    weaken,
)
from ..proof.propositions import AtMost, Descent, Equal, From, PerOrder, Proposition, Renyi
from ..proof.search import at_most, claimed, defined, equal_bound, given, induct, ranged, short, use
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    K,
    N,
    S_g,
    alpha,
    b,
    beta,
    cost_1,
    count,
    eta,
    i,
    k,
    lam,
    n,
    q,
    q_half,
    rho0,
    rho_n,
    sigma,
    sigma2,
    start,
    steps,
    t,
    u,
    z,
)
from .descents import (
    EPOCHS,
    FULL_BATCH,
    ORDER,
    STRONGLY_CONVEX,
    below_one,
    contracts,
    for_losses,
    losses_assumed,
)
from .epochs import ONCE_AN_EPOCH, used_or_missed, uses, uses_at_most
from .fixed_order import at_order
from .lsi import after_map, after_noise, spread
from .postprocessing import noise_shrinks
from .steps import after_partial_use, first_use, from_the_start, shared_at_most

SMALL_STEP = eta < 1 / beta


@cache
def small_enough() -> Theorem:
    """η < 2/(λ + β), as η < 1/β and λ ≤ β."""
    order = given(STRONGLY_CONVEX[1])
    return combine(eta, 2 / (lam + beta), (S.One, given(SMALL_STEP)), (1 / (beta * (lam + beta)), order))


@ranged(q_half)
@cache
def _half_contraction() -> tuple[Theorem]:
    """0 < 1 − ηλ/2."""
    positive = chain(kernel.positive(q), short(q))
    return (combine(S.Zero, ABBREVIATIONS[q_half], (S.One, positive), (eta * lam / 2,)),)


@cache
def mean_of_one_and_q() -> Theorem:
    """1 − ηλ/2 = (1 + q)/2."""
    return cancel(q_half, (1 + q) / 2, by=[short(q_half), short(q)])


def half_factor(steps_: Expr) -> Expr:
    """What the second half of the noise leaves of u, after so many steps before this one."""
    return 1 - 1 / (2 * GeometricSum(q**2, steps_ + 1))


@cache
def split_step(run: Descent, size: Expr, cost: Expr) -> Theorem:
    """A step that uses the record, i steps after a point: u ↦ (u + 2·cost)·(1 − 1/(2·Σ_(s≤i) q^(2s))).

    `cost` is the ρ of batches of this size.
    """
    half = eta * sigma2
    before = assume(PerOrder(From(run, start, i), cost_1))
    part = after_partial_use(before, first_use(run, size, half))
    concentration = after_noise(after_map(spread(run, q), contracts(run, q)), half)
    positive = loosen(kernel.positive(concentration.proposition.value))
    shrunk = use(noise_shrinks(), part, concentration, positive, kernel.positive(half))
    found = apply(update_per_order, apply(noise_adds, shrunk))
    value = (cost_1 + 2 * cost) * half_factor(i)
    return kernel.named(
        equal_bound(found, value, below_one(), by=[short(cost)]), "a step with the record, its noise split"
    )


@cache
def factor_at_limit() -> Theorem:
    """The factor of a step is at most (1 + q²)/2, its value after infinitely many steps."""
    more = q ** (2 * (i + 1)) / (2 * GeometricSum(q**2, i + 1))
    found = combine(half_factor(i), (1 + q**2) / 2, (more,), nonzero=[below_one()])
    return kernel.named(loosen(found), "factors stay below their limit")


@cache
def limit_below_one() -> Theorem:
    """(1 + q²)/2 < 1."""
    return combine((1 + q**2) / 2, S.One, ((1 + q) / 2, below_one()))


@cache
def factor_increases() -> Theorem:
    """The factor of a step increases with the number of steps before it."""
    more = q ** (2 * (i + 1)) / (2 * GeometricSum(q**2, i + 1) * GeometricSum(q**2, i + 2))
    found = combine(half_factor(i), half_factor(i + 1), (more,), nonzero=[below_one()])
    return kernel.named(loosen(found), "factors increase")


@cache
def factor_at_most() -> Theorem:
    """The factor of a step is at most 1 − ηλ/2."""
    limit = combine((1 + q**2) / 2, q_half, (q / 2, below_one()), by=[mean_of_one_and_q()])
    return kernel.named(loosen(chain(factor_at_limit(), limit)), "the factor of a step with the record")


def after_hits(cost: Expr, hits: Expr) -> Expr:
    """u after so many steps that use the record, from a point: 2·cost·(x + x² + …), x = 1 − ηλ/2."""
    return 2 * cost * q_half * GeometricSum(q_half, hits)


def _one_more(found: Theorem, cost: Expr, hits: Expr) -> Theorem:
    """u after one more hit: `found` says (u + 2·cost) times the factor of step i, which is at most x."""
    reached = after_hits(cost, hits)
    bounded = at_most(found, (reached + 2 * cost) * q_half, (reached + 2 * cost, factor_at_most()))
    return equal_bound(bounded, after_hits(cost, hits + 1), by=[kernel.unfold(GeometricSum(q_half, hits), 1)])


@cache
def full_batch_steps() -> Theorem:
    """u after i steps on the full batch."""

    def claim(steps_: Expr) -> Proposition:
        return PerOrder(From(FULL_BATCH, Integer(0), steps_), after_hits(rho_n, steps_))

    def step(so_far: Theorem) -> Theorem:
        lemma = substitute(split_step(FULL_BATCH, n, rho_n), {start: Integer(0), cost_1: after_hits(rho_n, i)})
        return _one_more(cut(lemma, so_far), rho_n, i)

    return kernel.named(induct(i, 0, claim, from_the_start(FULL_BATCH, Integer(0)), step), "i steps on the full batch")


# --- The exponential form -------------------------------------------------------------------------------------------


def _rising(expr: Expr) -> Theorem:
    """expr(0) ≤ expr(z), for all z ≥ 0: its derivative in t is seen not to be negative."""
    slope = kernel.work_out(Derivative(expr, t))
    positive = kernel.positive(slope.proposition.right)  # type: ignore[attr-defined]
    rising = kernel.rises(expr, t, loosen(chain(positive, swap(slope))), z)
    return substitute(rising, {t: Integer(0)})


@cache
def exponential_below_one() -> Theorem:
    """e^(−z) ≤ 1."""
    return combine(exp(-z), S.One, (S.One, _rising(-exp(-t))))


@cache
def exponential_at_least() -> Theorem:
    """1 − z ≤ e^(−z)."""
    expr = exp(-t) - 1 + t
    slope = kernel.work_out(Derivative(expr, t))
    below = substitute(exponential_below_one(), {z: t})
    positive = combine(S.Zero, slope.proposition.right, (S.One, below))  # type: ignore[attr-defined]
    rising = substitute(kernel.rises(expr, t, loosen(chain(positive, swap(slope))), z), {t: Integer(0)})
    return combine(1 - z, exp(-z), (S.One, rising))


@cache
def exponential_at_most() -> Theorem:
    """e^(−z) ≤ 1 − z + z², as e^(−z) ≤ 1/(1 + z)."""
    product = combine((1 + z) * exp(-z), S.One, (S.One, _rising(-(1 + t) * exp(-t))))
    return combine(exp(-z), 1 - z + z**2, (1 / (1 + z), product), (z**3 / (1 + z),))


@cache
def exponential_form() -> Theorem:
    """y·(x + … + x^k) ≤ 1 − e^(−ky), for y = ηλ/2 and x = 1 − y."""
    y = eta * lam / 2

    def claim(hits: Expr) -> Proposition:
        return AtMost(y * q_half * GeometricSum(q_half, hits), -Expm1(-lam * eta * hits / 2))

    def step(so_far: Theorem) -> Theorem:
        one_more, decayed = {z: y}, substitute(exponential_below_one(), {z: y * k})
        terms = (
            (q_half, so_far),
            (S.One, substitute(exponential_at_most(), one_more)),
            (decayed, substitute(exponential_at_least(), one_more)),
        )
        there = claim(k + 1)
        sums = kernel.unfold(GeometricSum(q_half, k), 1)
        return combine(there.left, there.right, *terms, by=[sums, short(q_half)])  # type: ignore[attr-defined]

    at_start = claim(Integer(0))
    base = combine(at_start.left, at_start.right)  # type: ignore[attr-defined]
    return kernel.named(induct(k, 0, claim, base, step), "the exponential form")


def _exponential(size: Expr) -> Expr:
    return -alpha * S_g**2 / (lam * sigma2 * size**2) * Expm1(-lam * eta * K / 2)


def _exponential_shown(size: Expr) -> Expr:
    return Dot(Over(alpha * S_g**2, times(lam, sigma**2, size**2)), Plus(1, -exp(-lam * eta * K / 2)))


def _in_exponential_form(found: Theorem, size: Expr, cost: Expr) -> Theorem:
    """ε ≤ αS_g²/(λσ²·size²)·(1 − e^(−ληK/2)), from α times `after_hits`."""
    scale = alpha * S_g**2 / (lam * sigma2 * size**2)
    return at_most(found, _exponential(size), (scale, substitute(exponential_form(), {k: K})), by=[short(cost)])


# --- Statements -----------------------------------------------------------------------------------------------------

_GD_TERMS = (ORDER, EPOCHS, *STRONGLY_CONVEX[:2], SMALL_STEP)


@cache
def tighter() -> Statement:
    """`thm:GD_tighter`."""
    expr = alpha * after_hits(rho_n, K)

    def prove() -> Theorem:
        found = at_order(substitute(full_batch_steps(), {i: K}), expr)
        return cut(for_losses(found, FULL_BATCH), small_enough())

    return Statement(
        label="thm:GD_tighter",
        title="Full-batch noisy gradient descent",
        where="Theorem D.6 (Appendix D.7)",
        says="ε after K steps on the full batch.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FULL_BATCH, Integer(0), K), alpha, expr),
            _GD_TERMS,
            (*losses_assumed(FULL_BATCH, n, lam), *defined(q)),
            prove,
        ),
        shown=Dot(Over(times(alpha, eta, S_g**2), times(2, sigma**2, n**2)), PowerSum(q_half, K)),
        hypotheses=_GD_TERMS,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )


def _recursion(steps_: Expr) -> Expr:
    """u after so many steps on the full batch, by the factors as they are."""
    return Compounded(half_factor(i), i, 2 * rho_n, steps_, (1 + q**2) / 2)


@cache
def exact_recursion() -> Statement:
    """The recursion of `thm:GD_tighter` with its factors as they are.

    That the factors increase and stay below their limit, which evaluation relies on, is `factor_increases`,
    `factor_at_limit` and `limit_below_one`.
    """
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)
    expr = alpha * _recursion(K)

    def claim(steps_: Expr) -> Proposition:
        return PerOrder(From(FULL_BATCH, Integer(0), steps_), _recursion(steps_))

    def step(so_far: Theorem) -> Theorem:
        lemma = substitute(split_step(FULL_BATCH, n, rho_n), {start: Integer(0), i: k})
        lemma = substitute(lemma, {cost_1: _recursion(k)})
        return weaken(cut(lemma, so_far), swap(kernel.unfold(_recursion(k), 1)))

    def prove() -> Theorem:
        at_start = weaken(from_the_start(FULL_BATCH, Integer(0)), swap(kernel.unfold(_recursion(k), 0)))
        found = substitute(induct(k, 0, claim, at_start, step), {k: K})
        return for_losses(at_order(found, expr), FULL_BATCH)

    here = Named(Str(r"u_k"), u)
    step_shown = Dot(
        Plus(here, Over(times(eta, S_g**2), times(2, sigma**2, n**2))),
        Plus(1, -Over(1, times(2, GeometricSum(q**2, Plus(k, 1))))),
    )
    return Statement(
        label="thm:GD_tighter:recursion",
        title="Full-batch noisy gradient descent, before simplification",
        where="eqn:GD_recursive_complex (Appendix D.7)",
        says="ε after K steps on the full batch, by the recursion the proof of thm:GD_tighter simplifies.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FULL_BATCH, Integer(0), K), alpha, expr),
            relations,
            losses_assumed(FULL_BATCH, n, lam),
            prove,
        ),
        shown=Dot(alpha, Named(Str("u_K"), expr / alpha)),
        also=(("u_0", Integer(0)), ("u_{k+1}", step_shown)),
        hypotheses=relations,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )


@cache
def recursion_at_most_tighter() -> Theorem:
    """The recursion is never above thm:GD_tighter: u ≤ 2ρ·(x + … + x^k)."""

    def claim(steps_: Expr) -> Proposition:
        return AtMost(_recursion(steps_), after_hits(rho_n, steps_))

    def step(so_far: Theorem) -> Theorem:
        factor = substitute(factor_at_most(), {i: k})
        sums = q**2 * GeometricSum(q**2, k)
        positive = combine(S.Zero, half_factor(k), ((1 + 2 * sums) / (2 + 2 * sums),), nonzero=[below_one()])
        reached = after_hits(rho_n, k) + 2 * rho_n
        unfolds = [kernel.unfold(_recursion(k), 1), kernel.unfold(GeometricSum(q_half, k), 1)]
        terms = ((positive, so_far), (reached, factor))
        return combine(_recursion(k + 1), after_hits(rho_n, k + 1), *terms, by=unfolds, nonzero=[below_one()])

    base = combine(_recursion(Integer(0)), Integer(0), by=[kernel.unfold(_recursion(k), 0)])
    return kernel.named(induct(k, 0, claim, loosen(base), step), "never above thm:GD_tighter")


@cache
def baseline() -> Statement:
    """`thm:GD_baseline`, as a consequence of `thm:GD_tighter`."""
    expr = _exponential(n)
    return Statement(
        label="thm:GD_baseline",
        kind="baseline",
        title="Full-batch noisy gradient descent (Chourasia et al. 2021, Corollary 1)",
        where="Theorem D.7 (Appendix D.7)",
        says="ε after K steps on the full batch, in exponential form; larger than thm:GD_tighter for all parameters.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(FULL_BATCH, Integer(0), K), alpha, expr),
            _GD_TERMS,
            (*losses_assumed(FULL_BATCH, n, lam), *defined(q, q_half, rho_n)),
            lambda: cut(_in_exponential_form(tighter().theorem, n, rho_n), small_enough()),
        ),
        shown=_exponential_shown(n),
        hypotheses=_GD_TERMS,
        uses=("thm:GD_tighter",),
        assumes=("as stated in the paper, the start is N(0, (2σ²/λ)I); as derived here, any start will do",),
    )


@cache
def hits_counted() -> Theorem:
    """u after i steps, by the number of those that use the record; the others multiply u by at most 1."""
    run, here = ONCE_AN_EPOCH, after_hits(rho0, uses(i))

    def claim(steps_: Expr) -> Proposition:
        return PerOrder(From(run, Integer(0), steps_), after_hits(rho0, uses(steps_)))

    def missed(so_far: Theorem) -> Theorem:
        same = assume(Equal(uses(i + 1), uses(i)))
        lemma = substitute(shared_at_most(run), {start: Integer(0), u: here})
        found = cut(lemma, so_far, apply(not_counted, same, put={count: N, steps: i}))
        return rewrite(at_most(found, here, (here, 1 + q, below_one())), swap(same))

    def hit(so_far: Theorem) -> Theorem:
        one_more = assume(Equal(uses(i + 1), uses(i) + 1))
        lemma = substitute(split_step(run, b, rho0), {start: Integer(0), cost_1: here})
        return rewrite(_one_more(cut(lemma, so_far), rho0, uses(i)), swap(one_more))

    def step(so_far: Theorem) -> Theorem:
        return kernel.each_case(used_or_missed(), missed(so_far), hit(so_far))

    at_start = weaken(from_the_start(run, Integer(0)), kernel.positive(after_hits(rho0, uses(Integer(0)))))
    return kernel.named(induct(i, 0, claim, at_start, step), "i steps, by the number of uses")


@cache
def half_below_one() -> Theorem:
    """1 − ηλ/2 < 1."""
    return chain(short(q_half), combine(ABBREVIATIONS[q_half], S.One, (eta * lam / 2,)))


@cache
def naive() -> Statement:
    """`thm:naive_RDP_baseline`: the same on batches, without any gain from updates that do not use the record."""
    relations = (ORDER, EPOCHS, *STRONGLY_CONVEX)
    expr = _exponential(b)

    def prove() -> Theorem:
        at_most_k = substitute(uses_at_most(), {k: K})
        more = cut(kernel.monotone(after_hits(rho0, k), k, at_most_k), half_below_one())
        found = at_order(weaken(substitute(hits_counted(), {i: K * N}), more), alpha * after_hits(rho0, K))
        return for_losses(_in_exponential_form(found, b, rho0), ONCE_AN_EPOCH)

    return Statement(
        label="thm:naive_RDP_baseline",
        kind="baseline",
        title="Naive extension of Chourasia et al. to mini-batches",
        where="Theorem 2.1",
        says="ε after K epochs, counting only the K updates that hold the record.",
        bounds=r"\varepsilon",
        theorem=claimed(
            Renyi(From(ONCE_AN_EPOCH, Integer(0), K * N), alpha, expr),
            relations,
            (*losses_assumed(ONCE_AN_EPOCH, b, lam), *defined(q, q_half, rho0)),
            prove,
        ),
        shown=_exponential_shown(b),
        hypotheses=relations,
        uses=("lem:LSIseq_stronglyconvex", "lem:recursive"),
    )
