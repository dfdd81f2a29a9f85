"""The figures: functions declared in their sources, what is plotted, ticks, labels and captions.

Functions are copied from the source with their arguments spelled in the paper's letters: k = K, a = α, l = λ, e = η,
g = S_g, s² = σ² and, as b divides n in every figure, n/b = N and floor(n/(2b)) = m.
"""

from __future__ import annotations

import re

from sympy import Expr, Ge, Gt, Integer, Lt, Max, Min, Piecewise, Rational, exp, log

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.evaluate.enclosure import Enclosure, enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.algebra import close_sums
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Check, Definition, Identity
from hsdp_symbolic.proof.kernel import combine, substitute
from hsdp_symbolic.proof.search import given
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    CONTRACTIONS,
    K,
    N,
    S_g,
    alpha,
    b,
    beta,
    eta,
    i,
    j,
    j0,
    lam,
    m,
    n,
    p,
    q,
    q_balle,
    rho0,
    sigma2,
    whole,
)

from ..claim import Claim, Group, Note
from ..inventory import stored
from ..lemmas import (
    BELOW_ONE,
    at_most_count,
    counted,
    exp_below_one,
    first_of_sum,
    longer_sum,
    power_below,
    root_below,
)

_COST = alpha * eta * S_g**2 / (4 * sigma2 * b**2)
"""α·ρ₀ as the sources write it."""
_HALVED = (power_below(m), power_below(N - m, m < N), given(BELOW_ONE))
"""That the sums over halves of an epoch, and over epochs, can be closed."""
_WIDTH = {"thin": Rational(2, 5), "thick": Rational(4, 5), "bold": Rational(4, 5)}
_GAP = {"solid": 0, "dashed": 3, "dotted": 2}
"""TikZ's line widths and gaps between dashes, in points."""


def groups() -> tuple[Group, ...]:
    return (
        _baseline,
        _balle,
        _ours_first,
        _ours_last,
        _unused,
        _settings,
        _axes,
        _sampling,
        _labels,
        _curves,
        _captions,
    )


