"""`MeanOver`: a mean over an index."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sympy import Expr, S, Symbol

from ..arithmetic.engines import Unbounded
from ..errors import ArgumentError, ExactTooLarge, TooManySteps
from ..setting.arrays import Array
from ..symbols import fresh
from .interface import (
    Arithmetic,
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
from .recursion import MOST_STEPS_IN_DOUBLES

DIRECT_TERMS = 4096
"""Means of no more terms are added up term by term, longer ones by groups."""
MOST_TERMS = 10**5
"""How many terms are looked at; of a long mean, one or two for each group."""


class MeanOver(Binding):
    """The mean of the body over index = 1, …, count.

    The body must not be negative, nor increase with the index; the derivation that uses it proves so. The views rely on
    it where there are many terms: those of a group lie between its last and its first.
    """

    nargs = 3  # body, index, count
    normalised = (0,)
    rank = 1
    doubles_take_every_term = True
    tex_swallows = tex_grouped = moves_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """One term is its own mean; one term more, after k of them."""
        body, index, count = self.args
        must_count(count)
        one_more = (count * self + body.subs(index, count + 1)) / (count + 1)
        return (self.func(body, index, S.One), body.subs(index, S.One)), (self.func(body, index, count + 1), one_more)

    def _has_terms(self) -> bool:
        count = self.args[2]
        return bool(count.is_integer and count.is_positive)

    def _any_term(self) -> Expr:
        body, index, _ = self.args
        return body.xreplace({index: _counting(index)})

    def _eval_is_real(self) -> bool | None:
        return True if self._has_terms() and self._any_term().is_real else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self._has_terms() and self._any_term().is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        return True if self._has_terms() and self._any_term().is_positive else None

    @classmethod
    def exact(cls, over: Arithmetic, parts: Parts, values: Values) -> Any:
        body, index, count_part = parts
        count = int(over.exactly(count_part, values))
        term, total = body.prepare(over, values, index), Fraction(0)
        if count > MOST_TERMS:
            raise TooManySteps(count, "a mean")
        for place in range(1, count + 1):
            total += term(Fraction(place))
            if (bits := total.denominator.bit_length()) > over.max_bits:
                raise ExactTooLarge(bits)
        return total / count

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        body, index, count_part = parts
        count, engine = int(over.exactly(count_part, values)), over.engine
        term = body.prepare(over.roughly(), values, index)
        if count > DIRECT_TERMS:
            return over.mul(Fraction(1, count), _by_groups(over, term, count))
        total: Any = over.ball(Fraction(0))
        for place in range(1, count + 1):
            total = engine.add(total, over.ball(term(Fraction(place))))
        return over.mul(Fraction(1, count), total)

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        body, index, count = parts

        def array(values: Values) -> Array:
            terms, raw = (terms_of(view, body, index, values) for view in (over.evaluate, over.evaluate_raw))
            return for_each_count(over.exact_or_array(count, values), partial(_mean, terms, raw))

        return over.whole(array, parts)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return sign(self.args[0])

    def trend(self, rules: Rules) -> Trend | None:
        """With the body; and down with the count, where the body falls with the index."""
        body, index, count = self.args
        if rules.depends(count) and rules.along(body, index) is not Trend.DOWN:
            return None
        return agree([rules.of(body), flip(rules.of(count))])

    def tex(self, printer: Printer) -> str:
        body, index, count = map(printer._print, self.args)
        over = rf"1 \leq {index} \leq {count}"
        within = rf"\left({body}\right)" if self.args[0].is_Add else body
        return f"{printer.average % over} {within}"


@lru_cache(maxsize=64)
def _counting(index: Symbol) -> Symbol:
    """The index of which nothing is known but that it counts from 1."""
    return fresh(index.name, integer=True, positive=True)


def _by_groups(over: Balls, term: Callable[[Any], Any], count: int) -> Any:
    """The sum of many terms that do not increase, to half the width asked for.

    What lies between two places has values between theirs. The group that leaves most open is halved, again and again.
    """
    size = over.bounds(term(Fraction(1)))[1]
    if size <= 0:
        return Fraction(0)
    # In units of a small part of the first term, which is all that a sum needs: a far smaller term, written down
    # exactly, may be very long.
    shift = size.denominator.bit_length() - size.numerator.bit_length() + over.engine.precision
    unit, whole = Fraction(2) ** -shift, 1 << over.engine.precision
    raised = over.ball(whole * unit)

    def ends(place: int) -> tuple[int, int]:
        """A lower and an upper bound on a term."""
        low, high = over.bounds(over.engine.add(raised, over.ball(term(Fraction(place)))))
        return math.floor(low / unit) - whole, math.ceil(high / unit) - whole

    def leave(start: int, stop: int, top: int, bottom: int) -> None:
        """The places between `start` and `stop`, both left out, with values from `bottom` to `top`."""
        if stop - start > 1:
            heapq.heappush(groups, ((start + 1 - stop) * (top - bottom), start, stop, top, bottom))

    def between(place: int, top: int, bottom: int) -> tuple[int, int]:
        """The bounds on a term, within those on its neighbours."""
        low, high = ends(place)
        if low > top or high < bottom:
            raise ArgumentError("body", f"term {place:,}", "rises with its index", "take means of falling terms only")
        return max(low, bottom), min(high, top)

    first = ends(1)
    last = between(count, first[1], -whole * whole)
    groups: list[tuple[int, int, int, int, int]] = []
    leave(1, count, first[1], last[0])
    low, high = first[0] + (count - 1) * last[0], (count - 1) * first[1] + last[1]
    for _ in range(MOST_TERMS):
        if (high - low) * 2 <= over.tolerance * low:
            return over.engine.interval(low * unit, high * unit)
        if not groups or 64 * count > over.tolerance * max(low, whole >> 2):  # more than the digits can give
            raise Unbounded
        _, start, stop, top, bottom = heapq.heappop(groups)
        middle = (start + stop) // 2
        least, most = between(middle, top, bottom)
        low += (middle - start) * (least - bottom)
        high -= (stop - middle) * (top - most)
        leave(start, middle, top, least)
        leave(middle, stop, most, bottom)
    raise TooManySteps(count, "a mean")


def _mean(terms: Callable[[int, int], Array], raw: Callable[[int, int], Array], count: int) -> Array:
    """Block by block, until what is left is flat: the last term (or 0, where that is no double) is about the next."""
    here = terms(1, min(count, 64))
    with np.errstate(all="ignore"):
        last = np.nan_to_num(raw(count, count)[..., -1], nan=0.0, posinf=0.0)
    total: Array = here.sum(axis=-1)
    block = block_size(last.size)
    for start in range(65, count + 1, block):
        if start > MOST_STEPS_IN_DOUBLES:
            raise TooManySteps(count, "a mean")
        rest = (count - start + 1) * last
        if np.all((count - start + 1) * here[..., -1] - rest <= 1e-17 * (total + rest)):
            total += rest
            break
        here = terms(start, min(count, start + block - 1))
        total += here.sum(axis=-1)
    return total / float(count)
