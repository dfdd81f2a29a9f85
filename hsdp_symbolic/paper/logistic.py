"""Regularised multi-class logistic regression: `prop:smooth`, `prop:smooth_strcvx_clip`, `cor:logistic`.

Scores z_i = x̄ᵀθ_i, probabilities p = softmax(z), T = diag(p) − ppᵀ. As printed, the proposition on clipped gradients
fails for three or more classes (`hsdp audit` has the counterexample); what is stated here is what holds.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Matrix, Or, Rational, diff, exp, log, sqrt

from ..display import Dot, Over, Plus, times, undisplay
from ..functions.geometric import GeometricSum
from ..meaning import FEATURES, Asks, Neighbouring, Quantity, Released, Terms
from ..proof.checks import Slack
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    M_T,
    E_w2,
    L,
    S_g,
    a_u,
    alpha,
    b,
    b2,
    b_v,
    classes,
    eps_norm,
    eta,
    j,
    lam,
    m_w,
    p1,
    q,
    rest,
    rho0,
    rho_mul,
    sigma2,
    sigma_mul,
    tau_u,
    theta,
    w_bar,
    w_max,
    w_min,
    x_i,
    z1,
    z2,
)
from .fixed_order import EPOCHS, ORDER, TWO_BATCHES
from .shuffle import shuffled

SMOOTHNESS = (L**2 + 1) / 2
NEVER_CLIPS = S_g**2 >= 8 * (L**2 + 1)
STEP_SIZE = eta < 2 / (SMOOTHNESS + 2 * lam)
CLIPPING_KEEPS_CONVEX = Or(classes <= 2, NEVER_CLIPS)


@cache
def smoothness() -> Statement:
    """`prop:smooth`."""
    d = Derivation()
    total = exp(z1) + exp(z2) + rest
    first, second = exp(z1) / total, exp(z2) / total
    d.identity(
        "∂p_i/∂z_i = p_i(1 − p_i), for any number of classes (`rest` is the sum over the others) …",
        diff(first, z1),
        first * (1 - first),
    )
    d.identity(
        "… and ∂p_i/∂z_j = −p_i·p_j: the Hessian in the scores is T = diag(p) − ppᵀ.", diff(first, z2), -first * second
    )
    d.identity("The gradient in the score of the true class is p_i − 1 …", diff(-log(first), z1), first - 1)
    d.identity("… and p_j in any other: p − y.", diff(-log(first), z2), second)
    d.identity(
        "Scores are linear, z_i = x̄ᵀθ_i, so each derivative brings a factor x̄: the Hessian is T ⊗ x̄x̄ᵀ.",
        diff(first.subs(z1, x_i * theta), theta),
        x_i * (first * (1 - first)).subs(z1, x_i * theta),
    )
    d.at_most(
        "Böhning's bound, first step: wᵀTw is the variance of w under p, at most (max − mean)(mean − min).",
        E_w2 - m_w**2,
        (w_max - m_w) * (m_w - w_min),
        [
            (
                Integer(1),
                Slack((w_max + w_min) * m_w - w_max * w_min - E_w2, "mean of (max − w)(w − min) ≥ 0"),
            )
        ],
    )
    d.at_most(
        "Second: that is at most (max − min)²/4 …",
        (w_max - m_w) * (m_w - w_min),
        (w_max - w_min) ** 2 / 4,
        [(Rational(1, 4), Slack((w_max + w_min - 2 * m_w) ** 2, "a square"))],
    )
    d.at_most(
        "… and (max − min)² ≤ 2·((max − w̄)² + (min − w̄)²) ≤ 2·Σ(w − w̄)²: so T ⪯ ½(I − 11ᵀ/c) for every c.",
        (w_max - w_min) ** 2,
        2 * ((w_max - w_bar) ** 2 + (w_min - w_bar) ** 2),
        [(Integer(1), Slack((w_max + w_min - 2 * w_bar) ** 2, "a square"))],
    )
    d.at_most(
        "‖p − y‖² = Σp² − 2p_t + 1 ≤ 2 (here E_w2 stands for Σp² ≤ 1), so ‖∇ℓ₀‖ ≤ √2·‖x̄‖ ≤ √(2(L² + 1)).",
        E_w2 - 2 * p1 + 1,
        Integer(2),
        [(Integer(1), Slack(1 - E_w2, "Σp² ≤ Σp = 1")), (Integer(2), Slack(p1, "a probability"))],
    )
    expr = SMOOTHNESS
    return Statement(
        label="prop:smooth",
        kind="proposition",
        title="Smoothness of the logistic loss",
        where="Proposition 5.1 (proof in Appendix F.3)",
        says="Smoothness constant of the unregularised loss; beside it the bound on its gradient.",
        bounds=r"\beta",
        quantity=Quantity.SMOOTHNESS,
        relation="=",
        expr=expr,
        shown=d.printed(expr, Over(L**2 + 1, 2)),
        also=((r"\mathrm{Lip}(\ell_0)", sqrt(times(2, L**2 + 1))),),
        hypotheses=(),
        steps=d.steps,
        assumes=(FEATURES,),
    )


@cache
def clipped() -> Statement:
    """`prop:smooth_strcvx_clip`, restricted to where it is true."""
    d = Derivation()
    prob, label = Matrix([p1, 1 - p1]), Matrix([1, 0])
    residual, hessian = prob - label, Matrix.diag(p1, 1 - p1) - prob * prob.T
    removed = residual * residual.T * hessian / residual.dot(residual)  # ûûᵀT
    for row, column in ((0, 0), (0, 1), (1, 1)):
        d.identity(
            f"Two classes, clipping active: ûûᵀT = T, so P·T = (I − ûûᵀ)T = 0 (entry {row + 1}, {column + 1}).",
            hessian[row, column],
            removed[row, column],
        )
    d.at_most(
        "If S_g/2 ≥ √(2(L² + 1)) no gradient is ever clipped (prop:smooth), and g is the gradient of a λ-strongly "
        "convex, (β + λ)-smooth loss.",
        2 * (L**2 + 1),
        (S_g / 2) ** 2,
        [(Rational(1, 4), Slack.of(NEVER_CLIPS))],
    )
    expr = SMOOTHNESS + lam
    return Statement(
        label="prop:smooth_strcvx_clip",
        kind="proposition",
        title="Clipped gradients: where convexity and smoothness survive",
        where="Proposition 5.2 (proof in Appendix F.4)",
        says="λI ⪯ ∇g ⪯ this·I for the clipped, regularised gradient g: two classes, or clipping that never bites.",
        bounds=r"\lambda_{\max}(\nabla_\theta g)",
        quantity=Quantity.SMOOTHNESS,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, Plus(Over(L**2 + 1, 2), lam)),
        hypotheses=(CLIPPING_KEEPS_CONVEX,),
        steps=d.steps,
        uses=("prop:smooth",),
        assumes=(FEATURES, "per-example gradients of the unregularised loss are clipped to S_g/2, then λθ is added"),
    )


@cache
def actively_clipped() -> Statement:
    """How far clipping can bend convexity, for any number of classes: a bound proved here, not in the paper."""
    d = Derivation()
    d.identity(
        "With û the direction of p − y, P = I − ûûᵀ, τ = ûᵀTû and b the part of Tû orthogonal to û, the quadratic form "
        "of P·T at w = a·û + v, v ⟂ û, is wᵀTw − a·ûᵀTw = (τa² + 2a⟨b,v⟩ + vᵀTv) − a(τa + ⟨b,v⟩) = a⟨b,v⟩ + vᵀTv.",
        tau_u * a_u**2 + 2 * a_u * b_v + E_w2 - a_u * (tau_u * a_u + b_v),
        a_u * b_v + E_w2,
    )
    d.at_most(
        "T ⪰ 0 gives vᵀTv ≥ ⟨b, v⟩²/τ (complete the square in a) …",
        b_v**2 / tau_u,
        E_w2,
        [(1 / tau_u, Slack(tau_u * E_w2 - b_v**2, "T ⪰ 0"))],
    )
    # (M − T)·T ⪰ 0 gives ‖Tû‖² ≤ Mτ, and ‖b‖² = ‖Tû‖² − τ²: written as M = τ + ‖b‖²/τ + slack.
    discriminant = 4 * (M_T / 8) * (1 / tau_u + M_T / (8 * b2)) - 1
    worst = discriminant.subs(b2, tau_u * (M_T - tau_u))
    d.identity(
        "… and ‖b‖² ≤ τ(M − τ), M the largest eigenvalue of T. At that value the form plus (M/8)·‖w‖² has discriminant "
        "proportional to a perfect square, (3M − 4τ)²; a smaller ‖b‖ only helps.",
        worst * 16 * tau_u * (M_T - tau_u),
        (3 * M_T - 4 * tau_u) ** 2,
    )
    d.at_most(
        "So the symmetric part of P·T is at least −M/8, with M ≤ ½ (Böhning): at least −1/16.",
        M_T / 8,
        Rational(1, 16),
        [(Rational(1, 8), Slack(Rational(1, 2) - M_T, "M ≤ ½"))],
    )
    d.identity(
        "Clipping scales by (S_g/2)/‖∇ℓ₀‖ < 1, and x̄x̄ᵀ by at most L² + 1: ∇g bends by at most (L² + 1)/16 = β/8.",
        (L**2 + 1) * Rational(1, 16),
        SMOOTHNESS / 8,
    )
    expr = lam - (L**2 + 1) / 16
    return Statement(
        label="prop:smooth_strcvx_clip:active",
        kind="proposition",
        title="Clipped gradients: what is left of strong convexity",
        where="not in the paper; replaces the lower bound of Proposition 5.2",
        says="Lower bound on the symmetric part of ∇g for any number of classes, clipping active or not.",
        bounds=r"\lambda_{\min}\left(\tfrac12(\nabla_\theta g + \nabla_\theta g^T)\right)",
        quantity=Quantity.CONVEXITY,
        relation=">=",
        expr=expr,
        shown=d.printed(expr, Plus(lam, -Over(L**2 + 1, 16))),
        hypotheses=(),
        steps=d.steps,
        uses=("prop:smooth",),
        assumes=(FEATURES, "per-example gradients of the unregularised loss are clipped, then λθ is added"),
    )


@cache
def tightly_clipped() -> Statement:
    """The same in terms of the clip norm: the smaller it is, the less convexity is lost."""
    d = Derivation()
    d.at_most(
        "The largest eigenvalue M of T is at most its trace, 1 − Σp² ≤ 1 − (1−r)² ≤ 2r, r = 1 − p_y (p1 stands for r).",
        1 - (1 - p1) ** 2,
        2 * p1,
        [(Integer(1), Slack(p1**2, "a square"))],
    )
    d.at_most(
        "‖p − y‖² ≥ (1 − p_y)² = r² (E_w2 stands for ‖p − y‖²), so M ≤ 2·‖p − y‖.",
        p1**2,
        E_w2,
        [(Integer(1), Slack(E_w2 - p1**2, "one of the squares of p − y is r²"))],
    )
    d.identity(
        "Clipping scales by (S_g/2)/(‖p − y‖·‖x̄‖): the loss (M/8)·‖x̄‖²·(S_g/2)/(‖p − y‖·‖x̄‖) of "
        "prop:smooth_strcvx_clip:active is at most (1/4)·(S_g/2)·√(L² + 1).",
        2 * tau_u / 8 * sqrt(L**2 + 1) ** 2 * (S_g / 2) / (tau_u * sqrt(L**2 + 1)),
        S_g * sqrt(L**2 + 1) / 8,
    )
    expr = lam - S_g * sqrt(L**2 + 1) / 8
    return Statement(
        label="prop:smooth_strcvx_clip:active_clip",
        kind="proposition",
        title="Clipped gradients: what is left of strong convexity, by clip norm",
        where="not in the paper; replaces the lower bound of Proposition 5.2",
        says="As prop:smooth_strcvx_clip:active where clipping is active, in terms of the clip norm S_g/2.",
        bounds=r"\lambda_{\min}\left(\tfrac12(\nabla_\theta g + \nabla_\theta g^T)\right)",
        quantity=Quantity.CONVEXITY,
        relation=">=",
        expr=expr,
        shown=d.printed(expr, Plus(lam, -Over(times(S_g, sqrt(L**2 + 1)), 8))),
        hypotheses=(),
        steps=d.steps,
        uses=("prop:smooth_strcvx_clip:active",),
        assumes=(FEATURES, "clipping is active at θ (where it is not, the bound is λ)"),
    )


@cache
def contraction() -> Statement:
    """What the update map still contracts by where clipping is active: a bound proved here, not in the paper."""
    return _contraction(
        "prop:smooth_strcvx_clip:rate",
        SMOOTHNESS,
        "‖A‖ ≤ ½·(L² + 1) by Böhning's bound, and A bends by at most an eighth of that "
        "(prop:smooth_strcvx_clip:active).",
        actively_clipped().expr,
        "prop:smooth_strcvx_clip:active",
    )


@cache
def tight_contraction() -> Statement:
    """The same in terms of the clip norm, for small ones."""
    return _contraction(
        "prop:smooth_strcvx_clip:rate_clip",
        S_g * sqrt(L**2 + 1),
        "‖A‖ ≤ 2·(S_g/2)·√(L² + 1), because M ≤ 2·‖p − y‖, and A bends by at most an eighth of that "
        "(prop:smooth_strcvx_clip:active_clip).",
        tightly_clipped().expr,
        "prop:smooth_strcvx_clip:active_clip",
    )


def _contraction(label: str, norm: Expr, why: str, convexity: Expr, rests_on: str) -> Statement:
    """The map w ↦ q·w − ηAw, A the Jacobian of a clipped gradient with ‖A‖ ≤ `norm`; q = 1 − ηλ."""
    d = Derivation()
    d.identity(why, lam - convexity, norm / 8)
    d.at_most(
        "For a clipped record and a unit vector w, ‖qw − ηAw‖² = q² − 2ηq⟨w, Aw⟩ + η²‖Aw‖² ≤ q² + ηqM/4 + η²M² (b_v "
        "stands for ⟨w, Aw⟩, E_w2 for ‖Aw‖², M_T for M = ‖A‖).",
        q**2 - 2 * eta * q * b_v + eta**2 * E_w2,
        q**2 + eta * q * M_T / 4 + eta**2 * M_T**2,
        [
            (2 * eta * q, Slack(b_v + M_T / 8, "A bends by at most M/8")),
            (eta**2, Slack(M_T**2 - E_w2, "‖A‖ ≤ M")),
        ],
    )
    d.at_most(
        "For a record that is not clipped the map contracts by q = 1 − ηλ (0 ⪯ A ⪯ β), which is no more; the update is "
        "the mean over the batch, so it contracts by the larger of the two.",
        q**2,
        q**2 + eta * q * M_T / 4 + eta**2 * M_T**2,
        [(eta * M_T, Slack(q / 4 + eta * M_T, "both positive"))],
    )
    square = q**2 + eta * q * norm / 4 + eta**2 * norm**2
    gained = lam * (1 + q) - q * norm / 4 - eta * norm**2
    expr = gained / (1 + sqrt(square))
    spelled = {q: ABBREVIATIONS[q]}
    d.identity(
        "Written as (1 − ηλ′)², λ′ = (1 − √·)/η. Times (1 + √·)/(1 + √·), so that no small difference is divided by η:",
        (eta * gained).subs(spelled),
        (1 - square).subs(spelled),
    )
    return Statement(
        label=label,
        kind="proposition",
        title="Clipped gradients: what the update still contracts by",
        where="not in the paper; replaces Proposition 5.2 for three or more classes",
        says="θ − ηg(θ) is (1 − ηλ′)-Lipschitz for this λ′, for any number of classes, clipping active or not.",
        bounds=r"\lambda'",
        quantity=Quantity.CONTRACTION,
        relation=">=",
        expr=expr,
        shown=d.printed(expr, Over(gained, Plus(1, sqrt(square)))),
        hypotheses=(eta * lam < 1, STEP_SIZE),
        steps=d.steps,
        uses=("prop:smooth", rests_on),
        assumes=(FEATURES, "per-example gradients of the unregularised loss are clipped to S_g/2, then λθ is added"),
    )


@cache
def corollary() -> Statement:
    """`cor:logistic`, under what `prop:smooth_strcvx_clip` establishes."""
    d = Derivation()
    deviation2 = eta / 2 * (sigma_mul * (S_g / 2) / b) ** 2  # σ² = (η/2)·(σ_mul·S_g/(2b))²
    d.identity(
        "Noise η·(1/b)·σ_mul·(S_g/2) per update is √(2ησ²) with σ = √(η/2)·(1/b)·σ_mul·S_g/2 …",
        2 * eta * deviation2,
        (eta / b * sigma_mul * S_g / 2) ** 2,
    )
    d.identity(
        "… so a sensitive step costs ρ₀ = 2/σ_mul², whatever η, b and the clip norm.",
        ABBREVIATIONS[rho0].subs(sigma2, deviation2),
        ABBREVIATIONS[rho_mul],
    )
    expr = eps_norm + shuffled().expr.subs(rho0, rho_mul)
    first = Dot(Over(2 * alpha, sigma_mul**2), q ** times(2, j - 1), Over(1, GeometricSum(q**2, j)))
    shown = Plus(eps_norm, *shuffled().shown.args)
    return Statement(
        label="cor:logistic",
        kind="corollary",
        title="Privacy dynamics of regularised logistic regression",
        where="Corollary 5.3",
        says="ε of DP-SGD on regularised logistic regression, batches shuffled once, in terms of the noise multiplier.",
        bounds=r"\varepsilon",
        quantity=Quantity.DIVERGENCE,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown, first_epoch=undisplay(first), index=j),
        also=((r"\varepsilon_0^{j}(\alpha)", first),),
        hypotheses=(ORDER, EPOCHS, TWO_BATCHES, STEP_SIZE, CLIPPING_KEEPS_CONVEX),
        steps=d.steps,
        uses=("thm:shuffle", "prop:smooth_strcvx_clip"),
        terms=Terms(Neighbouring.REPLACE_ONE, Released.LAST, Asks.SOFTMAX),
    )
