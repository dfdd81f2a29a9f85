"""`Pooled`: Σ slope²·length over two edges, pooled into their chord where the first is the steeper."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Max

from ..errors import ValueTooLarge
from ..setting.arrays import Array
from .interface import Arithmetic, Balls, Doubles, Pointwise, Printer


class Pooled(Pointwise):
    """Σ slope²·length over a greatest convex minorant of two edges: slope g and length y, then slope 1 and length 1.

    If g ≤ 1 the two edges are convex as they are; if g > 1 their chord takes their place. Increasing in g and in y.

    >>> from sympy import Rational
    >>> Pooled(Rational(1, 2), 4).closed(), Pooled(2, 4).closed()
    (2, 81/5)
    """

    nargs = 2
    normalised = (0, 1)
    has_two_forms = True

    def closed(self) -> Expr:
        g, y = self.args
        return ((1 + g * y) ** 2 + Max(0, 1 - g) ** 2 * y) / (1 + y)

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        return ((self, self.closed()),)

    def _eval_is_positive(self) -> bool | None:
        return True if all(arg.is_nonnegative for arg in self.args) else None

    @classmethod
    def exact(cls, over: Arithmetic | Doubles, slope: Any, length: Any) -> Any:
        """The chord, and what two convex edges add to it: where g cannot be told from 1, that is nearly 0."""
        chord = over.add(Fraction(1), over.mul(slope, length))
        try:
            kink = over.positive_part(over.add(Fraction(1), over.mul(Fraction(-1), slope)))
        except ValueTooLarge:
            kink = Fraction(0)  # at most 1, and too large to be written down: negative
        total = over.add(over.mul(chord, chord), over.mul(kink, kink, length))
        return over.mul(total, over.power(over.add(Fraction(1), length), Fraction(-1)))

    @classmethod
    def switch(cls, over: Balls, slope: Any, length: Any) -> Any:
        return slope

    @classmethod
    def series(cls, over: Any, slope: Any, length: Any) -> Any:
        rise = over.mul(slope, length)
        if not over.switched:
            return over.add(Fraction(1), over.mul(slope, rise))
        chord = over.add(Fraction(1), rise)
        return over.mul(chord, chord, over.power(over.add(Fraction(1), length), Fraction(-1)))

    @classmethod
    def doubles(cls, over: Doubles, slope: Any, length: Any) -> Any:
        if isinstance(slope, Fraction) and isinstance(length, Fraction):
            return cls.exact(over, slope, length)
        rise = over.mul(slope, length)  # as one: the slope alone may overflow where the edges pool
        return over.record(_pooled, slope, rise, length)

    def tex(self, printer: Printer) -> str:
        return rf"\Psi\left({', '.join(map(printer._print, self.args))}\right)"


def _pooled(slope: Array, rise: Array, length: Array, *, out: Array) -> Array:
    """In doubles; rise is slope·length, computed before."""
    with np.errstate(over="ignore", invalid="ignore"):
        out[...] = np.where(slope >= 1, (1 + rise) ** 2 / (1 + length), 1 + slope * rise)
    return out
