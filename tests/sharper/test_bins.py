"""Balls in bins against exact laws of small runs, in both directions; and why permutations do not inherit it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import epsilon, training_run
from hsdp_symbolic.accounting.applicable import bounds_for
from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, HypothesisError
from hsdp_symbolic.functions.bin_moments import Bins
from hsdp_symbolic.functions.bins_divergence import _divergences
from hsdp_symbolic.functions.bins_seen import BinsSeen
from tests.sharper.bins_law import SmallRun, densities, hockey_stick, random_run, renyi

REMOVED, ADDED = 0, 1


def bounds(run: SmallRun, order: int, known: int, window: int) -> list[float]:
    """What is certified at an order: record removed, record added."""
    bins = Bins(run.count, Fraction(run.cost), Fraction(run.factor), known, window)
    engine = ENGINES["arb"](96)
    with engine.working():
        return [float(high) for _, high in _divergences(engine, bins, run.epochs, order - 1, 64, above=True)]


def ratios(seed: int, points: int, orders: tuple[int, ...], scale: float = 1.0) -> list[tuple[float, float]]:
    """Truth over bound, in both directions, at one choice of secret epochs and window for each order."""
    rng = np.random.default_rng([17, seed])
    run = random_run(rng, kinked=seed % 2 == 1)
    there, away, width = densities(run, points)
    assert abs(there.sum() * width - 1) < 1e-6
    found = []
    for order in orders:
        known = int(rng.integers(1, run.epochs + 1))
        certified = bounds(run, order, known, int(rng.integers(1, known * run.count + 1)))
        truth = renyi(there, away, width, order), renyi(away, there, width, order)
        found.append(tuple(x / (scale * y) for x, y in zip(truth, certified, strict=True)))
    return found


@cache
def tried() -> list[tuple[float, float]]:
    return [pair for seed in range(120) for pair in ratios(seed, 420, (2, 4))]


class TestExactSmallCases:
    def test_no_law_of_a_hundred_and_twenty_runs_is_above_its_bound(self):
        assert len(tried()) == 240
        assert max(map(max, tried())) < 1

    @pytest.mark.parametrize("direction", [REMOVED, ADDED])
    def test_control_a_bound_a_quarter_smaller_would_be_exceeded(self, direction):
        assert max(pair[direction] for pair in tried()) > 0.75

    def test_control_a_bound_that_forgets_the_told_epochs_would_be_exceeded(self):
        run = SmallRun(2, 3, 0.95, 0.01, 1.0, 4.0, 1e4, ((),) * 6)
        there, away, width = densities(run)
        assert renyi(there, away, width, 3) > bounds(replace(run, epochs=1), 3, 1, 2)[REMOVED]

    @pytest.mark.slow
    def test_many_more_runs(self):
        found = [pair for seed in range(1000, 1250) for pair in ratios(seed, 600, (2, 3, 5, 8))]
        assert max(map(max, found)) < 1

    @pytest.mark.parametrize("epochs", [1, 3])
    def test_profiles(self, epochs):
        """δ of exact laws, through the statement itself: n/b batches, no batch too large."""
        n, factor = 3, Fraction(1, 2)
        run = Setting(n=n, b=1, K=epochs, eta="0.5", lam=1, beta="1.25", sigma=2, S_g="1.5")
        law = SmallRun(n, epochs, float(factor), 0.01, 0.75, 4.0, 1e4, ((),) * (n * epochs))
        there, away, width = densities(law)
        for loss in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
            stated = statement("profile:balls_in_bins").delta(run, loss)
            truth = [hockey_stick(*pair, width, float(loss)) for pair in ((there, away), (away, there))]
            assert max(truth) <= stated.hi
            assert loss > 0.2 or max(truth) > stated.lo / 20


class TestOneEpochSeen:
    @pytest.mark.parametrize(("count", "mu", "order"), list(product((2, 3), ("0.3", "1"), (2, 3, 5))))
    def test_removed_is_exact(self, count, mu, order):
        """E over copies of the place of e^(μ²·(pairs in one place)), by enumeration."""
        cost = Fraction(mu) ** 2
        total = sum(
            math.exp(float(cost) * sum(math.comb(places.count(place), 2) for place in range(count)))
            for places in product(range(count), repeat=order)
        )
        removed = math.log(total / count**order) / (order - 1)
        added = float(cost) / 2 * (order + count - 1) / count
        for engine in ENGINES:
            run = Setting(n=count, b=1, K=1, eta=1, sigma=1, S_g=Fraction(mu), lam=None, beta=None)
            found = statement("composition:balls_in_bins").enclose(
                run.replace(sigma_squared=Fraction(1, 2)), alpha=order, engine=engine
            )
            assert float(found.hi) == pytest.approx(max(removed, added), rel=1e-13)
        assert float(BinsSeen.array(count, cost, order - 1)) == pytest.approx(max(removed, added), rel=1e-9)

    def test_an_order_that_is_not_whole_is_that_of_the_next(self):
        run = Setting(n=4, b=1, K=2, eta=1, sigma=1, S_g=1)
        found = statement("composition:balls_in_bins")
        assert found.enclose(run, alpha="2.3") == found.enclose(run, alpha=3)

    def test_all_epochs_secret_is_composition(self):
        run = Setting(n=20, b=2, K=3, eta="0.1", lam=1, beta="1.5", sigma=1, S_g=1)
        secret = statement("secret:balls_in_bins").enclose(run, alpha=5, known=3, window=30)
        seen = statement("composition:balls_in_bins").enclose(run, alpha=5)
        assert float(secret.hi) == pytest.approx(float(seen.hi), rel=1e-9)


class TestValues:
    """ε(1e-5), each no larger than what was known to be possible."""

    def test_figure_setting(self):
        run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=2)
        found = statement("profile:balls_in_bins").epsilon(run, "1e-5")
        assert 0.0727 < found.lo <= found.hi < 0.0729

    def test_every_choice_is_a_bound_and_no_window_may_be_longer_than_what_is_secret(self):
        run = Setting(n=50, b=2, K=4, eta="0.02", lam=1, beta=4, sigma=2, S_g=2)
        found = statement("secret:balls_in_bins")
        assert found.enclose(run, alpha=4, known=1, window=9).hi > 0
        with pytest.raises(HypothesisError, match="window"):
            found.enclose(run, alpha=4, known=1, window=26)
        with pytest.raises(HypothesisError, match="known"):
            found.enclose(run, alpha=4, known=5, window=9)

    def test_engines_overlap(self):
        run = Setting(n=12, b=2, K=5, eta="0.1", lam=1, beta="1.5", sigma=1, S_g=1)
        found = statement("secret:balls_in_bins")
        one, other = (found.enclose(run, alpha=6, known=2, window=9, engine=name) for name in ENGINES)
        assert one.overlaps(other)


class TestPermutationsDoNotInheritIt:
    """Where the other record moves when the record moves, the bound is false."""

    MU, EPSILON = 0.3, 0.5

    def normal(self, first: float, second: float) -> np.ndarray:
        grid = np.linspace(-7, 7, 701)
        x, y = np.meshgrid(grid, grid)
        return np.exp(-((x - first) ** 2 + (y - second) ** 2) / 2) / (2 * math.pi) * (grid[1] - grid[0]) ** 2

    def delta(self, first: np.ndarray, second: np.ndarray) -> float:
        return float(np.maximum(first - math.exp(self.EPSILON) * second, 0.0).sum())

    def test_two_records_in_two_batches(self):
        mu = self.MU
        there = (self.normal(mu, 0) + self.normal(0, mu)) / 2
        nothing = self.normal(0, 0)
        bins = max(self.delta(there, nothing), self.delta(nothing, there))
        assert bins == pytest.approx(0.000943, rel=1e-2)
        # Two records whose gradients are opposite, each in a batch of its own: one of them is zeroed out.
        there = (self.normal(mu, -mu) + self.normal(-mu, mu)) / 2
        without = (self.normal(0, -mu) + self.normal(-mu, 0)) / 2
        permuted = self.delta(there, without)
        assert permuted == pytest.approx(0.0022, rel=1e-2)
        assert permuted > 2 * bins

    def test_nothing_is_said_of_them_where_batches_are_no_permutations(self):
        run = training_run(noise_multiplier=4, n=100, batch_size=10, epochs=3)
        for scheme in ("fixed", "without_replacement"):
            found = epsilon(run, delta="1e-5", scheme=scheme)
            assert not any("balls_in_bins" in entry.label for entry in found.considered)

    def test_the_account_says_so(self):
        run = training_run(noise_multiplier=4, n=100, batch_size=10, epochs=3)
        found = epsilon(run, delta="1e-5", scheme="balls_in_bins")
        assert any("permutations of the records do not do that" in each for each in found.assumptions)
        assert found.neighbouring == "add_remove"

    @pytest.mark.parametrize("scheme", ["shuffle", "reshuffle"])
    def test_nobody_uses_it_for_them(self, scheme):
        run = training_run(noise_multiplier=4, n=100, batch_size=10, epochs=3)
        found = epsilon(run, delta="1e-5", scheme=scheme)
        (entry,) = (entry for entry in found.considered if "balls_in_bins" in entry.label)
        assert (entry.verdict, entry.value) == ("does not apply", None)
        assert "another makes room for one that moves" in entry.reason
        with pytest.raises(
            ArgumentError, match=r"other records\); use replace_one.*, or scheme poisson or balls_in_bins"
        ):
            epsilon(run, delta="1e-5", scheme=scheme, neighbouring="add_remove")
        with pytest.raises(ArgumentError, match="neighbouring"):
            epsilon(run, delta="1e-5", scheme="balls_in_bins", neighbouring="replace_one")


@pytest.mark.parametrize("relation", ["add_remove", "zero_out"])
def test_sums_divided_by_each_batch_s_own_size_are_refused(relation):
    run = training_run(noise_multiplier=4, n=100, batch_size=10, epochs=3, divisor="actual")
    with pytest.raises(ArgumentError, match="divisor"):
        epsilon(run, delta="1e-5", scheme="balls_in_bins", neighbouring=relation)


def test_what_the_refusal_is_for():
    """Two records, one without gradient, and two batches, each divided by its own size; an empty one makes no step.

    It is seen if both are in one batch, and then in which: with a chance of 1/2 nothing is mixed.
    """
    loud, mixed = math.exp(1), (math.exp(1) + 1) / 2  # exp(R_2) for a distance of one standard deviation
    exact = math.log(loud / 2 + mixed / 2)
    run = training_run(noise_multiplier=1, n=2, batch_size=1, epochs=1)
    (bound,) = bounds_for(run, "balls_in_bins", "zero_out").bounds
    claimed = bound.enclose(Fraction(2))
    assert math.log(mixed) <= claimed.lo <= claimed.hi < exact
