"""Losses of a run whose last steps keep their hits secret: those of sampled steps, and those of what came before.

The first `revealed` steps reveal which of them used the record, and lead to a distance z = Σ q^i·h_i. The last `window`
steps keep it secret: the one that is i steps before the end spends a share f_i of its noise on its own hit, and the
rest on hiding what is left of z, which is q^window·z. That costs G(cz), c² = cost·q^(2·window)/Σ q^(2i)(1 − f_i), and
the sampled steps cost the composition of the pairs with the costs cost/f_i. Since z is revealed, the profile of (z,
G(cz)) is the mean of those of G(cz).

Any shares f_i in (0, 1] are valid, so long as c uses the same. Here they go up in at most `BLOCKS` stairs,
f_i = min(1, share·q^(−r⌊i/r⌋)) with r = ⌈window/BLOCKS⌉, and steps on one stair are composed by repeated squaring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..arithmetic.engines import Engine
from .discounted_hits import Hits, discounted_hits
from .privacy_losses import Bracket, Losses, Scale, bracket
from .sampled_losses import EVEN, Grid, Pair, Step, Weighted, composition, farthest, knots, losses, spread

BLOCKS = 64
"""The most stairs that shares of noise go up in."""


@dataclass(frozen=True)
class Secret:
    """A run as above; `cost` is μ² of one hit if it has all the noise of its step."""

    rate: Fraction
    cost: Fraction
    factor: Fraction
    revealed: int
    window: int
    share: Fraction

    def shares(self, engine: Engine) -> list[tuple[Any, int]]:
        """The shares f, as intervals, and how many steps have each; the last step comes first."""
        stride = -(-self.window // BLOCKS)
        found: list[tuple[Any, int]] = []
        one, block = engine.ball(Fraction(1)), engine.power(engine.ball(self.factor), stride)
        here = engine.ball(self.share)
        for start in range(0, self.window, stride):
            bounds = engine.bounds(here)
            assert bounds is not None
            if bounds[0] >= 1 or (bounds[1] > 1 and self.share >= self.factor**start):
                found.append((one, self.window - start))
                break
            found.append((here, min(stride, self.window - start)))
            here = engine.mul(here, engine.inverse(block))
        return found

    def drift(self, engine: Engine) -> Any:
        """c², an interval."""
        total: Any = engine.ball(Fraction(0))
        here, one = engine.ball(Fraction(1)), engine.ball(Fraction(1))
        square = engine.ball(self.factor**2)
        for share, count in self.shares(engine):
            power = engine.power(square, count)
            length: Any = engine.ball(Fraction(count))
            if self.factor != 1:
                length = engine.mul(_minus(engine, one, power), engine.inverse(engine.ball(1 - self.factor**2)))
            total = engine.add(total, engine.mul(engine.mul(here, length), _minus(engine, one, share)))
            here = engine.mul(here, power)
        return engine.mul(engine.mul(engine.ball(self.cost), here), engine.inverse(total))


def _minus(engine: Engine, x: Any, y: Any) -> Any:
    return engine.add(x, engine.mul(engine.ball(Fraction(-1)), y))


def sampled_part(secret: Secret, scale: Scale, pair: Pair, step: Fraction, *, above: bool) -> Losses:
    """Of the last steps' own hits."""
    engine = scale.engine
    costs = [
        (engine.mul(engine.ball(secret.cost), engine.inverse(share)), count) for share, count in secret.shares(engine)
    ]
    return composition(scale, pair, secret.rate, costs, step, EVEN * spread(secret.rate, secret.cost), above=above)


def drift_part(
    secret: Secret, scale: Scale, hits: Hits, step: Fraction, gap: int, width: float, *, above: bool
) -> Losses:
    """Of what came before, G(cz): the mean over z of its profiles.

    Let μ = cz and s = 2Φ(μ/2) − 1, the profile of G(μ) at ε = 0. At every ε that profile is increasing and convex in s:
    its derivative in μ is φ(ε/μ − μ/2), whose logarithm has the derivative ε²/μ³ − μ/4, and that of s is φ(μ/2), whose
    logarithm has −μ/4. So above, the z of one interval may be moved to its ends if the mean of s does not fall; below,
    to one point at which s is at most the mean.
    """
    engine = scale.engine
    root = engine.sqrt(secret.drift(engine))
    mixture = (_moved_out if above else _moved_in)(scale, root, hits, width)
    largest = max((kind.mu for _, kind in mixture), default=0.0)
    middle = math.sqrt(sum((weight[1] >> scale.fine - 60) * kind.mu**2 for weight, kind in mixture)) / 2**30
    h = float(step) * gap
    last = max(8, math.ceil(farthest(1.0, largest, scale.tail) / h)) if mixture else 8
    grid = Grid(scale, Fraction(1), step, [gap * k for k in knots(last, max(8, math.ceil(2 * EVEN * middle / h)))])
    beyond = math.ceil(Fraction(hits.beyond) * (1 << scale.fine)) if above else 0
    return losses(Pair.BOTH, mixture, grid, above=above, beyond=beyond)


