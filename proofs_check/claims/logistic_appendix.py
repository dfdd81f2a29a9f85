"""Sections 5 and 6, Appendices A to C and F: logistic regression, conclusions, definitions."""

from __future__ import annotations

from sympy import (
    Abs,
    Derivative,
    Expr,
    Gt,
    Integer,
    Le,
    Lt,
    Matrix,
    Max,
    Rational,
    diff,
    exp,
    eye,
    kronecker_product,
    limit,
    log,
    oo,
    sqrt,
    trace,
)

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.paper.softmax import gradient_bound, one_appended, plain_bounds
from hsdp_symbolic.proof.certificates import Positive, sign_on
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Cited, Identity
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    M_T,
    Delta_2,
    E_w2,
    K,
    L,
    N,
    P,
    S_g,
    W,
    X,
    Y,
    a,
    a2,
    a_u,
    alpha,
    b,
    b2,
    b_v,
    beta,
    classes,
    dim,
    dmu,
    eta,
    g_i,
    i,
    j,
    j0,
    k,
    lam,
    mu,
    nu,
    p,
    p1,
    q,
    rate,
    rho0,
    s,
    sigma,
    sigma2,
    sigma_mul,
    slack,
    theta,
    v,
    w_max,
    w_min,
    w_variance,
    x_i,
    z1,
    z2,
)

from ..claim import Claim, Group, Note
from ..formulas import supposed
from ..quotes import Quotes
from .logistic import POINT, clipped_hessian

SMOOTH, CLIP, LOGISTIC = "prop:smooth", "prop:smooth_strcvx_clip", "cor:logistic"


def groups() -> tuple[Group, ...]:
    return (_loss, _gradient, _hessian, _constants, _clipping, _algorithm, _conclusions, _tools)


# Three classes with scores x̄ᵀθ_i = z1, z2, 0 (a common shift changes nothing), in any number of features: along a
# direction w only x̄ᵀw_i matters.
_SCORES = (z1, z2, Integer(0))
_ALONG = (a_u, w_max, dmu)
_ODDS = {exp(z1): mu, exp(z2): nu}
"""Once differentiated, the exponentials of the scores are positive numbers."""


def _softmax(scores: tuple[Expr, ...]) -> list[Expr]:
    return [exp(z) / sum(exp(other) for other in scores) for z in scores]


def _probabilities() -> Matrix:
    return Matrix(_softmax(_SCORES)).subs(_ODDS)


def _mixed(first: int, second: int) -> Expr:
    """The mixed derivative of ℓ₀, true class 1, along w_first (in θ_first) and w_second (in θ_second)."""
    scores = list(_SCORES)
    scores[first] += Y * _ALONG[first]
    scores[second] += g_i * _ALONG[second]
    value = -log(_softmax(tuple(scores))[0])
    return diff(value, Y, g_i).subs({Y: 0, g_i: 0}, simultaneous=True).subs(_ODDS)


def _curvature(scores: tuple[Expr, ...], moved: tuple[Expr, ...]) -> Expr:
    """The second derivative of ℓ₀, true class 1, along the direction that moves the scores so."""
    path = tuple(z + Y * move for z, move in zip(scores, moved, strict=True))
    return diff(-log(_softmax(path)[0]), Y, 2).subs(Y, 0).subs(_ODDS)


def _loss() -> list[Claim]:
    """Convexity, and what the regulariser adds: its second derivative along w, for θ and w in the plane."""
    prob, pairs = _probabilities(), ((0, 1), (0, 2), (1, 2))
    squares = sum(prob[one] * prob[two] * (_ALONG[one] - _ALONG[two]) ** 2 for one, two in pairs)
    start, way = Matrix([z1, z2]), Matrix([a_u, b_v])
    path = start + Y * way
    return [
        Claim(
            id="5.1/sentence-4:convex",
            label=SMOOTH,
            where="Section 5.1, line 662, and Appendix F.2",
            says="ℓ₀ is convex: along any w its second derivative is Σ_(i<j) p_i·p_j·(x̄ᵀw_i − x̄ᵀw_j)² (3 classes)",
            printed=Identity(_curvature(_SCORES, _ALONG), squares),
            items=("5.1/sentence-4", "F.2/sentence-2"),
        ),
        Claim(
            id="5.1/sentence-4:strongly-convex",
            label=SMOOTH,
            where="Section 5.1, line 662, and Appendix F.2",
            says="so ℓ_λ = ℓ₀ + (λ/2)‖θ‖² is λ-strongly convex: the regulariser adds exactly λ‖w‖²",
            printed=Identity(Derivative(lam / 2 * path.dot(path), (Y, 2)), lam * way.dot(way)),
            items=("5.1/sentence-4", "F.2/sentence-2", "5.1/display-1", "F.2/display-1"),
        ),
    ]


