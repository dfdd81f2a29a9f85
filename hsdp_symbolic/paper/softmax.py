"""Derivatives of clipped softmax gradients: what `prop:smooth`, `prop:smooth_strcvx_clip` and their rates rest on.

T = diag(p) − ppᵀ is positive and at most M; where the gradient is clipped its derivative is a multiple of
(I − ûûᵀ)T, which need not be positive but is at least −M/8.

Everything is proved for features to which `bias` constants 1 are appended, of norm ‖x̄‖² ≤ L² + bias; the paper appends
one, and its statements are that case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sympy import Expr, Integer, Or, Rational, S, sqrt

from ..proof import kernel
from ..proof.facts.regression import (
    BENT,
    BENT_CHANGE,
    BENT_FORM,
    BENT_PRODUCT,
    MOMENTS,
    PLAIN,
    PLAIN_CHANGE,
    RESIDUAL,
    At,
    Clipped,
    Jacobian,
    Softmax,
    Somewhere,
    VarianceAtMost,
    across_along,
    across_change,
    across_itself,
    bent_change,
    bent_norm,
    bent_vectors,
    between_extremes,
    clip_is_shorter,
    clip_reached,
    clipped_or_not,
    feature_norm,
    others_apart,
    own_squared,
    plain_norm,
    plain_vectors,
    squares_at_most_one,
    two_classes,
    two_squares,
    variance_bound,
    variance_not_negative,
    variance_of_sum,
)
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, cut, rewrite, substitute
from ..proof.propositions import Equal, Less, Proposition
from ..proof.search import absurd, given
from ..symbols import (
    Delta_2,
    G,
    L,
    P,
    S_g,
    X,
    bias,
    bias_1,
    classes,
    clip_1,
    clip_scale,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    count,
    cov_uv,
    cov_vv,
    decay_1,
    factor,
    features_1,
    lam,
    norm_2,
    p_own,
    p_squares,
    root,
    t_squares,
    v_1,
    v_2,
    w_across,
    w_along,
    w_bar,
    w_max,
    w_mean,
    w_mean_square,
    w_min,
    w_own,
    w_squares,
    w_variance,
    weight_1,
    weight_2,
    y_1,
    y_2,
)

MODEL = Softmax(classes, L, bias)
CLIP = S_g / 2
GRADIENT = Clipped(MODEL, CLIP, lam)
SQUARE = L**2 + bias
"""At most ‖x̄‖²."""
SMOOTHNESS = SQUARE / 2
NEVER_CLIPS = S_g**2 >= 8 * SQUARE
TWO_CLASSES = classes <= 2
CLIPPING_KEEPS_CONVEX = Or(TWO_CLASSES, NEVER_CLIPS)
BY_CLIP = S_g * sqrt(SQUARE)
"""What bounds the derivative of a clipped gradient, by the clip norm."""
ONE_APPENDED = {bias: S.One}
"""The paper's features: a constant 1 is appended."""
HALF = Rational(1, 2)
LETTERS = {count: classes, features_1: L, bias_1: bias, clip_1: CLIP, decay_1: lam}


def one_appended(theorem: Theorem) -> Theorem:
    """The same for the paper's features."""
    return substitute(theorem, ONE_APPENDED)


def _here(proposition: Proposition) -> Theorem:
    """What facts say of any model, assumed of ours."""
    return assume(proposition.changed(lambda part: part.subs(LETTERS) if isinstance(part, Expr) else part))


_POINT = At(MODEL, p_own, p_squares, norm_2)


@cache
def point() -> Theorem:
    """The parameters and the record at hand."""
    return assume(Somewhere(_POINT))


@cache
def _moments() -> Theorem:
    return _here(MOMENTS)


@cache
def plain() -> Theorem:
    """A direction, the gradient not being clipped."""
    return _here(PLAIN)


@cache
def bent() -> Theorem:
    """A direction, the gradient being clipped."""
    return _here(BENT)


# --- How large the variance of a vector can be ----------------------------------------------------------------------


@cache
def _extremes() -> Theorem:
    """(max − min)² ≤ 2·Σw², for any number of classes."""
    pair = apply(two_squares, _moments())
    return combine((w_max - w_min) ** 2, 2 * w_squares, ((w_max + w_min - 2 * w_bar) ** 2,), (Integer(2), pair))


