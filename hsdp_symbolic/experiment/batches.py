"""How each scheme puts records into batches, for many chains (independent runs) at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

import numpy as np
import numpy.typing as npt

SIMULATED = ("fixed", "shuffle", "reshuffle", "without_replacement", "full_batch")

Places = npt.NDArray[np.int64]
Hits = Literal[True] | slice | Places | None  # type: ignore[explicit-any]  # a slice has no simpler type
"""The chains whose batch holds a record: all (True), a slice of them, those at the places given, or none (None)."""


@dataclass(frozen=True)
class Batches:
    """Batches of b of n records, for K epochs.

    Random batches are drawn one by one, as they are asked for: in between, the chains draw their noise from the same
    generator.
    """

    scheme: str
    n: int
    b: int
    K: int

    @property
    def per_epoch(self) -> int:
        return self.n // self.b

    def hits(self, index: int, rng: np.random.Generator, chains: int) -> Iterator[Hits]:
        """For each update, the chains whose batch holds record `index`."""
        epochs: Iterable[Iterable[Hits]]
        if self.scheme in ("fixed", "full_batch"):
            epochs = repeat([True if j == index // self.b else None for j in range(self.per_epoch)], self.K)
        elif self.scheme == "shuffle":
            edges = self._edges(np.sort(self._drawn(rng, chains)))  # chains are exchangeable: sort them by place
            epochs = repeat([slice(edges[j], edges[j + 1]) for j in range(self.per_epoch)], self.K)
        elif self.scheme == "reshuffle":
            epochs = (self._reshuffled(rng, chains) for _ in range(self.K))
        else:
            epochs = (self._sampled(rng, chains) for _ in range(self.K))
        return chain.from_iterable(epochs)

    def members(self, rng: np.random.Generator, chains: int) -> Iterator[Places]:
        """For each update, the records of the batch: one row for all chains, or a row for each."""
        epochs: Iterable[Iterable[Places]]
        if self.scheme in ("fixed", "full_batch"):
            epochs = repeat(self._cut(np.arange(self.n)), self.K)
        elif self.scheme == "shuffle":
            epochs = repeat(self._cut(self._permuted(rng, chains)), self.K)
        elif self.scheme == "reshuffle":
            epochs = (self._cut(self._permuted(rng, chains)) for _ in range(self.K))
        else:
            epochs = ([self._permuted(rng, chains)[:, : self.b]] for _ in range(self.K * self.per_epoch))
        return chain.from_iterable(epochs)

    def _drawn(self, rng: np.random.Generator, chains: int) -> Places:
        """For each chain, the number of the batch that a record falls into."""
        return rng.integers(self.n, size=chains) // self.b

    def _edges(self, drawn: Places) -> Places:
        """Where each batch begins in `drawn`, which is sorted."""
        return np.searchsorted(drawn, np.arange(self.per_epoch + 1))

    def _reshuffled(self, rng: np.random.Generator, chains: int) -> Iterator[Places]:
        drawn = self._drawn(rng, chains)
        order = np.argsort(drawn, kind="stable")
        edges = self._edges(drawn[order])
        return (order[edges[j] : edges[j + 1]] for j in range(self.per_epoch))

    def _sampled(self, rng: np.random.Generator, chains: int) -> Iterator[Places]:
        kind = np.uint16 if self.n <= 2**16 else np.uint32 if self.n <= 2**32 else np.uint64
        for _ in range(self.per_epoch):
            if 5 * self.b <= self.n:  # few hits: their number, then their places
                number = rng.binomial(chains, self.b / self.n)
                yield rng.choice(chains, number, replace=False, shuffle=False)
            else:
                yield np.flatnonzero(rng.integers(self.n, size=chains, dtype=kind) < self.b)

    def _permuted(self, rng: np.random.Generator, chains: int) -> Places:
        return rng.permuted(np.tile(np.arange(self.n), (chains, 1)), axis=1)

    def _cut(self, order: Places) -> list[Places]:
        """The batches of an epoch, from the records in order; what does not fill a batch is left out."""
        return [order[..., j * self.b : (j + 1) * self.b] for j in range(self.per_epoch)]
