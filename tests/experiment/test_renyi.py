"""Rényi divergence of exact laws, and its estimators."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import ArgumentError, NoEstimate
from hsdp_symbolic.experiment.attack import (
    FIGURE,
    Instance,
    divergence,
    law,
)
from hsdp_symbolic.experiment.bound_and_truth import bound_and_truth
from hsdp_symbolic.experiment.losses import Huber, Quadratic
from hsdp_symbolic.experiment.renyi import (
    Mixture,
    from_samples,
    gaussian_divergence,
    grid_divergence,
    mixture_divergence,
    plug_in,
    rao_blackwell,
)
from hsdp_symbolic.experiment.simulate import Chains, Experiment, simulate

LOSS = Quadratic(1.0, 4.0)
SHAPE = {"eta": 0.02, "sigma": 2.0}


def experiment(scheme="fixed", *, n=10, b=2, K=3, loss=LOSS, index=0, **changes):
    b = n if scheme == "full_batch" else b
    return Experiment(loss, np.zeros(n), 4.0, b=b, K=K, scheme=scheme, index=index, **{**SHAPE, **changes})


class TestExactLaws:
    @pytest.mark.smoke
    def test_the_quadratic_loss_at_the_figure_setting(self, figure_run):
        exact = statement("exact:fixed_order")
        assert exact.upper(figure_run, alpha=15, j0=0) == pytest.approx(0.00716216689487596, rel=1e-14)
        assert exact.upper(figure_run, alpha=15, j0=24) == pytest.approx(0.0188882970273455, rel=1e-14)
        for place in (0, 7, 24):
            instance = Instance("fixed", (Fraction(1),) * 25, place)
            assert divergence(instance, figure_run, 15).lo == exact.exact(figure_run, alpha=15, j0=place)
        full = Instance("full_batch", (Fraction(1),))
        assert divergence(full, figure_run, 15).lo == statement("exact:full_batch").exact(figure_run, alpha=15)

    def test_shuffled_once_at_the_figure_setting(self, figure_run):
        first, second = law(Instance("shuffle", (Fraction(1),) * 25), figure_run)
        both = [mixture_divergence(15, *pair) for pair in ((first, second), (second, first))]
        assert both[0].decimals(12)[0] == "0.0118855753777"
        assert both[1].decimals(11)[0] == "0.011874043099"
        assert both[0].overlaps(mixture_divergence(15, first, second, rtol="1e-9", engine="mpmath"))

    def test_mixtures_against_mpmath_quadrature(self):
        rng = random.Random(11)
        for _ in range(12):
            order = rng.choice([Fraction(2), Fraction(5, 2), Fraction(31, 10), Fraction(12)])
            sides = []
            for _ in range(2):
                count = rng.randint(1, 4)
                weights = [rng.randint(1, 9) for _ in range(count)]
                means = [Fraction(rng.randint(-80, 80), 100) for _ in range(count)]
                sides.append(Mixture.of(means, "0.7", [Fraction(w, sum(weights)) for w in weights]))
            found = mixture_divergence(order, *sides, rtol="1e-15")

            with mpmath.workdps(30):
                exact = [
                    [
                        (mpmath.mpf(w.numerator) / w.denominator, mpmath.mpf(m.numerator) / m.denominator)
                        for w, m in s.parts
                    ]
                    for s in sides
                ]
                deviation = mpmath.sqrt(mpmath.mpf(7) / 10)
                power = mpmath.mpf(order.numerator) / order.denominator

                def integrand(x, exact=exact, deviation=deviation, power=power):
                    p, q = (sum(w * mpmath.npdf(x, m, deviation) for w, m in side) for side in exact)
                    return p**power * q ** (1 - power)

                truth = mpmath.log(mpmath.quad(integrand, list(range(-24, 25, 2)))) / (power - 1)
                assert mpmath.mpf(found.lo.numerator) / found.lo.denominator - 1e-18 <= truth
                assert truth <= mpmath.mpf(found.hi.numerator) / found.hi.denominator + 1e-18

    def test_equal_mixtures_and_refusals(self):
        one = Mixture.of([0, 1], 1)
        assert mixture_divergence(2, one, one).hi == 0
        for bad in ({"alpha": 1}, {"alpha": "nan"}):
            with pytest.raises(ArgumentError):
                mixture_divergence(bad["alpha"], one, Mixture.of([0], 1))
        with pytest.raises(ArgumentError, match="one variance"):
            mixture_divergence(2, one, Mixture.of([0], 2))
        with pytest.raises(ArgumentError, match="add up to 1"):
            Mixture.of([0, 1], 1, [Fraction(1, 2), Fraction(1, 3)])

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "full_batch"])
    def test_the_grid_agrees_with_the_exact_law(self, scheme):
        run = Setting(n=10, b=2, K=3, eta="0.02", lam=1, beta=1, sigma=2, S_g=4)
        batches = 1 if scheme == "full_batch" else 5
        exact = divergence(Instance(scheme, (Fraction(1),) * batches, 0), run, 15)
        found = grid_divergence(experiment(scheme), 15)
        assert found.value == pytest.approx(float(exact.hi), rel=1e-9)
        assert found.error < 1e-9

    def test_the_grid_agrees_with_enumeration_for_random_batches(self):
        """Sampling and reshuffling: all histories of a short run are enumerated as a mixture."""
        q, jump, noise = Fraction(49, 50), Fraction(1, 50) * 4 / 2, 2 * Fraction(1, 50) * 4
        variance = noise * sum(q ** (2 * s) for s in range(4))
        for scheme, rate in (("without_replacement", Fraction(1, 2)), ("reshuffle", None)):
            parts = []
            for history in range(16):
                hits = [(history >> t) & 1 for t in range(4)]
                if scheme == "reshuffle" and (sum(hits[:2]), sum(hits[2:])) != (1, 1):
                    continue
                weight = Fraction(1, 16) if rate else Fraction(1, 4)
                parts.append((weight, sum(jump * q ** (3 - t) * hit for t, hit in enumerate(hits))))
            mixed, plain = Mixture(tuple(parts), variance), Mixture.of([0], variance)
            exact = max(float(mixture_divergence(3, *pair).hi) for pair in ((mixed, plain), (plain, mixed)))
            assert grid_divergence(experiment(scheme, n=4, b=2, K=2), 3).value == pytest.approx(exact, rel=1e-9)

    @pytest.mark.parametrize(("order", "sensitivity"), [(3, 1), (30, 1), (30, 2), (50, 10), (200, 1)])
    def test_the_grid_is_right_or_refuses_at_high_orders(self, order, sensitivity):
        run = Setting(n=2, b=1, K=1, eta="0.9", lam=1, beta=1, sigma=1, S_g=sensitivity)
        q, jump = Fraction(1, 10), Fraction(9, 10) * sensitivity
        variance = 2 * Fraction(9, 10) * (1 + q**2)
        mixed = Mixture.of([0, jump, q * jump, (1 + q) * jump], variance)
        plain = Mixture.of([0], variance)
        exact = max(float(mixture_divergence(order, *pair).hi) for pair in ((mixed, plain), (plain, mixed)))
        assert float(statement("thm:amp_samp_wo_replacement").upper(run, alpha=order)) >= exact
        trial = Experiment(
            Quadratic(1.0, float(sensitivity)),
            np.zeros(2),
            sensitivity,
            eta=0.9,
            sigma=1.0,
            b=1,
            K=1,
            scheme="without_replacement",
        )
        try:
            found = grid_divergence(trial, order)
        except NoEstimate:
            assert order * sensitivity > 30
        else:
            assert found.value == pytest.approx(exact, rel=1e-6)

    def test_scales_do_not_matter(self):
        wide, narrow = (
            mixture_divergence("2.5", Mixture.of([0, scale], scale**2), Mixture.of([0], scale**2))
            for scale in (Fraction(1), Fraction(1, 10**12))
        )
        assert wide.overlaps(narrow)
        assert mixture_divergence(2, Mixture.of([0, 1], 1), Mixture.of([1, 0], 1)).hi == 0
        assert mixture_divergence(2, Mixture.of([0, 0], 1), Mixture.of([0], 1)).hi == 0
        with pytest.raises(ArgumentError, match="at least one"):
            Mixture.of([], 1)


def pair(run, chains, seed):
    return [simulate(run, chains, neighbour=neighbour, seed=seed, centres=True) for neighbour in (True, False)]


class TestEstimators:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_a_million_chains_cover_the_exact_value(self, seed):
        run = Setting(n=50, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        exact = float(statement("exact:fixed_order").upper(run, alpha=2, j0=24))
        chains = pair(experiment(n=50, K=2, index=48), 10**6, seed)
        for found in (
            plug_in(*chains, 2, level=0.999),
            rao_blackwell(*chains, 2, experiment().noise, level=0.999),
            from_samples(*chains, 2, level=0.999),
        ):
            assert exact in found
            assert found.high - found.low < 1.3 * exact

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["plug_in", "rao_blackwell", "samples"])
    def test_coverage(self, method):
        """200 repetitions at 95 %: between 180 and 199 intervals cover (binomial, one in a thousand outside)."""
        run = Setting(n=4, b=2, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        trial = Experiment(Quadratic(1.0, 1.0), np.zeros(4), 1.0, eta=0.5, sigma=1.0, b=2, K=1, index=2)
        exact, covered = float(statement("exact:fixed_order").upper(run, alpha=2, j0=1)), 0
        for seed in range(200):
            chains = pair(trial, 20_000, seed)
            if method == "plug_in":
                found = plug_in(*chains, 2)
            elif method == "samples":
                found = from_samples(*chains, 2)
            else:
                found = rao_blackwell(*chains, 2, trial.noise)
            covered += exact in found
        assert 180 <= covered <= 199

    def test_a_loss_without_known_law(self):
        run = Experiment(Huber(1.0, 3.0, 0.5), np.ones(4), -1.0, eta=0.1, sigma=1.0, b=2, K=3)
        exact = grid_divergence(run, 2)
        chains = pair(run, 200_000, 4)
        assert exact.error < 1e-2 * exact.value
        assert exact.value in rao_blackwell(*chains, 2, run.noise, level=0.999)

    @pytest.mark.parametrize("sensitivity", [4, 8])
    def test_rare_large_shifts_are_covered_or_refused(self, sensitivity):
        """One chain in a hundred is far off: an estimate that cannot see it must not pretend to."""
        run = Setting(n=100, b=1, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=sensitivity)
        outcomes = []
        for seed in range(10):
            try:
                found = bound_and_truth("thm:shuffle", run, alpha=3, samples=20_000, seed=seed)
            except NoEstimate:
                outcomes.append(True)
            else:
                outcomes.append(found.ci[0] <= found.exact <= found.ci[1])
        assert sum(outcomes) >= 8

    def test_a_gap_between_two_clouds_is_noticed(self):
        rng = np.random.default_rng(0)
        apart = np.where(rng.random(20_000) < 0.5, -15.0, 15.0)
        mixed = np.where(rng.random(20_000) < 0.05, 0.0, apart)
        chains = [
            Chains(side[:, None] + rng.normal(size=(20_000, 1)), side[:, None], 20_000) for side in (mixed, apart)
        ]
        with pytest.raises(NoEstimate):
            rao_blackwell(*chains, 2, 1.0)

    def test_a_mixture_is_no_gaussian(self):
        with pytest.raises(ArgumentError, match="not Gaussian"):
            bound_and_truth("thm:shuffle", FIGURE.replace(K=1), alpha=2, method="plug_in")

    def test_high_orders_are_refused_not_guessed(self):
        run = Experiment(Quadratic(1.0, 40.0), np.zeros(2), 40.0, eta=0.5, sigma=1.0, b=2, K=2, scheme="full_batch")
        chains = pair(run, 5000, 0)
        for estimate in (lambda: rao_blackwell(*chains, 60, run.noise), lambda: from_samples(*chains, 60)):
            with pytest.raises(NoEstimate):
                estimate()
        with pytest.raises(NoEstimate, match="infinite"):
            gaussian_divergence(10, 0, 2, 0, 1)

    def test_bad_input(self):
        few = Chains(np.zeros((10, 1)), None, 10)
        wide = Chains(np.zeros((5000, 2)), None, 5000)
        flat = Chains(np.random.default_rng(0).normal(size=(5000, 1)), None, 5000)
        for chains, options, error in (
            (few, {}, NoEstimate),
            (wide, {}, NoEstimate),
            (flat, {"alpha": 1}, ArgumentError),
            (flat, {"level": 95}, ArgumentError),
        ):
            with pytest.raises(error):
                from_samples(chains, chains, **{"alpha": 2, **options})
        with pytest.raises(ArgumentError, match="centres"):
            rao_blackwell(flat, flat, 2, 1.0)
