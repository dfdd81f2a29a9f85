"""How `CyclicShifts` depends on the record's place: what the mean over places in `shift:shuffle` is computed by.

With j steps from the last use on, it falls as j grows; and it is, before the edges pool and afterwards, a constant
and a mixture of decaying exponentials in j with weights that are not negative.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, S

from ..functions.cyclic_shifts import CyclicShifts
from ..functions.geometric import GeometricSum
from ..functions.pooled import Pooled
from ..paper.descents import below_one
from ..paper.quadratic import fixed_order
from ..proof import kernel
from ..proof.kernel import Theorem, assume, cancel, chain, combine, cut, substitute
from ..proof.propositions import AtMost, Equal
from ..symbols import H_1, H_2, D, K, N, P_t, a_t, alpha, g, gap, j, j0, p, q, rho0, whole, x_2
from .cycle import first_squares, largest_rate, last_squares, units
from .shifts import AT, CHORD, FIRST, LARGEST, SPENT, chord, cyclic, written_out

_LONGER = {g: g * (1 + gap), D: D / (1 + gap), x_2: x_2 * (1 + gap)}
"""More steps after the last use: x_2 grows, the first edge stays."""


def _least(case: Theorem) -> Theorem:
    """No rate spends less than the best one, in one of the two cases."""
    slow = assume(AtMost(a_t, LARGEST))
    form = written_out(case)
    if case.proposition.right == 1:  # type: ignore[attr-defined]
        terms: list[tuple[kernel.Factor, ...]] = [(2 * FIRST * P_t / x_2, slow, case), (FIRST * (1 + D), slow, slow)]
    else:
        terms = [(FIRST * (1 + D), (a_t - CHORD) ** 2)]
    return kernel.also(kernel.loosen(combine(Pooled(g, D) / x_2, SPENT, *terms, by=[form])), slow)


@cache
def least_rate() -> Theorem:
    """No rate up to the largest spends less than Ψ(g, ℓ)/x."""
    found = kernel.cases(_least(assume(AtMost(g, S.One))), _least(assume(AtMost(S.One, g))))
    return kernel.named(found, "no rate spends less")


def _falls(rate: Expr, slow: Theorem, case: Theorem) -> Theorem:
    """With more steps at the end, the rate that was best spends less, in one of the two cases."""
    longer = cut(substitute(substitute(least_rate(), _LONGER), {a_t: rate}), slow)
    spent = longer.proposition.right  # type: ignore[attr-defined]
    carried = (1 + P_t * FIRST * (LARGEST - rate)) ** 2 / x_2 * gap / (1 + gap)
    return chain(longer, combine(spent, Pooled(g, D) / x_2, (carried,), by=[written_out(case)]))


@cache
def falls_with_length() -> Theorem:
    """Ψ(g, ℓ)/x falls as x grows and the first edge stays."""
    less, more = assume(AtMost(g, S.One)), assume(AtMost(S.One, g))
    slower = kernel.loosen(combine(CHORD, LARGEST, (P_t / x_2 / (1 + D), more)))
    two_edges = _falls(LARGEST, combine(LARGEST, LARGEST), less)
    return kernel.cases(kernel.loosen(two_edges), kernel.loosen(_falls(CHORD, slower, more)))


@cache
def falls_with_place() -> Theorem:
    """`CyclicShifts` falls with the number of steps from the last use on: the last batch costs most."""
    more = q ** (-2 * whole) / last_squares(q, whole)
    found = substitute(falls_with_length(), {each: AT[each] for each in (g, D, x_2)})
    found = substitute(found, {gap: more})
    ends = [CyclicShifts(q, N, K, each) for each in (whole + 1, whole)]
    known = units(q).nonzero
    sides = found.proposition
    first = cancel(ends[0], sides.left, *known, by=[kernel.unfold(ends[0], 0)])  # type: ignore[attr-defined]
    last = cancel(sides.right, ends[1], *known, by=[kernel.unfold(ends[1], 0)])  # type: ignore[attr-defined]
    return kernel.named(chain(first, found, last), "the last batch costs most")


# --- Mixtures of exponentials ---------------------------------------------------------------------------------------


@cache
def slope_rises() -> Theorem:
    """The slope g rises with j: the edges pool from some j on."""
    slope = AT[g]
    grown = slope * q ** (-2 * whole) / last_squares(q, whole)
    found = combine(slope, slope.subs(whole, whole + 1), (grown,), nonzero=[below_one()])
    return kernel.named(found, "edges pool from some place on")


@cache
def first_edge_stays() -> Theorem:
    """Before that, the first edge costs the same whatever j is (and the last one 1/Σ_(s<j) q^(−2s))."""
    value = largest_rate(q, K - 1) ** 2 * first_squares(q)
    return kernel.named(cancel(AT[g] ** 2 * AT[D] / AT[x_2], value, *units(q).nonzero), "two edges, by place")


def _decaying(start: Expr) -> Expr:
    """y + c·y²/(1 − c·y) for y = q^(2j)."""
    decay = q ** (2 * whole)
    return decay + start * decay**2 / (1 - start * decay)


@cache
def _below(later: Expr) -> Theorem:
    """0 < 1 − q^(2(j + later))."""
    both = whole + later
    return combine(S.Zero, 1 - q ** (2 * both), (below_one(), 1 + q, GeometricSum(q**2, both)), nonzero=[below_one()])


@cache
def chord_decays() -> Theorem:
    """Afterwards the chord is a constant times y + c·y² + c²·y³ + …, y = q^(2j), c = q^(2N(K−1))."""
    later = N * (K - 1)
    rise, length = chord(whole)
    value = rise**2 * (1 - q**2) / q**2 * _decaying(q ** (2 * later))
    return kernel.named(cancel(rise**2 / length, value, _below(later), *units(q).nonzero), "the chord, by place")


@cache
def chord_rise() -> Theorem:
    """The rise of the chord, in units of the last hit …"""
    return kernel.named(cancel(1 + AT[g] * AT[D], chord(whole)[0], *units(q).nonzero), "the rise of the chord")


@cache
def chord_length() -> Theorem:
    """… and its length, in units of the last hit's square."""
    return kernel.named(cancel((1 + AT[D]) * AT[x_2], chord(whole)[1], *units(q).nonzero), "the length of the chord")


