"""`ShiftControl`: the least moment of what it costs to hide a record, if the shifts are chosen step by step.

The shift of a step is how much of the distance between two coupled runs its noise hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from sympy import Expr, S, cancel

from ..errors import GridExhausted
from ..setting.arrays import Array
from ..symbols import alpha_minus_1
from .interface import Balls, BoundFunction, Long, Rules, Trend, agree, must_count
from .log_mix import LogMix
from .shift_programme import MOST_POINTS, Programme, bracket, curve
from .shift_sketch import sketch_programme

FINEST_WIDTH = 1e-6
"""A relative width below this is refused without trying."""


class ShiftControl(Long):
    """log of the least moment that shifts chosen step by step can reach (`shift_programme` says how it is computed).

    `cost` is κρ₀, `q` the contraction, `rate` the chance that a given batch holds the record; there are `batches` of
    them in each of `epochs` passes, and the record is in at most one of a pass. Views bracket it on a grid, so it is
    known to some digits only.
    """

    nargs = 5  # cost, q, rate, batches, epochs
    on_a_grid = True
    unit, budget = "steps of a dynamic programme", "steps"
    certified_as_asked = False

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        """The same bracket whatever the engine: it has a rigorous arithmetic of its own."""
        wanted = over.tolerance * Fraction(999, 1000)
        if wanted < FINEST_WIDTH:
            raise GridExhausted(MOST_POINTS, over.tolerance, FINEST_WIDTH)
        found = bracket(_programme(*numbers), float(wanted))
        low, high = Fraction(found.lo), Fraction(found.hi)
        if high - low > wanted * high:
            raise GridExhausted(found.points, over.tolerance, 1 - found.lo / found.hi)
        return over.engine.interval(low, high)

    @classmethod
    def curve(cls, *numbers: Any) -> Sequence[float]:
        """Never below the value, and above it by what the grid loses (less than 1e-3 of it at the figures' setting)."""
        return curve(_programme(*(x if isinstance(x, Fraction) else Fraction(float(x)) for x in numbers)))

    @classmethod
    def work(cls, *others: Fraction) -> int:
        return _programme(Fraction(1), *others).steps_that_matter

    @classmethod
    def sketch(cls, costs: Array, *others: Fraction) -> Array:
        return sketch_programme(costs, _programme(Fraction(1), *others))

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """From the start, at distance 0, with a whole pass to come and all but one after it."""
        cost, q, rate, batches, epochs = self.args
        must_count(epochs)
        more = self.func(cost, q, rate, batches, epochs + 1)
        return ((more, ShiftValue(cost, q, rate, batches, epochs, batches, S.One, S.Zero)),)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with length, cost, contraction and the rate of independent draws.

        `sharper.programme` proves the first (`longer_drawn`, `longer_reshuffled`). The others are argued, not proved:
        shifts that do for one run do, at no higher cost, for one whose hits are fewer or fade faster.
        """
        cost, contraction, rate, batches, epochs = self.args
        if batches != 1 and (rules.depends(rate) or rules.depends(batches)):
            return None  # in a permutation, a record used early is a record not used late
        return rules.joint([cost, contraction, rate, epochs])

    def per_order(self, rules: Rules) -> Trend | None:
        cost = self.args[0]  # for each policy the mean of e^(cX), to the power 1/c, increases with c
        return agree([self.trend(rules), rules.of(cancel(cost / alpha_minus_1))])


class Kept(BoundFunction):
    """The distance that the best choice keeps of `away`, from 0 to `away`; the noise of a step hides the rest.

    After that step, `left` batches of the pass are to come, and then `epochs` whole passes; the pass has not used the
    record (`fresh` = 1), or has. Nothing is kept when nothing is to come. Only proofs use it.
    """

    nargs = 8  # cost, q, rate, batches, epochs, left, fresh, away
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        *run, _, _, fresh, away = self.args
        return ((self.func(*run, S.Zero, S.Zero, fresh, away), S.Zero),)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[-1].is_nonnegative else None


class ShiftValue(BoundFunction):
    """log of the least moment of what it still costs to hide a distance, the shifts being chosen step by step.

    So many batches of the pass are `left`, then come `epochs` whole passes; the pass has not used the record (`fresh` =
    1), or has. A step of a pass that has not used it does so with chance rate/(1 − batches before·rate). Only proofs
    use it.
    """

    nargs = 8  # cost, q, rate, batches, epochs, left, fresh, away
    only_in_proofs = True

    def _eval_is_real(self) -> bool | None:
        return True if all(arg.is_real for arg in self.args) else None

    @property
    def chance(self) -> Expr:
        """The chance that the first of the batches left holds the record, if none before did."""
        _, _, rate, batches, _, left, _, _ = self.args
        return rate / (1 - (batches - left) * rate)

    def at(self, away: Expr) -> ShiftValue:
        """The same at another distance."""
        found: ShiftValue = self.func(*self.args[:-1], away)
        return found

    def after(self, away: Expr) -> Expr:
        """What it costs once the maps of a step have brought the runs so far apart: its shift, and what follows."""
        kept = Kept(*self.args[:-1], away)
        return self.args[0] * (away - kept) ** 2 + self.at(kept)

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """A pass ends; all is over; one more step before this, of a pass that has not used the record; that has."""
        *run, epochs, left, fresh, away = self.args
        q, batches = run[1], run[3]
        must_count(epochs)
        must_count(left)

        def value(*state: Expr) -> ShiftValue:
            found: ShiftValue = self.func(*run, *state)
            return found

        hit, miss, missed = (value(epochs, left, each, away) for each in (S.Zero, S.One, S.Zero))
        longer = value(epochs, left + 1, S.One, away)
        return (
            (value(epochs + 1, S.Zero, fresh, away), value(epochs, batches, S.One, away)),
            (value(S.Zero, S.Zero, fresh, S.Zero), S.Zero),
            (longer, LogMix(longer.chance, hit.after(q * away + 1), miss.after(q * away))),
            (value(epochs, left + 1, S.Zero, away), missed.after(q * away)),
        )


def _programme(cost: Fraction, q: Fraction, rate: Fraction, batches: Fraction, epochs: Fraction) -> Programme:
    return Programme(cost, q, rate, int(batches), int(epochs))
