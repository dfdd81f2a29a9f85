"""Laws on a few points and plain functions: both facts about convexity can be computed there."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Lambda, Rational

from ...symbols import along, moment_1, moment_2, order, value_at, weight
from ..facts.mixtures import convex_on_segment, moment_of_mixture
from ..kernel import Fact
from ..propositions import AtMost
from . import witness

_WEIGHTS = (Rational(1, 3), Rational(3, 4))


@witness(convex_on_segment)
def _on_segment(fact: Fact) -> Iterator[bool]:
    sides = fact.conclusion
    assert isinstance(sides, AtMost)
    for function in (along**2, (1 - 2 * along) ** 4, 3 - along):  # convex, and one of them a line
        for here in _WEIGHTS:
            found = [
                each.replace(value_at, Lambda(along, function)).subs(weight, here) for each in (sides.left, sides.right)
            ]
            yield bool(found[0] <= found[1])


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
