"""Figures: what is drawn is what is certified, the paper's source compiles against it, and nothing is half-written."""

from __future__ import annotations

import ast
import csv
import io
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.cli.figures import available
from hsdp_symbolic.files import write_together
from hsdp_symbolic.plots import FIGURES, PAPER, Curve, Figure, Request, save
from hsdp_symbolic.plots.common import PAPER_SETTING as PAPER_RUN
from hsdp_symbolic.plots.data import paper_files, paper_name, tables
from hsdp_symbolic.plots.draw import PALETTES, draw, render
from hsdp_symbolic.plots.values import as_double, as_text, value
from proofs_check.inventory import stored
from tests import skips

ROOT = Path(__file__).parents[2]
SOURCES = [parent / "shared" / "paper.tex" for parent in ROOT.parents]
PAPER_TEX = next((path for path in SOURCES if path.exists()), None)
needs_paper = skips.unless(PAPER_TEX, missing="paper")
FOLDERS = {
    "data_shuffle_sample": "thm:shuffle",
    "data_sgm_sample": "mironov2019",
    "data_rec_sample": "thm:amp_samp_wo_replacement",
}
RUN = PAPER_RUN.replace(K=40)


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    """Every figure in its own setting, described but not yet computed."""
    return {name: make(Request()) for name, make in available().items()}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestPaperData:
    """The files the paper's own source reads."""

    @pytest.fixture(scope="class")
    @classmethod
    def files(cls, figures):
        found = {}
        for name in PAPER:
            found |= paper_files(figures[name])
        return found

    def test_names_are_those_the_source_reads(self, files):
        wanted = {f"{folder}/k=40_a={a}_l=1_e=0.02_g=4_s=2_n=50_b=2.csv" for folder in FOLDERS for a in (10, 15)}
        assert {str(path) for path in files} == wanted
        if PAPER_TEX:
            read = re.findall(r"\{figures/(data_\w+/k=.*?\.csv)\}", PAPER_TEX.read_text())
            assert set(read) == wanted

    def test_a_row_for_every_epoch_and_zero_before_training(self, files):
        for text in files.values():
            assert text.startswith("k,eps\n0,0\n")
            assert [row["k"] for row in rows(text)] == [str(k) for k in range(41)]

    @pytest.mark.parametrize("folder", FOLDERS)
    @pytest.mark.parametrize("alpha", [10, 15])
    def test_seventeen_digits_agree_with_the_other_engine(self, files, folder, alpha):
        (text,) = (text for path, text in files.items() if str(path).startswith(f"{folder}/k=40_a={alpha}_"))
        theorem = statement(FOLDERS[folder])
        for row in rows(text)[1::3]:
            found = theorem.enclose(RUN, alpha=alpha, K=row["k"], engine="mpmath")
            assert row["eps"] == as_text(found)
            half = Fraction(Decimal(1).scaleb(Decimal(row["eps"]).adjusted() - 16)) / 2
            assert found.lo - half <= Fraction(row["eps"]) <= found.hi + half
            assert not found.lo - half <= Fraction(row["eps"]) * (1 + Fraction(1, 10**15)) <= found.hi + half

    def test_the_source_s_own_label_heights(self, files):
        for alpha, height in ((15, "0.1453135217648525"), (10, "0.06724058347919833")):
            (text,) = (text for path, text in files.items() if str(path).startswith(f"data_rec_sample/k=40_a={alpha}_"))
            assert abs(Fraction(rows(text)[-1]["eps"]) - Fraction(height)) < Fraction(1, 10**15)

    def test_names_of_other_settings(self):
        odd = Setting(n=9, b=3, K=2, eta="1/3", lam=1, beta=1, sigma_squared=2, S_g="0.5")
        assert paper_name(odd, Fraction(5, 2)) == "k=2_a=2.5_l=1_e=1over3_g=0.5_s=sqrt(2)_n=9_b=3.csv"


def document(paper: str) -> str:
    """A minimal document with the paper's own macros, function declarations and pictures, word for word."""
    macros = re.findall(r"^\\newcommand\{\\\w+\}(?:\[\d\])?\{.*\}\s*$", paper.split(r"\makeatletter")[0], re.MULTILINE)
    functions = paper.split(r"\end{abstract}")[1].split(r"\section{Introduction}")[0]
    pictures = re.findall(r"\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}", paper, re.DOTALL)
    pictures = [picture for picture in pictures if "axis" in picture]
    assert (len(pictures), functions.count("declare function")) == (5, 9)
    head = r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage{amsmath,amssymb}\usepackage[numbers]{natbib}\usepackage{xcolor}
