"""Verdicts of derivations, remembered as long as the code that produced them stays the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path

import sympy

import hsdp_symbolic
from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.files import write_atomically
from hsdp_symbolic.progress import progress
from hsdp_symbolic.statement import Statement


def derivation_verdicts() -> dict[str, str]:
    """For each label, what its derivation amounts to, e.g. `proved (6 proved, 2 cited)`; computed once per version."""
    place = _folder() / f"verdicts-{_fingerprint()}.json"
    try:
        found: dict[str, str] = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = _compute()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, json.dumps(found, ensure_ascii=False))
        except (OSError, HsdpError):
            pass  # a cache that cannot be written is no reason to fail
    return found


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
    """A hash of the sources, and of the algebra system they lean on."""
    digest = hashlib.sha256(sympy.__version__.encode())
    for path in sorted(Path(hsdp_symbolic.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hsdp"
