"""How far hits lead: bounds on the law of Σ_i q^i·h_i over i < count, with independent h_i, each 1 with chance `rate`.

On a grid, in doubles with every rounding accounted for: all terms and sums are rounded up, or all down. Small terms
come first, on a fine grid; it is made coarser as terms grow. Only sums and products of nonnegative doubles are rounded,
so errors are relative, and one factor at the end makes up for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..arithmetic.doubles import double_above, double_below
from ..arithmetic.rounded import require_nearest_arrays
from ..errors import TooManySteps
from ..setting.arrays import Array

NEGLIGIBLE = 1e-6
"""Terms from some on are replaced by the largest they can be together, if that is less than this share of the mean."""
MOST_TERMS = 4 * 10**6
UNDERFLOW = 1e-150
"""More than all that doubles lose below their least."""
_ULP = 2.0**-52


@dataclass(frozen=True)
class Hits:
    """Chances of the multiples of `step`, each rounded up (or down), and of everything beyond."""

    step: float
    chances: Array
    beyond: float


def discounted_hits(rate: Fraction, factor: Fraction, count: int, *, above: bool, finest: float, tail: int) -> Hits:
    """The law rounded to larger values and chances, or to smaller ones; chances of about 2^−tail are gathered `beyond`.

    `finest` is the step of the grid for terms from 1/2 to 1, a power of two.
    """
    require_nearest_arrays()
    if count == 0 or rate == 0:
        return Hits(finest, np.ones(1), 0.0)
    terms, block, rest = _terms(rate, factor, count, finest, above=above)
    reach = _reach(float(rate), terms, block, tail)
    law = _Law(rate, above=above, tail=tail)
    steps = finest * np.exp2(np.floor(np.frexp(terms)[1] / 2))
    places = (np.ceil if above else np.floor)(terms / steps)
    law.begin(steps[-1], rest)
    starts = np.flatnonzero(np.r_[True, (np.diff(places) != 0) | (np.diff(steps) != 0)])
    stops = np.r_[starts[1:], len(terms)]
    last = count - block * (len(terms) - 1) if block * len(terms) >= count else block
    for start, stop in zip(starts[::-1].tolist(), stops[::-1].tolist(), strict=True):
        many = (stop - start) * block - (block - last if stop == len(terms) else 0)
        law.add(float(steps[start]), int(places[start]), many, 1.01 * float(terms[start]) * reach + rest)
    return law.found()


def _terms(rate: Fraction, factor: Fraction, count: int, finest: float, *, above: bool) -> tuple[Array, int, float]:
    """Bounds on q^i for the first of each block of i, all of a block being taken for equal; and on what is left out."""
    if factor == 1:
        return np.ones(1), count, 0.0
    q = float(factor)
    block = max(1, min(count, int(finest / 16 / (1 - q)))) if q < 1 else count
    ratio = _power(double_above(factor) if above else double_below(factor), block, above=above)
    if ratio < 1:
        wanted = math.log(NEGLIGIBLE * float(rate)) / math.log(ratio)
        blocks = min(-(-count // block), math.ceil(wanted) + 1)
    else:
        blocks = -(-count // block)
    if blocks > MOST_TERMS:
        raise TooManySteps(count, "the law of discounted hits")
    powers: Array = np.cumprod(np.r_[1.0, np.full(blocks, ratio)])
    powers = powers * (1 + _ULP * (1 if above else -1) * np.arange(1.0, blocks + 2.0))
    powers[0] = 1.0
    if above:
        left = 0.0
        if blocks * block < count:
            left = double_above(Fraction(powers[-1]) / (1 - factor))
        return powers[:-1], block, left
    return powers[1:] if block > 1 else powers[:-1], block, 0.0


def _power(x: float, exponent: int, *, above: bool) -> float:
    """x^exponent for 0 ≤ x ≤ 1, rounded up or down."""
    pad = 1 + (2 if above else -2) * _ULP
    found, square = 1.0, x
    while exponent:
        if exponent & 1:
            found *= square * pad
        square *= square * pad
        exponent >>= 1
    return min(found, 1.0)


def _reach(rate: float, terms: Array, block: int, tail: int) -> float:
    """About the value that the sum exceeds with chance 2^−tail (Chernoff), if its first term is 1."""
    best = block * float(terms.sum())
    with np.errstate(over="ignore"):
        for exponent in np.linspace(-7, 7, 57):
            tilt = 2.0**exponent
            moment = block * float(np.log1p(rate * np.expm1(tilt * terms)).sum())
            best = min(best, (moment + (tail + 4) * math.log(2)) / tilt)
    return best


class _Law:
    """The law of a sum that grows by terms that never get smaller."""

    def __init__(self, rate: Fraction, *, above: bool, tail: int) -> None:
        self._above, self._tail = above, tail
        chance = double_above if above else double_below
        self._one = np.array([chance(1 - rate), chance(rate)])
        self._units = 8.0
        """How many roundings, in units of 2^−53, a chance has behind it."""
        self._beyond = 0.0
        self._several: dict[int, tuple[Array, float, float]] = {}

    def begin(self, step: float, rest: float) -> None:
        self._step = step
        self._chances = np.zeros(1 + math.ceil(rest / step))
        self._chances[-1] = 1.0

    def add(self, step: float, place: int, many: int, most: float) -> None:
        """`many` terms of `place`·step each; values beyond `most` are gathered."""
        while self._step < step:
            self._coarsen()
        weights, dropped, units = self._weights(many)
        old, length = self._chances, min(len(self._chances) + place * (len(weights) - 1), math.ceil(most / step) + 128)
        new = np.zeros(length)
        for index, weight in enumerate(weights.tolist()):
            shift = index * place
            fits = max(0, min(len(old), length - shift))
            if fits:
                new[shift : shift + fits] += weight * old[:fits]
            if fits < len(old):
                self._beyond += weight * float(old[fits:].sum())
        self._units += 2 * len(weights) + 2 + units
        self._beyond += dropped
        self._chances = new

    def _coarsen(self) -> None:
        old = self._chances
        if len(old) % 2 == (0 if self._above else 1):
            old = np.r_[old, 0.0]
        new = np.r_[old[:1], old[1::2] + old[2::2]] if self._above else old[0::2] + old[1::2]
        self._chances, self._step, self._units = new, 2 * self._step, self._units + 2

    def _weights(self, many: int) -> tuple[Array, float, float]:
        """Chances of 0, 1, … hits among `many`; what is left out of them; units of rounding."""
        if many not in self._several:
            found, square, rest, dropped, behind, units = np.ones(1), self._one, many, 0.0, 0.0, 1.0
            while rest:
                if rest & 1:
                    behind += units + len(square) + len(found) + 4
                    found, left = self._cut(np.convolve(found, square), many)
                    dropped += left
                rest >>= 1
                if rest:
                    units = 2 * units + len(square) + 4
                    square, left = self._cut(np.convolve(square, square), many)
                    dropped += left
            self._several[many] = found, dropped, behind
        return self._several[many]

    def _cut(self, chances: Array, many: int) -> tuple[Array, float]:
        """Without a tail that is too small to matter, and that as often as it may be used."""
        tails = np.cumsum(chances[::-1])[::-1]
        kept = max(2, int(np.count_nonzero(tails > 2.0 ** (-self._tail - 30) / many)))
        return chances[:kept], many * float(tails[kept]) * 2 if kept < len(chances) else 0.0

    def found(self) -> Hits:
        # Sums of n terms err by n units; those of tails are as long as the array.
        units = (self._units + 4 * len(self._chances)) * _ULP
        if self._above:
            return Hits(self._step, self._chances * (1 + units), self._beyond * (1 + units) + UNDERFLOW)
        return Hits(self._step, np.maximum(self._chances * (1 - units) - UNDERFLOW, 0.0), 0.0)
