"""What can be proved: relations between numbers, and what is known of two noisy runs; with the terms they are about.

A term or proposition is a frozen dataclass whose fields are SymPy expressions, other terms, or plain data. `words` is
how it reads; a field stands there in braces. Nothing is decided by these words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache, lru_cache
from typing import ClassVar, Self

from sympy import Basic, Eq, Expr, Float, Ge, Gt, I, Integral, Lambda, Le, Lt, Or, S, Symbol, srepr
from sympy.core.relational import Relational

from ..meaning import Asks, Neighbouring, Quantity, Scheme, Sensitivity

Format = Callable[[Expr], str]
"""How an expression is written: as text, or as LaTeX."""


class NoTerm(TypeError):
    """What cannot be a term: rounded, infinite or imaginary numbers in it, or things that are no parts of one."""


@dataclass(frozen=True)
class Term:
    """Something made of expressions and other terms."""

    words: ClassVar[str] = ""
    may_be_infinite: ClassVar[bool] = False
    """Whether ∞ may stand in it."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Classes differ in fields and words: what is compared, changed and looked through is all of a term."""
        super().__init_subclass__(**kwargs)
        if changed := cls.__dict__.keys() & _THE_SAME_FOR_ALL:
            raise TypeError(f"{cls.__name__}: {', '.join(sorted(changed))} must be that of every term")

    def __post_init__(self) -> None:
        if not _compares_all(type(self)):  # type: ignore[arg-type]  # a class is hashable, whatever mypy makes of it
            raise TypeError(f"{type(self).__name__}: terms are equal if all their fields are")
        for part in self.parts():
            if not _is_plain(part):
                raise NoTerm(f"{type(self).__name__}: {part!r} is neither an expression, a term nor plain data")
        for part in self.expressions():
            if not is_exact(part) and not (self.may_be_infinite and not part.has(Float, S.NaN, I)):
                raise NoTerm(f"{type(self).__name__}: {part} is rounded, infinite or imaginary; write exact numbers")

    def parts(self) -> Iterator[object]:
        for field in fields(self):
            yield getattr(self, field.name)

    def changed(self, change: Callable[[object], object]) -> Self:
        """The same term of changed parts; `change` is asked for expressions and for terms that stand for any term."""
        return type(self)(*(_changed(part, change) for part in self.parts()))

    def expressions(self) -> Iterator[Basic]:
        """The expressions it contains."""
        for part in self.parts():
            yield from _expressions(part)

    @property
    def free_symbols(self) -> set[Symbol]:
        return set[Symbol]().union(*(each.free_symbols for each in self.expressions()))

    def said(self, form: Format = str) -> str:
        """The term in words, its expressions written by `form`."""
        named = {field.name: _said(getattr(self, field.name), form) for field in fields(self)}
        return self.words.format(**named)

    def __str__(self) -> str:
        return self.said()


_THE_SAME_FOR_ALL = {
    *("__eq__", "__hash__", "__new__", "__getattribute__", "__getattr__", "__post_init__", "__reduce__"),
    *("parts", "changed", "expressions", "free_symbols"),
}


@cache
def _compares_all(kind: type[Term]) -> bool:
    own = "__eq__" in vars(kind) or fields(kind) == fields(kind.__mro__[1])
    return own and all(field.compare for field in fields(kind))


def _is_plain(part: object) -> bool:
    if isinstance(part, tuple):
        return all(map(_is_plain, part))
    return isinstance(part, Basic | Term | Enum | str | int) or part is None


@lru_cache(maxsize=1 << 16)
def is_exact(part: Basic) -> bool:
    """Whether an expression has no rounded, infinite or imaginary number in it; an integral may go to infinity."""
    if part.has(Integral):
        part = part.replace(Integral, lambda body, *_: body)
    return not part.has(Float, S.NaN, S.ComplexInfinity, S.Infinity, S.NegativeInfinity, I)


