"""Every statement is proved, from facts and hypotheses to its expression, and nothing in its proof is rounded."""

from __future__ import annotations

import pytest
from sympy import Float

from hsdp_symbolic import labels, statement
from hsdp_symbolic.proof.about import unneeded
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.kernel import RULES, nodes, rests_on
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


def test_every_cited_fact_is_needed_by_a_statement():
    used = frozenset().union(*(rests_on(statement(label).theorem) for label in labels()))
    assert {fact.name for fact in all_facts().values()} == {fact.name for fact in used}


NOT_NEEDED = {"0 < lam", "1 ≤ K"}
"""Ranges of single letters, which the gate checks anyway; printed because the paper prints them."""


@pytest.mark.parametrize("label", labels())
def test_every_hypothesis_is_needed_or_listed(label):
    found = statement(label)
    idle = {str(each) for each in unneeded(found.theorem)}
    assert idle <= NOT_NEEDED | LISTED.get(label, set())


LISTED = {
    "lem:LSIseq_convex": {"k ≤ K - 1", "j ≤ N - 1"},
    "lem:LSIseq_stronglyconvex": {"k ≤ K - 1", "j ≤ N - 1"},
}
"""What the paper assumes and the proof does without: where k and j come from, if they count epochs and batches."""


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
