"""Random batches as patterns of hits: their chances, and the exact law of the quadratic loss for few steps.

A hit is an update whose batch holds the differing record; a pattern has a 1 for each hit and a 0 for each other update.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from ..errors import ArgumentError
from ..setting import Setting
from .renyi import Mixture

RANDOM_SCHEMES = ("shuffle", "reshuffle", "balls_in_bins", "without_replacement", "poisson")
DRAWN_BY_STEP = ("without_replacement", "poisson")
MAX_PATTERNS = 1024

Pattern = tuple[int, ...]
Outcomes = tuple[tuple[Fraction, Pattern], ...]
"""The patterns that one pass over the batches may have, each with its chance."""


def count_patterns(run: Setting, scheme: str) -> int:
    """An upper bound on the number of patterns, without listing them."""
    batches, epochs = int(run["n"] // run["b"]), int(run["K"])
    if scheme in DRAWN_BY_STEP:
        batches, epochs = 1, batches * epochs
    passes = 1 if scheme == "shuffle" else min(epochs, 10**4)
    return int((batches + 1) ** passes)


def patterns(run: Setting, scheme: str) -> Iterator[tuple[Fraction, Pattern]]:
    """All patterns of hits and their chances.

    >>> run = Setting(n=3, b=1, K=1)
    >>> [(str(chance), hits) for chance, hits in patterns(run, "reshuffle")]
    [('1/3', (1, 0, 0)), ('1/3', (0, 1, 0)), ('1/3', (0, 0, 1))]
    """
    if scheme not in RANDOM_SCHEMES or count_patterns(run, scheme) > MAX_PATTERNS:
        remedy = f"use one of {', '.join(RANDOM_SCHEMES)} and few steps"
        raise ArgumentError("scheme", scheme, f"not a random scheme with at most {MAX_PATTERNS} patterns", remedy)
    batches, epochs, rate = int(run["n"] // run["b"]), int(run["K"]), run["b"] / run["n"]
    if scheme in DRAWN_BY_STEP:
        draw: Outcomes = ((1 - rate, (0,)), (rate, (1,)))
        passes = [draw] * (batches * epochs)
    else:
        rate = Fraction(1, batches) if scheme == "balls_in_bins" else rate
        places = [(rate, tuple(int(j == place) for j in range(batches))) for place in range(batches)]
        once: Outcomes = (*places, (1 - rate * batches, (0,) * batches))  # the last: left out
        passes = [once] * (1 if scheme == "shuffle" else epochs)
    for chosen in product(*passes):
        chance = prod((share for share, _ in chosen), start=Fraction(1))
        hits = sum((part for _, part in chosen), start=())
        if chance:
            yield chance, hits * epochs if scheme == "shuffle" else hits


def quadratic_law(run: Setting, scheme: str, curvature: Fraction) -> tuple[Mixture, Mixture]:
    """The exact laws of the last iterate on the two datasets: a hit moves the mean by (ηS_g/b)·(1 − ηh)^(later steps).

    h is the curvature of the loss.
    """
    factor, jump = 1 - run["eta"] * curvature, run["eta"] * run["S_g"] / run["b"]
    steps = int(run["n"] // run["b"]) * int(run["K"])
    powers = [factor ** (steps - 1 - step) for step in range(steps)]
    variance = 2 * run["eta"] * run["sigma2"] * sum(power * power for power in powers)
    means: dict[Fraction, Fraction] = {}
    for chance, hits in patterns(run, scheme):
        mean = jump * sum((power for power, hit in zip(powers, hits, strict=True) if hit), Fraction(0))
        means[mean] = means.get(mean, Fraction(0)) + chance
    return Mixture(tuple((chance, mean) for mean, chance in means.items()), variance), Mixture.of([0], variance)
