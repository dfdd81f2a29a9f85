"""The simulator, the exact laws, the estimators and the attacks."""

from __future__ import annotations

import json
import math
import random
import threading
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import ArgumentError, HsdpError, MissingArgument, NoEstimate
from hsdp_symbolic.experiment.attack import (
    FIGURE,
    Instance,
    attack,
    campaign,
    divergence,
    law,
    targets,
    tightness,
    worst_instance,
    wrong_bounds,
)
from hsdp_symbolic.experiment.batches import SCHEMES
from hsdp_symbolic.experiment.bound_and_truth import compare
from hsdp_symbolic.experiment.losses import ClippedLogistic, Custom, Huber, Quadratic, RidgeLogistic, measure
from hsdp_symbolic.experiment.renyi import (
    Mixture,
    from_samples,
    gaussian_divergence,
    grid_divergence,
    mixture_divergence,
    plug_in,
    rao_blackwell,
)
from hsdp_symbolic.experiment.simulate import CHUNK, Chains, Experiment, simulate

LOSS = Quadratic(1.0, 4.0)
SHAPE = {"eta": 0.02, "sigma": 2.0}


def experiment(scheme="fixed", *, n=10, b=2, K=3, loss=LOSS, index=0, **changes):
    b = n if scheme == "full_batch" else b
    return Experiment(loss, np.zeros(n), 4.0, b=b, K=K, scheme=scheme, index=index, **{**SHAPE, **changes})


