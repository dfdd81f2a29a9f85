"""`LogMeanExp`: the logarithm of a mean of exponentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, S, cancel, exp, log

from ..errors import TooManySteps
from ..setting.arrays import Array, Samples
from ..symbols import alpha_minus_1
from .exponential_sums import DIRECT_TERMS, sum_of_exponentials
from .interface import Balls, Binding, Doubles, Parts, Printer, ProgramArgument, Rules, Trend, Values, agree, flip, must_count
from .recursion import MOST_STEPS_IN_BALLS, MOST_STEPS_IN_DOUBLES

_BLOCK = 1 << 14
"""Terms that are evaluated at once."""


class LogMeanExp(Binding):
    """log of the mean of e^body over index = 1, …, count.

    The body must be completely monotone in the index, a nonnegative mixture of decaying exponentials; the derivation
    that uses it proves so. The views rely on it: the first term is the largest, and `exponential_sums` sums the rest.
    A body with a function of two forms is two such functions, joined where the form changes.
    """

    nargs = 3  # body, index, count
    normalised = (0,)
    rank = 1
    doubles_take_every_term = True
    tex_grouped = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """One term is its own mean; one term more, after k of them."""
        body, index, count = self.args
        must_count(count)
        one_more = (count * exp(self) + exp(body.subs(index, count + 1))) / (count + 1)
        return (self.func(body, index, S.One), body.subs(index, S.One)), (
            self.func(body, index, count + 1),
            log(one_more),
        )

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        """Term by term, until the rest can be summed as a whole: by series, or because its terms are so close to 1."""
        body, index, count_part = parts
        count, engine = int(over.exactly(count_part, values)), over.engine
        term = body.prepare(over.roughly(), values, index)
        total: Any = over.ball(Fraction(0))
        for done in range(1, count + 1):
            value = term(Fraction(done))
            if done == 1 and isinstance(value, Fraction) and value == 0:
                return value  # the largest exponent is 0, and none is negative
            exponent = over.ball(value)
            total = engine.add(total, engine.exp(exponent))
            if done % DIRECT_TERMS == 0 and done < count:
                rest = _rest(over, exponent, parts, values, done, count)
                if rest is not None:
                    total = engine.add(total, rest)
                    break
        return over.log(over.mul(Fraction(1, count), total))

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        body, index, count = parts

        def array(values: Values) -> Array:
            return _array(over, body, index, over.exact_or_array(count, values), values)

        return over.whole(array, parts)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1  # the derivation that uses it proves so of the body

    def trend(self, rules: Rules) -> Trend | None:
        body, index, count = self.args
        if rules.depends(count) and rules.along(body, index) is not Trend.DOWN:
            return None  # only where the terms fall with the index does their mean fall with the count
        return agree([rules.of(body), flip(rules.of(count))])

    def per_order(self, rules: Rules) -> Trend | None:
        body, _, count = self.args  # the mean of e^(sx), to the power 1/s, increases with s (Jensen)
        return agree([Trend.UP, rules.of(cancel(body / alpha_minus_1)), flip(rules.of(count))])

    def tex(self, printer: Printer) -> str:
        body, index, count = map(printer._print, self.args)
        over = rf"1 \leq {index} \leq {count}"
        return rf"\log\left({printer.average % over} e^{{{body}}}\right)"


def _rest(over: Balls, exponent: Any, parts: Parts, values: Values, done: int, count: int) -> Any:
    """The sum of the terms after `done`, whose exponent is given; None if they must be added one by one."""
    engine, (body, index, _) = over.engine, parts
    if (bounds := engine.bounds(exponent)) and bounds[1] < engine.resolution:
        ceiling = 1 + 2 * max(bounds[1], Fraction(0))  # e^x ≤ 1 + 2x for 0 ≤ x ≤ 1
        return over.mul(Fraction(count - done), engine.interval(Fraction(1), ceiling))
    if engine.has_series:
        return sum_of_exponentials(over, body, values, index, done + 1, count)
    if done >= MOST_STEPS_IN_BALLS:
        raise TooManySteps(count, "a mean")
    return None


def _array(over: Doubles, body: ProgramArgument, index: str, counts: Fraction | Array, values: Values) -> Array:
    if isinstance(counts, Fraction):
        return _mean(over, body, index, int(counts), values)
    distinct = np.unique(counts)
    parts = [_mean(over, body, index, int(count), values) for count in distinct.tolist()]
    shape = np.broadcast_shapes(counts.shape, *(part.shape for part in parts))
    out = np.empty(shape)
    for count, part in zip(distinct, parts, strict=True):
        np.copyto(out, part, where=np.broadcast_to(counts == count, shape))
    return out


def _mean(over: Doubles, body: ProgramArgument, index: str, count: int, values: Values) -> Array:
    """For a body that does not increase with the index."""
    widened = {
        name: Samples(value.array[..., None], value.least, value.greatest) if isinstance(value, Samples) else value
        for name, value in values.items()
        if name in body.leaves
    }

    def exponents(first: int, last: int) -> Array:
        indices = np.arange(first, last + 1, dtype=np.float64)
        return over.evaluate(body, {**widened, index: Samples(indices, first, last)})

    x = exponents(1, min(count, 64))
    largest = x[..., 0].copy()
    small = largest <= 600  # expm1 does not overflow, and log1p of the mean loses nothing
    block = max(64, _BLOCK // max(1, largest.size))
    total = np.zeros(largest.shape)
    starts = [1, *range(65, count + 1, block)]
    for start in starts:
        if start > MOST_STEPS_IN_DOUBLES:
            raise TooManySteps(count, "a mean")
        if start > 1:
            x = exponents(start, min(count, start + block - 1))
        if np.all(small):
            terms = np.expm1(x)
        else:
            terms = np.where(small[..., None], np.expm1(np.minimum(x, 600)), np.exp(x - largest[..., None]))
        total += terms.sum(axis=-1)
        if np.all(small & ((count - start) * terms[..., -1] <= 1e-18 * total)):
            break
    if np.all(small):
        return np.log1p(total / count)
    return np.where(small, np.log1p(total / count), largest + np.log(np.where(small, 1.0, total / count)))
