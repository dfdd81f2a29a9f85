"""Gradients of two records at one point, and clipped: how long they are, and how far apart.

g and g' are the gradients of a record and of what takes its place, h is their difference, and d that of the clipped
ones, c and c'. Clipping to norm C is the projection onto the ball of radius C. What clipping is handed may hold a
regulariser; it is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, S

from ...symbols import (
    bias_1,
    clip_1,
    cut_first,
    cut_grad,
    cut_product,
    cut_second,
    decay_1,
    factor,
    features_1,
    grad_change,
    norm_2,
    p_own,
    radius,
    slope_1,
    slope_2,
    upper_1,
)
from ..kernel import Fact
from ..propositions import Anything, AtMost, Equal, Proposition, Term
from .regression import AT, HARDY, MODEL, Clipped, LipschitzLosses, SmoothLosses, Somewhere

# --- Terms ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Records(Term):
    """Any losses of single records."""

    words = "any losses"


@dataclass(frozen=True)
class BoundedSlopes(Term):
    """Losses φ(x·θ) whose φ' is at most `slope` in size; `bias` constants 1 are appended to the features."""

    slope: Expr
    features: Expr
    bias: Expr
    words = "losses φ(x·θ), φ' at most {slope} in size, features of norm at most {features} and {bias} constants 1"


@dataclass(frozen=True)
class Replaced(Term):
    """What takes a record's place is another record."""

    words = "a record replaced"


@dataclass(frozen=True)
class Relabelled(Term):
    """What takes a record's place is the same record with another label."""

    words = "a record with another label"


@dataclass(frozen=True)
class LeftOut(Term):
    """What takes a record's place has no gradient."""

    words = "a record left out"


@dataclass(frozen=True)
class Logistic(Term):
    """Losses log(1 + e^(−y·x·θ)), y = ±1; `bias` constants 1 are appended to the features."""

    features: Expr
    bias: Expr
    words = "logistic losses of two classes, features of norm at most {features} and {bias} constants 1"


# --- What is said of them -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoRecords(Proposition):
    """At some point, a record's gradient and that of what takes its place: ‖c‖², ‖c'‖², ⟨c, c'⟩, ‖h‖² and ⟨d, h⟩."""

    gradient: Clipped | Anything
    differ: Replaced | Relabelled | LeftOut | Anything
    first: Expr
    second: Expr
    product: Expr
    change: Expr
    both: Expr
    words = (
        "{gradient}, {differ}: ‖c‖² = {first}, ‖c'‖² = {second}, ⟨c, c'⟩ = {product}, ‖h‖² = {change}, "
        "⟨d, h⟩ = {both} at some point"
    )


@dataclass(frozen=True)
class ClippedApart(Proposition):
    """Clipped gradients of a record and of what takes its place are at most so far apart, at every point."""

    gradient: Clipped | Anything
    differ: Replaced | Relabelled | LeftOut | Anything
    distance: Expr
    value_at = "distance"
    words = "{gradient}, {differ}: clipped ones are at most {distance} apart"


@dataclass(frozen=True)
class LabelsApart(Proposition):
    """Gradients of two records that differ in their label alone are at most so far apart, before they are clipped."""

    model: Term
    distance: Expr
    value_at = "distance"
    words = "{model}: gradients for two labels are at most {distance} apart"


@dataclass(frozen=True)
class SlopeAt(Proposition):
    """At some point, of some record: φ' and ‖x‖, constants included."""

    model: BoundedSlopes | Anything
    slope: Expr
    radius: Expr
    words = "{model}: φ' = {slope} and ‖x‖ = {radius} at some point"


@dataclass(frozen=True)
class LogisticAt(Proposition):
    """At some point: the probability of the record's label, φ' for it and for the other label, and ‖x‖.

    Signs are such that the label is the one for which φ' is not positive.
    """

    model: Logistic | Anything
    own: Expr
    slope: Expr
    other: Expr
    radius: Expr
    words = (
        "{model}: the label has probability {own}, φ' is {slope}, for the other label {other}, and ‖x‖ = {radius} at "
        "some point"
    )


# --- Facts ----------------------------------------------------------------------------------------------------------

ANY_RECORDS, ANY_WAY = Anything("losses"), Anything("differ")
CLIPPED = Clipped(ANY_RECORDS, clip_1, decay_1)
_NUMBERS = (cut_first, cut_second, cut_product, grad_change, cut_grad)
_PAIR = TwoRecords(CLIPPED, ANY_WAY, *_NUMBERS)
CHANGE = cut_first + cut_second - 2 * cut_product
"""‖d‖²."""
SLOPES = BoundedSlopes(upper_1, features_1, bias_1)
LOGISTIC = Logistic(features_1, bias_1)
_SLOPE, _LABELS = SlopeAt(SLOPES, slope_1, radius), LogisticAt(LOGISTIC, p_own, slope_1, slope_2, radius)

