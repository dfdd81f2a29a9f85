"""Any pattern of hits: every hit is hidden before the next one comes (`gaps`), whatever the Lipschitz constant is.

A hit with g steps up to the next one, or to the end, costs u(g) = 1/Σ_(s<g) c^(−2s). All that is asked of the batches
is which steps use the record.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Lambda, S

from ..functions.sum_over import SumOver
from ..paper.descents import ANY
from ..proof import kernel
from ..proof.facts.definitions import BATCHES
from ..proof.facts.drift import Drift
from ..proof.facts.patterns import Pattern, before_first_hit, between_hits
from ..proof.kernel import Theorem, apply, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost
from ..proof.search import equal_bound, induct
from ..symbols import after, b, epoch, gap_at, i, k, lipschitz, place, rho0, time_1, u, whole
from .drifts import Units
from .gaps import at_most_one, share, until_next

_HERE = Units(ANY, b, lipschitz, rho0)
_GAPS = Lambda(time_1, gap_at(time_1))
_PATTERN = Pattern(ANY.batches, place, _GAPS)


def _time(hits: Expr) -> Expr:
    """The step of the hit after so many, or the end."""
    return place + SumOver(gap_at(time_1), time_1, hits)


def _spent(hits: Expr) -> Expr:
    """Σ u(gap) over so many hits."""
    return SumOver(share(gap_at(time_1)), time_1, hits)


def _more(body: Expr) -> Theorem:
    """A sum over k hits, and one more."""
    return kernel.unfold(SumOver(body, time_1, k), 1)


@cache
def until_first_hit() -> Theorem:
    """Nothing to hide until the first hit comes."""

    def claim(steps: Expr) -> Drift:
        return _HERE.state(steps, S.Zero, S.Zero)

    def step(so_far: Theorem) -> Theorem:
        unused = apply(before_first_hit, assume(_PATTERN), assume(AtMost(i + 1, place)), put={after: i})
        return _HERE.hiding(_HERE.unused(so_far, unused), S.Zero, claim(i + 1), combine(S.Zero, S.Zero))

    found = induct(i, 0, claim, _HERE.started(), step, upper=place)
    return cut(substitute(found, {i: place}), combine(place, place))


@cache
def every_hit() -> Theorem:
    """Whatever the pattern of hits: Gaussian privacy with μ² = 2ρ₀·Σ u(gap), for updates that are c-Lipschitz."""
    gap = gap_at(k)

    def claim(hits: Expr) -> Drift:
        return _HERE.state(_time(hits), S.Zero, _spent(hits))

    def unused(one: Theorem, last: Theorem) -> Theorem:
        room = combine(i + 1, gap, (S.One, last), (S.One, assume(AtMost(whole, gap))))
        return apply(between_hits, assume(_PATTERN), one, room, put={epoch: k, after: i, BATCHES: ANY.batches})

    def step(so_far: Theorem) -> Theorem:
        found = substitute(until_next(_HERE, _time(k), unused), {whole: gap, u: _spent(k)})
        found = cut(found, combine(gap, gap), so_far)
        later = cancel(found.proposition.steps, _time(k + 1), by=[_more(gap_at(time_1))])  # type: ignore[attr-defined]
        return equal_bound(rewrite(found, later), claim(k + 1).cost, by=[_more(share(gap_at(time_1)))])

    found = induct(k, 0, claim, until_first_hit(), step)
    return kernel.named(_HERE.gaussian(found), "every hit of a pattern, hidden until the next")


@cache
def pattern_at_most_composition() -> Theorem:
    """Σ u(gap) over k hits is at most k: to hide every hit before the next is never dearer than composition."""

    def claim(hits: Expr) -> AtMost:
        return AtMost(_spent(hits), hits)

    def step(so_far: Theorem) -> Theorem:
        here = substitute(at_most_one(), {whole: gap_at(k)})
        more = _more(share(gap_at(time_1)))
        return combine(_spent(k + 1), k + 1, (S.One, so_far), (S.One, here), by=[more])

    return kernel.named(induct(k, 0, claim, combine(S.Zero, S.Zero), step), "never above composition, any pattern")
