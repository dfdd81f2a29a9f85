"""Appendices D.6, D.7 and E: Balle et al.'s bound, full-batch descent, proofs for shuffled and sampled batches."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from sympy import Expr, Integer, Le, Lt, Rational, exp

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.display import undisplay
from hsdp_symbolic.experiment.renyi import Mixture, mixture_divergence
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.paper import gaussian
from hsdp_symbolic.paper.descents import ANY, FULL_BATCH, contraction, for_losses
from hsdp_symbolic.paper.fixed_order import at_order, first_term
from hsdp_symbolic.paper.gradient_descent import full_batch_steps
from hsdp_symbolic.paper.steps import shared_at_most
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.certificates import Positive, sign_on
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Check, Definition, Identity, Induction
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.kernel import Theorem
from hsdp_symbolic.proof.search import given, short
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    K,
    L,
    N,
    S_g,
    Y,
    a,
    alpha,
    b,
    beta,
    c,
    eta,
    gap,
    hit,
    i,
    j,
    j0,
    k,
    lam,
    m,
    m_rest,
    mu,
    n,
    nu,
    p,
    q,
    q_balle,
    q_half,
    rate,
    rho0,
    rho_mul,
    rho_n,
    sigma2,
    slack,
    theta,
    u,
    v,
    w,
    whole,
    y_half,
)

from ..claim import Claim, Group, Note
from ..formulas import gaussian_divergence, mechanism, noisy_step, supposed
from ..lemmas import (
    at_least_level,
    at_value,
    exp_above,
    exp_below_one,
    exp_falls,
    inverse_gap,
    longer_or_equal,
    power_below,
    termwise,
)
from ..quotes import Quotes

_ORDER, _CONTRACTS, _SMALLER = (alpha > 1,), (q < 1,), lam <= beta
_HALVES = m <= m_rest
_STEP = alpha * eta * S_g**2 / (4 * sigma2 * b**2)
"""αηS_g²/(4σ²b²), as the paper writes αρ₀."""
_FULL_STEP = eta * S_g**2 / (2 * sigma2 * n**2)
"""ηS_g²/(2σ²n²), what the first half of a full-batch update costs over its order."""
_UNIT = alpha * S_g**2 / (lam * sigma2 * n**2)
_HALF_INVERSE = 2 * eta * sigma2 * q**2 * GeometricSum(q**2, i) + eta * sigma2
"""1/c after the first half of update i, as printed."""


def groups() -> tuple[Group, ...]:
    return (
        _balle,
        _half_steps,
        _comparison,
        _convexity,
        _shuffle_statement,
        _explanation,
        _first_term_chain,
        _sampling,
    )


def _balle() -> list[Claim]:
    cost = gaussian_divergence(2 * eta * L / b, 2 * eta * sigma2)
    bound = statement("balle2019").expr
    # With N = i + 2 ≥ 2 the case distinction at j0 = N − 1 decides itself.
    first, last = (bound.subs(j0, place).subs(N, i + 2) for place in (Integer(0), N - 1))
    per_epoch = _STEP / (N - 1) * q_balle ** (N / Integer(2))
    spelled = (short(rho0),)
    return [
        Claim(
            id="D.6/display-1:step-size",
            label="balle2019",
            where="Appendix D.6, line 1364",
            says="for an L-Lipschitz loss the last batch costs α·2(L/b)²/(2ησ²)",
            printed=Identity(cost, alpha * 2 * (L / b) ** 2 / (2 * eta * sigma2), _ORDER),
            corrected=Identity(cost, alpha * 2 * (eta * L / b) ** 2 / (2 * eta * sigma2), _ORDER),
            correction="an update moves by η times a gradient: L becomes ηL/b, in both cases (the substitution "
            "L → ηS_g/2 made afterwards restores the η, so the bounds that follow are right)",
            items=("D.6/theorem-1", "D.6/sentence-2", "D.6/display-1"),
            consequence="formula",
        ),
        Claim(
            id="D.6/sentence-3:first-batch",
            label="balle2019",
            where="Appendix D.6, line 1372",
            says="first batch: ε is αηS_g²/(4(n/b−1)b²σ²)·(1−2ηβλ/(β+λ))^(n/2b)·K",
            printed=Identity(first, (per_epoch * K).subs(N, i + 2), by=spelled),
            items=("D.6/sentence-3",),
        ),
        Claim(
            id="D.6/sentence-3:last-batch",
            label="balle2019",
            where="Appendix D.6, line 1372",
            says="last batch: the same with K−1 for K, plus αηS_g²/(4b²σ²)",
            printed=Identity(last, (per_epoch * (K - 1) + _STEP).subs(N, i + 2), by=spelled),
            items=("D.6/sentence-3",),
        ),
    ]


def _second_half(before: Expr) -> Expr:
    """u = R/α after the second half of the noise, from `before`, by lem:recursive with L = 1 and σ/√2 for σ."""
    halved = statement("lem:recursive").expr.subs(hit, 0).subs(sigma2, sigma2 / 2)
    return halved.subs({L: 1, u: before}, simultaneous=True)


def _half_order() -> Expr:
    """The order α' lem:recursive asks for, with L = 1 and σ/√2 for σ."""
    (order,) = (value for _, value in statement("lem:recursive").also)
    return undisplay(order).subs({L: 1, sigma2: sigma2 / 2}, simultaneous=True)


