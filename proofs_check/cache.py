"""Verdicts, remembered as long as the claim and the code that decided it stay the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sympy

import hsdp_symbolic
from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.checks import Evidence, Method, Verdict
from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.files import write_atomically
from hsdp_symbolic.progress import progress
from hsdp_symbolic.statement import Statement

from .ledger import Claim, Control, Entry, examine


class Memory:
    """What earlier runs decided, by content: a claim that reads the same, under the same code, is not decided again."""

    def __init__(self, *, fresh: bool = False) -> None:
        self._place = _folder() / f"ledger-{_fingerprint()}.json"
        self._known: dict[str, dict[str, Any]] = {} if fresh else _read(self._place)
        self._changed = False

    def examine(self, claim: Claim, *, controls: bool) -> Entry:
        """The entry for a claim: remembered, or found now."""
        key = hashlib.sha256(repr(claim).encode()).hexdigest()
        known = self._known.get(key)
        if known is not None and (known["control"] is not None or not controls):
            return _restore(claim, known)
        entry = examine(claim, controls=controls)
        self._known[key] = _plain(entry)
        self._changed = True
        return entry

    def save(self) -> None:
        if self._changed:
            _write(self._place, self._known)


def _plain(entry: Entry) -> dict[str, Any]:
    control = entry.control
    return {
        "printed": asdict(entry.as_printed),
        "corrected": asdict(entry.as_corrected) if entry.as_corrected else None,
        "control": None if control is None else {"tried": control.tried, "survivors": list(control.survivors)},
    }


def _restore(claim: Claim, known: dict[str, Any]) -> Entry:
    def evidence(record: dict[str, str]) -> Evidence:
        return Evidence(Method(record["method"]), Verdict(record["verdict"]), record["scope"], record["detail"])

    control = known["control"]
    return Entry(
        claim,
        evidence(known["printed"]),
        evidence(known["corrected"]) if known["corrected"] else None,
        Control(control["tried"], tuple(control["survivors"])) if control else None,
    )


def derivation_verdicts() -> dict[str, str]:
    """For each label, what its derivation amounts to, e.g. `proved (6 proved, 2 cited)`; computed once per version."""
    place = _folder() / f"verdicts-{_fingerprint()}.json"
    found: dict[str, str] = _read(place)
    if not found:
        found = _compute()
        _write(place, found)
    return found


def _read(place: Path) -> Any:
    """What is stored, or an empty dictionary."""
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _write(place: Path, found: dict[str, Any]) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, json.dumps(found, ensure_ascii=False))
    except (OSError, HsdpError):
        pass  # a cache that cannot be written is no reason to fail


def _compute() -> dict[str, str]:
    found = {}
    everything = statements()
    for number, statement in enumerate(everything, start=1):
        progress(number, len(everything), statement.label)
        found[statement.label] = _verdict(statement)
    progress(0, 0, "")
    return found


def _verdict(statement: Statement) -> str:
    verdicts = Counter(step.check.verify().verdict for step in statement.steps)
    failing = [verdict for verdict in verdicts if not verdict.passes]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    return f"{failing[0] if failing else 'proved'} ({counts})"


def _fingerprint() -> str:
    """A hash of the sources that decide, and of the algebra system they lean on."""
    digest = hashlib.sha256(sympy.__version__.encode())
    for path in (*sorted(Path(hsdp_symbolic.__file__).parent.rglob("*.py")), Path(__file__).with_name("ledger.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hsdp"
