"""`BinsSeen`: the Rényi divergence of one epoch of balls in bins all of whose iterates are seen; at whole orders."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sympy import Expr

from ..setting.arrays import Array
from .bins_divergence import BinsDivergence
from .bins_notes import seen_note
from .interface import Balls, OfNumbers, Printer, Rules, Trend

NAME = r"\mathrm{R}_{\mathrm{B}}^{\mathrm{seen}}"


class BinsSeen(OfNumbers):
    """R_α, the larger of both directions, of N(0, I) and N(μ·e_j, I) in `count` dimensions, j any, each as likely.

    `cost` is μ², `degree` is α − 1; at an order that is not whole the value is that at the next whole one. Record
    removed: exact. Record added: the bound of Feldman & Shenfeld 2025.
    """

    nargs = 3  # count, cost, degree
    normalised = (0, 1, 2)
    rank = 1
    slow_at_high_orders = True

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        return BinsDivergence.enclosed(over, *_one_epoch(*numbers))

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        return BinsDivergence.array(*_one_epoch(*arguments))

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


def _one_epoch(count: Any, cost: Any, less: Any) -> tuple[Any, ...]:
    """One epoch, and that one secret: nothing is there to drift."""
    one = Fraction(1)
    return count, cost, one, one, one, one, less
