"""No shifts spend less than those of `cycle`: weak duality, step by step.

A price 2r·L^(−s) for what is left of a distance s steps after the first use makes the shift r·L^(−s) the best one in each
step; prices, in these units, may rise where the distance is still positive, and so on the way to the last use.
"""

from __future__ import annotations

from ..paper.descents import FIXED_ORDER
from ..proof.facts.spending import Spent, spent_unused, spent_used
from ..proof.kernel import Theorem, apply, cancel, combine, rewrite
from ..symbols import a_t, cost_2, inverse, z

ORDERED = FIXED_ORDER.batches


def _step(so_far: Theorem, how: Theorem, hit: int, known: tuple[Theorem, ...], after_: Spent) -> Theorem:
    """One more step: Σa² + a² ≥ c − wz + a² is least, for the distance it leaves, at a = (w/L)/2."""
    before = so_far.proposition
    left = after_.least - after_.price * (before.factor * z + hit - a_t)  # type: ignore[attr-defined]
    right = before.least - before.price * z + a_t**2  # type: ignore[attr-defined]
    least = combine(left, right, ((a_t - after_.price / 2) ** 2,), nonzero=known)
    found = apply(spent_used if hit else spent_unused, so_far, how, least, put={inverse: after_.price, cost_2: after_.least})
    return _written(found, after_)


def _written(found: Theorem, wanted: Spent) -> Theorem:
    for old, new in zip(found.proposition.expressions(), wanted.expressions(), strict=True):
        found = found if old == new else rewrite(found, cancel(old, new))
    return found
