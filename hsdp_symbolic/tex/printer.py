"""How every node is written in the paper's notation.

Functions of the bounds know their own LaTeX (`functions.interface.BoundFunction.tex`), all else is here. A node without
a rule is an error, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sympy import (
    Add,
    Basic,
    Derivative,
    Eq,
    Expr,
    Integral,
    Max,
    Min,
    Mul,
    NumberSymbol,
    Or,
    Piecewise,
    Pow,
    Rational,
    S,
    Subs,
    Symbol,
    Tuple,
    binomial,
    ceiling,
    exp,
    factorial,
    floor,
    log,
    preorder_traversal,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from ..display import Average, Dot, FirstEpoch, LogAverage, Named, Over, Plus, PowerSum
from ..errors import UnsupportedNode
from ..functions.interface import BoundFunction
from ..symbols import FUNCTIONS_TEX, TEX, hit, sigma, sigma2

_FROM_SYMPY = (
    *(Add, Mul, Pow, Symbol, Rational, NumberSymbol, exp, log, Max, Min, floor, ceiling, binomial, factorial),
    *(Derivative, Subs, Integral, Relational, Or, AppliedUndef, Piecewise, Tuple),
    *(type(S.Infinity), type(S.NegativeInfinity), type(S.true)),
)
"""SymPy's own nodes that its printer writes as we want them."""

_PLAIN_NAME = re.compile(r"([A-Za-z]+)(?:_([A-Za-z]+\d*|\d+)|(\d+))?")
_GREEK = re.compile("alpha|beta|gamma|delta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|chi|psi|omega|ell")
_SUMMATION_LETTERS = ("s", "r", "l")
_PAPERS_ORDER = (
    "alpha",
    "rho0",
    "rho_n",
    "rho_mul",
    "c",
    "eta",
    "lam",
    "beta",
    "S_g",
    "sigma2",
    "sigma",
    "b",
    "n",
    "K",
)


