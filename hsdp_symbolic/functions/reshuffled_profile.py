"""`ReshuffledProfile`: δ of a run over batches that are shuffled anew in every epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr

from ..errors import ArgumentError, GridExhausted
from ..setting.arrays import Array
from ..symbols import i
from .gaussian_profile import GaussianProfile
from .interface import Balls, OfNumbers, Printer, Rules, Trend, agree, flip
from .mean_over import MeanOver
from .planned_costs import MOST_KNOWN, MOST_UPDATES, Plans, shares
from .planned_shifts import PlannedShifts
from .profile_means import Scattered

FINEST_WIDTH = Fraction(1, 10**8)
"""A relative width below this is refused without trying."""
MOST_PLANS = 2**21
"""The most choices of places that are looked at."""
_COARSE, _FINEST = Fraction(1, 16), Fraction(1, 2**20)
"""How much places that are taken together may differ, relative to how far from the end they are."""
_ROUGH = Fraction(1, 32)
"""The same, in doubles."""
_MOST_ROUGH_PLANS = 2**16
GAIN = 1 / 1000
"""One place more is known as long as that lowers ε by more than this part of it."""


LEAST_COST = Fraction(1, 10**280)
"""Below this, one known place is as good as any."""


class ReshuffledProfile(OfNumbers):
    """The mean of δ_G(√(cost·U); ε) over the places, of `batches`, that a record has in the last `known` epochs.

    U is the least Σa² of shifts a ≥ 0 that undo one hit an epoch (z ≥ 0 obeys z ← qz + hit − a, q = `factor`, and ends
    at 0): in the last batch of the first epochs, and in those places in the last ones. δ_G(μ; ε) is the profile of
    N(0, 1) against N(μ, 1).
    """

    nargs = 6  # cost, factor, batches, epochs, known, epsilon
    free_at = (4,)
    on_a_grid = True
    rank = 1

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The mean over all plans for the last epochs; only proofs write it so (its terms come in no order)."""
        cost, factor, batches, epochs, known, epsilon = self.args
        body = GaussianProfile(cost * PlannedShifts(factor, batches, epochs, known, i), epsilon)
        return ((self, MeanOver(body, i, batches**known)),)

    @classmethod
    def choose(
        cls, known: Mapping[int, Fraction], *, delta: Fraction | None = None, epsilon: Fraction | None = None
    ) -> Mapping[int, Fraction]:
        """As many places as are worth it."""
        cost, factor, batches, epochs = (known[place] for place in range(4))
        if cost < LEAST_COST:  # too small for doubles, in which a better choice is looked for
            return {4: Fraction(1)}
        if delta is None:
            delta = Fraction(_rough(cost, factor, batches, epochs, 1, epsilon or 0)) or Fraction(1, 10**5)
        return {4: Fraction(best_known(cost, factor, int(batches), int(epochs), delta))}

    def _eval_is_real(self) -> bool | None:
        cost, *others = self.args
        return True if cost.is_nonnegative and all(arg.is_real for arg in others) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._eval_is_real()

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0] and numbers[5] >= 0

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        """The same bracket whatever the engine: it has a rigorous arithmetic of its own."""
        cost, factor, batches, epochs, known, epsilon = numbers
        if not cost:
            return GaussianProfile.ball(over, cost, epsilon)
        low, high = bracket(_plans(factor, batches, epochs, known), cost, epsilon, over.tolerance)
        return over.engine.interval(low, high)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """To about four digits."""
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([_rough(*row) for row in rows]).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with cost and q, down with ε and with the number of known places.

        δ_G rises with μ and falls with ε; shifts that do for one q do for a smaller one, cut short where z reaches 0;
        to know one place more replaces the last place, the worst, by all of them. Argued, not proved.
        """
        cost, factor, batches, epochs, known, epsilon = self.args
        if rules.depends(batches):
            return None
        return agree([*map(rules.of, (cost, factor, epochs)), flip(rules.of(known)), flip(rules.of(epsilon))])

    def tex(self, printer: Printer) -> str:
        cost, factor, batches, epochs, known, epsilon = map(printer._print, self.args)
        run = rf"\sqrt{{{cost}}}, {factor}, {batches}, {epochs}"
        return rf"\overline{{\delta}}_{{{known}}}\left({run}; {epsilon}\right)"

    def tex_note(self, printer: Printer) -> str:
        return GaussianProfile(self.args[0], self.args[-1]).tex_note(printer)


def _plans(factor: Fraction, batches: Fraction, epochs: Fraction, known: Fraction) -> Plans:
    """What is asked for, if it can be answered."""
    if not 0 < factor <= 1:
        raise ArgumentError("factor", float(factor), "not a contraction", "give a number above 0 and at most 1")
    for name, count in (("batches", batches), ("epochs", epochs), ("known", known)):
        if count.denominator != 1 or count < 1:
            raise ArgumentError(name, float(count), "not a count", "give a whole number >= 1")
    if known > (most := min(int(epochs), MOST_KNOWN)):
        raise ArgumentError("known", int(known), "more than can be known", f"give at most {most}")
    if batches * epochs > MOST_UPDATES:
        raise ArgumentError("epochs", int(epochs), "too many updates", f"give at most {MOST_UPDATES // batches}")
    return Plans(factor, int(batches), int(epochs), int(known))


@lru_cache(maxsize=64)
def _scattered(plans: Plans, fineness: Fraction) -> tuple[Scattered, Scattered] | None:
    """Never above, and never below, U of every plan; None if that would be too many."""
    groups = [shares(plans, epoch, fineness) for epoch in range(plans.known)]
    if math.prod(len(each.sizes) for each in groups) > MOST_PLANS:
        return None
    weights = _product([each.sizes / plans.batches for each in groups])
    below, above = plans.bounds([each.last for each in groups]), plans.bounds([each.first for each in groups])
    return Scattered(below[0], weights), Scattered(above[1], weights)


def _product(factors: list[Array]) -> Array:
    return math.prod(np.ix_(*factors))  # type: ignore[return-value]


def bracket(plans: Plans, cost: Fraction, epsilon: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the mean, no farther apart than `tolerance`, relative to it."""
    if tolerance < FINEST_WIDTH:
        raise GridExhausted(MOST_PLANS, tolerance, float(FINEST_WIDTH))
    fineness, low, high = _COARSE, Fraction(0), Fraction(1)
    while fineness >= _FINEST:
        found = _scattered(plans, fineness)
        if found is None:
            break
        sides = [each.mean(cost, epsilon, tolerance / 4) for each in found]
        low, high = max(low, sides[0][0]), min(high, sides[1][1])
        if high - low <= tolerance * high:
            return low, high
        fineness /= 4
    raise GridExhausted(MOST_PLANS, tolerance, float((high - low) / high) if high else 1.0)


