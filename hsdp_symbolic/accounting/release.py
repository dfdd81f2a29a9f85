"""`Release`: which iterates of a run may be seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..errors import ArgumentError
from .counts import admit_count


class Kind(StrEnum):
    """What is made public."""

    LAST = "last"
    """The last iterate."""
    CHECKPOINTS = "checkpoints"
    """Some iterates, and the last one."""
    AVERAGE = "average"
    """The average of the last few iterates."""
    EVERY = "every"
    """All iterates."""


@dataclass(frozen=True)
class Release:
    """What is made public: made by `last`, `every`, `checkpoints` and `average`."""

    kind: Kind
    checkpoints: tuple[int, ...] = ()
    """Numbers of steps after which the iterate is released, ascending."""
    length: int = 0
    """How many iterates are averaged."""
    stride: int = 0
    """Of checkpoints: the iterate after every so many steps is released."""

    def __str__(self) -> str:
        if self.kind is Kind.AVERAGE:
            return f"the average of the last {self.length} iterates is released"
        if self.stride:
            return f"the iterates after every {self.stride} steps and the last one are released"
        if self.kind is Kind.CHECKPOINTS:
            shown = ", ".join(map(str, self.checkpoints[:6])) + (", …" if len(self.checkpoints) > 6 else "")
            return f"the iterates after steps {shown} and the last one are released"
        return f"{'every iterate' if self.kind is Kind.EVERY else 'only the last iterate'} may be released"

    @property
    def hides(self) -> bool:
        """Whether some iterate is never seen."""
        return self.kind is not Kind.EVERY

    def seen(self, steps: int) -> tuple[int, ...]:
        """The iterates that a run of so many steps shows at most, by the number of steps before them; the last too.

        Of an average of iterates it is not used that they are averaged.
        """
        if self.kind is Kind.EVERY:
            return tuple(range(1, steps + 1))
        if self.kind is Kind.AVERAGE:
            return tuple(range(max(1, steps - self.length + 1), steps + 1))
        if self.stride:
            return (*range(self.stride, steps, self.stride), steps)
        return (*(each for each in self.checkpoints if each < steps), steps)


LAST, EVERY = Release(Kind.LAST), Release(Kind.EVERY)


def checkpoints(*steps: int, every: object = None) -> Release:
    """The iterates after these numbers of steps are released, or after `every` so many, and the last one.

    >>> checkpoints(100, 200).seen(250)
    (100, 200, 250)
    >>> checkpoints(every=100) == checkpoints(100, 200)  # one is of runs of any length
    False
    >>> checkpoints(every=100).seen(250)
    (100, 200, 250)
    """
    if every is not None:
        if steps:
            raise ArgumentError("every", every, "steps are listed too", "give one of the two")
        stride = admit_count("checkpoints", every)
        return Release(Kind.CHECKPOINTS, stride=stride) if stride > 1 else EVERY
    found = sorted({admit_count("checkpoints", each) for each in steps})
    return Release(Kind.CHECKPOINTS, tuple(found)) if found else LAST


def require_within(release: Release, steps: int) -> None:
    """Refuse what would be released after training has ended."""
    for each in release.checkpoints:
        if each > steps:
            raise ArgumentError("checkpoints", each, f"training ends after {steps} steps", "leave it out")


def average(last: int) -> Release:
    """The average of the `last` iterates is released, and nothing else.

    >>> average(3).seen(250)
    (248, 249, 250)
    """
    length = admit_count("average", last)
    return Release(Kind.AVERAGE, length=length) if length > 1 else LAST


def admit_release(released: object) -> Release:
    """What is released, as given for a run: "last", "every", a list of steps, `checkpoints(…)` or `average(…)`."""
    if isinstance(released, Release):
        return released
    if isinstance(released, str) and released in (Kind.LAST.value, Kind.EVERY.value):
        return LAST if released == Kind.LAST else EVERY
    if isinstance(released, Iterable) and not isinstance(released, (str, bytes)):
        return checkpoints(*released)
    raise ArgumentError(
        "released",
        released,
        "it does not say which iterates may be seen",
        "give 'last', 'every', checkpoints(100, 200) or average(10)",
    )