def _half_steps() -> list[Claim]:
    kept = 1 / (1 + c * eta * sigma2)
    settled = {c: 1 / _HALF_INVERSE}
    factor = 1 - 1 / (2 * GeometricSum(q**2, i + 1))
    below = (q_half < 1,)
    limit = sign_on(1 / (1 - q_half), below, {q_half: 1 / (1 + p)})
    gd = statement("thm:GD_tighter").expr
    found: list[tuple[str, str, str, Check, tuple[str, ...]]] = [
        (
            "D.7/sentence-1:converges",
            "Appendix D.7, line 1378",
            "the bound converges: whatever K, it stays below its value for infinitely many steps",
            Certificate(
                gd, 2 * alpha * rho_n * q_half / (1 - q_half), ((2 * alpha * rho_n * q_half ** (K + 1), limit),), below
            ),
            ("D.7/sentence-1",),
        ),
        (
            "D.7/display-5:lsi",
            "Appendix D.7, line 1406",
            "before update k ≥ 1, c is 1/(2ησ²·Σ_(s<k) q^(2s)): lem:LSIseq_stronglyconvex with n/b = 1 (∞ at k = 0)",
            Identity(
                statement("lem:LSIseq_stronglyconvex").expr.subs(k, whole),
                1 / (2 * eta * sigma2) / GeometricSum(q**2, whole),
                by=(supposed(N, Integer(1)), supposed(j, Integer(0))),
            ),
            ("D.7/sentence-4", "D.7/display-5"),
        ),
        (
            "D.7/display-7:induction",
            "Appendix D.7, line 1411",
            "after the first half 1/c is 2ησ²·Σ_(s=1..k) q^(2s) + ησ²: q²/c + ησ², from one update to the next",
            Induction(
                _HALF_INVERSE,
                i,
                0,
                eta * sigma2,
                Y,
                noisy_step(Y + eta * sigma2, q, eta / 2),
                cross_check=True,
                where=_CONTRACTS,
            ),
            ("D.7/display-6", "D.7/display-7"),
        ),
        (
            "D.7/display-9:factor",
            "Appendix D.7, line 1424",
            "lem:recursive with L = 1 and noise σ/√2 multiplies R/α by 1/(1 + cησ²)",
            Definition(_second_half(u), u * kept),
            ("D.7/sentence-5", "D.7/display-9"),
        ),
        (
            "D.7/display-9:order",
            "Appendix D.7, line 1424",
            "and lowers the order to α' = (α−1)/(1 + cησ²) + 1",
            Definition(_half_order(), (alpha - 1) * kept + 1),
            ("D.7/display-9",),
        ),
        (
            "D.7/display-10:recursion",
            "Appendix D.7, line 1431",
            "both halves, the first at order α': R_α/α ≤ (R_α'/α' + ηS_g²/(2σ²n²))/(1 + cησ²)",
            Identity(_second_half(u + mechanism(n, eta * sigma2)), (u + _FULL_STEP) * kept, _ORDER),
            ("D.7/display-10",),
        ),
        (
            "D.7/display-11:factor",
            "Appendix D.7, line 1438",
            "with the constant of the half step, 1/(1 + cησ²) is 1 − 1/(2·Σ_(s=0..k) q^(2s))",
            Identity(_second_half(Integer(1)).subs(settled), factor),
            ("D.7/display-11",),
        ),
        (
            "D.7/sentence-6:order",
            "Appendix D.7, line 1444",
            "α' = (α−1)·(1 − 1/(2·Σ_(s=0..k) q^(2s))) + 1",
            Identity(_half_order().subs(settled), (alpha - 1) * factor + 1),
            ("D.7/sentence-6",),
        ),
        (
            "D.7/sentence-3:wider",
            "not in the paper",
            "the weaker η < 2/(λ+β) suffices for the bound of thm:GD_tighter: the step contracts, and 0 < 1 − ηλ",
            Proved(for_losses(at_order(kernel.substitute(full_batch_steps(), {i: K}), gd), FULL_BATCH)),
            ("D.7/sentence-3",),
        ),
    ]
    small = eta < 1 / beta
    rows = [
        Claim(
            claim,
            "thm:GD_tighter",
            where,
            says,
            check,
            items=items,
        )
        for claim, where, says, check, items in found
    ]
    return [
        *rows,
        Claim(
            id="D.7/sentence-6:below-one",
            label="thm:GD_tighter",
            where="Appendix D.7, line 1444",
            says="η < 1/β gives ηλ < λ/β ≤ 1 (what the last inequality needs)",
            printed=Positive(1 - eta * lam, (small, _SMALLER), {eta: 1 / (lam + gap + slack), beta: lam + gap}),
            sharper="η < 2/(λ+β) gives it too (D.7/sentence-3:wider); the theorem holds there",
            items=("D.7/sentence-6",),
            consequence="loose",
        ),
    ]


