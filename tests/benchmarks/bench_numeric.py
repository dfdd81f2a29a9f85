"""Claim: the NumPy view of a theorem costs at most 1.5 times hand-written, chunked NumPy on 10⁶ points.

Run with `python -m pytest -n 0 tests/benchmarks/bench_*.py`.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from hsdp_symbolic import statement

POINTS = 10**6


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return {
        "alpha": rng.uniform(1.1, 100, POINTS),
        "K": rng.integers(1, 1000, POINTS),
        "j0": rng.integers(0, 25, POINTS),
    }


def by_hand(alpha, K, j0, chunk=1 << 14):
    """Theorem 3.3 at the figure setting as one would write it: log1p and expm1, in pieces that fit the cache."""
    eta, lam, sigma, S_g, b, number = 0.02, 1.0, 2.0, 4.0, 2, 25
    half = number // 2
    rest, log_q = number - half, np.log1p(-eta * lam)
    cost = eta * S_g**2 / (4 * sigma**2 * b**2)
    first = cost * np.exp(2 * (half - 1) * log_q) * np.expm1(2 * log_q)
    first /= np.expm1(2 * half * log_q) * np.expm1(2 * rest * log_q)
    out = np.empty(len(alpha))
    for start in range(0, len(alpha), chunk):
        window = slice(start, start + chunk)
        j, epochs = number - j0[window].astype(float), K[window].astype(float)
        value = np.exp(2 * (j - 1) * log_q) * (cost * np.expm1(2 * log_q)) / np.expm1(2 * j * log_q)
        value += first * np.expm1((2 * rest * log_q) * (epochs - 1))
        out[window] = alpha[window] * value
    return out


def best_of(repetitions, *functions):
    """The least time of each function, taken in turns so that both see the same machine."""
    times = [[] for _ in functions]
    for _ in range(repetitions):
        for function, found in zip(functions, times, strict=True):
            started = time.perf_counter()
            function()
            found.append(time.perf_counter() - started)
    return [min(found) for found in times]


def test_numeric_view_against_hand_written_numpy(benchmark, figure_run, points):
    def view():
        return statement("thm:strconvexsmooth").numeric(figure_run, **points)

    np.testing.assert_allclose(view(), by_hand(**points), rtol=1e-14)
    ours, theirs = best_of(15, view, lambda: by_hand(**points))
    benchmark.extra_info["ratio to hand-written NumPy"] = ours / theirs
    benchmark.pedantic(view, rounds=5)
    print(f"\nnumeric view / hand-written NumPy on {POINTS:,} points: {ours / theirs:.2f}")
    assert ours / theirs <= 1.5


def test_hand_written_numpy(benchmark, points):
    benchmark.pedantic(lambda: by_hand(**points), rounds=5)


@pytest.mark.parametrize("label", ["thm:strconvexsmooth", "thm:convexsmooth", "thm:GD_baseline", "balle2019"])
def test_certified_against_float(benchmark, figure_run, label):
    """What a certificate costs over a scalar float evaluation of the same statement."""
    found = statement(label)
    arguments = {"alpha": 15, "j0": 24} if "j0" in found.needs else {"alpha": 15}
    certified, plain, other = best_of(
        200,
        lambda: found.upper(figure_run, **arguments),
        lambda: found.numeric(figure_run, **arguments),
        lambda: found.upper(figure_run, engine="mpmath", **arguments),
    )
    benchmark.extra_info.update({"certified / float": certified / plain, "mpmath / arb": other / certified})
    print(f"\n{label}: certified / float {certified / plain:.2f}, padded mpmath / arb {other / certified:.2f}")
    assert certified / plain <= 60
    benchmark(lambda: found.upper(figure_run, **arguments))
