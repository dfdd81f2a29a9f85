"""A claim that says what a statement says: it points to the statement's theorem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sympy import Expr
from sympy.core.relational import Relational

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.proof.checks import Check, Evidence, equality, proved, undecided
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.kernel import Refused, Theorem
from hsdp_symbolic.proof.mutants import mutations


@dataclass(frozen=True)
class Quotes(Check):
    """The statement with this label, its value written as `printed` if that is given.

    Proved by the statement's own theorem, and by the equality of its value with `printed` wherever `where` holds.
    """

    label: str
    printed: Expr | None = None
    where: tuple[Relational, ...] = ()
    by: tuple[Theorem, ...] = ()

    @property
    def theorem(self) -> Theorem:
        return statement(self.label).theorem

    def verify(self) -> Evidence:
        value = statement(self.label).expr
        try:
            theorems = [self.theorem]
            if self.printed is not None and self.printed != value:
                theorems.append(equality(value, self.printed, self.where, self.by))
            found = proved(theorems)
        except Refused as why:
            return undecided(str(why))
        return replace(found, detail=f"{self.label}: {found.detail}")

    def mutants(self) -> Iterator[tuple[str, Check]]:
        if self.printed is None:
            yield from Proved(self.theorem).mutants()
        else:
            yield "off by one", replace(self, printed=self.printed + 1)
            for what, printed in mutations(self.printed):
                yield what, replace(self, printed=printed)

    def formula(self) -> Relational:
        found = Proved(self.theorem).formula()
        return found if self.printed is None else found.func(found.lhs, self.printed, evaluate=False)
