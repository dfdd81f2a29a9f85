"""ARCHITECTURE.md says what is so: its layers are those that are checked, and what it names is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = {*re.findall(r"`([\w/]+(?:/|\.py))`", TEXT)}
PACKAGES = (ROOT, ROOT / "hsdp_symbolic", ROOT / "proofs_check")


def test_the_layers_are_those_that_are_checked():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = tools["importlinter"]["contracts"]
    (declared,) = (each["layers"] for each in contracts if each.get("containers") == ["hsdp_symbolic"])
    (printed,) = re.findall(r"<!-- layers -->\n```\n(.*?)```", TEXT, re.S)
    assert printed.split("\n")[:-1] == declared


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_it_names_is_there(room):
    assert any((package / room).exists() for package in PACKAGES)


@pytest.mark.parametrize("package", ["hsdp_symbolic", "proofs_check"])
def test_every_room_is_named(package):
    found = [each for each in (ROOT / package).iterdir() if each.name[0] not in "_."]
    rooms = {f"{each.name}/" if each.is_dir() else each.name for each in found if each.is_dir() or each.suffix == ".py"}
    assert rooms <= ROOMS
