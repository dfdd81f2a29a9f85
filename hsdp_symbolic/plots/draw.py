"""From a description to a Matplotlib figure (`draw`) and to files that are the same to the byte each time (`render`).

No TeX is needed (STIX fonts and mathtext), fonts are embedded as TrueType, and nothing depends on the clock.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation, blended_transform_factory
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ..errors import ArgumentError
from ..progress import Ticker
from .data import panel_table
from .describe import FORMATS, Curve, Description, Line, Panel, Regions, Style, Text
from .values import as_double, values

PALETTES = {
    # xcolor's purple and blue, as in the paper, then colours of similar weight.
    "paper": ("#bf0040", "#0000ff", "#007f5f", "#b35900", "#7f7f7f"),
    # Okabe and Ito's set, told apart with any common colour vision.
    "colour-blind": ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#595959"),
}
_WIDTHS = {"thin": 0.7, "thick": 1.4}
_DASHES = {"solid": "solid", "dashed": (0, (4, 3)), "dotted": (0, (1.4, 2)), "dashdot": (0, (5, 2, 1.2, 2))}
_MARKERS = ("", "o", "s", "^", "D")
"""In the colour-blind palette the colours after the first also carry a marker, for print without colour."""
_SHADES = 0.35
_DPI = {False: 240, True: 170}
"""Dots per inch of a PNG, for figures of one column and of two."""
_LINE = 8.0
"""Points between the middles of two labels that do not touch."""
_RC: Any = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.scale_dashes": False,
    "legend.frameon": True,
    "legend.framealpha": 0.9,
    "legend.edgecolor": "0.8",
    "legend.borderpad": 0.3,
    "legend.labelspacing": 0.25,
    "legend.handlelength": 2.2,
    "pdf.fonttype": 42,
    "svg.hashsalt": "hsdp",
    "path.simplify": False,
}


def check_looks(formats: Sequence[str], palette: str) -> None:
    """Refuse formats and palettes that do not exist."""
    for wanted in formats:
        if wanted not in FORMATS:
            raise ArgumentError("format", wanted, "no such format", f"use {', '.join(FORMATS)}")
    if palette not in PALETTES:
        raise ArgumentError("palette", palette, "no such palette", f"use {' or '.join(PALETTES)}")


@contextmanager
def _style() -> Iterator[None]:
    """Our settings on top of Matplotlib's own defaults, whatever the user's configuration file says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def draw(figure: Description, *, palette: str = "paper", ticker: Ticker | None = None) -> Drawing:
    """The figure as a Matplotlib figure; its lines carry the names of their curves as gid."""
    check_looks((), palette)
    with _style():
        drawing = Drawing(figsize=figure.size, layout="constrained")
        FigureCanvasAgg(drawing)
        rows = math.ceil(len(figure.panels) / figure.columns)
        for number, panel in enumerate(figure.panels):
            axes = drawing.add_subplot(rows, figure.columns, number + 1)
            _draw_panel(drawing, axes, panel, palette, ticker, narrow=figure.columns == 1)
    return drawing


def render(
    figure: Description,
    formats: Sequence[str] = ("pdf", "png"),
    *,
    palette: str = "paper",
    ticker: Ticker | None = None,
) -> dict[str, bytes]:
    """The figure in each format; the same call gives the same bytes, in any process."""
    check_looks(formats, palette)
    drawing = draw(figure, palette=palette, ticker=ticker)
    found = {}
    with _style():
        for wanted in formats:
            stream = io.BytesIO()
            drawing.savefig(stream, format=wanted, dpi=_DPI[figure.columns > 1], metadata=_metadata(figure, wanted))
            found[wanted] = _small(stream) if wanted == "png" else stream.getvalue()
    return found


def _small(stream: io.BytesIO) -> bytes:
    """A PNG of a third of the size: line drawings need few colours."""
    stream.seek(0)
    image = Image.open(stream)
    words = PngInfo()
    for name, text in image.info.items():
        if isinstance(name, str) and isinstance(text, str):
            words.add_itxt(str(name), text)
    result = io.BytesIO()
    dots = image.info["dpi"]
    image.convert("RGB").quantize(96).save(result, format="png", optimize=True, pnginfo=words, dpi=dots)
    return result.getvalue()


