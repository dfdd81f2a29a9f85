"""Balls in bins where next to nothing is lost: the divergence is that of the mean loss, in closed form.

In doubles a moment is 1 + x, and an x far below 1e-16 is lost. Here x is never added to 1: in both directions the
moment is the mean of e^X with 0 ≤ X ≤ M, so its logarithm is at least the mean of X and, if M ≤ 1, at most 1 + M times
it; and the mean of X is the same in both.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce

from ..arithmetic.engines import ENGINES, Unbounded
from .bin_moments import Bins, drift_of, geometric


@lru_cache(maxsize=1 << 12)
def faint(
    name: str, precision: int, bins: Bins, epochs: int, order: int, most: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Bounds on the divergence at a whole order, relatively about `most` ≤ 1 apart; None if M may be larger.

    M is for all copies of the record in one step of each epoch, as far away as told places can lead.
    """
    pairs, count = order * (order - 1) * bins.cost / 2, bins.count
    if pairs * bins.known > most:
        return None
    engine = ENGINES[name](precision)

    def times(*factors: object) -> object:
        return reduce(engine.mul, (engine.ball(x) if isinstance(x, Fraction) else x for x in factors))

    def total(*terms: object) -> object:
        return reduce(engine.add, (engine.ball(x) if isinstance(x, Fraction) else x for x in terms))

    with engine.working():
        q, told, chance, secret = bins.factor, count * (epochs - bins.known), Fraction(1, count), Fraction(bins.known)
        drift = drift_of(engine, bins)
        epoch, reached = geometric(engine, q, count), geometric(engine, q, told)
        squared_epoch, squared_reached = geometric(engine, q * q, count), geometric(engine, q * q, told)
        farthest = times(reached, engine.inverse(epoch))  # Σ q^(Ne) over the told epochs
        mean = times(reached, chance)
        variance = times(  # of one epoch's place, for each told epoch
            total(times(squared_epoch, chance), times(Fraction(-1), chance * chance, epoch, epoch)),
            squared_reached,
            engine.inverse(squared_epoch),
        )
        larger = total(times(drift.squares, farthest, farthest), times(Fraction(2), drift.total, farthest), secret)
        ends = engine.bounds(times(pairs, larger))
        if ends is None or ends[1] > most:
            return None
        square = total(times(mean, mean), variance)
        typical = total(times(drift.squares, square), times(2 * chance, drift.total, mean), secret * chance)
        found = engine.bounds(times(order * bins.cost / 2, typical))
        if found is None:
            raise Unbounded
    fixed = secret * bins.cost / 2 * (1 - chance)
    return max(Fraction(0), found[0]) + fixed, found[1] * (1 + most) + fixed
