"""From a Rényi divergence to (ε, δ)."""

from __future__ import annotations

from sympy import S, exp, log

from ...symbols import cost_1, e_s, epsilon_1, epsilon_2, factor, order
from ..kernel import Fact
from ..propositions import AtMost, DeltaAtMost, EpsilonAtMost, Equal, Less, Renyi
from .definitions import PAIR

expectation_of_tail = Fact(
    "expectation_of_tail",
    "Rudin 1976, Principles of Mathematical Analysis",
    (
        AtMost(1 - e_s, factor * e_s ** (1 - order)),
        AtMost(S.Zero, factor),
        Less(S.One, order),
        Renyi(PAIR, order, epsilon_1),
    ),
    DeltaAtMost(PAIR, epsilon_2, factor * exp((order - 1) * (epsilon_1 - epsilon_2))),
    "∫(μ − e^ε·ν)₊ is the mean under μ of (1 − w)₊ with w = e^ε·ν/μ, and that of w^(1−a) is e^(−(a−1)ε)·∫μ^a·ν^(1−a); "
    "what is at most another function everywhere has at most its mean",
    eigen=(e_s,),
)
epsilon_of_delta = Fact(
    "epsilon_of_delta",
    "",
    (DeltaAtMost(PAIR, epsilon_1, cost_1),),
    EpsilonAtMost(PAIR, cost_1, epsilon_1),
    "μ − e^ε·ν, and its positive part, falls with ε",
)
power_by_logarithm = Fact(
    "power_by_logarithm",
    "",
    (Less(S.Zero, factor),),
    Equal(factor**order, exp(order * log(factor))),
    "what a power of a positive number is",
)
