"""Several runs on one dataset, each of which releases its last iterate: Rényi divergences of one order add up.

A run may start from what an earlier one released, because every bound here holds for any start; where batches are
shuffled, each run shuffles anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ArgumentError, HsdpError
from ..evaluate.enclosure import Enclosure
from ..setting import Setting
from .bounds import RenyiBound
from .conversion import Goal, admit_delta, admit_epsilon
from .guarantee import Candidates, Considered, bounds_for, nothing_holds, why_composition
from .orders import admit_orders, best
from .run import TrainingRun, admit_count

if TYPE_CHECKING:
    from ..setting.arrays import Array
    from .guarantee import Refuse


@dataclass(frozen=True)
class Part:
    """A run, how its batches are made, and how many times it is repeated."""

    run: Setting | TrainingRun
    scheme: str
    count: int = 1


@dataclass(frozen=True)
class Total:
    """(ε, δ) of all parts together; `bounds` names the bound used for each part, at the one order used for all."""

    epsilon: float
    delta: float
    lower: float
    order: Fraction | float | None
    bounds: tuple[str, ...]
    neighbouring: str
    assumed_by_you: tuple[str, ...] = ()
    """What you vouch for in the updates of those parts for which a hidden-state bound is used."""
    notes: tuple[str, ...] = ()
    """For each part, why composition is used; empty if it is not."""


@dataclass(frozen=True)
class _Sum:
    """Σ count·R_α, for each part the least of its bounds at that order."""

    parts: tuple[tuple[int, tuple[RenyiBound, ...]], ...]

    @property
    def same_laws(self) -> bool:
        return all(bound.same_laws for _, bounds in self.parts for bound in bounds)

    @property
    def sampled(self) -> bool:
        return any(bound.sampled for _, bounds in self.parts for bound in bounds)

    @property
    def sketched(self) -> bool:
        return any(bound.sketched for _, bounds in self.parts for bound in bounds)

    def enclose(self, alpha: Fraction, /) -> Enclosure:
        found = [(count, _least(bounds, alpha)[1]) for count, bounds in self.parts]
        nothing = Fraction(0)
        return Enclosure(sum((c * R.lo for c, R in found), nothing), sum((c * R.hi for c, R in found), nothing))

    def numeric(self, alphas: Array, /) -> Array:
        import numpy as np

        total = np.zeros(alphas.shape)
        for count, bounds in self.parts:
            total += count * np.minimum.reduce([bound.numeric(alphas) for bound in bounds])
        return total


def _why_composition(candidates: Candidates) -> str:
    losing = (Considered(each.label, "loses", None, None, "another is smaller") for each in candidates.bounds)
    return why_composition(candidates, [*candidates.refused, *losing])


def _least(bounds: Sequence[RenyiBound], alpha: Fraction) -> tuple[str, Enclosure]:
    """The least upper bound at one order, among those that hold there."""
    found, refused = [], None
    for bound in bounds:
        try:
            found.append((bound.label, bound.enclose(alpha)))
        except HsdpError as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return min(found, key=lambda pair: pair[1].hi)


def epsilon_of_all(
    parts: Iterable[Part],
    /,
    *,
    delta: object,
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    refuse: Refuse | None = None,
) -> Total:
    """ε at `delta` of several runs on one dataset, each releasing its last iterate.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> found = epsilon_of_all([Part(run, "shuffle", count=2)], delta="1e-5")
    >>> found.bounds, 0.3063 < found.epsilon < 2 * 0.3064
    (('shift:shuffle',), True)
    """
    return _total(parts, Goal("epsilon", admit_delta(delta)), neighbouring, orders, refuse)


def delta_of_all(
    parts: Iterable[Part],
    /,
    *,
    epsilon: object,
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    refuse: Refuse | None = None,
) -> Total:
    """δ at `epsilon` of several runs on one dataset, each releasing its last iterate."""
    return _total(parts, Goal("delta", admit_epsilon("epsilon", epsilon)), neighbouring, orders, refuse)


def _total(parts: Iterable[Part], goal: Goal, neighbouring: str | None, orders: object, refuse: Refuse | None) -> Total:
    summands, relations, candidates = [], set(), []
    if not isinstance(parts, Iterable):
        raise ArgumentError("parts", parts, "not a list of parts", "give [Part(run, scheme), …]")
    for part in parts:
        if not isinstance(part, Part):
            raise ArgumentError("parts", part, f"a {type(part).__name__} is not a Part", "give Part(run, scheme)")
        found = bounds_for(part.run, part.scheme, neighbouring, refuse)
        divergences = tuple(bound for bound in found.bounds if isinstance(bound, RenyiBound))
        if not divergences:
            raise nothing_holds(found, found.refused)
        summands.append((admit_count("count", part.count), divergences))
        relations.add(found.neighbouring)
        candidates.append(found)
    if not summands:
        raise ArgumentError("parts", (), "an empty list", "give at least one Part(run, scheme)")
    if len(relations) > 1:
        raise ArgumentError(
            "neighbouring", neighbouring, "the runs differ in it, and such guarantees do not add", "use 'replace_one'"
        )
    least = best(_Sum(tuple(summands)), goal, admit_orders(orders))
    order = least.order if isinstance(least.order, Fraction) else Fraction(2)
    given = goal.reported()
    used = [_least(bounds, order)[0] for _, bounds in summands]
    hidden = [label in found.hidden for label, found in zip(used, candidates, strict=True)]
    pairs = list(zip(hidden, candidates, strict=True))
    return Total(
        epsilon=least.upper if goal.seeks == "epsilon" else given,
        delta=least.upper if goal.seeks == "delta" else given,
        lower=least.lower,
        order=least.order,
        bounds=tuple(used),
        neighbouring=relations.pop(),
        assumed_by_you=tuple(
            dict.fromkeys(word for hides, each in pairs if hides for word in each.covered.footing.assumed_by_you)
        ),
        notes=tuple("" if hides else _why_composition(each) for hides, each in pairs),
    )