def _bounded(bound: Expr, *terms: tuple[kernel.Factor, ...]) -> Theorem:
    found = combine(w_mean_square - w_mean**2, bound * w_squares, *terms)
    return apply(variance_bound, found, put={factor: bound, **LETTERS, **_stand_for_themselves()})


def _stand_for_themselves() -> dict[Expr, Expr]:
    return {symbol: symbol for symbol in (p_own, p_squares, norm_2)}


@cache
def variance_half() -> Theorem:
    """Böhning's bound: variances are at most half the squares, T ⪯ ½I.

    The variance is at most (max − mean)(mean − min) ≤ (max − min)²/4.
    """
    between = apply(between_extremes, _moments())
    square = (w_max + w_min - 2 * w_mean) ** 2
    found = _bounded(HALF, (S.One, between), (square / 4,), (Rational(1, 4), _extremes()))
    return kernel.named(found, "Böhning's bound")


@cache
def variance_by_own() -> Theorem:
    """Variances are at most 2(1 − p_y) times the squares: the mean of (w − w_y)² is no smaller than the variance."""
    others = apply(others_apart, _moments())
    found = _bounded(2 * (1 - p_own), (S.One, others), ((w_mean - w_own) ** 2,), (own_at_most_one(), _extremes()))
    return kernel.named(found, "variances, by the probability of the true class")


@cache
def own_at_most_one() -> Theorem:
    """p_y ≤ 1."""
    squares = apply(own_squared, point()), apply(squares_at_most_one, point())
    return combine(p_own, S.One, *((1 / (1 + p_own), each) for each in squares))


# --- Gradients ------------------------------------------------------------------------------------------------------


@cache
def gradient_bound() -> Theorem:
    """‖∇ℓ₀‖² = ‖p − y‖²‖x̄‖² ≤ 2(L² + bias)."""
    residual = combine(RESIDUAL, Integer(2), (S.One, apply(squares_at_most_one, point())), (2 * p_own,))
    norm = apply(feature_norm, point())
    found = combine(RESIDUAL * norm_2, 2 * SQUARE, (norm_2, residual), (Integer(2), norm))
    return kernel.named(found, "an unclipped gradient is bounded")


def _variance_of(vectors: Theorem, first: Expr, second: Expr, at_most: Theorem | None = None) -> Theorem:
    """The variance of a combination of two vectors: at least 0, or at most M times its squares."""
    weights = {weight_1: first, weight_2: second}
    if at_most is None:
        return apply(variance_not_negative, vectors, put=weights)
    return apply(variance_of_sum, vectors, at_most, put=weights)


@cache
def plain_bounds() -> tuple[Theorem, Theorem, Theorem]:
    """Where the gradient is not clipped: 0 ≤ ⟨Δ, AΔ⟩ ≤ β‖Δ‖² and ‖AΔ‖² ≤ β⟨Δ, AΔ⟩, β = (L² + bias)/2."""
    vectors, norm = apply(plain_vectors, plain()), apply(feature_norm, point())
    positive = _variance_of(vectors, S.One, S.Zero)
    half = _variance_of(vectors, S.One, S.Zero, variance_half())
    size = apply(plain_norm, plain())
    smooth = combine(w_variance, SMOOTHNESS * Delta_2, (S.One, half), (HALF, size), (HALF * Delta_2, norm))
    # 0 ≤ Var(½w − t) and Var(t) ≤ ½‖t‖²: ‖t‖² ≤ ½·Var(w)
    least, most = _variance_of(vectors, HALF, Integer(-1)), _variance_of(vectors, S.Zero, S.One, variance_half())
    change = combine(t_squares, w_variance / 2, (Integer(2), least), (Integer(2), most))
    firm = combine(PLAIN_CHANGE, SMOOTHNESS * w_variance, (norm_2, change), (HALF, norm, positive))
    return (
        kernel.named(positive, "not clipped: 0 ≤ ⟨Δ, AΔ⟩"),
        kernel.named(smooth, "not clipped: ⟨Δ, AΔ⟩ ≤ β‖Δ‖²"),
        kernel.named(firm, "not clipped: ‖AΔ‖² ≤ β⟨Δ, AΔ⟩"),
    )


