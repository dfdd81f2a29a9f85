"""`Schedule`: learning rate, noise and batch size of every step, where they are not the same throughout.

Steps that are alike are written once (a `Stretch`), so that a run of a million steps with a dozen learning rates is as
cheap as a dozen steps. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from ..errors import ArgumentError, HsdpError
from .counts import admit_count

MOST_LISTED = 10**7
"""Steps that a function of the step is called for, at most."""
_HOW = "give a number, a list with per='epoch' or per='step', or a function of the step"


class Per(StrEnum):
    """What the entries of a list stand for."""

    EPOCH = "epoch"
    STEP = "step"


@dataclass(frozen=True)
class Stretch:
    """So many steps, all alike; the letters are those of a run of such steps alone."""

    steps: int
    eta: Fraction
    sigma2: Fraction
    b: int

    def like(self, other: Stretch) -> bool:
        return (self.eta, self.sigma2, self.b) == (other.eta, other.sigma2, other.b)


@dataclass(frozen=True)
class Schedule:
    """The steps of a run, in order; neighbouring stretches differ.

    >>> Schedule.of([Stretch(2, Fraction(1, 2), Fraction(1), 4), Stretch(3, Fraction(1, 2), Fraction(1), 4)]).stretches
    (Stretch(steps=5, eta=Fraction(1, 2), sigma2=Fraction(1, 1), b=4),)
    """

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, stretches: Iterable[Stretch]) -> Schedule:
        """Neighbours that are alike are written as one."""
        found: list[Stretch] = []
        for each in stretches:
            if found and found[-1].like(each):
                found[-1] = replace(each, steps=found[-1].steps + each.steps)
            else:
                found.append(each)
        if not found:
            raise ArgumentError("schedule", (), "a run without steps", "give at least one step")
        return cls(tuple(found))

    @property
    def steps(self) -> int:
        return sum(each.steps for each in self.stretches)

    @property
    def is_constant(self) -> bool:
        return len(self.stretches) == 1

    @cached_property
    def largest(self) -> Stretch:
        """The first with the largest learning rate."""
        return max(self.stretches, key=lambda each: each.eta)

    def first(self, steps: int) -> Schedule:
        """The first so many steps."""
        found, left = [], steps
        for each in self.stretches:
            if left > 0:
                found.append(replace(each, steps=min(left, each.steps)))
                left -= each.steps
        if left > 0:
            raise ArgumentError("steps", steps, f"the schedule says what {self.steps} steps do", "make it longer")
        return Schedule.of(found)

    def parts(self, ends: Iterable[int]) -> Iterator[Stretch]:
        """The stretches, cut wherever so many steps were made."""
        cuts = sorted({each for each in ends if each < self.steps})
        done = place = 0
        for each in self.stretches:
            left = each.steps
            while place < len(cuts) and cuts[place] < done + left:
                if cuts[place] > done:
                    yield replace(each, steps=cuts[place] - done)
                    left -= cuts[place] - done
                    done = cuts[place]
                place += 1
            yield replace(each, steps=left)
            done += left

    def __str__(self) -> str:
        rates = [float(each.eta) for each in self.stretches]
        told = f"a schedule of {self.steps} steps in {len(rates)} stretch{'es' if len(rates) > 1 else ''}"
        if len(set(rates)) > 1:
            told += f", learning rates from {min(rates):.6g} to {max(rates):.6g}"
        return told


Values: TypeAlias = Sequence[object] | Callable[[int], object]


def is_planned(value: object) -> bool:
    """Whether a value is given for every step or epoch: a list or a function, and not a number."""
    return callable(value) or (isinstance(value, Iterable) and not isinstance(value, (str, bytes)))


def admit_per(per: object, planned: Mapping[str, object]) -> Per:
    """What lists are about; a function alone is one of the step."""
    if per is None:
        for name, value in planned.items():
            if not callable(value):
                raise ArgumentError(name, value, "is each entry for a step or for an epoch?", "add per='epoch'")
        return Per.STEP
    if not isinstance(per, str) or per not in list(Per):
        raise ArgumentError("per", per, "lists are given per epoch or per step", "use per='epoch' or per='step'")
    return Per(per)


def as_lists(planned: Mapping[str, object]) -> dict[str, Values]:
    """Functions as they are, anything else as a list."""
    found: dict[str, Values] = {}
    for name, value in planned.items():
        if not callable(value):
            if isinstance(value, (Mapping, Set)):
                raise ArgumentError(name, value, f"a {type(value).__name__} is no list of values in order", _HOW)
            assert isinstance(value, Iterable)
            value = list(value)
            if not value:
                raise ArgumentError(name, value, "an empty list", _HOW)
        found[name] = value
    return found


def length_of(planned: Mapping[str, Values], count: int | None, unit: Per) -> int:
    """How many steps or epochs the lists are for; an error where they do not agree, or where only functions are given.

    `count` is how many there are said to be, if that was said.
    """
    for name, value in planned.items():
        if not callable(value):
            if count is not None and len(value) != count:
                raise ArgumentError(
                    name,
                    len(value),
                    f"so many entries are given, and there are {count} {unit}s",
                    f"give one for every {unit}",
                )
            count = len(value)
    if count is None:
        raise ArgumentError(f"{unit}s", None, "a function does not say how many there are", f"give {unit}s")
    if count > MOST_LISTED:
        raise ArgumentError(f"{unit}s", count, f"a list or function is read for at most {MOST_LISTED}", "write less")
    return count


def read(
    planned: Mapping[str, Values], count: int, admit: Callable[[str, object], Fraction | int]
) -> Iterator[tuple[int, dict[str, Fraction | int]]]:
    """The values of one step or epoch after another, admitted; neighbours that are alike at once, with their number."""
    known: dict[tuple[str, type, object], Fraction | int] = {}

    def admitted(name: str, place: int) -> Fraction | int:
        source = planned[name]
        value = _called(name, source, place) if callable(source) else source[place]
        key = name, type(value), value
        try:
            if key in known:
                return known[key]
        except TypeError:  # cannot be a key: cannot be a number either
            return admit(name, value)
        if len(known) > 10**6:
            known.clear()
        return known.setdefault(key, admit(name, value))

    rows = ({name: admitted(name, place) for name in planned} for place in range(count))
    for row, alike in groupby(rows):
        yield sum(1 for _ in alike), row


def _called(name: str, function: Callable[[int], object], place: int) -> object:
    """What a user's function says of one step."""
    try:
        return function(place)
    except HsdpError:
        raise
    except Exception as error:
        problem = f"it fails at {place}: {type(error).__name__}: {error}"
        raise ArgumentError(name, function, problem, "give a function of the step, counted from 0") from error


def admit_batch_size(name: str, value: object, n: int) -> int:
    """The size of one batch."""
    size = admit_count(name, value)
    if size > n:
        raise ArgumentError(name, value, f"a batch cannot exceed the dataset of n = {n}", "choose batch_size <= n")
    return size
