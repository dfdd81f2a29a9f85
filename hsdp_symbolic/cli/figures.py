"""`hsdp figures`: the paper's figures and new ones, drawn from the catalogue, with their numbers."""

from __future__ import annotations

import argparse
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..progress import Ticker
from ..setting.gate import admit
from ..setting.parameters import PARAMETER_NAMES
from .common import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..plots import Figure, Request

_LETTERS = PARAMETER_NAMES | {"alpha"}


def register(command: Command) -> None:
    figures = command("figures", _figures)
    figures.epilog = "example: hsdp figures figure2a crossover --set n=1000 --set b=20 --set K=100 --set alpha=8,32"
    figures.add_argument(
        "names", metavar="NAME", nargs="*", help="names of figures (see --list), or paper (default), new or all"
    )
    figures.add_argument("--list", action="store_true", help="list the figures and do nothing else")
    figures.add_argument("--out", metavar="DIR", default="figures", help="folder to write to (default figures)")
    figures.add_argument(
        "--format", metavar="F", default="pdf,png", help="pdf, png or svg, or several with commas (default pdf,png)"
    )
    figures.add_argument("--palette", metavar="P", default="paper", help="paper (default) or colour-blind")
    figures.add_argument(
        "--as-printed",
        action="store_true",
        help="as in the paper, slips included: its ticks, label positions and sample points",
    )
    figures.add_argument(
        "--set",
        metavar="LETTER=VALUE",
        action="append",
        default=[],
        help="change a letter of the setting (n, b, K, eta, …); alpha=8,32 changes the orders",
    )
    figures.add_argument("--from", metavar="FILE", dest="file", help="read letters from a TOML file; --set wins")


def available() -> dict[str, Callable[[Request], Figure]]:
    """All figures by name: those of the package, and the one of the paper's slips, which the ledger knows."""
    from proofs_check.slips import slips

    from ..plots import FIGURES

    return FIGURES | {"slips": slips}


def _figures(arguments: argparse.Namespace) -> int:
    given = (_read(arguments.file) if arguments.file else {}) | dict(map(_letter, arguments.set))
    orders = _orders(given.pop("alpha")) if "alpha" in given else None

    from ..plots import Request, produce, save
    from ..plots.draw import check_looks
    from ..plots.save import check_folder

    if arguments.list:
        for name, make in available().items():
            print(f"{name:12} {(make.__doc__ or '').splitlines()[0]}")
        return 0
    chosen = _choose(arguments.names)
    formats = list(dict.fromkeys(arguments.format.split(",")))
    check_looks(formats, arguments.palette)
    check_folder(arguments.out)
    request = Request(given, orders, arguments.as_printed)
    ticker = Ticker()
    described = []
    for name, make in chosen.items():
        ticker.say(f"preparing {name}")
        described.append(make(request))
    files = produce(described, formats, palette=arguments.palette, ticker=ticker)
    ticker.clear()
    for path in save(files, arguments.out):
        print(path)
    return 0


def _choose(names: list[str]) -> dict[str, Callable[[Request], Figure]]:
    """The figures asked for, each once."""
    from ..plots import PAPER

    known = available()
    groups = {"paper": list(PAPER), "new": [name for name in known if name not in PAPER], "all": list(known)}
    chosen: dict[str, Callable[[Request], Figure]] = {}
    for name in names or ["paper"]:
        if name not in known and name not in groups:
            close = get_close_matches(name, [*known, *groups], n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(close)}?" if close else "`hsdp figures --list` shows all"
            raise ArgumentError("name", name, "no such figure", hint)
        chosen |= {each: known[each] for each in groups.get(name, [name])}
    return chosen


def _letter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or name not in _LETTERS:
        problem = "not of the form LETTER=VALUE" if not equals else f"no letter {name}"
        raise ArgumentError("set", text, problem, f"set one of {', '.join(sorted(_LETTERS))}, as in n=1000")
    return name, value.split(",") if name == "alpha" else value


def _read(file: str) -> dict[str, Any]:
    """The letters in a TOML file; decimals stay text, so that they are read exactly."""
    try:
        found = tomllib.loads(Path(file).read_text(encoding="utf-8"), parse_float=str)
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError("from", file, "cannot be read", "give the path of a TOML file") from error
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(
            "from", file, f"not TOML ({error})", 'write lines such as n = 1000 or eta = "1/50"'
        ) from error
    for name in sorted(found.keys() - _LETTERS):
        raise ArgumentError(name, found[name], "no such letter", f"set one of {', '.join(sorted(_LETTERS))}")
    return found


def _orders(given: Any) -> tuple[Any, ...]:
    """The orders asked for, each once and in range."""
    orders = tuple(admit("alpha", value) for value in (given if isinstance(given, list) else [given]))
    if not orders or len(set(orders)) < len(orders):
        raise ArgumentError("alpha", given, "not a list of different orders", "give orders such as 8,32")
    return orders
