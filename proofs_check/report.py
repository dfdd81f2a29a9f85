"""`hsdp verify`: run the ledger, show progress, print the table of verdicts."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter

from hsdp_symbolic.files import require_writable, write_atomically
from hsdp_symbolic.progress import progress

from .ledger import Entry, claims, examine


def verify(label: str | None = None, *, controls: bool = False, json_target: str | None = None) -> int:
    """Examine every claim (or one statement's); 0 if all are settled and every mutant is rejected, else 1."""
    started = time.monotonic()
    if json_target not in (None, "-"):
        require_writable(json_target)
    todo = list(claims(label))
    entries = []
    for number, claim in enumerate(todo, start=1):
        progress(number, len(todo), claim.id)
        entries.append(examine(claim, controls=controls))
    progress(0, 0, "")
    if json_target is not None:
        text = json.dumps([entry.record() for entry in entries], ensure_ascii=False, indent=2) + "\n"
        if json_target == "-":
            sys.stdout.write(text)
        else:
            write_atomically(json_target, text)
    if json_target != "-":
        _table(entries)
        _summary(entries, time.monotonic() - started)
    return 0 if entries and all(entry.passes for entry in entries) else 1


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


def _summary(entries: list[Entry], seconds: float) -> None:
    verdicts = Counter(entry.verdict for entry in entries)
    print(
        f"\n{len(entries)} claims in {seconds:.0f} s: "
        + ", ".join(f"{count} {name}" for name, count in verdicts.items())
    )
    if any(entry.control for entry in entries):
        tried = sum(entry.control.tried for entry in entries if entry.control)
        survived = sum(len(entry.control.survivors) for entry in entries if entry.control)
        print(f"negative controls: {tried - survived} of {tried} mutants rejected")
    bad = [entry.claim.id for entry in entries if not entry.passes]
    print(f"NOT settled: {', '.join(bad)}" if bad or not entries else "all settled")
