"""The best shifts for a pattern are never below an exact law."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.experiment.hit_patterns import patterns, quadratic_law
from hsdp_symbolic.experiment.renyi import mixture_divergence
from hsdp_symbolic.functions.convex_minorant import pattern_exact


class TestAgainstExactLaws:
    def test_every_pattern_bounds_its_gaussian(self):
        """Given the pattern, quadratic descent is Gaussian: R_α/α = (Σ P·s·hit)²/(2Σ v·P²), attained without zeros."""
        rng, attained = random.Random(12), 0
        for _ in range(300):
            steps, q = rng.randint(1, 10), Fraction(rng.randint(1, 20), 20)
            hits = [rng.randint(0, 1) for _ in range(steps)]
            weights = [q ** (steps - 1 - t) for t in range(steps)]
            exact = sum(w for w, hit in zip(weights, hits, strict=True) if hit) ** 2 / (2 * sum(w * w for w in weights))
            bound = pattern_exact(hits, q=q)
            assert bound >= exact
            attained += bound == exact > 0
        assert attained > 20

    def test_the_mean_over_patterns_bounds_the_mixture(self):
        """What both kinds of statement rest on: joint convexity over patterns, and the minorant for each."""
        rng = random.Random(13)
        for scheme in ("without_replacement", "reshuffle"):
            for _ in range(3):
                run = Setting(n=3, b=1, K=2, eta=Fraction(rng.randint(1, 9), 10), lam=1, beta=1, sigma=1, S_g=1)
                alpha = rng.randint(2, 5)
                rho, q = run["eta"] / 4, 1 - run["eta"]
                laws = quadratic_law(run, scheme, Fraction(1))
                truth = max(mixture_divergence(alpha, *pair, rtol="1e-9").lo for pair in (laws, laws[::-1]))
                mean = sum(
                    float(chance) * np.exp(alpha * (alpha - 1) * 2 * float(rho * pattern_exact(hits, q=q)))
                    for chance, hits in patterns(run, scheme)
                )
                assert np.log(mean) / (alpha - 1) >= float(truth)


def test_the_price_of_a_shift():
    run = Setting(n=50, b=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    assert statement("shift:pattern").exact(run, alpha=15, removed=2) == 15 * Fraction(1, 200) * 4
