"""The accountant offers only statements whose proof stands."""

from dataclasses import replace

import pytest
from sympy import Integer

from hsdp_symbolic import Setting, accounting, standing, statement
from hsdp_symbolic.accounting import candidates
from hsdp_symbolic.accounting.candidates import SCHEMES, statements_of
from hsdp_symbolic.proof.kernel import promise, proof_of
from hsdp_symbolic.standing import ProofFails, digest, proof_record, record, require_standing, verified


def test_what_is_recorded_is_what_is_verified_now():
    """Every statement is proved again; `python -m hsdp_symbolic.standing` writes the record."""
    assert record() == verified()


def test_everything_the_accountant_offers_is_recorded():
    for scheme in SCHEMES:
        for found in statements_of(scheme):
            assert record()["digests"][found.label] == digest(found)


def halved():
    """`shift:gd` at half its value: a promise that its own proof does not keep."""
    honest = statement("shift:gd")
    claim = honest.proposition
    half = promise(
        replace(claim, epsilon=claim.epsilon / 2), honest.theorem.hypotheses, lambda: proof_of(honest.theorem)
    )
    return replace(honest, theorem=half)


CHANGED = {
    "halved": halved,
    "one more claim": lambda: replace(statement("shift:gd"), also=(("beside", Integer(1)),)),
    "one more assumption": lambda: replace(statement("shift:gd"), assumes=("",)),
    "rests on other statements": lambda: replace(statement("shift:gd"), uses=("thm:shuffle",)),
    "another kind": lambda: replace(statement("shift:gd"), kind="law"),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_what_claims_something_else_is_refused(change):
    assert digest(change()) != record()["digests"]["shift:gd"]
    with pytest.raises(ProofFails, match="shift:gd is not used: it claims something other than what was verified"):
        require_standing(change())


def test_the_accountant_refuses_it(monkeypatch):
    """Only the expression is changed; the proof is that of the honest statement."""
    honest = candidates.statement

    def changed(label):
        return halved() if label == "shift:gd" else honest(label)

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


def test_another_sympy_proves_anew(monkeypatch):
    """It may write an expression in another way; a proof that fails is still refused."""
    monkeypatch.setitem(record(), "sympy", "1.0")
    assert require_standing(replace(statement("shift:gd"), assumes=("other words",))).label == "shift:gd"
    with pytest.raises(ProofFails, match="its proof fails"):
        require_standing(halved())


def test_what_a_proof_rests_on_is_read_or_derived(monkeypatch):
    known = proof_record("composition:full_batch")
    assert known == proof_record("composition:full_batch", fresh=True)
    monkeypatch.setitem(record()["digests"], "composition:full_batch", "another")
    assert known == proof_record("composition:full_batch")
