"""The best Rényi order: searched for in float64, certified where it is found.

Every order gives a valid guarantee, so the search may be as careless as it likes; only its result is certified.
`minimum` bounds from below what any order could give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from ..errors import ArgumentError, HsdpError
from ..evaluate.branch_and_bound import branch_and_bound
from ..evaluate.enclosure import Enclosure
from ..progress import Ticker
from .bounds import Best, RenyiBound
from .conversion import Goal, admit_order

if TYPE_CHECKING:
    from ..setting.arrays import Array

FIRST_LOOK, CLOSER_LOOK, ROUNDS = 33, 17, 9
"""Orders tried at first, orders tried in each closer look, and how many closer looks there are at most."""
FLAT = 1e-11
"""The search ends where ε varies by less than this, relatively, between neighbouring orders."""
REACH = 4.0
"""The first look spans so many powers of ten to either side of a guess …"""
SKETCHED_REACH = 1.0
"""… and fewer where each costs time."""
HIGHEST_LOG_ORDER = 290.0
"""Orders up to 1 + 10^290, so that floats do not overflow on the way."""
SMALLEST = -14.0
"""Below 1 + 10^-14 a double does not tell an order from 1."""
SMALLEST_LOG_DELTA = 4.0
HIGHEST_FOR_DELTA = 9.0
"""δ below e^(−10^4), less than any double, or an order above 10^9, is not worth the time."""
HIGHEST_SAMPLED = 5.0
"""Sampled Gaussians are tried at orders up to 1 + 10^5: at order α they cost α terms."""
HIGHEST_FOR_NOTHING = 2.0
"""The same for what is integrated, where doubles do not tell R from 0: a higher order takes a minute to certify."""
SKETCH_ERROR = 0.1
"""How wrong a sketch may be, relatively: a bound that loses by more than this in a sketch is not certified."""
NARROW = Fraction(3, 2)
"""Of the orders that a user lists, those within this factor of the best are looked at again."""
FALLBACK = (Fraction(10**4), Fraction(64), Fraction(2))
"""Orders to try where a statement cannot be evaluated at the one found."""
MOST_PIECES, MOST_LONG_PIECES = 4000, 12
"""How many ranges of orders branch and bound looks at; fewer for a bound that takes long to enclose."""
_FINITE = 1e300
_TINY = Fraction(1, 10**300)


class Loses(HsdpError):
    """A bound that is not worth a certificate: in a sketch it is well above what is certified already."""

    def __init__(self, about: float, order: Fraction) -> None:
        self.about, self.order = about, order
        super().__init__(f"about {about:.4g} in a sketch, which is larger; not certified")


class DivergenceByOrder(Protocol):
    """R_α as a function of the order: one bound, or a sum of several."""

    @property
    def same_laws(self) -> bool: ...

    @property
    def sampled(self) -> bool: ...

    @property
    def integrated(self) -> bool: ...

    @property
    def at_whole_orders(self) -> bool: ...

    @property
    def sketched(self) -> bool: ...

    def enclose(self, alpha: Fraction, /) -> Enclosure: ...

    def choices(self, alpha: Fraction, /) -> Mapping[str, Fraction]: ...

    def numeric(self, alphas: Array, /) -> Array: ...


def admit_orders(orders: object) -> tuple[Fraction | float, ...] | None:
    """A user's list of orders, each > 1, exact; None for the continuous search."""
    if orders is None:
        return None
    if isinstance(orders, (str, bytes)) or not hasattr(orders, "__iter__"):
        raise ArgumentError("orders", orders, "not a list of orders", "give a list such as [2, 4, 8.5, 32]")
    found = tuple(map(admit_order, orders))
    if not found:
        raise ArgumentError("orders", orders, "an empty list", "give a list such as [2, 4, 8.5, 32]")
    return found


