"""The picture of `hsdp compare`: every bound over the number of epochs, a line where the smallest changes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from .describe import FORMATS

if TYPE_CHECKING:
    from ..accounting.bounds_over_epochs import Comparison


def check_format(name: str) -> str:
    """The format a file name asks for."""
    ending = name.rpartition(".")[2].lower()
    if ending not in FORMATS:
        raise ArgumentError("plot", name, "no such picture format", f"end the name in .{', .'.join(FORMATS)}")
    return ending


def draw_bounds(found: Comparison, file_format: str) -> bytes:
    """The bounds as a picture, one curve each."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError("plot", file_format, "matplotlib is not installed", "pip install matplotlib") from None

    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.add_subplot()
    for number, (label, values) in enumerate(found.curves):
        known = [(K, value) for K, value in zip(found.epochs, values, strict=True) if value is not None]
        dash = "solid" if number < 10 else "dashed"  # the ten colours start again
        axes.plot(*zip(*known, strict=True), marker="o", markersize=3, linestyle=dash, label=label)
    for crossover in found.crossovers:
        axes.axvline(crossover.K, color="grey", linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="epochs K", ylabel=f"certified ε at δ = {found.delta:g}")
    axes.set_title(f"{found.scheme}, {found.neighbouring}")
    figure.legend(fontsize="small", loc="outside right upper")
    stream = io.BytesIO()
    figure.savefig(stream, format=file_format, metadata={"Date": None} if file_format == "svg" else None)
    return stream.getvalue()
