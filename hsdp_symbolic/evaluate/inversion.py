"""The least ε at which a profile, δ as a falling function of ε, is at most a given δ: bracketed from both sides.

Every value that decides is an enclosure: the upper end returned is a point at which δ is certainly small enough, the
lower end one below which it certainly is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ..errors import ArgumentError, PrecisionExhausted
from .enclosure import Enclosure

MOST_EVALUATIONS = 200
"""How often a profile is evaluated before its inverse is given up."""
DEFAULT_RTOL = Fraction(1, 10**12)
_LARGEST = Fraction(2) ** 1000
_QUICK = 8
"""Evaluations after which the bracket is halved from time to time, should secants make no progress."""
_MOST_ROUGHLY = 1e18
"""How large an ε is looked for in doubles."""

Profile = Callable[[Fraction], Enclosure]


def least_epsilon(
    profile: Profile,
    delta: Fraction,
    rtol: Fraction = DEFAULT_RTOL,
    about: float | None = None,
    off: Fraction = Fraction(0),
) -> Enclosure:
    """The least ε ≥ 0 with profile(ε) ≤ delta; wider than `rtol` only where the enclosures of δ are.

    If it is known where it is (`about`), the search begins there; if it is known to a small part of `rtol`, two
    enclosures of δ are enough. `off` is how far away it may be, relatively.
    """
    if not 0 < delta <= 1:
        raise ArgumentError("delta", delta, "a profile reaches no such value", "give 0 < delta <= 1")
    seen: dict[Fraction, Enclosure] = {}

    def at(epsilon: Fraction) -> Enclosure:
        if epsilon not in seen:
            if len(seen) > MOST_EVALUATIONS:
                raise PrecisionExhausted(MOST_EVALUATIONS, float(rtol))
            seen[epsilon] = profile(epsilon)
        return seen[epsilon]

    if about is not None and 0 < about < math.inf:
        margin = max(off, rtol / 2)
        low, high = (_short(Fraction(about) * (1 + side * margin), margin * Fraction(about)) for side in (-1, 1))
        if at(high).hi <= delta < at(low).lo and 2 * margin <= rtol:
            return Enclosure(low, high)
    start = at(Fraction(0))
    if start.hi <= delta:
        return Enclosure(Fraction(0), Fraction(0))
    low, high = _root(lambda epsilon: at(epsilon).hi, delta, rtol, tuple(seen))
    if start.lo <= delta:
        low = Fraction(0)
    elif at(low).lo <= delta:  # enclosures are too wide for both ends to be found at once
        low = _root(lambda epsilon: at(epsilon).lo, delta, rtol, tuple(seen))[0]
    return Enclosure(min(low, high), high)


def roughly(profile: Callable[[float], float], delta: float) -> float | None:
    """Where a falling profile in doubles passes `delta`; None if it never does, or doubles do not tell."""

    def above(epsilon: float) -> float:
        found = profile(epsilon)
        return math.log(found / delta) if 0 < found < math.inf else -math.inf

    low, at_low, high = 0.0, above(0.0), 1.0
    if not 0 < at_low < math.inf:
        return None
    while (at_high := above(high)) > 0:
        low, at_low, high = high, at_high, 2 * high
        if high > _MOST_ROUGHLY:
            return None
    for turn in range(MOST_EVALUATIONS):
        middle = (low + high) / 2
        if turn % 3 != 2 and math.isfinite(at_high):
            middle = low + (high - low) * min(max(at_low / (at_low - at_high), 1e-6), 1 - 1e-6)
        if not low < middle < high or high - low <= 1e-15 * high:
            break
        here = above(middle)
        if here > 0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    return high


def _root(
    value: Callable[[Fraction], Fraction], delta: Fraction, rtol: Fraction, begin: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """Points on either side of where a falling function passes `delta`: at the first it is above, at the second not.

    It begins with points that are known already, 0 among them.
    """
    points = {point: _distance(value(point), delta) for point in begin}
    low = max(point for point in points if points[point] > 0)
    high = min((point for point in points if points[point] <= 0), default=2 * low or Fraction(1))
    while high not in points and (here := _distance(value(high), delta)) > 0:
        points[high] = here
        low, high = high, 2 * high
        if high > _LARGEST:
            raise ArgumentError("delta", delta, "no ε is large enough for it", "give a larger delta")
    points.setdefault(high, _distance(value(high), delta))
    width, bisected = high - low, False
    while high - low > rtol * high:
        bisected = not bisected and high - low > width / 4 and len(points) > _QUICK
        width = high - low
        middle = _short(low + width / 2 if bisected else _between(points, low, high, rtol), rtol * high)
        middle = middle if low < middle < high else low + width / 2
        points[middle] = _distance(value(middle), delta)
        low, high = (middle, high) if points[middle] > 0 else (low, middle)
    return low, high


def _between(points: Mapping[Fraction, float], low: Fraction, high: Fraction, rtol: Fraction) -> Fraction:
    """Where to look next: at the root of the secant of log δ, or a little to one side of it if it is close already."""
    first, second = sorted(points, key=lambda point: abs(points[point]))[:2]
    rise = points[second] - points[first]
    middle, margin = low + (high - low) / 2, rtol * high / 4
    if not math.isfinite(rise) or rise == 0:
        return middle
    root = first - Fraction(points[first] / rise) * (second - first)
    if abs(root - first) < margin:  # nearly there: close in from the side that is farther away
        root += margin if high - root > root - low else -margin
    return root if low < root < high else middle


def _short(value: Fraction, width: Fraction) -> Fraction:
    """A dyadic number near `value`, much closer than `width`."""
    bits = max(0, 8 - math.floor(math.log2(width.numerator) - math.log2(width.denominator)))
    return Fraction(round(value * 2**bits), 2**bits)


def _distance(value: Fraction, delta: Fraction) -> float:
    """log(value/delta), the sign exact."""
    if value <= 0:
        return -math.inf
    found = _log(value) - _log(delta)
    if value > delta:
        return max(found, 5e-324)
    return min(found, 0.0)


def _log(value: Fraction) -> float:
    top, bottom = value.numerator, value.denominator
    shift = top.bit_length() - bottom.bit_length()
    near = top / (bottom << shift) if shift > 0 else (top << -shift) / bottom  # no gcd of millions of digits
    return math.log(near) + shift * math.log(2)