def _groups(hits: Hits, width: float) -> list[tuple[int, int, float, float]]:
    """Intervals of z in steps of its grid, with their chance and the mean of z there, as sums of doubles."""
    chances = hits.chances
    places = np.arange(len(chances), dtype=np.float64)
    total = chances.sum()
    mean = float(chances @ places / total)
    deviation = math.sqrt(max(0.0, float(chances @ (places - mean) ** 2 / total)))
    gap, bounds = max(1, round(width * deviation)), [0]
    while bounds[-1] < len(chances) - 1:
        if bounds[-1] > mean + 5 * deviation:
            gap = max(gap, round((bounds[-1] - mean) * width / 5))
        bounds.append(min(bounds[-1] + gap, len(chances) - 1))
    if len(bounds) == 1:
        bounds.append(1)
    found = []
    for start, stop in pairwise(bounds):
        inside = slice(start + 1 if start else 0, stop + 1)
        chance = float(chances[inside].sum())
        if chance > 0:
            found.append((start, stop, chance, float(chances[inside] @ places[inside]) / chance))
    return found


def _height(engine: Engine, mu: Any) -> Any:
    """s = 2Φ(μ/2) − 1 = 1 − erfc(μ/√8)."""
    scaled = engine.mul(mu, engine.inverse(engine.sqrt(engine.ball(Fraction(8)))))
    return _minus(engine, engine.ball(Fraction(1)), engine.erfc(scaled))


def _pad(hits: Hits) -> Fraction:
    """More than the relative error of a sum of chances, or of a quotient of two such sums."""
    return Fraction(4 * len(hits.chances) + 16, 1 << 52)


def _moved_out(scale: Scale, root: Any, hits: Hits, width: float) -> Weighted:
    engine, bits, pad = scale.engine, scale.fine, 1 + _pad(hits)
    unit = engine.mul(root, engine.ball(Fraction(hits.step)))
    weights: dict[int, int] = {}

    @cache
    def height(place: Fraction) -> Any:
        return _height(engine, engine.mul(unit, engine.ball(place)))

    for start, stop, chance, mean in _groups(hits, width):
        low, high = height(Fraction(start)), height(Fraction(stop))
        middle = height(min(Fraction(mean) * pad, Fraction(stop)))
        share = engine.mul(_minus(engine, middle, low), engine.inverse(_minus(engine, high, low)))
        heavy = engine.ball(Fraction(chance) * pad)
        risen = bracket(engine, engine.mul(heavy, share), bits)[1]
        left = bracket(engine, engine.mul(heavy, _minus(engine, engine.ball(Fraction(1)), share)), bits)[1]
        weights[start] = weights.get(start, 0) + max(0, left)
        weights[stop] = weights.get(stop, 0) + max(0, risen)
    return [
        ((weight, weight), Step(engine, _square(engine, engine.mul(unit, engine.ball(Fraction(place))))))
        for place, weight in sorted(weights.items())
        if place and weight
    ]


def _moved_in(scale: Scale, root: Any, hits: Hits, width: float) -> Weighted:
    engine, bits, pad = scale.engine, scale.fine, 1 - _pad(hits)
    unit = engine.mul(root, engine.ball(Fraction(hits.step)))
    density = engine.inverse(engine.sqrt(engine.mul(engine.ball(Fraction(2)), engine.pi())))
    found: list[tuple[Bracket, Step]] = []
    for start, stop, chance, mean in _groups(hits, width):
        middle = Fraction(mean) * pad
        if middle <= start:
            continue  # nothing below it is known well enough
        low, high, here = (
            _height(engine, engine.mul(unit, engine.ball(Fraction(place)))) for place in (start, stop, middle)
        )
        # s is concave in μ: its mean is at least that on the chord, and it is nowhere above its tangents.
        share = engine.ball((middle - start) / (stop - start))
        chord = engine.add(low, engine.mul(share, _minus(engine, high, low)))
        mu = engine.mul(unit, engine.ball(middle))
        slope = engine.mul(density, engine.exp(engine.mul(engine.ball(Fraction(-1, 8)), _square(engine, mu))))
        mu = _minus(engine, mu, engine.mul(_minus(engine, here, chord), engine.inverse(slope)))
        bounds = engine.bounds(mu)
        if bounds is None or bounds[0] <= 0:
            continue
        weight = int(Fraction(chance) * pad * (1 << bits))
        found.append(((weight, weight), Step(engine, _square(engine, engine.ball(bounds[0])))))
    return found


def _square(engine: Engine, x: Any) -> Any:
    return engine.mul(x, x)


HITS, GAP, GROUPS = 1 / 60, 1.5, 8.0
"""In units of the fineness: steps of the grid for z; gaps between losses of G(cz), in standard deviations of all
losses;
and groups of z, in its standard deviations."""


def secret_losses(secret: Secret, scale: Scale, pair: Pair, step: Fraction, fineness: float, *, above: bool) -> Losses:
    """Of the whole run, on a grid that begins with this step."""
    with scale.engine.working():
        found = sampled_part(secret, scale, pair, step, above=above)
        if not secret.revealed:
            return found
        drift = _drift_variance(secret, scale.engine)
        variance = drift + found.variance  # of all losses
        finest = 2.0 ** math.floor(math.log2(HITS * fineness * min(1.0, 0.2 * variance / drift if drift else 1.0)))
        hits = discounted_hits(secret.rate, secret.factor, secret.revealed, above=above, finest=finest, tail=scale.tail)
        gap = max(1, math.floor(GAP * fineness * math.sqrt(variance) / float(found.step)))
        return found.times(drift_part(secret, scale, hits, found.step, gap, GROUPS * fineness, above=above))


def _drift_variance(secret: Secret, engine: Engine) -> float:
    """About c²·E z²."""
    p, q, count = float(secret.rate), float(secret.factor), secret.revealed
    mean, square = (count if x == 1 else (1 - x**count) / (1 - x) for x in (q, q * q))
    bounds = engine.bounds(secret.drift(engine))
    assert bounds is not None
    return float(bounds[1]) * (p * (1 - p) * square + (p * mean) ** 2)
