"""`hsdp axioms`: what a statement rests on, as text, JSON and LaTeX."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.cli import main
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.kernel import rests_on


def run(capsys, *argv):
    try:
        code = main(["axioms", *argv])
    except SystemExit as stop:
        code = stop.code
    return (code, *capsys.readouterr())


@pytest.mark.smoke
def test_a_statement_rests_on_what_its_proof_uses(capsys):
    code, out, err = run(capsys, "thm:convexsmooth", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    used = rests_on(statement("thm:convexsmooth").theorem)
    assert set(found["facts"]) == {fact.name for fact in used if fact.reference}
    assert set(found["definitions"]) == {fact.name for fact in used if not fact.reference}
    assert "eta < 2/beta" in found["hypotheses"]
    assert {each["name"] for each in found["cited"]} == set(found["facts"])
    assert all(each["reference"] for each in found["cited"])


def test_the_record_says_what_a_new_proof_says(capsys):
    for label in ("thm:convexsmooth", "composition:full_batch"):
        assert run(capsys, label) == run(capsys, label, "--fresh")


def test_the_whole_base(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    for fact in all_facts().values():
        assert fact.name in out
    assert "definitions and elementary facts" in out.lower()


def test_which_statements_fall_with_a_fact(capsys):
    _, out, _ = run(capsys, "--fact", "lsi_push_forward", "--json")
    (found,) = json.loads(out)["facts"]
    assert "thm:strconvexsmooth" in found["statements"]
    assert "composition:full_batch" not in found["statements"]
    assert set(found["statements"]) <= set(labels())


def test_latex_names_every_fact(capsys):
    code, out, _ = run(capsys, "thm:convexsmooth", "--latex")
    assert code == 0
    assert out.startswith(r"\begin{description}")
    assert out.count(r"\item") == len([f for f in rests_on(statement("thm:convexsmooth").theorem) if f.reference])
    assert out.isascii()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["thm:shufle"], "did you mean thm:shuffle"),
        (["--fact", "nothing"], "no such fact"),
        (["thm:shuffle", "--fact", "composition"], "ask for one of the two"),
        (["--json", "--latex"], "not allowed with argument"),
    ],
)
def test_mistakes_are_explained(capsys, argv, told):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert told in err
