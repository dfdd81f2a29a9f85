"""`hsdp audit`, `hsdp errata` and LEDGER.md: what is not plainly right, the story of one item, the full table."""

from __future__ import annotations

from pathlib import Path

from hsdp_symbolic.catalogue import labels
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.tex import plain
from hsdp_symbolic.tex.words import to_latex

from .cache import Memory
from .claim import Claim, Entry, Note, examine
from .inventory import Item, stored
from .ledger import about, claim_named, coverage
from .register import parts_of_claims
from .report import examine_all

LEDGER = Path(__file__).with_name("LEDGER.md")
HEADINGS = {
    "result": "A stated result changes",
    "argument": "The conclusion holds, the argument needs repair",
    "formula": "A formula is misprinted",
    "text": "The text claims more than is true",
    "figure": "A figure or its caption misleads",
    "loose": "True, and loose",
    "": "Other corrections",
}
"""Consequences, gravest first, and what they mean."""


def is_plainly_right(entry: Entry) -> bool:
    return entry.as_printed.verdict.passes and not entry.claim.sharper


def findings(entries: list[Entry]) -> dict[str, list[Entry]]:
    """What is not plainly right, by consequence."""
    grouped: dict[str, list[Entry]] = {group: [] for group in HEADINGS}
    for entry in entries:
        if not is_plainly_right(entry):
            grouped[entry.claim.consequence or ("loose" if entry.claim.sharper else "")].append(entry)
    return {group: found for group, found in grouped.items() if found}


def overview() -> str:
    """`hsdp audit`: one line for each finding, grouped by consequence."""
    lines = []
    for group, found in findings(examine_all()).items():
        lines.append(f"{HEADINGS[group]} ({len(found)})")
        for entry in found:
            lines.append(f"  {entry.claim.id}: {entry.claim.says} ({entry.claim.where})")
            lines.append(f"      {entry.claim.correction or entry.claim.sharper}")
        lines.append("")
    return "\n".join(lines) + "hsdp audit ID tells the whole story of one of them"


def story(name: str) -> str:
    """`hsdp audit ID`: everything about a claim or an item of the inventory; checks but for whole proofs run again."""
    items = {item.id: item for item in stored()}
    named = claim_named(name)
    if named is not None:
        return _claim_story(named, items)
    if name not in items:
        theorems = [f"{label}/theorem" for label in labels()]
        known = [each for each in (*theorems, *parts_of_claims(), *items) if name.lower() in each.lower()][:4]
        hint = f"did you mean {', '.join(known)}?" if known else "`hsdp audit` and proofs_check/LEDGER.md list them"
        raise ArgumentError("ID", name, "no such claim or item", hint)
    item = items[name]
    told = [f"{item.id}, line {item.line} of the paper's source: {item.quote} …"]
    for found in about(name):
        told.append(_claim_story(found, items) if isinstance(found, Claim) else _note_story(found))
    return "\n\n".join(told if len(told) > 1 else [*told, "no claim yet"])


def _claim_story(claim: Claim, items: dict[str, Item]) -> str:
    entry = _proof_entry(claim) if claim.derives else examine(claim, controls=True)
    told = [f"{claim.id}: {claim.says}", f"  where      {claim.where}"]
    told += [f"  item       {each}, line {items[each].line}: {items[each].quote} …" for each in claim.items]
    for name, check, evidence in (
        ("printed", claim.printed, entry.as_printed),
        ("corrected", claim.corrected, entry.as_corrected),
    ):
        if check is not None and evidence is not None:
            told.append(f"  {name:10} {plain(check.formula())}")
            told.append(f"             {evidence.verdict} by {evidence.method}, {evidence.scope}: {evidence.detail}")
    told += [f"  correction {claim.correction}"] if claim.correction else []
    told += [f"  sharper    {claim.sharper}"] if claim.sharper else []
    if entry.control is not None:
        rejected = entry.control.tried - len(entry.control.survivors)
        told.append(f"  control    {rejected} of {entry.control.tried} mutants rejected")
    told.append(f"  verdict    {entry.verdict}" + (" (remembered)" if entry.remembered else ""))
    return "\n".join(told)


