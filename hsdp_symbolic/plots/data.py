"""The numbers as CSV files: what a figure plots, and what the paper's LaTeX source reads, under the names it uses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import PurePosixPath

from ..progress import Ticker
from ..setting import Setting
from .common import curve, decimal_text
from .describe import Description, Panel, Style
from .values import as_text, values

_LETTERS = (
    ("k", "K"),
    ("a", "alpha"),
    ("l", "lam"),
    ("e", "eta"),
    ("g", "S_g"),
    ("s", "sigma"),
    ("n", "n"),
    ("b", "b"),
)
"""The letters in the paper's file names, and ours."""


def panel_table(panel: Panel, ticker: Ticker | None = None) -> str:
    """One column per curve, one row per point; a cell is empty where a curve has no such point."""
    if panel.regions:
        return _region_table(panel)
    over = {each.over for each in panel.curves}
    letter = over.pop() if len(over) == 1 else "x"
    columns = [
        dict(zip((Fraction(x) for x in each.at), map(as_text, values(each, ticker)), strict=True))
        for each in panel.curves
    ]
    rows = [",".join([letter, *(each.name for each in panel.curves)])]
    for x in sorted(set[Fraction]().union(*columns)):
        rows.append(",".join([decimal_text(x), *(column.get(x, "") for column in columns)]))
    return "\n".join(rows) + "\n"


def _region_table(panel: Panel) -> str:
    regions = panel.regions
    assert regions
    rows = [f"{panel.xlabel.strip('$')},{panel.ylabel.strip('$')},least"]
    for y, winners in zip(regions.ys, regions.least, strict=True):
        rows += [f"{x:g},{y:g},{regions.names[winner]}" for x, winner in zip(regions.xs, winners, strict=True)]
    rows += [f"{x:g},{y:g},boundary of {line.name}" for line in panel.lines for x, y in line.points]
    return "\n".join(rows).replace("\\", "") + "\n"


def table_path(figure: Description, panel: Panel) -> PurePosixPath:
    """Where the numbers of a panel go: `data/NAME.csv`, or `data/NAME_PANEL.csv` where there are several."""
    return PurePosixPath("data") / f"{figure.name}{f'_{panel.name}' if panel.name else ''}.csv"


def paper_path(figure: Description, folder: str, order: Fraction | int) -> PurePosixPath:
    """Where the paper's source looks for a data file."""
    assert figure.run
    return PurePosixPath(folder) / paper_name(figure.run, Fraction(order))


def tables(figure: Description, ticker: Ticker | None = None) -> dict[PurePosixPath, str]:
    """The numbers a figure plots, by path."""
    return {table_path(figure, panel): panel_table(panel, ticker) for panel in figure.panels}


def paper_files(figure: Description, ticker: Ticker | None = None) -> dict[PurePosixPath, str]:
    """The data files the paper's source of this figure reads: `k,eps` for k = 0 … K."""
    found = {}
    for folder, label, order in figure.data_files:
        assert figure.run
        column = curve(label, figure.run, order, Style())
        rows = [f"{k},{as_text(y)}" for k, y in zip(column.at, values(column, ticker), strict=True)]
        found[paper_path(figure, folder, order)] = "\n".join(["k,eps", *rows]) + "\n"
    return found


def paper_name(run: Setting, order: Fraction) -> str:
    """The paper's file name for a setting.

    >>> paper_name(Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4), Fraction(15))
    'k=40_a=15_l=1_e=0.02_g=4_s=2_n=50_b=2.csv'
    """
    known = {name: decimal_text(Fraction(text)) for name, text in run.exact_strings().items()}
    known |= {"alpha": decimal_text(order), "sigma": known.get("sigma") or f"sqrt({known.get('sigma_squared')})"}
    return "_".join(f"{short}={known[name].replace('/', 'over')}" for short, name in _LETTERS) + ".csv"
