"""Certificates for clipped runs: about the run that was made, or refused; never below the exact law."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import (
    HiddenStateAccountant,
    Part,
    TrainingRun,
    calibrate,
    compare,
    delta,
    epsilon,
    epsilon_of_all,
    huber,
    logistic,
    scalar,
    softmax,
    training_run,
    vouched,
)
from hsdp_symbolic.accounting.losses import NEVER_BITES
from hsdp_symbolic.accounting.regression import logistic_privacy
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import ArgumentError
from tests import skips
from tests.accounting import linear_law

DIGITS = {
    "noise_multiplier": 8,
    "max_grad_norm": 1,
    "n": 1344,
    "batch_size": 64,
    "epochs": 15,
    "learning_rate": "0.5",
    "weight_decay": "0.01",
}
EPOCH_SCHEMES = ("fixed", "shuffle", "reshuffle")
SCHEMES = (*EPOCH_SCHEMES, "without_replacement", "full_batch")
ALWAYS = 80
"""Random runs that are tried always; the rest if there is time."""


class TestAgainstTheExactLaw:
    """200 random clipped runs, through every way to describe one."""

    @pytest.mark.parametrize(
        "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= ALWAYS)) for seed in range(200)]
    )
    def test_never_below_it(self, seed):
        rng = random.Random(seed)
        scheme = SCHEMES[seed % len(SCHEMES)]
        b = rng.randint(1, 4)
        n = b * rng.randint(1, 4) + (rng.randint(0, b - 1) if scheme in EPOCH_SCHEMES else 0)
        b = n if scheme == "full_batch" else b
        epochs = rng.randint(1, 40) if scheme in ("full_batch", "fixed", "shuffle") else rng.randint(1, 2)
        eta, clip = Fraction(rng.randint(1, 40), 40), Fraction(rng.randint(1, 40), 10)
        noise, at = Fraction(rng.randint(5, 200), 10), Fraction(1, 10 ** rng.randint(2, 8))
        decay = rng.choice([Fraction(0), Fraction(rng.randint(1, 90), 100) / eta])
        left: dict = {}
        if n % b:
            left = {"leftover": rng.choice(["dropped", "partial", "blank"])}
            divisor = rng.choice([b, b + 1, max(1, b - 1)])
            left |= {"divisor": divisor} if left["leftover"] == "partial" or divisor != b else {}
        run = training_run(
            noise_multiplier=noise,
            max_grad_norm=clip,
            n=n,
            batch_size=b,
            epochs=epochs,
            learning_rate=eta,
            **left,
            **self._told(rng, eta, decay, clip),
        )
        found = epsilon(run, delta=at, scheme=scheme)
        truth = linear_law.epsilon(
            linear_law.patterns(scheme, n, b, epochs, partial=left.get("leftover") in ("partial", "blank")),
            eta=eta,
            clip=clip,
            noise=noise,
            divisor=left.get("divisor", b),
            decay=decay,
            delta=at,
        )
        assert found.epsilon >= truth * (1 - 1e-9), (found.bound, found.epsilon, truth)

    def _told(self, rng, eta, decay, clip):
        """What may be said of a run whose gradients are all clipped, and whose regulariser, if any, is outside."""
        small = Fraction(1, 10) / eta  # so that the step is short enough for a contraction to be proved
        long = max(1, clip)  # so that there are gradients of such losses that are clipped
        ways = [
            {"weight_decay": decay},
            {"lam": 1, "beta": 1 / eta} if not decay else {"weight_decay": decay},
            {"weight_decay": decay, "loss": scalar(feature_norm=1, curvature=small, bias=False)},
            {"weight_decay": decay, "loss": scalar(feature_norm=1, curvature=small)},
            {"weight_decay": decay, "loss": logistic(feature_norm=long)},
            {"weight_decay": decay, "loss": huber(feature_norm=Fraction(1, 2))},
            {"weight_decay": decay, "loss": softmax(classes=rng.choice([2, 3, 10]), feature_norm=long)},
            {"weight_decay": decay, "loss": vouched(lipschitz=1 - eta * decay)},
        ]
        return rng.choice(ways)

    def test_the_law_of_the_review(self):
        """10,000 full-batch steps, all gradients clipped: 91.8, where 4.70 was once certified."""
        law = linear_law.patterns("full_batch", 50, 50, 10_000)
        truth = linear_law.epsilon(law, eta="0.02", clip=2, noise=20, divisor=50, decay=0, delta="1e-5")
        assert abs(truth - 91.8) < 0.05
        told = {"noise_multiplier": 20, "max_grad_norm": 2, "n": 50, "batch_size": 50, "steps": 10_000}
        run = training_run(**told, learning_rate="0.02", lam=1, beta=4)
        found = epsilon(run, delta="1e-5", scheme="full_batch")
        assert found.epsilon >= truth
        assert not found.hidden_state
        assert "clipped" in found.note
        assert "lam = 1" in found.note
        unclipped = TrainingRun(run.setting.replace(lam=1, beta=4))  # what was certified: the check has teeth
        assert epsilon(unclipped, delta="1e-5", scheme="full_batch").epsilon < 5 < truth


class TestWhatIsProved:
    def test_clipped_logistic_regression_contracts(self):
        run = training_run(**DIGITS, loss=logistic(feature_norm=1, bias=False))
        assert run.footing().setting["beta"] == Fraction(26, 100)
        found = epsilon(run, delta="1e-5", scheme="shuffle")
        assert found.hidden_state
        assert found.epsilon == pytest.approx(0.9185387, abs=1e-6)
        assert any("φ(x·θ)" in each for each in found.assumed_by_you)
        assert "clip:scalar" in found.update

    def test_a_bias_counts(self):
        assert training_run(**DIGITS, loss=logistic(feature_norm=1)).footing().setting["beta"] == Fraction(51, 100)

    def test_a_step_too_long_for_it(self):
        run = training_run(**DIGITS | {"learning_rate": 8}, loss=logistic(feature_norm=1, bias=False))
        found = epsilon(run, delta="1e-5", scheme="shuffle")
        assert found.setting["lipschitz"] > 1  # the update may expand, and is bounded as such
        assert found.bound == "profile:shuffle:expanding"
        assert (
            found.epsilon
            < epsilon(training_run(**DIGITS | {"learning_rate": 8}), delta="1e-5", scheme="shuffle").epsilon
        )

    def test_without_decay_the_convex_bounds_hold(self):
        run = training_run(**DIGITS | {"weight_decay": 0}, loss=logistic(feature_norm=1))
        found = epsilon(run, delta="1e-5", scheme="fixed")
        assert found.bound == "gdp:convex"

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_what_is_vouched_for_is_printed_as_such(self, scheme, capsys):
        size = "1344" if scheme == "full_batch" else "64"
        given = [f"--{name.replace('_', '-')}={value}" for name, value in DIGITS.items() if name != "batch_size"]
        options = ["--scheme", scheme, f"--batch-size={size}", "--vouched-lipschitz", "0.97", "--delta", "1e-5"]
        assert main(["epsilon", *given, *options]) == 0
        out = capsys.readouterr().out
        assert "assumed by you\n    with every batch that may occur, the update" in out
        assert "97/100-Lipschitz" in out

    def test_no_contraction_is_vouched_for(self):
        run = training_run(**DIGITS, loss=vouched(lipschitz="1.01"))
        found = epsilon(run, delta="1e-5", scheme="without_replacement")
        assert not found.hidden_state
        assert "101/100" in found.note

    def test_ten_classes_small_decay(self):
        run = training_run(**DIGITS, loss=softmax(classes=10, feature_norm=1))
        found = epsilon(run, delta="1e-5", scheme="reshuffle")
        assert (found.bound, found.hidden_state) == ("profile:reshuffle:expanding", True)
        drawn = epsilon(run, delta="1e-5", scheme="without_replacement")
        assert not drawn.hidden_state
        assert "10 classes" in drawn.note
        assert "weight_decay" in drawn.helps

    def test_ten_classes_enough_decay_and_any_scheme(self):
        told = DIGITS | {"weight_decay": "0.2", "learning_rate": "0.05", "max_grad_norm": "0.1"}
        run = training_run(**told, loss=softmax(classes=10, feature_norm=1))
        for scheme in EPOCH_SCHEMES:
            found = epsilon(run, delta="1e-5", scheme=scheme)
            assert found.hidden_state, scheme
            assert "balle2019" not in [each.label for each in found.considered if each.value is not None]


class TestSoftmaxWithoutBias:
    """‖x̄‖² is at most L² instead of L² + 1, wherever it matters."""

    def epsilons(self, **told):
        losses = (softmax(classes=10, feature_norm=1, bias=bias) for bias in (False, True))
        return [
            epsilon(training_run(**{**DIGITS, "loss": loss, **told}), delta="1e-5", scheme="shuffle") for loss in losses
        ]

    def test_it_costs_less(self):
        without, with_bias = self.epsilons(weight_decay="0.2")
        assert with_bias.epsilon == pytest.approx(0.7508, abs=5e-5)
        assert without.epsilon == pytest.approx(0.7246, abs=5e-5)
        assert "no bias" in " ".join(without.assumed_by_you)

    def test_two_classes(self):
        footing = training_run(**DIGITS, loss=softmax(classes=2, feature_norm=1, bias=False)).footing()
        beta = {each.name: each for each in footing.sources}["beta"]
        assert beta.value == Fraction(1, 2) + Fraction(DIGITS["weight_decay"])
        assert beta.comes_from == "clip:softmax:convex"

    def test_where_clipping_never_bites(self):
        told = DIGITS | {"loss": softmax(classes=10, feature_norm=1, bias=False)}
        assert "max_grad_norm >= 1.41422, which never bites" in training_run(**told).footing().helps
        assert NEVER_BITES in training_run(**told | {"max_grad_norm": "1.41422"}).footing().why
        assert NEVER_BITES not in training_run(**told | {"max_grad_norm": "1.4142"}).footing().why

    def test_how_far_gradients_are_apart(self):
        short = softmax(classes=10, feature_norm="0.5", bias=False)
        found = epsilon(training_run(**DIGITS, loss=short), delta="1e-5", scheme="shuffle")
        assert found.sensitivity.value == pytest.approx(2 * 0.5 * 2**0.5, rel=1e-9)
        assert found.sensitivity.value**2 >= 2
        assert found.sensitivity.comes_from == "gradient:softmax"

    def test_by_command_and_file(self, capsys, tmp_path):
        loss = softmax(classes=10, feature_norm=1, bias=False)
        expected = repr(epsilon(training_run(**DIGITS, loss=loss), delta="1e-5", scheme="shuffle").epsilon)
        given = DIGITS | {"loss": "softmax", "classes": 10, "feature_norm": 1, "scheme": "shuffle", "delta": "1e-5"}
        options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        assert main(["epsilon", *options, "--no-bias"]) == 0
        assert expected in capsys.readouterr().out
        file = tmp_path / "run.toml"
        file.write_text("".join(f"{name} = {value!r}\n" for name, value in given.items()) + "bias = false\n")
        assert main(["epsilon", "--from", str(file)]) == 0
        assert expected in capsys.readouterr().out


class TestOneGate:
    """No two doors give two answers for one run."""

    @pytest.mark.parametrize("scheme", EPOCH_SCHEMES)
    @pytest.mark.parametrize("classes", [2, 10])
    def test_all_doors_agree(self, scheme, classes, capsys):
        loss = softmax(classes=classes, feature_norm=1)
        told = DIGITS | {"loss": loss}
        by_function = epsilon(training_run(**told), delta="1e-5", scheme=scheme)
        accountant = HiddenStateAccountant(
            scheme=scheme, **{name: told[name] for name in told if name not in ("noise_multiplier", "epochs")}
        )
        for _ in range(15 * 21):
            accountant.step(noise_multiplier=8, sample_rate=1 / 21)
        by_logistic = logistic_privacy(
            **{name: told[name] for name in DIGITS if name not in ("weight_decay", "max_grad_norm")},
            classes=classes,
            feature_norm=1,
            clip_norm=1,
            lam=told["weight_decay"],
            delta="1e-5",
            scheme=scheme,
        ).guarantee
        assert by_logistic == by_function
        assert accountant.guarantee("1e-5") == by_function
        assert epsilon_of_all([Part(training_run(**told), scheme)], delta="1e-5").epsilon >= by_function.epsilon * 0.999
        table = compare(training_run(**told), delta="1e-5", scheme=scheme, epochs=[15])
        assert min(value for _, (value,) in table.curves) == pytest.approx(by_function.epsilon, rel=1e-6)
        options = ["--loss", "softmax", "--classes", str(classes), "--feature-norm", "1"]
        given = [f"--{name.replace('_', '-')}={value}" for name, value in DIGITS.items()]
        assert main(["epsilon", "--scheme", scheme, *given, *options, "--delta", "1e-5"]) == 0
        assert repr(by_function.epsilon) in capsys.readouterr().out

    def test_dp_accounting_agrees(self):
        skips.module("dp_accounting", missing="dp_accounting")
        from hsdp_symbolic.adapters.dp_accounting import HiddenStateDpEvent, HiddenStatePrivacyAccountant

        for loss in (logistic(feature_norm=1), None):
            event = HiddenStateDpEvent(scheme="shuffle", **DIGITS, loss=loss)
            found = HiddenStatePrivacyAccountant().compose(event).get_epsilon(1e-5)
            expected = epsilon(training_run(**DIGITS, loss=loss), delta="1e-5", scheme="shuffle").epsilon
            assert found == pytest.approx(expected, rel=1e-9)

    def test_lam_and_beta_of_a_clipped_loss_buy_nothing(self):
        told = {name: value for name, value in DIGITS.items() if name != "weight_decay"}
        plain = epsilon(training_run(**told), delta="1e-5", scheme="shuffle")
        with_them = epsilon(training_run(**told, lam=1, beta=2), delta="1e-5", scheme="shuffle")
        assert with_them.epsilon == plain.epsilon
        assert not with_them.hidden_state

    @pytest.mark.parametrize("optimizer", ["adam", "SGD with momentum", "momentum"])
    def test_other_optimisers_leave_composition(self, optimizer):
        run, plain = (
            training_run(**DIGITS, loss=logistic(feature_norm=1), optimizer=each) for each in (optimizer, "SGD")
        )
        found = epsilon(run, delta="1e-5", scheme="shuffle")
        assert not found.hidden_state
        assert optimizer in found.note
        assert found.helps == ""
        assert any("no Adam" in each for each in epsilon(plain, delta="1e-5", scheme="shuffle").assumed_by_you)

    def test_a_clipped_loss_has_a_clip_norm(self):
        told = {name: value for name, value in DIGITS.items() if name != "max_grad_norm"}
        with pytest.raises(ArgumentError, match="max_grad_norm = None"):
            training_run(**told, loss=logistic(feature_norm=1))

    def test_a_penalty_in_the_loss_is_not_weight_decay(self):
        told = {name: value for name, value in DIGITS.items() if name != "weight_decay"}
        with pytest.raises(ArgumentError, match="if it is part of the loss, and clipped with it"):
            training_run(**told, lam="0.01", loss=logistic(feature_norm=1))

    def test_forgotten_weight_decay_is_asked_for_by_its_name(self):
        told = {name: value for name, value in DIGITS.items() if name != "weight_decay"}
        run = training_run(**told, loss=logistic(feature_norm=1))
        note = epsilon(run, delta="1e-5", scheme="without_replacement").note
        assert "weight_decay" in note
        assert "lam" not in note

    @pytest.mark.parametrize("name", ["lam", "beta"])
    def test_they_do_not_go_with_a_loss(self, name):
        with pytest.raises(ArgumentError, match=name):
            training_run(**DIGITS, loss=logistic(feature_norm=1), **{name: 1})

    @pytest.mark.parametrize("loss", ["logistic", 1, logistic, object()])
    def test_what_is_no_loss(self, loss):
        with pytest.raises(ArgumentError, match="does not describe a loss"):
            training_run(**DIGITS, loss=loss)

    @pytest.mark.parametrize(
        ("make", "given", "named"),
        [
            (logistic, {"feature_norm": 0}, "feature_norm"),
            (logistic, {"feature_norm": 1, "bias": 1}, "bias"),
            (scalar, {"feature_norm": 1, "curvature": -1}, "curvature"),
            (softmax, {"feature_norm": 1, "classes": 1}, "classes"),
            (softmax, {"feature_norm": 1, "classes": "x"}, "classes"),
            (softmax, {"feature_norm": 1, "classes": 3, "bias": 0}, "bias"),
            (vouched, {"lipschitz": 0}, "lipschitz"),
        ],
    )
    def test_bad_facts_of_a_loss(self, make, given, named):
        with pytest.raises(ArgumentError, match=named):
            make(**given)


class TestLeftOver:
    @pytest.mark.parametrize("scheme", EPOCH_SCHEMES)
    def test_it_must_be_said(self, scheme):
        told = DIGITS | {"n": 1347}
        with pytest.raises(ArgumentError, match=r"leftover = None.*3 of them are left over"):
            epsilon(training_run(**told), delta="1e-5", scheme=scheme)
        with pytest.raises(ArgumentError, match="leftover"):
            epsilon(Setting(n=7, b=2, K=3, eta="0.1", lam=1, beta=2, sigma=1, S_g=1), delta="1e-5", scheme=scheme)
        with pytest.raises(ArgumentError, match="leftover"):
            HiddenStateAccountant(scheme=scheme, n=1347, batch_size=64)

    def test_sampling_has_none(self):
        assert epsilon(training_run(**DIGITS | {"n": 1347}), delta="1e-5", scheme="poisson").epsilon > 0

    @pytest.mark.parametrize("scheme", EPOCH_SCHEMES)
    def test_a_shorter_batch_is_accounted_for_as_a_full_one(self, scheme):
        loss = logistic(feature_norm=1)
        partial = training_run(**DIGITS | {"n": 1347}, loss=loss, leftover="partial", divisor=64)
        full = training_run(**DIGITS | {"n": 22 * 64}, loss=loss)
        found, expected = (epsilon(run, delta="1e-5", scheme=scheme) for run in (partial, full))
        assert found.epsilon == expected.epsilon
        assert any("the last of 3 records" in each for each in found.assumptions)

    def test_a_divisor_below_the_batch_size_makes_it_less_smooth(self):
        run = training_run(**DIGITS | {"n": 1347}, loss=logistic(feature_norm=1), leftover="partial", divisor=61)
        assert run.footing().setting["beta"] == Fraction(64, 61) / 2 + Fraction(1, 100)

    def test_its_own_divisor_is_looked_at_step_by_step(self):
        run = training_run(**DIGITS | {"n": 1347}, loss=logistic(feature_norm=1), leftover="partial", divisor="actual")
        found = epsilon(run, delta="1e-5", scheme="reshuffle")
        assert found.hidden_state
        stated = [each for each in found.considered if each.label == "profile:reshuffle"]
        assert "its own size 3" in stated[0].reason

    def test_a_partial_batch_needs_a_divisor(self):
        run = training_run(**DIGITS | {"n": 1347}, leftover="partial")
        with pytest.raises(ArgumentError, match="divisor"):
            epsilon(run, delta="1e-5", scheme="reshuffle")

    @pytest.mark.parametrize("leftover", ["partial", "blank"])
    def test_the_papers_batches_are_all_alike(self, leftover):
        run = Setting(n=7, b=2, K=3, eta="0.1", lam=1, beta=2, sigma=1, S_g=1)
        with pytest.raises(ArgumentError, match="all alike"):
            epsilon(TrainingRun(run, leftover=leftover), delta="1e-5", scheme="fixed")
        assert epsilon(TrainingRun(run, leftover="dropped"), delta="1e-5", scheme="fixed").hidden_state

    def test_records_used_twice_are_refused(self):
        run = training_run(**DIGITS | {"n": 1347}, leftover="repeated", divisor=64)
        with pytest.raises(ArgumentError, match="twice"):
            epsilon(run, delta="1e-5", scheme="reshuffle")

    def test_no_such_way(self):
        with pytest.raises(ArgumentError, match="leftover"):
            training_run(**DIGITS, leftover="forgotten")


class TestDivisors:
    """What sums are divided by changes noise and sensitivity alike, so that composition does not see it."""

    CLIPPED: ClassVar = {"noise_multiplier": 4, "n": 100, "batch_size": 10, "epochs": 10}

    @pytest.mark.parametrize("scheme", [*SCHEMES, "poisson"])
    @pytest.mark.parametrize("divisor", [1, 9, 11, 1000])
    def test_composition_is_the_same(self, scheme, divisor):
        told = self.CLIPPED | ({"batch_size": 100} if scheme == "full_batch" else {})
        plain, divided = (
            epsilon(training_run(**told, **each), delta="1e-5", scheme=scheme) for each in ({}, {"divisor": divisor})
        )
        assert divided.epsilon == plain.epsilon
        assert not divided.hidden_state

    def test_the_review_of_it(self):
        """n = b = 100, 10 steps, divided by 1: G(√10/2), so 7.51127590 exactly, where 0.0509 was once certified."""
        run = training_run(noise_multiplier=4, n=100, batch_size=100, steps=10, divisor=1)
        assert 7.5112759 <= epsilon(run, delta="1e-5", scheme="full_batch").epsilon <= 7.5112760

    def test_an_accountant_for_poisson_sampling_with_a_float_rate(self):
        for divisor in (None, 256):
            told = HiddenStateAccountant(scheme="poisson", n=60_000, batch_size=256, divisor=divisor)
            told.history = [(1, 256 / 60_000, 2340)]
            run = training_run(noise_multiplier=1, n=60_000, batch_size=256, steps=2340)
            expected = epsilon(run, delta="1e-5", scheme="poisson").epsilon
            assert 1.098 < told.get_epsilon(1e-5) == pytest.approx(expected, rel=1e-9)
        with pytest.raises(ArgumentError, match="changes the size of a batch"):
            HiddenStateAccountant(scheme="poisson", n=60_000, batch_size=256, divisor="actual")
        with pytest.raises(ArgumentError, match="sample_rate"):
            told.step(noise_multiplier=1, sample_rate="0.001")

    @pytest.mark.parametrize("batches", [11, 13, 93, 1000])
    @pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
    def test_a_rate_that_is_a_float_means_what_it_says(self, batches, scheme):
        """1/11 written in decimals is a little more, and would lose a step of every epoch."""
        told = {"noise_multiplier": 4, "epochs": 10}
        runs = [training_run(**told, sample_rate=rate) for rate in (1 / batches, Fraction(1, batches))]
        assert runs[0] == runs[1]
        found = epsilon(runs[0], delta="1e-5", scheme=scheme, effort="quick")
        steps = training_run(noise_multiplier=4, sample_rate=f"1/{batches}", steps=10 * batches)
        assert found.epsilon == epsilon(steps, delta="1e-5", scheme=scheme, effort="quick").epsilon

    def test_the_noise_of_the_setting_is_that_of_the_run(self):
        run = training_run(**DIGITS, loss=logistic(feature_norm=1), divisor=61)
        found = epsilon(run, delta="1e-5", scheme="fixed").setting
        assert (found["b"], found["n"]) == (61, 61 * 21)
        assert 2 * found["eta"] * found["sigma2"] == (Fraction(1, 2) * 8 / 61) ** 2

    def test_it_needs_a_batch_size(self):
        with pytest.raises(ArgumentError, match="divisor"):
            training_run(noise_multiplier=8, sample_rate="1/2", epochs=100, divisor=3200)

    @pytest.mark.parametrize("divisor", [0, -1, 32.0, "32", Fraction(32), True, "own"])
    def test_bad_divisors(self, divisor):
        with pytest.raises(ArgumentError, match="divisor"):
            training_run(**DIGITS, divisor=divisor)
        with pytest.raises(ArgumentError, match="divisor"):
            replace(training_run(**DIGITS), divisor=divisor)

    def test_added_records_change_the_size_of_a_batch(self):
        run = training_run(noise_multiplier=10, n=2, batch_size=2, steps=1, divisor="actual")
        with pytest.raises(ArgumentError, match="changes the size of a batch"):
            epsilon(run, delta="1e-5", scheme="poisson")
        with pytest.raises(ArgumentError, match="would tell its size"):  # and so whether the record is in it
            epsilon(run, delta="1e-5", scheme="poisson", neighbouring="replace_one")

    @pytest.mark.parametrize("scheme", ["without_replacement", "poisson"])
    @pytest.mark.parametrize("leftover", ["partial", "blank", "repeated"])
    def test_where_batches_are_drawn_nothing_is_left_over(self, scheme, leftover):
        run = training_run(noise_multiplier=20, n=3, batch_size=2, steps=100, leftover=leftover)
        with pytest.raises(ArgumentError, match="none are left over"):
            epsilon(run, delta="1e-5", scheme=scheme)

    def test_blank_records_are_no_records(self):
        run = training_run(**DIGITS | {"n": 1345}, loss=logistic(feature_norm=1), leftover="blank", divisor="actual")
        partial = replace(run, leftover="partial")
        found = epsilon(run, delta="1e-5", scheme="fixed")
        assert found.epsilon == epsilon(partial, delta="1e-5", scheme="fixed").epsilon
        reasons = {each.label: each.reason for each in found.considered}
        assert "its own size 1" in reasons["gdp:cyclic"]


class TestBadRuns:
    SETTING: ClassVar = Setting(n=100, b=10, K=10, eta="0.1", lam="0.1", beta=1, sigma=1, S_g=2)

    @pytest.mark.parametrize("steps", [0, -5, 2.5, True, Fraction(1, 2), "7", 10**40, math.nan])
    def test_steps(self, steps):
        with pytest.raises(ArgumentError, match="steps"):
            TrainingRun(self.SETTING, steps=steps)

    @pytest.mark.parametrize("setting", [None, "x", 5, {}])
    def test_settings(self, setting):
        with pytest.raises(ArgumentError, match="setting"):
            TrainingRun(setting)

    def test_updates(self):
        with pytest.raises(ArgumentError, match="update"):
            TrainingRun(self.SETTING, update="clipped")
        with pytest.raises(ArgumentError, match="beta"):
            TrainingRun(self.SETTING, update=logistic(feature_norm=1))

    def test_numpy_counts_are_counts(self):
        count = np.int64
        told = HiddenStateAccountant(scheme="shuffle", n=count(84), batch_size=count(4), max_grad_norm=1)
        told.step(noise_multiplier=1, sample_rate=1 / 21)
        assert told.get_epsilon(1e-5) > 0
        assert TrainingRun(self.SETTING, steps=count(73)).steps == 73

    @pytest.mark.parametrize(
        "damage",
        [{"history": None}, {"history": [5]}, {"facts": None}, {"mechanism": np.zeros(2)}, {"released_after": 1.5}],
    )
    def test_damaged_states(self, damage):
        told = HiddenStateAccountant(scheme="shuffle", n=84, batch_size=4)
        with pytest.raises(ArgumentError):
            told.load_state_dict(told.state_dict() | damage)

    def test_arrays_are_no_numbers(self):
        told = HiddenStateAccountant(scheme="shuffle", n=84, batch_size=4)
        for _ in range(2):
            with pytest.raises(ArgumentError, match="noise_multiplier"):
                told.step(noise_multiplier=np.ones(2), sample_rate=1 / 21)
        with pytest.raises(ArgumentError, match="divisor"):
            training_run(**DIGITS, divisor=np.ones(2))
        with pytest.raises(ArgumentError, match="parts"):
            epsilon_of_all(5, delta="1e-5")
        with pytest.raises(ArgumentError, match="epochs"):
            compare(self.SETTING, delta="1e-5", scheme="fixed", epochs=5)

    @pytest.mark.parametrize("target", ["1e400", "1e-400", 10**400])
    def test_targets(self, target):
        with pytest.raises(ArgumentError, match="target_epsilon"):
            calibrate(target_epsilon=target, delta="1e-5", scheme="poisson", sample_rate="0.01", steps=10)

    def test_a_sum_in_which_composition_is_the_smallest(self):
        run = Setting(n=50, b=50, K=1, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        found = epsilon_of_all([Part(run, "full_batch")], delta="1e-5")
        assert len(found.notes) == 1
        assert (":composition:" in found.bounds[0]) == ("composition is the smallest" in found.notes[0])


class TestReasons:
    """Whatever falls back to composition says why in the first line."""

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ("--scheme fixed --n 50 --b 2 --K 40 --eta 0.02 --lam 1 --sigma 2 --S_g 4", "beta"),
            ("--scheme without_replacement --n 50 --b 2 --K 40 --eta 0.02 --beta 4 --sigma 2 --S_g 4", "lam"),
            ("--scheme fixed --n 50 --b 2 --K 40 --eta 0.9 --lam 1 --beta 4 --sigma 2 --S_g 4", "eta"),
            ("--scheme shuffle --noise-multiplier 8 --n 50 --batch-size 2 --epochs 4 --max-grad-norm 1", "clipped"),
            ("--scheme poisson --noise-multiplier 8 --sample-rate 0.01 --steps 10", "clipped"),
        ],
    )
    @pytest.mark.parametrize("command", ["epsilon", "delta"])
    def test_first_line(self, command, options, reason, capsys):
        at = ["--delta", "1e-5"] if command == "epsilon" else ["--epsilon", "1"]
        assert main([command, *options.split(), *at]) == 0
        first = capsys.readouterr().out.splitlines()[0]
        assert "by composition: " in first
        assert reason in first.partition("by composition: ")[2]

    def test_a_hidden_state_bound_says_none(self, capsys):
        options = "--scheme fixed --n 50 --b 2 --K 40 --eta 0.02 --lam 1 --beta 4 --sigma 2 --S_g 4 --delta 1e-5"
        assert main(["epsilon", *options.split()]) == 0
        assert capsys.readouterr().out.splitlines()[0].endswith("for one record replaced, certified")

    def test_adding_a_record_is_not_replacing_one(self):
        run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        pairs = ("poisson", "add_remove"), ("poisson", "replace_one"), ("balls_in_bins", "add_remove")
        for scheme, relation in pairs:
            with pytest.raises(ArgumentError, match=r"mean over its batch.*noise_multiplier = 20, max_grad_norm = 2"):
                epsilon(run, delta="1e-5", scheme=scheme, neighbouring=relation)

    def test_a_mean_over_a_poisson_batch_tells_more_than_a_sum(self):
        """What the refusal above is for: one step, five records without gradient, and one with gradient 2 or 0."""
        claimed = statement("profile:composition:poisson_replace")
        assert "one number" in " ".join(claimed.assumptions)
        setting = Setting(n=6, b=3, K=1, eta=1, sigma=1, S_g=2)
        at, step = np.linspace(-40, 40, 200_001, retstep=True)
        plain = np.exp(-(at**2) / 4) / math.sqrt(4 * math.pi)

        def true_delta(shift):
            """δ at ε = 1, if the record moves a batch of so many by `shift`."""
            shifted = {size: np.exp(-((at - shift(size)) ** 2) / 4) / math.sqrt(4 * math.pi) for size in range(1, 7)}
            used = sum(math.comb(5, size - 1) / 2**6 * law for size, law in shifted.items())
            return float(np.maximum(used + plain / 2 - math.e * plain, 0).sum() * step)

        certified = float(claimed.delta(setting, 1, T=1).hi)
        assert true_delta(lambda size: 2 / 3) <= certified < 1.1 * true_delta(lambda size: 2 / 3)
        assert true_delta(lambda size: 2 / size) > 5 * certified


def test_delta_goes_through_the_same_gate():
    told = [training_run(**DIGITS, loss=loss) for loss in (None, logistic(feature_norm=1))]
    for run, scheme in product(told, EPOCH_SCHEMES):
        found = epsilon(run, delta="1e-5", scheme=scheme)
        back = delta(run, epsilon=Fraction(found.epsilon), scheme=scheme)
        assert back.hidden_state == found.hidden_state
        assert back.delta <= 1.01e-5
