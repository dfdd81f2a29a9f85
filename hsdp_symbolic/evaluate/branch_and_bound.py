"""Branch and bound: cut the most promising piece in two, again and again, until it is good enough."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeVar

Piece = TypeVar("Piece")
Rank = TypeVar("Rank", bound=Fraction | float)


def branch_and_bound(
    pieces: Iterable[Piece],
    *,
    rank: Callable[[Piece], Rank],
    cut: Callable[[Piece], Iterable[Piece]],
    enough: Callable[[Rank, Piece], bool],
    budget: int,
    report: Callable[[int, int], None],
) -> Rank | None:
    """The least rank left when its piece is good `enough`, or `budget` pieces are cut; None if no piece is left.

    The piece of least rank is next, among equals the one that came first; what `cut` makes of it takes its place.
    `report` is told before each turn how many pieces have been cut and how many are waiting.

    Below, x² − x over [0, 2] is at least low² − high on a piece [low, high]; its least value is −1/4.

    >>> least = branch_and_bound(
    ...     [(0.0, 2.0)],
    ...     rank=lambda ends: ends[0] ** 2 - ends[1],
    ...     cut=lambda ends: [(ends[0], sum(ends) / 2), (sum(ends) / 2, ends[1])],
    ...     enough=lambda rank, ends: ends[1] - ends[0] < 0.01,
    ...     budget=1000,
    ...     report=lambda cut, waiting: None,
    ... )
    >>> -0.26 < least <= -0.25
    True
    """
    number = itertools.count()

    def entry(piece: Piece) -> tuple[Rank, int, Piece]:
        return rank(piece), next(number), piece

    waiting = [entry(piece) for piece in pieces]
    heapq.heapify(waiting)
    for turn in range(budget):
        if not waiting:
            return None
        report(turn, len(waiting))
        least, _, piece = waiting[0]
        if enough(least, piece):
            break
        heapq.heappop(waiting)
        for part in cut(piece):
            heapq.heappush(waiting, entry(part))
    return waiting[0][0] if waiting else None
