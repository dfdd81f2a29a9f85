"""Proofs over whole boxes of parameters: found, replayed, taken up again, refused."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import ArgumentError, MissingArgument, UnknownLabel
from hsdp_symbolic.symbols import eta, lam, rho0
from proofs_check.prove import BoxProof, Inequality, Outcome, prove_over, replay

RUN = {"n": 50, "b": 2, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


BOX = {**RUN, "K": (60, 120), "eta": ("0.01", "0.02"), "alpha": (5, 30)}


class TestProveOver:
    @pytest.mark.smoke
    def test_proves_and_replays_with_the_other_engine(self, tmp_path):
        proof = prove_over(BOX, "thm:shuffle < mironov2019", file=tmp_path / "proof.json")
        assert proof.verdict is Outcome.PROVED
        assert proof.pieces > 1
        stored = BoxProof.load(tmp_path / "proof.json")
        assert (stored.cuts, dict(stored.box)) == (proof.cuts, dict(proof.box))
        assert replay(stored)
        assert replay(stored, engine="arb")

    def test_finds_a_counterexample_that_holds_up(self):
        proof = prove_over({**BOX, "K": (1, 100)}, "thm:shuffle < mironov2019")
        assert proof.verdict is Outcome.REFUTED
        assert replay(proof)
        point = dict(proof.counterexample)
        run = Setting(
            sigma_squared=point.pop("sigma2"), **{k: point.pop(k) for k in ("n", "b", "K", "eta", "lam", "beta", "S_g")}
        )
        assert statement("thm:shuffle").lower(run, **point) >= statement("mironov2019").upper(run, **point)

    def test_like_is_compared_with_like(self):
        with pytest.raises(ArgumentError, match="compare like with like"):
            Inequality.parse("gdp:cyclic < shift:cyclic")

    def test_the_reverse_is_refuted(self):
        assert prove_over(BOX, "thm:shuffle > mironov2019").verdict is Outcome.REFUTED

    def test_a_budget_leaves_it_undecided_and_a_file_continues(self, tmp_path):
        hard = {**BOX, "K": (50, 1000), "eta": ("0.01", "0.03"), "alpha": (3, 60)}
        file = tmp_path / "proof.json"
        first = prove_over(hard, "thm:shuffle < mironov2019", budget=6, file=file)
        assert first.verdict is Outcome.UNDECIDED
        assert first.open_pieces > 0
        assert not replay(first)
        for _ in range(40):
            proof = prove_over(hard, "thm:shuffle < mironov2019", budget=40, file=file)
            if proof.verdict is not Outcome.UNDECIDED:
                break
        assert proof.verdict is Outcome.PROVED
        assert replay(BoxProof.load(file), engine="arb")

    def test_an_interrupted_run_keeps_what_it_has(self, tmp_path, monkeypatch):
        from proofs_check.prove import _Prover

        real, calls = _Prover.decide, iter(range(100))

        def impatient(self, box):
            if next(calls) == 4:
                raise KeyboardInterrupt
            return real(self, box)

        monkeypatch.setattr(_Prover, "decide", impatient)
        file = tmp_path / "proof.json"
        with pytest.raises(KeyboardInterrupt):
            prove_over({**BOX, "eta": ("0.01", "0.03"), "alpha": (3, 60)}, "thm:shuffle < mironov2019", file=file)
        stored = BoxProof.load(file)
        assert stored.verdict is Outcome.UNDECIDED
        assert len(stored.cuts) >= 4

    @pytest.mark.parametrize("forge", ["verdict", "cuts", "claim", "box", "counterexample"])
    def test_a_forged_certificate_does_not_replay(self, tmp_path, forge):
        file = tmp_path / "proof.json"
        prove_over({**BOX, "K": (1, 100)}, "thm:shuffle < mironov2019", file=file)
        record = json.loads(file.read_text())
        record |= {"verdict": "proved", "cuts": "ok", "counterexample": None}
        if forge == "cuts":
            record["cuts"] = "K ok ok"
        elif forge == "claim":
            record["claim"] = "thm:shuffle > mironov2019"
        elif forge == "box":
            record["box"]["K"] = ["1", "2"]
        elif forge == "counterexample":
            record |= {
                "verdict": "refuted",
                "counterexample": {**record["box"], "K": "200", "alpha": "15", "eta": "1/50"},
            }
        file.write_text(json.dumps(record))
        assert not replay(BoxProof.load(file))

    def test_cuts_that_do_not_divide_the_box_are_refused(self, tmp_path):
        file = tmp_path / "proof.json"
        prove_over(BOX, "thm:shuffle < mironov2019", file=file)
        record = json.loads(file.read_text())
        for cuts in ("K ok", "n ok ok", "ok ok", "nonsense", ""):
            file.write_text(json.dumps({**record, "cuts": cuts}))
            with pytest.raises(ArgumentError, match="cuts"):
                replay(BoxProof.load(file))

    def test_pieces_outside_the_hypotheses_claim_nothing(self):
        proof = prove_over(
            {**BOX, "eta": ("0.1", "0.9"), "alpha": (14, 15), "K": (100, 120)}, "thm:shuffle < mironov2019"
        )
        assert proof.verdict is Outcome.PROVED
        assert "outside" in proof.cuts
        nowhere = prove_over({**BOX, "eta": ("0.5", "0.6")}, "thm:shuffle < mironov2019")
        assert nowhere.cuts == ["outside"]

    def test_equality_is_not_strict(self):
        same = {"n": 50, "K": 3, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4, "alpha": (2, 3)}
        assert prove_over({**same, "alpha": 2}, "thm:GD_tighter <= thm:GD_tighter").verdict is Outcome.PROVED
        assert prove_over(same, "thm:GD_tighter < thm:GD_tighter").verdict is Outcome.REFUTED
        assert prove_over(same, "thm:GD_baseline <= thm:GD_baseline").verdict is Outcome.PROVED

    @pytest.mark.parametrize(
        ("box", "claim", "error"),
        [
            (BOX, "thm:shuffle mironov2019", ArgumentError),
            (BOX, "thm:shuffle < nonsense", UnknownLabel),
            ({**BOX, "zeta": 3}, "thm:shuffle < mironov2019", ArgumentError),
            ({"n": 50}, "thm:shuffle < mironov2019", MissingArgument),
            ({**BOX, "K": ("nan", 3)}, "thm:shuffle < mironov2019", ArgumentError),
        ],
    )
    def test_what_is_refused(self, box, claim, error):
        with pytest.raises(error):
            prove_over(box, claim)

    @pytest.mark.parametrize("bad", [{"budget": 0}, {"budget": True}, {"engine": "both"}])
    def test_options_are_checked(self, bad):
        with pytest.raises(ArgumentError):
            prove_over(BOX, "thm:shuffle < mironov2019", **bad)

    def test_any_expression_will_do(self):
        claim = Inequality(eta * (1 - eta * lam), "<", rho0 * 0 + eta, (), "eta(1 - eta lam) < eta")
        proof = prove_over({"eta": ("0.1", "0.9"), "lam": (1, "1.1")}, claim)
        assert proof.verdict is Outcome.PROVED
        assert replay(proof, claim)


class TestResuming:
    BOX = (("n", 10), ("K", (3, 9)), ("eta", ("0.1", "0.5")), ("lam", 1), ("beta", 1), ("sigma", 1), ("alpha", 2))
    CLAIM = "thm:GD_tighter < thm:GD_baseline"

    def test_a_small_budget_gets_there_in_the_end(self, tmp_path):
        file, pieces = tmp_path / "proof.json", []
        for _ in range(30):
            proof = prove_over({**dict(self.BOX), "S_g": 1}, self.CLAIM, budget=60, file=file)
            pieces.append(proof.pieces)
            if proof.verdict is Outcome.PROVED:
                break
        assert proof.verdict is Outcome.PROVED
        assert len(pieces) > 3
        # What is proved stays so, whatever the budget of a later call.
        assert prove_over({**dict(self.BOX), "S_g": 1}, self.CLAIM, budget=1, file=file).verdict is Outcome.PROVED
        assert BoxProof.load(file).verdict is Outcome.PROVED

    def test_a_counterexample_in_a_corner_is_found(self):
        proof = prove_over({**dict(self.BOX), "S_g": (0, 1)}, self.CLAIM)
        assert proof.verdict is Outcome.REFUTED
        assert proof.counterexample["S_g"] == 0
        assert prove_over({**dict(self.BOX), "S_g": (0, 1)}, self.CLAIM.replace("<", "<=")).verdict is Outcome.PROVED

    def test_lam_and_beta_may_range_together(self):
        box = {**dict(self.BOX), "S_g": 1, "K": 3, "eta": "0.1", "lam": (1, 2), "beta": (1, 2)}
        assert prove_over(box, self.CLAIM, budget=100).verdict is Outcome.PROVED

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["box"].pop("n"),
            lambda record: record.update(claim=3),
            lambda record: record.update(verdict="refuted", counterexample=record["box"]),
            lambda record: record["box"].update(zeta="1"),
            lambda record: record.update(cuts=None),
        ],
    )
    def test_malformed_certificates_are_refused_in_words(self, tmp_path, change):
        file = tmp_path / "proof.json"
        prove_over({**dict(self.BOX), "S_g": 1, "eta": "0.3"}, self.CLAIM, file=file)
        record = json.loads(file.read_text())
        change(record)
        file.write_text(json.dumps(record))
        with pytest.raises(ArgumentError):
            replay(BoxProof.load(file))

    def test_a_file_that_is_no_certificate(self, tmp_path):
        file = tmp_path / "proof.json"
        file.write_text("[" * 100_000)
        with pytest.raises(ArgumentError, match="not a certificate"):
            BoxProof.load(file)
        with pytest.raises(ArgumentError, match="engine"):
            replay(prove_over({**dict(self.BOX), "S_g": 1, "eta": "0.3"}, self.CLAIM), engine="both")

    def test_sigma_given_twice(self):
        with pytest.raises(ArgumentError, match="one of the two"):
            prove_over({**dict(self.BOX), "S_g": 1, "sigma_squared": 1}, self.CLAIM)
        with pytest.raises(ArgumentError, match="one of the two"):
            statement("thm:GD_tighter").enclose(Setting(n=5), sigma=(1, 2), sigma_squared=(1, 4), alpha=2)
