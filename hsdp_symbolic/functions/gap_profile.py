"""`GapProfile`: δ of a run whose updates need not contract, over batches that are shuffled anew in every epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr

from ..errors import ArgumentError, GridExhausted
from ..setting.arrays import Array
from ..symbols import i
from .gap_laws import LITTLE_WORK, MOST_PLACES, MOST_WORK, GapLaw, Gaps, gap_law
from .gaussian_profile import GaussianProfile
from .interface import Balls, OfNumbers, Printer, Rules, Trend, agree, flip
from .mean_over import MeanOver
from .planned_gaps import PlannedGaps

FINEST_WIDTH = Fraction(1, 10**8)
"""A relative width below this is refused without trying."""
_FIRST = (2.0**-4, LITTLE_WORK), (2.0**-3, LITTLE_WORK), (2.0**-2, MOST_WORK), (2.0**-1, MOST_WORK), (1.0, MOST_WORK)
"""The stride of the first grid, as part of what a hit costs in the mean, the first that is no more work than that."""
_FINER, _FINEST = 2.0**-2, 2.0**-12


class GapProfile(OfNumbers):
    """The mean of δ_G(√(cost·U); ε): U is the sum of u over the gaps between hits, as in `GapMoment`.

    One hit an epoch, in places of `batches` drawn by themselves; a hit with g steps up to the next, or to the end,
    counts u(g) = 1/Σ_(s<g) factor^(−2s). δ_G(μ; ε) is the profile of N(0, 1) against N(μ, 1).
    """

    nargs = 5  # cost, factor, batches, epochs, epsilon
    on_a_grid = True
    rank = 1

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The mean over all plans; only proofs write it so (its terms come in no order)."""
        cost, factor, batches, epochs, epsilon = self.args
        body = GaussianProfile(cost * PlannedGaps(factor, batches, epochs, i), epsilon)
        return ((self, MeanOver(body, i, batches**epochs)),)

    def _eval_is_real(self) -> bool | None:
        cost, *others = self.args
        return True if cost.is_nonnegative and all(arg.is_real for arg in others) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._eval_is_real()

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0] and numbers[4] >= 0

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        """The same bracket whatever the engine: it has a rigorous arithmetic of its own."""
        cost, factor, batches, epochs, epsilon = numbers
        if not cost:
            return GaussianProfile.ball(over, cost, epsilon)
        low, high = bracket(_gaps(factor, batches, epochs), cost, epsilon, over.tolerance)
        return over.engine.interval(low, high)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """To about three digits."""
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([_rough(*row) for row in rows]).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with cost, c (a sum of powers of 1/c falls) and epochs, of which each more is a cost more; down with ε.

        Unknown in the batches.
        """
        cost, factor, batches, epochs, epsilon = self.args
        if rules.depends(batches):
            return None
        return agree([*map(rules.of, (cost, factor, epochs)), flip(rules.of(epsilon))])

    def tex(self, printer: Printer) -> str:
        cost, factor, batches, epochs, epsilon = map(printer._print, self.args)
        return rf"\overline{{\delta}}\left(\sqrt{{{cost}}}, {factor}, {batches}, {epochs}; {epsilon}\right)"

    def tex_note(self, printer: Printer) -> str:
        return GaussianProfile(self.args[0], self.args[-1]).tex_note(printer)


def _gaps(factor: Fraction, batches: Fraction, epochs: Fraction) -> Gaps:
    """What is asked for, if it can be answered."""
    if factor <= 0:
        raise ArgumentError("factor", float(factor), "not a Lipschitz constant", "give a number above 0")
    for name, count, most in (("batches", batches, MOST_PLACES), ("epochs", epochs, MOST_WORK)):
        if count.denominator != 1 or not 1 <= count <= most:
            remedy = f"give a whole number from 1 to {most:,}"
            raise ArgumentError(name, float(count), "not a count that this is computed for", remedy)
    return Gaps(factor, int(batches), int(epochs))


def bracket(gaps: Gaps, cost: Fraction, epsilon: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the mean, no farther apart than `tolerance`, relative to it."""
    if tolerance < FINEST_WIDTH:
        raise GridExhausted(MOST_WORK, tolerance, float(FINEST_WIDTH))
    fineness, law = _first(gaps)
    low, high = Fraction(0), Fraction(1)
    while law is not None and fineness >= _FINEST:
        found = law.mean(cost, epsilon, tolerance / 2)
        low, high = max(low, found[0]), min(high, found[1])
        if high - low <= tolerance * high:
            return low, high
        fineness *= _FINER
        law = gap_law(gaps, fineness)
    raise GridExhausted(MOST_WORK, tolerance, float((high - low) / high))


def _first(gaps: Gaps) -> tuple[float, GapLaw | None]:
    """The first grid that is not too much work."""
    for fineness, most_work in _FIRST:
        if law := gap_law(gaps, fineness, most_work):
            return fineness, law
    return 1.0, None


def _rough(cost: Any, factor: Any, batches: Any, epochs: Any, epsilon: Any) -> float:
    gaps = _gaps(*(Fraction(x) for x in (factor, batches, epochs)))
    if not cost:
        return max(0.0, -math.expm1(float(epsilon)))
    law = _first(gaps)[1]
    if law is None:
        raise GridExhausted(MOST_WORK, Fraction(1, 10**3), 1.0)
    return law.rough(float(cost), float(epsilon))
