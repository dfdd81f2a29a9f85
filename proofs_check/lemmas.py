"""Small lemmas that claims share, as theorems: about sums of powers, powers below 1, and the exponential function."""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Expr, Integer, S, exp, factorial
from sympy.core.relational import Relational

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.kernel import Theorem, chain, combine, substitute
from hsdp_symbolic.proof.propositions import AtMost
from hsdp_symbolic.proof.search import given, induct, power_below_one
from hsdp_symbolic.symbols import bound, gap, i, m, p, q, w, whole, y_half

BELOW_ONE = q < 1


def counted(expr: Expr, value: Expr, *relations: Relational | Theorem) -> Theorem:
    """0 < expr or 0 ≤ expr, as is seen for a whole number ≥ 1 (`whole`) in the place of which `value` stands."""
    return substitute(kernel.positive(expr), {whole: value}, *map(as_theorem, relations))


def as_theorem(fact: Relational | Theorem) -> Theorem:
    """A hypothesis as a theorem that rests on it."""
    return fact if isinstance(fact, Theorem) else given(fact)


def squared_below_one() -> Theorem:
    """q² < 1, as q < 1."""
    return combine(q**2, S.One, (1 + q, given(BELOW_ONE)))


def power_below(exponent: Expr, *relations: Relational | Theorem) -> Theorem:
    """0 < 1 − q^(2·exponent), as q < 1, for a whole exponent ≥ 1."""
    found = power_below_one(q**2, whole, squared_below_one())
    return substitute(found, {whole: exponent}, *map(as_theorem, relations))


def single_power_below(exponent: Expr, *relations: Relational | Theorem) -> Theorem:
    """0 < 1 − q^exponent, as q < 1, for a whole exponent ≥ 1."""
    found = power_below_one(q, whole, given(BELOW_ONE))
    return substitute(found, {whole: exponent}, *map(as_theorem, relations))


def power_at_most_one(exponent: Expr, *relations: Relational | Theorem) -> Theorem:
    """q^(2·exponent) ≤ 1, as q < 1, for a whole exponent ≥ 0."""
    found = combine(q ** (2 * i), S.One, (squared_below_one(), GeometricSum(q**2, i)), nonzero=[given(BELOW_ONE)])
    return substitute(found, {i: exponent}, *map(as_theorem, relations))


def power_at_most_square(exponent: Expr, *relations: Relational | Theorem) -> Theorem:
    """q^(2·exponent) ≤ q², as q < 1, for a whole exponent ≥ 1."""
    terms = (q**2, squared_below_one(), GeometricSum(q**2, whole - 1))
    found = combine(q ** (2 * whole), q**2, terms, nonzero=[given(BELOW_ONE)])
    return substitute(found, {whole: exponent}, *map(as_theorem, relations))


def root_below(base: Expr, exponent: Expr, below: Relational) -> Theorem:
    """base^exponent ≤ 1, as base < 1, for any exponent > 0."""
    return kernel.monotone(p**exponent, p, given(below))


def first_of_sum(base: Expr, count: Expr, *relations: Relational | Theorem) -> Theorem:
    """1 ≤ 1 + x + … + x^(count−1), for count ≥ 1."""
    here = GeometricSum(base, i)
    found = combine(S.One, GeometricSum(base, i + 1), (base, here), by=[kernel.unfold(here, 1)])
    return substitute(found, {i: count - 1}, *map(as_theorem, relations))


def longer_sum(base: Expr, count: Expr, further: Expr, below: Relational, *relations: Relational | Theorem) -> Theorem:
    """Σ over `count` powers ≤ Σ over count + further powers; `below` says that the base is not 1."""
    more = counted(GeometricSum(base, whole), further, *relations)
    return combine(
        GeometricSum(base, count), GeometricSum(base, count + further), (base**count, more), nonzero=[given(below)]
    )


def longer_or_equal(base: Expr, count: Expr, further: Expr, below: Relational, more: Relational) -> Theorem:
    """The same where there may be no further powers."""
    here = substitute(kernel.positive(GeometricSum(base, i)), {i: further}, given(more))
    ends = GeometricSum(base, count), GeometricSum(base, count + further)
    return combine(*ends, (base**count, here), nonzero=[given(below)])


def inverse_gap() -> Theorem:
    """0 < 1/(1 − q), as q < 1."""
    return substitute(kernel.positive(1 / p), {p: 1 - q}, given(BELOW_ONE))


@cache
def termwise(smaller: Expr, larger: Expr, order: Theorem) -> Theorem:
    """Σ_(s<i) x^s ≤ Σ_(s<i) y^s, from x ≤ y (`order`), for every i."""

    def claim(count: Expr) -> AtMost:
        return AtMost(GeometricSum(smaller, count), GeometricSum(larger, count))

    def step(so_far: Theorem) -> Theorem:
        here, there = GeometricSum(smaller, i), GeometricSum(larger, i)
        by = [kernel.unfold(here, 1), kernel.unfold(there, 1)]
        last = claim(i + 1)
        return kernel.loosen(combine(last.left, last.right, (smaller, so_far), (order, there), by=by))

    return induct(i, 0, claim, combine(Integer(0), Integer(0)), step)


