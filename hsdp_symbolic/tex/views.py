"""The views of one statement: formula, hypotheses, derivation with evidence, values at a setting.

A view is a list of blocks; `render` writes blocks as LaTeX or as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sympy import Expr, Symbol

from .. import symbols
from ..errors import HsdpError
from ..functions.interface import BoundFunction
from ..proof.kernel import Refused
from ..setting import Setting
from ..setting.letters import LETTERS
from .layout import rows
from .printable import Printable
from .printer import PaperPrinter, number
from .told import with_displays
from .words import to_latex, to_markdown

Format = Literal["latex", "markdown"]
_RELATIONS = {"<=": r"\leq", ">=": r"\geq", "=": "=", "==": "=", "<": "<", ">": ">"}


@dataclass(frozen=True)
class Maths:
    """A formula within a sentence."""

    tex: str


@dataclass(frozen=True)
class Paragraph:
    """Words, and formulas within them."""

    parts: tuple[str | Maths, ...]


@dataclass(frozen=True)
class AlignedDisplay:
    """The rows of an aligned display."""

    rows: tuple[str, ...]


@dataclass(frozen=True)
class WrittenSteps:
    """A proof: the words of each theorem, and the rows of formulas too long to stand among them."""

    steps: tuple[tuple[tuple[str | Maths, ...], tuple[str, ...]], ...]


Block = Paragraph | AlignedDisplay | WrittenSteps


def statement_latex(statement: Printable, printer: PaperPrinter | None = None) -> str:
    """The whole statement: what is bounded, the relation, the expression in the paper's order."""
    printer = printer or PaperPrinter()
    first, *others = [
        (lead, f"{name} {_RELATIONS[sign]} {printer.doprint(expr)}")
        for lead, name, sign, expr in _equations(statement, printer)
    ]
    lines = [first[1], *(rf"\quad\text{{{lead}}}\quad {text}" for lead, text in others)]
    return "\n".join(lines + [rf"\quad {note}" for note in _notes(statement, printer)])


def _equations(statement: Printable, printer: PaperPrinter) -> list[tuple[str, str, str, Expr]]:
    """The equations a statement is printed as: a lead-in word, left side, relation, right side."""
    found: list[tuple[str, str, str, Expr]] = [("", printer.raw(statement.bounds), statement.relation, statement.shown)]
    found += [("with", printer.raw(name), "=", expr) for name, expr in statement.also]
    found += [("where", printer.doprint(name), "=", expr) for name, expr in statement.names]
    return found


def _notes(statement: Printable, printer: PaperPrinter) -> list[str]:
    notes = [node.tex_note(printer) for node in sorted(statement.shown.atoms(BoundFunction), key=str)]
    return [line for note in dict.fromkeys(filter(None, notes)) for line in note.split("\n")]


def statement_rows(statement: Printable, printer: PaperPrinter, value: str = "") -> tuple[str, ...]:
    """The statement as the rows of an aligned display, broken where it is long; `value` ends the first formula."""
    found: list[str] = []
    for lead, name, sign, expr in _equations(statement, printer):
        lines = rows(printer, rf"\text{{{lead}}}\quad {name}" if lead else name, _RELATIONS[sign], expr)
        found += lines if lead or not value else [*lines, rf"&\quad {value}"]
    return (*found, *(f"& {note}" for note in _notes(statement, printer)))


def display(statement: Printable) -> AlignedDisplay:
    """The statement as a display."""
    return AlignedDisplay(statement_rows(statement, PaperPrinter()))


def hypotheses(statement: Printable) -> list[Block]:
    """What is assumed, in words and as relations; ends in "Then", ready for the display."""
    printer = PaperPrinter(sort=True)
    parts: list[str | Maths] = []
    if statement.assumptions:
        parts.append(f"Assume that {'; '.join(statement.assumptions)}. ")
    for place, hypothesis in enumerate(statement.hypotheses):
        parts += ["Let " if place == 0 else ", ", Maths(printer.doprint(symbols.with_costs_spelled(hypothesis)))]
    parts.append(". Then" if statement.hypotheses else "Then")
    return [Paragraph(tuple(parts))]


def derivation(statement: Printable) -> tuple[list[Block], bool]:
    """The named theorems of the proof, written and verified now, each with what it rests on; and whether it holds."""
    try:
        statement.verify()
    except Refused as why:
        return [Paragraph((f"The proof of {statement.label} fails: {why}",))], False
    found = []
    for line in statement.proof:
        told, formula = with_displays(line.theorem.proposition, {statement.expr: statement.shown})
        support = f" [{line.support}]" if line.support else ""
        parts = [Maths(text) if is_formula else text for text, is_formula in told]
        found.append(((f"{line.number}. {line.name or statement.label}: ", *parts, support), formula))
    return [WrittenSteps(tuple(found))], True


