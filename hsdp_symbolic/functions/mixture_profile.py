"""δ of a mixture of groups, each as hard to tell apart as N(0, 1) and N(μ, 1), and the ε at a δ: certified from above.

Batches are in group g with a known chance w_g, the same for both datasets, and cost μ_g² there: then δ(ε) is at most
Σ w_g·δ_G(μ_g; ε) (`sharper.schedules.over_groups`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isinf, isnan, nextafter

import numpy as np

from ..arithmetic.doubles import double_above
from ..errors import ArgumentError
from ..setting.arrays import Array
from .gaussian_profile import profile
from .profile_means import Scattered

_TOLERANCE = Fraction(1, 10**10)
_FIRST_MARGIN, _MORE = 2.0**-36, 8.0
"""By how much a guess of ε is raised, relatively, and the factor by which that grows until the guess is seen to do."""
_MOST_TRIES = 20
_HALVINGS = 200
_LEAST_TOLD = 2.0**-900
"""A cost below that adds nothing to a guess."""
_LEAST_DELTA = Fraction(1, 10**280)


def mixture_delta(weights: Sequence[Fraction], costs: Array, epsilon: Fraction) -> float:
    """A double never below Σ w·δ_G(√cost; ε), for ε ≥ 0, weights whose sum is 1, and costs that may be infinite.

    >>> mixture_delta([Fraction(1, 2), Fraction(1, 2)], np.array([0.0, 0.0]), Fraction(1))
    0.0
    """
    if epsilon < 0:
        raise ArgumentError("epsilon", epsilon, "negative", "give an epsilon of 0 or more")
    return _Mixture(weights, costs).above(epsilon)


def mixture_epsilon(weights: Sequence[Fraction], costs: Array, delta: Fraction) -> float:
    """A double ε ≥ 0, about the least, at which `mixture_delta` is at most `delta`; infinite if there is none.

    >>> mixture_epsilon([Fraction(1)], np.array([0.0]), Fraction(1, 10**5))
    0.0
    """
    if delta <= _LEAST_DELTA:
        raise ArgumentError("delta", delta, "too small, or not positive", "give a delta above 1e-280, such as 1e-5")
    mixture = _Mixture(weights, costs)
    if mixture.certain >= delta:
        return inf
    if mixture.is_enough(0.0, delta):
        return 0.0
    guess, margin = mixture.guess(float(delta)), _FIRST_MARGIN
    for _ in range(_MOST_TRIES):
        raised = nextafter(guess * (1 + margin), inf)
        if mixture.is_enough(raised, delta):
            return raised
        margin *= _MORE
    return inf


class _Mixture:
    """Weights and costs, those left out that add nothing, and those that add all of their weight."""

    def __init__(self, weights: Sequence[Fraction], costs: Array) -> None:
        given = np.asarray(costs, dtype=np.float64)
        if given.ndim != 1 or len(given) != len(weights) or any(isnan(x) or x < 0 for x in given.tolist()):
            raise ArgumentError("costs", costs, "not one cost for every weight", "give squares of 0 or more")
        if min(weights, default=Fraction(-1)) < 0 or sum(weights) != 1:
            raise ArgumentError("weights", weights, "not chances", "give exact numbers of 0 or more whose sum is 1")
        parts = list(zip(weights, given.tolist(), strict=True))
        self.certain = sum((w for w, cost in parts if isinf(cost)), Fraction(0))
        """The chance of what may be told apart entirely."""
        kept = [(double_above(w), cost) for w, cost in parts if w and 0 < cost < inf]
        self._weights, self._costs = (np.array(part) for part in (zip(*kept, strict=True) if kept else ((), ())))
        self._scattered = Scattered(self._costs, self._weights) if kept else None

    def above(self, epsilon: Fraction) -> float:
        """Not below δ."""
        found = self.certain
        if self._scattered is not None:
            found += self._scattered.mean(Fraction(1), epsilon, _TOLERANCE)[1]
        return double_above(min(found, Fraction(1)))

    def is_enough(self, epsilon: float, delta: Fraction) -> bool:
        return Fraction(self.above(Fraction(epsilon))) <= delta

    def guess(self, delta: float) -> float:
        """About the ε at which it is δ, between none and more than enough."""
        low, high = 0.0, 1.0
        excess = self._excess(delta)
        while excess(high) > 0:
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return high

    def _excess(self, delta: float) -> Callable[[float], float]:
        left, told = delta - float(self.certain), self._costs > _LEAST_TOLD
        weights, costs = self._weights[told], self._costs[told]

        def excess(epsilon: float) -> float:
            with np.errstate(all="ignore"):  # a cost may be beyond all measure
                found = profile(costs, np.full(costs.shape, epsilon))
            return float(weights @ found) - left

        return excess
