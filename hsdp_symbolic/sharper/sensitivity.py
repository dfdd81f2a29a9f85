"""How far clipped gradients of two records can be apart: `gradient:scalar`, `gradient:logistic`, `gradient:softmax`.

S_g of a clipped run is what these give: twice the longest clipped gradient where a record is replaced, its length where
a record is left out, and where a label alone differs no more than the gradients for two labels are apart, as clipping
brings any two vectors closer. A clipped gradient is no longer than the clip norm, nor than it was.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, S, sqrt

from ..display import Dot, Plus, times
from ..paper.logistic import LONGEST, lipschitz_losses
from ..paper.softmax import LETTERS as SOFTMAX_LETTERS
from ..paper.softmax import MODEL as SOFTMAX
from ..paper.softmax import point
from ..proof import kernel
from ..proof.facts.regression import Clipped, LipschitzLosses, feature_norm
from ..proof.facts.sensitivity import (
    ANY_RECORDS,
    ANY_WAY,
    CHANGE,
    BoundedSlopes,
    LabelsApart,
    LeftOut,
    Logistic,
    LogisticAt,
    Records,
    Relabelled,
    Replaced,
    SlopeAt,
    TwoRecords,
    blank_is_zero,
    blank_product,
    clipped_both,
    clipped_distance,
    first_not_longer,
    first_within,
    labels_differ,
    logistic_gradient,
    logistic_input,
    logistic_labels,
    other_slope,
    own_probability,
    own_slope,
    rest_squared,
    second_not_longer,
    second_within,
    slope_gradient,
    slope_in_size,
    slope_input,
    softmax_labels,
    sum_squared,
)
from ..proof.kernel import Theorem, apply, assume, combine
from ..proof.search import claimed, later
from ..statement import Statement
from ..symbols import (
    C,
    L,
    bias,
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
    lam0,
    largest,
    norm_2,
    p_own,
    radius,
    slope,
    slope_1,
    slope_2,
    upper_1,
)

ANY = Clipped(Records(), C, lam0)
_Way = Replaced | Relabelled | LeftOut


# --- Any losses -----------------------------------------------------------------------------------------------------


def _two(differ: _Way) -> Theorem:
    return assume(TwoRecords(ANY, differ, cut_first, cut_second, cut_product, grad_change, cut_grad))


def _apart(differ: _Way, distance: Expr, *terms: tuple[kernel.Factor, ...], by: tuple[Theorem, ...] = ()) -> Theorem:
    """Clipped gradients are so far apart: distance² − ‖d‖² is a sum of what is not negative."""
    found = kernel.loosen(combine(CHANGE, distance**2, *terms, by=by))
    put = {factor: distance, clip_1: C, decay_1: lam0, ANY_RECORDS: Records(), ANY_WAY: differ}
    return apply(clipped_distance, found, kernel.loosen(kernel.positive(distance)), put=put)


def _replaced(longest: Expr, first: Theorem, second: Theorem) -> Theorem:
    """‖c − c'‖² = 2‖c‖² + 2‖c'‖² − ‖c + c'‖²."""
    together = apply(sum_squared, _two(Replaced()))
    return _apart(Replaced(), 2 * longest, (Integer(2), first), (Integer(2), second), (S.One, together))


@cache
def replaced_by_clip() -> Theorem:
    """Where a record is replaced, clipped gradients are at most 2C apart."""
    two = _two(Replaced())
    return _replaced(C, apply(first_within, two), apply(second_within, two))


@cache
def replaced_by_norm() -> Theorem:
    """Where a record is replaced and no gradient is longer than G, clipped ones are at most 2G apart."""
    two, longest = _two(Replaced()), assume(LipschitzLosses(Records(), largest))
    return _replaced(largest, *(apply(each, two, longest) for each in (first_not_longer, second_not_longer)))


def _left_out(longest: Expr, first: Theorem) -> Theorem:
    nothing = (apply(blank_is_zero, _two(LeftOut())), apply(blank_product, _two(LeftOut())))
    return _apart(LeftOut(), longest, (S.One, first), by=nothing)


@cache
def left_out_by_clip() -> Theorem:
    """Where a record is left out, a clipped gradient and none are at most C apart."""
    return _left_out(C, apply(first_within, _two(LeftOut())))


@cache
def left_out_by_norm() -> Theorem:
    """Where a record is left out and no gradient is longer than G, a clipped one and none are at most G apart."""
    longest = assume(LipschitzLosses(Records(), largest))
    return _left_out(largest, apply(first_not_longer, _two(LeftOut()), longest))


@cache
def relabelled() -> Theorem:
    """Where a label alone differs and gradients for two labels are at most G apart, so are clipped ones.

    ‖h‖² − ‖d‖² = ‖h − d‖² + 2(⟨d, h⟩ − ‖d‖²).
    """
    two = _two(Relabelled())
    differ = apply(labels_differ, two, assume(LabelsApart(Records(), largest)))
    firm, rest = apply(clipped_both, two), apply(rest_squared, two)
    return _apart(Relabelled(), largest, (S.One, differ), (Integer(2), firm), (S.One, rest))


# --- How long gradients are -----------------------------------------------------------------------------------------