def _gradient() -> list[Claim]:
    """Two classes, the second one true: there the misprinted last entry can be compared."""
    scores = (z1, z2)
    _, second = _softmax(scores)
    truth = diff(-log(second), z2)
    return [
        Claim(
            id="F.3/display-3:last-denominator",
            label=SMOOTH,
            where="Appendix F.3, line 1699",
            says="the last softmax in ∇ℓ₀ has the denominator e^(x̄ᵀθ_c) + … + e^(x̄ᵀθ_c)",
            printed=Identity(truth, diff(-log(exp(z2) / (exp(z2) + exp(z2))), z2)),
            corrected=Identity(truth, second - 1),
            correction="the denominator is e^(x̄ᵀθ_1) + … + e^(x̄ᵀθ_c), as in the loss (compared for two classes)",
            items=("F.3/display-3",),
            consequence="formula",
        ),
        Claim(
            id="F.3/display-4:first-block",
            label=SMOOTH,
            where="Appendix F.3, line 1700",
            says="the block of ∇ℓ₀ in θ_1 is (p_1 − y¹)·x̄ (3 classes, true class 1)",
            printed=Identity(
                diff(-log(_softmax((z1 + Y * a_u, *_SCORES[1:]))[0]), Y).subs(Y, 0).subs(_ODDS),
                (_probabilities()[0] - 1) * a_u,
            ),
            items=("F.3/display-4",),
        ),
        Claim(
            id="F.3/display-4:last-entry",
            label=SMOOTH,
            where="Appendix F.3, line 1700",
            says="the last entry of ∇ℓ₀ is e^(x̄ᵀθ_1)/(e^(x̄ᵀθ_c) + … + e^(x̄ᵀθ_c)) − y^c, times x̄",
            printed=Identity(truth, exp(z1) / (exp(z2) + exp(z2)) - 1),
            corrected=Identity(truth, exp(z2) / (exp(z1) + exp(z2)) - 1),
            correction="numerator e^(x̄ᵀθ_c), denominator e^(x̄ᵀθ_1) + … + e^(x̄ᵀθ_c) (compared for two classes)",
            items=("F.3/display-4",),
            consequence="formula",
        ),
    ]


def _hessian() -> list[Claim]:
    """In full for two classes, one feature and the bias: x̄ = (x, 1), all four entries of w free."""
    prob, plain, xbar = _probabilities(), _softmax(_SCORES), Matrix([x_i, 1])
    first, second = _ALONG[:2]
    ways = Matrix([a_u, b_v]), Matrix([w_max, w_min])
    two = Matrix(_softmax((z1, z2))).subs(_ODDS)
    spread = Matrix.diag(*two) - two * two.T  # T
    way = Matrix.vstack(*ways)
    form = (way.T * kronecker_product(spread, xbar * xbar.T) * way)[0]
    moved = tuple(xbar.dot(each) for each in ways)
    pair = Matrix([p1, 1 - p1])
    block = kronecker_product(Matrix.diag(*pair) - pair * pair.T, xbar * xbar.T)
    return [
        Claim(
            id="F.3/display-6:diagonal-block",
            label=SMOOTH,
            where="Appendix F.3, line 1715",
            says="H_ii = p_i(1 − p_i)·x̄x̄ᵀ (its quadratic form, 3 classes, for the true class)",
            printed=Identity(_mixed(0, 0), prob[0] * (1 - prob[0]) * first**2),
            items=("F.3/display-5", "F.3/display-6"),
        ),
        Claim(
            id="F.3/display-7:other-block",
            label=SMOOTH,
            where="Appendix F.3, line 1716",
            says="H_ij = −p_i·p_j·x̄x̄ᵀ for i ≠ j (its bilinear form, 3 classes)",
            printed=Identity(
                Derivative(-log(plain[0]), z1, z2) * first * second, -plain[0] * plain[1] * first * second
            ),
            items=("F.3/display-5", "F.3/display-7"),
        ),
        Claim(
            id="F.3/display-8:kronecker",
            label=SMOOTH,
            where="Appendix F.3, lines 1722 and 1724",
            says="∇²ℓ₀ = T ⊗ x̄x̄ᵀ with T_ii = p_i(1 − p_i), T_ij = −p_i·p_j (2 classes, one feature and the bias)",
            printed=Identity(_curvature((z1, z2), moved), form),
            items=("F.3/display-8", "F.3/display-9"),
        ),
        Claim(
            id="F.3/sentence-4:eigenvalues",
            label=SMOOTH,
            where="Appendix F.3, line 1735",
            says="the eigenvalues of T ⊗ x̄x̄ᵀ are the products (2 classes, one feature: 2p(1−p)·(x² + 1) and three 0)",
            printed=Identity(
                (Y * eye(4) - block).det(method="berkowitz"), Y**3 * (Y - 2 * p1 * (1 - p1) * (x_i**2 + 1))
            ),
            items=("F.3/sentence-4",),
        ),
        Claim(
            id="F.3/sentence-4:range",
            label=SMOOTH,
            where="Appendix F.3, lines 1735 and 1737",
            says="so they are at most ½·‖x̄‖² ≤ (L² + 1)/2: ⟨Δ, ∇²ℓ₀Δ⟩ ≤ (L² + 1)/2·‖Δ‖², for any number of classes",
            printed=Proved(one_appended(plain_bounds()[1])),
            items=("F.3/sentence-4", "F.3/sentence-5", "F.3/display-2", "5.1/display-4"),
        ),
        Claim(
            id="A/table:laplacian",
            label=SMOOTH,
            where="Appendix A, third table, against Appendix F.3",
            says="∇² is the Laplacian (table of symbols); the blocks of ∇²ℓ₀ are H_ij (Appendix F.3)",
            printed=Identity(trace(Matrix.diag(*pair) - pair * pair.T), p1 * (1 - p1)),
            corrected=Identity(_mixed(0, 0), prob[0] * (1 - prob[0]) * first**2),
            correction="in Appendix F ∇² is the Hessian; the Laplacian, its trace (two classes: 2p(1−p)), is no block",
            consequence="text",
        ),
    ]