@cache
def series() -> Theorem:
    """y²/(1 − y) is y² + … + y^(j+1) and a rest y^(j+2)/(1 − y), for every j: weights ≥ 0, and a rest ↓ 0."""
    y = 1 / (1 + p)
    found = cancel(y**2 / (1 - y), y**2 * GeometricSum(y, j) + y ** (j + 2) / (1 - y))
    return kernel.named(found, "a geometric series")


# --- The first batch ------------------------------------------------------------------------------------------------


@cache
def first_batch_pools() -> Theorem:
    """For the first batch, j = N, the edges always pool: 1 ≤ g."""
    slope = AT[g].subs(whole, N)
    more = q**-N / (1 + q ** (N * (K - 1)))
    return kernel.loosen(combine(S.One, slope, (more, below_one(), GeometricSum(q, N * K)), nonzero=[below_one()]))


@cache
def first_batch_attained() -> Theorem:
    """For the first batch the bound is the divergence of the quadratic loss: nothing smaller is a bound."""
    form = written_out(assume(AtMost(S.One, g)))
    names = assume(Equal(H_1, 1 + g * D)), assume(Equal(H_2, (1 + D) * x_2))
    letters = cancel(alpha * rho0 * Pooled(g, D) / x_2, alpha * rho0 * H_1**2 / H_2, by=[form, *names])
    here = {whole: N}
    put = {symbol: value.subs(here) for symbol, value in AT.items() if symbol in (g, D, x_2)}
    rise, length = kernel.swap(chord_rise()), kernel.swap(substitute(chord_length(), here))
    put |= {H_1: rise.proposition.left, H_2: length.proposition.left}  # type: ignore[attr-defined]
    found = cut(substitute(letters, put), first_batch_pools(), rise, length)
    ends = [cyclic().expr.subs(j0, 0), fixed_order().expr.subs(j0, 0)]
    first = cancel(ends[0], found.proposition.left, by=[kernel.unfold(CyclicShifts(q, N, K, N), 0)])  # type: ignore[attr-defined]
    last = cancel(found.proposition.right, ends[1], *units(q).nonzero)  # type: ignore[attr-defined]
    return kernel.named(chain(first, found, last), "attained by the quadratic loss")
