"""Forgetting: bounds against exact laws of small runs, written from the algorithm alone; wrong bounds are exposed."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement

CASES = 60


def drawn(rng):
    """A run of few steps: its letters, and in which step of each epoch it uses the record (None: in none)."""
    N, K, r = rng.randint(1, 5), rng.randint(1, 4), rng.randint(1, 6)
    letters = {
        "n": 3 * N,
        "b": 3,
        "K": K,
        "eta": Fraction(rng.randint(1, 40), 100),
        "lam": Fraction(rng.randint(1, 200), 100),
        "sigma": Fraction(rng.randint(5, 30), 10),
        "S_g": Fraction(rng.randint(5, 30), 10),
    }
    letters["beta"] = letters["lam"]
    ratio = Fraction(rng.randint(1, 40), 10)
    return letters, N, K, r, ratio, [rng.choice([None, *range(N), N - 1, N - 1]) for _ in range(K)]


def exact_square(slopes, hits, noises, push):
    """μ² of X ← slope·X + push·hit + N(0, noise) against the same without hits: squared distance over variance."""
    distance = variance = 0.0
    for slope, hit, noise in zip(slopes, hits, noises, strict=True):
        distance, variance = slope * distance + push * hit, slope**2 * variance + noise
    return distance**2 / variance


def course(letters, N, K, r, ratio, places, *, training_noise=1.0, slope=None):
    """The steps of a run on a quadratic loss: slopes, hits and noises of training and of what follows."""
    q = float(1 - letters["eta"] * letters["lam"]) if slope is None else slope
    noise = 2 * float(letters["eta"]) * float(letters["sigma"]) ** 2
    hits = [int(place == i) for place in places for i in range(N)] + [0] * r
    noises = [training_noise * noise] * (N * K) + [float(ratio) * noise] * r
    return [q] * len(hits), hits, noises, float(letters["eta"] * letters["S_g"] / letters["b"])


def bound(label, letters, r, ratio, **changes):
    found = statement(label)
    return float(found.enclose(Setting(**{**letters, **changes}), forgetting=r, noise_ratio=ratio).hi)


class TestExactLaws:
    @pytest.mark.parametrize("training_noise", [0.0, 1.0, 10.0])
    def test_no_affine_run_is_told_apart_better_whatever_the_noise_of_training(self, training_noise):
        rng, closest = random.Random(1), 0.0
        for _ in range(CASES):
            letters, N, K, r, ratio, places = drawn(rng)
            slopes, hits, noises, push = course(letters, N, K, r, ratio, places, training_noise=training_noise)
            slopes = [slope * rng.choice([1, 1, rng.uniform(-1, 1)]) for slope in slopes]
            most = bound("unlearn:zero_out", letters, r, ratio)
            assert exact_square(slopes, hits, noises, push) <= most * (1 + 1e-12)
            last = course(letters, N, K, r, ratio, [N - 1] * K, training_noise=training_noise)
            closest = max(closest, exact_square(*last) / most)
        assert closest > 1 - 1e-9 if training_noise == 0 else closest < 1

    def test_without_noise_in_training_the_bound_is_attained_in_every_run(self):
        rng = random.Random(2)
        for _ in range(CASES):
            letters, N, K, r, ratio, _ = drawn(rng)
            exact = exact_square(*course(letters, N, K, r, ratio, [N - 1] * K, training_noise=0))
            assert bound("unlearn:zero_out", letters, r, ratio) == pytest.approx(exact, rel=1e-9)
            flat = exact_square(*course(letters, N, K, r, ratio, [N - 1] * K, training_noise=0, slope=1.0))
            assert bound("unlearn:convex", letters, r, ratio) == pytest.approx(flat, rel=1e-9)

    def test_where_every_step_uses_the_record_the_bound_is_attained(self):
        rng = random.Random(3)
        for _ in range(CASES):
            letters, _, K, r, ratio, _ = drawn(rng)
            letters |= {"n": letters["b"]}
            exact = exact_square(*course(letters, 1, K, r, ratio, [0] * K))
            assert bound("unlearn:every_step", letters, r, ratio) == pytest.approx(exact, rel=1e-9)
            assert exact <= bound("unlearn:zero_out", letters, r, ratio)

    def test_some_steps_of_training_cost_no_more_than_all(self):
        rng = random.Random(4)
        for _ in range(CASES):
            letters, N, K, r, ratio, _ = drawn(rng)
            hits = [rng.choice([0, 1]) for _ in range(N * K)]
            slopes, _, noises, push = course(letters, N, K, r, ratio, [None] * K)
            slopes = [slope * rng.choice([1, rng.uniform(-1, 1)]) for slope in slopes]
            most = bound("unlearn:every_step", letters, r, ratio, n=letters["b"], K=N * K)
            assert exact_square(slopes, hits + [0] * r, noises, push) <= most * (1 + 1e-12)

    def test_wrong_bounds_are_exposed(self):
        """One step too many after training, or the distance of one epoch only: some exact law exceeds these."""
        rng, exposed = random.Random(5), {"a step too many": 0, "one epoch": 0, "one step too few in sight": 0}
        for _ in range(CASES):
            letters, N, K, r, ratio, _ = drawn(rng)
            exact = exact_square(*course(letters, N, K, r, ratio, [N - 1] * K, training_noise=0))
            exposed["a step too many"] += bound("unlearn:zero_out", letters, r + 1, ratio) < exact * (1 - 1e-9)
            exposed["one epoch"] += bound("unlearn:zero_out", letters, r, ratio, K=1) < exact * (1 - 1e-9)
            letters |= {"n": letters["b"]}
            every = exact_square(*course(letters, 1, K, r, ratio, [0] * K))
            shorter = bound("unlearn:every_step", letters, r, ratio, K=max(1, K - 1))
            exposed["one step too few in sight"] += shorter < every * (1 - 1e-9)
        assert all(count > CASES / 3 for count in exposed.values()), exposed


# --- Losses that are not quadratic ----------------------------------------------------------------------------------


def density_after(maps, noises, grid):
    """The density on a grid of X ← map(X) + N(0, noise), from 0."""
    width = grid[1] - grid[0]
    here = None
    for move, noise in zip(maps, noises, strict=True):
        if here is None:
            here = np.exp(-((grid - move(np.zeros(1))[0]) ** 2) / (2 * noise)) / math.sqrt(2 * math.pi * noise)
            continue
        kernel = np.exp(-((grid[:, None] - move(grid)[None, :]) ** 2) / (2 * noise)) / math.sqrt(2 * math.pi * noise)
        here = kernel @ here * width
    return here


def clipped_step(records, labels, clip, eta, lam, divisor):
    """θ ↦ θ − η(Σ clipped gradients of logistic loss/divisor + λθ), for one parameter."""

    def move(theta):
        slopes = [-y * x / (1 + np.exp(y * x * theta)) for x, y in zip(records, labels, strict=True)]
        return theta - eta * (sum(np.clip(slope, -clip, clip) for slope in slopes) / divisor + lam * theta)

    return move


@pytest.mark.parametrize("seed", range(4))
def test_clipped_logistic_regression_is_told_apart_no_better(seed):
    """Two records in two batches of one each, the first left out or forgotten; δ by integration at several ε."""
    rng = random.Random(seed)
    x, clip, eta, lam, noise = 2.0, 0.5, Fraction(1, 2), Fraction(1, 2), 0.3
    K, r = rng.randint(1, 3), rng.randint(1, 4)
    other = clipped_step([rng.uniform(-x, x)], [1], clip, float(eta), float(lam), 1)
    with_it = clipped_step([x], [rng.choice([-1, 1])], clip, float(eta), float(lam), 1)
    without = clipped_step([], [], clip, float(eta), float(lam), 1)
    place = rng.randrange(2)
    epoch = [other, with_it] if place else [with_it, other]
    never = [other, without] if place else [without, other]
    after = [never[step % 2] for step in range(r)]
    grid = np.linspace(-4, 4, 1601)
    noises = [noise**2] * (2 * K + r)
    trained, clean = (density_after(each * K + after, noises, grid) for each in (epoch, never))
    sigma_squared = Fraction(noise).limit_denominator() ** 2 / (2 * eta)
    run = Setting(n=2, b=1, K=K, eta=eta, lam=lam, beta=lam + x**2 / 4, sigma_squared=sigma_squared, S_g=clip)
    for at in ("0", "1/10", "1/2", "1"):
        most = statement("unlearn:zero_out").delta(run, at, forgetting=r, noise_ratio=1).upper()
        factor = math.exp(Fraction(at))
        for one, two in ((trained, clean), (clean, trained)):
            assert np.maximum(one - factor * two, 0).sum() * (grid[1] - grid[0]) <= most + 1e-6
    assert statement("unlearn:zero_out").delta(run, "1/10", forgetting=r, noise_ratio=1).upper() > 1e-4