def _items(section: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{section}/{name}" for name in names)


_QUOTES = {item.id: item.quote for item in stored()}
"""What the figures' sources say, from the inventory."""


def _numbers(item: str) -> tuple[Expr, ...]:
    """The numbers in an option of the source, such as ytick={0.0,0.04} or domain=0:25."""
    return tuple(map(Rational, re.findall(r"\d+(?:\.\d+)?", _QUOTES[item])))


def _row(values: tuple[Expr | int, ...]) -> Expr:
    """Several numbers as one expression, a polynomial in p (any positive number): equal only if all of them are."""
    return sum((value * p**power for power, value in enumerate(values)), Integer(0))


def _same(found: tuple[Expr | int, ...], said: tuple[Expr | int, ...]) -> Check:
    """That numbers in the source are those that were said: nothing to prove if they are, and refuted if not."""
    kind = Definition if _row(found) == _row(said) else Identity
    return kind(_row(found), _row(said))


def _run(epochs: int) -> Setting:
    """The setting of every figure."""
    return Setting(n=50, b=2, K=epochs, eta="1/50", lam=1, beta=4, sigma=2, S_g=4)


def _ends(label: str, epochs: int, order: int, place: int | None = None) -> tuple[Expr, Expr]:
    """Certified lower and upper end of a bound in the figures' setting."""
    chosen = {"alpha": order} if place is None else {"alpha": order, "j0": place}
    return _exact(statement(label).enclose_at(_run(epochs), chosen))


def _exact(found: Enclosure) -> tuple[Expr, Expr]:
    return Rational(*found.lo.as_integer_ratio()), Rational(*found.hi.as_integer_ratio())


def _drawn(expr: Expr, epochs: Expr | int, order: int) -> Expr:
    """A bound's formula in the figures' setting, also at a fraction of an epoch, where pgfplots evaluates it."""
    point = {rho0: ABBREVIATIONS[rho0], q: Rational(49, 50), N: 25, m: 12, K: epochs, alpha: order}
    numbers = {n: 50, b: 2, eta: Rational(1, 50), lam: 1, sigma2: 4, S_g: 4}
    return close_sums(expr.subs(point).subs(numbers))


def _fixed(place: Expr | int) -> Expr:
    """thm:strconvexsmooth for the batch at `place`."""
    return statement("thm:strconvexsmooth").expr.subs(j0, place)


def _spelled(expr: Expr) -> Expr:
    return expr.subs(rho0, ABBREVIATIONS[rho0])


def _baseline() -> list[Claim]:
    printed = alpha * S_g**2 / (lam * sigma2 * b**2) * (1 - exp(-lam * eta * K / 2))
    return [
        Claim(
            id="0/function-1:theorem",
            label="thm:naive_RDP_baseline",
            where="source before Section 1, line 140",
            says="naive_dp_dynamics is the bound of thm:naive_RDP_baseline",
            printed=Identity(statement("thm:naive_RDP_baseline").expr, printed),
            items=(
                "0/function-1",
                *_items("3.2", "plot-1", "plot-2", "plot-7", "plot-12", "plot-13", "plot-18"),
            ),
        )
    ]


def _balle() -> list[Claim]:
    theorem = statement("balle2019").expr
    (cases,) = theorem.atoms(Piecewise)
    first = theorem.subs(cases, cases.args[1][0]).subs(j0, 0)
    last = theorem.subs(j0, N - 1)
    epoch = alpha * eta * S_g**2 / (2 * (N - 1) * b**2 * 2 * sigma2) * q_balle ** (N / 2)
    once = alpha * eta * S_g**2 / (2 * b**2 * 2 * sigma2)
    contracts, two = q_balle < 1, Ge(N, 2)
    apart = (counted(whole, N - 1, two),)
    below = combine(
        q_balle ** (N / 2) / (N - 1),
        Integer(1),
        (counted(1 / whole, N - 1, two), root_below(q_balle, N / 2, contracts)),
        (counted(1 / whole, N - 1, two), given(two)),
        nonzero=apart,
    )
    return [
        Claim(
            id="0/function-2:contraction",
            label="balle2019",
            where="source before Section 1, lines 146 and 153",
            says="the base 1 − 2·e·4·l/(4+l) is 1 − 2ηβλ/(β+λ) for the captions' β = 4",
            printed=Identity(1 - CONTRACTIONS[q_balle].subs(beta, 4), 1 - 2 * eta * 4 * lam / (4 + lam)),
            items=_items("0", "function-2", "function-3"),
        ),
        Claim(
            id="0/function-2:theorem",
            label="balle2019",
            where="source before Section 1, line 146",
            says="priv_mixing_diffusion is K passes of balle2019 for the first batch (0 at K = 0)",
            printed=Identity(_spelled(first), epoch * K, nonzero=apart),
            items=("0/function-2", *_items("3.2", "plot-5", "plot-6", "plot-9")),
        ),
        Claim(
            id="0/function-3:theorem",
            label="balle2019",
            where="source before Section 1, line 152",
            says="the first argument of min in priv_mixing_diffusion_last_batch is balle2019 for the last batch",
            printed=Identity(_spelled(last), epoch * (K - 1) + once, nonzero=apart),
            items=("0/function-3", *_items("3.2", "plot-16", "plot-17", "plot-20")),
        ),
        Claim(
            id="0/function-3:cap",
            label="balle2019",
            where="source before Section 1, line 154",
            says="min(·, 2Kαρ₀) changes nothing for K ≥ 1: the bound is at most 2Kαρ₀",
            printed=Certificate(
                last,
                2 * K * alpha * rho0,
                ((alpha * rho0 * (K - 1), below), (alpha * rho0 * K,)),
                nonzero=apart,
            ),
            items=("0/function-3",),
        ),
        Claim(
            id="0/function-3:start",
            label="balle2019",
            where="source before Section 1, line 154",
            says="and starts the curve in 0: at K = 0 the other argument is positive (n/b > 2)",
            printed=Certificate(
                Integer(0),
                last.subs(K, 0),
                ((alpha * rho0, below),),
                nonzero=apart,
            ),
            items=("0/function-3", "3.2/axis-17"),
        ),
    ]


def _first_term_printed() -> Expr:
    """What both functions have before the last +."""
    return (
        _COST
        * q ** (2 * (m - 1))
        * (1 - q**2)
        / (1 - q ** (2 * m))
        * (1 - q ** (2 * (K - 1) * (N - m)))
        / (1 - q ** (2 * (N - m)))
    )


def _ours_first() -> list[Claim]:
    printed = _first_term_printed() + _COST * q ** (2 * (N - 0 - 1)) * (1 - q**2) / (1 - q ** (2 * (N - 0)))
    halves, total = GeometricSum(q**-2, m), GeometricSum(q**-2, N)
    passed = q ** (2 * N - 2 * m)
    before = alpha * rho0 / total - alpha * rho0 / (passed * halves)  # Σ_(s<−1) x^s is −1/x
    return [
        Claim(
            id="0/function-4:theorem",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 161",
            says="the second argument of max in improved_dp_dynamics_first_batch is thm:strconvexsmooth at j0 = 0",
            printed=Identity(_spelled(_fixed(0)), printed, nonzero=(*_HALVED, power_below(N))),
            items=("0/function-4", *_items("3.2", "plot-3", "plot-4", "plot-8", "plot-11")),
        ),
        Claim(
            id="0/function-4:floor",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 161",
            says="max(0, ·) changes nothing for K ≥ 1: the bound is at least its second term, which is not negative",
            printed=Certificate(
                alpha * rho0 / total,
                _fixed(0),
                ((alpha * rho0 / halves, GeometricSum(passed, K - 1)),),
            ),
            items=("0/function-4",),
        ),
        Claim(
            id="0/function-4:continued",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 161",
            says="at K = 0 the first term, continued, is −αρ₀/(q^(2(n/b−m))·Σ_(s<m) q^(−2s))",
            printed=Identity(
                _first_term_printed().subs(K, 0), _spelled(-alpha * rho0 / (passed * halves)), nonzero=_HALVED
            ),
            items=("0/function-4",),
        ),
        Claim(
            id="0/function-4:start",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 161",
            says="then the sum of both terms is negative, and max(0, ·) starts the curve in 0",
            printed=Certificate(
                before,
                Integer(0),
                (
                    (alpha * rho0 / (passed * halves * total), longer_sum(q**-2, m, N - m, BELOW_ONE, m < N)),
                    (alpha * rho0 / (passed * total), power_below(N - m, m < N)),
                ),
            ),
            items=("0/function-4", "3.2/axis-2"),
        ),
    ]


def _ours_last() -> list[Claim]:
    last = _fixed(N - 1)
    halves, passed = GeometricSum(q**-2, m), q ** (2 * N - 2 * m)
    few = substitute(at_most_count(passed, combine(passed, Integer(1), (power_below(N - m, m < N),))), {i: K - 1})
    return [
        Claim(
            id="0/function-5:theorem",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 180",
            says="the second argument of min in improved_dp_dynamics_last_batch is thm:strconvexsmooth at j0 = n/b−1",
            printed=Identity(_spelled(last), _first_term_printed() + _COST, nonzero=_HALVED),
            items=(
                "0/function-5",
                *_items("1", "plot-2"),
                *_items("3.2", "plot-14", "plot-15", "plot-19", "plot-21", "plot-22"),
                *_items("4.1", "plot-3", "plot-4", "plot-8", "plot-10", "plot-11"),
            ),
        ),
        Claim(
            id="0/function-5:cap",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 180",
            says="min(2Kαρ₀, ·) changes nothing for K ≥ 1: the bound is at most Kαρ₀, so half the cap would do",
            printed=Certificate(
                last,
                K * alpha * rho0,
                (
                    (alpha * rho0 / halves, few),
                    (alpha * rho0 * (K - 1) / halves, first_of_sum(q**-2, m)),
                ),
            ),
            items=("0/function-5",),
        ),
        Claim(
            id="0/function-5:start",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 180",
            says="min(2Kαρ₀, ·) starts the curve in 0: at K = 0 the other argument is positive",
            printed=AtPoint(_drawn(last, 0, 15), Integer(0), Gt, "the figures' setting, α = 15"),
            items=("0/function-5", *_items("1", "axis-2", "axis-3"), *_items("4.1", "axis-2", "axis-3")),
        ),
    ]


def _unused() -> list[Claim]:
    baseline = statement("thm:naive_RDP_baseline").expr
    scale, decay = alpha * S_g**2 / (lam * sigma2 * b**2), exp(-lam * eta / 2)
    sampled = (
        log(1 - b / n + b / n * exp((alpha - 1) * scale * (1 - decay)))
        / (alpha - 1)
        * (1 - exp(-lam * eta * K * n / b / 2))
        / (1 - decay)
    )
    average = (
        scale
        * (1 - exp(-lam * eta * n / b))
        / (1 - exp(-lam * eta * (n / b - Rational(1, 2))))
        * (1 - exp(-K * lam * eta * (n / b - Rational(1, 2))))
        * (b / n)
        / (1 + decay)
    )
    shuffled = _COST * (1 - exp(-lam * eta * K * (N - 1))) / (1 - exp(-lam * eta * (N - 1)))
    return [
        Claim(
            id="0/function-6:full-batch",
            label="thm:naive_RDP_baseline",
            where="source before Section 1, lines 199 and 213",
            says="amp_dp_dynamics and …_worse, one formula, never plotted: for n = b they are thm:naive_RDP_baseline",
            printed=Identity(baseline, sampled.subs(n, b)),
            items=_items("0", "function-6", "function-7"),
        ),
        Claim(
            id="0/function-8:full-batch",
            label="thm:naive_RDP_baseline",
            where="source before Section 1, line 227",
            says="amp_dp_dynamics_avg_batch, never plotted: for n = b it is thm:naive_RDP_baseline too",
            printed=Identity(baseline, average.subs(n, b), nonzero=(exp_below_one(eta * lam / 2),)),
            items=("0/function-8",),
        ),
        Claim(
            id="0/function-9:first-epoch",
            label="thm:strconvexsmooth",
            where="source before Section 1, line 237",
            says="amp_dp_dynamics_shuffle, never plotted: at K = 1 it is αρ₀, as for the last batch of a fixed order",
            printed=Definition(_spelled(_fixed(N - 1).subs(K, 1)), shuffled.subs(K, 1)),
            items=("0/function-9",),
        ),
    ]


def _settings() -> list[Claim]:
    """λ, η, S_g, σ², n, b: of the captions; and of the arguments (1, 0.02, 4, 2, 50, 2) and the names of data files."""
    run = _run(40)
    caption = tuple(Rational(*run[name].as_integer_ratio()) for name in ("lam", "eta", "S_g", "sigma2", "n", "b"))
    arguments = (Integer(1), Rational("0.02"), Integer(4), Integer(2) ** 2, Integer(50), Integer(2))
    files = ("plot-1", "plot-5", "plot-7", "plot-9", "plot-12", "plot-14", "plot-16", "plot-17")
    step, room = (side.subs({eta: caption[1], lam: 1, beta: 4}) for side in (eta, 2 / (lam + beta)))
    return [
        Claim(
            id="4.1/caption-3:arguments",
            label="",
            where="captions of Figures 1 and 2, lines 472 and 609",
            says="λ, η, S_g, σ², n and b of the captions are those of the plotted functions and data files (s = σ)",
            printed=_same(caption, arguments),
            items=(*_items("1", "plot-1", "plot-3"), "3.2/caption-3", "4.1/caption-3", *_items("4.1", *files)),
        ),
        Claim(
            id="4.1/caption-3:hypothesis",
            label="",
            where="captions of Figures 1 and 2, lines 472 and 609",
            says="the setting meets the theorems' hypothesis η < 2/(λ+β), with β = 4",
            printed=AtPoint(step, room, Lt, "η = 0.02, λ = 1, β = 4"),
            items=("3.2/caption-3", "4.1/caption-3"),
        ),
    ]


def _axes() -> list[Claim]:
    misplaced, labels = _numbers("1/axis-5"), _numbers("1/axis-6")
    ticks = [("3.2/axis-5", "3.2/axis-6"), ("3.2/axis-20", "3.2/axis-21")]
    ticks += [("4.1/axis-5", "4.1/axis-6"), ("4.1/axis-16", "4.1/axis-17")]
    stand, read = (tuple(number for pair in ticks for number in _numbers(pair[side])) for side in (0, 1))
    naive = statement("thm:naive_RDP_baseline").expr
    top = Rational("0.155")
    highest = {
        "a": Max(
            *(_ends("balle2019", 25, order, 0)[1] for order in (10, 15)), _ends("thm:strconvexsmooth", 25, 15, 0)[1]
        ),
        "b": Max(_ends("balle2019", 25, 15, 24)[1], _ends("thm:strconvexsmooth", 25, 15, 24)[1]),
    }
    composition, shuffled, fixed, sampled = (
        _ends(label, 40, 15, place)[1]
        for label, place in (
            ("mironov2019", None),
            ("thm:shuffle", None),
            ("thm:strconvexsmooth", 24),
            ("thm:amp_samp_wo_replacement", None),
        )
    )
    return [
        Claim(
            id="1/axis-6:ticks",
            label="",
            where="figure of Section 1, line 269",
            says="the ticks labelled 0, 0.05, 0.10, 0.15 stand at these heights",
            printed=_same(misplaced, labels),
            corrected=_same(tuple(Rational(5, 4) * place for place in misplaced), labels),
            correction="they stand at 0, 0.04, 0.08, 0.12: every ε read off the figure is 5/4 of what is plotted "
            "(composition at K = 40: 0.152 for 0.121)",
            items=_items("1", "axis-5", "axis-6"),
            consequence="figure",
        ),
        Claim(
            id="3.2/axis-6:ticks",
            label="",
            where="Figures 1 and 2, lines 400, 443, 537 and 581",
            says="the ticks labelled 0, 0.05, 0.10, 0.15 stand at these heights",
            printed=_same(stand, read),
            items=(
                *_items("3.2", "axis-5", "axis-6", "axis-20", "axis-21"),
                *_items("4.1", "axis-5", "axis-6", "axis-16", "axis-17"),
            ),
        ),
        Claim(
            id="3.2/axis-4:naive-stops",
            label="thm:naive_RDP_baseline",
            where="Figure 1(a), lines 408 and 417",
            says="the baseline stops at K = 1 (α = 15) and 1.55 (α = 10), still inside the axis, which ends at 0.155",
            printed=AtPoint(
                Max(_drawn(naive, 1, 15), _drawn(naive, Rational("1.55"), 10)), top, Lt, "the figure's setting"
            ),
            items=_items("3.2", "axis-4", "axis-10", "axis-13"),
        ),
        Claim(
            id="3.2/axis-4:naive-leaves",
            label="thm:naive_RDP_baseline",
            where="Figure 1, lines 408, 417, 450 and 458",
            says="at the next epoch, K = 2, the baseline is above the axis for both orders: in (b) it is cut off there",
            printed=AtPoint(Min(_drawn(naive, 2, 15), _drawn(naive, 2, 10)), top, Gt, "the figure's setting"),
            items=_items("3.2", "axis-10", "axis-13", "axis-19", "axis-24", "axis-27"),
        ),
        Claim(
            id="3.2/axis-4:top-first",
            label="",
            where="Figure 1(a), line 398",
            says="the other curves of Figure 1(a) end inside the axis (bounds never decrease with K)",
            printed=AtPoint(highest["a"], top, Lt, "K = 25, the figure's setting"),
            items=_items("3.2", "axis-4", "axis-9"),
        ),
        Claim(
            id="3.2/axis-19:top-last",
            label="",
            where="Figure 1(b), line 441",
            says="the other curves of Figure 1(b) end inside the axis",
            printed=AtPoint(highest["b"], top, Lt, "K = 25, α = 15, the figure's setting"),
            items=_items("3.2", "axis-19", "axis-23"),
        ),
        Claim(
            id="4.1/axis-4:top",
            label="",
            where="Figure 2, lines 534 and 579",
            says="all curves of Figure 2 end inside the axis",
            printed=AtPoint(
                Max(composition, shuffled, fixed, sampled), top, Lt, "K = 40, α = 15, the figure's setting"
            ),
            items=_items("4.1", "axis-4", "axis-9", "axis-15", "axis-19"),
        ),
        Claim(
            id="1/axis-4:top",
            label="",
            where="figure of Section 1, line 267",
            says="all its curves end inside the axis, which ends at 0.15",
            printed=AtPoint(Max(composition, shuffled, fixed), Rational("0.15"), Lt, "K = 40, α = 15"),
            items=_items("1", "axis-4", "axis-9"),
        ),
    ]


def _sampling() -> list[Claim]:
    """pgfplots evaluates a function at `samples` equally spaced points of its domain and joins them by lines."""
    ours, balle = statement("thm:strconvexsmooth").expr.subs(j0, 0), _ends("balle2019", 1, 15, 0)
    pairs = [("3.2/axis-1", "3.2/axis-11"), ("3.2/axis-16", "3.2/axis-25"), ("4.1/axis-1", "4.1/axis-10")]
    ends = [_numbers(domain)[1] for _, domain in pairs]
    spacings = tuple(end / (_numbers(samples)[0] - 1) for (samples, _), end in zip(pairs, ends, strict=True))
    whole = tuple(end / (count - 1) for end, count in zip(ends, (26, 26, 41), strict=True))
    segment = _drawn(ours, spacings[0], 15) / spacings[0]  # at K = 1, on the line from (0, 0) to the next point
    theorem = _ends("thm:strconvexsmooth", 1, 15, 0)
    return [
        Claim(
            id="3.2/axis-1:samples",
            label="",
            where="figures, lines 263, 394, 437 and 531",
            says="the functions are evaluated at whole numbers of epochs, for which the theorems hold",
            printed=_same(spacings, (1, 1, 1)),
            corrected=_same(whole, (1, 1, 1)),
            correction="with 10, 25 and 50 samples they are 25/9, 25/24 and 40/49 epochs apart, from K = 0; "
            "26, 26 and 41 samples would do",
            items=(
                *_items("1", "axis-1", "axis-10"),
                *(f"3.2/axis-{number}" for number in (1, 11, 12, 14, 15, 16, 25, 26, 28, 29)),
                *_items("4.1", "axis-1", "axis-10", "axis-11"),
            ),
            consequence="figure",
        ),
        Claim(
            id="3.2/plot-3:first-epoch",
            label="thm:strconvexsmooth",
            where="Figure 1(a), line 412",
            says="at K = 1 our bound for the first batch is above that of balle2019 (α = 15), as drawn",
            printed=AtPoint(theorem[0], balle[1], Gt, "K = 1, α = 15, the figure's setting"),
            corrected=AtPoint(segment, Max(theorem[1], balle[1]), Gt, "K = 1, α = 15, the figure's setting"),
            correction="it is below: 0.00177 against 0.00208; what is drawn there, 0.00329, is on the line from K = 0 "
            "to the next sample, K = 25/9",
            items=_items("3.2", "plot-3", "plot-5", "axis-1"),
            consequence="figure",
        ),
    ]


def _labels() -> list[Claim]:
    label, curve_end = (_ends("thm:strconvexsmooth", 25, order, 0) for order in (20, 15))
    nodes = (
        (15, Rational("0.1453135217648525"), "plot-18", "plot-12", 602),
        (10, Rational("0.06724058347919833"), "plot-19", "plot-17", 603),
    )
    composition, shuffled, fixed = (
        _ends(name, 40, 15, place)
        for name, place in (("mironov2019", None), ("thm:shuffle", None), ("thm:strconvexsmooth", 24))
    )
    at_25 = _ends("mironov2019", 25, 15)
    found = [
        Claim(
            id="3.2/plot-10:height",
            label="thm:strconvexsmooth",
            where="Figure 1(a), line 424",
            says="the label α = 15 stands at the end of the curve for α = 15, to 0.001",
            printed=AtPoint(label[0] - curve_end[1], Rational(1, 10**3), Lt, "K = 25, the figure's setting"),
            corrected=AtPoint(
                Max(label[1] - Rational(4, 3) * curve_end[0], Rational(4, 3) * curve_end[1] - label[0]),
                Rational(1, 10**15),
                Lt,
                "K = 25, the figure's setting; distance from 4/3 of the curve's end",
            ),
            correction="it stands where a curve for α = 20 would end, 4/3 as high (0.0185 for 0.0139)",
            items=("3.2/plot-10",),
            consequence="figure",
        )
    ]
    for order, height, node, curve, line in nodes:
        lo, hi = _ends("thm:amp_samp_wo_replacement", 40, order)
        found.append(
            Claim(
                id=f"4.1/{node}:height",
                label="thm:amp_samp_wo_replacement",
                where=f"Figure 2(b), line {line}",
                says=f"the label α = {order} stands at thm:amp_samp_wo_replacement for K = 40, to 10^(−15)",
                printed=AtPoint(
                    Max(abs(hi - height), abs(lo - height)), Rational(1, 10**15), Lt, f"K = 40, α = {order}"
                ),
                items=_items("4.1", node, curve),
            )
        )
    beside = "K = 40, α = 15, the figures' setting"
    nearby: tuple[tuple[str, str, str, Check], ...] = (
        (
            "plot-4",
            "plot-5",
            "the labels of the last batch's bound, 0.015 and 0.005 above its end, are below the composition's end",
            AtPoint(fixed[1] + Rational("0.015"), composition[0], Lt, beside),
        ),
        (
            "plot-6",
            "plot-7",
            "the labels of the shuffled bound, at 0.04 and 0.03 from K = 25 on, are nearer to it than to composition",
            AtPoint(Rational("0.04") - shuffled[0], at_25[0] - Rational("0.04"), Lt, "K ≥ 25, α = 15"),
        ),
        (
            "plot-8",
            "plot-9",
            "the labels of composition, at 0.135 and 0.125, are above its end",
            AtPoint(composition[1], Rational("0.125"), Lt, beside),
        ),
    )
    found += [
        Claim(f"1/{one}:place", "", "figure of Section 1, lines 278–283", says, check, items=_items("1", one, other))
        for one, other, says, check in nearby
    ]
    return found


def _curves() -> list[Claim]:
    """What the curves drawn from data files show, by certified values: the files themselves were not published."""

    def ours(order: int, epochs: int) -> tuple[Expr, Expr]:
        return _ends("thm:amp_samp_wo_replacement", epochs, order)

    def composed(order: int, epochs: int) -> tuple[Expr, Expr]:
        return _ends("mironov2019", epochs, order)

    gaps = [
        _ends(above, 40, order, place)[0] - _ends(below, 40, order, other)[1]
        for order in (10, 15)
        for above, place, below, other in (
            ("mironov2019", None, "thm:strconvexsmooth", 24),
            ("thm:strconvexsmooth", 24, "thm:shuffle", None),
        )
    ]
    stairs = [ours(15, first)[0] - composed(15, last)[1] for first, last in ((1, 28), (2, 39), (3, 40))]
    return [
        Claim(
            id="4.1/plot-1:order",
            label="thm:shuffle",
            where="Figure 2(a) and figure of Section 1",
            says="for both orders the curves end, from below: shuffled, last batch of a fixed order, composition",
            printed=AtPoint(Min(*gaps), Integer(0), Gt, "K = 40, α = 10 and 15, the figures' setting"),
            items=(
                *_items("1", "plot-1", "plot-2", "plot-3"),
                *(f"4.1/plot-{number}" for number in (1, 3, 5, 7, 8, 9)),
            ),
        ),
        Claim(
            id="4.1/plot-12:above",
            label="thm:amp_samp_wo_replacement",
            where="Figure 2(b), lines 587 and 590",
            says="for α = 15 our bound is above composition at every K shown (both rise with K: three comparisons)",
            printed=AtPoint(Min(*stairs), Integer(0), Gt, "K ≤ 28, K ≤ 39, K ≤ 40; α = 15, the figure's setting"),
            items=_items("4.1", "plot-12", "plot-14"),
        ),
        Claim(
            id="4.1/plot-17:crosses",
            label="thm:amp_samp_wo_replacement",
            where="Figure 2(b), lines 594 and 597",
            says="for α = 10 it falls below composition between K = 33 and K = 34",
            printed=AtPoint(
                Min(ours(10, 33)[0] - composed(10, 33)[1], composed(10, 34)[0] - ours(10, 34)[1]),
                Integer(0),
                Gt,
                "K = 33 and 34, α = 10, the figure's setting",
            ),
            items=_items("4.1", "plot-16", "plot-17"),
        ),
    ]


def _style(*curves: str) -> tuple[Expr | int, ...]:
    """Line width and gap of each curve, from words such as "thin dashed" (no gap: solid)."""
    words = [curve.split() for curve in curves]
    return tuple(
        number
        for options in words
        for number in (
            next(_WIDTH[word] for word in options if word in _WIDTH),
            next((_GAP[word] for word in options if word in _GAP), _GAP["solid"]),
        )
    )


def _options(section: str, *numbers: int) -> list[str]:
    """The options of curves as the source has them, in words."""
    return [_QUOTES[f"{section}/plot-{number}"].split("[")[1].split("]")[0].replace(",", " ") for number in numbers]


def _captions() -> list[Claim]:
    ratios = []
    for order in (10, 15):
        printed = Rational(2, 50) * order * Rational(1, 50) * 4**2 / (4 * 4 * 2**2) * 40
        ratios.append(_ends("mironov2019", 40, order)[1] / printed)
    plotted = _style(*_options("4.1", 1, 9, 12, 17, 3, 8, 5, 7, 14, 16))
    costs = [_drawn(statement("eps0").expr.subs(j, place), 1, 15) for place in range(1, 26)]  # ε₀^j
    average = log(sum(exp(14 * (cost - costs[0])) for cost in costs) / 25)
    shifted, repaired = (
        _exact(enclose(compile_expression(costs[0] + factor * average), {}, rtol="1e-20"))
        for factor in (Integer(1), Rational(1, 14))
    )
    second, end = _ends("thm:shuffle", 1, 15), _ends("thm:shuffle", 40, 15)  # at K = 1 there is no first term
    return [
        Claim(
            id="3.2/caption-3:styles",
            label="",
            where="caption of Figure 1, line 472",
            says="our bound is drawn bold, the naive baseline thin, balle2019 dashed",
            printed=_same(
                _style(*_options("3.2", 3, 8, 14, 19, 1, 7, 12, 18, 5, 9, 16, 20)),
                _style(*["bold solid"] * 4, *["thin solid"] * 4, *["thin dashed"] * 4),
            ),
            items=("3.2/caption-3", *(f"3.2/plot-{number}" for number in (1, 3, 5, 7, 8, 9, 12, 14, 16, 18, 19, 20))),
        ),
        Claim(
            id="4.1/caption-3:styles",
            label="",
            where="caption of Figure 2, line 609",
            says="our bounds are drawn bold, the one for the last batch thin dashed, composition thin",
            printed=_same(plotted, _style(*["bold solid"] * 4, *["thin dashed"] * 2, *["thin solid"] * 4)),
            corrected=_same(plotted, _style(*["bold solid"] * 4, *["bold dotted"] * 2, *["thin dashed"] * 4)),
            correction="the last batch is bold dotted and composition thin dashed, as the legends have it: "
            "read by the caption, composition passes for our bound",
            items=("4.1/caption-3", *(f"4.1/plot-{number}" for number in (1, 3, 5, 7, 8, 9, 12, 14, 16, 17))),
            consequence="figure",
        ),
        Claim(
            id="4.1/caption-3:composition",
            label="mironov2019:small_rate",
            where="caption of Figure 2, line 609",
            says="composition is approximately (b/n)·αρ₀·K: within 1.1 % for both orders, at any K (both are linear)",
            printed=AtPoint(Max(*ratios), Rational("1.011"), Lt, "K = 40, α = 10 and 15, the figure's setting"),
            items=("4.1/caption-3",),
        ),
        Claim(
            id="4.1/footnote-1:plotted",
            label="thm:shuffle",
            where="footnote to Figure 2, line 614",
            says="the curve is computed with the footnote's second term, which puts it inside the axis (ε > 0), α = 15",
            printed=AtPoint(shifted[1] + end[1] - second[0], Integer(0), Gt, "K = 40, α = 15, the figure's setting"),
            corrected=AtPoint(
                Max(repaired[1] - second[0], second[1] - repaired[0]),
                Rational(1, 10**18),
                Lt,
                "distance from thm:shuffle's second term, α = 15, the figure's setting",
            ),
            correction="as printed it is below −0.78 for all K ≤ 40; with the factor 1/(α−1) the shifted form is "
            "no approximation but equal",
            items=("4.1/footnote-1",),
            consequence="formula",
        ),
    ]


def notes() -> list[Note]:
    return [
        Note("0/function-6", "layout", "declared, never plotted; nothing in it is worse than function-7: same body"),
        Note("0/function-7", "layout", "declared, never plotted"),
        Note("0/function-8", "layout", "declared, never plotted (and written exp{…} once, for exp(…))"),
        Note("0/function-9", "layout", "declared, never plotted; it is not thm:shuffle"),
        Note("1/axis-7", "layout", "axis label; the figure has no caption, its setting is that of Figure 2"),
        Note("1/axis-8", "layout", "axis label: order 15, as in the arguments and file names of all three curves"),
        Note("2/caption-1", "layout", "names the algorithm"),
        Note("3.2/axis-3", "layout", "the axis starts at 0; no bound is negative"),
        Note("3.2/axis-7", "layout", "axis label"),
        Note("3.2/axis-8", "layout", "axis label"),
        Note("3.2/axis-18", "layout", "the axis starts at 0; no bound is negative"),
        Note("3.2/axis-22", "layout", "axis label"),
        Note("3.2/caption-1", "restates", "curves for the first batch", of="0/function-4:theorem"),
        Note("3.2/caption-2", "restates", "curves for the last batch", of="0/function-5:theorem"),
        Note("3.2/caption-3", "layout", "writes the order as q in (q, ε)-RDP; it is α everywhere else"),
        Note("3.2/caption-3", "attributes", "Theorem 5, translated in Appendix D.6", of="Balle et al. 2019"),
        Note("4.1/axis-7", "layout", "axis label"),
        Note("4.1/axis-8", "layout", "axis label"),
        Note("4.1/axis-12", "layout", "without effect: no function is plotted here, only data files"),
        Note("4.1/axis-13", "layout", "the axis starts at 0; data files start where they start"),
        Note("4.1/axis-14", "layout", "the axis starts at 0; no bound is negative"),
        Note("4.1/axis-18", "layout", "axis label"),
        Note("4.1/plot-2", "restates", "legend of the shuffled bound", of="thm:shuffle"),
        Note("4.1/plot-6", "restates", "legend of the composition bound", of="mironov2019"),
        Note("4.1/plot-13", "restates", "legend of the bound for resampling", of="thm:amp_samp_wo_replacement"),
        Note("4.1/plot-15", "restates", "legend of the composition bound", of="mironov2019"),
        Note("4.1/caption-1", "restates", "panel with the bound of thm:shuffle", of="thm:shuffle"),
        Note(
            "4.1/caption-2",
            "restates",
            "panel with the bound of thm:amp_samp_wo_replacement",
            of="thm:amp_samp_wo_replacement",
        ),
        Note("4.1/caption-3", "layout", "writes the order as q in (q, ε)-RDP; it is α everywhere else"),
        Note("4.1/footnote-1", "restates", "the shifted sum lacks 1/(α−1)", of="thm:shuffle/shifted-sum"),
        Note("F.1/caption-1", "layout", "names the algorithm"),
    ]
