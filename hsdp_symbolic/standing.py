"""Which statements' proofs stand: those recorded as verified in exactly this form, and those verified here and now.

`standing.json` holds, for each label, a digest of what the statement claims: expression, hypotheses, terms. It is
written by `python -m hsdp_symbolic.standing` after every derivation has been verified, and a test does that again. A
statement that claims something else is verified before it is used, and refused if its proof does not hold.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from .errors import HsdpError
from .progress import Ticker
from .statement import Statement

RECORD = Path(__file__).with_name("standing.json")


class ProofFails(HsdpError):
    """A statement was asked for whose derivation does not hold."""

    def __init__(self, label: str, step: int, verdict: str) -> None:
        super().__init__(
            f"{label}: step {step} of its derivation is {verdict}, so it is not used; see `hsdp verify {label}`"
        )


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
        *found.uses,
    ]
    return hashlib.sha256("\n".join(claim).encode()).hexdigest()[:32]


@cache
def recorded() -> dict[str, str]:
    """Label → digest of every statement that was verified when this version was made."""
    try:
        found: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # then every statement is verified when it is first used
    return found if isinstance(found, dict) else {}


def require_standing(found: Statement) -> Statement:
    """`found`, if its proof stands: recorded as verified, or verified now together with what it rests on."""
    if recorded().get(found.label) != digest(found):
        _verify(found)
    return found


def _verify(found: Statement) -> None:
    from .catalogue import statement

    for used in found.uses:
        require_standing(statement(used))
    _verify_steps(found)


def _verify_steps(found: Statement) -> None:
    ticker = Ticker()
    for number, step in enumerate(found.steps, start=1):
        ticker.say(f"verifying {found.label}, step {number}")
        verdict = step.check.verify().verdict
        if not verdict.passes:
            ticker.clear()
            raise ProofFails(found.label, number, str(verdict))
    ticker.clear()


def verified() -> dict[str, str]:
    """Label → digest of every statement in the catalogue, all of them verified now."""
    from .catalogue import statements

    for found in statements():
        _verify_steps(found)
    return {found.label: digest(found) for found in statements()}


if __name__ == "__main__":
    from .files import write_atomically

    write_atomically(RECORD, json.dumps(verified(), indent=1) + "\n")