def content(part: object) -> str:
    """A term, part by part, in a form in which different terms differ: classes, trees of expressions, data."""
    if isinstance(part, Term):
        return f"{type(part).__name__}({', '.join(map(content, part.parts()))})"
    if isinstance(part, tuple):
        return f"[{', '.join(map(content, part))}]"
    return srepr(part) if isinstance(part, Basic) else repr(part)


def _changed(part: object, change: Callable[[object], object]) -> object:
    if isinstance(part, Anything | Basic):
        return change(part)
    if isinstance(part, Term):
        return part.changed(change)
    if isinstance(part, tuple):
        return tuple(_changed(each, change) for each in part)
    return part


def _expressions(part: object) -> Iterator[Basic]:
    if isinstance(part, Basic):
        yield part
    elif isinstance(part, Term):
        yield from part.expressions()
    elif isinstance(part, tuple):
        for each in part:
            yield from _expressions(each)


def _said(part: object, form: Format) -> str:
    if isinstance(part, Term):
        return part.said(form)
    if isinstance(part, tuple):
        return ", ".join(_said(each, form) for each in part)
    if isinstance(part, Lambda):
        return form(part.expr)  # a function reads as its value
    return form(part) if isinstance(part, Basic) else str(part)


@dataclass(frozen=True)
class Anything(Term):
    """A term that stands for any term: what a fact or lemma says, it says of all."""

    name: str
    words = "{name}"

    def admits(self, value: Term) -> bool:
        """Whether a term may take its place."""
        return True


@dataclass(frozen=True)
class GivenBatches(Anything):
    """Any batches that are what they are, not drawn at random."""

    def admits(self, value: Term) -> bool:
        return isinstance(value, GivenBatches) or (isinstance(value, Batches) and value.are_given)


@dataclass(frozen=True)
class FreshBatches(Anything):
    """Any batches of which those of one step say nothing about those of another: given, or drawn afresh."""

    def admits(self, value: Term) -> bool:
        if isinstance(value, GivenBatches | FreshBatches):
            return True
        return isinstance(value, Batches) and (value.are_given or value.are_fresh)


# --- How batches are made ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batches(Term):
    """Which steps use the record that the two datasets differ in. Steps are counted from 0."""

    scheme: ClassVar[Scheme] = Scheme.NONE
    are_given: ClassVar[bool] = False
    """Whether they are what they are: nothing is drawn."""
    are_fresh: ClassVar[bool] = False
    """Whether those of every step are drawn by themselves."""


@dataclass(frozen=True)
class InOrder(Batches):
    """The same `count` batches in every epoch, the record in batch `place`."""

    count: Expr
    place: Expr
    scheme = Scheme.FIXED
    are_given = True
    words = "{count} batches in a fixed order, the record in batch {place}"


@dataclass(frozen=True)
class OnceAnEpoch(Batches):
    """Epochs of `count` steps, each of which uses the record at most once: in a fixed order or in whatever order.

    `uses_before(count, t)` is how many of the first t steps use it.
    """

    count: Expr
    scheme = Scheme.FIXED
    are_given = True
    words = "epochs of {count} batches, at most one of which holds the record"


@dataclass(frozen=True)
class EveryStep(Batches):
    """Every step uses all records."""

    scheme = Scheme.FULL_BATCH
    are_given = True
    words = "the full batch at every step"


@dataclass(frozen=True)
class ShuffledOnce(Batches):
    """As `InOrder`, after the records have been shuffled: each batch holds the record with chance `rate`."""

    count: Expr
    rate: Expr
    scheme = Scheme.SHUFFLE
    words = "{count} batches, shuffled once (chance {rate} to be in a given one)"


@dataclass(frozen=True)
class ShuffledEachEpoch(Batches):
    """As `ShuffledOnce`, anew for every epoch."""

    count: Expr
    rate: Expr
    scheme = Scheme.RESHUFFLE
    words = "{count} batches, shuffled anew every epoch (chance {rate} to be in a given one)"


