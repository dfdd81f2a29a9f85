"""Independent shifts of Gaussians: costs add up exactly."""

from __future__ import annotations

from collections.abc import Iterator

from ...symbols import epsilon_1, epsilon_2
from ..facts.epochs import composition_at_one_order
from ..kernel import Fact
from . import witness


@witness(composition_at_one_order)
def _composition(fact: Fact) -> Iterator[bool]:
    for first, second in ((1, 2), (3, 0)):  # at order 2, with unit variance, a shift s costs s²
        put = {epsilon_1: first**2, epsilon_2: second**2}
        yield bool(first**2 + second**2 <= fact.conclusion.value.subs(put))
