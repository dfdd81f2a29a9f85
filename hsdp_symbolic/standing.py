"""Which statements' proofs stand: those recorded as verified in exactly this form.

`standing.json` holds, for each label, a digest of what the statement claims: expression, hypotheses, terms, what it
assumes and what stands beside it. `python -m hsdp_symbolic.standing` writes it, after every derivation has been
verified, and a test does that again. A statement that claims something else than what was verified is refused. Another
version of SymPy may write the same expression in another way: then, and only then, its derivation is verified anew.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from .errors import HsdpError
from .progress import Ticker
from .statement import Statement

RECORD = Path(__file__).with_name("standing.json")


class ProofFails(HsdpError):
    """A statement is not used, because its proof is not known to stand."""

    def __init__(self, label: str, problem: str) -> None:
        super().__init__(f"{label} is not used: {problem}; see `hsdp verify {label}`")


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


@cache
def record() -> dict[str, Any]:
    """What was verified when this version was made: the version of SymPy, and a digest for each label."""
    try:
        found = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("digests"), dict):
        raise ProofFails("every statement", f"{RECORD.name}, the record of what was verified, is missing or damaged")
    return found


def require_standing(found: Statement) -> Statement:
    """`found`, if its proof stands; `ProofFails` if it claims something else than what was verified."""
    import sympy

    if record()["digests"].get(found.label) == digest(found):
        return found
    if record().get("sympy") == sympy.__version__:
        raise ProofFails(found.label, "it does not claim what was verified")
    verify(found)
    return found


def verify(found: Statement) -> None:
    """Verify a derivation, and `ProofFails` unless every step of it holds."""
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

    from .catalogue import statements

    for found in statements():
        verify(found)
    return {"sympy": sympy.__version__, "digests": {found.label: digest(found) for found in statements()}}


if __name__ == "__main__":
    from .files import write_atomically

    write_atomically(RECORD, json.dumps(verified(), indent=1) + "\n")
