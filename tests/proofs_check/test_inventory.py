"""The inventory of the paper: complete by construction, stable, and current where the paper is at hand."""

from __future__ import annotations

from pathlib import Path

from hsdp_symbolic import labels
from proofs_check.inventory import QUOTE, dump, read, stored
from tests import skips

PAPER = Path(__file__).parents[3] / "shared" / "paper.tex"

SOURCE = r"""\documentclass{article}
\begin{document}
\section{One}
Our bound is strictly smaller than $2x$ for $x > 0$. Nothing here to check. % = a comment
\begin{theorem}\label{thm:a}
If $x>0$ then
\begin{align}
    \label{eqn:a} a & = \begin{cases} b & x = 1 \\ c & x > 1 \end{cases} \\
    & \leq d \quad \text{(since $x = 1$)} \\
    & \quad + e
\end{align}
\end{theorem}
\footnote{A note with $y = 2$.}
\appendix
\section{Two}
\subsection{Deeper}
\begin{tikzpicture}\begin{axis}[xmin=0, ytick={0.0,0.1}, yticklabels={0,0.2}]
\addplot[domain=0:4] {f(x)};
\end{axis}\end{tikzpicture}
\begin{algorithmic}
\State one \For {two} \State three \EndFor
\end{algorithmic}
\end{document}
"""


class TestReading:
    def test_every_kind_is_found_once(self):
        found = {item.id: item for item in read(SOURCE)}
        assert set(found) == {
            "1/sentence-1",
            "1/theorem-1",
            "1/display-1",
            "1/display-2",
            "1/footnote-1",
            *(f"A.1/axis-{n}" for n in (1, 2, 3, 4)),
            "A.1/plot-1",
            *(f"A.1/algorithm-{n}" for n in (1, 2, 3)),
        }
        assert found["1/theorem-1"].label == "thm:a"
        assert found["1/display-1"].label == "eqn:a"

    def test_cases_are_not_cut_and_lines_without_a_relation_belong_to_the_one_before(self):
        first, second = (item for item in read(SOURCE) if item.kind == "display")
        assert "cases" in first.quote
        assert second.quote.startswith(r"\leq d")
        assert second.quote.endswith("+ e")

    def test_lines_are_those_of_the_file(self):
        (theorem,) = (item for item in read(SOURCE) if item.kind == "theorem")
        assert SOURCE.splitlines()[theorem.line - 1].startswith(r"\begin{theorem}")


class TestStored:
    def test_it_is_large_and_its_ids_are_distinct(self):
        items = stored()
        assert len(items) > 500
        assert len({item.id for item in items}) == len(items)
        assert max(len(item.quote) for item in items) <= QUOTE

    def test_the_catalogue_s_labels_stand_in_the_paper(self):
        """Every label of ours that is the paper's is an item's; the rest are named for where they come from."""
        known = {item.label for item in stored()}
        own = ("exact:", "shift:", "split:", "moments:", "control:", "mironov2019", "balle2019")
        own += ("composition:", "conversion:", "strconvexsmooth:", "shuffle:", "clip:", "smooth:", "gradient:")
        own += ("gdp:", "profile:", "secret:", "seen:", "unlearn:", "expanding:")
        for label in labels():
            base = ":".join(label.split(":")[:2])
            assert base in known or label.startswith(own), label

    @skips.unless(PAPER.exists(), missing="paper")
    def test_it_is_current(self):
        assert dump(read(PAPER.read_text(encoding="utf-8"))) == dump(stored())
