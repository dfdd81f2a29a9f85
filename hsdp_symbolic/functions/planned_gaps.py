"""`PlannedGaps`: what it costs to hide every hit before the next one, one hit an epoch in the places that a plan says.

A plan is a number from 1 to batches^epochs: the record is in the batches that are the digits of plan − 1 to the base
`batches` (`PlannedPlace`). A hit with g steps up to the next one, or to the end, costs 1/Σ_(s<g) factor^(−2s).
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from .geometric import GeometricSum
from .interface import BoundFunction, must_count
from .planned_shifts import PlannedPlace


def share(factor: Expr, gap: Expr) -> Expr:
    """What it costs to hide a hit in so many steps, in units of one that hides it all at once."""
    return 1 / GeometricSum(factor**-2, gap)


class PlannedGapsBefore(BoundFunction):
    """What the hits of the first so many epochs cost, the next hit being in the epoch after these."""

    nargs = 5  # factor, batches, epochs, plan, epoch
    only_in_proofs = True
    normalised = (4,)
    is_nonnegative = True

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        return S.Zero if args[-1].is_zero else None

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """One epoch more."""
        factor, batches, epochs, plan, epoch = self.args
        must_count(epoch)
        here, following = (PlannedPlace(batches, epochs, epochs, plan, at) for at in (epoch, epoch + 1))
        more = self.func(factor, batches, epochs, plan, epoch + 1)
        return ((more, self + share(factor, batches - here + following)),)


class PlannedGaps(BoundFunction):
    """What all hits cost."""

    nargs = 4  # factor, batches, epochs, plan
    only_in_proofs = True
    is_nonnegative = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The last hit has the steps up to the end."""
        factor, batches, epochs, plan = self.args
        last = PlannedPlace(batches, epochs, epochs, plan, epochs - 1)
        before = PlannedGapsBefore(factor, batches, epochs, plan, epochs - 1)
        return ((self, before + share(factor, batches - last)),)