@cache
def bent_bounds(most: Expr) -> tuple[Theorem, Theorem]:
    """Where it is clipped: ⟨Δ, AΔ⟩ ≥ −(most/8)‖Δ‖² and ‖AΔ‖² ≤ most²‖Δ‖², if T ⪯ M with s·M·‖x̄‖² = most."""
    M = most / (clip_scale * norm_2)
    at_most = assume(VarianceAtMost(_POINT, M))
    vectors, change = apply(bent_vectors, bent()), apply(bent_change, bent())
    size = apply(bent_norm, bent())
    # M·(T − T²/M) = T(M − T)T/M + (M − T)T(M − T)/M, at v̂: Cov(û, v̂)² ≤ Var(v̂)·(M − Var(v̂))
    upper = _variance_of(vectors, cov_uv, cov_vv, at_most)
    lower = _variance_of(vectors, -cov_uv, M - cov_vv)
    across = combine(cov_uv**2, cov_vv * (M - cov_vv), (1 / M, upper), (1 / M, lower))
    # (M/2)·(form + (M/8)‖w‖²) is (aM/4 + r·Cov)² + r²·((Var − M/4)² + Var·(M − Var) − Cov²), w = aû + rv̂
    form = combine(
        -M / 8 * (w_along**2 + w_across**2),
        BENT_FORM,
        (2 / M, (w_along * M / 4 + w_across * cov_uv) ** 2),
        (2 / M, w_across**2, (cov_vv - M / 4) ** 2),
        (2 / M, w_across**2, across),
    )
    product = combine(-most / 8 * Delta_2, BENT_PRODUCT, (clip_scale, form), (clip_scale * M / 8, size))
    # 0 ≤ Var(Mw − t), Var(w) ≤ M‖w‖² and Var(t) ≤ M‖t‖²: ‖t‖² ≤ M²‖w‖²
    least = _variance_of(change, M, Integer(-1))
    own, other = (_variance_of(change, *weights, at_most) for weights in ((S.One, S.Zero), (S.Zero, S.One)))
    squares = combine(t_squares, M**2 * (w_along**2 + w_across**2), (1 / M, least), (M, own), (1 / M, other))
    moved = combine(
        BENT_CHANGE, most**2 * Delta_2, (clip_scale**2 * norm_2, squares), (clip_scale**2 * norm_2 * M**2, size)
    )
    return (
        kernel.named(product, "clipped: ⟨Δ, AΔ⟩ is at least −1/8 of the bound on ‖A‖"),
        kernel.named(moved, "clipped: the bound on ‖A‖"),
    )


@cache
def _shrinks() -> Theorem:
    """s < 1: s²‖∇ℓ₀‖² = C² < ‖∇ℓ₀‖²."""
    reached, shorter = apply(clip_reached, bent()), apply(clip_is_shorter, bent())
    norm = combine(S.Zero, RESIDUAL * norm_2, (S.One, shorter), (CLIP**2,))
    lemma = combine(clip_scale, S.One, (1 / (root * (1 + clip_scale)), assume(Less(clip_scale**2 * root, root))))
    return cut(substitute(lemma, {root: RESIDUAL * norm_2}, norm), chain(reached, shorter))


@cache
def by_features() -> Theorem:
    """T ⪯ M for s·M·‖x̄‖² = (L² + bias)/2, by Böhning's bound."""
    norm, scale = apply(feature_norm, point()), clip_scale * norm_2
    room = combine(HALF, SMOOTHNESS / scale, (1 / (2 * scale), norm), (1 / (2 * clip_scale), _shrinks()))
    return kernel.weaken(variance_half(), room)


