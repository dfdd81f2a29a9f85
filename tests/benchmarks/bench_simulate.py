"""Claims: chains advance at 60 % of the generator's own speed under every scheme, and two cores give 1.7 times one.

Run with `python -m pytest -n 0 -s tests/benchmarks/bench_*.py`.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hsdp_symbolic.experiment.batches import SIMULATED
from hsdp_symbolic.experiment.losses import Quadratic
from hsdp_symbolic.experiment.simulate import CHAINS_AT_ONCE, Experiment, simulate

CHAINS, UPDATES = 16 * CHAINS_AT_ONCE, 250


def experiment(scheme):
    full = scheme == "full_batch"
    shape = {"eta": 0.02, "sigma": 2.0, "b": 50 if full else 2, "K": UPDATES if full else UPDATES // 25}
    return Experiment(Quadratic(1.0, 4.0), np.zeros(50), 4.0, scheme=scheme, **shape)


def raw_normals(jobs):
    """Normals per second of the generator alone, on so many threads."""

    def draw(number):
        rng, buffer = np.random.Generator(np.random.SFC64(number)), np.empty(CHAINS_AT_ONCE)
        for _ in range(UPDATES):
            rng.standard_normal(out=buffer)

    started = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(draw, range(CHAINS // CHAINS_AT_ONCE)))
    return CHAINS * UPDATES / (time.perf_counter() - started)


def updates_per_second(scheme, jobs):
    run = experiment(scheme)
    started = time.perf_counter()
    simulate(run, CHAINS, neighbour=True, jobs=jobs)
    return CHAINS * UPDATES / (time.perf_counter() - started)


@pytest.mark.parametrize("scheme", SIMULATED)
def test_speed(benchmark, scheme):
    pairs = [(updates_per_second(scheme, 2), raw_normals(2)) for _ in range(5)]
    share = max(mine / raw for mine, raw in pairs)
    benchmark.extra_info["share of the generator"] = share
    print(f"\n{scheme}: {share:.2f} of the generator's normals per second (at least 0.6)")
    benchmark.pedantic(lambda: None, rounds=1)
    assert share >= 0.6


def test_two_cores(benchmark):
    gains = [updates_per_second("shuffle", 2) / updates_per_second("shuffle", 1) for _ in range(5)]
    print(
        f"\ntwo threads / one: {max(gains):.2f} (at least 1.7), generator alone {raw_normals(2) / raw_normals(1):.2f}"
    )
    benchmark.pedantic(lambda: None, rounds=1)
    assert max(gains) >= 1.7
