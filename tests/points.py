"""Points inside the hypotheses of every statement, drawn at random."""

from __future__ import annotations

import math
from fractions import Fraction


def draw_point(rng, *, batches=2000, smallest_step=1e-7, epochs=1e9):
    """A point inside every statement's hypotheses (those of the limit and of the clipped statements included)."""

    def between(low, high):
        return Fraction(repr(math.exp(rng.uniform(math.log(low), math.log(high)))))

    b, number, step = rng.choice([1, 20, 200]), int(between(5, batches)), between(smallest_step, 0.9)
    strength, order = between(0.01, 100), 1 + between(0.01, 50)
    cost = between(1e-6, 1) / (order * (order - 1))  # ρ₀
    sensitivity = between(0.1, 10)
    point = {
        "n": number * b,
        "b": b,
        "K": int(between(2, epochs)),
        "eta": step / strength,
        "lam": strength,
        "beta": strength * Fraction(21, 20),
        "S_g": sensitivity,
        "alpha": order,
        "j0": rng.randrange(number - 1),
        "sigma2": step / strength * sensitivity**2 / (4 * cost * b**2),
        "j": rng.randrange(1, number),
        "split": rng.randrange(1, number - 1),
        "k": 1,
        "t": between(0.01, 1),
        "c": between(0.1, 10),
        "L": between(0.01, 0.1),
        "R": between(0.1, 10),
        "hit": 1,
        "dR": between(0.1, 10),
        "u": between(0.1, 10),
        "R1": between(0.1, 1),
        "R2": between(1, 10),
        "w1": between(0.01, 0.9),
        "removed": Fraction(3, 2),
        "delta": between(1e-8, 0.1),
        "epsilon": between(0.1, 10),
        "sigma_mul": between(1, 100),
        "classes": 2,
        "eps_norm": between(0.1, 1),
        "kappa": Fraction(1, 4),
        "bias": 1,
        "known": 1,
        "T": 200,
        "window": 30,
        "share": Fraction(1, 2),
    }
    return {name: Fraction(value) for name, value in point.items()}
