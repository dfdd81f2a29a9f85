"""The command line: what it prints, what it refuses, and what it does not import."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.cli import COMMANDS, commands, main

FIGURE = [
    "--n",
    "50",
    "--b",
    "2",
    "--K",
    "40",
    "--eta",
    "0.02",
    "--lam",
    "1",
    "--beta",
    "4",
    "--sigma",
    "2",
    "--S_g",
    "4",
    "--alpha",
    "15",
]


def run(capsys, *argv):
    """Exit code, stdout and stderr of one command."""
    try:
        code = main(list(argv))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("arguments", [["--help"], ["eval", "--help"], ["--version"], ["eval", "thm:x", "--nonsense"]])
def test_help_imports_no_heavy_library(arguments):
    script = (
        "import sys\nfrom hsdp_symbolic.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "heavy = {'sympy', 'numpy', 'matplotlib', 'flint', 'mpmath'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_module_and_entry_point_are_the_same():
    shown = subprocess.run(
        [sys.executable, "-m", "hsdp_symbolic", "--version"], check=True, capture_output=True, text=True
    )
    assert shown.stdout.startswith("hsdp ")


@pytest.mark.parametrize(("j0", "digits"), [("24", "0.0871296232726143"), ("0", "0.0139008201950307")])
@pytest.mark.parametrize("engine", ["arb", "mpmath", "both"])
@pytest.mark.smoke
def test_eval_json(capsys, figure_run, j0, digits, engine):
    code, out, err = run(capsys, "eval", "thm:strconvexsmooth", *FIGURE, "--j0", j0, "--json", "--engine", engine)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["label"] == "thm:strconvexsmooth"
    assert found["lower"].startswith(digits)
    truth = statement("thm:strconvexsmooth").exact(figure_run, alpha=15, j0=j0)
    assert Fraction(found["lower"]) <= truth <= Fraction(found["upper"])
    assert all(len(found[end].replace(".", "").lstrip("0")) >= 17 for end in ("lower", "upper"))
    assert isinstance(found["numeric"], float)
    assert abs(Fraction(found["numeric"]) / truth - 1) < Fraction(1, 10**13)
    assert found["setting"]["eta"] == "1/50"
    assert found["setting"]["alpha"] == "15"
    assert found["setting"]["j0"] == j0


@pytest.mark.smoke
def test_eval_text(capsys):
    code, out, _ = run(capsys, "eval", "thm:convexsmooth", *FIGURE, "--j0", "24", "--exact")
    assert code == 0
    assert "certified (arb)" in out
    assert "24/125" in out


def test_eval_of_a_short_label(capsys):
    code, out, _ = run(capsys, "eval", "eps0", *FIGURE, "--j", "1")
    assert code == 0
    assert "0.075" in out


BAD = [
    (["eval", "thm:strconvexsmooth", *FIGURE], "j0 = None"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "25"], "choose j0 <= N - 1 = 24"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "x"], "j0 = 'x'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--eta", "nan"], "eta = 'nan'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--eta", "-0.1"], "eta = '-0.1'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--eta", "1e999999999"], "eta"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--alpha", "1"], "alpha = '1'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--sigma", "0"], "sigma = '0'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--b", "51"], "choose b <= n"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--K", "inf"], "K = 'inf'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--K", "print(1)"], "K = 'print(1)'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--engine", "float"], "engine = 'float'"),
    (["eval", "thm:strconvexsmooth", *FIGURE, "--j0", "0", "--rtol", "0"], "rtol = '0'"),
    (["eval", "thm:strconvexsmoth", *FIGURE], "did you mean thm:strconvexsmooth"),
    (["eval", "thm:strconvexsmooth", "--nn", "3"], "unrecognized arguments"),
    (["eval"], "LABEL"),
    (["show", "nothing"], "no such statement"),
    (["latex", "nothing"], "no such statement"),
    (["verify", "nothing"], "no such statement"),
    (["verify", "eps0", "--json", "/nowhere/at/all.json"], "writable folder"),
    (["dance"], "invalid choice"),
    ([], "COMMAND"),
]


@pytest.mark.parametrize(("argv", "told"), BAD)
@pytest.mark.smoke
def test_bad_input_is_one_line_and_exit_code_two(capsys, argv, told):
    code, out, err = run(capsys, *argv)
    assert code == 2
    assert out == ""
    assert told in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("place", ["an empty folder", "/proc/nowhere"])
def test_list_shows_what_is_not_verified_yet_and_what_would_verify_it(capsys, monkeypatch, tmp_path, place):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
    code, out, err = run(capsys, "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(labels())
    assert out.count("not verified yet (hsdp verify)") == len(labels())
    assert err == f"{len(labels())} not verified yet: `hsdp verify LABEL` verifies one, `hsdp verify` all\n"


def test_list_shows_kind_verdict_and_place_of_what_was_verified(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run(capsys, "verify", "thm:GD_baseline")
    _, out, err = run(capsys, "list", "--json")
    rows = {row["label"]: row for row in json.loads(out)}
    assert rows["thm:GD_baseline"]["verdict"] == "proved"
    assert [row["verdict"] for row in rows.values()].count("not verified yet (hsdp verify)") == len(labels()) - 1
    assert "verdicts are remembered from earlier runs" in err
    assert {row["kind"] for row in rows.values()} >= {"theorem", "lemma", "proposition", "corollary", "baseline"}
    found = statement("thm:GD_baseline")
    assert {name: rows["thm:GD_baseline"][name] for name in ("where", "title", "says", "needs")} == {
        "where": found.where,
        "title": found.title,
        "says": found.says,
        "needs": list(found.needs),
    }


def test_list_derives_nothing():
    script = (
        "import sys\nfrom hsdp_symbolic.cli import main\nmain(['list'])\n"
        "rooms = ('hsdp_symbolic.paper.', 'hsdp_symbolic.sharper.')\n"
        "derived = {name for name in sys.modules if name.startswith(rooms)}\n"
        "assert not derived, derived"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_a_command_imports_its_own_module_alone():
    script = (
        "import sys\nfrom hsdp_symbolic.cli import main\n"
        "try: main(['eval', '--help'])\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('hsdp_symbolic.cli.')))"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert found.splitlines()[-1] == str([f"hsdp_symbolic.cli.{name}" for name in ("common", "example", "statements")])


def test_every_command_runs_something():
    for name, parser in commands().items():
        assert callable(parser.get_default("run")), name
        assert parser.description == COMMANDS[name][1]


@pytest.mark.smoke
def test_show_gives_hypotheses_and_the_proof(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, before, err = run(capsys, "show", "thm:convexsmooth")
    assert (code, err) == (0, "")
    assert "eta < 2/beta" in before
    assert "to prove it now: hsdp show thm:convexsmooth --fresh" in before
    for line in statement("thm:convexsmooth").proof:
        assert str(line.theorem.proposition) in before
        assert line.support in before
    code, fresh, _ = run(capsys, "show", "thm:convexsmooth", "--fresh")
    assert code == 0
    assert fresh.splitlines()[:-1] == before.splitlines()[:-1]
    assert fresh.splitlines()[-1] == "proved now"


def test_show_prints_every_rule(capsys):
    code, out, _ = run(capsys, "show", "thm:convexsmooth", "--tree")
    assert code == 0
    assert "apply composition" in out
    assert "induct" in out


def test_show_fails_if_the_proof_does(capsys, monkeypatch):
    monkeypatch.setattr("hsdp_symbolic.proof.kernel.proofs._MADE_AGAIN", {})  # nothing was looked at yet
    monkeypatch.setattr("hsdp_symbolic.proof.kernel.numbers.is_zero", lambda *_: False)
    code, _, err = run(capsys, "show", "thm:GD_baseline", "--fresh")
    assert code == 2
    assert "its proof fails" in err


@pytest.mark.smoke
def test_latex_is_the_view(capsys):
    _, out, _ = run(capsys, "latex", "thm:convexsmooth")
    assert out.strip() == statement("thm:convexsmooth").latex()


def test_interrupt_is_quiet(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs_check.cache.Memory.theorem", interrupted)
    code, _, err = run(capsys, "list")
    assert code == 130
    assert err == "hsdp: interrupted\n"


def test_a_reader_that_goes_away_is_no_error():
    piped = subprocess.run(
        f"{sys.executable} -m hsdp_symbolic show prop:smooth | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stdout.startswith("prop:smooth")
    assert piped.stderr == ""


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_names_commands_options_and_labels(self, capsys, shell):
        assert main(["completion", shell]) == 0
        out = capsys.readouterr().out
        for word in ("epsilon", "figures", "controls", "thm:shuffle"):
            assert word in out

    def test_bash_completes(self, capsys, tmp_path):
        main(["completion", "bash"])
        script = tmp_path / "completion.sh"
        script.write_text(
            capsys.readouterr().out + "\nCOMP_WORDS=(hsdp show thm:sh)\nCOMP_CWORD=2\n_hsdp\necho ${COMPREPLY[@]}\n"
        )
        found = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=True)
        assert "thm:shuffle" in found.stdout.split()

    def test_unknown_shell(self, capsys):
        with pytest.raises(SystemExit) as stop:
            main(["completion", "tcsh"])
        assert stop.value.code == 2
