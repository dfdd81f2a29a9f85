"""`hsdp verify`: everything is settled, and what is wrong cannot look green."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic.cli import main
from hsdp_symbolic.proof.checks import Identity
from hsdp_symbolic.symbols import q, u_at
from proofs_check.claim import Claim
from proofs_check.ledger import claims

KEYS = [
    "id",
    "where",
    "label",
    "claim",
    "verdict",
    "as_printed",
    "as_corrected",
    "method",
    "scope",
    "evidence",
    "control",
    "remembered",
]


def claim(printed, corrected=None):
    return Claim("x/1", "eps0", "somewhere", "a claim", printed, corrected, "as it should be")


RIGHT, WRONG, OPEN = Identity((q + 1) ** 2, q**2 + 2 * q + 1), Identity(q + q, q), Identity(u_at(q), u_at(2 * q))


def test_verify_prints_every_claim_and_succeeds(capsys):
    assert main(["verify"]) == 0
    out, _ = capsys.readouterr()
    assert out.count("\nok ") + out.startswith("ok ") == len(list(claims()))
    assert "all settled" in out


def test_verify_json(capsys, tmp_path):
    target = tmp_path / "ledger.json"
    assert main(["verify", "thm:GD_baseline", "--controls", "--json", str(target)]) == 0
    rows = json.loads(target.read_text())
    assert all(list(row) == KEYS for row in rows)
    assert {row["label"] for row in rows} == {"thm:GD_baseline"}
    assert all(row["control"]["mutants"] == row["control"]["rejected"] >= 1 for row in rows)
    assert "mutants rejected" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"], "no temporary file is left"


@pytest.mark.parametrize("bad", [WRONG, OPEN])
def test_verify_fails_if_anything_is_refuted_or_undecided(capsys, monkeypatch, bad):
    monkeypatch.setattr("proofs_check.report.claims", lambda label: iter([claim(RIGHT), claim(bad)]))
    assert main(["verify"]) == 1
    out, _ = capsys.readouterr()
    assert "NOT settled: x/1" in out


def test_verify_of_nothing_fails(capsys, monkeypatch):
    monkeypatch.setattr("proofs_check.report.claims", lambda label: iter([]))
    assert main(["verify"]) == 1
