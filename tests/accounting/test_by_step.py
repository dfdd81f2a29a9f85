"""Runs whose steps differ, that show checkpoints or averages, that are projected, or whose last batch is short.

Bounds by shifts against the exact law of small runs with real records; against closed forms where steps are alike.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import (
    TrainingRun,
    average,
    checkpoints,
    delta,
    epsilon,
    logistic,
    scheduled,
    softmax,
    training_run,
)
from hsdp_symbolic.accounting.by_step import by_shifts
from hsdp_symbolic.accounting.columns import Columns
from hsdp_symbolic.accounting.conversion import Goal
from hsdp_symbolic.accounting.effort import NORMAL
from hsdp_symbolic.accounting.step_constants import Constants
from hsdp_symbolic.experiment import plans
from hsdp_symbolic.experiment.losses import Quadratic
from hsdp_symbolic.experiment.small_runs import Update, exact_pair
from hsdp_symbolic.meaning import Neighbouring, Scheme

from . import stepwise_law as exact

KNOWN = ("fixed", "shuffle", "reshuffle", "full_batch")
ROUNDING = 1e-5
"""Of the integrals, by the trapezoidal rule."""
EPSILONS = (Fraction(0), Fraction(1, 2), Fraction(2))


def some(rng, values):
    return values[int(rng.integers(len(values)))]


class Case:
    """A small random run: clipped gradients that are constant, a regulariser outside the clip, or quadratic losses."""

    def __init__(self, scheme: str, kind: str, rng) -> None:
        self.scheme, self.kind, self.rng = scheme, kind, rng
        self.n = int(rng.integers(2, 4 if scheme == "reshuffle" else 5))
        most = 2 if scheme == "reshuffle" and self.n > 2 else 3  # epochs, whose orders are enumerated
        self.b = self.n if scheme == "full_batch" else int(rng.integers(1, self.n + 1))
        leftover = self.n % self.b
        if kind in ("partial", "dropped") and scheme != "full_batch":
            self.n, self.b, leftover = 3, 2, 1
        self.leftover = None
        if leftover:
            self.leftover = {"partial": "partial", "dropped": "dropped"}.get(kind) or some(rng, ["partial", "dropped"])
        self.divisor = some(rng, [self.b, "actual"]) if self.leftover == "partial" else None
        self.epochs = int(rng.integers(1, most + 1))
        self.decay, self.clip = (
            some(rng, [Fraction(1, 2), Fraction(1, 5), Fraction(1, 100)]),
            some(rng, [Fraction(1), Fraction(1, 3)]),
        )
        self.batches = self.n // self.b + (1 if self.leftover == "partial" else 0)
        self.T = self.epochs * self.batches
        if rng.random() < 0.3 and self.T > 1:
            self.T -= 1
        alike = kind != "schedule" and rng.random() < 0.5
        self.rates = [some(rng, [Fraction(1), Fraction(1, 2), Fraction(1, 10)]) for _ in range(self.T)]
        self.noises = [some(rng, [Fraction(1), Fraction(3, 2), Fraction(4)]) for _ in range(self.T)]
        if alike:
            self.rates, self.noises = self.rates[:1] * self.T, self.noises[:1] * self.T
        self.released = "last"
        if kind == "checkpoint":
            self.released = checkpoints(*(int(each) for each in rng.integers(1, self.T + 1, size=2)))
        if kind == "average":
            self.released = average(int(rng.integers(1, self.T + 1)))

    def run(self) -> TrainingRun:
        return training_run(
            noise_multiplier=self.noises,
            learning_rate=self.rates,
            per="step",
            n=self.n,
            batch_size=self.b,
            max_grad_norm=self.clip,
            weight_decay=self.decay,
            loss=logistic(feature_norm=1),
            leftover=self.leftover,
            divisor=self.divisor,
            released=self.released,
        )

    def steps(self) -> list[exact.Step]:
        found = []
        for t, (eta, z) in enumerate(zip(self.rates, self.noises, strict=True)):
            epoch, j = divmod(t, self.batches)
            ranks = tuple(range(self.n))[j * self.b : (j + 1) * self.b]
            divisor = len(ranks) if self.divisor == "actual" else self.b
            variance = (eta * z * self.clip / divisor) ** 2
            found.append(exact.Step(float(eta), float(variance), divisor, ranks, epoch))
        return found

    def seen(self) -> dict[int, float]:
        if self.kind == "average":
            shown = self.run().released.seen(self.T)
            return dict.fromkeys(shown, 1 / len(shown))
        return {each: float(self.rng.normal()) for each in self.run().released.seen(self.T)} | {self.T: 1.0}

    def exact_deltas(self) -> list[float]:
        clip, steps, seen = float(self.clip), self.steps(), self.seen()
        others = [clip * some(self.rng, [1.0, -1.0, 0.3, 0.0]) for _ in range(self.n)]
        place = int(self.rng.integers(self.n)) if self.scheme == "fixed" else 0
        both = [others.copy(), others.copy()]
        both[0][place], both[1][place] = clip, -clip
        start = float(self.rng.normal())
        first, second = (exact.law(self.scheme, steps, float(self.decay), each, seen, start) for each in both)
        return [exact.delta(first, second, float(each)) for each in EPSILONS]


def bounded(run: TrainingRun, scheme: str) -> list[float]:
    """δ by shifts at some ε."""
    found, reason = by_shifts(run, Scheme(scheme), NORMAL)
    assert found is not None, reason
    return [found.best(Goal("delta", each)).upper for each in EPSILONS]


def ratios(kind: str, scheme: str, seed: int, count: int):
    for number in range(count):
        case = Case(scheme, kind, np.random.default_rng([seed, KNOWN.index(scheme), len(kind), number]))
        for truth, bound in zip(case.exact_deltas(), bounded(case.run(), scheme), strict=True):
            if truth > 1e-9:
                yield truth / bound


class TestNoBoundIsBroken:
    @pytest.mark.parametrize("scheme", KNOWN)
    @pytest.mark.parametrize("kind", ["schedule", "checkpoint", "average", "partial", "dropped"])
    def test_by_real_records(self, kind, scheme):
        found = list(ratios(kind, scheme, seed=1, count=13))
        assert len(found) > 20
        assert max(found) <= 1 + ROUNDING

    @pytest.mark.slow
    @pytest.mark.parametrize("scheme", KNOWN)
    @pytest.mark.parametrize("kind", ["schedule", "checkpoint", "average", "partial", "dropped"])
    def test_by_many_real_records(self, kind, scheme):
        found = list(ratios(kind, scheme, seed=2, count=150))
        assert len(found) > 300
        assert 0.9 < max(found) <= 1 + ROUNDING

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_if_iterates_are_projected(self, scheme):
        """Onto an interval, after the noise: densities computed step by step."""
        found = []
        for number in range(24):
            rng = np.random.default_rng([3, KNOWN.index(scheme), number])
            n, epochs, factor, half = 2, int(rng.integers(1, 3)), some(rng, [0.5, 0.9]), some(rng, [0.2, 0.5, 1.5])
            eta, curvature, far = 0.5, 2 * (1 - factor), float(rng.uniform(0.3, 2))
            update = Update(Quadratic(curvature, far), eta=eta, sigma=1.0, divisor=1, interval=(-half, half))
            plan = getattr(plans, scheme)(n, 1, epochs)
            first, second = np.zeros(n), np.zeros(n)
            first[-1] = far
            lam = Fraction(round(curvature * 10), 10)
            setting = Setting(
                n=n, b=1, K=epochs, eta=Fraction(1, 2), lam=lam, beta=lam, sigma=1, S_g=Fraction(str(far))
            )
            run = TrainingRun(setting, projection=2 * Fraction(str(half)))
            pair = exact_pair(update, (first, plan), (second, plan))
            bound = bounded(run, scheme)
            for each, most in zip(EPSILONS, bound, strict=True):
                truth = max(pair.delta(float(each)), pair.reversed.delta(float(each)))
                least = delta(run, epsilon=each, scheme=scheme).delta
                assert least <= most
                if truth > 1e-9:
                    found.append(truth / least)
        assert len(found) > 30
        assert max(found) <= 1 + ROUNDING

    @pytest.mark.parametrize("scheme", ["without_replacement", "shuffle", "reshuffle"])
    def test_closed_forms_if_iterates_are_projected(self, scheme):
        """Onto a set so wide that it does not help, yet is met: what holds without it holds."""
        for factor, half in ((0.5, 0.3), (0.9, 1.0)):
            update = Update(Quadratic(2 * (1 - factor), 1.0), eta=0.5, sigma=1.0, divisor=1, interval=(-half, half))
            plan = getattr(plans, scheme)(2, 1, 4 if scheme == "without_replacement" else 2)
            pair = exact_pair(update, (np.zeros(2), plan), (np.array([0.0, 1.0]), plan))
            lam = Fraction(round(20 * (1 - factor)), 10)
            setting = Setting(n=2, b=1, K=2, eta=Fraction(1, 2), lam=lam, beta=lam, sigma=1, S_g=1)
            wide = TrainingRun(setting, projection=10**6)
            for each in EPSILONS:
                truth = max(pair.delta(float(each)), pair.reversed.delta(float(each)))
                found = delta(wide, epsilon=each, scheme=scheme)
                assert truth <= found.delta * (1 + ROUNDING)
                if scheme != "without_replacement":
                    assert found.delta <= delta(setting, epsilon=each, scheme=scheme).delta
        assert any("projected" in each for each in found.assumptions) or not found.hidden_state

    def test_the_place_in_the_epoch_before_the_last_is_averaged_over(self, monkeypatch):
        """Reshuffled: never more than where the record is last in it, and less where steps hide little."""
        run = training_run(
            n=60, batch_size=6, noise_multiplier=4, max_grad_norm=1, per="epoch", weight_decay="0.02",
            learning_rate=["0.5", "0.4", "0.3", "0.2"], loss=logistic(feature_norm=1),
        )  # fmt: skip
        pairs = by_shifts(run, Scheme.RESHUFFLE, NORMAL)[0]
        monkeypatch.setattr(scheduled, "MOST_PIECES", 0)
        one = by_shifts(run, Scheme.RESHUFFLE, NORMAL)[0]
        assert len(one.costs) == 10
        assert len(pairs.costs) == 100
        assert sum(each.share for each in pairs.costs) == 1
        less, more = (each.best(Goal("epsilon", Fraction(1, 10**5))).upper for each in (pairs, one))
        assert 0.9 * more < less < 0.999 * more

    def test_a_wide_projection_never_costs_more(self):
        facts = {"n": 60, "batch_size": 20, "noise_multiplier": 4, "max_grad_norm": 1, "epochs": 5}
        for loss, decay in ((logistic(feature_norm=1), "0.1"), (logistic(feature_norm=1), None), (None, None)):
            told = {**facts, "learning_rate": "0.5", "weight_decay": decay, "loss": loss}
            for scheme in ("fixed", "shuffle", "reshuffle", "poisson", "without_replacement"):
                plain, wide = (
                    epsilon(training_run(**told, projection=each), delta="1e-5", scheme=scheme).epsilon
                    for each in (None, 10**6)
                )
                assert wide <= plain * (1 + 1e-9)

    def test_what_is_attained(self):
        """In fixed order with the record last in its epoch, where no step could be better used: exactly."""
        run = training_run(
            noise_multiplier=["1", "2", "1.5"], learning_rate=["0.5", "0.5", "0.2"], per="step", n=3, batch_size=3,
            max_grad_norm=1, weight_decay="0.5", loss=logistic(feature_norm=1),
        )  # fmt: skip
        (found,) = by_shifts(run, Scheme.FULL_BATCH, NORMAL)[0].costs
        drift = noise = 0.0
        for eta, z in ((0.5, 1.0), (0.5, 2.0), (0.2, 1.5)):
            q = 1 - eta * 0.5
            drift, noise = q * drift + 2 * eta / 3, q**2 * noise + (eta * z / 3) ** 2
        assert found.square >= drift**2 / noise * (1 - 1e-12)


class TestFallingRates:
    """A learning rate annealed to nothing: late steps have little noise, and must not be taken for early ones."""

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    @pytest.mark.parametrize("loss", [logistic(feature_norm=1), softmax(classes=10, feature_norm=1)], ids=str)
    def test_cosine_annealing_is_far_below_composition(self, scheme, loss):
        told = {
            "n": 1347, "batch_size": 64, "epochs": 15, "leftover": "dropped", "noise_multiplier": 8,
            "max_grad_norm": 1, "weight_decay": "0.2", "loss": loss,
        }  # fmt: skip
        annealed = training_run(learning_rate=lambda step: 0.25 * (1 + math.cos(math.pi * step / 315)), **told)
        assert epsilon(annealed, delta="1e-5", scheme=scheme).epsilon < 1.4  # where composition has 4.2

    def test_of_very_many_rates_the_last_are_looked_up(self, monkeypatch):
        monkeypatch.setattr("hsdp_symbolic.accounting.step_constants.MOST_FOOTINGS", 2)
        run = training_run(
            n=10, batch_size=10, epochs=4, learning_rate=["0.5", "0.4", "0.3", "0.2"], per="epoch", noise_multiplier=8,
            max_grad_norm=1, weight_decay="0.2", loss=softmax(classes=10, feature_norm=1),
        )  # fmt: skip
        constants = Constants.of(run, Columns.of(run, Scheme.FULL_BATCH, Neighbouring.REPLACE_ONE))
        assert np.isfinite(constants.factor).tolist() == [False, False, True, True]
        assert "2 learning rates at most" in constants.reason


class TestClosedForms:
    @pytest.mark.parametrize("scheme", KNOWN)
    @pytest.mark.parametrize("lam", ["1", "0.1", None])
    def test_steps_that_are_alike(self, scheme, lam):
        run = Setting(n=50, b=2, K=40, eta="0.02", lam=lam, beta=4, sigma=2, S_g=4)
        bound, _ = by_shifts(TrainingRun(run), Scheme(scheme), NORMAL)
        closed = epsilon(run, delta="1e-5", scheme=scheme)
        if scheme == "reshuffle" or (scheme == "shuffle" and lam is None):  # more is known of the last epochs; or less
            return
        assert closed.bound != bound.label
        least = delta(run, epsilon=closed.epsilon, scheme=scheme).delta
        assert bound.best(Goal("delta", Fraction(closed.epsilon))).upper == pytest.approx(least, rel=1e-6)

    def test_a_list_of_one_value_is_no_schedule(self):
        facts = {"n": 100, "batch_size": 10, "noise_multiplier": 2, "max_grad_norm": 1}
        assert training_run(learning_rate=["0.1"] * 3, per="epoch", **facts) == training_run(
            learning_rate="0.1", epochs=3, **facts
        )
