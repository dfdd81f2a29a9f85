"""The adapter to dp-accounting: an event and an accountant that say what ours say."""

from __future__ import annotations

import math

import pytest

from hsdp_symbolic.accounting import (
    Part,
    delta,
    epsilon,
    epsilon_of_all,
    training_run,
)
from hsdp_symbolic.errors import ArgumentError
from tests import skips
from tests.accounting.test_accountant import FACTS, NOISE


class TestDpAccounting:
    """Against the real package."""

    @pytest.fixture
    def adapter(self):
        skips.module("dp_accounting", missing="dp_accounting")
        from hsdp_symbolic.adapters import dp_accounting

        return dp_accounting

    @pytest.fixture
    def event(self, adapter):
        return adapter.HiddenStateDpEvent(
            scheme="shuffle",
            noise_multiplier=NOISE,
            n=50,
            batch_size=2,
            epochs=40,
            learning_rate="0.02",
            max_grad_norm=2,
            weight_decay=1,
            loss=FACTS["loss"],
        )

    def test_one_run(self, adapter, event, figure_run):
        import dp_accounting

        made = adapter.HiddenStatePrivacyAccountant()
        assert isinstance(made, dp_accounting.PrivacyAccountant)
        assert isinstance(event, dp_accounting.DpEvent)
        assert made.neighboring_relation is dp_accounting.NeighboringRelation.REPLACE_ONE
        assert made.get_epsilon(1e-5) == 0 == made.get_delta(1)
        made.compose(event)
        expected = epsilon(figure_run, delta="1e-5", scheme="shuffle").epsilon
        assert made.get_epsilon(1e-5) == pytest.approx(expected, rel=1e-9)
        assert made.get_delta(1) == pytest.approx(delta(figure_run, epsilon=1, scheme="shuffle").delta, rel=1e-6)
        assert made.ledger == event

    def test_whole_runs_compose_in_every_form(self, adapter, event, figure_run):
        import dp_accounting as dp

        expected = epsilon_of_all([Part(figure_run, "shuffle", 6)], delta=1e-5).epsilon
        for composed, count in [
            (event, 6),
            (dp.SelfComposedDpEvent(event, 3), 2),
            (dp.ComposedDpEvent([event, dp.NoOpDpEvent(), dp.SelfComposedDpEvent(event, 5)]), 1),
        ]:
            made = adapter.HiddenStatePrivacyAccountant()
            assert made.supports(composed)
            assert made.compose(composed, count).get_epsilon(1e-5) == pytest.approx(expected, rel=1e-12)

    def test_what_does_not_compose_is_refused(self, adapter, event):
        import dp_accounting as dp

        step = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
        for bad in (
            step,
            dp.GaussianDpEvent(1.0),
            dp.UnsupportedDpEvent(),
            dp.ComposedDpEvent([event, step]),
            dp.SelfComposedDpEvent(step, 10),
            dp.PoissonSampledDpEvent(0.5, event),
        ):
            made = adapter.HiddenStatePrivacyAccountant()
            assert not made.supports(bad)
            with pytest.raises(dp.UnsupportedEventError, match="whole runs only"):
                made.compose(bad)
            assert made.get_epsilon(1e-5) == 0

    def test_no_privacy_at_all(self, adapter, event):
        import dp_accounting as dp

        made = adapter.HiddenStatePrivacyAccountant().compose(event).compose(dp.NonPrivateDpEvent())
        assert made.get_epsilon(1e-5) == math.inf
        assert made.get_delta(1) == 1

    def test_with_certainty_there_is_no_finite_epsilon(self, adapter, event):
        assert adapter.HiddenStatePrivacyAccountant().compose(event).get_epsilon(0) == math.inf

    def test_other_relations_are_refused(self, adapter):
        import dp_accounting as dp

        with pytest.raises(ArgumentError, match="REPLACE_ONE"):
            adapter.HiddenStatePrivacyAccountant("substitute")
        assert set(dp.NeighboringRelation) == set(adapter.RELATIONS)  # all there are

    def test_a_record_left_out(self, adapter, event):
        import dp_accounting as dp

        made = adapter.HiddenStatePrivacyAccountant(dp.NeighboringRelation.REPLACE_SPECIAL).compose(event)
        found = epsilon(event.run(), delta=1e-5, scheme=event.scheme.value, neighbouring="zero_out")
        assert made.get_epsilon(1e-5) == found.epsilon
        assert found.epsilon < 0.6 * adapter.HiddenStatePrivacyAccountant().compose(event).get_epsilon(1e-5)

    def test_a_record_added_or_removed_under_poisson_sampling(self, adapter, event):
        import attr
        import dp_accounting as dp

        made = adapter.HiddenStatePrivacyAccountant(dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
        assert not made.supports(event)
        with pytest.raises(dp.UnsupportedEventError, match="know no record added or removed"):
            made.compose(event)
        drawn = attr.evolve(event, scheme="poisson")
        expected = epsilon(drawn.run(), delta=1e-5, scheme="poisson")
        assert expected.bound == "profile:poisson"
        assert made.compose(drawn).get_epsilon(1e-5) == expected.epsilon
        replaced = adapter.HiddenStatePrivacyAccountant().compose(drawn).get_epsilon(1e-5)
        assert replaced > 2 * expected.epsilon

    @pytest.mark.parametrize(
        "bad",
        [
            {"noise_multiplier": -1},
            {"scheme": "x"},
            {"epochs": 1.5},
            {"batch_size": 51},
            {"weight_decay": math.nan},
            {"loss": "logistic"},
            {"n": 51},
            {"n": "50"},
        ],
    )
    def test_bad_events(self, adapter, event, bad):
        import attr

        with pytest.raises(ArgumentError):
            attr.evolve(event, **bad)

    def test_bad_targets(self, adapter, event):
        made = adapter.HiddenStatePrivacyAccountant().compose(event)
        for bad in (-1e-5, 2, math.nan):
            with pytest.raises(ArgumentError):
                made.get_epsilon(bad)
        with pytest.raises(ArgumentError):
            made.get_delta(-1)

    def test_every_scheme_has_its_event(self, adapter, event):
        import attr
        import dp_accounting as dp

        from hsdp_symbolic.accounting.candidates import SCHEMES

        assert {each.value for each in adapter.Scheme} == set(SCHEMES)
        for scheme in SCHEMES:
            changes = {"batch_size": 50} if scheme == "full_batch" else {}
            relation = dp.NeighboringRelation
            asked = relation.ADD_OR_REMOVE_ONE if scheme == "balls_in_bins" else relation.REPLACE_ONE
            made = adapter.HiddenStatePrivacyAccountant(asked).compose(attr.evolve(event, scheme=scheme, **changes))
            assert made.get_epsilon(1e-5) > 0
        with pytest.raises(dp.UnsupportedEventError, match="know no record replaced"):
            adapter.HiddenStatePrivacyAccountant().compose(attr.evolve(event, scheme="balls_in_bins"))
        with pytest.raises(ArgumentError, match="a full batch"):
            attr.evolve(event, scheme="full_batch")

    def test_events_survive_the_named_tuple(self, adapter, event):
        import dp_accounting as dp

        assert dp.DpEvent.from_named_tuple(event.to_named_tuple()) == event

    def test_composition_agrees_with_their_accountant(self, adapter):
        """One full-batch step under replacement is a Gaussian mechanism of half the noise multiplier."""
        import dp_accounting as dp

        orders = [2, 3, 4, 8, 16, 32]
        run = training_run(noise_multiplier=6, n=10, batch_size=10, epochs=4)
        ours = epsilon_of_all([Part(run, "full_batch")], delta=1e-5, orders=orders).epsilon
        theirs = dp.rdp.RdpAccountant(orders).compose(dp.GaussianDpEvent(3.0), 4).get_epsilon(1e-5)
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_importing_the_package_does_not_import_the_libraries():
    import subprocess
    import sys

    libraries = "{'opacus', 'torch', 'dp_accounting'}"
    code = f"import sys, hsdp_symbolic.accounting, hsdp_symbolic.adapters; assert not {libraries} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
