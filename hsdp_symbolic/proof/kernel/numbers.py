"""Rules for numbers: signs, equalities, inequalities, functions of the bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations
from typing import Any

from sympy import Basic, Derivative, Eq, Expr, Float, Integral, Lambda, Max, Piecewise, Pow, S, Symbol, floor

from ...functions.interface import BoundFunction
from ...functions.log_mean_exp import LogMeanExp
from ...functions.mean_over import MeanOver
from ...symbols import fresh
from ..algebra import is_zero
from ..propositions import AtMost, Equal, Less, Proposition
from ..signs import Sign, divisors, is_nonzero, seen, sign
from .defined import (
    bound_names,
    falling,
    has_logarithms,
    is_number,
    is_written_out,
    refuse_restricted,
    require_defined,
    restricts,
    varied,
)
from .theorem import Concluded, Factor, Refused, Theorem, left_of, positive_part, require, right_of, rule


@rule
def positive(expr: Expr) -> Concluded:
    """0 < expr, or 0 ≤ expr, where the sign can be seen."""
    found = seen(expr)
    require(found is not None, "the sign of {} cannot be seen", expr)
    require_defined([expr])
    return Concluded((Less if found is Sign.POSITIVE else AtMost)(S.Zero, expr))


@rule
def cancel(left: Expr, right: Expr, *nonzero: Theorem, by: Sequence[Theorem] = ()) -> Concluded:
    """left = right, both having the same normal form; no divisor is 0, as is seen or as the theorems say.

    Before, symbols and functions may be replaced `by` what equalities say of them. A function with a name of its own,
    as the index of a mean, that divides by what may be 0 is taken as a letter: only the same function is equal to it.
    """
    _check_equal(left, right, nonzero, by)
    return Concluded(Equal(left, right))


def _check_equal(left: Expr, right: Expr, nonzero: Sequence[Theorem], by: Sequence[Theorem]) -> None:
    meanings = [(left_of(each), right_of(each)) for each in by]
    sides = [left, right, *(side for pair in meanings for side in pair)]
    bound = set[Symbol]().union(*map(varied, sides))
    for each, (short, _) in zip(by, meanings, strict=True):
        is_definition = isinstance(each.proposition, Equal) and isinstance(short, Symbol | BoundFunction)
        require(is_definition, "{} does not say what a symbol or function is", each.proposition)
        refuse_restricted(each, bound)

    def spelled(expr: Expr) -> Expr:
        return expr.subs(meanings)

    within = set[Symbol]().union(*map(bound_names, sides))
    known = [
        spelled(positive_part(each)) for each in nonzero if not restricts(each, within)
    ]  # y < z is open: near it too

    def closes(node: Expr) -> bool:
        """A function is written out only where that divides by nothing that may be 0, nor takes a logarithm of it."""
        return isinstance(node, BoundFunction) and is_written_out(node, known)

    left, right = spelled(left), spelled(right)
    letters = {
        node: fresh(real=True)
        for node in left.atoms(BoundFunction) | right.atoms(BoundFunction)
        if node.own_name is not None and not all(is_nonzero(each, known) for each in divisors(node))
    }
    left, right = left.xreplace(letters), right.xreplace(letters)
    for divisor in {d for side in (left, right) for d in divisors(side)}:
        require(is_nonzero(divisor, known), "{} may be 0: give a theorem that it is not", divisor)
    for side in (left, right):
        require(not side.has(Float), "{} is rounded", side)
    require(is_zero(left - right, closes), "not seen to be equal: {} and {}", left, right)


@rule
def combine(
    left: Expr,
    right: Expr,
    *terms: Sequence[Factor],
    nonzero: Sequence[Theorem] = (),
    by: Sequence[Theorem] = (),
) -> Concluded:
    """left ≤ right, because right − left is a sum of products of what is not negative; left < right if one is positive.

    A factor is an expression whose sign is seen, or a theorem y ≤ z, which stands for z − y. `nonzero` and `by` are as
    for `cancel`.
    """
    total, strict = S.Zero, False
    for term in terms:
        product, is_strict = S.One, True
        for factor in term:
            value, positively = _factor(factor)
            product, is_strict = product * value, is_strict and positively
        total, strict = total + product, strict or is_strict
    positive_ = [*nonzero, *_strict(terms)]
    given = [each for term in terms for each in term if isinstance(each, Theorem)]
    seen_ = [each for term in terms for each in term if not isinstance(each, Theorem)]
    require_defined([left, right, *seen_], *positive_, *given, *by)
    _check_equal(right - left, total, positive_, by)
    return Concluded((Less if strict else AtMost)(left, right))


def _strict(terms: Iterable[Sequence[Factor]]) -> list[Theorem]:
    """Factors that are theorems y < z also say that z − y is not 0."""
    factors = (each for term in terms for each in term if isinstance(each, Theorem))
    return [each for each in factors if isinstance(each.proposition, Less)]


def _factor(factor: Factor) -> tuple[Expr, bool]:
    if isinstance(factor, Theorem):
        found = factor.proposition
        require(isinstance(found, AtMost | Less), "{} is no inequality", found)
        return found.right - found.left, isinstance(found, Less)  # type: ignore[attr-defined]
    here = seen(factor)
    require(here is not None, "the sign of {} cannot be seen", factor)
    return factor, here is Sign.POSITIVE


@rule
def chain(*theorems: Theorem) -> Concluded:
    """a ≤ c, from a ≤ b, b ≤ c and so on; equalities and strict inequalities too."""
    for one, other in pairwise(theorems):
        require(right_of(one) == left_of(other), "{} is not {}", right_of(one), left_of(other))
    kinds = [type(each.proposition) for each in theorems]
    kind = Less if Less in kinds else AtMost if AtMost in kinds else Equal
    return Concluded(kind(left_of(theorems[0]), right_of(theorems[-1])))


@rule
def squeeze(low: Theorem, high: Theorem) -> Concluded:
    """a = b, from a ≤ b and b ≤ a."""
    for each in (low, high):
        require(isinstance(each.proposition, AtMost), "{} is not of the form a ≤ b", each.proposition)
    opposite = left_of(low) == right_of(high) and right_of(low) == left_of(high)
    require(opposite, "{} and {} are not opposite", low.proposition, high.proposition)
    return Concluded(Equal(left_of(low), right_of(low)))


@rule
def branch(expr: Expr, *theorems: Theorem) -> Concluded:
    """The same with distinctions of cases replaced by the first case that holds.

    That is a condition a = b of which a theorem says so; one fails by a theorem a < b or b < a.
    """
    pieces = expr.atoms(Piecewise)
    require(bool(pieces), "{} distinguishes no cases", expr)
    require(not expr.has(Derivative, Integral, Lambda), "{} looks at more than one value of its symbols", expr)
    for each in theorems:
        refuse_restricted(each, bound_names(expr))
    known = {each.proposition for each in theorems}
    found = expr.xreplace({piece: _case(piece, known) for piece in pieces})
    require_defined([found], *theorems)
    return Concluded(Equal(expr, found))


def _case(piece: Piecewise, known: set[Proposition]) -> Expr:
    """The first case that holds."""
    for value, condition in piece.args:
        if condition == True:  # noqa: E712 — SymPy booleans
            return value
        require(isinstance(condition, Eq), "{} is no equality", condition)
        one, other = condition.args
        if known & {Equal(one, other), Equal(other, one)}:
            return value
        require(bool(known & {Less(one, other), Less(other, one)}), "nothing says whether {}", condition)
    raise Refused(f"no case of {piece} holds")


@rule
def loosen(theorem: Theorem) -> Concluded:
    """a ≤ b, from a < b or a = b."""
    return Concluded(AtMost(left_of(theorem), right_of(theorem)))


@rule
def swap(theorem: Theorem) -> Concluded:
    """b = a, from a = b."""
    require(isinstance(theorem.proposition, Equal), "only an equality can be read from right to left")
    return Concluded(Equal(right_of(theorem), left_of(theorem)))


@rule
def rewrite(theorem: Theorem, equality: Theorem) -> Concluded:
    """The same with b in the place of a, wherever a stands, from a = b."""
    require(isinstance(equality.proposition, Equal), "{} is no equality", equality.proposition)
    old, new = left_of(equality), right_of(equality)
    bound = {name for part in theorem.proposition.expressions() for name in varied(part, old)}
    refuse_restricted(equality, bound | falling(theorem.proposition))
    require(old not in bound | falling(theorem.proposition), "{} is a name there, not a number", old)
    found = theorem.proposition.changed(lambda part: part.xreplace({old: new}) if isinstance(part, Basic) else part)
    return Concluded(found)


@rule
def unfold(node: BoundFunction, place: int, *nonzero: Theorem) -> Concluded:
    """One of the equations that define a function (`definition` of its class).

    No divisor is 0, its logarithms are of positive numbers, its roots of numbers ≥ 0, as is seen or as theorems say.
    """
    for one, other in permutations(node.args, 2):
        require(bound_names(one).isdisjoint(other.free_symbols), "{}: a name has two meanings", node)
    equations = node.definition()
    require(0 <= place < len(equations), "{} has {} equations", node, len(equations))
    left, right = equations[place]
    require_defined([left, right], *nonzero)
    known = [positive_part(each) for each in nonzero]
    require(has_logarithms(right, known), "{}: give a theorem that 0 < what it is the logarithm of", right)
    for power in right.atoms(Pow):
        real = power.exp.is_integer or sign(power.base) is not None or power.base.is_nonnegative
        require(bool(real or any(is_zero(power.base - each) for each in known)), "{} may not be real", power)
    return Concluded(Equal(left, right))


@rule
def greater(theorem: Theorem) -> Concluded:
    """max(a, b) = b, from a ≤ b."""
    return Concluded(Equal(Max(left_of(theorem), right_of(theorem)), right_of(theorem)))


@rule
def floor_at_least(theorem: Theorem) -> Concluded:
    """k ≤ ⌊x⌋, from k ≤ x, for whole k."""
    require(bool(left_of(theorem).is_integer), "{} is not whole", left_of(theorem))
    return Concluded(AtMost(left_of(theorem), floor(right_of(theorem))))


@rule
def floor_at_most(expr: Expr) -> Concluded:
    """⌊x⌋ ≤ x."""
    require_defined([expr])
    require(is_number(expr), "{} need not be real", expr)
    return Concluded(AtMost(floor(expr), expr))


@rule
def next_whole(theorem: Theorem) -> Concluded:
    """a + 1 ≤ b, from a < b, for whole a and b."""
    require(isinstance(theorem.proposition, Less), "strict inequalities only")
    require(bool(left_of(theorem).is_integer and right_of(theorem).is_integer), "whole numbers only")
    return Concluded(AtMost(left_of(theorem) + 1, right_of(theorem)))


@rule
def compare(left: Expr, right: Expr) -> Concluded:
    """left < right or left ≤ right, between numbers, by exact or interval arithmetic."""
    from ...evaluate.enclosure import enclose
    from ...evaluate.program import compile_expression

    require(not (left.free_symbols or right.free_symbols), "numbers only")
    require(
        not (left.has(BoundFunction) or right.has(BoundFunction)), "views of functions rely on what is proved elsewhere"
    )
    if (left < right) == True:  # noqa: E712 — SymPy booleans
        return Concluded(Less(left, right))
    if left == right:
        return Concluded(AtMost(left, right))
    gap = enclose(compile_expression(right - left), {}, rtol="1e-6")
    require(gap.lo > 0, "not seen: {} < {}", left, right)
    return Concluded(Less(left, right))


@rule
def polynomial(expr: Expr, certificate: tuple[Any, ...]) -> Concluded:
    """0 < expr on the positive orthant, by certificates for numerator and denominator, replayed with integers."""
    from ..positivity import certifies

    require(certifies(expr, certificate), "the certificate does not show that {} is positive", expr)
    return Concluded(Less(S.Zero, expr))


@rule
def mean(theorem: Theorem, index: Symbol, count: Expr) -> Concluded:
    """log mean e^a ≤ log mean e^b over index = 1, …, count, from a ≤ b for each of them; equality from equality."""
    require(bool(count.is_integer and count.is_positive), "{} need not be a whole number ≥ 1", count)
    assumed = (AtMost(S.One, index), AtMost(index, count))
    rest = [each for each in theorem.hypotheses if each not in assumed]
    restricted = [each for each in rest if index in each.free_symbols]
    require(not restricted, "{} restricts {}", "; ".join(map(str, restricted)), index)
    require(index not in count.free_symbols, "{} depends on {}", count, index)
    left, right = (LogMeanExp(side, index, count) for side in (left_of(theorem), right_of(theorem)))
    return Concluded((Equal if isinstance(theorem.proposition, Equal) else AtMost)(left, right), rest)


@rule
def plain_mean(theorem: Theorem, index: Symbol, count: Expr) -> Concluded:
    """The mean of a is at most that of b over index = 1, …, count, from a ≤ b for each; equality from equality."""
    rest = mean(theorem, index, count).hypotheses
    left, right = (MeanOver(side, index, count) for side in (left_of(theorem), right_of(theorem)))
    return Concluded((Equal if isinstance(theorem.proposition, Equal) else AtMost)(left, right), rest)


@rule
def mean_at_most(theorem: Theorem, index: Symbol, count: Expr) -> Concluded:
    """log mean e^a ≤ b over index = 1, …, count, from a ≤ b for each of them, b not depending on the index."""
    require(index not in right_of(theorem).free_symbols, "{} depends on {}", right_of(theorem), index)
    rest = mean(theorem, index, count).hypotheses
    return Concluded(AtMost(LogMeanExp(left_of(theorem), index, count), right_of(theorem)), rest)