@dataclass(frozen=True)
class DrawnAfresh(Batches):
    """Every step draws its batch from all records, without replacement; it holds the record with chance `rate`."""

    rate: Expr
    scheme = Scheme.WITHOUT_REPLACEMENT
    are_fresh = True
    words = "a batch drawn afresh at every step (chance {rate} to be in it)"


@dataclass(frozen=True)
class EachByItself(Batches):
    """Every step draws each record by itself, with chance `rate` (Poisson sampling)."""

    rate: Expr
    scheme = Scheme.POISSON
    are_fresh = True
    words = "every record drawn by itself at every step, with chance {rate}"


@dataclass(frozen=True)
class BallsInBins(Batches):
    """In every epoch each record picks one of `count` batches by itself, anew and each as likely."""

    count: Expr
    scheme = Scheme.BALLS_IN_BINS
    words = "epochs of {count} batches, of which every record picks one by itself, anew in every epoch"


@dataclass(frozen=True)
class BatchWith(Batches):
    """Batches drawn as `random` says, given that they hold the record."""

    random: Batches | Anything
    words = "{random}, given that the record is drawn"


@dataclass(frozen=True)
class BatchWithout(Batches):
    """Batches drawn as `random` says, given that they do not hold the record."""

    random: Batches | Anything
    words = "{random}, given that the record is not drawn"


@dataclass(frozen=True)
class LastPlaces(Batches):
    """As `InOrder`, the record's batch drawn evenly from the last `among` of the `count` batches."""

    count: Expr
    among: Expr
    words = "{count} batches in a fixed order, the record in one of the last {among}, each as likely"


@dataclass(frozen=True)
class NeverUsed(Batches):
    """No batch holds the record."""

    are_given = True
    words = "batches without the record"


@dataclass(frozen=True)
class AsDrawn(Batches):
    """Batches as they turned out when `random` was drawn: one fixed outcome, the same throughout, and any of them."""

    random: Batches | Anything
    are_given = True
    words = "given batches ({random})"


# --- Two runs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent(Term):
    """Noisy descent on two neighbouring datasets: θ ← φ_t(θ) + N(0, noise·I), with φ'_t on the other dataset.

    φ_t and φ'_t are the same map unless the batch of step t holds the record; batches are the same on both datasets.
    Where neighbours are datasets with and without the record (`ADD_REMOVE`), the map of a batch that holds it is, on
    the dataset without it, that of the same batch without the record, with the same divisor and the same noise.
    """

    batches: Batches | Anything
    noise: Expr
    neighbours: Neighbouring = Neighbouring.REPLACE_ONE
    words = "descent with noise {noise}; {batches}"


@dataclass(frozen=True)
class Pair(Term):
    """A law for each of two datasets."""


@dataclass(frozen=True)
class From(Pair):
    """The laws after `steps` updates of `descent`, from step `start` on, whichever point both start at."""

    descent: Descent | Anything
    start: Expr
    steps: Expr
    words = "θ after {steps} updates from step {start}"

    @property
    def step(self) -> Expr:
        """The number of the step that comes next."""
        return self.start + self.steps


@dataclass(frozen=True)
class Mapped(Pair):
    """The laws after the next update map, before its noise."""

    pair: Pair | Anything
    words = "{pair}, mapped"


@dataclass(frozen=True)
class Noised(Pair):
    """The laws with independent N(0, variance·I) added."""

    pair: Pair | Anything
    variance: Expr
    words = "{pair} + N(0, {variance})"


@dataclass(frozen=True)
class Every(Pair):
    """The joint laws of all iterates of the first `steps` steps."""

    descent: Descent | Anything
    steps: Expr
    words = "all iterates of {steps} updates"


@dataclass(frozen=True)
class Mixed(Pair):
    """With probability `weight` the laws of `first`, else those of `second`, on both datasets alike."""

    weight: Expr
    first: Pair | Anything
    second: Pair | Anything
    words = "{weight}·({first}) + (1 − {weight})·({second})"


