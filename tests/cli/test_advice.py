"""`hsdp advise`, `hsdp unlearn` and `hsdp epsilon --advise`: what they print and what they refuse."""

from __future__ import annotations

import json

import pytest

from hsdp_symbolic.accounting import advise, epsilon, logistic, training_run, unlearning
from tests.cli.test_accounting import cli

OPTIONS = {"n": 128, "batch_size": 32, "epochs": 6, "learning_rate": "0.1", "noise_multiplier": 8, "max_grad_norm": 1}
MLP = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
CONVEX = [*MLP, "--weight-decay=0.5", "--loss=logistic", "--feature-norm=1"]
RUN = training_run(**OPTIONS, weight_decay="0.5", loss=logistic(feature_norm=1))
ASKED = ("--scheme=fixed", "--delta=1e-5")


def test_advise_prints_every_change_and_the_one_that_helps_most(capsys):
    code, out, _ = cli(capsys, "advise", *ASKED, *CONVEX, "--effort=quick")
    found = advise(RUN, delta="1e-5", scheme="fixed", effort="quick")
    assert code == 0
    for row in (*found.rows, *found.others, *found.refused):
        assert row.words in out
    assert f"\n{found}\n" in out
    assert "not to be compared with these: one record added or removed" in out
    starred = [line for line in out.split("\n") if line.startswith("*")]
    assert len(starred) == 1
    assert "as it is" in starred[0]


def test_advise_for_a_network_says_what_would_have_to_be_true(capsys):
    code, out, _ = cli(capsys, "advise", *ASKED, *MLP, "--optimizer=adam", "--effort=quick")
    assert code == 0
    assert "composition only: the optimiser is adam" in out
    assert "what would have to be true for more: take plain gradient steps" in out


def test_advise_json(capsys):
    code, out, _ = cli(capsys, "advise", *ASKED, *CONVEX, "--effort=quick", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["best"] == found["rows"][0]
    assert found["asked"]["epsilon"] == epsilon(RUN, delta="1e-5", scheme="fixed", effort="quick").epsilon
    assert all(row["why_not"] for row in found["refused"])


def test_epsilon_gives_advice_if_asked(capsys):
    plain = cli(capsys, "epsilon", *ASKED, *CONVEX, "--effort=quick")[1]
    _, out, _ = cli(capsys, "epsilon", *ASKED, *CONVEX, "--effort=quick", "--advise")
    assert out.startswith(plain)
    assert out[len(plain) :].startswith("  advice        the one change that helps most: ")


def test_unlearn_solves_for_what_is_not_given(capsys):
    code, out, err = cli(capsys, "unlearn", *ASKED, *CONVEX, "--epsilon=0.5")
    found = unlearning(RUN, scheme="fixed", delta="1e-5", epsilon="0.5")
    assert (code, err) == (0, "")
    assert out.startswith(
        f"after {found.steps} further steps without the record, noise multiplier 8: ({found.epsilon!r}"
    )
    assert "no further step takes that back" in out
    noise = cli(capsys, "unlearn", *ASKED, *CONVEX, "--epsilon=0.5", "--further-steps=3")[1]
    assert "solved for    noise multiplier" in noise
    louder = cli(capsys, "unlearn", *ASKED, *CONVEX, "--further-steps=3", "--further-noise-multiplier=20", "--json")[1]
    assert json.loads(louder)["solved_for"] == "epsilon"
    assert (
        json.loads(louder)["epsilon"]
        == unlearning(RUN, scheme="fixed", delta="1e-5", steps=3, noise_multiplier=20).epsilon
    )


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["unlearn", *ASKED, *CONVEX], "epsilon"),
        (["unlearn", *ASKED, *CONVEX, "--further-steps=x"], "steps"),
        (["unlearn", *ASKED, *MLP, "--epsilon=1"], "loss"),
        (["unlearn", "--delta=1e-5", *CONVEX, "--epsilon=1"], "scheme"),
        (["advise", "--scheme=fixed", *CONVEX], "delta"),
        (["advise", *ASKED, *CONVEX, "--orders=2"], "orders"),
    ],
)
def test_what_is_wrong_is_named(capsys, command, named):
    code, out, err = cli(capsys, *command)
    assert (code, out) == (2, "")
    assert err.startswith(f"hsdp: error: {named} = ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["neighbouring", "orders", "effort"])
def test_what_means_nothing_to_forgetting_is_refused(capsys, tmp_path, option):
    assert "unrecognized" in cli(capsys, "unlearn", *ASKED, *CONVEX, "--epsilon=1", f"--{option}=2")[2]
    (tmp_path / "run.toml").write_text(f'{option} = "2"')
    code, out, err = cli(capsys, "unlearn", *ASKED, *CONVEX, "--epsilon=1", "--from", str(tmp_path / "run.toml"))
    assert (code, out) == (2, "")
    assert err.startswith(f"hsdp: error: {option} = ")


def test_an_optimiser_is_named_and_not_the_loss_that_was_given(capsys):
    err = cli(capsys, "unlearn", *ASKED, *CONVEX, "--optimizer=adam", "--epsilon=1")[2]
    assert err.startswith("hsdp: error: optimizer = 'adam': a record may stay in the model")
