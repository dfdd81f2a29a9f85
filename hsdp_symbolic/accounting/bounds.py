"""A statement applied to a run: a Rényi divergence as a function of the order, or a profile, which needs no order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import HsdpError
from ..evaluate.enclosure import Enclosure
from ..meaning import Neighbouring, Released
from ..setting import Setting
from ..setting.letters import LETTERS
from ..statement import Statement
from .conversion import Goal
from .effort import NORMAL, Effort, is_long, on_losses, profile_width, rank, sketch

if TYPE_CHECKING:
    from ..setting.arrays import Array

NEGLIGIBLE = Fraction(1, 2**100)
"""An enclosure of α·R need not be narrower than this."""
CHOICES, MOST_CHOICES = 16, 8
"""What is free to choose is looked for at so many orders for each power of ten of α − 1, and at most at so many."""
LONG_MEAN = 10**4
"""Batches beyond which a mean over all of them is faster in the certified view than in float64."""


@dataclass(frozen=True)
class Best:
    """The certified value, at the order chosen, or with the letters that were free to choose.

    `order` is None where none is to be chosen or any will do, infinite where none does.
    """

    value: Enclosure | None
    order: Fraction | float | None
    choices: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def upper(self) -> float:
        return math.inf if self.value is None else self.value.upper()

    @property
    def lower(self) -> float:
        return math.inf if self.value is None else self.value.lower()


@dataclass(frozen=True)
class Bound:
    """A statement applied to a run. `places` are the batches that may hold the record; the worst counts."""

    statement: Statement
    setting: Setting
    places: tuple[Mapping[str, int], ...]
    neighbouring: Neighbouring
    why: str

    @property
    def label(self) -> str:
        return self.statement.label

    @property
    def title(self) -> str:
        return self.statement.title

    @property
    def hidden_state(self) -> bool:
        """Whether the bound fails if intermediate iterates are seen."""
        return needs_hidden_state(self.statement)

    @property
    def same_laws(self) -> bool:
        """Whether S_g = 0, so that neighbouring datasets give the same output."""
        return self.setting["S_g"] == 0


@dataclass(frozen=True)
class RenyiBound(Bound):
    """R_α as a function of the order.

    `scale` is 1 unless the run has other than K whole epochs and the statement is proportional to their number. `rtol`
    is the relative width to enclose R_α to, for what is computed on a grid; None for the default of the statement.
    """

    scale: Fraction = Fraction(1)
    rtol: Fraction | None = None
    _looked_for: dict[int, Mapping[str, Fraction] | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def sampled(self) -> bool:
        """Whether sampled Gaussian mechanisms are summed, which takes long at high orders."""
        return any(node.slow_at_high_orders for node in self.statement.functions)

    @property
    def integrated(self) -> bool:
        """Whether these are integrals, which take far longer than sums."""
        return self.sampled and rank(self.statement) > 0

    @property
    def at_whole_orders(self) -> bool:
        """Whether only whole orders are worth a certificate."""
        return any(node.at_whole_orders for node in self.statement.functions)

    @property
    def sketched(self) -> bool:
        """Whether `numeric` is a sketch (`effort.sketch`), which is cheaper over fewer orders."""
        return is_long(self.statement)

    def enclose(self, alpha: Fraction) -> Enclosure:
        """R_α, bracketed; an error where the statement's hypotheses fail."""
        # (α − 1)·R is what matters: digits of a tiny R below that are not worth their time.
        atol = NEGLIGIBLE / (alpha * max(Fraction(1), self.scale))
        found = [
            self.statement.enclose_at(self.setting, self._chosen(alpha, place), rtol=self.rtol, atol=atol)
            for place in self.places
        ]
        return Enclosure(self.scale * max(each.lo for each in found), self.scale * max(each.hi for each in found))

    def choices(self, alpha: Fraction) -> Mapping[str, Fraction]:
        """The letters that are free to choose, as they are chosen at one order, for the last of the `places`."""
        return self.statement.choices(self.setting, {"alpha": alpha, **self.places[-1]})

    def _chosen(self, alpha: Fraction, place: Mapping[str, int]) -> dict[str, object]:
        """The letters at one order, those that are free to choose among them."""
        known: dict[str, object] = {"alpha": alpha, **place}
        return {**known, **self.statement.choices(self.setting, known)}

    def numeric(self, alphas: Array) -> Array:
        """R_α in float64, for the search; infinite where the statement says nothing or doubles do not suffice."""
        import numpy as np

        if self._is_long_mean:
            return np.array([self._double(alpha) for alpha in alphas.tolist()])
        if self.sketched:
            return self._sketch(alphas)
        return self._over_choices(alphas) if any(free_letters(self.statement)) else self._doubles(alphas, {})

    def _over_choices(self, alphas: Array) -> Array:
        """R_α with what is free to choose as it is best at orders near by, which are the same for every search.

        A choice that is good at one order may be useless at a slightly higher one, so that one order's choice for all
        would make that order look like the best.
        """
        import numpy as np

        places = np.log10(np.maximum(alphas - 1, 1e-16)) * CHOICES
        first, last = math.floor(places.min()), math.ceil(places.max())
        stride = max(1, math.ceil((last - first) / MOST_CHOICES))
        found = np.full(alphas.size, np.inf)
        for place in range(first, last + stride, stride):
            near = np.abs(places - place) <= stride
            choices = self._good_choices(place) if np.any(near) else None
            if choices is not None:
                found[near] = np.minimum(found[near], self._doubles(alphas[near], choices))
        return found

    def _good_choices(self, place: int) -> Mapping[str, Fraction] | None:
        """What is best at the order 1 + 10^(place/CHOICES); None where the statement says nothing."""
        if place not in self._looked_for:
            try:
                self._looked_for[place] = self.choices(1 + Fraction(f"{10 ** (place / CHOICES):.6g}"))
            except HsdpError:
                self._looked_for[place] = None
        return self._looked_for[place]

    def _doubles(self, alphas: Array, choices: Mapping[str, Fraction]) -> Array:
        """R_α in float64 with these choices; infinite where the statement says nothing or doubles do not suffice."""
        import numpy as np

        try:
            found = [self.statement.numeric(self.setting, **place, **choices, alpha=alphas) for place in self.places]
        except HsdpError:
            if alphas.size == 1 or np.isinf(self._doubles(alphas[:1], choices)[0]):  # larger orders fail as well
                return np.full(alphas.size, np.inf)
            half = alphas.size // 2
            return np.concatenate([self._doubles(alphas[:half], choices), self._doubles(alphas[half:], choices)])
        worst: Array = np.maximum.reduce(found) * float(self.scale)
        return worst

    def _sketch(self, alphas: Array) -> Array:
        import numpy as np

        try:
            return sketch(self.statement, self.setting, alphas) * float(self.scale)
        except HsdpError:
            return np.full(alphas.size, np.inf)

    @property
    def _is_long_mean(self) -> bool:
        """Whether float64 would add up very many batches one by one, which the certified view need not do."""
        every_term = any(node.doubles_take_every_term for node in self.statement.functions)
        return every_term and self.setting["n"] // self.setting["b"] > LONG_MEAN

    def _double(self, alpha: float) -> float:
        try:
            return self.enclose(Fraction(alpha)).upper()
        except HsdpError:
            return math.inf


