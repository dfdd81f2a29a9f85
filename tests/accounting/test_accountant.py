"""The accountant object, and several runs added up (its adapters: see `adapters/`)."""

from __future__ import annotations

import copy
import json
import math
import random
from fractions import Fraction
from typing import ClassVar

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import (
    HiddenStateAccountant,
    Part,
    checkpoints,
    delta,
    delta_of_all,
    epsilon,
    epsilon_of_all,
    logistic,
    scalar,
    training_run,
)
from hsdp_symbolic.errors import ArgumentError

FACTS = {
    "scheme": "shuffle",
    "n": 50,
    "batch_size": 2,
    "learning_rate": "0.02",
    "max_grad_norm": 2,
    "weight_decay": 1,
    "loss": scalar(feature_norm=1, curvature=3, bias=False),  # so that λ = 1 and β = 4
}
BATCHES, NOISE = 25, 20
HARMLESS = {name: value for name, value in FACTS.items() if name in ("scheme", "n", "batch_size")}


def accountant(steps=0, *, noise=NOISE, **changes):
    made = HiddenStateAccountant(**(FACTS | changes))
    if steps:
        made.history = [(noise, 1 / BATCHES, steps)]
    return made


class TestOneRun:
    @pytest.mark.smoke
    def test_epsilon_is_that_of_the_paper_setting(self, figure_run):
        """Clip norm 2 is sensitivity 4, and noise multiplier 20 is σ = 2, at the setting of the figures."""
        expected = epsilon(figure_run, delta="1e-5", scheme="shuffle")
        found = accountant(40 * BATCHES)
        assert found.get_epsilon(1e-5) == expected.epsilon
        assert found.get_delta(1) == delta(figure_run, epsilon=1, scheme="shuffle").delta
        assert found.guarantee(1e-5).bound == "profile:shuffle"

    def test_a_wrong_sensitivity_would_show(self, figure_run):
        wrong = epsilon(figure_run.replace(S_g=2), delta="1e-5", scheme="shuffle")
        assert accountant(40 * BATCHES).get_epsilon(1e-5) > 1.5 * wrong.epsilon

    def test_step_by_step_is_the_same_as_at_once(self):
        told = accountant()
        for _ in range(3 * BATCHES):
            told.step(noise_multiplier=NOISE, sample_rate=1 / BATCHES)
        assert told.history == [(NOISE, 1 / BATCHES, 3 * BATCHES)]
        assert len(told) == 3 * BATCHES
        assert told.get_epsilon(1e-5) == accountant(3 * BATCHES).get_epsilon(1e-5)

    def test_nothing_done_costs_nothing(self):
        assert accountant().get_epsilon(1e-5) == 0 == accountant().get_delta(1)
        with pytest.raises(ArgumentError, match="delta = 2"):
            accountant().get_epsilon(2)
        with pytest.raises(ArgumentError, match="no step"):
            accountant().guarantee(1e-5)

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_within_an_epoch(self, scheme):
        found = accountant(BATCHES + 7, scheme=scheme).guarantee(1e-5)
        assert found.hidden_state
        composed = accountant(BATCHES + 7, scheme=scheme, released=True).get_epsilon(1e-5)
        before = accountant(7, scheme=scheme).get_epsilon(1e-5)
        assert before < found.epsilon < composed

    def test_within_an_epoch_a_bound_for_any_number_of_steps_still_holds(self):
        """What holds for batches drawn anew at every step does not ask where an epoch ends."""
        steps = 4 * BATCHES + 7
        found = accountant(steps, scheme="without_replacement").guarantee(1e-5)
        assert found.bound == "profile:without_replacement"
        assert found.note == ""
        whole = [accountant(epochs * BATCHES, scheme="without_replacement").get_epsilon(1e-5) for epochs in (4, 5)]
        assert whole[0] * (1 - 1e-3) <= found.epsilon <= whole[1] * (1 + 1e-3)
        assert found.epsilon < accountant(steps, scheme="without_replacement", released=True).get_epsilon(1e-5)

    def test_released_uses_composition_only(self):
        steps = 40 * BATCHES
        found = accountant(steps, released=True).guarantee(1e-5)
        assert found.bound == "gdp:composition:fixed"
        assert found.epsilon > accountant(steps).get_epsilon(1e-5)
        assert {each.label for each in found.considered if each.verdict == "does not apply"} >= {"shift:shuffle"}

    def test_opacus_calls_the_orders_alphas(self):
        made = accountant(40 * BATCHES)
        assert made.get_epsilon(1e-5, alphas=[8, 16]) == made.get_epsilon(1e-5, orders=[8, 16])
        assert made.get_epsilon(1e-5, alphas=[8, 16]) > made.get_epsilon(1e-5)
        with pytest.raises(ArgumentError, match="alphas"):
            made.get_epsilon(1e-5, alphas=[8], orders=[8])

    def test_poisson_needs_no_facts_and_reads_a_float_rate_as_meant(self):
        made = HiddenStateAccountant(scheme="poisson")
        made.history = [(1.1, 1 / 3, 30)]
        run = training_run(noise_multiplier="1.1", sample_rate=Fraction(1, 3), steps=30)
        assert made.get_epsilon(1e-5) == epsilon(run, delta=1e-5, scheme="poisson").epsilon
        assert "nothing is known of the clipped loss" in made.guarantee(1e-5).note
        assert training_run(noise_multiplier="1.1", sample_rate=1 / 3, steps=30) == run  # not 0.3333333333333333

    def test_poisson_sampling_has_a_hidden_state_bound_where_the_records_are_counted(self):
        facts = FACTS | {"scheme": "poisson"}
        made = HiddenStateAccountant(**facts)
        made.history = [(NOISE, 1 / BATCHES, 40 * BATCHES)]
        found = made.guarantee(1e-5)
        assert (found.bound, found.neighbouring) == ("profile:poisson", "add_remove")
        told = {name: value for name, value in facts.items() if name != "scheme"}
        run = training_run(noise_multiplier=NOISE, epochs=40, **told)
        assert found.epsilon == epsilon(run, delta=1e-5, scheme="poisson").epsilon
        assert any("a draw of its own" in each for each in found.assumptions)
        uncounted = {name: value for name, value in facts.items() if name not in ("n", "batch_size")}
        bare = HiddenStateAccountant(**uncounted)
        bare.history = made.history
        assert bare.get_epsilon(1e-5) > 2 * found.epsilon
        assert "the number of records is not given" in bare.guarantee(1e-5).note

    def test_full_batch_is_one_step_an_epoch(self):
        facts = {name: value for name, value in FACTS.items() if name != "batch_size"} | {"scheme": "full_batch"}
        made = HiddenStateAccountant(**facts)
        for _ in range(5):
            made.step(noise_multiplier=10, sample_rate=1)
        told = {name: facts[name] for name in ("max_grad_norm", "learning_rate", "weight_decay", "loss")}
        run = training_run(noise_multiplier=10, n=50, batch_size=50, epochs=5, **told)
        assert made.get_epsilon(1e-5) == epsilon(run, delta=1e-5, scheme="full_batch").epsilon

    def test_a_full_batch_of_fewer_records_is_refused(self):
        """Noise scaled for batches of 50 beside the sensitivity of a mean over 1000 would report 0.2 for 33."""
        run = {"noise_multiplier": 8, "n": 1000, "steps": 400}
        with pytest.raises(ArgumentError, match="a full batch holds all n = 1000"):
            epsilon(training_run(**run, batch_size=50), delta=1e-5, scheme="full_batch")
        assert epsilon(training_run(**run, batch_size=1000), delta=1e-5, scheme="full_batch").epsilon > 33


