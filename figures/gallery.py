"""Draws every figure and writes the gallery page: `python figures/gallery.py`."""

from pathlib import Path, PurePosixPath

from hsdp_symbolic.cli.figures import available
from hsdp_symbolic.plots import Request, produce, save
from hsdp_symbolic.plots.gallery import page
from hsdp_symbolic.progress import Ticker

figures = [make(Request()) for make in available().values()]
files = produce(figures, ticker=Ticker())
save(files | {PurePosixPath("README.md"): page(figures).encode()}, Path(__file__).parent)
