"""Bounds of others that the paper compares with, and an inequality on one of them."""

from __future__ import annotations

from sympy import Integer, S, exp, log

from ...functions.sampled_gaussian import SampledGaussian
from ...meaning import Neighbouring
from ...symbols import (
    base,
    convexity,
    cost_1,
    count,
    distance,
    epoch,
    further,
    noise_1,
    order,
    place,
    rate,
    s_unit,
    smoothness,
    start,
    step_size,
    t_tilt,
)
from ..kernel import Fact
from ..propositions import (
    Apart,
    AtMost,
    Descent,
    EachByItself,
    Equal,
    From,
    GradientSteps,
    InOrder,
    Less,
    LossesBetween,
    PerOrder,
    Renyi,
)

_PASS = Descent(InOrder(count, place), noise_1)
_POISSON = Descent(EachByItself(rate), noise_1, Neighbouring.ADD_REMOVE)

mixing_and_diffusion = Fact(
    "mixing_and_diffusion",
    "Balle et al. 2019, Theorem 5",
    (
        GradientSteps(_PASS, step_size),
        LossesBetween(_PASS, convexity, smoothness),
        Less(S.Zero, convexity),
        AtMost(convexity, smoothness),
        Less(S.Zero, step_size),
        AtMost(step_size, 2 / (convexity + smoothness)),
        Equal(base, 1 - 2 * step_size * smoothness * convexity / (smoothness + convexity)),
        Apart(_PASS, distance),
        Less(S.Zero, noise_1),
        AtMost(S.One, further),
        AtMost(further, count - 1),
    ),
    PerOrder(
        From(_PASS, count * epoch + place, further + 1),
        distance**2 / (2 * noise_1) / further * base ** ((further + 1) / Integer(2)),
    ),
    "one pass: the record is used in the first of these steps only; 2L²/σ² in their letters is distance²/(2v)",
)
sampled_gaussian = Fact(
    "sampled_gaussian",
    "Mironov, Talwar & Zhang 2019",
    (
        Apart(_POISSON, distance),
        Equal(cost_1, distance**2 / (2 * noise_1)),
        Less(S.Zero, noise_1),
        AtMost(rate, S.One),
        Less(S.One, order),
    ),
    Renyi(From(_POISSON, start, Integer(1)), order, SampledGaussian(rate, cost_1, order) / (order - 1)),
    "the worst case is N(0, v) against (1 − p)·N(0, v) + p·N(distance, v), in this direction",
)
sampled_gaussian_at_least = Fact(
    "sampled_gaussian_at_least",
    "Rudin 1976, Principles of Mathematical Analysis (Hölder's inequality)",
    (Less(S.One, order), AtMost(rate, S.One)),
    AtMost(
        order * (((order - 1) * t_tilt) ** 2 / 2 + log(1 - rate + rate * exp((order - 1) * t_tilt * s_unit)))
        - (order - 1) * (order * t_tilt) ** 2 / 2,
        SampledGaussian(rate, s_unit**2 / 2, order),
    ),
    "for Q = N(0, 1) and P = (1 − p)·Q + p·N(s, 1) the moment is E_Q (P/Q)^a, and Hölder bounds E_Q (P/Q)·e^((a−1)tx); "
    "the mean of e^(cx) under N(m, 1) is e^(cm + c²/2)",
)
