"""LaTeX and Markdown: what is printed, what compiles, what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Float, sin

from hsdp_symbolic import labels, statement, statements, symbols
from hsdp_symbolic.cli import main
from hsdp_symbolic.display import Display, Dot, FirstEpoch, Plus, times, undisplay
from hsdp_symbolic.errors import UnsupportedNode
from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.tex import latex
from hsdp_symbolic.tex.layout import LINE, rows, width
from hsdp_symbolic.tex.macros import macro_name, macros
from hsdp_symbolic.tex.printer import PaperPrinter
from tests import skips
from tests.golden import latex as golden


@pytest.mark.smoke
class TestPrinter:
    def test_a_display_node_without_its_definition_has_no_meaning(self):
        with pytest.raises(AttributeError, match="FirstEpoch"):
            undisplay(FirstEpoch(1, 2))

    @pytest.mark.parametrize(
        "expr",
        [
            sin(symbols.alpha),
            Float("0.5") * symbols.alpha,
            1 + type("Unheard", (Display,), {})(symbols.alpha),
            Accumulated(*[symbols.alpha] * 6),
        ],
        ids=["function", "float", "display node", "recursion"],
    )
    def test_an_unknown_node_is_an_error(self, expr):
        with pytest.raises(UnsupportedNode, match="no LaTeX for the node"):
            latex(expr)

    def test_a_symbol_without_a_printable_name_is_an_error(self):
        with pytest.raises(UnsupportedNode, match=r"symbols\.TEX"):
            PaperPrinter().doprint(symbols.alpha.func("a+b"))

    @pytest.mark.parametrize(
        ("expr", "text"),
        [
            (symbols.N**2, r"\left(n/b\right)^{2}"),
            (symbols.sigma2**2, r"\left(\sigma^2\right)^{2}"),
            (symbols.dR**2, r"\left(\partial_\alpha R_\alpha\right)^{2}"),
            (Plus(symbols.K, -1) ** 2, r"\left(K - 1\right)^{2}"),
            (GeometricSum(symbols.s, symbols.K), r"\sum_{r=0}^{K - 1} s^{r}"),
            (
                times(GeometricSum(symbols.q, symbols.K), symbols.Y),
                r"\left(\sum_{s=0}^{K - 1} (1-\eta\lambda)^{s}\right) Y",
            ),
            (Dot(GeometricSum(symbols.u, symbols.K), 2), r"\left(\sum_{s=0}^{K - 1} u^{s}\right) \cdot 2"),
            (times(symbols.N, symbols.Y), r"\left(n/b\right) Y"),
        ],
    )
    def test_brackets_where_a_reader_needs_them(self, expr, text):
        assert latex(expr) == text

    def test_different_symbols_of_a_formula_look_different(self):
        printer = PaperPrinter(sort=True)
        for label in labels():
            found = statement(label)
            told = (line.theorem.proposition.free_symbols for line in found.proof)
            for letters in (found.shown.free_symbols, *told):
                assert len({printer.doprint(letter) for letter in letters}) == len(letters), (label, letters)


class TestLayout:
    def test_what_fits_is_not_broken(self):
        assert rows(PaperPrinter(), "x", "=", symbols.K - 1) == ["x &= K - 1"]

    def test_long_sums_and_products_are_broken(self):
        long = sum(symbols.alpha**power * symbols.eta for power in range(1, 40))
        for expr in (long, long * symbols.lam, symbols.lam * long / (symbols.alpha - 1)):
            lines = rows(PaperPrinter(sort=True), "x", "=", expr)
            assert len(lines) > 3
            assert all(width(line) <= LINE + 4 for line in lines)
            joined = " ".join(lines)
            assert joined.count(r"\bigl(") == joined.count(r"\bigr)")
            assert joined.count(r"\eta") == 39


class TestMacros:
    def test_names_are_letters_and_differ(self):
        names = [macro_name(label) for label in labels()]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"\\hsdp[A-Za-z]+", name) for name in names)

    def test_another_letter_for_a_share_of_noise_changes_no_other_formula(self):
        """T, ν and g are letters of some statements; in others they are a transpose, a measure, a function."""
        for found in statements():
            for name in ("T", "window", "share"):
                told = rf"\hsdpVar{name}}}" in macros([found]).partition("% " + found.label)[2]
                assert told == (getattr(symbols, name) in found.expr.free_symbols), found.label

    def test_two_labels_with_one_name_are_refused(self):
        theorem = statement("thm:shuffle")
        with pytest.raises(UnsupportedNode, match="share the macro"):
            macros([theorem, replace(theorem, label="lem:shuffle")])


class TestMarkdown:
    def test_nothing_that_markdown_would_change(self):
        """No backslash before punctuation within formulas, and no macro GitHub forbids."""
        text = (golden.HERE / "markdown.md").read_text()
        inside = re.findall(r"\$\$(.*?)\$\$", text, re.S) + re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", text)
        assert len(inside) > 100
        for formula in inside:
            assert not re.search(r"\\[^A-Za-z ]", formula), formula
            assert r"\operatorname" not in formula
            assert not re.search(r"<[A-Za-z]", formula), formula


needs_pdflatex = skips.unless(shutil.which("pdflatex"), missing="pdflatex")
ARTICLE = "\\documentclass{article}\n\\usepackage{amsmath}\n%s\\begin{document}\n%s\n\\end{document}\n"


def overfull(folder: Path, text: str) -> list[float]:
    """Compile; the points by which lines stick out of the margin."""
    (folder / "paper.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "LaTeX Warning: Reference" not in done.stdout
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]


@needs_pdflatex
class TestCompiles:
    def test_document(self, tmp_path):
        assert max(overfull(tmp_path, golden.whole_document()), default=0) < 20

    def test_every_derivation_in_a_paper_of_standard_width(self, tmp_path):
        body = "\n\n".join(golden.derivation_view(label, "latex") for label in labels())
        assert max(overfull(tmp_path, ARTICLE % ("\\allowdisplaybreaks\n", body)), default=0) < 60

    def test_values_and_hypotheses(self, tmp_path):
        views_ = [view(label, "latex") for label in labels() for view in (golden.hypotheses_view, golden.values_view)]
        assert max(overfull(tmp_path, ARTICLE % ("", "\n\n".join(views_))), default=0) < 25

    def test_a_paper_that_inputs_the_macros(self, tmp_path):
        assert main(["latex", "--macros", "--out", str(tmp_path / "hsdp-macros.tex")]) == 0
        preamble = "\\input{hsdp-macros}\n\\input{hsdp-macros}\n\\renewcommand{\\hsdpVarlam}{\\mu_0}\n"
        names = [macro_name(label) for label in labels()]
        body = "".join(f"\\[ {name}Statement \\]\n{{\\small \\[ x \\leq {name} \\]}}\n" for name in names)
        overfull(tmp_path, ARTICLE % (preamble, body))

    def test_an_error_is_noticed(self, tmp_path):
        with pytest.raises(AssertionError):
            overfull(tmp_path, ARTICLE % ("", r"\begin{align*} \frac{1} \end{align*}"))