def values(statement: Printable, setting: Setting, digits: int = 12, **arguments: object) -> list[Block]:
    """The statement with the numbers of a setting put in, and its certified value rounded to the safe side."""
    wanted = {"sigma2" if name == "sigma" else name for name in statement.needs}
    exact = {name: value for name, value in statement.point(setting, **arguments).items() if name in wanted}
    printer = PaperPrinter(values=_by_symbol(exact))
    letters = [
        rf"\sigma^2 = {number(exact['sigma2'])}" if name == "sigma" else f"{LETTERS[name].tex} = {number(exact[name])}"
        for name in statement.needs
    ]
    certified = certified_value(statement, setting, digits, **arguments)
    return [
        Paragraph(("At ", Maths(",\\ ".join(letters)), ",")),
        AlignedDisplay(statement_rows(statement, printer, certified)),
    ]


def _by_symbol(exact: Mapping[str, Fraction]) -> dict[Symbol, Fraction]:
    """The values of the letters, and of the abbreviations they determine."""
    from ..evaluate.enclosure import exact as evaluate
    from ..evaluate.program import compile_expression

    found = {symbol: exact[symbol.name] for symbol in symbols.TEX if symbol.name in exact}
    for symbol, meaning in symbols.ABBREVIATIONS.items():
        if symbol.name not in exact:
            try:
                found[symbol] = evaluate(compile_expression(meaning), exact)
            except (HsdpError, KeyError):  # a letter of it is not among those of the statement
                continue
    return found


def certified_value(statement: Printable, setting: Setting, digits: int, **arguments: object) -> str:
    """The value with its relation: rounded up for an upper bound, down for a lower one, a bracket for an equality."""
    wanted = Fraction(1, 10 ** (digits + 3))
    rtol = statement.within_reach(wanted)
    bracket = statement.enclose_at(setting, arguments, rtol=rtol)
    low, high = bracket.decimals(digits if rtol == wanted else min(digits, 4))
    if Fraction(low) == Fraction(high) == bracket.lo == bracket.hi:
        return f"= {_scientific(low)}"
    if statement.relation == "=":
        return rf"\in [{_scientific(low)}, {_scientific(high)}]"
    return rf"\leq {_scientific(high)}" if statement.relation == "<=" else rf"\geq {_scientific(low)}"


def _scientific(decimal: str) -> str:
    mantissa, _, exponent = decimal.partition("E")
    if "." in mantissa and Fraction(mantissa) == 0:
        return "0"
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def heading(statement: Printable) -> Paragraph:
    """Title, label and place of a statement."""
    return Paragraph((f"{statement.title} ({statement.label}; {statement.where}).",))


def render(blocks: list[Block], form: Format) -> str:
    """The blocks as LaTeX for a document with amsmath, or as Markdown with $$."""
    return "\n".join(map(_latex if form == "latex" else _markdown, blocks)) + "\n"


def _latex(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _latex_parts(block.parts)
    if isinstance(block, AlignedDisplay):
        return _environment("align*", block.rows)
    lines = []
    for said, formula in block.steps:
        lines.append(rf"\par\noindent {_latex_parts(said)}")
        lines += [_environment("align*", formula)] if formula else []
    return "\n".join(lines)


def _latex_parts(parts: tuple[str | Maths, ...]) -> str:
    return "".join(f"${part.tex}$" if isinstance(part, Maths) else words(part) for part in parts)


def words(text: str) -> str:
    """A sentence of the package in LaTeX, with `names` of code set as such."""
    parts = [to_latex(part) for part in re.split(r"`([^`]*)`", text)]
    joined = "".join(rf"\texttt{{{part}}}" if place % 2 else part for place, part in enumerate(parts))
    # A formula written as words may be long, and TeX sees no place to break it.
    return re.sub(r"\\ensuremath\{(\\cdot|\\times)\}(?=\S)|/(?=\()", r"\g<0>\\allowbreak{}", joined)


def _environment(name: str, lines: tuple[str, ...], end: str = r" \\") -> str:
    return f"\\begin{{{name}}}\n" + f"{end}\n".join(lines) + f"\n\\end{{{name}}}"


def _markdown(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"{_markdown_parts(block.parts)}\n"
    if isinstance(block, AlignedDisplay):
        return _dollars(block.rows)
    # "1\\." keeps a step from being taken for an item of a list, which would swallow its formula.
    return "\n".join(
        _markdown_parts(said).replace(".", r"\.", 1) + "\n" + (f"\n{_dollars(formula)}" if formula else "")
        for said, formula in block.steps
    )


def _markdown_parts(parts: tuple[str | Maths, ...]) -> str:
    return "".join(f"${part.tex}$" if isinstance(part, Maths) else to_markdown(part) for part in parts)


def _dollars(lines: tuple[str, ...]) -> str:
    # \cr ends a row as \\ does, and Markdown does not take it for an escaped backslash.
    body = _environment("aligned", tuple(row.replace(r" \\ ", r" \cr ") for row in lines), end=r" \cr")
    return f"$$\n{body}\n$$\n"
