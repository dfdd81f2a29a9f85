"""Appendix D.3 to D.5: the LSI sequences, `thm:convexsmooth` and the proof of `thm:strconvexsmooth`, line by line.

x = q² with q = 1 − ηλ; G(k) = 1 + x + … + x^(k−1); r = q^(2(N−m)) is what an epoch's second half leaves of u. Where a
line divides by G(k·n/b + j), which is 0 at k = j = 0, it is stated for k·n/b + j = i + 1 updates (or `whole` of them).
"""

from __future__ import annotations

from sympy import Derivative, Expr, Gt, Integer, Le, Lt, Rational, diff, exp, log

from hsdp_symbolic import statement
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.paper.descents import ANY, contraction
from hsdp_symbolic.paper.fixed_order import epochs_split, first_term, half
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Cited, Identity, Induction, Limit
from hsdp_symbolic.proof.controls import Proved
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
    whole,
    x_i,
)

from ..claim import Claim, Group, Note
from ..formulas import after_shared, gaussian_divergence, mechanism, noisy_step
from ..lemmas import power_below

CONVEX, STRONGLY = "lem:LSIseq_convex", "lem:LSIseq_stronglyconvex"
THEOREM, CONVEX_THEOREM, FIRST = "thm:strconvexsmooth", "thm:convexsmooth", "eqn:proof_strongly_convex_first_epoch"
PRINTED_RHO0 = eta * S_g**2 / (4 * sigma**2 * b**2)  # ρ₀ as the paper prints it
CONTRACTS = (q < 1,)
DECAYS = (r_epoch < 1,)
ORDER = (alpha > 1,)
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


def _after_shared(label: str, updates: Expr, lipschitz: Expr) -> Expr:
    """u after an update without the record, from Y; so many updates came before."""
    return after_shared(Y, _constant(label, Integer(0), updates), lipschitz)


def _record() -> Expr:
    """What a batch with the record adds to u: the Gaussian mechanism."""
    return _spelled(mechanism(b))


def _first(count: Expr) -> Expr:
    """ε₀^j(α) at j = `count`."""
    return statement(FIRST).expr.subs(j, count)


def _printed_first(count: Expr) -> Expr:
    """ε₀^j(α) at j = `count`, as the paper prints it."""
    return alpha * PRINTED_RHO0 * q ** (2 * (count - 1)) / _powers(count)


# D.3


