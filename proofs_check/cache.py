"""Verdicts, remembered as long as the claim and all that decided it stay the same; never believed on sight.

A verdict is used again only if the claim has the same content (`content.py`), sources and libraries are the same
(`fingerprint`), its record has the shape we write, and its signature is that of this account (`store.py`).
"""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import flint
import mpmath
import numpy
import sympy
from sympy.external.gmpy import GROUND_TYPES

import hsdp_symbolic
from hsdp_symbolic.proof.checks import Evidence, Method, Verdict

from .claim import Claim, Control, Entry, examine
from .content import key_of
from .store import Store

_PACKAGES = (Path(hsdp_symbolic.__file__).parent, Path(__file__).parent)
_PAUSE = 10.0
"""Seconds between saves: a run that is killed loses no more than this."""
_MOST_MUTANTS = 10**6
"""Far more than any check has: a record that claims more is not ours."""


def fingerprint() -> str:
    """A hash of what decides besides the claim: sources and data of both packages, and what they run on."""
    return hashlib.sha256("\n".join([_sources(), *_versions()]).encode()).hexdigest()


def _sources() -> str:
    """A hash of every file of both packages, by name and content, but for prose (.md): LEDGER.md is our own output."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted(package.rglob("*")):
            name = path.relative_to(package)
            if path.suffix in (".md", ".pyc") or any(part.startswith(".") for part in name.parts) or not path.is_file():
                continue
            content = path.read_bytes()
            digest.update(f"{package.name}/{name.as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


_AS_LOADED = _sources()


def _versions() -> list[str]:
    """What the sources run on, with the integer types that SymPy and mpmath compute with."""
    return [
        f"{sys.implementation.name} {sys.version} optimize={sys.flags.optimize} {platform.machine()}",
        f"sympy {sympy.__version__} {GROUND_TYPES}",
        f"mpmath {mpmath.__version__} {mpmath.libmp.BACKEND}",
        f"python-flint {flint.__version__} FLINT {flint.__FLINT_VERSION__}",
        f"numpy {numpy.__version__}",
    ]


class Memory:
    """What earlier runs decided. Counts what was remembered and what was decided now, and says what was ignored."""

    def __init__(self, *, fresh: bool = False) -> None:
        """A fresh memory reads nothing; what it decides replaces what was stored."""
        self.remembered = self.decided = 0
        self._store = Store(fingerprint(), _has_shape)
        self._known: dict[str, dict[str, Any]] = {} if fresh or _edited() else self._store.read()
        self._saved, self._changed = time.monotonic(), False
        if self._store.damaged:
            _say("the file of remembered verdicts is damaged or not ours: ignored")
        if self._store.rejected:
            _say(f"{_counted(self._store.rejected)} damaged or not ours: ignored")

    def recall(self, claim: Claim) -> Entry | None:
        """The entry for a claim, without its control, if it is remembered."""
        return self._recall(claim, key_of(claim), controls=False)

    def _recall(self, claim: Claim, key: str | None, *, controls: bool) -> Entry | None:
        known = self._known.get(key) if key else None
        if known is None or not _answers(known, claim, controls=controls):
            return None
        self.remembered += 1
        return _restore(claim, known, controls=controls)

    def examine(self, claim: Claim, *, controls: bool) -> Entry:
        """The entry for a claim: remembered, or found now."""
        key = key_of(claim)
        known = self._recall(claim, key, controls=controls)
        if known is not None:
            return known
        entry = examine(claim, controls=controls)
        self.decided += 1
        if key:
            self._known[key] = _plain(entry)
            if claim.derives:
                self._known[_theorem(claim.label)] = {"verdict": str(entry.as_printed.verdict)}
            self._changed = True
            if time.monotonic() - self._saved > _PAUSE:
                self.save()
        return entry

    def theorem(self, label: str) -> str | None:
        """The verdict on a statement's theorem, found without building the statement; None if it is not remembered.

        What a statement claims follows from the sources, and those are in the fingerprint that every record is signed
        with.
        """
        known = self._known.get(_theorem(label))
        return None if known is None else str(known["verdict"])

    def save(self) -> None:
        """Write what is known, unless the sources have been edited since this process loaded them."""
        if self._changed and not _edited():
            self._store.write(self._known)
        self._saved, self._changed = time.monotonic(), False

    def __str__(self) -> str:
        return (
            f"{self.remembered} of {self.remembered + self.decided} verdicts were remembered from earlier runs, "
            f"{self.decided} decided now"
        )

    def say(self) -> None:
        """Tell, on stderr, how many verdicts were remembered, if any."""
        if self.remembered:
            _say(f"{self}; `hsdp verify --fresh` decides all again")


def _theorem(label: str) -> str:
    """The key of the verdict on a statement, by its label; no claim has it, since theirs are hashes."""
    return f"theorem of {label}"


def _edited() -> bool:
    """Whether files have changed since this process loaded them: then they and the running code do not match."""
    return _sources() != _AS_LOADED


def _counted(number: int) -> str:
    return f"{number} remembered verdict{' was' if number == 1 else 's were'}"


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def _answers(known: dict[str, Any], claim: Claim, *, controls: bool) -> bool:
    """Whether a record has a verdict for everything that is asked: printed form, correction, control."""
    same_parts = (known["corrected"] is None) == (claim.corrected is None)
    return same_parts and (known["control"] is not None or not controls)


def _plain(entry: Entry) -> dict[str, Any]:
    control = entry.control
    return {
        "printed": asdict(entry.as_printed),
        "corrected": asdict(entry.as_corrected) if entry.as_corrected else None,
        "control": None if control is None else {"tried": control.tried, "survivors": list(control.survivors)},
    }


def _restore(claim: Claim, known: dict[str, Any], *, controls: bool) -> Entry:
    def evidence(record: dict[str, str]) -> Evidence:
        return Evidence(Method(record["method"]), Verdict(record["verdict"]), record["scope"], record["detail"])

    control = known["control"] if controls else None
    return Entry(
        claim,
        evidence(known["printed"]),
        evidence(known["corrected"]) if known["corrected"] else None,
        Control(control["tried"], tuple(control["survivors"])) if control else None,
        remembered=True,
    )


def _has_shape(record: object) -> bool:
    """Whether `record` is, field by field, what `_plain` makes of an entry, or the verdict on a theorem."""
    if isinstance(record, dict) and set(record) == {"verdict"}:
        return _is_verdict(record["verdict"])
    return (
        isinstance(record, dict)
        and set(record) == {"printed", "corrected", "control"}
        and _is_evidence(record["printed"])
        and (record["corrected"] is None or _is_evidence(record["corrected"]))
        and (record["control"] is None or _is_control(record["control"]))
    )


def _is_verdict(text: object) -> bool:
    return isinstance(text, str) and text in set(Verdict)


def _is_evidence(record: object) -> bool:
    return (
        isinstance(record, dict)
        and set(record) == {"method", "verdict", "scope", "detail"}
        and all(isinstance(value, str) for value in record.values())
        and record["method"] in set(Method)
        and _is_verdict(record["verdict"])
    )


def _is_control(record: object) -> bool:
    return (
        isinstance(record, dict)
        and set(record) == {"tried", "survivors"}
        and type(record["tried"]) is int
        and isinstance(record["survivors"], list)
        and all(isinstance(survivor, str) for survivor in record["survivors"])
        and len(record["survivors"]) <= record["tried"] <= _MOST_MUTANTS
    )
