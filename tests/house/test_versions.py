"""Versions: our own, said in one place, and those of what we depend on."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import hsdp_symbolic

ROOT = Path(__file__).parents[2]


def test_our_version_is_said_in_one_place():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in declared
    assert version("hsdp_symbolic") == hsdp_symbolic.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {'Unreleased' if 'dev' in hsdp_symbolic.__version__ else hsdp_symbolic.__version__}" in changes


def test_every_dependency_has_a_lowest_version_to_try():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", each)[0] for each in declared["dependencies"]}
    script = [sys.executable, str(ROOT / ".ci" / "lowest.py")]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout.split()
    found = dict(line.split("==") for line in printed)
    assert names < found.keys(), "and those of the tests"
    for name, lowest in found.items():
        assert parts(version(name)) >= parts(lowest), name


def parts(text):
    return [int(part) for part in re.findall(r"\d+", text)]
