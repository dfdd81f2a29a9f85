"""Gaussians on the line: what affine maps and noise do to them, and how far apart two of them are."""

from __future__ import annotations

from sympy import Derivative, Integer, S

from ...symbols import (
    cost_1,
    cost_2,
    count,
    distance,
    epoch,
    factor,
    inverse,
    noise_1,
    noise_2,
    order,
    place,
    start,
    steps,
    theta,
    x_i,
)
from ..kernel import Fact
from ..propositions import (
    AffineSteps,
    AtMost,
    Equal,
    EveryStep,
    From,
    GaussianLaws,
    GradientSteps,
    InOrder,
    Less,
    Mapped,
    Noised,
    QuadraticLosses,
    RenyiEquals,
    Unused,
    Used,
)
from .definitions import BATCHES, DESCENT, HERE, NEXT, PAIR, RUN
from .renyi import VAN_ERVEN

_GAP, _VARIANCE, _STEP, _CONVEXITY, _SIZE = cost_1, inverse, noise_2, cost_1, cost_2

used_in_turn = Fact(
    "used_in_turn",
    "",
    (AtMost(place, count - 1),),
    Used(InOrder(count, place), count * epoch + place),
    "in every epoch the record's own batch holds it",
)
used_every_time = Fact("used_every_time", "", (), Used(EveryStep(), steps), "the full batch holds every record")
affine_update = Fact(
    "affine_update",
    "",
    (
        GradientSteps(RUN, _STEP),
        QuadraticLosses(RUN, _CONVEXITY, distance, _SIZE),
        Equal(theta - _STEP * Derivative(_CONVEXITY * theta**2 / 2 - x_i * theta, theta), factor * theta + _STEP * x_i),
    ),
    AffineSteps(RUN, factor, _STEP * distance / _SIZE),
    "the mean loss of a batch is the loss at its mean x, which differs by distance/size if the record is in it",
    eigen=(theta, x_i),
)
gaussian_point = Fact(
    "gaussian_point",
    "",
    (),
    GaussianLaws(From(RUN, start, Integer(0)), Integer(0), Integer(0)),
    "both runs start at the same point",
)
gaussian_mapped = Fact(
    "gaussian_mapped",
    "",
    (AffineSteps(DESCENT, factor, distance), Unused(BATCHES, start + steps), GaussianLaws(HERE, _GAP, _VARIANCE)),
    GaussianLaws(Mapped(HERE), factor * _GAP, factor**2 * _VARIANCE),
    "f·X + c has mean f·E X + c and variance f²·Var X",
)
gaussian_mapped_apart = Fact(
    "gaussian_mapped_apart",
    "",
    (AffineSteps(DESCENT, factor, distance), Used(BATCHES, start + steps), GaussianLaws(HERE, _GAP, _VARIANCE)),
    GaussianLaws(Mapped(HERE), factor * _GAP + distance, factor**2 * _VARIANCE),
    "the same, with two c that differ by `distance`",
)
gaussian_noised = Fact(
    "gaussian_noised",
    "",
    (GaussianLaws(PAIR, _GAP, _VARIANCE), Less(S.Zero, noise_2)),
    GaussianLaws(Noised(PAIR, noise_2), _GAP, _VARIANCE + noise_2),
    "means and variances of independent Gaussians add up",
)
update_gaussian = Fact(
    "update_gaussian",
    "",
    (GaussianLaws(Noised(Mapped(HERE), noise_1), _GAP, _VARIANCE),),
    GaussianLaws(NEXT, _GAP, _VARIANCE),
    "a step is its update map, then its noise",
)
gaussian_divergence = Fact(
    "gaussian_divergence",
    VAN_ERVEN,
    (GaussianLaws(PAIR, _GAP, _VARIANCE), Less(S.Zero, _VARIANCE), Less(S.One, order)),
    RenyiEquals(PAIR, order, order * _GAP**2 / (2 * _VARIANCE)),
    "R_a of N(x, v) from N(y, v) is a(x − y)²/(2v)",
)
