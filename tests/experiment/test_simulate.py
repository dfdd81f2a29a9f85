"""The simulator, the exact laws, the estimators and the attacks."""

from __future__ import annotations

import math
import threading
import tracemalloc

import numpy as np
import pytest

from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.experiment.batches import SIMULATED
from hsdp_symbolic.experiment.losses import ClippedLogistic, Custom, Huber, Quadratic, RidgeLogistic, measure
from hsdp_symbolic.experiment.simulate import CHAINS_AT_ONCE, Experiment, simulate

LOSS = Quadratic(1.0, 4.0)
SHAPE = {"eta": 0.02, "sigma": 2.0}


def experiment(scheme="fixed", *, n=10, b=2, K=3, loss=LOSS, index=0, **changes):
    b = n if scheme == "full_batch" else b
    return Experiment(loss, np.zeros(n), 4.0, b=b, K=K, scheme=scheme, index=index, **{**SHAPE, **changes})


class TestSimulation:
    @pytest.mark.parametrize("scheme", SIMULATED)
    def test_moments_match_the_exact_law(self, scheme):
        """Mean and variance within five standard errors, on both datasets."""
        chains, run = 60_000, experiment(scheme, n=11, b=3, K=3)
        q, updates = 1 - 0.02, run.batches
        gaps = [0.02 * 4 / run.b * q ** (updates - 1 - j) for j in range(updates)]
        epochs = sum(q ** (updates * k) for k in range(3))
        base = 2 * 0.02 * 4 * sum(q ** (2 * s) for s in range(3 * updates))
        if scheme in ("fixed", "full_batch"):
            mean, spread = gaps[0] * epochs, 0.0
        else:
            rate = run.b / run.n
            mean = rate * sum(gaps) * epochs
            second = rate * sum(g * g for g in gaps)
            per_epoch = second - (rate * sum(gaps)) ** 2
            if scheme == "shuffle":
                spread = per_epoch * epochs**2
            elif scheme == "reshuffle":
                spread = per_epoch * sum(q ** (2 * updates * k) for k in range(3))
            else:
                spread = rate * (1 - rate) * (0.02 * 4 / run.b) ** 2 * sum(q ** (2 * s) for s in range(3 * updates))
        for neighbour, centre, variance in ((False, 0.0, base), (True, mean, base + spread)):
            found = simulate(run, chains, neighbour=neighbour, seed=3)
            assert abs(found.mean[0] - centre) < 5 * math.sqrt(variance / chains)
            assert abs(found.variance[0] - variance) < 5 * variance * math.sqrt(2 / chains)

    @pytest.mark.parametrize("scheme", SIMULATED)
    @pytest.mark.smoke
    def test_one_seed_one_result_at_any_number_of_threads(self, scheme):
        run = experiment(scheme)
        one, three = (simulate(run, 2 * CHAINS_AT_ONCE + 17, seed=5, jobs=jobs, centres=True) for jobs in (1, 3))
        assert (one.last == three.last).all()
        assert (one.centres == three.centres).all()
        assert not (one.last == simulate(run, 2 * CHAINS_AT_ONCE + 17, seed=6).last).any()
        assert (simulate(run, CHAINS_AT_ONCE, seed=5).last == one.last[:CHAINS_AT_ONCE]).all()

    @pytest.mark.parametrize("scheme", SIMULATED)
    def test_the_general_path_agrees_with_the_affine_one(self, scheme):
        same = Custom(lambda theta, record: theta - record, 1.0, 1.0, 4.0)
        fast, slow = (simulate(experiment(scheme, loss=loss), 500, neighbour=True, seed=1) for loss in (LOSS, same))
        np.testing.assert_allclose(fast.last, slow.last, rtol=1e-12, atol=1e-13)

    @pytest.mark.parametrize("scheme", SIMULATED)
    def test_records_that_all_differ(self, scheme):
        """Almost without noise the mean is that of plain descent; batches are formed from the right records."""
        records = np.arange(6.0) / 2
        run = Experiment(
            LOSS, records, 3.5, eta=0.5, sigma=1e-9, b=6 if scheme == "full_batch" else 2, K=2, scheme=scheme
        )
        found = simulate(run, 4000, seed=2).last[:, 0]
        expected = 0.0
        for _ in range(2):
            for j in range(run.batches):
                mean = records[2 * j : 2 * j + 2].mean() if scheme == "fixed" else records.mean()
                expected = 0.5 * expected + 0.5 * mean
        assert abs(found.mean() - expected) < (1e-6 if scheme in ("fixed", "full_batch") else 0.05)
        assert (len(np.unique(found.round(6))) == 1) == (scheme in ("fixed", "full_batch"))

    def test_two_dimensions_and_a_random_start(self):
        run = Experiment(
            Quadratic(1.0, 5.0),
            np.zeros((4, 2)),
            [3.0, 4.0],
            b=4,
            K=1,
            scheme="full_batch",
            start=lambda rng, chains, d: rng.normal(1.0, 0.5, (chains, d)),
            **SHAPE,
        )
        found = simulate(run, 40_000, neighbour=True, seed=1)
        assert found.last.shape == (40_000, 2)
        np.testing.assert_allclose(found.mean, 0.98 + 0.02 * np.array([3.0, 4.0]) / 4, atol=0.02)
        np.testing.assert_allclose(found.variance, 0.98**2 * 0.25 + 0.16, rtol=0.05)

    def test_softmax_regression_with_clipping(self):
        loss = ClippedLogistic(0.5, 1.0, 0.5, features=3, classes=4)
        rng = np.random.default_rng(0)
        theta, records = (
            rng.normal(size=(7, 16)),
            np.hstack([rng.normal(size=(7, 3)) * 3, np.eye(4)[rng.integers(4, size=7)]]),
        )
        gradient = loss.gradient(theta, records)
        for row in range(7):  # by hand, one at a time
            x = records[row, :3] * min(1, 1 / np.linalg.norm(records[row, :3]))
            x = np.append(x, 1.0)
            scores = theta[row].reshape(4, 4) @ x
            odds = np.exp(scores - scores.max())
            plain = np.outer(odds / odds.sum() - records[row, 3:], x).ravel()
            plain *= min(1, 0.5 / np.linalg.norm(plain))
            np.testing.assert_allclose(gradient[row], plain + 0.5 * theta[row], rtol=1e-12)

    def test_an_interrupt_keeps_whole_chunks(self, monkeypatch):
        from hsdp_symbolic.experiment import simulate as module

        real, calls, lock = module._Program.run, iter(range(100)), threading.Lock()

        def impatient(self, *rest):
            with lock:
                number = next(calls)
            if number == 2:
                raise KeyboardInterrupt
            real(self, *rest)

        monkeypatch.setattr(module._Program, "run", impatient)
        found = simulate(experiment(), 5 * CHAINS_AT_ONCE, seed=1, jobs=1)
        assert not found.complete
        assert len(found.last) == 2 * CHAINS_AT_ONCE
        monkeypatch.undo()
        assert (found.last == simulate(experiment(), 2 * CHAINS_AT_ONCE, seed=1).last).all()

    def test_memory_does_not_grow_with_the_number_of_epochs(self):
        peaks = []
        for epochs in (2, 60):
            run = experiment("without_replacement", K=epochs)
            tracemalloc.start()
            simulate(run, CHAINS_AT_ONCE, jobs=1)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 1.1 * peaks[0]


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "names"),
        [
            ({"b": 0}, "b = 0"),
            ({"b": 11}, "b = 11"),
            ({"K": 0}, "K = 0"),
            ({"K": 2.5}, "K = 2.5"),
            ({"eta": -1.0}, "eta"),
            ({"sigma": float("nan")}, "sigma"),
            ({"scheme": "poisson"}, "poisson"),
            ({"index": 10}, "index = 10"),
            ({"start": float("inf")}, "start"),
        ],
    )
    def test_bad_experiments(self, change, names):
        with pytest.raises(ArgumentError, match=names):
            simulate(Experiment(LOSS, np.zeros(10), 4.0, **{"b": 2, "K": 3, **SHAPE, **change}), 10)

    @pytest.mark.parametrize("records", [[], [[float("nan")]], [[0.0, 1.0]], np.zeros((2, 2, 2))])
    def test_bad_records(self, records):
        with pytest.raises(ArgumentError, match="records"):
            Experiment(LOSS, records, 4.0, b=1, K=1, **SHAPE)

    @pytest.mark.parametrize("options", [{"chains": 0}, {"chains": 1.5}, {"chains": 10**10}, {"seed": -1}, {"jobs": 0}])
    def test_bad_counts(self, options):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            simulate(experiment(), **{"chains": 10, **options})

    @pytest.mark.parametrize(
        ("loss", "says"),
        [
            (Custom(lambda t, x: t - x, 1.5, 2.0, 4.0), "lam = 1.5: the loss shows 1"),
            (Custom(lambda t, x: 3 * t - x, 1.0, 2.0, 4.0), "beta = 2.0: the loss shows 3"),
            (Custom(lambda t, x: t - 2 * x, 1.0, 1.0, 4.0), "sensitivity = 4.0: the loss shows 8"),
            (Custom(lambda t, x: t * np.nan, 1.0, 1.0, 4.0), "not finite at theta"),
            (Custom(lambda t, x: t[:, 0], 1.0, 1.0, 4.0), "shape"),
        ],
    )
    def test_a_loss_that_is_not_what_it_declares(self, loss, says):
        with pytest.raises(ArgumentError, match=says):
            experiment(loss=loss)

    def test_the_record_that_matters_is_measured_among_many(self):
        with pytest.raises(ArgumentError, match=r"sensitivity = 4\.0: the loss shows 1000"):
            Experiment(LOSS, np.zeros(10**5), 1000.0, b=2, K=1, **SHAPE)
        Experiment(Quadratic(1.0, 1e-13), np.zeros(3), 1e-13, b=1, K=1, **SHAPE)  # rounding is not a violation

    @pytest.mark.parametrize(
        "change", [{"records": ["a", "b"]}, {"start": [1.0, 2.0]}, {"eta": 5.0, "K": 600}, {"start": "here"}], ids=str
    )
    def test_nothing_ends_in_a_traceback(self, change):
        with pytest.raises(ArgumentError):
            simulate(
                Experiment(
                    **{"loss": LOSS, "records": np.zeros(4), "replacement": 4.0, "b": 2, "K": 3, **SHAPE, **change}
                ),
                10,
            )
        with pytest.raises(ArgumentError, match="the loss cannot take them"):
            Experiment(ClippedLogistic(0.5, 1.0, 0.5, 3, 4), np.zeros((4, 2)), [0.0, 0.0], b=2, K=1, **SHAPE)

    def test_a_loss_that_breaks_on_the_way_is_noticed(self):
        broken = Custom(lambda t, x: np.where(np.abs(t) > 6, np.nan, t - x), 1.0, 1.0, 4.0)
        with pytest.raises(ArgumentError, match="not finite"):
            simulate(experiment(loss=broken, start=7.0), 10)

    @pytest.mark.parametrize(
        "make", [lambda: Quadratic(-1, 1), lambda: Huber(1, 0, 1), lambda: RidgeLogistic(1, math.inf)]
    )
    def test_constants_of_the_losses(self, make):
        with pytest.raises(ArgumentError):
            make()

    def test_the_losses_keep_what_they_declare(self):
        measure(Huber(1.0, 3.0, 0.5), np.linspace(-3, 3, 9)[:, None])
        measure(Huber(1.0, 3.0, 0.5, dimension=2), np.random.default_rng(0).normal(size=(9, 2)))
        measure(RidgeLogistic(0.5, 2.0), np.linspace(-2, 2, 9)[:, None])
        one_hot = np.hstack([np.linspace(-1, 1, 8)[:, None], np.eye(2)[[0, 1] * 4]])
        measure(ClippedLogistic(0.5, 1.0, 0.3, 1, 2), one_hot)
