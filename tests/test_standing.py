"""The accountant offers only statements whose proof stands."""

from dataclasses import replace

import pytest
from sympy import Integer

from hsdp_symbolic import Setting, accounting, standing, statement
from hsdp_symbolic.accounting import candidates
from hsdp_symbolic.accounting.candidates import SCHEMES, statements_of
from hsdp_symbolic.catalogue import _check, labels, statements
from hsdp_symbolic.checks import Identity
from hsdp_symbolic.derivation import Step
from hsdp_symbolic.meaning import BY_CONTRACTION, Asks, Neighbouring, Quantity, Released, Scheme
from hsdp_symbolic.standing import ProofFails, digest, recorded, require_standing, verified

FALSE_STEP = Step("1 = 2", Identity(Integer(1), Integer(2)))


def test_what_is_recorded_is_what_is_verified_now():
    """Every derivation is verified again; `python -m hsdp_symbolic.standing` writes the record."""
    assert recorded() == verified()


def test_everything_the_accountant_offers_is_recorded():
    for scheme in SCHEMES:
        for found in statements_of(scheme):
            assert recorded()[found.label] == digest(found)


@pytest.mark.parametrize(
    "change",
    [
        {"expr": statement("shift:gd").expr / 2},
        {"hypotheses": ()},
        {"relation": "="},
        {"terms": replace(BY_CONTRACTION, asks=Asks.NOTHING)},
        {"terms": replace(BY_CONTRACTION, released=Released.EVERY)},
        {"uses": ()},
    ],
)
def test_another_claim_has_another_digest(change):
    assert digest(replace(statement("shift:gd"), **change)) != recorded()["shift:gd"]


def test_a_statement_that_is_not_recorded_is_verified_first():
    halved = replace(statement("shift:gd"), expr=statement("shift:gd").expr / 2, steps=[FALSE_STEP])
    with pytest.raises(ProofFails, match=r"shift:gd: step 1 .* refuted"):
        require_standing(halved)


def test_the_accountant_refuses_it(monkeypatch):
    """A statement of the catalogue is changed, and its derivation no longer holds."""
    honest = candidates.statement

    def changed(label):
        found = honest(label)
        return replace(found, expr=found.expr / 2, steps=[FALSE_STEP]) if label == "shift:gd" else found

    monkeypatch.setattr(candidates, "statement", changed)
    statements_of.cache_clear()
    run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    try:
        with pytest.raises(ProofFails):
            accounting.epsilon(run, delta="1e-5", scheme="full_batch")
    finally:
        statements_of.cache_clear()


def test_without_a_record_everything_is_verified(monkeypatch, tmp_path):
    monkeypatch.setattr(standing, "RECORD", tmp_path / "none.json")
    recorded.cache_clear()
    try:
        assert recorded() == {}
        assert require_standing(statement("composition:fixed")).label == "composition:fixed"
        (tmp_path / "none.json").write_text("[1, 2]")
        recorded.cache_clear()
        assert recorded() == {}
    finally:
        recorded.cache_clear()


class TestMeaning:
    def test_every_bound_on_a_run_says_on_what_terms(self):
        for found in statements():
            if found.scheme is not Scheme.NONE and found.kind != "law":
                assert found.quantity is Quantity.DIVERGENCE, found.label
                assert isinstance(found.neighbouring, Neighbouring)
                assert isinstance(found.released, Released)
                assert isinstance(found.asks, Asks)

    def test_registration_refuses_what_does_not(self):
        bare = replace(statement("thm:shuffle"), terms=None)
        with pytest.raises(TypeError, match="on what terms"):
            _check("thm:shuffle", bare)
        with pytest.raises(TypeError, match="on what terms"):
            _check("thm:shuffle", statement("thm:strconvexsmooth"))
        with pytest.raises(TypeError, match="on what terms"):
            _check("thm:shuffle", replace(statement("thm:shuffle"), quantity=Quantity.EPSILON))

    def test_only_composition_lets_every_iterate_be_seen(self):
        open_ones = {found.label for found in statements() if found.released is Released.EVERY}
        assert open_ones == {label for label in labels() if label.startswith(("composition:", "mironov2019"))}
        assert all(statement(label).asks is Asks.NOTHING for label in open_ones)

    def test_the_words_follow_the_types(self):
        assert "only the last iterate is released" in " ".join(statement("thm:shuffle").assumptions)
        assert "added or removed" in " ".join(statement("mironov2019").assumptions)
