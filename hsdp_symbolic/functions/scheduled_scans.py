"""What runs of steps add up to, from the start of each run and to its end: doubles, each rounded to its safe side.

Between two uses of a record a distance z is only multiplied, by c_t in step t, and reduced, by a_t, at a cost of
a_t²/v_t. In units of the moment from which one counts, a reduction by B in all, through steps i with products
C_i = Π c_j of the factors up to and with step i, costs B²/W at least, where W = Σ v_i/C_i² (Cauchy's inequality; the
best a_i is in proportion to v_i/C_i). A step may be passed in which everything is gone already. So a run of steps is
told by its product, which must not come out too small, and by its room W, which must not come out too large.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, nextafter
from typing import NamedTuple

import numpy as np

from ..setting.arrays import Array

_LEAST = nextafter(0.0, 1.0)


class Scans(NamedTuple):
    """For every step of every run, and for whole runs; products are never too small, rooms never too large."""

    product_to: Array
    """The product of the factors from the start of the run, with this step's."""
    room_before: Array
    """The room of the steps of the run before this one, counted from its start."""
    product_after: Array
    """The product of the factors of the later steps of the run."""
    room_from: Array
    """The room of this step and the later ones of the run, counted from after the maps of this step."""
    jump: Array
    """What a jump in this step, or in an earlier one of the run, has become after this step's maps: the largest."""
    whole_product: Array
    """For every run."""
    whole_room: Array
    """For every run, counted from its start."""


def scan(factor: Array, variance: Array, jump: Array, begins: Array) -> Scans:
    """Runs begin where `begins` says, the first one with step 0. Runs that are alike are looked at once."""
    known: dict[bytes, tuple[Array, float, float]] = {}
    columns = np.ascontiguousarray(np.stack([np.maximum(factor, _LEAST), variance, jump]))
    out = np.empty((5, columns.shape[1]))
    wholes = np.empty((2, len(begins)))
    for place, (begin, end) in enumerate(pairwise([*begins.tolist(), columns.shape[1]])):
        piece = columns[:, begin:end]
        key = piece.tobytes()
        if key not in known:
            known[key] = _one_run(*piece.tolist())
        out[:, begin:end], *wholes[:, place] = known[key]
    return Scans(*out, *wholes)


def _one_run(factor: list[float], variance: list[float], jump: list[float]) -> tuple[Array, float, float]:
    product, room, most = 1.0, 0.0, 0.0
    rows = []
    for c, v, s in zip(factor, variance, jump, strict=True):
        product, most = _times(product, c), max(_times(most, c), s)
        rows.append((product, room, most))
        room = _more_room(room, v, product)
    after, here = 1.0, variance[-1]
    back = [(after, here)]
    for c, v in zip(factor[:0:-1], variance[-2::-1], strict=True):
        here = _more_room(v, here, c)
        after = _times(after, c)
        back.append((after, here))
    (to, before, jumps), (rest, rooms) = zip(*rows, strict=True), zip(*back[::-1], strict=True)
    return np.array([to, before, rest, rooms, jumps]), product, room


def _times(x: float, c: float) -> float:
    """x·c, or the next double: not below. The product of what is not 0 is not 0."""
    return x if c == 1.0 or not x else nextafter(x * c, inf)


def _more_room(room: float, more: float, product: float) -> float:
    """room + more/product², not above, and finite."""
    if product != 1.0:
        more = nextafter(nextafter(more / product, 0.0) / product, 0.0)
    return nextafter(room + more, 0.0) if room else more
