"""What the best shifts spend on a run whose steps all differ: a certified double.

Step t is factor(t)-Lipschitz, its noise has variance v_t, its two maps are at most s_t apart if it uses the record. In
every epoch the record is used at most once, no later than planned. Shifts a_t ≥ 0 that suit the plan lead a distance
z from z_t to z_(t+1) = c_t·z_t + ŝ_t − a_t ≥ 0, where ŝ_t is 0 but in planned places, and there the most that a use
in the same epoch, then or before, amounts to: that is enough whenever the record is used (`sharper.schedules`). What
is spent is Σ a_t²/v_t; z = 0 wherever an iterate is released.

The steps from one planned place to the next are one stretch (`functions.scheduled_scans`): it begins with a jump, has
room W for reductions by B at a cost of B²/W, and multiplies what is left. Which stretches share a jump is found by
pooling neighbours whose prices fall, in doubles and without a guarantee. Then the run is gone through, every operation
rounded to its safe side: whatever B ≤ z was found, the distance is never too small, and in the end all of it is
hidden. Steps cost a few operations once, plans a few for every epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from math import fsum, inf, isfinite, nextafter
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.rounded import require_nearest_arrays
from ..errors import ArgumentError
from ..setting.arrays import Array
from .scheduled_scans import Scans, scan

_PAD = 1 + 2.0**-48
"""More than the roundings of a square, a quotient and a sum, relatively."""
_MOST = nextafter(inf, 0.0)
_LOST = 2.0**-1000
"""A product too small for a double loses less than 2^−1074, and there are fewer than 2^50 of them."""


class Steps(NamedTuple):
    """Every step of a run, in doubles, and where its epochs begin; in each the record is used at most once."""

    factor: Array
    """Never below the Lipschitz constant of a step."""
    variance: Array
    """Never above the variance of its noise."""
    jump: Array
    """Never below how far its two maps are apart if it uses the record."""
    epochs: Array
    """The first step of every epoch, the first of all being 0."""


def spent(steps: Steps, places: Array, *, start: float = 0.0, released: Array | None = None) -> float:
    """A double never below the least μ² = Σ a²/v, if in epoch k the record is used no later than in step places[k].

    Steps are counted from 0; −1 says that the epoch does not use the record. The runs start no farther apart than
    `start`. The iterates after so many steps as `released` says (each from 1 to T) are seen, and always the last one.

    >>> one = np.ones(2)
    >>> steps = Steps(factor=one, variance=one, jump=one, epochs=np.array([0]))
    >>> round(spent(steps, np.array([0])), 12), round(spent(steps, np.array([1])), 12)
    (0.5, 1.0)
    """
    return Schedule(steps, released).spent(places, start)


class Schedule:
    """Steps, gone through once, so that a plan costs no more than a few operations for every epoch."""

    def __init__(self, steps: Steps, released: Array | None = None) -> None:
        self.steps = _checked(steps)
        self._length = len(steps.factor)
        self._seen = _released(released, self._length)
        epochs = np.asarray(steps.epochs, dtype=np.int64)
        self._begins = np.union1d(epochs, self._seen)
        """An epoch that a release cuts is several pieces."""
        self._ends = np.append(self._begins[1:], self._length)
        self._epoch = np.searchsorted(epochs, self._begins, side="right") - 1
        self._epochs = epochs

    @cached_property
    def _scans(self) -> Scans:
        require_nearest_arrays()
        factor, variance, jump = (np.asarray(part, dtype=np.float64) for part in self.steps[:3])
        return scan(factor, variance, jump, self._begins)

    def spent(self, places: Array, start: float = 0.0) -> float:
        """What `spent` says."""
        if not 0 <= start < inf:
            raise ArgumentError("start", start, "not a distance", "give a finite number of 0 or more")
        require_nearest_arrays()
        last = self._last_places(places)
        if len(self._seen) == 0:
            return self._segment(0, last, start)
        return self._dearest(last, start)

    def _last_places(self, places: Array) -> Array:
        """For every piece the last step that may use the record, or −1."""
        given = np.asarray(places)
        bounds = np.append(self._epochs[1:], self._length)
        whole = given.shape == self._epochs.shape and np.issubdtype(given.dtype, np.integer)
        if not whole or not np.all((given == -1) | ((given >= self._epochs) & (given < bounds))):
            raise ArgumentError("places", places, "not one step of every epoch, or -1", f"give {len(bounds)} steps")
        here = given[self._epoch]
        return np.where(here < self._begins, -1, np.minimum(here, self._ends - 1))

    # --- One segment, from one release to the next ------------------------------------------------------------------

    def _segment(self, first: int, last: Array, start: float) -> float:
        """The cost of pieces from the first on, given the last places in these; at the end nothing is left."""
        found = self._stretches(first, last, start)
        return _cost(*(part.tolist() for part in found))

    def _stretches(self, first: int, last: Array, start: float) -> tuple[Array, Array, Array]:
        """Jump, room and product of each: one from every place on, and one for every piece without."""
        scans, pieces, used = self._scans, slice(first, first + len(last)), last >= 0
        at = np.where(used, last, 0)
        jump = np.where(used, scans.jump[at], 0.0)
        room = np.where(used, scans.room_from[at], scans.whole_room[pieces])
        product = np.where(used, scans.product_after[at], scans.whole_product[pieces])
        head_room, head = np.where(used, scans.room_before[at], 0.0), np.where(used, scans.product_to[at], 1.0)
        if used[0]:  # what comes before the first place
            jump, room, product = (np.append(x, part) for x, part in ((start, jump), (0.0, room), (1.0, product)))
        else:
            jump[0], head_room, head = start, head_room[1:], head[1:]
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            more = np.nextafter(np.nextafter(head_room / product[: len(head)], 0.0) / product[: len(head)], 0.0)
            room[: len(head)] = np.nextafter(room[: len(head)] + more, 0.0)
            product[: len(head)] = np.nextafter(product[: len(head)] * head, inf)
        return jump, room, product

    # --- Several releases -------------------------------------------------------------------------------------------

    @cached_property
    def _segments(self) -> list[tuple[int, int]]:
        """The pieces between releases."""
        cuts = np.searchsorted(self._begins, self._seen)
        return list(pairwise([0, *cuts.tolist(), len(self._begins)]))

    def _dearest(self, last: Array, start: float) -> float:
        """The most that segments cost together: an epoch cut by releases uses the record in one of its pieces.

        From segment to segment it is known whether the epoch that goes on may still use it.
        """
        alone = self._alone(last) if start == 0 else None
        if alone is not None and len(self._segments) == len(last):
            by_epoch = np.maximum.reduceat(alone, np.searchsorted(self._epoch, np.arange(len(self._epochs))))
            return fsum(by_epoch.tolist()) * _PAD
        may = (last >= 0).tolist()
        goes_on = [*(np.diff(self._epoch) == 0).tolist(), False]
        best = {False: 0.0}
        for first, end in self._segments:
            costs: dict[tuple[bool, bool], float] = {}
            following: dict[bool, float] = {}
            for owed, so_far in best.items():
                owing = owed if first and goes_on[first - 1] else may[first]
                for uses, later in _ways(end - first == 1, owing, goes_on[end - 1] and may[end], may[end - 1]):
                    if uses not in costs:
                        costs[uses] = self._chosen(first, last[first:end], uses, start if not first else 0.0, alone)
                    total = nextafter(so_far + costs[uses], inf)
                    following[later] = max(total, following.get(later, 0.0))
            best = following
        return max(best.values())

    def _alone(self, last: Array) -> Array:
        """What each piece costs by itself, if it uses the record."""
        scans, at = self._scans, np.maximum(last, 0)
        jump = np.where(last >= 0, scans.jump[at], 0.0)
        with np.errstate(over="ignore", under="ignore"):
            return np.where(jump > 0, jump / scans.room_from[at] * jump * _PAD + _lost(jump), 0.0)

    def _chosen(self, first: int, last: Array, uses: tuple[bool, bool], start: float, alone: Array | None) -> float:
        """The cost of a segment whose first and last piece use the record, or not."""
        if len(last) == 1 and alone is not None:
            return float(alone[first]) if uses[0] else 0.0
        chosen = last.copy()
        for place, use in zip((0, -1), uses, strict=True):
            if not use:
                chosen[place] = -1
        return self._segment(first, chosen, start)


def _ways(single: bool, owing: bool, more: bool, may: bool) -> Iterator[tuple[tuple[bool, bool], bool]]:
    """Whether the first and the last piece of a segment use the record, and if the epoch may do so afterwards.

    `owing`: whether the first may; `may`: whether the last may; `more`: whether its epoch may use the record later.
    To use it costs more than not to, so it is left out only where it may come later.
    """
    if single:
        yield (owing, owing), False
        if owing and more:
            yield (False, False), True
        return
    yield (owing, may), False
    if may and more:
        yield (owing, False), True


# --- The least cost of stretches ------------------------------------------------------------------------------------


def _cost(jump: list[float], room: list[float], product: list[float]) -> float:
    """Not below the least ΣB²/W with B ≤ z and nothing left: z is a jump and what the product makes of the rest.

    Portions are found without a guarantee; what they leave, and cost, is rounded up.
    """
    left, largest, gain, found = 0.0, 0.0, 1.0, []
    for here, width, following, (share, more) in zip(jump, room, product, _portions(jump, room, product), strict=True):
        away = nextafter(nextafter(left * gain, inf) + here, inf) if left else here
        hidden = share * away + more
        if 0.0 <= hidden < away:
            left = nextafter(away - hidden, inf)
        else:
            left, hidden = 0.0, away
        if hidden:
            found.append(hidden / width * hidden if width else inf)
            largest = max(largest, hidden)
        gain = following
    if not largest:
        return 0.0
    return fsum(found) * _PAD + _lost(largest) if all(map(isfinite, found)) else inf


def _lost(largest: Any) -> Any:
    """More than products lose that are too small for a double, if no distance is larger."""
    return (1.0 + largest) * _LOST


def _portions(jump: list[float], room: list[float], product: list[float]) -> list[tuple[float, float]]:
    """For each stretch x and y so that x·z + y is the best portion of a distance z: about, and inf for all of it.

    Of what a pool must hide, the distance and all jumps to come, a stretch hides as much as its room is of all room.
    """
    found: list[tuple[float, float]] = [(1.0, inf)] * len(jump)
    ends = [*_pools(jump, room, product)[1:], len(jump)]
    begin = 0
    for end in ends:
        to_come = later = 0.0
        for place in range(end - 1, begin, -1):
            gain = product[place - 1]
            to_come = (to_come + jump[place]) / gain
            later = (later + room[place]) / gain / gain
            share = room[place - 1] / (room[place - 1] + later) if room[place - 1] else 0.0
            found[place - 1] = (share, share * to_come) if share else (0.0, 0.0)
        begin = end
    return found


def _pools(jump: list[float], room: list[float], product: list[float]) -> list[int]:
    """With which stretches pools begin: neighbours are pooled as long as prices fall.

    What a pool must hide and its room are counted from a stretch in it, whichever keeps them from growing: from its
    start to there distances are multiplied by its `lead`, from there to the next pool by its `gain`.
    """
    done: list[tuple[float, float, float, float, int]] = []
    for place, (rise, run, gain) in enumerate(zip(jump, room, product, strict=True)):
        begin, lead = place, 1.0
        while done:
            before, wide, times, first_lead, first = done[-1]
            between = times * lead
            if wide and run and before / wide < between * (rise / run):
                break
            done.pop()
            if between < 1:
                rise, run, lead = rise + before * between, run + wide * between * between, first_lead * between
            else:
                rise, run, lead = before + rise / between, wide + run / between / between, first_lead
                gain = min(between * gain, _MOST)
            begin = first
        done.append((rise, run, gain, lead, begin))
    return [begin for *_, begin in done]


# --- What is given --------------------------------------------------------------------------------------------------


def _checked(steps: Steps) -> Steps:
    """The steps, if they are what they must be."""
    parts = [np.asarray(part, dtype=np.float64) for part in steps[:3]]
    length = parts[0].shape
    if len(length) != 1 or not length[0] or any(part.shape != length for part in parts):
        raise ArgumentError("steps", steps, "columns of different lengths, or none", "give one number for every step")
    for name, part in zip(Steps._fields[:3], parts, strict=True):
        good = part >= 2.0**-1000 if name == "variance" else part >= 0
        if not np.all(good & (part < inf)):
            least = "above 0" if name == "variance" else "of 0 or more"
            raise ArgumentError(name, part[~(good & (part < inf))][0], "out of range", f"give finite numbers {least}")
    epochs = np.asarray(steps.epochs)
    whole = epochs.ndim == 1 and len(epochs) and np.issubdtype(epochs.dtype, np.integer)
    if not whole or epochs[0] != 0 or np.any(np.diff(epochs) <= 0) or epochs[-1] >= length[0]:
        raise ArgumentError(
            "epochs", steps.epochs, "not the first steps of epochs", "give 0 and rising numbers after it"
        )
    return steps


def _released(released: Any, length: int) -> Array:
    """Releases before the end, in order."""
    if released is None:
        return np.zeros(0, dtype=np.int64)
    found = np.unique(np.asarray(released))
    if len(found) and (not np.issubdtype(found.dtype, np.integer) or found[0] < 1 or found[-1] > length):
        raise ArgumentError("released", released, "not numbers of steps", f"give whole numbers from 1 to {length}")
    return found[found < length].astype(np.int64)
