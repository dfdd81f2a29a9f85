"""Steps that differ: each has the Lipschitz constant that a run of such steps alone has."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isinf
from statistics import NormalDist

import numpy as np
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
from hsdp_symbolic.accounting.columns import Columns
from hsdp_symbolic.accounting.scheduled import Costs
from hsdp_symbolic.accounting.step_constants import Constants
from hsdp_symbolic.accounting.timeline import Kind, Timeline
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.meaning import Asks, Neighbouring, Scheme

CLOSE = 1 - Fraction(1, 2**48)
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
    costs = Costs(run, Scheme.FIXED, Columns.of(run, Scheme.FIXED, Neighbouring.REPLACE_ONE))
    for kind, factor in zip(costs.line.kinds, costs.constants.factor.tolist(), strict=True):
        exact = alone(kind.eta, **told)
        assert isinf(factor) if exact is None else exact <= factor <= exact * (1 + Fraction(1, 10**15))


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
    columns = Columns.of(run, Scheme.FIXED, Neighbouring.REPLACE_ONE)
    found = dict(zip((str(float(kind.eta)) for kind in columns.kinds), Constants.of(run, columns).factor, strict=True))
    assert found == pytest.approx({rate: float(constant) for rate, constant in rates.items()})


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


def test_columns_are_on_their_safe_sides():
    """Each number of each kind of step, against exact arithmetic, far out as well."""
    rng = np.random.default_rng(3)
    kinds = [
        Kind(Fraction(10 ** rng.uniform(-spread, spread)), Fraction(10 ** rng.uniform(-spread, spread)), size, divisor)
        for spread in (0.5, 3, 60)
        for size, divisor in rng.integers(1, 10**6, size=(40, 2)).tolist()
    ]
    nothing = np.zeros(len(kinds), dtype=np.int64)
    columns = Columns(Timeline(1, tuple(kinds), *[nothing] * 4), Fraction(1, 3))
    jumps, noises, (below, above) = columns.jump().tolist(), columns.noise().tolist(), columns.square()
    for place, kind in enumerate(kinds):
        jump, square = kind.eta / 3 / kind.divisor, kind.eta / 18 / (kind.sigma2 * kind.b**2)
        noise = 2 * kind.eta * kind.sigma2 * Fraction(kind.b, kind.divisor) ** 2
        for low, exact, high in (
            (Fraction(jumps[place]) * CLOSE, jump, jumps[place]),
            (noises[place], noise, Fraction(noises[place]) / CLOSE),
            (below[place], square, above[place]),
        ):
            assert low <= exact <= high
        lam = Fraction(1, 7) / kind.eta * Fraction(rng.random())
        assert 1 - kind.eta * lam <= columns.contraction(lam)[place] <= 1


def test_many_kinds_cost_what_few_do():
    """Composition and shifts: exact sums for few kinds, columns for very many."""

    def found(steps, **told):
        run = described(learning_rate=lambda t: Fraction(1, 2) + Fraction(t % told["kinds"], 10**12), steps=steps,
                        loss=logistic(feature_norm=1, bias=False))  # fmt: skip
        return epsilon(run, delta="1e-5", scheme="fixed")

    few, many = (found(1500, kinds=kinds) for kinds in (2, 1500))
    assert many.epsilon == pytest.approx(few.epsilon, rel=1e-6)
    composed = [next(each.value for each in run.considered if "composition" in each.label) for run in (few, many)]
    assert composed[1] == pytest.approx(composed[0], rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("noise", "holds"), [("1e300", True), ("1e-300", False)])
def test_many_kinds_and_one_beyond_all_doubles(noise, holds):
    """Noise that no product of doubles holds is no matter, and without noise there is a reason."""
    noises = [Fraction(noise) if step == 700 else 1 + Fraction(step, 10**4) for step in range(1200)]
    run = described(noise_multiplier=noises, per="step", steps=1200, learning_rate="0.5", **LOSSES["logistic"])
    if not holds:
        with pytest.raises(ArgumentError, match="take more noise"):
            epsilon(run, delta="1e-5", scheme="fixed")
        return
    values = {each.label: each.value for each in epsilon(run, delta="1e-5", scheme="fixed").considered}
    assert values["gdp:composition:fixed"] > values["shift:pattern/planned-releases"] > 0
