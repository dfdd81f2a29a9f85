"""Shuffled once, by optimal shifts: means over very many batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement


class TestMeans:
    def test_many_batches_agree_term_by_term(self):
        """The sum in blocks against the plain sum, with the kink early, late and in the middle."""
        for step, epochs, order in (
            ("0.02", 40, 3),
            ("1e-7", 3, 3),
            ("0.001", 2, 50),
            ("0.3", 1, 2),
            ("1e-4", 10**9, 7),
        ):
            run = Setting(n=1500, b=1, K=epochs, eta=step, lam=1, beta=1, sigma="0.3", S_g=1)
            blocks, plain = (
                statement("shift:shuffle").enclose(run, alpha=order, engine=engine) for engine in ("arb", "mpmath")
            )
            assert blocks.lo <= plain.hi
            assert plain.lo <= blocks.hi
            assert max(blocks.relative_width, plain.relative_width) <= Fraction(1, 10**20)
            assert statement("shift:shuffle").numeric(run, alpha=order) == pytest.approx(float(plain.hi), rel=1e-13)

    @pytest.mark.parametrize(("n", "eta"), [(10**9, "1e-9"), (10**30, "1e-9"), (10**6, "0.5")])
    def test_very_many_batches(self, n, eta):
        run = Setting(n=n, b=1, K=7, eta=eta, lam=1, beta=1, sigma="0.1", S_g=4)
        found = statement("shift:shuffle").enclose(run, alpha=3)
        assert found.relative_width <= Fraction(1, 10**20)
        assert found.lo <= statement("shuffle:factor").enclose(run, alpha=3).hi

    def test_grids(self, figure_run):
        found = statement("shift:shuffle")
        grid = found.numeric(figure_run, alpha=[2, 15], K=range(1, 6))
        alone = [[found.upper(figure_run, alpha=a, K=k) for k in range(1, 6)] for a in (2, 15)]
        np.testing.assert_allclose(grid, alone, rtol=1e-13)
