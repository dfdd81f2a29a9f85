"""The main text: abstract, introduction, overview with Algorithm 1, and Sections 3 and 4."""

from __future__ import annotations

from functools import cache

import numpy as np
from sympy import Eq, Expr, Ge, Gt, Integer, Le, Lt, Rational, S, cancel, diff, exp

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.experiment.losses import Quadratic
from hsdp_symbolic.experiment.simulate import Experiment, simulate
from hsdp_symbolic.functions.expm1 import Expm1
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.paper.fixed_order import first_term
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.algebra import close_sums
from hsdp_symbolic.proof.certificates import Positive
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Check, Definition, Identity, Induction, Limit
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.kernel import Theorem, combine, cut, substitute
from hsdp_symbolic.proof.search import given
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    R1,
    R2,
    K,
    L,
    M_x,
    N,
    S_exp,
    S_g,
    a,
    alpha,
    b,
    c,
    decay,
    eta,
    gap,
    hit,
    i,
    j,
    j0,
    k,
    lam,
    m,
    n,
    p,
    q,
    q_balle,
    r_miss,
    rate,
    rho0,
    rho_n,
    sigma2,
    theta,
    u,
    w,
    w1,
    whole,
    y_half,
)

from ..claim import Claim, Group, Note
from ..lemmas import (
    BELOW_ONE,
    above_one,
    at_least_count,
    at_value,
    counted,
    exp_above,
    exp_below_one,
    exp_falls,
    first_of_sum,
    power_at_most_one,
    power_at_most_square,
    power_below,
    termwise,
)