def _constants() -> list[Claim]:
    """The constants of prop:smooth and how they are reached."""
    bounded = Proved(one_appended(gradient_bound()))
    size_a, size_b = a_u**2 + b_v**2, w_max**2 + w_min**2
    apart = (a_u - w_max) ** 2 + (b_v - w_min) ** 2

    def sensitivity(bound2: Expr) -> Certificate:
        """‖u − v‖² ≤ 4·bound² for ‖u‖, ‖v‖ ≤ bound: ‖u − v‖² = 2‖u‖² + 2‖v‖² − ‖u + v‖², in any two-plane."""
        each = size_a <= bound2, size_b <= bound2
        squares = ((a_u + w_max) ** 2,), ((b_v + w_min) ** 2,)
        return Certificate(apart, 4 * bound2, (*((Integer(2), one) for one in each), *squares), each)

    return [
        Claim(
            id="5.1/display-3:two-letters",
            label=SMOOTH,
            where="Section 5.1, line 671, and Appendix F.3, line 1689",
            says="L = √(2(L² + 1)), L being at once the Lipschitz constant of ℓ₀ and the clip norm of the features",
            printed=Identity(L, sqrt(2 * (L**2 + 1))),
            corrected=bounded,
            correction="no L solves this; with features of norm at most L the Lipschitz constant is √(2(L² + 1))",
            items=(
                *("5.1/display-3", "5.1/proposition-1", "5.1/sentence-6"),
                *("F.3/display-1", "F.3/proposition-1", "F.3/sentence-2"),
            ),
            consequence="formula",
        ),
        Claim(
            id="F.3/sentence-5:lipschitz",
            label=SMOOTH,
            where="Appendix F.3, line 1737",
            says="‖x̄‖ ≤ √(L² + 1) and Hessian eigenvalues in [0, β] give ‖∇ℓ₀‖² ≤ 2(L² + 1)",
            printed=AtPoint(
                diff(theta**2 / 2, theta).subs(theta, 3) ** 2,
                Integer(4),
                Le,
                "L = 1, so β = 1; the function θ²/2, whose Hessian is β, at θ = 3",
            ),
            corrected=bounded,
            correction="the proof bounds the Hessian only; the gradient is (p − y) ⊗ x̄ and ‖p − y‖² ≤ 2",
            items=("F.3/sentence-5",),
            consequence="argument",
        ),
        Claim(
            id="5.1/sentence-7:sensitivity",
            label=SMOOTH,
            where="Section 5.1, line 678, and Appendix F.4, line 1746",
            says="without gradient clipping the sensitivity is at most 2√(2(L² + 1)), which grows with L (gradients "
            "have norms of at most √(2(L² + 1)): 5.1/display-3:two-letters)",
            printed=sensitivity(2 * (L**2 + 1)),
            items=("5.1/sentence-7", "F.4/sentence-1"),
        ),
        Claim(
            id="5.1/sentence-9:sensitivity",
            label=CLIP,
            where="Section 5.1, line 682, and Appendix F.4, line 1750",
            says="with gradients clipped to S_g/2 the sensitivity is at most S_g (λθ is the same for both records)",
            printed=sensitivity((S_g / 2) ** 2),
            items=("5.1/sentence-9", "F.4/sentence-3"),
        ),
        Claim(
            id="F.4/sentence-5:which-loss",
            label=CLIP,
            where="Appendix F.4, line 1761",
            says="the regularised loss ℓ_λ is β-smooth with β = (L² + 1)/2",
            printed=AtPoint(
                2 * Rational(1, 4) * 10 + Rational(1, 100),
                statement(SMOOTH).expr.subs(L, 3),
                Le,
                "two classes, p = (1/2, 1/2), ‖x‖ = L = 3, λ = 1/100: the curvature along (x̄, −x̄)",
            ),
            corrected=Certificate(
                w_variance + lam * Delta_2,
                statement(CLIP).expr * Delta_2,
                ((Integer(1), one_appended(plain_bounds()[1])),),
            ),  # w_variance is ⟨Δ, ∇²ℓ₀Δ⟩, Delta_2 is ‖Δ‖²
            correction="ℓ₀ is β-smooth, which is what the proof then uses; ℓ_λ is (β + λ)-smooth, as Section 5.1 says",
            items=("F.4/sentence-5",),
            consequence="text",
        ),
        Claim(
            id="F.4/sentence-5:convex-gradient",
            label=CLIP,
            where="Appendix F.4, line 1760",
            says="the gradient ∇ℓ₀ is convex",
            printed=AtPoint(
                Integer(0),
                diff(exp(Y) / (exp(Y) + 1) - 1, Y, 2).subs(Y, log(3)).simplify(),
                Le,
                "two classes, x = 0: first entry of ∇ℓ₀, second derivative in z_1 at z = (log 3, 0)",
            ),
            corrected=Identity(
                Derivative(-log(exp(z1) / (exp(z1) + exp(z2))), (z1, 2)),
                exp(z1) / (exp(z1) + exp(z2)) * exp(z2) / (exp(z1) + exp(z2)),
            ),
            correction="the loss ℓ₀ is convex, as the next line needs (two classes: ∂²ℓ₀/∂z_1² = p_1·p_2 > 0)",
            items=("F.4/sentence-5",),
            consequence="text",
        ),
    ]


