"""Which statements have a proof that stands: one recorded as verified for exactly what the statement claims.

`standing.json` holds, for each label, a digest of the claim: expression, hypotheses, terms, what it assumes and what it
is printed with. It also holds the kind of statement, its title and the like, so that one can choose among statements
without deriving them all. `python -m hsdp_symbolic.standing` verifies every derivation and writes the file; a test
compares it with a new verification. A statement that claims anything other than what was verified is refused. Another
version of SymPy may write the same expression differently: then, and only then, its derivation is verified on the spot.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from .catalogue import statement, statements
from .errors import HsdpError
from .files import write_atomically
from .progress import Ticker
from .statement import Statement

RECORD = Path(__file__).with_name("standing.json")


class ProofFails(HsdpError):
    """A statement is not used, because its proof is not known to stand."""

    def __init__(self, label: str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{label} is not used: {problem}; {remedy or f'see `hsdp verify {label}`'}")


def digest(found: Statement) -> str:
    """A fingerprint of what a statement claims."""
    from sympy import srepr

    claim = [
        found.label,
        found.kind,
        found.relation,
        found.scheme.value,
        found.quantity.value,
        repr(found.terms),
        srepr(found.expr),
        *map(srepr, found.hypotheses),
        *(f"{name}: {srepr(beside)}" for name, beside in found.also),
        *found.assumes,
        *found.uses,
    ]
    return hashlib.sha256("\n".join(claim).encode()).hexdigest()[:32]


def _describe(found: Statement) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "title": found.title,
        "where": found.where,
        "says": found.says,
        "needs": list(found.needs),
        "released": found.released,
    }


def described(label: str) -> dict[str, Any]:
    """What the record says of a statement, without deriving it: kind, title, where, says, needs and released.

    >>> described("thm:convexsmooth")["kind"]
    'theorem'
    """
    found: dict[str, Any] = record()["statements"].get(label) or _describe(statement(label))
    return found


@cache
def record() -> dict[str, Any]:
    """What was verified when this version was made: with which SymPy, and for each label a digest and a description."""
    try:
        found = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), dict) for key in ("digests", "statements")):
        raise ProofFails("every statement", f"{RECORD.name}, the record of what was verified, is missing or damaged")
    return found


def require_standing(found: Statement) -> Statement:
    """`found`, if its proof stands; `ProofFails` if it claims anything other than what was verified."""
    import sympy

    if record()["digests"].get(found.label) == digest(found):
        return found
    if record().get("sympy") == sympy.__version__:
        known = found.label in record()["digests"]
        problem = "it claims something other than what was verified" if known else "nobody recorded it as verified"
        raise ProofFails(found.label, problem, "`python -m hsdp_symbolic.standing` verifies and records all statements")
    verify(found)
    return found


def verify(found: Statement) -> None:
    """Verify a derivation; `ProofFails` unless every step of it holds."""
    ticker = Ticker()
    if not len(found.steps):
        raise ProofFails(found.label, "it has no derivation")
    for number, step in enumerate(found.steps, start=1):
        ticker.say(f"verifying {found.label}, step {number}")
        verdict = step.check.verify().verdict
        if not verdict.passes:
            ticker.clear()
            raise ProofFails(found.label, f"step {number} of its derivation is {verdict}")
    ticker.clear()


def verified() -> dict[str, Any]:
    """The record as it should be: every statement of the catalogue, all of them verified now."""
    import sympy

    everything = statements()
    for found in everything:
        verify(found)
    return {
        "sympy": sympy.__version__,
        "digests": {found.label: digest(found) for found in everything},
        "statements": {found.label: _describe(found) for found in everything},
    }


def main() -> int:
    """Verify every statement and write the record; say what changed, or what fails."""
    before = json.loads(RECORD.read_text(encoding="utf-8"))["digests"] if RECORD.exists() else {}
    try:
        found = verified()
    except ProofFails as failure:
        print(failure, file=sys.stderr)
        return 1
    write_atomically(RECORD, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    changed = [label for label, each in found["digests"].items() if before.get(label) != each]
    print(f"{len(found['digests'])} statements verified and recorded; new or changed: {', '.join(changed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