@cache
def _exponential_below() -> Theorem:
    """y·e^(−y) < 1 − e^(−y): by y²e^(−y)/2 or more, as e^y ≥ 1 + y + y²/2."""
    decayed = exp(-y_half)
    return kernel.combine(
        y_half * decayed, 1 - decayed, (decayed, at_value(exp_above(3), y_half)), (y_half**2 * decayed / 2,)
    )


@cache
def _sums_of_powers() -> Theorem:
    """Σ_(s<K) (1−ηλ/2)^s ≤ Σ_(s<K) e^(−sηλ/2)."""
    below = kernel.chain(short(q_half), at_value(exp_falls(2), eta * lam / 2))
    return kernel.substitute(termwise(q_half, exp(-eta * lam / 2), below), {i: K})


def _comparison() -> list[Claim]:
    decayed, x = exp(-y_half), 1 - y_half  # y_half stands for ηλ/2
    half, powers = y_half / 2, 1 - decayed ** (2 * K)
    one = {K: 1, alpha: 2, rho_n: Rational(1, 2), q_half: Rational(3, 4)}
    below = statement("thm:GD_tighter").expr.subs(one)
    above = (alpha * 2 * rho_n * q_half * GeometricSum(exp(-Rational(1, 4)), K)).subs(one)
    baseline = statement("thm:GD_baseline").expr
    return [
        Claim(
            id="D.7/display-18:reason",
            label="thm:GD_tighter",
            where="Appendix D.7, line 1465",
            says="1 − x < e^(−x) for x > 0, by (1 − e^(−x/2))² or more (taken at x = ηλ/2)",
            printed=Certificate(
                x, decayed, ((exp_below_one(half), exp_below_one(half)), (Integer(2), at_value(exp_falls(2), half)))
            ),
            items=("D.7/display-18",),
        ),
        Claim(
            id="D.7/display-18:strict",
            label="thm:GD_tighter",
            where="Appendix D.7, line 1469",
            says="replacing (1−ηλ/2)^k by e^(−ηλk/2), k = 0..K−1, makes the sum strictly larger",
            printed=AtPoint(below, above, Lt, "K = 1, ηλ = 1/2: the only term is that with k = 0"),
            corrected=Proved(_sums_of_powers()),
            correction="≤, with equality for K = 1; the next line's 1 − e^(−x) > xe^(−x) makes the end result strict",
            items=("D.7/display-18",),
            consequence="formula",
        ),
        Claim(
            id="D.7/sentence-11:exponential",
            label="thm:GD_tighter",
            where="Appendix D.7, line 1473",
            says="1 − e^(−x) > x·e^(−x) for x > 0, by x²e^(−x)/2 or more (taken at x = ηλ/2)",
            printed=Certificate(
                y_half * decayed,
                1 - decayed,
                ((decayed, at_value(exp_above(3), y_half)), (y_half**2 * decayed / 2,)),
            ),
            items=("D.7/sentence-11",),
        ),
        Claim(
            id="D.7/display-20:step",
            label="thm:GD_tighter",
            where="Appendix D.7, line 1475",
            says="the line above is at most (1−ηλ/2)/e^(−ηλ/2)·(1−e^(−ληK)) (over αS_g²/(λσ²n²))",
            printed=Certificate(
                y_half * x * powers / (1 - decayed),
                x / decayed * powers,
                ((GeometricSum(decayed, 2 * K) / decayed, _exponential_below(), y_half < 1),),
                (y_half < 1,),
                nonzero=(exp_below_one(),),
            ),
            sharper="e^(−ληK/2) for e^(−ληK): the sum has K terms, not 2K (thm:GD_baseline/geometric-sum)",
            items=("D.7/sentence-12", "D.7/display-20"),
            consequence="loose",
        ),
        Claim(
            id="D.7/display-21:equality",
            label="thm:GD_baseline",
            where="Appendix D.7, line 1481",
            says="αS_g²/(λσ²n²)·(1−e^(−ληK)) is the bound of Chourasia et al., Corollary 1",
            printed=Identity(baseline, _UNIT * (1 - exp(-lam * eta * K))),
            corrected=Quotes("thm:GD_baseline", _UNIT * (1 - exp(-lam * eta * K / 2))),
            correction="their exponent, as quoted in thm:GD_baseline, is −ληK/2; with the geometric sum corrected the "
            "chain ends there, so the comparison stands (thm:GD_tighter/strict)",
            items=("D.7/display-21",),
            consequence="formula",
        ),
    ]


