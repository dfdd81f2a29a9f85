"""`hsdp figures`: what it writes, prints and refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.cli import main
from hsdp_symbolic.cli.figures import available
from hsdp_symbolic.plots import PAPER
from hsdp_symbolic.plots.common import PAPER_SETTING as PAPER_RUN

ROOT = Path(__file__).parents[2]
RUN = PAPER_RUN.replace(K=40)


def run(capsys, *argv):
    """Exit code, stdout and stderr of one command."""
    try:
        code = main(["figures", *map(str, argv)])
    except SystemExit as stop:
        code = stop.code
    return code, *capsys.readouterr()


class TestCommand:
    def test_the_paper_s_five_within_twenty_seconds(self, tmp_path):
        command = [sys.executable, "-m", "hsdp_symbolic", "figures", "--out", str(tmp_path)]
        before = os.times()
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        assert spent < 20, "processor seconds: the wall clock of a busy machine says nothing"
        assert {path.stem for path in tmp_path.glob("*.pdf")} == set(PAPER)
        assert len(list(tmp_path.glob("data_*/*.csv"))) == 6
        assert not list(tmp_path.rglob(".*"))

    def test_list(self, capsys):
        code, out, _ = run(capsys, "--list")
        assert code == 0
        assert [line.split()[0] for line in out.splitlines()] == list(available())

    @pytest.mark.smoke
    def test_own_setting_from_the_command_line_and_from_a_file(self, capsys, tmp_path):
        letters = {"n": "40", "b": "4", "K": "6", "eta": "0.05", "alpha": "2.5,4"}
        options = [part for name, text in letters.items() for part in ("--set", f"{name}={text}")]
        code, out, _ = run(capsys, "figure2a", "--out", tmp_path / "one", "--format", "svg", *options)
        assert code == 0
        assert len(out.splitlines()) == 6
        (tmp_path / "run.toml").write_text('n = 40\nb = 4\nK = 9\neta = 0.05\nalpha = ["5/2", 4]\n')
        told = ("--from", tmp_path / "run.toml", "--set", "K=6")
        assert run(capsys, "figure2a", "--out", tmp_path / "two", "--format", "svg", *told)[0] == 0
        one, two = ({path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
                    for name in ("one", "two"))  # fmt: skip
        assert one == two
        table = (tmp_path / "one" / "data" / "figure2a.csv").read_text().splitlines()
        theorem = statement("thm:shuffle").enclose(RUN.replace(n=40, b=4, K=6, eta="0.05"), alpha="2.5")
        assert table[0].startswith("K,thm:shuffle alpha=5/2,")
        assert theorem.lo <= Fraction(table[-1].split(",")[1]) * (1 + Fraction(1, 10**16))
        name = "k=6_a=2.5_l=1_e=0.05_g=4_s=2_n=40_b=4.csv"
        assert (tmp_path / "one" / "data_shuffle_sample" / name).exists()

    BAD = (
        (["nothing"], "no such figure"),
        (["figure2"], "did you mean figure2"),
        (["--set", "n=abc"], "n = 'abc'"),
        (["--set", "K=0"], "K = '0'"),
        (["--set", "K=1001"], "choose K <= 1000"),
        (["--set", "eta=nan"], "eta = 'nan'"),
        (["--set", "eta=0.5"], "choose eta <"),
        (["--set", "b=51"], "choose b <= n"),
        (["--set", "b=30"], "choose b <="),
        (["--set", "alpha=1"], "alpha = '1'"),
        (["--set", "alpha=2,2"], "different orders"),
        (["--set", "alpha=2,3,4,5,6"], "at most 4"),
        (["--set", "alpha="], "alpha = ''"),
        (["--set", "sigma=0"], "sigma = '0'"),
        (["--set", "gamma=1"], "no letter gamma"),
        (["--set", "n"], "LETTER=VALUE"),
        (["--set", "K=print(1)"], "K = 'print(1)'"),
        (["--as-printed", "--set", "n=100"], "its own setting"),
        (["--format", "bmp"], "format = 'bmp'"),
        (["--format", ""], "format = ''"),
        (["--palette", "grey"], "palette = 'grey'"),
        (["--from", "/nowhere/run.toml"], "cannot be read"),
        (["--out", "/proc/nowhere/figures"], "cannot be written"),
        (["crossover", "--set", "eta=0.5"], "choose eta <"),
        (["tightness", "--set", "b=50"], "b"),
        (["regions", "--set", "lam=9"], "beta"),
        (["slips", "--set", "K=zero"], "K = 'zero'"),
    )

    @pytest.mark.parametrize(("argv", "told"), BAD)
    def test_nonsense_is_one_line_exit_code_two_and_no_file(self, capsys, tmp_path, argv, told):
        out_folder = [] if "--out" in argv else ["--out", tmp_path / "out"]
        code, out, err = run(capsys, *argv, *out_folder)
        assert code == 2
        assert out == ""
        assert told in err
        assert err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("text", ["n = true", "n = [1]", "gamma = 1", "n = ", "eta = inf", "n = 2020-01-01"])
    def test_nonsense_in_a_file(self, capsys, tmp_path, text):
        (tmp_path / "run.toml").write_text(text)
        code, out, err = run(capsys, "figure1a", "--from", tmp_path / "run.toml", "--out", tmp_path / "out")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "out").exists()

    def test_a_file_where_a_folder_should_be(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr("hsdp_symbolic.plots.values.value", None)  # refused before any number is computed
        (tmp_path / "taken").write_text("")
        assert "cannot be written" in run(capsys, "--out", tmp_path / "taken")[2]
        (tmp_path / "data").write_text("")
        assert "cannot be written" in run(capsys, "--out", tmp_path)[2]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "taken"]

    def test_long_runs_say_so(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr("hsdp_symbolic.progress.time.monotonic", iter(range(10**6)).__next__)
        _, _, err = run(capsys, "figure1a", "--out", tmp_path)
        assert "points" in err
