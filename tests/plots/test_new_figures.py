"""`hsdp figures`, the gallery, and the figures the paper does not have."""

from __future__ import annotations

import ast
import itertools
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from hsdp_symbolic import statement
from hsdp_symbolic.cli import main
from hsdp_symbolic.cli.figures import available
from hsdp_symbolic.errors import ArgumentError, HsdpError
from hsdp_symbolic.plots import FIGURES, NEW, PAPER, Request
from hsdp_symbolic.plots import new_figures as new
from hsdp_symbolic.plots.common import PAPER as PAPER_RUN
from hsdp_symbolic.plots.data import paper_files, tables
from hsdp_symbolic.plots.draw import digest
from hsdp_symbolic.plots.gallery import page
from hsdp_symbolic.plots.values import COMPOSITION, crossover, value, values
from proofs_check.claim import examine
from proofs_check.ledger import claims
from proofs_check.slips import slips

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "figures"
RUN = PAPER_RUN.replace(K=40)
SAMPLED, SHUFFLE = "thm:amp_samp_wo_replacement", "thm:shuffle"


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
        theorem = statement(SHUFFLE).enclose(RUN.replace(n=40, b=4, K=6, eta="0.05"), alpha="2.5")
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


class TestGallery:
    @pytest.fixture(scope="class")
    @classmethod
    def figures(cls):
        return [make(Request()) for make in available().values()]

    def test_the_page_is_current(self, figures):
        assert (FOLDER / "README.md").read_text(encoding="utf-8") == page(figures), "run python figures/gallery.py"

    @pytest.mark.parametrize("name", [name for name in available() if name != "tightness"])
    def test_numbers_and_drawings_are_current(self, name):
        self.current(available()[name](Request()))

    @pytest.mark.slow
    def test_numbers_and_drawing_of_tightness_are_current(self):
        self.current(FIGURES["tightness"](Request()))

    def current(self, figure):
        for path, text in (tables(figure) | paper_files(figure)).items():
            assert (FOLDER / path).read_text() == text, f"{path} is stale: run python figures/gallery.py"
        stamp = f"numbers sha256:{digest(figure)}"
        with Image.open(FOLDER / f"{figure.name}.png") as image:
            assert image.info["Description"] == stamp
        assert stamp.encode() in (FOLDER / f"{figure.name}.pdf").read_bytes()
        assert (FOLDER / f"{figure.name}.png").stat().st_size < 150_000

    def test_control_other_numbers_have_another_stamp(self):
        one, two = (FIGURES["figure1a"](Request(changes)) for changes in ({}, {"eta": "0.0200000001"}))
        assert digest(one) != digest(two)

    def test_one_thin_script_for_every_figure(self):
        scripts = {path.stem: path for path in FOLDER.glob("*.py")}
        assert scripts.keys() == {*available(), "sharper", "gallery"}
        for path in scripts.values():
            tree = ast.parse(path.read_text())
            assert ast.get_docstring(tree)
            assert len(path.read_text().splitlines()) <= 15
            sums = [
                each for each in ast.walk(tree) if isinstance(each, ast.BinOp) and not isinstance(each.op, ast.BitOr)
            ]
            assert not sums, "a script contains no formula"

    def test_every_link_leads_somewhere(self, figures):
        import re

        for target in re.findall(r"\]\(([^)]+)\)", page(figures)):
            assert (FOLDER / target).exists(), target


class TestCrossover:
    @pytest.mark.parametrize(
        ("label", "alpha", "first"),
        [
            (SHUFFLE, 15, 8),
            (SHUFFLE, 10, 8),
            (SAMPLED, 10, 34),
            (SAMPLED, 15, 48),
            (SAMPLED, 20, 89),
            (SAMPLED, 30, None),
        ],
    )
    def test_known_epochs(self, label, alpha, first):
        assert crossover(label, PAPER_RUN, (("alpha", alpha),)) == first

    def test_it_is_certified_on_both_sides(self):
        first = crossover(SAMPLED, PAPER_RUN, (("alpha", 10),))
        below = [
            statement(SAMPLED).enclose(RUN, alpha=10, K=K).hi < statement(COMPOSITION).enclose(RUN, alpha=10, K=K).lo
            for K in (first - 1, first)
        ]
        assert below == [False, True]

    def test_a_bound_that_is_never_above(self):
        quick = PAPER_RUN.replace(S_g=0)
        assert crossover(SHUFFLE, quick, (("alpha", 10),)) is None, "0 is not below 0"

    def test_marked_in_the_figure(self):
        figure = NEW["crossover"](Request())
        marks = {text.words for panel in figure.panels for text in panel.texts}
        assert marks == {"$K=8$", "$K=29$", "$K=34$", "$K=48$"}


