"""Regularised multi-class logistic regression: `prop:smooth`, `prop:smooth_strcvx_clip`, `cor:logistic`.

Scores z_i = x̄ᵀθ_i, probabilities p = softmax(z), T = diag(p) − ppᵀ. As printed, the proposition on clipped gradients
fails for three or more classes (`hsdp audit` has the counterexample); what is stated here is what holds. Proofs are for
features with or without a constant 1 appended; the statements are those for the paper's, with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from sympy import Basic, Expr, Integer, S, sqrt
from sympy.core.relational import Relational

from ..display import Dot, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..meaning import FEATURES
from ..proof import kernel
from ..proof.facts.regression import (
    BENT_PRODUCT,
    ClippedPartAtLeast,
    ContractionRate,
    GradientBetween,
    Jacobian,
    LipschitzLosses,
    NormalisedFirst,
    OnNormalised,
    SmoothLosses,
    StepsOn,
    SymmetricPartAtLeast,
    between_used,
    clipped_apart,
    contraction_rate,
    gradient_between,
    gradient_norm,
    hessian,
    lipschitz_by_derivative,
    mean_of_maps,
    normalised_first,
    steps_contract,
    symmetric_part,
    where_clipped,
)
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Descent, From, Proposition, Renyi, ShuffledOnce
from ..proof.search import claimed, given, later, positive_from_one, short
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    Delta_2,
    G,
    K,
    L,
    N,
    P,
    S_g,
    X,
    alpha,
    b,
    beta,
    eps_norm,
    eta,
    factor,
    i,
    j,
    lam,
    n,
    q,
    rho0,
    rho_mul,
    sigma,
    sigma2,
    sigma_mul,
    step_1,
    upper_1,
)
from .descents import EPOCHS, ORDER, STRONGLY_CONVEX, TWO_BATCHES, below_one
from .fixed_order import decay_below_one, first_epoch
from .shuffle import average_shown, shuffled
from .softmax import (
    BY_CLIP,
    CLIPPING_KEEPS_CONVEX,
    GRADIENT,
    LETTERS,
    MODEL,
    ONE_APPENDED,
    SMOOTHNESS,
    SQUARE,
    bent_cases,
    by_clip_norm,
    by_features,
    clipped_bounds,
    everywhere,
    gradient_bound,
    one_appended,
    plain_bounds,
)

STEP_SIZE = eta < 2 / (SMOOTHNESS + 2 * lam)
PRINTED_SMOOTHNESS, PRINTED_STEP_SIZE, PRINTED_CASES = (
    each.subs(ONE_APPENDED) for each in (SMOOTHNESS, STEP_SIZE, CLIPPING_KEEPS_CONVEX)
)
CLIPPED = "per-example gradients of the unregularised loss are clipped to S_g/2, then λθ is added"


LONGEST = sqrt(2) * sqrt(SQUARE)
"""The largest norm of an unclipped gradient."""
PRINTED_LONGEST = sqrt(times(2, L**2 + 1))


def _as_printed(said: Proposition) -> Proposition:
    """The same of features to which a constant 1 is appended, as in the paper."""
    return said.changed(lambda part: part.subs(ONE_APPENDED) if isinstance(part, Basic) else part)


def _claimed(proposition: Proposition, relations: Iterable[Relational], prove: Callable[[], Theorem]) -> Theorem:
    """What a statement of the paper claims, from a proof for features with or without the constant."""
    return claimed(_as_printed(proposition), relations, (), lambda: one_appended(prove()))


@cache
def lipschitz_losses() -> Theorem:
    """No unclipped gradient is longer than √(2(L² + bias))."""
    bound = combine(gradient_bound().proposition.left, LONGEST**2, (S.One, gradient_bound()))  # type: ignore[attr-defined]
    positive = kernel.loosen(kernel.positive(LONGEST))
    return kernel.named(
        apply(gradient_norm, kernel.loosen(bound), positive, put={factor: LONGEST, **LETTERS}), "losses are Lipschitz"
    )


@cache
def smooth_losses() -> Theorem:
    """Unclipped losses are convex and (L² + bias)/2-smooth."""
    positive, smooth, _ = plain_bounds()
    return apply(hessian, positive, smooth, put={factor: SMOOTHNESS, **LETTERS})


def _printed_longest() -> Theorem:
    said = LipschitzLosses(MODEL, LONGEST)
    return later(_as_printed(said), (), lambda: one_appended(lipschitz_losses()), "losses are Lipschitz")


@cache
def smoothness() -> Statement:
    """`prop:smooth`."""
    return Statement(
        label="prop:smooth",
        kind="proposition",
        title="Smoothness of the logistic loss",
        where="Proposition 5.1 (proof in Appendix F.3)",
        says="Smoothness constant of the unregularised loss; beside it the bound on its gradient.",
        bounds=r"\beta",
        names_it=True,
        theorem=_claimed(SmoothLosses(MODEL, SMOOTHNESS), (), smooth_losses),
        shown=Over(L**2 + 1, 2),
        also=((r"\mathrm{Lip}(\ell_0)", PRINTED_LONGEST),),
        beside=(_printed_longest(),),
        hypotheses=(),
        assumes=(FEATURES,),
    )


UPPER = SMOOTHNESS + lam
"""How steep clipped, regularised gradients are where clipping keeps convexity."""


@cache
def stays_convex() -> Theorem:
    """λI ⪯ ∇g ⪯ UPPER·I for two classes, or if clipping never bites."""
    _, smooth, firm = plain_bounds()
    along = everywhere(
        (SMOOTHNESS, S.NegativeOne, S.Zero), lambda wanted: combine(S.Zero, wanted, (S.One, smooth)), bent_cases
    )
    change = everywhere(
        (S.Zero, SMOOTHNESS, S.NegativeOne), lambda wanted: combine(S.Zero, wanted, (S.One, firm)), bent_cases
    )
    room = UPPER - lam
    return apply(
        gradient_between,
        combine(P, room * X, (S.One, along)),
        combine(G, room * P, (S.One, change)),
        put={upper_1: UPPER, **LETTERS},
    )


@cache
def clipped() -> Statement:
    """`prop:smooth_strcvx_clip`, restricted to where it is true."""
    return Statement(
        label="prop:smooth_strcvx_clip",
        kind="proposition",
        title="Clipped gradients: where convexity and smoothness survive",
        where="Proposition 5.2 (proof in Appendix F.4)",
        says="λI ⪯ ∇g ⪯ this·I for the clipped, regularised gradient g: two classes, or clipping that never bites.",
        bounds=r"\lambda_{\max}(\nabla_\theta g)",
        theorem=_claimed(GradientBetween(GRADIENT, lam, UPPER), (PRINTED_CASES,), stays_convex),
        shown=Plus(Over(L**2 + 1, 2), lam),
        hypotheses=(PRINTED_CASES,),
        uses=("prop:smooth",),
        assumes=(FEATURES, CLIPPED),
    )


@cache
def actively_clipped() -> Statement:
    """How far clipping can bend convexity, for any number of classes: a bound proved here, not in the paper."""
    expr = lam - SQUARE / 16

    def prove() -> Theorem:
        positive, _, _ = plain_bounds()
        product, _ = clipped_bounds(by_features(), SMOOTHNESS)
        lost = lam - expr
        found = everywhere(
            (lost, S.One, S.Zero),
            lambda wanted: combine(S.Zero, wanted, (lost * Delta_2,), (S.One, positive)),
            lambda wanted: combine(S.Zero, wanted, (S.One, product)),
        )
        moved = combine(expr * X, P + lam * X, (S.One, found))
        return apply(symmetric_part, moved, put={factor: expr, **LETTERS})

    return Statement(
        label="prop:smooth_strcvx_clip:active",
        kind="proposition",
        title="Clipped gradients: what is left of strong convexity",
        where="not in the paper; replaces the lower bound of Proposition 5.2",
        says="Lower bound on the symmetric part of ∇g for any number of classes, clipping active or not.",
        bounds=r"\lambda_{\min}\left(\tfrac12(\nabla_\theta g + \nabla_\theta g^T)\right)",
        theorem=_claimed(SymmetricPartAtLeast(GRADIENT, expr), (), prove),
        shown=Plus(lam, -Over(L**2 + 1, 16)),
        hypotheses=(),
        uses=("prop:smooth",),
        assumes=(FEATURES, "per-example gradients of the unregularised loss are clipped, then λθ is added"),
    )


@cache
def tightly_clipped() -> Statement:
    """The same in terms of the clip norm: the smaller it is, the less convexity is lost."""
    expr = lam - BY_CLIP / 8

    def prove() -> Theorem:
        product, _ = clipped_bounds(by_clip_norm(), BY_CLIP)
        moved = combine(expr * Delta_2, BENT_PRODUCT + lam * Delta_2, (S.One, product))
        return apply(where_clipped, moved, put={factor: expr, **LETTERS})

    return Statement(
        label="prop:smooth_strcvx_clip:active_clip",
        kind="proposition",
        title="Clipped gradients: what is left of strong convexity, by clip norm",
        where="not in the paper; replaces the lower bound of Proposition 5.2",
        says="As prop:smooth_strcvx_clip:active where clipping is active, in terms of the clip norm S_g/2.",
        bounds=r"\lambda_{\min}\left(\tfrac12(\nabla_\theta g + \nabla_\theta g^T)\right)",
        theorem=_claimed(ClippedPartAtLeast(GRADIENT, expr), (), prove),
        shown=Plus(lam, -Over(times(S_g, sqrt(L**2 + 1)), 8)),
        hypotheses=(),
        uses=("prop:smooth_strcvx_clip:active",),
        assumes=(FEATURES, "clipping is active at θ (where it is not, the bound is λ)"),
    )


@cache
def contraction() -> Statement:
    """What the update map still contracts by where clipping is active: a bound proved here, not in the paper."""
    return _contraction("prop:smooth_strcvx_clip:rate", SMOOTHNESS, by_features, "prop:smooth_strcvx_clip:active")


@cache
def tight_contraction() -> Statement:
    """The same in terms of the clip norm, for small ones."""
    return _contraction(
        "prop:smooth_strcvx_clip:rate_clip", BY_CLIP, by_clip_norm, "prop:smooth_strcvx_clip:active_clip"
    )


def _contraction(label: str, norm: Expr, variances: Callable[[], Theorem], rests_on: str) -> Statement:
    """The map w ↦ q·w − ηAw, A the Jacobian of a clipped gradient with ‖A‖ ≤ `norm`; q = 1 − ηλ."""
    more = eta * q * norm / 4 + eta**2 * norm**2
    square = q**2 + more
    gained = lam * (1 + q) - q * norm / 4 - eta * norm**2
    expr = gained / (1 + sqrt(square))
    short_step = eta * lam < 1
    relations = (short_step, PRINTED_STEP_SIZE)
    printed_gain, printed_square = (each.subs(ONE_APPENDED) for each in (gained, square))

    def prove() -> Theorem:
        short_q = kernel.abbreviate(q, combine(S.Zero, ABBREVIATIONS[q], (S.One, given(short_step))))
        positive, _, firm = plain_bounds()
        product, change = clipped_bounds(variances(), norm)
        room = combine(S.Zero, 2 * q - eta * SMOOTHNESS, (SMOOTHNESS + 2 * lam, given(STEP_SIZE)), by=[short_q])
        found = everywhere(
            (more, 2 * eta * q, -(eta**2)),
            lambda wanted: combine(S.Zero, wanted, (more * Delta_2,), (eta**2, firm), (eta, positive, room)),
            lambda wanted: combine(S.Zero, wanted, (2 * eta * q, product), (eta**2, change)),
        )
        steps = _on_batches(sqrt(square), combine(_moved(), square * X, (S.One, found), by=[short_q]))
        is_root = cancel(sqrt(square), 1 - eta * expr, kernel.positive(1 + sqrt(square)), by=[short_q])
        return apply(contraction_rate, rewrite(steps, is_root), put={factor: expr})

    return Statement(
        label=label,
        kind="proposition",
        title="Clipped gradients: what the update still contracts by",
        where="not in the paper; replaces Proposition 5.2 for three or more classes",
        says="θ − ηg(θ) is (1 − ηλ′)-Lipschitz for this λ′, for any number of classes, clipping active or not.",
        bounds=r"\lambda'",
        theorem=_claimed(ContractionRate(GRADIENT, eta, expr), relations, prove),
        shown=Over(printed_gain, Plus(1, sqrt(printed_square))),
        hypotheses=relations,
        uses=("prop:smooth", rests_on),
        assumes=(FEATURES, CLIPPED),
    )


def _moved() -> Expr:
    """‖(1 − ηλ)Δ − ηAΔ‖², A being the derivative of a clipped gradient."""
    kept = ABBREVIATIONS[q]
    return kept**2 * X - 2 * eta * kept * P + eta**2 * G


def _on_batches(constant: Expr, moved: Theorem) -> Theorem:
    """A step on a batch is Lipschitz with this constant, from what it does to one record in one direction."""
    positive = kernel.loosen(_positive_rate(constant))
    record = apply(lipschitz_by_derivative, moved, positive, put={factor: constant, step_1: eta, **LETTERS})
    return kernel.named(apply(mean_of_maps, record), "a step on a batch is Lipschitz")


def _positive_rate(constant: Expr) -> Theorem:
    """0 < constant: a root, or 1 − ηλ."""
    if constant == ABBREVIATIONS[q]:
        half = (SMOOTHNESS + 2 * lam) / 2
        return combine(S.Zero, constant, (half, given(STEP_SIZE)), (eta * SMOOTHNESS / 2,))
    return kernel.positive(constant)


@cache
def contracts() -> Theorem:
    """A step on a batch is (1 − ηλ)-Lipschitz, where clipping keeps convexity."""
    bounded = apply(between_used, stays_convex(), assume(Jacobian(GRADIENT, X, P, G)))
    positive = combine(S.Zero, P, (1 / SMOOTHNESS, bounded), (G / SMOOTHNESS,))
    kept = ABBREVIATIONS[q]
    room = combine(S.Zero, 2 * kept - eta * SMOOTHNESS, (SMOOTHNESS + 2 * lam, given(STEP_SIZE)))
    moved = combine(_moved(), kept**2 * X, (eta**2, bounded), (eta, positive, room))
    return _on_batches(kept, moved)


DEVIATION_2 = eta / 2 * (sigma_mul * (S_g / 2) / b) ** 2
"""σ² for noise η·(1/b)·σ_mul·(S_g/2) per update, which is √(2ησ²)."""
NOISE = 2 * eta * DEVIATION_2
BATCHES = ShuffledOnce(N, b / n)
RUN, NORMALISED = Descent(BATCHES, NOISE), OnNormalised(BATCHES, NOISE)


def _for_softmax(theorem: Theorem) -> Theorem:
    """A theorem about λ-strongly convex, β-smooth losses, for β = (L² + 1)/2 + λ: what it asks of β the step allows."""
    smooth = SMOOTHNESS + lam
    order = combine(lam, smooth, (SMOOTHNESS,))
    size = combine(eta, 2 / (lam + smooth), (S.One, given(STEP_SIZE)))
    asked = zip(map(given, STRONGLY_CONVEX), (kernel.positive(lam), order, size), strict=True)
    met = [lemma for was, lemma in asked if was.proposition in theorem.hypotheses]
    return cut(substitute(theorem, {beta: smooth}), *met)


def _without_normalising() -> Theorem:
    """`thm:shuffle` for clipped softmax regression and σ as the noise multiplier has it: then ρ₀ = 2/σ_mul²."""
    spelled = {sigma2: DEVIATION_2, sigma: sqrt(DEVIATION_2), rho0: rho_mul}
    found = substitute(_for_softmax(shuffled().theorem), spelled)
    short_q = kernel.abbreviate(q, _positive_rate(ABBREVIATIONS[q]))
    run = assume(StepsOn(RUN, GRADIENT, eta, b))
    lipschitz = rewrite(apply(steps_contract, run, contracts()), kernel.swap(short_q))
    step, clip = (kernel.loosen(kernel.positive(each)) for each in (eta, GRADIENT.clip))
    apart = apply(clipped_apart, run, step, clip, kernel.positive(b))
    return cut(found, lipschitz, apart, cancel(DEVIATION_2, DEVIATION_2))


FIRST_EPOCH = Dot(Over(2 * alpha, sigma_mul**2), q ** times(2, j - 1), Over(1, GeometricSum(q**2, j)))
"""ε₀^j(α) as it is printed: ρ₀ = 2/σ_mul²."""


@cache
def _average_as_printed() -> Theorem:
    """The mean over batches, as it is printed, is the mean that is computed: term by term."""
    one = assume(AtMost(S.One, i))
    known = [below_one(), *(positive_from_one(GeometricSum(q**power, i), i, one) for power in (2, -2))]
    meant = undisplay(average_shown(), undisplay(FIRST_EPOCH), j) * (alpha - 1)
    value = ((alpha - 1) * first_epoch().expr.subs(j, i)).subs(rho0, rho_mul)
    return kernel.mean(cancel(meant.args[0], value, *known, by=[short(rho_mul)]), i, N)


def _printed_with() -> list[Theorem]:
    parts = below_one(), decay_below_one(), _average_as_printed()
    return [*(one_appended(_for_softmax(each)) for each in parts), given(ORDER)]


@cache
def corollary() -> Statement:
    """`cor:logistic`, under what `prop:smooth_strcvx_clip` establishes."""
    relations = (ORDER, EPOCHS, TWO_BATCHES, PRINTED_STEP_SIZE, PRINTED_CASES)
    assumed = _as_printed(StepsOn(RUN, GRADIENT, eta, b)), NormalisedFirst(NORMALISED, alpha, eps_norm)
    expr = eps_norm + shuffled().expr.subs(rho0, rho_mul)

    def prove() -> Theorem:
        return apply(normalised_first, assume(assumed[1]), one_appended(_without_normalising()))

    return Statement(
        label="cor:logistic",
        kind="corollary",
        title="Privacy dynamics of regularised logistic regression",
        where="Corollary 5.3",
        says="ε of DP-SGD on regularised logistic regression, batches shuffled once, in terms of the noise multiplier.",
        bounds=r"\varepsilon",
        theorem=claimed(Renyi(From(NORMALISED, Integer(0), K * N), alpha, expr), relations, assumed, prove),
        shown=Plus(eps_norm, *shuffled().shown.args),
        first_epoch=(undisplay(FIRST_EPOCH), j),
        printed_with=_printed_with,
        also=((r"\varepsilon_0^{j}(\alpha)", FIRST_EPOCH),),
        hypotheses=relations,
        uses=("thm:shuffle", "prop:smooth_strcvx_clip"),
    )
