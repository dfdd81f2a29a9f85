"""The greatest convex minorant behind `shift:pattern`: in doubles, exactly, and as a certified upper bound.

A step multiplies a distance by q_t (which may be more than 1), adds s_t if it is a hit, and its noise, of variance v_t,
hides a_t of it. With P_t = Π_(i>t) q_i, the points are (x_t, H_t), t = 0 … T, where x_t = Σ_(i<t) v_i·P_i² and
H_t = Σ_(i<t) P_i·s_i·hit_i; the best shifts are a_t = v_t·P_t·(slope of the minorant). All three views return u, which
is ½·Σ rise²/run over its edges, a bound on R_α/α for every order α. A path that touches the points only where it has a
vertex and stays below them elsewhere gives a bound too, if not the best: so a vertex that rounding misses costs
tightness, never truth.

Edges are found by pooling steps, and edges, whose slopes fall (isotonic regression). Nothing is ever taken from sums
over all steps: for q_t > 1 these are so large that late steps would be lost in them. Instead an edge knows, in units of
its own end, its rise (what would be left of its jumps if nothing were hidden), its run (the same for variances) and its
gain, the product of its q_t; of two edges, the first counts for gain·rise and gain²·run of the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.doubles import double_above
from ..arithmetic.engines import Arb
from ..errors import ArgumentError
from ..progress import Ticker
from ..setting.arrays import Array
from ..setting.gate import to_fraction

_ROUNDS = 64
"""Vectorised passes before what is left is pooled one by one."""
_FARTHEST = 2000
"""Powers of two beyond this make no difference to a comparison of doubles."""
_PRECISION = 128
_TRIES = 5
"""How often to try again where another thread may have lowered flint's precision in between."""


class Edges(NamedTuple):
    """Edges of a path, in doubles: rise·2^scale, run·2^(2·scale), gain·2^power, and the step each begins with."""

    rise: Array
    run: Array
    scale: Array
    gain: Array
    power: Array
    begin: Array

    def only(self, which: Array) -> Edges:
        return Edges(*(part[which] for part in self))


