"""Clipped softmax regression: the proposition as printed fails for three classes, exactly."""

from __future__ import annotations

from sympy import Le, Matrix, Rational, eye

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.proof.checks import AtPoint
from hsdp_symbolic.symbols import beta0, eta, lam0

from ..claim import Claim, Group
from ..quotes import Quotes

EXPANDS = "clip:convex"
POINT = "p = (1/50, 41/50, 8/50), y = (1, 0, 0)"


def clipped_hessian(*thousandths: int) -> Matrix:
    """P·T for p (unless given, that point's), y = e₁: the Jacobian of a clipped gradient, up to a positive factor."""
    prob, label = Matrix([Rational(each, 1000) for each in thousandths or (20, 820, 160)]), Matrix([1, 0, 0])
    residual = prob - label
    hessian = Matrix.diag(*prob) - prob * prob.T
    return (eye(3) - residual * residual.T / residual.dot(residual)) * hessian


def groups() -> tuple[Group, ...]:
    return (_three_classes,)


def _three_classes() -> list[Claim]:
    two_classes = Quotes("prop:smooth_strcvx_clip")
    direction = Matrix([3, -2, -1])
    # L = 3, so ‖x̄‖² = 10; λ = 1/100; the clip norm is 999/1000 of the gradient's; η < 2/(2λ + β) = 2/5.02.
    rate, decay, shrink, norm2 = Rational(35857, 100000), Rational(1, 100), Rational(999, 1000), 10
    update = (1 - rate * decay) * eye(3) - rate * shrink * norm2 * clipped_hessian()
    stretched = Matrix([15, -12, -3])
    moved = update * stretched
    return [
        Claim(
            id="prop:smooth_strcvx_clip/loewner",
            consequence="result",
            label="prop:smooth_strcvx_clip",
            where="Proposition 5.2 and Appendix F.4",
            says="0 ⪯ ∇g₀ for clipped softmax gradients, for any number of classes",
            printed=AtPoint(
                Rational(0), (direction.T * clipped_hessian() * direction)[0], Le, f"{POINT}, w = (3, −2, −1)"
            ),
            corrected=two_classes,
            correction="holds for two classes, and where clipping never bites",
        ),
        Claim(
            id="prop:smooth_strcvx_clip/lipschitz",
            consequence="result",
            label="prop:smooth_strcvx_clip",
            where="Proposition 5.2, as used in cor:logistic",
            says="θ − ηg(θ) is (1−ηλ)-Lipschitz for η < 2/(2λ+β), for any number of classes",
            printed=AtPoint(
                moved.dot(moved),
                (1 - rate * decay) ** 2 * stretched.dot(stretched),
                Le,
                f"{POINT}, L = 3, λ = 1/100, η = 0.35857, clip norm 0.999 of the gradient's",
            ),
            corrected=Quotes(EXPANDS),
            correction="holds for two classes, and where clipping never bites; for any number of classes the constant "
            "is (1−ηλ)/√(1 − η(L²+1)/8(1−ηλ)) for short steps, and no smaller one holds for all losses as smooth",
        ),
        _two_batches(),
    ]


def _two_batches() -> Claim:
    """A shift of norm ηS_g/b, then one update on copies of one clipped record; small noise, so the update is linear.

    With A its matrix and v the direction, R_α is αρ₀·(Av)ᵀ(I + AAᵀ)⁻¹Av/|v|². L = 100 and η = 0.99·4/(L² + 1), so
    η‖x̄‖² = 3.96; ηλ = 1/10000; the clip norm is 999/1000 of the gradient's.
    """
    q, norm2, step = 1 - Rational(1, 10**4), 100**2 + 1, Rational(396, 100)
    run = {eta: step / norm2, lam0: (1 - q) * norm2 / step, beta0: Rational(norm2, 2)}
    expands = statement(EXPANDS).expr.subs(run) ** 2
    update = q * eye(3) - step * Rational(999, 1000) * clipped_hessian(1, 692, 307)
    direction = Matrix([73, -69, -4])
    moved = update * direction
    divergence = (moved.T * (eye(3) + update * update.T).inv() * moved)[0] / direction.dot(direction)
    return Claim(
        id="cor:logistic/fixed-order",
        consequence="result",
        label="cor:logistic",
        where="Corollary 5.3, through thm:strconvexsmooth for the first of two batches",
        says="with the constants claimed for clipped softmax, R_α ≤ αρ₀·q²/(1+q²) after one epoch (here over αρ₀)",
        printed=AtPoint(
            divergence,
            q**2 / (1 + q**2),
            Le,
            "p = (0.001, 0.692, 0.307), y = (1, 0, 0), L = 100, ηλ = 1/10000, η = 3.96/(L²+1), v = (73, −69, −4)",
        ),
        corrected=AtPoint(divergence, expands / (1 + expands), Le, "the same, with c of clip:convex: c²/(1 + c²)"),
        correction="proved for two classes, and where clipping never bites; for three the divergence is 0.542·αρ₀ "
        "here, against 0.49995·αρ₀ claimed and 0.665·αρ₀ with the Lipschitz constant that is proved for any number",
    )
