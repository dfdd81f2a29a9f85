"""`python -m proofs_check.kernel`: write the generated files again; `--check` asks whether they are what is written."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from hsdp_symbolic.files import write_atomically

from .compiled import compile_all, sources
from .controls import points, refusals
from .layout import BASE, CHECKED, GENERATED, OPEN, Layout, known_open, lay_out
from .verdict import cited, folder, report, verdicts

_PLACE = re.compile(r"line (\d+), characters")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs_check.kernel", description=__doc__)
    parser.add_argument("labels", nargs="*", help="only these statements")
    parser.add_argument("--check", action="store_true", help="exit 1 unless all files are as they would be written")
    parser.add_argument("--mend", metavar="FOLDER", type=Path, help="compile there, and leave open what Coq refuses")
    arguments = parser.parse_args()
    if arguments.check:
        return _check(lay_out())
    if arguments.mend:
        return _mend(arguments.mend, arguments.labels or None)
    write(lay_out(arguments.labels or None).texts())
    return 0


def _check(layout: Layout) -> int:
    """Whether the files are what would be written, and Coq still checks as many statements as recorded."""
    texts = layout.texts()
    there = {path.name: path.read_text(encoding="utf-8") for path in GENERATED.glob("*.v")}
    changed = sorted(name for name in texts.keys() | there.keys() if texts.get(name) != there.get(name))
    for name in changed:
        print(f"{name} is not what `python -m proofs_check.kernel` writes", file=sys.stderr)
    found, _ = verdicts(layout=layout)
    print(report(found))
    now = sorted(each.label for each in found if each.kernel_checked)
    recorded = json.loads(CHECKED.read_text(encoding="utf-8"))
    for label in sorted(set(now) ^ set(recorded)):
        print(
            f"{label}: {'kernel-checked, and not recorded as such' if label in now else 'no longer kernel-checked'}",
            file=sys.stderr,
        )
    wrong = [each for each in found if each.kernel_checked and each.facts != cited(each.label)]
    for each in wrong:
        print(
            f"{each.label}: rests in Coq on other facts than here: {sorted(each.facts ^ cited(each.label))}",
            file=sys.stderr,
        )
    return 1 if changed or wrong or now != recorded or not _controlled(now) else 0


def _controlled(labels: list[str]) -> bool:
    """Whether Coq refuses a wrong version of every theorem, and sees numbers at which its hypotheses hold."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in sources().items()}
    shown, missing = points(labels)
    texts |= {"Refusals": refusals(labels), "Points": shown}
    made = compile_all(["Refusals", "Points"], folder(), texts)
    for name in ("Refusals", "Points"):
        print(f"{name}: {'as it must be' if made[name].passed else made[name].said}")
    print(f"{len(labels)} wrong theorems refused; {len(labels) - len(missing)} sets of hypotheses hold at a point")
    for label, why in missing.items():
        print(f"  no point for {label}: {why}")
    return made["Refusals"].passed and made["Points"].passed


def _record(layout: Layout) -> None:
    """Which statements are kernel-checked now."""
    found, _ = verdicts(layout=layout)
    print(report(found))
    labels = sorted(each.label for each in found if each.kernel_checked)
    write_atomically(CHECKED, json.dumps(labels, indent=1) + "\n")


def write(texts: Mapping[str, str]) -> None:
    """Write all files, and remove those that are no longer made."""
    GENERATED.mkdir(exist_ok=True)
    for path in GENERATED.glob("*.v"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        if not (GENERATED / name).is_file() or (GENERATED / name).read_text(encoding="utf-8") != text:
            write_atomically(GENERATED / name, text)


def _mend(place: Path, labels: list[str] | None) -> int:
    """Compile again and again, each time leaving open the lemmas that Coq refused."""
    failing = dict(known_open())
    while True:
        layout = lay_out(labels, failing)
        texts = {name.removesuffix(".v"): text for name, text in layout.texts().items()}
        texts |= {path.stem: path.read_text(encoding="utf-8") for path in BASE.glob("*.v")}
        found = compile_all(texts, place, texts)
        refused = {name: each for name, each in found.items() if not each.passed and each.fresh}
        new = {lemma: reason for name, each in refused.items() for lemma, reason in _refused(texts[name], each.said)}
        print(f"{len(found) - len(refused)} files pass; refused now: {', '.join(new) or 'none'}", file=sys.stderr)
        new = {lemma: reason for lemma, reason in new.items() if lemma not in failing}
        if not new:
            failing = {name: why for name, why in failing.items() if name in layout.book.reasons}
            write_atomically(OPEN, json.dumps(dict(sorted(failing.items())), indent=1) + "\n")
            write(layout.texts())
            if not labels:
                _record(layout)
            return 1 if refused else 0
        failing |= new


def _refused(text: str, said: str) -> list[tuple[str, str]]:
    """The lemma in which an error is."""
    found = _PLACE.search(said)
    if found is None:
        return []
    before = "\n".join(text.splitlines()[: int(found.group(1))])
    names = re.findall(r"^(?:Lemma|Theorem) (\w+) :", before, re.MULTILINE)
    return [(names[-1], "refused")] if names else []


if __name__ == "__main__":
    sys.exit(main())
