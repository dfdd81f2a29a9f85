"""From a Rényi divergence to (ε, δ): the best conversion from the divergence at one order, and Mironov's simpler one.

The paper stops at Rényi differential privacy. The conversion is that of Canonne, Kamath & Steinke 2020 (Proposition 12)
and of Balle et al. 2020 (Theorem 21), derived here from the definition of (ε, δ).
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integer, S, exp, log

from ..display import Dot, Over, Plus
from ..functions.gaussian_epsilon import GaussianEpsilon
from ..functions.gaussian_profile import GaussianProfile
from ..proof import kernel
from ..proof.facts.conversion import epsilon_of_delta, expectation_of_tail, power_by_logarithm
from ..proof.facts.definitions import PAIR
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, loosen, rewrite, substitute, swap, weaken
from ..proof.propositions import AtMost, DeltaAtMost, EpsilonAtMost, Renyi
from ..proof.search import claimed, equal_bound, given
from ..statement import Statement
from ..symbols import R, alpha, alpha_minus_1, cost_1, delta, e_s, epsilon, epsilon_2, factor, order, t, z
from .descents import ORDER

PROBABILITY = delta <= 1
_PEAK = (alpha - 1) / alpha
_DIVERGENCE = Renyi(PAIR, alpha, R)


def log_delta() -> Expr:
    """log δ, as a function of R and ε."""
    return (alpha - 1) * (R - epsilon + log(_PEAK)) - log(alpha)


def log_epsilon() -> Expr:
    """ε, as a function of R and δ."""
    return R + log(_PEAK) - (log(delta) + log(alpha)) / (alpha - 1)


def gaussian_delta() -> Expr:
    """δ of a pair of Gaussians, as a function of μ² (`cost_1`) and ε."""
    return GaussianProfile(cost_1, epsilon)


def gaussian_epsilon() -> Expr:
    """ε of a pair of Gaussians, as a function of μ² (`cost_1`) and δ."""
    return GaussianEpsilon(cost_1, delta)


# --- (1 − w)·w^(α−1) has its peak at w = (α−1)/α ---------------------------------------------------------------------

_TOP = alpha_minus_1 / (1 + alpha_minus_1)
"""(α−1)/α, in α − 1 > 0."""


def _falls_from_peak(path: Expr, slope: Expr, back: Expr, side: Theorem) -> Theorem:
    """(1 − w)·w^(α−1) is at most its value at the peak, along a path from there: w is `path` at t ≥ 0.

    `slope` is how fast it falls; w lies at t = `back`, and `side` says that this is not negative.
    """
    value = -(1 - path) * path**alpha_minus_1
    found = kernel.work_out(Derivative(value, t))
    positive = combine(S.Zero, found.proposition.right, (slope,))  # type: ignore[attr-defined]
    rising = kernel.rises(value, t, loosen(chain(positive, swap(found))), z)
    return substitute(substitute(rising, {t: Integer(0)}), {z: back}, side)


@cache
def at_most_peak() -> Theorem:
    """1 − w ≤ ((α−1)/α)^(α−1)/α·w^(1−α), for all w > 0."""
    beyond, before = assume(AtMost(_TOP, e_s)), assume(AtMost(e_s, _TOP))
    rise = (1 + alpha_minus_1) * t * (_TOP + t) ** (alpha_minus_1 - 1)
    above = _falls_from_peak(_TOP + t, rise, e_s - _TOP, combine(S.Zero, e_s - _TOP, (S.One, beyond)))
    path = _TOP / (1 + t)
    fall = alpha_minus_1 * t / (1 + t) ** 2 * path**alpha_minus_1
    below = _falls_from_peak(path, fall, _TOP / e_s - 1, combine(S.Zero, _TOP / e_s - 1, (1 / e_s, before)))
    height = _TOP**alpha_minus_1 / (1 + alpha_minus_1) * e_s**-alpha_minus_1
    found = kernel.cases(*(combine(1 - e_s, height, (e_s**-alpha_minus_1, side)) for side in (above, below)))
    return kernel.named(found, "the peak of (1 − w)·w^(α−1)")


def _back(theorem: Theorem) -> Theorem:
    """In α, from a theorem in α − 1 > 0."""
    return substitute(theorem, {alpha_minus_1: alpha - 1}, given(ORDER))


def converted(at: Expr, value: Expr) -> Theorem:
    """δ = `value` at ε = `at`, from a divergence R at order α; in α − 1."""
    there = {alpha: 1 + alpha_minus_1}
    peak = _TOP**alpha_minus_1
    height = loosen(kernel.positive(peak / (1 + alpha_minus_1)))
    above_one = combine(S.One, 1 + alpha_minus_1, (alpha_minus_1,))
    divergence = assume(Renyi(PAIR, 1 + alpha_minus_1, R))
    put = {factor: peak / (1 + alpha_minus_1), epsilon_2: at.subs(there)}
    found = apply(expectation_of_tail, at_most_peak(), height, above_one, divergence, put=put)
    spelled = apply(power_by_logarithm, kernel.positive(_TOP), put={order: alpha_minus_1})
    return equal_bound(rewrite(found, spelled), value.subs(there))


def _peak_spelled() -> Theorem:
    """(1 − 1/α)^(α−1), as it is printed, by its logarithm."""
    positive = combine(S.Zero, 1 - 1 / alpha, (1 / alpha, given(ORDER)))
    return apply(power_by_logarithm, positive, put={order: alpha - 1})


@cache
def to_delta() -> Statement:
    """δ at a given ε."""
    expr = exp(log_delta())
    peak = Dot(Over(1, alpha), (1 - Over(1, alpha)) ** (alpha - 1))
    return Statement(
        label="conversion:delta",
        kind="lemma",
        title="From Rényi divergence to δ at a given ε",
        where="Canonne, Kamath & Steinke 2020, Proposition 12; not in the paper",
        says="δ for which (ε, δ)-differential privacy holds, from the divergence of one order.",
        bounds=r"\delta",
        theorem=claimed(
            DeltaAtMost(PAIR, epsilon, expr), (ORDER,), (_DIVERGENCE,), lambda: _back(converted(epsilon, expr))
        ),
        shown=Dot(peak, exp(Dot(alpha - 1, Plus(R, -epsilon)))),
        printed_with=lambda: [_peak_spelled()],
        hypotheses=(ORDER,),
    )


@cache
def to_epsilon() -> Statement:
    """ε at a given δ."""
    relations = (ORDER, PROBABILITY)
    expr = log_epsilon()

    def prove() -> Theorem:
        return _back(apply(epsilon_of_delta, converted(expr, delta)))

    return Statement(
        label="conversion:epsilon",
        kind="lemma",
        title="From Rényi divergence to ε at a given δ",
        where="Canonne, Kamath & Steinke 2020, Proposition 12; not in the paper",
        says="ε for which (ε, δ)-differential privacy holds, from the divergence of one order (read 0 where negative).",
        bounds=r"\varepsilon",
        theorem=claimed(EpsilonAtMost(PAIR, delta, expr), relations, (_DIVERGENCE,), prove),
        shown=Plus(R, log(1 - Over(1, alpha)), -Over(log(Dot(delta, alpha)), alpha - 1)),
        printed_with=lambda: [given(ORDER)],
        hypotheses=relations,
        uses=("conversion:delta",),
    )


@cache
def slope_in_order() -> Theorem:
    """Besides R, ε falls with the order until α = 1/δ and rises from there on, so that no larger order can be best.

    Its derivative is (log δ + log α)/(α−1)²; in α − 1.
    """
    slope = kernel.work_out(Derivative(log_epsilon().subs(alpha, 1 + alpha_minus_1), alpha_minus_1))
    right = slope.proposition.right  # type: ignore[attr-defined]
    return chain(slope, cancel(right, (log(delta) + log(1 + alpha_minus_1)) / alpha_minus_1**2))


@cache
def _never_below() -> Theorem:
    """conversion:epsilon is at most Mironov's, by log α/(α−1) and log(α/(α−1))."""
    slope = kernel.work_out(Derivative(log(alpha_minus_1 + t), t))
    positive = kernel.positive(slope.proposition.right)  # type: ignore[attr-defined]
    rising = kernel.rises(log(alpha_minus_1 + t), t, loosen(chain(positive, swap(slope))), z)
    larger = substitute(rising, {t: Integer(0), z: Integer(1)})
    there = {alpha: 1 + alpha_minus_1}
    terms = (log(1 + alpha_minus_1) / alpha_minus_1,), (S.One, larger)
    found = combine(log_epsilon().subs(there), _simple().subs(there), *terms)
    return _back(found)


def _simple() -> Expr:
    """ε by Mironov's conversion."""
    return R - log(delta) / (alpha - 1)


@cache
def mironov() -> Statement:
    """Mironov 2017, Proposition 3: the simpler form."""
    relations = (ORDER, PROBABILITY)
    return Statement(
        label="conversion:mironov2017",
        kind="lemma",
        title="From Rényi divergence to ε, the simpler form",
        where="Mironov 2017, Proposition 3; not in the paper",
        says="ε for which (ε, δ)-differential privacy holds, without the terms that make conversion:epsilon sharper.",
        bounds=r"\varepsilon",
        theorem=claimed(
            EpsilonAtMost(PAIR, delta, _simple()),
            relations,
            (_DIVERGENCE,),
            lambda: weaken(to_epsilon().theorem, _never_below()),
        ),
        shown=Plus(R, Over(log(Over(1, delta)), alpha - 1)),
        printed_with=lambda: [given(ORDER)],
        hypotheses=relations,
        uses=("conversion:epsilon",),
    )
