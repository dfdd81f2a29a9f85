"""LaTeX in the paper's notation and order, generated from a statement's display tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Add, Eq, Expr, Piecewise, Pow, S
from sympy.printing.latex import LatexPrinter

from .nodes import Dot, FirstEpoch, GeometricSum, LogAverage, Named, Over, Plus, Pooled, PowerSum, SampledGaussian
from .symbols import TEX, hit

if TYPE_CHECKING:
    from .statement import Statement

_RELATIONS = {"<=": r"\leq", ">=": r"\geq", "=": "="}


class _PaperPrinter(LatexPrinter):
    """SymPy's printer, in written order, with the paper's notation for our nodes."""

    def __init__(self) -> None:
        super().__init__({"order": "none", "symbol_names": TEX, "fold_short_frac": False})

    def _print_GeometricSum(self, expr: GeometricSum, exp: str | None = None) -> str:
        x, k = expr.args
        base, power = (x.base, x.exp) if isinstance(x, Pow) else (x, S.One)
        terms = k.args if isinstance(k, Plus) else (k,)
        exponent = "s" if power == 1 else f"{self._print(power)}s" if power.is_number else f"s {self._print(power)}"
        text = rf"\sum_{{s=0}}^{{{self._print(Plus(*terms, -1))}}} {self._print(base)}^{{{exponent}}}"
        return rf"\left({text}\right)^{{{exp}}}" if exp else text

    def _print_FirstEpoch(self, expr: FirstEpoch) -> str:
        index, order = map(self._print, expr.args)
        return rf"\varepsilon_0^{{{index}}}({order})"

    def _print_Dot(self, expr: Dot) -> str:
        return r" \cdot ".join(map(self._factor, expr.args))

    def _factor(self, factor: Expr) -> str:
        text = self._print(factor)
        return rf"\left({text}\right)" if isinstance(factor, (Add, Plus)) else text

    def _print_Plus(self, expr: Plus) -> str:
        first, *others = (str(self._print(term)) for term in expr.args)
        return first + "".join(f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}" for text in others)

    def _print_Over(self, expr: Over) -> str:
        top, bottom = map(self._print, expr.args)
        return rf"\frac{{{top}}}{{{bottom}}}"

    def _print_Add(self, expr: Add, order: str | None = None) -> str:
        # K − 1 and n/b − j, not −1 + K and −j + n/b; but 1 − q stays as it is.
        return self._print_Plus(Plus(*sorted(expr.args, key=lambda term: term.could_extract_minus_sign())))

    def _print_Named(self, expr: Named, exp: str | None = None) -> str:
        return str(expr.args[0]) + (f"^{{{exp}}}" if exp else "")

    def _print_SampledGaussian(self, expr: SampledGaussian) -> str:
        rate, rho, order = map(self._print, expr.args)
        weight = rf"\binom{{{order}}}{{k}} \left(1-{rate}\right)^{{{order}-k}} \left({rate}\right)^k"
        return rf"\log \sum_{{k=0}}^{{{order}}} {weight} e^{{{rho} k(k-1)}}"

    def _print_Pooled(self, expr: Pooled) -> str:
        return rf"\Phi\left({', '.join(map(self._print, expr.args))}\right)"

    def _print_PowerSum(self, expr: PowerSum) -> str:
        x, k = expr.args
        base, power = (x.base, f"{self._print(x.exp)} k") if isinstance(x, Pow) else (x, "k")
        return rf"\sum_{{k=1}}^{{{self._print(k)}}} {self._print(base)}^{{{power}}}"

    def _print_LogAverage(self, expr: LogAverage) -> str:
        body, place, count = map(self._print, expr.args)
        return rf"\log\left(\underset{{0\leq {place}<{count}}}{{Avg}} e^{{{body}}}\right)"

    def _print_Piecewise(self, expr: Piecewise) -> str:
        (first, condition), (second, _) = expr.args
        if condition.lhs == hit:
            rows = ((first, r"i_0 \in B_k^j"), (second, r"i_0 \notin B_k^j"))
        else:
            rows = ((first, self._print(condition)), (second, r"\text{otherwise}"))
        body = r" \\ ".join(f"{self._print(value)} & {condition}" for value, condition in rows)
        return rf"\begin{{cases}} {body} \end{{cases}}"


def latex(expr: Expr) -> str:
    """`expr` in the paper's notation."""
    text: str = _PaperPrinter().doprint(expr)
    return text


def statement_latex(statement: Statement) -> str:
    """The whole statement: what is bounded, the relation, the expression in the paper's order."""
    lines = [f"{statement.bounds} {_RELATIONS[statement.relation]} {latex(statement.shown)}"]
    lines += [rf"\quad\text{{with}}\quad {name} = {latex(expr)}" for name, expr in statement.also]
    if statement.shown.has(FirstEpoch) and not statement.also:
        from .catalogue import statement as lookup

        lines.append(rf"\quad\text{{where}}\quad {statement_latex(lookup('eps0'))}")
    return "\n".join(lines)


def plain(expr: object) -> str:
    """`expr` in one line of plain text, for the terminal."""
    text = f"{expr.lhs} = {expr.rhs}" if isinstance(expr, Eq) else str(expr)
    return text.replace("**", "^").replace("sigma2", "sigma^2")
