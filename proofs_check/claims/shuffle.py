"""Claims in the text around `lem:rootconvexity1` and `thm:shuffle`."""

from __future__ import annotations

from sympy import Le, Lt, Rational, exp

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.checks import AtPoint, Certificate, Identity, Slack
from hsdp_symbolic.nodes import GeometricSum
from hsdp_symbolic.symbols import R1, R2, alpha, j, mu, nu, p

from ..ledger import Claim

FIGURE = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)


def claims() -> list[Claim]:
    return [_density(), _footnote(), _bernoulli(), _composition()]


def _density() -> Claim:
    return Claim(
        id="lem:rootconvexity1/moment",
        label="lem:rootconvexity1",
        where="Appendix E, first display",
        says="the integrand of e^((α−1)R_α) is (μ/ν)^α·μ",
        printed=Identity(mu**alpha * nu ** (1 - alpha), (mu / nu) ** alpha * mu),
        corrected=Identity(mu**alpha * nu ** (1 - alpha), (mu / nu) ** alpha * nu),
        correction="the integrand is (μ/ν)^α·ν",
    )


def _footnote() -> Claim:
    """For an average of two; compared after exponentiation, so that no logarithm has to be rearranged."""
    truth = (exp((alpha - 1) * R1) + exp((alpha - 1) * R2)) / 2
    shifted = (1 + exp((alpha - 1) * (R2 - R1))) / 2
    return Claim(
        id="thm:shuffle/shifted-sum",
        label="thm:shuffle",
        where="footnote to Figure 2",
        says="the second term equals ε₀¹ + log Avg e^((α−1)(ε₀^(n/b−j0) − ε₀¹))",
        printed=Identity(truth, exp((alpha - 1) * R1) * shifted ** (alpha - 1)),
        corrected=Identity(truth, exp((alpha - 1) * R1) * shifted),
        correction="the logarithm needs a factor 1/(α−1)",
    )


def _bernoulli() -> Claim:
    x = 1 / (1 + p)  # any 0 < x < 1
    return Claim(
        id="thm:shuffle/bernoulli",
        label="thm:shuffle",
        where="Appendix E.1, explanation of the first term",
        says="(1−x)^a ≤ 1 − ax for x > 0 and a ≥ 1",
        printed=AtPoint((1 - Rational(1, 2)) ** 2, 1 - 2 * Rational(1, 2), Le, "x = 1/2, a = 2"),
        corrected=Certificate(
            1 - j * x,
            (1 - x) ** j,
            ((x, Slack(j - GeometricSum(1 - x, j), "a sum of j powers of 1 − x ≤ 1")),),
        ),
        correction="Bernoulli's inequality is the other way round",
    )


def _composition() -> Claim:
    """Certified by enclosures on both sides of the comparison."""
    outside = Setting(n=3, b=1, K=5, eta="0.51", lam=1, beta=1, sigma_squared=250, S_g=1)

    def against(run: Setting, order: int, *, above: bool) -> tuple[Rational, Rational]:
        ours, theirs = (statement(label).enclose(run, alpha=order) for label in ("thm:shuffle", "mironov2019"))
        ends = (ours.lo, theirs.hi) if above else (ours.hi, theirs.lo)
        return Rational(*ends[0].as_integer_ratio()), Rational(*ends[1].as_integer_ratio())

    return Claim(
        id="thm:shuffle/composition",
        label="thm:shuffle",
        where="Section 4.1 and Appendix E.1",
        says="thm:shuffle is strictly smaller than the composition bound after 1/(λη) + n/b epochs",
        printed=AtPoint(
            *against(outside, 200, above=True), Lt, "n/b = 3, η = 0.51, λ = β = S_g = b = 1, σ² = 250, α = 200, K = 5"
        ),
        corrected=AtPoint(*against(FIGURE.replace(K=75), 15, above=False), Lt, "figure setting, α = 15, K = 75"),
        correction="not in general; it holds at the figure setting",
    )