def _convexity() -> list[Claim]:
    f = theta**alpha
    return [
        Claim(
            id="E/sentence-2:f-divergence",
            label="lem:rootconvexity1",
            where="Appendix E, line 1502",
            says="e^((α−1)R_α) is the f-divergence ∫ν·f(μ/ν) with f(x) = x^α (so its measure is ν)",
            printed=Identity(nu * f.subs(theta, mu / nu), mu**alpha * nu ** (1 - alpha)),
            items=("E/sentence-2",),
        )
    ]


def _shuffle_statement() -> list[Claim]:
    # Loss (β/2)θ² − xθ with ηβ = 2: updates map θ to −θ + ηx. n/b = 2, b = 1, other record 0, start 0.
    step, epochs, noise2 = Fraction(9, 10), 6, Fraction(9, 40)
    spread = 2 * epochs * 2 * step * noise2
    reach = epochs * step
    exact = mixture_divergence(2, Mixture.of([-reach, reach], spread), Mixture.of([0], spread), rtol="1e-6")
    run = Setting(n=2, b=1, K=epochs, eta=step, lam=1, beta=1, sigma_squared=noise2, S_g=1)  # β does not enter
    bound = statement("thm:shuffle").enclose(run, alpha=2)
    return [
        Claim(
            id="E.1/sentence-1:step-size",
            label="thm:shuffle",
            where="Appendix E.1, line 1510",
            says="the theorem holds for every step size η < 2/(λ + η)",
            printed=AtPoint(
                _rational(exact.lo),
                _rational(bound.hi),
                Le,
                "n/b = 2, K = 6, α = 2, η = 9/10, λ = 1, β = 20/9, σ² = 9/40, S_g = b = 1, "
                "loss βθ²/2 − xθ: exact divergence against the bound",
            ),
            corrected=Proved(contraction(ANY, lam)),
            correction="η < 2/(λ + β), as in Section 4.1: only then does the update contract by 1 − ηλ",
            items=("E.1/sentence-1", "E.1/theorem-1"),
            consequence="formula",
        )
    ]


def _rational(value: Fraction) -> Rational:
    return Rational(*value.as_integer_ratio())


