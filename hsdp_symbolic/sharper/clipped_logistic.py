"""Clipped binary logistic regression with a small clip norm: `clip:logistic`, a β smaller than a quarter of ‖x‖².

The curvature p(1 − p)‖x‖² is largest at p = ½, where the gradient has norm ‖x‖/2. A clip norm C below that cuts such
gradients; where (1 − p)‖x‖ is at most C, the curvature is at most C(‖x‖ − C).
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, S, sqrt

from ..display import Over, Plus, times
from ..proof import kernel
from ..proof.facts.regression import Clipped, SmoothLosses
from ..proof.facts.sensitivity import logistic_clipped, logistic_input, own_probability
from ..proof.kernel import Theorem, apply, assume, combine, cut, substitute
from ..proof.propositions import AtMost
from ..proof.search import claimed, given
from ..statement import Statement
from ..symbols import L, S_g, bias, clip_1, factor, p_own, radius, root, x0
from .sensitivity import LENGTH, LETTERS, LOGISTIC, SHORT_FEATURES, logistic_point

CLIP = S_g / 2
SMALL_CLIP = S_g**2 <= L**2 + bias
SMOOTHNESS = CLIP * (LENGTH - CLIP)


def _by_squares(value: Expr, squared: Theorem) -> Theorem:
    """value ≤ √(L² + bias), from value² ≤ L² + bias."""
    lemma = combine(x0, root, (1 / (root + x0), assume(AtMost(x0**2, root**2))))
    return cut(substitute(lemma, {x0: value, root: LENGTH}, kernel.positive(LENGTH)), squared)


@cache
def _curvature() -> Theorem:
    """p(1 − p)‖x‖² ≤ C(L̄ − C) where the gradient is not longer than C, L̄ being the largest ‖x‖.

    With t = (1 − p)‖x‖ ≤ C ≤ L̄/2 the difference is t(L̄ − ‖x‖) + (C − t)((L̄ − 2C) + (C − t)).
    """
    wrong = (1 - p_own) * radius
    kept = assume(AtMost(wrong, CLIP))
    sure = apply(own_probability, logistic_point())
    short = _by_squares(radius, apply(logistic_input, logistic_point()))
    small = _by_squares(S_g, given(SMALL_CLIP))
    terms = (sure, radius, short), (kept, small), (kept, kept)
    return kernel.loosen(combine(p_own * (1 - p_own) * radius**2, SMOOTHNESS, *terms))


@cache
def small_clip() -> Theorem:
    """Clipped gradients are those of convex losses so smooth."""
    room = combine(S.Zero, SMOOTHNESS, (CLIP, _by_squares(S_g, given(SMALL_CLIP))), (CLIP**2,))
    put = {factor: SMOOTHNESS, clip_1: CLIP, **LETTERS}
    return apply(logistic_clipped, _curvature(), kernel.loosen(room), put=put)


@cache
def logistic() -> Statement:
    """`clip:logistic`."""
    return Statement(
        label="clip:logistic",
        kind="proposition",
        title="Clipped gradients of the logistic loss of two classes, by clip norm",
        where="not in the paper; beside Proposition 5.1, for a small clip norm",
        says="As clip:scalar with κ = 1/4, for a clip norm C = S_g/2 of at most half the norm of the features: what "
        "clipping leaves is this smooth.",
        bounds=r"\beta",
        theorem=claimed(SmoothLosses(Clipped(LOGISTIC, CLIP, S.Zero), SMOOTHNESS), (SMALL_CLIP,), (), small_clip),
        shown=times(Over(S_g, 2), Plus(sqrt(Plus(L**2, bias)), -Over(S_g, 2))),
        hypotheses=(SMALL_CLIP,),
        assumes=(SHORT_FEATURES, "gradients are clipped one record at a time; a regulariser is added after clipping"),
    )
