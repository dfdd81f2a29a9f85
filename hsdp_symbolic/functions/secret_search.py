"""Which window and which share serve best in `SecretProfile`: looked for on sketches, since every choice is valid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache

from ..errors import ArgumentError, OutsideDoubleRange
from .loss_sketch import delta_at, epsilon_at, sketch_secret
from .sampled_losses import Pair

SHARES = 100
"""Shares are looked for among multiples of one hundredth."""
_FIRST, _LAST = (0.4, 0.16), (0.04, 0.02)
"""Steps of the search, in log window and in the share: the first and the last."""


@lru_cache(maxsize=256)
def best_window(
    rate: Fraction,
    cost: Fraction,
    factor: Fraction,
    steps: int,
    *,
    delta: Fraction | None = None,
    epsilon: Fraction | None = None,
    poisson: bool = False,
) -> tuple[int, Fraction]:
    """A window and a share with about the least ε at a `delta`, or δ at an `epsilon`."""
    if (delta is None) == (epsilon is None):
        raise ArgumentError("delta, epsilon", (delta, epsilon), "one number is looked for", "give exactly one of them")
    pair = Pair.REMOVE if poisson else Pair.BOTH
    guess = 1e-5 if delta is None else float(delta)

    def cost_of(window: int, share: Fraction) -> float:
        try:
            profile = sketch_secret(pair, rate, cost, factor, steps - window, window, float(share), guess)
        except OutsideDoubleRange:  # losses too large for a sketch: another choice, or the first guess, has to do
            return math.inf
        return epsilon_at(profile, guess) if epsilon is None else delta_at(profile, float(epsilon))

    return least_place(factor, steps, cost_of)


def least_place(factor: Fraction, steps: int, cost_of: Callable[[int, Fraction], float]) -> tuple[int, Fraction]:
    """A window and a share at which a cost is about least: from a good guess on, in ever smaller steps."""
    if not 0 < factor <= 1:  # hypotheses are checked where the choice is used
        raise ArgumentError("factor", factor, "not a contraction", "give a number above 0 and at most 1")
    cost = cache(lambda window, share: cost_of(window, Fraction(share, SHARES)))
    forgets = 1 / (1 - float(factor)) if factor < 1 else math.inf
    here = max(1, min(steps, round(min(1.8 * forgets, steps / 2)))), 55
    width, rise = _FIRST
    while width >= _LAST[0] or rise >= _LAST[1]:
        longer, shorter = (max(1, min(steps, round(here[0] * math.exp(by)))) for by in (width, -width))
        more, less = (max(1, min(SHARES - 1, here[1] + round(by * SHARES))) for by in (rise, -rise))
        near = [here, (longer, here[1]), (shorter, here[1]), (here[0], more), (here[0], less)]
        best = min(near, key=lambda place: cost(*place))
        if best == here:
            width, rise = width / 2, rise / 2
            if round(rise * SHARES) < 1:
                rise = 0.0
            if width < _LAST[0]:
                break
        here = best
    return here[0], Fraction(here[1], SHARES)
