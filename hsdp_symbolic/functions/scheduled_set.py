"""What shifts spend where iterates are projected onto a bounded set: they may begin with any step.

Before any step a copy is no farther from the first run than the set is wide (Altschuler & Talwar 2022;
`sharper.schedules.planned_in_set`). So whatever came before that step costs nothing. Every step does; a cheap one is
looked for.
"""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from ..errors import ArgumentError
from ..setting.arrays import Array
from .scheduled_shifts import Steps, spent

_WORSE = 3
"""So many doublings in a row that are worse, and no more are tried."""


def spent_in_set(steps: Steps, places: Array, diameter: float) -> float:
    """A double never below the least μ² of shifts, as `spent`, if iterates stay in a convex set of that diameter.

    Noise is added before the projection, and the last iterate is released.

    >>> one = np.ones(50)
    >>> steps = Steps(factor=one, variance=one, jump=one, epochs=np.arange(50))
    >>> round(spent(steps, np.arange(50)), 9), round(spent_in_set(steps, np.arange(50), 2.0), 9)
    (50.0, 8.0)
    """
    if not 0 <= diameter < inf:
        raise ArgumentError("diameter", diameter, "not a diameter", "give a finite number of 0 or more")
    whole = spent(steps, places)
    length = len(steps.factor)
    known: dict[int, float] = {}

    def of_last(number: int) -> float:
        """What the last so many steps cost."""
        if number not in known:
            later = from_step(steps, np.asarray(places), length - number)
            known[number] = spent(*later, start=diameter)
        return known[number]

    best, worse, number = 1, 0, 1
    while number <= length and worse < _WORSE:
        worse = 0 if of_last(number) <= of_last(best) else worse + 1
        best, number = min(best, number, key=of_last), 2 * number
    low, high = max(best // 2, 1), min(2 * best, length)
    while high - low > 2:
        third = (high - low) // 3
        first, second = low + third, high - third
        low, high = (low, second) if of_last(first) <= of_last(second) else (first, high)
    best = min(known, key=partial(known.__getitem__))
    for place in np.asarray(places)[np.abs(length - best - np.asarray(places)) <= best // 2][-_WORSE:].tolist():
        if 0 <= place < length - 1:
            of_last(length - 1 - place)
    return min(whole, *known.values())


def from_step(steps: Steps, places: Array, begin: int) -> tuple[Steps, Array]:
    """The run from a step on; an epoch that has begun goes on, as one in which nothing happened yet."""
    factor, variance, jump, epochs = (np.asarray(part) for part in steps)
    first = int(np.searchsorted(epochs, begin, side="right")) - 1
    begins = np.maximum(epochs[first:] - begin, 0)
    later = np.where(places[first:] >= begin, places[first:] - begin, -1)
    return Steps(factor[begin:], variance[begin:], jump[begin:], begins), later
