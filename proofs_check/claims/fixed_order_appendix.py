"""Appendix D.3 to D.5: the LSI sequences, `thm:convexsmooth` and the proof of `thm:strconvexsmooth`, line by line.

x = q² with q = 1 − ηλ; G(k) = 1 + x + … + x^(k−1); r = q^(2(N−m)) is what an epoch's second half leaves of u.
"""

from __future__ import annotations

from sympy import Expr, Gt, Integer, Le, Lt, Rational, Sum, diff, exp, log

from hsdp_symbolic import statement
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.paper.fixed_order import after_hit, after_shared, first_term
from hsdp_symbolic.paper.lsi import noisy_step
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Cited, Identity, Induction, Limit, Slack
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    V0,
    A_epoch,
    K,
    L,
    N,
    S_g,
    Y,
    alpha,
    alpha_minus_1,
    b,
    beta,
    eta,
    i,
    j,
    j0,
    k,
    lam,
    m,
    m_rest,
    n,
    p,
    p1,
    q,
    r_epoch,
    rho0,
    sigma,
    sigma2,
    t,
    theta,
    v,
    x_i,
)

from ..claim import Claim, Group, Note

CONVEX, STRONGLY = "lem:LSIseq_convex", "lem:LSIseq_stronglyconvex"
THEOREM, CONVEX_THEOREM, FIRST = "thm:strconvexsmooth", "thm:convexsmooth", "eqn:proof_strongly_convex_first_epoch"
PRINTED_RHO0 = eta * S_g**2 / (4 * sigma**2 * b**2)  # ρ₀ as the paper prints it
BELOW_ONE = {q: 1 / (1 + p)}
DECAY = q ** (2 * (N - m))


def groups() -> tuple[Group, ...]:
    return (_updates, _sequences, _convex, _translation, _recursion, _halves, _epochs, _result)


def _powers(count: Expr) -> Expr:
    """Σ_(s < count) (1 − ηλ)^(2s)."""
    return GeometricSum(q**2, count)


def _spelled(expr: Expr) -> Expr:
    """In the letters of the printed formulas: ρ₀ and σ² written out."""
    return expr.subs(rho0, ABBREVIATIONS[rho0]).subs(sigma2, sigma**2)


def _constant(label: str, epoch: Expr, updates: Expr) -> Expr:
    """c_k^j of one of the two lemmas."""
    return statement(label).expr.subs({k: epoch, j: updates}, simultaneous=True)


def _first(count: Expr) -> Expr:
    """ε₀^j(α) at j = `count`."""
    return statement(FIRST).expr.subs(j, count)


# D.3


def _updates() -> list[Claim]:
    """The update map; witnessed by ℓ(θ) = λθ²/2, for which 1 − ηλ is the exact Lipschitz constant."""
    quadratic = lam * theta**2 / 2
    mean = exp(x_i**2 * v / 2)  # E[g²] under N(0, v) for g = e^(sθ/2), s = x_i; E[θg²] is its derivative in s
    entropy = x_i * diff(mean, x_i) - mean * log(mean)
    return [
        Claim(
            id="D.3/sentence-2:gradient",
            label=STRONGLY,
            where="Appendix D.3, lines 1141 and 1166",
            says="the update map is θ − η·Σℓ(θ; x_i)/b (and then (1−ηλ)-Lipschitz; here ℓ = λθ²/2)",
            printed=Identity(diff(theta - eta * quadratic, theta), 1 - eta * lam),
            corrected=Identity(diff(theta - eta * diff(quadratic, theta), theta), 1 - eta * lam),
            correction="the map needs the gradient: θ − η·Σ∇ℓ(θ; x_i)/b (a value cannot be subtracted from a vector)",
            items=("D.3/sentence-2",),
            consequence="formula",
        ),
        Claim(
            id="D.3/sentence-2:indices",
            label=STRONGLY,
            where="Appendix D.3, lines 1141 and 1166",
            says="the batch's indices come from 0, …, n (of n records)",
            printed=Identity(Sum(1, (i, 0, n)).doit(), n),
            corrected=Identity(Sum(1, (i, 1, n)).doit(), n),
            correction="n records have the indices 1, …, n, as in Algorithm 1 and lem:recursive",
            items=("D.3/sentence-2",),
            consequence="text",
        ),
        Claim(
            id="D.3/sentence-3:point",
            label=CONVEX,
            where="Appendix D.3, lines 1143 and 1168",
            says="a point mass has c = ∞: it is N(θ_0, v) for v ↓ 0, where 1/c = v (attained by g = e^(sθ/2))",
            printed=Cited(
                "Gross 1975: N(θ_0, vI) satisfies LSI with c = 1/v",
                Identity(entropy, 2 * v * (x_i / 2) ** 2 * mean),
            ),
            items=("D.3/sentence-3", "D.3/sentence-6"),
        ),
        Claim(
            id="D.3/sentence-4:convexity",
            label=CONVEX,
            where="Appendix D.3, line 1145",
            says="β-smoothness and η < 2/β make the gradient map 1-Lipschitz",
            printed=AtPoint(
                diff(theta - eta * diff(-beta * theta**2 / 2, theta), theta).subs({beta: 1, eta: 1}),
                Integer(1),
                Le,
                "ℓ = −θ²/2, smooth with β = 1, η = 1: slope 2",
            ),
            corrected=statement(CONVEX).steps[6].check,
            correction="convexity, which the lemma assumes, is needed too: it is what bounds the slope above by 1",
            items=("D.3/sentence-4",),
            consequence="text",
        ),
    ]