def _clipping() -> list[Claim]:
    """The derivative of the clipped gradient and the bounds on it, in the plane of u = ∇ℓ₀ and w."""
    u, w = Matrix([a_u, b_v]), Matrix([w_max, w_min])
    projector = eye(2) - u * u.T / u.dot(u)
    # Moving θ moves u by w (the Hessian times the movement of θ), and the clipped gradient by this.
    moved = u + Y * w
    turned = diff(S_g / 2 * moved[0] / sqrt(moved.dot(moved)), Y).subs(Y, 0)
    image = projector * w
    clipped = clipped_hessian()
    active = (Gt(u.dot(u), 0),)
    shorter = S_g / 2 < W
    # Two classes, p = (p1, 1 − p1), y = e₁: ∇ℓ₀ and T in the scores.
    residual, pair = Matrix([p1 - 1, 1 - p1]), Matrix([p1, 1 - p1])
    flat = (eye(2) - residual * residual.T / residual.dot(residual)) * (Matrix.diag(*pair) - pair * pair.T)
    # P = (Mw)ᵀHw, E_w2 = (Mw)ᵀH(Mw), b2 = wᵀHw, W = ‖Mw‖², X = ‖w‖²; M_T = ‖H‖
    semidefinite, at_image, at_w, projects = E_w2 + b2 >= 2 * P, E_w2 <= M_T * W, b2 <= M_T * X, W <= X
    return [
        Claim(
            id="F.4/display-4:derivative",
            label=CLIP,
            where="Appendix F.4, lines 1769 and 1770",
            says="where clipping is active ∇g₀ = (S_g/2)/‖∇ℓ₀‖·M·∇²ℓ₀ (u moved by w, in their plane, first entry)",
            printed=Identity(turned, S_g / 2 / sqrt(u.dot(u)) * image[0], active),
            items=("F.4/display-3", "F.4/display-4"),
        ),
        Claim(
            id="F.4/sentence-8:projector",
            label=CLIP,
            where="Appendix F.4, line 1775",
            says="0 ⪯ M: wᵀMw is the square (u_1w_2 − u_2w_1)²/‖u‖² (in the plane of u and w)",
            printed=Identity((w.T * projector * w)[0], (a_u * w_min - b_v * w_max) ** 2 / u.dot(u), active),
            items=("F.4/sentence-7", "F.4/sentence-8"),
        ),
        Claim(
            id="F.4/sentence-8:below-identity",
            label=CLIP,
            where="Appendix F.4, line 1775",
            says="M ⪯ I: ‖w‖² − wᵀMw is the square (uᵀw)²/‖u‖² (in the plane of u and w)",
            printed=Identity(w.dot(w) - (w.T * projector * w)[0], u.dot(w) ** 2 / u.dot(u), active),
            items=("F.4/sentence-8",),
        ),
        Claim(
            id="F.4/sentence-9:shrinks",
            label=CLIP,
            where="Appendix F.4, line 1775",
            says="where ‖∇ℓ₀‖ > S_g/2, (S_g/2)/‖∇ℓ₀‖ < 1 (W stands for ‖∇ℓ₀‖)",
            printed=Positive(1 - S_g / 2 / W, (shorter,), {W: S_g / 2 + slack}),
            items=("F.4/sentence-9",),
        ),
        Claim(
            id="F.4/display-5:upper-half",
            label=CLIP,
            where="Appendix F.4, line 1777",
            says="∇g₀ ⪯ βI where clipping is active: wᵀ(M·H)w ≤ ‖H‖·‖w‖², as H ⪰ 0 at w − Mw, ‖H‖ bounds H at Mw and "
            "w, and ‖Mw‖ ≤ ‖w‖ (symmetric part; ‖H‖ ≤ β)",
            printed=Certificate(
                P,
                M_T * X,
                (*((Rational(1, 2), each) for each in (semidefinite, at_image, at_w)), (M_T / 2, projects)),
                (semidefinite, at_image, at_w, projects),
            ),
            items=("F.4/display-5",),
        ),
        Claim(
            id="F.4/display-5:product",
            label=CLIP,
            where="Appendix F.4, lines 1775 to 1777",
            says="0 ⪯ M ⪯ I and 0 ⪯ H ⪯ βI give 0 ⪯ M·H",
            printed=AtPoint(
                Integer(0),
                (Matrix([[2, -1]]) * Matrix([[0, 0], [0, 1]]) * Matrix([[3, 2], [2, 2]]) * Matrix([2, -1]))[0],
                Le,
                "M = diag(0, 1), H = ((3, 2), (2, 2)), w = (2, −1): wᵀMHw",
            ),
            corrected=Quotes(f"{CLIP}:active"),
            correction="a product of semi-definite matrices need not be; here it is at least −‖H‖/8 ≥ −(L² + 1)/16",
            items=("F.4/display-5",),
            consequence="argument",
        ),
        Claim(
            id="5/sentence-1:gradient-of-a-loss",
            label=CLIP,
            where="Section 5, line 645",
            says="DP-SGD is Algorithm 1 in other letters, so the clipped gradient is a gradient (symmetric Jacobian)",
            printed=AtPoint(
                Abs(clipped[0, 1] - clipped[1, 0]), Integer(0), Le, f"{POINT}: |J_12 − J_21| in the scores"
            ),
            corrected=Identity(sum(entry**2 for entry in flat), Integer(0), (p1 < 1,)),
            correction="for three or more classes the clipped field is no gradient of a loss; for two it is (P·T = 0)",
            items=("5/sentence-1",),
            consequence="argument",
        ),
    ]


