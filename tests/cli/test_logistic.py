"""`hsdp logistic`, and the example it trains."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from hsdp_symbolic.accounting.losses import MAY_BITE, TWO_CLASSES
from hsdp_symbolic.accounting.regression import logistic_privacy
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.examples.logistic import BINARY, MULTICLASS, accuracy, demonstrate, make_data, train
from hsdp_symbolic.experiment.losses import ClippedLogistic
from tests.accounting.test_regression import RUN, TIGHT


class TestExample:
    def test_one_seed_one_result(self):
        first, again, other = (demonstrate(epochs=2, runs=2, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first.accuracy != other.accuracy

    @pytest.mark.parametrize(
        ("parameters", "case", "learnt"), [(BINARY, TWO_CLASSES, 0.95), (MULTICLASS, MAY_BITE, 0.85)]
    )
    def test_accuracy_beside_epsilon(self, parameters, case, learnt):
        found = demonstrate(**parameters, runs=2)
        assert case in found.privacy.case
        assert found.chance < learnt < found.accuracy <= found.not_private + 0.02
        assert found.clipped > 0.1  # clipping does bite
        assert found.privacy.guarantee.epsilon < 1 < found.privacy.composition.epsilon

    def test_more_noise_less_accuracy_and_a_smaller_epsilon(self):
        little, much = (demonstrate(epochs=3, runs=2, noise_multiplier=z) for z in (10, 1000))
        assert much.accuracy < little.accuracy - 0.1
        assert much.privacy.guarantee.epsilon < little.privacy.guarantee.epsilon

    def test_the_noise_is_what_was_accounted_for(self, monkeypatch):
        """√(2ησ²) = learning rate · noise multiplier · clip norm / batch size."""
        from hsdp_symbolic.examples import logistic

        seen = []

        def spy(*arguments, **options):
            seen.append(options["noise"])
            return train(*arguments, **options)

        monkeypatch.setattr(logistic, "train", spy)
        demonstrate(epochs=1, runs=2)
        assert seen == [pytest.approx(0.5 * 10 * 0.5 / 100)] * 2 + [0.0]

    def test_the_noise_is_added_at_every_step(self):
        rng = np.random.default_rng(0)
        loss = ClippedLogistic(lam=0.1, radius=1, clip=1, features=60)
        records = np.concatenate([rng.standard_normal((40, 60)), np.eye(2)[rng.integers(2, size=40)]], axis=1)
        theta, _ = train(loss, records, learning_rate=1e-12, batch_size=4, epochs=10, noise=0.1, rng=rng)
        assert np.std(theta) == pytest.approx(1, rel=0.2)  # 100 steps of 0.1

    def test_one_step_by_hand(self):
        """From 0 all classes are equally likely: the gradient is (p − y)x̄, shortened to the clip norm."""
        loss = ClippedLogistic(lam=0.1, radius=1, clip=0.3, features=2)
        record = np.array([[3.0, 4.0, 1.0, 0.0]])
        theta, clipped = train(
            loss, record, learning_rate=0.5, batch_size=1, epochs=1, noise=0, rng=np.random.default_rng(0)
        )
        plain = np.outer([-0.5, 0.5], [0.6, 0.8, 1.0]).ravel()
        assert theta == pytest.approx(-0.5 * plain * 0.3 / np.linalg.norm(plain))
        assert clipped == 1
        assert accuracy(loss, theta, record) == 1

    def test_data(self):
        records = make_data(n=300, classes=3, rng=np.random.default_rng(0))
        assert records.shape == (300, 7)
        assert (records[:, 4:].sum(axis=1) == 1).all()

    @pytest.mark.parametrize("bad", [{"seed": -1}, {"seed": "x"}, {"runs": 0}, {"scheme": "poisson"}, {"n": "many"}])
    def test_bad_options(self, bad):
        with pytest.raises(ArgumentError):
            demonstrate(**bad)


class TestCommandLine:
    ARGUMENTS = (
        "logistic --n 1000 --classes {} --feature-norm 1 --clip {} --lam 0.1 --eta 0.25 --batch 50 --epochs 20 "
        "--noise-multiplier 8 --delta 1e-5"
    )

    def test_json(self, capsys):
        assert main([*self.ARGUMENTS.format(2, 0.5).split(), "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["epsilon"] == logistic_privacy(**RUN).guarantee.epsilon
        assert record["composition"] > record["epsilon"]
        constants = {each["name"]: (each["value"], each["from"]) for each in record["constants"]}
        assert constants["S_g"][0] == "1"
        assert constants["beta"] == ("11/10", "prop:smooth_strcvx_clip")

    def test_report(self, capsys):
        assert main(self.ARGUMENTS.format(3, 0.1).split()) == 0
        out = capsys.readouterr().out
        assert repr(logistic_privacy(**TIGHT).guarantee.epsilon) in out
        assert "clip:softmax" in out
        assert "2·clip_norm" in out

    def test_composition_says_why(self, capsys):
        given = [*self.ARGUMENTS.format(3, 0.5).split(), "--scheme", "without_replacement"]
        assert main(given) == 0
        first, second, *_ = capsys.readouterr().out.splitlines()
        assert "by composition: " in first
        assert "clipping may make the update expand" in first
        assert "weight_decay >= " in second

    @pytest.mark.parametrize(
        "bad", ["--n x", "--n 10.5", "--lam nan", "--delta 2", "--epochs 1e308", "--scheme x", "--clip -1", "--batch 0"]
    )
    def test_bad_values(self, capsys, bad):
        assert main([*self.ARGUMENTS.format(2, 0.5).split(), *bad.split()]) == 2
        assert "hsdp: error: " in capsys.readouterr().err

    def test_something_missing(self, capsys):
        assert main(["logistic", "--n", "10"]) == 2
        assert "--classes" in capsys.readouterr().err

    def test_example(self):
        """In a process of its own, as a user runs it, within ten seconds of processor time."""
        code = (
            "import resource, sys; from hsdp_symbolic.cli import main; main(['logistic', '--demo', '--json']); "
            "used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        examples, seconds = out.strip().splitlines()
        assert [each["accuracy"] > 0.9 for each in json.loads(examples)] == [True, True]
        assert float(seconds) < 10

    def test_example_with_other_values(self, capsys):
        arguments = "--demo --epochs 2 --classes 3 --clip 2 --lam 0.1 --seed 4"
        assert main(["logistic", *arguments.split()]) == 0
        out = capsys.readouterr().out
        assert "clipping never bites" in out
        assert "seed 4" in out
