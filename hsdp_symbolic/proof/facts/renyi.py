"""Rényi divergence: data processing, the Gaussian mechanism, composition."""

from __future__ import annotations

from sympy import Integer, S

from ...symbols import cost_1, cost_2, distance, further, noise_2, start, steps
from ..kernel import Fact
from ..propositions import Apart, Every, From, Less, Mapped, Noised, PerOrder, Unused
from .definitions import BATCHES, DESCENT, FRESH, HERE, PAIR

VAN_ERVEN = "van Erven & Harremoës 2014"
MIRONOV = "Mironov 2017"

data_processing = Fact(
    "data_processing",
    VAN_ERVEN,
    (Unused(BATCHES, start + steps), PerOrder(HERE, cost_1)),
    PerOrder(Mapped(HERE), cost_1),
    "one and the same map, applied to both laws, does not raise the divergence",
)
noise_processing = Fact(
    "noise_processing",
    VAN_ERVEN,
    (PerOrder(PAIR, cost_1), Less(S.Zero, noise_2)),
    PerOrder(Noised(PAIR, noise_2), cost_1),
    "data processing: the same independent noise, added to both laws, does not raise the divergence",
)
gaussian_mechanism = Fact(
    "gaussian_mechanism",
    VAN_ERVEN,
    (Apart(DESCENT, distance), Less(S.Zero, noise_2)),
    PerOrder(Noised(Mapped(From(DESCENT, start, Integer(0))), noise_2), distance**2 / (2 * noise_2)),
    "R_a of N(x, vI) from N(y, vI) is a‖x − y‖²/(2v)",
)
composition = Fact(
    "composition",
    MIRONOV,
    (PerOrder(From(FRESH, start, steps), cost_1), PerOrder(From(FRESH, start + steps, further), cost_2)),
    PerOrder(From(FRESH, start, steps + further), cost_1 + cost_2),
    "batches of earlier steps say nothing of those of later ones: what later steps cost from the worst point is added; "
    "the iterates in between may even be seen",
)
composition_within = Fact(
    "composition_within",
    MIRONOV,
    (
        PerOrder(From(FRESH, start, steps), cost_1),
        PerOrder(Noised(Mapped(From(FRESH, start + steps, Integer(0))), noise_2), cost_2),
    ),
    PerOrder(Noised(Mapped(From(FRESH, start, steps)), noise_2), cost_1 + cost_2),
    "the same, for part of the noise of a step",
)
composition_seen = Fact(
    "composition_seen",
    MIRONOV,
    (PerOrder(Every(FRESH, steps), cost_1), PerOrder(From(FRESH, steps, Integer(1)), cost_2)),
    PerOrder(Every(FRESH, steps + 1), cost_1 + cost_2),
    "each step costs what it costs from the worst point, given all iterates before it",
)