class TestChanges:
    """Noise and learning rates that change, and iterates that are released, in mid-run."""

    FACTS: ClassVar = {
        "n": 50,
        "batch_size": 2,
        "weight_decay": 1,
        "max_grad_norm": 1,
        "loss": logistic(feature_norm=1),
    }

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_they_are_a_schedule(self, scheme):
        made = HiddenStateAccountant(scheme=scheme, learning_rate="0.2", **self.FACTS)
        for step in range(2 * BATCHES):
            rate = None if step < BATCHES + 3 else "0.1"
            made.step(noise_multiplier=4 if step < 7 else 8, sample_rate=1 / BATCHES, learning_rate=rate)
            if step == 30:
                made.release()
        run = training_run(
            noise_multiplier=[4] * 7 + [8] * 43, learning_rate=["0.2"] * 28 + ["0.1"] * 22, per="step",
            released=checkpoints(31), **self.FACTS,
        )  # fmt: skip
        assert made.get_epsilon(1e-5) == epsilon(run, delta=1e-5, scheme=scheme).epsilon
        other = HiddenStateAccountant(scheme=scheme, learning_rate="0.2", **self.FACTS)
        other.load_state_dict(json.loads(json.dumps(made.state_dict())))
        assert other.get_epsilon(1e-5) == made.get_epsilon(1e-5)
        assert other.get_delta(1) == made.get_delta(1)

    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_a_release_costs_something(self, scheme):
        plain, shown = (accountant(2 * BATCHES, scheme=scheme) for _ in range(2))
        shown.release()
        assert shown.get_epsilon(1e-5) == plain.get_epsilon(1e-5)
        for made in (plain, shown):
            for _ in range(BATCHES):
                made.step(noise_multiplier=NOISE, sample_rate=1 / BATCHES)
        composed = accountant(3 * BATCHES, scheme=scheme, released=True).get_epsilon(1e-5)
        assert plain.get_epsilon(1e-5) < shown.get_epsilon(1e-5) <= composed * (1 + 1e-12)

    def test_of_batches_drawn_afresh_each_part_counts(self):
        made = HiddenStateAccountant(scheme="poisson", released=True)
        made.history = [(1, 0.01, 7), (2, 0.01, 5)]
        runs = [training_run(noise_multiplier=z, sample_rate="0.01", steps=k) for z, k in ((1, 7), (2, 5))]
        assert made.get_epsilon(1e-5) == epsilon_of_all([Part(run, "poisson") for run in runs], delta=1e-5).epsilon
        hidden = HiddenStateAccountant(scheme="poisson")
        hidden.history, hidden._released_after = [(1, 0.01, 12)], [7]
        assert hidden.get_epsilon(1e-5) > 0
        assert len(hidden._parts()) == 2

    def test_a_learning_rate_must_be_known_from_the_start(self):
        with pytest.raises(ArgumentError, match="made without one"):
            HiddenStateAccountant(scheme="poisson").step(noise_multiplier=1, sample_rate=0.1, learning_rate="0.1")


