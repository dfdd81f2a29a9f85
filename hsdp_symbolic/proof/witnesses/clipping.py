"""Losses of one score with numbers: the squared loss φ(s) = κs²/2, whose slope is κs, in the direction of x."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol

from ...symbols import C, X, bias_1, clipped_1, clipped_2, d_score, features_1, kappa_1, radius, slope_1, slope_2
from ..facts import clipping as facts
from ..kernel import Fact
from . import witness
from .regression import holds


def _case(first: float, second: float) -> dict[Symbol, float]:
    """Scores at two points on the line through x, ‖x‖² = L² + 1."""
    kappa, features, clip = 0.5, 2.0, 1.5
    length = (features**2 + 1) ** 0.5
    slopes = kappa * first, kappa * second
    clipped = [slope * min(1.0, clip / (abs(slope) * length)) if slope else 0.0 for slope in slopes]
    return {
        kappa_1: kappa,
        features_1: features,
        bias_1: 1,
        C: clip,
        radius: length,
        X: ((second - first) / length) ** 2,
        d_score: second - first,
        **dict(zip((slope_1, slope_2, clipped_1, clipped_2), (*slopes, *clipped), strict=True)),
    }


CASES = tuple(_case(*scores) for scores in ((-3, 0.2), (0.1, 0.9), (0.4, 5), (-4, 6), (2, 3), (-3, -2)))


def _where_premises_hold(fact: Fact) -> Iterator[bool]:
    """Whether the conclusion is true in the cases in which the premises between numbers are."""
    for values in CASES:
        if all(holds(each, values) for each in fact.premises[1:]):
            yield holds(fact.conclusion, values)


for _fact in (facts.input_norm, facts.score_norm, facts.slope_rises, facts.slope_lipschitz):
    witness(_fact)(_where_premises_hold)
for _fact in (facts.slope_kept, facts.slope_cut_above, facts.slope_cut_below):
    witness(_fact)(_where_premises_hold)
