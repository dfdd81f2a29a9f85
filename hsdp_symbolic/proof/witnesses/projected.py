"""The line, projected onto an interval: maps x ↦ L·x and x ↦ L·x + s, before them x ↦ min(max(x, −1), 1)."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Max, Min, Rational

from ...symbols import distance, factor
from ..facts.projected import projected_any_apart, projected_apart, projected_lipschitz, projected_up_to
from ..kernel import Fact
from . import witness


def _projected(x: Expr | int) -> Expr:
    return Min(Max(x, -1), 1)


@witness(projected_up_to)
@witness(projected_lipschitz)
def _lipschitz(fact: Fact) -> Iterator[bool]:
    """Of a pair inside the interval, and of one that lies across its end."""
    for scale in (Rational(1, 2), Rational(3)):
        constant = fact.conclusion.constant.subs(factor, scale)  # type: ignore[attr-defined]
        for x, y in ((Rational(-1, 2), Rational(1, 2)), (Rational(0), Rational(5))):
            yield bool(scale * abs(_projected(x) - _projected(y)) <= constant * abs(x - y))


@witness(projected_any_apart)
@witness(projected_apart)
def _apart(fact: Fact) -> Iterator[bool]:
    """Two maps that differ by s everywhere."""
    for apart in (1, 4):
        yield bool(fact.conclusion.distance.subs(distance, apart) >= apart)  # type: ignore[attr-defined]
