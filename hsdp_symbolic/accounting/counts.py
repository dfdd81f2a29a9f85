"""Whole numbers that count something."""

from __future__ import annotations

import numbers

from ..errors import ArgumentError
from ..setting.letters import LARGEST_EXPONENT


def admit_count(name: str, value: object) -> int:
    """A whole number from 1 to 10^30. Text and floats are refused: a count is exact."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentError(name, value, "not a whole number", "give an int such as 10")
    count = int(value)
    if not 1 <= count <= 10**LARGEST_EXPONENT:
        raise ArgumentError(name, value, "out of range", f"give a whole number from 1 to 10^{LARGEST_EXPONENT}")
    return count
