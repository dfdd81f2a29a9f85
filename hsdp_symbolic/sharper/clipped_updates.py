"""Steps on clipped gradients of any smooth losses: how Lipschitz they are. `clip:convex`, `clip:smooth` and more.

For convex losses a gradient divided by β₀ is firmly nonexpansive, and so is the projection that clips; a step composes
the two. At two points, Δ apart, where gradients differ by h and clipped ones by d, that is ‖h‖² ≤ β₀⟨h, Δ⟩ and
‖d‖² ≤ ⟨d, h⟩, and the largest ‖(1 − ηλ₀)Δ − ηd‖² under these is found by completing a square.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sympy import Expr, Integer, Rational, S, sqrt

from ..display import Over, Plus, times
from ..proof import kernel
from ..proof.facts.clipped_updates import (
    LOSSES,
    ConvexRecords,
    NoLessThan,
    SmoothRecords,
    TwoGradients,
    clipping_projects,
    cocoercive,
    lipschitz_at_two_points,
    one_sided_derivative,
    smooth_gradients,
    square_of_three,
)
from ..proof.facts.regression import BatchMaps, Clipped, mean_of_maps
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, substitute
from ..proof.propositions import AtMost, Equal, Less
from ..proof.search import claimed, given, right_of
from ..statement import Statement
from ..symbols import (
    C,
    G,
    P,
    X,
    beta0,
    clip_1,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    cut_grad,
    decay_1,
    eta,
    factor,
    gap,
    grad_change,
    grad_move,
    kept,
    lam0,
    root,
    smoothness,
    step_1,
    v_1,
    v_2,
    y_1,
    y_2,
)

CONVEX, SMOOTH = (Clipped(kind(beta0), C, lam0) for kind in (ConvexRecords, SmoothRecords))
KEPT = 1 - eta * lam0
"""What a step keeps of a distance before it adds gradients."""
EXPANDS = kept / sqrt(1 - eta * beta0 / (4 * kept))
SHORT_CONSTANT = EXPANDS.subs(kept, KEPT)
SHORT = eta * (beta0 + 3 * lam0) <= 3
"""The step is short enough for clipping to do its worst inside the plane of the gradient and its change."""
NOT_PAST_ZERO = eta * lam0 <= 1
ANY_CONSTANT = KEPT + eta * beta0
_LETTERS = {clip_1: C, decay_1: lam0}
_PRODUCTS = (X, grad_move, grad_change, cut_grad, P, G)
ASSUMES = (
    "gradients are clipped one record at a time, to any norm; lam0·θ is added after clipping, and what is part of the "
    "loss is clipped with it",
)


@cache
def _points(gradient: Clipped) -> Theorem:
    return assume(TwoGradients(gradient, *_PRODUCTS))


def _firm(gradient: Clipped) -> Theorem:
    return apply(clipping_projects, _points(gradient))


def _square(gradient: Clipped, *weights: Expr) -> Theorem:
    """0 ≤ ‖k_X·Δ + k_P·h + k_G·d‖²."""
    put = dict(zip((coefficient_1, coefficient_2, coefficient_3), weights, strict=True))
    return apply(square_of_three, _points(gradient), put=put)


def moved_apart(keeps: Expr) -> Expr:
    """‖keeps·Δ − ηd‖²."""
    return keeps**2 * X - 2 * eta * keeps * P + eta**2 * G


def _on_batches(gradient: Clipped, constant: Expr, moved: Theorem, positive: Theorem, *nonzero: Theorem) -> Theorem:
    """A step on a batch is Lipschitz with this constant, from what it does to one record at two points."""
    moved = kernel.loosen(combine(moved_apart(KEPT), constant**2 * X, (S.One, moved), nonzero=nonzero))
    put = {factor: constant, step_1: eta, LOSSES: gradient.model, **_LETTERS}
    record = apply(lipschitz_at_two_points, moved, kernel.loosen(positive), put=put, ranges=nonzero)
    return apply(mean_of_maps, record)


def divided(product: Theorem, left: Expr, right: Expr, by: Theorem) -> Theorem:
    """left ≤ right/x, from x·left ≤ right and 0 < x."""
    lemma = combine(left, right / root, (1 / root, assume(AtMost(root * left, right))))
    return cut(substitute(lemma, {root: right_of(by)}, by), kernel.loosen(product))


# --- Convex losses --------------------------------------------------------------------------------------------------


@cache
def _bent() -> Theorem:
    """‖kΔ − ηd‖² ≤ c²‖Δ‖² for c = k/√(1 − ηβ₀/4k), k being `kept`, if 0 < 4k − ηβ₀.

    (4k − ηβ₀)(4k³/(4k − ηβ₀)‖Δ‖² − ‖kΔ − ηd‖²) is a square and what is known of h and d.
    """
    convex, firm = apply(cocoercive, _points(CONVEX)), _firm(CONVEX)
    rest = 4 * kept - eta * beta0
    room = assume(Less(S.Zero, rest))
    product = combine(
        rest * moved_apart(kept),
        4 * kept**3 * X,
        (4 * kept**2 * eta / beta0, convex),
        (4 * kept * eta / beta0, room, firm),
        (eta / beta0, _square(CONVEX, -kept * beta0, 2 * kept, -rest)),
    )
    found = divided(product, moved_apart(kept), 4 * kept**3 * X, room)
    bent = combine(moved_apart(kept), EXPANDS**2 * X, (S.One, found), nonzero=[below_root(), room])
    return kernel.named(bent, "convex losses: how far two points can get apart")


@cache
def below_root() -> Theorem:
    """0 < 1 − ηβ₀/4k if 0 < 4k − ηβ₀."""
    rest = 4 * kept - eta * beta0
    return combine(S.Zero, 1 - eta * beta0 / (4 * kept), (1 / (4 * kept), assume(Less(S.Zero, rest))))


@cache
def keeps_some() -> Theorem:
    """0 < 1 − ηλ₀, for short steps."""
    return combine(S.Zero, KEPT, (Rational(1, 3), given(SHORT)), (eta * beta0 / 3,))


@cache
def has_room() -> Theorem:
    """0 < 4(1 − ηλ₀) − ηβ₀, for short steps."""
    return combine(S.Zero, 4 * KEPT - eta * beta0, (S.One, given(SHORT)), (S.One, keeps_some()))


def for_our_step(lemma: Theorem) -> Theorem:
    """A lemma about k, for k = 1 − ηλ₀ and short steps."""
    return cut(substitute(lemma, {kept: KEPT}, keeps_some()), has_room())


@cache
def short_steps() -> Theorem:
    """A short step on a batch is Lipschitz with this constant."""
    nonzero = divisors_positive()
    return _on_batches(CONVEX, SHORT_CONSTANT, for_our_step(_bent()), positive_constant(), *nonzero)


@cache
def positive_constant() -> Theorem:
    """0 < c."""
    inside = for_our_step(below_root())
    found = kernel.positive(kept / sqrt(root))
    return substitute(found, {root: right_of(inside), kept: KEPT}, inside, keeps_some())


@cache
def contracts_below() -> Theorem:
    """A short step by convex losses contracts where β₀ < 4λ₀(1 − ηλ₀)(2 − ηλ₀): its constant c is below 1."""
    known = assume(Less(beta0, _WHERE_ONE))
    squares = combine(kept**2, _BELOW_ROOT, (eta / (4 * kept), known))
    lemma = combine(kept / sqrt(root), S.One, (_HALVED, assume(Less(kept**2, root))))
    return for_our_step(cut(substitute(lemma, {root: _BELOW_ROOT}, below_root()), squares))


@cache
def expands_from() -> Theorem:
    """And nowhere else: from that β₀ on, c is at least 1."""
    known = assume(AtMost(_WHERE_ONE, beta0))
    squares = combine(_BELOW_ROOT, kept**2, (eta / (4 * kept), known))
    lemma = combine(S.One, kept / sqrt(root), (_HALVED, assume(AtMost(root, kept**2))))
    return for_our_step(cut(substitute(lemma, {root: _BELOW_ROOT}, below_root()), squares))


_WHERE_ONE = 4 * (1 - kept) / eta * kept * (1 + kept)
"""The β₀ at which c is 1: k² = 1 − ηβ₀/4k; λ₀ being (1 − k)/η."""
_BELOW_ROOT = 1 - eta * beta0 / (4 * kept)
_HALVED = 1 / (sqrt(root) * (sqrt(root) + kept))

_SIDES = [(each.left, each.right) for each in one_sided_derivative.premises if isinstance(each, Equal | AtMost | Less)]


@cache
def attained() -> Theorem:
    """No constant below that of `clip:convex` holds, by a quadratic loss of two parameters.

    With x = 3k − ηβ₀: v = (√x, √k)/√(k + x), Δ = (v₁, v₂(k − x)/2k), so that v·Δ = ½ and the step takes Δ to
    k·(v₁, −v₂).
    """
    smooth, total = (3 * kept - gap) / eta, kept + gap
    first, second = sqrt(gap / total), sqrt(kept / total)
    direction = first, second * (kept - gap) / (2 * kept)
    constant = kept / sqrt(1 - eta * smooth / (4 * kept))
    size = direction[0] ** 2 + direction[1] ** 2
    nonzero = combine(S.Zero, 1 - eta * smooth / (4 * kept), (total / (4 * kept),))
    put = {v_1: first, v_2: second, y_1: direction[0], y_2: direction[1], factor: constant, step_1: eta}
    put |= {smoothness: smooth, clip_1: C, decay_1: (1 - kept) / eta}
    unit, longer, _, moved, *_ = (
        (left.subs(put, simultaneous=True), right.subs(put, simultaneous=True)) for left, right in _SIDES
    )
    lemma = apply(
        one_sided_derivative,
        cancel(*unit),
        combine(*longer, (first / 2,)),
        combine(S.Zero, size, (total / (4 * kept),)),
        combine(*moved, nonzero=[nonzero]),
        *map(kernel.positive, (eta, C)),
        combine(S.Zero, smooth, (1 / eta, assume(Less(gap, 3 * kept)))),
        put=put,
        ranges=[nonzero],
    )
    left = combine(S.Zero, 3 * KEPT - eta * beta0, (S.One, given(SHORT)))
    found = substitute(lemma, {kept: KEPT, gap: 3 * KEPT - eta * beta0}, keeps_some(), left)
    return cut(found, combine(3 * KEPT - eta * beta0, 3 * KEPT, (eta * beta0,)))


# --- Any smooth losses ----------------------------------------------------------------------------------------------


@cache
def any_losses() -> Theorem:
    """A step on a batch is Lipschitz with 1 − ηλ₀ + ηβ₀: clipping makes differences of gradients no longer."""
    smooth, firm = apply(smooth_gradients, _points(SMOOTH)), _firm(SMOOTH)
    keeps = combine(S.Zero, KEPT, (S.One, given(NOT_PAST_ZERO)))
    apart = _square(SMOOTH, S.Zero, S.One, S.NegativeOne)
    shorter = combine(G, beta0**2 * X, (S.One, smooth), (S.One, apart), (Integer(2), firm))
    sum_ = _square(SMOOTH, beta0, S.Zero, S.One)
    moved = combine(
        moved_apart(KEPT),
        ANY_CONSTANT**2 * X,
        (eta / beta0, keeps, shorter),
        (eta**2, shorter),
        (eta / beta0, keeps, sum_),
    )
    return _on_batches(SMOOTH, ANY_CONSTANT, moved, combine(S.Zero, ANY_CONSTANT, (S.One, keeps), (eta * beta0,)))


# --- Statements -----------------------------------------------------------------------------------------------------


def _statement(
    label: str,
    title: str,
    says: str,
    theorem: Theorem,
    shown: Expr,
    *,
    printed_with: Callable[[], list[Theorem]] = list,
    uses: tuple[str, ...] = (),
    assumes: tuple[str, ...] = ASSUMES,
) -> Statement:
    return Statement(
        label=label,
        kind="proposition",
        title=title,
        where="not in the paper; replaces Proposition 5.2 for losses that clipping bends",
        says=says,
        bounds=r"\mathrm{Lip}(\theta\mapsto\theta-\eta g)",
        theorem=theorem,
        shown=shown,
        hypotheses=_HYPOTHESES[label],
        printed_with=printed_with,
        uses=uses,
        assumes=assumes,
    )


_HYPOTHESES = {
    "clip:convex": (SHORT,),
    "clip:convex:attained": (SHORT,),
    "clip:smooth": (NOT_PAST_ZERO,),
}


def shown_with(smooth: Expr) -> Expr:
    """The constant as it is printed."""
    keeps = Plus(1, -times(eta, lam0))
    return Over(keeps, sqrt(Plus(1, -Over(times(eta, smooth), times(4, keeps)))))


def divisors_positive() -> list[Theorem]:
    """That nothing is divided by 0 there."""
    return [keeps_some(), has_room(), for_our_step(below_root())]


@cache
def convex() -> Statement:
    """`clip:convex`."""
    return _statement(
        "clip:convex",
        "Clipped gradients of convex losses: how far a short step expands",
        "θ − η(mean of clipped gradients + λ₀θ) is Lipschitz with this constant, for convex β₀-smooth losses, on every "
        "batch. It contracts where β₀ < 4λ₀(1 − ηλ₀)(2 − ηλ₀).",
        claimed(BatchMaps(CONVEX, eta, SHORT_CONSTANT), (SHORT,), (), short_steps),
        shown_with(beta0),
        printed_with=divisors_positive,
    )


@cache
def convex_attained() -> Statement:
    """`clip:convex:attained`."""
    return _statement(
        "clip:convex:attained",
        "Clipped gradients of convex losses: the constant of short steps is the least",
        "No smaller constant than that of clip:convex holds for all convex β₀-smooth losses.",
        claimed(NoLessThan(CONVEX, eta, SHORT_CONSTANT), (SHORT,), (), attained),
        shown_with(beta0),
        printed_with=divisors_positive,
        uses=("clip:convex",),
    )


@cache
def smooth() -> Statement:
    """`clip:smooth`."""
    return _statement(
        "clip:smooth",
        "Clipped gradients of smooth losses, convex or not: how far a step expands",
        "θ − η(mean of clipped gradients + λ₀θ) is Lipschitz with this constant, for any β₀-smooth losses, on every "
        "batch.",
        claimed(BatchMaps(SMOOTH, eta, ANY_CONSTANT), (NOT_PAST_ZERO,), (), any_losses),
        Plus(1, -times(eta, lam0), times(eta, beta0)),
    )