def _sequences() -> list[Claim]:
    found = []
    for label, factor, lines, displays in (
        (CONVEX, Integer(1), "1147 to 1149", ("D.3/display-2", "D.3/display-3", "D.3/display-4")),
        (STRONGLY, q, "1172 to 1174", ("D.3/display-6", "D.3/display-7", "D.3/display-8")),
    ):
        one, unrolled, started = displays
        where = f"Appendix D.3, lines {lines}"
        steps = _powers(i).subs(q, factor) if factor != 1 else i
        after = V0 * factor ** (2 * i) + 2 * eta * sigma2 * steps  # V0 is 1/c_0^0
        found += [
            Claim(
                id=f"{one}:recursion",
                label=label,
                where=where,
                says=f"1/c_k^j = {'(1−ηλ)²' if factor != 1 else '1'}/c_k^(j−1) + 2ησ², for the lemma's closed form",
                printed=Identity(noisy_step(1 / _constant(label, k, j - 1), factor, eta), 1 / statement(label).expr),
                items=(one,),
            ),
            Claim(
                id=f"{unrolled}:unrolled",
                label=label,
                where=where,
                says="unrolled from any 1/c_0^0 over i = k·n/b + j updates",
                printed=Induction(after, i, 0, V0, Y, noisy_step(Y, factor, eta), cross_check=True),
                items=(unrolled,),
            ),
            Claim(
                id=f"{started}:start",
                label=label,
                where=where,
                says="with c_0^0 = ∞ only the noise of k·n/b + j updates is left: the lemma's 1/c_k^j",
                printed=Limit(after.subs(i, k * N + j), V0, Integer(0), 1 / statement(label).expr),
                items=(started, "D.3/display-1") if factor == 1 else (started,),
            ),
            Claim(
                id=f"{unrolled}:epochs",
                label=label,
                where=where,
                says="an epoch's end is the next one's start, c_k^(n/b) = c_(k+1)^0: indices j = 0, …, n/b−1 suffice",
                printed=Identity(
                    noisy_step(1 / _constant(label, k, N - 1), factor, eta), 1 / _constant(label, k + 1, Integer(0))
                ),
                items=("D.3/sentence-1",) if factor == 1 else ("D.3/sentence-5",),
            ),
        ]
    by_i = 1 / (2 * eta * sigma2 * _powers(i))
    found.append(
        Claim(
            id="D.3/display-5:start",
            label=STRONGLY,
            where="Appendix D.3, line 1160 (and D.5, line 1266)",
            says="c_k^j = 1/(2ησ²·Σ_(s<k·n/b+j) q^(2s)) for all k, j ≥ 0 (so the sum is never 0)",
            printed=AtPoint(_powers(0 * N + Integer(0)), Integer(0), Gt, "k = j = 0: the sum has no terms"),
            corrected=Induction(by_i, i, 1, 1 / (2 * eta * sigma2), Y, 1 / noisy_step(1 / Y, q, eta)),
            correction="for k·n/b + j ≥ 1; at k = j = 0 it is 1/0, which only the convex lemma defines (as ∞)",
            items=("D.3/display-5", "D.5/display-3"),
            consequence="text",
        )
    )
    return found


# D.4


