"""`LogMeanExp`: the logarithm of a mean of exponentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sympy import Expr, S, cancel, exp, log

from ..errors import TooManySteps
from ..setting.arrays import Array
from ..symbols import alpha_minus_1
from .exponential_sums import DIRECT_TERMS, sum_of_exponentials
from .interface import (
    Balls,
    Binding,
    Doubles,
    Parts,
    Printer,
    Rules,
    Trend,
    Values,
    agree,
    flip,
    must_count,
)
from .over_index import block_size, for_each_count, terms_of
from .recursion import MOST_STEPS_IN_BALLS, MOST_STEPS_IN_DOUBLES


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
    tex_grouped = moves_in_proofs = True

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
            exponents = terms_of(over.evaluate, body, index, values)
            return for_each_count(over.exact_or_array(count, values), partial(_mean, exponents))

        return over.whole(array, parts)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return sign(self.args[0])

    def trend(self, rules: Rules) -> Trend | None:
        body, index, count = self.args
        if rules.depends(count) and rules.along(body, index) is not Trend.DOWN:
            return None  # only where the terms fall with the index does their mean fall with the count
        return agree([rules.of(body), flip(rules.of(count))])

    def per_order(self, rules: Rules) -> Trend | None:
        body, index, count = self.args  # the mean of e^(sx), to the power 1/s, increases with s (Jensen)
        if rules.depends(count) and rules.along(body, index) is not Trend.DOWN:
            return None
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


def _mean(terms: Callable[[int, int], Array], count: int) -> Array:
    """For exponents that do not increase with the index."""
    x = terms(1, min(count, 64))
    largest = x[..., 0].copy()
    small = largest <= 600  # expm1 does not overflow, and log1p of the mean loses nothing
    block = block_size(largest.size)
    total = np.zeros(largest.shape)
    starts = [1, *range(65, count + 1, block)]
    for start in starts:
        if start > MOST_STEPS_IN_DOUBLES:
            raise TooManySteps(count, "a mean")
        if start > 1:
            x = terms(start, min(count, start + block - 1))
        if np.all(small):
            beyond = np.expm1(x)
        else:
            beyond = np.where(small[..., None], np.expm1(np.minimum(x, 600)), np.exp(x - largest[..., None]))
        total += beyond.sum(axis=-1)
        if np.all(small & ((count - start) * beyond[..., -1] <= 1e-18 * total)):
            break
    if np.all(small):
        return np.log1p(total / count)
    return np.where(small, np.log1p(total / count), largest + np.log(np.where(small, 1.0, total / count)))
