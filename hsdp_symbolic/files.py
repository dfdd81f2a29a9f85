"""Writing files: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .errors import ArgumentError


def require_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before doing the work whose result would go there."""
    target = Path(path)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ArgumentError("file", str(path), "cannot be written", "choose a file in a writable folder")


def require_writable_folder(path: str | Path) -> None:
    """Refuse a folder in which files cannot be made, before doing the work whose results would go there."""
    target = Path(path).absolute()
    existing = next(each for each in (target, *target.parents) if each.exists())
    try:
        Path(tempfile.mkdtemp(dir=existing, prefix=".hsdp.")).rmdir()  # permissions alone do not tell (/proc, root)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ArgumentError(
            "folder", str(path), f"cannot be written ({reason})", "choose a folder that can be created or written to"
        ) from error


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write text (or bytes) to `path` so that a reader sees the old file or the new one, never part of one."""
    write_together({Path(path): content.encode() if isinstance(content, str) else content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files; each appears whole, and none appears before all are on disk."""
    for target in files:
        require_writable(target)
    temporaries: dict[str, Path] = {}
    try:
        for target, content in files.items():
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            temporaries[temporary] = target
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.chmod(temporary, 0o644)
        for temporary, target in temporaries.items():
            os.replace(temporary, target)
    except BaseException:
        for temporary in temporaries:
            Path(temporary).unlink(missing_ok=True)
        raise
