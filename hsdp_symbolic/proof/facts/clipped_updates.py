"""Any smooth losses, convex or not, whose gradients are clipped: two points, and the update between them.

At two points, Δ apart, the gradients of a record differ by h and, clipped, by d. Clipping to norm C is the projection
onto the ball of radius C.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S

from ...symbols import (
    G,
    P,
    X,
    clip_1,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    cut_grad,
    decay_1,
    factor,
    grad_change,
    grad_move,
    smoothness,
    step_1,
    v_1,
    v_2,
    y_1,
    y_2,
)
from ..kernel import Fact
from ..propositions import Anything, AtMost, Equal, Less, Proposition, Term
from .regression import HARDY, Clipped, RecordMaps


@dataclass(frozen=True)
class ConvexRecords(Term):
    """Losses of single records: convex, their gradients Lipschitz with constant `smoothness`."""

    smoothness: Expr
    words = "convex {smoothness}-smooth losses"


@dataclass(frozen=True)
class SmoothRecords(Term):
    """Losses of single records, convex or not: their gradients are Lipschitz with constant `smoothness`."""

    smoothness: Expr
    words = "{smoothness}-smooth losses, convex or not"


@dataclass(frozen=True)
class TwoGradients(Proposition):
    """At some two points, Δ apart, a record's gradients differ by h and, clipped, by d: squares and inner products."""

    gradient: Clipped | Anything
    distance: Expr
    raw_product: Expr
    raw_change: Expr
    both: Expr
    product: Expr
    change: Expr
    words = (
        "{gradient}: ‖Δ‖² = {distance}, ⟨h, Δ⟩ = {raw_product}, ‖h‖² = {raw_change}, ⟨d, h⟩ = {both}, "
        "⟨d, Δ⟩ = {product}, ‖d‖² = {change} at some two points"
    )


@dataclass(frozen=True)
class NoLessThan(Proposition):
    """Whatever is a Lipschitz constant of the steps on all these records is at least this."""

    gradient: Clipped | Anything
    step: Expr
    constant: Expr
    value_at = "constant"
    relation = ">="
    words = "{gradient}: no constant below {constant} holds for steps of size {step} on all such records"


LOSSES = Anything("losses")
ANY_LOSSES = Clipped(LOSSES, clip_1, decay_1)
CONVEX = Clipped(ConvexRecords(smoothness), clip_1, decay_1)
SMOOTH = Clipped(SmoothRecords(smoothness), clip_1, decay_1)
_PRODUCTS = (X, grad_move, grad_change, cut_grad, P, G)
_ANY = TwoGradients(ANY_LOSSES, *_PRODUCTS)

cocoercive = Fact(
    "cocoercive",
    "Baillon & Haddad 1977, Quelques propriétés des opérateurs angle-bornés et n-cycliquement monotones",
    (TwoGradients(CONVEX, *_PRODUCTS),),
    AtMost(grad_change, smoothness * grad_move),
    "the gradient of a convex function, if β-Lipschitz, is 1/β-cocoercive",
)
smooth_gradients = Fact(
    "smooth_gradients",
    "",
    (TwoGradients(SMOOTH, *_PRODUCTS),),
    AtMost(grad_change, smoothness**2 * X),
    "gradients are β-Lipschitz",
)
clipping_projects = Fact(
    "clipping_projects",
    "Moreau 1965, Proximité et dualité dans un espace hilbertien",
    (_ANY,),
    AtMost(G, cut_grad),
    "clipping projects onto a ball, and projections onto convex sets are firmly nonexpansive: ‖d‖² ≤ ⟨d, h⟩",
)
square_of_three = Fact(
    "square_of_three",
    HARDY,
    (_ANY,),
    AtMost(
        S.Zero,
        coefficient_1**2 * X
        + coefficient_2**2 * grad_change
        + coefficient_3**2 * G
        + 2 * coefficient_1 * coefficient_2 * grad_move
        + 2 * coefficient_1 * coefficient_3 * P
        + 2 * coefficient_2 * coefficient_3 * cut_grad,
    ),
    "‖k_X·Δ + k_P·h + k_G·d‖²",
)
_KEPT = 1 - step_1 * decay_1
lipschitz_at_two_points = Fact(
    "lipschitz_at_two_points",
    "",
    (AtMost(_KEPT**2 * X - 2 * step_1 * _KEPT * P + step_1**2 * G, factor**2 * X), AtMost(S.Zero, factor)),
    RecordMaps(ANY_LOSSES, step_1, factor),
    "‖(1 − ηλ)Δ − ηd‖², written out, at any two points",
    eigen=_PRODUCTS,
    under=(_ANY,),
)
_ALONG = v_1 * y_1 + v_2 * y_2  # v·Δ
one_sided_derivative = Fact(
    "one_sided_derivative",
    "",
    (
        Equal(v_1**2 + v_2**2, S.One),
        AtMost(S.Zero, v_1 * _ALONG),
        Less(S.Zero, y_1**2 + y_2**2),
        AtMost(
            factor**2 * (y_1**2 + y_2**2),
            (_KEPT * y_1) ** 2 + (_KEPT * y_2 - step_1 * smoothness * v_2 * _ALONG) ** 2,
        ),
        *(Less(S.Zero, each) for each in (step_1, clip_1, smoothness)),
    ),
    NoLessThan(CONVEX, step_1, factor),
    "the record (β/2)(v·θ)² + C·u·θ, u a unit vector, has at 0 a gradient of norm C, which does not get shorter from "
    "there in the direction Δ; so clipping takes u's part away: d/dt of the clipped gradient at tΔ, t ↓ 0, is "
    "β(v·Δ)(v − (u·v)u). In coordinates u is (1, 0), v is (v₁, v₂), Δ is (y₁, y₂)",
)