def _proof_entry(claim: Claim) -> Entry:
    """The verdict on a whole proof, remembered if it can be; its mutants take long (`hsdp verify LABEL --controls`)."""
    memory = Memory()
    entry = memory.examine(claim, controls=False)
    memory.save()
    return entry


def _note_story(note: Note) -> str:
    return f"{note.kind}{f' {note.of}' if note.of else ''}: {note.says}"


def ledger_page(entries: list[Entry]) -> str:
    """`LEDGER.md`: every claim and note, in the paper's order, and what is cited and not proved here."""
    lines = {item.id: item.line for item in stored()}
    files = {name: f"claims/{part}.py" for name, part in parts_of_claims().items()}
    rows = []
    for number, entry in enumerate(entries):
        claim = entry.claim
        place = min((lines[item] for item in claim.items), default=10**6)
        file = files.get(claim.id, "proof" if claim.derives else "facts")
        cells = (
            claim.id,
            claim.where,
            claim.says,
            entry.verdict,
            str(entry.decisive.method),
            entry.decisive.scope,
            file,
        )
        rows.append((place, number, cells))
    about_items = coverage()
    notes = [
        (
            lines[note.item],
            number,
            (note.item, f"line {lines[note.item]}", note.says, note.kind, "—", note.of or "—", "note"),
        )
        for number, note in enumerate(n for found in about_items.values() for n in found if isinstance(n, Note))
    ]
    table = ["| ID | where | claim | verdict | method | scope | file |", "|---|---|---|---|---|---|---|"]
    table += ["| " + " | ".join(_cell(cell) for cell in cells) + " |" for _, _, cells in sorted([*rows, *notes])]
    cited = sorted({entry.as_printed.detail for entry in entries if str(entry.as_printed.verdict) == "cited"})
    covered = sum(map(bool, about_items.values()))
    return "\n".join(
        [
            "# The ledger",
            "",
            "Generated by `hsdp verify --ledger`; do not edit. One row for every claim, in the order of the paper's",
            "source; then the theorems of every statement's proof and the facts they rest on. `hsdp audit ID` tells",
            "the whole story of a row.",
            "",
            f"{len(entries)} claims; {covered} of the {len(about_items)} items of the inventory have a verdict.",
            "",
            *table,
            "",
            "## Cited, not proved here",
            "",
            *[f"* {detail}" for detail in cited],
            "",
        ]
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def errata() -> str:
    """`hsdp errata --latex`: a note that lists what to correct; plain ASCII, compiles with pdflatex and amsmath."""
    parts = []
    for group, found in findings(examine_all()).items():
        if group == "loose":
            continue
        parts.append(f"\\section*{{{HEADINGS[group]}}}\n\\begin{{itemize}}")
        for entry in found:
            claim = entry.claim
            parts.append(f"\\item \\textbf{{{to_latex(claim.where)}.}} Printed: {to_latex(claim.says)}.")
            parts.append(
                f"  Correct: {to_latex(claim.correction)}. \\emph{{({to_latex(_short(entry.as_printed.scope))})}}"
            )
        parts.append("\\end{itemize}")
    return "\n".join(
        [
            "\\documentclass{article}",
            "\\usepackage{amsmath,amssymb}",
            "\\title{Errata to ``Differentially Private Learning Needs Hidden State (Or Much Faster Convergence)''}",
            "\\author{generated by hsdp errata}",
            "\\date{}",
            "\\begin{document}",
            "\\maketitle",
            "Each item was found and checked by computation; in parentheses, where the printed form fails.",
            *parts,
            "\\end{document}",
            "",
        ]
    )


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
