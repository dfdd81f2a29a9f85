"""Claim → Evidence → Verdict: what the paper says, what was checked, what came of it.

A claim may fail as printed and hold as corrected; that is a finding, not a failure of the audit. What fails the
audit is a claim without a decision: undecided, or refuted with no correction that holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from sympy.core.relational import Relational

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.evidence import Check, Evidence, Method, Verdict, proved, surviving_mutants
from hsdp_symbolic.proof.kernel import Refused, Theorem
from hsdp_symbolic.proof.tree import relation_of
from hsdp_symbolic.statement import Statement

Consequence = Literal["", "result", "argument", "formula", "text", "figure", "loose"]
"""A result changes; an argument needs repair; a formula is misprinted; text or figure misleads; a bound is loose."""


@dataclass(frozen=True)
class Claim:
    """Something the paper asserts, at `where`, as a check; `corrected` is what is true if it is not."""

    id: str
    label: str
    where: str
    says: str
    printed: Check
    corrected: Check | None = None
    correction: str = ""
    sharper: str = ""
    items: tuple[str, ...] = ()
    """Items of the inventory this claim is about."""
    consequence: Consequence = ""
    """What follows from it, where the paper is not plainly right."""
    derives: bool = False
    """Whether it says that a statement is proved."""


Group = Callable[[], list[Claim]]
"""Makes a few claims that belong together, when one of them is asked for."""


@dataclass(frozen=True)
class Note:
    """An item of the inventory with nothing of its own to check, and why.

    A `definition` fixes notation; what `restates` says is checked under `of`, a statement's label or a claim's id;
    what `attributes` says is about other work, `of`; `layout` is presentation; an `opinion` has no checkable content.
    """

    item: str
    kind: Literal["definition", "restates", "attributes", "layout", "opinion"]
    says: str
    of: str = ""


@dataclass(frozen=True)
class Control:
    """The negative control of one claim: how many wrong versions of it (mutants) were tried, and which survived."""

    tried: int
    survivors: tuple[str, ...]

    @property
    def passes(self) -> bool:
        return self.tried > 0 and not self.survivors


@dataclass(frozen=True)
class Entry:
    """One row of the ledger."""

    claim: Claim
    as_printed: Evidence
    as_corrected: Evidence | None
    control: Control | None
    remembered: bool = field(default=False, compare=False)
    """Whether the verdict is that of an earlier run."""

    @property
    def decisive(self) -> Evidence:
        """The evidence that settles the row: that of the correction where there is one."""
        return self.as_corrected or self.as_printed

    @property
    def verdict(self) -> str:
        if self.as_printed.verdict.passes:
            return "holds; sharper form available" if self.claim.sharper else str(self.as_printed.verdict)
        if self.as_printed.verdict is Verdict.REFUTED and self.as_corrected and self.as_corrected.verdict.passes:
            return "fails as printed, holds as corrected"
        return str(self.as_printed.verdict)

    @property
    def settled(self) -> bool:
        return self.decisive.verdict.passes and self.as_printed.verdict is not Verdict.UNDECIDED

    @property
    def passes(self) -> bool:
        return self.settled and (self.control is None or self.control.passes)

    @property
    def story(self) -> str:
        """What the evidence says, for printed and corrected form, and what could be sharper."""
        told = [self.as_printed.detail]
        if self.as_corrected:
            where = f" at {self.as_printed.scope}" if self.as_printed.verdict is Verdict.REFUTED else ""
            told = [f"printed: {told[0]}{where}", f"corrected: {self.claim.correction}: {self.as_corrected.detail}"]
        return "; ".join([*told, *([f"sharper: {self.claim.sharper}"] if self.claim.sharper else [])])

    def record(self) -> dict[str, object]:
        """The row as plain data, for JSON."""
        control = self.control
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "label": self.claim.label,
            "claim": self.claim.says,
            "verdict": self.verdict,
            "as_printed": str(self.as_printed.verdict),
            "as_corrected": str(self.as_corrected.verdict) if self.as_corrected else None,
            "method": str(self.decisive.method),
            "scope": self.decisive.scope,
            "evidence": self.story,
            "control": None
            if control is None
            else {"mutants": control.tried, "rejected": control.tried - len(control.survivors)},
            "remembered": self.remembered,
        }


@dataclass(frozen=True)
class Stands(Check):
    """A statement is proved: its theorem, its abbreviations in their ranges, and that it is printed as it is meant."""

    label: str
    theorem: Theorem
    """What it claims; the verdict is remembered only as long as it claims that."""

    def verify(self) -> Evidence:
        found = statement(self.label)
        try:
            rules = found.verify()
            return proved((self.theorem, *found.as_printed), f"{rules} rules")
        except Refused as why:
            return Evidence(Method.THEOREM, Verdict.UNDECIDED, "", str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        return Proved(self.theorem).mutants()

    def formula(self) -> Relational:
        return relation_of(self.theorem)


def theorem_of(found: Statement) -> Claim:
    """A statement, as a claim: that it is proved."""
    check = Stands(found.label, found.theorem)
    return Claim(f"{found.label}/theorem", found.label, found.where, found.says, check, derives=True)


def examine(claim: Claim, *, controls: bool = False) -> Entry:
    """Verify one claim, its correction if it has one, and (on request) its negative control."""
    as_printed = claim.printed.verify()
    as_corrected = claim.corrected.verify() if claim.corrected else None
    control = None
    if controls:
        tried, survivors = surviving_mutants(claim.corrected or claim.printed)
        control = Control(tried, tuple(survivors))
    return Entry(claim, as_printed, as_corrected, control)
