"""The register of claims: what is built with its help is what is built without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hsdp_symbolic import labels
from hsdp_symbolic.proof.checks import Identity
from hsdp_symbolic.symbols import q
from proofs_check import register
from proofs_check.claim import Claim
from proofs_check.ledger import about, claim_named, claims, coverage


def forget():
    register._read.cache_clear()
    register._recorded.cache_clear()


def test_it_is_fresh():
    """If not: `python -m proofs_check.register` writes it."""
    assert register.REGISTER.read_text(encoding="utf-8") == register.written()


@pytest.mark.parametrize(
    "chosen", [slice(None, None, 6), pytest.param(slice(None), marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_a_statements_claims_are_those_among_all(chosen):
    everything = list(claims())
    for label in labels()[chosen]:
        assert [found.id for found in claims(label)] == [each.id for each in everything if each.label == label]


def test_one_claim_is_built_without_the_other_parts():
    script = (
        "import sys\nfrom proofs_check.ledger import claim_named\n"
        "assert claim_named('thm:GD_baseline/geometric-sum').id == 'thm:GD_baseline/geometric-sum'\n"
        "print(sorted(name for name in sys.modules if name.startswith('proofs_check.claims.')))"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "['proofs_check.claims.gradient_descent']"


@pytest.mark.parametrize("name", ["thm:GD_baseline/theorem", "thm:shuffle/bernoulli", "D.7/display-21:equality"])
def test_every_kind_of_claim_is_found_by_name(name):
    assert claim_named(name).id == name


@pytest.mark.parametrize("name", ["thm:GD_baseline/99", "thm:GD_baseline", "nothing/1", ""])
def test_what_does_not_exist_is_not_found(name):
    assert claim_named(name) is None


def test_an_item_has_the_same_claims_and_notes_either_way():
    everything = coverage()
    for item in ("D.5/display-3", "1/axis-6", "E.1/sentence-1"):
        assert about(item) == everything[item]


@pytest.mark.parametrize("content", [None, "", "[]", "{}"])
def test_without_a_register_everything_is_built_and_found(monkeypatch, tmp_path, content):
    expected = [each.id for each in claims("thm:GD_baseline")]
    monkeypatch.setattr(register, "REGISTER", tmp_path / "register.json")
    if content is not None:
        register.REGISTER.write_text(content)
    forget()
    try:
        assert [each.id for each in claims("thm:GD_baseline")] == expected
    finally:
        forget()


def test_a_part_that_has_changed_is_built_whole(monkeypatch):
    """A claim the register does not know of is found all the same."""
    source = register._source
    monkeypatch.setattr(register, "_source", lambda part: "edited" if part == "shuffle" else source(part))
    new = Claim("x/1", "eps0", "somewhere", "a claim", Identity((q + 1) ** 2, q**2 + 2 * q + 1))
    monkeypatch.setattr("proofs_check.claims.shuffle._around_the_theorem", lambda: [new])
    forget()
    try:
        assert claim_named("x/1") is new
        assert claim_named("thm:shuffle/bernoulli") is None
    finally:
        forget()
