"""What a DataLoader draws: how it makes batches, every pass over it, and which batches a step has used.

Needs torch and Opacus. This only records; what no accountant could account for is an error.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import torch
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler

from ..errors import ArgumentError
from ..meaning import Scheme


class Order(StrEnum):
    """How a loader makes batches, as its sampler says."""

    SEQUENTIAL = "in the order of the dataset, every pass the same"
    RANDOM = "in a new random order every pass"
    POISSON = "Poisson: every record by itself, with one probability"


@dataclass
class Pass:
    """One iteration over the batches, as drawn; workers may draw ahead of what the loop uses."""

    planned: int
    randomness: bytes
    """The state of the generator the order was drawn from: the same state gives the same order."""
    sizes: list[int] = field(default_factory=list)
    exhausted: bool = False
    used: int = 0
    """Batches that steps have used, in the order drawn."""
    steps: list[int] = field(default_factory=list)
    """Records in each step."""

    @property
    def whole(self) -> bool:
        """Whether all of it was drawn and used."""
        return (self.exhausted or len(self.sizes) == self.planned) and self.used == len(self.sizes)


def random_state(generator: Any, device: Any = None) -> bytes:
    """A fingerprint of the state of the generator about to be drawn from; empty where it cannot be read."""
    if generator is not None:
        state = generator.get_state()
    elif device is None or device.type == "cpu":
        state = torch.get_rng_state()
    elif device.type == "cuda":
        state = torch.cuda.get_rng_state(device)
    else:
        return b""
    return hashlib.blake2b(state.cpu().numpy().tobytes(), digest_size=16).digest()


class RecordedBatches(BatchSampler):  # Opacus asks for one, to take its length
    """A batch sampler that writes down what it hands on. A DataLoader calls it in the main process only."""

    def __init__(self, inner: Any, passes: list[Pass]) -> None:
        self.inner, self.passes, self.interleaved = inner, passes, False

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "passes", "interleaved"):  # not there yet while it is being copied
            raise AttributeError(name)
        if name == "batch_size" and not hasattr(self.inner, name):
            return max(1, round(self.inner.sample_rate * self.inner.num_samples))
        return getattr(self.inner, name)

    def __len__(self) -> int:
        return len(self.inner)

    def __iter__(self) -> Iterator[list[int]]:
        # A generator, because with workers a DataLoader calls iter() twice per pass and draws from the second only.
        sampler = self.inner if isinstance(self.inner, UniformWithReplacementSampler) else self.inner.sampler
        found = Pass(len(self.inner), random_state(getattr(sampler, "generator", None)))
        self.passes.append(found)
        for batch in self.inner:
            self.interleaved |= found is not self.passes[-1]
            indices = list(batch)
            found.sizes.append(len(indices))
            yield indices
        found.exhausted = True


class LoaderObserver:
    """Recognises how a loader makes batches, records every pass, and ticks off what steps have used."""

    def __init__(self, loader: Any, declared: Scheme | None) -> None:
        self.order, self.declared = order_of(loader), declared
        self.n = len(loader.dataset)
        self.batch_size = getattr(loader.batch_sampler, "batch_size", None)
        self.sample_rate: float | None = getattr(loader.batch_sampler, "sample_rate", None)
        self.passes: list[Pass] = []
        inner = loader.batch_sampler
        self.batches = RecordedBatches(inner.inner if isinstance(inner, RecordedBatches) else inner, self.passes)
        object.__setattr__(loader, "batch_sampler", self.batches)  # DataLoader.__setattr__ forbids it once built
        loader._iterator = None  # workers that persist keep the old sampler in their iterator

    def step(self, records: int) -> int:
        """A step is about to be made from this many records: how many batches they were, or an error."""
        if not self.passes:
            raise ArgumentError(
                "data_loader",
                records,
                "a step uses records, and no batch was drawn from the loader that make_private returned",
                "train on that loader",
            )
        if self.batches.interleaved:
            raise ArgumentError(
                "data_loader",
                len(self.passes),
                "two passes over it were under way at once, so it cannot be told which batches steps have used",
                "evaluate with a DataLoader of its own",
            )
        found = self.passes[-1]
        first, total = found.used, 0
        while found.used < len(found.sizes) and (found.used == first or total < records):
            total += found.sizes[found.used]
            found.used += 1
        drawn = found.sizes[first : found.used]
        if total != records:
            raise ArgumentError(
                "optimizer.step",
                records,
                f"that many records are used, and the batches drawn for the step have {drawn or 'none'}",
                "use every batch of the loader once and whole, and call zero_grad() after every step and before "
                "every pass",
            )
        if self.order is Order.POISSON and len(drawn) != 1:
            raise ArgumentError(
                "optimizer.step",
                records,
                f"one step for the {len(drawn)} Poisson batches {drawn}: a batch was skipped, and a batch without "
                "records takes a step too, of noise alone",
                "make a step for every batch the loader gives, empty or not",
            )
        if not found.steps:
            self._check_fresh(found)
        found.steps.append(records)
        return len(drawn)

    def _check_fresh(self, found: Pass) -> None:
        """At the first step of a pass: whether its order is as declared, and Poisson batches are drawn afresh."""
        number, repeated = len(self.trained) + 1, any(each.randomness == found.randomness for each in self.trained)
        if self.order is Order.POISSON and repeated:
            problem = f"pass {number} over the loader draws the same Poisson batches as an earlier one"
            raise ArgumentError("generator", "a state it had before", problem, "seed once, before the first pass")
        if self.order is not Order.RANDOM or number == 1 or len(self.batches) == 1:
            return
        if self.declared is Scheme.RESHUFFLE and repeated:
            problem = f"declared, and pass {number} over the loader has the order of an earlier one"
            remedy = "seed once, before the first pass, or leave the scheme out"
            raise ArgumentError("scheme", self.declared.value, problem, remedy)
        if self.declared in (Scheme.SHUFFLE, Scheme.FIXED) and not repeated:
            problem = f"declared, and pass {number} over the loader has an order of its own"
            remedy = "use shuffle=False, or leave the scheme out"
            raise ArgumentError("scheme", self.declared.value, problem, remedy)

    @property
    def trained(self) -> list[Pass]:
        """Passes that steps were made from; others only looked at the data."""
        return [found for found in self.passes if found.steps]

    @property
    def distinct_orders(self) -> int:
        """How many different orders the passes trained on came in."""
        return 1 if self.order is Order.SEQUENTIAL else len({found.randomness for found in self.trained})

    @property
    def true_rate(self) -> Fraction:
        """The probability a Poisson batch holds a record with, rounded up.

        Opacus compares `torch.rand`, a multiple of 2^-24 (of 2^-53 in double precision), with the rate in that
        precision, so that the probability is not quite the rate.
        """
        assert self.sample_rate is not None
        single = torch.tensor(self.sample_rate, dtype=torch.float32).item()
        rounded = [
            Fraction(math.ceil(Fraction(rate) * 2**bits), 2**bits)
            for rate, bits in ((single, 24), (self.sample_rate, 53))
        ]
        return min(Fraction(1), max(rounded))


def order_of(loader: Any) -> Order:
    """How a loader makes batches, or an error where that is not known. Exact types: a subclass may do anything.

    `loader.sampler` means nothing where a batch sampler was given, so it is not looked at.
    """
    batches, kind = loader.batch_sampler, ""
    if isinstance(batches, RecordedBatches):
        batches = batches.inner
    if isinstance(loader.dataset, IterableDataset):
        kind = "an IterableDataset"
    elif batches is None:
        kind = "no batches (batch_size=None)"
    elif type(batches) is UniformWithReplacementSampler:
        return Order.POISSON
    elif type(batches) is not BatchSampler:
        kind = type(batches).__name__
    elif type(batches.sampler) not in (SequentialSampler, RandomSampler):
        kind = type(batches.sampler).__name__
    elif len(batches.sampler.data_source) != len(loader.dataset):
        kind = f"a {type(batches.sampler).__name__} of another dataset"
    elif type(batches.sampler) is SequentialSampler:
        return Order.SEQUENTIAL
    elif batches.sampler.replacement:
        kind = "a RandomSampler with replacement, which uses records several times"
    elif batches.sampler.num_samples != len(batches.sampler.data_source):
        kind = f"a RandomSampler of {batches.sampler.num_samples} out of {len(batches.sampler.data_source)} records"
    else:
        return Order.RANDOM
    raise ArgumentError(
        "data_loader",
        kind,
        "it is not known how often a record is used in a pass",
        "use a DataLoader with shuffle=True or shuffle=False (of a Subset, to leave records out), or "
        "poisson_sampling=True",
    )
