"""`BinsDivergence`: the Rényi divergence of balls in bins, the last epochs secret; at whole orders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, log

from ..arithmetic.doubles import double_above
from ..arithmetic.engines import ENGINES, Engine, Unbounded
from ..arithmetic.rounded import UNIT
from ..errors import ArgumentError, GridExhausted, OutsideDoubleRange
from ..setting.arrays import Array
from ..symbols import degree, state
from .bin_distances import told_distances
from .bin_moments import Bins, added_moments, removed_moments, too_large
from .bins_faint import faint
from .bins_notes import bins_note
from .bins_window import BinsWindow
from .interface import Balls, OfNumbers, Printer, Rules, Trend, must_count
from .loss_profiles import check_count
from .over_places import OverPlaces
from .shift_weight import ShiftSum

NAME = r"\mathrm{R}_{\mathrm{B}}"
CELLS = (64, 256, 1024)
"""How fine the grid of distances is, coarsest first."""
ROUGH_CELLS, FAINT = 16, Fraction(1, 100)
"""For the array view: how fine the grid is, and how large a loss may be for its mean to be tried too."""
MOST_ORDER = 2000
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Parts of the secret steps that a window may have, when one is looked for."""
_LESS = tuple(dict.fromkeys(math.ceil(1.25**power) for power in range(30)))
"""Orders that are tried first, less 1."""


