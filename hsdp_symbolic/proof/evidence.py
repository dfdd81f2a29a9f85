"""Checks and what comes of them: method, verdict, scope. Only `proved` says "proved", and it asks for theorems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sympy import cancel
from sympy.core.relational import Relational

from .kernel import Refused, Theorem, closed, rests_on
from .propositions import Abbreviation, AtMost, Equal, Less, Proposition


class Method(StrEnum):
    """How a claim is supported, from strongest to weakest."""

    THEOREM = "theorem"
    """Theorems of the kernel (`proof.kernel`): rules, applied again."""
    DEFINITION = "definition"
    """Both sides are one tree: a name or a way of writing, with nothing to prove."""
    DIRECTIONS = "directions"
    """Read off an expression and off what its functions say of themselves, of which not everything is proved."""
    POINTS = "points"
    """Exact arithmetic at stated points."""
    SIMULATION = "simulation"
    """Simulated runs, or exact laws of instances: evidence, not proof."""
    CITED = "cited"
    """Taken from the literature."""


class Verdict(StrEnum):
    """What the evidence amounts to. What passes is proved, or says openly that it is less."""

    PROVED = "proved"
    DEFINITION = "definition"
    """It fixes a name, or is written here as it is printed."""
    CERTIFIED = "certified"
    """It holds at the points stated, and nothing more is claimed."""
    CONSISTENT = "consistent"
    """Nothing speaks against it; that is no proof."""
    CITED = "cited"
    """Taken from the literature, and checked only on a witness."""
    UNDECIDED = "undecided"
    """Neither a proof nor a counterexample was found."""
    REFUTED = "refuted"
    """There is an exact counterexample."""

    @property
    def passes(self) -> bool:
        return self not in (Verdict.UNDECIDED, Verdict.REFUTED)


@dataclass(frozen=True)
class Evidence:
    """The outcome of one check: by which method, over which scope, with which result."""

    method: Method
    verdict: Verdict
    scope: str
    detail: str


EVERYWHERE = "whatever the letters are"
"""The scope of a theorem without a hypothesis."""


class Check(ABC):
    """Something that can be verified, and whose mutants must not be."""

    @abstractmethod
    def verify(self) -> Evidence:
        """Decide the claim; `UNDECIDED` where the method finds neither proof nor counterexample."""

    @abstractmethod
    def mutants(self) -> Iterator[tuple[str, Check]]:
        """Wrong versions of this check, each with a word on what is wrong."""

    @abstractmethod
    def formula(self) -> Relational:
        """The claim as one SymPy relation, for printing."""


def proved(theorems: Sequence[Theorem], detail: str = "") -> Evidence:
    """The evidence that theorems are; `Refused` unless every rule, applied again, says the same.

    No theorem may have its own conclusion among its hypotheses: that would prove nothing.
    """
    if not theorems:
        raise Refused("no theorem, no proof")
    rules = 0
    for theorem in theorems:
        rules += len(closed(theorem))
        for hypothesis in theorem.hypotheses:
            if _says_as_much(hypothesis, theorem.proposition):
                raise Refused(f"what is to be proved is among its hypotheses: {hypothesis}")
    cited = sorted({fact.name for theorem in theorems for fact in rests_on(theorem) if not fact.is_definition})
    told = [
        detail or f"{rules} rule{'s' if rules > 1 else ''}",
        f"rests on {', '.join(cited) if cited else 'no cited fact'}",
    ]
    return Evidence(Method.THEOREM, Verdict.PROVED, scope_of(*theorems), "; ".join(told))


def _says_as_much(hypothesis: Proposition, conclusion: Proposition) -> bool:
    """Whether a hypothesis is the conclusion, perhaps times a positive number or with terms on the other side."""
    if hypothesis == conclusion:
        return True
    numbers = AtMost | Less | Equal
    if not isinstance(hypothesis, numbers) or not isinstance(conclusion, numbers):
        return False
    ratio = cancel((hypothesis.right - hypothesis.left) / (conclusion.right - conclusion.left))
    if isinstance(conclusion, Equal):
        return isinstance(hypothesis, Equal) and bool(ratio.is_number and ratio.is_nonzero)
    return bool(ratio.is_number and (ratio.is_positive or isinstance(hypothesis, Equal)))


def scope_of(*theorems: Theorem) -> str:
    """The hypotheses under which theorems hold, in words; definitions left out."""
    given = dict.fromkeys(
        str(each) for theorem in theorems for each in theorem.hypotheses if not isinstance(each, Abbreviation)
    )
    return "where " + "; ".join(given) if given else EVERYWHERE


def surviving_mutants(check: Check) -> tuple[int, list[str]]:
    """How many mutants of `check` were tried, and those its verification failed to reject."""
    survivors, tried = [], 0
    for what, mutant in check.mutants():
        tried += 1
        if mutant.verify().verdict.passes:
            survivors.append(what)
    return tried, survivors