class TestRefusals:
    def test_with_all_released_both_are_allowed(self):
        made = accountant(2 * BATCHES, released=True)
        made.release()
        for _ in range(BATCHES):
            made.step(noise_multiplier=30, sample_rate=1 / BATCHES)
        runs = [
            Part(training_run(noise_multiplier=z, n=50, batch_size=2, epochs=k), "shuffle")
            for z, k in ((NOISE, 2), (30, 1))
        ]
        assert made.get_epsilon(1e-5) == epsilon_of_all(runs, delta=1e-5).epsilon
        assert made.get_delta(1) == delta_of_all(runs, epsilon=1).delta

    def test_release_before_the_first_step(self):
        with pytest.raises(ArgumentError, match="no step"):
            accountant().release()

    @pytest.mark.parametrize(
        ("facts", "message"),
        [
            ({"scheme": "shufle"}, "scheme = 'shufle'"),
            ({"scheme": "shuffle"}, "n = None"),
            ({"scheme": "shuffle", "n": 50}, "batch_size = None"),
            ({"scheme": "full_batch"}, "n = None"),
            ({"scheme": "full_batch", "n": 50, "batch_size": 2}, "a full batch holds all"),
            (HARMLESS | {"batch_size": 51}, "batch_size = 51"),
            (HARMLESS | {"n": 50.0}, "n = 50.0"),
            (HARMLESS | {"learning_rate": -1}, "learning_rate = -1"),
            (HARMLESS | {"max_grad_norm": 0}, "max_grad_norm = 0"),
            (HARMLESS | {"max_grad_norm": 1, "clip_norm": 1}, "clip_norm = 1"),
            (HARMLESS | {"learning_rate": 1, "lam": math.nan}, "lam = nan"),
            (HARMLESS | {"lam": 1, "beta": 2}, "learning_rate = None"),
            (HARMLESS | {"learning_rate": 1, "lam": 2, "beta": 1}, "beta"),
            (HARMLESS | {"neighbouring": "add_remove"}, "neighbouring = 'add_remove'"),
            (HARMLESS | {"released": "no"}, "released = 'no'"),
        ],
    )
    def test_bad_facts(self, facts, message):
        with pytest.raises(ArgumentError) as raised:
            HiddenStateAccountant(**facts)
        assert message in str(raised.value)

    @pytest.mark.parametrize(
        "step",
        [
            {"noise_multiplier": noise, "sample_rate": 1 / BATCHES}
            for noise in (-1, 0, math.nan, math.inf, "x", None, True)
        ]
        + [
            {"noise_multiplier": 1, "sample_rate": rate}
            for rate in (-0.1, 0, 1.5, math.nan, math.inf, None, 0.05, 1 / 26, 0.0400001)
        ],
    )
    def test_bad_steps(self, step):
        made = accountant()
        with pytest.raises(ArgumentError):
            made.step(**step)
        assert len(made) == 0

    def test_a_shorter_last_batch_is_noticed(self):
        made = accountant(n=51, leftover="dropped")
        with pytest.raises(ArgumentError, match="say how the batches were really made"):
            made.step(noise_multiplier=1, sample_rate=1 / 26)
        made.step(noise_multiplier=1, sample_rate=1 / 25)
        accountant(n=51, leftover="partial", divisor=2).step(noise_multiplier=1, sample_rate=1 / 26)
        with pytest.raises(ArgumentError, match="leftover"):
            accountant(n=51)


