"""`GaussianEpsilon`: the inverse of `GaussianProfile` in ε."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr

from ..arithmetic.engines import Unbounded
from ..errors import ArgumentError, OutsideDoubleRange
from ..setting.arrays import Array
from .gaussian_profile import GaussianProfile, falling, log_profile
from .interface import Balls, OfNumbers, Printer, Rules, Trend, agree, flip

_MOST_STEPS = 100
"""Newton steps; a dozen are usual."""


class GaussianEpsilon(OfNumbers):
    """The least ε ≥ 0 at which N(0, 1) and N(μ, 1) have a δ of at most `delta` > 0, by the cost μ².

    log δ is concave in ε: δ is the density of the privacy loss, convolved with 1 − e^(−s) on s > 0, and both of these
    are log-concave. So Newton's method, begun where ε is too large, falls towards the solution. What it finds is a
    guess: the ends of the enclosure are numbers at which the profile is seen to be more, and at most, `delta`.
    """

    nargs = 2  # cost = μ², delta
    normalised = (0, 1)
    moves_in_proofs = True

    def _eval_is_nonnegative(self) -> bool | None:
        cost, delta = self.args
        return True if cost.is_nonnegative and delta.is_positive else None

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        cost, delta = numbers
        if delta <= 0:
            raise ArgumentError("delta", delta, "no epsilon will do", "give a delta above 0, such as 1e-5")
        if cost < 0:
            raise ArgumentError("cost", cost, "a squared distance is not negative", "give a cost of 0 or more")
        return delta >= 1 or delta * delta >= cost  # at ε = 0, δ is less than μ

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        cost, delta = numbers
        inverse = _Inverse(over, cost, delta)
        if not inverse.is_above(Fraction(0)):
            return Fraction(0)
        guess = inverse.solve()
        margin = guess * min(over.tolerance, Fraction(1)) / 8
        low, high = guess - margin, guess + margin
        if not inverse.is_above(low) or inverse.is_above(high):
            raise Unbounded
        return over.engine.interval(low, high)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        cost, delta = arguments
        try:
            costs = np.asarray(cost, dtype=np.float64)
        except OverflowError:
            raise OutsideDoubleRange("the cost") from None
        if isinstance(cost, Fraction) and cost and not costs:
            raise OutsideDoubleRange("the cost")
        if np.any(delta <= 0):
            raise ArgumentError("delta", delta, "no epsilon will do", "give a delta above 0, such as 1e-5")
        logs = _logarithm(delta) if isinstance(delta, Fraction) else np.log(delta)
        given = np.broadcast_arrays(costs, logs)
        with np.errstate(all="ignore"):
            return _solve_in_doubles(*(part.ravel() for part in given)).reshape(given[0].shape)

    def presumes(self) -> Sequence[Expr]:
        return () if self.args[0].is_nonnegative else (self.args[0],)

    def presumes_positive(self) -> Sequence[Expr]:
        return () if self.args[1].is_positive else (self.args[1],)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with the cost and down with δ: the profile rises with the cost and falls with ε."""
        cost, delta = map(rules.of, self.args)
        return agree([cost, flip(delta)])

    def tex(self, printer: Printer) -> str:
        cost, delta = map(printer._print, self.args)
        return rf"\varepsilon_{{\mathrm{{G}}}}\left(\sqrt{{{cost}}}; {delta}\right)"

    def tex_note(self, printer: Printer) -> str:
        return (
            r"\text{where}\ \varepsilon_{\mathrm{G}}(\mu; \delta)\ "
            r"\text{is the least}\ \varepsilon \geq 0\ \text{at which}\ \mathcal{N}(0, 1)\ \text{and}\ "
            r"\mathcal{N}(\mu, 1)\ \text{are}\ (\varepsilon, \delta)\text{-indistinguishable}"
        )


class _Inverse:
    """The profile of one cost, to be solved for one δ in the arithmetic `over`."""

    def __init__(self, over: Balls, cost: Fraction, delta: Fraction) -> None:
        self.over, self.cost, self.delta = over, cost, delta

    def at(self, epsilon: Fraction) -> Any:
        return GaussianProfile.ball(self.over, self.cost, epsilon)

    def is_above(self, epsilon: Fraction) -> bool:
        """Whether the profile is more than δ there; `Unbounded` if that cannot be told."""
        low, high = self.over.bounds(self.at(epsilon))
        if low <= self.delta < high:
            raise Unbounded
        return low > self.delta

    def solve(self) -> Fraction:
        """About the ε at which the profile is δ."""
        over, engine = self.over, self.over.engine
        log_delta = over.log(self.delta)
        # The profile is at most Φ(−x) ≤ e^(−x²/2) for x = ε/μ − μ/2 ≥ 0, so this is too large.
        reach = engine.sqrt(over.ball(over.mul(-2 * self.cost, log_delta)))
        here = self._rounded(over.bounds(over.add(self.cost / 2, reach))[1])
        for _ in range(_MOST_STEPS):
            value = over.ball(self.at(here))
            excess = over.add(over.log(value), over.mul(Fraction(-1), log_delta))
            low, high = over.bounds(over.mul(excess, value, engine.inverse(falling(over, self.cost, here))))
            here = self._rounded(here + (low + high) / 2)
            if here <= 0:
                break
            if max(abs(low), abs(high)) <= here * over.tolerance / 32:
                return here
            if low <= 0 <= high:  # the digits are used up
                break
        raise Unbounded

    def _rounded(self, x: Fraction) -> Fraction:
        """With no more digits than the engine has."""
        size = self.over.engine.precision - x.numerator.bit_length() + x.denominator.bit_length()
        unit = Fraction(2) ** -size
        return math.ceil(x / unit) * unit


def _logarithm(x: Fraction) -> float:
    """log x, also where x itself is too small for a double."""
    return math.log1p(float(x - 1)) if x > Fraction(1, 2) else math.log(x.numerator) - math.log(x.denominator)


def _solve_in_doubles(cost: Array, log_delta: Array) -> Array:
    out = np.zeros(cost.shape)
    open_ = np.flatnonzero((cost > 0) & (log_profile(cost, out)[0] > log_delta))
    cost, log_delta = cost[open_], log_delta[open_]
    here = cost / 2 + np.sqrt(-2 * cost * log_delta)
    for _ in range(_MOST_STEPS):
        value, slope = log_profile(cost, here)
        following = here + (value - log_delta) / slope
        if np.all(following >= here * (1 - 1e-16)):
            break
        here = np.clip(following, 0.0, here)
    out[open_] = here
    return out