SLOPES, LOGISTIC = BoundedSlopes(slope, L, bias), Logistic(L, bias)
LENGTH = sqrt(L**2 + bias)
"""The largest ‖x̄‖."""
LETTERS = {features_1: L, bias_1: bias}


@cache
def logistic_point() -> Theorem:
    """A record of binary logistic regression, and the parameters at hand."""
    return assume(LogisticAt(LOGISTIC, p_own, slope_1, slope_2, radius))


@cache
def scalar_gradients() -> Theorem:
    """No gradient φ'(x·θ)·x is longer than the largest |φ'| times the largest ‖x‖."""
    at = assume(SlopeAt(SLOPES, slope_1, radius))
    steep, norm = apply(slope_in_size, at, put={upper_1: slope, **LETTERS}), apply(slope_input, at)
    longest = slope * LENGTH
    bound = combine(slope_1**2 * radius**2, longest**2, (radius**2, steep), (slope**2, norm))
    positive = kernel.loosen(kernel.positive(longest))
    return apply(slope_gradient, bound, positive, put={factor: longest, upper_1: slope, **LETTERS})


@cache
def logistic_gradients() -> Theorem:
    """No gradient is longer than ‖x‖: |φ'| = 1 − p."""
    at = logistic_point()
    sure, norm, own = (apply(each, at) for each in (own_probability, logistic_input, own_slope))
    terms = (radius**2 * p_own, sure), (radius**2 * p_own,), (S.One, norm)  # 1 − (1 − p)² = p(1 − p) + p
    bound = kernel.loosen(combine(slope_1**2 * radius**2, LENGTH**2, *terms, by=[own]))
    positive = kernel.loosen(kernel.positive(LENGTH))
    return apply(logistic_gradient, bound, positive, put={factor: LENGTH, **LETTERS})


@cache
def logistic_label_change() -> Theorem:
    """Gradients for the two labels are ‖x‖ apart: p − (p − 1) = 1."""
    at = logistic_point()
    slopes = [apply(own_slope, at), apply(other_slope, at)]
    bound = combine((slope_2 - slope_1) ** 2 * radius**2, LENGTH**2, (S.One, apply(logistic_input, at)), by=slopes)
    positive = kernel.loosen(kernel.positive(LENGTH))
    return apply(logistic_labels, kernel.loosen(bound), positive, put={factor: LENGTH, **LETTERS})


@cache
def softmax_label_change() -> Theorem:
    """Gradients for two labels are √2‖x̄‖ apart."""
    bound = combine(2 * norm_2, LONGEST**2, (Integer(2), apply(feature_norm, point())))
    positive = kernel.loosen(kernel.positive(LONGEST))
    return apply(softmax_labels, bound, positive, put={factor: LONGEST, **SOFTMAX_LETTERS})


# --- Statements -----------------------------------------------------------------------------------------------------


def _statement(
    label: str, title: str, says: str, theorem: Theorem, shown: Expr, assumes: str, labels: Theorem | None = None
) -> Statement:
    return Statement(
        label=label,
        kind="proposition",
        title=title,
        where="not in the paper",
        says=says,
        bounds=r"\mathrm{Lip}(\ell_0)",
        theorem=theorem,
        shown=shown,
        also=() if labels is None else ((r"\lVert\nabla\ell_y-\nabla\ell_{y'}\rVert", shown),),
        beside=() if labels is None else (labels,),
        hypotheses=(),
        assumes=(assumes,),
    )


OF_TWO_LABELS = "Beside it, how far apart the gradients for two labels are, at one point."
SHORT_FEATURES = "features have norm at most L, before a constant 1 is appended if bias = 1"
ONE_HOT = f"{SHORT_FEATURES}; labels are one-hot"


@cache
def scalar() -> Statement:
    """`gradient:scalar`."""
    return _statement(
        "gradient:scalar",
        "Gradients of a scalar-output loss: how long they are",
        "No gradient of φ(x·θ) is longer, before clipping, where φ' is at most s in size.",
        claimed(LipschitzLosses(SLOPES, slope * LENGTH), (), (), scalar_gradients),
        Dot(slope, sqrt(Plus(L**2, bias))),
        SHORT_FEATURES,
    )


@cache
def logistic() -> Statement:
    """`gradient:logistic`."""
    return _statement(
        "gradient:logistic",
        "Gradients of the logistic loss of two classes: how long they are, and how far apart for the two labels",
        f"No gradient is longer, before clipping. {OF_TWO_LABELS}",
        claimed(LipschitzLosses(LOGISTIC, LENGTH), (), (), logistic_gradients),
        sqrt(Plus(L**2, bias)),
        SHORT_FEATURES,
        later(LabelsApart(LOGISTIC, LENGTH), (), logistic_label_change, "gradients for two labels"),
    )


@cache
def softmax() -> Statement:
    """`gradient:softmax`."""
    return _statement(
        "gradient:softmax",
        "Gradients of softmax regression: how long they are, and how far apart for two labels",
        f"No gradient is longer, before clipping. {OF_TWO_LABELS}",
        claimed(LipschitzLosses(SOFTMAX, LONGEST), (), (), lipschitz_losses),
        sqrt(times(2, Plus(L**2, bias))),
        ONE_HOT,
        later(LabelsApart(SOFTMAX, LONGEST), (), softmax_label_change, "gradients for two labels"),
    )
