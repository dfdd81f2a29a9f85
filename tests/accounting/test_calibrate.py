"""Calibration: what it finds never misses the target."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from hsdp_symbolic import HsdpError
from hsdp_symbolic.accounting import (
    Unreachable,
    calibrate,
    epsilon,
    scalar,
    training_run,
)

NAN = math.nan


def draw_target(rng, records, schemes):
    """A run without its noise, and a target."""

    def log_uniform(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    n = rng.choice(records)
    size = rng.choice([1, 2, n // 25, n // 7])
    run = {"n": n, "batch_size": size, "epochs": rng.randint(1, 60), "learning_rate": "0.05", "weight_decay": "0.5"}
    run |= {"loss": scalar(feature_norm=1, curvature="3.5", bias=False), "max_grad_norm": 1, "leftover": "dropped"}
    scheme = rng.choice(schemes)
    if scheme == "full_batch":
        run["batch_size"] = n
    target = Fraction(f"{log_uniform(0.01, 20):.6g}")
    return run, scheme, target, Fraction(f"{log_uniform(1e-12, 1e-2):.3g}")


QUICK = ["fixed", "shuffle", "reshuffle", "full_batch"]


def check_calibrations(count, seed, records, schemes):
    rng = random.Random(seed)
    for number in range(count):
        run, scheme, target, probability = draw_target(rng, records, schemes)
        options = {"delta": probability, "scheme": scheme, "effort": "normal" if number % 10 == 0 else "quick"}
        found = calibrate(target_epsilon=target, **options, **run)
        again = epsilon(training_run(noise_multiplier=float(found.value), **run), **options)
        assert again.epsilon == found.guarantee.epsilon  # what is printed is what was certified
        assert again.epsilon <= target
        grid = min(again.epsilon - again.lower, 1e-3 * again.epsilon)  # of privacy losses, if there is one
        assert float(target) - again.epsilon <= max(1e-6 * min(1, target), grid)
        a_little = Fraction(1, 1000) if grid < 1e-6 * again.epsilon else Fraction(1, 50)
        less = epsilon(training_run(noise_multiplier=found.value * (1 - a_little), **run), **options)
        assert less.epsilon > target


@pytest.mark.parametrize(
    ("count", "seed", "records", "schemes"),
    [
        (6, 10, (50, 1000, 60000), QUICK),
        pytest.param(100, 5, (50, 1000), QUICK, marks=pytest.mark.slow),
        pytest.param(2, 6, (50, 60000), ["poisson"], marks=pytest.mark.slow),
        pytest.param(1000, 4, (50, 1000), [*QUICK, "poisson", "without_replacement"], marks=pytest.mark.nightly),
    ],
    ids=["few", "many", "sampled", "very many"],
)
def test_calibrated_noise_never_misses(count, seed, records, schemes):
    check_calibrations(count, seed, records, schemes)


def test_calibrating_epochs(figure_run):
    run = {"noise_multiplier": 2, "sample_rate": "0.1"}
    found = calibrate(target_epsilon=1, delta="1e-5", scheme="poisson", solve_for="K", **run)
    assert found.guarantee.epsilon <= 1
    assert epsilon(training_run(epochs=found.value + 1, **run), delta="1e-5", scheme="poisson").epsilon > 1
    assert found.monotone
    assert not found.every
    forever = calibrate(figure_run, target_epsilon=1, delta="1e-5", scheme="shuffle", solve_for="K")
    assert (forever.every, forever.value) == (True, 10**30)


def test_calibrating_convexity(figure_run, only):
    only("thm:shuffle", "composition:fixed")
    found = calibrate(figure_run, target_epsilon="0.4", delta="1e-5", scheme="shuffle", solve_for="lam")
    assert 0.4 - 1e-6 <= found.guarantee.epsilon <= 0.4
    assert (
        epsilon(figure_run.replace(lam=found.value * Fraction(99, 100)), delta="1e-5", scheme="shuffle").epsilon > 0.4
    )
    with pytest.raises(Unreachable, match=r"the best is epsilon = 0\.29"):
        calibrate(figure_run, target_epsilon="0.2", delta="1e-5", scheme="shuffle", solve_for="lam")
    with pytest.raises(HsdpError, match="met without strong convexity"):
        calibrate(figure_run, target_epsilon="5", delta="1e-5", scheme="shuffle", solve_for="lam")


def test_calibrating_the_batch_size():
    run = {"noise_multiplier": "1.1", "n": 40, "epochs": 3}
    found = calibrate(target_epsilon=3, delta="1e-5", scheme="poisson", solve_for="b", **run)
    assert found.guarantee.epsilon <= 3
    assert not found.monotone
    for size in range(found.value + 1, 41):
        assert epsilon(training_run(batch_size=size, **run), delta="1e-5", scheme="poisson").epsilon > 3
    with pytest.raises(Unreachable):
        calibrate(target_epsilon="1e-4", delta="1e-5", scheme="poisson", solve_for="b", **run)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_epsilon": 0}, "no noise reaches 0"),
        ({"target_epsilon": -1}, "not negative"),
        ({"target_epsilon": NAN}, "not a finite number"),
        ({"delta": 0}, "no finite epsilon holds"),
        ({"solve_for": "eta"}, "cannot be solved for"),
        ({"solve_for": "sigma"}, "needs a Setting"),
        ({"noise_multiplier": 1}, "is what is solved for"),
        ({"solve_for": "K", "noise_multiplier": 1}, "leave out steps"),
    ],
)
def test_calibration_refuses(options, message):
    given = {"target_epsilon": 1, "delta": "1e-5", "scheme": "poisson", "sample_rate": "0.01", "steps": 100}
    with pytest.raises(HsdpError, match=message):
        calibrate(**{**given, **options})
