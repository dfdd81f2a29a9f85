"""The notebooks: executed from scratch, each must show what is stored beside it."""

from __future__ import annotations

import copy
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.plots import FIGURES, Request

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"

_spec = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
assert _spec
assert _spec.loader
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)


def check(*names: str) -> subprocess.CompletedProcess[str]:
    """`build.py --check` in a process of its own: a kernel has threads and sockets that pytest need not see."""
    return subprocess.run(
        [sys.executable, FOLDER / "build.py", "--check", *names],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_there_are_four():
    assert build.NAMES == ("1_one_theorem", "2_figures", "3_audit", "4_your_own_run")


MARKS = {name: [pytest.mark.slow] for name in ("1_one_theorem", "2_figures", "4_your_own_run")}
MARKS["4_your_own_run"].append(pytest.mark.smoke)


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in build.NAMES])
def test_shows_what_its_source_gives(name):
    found = check(name)
    assert found.returncode == 0, found.stdout + found.stderr[-3000:]


@pytest.mark.parametrize("name", build.NAMES)
class TestEveryNotebook:
    def test_is_readable_without_running(self, name):
        cells = build.stored(name)["cells"]
        assert cells[0]["cell_type"] == "markdown"
        assert "".join(cells[0]["source"]).startswith("# ")
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        assert 3 * (len(cells) - len(code)) >= len(cells)
        shown = {kind for cell in code for output in cell["outputs"] for kind in output.get("data", ())}
        assert shown & {"text/markdown", "image/png"}

    def test_shows_nothing_of_the_machine(self, name):
        said = re.compile(r"0x[0-9a-f]{6,}|/home/|/tmp/|/usr/|/root|-packages|\d (s|ms)$|stderr", re.M)
        for cell in build.stored(name)["cells"]:
            for output in cell.get("outputs", ()):
                assert output["output_type"] != "error"
                lines = build._lines({"cells": [{"cell_type": "code", "source": [], "outputs": [output]}]})
                assert not said.search("\n".join(lines))

    def test_is_in_the_contents(self, name):
        assert f"[{name}]({name}.ipynb)" in (FOLDER / "README.md").read_text()


def notebook(text: str = "ε = 0.3064\n", picture: str = "iVBOR") -> dict:
    """A small notebook as it is stored."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [text]},
        {"output_type": "display_data", "data": {"image/png": picture, "text/plain": ["<Figure>"]}},
    ]
    return {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title"]},
            {"cell_type": "code", "source": ["print(found)\n", "figure"], "outputs": outputs},
        ]
    }


class TestTheComparisonHasTeeth:
    def test_the_same_is_the_same(self):
        assert not build.differences(notebook(), notebook())

    def test_a_picture_may_differ_in_its_bytes(self):
        assert not build.differences(notebook(), notebook(picture="other"))

    def test_a_digit_is_seen(self):
        found = build.differences(notebook(), notebook("ε = 0.3065\n"))
        assert [line for line in found if line[:1] in "+-" and "0.306" in line] == [
            "-  text: ε = 0.3064",
            "+  text: ε = 0.3065",
        ]

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda cells: cells.pop(0),
            lambda cells: cells[0].update(source=["# Another title"]),
            lambda cells: cells[0].update(cell_type="raw"),
            lambda cells: cells[1].update(source=["print(found)"]),
            lambda cells: cells[1]["outputs"].pop(),
            lambda cells: cells[1]["outputs"][1]["data"].pop("image/png"),
            lambda cells: cells[1]["outputs"][1]["data"].update({"text/latex": ["$x$"]}),
            lambda cells: cells.append(copy.deepcopy(cells[1])),
        ],
    )
    def test_a_change_is_seen(self, tamper):
        changed = notebook()
        tamper(changed["cells"])
        assert build.differences(notebook(), changed)
        assert build.differences(changed, notebook())

    def test_an_unknown_notebook_is_refused(self):
        found = check("5_missing")
        assert found.returncode == 2
        assert "there are 1_one_theorem" in found.stderr


class TestWhatIsKept:
    def test_progress_is_dropped_and_text_joined(self):
        said = [
            {"output_type": "stream", "name": "stdout", "text": ["one\n", "tw"]},
            {"output_type": "stream", "name": "stderr", "text": ["K = 7, 3 s\n"]},
            {"output_type": "stream", "name": "stdout", "text": ["o\n"]},
        ]
        assert build._lasting(said) == [{"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]}]

    def test_a_warning_is_an_error(self):
        said = [{"output_type": "stream", "name": "stderr", "text": ["RuntimeWarning: overflow\n"]}]
        with pytest.raises(RuntimeError, match="overflow"):
            build._lasting(said)


class TestObjectsShowThemselves:
    def test_a_statement_as_hypotheses_and_formula(self):
        shown = statement("thm:convexsmooth")._repr_markdown_()
        assert shown.startswith("Assume that ")
        assert r"$\alpha > 1$" in shown
        assert r"\varepsilon &\leq" in shown

    def test_a_figure_as_a_picture(self):
        figure = FIGURES["figure1a"](Request())
        content, shape = figure._repr_png_()
        assert content.startswith(b"\x89PNG")
        assert shape == {"width": round(130 * figure.size[0])}
        assert repr(figure) == "<Figure figure1a: Figure 1 (a): data in the first mini-batch>"
