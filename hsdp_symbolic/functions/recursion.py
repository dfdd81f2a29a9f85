"""Recursions followed step by step in doubles, for all counts asked for at once, until they have settled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import TooManySteps
from ..setting.arrays import Array

MOST_STEPS_IN_DOUBLES = 2 * 10**7
MOST_STEPS_IN_BALLS = 5 * 10**6
_STRIDE = 256
"""Steps between two looks at whether a recursion has settled."""


def after(
    counts: Array, state: Array, advance: Callable[[], None], close: Callable[[float], tuple[Array, Array]]
) -> Array:
    """The state after each of `counts` steps; stops early once `close` brackets the rest to rounding error.

    `advance` makes one step, in `state` itself; `close(k)` brackets the state after k further steps.
    """
    out = np.empty(np.broadcast_shapes(state.shape, counts.shape))
    milestones = np.unique(counts).tolist()
    done, position = 0, 0
    while position < len(milestones):
        if done == milestones[position]:
            np.copyto(out, state, where=np.broadcast_to(counts == milestones[position], out.shape))
            position += 1
            continue
        if done % _STRIDE == 0:
            with np.errstate(over="ignore", invalid="ignore"):
                bottom, top = close(milestones[-1] - done)
            if np.all(top - bottom <= 2e-16 * top):
                for end in milestones[position:]:
                    bottom, top = close(end - done)
                    np.copyto(out, bottom + (top - bottom) / 2, where=np.broadcast_to(counts == end, out.shape))
                break
            if done >= MOST_STEPS_IN_DOUBLES:
                raise TooManySteps(int(milestones[-1]), "a recursion")
        stride = int(min(_STRIDE - done % _STRIDE, milestones[position] - done))
        for _ in range(stride):
            advance()
        done += stride
    return out