@cache
def powers_of_exp(at: Expr = y_half) -> Theorem:
    """Σ_(s<i) (1 − y)^s ≤ Σ_(s<i) e^(−ys), for 0 < y < 1."""
    found = termwise(w, exp(-at), kernel.assume(AtMost(w, exp(-at))))
    here = substitute(found, {w: 1 - at}, given(at < 1))
    return kernel.cut(here, at_value(exp_falls(2), at))


@cache
def at_most_count(base: Expr, below: Theorem) -> Theorem:
    """Σ_(s<i) x^s ≤ i, from x ≤ 1 (`below`)."""

    def step(so_far: Theorem) -> Theorem:
        here = GeometricSum(base, i)
        terms = (S.One, so_far), (below, here)
        return kernel.loosen(combine(GeometricSum(base, i + 1), i + 1, *terms, by=[kernel.unfold(here, 1)]))

    return induct(i, 0, lambda n: AtMost(GeometricSum(base, n), n), combine(Integer(0), Integer(0)), step)


@cache
def at_least_count(base: Expr, above: Theorem) -> Theorem:
    """i ≤ Σ_(s<i) x^s, from 1 ≤ x (`above`)."""

    def step(so_far: Theorem) -> Theorem:
        here = GeometricSum(base, i)
        terms = (S.One, so_far), (above, here)
        return kernel.loosen(combine(i + 1, GeometricSum(base, i + 1), *terms, by=[kernel.unfold(here, 1)]))

    return induct(i, 0, lambda n: AtMost(n, GeometricSum(base, n)), combine(Integer(0), Integer(0)), step)


def above_one() -> Theorem:
    """1 < q⁻², as q < 1."""
    return combine(S.One, q**-2, ((1 + q) / q**2, given(BELOW_ONE)))


@cache
def at_least_level() -> Theorem:
    """m·q^(m−1) ≤ Σ_(s<m) q^(2s): the squares of q^s − q^(m−1−s), summed over s < m."""
    last = q ** (m - 1)
    below = given(BELOW_ONE)

    total = GeometricSum(q**2, i) + last**2 * GeometricSum(q**-2, i) - 2 * i * last

    def squares(count: Expr) -> AtMost:
        return AtMost(S.Zero, total.subs(i, count))

    def step(so_far: Theorem) -> Theorem:
        square = (q**i - last * q**-i) ** 2
        return combine(S.Zero, squares(i + 1).right, (S.One, so_far), (square,), nonzero=[below])

    found = substitute(induct(i, 0, squares, combine(S.Zero, S.Zero), step), {i: m})
    return combine(m * last, GeometricSum(q**2, m), (S.Half, found), nonzero=[below])


# --- The exponential function ---------------------------------------------------------------------------------------


def _grows(function: Expr, slope: Theorem) -> Theorem:
    """f(0) ≤ f, from 0 ≤ f' (`slope`); f is written in `gap` ≥ 0."""
    worked = kernel.work_out(Derivative(function, gap))
    same = kernel.cancel(slope.proposition.right, worked.proposition.right)  # type: ignore[attr-defined]
    rising = kernel.loosen(chain(slope, same, kernel.swap(worked)))
    return substitute(kernel.rises(function, gap, rising, bound), {gap: Integer(0), bound: gap})


@cache
def exp_above(terms: int) -> Theorem:
    """Σ_(s<terms) x^s/s! ≤ e^x, for x ≥ 0 (written `gap`)."""
    if terms == 0:
        return kernel.loosen(kernel.positive(exp(gap)))
    before = exp_above(terms - 1)
    slope = combine(S.Zero, exp(gap) - _partial(gap, terms - 1), (S.One, before))
    return combine(_partial(gap, terms), exp(gap), (S.One, _grows(exp(gap) - _partial(gap, terms), slope)))


def _partial(at: Expr, terms: int) -> Expr:
    return sum((at**s / factorial(s) for s in range(terms)), Integer(0))


@cache
def exp_falls(terms: int) -> Theorem:
    """Whether e^(−x) is at least (even number of terms) or at most (odd) Σ_(s<terms) (−x)^s/s!, for x ≥ 0 (`gap`)."""
    here = _partial(-gap, terms)
    if terms == 0:
        return kernel.loosen(kernel.positive(exp(-gap)))
    before = exp_falls(terms - 1)
    rest = exp(-gap) - here if terms % 2 == 0 else here - exp(-gap)
    slope = combine(S.Zero, kernel.work_out(Derivative(rest, gap)).proposition.right, (S.One, before))  # type: ignore[attr-defined]
    ends = (here, exp(-gap)) if terms % 2 == 0 else (exp(-gap), here)
    return combine(*ends, (S.One, _grows(rest, slope)))


def at_value(theorem: Theorem, value: Expr) -> Theorem:
    """A theorem about `gap` ≥ 0, at another value that is not negative."""
    return substitute(theorem, {gap: value})


@cache
def exp_below_one(at: Expr = y_half) -> Theorem:
    """e^(−y) < 1, for y > 0: e^(−y)·(1 + y) ≤ 1."""
    return combine(exp(-at), S.One, (exp(-at), at_value(exp_above(2), at)), (at * exp(-at),))
