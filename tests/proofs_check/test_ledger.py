"""The ledger: every item of the paper has a verdict, and every claim reaches the one it should."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofs_check
from hsdp_symbolic import labels
from hsdp_symbolic.proof.checks import Identity, Verdict
from hsdp_symbolic.symbols import q, u_at
from proofs_check import register
from proofs_check.claim import Claim, Control, examine
from proofs_check.ledger import claims, coverage


def claim(printed, corrected=None):
    return Claim("x/1", "eps0", "somewhere", "a claim", printed, corrected, "as it should be")


RIGHT, WRONG, OPEN = Identity((q + 1) ** 2, q**2 + 2 * q + 1), Identity(q + q, q), Identity(u_at(q), u_at(2 * q))


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict", "settled"),
    [
        (RIGHT, None, "proved", True),
        (WRONG, RIGHT, "fails as printed, holds as corrected", True),
        (WRONG, None, "refuted", False),
        (WRONG, WRONG, "refuted", False),
        (WRONG, OPEN, "refuted", False),
        (OPEN, None, "undecided", False),
        (OPEN, RIGHT, "undecided", False),
    ],
)
@pytest.mark.smoke
def test_verdicts(printed, corrected, verdict, settled):
    entry = examine(claim(printed, corrected))
    assert entry.verdict == verdict
    assert entry.settled is settled


def test_a_control_that_tried_nothing_does_not_pass():
    assert not Control(0, ()).passes
    assert not Control(5, ("one that survived",)).passes
    assert Control(5, ()).passes


FINDINGS = {
    "lem:recursive/composition",
    "lem:rootconvexity1/moment",
    "thm:shuffle/shifted-sum",
    "thm:shuffle/bernoulli",
    "thm:shuffle/composition",
    "thm:amp_samp_wo_replacement/converges",
    "prop:smooth_strcvx_clip/loewner",
    "prop:smooth_strcvx_clip/lipschitz",
    "cor:logistic/fixed-order",
    "thm:GD_baseline/geometric-sum",
    "1/axis-6:ticks",
    "3.2/plot-10:height",
    "4.1/caption-3:styles",
    "D.2/sentence-2:gradient",
    "D.7/display-21:equality",
    "E.1/sentence-1:step-size",
    "E.2/display-10:same-order",
}
"""Some of what is wrong in the paper, which must stay found."""


def test_claims_reach_their_verdicts(entries):
    found = {entry.claim.id: entry for entry in entries}
    assert all(entry.settled for entry in found.values())
    assert found["lem:recursive/composition"].as_printed.verdict is Verdict.REFUTED
    assert found["thm:strconvexsmooth/dropped-factor"].verdict == "holds; sharper form available"
    fails = {name for name, entry in found.items() if entry.verdict == "fails as printed, holds as corrected"}
    assert fails >= FINDINGS
    assert len(fails) >= 60


def test_every_item_of_the_paper_has_a_verdict():
    missing = [item for item, about in coverage().items() if not about]
    assert missing == []


def test_ids_are_unique():
    ids = [found.id for found in claims()]
    assert len(ids) == len(set(ids))


def test_parts_exist_for_every_claims_module():
    from pathlib import Path

    folder = Path(register.__file__).parent / "claims"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(register.PARTS)


def test_the_page_has_a_row_for_every_claim():
    """By name alone, which takes no verdict; what the rows say is checked by `hsdp verify --ledger`."""
    page = (Path(proofs_check.__file__).parent / "LEDGER.md").read_text(encoding="utf-8")
    named = {*register.parts_of_claims(), *(f"{label}/theorem" for label in labels())}
    missing = sorted(name for name in named if f"| {name} |" not in page)
    assert not missing, "`hsdp verify --fresh --ledger` writes the page anew"
