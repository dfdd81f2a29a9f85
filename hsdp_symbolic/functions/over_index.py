"""Means over an index in doubles: their terms block by block, and one mean for each count that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ..setting.arrays import Array, Samples
from .interface import ProgramArgument, Values

_BLOCK = 1 << 14
"""Terms that are evaluated at once."""


def terms_of(
    evaluate: Callable[[ProgramArgument, Values], Array], body: ProgramArgument, index: str, values: Values
) -> Callable[[int, int], Array]:
    """A function of two places: the terms from the first to the last of them, along an axis of their own."""
    widened = {
        name: Samples(value.array[..., None], value.least, value.greatest) if isinstance(value, Samples) else value
        for name, value in values.items()
        if name in body.leaves
    }

    def terms(first: int, last: int) -> Array:
        indices = np.arange(first, last + 1, dtype=np.float64)
        found = evaluate(body, {**widened, index: Samples(indices, first, last)})
        return np.broadcast_to(found, np.broadcast_shapes(found.shape, indices.shape))  # also if it has no index

    return terms


def block_size(means: int) -> int:
    """How many terms to evaluate at once, for so many means side by side."""
    return max(64, _BLOCK // max(1, means))


def for_each_count(counts: Fraction | Array, mean: Callable[[int], Array]) -> Array:
    """`mean` of every count, each computed once."""
    if isinstance(counts, Fraction):
        return mean(int(counts))
    distinct = np.unique(counts)
    parts = [mean(int(count)) for count in distinct.tolist()]
    shape = np.broadcast_shapes(counts.shape, *(part.shape for part in parts))
    out = np.empty(shape)
    for count, part in zip(distinct, parts, strict=True):
        np.copyto(out, part, where=np.broadcast_to(counts == count, shape))
    return out
