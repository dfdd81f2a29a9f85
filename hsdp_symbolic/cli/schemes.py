"""`hsdp schemes`: one run, its batches made in every way there is, and what each costs."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..progress import Ticker
from ..setting.letters import PARAMETERS
from .common import Command

if TYPE_CHECKING:
    from fractions import Fraction

    from ..evaluate.enclosure import Enclosure
    from ..examples.schemes import Row
    from ..setting import Setting

OF_LOSSES = tuple(letter for letter in PARAMETERS if letter.name != "lipschitz")
"""Every row is about losses, of which λ and β say how Lipschitz an update is."""
LETTERS = (*(letter.name for letter in OF_LOSSES), "sigma_squared")
DIGITS = 7
HEAD = ("batches", "last iterate", "every iterate", "at least", "the paper's", "by")
LEGEND = """epsilon certified, rounded up: if only the last iterate is seen, if every one is, by the paper's bound
at least: what a quadratic loss costs, rounded down; nothing smaller is true (mixtures of Gaussians: in float64)
one record is replaced; under Poisson sampling and as balls in bins it is added or removed, and moves a sum by half
of S_g
as balls in bins every record picks one batch of each epoch by itself; of shuffled records, which make room for one
another, that bound is false"""


def register(command: Command) -> None:
    schemes = command("schemes", _schemes)
    schemes.epilog = "example: hsdp schemes --run R1 --scheme without_replacement"
    schemes.add_argument("--run", metavar="NAME", dest="name", help="fig (default), R1, R2, R3, R5, million or large")
    schemes.add_argument("--all", action="store_true", help="every run that has a name; a minute")
    schemes.add_argument("--delta", metavar="X", default="1e-5", help="probability of exceeding epsilon (default 1e-5)")
    schemes.add_argument("--scheme", metavar="S", help="only this way of making batches, such as reshuffle")
    schemes.add_argument("--json", action="store_true", help="print a JSON list")
    group = schemes.add_argument_group(
        "or a run of your own, in the paper's letters", "numbers are exact: 50, 0.02 or 1/50"
    )
    for letter in OF_LOSSES:
        group.add_argument(f"--{letter.name}", metavar="X", help=f"{letter.meaning}; {letter.describe_range()}")
        if letter.name == "sigma":
            group.add_argument("--sigma_squared", metavar="X", help="instead of --sigma")


def _schemes(arguments: argparse.Namespace) -> int:
    from ..examples.schemes import cases_of, rows

    chosen = _runs(arguments)
    cases_of(arguments.scheme)
    found: list[Row] = []
    ticker = Ticker()
    for name, run in chosen.items():
        part = list(rows(run, name=name, delta=arguments.delta, scheme=arguments.scheme, ticker=ticker))
        ticker.clear()
        found += part
        if not arguments.json:
            print(f"{name or 'this run'} at delta = {arguments.delta}: {_in_words(run)}")
            _table(part)
            print()
    if arguments.json:
        settings = {name: run.exact_strings() for name, run in chosen.items()}
        print(json.dumps([{**row.record(), "setting": settings[row.run]} for row in found], indent=2))
    else:
        print(LEGEND)
    return 0


def _runs(arguments: argparse.Namespace) -> dict[str, Setting]:
    """The runs asked for, by name; one of the user's own has none."""
    from ..examples.schemes import RUNS, named_run
    from ..setting import Setting

    given = {name: getattr(arguments, name) for name in LETTERS if getattr(arguments, name) is not None}
    asked = [f"--{option}" for option, value in (("run", arguments.name), ("all", arguments.all)) if value]
    if len(asked) + bool(given) > 1:
        what = [*asked, *(["letters"] if given else [])]
        raise ArgumentError(
            "run", " and ".join(what), "which run is meant?", "give --run, --all or letters of your own"
        )
    if given:
        for letter in OF_LOSSES:
            if letter.name in given or (letter.name == "sigma" and "sigma_squared" in given):
                continue
            raise ArgumentError(letter.name, None, f"not given ({letter.meaning})", f"add --{letter.name}")
        return {"": Setting(**given)}
    return dict(RUNS) if arguments.all else {arguments.name or "fig": named_run(arguments.name or "fig")}


def _in_words(run: Setting) -> str:
    return ", ".join(f"{name} = {value}" for name, value in run.exact_strings().items())


def _table(rows: list[Row]) -> None:
    """One line for each row; columns as wide as they need be."""
    lines = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    for line in lines:
        numbers = [f"{cell:>{width}}" for cell, width in zip(line[1:-1], widths[1:-1], strict=True)]
        print("  ".join([f"  {line[0]:{widths[0]}}", *numbers, line[-1]]).rstrip())
    for row in rows:
        for part, reason in row.refused.items():
            print(f"    {row.case.words}, {part}: {reason}")


def _cells(row: Row) -> tuple[str, ...]:
    chosen = ", ".join(f"{name} {_short(value)}" for name, value in row.choices.items())
    by = row.by if row.hidden is not None else "-"
    return (
        row.case.words,
        _upper(row.hidden),
        _upper(row.seen),
        "-" if row.lower is None else row.lower.decimals(DIGITS)[0],
        _upper(row.paper),
        f"{by} ({chosen})" if chosen else by,
    )


def _upper(found: Enclosure | None) -> str:
    """Rounded up to so many digits; a dash where there is none."""
    return "-" if found is None else found.decimals(DIGITS)[1]


def _short(value: Fraction) -> str:
    """A whole number, or a decimal of the few digits that shares are given in."""
    return str(value) if value.denominator == 1 else f"{float(value):g}"
