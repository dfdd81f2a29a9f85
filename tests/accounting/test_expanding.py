"""Runs whose updates may expand: which statements they get, and why not others."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import epsilon, logistic, training_run, vouched
from hsdp_symbolic.accounting.by_step import THEOREM
from hsdp_symbolic.accounting.candidates import _worst_places

DIGITS = {"noise_multiplier": 8, "max_grad_norm": 1, "n": 1344, "batch_size": 64, "epochs": 15, "learning_rate": "0.5"}
CONVEX = Setting(n=50, b=2, K=40, eta="0.02", beta=4, sigma=2, S_g=4)


def ask(run, scheme, **how):
    return epsilon(run, delta="1e-5", scheme=scheme, **how)


class TestVouched:
    @pytest.mark.parametrize(("scheme", "label", "near"), [
        ("fixed", "gdp:expanding", 1.53267),
        ("shuffle", "profile:shuffle:expanding", 1.29172),
        ("reshuffle", "profile:reshuffle:expanding", 1.40072),
    ])  # fmt: skip
    def test_a_constant_of_one_or_more_is_used(self, scheme, label, near):
        found = ask(training_run(**DIGITS, loss=vouched(lipschitz="1.05")), scheme)
        assert found.bound == label
        assert found.hidden_state
        assert found.epsilon == pytest.approx(near, abs=1e-5)
        assert found.setting["lipschitz"] == Fraction("1.05")
        assert any("21/20-Lipschitz" in each for each in found.assumed_by_you)
        assert found.note == ""

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    @pytest.mark.parametrize("c", ["1", "1.000001", "1.5", "100"])
    def test_never_above_composition(self, scheme, c):
        found = ask(training_run(**DIGITS, loss=vouched(lipschitz=c)), scheme)
        composed = next(each for each in found.considered if each.label == "gdp:composition:fixed")
        assert found.epsilon <= composed.value

    def test_reshuffled_the_profile_is_better_than_divergences(self):
        found = ask(training_run(**DIGITS, loss=vouched(lipschitz="1.05")), "reshuffle")
        divergence = next(each for each in found.considered if each.label == "expanding:reshuffle")
        assert divergence.verdict == "loses"
        assert divergence.value == pytest.approx(1.57682, abs=1e-5)

    @pytest.mark.parametrize(("scheme", "more"), [
        ("without_replacement", {}), ("poisson", {"divisor": 64}), ("full_batch", {"batch_size": 1344}),
    ])  # fmt: skip
    def test_elsewhere_it_is_composition_and_it_is_said_why(self, scheme, more):
        found = ask(training_run(**{**DIGITS, **more}, loss=vouched(lipschitz="1.05")), scheme)
        assert not found.hidden_state
        assert "need not contract: its Lipschitz constant 21/20 is not < 1" in found.note
        assert "below 1" in found.helps

    def test_a_contraction_is_accounted_for_as_one(self):
        found = ask(training_run(**DIGITS, loss=vouched(lipschitz="0.99")), "reshuffle")
        assert found.bound == "profile:reshuffle"
        reason = next(each.reason for each in found.considered if each.label == "expanding:reshuffle")
        assert reason == "it is for updates that need not contract, and this one does"


class TestConvexWithoutDecay:
    def test_shuffling_averages_over_places(self):
        fixed, once, anew = (ask(CONVEX, scheme) for scheme in ("fixed", "shuffle", "reshuffle"))
        assert (fixed.bound, once.bound, anew.bound) == (
            "gdp:convex",
            "profile:shuffle:expanding",
            anew.bound,
        )
        assert anew.bound in (THEOREM, "profile:reshuffle:expanding")
        assert once.epsilon < 0.47 < 0.56 < fixed.epsilon < 0.57
        plans = next(each.value for each in anew.considered if each.label == "expanding:reshuffle")
        profile = next(each.value for each in anew.considered if each.label == "profile:reshuffle:expanding")
        assert anew.epsilon < 0.48 < 0.6 < plans < 0.64
        assert anew.epsilon <= profile < 0.56

    def test_clipped_losses_of_one_score_too(self):
        run = training_run(**DIGITS, loss=logistic(feature_norm=1))
        assert [ask(run, scheme).bound for scheme in ("shuffle", "reshuffle")] == [
            "profile:shuffle:expanding",
            THEOREM,
        ]

    def test_not_where_steps_are_too_long(self):
        found = ask(CONVEX.replace(eta="0.5"), "reshuffle")
        assert found.bound == "gdp:composition:fixed"

    def test_nor_where_they_contract(self):
        found = ask(CONVEX.replace(lam=1), "shuffle")
        assert found.bound == "profile:shuffle"
        assert "lipschitz" not in found.setting

    def test_told_a_constant_alone(self):
        run = Setting(n=50, b=2, K=40, eta="0.02", sigma=2, S_g=4, lipschitz="1.01")
        found = ask(run, "shuffle")
        assert found.bound == "profile:shuffle:expanding"
        assert any("101/100-Lipschitz" in each for each in found.assumed_by_you)


class TestLeftOver:
    RUN = training_run(**{**DIGITS, "n": 1350, "divisor": 64}, loss=vouched(lipschitz="1.05"), leftover="partial")

    def test_a_shorter_last_batch(self):
        """Its place is the worst for a fixed order, and less likely; reshuffled, shifts are looked for step by step."""
        assert ask(self.RUN, "shuffle").bound == "profile:shuffle:expanding"
        found = ask(self.RUN, "reshuffle")
        assert found.bound == "shift:pattern/planned-releases"
        assert found.hidden_state
        reasons = [each.reason for each in found.considered if each.label.endswith(":expanding")]
        assert reasons
        assert all("shorter than the others" in each and "step by step" in each for each in reasons)
        composed = next(each.value for each in found.considered if each.label == "gdp:composition:fixed")
        assert found.epsilon < composed

    def test_dropped(self):
        run = training_run(**{**DIGITS, "n": 1350}, loss=vouched(lipschitz="1.05"), leftover="dropped")
        whole = training_run(**DIGITS, loss=vouched(lipschitz="1.05"))
        assert ask(run, "reshuffle").epsilon == ask(whole, "reshuffle").epsilon


def test_the_worst_place_is_known_without_trying():
    assert _worst_places(statement("gdp:expanding"), 10**6) == (10**6,)
