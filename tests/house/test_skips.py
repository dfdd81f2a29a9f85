"""No test is skipped silently: every skip says what is missing and how to get it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.skips import MISSING

TESTS = Path(__file__).parents[1]
SKIPPING = {"skip", "skipif", "importorskip", "xfail"}


def skips(source: str) -> list[str]:
    """The ways to skip that a source uses by itself."""
    return [
        f"line {node.lineno}: {node.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in SKIPPING and "pytest" in ast.unparse(node.value)
    ]


def asked_for(source: str) -> list[str]:
    """What tests may be skipped for the want of."""
    return [
        word.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "missing" and isinstance(word.value, ast.Constant)
    ]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_only_one_file_skips(path):
    assert path == TESTS / "skips.py" or not skips(path.read_text()), "use tests/skips.py"


def test_every_reason_is_used_and_every_use_has_a_reason():
    used = {
        name
        for path in TESTS.rglob("*.py")
        if path.parent != Path(__file__).parent
        for name in asked_for(path.read_text())
    }
    assert used == set(MISSING)


def test_a_reason_says_how_to_get_what_is_missing():
    for reason in MISSING.values():
        assert re.search(r": (apt-get install|pip install|put it|run) ?", reason), reason


def test_a_silent_skip_is_noticed():
    assert skips("@pytest.mark.skipif(True, reason='')\ndef test(): pytest.skip('later')") == [
        "line 1: skipif",
        "line 2: skip",
    ]