class PaperPrinter(LatexPrinter):
    """SymPy's printer with the paper's notation, in written order; with `sort`, in the paper's order of letters.

    `names` overrides how symbols are written; `values` puts numbers in their place. A function without LaTeX is an
    error, unless functions may be written `by_name`, as in proofs.
    """

    def __init__(
        self,
        *,
        sort: bool = False,
        names: Mapping[Symbol, str] | None = None,
        values: Mapping[Symbol, Fraction] | None = None,
        first_epoch: str = r"\varepsilon_0^{%s}(%s)",
        average: str = r"\underset{%s}{Avg}",
        by_name: bool = False,
    ) -> None:
        super().__init__({"order": "none", "fold_short_frac": False, "long_frac_ratio": None})
        self.sort, self.values = sort, dict(values or {})
        self.names = {**TEX, **(names or {})}
        self.first_epoch, self.average, self.by_name = first_epoch, average, by_name

    def doprint(self, expr: Expr) -> str:
        """The formula; a function without LaTeX of its own is written as its closed form, if it has one."""
        while closed := {n: n.closed() for n in preorder_traversal(expr) if self._is_written_closed(n)}:
            expr = expr.xreplace(closed)
        text: str = super().doprint(expr)
        return text

    def _is_written_closed(self, node: Basic) -> bool:
        return _is_written_closed(node) and not (self.by_name and _is_long(node))

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if isinstance(expr, BoundFunction) and self.by_name and not _has_rule(expr):
            matters = (self._print(each) for place, each in enumerate(expr.args) if place not in expr.for_views)
            named = rf"\operatorname{{{type(expr).__name__}}}\left({', '.join(matters)}\right)"
            return _raised_text(named, kwargs.get("exp"))
        if isinstance(expr, Basic) and not _has_rule(expr):
            raise UnsupportedNode(
                f"no LaTeX for the node {type(expr).__name__}; a function of the bounds needs a method `tex`, "
                f"any other node a method _print_{type(expr).__name__} in tex/printer.py; or show it under a name "
                "(display.Named), with the equations that define it in `also`"
            )
        if isinstance(expr, BoundFunction):
            return _raised_text(expr.tex(self), kwargs.get("exp"))
        text: str = super()._print(expr, **kwargs)
        return text

    # Letters and numbers

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        if expr in self.values:
            return number(self.values[expr])
        return self.names[expr] if expr in self.names else _plain_name(expr.name)

    def _print_AppliedUndef(self, expr: AppliedUndef, exp: str | None = None) -> str:
        if expr.func not in FUNCTIONS_TEX:
            raise UnsupportedNode(f"no LaTeX for the function {expr.func}; give it a line in symbols.FUNCTIONS_TEX")
        raised = f"^{{{exp}}}" if exp else ""
        return rf"{FUNCTIONS_TEX[expr.func]}\left({', '.join(map(self._print, expr.args))}\right){raised}"

    def _print_Function(self, expr: AppliedUndef, exp: str | None = None) -> str:
        return self._print_AppliedUndef(expr, exp)

    # Sums, products, powers

    def _print_Add(self, expr: Add, order: str | None = None) -> str:
        return self._print_Plus(Plus(*self.terms(expr)))

    def terms(self, expr: Expr) -> list[Expr]:
        """The terms of a sum in the order they are written."""
        if isinstance(expr, Plus):
            return list(expr.args)
        # K − 1 and n/b − j, not −1 + K and −j + n/b; but 1 − q stays as it is.
        terms = sorted(expr.args, key=self._place) if self.sort else expr.args
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))

    def _print_Plus(self, expr: Plus) -> str:
        first, *others = map(self._print, expr.args)
        return first + "".join(f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}" for text in others)

    def _print_Mul(self, expr: Expr) -> str:
        if isinstance(expr, Mul):
            expr = Mul(*self.factors(expr), evaluate=False)
        text: str = super()._print_Mul(expr)
        return text

    def factors(self, expr: Expr) -> list[Expr]:
        """The factors of a product in the order they are written."""
        return sorted(expr.args, key=self._place) if self.sort and not isinstance(expr, Dot) else list(expr.args)

    def _place(self, factor: Expr) -> tuple[Any, ...]:
        """Where a factor or term stands: numbers, letters in the paper's order, brackets, functions, sums last."""
        base = factor.base if isinstance(factor, Pow) else factor
        if factor.is_number:
            return (0, 0, "")
        if isinstance(base, Symbol):
            known = _PAPERS_ORDER.index(base.name) if base.name in _PAPERS_ORDER else len(_PAPERS_ORDER)
            return (1, known, base.name)
        if isinstance(base, (Derivative, Subs, Integral)) or swallows(base):
            return (4, 0, str(factor))
        return (3 if base.is_Function else 2, 0, str(factor))

    def _print_Dot(self, expr: Dot) -> str:
        last = len(expr.args) - 1
        texts = []
        for place, factor in enumerate(expr.args):
            text = self._print(factor)
            open_ended = place < last and swallows(factor)
            grouped = isinstance(factor, (Add, Plus)) or open_ended or (place > 0 and text.startswith("-"))
            texts.append(rf"\left({text}\right)" if grouped else text)
        return r" \cdot ".join(texts)

    def _needs_mul_brackets(self, expr: Expr, first: bool = False, last: bool = False) -> bool:
        if isinstance(expr, Plus):
            return True
        if not last and (isinstance(expr, Derivative) or swallows(expr)):
            return True
        if self._is_ratio(expr) and (self.sort or not last):
            return True
        return bool(super()._needs_mul_brackets(expr, first=first, last=last))

    def _is_ratio(self, expr: Expr) -> bool:
        """Whether a letter is written as a quotient, such as n/b, so that it needs brackets among factors."""
        return expr not in self.values and "/" in TEX.get(expr, "")

    def _print_Pow(self, expr: Pow) -> str:
        base, power = expr.args
        if base == sigma and power == 2 and sigma2 in self.values and sigma not in self.values:
            return self._print(sigma2)
        negative = power.is_Rational and power.is_negative
        if (isinstance(base, (Average, PowerSum, Dot, Plus, Over)) or _is_grouped(base)) and not negative:
            if power == S.Half:
                return rf"\sqrt{{{self._print(base)}}}"
            return rf"\left({self._print(base)}\right)^{{{self._print(power)}}}"
        text: str = super()._print_Pow(expr)
        return text

    def _helper_print_standard_power(self, expr: Pow, template: str) -> str:
        if isinstance(expr.base, Symbol):
            return template % (self._raised(expr.base), self._print(expr.exp))
        text: str = super()._helper_print_standard_power(expr, template)
        return text

    def _raised(self, base: Expr) -> str:
        """`base` ready to carry an exponent."""
        text = self._print(base)
        bare = isinstance(base, Symbol) and not self._is_ratio(base) and "^" not in text
        return text if bare and not text.startswith((r"\frac", r"\partial")) else rf"\left({text}\right)"

    def _print_Over(self, expr: Over) -> str:
        top, bottom = map(self._print, expr.args)
        return rf"\frac{{{top}}}{{{bottom}}}"

    def _print_PowerSum(self, expr: PowerSum) -> str:
        x, k = expr.args
        index = self.free_letter(x, "k", *_SUMMATION_LETTERS)
        return rf"\sum_{{{index}=1}}^{{{self._print(k)}}} {self.raised_to(x, index)}"

    def one_less(self, count: Expr) -> str:
        return self._print(_one_less(count))

    def raised_to(self, x: Expr, index: str) -> str:
        """x to the power `index`, with a power of x's own multiplied in."""
        base, power = (x.base, x.exp) if isinstance(x, Pow) else (x, S.One)
        text = self._print(power)
        if power == 1:
            exponent = index
        elif power.is_Integer:
            exponent = f"{text}{index}"
        elif isinstance(power, (Add, Plus)) or text.startswith("-"):
            exponent = rf"{index} \left({text}\right)"
        else:
            exponent = f"{text} {index}" if text[0].isdigit() else f"{index} {text}"
        return f"{self._raised(base)}^{{{exponent}}}"

    def free_letter(self, body: Expr, *letters: str) -> str:
        """A letter for an index of summation that the body uses neither for a symbol nor for a sum of its own."""
        taken = {self._print(symbol) for symbol in body.free_symbols}
        free = [letter for letter in letters if letter not in taken][len(_sums(body)) :]
        if not free:
            raise UnsupportedNode(f"no letter left for the index of a sum over {body}")
        return free[0]

    # Exponentials and averages

    def _print_LogAverage(self, expr: LogAverage) -> str:
        sign, text = self._averaged(expr)
        return rf"\log\left({sign} e^{{{text}}}\right)"

    def _print_Average(self, expr: Average) -> str:
        sign, text = self._averaged(expr)
        return rf"{sign} \left({text}\right)" if isinstance(expr.args[0], (Add, Plus)) else f"{sign} {text}"

    def _averaged(self, expr: LogAverage | Average) -> tuple[str, str]:
        """The sign for the average, and what it is taken of."""
        body, place, count = expr.args
        held, self.values = self.values, {s: v for s, v in self.values.items() if s != place}
        over, text = rf"0 \leq {self._print(place)} < {self._print(count)}", self._print(body)
        self.values = held
        return self.average % over, text

    # Integrals

    def _print_Everywhere(self, expr: Expr, exp: str | None = None) -> str:
        over, variable = expr.args
        text = rf"\left({self._print(over)}\right)" if isinstance(over, Add) else self._print(over)
        return _raised_text(rf"\int {text} \thinspace d{self._print(variable)}", exp)

    def _print_Coordinatewise(self, expr: Expr, exp: str | None = None) -> str:
        return _raised_text(rf"\sum_{{{self._print(expr.args[1])}}} {self._print_Everywhere(expr)}", exp)

    # Names and cases

    def _print_FirstEpoch(self, expr: FirstEpoch) -> str:
        index, order = expr.args
        return self.first_epoch % (self._print(index), self.names.get(order, "") or self._print(order))

    def _print_Named(self, expr: Named, exp: str | None = None) -> str:
        return self.raw(str(expr.args[0])) + (f"^{{{exp}}}" if exp else "")

    def raw(self, text: str) -> str:
        """A name the paper has for something, which no symbol stands for."""
        return text

    def _print_Piecewise(self, expr: Piecewise) -> str:
        (first, condition), (second, _) = expr.args
        if condition.free_symbols <= self.values.keys():
            numbers = {symbol: Rational(self.values[symbol]) for symbol in condition.free_symbols}
            return self._print(first if condition.subs(numbers) == True else second)  # noqa: E712 — SymPy booleans
        if condition.lhs == hit:
            rows = ((first, self.raw(r"i_0 \in B_k^j")), (second, self.raw(r"i_0 \notin B_k^j")))
        else:
            rows = ((first, self._print(condition)), (second, r"\text{otherwise}"))
        body = r" \\ ".join(f"{self._print(value)} & {condition}" for value, condition in rows)
        return rf"\begin{{cases}} {body} \end{{cases}}"

    def _print_Or(self, expr: Or) -> str:
        return r" \text{ or } ".join(map(self._print, sorted(expr.args, key=str)))

    def _print_ExprCondPair(self, expr: Basic) -> str:
        raise UnsupportedNode("a case is printed by its Piecewise")


