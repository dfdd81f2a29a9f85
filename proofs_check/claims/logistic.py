"""Clipped softmax regression: the proposition as printed fails for three classes, exactly."""

from __future__ import annotations

from sympy import Le, Matrix, Rational, eye

from hsdp_symbolic import statement
from hsdp_symbolic.checks import AtPoint, Check

from ..ledger import Claim

POINT = "p = (1/50, 41/50, 8/50), y = (1, 0, 0)"


def clipped_hessian() -> Matrix:
    """P·T for that p and y: the Jacobian of a clipped gradient in the scores, up to a positive factor."""
    prob, label = Matrix([Rational(1, 50), Rational(41, 50), Rational(8, 50)]), Matrix([1, 0, 0])
    residual = prob - label
    hessian = Matrix.diag(*prob) - prob * prob.T
    return (eye(3) - residual * residual.T / residual.dot(residual)) * hessian


def claims() -> list[Claim]:
    two_classes: Check = statement("prop:smooth_strcvx_clip").steps[0].check
    direction = Matrix([3, -2, -1])
    # L = 3, so ‖x̄‖² = 10; λ = 1/100; the clip norm is 999/1000 of the gradient's; η < 2/(2λ + β) = 2/5.02.
    eta, lam, shrink, norm2 = Rational(35857, 100000), Rational(1, 100), Rational(999, 1000), 10
    update = (1 - eta * lam) * eye(3) - eta * shrink * norm2 * clipped_hessian()
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
                (1 - eta * lam) ** 2 * stretched.dot(stretched),
                Le,
                f"{POINT}, L = 3, λ = 1/100, η = 0.35857, clip norm 0.999 of the gradient's",
            ),
            corrected=two_classes,
            correction="holds for two classes, and where clipping never bites",
        ),
    ]