@dataclass(frozen=True)
class ProfileBound(Bound):
    """δ for every ε at once; as close as the `effort` is worth."""

    effort: Effort = NORMAL

    def best(self, goal: Goal) -> Best:
        """The certified ε at the δ given, or δ at the ε given; an error where the statement's hypotheses fail."""
        if self.same_laws or (goal.seeks == "epsilon" and goal.given in (0, 1)):
            for place in self.places:
                self.statement.point(self.setting, **place, **self._any_choice(), epsilon=0)  # for its hypotheses
            nothing = Enclosure(Fraction(0), Fraction(0)) if self.same_laws or goal.given == 1 else None
            return Best(nothing, None, self._any_choice())
        found = [self._at(goal, place) for place in self.places]
        lower = max(value.lo for value, _ in found)
        value, choices = max(found, key=lambda pair: pair[0].hi)
        most = value.hi if goal.seeks == "epsilon" else min(value.hi, Fraction(1))
        return Best(Enclosure(min(max(lower, Fraction(0)), most), most), None, choices)

    def _at(self, goal: Goal, place: Mapping[str, int]) -> tuple[Enclosure, Mapping[str, Fraction]]:
        found = self.statement
        if goal.seeks == "epsilon":
            rtol = profile_width(found, goal.given, self.effort)
            choices = found.choices(self.setting, place, delta=goal.given)
            value = found.epsilon(self.setting, goal.given, rtol=rtol, **place, **choices)  # type: ignore[arg-type]
            return value, choices
        choices = found.choices(self.setting, place, epsilon=goal.given)
        given = {**place, **choices}
        if on_losses(found):  # first from above only: where δ is tiny, that is all that is worth its time
            most = found.delta(self.setting, goal.given, rtol=2, **given)  # type: ignore[arg-type]
            if most.hi < Fraction(1, 2**self.effort.bits):
                return most, choices
        return found.delta(self.setting, goal.given, **given), choices  # type: ignore[arg-type]

    def _any_choice(self) -> dict[str, Fraction]:
        return {name: Fraction(1) if LETTERS[name].integer else Fraction(1, 2) for name in free_letters(self.statement)}


@dataclass(frozen=True)
class GaussianBound(ProfileBound):
    """The profile of N(0, 1) and N(μ, 1), which is that of many such together, their μ² added up."""

    def cost(self) -> Enclosure:
        """μ², bracketed; an error where the statement's hypotheses fail."""
        found = [self.statement.enclose_at(self.setting, place) for place in self.places]
        return Enclosure(max(each.lo for each in found), max(each.hi for each in found))


def needs_hidden_state(found: Statement) -> bool:
    """Whether a statement bounds the last iterate only."""
    return found.released is Released.LAST


def free_letters(found: Statement) -> Iterator[str]:
    """The letters of a statement that may be chosen freely: whatever they are, it holds."""
    for node in found.functions:
        yield from (str(node.args[place]) for place in node.free_at)
