"""Negative controls of proofs: whatever a rule was given, given something else it refuses or concludes something else.

Every input of every rule in a proof is changed: expressions (`mutants.mutations`), numbers in a proposition, what is
put for a symbol, counts and names, the conclusion of a fact. A premise is replaced by a hypothesis that says something
else; each hypothesis of a promise is left out. A change that is not noticed is a survivor; there must be none.

`places` lists where something can be changed; `sample` picks some of them, the same ones each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from sympy import Expr, Lambda, Symbol
from sympy.core.relational import Relational

from ..errors import HsdpError
from ..symbols import fresh
from .evidence import Check, Evidence, Method, Verdict, proved
from .kernel import Fact, Refused, Theorem, assume, nodes, promise, proof_of, replay
from .mutants import mutations
from .propositions import Proposition, Term
from .tree import relation_of

SAMPLED = 40
"""Places of a proof that a sample looks at."""

VARIANTS = 3
"""Wrong versions of one expression that are tried."""

ONLY_CONDITIONS = frozenset(["nonzero", "ranges", "others"])
"""Inputs of which it matters only that they hold: that a divisor is not 0, a value in range, the hypotheses of others.

Another condition that suffices (0 < 2x for 0 < x) is as good, and its hypotheses take the place of the first one's: no
change of these is a mutant. That each condition is asked for is tested rule by rule (`tests/proof/test_kernel.py`).
"""

FOR_ALL = frozenset(["substitute", "apply"])
"""Rules that take what holds in general: of a premise they may need only part.

