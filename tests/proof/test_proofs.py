"""Every statement is proved, from facts and hypotheses to its expression, and nothing in its proof is rounded."""

from __future__ import annotations

import pytest
from sympy import Float

from hsdp_symbolic import labels, statement
from hsdp_symbolic.lemmas import LEMMAS
from hsdp_symbolic.proof.about import unneeded
from hsdp_symbolic.proof.kernel import RULES, closed, nodes
from hsdp_symbolic.proof.propositions import Abbreviation
from hsdp_symbolic.proof.tree import every_rule, outline


@pytest.mark.parametrize("label", labels())
def test_every_statement_is_proved(label):
    """`verify` keeps every promise, applies every rule again and looks at the ranges of abbreviations."""
    found = statement(label)
    assert found.verify() > 1
    assert found.theorem.proposition == found.proposition
    assert all(node.rule == "promise" or node.rule in RULES for node in nodes(found.theorem))


@pytest.mark.parametrize("label", labels())
def test_no_number_in_a_proof_is_rounded(label):
    for node in nodes(statement(label).theorem):
        for proposition in (node.proposition, *node.hypotheses):
            assert not any(expr.has(Float) for expr in proposition.expressions())


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda lemma: lemma.name)
def test_every_lemma_is_proved(lemma):
    """What views and sentences rely on, too."""
    assert closed(lemma.theorem())
    assert lemma.label in labels()
    assert lemma.says.endswith((".", ".)"))


def test_no_two_lemmas_share_a_name():
    assert len({lemma.name for lemma in LEMMAS}) == len(LEMMAS)


NOT_NEEDED = {"0 < lam", "1 ≤ K"}
"""Ranges of single letters, which the gate checks anyway; printed because the paper prints them."""


@pytest.mark.parametrize("label", labels())
def test_every_hypothesis_is_needed_or_listed(label):
    found = statement(label)
    idle = {str(each) for each in unneeded(found.theorem)}
    assert idle <= NOT_NEEDED | LISTED.get(label, {}).keys()
    assert LISTED.get(label, {}).keys() <= idle


_COUNTS = "where k and j come from, if they count epochs and batches; the proof counts steps"
_WINDOW = "what a window is; of a longer one the proof takes the steps that there are, and no view has its value"
LISTED = {
    "profile:balls_in_bins": {"window ≤ N*known": _WINDOW},
    "secret:balls_in_bins": {"window ≤ N*known": _WINDOW},
    "profile:reshuffle": {"known ≤ K": "only K epochs have places; of more the proof would speak, and no view"},
    "lem:LSIseq_convex": {"k ≤ K - 1": _COUNTS, "j ≤ N - 1": _COUNTS},
    "lem:LSIseq_stronglyconvex": {"k ≤ K - 1": _COUNTS, "j ≤ N - 1": _COUNTS},
    "conversion:epsilon": {"delta ≤ 1": "what a δ is; for a larger one the bound is true, and of no use"},
}
"""What is assumed and the proof does without, and why it is printed all the same."""


def test_an_outline_refers_only_to_what_came_before():
    for label in labels():
        lines = outline(statement(label).theorem)
        assert lines[-1].theorem is statement(label).theorem
        for line in lines:
            assert all(number < line.number for number in line.lines)


def test_every_rule_is_printed_with_what_it_uses():
    printed = list(every_rule(statement("thm:convexsmooth").theorem))
    assert any("apply composition" in line for line in printed)
    assert printed[-1].startswith(f"{len(printed)}. promise ({len(printed) - 1})")


def test_definitions_are_no_hypotheses_that_somebody_assumed():
    for label in labels():
        for node in nodes(statement(label).theorem):
            if node.rule == "assume":
                assert not isinstance(node.proposition, Abbreviation)