def numbers_digest(figure: Description) -> str:
    """A fingerprint of the numbers a figure shows; stored in its files, so that a stale file can be recognised."""
    tables = "\n".join(panel_table(panel) for panel in figure.panels)
    return hashlib.sha256(f"{figure.name}\n{figure.caption}\n{tables}".encode()).hexdigest()


def _metadata(figure: Description, wanted: str) -> dict[str, str | None]:
    """Title and fingerprint, and no date."""
    numbers = f"numbers sha256:{numbers_digest(figure)}"
    if wanted == "pdf":
        return {"Title": figure.title, "Subject": numbers, "Creator": "hsdp figures", "CreationDate": None}
    if wanted == "svg":
        return {"Title": figure.title, "Description": numbers, "Creator": "hsdp figures", "Date": None}
    return {"Title": figure.title, "Description": numbers, "Software": "hsdp figures"}


def _draw_panel(
    drawing: Drawing, axes: Axes, panel: Panel, palette: str, ticker: Ticker | None, *, narrow: bool
) -> None:
    colours = PALETTES[palette]
    axes.set_xscale(panel.scales[0])
    axes.set_yscale(panel.scales[1])
    shown: list[tuple[Artist, str]] = []
    if panel.regions:
        shown += _draw_regions(axes, panel.regions, colours)
    frame: list[tuple[float, float]] = []
    everything: list[Curve | Line] = [*panel.curves, *panel.lines]
    for curve in everything:
        points = _points(curve, ticker)
        if panel.swapped:
            points = [(y, x) for x, y in points]
        if not isinstance(curve, Curve) or not curve.leaves:
            frame += points
        (line,) = axes.plot(
            *zip(*points, strict=True), gid=curve.name, **_look(curve.style, colours, palette, len(points))
        )
        if curve.legend:
            shown.append((line, curve.legend))
    for place, words in panel.verticals:
        axes.axvline(place, color="0.35", linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0.5)
        axes.annotate(
            words,
            (place, 0.98),
            xycoords=("data", "axes fraction"),
            xytext=(3, 0),
            textcoords="offset points",
            va="top",
            fontsize=7,
        )
    _frame(axes, panel, frame)
    for text in _spread(panel.texts, axes.get_ylim(), drawing.get_figheight()):
        _write(axes, text, "black" if text.colour is None else colours[text.colour])
    if panel.title:
        axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.xlabel)
    if panel.ylabel:
        axes.set_ylabel(panel.ylabel)
    if shown and panel.legend != "none":
        _write_legend(drawing, axes, panel, shown, narrow=narrow)


def _write_legend(drawing: Drawing, axes: Axes, panel: Panel, shown: list[tuple[Artist, str]], *, narrow: bool) -> None:
    handles, words = zip(*shown, strict=True)
    if panel.legend == "above":
        # From the figure's left edge where it has one column: wide tick labels then cannot push the legend out.
        base = blended_transform_factory(drawing.transFigure, axes.transAxes) if narrow else axes.transAxes
        lift = ScaledTranslation(0, (16 if panel.title else 2) / 72, drawing.dpi_scale_trans)
        axes.legend(
            handles,
            words,
            loc="lower left",
            bbox_to_anchor=(0.1, 1) if narrow else (0, 1),
            bbox_transform=base + lift,
            borderaxespad=0,
        )
    elif panel.legend == "beside":
        beside = axes.legend(handles, words, loc="center left", bbox_to_anchor=(1.1, 0.5))
        beside.set_in_layout(False)  # there is room: no panel has to be narrower for it
    else:
        axes.legend(handles, words, loc=panel.place)


def _write(axes: Axes, text: Text, colour: str) -> None:
    if text.dot:
        axes.plot([text.x], [text.y], marker="o", markersize=3.5, color=colour, zorder=4, linestyle="none")
    axes.annotate(
        text.words,
        (text.x, text.y),
        xytext=text.offset,
        textcoords="offset points",
        ha=text.align,
        va="center",
        color=colour,
        fontsize=7.5,
        annotation_clip=False,
        zorder=5,
    )


