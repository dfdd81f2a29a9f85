"""`PlannedShifts`: the least shifts that undo one hit an epoch, in the places that a plan says; for proofs.

A plan is a number from 1 to batches^known. In the last `known` of the epochs the record is in the batches that are the
digits of plan − 1 to the base `batches`; in the epochs before, and in all that would follow, it is in the last batch.
A distance z ≥ 0 obeys z ← factor·z + hit − a, from 0 on, and ends at 0; what is spent is Σa². Of all shifts a ≥ 0 that
do so, some spend least (to hide every hit at once is one way, Σa² is continuous, and large shifts cost more): these,
one choice for each plan, are what is meant here. From the end on, every hit is hidden at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from .interface import BoundFunction, must_count


class PlannedPlace(BoundFunction):
    """The batch in which the plan puts the record, in the epoch so many after the first, counted from 0."""

    nargs = 5  # batches, epochs, known, plan, epoch
    only_in_proofs = True
    is_integer = True
    is_nonnegative = True


class PlannedHit(BoundFunction):
    """1 if the plan puts the record into the batch of this step, else 0."""

    nargs = 5  # batches, epochs, known, plan, step
    only_in_proofs = True
    normalised = (4,)
    is_nonnegative = True


class _Planned(BoundFunction):
    """A number that belongs to a step of a plan, and is not negative."""

    nargs = 6  # factor, batches, epochs, known, plan, step
    only_in_proofs = True
    normalised = (5,)
    is_nonnegative = True

    def of_plan(self, kind: type[BoundFunction], *step: Expr) -> Expr:
        """Something else that belongs to the plan."""
        return kind(*self.args[:5], *step)

    def end(self) -> Expr:
        """The number of steps."""
        _, batches, epochs, *_ = self.args
        return batches * epochs


class PlannedShift(_Planned):
    """The shift of this step."""


class PlannedAway(_Planned):
    """The distance z before this step."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        return S.Zero if args[-1].is_zero else None

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """At the end, and one step later."""
        factor, *_, step = self.args
        must_count(step)
        hit, shift = PlannedHit(*self.args[1:5], step), self.of_plan(PlannedShift, step)
        more = self.of_plan(PlannedAway, step + 1)
        return (self.of_plan(PlannedAway, self.end()), S.Zero), (more, factor * self + hit - shift)


class PlannedSpent(_Planned):
    """Σa² of the shifts before this step."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        return S.Zero if args[-1].is_zero else None

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """At the end, and one step later."""
        step = self.args[-1]
        must_count(step)
        more, shift = self.of_plan(PlannedSpent, step + 1), self.of_plan(PlannedShift, step)
        at_the_end = self.of_plan(PlannedSpent, self.end()), self.of_plan(PlannedShifts)
        return at_the_end, (more, self + shift**2)


class PlannedShifts(BoundFunction):
    """The least Σa²."""

    nargs = 5  # factor, batches, epochs, known, plan
    only_in_proofs = True
    is_nonnegative = True
