"""Rows of an aligned display: long formulas are broken at sums first, then at products."""

from __future__ import annotations

import re

from sympy import Add, Derivative, Expr, Mul, Pow, S, fraction, sift

from ..display import Dot, Over, Plus
from .printer import PaperPrinter, swallows

LINE = 58.0
"""How much fits on a line of a standard article, in widths of a digit."""

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.S)
_WIDTHS = {
    **dict.fromkeys(("+", "-", "=", "<", ">", r"\leq", r"\geq", r"\in"), 2.6),
    **dict.fromkeys((r"\cdot",), 1.6),
    **dict.fromkeys(
        (r"\left", r"\right", r"\bigl", r"\bigr", r"\text", r"\mathrm", r"\scriptstyle", "&", "^", "_"), 0.0
    ),
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
    """`lhs sign rhs` as the rows of an `align*`, none wider than `limit` where that is possible."""
    left = [lhs] if isinstance(lhs, str) else _pieces(printer, lhs, limit)
    if len(left) == 1 and width(left[0]) <= limit / 3:
        room = limit - width(left[0]) - 3
        first, *others = (fitted(piece, room) for piece in _pieces(printer, rhs, room))
        return [f"{left[0]} &{sign} {first}", *(rf"&\qquad {piece}" for piece in others)]
    first, *others = (fitted(piece, limit - 6) for piece in _pieces(printer, rhs, limit - 6))
    if len(left) == 1 and not others and width(left[0]) + width(first) <= limit:
        return [f"{left[0]} &{sign} {first}"]
    return [
        f"& {fitted(left[0], limit)}",
        *(rf"&\qquad {fitted(piece, limit)}" for piece in left[1:]),
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
    """The letters over the denominator as one fraction, then the other factors one by one."""
    top, bottom = (expr, S.One) if isinstance(expr, Dot) else fraction(expr, exact=True)
    factors = printer.factors(top) if isinstance(top, (Mul, Dot)) else [top]
    letters, others = sift(factors, _is_letter, binary=True) if not isinstance(expr, Dot) else ([], factors)
    found, sign = list[str](), ""
    if letters and letters[0].is_negative:
        sign, letters = "- ", [each for each in (-letters[0], *letters[1:]) if each != 1]
    if letters or bottom != 1:
        lead = Mul(*letters, evaluate=False) if letters else S.One
        found.append(sign + printer.doprint(lead if bottom == 1 else Over(lead, bottom)))
    for place, factor in enumerate(others, start=1):
        text = printer.doprint(factor)
        dot = r"\cdot " if found else sign
        if isinstance(factor, (Add, Plus)) and width(text) > limit - 4:
            # \left and \right cannot stand on different lines.
            first, *middle, last = _packed(_terms(printer, factor, limit - 4), limit - 4)
            found += [rf"{dot}\bigl({first}", *middle, rf"{last}\bigr)"]
            continue
        open_ended = (isinstance(factor, Derivative) or swallows(factor)) and place < len(others)
        grouped = isinstance(factor, (Add, Plus)) or open_ended or (bool(found) and text.startswith("-"))
        found.append(dot + (rf"\left({text}\right)" if grouped else text))
    return found


def _is_letter(factor: Expr) -> bool:
    base = factor.base if isinstance(factor, Pow) and factor.exp.is_number else factor
    return bool(base.is_Symbol or base.is_Rational)


def _packed(pieces: list[str], limit: float) -> list[str]:
    """As many pieces to a line as fit."""
    lines: list[str] = []
    for piece in pieces:
        if lines and width(lines[-1]) + width(piece) <= limit:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def fitted(line: str, limit: float) -> str:
    """A line that could not be broken, set smaller if it is too wide."""
    return line if width(line) <= 1.2 * limit else rf"\scriptstyle {line}"
