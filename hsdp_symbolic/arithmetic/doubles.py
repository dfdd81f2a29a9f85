"""Doubles that others will rely on: rounded to a stated side, and only trusted where they round to nearest.

A thread may be told (by `fesetround`, or by a library built with -ffast-math) to round its doubles otherwise, or to
flush the tiniest to 0. Nothing here breaks silently then: `double_above` and `double_below` use integers only, and
`require_nearest` refuses.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from ..errors import RoundingMode

_ULP = math.ldexp(1.0, -52)
_HALF, _MOST = math.ldexp(1.0, -53), math.ldexp(3.0, -54)
"""Half of the distance from 1 to the next double, and three quarters of it."""
_ABOVE_ONE = 1.0 + _ULP
_LEAST, _LEAST_NORMAL = struct.unpack("<2d", struct.pack("<2Q", 1, 1 << 52))
"""The least double above 0, and the least normal one."""
_INFINITY = 0x7FF << 52
"""The bits of inf."""


def double_above(value: Fraction) -> float:
    """The least double that is not below `value` (inf past the largest); right in every rounding mode.

    >>> double_above(Fraction(1, 10)), double_above(Fraction(1, 3)) > Fraction(1, 3)
    (0.1, True)
    """
    return _double(value, up=True)


def double_below(value: Fraction) -> float:
    """The greatest double that is not above `value` (−inf past the largest); right in every rounding mode."""
    return _double(value, up=False)


def _double(value: Fraction, *, up: bool) -> float:
    """Put together from integers: no floating-point operation takes part, so none can round the wrong way."""
    top, bottom = abs(value.numerator), value.denominator
    if not top:
        return 0.0
    size = top.bit_length() - bottom.bit_length()  # 2^(size − 1) < |value| < 2^(size + 1)
    if abs(size) > 1100:  # beyond all doubles
        top, bottom, size = (1 << 1100, 1, 1100) if size > 0 else (1, 1 << 1100, -1100)
    if (top << max(0, -size)) < (bottom << max(0, size)):
        size -= 1
    last = max(size - 52, -1074)  # the exponent of the last bit
    whole, rest = divmod(top << max(0, -last), bottom << max(0, last))
    # As an integer, the bits of a double count the doubles from 0: a carry into the exponent is what it should be.
    whole += (last + 1074) << 52
    if whole >= _INFINITY:
        whole, rest = _INFINITY - 1, 1
    outward = up == (value > 0)
    (found,) = struct.unpack("<d", struct.pack("<Q", whole + (1 if rest and outward else 0)))
    return float(found) if value > 0 else -float(found)


def require_nearest() -> None:
    """An error unless doubles in this thread round to nearest, and the tiniest of them are not flushed to 0."""
    one = 1.0
    nearest = (
        one + _HALF == 1.0 == one - _HALF / 2  # not upwards, nor downwards or towards 0
        and one + _MOST == _ABOVE_ONE == -(-one - _MOST)  # not downwards or towards 0, nor upwards
        and _ABOVE_ONE * _ABOVE_ONE == 1.0 + 2 * _ULP
        and _LEAST + _LEAST > 0.0
        and _LEAST_NORMAL / 2 > 0.0
    )
    if not nearest:
        raise RoundingMode
