"""Every step of every derivation holds, and every step's check rejects wrong versions of it."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from sympy import Float

from hsdp_symbolic import labels, statement, statements
from hsdp_symbolic.proof.checks import Cited, Verdict, surviving_mutants
from hsdp_symbolic.proof.derivation import Step


@cache
def own_steps() -> dict[str, dict[int, Step]]:
    """The steps of every statement, by number; a step that several share is examined once, under the first of them."""
    found: dict[str, dict[int, Step]] = {}
    seen = set()
    for label in labels():
        numbered = enumerate(statement(label).steps, start=1)
        found[label] = {number: step for number, step in numbered if is_new(repr(step.check), seen)}
    return found


def is_new(key, seen):
    fresh = key not in seen
    seen.add(key)
    return fresh


@pytest.mark.parametrize("label", labels())
def test_every_step_holds(label):
    for number, step in own_steps()[label].items():
        evidence = step.check.verify()
        expected = Verdict.CITED if isinstance(step.check, Cited) else Verdict.PROVED
        assert evidence.verdict is expected, (number, evidence)


@pytest.mark.parametrize("label", labels())
def test_a_mutant_does_not(label):
    """One of one step, chosen by the label; all of them by `-m slow` and by `hsdp verify --controls`."""
    rng = random.Random(label)
    number, step = rng.choice(list(own_steps()[label].items()))
    what, mutant = rng.choice(list(step.check.mutants()))
    assert not mutant.verify().verdict.passes, (number, what)


@pytest.mark.slow
@pytest.mark.parametrize("label", labels())
def test_no_mutant_survives(label):
    for number, step in own_steps()[label].items():
        tried, survivors = surviving_mutants(step.check)
        assert tried >= 1, number
        assert survivors == [], number


def test_every_statement_is_derived():
    assert all(statement(label).steps for label in labels())
    assert sum(map(len, own_steps().values())) > 150


def test_the_two_primitive_lsi_facts_and_the_analytic_facts_are_the_only_citations():
    references = {step.check.reference for s in statements() for step in s.steps if isinstance(step.check, Cited)}
    assert references == {
        "Vempala & Wibisono 2019, Lemma 16",
        "Vempala & Wibisono 2019, Lemma 17",
        "Vempala & Wibisono 2019, Section 2.2",
        "Green's first identity, with the decay of p_t and p_t'",
        "dominated convergence, for E_α finite near α",
        "dominated convergence, for Gaussian convolutions",
        "van Erven & Harremoës 2014, Theorem 9",
        "van Erven & Harremoës 2014, Theorem 13",
        "Mironov 2017, Proposition 1",
        "Mironov, Talwar & Zhang 2019, Theorems 4, 5 and Section 3.3",
        "Balle et al. 2019, Theorem 5",
        "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 20",
        "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 21",
        "Jensen's inequality",
        "Hölder's inequality",
    }
    guarantees = (Path(__file__).parents[2] / "proofs_check" / "GUARANTEES.md").read_text()
    authors = ("Vempala & Wibisono", "van Erven & Harremoës", "Mironov 2017", "Feldman et al.", "Balle et al.")
    for name in (*authors, "Jensen", "Hölder"):
        assert name in guarantees


def test_statements_hold_no_inexact_number():
    for s in statements():
        for expr in (s.expr, s.shown, *(side for h in s.hypotheses for side in h.args)):
            assert not expr.atoms(Float), s.label


def test_what_a_statement_rests_on_is_in_the_catalogue():
    assert {label for s in statements() for label in s.uses} <= set(labels())
