"""Rényi divergence of one order → (ε, δ), rounded upwards.

Guarantee: `epsilon_at` and `delta_at` return brackets whose upper end is never below the formula's exact value. Every
order α > 1 gives a valid guarantee, so how an order was chosen needs no certificate.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Literal

from ..arithmetic.doubles import double_above
from ..errors import ArgumentError
from ..evaluate.enclosure import Enclosure, enclose
from ..setting.gate import admit, to_fraction

if TYPE_CHECKING:
    from ..evaluate.program import Program

Form = Literal["best", "mironov2017"]
FORMS: Mapping[str, str] = {"best": "conversion:epsilon", "mironov2017": "conversion:mironov2017"}
_ATOL = Fraction(1, 2**120)
"""The absolute width an enclosure of ε may have, for where ε is exactly 0: far below any ε of interest."""


def admit_delta(value: object) -> Fraction:
    """δ as an exact rational from 0 to 1."""
    result = to_fraction("delta", value)
    if not 0 <= result <= 1:
        raise ArgumentError("delta", value, "a probability lies between 0 and 1", "give a small one such as '1e-5'")
    return result


def check_finite(delta: Fraction, epsilon: float) -> None:
    """Refuse an infinite ε at δ = 0: true, but no guarantee."""
    if not delta and math.isinf(epsilon):
        raise ArgumentError(
            "delta", 0, "with Gaussian noise no finite epsilon holds with certainty", "give a small number such as 1e-5"
        )


def admit_epsilon(name: str, value: object) -> Fraction:
    """An ε ≥ 0 as an exact rational."""
    result = to_fraction(name, value)
    if result < 0:
        raise ArgumentError(name, value, "a privacy loss is not negative", "give a number >= 0 such as 1")
    return result


def admit_order(value: object) -> Fraction | float:
    """An order α > 1: an exact rational, or `math.inf`."""
    if isinstance(value, (float, str)) and str(value).strip().lower() in {"inf", "+inf", "infinity"}:
        return math.inf
    return _finite_order("orders", value)


def _finite_order(name: str, value: object) -> Fraction:
    result = to_fraction(name, value)
    if result <= 1:
        raise ArgumentError(name, value, "a Rényi order must exceed 1", "give orders > 1 such as 2, 8.5 or 32")
    return result


def check_form(form: object) -> str:
    """The label of the conversion that `form` names."""
    if not isinstance(form, str) or form not in FORMS:
        raise ArgumentError("conversion", form, "no such conversion", f"use {' or '.join(FORMS)}")
    return FORMS[form]


@cache
def program_of(label: str) -> Program:
    """A conversion, compiled."""
    from ..catalogue import statement
    from ..evaluate.program import compile_expression

    return compile_expression(statement(label).expr)


@cache
def log_delta_program() -> Program:
    """The logarithm of conversion:delta, which overflows no double."""
    from ..evaluate.program import compile_expression
    from ..paper.conversion import log_delta

    return compile_expression(log_delta())


@cache
def gaussian_program(seeks: Literal["epsilon", "delta"]) -> Program:
    """ε or δ of N(0, 1) and N(μ, 1), compiled."""
    from ..evaluate.program import compile_expression
    from ..paper.conversion import gaussian_delta, gaussian_epsilon

    return compile_expression(gaussian_epsilon() if seeks == "epsilon" else gaussian_delta())


def _bracket(program: Program, R: Enclosure, atol: Fraction, **values: Fraction) -> tuple[Fraction, Fraction]:
    """Both ends of a conversion that increases with R."""
    ends = [enclose(program, {**values, "R": end}, atol=atol) for end in {R.lo, R.hi}]
    return min(end.lo for end in ends), max(end.hi for end in ends)


def _bracket_of(R: object) -> Enclosure:
    if isinstance(R, Enclosure):
        return R
    point = admit("R", R)
    return Enclosure(point, point)


def epsilon_at(R: object, *, order: object, delta: object, conversion: Form = "best") -> Enclosure:
    """ε at `delta` from the Rényi divergence `R` (a number or an `Enclosure`) of `order`; never below 0.

    δ = 0 is refused: a divergence of finite order says nothing about it.

    >>> epsilon_at("0.1", order=15, delta="1e-5").upper()
    0.659926790217907
    """
    probability, label = admit_delta(delta), check_form(conversion)
    if probability == 0:
        raise ArgumentError("delta", delta, "no finite order bounds pure differential privacy", "give delta > 0")
    values = {"alpha": _finite_order("order", order), "delta": probability}
    low, high = _bracket(program_of(label), _bracket_of(R), _ATOL, **values)
    return Enclosure(max(low, Fraction(0)), max(high, Fraction(0)))


def delta_at(R: object, *, order: object, epsilon: object) -> Enclosure:
    """δ at `epsilon` from the Rényi divergence `R` (a number or an `Enclosure`) of `order`; never above 1.

    >>> 8.5e-8 < delta_at("0.1", order=15, epsilon=1).upper() < 8.6e-8
    True
    """
    values = {"alpha": _finite_order("order", order), "epsilon": admit_epsilon("epsilon", epsilon)}
    found = _bracket_of(R)
    if _bracket(log_delta_program(), found, _ATOL, **values)[0] >= 0:  # so that e^x is never computed for a huge x
        return Enclosure(Fraction(1), Fraction(1))
    low, high = _bracket(program_of("conversion:delta"), found, Fraction(0), **values)
    return Enclosure(min(low, Fraction(1)), min(high, Fraction(1)))


LARGEST_DOUBLE = Fraction(sys.float_info.max)


@dataclass(frozen=True)
class Goal:
    """What an order is chosen for: the least ε at a given δ, or the least δ at a given ε."""

    seeks: Literal["epsilon", "delta"]
    given: Fraction
    """As given, or the nearest double where that is smaller: a guarantee at a smaller δ (or ε) holds at larger ones."""
    conversion: Form = "best"

    def __post_init__(self) -> None:
        if self.given < LARGEST_DOUBLE and 0 < Fraction(float(self.given)) < self.given:
            object.__setattr__(self, "given", Fraction(float(self.given)))

    @property
    def knows(self) -> str:
        """The name of what is given."""
        return "delta" if self.seeks == "epsilon" else "epsilon"

    def reported(self) -> float:
        """What was given, as a double that is never below what is certified."""
        return double_above(self.given)

    def at(self, R: Enclosure, order: Fraction) -> Enclosure:
        """The certified value at one order."""
        if self.seeks == "epsilon":
            return epsilon_at(R, order=order, delta=self.given, conversion=self.conversion)
        return delta_at(R, order=order, epsilon=self.given)

    def of_gaussian(self, cost: Enclosure) -> Enclosure:
        """The certified value for the profile of N(0, 1) and N(μ, 1), by the `cost` μ²; it rises with that."""
        ends = [
            enclose(gaussian_program(self.seeks), {"cost_1": end, self.knows: self.given}, atol=_ATOL)
            for end in dict.fromkeys((cost.lo, cost.hi))
        ]
        return Enclosure(ends[0].lo, ends[-1].hi)

    def rest(self, order: Fraction) -> Fraction:
        """A lower bound on what the conversion to ε adds to R at one order (it may be negative)."""
        nothing = Enclosure(Fraction(0), Fraction(0))
        return _bracket(self.program, nothing, _ATOL, alpha=order, delta=self.given)[0]

    @property
    def program(self) -> Program:
        """What the search minimises: ε, or log δ."""
        return program_of(check_form(self.conversion)) if self.seeks == "epsilon" else log_delta_program()
