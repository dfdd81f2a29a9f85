"""Claims: the sharper bounds cost about what the paper's cost, in every view.

Run with `python -m pytest -n 0 tests/benchmarks/bench_*.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from tests.benchmarks.bench_numeric import best_of

POINTS = 10**6


def _report(benchmark, what, ratio, limit):
    benchmark.extra_info[what] = ratio
    print(f"\n{what}: {ratio:.2f}")
    assert ratio <= limit


def test_numeric_on_a_million_points(benchmark, figure_run):
    """shift:cyclic against thm:strconvexsmooth on a grid of orders, epochs and batches."""
    rng = np.random.default_rng(0)
    points = {
        "alpha": rng.uniform(1.1, 100, POINTS),
        "K": rng.integers(1, 1000, POINTS),
        "j0": rng.integers(0, 25, POINTS),
    }
    ours, theirs = (
        lambda label=label: statement(label).numeric(figure_run, **points)
        for label in ("shift:cyclic", "thm:strconvexsmooth")
    )
    assert np.all(ours() <= theirs() * (1 + 1e-13))
    mine, other = best_of(5, ours, theirs)
    benchmark.pedantic(ours, rounds=3)
    _report(benchmark, "shift:cyclic / thm:strconvexsmooth, numeric, 10^6 points", mine / other, 4)


@pytest.mark.parametrize(
    ("ours", "theirs", "arguments"),
    [("shift:cyclic", "thm:strconvexsmooth", {"j0": 7}), ("shift:shuffle", "thm:shuffle", {})],
)
def test_certified(benchmark, figure_run, ours, theirs, arguments):
    mine, other = best_of(
        50,
        *(lambda label=label: statement(label).upper(figure_run, alpha=15, **arguments) for label in (ours, theirs)),
    )
    benchmark.pedantic(lambda: statement(ours).upper(figure_run, alpha=15, **arguments), rounds=3)
    _report(benchmark, f"{ours} / {theirs}, certified", mine / other, 4)


def test_certified_mean_over_many_batches(benchmark):
    """n/b = 10⁶, certified: a hundred times the batches cost a few times the time."""
    run = Setting(n=10**6, b=1, K=40, eta="1e-6", lam=1, beta=1, sigma="0.1", S_g=4)
    times = best_of(
        3,
        *(lambda size=size: statement("shift:shuffle").upper(run.replace(n=size), alpha=3) for size in (10**4, 10**6)),
    )
    benchmark.pedantic(lambda: None, rounds=1)
    _report(benchmark, "shift:shuffle certified, n/b = 10^6 / 10^4", times[1] / times[0], 12)
