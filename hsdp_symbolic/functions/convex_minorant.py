"""The greatest convex minorant behind `shift:pattern`: in doubles, exactly, and as a certified upper bound.

The points are (x_t, H_t), t = 0 … T: noise variance and jumps up to step t, weighted by what later contractions leave
of them. All three return u = ½·Σ rise²/run over the edges of the minorant, a bound on R_α/α for every order α. A path
that touches the points only where it has a vertex and stays below them elsewhere gives a bound too, if not the best: so
a vertex that rounding misses costs tightness, never truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ..arithmetic.doubles import double_above
from ..arithmetic.engines import Arb
from ..errors import ArgumentError
from ..progress import Ticker
from ..setting.arrays import Array
from ..setting.gate import to_fraction

_ROUNDS = 64
"""Vectorised passes before what is left is scanned point by point."""
_PRECISION = 128
_TRIES = 5
"""How often to try again where another thread may have lowered flint's precision in between."""


def pattern_bound(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> float:
    """u in doubles, for hits 0 or 1 and contraction q_t, noise variance v_t, jump s_t, each one number or one per step.

    >>> pattern_bound([1, 0], q=1.0)  # one jump, hidden by the noise of two steps
    0.25
    >>> pattern_bound([0, 1], q=1.0)  # by the noise of one
    0.5
    """
    hit = _hits(hits)
    contraction, variance, jump = (_column(name, x, len(hit)) for name, x in (("q", q), ("v", v), ("s", s)))
    weight = np.append(np.cumprod(contraction[:0:-1])[::-1], 1.0)
    lengths, rises = variance * weight**2, weight * jump * hit
    corners = vertices(np.concatenate([[0.0], np.cumsum(lengths)]), np.concatenate([[0.0], np.cumsum(rises)]))
    dx, dh = (np.add.reduceat(part, corners[:-1]) for part in (lengths, rises))
    if np.any(dh[dx == 0] > 0):
        raise ArgumentError("v", "tiny", "the noise that hides some jump is too little for a double", "rescale v")
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sum(np.where(dh > 0, dh * (dh / dx), 0.0))) / 2


def vertices(x: Array, height: Array) -> Array:
    """Indices of the vertices of the greatest convex minorant of points whose x and height never fall.

    A point on or above the segment between two others is no vertex, whichever two: so each pass drops many points at
    once. What many passes leave is scanned by Andrew's monotone chain.
    """
    # Between hits the height stays while x grows: only the last point before a rise can be a vertex.
    kept = np.flatnonzero(np.concatenate([[True], height[2:] > height[1:-1], [True]]))
    for _ in range(_ROUNDS):
        a, b = x[kept], height[kept]
        dx, dh = np.diff(a), np.diff(b)
        above = dh[:-1] * dx[1:] >= dh[1:] * dx[:-1]
        if not above.any():
            return kept
        kept = kept[np.concatenate([[True], ~above, [True]])]
    chain: list[int] = []
    xs, hs = x[kept].tolist(), height[kept].tolist()
    for k in range(len(kept)):
        while len(chain) > 1 and not _turns_up(xs, hs, chain[-2], chain[-1], k):
            chain.pop()
        chain.append(k)
    return kept[chain]


def _turns_up(x: Sequence[Any], height: Sequence[Any], i: int, j: int, k: int) -> bool:
    """Whether point j lies strictly below the segment from i to k."""
    return bool((height[j] - height[i]) * (x[k] - x[j]) < (height[k] - height[j]) * (x[j] - x[i]))


