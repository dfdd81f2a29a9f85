"""The sharper bounds against the exact law and the paper's bounds: tight where attained, smaller elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sympy import Expr, Ge, Gt, Integer, S, Symbol

from hsdp_symbolic import statement
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.pooled import Pooled
from hsdp_symbolic.paper.fixed_order import first_term, last_sums
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.checks import Certificate, Check, Definition, Identity, Induction, Limit
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.kernel import Theorem, combine, substitute
from hsdp_symbolic.proof.propositions import AtMost
from hsdp_symbolic.proof.search import given, induct
from hsdp_symbolic.sharper.places import first_batch_attained, first_batch_pools
from hsdp_symbolic.symbols import (
    K,
    K_minus_1,
    N,
    Y,
    alpha,
    decay,
    ell,
    g,
    i,
    j,
    j0,
    m,
    p,
    q,
    q_half,
    rho0,
    rho_n,
    slack,
    split,
    whole,
)

from ..claim import Claim, Group
from ..lemmas import BELOW_ONE, counted, power_below, single_power_below, termwise

WHERE = "not in the paper"


def groups() -> tuple[Group, ...]:
    return (
        partial(_numbered, "shift:cyclic/tight", "shift:cyclic", _tight),
        partial(_numbered, "shift:cyclic/below-split", "shift:cyclic", _below_split),
        partial(_numbered, "shift:cyclic/below-composition", "shift:cyclic", _below_composition),
        partial(_numbered, "strconvexsmooth:factor/below-theorem", "strconvexsmooth:factor", _factor),
        partial(_numbered, "shift:shuffle/below-factor", "shift:shuffle", _shuffled),
        partial(_numbered, "shift:convex/theorem", "shift:convex", _convex),
        partial(_numbered, "shift:gd/below-theorem", "shift:gd", _descent),
    )


def _numbered(prefix: str, label: str, parts: Callable[[], list[tuple[str, Check]]]) -> list[Claim]:
    return [
        Claim(f"{prefix}/{number}", label, WHERE, says, check) for number, (says, check) in enumerate(parts(), start=1)
    ]


def _tight() -> list[tuple[str, Check]]:
    """Where the edges pool (g ≥ 1) the bound is the chord; the exact law is that of the quadratic loss."""
    ratio, _ = CyclicShifts(q, N, K, j).edges()
    rise, length = GeometricSum(q**N, K), q ** (2 - 2 * j) * GeometricSum(q**2, N * (K - 1) + j)  # of the chord
    pooled = alpha * rho0 * rise**2 / length
    closed = given(BELOW_ONE), single_power_below(N), power_below(N * K)
    after = N * (K - 1) + j
    hits = combine(S.Zero, after, (N * (K - 1),), (S.One, given(Ge(j, 1))), (S.One,))
    exact = statement("exact:fixed_order").expr
    settled = ratio.subs(q ** (N * (K - 1)), 0)
    return [
        (
            "for the first batch (j0 = 0, so j = N; n/b = 1 included) the edges pool, for every K",
            Proved(first_batch_pools()),
        ),
        (
            "and the bound is the exact divergence of the quadratic loss, for all parameters",
            Proved(first_batch_attained()),
        ),
        (
            "for other batches, where the edges pool, it exceeds the exact divergence by this factor",
            Identity(
                pooled / exact.subs(j0, N - j),
                (1 - q ** (2 * N * K)) / (1 - q ** (2 * N * (K - 1) + 2 * j)),
                nonzero=(*closed, power_below(after, hits), counted(GeometricSum(q**2, whole), after, hits)),
            ),
        ),
        (
            "which tends to 1 as K grows (e = q^(NK) ↓ 0): tight in the limit",
            Limit((1 - decay**2) / (1 - decay**2 * q ** (2 * j - 2 * N)), decay, Integer(0), Integer(1)),
        ),
        (
            "and then the edges pool for the first half of the batches, j ≥ N/2: the limit of g is at least 1",
            Certificate(
                Integer(1),
                settled.subs(j, (N + i) / 2),
                (((1 + q**N) / (q**i * (1 + q) * GeometricSum(q**2, N)), GeometricSum(q, i)),),
                (BELOW_ONE,),
            ),
        ),
    ]


def _by_squares(total: Expr, index: Symbol, growth: Expr | Theorem, nonzero: Sequence[Theorem]) -> Theorem:
    """0 ≤ total for every index: it is 0 at 0, and grows by a square or by what a theorem says is not negative."""

    def claim(at: Expr) -> AtMost:
        return AtMost(S.Zero, total.subs(index, at))

    def step(so_far: Theorem) -> Theorem:
        return kernel.combine(S.Zero, claim(index + 1).right, (S.One, so_far), (growth,), nonzero=nonzero)

    return induct(index, 0, claim, combine(S.Zero, S.Zero), step)


def _below_split() -> list[tuple[str, Check]]:
    """shift:cyclic ≤ strconvexsmooth:split for every split m, with r = K − 1."""
    ratio, length = CyclicShifts(q, N, K, j).edges()
    r = K_minus_1
    x, y = q ** (N - m), q**m  # the two sides of the split
    sums = GeometricSum(x**2, r), GeometricSum(y**2, r), GeometricSum(q**N, r)
    longest, epoch_part = GeometricSum(q**2, N * r), GeometricSum(q**2, m)
    squares = y ** (2 * r) * GeometricSum(x**2, i) + x ** (2 * r) * GeometricSum(y**2, i)
    apart = m < N
    closed = given(BELOW_ONE), single_power_below(N), power_below(m), power_below(N - m, apart)
    difference = squares - 2 * q ** (N * r) * GeometricSum(q**N, i)
    positive = _by_squares(difference, i, (x**i * y**r - x**r * y**i) ** 2, closed)
    cauchy = sums[0] * sums[1] - sums[2] ** 2
    schwarz = _by_squares(cauchy, r, substitute(positive, {i: r}), closed)
    parts = combine(S.Zero, (N - m) * r, (r, given(apart)))
    rest = substitute(kernel.positive(GeometricSum(q**2, i)), {i: (N - m) * r}, parts)
    sizes = (substitute(kernel.positive(GeometricSum(q**2, N * whole)), {whole: r}, given(Gt(r, 0))),)
    some = (substitute(kernel.positive(1 / GeometricSum(q**2, N * whole)), {whole: r}, given(Gt(r, 0))),)
    count = combine(sums[1] * epoch_part, longest, (y ** (2 * r), rest), nonzero=closed)
    found = statement("strconvexsmooth:split").expr
    last = statement("eps0").expr.subs(j, N - j0)
    return [
        (
            "the two edges are never below the chord, so Ψ(g, ℓ) ≤ 1 + g²ℓ whether they pool or not",
            Certificate(
                Pooled(g, ell).closed().subs(g, 1 + slack),
                1 + (1 + slack) ** 2 * ell,
                ((ell / (1 + ell), slack**2),),
            ),
        ),
        (
            "the 1 is ε₀^(N−j0), the second term of the split bound: 1/Σ_(s<j) q^(−2s) over αρ₀",
            Definition(last, alpha * rho0 / GeometricSum(q**-2, N - j0)),
        ),
        (
            "the other part is q^(2N−2)(Σ_(e<r) q^(Ne))²/Σ_(s<Nr) q^(2s), r = K − 1 …",
            Identity(
                (ratio**2 * length / GeometricSum(q**-2, j)).subs(K, 1 + r),
                q ** (2 * N - 2) * sums[2] ** 2 / longest,
                nonzero=(*closed, *sizes),
            ),
        ),
        (
            "… and the first term of the split bound is q^(2N−2)·Σ_(e<r) q^(2(N−m)e)/Σ_(s<m) q^(2s), both over αρ₀",
            Identity(
                ((found - last) / (alpha * rho0)).subs({split: m, K: 1 + r}, simultaneous=True),
                q ** (2 * N - 2) * sums[0] / epoch_part,
                nonzero=closed,
            ),
        ),
        (
            "Cauchy–Schwarz for these sums, step by step: from r to r + 1 the difference of the two sides grows by …",
            Identity(cauchy.subs(r, r + 1) - cauchy, difference.subs(i, r), nonzero=closed),
        ),
        (
            "… which is a sum of squares, of q^((N−m)e + mr) − q^((N−m)r + me) over e < r",
            Induction(difference, i, 0, Integer(0), Y, Y + (x**i * y**r - x**r * y**i) ** 2, nonzero=closed),
        ),
        (
            "and Σ_(e<r) q^(2me)·Σ_(s<m) q^(2s) is a sum of mr powers",
            Identity(sums[1] * epoch_part, GeometricSum(q**2, m * r), nonzero=closed),
        ),
        (
            "so shift:cyclic is at most the split bound: for every split, every K and every j0",
            Certificate(
                q ** (2 * N - 2) * sums[2] ** 2 / longest,
                q ** (2 * N - 2) * sums[0] / epoch_part,
                (
                    (q ** (2 * N - 2) * sums[0] / epoch_part, *some, count),
                    (q ** (2 * N - 2), *some, schwarz),
                ),
                nonzero=(*closed, *sizes),
            ),
        ),
    ]


def _below_composition() -> list[tuple[str, Check]]:
    """With the split at m = N the bound is αρ₀((K−1)/Σ_(s<N) q^(−2s) + 1/Σ_(s<j) q^(−2s)), at most Kαρ₀."""
    undivided = statement("strconvexsmooth:split").expr.subs(split, N)
    return [
        (
            "the split at m = N leaves (K−1)·ε₀^N + ε₀^(N−j0), so shift:cyclic is at most that",
            Identity(
                undivided / (alpha * rho0),
                (K - 1) / GeometricSum(q**-2, N) + 1 / GeometricSum(q**-2, N - j0),
                nonzero=(counted(GeometricSum(q**-2, whole), N - j0, j0 < N),),
            ),
        ),
        (
            "each of these K terms is at most 1: never more than the composition of K Gaussian mechanisms, Kαρ₀",
            Certificate(
                1 / GeometricSum(q**-2, j + 1),
                Integer(1),
                ((q**-2 / GeometricSum(q**-2, j + 1), GeometricSum(q**-2, j)),),
                by=(kernel.unfold(GeometricSum(q**-2, j), 1),),
            ),
        ),
    ]


def _factor() -> list[tuple[str, Check]]:
    factor, theorem = statement("strconvexsmooth:factor").expr, statement("thm:strconvexsmooth").expr
    return [
        (
            "it is the split bound at the paper's split",
            Definition(statement("strconvexsmooth:split").expr.subs(split, m), factor),
        ),
        (
            "it is at most thm:strconvexsmooth, by the factor q^(2(N−m)) of the first term",
            Certificate(
                factor,
                theorem,
                ((first_term(), power_below(N - m, m < N)),),
                nonzero=tuple(last_sums()),
            ),
        ),
    ]


def _shuffled() -> list[tuple[str, Check]]:
    (mean,) = statement("shift:shuffle").expr.atoms(LogMeanExp)
    factor, theorem = statement("shuffle:factor").expr, statement("thm:shuffle").expr
    fixed = statement("strconvexsmooth:factor").expr
    (other,) = factor.atoms(LogMeanExp)
    return [
        (
            "the exponents under the mean are those of shift:cyclic, batch by batch",
            Definition((alpha - 1) * statement("shift:cyclic").expr.subs(j0, N - i), mean.args[0]),
        ),
        (
            "those of shuffle:factor, its first term taken into the mean, are those of strconvexsmooth:factor: each is "
            "the larger one (shift:cyclic/below-split), and so is the mean",
            Definition(
                factor - other / (alpha - 1) + other.args[0].subs(i, N - j0) / (alpha - 1),
                fixed,
            ),
        ),
        (
            "and shuffle:factor is at most thm:shuffle, by the same factor of the first term",
            Certificate(
                factor,
                theorem,
                ((first_term(), power_below(N - m, m < N)),),
                (alpha > 1,),
                nonzero=tuple(last_sums()),
            ),
        ),
    ]


def _convex() -> list[tuple[str, Check]]:
    ours, exact = statement("shift:convex").expr, statement("exact:fixed_order").expr
    return [
        (
            "the best shifts give exactly thm:convexsmooth: by shifts it cannot be improved",
            Identity(statement("thm:convexsmooth").expr, ours, nonzero=(counted(whole, N - j0, j0 < N),)),
        ),
        (
            "for the first batch it is attained in the limit λ → 0 of the quadratic loss (q = 1/(1+p), p ↓ 0): tight",
            Limit(exact.subs(j0, 0).subs(q, 1 / (1 + p)), p, Integer(0), ours.subs(j0, 0)),
        ),
    ]


def _descent() -> list[tuple[str, Check]]:
    ours, theirs = statement("shift:gd").expr, statement("thm:GD_tighter").expr.subs(q_half, (1 + q) / 2)
    scale = alpha * rho_n * (1 + q) / (1 + q**K)
    closed = given(BELOW_ONE), single_power_below(K)
    theirs_sum, larger = GeometricSum((1 + q) / 2, K), combine(q, (1 + q) / 2, (S.Half, given(BELOW_ONE)))
    return [
        (
            "it is at most thm:GD_tighter (and so at most thm:GD_baseline, which that implies)",
            Certificate(
                ours,
                theirs,
                (
                    (scale, substitute(termwise(q, (1 + q) / 2, larger), {i: K})),
                    (scale * q**K, theirs_sum),
                ),
                nonzero=(given(BELOW_ONE),),
            ),
        ),
        (
            "thm:GD_tighter is larger by exactly this factor, which tends to 2 as K grows",
            Identity(theirs / ours, 2 * (1 + q**K) * (1 - ((1 + q) / 2) ** K) / (1 - q**K), nonzero=closed),
        ),
    ]
