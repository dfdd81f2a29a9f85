"""Softmax regression where its gradient is clipped: the probabilities of the other classes, and vectors across û."""

from __future__ import annotations

from sympy import S

from ...symbols import (
    factor,
    p_own,
    p_squares,
    t_squares,
    w_across,
    w_mean,
    w_mean_square,
    w_own,
    w_squares,
    weight_1,
    weight_2,
)
from ..kernel import Fact
from ..propositions import AtMost
from .regression import AT, BENT, BENT_ALONG, BENT_FORM, BENT_VARIANCE, HARDY, MOMENTS, Somewhere, VarianceAtMost

OTHERS = p_squares - p_own**2
"""The squares of the probabilities of all classes but the true one, added up."""
_REST = w_squares - w_own**2

others_mean = Fact(
    "others_mean",
    HARDY,
    (MOMENTS,),
    AtMost((w_mean - p_own * w_own) ** 2, OTHERS * _REST),
    "Cauchy and Schwarz, for the other classes: (Σ p_i w_i)² ≤ Σ p_i² Σ w_i²",
)
others_square = Fact(
    "others_square",
    "",
    (MOMENTS, AtMost(OTHERS, factor**2), AtMost(S.Zero, factor)),
    AtMost(w_mean_square - p_own * w_own**2, factor * _REST),
    "each other p_i is at most any number whose square is at least Σ p_i²: Σ p_i w_i² ≤ max p_i · Σ w_i²",
)
others_within = Fact(
    "others_within",
    "",
    (Somewhere(AT),),
    AtMost(OTHERS, (1 - p_own) ** 2),
    "the other probabilities add up to 1 − p_y, and none is negative",
)
moved_whole = Fact(
    "moved_whole",
    "Horn & Johnson 1985, Matrix Analysis",
    (BENT, VarianceAtMost(AT, factor)),
    AtMost(BENT_ALONG**2 + t_squares, factor * BENT_VARIANCE),
    "Tw is ûᵀTw along û and t across it, and T² ⪯ M·T where 0 ⪯ T ⪯ M",
)
square_across = Fact(
    "square_across",
    HARDY,
    (BENT,),
    AtMost(S.Zero, weight_1**2 * w_across**2 + 2 * weight_1 * weight_2 * BENT_FORM + weight_2**2 * t_squares),
    "‖k₁·w_v·v̂ + k₂·t‖²: t is orthogonal to û, so ⟨w_v·v̂, t⟩ = ⟨w, t⟩",
)