def pattern_exact(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> Fraction:
    """u exactly, in rational numbers: for short patterns.

    >>> pattern_exact([1, 0, 0], q=1)
    Fraction(1, 6)
    """
    x, height = _polygon(hits, q, v, s, Fraction(0))
    chain: list[int] = []
    for k in range(len(x)):
        if chain and x[k] == x[chain[-1]]:  # nothing of this step is left at the end: the same point again
            chain.pop()
        while len(chain) > 1 and not _turns_up(x, height, chain[-2], chain[-1], k):
            chain.pop()
        chain.append(k)
    return sum(((height[k] - height[i]) ** 2 / (x[k] - x[i]) for i, k in pairwise(chain)), Fraction(0)) / 2


def pattern_upper(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> float:
    """A double never below the exact u: vertices found in doubles, the path through them certified by ball arithmetic.

    Every point between two vertices is checked to lie above their chord; one that is not shown to becomes a vertex.
    """
    hit, engine = _hits(hits), Arb(_PRECISION)
    for _ in range(_TRIES):
        with engine.working():
            bounds = engine.again(_path_cost, engine, hit, q, v, s)
        if bounds is not None:
            return double_above(bounds[1] / 2)
    raise ArgumentError("q", q, "some jump has no noise left to hide it", "use steps with q > 0")


def _path_cost(engine: Arb, hit: Any, q: Any, v: Any, s: Any) -> tuple[Fraction, Fraction] | None:
    """Bounds on Σ rise²/run along a path that is never above the points; None where they are not finite."""
    ticker = Ticker()
    x, height = _polygon(hit, q, v, s, engine.ball(Fraction(0)), engine.ball)
    floats = [np.array([float(part) for part in line]) for line in (x, height)]
    path = [0]
    waiting = vertices(*map(np.maximum.accumulate, floats)).tolist()[:0:-1]
    while waiting:
        ticker.say(f"convex minorant: {path[-1]:,} of {len(hit):,} steps certified")
        i, k = path[-1], waiting[-1]
        run, rise = x[k] - x[i], height[k] - height[i]
        # As hits raise H, a chord that stays below the last point before each hit stays below all.
        between = (j for j in range(i + 1, k) if hit[j])
        crossed = next((j for j in between if not (height[j] - height[i]) * run >= rise * (x[j] - x[i])), None)
        if crossed is None:
            path.append(waiting.pop())
        else:
            waiting.append(crossed)
    total = engine.ball(Fraction(0))
    for i, k in pairwise(path):
        rise = height[k] - height[i]
        if not rise.is_zero():
            total = total + rise * rise / (x[k] - x[i])
    ticker.clear()
    return engine.bounds(total)


def _polygon(hits: Any, q: Any, v: Any, s: Any, zero: Any, number: Any = lambda x: x) -> tuple[list[Any], list[Any]]:
    """The points (x_t, H_t), t = 0 … T, in the arithmetic of `number`."""
    hit = _hits(hits).tolist()
    qs, vs, jumps = (_fractions(name, x, len(hit)) for name, x in (("q", q), ("v", v), ("s", s)))
    made: dict[Fraction, Any] = {}

    def of(x: Fraction) -> Any:
        if x not in made:
            made[x] = number(x)
        return made[x]

    weights = [of(Fraction(1))]
    for factor in reversed(qs[1:]):
        weights.append(weights[-1] * of(factor))
    weights.reverse()
    x, height = [zero], [zero]
    for weight, variance, jump, on in zip(weights, vs, jumps, hit, strict=True):
        x.append(x[-1] + of(variance) * weight * weight)
        height.append(height[-1] + of(jump) * weight if on else height[-1])
    return x, height


def _hits(hits: Any) -> Array:
    found = np.asarray(hits)
    if found.ndim != 1 or not len(found) or not np.all((found == 0) | (found == 1)):
        raise ArgumentError("hits", hits, "not a row of zeros and ones", "give one 0 or 1 per step")
    return found.astype(np.float64)


def _column(name: str, value: Any, steps: int) -> Array:
    """One double per step, checked."""
    try:
        found = np.broadcast_to(np.asarray(value, dtype=np.float64), (steps,))
    except (TypeError, ValueError):
        raise ArgumentError(name, value, "not a number or one number per step", f"give 1 or {steps}") from None
    _check(name, value, bool(np.all(_inside(name, found))))
    return found


def _fractions(name: str, value: Any, steps: int) -> list[Fraction]:
    """One rational per step, checked."""
    each = isinstance(value, Iterable) and not isinstance(value, str)
    found = [to_fraction(name, x) for x in (value if each else [value])]
    if len(found) not in (1, steps):
        raise ArgumentError(name, value, "not a number or one number per step", f"give 1 or {steps}")
    _check(name, value, all(_inside(name, x) for x in found))
    return found * steps if len(found) == 1 else found


def _inside(name: str, x: Any) -> Any:
    positive = x > 0 if name == "v" else x >= 0
    return positive & (x <= 1 if name == "q" else x < math.inf)


def _check(name: str, value: Any, good: bool) -> None:
    ranges = {"q": "a contraction from 0 to 1", "v": "a variance > 0", "s": "a jump >= 0"}
    if not good:
        raise ArgumentError(name, value, "out of range", f"give {ranges[name]} for every step")
