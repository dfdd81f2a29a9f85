"""`BinsSeen`: the Rényi divergence of one epoch of balls in bins all of whose iterates are seen; at whole orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr

from ..arithmetic.engines import Engine
from ..errors import TooManySteps
from ..setting.arrays import Array
from .bins_divergence import BinsDivergence, whole_order
from .bins_notes import seen_note
from .interface import Balls, OfNumbers, Printer, Rules, Trend

MOST_ORDER = 256
"""Higher orders take too long: nothing is said of them, unless there is next to nothing to say."""
NOTHING = Fraction(1, 2**110)
MOST_EXPONENT, SMALL = 400, Fraction(1, 10**6)
"""Between these the exponentials that doubles need are neither infinite nor all next to 1."""
NAME = r"\mathrm{R}_{\mathrm{B}}^{\mathrm{seen}}"


class BinsSeen(OfNumbers):
    """R_α, the larger of both directions, of N(0, I) and N(μ·e_j, I) in `count` dimensions, j any, each as likely.

    `cost` is μ², `degree` is α − 1; at an order that is not whole the value is that at the next whole one. Record
    removed: exact. Record added: the bound of Feldman & Shenfeld 2025.
    """

    nargs = 3  # count, cost, degree
    normalised = (0, 1, 2)
    slow_at_high_orders = at_whole_orders = True

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        count, cost, less = numbers
        order = whole_order(less)
        added = cost / 2 * (order + count - 1) / count
        if order > MOST_ORDER:
            return over.engine.interval(added, _told(cost, order))
        if count == 1:
            return over.ball(added)
        engine = over.engine
        log = engine.log(_moment(engine, int(count), cost, order))
        low, high = over.bounds(engine.mul(engine.ball(Fraction(1, order - 1)), log))
        return engine.interval(max(low, added), max(high, added))

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """In closed form where the exponentials are no doubles: all copies of the record in one batch."""
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([_in_doubles(*map(Fraction, row)) for row in rows], dtype=np.float64).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with cost and order; of the number of batches no rule tells."""
        count, cost, less = self.args
        return None if rules.depends(count) else rules.joint([cost, less])

    def tex(self, printer: Printer) -> str:
        count, cost, less = self.args
        return (
            rf"{NAME}\left({printer._print(count)}, \sqrt{{{printer._print(cost)}}}; {printer._print(less + 1)}\right)"
        )

    def tex_note(self, printer: Printer) -> str:
        return seen_note(NAME)


def _in_doubles(count: Fraction, cost: Fraction, less: Fraction) -> float:
    order, one = whole_order(less), Fraction(1)
    if order > MOST_ORDER:
        return float(_told(cost, order))
    if order * less * cost < SMALL:
        return float(cost / 2 * (order + count - 1) / count)
    if order * less * cost < MOST_EXPONENT:  # one epoch, and that one secret: nothing is there to drift
        return float(BinsDivergence.array(count, cost, one, one, one, one, less))
    together = float(order * cost / 2) - math.log(count)
    return max(together, float(cost / 2 * (order + count - 1) / count))


def _told(cost: Fraction, order: int) -> Fraction:
    """What it costs if the place is told, where that is next to nothing."""
    if order * order * cost > NOTHING:
        raise TooManySteps(order, "a mean over places")
    return order * cost / 2


def _moment(engine: Engine, count: int, cost: Fraction, order: int) -> Any:
    """α!·[x^α] of (Σ_c (x/N)^c/c!·e^(μ²·c(c − 1)/2))^N, by squaring; x in units of N/α."""
    square = []
    for uses in range(order + 1):
        weight = Fraction(order, count) ** uses / math.factorial(uses)
        square.append(engine.mul(engine.ball(weight), engine.exp(engine.ball(uses * (uses - 1) * cost / 2))))
    found, left = None, count
    while left:
        if left & 1:
            found = square if found is None else _product(engine, found, square)
        left >>= 1
        square = _product(engine, square, square) if left else square
    assert found is not None
    return engine.mul(found[order], engine.ball(Fraction(math.factorial(order), order**order)))


def _product(engine: Engine, left: list[Any], right: list[Any]) -> list[Any]:
    """Of polynomials, up to the same degree."""
    found = []
    for degree in range(len(left)):
        total = engine.mul(left[0], right[degree])
        for place in range(1, degree + 1):
            total = engine.add(total, engine.mul(left[place], right[degree - place]))
        found.append(total)
    return found
