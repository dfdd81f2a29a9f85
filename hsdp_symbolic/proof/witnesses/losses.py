"""Quadratic losses: gradients are linear, so squares and products at two points are plain numbers."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Rational

from ...symbols import G, P, X, convexity, most_1, move, smoothness
from ..facts.losses import descent_lemma, sum_descent
from ..kernel import Fact
from ..propositions import AtMost
from . import witness


@witness(descent_lemma)
def _descent_lemma(fact: Fact) -> Iterator[bool]:
    """ℓ = (c/2)x² in one coordinate or in two with μ ≤ c ≤ β: Δg = cΔθ; the move that says most is 1/(β − μ)."""
    found = fact.conclusion
    assert isinstance(found, AtMost)
    least, most = Rational(1), Rational(4)
    for curves in ((4,), (1,), (2,), (4, 1)):
        squares = [Rational(1)] * len(curves)
        numbers = {
            X: sum(squares),
            P: sum(c * x for c, x in zip(curves, squares, strict=True)),
            G: sum(c**2 * x for c, x in zip(curves, squares, strict=True)),
            convexity: least,
            smoothness: most,
        }
        for far in (1 / (most - least), Rational(1, 10), Rational(-1)):
            values = {**numbers, move: far}
            yield bool(found.left.subs(values) <= found.right.subs(values))


@witness(sum_descent)
def _sum_descent(fact: Fact) -> Iterator[bool]:
    """So many losses (c/2)x², all of them or some: Δg is so many times cΔθ."""
    found = fact.conclusion
    assert isinstance(found, AtMost)
    for curve, batch, most in ((4, 3, 3), (2, 1, 3), (4, 2, 2)):
        slope = Rational(curve * batch)
        for far in (Rational(1, 4 * most), Rational(1, 10), Rational(-1)):
            values = {X: 1, P: slope, G: slope**2, smoothness: 4, most_1: most, move: far}
            yield bool(found.left.subs(values) <= found.right.subs(values))
