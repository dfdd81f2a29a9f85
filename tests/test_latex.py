"""LaTeX goldens: the paper's notation and order, generated from the symbolic object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.nodes import FirstEpoch, undisplay

GOLDEN = json.loads((Path(__file__).parent / "golden_latex.json").read_text())


@pytest.mark.parametrize("label", labels())
def test_golden(label):
    assert statement(label).latex().split("\n") == GOLDEN[label]


def test_a_display_node_without_its_definition_has_no_meaning():
    with pytest.raises(AttributeError, match="FirstEpoch"):
        undisplay(FirstEpoch(1, 2))
