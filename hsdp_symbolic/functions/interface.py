"""What a function of the bounds is, and what it may ask of the code that evaluates, orders and prints it.

A function is one class in one file of this package. The class is the SymPy node; its methods are all that other code
needs to know of it: value as a rational, as an interval and as doubles, direction in every argument, LaTeX. No code
outside knows a function by name, so a new one needs no other file.

A view is one way to compute an expression: exactly, as an interval, in doubles. An interval of an engine is also called
a ball. A program is a compiled expression (`evaluate.program`).

Four kinds differ in how their arguments arrive:

* `Spelled`: written out as its closed form before anything is computed.
* `Pointwise`: a function of values.
* `OfNumbers`: a function of exact numbers. `OfSteps`: the last of them counts steps, and one computation gives the
  value for every smaller count as well; `Long`: one of these that takes so long that it is sketched first.
* `Binding`: one argument is a name that other arguments use, as the index of a sum; those arrive as programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sympy import Expr, Function, Symbol

from ..errors import ArgumentError, NotRational, UnsupportedNode

if TYPE_CHECKING:
    from ..arithmetic.engines import Engine
    from ..setting.arrays import Array

Values = Mapping[str, Any]
"""The value of every letter, in whatever form the view computes with."""


class ProgramArgument(Protocol):
    """An argument that arrives as a program (`evaluate.program.Program`)."""

    leaves: frozenset[str]

    def run(self, over: Any, values: Values) -> Any:
        """Its value in the arithmetic `over`."""

    def prepare(self, over: Any, values: Values, name: str) -> Callable[[Any], Any]:
        """Itself as a function of one name; what does not depend on that name is computed now."""

    def functions(self) -> frozenset[type[BoundFunction]]:
        """The functions it calls, those within other functions' arguments not counted."""


Parts = tuple[Any, ...]
"""The arguments of one call: programs, and the bound name as text."""


class Arithmetic(Protocol):
    """Exact rationals (`evaluate.rationals`); intervals can do the same and more."""

    max_bits: int
    """Rationals with more bits than this are refused, or become intervals."""

    def add(self, *terms: Any) -> Any: ...
    def mul(self, *factors: Any) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def positive_part(self, x: Any) -> Any:
        """max(0, x)."""

    def power_bits(self, base: Fraction, k: int) -> int:
        """About how many bits base^k has."""

    def exactly(self, part: ProgramArgument, values: Values) -> Fraction:
        """An argument as an exact number."""


