"""What the commands share: options for the letters, and how a command is made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..setting.letters import ARGUMENTS, PARAMETERS

Command = Callable[[str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
"""Called with a command's name and the function that runs it; returns its parser, to add options to."""


def add_letters(command: argparse.ArgumentParser, what: str, *, ranges: bool = False) -> None:
    """An option for every letter, in a group that says `what` they are for; with `ranges`, also LOW:HIGH."""
    written = "numbers are exact: 50, 0.02 or 1/50" + ("; LOW:HIGH stands for a range" if ranges else "")
    group = command.add_argument_group(what, written)
    for letter in PARAMETERS:
        group.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}; {letter.describe_range()}")
        if letter.name == "sigma":
            group.add_argument(
                "--sigma_squared", metavar="X", help="instead of --sigma, where only sigma^2 is rational"
            )
    for letter in ARGUMENTS:
        group.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}; {letter.describe_range()}")


def letters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The letters given on the command line: text, or a pair of texts for LOW:HIGH."""
    names = [letter.name for letter in (*PARAMETERS, *ARGUMENTS)] + ["sigma_squared"]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return {name: tuple(text.split(":")) if ":" in text else text for name, text in given.items()}
