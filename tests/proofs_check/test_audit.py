"""The audit: what is not plainly right, told and retold; the errata note."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic.cli import main
from proofs_check.audit import errata, findings, ledger_page, overview, story, to_latex
from proofs_check.claim import Claim, Note
from proofs_check.ledger import claims, coverage, notes


class TestFindings:
    def test_every_finding_says_what_follows_from_it(self, entries):
        for found in findings(entries).values():
            for entry in found:
                assert entry.claim.consequence, entry.claim.id
                assert entry.claim.correction or entry.claim.sharper, entry.claim.id

    def test_the_overview_lists_them_all(self, entries):
        told = overview()
        for found in findings(entries).values():
            for entry in found:
                assert entry.claim.id in told

    def test_a_story_recomputes_the_counterexample(self):
        told = story("thm:shuffle/bernoulli")
        assert "refuted by points, x = 1/2, a = 2" in told
        assert "fails as printed, holds as corrected" in told

    def test_unknown_names_get_a_hint(self, capsys):
        assert main(["audit", "bernoulli"]) == 2
        assert "thm:shuffle/bernoulli" in capsys.readouterr().err


class TestErrata:
    def test_it_is_plain_ascii_with_balanced_environments(self):
        note = errata()
        assert note.isascii()
        assert note.count("\\begin{") == note.count("\\end{")
        assert "\\documentclass" in note

    def test_characters_without_a_translation_are_an_error(self):
        assert to_latex("ε₀ ≤ α") == r"\ensuremath{\varepsilon}\ensuremath{_0} \ensuremath{\le} \ensuremath{\alpha}"
        assert (
            to_latex("e^(−S_g), GD_x, 5 %")
            == r"e\ensuremath{^{\ensuremath{-}S\ensuremath{_{g}}}}, GD\_\allowbreak{}x, 5 \%"
        )
        with pytest.raises(ValueError, match="no LaTeX"):
            to_latex("☃")


class TestCoverage:
    def test_items_and_references_exist(self):
        """Every item a claim or note names is in the inventory, and what a note restates is a claim or a statement."""
        from hsdp_symbolic import labels

        coverage()
        known = {claim.id for claim in claims()} | set(labels()) | {"eps0"}
        for note in notes():
            if note.kind == "restates":
                assert note.of in known, note
            assert note.says

    def test_nothing_is_both_claimed_and_waved_through(self):
        for item, found in coverage().items():
            kinds = {note.kind for note in found if isinstance(note, Note)}
            if any(isinstance(each, Claim) for each in found):
                assert "opinion" not in kinds, item

    def test_few_items_are_waved_through(self):
        """Opinions are the exception, and every one says why."""
        opinions = [note for note in notes() if note.kind == "opinion"]
        assert len(opinions) <= 30


class TestPage:
    def test_the_committed_ledger_is_fresh(self, entries):
        from proofs_check.audit import LEDGER

        assert LEDGER.read_text(encoding="utf-8") == ledger_page(entries)

    def test_json_has_every_claim(self, capsys):
        assert main(["verify", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert {row["id"] for row in rows} == {claim.id for claim in claims()}