@dataclass(frozen=True)
class Continued(Pair):
    """The laws after `steps` more updates of `descent`, from any given run with R_a ≤ a·cost so far, for all a > 1.

    What came before was made with given batches, from a point; the batches of the further steps are still to be drawn.
    """

    descent: Descent | Anything
    cost: Expr
    steps: Expr
    words = "θ after {steps} more steps, from wherever R_a ≤ a·({cost}); {descent}"


# --- What can be proved --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proposition(Term):
    """What a theorem says, or assumes."""

    value_at: ClassVar[str | None] = None
    """The field that holds a bound, if it says that something is at most, or at least, that."""
    relation: ClassVar[str] = "<="
    """Whether what is bounded is at most, at least or equal to the value."""
    quantity: ClassVar[Quantity | None] = None
    assumable: ClassVar[bool] = False
    """Whether bounds on runs may assume it: what data, losses and update maps are; nothing that bounds a run."""
    asks: ClassVar[Asks | None] = None
    """What it asks of an update, as a hypothesis, if that is more than Lipschitz or convex."""
    sensitivity: ClassVar[Sensitivity | None] = None
    """Whose gradients it bounds, as a hypothesis, if not only those of the records in which datasets differ."""

    @property
    def value(self) -> Expr:
        """The bound."""
        if self.value_at is None:
            raise TypeError(f"{type(self).__name__} bounds nothing")
        found: Expr = getattr(self, self.value_at)
        return found

    @property
    def pair_bounded(self) -> Pair | Anything | None:
        """The laws it is about, if any."""
        found = getattr(self, "pair", None)
        return found if isinstance(found, Pair | Anything) else None


@dataclass(frozen=True)
class Equal(Proposition):
    left: Expr
    right: Expr
    words = "{left} = {right}"
    relation = "="


@dataclass(frozen=True)
class AtMost(Proposition):
    left: Expr
    right: Expr
    words = "{left} ≤ {right}"


@dataclass(frozen=True)
class Less(Proposition):
    left: Expr
    right: Expr
    words = "{left} < {right}"


@dataclass(frozen=True)
class Either(Proposition):
    """At least one of these holds."""

    cases: tuple[Proposition, ...]
    words = "one of: {cases}"


@dataclass(frozen=True)
class Tends(Proposition):
    """`expr` tends to `limit` as `symbol` falls to `point`."""

    expr: Expr
    symbol: Symbol
    point: Expr
    limit: Expr
    may_be_infinite = True
    words = "{expr} → {limit} as {symbol} ↓ {point}"


@dataclass(frozen=True)
class Abbreviation(Proposition):
    """`symbol` stands for `meaning`, which was proved to lie in the symbol's range."""

    symbol: Symbol
    meaning: Expr
    words = "{symbol} is short for {meaning}"


@dataclass(frozen=True)
class Lipschitz(Proposition):
    """Every update map, on either dataset, is Lipschitz with this constant."""

    descent: Descent | Anything
    constant: Expr
    assumable = True
    words = "every update map is Lipschitz with constant {constant}"


@dataclass(frozen=True)
class LipschitzUpTo(Proposition):
    """The update map of every batch of at most `size` records, on either dataset, is Lipschitz with this constant."""

    descent: Descent | Anything
    constant: Expr
    size: Expr
    assumable = True
    asks = Asks.SIZED_CONTRACTION
    words = "the update map of every batch of at most {size} records is Lipschitz with constant {constant}"


@dataclass(frozen=True)
class Apart(Proposition):
    """At every point the two update maps of a step that uses the record differ by at most `distance`."""

    descent: Descent | Anything
    distance: Expr
    assumable = True
    words = "the update maps of a step that uses the record differ by at most {distance}"


@dataclass(frozen=True)
class LossesBetween(Proposition):
    """Every record's loss is strongly convex and smooth with these constants.

    ℓ(y) − ℓ(x) − ⟨∇ℓ(x), y − x⟩ lies between (convexity/2)‖y − x‖² and (smoothness/2)‖y − x‖².
    """

    descent: Descent | Anything
    convexity: Expr
    smoothness: Expr
    assumable = True
    words = "every loss is strongly convex with modulus {convexity} and smooth with constant {smoothness}"