class BinsDivergence(OfNumbers):
    """R_α, the larger of both directions, after `epochs` epochs of `count` batches, the last `known` of them secret.

    `cost` is μ² of one use of the record. See `BinsWindow` for what the secret epochs cost from a distance z, of which
    the mean is taken; z = Σ q^(Ne + i_e) over the told epochs, each i_e one of 0, …, N − 1, each as likely. At an order
    that is not whole the value is that at the next whole one. `degree` is α − 1.
    """

    nargs = 7  # count, cost, factor, epochs, known, window, degree
    normalised = (0, 1, 2, 3, 4, 5, 6)
    rank = 1
    slow_at_high_orders = on_a_grid = at_whole_orders = True

    @property
    def free_at(self) -> tuple[int, ...]:  # type: ignore[override]
        """How many epochs are secret, in how many steps the copy drifts; and an order with a letter of its own."""
        return (4, 5, 6) if self.args[6] == degree else (4, 5)

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """At a whole order, from the mean over the places that are told."""
        count, cost, factor, epochs, known, window, less = self.args
        must_count(less)
        order = less + 1
        drift = factor ** (count * known) / ShiftSum(factor, window, count * known) * state
        body = BinsWindow(count, cost, factor, known, window, drift, order)
        mean = OverPlaces(body, state, factor, count, epochs - known)
        return ((self, log(mean) / less),)

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def choose(
        cls, known: Mapping[int, Fraction], *, delta: Fraction | None = None, epsilon: Fraction | None = None
    ) -> Mapping[int, Fraction]:
        """What is cheapest at the order that is known, or for the δ or ε in mind."""
        run = tuple(known[place] for place in range(4))
        if 6 in known:
            secret, window, _ = _best_window(*run, whole_order(known[6]) - 1)
            return {4: Fraction(secret), 5: Fraction(window)}
        wanted = Fraction(1, 10**5) if delta is None and epsilon is None else delta
        less, secret, window = _best_order(run, wanted, epsilon)
        return {4: Fraction(secret), 5: Fraction(window), 6: Fraction(less)}

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        *others, less = numbers
        _check(*others)
        order, tolerance = whole_order(less), min(over.tolerance, Fraction(1, 20))
        bins, epochs = _run(*others)
        mean = faint(over.engine.name, over.engine.precision, bins, epochs, order, tolerance / 4)
        for cells in CELLS:
            low, high = _enclosed(over.engine.name, bins, epochs, order, cells)
            if mean is not None:
                low, high = max(low, mean[0]), min(high, mean[1])
            if high - low <= tolerance * min(high, Fraction(1, 4 * (order - 1))) or epochs == bins.known:
                return over.engine.interval(low, high)
        if high - low <= tolerance * high:  # so large that e^(less·high) would be known less well
            return over.engine.interval(low, high)
        raise GridExhausted(CELLS[-1], over.tolerance, float((high - low) / high))

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """On a coarse grid, from above."""
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([_in_doubles(*map(Fraction, row)) for row in rows], dtype=np.float64).reshape(given[0].shape)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with cost, epochs and order; of the others nothing is known.

        All moments rise with the cost; one more epoch is one more that is told, and makes z larger.
        """
        count, cost, factor, epochs, known, window, less = self.args
        if any(rules.depends(part) for part in (count, factor, known, window)):
            return None
        return rules.joint([cost, epochs, less])

    def tex(self, printer: Printer) -> str:
        count, cost, *others, less = self.args
        written = ", ".join([printer._print(count), rf"\sqrt{{{printer._print(cost)}}}", *map(printer._print, others)])
        return rf"{NAME}\left({written}; {printer._print(less + 1)}\right)"

    def tex_note(self, printer: Printer) -> str:
        return bins_note(NAME)


def whole_order(less: Fraction) -> int:
    """The next whole order."""
    return max(1, math.ceil(less)) + 1


def _check(
    count: Fraction, cost: Fraction, factor: Fraction, epochs: Fraction, known: Fraction, window: Fraction
) -> None:
    """Refuse what no run of balls in bins has."""
    check_count("count", count, 1)
    check_count("known", known, 1)
    check_count("epochs", epochs, int(known))
    check_count("window", window, 1)
    if window > count * known:
        raise ArgumentError("window", window, "the secret epochs have fewer steps", f"choose at most {count * known}")
    if not 0 < factor <= 1:
        raise ArgumentError("factor", factor, "not a contraction", "give a number above 0 and at most 1")
    if cost < 0:
        raise ArgumentError("cost", cost, "a squared distance is not negative", "give a cost of 0 or more")


def _run(
    count: Fraction, cost: Fraction, factor: Fraction, epochs: Fraction, known: Fraction, window: Fraction
) -> tuple[Bins, int]:
    """How batches are made and kept secret, and for how many epochs."""
    return Bins(int(count), cost, factor, int(known), int(window)), int(epochs)


@lru_cache(maxsize=1 << 12)
def _enclosed(name: str, bins: Bins, epochs: int, order: int, cells: int) -> tuple[Fraction, Fraction]:
    """Bounds on the divergence, the larger of both directions."""
    engine = ENGINES[name](96)
    with engine.working():
        ends = [_divergences(engine, bins, epochs, order - 1, cells, above) for above in (False, True)]
    return max(low for low, _ in ends[0]), max(high for _, high in ends[1])


def _divergences(
    engine: Engine, bins: Bins, epochs: int, less: int, cells: int, above: bool
) -> list[tuple[Fraction, Fraction]]:
    """Record removed and record added, each as an interval of which one end counts."""
    if less + 1 > MOST_ORDER:
        raise too_large()
    order = less + 1
    told = told_distances(bins.factor, bins.count, epochs - bins.known, cells, above=above)
    removed = removed_moments(engine, bins, order, told.away, above=above)
    added = added_moments(engine, bins, Fraction(order), told.away, above=above)
    place, secret = Fraction(1, bins.count), bins.known * bins.cost / 2
    fixed = secret * (order * place + 1 - place)
    found = []
    for moments, more in ((removed, Fraction(0)), (added, fixed)):
        pad = 1 + (4 if above else -4) * UNIT * (moments.size + 2)
        mean = float(np.sum(moments * told.chances)) * pad
        if not math.isfinite(mean):
            raise too_large()
        value = engine.mul(engine.ball(Fraction(1, less)), engine.log(engine.ball(Fraction(max(mean, 1.0)))))
        ends = engine.bounds(engine.add(value, engine.ball(more)))
        if ends is None:
            raise Unbounded
        found.append(ends)
    return found


@lru_cache(maxsize=1 << 14)
def _in_doubles(*numbers: Fraction) -> float:
    *others, less = numbers
    _check(*others)
    bins, epochs = _run(*others)
    order = whole_order(less)
    mean, grid = faint("arb", 96, bins, epochs, order, FAINT), _enclosed("arb", bins, epochs, order, ROUGH_CELLS)
    return double_above(grid[1] if mean is None else min(grid[1], mean[1]))


@lru_cache(maxsize=1 << 12)
def _best_window(
    count: Fraction, cost: Fraction, factor: Fraction, epochs: Fraction, less: int
) -> tuple[int, int, float]:
    """How many epochs to keep secret and where to drift, and about what it costs then, if a record is added."""
    with ENGINES["arb"](64).working():
        value, secret, window = min(
            (_added_in_doubles(int(count), float(cost), factor, int(epochs), secret, window, less), secret, window)
            for secret in _secrets(int(epochs), int(count), float(factor))
            for window in sorted({max(1, round(share * secret * count)) for share in SHARES})
        )
    return secret, window, value


def _secrets(epochs: int, count: int, factor: float) -> list[int]:
    """Numbers of secret epochs worth a try: those over which a distance is forgotten, and fewer."""
    most = epochs if factor == 1 else min(epochs, 2 + math.ceil(4 / (count * (1 - factor))))
    found = {1, epochs} if epochs <= 4 * most else {1}
    step = 1.0
    while step <= most:
        found.add(math.ceil(step))
        step *= 1.3
    return sorted(each for each in found if each <= epochs)


def _added_in_doubles(
    count: int, cost: float, factor: Fraction, epochs: int, secret: int, window: int, less: int
) -> float:
    """About the divergence when a record is added, which is in closed form but for the mean."""
    told, q = told_distances(factor, count, epochs - secret, ROUGH_CELLS, above=True), float(factor)
    powers = q ** np.arange(min(window, 10**5))
    scale = q ** (count * secret) / float((powers * powers).sum())
    squares, total = scale * scale * float((powers * powers).sum()), scale * float(powers.sum())
    away = told.away
    exponent = (less + 1) * less * cost / 2 * (squares * away**2 + 2 * total * away / count + secret / count)
    mean = float(np.logaddexp.reduce(exponent + np.log(np.maximum(told.chances, 1e-300))))
    return mean / less + secret * cost / 2 * (1 - 1 / count)


@lru_cache(maxsize=1 << 10)
def _best_order(run: tuple[Fraction, ...], delta: Fraction | None, epsilon: Fraction | None) -> tuple[int, int, int]:
    """An order, less 1, and choices at it, for the least ε at this δ or the least δ at this ε.

    First by what a record that is added costs, then, near by, by the larger of both directions.
    """

    def goal(less: int, value: float) -> float:
        peak = math.log(less / (less + 1)) - math.log(less + 1) / less
        if delta is not None:
            return value + peak - _log(delta) / less
        return less * (value + peak - float(epsilon or 0))

    @lru_cache
    def both(less: int) -> float:
        secret, window, _ = _best_window(*run, less)
        try:
            return goal(less, _in_doubles(*run, Fraction(secret), Fraction(window), Fraction(less)))
        except OutsideDoubleRange:
            return math.inf

    best = min(_LESS, key=lambda less: goal(less, _best_window(*run, less)[2]))
    while best > 1 and both(best) == math.inf:
        best = best * 3 // 4
    step = max(1, best // 6)
    while step:
        near = min((less for less in (best - step, best, best + step) if less >= 1), key=both)
        best, step = near, step // 3 if near == best else step
    return best, *_best_window(*run, best)[:2]


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