def _raised_text(text: str, power: str | None) -> str:
    return rf"\left({text}\right)^{{{power}}}" if power else text


def swallows(node: Expr) -> bool:
    """Whether its LaTeX would take in a factor written after it, as a sum does."""
    return isinstance(node, (Average, PowerSum)) or (isinstance(node, BoundFunction) and node.tex_swallows)


def _is_grouped(node: Expr) -> bool:
    return isinstance(node, BoundFunction) and node.tex_grouped


def _sums(body: Expr) -> set[Expr]:
    """The sums within, each of which needs a letter for its index."""
    return {node for node in body.atoms(BoundFunction, PowerSum) if swallows(node)}


def _is_written_closed(node: Basic) -> bool:
    """Whether a function has a closed form and no LaTeX of its own."""
    kind = type(node)
    return isinstance(node, BoundFunction) and not _has_rule(node) and kind.closed is not BoundFunction.closed


def _is_long(node: BoundFunction) -> bool:
    """Whether a closed form is so much longer than what it is made of that proofs are easier to read without it."""
    return bool(node.closed().count_ops() > 10 + sum(each.count_ops() for each in node.args))


def _has_rule(node: Basic) -> bool:
    if isinstance(node, BoundFunction):
        return type(node).tex is not BoundFunction.tex
    return isinstance(node, _FROM_SYMPY) or f"_print_{type(node).__name__}" in PaperPrinter.__dict__


