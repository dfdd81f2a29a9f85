"""Facts: each is stated once, used, cited properly, and checked on a case where it can be computed."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.lemmas import LEMMAS
from hsdp_symbolic.proof.facts import PARTS, all_facts
from hsdp_symbolic.proof.kernel import Fact, rests_on
from hsdp_symbolic.proof.witnesses import load, mutants

CITED = sorted(name for name, fact in all_facts().items() if not fact.is_definition)
PAPER = re.compile(r"\b(1[89]|20)\d\d\b")


def test_no_two_facts_share_a_name() -> None:
    every = [
        each
        for part in PARTS
        for each in vars(import_module(f"hsdp_symbolic.proof.facts.{part}")).values()
        if isinstance(each, Fact)
    ]
    assert {fact.name for fact in every} == set(all_facts())
    assert set(every) == set(all_facts().values())


def test_facts_are_named_as_their_variables() -> None:
    for part in PARTS:
        for name, each in vars(import_module(f"hsdp_symbolic.proof.facts.{part}")).items():
            assert not isinstance(each, Fact) or each.name == name


@pytest.mark.parametrize("name", CITED)
def test_a_cited_fact_names_a_paper(name: str) -> None:
    """Authors and a year."""
    assert PAPER.search(all_facts()[name].reference)


@pytest.mark.parametrize("name", sorted(all_facts()))
def test_a_fact_says_what_it_means(name: str) -> None:
    fact = all_facts()[name]
    assert fact.note
    assert str(fact)


@pytest.mark.parametrize("name", CITED)
def test_a_cited_fact_has_a_witness(name: str) -> None:
    """It holds where it can be computed; a version that claims too much does not."""
    fact, check = all_facts()[name], load()[name]
    assert all(check(fact))
    assert len(list(check(fact))) > 0
    wrong = [each for each in mutants(fact) if each.conclusion != fact.conclusion]
    assert all(not all(check(each)) for each in wrong)
    assert wrong or fact.conclusion.value_at is None or fact.conclusion.value == 0


def test_every_fact_is_used() -> None:
    """By a statement, or by a theorem that views or sentences rely on."""
    theorems = [each.theorem for each in statements()] + [lemma.theorem() for lemma in LEMMAS]
    used = frozenset[Fact]().union(*map(rests_on, theorems))
    assert {fact.name for fact in all_facts().values()} - {fact.name for fact in used} == set()
