"""`hsdp verify`: decide every claim of the ledger, show progress, print the table of verdicts."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter

from hsdp_symbolic.files import require_writable, write_atomically
from hsdp_symbolic.progress import progress

from .cache import Memory
from .claim import Entry
from .inventory import stored
from .ledger import claims, notes


def examine_all() -> list[Entry]:
    """An entry for every claim, in order; says on stderr how many verdicts are remembered, if any."""
    memory = Memory()
    entries = _examine(memory, None, controls=False)
    memory.say()
    return entries


def _examine(memory: Memory, label: str | None, *, controls: bool) -> list[Entry]:
    """An entry for every claim (or one statement's), in order, with progress; what is known is not decided again."""
    entries = []
    todo = list(claims(label))
    try:
        for number, claim in enumerate(todo, start=1):
            progress(number, len(todo), claim.id)
            entries.append(memory.examine(claim, controls=controls))
    finally:
        memory.save()
        progress(0, 0, "")
    return entries


def verify(
    label: str | None = None, *, controls: bool = False, fresh: bool = False, json_target: str | None = None
) -> tuple[int, list[Entry]]:
    """Examine every claim (or one statement's): 0 if all are settled and all mutants rejected, else 1; and the entries.

    What is printed says how many verdicts were remembered; in JSON, each row says so of its own.
    """
    started = time.monotonic()
    if json_target not in (None, "-"):
        require_writable(json_target)
    memory = Memory(fresh=fresh)
    entries = _examine(memory, label, controls=controls)
    if json_target is not None:
        text = json.dumps([entry.record() for entry in entries], ensure_ascii=False, indent=2) + "\n"
        if json_target == "-":
            sys.stdout.write(text)
        else:
            write_atomically(json_target, text)
    if json_target == "-":
        memory.say()
    else:
        _table(entries)
        _summary(entries, memory, time.monotonic() - started)
        if label is None:
            _coverage(entries)
    return 0 if entries and all(entry.passes for entry in entries) else 1, entries


def _table(entries: list[Entry]) -> None:
    width = max(60, min(shutil.get_terminal_size((140, 24)).columns, 200))
    columns = max((len(entry.claim.id) for entry in entries), default=0)
    for entry in entries:
        mark = "ok " if entry.passes else "BAD"
        verdict = entry.as_printed.verdict
        line = f"{mark} {verdict:9} {entry.decisive.method:11} {entry.claim.id:{columns}}  {entry.claim.says}"
        print(line if len(line) <= width else line[: width - 1] + "…")
        if entry.verdict != verdict:
            print(f"      {entry.verdict}: {entry.story}")
        for survivor in entry.control.survivors if entry.control else ():
            print(f"      mutant not rejected: {survivor}")


def _summary(entries: list[Entry], memory: Memory, seconds: float) -> None:
    verdicts = Counter(entry.verdict for entry in entries)
    print(
        f"\n{len(entries)} claims in {seconds:.0f} s: "
        + ", ".join(f"{count} {name}" for name, count in verdicts.items())
    )
    print(memory)
    methods = Counter(str(entry.decisive.method) for entry in entries)
    print("by method: " + ", ".join(f"{count / len(entries):.0%} {name}" for name, count in methods.most_common()))
    if any(entry.control for entry in entries):
        tried = sum(entry.control.tried for entry in entries if entry.control)
        survived = sum(len(entry.control.survivors) for entry in entries if entry.control)
        print(f"negative controls: {tried - survived} of {tried} mutants rejected")
    bad = [entry.claim.id for entry in entries if not entry.passes]
    print(f"NOT settled: {', '.join(bad)}" if bad or not entries else "all settled")


def _coverage(entries: list[Entry]) -> None:
    items = {item.id for item in stored()}
    covered = {item for entry in entries for item in entry.claim.items} | {note.item for note in notes()}
    print(f"inventory of the paper: {len(items & covered)} of {len(items)} items have a verdict")
