"""Progress on stderr: on a terminal one line that is rewritten, elsewhere a new line now and then."""

from __future__ import annotations

import shutil
import sys
import time


def progress(number: int, total: int, what: str) -> None:
    """Say that item `number` of `total` is under way; a total of 0 clears the line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        text = f"{number}/{total} {what}" if total else ""
        sys.stderr.write(f"\r\x1b[K{text[:width]}")
        sys.stderr.flush()
    elif total and (number == 1 or number % 50 == 0):
        print(f"{number}/{total} {what}", file=sys.stderr)


class Ticker:
    """Progress of work of unknown length: prints after two seconds, then every `pause` seconds."""

    def __init__(self, pause: float | None = None) -> None:
        self._pause = (0.2 if sys.stderr.isatty() else 10.0) if pause is None else pause
        self._started = time.monotonic()
        self._next = self._started + 2

    @property
    def seconds(self) -> float:
        """How long ago the work began."""
        return time.monotonic() - self._started

    def say(self, what: str) -> None:
        """Print `what` and the time taken so far, unless the last line was printed only just now."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._pause
        line = f"{what}, {now - self._started:.0f} s"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()
        else:
            print(line, file=sys.stderr)

    def clear(self) -> None:
        """Remove the line from a terminal, as the work is done."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
