"""`Derivation`: collects the steps by which a statement is arrived at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Symbol

from . import symbols
from .checks import Certificate, Check, Cited, Identity, Slack
from .nodes import undisplay


@dataclass(frozen=True)
class Step:
    """One line of a derivation: what it says, and the check that stands behind it."""

    says: str
    check: Check


class Derivation:
    """Collects the steps of a derivation; each method records one step and returns what it established."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def check(self, says: str, check: Check) -> None:
        self.steps.append(Step(says, check))

    def identity(self, says: str, lhs: Expr, rhs: Expr) -> Expr:
        self.check(says, Identity(lhs, rhs))
        return rhs

    def at_most(
        self,
        says: str,
        lhs: Expr,
        rhs: Expr,
        terms: Iterable[tuple[Expr, Slack]],
        domain: Mapping[Symbol, Expr] | None = None,
    ) -> Expr:
        self.check(says, Certificate(lhs, rhs, tuple(terms), domain or {}))
        return rhs

    def cite(self, says: str, reference: str, witness: Check) -> None:
        self.check(says, Cited(reference, witness))

    def printed(self, derived: Expr, shown: Expr, **first_epoch: Any) -> Expr:
        """The last step of a derivation: what was derived is what the paper prints. Returns the display tree."""
        spelled = {letter: symbols.ABBREVIATIONS[letter] for letter in symbols.COSTS}
        meant = undisplay(shown, **first_epoch)
        lhs, rhs = (side.subs(spelled).subs(spelled) for side in (derived, meant))
        for case in (0, 1) if derived.has(symbols.hit) else (None,):
            sides = [side if case is None else side.subs(symbols.hit, case) for side in (lhs, rhs)]
            suffix = "" if case is None else f" (hit = {case})"
            self.identity(f"This is the expression as it is printed{suffix}.", *sides)
        return shown
