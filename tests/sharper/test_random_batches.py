"""Random batches: exact moments and controlled shifts are never below an exact law."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import ArgumentError, GridExhausted, HypothesisError, TooManySteps
from hsdp_symbolic.experiment.attack import attack

MOMENTS, CAPPED = "moments:without_replacement", "split:capped"
DRAWN, RESHUFFLED = "control:without_replacement", "control:reshuffle"


class TestTable:
    """The numbers of the table at the figure setting, K = 40."""

    @pytest.mark.parametrize(("alpha", "value"), [(10, "0.0596711836073"), (15, "0.1083171272665778")])
    def test_moments(self, figure_run, alpha, value):
        found = statement(MOMENTS)
        digits = len(value) - 2 - 1
        assert float(found.enclose(figure_run, alpha=alpha).hi) == pytest.approx(float(value), abs=0.6 * 10**-digits)
        assert found.numeric(figure_run, alpha=alpha) == pytest.approx(float(value), rel=1e-12)

    @pytest.mark.parametrize(("label", "alpha", "most"), [(DRAWN, 10, 0.01775), (DRAWN, 15, 0.03215)])
    def test_control(self, figure_run, label, alpha, most):
        upper = statement(label).upper(figure_run, alpha=alpha)
        assert upper <= most
        assert statement(label).enclose(figure_run, alpha=alpha, rtol="1e-3").hi <= Fraction(upper) * Fraction(
            1001, 1000
        )

    def test_the_order_of_the_bounds(self, figure_run):
        values = [
            statement(label).upper(figure_run, alpha=15)
            for label in (RESHUFFLED, DRAWN, MOMENTS, "thm:amp_samp_wo_replacement")
        ]
        assert values == sorted(values)


class TestStatements:
    @pytest.mark.parametrize("label", [MOMENTS, CAPPED, DRAWN, RESHUFFLED])
    def test_no_exact_law_is_above(self, label):
        """Random small problems, all patterns of hits, certified divergence both ways round."""
        rng, close = random.Random(label), 0.0
        for _ in range(8):
            batches = rng.randint(1, 3)
            epochs = rng.randint(1, 6 // batches if label != RESHUFFLED else 2)
            ratio = Fraction(rng.randint(10, 20), 10)
            run = Setting(
                n=batches * 2 + (rng.randint(0, 1) if batches > 1 else 0),
                b=2,
                K=epochs,
                eta=Fraction(rng.randint(5, 95), 100) * 2 / (1 + ratio),
                lam=1,
                beta=ratio,
                sigma=1,
                S_g=Fraction(rng.randint(1, 30), 10),
            )
            found = attack(label, run, rng.randint(2, 20))
            assert not found.violated, found
            assert found.instance.split(",")[1].strip() == "all patterns of hits"
            close = max(close, 1 / found.ratio)
        assert close > 0.1

    def test_one_epoch_of_a_permutation_is_shuffling(self):
        """With one epoch the two schemes are the same, so the exact law of one bounds the other's."""
        run = Setting(n=3, b=1, K=1, eta="0.95", lam=1, beta=1, sigma=1, S_g=1)
        assert attack(RESHUFFLED, run, 3).found == pytest.approx(attack("thm:shuffle", run, 3).found, rel=1e-6)

    def test_full_batches_are_gradient_descent(self):
        """Every record in every batch: certain hits, and the tight value of full-batch descent."""
        run = Setting(n=4, b=4, K=10, eta="0.1", lam=1, beta=1, sigma=1, S_g=1)
        q, K, alpha = Fraction(9, 10), 10, 3
        tight = alpha * Fraction(1, 10) / (4 * 16) * (1 + q) * (1 - q**K) / ((1 - q) * (1 + q**K))
        for label in (DRAWN, RESHUFFLED):
            assert tight in statement(label).enclose(run, alpha=alpha, rtol="1e-3")

    def test_numeric_is_on_the_safe_side_over_arrays(self, figure_run):
        for label in (DRAWN, RESHUFFLED):
            found = statement(label)
            table = found.numeric(figure_run, alpha=[[2], [10]], K=[1, 2, 40])
            assert table.shape == (2, 3)
            for row, alpha in enumerate((2, 10)):
                for column, K in enumerate((1, 2, 40)):
                    narrow = found.enclose(figure_run, alpha=alpha, K=K, rtol="2e-3")
                    assert float(narrow.lo) <= table[row, column] <= float(narrow.hi) * 1.002

    def test_without_sensitivity_there_is_nothing_to_pay(self, figure_run):
        for label in (MOMENTS, CAPPED, DRAWN, RESHUFFLED):
            assert statement(label).exact(figure_run.replace(S_g=0), alpha=15) == 0
            assert statement(label).numeric(figure_run.replace(S_g=0), alpha=15) == 0

    def test_records_left_out(self):
        """b does not divide n: the record may be in no batch of an epoch, and certified patterns agree."""
        run = Setting(n=5, b=2, K=2, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        found = attack(RESHUFFLED, run, 4)
        assert not found.violated
        assert found.ratio < 3

    @pytest.mark.parametrize("label", [MOMENTS, CAPPED, DRAWN, RESHUFFLED])
    def test_hypotheses(self, figure_run, label):
        found = statement(label)
        with pytest.raises(HypothesisError, match="eta"):
            found.upper(figure_run, eta=1, alpha=15)
        with pytest.raises(ArgumentError, match="alpha"):
            found.upper(figure_run, alpha=1)
        with pytest.raises(ArgumentError, match="K"):
            found.upper(figure_run, alpha=15, K=0)

    def test_more_digits_than_a_grid_has_are_refused(self, figure_run):
        with pytest.raises(GridExhausted, match="rtol"):
            statement(DRAWN).enclose(figure_run, alpha=15, rtol="1e-20")

    def test_ranges(self, figure_run):
        whole = statement(DRAWN).enclose(figure_run, alpha=(10, 15), K=2)
        for alpha in (10, 12, 15):
            assert whole.overlaps(statement(DRAWN).enclose(figure_run, alpha=alpha, K=2))


class TestOutOfReach:
    """Refused at once, or answered: neither a hang nor an error that names nothing."""

    RUN = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)

    @pytest.mark.parametrize("view", ["enclose", "numeric"])
    @pytest.mark.parametrize(
        ("label", "changes"),
        [
            (RESHUFFLED, {"n": 10**30}),  # a pass is followed step by step, however soon it would settle
            (RESHUFFLED, {"n": 10**6}),
            (MOMENTS, {"lam": "1e-14", "K": 10**12}),
            (MOMENTS, {"lam": "1e-20", "K": 10**12}),
        ],
    )
    def test_too_long(self, label, changes, view):
        with pytest.raises(TooManySteps):
            getattr(statement(label), view)(self.RUN.replace(**changes), alpha=15)

    @pytest.mark.parametrize("lam", ["1e-17", "1e-20"])
    def test_a_contraction_that_rounds_to_1(self, lam):
        run = self.RUN.replace(lam=lam, K=4)
        found = statement(MOMENTS).enclose(run, alpha=15)
        assert found.lo <= statement("composition:without_replacement").enclose(run, alpha=15).hi
        assert statement(MOMENTS).numeric(run, alpha=15) == pytest.approx(found.upper(), rel=1e-11)

    @pytest.mark.parametrize(("changes", "order"), [({"n": 2, "K": 1}, 10**6), ({}, 10**6), ({"sigma": "1e-40"}, 2)])
    def test_moments_beyond_any_number_that_can_be_written_down(self, changes, order):
        run = self.RUN.replace(**changes)
        found, paper = (statement(x).enclose(run, alpha=order) for x in (MOMENTS, "thm:amp_samp_wo_replacement"))
        capped = statement(CAPPED).enclose(run, alpha=order)
        assert capped.lo <= found.hi
        assert found.lo <= paper.hi


def test_control_is_not_always_below_the_moments():
    """Said in OPEN.md."""
    run = Setting(n=11, b=3, K=8, eta="0.3", lam=1, beta=1, sigma=2, S_g=1)
    controlled = statement("control:without_replacement").enclose(run, alpha=5, rtol="1e-3")
    assert controlled.lo > Fraction("1.015") * statement("moments:without_replacement").enclose(run, alpha=5).hi