def best(
    bound: DivergenceByOrder,
    goal: Goal,
    orders: Sequence[Fraction | float] | None = None,
    *,
    near: Fraction | float | None = None,
    beats: float = math.inf,
) -> Best:
    """The least value of `goal` over the `orders`, or over all α > 1, certified at the order it is taken at.

    `near` is an order known to be good for a similar bound. A sketch that comes out above `beats`, by more than it may
    be wrong, is not worth a certificate: then `Loses` is raised.
    """
    special = _without_order(bound, goal)
    if special is not None:
        return special
    if orders is None:
        found = [*map(_snapped, _search(bound, goal, near)), *FALLBACK]
        if bound.at_whole_orders:
            found = [*_by_float(bound, goal, _whole(found[0])), *FALLBACK]
        _check_promise(bound, goal, found[0], beats)
        return _certified(bound, goal, found)
    finite = [order for order in orders if isinstance(order, Fraction)]
    if not finite:  # the divergence of order ∞ of a Gaussian mechanism is infinite
        nothing = None if goal.seeks == "epsilon" else Enclosure(Fraction(1), Fraction(1))
        return Best(nothing, math.inf, bound.choices(Fraction(2)))
    found = _by_float(bound, goal, finite)
    _check_promise(bound, goal, found[0], beats)
    return _certified(bound, goal, found)


def _check_promise(bound: DivergenceByOrder, goal: Goal, order: Fraction, beats: float) -> None:
    """Raise `Loses` where a sketch shows that the bound is not the smallest."""
    import numpy as np

    if not bound.sketched or beats == math.inf or order >= 10**300:
        return
    value = float(objective(bound, goal, np.array([float(order)]))[0])
    promised = value if goal.seeks == "epsilon" else math.exp(min(value, 0.0))
    if math.isfinite(promised) and promised * (1 - SKETCH_ERROR) > beats:
        raise Loses(promised, order)


def _without_order(bound: DivergenceByOrder, goal: Goal) -> Best | None:
    """The cases in which no order is to be chosen: records without influence, δ = 0 and δ = 1."""
    if not bound.same_laws and (goal.seeks == "delta" or 0 < goal.given < 1):
        return None
    bound.enclose(Fraction(2))  # for its hypotheses
    choices = bound.choices(Fraction(2))
    if bound.same_laws or goal.given == 1:
        return Best(Enclosure(Fraction(0), Fraction(0)), None, choices)
    return Best(None, math.inf, choices)


def _certified(bound: DivergenceByOrder, goal: Goal, orders: Sequence[Fraction]) -> Best:
    """The certified value at the first of the `orders` at which the bound holds."""
    refused: HsdpError | None = None
    for order in orders:
        try:
            return Best(goal.at(bound.enclose(order), order), order, bound.choices(order))
        except HsdpError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def objective(bound: DivergenceByOrder, goal: Goal, alphas: Array) -> Array:
    """What is minimised (ε, or log δ), in float64; infinite where it is not known."""
    import numpy as np

    from ..evaluate.numeric import evaluate_raw
    from ..setting.arrays import Samples

    divergence = bound.numeric(alphas)
    known = divergence < _FINITE
    values = np.full(alphas.shape, np.inf)
    if np.any(known):
        leaves = {
            name: Samples(array, float(array.min()), float(array.max()))
            for name, array in (("alpha", alphas[known]), ("R", divergence[known]))
        }

        def at(given: Fraction) -> Array:
            with np.errstate(all="ignore"):
                return evaluate_raw(goal.program, {**leaves, goal.knows: given})

        if goal.seeks == "epsilon" and goal.given < _TINY:  # ε is linear in log δ
            base, slope = at(Fraction(1)), at(_TINY)
            values[known] = base + (slope - base) * (_log10(goal.given) / _log10(_TINY))
        else:
            values[known] = at(min(goal.given, Fraction(10**300)))
    values[np.isnan(values)] = np.inf
    return values


def _by_float(bound: DivergenceByOrder, goal: Goal, orders: Sequence[Fraction]) -> list[Fraction]:
    """The orders, most promising first."""
    import numpy as np

    small = [order for order in orders if order < 10**300]
    if len(orders) == 1 or not small:
        return list(orders)

    def ranked(some: Sequence[Fraction]) -> list[Fraction]:
        values = objective(bound, goal, np.array([float(order) for order in some]))
        return [some[place] for place in np.argsort(values, kind="stable")]

    found = ranked(small)
    if bound.sketched:  # a look over a narrow range is a finer one
        near = [order for order in found if found[0] - 1 <= NARROW * (order - 1) <= NARROW**2 * (found[0] - 1)]
        found = ranked(near) + [order for order in found if order not in near]
    return found


