"""Logistic regression: constants, contraction, certified ε and refusals."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import epsilon
from hsdp_symbolic.accounting.losses import MAY_BITE, NEVER_BITES, TWO_CLASSES
from hsdp_symbolic.accounting.regression import logistic_privacy
from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.errors import ArgumentError, HypothesisError
from hsdp_symbolic.meaning import Asks

RATES = ("prop:smooth_strcvx_clip:rate", "prop:smooth_strcvx_clip:rate_clip")
RUN = {
    "n": 1000,
    "classes": 2,
    "feature_norm": 1,
    "clip_norm": "0.5",
    "lam": "0.1",
    "learning_rate": "0.25",
    "batch_size": 50,
    "epochs": 20,
    "noise_multiplier": 8,
    "delta": "1e-5",
}
TIGHT = RUN | {"classes": 3, "clip_norm": "0.1"}
BITES = RUN | {"classes": 3}
# by hand: S_g = 2·0.5, β = (1² + 1)/2 + 0.1, σ² = η/2·(8·0.5/50)²
BY_HAND = {"n": 1000, "b": 50, "K": 20, "eta": "0.25", "lam": "0.1", "beta": "1.1", "S_g": 1, "sigma_squared": "0.0008"}


class TestConstants:
    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "without_replacement"])
    def test_epsilon_is_that_of_the_setting_by_hand(self, scheme):
        found = logistic_privacy(**RUN, scheme=scheme)
        expected = epsilon(Setting(**BY_HAND), delta="1e-5", scheme=scheme)
        assert found.guarantee.setting == Setting(**BY_HAND)
        assert found.guarantee.epsilon == expected.epsilon
        assert found.guarantee.hidden_state
        assert TWO_CLASSES in found.case

    @pytest.mark.parametrize("wrong", [{"S_g": "0.5"}, {"sigma_squared": "0.0032"}, {"lam": "0.2"}])
    def test_a_wrong_mapping_would_show(self, wrong):
        under = epsilon(Setting(**(BY_HAND | wrong)), delta="1e-5", scheme="shuffle").epsilon
        assert logistic_privacy(**RUN).guarantee.epsilon > 1.01 * under

    def test_it_is_the_corollary(self):
        """cor:logistic, which speaks of the noise multiplier, at one order."""
        found = logistic_privacy(**RUN, orders=[12]).guarantee
        corollary = statement("cor:logistic").enclose(
            Setting(n=1000, b=50, K=20, eta="0.25", lam="0.1", S_g=1),
            alpha=found.order,
            sigma_mul=8,
            L=1,
            classes=2,
            eps_norm=0,
        )
        ours = statement("thm:shuffle").enclose(found.setting, alpha=found.order)
        assert ours.lo <= corollary.hi
        assert corollary.lo <= ours.hi

    def test_clipping_that_never_bites(self):
        found = logistic_privacy(**(BITES | {"clip_norm": 2}))
        assert NEVER_BITES in found.case
        assert found.guarantee.epsilon == logistic_privacy(**(RUN | {"clip_norm": 2})).guarantee.epsilon
        assert found.guarantee.setting["lam"] == Fraction(1, 10)
        just_bites = logistic_privacy(**(BITES | {"clip_norm": "1.9999"}))
        assert "may expand" in just_bites.case
        assert just_bites.guarantee.epsilon > found.guarantee.epsilon

    def test_the_proved_contraction_is_used_where_clipping_may_bite(self):
        found = logistic_privacy(**TIGHT)
        assert MAY_BITE in found.case
        setting = Setting(eta="0.25", lam="0.1", S_g="0.2")
        expands = statement("clip:softmax").enclose(setting, L=1, bias=1, lam0="0.1")
        used = found.guarantee.setting["lam"]
        assert 0 < used <= (1 - expands.hi) * 4
        assert float(used) == pytest.approx(float((1 - expands.hi) * 4), rel=1e-11)
        assert {each.name: each.comes_from for each in found.sources}["lam"] == "clip:softmax"
        assert all(used > statement(label).enclose(setting, L=1).hi for label in RATES)
        two = logistic_privacy(**(TIGHT | {"classes": 2})).guarantee.epsilon
        assert two < found.guarantee.epsilon < found.composition.epsilon

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle", "without_replacement"])
    def test_there_only_theorems_about_lipschitz_updates_are_used(self, scheme):
        found = logistic_privacy(**TIGHT, scheme=scheme).guarantee
        used = {statement(each.label).asks for each in found.considered if each.verdict != "does not apply"}
        assert used == {Asks.CONTRACTION, Asks.NOTHING}
        if scheme == "fixed":
            refused = {each.label: each.reason for each in found.considered if each.verdict == "does not apply"}
            assert "convex" in refused["balle2019"]

    def test_those_theorems_see_the_loss_through_one_minus_eta_lambda_only(self):
        from hsdp_symbolic.symbols import beta, eta, lam, q

        def seen(found):
            return {beta, eta, lam} & found.expr.subs(lam, (1 - q) / eta).cancel().free_symbols

        asking = [found for found in statements() if found.asks is Asks.CONTRACTION]
        assert len(asking) > 10
        for found in asking:
            assert not seen(found), found.label
        assert seen(statement("thm:naive_RDP_baseline"))  # the test can fail

    def test_composition_needs_no_constants(self):
        found = logistic_privacy(**BITES, scheme="poisson", neighbouring="replace_one")
        assert "no hidden-state statement covers poisson" in found.case
        assert found.guarantee.epsilon == found.composition.epsilon
        assert not found.guarantee.hidden_state

    def test_poisson_sampling_has_a_hidden_state_bound(self):
        found = logistic_privacy(**RUN | {"learning_rate": "0.1"}, scheme="poisson")
        assert found.guarantee.bound == "profile:poisson"
        assert found.guarantee.epsilon < found.composition.epsilon
        assert found.composition.bound == "profile:composition:poisson"

    @pytest.mark.parametrize("scheme", ["shuffle", "reshuffle", "fixed"])
    def test_an_update_that_may_expand_has_bounds_of_its_own(self, scheme):
        found = logistic_privacy(**BITES, scheme=scheme)
        assert found.guarantee.hidden_state
        assert found.guarantee.setting["lipschitz"] > 1
        assert found.guarantee.epsilon < found.composition.epsilon

    @pytest.mark.parametrize("scheme", ["without_replacement", "poisson"])
    def test_a_hidden_state_statement_needs_them(self, scheme):
        found = logistic_privacy(**BITES, scheme=scheme).guarantee
        assert not found.hidden_state
        assert "clipping may make the update expand" in found.note
        assert found == logistic_privacy(**BITES, scheme=scheme).composition

    def test_nothing_proved_is_left_among_the_assumptions(self):
        found = logistic_privacy(**TIGHT).guarantee
        assert "softmax regression with 3 classes" in " ".join(found.assumed_by_you)
        assert "strongly convex" not in " ".join((*found.assumptions, *found.assumed_by_you))

    def test_a_step_too_long_leaves_composition(self):
        found = logistic_privacy(**(RUN | {"learning_rate": 2}))
        assert found.guarantee.bound == "gdp:composition:fixed"
        reasons = {each.label: each.reason for each in found.guarantee.considered}
        assert "eta" in reasons["thm:shuffle"]


class TestContraction:
    """prop:smooth_strcvx_clip:rate and :rate_clip against Jacobians of clipped softmax gradients."""

    @staticmethod
    def jacobian(p, label, x, clip):
        """∇g₀ at probabilities p, for features x̄ = x."""
        residual = p - np.eye(len(p))[label]
        hessian = np.diag(p) - np.outer(p, p)
        norm = np.linalg.norm(residual) * np.linalg.norm(x)
        if norm > clip:
            unit = residual / np.linalg.norm(residual)
            # ∇(g/|g|) projects out the direction of the gradient, û ⊗ x̄/|x̄|
            full = np.kron(hessian, np.outer(x, x))
            direction = np.kron(unit, x / np.linalg.norm(x))
            return clip / norm * (np.eye(len(full)) - np.outer(direction, direction)) @ full
        return np.kron(hessian, np.outer(x, x))

    def expands(self, setting, L):
        """The least of the constants that do not come from a rate: never above those that do."""
        decay, found = setting["lam"], []
        for label, letters in (
            ("clip:convex", {"beta0": (Fraction(L) ** 2 + 1) / 2}),
            ("clip:softmax", {"L": float(L), "bias": 1}),
        ):
            with suppress(HypothesisError):
                found.append(float(statement(label).enclose(setting, lam0=decay, rtol="1e-9", **letters).hi))
        return min(found)

    def test_no_jacobian_expands_by_more(self):
        rng, worst = np.random.default_rng(3), 0.0
        for _ in range(700):
            L, lam = rng.uniform(0.2, 3), 10 ** rng.uniform(-2, 0.5)
            clip = 10 ** rng.uniform(-2, 0.5)
            eta = rng.uniform(0.01, 1) * min(2 / ((L**2 + 1) / 2 + 2 * lam), 0.999 / lam)
            setting = Setting(eta=float(eta), lam=float(lam), S_g=float(2 * clip))
            rates = [statement(label).enclose(setting, L=float(L), rtol="1e-9").lo for label in RATES]
            claimed = 1 - eta * float(max(rates))
            p = rng.dirichlet(np.full(rng.integers(3, 6), 10 ** rng.uniform(-1.5, 0.5)))
            x = np.array([L, 1.0]) if rng.random() < 0.7 else np.array([rng.uniform(0, L), 1.0])
            matrix = self.jacobian(p, rng.integers(len(p)), x, clip)
            actual = np.linalg.norm(np.eye(len(matrix)) * (1 - eta * lam) - eta * matrix, 2)
            assert actual <= claimed + 1e-9
            assert actual <= self.expands(setting, L) + 1e-9 <= claimed + 1e-8
            worst = max(worst, actual - (1 - eta * lam))
        assert worst > 1e-4  # 1 − ηλ, as printed, does not hold: the test has something to find

    def test_where_the_printed_claim_fails_nothing_is_claimed(self):
        """L = 3, λ = 0.01, η = 0.35857: the update expands by 1.0407."""
        p, x = np.array([0.02, 0.82, 0.16]), np.array([3.0, 1.0])
        clip = 0.999 * np.linalg.norm(p - np.array([1, 0, 0])) * np.linalg.norm(x)
        matrix = self.jacobian(p, 0, x, clip)
        assert np.linalg.norm(np.eye(6) * (1 - 0.0035857) - 0.35857 * matrix, 2) > 1.04
        changes = {"feature_norm": 3, "lam": "0.01", "learning_rate": "0.35857", "clip_norm": float(clip)}
        found = logistic_privacy(**(BITES | changes)).guarantee
        assert found.bound == "profile:shuffle:expanding"
        assert found.setting["lipschitz"] >= np.linalg.norm(np.eye(6) * (1 - 0.0035857) - 0.35857 * matrix, 2)


class TestRefusals:
    def test_three_classes_with_a_clip_that_bites(self):
        found = logistic_privacy(**BITES, scheme="without_replacement").guarantee
        assert "with 3 classes" in found.note
        assert found.bound == "profile:composition:without_replacement"

    def test_each_remedy_it_names_is_enough(self):
        helps = logistic_privacy(**BITES, scheme="without_replacement").guarantee.helps
        clip = re.search(r"max_grad_norm >= ([\d.]+)", helps).group(1)
        lam = float(re.search(r"weight_decay >= ([\d.]+)", helps).group(1))
        assert NEVER_BITES in logistic_privacy(**(BITES | {"clip_norm": clip})).case
        small_step = BITES | {"lam": 1.01 * lam, "learning_rate": "0.0001"}
        assert MAY_BITE in logistic_privacy(**small_step).case
        assert TWO_CLASSES in logistic_privacy(**(BITES | {"classes": 2})).case
        too_long = TIGHT | {"learning_rate": "1.8"}
        helps = logistic_privacy(**too_long, scheme="without_replacement").guarantee.helps
        rate = re.search(r"learning_rate <= ([\d.]+)", helps).group(1)
        assert MAY_BITE in logistic_privacy(**(TIGHT | {"learning_rate": rate})).case

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n", 0),
            ("n", 10.0),
            ("n", "1000"),
            ("classes", 1),
            ("classes", 2.5),
            ("classes", None),
            ("feature_norm", 0),
            ("feature_norm", -1),
            ("feature_norm", math.nan),
            ("clip_norm", 0),
            ("clip_norm", None),
            ("clip_norm", math.inf),
            ("lam", 0),
            ("lam", "x"),
            ("learning_rate", -1),
            ("learning_rate", None),
            ("batch_size", 1001),
            ("batch_size", 0),
            ("epochs", 0),
            ("epochs", 1.5),
            ("epochs", None),
            ("noise_multiplier", 0),
            ("noise_multiplier", math.nan),
            ("delta", -1),
            ("delta", 2),
            ("scheme", "x"),
            ("scheme", "full_batch"),
            ("neighbouring", "add_remove"),
        ],
    )
    def test_bad_values_are_named(self, name, value):
        with pytest.raises(ArgumentError) as raised:
            logistic_privacy(**(RUN | {name: value}))
        named = {"scheme": "scheme|batch_size", "epochs": "epochs|steps"}.get(name, name)
        assert re.match(rf"({named}) = ", str(raised.value))

    def test_extreme_values(self):
        with pytest.raises(ArgumentError, match="no finite epsilon holds"):
            logistic_privacy(**(RUN | {"delta": 0}))
        assert logistic_privacy(**(RUN | {"epochs": 10**18})).guarantee.epsilon < 10
        assert logistic_privacy(**(RUN | {"noise_multiplier": "1e-3"})).guarantee.epsilon > 1e3
        tiny = logistic_privacy(**(RUN | {"clip_norm": "1e-30", "classes": 10}))
        assert MAY_BITE in tiny.case
