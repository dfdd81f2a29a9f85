"""Forgetting: bounds against exact laws of small runs, written from the algorithm alone; wrong bounds are exposed."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting.forgetting import ShiftsOfForgetting
from hsdp_symbolic.functions.gaussian_profile import profile

from .. import oracle

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
    told = {name: value for name, value in {**letters, **changes}.items() if value is not None}
    return float(found.enclose(Setting(**told), forgetting=r, noise_ratio=ratio).hi)


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


# --- Updates that may expand, and the noise of training ---------------------------------------------------------------


def shifted(letters, N, K, r, ratio, c, *, in_order):
    """The bound by the best shifts over training and the further steps."""
    run = Setting(**{name: value for name, value in letters.items() if name not in ("lam", "beta")})
    return ShiftsOfForgetting(run, c, N, K, in_order).square(r, ratio)


class TestNoiseOfTraining:
    CONSTANTS = tuple(map(Fraction, ("1/2", "0.9", "1", "1.02", "1.3", "2")))

    def test_no_affine_run_is_told_apart_better(self):
        """Whatever constant, order and slopes: three hundred runs; attained by some."""
        rng, closest, compared = random.Random(11), {"in order": 0.0, "in any order": 0.0, "in closed form": 0.0}, 0
        for _ in range(300):
            letters, N, K, r, ratio, places = drawn(rng)
            c, slope = rng.choice(self.CONSTANTS), rng.choice([1.0, 1.0, rng.uniform(-1, 1)])
            place = rng.randrange(N)
            bounds = {
                "in order": (shifted(letters, N, K, r, ratio, c, in_order=True), [place] * K),
                "in any order": (shifted(letters, N, K, r, ratio, c, in_order=False), places),
            }
            if c >= 1:
                closed = bound("unlearn:expanding", letters, r, ratio, lam=None, beta=None, lipschitz=c)
                bounds["in closed form"] = closed, places
                composed = float(
                    letters["S_g"] ** 2 * letters["eta"] / (2 * letters["b"] ** 2 * letters["sigma"] ** 2) * K
                )
                assert closed <= composed * (1 + 1e-12)
            for name, (most, used) in bounds.items():
                _, hits, noises, push = course(letters, N, K, r, ratio, used)
                slopes = [float(c) * (slope if rng.random() < 0.5 else 1.0) for _ in hits]
                exact = exact_square(slopes, hits, noises, push)
                assert exact <= most * (1 + 1e-9), (name, letters, c)
                closest[name] = max(closest[name], exact / most)
                compared += 1
        assert compared > 700
        assert min(closest.values()) > 0.99, closest

    @pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
    def test_the_closed_form_as_an_independent_reading_has_it(self, count):
        """Over the whole domain, however many epochs and however large the constant."""
        rng, found = random.Random(16), statement("unlearn:expanding")
        with mpmath.workdps(60):
            for _ in range(count):
                case = oracle.draw(rng)
                case["lipschitz"] = 1 + rng.choice([Fraction(0), Fraction(1, 10 ** rng.randint(1, 14)), Fraction(7)])
                run, arguments = oracle.split(case)
                given = {name: arguments[name] for name in ("forgetting", "noise_ratio")}
                truth = oracle.forgotten_expanding(case)
                bracket = found.enclose(Setting(**run), **given)
                assert abs(oracle.to_mpf(bracket.hi) - truth) <= truth * mpmath.mpf(10) ** -19
                assert abs(found.numeric(Setting(**run), **given) - truth) <= truth * mpmath.mpf(10) ** -12

    def test_one_step_of_training_is_attained(self):
        """θ ← cθ, the record used once, in the first step of all: no bound could be smaller."""
        rng = random.Random(12)
        for _ in range(CASES):
            letters, _, _, r, ratio, _ = drawn(rng)
            letters, c = letters | {"n": letters["b"], "K": 1}, rng.choice(self.CONSTANTS)
            exact = exact_square(*course(letters, 1, 1, r, ratio, [0], slope=float(c)))
            assert shifted(letters, 1, 1, r, ratio, c, in_order=True) == pytest.approx(exact, rel=1e-9)
            if c >= 1:
                closed = bound("unlearn:expanding", letters, r, ratio, lam=None, beta=None, lipschitz=c)
                assert closed == pytest.approx(exact, rel=1e-9)

    def test_never_above_what_does_without_the_noise_of_training(self):
        rng, smaller = random.Random(13), 0
        for _ in range(150):
            letters, N, K, r, ratio, _ = drawn(rng)
            old = bound("unlearn:zero_out", letters, r, ratio)
            new = shifted(letters, N, K, r, ratio, 1 - letters["eta"] * letters["lam"], in_order=rng.random() < 0.5)
            assert new <= old * (1 + 1e-12)
            flat = shifted(letters, N, K, r, ratio, Fraction(1), in_order=False)
            assert flat <= bound("unlearn:convex", letters, r, ratio) * (1 + 1e-12)
            smaller += new < 0.8 * old
        assert smaller > 50

    def test_wrong_bounds_are_exposed(self):
        """A constant of 1 for steps that expand; a further step that was not made; one that was not as noisy."""
        rng, exposed, c = random.Random(14), {"constant": 0, "steps": 0, "noise": 0}, Fraction("1.3")
        for _ in range(CASES):
            letters, _, _, r, ratio, _ = drawn(rng)
            exact = exact_square(*course(letters, 1, 1, r, ratio, [0], slope=1.3)) * (1 - 1e-9)
            exposed["constant"] += shifted(letters, 1, 1, r, ratio, Fraction(1), in_order=True) < exact
            exposed["steps"] += shifted(letters, 1, 1, r + 1, ratio, c, in_order=True) < exact
            exposed["noise"] += shifted(letters, 1, 1, r, ratio * 2, c, in_order=True) < exact
        assert all(count == CASES for count in exposed.values()), exposed


def kinked(c, centre, width):
    """θ ↦ a map of slope c near its centre and of slope 0 far away from it."""
    return lambda theta: c * np.clip(theta - centre, -width, width)


@pytest.mark.parametrize("seed", range(3))
def test_maps_that_expand_and_are_not_affine_are_told_apart_no_better(seed):
    """Forty runs of kinked maps, c ≥ 1; δ by integration at several ε, both ways."""
    rng = random.Random(100 + seed)
    grid, compared = np.linspace(-14, 14, 1401), 0
    for _ in range(14):
        N, K, r = rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)
        c, push, ratio = Fraction(rng.choice(["1", "1.1", "1.3"])), rng.choice([0.5, 1.0]), Fraction(rng.choice([1, 2]))
        letters = {"n": N, "b": 1, "K": K, "eta": Fraction(1, 2), "sigma": 1, "S_g": Fraction(2 * push)}
        maps = [kinked(float(c), rng.uniform(-1, 1), rng.uniform(0.3, 4)) for _ in range(N)]
        place, after = rng.randrange(N), kinked(float(c), rng.uniform(-1, 1), rng.uniform(0.3, 4))
        without = [maps[step % N] for step in range(N * K)] + [after] * r
        hit = maps[place]
        pushed = [
            (lambda theta, move=move, push=push: move(theta) + push) if step % N == place and step < N * K else move
            for step, move in enumerate(without)
        ]
        assert pushed[place](0.0) == hit(0.0) + push
        noises = [1.0] * (N * K) + [float(ratio)] * r
        first, second = (density_after(steps, noises, grid) for steps in (pushed, without))
        best = shifted(letters, N, K, r, ratio, c, in_order=True)
        closed = bound("unlearn:expanding", letters, r, ratio, lipschitz=c)
        for square in (best, closed):
            for epsilon in (0.0, 0.5, 1.0):
                most = profile(np.array([square]), np.array([epsilon]))[0]
                for one, two in ((first, second), (second, first)):
                    truth = np.maximum(one - math.exp(epsilon) * two, 0).sum() * (grid[1] - grid[0])
                    assert truth <= most + 1e-6
                    compared += 1
    assert compared >= 150
