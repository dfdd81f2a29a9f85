"""Clipped softmax regression with a small clip norm: `clip:softmax`, which is `clip:convex` with a smaller β₀.

Where a gradient is clipped, its second derivative is multiplied by C/‖∇ℓ‖, and T = diag(p) − ppᵀ is at most
√2·‖p − y‖: together at most β₁ = √2·C·‖x̄‖, however large the features are.

`smooth:softmax` and `clip:softmax:convex` are what `prop:smooth` and `prop:smooth_strcvx_clip` say, for features
with or without a constant 1.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Rational, S, sqrt

from ..display import Over, Plus, times
from ..paper.logistic import CLIPPED, UPPER, smooth_losses, stays_convex
from ..paper.softmax import (
    BY_CLIP,
    CLIP,
    CLIPPING_KEEPS_CONVEX,
    HALF,
    LETTERS,
    MODEL,
    SMOOTHNESS,
    bent,
    everywhere,
    own_at_most_one,
    plain_bounds,
    point,
)
from ..paper.softmax import GRADIENT as WITH_DECAY
from ..proof import kernel
from ..proof.facts.clipped_softmax import (
    OTHERS,
    moved_whole,
    others_mean,
    others_square,
    others_within,
    square_across,
)
from ..proof.facts.regression import (
    BENT_ALONG,
    BENT_CHANGE,
    BENT_PRODUCT,
    MOMENTS,
    RESIDUAL,
    BatchMaps,
    Clipped,
    GradientBetween,
    SmoothLosses,
    VarianceAtMost,
    bent_norm,
    clip_reached,
    feature_norm,
    lipschitz_by_derivative,
    mean_of_maps,
    own_squared,
    variance_bound,
)
from ..proof.kernel import Theorem, apply, assume, combine, cut, substitute
from ..proof.propositions import AtMost, Less
from ..proof.search import claimed, given, right_of
from ..statement import Statement
from ..symbols import (
    Delta_2,
    L,
    S_g,
    X,
    beta0,
    bias,
    clip_scale,
    decay_1,
    eta,
    factor,
    kept,
    lam,
    lam0,
    norm_2,
    p_own,
    p_squares,
    root,
    slack,
    step_1,
    w_along,
    w_mean,
    w_mean_square,
    w_own,
    w_squares,
    weight_1,
    weight_2,
)
from .clipped_updates import (
    ASSUMES,
    KEPT,
    SHORT,
    SHORT_CONSTANT,
    divided,
    divisors_positive,
    has_room,
    keeps_some,
    moved_apart,
    positive_constant,
    shown_with,
)
from .sensitivity import ONE_HOT

GRADIENT = Clipped(MODEL, CLIP, lam0)
BENT_SMOOTHNESS = BY_CLIP / sqrt(2)
"""β₁ = √2·C·√(L² + bias), C = S_g/2."""
CONSTANT = SHORT_CONSTANT.subs(beta0, BENT_SMOOTHNESS)
SHORT_WHERE_BENT = SHORT.subs(beta0, BENT_SMOOTHNESS)
SHORT_WHERE_PLAIN = eta * (SMOOTHNESS + 2 * lam0) <= 2
_POINT = point().proposition.at  # type: ignore[attr-defined]
_OURS = {kept: KEPT, beta0: BENT_SMOOTHNESS}


def _put(theorem: Theorem) -> Theorem:
    """A theorem about short steps, for β₁."""
    return substitute(theorem, {beta0: BENT_SMOOTHNESS})


# --- How large the variance of a vector can be ----------------------------------------------------------------------

WRONG = 1 - p_own
"""m, the probability of all other classes."""
BEYOND = 2 * RESIDUAL
"""At most x² for the bound x on variances."""


@cache
def _room_within() -> Theorem:
    """0 ≤ y² + 2ym − m² − 2S, S the squares of the other probabilities: 2‖p − y‖² ≤ (m + y)²."""
    return combine(S.Zero, slack**2 + 2 * slack * WRONG - WRONG**2 - 2 * OTHERS, (S.One, _assumed()))


def _assumed() -> Theorem:
    return assume(AtMost(BEYOND, (WRONG + slack) ** 2))


@cache
def _not_wrong() -> Theorem:
    """0 ≤ m."""
    return combine(S.Zero, WRONG, (S.One, own_at_most_one()))


@cache
def _largest() -> tuple[Theorem, Theorem]:
    """S ≤ f² and 0 ≤ f, for f = m + y − S/y."""
    room, m, y = _room_within(), _not_wrong(), slack
    within = apply(others_within, point())
    largest = y * (WRONG + y) - OTHERS  # y·f
    positive = combine(S.Zero, largest, (HALF, room), ((y**2 + WRONG**2) / 2,))
    gap = largest**2 - OTHERS * y**2
    small = assume(AtMost(y, WRONG))
    below = combine(
        S.Zero,
        gap,
        (Rational(1, 4), small, y**3),
        (Rational(5, 4), small, y**2, m),
        (Rational(1, 4), small, y, WRONG**2),
        (Rational(1, 4), small, WRONG**2, m),
        (HALF, room, 2 * y**2 + WRONG**2),
        (Rational(1, 4), room, room),
    )
    large = assume(AtMost(WRONG, y))
    above = combine(
        S.Zero,
        gap,
        (large, large, (WRONG + y) ** 2),
        (2 * y, large, m, m),
        (2 * y**2, large, m),
        (within, y**2),
        (2 * y, within, m),
        (2 * y, within, large),
        (2, within, large, m),
        (within, within),
    )
    enough = kernel.cases(kernel.loosen(below), kernel.loosen(above))
    f = largest / y
    return combine(OTHERS, f**2, (1 / y**2, enough)), combine(S.Zero, f, (1 / y, positive))


@cache
def variance_by_residual() -> Theorem:
    """Variances are at most m + y times the squares, if 2‖p − y‖² ≤ (m + y)²."""
    most = (WRONG + slack) - OTHERS / slack
    moments = assume(MOMENTS.changed(lambda part: part.subs(LETTERS) if isinstance(part, Expr) else part))
    bounds = (kernel.loosen(combine(*sides, (S.One, each))) for each, sides in _sides(most))
    others = apply(others_square, moments, *bounds)
    found = combine(
        w_mean_square - w_mean**2,
        (WRONG + slack) * w_squares,
        ((w_mean - w_own) ** 2,),
        (slack, (w_own + (w_mean - p_own * w_own) / slack) ** 2),
        (1 / slack, apply(others_mean, moments)),
        (S.One, others),
    )
    put = {**LETTERS, factor: WRONG + slack, p_own: p_own, p_squares: p_squares, norm_2: norm_2}
    lemma = apply(variance_bound, kernel.loosen(found), put=put)
    return kernel.named(lemma, "variances, by how far the probabilities are from the label")


def _sides(most: Expr) -> list[tuple[Theorem, tuple[Expr, Expr]]]:
    first, second = _largest()
    return [(first, (OTHERS, most**2)), (second, (S.Zero, most))]


@cache
def by_residual() -> Theorem:
    """T ⪯ M for s·M·‖x̄‖² = β₁, as s‖p − y‖‖x̄‖ = C."""
    scale = clip_scale * norm_2
    most = BENT_SMOOTHNESS / scale
    reached, norm = kernel.loosen(apply(clip_reached, bent())), apply(feature_norm, point())
    # M²·s²‖x̄‖⁴ = 2C²(L² + bias) ≥ 2C²‖x̄‖² = 2s²‖p − y‖²‖x̄‖⁴
    enough = combine(BEYOND, most**2, (2 / scale**2, norm_2, reached), (2 * CLIP**2 / scale**2, norm))
    own = combine(WRONG**2, RESIDUAL, (S.One, apply(own_squared, point())))
    total = combine(S.Zero, most + WRONG, (most,), (S.One, _not_wrong()))
    product = combine(S.Zero, (most + WRONG) * (most - WRONG), (most**2 / 2,), (HALF, enough), (S.One, own))
    lemma = combine(S.Zero, most - WRONG, (1 / root, assume(Less(S.Zero, root * (most - WRONG)))))
    larger = cut(substitute(lemma, {root: most + WRONG}, total), product)
    return cut(substitute(variance_by_residual(), {slack: most - WRONG}, larger), enough)


# --- A step ---------------------------------------------------------------------------------------------------------


@cache
def _stretch() -> Theorem:
    """k²ηβ₀/(4k − ηβ₀) ≥ 0."""
    found = kernel.positive(kept**2 * eta * beta0 / root)
    return substitute(found, {root: right_of(_rest())}, _rest())


def _rest() -> Theorem:
    return assume(Less(S.Zero, 4 * kept - eta * beta0))


@cache
def _where_bent() -> Theorem:
    """η²‖d‖² − 2ηk⟨d, Δ⟩ ≤ (c² − k²)‖Δ‖² where the gradient is clipped, if T ⪯ M for s·M·‖x̄‖² = β₀.

    Across û and along it (4k − ηβ₀) times the difference is a square and what is known of T, as for `clip:convex`.
    """
    scale = clip_scale * norm_2
    at_most = assume(VarianceAtMost(_POINT, beta0 / scale))
    whole = apply(moved_whole, bent(), at_most)
    weights = {weight_1: -kept * beta0 / norm_2, weight_2: -(2 * kept - eta * beta0) * clip_scale}
    across = apply(square_across, bent(), put=weights)
    along = (-kept * beta0 * w_along / norm_2 + 2 * kept * clip_scale * BENT_ALONG) ** 2
    left = eta**2 * BENT_CHANGE - 2 * eta * kept * BENT_PRODUCT
    right = kept**2 * eta * beta0 * Delta_2
    product = combine(
        (4 * kept - eta * beta0) * left,
        right,
        (4 * kept**2 * eta * clip_scale**2 * norm_2 / beta0, whole),
        (eta * norm_2 / beta0, along),
        (eta * norm_2 / beta0, across),
        (kept**2 * eta * beta0 / norm_2, apply(bent_norm, bent())),
    )
    return kernel.named(divided(product, left, right, _rest()), "clipped softmax: how far a step expands")


def _ours(lemma: Theorem) -> Theorem:
    """A lemma about k and β₀, for k = 1 − ηλ₀ and β₁."""
    room = _put(has_room())
    return cut(substitute(lemma, _OURS, _put(keeps_some())), room)


@cache
def small_clip() -> Theorem:
    """A step on a batch is Lipschitz with c of `clip:convex` for β₁, if it is short for β₁ and (L² + bias)/2."""
    positive, _, firm = plain_bounds()
    nonzero = [_put(each) for each in divisors_positive()]
    wide = combine(S.Zero, 2 * KEPT - eta * SMOOTHNESS, (S.One, given(SHORT_WHERE_PLAIN)))
    more, bends = _ours(_stretch()), cut(_ours(_where_bent()), by_residual())

    def plain_(wanted: Expr) -> Theorem:
        terms = ((more, Delta_2), (eta**2, firm), (eta, positive, wide))
        return kernel.loosen(combine(S.Zero, wanted, *terms, nonzero=nonzero))

    def bent_(wanted: Expr) -> Theorem:
        return kernel.loosen(combine(S.Zero, wanted, (S.One, bends), nonzero=nonzero))

    coefficients = right_of(more), 2 * eta * KEPT, -(eta**2)
    found = everywhere(coefficients, plain_, bent_, GRADIENT, nonzero)
    moved = kernel.loosen(combine(moved_apart(KEPT), CONSTANT**2 * X, (S.One, found), nonzero=nonzero))
    put = {factor: CONSTANT, step_1: eta, **LETTERS, decay_1: lam0}
    constant = kernel.loosen(_put(positive_constant()))
    record = apply(lipschitz_by_derivative, moved, constant, put=put, ranges=nonzero)
    return apply(mean_of_maps, record)


# --- Statements -----------------------------------------------------------------------------------------------------

LENGTH_2 = Plus(L**2, bias)


@cache
def smooth_softmax() -> Statement:
    """`smooth:softmax`."""
    return Statement(
        label="smooth:softmax",
        kind="proposition",
        title="Smoothness of softmax regression, with or without a bias",
        where="not in the paper, whose Proposition 5.1 is the case bias = 1",
        says="Smoothness constant of the unregularised loss.",
        bounds=r"\beta",
        theorem=claimed(SmoothLosses(MODEL, SMOOTHNESS), (), (), smooth_losses),
        shown=Over(LENGTH_2, 2),
        hypotheses=(),
        assumes=(ONE_HOT,),
    )


@cache
def keeps_convex() -> Statement:
    """`clip:softmax:convex`."""
    return Statement(
        label="clip:softmax:convex",
        kind="proposition",
        title="Clipped gradients of softmax regression: where convexity and smoothness survive, with or without a bias",
        where="not in the paper; of Proposition 5.2, where it is true, it is the case bias = 1",
        says="λI ⪯ ∇g ⪯ this·I for the clipped, regularised gradient g: two classes, or clipping that never bites.",
        bounds=r"\lambda_{\max}(\nabla_\theta g)",
        theorem=claimed(GradientBetween(WITH_DECAY, lam, UPPER), (CLIPPING_KEEPS_CONVEX,), (), stays_convex),
        shown=Plus(Over(LENGTH_2, 2), lam),
        hypotheses=(CLIPPING_KEEPS_CONVEX,),
        uses=("smooth:softmax",),
        assumes=(ONE_HOT, CLIPPED),
    )


@cache
def softmax() -> Statement:
    """`clip:softmax`."""
    relations = (SHORT_WHERE_BENT, SHORT_WHERE_PLAIN)
    return Statement(
        label="clip:softmax",
        kind="proposition",
        title="Clipped gradients of softmax regression: how far a step expands, by clip norm",
        where="not in the paper; replaces Proposition 5.2 for three or more classes",
        says="As clip:convex, with β₁ = √2·C·√(L² + bias) in the place of β₀ = (L² + bias)/2, C = S_g/2: the smaller "
        "the clip norm, the less clipping bends.",
        bounds=r"\mathrm{Lip}(\theta\mapsto\theta-\eta g)",
        theorem=claimed(BatchMaps(GRADIENT, eta, CONSTANT), relations, (), small_clip),
        shown=shown_with(Over(times(S_g, sqrt(LENGTH_2)), sqrt(2))),
        hypotheses=relations,
        printed_with=lambda: [_put(each) for each in divisors_positive()],
        uses=("smooth:softmax", "clip:convex"),
        assumes=(ONE_HOT, *ASSUMES),
    )
