"""The example in CONTRIBUTING.md is a theorem, and what it says to run exists."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.meaning import Asks, Neighbouring, Released, Terms
from hsdp_symbolic.statement import Statement

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example() -> Statement:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names = {"__package__": "hsdp_symbolic.sharper", "__name__": "hsdp_symbolic.sharper.example"}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)
    return names["repeated"]()


def test_the_example_is_proved(example):
    assert example.verify() > 10
    assert example.terms == Terms(Neighbouring.REPLACE_ONE, Released.EVERY, Asks.NOTHING)


def test_its_value_is_that_of_composition(example):
    run = Setting(n=50, K=40, eta="0.02", sigma=2, S_g=4)
    assert example.exact(run, alpha=15) == Fraction(6, 1250)
    assert "\\frac{\\alpha \\eta S_g^{2}}{4 \\sigma^{2} n^{2}}" in example.latex()


def test_every_file_it_names_exists():
    for path in re.findall(r"`([\w./]+\.(?:py|md|toml|json))`", TEXT):
        assert list(ROOT.glob(f"**/{path}")), path
