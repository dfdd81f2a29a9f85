"""`Accumulated`: the recursion s ← s + increment(s)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, S

from ..errors import OutsideDoubleRange, TooManySteps
from ..setting.arrays import Array
from ..symbols import alpha_minus_1
from .interface import Balls, Binding, Doubles, Parts, Rules, Trend, Values, must_count
from .recursion import MOST_STEPS_IN_BALLS, MOST_STEPS_IN_DOUBLES, after


class Accumulated(Binding):
    """s after `count` steps of s ← s + increment(s) from s = 0; `increment` is given in `state`.

    The derivation that uses it proves what the views rely on: the map s ↦ s + increment(s) is increasing and convex,
    its increment decreasing; and wherever `room` is positive, s stays below the fixed point `ceiling`, at which the
    slope of the map is 1 − `gain`.
    """

    nargs = 6  # increment, state, count, room, ceiling, gain
    rank = 1
    is_recursion = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        increment, state, count, *others = self.args
        must_count(count)
        start = self.func(increment, state, S.Zero, *others), S.Zero
        return start, (self.func(increment, state, count + 1, *others), self + increment.subs(state, self))

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        """Step by step along a thin trajectory, until what is left to come is enclosed.

        The map is increasing with slope at most 1, so rounding errors add up and never grow; the increments
        decrease, so the remaining ones lie between the increment here and the one at the highest point ahead.
        """
        increment, state, count, room, ceiling, gain = parts
        total = int(over.exactly(count, values))
        step_at = increment.prepare(over, values, state)
        limit = None
        if over.bounds(room.run(over, values))[0] > 0:
            slope = over.add(Fraction(1), over.mul(Fraction(-1), gain.run(over, values)))
            limit = over.bounds(ceiling.run(over, values)), slope
            _refuse_if_endless(total, float(1 - over.bounds(slope)[0]), MOST_STEPS_IN_BALLS)
        if step_at(Fraction(0)) == 0:
            return Fraction(0)
        engine = over.engine
        here, error = over.ball(Fraction(0)), Fraction(0)
        for done in range(total):
            step = over.ball(step_at(here))
            if done % 32 == 0:
                closed = _closed(over, here, error, step, total - done, limit, step_at)
                if closed is not None:
                    return closed
                if done >= MOST_STEPS_IN_BALLS:
                    raise TooManySteps(total, "a recursion")
            here, radius = engine.recentre(engine.add(here, step))
            error += radius
        return engine.add(here, engine.interval(-error, error))

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        return over.whole(lambda values: _array(over, parts, values), parts)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1  # the derivation that uses it proves so

    def trend(self, rules: Rules) -> Trend | None:
        increment, _, count, *_ = self.args  # the map increases with the state, and the state with the count
        return rules.joint([increment, count])

    def per_order(self, rules: Rules) -> Trend | None:
        increment, state, count, *_ = self.args  # in the state divided by s
        return rules.joint([increment.subs(state, alpha_minus_1 * state) / alpha_minus_1, count])


def _refuse_if_endless(steps: float, gain: float, most: int) -> None:
    """`TooManySteps` if a recursion is too long to follow to its end and cannot settle before."""
    if steps > most and most * gain < 20 and steps * gain < 1000:
        raise TooManySteps(int(steps), "a recursion")


def _closed(
    over: Balls,
    here: Any,
    error: Fraction,
    step: Any,
    remaining: int,
    limit: tuple[tuple[Fraction, Fraction], Any] | None,
    step_at: Callable[[Any], Any],
) -> Any:
    """The end value, if the steps that remain are known closely enough; None otherwise.

    Below the fixed point the map's slope is at most the slope there, so the distance to it shrinks at least that fast.
    """
    engine = over.engine
    low, high = over.bounds(here)
    top = high + error + remaining * max(over.bounds(step)[1], Fraction(0))
    if limit is not None:
        top = min(top, limit[0][1])
    least = max(over.bounds(step_at(over.ball(top)))[0], Fraction(0))
    bottom = low - error + remaining * least
    if limit is not None:
        (settled, highest), slope = limit
        gain = 1 - over.bounds(slope)[1]
        # Past any precision a higher power of the slope only makes for a longer fraction.
        enough = remaining if gain <= 0 else min(remaining, int(64 * engine.precision / gain) + 1)
        shrunk = over.error(over.power(slope, Fraction(enough)))
        bottom = max(bottom, settled - shrunk * (highest - low + error))
    if top - bottom > engine.resolution * top * 2**40:
        return None
    return engine.interval(min(bottom, top), top)


def _array(over: Doubles, parts: Parts, values: Values) -> Array:
    """With compensated summation; stops once what is left is known."""
    increment, name, count, room, ceiling, gain = parts
    state, step_from = over.stepper(increment, {name: 0.0}, values)
    lost, before = np.zeros_like(state[name]), np.zeros_like(state[name])
    highest, gain_there = _ceiling(over, room, ceiling, gain, values)
    counts = np.asarray(over.exact_or_array(count, values), dtype=np.float64)
    longest = float(np.max(counts, initial=0.0))
    if longest > MOST_STEPS_IN_DOUBLES:
        gains, tops = np.broadcast_arrays(gain_there, highest)
        for slowest in np.unique(gains[np.isfinite(tops)]).tolist():
            _refuse_if_endless(longest, slowest, MOST_STEPS_IN_DOUBLES)

    def advance() -> None:
        step = step_from()
        step -= lost
        before[...] = state[name]
        np.add(state[name], step, out=state[name])
        np.subtract(state[name], before, out=lost)
        np.subtract(lost, step, out=lost)

    def close(remaining: float) -> tuple[Array, Array]:
        now = state[name].copy()
        top = np.minimum(now + remaining * np.maximum(step_from(), 0), highest)
        state[name][...] = top
        bottom = np.minimum(now + remaining * np.maximum(step_from(), 0), top)
        state[name][...] = now
        # The distance to the fixed point shrinks at least as fast as it does there.
        covered = -np.expm1(remaining * np.log1p(-gain_there))
        settled = np.where(np.isfinite(highest), now + covered * (highest - now), bottom)
        return np.minimum(np.maximum(bottom, settled), top), top

    return after(counts, state[name], advance, close)


def _ceiling(over: Doubles, room: Any, ceiling: Any, gain: Any, values: Values) -> tuple[Array, Array]:
    """The fixed point and the gain there, where there is one; infinity and 0 elsewhere."""
    try:
        with np.errstate(all="ignore"):
            exists = over.evaluate_raw(room, values) > 0
            highest = np.where(exists, over.evaluate_raw(ceiling, values), np.inf)
            return highest, np.where(exists, over.evaluate_raw(gain, values), 0.0)
    except (ZeroDivisionError, OutsideDoubleRange):  # every record in every batch, or a moment beyond the doubles
        return np.array(np.inf), np.array(0.0)
