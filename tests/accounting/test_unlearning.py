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
    found = unlearning(run(), scheme="fixed", delta=DELTA, steps=300, training_noise="known")
    setting = run().setting.replace(beta=Fraction(1, 2) + Fraction(1, 20), S_g=1)
    value = statement("unlearn:zero_out").epsilon(setting, DELTA, forgetting=300, noise_ratio=1)
    assert (found.bound, found.epsilon) == ("unlearn:zero_out", value.upper())
    assert not found.needs_training_noise


def test_twice_the_noise_after_training_is_a_ratio_of_four():
    given = {"steps": 300, "noise_multiplier": 16, "training_noise": "known"}
    found = unlearning(run(), scheme="fixed", delta=DELTA, **given)
    value = statement("unlearn:zero_out").epsilon(found.setting, DELTA, forgetting=300, noise_ratio=4)
    assert found.epsilon == value.upper()


def test_after_few_steps_on_few_batches_the_noise_of_training_counts():
    found = unlearning(run(n=64), scheme="full_batch", delta=DELTA, steps=1)
    known = unlearning(run(n=64), scheme="full_batch", delta=DELTA, steps=1, training_noise="known")
    assert (known.bound, known.needs_training_noise) == ("unlearn:zero_out", False)
    assert known.epsilon > found.epsilon
    assert found.bound == "unlearn:every_step"
    assert found.needs_training_noise
    assert any("secret" in words for words in found.assumptions)
    replaced = epsilon(run(n=64), delta=DELTA, scheme="full_batch")
    assert found.epsilon < replaced.epsilon  # leaving a record out changes half as much as replacing it


def test_without_a_regulariser_only_noise_forgets():
    known = {"delta": DELTA, "epsilon": 1, "training_noise": "known"}
    found = unlearning(run(weight_decay=None), scheme="reshuffle", **known)
    assert found.bound == "unlearn:convex"
    drawn = unlearning(run(weight_decay=None), scheme="without_replacement", **known)
    assert drawn.bound == "unlearn:convex"
    assert drawn.steps > found.steps  # any step may have used the record


def test_softmax_and_what_is_vouched_for():
    for loss in (vouched(lipschitz="0.99"), softmax(classes=2, feature_norm="0.5")):
        found = unlearning(run(loss=loss), scheme="fixed", delta=DELTA, epsilon="0.5")
        assert found.bound == BY_SHIFTS
        assert found.assumed_by_you


BY_SHIFTS = "unlearn:expanding/by-shifts"


@pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
@pytest.mark.parametrize("steps", [1, 20, 300, 5000])
def test_the_noise_of_training_never_hurts(scheme, steps):
    for changes in ({}, {"weight_decay": None}):
        given = {"scheme": scheme, "delta": DELTA, "steps": steps}
        secret = unlearning(run(**changes), **given)
        known = unlearning(run(**changes), **given, training_noise="known")
        assert secret.epsilon <= known.epsilon
        assert not known.needs_training_noise
        assert secret.needs_training_noise or steps > 300
        assert steps > 20 or secret.epsilon < known.epsilon / 2


class TestUpdatesThatExpand:
    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle", "without_replacement"])
    @pytest.mark.parametrize("c", ["1", "1.001", "1.05", "1.5", "100"])
    def test_they_are_answered_and_never_above_composition(self, scheme, c):
        given = run(loss=vouched(lipschitz=c), weight_decay=None, epochs=3)
        found = unlearning(given, scheme=scheme, delta=DELTA, steps=10)
        assert found.bound in (BY_SHIFTS, "unlearn:expanding")
        assert found.needs_training_noise
        composed = statement("gdp:composition:fixed").epsilon(
            given.setting.replace(S_g=1, K=3 if scheme != "without_replacement" else 63, n=1344), DELTA
        )
        assert Fraction(found.epsilon) <= composed.hi
        assert found.assumed_by_you

    @pytest.mark.parametrize("scheme", ["fixed", "reshuffle"])
    def test_what_is_solved_for_just_does(self, scheme):
        expands = run(loss=vouched(lipschitz="1.01"), weight_decay=None, epochs=3)
        reached = unlearning(expands, scheme=scheme, delta=DELTA, steps=20).epsilon * (1 + 1e-9)
        found = unlearning(expands, scheme=scheme, delta=DELTA, epsilon=repr(reached))
        assert found.steps <= 20
        louder = unlearning(expands, scheme=scheme, delta=DELTA, steps=5, epsilon=repr(reached))
        assert louder.noise_multiplier > 8
        less = louder.noise_multiplier * (1 - Fraction(1, 10**5))
        assert unlearning(expands, scheme=scheme, delta=DELTA, steps=5, noise_multiplier=less).epsilon > reached

    def test_what_no_number_of_steps_reaches_is_said(self):
        expands = run(loss=vouched(lipschitz="1.5"), weight_decay=None)
        with pytest.raises(ArgumentError, match="no number of further steps"):
            unlearning(expands, scheme="fixed", delta=DELTA, epsilon="0.001")

    def test_where_the_noise_of_training_is_known_nothing_covers_them(self):
        expands = run(loss=vouched(lipschitz="1.05"), weight_decay=None)
        with pytest.raises(ArgumentError) as refused:
            unlearning(expands, scheme="fixed", delta=DELTA, steps=10, training_noise="known")
        assert refused.value.argument == "training_noise"


@pytest.mark.parametrize(
    ("changes", "given", "named"),
    [
        ({"loss": None}, {"epsilon": 1}, "loss"),
        ({"optimizer": "adam"}, {"epsilon": 1}, "optimizer"),
        ({"loss": vouched(lipschitz="1.1"), "weight_decay": None}, {"epsilon": 1, "scheme": "poisson"}, "scheme"),
        ({"released": "every"}, {"epsilon": 1}, "released"),
        ({"released": [8]}, {"epsilon": 1}, "released"),
        ({}, {"epsilon": 1, "training_noise": "loud"}, "training_noise"),
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
        ({"learning_rate": lambda t: "0.5" if t else "0.4"}, {"epsilon": 1, "scheme": "poisson"}, "per"),
        ({"released": [5]}, {"epsilon": 1}, "released"),
        ({"projection": 3}, {"epsilon": 1}, "projection"),
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
