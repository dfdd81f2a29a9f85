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
        "lipschitz": 1 + rng.choice([Fraction(0), between(1e-9, 1)]),
        "forgetting": int(between(1, 1e4)),
        "noise_ratio": between(0.1, 10),
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
        "slope": Fraction(1),
        "bias": 1,
        "beta0": strength / 2,
        "lam0": strength / 10,
        "known": 1,
        "T": 200,
        "window": 30,
        "share": Fraction(1, 2),
    }
    return {name: Fraction(value) for name, value in point.items()}


def draw_few_steps(rng):
    """The same for runs of a few steps on batches drawn afresh, whose losses are neither nearly 0 nor nearly ∞."""
    point = draw_point(rng) | few_steps(rng)
    return point | {"sigma2": point["sigma"] ** 2}


def few_steps(rng):
    """Letters of a run of up to seven steps, a hit in which moves its step by 0.05 to 1 standard deviations."""
    steps, batches, b = rng.randint(1, 7), rng.randint(2, 12), rng.choice([1, 2, rng.randint(3, 50)])
    lam, sensitivity = Fraction(rng.randint(1, 500), 100), Fraction(rng.randint(1, 40), 10)
    step = Fraction(rng.randint(1, 60), 100)  # ηλ
    eta = step / lam
    letters = {
        **visible(rng, eta, sensitivity, b),
        "n": batches * b + rng.randrange(b),
        "b": b,
        "eta": eta,
        "lam": lam,
        "beta": lam * (1 + (1 - step) / step * Fraction(rng.randint(1, 200), 101)),  # η < 2/(λ + β)
        "S_g": sensitivity,
        "alpha": Fraction(rng.randint(11, 60), 10),
        "T": steps,
        "window": rng.randint(max(1, steps - 5), steps),
        "share": Fraction(rng.randint(20, 95), 100),
    }
    return {name: Fraction(value) for name, value in letters.items()}


def visible(rng, eta, S_g, b):
    """Noise such that a hit moves its step by 0.05 to 1 standard deviations, and an ε of about as much."""
    size = math.exp(rng.uniform(math.log(0.05), 0))
    sigma = float(eta / 2) ** 0.5 * float(S_g) / (size * float(b))
    return {"sigma": Fraction(repr(sigma)), "epsilon": Fraction(repr(size * rng.uniform(0.1, 1.5)))}
