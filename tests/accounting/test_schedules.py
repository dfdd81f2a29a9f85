"""Runs whose steps differ: how they are described, what they cost beside others, and how long that takes."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import ClassVar

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import (
    TrainingRun,
    calibrate,
    checkpoints,
    epsilon,
    logistic,
    scheduled_run,
    training_run,
)
from hsdp_symbolic.accounting.schedule import Schedule, Stretch
from hsdp_symbolic.errors import ArgumentError


class TestDescriptions:
    FACTS: ClassVar = {"n": 100, "noise_multiplier": 2, "max_grad_norm": 1}

    def test_lists_and_functions_say_the_same(self):
        by_epoch = training_run(learning_rate=["0.4", "0.2"], per="epoch", batch_size=10, **self.FACTS)
        by_step = training_run(learning_rate=["0.4"] * 10 + ["0.2"] * 10, per="step", batch_size=10, **self.FACTS)
        by_rule = training_run(
            learning_rate=lambda t: "0.4" if t < 10 else "0.2", steps=20, batch_size=10, **self.FACTS
        )
        assert by_epoch == by_step == by_rule
        assert len({by_epoch, by_step, by_rule}) == 1
        assert str(by_epoch.schedule) == "a schedule of 20 steps in 2 stretches, learning rates from 0.2 to 0.4"

    def test_batches_that_grow(self):
        run = training_run(
            learning_rate="0.1", batch_size=[10, 25], per="epoch", **{**self.FACTS, "n": 100, "max_grad_norm": 1}
        )
        assert [each.steps for each in run.schedule.stretches] == [10, 4]
        assert epsilon(run, delta="1e-5", scheme="fixed").epsilon < 10

    def test_full_batches_that_do_not_hold_all_records_are_refused(self):
        """Its noise is scaled for batches of 10: beside full batches the run would seem far more private than it is."""
        run = training_run(learning_rate=["0.5", "0.4"], batch_size=[100, 10], per="step", **self.FACTS)
        with pytest.raises(ArgumentError, match="batch_size = 10: a full batch holds all n = 100"):
            epsilon(run, delta="1e-5", scheme="full_batch")

    @pytest.mark.parametrize("eta", [["0.1"] * 6, lambda t: "0.1"])
    def test_steps_that_turn_out_alike_are_as_many_as_were_listed(self, eta):
        """In the paper's letters an epoch of full batches is a single step."""
        alike = scheduled_run(self.LETTERS, eta=eta, steps=6, per="step")
        nearly = scheduled_run(self.LETTERS.replace(b=6), eta=["0.1"] * 5 + ["0.100001"], per="step")
        found, close = (epsilon(run, delta="1e-5", scheme="full_batch") for run in (alike, nearly))
        assert found.epsilon == pytest.approx(close.epsilon, rel=1e-5)
        whole = epsilon(self.LETTERS.replace(eta="0.1", K=1), delta="1e-5", scheme="fixed")
        assert epsilon(alike, delta="1e-5", scheme="fixed").epsilon == pytest.approx(whole.epsilon, rel=1e-9)

    LETTERS: ClassVar = Setting(n=6, b=1, S_g=1, lam=1, beta=2, sigma=1)

    def test_accumulated_gradients_are_one_batch(self):
        facts = {**self.FACTS, "learning_rate": "0.1", "epochs": 2}
        split, whole = training_run(batch_size=5, accumulate=2, **facts), training_run(batch_size=10, **facts)
        for scheme in ("fixed", "reshuffle", "balls_in_bins"):
            one, other = (epsilon(run, delta="1e-5", scheme=scheme) for run in (split, whole))
            assert (one.epsilon, one.bound) == (other.epsilon, other.bound)

    @pytest.mark.parametrize(
        ("given", "scheme", "message"),
        [
            ({"batch_size": 5, "accumulate": 3}, "reshuffle", r"20 batches of 5.*twice.*batch_size = 15"),
            ({"batch_size": [5, 4], "accumulate": 2, "per": "epoch"}, "fixed", r"25 batches of 4.*batch_size = 8"),
            ({"batch_size": 32, "accumulate": 2, "leftover": "dropped"}, "shuffle", "3 batches of 32"),
            ({"batch_size": 32, "accumulate": 3}, "fixed", "batch size 32: 4 of them are left over"),
            ({"batch_size": 5, "accumulate": 2}, "poisson", "a draw of its own"),
            ({"batch_size": 5, "accumulate": 2}, "without_replacement", "a draw of its own"),
        ],
    )
    def test_a_step_that_may_use_a_record_twice_is_refused(self, given, scheme, message):
        epochs = {} if "per" in given else {"epochs": 2}
        run = training_run(learning_rate="0.1", **epochs, **self.FACTS, **given)
        with pytest.raises(ArgumentError, match=message):
            epsilon(run, delta="1e-5", scheme=scheme)

    def test_gradients_of_what_is_left_over_may_be_added_up_too(self):
        """Four batches, of 32 and of 4, make two steps."""
        facts = {**self.FACTS, "learning_rate": "0.1", "epochs": 2, "leftover": "partial", "divisor": 64}
        split, whole = training_run(batch_size=32, accumulate=2, **facts), training_run(batch_size=64, **facts)
        one, other = (epsilon(run, delta="1e-5", scheme="reshuffle").epsilon for run in (split, whole))
        assert one == other

    def test_an_epoch_of_full_batches_is_no_number_of_smaller_ones(self):
        letters = self.LETTERS.replace(b=2)
        run = scheduled_run(letters, eta=["0.1", "0.05"], per="epoch")
        with pytest.raises(ArgumentError, match="b = 2: a full batch holds all n = 6 records; give b = n"):
            epsilon(run, delta="1e-5", scheme="full_batch")
        whole = scheduled_run(letters.replace(b=6), eta=["0.1", "0.05"], per="epoch")
        assert epsilon(whole, delta="1e-5", scheme="full_batch").epsilon > 0

    @pytest.mark.parametrize("scheme", ["fixed", "poisson"])
    def test_a_checkpoint_every_so_many_steps(self, scheme):
        facts = {**self.FACTS, "learning_rate": "0.1", "batch_size": 10, "epochs": 3}
        few, listed = (
            epsilon(training_run(released=shown, **facts), delta="1e-5", scheme=scheme)
            for shown in (checkpoints(every=10), checkpoints(10, 20))
        )
        assert few.epsilon == listed.epsilon
        assert checkpoints(every=1) == training_run(released="every", **facts).released

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"learning_rate": ["0.1", "0.2"], "batch_size": 10}, "per='epoch'"),
            ({"learning_rate": ["0.1", "0.2"], "per": "month", "batch_size": 10}, "per epoch or per step"),
            ({"learning_rate": [], "per": "step", "batch_size": 10}, "empty list"),
            ({"learning_rate": ["0.1"], "epochs": 2, "per": "epoch", "batch_size": 10}, "there are 2 epochs"),
            ({"learning_rate": lambda t: "0.1", "batch_size": 10}, "does not say how many"),
            ({"learning_rate": lambda t: 1 / t, "steps": 3, "batch_size": 10}, "fails at 0: ZeroDivisionError"),
            ({"learning_rate": lambda t: "x", "steps": 3, "batch_size": 10}, "not a number"),
            ({"learning_rate": ["0.1", -1], "per": "step", "batch_size": 10}, "must be positive"),
            ({"learning_rate": {1: "0.1", 2: "0.2"}, "per": "epoch", "batch_size": 10}, "no list"),
            ({"learning_rate": {"0.1", "0.2"}, "per": "epoch", "batch_size": 10}, "no list"),
            ({"learning_rate": "0.1", "per": "step", "batch_size": 10, "epochs": 1}, "nothing is given per step"),
            ({"learning_rate": "0.1", "batch_size": [10, 200], "per": "epoch"}, "exceed the dataset"),
            ({"learning_rate": "0.1", "batch_size": 10, "epochs": 1, "released": "some"}, "which iterates"),
            ({"learning_rate": "0.1", "batch_size": 10, "epochs": 1, "released": [0]}, "out of range"),
            ({"learning_rate": "0.1", "batch_size": 10, "epochs": 1, "released": [5, 11]}, "ends after 10 steps"),
            ({"learning_rate": "0.1", "batch_size": 10, "epochs": 1, "projection": 0}, "must be positive"),
            ({"learning_rate": "0.1", "epochs": 1, "accumulate": 2, "sample_rate": "0.1"}, "batch_size"),
        ],
    )
    def test_what_is_refused(self, given, message):
        with pytest.raises(ArgumentError, match=message):
            training_run(**{**self.FACTS, **given})

    @pytest.mark.parametrize(
        ("step", "message"),
        [
            (Stretch(2, Fraction(1), Fraction(1), 7), "exceed the dataset"),
            (Stretch(0, Fraction(1), Fraction(1), 2), "without steps"),
            (Stretch(2, Fraction(-1), Fraction(1), 2), "without steps, or with no learning rate"),
        ],
    )
    def test_schedules_that_are_none(self, step, message):
        schedule = Schedule((Stretch(2, Fraction(1, 2), Fraction(1), 2), step))
        with pytest.raises(ArgumentError, match=message):
            TrainingRun(Setting(n=6, S_g=1), steps=schedule.steps, schedule=schedule)

    def test_where_a_pass_ends_is_said(self):
        run = training_run(learning_rate="0.1", batch_size=[30, 20], per="step", leftover="dropped", **self.FACTS)
        assert any("a pass ends where" in each for each in epsilon(run, delta="1e-5", scheme="shuffle").assumptions)