def _convex() -> list[Claim]:
    theorem = statement(CONVEX_THEOREM).expr
    printed = alpha * PRINTED_RHO0 * b / n * (K - 1) + alpha * PRINTED_RHO0 / (n / b - j0)
    in_batches = {n: N * b}  # the paper lets b divide n
    shared = after_shared(Y, statement(CONVEX), k, j, Integer(1))
    first = after_shared(Y, statement(CONVEX), Integer(0), i, Integer(1))
    epochs = theorem.subs({K: k, j0: 0}, simultaneous=True)  # ε_k^0: k whole epochs, the record in batch 0
    # Feldman et al.: losses are L-Lipschitz, an update's noise has variance η²σ_F² = 2ησ² in each coordinate, and the
    # distance 2ηL is spread evenly over the updates from that on input t (an unused letter here) to that on input n.
    count = n + 1 - t
    shifts = alpha / (2 * (2 * eta * sigma**2)) * count * (2 * eta * L / count) ** 2
    alone = _spelled(theorem.subs({N: n, K: 1, j0: t - 1}, simultaneous=True)).subs(b, 1)
    return [
        Claim(
            id="D.4/display-1:index",
            label=CONVEX_THEOREM,
            where="Appendix D.4, line 1189",
            says="the bound for data in batch j0 is called ε_j, as if j were the batch (here j = 0, any j0)",
            printed=Identity(theorem.subs(j0, 0), theorem),
            corrected=Identity(_spelled(theorem), printed.subs(in_batches)),
            correction="the left side is ε, which depends on j0; the right side is as printed",
            items=("D.4/display-1",),
            consequence="formula",
        ),
        Claim(
            id="D.4/display-3:epochs",
            label=CONVEX_THEOREM,
            where="Appendix D.4, lines 1197 and 1198",
            says="composition, epoch by epoch: ε_(K−1)^0 ≤ (K−1)·ε_0^(n/b), from ε_(k+1)^0 ≤ ε_k^0 + ε_0^(n/b)",
            printed=Induction(epochs, k, 0, Integer(0), Y, Y + epochs.subs(k, 1), cross_check=True),
            items=("D.4/display-3",),
        ),
        Claim(
            id="D.4/display-6:shared",
            label=CONVEX_THEOREM,
            where="Appendix D.4, line 1215, second case",
            says="a batch without the record multiplies ε/α by (k·n/b + j)/(k·n/b + j + 1)",
            printed=Identity(shared, Y * (k * N + j) / (k * N + j + 1)),
            items=("D.4/sentence-5", "D.4/sentence-6", "D.4/display-6"),
        ),
        Claim(
            id="D.4/display-6:record",
            label=CONVEX_THEOREM,
            where="Appendix D.4, lines 1214 and 1215, first case",
            says="a batch with the record adds ηS_g²/(4σ²b²) to ε/α, which starts at 0",
            printed=Identity(_spelled(after_hit(Y)), Y + PRINTED_RHO0),
            items=("D.4/display-5", "D.4/display-6"),
        ),
        Claim(
            id="D.4/display-8:product",
            label=CONVEX_THEOREM,
            where="Appendix D.4, lines 1226 and 1227",
            says="the first epoch: ηS_g²/(4σ²b²)·Π_(j'=1..j−1) j'/(j'+1) = ηS_g²/(4σ²b²)/j",
            printed=Induction(PRINTED_RHO0 / i, i, 1, _spelled(after_hit(Integer(0))), Y, first),
            items=("D.4/display-8", "D.4/display-9"),
        ),
        Claim(
            id="D.4/sentence-7:feldman",
            label=CONVEX_THEOREM,
            where="Appendix D.4, line 1234",
            says="for K = 1, b = 1 it is Theorem 23 of Feldman et al. (L = S_g/2, their noise variance 2σ²/η)",
            printed=Cited(
                "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23: 2αL²/(σ_F²(n+1−t)) for input t",
                Identity(shifts.subs(L, S_g / 2), alone),
            ),
            items=("D.4/sentence-7",),
        ),
    ]


# D.5: from batch j0 to batch 0


