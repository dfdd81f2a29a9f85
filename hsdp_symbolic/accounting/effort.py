"""Bounds that take long, a dynamic programme or a long sum of moments: which are worth it, and a sketch of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..setting import Setting
from ..statement import Statement

if TYPE_CHECKING:
    from ..functions.shift_control import Programme
    from ..setting.arrays import Array


LOOSE = Fraction(1, 4)
"""A certificate that may be as wide as this takes the first grid, which does better by far."""


@dataclass(frozen=True)
class Effort:
    """How many steps a dynamic programme, and how many terms a moment, may have.

    A programme of up to `close` steps is certified within `CLOSE` of its value, a longer one on the first grid: about
    as closely if it has a thousand steps, and within a few per cent if it has ten thousand.
    """

    name: str
    steps: int
    close: int
    terms: int


CLOSE = Fraction(1, 1000)
EFFORTS = {
    "quick": Effort("quick", 0, 0, 0),
    "normal": Effort("normal", 12_000, 0, 4_000_000),
    "thorough": Effort("thorough", 30_000, 30_000, 8_000_000),
}
"""Within a second; within ten or twenty; within minutes."""
NORMAL = EFFORTS["normal"]


class TooMuchWork(ArgumentError):
    """A statement that would take longer than the effort asked for."""

    def __init__(self, effort: Effort, work: int, most: int, unit: str, remedy: str) -> None:
        super().__init__("effort", effort.name, f"about {work:,} {unit}, where it goes up to {most:,}", remedy)


def admit_effort(effort: object) -> Effort:
    if isinstance(effort, Effort):
        return effort
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise ArgumentError("effort", effort, "no such effort", f"use one of {', '.join(EFFORTS)}")
    return EFFORTS[effort]


def rank(found: Statement) -> int:
    """Closed forms (0) come before sums and recursions (1), and those before what is sketched first (2, 3)."""
    from ..functions.accumulated import Accumulated
    from ..functions.compounded import Compounded
    from ..functions.hit_moment import HitMoment
    from ..functions.log_mean_exp import LogMeanExp
    from ..functions.shift_control import ShiftControl

    expr = found.expr
    return (
        2
        if expr.has(ShiftControl)
        else 3
        if expr.has(HitMoment)
        else int(expr.has(Accumulated, Compounded, LogMeanExp))
    )


def is_long(found: Statement) -> bool:
    """Whether its order is looked for by a sketch."""
    return rank(found) >= 2


def check_work(found: Statement, setting: Setting, effort: Effort) -> None:
    """Refuse, with the reason, what the effort asked for does not cover."""
    if not is_long(found):
        return
    long = _Long(found, setting)
    work, most = long.work(), effort.steps if long.is_programme else effort.terms
    if work > most:
        stronger = next(
            (name for name, each in EFFORTS.items() if work <= (each.steps if long.is_programme else each.terms)), None
        )
        unit = "steps of a dynamic programme" if long.is_programme else "terms of a moment"
        remedy = f"use effort {stronger!r}" if stronger else f"ask {found.label} itself, or take fewer steps"
        raise TooMuchWork(effort, work, most, unit, remedy)


def width(found: Statement, setting: Setting, effort: Effort) -> Fraction | None:
    """How closely to certify it, relatively; None for what the statement itself says."""
    long = _Long(found, setting) if is_long(found) else None
    if long is None or not long.is_programme:
        return None
    return CLOSE if long.work() <= effort.close else LOOSE


def sketch(found: Statement, setting: Setting, alphas: Array) -> Array:
    """R_α in doubles, to a few per cent, of a statement that takes long; an error where its hypotheses fail."""
    return _Long(found, setting).sketch(alphas)


class _Long:
    """The one node of a statement that takes long, at a setting."""

    def __init__(self, found: Statement, setting: Setting) -> None:
        from ..evaluate.enclosure import exact
        from ..evaluate.program import compile_expression
        from ..functions.hit_moment import HitMoment
        from ..functions.shift_control import ShiftControl

        (self._node,) = found.expr.atoms(ShiftControl, HitMoment)
        self.is_programme = isinstance(self._node, ShiftControl)
        self._expr, self._values = found.expr, found.point(setting, alpha=2)
        _, *others = self._node.args
        self._others = [exact(compile_expression(part), self._values) for part in others]

    def work(self) -> int:
        from ..functions.hit_moment import work

        if self.is_programme:
            return self._programme().steps_that_matter
        q, rate, draws = self._others
        return work(q, rate, int(draws))

    def _programme(self) -> Programme:
        from ..functions.shift_control import Programme

        q, rate, batches, epochs = self._others
        return Programme(Fraction(1), q, rate, int(batches), int(epochs))

    def sketch(self, alphas: Array) -> Array:
        import numpy as np

        from ..evaluate.numeric import evaluate_raw
        from ..evaluate.program import compile_expression
        from ..functions import sketch
        from ..setting.arrays import Samples
        from ..symbols import W1

        def samples(array: Array) -> Samples:
            return Samples(array, float(array.min()), float(array.max()))

        leaves = {**self._values, "alpha": samples(alphas)}
        with np.errstate(all="ignore"):
            costs = evaluate_raw(compile_expression(self._node.args[0]), leaves)
        if self.is_programme:
            moment = sketch.control(costs, self._programme())
        else:
            q, rate, draws = self._others
            moment = sketch.hits(costs, q, rate, int(draws))
        found, known = np.full(alphas.shape, np.inf), np.isfinite(moment)
        if np.any(known):
            leaves = {**self._values, "alpha": samples(alphas[known]), str(W1): samples(moment[known])}
            found[known] = evaluate_raw(compile_expression(self._expr.xreplace({self._node: W1})), leaves)
        return found
