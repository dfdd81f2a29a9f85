"""Losses and their gradients: what convexity and smoothness mean at two points."""

from __future__ import annotations

from sympy import S

from ...symbols import G, P, X, convexity, factor, move, smoothness, step_size
from ..kernel import Fact
from ..propositions import AtMost, Gradients, GradientSteps, Lipschitz, LossesBetween
from .definitions import RUN

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