class TestCosts:
    def test_a_million_steps(self):
        begun = time.process_time()
        run = training_run(
            n=60_000, batch_size=60, learning_rate=["0.5"] * 500 + ["0.25"] * 500, per="epoch", noise_multiplier=8,
            max_grad_norm=1, weight_decay="0.01", loss=logistic(feature_norm=1),
        )  # fmt: skip
        found = epsilon(run, delta="1e-5", scheme="shuffle")
        assert run.steps == 10**6
        assert found.epsilon == pytest.approx(0.685631, abs=1e-6)
        assert time.process_time() - begun < 20

    def test_the_noise_of_a_schedule_can_be_calibrated(self):
        run = training_run(
            n=100, batch_size=10, learning_rate=["0.5", "0.2"], noise_multiplier=["4", "2"], per="epoch",
            max_grad_norm=1, weight_decay="0.1", loss=logistic(feature_norm=1),
        )  # fmt: skip
        found = calibrate(run, target_epsilon=1, delta="1e-5", scheme="shuffle", solve_for="noise_scale")
        assert 1 - 1e-5 < found.guarantee.epsilon <= 1
        assert found.guarantee.hidden_state

    def test_stretches_of_steps_drawn_afresh(self):
        """Never above one run of the noisiest sort of step, nor below one of the other sort."""
        facts = {"n": 1000, "batch_size": 50, "max_grad_norm": 1, "learning_rate": "0.5"}
        both = training_run(noise_multiplier=[2] * 20 + [4] * 20, per="step", **facts)
        found = epsilon(both, delta="1e-5", scheme="poisson")
        less, more = (
            epsilon(training_run(noise_multiplier=z, steps=40, **facts), delta="1e-5", scheme="poisson") for z in (4, 2)
        )
        assert less.epsilon < found.epsilon < 1.2 * more.epsilon


@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_a_learning_rate_is_nothing_to_composition(scheme):
    told = {"n": 1000, "batch_size": 20, "noise_multiplier": 1, "max_grad_norm": 1}
    changing = training_run(learning_rate=["0.5", "0.1", "0.02"], per="epoch", **told)
    steady = training_run(epochs=3, **told)
    one, other = (epsilon(run, delta="1e-5", scheme=scheme) for run in (changing, steady))
    assert one.epsilon == pytest.approx(other.epsilon, rel=1e-9)
    assert (
        one.note
        == other.note
        == "gradients are clipped, so the update need not contract: nothing is known of the clipped loss"
    )
    louder = training_run(
        learning_rate=["0.5", "0.1", "0.02"], per="epoch", **(told | {"noise_multiplier": ["1", "2", "1"]})
    )
    assert epsilon(louder, delta="1e-5", scheme=scheme).epsilon < 0.9 * one.epsilon
