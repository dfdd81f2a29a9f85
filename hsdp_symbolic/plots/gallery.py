"""The gallery: one page that shows every figure, what it says, and the command that draws it."""

from __future__ import annotations

from collections.abc import Iterable

from .data import paper_path, table_path
from .describe import Description

_HEAD = """# Figures

Made by `hsdp figures`; do not edit. Curves are statements of the catalogue (`hsdp list`), and every point of a bound is
rounded from a certified enclosure; where something else is drawn (a search, a map, a misprint) the text says so. The
numbers are in [data](data). The folders `data_shuffle_sample`, `data_sgm_sample` and `data_rec_sample` hold the files
the paper's own LaTeX source reads, under its own names: its figures compile unchanged beside this folder.

| command | what it does |
|---|---|
| `hsdp figures` | the paper's five figures, as PDF and PNG, into `figures/` |
| `hsdp figures all --out DIR --format pdf,png,svg` | every figure |
| `hsdp figures intro --as-printed` | with the paper's own ticks, label places and samples |
| `hsdp figures --palette colour-blind` | Okabe and Ito's colours, with markers |
| `hsdp figures figure2a --set n=1000 --set b=20 --set K=100 --set alpha=8,32` | for your own setting |
| `hsdp figures --from run.toml` | the same from a file with lines such as `n = 1000` and `alpha = [8, 32]` |
| `python figures/NAME.py` | one figure, from Python; `python figures/gallery.py` makes everything here again |
"""


def page(figures: Iterable[Description]) -> str:
    """The gallery of these figures, in Markdown."""
    parts = [_HEAD]
    for figure in figures:
        files = [table_path(figure, panel) for panel in figure.panels]
        files += [paper_path(figure, folder, order) for folder, _, order in figure.data_files]
        parts.append(
            f"## {figure.title}\n\n"
            f"[![{figure.title}]({figure.name}.png)]({figure.name}.pdf)\n\n"
            f"{figure.caption}\n\n"
            + "".join(f"* {note}\n" for note in figure.notes)
            + ("\n" if figure.notes else "")
            + f"`hsdp figures {figure.name}` · [script]({figure.name}.py) · [PDF]({figure.name}.pdf) · numbers: "
            + ", ".join(f"[{path.name if path.parts[0] == 'data' else path}]({path})" for path in files)
            + "\n"
        )
    return "\n".join(parts)
