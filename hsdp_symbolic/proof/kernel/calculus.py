"""Rules for derivatives, limits and integrals."""

from __future__ import annotations

from sympy import Add, Derivative, Expr, Integral, S, Symbol, binomial, combsimp, factorial, floor, limit

from ...functions.interface import BoundFunction
from ...symbols import fresh
from ..algebra import close_sums
from ..integrals import Integrated
from ..propositions import AtMost, Equal, Less, Tends
from ..signs import Sign, divisors, sign
from .defined import is_written_out, require_defined
from .theorem import Concluded, Theorem, left_of, require, right_of, rule
from .values import is_smooth, refuse_capture


@rule
def work_out(expr: Expr, *nonzero: Theorem) -> Concluded:
    """Derivatives, integrals, factorials and binomials in `expr` are what SymPy says they are.

    Factorials and binomials of whole numbers ≥ 0 only; divisors that are not seen not to be 0 need theorems.
    """
    require(expr.has(Derivative, Integral, factorial, binomial), "{} has nothing in it to work out", expr)
    for node in expr.atoms(factorial, binomial):
        require(all(each.is_integer for each in node.args), "{}: whole numbers only", node)
        require(bool(node.args[0].is_nonnegative), "{}: {} may be negative", node, node.args[0])
    found = combsimp(expr) if expr.has(factorial, binomial) else expr
    found = found.doit()
    require_defined([expr, found], *nonzero)
    return Concluded(Equal(expr, found))


@rule
def tends(expr: Expr, symbol: Symbol, point: Expr) -> Concluded:
    """The limit of `expr` as the symbol falls to the point, as SymPy finds it."""

    def closes(node: Expr) -> bool:
        return isinstance(node, BoundFunction) and (node.has(symbol) or is_written_out(node, ()))

    return Concluded(Tends(expr, symbol, point, limit(close_sums(expr, closes), symbol, point, "+")))


@rule
def rises(expr: Expr, symbol: Symbol, slope: Theorem, by: Symbol) -> Concluded:
    """expr ≤ expr(symbol + by), its derivative being at least 0 over the whole range of the symbol."""
    require(slope.proposition == AtMost(S.Zero, Derivative(expr, symbol)), "that is not 0 ≤ its derivative")
    require(by.is_nonnegative and by not in expr.free_symbols, "{} is not a fresh symbol ≥ 0", by)
    require(not symbol.is_integer, "{} counts: there is no derivative", symbol)
    require(all(symbol not in each.free_symbols for each in slope.hypotheses), "{} is restricted", symbol)
    require(is_smooth(_constants_named(expr, symbol), ()), "{} is not seen to be smooth in {}", expr, symbol)
    refuse_capture(expr, {symbol: symbol + by})
    later = expr.subs(symbol, symbol + by)
    require_defined([expr, later], slope)
    return Concluded(AtMost(expr, later))


def _constants_named(expr: Expr, symbol: Symbol) -> Expr:
    """`expr` with letters for functions that do not depend on the symbol: how smooth these are does not matter."""
    constant = {node: fresh("constant", real=True) for node in expr.atoms(BoundFunction, floor) if not node.has(symbol)}
    return expr.xreplace(constant)


@rule
def under_integral(head: type[Integrated], equality: Theorem, variable: Symbol) -> Concluded:
    """∫ f = ∫ g, from f = g at every point."""
    require(issubclass(head, Integrated), "{} is no integral", head)
    require(isinstance(equality.proposition, Equal), "{} is no equality", equality.proposition)
    unsigned = variable.is_real and not (variable.is_nonnegative or variable.is_nonpositive or variable.is_integer)
    require(bool(unsigned), "{} is not any real number", variable)
    restricted = [each for each in equality.hypotheses if variable in each.free_symbols]
    require(not restricted, "{} restricts {}", "; ".join(map(str, restricted)), variable)
    return Concluded(Equal(head(left_of(equality), variable), head(right_of(equality), variable)))


@rule
def linear(integral: Integrated) -> Concluded:
    """∫ (c₁f₁ + … + cₖfₖ) = c₁∫f₁ + … + cₖ∫fₖ, for numbers c that do not depend on the variable."""
    require(isinstance(integral, Integrated), "{} is no integral", integral)
    variable, total = integral.variable, S.Zero
    for term in Add.make_args(integral.integrand):
        constant, rest = term.as_independent(variable, as_Add=False)
        total += constant * integral.func(rest, variable)
    return Concluded(Equal(integral, total))


@rule
def at_zero(theorem: Theorem, symbol: Symbol) -> Concluded:
    """a ≤ b(0), from a ≤ b(x) for every x > 0, b being rational in x, with divisors that are positive at 0 too."""
    require(isinstance(theorem.proposition, AtMost | Less), "{} is no inequality", theorem.proposition)
    left, right = left_of(theorem), right_of(theorem)
    require(bool(symbol.is_positive and not symbol.is_integer), "{} is not any number > 0", symbol)
    restricted = any(symbol in each.free_symbols for each in theorem.hypotheses)
    require(not restricted and symbol not in left.free_symbols, "{} is restricted, or on the left", symbol)
    from_zero = right.xreplace({symbol: fresh(symbol.name, nonnegative=True)})
    require(bool(right.is_rational_function(symbol)), "{} is not rational in {}", right, symbol)
    require(all(sign(each) is Sign.POSITIVE for each in divisors(from_zero)), "{} may divide by 0", right)
    return Concluded(AtMost(left, right.subs(symbol, 0)))
