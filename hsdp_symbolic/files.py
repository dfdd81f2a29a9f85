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


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write text (or bytes) to `path` so that a reader sees the old file or the new one, never a part."""
    require_writable(path)
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
