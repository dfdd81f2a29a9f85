"""`hsdp latex`: a statement in the paper's notation, with hypotheses, derivation or values; all statements; macros."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..setting.letters import PARAMETERS
from .common import Command, add_letters, letters

if TYPE_CHECKING:
    from ..statement import Statement
    from ..tex.views import Block

MOST_DIGITS = 1000


def register(command: Command) -> None:
    latex = command("latex", _latex)
    latex.epilog = (
        "examples: hsdp latex thm:shuffle --with-hypotheses; hsdp latex --document --out bounds.tex; "
        "hsdp latex --macros --out hsdp-macros.tex"
    )
    latex.add_argument(
        "label", metavar="LABEL", nargs="?", help="label of a statement (hsdp list), e.g. thm:strconvexsmooth"
    )
    latex.add_argument("--with-hypotheses", action="store_true", help="also what it assumes, as text ready to paste")
    latex.add_argument(
        "--derivation", action="store_true", help="also the named theorems of its proof, and what each rests on"
    )
    latex.add_argument(
        "--values", action="store_true", help="with numbers put in, and the certified value: give the letters below"
    )
    latex.add_argument("--digits", default="12", metavar="D", help="digits of the certified value (default 12)")
    latex.add_argument("--format", default="latex", choices=("latex", "markdown"), help="latex (default) or markdown")
    latex.add_argument("--document", action="store_true", help="all statements in one file for pdflatex and amsmath")
    latex.add_argument("--macros", action="store_true", help=r"all statements as macros another paper can \input")
    latex.add_argument("--out", metavar="FILE", help="write to FILE instead of the terminal")
    add_letters(latex, "the letters, for --values")


def _latex(arguments: argparse.Namespace) -> int:
    from ..files import require_writable, write_atomically

    _check(arguments)
    if arguments.out is not None:
        require_writable(arguments.out)
    text, passed = _text(arguments)
    if arguments.out is not None:
        write_atomically(arguments.out, text)
    else:
        sys.stdout.write(text)
    return 0 if passed else 1


def _check(arguments: argparse.Namespace) -> None:
    """Refuse combinations that make no sense, before any work."""
    whole = [name for name in ("document", "macros") if getattr(arguments, name)]
    views = [name for name in ("with-hypotheses", "derivation", "values") if getattr(arguments, name.replace("-", "_"))]
    if not whole and arguments.label is None:
        raise ArgumentError("LABEL", None, "no statement named", "give a label (`hsdp list`), --document or --macros")
    if len(whole) == 2:
        raise ArgumentError("macros", True, "cannot be combined with --document", "ask for one of the two")
    if whole and (arguments.label is not None or views or arguments.format != "latex"):
        other = arguments.label or (f"--{views[0]}" if views else f"--format {arguments.format}")
        raise ArgumentError(whole[0], True, f"cannot be combined with {other}", f"give --{whole[0]} alone")
    if letters(arguments) and not arguments.values:
        name, value = next(iter(letters(arguments).items()))
        raise ArgumentError(name, value, "a letter is given without --values", "add --values, or leave the letters out")


def _text(arguments: argparse.Namespace) -> tuple[str, bool]:
    """What was asked for, and whether every step shown passes."""
    from ..catalogue import statement, statements
    from ..tex import views

    if arguments.document:
        from ..tex.document import document

        return document(statements())
    if arguments.macros:
        from ..tex.macros import macros

        return macros(statements()), True

    found, passed = statement(arguments.label), True
    blocks: list[views.Block] = []
    if arguments.with_hypotheses:
        blocks += [views.heading(found), *views.hypotheses(found), views.display(found)]
    if arguments.values:
        blocks += _values(arguments, found)
    if arguments.derivation:
        steps, passed = views.derivation(found)
        blocks += steps
    if not blocks and arguments.format == "latex":
        return found.latex() + "\n", True  # the bare formula, for an environment of the reader's own
    return views.render(blocks or [views.display(found)], arguments.format), passed


def _values(arguments: argparse.Namespace, found: Statement) -> list[Block]:
    from ..setting import Setting
    from ..tex import views

    given = letters(arguments)
    for name, value in given.items():
        if isinstance(value, tuple):
            raise ArgumentError(name, ":".join(value), "a range has no single value to print", "give one number")
    if not arguments.digits.isdecimal() or not 1 <= int(arguments.digits) <= MOST_DIGITS:
        remedy = f"give a whole number from 1 to {MOST_DIGITS}"
        raise ArgumentError("digits", arguments.digits, "not a number of digits", remedy)
    of_run = {*(letter.name for letter in PARAMETERS), "sigma_squared"}
    run = Setting(**{name: value for name, value in given.items() if name in of_run})
    extra = {name: value for name, value in given.items() if name not in of_run and name in found.needs}
    return views.values(found, run, int(arguments.digits), **extra)
