"""Clipped gradients of losses φ(x·θ): clipping turns φ into another convex loss, no less smooth. `clip:scalar`.

It is how a squared loss becomes Huber's: the gradient φ'(x·θ)·x has a fixed direction, so clipping it clips φ' itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import chain, combinations

from sympy import Expr, S, Symbol, expand

from ..display import Dot, Plus
from ..proof import kernel
from ..proof.facts.clipping import (
    POINTS,
    ScalarOutput,
    clipped_convex,
    first_slope,
    input_norm,
    score_norm,
    second_slope,
    slope_cut_above,
    slope_cut_below,
    slope_kept,
    slope_lipschitz,
    slope_rises,
)
from ..proof.facts.regression import SmoothLosses
from ..proof.kernel import Refused, Theorem, apply, assume, cases, combine
from ..proof.propositions import AtMost, Less, Proposition
from ..proof.search import claimed
from ..statement import Statement
from ..symbols import (
    C,
    L,
    X,
    bias,
    bias_1,
    clipped_1,
    clipped_2,
    d_score,
    factor,
    features_1,
    kappa,
    kappa_1,
    radius,
    slope_1,
    slope_2,
)

MODEL = ScalarOutput(kappa, L, bias, C)
LETTERS = {kappa_1: kappa, features_1: L, bias_1: bias}
Split = Callable[[Theorem, tuple[Theorem, ...]], Theorem]
"""A proof of the rest, for one slope in one of the three places: what it is clipped to, and where it lies."""


@cache
def _points() -> Theorem:
    return assume(POINTS.changed(lambda part: part.subs(LETTERS) if isinstance(part, Expr) else part))


def _three_places(clipping: Theorem, slope: Symbol, then: Split) -> Theorem:
    """One proof from three: the slope below the cap −C/‖x‖, between the caps, or above the cap C/‖x‖."""
    at = slope * radius
    low, not_low = assume(AtMost(at, -C)), assume(AtMost(-C, at))
    not_high, high = assume(AtMost(at, C)), assume(AtMost(C, at))
    below = then(apply(slope_cut_below, clipping, low), (low,))
    within = then(apply(slope_kept, clipping, not_low, not_high), (not_low, not_high))
    above = then(apply(slope_cut_above, clipping, high), (high,))
    return cases(below, cases(within, above))


def _all_places(left: Expr, right: Expr) -> Theorem:
    """left ≤ right wherever the two slopes lie: nine cases, in each of which it is a sum of what is not negative."""
    rises = apply(slope_rises, _points())

    def with_first(first: Theorem, here: tuple[Theorem, ...]) -> Theorem:
        def with_both(second: Theorem, there: tuple[Theorem, ...]) -> Theorem:
            return _sum(left, right, [first, second], [rises, *here, *there])

        return _three_places(apply(second_slope, _points()), slope_2, with_both)

    return _three_places(apply(first_slope, _points()), slope_1, with_first)


def _sum(left: Expr, right: Expr, values: list[Theorem], known: list[Theorem]) -> Theorem:
    """left ≤ right, where some of the known inequalities (and 2C/‖x‖) add up to the difference."""
    meant = {each.proposition.left: each.proposition.right for each in values}  # type: ignore[attr-defined]
    rises, *places = known
    terms: list[tuple[kernel.Factor, ...]] = [
        (S.One, rises),
        *((1 / radius, each) for each in places),
        (2 * C / radius,),
    ]
    for some in chain.from_iterable(combinations(terms, size) for size in range(len(terms) + 1)):
        total = sum((_value(each) for each in some), S.Zero)
        if expand((right - left).subs(meant) - total) == 0:
            return kernel.loosen(combine(left, right, *some, by=values))
    raise Refused(f"no sum of what is known is {right} - {left}")


def _value(term: tuple[kernel.Factor, ...]) -> Expr:
    """What a term stands for."""
    found = S.One
    for each in term:
        found *= _gap(each.proposition) if isinstance(each, Theorem) else each
    return found


def _gap(said: Proposition) -> Expr:
    """What y ≤ z says is not negative: z − y."""
    assert isinstance(said, AtMost | Less)
    return said.right - said.left


@cache
def clipping_shortens() -> tuple[Theorem, Theorem]:
    """Clipped slopes rise too, and by no more: 0 ≤ c₂ − c₁ ≤ φ'₂ − φ'₁."""
    rise = _all_places(clipped_1, clipped_2)
    less = _all_places(clipped_2 - clipped_1, slope_2 - slope_1)
    return kernel.named(rise, "clipped slopes rise"), kernel.named(less, "clipping shortens differences")


def _smooth(value: Expr) -> Theorem:
    """The clipped gradients are those of convex losses with this smoothness."""
    rise, less = clipping_shortens()
    points = _points()
    steep, norm, score = (apply(each, points) for each in (slope_lipschitz, input_norm, score_norm))
    change = (clipped_2 - clipped_1) * d_score
    convex = combine(S.Zero, change, (d_score, rise))
    smooth = combine(change, value * X, (d_score, less), (d_score, steep), (kappa, score), (kappa * X, norm))
    least = kernel.loosen(kernel.positive(value))
    return apply(clipped_convex, convex, smooth, least, put={factor: value, **LETTERS, C: C})


@cache
def scalar_output() -> Statement:
    """`clip:scalar`."""
    expr = kappa * (L**2 + bias)
    return Statement(
        label="clip:scalar",
        kind="proposition",
        title="Clipped gradients of a scalar-output loss stay convex and smooth",
        where="not in the paper; covers two classes of Proposition 5.2",
        says="The clipped gradient of φ(x·θ) is that of a convex loss with this smoothness, for φ convex with a "
        "κ-Lipschitz derivative. With λθ added after clipping, the loss is λ-strongly convex and (this + λ)-smooth.",
        bounds=r"\beta",
        theorem=claimed(SmoothLosses(MODEL, expr), (), (), lambda: _smooth(expr)),
        shown=Dot(kappa, Plus(L**2, bias)),
        hypotheses=(),
        assumes=(
            "the loss of a record is φ(x·θ), φ convex and φ' κ-Lipschitz",
            "features have norm at most L, before a constant 1 is appended if bias = 1",
            "gradients are clipped one record at a time; a regulariser is added after clipping",
        ),
    )
