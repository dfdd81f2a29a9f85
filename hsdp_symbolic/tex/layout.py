"""Rows of an aligned display: long formulas are broken at sums first, then at products."""

from __future__ import annotations

import re

from sympy import Add, Expr, Mul, Pow, S, fraction

from ..nodes import Dot, Plus
from .printer import PaperPrinter

LINE = 58.0
"""How much fits on a line of a standard article, in widths of a digit."""

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.S)
_WIDTHS = {
    **dict.fromkeys(("+", "-", "=", "<", ">", r"\leq", r"\geq", r"\in"), 2.6),
    **dict.fromkeys((r"\cdot",), 1.6),
    **dict.fromkeys((r"\left", r"\right", r"\bigl", r"\bigr", r"\text", r"\mathrm", "&", "^", "_"), 0.0),
    **dict.fromkeys((r"\log", r"\max", r"\min", r"\lim"), 3.0),
    r"\quad": 2.0,
    r"\qquad": 4.0,
    r"\sum": 2.8,
    r"\ ": 0.6,
}


def width(text: str) -> float:
    """About how wide a formula is when set, in widths of a digit: good enough to decide where to break it."""
    return _Measure(text).run()


class _Measure:
    """Walks the tokens of a formula; a fraction is as wide as its wider half, scripts are smaller."""

    def __init__(self, text: str) -> None:
        self.tokens = [token for token in _TOKEN.findall(text) if not token.isspace()]
        self.place = 0

    def run(self) -> float:
        total = 0.0
        while self.place < len(self.tokens) and self.tokens[self.place] != "}":
            total += self._one()
        return total

    def _one(self) -> float:
        token = self.tokens[self.place]
        self.place += 1
        if token == "{":
            inside = self.run()
            self.place += 1
            return inside
        if token in ("^", "_"):
            return 0.72 * self._next()
        if token in (r"\frac", r"\binom"):
            return 0.6 + max(self._next(), self._next())
        if token == r"\underset":
            return max(0.72 * self._next(), self._next())
        if token == r"\begin":
            self._next()
            return 1.0
        if token == r"\end":
            self._next()
            return 0.0
        return _WIDTHS.get(token, 1.0)

    def _next(self) -> float:
        return self._one() if self.place < len(self.tokens) else 0.0


def rows(printer: PaperPrinter, lhs: Expr | str, sign: str, rhs: Expr, limit: float = LINE) -> list[str]:
    """`lhs sign rhs` as the rows of an `align*`, each as wide as `limit` where that can be had."""
    left = [lhs] if isinstance(lhs, str) else _pieces(printer, lhs, limit)
    if len(left) == 1 and width(left[0]) <= limit / 3:
        first, *others = _pieces(printer, rhs, limit - width(left[0]) - 3)
        return [f"{left[0]} &{sign} {first}", *(rf"&\qquad {piece}" for piece in others)]
    first, *others = _pieces(printer, rhs, limit - 6)
    if len(left) == 1 and not others and width(left[0]) + width(first) <= limit:
        return [f"{left[0]} &{sign} {first}"]
    return [
        f"& {left[0]}",
        *(rf"&\qquad {piece}" for piece in left[1:]),
        rf"&\quad {sign} {first}",
        *(rf"&\qquad {piece}" for piece in others),
    ]


def _pieces(printer: PaperPrinter, expr: Expr, limit: float) -> list[str]:
    """The formula in lines of at most `limit`, where sums and products allow."""
    text = printer.doprint(expr)
    if width(text) <= limit:
        return [text]
    if isinstance(expr, (Add, Plus)):
        return _packed(_terms(printer, expr, limit), limit)
    if isinstance(expr, (Mul, Dot)):
        return _packed(_factors(printer, expr, limit), limit)
    return [text]


def _terms(printer: PaperPrinter, expr: Expr, limit: float) -> list[str]:
    found: list[str] = []
    for term in printer.terms(expr):
        first, *others = _pieces(printer, term, limit - 3)
        if found:
            first = f"- {first[1:].lstrip()}" if first.startswith("-") else f"+ {first}"
        found += [first, *others]
    return found


def _factors(printer: PaperPrinter, expr: Expr, limit: float) -> list[str]:
    if isinstance(expr, Dot):
        numerator, denominator = list(expr.args), S.One
    else:
        top, denominator = fraction(expr, exact=True)
        numerator = printer.factors(top) if isinstance(top, Mul) else [top]
    found: list[str] = []
    sign = ""
    if numerator[0] == -1 and len(numerator) > 1:
        sign, numerator = "- ", numerator[1:]
    for factor in [Pow(denominator, -1), *numerator] if denominator != 1 else numerator:
        dot = r"\cdot " if found else sign
        if not isinstance(factor, (Add, Plus)):
            text = printer.doprint(factor)
            found.append(dot + (rf"\left({text}\right)" if text.startswith("-") else text))
        elif width(text := printer.doprint(factor)) <= limit - 4:
            found.append(rf"{dot}\left({text}\right)")
        else:  # \left and \right cannot stand on different lines
            first, *middle = _packed(_terms(printer, factor, limit - 4), limit - 4)
            found += [rf"{dot}\bigl({first}", *middle[:-1], rf"{middle[-1]}\bigr)"]
    return found


def _packed(pieces: list[str], limit: float) -> list[str]:
    """As many pieces to a line as fit."""
    lines: list[str] = []
    for piece in pieces:
        if lines and width(lines[-1]) + width(piece) <= limit:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines
