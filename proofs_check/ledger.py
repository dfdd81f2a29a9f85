"""The ledger: every claim and every note, gathered from the derivations and from `proofs_check.claims`, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from hsdp_symbolic.catalogue import statement, statements

from .claim import Claim, Note, steps
from .inventory import stored

PARTS = (
    "figures",
    "main_text",
    "logistic_appendix",
    "postprocessing",
    "postprocessing_appendix",
    "fixed_order",
    "fixed_order_appendix",
    "shuffle",
    "sampling",
    "logistic",
    "gradient_descent",
    "descent_and_sampling_appendix",
    "comparisons",
    "sharper",
    "simulation",
)
"""Modules of `proofs_check.claims`: what the paper says beyond its statements, item by item."""


def claims(label: str | None = None) -> Iterator[Claim]:
    """All claims in the paper's order, or those about one statement: its derivation, then the text around it."""
    chosen = statements() if label is None else (statement(label),)
    for found in chosen:
        yield from steps(found)
    wanted = {found.label for found in chosen}
    for part in PARTS:
        text_claims: Callable[[], list[Claim]] = import_module(f".claims.{part}", __package__).claims
        yield from (claim for claim in text_claims() if label is None or claim.label in wanted)


def notes() -> Iterator[Note]:
    """Items that need no check of their own."""
    for part in PARTS:
        yield from getattr(import_module(f".claims.{part}", __package__), "notes", list)()


def coverage() -> dict[str, list[Claim | Note]]:
    """For every item of the inventory, the claims and notes about it (an empty list: not covered yet)."""
    found: dict[str, list[Claim | Note]] = {item.id: [] for item in stored()}
    for claim in claims():
        for item in claim.items:
            found[item].append(claim)
    for note in notes():
        found[note.item].append(note)
    return found
