"""The accountant offers only statements whose proof stands."""

from dataclasses import replace

import pytest
from sympy import Integer

from hsdp_symbolic import Setting, accounting, standing, statement
from hsdp_symbolic.accounting import candidates
from hsdp_symbolic.accounting.candidates import SCHEMES, statements_of
from hsdp_symbolic.meaning import BY_CONTRACTION, Asks, Released
from hsdp_symbolic.proof.checks import Identity
from hsdp_symbolic.proof.derivation import Step
from hsdp_symbolic.standing import ProofFails, digest, record, require_standing, verified, verify

FALSE_STEP = Step("1 = 2", Identity(Integer(1), Integer(2)))


def test_what_is_recorded_is_what_is_verified_now():
    """Every derivation is verified again; `python -m hsdp_symbolic.standing` writes the record."""
    assert record() == verified()


def test_everything_the_accountant_offers_is_recorded():
    for scheme in SCHEMES:
        for found in statements_of(scheme):
            assert record()["digests"][found.label] == digest(found)


@pytest.mark.parametrize(
    "change",
    [
        {"expr": Integer(1)},
        {"hypotheses": ()},
        {"relation": "="},
        {"terms": replace(BY_CONTRACTION, asks=Asks.NOTHING)},
        {"terms": replace(BY_CONTRACTION, released=Released.EVERY)},
        {"uses": ()},
    ],
)
def test_another_claim_has_another_digest(change):
    assert digest(replace(statement("shift:gd"), **change)) != record()["digests"]["shift:gd"]


def halved():
    return {"expr": statement("shift:gd").expr / 2}


def test_half_of_a_bound_has_another_digest():
    assert digest(replace(statement("shift:gd"), **halved())) != record()["digests"]["shift:gd"]


@pytest.mark.parametrize(
    "change",
    [
        halved,
        lambda: halved() | {"steps": ()},
        lambda: {"also": (("beside", Integer(1)),)},
        lambda: {"assumes": ("",)},
    ],
    ids=["halved", "halved, no steps", "one more claim", "one more assumption"],
)
def test_what_claims_something_else_is_refused(change):
    """Though every step of its derivation may hold."""
    with pytest.raises(ProofFails, match="shift:gd is not used: it claims something other than what was verified"):
        require_standing(replace(statement("shift:gd"), **change()))


def test_the_accountant_refuses_it(monkeypatch):
    """Only the expression is changed: its derivation is untouched, and holds."""
    honest = candidates.statement

    def changed(label):
        return replace(honest(label), **halved()) if label == "shift:gd" else honest(label)

    monkeypatch.setattr(candidates, "statement", changed)
    statements_of.cache_clear()
    run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    try:
        with pytest.raises(ProofFails):
            accounting.epsilon(run, delta="1e-5", scheme="full_batch")
    finally:
        statements_of.cache_clear()


@pytest.mark.parametrize("content", [None, "", "[1, 2]", '{"digests": 3}', "{}"])
def test_nothing_stands_without_a_record(monkeypatch, tmp_path, content):
    monkeypatch.setattr(standing, "RECORD", tmp_path / "standing.json")
    if content is not None:
        standing.RECORD.write_text(content)
    record.cache_clear()
    try:
        with pytest.raises(ProofFails, match="missing or damaged"):
            require_standing(statement("composition:fixed"))
    finally:
        record.cache_clear()


def test_another_sympy_verifies_anew(monkeypatch):
    """It may write an expression in another way; a derivation that fails, or is not there, is still refused."""
    monkeypatch.setitem(record(), "sympy", "1.0")
    assert require_standing(replace(statement("shift:gd"), assumes=("other words",))).label == "shift:gd"
    for steps, problem in (([FALSE_STEP], "step 1 of its derivation is refuted"), ((), "it has no derivation")):
        with pytest.raises(ProofFails, match=problem):
            require_standing(replace(statement("shift:gd"), **halved(), steps=steps))
    with pytest.raises(ProofFails):
        verify(replace(statement("shift:gd"), steps=()))
