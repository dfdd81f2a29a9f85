"""What the README says of other accountants, checked against them where they are installed."""

import math
import random
import time
from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic.accounting import epsilon, training_run
from tests import skips

SAMPLED = [
    # rate, noise multiplier, steps, δ
    ("0.01", "4", 2000, 1e-5),
    ("0.04", "20", 1000, 1e-5),
    ("0.01", "1", 300, 1e-5),
    ("1/16", "2", 50, 1e-8),
    ("0.1", "1.1", 1, 1e-5),
    ("0.001", "0.8", 1000, 1e-6),
]


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


class TestPrivacyLosses:
    """Composition under Poisson sampling, one record added or removed, against dp-accounting's loss distributions."""

    @pytest.fixture
    def theirs(self):
        skips.module("dp_accounting", missing="dp_accounting")
        import dp_accounting
        from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

        def epsilon_by_them(rate, noise, steps, delta, interval):
            step = dp_accounting.PoissonSampledDpEvent(
                float(Fraction(rate)), dp_accounting.GaussianDpEvent(float(noise))
            )
            accountant = PLDAccountant(value_discretization_interval=interval)
            return accountant.compose(step, steps).get_epsilon(delta)

        return epsilon_by_them

    def ours(self, rate, noise, steps, delta):
        run = training_run(noise_multiplier=noise, sample_rate=Fraction(rate), steps=steps)
        return epsilon(run, delta=delta, scheme="poisson")

    @pytest.mark.parametrize(("rate", "noise", "steps", "delta"), SAMPLED)
    def test_within_a_thousandth(self, theirs, rate, noise, steps, delta):
        """Theirs is pessimistic, to a few parts in 10⁴ on this grid; so ours may be a little below, as `lower` is."""
        ours, other = self.ours(rate, noise, steps, delta), theirs(rate, noise, steps, delta, 1e-4)
        assert ours.bound == "profile:composition:poisson"
        assert ours.lower <= other
        assert abs(ours.epsilon - other) <= 1e-3 * other

    @pytest.mark.slow
    @pytest.mark.parametrize(("rate", "noise", "steps", "delta"), SAMPLED)
    def test_never_below_their_finer_grid_and_not_much_slower(self, theirs, rate, noise, steps, delta):
        started = time.process_time()
        theirs(rate, noise, steps, delta, 1e-4)
        between = time.process_time()
        ours = self.ours(rate, noise, steps, delta)
        assert time.process_time() - between <= max(1.0, 10 * (between - started))
        other = theirs(rate, noise, steps, delta, 1e-5)  # closer to the truth, from above
        assert other * (1 - 1e-5) <= ours.epsilon <= other * (1 + 1e-3)


class TestOpacus:
    def test_invalid_inputs_give_numbers(self):
        rdp = skips.module("opacus.accountants.analysis.rdp", missing="opacus")
        for change in ({"noise_multiplier": -1}, {"steps": 1.5}, {"orders": [0.5]}):
            given = {"q": 0.1, "noise_multiplier": 1, "steps": 10, "orders": [2.0]} | change
            assert math.isfinite(float(rdp.compute_rdp(**given)[0]))

    def test_its_accountants(self):
        registry = skips.module("opacus.accountants.registry", missing="opacus")
        assert {"rdp", "gdp", "prv"} <= set(registry._ACCOUNTANTS)
