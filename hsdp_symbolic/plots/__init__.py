"""Figures: the paper's own and new ones, every curve a catalogue statement. The only code that imports Matplotlib.

>>> from hsdp_symbolic.plots import Request, FIGURES
>>> figure = FIGURES["figure2a"](Request())
>>> figure.panels[0].curves[0].source
'thm:shuffle'

A figure is described by data (`describe`), its numbers are certified (`values`), drawn by one function (`draw`) and
written with the numbers beside it (`save`); a `figure` is a description that a notebook shows as its drawing.
"""

from collections.abc import Callable

from .describe import Curve, Panel, Request, Style
from .figure import Figure
from .new_figures import crossing, regions, sharper, tightness
from .paper_figures import first_batch, introduction, last_batch_figure, sampled, shuffled
from .save import produce, save

PAPER: dict[str, Callable[[Request], Figure]] = {
    "intro": introduction,
    "figure1a": first_batch,
    "figure1b": last_batch_figure,
    "figure2a": shuffled,
    "figure2b": sampled,
}
"""The paper's figures."""

NEW: dict[str, Callable[[Request], Figure]] = {
    "tightness": tightness,
    "crossover": crossing,
    "regions": regions,
    "sharper": sharper,
}
"""Figures the paper does not have. What its slips change is drawn by `proofs_check.slips`."""

FIGURES = PAPER | NEW

__all__ = ["FIGURES", "NEW", "PAPER", "Curve", "Figure", "Panel", "Request", "Style", "produce", "save"]