\usepackage{tikz}\usetikzlibrary{calc,math}\usepackage{pgfplots}\usepgfplotslibrary{groupplots}\pgfplotsset{compat=1.3}
"""
    body = "\n\n\\clearpage\n".join(pictures)
    return "\n".join([head, *macros, r"\begin{document}", functions, body, r"\end{document}"])


@needs_paper
@skips.unless(shutil.which("pdflatex"), missing="pdflatex")
class TestPaperCompiles:
    @pytest.fixture
    def build(self, tmp_path):
        have = subprocess.run(["kpsewhich", "pgfplots.sty", "natbib.sty"], capture_output=True, text=True, check=False)
        if have.stdout.count(".sty") < 2:
            skips.skip(missing="pdflatex")
        (tmp_path / "main.tex").write_text(document(PAPER_TEX.read_text()))

        def run():
            command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
            return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace")

        return run

    def test_the_paper_s_figures_compile_unchanged_against_our_files(self, build, tmp_path, figures):
        files = {}
        for name in PAPER:
            files |= {path: text.encode() for path, text in paper_files(figures[name]).items()}
        save(files, tmp_path / "figures")
        done = build()
        assert done.returncode == 0, done.stdout[-2000:]
        log = (tmp_path / "main.log").read_text(errors="replace").replace("\n", "")
        for path in files:
            assert f"figures/{path}" in log, "read by pgfplots"
        assert "Output written on main.pdf (5 pages" in log

    def test_control_without_a_file_they_do_not(self, build, tmp_path, figures):
        files = {path: text.encode() for path, text in paper_files(figures["figure2a"]).items()}
        save(files, tmp_path / "figures")
        assert build().returncode != 0


def _pgf(source: str) -> dict[str, ast.expr]:
    """The functions the paper's source declares, as syntax trees."""
    found = {}
    for name, body in re.findall(r"declare function=\{\s*(\w+)\([^)]*\)\s*=(.*?);\s*\}", source, re.DOTALL):
        text = re.sub(r"\\(\w)", r"\1", body).replace("^", "**").replace("{", "(").replace("}", ")")
        found[name] = ast.parse(" ".join(text.split()), mode="eval").body
    return found


