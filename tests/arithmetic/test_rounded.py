"""Doubles rounded outwards: exponential and log-mixture over arrays, held against 60 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from hsdp_symbolic.arithmetic.rounded import expm1_bounds, log_mix_bounds


@pytest.mark.smoke
class TestRoundedFunctions:
    """Held against 60 digits, over twelve orders of magnitude and more."""

    def test_exponential(self):
        rng = np.random.default_rng(1)
        x = np.append(np.exp(rng.uniform(math.log(1e-250), math.log(200), 2000)), [0.0, 200.0, 0.25, 0.125])
        low, high = expm1_bounds(x)
        with mpmath.workdps(60):
            for a, b, c in zip(x.tolist(), low.tolist(), high.tolist(), strict=True):
                assert b <= mpmath.expm1(a) <= c
        assert np.all(high - low <= 3e-14 * (1 + x) * high)

    @pytest.mark.parametrize("weight", [0.0, 1e-30, 1e-3, 0.04, 0.5, 1.0])
    def test_log_mixture(self, weight):
        rng = np.random.default_rng(2)
        gap = np.append(np.exp(rng.uniform(math.log(1e-30), math.log(5000), 1000)), [0.0, 200.0])
        found = log_mix_bounds((weight, weight), gap)
        with mpmath.workdps(120):
            for a, below, above, least, most in zip(gap.tolist(), *(part.tolist() for part in found), strict=True):
                inside = 1 + weight * mpmath.expm1(a)
                assert below <= mpmath.log(inside) <= above
                assert least <= weight * mpmath.exp(a) / inside <= most
        if weight:
            assert np.all(found.above - found.below <= 1e-13 * (1 + gap) * found.above)

    def test_padding_is_needed(self):
        """Without the padding some results are on the wrong side: the check above can fail."""
        x = np.linspace(0.01, 50, 500)
        middle = sum(expm1_bounds(x)) / 2
        with mpmath.workdps(60):
            assert any(m < mpmath.expm1(a) for a, m in zip(x.tolist(), middle.tolist(), strict=True))
            assert any(m > mpmath.expm1(a) for a, m in zip(x.tolist(), middle.tolist(), strict=True))
