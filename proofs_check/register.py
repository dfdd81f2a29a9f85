"""The register: which claims and notes each part of `proofs_check.claims` makes, so that one is built without the rest.

`python -m proofs_check.register` writes `register.json` from the claims themselves, and a test compares the two.
What it says of a part is used only as long as the part's source, the catalogue's labels and the names of lemmas are
what it was written for; a part that has changed since is built whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hsdp_symbolic.catalogue import labels
from hsdp_symbolic.lemmas import LEMMAS

from .claim import Claim, Group, Note

REGISTER = Path(__file__).with_name("register.json")
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
    "lemmas",
    "simulation",
)
"""Modules of `proofs_check.claims`: what the paper says beyond its statements, item by item, and what we rely on."""


@dataclass(frozen=True)
class Row:
    """What a claim can be found by: its name, the statement it is about, and its items of the inventory."""

    id: str
    label: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class RegisteredPart:
    """The rows of each group of claims of a part, and the items its notes are about."""

    groups: tuple[tuple[Row, ...], ...]
    noted: tuple[str, ...]


def all_claims() -> Iterator[Claim]:
    """The claims of all parts, in the paper's order; the register is not asked."""
    for part in PARTS:
        for group in _groups(part):
            yield from group()


def claims_where(wanted: Callable[[Row], bool]) -> Iterator[Claim]:
    """The claims of all parts that are wanted, in the paper's order; only groups that have some are built."""
    for part in PARTS:
        known = _recorded(part)
        if known is not None and not any(wanted(row) for rows in known.groups for row in rows):
            continue
        for number, group in enumerate(_groups(part)):
            if known is None or any(map(wanted, known.groups[number])):
                yield from (claim for claim in group() if wanted(_row(claim)))


def notes_where(wanted: Callable[[str], bool]) -> Iterator[Note]:
    """The notes on items that are wanted, in the paper's order."""
    for part in PARTS:
        known = _recorded(part)
        if known is None or any(map(wanted, known.noted)):
            yield from (note for note in _notes(part) if wanted(note.item))


def parts_of_claims() -> dict[str, str]:
    """The part each claim is made in, by the claim's name, in the paper's order."""
    return {row.id: part for part in PARTS for rows in (_recorded(part) or _built(part)).groups for row in rows}


def _groups(part: str) -> tuple[Group, ...]:
    found: tuple[Group, ...] = import_module(f".claims.{part}", __package__).groups()
    return found


def _notes(part: str) -> list[Note]:
    found: list[Note] = getattr(import_module(f".claims.{part}", __package__), "notes", list)()
    return found


def _row(claim: Claim) -> Row:
    return Row(claim.id, claim.label, claim.items)


def _built(part: str) -> RegisteredPart:
    """What a part makes, found by building all of it."""
    rows = tuple(tuple(map(_row, group())) for group in _groups(part))
    return RegisteredPart(rows, tuple(note.item for note in _notes(part)))


@cache
def _read() -> dict[str, Any]:
    try:
        found = json.loads(REGISTER.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@cache
def _recorded(part: str) -> RegisteredPart | None:
    """What the register says of a part; None if it says nothing, or was written for another source of it."""
    record = _read().get(part)
    if record is None or record["source"] != _source(part):
        return None
    groups = tuple(tuple(Row(name, label, tuple(items)) for name, label, items in rows) for rows in record["groups"])
    return RegisteredPart(groups, tuple(record["noted"]))


def _source(part: str) -> str:
    """A hash of what a part's claims are written in, and of the labels and lemmas some of them are made for."""
    text = Path(__file__).with_name("claims").joinpath(f"{part}.py").read_text(encoding="utf-8")
    return hashlib.sha256("\n".join([text, *labels(), *(lemma.name for lemma in LEMMAS)]).encode()).hexdigest()[:32]


def written() -> str:
    """The register as it should be: all claims built now."""
    parts = {}
    for part in PARTS:
        found = _built(part)
        groups = [[[row.id, row.label, list(row.items)] for row in rows] for rows in found.groups]
        parts[part] = {"source": _source(part), "groups": groups, "noted": list(found.noted)}
    return "\n".join(_lines(parts)) + "\n"


def _lines(parts: dict[str, dict[str, Any]]) -> Iterator[str]:
    """JSON with a line for each claim, so that a change of one is a change of one line."""
    yield "{"
    for number, (part, record) in enumerate(parts.items(), start=1):
        yield f' {json.dumps(part)}: {{"source": {json.dumps(record["source"])}, "groups": ['
        for place, rows in enumerate(record["groups"], start=1):
            told = ",\n   ".join(json.dumps(row, ensure_ascii=False) for row in rows)
            yield f"  [{told}]" + ("," if place < len(record["groups"]) else "")
        yield f' ], "noted": {json.dumps(record["noted"])}}}' + ("," if number < len(parts) else "")
    yield "}"


if __name__ == "__main__":
    from hsdp_symbolic.files import write_atomically

    write_atomically(REGISTER, written())
