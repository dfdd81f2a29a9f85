"""Claims in the text around `lem:rootconvexity1` and `thm:shuffle`."""

from __future__ import annotations

from sympy import Le, Rational, exp

from hsdp_symbolic.proof.checks import AtPoint, Certificate, Identity
from hsdp_symbolic.proof.kernel import substitute
from hsdp_symbolic.proof.search import given
from hsdp_symbolic.symbols import R1, R2, alpha, i, j, mu, nu, q

from ..claim import Claim, Group
from ..lemmas import BELOW_ONE, at_most_count


def groups() -> tuple[Group, ...]:
    return (_around_the_theorem,)


def _around_the_theorem() -> list[Claim]:
    return [_density(), _footnote(), _bernoulli()]


def _density() -> Claim:
    return Claim(
        id="lem:rootconvexity1/moment",
        consequence="formula",
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
        consequence="formula",
        label="thm:shuffle",
        where="footnote to Figure 2",
        says="the second term equals ε₀¹ + log Avg e^((α−1)(ε₀^(n/b−j0) − ε₀¹))",
        printed=Identity(truth, exp((alpha - 1) * R1) * shifted ** (alpha - 1)),
        corrected=Identity(truth, exp((alpha - 1) * R1) * shifted),
        correction="the logarithm needs a factor 1/(α−1)",
    )


def _bernoulli() -> Claim:
    return Claim(
        id="thm:shuffle/bernoulli",
        consequence="argument",
        label="thm:shuffle",
        where="Appendix E.1, explanation of the first term",
        says="(1−x)^a ≤ 1 − ax for x > 0 and a ≥ 1",
        printed=AtPoint((1 - Rational(1, 2)) ** 2, 1 - 2 * Rational(1, 2), Le, "x = 1/2, a = 2"),
        corrected=Certificate(
            1 - j * (1 - q),
            q**j,
            ((BELOW_ONE, substitute(at_most_count(q, given(BELOW_ONE)), {i: j})),),
            (BELOW_ONE,),
        ),
        correction="Bernoulli's inequality is the other way round (here for whole a = j and 0 < x = 1 − q < 1)",
    )
