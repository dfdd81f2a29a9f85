"""Hits hidden one by one: what a drifted copy costs whose distance is brought back to 0 before the next hit comes.

That is possible for every update with a Lipschitz constant c, and needs c ≤ 1 nowhere. With g steps from a hit on, the
shift c^(−i)/Σ_(s<g) c^(−2s) in the i-th of them leaves nothing, and spends u(g) = 1/Σ_(s<g) c^(−2s), which is at most
1: never more than composition. For c ≥ 1 and gaps that are alike it does not pay to leave something for later, where it
would be larger; after a short gap, before a long one, it may.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sympy import Expr, S

from ..functions.geometric import GeometricSum
from ..proof import kernel
from ..proof.facts.drift import Drift
from ..proof.kernel import Theorem, assume, cancel, combine, cut, rewrite, substitute
from ..proof.propositions import AtMost, Proposition
from ..proof.search import induct
from ..symbols import i, lipschitz, split, u, whole
from .drifts import Units


def squares(steps: Expr) -> Expr:
    """Σ c^(−2i) over so many steps."""
    return GeometricSum(lipschitz**-2, steps)


def share(steps: Expr) -> Expr:
    """u: what it costs to hide a hit in so many steps, its own being the first; in units of one step that hides all."""
    return 1 / squares(steps)


def _away(steps: Expr, gap: Expr) -> Expr:
    """How far away the copy is, so many steps from the hit on; a gap is up to the next hit."""
    return lipschitz ** (-steps - 1) * squares(gap - steps) * share(gap)


def _spent(steps: Expr, gap: Expr) -> Expr:
    """What was spent on it so far."""
    return (squares(gap) - lipschitz ** (-2 * steps) * squares(gap - steps)) * share(gap) ** 2


def _one_more(steps: Expr) -> Theorem:
    """The sum over what is left of a gap, its first term taken out."""
    return kernel.unfold(squares(whole - steps - 1), 1)


@cache
def _some() -> Theorem:
    """The sum over a gap is positive."""
    return kernel.positive(squares(whole))


def _not_negative(steps: Expr, limit: Theorem) -> Theorem:
    """0 ≤ distance, so many steps from the hit on, and no more than the gap has."""
    more = combine(S.Zero, whole - steps, (S.One, limit))
    left = substitute(kernel.positive(squares(split)), {split: whole - steps}, more)
    return combine(S.Zero, _away(steps, whole), (lipschitz ** (-steps - 1), share(whole), left), nonzero=[_some()])


def hit(here: Units, before: Theorem) -> Theorem:
    """The step of a hit, where nothing was left to hide; `whole` steps are left before the next, this one included."""
    at = before.proposition.steps  # type: ignore[attr-defined]
    after = here.state(at + 1, _away(S.One, whole), u + _spent(S.One, whole))
    left = _not_negative(S.One, combine(S.One, whole, (whole - 1,)))
    return here.hiding(here.used(before), share(whole), after, left, _some(), by=[_one_more(S.Zero)])


def miss(here: Units, before: Theorem, steps: Expr, unused: Theorem, limit: Theorem) -> Theorem:
    """A step without a hit, so many after that of the last; `limit` says that it comes before the next."""
    at = before.proposition.steps  # type: ignore[attr-defined]
    after = here.state(at + 1, _away(steps + 1, whole), u + _spent(steps + 1, whole))
    shift = lipschitz**-steps * share(whole)
    left = _not_negative(steps + 1, limit)
    return here.hiding(here.unused(before, unused), shift, after, left, _some(), by=[_one_more(steps)])


def until_next(here: Units, first: Expr, unused: Callable[[Theorem, Theorem], Theorem]) -> Theorem:
    """From a hit in step `first`, where nothing was left to hide, until `whole` steps later: u(whole) more is spent.

    `unused` says that a step between does not use the record: i of them after the hit, 1 ≤ i and i + 1 ≤ whole.
    """

    def claim(steps: Expr) -> Drift:
        return here.state(first + steps, _away(steps, whole), u + _spent(steps, whole))

    def step(so_far: Theorem) -> Theorem:
        one, last = assume(AtMost(S.One, i)), assume(AtMost(i + 1, whole))
        return miss(here, so_far, i, unused(one, last), last)

    base = hit(here, assume(here.state(first, S.Zero, u)))
    found = induct(i, 1, claim, base, step, upper=whole)
    found = cut(substitute(found, {i: whole}), combine(S.One, whole, (whole - 1,)), combine(whole, whole))
    end = here.state(first + whole, S.Zero, u + share(whole))
    return kernel.named(written(found, end, _some()), "a hit, hidden until the next")


def written(found: Theorem, wanted: Proposition, *known: Theorem) -> Theorem:
    """The same, written as wanted."""
    for old, new in zip(found.proposition.expressions(), wanted.expressions(), strict=True):
        found = found if old == new else rewrite(found, cancel(old, new, *known))
    return found


@cache
def at_most_one() -> Theorem:
    """u(g) ≤ 1: to hide every hit by itself never costs more than composition."""
    share_, more = share(whole), lipschitz**-2 * squares(whole - 1)
    return kernel.named(combine(share_, S.One, (share_, more), by=[_one_more(S.Zero)], nonzero=[_some()]), "u(g) ≤ 1")
