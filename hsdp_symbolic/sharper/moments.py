"""`moments:without_replacement`: the mean of e^(α(α−1)u) in the paper's sampling recursion, without its Jensen step.

For each batch sequence B, R_a ≤ a·u_B for all orders a, with u ← u + ρ₀ on a hit (a batch that holds the record) and
u ← q²u otherwise. The mean over the draws is known exactly: what the last draw does to e^(κu) is to multiply it, or to
replace κ by q²κ.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, exp
from sympy.core.symbol import Str

from ..display import Dot, Named, Over, Plus
from ..functions.hit_moment import HitMoment
from ..paper.descents import EPOCHS, ORDER, STRONGLY_CONVEX, by_contraction
from ..paper.draws import (
    BATCHES,
    CHANCE,
    DRAWN,
    EXPONENTIAL,
    KAPPA,
    by_log_sobolev,
    divergence_over_draws,
    kappa_positive,
)
from ..paper.sampling import after_last_draw, mean_at_most
from ..proof import kernel
from ..proof.kernel import Theorem, cancel, chain, substitute
from ..proof.propositions import Equal, From, Proposition, Renyi
from ..proof.search import claimed, given, induct
from ..statement import Statement
from ..symbols import K, N, S_exp, alpha, b, k, kappa, n, q, rho0, u

__all__ = ["at_most_paper", "exact_mean", "without_replacement"]


def _moment(scale: Expr, draws: Expr) -> Expr:
    """The logarithm of the mean of e^(scale·u) after so many draws."""
    return HitMoment(scale * rho0, q, CHANCE, draws)


@cache
def exact_mean() -> Theorem:
    """The mean of e^(κu) after k draws is e^HitMoment, for every κ > 0."""
    rules = by_log_sobolev()

    def claim(draws: Expr) -> Proposition:
        return Equal(rules.mean(EXPONENTIAL, draws, S.Zero), exp(_moment(kappa, draws)))

    def step(so_far: Theorem, shrunk: Theorem) -> Theorem:
        last = substitute(after_last_draw(), {u: S.Zero})
        following = kernel.unfold(_moment(kappa, k), 1)
        return cancel(claim(k + 1).left, claim(k + 1).right, by=[last, so_far, shrunk, following])  # type: ignore[attr-defined]

    none = claim(S.Zero)
    at_first = [kernel.unfold(none.left, 0), kernel.unfold(_moment(kappa, S.Zero), 0)]  # type: ignore[attr-defined]
    base = cancel(none.left, none.right, by=at_first)  # type: ignore[attr-defined]
    found = induct(k, 0, claim, base, step, others=[{kappa: q**2 * kappa}])
    return kernel.named(found, "the mean over all draws")


@cache
def at_most_paper() -> Theorem:
    """Never above thm:amp_samp_wo_replacement: e^HitMoment ≤ S after any number k of draws."""
    exact = substitute(exact_mean(), {kappa: KAPPA}, kappa_positive())
    return kernel.named(chain(kernel.swap(exact), mean_at_most()), "never above the paper's recursion")


@cache
def without_replacement() -> Statement:
    """`moments:without_replacement`."""
    relations = (ORDER, EPOCHS, b <= n, *STRONGLY_CONVEX)
    expr = _moment(KAPPA, K * N) / (alpha - 1)
    scale = Named(Str(r"\kappa"), KAPPA)
    here, shrunk = (Named(Str(rf"M_t({x})"), S_exp) for x in (r"\kappa", r"(1-\eta\lambda)^2\kappa"))
    step = Plus(Dot(Over(b, n), exp(Dot(scale, rho0)), here), Dot(Plus(1, -Over(b, n)), shrunk))

    def prove() -> Theorem:
        exact = substitute(exact_mean(), {kappa: KAPPA}, kappa_positive())
        return divergence_over_draws(by_log_sobolev(), exact)

    return Statement(
        label="moments:without_replacement",
        title="Sampling without replacement, exact moments",
        where="not in the paper; Theorem 4.3 without its Jensen step",
        says="ε after K epochs of n/b batches, each drawn afresh: never above thm:amp_samp_wo_replacement.",
        bounds=r"\varepsilon",
        theorem=claimed(Renyi(From(DRAWN, Integer(0), K * N), alpha, expr), relations, by_contraction(DRAWN), prove),
        shown=Dot(Over(1, alpha - 1), Named(Str(r"\log M_{Kn/b}(\kappa)"), expr * (alpha - 1))),
        printed_with=lambda: [given(ORDER)],
        also=((r"M_0(\kappa)", Integer(1)), (r"M_{t+1}(\kappa)", step), (r"\kappa", Dot(alpha, alpha - 1))),
        hypotheses=relations,
        uses=("lem:recursive", "lem:LSIseq_stronglyconvex", "lem:rootconvexity1"),
        assumes=(BATCHES,),
    )