def _explanation() -> list[Claim]:
    """The text after the proof of thm:shuffle; in units of αρ₀, `w` is its second term."""
    run = Setting(n=3, b=1, K=2, eta="1/2", lam=1, beta=1, sigma_squared=250, S_g=1)
    composition = statement("mironov2019").enclose(run, alpha=200)
    here = {alpha: 200, rho0: Rational(1, 2000), K: 2, N: 3, m: 1, q: Rational(1, 2)}
    cost = gaussian_divergence(eta * S_g / b, 2 * eta * sigma2)
    one_batch, spelled = statement("eps0").expr.subs(j, 1), (short(rho0),)
    return [
        Claim(
            id="E.1/sentence-3:reference",
            label="thm:shuffle",
            where="Appendix E.1, line 1534",
            says="the terms explained are those of eqn:shuffle_logistic, whose ε₀¹ is 2α/σ_mul²",
            printed=Identity(one_batch.subs(rho0, ABBREVIATIONS[rho0]), alpha * ABBREVIATIONS[rho_mul]),
            corrected=Identity(one_batch, _STEP, by=spelled),
            correction="they are those of eqn:shuffle_dynamics (thm:shuffle), as Section 4.1 says of the same claims",
            items=("E.1/sentence-3",),
            consequence="text",
        ),
        Claim(
            id="E.1/sentence-3:first-term",
            label="thm:shuffle",
            where="Appendix E.1, line 1534",
            says="after 1/(λη) epochs the first term is strictly smaller than the composition bound",
            printed=AtPoint(
                first_term().subs(here),
                _rational(composition.hi),
                Lt,
                "n/b = 3, K = 2 = 1/(λη), η = 1/2, σ² = 250, α = 200, λ = β = S_g = b = 1",
            ),
            corrected=Proved(_first_term_small()),
            correction="true if n/b ≥ 4, where composition costs at least Kαρ₀·b/n (mironov2019:small_rate): the first "
            "term is less, here for n/b ≥ 6, n/b = m + m_rest; n/b = 4, 5 by thm:shuffle/first-term/7 and 8",
            items=("E.1/sentence-3", "E.1/sentence-6"),
            consequence="argument",
        ),
        Claim(
            id="E.1/sentence-3:second-term",
            label="thm:shuffle",
            where="Appendix E.1, lines 1534 and 1549",
            says="after n/b epochs the second term is smaller than the composition bound: at most αρ₀ "
            "(thm:shuffle/last-batch/2), it is at most Kαρ₀·b/n (mironov2019:small_rate)",
            printed=Certificate(w, K / N, ((w <= 1,), (1 / N, N <= K)), (w <= 1, N <= K)),
            items=("E.1/sentence-3", "E.1/sentence-7"),
        ),
        Claim(
            id="E.1/sentence-7:largest",
            label="thm:shuffle",
            where="Appendix E.1, line 1549",
            says="ε₀¹ = αηS_g²/(4σ²b²) (and thm:shuffle/last-batch/2: no term of the average exceeds it)",
            printed=Identity(cost, one_batch, _ORDER, by=spelled),
            items=("E.1/sentence-7",),
        ),
        Claim(
            id="E.1/sentence-4:one-iteration",
            label="mironov2019:small_rate",
            where="Appendix E.1, line 1537",
            says="one iteration: (b²/n²)·αη²(S_g/b)²/(2·2ησ²) = (b²/n²)·αηS_g²/(4σ²b²)",
            printed=Identity(b**2 / n**2 * cost, b**2 / n**2 * _STEP, _ORDER),
            items=("E.1/sentence-4",),
        ),
    ]


def _halves_first_term() -> Expr:
    """The first term over αρ₀, with n/b = m + m_rest."""
    return (first_term() / (alpha * rho0)).subs(N, m + m_rest)


@cache
def _settled_first_term() -> Theorem:
    """The first term over αρ₀ is at most 1/((1 − q²)m²), m ≤ n/b − m: its geometric sum extended, sums ≥ m·q^(m−1)."""
    power, level = q ** (2 * (m - 1)), m * q ** (m - 1)
    half, rest = GeometricSum(q**2, m), GeometricSum(q**2, m_rest)
    end, per_half = power / (half * (1 - q**2) * rest), 1 / ((1 + q) * m**2 * half * rest)
    left = power * q ** (2 * m_rest * (K - 1)) / (half * (1 + q) * rest), inverse_gap()
    below = [given(q < 1), power_below(m_rest)]
    longer = longer_or_equal(q**2, m, m_rest - m, q < 1, _HALVES)
    terms = (per_half * rest, at_least_level()), (per_half * level, longer), (per_half * level, at_least_level())
    return kernel.chain(
        kernel.combine(_halves_first_term(), end, left, nonzero=below),
        kernel.combine(end, 1 / ((1 - q**2) * m**2), *((*term, inverse_gap()) for term in terms), nonzero=below),
    )


@cache
def _first_term_below(batches: Expr) -> Theorem:
    """The first term over αρ₀ is less than 1/(batches·λη), for n/b or 2(n/b − m) batches, m ≥ 3, m ≤ n/b − m ≤ m + 1.

    (1 + q)m² − batches is qm² + (m − 3)(m + 1) + 3 − c + c·(m + 1 − m_rest), c being the coefficient of m_rest in it.
    """
    scale, count = 1 / ((1 + q) * m**2 * batches), batches.coeff(m_rest)
    terms = (q * m**2,), (m + 1, given(m >= 3)), (3 - count,), (count, given(m_rest <= m + 1))
    last = kernel.combine(
        1 / ((1 - q**2) * m**2),
        1 / (batches * (1 - q)),
        *((scale, *term, inverse_gap()) for term in terms),
        nonzero=[given(q < 1)],
    )
    return kernel.chain(_settled_first_term(), last)


@cache
def _first_term_small() -> Theorem:
    """The first term over αρ₀ is less than K·b/n for K ≥ 1/(λη), where it is less than 1/((n/b)·λη)."""
    batches = m + m_rest
    long = kernel.combine(
        1 / (batches * (1 - q)), K / batches, (1 / batches, given(1 / (1 - q) <= K)), nonzero=[given(q < 1)]
    )
    return kernel.chain(_first_term_below(batches), long)