class Balls(Arithmetic, Protocol):
    """Intervals (`evaluate.intervals`): rationals while they are short, intervals of `engine` beyond."""

    engine: Engine
    tolerance: Fraction
    """The relative width that was asked for."""

    def ball(self, x: Any) -> Any:
        """`x`, a rational or an interval, as an interval."""

    def bounds(self, x: Any) -> tuple[Fraction, Fraction]:
        """Exact ends; `Unbounded` where there are none."""

    def error(self, x: Any) -> Fraction:
        """An upper bound on x ≥ 0, no finer than the working precision needs."""

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` returns, called once for each key."""

    def roughly(self) -> Balls:
        """The same engine, with rationals turned into intervals early: where each result ends as an interval anyway."""

    def watching(self) -> Any:
        """`roughly`, and with a `switch`: the last value by which a function with two forms chose its form."""

    def series(self, engine: Any, *, switched: bool) -> Any:
        """Power series of `engine`; functions with two forms take the second if `switched`."""


class Doubles(Protocol):
    """Doubles and arrays of doubles (`evaluate.numeric`)."""

    def add(self, *terms: Any) -> Any: ...
    def mul(self, *factors: Any) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def positive_part(self, x: Any) -> Any:
        """max(0, x)."""

    def value(self, x: Any) -> Any:
        """A double, or what stands for an array of doubles."""

    def record(self, function: Callable[..., Any], *operands: Any) -> Any:
        """`function(*operands, out=…)`: called now on doubles, or recorded and called later on arrays."""

    def whole(self, function: Callable[[Values], Array], parts: Parts) -> Any:
        """`function` of the values of all letters: computed from whole arrays, not piece by piece."""

    def evaluate(self, part: ProgramArgument, values: Values) -> Array:
        """A program over arrays; an error where an infinity or a NaN comes out."""

    def evaluate_raw(self, part: ProgramArgument, values: Values) -> Array:
        """A program over arrays, whatever comes out."""

    def exact_or_array(self, part: ProgramArgument, values: Values) -> Any:
        """An exact number where no array is involved, else an array."""

    def stepper(
        self, part: ProgramArgument, start: Mapping[str, float], values: Values
    ) -> tuple[dict[str, Array], Callable[[], Array]]:
        """Arrays for the names in `start`, and a function that evaluates the program at their current contents."""


class Trend(IntEnum):
    """How an expression responds to a symbol; `UP` and `DOWN` are not strict."""

    DOWN = -1
    FLAT = 0
    UP = 1


def flip(here: Trend | None) -> Trend | None:
    """The other direction."""
    return None if here is None else Trend(-here)


def agree(trends: Any) -> Trend | None:
    """The common direction of all that are not flat; None if they disagree or one is unknown."""
    found = set(trends) - {Trend.FLAT}
    if len(found) > 1:
        return None
    return found.pop() if found else Trend.FLAT


class Rules(Protocol):
    """The rules for one symbol (`evaluate.trend`)."""

    def depends(self, expr: Expr) -> bool: ...
    def of(self, expr: Expr) -> Trend | None:
        """The direction of an expression; None where the rules do not tell."""

    def joint(self, parts: Any) -> Trend | None:
        """The direction all parts share."""

    def along(self, expr: Expr, symbol: Symbol) -> Trend | None:
        """The direction in another symbol."""

    def sign(self, expr: Expr) -> int:
        """1 for nonnegative, −1 for nonpositive, 0 for unknown."""


class Printer(Protocol):
    """The LaTeX printer (`tex.printer`)."""

    values: dict[Symbol, Fraction]
    """Numbers to print in the place of symbols."""
    average: str
    """The sign for an average, with %s for what it is taken over."""

    def _print(self, expr: Any) -> str: ...
    def free_letter(self, body: Expr, *letters: str) -> str:
        """A letter for an index that the body does not use."""

    def raised_to(self, x: Expr, index: str) -> str:
        """x to the power `index`."""

    def one_less(self, count: Expr) -> str: ...


class BoundFunction(Function):
    """A function of the bounds. What a class does not say of itself is unknown, and views refuse to guess it."""

    own_name_at: ClassVar[int | None] = None
    """Which argument, if any, is a name that the others use."""
    is_closed_in_proofs: ClassVar[bool] = False
    """Whether proofs of equality write it in its closed form."""
    normalised: ClassVar[tuple[int, ...]] = ()
    """Otherwise: the arguments that proofs of equality bring to normal form."""
    monotone_either_way: ClassVar[tuple[int, ...]] = ()
    """Arguments in which it is monotone, in a direction that depends on the others."""
    on_a_grid: ClassVar[bool] = False
    """Whether it is computed on a grid, and so known to a few digits only, whatever the precision."""
    moves_in_proofs: ClassVar[bool] = False
    """Whether `sign` and `trend` are right for all arguments (given `presumes`): proofs may go by them."""
    only_in_proofs: ClassVar[bool] = False
    """Whether only proofs have it in them, and no bound: it has no views."""
    for_views: ClassVar[tuple[int, ...]] = ()
    """Arguments that views use, and that its value does not depend on: they may be undefined."""
    free_at: ClassVar[tuple[int, ...]] = ()
    """Arguments, letters of their own, that may be chosen freely: whatever they are, the value is a bound."""
    solves: ClassVar[bool] = False
    """Whether its last argument is ε, and `solved` says at which ε it is a given δ."""
    rank: ClassVar[int] = 0
    """How long it takes: 0 for closed forms, 1 for sums and recursions, more for what is sketched first (`Long`)."""
    pairs: ClassVar[tuple[Any, ...]] = ()
    """Of a profile that composes privacy losses: the pairs of laws that they are of (`functions.sampled_losses`)."""
    loudest: ClassVar[Fraction | None] = None
    """Its second argument is μ² of one use of the record; if that is larger than this, it takes minutes."""
    slow_at_high_orders: ClassVar[bool] = False
    """Whether an enclosure takes longer at higher orders."""
    at_whole_orders: ClassVar[bool] = False
    """Whether its value at an order is that at the next whole one."""
    is_recursion: ClassVar[bool] = False
    """Whether views follow it step by step until it ends, or settles: further steps no longer change its value."""
    doubles_take_every_term: ClassVar[bool] = False
    """Whether doubles go through all terms one by one, where an enclosure need not."""
    tex_swallows: ClassVar[bool] = False
    """Whether its LaTeX would take in a factor written after it, as a sum does."""
    tex_grouped: ClassVar[bool] = False
    """Whether its LaTeX needs brackets before an exponent."""

    @classmethod
    def choose(
        cls, known: Mapping[int, Fraction], *, delta: Fraction | None = None, epsilon: Fraction | None = None
    ) -> Mapping[int, Fraction]:
        """Good values for the arguments `free_at`, by place, for a δ or an ε in mind; `known` has the other numbers."""
        raise UnsupportedNode(f"{cls.__name__} chooses nothing; give it a method `choose`")

    def closed(self) -> Expr:
        """The function in elementary terms."""
        raise UnsupportedNode(f"{type(self).__name__} has no closed form; give it a method `closed`")

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The equations that define it, left and right side: what proofs may take for granted of it.

        For a recursion: its start, and one step for the arguments at hand.
        """
        raise UnsupportedNode(f"{type(self).__name__} says no equations; give it a method `definition`")

    @property
    def own_name(self) -> Symbol | None:
        return None if self.own_name_at is None else self.args[self.own_name_at]

    def presumes_positive(self) -> Sequence[Expr]:
        """What `sign` and `trend` take to be more than 0 without asking."""
        return ()

    def presumes(self) -> Sequence[Expr]:
        """What `sign` and `trend` take to be at least 0 without asking."""
        return ()

    @property
    def free_symbols(self) -> set[Symbol]:
        """The symbols its value depends on: not a name of its own."""
        found: set[Symbol] = super().free_symbols
        return found - {self.own_name} if self.own_name is not None else found

    def sign(self, sign: Callable[[Expr], int]) -> int:
        """1 if it is never negative, −1 if never positive, 0 if unknown; `sign` says the same of other expressions."""
        return 0

    def trend(self, rules: Rules) -> Trend | None:
        """Its direction, for a symbol it depends on."""
        return None

    def per_order(self, rules: Rules) -> Trend | None:
        """The direction of the function divided by α − 1, in α − 1."""
        return None

    def divided_by(self, x: Symbol, rules: Rules) -> tuple[int, Trend | None] | None:
        """The sign of the function divided by x, and the direction of its size; None if nothing is known."""
        return None

    def with_step_in_front(self, sign: Callable[[Expr], int]) -> Expr:
        """The function with a factor 1/η written out, if it has one for small η."""
        return self

    def tex(self, printer: Printer) -> str:
        """LaTeX in the paper's notation."""
        raise UnsupportedNode(f"no LaTeX for the function {type(self).__name__}; give it a method `tex`")

    def tex_note(self, printer: Printer) -> str:
        """LaTeX for words of warning or explanation beside a formula that contains it; there may be several lines."""
        return ""


def must_count(number: Expr) -> None:
    """Refuse what is not seen to be 0, 1, 2, …: a recursion has as many steps."""
    if not (number.is_integer and number.is_nonnegative):
        raise UnsupportedNode(f"{number} is not seen to be a count")


def functions_in(expr: Expr) -> set[BoundFunction]:
    """Every function of the bounds that an expression contains."""
    found: set[BoundFunction] = expr.atoms(BoundFunction)
    return found


class Spelled(BoundFunction):
    """A function that views compute by its closed form."""


class Pointwise(BoundFunction):
    """A function of values."""

    has_two_forms: ClassVar[bool] = False
    """Whether it is one analytic function where `switch` is below 1 and another where it is above."""

    @classmethod
    def exact(cls, over: Arithmetic, *values: Any) -> Any:
        raise NotRational(cls.__name__)

    @classmethod
    def ball(cls, over: Balls, *values: Any) -> Any:
        return cls.exact(over, *values)

    @classmethod
    def series(cls, over: Any, *values: Any) -> Any:
        """Of power series in an index."""
        return cls.ball(over, *values)

    @classmethod
    def switch(cls, over: Balls, *values: Any) -> Any:
        """What decides between the two forms."""
        raise UnsupportedNode(f"{cls.__name__} needs a method `switch`")

    @classmethod
    def doubles(cls, over: Doubles, *values: Any) -> Any:
        raise UnsupportedNode(f"{cls.__name__} has no NumPy view; give it a method `doubles`, or use .enclose(...)")


class Binding(BoundFunction):
    """A function whose arguments use a name of its own."""

    own_name_at: ClassVar[int | None] = 1

    @classmethod
    def exact(cls, over: Arithmetic, parts: Parts, values: Values) -> Any:
        raise NotRational(cls.__name__)

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        raise UnsupportedNode(f"{cls.__name__} has no enclosure; give it a method `ball`")

    @classmethod
    def series(cls, over: Any, parts: Parts, values: Values) -> Any:
        """Of power series in an index, if it stands inside a mean."""
        return cls.ball(over, parts, values)

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        raise UnsupportedNode(f"{cls.__name__} has no NumPy view; give it a method `doubles`, or use .enclose(...)")


class OfNumbers(BoundFunction):
    """A function of exact numbers."""

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        """Whether it is known to be exactly 0 there."""
        return False

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        """An interval, or a rational, that holds the value."""
        raise UnsupportedNode(f"{cls.__name__} has no enclosure; give it a method `enclosed`")

    @classmethod
    def solved(cls, engine: str, delta: Fraction, rtol: Fraction, *others: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds, `rtol` apart, on the least ε ≥ 0 at which it is at most `delta`; `others`: all arguments but ε."""
        raise UnsupportedNode(f"{cls.__name__} does not solve for ε; give it a method `solved`")

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """The value over arrays of doubles and exact numbers, which broadcast."""
        raise UnsupportedNode(f"{cls.__name__} has no NumPy view; give it a method `array`, or use .enclose(...)")

    @classmethod
    def exact(cls, over: Arithmetic, parts: Parts, values: Values) -> Any:
        if cls.vanishes(*(over.exactly(part, values) for part in parts)):
            return Fraction(0)
        raise NotRational(cls.__name__)

    @classmethod
    def ball(cls, over: Balls, parts: Parts, values: Values) -> Any:
        numbers = [over.exactly(part, values) for part in parts]
        return Fraction(0) if cls.vanishes(*numbers) else cls.enclosed(over, *numbers)

    @classmethod
    def series(cls, over: Any, parts: Parts, values: Values) -> Any:
        """Of power series in an index, if it stands inside a mean."""
        return cls.ball(over, parts, values)

    @classmethod
    def doubles(cls, over: Doubles, parts: Parts, values: Values) -> Any:
        def array(values: Values) -> Array:
            return cls.array(*(over.exact_or_array(part, values) for part in parts))

        return over.whole(array, parts)


class OfSteps(OfNumbers):
    """A function of exact numbers, the last a count of steps: one computation gives the value after each of them."""

    @classmethod
    def curve(cls, *numbers: Any) -> Sequence[float]:
        """Values after 1, 2, … steps, to the count given last or until they settle."""
        raise UnsupportedNode(f"{cls.__name__} needs a method `curve`")

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        import numpy as np

        from ..progress import Ticker

        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = list(zip(*(part.ravel().tolist() for part in given), strict=True))
        longest: dict[tuple[Any, ...], int] = {}
        for *others, count in rows:
            longest[tuple(others)] = max(longest.get(tuple(others), 0), int(count))
        out, ticker = np.empty(len(rows)), Ticker()
        for place, (*others, count) in enumerate(rows):
            ticker.say(f"{cls.__name__}: {place:,} of {len(rows):,} values")
            if count < 1:
                raise ArgumentError(cls.__name__, count, "not a count of steps", "take at least one step")
            found = (0.0,) if cls.vanishes(*others, count) else cls.curve(*others, longest[tuple(others)])
            out[place] = found[min(int(count), len(found)) - 1]
        ticker.clear()
        return out.reshape(given[0].shape)


class Long(OfSteps):
    """A function that takes so long that the best order is looked for on a sketch of it: rough values for many costs.

    Its first argument is a cost. As a function of that alone it is 0 at 0 and, on logarithmic scales, smooth.
    """

    rank = 2
    unit: ClassVar[str]
    """What `work` counts, in words."""
    budget: ClassVar[str]
    """The field of `accounting.effort.Effort` that says how much of it is acceptable."""
    certified_as_asked: ClassVar[bool] = True
    """Whether an enclosure as narrow as the statement's own costs no more than a wider one."""

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0]

    @classmethod
    def work(cls, *others: Fraction) -> int:
        """How much there is to compute, for all arguments but the cost."""
        raise UnsupportedNode(f"{cls.__name__} needs a method `work`")

    @classmethod
    def sketch(cls, costs: Array, *others: Fraction) -> Array:
        """The value for many costs, to a few per cent; infinite for costs out of its range."""
        raise UnsupportedNode(f"{cls.__name__} needs a method `sketch`")
