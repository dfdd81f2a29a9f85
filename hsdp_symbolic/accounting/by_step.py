"""Bounds for runs that are looked at step by step: by shifts, by composition, and by stretches of like steps.

`ByShifts` holds what the record's ranks cost (`scheduled`). Where batches are drawn afresh in every step, each stretch
of like steps is a run of its own that starts anywhere and releases its last iterate, and Rényi divergences add up.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic.doubles import double_below
from ..errors import ArgumentError, HsdpError
from ..evaluate.enclosure import Enclosure, enclose
from ..functions.mixture_profile import mixture_delta, mixture_epsilon
from ..meaning import Neighbouring, Scheme
from ..setting import Setting
from .bounds import Best, Bound, GaussianBound, RenyiBound
from .columns import Columns
from .conversion import Goal, gaussian_program
from .effort import Effort
from .release import EVERY, LAST, Kind
from .run import TrainingRun
from .schedule import Schedule, Stretch
from .scheduled import Cost, Costs, square_at_once
from .sums import Sum
from .update import standing_statement

if TYPE_CHECKING:
    from ..setting.arrays import Array

THEOREM = "shift:pattern/planned-releases"
"""The theorem that bounds by shifts rest on (`lemmas`); in a bounded set, and for a mean, on its neighbours."""
STRETCHES = "stretches"
ATOL = Fraction(1, 2**120)
CLOSE = 1 - Fraction(1, 2**30)
"""An ε is compared with one so much smaller, to tell how close it is."""
LARGEST_MEAN = 10**100
"""Where μ² of the worst rank is above this, no mean over ranks is looked for."""
MOST_PARTS = 48
"""Stretches of steps drawn afresh that are told apart."""
_TITLES = {
    THEOREM: "The best shifts, for steps that differ",
    STRETCHES: "Stretches of like steps, their Rényi divergences added up",
}


def _settled(goal: Goal, costs_something: bool) -> Best | None:
    """What needs no number."""
    if not costs_something or (goal.seeks == "epsilon" and goal.given == 1):
        return Best(Enclosure(Fraction(0), Fraction(0)), None)
    return Best(None, None) if goal.seeks == "epsilon" and goal.given == 0 else None


@dataclass(frozen=True)
class ByShifts(GaussianBound):
    """μ² for each group of ranks; `statement` says what is asked of the update, and whose datasets are compared."""

    costs: tuple[Cost, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return THEOREM

    @property
    def title(self) -> str:
        return _TITLES[THEOREM]

    def cost(self) -> Enclosure:
        """μ² of the worst rank, which bounds them all."""
        worst = max(each.square for each in self.costs)
        if worst == inf:
            raise ArgumentError("run", self.setting, "its cost is beyond all doubles", "use composition")
        return Enclosure(Fraction(worst), Fraction(worst))

    def best(self, goal: Goal) -> Best:
        """The certified ε at the δ given, or δ at the ε given."""
        settled = _settled(goal, any(each.square for each in self.costs))
        if settled is not None:
            return settled
        if len(self.costs) > 1 and self.cost().hi <= LARGEST_MEAN:
            try:
                return self._mean(goal)
            except HsdpError:  # δ may be too small for a mean
                pass
        return Best(goal.of_gaussian(self.cost()), None)

    def _mean(self, goal: Goal) -> Best:
        """The same for the mean over ranks."""
        shares, squares = [each.share for each in self.costs], np.array([each.square for each in self.costs])
        if goal.seeks == "delta":
            most = Fraction(mixture_delta(shares, squares, goal.given))
            return Best(Enclosure(min(most, least_delta(self.costs, goal.given)), most), None)
        found = mixture_epsilon(shares, squares, goal.given)
        if found == inf:
            return Best(None, None)
        near = Fraction(found) * CLOSE
        least = near if least_delta(self.costs, near) > goal.given else Fraction(0)
        return Best(Enclosure(least, Fraction(found)), None)


@dataclass(frozen=True)
class Composed(GaussianBound):
    """μ² of all steps, every iterate being seen, each step by `statement`."""

    square: Enclosure | None = None

    def cost(self) -> Enclosure:
        assert self.square is not None
        return self.square

    def best(self, goal: Goal) -> Best:
        return _settled(goal, bool(self.cost().hi)) or Best(goal.of_gaussian(self.cost()), None)


@dataclass(frozen=True)
class ByStretches(RenyiBound):
    """Σ R_α over stretches of like steps, for each the least of its bounds at that order."""

    total: Sum = field(default_factory=lambda: Sum(()))
    hides: bool = False
    """Whether some of these bounds fail if intermediate iterates are seen."""
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return STRETCHES

    @property
    def title(self) -> str:
        return _TITLES[STRETCHES]

    @property
    def hidden_state(self) -> bool:
        return self.hides

    @property
    def sampled(self) -> bool:
        return self.total.sampled

    @property
    def integrated(self) -> bool:
        return self.total.integrated

    @property
    def sketched(self) -> bool:
        return self.total.sketched

    def choices(self, alpha: Fraction) -> Mapping[str, Fraction]:
        return {}

    def enclose(self, alpha: Fraction) -> Enclosure:
        return self.total.enclose(alpha)

    def numeric(self, alphas: Array) -> Array:
        return self.total.numeric(alphas)


# --- Which of them apply --------------------------------------------------------------------------------------------


def _stated(setting: Setting) -> str:
    """The statement about like steps that asks the same of an update."""
    if "lipschitz" in setting:
        return "gdp:expanding"
    return "gdp:cyclic" if "lam" in setting else "gdp:convex"


def by_shifts(
    run: TrainingRun,
    scheme: Scheme,
    effort: Effort,
    relation: Neighbouring = Neighbouring.REPLACE_ONE,
    columns: Columns | None = None,
) -> tuple[ByShifts | None, str]:
    """The bound by shifts, or why there is none; errors where it is not known what was run."""
    found = Costs(run, scheme, Columns.of(run, scheme, relation) if columns is None else columns)
    if not found.constants.known:
        return None, found.constants.reason
    costs = tuple(found.all())
    if scheme in (Scheme.FIXED, Scheme.FULL_BATCH):
        worst = max(each.square for each in costs)
        costs = (Cost(Fraction(1), worst),)
    footing = found.constants.footing
    statement = standing_statement(_stated(footing.setting))
    # no more than is asked of an update, so that only that is shown
    setting = footing.setting.replace(n=run.setting["n"], K=None, S_g=found.sensitivity)
    words = tuple(_words(run, found, relation))
    return ByShifts(statement, setting, ({},), relation, "", effort, costs, words), ""


def _words(run: TrainingRun, found: Costs, relation: Neighbouring) -> Iterator[str]:
    """What else is assumed, and how steps are treated."""
    yield f"{relation.words}; {run.released}"
    if run.released.length:
        yield "of an average it is not used that iterates are averaged: each of them might be seen"
    if run.projection is not None:
        yield projected_onto(run.projection)
    if found.constants.reason:
        yield f"steps of which no Lipschitz constant is known hide nothing from before: {found.constants.reason}"
    unused = found.line.records - int(found.line.last.max())
    if unused:
        yield f"{unused} records are left over in an epoch, and a record is as likely as any other to be among them"


def projected_onto(diameter: Fraction) -> str:
    """What is assumed of a run whose iterates are projected."""
    return (
        f"after the noise every iterate is projected onto one convex set of diameter {diameter}: a ball of half that "
        "radius, or a box of that diagonal"
    )


def composition_of(scheme: Scheme) -> str:
    """The statement that says what one step costs."""
    return "gdp:composition:full_batch" if scheme is Scheme.FULL_BATCH else "gdp:composition:fixed"


def composed(run: TrainingRun, scheme: Scheme, effort: Effort, relation: Neighbouring, columns: Columns) -> Composed:
    """Composition of steps that differ."""
    setting = run.typical.replace(K=None, S_g=columns.sensitivity)
    return Composed(
        standing_statement(composition_of(scheme)), setting, ({},), relation, "", effort, square_at_once(columns)
    )


Bounds = Callable[[TrainingRun], Iterable[Bound]]


def by_stretches(run: TrainingRun, relation: Neighbouring, bounds: Bounds, words: Iterable[str]) -> ByStretches | None:
    """Stretches of like steps, by the divergences that `bounds` finds for each; None where one has none.

    `words` are what is said of the stretches, once their bounds were found.
    """
    parts = [(count, tuple(_divergences(bounds(part)))) for part, count in stretches_of(run)]
    if not all(each for _, each in parts):
        return None
    first = parts[0][1][0]
    return ByStretches(
        first.statement,
        first.setting,
        first.places,
        relation,
        "",
        total=Sum(tuple(parts)),
        hides=any(bound.hidden_state for _, each in parts for bound in each),
        words=(f"{relation.words}; {run.released}", *words),
    )


def _divergences(bounds: Iterable[Bound]) -> Iterator[RenyiBound]:
    return (bound for bound in bounds if isinstance(bound, RenyiBound))


def stretches_of(run: TrainingRun) -> list[tuple[TrainingRun, int]]:
    """Runs of like steps, in no order, and how often each is made; each shows its last iterate, or every one."""
    schedule = run.schedule
    if schedule is None:
        setting = run.setting
        count = run.steps or int(setting["K"]) * run.batches()
        schedule = Schedule((Stretch(count, setting["eta"], setting["sigma2"], int(setting["b"])),))
    if run.released.kind is Kind.EVERY:
        found = Counter(schedule.stretches)
    else:
        found = Counter(schedule.parts(run.released.seen(schedule.steps)))
    if len(found) > MOST_PARTS:
        found = Counter(_merged(schedule.stretches))
        run = replace(run, released=EVERY)
    shows = LAST if run.released.hides else EVERY
    told = run.setting.replace(K=None)
    return [
        (
            replace(
                run,
                setting=told.replace(b=each.b, eta=each.eta, sigma_squared=each.sigma2),
                steps=each.steps,
                schedule=None,
                released=shows,
            ),
            count,
        )
        for each, count in found.items()
    ]


def _merged(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Fewer stretches that cost no less if every iterate is seen: of those alike in size, some take the least noise."""
    by_size: dict[int, list[Stretch]] = {}
    for each in stretches:
        by_size.setdefault(each.b, []).append(each)
    most = max(1, MOST_PARTS // len(by_size))
    for alike in by_size.values():
        alike.sort(key=lambda each: each.sigma2 / each.eta)
        length = -(-len(alike) // most)
        for first in range(0, len(alike), length):
            yield replace(alike[first], steps=sum(each.steps for each in alike[first : first + length]))


# --- δ of a mean over groups ----------------------------------------------------------------------------------


def least_delta(costs: Iterable[Cost], epsilon: Fraction) -> Fraction:
    """Not above Σ share·δ_G(μ; ε): where each is next to nothing, 0."""
    found = Fraction(0)
    for each in costs:
        square = Fraction(min(each.square, sys.float_info.max))
        if square and 1500 * square > (epsilon - square / 2) ** 2:  # else δ_G ≤ Φ(−x) ≤ e^(−x²/2) < e^(−750)
            part = enclose(gaussian_program("delta"), {"cost_1": square, "epsilon": epsilon}, atol=ATOL)
            found += Fraction(double_below(each.share * part.lo))  # as doubles, which are short
    return max(found, Fraction(0))
