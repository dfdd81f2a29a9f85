"""Softmax regression with clipped gradients: what its losses, gradients and their derivatives are, in symbols.

Scores z_i = x̄ᵀθ_i, x̄ the features and any constant 1 appended, probabilities p = softmax(z), label y. At a point θ, in
a direction Δ, the scores change by w_i = x̄ᵀΔ_i, the probabilities by t = Tw, T = diag(p) − ppᵀ: wᵀTw is the variance
of w under p, and the gradient of the loss is (p − y)x̄ᵀ. Where it is longer than the clip norm C it is multiplied by
s = C/(‖p − y‖‖x̄‖), and with û = (p − y)/‖p − y‖ its derivative is s·((I − ûûᵀ)Tw)x̄ᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S

from ...meaning import Asks, Quantity
from ...symbols import (
    Delta_2,
    G,
    P,
    X,
    bias_1,
    clip_1,
    clip_scale,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    count,
    cov_11,
    cov_12,
    cov_22,
    cov_uu,
    cov_uv,
    cov_vv,
    decay_1,
    epsilon_1,
    epsilon_2,
    factor,
    features_1,
    inner_11,
    inner_12,
    inner_22,
    noise_1,
    norm_2,
    order,
    p_own,
    p_squares,
    place,
    step_1,
    steps,
    t_squares,
    t_variance,
    upper_1,
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
from ..kernel import Fact
from ..propositions import Anything, Apart, AtMost, Descent, Equal, From, Less, Lipschitz, Proposition, Renyi, Term
from .definitions import BATCHES, RUN

# --- Terms ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Softmax(Term):
    """Softmax regression: linear scores of features.

    Features have norm at most `features`, before `bias` constants 1 are appended.
    """

    classes: Expr
    features: Expr
    bias: Expr
    words = "softmax regression with {classes} classes, features of norm at most {features} and {bias} constants 1"


@dataclass(frozen=True)
class At(Term):
    """Any parameters and record with these values: p_y, Σp² and ‖x̄‖²."""

    model: Softmax | Anything
    own: Expr
    squares: Expr
    norm: Expr
    words = "{model}, where the true class has probability {own}, all squared add up to {squares}, and ‖x̄‖² is {norm}"


@dataclass(frozen=True)
class Clipped(Term):
    """Gradients of single records, clipped to norm `clip`, to which decay·θ is added: g(θ) = g₀(θ) + decay·θ."""

    model: Term
    clip: Expr
    decay: Expr
    words = "gradients of {model}, clipped to norm {clip}, with {decay}·θ added"


@dataclass(frozen=True)
class OnNormalised(Descent):
    """Descent on features that were normalised first, by statistics of all records that are released with noise."""

    words = "features normalised, then descent with noise {noise}; {batches}"


# --- What is said of them -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Somewhere(Proposition):
    """There are such parameters and such a record."""

    at: At | Anything
    words = "somewhere: {at}"


@dataclass(frozen=True)
class Moments(Proposition):
    """Some vector w has these: Σw², its mean and mean square under p, largest, smallest and plain mean entry, w_y."""

    at: At | Anything
    squares: Expr
    mean: Expr
    mean_square: Expr
    top: Expr
    bottom: Expr
    middle: Expr
    own: Expr
    words = (
        "some vector with squares {squares}, mean {mean}, mean square {mean_square}, entries from {bottom} to {top}, "
        "on average {middle}, and {own} for the true class"
    )


@dataclass(frozen=True)
class Vectors(Proposition):
    """Some two vectors have these inner products, and these covariances under p."""

    at: At | Anything
    first: Expr
    product: Expr
    second: Expr
    first_variance: Expr
    covariance: Expr
    second_variance: Expr
    words = (
        "some two vectors with inner products {first}, {product}, {second} and covariances {first_variance}, "
        "{covariance}, {second_variance}"
    )


@dataclass(frozen=True)
class VarianceAtMost(Proposition):
    """Every vector w has variance at most factor·‖w‖² under p: T ⪯ factor·I."""

    at: At | Anything
    factor: Expr
    value_at = "factor"
    words = "the variance of a vector is at most its squares times {factor}"


@dataclass(frozen=True)
class Unclipped(Proposition):
    """In some direction Δ, of the gradient as it is, not clipped: ‖Δ‖², ‖w‖², wᵀTw, ‖t‖² and variance of t = Tw."""

    at: At | Anything
    size: Expr
    squares: Expr
    variance: Expr
    moved: Expr
    moved_variance: Expr
    words = (
        "a gradient that is not clipped, in a direction with ‖Δ‖² = {size}; w: {squares}, {variance}; "
        "Tw: {moved}, {moved_variance}"
    )


@dataclass(frozen=True)
class WhereClipped(Proposition):
    """In some direction Δ, where the gradient is longer than the clip norm and multiplied by `scale`.

    w = along·û + across·v̂, v̂ a unit vector orthogonal to û; their variances and covariance under p; ‖t‖² and the
    variance of t = (I − ûûᵀ)Tw.
    """

    at: At | Anything
    clip: Expr
    size: Expr
    along: Expr
    across: Expr
    along_variance: Expr
    covariance: Expr
    across_variance: Expr
    moved: Expr
    moved_variance: Expr
    scale: Expr
    words = (
        "a gradient clipped to {clip}, times {scale}, in a direction with ‖Δ‖² = {size}; w: {along}, {across}; "
        "covariances: {along_variance}, {covariance}, {across_variance}; (I − ûûᵀ)Tw: {moved}, {moved_variance}"
    )


@dataclass(frozen=True)
class Across(Proposition):
    """Some vector that is orthogonal to p − y has this covariance with some vector."""

    at: At | Anything
    covariance: Expr
    words = "a vector orthogonal to p − y has covariance {covariance} with some vector"


@dataclass(frozen=True)
class Jacobian(Proposition):
    """Somewhere, in some direction Δ, with A the derivative of g₀: ‖Δ‖², ⟨Δ, AΔ⟩ and ‖AΔ‖² are these."""

    gradient: Clipped | Anything
    size: Expr
    product: Expr
    change: Expr
    words = "‖Δ‖² = {size}, ⟨Δ, AΔ⟩ = {product}, ‖AΔ‖² = {change} in some direction"


@dataclass(frozen=True)
class SmoothLosses(Proposition):
    """The losses are convex, and their gradients Lipschitz with this constant."""

    model: Term
    smoothness: Expr
    value_at = "smoothness"
    quantity = Quantity.SMOOTHNESS
    words = "{model}: losses are convex and {smoothness}-smooth"


@dataclass(frozen=True)
class LipschitzLosses(Proposition):
    """The losses are Lipschitz with this constant: no gradient is longer."""

    model: Term
    constant: Expr
    value_at = "constant"
    words = "{model}: no gradient is longer than {constant}"


@dataclass(frozen=True)
class GradientBetween(Proposition):
    """convexity·I ⪯ ∇g ⪯ smoothness·I, wherever g is differentiable.

    With A = ∇g − convexity·I that is ⟨Δ, AΔ⟩ ≤ (smoothness − convexity)‖Δ‖² and
    ‖AΔ‖² ≤ (smoothness − convexity)⟨Δ, AΔ⟩ in every direction Δ.
    """

    gradient: Clipped | Anything
    convexity: Expr
    smoothness: Expr
    value_at = "smoothness"
    quantity = Quantity.SMOOTHNESS
    words = "{gradient}: the derivative lies between {convexity} and {smoothness}"


@dataclass(frozen=True)
class SymmetricPartAtLeast(Proposition):
    """⟨Δ, ∇g Δ⟩ ≥ convexity·‖Δ‖² in every direction Δ, wherever g is differentiable."""

    gradient: Clipped | Anything
    convexity: Expr
    value_at = "convexity"
    relation = ">="
    quantity = Quantity.CONVEXITY
    words = "{gradient}: the symmetric part of the derivative is at least {convexity}"


@dataclass(frozen=True)
class ClippedPartAtLeast(Proposition):
    """⟨Δ, ∇g Δ⟩ ≥ convexity·‖Δ‖² in every direction Δ, wherever the gradient is longer than the clip norm."""

    gradient: Clipped | Anything
    convexity: Expr
    value_at = "convexity"
    relation = ">="
    quantity = Quantity.CONVEXITY
    words = "{gradient}: where it is clipped, the symmetric part of the derivative is at least {convexity}"


@dataclass(frozen=True)
class RecordMaps(Proposition):
    """θ − step·g(θ) is Lipschitz with this constant, for every record."""

    gradient: Clipped | Anything
    step: Expr
    constant: Expr
    value_at = "constant"
    quantity = Quantity.LIPSCHITZ
    words = "{gradient}: a step of size {step} on one record is Lipschitz with constant {constant}"


@dataclass(frozen=True)
class BatchMaps(Proposition):
    """θ − step·(mean of g(θ) over a batch) is Lipschitz with this constant, for every batch."""

    gradient: Clipped | Anything
    step: Expr
    constant: Expr
    value_at = "constant"
    quantity = Quantity.LIPSCHITZ
    words = "{gradient}: a step of size {step} on a batch is Lipschitz with constant {constant}"


@dataclass(frozen=True)
class ContractionRate(Proposition):
    """θ − step·(mean of g(θ) over a batch) is (1 − step·rate)-Lipschitz, for every batch."""

    gradient: Clipped | Anything
    step: Expr
    rate: Expr
    value_at = "rate"
    relation = ">="
    quantity = Quantity.CONTRACTION
    words = "{gradient}: a step of size {step} on a batch contracts at rate {rate}"


@dataclass(frozen=True)
class StepsOn(Proposition):
    """Every update map is θ − step·(mean of g(θ) over a batch of `size` records)."""

    descent: Descent | Anything
    gradient: Clipped | Anything
    step: Expr
    size: Expr
    asks = Asks.SOFTMAX
    words = "an update is θ − {step}·(mean over {size} records of {gradient})"


@dataclass(frozen=True)
class NormalisedFirst(Proposition):
    """The statistics by which features are normalised have divergence at most `epsilon` at this order."""

    descent: OnNormalised | Anything
    order: Expr
    epsilon: Expr
    assumable = True
    words = "features are normalised by statistics with divergence at most {epsilon} at order {order}"


# --- Facts ----------------------------------------------------------------------------------------------------------

MODEL = Softmax(count, features_1, bias_1)
AT = At(MODEL, p_own, p_squares, norm_2)
"""The point and record at hand."""
GRADIENT = Clipped(MODEL, clip_1, decay_1)
ANY_AT, ANY_GRADIENT = Anything("at"), Anything("g")
HARDY = "Hardy, Littlewood & Pólya 1934, Inequalities"

MOMENTS = Moments(AT, w_squares, w_mean, w_mean_square, w_max, w_min, w_bar, w_own)
ANY_MOMENTS = Moments(ANY_AT, w_squares, w_mean, w_mean_square, w_max, w_min, w_bar, w_own)
TWO = Vectors(ANY_AT, inner_11, inner_12, inner_22, cov_11, cov_12, cov_22)
PLAIN = Unclipped(AT, Delta_2, w_squares, w_variance, t_squares, t_variance)
BENT = WhereClipped(AT, clip_1, Delta_2, w_along, w_across, cov_uu, cov_uv, cov_vv, t_squares, t_variance, clip_scale)
RESIDUAL = p_squares - 2 * p_own + 1
"""‖p − y‖²."""
BENT_ALONG = w_along * cov_uu + w_across * cov_uv  # ûᵀTw
BENT_VARIANCE = w_along**2 * cov_uu + 2 * w_along * w_across * cov_uv + w_across**2 * cov_vv  # wᵀTw
BENT_FORM = BENT_VARIANCE - w_along * BENT_ALONG
"""wᵀ(I − ûûᵀ)Tw."""
BENT_PRODUCT, BENT_CHANGE = clip_scale * BENT_FORM, clip_scale**2 * norm_2 * t_squares
PLAIN_PRODUCT, PLAIN_CHANGE = w_variance, norm_2 * t_squares
_HERE = (p_own, p_squares, norm_2, Delta_2, t_squares, t_variance)
_PLAIN_HERE = (*_HERE, w_squares, w_variance)
_BENT_HERE = (*_HERE, w_along, w_across, cov_uu, cov_uv, cov_vv, clip_scale)

# The point and the record.
feature_norm = Fact(
    "feature_norm",
    "",
    (Somewhere(AT),),
    AtMost(norm_2, features_1**2 + bias_1),
    "‖x̄‖² is ‖x‖² and the number of constants, and ‖x‖ ≤ L",
)
own_squared = Fact("own_squared", "", (Somewhere(AT),), AtMost(p_own**2, p_squares), "p_y² is one of the squares")
squares_at_most_one = Fact(
    "squares_at_most_one", "", (Somewhere(AT),), AtMost(p_squares, S.One), "p_i² ≤ p_i, and probabilities add up to 1"
)

# Vectors with an entry for each class.
between_extremes = Fact(
    "between_extremes",
    "",
    (ANY_MOMENTS,),
    AtMost(w_mean_square, (w_max + w_min) * w_mean - w_max * w_min),
    "the mean of (max − w)(w − min), which is never negative",
)
two_squares = Fact(
    "two_squares",
    "",
    (ANY_MOMENTS,),
    AtMost((w_max - w_bar) ** 2 + (w_min - w_bar) ** 2, w_squares),
    "Σ(w − w̄)² ≤ Σw², and max and min are two of the entries, or all entries are w̄",
)
others_apart = Fact(
    "others_apart",
    "",
    (MOMENTS,),
    AtMost(w_mean_square - 2 * w_own * w_mean + w_own**2, (1 - p_own) * (w_max - w_min) ** 2),
    "the mean of (w − w_y)²: it is 0 for the true class, and nowhere above (max − min)²",
)
variance_bound = Fact(
    "variance_bound",
    "",
    (AtMost(w_mean_square - w_mean**2, factor * w_squares),),
    VarianceAtMost(AT, factor),
    "the variance of w is E w² − (E w)²",
    eigen=(w_squares, w_mean, w_mean_square, w_max, w_min, w_bar, w_own),
    under=(MOMENTS,),
)
_COMBINED = weight_1**2 * cov_11 + 2 * weight_1 * weight_2 * cov_12 + weight_2**2 * cov_22
_SQUARES = weight_1**2 * inner_11 + 2 * weight_1 * weight_2 * inner_12 + weight_2**2 * inner_22
variance_of_sum = Fact(
    "variance_of_sum",
    "",
    (TWO, VarianceAtMost(ANY_AT, factor)),
    AtMost(_COMBINED, factor * _SQUARES),
    "variance and squares of a combination of two vectors",
)
variance_not_negative = Fact(
    "variance_not_negative", "", (TWO,), AtMost(S.Zero, _COMBINED), "the variance of a combination of two vectors"
)

# Directions.
plain_vectors = Fact(
    "plain_vectors",
    "",
    (PLAIN,),
    Vectors(AT, w_squares, w_variance, t_squares, w_variance, t_squares, t_variance),
    "w and t = Tw: ⟨w, Tw⟩ is the variance of w, and wᵀT·Tw = ‖Tw‖²",
)
plain_norm = Fact(
    "plain_norm", HARDY, (PLAIN,), AtMost(w_squares, norm_2 * Delta_2), "Cauchy and Schwarz: Σ(x̄ᵀΔ_i)² ≤ ‖x̄‖²Σ‖Δ_i‖²"
)
bent_vectors = Fact(
    "bent_vectors", "", (BENT,), Vectors(AT, S.One, S.Zero, S.One, cov_uu, cov_uv, cov_vv), "û and v̂ are orthonormal"
)
bent_change = Fact(
    "bent_change",
    "",
    (BENT,),
    Vectors(AT, w_along**2 + w_across**2, BENT_FORM, t_squares, BENT_VARIANCE, t_squares, t_variance),
    "w and t = (I − ûûᵀ)Tw: wᵀT·(I − ûûᵀ)Tw = ‖t‖², I − ûûᵀ being a projection",
)
bent_norm = Fact(
    "bent_norm",
    HARDY,
    (BENT,),
    AtMost(w_along**2 + w_across**2, norm_2 * Delta_2),
    "Cauchy and Schwarz: Σ(x̄ᵀΔ_i)² ≤ ‖x̄‖²Σ‖Δ_i‖²",
)
clip_is_shorter = Fact(
    "clip_is_shorter", "", (BENT,), Less(clip_1**2, RESIDUAL * norm_2), "‖(p − y)x̄ᵀ‖² is above the clip norm squared"
)
clip_reached = Fact(
    "clip_reached", "", (BENT,), Equal(clip_scale**2 * (RESIDUAL * norm_2), clip_1**2), "clipped to norm C"
)
across_itself = Fact("across_itself", "", (BENT,), Across(AT, cov_vv), "v̂ with itself")
across_along = Fact("across_along", "", (BENT,), Across(AT, cov_uv), "v̂ with û")
across_change = Fact("across_change", "", (BENT,), Across(AT, t_squares), "t = (I − ûûᵀ)Tw with w")
two_classes = Fact(
    "two_classes",
    "",
    (Across(AT, cov_12), AtMost(count, Integer(2)), Equal(p_own * (1 - p_own) * (y_1 - y_2) * (v_1 - v_2), S.Zero)),
    Equal(cov_12, S.Zero),
    "for p = (p_y, 1 − p_y) the covariance of y and v is p_y(1 − p_y)(y₁ − y₂)(v₁ − v₂); here v ⟂ p − y",
    eigen=(y_1, y_2, v_1, v_2),
    under=(Equal((p_own - 1) * v_1 + (1 - p_own) * v_2, S.Zero),),
)

# Derivatives of losses and gradients.
hessian = Fact(
    "hessian",
    "",
    (AtMost(S.Zero, w_variance), AtMost(w_variance, factor * Delta_2)),
    SmoothLosses(MODEL, factor),
    "the second derivative of a loss in direction Δ is wᵀTw, the variance of w under p",
    eigen=_PLAIN_HERE,
    under=(Somewhere(AT), PLAIN),
)
gradient_norm = Fact(
    "gradient_norm",
    "",
    (AtMost(RESIDUAL * norm_2, factor**2), AtMost(S.Zero, factor)),
    LipschitzLosses(MODEL, factor),
    "the gradient is (p − y)x̄ᵀ",
    eigen=(p_own, p_squares, norm_2),
    under=(Somewhere(AT),),
)
_LINEAR = (coefficient_1, coefficient_2, coefficient_3)


def _linear(*values: Expr) -> Expr:
    return sum((k * value for k, value in zip(_LINEAR, values, strict=True)), S.Zero)


clipped_or_not = Fact(
    "clipped_or_not",
    "",
    (
        Jacobian(GRADIENT, X, P, G),
        AtMost(S.Zero, _linear(Delta_2, PLAIN_PRODUCT, PLAIN_CHANGE)),
        AtMost(S.Zero, _linear(Delta_2, BENT_PRODUCT, BENT_CHANGE)),
    ),
    AtMost(S.Zero, _linear(X, P, G)),
    "AΔ is (Tw)x̄ᵀ or, where the gradient is longer than the clip norm, s·((I − ûûᵀ)Tw)x̄ᵀ",
    eigen=tuple(dict.fromkeys((*_PLAIN_HERE, *_BENT_HERE))),
    under_each=((), (Somewhere(AT), PLAIN), (Somewhere(AT), BENT)),
)
where_clipped = Fact(
    "where_clipped",
    "",
    (AtMost(factor * Delta_2, BENT_PRODUCT + decay_1 * Delta_2),),
    ClippedPartAtLeast(GRADIENT, factor),
    "∇g = A + λI, AΔ = s·((I − ûûᵀ)Tw)x̄ᵀ",
    eigen=_BENT_HERE,
    under=(Somewhere(AT), BENT),
)
symmetric_part = Fact(
    "symmetric_part",
    "",
    (AtMost(factor * X, P + decay_1 * X),),
    SymmetricPartAtLeast(GRADIENT, factor),
    "∇g = A + λI",
    eigen=(X, P, G),
    under=(Jacobian(GRADIENT, X, P, G),),
)
gradient_between = Fact(
    "gradient_between",
    "",
    (AtMost(P, (upper_1 - decay_1) * X), AtMost(G, (upper_1 - decay_1) * P)),
    GradientBetween(GRADIENT, decay_1, upper_1),
    "∇g = A + λI",
    eigen=(X, P, G),
    under=(Jacobian(GRADIENT, X, P, G),),
)
between_used = Fact(
    "between_used",
    "",
    (GradientBetween(GRADIENT, decay_1, upper_1), Jacobian(GRADIENT, X, P, G)),
    AtMost(G, (upper_1 - decay_1) * P),
    "∇g = A + λI",
)
_KEPT = 1 - step_1 * decay_1
lipschitz_by_derivative = Fact(
    "lipschitz_by_derivative",
    "Clarke 1983, Optimization and Nonsmooth Analysis",
    (AtMost(_KEPT**2 * X - 2 * step_1 * _KEPT * P + step_1**2 * G, factor**2 * X), AtMost(S.Zero, factor)),
    RecordMaps(GRADIENT, step_1, factor),
    "a Lipschitz map whose derivative, which exists almost everywhere, has norm at most L is L-Lipschitz; the "
    "derivative of θ − η(g₀(θ) + λθ), in direction Δ, is (1 − ηλ)Δ − ηAΔ",
    eigen=(X, P, G),
    under=(Jacobian(GRADIENT, X, P, G),),
)
mean_of_maps = Fact(
    "mean_of_maps",
    "",
    (RecordMaps(ANY_GRADIENT, step_1, factor),),
    BatchMaps(ANY_GRADIENT, step_1, factor),
    "a step on a batch is the mean of the steps on its records, and the norm of a mean is at most the mean of norms",
)
contraction_rate = Fact(
    "contraction_rate",
    "",
    (BatchMaps(ANY_GRADIENT, step_1, 1 - step_1 * factor),),
    ContractionRate(ANY_GRADIENT, step_1, factor),
    "a map contracts at rate λ' if it is (1 − ηλ')-Lipschitz",
)

# Runs.
steps_contract = Fact(
    "steps_contract",
    "",
    (StepsOn(RUN, ANY_GRADIENT, step_1, place), BatchMaps(ANY_GRADIENT, step_1, factor)),
    Lipschitz(RUN, factor),
    "the update maps are steps on batches",
)
clipped_apart = Fact(
    "clipped_apart",
    "",
    (
        StepsOn(RUN, GRADIENT, step_1, place),
        *(AtMost(S.Zero, step_1), AtMost(S.Zero, clip_1), Less(S.Zero, place)),
    ),
    Apart(RUN, step_1 * 2 * clip_1 / place),
    "one of the batch's records is replaced, and two gradients clipped to norm C are at most 2C apart",
)
normalised_first = Fact(
    "normalised_first",
    "Mironov 2017",
    (
        NormalisedFirst(OnNormalised(BATCHES, noise_1), order, epsilon_1),
        Renyi(From(Descent(BATCHES, noise_1), Integer(0), steps), order, epsilon_2),
    ),
    Renyi(From(OnNormalised(BATCHES, noise_1), Integer(0), steps), order, epsilon_1 + epsilon_2),
    "composition: the statistics, then the run, whatever the statistics were",
)
