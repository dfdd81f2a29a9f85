"""The gate every number enters by.

Guarantee: whatever passes the gate is an exact rational in the letter's range; whatever does not is
refused with an error naming the argument, the value and the remedy. Text is parsed by a fixed pattern,
never evaluated.
"""

from __future__ import annotations

import numbers
import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from ..errors import ArgumentError
from .letters import LETTERS, Letter

Number = int | str | float | Fraction | Decimal
"""What the gate accepts (and SymPy or NumPy numbers of the same kinds)."""

MAX_DIGITS = 1000
MAX_EXPONENT = 1000
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,6}))?", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_HOW_TO_WRITE = "write it as an int, a string such as '0.02' or '1/50', a Fraction, a Decimal or a float"


def to_fraction(name: str, value: object) -> Fraction:
    """The exact rational that `value` stands for.

    A float is read as its shortest decimal (`0.02` means 1/50, not the binary number nearest to it).

    >>> to_fraction("eta", 0.02), to_fraction("eta", "1/50"), to_fraction("eta", "2e-2")
    (Fraction(1, 50), Fraction(1, 50), Fraction(1, 50))
    """
    if type(value) is float and isfinite(value):
        return Fraction(Decimal(repr(value)))  # what is below comes to the same, and schedules have very many
    if isinstance(value, bool) or not (isinstance(value, (numbers.Rational, float, Decimal, str)) or _is_numpy(value)):
        raise ArgumentError(name, value, f"a {type(value).__name__} is not an exact number", _HOW_TO_WRITE)
    if isinstance(value, numbers.Rational):
        result = Fraction(int(value.numerator), int(value.denominator))
    else:
        result = _parse(name, value, str(value).strip())
    too_long = max(result.numerator.bit_length(), result.denominator.bit_length()) > 4 * (MAX_DIGITS + MAX_EXPONENT)
    if too_long:
        raise ArgumentError(name, value, f"more than {MAX_DIGITS + MAX_EXPONENT} digits", "round it to fewer digits")
    return result


def _parse(name: str, value: object, text: str) -> Fraction:
    if len(text) > MAX_DIGITS:
        raise ArgumentError(name, value, f"longer than {MAX_DIGITS} characters", "round it to fewer digits")
    if _RATIO.fullmatch(text):
        top, bottom = text.split("/")
        if int(bottom) == 0:
            raise ArgumentError(name, value, "division by zero", "give a non-zero denominator")
        return Fraction(int(top), int(bottom))
    match = _DECIMAL.fullmatch(text)
    if not match:
        problem = "not a finite number" if _is_non_finite(text) else "not a number"
        raise ArgumentError(name, value, problem, _HOW_TO_WRITE)
    if abs(int(match.group(1) or 0)) > MAX_EXPONENT:
        raise ArgumentError(
            name, value, f"outside 10^-{MAX_EXPONENT} to 10^{MAX_EXPONENT}", "choose a less extreme value"
        )
    return Fraction(text)


def _is_numpy(value: object) -> bool:
    return isinstance(value, numbers.Real) and type(value).__module__ == "numpy"


def _is_non_finite(text: str) -> bool:
    return text.lstrip("+-").lower() in {"nan", "snan", "inf", "infinity"}


def admit_positive(name: str, value: object) -> Fraction:
    """`value` as an exact rational above 0, or an `ArgumentError`; for numbers that are no letter of the paper."""
    result = to_fraction(name, value)
    if result <= 0:
        raise ArgumentError(name, value, "must be positive", "give a number > 0")
    return result


def admit(name: str, value: object) -> Fraction:
    """`value` as an exact rational within the range of the letter `name`, or an `ArgumentError`."""
    letter = LETTERS[name] if name in LETTERS else Letter(name, "", name)
    result = to_fraction(name, value)
    if not letter.admits(result):
        raise ArgumentError(name, value, f"{letter.meaning} is out of range", f"give {letter.describe_range()}")
    return result