class TestExactLaws:
    @pytest.mark.smoke
    def test_the_quadratic_loss_at_the_figure_setting(self, figure_run):
        exact = statement("exact:fixed_order")
        assert exact.upper(figure_run, alpha=15, j0=0) == pytest.approx(0.00716216689487596, rel=1e-14)
        assert exact.upper(figure_run, alpha=15, j0=24) == pytest.approx(0.0188882970273455, rel=1e-14)
        for place in (0, 7, 24):
            instance = Instance("fixed", (Fraction(1),) * 25, place)
            assert divergence(instance, figure_run, 15).lo == exact.exact(figure_run, alpha=15, j0=place)
        full = Instance("full_batch", (Fraction(1),))
        assert divergence(full, figure_run, 15).lo == statement("exact:full_batch").exact(figure_run, alpha=15)

    def test_shuffled_once_at_the_figure_setting(self, figure_run):
        first, second = law(Instance("shuffle", (Fraction(1),) * 25), figure_run)
        both = [mixture_divergence(15, *pair) for pair in ((first, second), (second, first))]
        assert both[0].decimals(12)[0] == "0.0118855753777"
        assert both[1].decimals(11)[0] == "0.011874043099"
        assert both[0].overlaps(mixture_divergence(15, first, second, rtol="1e-9", engine="mpmath"))

    def test_mixtures_against_mpmath_quadrature(self):
        rng = random.Random(11)
        for _ in range(12):
            order = rng.choice([Fraction(2), Fraction(5, 2), Fraction(31, 10), Fraction(12)])
            sides = []
            for _ in range(2):
                count = rng.randint(1, 4)
                weights = [rng.randint(1, 9) for _ in range(count)]
                means = [Fraction(rng.randint(-80, 80), 100) for _ in range(count)]
                sides.append(Mixture.of(means, "0.7", [Fraction(w, sum(weights)) for w in weights]))
            found = mixture_divergence(order, *sides, rtol="1e-15")

            with mpmath.workdps(30):
                exact = [
                    [
                        (mpmath.mpf(w.numerator) / w.denominator, mpmath.mpf(m.numerator) / m.denominator)
                        for w, m in s.parts
                    ]
                    for s in sides
                ]
                deviation = mpmath.sqrt(mpmath.mpf(7) / 10)
                power = mpmath.mpf(order.numerator) / order.denominator

                def integrand(x, exact=exact, deviation=deviation, power=power):
                    p, q = (sum(w * mpmath.npdf(x, m, deviation) for w, m in side) for side in exact)
                    return p**power * q ** (1 - power)

                truth = mpmath.log(mpmath.quad(integrand, list(range(-24, 25, 2)))) / (power - 1)
                assert mpmath.mpf(found.lo.numerator) / found.lo.denominator - 1e-18 <= truth
                assert truth <= mpmath.mpf(found.hi.numerator) / found.hi.denominator + 1e-18

    def test_equal_mixtures_and_refusals(self):
        one = Mixture.of([0, 1], 1)
        assert mixture_divergence(2, one, one).hi == 0
        for bad in ({"alpha": 1}, {"alpha": "nan"}):
            with pytest.raises(ArgumentError):
                mixture_divergence(bad["alpha"], one, Mixture.of([0], 1))
        with pytest.raises(ArgumentError, match="one variance"):
            mixture_divergence(2, one, Mixture.of([0], 2))
        with pytest.raises(ArgumentError, match="add up to 1"):
            Mixture.of([0, 1], 1, [Fraction(1, 2), Fraction(1, 3)])

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "full_batch"])
    def test_the_grid_agrees_with_the_exact_law(self, scheme):
        run = Setting(n=10, b=2, K=3, eta="0.02", lam=1, beta=1, sigma=2, S_g=4)
        batches = 1 if scheme == "full_batch" else 5
        exact = divergence(Instance(scheme, (Fraction(1),) * batches, 0), run, 15)
        found = grid_divergence(experiment(scheme), 15)
        assert found.value == pytest.approx(float(exact.hi), rel=1e-9)
        assert found.error < 1e-9

    def test_the_grid_agrees_with_enumeration_for_random_batches(self):
        """Sampling and reshuffling: all histories of a short run are enumerated as a mixture."""
        q, jump, noise = Fraction(49, 50), Fraction(1, 50) * 4 / 2, 2 * Fraction(1, 50) * 4
        variance = noise * sum(q ** (2 * s) for s in range(4))
        for scheme, rate in (("without_replacement", Fraction(1, 2)), ("reshuffle", None)):
            parts = []
            for history in range(16):
                hits = [(history >> t) & 1 for t in range(4)]
                if scheme == "reshuffle" and (sum(hits[:2]), sum(hits[2:])) != (1, 1):
                    continue
                weight = Fraction(1, 16) if rate else Fraction(1, 4)
                parts.append((weight, sum(jump * q ** (3 - t) * hit for t, hit in enumerate(hits))))
            mixed, plain = Mixture(tuple(parts), variance), Mixture.of([0], variance)
            exact = max(float(mixture_divergence(3, *pair).hi) for pair in ((mixed, plain), (plain, mixed)))
            assert grid_divergence(experiment(scheme, n=4, b=2, K=2), 3).value == pytest.approx(exact, rel=1e-9)

    @pytest.mark.parametrize(("order", "sensitivity"), [(3, 1), (30, 1), (30, 2), (50, 10), (200, 1)])
    def test_the_grid_is_right_or_refuses_at_high_orders(self, order, sensitivity):
        run = Setting(n=2, b=1, K=1, eta="0.9", lam=1, beta=1, sigma=1, S_g=sensitivity)
        q, jump = Fraction(1, 10), Fraction(9, 10) * sensitivity
        variance = 2 * Fraction(9, 10) * (1 + q**2)
        mixed = Mixture.of([0, jump, q * jump, (1 + q) * jump], variance)
        plain = Mixture.of([0], variance)
        exact = max(float(mixture_divergence(order, *pair).hi) for pair in ((mixed, plain), (plain, mixed)))
        assert float(statement("thm:amp_samp_wo_replacement").upper(run, alpha=order)) >= exact
        trial = Experiment(
            Quadratic(1.0, float(sensitivity)),
            np.zeros(2),
            sensitivity,
            eta=0.9,
            sigma=1.0,
            b=1,
            K=1,
            scheme="without_replacement",
        )
        try:
            found = grid_divergence(trial, order)
        except NoEstimate:
            assert order * sensitivity > 30
        else:
            assert found.value == pytest.approx(exact, rel=1e-6)

    def test_scales_do_not_matter(self):
        wide, narrow = (
            mixture_divergence("2.5", Mixture.of([0, scale], scale**2), Mixture.of([0], scale**2))
            for scale in (Fraction(1), Fraction(1, 10**12))
        )
        assert wide.overlaps(narrow)
        assert mixture_divergence(2, Mixture.of([0, 1], 1), Mixture.of([1, 0], 1)).hi == 0
        assert mixture_divergence(2, Mixture.of([0, 0], 1), Mixture.of([0], 1)).hi == 0
        with pytest.raises(ArgumentError, match="at least one"):
            Mixture.of([], 1)


