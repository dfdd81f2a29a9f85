"""`hsdp epsilon`, `delta`, `calibrate` and `compare`: what they print and what they refuse."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hsdp_symbolic.accounting import (
    delta,
    epsilon,
)
from hsdp_symbolic.cli import main
from hsdp_symbolic.cli.guarantee import json_number
from tests.accounting.test_guarantee import INVALID

FIGURE = [
    f"--{name}={value}"
    for name, value in {"n": 50, "b": 2, "K": 40, "eta": 0.02, "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}.items()
]


def cli(capsys, *argv):
    """Exit code, stdout and stderr of one command."""
    try:
        code = main(list(argv))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(("name", "value", "named"), INVALID)
def test_invalid_input_is_an_error_on_the_command_line(capsys, name, value, named):
    given = {"noise-multiplier": "1", "sample-rate": "0.01", "steps": "10", "delta": "1e-5"}
    text = f'"{value}"' if isinstance(value, str) else str(value[0]) if isinstance(value, list) else str(value)
    given[name.replace("_", "-")] = text
    code, out, err = cli(capsys, "epsilon", "--scheme", "poisson", *(f"--{key}={item}" for key, item in given.items()))
    assert (code, out) == (2, "")
    assert err.startswith(f"hsdp: error: {named} = ")
    assert err.count("\n") == 1


def test_epsilon_json(capsys, figure_run):
    code, out, err = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    keys = {"epsilon", "lower", "delta", "order", "bound", "scheme", "neighbouring", "considered"}
    assert keys <= found.keys()
    assert found["epsilon"] == epsilon(figure_run, delta="1e-5", scheme="shuffle").epsilon
    assert found["bound"] == epsilon(figure_run, delta="1e-5", scheme="shuffle").bound
    assert found["delta"] == 1e-5
    assert {entry["label"] for entry in found["considered"]} >= {"thm:shuffle", "composition:fixed"}


@pytest.mark.parametrize("words", [("--json",), ("--orders", "2,8"), ()])
def test_nothing_is_certified_at_delta_0(capsys, words):
    code, out, err = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "0", *words)
    assert (code, out) == (2, "")
    assert "delta = 0: with Gaussian noise no finite epsilon holds with certainty; give a small number" in err


def test_infinite_numbers_are_valid_json():
    assert json.dumps(json_number(float("inf"))) == '"inf"'


def test_report(capsys, only):
    only("thm:shuffle", "composition:fixed")
    code, out, _ = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--certify-minimum")
    assert code == 0
    for text in ("(0.31782854988", "thm:shuffle", "margin 0.38", "last iterate", "composition:fixed", "any order"):
        assert text in out


def test_delta_on_the_command_line(capsys, figure_run):
    code, out, _ = cli(capsys, "delta", "--scheme", "shuffle", *FIGURE, "--epsilon", "0.3", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["epsilon"] == 0.3
    assert found["delta"] == delta(figure_run, epsilon="0.3", scheme="shuffle").delta
    # the double 0.3 is smaller than 3/10, and what is certified is about the double
    assert found["delta"] == delta(figure_run, epsilon=Fraction(0.3), scheme="shuffle").delta


def test_calibrate_on_the_command_line(capsys, only):
    run = ["--scheme", "poisson", "--sample-rate", "0.01", "--steps", "1000", "--delta", "1e-5"]
    code, out, _ = cli(capsys, "calibrate", "--epsilon", "1", *run, "--json")
    found = json.loads(out)
    assert code == 0
    assert {"noise_multiplier", "epsilon", "bound"} <= found.keys()
    assert 1 - 1e-3 <= found["epsilon"] <= 1  # privacy losses are on a grid
    code, out, _ = cli(capsys, "epsilon", *run, "--noise-multiplier", repr(found["noise_multiplier"]), "--json")
    assert json.loads(out)["epsilon"] == found["epsilon"]
    letters = [option for option in FIGURE if not option.startswith("--K")]
    only("composition:fixed")
    code, out, _ = cli(
        capsys, "calibrate", "--epsilon", "1", "--scheme", "reshuffle", "--delta", "1e-5", *letters, "--solve-for", "K"
    )
    assert code == 0
    assert out.startswith("K = 6, by composition: ")


def test_compare_on_the_command_line(capsys, tmp_path, only):
    only("thm:strconvexsmooth", "balle2019", "composition:fixed")
    code, out, _ = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--json", "--at", "1,10")
    found = json.loads(out)
    assert code == 0
    assert found["epochs"] == [1, 10]
    assert [each["K"] for each in found["crossovers"]] == []
    code, out, _ = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5")
    assert "from K = 7 on thm:strconvexsmooth is smaller than balle2019 (certified)" in out
    code, _, err = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--plot", "x.docx")
    assert code == 2
    assert "no such picture format" in err
    target = tmp_path / "bounds.svg"
    code, _, _ = cli(
        capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--at", "1,10", "--plot", str(target)
    )
    assert code == 0
    assert "<svg" in target.read_text()


def test_a_run_from_a_file(capsys, tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'scheme = "shuffle"\ndelta = 1e-5\nn = 50\nb = 2\nK = 40\neta = 0.02\nlam = 1\nbeta = 4\nsigma = 2\nS_g = 4\n'
    )
    _, direct, _ = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--json")
    code, out, _ = cli(capsys, "epsilon", "--from", str(file), "--json")
    assert (code, out) == (0, direct)
    _, out, _ = cli(capsys, "epsilon", "--from", str(file), "--K", "1", "--json")
    assert json.loads(out)["epsilon"] < json.loads(direct)["epsilon"]  # the command line wins
    library = tmp_path / "library.toml"
    library.write_text("noise_multiplier = 1.1\nsample_rate = 0.01\nsteps = 1000\norders = [2, 4, 8.5]\n")
    code, out, _ = cli(capsys, "epsilon", "--from", str(library), "--scheme", "poisson", "--delta", "1e-5", "--json")
    assert code == 0
    assert json.loads(out)["order"] == 8.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = ", "cannot be read"),
        ("colour = 3", "'colour' is no option"),
        ("[n]\nx = 1", "n is a table"),
        ("steps = 10.0\nnoise_multiplier = 1\nsample_rate = 0.5", "steps = '10.0': not a whole number"),
        ("n = 50\nb = 2\nnoise_multiplier = 1", "mixed with noise_multiplier"),
        ("sample_rate = 0.5\nsteps = 3", "noise_multiplier = None: not given"),
        ("noise_multiplier = nan\nsample_rate = 0.5\nsteps = 3", "not a finite number"),
    ],
)
def test_a_bad_file(capsys, tmp_path, text, message):
    file = tmp_path / "run.toml"
    file.write_text(text)
    code, out, err = cli(capsys, "epsilon", "--from", str(file), "--scheme", "poisson", "--delta", "1e-5")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["epsilon", *FIGURE, "--delta", "1e-5"], "scheme = None: not given"),
        (["epsilon", *FIGURE, "--scheme", "shuffle"], "delta = None: not given"),
        (["calibrate", *FIGURE[:-2], "--scheme", "shuffle", "--delta", "1e-5"], "epsilon = None: not given"),
        (["epsilon", "--from", "/nonexistent.toml"], "cannot be read"),
        (["epsilon", *FIGURE, "--eta", "0.02,0.01", "--scheme", "fixed", "--delta", "1e-5"], "add per='epoch'"),
    ],
)
def test_missing_options(capsys, arguments, message):
    code, _, err = cli(capsys, *arguments)
    assert code == 2
    assert message in err


def test_lists_and_what_is_released(capsys):
    """One run by the command line and by the library."""
    from hsdp_symbolic.accounting import checkpoints, epsilon, logistic, training_run

    command = (
        "epsilon --scheme shuffle --n 100 --batch-size 10 --learning-rate 0.5,0.2 --per epoch --noise-multiplier 4 "
        "--max-grad-norm 1 --weight-decay 0.1 --loss logistic --feature-norm 1 --checkpoints 10 --delta 1e-5"
    )
    run = training_run(
        n=100, batch_size=10, learning_rate=["0.5", "0.2"], per="epoch", noise_multiplier=4, max_grad_norm=1,
        weight_decay="0.1", loss=logistic(feature_norm=1), released=checkpoints(10),
    )  # fmt: skip
    assert main([*command.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["epsilon"] == epsilon(run, delta="1e-5", scheme="shuffle").epsilon
    assert main(command.split()) == 0
    assert "only what is released may be seen" in capsys.readouterr().out
    letters = "epsilon --scheme fixed --n 50 --b 2 --eta 0.02,0.01 --per epoch --lam 1 --beta 4 --sigma 2 --S_g 4"
    assert main([*letters.split(), "--delta", "1e-5", "--average", "3", "--projection", "0.5"]) == 0
    assert "average of the last 3" in capsys.readouterr().out
    assert main([*letters.split(), "--delta", "1e-5", "--average", "3", "--released", "every"]) == 2
    assert "released is given too" in capsys.readouterr().err


CLIPPED = ["--n=40", "--batch-size=10", "--epochs=3", "--noise-multiplier=4", "--delta=1e-5"]


def test_refusals_are_in_the_words_of_the_command_line(capsys):
    asked = ["epsilon", "--scheme", "fixed", *CLIPPED]
    assert "--checkpoints 100,200" in cli(capsys, *asked, "--released", "some")[2]
    assert "pass --optimizer momentum" in cli(capsys, *asked, "--momentum=0.9")[2]
    assert "checkpoints = 'x'" in cli(capsys, *asked, "--checkpoints", "every:x")[2]


def test_a_checkpoint_every_so_many_steps(capsys):
    asked = ["epsilon", "--scheme", "fixed", *CLIPPED, "--json", "--checkpoints"]
    every, listed = (json.loads(cli(capsys, *asked, shown)[1]) for shown in ("every:4", "4,8"))
    assert every["epsilon"] == listed["epsilon"]


def test_a_reason_is_printed_once(capsys):
    out = cli(capsys, "epsilon", "--scheme", "fixed", *CLIPPED, "--checkpoints", "4")[1]
    assert out.count("it is about the last iterate alone") == 1
    assert out.count("likewise") > 3
