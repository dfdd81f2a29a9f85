"""Claims in the text around `thm:amp_samp_wo_replacement`."""

from __future__ import annotations

from sympy import Integer, Lt, Rational, exp

from hsdp_symbolic.proof.checks import AtPoint
from hsdp_symbolic.symbols import alpha, rate, rho0

from ..claim import Claim, Group
from ..quotes import Quotes


def groups() -> tuple[Group, ...]:
    return (_convergence,)


def _convergence() -> list[Claim]:
    hit = rate * exp(alpha * (alpha - 1) * rho0)
    figure = {rate: Rational(1, 25), rho0: Rational(1, 200)}
    return [
        Claim(
            id="thm:amp_samp_wo_replacement/converges",
            consequence="text",
            label="thm:amp_samp_wo_replacement",
            where="Section 4.2, after the theorem",
            says="a converging bound even for an infinite number of epochs (so p·e^(α(α−1)ρ₀) < 1, for every order)",
            printed=AtPoint(hit.subs(figure).subs(alpha, 60), Integer(1), Lt, "figure setting, α = 60"),
            corrected=Quotes("thm:amp_samp_wo_replacement:limit"),
            correction="only if p·e^(α(α−1)ρ₀) < 1: then it stays below thm:amp_samp_wo_replacement:limit",
        )
    ]
