"""The command line: `hsdp COMMAND`; `hsdp --help` lists the commands.

Only the standard library is imported here, so that help and errors are instant. Anything the user got wrong ends
in one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ..errors import HsdpError
from . import accounting, completion, evidence, figures, latex, logistic, report, simulation, statements
from .common import EXAMPLE

PARTS = (statements, accounting, logistic, latex, figures, evidence, simulation, report, completion)


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (try {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0 success, 1 a check failed, 2 bad input, 3 undecided)."""
    arguments = _parser().parse_args(argv)
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
    """Every command with its own parser."""
    found: dict[str, argparse.ArgumentParser] = _parser().get_default("commands")
    return found


def _parser() -> _Parser:
    from .. import __version__

    parser = _Parser(
        prog="hsdp",
        description="Hidden-state differential privacy: derive, verify and evaluate the theorems of Ye & Shokri.",
        epilog=f"example: {EXAMPLE}",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hsdp {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    parser.set_defaults(commands=commands.choices)

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        sub.set_defaults(run=run)
        return sub

    for part in PARTS:
        part.register(command)
    return parser
