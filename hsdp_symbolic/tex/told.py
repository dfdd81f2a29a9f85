"""Propositions in LaTeX and Markdown: their words, with every expression set as mathematics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sympy import Expr

from ..proof.propositions import AtMost, Equal, Less, Proposition
from .layout import LINE, fitted, rows, width
from .printer import PaperPrinter
from .words import to_latex

_MARK = re.compile("\ue000(\\d+)\ue001")
"""Characters of private use, which no sentence contains."""
_LONG = 60
"""A formula with more characters than this is set in a line of its own."""


def sentence(proposition: Proposition) -> list[tuple[str, bool]]:
    """The words and the formulas of a proposition, in order; True for a formula."""
    printer, formulas = PaperPrinter(sort=True, by_name=True), list[str]()

    def form(expr: Expr) -> str:
        formulas.append(printer.doprint(expr))
        return f"\ue000{len(formulas) - 1}\ue001"

    pieces = _MARK.split(proposition.said(form))
    return [(formulas[int(piece)], True) if place % 2 else (piece, False) for place, piece in enumerate(pieces)]


def told_latex(proposition: Proposition) -> str:
    """For a document with amsmath."""
    return "".join(_set(text) if formula else to_latex(text) for text, formula in sentence(proposition))


def _set(formula: str) -> str:
    """A formula within a sentence; a wide one in a line of its own."""
    if width(formula) <= LINE / 2:
        return f"${formula}$"
    return rf"\[{fitted(formula, LINE)}\]"


_SIGNS = {Equal: "=", AtMost: r"\leq", Less: "<"}


def with_displays(
    proposition: Proposition, shown: Mapping[Expr, Expr] | None = None
) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """The same, long formulas replaced by names; and rows that say what these stand for.

    A relation between numbers has no words: it is a display. What is `shown` in another form is printed in that.
    """
    printer, shown = PaperPrinter(sort=True, by_name=True), shown or {}
    if isinstance(proposition, Equal | AtMost | Less):
        left, right = (shown.get(side, side) for side in (proposition.left, proposition.right))
        return [], tuple(rows(printer, left, _SIGNS[type(proposition)], right))
    named: list[tuple[str, Expr]] = []
    formulas: list[str] = []

    def form(expr: Expr) -> str:
        expr = shown.get(expr, expr)
        tex = printer.doprint(expr)
        if len(tex) > _LONG:
            name = rf"\mathcal{{B}}_{{{len(named) + 1}}}"
            named.append((name, expr))
            tex = name
        formulas.append(tex)
        return f"\ue000{len(formulas) - 1}\ue001"

    pieces = _MARK.split(proposition.said(form))
    parts = [(formulas[int(piece)], True) if place % 2 else (piece, False) for place, piece in enumerate(pieces)]
    return parts, tuple(row for name, expr in named for row in rows(printer, name, "=", expr))