def _translation() -> list[Claim]:
    second = statement(THEOREM).expr - first_term()
    return [
        Claim(
            id="D.5/sentence-2:updates",
            label=THEOREM,
            where="Appendix D.4, line 1195; Appendix D.5, line 1254",
            says="from its first use a record of batch j0 sees K−1 epochs and n/b − j0 updates: all but the first j0",
            printed=Identity(Sum(1, (i, j0, K * N - 1)).doit(), (K - 1) * N + (N - j0)),
            items=("D.4/sentence-2", "D.5/sentence-2", "D.5/sentence-3"),
        ),
        Claim(
            id="D.5/display-2:index",
            label=THEOREM,
            where="Appendix D.5, line 1262, after eqn:proofstrconvexsmooth_translate_j_0",
            says="the terms the display asks for are ε_(K−1)^0 and ε_0^(n/b−1−j0)",
            printed=Identity(second, _first(N - 1 - j0)),
            corrected=Identity(second, _first(N - j0)),
            correction="ε_0^(n/b−j0), as in the display and the theorem (for the last batch the other is ε_0^0)",
            items=("D.5/display-2",),
            consequence="text",
        ),
    ]


def _recursion() -> list[Claim]:
    lsi = statement(STRONGLY)
    first = after_shared(Y, lsi, Integer(0), i, q)
    return [
        Claim(
            id="D.5/display-5:shared",
            label=THEOREM,
            where="Appendix D.5, line 1273, second case",
            says="a batch without the record multiplies ε/α by q²·Σ_(s<k·n/b+j) q^(2s)/Σ_(s≤k·n/b+j) q^(2s)",
            printed=Identity(after_shared(Y, lsi, k, j, q), Y * q**2 * _powers(k * N + j) / _powers(k * N + j + 1)),
            items=("D.5/sentence-5", "D.5/display-5"),
        ),
        Claim(
            id="D.5/display-5:record",
            label=THEOREM,
            where="Appendix D.5, lines 1272 and 1273, first case",
            says="a batch with the record adds ηS_g²/(4σ²b²) to ε/α, which starts at 0",
            printed=Identity(_spelled(after_hit(Y)), Y + PRINTED_RHO0),
            items=("D.5/display-4", "D.5/display-5"),
        ),
        Claim(
            id="D.5/display-7:product",
            label=FIRST,
            where="Appendix D.5, lines 1287 and 1288",
            says="the product over j' = 1, …, j−1 telescopes to q^(2(j−1))/Σ_(s<j) q^(2s)",
            printed=Induction(
                PRINTED_RHO0 * q ** (2 * (i - 1)) / _powers(i), i, 1, _spelled(after_hit(Integer(0))), Y, first
            ),
            items=("D.5/sentence-6", "D.5/display-7", "D.5/display-8"),
        ),
        Claim(
            id="D.5/display-8:convex-limit",
            label=FIRST,
            where="Appendix D.5, line 1288",
            says="for ηλ → 0 (q = 1/(1+p), p ↓ 0) the first epoch's bound is that of D.4",
            printed=Limit(
                _spelled(_first(j)).subs(BELOW_ONE), p, Integer(0), _spelled(alpha * after_hit(Integer(0))) / j
            ),
            items=("D.5/display-8",),
        ),
    ]


# D.5: the two halves of an epoch


def _kept(count: Expr) -> Expr:
    """What is left of u after `count` updates without the record, from update m on, counted from epoch 0."""
    return q ** (2 * count) * _powers(m) / _powers(m + count)


def _at_convergence(cut: int) -> Expr:
    """The theorem's first term over αρ₀ for K → ∞, were the epoch of n/b = 4 updates cut there; q = 1/2."""
    per_step = _first(Integer(cut)) / (alpha * rho0)
    return (per_step / (1 - q ** (2 * (4 - cut)))).subs(q, Rational(1, 2))


def _halves() -> list[Claim]:
    ratio = q**2 * _powers(j) / _powers(j + 1)
    original = (Y + rho0) * q ** (2 * (m - 1)) * _powers(k * N + 1) / _powers(k * N + m)
    constant = _constant(STRONGLY, Integer(0), N - 1 - i)  # here N is the number of updates in epochs 0, …, k
    order = 1 + (alpha - 1) * q ** (2 * i) * _powers(N - i) / _powers(N)
    per_order = _first(m) / alpha
    return [
        Claim(
            id="D.5/sentence-9:swapped",
            label=THEOREM,
            where="Appendix D.5, line 1298",
            says="an epoch's first half uses the original recursion, its second half the new one (composition)",
            printed=Identity(original, Y + per_order),
            corrected=statement(THEOREM).steps[1].check,
            correction="names and references are crossed: composition in the first half, the original in the second",
            items=("D.5/sentence-9",),
            consequence="text",
        ),
        Claim(
            id="D.5/footnote-1:halves",
            label=THEOREM,
            where="Appendix D.5, footnote",
            says="halves make the bound at K = ∞ small: of all cuts, (1−x^m)(1−x^(N−m)) is largest there",
            printed=Certificate(
                (1 - q ** (2 * (m - i))) * (1 - q ** (2 * (m_rest + i))),
                (1 - q ** (2 * m)) * (1 - q ** (2 * m_rest)),
                (
                    (
                        (1 - q**2) ** 2,
                        Slack(
                            q ** (2 * (m - i)) * _powers(i) * _powers(m_rest - m + i),
                            "positive powers and sums of them, as ⌈N/2⌉ ≥ ⌊N/2⌋",
                        ),
                    ),
                ),
                BELOW_ONE,
            ),
            sharper="with the factor q^(2(N−m)) kept, ε ∝ x^(N−1)/((1−x^m)(1−x^(N−m))), and halves are best; "
            "once it is dropped a later cut can be better",
            items=("D.5/footnote-1",),
            consequence="loose",
        ),
        Claim(
            id="D.5/footnote-1:later-cut",
            label=THEOREM,
            where="Appendix D.5, footnote",
            says="small, not smallest: with the factor q^(2(n/b−m)) dropped, cut 3 of 4 gives less than halves",
            printed=AtPoint(_at_convergence(3), _at_convergence(2), Lt, "n/b = 4, q = 1/2, K = ∞, over αρ₀"),
            items=("D.5/footnote-1",),
        ),
        Claim(
            id="D.5/footnote-1:one-recursion",
            label=THEOREM,
            where="Appendix D.5, footnote",
            says="at K = ∞ halves are no worse than the original recursion alone: x^(m−1)/(G(m)G(N−m)) ≤ 1/G(N−1)",
            printed=Certificate(
                q ** (2 * (m - 1)) * _powers(N - 1),
                _powers(m) * _powers(N - m),
                (
                    ((1 - q**2), Slack(_powers(m - 1) * _powers(N - 1), "sums of positive powers")),
                    (q**2, Slack(_powers(m - 1) * _powers(N - m - 1), "sums of positive powers")),
                ),
                BELOW_ONE,
            ),
            items=("D.5/footnote-1",),
        ),
        Claim(
            id="D.5/display-12:index",
            label=THEOREM,
            where="Appendix D.5, line 1312",
            says="the product runs over j' = m, …, n/b−1, its factors are written with j",
            printed=Identity(ratio ** (N - m), _kept(N - m)),
            corrected=Induction(_kept(i), i, 0, Integer(1), Y, Y * ratio.subs(j, m + i)),
            correction="the factors are those at j'; their product is q^(2(N−m))·G(m)/G(N), counted from epoch 0",
            items=("D.5/display-12",),
            consequence="formula",
        ),
        Claim(
            id="D.5/sentence-12:order",
            label=THEOREM,
            where="Appendix D.5, line 1316",
            says="the order after i maps, each with its own c_k^j, back from j = n/b−1: 1 + (α−1)·(product so far)",
            printed=Induction(order, i, 0, alpha, Y, 1 + (Y - 1) / (1 + 2 * constant * eta * sigma2 / q**2)),
            items=("D.5/sentence-11", "D.5/sentence-12"),
        ),
    ]


# D.5: over the epochs


