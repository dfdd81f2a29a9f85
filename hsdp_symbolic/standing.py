"""Which statements have a proof that stands: one recorded as verified for exactly what the statement claims.

`standing.json` holds, for each label, a digest of the claim: the theorem's proposition and hypotheses, and what it is
printed with. It also holds kind, title and the like, and what the proof rests on with its outline, so that one can
choose among statements, and read what a number rests on, without proving them all.
`python -m hsdp_symbolic.standing` proves every statement and writes the file; a test compares it with new proofs. A
statement that claims anything other than what was proved is refused. Another version of SymPy may write the same
expression differently: then, and only then, it is proved on the spot.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from .catalogue import statement, statements
from .errors import HsdpError
from .files import write_atomically
from .progress import Ticker
from .proof.facts import all_facts
from .proof.kernel import Fact, Refused
from .statement import Statement

RECORD = Path(__file__).with_name("standing.json")


class ProofFails(HsdpError):
    """A statement is not used, because its proof is not known to stand."""

    def __init__(self, label: str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{label} is not used: {problem}; {remedy or f'see `hsdp verify {label}`'}")


def digest(found: Statement) -> str:
    """A fingerprint of what a statement claims: its theorem, and what it is printed with."""
    from sympy import srepr

    from .proof.propositions import content

    claim = [
        found.label,
        found.kind,
        found.relation,
        found.scheme.value,
        str(found.quantity),
        content(found.theorem.proposition),
        *map(content, found.theorem.hypotheses),
        *(content(each.proposition) for each in found.beside),
        *map(srepr, found.hypotheses),
        *(found.title, found.where, found.says, found.bounds, srepr(found.shown)),
        *(f"{srepr(name)}: {srepr(meaning)}" for name, meaning in found.names),
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


def _proved(found: Statement) -> dict[str, Any]:
    """What a statement's proof rests on, and its outline; the proof is written for it."""
    from .proof.about import unneeded
    from .proof.kernel import rests_on
    from .proof.propositions import Abbreviation, Proposition

    def words(propositions: Iterable[Proposition]) -> list[str]:
        return [str(each) for each in propositions if not isinstance(each, Abbreviation)]

    used = frozenset[Fact]().union(*map(rests_on, (found.theorem, *found.beside)))
    facts = sorted(used, key=lambda fact: fact.name)
    return {
        "facts": [fact.name for fact in facts if not fact.is_definition],
        "definitions": [fact.name for fact in facts if fact.is_definition],
        "hypotheses": words(found.theorem.hypotheses),
        "not needed": words(unneeded(found.theorem)),
        "proof": [
            {"name": line.name, "says": str(line.theorem.proposition), "support": line.support} for line in found.proof
        ],
    }


def described(label: str) -> dict[str, Any]:
    """What the record says of a statement, without deriving it: kind, title, where, says, needs and released.

    >>> described("thm:convexsmooth")["kind"]
    'theorem'
    """
    found: dict[str, Any] = record()["statements"].get(label) or _describe(statement(label))
    return found


def _fact(fact: Fact) -> str:
    """A fingerprint of what a fact says."""
    from .proof.propositions import content

    said = [fact.name, fact.reference, *map(content, (*fact.premises, fact.conclusion, *fact.under, *fact.under_each))]
    return hashlib.sha256("\n".join([*said, str(fact.eigen)]).encode()).hexdigest()[:16]


def proof_record(label: str, *, fresh: bool = False) -> dict[str, Any]:
    """What a statement's proof rests on (facts, definitions, hypotheses) and its outline.

    From the record, if the statement claims what was verified then; derived anew if not, or if `fresh`.
    """
    found = statement(label)
    if not fresh and record()["digests"].get(label) == digest(found):
        known: dict[str, Any] = record()["proofs"][label]
        return known
    verify(found)
    return _proved(found)


@cache
def record() -> dict[str, Any]:
    """What was verified when this version was made: with which SymPy, and for each label a digest and a description."""
    try:
        found = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(key), dict) for key in ("digests", "statements", "proofs")
    ):
        raise ProofFails("every statement", f"{RECORD.name}, the record of what was verified, is missing or damaged")
    return found


def require_standing(found: Statement) -> Statement:
    """`found`, if its proof stands; `ProofFails` if it claims anything other than what was verified."""
    import sympy

    try:
        found.require_unchanged()
    except Refused as why:
        raise ProofFails(found.label, str(why)) from why
    if record()["digests"].get(found.label) == digest(found):
        return found
    if record().get("sympy") == sympy.__version__:
        known = found.label in record()["digests"]
        problem = "it claims something other than what was verified" if known else "nobody recorded it as verified"
        raise ProofFails(found.label, problem, "`python -m hsdp_symbolic.standing` verifies and records all statements")
    verify(found)
    return found


def verify(found: Statement) -> None:
    """Prove a statement, every rule applied again; `ProofFails` if that fails."""
    ticker = Ticker()
    ticker.say(f"proving {found.label}")
    try:
        found.verify()
    except Exception as why:  # whatever stops a proof, there is none
        raise ProofFails(found.label, f"its proof fails: {why}") from why
    finally:
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
        "proofs": {found.label: _proved(found) for found in everything},
        "facts": {name: _fact(fact) for name, fact in all_facts().items()},
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
