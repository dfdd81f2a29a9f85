"""Claims: certified ε(δ) costs the same for any number of epochs, and less than in proportion for more batches.

Under every scheme, with K and N = n/b doubled again and again: the exponent of a power law fitted to the costs is
printed and bounded. Certified composition under Poisson sampling takes at most 10 times as long as dp-accounting's
accountant of privacy losses, or 1 s, and is within a thousandth of it.

Processor time is what counts, and a new noise every time, so that nothing certified is remembered.
Run with `python -m pytest -n 0 -s tests/benchmarks/bench_profiles.py`.
"""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import pld_privacy_accountant

from hsdp_symbolic.accounting import epsilon, scalar, training_run
from hsdp_symbolic.functions.poisson_profile import PoissonProfile
from tests.benchmarks.bench_statements import report

EPOCHS, BATCHES = (20, 40, 80, 160), (25, 50, 100, 200)
FIXED = {"epochs": 40, "batches": 25}
LIMITS = {
    "fixed": (0.3, 0.3),
    "shuffle": (0.3, 0.7),
    "reshuffle": (0.3, 0.7),
    "without_replacement": (0.3, 0.3),
    "poisson": (0.3, 0.3),
    "full_batch": (0.3, 0.3),
}
"""Exponents of the cost, at most: in the number of epochs, so in T, and in that of batches, N."""
NOISES = itertools.count(20_000)


def described(scheme, epochs, batches):
    """The setting of the figures, with more epochs or batches."""
    return training_run(
        n=2 * batches,
        batch_size=2 * batches if scheme == "full_batch" else 2,
        epochs=epochs,
        noise_multiplier=Fraction(next(NOISES), 1000),
        learning_rate="0.02",
        max_grad_norm=2,
        weight_decay=1,
        loss=scalar(feature_norm=1, curvature=3, bias=False),
    )


def cost(scheme, epochs, batches):
    run = described(scheme, epochs, batches)
    started = time.process_time()
    found = epsilon(run, delta="1e-5", scheme=scheme)
    seconds = time.process_time() - started
    return seconds, found.bound


def fitted(sizes, costs):
    """The exponent of the power law that is nearest, in logarithms."""
    return np.polyfit(np.log(sizes), np.log(costs), 1)[0]


@pytest.mark.parametrize("varied", ["epochs", "batches"])
@pytest.mark.parametrize("scheme", LIMITS)
def test_growth(benchmark, scheme, varied):
    sizes = EPOCHS if varied == "epochs" else BATCHES
    cost(scheme, **FIXED)  # what is derived once is derived now
    taken = []
    for size in sizes:
        tries = [cost(scheme, **FIXED | {varied: size})]
        while sum(seconds for seconds, _ in tries) < 0.3:
            tries.append(cost(scheme, **FIXED | {varied: size}))
        taken.append(min(tries))
    seconds = [best for best, _ in taken]
    ratios = ", ".join(f"{after / before:.2f}" for before, after in itertools.pairwise(seconds))
    print(f"\n{scheme}, {varied} {sizes}: {', '.join(f'{x:.3f}' for x in seconds)} s; ratios {ratios}")
    print(f"by {', '.join(sorted({bound for _, bound in taken}))}")
    limit = LIMITS[scheme][varied == "batches"]
    benchmark.pedantic(lambda: None, rounds=1)
    report(benchmark, f"{scheme}: exponent of the cost in {varied}", fitted(sizes, seconds), limit)


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "interval", "delta"),
    [
        ("1/25", 20, 1000, 1e-4, "1e-5"),
        ("1/100", 4, 2000, 1e-4, "1e-5"),
        ("1/1000", 20, 50_000, 1e-6, "1e-5"),
        ("1/1000", Fraction("0.8"), 5000, 1e-4, "1e-5"),  # a step has rare losses a thousand times the usual ones
        ("1/1000", Fraction("0.8"), 5000, 1e-4, "1e-8"),
        ("1/10000", 1, 100_000, 1e-5, "1e-5"),
    ],
)
def test_composition_against_dp_accounting(benchmark, rate, noise, steps, interval, delta):
    """Theirs on a grid of 1e-4, its default, or finer where losses of steps are smaller than that."""
    rate, delta = Fraction(rate), Fraction(delta)
    costs = (1 / Fraction(noise) ** 2 * (1 + Fraction(k, 10**9)) for k in itertools.count())

    def ours():
        """Both directions, to a thousandth; each time at a cost that is new, by next to nothing."""
        given = rate, next(costs), Fraction(steps)
        return PoissonProfile.solved("arb", delta, Fraction(1, 1000), *given)[1]

    def theirs():
        accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=interval)
        event = dp_accounting.PoissonSampledDpEvent(float(rate), dp_accounting.GaussianDpEvent(float(noise)))
        return accountant.compose(event, steps).get_epsilon(float(delta))

    def timed(function):
        started = time.process_time()
        found = float(function())
        return time.process_time() - started, found

    (mine, certified), (other, approximate) = (min(timed(function) for _ in range(2)) for function in (ours, theirs))
    assert certified == pytest.approx(approximate, rel=1e-3)
    print(f"\n{steps} steps at rate {rate}, noise {noise}: {mine:.2f} s certified, {other:.2f} s by dp-accounting")
    report(benchmark, "certified composition, seconds", mine, max(10 * other, 1))
    benchmark.pedantic(ours, rounds=1)