def _search(bound: DivergenceByOrder, goal: Goal, near: Fraction | float | None = None) -> list[float]:
    """log10(α − 1) for the orders to try, best first."""
    known = bound.sketched and isinstance(near, Fraction)
    guess = _log10(Fraction(near) - 1) if known and near else _guess(bound, goal)
    top = min(_highest(goal), HIGHEST_LOG_ORDER)
    if bound.sampled:
        nothing = bound.integrated and guess >= HIGHEST_LOG_ORDER
        top = min(top, HIGHEST_FOR_NOTHING if nothing else HIGHEST_SAMPLED)
    centre = min(guess, top)
    search = _Search(bound, goal, top)
    first = search.surround(centre)
    search.close_in()
    return [*search.best(), first]


class _Search:
    """A grid of log10(α − 1), up to `top`, that moves to the least value and narrows around it."""

    _grid: Array
    _values: Array
    _place: int

    def __init__(self, bound: DivergenceByOrder, goal: Goal, top: float) -> None:
        self._bound, self._goal, self._top = bound, goal, top

    def _look(self, low: float, high: float, count: int) -> None:
        import numpy as np

        self._grid = np.linspace(low, min(high, self._top), count)
        self._values = objective(self._bound, self._goal, 1 + 10**self._grid)
        self._place = int(np.argmin(self._values))

    def surround(self, centre: float) -> float:
        """Move a coarse grid until the least value is inside it and not at an end; returns the centre it then has."""
        reach = SKETCHED_REACH if self._bound.sketched or self._bound.integrated else REACH
        for _ in range(200):
            self._look(centre - reach, centre + reach, FIRST_LOOK)
            if not math.isfinite(self._values[self._place]):
                if centre < SMALLEST:
                    break
                centre -= 1.75 * reach  # nothing known: only small orders are cheap
            elif self._place == 0 and self._grid[0] > SMALLEST:
                centre -= 1.75 * reach
            elif self._place == FIRST_LOOK - 1 and self._grid[-1] < self._top:
                centre = min(centre + 1.75 * reach, self._top)
            else:
                break
        return centre

    def close_in(self) -> None:
        """Look again, finer, at what is around the least value, until it is flat there."""
        import numpy as np

        for turn in range(ROUNDS):
            wide = 2 if self._bound.sketched and turn == 0 else 1  # the first look at a sketch is the coarsest
            last = len(self._grid) - 1
            low, high = self._grid[max(0, self._place - wide)], self._grid[min(last, self._place + wide)]
            if not low < high:
                break
            self._look(low, high, CLOSER_LOOK)
            beside = self._values[max(0, self._place - 1) : self._place + 2]
            if np.all(np.isfinite(beside)) and np.ptp(beside) <= FLAT * abs(self._values[self._place]):
                break

    def best(self) -> tuple[float, float]:
        """Where the least value is, and a place beside it."""
        grid, place = self._grid, self._place
        if 0 < place < len(grid) - 1:
            return _vertex(grid, self._values, place), float(grid[place])
        return float(grid[place]), float(grid[max(0, place - 1)])


def _vertex(grid: Array, values: Array, place: int) -> float:
    """The vertex of the parabola through three neighbouring points."""
    below, here, above = (float(value) for value in values[place - 1 : place + 2])
    bend = below - 2 * here + above
    middle, step = float(grid[place]), float(grid[1] - grid[0])
    if not (math.isfinite(bend) and bend > 0):
        return middle
    return middle + step * max(-1.0, min(1.0, (below - above) / (2 * bend)))


def _highest(goal: Goal) -> float:
    """log10 of the largest α − 1 worth trying: beyond α = 1/δ what is added to R rises too (conversion:epsilon)."""
    if goal.seeks == "delta":
        return min(HIGHEST_FOR_DELTA, SMALLEST_LOG_DELTA - _log10(goal.given)) if goal.given else HIGHEST_FOR_DELTA
    return min(HIGHEST_LOG_ORDER, _log10(1 / goal.given - 1)) if goal.conversion == "best" else HIGHEST_LOG_ORDER


