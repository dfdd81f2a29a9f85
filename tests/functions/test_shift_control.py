"""The dynamic programme of controlled shifts: bracketed, against a plain one by hand."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.errors import ArgumentError, TooManySteps
from hsdp_symbolic.experiment.hit_patterns import patterns
from hsdp_symbolic.functions.convex_minorant import pattern_exact
from hsdp_symbolic.functions.shift_programme import Programme, bracket, grid


def by_hand(programme, resolution=400):
    """The value by brute force: a fine uniform grid of choices in every step, nearest from above (a few steps only)."""
    q, c = float(programme.q), float(programme.cost)
    z = np.linspace(0, float(programme.farthest), resolution + 1)
    value = np.where(z == 0, 0.0, np.inf)
    fresh = used = value

    def hidden(w, y):
        return min(c * max(y - b, 0) ** 2 + a for a, b in zip(w, z, strict=True) if b <= y + 1e-12)

    for _ in range(programme.epochs):
        used = fresh
        for batch in reversed(range(programme.batches)):
            p = float(programme.chance(batch))
            fresh, used = (
                np.array(
                    [
                        np.logaddexp(
                            math.log(p) + hidden(used, q * a + 1),
                            (math.log(1 - p) if p < 1 else -math.inf) + hidden(fresh, q * a),
                        )
                        for a in z
                    ]
                ),
                np.array([hidden(used, q * a) for a in z]),
            )
    return float(fresh[0])


class TestBracket:
    @pytest.mark.parametrize("batches", [1, 3])
    def test_brute_force_lies_inside(self, batches):
        rng = random.Random(batches)
        for _ in range(2):
            programme = Programme(
                Fraction(rng.randint(1, 30), 10),
                Fraction(rng.randint(5, 19), 20),
                Fraction(1, 4),
                batches,
                4 // batches,
            )
            found, rough = bracket(programme, 1e-4), by_hand(programme, 150)
            assert found.lo <= rough  # one policy among all
            assert rough <= found.hi * 1.01

    def test_random_programmes_have_brackets_that_agree_across_grids(self):
        rng, narrowest = random.Random(3), 1.0
        for _ in range(25):
            batches = rng.choice([1, 2, 5])
            programme = Programme(
                Fraction(repr(math.exp(rng.uniform(math.log(1e-40), math.log(1e4))))),
                1 - Fraction(repr(math.exp(rng.uniform(math.log(1e-9), math.log(0.99))))),
                Fraction(1, batches + rng.randint(0, 40)),
                batches,
                rng.choice([1, 2, 7, 40]),
            )
            coarse, fine = bracket(programme, 0.2), bracket(programme, 5e-3)
            assert coarse.lo <= coarse.hi
            assert fine.hi - fine.lo <= 5e-3 * fine.hi
            assert coarse.lo <= fine.hi
            assert fine.lo <= coarse.hi
            narrowest = min(narrowest, fine.lo / fine.hi)
        assert narrowest > 0.99

    @pytest.mark.smoke
    def test_one_step_is_known(self):
        programme = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 1)
        found = bracket(programme, 1e-3)
        truth = math.log1p(0.04 * math.expm1(1.05))
        assert found.lo == pytest.approx(truth, rel=1e-11)
        assert found.lo <= truth * (1 + 1e-15)
        assert found.hi >= truth * (1 - 1e-15)

    def test_certain_hits_are_the_minorant(self):
        """With every step a hit there is nothing to be guessed: control is the best pattern bound."""
        programme = Programme(Fraction(1, 2), Fraction(9, 10), Fraction(1), 1, 12)
        found, exact = bracket(programme, 1e-3), float(pattern_exact([1] * 12, q="0.9"))  # U/2 = u at v = s = 1
        assert found.lo <= exact <= found.hi

    def test_foresight_only_helps(self):
        """Knowing all hits beforehand, the minorant for each pattern gives less, and not much less."""
        for scheme, batches in (("without_replacement", 1), ("reshuffle", 4)):
            run = Setting(n=4, b=1, K=2)
            programme = Programme(Fraction(1), Fraction(9, 10), Fraction(1, 4), batches, 8 // batches)
            mean = sum(
                float(chance) * math.exp(2 * pattern_exact(hits, q="0.9")) for chance, hits in patterns(run, scheme)
            )
            found = bracket(programme, 1e-3)
            assert math.log(mean) <= found.hi
            assert math.log(mean) >= 0.8 * found.lo

    def test_monotone_in_cost_contraction_rate_and_length(self):
        base = {"cost": Fraction(1), "q": Fraction(9, 10), "rate": Fraction(1, 10), "batches": 1, "epochs": 20}
        here = bracket(Programme(**base), 1e-3)
        for more in ({"cost": Fraction(2)}, {"q": Fraction(19, 20)}, {"rate": Fraction(1, 5)}, {"epochs": 40}):
            assert bracket(Programme(**{**base, **more}), 1e-3).lo > here.hi

    def test_the_grid_begins_at_nothing_and_reaches_everything(self):
        for farthest in (1.0, 3.5, 50.0, 1e6):
            z = grid(farthest, 100)
            assert z[0] == 0
            assert z[-1] == farthest
            assert np.all(np.diff(z) > 0)

    def test_any_number_of_epochs(self):
        limit = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 10**30)
        forty = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 1000)
        far, near = bracket(limit, 2e-3), bracket(forty, 2e-3)
        assert far.steps < 2000
        assert far.hi >= near.lo

    def test_what_is_refused(self):
        good = {"cost": Fraction(1), "q": Fraction(9, 10), "rate": Fraction(1, 10), "batches": 1, "epochs": 5}
        with pytest.raises(ArgumentError, match="alpha"):
            bracket(Programme(**{**good, "cost": Fraction(10) ** 200}), 1e-3)
        with pytest.raises(ArgumentError, match="alpha"):
            bracket(Programme(**{**good, "cost": Fraction(1, 10**200)}), 1e-3)
        with pytest.raises(ArgumentError, match="permutation"):
            bracket(Programme(**{**good, "batches": 11}), 1e-3)
        with pytest.raises(TooManySteps):
            bracket(Programme(**{**good, "q": 1 - Fraction(1, 10**9), "epochs": 10**9}), 1e-3)
