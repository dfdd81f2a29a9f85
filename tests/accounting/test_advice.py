"""`advise`: every row is the account of a run that differs in one thing; like is compared with like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hsdp_symbolic.accounting import advise, epsilon, logistic, training_run
from hsdp_symbolic.accounting.advice import CHANGES, Kind
from hsdp_symbolic.meaning import Neighbouring

DELTA = "1e-5"
OPTIONS = {
    "n": 128,
    "batch_size": 32,
    "epochs": 6,
    "learning_rate": "0.1",
    "noise_multiplier": 8,
    "max_grad_norm": 1,
}
CONVEX = {"weight_decay": "0.5", "loss": logistic(feature_norm=1)}


@pytest.fixture(scope="module")
def convex():
    return advise(training_run(**OPTIONS, **CONVEX), delta=DELTA, scheme="fixed", effort="quick")


def row(found, words):
    (chosen,) = [each for each in (*found.rows, *found.others, *found.refused) if words in each.words]
    return chosen


def test_rows_are_sorted_and_about_one_relation(convex):
    costs = [each.guarantee.epsilon for each in convex.rows]
    assert costs == sorted(costs)
    assert {each.neighbouring for each in convex.rows} == {Neighbouring.REPLACE_ONE}
    assert {each.neighbouring for each in convex.others} == {Neighbouring.ADD_REMOVE}
    assert {each.kind for each in convex.rows} == set(Kind) - {Kind.NONE}
    assert len(convex.rows) + len(convex.others) + len(convex.refused) == len(CHANGES) - 1  # its own scheme


def test_a_row_is_the_account_of_the_changed_run(convex):
    def account(scheme="fixed", **changes):
        run = training_run(**{**OPTIONS, **CONVEX, **changes})
        return epsilon(run, delta=DELTA, scheme=scheme, neighbouring="replace_one", effort="quick").epsilon

    expected = {
        "reshuffled every epoch": account("reshuffle"),
        "drawn without replacement": account("without_replacement"),
        "12 epochs": account(epochs=12),
        "3 epochs": account(epochs=3),
        "batches of 16": account(batch_size=16),
        "batches of 64": account(batch_size=64),
        "full batches": account("full_batch", batch_size=128),
        "weight_decay = 1,": account(weight_decay=1),
        "clip norm 0.5": account(max_grad_norm="0.5", noise_multiplier=16),
        "no regulariser": account(weight_decay=None),
        "inside the clip": account(regulariser="inside"),
    }
    assert {words: row(convex, words).guarantee.epsilon for words in expected} == expected
    assert convex.asked.guarantee.epsilon == account()


def test_what_helps_most_is_the_cheapest(convex):
    assert convex.best is convex.rows[0]
    assert convex.best_batches.kind is Kind.BATCHES
    assert convex.best.words in str(convex)
    assert convex.hidden_state
    inside = row(convex, "inside the clip")
    assert inside.guarantee.setting["lipschitz"] > 1
    assert inside.guarantee.epsilon > convex.asked.guarantee.epsilon


def test_where_nothing_helps_it_says_so(convex):
    rows = tuple(each for each in convex.rows if each.guarantee.epsilon >= convex.asked.guarantee.epsilon)
    worse = replace(convex, rows=rows)
    assert worse.best is None
    assert worse.best_batches is None
    assert "no single change that was tried costs less" in str(worse)


@pytest.mark.parametrize(("optimizer", "reason"), [("sgd", "nothing is known of the clipped loss"), ("adam", "adam")])
def test_composition_only_is_a_good_answer(optimizer, reason):
    found = advise(training_run(**OPTIONS, optimizer=optimizer), delta=DELTA, scheme="reshuffle", effort="quick")
    assert not found.hidden_state
    assert "composition only" in str(found)
    assert reason in str(found)
    assert "say which loss is clipped" in found.helps
    assert all(reason in each.why_not for each in found.refused if "outside" in each.words)


def test_poisson_is_compared_with_poisson():
    """One record added or removed is no match for one replaced: other samplers stand apart, beside Poisson's own."""
    found = advise(training_run(**OPTIONS), delta=DELTA, scheme="poisson", effort="quick")
    assert found.asked.neighbouring is Neighbouring.ADD_REMOVE
    assert {each.neighbouring for each in found.rows} == {Neighbouring.ADD_REMOVE}
    apart = {each.words for each in found.others}
    assert {"Poisson sampling", "reshuffled every epoch"} <= apart
    assert found.best_batches is None


def test_the_papers_letters_and_what_makes_no_sense_for_them(figure_run):
    found = advise(figure_run, delta=DELTA, scheme="fixed", effort="quick")
    assert found.best.words == "full batches, same sigma and epochs"
    reasons = {each.words: each.why_not for each in found.refused}
    assert reasons["half the clip norm"] == "gradients are not clipped"
    assert "Poisson sampling" in reasons  # S_g says nothing of a record added
    dropped = row(found, "batches of 4")
    assert "what is left over dropped" in dropped.words
    assert dropped.guarantee.hidden_state


def test_rates_and_steps():
    found = advise(
        training_run(noise_multiplier=4, sample_rate="0.25", steps=10), delta=DELTA, scheme="poisson", effort="quick"
    )
    assert row(found, "5 steps").guarantee.epsilon < row(found, "20 steps").guarantee.epsilon
    assert "n is not given" in row(found, "twice as large").why_not


@pytest.mark.parametrize("sizes", [32, [32, 16, 64]])
@pytest.mark.parametrize("decay", ["0.5", None])
def test_of_a_schedule_what_it_is_made_for_is_left(sizes, decay):
    given = {**OPTIONS, **CONVEX, "weight_decay": decay, "batch_size": sizes, "epochs": None}
    found = advise(
        training_run(**{**given, "learning_rate": ["0.1", "0.05", "0.02"]}, per="epoch"),
        delta=DELTA, scheme="shuffle", effort="quick",
    )  # fmt: skip
    left = {each.kind for each in found.refused if "the schedule says how long training is" in each.why_not}
    assert left == {Kind.EPOCHS, Kind.BATCH_SIZE}
    assert {Kind.CLIP_NORM, Kind.BATCHES} <= {each.kind for each in found.rows}


def test_a_second_regulariser_is_named():
    within = training_run(**OPTIONS, **CONVEX, regulariser="inside")
    found = row(advise(within, delta=DELTA, scheme="fixed", effort="quick"), "weight_decay = 2,").guarantee
    assert any("another 2·θ is added after clipping" in each for each in found.assumed_by_you)


def test_a_gradient_left_out_is_compared_under_balls_in_bins_too():
    run = training_run(n=40, batch_size=10, epochs=2, noise_multiplier=4, max_grad_norm=1)
    found = advise(run, delta="1e-5", scheme="fixed", neighbouring="zero_out", effort="quick")
    assert any("balls in bins" in row.words for row in found.rows)
    assert not any("balls in bins" in row.words for row in found.others)