class TestSimulation:
    @pytest.mark.parametrize("scheme", SCHEMES)
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

    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.smoke
    def test_one_seed_one_result_at_any_number_of_threads(self, scheme):
        run = experiment(scheme)
        one, three = (simulate(run, 2 * CHUNK + 17, seed=5, jobs=jobs, centres=True) for jobs in (1, 3))
        assert (one.last == three.last).all()
        assert (one.centres == three.centres).all()
        assert not (one.last == simulate(run, 2 * CHUNK + 17, seed=6).last).any()
        assert (simulate(run, CHUNK, seed=5).last == one.last[:CHUNK]).all()

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_the_general_path_agrees_with_the_affine_one(self, scheme):
        same = Custom(lambda theta, record: theta - record, 1.0, 1.0, 4.0)
        fast, slow = (simulate(experiment(scheme, loss=loss), 500, neighbour=True, seed=1) for loss in (LOSS, same))
        np.testing.assert_allclose(fast.last, slow.last, rtol=1e-12, atol=1e-13)

    @pytest.mark.parametrize("scheme", SCHEMES)
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
        found = simulate(experiment(), 5 * CHUNK, seed=1, jobs=1)
        assert not found.complete
        assert len(found.last) == 2 * CHUNK
        monkeypatch.undo()
        assert (found.last == simulate(experiment(), 2 * CHUNK, seed=1).last).all()

    def test_memory_does_not_grow_with_the_number_of_epochs(self):
        peaks = []
        for epochs in (2, 60):
            run = experiment("without_replacement", K=epochs)
            tracemalloc.start()
            simulate(run, CHUNK, jobs=1)
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


def pair(run, chains, seed):
    return [simulate(run, chains, neighbour=neighbour, seed=seed, centres=True) for neighbour in (True, False)]