def _algorithm() -> list[Claim]:
    deviation = sqrt(eta / 2) * (1 / b) * sigma_mul * (S_g / 2)
    u = Matrix([a_u, b_v, a])
    scaled = u / sqrt(u.dot(u)) * (S_g / 2)
    x, clip = theta, Integer(2)
    ridge = Rational(1, 100) * Matrix([100, 100])  # λθ for λ = 1/100, θ = (100, 100)
    gradient = Matrix([Rational(-1, 2), Rational(1, 2)])  # p − y at p = (1/2, 1/2), x̄ = 1
    regularised = gradient + ridge
    return [
        Claim(
            id="F.1/sentence-1:deviation",
            label=LOGISTIC,
            where="Appendix F.1, line 1639, and Section 5.2, line 714",
            says="noise √(2ησ²) with σ = √(η/2)·(1/b)·σ_mul·S_g/2 is the η·(1/b)·σ_mul·S_g/2 of Algorithm 2",
            printed=Identity(sqrt(2 * eta) * sigma, eta / b * sigma_mul * S_g / 2, by=(supposed(sigma, deviation),)),
            items=("F.1/sentence-1", "F.1/algorithm-10", "5.2/sentence-4"),
        ),
        Claim(
            id="F.1/sentence-2:plugged",
            label=LOGISTIC,
            where="Appendix F.1, line 1639, and Section 5.2, line 707",
            says="with that σ, αηS_g²/(4σ²b²) becomes 2α/σ_mul²",
            printed=Identity(
                alpha * ABBREVIATIONS[rho0], 2 * alpha / sigma_mul**2, by=(supposed(sigma2, deviation**2),)
            ),
            items=("F.1/sentence-2", "5.2/display-2"),
        ),
        Claim(
            id="5.2/sentence-4:step-size",
            label=LOGISTIC,
            where="Section 5.2, lines 699 and 714",
            says="η < 2/(λ + β) with β = (L² + 1)/2 + λ is η < 2/((L² + 1)/2 + 2λ)",
            printed=Identity(
                2 / (lam + beta), 2 / ((L**2 + 1) / 2 + 2 * lam), by=(supposed(beta, statement(CLIP).expr),)
            ),
            items=("5.2/sentence-3", "5.2/sentence-4"),
        ),
        Claim(
            id="5.2/sentence-3:normalisation",
            label=LOGISTIC,
            where="Section 5.2, line 699",
            says="the costs of normalising and of training add up to ε_norm + ε",
            printed=Cited(
                "Mironov 2017 (composition, the private output being the statistics normalised with)",
                Identity(
                    alpha * a**2 / (2 * v) + alpha * theta**2 / (2 * v),
                    alpha * Matrix([a, theta]).dot(Matrix([a, theta])) / (2 * v),
                ),
            ),
            items=("5.2/sentence-3",),
        ),
        Claim(
            id="F.1/algorithm-3:zero",
            label=LOGISTIC,
            where="Appendix F.1, line 1647",
            says="clipping by x/‖x‖·min{‖x‖, L} is defined for every feature vector: 1/‖x‖ is finite",
            printed=AtPoint(limit(1 / Abs(x), x, 0), oo, Lt, "x = 0: x/‖x‖ is 0/0"),
            corrected=AtPoint((1 / Max(1, Abs(x) / clip)).subs(x, 0), oo, Lt, "x = 0, L = 2: 1/max{1, ‖x‖/L}"),
            correction="x/max{1, ‖x‖/L} is the same elsewhere and defined at x = 0, which image data can contain",
            items=("F.1/algorithm-3",),
            consequence="formula",
        ),
        Claim(
            id="F.1/algorithm-8:which-gradient",
            label=LOGISTIC,
            where="Appendix F.1, line 1652",
            says="∇ℓ/‖∇ℓ₀‖·min{‖∇ℓ₀‖, S_g/2} has norm at most S_g/2 (ℓ the loss with its regulariser)",
            printed=AtPoint(
                regularised.dot(regularised) / gradient.dot(gradient) * gradient.dot(gradient),
                gradient.dot(gradient),
                Le,
                "two classes, x = 0, θ = (100, 100), λ = 1/100, S_g/2 = ‖∇ℓ₀‖ = √½: squares",
            ),
            corrected=Identity(scaled.dot(scaled), (S_g / 2) ** 2, (Gt(u.dot(u), 0),)),
            correction="the numerator is ∇ℓ₀(θ; x_i, y_i), over i in B^j: λθ is added in the next line, unclipped",
            items=("F.1/algorithm-8", "F.1/algorithm-9"),
            consequence="formula",
        ),
        Claim(
            id="F.1/algorithm-10:dimension",
            label=LOGISTIC,
            where="Appendix F.1, line 1654",
            says="the noise added to θ in R^((d+1)c) is N(0, I_d)",
            printed=AtPoint(
                (dim * classes + classes).subs({dim: 4, classes: 3}),
                Integer(4),
                Le,
                "d = 4, c = 3: entries of θ, of noise",
            ),
            corrected=Identity(dim * classes + classes, (dim + 1) * classes),
            correction="the identity has (d + 1)·c rows: d weights and one bias for each of c classes",
            items=("F.1/algorithm-10",),
            consequence="formula",
        ),
    ]


