"""`compare`: all bounds for one run over the number of epochs, and where another becomes the smallest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..errors import ArgumentError, HsdpError
from ..progress import Ticker
from ..setting import Setting
from .applicable import Candidates, Considered, bounds_for
from .bounds import Best, RenyiBound
from .candidates import check_scheme
from .conversion import Goal, admit_delta, check_finite
from .counts import admit_count
from .effort import Effort, admit_effort
from .guarantee import certified, nothing_holds, what_helps, why_composition
from .lengths import Lengths
from .orders import admit_orders, minimum
from .run import TrainingRun, as_run

TIE = 1e-9
"""Bounds that differ by less, relatively, count as equal (several coincide at K = 1)."""


@dataclass(frozen=True)
class Crossover:
    """The first epoch at which `after` is smaller than `before`, which was smallest an epoch earlier.

    `certified` means that no order could make the loser smaller, at that epoch and at the one before.
    """

    K: int
    before: str
    after: str
    certified: bool


@dataclass(frozen=True)
class Comparison:
    """Certified ε of every bound (None where it does not apply) at every K of `epochs`."""

    scheme: str
    neighbouring: str
    delta: float
    epochs: tuple[int, ...]
    curves: tuple[tuple[str, tuple[float | None, ...]], ...]
    crossovers: tuple[Crossover, ...]
    does_not_apply: tuple[tuple[str, str], ...]
    update: str = ""
    assumed_by_you: tuple[str, ...] = ()
    """What you vouch for in the update of the run, if a hidden-state bound is among the curves."""
    note: str = ""
    """Why no hidden-state bound is among the curves, if none is; `helps` says what would help, if known."""
    helps: str = ""
    unfinished: str = ""
    """That the last row is of a run that ends within an epoch, if it is."""


def compare(
    run: Setting | TrainingRun,
    /,
    *,
    delta: object,
    scheme: str,
    epochs: Iterable[int] | None = None,
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    effort: str = "normal",
) -> Comparison:
    """ε at `delta` by every statement that covers `scheme`, for each number of epochs.

    Without `epochs`, about a dozen values from 1 to the K of the run are taken. Of a run with a schedule, or that is a
    number of steps, the first K epochs are looked at; the last ends with the run.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> compare(run, delta="1e-5", scheme="shuffle", epochs=[1, 40]).epochs
    (1, 40)
    """
    lengths = Lengths(as_run(run), check_scheme(scheme))
    probability = admit_delta(delta)
    check_finite(probability, math.inf)
    wanted = admit_orders(orders)
    goal = Goal("epsilon", probability)
    chosen = _epochs(lengths, epochs)
    table = _Table(lengths, goal, neighbouring, wanted, admit_effort(effort))
    ticker = Ticker()
    for K in reversed(chosen):  # one sketch of the longest run holds all shorter ones
        ticker.say(f"K = {K}")
        table.row(K)
    rows = [table.row(K) for K in chosen]
    crossovers = []
    for first, last in pairwise(chosen):
        crossovers += table.crossings(first, last)
    ticker.clear()
    names = list(dict.fromkeys(label for row in rows for label in row))
    names.sort(key=lambda label: min(row[label].upper for row in rows if label in row))
    shortest = table.candidates(chosen[0])
    failed = [Considered(label, "does not apply", None, None, reason) for label, reason in table.refused.items()]
    composed, footing = shortest.hidden.isdisjoint(names), shortest.covered.footing
    note = why_composition(shortest, failed) if composed else ""
    return Comparison(
        scheme=lengths.scheme,
        neighbouring=shortest.neighbouring,
        delta=goal.reported(),
        epochs=tuple(chosen),
        curves=tuple((label, tuple(row[label].upper if label in row else None for row in rows)) for label in names),
        crossovers=tuple(crossovers),
        does_not_apply=tuple({**{entry.label: entry.reason for entry in shortest.refused}, **table.refused}.items()),
        update="" if composed else footing.why,
        assumed_by_you=shortest.your_word(names, not composed),
        note=note,
        helps=what_helps(shortest, note),
        unfinished=lengths.unfinished(chosen[-1]),
    )


def _epochs(lengths: Lengths, epochs: Iterable[int] | None) -> list[int]:
    if epochs is not None:
        if not isinstance(epochs, Iterable):
            raise ArgumentError("epochs", epochs, "not a list of numbers", "give a list such as [1, 10, 100]")
        found = sorted({admit_count("epochs", K) for K in epochs})
        if not found:
            raise ArgumentError("epochs", epochs, "an empty list", "give a list such as [1, 10, 100]")
        return found
    last = lengths.epochs
    if last is None:
        raise ArgumentError("K", None, "neither the run nor the call says how many epochs", "give epochs=[1, 10, 100]")
    rounded = {1, last}
    power = 1
    while power < last:
        rounded |= {power * step for step in (1, 2, 5) if power * step < last}
        power *= 10
    return sorted(rounded)


class _Table:
    """Certified ε by label, one row for each number of epochs, computed once."""

    def __init__(
        self,
        lengths: Lengths,
        goal: Goal,
        neighbouring: str | None,
        orders: tuple[Fraction | float, ...] | None,
        effort: Effort,
    ) -> None:
        self._lengths, self._goal, self._neighbouring = lengths, goal, neighbouring
        self._orders, self._effort = orders, effort
        self._rows: dict[int, dict[str, Best]] = {}
        self.refused: dict[str, str] = {}

    def row(self, K: int) -> dict[str, Best]:
        if K not in self._rows:
            found = self.candidates(K)
            held, lost = certified(found.bounds, self._goal, self._orders, self._effort, all_of_them=True)
            row = {bound.label: least for bound, least in held}
            for entry in (*found.refused, *lost):
                self.refused.setdefault(entry.label, entry.reason)
            if not row:
                raise nothing_holds(found, [*found.refused, *lost])
            self._rows[K] = row
        return self._rows[K]

    def candidates(self, K: int) -> Candidates:
        run = self._lengths.first(K)
        return bounds_for(run, self._lengths.scheme, self._neighbouring, effort=self._effort)

    def winners(self, K: int) -> tuple[str, ...]:
        """The smallest bounds at K: more than one where they coincide."""
        row = self.row(K)
        least = min(found.upper for found in row.values())
        return tuple(label for label, found in row.items() if found.upper <= least * (1 + TIE))

    def crossings(self, first: int, last: int) -> list[Crossover]:
        """Where the smallest bound changes between two epochs, by bisection; every change seen is reported.

        Where one of the two says nothing at the one or the other, they do not cross.
        """
        if not set(self.winners(first)).isdisjoint(self.winners(last)):
            return []
        if last == first + 1:
            before, after = self.winners(first)[0], self.winners(last)[0]
            if before not in self.row(last) or after not in self.row(first):
                return []
            certified = self._beats(first, before, after) and self._beats(last, after, before)
            return [Crossover(last, before, after, certified)]
        middle = (first + last) // 2
        return self.crossings(first, middle) + self.crossings(middle, last)

    def _beats(self, K: int, smaller: str, larger: str) -> bool:
        """Whether the bound `larger`, at whatever order, is certainly above the certified value of `smaller`."""
        value = self.row(K)[smaller].value
        (bound,) = (each for each in self.candidates(K).bounds if each.label == larger)
        if not isinstance(bound, RenyiBound):
            least = self.row(K)[larger].value
            return value is not None and (least is None or least.lo >= value.hi)
        try:
            return value is not None and minimum(bound, self._goal, below=value.hi) >= value.hi
        except HsdpError:
            return False
