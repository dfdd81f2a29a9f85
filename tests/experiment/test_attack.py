"""The attack: finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsdp_symbolic import Setting, labels
from hsdp_symbolic.errors import ArgumentError, MissingArgument
from hsdp_symbolic.experiment.attack import (
    FIGURE,
    alike,
    attack,
    campaign,
    targets,
    tightness,
    worst_instance,
    wrong_bounds,
)
from hsdp_symbolic.experiment.bound_and_truth import bound_and_truth
from hsdp_symbolic.experiment.hit_patterns import quadratic_law
from hsdp_symbolic.experiment.losses import Quadratic
from hsdp_symbolic.experiment.simulate import Experiment

LOSS = Quadratic(1.0, 4.0)
SHAPE = {"eta": 0.02, "sigma": 2.0}


def experiment(scheme="fixed", *, n=10, b=2, K=3, loss=LOSS, index=0, **changes):
    b = n if scheme == "full_batch" else b
    return Experiment(loss, np.zeros(n), 4.0, b=b, K=K, scheme=scheme, index=index, **{**SHAPE, **changes})


LIKE_OTHERS = (
    "shuffle:factor",
    "shift:shuffle",
    "seen:without_replacement",
    "secret:without_replacement",
    "mironov2019",
    "seen:poisson_replace",
    "composition:balls_in_bins",
)
"""Attacked as thm:shuffle is, thm:amp_samp_wo_replacement, secret:poisson or secret:balls_in_bins, and as slowly."""
EXPOSED = {
    "thm:strconvexsmooth": ("halved", "exponents doubled", "one batch too many"),
    "balle2019": ("halved", "exponents doubled", "one batch too many"),
    "thm:convexsmooth": ("halved", "one batch too many"),
    "thm:GD_tighter": ("halved", "exponents doubled"),
    "eqn:proof_strongly_convex_first_epoch": ("halved", "exponents doubled"),
    "thm:amp_samp_wo_replacement:limit": (),
    "secret:balls_in_bins": ("halved", "exponents doubled", "one batch too many"),
    "composition:balls_in_bins": ("halved", "one batch too many"),
    "secret:poisson": ("halved", "exponents doubled"),
}
"""Wrong bounds that an attack exposes; of any other statement, half the bound."""


def with_exact_laws():
    return [
        label
        for label, scheme in targets().items()
        if scheme in ("fixed", "full_batch", "shuffle") and label != "cor:logistic"
    ]


class TestAttacks:
    @pytest.mark.parametrize(
        "label", [pytest.param(label, marks=[pytest.mark.slow] * (label in LIKE_OTHERS)) for label in labels()]
    )
    def test_true_bounds_survive_and_wrong_ones_are_exposed(self, label):
        if label not in targets() or label == "cor:logistic":
            with pytest.raises(ArgumentError, match=r"no algorithm to attack it with|no Rényi divergence"):
                next(campaign(label))
            return
        (found,) = campaign(label)
        assert found.label == label
        assert found.violations == 0
        for wrong in EXPOSED.get(label, ("halved",)):
            assert found.wrong_bounds[wrong].startswith("exposed"), wrong
        if label.startswith("control:"):
            assert found.attacks >= 5
            assert found.least_ratio < 1.001

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
        st.deferred(lambda: st.sampled_from(with_exact_laws())),
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

    @pytest.mark.parametrize(
        ("label", "twin"),
        [
            ("gdp:cyclic", "shift:cyclic"),
            ("gdp:composition:full_batch", "composition:full_batch"),
            ("profile:shuffle", "thm:shuffle, shift:shuffle"),
            ("profile:balls_in_bins", "secret:balls_in_bins"),
            ("profile:composition:poisson", "mironov2019"),
        ],
    )
    def test_what_is_no_divergence_names_one_about_the_same_run(self, label, twin):
        for refused in (lambda: next(campaign(label)), lambda: bound_and_truth(label, FIGURE, alpha=2)):
            with pytest.raises(ArgumentError, match=f"an attack computes; use {twin}$"):
                refused()

    def test_balls_in_bins_are_reshuffled_if_all_other_records_are_alike(self):
        """And n need not be a multiple of b: every record is in some batch of every epoch."""
        run = Setting(n=5, b=2, K=2, eta="0.4", lam=1, beta="1.2", sigma=1, S_g=1)
        assert alike(run, "balls_in_bins") == (run.replace(n=4), "reshuffle")
        assert quadratic_law(run, "balls_in_bins", run["lam"]) == quadratic_law(
            run.replace(n=4), "reshuffle", run["lam"]
        )
        assert quadratic_law(run, "reshuffle", run["lam"]) != quadratic_law(run.replace(n=4), "reshuffle", run["lam"])

    def test_simulated_runs_of_balls_in_bins(self):
        run = Setting(n=5, b=2, K=2, eta="0.4", lam=1, beta="1.2", sigma=1, S_g=1)
        found = bound_and_truth("secret:balls_in_bins", run.replace(n=2, b=1), alpha=2, samples=20_000, seed=1)
        assert found.consistent
        assert found.ci[0] < found.exact < found.ci[1]
        assert 1 < found.ratio < 2

    def test_what_cannot_be_attacked(self):
        with pytest.raises(ArgumentError, match="no algorithm"):
            attack("clip:convex", FIGURE.replace(K=1), 2)
        with pytest.raises(ArgumentError, match="no algorithm"):
            list(campaign("cor:logistic"))
        with pytest.raises(MissingArgument, match="lam"):
            bound_and_truth("thm:convexsmooth", Setting(n=4, b=2, K=1, eta="0.1", beta=1, sigma=1, S_g=1), alpha=2)
