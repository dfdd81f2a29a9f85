"""Ranges of expressions over boxes of parameters: sound, and sharp where monotonicity is known.

An expression is cut into the largest pieces whose direction in every ranged letter is proved (`trend`); such a piece
takes its extremes at corners, where it is evaluated as a point. Pieces are joined by interval arithmetic; what that
loses is won back by splitting the box. Everything is exact or rounded outwards.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from sympy import Add, Expr, Mul, Piecewise, Pow, Symbol

from .. import symbols
from ..arithmetic.engines import ENGINES, Engine, Unbounded
from ..errors import ArgumentError, UnboundedRange, UnsupportedNode
from ..functions.interface import BoundFunction, Trend
from ..progress import Ticker
from ..setting.gate import admit
from ..setting.letters import LETTERS
from .branch_and_bound import branch_and_bound
from .enclosure import Enclosure, agreed, check_engine
from .intervals import Intervals
from .program import Program, compile_expression
from .trend import absorbed, trend

PRECISION, MAX_PRECISION = 96, 2**12
"""Bits to begin with, doubled where they do not suffice, and the most that are tried."""
ENOUGH_BITS = 128
"""Ranges narrower than this many bits of their values are not worth more precision."""
MAX_BOXES = 4096
LOOSENESS = Fraction(1, 12)
"""Each end is refined until it is off by at most this fraction of the true range, or MAX_BOXES are used up."""


@dataclass(frozen=True)
class Range:
    """All numbers (for counts: all whole numbers) from `lo` to `hi`."""

    lo: Fraction
    hi: Fraction

    def __str__(self) -> str:
        return f"{self.lo}:{self.hi}"

    def __pow__(self, exponent: int) -> Range:
        return Range(self.lo**exponent, self.hi**exponent)


Box = Mapping[str, "Fraction | Range"]
"""A value or a range for each letter (σ enters as `sigma2`)."""
Bounds = tuple[Fraction, Fraction]


def admit_range(name: str, value: object) -> Fraction | Range:
    """A number, or a pair of numbers as a range, each through the gate."""
    if not isinstance(value, (tuple, list, Range)):
        return admit(name, value)
    ends = (value.lo, value.hi) if isinstance(value, Range) else tuple(value)
    if len(ends) != 2:
        raise ArgumentError(name, value, "a range needs two ends", 'give a pair such as ("0.01", "0.03")')
    low, high = (admit(name, end) for end in ends)
    if low > high:
        raise ArgumentError(name, value, "the ends of the range are the wrong way round", f"give ({high}, {low})")
    return Range(low, high) if low < high else low


def ranged(box: Box) -> frozenset[str]:
    """The letters that vary over the box."""
    return frozenset(name for name, value in box.items() if isinstance(value, Range))


def natural_range(expr: Expr, box: Box, engine: Engine) -> Bounds | None:
    """Bounds on `expr` over the box, in one pass; None if they are infinite. Call within `engine.working()`."""
    try:
        return _plan(expr, ranged(box)).bounds(box, engine)
    except (Unbounded, ZeroDivisionError):
        return None


class _Plan(ABC):
    """How one expression is bounded over boxes that vary in given letters."""

    @abstractmethod
    def bounds(self, box: Box, engine: Engine) -> Bounds: ...


@dataclass(frozen=True)
class _Corners(_Plan):
    """Monotone in every letter that varies: two point evaluations."""

    program: Program
    rising: frozenset[str]

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        low, high = {}, {}
        for name in self.program.leaves:
            value = box[name]
            if isinstance(value, Range):
                low[name], high[name] = (value.lo, value.hi) if name in self.rising else (value.hi, value.lo)
            else:
                low[name] = high[name] = value
        least = self._at(low, engine)
        return (least[0], least[1]) if low == high else (least[0], self._at(high, engine)[1])

    def _at(self, point: Mapping[str, Fraction], engine: Engine) -> Bounds:
        found = self.program.run(Intervals(engine), point)
        bounds = (found, found) if isinstance(found, Fraction) else engine.bounds(found)
        if bounds is None:
            raise Unbounded
        return bounds


@dataclass(frozen=True)
class _Sum(_Plan):
    terms: tuple[_Plan, ...]

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        lows, highs = zip(*(term.bounds(box, engine) for term in self.terms), strict=True)
        return sum(lows, Fraction(0)), sum(highs, Fraction(0))


@dataclass(frozen=True)
class _Product(_Plan):
    factors: tuple[_Plan, ...]

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        total: Bounds = (Fraction(1), Fraction(1))
        for factor in self.factors:
            corners = [x * y for x in total for y in factor.bounds(box, engine)]
            total = min(corners), max(corners)
        return total


@dataclass(frozen=True)
class _Power(_Plan):
    base: _Plan
    exponent: int

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        low, high = self.base.bounds(box, engine)
        if self.exponent < 0 and low <= 0 <= high:
            raise Unbounded
        ends = sorted((low**self.exponent, high**self.exponent))
        through_zero = self.exponent % 2 == 0 and low < 0 < high
        return (Fraction(0) if through_zero else ends[0]), ends[1]


@dataclass(frozen=True)
class _Root(_Plan):
    """base^(halves/2), its ends rounded outwards."""

    base: _Plan
    halves: int

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        low, high = self.base.bounds(box, engine)
        if low < 0:
            raise Unbounded
        below = Fraction(math.isqrt((low * 4**_ROOT_BITS) // 1), 2**_ROOT_BITS)
        above = Fraction(math.isqrt(-((-high * 4**_ROOT_BITS) // 1)) + 1, 2**_ROOT_BITS)
        if self.halves < 0 and below == 0:
            raise Unbounded
        first, last = sorted((below**self.halves, above**self.halves))
        return first, last


_ROOT_BITS = 200


@dataclass(frozen=True)
class _Cases(_Plan):
    """`then` where left = right, `otherwise` elsewhere."""

    left: _Plan
    right: _Plan
    then: _Plan
    otherwise: _Plan

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        left, right = (side.bounds(box, engine) for side in (self.left, self.right))
        if left[1] < right[0] or right[1] < left[0]:
            return self.otherwise.bounds(box, engine)
        if left == right and left[0] == left[1]:
            return self.then.bounds(box, engine)
        first, second = self.then.bounds(box, engine), self.otherwise.bounds(box, engine)
        return min(first[0], second[0]), max(first[1], second[1])


@dataclass(frozen=True)
class _EitherEnd(_Plan):
    """Monotone in one letter, in a direction that depends on the others."""

    name: str
    inner: _Plan

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        ends = box[self.name]
        assert isinstance(ends, Range)
        lows, highs = zip(
            *(self.inner.bounds({**box, self.name: end}, engine) for end in (ends.lo, ends.hi)), strict=True
        )
        return min(lows), max(highs)


@dataclass(frozen=True)
class _Both(_Plan):
    """Two forms of one expression: each bounds it."""

    forms: tuple[_Plan, ...]

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        lows, highs = zip(*(form.bounds(box, engine) for form in self.forms), strict=True)
        return max(lows), min(highs)


@dataclass(frozen=True)
class _Through(_Plan):
    """First the ranges of abbreviations, then the expression over those."""

    generators: tuple[tuple[str, _Plan], ...]
    outer: _Plan

    def bounds(self, box: Box, engine: Engine) -> Bounds:
        wider = dict(box)
        for name, plan in self.generators:
            low, high = plan.bounds(box, engine)
            wider[name] = Range(low, high) if low < high else low
        return self.outer.bounds(wider, engine)


_GENERATORS = {
    **{
        symbol: meaning
        for symbol, meaning in symbols.ABBREVIATIONS.items()
        if symbol != symbols.sigma2  # a letter here, not an abbreviation
    },
    symbols.rate: symbols.b / symbols.n,
    symbols.decay: 1 - symbols.q**2,
}
"""What may be bounded first and then taken as a letter of its own."""
_HALF = (symbols.m, symbols.m_rest)
"""Halves of N, which must stay tied to it."""
_WRITTEN_AS = {symbols.b / symbols.n: symbols.rate, symbols.eta * symbols.lam * (1 + symbols.q): symbols.decay}
"""Forms in which a generator hides: they are replaced by it."""
_SYMBOLS = {symbol.name: symbol for symbol in (*symbols.TEX, *_GENERATORS)}


@cache
def _plan(expr: Expr, names: frozenset[str], atoms: frozenset[Symbol] = frozenset()) -> _Plan:
    """The plan for boxes that vary in `names`; the abbreviations among `atoms` have values of their own."""
    trends = {_SYMBOLS[name]: trend(expr, _SYMBOLS[name], atoms) for name in names}
    mixed = frozenset(symbol for symbol, found in trends.items() if found is None)
    if not mixed:
        rising = frozenset(symbol.name for symbol, found in trends.items() if found is Trend.UP)
        return _Corners(compile_expression(expr, atoms), rising)
    if symbols.eta in mixed and (other := absorbed(expr)) != expr:
        return _Both((_split(expr, names, atoms, mixed), _plan(other, names, atoms)))
    return _split(expr, names, atoms, mixed)


def _split(expr: Expr, names: frozenset[str], atoms: frozenset[Symbol], mixed: frozenset[Symbol]) -> _Plan:
    """The plan for an expression that is not known to be monotone in the `mixed` letters: from its parts."""

    def plans(parts: Iterable[Expr]) -> tuple[_Plan, ...]:
        return tuple(_plan(part, names, atoms) for part in parts)

    match expr:
        case Piecewise():
            (then, condition), (otherwise, _) = expr.args
            return _Cases(*plans((condition.lhs, condition.rhs, then, otherwise)))
        case Symbol():
            return _plan(symbols.ABBREVIATIONS[expr], names, atoms)
    written = expr.subs({form: g for form, g in _WRITTEN_AS.items() if _depends(form, mixed)})
    chosen = [
        g
        for g, meaning in _GENERATORS.items()
        if written.has(g) and g not in atoms and g not in _HALF and _depends(meaning, mixed)
    ]
    if chosen:
        inner = tuple((g.name, _plan(_GENERATORS[g], names, atoms)) for g in chosen)
        return _Through(inner, _plan(written, names.union(name for name, _ in inner), atoms.union(chosen)))
    match expr:
        case Add():
            return _Sum(plans(expr.args))
        case Mul():
            return _Product(plans(expr.args))
        case Pow() if expr.exp.is_Integer:
            return _Power(_plan(expr.base, names, atoms), int(expr.exp))
        case Pow() if (2 * expr.exp).is_Integer:
            return _Root(_plan(expr.base, names, atoms), int(2 * expr.exp))
        case BoundFunction() if (letter := _monotone_either_way(expr, mixed, atoms)) is not None:
            return _EitherEnd(letter.name, _plan(expr, names - {letter.name}, atoms))
    raise UnsupportedNode(f"no rule bounds {expr} over a range of {', '.join(sorted(names))}; narrow it to one value")


def _monotone_either_way(expr: BoundFunction, mixed: frozenset[Symbol], atoms: frozenset[Symbol]) -> Symbol | None:
    """The one mixed letter, if it occurs only in an argument in which the function is monotone one way or the other."""
    if len(mixed) != 1:
        return None
    (letter,) = mixed
    varying = [place for place, argument in enumerate(expr.args) if _depends(argument, mixed)]
    if len(varying) != 1 or varying[0] not in expr.monotone_either_way:
        return None
    return letter if trend(expr.args[varying[0]], letter, atoms) is not None else None


def _depends(expr: Expr, wanted: frozenset[Symbol]) -> bool:
    """Whether one of the `wanted` letters occurs, abbreviations spelled out."""
    free: set[Symbol] = expr.free_symbols
    spelled = (_GENERATORS[s] for s in free if s in _GENERATORS)
    return not wanted.isdisjoint(free) or any(_depends(meaning, wanted) for meaning in spelled)


def is_count(name: str) -> bool:
    """Whether a letter takes whole numbers only."""
    return name in LETTERS and LETTERS[name].integer


def halves(box: Box, name: str) -> tuple[Box, Box]:
    """The box cut in two across one letter: at the middle, or by magnitude if the range spans several octaves."""
    whole_range = box[name]
    assert isinstance(whole_range, Range)
    low, high = whole_range.lo, whole_range.hi
    middle = (low + high) / 2
    if low > 0 and high > 4 * low:
        middle = low * 2 ** ((high // low).bit_length() // 2)
    if is_count(name):
        middle = Fraction(middle // 1)
        cuts = (low, middle), (middle + 1, high)
    else:
        cuts = (low, middle), (middle, high)
    left, right = ({**box, name: Range(a, b) if a < b else a} for a, b in cuts)
    return left, right


def widest(box: Box, among: Iterable[str]) -> str:
    """The letter whose range is widest relative to its size."""

    def width(name: str) -> Fraction:
        value = box[name]
        assert isinstance(value, Range)
        return (value.hi - value.lo) / max(abs(value.lo), abs(value.hi))

    return max(sorted(among), key=width)


def centre(box: Box) -> dict[str, Fraction]:
    """A point in the middle of the box."""
    return {
        name: value
        if isinstance(value, Fraction)
        else Fraction((value.lo + value.hi) // 2)
        if is_count(name)
        else (value.lo + value.hi) / 2
        for name, value in box.items()
    }


def ends_of(expr: Expr, box: Box) -> Enclosure:
    """A range of `expr` over the box in one pass: good for hypotheses, in which a letter seldom occurs twice."""
    engine = ENGINES["arb"](PRECISION)
    with engine.working():
        return Enclosure(*_plan(expr, ranged(box)).bounds(box, engine))


def range_of(expr: Expr, box: Box, engine: str = "arb") -> Enclosure:
    """A sound range of `expr` over the box, within LOOSENESS of the true range where MAX_BOXES suffice.

    >>> from hsdp_symbolic.symbols import eta, lam
    >>> box = {"eta": Range(Fraction(1, 5), Fraction(3, 5)), "lam": Fraction(1)}
    >>> float(range_of(eta * (1 - eta * lam), box).hi) < 0.26
    True
    """
    check_engine(engine)
    if engine == "both":
        return agreed(range_of(expr, box, name) for name in ENGINES)
    precision = PRECISION
    while True:
        ends = _Search(expr, box, ENGINES[engine](precision)).ends()
        if ends is not None:
            return Enclosure(*ends)
        precision *= 2
        if precision > MAX_PRECISION:
            raise UnboundedRange(MAX_PRECISION)


class _Search:
    """Best-first refinement of both ends of a range."""

    def __init__(self, expr: Expr, box: Box, engine: Engine) -> None:
        self._expr, self._box, self._engine = expr, box, engine
        self._least: Fraction | float = math.inf
        self._most: Fraction | float = -math.inf
        self._blur = Fraction(0)
        self._ticker = Ticker()

    def ends(self) -> Bounds | None:
        """Both ends; None if values at points are not known well enough at this precision."""
        with self._engine.working():
            lowest, highest = self._corner(up=False), self._corner(up=True)
            for point in (centre(self._box), *vertices(lowest), *vertices(highest)):
                self._see(point)
            if math.isinf(self._least) or self._is_blurred():
                return None
            low, high = self._extreme(lowest, up=False), self._extreme(highest, up=True)
            self._ticker.clear()
        return None if low is None or high is None else (low, high)

    def _is_blurred(self) -> bool:
        """Whether rounding at points is large beside the range, and worth another try."""
        if any(node.on_a_grid for node in self._expr.atoms(BoundFunction)):
            return False
        width, size = self._most - self._least, max(-self._least, self._most)  # the largest of |least|, |most|
        return bool(self._blur > LOOSENESS * width and self._blur * 2**ENOUGH_BITS > size)

    def _corner(self, *, up: bool) -> Box:
        """The box with every letter of known direction moved to the end where the expression is largest (least)."""
        fixed = dict(self._box)
        for name, value in self._box.items():
            if isinstance(value, Range):
                found = trend(self._expr, _SYMBOLS[name])
                if found is not None:
                    fixed[name] = value.hi if (found is Trend.UP) == up else value.lo
        return fixed

    def _see(self, point: Box) -> None:
        """Record a value that the expression takes."""
        found = natural_range(self._expr, point, self._engine)
        if found is not None:
            self._least, self._most = min(self._least, found[1]), max(self._most, found[0])
            self._blur = max(self._blur, found[1] - found[0])

    def _extreme(self, box: Box, *, up: bool) -> Fraction | None:
        """A bound on the largest (least) value over `box`, refined until it is close to a value that occurs."""
        sign = 1 if up else -1

        def rank(part: Box) -> Fraction | float:
            found = natural_range(self._expr, part, self._engine)
            return -math.inf if found is None else -sign * found[1 if up else 0]

        def cut(part: Box) -> Iterator[Box]:
            for half in halves(part, widest(part, ranged(part))):
                self._see(centre(half))
                yield half

        def enough(key: Fraction | float, part: Box) -> bool:
            best = self._most if up else -self._least
            return -key <= best + self._blur + LOOSENESS * (self._most - self._least) or not ranged(part)

        def report(used: int, waiting: int) -> None:
            self._ticker.say(f"range over {', '.join(sorted(ranged(box)))}: {used} pieces")

        key = branch_and_bound([box], rank=rank, cut=cut, enough=enough, budget=MAX_BOXES, report=report)
        return None if key is None or math.isinf(key) else -sign * Fraction(key)


def vertices(box: Box) -> Iterator[dict[str, Fraction]]:
    """The corners of a box."""
    choices = [(value.lo, value.hi) if isinstance(value, Range) else (value,) for value in box.values()]
    for ends in itertools.product(*choices):
        yield dict(zip(box, ends, strict=True))
