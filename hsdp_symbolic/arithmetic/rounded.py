"""Bounds on e^x − 1 and log mixtures over arrays, from IEEE additions, products and quotients alone.

These must round to nearest; `require_nearest_arrays` checks that they do. No library function is trusted: the
exponential is a Taylor polynomial near 0, from which e^(2x) follows from e^x as often as needed, with an error bound
counted by hand; the logarithm is a guess y corrected by log x ≤ y + (x − e^y)/e^y, which holds for every y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import RoundingMode
from ..setting.arrays import Array
from .doubles import require_nearest

UNIT = 2.0**-53
"""The largest relative error of one rounding."""
TANGENT_BEYOND = 200.0
"""Beyond this exponent a mixture continues along its tangent, whose slope is 1 to 50 digits."""
_DEGREE = 12
_TRIED = 19
"""Length of the arrays on which NumPy's rounding is tried: enough for whole SIMD vectors and a remainder."""


def _inverse(n: int) -> float:
    """The double nearest to 1/n, from integers: right in whatever way the thread that imports this module rounds."""
    bits = 52 + n.bit_length()
    return math.ldexp(round(Fraction(1 << bits, n)), -bits)


_COEFFICIENTS = [_inverse(math.factorial(j + 1)) for j in range(_DEGREE, -1, -1)]


def require_nearest_arrays() -> None:
    """An error unless NumPy's +, −, × and ÷ round to nearest in this thread, and do not flush tiny numbers to 0."""
    require_nearest()
    one, ulp = np.ones(_TRIED), 2 * UNIT
    above, tiny = one + ulp, one * 2.0**-1022
    nearest = (
        (one + UNIT == 1.0)  # not upwards
        & (one - UNIT / 2 == 1.0)  # not downwards, nor towards 0
        & (-one - UNIT == -1.0)
        & (one + 1.5 * UNIT == above)
        & (-one - 1.5 * UNIT == -above)
        & (above * above == 1.0 + 2 * ulp)
        & (-above * (above + ulp) == -(1.0 + 3 * ulp))
        & (one / above == 1.0 - ulp)
        & ((tiny - tiny / 4) * 4.0 == tiny * 3.0)  # exact unless tiny numbers are lost
        & (tiny / 2 > 0.0)
    )
    if not nearest.all():
        raise RoundingMode


def expm1_bounds(x: Array) -> tuple[Array, Array]:
    """Arrays below and above e^x − 1, for 0 ≤ x ≤ 200: relative distance about 2·10⁻¹⁴·(1 + x).

    With r = x/2^k ≤ 1/4, the polynomial of degree 12 for (e^r − 1)/r leaves out less than 2⁻⁶⁰ of it, and its 40
    roundings act on nonnegative terms only: a relative error below 42 units. Each doubling, e ← e(2 + e), adds two
    units and passes errors on; together doublings amplify a relative error by at most x·e^x/(e^x − 1) ≤ 1 + x. With
    k ≤ 10 that is at most 62·(1 + x) units to first order; 96 leave room for the second and for the padding itself.
    """
    largest = float(np.max(x, initial=0.0))
    doublings = max(0, math.frexp(largest)[1] + 2) if largest else 0
    r = x * 2.0**-doublings  # exact: a power of two
    e = np.full_like(r, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        e *= r
        e += coefficient
    e *= r
    for _ in range(doublings):
        e *= e + 2.0
    pad = e * ((1.0 + x) * (96 * UNIT))
    return e - pad, e + pad


class LogMixBounds(NamedTuple):
    """Bounds on the logarithm of a mean of two exponentials, and on the share of that mean the larger one has."""

    below: Array
    above: Array
    share_below: Array
    share_above: Array


def log_mix_bounds(weight: tuple[Any, Any], gap: Array) -> LogMixBounds:
    """Bounds on log(1 + w·(e^gap − 1)), for gap ≥ 0 and any 0 ≤ w ≤ 1 between the two given.

    A positive weight is at least 10⁻³⁰, so that beyond gap = 200 the slope is 1 − 10⁻⁵⁶ or more, and never over 1.
    The share of the larger term is that slope, (w + x)/(1 + x) with x = w·(e^gap − 1).
    """
    near = np.minimum(gap, TANGENT_BEYOND)
    beyond = gap - near
    low, high = expm1_bounds(near)
    low, high = low * weight[0] * (1 - 4 * UNIT), high * weight[1] * (1 + 4 * UNIT)
    guess = np.minimum(np.log1p(0.5 * (low + high)), TANGENT_BEYOND)
    under, over = expm1_bounds(guess)
    rise = np.maximum(high - under, 0.0) / (1.0 + under)
    fall = np.maximum(over - low, 0.0) / (1.0 + low)
    above = (guess + beyond) + rise * (1 + 8 * UNIT)
    below = (guess + np.where(low > 0, beyond, 0.0)) - fall * (1 + 8 * UNIT)
    least = (low + weight[0]) / (1.0 + low) * (1 - 4 * UNIT)
    most = np.where((beyond > 0) & (high > 0), 1.0, (high + weight[1]) / (1.0 + high) * (1 + 4 * UNIT))
    return LogMixBounds(np.maximum(below * (1 - 4 * UNIT), 0.0), above * (1 + 4 * UNIT), least, most)
