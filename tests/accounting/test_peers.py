"""What the README says of other accountants, checked against them where they are installed."""

import math
import random

import mpmath
import pytest

from tests import skips


class TestDpAccounting:
    @pytest.fixture
    def rdp(self):
        return skips.module("dp_accounting.rdp.rdp_privacy_accountant", missing="dp_accounting")

    def test_conversion_falls_below_its_formula(self, rdp):
        rng, below = random.Random(1), 0
        with mpmath.workdps(60):
            for _ in range(400):
                order, divergence = 1 + 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-3, 1)
                delta = 10 ** rng.uniform(-10, -3)
                a, R, d = map(mpmath.mpf, (order, divergence, delta))
                truth = R + mpmath.log1p(-1 / a) - mpmath.log(d * a) / (a - 1)
                below += truth > mpmath.mpf(rdp.compute_epsilon([order], [divergence], delta)[0]) and truth > 0
        assert below == 182

    def test_invalid_inputs_give_numbers(self, rdp):
        import dp_accounting

        def epsilon(noise, delta):
            return rdp.RdpAccountant([2.0]).compose(dp_accounting.GaussianDpEvent(noise)).get_epsilon(delta)

        assert epsilon(math.nan, 1e-5) == epsilon(1, 2) == epsilon(1, math.nan) == 0

    @pytest.mark.smoke
    def test_no_event_describes_a_hidden_state_or_an_order_of_batches(self, rdp):
        import dp_accounting

        events = {name for name in dir(dp_accounting) if name.endswith("DpEvent")}
        assert events
        assert not [name for name in events if any(word in name for word in ("Shuffle", "Hidden", "Iterate", "Order"))]


class TestOpacus:
    def test_invalid_inputs_give_numbers(self):
        rdp = skips.module("opacus.accountants.analysis.rdp", missing="opacus")
        for change in ({"noise_multiplier": -1}, {"steps": 1.5}, {"orders": [0.5]}):
            given = {"q": 0.1, "noise_multiplier": 1, "steps": 10, "orders": [2.0]} | change
            assert math.isfinite(float(rdp.compute_rdp(**given)[0]))

    def test_its_accountants(self):
        registry = skips.module("opacus.accountants.registry", missing="opacus")
        assert {"rdp", "gdp", "prv"} <= set(registry._ACCOUNTANTS)