@dataclass(frozen=True)
class GradientSteps(Proposition):
    """Every update map is θ − step·∇ℓ(θ), ℓ the mean loss of the batch's records."""

    descent: Descent | Anything
    step: Expr
    assumable = True
    words = "an update is θ − {step}·(mean gradient of its batch)"


@dataclass(frozen=True)
class Gradients(Proposition):
    """At some two points, Δθ apart, the gradients of a batch's loss differ by Δg, with these squares and product."""

    descent: Descent | Anything
    points: Expr
    product: Expr
    gradients: Expr
    words = "‖Δθ‖² = {points}, ⟨Δg, Δθ⟩ = {product}, ‖Δg‖² = {gradients} at some two points"


@dataclass(frozen=True)
class Unused(Proposition):
    """The batch of step `time` does not hold the record, so both datasets have the same update map."""

    batches: Batches | Anything
    time: Expr
    words = "step {time} does not use the record"


@dataclass(frozen=True)
class LogSobolev(Proposition):
    """Both laws satisfy a log-Sobolev inequality with a constant c such that 1/c ≤ `inverse`."""

    pair: Pair | Anything
    inverse: Expr
    value_at = "inverse"
    quantity = Quantity.LOG_SOBOLEV
    words = "log-Sobolev with 1/c at most {inverse}, for {pair}"


@dataclass(frozen=True)
class LogSobolevConstant(Proposition):
    """Both laws satisfy a log-Sobolev inequality with this constant."""

    pair: Pair | Anything
    constant: Expr
    value_at = "constant"
    relation = "="
    quantity = Quantity.LOG_SOBOLEV
    words = "log-Sobolev with c equal to {constant}, for {pair}"


@dataclass(frozen=True)
class PerOrder(Proposition):
    """R_a between the laws, in either direction, is at most a·cost for every order a > 1."""

    pair: Pair | Anything
    cost: Expr
    value_at = "cost"
    quantity = Quantity.DIVERGENCE_STEP
    words = "at every order a > 1 the divergence is at most a times {cost}, for {pair}"


@dataclass(frozen=True)
class Renyi(Proposition):
    """R_order between the laws, in either direction, is at most `epsilon`."""

    pair: Pair | Anything
    order: Expr
    epsilon: Expr
    value_at = "epsilon"
    quantity = Quantity.DIVERGENCE
    words = "at order {order} the divergence is at most {epsilon}, for {pair}"


@dataclass(frozen=True)
class Moment(Proposition):
    """∫ μ^order·ν^(1−order), that is e^((order−1)·R_order), is at most `moment` for the laws, in either direction."""

    pair: Pair | Anything
    order: Expr
    moment: Expr
    value_at = "moment"
    words = "at order {order} the moment is at most {moment}, for {pair}"


@dataclass(frozen=True)
class AnyStep(Proposition):
    """Given the batches so far, one more step leads from R_a ≤ a·before, at every order a > 1, to R_a ≤ a·after."""

    descent: Descent | Anything
    before: Expr
    after: Expr
    words = "a step leads from u = {before} to {after}, given the batches"


@dataclass(frozen=True)
class StepWithout(Proposition):
    """The same, of a step that does not use the record."""

    descent: Descent | Anything
    before: Expr
    after: Expr
    words = "a step without the record leads from u = {before} to {after}, given the batches"


@dataclass(frozen=True)
class MayBe(Proposition):
    """Batches drawn as `random` says may turn out to be `batches`."""

    batches: Batches | Anything
    random: Batches | Anything
    words = "{batches}: one way in which {random} may turn out"


@dataclass(frozen=True)
class StepsIndependent(Proposition):
    """The batches of different steps are drawn independently: those before a step say nothing about its own."""

    descent: Descent | Anything
    words = "the batches of different steps are independent"