def _epochs() -> list[Claim]:
    """u_k = ε_k^0/α; one epoch maps it to r(u + a), r being `r_epoch` and a = ε_0^m/α `A_epoch`."""
    solved = V0 * r_epoch**i + A_epoch * r_epoch * GeometricSum(r_epoch, i)  # V0 is ε_0^0/α
    two = r_epoch * (r_epoch * p1 + A_epoch)  # A_epoch, p1: ε_0^m/order, orders after 1 and 2 epochs
    orders = {r_epoch: Rational(1, 2), A_epoch: 2, p1: 1}
    per_order = _first(m)
    closed = A_epoch * r_epoch * (1 - r_epoch ** (k + 1)) / (1 - r_epoch)
    one = closed.subs(k, 0).subs({A_epoch: _first(m) / alpha, r_epoch: DECAY})
    return [
        Claim(
            id="D.5/display-14:epochs",
            label=THEOREM,
            where="Appendix D.5, line 1320",
            says="after i = k+1 epochs u ≤ u_0·r^i + a·Σ_(k'=1..i) r^(k'), for ε_0^m/α the same at every order",
            printed=Induction(solved, i, 0, V0, Y, r_epoch * (Y + A_epoch), cross_check=True),
            items=("D.5/sentence-13", "D.5/display-14"),
        ),
        Claim(
            id="D.5/sentence-14:one-order",
            label=THEOREM,
            where="Appendix D.5, lines 1318 to 1323",
            says="one order, the (k+1)(N−m)-fold image of α, serves the terms of all epochs (here k = 1)",
            printed=AtPoint(
                two.subs(orders),
                ((r_epoch + r_epoch**2) * p1).subs(orders),
                Le,
                "r = 1/2, ε_0^m over its order: 2 after one epoch's maps, 1 after two (R_α/α need not be monotone)",
            ),
            corrected=Identity(
                two.subs(
                    {p1: per_order.subs(alpha, 1 + alpha_minus_1) / (1 + alpha_minus_1), A_epoch: per_order / alpha}
                ),
                (r_epoch + r_epoch**2) * per_order / alpha,
            ),
            correction="each epoch's term has its own order; they agree because the bound on ε_0^m(α)/α is the same at "
            "all orders, which the proof says only later",
            items=("D.5/sentence-14",),
            consequence="argument",
        ),
        Claim(
            id="D.5/display-15:equality",
            label=THEOREM,
            where="Appendix D.5, line 1326, eqn:proof_strongly_convex_above",
            says="ε_(k+1)^0/α equals the closed form (here k = 0, where ε_1^0 = ε_0^(n/b))",
            printed=Identity(_first(N) / alpha, one),
            corrected=Certificate(
                _first(N) / alpha,
                one,
                (
                    (
                        rho0 * q ** (2 * (N - 1)) * q ** (2 * m) / (_powers(N) * _powers(m)),
                        Slack(_powers(N - m), "the N − m terms one sum has more"),
                    ),
                ),
            ),
            correction="it is at most that, as in the line it comes from",
            items=("D.5/sentence-15", "D.5/display-15"),
            consequence="formula",
        ),
        Claim(
            id="D.5/display-15:sum",
            label=THEOREM,
            where="Appendix D.5, line 1326",
            says="with ε_0^0 = 0 the sum over k' = 1, …, k+1 is r·(1 − r^(k+1))/(1 − r)",
            printed=Identity(solved.subs({V0: 0, i: k + 1}, simultaneous=True), closed),
            items=("D.5/display-15",),
        ),
        Claim(
            id="D.5/sentence-16:shift",
            label=THEOREM,
            where="Appendix D.5, line 1331",
            says="setting k = K−2 gives ε_(K−1)^0: K−1 whole epochs, 1 − r^(K−1) in the numerator",
            printed=Identity(solved.subs({V0: 0, i: K - 1}, simultaneous=True), closed.subs(k, K - 2)),
            items=("D.5/sentence-16",),
        ),
    ]


def _result() -> list[Claim]:
    """The theorem, its ε_0^m and ε_0^(N−j0) abbreviated by epoch_cost and p1, and N − m by rest."""
    terms = {_first(m): A_epoch, _first(N - j0): p1}
    theorem = statement(THEOREM).expr.subs(terms).subs(N, m + m_rest)
    printed = A_epoch * (1 - q ** (2 * (K - 1) * m_rest)) / (1 - q ** (2 * m_rest)) + p1
    return [
        Claim(
            id="D.5/sentence-17:orders",
            label=FIRST,
            where="Appendix D.5, line 1336",
            says="ε_0^j(α)/α is the same at every order, so ε_0^m(α')·α/α' is ε_0^m(α)",
            printed=Identity(_first(j).subs(alpha, 1 + alpha_minus_1) * alpha / (1 + alpha_minus_1), _first(j)),
            items=("D.5/sentence-17",),
        ),
        Claim(
            id="D.5/display-17:one-epoch",
            label=THEOREM,
            where="Appendix D.5, line 1343",
            says="for K = 1 the right side, printed without the factor q^(2(n/b−m)), is 0: ε is ε_0^(n/b−j0)",
            printed=Identity(printed.subs(K, 1), statement(THEOREM).expr.subs(K, 1).subs(terms)),
            items=("D.5/display-17",),
        ),
        Claim(
            id="D.5/display-18:sum",
            label=THEOREM,
            where="Appendix D.5, lines 1246, 1338, 1347 and 1348",
            says="ε_0^m·(1 − q^(2(K−1)(n/b−m)))/(1 − q^(2(n/b−m))) + ε_0^(n/b−j0) is the theorem's bound",
            printed=Identity(theorem, printed),
            items=("D.5/display-1", "D.5/display-17", "D.5/display-18", "D.5/display-19"),
        ),
        Claim(
            id="D.5/sentence-18:first-epoch",
            label=FIRST,
            where="Appendix D.5, lines 1250 and 1351",
            says="ε_0^j(α) = αηS_g²/(4σ²b²)·q^(2(j−1))/Σ_(s<j) q^(2s), in theorem and proof alike",
            printed=Identity(_spelled(_first(j)), alpha * PRINTED_RHO0 * q ** (2 * (j - 1)) / _powers(j)),
            items=("D.5/sentence-1", "D.5/sentence-18"),
        ),
    ]


