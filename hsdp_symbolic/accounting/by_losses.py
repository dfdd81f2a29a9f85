"""Composition of steps that differ, batches drawn afresh: their privacy losses, multiplied out.

Each step is dominated by a sampled Gaussian mechanism of its own, and all of them together by these
(`sharper.seen:steps_that_differ`). Steps of one sampling rate and one noise per clip norm are alike, whatever their
learning rates. If there are too many kinds, some are taken for others of a larger rate or less noise, which cost no
less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import GridExhausted
from ..evaluate.enclosure import Enclosure
from ..functions.loss_profiles import Repeated, Various, deltas, epsilons
from ..meaning import Neighbouring, Released, Scheme
from ..statement import ON_A_GRID, Statement
from .bounds import Best, ProfileBound
from .candidates import statements_of
from .conversion import Goal
from .effort import Effort, profile_width
from .run import TrainingRun

MOST_KINDS, MOST_RATES = 48, 12
"""Kinds of steps, and rates, that are told apart."""
_RARE = Fraction(1, 1000)
"""What is less than this share of the largest is taken together."""

Kinds = Mapping[tuple[Fraction, Fraction], int]
"""How many steps have this rate and this μ²."""


@dataclass(frozen=True)
class ByLosses(ProfileBound):
    """The profile of all iterates, each step being as `statement` says of steps that are alike."""

    parts: tuple[tuple[Fraction, Fraction, int], ...] = ()
    """Rate, μ² and number of steps of each kind."""

    def best(self, goal: Goal) -> Best:
        """The certified ε at the δ given, or δ at the ε given."""
        if self.same_laws or (goal.seeks == "epsilon" and goal.given == 1):
            return Best(Enclosure(Fraction(0), Fraction(0)), None)
        if goal.seeks == "epsilon" and goal.given == 0:
            return Best(None, None)
        (node,) = (each for each in self.statement.functions if each.pairs)
        runs = [Various(tuple(Repeated(pair, *part) for part in self.parts)) for pair in node.pairs]
        low, high = (self._epsilon if goal.seeks == "epsilon" else self._delta)(runs, goal.given)
        return Best(Enclosure(low, high), None)

    def _epsilon(self, runs: Sequence[Various], delta: Fraction) -> tuple[Fraction, Fraction]:
        """As close as is asked for, or ten times as wide where kinds of steps differ so much that no grid suits all."""
        width = profile_width(self.statement, delta, self.effort) or ON_A_GRID
        try:
            return epsilons(runs, "arb", delta, width)
        except GridExhausted:
            return epsilons(runs, "arb", delta, 10 * width)

    def _delta(self, runs: Sequence[Various], epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """First from above only: where δ is tiny, that is all that is worth its time."""
        most = min(Fraction(1), deltas(runs, "arb", epsilon, Fraction(2))[1])
        if most < Fraction(1, 2**self.effort.bits):
            return Fraction(0), most
        try:
            low, high = deltas(runs, "arb", epsilon, Fraction(self.statement.rtol))
        except GridExhausted:
            return Fraction(0), most
        return max(low, Fraction(0)), min(high, most)


def by_losses(run: TrainingRun, found: Statement, S_g: Fraction, relation: Neighbouring, effort: Effort) -> ByLosses:
    """The bound, from a statement about one such step."""
    parts = tuple((rate, cost, count) for (rate, cost), count in _fewer(_kinds(run, S_g)).items())
    return ByLosses(found, run.typical.replace(S_g=S_g), ({},), relation, "", effort, parts)


def about_one_step(scheme: Scheme, stated: Neighbouring) -> Iterator[Statement]:
    """The statements that bound the profile of all iterates by privacy losses of single steps."""
    for found in statements_of(scheme, Released.EVERY):
        if found.neighbouring is stated and any(each.pairs for each in found.functions):
            yield found


def _kinds(run: TrainingRun, S_g: Fraction) -> Kinds:
    """Steps by their rate and their μ²; to divide by another number changes both noise and sensitivity."""
    assert run.schedule is not None
    found: Counter[tuple[Fraction, Fraction]] = Counter()
    for each in run.schedule.stretches:
        found[each.b / run.setting["n"], each.eta * S_g**2 / (2 * each.sigma2 * each.b**2)] += each.steps
    return found


def _fewer(kinds: Kinds) -> Kinds:
    """Not many kinds that cost no less: rates, and costs at one rate, that are close become the largest of them."""
    if len(kinds) <= MOST_KINDS:
        return kinds
    rates = _raised((rate for rate, _ in kinds), MOST_RATES)
    raised: dict[Fraction, Counter[Fraction]] = {}
    for (rate, cost), count in kinds.items():
        raised.setdefault(rates[rate], Counter())[cost] += count
    found: Counter[tuple[Fraction, Fraction]] = Counter()
    for rate, counts in raised.items():
        costs = _raised(counts, MOST_KINDS // len(raised))
        for cost, count in counts.items():
            found[rate, costs[cost]] += count
    return found


def _raised(values: Iterable[Fraction], most: int) -> dict[Fraction, Fraction]:
    """Each of these by one of at most so many of them, not smaller and near it on a logarithmic scale."""
    ascending = sorted(set(values))
    if len(ascending) <= most:
        return {value: value for value in ascending}
    highest = ascending[-1]
    width = math.log(highest / max(ascending[0], highest * _RARE)) / most
    largest: dict[int, Fraction] = {}
    places = {value: min(most - 1, int(math.log(highest / value) / width)) for value in ascending}
    for value, place in places.items():
        largest[place] = value  # the last is the largest
    return {value: largest[place] for value, place in places.items()}
