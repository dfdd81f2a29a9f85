"""`unlearning`: what is solved for just does, what is not covered is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.accounting import epsilon, logistic, softmax, training_run, unlearning, vouched
from hsdp_symbolic.errors import ArgumentError

OPTIONS = {
    "n": 1344,
    "batch_size": 64,
    "epochs": 15,
    "learning_rate": "0.1",
    "noise_multiplier": 8,
    "max_grad_norm": 1,
    "weight_decay": "0.05",
    "loss": logistic(feature_norm=1),
}
DELTA = "1e-5"
SCHEMES = ("fixed", "shuffle", "reshuffle", "without_replacement", "poisson")


def run(**changes):
    given = {**OPTIONS, **changes}
    return training_run(**{name: value for name, value in given.items() if value is not None})


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_step_fewer_would_not_do(scheme):
    found = unlearning(run(), scheme=scheme, delta=DELTA, epsilon="0.2")
    assert found.epsilon <= 0.2 < unlearning(run(), scheme=scheme, delta=DELTA, steps=found.steps - 1).epsilon
    assert found.solved_for == "steps"
    assert found.noise_multiplier == 8


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_little_less_noise_would_not_do(scheme):
    found = unlearning(run(), scheme=scheme, delta=DELTA, epsilon="0.2", steps=100)
    assert found.epsilon <= 0.2
    less = found.noise_multiplier * (1 - Fraction(1, 10**5))
    assert unlearning(run(), scheme=scheme, delta=DELTA, steps=100, noise_multiplier=less).epsilon > 0.2


def test_it_is_the_statement_at_the_clip_norm():
    found = unlearning(run(), scheme="fixed", delta=DELTA, steps=300)
    setting = run().setting.replace(beta=Fraction(1, 2) + Fraction(1, 20), S_g=1)
    value = statement("unlearn:zero_out").epsilon(setting, DELTA, forgetting=300, noise_ratio=1)
    assert (found.bound, found.epsilon) == ("unlearn:zero_out", value.upper())
    assert not found.needs_training_noise


def test_twice_the_noise_after_training_is_a_ratio_of_four():
    found = unlearning(run(), scheme="fixed", delta=DELTA, steps=300, noise_multiplier=16)
    value = statement("unlearn:zero_out").epsilon(found.setting, DELTA, forgetting=300, noise_ratio=4)
    assert found.epsilon == value.upper()


def test_after_few_steps_on_few_batches_the_noise_of_training_counts():
    found = unlearning(run(n=64), scheme="full_batch", delta=DELTA, steps=1)
    assert found.bound == "unlearn:every_step"
    assert found.needs_training_noise
    assert any("secret" in words for words in found.assumptions)
    replaced = epsilon(run(n=64), delta=DELTA, scheme="full_batch")
    assert found.epsilon < replaced.epsilon  # leaving a record out changes half as much as replacing it


def test_without_a_regulariser_only_noise_forgets():
    found = unlearning(run(weight_decay=None), scheme="reshuffle", delta=DELTA, epsilon=1)
    assert found.bound == "unlearn:convex"
    drawn = unlearning(run(weight_decay=None), scheme="without_replacement", delta=DELTA, epsilon=1)
    assert drawn.bound == "unlearn:convex"
    assert drawn.steps > found.steps  # any step may have used the record


def test_softmax_and_what_is_vouched_for():
    for loss in (vouched(lipschitz="0.99"), softmax(classes=2, feature_norm="0.5")):
        found = unlearning(run(loss=loss), scheme="fixed", delta=DELTA, epsilon="0.5")
        assert found.bound == "unlearn:zero_out"
        assert found.assumed_by_you


@pytest.mark.parametrize(
    ("changes", "given", "named"),
    [
        ({"loss": None}, {"epsilon": 1}, "loss"),
        ({"optimizer": "adam"}, {"epsilon": 1}, "loss"),
        ({"loss": vouched(lipschitz="1.1"), "weight_decay": None}, {"epsilon": 1}, "loss"),
        ({"released": "every"}, {"epsilon": 1}, "released"),
        ({"released": [8]}, {"epsilon": 1}, "released"),
        ({"learning_rate": ["0.1", "0.05"], "per": "epoch", "epochs": 2}, {"epsilon": 1}, "per"),
        ({"batch_size": [16, 32], "per": "epoch", "epochs": None}, {"epsilon": 1, "scheme": "full_batch"}, "per"),
        ({"learning_rate": ["0.1", "0.05"], "per": "epoch", "epochs": 2}, {"epsilon": 1, "scheme": "poisson"}, "per"),
        ({"divisor": "actual"}, {"epsilon": 1}, "divisor"),
        ({"epochs": None, "steps": 30}, {"epsilon": 1}, "steps"),
        ({"learning_rate": 1}, {"epsilon": 1, "scheme": "poisson"}, "learning_rate"),
        ({"learning_rate": 1}, {"epsilon": 1, "scheme": "balls_in_bins"}, "learning_rate"),
        (
            {"loss": softmax(classes=10, feature_norm=1), "weight_decay": 1},
            {"epsilon": 1, "scheme": "poisson"},
            "scheme",
        ),
        ({"learning_rate": lambda t: "0.5" if t else "0.4"}, {"epsilon": 1, "scheme": "poisson"}, "schedule"),
        ({"released": [5]}, {"epsilon": 1}, "released"),
        ({"loss": vouched(lipschitz="0.99")}, {"epsilon": 1, "scheme": "full_batch"}, "batch_size"),
        ({}, {}, "epsilon"),
        ({}, {"epsilon": 0}, "epsilon"),
        ({}, {"epsilon": 1, "delta": 0}, "delta"),
        ({}, {"epsilon": 1, "steps": 10, "noise_multiplier": 1}, "noise_multiplier"),
        ({}, {"steps": 0}, "steps"),
    ],
)
def test_what_is_not_covered_is_refused_by_name(changes, given, named):
    with pytest.raises(ArgumentError) as refused:
        unlearning(run(**changes), **{"scheme": "fixed", "delta": DELTA, **given})
    assert refused.value.argument == named
    assert refused.value.remedy


def test_gradients_that_are_not_clipped_are_refused(figure_run):
    with pytest.raises(ArgumentError, match="without clipping"):
        unlearning(figure_run, scheme="fixed", delta=DELTA, epsilon=1)
