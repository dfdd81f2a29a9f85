"""What Coq says of each statement: kernel-checked or not, by how many steps, on what facts, and if not, why."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.index import labels
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.kernel import rests_on

from .compiled import Compiled, assumed, compile_all, sources
from .facts import predicates
from .layout import GENERATED, Layout, file_name, lay_out

REALS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "functional_extensionality_dep",
        "Classical_Prop.classic",
        "Eqdep.Eq_rect_eq.eq_rect_eq",
    }
)
"""What Coq's real numbers, and equality of functions, rest on."""
_CHEATS = re.compile(r"\b(Admitted|admit|Abort|Unset Guard Checking|Set Bypass|type_in_type|give_up)\b")


@dataclass(frozen=True)
class Checked:
    """What Coq says of one statement."""

    label: str
    steps: int
    """Steps of its proof, each statement counted once."""
    open_steps: int
    """Those that are taken as they are: Coq was given no proof of them."""
    leaning: int
    """Those that have a proof, which leans on an open one."""
    facts: frozenset[str]
    """The cited facts and definitions that Coq says it rests on."""
    reason: str
    """Why it is not kernel-checked; empty if it is."""
    seconds: float

    @property
    def kernel_checked(self) -> bool:
        return not self.reason


def vocabulary() -> frozenset[str]:
    """The words that facts are stated in: predicates that nothing is known of but the facts."""
    words = {name for kind in predicates() for name in (kind, f"{kind}_by")}
    return frozenset({*words, "uses", "everywhere", "coordinatewise"})


def folder() -> Path:
    """Where compiled files are kept."""
    from ..store import folder as records

    found = records()
    return (found or Path(os.environ.get("TMPDIR", "/tmp"))) / "kernel"


def verdicts(
    chosen: Iterable[str] | None = None,
    place: Path | None = None,
    told: Callable[[Compiled], None] = lambda _: None,
    layout: Layout | None = None,
) -> tuple[list[Checked], Layout]:
    """Write the statements' proofs in Coq anew, compare them with the generated files, compile these."""
    layout = layout or lay_out()
    wanted = tuple(labels() if chosen is None else chosen)
    texts = {name: path.read_text(encoding="utf-8") for name, path in sources().items()}
    files = [file_name(label) for label in wanted if file_name(label) in layout.files]
    written = layout.texts()
    stale = {name for name, text in written.items() if texts.get(name.removesuffix(".v")) != text}
    compiled = compile_all([each for each in files if each in texts], place or folder(), texts, told)
    return [_verdict(label, layout, compiled, texts, stale) for label in wanted], layout


def _verdict(
    label: str, layout: Layout, compiled: dict[str, Compiled], texts: dict[str, str], stale: set[str]
) -> Checked:
    steps = layout.steps[label]
    reasons = layout.book.reasons
    open_here = [each for each in steps if each in reasons]
    leaning = _leaning(layout, steps, set(open_here))
    top, name = layout.tops[label], file_name(label)

    def checked(reason: str, facts: Iterable[str] = (), seconds: float = 0.0) -> Checked:
        return Checked(label, len(steps), len(open_here), leaning, frozenset(facts), reason, seconds)

    if top.startswith("unspeakable"):
        return checked("what it says has no words in Coq yet: " + top.partition(": ")[2])
    if open_here:
        return checked("; ".join(sorted({reasons[each] for each in open_here})))
    if f"{name}.v" in stale or {f"{each}.v" for each in _under(name, layout)} & stale:
        return checked("the generated files are not up to date: python -m proofs_check.kernel")
    made = compiled[name]
    if not made.passed:
        return checked(f"coqc refuses {name}.v")
    for each in (name, *_under(name, layout)):
        if _CHEATS.search(_without_comments(texts[each])):
            return checked(f"{each}.v leaves a proof out")
    names = {each.removeprefix("T.") for each in assumed(made.said)}
    facts = names & all_facts().keys()
    beyond = names - facts - REALS - vocabulary()
    if beyond:
        return checked(f"rests on {', '.join(sorted(beyond))}", facts, made.seconds)
    return checked("", facts, made.seconds)


def _without_comments(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def _under(name: str, layout: Layout) -> list[str]:
    """The generated files below one."""
    found: dict[str, None] = {}
    waiting = list(layout.files[name].needs)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = None
            waiting += layout.files[each].needs
    return list(found)


def _leaning(layout: Layout, steps: list[str], open_here: set[str]) -> int:
    """How many steps that have a proof lean on one that has none."""
    by_name = {each.name: each for each in layout.book.by_statement.values()}
    leans: dict[str, bool] = {}

    def visit(name: str) -> bool:
        if name not in leans:
            leans[name] = False
            leans[name] = any(each in open_here or visit(each) for each in by_name[name].uses)
        return leans[name]

    return sum(visit(each) for each in steps if each not in open_here)


def cited(label: str) -> frozenset[str]:
    """The facts and definitions that the statement's own proof rests on."""
    return frozenset(each.name for each in rests_on(statement(label).theorem))


def report(found: list[Checked]) -> str:
    """The three counts, and every statement."""
    checked = [each for each in found if each.kernel_checked]
    lines = []
    for each in found:
        if each.kernel_checked:
            lines.append(
                f"  kernel-checked      {each.label}: {each.steps} steps, {len(each.facts)} facts and definitions"
            )
        else:
            lines.append(f"  not kernel-checked  {each.label}: {each.reason}")
    steps = sum(each.steps - each.open_steps - each.leaning for each in found)
    leaning, open_ = sum(each.leaning for each in found), sum(each.open_steps for each in found)
    return "\n".join(
        [
            *lines,
            "",
            f"theorems end to end: {len(checked)} of {len(found)}",
            f"steps checked, on cited facts alone: {steps} (a step that several statements use counts for each)",
            f"steps that lean on an added hypothesis: {leaning}; steps taken as hypotheses: {open_}",
        ]
    )


__all__ = ["GENERATED", "Checked", "cited", "report", "verdicts"]
