"""Several runs on one dataset, each of which releases its last iterate.

Rényi divergences of one order add up, and so do the μ² of Gaussian differential privacy (Dong, Roth & Su 2022): the
smaller of the two is taken. One run alone is accounted for as by `epsilon`.

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
from .applicable import Candidates, Considered, bounds_for
from .bounds import Best, GaussianBound, RenyiBound
from .conversion import Goal, admit_delta, admit_epsilon, check_finite
from .counts import admit_count
from .effort import NORMAL
from .guarantee import certified, nothing_holds, why_composition
from .orders import admit_orders, best
from .run import TrainingRun
from .sums import Sum, least_of

if TYPE_CHECKING:
    from .applicable import Refuse


@dataclass(frozen=True)
class Part:
    """A run, how its batches are made, and how many times it is repeated."""

    run: Setting | TrainingRun
    scheme: str
    count: int = 1


@dataclass(frozen=True)
class Total:
    """(ε, δ) of all parts together; `bounds` names the bound used for each part.

    They are divergences of one `order`; or profiles, `order` being None: Gaussian ones, unless there is one part only.
    """

    epsilon: float
    delta: float
    lower: float
    order: Fraction | float | None
    bounds: tuple[str, ...]
    neighbouring: str
    assumed_by_you: tuple[str, ...] = ()
    """What you vouch for: the updates of parts for which a hidden-state bound is used, and losses that S_g is from."""
    notes: tuple[str, ...] = ()
    """For each part, why composition is used; empty if it is not."""


def _why_composition(candidates: Candidates) -> str:
    losing = (Considered(each.label, "loses", None, None, "another is smaller") for each in candidates.bounds)
    return why_composition(candidates, [*candidates.refused, *losing])


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
    >>> found.bounds, 0.2611 < found.epsilon < 2 * 0.2612
    (('shift:shuffle',), True)
    """
    goal = Goal("epsilon", admit_delta(delta))
    found = _total(parts, goal, neighbouring, orders, refuse)
    check_finite(goal.given, found.epsilon)
    return found


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


@dataclass(frozen=True)
class _Summand:
    """A part, and the bounds that apply to it."""

    part: Part
    candidates: Candidates

    @property
    def divergences(self) -> tuple[RenyiBound, ...]:
        return tuple(bound for bound in self.candidates.bounds if isinstance(bound, RenyiBound))


@dataclass(frozen=True)
class _Found:
    """What all parts together give, and the bound used for each."""

    least: Best
    bounds: tuple[str, ...]


def _total(
    parts: Iterable[Part],
    goal: Goal,
    neighbouring: str | None,
    orders: Iterable[object] | None,
    refuse: Refuse | None,
) -> Total:
    wanted = admit_orders(orders)
    summands = _summands(parts, neighbouring, refuse)
    relation = summands[0].candidates.neighbouring
    found = _alone(summands, goal) if wanted is None else None
    if found is None:
        ways = [_by_divergences(summands, goal, wanted), _by_gaussians(summands, goal) if wanted is None else None]
        found = min((way for way in ways if way is not None), key=lambda way: way.least.upper, default=None)
    if found is None:
        failing = next(each for each in summands if not each.divergences)
        raise nothing_holds(failing.candidates, failing.candidates.refused)
    least, given = found.least, goal.reported()
    pairs = [
        (label in each.candidates.hidden, each.candidates) for label, each in zip(found.bounds, summands, strict=True)
    ]
    return Total(
        epsilon=least.upper if goal.seeks == "epsilon" else given,
        delta=least.upper if goal.seeks == "delta" else given,
        lower=least.lower,
        order=least.order,
        bounds=found.bounds,
        neighbouring=relation,
        assumed_by_you=tuple(
            dict.fromkeys(
                word
                for label, (hides, each) in zip(found.bounds, pairs, strict=True)
                for word in each.your_word((label,), hides)
            )
        ),
        notes=tuple("" if hides else _why_composition(each) for hides, each in pairs),
    )


def _summands(parts: Iterable[Part], neighbouring: str | None, refuse: Refuse | None) -> list[_Summand]:
    """Every part with its bounds; an error where one has none, or where they cannot be added."""
    if not isinstance(parts, Iterable):
        raise ArgumentError("parts", parts, "not a list of parts", "give [Part(run, scheme), …]")
    found = []
    for part in parts:
        if not isinstance(part, Part):
            raise ArgumentError("parts", part, f"a {type(part).__name__} is not a Part", "give Part(run, scheme)")
        admit_count("count", part.count)
        candidates = bounds_for(part.run, part.scheme, neighbouring, refuse)
        if not candidates.bounds:
            raise nothing_holds(candidates, candidates.refused)
        found.append(_Summand(part, candidates))
    if not found:
        raise ArgumentError("parts", (), "an empty list", "give at least one Part(run, scheme)")
    if len({each.candidates.neighbouring for each in found}) > 1:
        raise ArgumentError(
            "neighbouring", neighbouring, "the runs differ in it, and such guarantees do not add", "use 'replace_one'"
        )
    return found


def _alone(summands: Sequence[_Summand], goal: Goal) -> _Found | None:
    """One run, made once: whatever bounds it."""
    if len(summands) > 1 or summands[0].part.count > 1:
        return None
    held, lost = certified(summands[0].candidates.bounds, goal, None, NORMAL)
    if not held:
        raise nothing_holds(summands[0].candidates, lost)
    chosen, least = min(held, key=lambda pair: pair[1].upper)
    return _Found(least, (chosen.label,))


def _by_divergences(
    summands: Sequence[_Summand], goal: Goal, orders: Sequence[Fraction | float] | None
) -> _Found | None:
    """Divergences of one order, if every part has one."""
    if not all(each.divergences for each in summands):
        return None
    found = best(Sum(tuple((each.part.count, each.divergences) for each in summands)), goal, orders)
    order = found.order if isinstance(found.order, Fraction) else Fraction(2)
    return _Found(found, tuple(least_of(each.divergences, order)[0] for each in summands))


def _by_gaussians(summands: Sequence[_Summand], goal: Goal) -> _Found | None:
    """Σ count·μ², if every part is Gaussian differentially private."""
    if not (goal.seeks == "delta" or 0 < goal.given < 1):
        return None  # which needs no number
    total, used = Enclosure(Fraction(0), Fraction(0)), []
    for each in summands:
        gaussian = (bound for bound in each.candidates.bounds if isinstance(bound, GaussianBound))
        costs = [(bound.label, cost) for bound in gaussian if (cost := _cost(bound)) is not None]
        if not costs:
            return None
        label, cost = min(costs, key=lambda pair: pair[1].hi)
        total = Enclosure(total.lo + each.part.count * cost.lo, total.hi + each.part.count * cost.hi)
        used.append(label)
    return _Found(Best(goal.of_gaussian(total), None), tuple(used))


def _cost(bound: GaussianBound) -> Enclosure | None:
    """μ², or None where the bound's hypotheses fail."""
    try:
        return bound.cost()
    except HsdpError:
        return None