_FIGURE = Setting(n=50, b=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
"""The setting of all figures, without K."""
_DECAY = q ** (2 * N - 2 * m)
"""What `decay` stands for below: the contraction of the second half of an epoch."""
_LAST = 24
_ORDERS = (10, 15)
_SHUFFLE, _SAMPLE, _FIXED = "thm:shuffle", "thm:amp_samp_wo_replacement", "thm:strconvexsmooth"
_COMPOSED, _NAIVE, _BALLE = "mironov2019", "thm:naive_RDP_baseline", "balle2019"


def groups() -> tuple[Group, ...]:
    return (
        _growth_and_convergence,
        _against_composition,
        _naive_baseline,
        _overview,
        _postprocessing,
        _fixed_order,
        _shuffle,
        _sampling,
    )


@cache
def _ends(label: str, epochs: int, order: int, place: int | None) -> tuple[Rational, Rational]:
    """A bound in the figures' setting, from below and from above."""
    where = {} if place is None else {"j0": place}
    found = statement(label).enclose_at(_FIGURE, {"K": epochs, "alpha": order, **where})
    return Rational(*found.lo.as_integer_ratio()), Rational(*found.hi.as_integer_ratio())


def _ratio(
    top: str, bottom: str, epochs: int, order: int, place: int | None = None, at: int | None = None
) -> tuple[Rational, Rational]:
    """top/bottom, from below and from above; `place` is the record's batch, `at` another number of epochs for top."""
    placed = {_FIXED, _BALLE}
    low, high = _ends(top, epochs if at is None else at, order, place if top in placed else None)
    low_, high_ = _ends(bottom, epochs, order, place if bottom in placed else None)
    return low / high_, high / low_


def _settled(expr: Expr) -> Expr:
    """A bound after infinitely many epochs: its geometric sum over epochs extended to all of them."""
    (epochs,) = (total for total in expr.atoms(GeometricSum) if total.has(K))
    return expr.subs(epochs, 1 / (1 - epochs.args[0]))


def _growth_and_convergence() -> list[Claim]:
    composed, balle = statement(_COMPOSED).expr, statement(_BALLE).expr
    left = alpha * rho0 / GeometricSum(q**-2, m) * decay ** (K - 1) / (1 - decay)
    order, used = given(alpha > 1), counted(GeometricSum(q**-2, whole), N - j0, j0 < N)
    found = [
        Claim(
            "0/sentence-1:linear",
            _COMPOSED,
            "Abstract; Sections 4.1 and 4.2",
            "the bound by composition is K times that of one epoch",
            Definition(composed, K * composed.subs(K, 1)),
            items=("0/sentence-1", "4.1/sentence-7", "4.2/sentence-4"),
        ),
        Claim(
            "3.1/sentence-8:linear",
            _BALLE,
            "Section 3.1, line 381, and Section 3.2, line 494",
            "Balle et al. with composition over the epochs grows by the same amount with every epoch",
            Definition(balle - balle.subs(K, 1), (K - 1) * alpha * rho0 * q_balle ** (N / 2) / (N - 1)),
            items=("3.1/sentence-8", "3.2/sentence-6"),
        ),
    ]
    for label, item, items in (
        (_SHUFFLE, "0/sentence-3", ("0/sentence-2", "0/sentence-3", "4.1/sentence-8")),
        (_FIXED, "3/sentence-1", ("3/sentence-1", "3.1/sentence-9", "3.2/sentence-7")),
    ):
        bound = statement(label).expr.subs(_DECAY, decay)
        bound = bound.subs(dict.fromkeys(bound.atoms(LogMeanExp), w))  # any second term: it does not change with K
        found.append(
            Claim(
                f"{item}:exponential",
                label,
                "Abstract, Sections 3 and 4.1" if label == _SHUFFLE else "Section 3, lines 344, 381 and 494",
                f"{label} converges exponentially: its distance to the limit shrinks by q^(2(n/b−m)) an epoch",
                Identity(_settled(bound), bound + left, (decay < 1,), nonzero=(order if label == _SHUFFLE else used,)),
                items=items,
            )
        )
    return found


def _against_composition() -> list[Claim]:
    late = [_ratio(_SAMPLE, _COMPOSED, 50, order) for order in (10, 15, 20)]
    later = max(late[0][1], late[1][1], _ratio(_SAMPLE, _COMPOSED, 89, 20)[1])
    shuffled = max(
        _ratio(_SHUFFLE, _COMPOSED, epochs, order, at=at)[1] for epochs, at in ((8, 8), (9, 40)) for order in _ORDERS
    )
    others = max(
        _ratio(_SHUFFLE, other, 40, order, _LAST)[1] for other in (_COMPOSED, _BALLE, _NAIVE) for order in _ORDERS
    )
    early = max(_ratio(_COMPOSED, _SHUFFLE, epochs, order)[1] for epochs in range(1, 8) for order in _ORDERS)
    both = AtPoint(_ratio(_SAMPLE, _COMPOSED, 40, 15)[0], Integer(1), Lt, "figure setting, α = 15, K = 40")
    return [
        Claim(
            "0/sentence-3:schemes",
            _SAMPLE,
            "Abstract; Section 2, line 338",
            "under both schemes the bound is below composition after a few epochs (here sampling over composition)",
            both,
            AtPoint(
                shuffled, Integer(1), Lt, "shuffle at K = 8 over composition at 8, shuffle at 40 over composition at 9"
            ),
            "so for shuffle, in the figures from K = 8 on; the sampling bound is above composition where Figure 2 "
            "ends (α = 15, K = 40), and gets below it at K = 34 (α = 10), 48 (α = 15), 89 (α = 20)",
            items=("0/sentence-3", "2/sentence-13"),
            consequence="text",
        ),
        Claim(
            "1/sentence-5:prior",
            _SAMPLE,
            "Section 1, line 291",
            "under both schemes the bound improves on Balle et al., Mironov et al. and Chourasia et al. (first figure)",
            both,
            AtPoint(others, Rational(1, 4), Lt, "shuffle over each of the three, α = 10 and 15, K = 40, last batch"),
            "shuffle is below a quarter of each of the three at K = 40; the sampling bound, which that figure does not "
            "show, is above composition there at α = 15",
            items=("1/sentence-5",),
            consequence="text",
        ),
        Claim(
            "1/sentence-8:early",
            _SHUFFLE,
            "Section 1, line 293",
            "for few epochs composition is not costly: up to K = 7 it is even below thm:shuffle (figure setting)",
            AtPoint(early, Integer(1), Lt, "composition over shuffle, figure setting, α = 10 and 15, K = 1, …, 7"),
            items=("1/sentence-8",),
        ),
        Claim(
            "4.2/sentence-6:orders",
            _SAMPLE,
            "Section 4.2, line 639",
            "at α = 10, 15, 20 the sampling bound is below composition after 50 epochs",
            AtPoint(late[2][0], Integer(1), Lt, "ratio of the two, figure setting, α = 20, K = 50"),
            AtPoint(later, Integer(1), Lt, "ratio of the two, α = 10 and 15 at K = 50, α = 20 at K = 89"),
            "at K = 50 it is smaller by a third (α = 10) and by 4 % (α = 15), but at α = 20 it is 0.359 against 0.202, "
            "and smaller only from K = 89 on; the figure ends at K = 40 and has no α = 20",
            items=("4.2/sentence-6",),
            consequence="text",
        ),
    ]


_Z = y_half
_SMALL = Lt(_Z, Rational(1, 2))
"""z = ηλ/2 < 1/2, as η < 2/(λ + β) and λ ≤ β."""


def _baseline_step() -> Expr:
    """What the baseline costs after one epoch, in units of αρ₀."""
    return 2 * (1 - exp(-_Z)) / _Z


def _steep() -> Theorem:
    """It is at least 3/2: 1 − e^(−z) ≥ z − z²/2."""
    terms = (2 / _Z, at_value(exp_falls(3), _Z)), (S.One, given(_SMALL))
    return combine(Rational(3, 2), _baseline_step(), *terms)


def _later_epochs() -> Theorem:
    """1 + Σ_(s<k+1) (1 − 2z)^(2s) ≤ (2/z)(1 − e^(−z))·Σ_(s<k+2) e^(−zs).

    With w for 1 − 2z ≤ e^(−2z), so that w² ≤ e^(−4z) ≤ e^(−z).
    """
    e, here = exp(-_Z), Le(w, exp(-2 * _Z))
    below, low = exp_below_one(_Z), at_value(exp_falls(2), _Z)
    fourth = combine(w**2, exp(-4 * _Z), (w + exp(-2 * _Z), given(here)))
    faster = combine(w**2, e, (S.One, fourth), (e * (1 + e + e**2), below))
    tail = GeometricSum(e, k)
    sums = substitute(termwise(w**2, e, faster), {i: k})
    found = combine(
        1 + GeometricSum(w**2, k + 1),
        _baseline_step() * GeometricSum(e, k + 2),
        (GeometricSum(e, k + 2), _steep()),
        (w**2, sums),
        (fourth, tail),
        (Rational(3, 2), low),
        (Rational(3, 2), given(_SMALL)),
        (Rational(1, 4),),
        (e**2 * tail, 1 + e, below),
        (e**2 * tail / 2,),
        nonzero=[below],
        by=[kernel.unfold(GeometricSum(w**2, k), 1)],
    )
    at = substitute(found, {w: 1 - 2 * _Z}, combine(S.Zero, 1 - 2 * _Z, (Integer(2), given(_SMALL))))
    return cut(at, at_value(exp_falls(2), 2 * _Z))


def _naive_baseline() -> list[Claim]:
    naive = statement(_NAIVE).expr
    ceiling = naive.subs(Expm1(-K * eta * lam / 2), -1) / (alpha * rho0)
    ceiling = ceiling.subs(rho0, ABBREVIATIONS[rho0])
    worse = max(_ratio(_COMPOSED, _NAIVE, 25, order)[1] for order in _ORDERS)
    half = _ends(_NAIVE, 69, 15, None)[1]
    fixed = statement(_FIXED).expr.subs(j0, N - 1) / (alpha * rho0)
    short, long = GeometricSum(q**-2, m), GeometricSum(_DECAY, K - 1)
    # With z = ηλ/2 ≤ 1/2 and e = e^(−z) the baseline is αρ₀·(2/z)(1 − e)·Σ_(s<K) e^s; K = k + 2.
    fewer = substitute(termwise(_DECAY, q**2, power_at_most_square(N - m, m < N)), {i: K - 1})
    parts: list[tuple[str, Check]] = [
        (
            "for the last batch it is at most αρ₀(1 + Σ_(s<K−1) q^(2s))",
            Certificate(
                fixed,
                1 + GeometricSum(q**2, K - 1),
                ((Integer(1), fewer), (long / short, first_of_sum(q**-2, m))),
            ),
        ),
        (
            "which at K = 1 is below the baseline, in units of αρ₀ …",
            Certificate(Integer(1), _baseline_step(), ((Integer(1), _steep()), (Rational(1, 2),))),
        ),
        ("… and at K = k + 2, k ≥ 0, too (q = 1 − 2z)", Proved(_later_epochs())),
    ]
    spread = min(_ratio(_NAIVE, _FIXED, epochs, 15, 0)[0] for epochs in range(1, 26))
    return [
        Claim(
            "2/sentence-5:worse",
            _NAIVE,
            "Section 2, line 307",
            "the naive baseline is far above composition: more than 40 times, at K = 25 in the figures' setting",
            AtPoint(worse, Rational(1, 40), Lt, "composition over baseline, figure setting, α = 10 and 15, K = 25"),
            items=("2/sentence-5",),
        ),
        Claim(
            "2/sentence-5:slowly",
            _NAIVE,
            "Section 2, line 307",
            "it converges slowly to αS_g²/(λσ²b²): 15 in the figures' setting, less than half of it after 69 epochs",
            AtPoint(half, Rational(15, 2), Lt, "baseline, figure setting, α = 15, K = 69"),
            items=("2/sentence-5",),
        ),
        Claim(
            "2/sentence-5:constant",
            _NAIVE,
            "Section 2, line 307",
            "the constant it converges to is worse than composition (whatever the number of epochs)",
            AtPoint(
                _ratio(_COMPOSED, _NAIVE, 5000, 15)[0], Integer(1), Lt, "composition over baseline, α = 15, K = 5000"
            ),
            Certificate(
                ceiling,
                K / N,
                ((1 / N, Ge(K, 4 * N / (eta * lam))),),
                (Ge(K, 4 * N / (eta * lam)),),
            ),
            "not for long runs: composition costs at least Kαρ₀·b/n (mironov2019:small_rate), which is above the "
            "constant from K = 4(n/b)/(ηλ) on (5000 in the figures' setting)",
            items=("2/sentence-5",),
            consequence="text",
        ),
        *(
            Claim(
                f"3.2/sentence-3:naive/{number}",
                _FIXED,
                "Section 3.2, line 491",
                f"thm:strconvexsmooth is smaller than the naive baseline: {says}",
                check,
                items=("3.2/sentence-3",),
            )
            for number, (says, check) in enumerate(parts, start=1)
        ),
        Claim(
            "3.2/sentence-4:first",
            _FIXED,
            "Section 3.2, line 492",
            "for the first batch the bound is smaller than the naive baseline by a factor of about n/b (25, Figure 1)",
            AtPoint(_ratio(_NAIVE, _FIXED, 25, 15, 0)[0], Integer(50), Le, "ratio, K = 25, against twice n/b"),
            AtPoint(spread, Integer(44), Gt, "smallest ratio, figure setting, K = 1, …, 25"),
            "by a factor of 84 at K = 1, 44 at K = 2 (the least), 239 at K = 25, 1079 in the limit; about n/b only as "
            "ηλ → 0 with many epochs",
            items=("3.2/sentence-4",),
            consequence="text",
        ),
        Claim(
            "3.2/sentence-4:last",
            _FIXED,
            "Section 3.2, line 492",
            "for the last batch the improvement is significant too: a factor of 38 at K = 25",
            AtPoint(_ratio(_NAIVE, _FIXED, 25, 15, _LAST)[0], Integer(38), Gt, "ratio, figure setting, K = 25"),
            items=("3.2/sentence-4",),
        ),
    ]


def _overview() -> list[Claim]:
    naive = statement(_NAIVE).expr
    chourasia = statement("thm:GD_baseline").expr.subs(Expm1(-K * eta * lam / 2), -1)
    attained = statement("exact:full_batch").expr.subs(
        {GeometricSum(q, K): 1 / (1 - q), GeometricSum(q**2, K): 1 / (1 - q**2)}
    )
    spelled = {rho_n: ABBREVIATIONS[rho_n]}
    noisy = Experiment(Quadratic(1.0, 2.0), np.array([0.0, 1.0]), np.array([1.0]), eta=0.125, sigma=3.0, b=1, K=1)
    spread = Rational(*noisy.noise.as_integer_ratio()) ** 2
    step = Experiment(
        Quadratic(0.5, 2.0),
        np.array([0.5, 1.5]),
        np.array([1.0]),
        eta=0.25,
        sigma=1.0,
        b=2,
        K=1,
        scheme="full_batch",
        start=1.0,
    )
    centres = simulate(step, 1, centres=True, jobs=1).centres
    assert centres is not None
    moved = Rational(*float(centres[0, 0]).as_integer_ratio())
    slopes = [diff(theta**2 / 4 - record * theta, theta) for record in (Rational(1, 2), Rational(3, 2))]
    return [
        Claim(
            "2/sentence-1:constant",
            "thm:GD_baseline",
            "Section 2, line 301",
            "the GD bound of Chourasia et al. is tight: at most 4 times what a quadratic loss attains, for K → ∞",
            Certificate(
                chourasia,
                4 * attained.subs(spelled).subs(q, 1 - eta * lam),
                ((alpha * S_g**2 / (lam * sigma2 * n**2), eta * lam < 1),),
                (eta * lam < 1,),
            ),
            items=("2/sentence-1",),
            sharper="tight up to a constant only: thm:GD_tighter is strictly smaller, as the paper says itself",
            consequence="loose",
        ),
        Claim(
            "2/footnote-2:factor",
            _NAIVE,
            "Section 2, footnote to line 307",
            "Ryffel et al., with n² for b² (Appendix C), is smaller by (n/b)²: 625 in the figures, hardly slight",
            Definition(naive / naive.subs(b, n), (n / b) ** 2),
            items=("2/footnote-2",),
        ),
        Claim(
            "2/algorithm-1:sigma",
            "",
            "Algorithm 1, line 1",
            "σ is the standard deviation of the noise (simulate.py at η = 1/8, σ = 3: its square)",
            AtPoint(spread, Integer(9), Eq, "simulate.py, η = 1/8, σ = 3"),
            AtPoint(
                spread, (2 * eta * sigma2).subs({eta: Rational(1, 8), sigma2: 9}), Eq, "simulate.py, η = 1/8, σ = 3"
            ),
            "the noise of an update has variance 2ησ², as the update line says; σ alone is a scale",
            items=("2/algorithm-1",),
            consequence="text",
        ),
        Claim(
            "2/algorithm-7:update",
            "",
            "Algorithm 1, update",
            "θ moves by −η times the mean gradient of the batch (simulate.py: λ = 1/2, η = 1/4, records 1/2 and 3/2)",
            AtPoint(moved, (theta - Rational(1, 4) * sum(slopes) / 2).subs(theta, 1), Eq, "simulate.py, θ = 1"),
            items=("2/algorithm-7",),
        ),
        Claim(
            "2/sentence-11:components",
            _SAMPLE,
            "Section 2, line 338",
            "with S values of a batch there are S^(K·n/b) sequences (resampling; one shuffle: n!/b!^(n/b), for any K)",
            Induction(S_exp ** (N * k), k, 0, Integer(1), u, u * S_exp**N),
            items=("2/sentence-11",),
        ),
    ]


def _postprocessing() -> list[Claim]:
    factor = statement("lem:recursive").expr.subs(hit, 0) / u  # after noise for a time η
    loss = lam * theta**2 / 2 - a * theta  # the quadratic loss at a record `a`
    update = theta - eta * diff(loss, theta)
    feldman = 2 * (S_g / 2) ** 2 / (2 * sigma2 / eta)  # 2L²/σ², noise added to the gradient: η²σ² is 2ησ² here
    ours = statement("thm:convexsmooth").expr.subs(K, 1).subs(rho0, ABBREVIATIONS[rho0]).subs(b, 1)
    return [
        Claim(
            "3.1/sentence-1:exponential",
            "lem:post_proc",
            "Section 3.1, line 350",
            "under added Gaussian noise the divergence decays exponentially in time (at its initial rate 2cσ²/L²)",
            AtPoint(
                factor.subs({c: 1, L: 1, sigma2: Rational(1, 2), eta: 1}), exp(-1), Le, "c = L = 1, σ² = 1/2, time 1"
            ),
            Limit((factor / p).subs(eta, 1 / p), p, Integer(0), L**2 / (2 * c * sigma2)),
            "it decays like 1/t: c_t falls with t, the factor is 1/(1 + 2cσ²t/L²); "
            "exponential decay over updates comes from the contraction 1 − ηλ < 1, not from noise",
            items=("3.1/sentence-1",),
            consequence="text",
        ),
        Claim(
            "3.1/sentence-4:gradient",
            "lem:recursive",
            "Lemma 3.2, line 366",
            "the update map is θ − η·(1/b)·Σ ℓ(θ; x) (here for λθ²/2 − aθ)",
            Identity(update, theta - eta * loss),
            Identity(update, (1 - eta * lam) * theta + eta * a),
            "the gradient is missing: θ − η·(1/b)·Σ ∇ℓ(θ; x), as in Algorithm 1",
            items=("3.1/sentence-4",),
            consequence="formula",
        ),
        Claim(
            "3.1/sentence-6:feldman",
            "thm:convexsmooth",
            "Section 3.1, line 381",
            "one epoch, b = 1: the convex bound is α·2L²/(σ²(n+1−i)) of Feldman et al. for record i = j0 + 1",
            Definition(ours, alpha * feldman / (N + 1 - (j0 + 1))),
            items=("3.1/sentence-6",),
        ),
    ]


def _fixed_order() -> list[Claim]:
    places = [_ratio(_BALLE, _FIXED, 1, 15, place) for place in range(_LAST + 1)]
    apart = max(max(high, 1 / low) for low, high in places)
    late = max(_ratio(_FIXED, _BALLE, 25, order, place)[1] for order in _ORDERS for place in (0, _LAST))
    return [
        Claim(
            "3.2/sentence-5:first-epoch",
            _FIXED,
            "Section 3.2, line 494",
            "at K = 1 the bound and that of Balle et al. are of the same order: within a factor of 2, for every batch",
            AtPoint(apart, Integer(2), Lt, "figure setting (α cancels), K = 1, j0 = 0, …, 24"),
            items=("3.2/sentence-5",),
        ),
        Claim(
            "3.2/sentence-7:balle",
            _FIXED,
            "Section 3.2, line 494",
            "at K = 25 it is well below Balle et al. with composition, for the first and the last batch",
            AtPoint(late, Rational(3, 4), Lt, "ratio, figure setting, α = 10 and 15, j0 = 0 and 24"),
            items=("3.2/sentence-7",),
        ),
        Claim(
            "4/sentence-3:order-one",
            "lem:rootconvexity1",
            "Lemma 4.1, line 502",
            "α = 1 is allowed (R_α is defined for α > 1 only): there both sides are 1, if the divergences are finite",
            Definition((w1 * exp((alpha - 1) * R1) + (1 - w1) * exp((alpha - 1) * R2)).subs(alpha, 1), Integer(1)),
            items=("4/sentence-3",),
        ),
    ]


def _shuffle() -> list[Claim]:
    bound, start = statement(_SHUFFLE).expr, statement("eps0").expr
    units, total = GeometricSum(q**-2, m), GeometricSum(q**-2, N)
    growth = (first_term().subs(K, K + 1) - first_term()) / (alpha * rho0)
    left = combine(S.Zero, (N - m) * (K - 1), (K - 1, given(m < N)))
    more = at_least_count(q**-2, above_one())
    second_epoch = [statement(_FIXED).exact(_FIGURE, K=epochs, alpha=15, j0=0) for epochs in (1, 2)]
    grown = Rational(*(second_epoch[1] - second_epoch[0]).as_integer_ratio())
    longest = Rational(*statement("eps0").exact(_FIGURE, alpha=15, j=25).as_integer_ratio())
    full = statement("exact:full_batch").expr.subs(K, 1).subs(rho_n, ABBREVIATIONS[rho_n]).subs(n, b)
    epoch = statement("mironov2019:small_rate").expr.subs(K, 1) / (alpha * rho0)
    settled = Le(M_x, 1 / (N * (1 - q)))  # thm:shuffle/first-term, if n/b ≥ 4
    three = Setting(n=3, b=1, eta="1/2", lam=1, beta=1, sigma_squared=250, S_g=1)
    first = [statement(_FIXED).exact(three, K=epochs, alpha=2, j0=0) for epochs in (1, 3)]
    composed = statement(_COMPOSED).enclose(three, K=3, alpha=2).hi
    return [
        Claim(
            "4.1/sentence-2:strict",
            _SHUFFLE,
            "Section 4.1, line 616",
            "thm:shuffle is smaller than the bound for the last batch, strictly: n/b ≥ 2, and ε₀² < ε₀¹ in its average",
            Positive(cancel(close_sums(start.subs(j, 1) - start.subs(j, 2)) / (alpha * rho0))),
            items=("4.1/sentence-2",),
        ),
        Claim(
            "4.1/sentence-4:only-first",
            _SHUFFLE,
            "Section 4.1, line 617",
            "only the first term depends on K: the rest is the bound at K = 1, where the first term is 0",
            Definition(bound - bound.subs(K, 1), first_term()),
            items=("4.1/sentence-4",),
        ),
        Claim(
            "4.1/sentence-4:growth",
            _SHUFFLE,
            "Section 4.1, line 617",
            "an epoch adds less than ε₀^(n/b) to the first term (here the second epoch)",
            AtPoint(grown, longest, Lt, "figure setting, α = 15, from K = 1 to K = 2"),
            Certificate(
                growth,
                3 / N,
                (
                    (1 / units, power_at_most_one((N - m) * (K - 1), left)),
                    (1 / (m * units), substitute(more, {i: m})),
                    (1 / (N * m), Le(N, 3 * m)),
                ),
                (Le(N, 3 * m),),
                nonzero=(power_below(N - m, m < N),),
            ),
            "it adds up to ε₀^m, m = ⌊n/2b⌋, 2.8 times ε₀^(n/b) in the figures and above (b/n)αρ₀ too; that is at most "
            "3(b/n)αρ₀, so the rate O(b/n) stands",
            items=("4.1/sentence-4",),
            consequence="argument",
        ),
        Claim(
            "4.1/sentence-4:longest",
            "eqn:proof_strongly_convex_first_epoch",
            "Section 4.1, line 617",
            "ε₀^(n/b) < (b/n)·αηS_g²/(4σ²b²) (n/b ≥ 2; in units of αρ₀)",
            Certificate(
                start.subs(j, N) / (alpha * rho0),
                1 / N,
                ((1 / (N * total), substitute(more, {i: N})),),
            ),
            items=("4.1/sentence-4",),
        ),
        Claim(
            "4.1/sentence-5:full-batch",
            "exact:full_batch",
            "Section 4.1, line 617",
            "αηS_g²/(4σ²b²) is exactly the cost of one full-batch update on b records",
            Definition(full, alpha * eta * S_g**2 / (4 * sigma2 * b**2)),
            items=("4.1/sentence-5",),
        ),
        Claim(
            "4.1/sentence-6:epoch",
            "mironov2019:small_rate",
            "Section 4.1, line 617",
            "the prior amplification rate for one epoch is b²/n² (over αρ₀; composition costs at least this)",
            Identity(epoch, b**2 / n**2),
            Definition(epoch, (n / b) * (b**2 / n**2)),
            "b²/n² is the rate of one iteration; the n/b iterations of an epoch make it b/n, which is what matches",
            items=("4.1/sentence-6",),
            consequence="text",
        ),
        Claim(
            "4.1/sentence-10:first",
            _SHUFFLE,
            "Section 4.1, line 619",
            "the first term is smaller than composition after 1/(λη) epochs",
            AtPoint(
                Rational(*(first[1] - first[0]).as_integer_ratio()),
                Rational(*composed.as_integer_ratio()),
                Lt,
                "n/b = 3, η = 1/2, σ² = 250, α = 2, K = 3, λ = β = S_g = b = 1",
            ),
            Certificate(
                M_x,
                K / N,
                ((Integer(1), settled), (1 / N, Ge(K, 1 / (1 - q)))),
                (settled, Ge(K, 1 / (1 - q)), BELOW_ONE),
            ),
            "true if n/b ≥ 4 is whole; in units of αρ₀, with M_x for the first term",
            items=("4.1/sentence-10",),
            consequence="argument",
        ),
        Claim(
            "4.1/sentence-10:second",
            _SHUFFLE,
            "Section 4.1, line 619",
            "the second term is smaller than composition after n/b epochs (in units of αρ₀; w is the second term)",
            Certificate(
                w,
                K / N,
                ((Integer(1), Le(w, 1)), (1 / N, Ge(K, N))),
                (Le(w, 1), Ge(K, N)),  # the former is thm:shuffle/last-batch
            ),
            items=("4.1/sentence-10",),
        ),
    ]


def _sampling() -> list[Claim]:
    hit_cost = exp(alpha * (alpha - 1) * rho0)
    step = rate * hit_cost * S_exp + (1 - rate) * S_exp**r_miss
    apart = max(_ratio(_SHUFFLE, _SAMPLE, 1, order, at=40)[1] for order in _ORDERS)
    some = rate < 1
    cost = combine(Integer(0), alpha * (alpha - 1) * rho0, (alpha * rho0, given(alpha > 1)))
    costs = substitute(exp_above(1), {gap: alpha * (alpha - 1) * rho0}, cost)
    powers = substitute(kernel.monotone(p**w, p, given(Ge(S_exp, 1))), {w: 1 - r_miss}, given(r_miss < 1))
    slower = combine(S_exp**r_miss, S_exp, (S_exp**r_miss, powers))
    return [
        Claim(
            "4.2/sentence-2:strict",
            _SAMPLE,
            "Section 4.2, line 636",
            "a step of the recursion gives less than e^(α(α−1)ρ₀)·S (strictly if b < n, S_g > 0; r is q²)",
            Certificate(
                step,
                hit_cost * S_exp,
                (
                    (some, S_exp, costs),
                    (some, slower),
                ),
                (some,),
            ),
            items=("4.2/sentence-2",),
        ),
        Claim(
            "4.2/sentence-3:larger",
            _SAMPLE,
            "Section 4.2, line 637",
            "in Figure 2 the sampling bound is above the shuffle bound: at K = 1 already above the latter at K = 40",
            AtPoint(apart, Integer(1), Lt, "shuffle at K = 40 over sampling at K = 1, α = 10, 15 (both rise with K)"),
            items=("4.2/sentence-3",),
        ),
    ]


def notes() -> list[Note]:
    return [
        Note("0/sentence-3", "restates", "under sampling it converges only conditionally", f"{_SAMPLE}/converges"),
        Note("0/sentence-4", "restates", "hidden state amplifies, in long runs", "0/sentence-3:schemes"),
        Note("1/sentence-1", "attributes", "DP-SGD converges slowly, so composition adds up", "Bu et al. 2021"),
        Note(
            "1/sentence-2", "attributes", "variants that converge faster need fewer iterations", "Kairouz et al. 2021"
        ),
        Note("1/sentence-3", "attributes", "optimal excess risk in linear time", "Feldman et al. 2020"),
        Note("1/sentence-4", "opinion", "the challenge the paper sets itself"),
        Note("1/sentence-6", "restates", "full batches: strictly tighter", "thm:GD_tighter/strict/3"),
        Note("1/sentence-7", "restates", "hidden-state analysis pays for long runs", "0/sentence-3:schemes"),
        Note("2/footnote-1", "layout", "points to the preliminaries"),
        Note("2/sentence-2", "layout", "a question that leads to Theorem 2.1"),
        Note("2/sentence-3", "definition", "updates with the record are seen as descent on a dataset of size b"),
        Note("2/theorem-1", "restates", "naive baseline, η < 2/(λ+β) as in the catalogue; no proof given", _NAIVE),
        Note("2/sentence-4", "restates", "its condition and bound, as in the catalogue", _NAIVE),
        Note("2/sentence-6", "restates", "tighter than the naive baseline", "3.2/sentence-3:naive/3"),
        Note("2/sentence-7", "restates", "full batches: strictly tighter", "thm:GD_tighter/strict/3"),
        Note("2/sentence-8", "definition", "the law of the last iterate as a mixture over batch sequences"),
        Note("2/algorithm-2", "definition", "n/b batches of size b in each of K epochs"),
        Note("2/algorithm-3", "restates", "one random partition, kept for all epochs", "thm:shuffle"),
        Note("2/algorithm-4", "restates", "every batch drawn afresh without replacement", _SAMPLE),
        Note("2/algorithm-5", "definition", "epochs 0, …, K−1"),
        Note("2/algorithm-6", "definition", "iterations 0, …, n/b−1 of an epoch"),
        Note("2/algorithm-8", "definition", "an epoch starts where the one before ended"),
        Note("2/algorithm-9", "definition", "only the last iterate is released"),
        Note("2/footnote-3", "restates", "b need not divide n: ⌊n/b⌋ for n/b", "thm:shuffle"),
        Note("2/sentence-9", "layout", "order of presentation: a fixed batch sequence first"),
        Note("2/sentence-10", "restates", "added noise lowers the divergence", "lem:post_proc"),
        Note("2/sentence-12", "restates", "joint convexity bounds a mixture by its components", "lem:rootconvexity1"),
        Note("3.1/lemma-1", "restates", "for α > 1, as in the catalogue", "lem:post_proc"),
        Note("3.1/sentence-2", "definition", "f maps ℝ^d to itself, measurably"),
        Note("3.1/sentence-3", "restates", "c_t = 1/(L²/c + 2tσ²)", "lem:post_proc"),
        Note("3.1/display-1", "restates", "the differential inequality", "lem:post_proc"),
        Note("3.1/lemma-2", "restates", "one update; its map is misprinted (3.1/sentence-4)", "lem:recursive"),
        Note("3.1/display-2", "restates", "both cases, and α'", "lem:recursive"),
        Note("3.1/sentence-5", "attributes", "a tight bound for convex smooth losses", "Feldman et al. 2018"),
        Note("3.1/sentence-7", "attributes", "strongly convex losses, one epoch", "Balle et al. 2019"),
        Note("3.2/theorem-1", "restates", "K ≥ 1, n/b ≥ 2, η < 2/(λ+β), as in the catalogue", _FIXED),
        Note("3.2/sentence-1", "restates", "its conditions and ε₀^j", _FIXED),
        Note("3.2/display-1", "restates", "its bound", _FIXED),
        Note("3.2/sentence-2", "restates", "LSI constants depend on k and j", "lem:LSIseq_stronglyconvex"),
        Note("4/sentence-1", "layout", "what the section adds: random batches"),
        Note("4/sentence-2", "restates", "by convexity of the moment", "lem:rootconvexity1"),
        Note("4/lemma-1", "restates", "joint convexity; printed for α ≥ 1 (4/sentence-3)", "lem:rootconvexity1"),
        Note("4/display-1", "restates", "the inequality, for any number of components", "lem:rootconvexity1"),
        Note("4.1/theorem-1", "restates", "K ≥ 1, n/b ≥ 2, η < 2/(λ+β), as in the catalogue", _SHUFFLE),
        Note("4.1/sentence-1", "restates", "its conditions and ε₀^j", _SHUFFLE),
        Note("4.1/display-1", "restates", "its bound", _SHUFFLE),
        Note("4.1/sentence-2", "restates", "never above the bound for the last batch", "thm:shuffle/last-batch/2"),
        Note("4.1/sentence-3", "definition", "amplification rate: sub-sampled bound over full-batch bound"),
        Note("4.1/sentence-9", "restates", "below composition after 1/(λη) + n/b epochs", "thm:shuffle/composition"),
        Note("4.2/theorem-1", "restates", "η < 2/(λ+β), as in the catalogue", _SAMPLE),
        Note("4.2/sentence-1", "restates", "its conditions and recursion", _SAMPLE),
        Note("4.2/display-1", "restates", "its bound", _SAMPLE),
        Note("4.2/sentence-5", "restates", "converges for infinitely many epochs", f"{_SAMPLE}/converges"),
    ]
