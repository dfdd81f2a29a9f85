"""What can be proved: relations between numbers, and what is known of two noisy runs; with the terms they are about.

A term or proposition is a frozen dataclass whose fields are SymPy expressions, other terms, or plain data. `words` is
how it reads; a field stands there in braces. Nothing is decided by these words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from sympy import Basic, Eq, Expr, Float, Ge, Gt, Le, Lt, Or, Symbol, srepr
from sympy.core.relational import Relational

from ..meaning import Asks, Neighbouring, Quantity, Scheme

Format = Callable[[Expr], str]
"""How an expression is written: as text, or as LaTeX."""


@dataclass(frozen=True)
class Term:
    """Something made of expressions and other terms."""

    words: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for part in self.parts():
            if isinstance(part, Basic) and part.has(Float):
                raise TypeError(f"{type(self).__name__}: {part} is rounded; write exact numbers")

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
    return form(part) if isinstance(part, Basic) else str(part)


@dataclass(frozen=True)
class Anything(Term):
    """A term that stands for any term: what a fact or lemma says, it says of all."""

    name: str
    words = "{name}"


# --- How batches are made ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batches(Term):
    """Which steps use the record that the two datasets differ in. Steps are counted from 0."""

    scheme: ClassVar[Scheme] = Scheme.NONE


@dataclass(frozen=True)
class InOrder(Batches):
    """The same `count` batches in every epoch, the record in batch `place`."""

    count: Expr
    place: Expr
    scheme = Scheme.FIXED
    words = "{count} batches in a fixed order, the record in batch {place}"


@dataclass(frozen=True)
class EveryStep(Batches):
    """Every step uses all records."""

    scheme = Scheme.FULL_BATCH
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
    words = "a batch drawn afresh at every step (chance {rate} to be in it)"


@dataclass(frozen=True)
class EachByItself(Batches):
    """Every step draws each record by itself, with chance `rate` (Poisson sampling)."""

    rate: Expr
    scheme = Scheme.POISSON
    words = "every record drawn by itself at every step, with chance {rate}"


# --- Two runs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent(Term):
    """Noisy descent on two neighbouring datasets: θ ← φ_t(θ) + N(0, noise·I), with φ'_t on the other dataset.

    φ_t and φ'_t are the same map unless the batch of step t holds the record; batches are the same on both datasets.
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
    words = "θ after {steps} steps from step {start}"

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
    words = "all iterates of {steps} steps"


@dataclass(frozen=True)
class Mixed(Pair):
    """With probability `weight` the laws of `first`, else those of `second`, on both datasets alike."""

    weight: Expr
    first: Pair | Anything
    second: Pair | Anything
    words = "{weight}·({first}) + (1 − {weight})·({second})"


# --- What can be proved --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proposition(Term):
    """What a theorem says, or assumes."""

    value_at: ClassVar[str | None] = None
    """The field that holds a bound, if it says that something is at most, or at least, that."""
    relation: ClassVar[str] = "<="
    """Whether what is bounded is at most, at least or equal to the value."""
    quantity: ClassVar[Quantity | None] = None
    asks: ClassVar[Asks | None] = None
    """What it asks of an update, as a hypothesis, if that is more than Lipschitz or convex."""

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
    words = "every update map is Lipschitz with constant {constant}"


@dataclass(frozen=True)
class Apart(Proposition):
    """At every point the two update maps of a step that uses the record differ by at most `distance`."""

    descent: Descent | Anything
    distance: Expr
    words = "the update maps of a step that uses the record differ by at most {distance}"


@dataclass(frozen=True)
class LossesBetween(Proposition):
    """Every record's loss is strongly convex and smooth with these constants.

    ℓ(y) − ℓ(x) − ⟨∇ℓ(x), y − x⟩ lies between (convexity/2)‖y − x‖² and (smoothness/2)‖y − x‖².
    """

    descent: Descent | Anything
    convexity: Expr
    smoothness: Expr
    words = "every loss is {convexity}-strongly convex and {smoothness}-smooth"


@dataclass(frozen=True)
class GradientSteps(Proposition):
    """Every update map is θ − step·∇ℓ(θ), ℓ the mean loss of the batch's records."""

    descent: Descent | Anything
    step: Expr
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
