"""`LogMix`: the logarithm of a mixture of two exponentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Symbol, cancel, exp, log

from ..arithmetic.tape import at_most
from ..errors import NotRational
from ..setting.arrays import Array
from ..symbols import alpha_minus_1, b, n, p, rate, slack, w1, with_costs_spelled
from .interface import Arithmetic, Balls, Doubles, Pointwise, Rules, Trend, agree, flip

_SHIFTED_FROM = 64
"""An exponent x beyond this is taken out first, so that e^x itself is not needed."""
_WEIGHTS = {n: b + slack, w1: 1 / (1 + p), rate: 1 / (1 + p)}
"""b < n and w₁ < 1 as substitutions that show the signs of weights (with weight 1 the other part is simply absent)."""


class LogMix(Pointwise):
    """log(w·e^x + (1 − w)·e^y): overflow-safe for large, cancellation-free for small exponents."""

    nargs = 3
    is_closed_in_proofs = moves_in_proofs = True
    monotone_either_way = (0,)

    def closed(self) -> Expr:
        w, x, y = self.args
        return log(w * exp(x) + (1 - w) * exp(y))

    @classmethod
    def exact(cls, over: Arithmetic, weight: Any, x: Any, y: Any) -> Any:
        if x == y:
            return x
        raise NotRational("log")

    @classmethod
    def ball(cls, over: Balls, weight: Any, x: Any, y: Any) -> Any:
        rest = over.add(Fraction(1), over.mul(Fraction(-1), weight))
        if isinstance(x, Fraction) and x > _SHIFTED_FROM:
            falling = over.exp(over.add(y, -x))
            return over.add(x, over.log(over.add(weight, over.mul(rest, falling))))
        return over.log(over.add(over.mul(weight, over.exp(x)), over.mul(rest, over.exp(y))))

    @classmethod
    def doubles(cls, over: Doubles, weight: Any, x: Any, y: Any) -> Any:
        rest = over.add(Fraction(1), over.mul(Fraction(-1), weight))  # before rounding: 1 − w may be tiny
        w, v, x, y = (over.value(part) for part in (weight, rest, x, y))
        if at_most(x, 30) and at_most(y, 30):
            return np.log1p(w * np.expm1(x) + v * np.expm1(y))
        return over.record(_log_mix, w, v, x, y)

    def presumes(self) -> Sequence[Expr]:
        letters = self.args[0].free_symbols
        return *(1 - letter for letter in (w1, rate) if letter in letters), *((n - b,) if n in letters else ())

    def presumes_positive(self) -> Sequence[Expr]:
        weight, x, y = self.args
        return () if weight.is_nonnegative else (weight * exp(x) + (1 - weight) * exp(y),)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        weight, x, y = self.args
        own = sign(cancel(weight.subs(_WEIGHTS)))
        if y == 0 and x.is_nonnegative:
            return own
        return 1 if x.is_nonnegative and y.is_nonnegative and own > 0 else 0

    def trend(self, rules: Rules) -> Trend | None:
        """Up with an exponent of positive weight, up with w itself if x ≥ 0 ≥ y."""
        weight, x, y = self.args
        pulls: list[Trend | None] = []
        if rules.depends(weight):
            pulls.append(rules.of(weight) if rules.sign(x) > 0 and rules.sign(-y) > 0 else None)
        for exponent, own in ((x, weight), (y, 1 - weight)):
            here = rules.sign(cancel(own.subs(_WEIGHTS)))
            if here == 0 and rules.depends(exponent):
                return None
            pulls.append(rules.of(exponent) if here >= 0 else flip(rules.of(exponent)))
        return agree(pulls)

    def per_order(self, rules: Rules) -> Trend | None:
        weight, *exponents = self.args
        if rules.depends(weight):
            return None
        share = [rules.sign(cancel(each.subs(_WEIGHTS))) for each in (weight, 1 - weight)]
        if share == [1, 1]:  # a mean of e^(sx), to the power 1/s, increases with s (Jensen)
            return agree([Trend.UP, *(rules.of(cancel(exponent / alpha_minus_1)) for exponent in exponents)])
        return self._concave(alpha_minus_1, rules)

    def divided_by(self, x: Symbol, rules: Rules) -> tuple[int, Trend | None] | None:
        return -1, flip(self._concave(x, rules))  # negative where `_concave` tells anything

    def _concave(self, s: Expr, rules: Rules) -> Trend | None:
        """The trend of log(1 − |w|(e^x − 1))/s: concave in x and 0 at 0, so it falls with x where x/s does not."""
        weight, x, y = self.args
        if rules.depends(weight) or y != 0 or rules.sign(x) <= 0 or rules.sign(cancel(weight.subs(_WEIGHTS))) >= 0:
            return None
        return flip(agree([rules.of(x), rules.of(cancel(with_costs_spelled(x) / s))]))


def _log_mix(weight: Array, rest: Array, x: Array, y: Array, *, out: Array) -> Array:
    """log(w·e^x + v·e^y), w + v = 1: by expm1 for small exponents, shifted by the larger for others."""
    top = np.maximum(x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.log1p(weight * np.expm1(x) + rest * np.expm1(y))
        far = top + np.log(weight * np.exp(x - top) + rest * np.exp(y - top))
    out[...] = np.where(np.abs(top) <= 30, near, far)
    return out