def _compute(node: ast.expr, letters: dict[str, float]) -> float:
    """A reader of pgf arithmetic of our own, for the tests only."""
    if isinstance(node, ast.Constant):
        return float(node.value)
    if isinstance(node, ast.Name):
        return letters[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_compute(node.operand, letters)
    if isinstance(node, ast.BinOp):
        left, right = _compute(node.left, letters), _compute(node.right, letters)
        kind = type(node.op)
        steps = {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}
        return steps[kind] if kind in steps else left / right if kind is ast.Div else left**right
    known = {"exp": math.exp, "floor": math.floor, "min": min, "max": max, "ln": math.log}
    return known[node.func.id](*(_compute(each, letters) for each in node.args))


@needs_paper
class TestAgainstThePapersFunctions:
    """For whole epochs the functions the source plots are the statements; between them the continued formulas are."""

    PAIRS = (
        ("naive_dp_dynamics", "thm:naive_RDP_baseline", None),
        ("priv_mixing_diffusion", "balle2019", 0),
        ("priv_mixing_diffusion_last_batch", "balle2019", 24),
        ("improved_dp_dynamics_first_batch", "thm:strconvexsmooth", 0),
        ("improved_dp_dynamics_last_batch", "thm:strconvexsmooth", 24),
    )

    @pytest.fixture(scope="class")
    @classmethod
    def functions(cls):
        return _pgf(PAPER_TEX.read_text())

    def distance(self, function, label, j0, alpha, points, view, theirs=None):
        place = {} if j0 is None else {"j0": j0}
        curve = Curve(label, RUN, {"alpha": alpha, **place}, tuple(points), view=view)
        worst = 0.0
        for point in points:
            letters = dict(zip("kalegsnb", (float(point), theirs or alpha, 1, 0.02, 4, 2, 50, 2), strict=True))
            ours = as_double(value(curve, point))
            worst = max(worst, abs(_compute(function, letters) - ours) / max(ours, 1e-300)) if ours else worst
        return worst

    @pytest.mark.parametrize(("name", "label", "j0"), PAIRS)
    @pytest.mark.parametrize("alpha", [10, 15])
    def test_the_same_curve(self, functions, name, label, j0, alpha):
        assert self.distance(functions[name], label, j0, alpha, range(1, 41), "bound") < 1e-12
        drawn = [Fraction(25 * k, 9) for k in range(1, 10)] + [Fraction(40 * k, 49) for k in range(1, 50)]
        assert self.distance(functions[name], label, j0, alpha, drawn, "continued") < 1e-12

    def test_control_another_batch_or_order_is_another_curve(self, functions):
        first = functions["improved_dp_dynamics_first_batch"]
        assert self.distance(first, "thm:strconvexsmooth", 1, 15, range(1, 41), "bound") > 1e-3
        assert self.distance(first, "thm:strconvexsmooth", 0, 14, range(1, 41), "bound", theirs=15) > 1e-3


def disagreements(figure: Figure, drawing) -> list[str]:
    """Curves of a figure that are not drawn, or whose drawn points are not the certified ones."""
    wrong = []
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        drawn = {line.get_gid(): line.get_xydata() for line in axes.lines if line.get_gid()}
        for curve in panel.curves:
            points = drawn.get(curve.name, np.empty((0, 2)))
            if len(points) != len(curve.at):
                wrong.append(curve.name)
                continue
            for (x, y), at in zip(points, curve.at, strict=True):
                truth = value(curve, at)
                slack = Fraction(2, 10**16) * max(abs(truth.lo), abs(truth.hi))
                if x != float(at) or not truth.lo - slack <= Fraction(float(y)) <= truth.hi + slack:
                    wrong.append(curve.name)
                    break
    return wrong


FAST = [*PAPER, "crossover", "slips"]


class TestDrawnCurves:
    @pytest.mark.parametrize("name", FAST)
    def test_the_drawn_points_are_the_certified_ones(self, figures, name):
        assert disagreements(figures[name], draw(figures[name])) == []

    @pytest.mark.parametrize("name", [*PAPER])
    def test_as_printed_too(self, name):
        figure = FIGURES[name](Request(as_printed=True))
        assert disagreements(figure, draw(figure)) == []

    def test_control_a_changed_curve_is_noticed(self, figures):
        figure = figures["figure2a"]
        drawing = draw(figure)
        for axes in drawing.axes:
            line = axes.lines[3]
            data = np.array(line.get_ydata())
            data[7] *= 1 + 1e-14
            line.set_ydata(data)
        assert disagreements(figure, drawing) == [figure.panels[0].curves[3].name]

    @pytest.mark.parametrize(
        "change", [{"arguments": {"alpha": 14}}, {"source": "thm:strconvexsmooth"}, {"at": (0, 1)}]
    )
    def test_control_a_figure_of_other_curves_is_noticed(self, figures, change):
        figure = figures["figure2b"]
        (panel,) = figure.panels
        first = replace(panel.curves[0], **change)
        if "source" in change:
            first = replace(first, arguments={"alpha": 15, "j0": 24})
        changed = replace(figure, panels=(replace(panel, curves=(first, *panel.curves[1:])),))
        assert disagreements(changed, draw(figure)) == [first.name]


SECTIONS = {
    "intro": ("1", range(1, 4), 1),
    "figure1a": ("3.2", (1, 3, 5, 7, 8, 9), 1),
    "figure1b": ("3.2", (12, 14, 16, 18, 19, 20), 16),
    "figure2a": ("4.1", (1, 3, 5, 7, 8, 9), 1),
    "figure2b": ("4.1", (12, 14, 16, 17), 12),
}


class TestLikeThePaper:
    """Styles and frames against the paper's source, as the inventory quotes it."""

    QUOTES = {item.id: item.quote for item in stored()}  # noqa: RUF012

    @pytest.mark.parametrize("name", PAPER)
    def test_line_styles(self, figures, name):
        section, numbers, _ = SECTIONS[name]
        said = Counter()
        for number in numbers:
            options = self.QUOTES[f"{section}/plot-{number}"].split("[")[1].split("]")[0].split(",")
            dash = next((each for each in options if each in ("dashed", "dotted")), "solid")
            said[("purple", "blue").index(options[1]), options[0], dash] += 1
        styles = [curve.style for curve in figures[name].panels[0].curves]
        assert Counter((style.colour, style.width, style.dash) for style in styles) == said

    @pytest.mark.parametrize("name", PAPER)
    def test_frame(self, figures, name):
        section, _, first = SECTIONS[name]
        texts = [self.QUOTES.get(f"{section}/axis-{number}", "") for number in range(first, first + 10)]
        options = dict(reversed([text.split("=", 1) for text in texts if "=" in text]))
        (panel,) = figures[name].panels
        assert panel.xlim == (0, float(options["xmax"]))
        assert panel.ylim == (0, float(options["ymax"]))
        ticks = [float(each) for each in options["ytick"].strip("{}").split(",")]
        assert [at for at, _ in panel.yticks] == ticks
        assert options["xlabel"].strip("{}") == panel.xlabel
        printed = FIGURES[name](Request(as_printed=True)).panels[0]
        assert [words for _, words in printed.yticks] == options["yticklabels"].strip("{}").split(",")

    @pytest.mark.parametrize("name", PAPER)
    def test_honest_ticks_say_where_they_stand(self, figures, name):
        assert all(float(words) == at for at, words in figures[name].panels[0].yticks)

    def test_as_printed_the_first_figure_s_ticks_do_not(self):
        ticks = introduction_ticks(as_printed=True)
        assert ticks == ((0.0, "0"), (0.04, "0.05"), (0.08, "0.10"), (0.12, "0.15"))
        assert ticks != introduction_ticks(as_printed=False)

    def test_the_label_of_figure_1a(self):
        for as_printed, order in ((False, 15), (True, 20)):
            texts = FIGURES["figure1a"](Request(as_printed=as_printed)).panels[0].texts
            (label,) = (text for text in texts if "15" in text.words)
            assert label.y == pytest.approx(
                statement("thm:strconvexsmooth").upper(RUN, K=25, alpha=order, j0=0), rel=1e-14
            )

    @pytest.mark.parametrize(("name", "samples"), [("figure1a", 10), ("figure1b", 25), ("figure2a", 50), ("intro", 50)])
    def test_as_printed_samples(self, name, samples):
        (panel,) = FIGURES[name](Request(as_printed=True)).panels
        continued = [curve for curve in panel.curves if curve.view == "continued"]
        assert continued
        assert all(len(curve.at) == samples and curve.at[0] == 0 for curve in continued)

    def test_the_drawn_lines_have_the_styles(self, figures):
        drawing = draw(figures["figure2a"])
        lines = {line.get_gid(): line for line in drawing.axes[0].lines}
        ours, composed = lines["thm:shuffle alpha=15"], lines["mironov2019 alpha=10"]
        assert (to_hex(ours.get_color()), to_hex(composed.get_color())) == ("#bf0040", "#0000ff")
        assert ours.get_linewidth() == 2 * composed.get_linewidth()
        assert (ours.is_dashed(), composed.is_dashed()) == (False, True)
        shown = [text.get_text() for text in drawing.axes[0].get_legend().get_texts()]
        assert shown[0] == "Our Privacy Dynamics (shuffle and partition)"
        assert len(shown) == 3


def introduction_ticks(*, as_printed: bool) -> tuple[tuple[float, str], ...]:
    return FIGURES["intro"](Request(as_printed=as_printed)).panels[0].yticks


class TestFiles:
    SCRIPT = (
        "import sys, hashlib\nfrom hsdp_symbolic.plots import FIGURES, Request\n"
        "from hsdp_symbolic.plots.draw import render\n"
        "for name in ('figure1a', 'figure2a'):\n"
        "    made = render(FIGURES[name](Request()), ('pdf', 'png', 'svg'), palette=sys.argv[1])\n"
        "    for kind, content in made.items():\n"
        "        print(name, kind, hashlib.sha256(content).hexdigest())\n"
    )

    @pytest.mark.slow
    def test_the_same_bytes_in_every_process(self):
        found = []
        for seed, palette in (("1", "paper"), ("2", "paper"), ("1", "colour-blind")):
            environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(
                [sys.executable, "-c", self.SCRIPT, palette],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            found.append(done.stdout.split())
            time.sleep(1.1)  # a date in the file, to the second, would show
        assert found[0] == found[1]
        assert len(found[0]) == 18
        assert set(found[0][2::3]).isdisjoint(found[2][2::3])

    @pytest.mark.smoke
    def test_pdf_is_vector_with_embedded_fonts_at_column_width(self, figures):
        content = render(figures["figure2a"], ("pdf",))["pdf"]
        assert b"/MediaBox [ 0 0 234 198 ]" in content  # 3.25 inches wide
        assert b"/FontFile2" in content
        assert b"/Subtype /Image" not in content
        assert b"/Type3" not in content
        assert b"CreationDate" not in content

    def test_letters_are_readable_at_column_width(self, figures):
        for name in FAST:
            drawing = draw(figures[name])
            drawing.canvas.draw()
            words = [text for text in drawing.findobj(lambda each: hasattr(each, "get_fontsize")) if text.get_text()]
            assert min(text.get_fontsize() for text in words) >= 7
            assert drawing.get_figwidth() in (3.25, 6.75)

    @pytest.mark.parametrize(
        ("name", "own"),
        [
            *((name, False) for name in FAST),
            *((name, True) for name in FAST if name != "slips"),
        ],  # it has its own settings
    )
    def test_no_word_is_cut_off(self, figures, name, own):
        changes = {"n": 1000, "b": 20, "K": 12}
        drawing = draw(FIGURES[name](Request(changes)) if own else figures[name])
        drawing.canvas.draw()
        width, height = drawing.canvas.get_width_height()
        for axes in drawing.axes:
            box = axes.get_tightbbox(for_layout_only=False)
            words = [text.get_window_extent() for text in axes.texts] + [axes.yaxis.label.get_window_extent()]
            for each in [box, *words] if name not in ("figure1a", "figure1b") else words:
                assert each.x0 > -1
                assert each.y0 > -1
                assert each.x1 < width + 1
                assert each.y1 < height + 1

    def test_every_figure_writes_its_numbers(self, figures):
        for name in FAST:
            figure = figures[name]
            for panel, (path, text) in zip(figure.panels, tables(figure).items(), strict=True):
                assert path.parts[0] == "data"
                assert path.stem.startswith(name)
                table = rows(text)
                assert list(table[0])[1:] == [curve.name for curve in panel.curves]
                for curve in panel.curves:
                    cells = {Fraction(row[curve.over]): row[curve.name] for row in table}
                    assert all(cells[Fraction(at)] == as_text(value(curve, at)) for at in curve.at)

    def test_writing_together_is_all_or_nothing(self, tmp_path, monkeypatch):
        wanted = {tmp_path / "a": b"1", tmp_path / "b": b"2"}
        write_together({tmp_path / "a": b"0"})
        calls = []

        def failing(path, mode):
            calls.append(path)
            if len(calls) == 2:
                raise OSError("disk full")

        monkeypatch.setattr("hsdp_symbolic.files.os.chmod", failing)
        with pytest.raises(OSError, match="disk full"):
            write_together(wanted)
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert (tmp_path / "a").read_bytes() == b"0"


@pytest.mark.smoke
class TestPalettes:
    def test_colour_blind_colours_differ_in_lightness_or_marker(self, figures):
        drawing = draw(figures["figure2a"], palette="colour-blind")
        looks = Counter(
            (to_hex(line.get_color()), str(line._dash_pattern), str(line.get_marker()))
            for line in drawing.axes[0].lines
        )
        assert max(looks.values()) == 1
        without_colour = Counter((str(line._dash_pattern), str(line.get_marker())) for line in drawing.axes[0].lines)
        assert max(without_colour.values()) == 1, "told apart in black and white"

    def test_control_the_paper_s_colours_are_not(self, figures):
        drawing = draw(figures["figure2a"])
        without_colour = Counter((str(line._dash_pattern), str(line.get_marker())) for line in drawing.axes[0].lines)
        assert max(without_colour.values()) == 2

    def test_okabe_and_ito(self):
        assert set(PALETTES["colour-blind"][:4]) <= {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
