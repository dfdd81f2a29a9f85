"""Bounds that take long: sketched to find the order, certified once, skipped with a reason and never silently."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from hsdp_symbolic import HsdpError, Setting, statement
from hsdp_symbolic.accounting import calibrate, compare, delta, epsilon, logistic, training_run
from hsdp_symbolic.accounting.applicable import bounds_for
from hsdp_symbolic.accounting.candidates import statements_of
from hsdp_symbolic.accounting.conversion import Goal
from hsdp_symbolic.accounting.effort import EFFORTS, TooMuchWork, admit_effort, check_work, is_long
from hsdp_symbolic.accounting.orders import best
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import OutsideDoubleRange
from hsdp_symbolic.functions.secret_profile import SecretProfile
from hsdp_symbolic.functions.shift_programme import Programme

LONG = ("reshuffle", "without_replacement")


@pytest.fixture(scope="module")
def longer():
    return Setting(n=10**6, b=100, K=10, eta="0.001", lam="0.1", beta=4, sigma="0.02", S_g=4)


class TestEffort:
    @pytest.mark.parametrize("scheme", LONG)
    def test_quick_says_what_it_skips(self, figure_run, scheme):
        """Asked for orders, so that no profile makes a divergence that takes long unnecessary."""
        options = {"delta": "1e-5", "scheme": scheme, "orders": range(20, 60)}
        quick, normal = (epsilon(figure_run, **options, effort=each) for each in ("quick", "normal"))
        skipped = {entry.label: entry for entry in quick.considered if entry.verdict == "skipped"}
        assert f"control:{scheme}" in skipped
        assert all("use effort 'normal'" in entry.reason and entry.value is None for entry in skipped.values())
        assert f"control:{scheme}" in {entry.label for entry in normal.considered if entry.verdict != "skipped"}
        assert normal.epsilon <= quick.epsilon
        assert {entry.label for entry in quick.considered} == {entry.label for entry in normal.considered}

    @pytest.mark.parametrize("scheme", LONG)
    def test_where_a_profile_holds_what_takes_long_is_skipped(self, figure_run, scheme):
        found = epsilon(figure_run, delta="1e-5", scheme=scheme)
        assert found.bound == f"profile:{scheme}"
        (entry,) = (each for each in found.considered if each.label == f"control:{scheme}")
        assert (entry.verdict, entry.value) == ("skipped", None)
        assert "effort 'thorough' computes it too" in entry.reason

    def test_thorough_computes_it_and_the_profile_still_wins(self, figure_run):
        found = epsilon(figure_run.replace(K=4), delta="1e-5", scheme="reshuffle", effort="thorough")
        verdicts = {entry.label: entry.verdict for entry in found.considered}
        assert found.bound == "profile:reshuffle"
        assert verdicts["control:reshuffle"] == verdicts["gdp:composition:fixed"] == "loses"

    def test_a_tiny_delta_is_skipped_with_a_reason(self, figure_run):
        """A probability of 2^−997 is a thousand bits on every point of a grid: then divergences are all there is."""
        found = epsilon(figure_run.replace(eta="0.1", K=8), delta="1e-300", scheme="without_replacement")
        reasons = {entry.label: entry.reason for entry in found.considered if entry.verdict == "skipped"}
        for label in ("profile:without_replacement", "profile:composition:without_replacement"):
            assert "996 bits for every probability" in reasons[label]
        assert found.bound == "secret:without_replacement"
        assert found.choices.keys() == {"window", "share"}

    @pytest.mark.parametrize("scheme", ["without_replacement", "reshuffle"])
    def test_delta_far_out_is_bounded_from_above(self, figure_run, scheme):
        """It falls with ε, down to where it is not worth its time to know it closely; `lower` says so."""
        found = [delta(figure_run, epsilon=loss, scheme=scheme) for loss in (Fraction(1, 4), 1)]
        assert all(one.delta > other.delta for one, other in pairwise(found))
        assert all(each.lower <= each.delta for each in found)
        assert found[0].delta <= 1.1 * found[0].lower
        assert found[-1].delta < 1e-20

    def test_where_delta_is_small_a_good_window_is_found_too(self, figure_run):
        """The sketch it is looked for on is tilted there: without that, the first guess was taken."""
        values = {}
        for probability in ("1e-8", "1e-9", "1e-12"):
            found = epsilon(figure_run, delta=probability, scheme="without_replacement")
            assert found.bound == "profile:without_replacement"
            assert found.epsilon <= found.lower * 1.0101
            values[probability] = found.epsilon
        assert 0.1924 < values["1e-8"] < 0.2275  # no bound can be below the first
        assert values["1e-8"] < values["1e-9"] < 0.25
        assert values["1e-12"] < 0.31

    @pytest.mark.parametrize("scheme", ["reshuffle", pytest.param("without_replacement", marks=pytest.mark.slow)])
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
        options += ["--orders", "20,24,28,32"]
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
        orders = range(20, 60)
        found = epsilon(figure_run, delta="1e-5", scheme="without_replacement", orders=orders)
        (entry,) = (each for each in found.considered if each.label == "moments:without_replacement")
        assert (entry.verdict, entry.value) == ("loses", None)
        assert "not certified" in entry.reason
        certified = compare(figure_run, delta="1e-5", scheme="without_replacement", epochs=[40], orders=orders)
        (value,) = dict(certified.curves)["moments:without_replacement"]
        assert value > found.epsilon

    @pytest.mark.parametrize("scheme", LONG)
    def test_listed_orders(self, figure_run, scheme):
        """The order chosen among those listed is that nearest to the one found among all, bound by bound."""
        run, goal = figure_run.replace(K=3), Goal("epsilon", Fraction(1, 10**5))
        listed = tuple(map(Fraction, range(2, 100)))
        (bound,) = (each for each in bounds_for(run, scheme).bounds if each.label == f"control:{scheme}")
        found, free = best(bound, goal, listed), best(bound, goal)
        assert free.upper <= found.upper * (1 + 1e-4)
        assert found.upper <= 1.01 * free.upper
        assert abs(found.order - free.order) <= Fraction(51, 100)
        assert epsilon(run, delta="1e-5", scheme=scheme, orders=listed).order in listed

    def test_compare_agrees_with_epsilon(self, figure_run):
        for orders, label in ((None, "profile:reshuffle"), (range(20, 60), "control:reshuffle")):
            told = {"delta": "1e-5", "scheme": "reshuffle", "orders": orders}
            found = dict(compare(figure_run, epochs=[1, 3], **told).curves)
            for K, value in zip((1, 3), found[label], strict=True):
                alone = epsilon(figure_run.replace(K=K), **told)
                assert alone.bound == label
                assert value == pytest.approx(alone.epsilon, rel=1e-4)

    def test_calibrated_on_a_programme(self):
        run = Setting(n=50, b=2, K=4, eta="0.02", lam=1, beta=4, S_g=4)
        for orders, label in ((None, "profile:reshuffle"), (range(8, 24), "control:reshuffle")):
            told = {"delta": "1e-5", "scheme": "reshuffle", "orders": orders}
            found = calibrate(run, target_epsilon=1, solve_for="sigma", **told)
            assert found.guarantee.bound == label
            assert 1 - 1e-3 <= found.guarantee.epsilon <= 1
            again = epsilon(run.replace(sigma=found.value), **told)
            assert again.epsilon == found.guarantee.epsilon
            assert epsilon(run.replace(sigma=found.value * Fraction(99, 100)), **told).epsilon > 1


class TestLoudRuns:
    """So little noise that a single use of a record is hardly hidden."""

    RUN = training_run(
        n=1000,
        batch_size=50,
        epochs=2,
        learning_rate="0.1",
        weight_decay="0.1",
        noise_multiplier="0.3",
        max_grad_norm=1,
        loss=logistic(feature_norm=1),
    )

    @pytest.mark.parametrize(("scheme", "mu"), [("poisson", "3.33"), ("without_replacement", "6.67")])
    def test_secret_hits_are_skipped_with_the_reason(self, scheme, mu):
        candidates = bounds_for(self.RUN, scheme)
        (entry,) = (each for each in candidates.refused if each.label == f"profile:{scheme}")
        assert entry.verdict == "skipped"
        assert f"one use of a record has μ = {mu}, and beyond 2.24 it takes minutes" in entry.reason
        assert "effort 'thorough'" in entry.reason
        assert any(":composition:" in each.label for each in candidates.bounds)

    @pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
    def test_not_where_noise_hides_it_nor_where_everything_is_asked_for(self, scheme):
        quiet = bounds_for(replace(self.RUN, setting=self.RUN.setting.replace(sigma_squared=1)), scheme)
        thorough = bounds_for(self.RUN, scheme, effort=EFFORTS["thorough"])
        for found in (quiet, thorough):
            assert any(each.label == f"profile:{scheme}" for each in found.bounds)


def test_distances_that_no_bits_tell_apart_are_refused_in_words():
    run = [Fraction(x) for x in ("1/2", "400", "99/100", "40", "2", "1/2")]
    with pytest.raises(OutsideDoubleRange, match="what came before does not fit in a double; account for every"):
        SecretProfile.solved("arb", Fraction(1, 10**5), Fraction(1, 100), *run)
