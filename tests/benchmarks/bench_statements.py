"""Claims: certified sampled Gaussian at most 2 times dp-accounting's float; shuffle and recursion close to plain NumPy.

Run with `python -m pytest -n 0 tests/benchmarks/bench_*.py`.
"""

from __future__ import annotations

import dp_accounting
import numpy as np
from dp_accounting.rdp import rdp_privacy_accountant

from hsdp_symbolic import Setting, statement
from tests.benchmarks.bench_numeric import best_of

ORDERS = list(range(2, 65))


def report(benchmark, claim, ratio, limit):
    print(f"\n{claim}: {ratio:.2f} (at most {limit})")
    benchmark.extra_info[claim] = ratio
    assert ratio <= limit


def test_certified_sampled_gaussian(benchmark, figure_run):
    found = statement("mironov2019")

    def ours():
        return [found.upper(figure_run, alpha=order) for order in ORDERS]

    def theirs():
        accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
        event = dp_accounting.PoissonSampledDpEvent(0.04, dp_accounting.GaussianDpEvent(10.0))
        return accountant.compose(event, 1000)._rdp

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-10)
    mine, other = best_of(10, ours, theirs)
    report(benchmark, "certified orders 2..64 / dp-accounting", mine / other, 2)
    benchmark.pedantic(ours, rounds=3)


def test_shuffle(benchmark, figure_run):
    found = statement("thm:shuffle")
    alpha, K = np.linspace(2, 65, 64)[:, None], np.arange(1, 1001)

    def ours():
        return found.numeric(figure_run, alpha=alpha, K=K)

    def by_hand():
        log_q, rho, number, half = np.log1p(-0.02), 0.005, 25, 12
        rest = number - half
        j = np.arange(1, number + 1)
        first_epoch = np.exp(2 * (j - 1) * log_q) * np.expm1(2 * log_q) / np.expm1(2 * j * log_q) * rho
        x = (alpha - 1) * alpha * first_epoch
        last = np.log1p(np.expm1(x).mean(axis=1, keepdims=True)) / (alpha - 1)
        return alpha * first_epoch[half - 1] * np.expm1(2 * rest * (K - 1) * log_q) / np.expm1(2 * rest * log_q) + last

    np.testing.assert_allclose(ours(), by_hand(), rtol=1e-12)
    mine, other = best_of(20, ours, by_hand)
    benchmark.pedantic(ours, rounds=3)
    report(benchmark, "thm:shuffle, 64 orders x 1000 epochs / NumPy", mine / other, 3)


def test_certified_shuffle_with_many_batches(benchmark):
    """n/b = 10⁴: a certified bound against plain float64 NumPy."""
    run = Setting(n=20_000, b=2, K=40, eta="0.0002", lam=1, beta=4, sigma=2, S_g=4)
    found, alpha, rho = statement("thm:shuffle"), 15, 0.0002 * 16 / (4 * 4 * 4)

    def by_hand():
        log_q, number, half = np.log1p(-0.0002), 10_000, 5_000
        j = np.arange(1, number + 1)
        first_epoch = np.exp(2 * (j - 1) * log_q) * np.expm1(2 * log_q) / np.expm1(2 * j * log_q) * rho
        last = np.log1p(np.expm1((alpha - 1) * alpha * first_epoch).mean()) / (alpha - 1)
        epochs = np.expm1(2 * half * 39 * log_q) / np.expm1(2 * half * log_q)
        return alpha * first_epoch[half - 1] * epochs + last

    np.testing.assert_allclose(found.upper(run, alpha=alpha), by_hand(), rtol=1e-12)
    mine, other = best_of(20, lambda: found.upper(run, alpha=alpha), by_hand)
    benchmark.pedantic(lambda: found.upper(run, alpha=alpha), rounds=3)
    report(benchmark, "certified thm:shuffle, n/b = 10^4 / NumPy", mine / other, 30)


def recursion_by_hand(alpha, steps, rate, rho, decay):
    s = np.zeros_like(alpha)
    hit = rate * np.expm1(alpha * (alpha - 1) * rho)
    for _ in range(steps):
        s += np.log1p(hit + (1 - rate) * np.expm1(-decay * s))
    return s / (alpha - 1)


def test_recursion_that_does_not_settle(benchmark):
    """10⁶ steps of 64 orders with ηλ so small that nothing converges."""
    found, alpha = statement("thm:amp_samp_wo_replacement"), np.linspace(2, 12, 64)
    run = Setting(n=10**5, b=1, K=10, eta="1e-7", lam=1, beta=1, sigma="1e-2", S_g=1)
    rho = float(run["eta"]) / (4 * 1e-4)
    mine, other = best_of(
        1,
        lambda: found.numeric(run, alpha=alpha),
        lambda: recursion_by_hand(alpha, 10**6, 1e-5, rho, 1e-7 * (2 - 1e-7)),
    )
    benchmark.pedantic(lambda: None, rounds=1)
    report(benchmark, "recursion, 64 orders x 10^6 steps / NumPy loop", mine / other, 2)


def test_recursion_that_settles(benchmark, figure_run):
    """The same number of steps at the figure setting, where it settles after a few thousand."""
    found, alpha = statement("thm:amp_samp_wo_replacement"), np.linspace(2, 12, 64)
    mine, other = best_of(
        1,
        lambda: found.numeric(figure_run, alpha=alpha, K=40_000),
        lambda: recursion_by_hand(alpha, 10**6, 0.04, 0.005, 0.0396),
    )
    report(benchmark, "recursion that settles, 10^6 steps / NumPy loop", mine / other, 0.5)
    benchmark.pedantic(lambda: None, rounds=1)
