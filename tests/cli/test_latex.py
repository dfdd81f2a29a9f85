"""`hsdp latex`: every view on the command line."""

from __future__ import annotations

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import HsdpError
from tests.golden import latex as golden

FIGURE = [part for name, value in golden.FIGURE.exact_strings().items() for part in (f"--{name}", value)]
FIGURE += ["--alpha", "15"]


class TestCommand:
    def run(self, capsys, *argv):
        try:
            code = main(["latex", *argv])
        except SystemExit as stop:
            code = stop.code
        return (code, *capsys.readouterr())

    def test_the_bare_statement(self, capsys):
        code, out, _ = self.run(capsys, "thm:shuffle")
        assert (code, out) == (0, statement("thm:shuffle").latex() + "\n")

    def test_views_follow_one_another(self, capsys):
        code, out, _ = self.run(capsys, "thm:convexsmooth", "--with-hypotheses", "--derivation")
        assert code == 0
        assert golden.hypotheses_view("thm:convexsmooth", "latex").strip() in out
        assert out.endswith(golden.derivation_view("thm:convexsmooth", "latex"))

    def test_values_are_certified(self, capsys):
        code, out, _ = self.run(capsys, "thm:shuffle", "--values", *FIGURE, "--digits", "7")
        assert code == 0
        assert r"\leq 0.02451094" in out  # 0.024510933…, rounded up

    def test_a_failing_proof_fails_the_command(self, capsys, monkeypatch):
        monkeypatch.setattr("hsdp_symbolic.proof.kernel.proofs._MADE_AGAIN", {})  # nothing was looked at yet
        monkeypatch.setattr("hsdp_symbolic.proof.kernel.numbers.is_zero", lambda *_: False)
        code, out, _ = self.run(capsys, "prop:smooth_strcvx_clip:active", "--derivation")
        assert code == 1
        assert "fails" in out

    def test_out_writes_the_file_and_nothing_else(self, capsys, tmp_path):
        code, out, _ = self.run(capsys, "thm:shuffle", "--format", "markdown", "--out", str(tmp_path / "a.md"))
        assert (code, out) == (0, "")
        assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
        assert (tmp_path / "a.md").read_text().startswith("$$\n")

    @pytest.mark.parametrize(
        ("argv", "told"),
        [
            ([], "give a label"),
            (["thm:shufle"], "did you mean thm:shuffle"),
            (["thm:shuffle", "--document"], "cannot be combined with thm:shuffle"),
            (["--document", "--macros"], "ask for one of the two"),
            (["--macros", "--derivation"], "cannot be combined with --derivation"),
            (["--document", "--format", "markdown"], "cannot be combined with --format markdown"),
            (["thm:shuffle", "--n", "50"], "add --values"),
            (["thm:shuffle", "--values"], "thm:shuffle needs it"),
            (["thm:shuffle", "--values", *FIGURE, "--eta", "0.4"], "assumes eta < 2/(beta + lam)"),
            (["thm:shuffle", "--values", *FIGURE, "--eta", "nan"], "not a finite number"),
            (["thm:shuffle", "--values", *FIGURE, "--K", "1:4"], "a range has no single value"),
            (["thm:shuffle", "--values", *FIGURE, "--alpha", "1"], "alpha"),
            (["thm:shuffle", "--values", *FIGURE, "--digits", "0"], "digits = '0'"),
            (["thm:shuffle", "--values", *FIGURE, "--digits", "1e9"], "digits = '1e9'"),
            (["thm:shuffle", "--format", "html"], "invalid choice"),
            (["--macros", "--out", "/nowhere/at/all.tex"], "writable folder"),
            (["--document", "--out", "/"], "writable folder"),
        ],
    )
    def test_refusals(self, capsys, argv, told):
        code, out, err = self.run(capsys, *argv)
        assert (code, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1

    def test_nothing_is_left_half_written(self, capsys, monkeypatch, tmp_path):
        def broken(*_):
            raise HsdpError("a node nobody knows")

        monkeypatch.setattr("hsdp_symbolic.tex.macros.statement_rows", broken)
        (tmp_path / "old.tex").write_text("before")
        code, _, err = self.run(capsys, "--macros", "--out", str(tmp_path / "old.tex"))
        assert code == 2
        assert "nobody knows" in err
        assert (tmp_path / "old.tex").read_text() == "before"
        assert len(list(tmp_path.iterdir())) == 1
