"""Figures: the paper's own and new ones, every curve a statement of the catalogue. Only this room imports Matplotlib.

>>> from hsdp_symbolic.plots import Request, FIGURES
>>> figure = FIGURES["figure2a"](Request())
>>> figure.panels[0].curves[0].source
'thm:shuffle'

A figure is plain data (`describe`); its numbers are certified (`values`), one function draws it (`draw`), and it is
written with its numbers beside it (`data`, `save`). In a notebook a figure shows itself (`figure`).
"""

from collections.abc import Callable

from .describe import Curve, Panel, Request, Style
from .figure import Figure
from .new_figures import crossing, regions, sharper, tightness
from .paper_figures import first_batch, introduction, last_batch_figure, sampled, shuffled
from .profiles import profiles
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
    "profiles": profiles,
}
"""Figures the paper does not have. One more, of what its slips change, is in `proofs_check.slips`."""

FIGURES = PAPER | NEW

__all__ = ["FIGURES", "NEW", "PAPER", "Curve", "Figure", "Panel", "Request", "Style", "produce", "save"]
