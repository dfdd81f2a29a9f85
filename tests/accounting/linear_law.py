"""The exact law of a run whose gradients are always clipped: the third opinion on every certificate for clipped runs.

Far from its minimum, the clipped gradient of a convex loss of one parameter is ±C whatever θ is: nothing pulls two runs
together but a regulariser that is added after clipping. With C for the record on one dataset and −C on the other, and 0
for all other records, the last iterate is a mixture of Gaussians of one variance, by the pattern of hits. Written from
the algorithm alone; it knows none of the package's formulas.
"""

import math
from fractions import Fraction
from itertools import chain, product


def weights(n: int, b: int, *, partial: bool) -> list[Fraction]:
    """The chance that a shuffled epoch has the record in each of its batches; what is missing to 1: left out."""
    sizes = [b] * (n // b) + ([n % b] if partial and n % b else [])
    return [Fraction(size, n) for size in sizes]


def patterns(scheme: str, n: int, b: int, epochs: int, *, partial: bool = False) -> list[tuple[Fraction, list[int]]]:
    """Every pattern of hits with its chance; for a fixed order, the record is in the last batch."""
    chances = weights(n, b, partial=partial)
    count = len(chances)
    places = [(chances[j], [int(place == j) for place in range(count)]) for j in range(count)]
    if sum(chances) < 1:
        places.append((1 - sum(chances), [0] * count))
    if scheme == "full_batch":
        return [(Fraction(1), [1] * epochs)]
    if scheme == "fixed":
        return [(Fraction(1), ([0] * (count - 1) + [1]) * epochs)]
    if scheme == "shuffle":
        return [(chance, hits * epochs) for chance, hits in places]
    if scheme == "without_replacement":
        rate = Fraction(b, n)
        places, epochs = [(rate, [1]), (1 - rate, [0])], epochs * (n // b)
    found = []
    for chosen in product(places, repeat=epochs):
        chance = Fraction(1)
        for share, _ in chosen:
            chance *= share
        if chance:
            found.append((chance, list(chain.from_iterable(hits for _, hits in chosen))))
    return found


def epsilon(law: list[tuple[Fraction, list[int]]], *, eta, clip, noise, divisor, decay, delta) -> float:
    """ε at δ: P = Σ p·N(m/2, V) against Q = Σ p·N(−m/2, V), whose likelihood ratio rises with x; to about 1e-10."""
    eta, clip, noise, decay, delta = (float(Fraction(each)) for each in (eta, clip, noise, decay, delta))
    q, jump, v = 1 - eta * decay, eta * 2 * clip / divisor, (eta * noise * clip / divisor) ** 2
    steps = len(law[0][1])
    powers = [q ** (steps - 1 - step) for step in range(steps)]
    deviation = math.sqrt(v * math.fsum(power**2 for power in powers))
    means: dict[float, float] = {}
    for chance, hits in law:
        mean = jump * math.fsum(power for power, hit in zip(powers, hits, strict=True) if hit) / deviation
        means[mean] = means.get(mean, 0.0) + float(chance)

    def tail(x: float, sign: int) -> float:
        return math.fsum(share * math.erfc((x - sign * mean / 2) / math.sqrt(2)) / 2 for mean, share in means.items())

    def log_ratio(x: float) -> float:
        exponents = [[-((x - sign * mean / 2) ** 2) / 2 for mean in means] for sign in (1, -1)]
        above, below = (_log_sum(each, means.values()) for each in exponents)
        return above - below

    def surplus(x: float) -> float:
        """δ at the ε whose threshold is x, less the δ asked for; it falls with x, as that ε rises."""
        return tail(x, 1) - math.exp(log_ratio(x)) * tail(x, -1) - delta

    if surplus(0.0) <= 0:  # by symmetry the ratio at 0 is 1
        return 0.0
    low, high = 0.0, 1.0
    while surplus(high) > 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return log_ratio(low)


def _log_sum(exponents, shares):
    top = max(exponents)
    return top + math.log(math.fsum(share * math.exp(x - top) for x, share in zip(exponents, shares, strict=True)))
