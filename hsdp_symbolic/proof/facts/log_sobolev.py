"""Log-Sobolev inequalities: how the constant of a law changes."""

from __future__ import annotations

from sympy import Integer, S

from ...symbols import factor, inverse, noise_2, start, steps
from ..kernel import Fact
from ..propositions import From, Less, Lipschitz, LogSobolev, Mapped, Noised
from .definitions import GIVEN, PAIR, RUN

VEMPALA = "Vempala & Wibisono 2019"

lsi_point = Fact(
    "lsi_point",
    VEMPALA,
    (),
    LogSobolev(From(RUN, start, Integer(0)), Integer(0)),
    "a point satisfies the inequality with every constant",
)
lsi_push_forward = Fact(
    "lsi_push_forward",
    VEMPALA,
    (Lipschitz(GIVEN, factor), LogSobolev(From(GIVEN, start, steps), inverse)),
    LogSobolev(Mapped(From(GIVEN, start, steps)), factor**2 * inverse),
    "an L-Lipschitz map divides the constant c by at most L² (one map: a mixture of maps may do worse)",
)
lsi_convolution = Fact(
    "lsi_convolution",
    VEMPALA,
    (LogSobolev(PAIR, inverse), Less(S.Zero, noise_2)),
    LogSobolev(Noised(PAIR, noise_2), inverse + noise_2),
    "1/c of two independent laws adds up; N(0, vI) has 1/c = v",
)
