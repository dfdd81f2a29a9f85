"""`hsdp practice`: what people really run, the Lipschitz constant of each update, what applies, and ε."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from ..progress import Ticker
from .common import Command

if TYPE_CHECKING:
    from ..examples.practice import Row

HEAD = ("run", "batches", "constant", "S_g", "epsilon", "by")
LEGEND = """1344 records of norm at most 1, batches of 64, 15 epochs, learning rate 0.5, clip norm 1, noise multiplier 8
constant: a Lipschitz constant of the update, rounded up; S_g: how far a record, replaced unless the row says otherwise,
can move a sum of gradients; epsilon at delta = 1e-5, certified"""


def register(command: Command) -> None:
    practice = command("practice", _practice)
    practice.epilog = "example: hsdp practice --json"
    practice.add_argument("--json", action="store_true", help="print a JSON list")


def _practice(arguments: argparse.Namespace) -> int:
    from ..examples.practice import rows

    ticker = Ticker()
    found = list(rows(ticker))
    ticker.clear()
    if arguments.json:
        print(json.dumps([row.record() for row in found], indent=2))
        return 0
    lines = [HEAD, *map(_cells, found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    for line in lines:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
    print(LEGEND)
    return 0


def _cells(row: Row) -> tuple[str, ...]:
    from ..evaluate.enclosure import Enclosure

    constant = "-" if row.constant is None else Enclosure(row.constant, row.constant).decimals(6)[1]
    moved = "-" if row.found.sensitivity is None else f"{float(row.found.sensitivity.value):.4g}"
    return row.practice.words, row.practice.scheme, constant, moved, f"{row.found.epsilon:.4f}", row.found.bound
