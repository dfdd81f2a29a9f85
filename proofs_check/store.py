"""Records on disk that nobody else can have written: each is signed with a secret of this account.

A record is signed together with the fingerprint of the code that made it and with its own key. One that was edited,
copied from another key or another version, or written by somebody without the secret, is not returned. Whoever can read
the secret can sign; that is the account itself.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.files import write_atomically

SECRET_BYTES = 32
LARGEST = 2**26
"""Bytes of the largest store that is read; ours have less than a hundredth of that."""
KEPT = 3
"""How many versions' stores are kept: the newest ones."""

_OURS = re.compile(r"(remembered|ledger|verdicts)-[0-9a-f]{16}\.json")
"""Names of stores, now and in version 0.1."""
_LEFTOVER = re.compile(r"\.(remembered-[0-9a-f]{16}\.json|secret)\..*")
"""Names of files a killed process may leave half written."""


class Store:
    """The records of one fingerprint. Nothing here raises: a store that cannot be used is an empty one."""

    def __init__(self, fingerprint: str, shape: Callable[[object], bool]) -> None:
        """`shape` says whether a record, read from JSON, is one that we could have written."""
        self._fingerprint, self._shape = fingerprint, shape
        self._folder = folder()
        self._secret = None if self._folder is None else _secret(self._folder)
        self.rejected = 0
        self.damaged = False

    @property
    def place(self) -> Path | None:
        return self._folder and self._folder / f"remembered-{self._fingerprint[:16]}.json"

    def read(self) -> dict[str, Any]:
        """What was written, by key. Counts in `rejected` what is not ours; `damaged` if the file as a whole is not."""
        if self.place is None or self._secret is None:
            return {}
        try:
            stored = json.loads(_regular_file(self.place, LARGEST).decode("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            stored = None
        if not isinstance(stored, dict):
            self.damaged = True
            return {}
        found = {key: entry["record"] for key, entry in stored.items() if self._is_ours(key, entry)}
        self.rejected = len(stored) - len(found)
        return found

    def write(self, records: Mapping[str, Any]) -> None:
        """Replace what is stored, whole or not at all; forget the stores of all but the newest versions."""
        if self.place is None or self._secret is None:
            return
        signed = {key: {"record": record, "signature": self._sign(key, record)} for key, record in records.items()}
        try:
            write_atomically(self.place, json.dumps(signed))
            _prune(self.place)
        except (OSError, HsdpError):
            pass  # a memory that cannot be written is no reason to fail

    def _is_ours(self, key: str, entry: object) -> bool:
        """Whether we wrote an entry. Shape first: what has it is small and shallow, and safe to sign."""
        if not isinstance(entry, dict) or set(entry) != {"record", "signature"} or not self._shape(entry["record"]):
            return False
        given = entry["signature"]
        return (
            isinstance(given, str) and given.isascii() and hmac.compare_digest(given, self._sign(key, entry["record"]))
        )

    def _sign(self, key: str, record: object) -> str:
        assert self._secret is not None
        message = json.dumps([self._fingerprint, key, record], sort_keys=True, separators=(",", ":"))
        return hmac.new(self._secret, message.encode(), "sha256").hexdigest()


def folder() -> Path | None:
    """Where memory lives; None where there is no home."""
    given = Path(os.environ.get("XDG_CACHE_HOME") or ".")
    try:
        return (given if given.is_absolute() else Path.home() / ".cache") / "hsdp"
    except RuntimeError:
        return None


def _secret(where: Path) -> bytes | None:
    """The account's secret, made if there is none that only this account can read; None if it cannot be made."""
    place = where / "secret"
    try:
        return _private(place)
    except (OSError, ValueError):
        pass
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=where, prefix=".secret.")  # exclusive, mode 0600
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(SECRET_BYTES))
            _put(Path(temporary), place)
        finally:
            Path(temporary).unlink(missing_ok=True)
        return _private(place)
    except (OSError, ValueError):
        return None


def _put(temporary: Path, place: Path) -> None:
    """Give the new secret its name, unless another process has just done so with one of its own."""
    try:
        os.link(temporary, place)
    except OSError:
        try:
            _private(place)
        except (OSError, ValueError):
            os.replace(temporary, place)


def _private(place: Path) -> bytes:
    """A secret that only this account can have read or written; an error otherwise."""
    found = _regular_file(place, SECRET_BYTES, private=True)
    if len(found) != SECRET_BYTES:
        raise ValueError("a secret of another length")
    return found


def _regular_file(place: Path, largest: int, *, private: bool = False) -> bytes:
    """The bytes of a file that is no link, no pipe and not too large, and (on request) nobody else's to read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(place, flags)
    with os.fdopen(handle, "rb") as stream:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > largest:
            raise ValueError("no file of ours")
        if private and os.name == "posix" and (about.st_uid != os.geteuid() or about.st_mode & 0o077):
            raise ValueError("others can read or write it")
        return stream.read(largest + 1)


def _prune(current: Path) -> None:
    """Delete stores of older versions, those of 0.1, and what killed processes left half written an hour ago."""
    stores: list[tuple[float, Path]] = []
    for path in current.parent.iterdir():
        age = time.time() - path.lstat().st_mtime
        if _OURS.fullmatch(path.name) and path != current:
            stores.append((age if path.name.startswith("remembered") else float("inf"), path))
        elif _LEFTOVER.fullmatch(path.name) and age > 3600:
            path.unlink(missing_ok=True)
    stores.sort()
    for position, (age, path) in enumerate(stores, start=2):
        if position > KEPT or age == float("inf"):
            path.unlink(missing_ok=True)