class TestRegions:
    def test_winners_are_the_certified_ones(self):
        figure = NEW["regions"](Request())
        rng = random.Random(7)
        winners = set()
        for panel, letters in zip(figure.panels, (("eta", "K"), ("n", "alpha")), strict=True):
            found = panel.regions
            for _ in range(25):
                column, row = rng.randrange(len(found.xs)), rng.randrange(len(found.ys))
                point = {"alpha": 15, "K": 40} | dict(zip(letters, (found.xs[column], found.ys[row]), strict=True))
                if "n" in point:
                    point["n"] = int(point["n"]) * 2
                point["K"] = int(point["K"])
                bounds = {}
                for label in found.names:
                    place = {"j0": point.get("n", 50) // 2 - 1} if "j0" in statement(label).needs else {}
                    known = {name: each for name, each in point.items() if name in statement(label).needs}
                    bounds[label] = statement(label).enclose(RUN, **known, **place)
                winner = found.names[found.least[row][column]]
                winners.add(winner)
                assert all(bounds[winner].lo <= other.hi for other in bounds.values())
                loser = max(bounds, key=lambda label: bounds[label].lo)
                assert bounds[loser].lo > bounds[winner].hi, "control: the test can tell a winner from a loser"
        assert len(winners) >= 2

    def test_boundaries_are_crossovers(self):
        (panel, _) = NEW["regions"](Request()).panels
        for line in panel.lines:
            eta, epoch = line.points[len(line.points) // 2]
            place = (("j0", 24),) if "j0" in statement(line.name).needs else ()
            assert crossover(line.name, PAPER_RUN.replace(eta=eta), (("alpha", 15), *place)) == epoch


class TestTightness:
    def test_no_bound_is_below_what_was_found(self):
        figure = NEW["tightness"](Request({"K": 10}))
        seen = 0
        for panel in figure.panels:
            if panel.name == "e":
                continue  # densities on a grid: TestGallery, marked slow
            dots = panel.curves[-1]
            for bound in panel.curves[:-1]:
                for at in dots.at:
                    if not str(bound.source).startswith("exact:"):
                        assert value(dots, at).lo * (1 - Fraction(1, 10**11)) <= value(bound, at).hi
                        seen += 1
        assert seen > 20

    def test_control_half_the_convex_bound_is(self):
        panel = NEW["tightness"](Request({"K": 10})).panels[2]
        bound, dots = panel.curves
        assert value(dots, 10).lo > value(bound, 10).hi / 2


class TestSlips:
    @pytest.fixture(scope="class")
    @classmethod
    def figure(cls):
        return slips(Request())

    def ends(self, panel, at):
        return [value(curve, at) for curve in panel.curves]

    def test_each_is_a_claim_of_the_ledger(self, figure):
        named = [note.split(") ")[1].split(", as the ledger")[0] for note in figure.notes[:-1]]
        known = {claim.id: claim for claim in claims()}
        assert len(named) == len(figure.panels) == 8
        assert set(named) <= known.keys()
        verdicts = {name: examine(known[name]).verdict for name in named}
        wrong = [name for name, verdict in verdicts.items() if verdict == "fails as printed, holds as corrected"]
        assert len(wrong) == 6, verdicts

    def test_what_they_do(self, figure):
        drawn = {panel.name: panel for panel in figure.panels}
        ours, _, balle = drawn["a"].curves
        assert value(ours, 1).hi < value(balle, 1).lo
        theorem, footnote = self.ends(drawn["b"], 40)
        assert footnote.hi < Fraction("-0.78") < 0 < theorem.lo
        derived, printed = self.ends(drawn["c"], 40)
        q = Fraction(49, 50)
        last = statement("eps0").exact(RUN, alpha=15, j=25)
        assert abs((derived.lo - last) / (printed.lo - last) - q**26) < Fraction(1, 10**15)
        exact, approximate = self.ends(drawn["d"], 60)
        assert approximate.hi < exact.lo
        order_30 = drawn["e"].curves[2]
        assert value(order_30, 200).lo > Fraction(3, 2) * value(order_30, 100).hi
        ours, composed = self.ends(drawn["f"], 50)
        assert ours.lo > composed.hi
        ours, composed = self.ends(drawn["g"], 5)
        assert (round(float(ours.lo), 5), round(float(composed.lo), 5)) == (0.20114, 0.17448)
        truth, printed = self.ends(drawn["h"], 50)
        assert printed.lo > truth.hi


class TestSharper:
    @pytest.fixture
    def figure(self):
        return FIGURES["sharper"](Request())

    def test_what_is_drawn(self, figure):
        drawn = [{curve.source for curve in panel.curves} for panel in figure.panels]
        assert drawn[0] | drawn[1] >= {label for label, _ in new.SHARPER}
        assert all(COMPOSITION in sources for sources in drawn)
        assert all(panel.ylim == (0, 0.155) for panel in figure.panels)

    def test_a_grid_is_drawn_from_above(self, figure):
        curves = {curve.source: curve for panel in figure.panels for curve in panel.curves}
        for label, most in (("control:without_replacement", "0.03215"), ("control:reshuffle", "0.0196")):
            found = values(curves[label])
            assert found[0].hi == 0
            certified = statement(label).enclose(figure.run, alpha=15, rtol="1e-3")
            assert certified.lo <= found[-1].hi <= Fraction(most)
            assert all(a.hi <= b.hi for a, b in itertools.pairwise(found))


def test_a_request_beyond_the_limits_is_refused_in_python_too():
    with pytest.raises(ArgumentError, match="no such letter"):
        FIGURES["intro"](Request({"gamma": 1}))
    with pytest.raises(HsdpError, match="K"):
        FIGURES["intro"](Request({"K": 10**6}))
