"""Sketches of bounds that take long."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic.accounting.orders import SKETCH_ERROR
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.shift_programme import Programme, bracket
from hsdp_symbolic.functions.shift_sketch import sketch_programme, values_by_epoch


class TestSketch:
    @pytest.mark.parametrize(("batches", "epochs"), [(1, 200), (25, 8), (10, 3)])
    def test_every_row_and_every_epoch_is_near_the_bracket(self, batches, epochs):
        """Rows do not leak into each other, and the pass back holds all shorter runs."""
        shape = Programme(Fraction(1), Fraction(49, 50), Fraction(1, 25), batches, epochs)
        costs = np.array([0.01, 0.3, 1.05, 3.0, 17.7])
        rows = values_by_epoch(costs, shape)
        for place, cost in enumerate(costs.tolist()):
            for count in {1, epochs // 2, epochs}:
                whole = bracket(Programme(Fraction(cost), shape.q, shape.rate, batches, count), 0.2)
                value = rows[place][min(count, rows.shape[1]) - 1]
                assert 0.97 * whole.lo <= value <= 1.06 * whole.hi
        assert np.all(np.diff(rows, axis=0) > 0)
        alone = [values_by_epoch(costs[place : place + 1], shape)[0] for place in range(len(costs))]
        assert all(np.allclose(each[-1], row[-1], rtol=1e-9) for each, row in zip(alone, rows, strict=True))

    def test_between_entries_it_is_interpolated(self):
        shape = Programme(Fraction(1), Fraction(49, 50), Fraction(1, 25), 1, 300)
        costs = np.geomspace(1.3, 2.4, 7)
        exact = values_by_epoch(costs, shape)[:, -1]
        assert np.allclose(sketch_programme(costs, shape), exact, rtol=2e-3)
        wide = sketch_programme(np.geomspace(1e-3, 1e3, 60), shape)
        assert np.all(np.diff(wide) >= 0)  # no overshoot where the moment explodes

    def test_moments(self):
        q, rate = Fraction(49, 50), Fraction(1, 25)
        costs = np.geomspace(0.5, 1.5, 5)
        assert np.allclose(HitMoment.sketch(costs, q, rate, 400), HitMoment.array(costs, q, rate, 400), rtol=1e-3)
        assert np.all(HitMoment.sketch(np.array([1e-150, 1e120]), q, rate, 400) == np.inf)

    def test_moments_do_not_overflow(self):
        """A cost of 500, a hundred times over: log E is at most draws·cost and at least that less what misses cost."""
        found = float(HitMoment.array(500.0, Fraction(1, 1), Fraction(1, 2), 100))
        assert found == pytest.approx(100 * (500 + np.log(0.5)), rel=1e-12)

    def test_a_sketch_errs_less_than_it_is_trusted(self):
        rng = random.Random(5)
        for _ in range(8):
            batches, epochs = rng.choice([(1, 150), (20, 6), (60, 2)])
            q, rate = 1 - Fraction(rng.randint(1, 40), 1000), Fraction(1, batches + rng.randint(0, 60))
            cost = Fraction(rng.randint(1, 400), 100)
            whole = bracket(Programme(cost, q, rate, batches, epochs), 0.2)
            (value,) = sketch_programme(np.array([float(cost)]), Programme(cost, q, rate, batches, epochs))
            assert (1 - SKETCH_ERROR) * value <= whole.hi
            assert value >= 0.98 * whole.lo
