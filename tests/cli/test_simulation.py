"""`hsdp simulate` and `hsdp attack`."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import HsdpError, MissingArgument
from hsdp_symbolic.experiment.attack import (
    FIGURE,
)
from hsdp_symbolic.experiment.bound_and_truth import bound_and_truth

RUN = {"n": 10, "b": 2, "K": 2, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


class TestCommand:
    ARGUMENTS = tuple(
        word
        for name, value in {**RUN, "alpha": 2, "samples": 20_000, "seed": 3}.items()
        for word in (f"--{name}", str(value))
    )

    @pytest.mark.parametrize(
        "label", ["thm:shuffle", "thm:strconvexsmooth", "thm:amp_samp_wo_replacement", "thm:GD_tighter"]
    )
    def test_json(self, capsys, label):
        assert main(["simulate", label, *self.ARGUMENTS, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {"estimate", "ci", "exact", "bound", "ratio", "samples", "seed"} <= found.keys()
        assert found["bound"] >= found["exact"] > 0
        assert found["ratio"] == pytest.approx(found["bound"] / found["exact"])
        assert (found["samples"], found["seed"]) == (20_000, 3)

    def test_text_and_other_estimators(self, capsys):
        assert main(["simulate", "thm:strconvexsmooth", *self.ARGUMENTS, "--method", "plug_in"]) == 0
        shown = capsys.readouterr().out
        assert "plug-in Gaussian" in shown
        assert "certified" in shown

    @pytest.mark.parametrize(
        ("extra", "says"),
        [
            (["--samples", "0"], "chains = 0"),
            (["--seed", "-1"], "seed = -1"),
            (["--method", "guess"], "method = 'guess'"),
            (["--alpha", "1"], "alpha = '1'"),
            (["--S_g", "0"], "S_g = 0"),
            (["--S_g", "1e300"], "S_g = "),
            (["--sigma", "1e200"], "sigma2 = "),
        ],
    )
    def test_refusals(self, capsys, extra, says):
        assert main(["simulate", "thm:shuffle", *self.ARGUMENTS, *extra]) == 2
        assert says in capsys.readouterr().err

    def test_a_missing_letter(self):
        with pytest.raises(MissingArgument, match="alpha"):
            bound_and_truth("thm:shuffle", FIGURE.replace(K=1))

    def test_a_statement_without_algorithm(self, capsys):
        assert main(["simulate", "lem:recursive", *self.ARGUMENTS]) == 2
        assert "no algorithm" in capsys.readouterr().err

    def test_logistic_regression(self):
        run = Setting(n=4, b=1, K=2, eta="0.5", lam="0.5", S_g=1)
        found = bound_and_truth("cor:logistic", run, alpha=2, L=1, sigma_mul=4, classes=2, eps_norm=0, samples=20_000)
        assert found.consistent
        assert found.exact is None
        assert found.estimate > 0

    def test_errors_are_of_our_family(self):
        with pytest.raises(HsdpError):
            bound_and_truth("thm:shuffle", FIGURE.replace(K=1), alpha=2, samples=True)