def _guess(bound: DivergenceByOrder, goal: Goal) -> float:
    """log10(α − 1) that would be best if R_α were proportional to α."""
    import numpy as np

    estimate = float(bound.numeric(np.array([2.0]))[0])
    if estimate == 0:
        return HIGHEST_LOG_ORDER
    slope = (Fraction(estimate) if math.isfinite(estimate) else bound.enclose(Fraction(2)).hi) / 2
    if slope == 0:
        return HIGHEST_LOG_ORDER
    if goal.seeks == "epsilon":
        return (math.log10(-_log10(goal.given) * math.log(10) + 1) - _log10(slope)) / 2
    return _log10(goal.given + slope) - _log10(2 * slope)


def _log10(value: Fraction) -> float:
    """log10 of a positive rational, however large or small."""
    return (math.log2(value.numerator) - math.log2(value.denominator)) * math.log10(2)


def _snapped(exponent: float) -> Fraction:
    """1 + 10^exponent as a short rational."""
    whole = math.floor(exponent)
    return 1 + Fraction(f"{10 ** (exponent - whole):.9f}") * Fraction(10) ** whole


def _whole(order: Fraction) -> list[Fraction]:
    """The whole orders next to one."""
    return [Fraction(max(2, math.floor(order) + more)) for more in (0, 1)]


def minimum(bound: RenyiBound, goal: Goal, rtol: float = 1e-3, below: Fraction | None = None) -> Fraction:
    """A certified lower bound on ε over *all* orders α > 1, within `rtol` of the least (or of `below`, if given).

    R increases with α (proved), and what is added to it falls until α = 1/δ (conversion:epsilon). So over a range
    of orders ε is at least R at its lower end plus the rest at its upper end: branch and bound.
    """
    from ..evaluate.trend import trend
    from ..functions.interface import Trend
    from ..symbols import alpha

    if goal.seeks != "epsilon" or goal.conversion != "best" or not 0 < goal.given < 1:
        raise ArgumentError("certify_minimum", True, "needs the best conversion at 0 < delta < 1", "leave it out")
    limited = any(h.has(alpha) for h in bound.statement.hypotheses if h != (alpha > 1))
    if limited or trend(bound.statement.expr, alpha) not in (Trend.UP, Trend.FLAT):
        problem = f"{bound.label} is not known to rise with the order, or holds for some orders only"
        raise ArgumentError("certify_minimum", True, problem, "leave it out")
    found = best(bound, goal)
    assert found.value is not None
    assert isinstance(found.order, Fraction)
    enough = found.value.hi * (1 - Fraction(rtol).limit_denominator(10**9)) if below is None else below
    last = 1 / goal.given
    middle = min(found.order, (1 + last) / 2)
    ticker = Ticker()
    least = branch_and_bound(
        [(Fraction(1), middle), (middle, last)],
        rank=lambda ends: _least(bound, goal, *ends),
        cut=_halves,
        enough=lambda least, _: least >= enough,
        budget=MOST_LONG_PIECES if bound.sketched else MOST_PIECES,
        report=lambda used, _: ticker.say(f"least epsilon of {bound.label} over all orders: {used} pieces"),
    )
    ticker.clear()
    assert least is not None
    return max(Fraction(0), min(least, found.value.hi))


def _halves(ends: tuple[Fraction, Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
    """A range of orders, cut in two."""
    low, high = ends
    cut = 1 + (high - 1) / 2 if low == 1 else _between(low, high)
    return (low, cut), (cut, high)


def _between(low: Fraction, high: Fraction) -> Fraction:
    """A short rational between two orders, near the geometric mean of what they have above 1."""
    x, y = low - 1, high - 1
    if y > 4 * x:
        return 1 + x * (1 << ((y // x).bit_length() // 2))
    return 1 + ((x + y) / 2).limit_denominator(max(2, math.ceil(1000 / (y - x))))


def _least(bound: RenyiBound, goal: Goal, low: Fraction, high: Fraction) -> Fraction:
    """A lower bound on ε over low ≤ α ≤ high ≤ 1/δ."""
    divergence = bound.enclose(low).lo if low > 1 else Fraction(0)
    return divergence + goal.rest(high)
