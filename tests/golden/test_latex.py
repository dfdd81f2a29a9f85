"""Every view that is kept is what is printed now."""

from __future__ import annotations

import pytest

from hsdp_symbolic import labels
from tests.golden import latex, values

REGENERATE = "python -m tests.golden writes what is kept anew"


@pytest.mark.smoke
def test_statements():
    assert latex.statements_text() == latex.STATEMENTS.read_text(), REGENERATE


@pytest.mark.parametrize("name", latex.FILES)
def test_files(name):
    assert latex.FILES[name]() == (latex.HERE / name).read_text(), REGENERATE


@pytest.mark.parametrize("label", labels())
def test_the_document_holds_every_view(label):
    text = (latex.HERE / "document.tex").read_text()
    assert latex.hypotheses_view(label, "latex") in text, REGENERATE
    assert latex.derivation_view(label, "latex") in text, REGENERATE


def test_nothing_else_lies_about():
    here = {path for path in latex.HERE.iterdir() if path.is_file() and path.suffix != ".py"}
    assert here == {*latex.kept(), *values.kept()}
