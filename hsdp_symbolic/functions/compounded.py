"""`Compounded`: the recursion u ← factor·(u + cost)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Integer

from ..errors import ExactTooLarge, TooManySteps
from ..setting.arrays import Array
from .geometric import GeometricSum
from .interface import Arithmetic, Balls, Binding, Doubles, Parts, Rules, Trend, Values
from .recursion import MOST_STEPS_IN_BALLS, after


class Compounded(Binding):
    """u after `count` steps of u ← factor(k)·(u + cost), k = 0, 1, …, from u = 0; `factor` is given in `index`.

    The derivation that uses it proves that the factor increases with k and stays below `limit` < 1.
    """

    nargs = 5  # factor, index, cost, count, limit
    for_views = (4,)
    rank = 1
    is_recursion = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        factor, index, cost, count, limit = self.args
        start = Compounded(factor, index, cost, Integer(0), limit)
        step = factor.subs(index, count) * (self + cost)
        return (start, Integer(0)), (Compounded(factor, index, cost, count + 1, limit), step)

    @classmethod
    def exact(cls, over: Arithmetic, parts: Parts, values: Values) -> Any:
        factor, index, cost, count, _ = parts
        total, each = Fraction(0), cost.run(over, values)
        for step in range(int(over.exactly(count, values))):
            total = factor.run(over, {**values, index: Fraction(step)}) * (total + each)
            bits = total.denominator.bit_length()
            if bits > over.max_bits:
                raise ExactTooLarge(bits)
        return total

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        """Step by step, until it makes no difference whether the remaining factors stay or jump to the limit."""
        factor, index, cost_part, count_part, limit_part = parts
        factor_at = factor.prepare(over, values, index)
        cost, limit = cost_part.run(over, values), limit_part.run(over, values)
        count, engine = int(over.exactly(count_part, values)), over.engine
        here: Any = Fraction(0)
        for done in range(count):
            now = factor_at(Fraction(done))
            if done % 32 == 0 and done:
                ends = [_with_one_factor(over, here, kept, cost, count - done) for kept in (now, limit)]
                low, high = over.bounds(ends[0])[0], over.bounds(ends[1])[1]
                if high - low <= engine.resolution * high * 2**40:
                    return engine.interval(low, high)
                if done >= MOST_STEPS_IN_BALLS:
                    raise TooManySteps(count, "a recursion")
            here = over.ball(over.mul(now, over.add(here, cost)))
        return here

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        return over.whole(lambda values: _array(over, parts, values), parts)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1  # the derivation that uses it proves so

    def trend(self, rules: Rules) -> Trend | None:
        factor, _, cost, count, _ = self.args
        return rules.joint([factor, cost, count])


def _with_one_factor(over: Balls, here: Any, factor: Any, cost: Any, steps: int) -> Any:
    """The value after `steps` further steps, all with the same factor."""
    kept = over.mul(over.power(factor, Fraction(steps)), here)
    return over.add(kept, over.mul(cost, factor, GeometricSum.ball(over, factor, Fraction(steps))))


def _array(over: Doubles, parts: Parts, values: Values) -> Array:
    factor, name, cost_part, count, limit_part = parts
    cost, limit = (over.evaluate_raw(part, values) for part in (cost_part, limit_part))
    state, factor_now = over.stepper(factor, {name: 0.0}, values)
    here = np.zeros(np.broadcast_shapes(state[name].shape, cost.shape))

    def advance() -> None:
        np.add(here, cost, out=here)
        np.multiply(here, factor_now(), out=here)
        state[name] += 1

    def close(remaining: float) -> tuple[Array, Array]:
        ends = []
        for kept in (factor_now(), limit):
            power = np.exp(remaining * np.log(kept))
            ends.append(power * here + cost * kept * (1 - power) / (1 - kept))
        return ends[0], ends[1]

    return after(np.asarray(over.exact_or_array(count, values), dtype=np.float64), here, advance, close)
