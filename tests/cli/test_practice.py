"""`hsdp practice`: the documentation's table of what people really run, and the digits example."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hsdp_symbolic.accounting import epsilon
from hsdp_symbolic.cli import main
from hsdp_symbolic.examples.practice import BINARY, DELTA, DIGITS, PRACTICE, Practice

EXPECTED = {"fixed": 1.163, "shuffle": 0.9185, "reshuffle": 0.9153}
"""The digits example, by an independent computation."""


def test_the_table(capsys):
    assert main(["practice", "--json"]) == 0
    rows = {row["words"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [each.words for each in PRACTICE]
    composition = rows["a network, plain hinge loss, momentum, Adam"]
    assert composition["epsilon"] == pytest.approx(4.217, abs=5e-4)
    assert not composition["hidden_state"]
    assert composition["lipschitz"] is None
    for row in rows.values():
        assert row is composition or (row["hidden_state"] and row["epsilon"] < composition["epsilon"])
    assert rows["softmax, ten classes, weight decay 0.2"]["epsilon"] == pytest.approx(0.7508, abs=5e-5)
    assert rows["softmax without a bias"]["epsilon"] == pytest.approx(0.7246, abs=5e-5)


@pytest.mark.parametrize("scheme", EXPECTED)
def test_the_digits_example(scheme):
    found = Practice("", scheme, BINARY).guarantee()
    assert found.epsilon == pytest.approx(EXPECTED[scheme], abs=5e-4 if scheme == "fixed" else 5e-5)


def test_a_constant_is_that_of_the_update():
    by_words = {each.words: each for each in PRACTICE}
    assert by_words["the same without weight decay"].constant() == 1
    assert by_words["binary logistic, learning rate halved every five epochs"].constant() == Fraction("0.99875")
    assert by_words["the same, the regulariser clipped with the loss"].constant() > 1
    assert float(by_words["softmax, ten classes, weight decay 0.2"].constant()) == pytest.approx(0.96987, abs=1e-5)


def test_what_is_told_is_what_is_run():
    assert {"n", "batch_size", "epochs", "noise_multiplier"} <= DIGITS.keys()
    run = PRACTICE[2].run()
    assert epsilon(run, delta=DELTA, scheme="reshuffle").epsilon == PRACTICE[2].guarantee().epsilon
