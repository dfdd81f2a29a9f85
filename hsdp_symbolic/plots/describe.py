"""What a figure is, as plain data: curves by the label of their statement, axes and words; no drawing, no formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from ..setting import Setting
from ..setting.gate import Number
from ..statement import Statement

FORMATS = ("pdf", "png", "svg")
"""What a picture may be written as."""
Width = Literal["thin", "thick"]
Dash = Literal["solid", "dashed", "dotted", "dashdot"]
CurveView = Literal["bound", "continued", "worst", "epsilon", "mu", "law"]
Exact = int | Fraction
Place = Literal["best", "upper left", "upper right", "lower left", "lower right", "center right"]


@dataclass(frozen=True)
class Style:
    """Colour by its place in the palette; width and dashes by TikZ's names; `marker` for points without a line."""

    colour: int = 0
    width: Width = "thick"
    dash: Dash = "solid"
    marker: str = ""


@dataclass(frozen=True, eq=False)
class Curve:
    """One statement along one letter.

    `source` is a label of the catalogue (or a changed `Statement`); `view` is the bound itself, its formula continued
    to fractions of an epoch (`continued`), or the worst divergence an attack on it finds (`worst`). Of a profile it is
    ε at a δ (`epsilon`; of a divergence, at its best order), μ (`mu`), or ε of a quadratic loss whose batches are made
    in the same way (`law`).
    """

    source: str | Statement
    run: Setting
    arguments: Mapping[str, Exact]
    at: tuple[Exact, ...]
    style: Style = Style()
    legend: str = ""
    over: str = "K"
    view: CurveView = "bound"
    leaves: bool = False
    """Whether the curve may leave the frame: the axes are then fitted to the other curves."""

    @property
    def name(self) -> str:
        """The heading of its column in the data file."""
        label = self.source if isinstance(self.source, str) else self.source.label
        words = {
            "bound": label,
            "continued": f"{label} between epochs",
            "worst": f"worst found against {label}",
            "epsilon": f"epsilon of {label}",
            "mu": f"mu of {label}",
            "law": f"quadratic loss against {label}",
        }
        return " ".join([words[self.view], *(f"{name}={value}" for name, value in self.arguments.items())])


@dataclass(frozen=True, eq=False)
class Line:
    """Points already computed, to be joined: a boundary between regions."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: Style = Style()
    legend: str = ""


@dataclass(frozen=True, eq=False)
class Regions:
    """Which of several bounds is least at each point of a grid: `names[least[row][column]]`."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    names: tuple[str, ...]
    legends: tuple[str, ...]
    least: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Text:
    """Words at a point of the axes; they begin there unless `align` says otherwise."""

    x: float
    y: float
    words: str
    align: Literal["left", "right", "center"] = "left"
    dot: bool = False
    """Whether to mark the point itself; the words then stand beside it."""
    ends: bool = False
    """Whether it labels the end of a curve: it then stands to its right, clear of other such labels."""
    offset: tuple[float, float] = (0, 0)
    colour: int | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes. Limits left open are taken from the curves."""

    curves: tuple[Curve, ...] = ()
    lines: tuple[Line, ...] = ()
    regions: Regions | None = None
    name: str = ""
    title: str = ""
    xlabel: str = "$K$"
    ylabel: str = ""
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    yticks: tuple[tuple[float, str], ...] = ()
    scales: tuple[str, str] = ("linear", "linear")
    texts: tuple[Text, ...] = ()
    verticals: tuple[tuple[float, str], ...] = ()
    legend: Literal["none", "inside", "above", "beside"] = "inside"
    """`beside` is where the next panel would be: for the last one, where a row is not full."""
    place: Place = "best"
    swapped: bool = False
    """Whether values go to the right and the letter goes up: a profile is drawn as δ over ε."""


@dataclass(frozen=True, eq=False)
class Description:
    """What a figure shows: its panels, and what the gallery says about it."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    size: tuple[float, float] = (3.25, 2.5)
    columns: int = 1
    notes: tuple[str, ...] = ()
    data_files: tuple[tuple[str, str, int | Fraction], ...] = ()
    """Data files the paper's source reads: folder, label and order."""
    run: Setting | None = None


@dataclass(frozen=True)
class Request:
    """What the user asks of a figure: changed letters, other orders, or the figure as printed, slips included."""

    changes: Mapping[str, Number] = field(default_factory=dict)
    orders: tuple[Fraction, ...] | None = None
    as_printed: bool = False

    @property
    def plain(self) -> bool:
        """Whether the figure is asked for in the paper's own setting."""
        return not self.changes and self.orders is None
