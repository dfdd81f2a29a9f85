"""Bounds that take long: sketched to find the order, certified once, skipped with a reason and never silently."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic import HsdpError, Setting, statement
from hsdp_symbolic.accounting import calibrate, compare, epsilon
from hsdp_symbolic.accounting.candidates import statements_of
from hsdp_symbolic.accounting.effort import EFFORTS, TooMuchWork, admit_effort, check_work, is_long
from hsdp_symbolic.accounting.orders import SKETCH_ERROR
from hsdp_symbolic.cli import main
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.shift_programme import Programme, bracket
from hsdp_symbolic.functions.shift_sketch import sketch_programme, values_by_epoch
from hsdp_symbolic.proof.derivation import Derivation
from hsdp_symbolic.symbols import alpha

LONG = ("reshuffle", "without_replacement")


class TestSketch:
    @pytest.mark.parametrize(("batches", "epochs"), [(1, 200), (25, 8), (10, 3)])
    def test_every_row_and_every_epoch_is_near_the_bracket(self, batches, epochs):
        """Rows do not leak into each other, and the pass back holds all shorter runs."""
        shape = Programme(Fraction(1), Fraction(49, 50), Fraction(1, 25), batches, epochs)
        costs = np.array([0.01, 0.3, 1.05, 3.0, 17.7])
        rows = values_by_epoch(costs, shape)
        for place, cost in enumerate(costs.tolist()):
            for count in {1, epochs // 2, epochs}:
                whole = bracket(Programme(Fraction(cost), shape.q, shape.rate, batches, count), 0.2)
                value = rows[place][min(count, rows.shape[1]) - 1]
                assert 0.97 * whole.lo <= value <= 1.06 * whole.hi
        assert np.all(np.diff(rows, axis=0) > 0)
        alone = [values_by_epoch(costs[place : place + 1], shape)[0] for place in range(len(costs))]
        assert all(np.allclose(each[-1], row[-1], rtol=1e-9) for each, row in zip(alone, rows, strict=True))

    def test_between_entries_it_is_interpolated(self):
        shape = Programme(Fraction(1), Fraction(49, 50), Fraction(1, 25), 1, 300)
        costs = np.geomspace(1.3, 2.4, 7)
        exact = values_by_epoch(costs, shape)[:, -1]
        assert np.allclose(sketch_programme(costs, shape), exact, rtol=2e-3)
        wide = sketch_programme(np.geomspace(1e-3, 1e3, 60), shape)
        assert np.all(np.diff(wide) >= 0)  # no overshoot where the moment explodes

    def test_moments(self):
        q, rate = Fraction(49, 50), Fraction(1, 25)
        costs = np.geomspace(0.5, 1.5, 5)
        assert np.allclose(HitMoment.sketch(costs, q, rate, 400), HitMoment.array(costs, q, rate, 400), rtol=1e-3)
        assert np.all(HitMoment.sketch(np.array([1e-150, 1e120]), q, rate, 400) == np.inf)

    def test_moments_do_not_overflow(self):
        """A cost of 500, a hundred times over: log E is at most draws·cost and at least that less what misses cost."""
        found = float(HitMoment.array(500.0, Fraction(1, 1), Fraction(1, 2), 100))
        assert found == pytest.approx(100 * (500 + np.log(0.5)), rel=1e-12)

    def test_a_sketch_errs_less_than_it_is_trusted(self):
        rng = random.Random(5)
        for _ in range(8):
            batches, epochs = rng.choice([(1, 150), (20, 6), (60, 2)])
            q, rate = 1 - Fraction(rng.randint(1, 40), 1000), Fraction(1, batches + rng.randint(0, 60))
            cost = Fraction(rng.randint(1, 400), 100)
            whole = bracket(Programme(cost, q, rate, batches, epochs), 0.2)
            (value,) = sketch_programme(np.array([float(cost)]), Programme(cost, q, rate, batches, epochs))
            assert (1 - SKETCH_ERROR) * value <= whole.hi
            assert value >= 0.98 * whole.lo


@pytest.fixture(scope="module")
def longer():
    return Setting(n=10**6, b=100, K=10, eta="0.001", lam="0.1", beta=4, sigma="0.02", S_g=4)


class TestEffort:
    @pytest.mark.parametrize("scheme", LONG)
    def test_quick_says_what_it_skips(self, figure_run, scheme):
        quick, normal = (epsilon(figure_run, delta="1e-5", scheme=scheme, effort=each) for each in ("quick", "normal"))
        skipped = {entry.label: entry for entry in quick.considered if entry.verdict == "skipped"}
        assert f"control:{scheme}" in skipped
        assert all("use effort 'normal'" in entry.reason and entry.value is None for entry in skipped.values())
        assert normal.bound == f"control:{scheme}"
        assert normal.epsilon < quick.epsilon
        assert {entry.label for entry in quick.considered} == {entry.label for entry in normal.considered}

    @pytest.mark.parametrize("scheme", LONG)
    def test_too_long_a_run_is_skipped_with_a_reason(self, longer, scheme):
        found = epsilon(longer, delta="1e-5", scheme=scheme)
        (entry,) = (each for each in found.considered if each.label == f"control:{scheme}")
        assert entry.verdict == "skipped"
        assert "100,000 steps of a dynamic programme" in entry.reason

    def test_work_counts_whole_passes(self):
        """A pass of 60,000 batches is not cut short, however soon it would settle."""
        assert Programme(Fraction(1), Fraction(9, 10), Fraction(1, 60000), 60000, 5).steps_that_matter == 60000
        assert Programme(Fraction(1), Fraction(9, 10), Fraction(1, 60000), 1, 10**18).steps_that_matter == 140

    def test_more_effort_skips_less(self, figure_run):
        found = statement("control:reshuffle")
        with pytest.raises(TooMuchWork):
            check_work(found, figure_run, EFFORTS["quick"])
        check_work(found, figure_run, EFFORTS["normal"])
        assert EFFORTS["quick"].steps < EFFORTS["normal"].steps < EFFORTS["thorough"].steps
        assert {s.label for scheme in LONG for s in statements_of(scheme) if is_long(s)} == {
            "control:reshuffle",
            "control:without_replacement",
            "moments:without_replacement",
        }

    def test_thorough_is_narrower(self, figure_run):
        run = figure_run.replace(n=20, K=2)
        rough, fine = (epsilon(run, delta="1e-5", scheme="reshuffle", effort=each) for each in ("normal", "thorough"))
        assert fine.epsilon <= rough.epsilon
        assert fine.epsilon - fine.lower <= 1e-3 * fine.epsilon

    @pytest.mark.parametrize("effort", ["", "slow", None, 3, float("nan")])
    def test_other_efforts_are_errors(self, figure_run, effort):
        with pytest.raises(HsdpError, match="use one of quick, normal, thorough"):
            epsilon(figure_run, delta="1e-5", scheme="fixed", effort=effort)
        with pytest.raises(HsdpError, match="effort"):
            admit_effort(effort)

    def test_on_the_command_line(self, capsys, tmp_path):
        run = ["--n=50", "--b=2", "--K=2", "--eta=0.02", "--lam=1", "--beta=4", "--sigma=2", "--S_g=4"]
        options = ["--scheme", "reshuffle", "--delta", "1e-5", *run, "--json"]
        assert main(["epsilon", *options, "--effort", "quick"]) == 0
        assert json.loads(capsys.readouterr().out)["bound"] == "composition:fixed"
        assert main(["epsilon", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["bound"] == "control:reshuffle"
        assert found["lower"] < found["epsilon"]
        path = tmp_path / "run.toml"
        path.write_text('effort = "quick"\n')
        assert main(["epsilon", *options, "--from", str(path)]) == 0
        assert json.loads(capsys.readouterr().out)["bound"] == "composition:fixed"
        assert main(["epsilon", *options, "--effort", "none"]) != 0
        assert "quick, normal, thorough" in capsys.readouterr().err


class TestSearch:
    def test_a_certain_loser_is_not_certified(self, figure_run):
        found = epsilon(figure_run, delta="1e-5", scheme="without_replacement")
        (entry,) = (each for each in found.considered if each.label == "moments:without_replacement")
        assert (entry.verdict, entry.value) == ("loses", None)
        assert "not certified" in entry.reason
        certified = compare(figure_run, delta="1e-5", scheme="without_replacement", epochs=[40])
        (value,) = dict(certified.curves)["moments:without_replacement"]
        assert value > found.epsilon

    @pytest.mark.parametrize("scheme", LONG)
    def test_listed_orders(self, figure_run, scheme):
        run = figure_run.replace(K=3)
        found = epsilon(run, delta="1e-5", scheme=scheme, orders=range(2, 66))
        free = epsilon(run, delta="1e-5", scheme=scheme)
        assert free.epsilon <= found.epsilon <= 1.01 * free.epsilon
        assert abs(found.order - free.order) <= Fraction(51, 100)

    def test_compare_agrees_with_epsilon(self, figure_run):
        found = dict(compare(figure_run, delta="1e-5", scheme="reshuffle", epochs=[1, 3]).curves)
        for K, value in zip((1, 3), found["control:reshuffle"], strict=True):
            alone = epsilon(figure_run.replace(K=K), delta="1e-5", scheme="reshuffle").epsilon
            assert value == pytest.approx(alone, rel=1e-4)

    def test_calibrated_on_a_programme(self):
        run = Setting(n=50, b=2, K=4, eta="0.02", lam=1, beta=4, S_g=4)
        found = calibrate(run, target_epsilon=1, delta="1e-5", scheme="reshuffle", solve_for="sigma")
        assert found.guarantee.bound == "control:reshuffle"
        assert 1 - 1e-6 <= found.guarantee.epsilon <= 1
        again = epsilon(run.replace(sigma=found.value), delta="1e-5", scheme="reshuffle")
        assert again.epsilon == found.guarantee.epsilon
        assert epsilon(run.replace(sigma=found.value * Fraction(99, 100)), delta="1e-5", scheme="reshuffle").epsilon > 1


class TestDerivationsPutOff:
    def test_steps_come_in_order_and_once(self):
        written = []

        def prove(d, name):
            written.append(name)
            d.identity(name, alpha, alpha)

        d = Derivation()
        d.identity("first", alpha, alpha)
        d.later(prove, "second")
        d.identity("third", alpha, alpha)
        assert not written
        assert [step.says for step in d.steps] == ["first", "second", "third"]
        assert len(d.steps) == 3
        assert d.steps[1].says == "second"
        assert written == ["second"]

    def test_a_proof_that_fails_to_be_written_is_not_lost(self):
        def fails(d):
            raise ArithmeticError

        d = Derivation()
        d.later(fails)
        for _ in range(2):
            with pytest.raises(ArithmeticError):
                len(d.steps)