class TestState:
    def test_round_trip(self):
        made = accountant(2 * BATCHES)
        made.release()
        other = accountant()
        other.load_state_dict(copy.deepcopy(made.state_dict()))
        assert other.get_epsilon(1e-5) == made.get_epsilon(1e-5)
        assert other.state_dict() == made.state_dict()

    def test_the_saved_history_is_a_copy(self):
        made = accountant(3)
        saved = made.state_dict()
        made.step(noise_multiplier=NOISE, sample_rate=1 / BATCHES)
        assert saved["history"] == [(NOISE, 1 / BATCHES, 3)]
        assert saved["mechanism"] == "hidden_state" == HiddenStateAccountant.mechanism()

    @pytest.mark.parametrize("bad", [None, {}, {"history": []}, {"history": [], "mechanism": "rdp"}, []])
    def test_what_was_not_saved_here_is_refused(self, bad):
        with pytest.raises(ValueError, match="state_dict"):
            accountant().load_state_dict(bad)

    @pytest.mark.parametrize(
        "facts",
        [
            {"n": 52},
            {"learning_rate": "0.01"},
            {"weight_decay": 2},
            {"loss": None},
            {"max_grad_norm": 1},
            {"scheme": "fixed"},
            {"released": True},
        ],
    )
    def test_facts_of_another_run_are_refused(self, facts):
        with pytest.raises(ArgumentError, match="state_dict"):
            accountant(**facts).load_state_dict(accountant(3).state_dict())

    @pytest.mark.parametrize("history", [[(1, 2)], [(1, 0.04, 1.5)], [(1, 0.04, -1)], [(-1, 0.04, 1)], ["abc"]])
    def test_a_broken_history_is_refused_and_the_old_one_kept(self, history):
        made = accountant(3)
        with pytest.raises(ArgumentError):
            made.load_state_dict(accountant(3).state_dict() | {"history": history})
        assert len(made) == 3