# --- Exact laws ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Used(Proposition):
    """The batch of step `time` holds the record."""

    batches: Batches | Anything
    time: Expr
    words = "step {time} uses the record"


@dataclass(frozen=True)
class QuadraticLosses(Proposition):
    """θ is a number, and a record's loss is convexity·θ²/2 − xθ; the x of the two records differ by `distance`.

    Batches are given, not drawn, and have this size.
    """

    descent: Descent | Anything
    convexity: Expr
    distance: Expr
    size: Expr
    assumable = True
    words = "every loss is {convexity}·θ²/2 − xθ; batches of size {size} are given; the two x differ by {distance}"


@dataclass(frozen=True)
class AffineSteps(Proposition):
    """Every update map is θ ↦ factor·θ + c, θ a number, for a given c that may differ from step to step.

    The two c of a step that uses the record differ by `distance`.
    """

    descent: Descent | Anything
    factor: Expr
    distance: Expr
    words = "an update is θ ↦ {factor}·θ + c; where the record is used the two c differ by {distance}"


@dataclass(frozen=True)
class GaussianLaws(Proposition):
    """Both laws are Gaussians on the line, of this variance (0: points), and their means differ by `gap`."""

    pair: Pair | Anything
    gap: Expr
    variance: Expr
    words = "Gaussians of variance {variance}, their means {gap} apart, for {pair}"


@dataclass(frozen=True)
class RenyiEquals(Proposition):
    """R_order between the laws, in either direction, is `epsilon`."""

    pair: Pair | Anything
    order: Expr
    epsilon: Expr
    value_at = "epsilon"
    relation = "="
    quantity = Quantity.DIVERGENCE
    words = "R_{order} = {epsilon}, for {pair}"


# --- (ε, δ) --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaAtMost(Proposition):
    """∫(μ − e^epsilon·ν)₊ ≤ `delta` for the laws, in either direction: (epsilon, delta)-indistinguishable."""

    pair: Pair | Anything
    epsilon: Expr
    delta: Expr
    value_at = "delta"
    quantity = Quantity.DELTA
    words = "δ ≤ {delta} at ε = {epsilon}, for {pair}"


@dataclass(frozen=True)
class Gaussian(Proposition):
    """Telling the laws apart is no easier than telling N(0, 1) from N(μ, 1), with μ² ≤ `cost`."""

    pair: Pair | Anything
    cost: Expr
    value_at = "cost"
    quantity = Quantity.GAUSSIAN
    words = "as hard to tell apart as N(0, 1) and N(μ, 1), μ² ≤ {cost}: {pair}"


@dataclass(frozen=True)
class GaussianExactly(Proposition):
    """Telling the laws apart is neither easier nor harder than telling N(0, 1) from N(μ, 1), with μ² = `cost`."""

    pair: Pair | Anything
    cost: Expr
    value_at = "cost"
    relation = "="
    quantity = Quantity.GAUSSIAN
    words = "exactly as hard to tell apart as N(0, 1) and N(μ, 1), μ² = {cost}: {pair}"


@dataclass(frozen=True)
class EpsilonAtMost(Proposition):
    """∫(μ − e^ε·ν)₊ ≤ `delta` for the laws, in either direction, for every ε ≥ `epsilon`."""

    pair: Pair | Anything
    delta: Expr
    epsilon: Expr
    value_at = "epsilon"
    quantity = Quantity.EPSILON
    words = "ε ≤ {epsilon} at δ = {delta}, for {pair}"


RELATIONS: dict[type[Relational], Callable[[Expr, Expr], Proposition]] = {
    Le: AtMost,
    Lt: Less,
    Ge: lambda left, right: AtMost(right, left),
    Gt: lambda left, right: Less(right, left),
    Eq: Equal,
}


def proposition_of(relation: Relational | Or) -> Proposition:
    """What a SymPy relation says, as a proposition."""
    if isinstance(relation, Or):
        return Either(tuple(sorted(map(proposition_of, relation.args), key=str)))
    return RELATIONS[type(relation)](relation.lhs, relation.rhs)
