"""`hsdp report`: statements, figures, audit and a calculator on one web page."""

from __future__ import annotations

import argparse
from pathlib import Path

from .common import Command, add_letters, letters


def register(command: Command) -> None:
    report = command("report", _report)
    report.epilog = "example: hsdp report --out site, then open site/index.html"
    report.add_argument("--out", default="report", metavar="DIR", help="folder for index.html (default: report)")
    add_letters(report, "where the statements are evaluated (default: the setting of the paper's figures)")


def _report(arguments: argparse.Namespace) -> int:
    from proofs_check.page import write_page

    print(write_page(Path(arguments.out), letters(arguments)))
    return 0