class TestEstimators:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_a_million_chains_cover_the_exact_value(self, seed):
        run = Setting(n=50, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        exact = float(statement("exact:fixed_order").upper(run, alpha=2, j0=24))
        chains = pair(experiment(n=50, K=2, index=48), 10**6, seed)
        for found in (
            plug_in(*chains, 2, level=0.999),
            rao_blackwell(*chains, 2, experiment().noise, level=0.999),
            from_samples(*chains, 2, level=0.999),
        ):
            assert exact in found
            assert found.high - found.low < 1.3 * exact

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["plug_in", "rao_blackwell", "samples"])
    def test_coverage(self, method):
        """200 repetitions at 95 %: between 180 and 199 intervals cover (binomial, one in a thousand outside)."""
        run = Setting(n=4, b=2, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        trial = Experiment(Quadratic(1.0, 1.0), np.zeros(4), 1.0, eta=0.5, sigma=1.0, b=2, K=1, index=2)
        exact, covered = float(statement("exact:fixed_order").upper(run, alpha=2, j0=1)), 0
        for seed in range(200):
            chains = pair(trial, 20_000, seed)
            if method == "plug_in":
                found = plug_in(*chains, 2)
            elif method == "samples":
                found = from_samples(*chains, 2)
            else:
                found = rao_blackwell(*chains, 2, trial.noise)
            covered += exact in found
        assert 180 <= covered <= 199

    def test_a_loss_without_known_law(self):
        run = Experiment(Huber(1.0, 3.0, 0.5), np.ones(4), -1.0, eta=0.1, sigma=1.0, b=2, K=3)
        exact = grid_divergence(run, 2)
        chains = pair(run, 200_000, 4)
        assert exact.error < 1e-2 * exact.value
        assert exact.value in rao_blackwell(*chains, 2, run.noise, level=0.999)

    @pytest.mark.parametrize("sensitivity", [4, 8])
    def test_rare_large_shifts_are_covered_or_refused(self, sensitivity):
        """One chain in a hundred is far off: an estimate that cannot see it must not pretend to."""
        run = Setting(n=100, b=1, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=sensitivity)
        outcomes = []
        for seed in range(10):
            try:
                found = compare("thm:shuffle", run, alpha=3, samples=20_000, seed=seed)
            except NoEstimate:
                outcomes.append(True)
            else:
                outcomes.append(found.ci[0] <= found.exact <= found.ci[1])
        assert sum(outcomes) >= 8

    def test_a_gap_between_two_clouds_is_noticed(self):
        rng = np.random.default_rng(0)
        apart = np.where(rng.random(20_000) < 0.5, -15.0, 15.0)
        mixed = np.where(rng.random(20_000) < 0.05, 0.0, apart)
        chains = [
            Chains(side[:, None] + rng.normal(size=(20_000, 1)), side[:, None], 20_000) for side in (mixed, apart)
        ]
        with pytest.raises(NoEstimate):
            rao_blackwell(*chains, 2, 1.0)

    def test_a_mixture_is_no_gaussian(self):
        with pytest.raises(ArgumentError, match="not Gaussian"):
            compare("thm:shuffle", FIGURE.replace(K=1), alpha=2, method="plug_in")

    def test_high_orders_are_refused_not_guessed(self):
        run = Experiment(Quadratic(1.0, 40.0), np.zeros(2), 40.0, eta=0.5, sigma=1.0, b=2, K=2, scheme="full_batch")
        chains = pair(run, 5000, 0)
        for estimate in (lambda: rao_blackwell(*chains, 60, run.noise), lambda: from_samples(*chains, 60)):
            with pytest.raises(NoEstimate):
                estimate()
        with pytest.raises(NoEstimate, match="infinite"):
            gaussian_divergence(10, 0, 2, 0, 1)

    def test_bad_input(self):
        few = Chains(np.zeros((10, 1)), None, 10)
        wide = Chains(np.zeros((5000, 2)), None, 5000)
        flat = Chains(np.random.default_rng(0).normal(size=(5000, 1)), None, 5000)
        for chains, options, error in (
            (few, {}, NoEstimate),
            (wide, {}, NoEstimate),
            (flat, {"alpha": 1}, ArgumentError),
            (flat, {"level": 95}, ArgumentError),
        ):
            with pytest.raises(error):
                from_samples(chains, chains, **{"alpha": 2, **options})
        with pytest.raises(ArgumentError, match="centres"):
            rao_blackwell(flat, flat, 2, 1.0)


class TestAttacks:
    def test_true_bounds_survive_and_wrong_ones_are_exposed(self):
        exposed = {row.label: row for row in campaign()}
        assert set(exposed) == set(targets()) - {"cor:logistic"}
        assert all(row.violations == 0 for row in exposed.values())
        for label, row in exposed.items():
            if label != "thm:amp_samp_wo_replacement:limit":
                assert row.wrong_bounds["halved"].startswith("exposed"), label
        for label in ("thm:strconvexsmooth", "balle2019", "thm:GD_tighter", "eqn:proof_strongly_convex_first_epoch"):
            assert exposed[label].wrong_bounds["exponents doubled"].startswith("exposed")
        for label in ("thm:strconvexsmooth", "thm:convexsmooth", "balle2019"):
            assert exposed[label].wrong_bounds["one batch too many"].startswith("exposed")

    def test_the_bounds_are_attained_where_they_are_tight(self):
        run = FIGURE.replace(K=1)
        assert attack("thm:strconvexsmooth", run, 15, place=0).ratio == pytest.approx(1, rel=1e-12)
        assert attack("thm:convexsmooth", FIGURE.replace(K=7), 15, place=0).ratio == pytest.approx(1, rel=1e-12)
        assert attack("thm:strconvexsmooth", run, 15, place=24).ratio > 4

    def test_curvatures_may_help_the_attacker(self):
        """In the last batch, steep losses in the batches before forget some of the noise."""
        found = worst_instance("thm:strconvexsmooth", FIGURE.replace(K=1), 15, place=24)
        assert set(found.curvatures[1:-1]) == {Fraction(4)}

    @given(
        st.sampled_from(
            [
                label
                for label, scheme in targets().items()
                if scheme in ("fixed", "full_batch", "shuffle") and label != "cor:logistic"
            ]
        ),
        st.integers(2, 5),
        st.integers(1, 4),
        st.fractions(Fraction(1, 100), Fraction(49, 50), max_denominator=100),
        st.fractions(Fraction(1), Fraction(3), max_denominator=10),
        st.fractions(Fraction(1, 10), Fraction(5), max_denominator=10),
        st.integers(2, 60),
        st.data(),
    )
    @settings(max_examples=60, deadline=None)
    def test_no_random_setting_breaks_a_bound(self, label, batches, epochs, step, ratio, sensitivity, order, data):
        eta = step * 2 / (1 + ratio)
        if label in ("thm:GD_tighter", "thm:GD_baseline"):
            eta = step / ratio
        run = Setting(
            n=batches,
            b=1,
            K=1 if label.startswith("eqn") else epochs,
            eta=eta,
            lam=1,
            beta=ratio,
            sigma=1,
            S_g=sensitivity,
        )
        place = data.draw(st.integers(0, batches - 1))
        assert not attack(label, run, order, place=place).violated

    def test_wrong_bounds_are_smaller(self, figure_run):
        for label in ("thm:strconvexsmooth", "thm:shuffle", "thm:GD_tighter"):
            true = attack(label, figure_run, 15).bound
            for _, expr in wrong_bounds(label):
                assert attack(label, figure_run, 15, expr=expr).bound.hi < true.lo

    def test_the_tightness_table(self):
        rows = {
            (row["label"], row["j0"]): row
            for row in tightness(("thm:strconvexsmooth", "thm:shuffle", "thm:GD_tighter"))
        }
        assert rows["thm:strconvexsmooth", 0]["K=1"] == pytest.approx(1, rel=1e-9)
        assert all(value >= 1 - 1e-9 for row in rows.values() for name, value in row.items() if name.startswith("K="))
        assert 3 < rows["thm:strconvexsmooth", 24]["K=40"] < 5

    def test_what_cannot_be_attacked(self):
        with pytest.raises(ArgumentError, match="no algorithm"):
            attack("mironov2019", FIGURE.replace(K=1), 2)
        with pytest.raises(ArgumentError, match="no algorithm"):
            list(campaign("cor:logistic"))
        with pytest.raises(MissingArgument, match="lam"):
            compare("thm:convexsmooth", Setting(n=4, b=2, K=1, eta="0.1", beta=1, sigma=1, S_g=1), alpha=2)


RUN = {"n": 10, "b": 2, "K": 2, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


class TestCommand:
    ARGUMENTS = tuple(
        word
        for name, value in {**RUN, "alpha": 2, "samples": 20_000, "seed": 3}.items()
        for word in (f"--{name}", str(value))
    )

    @pytest.mark.parametrize(
        "label", ["thm:shuffle", "thm:strconvexsmooth", "thm:amp_samp_wo_replacement", "thm:GD_tighter"]
    )
    def test_json(self, capsys, label):
        assert main(["simulate", label, *self.ARGUMENTS, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {"estimate", "ci", "exact", "bound", "ratio", "samples", "seed"} <= found.keys()
        assert found["bound"] >= found["exact"] > 0
        assert found["ratio"] == pytest.approx(found["bound"] / found["exact"])
        assert (found["samples"], found["seed"]) == (20_000, 3)

    def test_text_and_other_estimators(self, capsys):
        assert main(["simulate", "thm:strconvexsmooth", *self.ARGUMENTS, "--method", "plug_in"]) == 0
        shown = capsys.readouterr().out
        assert "plug-in Gaussian" in shown
        assert "certified" in shown

    @pytest.mark.parametrize(
        ("extra", "says"),
        [
            (["--samples", "0"], "chains = 0"),
            (["--seed", "-1"], "seed = -1"),
            (["--method", "guess"], "method = 'guess'"),
            (["--alpha", "1"], "alpha = '1'"),
            (["--S_g", "0"], "S_g = 0"),
            (["--S_g", "1e300"], "S_g = "),
            (["--sigma", "1e200"], "sigma2 = "),
        ],
    )
    def test_refusals(self, capsys, extra, says):
        assert main(["simulate", "thm:shuffle", *self.ARGUMENTS, *extra]) == 2
        assert says in capsys.readouterr().err

    def test_a_missing_letter(self):
        with pytest.raises(MissingArgument, match="alpha"):
            compare("thm:shuffle", FIGURE.replace(K=1))

    def test_a_statement_without_algorithm(self, capsys):
        assert main(["simulate", "lem:recursive", *self.ARGUMENTS]) == 2
        assert "no algorithm" in capsys.readouterr().err

    def test_logistic_regression(self):
        run = Setting(n=4, b=1, K=2, eta="0.5", lam="0.5", S_g=1)
        found = compare("cor:logistic", run, alpha=2, L=1, sigma_mul=4, classes=2, eps_norm=0, samples=20_000)
        assert found.consistent
        assert found.exact is None
        assert found.estimate > 0

    def test_errors_are_of_our_family(self):
        with pytest.raises(HsdpError):
            compare("thm:shuffle", FIGURE.replace(K=1), alpha=2, samples=True)