def _spread(texts: Sequence[Text], limits: tuple[float, float], inches: float) -> list[Text]:
    """Labels at the ends of curves, moved apart where they would overlap."""
    labels = sorted((text for text in texts if text.ends), key=lambda text: text.y)
    heights: list[float] = []
    points = 0.7 * 72 * inches / (limits[1] - limits[0])  # about 7/10 of the figure's height is axes
    for text in labels:
        wanted = text.y * points
        heights.append(max(wanted, heights[-1] + _LINE) if heights else wanted)
    moved = [replace(text, offset=(3, height - text.y * points)) for text, height in zip(labels, heights, strict=True)]
    return [text for text in texts if not text.ends] + moved


def _points(curve: Curve | Line, ticker: Ticker | None) -> list[tuple[float, float]]:
    if isinstance(curve, Line):
        return list(curve.points)
    return [(float(x), as_double(y)) for x, y in zip(curve.at, values(curve, ticker), strict=True)]


def _look(style: Style, colours: Sequence[str], palette: str, count: int) -> dict[str, Any]:
    look: dict[str, Any] = {"color": colours[style.colour], "linewidth": _WIDTHS[style.width]}
    if style.marker:
        return look | {"linestyle": "none", "marker": style.marker, "markersize": 3, "zorder": 3}
    look["linestyle"] = _DASHES[style.dash]
    if palette == "colour-blind" and style.colour:
        look |= {"marker": _MARKERS[style.colour], "markersize": 2.6, "markevery": max(1, count // 8)}
    return look


def _frame(axes: Axes, panel: Panel, points: list[tuple[float, float]]) -> None:
    """Set the limits: those the panel asks for, or else room around the curves that may not leave the frame."""
    linear_x, linear_y = (scale == "linear" for scale in panel.scales)
    if panel.xlim:
        axes.set_xlim(*panel.xlim)
    elif points and linear_x:
        axes.set_xlim(0, 1.05 * max(x for x, _ in points))
    if panel.ylim:
        axes.set_ylim(*panel.ylim)
    elif points and linear_y:
        low, high = min(y for _, y in points), max(y for _, y in points)
        axes.set_ylim(min(0, 1.1 * low), 1.2 * high if high > 0 else 1)
    for axis, scale in ((axes.xaxis, panel.scales[0]), (axes.yaxis, panel.scales[1])):
        if scale == "log":
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
            axis.set_minor_formatter(NullFormatter())
    if panel.yticks:
        axes.set_yticks([at for at, _ in panel.yticks], [words for _, words in panel.yticks])


def _tick(value: float) -> str:
    """A number at an axis, a small one as a power of ten.

    >>> _tick(0.02), _tick(1e-8)
    ('0.02', '$10^{-8}$')
    """
    text = f"{value:g}"
    return rf"$10^{{{round(math.log10(value))}}}$" if text.startswith("1e") else text


def _draw_regions(axes: Axes, regions: Regions, colours: Sequence[str]) -> list[tuple[Artist, str]]:
    """Neighbouring cells of a row with the same winner become one rectangle, so that the vector file stays small."""
    left, low = _edges(regions.xs), _edges(regions.ys)
    for index in range(len(regions.names)):
        boxes = []
        for row, winners in enumerate(regions.least):
            start = None
            for column, winner in enumerate((*winners, -1)):
                if winner == index and start is None:
                    start = column
                elif winner != index and start is not None:
                    x0, x1, y0, y1 = left[start], left[column], low[row], low[row + 1]
                    boxes.append([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
                    start = None
        shade = _pale(colours[index])
        axes.add_collection(
            PolyCollection(boxes, facecolors=shade, edgecolors=shade, linewidths=0.3, zorder=0.1), autolim=False
        )
    axes.set_xlim(left[0], left[-1])
    axes.set_ylim(low[0], low[-1])
    won = sorted({winner for winners in regions.least for winner in winners})
    return [(Patch(facecolor=_pale(colours[index])), regions.legends[index]) for index in won]


def _pale(colour: str) -> tuple[float, float, float]:
    """A colour mixed with white."""
    red, green, blue = mpl.colors.to_rgb(colour)
    return 1 - _SHADES * (1 - red), 1 - _SHADES * (1 - green), 1 - _SHADES * (1 - blue)


def _edges(centres: tuple[float, ...]) -> list[float]:
    """Borders between cells on a logarithmic axis: geometric means, and half a cell beyond either end."""
    inner = [math.sqrt(a * b) for a, b in pairwise(centres)]
    return [centres[0] ** 2 / inner[0], *inner, centres[-1] ** 2 / inner[-1]]
