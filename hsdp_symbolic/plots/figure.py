"""A figure: a description that a notebook shows as its drawing."""

from __future__ import annotations

from dataclasses import dataclass

from ..progress import Ticker
from .describe import Description
from .draw import render


@dataclass(frozen=True, eq=False, repr=False)
class Figure(Description):
    """A `Description` that draws itself in a notebook: what every figure of the package is."""

    def __repr__(self) -> str:
        return f"<Figure {self.name}: {self.title}>"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """What a notebook shows for a figure: the drawing, and how wide to show it (pixels)."""
        return render(self, ("png",), ticker=Ticker())["png"], {"width": round(130 * self.size[0])}