def _bound(label: str, epochs: int) -> tuple[Rational, Rational]:
    """Certified ends of a bound at the setting of the figures, α = 15."""
    run = Setting(n=50, b=2, K=epochs, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    found = statement(label).enclose(run, alpha=15)
    low, high = (Rational(*end.as_integer_ratio()) for end in (found.lo, found.hi))
    return low, high


def _conclusions() -> list[Claim]:
    figure = "n = 50, b = 2, η = 0.02, λ = 1, β = 4, σ = 2, S_g = 4, α = 15"
    linear = statement("thm:convexsmooth").expr
    constant = statement("lem:LSIseq_stronglyconvex").expr.subs({k: 0, j: i}, simultaneous=True)
    below = (q < 1,)
    settled = sign_on(1 / (1 - q**2), below, {q: 1 / (1 + p)})
    kink, step = Rational(1, 100), Rational(1, 2)  # ℓ = |θ| + θ²/2 at ±1/100, η = 1/2
    images = [point - step * (sign + point) for point, sign in ((kink, 1), (-kink, -1))]
    return [
        Claim(
            id="6/sentence-2:improves",
            label="thm:shuffle",
            where="Section 6, line 720",
            says="far below the earlier privacy dynamics bound, carried over to mini-batches (here over 100-fold)",
            printed=AtPoint(
                100 * _bound("thm:shuffle", 40)[1], _bound("thm:naive_RDP_baseline", 40)[0], Lt, f"{figure}, K = 40"
            ),
            items=("6/sentence-2",),
        ),
        Claim(
            id="6/sentence-3:many-epochs",
            label="thm:shuffle",
            where="Section 6, line 720",
            says="after many epochs the last-iterate bound is below composition …",
            printed=AtPoint(_bound("thm:shuffle", 40)[1], _bound("mironov2019", 40)[0], Lt, f"{figure}, K = 40"),
            items=("6/sentence-3",),
        ),
        Claim(
            id="6/sentence-3:few-epochs",
            label="thm:shuffle",
            where="Section 6, line 720",
            says="… and after very few composition is the smaller one",
            printed=AtPoint(_bound("mironov2019", 1)[1], _bound("thm:shuffle", 1)[0], Lt, f"{figure}, K = 1"),
            items=("6/sentence-3",),
        ),
        Claim(
            id="6/sentence-4:rate",
            label="mironov2019",
            where="Section 6, line 723",
            says="one sampled step can cost as little as O(b²/n²)",
            printed=Cited(
                "Wang, Balle & Kasiviswanathan 2019 (witness: Poisson sampling at order 2)",
                Identity(
                    (1 - rate) ** 2 + 2 * rate * (1 - rate) + rate**2 * exp(2 * rho0),
                    1 + rate**2 * (exp(2 * rho0) - 1),
                ),
            ),
            items=("6/sentence-4",),
        ),
        Claim(
            id="6/sentence-5:convexity",
            label="thm:convexsmooth",
            where="Section 6, line 725",
            says="without strong convexity this analysis gives no converging bound: each epoch adds αρ₀·b/n for ever",
            printed=Identity(linear.subs(K, K + 1) - linear, alpha * rho0 / N, (j0 < N,)),
            items=("6/sentence-5",),
        ),
        Claim(
            id="6/sentence-5:smoothness",
            label="lem:LSIseq_stronglyconvex",
            where="Section 6, line 725",
            says="and without smoothness the gradient step need not contract, as the analysis requires",
            printed=AtPoint(
                2 * kink, Abs(images[0] - images[1]), Lt, "ℓ = |θ| + θ²/2, η = 1/2, θ = ±1/100: distances before, after"
            ),
            items=("6/sentence-5",),
        ),
        Claim(
            id="6/sentence-6:constant",
            label="lem:LSIseq_stronglyconvex",
            where="Section 6, line 725",
            says="one log-Sobolev constant holds throughout (batches fixed, start from a point): 1/c ≤ 2ησ²/(1 − q²), "
            "after any number i of updates",
            printed=Certificate(
                1 / constant,
                2 * eta * sigma2 / (1 - q**2),
                ((2 * eta * sigma2 * q ** (2 * i), settled),),
                below,
            ),
            items=("6/sentence-6",),
        ),
    ]


def _tools() -> list[Claim]:
    generating = exp(s**2 * v / 2)  # E e^(sθ) under N(0, v)
    square = generating.subs(s, 2 * s)  # E g², g = e^(sθ)
    entropy = s * Derivative(square, s) - square * log(square)  # E[g²·2sθ] = s·∂_s E g²
    return [
        Claim(
            id="B/display-2:moment",
            label="lem:rootconvexity1",
            where="Appendix B, line 840",
            says="R_α takes the mean of (μ/ν)^α over the second law: its integrand is μ^α·ν^(1−α)",
            printed=Identity((mu / nu) ** alpha * nu, mu**alpha * nu ** (1 - alpha)),
            items=("B/display-2", "B/definition-2"),
        ),
        Claim(
            id="B/display-3:gaussian",
            label="lem:i_by_e_lower",
            where="Appendix B, line 849",
            says="with the factor 2/c, N(0, v) has c = 1/v as the lemmas use it: equality at g = e^(sθ) for every s",
            printed=Identity(entropy, 2 * v * s**2 * square),
            items=("B/display-3", "B/definition-3"),
        ),
        Claim(
            id="C/sentence-1:mixture",
            label="thm:naive_RDP_baseline",
            where="Appendix C, line 860",
            says="a mixture's log-Sobolev constant can be below its components', so bounds that use theirs are too low",
            printed=Cited(
                "Bakry, Gentil & Ledoux 2014: c ≤ 1/variance (witness: N(a, v), N(−a, v) mixed)",
                Positive(1 / v - 1 / (v + a2**2)),
            ),
            items=("C/sentence-1",),
        ),
    ]


def notes() -> list[Note]:
    loewner, lipschitz, same = f"{CLIP}/loewner", f"{CLIP}/lipschitz", "with the constants of the proposition"
    restated = [
        ("5.1/sentence-2", "what regularising, clipping features and clipping gradients are each for", lipschitz),
        ("5.1/proposition-1", "ℓ₀ is convex, Lipschitz and smooth", SMOOTH),
        ("5.1/sentence-5", "with features of norm at most L, ℓ₀ is (L² + 1)/2-smooth", SMOOTH),
        (
            "5.1/proposition-2",
            "λI ⪯ ∇g ⪯ (β + λ)I for the clipped, regularised gradient (θ' is named, not used)",
            loewner,
        ),
        ("5.1/display-5", "λI ⪯ ∇g ⪯ (β + λ)I", loewner),
        ("5.1/sentence-10", "clipped gradients keep smoothness and strong convexity", lipschitz),
        ("5.2/corollary-1", "the bound of thm:shuffle in terms of the noise multiplier", LOGISTIC),
        ("5.2/display-1", "thm:shuffle's expression, the cost of normalising apart", LOGISTIC),
        ("5.2/display-2", "the first-epoch bound with ρ₀ = 2/σ_mul²", LOGISTIC),
        ("5.2/sentence-4", f"the hypotheses of thm:shuffle are met, {same}", lipschitz),
        ("6/sentence-1", "the bound converges as the number of epochs grows", "thm:shuffle/first-term/1"),
        ("6/sentence-1", "and so for resampled batches, under a condition", "thm:amp_samp_wo_replacement/converges"),
        ("6/sentence-3", "when the last-iterate bound is the smaller one", "thm:shuffle/composition"),
        ("C/sentence-2", "the comparison is made with the naive baseline instead", "thm:naive_RDP_baseline"),
        ("F.1/algorithm-9", "g = g₀ + λθ", "F.1/algorithm-8:which-gradient"),
        ("F.3/sentence-1", "with features of norm at most L, ℓ₀ is (L² + 1)/2-smooth", SMOOTH),
        ("F.3/proposition-1", "repeats Proposition 5.1", SMOOTH),
        ("F.3/sentence-3", "T is positive semi-definite", "5.1/sentence-4:convex"),
        ("F.3/display-10", "Böhning's bound, T ⪯ ½(I − 11ᵀ/c)", SMOOTH),
        ("F.4/proposition-1", "repeats Proposition 5.2", loewner),
        ("F.4/display-1", "λI ⪯ ∇g ⪯ (β + λ)I", loewner),
        ("F.4/sentence-4", "clipped gradients keep smoothness and strong convexity", lipschitz),
        ("F.4/sentence-6", "0 ⪯ ∇²ℓ₀ ⪯ βI", "F.3/sentence-4:range"),
        ("F.4/display-2", "0 ⪯ ∇²ℓ₀ ⪯ βI", "F.3/sentence-4:range"),
        ("F.4/display-5", "0 ⪯ ∇g₀ ⪯ βI (where ‖∇ℓ₀‖ ≠ S_g/2; printed without the index 0)", loewner),
        ("F.4/display-6", "λI ⪯ ∇g ⪯ (β + λ)I", loewner),
    ]
    defined = [
        ("5.1/sentence-1", "records are a feature vector in R^d and a one-hot label of c classes"),
        ("5.1/display-2", "the cross-entropy of the softmax of x̄ᵀθ_1, …, x̄ᵀθ_c"),
        ("5.1/sentence-3", "x̄ is the feature vector with a 1 appended; y the label vector"),
        ("5.1/sentence-8", "the gradient of ℓ₀, clipped to norm S_g/2"),
        ("6/sentence-9", "the first rows of the table of symbols"),
        ("A/sentence-1", "S_g is the sensitivity of the sum of gradients (Algorithm 1's g is the mean: S_g/b)"),
        ("A/sentence-2", "(ε, δ)-differential privacy, and the table's last rows (where the norm bars are missing)"),
        ("B/definition-1", "(ε, δ)-differential privacy; neighbours have one record replaced"),
        ("B/display-1", "the inequality of (ε, δ)-differential privacy"),
        ("B/sentence-1", "(α, ε)-Rényi differential privacy, α > 1"),
        ("B/sentence-2", "the log-Sobolev inequality with constant c"),
        ("F.1/algorithm-1", "inputs of Algorithm 2 (λ and K, which it uses, are not among them)"),
        ("F.1/algorithm-4", "the start is drawn from p₀, which does not depend on the data"),
        ("F.1/algorithm-5", "batches are a random partition of the indices, drawn once"),
        ("F.1/algorithm-6", "K epochs"),
        ("F.1/algorithm-7", "n/b updates in each"),
        ("F.1/algorithm-11", "an epoch starts where the one before ended"),
        ("F.1/algorithm-12", "only the last iterate is released"),
        ("F.2/display-2", "the cross-entropy of the softmax of x̄ᵀθ_1, …, x̄ᵀθ_c, again"),
        ("F.2/sentence-1", "x̄ and y, again"),
        ("F.4/sentence-2", "the clipped gradient, again"),
    ]
    attributed = [
        ("5.2/sentence-1", "the accountant assumes Poisson sampling", "Abadi et al. 2016, Mironov et al. 2019"),
        ("5.2/sentence-2", "shuffling amplifies, in order, as Poisson sampling does", "Feldman et al. 2022"),
        (
            "6/sentence-4",
            "the work on sampling is Balle et al. 2018, not 2019 (mixing, diffusion)",
            "Balle et al. 2018",
        ),
        ("6/sentence-7", "convex losses on a bounded domain", "Altschuler & Talwar 2022"),
        ("C/sentence-1", "the assumption is said to be in Lemma 3.3, then in Lemma 3.4", "Ryffel et al. 2022"),
        (
            "F.1/algorithm-2",
            "private statistics to normalise with (Section 2.3 here, 2.2 in F.3)",
            "Tramèr & Boneh 2021",
        ),
    ]
    return [
        *(Note(item, "restates", says, of) for item, says, of in restated),
        *(Note(item, "definition", says) for item, says in defined),
        *(Note(item, "attributes", says, of) for item, says, of in attributed),
        Note("6/sentence-8", "opinion", "whether convexity and smoothness can be relaxed is open"),
    ]
