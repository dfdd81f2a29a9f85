"""Bounds that take long to compute (dynamic programmes, long sums of moments): which are attempted, and their sketches.

A sketch is a quick look in doubles, right to a few per cent: enough to choose an order, or to see that a bound loses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ArgumentError, UnsupportedNode
from ..setting import Setting
from ..statement import Statement

if TYPE_CHECKING:
    from ..setting.arrays import Array


LOOSE = Fraction(1, 4)
"""A certificate that may be this wide, relatively, is made on the first, coarsest grid, which does far better."""


@dataclass(frozen=True)
class Effort:
    """How many steps a dynamic programme, how many terms a moment and how many bits a probability may have.

    A programme of up to `close` steps is certified within `CLOSE` of its value, a longer one on the first grid: about
    as closely if it has a thousand steps, and within a few per cent if it has ten thousand.
    """

    name: str
    steps: int
    close: int
    terms: int
    bits: int
    """Privacy losses on a grid are followed down to a δ of 2^−bits."""
    everything: bool = False
    """Whether divergences that take long are computed although a profile holds."""


CLOSE = Fraction(1, 1000)
SMALL_BITS, NOT_SO_CLOSE = 30, Fraction(1, 100)
"""At a δ of fewer than 2^−30, losses on a grid give ε within a hundredth, unless the effort is for everything."""
EFFORTS = {
    "quick": Effort("quick", 0, 0, 0, 40),
    "normal": Effort("normal", 12_000, 0, 4_000_000, 70),
    "thorough": Effort("thorough", 30_000, 30_000, 8_000_000, 200, everything=True),
}
"""They take about a second; ten or twenty seconds; minutes."""
NORMAL = EFFORTS["normal"]


class TooMuchWork(ArgumentError):
    """A statement that would take longer than the effort asked for."""

    def __init__(self, effort: Effort, work: int, most: int, unit: str, remedy: str) -> None:
        super().__init__(
            "effort", effort.name, f"it takes about {work:,} {unit}, and this effort allows {most:,}", remedy
        )


class TooLoud(TooMuchWork):
    """A statement that would take minutes, since hardly any noise hides a single use of the record."""

    def __init__(self, effort: Effort, cost: Fraction, most: Fraction) -> None:
        ArgumentError.__init__(
            self,
            "effort",
            effort.name,
            f"one use of a record has μ = {math.sqrt(cost):.3g}, and beyond {math.sqrt(most):.3g} it takes minutes",
            "take more noise, or effort 'thorough'",
        )


def admit_effort(effort: object) -> Effort:
    if isinstance(effort, Effort):
        return effort
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise ArgumentError("effort", effort, "no such effort", f"use one of {', '.join(EFFORTS)}")
    return EFFORTS[effort]


def rank(found: Statement) -> int:
    """How early it is tried: closed forms (0), then sums and recursions (1), then what is sketched first (2, 3)."""
    return max((node.rank for node in found.functions), default=0)


def is_long(found: Statement) -> bool:
    """Whether its order is chosen by a sketch."""
    from ..functions.interface import Long

    return any(isinstance(node, Long) for node in found.functions)


def takes_long(found: Statement) -> bool:
    """Whether a divergence takes so long, by sketches or by a search at every order, that a profile comes first."""
    return is_long(found) or any(node.free_at for node in found.functions)


def on_losses(found: Statement) -> bool:
    """Whether it is a profile for which privacy losses are followed step by step, on a grid."""
    return any(node.solves for node in found.functions)


def check_work(found: Statement, setting: Setting, effort: Effort) -> None:
    """Refuse, with the reason, what the effort asked for does not cover."""
    if not is_long(found):
        return
    long = _LongStatement(found, setting)
    work, budget = long.work, long.kind.budget
    if work > getattr(effort, budget):
        stronger = next((name for name, each in EFFORTS.items() if work <= getattr(each, budget)), None)
        remedy = f"use effort {stronger!r}" if stronger else f"evaluate {found.label} by itself, or take fewer steps"
        raise TooMuchWork(effort, work, getattr(effort, budget), long.kind.unit, remedy)


def check_loudness(found: Statement, setting: Setting, effort: Effort) -> None:
    """Refuse, unless the effort is for everything, losses of one use so large that following them takes minutes."""
    from ..evaluate.enclosure import exact
    from ..evaluate.program import compile_expression

    for node in found.functions:
        if node.loudest is None or effort.everything:
            continue
        cost = exact(compile_expression(node.args[1]), dict(setting.values()))
        if cost > node.loudest:
            raise TooLoud(effort, cost, node.loudest)


def profile_width(found: Statement, delta: Fraction, effort: Effort) -> Fraction | None:
    """The relative width to certify ε at `delta` to, for a profile; None for the default of the statement.

    An error where that takes longer than the effort asked for: each bit of δ is one of every mass on the grid.
    """
    if not on_losses(found):
        return None
    bits = delta.denominator.bit_length() - delta.numerator.bit_length()
    if bits > effort.bits:
        stronger = next((name for name, each in EFFORTS.items() if bits <= each.bits), None)
        remedy = f"use effort {stronger!r}" if stronger else "give a larger delta"
        raise TooMuchWork(effort, bits, effort.bits, "bits for every probability", remedy)
    return NOT_SO_CLOSE if bits > SMALL_BITS and not effort.everything else None


def certified_width(found: Statement, setting: Setting, effort: Effort) -> Fraction | None:
    """The relative width to certify it to; None for the default of the statement."""
    long = _LongStatement(found, setting) if is_long(found) else None
    if long is None or long.kind.certified_as_asked:
        return None
    return CLOSE if long.work <= effort.close else LOOSE


def sketch(found: Statement, setting: Setting, alphas: Array) -> Array:
    """R_α in doubles, to a few per cent, of a statement that takes long; an error where its hypotheses fail."""
    return _LongStatement(found, setting).sketch(alphas)


class _LongStatement:
    """A statement with one function that takes long, at a setting."""

    def __init__(self, found: Statement, setting: Setting) -> None:
        from ..evaluate.enclosure import exact
        from ..evaluate.program import compile_expression
        from ..functions.interface import Long

        long = [node for node in found.functions if isinstance(node, Long)]
        if len(long) != 1:
            raise UnsupportedNode(f"{found.label} has {len(long)} functions that take long; only one can be sketched")
        (self._node,) = long
        self.kind = type(self._node)
        self._expr, self._values = found.expr, found.point(setting, alpha=2)
        _, *others = self._node.args
        self._others = [exact(compile_expression(part), self._values) for part in others]

    @property
    def work(self) -> int:
        return self.kind.work(*self._others)

    def sketch(self, alphas: Array) -> Array:
        import numpy as np

        from ..evaluate.numeric import evaluate_raw
        from ..evaluate.program import compile_expression
        from ..setting.arrays import Samples
        from ..symbols import W_1

        def samples(array: Array) -> Samples:
            return Samples(array, float(array.min()), float(array.max()))

        leaves = {**self._values, "alpha": samples(alphas)}
        with np.errstate(all="ignore"):
            costs = evaluate_raw(compile_expression(self._node.args[0]), leaves)
        moment = self.kind.sketch(costs, *self._others)
        found, known = np.full(alphas.shape, np.inf), np.isfinite(moment)
        if np.any(known):
            leaves = {**self._values, "alpha": samples(alphas[known]), str(W_1): samples(moment[known])}
            found[known] = evaluate_raw(compile_expression(self._expr.xreplace({self._node: W_1})), leaves)
        return found
