"""The proofs in Coq: what is generated, what Coq says of it, and that it can say no."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sympy import Symbol

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.cli import main
from proofs_check.kernel import compiled, verdict
from proofs_check.kernel.compiled import assumed, compile_all, sources
from proofs_check.kernel.layout import GENERATED, file_name, lay_out, theorem_name
from proofs_check.kernel.trees import Untranslated, tree_of
from tests import skips

LABEL = "lem:LSIseq_convex"
needs_coq = skips.unless(shutil.which("coqc"), missing="coq")


@pytest.mark.parametrize("label", [LABEL, "gdp:composition:full_batch"])
def test_generated_files_hold_every_lemma(label: str) -> None:
    """What is written for a statement now is what is in the repository."""
    layout = lay_out([label])
    there = "\n".join(path.read_text(encoding="utf-8") for path in GENERATED.glob("*.v"))
    lemmas = [lemma for each in layout.files.values() for lemma in each.lemmas]
    assert lemmas
    for lemma in lemmas:
        assert lemma.text in there, lemma.name


@pytest.mark.slow
def test_generated_files_are_up_to_date() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in GENERATED.glob("*.v")}
    assert lay_out().texts() == there


def test_theorem_concludes_the_expression_of_the_statement() -> None:
    """The conclusion is written from `Statement.expr`, and the hypotheses are premises, each once."""
    found = statement("thm:strconvexsmooth")
    text = (GENERATED / f"{file_name(found.label)}.v").read_text(encoding="utf-8")
    said = text.partition(f"Theorem {theorem_name(found.label)} :")[2].partition("\nProof")[0]
    assert str(tree_of(found.expr)) in said.rpartition("->")[2]
    assert said.count("(1 < alpha) ->") == 1
    assert said.count("(Lipschitz ") == 1


def test_without_coq_says_how(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiled.shutil, "which", lambda _: None)
    assert main(["verify", "--kernel", LABEL]) == 2
    assert "apt-get install coq" in capsys.readouterr().err


def test_assumptions_are_read() -> None:
    said = "Axioms:\nT.lsi_point\n  : forall x : R, x = x\nsig : Prop\n"
    assert assumed(said) == {"T.lsi_point", "sig"}
    assert assumed("Closed under the global context\n") == set()


def test_a_power_of_what_may_be_0_is_not_translated() -> None:
    """Coq's Rpower takes 0 to any power for 1."""
    x, y = Symbol("x", nonnegative=True), Symbol("y", real=True)
    with pytest.raises(Untranslated):
        tree_of(x**y)


@needs_coq
@pytest.mark.slow
def test_kernel_checked_means_on_the_cited_facts(tmp_path: Path) -> None:
    """`Print Assumptions` is, name by name, what the proof kernel says the statement rests on."""
    (found,), _ = verdict.verdicts([LABEL], tmp_path)
    assert found.kernel_checked, found.reason
    assert found.facts == verdict.cited(LABEL)


@needs_coq
def test_a_wrong_bound_is_refused(tmp_path: Path) -> None:
    """The same proof of a smaller bound does not compile; nor does one that is left out count."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in sources().items()}
    name = file_name(LABEL)
    head, _, tail = texts[name].partition("\nTheorem ")
    said, _, proof = tail.partition("\nProof")
    premises, _, conclusion = said.rpartition("->")
    wrong = conclusion.replace("2 *", "1 *", 1)
    assert wrong != conclusion
    made = compile_all([name], tmp_path, texts)
    assert all(each.passed for each in made.values())
    texts[name] = f"{head}\nTheorem {premises}->{wrong}\nProof{proof}"
    made = compile_all([name], tmp_path, texts)
    assert not made[name].passed
    assert [each.name for each in made.values() if each.fresh] == [name], "only what changed is compiled again"
