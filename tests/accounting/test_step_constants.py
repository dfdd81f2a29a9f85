"""Steps that differ: each has the Lipschitz constant that a run of such steps alone has."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from statistics import NormalDist

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import (
    convex,
    delta,
    epsilon,
    huber,
    logistic,
    scheduled_run,
    smooth,
    softmax,
    squared,
    training_run,
    vouched,
)
from hsdp_symbolic.accounting.scheduled import Costs
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.meaning import Asks, Scheme

RATES = ("8", "0.1", "4.5", "0.5", "20", "2")
"""Below and above the longest step for which a smooth loss contracts."""
LOSSES = {
    "logistic": {"loss": logistic(feature_norm=1, bias=False)},
    "huber": {"loss": huber(feature_norm=1)},
    "squared": {"loss": squared(feature_norm=2)},
    "inside": {"loss": logistic(feature_norm=1), "regulariser": "inside"},
    "softmax": {"loss": softmax(classes=10, feature_norm=1)},
    "two classes": {"loss": softmax(classes=2, feature_norm=1)},
    "convex": {"loss": convex(smoothness="0.5")},
    "smooth": {"loss": smooth(smoothness="0.01")},
    "no decay": {"loss": logistic(feature_norm=1), "weight_decay": None},
    "vouched": {"loss": vouched(lipschitz="1.2"), "weight_decay": None},
}


def described(**told):
    given = {"n": 64, "batch_size": 16, "noise_multiplier": 8, "max_grad_norm": 1, "weight_decay": "0.01"}
    return training_run(**(given | told))


def alone(rate, **told):
    """The constant of a run whose steps all have this rate; None if none is known."""
    footing = described(learning_rate=rate, epochs=1, **told).footing()
    known = footing.setting
    if "lipschitz" in known:
        return known["lipschitz"]
    lam = known.values().get("lam", Fraction(0))
    too_long = Asks.CONVEX in footing.provides and known["eta"] * (known["beta"] + lam) >= 2  # as hypotheses have it
    return None if footing.lacks or too_long else 1 - known["eta"] * lam


@pytest.mark.parametrize("name", LOSSES)
def test_every_step_has_its_own(name):
    told = LOSSES[name]
    run = described(learning_rate=list(RATES), per="epoch", **told)
    found = {eta: each.value for (eta, _), each in Costs(run, Scheme.FIXED).constants.found.items()}
    assert found == {Fraction(rate): alone(rate, **told) for rate in RATES}


def test_a_long_step_in_a_schedule_does_not_contract():
    told = LOSSES["logistic"]
    mixed = epsilon(described(learning_rate=["8", "8", "0.1"], per="epoch", **told), delta="1e-5", scheme="fixed")
    long = epsilon(described(learning_rate="8", epochs=2, **told), delta="1e-5", scheme="fixed")
    assert alone("8", **told) > 1
    assert mixed.epsilon > long.epsilon * 0.9  # the short steps hide hardly anything of what the long ones do


PAPER = {
    "too long to contract": ({"lam": 1, "beta": 4}, {"0.45": 1, "0.3": Fraction(7, 10)}),
    "longer than 1/λ": ({"lam": 1, "beta": 1}, {"1.9": 1, "0.3": Fraction(7, 10)}),
    "expanding": ({"lipschitz": 3}, {"0.9": 3, "0.3": 3}),
    "expanding if long": ({"lam": 1, "beta": 4, "lipschitz": 5}, {"0.9": 5, "0.3": Fraction(7, 10)}),
    "convex": ({"beta": 4}, {"0.4": 1, "0.3": 1}),
}


@pytest.mark.parametrize(("letters", "rates"), PAPER.values(), ids=PAPER)
def test_in_the_letters_of_the_paper(letters, rates):
    run = scheduled_run(Setting(n=10, b=2, K=2, sigma=1, S_g=1, **letters), eta=list(rates), per="epoch")
    found = {eta: each.value for (eta, _), each in Costs(run, Scheme.FIXED).constants.found.items()}
    assert found == {Fraction(rate): constant for rate, constant in rates.items()}


def test_an_expanding_schedule_costs_no_less_than_a_law_that_expands():
    """x ↦ 3x, and a record in the first of five batches: it grows faster than the louder noise after it."""
    setting = Setting(n=10, b=2, K=1, S_g=1, lipschitz=3)
    run = scheduled_run(setting, eta=["0.9", "0.8", "0.7", "0.6", "0.5"], sigma=[1, 3, 3, 3, 3], per="step")
    steps = run.schedule.stretches
    noise = sum(2 * step.eta * step.sigma2 * 9 ** (4 - place) for place, step in enumerate(steps))
    mu = float(steps[0].eta / 2 * 3**4) / float(noise) ** 0.5
    assert delta(run, epsilon="0.5", scheme="fixed").delta >= delta_of_gaussian(mu, 0.5)


def delta_of_gaussian(mu, epsilon):
    law = NormalDist()
    return law.cdf(-epsilon / mu + mu / 2) - exp(epsilon) * law.cdf(-epsilon / mu - mu / 2)


def test_batches_of_no_known_size_have_no_schedule():
    run = described(learning_rate=["0.5", "0.1"], per="epoch", divisor=16, **LOSSES["logistic"])
    with pytest.raises(ArgumentError, match="whose size is left to chance"):
        epsilon(run, delta="1e-5", scheme="balls_in_bins")
