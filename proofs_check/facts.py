"""The facts that proofs rest on, each as a claim: cited, with its reference and what its witness says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy.core.relational import Relational

from hsdp_symbolic.proof.checks import undecided
from hsdp_symbolic.proof.evidence import Check, Evidence, Method, Verdict
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.kernel import Fact
from hsdp_symbolic.proof.tree import relation_in
from hsdp_symbolic.proof.witnesses import load, mutants

from .claim import Claim


@dataclass(frozen=True)
class Stated(Check):
    """A fact from the literature, as it is stated; its witness tries it in cases that can be computed."""

    fact: Fact

    def verify(self) -> Evidence:
        witness = load().get(self.fact.name)
        if witness is None:
            return undecided("there is no case in which it was tried")
        tried = list(witness(self.fact))
        if not tried or not all(tried):
            seen = f"{len(tried) - sum(tried)} of {len(tried)} cases"
            return Evidence(Method.POINTS, Verdict.REFUTED, "cases of its witness", f"it fails in {seen}")
        said = f"{self.fact.reference}; true in the {len(tried)} case{'s' if len(tried) > 1 else ''} tried"
        return Evidence(Method.CITED, Verdict.CITED, "as cited", said)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        for number, mutant in enumerate(mutants(self.fact), start=1):
            yield f"claims too much ({number}): {mutant.conclusion}", Stated(mutant)

    def formula(self) -> Relational:
        return relation_in(self.fact.conclusion)


def fact_claims() -> Iterator[Claim]:
    """One for every fact that has a reference; definitions are no claims."""
    for name, fact in all_facts().items():
        if not fact.is_definition:
            yield Claim(f"fact:{name}", "", fact.reference, str(fact), Stated(fact))