def _first_term_chain() -> list[Claim]:
    # Over αρ₀, with n/b = m + m_rest and K = k + 1.
    spelled = (first_term() / (alpha * rho0)).subs({N: m + m_rest, K: k + 1}, simultaneous=True)
    epochs = (1 - q ** (2 * k * m_rest)) / (1 - q ** (2 * m_rest))
    power, short_sum = q ** (2 * (m - 1)), GeometricSum(q**2, m)
    per_step = first_term() / (alpha * rho0)
    in_halves = _halves_first_term()
    two = per_step.subs({N: 2, m: 1, K: 3, q: Rational(1, 2)})
    step, length = Rational(1, 2), 4
    return [
        Claim(
            id="E.1/display-8:first-term",
            label="thm:shuffle",
            where="Appendix E.1, line 1542",
            says="the first term with ε₀^m, m = ⌊n/2b⌋, written out (over αρ₀)",
            printed=Identity(spelled, power / short_sum * epochs, _CONTRACTS, nonzero=(power_below(m_rest),)),
            items=("E.1/display-7", "E.1/display-8"),
        ),
        Claim(
            id="E.1/display-9:closed-sum",
            label="thm:shuffle",
            where="Appendix E.1, line 1543",
            says="and with its sum closed: 1/Σ_(s<m) q^(2s) = (1−q²)/(1−q^(2m))",
            printed=Identity(
                power / short_sum, power * (1 - q**2) / (1 - q ** (2 * m)), _CONTRACTS, nonzero=(power_below(m),)
            ),
            items=("E.1/display-9",),
        ),
        Claim(
            id="E.1/display-10:monotone",
            label="thm:shuffle",
            where="Appendix E.1, line 1544",
            says="it is at most αρ₀/(1 − q^(2(n/b−m))) (both sides times the denominator)",
            printed=Certificate(
                in_halves * (1 - q ** (2 * m_rest)),
                Integer(1),
                ((power * q ** (2 * (K - 1) * m_rest) / short_sum,), (GeometricSum(q**2, m - 1) / short_sum,)),
                _CONTRACTS,
                nonzero=(power_below(m_rest),),
            ),
            sharper="this drops q^(2(m−1))/Σ_(s<m) q^(2s), at most 1/m: without that factor the claimed end is "
            "out of reach, with it it holds for n/b ≥ 4 (thm:shuffle/first-term)",
            items=("E.1/display-10",),
            consequence="loose",
        ),
        Claim(
            id="E.1/display-11:bernoulli",
            label="thm:shuffle",
            where="Appendix E.1, line 1545",
            says="1/(1 − q^(2(n/b−m))) is at most 1/(2(n/b−m)·λη)",
            printed=AtPoint(1 / (1 - (1 - step) ** length), 1 / (length * step), Le, "n/b = 4, m = 2, ηλ = 1/2"),
            corrected=Proved(_first_term_below(2 * m_rest)),
            correction="it is never smaller (thm:shuffle/bernoulli); yet for n/b ≥ 4 the first term itself is below "
            "αρ₀/(2(n/b−m)·λη): here n/b ≥ 6, n/b = m + m_rest; n/b = 4, 5 by thm:shuffle/first-term/7 and 8",
            items=("E.1/display-11",),
            consequence="argument",
        ),
        Claim(
            id="E.1/display-12:half",
            label="thm:shuffle",
            where="Appendix E.1, line 1546",
            says="1/(2(n/b−m)·λη) ≤ 1/((n/b)·λη) (because m ≤ n/b − m; n/b ≥ 2 is not what it needs)",
            printed=Certificate(
                1 / (2 * m_rest * (1 - q)),
                1 / ((m + m_rest) * (1 - q)),
                ((1 / (2 * m_rest * (m + m_rest)), inverse_gap(), _HALVES),),
                (_HALVES, *_CONTRACTS),
            ),
            items=("E.1/display-12",),
        ),
        Claim(
            id="E.1/sentence-6:whole-chain",
            label="thm:shuffle",
            where="Appendix E.1, lines 1538 to 1546",
            says="from end to end, the first term is at most αρ₀/((n/b)·λη) for every n/b ≥ 2",
            printed=AtPoint(two, Integer(1), Le, "over αρ₀, n/b = 2, K = 3, ηλ = 1/2"),
            corrected=Proved(_first_term_below(m + m_rest)),
            correction="true for n/b ≥ 4: here n/b ≥ 6, n/b = m + m_rest; n/b = 4, 5 by thm:shuffle/first-term/7 and 8",
            items=("E.1/sentence-6", "E.1/display-12"),
            consequence="argument",
        ),
    ]


