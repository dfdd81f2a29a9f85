"""The command line: `hsdp COMMAND`; `hsdp --help` lists the commands.

Only argparse is imported here, and a command's module when that command is asked for, so that help and errors are
instant. Anything the user got wrong ends in one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from .example import EXAMPLE_EVAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

COMMANDS = {
    "list": ("statements", "list all statements in the paper's order"),
    "show": (
        "statements",
        "show a statement, its hypotheses, and its proof with what each part of it rests on",
    ),
    "axioms": ("axioms", "what a statement finally rests on: cited facts and hypotheses; or the whole trusted base"),
    "eval": ("statements", "evaluate a statement: a certified bracket, and a float computed fast"),
    "epsilon": ("accounting", "the certified epsilon of a training run at a given delta"),
    "delta": ("accounting", "the certified delta of a training run at a given epsilon"),
    "calibrate": (
        "accounting",
        "the smallest noise (or smallest lam, or largest K or batch size) that meets epsilon at delta",
    ),
    "compare": ("accounting", "a table of all bounds for a run, over the number of epochs"),
    "advise": ("advice", "what a training run would cost with one thing changed, and the change that helps most"),
    "unlearn": (
        "unlearning",
        "how many further steps, or how much noise, until forgetting a record is close to never having had it",
    ),
    "practice": (
        "practice",
        "a table of what people really run: the constant of each update, what applies, and epsilon",
    ),
    "schemes": (
        "schemes",
        "a table of the certified epsilon of a run under every way of making batches, beside a lower bound",
    ),
    "logistic": ("logistic", "the certified epsilon of a regularised logistic regression"),
    "latex": ("latex", "print a statement in LaTeX or Markdown, in the paper's notation"),
    "figures": ("figures", "draw the paper's figures, or new ones, and write the numbers they plot"),
    "verify": (
        "evidence",
        "prove every statement, decide every claim; exit 1 if anything is left undecided or wrong",
    ),
    "audit": (
        "evidence",
        "what is not plainly right in the paper's text; with ID, the whole story of one claim or item",
    ),
    "errata": ("evidence", "an errata note for the paper"),
    "prove": ("evidence", "prove or refute an inequality between two statements over a box of parameters"),
    "soundness": (
        "evidence",
        "hold certified values of every statement against a second interval engine, at random settings",
    ),
    "simulate": ("simulation", "run the algorithm of a statement and compare its divergence with the bound"),
    "attack": (
        "simulation",
        "search for a run whose exact divergence exceeds a bound; the search must expose bounds made wrong on purpose",
    ),
    "tightness": ("simulation", "a table of bound over worst divergence found, at the setting of the paper's figures"),
    "report": ("report", "write one self-contained web page: statements, figures, audit and a calculator"),
    "completion": ("completion", "print a completion script for your shell"),
}
"""Each command: the module here that says what it takes and runs it, and one line of help."""


HINTS = {"--momentum": "pass --optimizer momentum: only composition covers it"}
"""What to pass instead of an option that people look for."""


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one line."""

    def error(self, message: str) -> NoReturn:
        words = {word.partition("=")[0] for word in message.split()}
        hint = next((hint for option, hint in HINTS.items() if option in words), f"try {self.prog} --help")
        self.exit(2, f"{self.prog}: error: {message} ({hint})\n")


class _Command(_Parser):
    """The parser of one command, which learns its options when it is first used."""

    learn: Callable[[], None] | None = None

    def learned(self) -> _Command:
        if self.learn is not None:
            learn, self.learn = self.learn, None
            learn()
        return self

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        return super(_Command, self.learned()).parse_known_args(*arguments, **options)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0 success, 1 a check failed, 2 bad input, 3 undecided)."""
    arguments = _parser().parse_args(argv)
    from ..errors import HsdpError

    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except HsdpError as error:
        print(f"hsdp: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hsdp: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone (`hsdp list | head`); nothing is left to say
        return 141
    return code


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command with its own parser, which knows its options."""
    found: dict[str, argparse.ArgumentParser] = _parser().get_default("commands")()
    return found


def _parser() -> _Parser:
    from .. import __version__

    parser = _Parser(
        prog="hsdp",
        description="Hidden-state differential privacy: derive, verify and evaluate the theorems of Ye & Shokri.",
        epilog=f"example: {EXAMPLE_EVAL}",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hsdp {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Command)
    found: dict[str, _Command] = {}
    for name, (part, summary) in COMMANDS.items():
        found[name] = subparsers.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        found[name].learn = _learner(found, part)
    parser.set_defaults(commands=lambda: {name: each.learned() for name, each in found.items()})
    return parser


def _learner(parsers: dict[str, _Command], part: str) -> Callable[[], None]:
    """A function that adds the options of one module's commands."""

    def command(name: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        parsers[name].learn = None
        parsers[name].set_defaults(run=run)
        return parsers[name]

    return lambda: import_module(f".{part}", __name__).register(command)
