"""`Derivation`: collects the steps by which a statement is arrived at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from sympy import Expr, Symbol

from .. import symbols
from ..display import undisplay
from .checks import Certificate, Check, Cited, Identity, Slack


@dataclass(frozen=True)
class Step:
    """One line of a derivation: what it says, and the check that stands behind it."""

    says: str
    check: Check
    name: str = ""
    """For a step that others refer to."""


class Steps(Sequence[Step]):
    """The steps in order, each written when it is asked for: a value does not need its proof."""

    def __init__(self) -> None:
        self._parts: list[Callable[[], Iterable[Step]]] = []
        self._written: list[Step] = []

    def add(self, part: Callable[[], Iterable[Step]]) -> None:
        self._parts.append(part)

    def _all(self) -> list[Step]:
        while self._parts:
            self._written.extend(self._parts[0]())  # before it is removed: if it fails, it is still there
            del self._parts[0]
        return self._written

    @overload
    def __getitem__(self, place: int) -> Step: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...

    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        return self._all()[place]

    def __iter__(self) -> Iterator[Step]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class Derivation:
    """Collects the steps of a derivation; each method records one step and returns what it established.

    >>> from hsdp_symbolic.symbols import q
    >>> d = Derivation()
    >>> d.identity("The square, expanded.", (1 - q) ** 2, 1 - 2 * q + q**2)
    q**2 - 2*q + 1
    >>> print(d.steps[0].check.verify().verdict)
    proved
    """

    def __init__(self) -> None:
        self.steps = Steps()

    def check(self, says: str, check: Check, name: str = "") -> None:
        """A step with any check behind it."""
        self.steps.add(lambda: [Step(says, check, name)])

    def later(self, write: Callable[..., object], *arguments: Any) -> None:
        """The steps that `write(derivation, *arguments)` records at this place, written when they are asked for.

        For steps whose results are not needed to write the expression down.
        """

        def steps() -> Iterable[Step]:
            here = Derivation()
            write(here, *arguments)
            return here.steps

        self.steps.add(steps)

    def identity(self, says: str, lhs: Expr, rhs: Expr, name: str = "") -> Expr:
        """lhs = rhs for all values of the symbols."""
        self.check(says, Identity(lhs, rhs), name)
        return rhs

    def at_most(
        self,
        says: str,
        lhs: Expr,
        rhs: Expr,
        terms: Iterable[tuple[Expr, Slack]],
        domain: Mapping[Symbol, Expr] | None = None,
        name: str = "",
    ) -> Expr:
        """lhs ≤ rhs, because rhs − lhs is the sum of multiplier·slack over `terms` (`checks.Certificate`)."""
        self.check(says, Certificate(lhs, rhs, tuple(terms), domain or {}), name)
        return rhs

    def cite(self, says: str, reference: str, witness: Check) -> None:
        """A fact from the literature, and a case of it that can be checked."""
        self.check(says, Cited(reference, witness))

    def printed(self, derived: Expr, shown: Expr, **first_epoch: Any) -> Expr:
        """The last step of a derivation: what was derived is what the paper prints. Returns the display tree."""
        self.later(_as_printed, derived, shown, first_epoch)
        return shown


def _as_printed(d: Derivation, derived: Expr, shown: Expr, first_epoch: Mapping[str, Any]) -> None:
    spelled = {letter: symbols.ABBREVIATIONS[letter] for letter in symbols.COSTS}
    meant = undisplay(shown, **first_epoch)
    lhs, rhs = (side.subs(spelled).subs(spelled) for side in (derived, meant))
    for case in (0, 1) if derived.has(symbols.hit) else (None,):
        sides = [side if case is None else side.subs(symbols.hit, case) for side in (lhs, rhs)]
        suffix = "" if case is None else f" (hit = {case})"
        d.identity(f"This is the expression as it is printed{suffix}.", *sides)
