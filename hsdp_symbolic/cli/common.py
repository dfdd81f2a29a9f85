"""What the commands share: options for the letters, and how a command is made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..setting.letters import ARGUMENTS, PARAMETERS

Command = Callable[[str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
"""The parser of a command, by its name, told what runs it."""


def add_letters(command: argparse.ArgumentParser) -> None:
    """An option for every letter; a range is written LOW:HIGH."""
    for letter in PARAMETERS:
        command.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}: {letter.describe_range()}")
        if letter.name == "sigma":
            command.add_argument(
                "--sigma_squared", metavar="X", help="instead of --sigma, where only sigma^2 is rational"
            )
    for letter in ARGUMENTS:
        command.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}: {letter.describe_range()}")


def letters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The letters given on the command line: text, or a pair of texts for LOW:HIGH."""
    names = [letter.name for letter in (*PARAMETERS, *ARGUMENTS)] + ["sigma_squared"]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return {name: tuple(text.split(":")) if ":" in text else text for name, text in given.items()}