def notes() -> list[Note]:
    return [
        Note("D.3/lemma-1", "restates", "LSI constants for convex β-smooth loss, η < 2/β", CONVEX),
        Note("D.3/lemma-2", "restates", "LSI constants for λ-strongly convex β-smooth loss, η < 2/(λ+β)", STRONGLY),
        Note("D.3/sentence-7", "restates", "the gradient map is (1−ηλ)-Lipschitz for η < 2/(λ+β)", f"{STRONGLY}/7"),
        Note("D.4/theorem-1", "restates", "the bound for convex smooth loss", CONVEX_THEOREM),
        Note("D.4/sentence-1", "restates", "its hypotheses: convex, β-smooth, S_g, η < 2/β", CONVEX_THEOREM),
        Note("D.4/display-2", "restates", "ε ≤ ε_(K−1)^0 + ε_0^(n/b−j0), by composition", f"{CONVEX_THEOREM}/8"),
        Note("D.4/sentence-3", "restates", "only ε_0^j with 1 ≤ j ≤ n/b occur: n/b − j0 ≥ 1", f"{CONVEX_THEOREM}/9"),
        Note("D.4/sentence-4", "restates", "θ_k^j satisfies LSI with the constant of the lemma", CONVEX),
        Note("D.4/display-4", "restates", "c_k^j for convex loss (∞ at k = j = 0, as the lemma says)", CONVEX),
        Note("D.4/display-7", "definition", "epoch k+1 starts where epoch k ends: ε_(k+1)^0 is ε_k^(n/b)"),
        Note(
            "D.4/sentence-8",
            "attributes",
            "for K = n, b = 1 it is Theorem 35 of Feldman et al.; that theorem was not at hand to compare",
            "Feldman, Mironov, Talwar & Thakurta 2018",
        ),
        Note("D.5/theorem-1", "restates", "word for word the theorem of Section 3.2, η < 2/(λ+β) included", THEOREM),
        Note("D.5/display-2", "restates", "ε ≤ ε_(K−1)^0 + ε_0^(n/b−j0), by composition", f"{THEOREM}/6"),
        Note("D.5/sentence-4", "restates", "θ_k^j satisfies LSI with the constant of the lemma", STRONGLY),
        Note("D.5/display-6", "definition", "epoch k+1 starts where epoch k ends: ε_(k+1)^0 is ε_k^(n/b)"),
        Note("D.5/sentence-7", "restates", "k epochs, then j updates: a composition of two mechanisms", f"{THEOREM}/2"),
        Note("D.5/sentence-8", "restates", "composition, for every k and j", f"{THEOREM}/2"),
        Note("D.5/display-9", "restates", "ε_k^(j+1) ≤ ε_k^0 + ε_0^(j+1), by composition", f"{THEOREM}/2"),
        Note("D.5/sentence-10", "restates", "both cases of the combined recursion, order α'", "D.5/sentence-12:order"),
        Note("D.5/display-10", "restates", "first half: composition", f"{THEOREM}/2"),
        Note("D.5/display-10", "restates", "second half, j = m + i: the factor of the recursion", f"{THEOREM}/3"),
        Note("D.5/display-11", "definition", "ε_(k+1)^0 is ε_k^(n/b), over α"),
        Note("D.5/display-13", "restates", "the product is at most q^(2(n/b−m))", f"{THEOREM}/4"),
        Note("D.5/display-16", "restates", "the line above without its factor", f"{THEOREM}/dropped-factor"),
    ]
