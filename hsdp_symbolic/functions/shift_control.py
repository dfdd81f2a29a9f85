"""`ShiftControl`: the least moment of what it costs to hide a record, if the shifts are chosen step by step.

The shift of a step is how much of the distance between two coupled runs its noise hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from sympy import Expr, cancel

from ..errors import GridExhausted
from ..setting.arrays import Array
from ..symbols import alpha_minus_1
from .interface import Balls, Long, Rules, Trend, agree
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

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with cost, contraction and length (`sharper.control` proves it) and with the rate of independent draws."""
        cost, contraction, rate, batches, epochs = self.args
        if batches != 1 and (rules.depends(rate) or rules.depends(batches)):
            return None  # in a permutation, a record used early is a record not used late
        return rules.joint([cost, contraction, rate, epochs])

    def per_order(self, rules: Rules) -> Trend | None:
        cost = self.args[0]  # for each policy the mean of e^(cX), to the power 1/c, increases with c
        return agree([self.trend(rules), rules.of(cancel(cost / alpha_minus_1))])


def _programme(cost: Fraction, q: Fraction, rate: Fraction, batches: Fraction, epochs: Fraction) -> Programme:
    return Programme(cost, q, rate, int(batches), int(epochs))
