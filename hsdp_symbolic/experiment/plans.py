"""Every way in which a scheme may draw its batches, with its chance: for runs so small that all can be listed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from ..errors import ArgumentError

Batch = tuple[int, ...]
"""The numbers of the records in a batch."""
MOST_OUTCOMES = 5000


@dataclass(frozen=True)
class Plan:
    """`outcomes`: lists of batches, each with its chance; one is drawn and gone through, `times` times over."""

    outcomes: tuple[tuple[float, tuple[Batch, ...]], ...]
    times: int = 1

    def __post_init__(self) -> None:
        if not 1 <= len(self.outcomes) <= MOST_OUTCOMES:
            raise ArgumentError(
                "outcomes", len(self.outcomes), f"not from 1 to {MOST_OUTCOMES} of them", "take fewer records or epochs"
            )
        if abs(math.fsum(chance for chance, _ in self.outcomes) - 1) > 1e-12:
            raise ArgumentError("outcomes", len(self.outcomes), "their chances do not add up to 1", "list all of them")

    @property
    def steps(self) -> int:
        return self.times * len(self.outcomes[0][1])

    @property
    def batches(self) -> list[Batch]:
        """Every batch that may occur, once."""
        return sorted({batch for _, batches in self.outcomes for batch in batches})


def fixed(n: int, b: int, K: int) -> Plan:
    """Batches in the order of the records, in every epoch; what does not fill a batch is left out.

    >>> fixed(5, 2, 3).outcomes
    ((1.0, ((0, 1), (2, 3))),)
    """
    return Plan(((1.0, tuple(tuple(range(j * b, j * b + b)) for j in range(n // b))),), K)


def full_batch(n: int, K: int) -> Plan:
    return fixed(n, n, K)


def shuffle(n: int, b: int, K: int) -> Plan:
    """One permutation, kept for all epochs."""
    once = reshuffle(n, b, 1)
    return Plan(tuple((chance, batches * K) for chance, batches in once.outcomes))


def reshuffle(n: int, b: int, K: int) -> Plan:
    """A new permutation for every epoch.

    >>> reshuffle(2, 1, 3).outcomes
    ((0.5, ((0,), (1,))), (0.5, ((1,), (0,))))
    """
    found = list(_cuts(tuple(range(n)), b))
    return Plan(tuple((1 / len(found), batches) for batches in found), K)


def without_replacement(n: int, b: int, steps: int) -> Plan:
    """Every step draws b of the n records.

    >>> without_replacement(3, 1, 7).batches
    [(0,), (1,), (2,)]
    """
    found = list(combinations(range(n), b))
    return Plan(tuple((1 / len(found), (batch,)) for batch in found), steps)


def poisson(n: int, rate: float, steps: int) -> Plan:
    """Every step draws each of the n records by itself, with chance `rate`.

    >>> poisson(1, 0.25, 7).outcomes
    ((0.75, ((),)), (0.25, ((0,),)))
    """
    found = chain.from_iterable(combinations(range(n), size) for size in range(n + 1))
    chances = ((rate ** len(batch) * (1 - rate) ** (n - len(batch)), batch) for batch in found)
    return Plan(tuple((chance, (batch,)) for chance, batch in chances if chance), steps)


def _cuts(records: Batch, b: int) -> Iterator[tuple[Batch, ...]]:
    """Every way to take batches of b from the records, one after the other, until fewer than b are left."""
    if len(records) < b:
        yield ()
        return
    for batch in combinations(records, b):
        rest = tuple(record for record in records if record not in batch)
        for batches in _cuts(rest, b):
            yield batch, *batches
