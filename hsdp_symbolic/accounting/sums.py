"""Rényi divergences of one order added up, for each part the least of its bounds at that order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import HsdpError
from ..evaluate.enclosure import Enclosure
from .bounds import RenyiBound

if TYPE_CHECKING:
    from ..setting.arrays import Array


@dataclass(frozen=True)
class Sum:
    """Σ count·R_α, for each part the least of its bounds at that order."""

    parts: tuple[tuple[int, tuple[RenyiBound, ...]], ...]

    def choices(self, alpha: Fraction, /) -> Mapping[str, Fraction]:
        """None to be told: each part makes its own."""
        return {}

    @property
    def same_laws(self) -> bool:
        return all(bound.same_laws for _, bounds in self.parts for bound in bounds)

    @property
    def sampled(self) -> bool:
        return any(bound.sampled for _, bounds in self.parts for bound in bounds)

    @property
    def integrated(self) -> bool:
        return any(bound.integrated for _, bounds in self.parts for bound in bounds)

    @property
    def at_whole_orders(self) -> bool:
        return any(bound.at_whole_orders for _, bounds in self.parts for bound in bounds)

    @property
    def sketched(self) -> bool:
        return any(bound.sketched for _, bounds in self.parts for bound in bounds)

    def enclose(self, alpha: Fraction, /) -> Enclosure:
        found = [(count, least_of(bounds, alpha)[1]) for count, bounds in self.parts]
        nothing = Fraction(0)
        return Enclosure(sum((c * R.lo for c, R in found), nothing), sum((c * R.hi for c, R in found), nothing))

    def numeric(self, alphas: Array, /) -> Array:
        import numpy as np

        total = np.zeros(alphas.shape)
        for count, bounds in self.parts:
            total += count * np.minimum.reduce([bound.numeric(alphas) for bound in bounds])
        return total


def least_of(bounds: Sequence[RenyiBound], alpha: Fraction) -> tuple[str, Enclosure]:
    """The least upper bound at one order, among those that hold there."""
    found, refused = [], None
    for bound in bounds:
        try:
            found.append((bound.label, bound.enclose(alpha)))
        except HsdpError as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return min(found, key=lambda pair: pair[1].hi)