def _updates() -> list[Claim]:
    """The update map; witnessed by ℓ(θ) = λθ²/2, for which 1 − ηλ is the exact Lipschitz constant."""
    quadratic = lam * theta**2 / 2
    mean = exp(x_i**2 * v / 2)  # E[g²] under N(0, v) for g = e^(sθ/2), s = x_i; E[θg²] is its derivative in s
    entropy = x_i * Derivative(mean, x_i) - mean * log(mean)
    return [
        Claim(
            id="D.3/sentence-2:gradient",
            label=STRONGLY,
            where="Appendix D.3, lines 1141 and 1166",
            says="the update map is θ − η·Σℓ(θ; x_i)/b (and then (1−ηλ)-Lipschitz; here ℓ = λθ²/2)",
            printed=Identity(diff(theta - eta * quadratic, theta), 1 - eta * lam),
            corrected=Identity(Derivative(theta - eta * Derivative(quadratic, theta), theta), 1 - eta * lam),
            correction="the map needs the gradient: θ − η·Σ∇ℓ(θ; x_i)/b (a value cannot be subtracted from a vector)",
            items=("D.3/sentence-2",),
            consequence="formula",
        ),
        Claim(
            id="D.3/sentence-2:indices",
            label=STRONGLY,
            where="Appendix D.3, lines 1141 and 1166",
            says="the batch's indices come from 0, …, n (of n records)",
            printed=AtPoint(Integer(len(range(3 + 1))), Integer(3), Le, "n = 3 records: the indices are 0, 1, 2, 3"),
            corrected=Induction(i, i, 0, Integer(0), Y, Y + 1),
            correction="n records have the indices 1, …, n, as in Algorithm 1 and lem:recursive (none for n = 0, and "
            "one more for each record)",
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
            corrected=Proved(contraction(ANY, Integer(0))),
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
        place = f"Appendix D.3, lines {lines}"
        where = CONTRACTS if factor != 1 else ()
        steps = _powers(i).subs(q, factor) if factor != 1 else i
        after = V0 * factor ** (2 * i) + 2 * eta * sigma2 * steps  # V0 is 1/c_0^0
        found += [
            Claim(
                id=f"{one}:recursion",
                label=label,
                where=place,
                says=f"1/c_k^(j+1) = {'(1−ηλ)²' if factor != 1 else '1'}/c_k^j + 2ησ², for the lemma's closed form",
                printed=Identity(noisy_step(1 / _constant(label, k, j), factor, eta), 1 / _constant(label, k, j + 1)),
                items=(one,),
            ),
            Claim(
                id=f"{unrolled}:unrolled",
                label=label,
                where=place,
                says="unrolled from any 1/c_0^0 over i = k·n/b + j updates",
                printed=Induction(after, i, 0, V0, Y, noisy_step(Y, factor, eta), cross_check=True, where=where),
                items=(unrolled,),
            ),
            Claim(
                id=f"{started}:start",
                label=label,
                where=place,
                says="with c_0^0 = ∞, or 1/c = 0, only the noise of i = k·n/b + j updates is left: the lemma's c_k^j",
                printed=Induction(1 / _constant(label, Integer(0), i), i, 0, Integer(0), Y, noisy_step(Y, factor, eta)),
                items=(started, "D.3/display-1") if factor == 1 else (started,),
            ),
            Claim(
                id=f"{unrolled}:epochs",
                label=label,
                where=place,
                says="an epoch's end is the next one's start, c_k^(n/b) = c_(k+1)^0: indices j = 0, …, n/b−1 suffice",
                printed=Identity(
                    noisy_step(1 / _constant(label, k, N - 1), factor, eta),
                    1 / _constant(label, k + 1, Integer(0)),
                    where,
                ),
                items=("D.3/sentence-1",) if factor == 1 else ("D.3/sentence-5",),
            ),
        ]
    constant = _constant(STRONGLY, Integer(0), i + 1)
    found.append(
        Claim(
            id="D.3/display-5:start",
            label=STRONGLY,
            where="Appendix D.3, line 1160 (and D.5, line 1266)",
            says="c_k^j = 1/(2ησ²·Σ_(s<k·n/b+j) q^(2s)) for all k, j ≥ 0 (so the sum is never 0)",
            printed=AtPoint(_powers(0 * N + Integer(0)), Integer(0), Gt, "k = j = 0: the sum has no terms"),
            corrected=Induction(constant, i, 0, 1 / (2 * eta * sigma2), Y, 1 / noisy_step(1 / Y, q, eta)),
            correction="for k·n/b + j = i + 1 ≥ 1; at k = j = 0 it is 1/0, which only the convex lemma defines (as ∞)",
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
    shared = after_shared(Y, _constant(CONVEX, k, j), Integer(1))
    epochs = theorem.subs({K: k, j0: 0}, simultaneous=True)  # ε_k^0: k whole epochs, the record in batch 0
    # Feldman et al.: losses are L-Lipschitz, an update's noise has variance η²σ_F² = 2ησ² in each coordinate, and the
    # distance 2ηL is spread evenly over the updates from that on input t (an unused letter here) to that on input n.
    count = n + 1 - t
    shifts = count * gaussian_divergence(2 * eta * L / count, 2 * eta * sigma**2)
    alone = _spelled(theorem.subs({N: n, K: 1, j0: t - 1}, simultaneous=True)).subs(b, 1)
    return [
        Claim(
            id="D.4/display-1:index",
            label=CONVEX_THEOREM,
            where="Appendix D.4, line 1189",
            says="the bound for data in batch j0 is called ε_j, as if j were the batch (here j = 0, any j0)",
            printed=Identity(theorem.subs(j0, 0), theorem, (j0 < N,)),
            corrected=Identity(_spelled(theorem), printed.subs(in_batches), (j0 < N,)),
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
            says="a batch without the record multiplies ε/α by (k·n/b + j)/(k·n/b + j + 1), if k·n/b + j > 0",
            printed=Identity(shared, Y * (k * N + j) / (k * N + j + 1), (Gt(k * N + j, 0),)),
            items=("D.4/sentence-5", "D.4/sentence-6", "D.4/display-6"),
        ),
        Claim(
            id="D.4/display-6:record",
            label=CONVEX_THEOREM,
            where="Appendix D.4, lines 1214 and 1215, first case",
            says="a batch with the record adds ηS_g²/(4σ²b²) to ε/α, which starts at 0",
            printed=Identity(Y + _record(), Y + PRINTED_RHO0, ORDER),
            items=("D.4/display-5", "D.4/display-6"),
        ),
        Claim(
            id="D.4/display-8:product",
            label=CONVEX_THEOREM,
            where="Appendix D.4, lines 1226 and 1227",
            says="the first epoch: ηS_g²/(4σ²b²)·Π_(j'=1..j−1) j'/(j'+1) = ηS_g²/(4σ²b²)/j, j = i + 1",
            printed=Induction(
                PRINTED_RHO0 / (i + 1), i, 0, _record(), Y, _after_shared(CONVEX, i + 1, Integer(1)), where=ORDER
            ),
            items=("D.4/display-8", "D.4/display-9"),
        ),
        Claim(
            id="D.4/sentence-7:feldman",
            label=CONVEX_THEOREM,
            where="Appendix D.4, line 1234",
            says="for K = 1, b = 1 it is Theorem 23 of Feldman et al. (L = S_g/2, their noise variance 2σ²/η)",
            printed=Cited(
                "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23: 2αL²/(σ_F²(n+1−t)) for input t",
                Identity(shifts.subs(L, S_g / 2), alone, (*ORDER, t < n + 1)),
            ),
            items=("D.4/sentence-7",),
        ),
    ]


# D.5: from batch j0 to batch 0


def _translation() -> list[Claim]:
    second = statement(THEOREM).expr - first_term()
    from_batch = {N: j0 + whole}  # so many updates of an epoch are left from the record's batch on
    return [
        Claim(
            id="D.5/sentence-2:updates",
            label=THEOREM,
            where="Appendix D.4, line 1195; Appendix D.5, line 1254",
            says="from its first use a record of batch j0 sees K−1 epochs and n/b − j0 updates: all but the first j0",
            printed=Identity(K * N - j0, (K - 1) * N + (N - j0)),
            items=("D.4/sentence-2", "D.5/sentence-2", "D.5/sentence-3"),
        ),
        Claim(
            id="D.5/display-2:index",
            label=THEOREM,
            where="Appendix D.5, line 1262, after eqn:proofstrconvexsmooth_translate_j_0",
            says="the terms the display asks for are ε_(K−1)^0 and ε_0^(n/b−1−j0)",
            printed=Identity(second, _first(N - 1 - j0), CONTRACTS),
            corrected=Identity(_spelled(second).subs(from_batch), _printed_first(whole), CONTRACTS),
            correction="ε_0^(n/b−j0), as in the display and the theorem (for the last batch the other is ε_0^0); "
            "n/b = j0 + r, r ≥ 1",
            items=("D.5/display-2",),
            consequence="text",
        ),
    ]


def _recursion() -> list[Claim]:
    shared = _after_shared(STRONGLY, i + 1, q)
    return [
        Claim(
            id="D.5/display-5:shared",
            label=THEOREM,
            where="Appendix D.5, line 1273, second case",
            says="a batch without the record multiplies ε/α by q²·Σ_(s<k·n/b+j) q^(2s)/Σ_(s≤k·n/b+j) q^(2s) "
            "(k·n/b + j = i + 1 ≥ 1)",
            printed=Identity(shared, Y * q**2 * _powers(i + 1) / _powers(i + 2)),
            items=("D.5/sentence-5", "D.5/display-5"),
        ),
        Claim(
            id="D.5/display-5:record",
            label=THEOREM,
            where="Appendix D.5, lines 1272 and 1273, first case",
            says="a batch with the record adds ηS_g²/(4σ²b²) to ε/α, which starts at 0",
            printed=Identity(Y + _record(), Y + PRINTED_RHO0, ORDER),
            items=("D.5/display-4", "D.5/display-5"),
        ),
        Claim(
            id="D.5/display-7:product",
            label=FIRST,
            where="Appendix D.5, lines 1287 and 1288",
            says="the product over j' = 1, …, j−1 telescopes to q^(2(j−1))/Σ_(s<j) q^(2s), j = i + 1",
            printed=Induction(_printed_first(i + 1) / alpha, i, 0, _record(), Y, shared, where=ORDER),
            items=("D.5/sentence-6", "D.5/display-7", "D.5/display-8"),
        ),
        Claim(
            id="D.5/display-8:convex-limit",
            label=FIRST,
            where="Appendix D.5, line 1288",
            says="for ηλ → 0 (q = 1/(1+p), p ↓ 0) the first epoch's bound is that of D.4 (j = r ≥ 1 updates)",
            printed=Limit(_spelled(_first(whole)).subs(q, 1 / (1 + p)), p, Integer(0), alpha * PRINTED_RHO0 / whole),
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
    # The order before i updates in a row, after any number ≥ 1 of them; each has its own c.
    order = 1 + (alpha - 1) * q ** (2 * i) * _powers(whole) / _powers(whole + i)
    growth = 1 + 2 * _constant(STRONGLY, Integer(0), whole + i) * eta * sigma2 / q**2
    second = m + j  # ⌈N/2⌉ for j = 0 or 1
    per_order = _first(m) / alpha
    return [
        Claim(
            id="D.5/sentence-9:swapped",
            label=THEOREM,
            where="Appendix D.5, line 1298",
            says="an epoch's first half uses the original recursion, its second half the new one (composition)",
            printed=Identity(original, Y + per_order, CONTRACTS),
            corrected=Proved(epochs_split(m, *half())),
            correction="names and references are crossed: composition in the first half, the original in the second",
            items=("D.5/sentence-9",),
            consequence="text",
        ),
        Claim(
            id="D.5/footnote-1:halves",
            label=THEOREM,
            where="Appendix D.5, footnote",
            says="halves make the bound at K = ∞ small: of all cuts, (1−x^m)(1−x^(N−m)) is largest there "
            "(N = 2m + j, j ≥ 0, cut i earlier; cuts s and N − s give the same)",
            printed=Certificate(
                (1 - q ** (2 * (m - i))) * (1 - q ** (2 * (second + i))),
                (1 - q ** (2 * m)) * (1 - q ** (2 * second)),
                ((*CONTRACTS, *CONTRACTS, (1 + q) ** 2, q ** (2 * (m - i)) * _powers(i) * _powers(j + i)),),
                CONTRACTS,
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
                q ** (2 * (m - 1)) * _powers(m + m_rest - 1),
                _powers(m) * _powers(m_rest),
                (
                    (*CONTRACTS, 1 + q, _powers(m - 1) * _powers(m + m_rest - 1)),
                    (q**2 * _powers(m - 1) * _powers(m_rest - 1),),
                ),
                CONTRACTS,
            ),
            items=("D.5/footnote-1",),
        ),
        Claim(
            id="D.5/display-12:index",
            label=THEOREM,
            where="Appendix D.5, line 1312",
            says="the product runs over j' = m, …, n/b−1, its factors are written with j",
            printed=Identity(ratio ** (N - m), _kept(N - m), CONTRACTS),
            corrected=Induction(_kept(i), i, 0, Integer(1), Y, Y * ratio.subs(j, m + i)),
            correction="the factors are those at j'; the product of all i = N − m is q^(2(N−m))·G(m)/G(N), counted "
            "from epoch 0",
            items=("D.5/display-12",),
            consequence="formula",
        ),
        Claim(
            id="D.5/sentence-12:order",
            label=THEOREM,
            where="Appendix D.5, line 1316",
            says="the order after the maps of i updates in a row, each with its own c_k^j: 1 + (α−1)·(product so far); "
            "each multiplies what exceeds 1, so whether one starts at j = n/b−1 does not matter",
            printed=Induction(order, i, 0, alpha, Y, 1 + (Y - 1) / growth),
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
    one = closed.subs(k, 0).subs({A_epoch: _first(m) / alpha, r_epoch: q ** (2 * (N - m))})
    return [
        Claim(
            id="D.5/display-14:epochs",
            label=THEOREM,
            where="Appendix D.5, line 1320",
            says="after i = k+1 epochs u ≤ u_0·r^i + a·Σ_(k'=1..i) r^(k'), for ε_0^m/α the same at every order",
            printed=Induction(solved, i, 0, V0, Y, r_epoch * (Y + A_epoch), cross_check=True, where=DECAYS),
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
            printed=Identity(_first(N) / alpha, one, CONTRACTS),
            corrected=Proved(epochs_split(m, *half())),
            correction="it is at most that, as in the line it comes from (every k: u before epoch k uses the record)",
            items=("D.5/sentence-15", "D.5/display-15"),
            consequence="formula",
        ),
        Claim(
            id="D.5/display-15:sum",
            label=THEOREM,
            where="Appendix D.5, line 1326",
            says="with ε_0^0 = 0 the sum over k' = 1, …, k+1 is r·(1 − r^(k+1))/(1 − r)",
            printed=Identity(solved.subs({V0: 0, i: k + 1}, simultaneous=True), closed, DECAYS),
            items=("D.5/display-15",),
        ),
        Claim(
            id="D.5/sentence-16:shift",
            label=THEOREM,
            where="Appendix D.5, line 1331",
            says="setting k = K−2 gives ε_(K−1)^0: K−1 whole epochs, 1 − r^(K−1) in the numerator",
            printed=Identity(solved.subs({V0: 0, i: K - 1}, simultaneous=True), closed.subs(k, K - 2), DECAYS),
            items=("D.5/sentence-16",),
        ),
    ]


def _result() -> list[Claim]:
    """The theorem, its ε_0^m and ε_0^(N−j0) abbreviated by epoch_cost and p1, and N − m by rest."""
    terms = {_first(m): A_epoch, _first(N - j0): p1}
    theorem = statement(THEOREM).expr.subs(terms).subs(N, m + m_rest)
    printed = A_epoch * (1 - q ** (2 * (K - 1) * m_rest)) / (1 - q ** (2 * m_rest)) + p1
    other = 1 + alpha_minus_1
    return [
        Claim(
            id="D.5/sentence-17:orders",
            label=FIRST,
            where="Appendix D.5, line 1336",
            says="ε_0^j(α)/α is the same at every order, so ε_0^m(α')·α/α' is ε_0^m(α) (j = r ≥ 1, α' > 1)",
            printed=Identity(
                _printed_first(whole).subs(alpha, other) * alpha / other, _spelled(_first(whole)), CONTRACTS
            ),
            items=("D.5/sentence-17",),
        ),
        Claim(
            id="D.5/display-18:sum",
            label=THEOREM,
            where="Appendix D.5, lines 1246, 1338, 1347 and 1348",
            says="ε_0^m·(1 − q^(2(K−1)(n/b−m)))/(1 − q^(2(n/b−m))) + ε_0^(n/b−j0) is the theorem's bound",
            printed=Identity(theorem, printed, nonzero=(power_below(m_rest),)),
            items=("D.5/display-1", "D.5/display-17", "D.5/display-18", "D.5/display-19"),
        ),
        Claim(
            id="D.5/sentence-18:first-epoch",
            label=FIRST,
            where="Appendix D.5, lines 1250 and 1351",
            says="ε_0^j(α) = αηS_g²/(4σ²b²)·q^(2(j−1))/Σ_(s<j) q^(2s), in theorem and proof alike (j = r ≥ 1)",
            printed=Identity(_spelled(_first(whole)), _printed_first(whole), CONTRACTS),
            items=("D.5/sentence-1", "D.5/sentence-18"),
        ),
    ]


def notes() -> list[Note]:
    composed = "D.5/sentence-9:swapped"
    return [
        Note("D.3/lemma-1", "restates", "LSI constants for convex β-smooth loss, η < 2/β", CONVEX),
        Note("D.3/lemma-2", "restates", "LSI constants for λ-strongly convex β-smooth loss, η < 2/(λ+β)", STRONGLY),
        Note("D.3/sentence-7", "restates", "the gradient map is (1−ηλ)-Lipschitz for η < 2/(λ+β)", STRONGLY),
        Note("D.4/theorem-1", "restates", "the bound for convex smooth loss", CONVEX_THEOREM),
        Note("D.4/sentence-1", "restates", "its hypotheses: convex, β-smooth, S_g, η < 2/β", CONVEX_THEOREM),
        Note("D.4/display-2", "restates", "ε ≤ ε_(K−1)^0 + ε_0^(n/b−j0), by composition", CONVEX_THEOREM),
        Note("D.4/sentence-3", "restates", "only ε_0^j with 1 ≤ j ≤ n/b occur: n/b − j0 ≥ 1", CONVEX_THEOREM),
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
        Note("D.5/display-2", "restates", "ε ≤ ε_(K−1)^0 + ε_0^(n/b−j0), by composition", THEOREM),
        Note("D.5/sentence-4", "restates", "θ_k^j satisfies LSI with the constant of the lemma", STRONGLY),
        Note("D.5/display-6", "definition", "epoch k+1 starts where epoch k ends: ε_(k+1)^0 is ε_k^(n/b)"),
        Note("D.5/sentence-7", "restates", "k epochs, then j updates: a composition of two mechanisms", composed),
        Note("D.5/sentence-8", "restates", "composition, for every k and j", composed),
        Note("D.5/display-9", "restates", "ε_k^(j+1) ≤ ε_k^0 + ε_0^(j+1), by composition", composed),
        Note("D.5/sentence-10", "restates", "both cases of the combined recursion, order α'", "D.5/sentence-12:order"),
        Note("D.5/display-10", "restates", "first half: composition", composed),
        Note("D.5/display-10", "restates", "second half, j = m + i: the recursion's factor", "D.5/display-5:shared"),
        Note("D.5/display-11", "definition", "ε_(k+1)^0 is ε_k^(n/b), over α"),
        Note("D.5/display-17", "restates", "for K = 1 the sum is empty: ε is ε_0^(n/b−j0)", "D.5/display-18:sum"),
        Note("D.5/display-13", "restates", "the product is at most q^(2(n/b−m))", "D.5/display-12:index"),
        Note("D.5/display-16", "restates", "the line above without its factor", f"{THEOREM}/dropped-factor"),
    ]
