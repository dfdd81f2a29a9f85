"""The gallery is what the code draws now."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from PIL import Image

from hsdp_symbolic.cli.figures import available
from hsdp_symbolic.plots import FIGURES, Request
from hsdp_symbolic.plots.data import paper_files, tables
from hsdp_symbolic.plots.draw import numbers_digest
from hsdp_symbolic.plots.gallery import page

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "figures"
LONG = ("tightness", "profiles")


class TestGallery:
    @pytest.fixture(scope="class")
    @classmethod
    def figures(cls):
        return [make(Request()) for make in available().values()]

    def test_the_page_is_current(self, figures):
        assert (FOLDER / "README.md").read_text(encoding="utf-8") == page(figures), "run python figures/gallery.py"

    @pytest.mark.parametrize("name", [name for name in available() if name not in LONG])
    def test_numbers_and_drawings_are_current(self, name):
        self.current(available()[name](Request()))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", LONG)
    def test_numbers_and_drawings_of_long_ones_are_current(self, name):
        self.current(FIGURES[name](Request()))

    def current(self, figure):
        for path, text in (tables(figure) | paper_files(figure)).items():
            assert (FOLDER / path).read_text() == text, f"{path} is stale: run python figures/gallery.py"
        stamp = f"numbers sha256:{numbers_digest(figure)}"
        with Image.open(FOLDER / f"{figure.name}.png") as image:
            assert image.info["Description"] == stamp
        assert stamp.encode() in (FOLDER / f"{figure.name}.pdf").read_bytes()
        assert (FOLDER / f"{figure.name}.png").stat().st_size < 150_000

    def test_control_other_numbers_have_another_stamp(self):
        one, two = (FIGURES["figure1a"](Request(changes)) for changes in ({}, {"eta": "0.0200000001"}))
        assert numbers_digest(one) != numbers_digest(two)

    def test_one_thin_script_for_every_figure(self):
        scripts = {path.stem: path for path in FOLDER.glob("*.py")}
        assert scripts.keys() == {*available(), "gallery"}
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
