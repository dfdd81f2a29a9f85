"""Whatever run is described: an answer that is in order, or a refusal that says what would help."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from hsdp_symbolic.accounting import (
    TrainingRun,
    advise,
    average,
    calibrate,
    checkpoints,
    compare,
    convex,
    delta,
    epsilon,
    huber,
    logistic,
    scalar,
    smooth,
    smoothed_hinge,
    softmax,
    squared,
    training_run,
    unlearning,
    vouched,
)
from hsdp_symbolic.accounting.conversion import Goal
from hsdp_symbolic.accounting.timeline import timeline
from hsdp_symbolic.accounting.update import Clipped
from hsdp_symbolic.errors import ArgumentError, HsdpError
from hsdp_symbolic.evaluate.enclosure import Enclosure
from hsdp_symbolic.meaning import SCHEMES, Neighbouring, Scheme

RELATIONS = (None, *Neighbouring)
KNOWN = ("fixed", "shuffle", "reshuffle", "full_batch")


def some(rng, values):
    return values[int(rng.integers(len(values)))]


class TestAnyRun:
    """Whatever run is described: an answer that is at most composition and at least the exact law, or a refusal."""

    LOSSES: ClassVar = (
        None,
        logistic(feature_norm=1),
        logistic(feature_norm=1, bias=False),
        huber(feature_norm=2),
        squared(feature_norm=1),
        smoothed_hinge(feature_norm=1, width="0.5"),
        softmax(classes=3, feature_norm=1),
        softmax(classes=2, feature_norm=2),
        scalar(feature_norm=2, curvature=3),
        convex(smoothness="0.5"),
        smooth(smoothness="0.01"),
        vouched(lipschitz="0.9"),
        vouched(lipschitz="1.3"),
    )

    def random_run(self, rng) -> dict[str, object]:
        n = int(rng.integers(2, 200))
        size = int(rng.integers(1, n + 1))
        if rng.random() < 0.6:
            n = size * int(rng.integers(1, 6))
        steps = int(rng.integers(1, 60))
        rates = [some(rng, ["0.5", "0.1", "2", "30", "1e-6", 0.37]) for _ in range(steps)]
        run: dict[str, object] = {"n": n, "batch_size": size, "noise_multiplier": some(rng, ["1", "8", "0.2", "100"])}
        run["max_grad_norm"] = some(rng, [1, "0.1", "0.3", 5])
        run["learning_rate"] = some(
            rng,
            [
                rates[0],
                rates[-1],
                rates[0],
                rates,
                lambda t: rates[t],
                lambda t: 4 * (1.001 + math.cos(t / 9)),
                sorted(map(float, rates)),
            ],
        )
        if rng.random() < 0.3:
            run["noise_multiplier"] = [some(rng, ["1", "8", "3"]) for _ in range(steps)]
        if rng.random() < 0.2:
            run["batch_size"] = [int(rng.integers(1, n + 1)) for _ in range(steps)]
        run["steps"] = steps
        names = "learning_rate", "noise_multiplier", "batch_size"
        planned = any(not isinstance(run[name], (str, int)) for name in names)
        if planned:
            run["per"] = "step"
        elif rng.random() < 0.7:
            run["epochs"] = int(rng.integers(1, 12))
            del run["steps"]
        if rng.random() < 0.8:
            run["weight_decay"] = some(rng, ["0.01", "1", "0", None])
            run["loss"] = some(rng, self.LOSSES)
            run["regulariser"] = some(rng, ["inside", "outside", "outside", "outside"])
        run["optimizer"] = some(rng, ["sgd"] * 9 + ["adam"])
        run["leftover"] = some(rng, [None, "partial", "dropped", "blank", "repeated"])
        run["divisor"] = some(rng, [None, None, "actual", size, 7])
        run["released"] = some(
            rng, ["last", "every", checkpoints(*(each for each in (1, 5, 17) if each <= steps)), average(4), "last"]
        )
        run["projection"] = some(rng, [None, None, "0.5", 3, 10**4])
        return {name: value for name, value in run.items() if value is not None}

    def attempt(self, seed: int, schemes: tuple[str, ...]) -> str:
        """The bound used; or what is missing, which a refusal names together with a remedy."""
        rng = np.random.default_rng([9, seed])
        given, scheme = self.random_run(rng), some(rng, schemes)
        refusal: HsdpError | None = None
        try:
            run = training_run(**given)
            found = epsilon(run, delta="1e-5", scheme=scheme)
        except HsdpError as error:
            refusal = error
        if refusal is not None:
            assert isinstance(refusal, ArgumentError)
            assert refusal.argument
            assert refusal.remedy
            return "refused"
        composed = [each.value for each in found.considered if "composition" in each.label and each.value is not None]
        assert all(found.epsilon <= each for each in composed)
        assert found.epsilon >= found.lower >= 0
        assert found.hidden_state or found.note
        least = self.least(run, scheme)
        assert found.epsilon >= least * (1 - 1e-9), (seed, scheme, given)
        return found.bound

    def least(self, run: TrainingRun, scheme: str) -> float:
        """ε of one record whose gradients are always clipped, far from all others: a law that the run may have.

        Where the loss may not do that in every step, or iterates are projected, it is that of the last step alone.
        """
        if run.only_rate or scheme not in KNOWN:
            return 0.0
        line = timeline(run, Scheme(scheme))
        decay = run.setting.values().get("lam", Fraction(0))
        known = run.update in (squared(feature_norm=1), convex(smoothness="0.5")) or isinstance(run.update, Clipped)
        if run.setting["S_g"] > 2 and not known:
            return 0.0  # the loss may bound its gradients by less
        count = line.steps if known and run.projection is None and run.released.length == 0 else 1
        shift = noise = 0.0
        place = len(range(int(run.setting["n"]))) - 1 if scheme == "fixed" else None
        for step in range(line.steps - count, line.steps):
            kind = line.kinds[line.kind[step]]
            factor = 1 - float(kind.eta * decay)
            used = scheme == "full_batch" or (place is not None and line.first[step] <= place < line.last[step])
            jump = float(kind.eta * run.setting["S_g"] / kind.divisor) if used else 0.0
            shift = factor * shift + jump
            noise = factor**2 * noise + float(2 * kind.eta * kind.sigma2 * Fraction(kind.b, kind.divisor) ** 2)
        square = Fraction(shift**2 / noise)
        return 0.0 if not square else Goal("epsilon", Fraction(1, 10**5)).of_gaussian(Enclosure(square, square)).lower()

    def test_there_is_an_answer_or_a_refusal(self):
        found = [self.attempt(seed, KNOWN) for seed in range(60)]
        assert found.count("refused") < 45
        assert len(set(found)) > 3

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_the_unit_of_gradients_plays_no_part(self, scheme):
        unbounded = scalar(feature_norm=1, curvature="0.25", bias=False)  # so that every clip norm is met
        usual, tiny, huge = (
            epsilon(self.of_two_rates(max_grad_norm=clip, loss=unbounded), delta="1e-5", scheme=scheme)
            for clip in (1, "1e-300", "1e300")
        )
        assert tiny.epsilon == huge.epsilon == usual.epsilon
        assert usual.hidden_state

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("scheme", ["shuffle", "reshuffle"])
    @pytest.mark.parametrize(
        ("given", "at"),
        [({"noise_multiplier": "1e-100"}, "1e-5"), ({}, "1e-300"), ({"released": average(4), "n": 103}, "1e-5")],
    )
    def test_never_above_a_fixed_order_however_extreme(self, scheme, given, at):
        run = self.of_two_rates(leftover="dropped", **given)
        found, most = (epsilon(run, delta=at, scheme=each).epsilon for each in (scheme, "fixed"))
        assert 0 < found <= most

    def of_two_rates(self, **given) -> TrainingRun:
        facts: dict[str, object] = {"n": 100, "batch_size": 10, "noise_multiplier": 8}
        facts |= {"max_grad_norm": 1, "weight_decay": "0.01"}
        facts["loss"] = logistic(feature_norm=1, bias=False)
        return training_run(learning_rate=["0.5", "0.4"], per="epoch", **(facts | given))

    def test_where_batches_are_drawn_afresh(self):
        found = [self.attempt(seed, ("poisson", "without_replacement", "balls_in_bins")) for seed in range(1000, 1006)]
        assert set(found) != {"refused"}

    @pytest.mark.slow
    def test_there_is_an_answer_or_a_refusal_for_many(self):
        found = [self.attempt(seed, KNOWN) for seed in range(2000, 2600)]
        assert found.count("refused") < 450
        assert len(set(found)) > 4

    @pytest.mark.slow
    def test_where_batches_are_drawn_afresh_for_many(self):
        found = [self.attempt(seed, ("poisson", "without_replacement", "balls_in_bins")) for seed in range(3000, 3080)]
        assert len(set(found)) > 3


class TestOtherQuestions:
    """The same of all that is asked of a run, under every neighbouring relation."""

    def by_delta(self, run, rng, **asked):
        found = delta(run, epsilon=some(rng, ["0", "0.5", "3"]), **asked)
        assert 0 <= found.lower <= found.delta <= 1

    def by_advice(self, run, rng, **asked):
        found = advise(run, delta="1e-5", effort="quick", **asked)
        assert all(row.why_not for row in found.refused)
        assert not any("Setting(" in row.why_not for row in found.refused)
        relations = {row.neighbouring for row in found.rows}
        assert relations <= {found.asked.neighbouring}
        if asked["neighbouring"] is not None:
            assert found.asked.neighbouring == asked["neighbouring"]

    def by_unlearning(self, run, rng, scheme, neighbouring):
        wanted = some(rng, [{"epsilon": "0.1"}, {"steps": 5}, {"epsilon": 1, "steps": 50}])
        found = unlearning(run, scheme=scheme, delta="1e-5", training_noise=some(rng, ["secret", "known"]), **wanted)
        assert found.steps == wanted.get("steps", found.steps)
        assert found.epsilon <= float(wanted.get("epsilon", math.inf))

    def by_calibration(self, run, rng, **asked):
        target = some(rng, ["0.1", "1", "8"])
        told = {"target_epsilon": target, "delta": "1e-5", "solve_for": "noise_scale", "effort": "quick"}
        found = calibrate(run, **told, **asked)
        assert 0 <= found.guarantee.epsilon <= float(target)

    def by_comparison(self, run, rng, **asked):
        found = compare(run, delta="1e-5", effort="quick", **asked)
        assert all(len(values) == len(found.epochs) for _, values in found.curves)

    def ask(self, question: str, seed: int, schemes: tuple[str, ...]) -> str:
        rng = np.random.default_rng([11, seed])
        given, scheme, relation = TestAnyRun().random_run(rng), some(rng, schemes), some(rng, RELATIONS)
        if question == "unlearning":  # or next to every run would be refused for what it shows
            given |= {"released": "last", "projection": None}
        refusal: HsdpError | None = None
        try:
            getattr(self, f"by_{question}")(training_run(**given), rng, scheme=scheme, neighbouring=relation)
        except HsdpError as error:
            refusal = error
        if refusal is None:
            return "answered"
        assert isinstance(refusal, ArgumentError)
        assert refusal.argument
        assert refusal.remedy
        return "refused"

    QUESTIONS: ClassVar = {"delta": 20, "advice": 3, "unlearning": 10, "calibration": 5, "comparison": 7}
    """How many runs are drawn for each: some take long."""

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_there_is_an_answer_or_a_refusal(self, question):
        assert "answered" in [self.ask(question, seed, KNOWN) for seed in range(self.QUESTIONS[question])]

    @pytest.mark.slow
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_there_is_an_answer_or_a_refusal_for_many(self, question):
        seeds = range(1000, 1000 + 10 * self.QUESTIONS[question])
        assert "answered" in [self.ask(question, seed, SCHEMES) for seed in seeds]

    def test_a_step_that_need_not_contract_is_refused_where_batches_are_drawn_afresh(self):
        """eta·lam = 2: the factor by which distances shrink would be −1."""
        rates = ["2", "0.5"]
        run = training_run(
            n=39, batch_size=13, learning_rate=rates, per="epoch", noise_multiplier=8, max_grad_norm=1,
            weight_decay="1", loss=logistic(feature_norm=1), divisor=7,
        )  # fmt: skip
        assert delta(run, epsilon=1, scheme="poisson").delta < 1

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("rate", ["0.5", ["0.5", "0.4"]])
    def test_noise_that_doubles_cannot_follow_is_refused_by_its_name(self, scheme, rate):
        told = {"per": "epoch"} if isinstance(rate, list) else {"epochs": 2}
        run = training_run(
            n=12, batch_size=12 if scheme == "full_batch" else 3, learning_rate=rate, noise_multiplier="1e-180",
            max_grad_norm=1, **told,
        )  # fmt: skip
        with pytest.raises(ArgumentError, match=r"noise_multiplier = '1e-180'.*take more noise"):
            epsilon(run, delta="1e-5", scheme=scheme)

    def test_a_chance_is_at_most_1(self):
        run = training_run(
            n=12, batch_size=3, learning_rate=["0.5", "0.4"], per="epoch", noise_multiplier="1e-60", max_grad_norm=1
        )
        assert delta(run, epsilon=1, scheme="fixed").delta == 1
