"""Comparisons of bounds and schemes, and where they cross."""

from __future__ import annotations

from typing import ClassVar

import pytest

from hsdp_symbolic import HsdpError, Setting
from hsdp_symbolic.accounting import (
    checkpoints,
    compare,
    epsilon,
    logistic,
    training_run,
)


def test_comparison_and_crossovers(figure_run, only):
    only("thm:strconvexsmooth", "balle2019", "composition:fixed")
    found = compare(figure_run, delta="1e-5", scheme="fixed")
    curves = dict(found.curves)
    assert found.epochs == (1, 2, 5, 10, 20, 40)
    (crossing,) = found.crossovers
    assert (crossing.K, crossing.before, crossing.after) == (7, "balle2019", "thm:strconvexsmooth")
    assert crossing.certified
    for K, smaller, larger in ((6, "balle2019", "thm:strconvexsmooth"), (7, "thm:strconvexsmooth", "balle2019")):
        values = {
            entry.label: entry.value
            for entry in epsilon(figure_run.replace(K=K), delta="1e-5", scheme="fixed").considered
        }
        assert values[smaller] < values[larger]
    assert curves["thm:strconvexsmooth"][-1] == epsilon(figure_run, delta="1e-5", scheme="fixed").epsilon


def test_a_comparison_across_schemes_that_do_not_apply(figure_run):
    bare = Setting(**{k: v for k, v in figure_run.exact_strings().items() if k != "lam"})
    found = compare(bare, delta="1e-5", scheme="shuffle", epochs=[3, 1])
    assert found.epochs == (1, 3)
    assert "thm:shuffle" in dict(found.does_not_apply)
    with pytest.raises(HsdpError, match="an empty list"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[])
    with pytest.raises(HsdpError, match="not a whole number"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[1.5])


class TestRunsWhoseStepsDiffer:
    """A schedule, checkpoints, a number of steps: every row is the run cut short there."""

    FACTS: ClassVar = {
        "n": 60, "batch_size": 20, "noise_multiplier": 4, "max_grad_norm": 1, "weight_decay": "0.1",
        "loss": logistic(feature_norm=1),
    }  # fmt: skip
    RATES = ("0.5", "0.25", "0.1")

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle", "poisson", "without_replacement"])
    def test_a_schedule(self, scheme):
        run = training_run(learning_rate=self.RATES, per="epoch", **self.FACTS)
        found = compare(run, delta="1e-5", scheme=scheme)
        assert found.epochs == (1, 2, 3)
        for row, K in enumerate(found.epochs):
            cut = training_run(learning_rate=self.RATES[:K], per="epoch", **self.FACTS)
            least = min(values[row] for _, values in found.curves if values[row] is not None)
            assert least == epsilon(cut, delta="1e-5", scheme=scheme).epsilon
        hidden = dict(found.curves).get("shift:pattern/planned-releases")
        if hidden is not None:
            composed = dict(found.curves)["gdp:composition:fixed"]
            assert all(x <= y for x, y in zip(hidden[1:], composed[1:], strict=True))

    def test_where_hidden_state_becomes_smaller(self):
        run = training_run(learning_rate=lambda t: 0.5 / (1 + t // 50), steps=60, released=checkpoints(1), **self.FACTS)
        found = compare(run, delta="1e-5", scheme="fixed", epochs=[1, 20])
        hidden, composed = (
            dict(found.curves)[label] for label in ("shift:pattern/planned-releases", "gdp:composition:fixed")
        )
        assert hidden[1] < composed[1]

    def test_a_run_that_ends_within_an_epoch(self):
        run = training_run(learning_rate="0.5", steps=7, **self.FACTS)
        found = compare(run, delta="1e-5", scheme="fixed")
        assert found.epochs == (1, 2, 3)
        assert "7 steps" in found.unfinished
        least = [min(values[row] for _, values in found.curves if values[row] is not None) for row in range(3)]
        assert least[2] == epsilon(run, delta="1e-5", scheme="fixed").epsilon
        whole = training_run(learning_rate="0.5", epochs=2, **self.FACTS)
        assert least[1] == epsilon(whole, delta="1e-5", scheme="fixed").epsilon
        assert not compare(whole, delta="1e-5", scheme="fixed").unfinished

    def test_a_batch_size_that_changes(self):
        run = training_run(
            learning_rate="0.5", per="epoch", **{**self.FACTS, "batch_size": [20, 30], "noise_multiplier": 3}
        )
        for scheme in ("shuffle", "poisson"):
            found = compare(run, delta="1e-5", scheme=scheme)
            assert found.epochs == (1, 2)
            assert not found.unfinished

    def test_the_full_batch(self):
        run = training_run(learning_rate=["0.5", "0.2", "0.1", "0.1"], per="step", **{**self.FACTS, "batch_size": 60})
        assert compare(run, delta="1e-5", scheme="full_batch", epochs=[2, 4]).epochs == (2, 4)

    def test_more_epochs_than_the_schedule_has(self):
        run = training_run(learning_rate=self.RATES, per="epoch", **self.FACTS)
        with pytest.raises(HsdpError, match="what 3 epochs do"):
            compare(run, delta="1e-5", scheme="fixed", epochs=[1, 4])