@cache
def by_clip_norm() -> Theorem:
    """T ⪯ M for s·M·‖x̄‖² = S_g·√(L² + bias), as s‖p − y‖‖x̄‖ = S_g/2 and 1 − p_y ≤ ‖p − y‖."""
    lost = combine((1 - p_own) ** 2, RESIDUAL, (S.One, apply(own_squared, point())))
    reached, norm = kernel.loosen(apply(clip_reached, bent())), apply(feature_norm, point())
    scale = clip_scale * norm_2
    value, most = scale * (1 - p_own), BY_CLIP / 2
    squared = combine(value**2, most**2, (scale**2, lost), (norm_2, reached), (CLIP**2, norm))
    plain_ = combine(value, most, ((most - value) ** 2 / (2 * most),), (1 / (2 * most), squared))
    return kernel.weaken(variance_by_own(), combine(2 * (1 - p_own), BY_CLIP / scale, (2 / scale, plain_)))


def clipped_bounds(variances: Theorem, most: Expr) -> tuple[Theorem, Theorem]:
    """⟨Δ, AΔ⟩ ≥ −(most/8)‖Δ‖² and ‖AΔ‖² ≤ most²‖Δ‖² where the gradient is clipped, from such a bound on variances."""
    product, moved = bent_bounds(most)
    return cut(product, variances), cut(moved, variances)


# --- Clipping that keeps convexity ----------------------------------------------------------------------------------


@cache
def two_classes_flat() -> tuple[Theorem, Theorem, Theorem]:
    """With two classes a vector orthogonal to p − y is constant, so its covariances are 0: Cov(û, v̂), Var(v̂), ‖t‖²."""
    orthogonal = assume(Equal((p_own - 1) * v_1 + (1 - p_own) * v_2, S.Zero))
    product = p_own * (1 - p_own) * (y_1 - y_2) * (v_1 - v_2)
    factored = cancel(product, -p_own * (y_1 - y_2) * orthogonal.proposition.left)  # type: ignore[attr-defined]
    flat = rewrite(factored, orthogonal)
    found = (apply(each, bent()) for each in (across_along, across_itself, across_change))
    first, second, third = (apply(two_classes, each, given(TWO_CLASSES), flat) for each in found)
    return kernel.named(first, "two classes: (I − ûûᵀ)T = 0"), second, third


@cache
def never_clipped() -> tuple[Theorem, Theorem]:
    """What cannot both be, if S_g² ≥ 8(L² + bias): 0 < ‖∇ℓ₀‖² − (S_g/2)², as for a clipped gradient, and ≤ 0."""
    more = RESIDUAL * norm_2 - CLIP**2
    shorter = combine(S.Zero, more, (S.One, apply(clip_is_shorter, bent())))
    longer = combine(more, S.Zero, (S.One, gradient_bound()), (Rational(1, 4), given(NEVER_CLIPS)))
    return shorter, kernel.named(longer, "clipping never bites")


def bent_cases(wanted: Expr) -> Theorem:
    """0 ≤ wanted where the gradient is clipped, for two classes (it is 0 there) or if it never is."""
    by_classes = combine(
        S.Zero, wanted, (wanted.subs(dict.fromkeys((cov_uv, cov_vv, t_squares), 0)),), by=two_classes_flat()
    )
    proofs = {
        given(TWO_CLASSES).proposition: by_classes,
        given(NEVER_CLIPS).proposition: absurd(*never_clipped(), S.Zero, wanted),
    }
    either = given(CLIPPING_KEEPS_CONVEX)
    return kernel.each_case(either, *(proofs[each] for each in either.proposition.cases))  # type: ignore[attr-defined]


def everywhere(
    coefficients: tuple[Expr, Expr, Expr],
    plain_: Callable[[Expr], Theorem],
    bent_: Callable[[Expr], Theorem],
    gradient: Clipped = GRADIENT,
    nonzero: Sequence[Theorem] = (),
) -> Theorem:
    """0 ≤ k₁‖Δ‖² + k₂⟨Δ, AΔ⟩ + k₃‖AΔ‖² everywhere, from proofs where the gradient is not clipped and where it is."""
    direction = assume(Jacobian(gradient, X, P, G))
    put = {**LETTERS, decay_1: gradient.decay}
    put |= dict(zip((coefficient_1, coefficient_2, coefficient_3), coefficients, strict=True))
    wanted = [each.right.subs(put, simultaneous=True) for each in clipped_or_not.premises[1:]]  # type: ignore[attr-defined]
    return apply(clipped_or_not, direction, plain_(wanted[0]), bent_(wanted[1]), put=put, ranges=nonzero)
