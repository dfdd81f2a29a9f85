"""The inventory of the paper: everything in its source that can be right or wrong, found by a program.

Displayed formulas (each line that makes a claim), theorem-like environments, algorithm lines, footnotes, captions,
quantitative sentences, and what the figures' sources plot and label. Only identifiers, places and short quotations are
stored: the text itself stays with the paper.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

STORED = Path(__file__).with_name("inventory.json")
QUOTE = 72
"""Characters of a quotation: enough to find the place, too few to be the text."""

_DISPLAYS = ("equation", "align", "gather", "multline", "eqnarray")
_THEOREMS = tuple(
    prefix + name
    for name in ("theorem", "lemma", "proposition", "corollary", "definition", "remark")
    for prefix in ("", "rep")
)
_RELATION = re.compile(r"(?<![\\{])(?:=|<|>)|\\(?:leq?|geq?|approx|coloneqq|sim|propto|ll|gg|rightarrow|to)\b")
_NUMBER = re.compile(r"(?<![\w\\{.])\d+(?:\.\d+)?(?![\w}])")
_CLAIMS = re.compile(
    r"\b(?:strictly|tight(?:er|est)?|small(?:er|est)?|larg(?:er|est)|converg\w*|exponential\w*|linear\w*|bounded|"
    r"at most|at least|never|always|order of|decreas\w*|increas\w*|grow\w*|improve\w*|equivalent|recovers?|matches|"
    r"holds|satisf\w+)\b"
)
_AXIS = re.compile(
    r"(?<!\w)(?:[xy]?(?:min|max|tick|ticklabels|label)|domain|title|samples|[xy]mode)\s*=\s*(?:\{[^}]*\}|[^,\]\n]+)"
)
_STEP = re.compile(
    r"\\(?:State|For|Comment|If|Return)\b.*?(?=\\(?:State|For|EndFor|Comment|If|EndIf|Return)\b|\Z)", re.S
)
_REFERENCE = re.compile(
    r"\\(?:cite\w*|label|c?ref|eqref|url|href|includegraphics|input|usepackage)\s*(?:\[[^\]]*\])*\{[^}]*\}"
)
_FURNITURE = re.compile(r"\\(?:sub)*(?:section|paragraph\w*)\*?\{[^}]*\}|\\(?:begin|end|label)\{[^}]*\}(?:\[[^\]]*\])?")


@dataclass(frozen=True)
class Item:
    """One thing the paper says: what kind of thing, its label if it has one, where, and how it begins."""

    id: str
    kind: str
    label: str | None
    section: str
    line: int
    quote: str


Found = tuple[int, int, list[Item]]
"""Where a stretch of the source begins and ends, and the items found in it; it is no longer prose."""


def read(text: str) -> list[Item]:
    """All items of a LaTeX source, in order."""
    return sorted(_Reader(text).items(), key=lambda item: item.line)


def stored() -> list[Item]:
    """The committed inventory."""
    return [Item(**record) for record in json.loads(STORED.read_text(encoding="utf-8"))]


def dump(items: list[Item]) -> str:
    return json.dumps([asdict(item) for item in items], ensure_ascii=False, indent=1) + "\n"


class _Reader:
    """Finds the items of one LaTeX source, kind by kind; what is left of the prose is read sentence by sentence."""

    def __init__(self, text: str) -> None:
        body = text[text.index(r"\begin{document}") :] if r"\begin{document}" in text else text
        self._first_line = text[: len(text) - len(body)].count("\n") + 1
        self._text = _without_comments(body)
        self._sections = list(self._read_sections())
        self._numbers: Counter[tuple[str, str]] = Counter()

    def items(self) -> Iterator[Item]:
        prose = self._text
        for read in (
            self._functions,
            self._figures,
            self._algorithms,
            self._theorems,
            self._displays,
            self._notes,
        ):
            for start, end, found in read():
                yield from found
                prose = _blank(prose, start, end)
        for match in _FURNITURE.finditer(prose):
            prose = _blank(prose, *match.span())
        for offset, sentence in _sentences(prose):
            if _is_quantitative(sentence):
                yield self._item("sentence", offset, sentence)

    def _functions(self) -> Iterator[Found]:
        for start, end, inner in _commands(self._text, "pgfplotsset"):
            matches = re.finditer(r"(\w+)\([^)]*\)\s*=.*?;", inner, re.S)
            yield start, end, [self._item("function", start + match.start(), match.group()) for match in matches]

    def _figures(self) -> Iterator[Found]:
        for start, end, _, inner in self._environments(("tikzpicture",)):
            yield start, end, list(self._figure(start, inner))

    def _algorithms(self) -> Iterator[Found]:
        for start, end, _, inner in self._environments(("algorithmic",)):
            lines = _lines_of_algorithm(inner)
            yield start, end, [self._item("algorithm", start + offset, line) for offset, line in lines]

    def _theorems(self) -> Iterator[Found]:
        """Theorems, of which nothing is taken out of the prose: their sentences count too."""
        for start, _, kind, inner in self._environments(_THEOREMS):
            outside = re.sub(
                r"\\begin\{align\}.*?\\end\{align\}", "", inner, flags=re.S
            )  # not the label of a formula in it
            yield start, start, [self._item(kind.removeprefix("rep"), start, inner, _label(outside))]

    def _displays(self) -> Iterator[Found]:
        for start, end, _, inner in self._environments(_DISPLAYS):
            lines = _lines_of_display(inner)
            yield (
                start,
                end,
                [self._item("display", start + offset, line, _label(line) or _label(inner)) for offset, line in lines],
            )

    def _notes(self) -> Iterator[Found]:
        for kind, names in (("footnote", ("footnote", "footnotetext")), ("caption", ("caption",))):
            for start, end, inner in _commands(self._text, *names):
                yield start, end, [self._item(kind, start, inner)]

    def _figure(self, start: int, inner: str) -> Iterator[Item]:
        for match in re.finditer(r"\\addplot[^;]*;|\\node[^;]*;|\\addlegendentry\{.*", inner):
            yield self._item("plot", start + match.start(), match.group())
        for match in _AXIS.finditer(inner):
            yield self._item("axis", start + match.start(), match.group())

    def _environments(self, names: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
        pattern = re.compile(rf"\\begin\{{({'|'.join(names)})\*?\}}(.*?)\\end\{{\1\*?\}}", re.S)
        for match in pattern.finditer(self._text):
            yield match.start(2), match.end(), match[1], match[2]

    def _read_sections(self) -> Iterator[tuple[int, str]]:
        numbers, appendix = [0, 0], False
        for match in re.finditer(r"\\(appendix\b|section\*?\{|subsection\*?\{)", self._text):
            word = match[1]
            if word.startswith("appendix"):
                appendix, numbers = True, [0, 0]
                continue
            numbers = [numbers[0] + 1, 0] if word.startswith("section") else [numbers[0], numbers[1] + 1]
            head = chr(64 + numbers[0]) if appendix else str(numbers[0])
            yield match.start(), f"{head}.{numbers[1]}" if numbers[1] else head

    def _item(self, kind: str, offset: int, text: str, label: str | None = None) -> Item:
        lead = len(text) - len(text.lstrip())
        offset += lead
        section = next((name for place, name in reversed(self._sections) if place <= offset), "0")
        self._numbers[section, kind] += 1
        quote = re.sub(r"\\label\{[^}]*\}", "", text)
        quote = " ".join(quote.split()).strip("& ")
        line = self._first_line + self._text[:offset].count("\n")
        return Item(
            f"{section}/{kind}-{self._numbers[section, kind]}", kind, label, section, line, quote[:QUOTE].rstrip()
        )


def _without_comments(text: str) -> str:
    """Comments blanked out (and `\\iffalse … \\fi`), so that places stay what they are."""
    text = re.sub(r"(?<!\\)%[^\n]*", lambda match: " " * len(match.group()), text)
    return re.sub(r"\\iffalse\b.*?\\fi\b", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _label(text: str) -> str | None:
    match = re.search(r"\\label\{([^}]*)\}", text)
    return match[1] if match else None


def _lines_of_display(inner: str) -> Iterator[tuple[int, str]]:
    """Lines of an align that make a claim; a line without a relation belongs to the one before."""
    depth, begin, pieces = 0, 0, []
    for match in re.finditer(r"\\begin\{|\\end\{|\\\\|(?<!\\)\{|(?<!\\)\}", inner):
        word = match.group()
        depth += {r"\begin{": 2, "{": 1, r"\end{": 0, "}": -1}.get(word, 0)  # an environment's name has braces too
        if word == r"\\" and depth == 0:
            pieces.append((begin, inner[begin : match.start()]))
            begin = match.end()
    pieces.append((begin, inner[begin:]))
    joined: list[tuple[int, str]] = []
    for offset, piece in pieces:
        bare = re.sub(r"\\(?:label|tag|text|intertext|mbox)\{[^}]*\}", "", piece)
        if not bare.strip("& \n\t."):
            continue
        if _RELATION.search(bare) or not joined:
            joined.append((offset, piece))
        else:
            joined[-1] = joined[-1][0], joined[-1][1] + " " + piece
    yield from joined


def _lines_of_algorithm(inner: str) -> Iterator[tuple[int, str]]:
    for match in _STEP.finditer(inner):
        yield match.start(), match.group()


def _commands(text: str, *names: str) -> Iterator[tuple[int, int, str]]:
    """The arguments of commands, braces balanced."""
    for match in re.finditer(rf"\\(?:{'|'.join(names)})\s*(?:\[[^\]]*\])?\{{", text):
        depth, place = 1, match.end()
        while depth and place < len(text):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            place += 1
        yield match.end(), place, text[match.end() : place - 1]


def _sentences(prose: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"[^.!?]*(?:\.(?=\d)[^.!?]*|\.(?!\s|\\|$)[^.!?]*)*[.!?](?=\s|\\|$)", prose):
        yield match.start(), match.group()


def _is_quantitative(sentence: str) -> bool:
    """Whether a sentence makes a claim with a formula or a number in it, or compares."""
    bare = _REFERENCE.sub("", sentence)
    if len(bare.split()) < 5:
        return False
    formulas = re.findall(r"\$[^$]*\$", bare)
    if any(_RELATION.search(formula) for formula in formulas):
        return True
    about = formulas or _NUMBER.search(bare) or re.search(r"R\\'enyi|privacy|bound", bare)
    return bool(_CLAIMS.search(bare) and about)


def main(paper: str) -> None:
    """Read the paper again and store what is found: `python -m proofs_check.inventory paper.tex`."""
    from hsdp_symbolic.files import write_atomically

    items = read(Path(paper).read_text(encoding="utf-8"))
    write_atomically(STORED, dump(items))
    print(
        f"{len(items)} items: " + ", ".join(f"{n} {kind}" for kind, n in Counter(i.kind for i in items).most_common())
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
