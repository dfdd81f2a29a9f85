"""Writing files: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import ArgumentError


def require_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before the work whose result would go there."""
    target = Path(path)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ArgumentError("file", str(path), "cannot be written", "choose a file in a writable folder")


def require_folder(path: str | Path) -> None:
    """Refuse a folder that cannot be made or written in, before the work whose results would go there."""
    target = Path(path).absolute()
    nearest = next(each for each in (target, *target.parents) if each.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise ArgumentError("folder", str(path), "cannot be written in", "choose a writable folder")


def write_atomically(path: str | Path, text: str) -> None:
    """Write `text` to `path` so that a reader sees the old file or the new one, never a part."""
    require_writable(path)
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
