"""Progress on stderr: a line that rewrites itself on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import shutil
import sys


def progress(number: int, total: int, what: str) -> None:
    """Say that item `number` of `total` is under way; total 0 clears the line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        text = f"{number}/{total} {what}" if total else ""
        sys.stderr.write(f"\r\x1b[K{text[:width]}")
        sys.stderr.flush()
    elif total and (number == 1 or number % 50 == 0):
        print(f"{number}/{total} {what}", file=sys.stderr)