def pattern_bound(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> float:
    """u in doubles, for hits 0 or 1 and factor q_t, noise variance v_t, jump s_t, each one number or one per step.

    >>> pattern_bound([1, 0], q=1.0)  # one jump, hidden by the noise of two steps
    0.25
    >>> pattern_bound([0, 1], q=1.0)  # by the noise of one
    0.5
    """
    hit = _hits(hits)
    columns = (_column(name, x, len(hit)) for name, x in (("q", q), ("v", v), ("s", s)))
    found = edges(hit, *columns)
    with np.errstate(over="ignore"):
        value = float(np.sum(found.rise * (found.rise / found.run))) / 2
    if not math.isfinite(value):
        raise ArgumentError("v", "tiny", "the noise that hides some jump is too little for a double", "rescale v")
    return value


def edges(hit: Array, factor: Array, variance: Array, jump: Array) -> Edges:
    """The edges of the minorant: steps, pooled as long as slopes fall.

    Which neighbours with falling slopes are pooled first makes no difference, so each pass pools many at once.
    """
    found = _steps(jump * hit, variance, factor)
    for _ in range(_ROUNDS):
        falls = _falls(found)
        if not falls.any():
            return found
        found = _pooled(found, falls)
    return _one_by_one(found)


def _steps(rise: Array, run: Array, gain: Array) -> Edges:
    """Every step an edge of its own."""
    scale = np.zeros(len(rise), dtype=np.int64)
    return _normal(rise, run, scale, gain, scale, np.arange(len(rise)))


def _normal(rise: Array, run: Array, scale: Array, gain: Array, power: Array, begin: Array) -> Edges:
    """The same numbers, with run and gain near 1."""
    _, size = np.frexp(run)
    half = (size // 2).astype(np.int64)
    gain, more = np.frexp(gain)
    return Edges(np.ldexp(rise, -half), np.ldexp(run, -2 * half), scale + half, gain, power + more, begin)


def _falls(found: Edges) -> Array:
    """Which edges are at least as steep as the next one."""
    place = np.arange(len(found.rise))
    one, other = found.only(place[:-1]), found.only(place[1:])
    apart = np.clip(other.power - other.scale + one.scale, -_FARTHEST, _FARTHEST)
    with np.errstate(over="ignore"):
        next_one: Array = np.ldexp(other.gain * other.rise * one.run, apart)
    return np.asarray(one.rise * other.run >= next_one)


def _pooled(found: Edges, falls: Array) -> Edges:
    """Each edge that falls, and was not itself taken by the one before it, takes the next one."""
    taking = np.flatnonzero(falls)
    first = np.concatenate([[True], np.diff(taking) > 1])  # of neighbours that fall, every other one takes
    place = np.arange(len(taking))
    taking = taking[(place - np.maximum.accumulate(np.where(first, place, 0))) % 2 == 0]
    one, other = found.only(taking), found.only(taking + 1)
    kept = np.ones(len(found.rise), dtype=bool)
    kept[taking + 1] = False
    changed = [np.array(part) for part in found]
    for part, new in zip(changed, _joined(one, other), strict=True):
        part[taking] = new
    return Edges(*changed).only(kept)


def _joined(one: Edges, other: Edges) -> Edges:
    """An edge and the next, as one."""
    before = np.where((one.rise > 0) | (one.run > 0), one.scale + other.power, other.scale)
    scale = np.maximum(before, other.scale)
    first, second = (np.maximum(each - scale, -_FARTHEST) for each in (before, other.scale))
    rise = np.ldexp(one.rise * other.gain, first) + np.ldexp(other.rise, second)
    run = np.ldexp(one.run * other.gain**2, 2 * first) + np.ldexp(other.run, 2 * second)
    return _normal(rise, run, scale, one.gain * other.gain, one.power + other.power, one.begin)


def _one_by_one(found: Edges) -> Edges:
    """From left to right, each new edge pooled with those before it that are as steep."""
    done: list[Edges] = []
    for place in range(len(found.rise)):
        here = found.only(np.array([place]))
        while done and _falls(Edges(*map(np.concatenate, zip(done[-1], here, strict=True)))).all():
            here = _joined(done.pop(), here)
        done.append(here)
    return Edges(*map(np.concatenate, zip(*done, strict=True)))


def pattern_exact(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> Fraction:
    """u exactly, in rational numbers: for short patterns.

    >>> pattern_exact([1, 0, 0], q=1)
    Fraction(1, 6)
    """
    return sum((rise * rise / run for rise, run, *_ in exact_edges(hits, q=q, v=v, s=s)), Fraction(0)) / 2


class ExactEdge(NamedTuple):
    """One of the edges, exactly."""

    rise: Fraction
    run: Fraction
    gain: Fraction
    begin: int


def exact_edges(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> list[ExactEdge]:
    """The edges of the minorant, from left to right, in rational numbers."""
    hit = _hits(hits).tolist()
    factors, variances, jumps = (_fractions(name, x, len(hit)) for name, x in (("q", q), ("v", v), ("s", s)))
    path: list[ExactEdge] = []
    for step, (on, jump, run, gain) in enumerate(zip(hit, jumps, variances, factors, strict=True)):
        here = ExactEdge(jump if on else Fraction(0), run, gain, step)
        while path and path[-1].rise * here.run >= here.gain * here.rise * path[-1].run:
            before = path.pop()
            rise, run = before.rise * here.gain + here.rise, before.run * here.gain**2 + here.run
            here = ExactEdge(rise, run, before.gain * here.gain, before.begin)
        path.append(here)
    return path


def pattern_upper(hits: Any, *, q: Any, v: Any = 1, s: Any = 1) -> float:
    """A double never below the exact u: edges found in doubles, the path of these certified by ball arithmetic.

    Every point between two vertices is checked to lie above their chord; one that is not shown to becomes a vertex.
    """
    hit, engine = _hits(hits), Arb(_PRECISION)
    exactly = [_fractions(name, x, len(hit)) for name, x in (("q", q), ("v", v), ("s", s))]
    for _ in range(_TRIES):
        with engine.working():
            bounds = engine.again(_path_cost, engine, hit, *exactly)
        if bounds is not None:
            return double_above(bounds[1] / 2)
    raise ArgumentError("v", "tiny", "the noise that hides some jump is too little", "rescale v")


def vertices(hit: Array, *columns: Sequence[Fraction]) -> list[int]:
    """Steps with which an edge begins, as far as doubles can tell, and the number of steps."""
    found = edges(hit, *(np.array([float(x) for x in column]) for column in columns))
    return [*found.begin.tolist(), len(hit)]


def _path_cost(engine: Arb, hit: Array, *columns: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Bounds on Σ rise²/run along a path that is never above the points; None where they are not finite."""
    ticker, balls = Ticker(), [_balls(engine, column) for column in columns]
    total, begin, zero = engine.ball(Fraction(0)), 0, engine.ball(Fraction(0))
    waiting = vertices(hit, *columns)[:0:-1]
    while waiting:
        ticker.say(f"convex minorant: {begin:,} of {len(hit):,} steps certified")
        crossed, rise, run = _edge(zero, hit, begin, waiting[-1], *balls)
        if crossed is not None:
            waiting.append(crossed)
            continue
        begin = waiting.pop()
        if not rise.is_zero():
            total = total + rise * rise / run
    ticker.clear()
    return engine.bounds(total)


def _balls(engine: Arb, column: Sequence[Fraction]) -> list[Any]:
    made: dict[Fraction, Any] = {}
    return [made[x] if x in made else made.setdefault(x, engine.ball(x)) for x in column]


def _edge(
    zero: Any, hit: Array, begin: int, end: int, factors: list[Any], variances: list[Any], jumps: list[Any]
) -> tuple[int | None, Any, Any]:
    """The first point that is not shown to lie above an edge, if any; and the edge's rise and run.

    As hits raise H, a chord that stays below the last point before each hit stays below all.
    """
    rise = run = zero
    before: list[tuple[int, Any, Any]] = []
    for step in range(begin, end):
        if hit[step] and step > begin:
            before.append((step, rise, run))
        rise = rise * factors[step] + (jumps[step] if hit[step] else zero)
        run = run * factors[step] * factors[step] + variances[step]
    crossed, gain, last = None, zero + 1, end
    for step, here, there in reversed(before):
        for later in range(last - 1, step - 1, -1):
            gain = gain * factors[later]
        last = step
        if not here * run >= rise * gain * there:
            crossed = step
    return crossed, rise, run


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
    return positive & (x < math.inf)


def _check(name: str, value: Any, good: bool) -> None:
    ranges = {"q": "a factor >= 0", "v": "a variance > 0", "s": "a jump >= 0"}
    if not good:
        raise ArgumentError(name, value, "out of range", f"give {ranges[name]} for every step")
