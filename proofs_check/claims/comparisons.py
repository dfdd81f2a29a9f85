"""How the bounds compare with each other, and how they respond to K, α and σ."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sympy import Expr, Ge, Gt, Integer, Le, Lt, Rational, S, cancel, exp

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.catalogue import labels
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.meaning import Quantity
from hsdp_symbolic.paper.fixed_order import first_term
from hsdp_symbolic.proof.algebra import close_sums
from hsdp_symbolic.proof.certificates import Positive
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Check, Definition, Identity
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.kernel import substitute
from hsdp_symbolic.proof.monotone import LargestTerm, Monotone
from hsdp_symbolic.proof.search import given
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    K,
    M_x,
    N,
    S_g,
    T,
    alpha,
    epsilon,
    eta,
    i,
    j,
    j0,
    lam,
    m,
    n,
    p,
    q,
    q_half,
    rho0,
    rho_n,
    sigma2,
    sigma_mul,
    w,
    whole,
    y_half,
)

from ..claim import Claim, Group
from ..lemmas import (
    BELOW_ONE,
    at_least_level,
    at_value,
    counted,
    exp_above,
    exp_below_one,
    exp_falls,
    first_of_sum,
    inverse_gap,
    longer_or_equal,
    power_below,
    powers_of_exp,
)

_DIRECTIONS = (
    (K, Trend.UP, "never decreases with K"),
    (T, Trend.UP, "never decreases with the number of steps"),
    (epsilon, Trend.DOWN, "never increases with ε"),
    (alpha, Trend.UP, "never decreases with α"),
    (sigma2, Trend.DOWN, "never increases with σ"),
    (sigma_mul, Trend.DOWN, "never increases with the noise multiplier"),
)


THREE_BATCHES = Setting(n=3, b=1, K=5, eta="1/2", lam=1, beta=1, sigma_squared=250, S_g=1), 200
"""A setting and an order where thm:shuffle is above composition after 1/(λη) + n/b epochs."""


def groups() -> tuple[Group, ...]:
    return (
        *(partial(_directions, label) for label in labels()),
        _first_epoch,
        _last_batch,
        _gradient_descent,
        _first_term,
        _composition,
    )


def _directions(label: str) -> list[Claim]:
    """A bound on the privacy loss of a run, in every letter of `_DIRECTIONS` it depends on; nothing for others."""
    bound = statement(label)
    if bound.kind == "law" or (bound.terms is None and bound.quantity is not Quantity.DIVERGENCE):
        return []
    return [
        Claim(f"{label}/in-{symbol}", label, "not in the paper", says, Monotone(bound.expr, symbol, direction))
        for symbol, direction, says in _DIRECTIONS
        if ("sigma" if symbol == sigma2 else symbol.name) in bound.needs
    ]


def _first_epoch() -> list[Claim]:
    start = statement("eps0")
    return [
        Claim(
            "eps0/in-j",
            start.label,
            "Section 4.1 (used throughout)",
            "ε₀^j never increases with j",
            Monotone(start.expr, j, Trend.DOWN),
        )
    ]


def _last_batch() -> list[Claim]:
    shuffled, last = statement("thm:shuffle").expr, statement("thm:strconvexsmooth").expr.subs(j0, N - 1)
    (mean,) = shuffled.atoms(LogMeanExp)
    first = statement("eps0").expr.subs(j, 1)
    return [
        Claim(
            "thm:shuffle/last-batch/1",
            "thm:shuffle",
            "Figure 2",
            "thm:shuffle and thm:strconvexsmooth for the last batch differ in log Avg e^((α−1)ε₀^j) against (α−1)ε₀¹",
            Definition(last - shuffled, first - mean / (alpha - 1)),
        ),
        Claim(
            "thm:shuffle/last-batch/2",
            "thm:shuffle",
            "Figure 2",
            "and that mean is at most its largest term: thm:shuffle never exceeds the bound for the last batch",
            LargestTerm(mean, (alpha - 1) * first),
        ),
    ]


def _gradient_descent() -> list[Claim]:
    """With y = ηλ/2 and e = e^(−y), both bounds in units of αS_g²/(λσ²n²)."""
    x, unit = 1 - y_half, alpha * S_g**2 / (lam * sigma2 * n**2)
    tighter = (
        statement("thm:GD_tighter").expr.subs(rho_n, ABBREVIATIONS[rho_n]).subs({q_half: x, eta: 2 * y_half / lam})
    )
    baseline = statement("thm:GD_baseline").expr.subs(eta, 2 * y_half / lam)
    e = exp(-y_half)
    sums = GeometricSum(x, K), GeometricSum(e, K)
    parts: list[tuple[str, Check]] = [
        ("thm:GD_tighter is y·Σ_(k=1..K) (1−y)^k", Definition(tighter, unit * y_half * x * sums[0])),
        ("thm:GD_baseline is 1 − e^(−yK)", Identity(baseline, unit * (1 - exp(-y_half * K)))),
        (
            "the latter is larger by e^(−y)·y²/2 or more: strictly, if S_g > 0",
            Certificate(
                y_half * x * sums[0] + e * y_half**2 / 2,
                1 - e**K,
                (
                    (sums[1], e, at_value(exp_above(3), y_half)),
                    (y_half, y_half < 1, substitute(powers_of_exp(), {i: K})),
                    (y_half, at_value(exp_falls(2), y_half), sums[1]),
                    (e * y_half**2 / 2, first_of_sum(e, K)),
                ),
                (y_half < 1,),
                nonzero=(exp_below_one(),),
            ),
        ),
    ]
    return [
        Claim(
            f"thm:GD_tighter/strict/{number}",
            "thm:GD_tighter",
            "Appendix D.7",
            f"with y = ηλ/2, over αS_g²/(λσ²n²), {says}",
            check,
        )
        for number, (says, check) in enumerate(parts, start=1)
    ]


def _scaled_first_term(batches: Expr, half: Expr) -> Expr:
    """n/b·ηλ times the first term of thm:shuffle, its geometric sum extended to all epochs, over αρ₀."""
    (epochs,) = (total for total in first_term().atoms(GeometricSum) if total.has(K))
    settled = first_term().subs(epochs, 1 / (1 - epochs.args[0])) / (alpha * rho0)
    return (N * (1 - q) * settled).subs({N: batches, m: half}, simultaneous=True)


def _below_nine_sixteenths(batches: int) -> Positive:
    f = close_sums(_scaled_first_term(Integer(batches), Integer(batches // 2)))
    return Positive(Rational(9, 16) - cancel(f), (BELOW_ONE,), {q: 1 / (1 + p)})


def _first_term() -> list[Claim]:
    """The first term of thm:shuffle stays below αρ₀/((n/b)ηλ) if n/b ≥ 4: f = (n/b)ηλ·(first term)/(αρ₀) < 1."""
    short, level = GeometricSum(q**2, m), m * q ** (m - 1)
    rest = N - m
    long = GeometricSum(q**2, rest)
    less, halves = m < N, Le(2 * m, N)
    sizes = counted(GeometricSum(q**2, whole), rest, less), power_below(rest, less), given(BELOW_ONE)
    scale = N / ((1 + q) * m**2 * short)
    per_rest = counted(1 / GeometricSum(q**2, whole), rest, less)
    further = longer_or_equal(q**2, m, N - 2 * m, BELOW_ONE, halves)
    parts: list[tuple[str, Check]] = [
        (
            "any number of epochs: Σ_(k<K−1) x^k < 1/(1−x)",
            Certificate(GeometricSum(q, K), 1 / (1 - q), ((q**K, inverse_gap()),), (BELOW_ONE,)),
        ),
        (
            "so f = (n/b)·q^(2(m−1))/((1+q)·Σ_(s<m) q^(2s)·Σ_(s<n/b−m) q^(2s)) at most, with m = ⌊n/2b⌋",
            Identity(
                _scaled_first_term(N, m),
                N * q ** (2 * (m - 1)) / ((1 + q) * short * long),
                nonzero=(*sizes, power_below(m)),
            ),
        ),
        (
            "each sum of m powers is at least m·q^(m−1): the squares of q^s − q^(m−1−s), summed over s < m",
            Proved(at_least_level()),
        ),
        (
            "and n/b − m ≥ m, so f ≤ (n/b)/((1+q)m²)",
            Certificate(
                N * q ** (2 * (m - 1)) / ((1 + q) * short * long),
                N / ((1 + q) * m**2),
                (
                    (scale, per_rest, sizes[0], at_least_level()),
                    (scale * level, per_rest, at_least_level()),
                    (scale * level, per_rest, further),
                ),
                nonzero=sizes,
            ),
        ),
        (
            "n/b = 2m, m ≥ 2: that is 2/((1+q)m) < 1",
            Certificate(2 / ((1 + q) * m), Integer(1), ((1 / ((1 + q) * m), Ge(m, 2)), (q / (1 + q),)), (Ge(m, 2),)),
        ),
        (
            "n/b = 2m+1, m ≥ 3: that is (2m+1)/((1+q)m²) < 1",
            Certificate(
                (2 * m + 1) / ((1 + q) * m**2),
                Integer(1),
                (((m + 1) / ((1 + q) * m**2), Ge(m, 3)), (2 / ((1 + q) * m**2),), (q / (1 + q),)),
                (Ge(m, 3),),
            ),
        ),
        (
            "n/b = 5: f < 9/16",
            _below_nine_sixteenths(5),
        ),
        (
            "n/b = 4: f < 9/16 too",
            _below_nine_sixteenths(4),
        ),
        (
            "n/b = 3: f ≤ 1 exactly where q + q² + q³ ≥ 2, that is ηλ ≤ 0.1894…",
            Identity(
                1 - _scaled_first_term(Integer(3), Integer(1)),
                (q + q**2 + q**3 - 2) / ((1 + q) * (1 + q**2)),
                (BELOW_ONE,),
            ),
        ),
        (
            "n/b = 2: f > 1 everywhere",
            Identity(1 - _scaled_first_term(Integer(2), Integer(1)), -(1 - q) / (1 + q), (BELOW_ONE,)),
        ),
    ]
    return [
        Claim(f"thm:shuffle/first-term/{number}", "thm:shuffle", "Appendix E.1, first term", says, check)
        for number, (says, check) in enumerate(parts, start=1)
    ]


def _against_composition(run: Setting, order: int) -> AtPoint:
    """thm:shuffle > composition at a point, by enclosures."""
    ours, theirs = (statement(label).enclose(run, alpha=order) for label in ("thm:shuffle", "mironov2019"))
    low, high = (Rational(*end.as_integer_ratio()) for end in (ours.lo, theirs.hi))
    letters = {"n/b": run["n"] / run["b"], "η": run["eta"], "σ²": run["sigma2"], "α": order, "K": run["K"]}
    return AtPoint(low, high, Gt, f"{', '.join(f'{k} = {v}' for k, v in letters.items())}, λ = β = S_g = b = 1")


def _composition() -> list[Claim]:
    """In units of αρ₀, with `M_x` and `w` for the two terms of thm:shuffle."""
    two = Setting(n=2, b=1, K=4, eta="1/2", lam=1, beta=1, sigma_squared=56000, S_g=1)
    failure = _against_composition(*THREE_BATCHES)
    first, second = Le(M_x, 1 / (N * (1 - q))), Le(w, 1)  # thm:shuffle/first-term if n/b ≥ 4, thm:shuffle/last-batch
    long = Ge(K, 1 / (1 - q) + N)
    return [
        Claim(
            id="thm:shuffle/composition",
            consequence="text",
            label="thm:shuffle",
            where="Section 4.1 and Appendix E.1",
            says="thm:shuffle is strictly smaller than the composition bound after 1/(λη) + n/b epochs (S_g > 0)",
            printed=replace(failure, relation=Lt),
            corrected=Certificate(
                M_x + w,
                K / N,
                ((S.One, first), (S.One, second), (1 / N, long)),
                (first, second, long, BELOW_ONE),
            ),
            correction="true if n/b ≥ 4 is whole: composition costs at least Kαρ₀·b/n (mironov2019:small_rate); "
            "also if n/b = 3 and q + q² + q³ ≥ 2, q = 1 − ηλ",
        ),
        Claim(
            id="thm:shuffle/composition/two",
            label="thm:shuffle",
            where="Section 4.1 and Appendix E.1",
            says="with n/b = 2 it is larger at one such number of epochs",
            printed=_against_composition(two, 5000),
        ),
    ]
