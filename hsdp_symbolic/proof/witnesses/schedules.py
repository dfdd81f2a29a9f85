"""Maps of a line and Gaussians on it, that attain what is claimed; coins for groups of outcomes."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Max, Min, Rational, exp, log

from ...symbols import cost_1, diameter, distance, drifted, factor, hidden, inverse, noise_1, place, weight_at
from ..facts.schedules import followed_anew, followed_end, followed_step, mean_of_seen, one_more_group
from ..kernel import Fact
from ..propositions import AtMost
from . import witness


def _onto_interval(x: Expr, width: Expr) -> Expr:
    """The nearest point of the interval from 0 to `width`."""
    return Min(Max(x, 0), width)


@witness(followed_step)
def _step(fact: Fact) -> Iterator[bool]:
    """z and 0 go to L·z + s and 0; N(μ, 1) against N(0, 1), then N(a, v) against N(0, v): log-moments of order 2."""
    room = next(each for each in fact.premises if isinstance(each, AtMost) and each.left.has(drifted))
    for scale, away, apart, taken, variance, spent in ((2, 3, 1, 1, 2, 5), (Rational(1, 2), 4, 0, 2, 1, 0)):
        put = {factor: scale, drifted: away, distance: apart, hidden: taken, noise_1: variance, cost_1: spent}
        needed = (room.left - room.right).subs(put)  # what is left must be at least this
        left = needed.subs(inverse, 0)
        yield bool(left >= scale * away + apart - taken)
        yield bool(fact.conclusion.value.subs(put) >= log(exp(spent) * exp(Rational(taken**2, variance))))


@witness(followed_anew)
def _anew(fact: Fact) -> Iterator[bool]:
    """Points far beyond both ends of an interval, then x ↦ L·x and x ↦ L·x + s; the drift as above."""
    room = next(each for each in fact.premises if isinstance(each, AtMost) and each.left.has(diameter))
    for scale, width, apart, taken, variance, spent in ((2, 3, 1, 1, 2, 5), (Rational(1, 2), 1, 4, 2, 1, 0)):
        put = {factor: scale, diameter: width, distance: apart, hidden: taken, noise_1: variance, cost_1: spent}
        ends = [_onto_interval(Rational(far), Rational(width)) for far in (-9, 9)]
        left = (room.left - room.right).subs(put).subs(inverse, 0)
        yield bool(left >= scale * (ends[1] - ends[0]) + apart - taken)
        yield bool(fact.conclusion.value.subs(put) >= log(exp(spent) * exp(Rational(taken**2, variance))))


@witness(followed_end)
def _end(fact: Fact) -> Iterator[bool]:
    """A transcript of two numbers, N(1, 1) and N(2, 1), or N(0, 1) both, that are what is seen: μ² = 1 + 4."""
    yield bool(fact.conclusion.value.subs(cost_1, 1 + 4) >= 1**2 + 2**2)


@witness(mean_of_seen)
def _mean(fact: Fact) -> Iterator[bool]:
    """Two numbers, N(3, 1) or N(0, 1) both: their mean has variance 1/2, so μ² = 9/(1/2) = 9 + 9."""
    yield bool(fact.conclusion.value.subs(cost_1, 9 + 9) >= 3**2 / Rational(1, 2))


@witness(one_more_group)
def _group(fact: Fact) -> Iterator[bool]:
    """Coins that show their group: a third of the time it adds its own δ, else what the others add."""
    for others, own in ((Rational(1, 5), Rational(1, 2)), (Rational(0), Rational(1))):
        value = fact.conclusion.value.subs({cost_1: others, distance: own})
        yield bool(value.subs(weight_at(place), Rational(1, 3)) >= others + own / 3)