def _one_less(count: Expr) -> Expr:
    """count − 1, in the order written if `count` is a display tree."""
    if not isinstance(count, Plus):
        return count - 1
    terms = [term for term in count.args if not term.is_number]
    constant = sum(term for term in count.args if term.is_number) - 1
    return Plus(*terms, constant) if constant != 0 else Plus(*terms)


def _plain_name(name: str) -> str:
    """Letters with an index, as LaTeX: E_w2, tau_u, p1; anything else is an error."""
    match = _PLAIN_NAME.fullmatch(name)
    if not match:
        raise UnsupportedNode(f"no LaTeX for the symbol {name!r}; give it a line in symbols.TEX")
    base, index = match[1], match[2] or match[3]
    text = _word(base)
    if text.startswith(r"\mathrm"):  # a word among letters needs space around it
        text = rf"\mathop{{{text}}}\nolimits"
    return text + (f"_{{{_word(index)}}}" if index else "")


def _word(text: str) -> str:
    if _GREEK.fullmatch(text):
        return f"\\{text}"
    return text if len(text) == 1 or not text.isalpha() else rf"\mathrm{{{text}}}"


def number(value: Fraction, places: int = 18) -> str:
    """An exact number: whole, as a decimal if that ends within `places`, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    for place in range(1, places + 1):
        scaled = value * 10**place
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(place + 1, "0")
            return f"{'-' if value < 0 else ''}{digits[:-place]}.{digits[-place:]}"
    return f"{'-' if value < 0 else ''}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def latex(expr: Expr) -> str:
    """`expr` in the paper's notation, in the order written."""
    text: str = PaperPrinter().doprint(expr)
    return text


def plain(expr: object) -> str:
    """`expr` in one line of plain text, for the terminal."""
    text = f"{expr.lhs} = {expr.rhs}" if isinstance(expr, Eq) else str(expr)
    return text.replace("**", "^").replace("sigma2", "sigma^2")
