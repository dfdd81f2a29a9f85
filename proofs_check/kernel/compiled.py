"""Compile the files with coqc, two at a time; what did not change, nor anything below it, is not compiled again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.files import write_atomically

from .layout import BASE, GENERATED

AT_ONCE = 2
LONGEST = 240
"""Seconds that a file may take."""
WANTED = "coqc is not installed: apt-get install coq libcoq-coquelicot libcoq-interval (Debian), or opam install coq"
_NEEDS = re.compile(r"^(?:From \w+ )?Require (?:Import|Export) ([\w ]+)\.$", re.MULTILINE)


class NoCoq(HsdpError):
    """There is no coqc on this machine."""


@dataclass(frozen=True)
class Compiled:
    """What became of one file."""

    name: str
    passed: bool
    said: str
    """What coqc printed, or the error."""
    seconds: float
    fresh: bool
    """Whether it was compiled now."""


def coqc() -> str:
    """Where coqc is."""
    found = shutil.which("coqc")
    if found is None:
        raise NoCoq(WANTED)
    return found


def sources() -> dict[str, Path]:
    """All files that can be compiled, by name."""
    return {path.stem: path for folder in (BASE, GENERATED) for path in sorted(folder.glob("*.v"))}


def needs(text: str, known: Iterable[str]) -> list[str]:
    """The files of ours that a file imports."""
    return [word for found in _NEEDS.findall(text) for word in found.split() if word in set(known)]


def below(name: str, texts: Mapping[str, str]) -> list[str]:
    """A file and all that it needs, these first."""
    found: list[str] = []

    def visit(word: str) -> None:
        if word not in found:
            for each in needs(texts[word], texts):
                visit(each)
            if word not in found:
                found.append(word)

    visit(name)
    return found


def compile_all(
    chosen: Iterable[str],
    place: Path,
    texts: Mapping[str, str] | None = None,
    told: Callable[[Compiled], None] = lambda _: None,
) -> dict[str, Compiled]:
    """Compile these files and what they need in a folder, which keeps what was compiled before."""
    program = coqc()
    texts = texts or {name: path.read_text(encoding="utf-8") for name, path in sources().items()}
    wanted = list(dict.fromkeys(each for name in chosen for each in below(name, texts)))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    keys: dict[str, str] = {}
    for name in wanted:
        parts = [version, texts[name], *(keys[each] for each in needs(texts[name], texts))]
        keys[name] = sha256("\0".join(parts).encode()).hexdigest()
    place.mkdir(parents=True, exist_ok=True)
    done: dict[str, Compiled] = {}
    running: dict[Future[Compiled], str] = {}
    waiting = list(wanted)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while waiting or running:
            for name in [each for each in waiting if all(one in done for one in needs(texts[each], texts))]:
                waiting.remove(name)
                failed = [one for one in needs(texts[name], texts) if not done[one].passed]
                if failed:
                    done[name] = Compiled(name, False, f"needs {failed[0]}, which failed", 0.0, False)
                    told(done[name])
                else:
                    running[pool.submit(_compile, program, name, texts[name], keys[name], place)] = name
            if not running:
                continue
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for each in finished:
                done[running.pop(each)] = each.result()
                told(each.result())
    return done


def _compile(program: str, name: str, text: str, key: str, place: Path) -> Compiled:
    """One file, unless it was compiled with this content and these files below it."""
    import time

    record = place / f"{name}.json"
    if record.is_file() and (place / f"{name}.vo").is_file():
        known = json.loads(record.read_text(encoding="utf-8"))
        if known["key"] == key:
            return Compiled(name, True, known["said"], known["seconds"], False)
    record.unlink(missing_ok=True)
    source = place / f"{name}.v"
    source.write_text(text, encoding="utf-8")
    started = time.monotonic()
    try:
        made = subprocess.run(
            [program, "-q", source.name], cwd=place, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return Compiled(name, False, f"not done after {LONGEST} s", float(LONGEST), True)
    seconds = round(time.monotonic() - started, 2)
    if made.returncode:
        return Compiled(name, False, made.stderr, seconds, True)
    write_atomically(record, json.dumps({"key": key, "said": made.stdout, "seconds": seconds}))
    return Compiled(name, True, made.stdout, seconds, True)


def assumed(said: str) -> set[str]:
    """The names that `Print Assumptions` lists."""
    if "Closed under the global context" in said:
        return set()
    _, _, listed = said.partition("Axioms:")
    return {found.group(1) for found in re.finditer(r"^([\w.']+)\s*(?::|$)", listed, re.MULTILINE)}