class TestSeveralRuns:
    def test_one_run_is_the_run(self, figure_run):
        found = epsilon_of_all([Part(figure_run, "shuffle")], delta="1e-5")
        expected = epsilon(figure_run, delta="1e-5", scheme="shuffle")
        assert found.epsilon == pytest.approx(expected.epsilon, rel=1e-9)
        assert found.bounds == ("profile:shuffle",)
        assert found.order is None

    def test_divergences_add_at_one_order(self, figure_run):
        """Certified at a given order: twice the divergence, not twice ε."""
        from hsdp_symbolic import statement
        from hsdp_symbolic.accounting import epsilon_at

        single = statement("shift:shuffle").enclose(figure_run, alpha=15)
        other = statement("composition:full_batch").enclose(figure_run, alpha=15)
        parts = [Part(figure_run, "shuffle", 2), Part(figure_run.replace(lam=None), "full_batch")]
        found = epsilon_of_all(parts, delta="1e-5", orders=[15])
        expected = epsilon_at(2 * single.hi + other.hi, order=15, delta="1e-5").upper()
        assert found.epsilon == pytest.approx(expected, rel=1e-12)
        assert found.lower <= expected
        assert found.bounds == ("shift:shuffle", "composition:full_batch")

    def test_gaussians_add_their_squares(self, figure_run):
        """Runs in a fixed order are G(μ) each, and together G(√Σμ²), by an independent inversion of its profile."""
        from mpmath import exp, findroot, mpf, ncdf, sqrt, workdps

        from hsdp_symbolic import statement

        other = figure_run.replace(sigma=3)
        parts = [Part(figure_run, "fixed", 2), Part(other, "full_batch", 3)]
        found = epsilon_of_all(parts, delta="1e-5")
        assert (found.bounds, found.order) == (("gdp:cyclic", "gdp:gd"), None)
        with workdps(40):
            squares = [statement("gdp:cyclic").mu(figure_run, j0=24).hi ** 2, statement("gdp:gd").mu(other).hi ** 2]
            mu = sqrt(sum(n * mpf(x.numerator) / x.denominator for n, x in zip((2, 3), squares, strict=True)))
            profile = lambda e: ncdf(mu / 2 - e / mu) - exp(e) * ncdf(-mu / 2 - e / mu)  # noqa: E731
            expected = findroot(lambda e: profile(e) - mpf(10) ** -5, found.epsilon)
            assert abs(found.epsilon - expected) <= 1e-12 * expected
        assert delta_of_all(parts, epsilon=found.epsilon).delta == pytest.approx(1e-5, rel=1e-9)
        assert found.epsilon < epsilon_of_all(parts, delta="1e-5", orders=range(2, 200)).epsilon

    def test_composition_adds_up_to_composition(self):
        """Poisson steps with the same parameters, split at random, cost what they cost together."""
        rng = random.Random(8)
        for _ in range(3):
            steps = [rng.randrange(1, 200) for _ in range(3)]
            together = training_run(noise_multiplier="1.3", sample_rate="0.02", steps=sum(steps))
            apart = [Part(training_run(noise_multiplier="1.3", sample_rate="0.02", steps=s), "poisson") for s in steps]
            expected = epsilon(together, delta=1e-6, scheme="poisson", orders=range(2, 64)).epsilon
            assert epsilon_of_all(apart, delta=1e-6, orders=range(2, 64)).epsilon == pytest.approx(expected, rel=1e-12)

    def test_refusals(self, figure_run):
        with pytest.raises(ArgumentError, match="an empty list"):
            epsilon_of_all([], delta=1e-5)
        with pytest.raises(ArgumentError, match="is not a Part"):
            epsilon_of_all([figure_run], delta=1e-5)
        with pytest.raises(ArgumentError, match="count = 0"):
            epsilon_of_all([Part(figure_run, "shuffle", 0)], delta=1e-5)
        with pytest.raises(ArgumentError, match="b = None: not given"):
            epsilon_of_all([Part(Setting(n=3), "shuffle")], delta=1e-5)
        poisson = training_run(noise_multiplier=1, sample_rate="0.01", steps=10)
        with pytest.raises(ArgumentError, match="the runs differ in it"):
            epsilon_of_all([Part(figure_run, "shuffle"), Part(poisson, "poisson")], delta=1e-5)

    def test_edge_probabilities(self, figure_run):
        assert epsilon_of_all([Part(figure_run, "shuffle")], delta=1).epsilon == 0
        with pytest.raises(ArgumentError, match="no finite epsilon holds with certainty"):
            epsilon_of_all([Part(figure_run, "shuffle")], delta=0)
        assert epsilon_of_all([Part(figure_run.replace(S_g=0), "shuffle")], delta=0).epsilon == 0