def _rough(cost: Any, factor: Any, batches: Any, epochs: Any, known: Any, epsilon: Any) -> float:
    q, *counts = (Fraction(x) for x in (factor, batches, epochs, known))
    plans = _plans(q, *counts)
    if not cost:
        return max(0.0, -math.expm1(float(epsilon)))
    found = _scattered(plans, _ROUGH) or _scattered(plans, _COARSE)
    if found is None:
        raise GridExhausted(MOST_PLANS, _ROUGH, 1.0)
    return sum(each.rough(float(cost), float(epsilon)) for each in found) / 2


def best_known(cost: Fraction, factor: Fraction, batches: int, epochs: int, delta: Fraction) -> int:
    """How many epochs' places to know for an ε at this δ: more lower it, and take longer. Any number gives a bound."""
    known, best = 1, math.inf
    for more in range(1, min(epochs, MOST_KNOWN) + 1):
        plans = _plans(factor, Fraction(batches), Fraction(epochs), Fraction(more))
        if _count(plans, _ROUGH) > _MOST_ROUGH_PLANS:
            break
        found = _epsilon(plans, float(cost), float(delta), best)
        if found >= best * (1 - GAIN):
            break
        known, best = more, found
    return known


def _count(plans: Plans, fineness: Fraction) -> int:
    return math.prod(len(shares(plans, epoch, fineness).sizes) for epoch in range(plans.known))


def _epsilon(plans: Plans, cost: float, delta: float, most: float) -> float:
    """ε at δ, in doubles; no more than `most`."""
    found = _scattered(plans, _ROUGH)
    assert found is not None
    if math.isinf(most):
        most = 1.0
        while found[1].rough(cost, most) > delta:
            most *= 2
    low, high = 0.0, most
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if found[1].rough(cost, middle) <= delta else (middle, high)
    return high
