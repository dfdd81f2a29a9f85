"""Losses and their gradients: what convexity and smoothness mean at two points."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S

from ...symbols import G, P, X, convexity, decay_1, divisor_1, factor, most_1, move, smoothness, step_size
from ..kernel import Fact
from ..propositions import (
    Anything,
    AtMost,
    Descent,
    Gradients,
    GradientSteps,
    Lipschitz,
    LipschitzUpTo,
    LossesBetween,
    Proposition,
)
from .definitions import RUN


@dataclass(frozen=True)
class SummedSteps(Proposition):
    """Every update map is θ − step·((sum of the gradients of the batch's records)/divisor + decay·θ)."""

    descent: Descent | Anything
    step: Expr
    divisor: Expr
    decay: Expr
    assumable = True
    words = "an update is θ − {step}·(gradients of its batch, summed and divided by {divisor}, + {decay}·θ)"


@dataclass(frozen=True)
class SumGradients(Proposition):
    """At some two points, Δθ apart, summed gradients of a batch of at most `size` records differ by Δg, as follows."""

    descent: Descent | Anything
    size: Expr
    points: Expr
    product: Expr
    gradients: Expr
    words = (
        "‖Δθ‖² = {points}, ⟨Δg, Δθ⟩ = {product}, ‖Δg‖² = {gradients} at some two points, g summed over {size} at most"
    )


_W = G - 2 * convexity * P + convexity**2 * X
"""‖Δ∇φ‖² for φ = ℓ − (convexity/2)‖·‖²."""

smoother = Fact(
    "smoother",
    "",
    (LossesBetween(RUN, convexity, smoothness), AtMost(smoothness, factor)),
    LossesBetween(RUN, convexity, factor),
    "a β-smooth loss is β'-smooth for every β' ≥ β",
)
descent_lemma = Fact(
    "descent_lemma",
    "Nesterov 2004, Introductory Lectures on Convex Optimization",
    (Gradients(RUN, X, P, G), LossesBetween(RUN, convexity, smoothness)),
    AtMost(2 * move * _W - (smoothness - convexity) * move**2 * _W, P - convexity * X),
    "φ = ℓ − (μ/2)‖·‖² is convex and (β−μ)-smooth, so from either point, moving by −s·Δ∇φ, its Bregman divergence is "
    "at least sW − (β−μ)s²W/2, W = ‖Δ∇φ‖²; the two divergences add up to ⟨Δ∇φ, Δθ⟩ = P − μX",
)
lipschitz_update = Fact(
    "lipschitz_update",
    "",
    (
        GradientSteps(RUN, step_size),
        AtMost(X - 2 * step_size * P + step_size**2 * G, factor**2 * X),
        AtMost(S.Zero, factor),
    ),
    Lipschitz(RUN, factor),
    "‖Δθ − ηΔg‖² = ‖Δθ‖² − 2η⟨Δg, Δθ⟩ + η²‖Δg‖², at any two points",
    eigen=(X, P, G),
    under=(Gradients(RUN, X, P, G),),
)
sum_descent = Fact(
    "sum_descent",
    "Nesterov 2004, Introductory Lectures on Convex Optimization",
    (SumGradients(RUN, most_1, X, P, G), LossesBetween(RUN, S.Zero, smoothness), AtMost(S.Zero, most_1)),
    AtMost(2 * move * G - most_1 * smoothness * move**2 * G, P),
    "the descent lemma for a sum of at most so many convex β-smooth losses, which is convex and smooth with so many "
    "times β",
)
lipschitz_sum = Fact(
    "lipschitz_sum",
    "",
    (
        SummedSteps(RUN, step_size, divisor_1, decay_1),
        AtMost(
            (1 - step_size * decay_1) ** 2 * X
            - 2 * (1 - step_size * decay_1) * step_size / divisor_1 * P
            + (step_size / divisor_1) ** 2 * G,
            factor**2 * X,
        ),
        AtMost(S.Zero, factor),
    ),
    LipschitzUpTo(RUN, factor, most_1),
    "‖(1 − ηλ)Δθ − (η/b)Δg‖², written out, at any two points and for any batch of at most so many records",
    eigen=(X, P, G),
    under=(SumGradients(RUN, most_1, X, P, G),),
)
