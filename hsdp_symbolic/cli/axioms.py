"""`hsdp axioms`: the cited facts and hypotheses that statements rest on."""

from __future__ import annotations

import argparse
import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .common import Command

if TYPE_CHECKING:
    from ..proof.kernel import Fact


def register(command: Command) -> None:
    axioms = command("axioms", _axioms)
    axioms.epilog = "examples: hsdp axioms thm:shuffle; hsdp axioms --fact composition; hsdp axioms --latex"
    axioms.add_argument(
        "label", metavar="LABEL", nargs="?", help="label of a statement (hsdp list); without: all facts"
    )
    axioms.add_argument("--fact", metavar="NAME", help="one fact, and the statements that fall if it falls")
    axioms.add_argument("--fresh", action="store_true", help="prove the statements now instead of reading the record")
    form = axioms.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--latex", action="store_true", help="print LaTeX, ready to paste (amsmath)")


def _axioms(arguments: argparse.Namespace) -> int:
    if arguments.label and arguments.fact:
        raise ArgumentError("fact", arguments.fact, "cannot be combined with a label", "ask for one of the two")
    if arguments.label:
        from ..proof.facts import all_facts

        if arguments.label in all_facts():
            remedy = f"hsdp axioms --fact {arguments.label}"
            raise ArgumentError("LABEL", arguments.label, "a fact, not a statement", remedy)
        return _of_statement(arguments)
    return _of_all(arguments)


def _of_statement(arguments: argparse.Namespace) -> int:
    """What one statement rests on."""
    from ..catalogue import statement
    from ..proof.facts import all_facts
    from ..standing import proof_record

    label = statement(arguments.label).label
    rests, facts = proof_record(label, fresh=arguments.fresh), all_facts()
    cited = [facts[name] for name in rests["facts"]]
    if arguments.json:
        print(
            json.dumps(
                {"label": label, **{key: rests[key] for key in _KEYS}, "cited": list(map(_told, cited))},
                ensure_ascii=False,
                indent=2,
            )
        )
        return 0
    if arguments.latex:
        from ..tex.axioms import facts_latex

        print(facts_latex(cited, {fact.name: [label] for fact in cited}))
        return 0
    print(f"{label} rests on {len(cited)} cited facts and {len(rests['hypotheses'])} hypotheses.\n")
    print("Cited facts")
    for fact in cited:
        _print_fact(fact)
    print("\nHypotheses")
    for each in rests["hypotheses"]:
        print(f"  {each}" + ("   (stated, not needed by the proof)" if each in rests["not needed"] else ""))
    print("\nTrue by definition, or elementary: " + ", ".join(rests["definitions"]))
    return 0


_KEYS = ("facts", "hypotheses", "not needed", "definitions")


def _of_all(arguments: argparse.Namespace) -> int:
    """Every fact, with the statements that fall if it falls."""
    from ..index import labels
    from ..proof.facts import all_facts
    from ..standing import proof_record

    facts = all_facts()
    if arguments.fact is not None and arguments.fact not in facts:
        close = get_close_matches(arguments.fact, facts, n=3, cutoff=0.4)
        remedy = f"did you mean {' or '.join(close)}?" if close else "`hsdp axioms` lists them all"
        raise ArgumentError("fact", arguments.fact, "no such fact", remedy)
    needed: dict[str, list[str]] = {name: [] for name in facts}
    for label in labels():
        rests = proof_record(label, fresh=arguments.fresh)
        for name in (*rests["facts"], *rests["definitions"]):
            needed[name].append(label)
    chosen = [fact for name, fact in facts.items() if arguments.fact in (None, name)]
    cited = [fact for fact in chosen if not fact.is_definition or arguments.fact]
    definitions = [fact for fact in chosen if fact not in cited]
    if arguments.json:
        rows = [{**_told(fact), "statements": needed[fact.name]} for fact in chosen]
        print(json.dumps({"facts": rows}, ensure_ascii=False, indent=2))
        return 0
    if arguments.latex:
        from ..tex.axioms import facts_latex

        print(facts_latex(chosen, needed))
        return 0
    if not arguments.fact:
        told = f"{len(cited)} cited facts, {len(definitions)} definitions and elementary facts, and the proof kernel"
        print(f"The trusted base: {told}.")
        print("A fact is followed by the statements that fall if it falls.\n")
    for fact in cited:
        _print_fact(fact)
        labels_ = ", ".join(needed[fact.name]) or "no statement (lemmas of the ledger use it)"
        print(f"      needed by {len(needed[fact.name])}: {labels_}")
    if definitions:
        print("\nDefinitions and elementary facts, without a reference (--fact NAME: one of them in symbols)")
        for fact in definitions:
            print(f"  {fact.name}: {fact.note}")
    return 0


def _print_fact(fact: Fact) -> None:
    print(f"  {fact.name} ({fact.reference or 'by definition'})")
    print(f"      {fact}")
    if fact.note:
        print(f"      {fact.note}")


def _told(fact: Fact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "reference": fact.reference or None,
        "premises": list(map(str, fact.premises)),
        "conclusion": str(fact.conclusion),
        "note": fact.note,
    }