2·N·k + j₀ and N·k + j₀ are the same at k = 0, and a fact may say nothing of a number that its premise names. So a
changed premise may lead to the same proposition, but only under the changed hypothesis: that is looked for here. Of all
other rules, a changed premise that leads to the same proposition is a survivor, whatever its hypotheses.
"""

MUST_REFUSE = frozenset(["cancel", "combine"])
"""Rules that compare two expressions: if one is changed, what they would conclude is false."""


@dataclass(frozen=True)
class Change(Check):
    """A rule of a proof, applied to a changed input; proved, and so a survivor, if the change is not noticed."""

    node: Theorem
    what: str
    attempt: Callable[[], Theorem]
    must_refuse: bool = False
    under_any_hypothesis: bool = False
    """Whether the same proposition counts as the same, whatever it rests on."""

    def verify(self) -> Evidence:
        survived = self._survives
        verdict = Verdict.PROVED if survived else Verdict.UNDECIDED
        return Evidence(Method.THEOREM, verdict, "", "not noticed" if survived else "refused, or says something else")

    @cached_property
    def _survives(self) -> bool:
        try:
            found = self.attempt()
        except (HsdpError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            return False
        if self.must_refuse:
            return True
        if found.proposition != self.node.proposition:
            return False
        rest = (found.hypotheses, found.facts) == (self.node.hypotheses, self.node.facts)
        return rest or self.under_any_hypothesis

    def mutants(self) -> Iterator[tuple[str, Check]]:
        return iter(())

    def formula(self) -> Relational:
        return relation_of(self.node)


@dataclass(frozen=True)
class Place:
    """Where something can be changed: an input of a rule, or a part of it."""

    node: Theorem
    name: str
    path: tuple[Any, ...]
    """How to get from the input to the part: indices and keys."""
    part: object

    @cached_property
    def changes(self) -> tuple[tuple[str, Change], ...]:
        """All changes tried there, kept: proofs share their parts."""
        return tuple(self.changed())

    def changed(self) -> Iterator[tuple[str, Change]]:
        """The changes tried there."""
        here = self.node.name or self.node.rule
        at = "".join(f"[{each}]" for each in self.path)
        if self.node.rule == "promise":
            yield from _broken_promises(self.node, self.name, self.part)
            return
        inputs = dict(self.node.inputs)
        for what, other in _variants(self.part):
            new = _with(inputs[self.name], self.path, other)
            alone = isinstance(self.part, Theorem) and self.node.rule not in FOR_ALL
            strict = self.node.rule in MUST_REFUSE and isinstance(self.part, Expr)

            def attempt(new: object = new) -> Theorem:
                return replay(self.node, **{self.name: new})

            yield f"{here}, {self.name}{at}: {what}", Change(self.node, what, attempt, strict, alone)


def places(theorem: Theorem) -> tuple[Place, ...]:
    """Every place of a proof where something can be changed, premises first; the proof is written now."""
    return tuple(place for node in nodes(theorem) for place in _places_of(node))


_PLACES: dict[int, tuple[Theorem, tuple[Place, ...]]] = {}
"""Places of a node, which many proofs may share; the node is kept, so that its id stays its own."""


def _places_of(node: Theorem) -> tuple[Place, ...]:
    if id(node) not in _PLACES:
        found = _promised(node) if node.rule == "promise" else _given(node)
        _PLACES[id(node)] = node, tuple(found)
    return _PLACES[id(node)][1]


def _promised(node: Theorem) -> Iterator[Place]:
    used = proof_of(node).hypotheses
    yield Place(node, "proposition", (), node.proposition)
    for each in node.hypotheses:
        if each in used:  # others are not needed, and `about.unneeded` says so
            yield Place(node, "hypothesis", (), each)


def _given(node: Theorem) -> Iterator[Place]:
    for name, value in node.inputs:
        if name not in ONLY_CONDITIONS:
            yield from (Place(node, name, path, part) for path, part in _parts(value, ()))


def _parts(value: object, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], object]]:
    """What can be changed in an input, each with the way to it."""
    if isinstance(value, tuple):
        for at, each in enumerate(value):
            yield from _parts(each, (*path, at))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _parts(each, (*path, key))
    elif isinstance(value, Theorem | Expr | Lambda | Term | Fact) or type(value) is int:
        yield path, value


def _with(value: Any, path: tuple[Any, ...], other: object) -> object:
    """An input with one part exchanged."""
    if not path:
        return other
    first, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {key: _with(each, rest, other) if key == first else each for key, each in value.items()}
    return tuple(_with(each, rest, other) if at == first else each for at, each in enumerate(value))


def _variants(part: object) -> Iterator[tuple[str, object]]:
    """Wrong versions of an input."""
    if isinstance(part, Theorem):
        for what, other in _changed_terms(part.proposition):
            yield f"a premise with {what}", assume(other)  # type: ignore[arg-type]
    elif isinstance(part, Symbol):
        yield "another name", fresh(part.name, **part._assumptions_orig)
    elif isinstance(part, Lambda):  # which SymPy takes for an expression
        for what, other in islice(mutations(part.expr, VARIANTS), VARIANTS):
            yield what, Lambda(part.signature, other)
    elif isinstance(part, Expr):
        yield from islice(mutations(part, VARIANTS), VARIANTS)
    elif isinstance(part, Fact):
        for what, other in _changed_terms(part.conclusion):
            yield f"its conclusion with {what}", replace(part, conclusion=other)  # type: ignore[arg-type]
    elif isinstance(part, Term):
        yield from _changed_terms(part)
    elif isinstance(part, int):
        yield "one more", part + 1


def _changed_terms(term: Term) -> Iterator[tuple[str, Term]]:
    """A term with one of the expressions in it changed."""
    for at, expr in enumerate(term.expressions()):
        for what, other in islice(_variants(expr), VARIANTS):
            try:
                yield f"{expr}: {what}", _exchanged(term, at, other)
            except TypeError:  # a version that divides by 0, or is infinite: no proposition at all
                continue


def _exchanged(term: Term, place: int, other: object) -> Term:
    """A term with the expression at this place exchanged."""
    count = iter(range(place + 1))

    def change(part: object) -> object:
        return other if isinstance(part, Expr | Lambda) and next(count, None) == place else part

    return term.changed(change)


def _broken_promises(node: Theorem, name: str, part: object) -> Iterator[tuple[str, Change]]:
    """A promise of something else, or one that keeps a hypothesis to itself."""
    here = node.name or "a promise"
    if name == "hypothesis":
        fewer = tuple(each for each in node.hypotheses if each != part)
        yield f"{here}: without {part}", Change(node, f"without {part}", _kept(node, node.proposition, fewer), True)
        return
    assert isinstance(part, Proposition)
    for what, other in _changed_terms(part):
        yield f"{here}: {what}", Change(node, what, _kept(node, other, node.hypotheses), True)  # type: ignore[arg-type]


def _kept(node: Theorem, proposition: Proposition, hypotheses: tuple[Proposition, ...]) -> Callable[[], Theorem]:
    """A promise like another, with the same proof: `Refused` if that proof does not keep it."""

    def attempt() -> Theorem:
        made = promise(proposition, hypotheses, lambda: proof_of(node), node.name)
        proof_of(made)
        return made

    return attempt


def mutants(theorem: Theorem) -> Iterator[tuple[str, Check]]:
    """Every change of every input of every rule of a proof; none may be proved."""
    for place in places(theorem):
        yield from place.changes


def sample(theorem: Theorem, size: int = SAMPLED, seed: int = 0) -> Iterator[tuple[str, Check]]:
    """All changes of what is claimed, and the first change at some places of its proof, the same places each time."""
    found = places(theorem)
    own = [place for place in found if place.node is theorem]
    for place in own:
        yield from place.changes
    rest = [place for place in found if place.node is not theorem]
    for place in random.Random(seed).sample(rest, min(size, len(rest))):
        yield from islice(place.changed(), 1)


@dataclass(frozen=True)
class Proved(Check):
    """A theorem of the kernel: it holds if its promises are kept and every rule, applied again, says the same."""

    theorem: Theorem

    def verify(self) -> Evidence:
        try:
            return proved([self.theorem])
        except Refused as why:
            return Evidence(Method.THEOREM, Verdict.UNDECIDED, "", str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        return sample(self.theorem)

    def formula(self) -> Relational:
        return relation_of(self.theorem)


def survivors(theorem: Theorem) -> list[str]:
    """Changes that are not noticed."""
    return [what for what, check in mutants(theorem) if check.verify().verdict is Verdict.PROVED]


__all__ = ["Change", "Place", "Proved", "mutants", "places", "sample", "survivors"]
