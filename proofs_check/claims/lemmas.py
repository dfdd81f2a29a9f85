"""Theorems that are no statements and that something relies on (`hsdp_symbolic.lemmas`), each as a claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sympy.core.relational import Relational

from hsdp_symbolic.lemmas import LEMMAS, Lemma
from hsdp_symbolic.proof.checks import undecided
from hsdp_symbolic.proof.controls import Proved
from hsdp_symbolic.proof.evidence import Check, Evidence
from hsdp_symbolic.proof.kernel import Refused

from ..claim import Claim, Group


@dataclass(frozen=True)
class Relied(Check):
    """A theorem that is proved when somebody looks: its verdict is remembered as long as no source changes."""

    lemma: Lemma

    def verify(self) -> Evidence:
        try:
            return self._proved().verify()
        except Refused as why:
            return undecided(str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        return self._proved().mutants()

    def formula(self) -> Relational:
        return self._proved().formula()

    def _proved(self) -> Proved:
        return Proved(self.lemma.theorem())


def groups() -> tuple[Group, ...]:
    return tuple(partial(_about, label) for label in dict.fromkeys(lemma.label for lemma in LEMMAS))


def _about(label: str) -> list[Claim]:
    return [
        Claim(lemma.name, label, f"relied on by: {lemma.relied_on_by}", lemma.says, Relied(lemma))
        for lemma in LEMMAS
        if lemma.label == label
    ]