def _sampling() -> list[Claim]:
    # ν = ½N(0, 1) + ½N(1, 1) and μ = N(0, 1): −(log ν)'' ≥ 1 − 1/4, so both have LSI constant 3/4 (Bakry–Émery).
    # Noise (1 − q²)/c after the map qθ is what makes the factor of lem:recursive exactly q².
    contraction, constant = Fraction(49, 50), Fraction(3, 4)
    after = contraction**2 + (1 - contraction**2) / constant
    start = mixture_divergence(15, Mixture.of([0], 1), Mixture.of([0, 1], 1), rtol="1e-6")
    end = mixture_divergence(15, Mixture.of([0], after), Mixture.of([0, contraction], after), rtol="1e-6")
    return [
        Claim(
            id="E.2/display-10:same-order",
            label="thm:amp_samp_wo_replacement",
            where="Appendix E.2, line 1593",
            says="an update without the record raises the moment of order α to the power q² (by lem:recursive)",
            printed=AtPoint(
                _rational(end.lo),
                _rational(contraction**2 * start.hi),
                Le,
                "α = 15, q = 0.98, μ = N(0, 1), ν = (N(0, 1) + N(1, 1))/2, both LSI with c = 3/4, noise (1−q²)/c: "
                "R after against q²·R before",
            ),
            corrected=Proved(shared_at_most(ANY)),
            correction="lem:recursive bounds R_α/α by R_α'/α' at the lower order α', and R_α/α need not increase with "
            "α; for a bound R_a ≤ a·u at all orders a the step is right (u ↦ q²u at most), and with "
            "S = E e^(α(α−1)u) so is the theorem",
            items=("E.2/display-9", "E.2/display-10"),
            consequence="argument",
        ),
        _second_equality(),
    ]


def _second_equality() -> Claim:
    """Two updates on a quadratic loss from a point, exactly: shifts add up to those below, variances to 1 + q²."""
    kappa = alpha * (alpha - 1)
    spread = (1 + q**2) / (2 * rho0)
    both, early, late = (
        exp(gaussian.log_moment().subs({a: moved, v: spread}, simultaneous=True)) for moved in (1 + q, q, Integer(1))
    )
    truth = rate**2 * both + rate * (1 - rate) * (early + late) + (1 - rate) ** 2
    one = exp(kappa * rho0)
    step = rate * one * (rate * one + 1 - rate) + (1 - rate) * (rate * exp(q**2 * kappa * rho0) + 1 - rate)
    return Claim(
        id="E.2/display-12:equality",
        label="thm:amp_samp_wo_replacement",
        where="Appendix E.2, line 1600",
        says="S, defined as the expectation of the true moments, equals P(hit)·S·e^(α(α−1)ρ₀) + P(miss)·E[moment^(q²)]",
        printed=Identity(truth, step),
        corrected=Certificate((1 + q) ** 2 / (1 + q**2), Integer(2), (((1 - q) ** 2 / (1 + q**2),),)),
        correction="≤: display-10 is an inequality, and for two hits on a quadratic loss the exponent is "
        "(1+q)²/(1+q²) < 2 times α(α−1)ρ₀ (S as in the theorem, given by the recursion, is an upper bound)",
        items=("E.2/display-11", "E.2/display-12"),
        consequence="formula",
    )


