"""Laws on a few points and plain functions: the facts about convexity can be computed there."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Lambda, Rational

from ...symbols import along, moment_1, moment_2, mu, mu_1, mu_2, nu, nu_1, nu_2, order, value_at, weight
from ..facts.mixtures import convex_function, convex_on_segment, moment_of_mixture
from ..kernel import Fact
from ..propositions import AtMost
from . import witness

_WEIGHTS = (Rational(1, 3), Rational(3, 4))


@witness(convex_function)
def _chords(fact: Fact) -> Iterator[bool]:
    sides = fact.conclusion
    assert isinstance(sides, AtMost)
    ends = {mu_1: 1, nu_1: 2, mu_2: 4, nu_2: Rational(1, 2)}
    for function in (mu**2 + nu, mu**2 / nu, 1 + mu - nu):  # convex, and one of them linear
        for here in _WEIGHTS:
            chord = Lambda((mu, nu), function)
            low, high = (
                each.replace(value_at, chord).subs({weight: here, **ends}) for each in (sides.left, sides.right)
            )
            yield bool(low <= high)


@witness(convex_on_segment)
def _on_segment(fact: Fact) -> Iterator[bool]:
    sides = fact.conclusion
    assert isinstance(sides, AtMost)
    for function in (along**2, (1 - 2 * along) ** 4, 3 - along):  # convex, and one of them a line
        for here in _WEIGHTS:
            chord = Lambda(along, function)
            low, high = (each.replace(value_at, chord).subs(weight, here) for each in (sides.left, sides.right))
            yield bool(low <= high)


def _moment(first: tuple[Expr, ...], second: tuple[Expr, ...], at: int) -> Expr:
    """Σ p^a·q^(1−a), over the points of two laws."""
    return sum((p**at * q ** (1 - at) for p, q in zip(first, second, strict=True)), start=Rational(0))


@witness(moment_of_mixture)
def _two_points(fact: Fact) -> Iterator[bool]:
    coins = [(Rational(share, 10), 1 - Rational(share, 10)) for share in (2, 5, 7, 6)]
    for at in (2, 3):
        parts = _moment(coins[0], coins[1], at), _moment(coins[2], coins[3], at)
        for here in _WEIGHTS:
            mixed = [
                tuple(here * x + (1 - here) * y for x, y in zip(coins[one], coins[two], strict=True))
                for one, two in ((0, 2), (1, 3))
            ]
            bound = fact.conclusion.value.subs({weight: here, order: at, moment_1: parts[0], moment_2: parts[1]})
            yield bool(_moment(mixed[0], mixed[1], at) <= bound)
