"""An independent reading of the theorems in mpmath, written from the paper and not from the package.

Also draws settings over the whole domain the views promise to handle.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath


def to_mpf(value: Any) -> mpmath.mpf:
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def strongly_convex(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem 3.3 as printed, to the current mpmath precision."""
    q, number = 1 - to_mpf(v["eta"]) * to_mpf(v["lam"]), v["n"] // v["b"]
    half = number // 2

    def first_epoch(j: int) -> mpmath.mpf:
        cost = to_mpf(v["alpha"]) * to_mpf(v["eta"]) * to_mpf(v["S_g"]) ** 2
        cost /= 4 * to_mpf(v["sigma"]) ** 2 * to_mpf(v["b"]) ** 2
        return cost * q ** (2 * (j - 1)) * (1 - q**2) / (1 - q ** (2 * j))

    decay = q ** (2 * (number - half))
    return first_epoch(half) * (1 - decay ** (v["K"] - 1)) / (1 - decay) + first_epoch(number - v["j0"])


def convex(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem D.4 as printed, with ⌊n/b⌋ for n/b (the paper's footnote)."""
    number = v["n"] // v["b"]
    cost = to_mpf(v["alpha"]) * to_mpf(v["eta"]) * to_mpf(v["S_g"]) ** 2
    cost /= 4 * to_mpf(v["sigma"]) ** 2 * to_mpf(v["b"]) ** 2
    return cost * (mpmath.mpf(v["K"] - 1) / number + mpmath.mpf(1) / (number - v["j0"]))


THEOREMS = {"thm:strconvexsmooth": strongly_convex, "thm:convexsmooth": convex}


def draw(rng: random.Random) -> dict[str, Any]:
    """A setting over the whole domain: ηλ from 1e-15 to 0.99, n/b to 10⁶, K to 10⁹, α from 1 + 1e-6 to 10⁴."""

    def log_uniform(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    lam = Fraction(repr(log_uniform(1e-3, 1e3)))
    eta = Fraction(repr(log_uniform(1e-15, 0.989))) / lam
    number, b = int(log_uniform(2, 1e6)), rng.choice([1, 2, 7, 128])
    return {
        "n": number * b + rng.randrange(b),
        "b": b,
        "K": rng.choice([1, 2, int(log_uniform(1, 1e9)), 10**9]),
        "eta": eta,
        "lam": lam,
        "beta": lam,
        "sigma": Fraction(repr(log_uniform(1e-3, 1e3))),
        "S_g": Fraction(repr(log_uniform(1e-3, 1e3))),
        "alpha": Fraction(repr(1 + log_uniform(1e-6, 9999))),
        "j0": rng.choice([0, number - 1, rng.randrange(number), max(0, number - int(log_uniform(1, 1e3)))]),
    }


def split(v: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of the run, and the arguments α and j0."""
    arguments = {name: v[name] for name in ("alpha", "j0")}
    return {name: value for name, value in v.items() if name not in arguments}, arguments