def notes() -> list[Note]:
    gd, shuffle, sampling = "thm:GD_tighter", "thm:shuffle", "thm:amp_samp_wo_replacement"
    return [
        Note("D.6/sentence-1", "layout", "announces the translation of Balle et al.'s Theorem 5"),
        Note("D.6/theorem-1", "attributes", "Theorem 5, translated letter by letter", "Balle et al. 2019, Theorem 5"),
        Note("D.7/sentence-1", "restates", "a converging bound for b = n", gd),
        Note("D.7/sentence-2", "restates", "slightly tighter than Chourasia et al.'s bound", f"{gd}/strict/3"),
        Note("D.7/theorem-1", "restates", "the theorem on full batches", gd),
        Note("D.7/sentence-3", "restates", "its hypotheses: η < 1/β", gd),
        Note("D.7/display-1", "restates", "its bound", gd),
        Note("D.7/display-2", "definition", "one update of noisy gradient descent"),
        Note("D.7/display-3", "restates", "the first half: all of the map and noise of variance ησ²", gd),
        Note("D.7/display-4", "restates", "the second half: noise of variance ησ² alone", gd),
        Note("D.7/display-8", "restates", "the first half costs ηS_g²/(2σ²n²) in R_α/α", "D.7/display-10:recursion"),
        Note("D.7/display-12", "restates", "the sum extended to infinity makes the factor larger", gd),
        Note("D.7/display-13", "restates", "and is 1/(1 − q²)", gd),
        Note("D.7/display-14", "restates", "1 − (1 − q²)/2 ≤ 1 − ηλ/2", gd),
        Note("D.7/sentence-7", "restates", "the recursion solved from R = 0 at every order", gd),
        Note("D.7/display-15", "restates", "its solution", gd),
        Note("D.7/sentence-8", "restates", "thm:GD_tighter is the smaller bound", f"{gd}/strict/3"),
        Note("D.7/sentence-9", "attributes", "the bound compared with", "Chourasia et al. 2021, Corollary 1"),
        Note("D.7/theorem-2", "restates", "Chourasia et al.'s Corollary 1", "thm:GD_baseline"),
        Note("D.7/sentence-10", "restates", "its hypotheses: Gaussian start, η < 1/β", "thm:GD_baseline"),
        Note("D.7/display-16", "restates", "its bound", "thm:GD_baseline"),
        Note("D.7/display-17", "restates", "the bound of thm:GD_tighter", gd),
        Note("D.7/display-19", "restates", "the geometric sum in closed form", "thm:GD_baseline/geometric-sum"),
        Note("E/lemma-1", "restates", "joint convexity of the exponentiated divergence", "lem:rootconvexity1"),
        Note(
            "E/sentence-1",
            "restates",
            "for every order and all weights (at α = 1 both sides are 1)",
            "lem:rootconvexity1",
        ),
        Note("E/display-1", "restates", "the inequality", "lem:rootconvexity1"),
        Note("E/display-2", "restates", "the moment as an integral against μ", "lem:rootconvexity1/moment"),
        Note("E/sentence-2", "restates", "convexity of x^α makes it jointly convex", "lem:rootconvexity1"),
        Note("E.1/display-1", "restates", "the bound of the theorem", shuffle),
        Note("E.1/display-2", "restates", "ε₀^j", "eqn:proof_strongly_convex_first_epoch"),
        Note("E.1/sentence-2", "restates", "joint convexity over the partitions into batches", shuffle),
        Note("E.1/display-3", "definition", "ε is the divergence of the last iterates"),
        Note(
            "E.1/display-4",
            "restates",
            "at most the mean over partitions, both sets having the same",
            "lem:rootconvexity1",
        ),
        Note("E.1/display-5", "restates", "for each batch of the record, the fixed-order bound", "thm:strconvexsmooth"),
        Note("E.1/display-6", "restates", "each batch holds the record with probability b/n", shuffle),
        Note("E.1/display-6", "restates", "(left out) the first term comes out of the average", shuffle),
        Note(
            "E.1/sentence-3", "restates", "smaller than composition after 1/(λη) + n/b epochs", f"{shuffle}/composition"
        ),
        Note("E.1/sentence-4", "restates", "one iteration costs at least αρ₀·(b/n)²", "mironov2019:small_rate"),
        Note("E.1/sentence-5", "restates", "an epoch costs at least αρ₀·b/n", "mironov2019:small_rate"),
        Note("E.1/sentence-7", "restates", "the largest term of the average is ε₀¹", f"{shuffle}/last-batch/2"),
        Note("E.2/sentence-1", "restates", "the theorem, without 'under sampling without replacement'", sampling),
        Note("E.2/theorem-1", "restates", "the theorem on resampled batches", sampling),
        Note("E.2/display-1", "restates", "ε ≤ log S/(α−1)", sampling),
        Note("E.2/display-2", "restates", "S starts at 1", sampling),
        Note("E.2/display-3", "restates", "one step of the recursion", sampling),
        Note("E.2/display-4", "restates", "epochs follow each other", sampling),
        Note(
            "E.2/display-5",
            "restates",
            "the moment as an integral, here against the right measure",
            "lem:rootconvexity1/moment",
        ),
        Note(
            "E.2/display-6", "definition", "densities are averages over the batches drawn, the same for both data sets"
        ),
        Note("E.2/display-7", "restates", "joint convexity of x^α/y^(α−1), over the batches", "lem:rootconvexity1"),
        Note("E.2/display-8", "definition", "S as the mean over batches of the moments given them"),
        Note("E.2/display-10", "restates", "a batch with the record multiplies by e^(α(α−1)ρ₀)", sampling),
        Note(
            "E.2/display-13",
            "restates",
            "Jensen for the concave x^(q²) (the second P lacks its index j)",
            sampling,
        ),
        Note("E.2/display-14", "restates", "P(record in batch) = b/n", sampling),
        Note("E.2/sentence-2", "restates", "the recursion again, now as the definition of S", sampling),
        Note("E.2/sentence-3", "restates", "epochs follow each other", sampling),
        Note("E.2/sentence-4", "restates", "the guarantee", sampling),
        Note("E.2/display-15", "restates", "ε ≤ log S/(α−1)", sampling),
    ]
