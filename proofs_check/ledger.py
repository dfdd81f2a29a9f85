"""The ledger: every claim and every note, gathered from proofs, facts and `proofs_check.claims`, in order."""

from __future__ import annotations

from collections.abc import Iterator

from hsdp_symbolic.catalogue import labels, statement, statements

from .claim import Claim, Note, theorem_of
from .facts import fact_claims
from .inventory import stored
from .register import all_claims, claims_where, notes_where


def claims(label: str | None = None) -> Iterator[Claim]:
    """All claims in the paper's order, or those about one statement: its derivation, then the text around it."""
    if label is None:
        for found in statements():
            yield theorem_of(found)
        yield from fact_claims()
        yield from all_claims()
    else:
        chosen = statement(label)
        yield theorem_of(chosen)
        yield from claims_where(lambda row: row.label == chosen.label)


def claim_named(name: str) -> Claim | None:
    """The claim that has this name, built without the others; None if there is none."""
    if name.startswith("fact:"):
        return next((claim for claim in fact_claims() if claim.id == name), None)
    label = name.rpartition("/")[0]
    derived = [theorem_of(statement(label))] if label in labels() else []
    found = [claim for claim in derived if claim.id == name] or list(claims_where(lambda row: row.id == name))
    return found[0] if found else None


def notes() -> Iterator[Note]:
    """Items that need no check of their own."""
    return notes_where(lambda item: True)


def about(item: str) -> list[Claim | Note]:
    """The claims and notes about one item of the inventory."""
    return [*claims_where(lambda row: item in row.items), *notes_where(lambda noted: noted == item)]


def coverage() -> dict[str, list[Claim | Note]]:
    """For every item of the inventory, the claims and notes about it (an empty list: not covered yet)."""
    found: dict[str, list[Claim | Note]] = {item.id: [] for item in stored()}
    for claim in all_claims():
        for item in claim.items:
            found[item].append(claim)
    for note in notes():
        found[note.item].append(note)
    return found