# Two records.
first_within = Fact("first_within", "", (_PAIR,), AtMost(cut_first, clip_1**2), "c is clipped to norm C")
second_within = Fact("second_within", "", (_PAIR,), AtMost(cut_second, clip_1**2), "c' is clipped to norm C")
_NOT_LONGER = "clipping makes no gradient longer"
first_not_longer = Fact(
    "first_not_longer",
    "",
    (_PAIR, LipschitzLosses(ANY_RECORDS, factor)),
    AtMost(cut_first, factor**2),
    _NOT_LONGER,
)
second_not_longer = Fact(
    "second_not_longer",
    "",
    (_PAIR, LipschitzLosses(ANY_RECORDS, factor)),
    AtMost(cut_second, factor**2),
    _NOT_LONGER,
)
_BLANK = TwoRecords(CLIPPED, LeftOut(), *_NUMBERS)
blank_is_zero = Fact("blank_is_zero", "", (_BLANK,), Equal(cut_second, S.Zero), "c' = 0: its gradient is left out")
blank_product = Fact("blank_product", "", (_BLANK,), Equal(cut_product, S.Zero), "c' = 0: its gradient is left out")
labels_differ = Fact(
    "labels_differ",
    "",
    (
        TwoRecords(CLIPPED, Relabelled(), *_NUMBERS),
        LabelsApart(ANY_RECORDS, factor),
    ),
    AtMost(grad_change, factor**2),
    "h is the difference of gradients for two labels",
)
sum_squared = Fact(
    "sum_squared", HARDY, (_PAIR,), AtMost(S.Zero, cut_first + 2 * cut_product + cut_second), "‖c + c'‖²"
)
clipped_both = Fact(
    "clipped_both",
    "Moreau 1965, Proximité et dualité dans un espace hilbertien",
    (_PAIR,),
    AtMost(CHANGE, cut_grad),
    "clipping projects onto a ball, and projections onto convex sets are firmly nonexpansive: ‖d‖² ≤ ⟨d, h⟩",
)
rest_squared = Fact("rest_squared", HARDY, (_PAIR,), AtMost(S.Zero, grad_change - 2 * cut_grad + CHANGE), "‖h − d‖²")
clipped_distance = Fact(
    "clipped_distance",
    "",
    (AtMost(CHANGE, factor**2), AtMost(S.Zero, factor)),
    ClippedApart(CLIPPED, ANY_WAY, factor),
    "‖d‖² = ‖c‖² + ‖c'‖² − 2⟨c, c'⟩, at any point",
    eigen=_NUMBERS,
    under=(_PAIR,),
)

# Losses of one score.
slope_in_size = Fact("slope_in_size", "", (_SLOPE,), AtMost(slope_1**2, upper_1**2), "φ' is at most so large")
slope_input = Fact("slope_input", "", (_SLOPE,), AtMost(radius**2, features_1**2 + bias_1), "‖x‖², constants included")
slope_gradient = Fact(
    "slope_gradient",
    "",
    (AtMost(slope_1**2 * radius**2, factor**2), AtMost(S.Zero, factor)),
    LipschitzLosses(SLOPES, factor),
    "the gradient is φ'(x·θ)·x (and 0 for x = 0)",
    eigen=(slope_1, radius),
    under=(_SLOPE,),
)

# Logistic losses.
own_probability = Fact(
    "own_probability", "", (_LABELS,), AtMost(p_own, S.One), "the two probabilities are positive and add up to 1"
)
own_slope = Fact("own_slope", "", (_LABELS,), Equal(slope_1, p_own - 1), "φ'(s) = −1/(1 + e^s) = p − 1 for y = 1")
other_slope = Fact("other_slope", "", (_LABELS,), Equal(slope_2, p_own), "φ'(s) = 1/(1 + e^(−s)) = p for y = −1")
logistic_input = Fact(
    "logistic_input", "", (_LABELS,), AtMost(radius**2, features_1**2 + bias_1), "‖x‖², constants included"
)
logistic_gradient = Fact(
    "logistic_gradient",
    "",
    (AtMost(slope_1**2 * radius**2, factor**2), AtMost(S.Zero, factor)),
    LipschitzLosses(LOGISTIC, factor),
    "the gradient is φ'(x·θ)·x (and 0 for x = 0)",
    eigen=(p_own, slope_1, slope_2, radius),
    under=(_LABELS,),
)
logistic_labels = Fact(
    "logistic_labels",
    "",
    (AtMost((slope_2 - slope_1) ** 2 * radius**2, factor**2), AtMost(S.Zero, factor)),
    LabelsApart(LOGISTIC, factor),
    "gradients for the two labels are φ'(x·θ)·x with the two φ' (and 0 for x = 0)",
    eigen=(p_own, slope_1, slope_2, radius),
    under=(_LABELS,),
)
logistic_clipped = Fact(
    "logistic_clipped",
    "Clarke 1983, Optimization and Nonsmooth Analysis",
    (AtMost(p_own * (1 - p_own) * radius**2, factor), AtMost(S.Zero, factor)),
    SmoothLosses(Clipped(LOGISTIC, clip_1, S.Zero), factor),
    "φ'' = p(1 − p) where the gradient, of norm (1 − p)‖x‖, is not longer than C; where it is longer, it is clipped to "
    "a vector that does not depend on θ. A Lipschitz map whose derivative, which exists almost everywhere, has norm at "
    "most L is L-Lipschitz, and with a symmetric derivative that is not negative it is the gradient of a convex loss",
    eigen=(p_own, slope_1, slope_2, radius),
    under=(_LABELS, AtMost((1 - p_own) * radius, clip_1)),
)

# Softmax regression.
softmax_labels = Fact(
    "softmax_labels",
    "",
    (AtMost(Integer(2) * norm_2, factor**2), AtMost(S.Zero, factor)),
    LabelsApart(MODEL, factor),
    "the gradient is (p − y)x̄ᵀ, p does not depend on y, and two different labels y are √2 apart",
    eigen=(p_own, norm_2),
    under=(Somewhere(AT),),
)
