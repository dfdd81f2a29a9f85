"""Claims: a warm `epsilon()` certifies the best of 64 orders in under 50 ms; `hsdp epsilon` answers in under 1.5 s.

Where the best bound is a dynamic programme: 1.5 s warm and 3 s from a cold start; to calibrate, 20 s.

With a learning rate of its own in every step, which a function is called for: 10 s for 10^5 steps, 60 s for 10^6.

Processor time is what counts, so that a busy machine does not decide; on an idle one it is the wall-clock time.
Run with `python -m pytest -n 0 tests/benchmarks/bench_*.py`.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import calibrate, epsilon, logistic, training_run

FIGURE = {"n": 50, "b": 2, "K": 40, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


@pytest.mark.parametrize("orders", [range(2, 66), None], ids=["64 orders", "all orders"])
def test_warm_epsilon(benchmark, figure_run, orders):
    def ours():
        return epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=orders)

    def timed():
        started = time.process_time()
        ours()
        return time.process_time() - started

    seconds = min(timed() for _ in range(10))
    print(f"\nwarm epsilon(): {seconds * 1e3:.1f} ms (at most 50)")
    benchmark.extra_info["ms"] = seconds * 1e3
    assert seconds < 0.05
    benchmark.pedantic(ours, rounds=3)


@pytest.mark.parametrize("scheme", ["reshuffle", "without_replacement"])
def test_warm_programme(benchmark, figure_run, scheme):
    sigmas = iter(range(10, 100))

    def ours():
        """A new noise every time, so that nothing certified is remembered."""
        run = figure_run.replace(sigma=f"{next(sigmas)}/5")
        started = time.process_time()
        epsilon(run, delta="1e-5", scheme=scheme)
        return time.process_time() - started

    seconds = min(ours() for _ in range(3))
    print(f"\nwarm epsilon(), {scheme}: {seconds:.2f} s (at most 1.5)")
    benchmark.extra_info["s"] = seconds
    assert seconds < 1.5
    benchmark.pedantic(ours, rounds=1)


@pytest.mark.parametrize("scheme", ["reshuffle", "without_replacement"])
def test_calibrate_a_programme(benchmark, scheme):
    run = Setting(**{name: value for name, value in FIGURE.items() if name != "sigma"})

    def ours():
        started = time.process_time()
        found = calibrate(run, target_epsilon=1, delta="1e-5", scheme=scheme, solve_for="sigma")
        assert found.guarantee.epsilon <= 1
        return time.process_time() - started

    seconds = ours()
    print(f"\ncalibrate(), {scheme}: {seconds:.1f} s (at most 20)")
    benchmark.extra_info["s"] = seconds
    assert seconds < 20
    benchmark.pedantic(ours, rounds=1)


@pytest.mark.parametrize(("steps", "most"), [(10**5, 10), (10**6, 60)], ids=["10^5 steps", "10^6 steps"])
@pytest.mark.parametrize("scheme", ["shuffle", "reshuffle"])
def test_a_cosine_schedule_by_step(benchmark, scheme, steps, most):
    def ours():
        started = time.process_time()
        run = training_run(
            n=60_000, batch_size=60, steps=steps, noise_multiplier=8, max_grad_norm=1, weight_decay="0.01",
            learning_rate=lambda t: 0.25 * (1.001 + math.cos(math.pi * t / steps)), loss=logistic(feature_norm=1),
        )  # fmt: skip
        assert epsilon(run, delta="1e-5", scheme=scheme).hidden_state
        return time.process_time() - started

    seconds = ours()
    print(f"\nepsilon(), {scheme}, {steps} learning rates: {seconds:.1f} s (at most {most})")
    benchmark.extra_info["s"] = seconds
    assert seconds < most
    benchmark.pedantic(lambda: None, rounds=1)


@pytest.mark.parametrize(
    ("scheme", "most"), [("shuffle", 1.5), ("fixed", 1.5), ("reshuffle", 3), ("without_replacement", 3)]
)
def test_command_line_from_a_cold_start(benchmark, scheme, most):
    options = [f"--{name}={value}" for name, value in FIGURE.items()]
    command = [sys.executable, "-m", "hsdp_symbolic", "epsilon", "--scheme", scheme, "--delta", "1e-5", *options]

    def used():
        times = os.times()
        return times.children_user + times.children_system

    def ours():
        started = used()
        subprocess.run(command, check=True, capture_output=True)
        return used() - started

    seconds = min(ours() for _ in range(5))
    print(f"\nhsdp epsilon --scheme {scheme}: {seconds:.2f} s (at most {most})")
    benchmark.extra_info["s"] = seconds
    assert seconds < most
    benchmark.pedantic(ours, rounds=1)
