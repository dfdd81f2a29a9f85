"""Losses φ(x·θ) of one score: convexity of φ and a Lipschitz derivative, at two points, and what clipping does.

The gradient is φ'(x·θ)·x, so its direction does not depend on θ, and clipping it changes φ' only.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S

from ...symbols import (
    C,
    X,
    bias_1,
    clipped_1,
    clipped_2,
    d_score,
    factor,
    features_1,
    kappa_1,
    radius,
    slope_1,
    slope_2,
)
from ..kernel import Fact
from ..propositions import Anything, AtMost, Equal, Proposition, Term
from .regression import HARDY, SmoothLosses


@dataclass(frozen=True)
class ScalarOutput(Term):
    """Losses φ(x·θ), φ convex with a `curvature`-Lipschitz derivative, whose gradients are clipped to norm `clip`.

    Features have norm at most `features`, before `bias` constants 1 are appended.
    """

    curvature: Expr
    features: Expr
    bias: Expr
    clip: Expr
    words = (
        "losses φ(x·θ), φ convex with a {curvature}-Lipschitz derivative, features of norm at most {features} and "
        "{bias} constants 1, gradients clipped to norm {clip}"
    )


@dataclass(frozen=True)
class TwoPoints(Proposition):
    """At some two points, Δ apart: ‖Δ‖², x·Δ (the points in such an order that it is not negative), ‖x‖ > 0, φ' and φ'
    clipped at the first and at the second.
    """

    model: ScalarOutput | Anything
    distance: Expr
    score: Expr
    radius: Expr
    first: Expr
    second: Expr
    first_clipped: Expr
    second_clipped: Expr
    words = (
        "‖Δ‖² = {distance}, x·Δ = {score}, ‖x‖ = {radius} at some two points, where φ' is {first} and {second}, "
        "clipped {first_clipped} and {second_clipped}"
    )


@dataclass(frozen=True)
class ClippedSlope(Proposition):
    """The gradient slope·x, ‖x‖ = radius, clipped to norm `clip`, is clipped·x."""

    slope: Expr
    radius: Expr
    clip: Expr
    clipped: Expr
    words = "{slope}·x, ‖x‖ = {radius}, clipped to norm {clip}, is {clipped}·x"


MODEL = ScalarOutput(kappa_1, features_1, bias_1, C)
POINTS = TwoPoints(MODEL, X, d_score, radius, slope_1, slope_2, clipped_1, clipped_2)
SLOPE = ClippedSlope(slope_1, radius, C, clipped_1)

input_norm = Fact("input_norm", "", (POINTS,), AtMost(radius**2, features_1**2 + bias_1), "‖x‖², constants included")
score_norm = Fact(
    "score_norm", HARDY, (POINTS,), AtMost(d_score**2, radius**2 * X), "Cauchy and Schwarz: (x·Δ)² ≤ ‖x‖²‖Δ‖²"
)
slope_rises = Fact("slope_rises", "", (POINTS,), AtMost(slope_1, slope_2), "φ is convex, so φ' does not fall")
slope_lipschitz = Fact(
    "slope_lipschitz", "", (POINTS,), AtMost(slope_2 - slope_1, kappa_1 * d_score), "φ' is κ-Lipschitz"
)
first_slope = Fact("first_slope", "", (POINTS,), SLOPE, "clipping the gradient at the first point")
second_slope = Fact(
    "second_slope",
    "",
    (POINTS,),
    ClippedSlope(slope_2, radius, C, clipped_2),
    "clipping the gradient at the second point",
)
slope_kept = Fact(
    "slope_kept",
    "",
    (SLOPE, AtMost(-C, slope_1 * radius), AtMost(slope_1 * radius, C)),
    Equal(clipped_1, slope_1),
    "a gradient of norm |φ'|·‖x‖ ≤ C stays",
)
slope_cut_above = Fact(
    "slope_cut_above",
    "",
    (SLOPE, AtMost(C, slope_1 * radius)),
    Equal(clipped_1, C / radius),
    "a longer one is multiplied by C/(|φ'|·‖x‖); here φ' > 0",
)
slope_cut_below = Fact(
    "slope_cut_below",
    "",
    (SLOPE, AtMost(slope_1 * radius, -C)),
    Equal(clipped_1, -C / radius),
    "a longer one is multiplied by C/(|φ'|·‖x‖); here φ' < 0",
)
clipped_convex = Fact(
    "clipped_convex",
    "",
    (
        AtMost(S.Zero, (clipped_2 - clipped_1) * d_score),
        AtMost((clipped_2 - clipped_1) * d_score, factor * X),
        AtMost(S.Zero, factor),
    ),
    SmoothLosses(MODEL, factor),
    "clipped gradients at two points, Δ apart, differ by a multiple of x whose product with Δ this is; they are the "
    "gradients of Φ(x·θ), Φ' being the clipped φ' (and 0 for x = 0)",
    eigen=(X, d_score, radius, slope_1, slope_2, clipped_1, clipped_2),
    under=(POINTS,),
)
