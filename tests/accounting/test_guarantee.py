"""The accountant: never below the truth, never above the target, and a clear word on everything else."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import HsdpError, Setting, statement
from hsdp_symbolic.accounting import (
    delta,
    epsilon,
    epsilon_at,
    logistic,
    scalar,
    training_run,
)
from hsdp_symbolic.accounting.applicable import bounds_for
from hsdp_symbolic.accounting.bounds import RenyiBound, needs_hidden_state
from hsdp_symbolic.accounting.candidates import SCHEMES, _places, check_neighbouring, covering, statements_of
from hsdp_symbolic.accounting.conversion import Goal
from hsdp_symbolic.accounting.effort import NORMAL, takes_long
from hsdp_symbolic.accounting.guarantee import certified
from hsdp_symbolic.accounting.orders import minimum, objective
from hsdp_symbolic.catalogue import scheme_of
from hsdp_symbolic.proof.facts.secret import AnyApart
from tests import skips
from tests.accounting.test_conversion import formula

LIBRARY = {
    "n": 1000,
    "batch_size": 10,
    "learning_rate": "0.1",
    "max_grad_norm": 1,
    "weight_decay": 1,
    "loss": scalar(feature_norm=1, curvature=3, bias=False),  # so that λ = 1 and β = 4
}


def paper_run(figure_run, scheme):
    """The setting of the figures; records that are added are accounted for clipped, with the same noise and S_g."""
    if scheme not in ("poisson", "balls_in_bins"):
        return figure_run
    clipped = {"noise_multiplier": 20, "max_grad_norm": 2, "learning_rate": "0.02"}
    run = training_run(**clipped, n=50, batch_size=2, epochs=40)
    assert run.setting == figure_run.replace(lam=None, beta=None)
    return run


def on_a_grid(found):
    """Whether the bound used is computed on a grid, of privacy losses or of a dynamic programme."""
    return any(node.on_a_grid for node in statement(found.bound).functions)


# Choosing a bound


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_smallest_of_all_applicable_bounds_is_chosen(figure_run, scheme):
    run = paper_run(figure_run, scheme)
    found = epsilon(run, delta="1e-5", scheme=scheme)
    relation = check_neighbouring(scheme, None)
    permuted = {"profile:balls_in_bins"} if scheme in ("shuffle", "reshuffle") else set()
    assert {entry.label for entry in found.considered} == {s.label for s, _ in covering(scheme, relation)} | permuted
    values = [entry.value for entry in found.considered if entry.value is not None]
    assert found.epsilon == min(values)
    assert found.bound in (
        f"profile:{scheme}",
        "gdp:cyclic",
        "gdp:gd",
        f"profile:composition:{scheme}",
        f"composition:{scheme}",
    )
    width = 1e-3 if on_a_grid(found) else 1e-11
    assert found.lower <= found.epsilon <= found.lower * (1 + width)
    assert all(entry.reason for entry in found.considered)
    assert all(each.margin >= 0 for each in found.hypotheses)
    assert found.hypotheses
    assert found.assumptions
    used = next(each for each in bounds_for(run, scheme).bounds if each.label == found.bound)
    if not used.statement.is_profile:  # the rest is about profiles
        assert scheme == "balls_in_bins"
        return
    at = {**used.places[-1], **found.choices}
    assert used.statement.delta(used.setting, Fraction(found.epsilon), **at).lo <= Fraction(1, 10**5)
    assert used.statement.delta(used.setting, Fraction(found.epsilon) * Fraction(99, 100), **at).hi > Fraction(1, 10**5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_smallest_of_the_divergences_where_orders_are_asked_for(figure_run, scheme):
    run = paper_run(figure_run, scheme)
    found = epsilon(run, delta="1e-5", scheme=scheme, orders=range(8, 64, 2))
    assert found.epsilon == min(entry.value for entry in found.considered if entry.value is not None)
    bound = next(each for each in bounds_for(run, scheme).bounds if each.label == found.bound)
    with mpmath.workdps(40):
        R = bound.enclose(found.order)
        assert formula(R.lo, found.order, Fraction(1, 10**5)) <= found.epsilon * (1 + mpmath.mpf(10) ** -25)
    if scheme == "balls_in_bins":  # whose profile asks for a loss
        return
    profiles = [entry for entry in found.considered if entry.label.startswith(("profile:", "gdp:"))]
    assert all(entry.value is None for entry in profiles)
    assert any("a Rényi order or conversion was asked for" in entry.reason for entry in profiles)


@pytest.mark.smoke
def test_what_is_hidden_and_what_is_not(figure_run):
    results = {scheme: epsilon(paper_run(figure_run, scheme), delta="1e-5", scheme=scheme) for scheme in SCHEMES}
    assert results["shuffle"].epsilon < 0.261157
    assert results["shuffle"].hidden_state
    assert "last iterate" in " ".join(results["shuffle"].assumptions)
    assert results["shuffle"].note == ""
    assert not results["poisson"].hidden_state  # nothing is said of the loss that is clipped
    assert "nothing is known of the clipped loss" in results["poisson"].note
    added = {name for name, result in results.items() if result.neighbouring == "add_remove"}
    assert added == {"poisson", "balls_in_bins"}
    assert (":composition:" in results["full_batch"].bound) != results["full_batch"].hidden_state


@pytest.mark.parametrize("scheme", ["without_replacement", "shuffle"])
def test_whose_gradients_the_sensitivity_bounds_is_said(figure_run, scheme):
    """A record drawn at random takes the place of any other, so every pair counts: a typed hypothesis says so."""
    for refuse in (None, lambda found: "hidden" if needs_hidden_state(found) else ""):
        found = epsilon(figure_run, delta="1e-5", scheme=scheme, refuse=refuse)
        assumed = {type(each) for each in statement(found.bound).theorem.hypotheses}
        said = " ".join(found.assumptions)
        assert (AnyApart in assumed) == ("the gradients of any two records" in said) == (scheme != "shuffle")
        assert ("l2-sensitivity S_g" in said) == (scheme == "shuffle")


def test_a_statement_outside_its_hypotheses_says_so(figure_run):
    found = epsilon(figure_run.replace(eta="0.45"), delta="1e-5", scheme="shuffle")
    refused = {entry.label: entry.reason for entry in found.considered if entry.verdict == "does not apply"}
    assert "assumes eta < 2/(beta + lam)" in refused["thm:shuffle"]
    assert found.bound != "thm:shuffle"
    bare = Setting(**{k: v for k, v in figure_run.exact_strings().items() if k not in ("lam", "beta")})
    found = epsilon(bare, delta="1e-5", scheme="shuffle")
    assert found.bound == "gdp:composition:fixed"
    assert any("needs it (strong convexity" in entry.reason for entry in found.considered)


def test_no_lemma_and_no_law_is_taken_for_a_bound_of_a_run():
    for scheme in SCHEMES:
        for found in statements_of(scheme):
            assert found.scheme == scheme_of(found.label) == scheme
            assert not found.label.startswith(("lem:", "prop:", "conversion:", "exact:", "gdp:exact:", "eqn:"))
    bounded = {found.label for scheme in SCHEMES for found in statements_of(scheme)}
    assert {"thm:shuffle", "composition:fixed", "mironov2019", "control:reshuffle"} <= bounded


@pytest.mark.parametrize("n", [50, 51, 7, 4])
def test_the_worst_batch_is_the_worst(figure_run, n):
    run = figure_run.replace(n=n, lipschitz="1.1")
    for found in statements_of("fixed"):
        if "j0" in found.needs:
            places = _places(found, run, None)
            assert len(places) <= 2
            order = {"alpha": 15} if "alpha" in found.needs else {}
            every = [found.enclose(run, **order, j0=j0).hi for j0 in range(n // 2)]
            assert max(found.enclose(run, **order, **place).hi for place in places) == max(every)
            assert min(every) < max(every)


def test_composition_is_above_the_exact_law(figure_run):
    for K in (1, 2, 40):
        law = statement("exact:fixed_order").enclose(figure_run, alpha=15, K=K, j0=24)
        assert statement("composition:fixed").enclose(figure_run, alpha=15, K=K).hi >= law.lo
        full = statement("exact:full_batch").enclose(figure_run, alpha=15, K=K)
        assert statement("composition:full_batch").enclose(figure_run, alpha=15, K=K).hi >= full.lo
    assert statement("composition:fixed").exact(figure_run, alpha=15) == 40 * 15 * Fraction(5, 1000)


def test_poisson_under_replacement(figure_run):
    run = paper_run(figure_run, "poisson")
    found = epsilon(run, delta="1e-5", scheme="poisson", neighbouring="replace_one")
    assert found.bound == "profile:composition:poisson_replace"
    assert found.epsilon > epsilon(run, delta="1e-5", scheme="poisson").epsilon
    assert "the gradient of every record has norm" not in " ".join(found.assumptions)  # it is clipped: nothing to say


# The order


PROGRAMMES = ("reshuffle", "without_replacement")


@pytest.mark.parametrize(
    ("scheme", "probability"),
    [
        pytest.param(scheme, delta, marks=[pytest.mark.slow] if scheme in PROGRAMMES and delta != "1e-5" else [])
        for scheme in SCHEMES
        for delta in ("1e-2", "1e-5", "1e-15")
    ],
)
def test_no_order_on_a_fine_grid_does_better(figure_run, scheme, probability):
    run = paper_run(figure_run, scheme)
    goal = Goal("epsilon", Fraction(probability))
    divergences = [each for each in bounds_for(run, scheme).bounds if isinstance(each, RenyiBound)]
    certified_ones, _ = certified(divergences, goal, None, NORMAL)
    bound, found = min(certified_ones, key=lambda pair: pair[1].upper)
    if not bound.sketched and not takes_long(bound.statement):
        values = objective(bound, goal, 1 + np.geomspace(1e-3, 1e5, 700))
        assert found.upper <= values.min() * (1 + 1e-7)
        return
    if bound.sketched:
        values = objective(bound, goal, 1 + np.geomspace(1e-3, 1e5, 700))  # a sketch, over a wide range the coarsest
        assert found.upper <= values.min() * 1.05
    slack = 1e-3 if found.choices else 1e-5  # what may be chosen is looked for anew at every order
    for factor in ("0.9", "0.98", "1.02", "1.1"):
        order = 1 + (found.order - 1) * Fraction(factor)
        assert goal.at(bound.enclose(order), order).upper() > found.upper * (1 - slack)


@pytest.mark.parametrize(
    "label", ["thm:strconvexsmooth", "thm:shuffle", "composition:fixed", "mironov2019", "thm:GD_tighter:recursion"]
)
def test_the_certified_minimum_over_all_orders(figure_run, only, label):
    only(label)
    scheme = statement(label).scheme
    found = epsilon(paper_run(figure_run, scheme), delta="1e-5", scheme=scheme, certify_minimum=True)
    assert found.bound == label
    assert found.epsilon * (1 - 2e-3) <= found.minimum <= found.epsilon


def test_the_certified_minimum_refuses_what_it_cannot_prove(figure_run):
    bounds = {each.label: each for each in bounds_for(figure_run, "without_replacement").bounds}
    goal = Goal("epsilon", Fraction(1, 10**5))
    with pytest.raises(HsdpError, match="holds for some orders only"):
        minimum(bounds["thm:amp_samp_wo_replacement:limit"], goal)
    with pytest.raises(HsdpError, match="0 < delta < 1"):
        epsilon(figure_run, delta=1, scheme="shuffle", orders=[8], certify_minimum=True)
    by_profile = epsilon(figure_run, delta="1e-5", scheme="shuffle", certify_minimum=True)
    assert by_profile.minimum == by_profile.lower  # a profile gives one number, whatever the order


def test_given_orders(figure_run):
    profile = epsilon(figure_run, delta="1e-5", scheme="shuffle")
    free = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[Fraction(k, 10) for k in range(300, 400)])
    found = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[2, 34, 64, math.inf, "35.5"])
    assert found.order == 34
    assert profile.epsilon < free.epsilon <= found.epsilon < free.epsilon * 1.01
    alone = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[math.inf])
    assert alone.epsilon == math.inf
    assert delta(figure_run, epsilon=1, scheme="shuffle", orders=["inf"]).delta == 1


def test_delta_and_epsilon_are_inverse(figure_run):
    for scheme in SCHEMES:
        run = paper_run(figure_run, scheme)
        loss = epsilon(run, delta="1e-6", scheme=scheme).epsilon
        found = delta(run, epsilon=loss, scheme=scheme)
        width = 2e-2 if on_a_grid(found) else 1e-9  # of δ, which is steeper than ε
        assert 1e-6 * (1 - width) < found.delta <= 1e-6 * (1 + width)


# The libraries' parameters


@pytest.mark.parametrize(
    ("noise", "clip", "size", "rate"), [("1.1", 1, 2, "0.02"), ("0.7", "0.3", 7, 3), (12, 5, 50, 1)]
)
@pytest.mark.smoke
def test_noise_multiplier_and_clip_norm(noise, clip, size, rate):
    run = training_run(
        noise_multiplier=noise, max_grad_norm=clip, n=50, batch_size=size, epochs=3, learning_rate=rate
    ).setting
    z, C, lr = Fraction(noise), Fraction(clip), Fraction(rate)
    assert run["S_g"] == 2 * C  # one record replaced by another moves the sum of clipped gradients by at most 2C
    assert 2 * run["eta"] * run["sigma2"] == (lr * z * C / size) ** 2  # the noise a library adds to the parameters
    one = statement("composition:fixed").exact(run, alpha=2, K=1)
    assert one == 2 * 2 / z**2  # αρ₀ with ρ₀ = (2C)²/(2(zC)²)


def test_the_clip_norm_matters_for_nothing_else():
    told = {name: value for name, value in LIBRARY.items() if name != "max_grad_norm"}
    runs = [training_run(noise_multiplier=2, **{name: 3}, **told, epochs=5) for name in ("max_grad_norm", "clip_norm")]
    assert runs[0].setting == runs[1].setting
    one, other = (
        epsilon(run, delta="1e-5", scheme="shuffle").epsilon
        for run in (runs[0], training_run(noise_multiplier=2, **LIBRARY, epochs=5))
    )
    assert one == other


@pytest.mark.parametrize("steps", [1000, 1001, 1, 10**6])
@pytest.mark.parametrize(("rate", "noise"), [("0.01", "1.1"), ("0.004", "0.8"), ("1/16", 4)])
def test_poisson_composition_equals_dp_accounting(steps, rate, noise):
    dp_accounting = skips.module("dp_accounting", missing="dp_accounting")
    from dp_accounting.rdp import rdp_privacy_accountant

    orders = [2, 3, 4, 5, 8, 16, 32, 64]
    accountant = rdp_privacy_accountant.RdpAccountant(orders)
    gaussian = dp_accounting.GaussianDpEvent(float(Fraction(noise)))
    accountant.compose(dp_accounting.PoissonSampledDpEvent(float(Fraction(rate)), gaussian), steps)
    run = training_run(noise_multiplier=noise, sample_rate=rate, steps=steps)
    found = epsilon(run, delta="1e-5", scheme="poisson", orders=orders)
    assert found.epsilon == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)


@pytest.mark.parametrize("steps", [1000, 1001])
def test_poisson_composition_equals_opacus(steps):
    rdp = skips.module("opacus.accountants.analysis.rdp", missing="opacus")
    orders = [2, 3, 4, 5, 8, 16, 32, 64]
    values = rdp.compute_rdp(q=0.01, noise_multiplier=1.1, steps=steps, orders=orders)
    theirs, _ = rdp.get_privacy_spent(orders=orders, rdp=values, delta=1e-5)
    run = training_run(noise_multiplier="1.1", sample_rate="0.01", steps=steps)
    assert epsilon(run, delta="1e-5", scheme="poisson", orders=orders).epsilon == pytest.approx(theirs, rel=1e-9)


def test_steps_that_end_within_an_epoch():
    run = training_run(noise_multiplier=5, steps=250, **LIBRARY)
    assert run.steps == 250
    found = epsilon(run, delta="1e-5", scheme="shuffle")
    assert found.hidden_state
    composed = next(each for each in found.considered if each.label == "gdp:composition:fixed")
    three = training_run(noise_multiplier=5, epochs=3, **LIBRARY)
    whole = next(
        each for each in epsilon(three, delta="1e-5", scheme="reshuffle").considered if each.label == composed.label
    )
    assert found.epsilon < composed.value == whole.value  # a record is used at most three times in 2.5 epochs
    assert any("holds at the end of an epoch" in entry.reason for entry in found.considered)
    sampled = [
        epsilon(
            training_run(noise_multiplier=5, steps=steps, **LIBRARY),
            delta="1e-5",
            scheme="without_replacement",
            orders=[8],
        )
        for steps in (200, 250, 300)
    ]
    composed = [
        next(e.value for e in each.considered if e.label == "composition:without_replacement") for each in sampled
    ]
    rest = epsilon_at(0, order=8, delta="1e-5").hi
    costs = [Fraction(value) - rest for value in composed]
    assert float(costs[1] / costs[0]) == pytest.approx(5 / 4, rel=1e-12)
    assert float(costs[2] / costs[0]) == pytest.approx(3 / 2, rel=1e-12)


# Refusals

POISSON = {"noise_multiplier": 1, "sample_rate": "0.01", "steps": 10}
NAN = math.nan
INVALID = [
    *(("orders", [value], "orders") for value in (0.5, 0, -2, NAN)),
    *(("noise_multiplier", value, "noise_multiplier") for value in (-1, NAN)),
    *(("sample_rate", value, "sample_rate") for value in (-0.1, 1.5, NAN, math.inf)),
    *(("steps", value, "steps") for value in (1.5, -3, NAN, "10", 1e308)),
    *(("delta", value, "delta") for value in (-1e-5, 2, NAN)),
]


@pytest.mark.parametrize(("name", "value", "named"), INVALID)
def test_invalid_input_is_an_error_in_python(name, value, named):
    given = {**POISSON, name: value} if name in POISSON else POISSON
    options = {"delta": "1e-5", **({name: value} if name not in POISSON else {})}
    with pytest.raises(HsdpError, match=f"^{named} = .+: .+; .+"):
        epsilon(training_run(**given), scheme="poisson", **options)


def test_there_are_eighteen_of_them():
    assert len(INVALID) == 18


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_grad_norm": 0}, "max_grad_norm = 0: must be positive"),
        ({"max_grad_norm": 1, "clip_norm": 1}, "max_grad_norm is given too"),
        ({"batch_size": 3}, "batch_size is given too"),
        ({"epochs": 3}, "epochs is given too"),
        ({"steps": None}, "neither steps nor epochs"),
        ({"sample_rate": None}, "neither sample_rate nor batch_size"),
        ({"sample_rate": None, "batch_size": 10}, "batch_size is given without it"),
        ({"sample_rate": None, "batch_size": 10, "n": 5}, "cannot exceed the dataset"),
        ({"sample_rate": "0.013", "n": 50}, "is not a whole number"),
        ({"sample_rate": "1e-300"}, "too many digits"),
        ({"learning_rate": -1}, "learning_rate = -1: must be positive"),
        ({"lam": 1}, "given without it"),
        ({"steps": True}, "not a whole number"),
        ({"steps": 0}, "out of range"),
        ({"noise_multiplier": 0}, "must be positive"),
        ({"noise_multiplier": None}, "not an exact number"),
    ],
)
def test_other_invalid_runs(changes, message):
    with pytest.raises(HsdpError, match=message):
        training_run(**{**POISSON, **changes})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "random"}, "no such way of making batches"),
        ({"neighbouring": "add_remove"}, "no statement for shuffle covers it"),
        ({"neighbouring": "substitute"}, "no such relation"),
        ({"neighbouring": "zero_out"}, "nothing says how long the gradient of a record is"),
        ({"orders": []}, "an empty list"),
        ({"orders": "2,3"}, "not a list of orders"),
        ({"orders": 2}, "not a list of orders"),
        ({"conversion": "worst"}, "no such conversion"),
        ({"delta": "tiny"}, "not a number"),
        ({"delta": None}, "not an exact number"),
    ],
)
def test_other_invalid_options(figure_run, options, message):
    with pytest.raises(HsdpError, match=message):
        epsilon(figure_run, **{"delta": "1e-5", "scheme": "shuffle", **options})


def test_a_run_that_is_none():
    with pytest.raises(HsdpError, match="a dict does not describe a run"):
        epsilon({"n": 50}, delta="1e-5", scheme="shuffle")
    with pytest.raises(HsdpError, match=r"b = None: not given \(size of a mini-batch\)"):
        epsilon(Setting(n=50), delta="1e-5", scheme="shuffle")


EXTREMES = [
    {"delta": 1},
    {"delta": "1e-300"},
    {"delta": "0.5"},
    {"noise_multiplier": "1e-3"},
    {"noise_multiplier": 1e308},
    {"steps": 10**18},
    {"steps": 10**18 + 1},
    {"steps": 10**18, "noise_multiplier": 10**9},
    {"orders": [2, 8, math.inf]},
    {"orders": [1e308, 1 + 1e-15]},
]


def batches_of(scheme):
    """`LIBRARY`, with all records in the batch where the scheme says so."""
    return LIBRARY | ({"batch_size": LIBRARY["n"]} if scheme == "full_batch" else {})


SECONDS = {"without_replacement": 10, "poisson": 5, "balls_in_bins": 5}
"""Where privacy losses are followed step by step, with so little noise, or places of many copies; 2 elsewhere."""
TELLING = ("1e-300", 10**18, [2, 8, math.inf])
"""What is tried under these schemes always; the rest if there is time."""


@cache
def derived(scheme):
    """Everything a scheme needs is derived, so that no answer's time is that of a derivation."""
    epsilon(training_run(noise_multiplier=3, steps=300, **batches_of(scheme)), delta="1e-4", scheme=scheme)


@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        pytest.param(
            scheme,
            changes,
            id=f"{changes}-{scheme}",
            marks=[pytest.mark.slow] if scheme in SECONDS and not any(x in TELLING for x in changes.values()) else [],
        )
        for scheme in SCHEMES
        for changes in EXTREMES
    ],
)
def test_extremes_are_answered_in_time(scheme, changes):
    given = {"noise_multiplier": 1, "steps": 300, **batches_of(scheme)}
    given |= {name: value for name, value in changes.items() if name in given}
    options = {"delta": "1e-5", **{name: value for name, value in changes.items() if name in ("delta", "orders")}}
    derived(scheme)
    started = time.process_time()
    found = epsilon(training_run(**given), scheme=scheme, **options)
    assert time.process_time() - started < SECONDS.get(scheme, 2)
    assert found.epsilon >= found.lower >= 0
    if changes.get("delta") == 1 or changes.get("noise_multiplier") == 1e308:
        assert found.epsilon == 0
    if isinstance(found.order, Fraction):  # the answer is right: at its order, by the formula, to 60 digits
        bound = next(each for each in bounds_for(training_run(**given), scheme).bounds if each.label == found.bound)
        with mpmath.workdps(60):
            assert formula(bound.enclose(found.order).lo, found.order, Fraction(options["delta"])) <= found.epsilon


def test_no_sensitivity_no_loss(figure_run):
    for scheme in set(SCHEMES) - {"poisson", "balls_in_bins"}:
        assert epsilon(figure_run.replace(S_g=0), delta=0, scheme=scheme).epsilon == 0
        assert delta(figure_run.replace(S_g=0), epsilon=0, scheme=scheme).delta == 0


@pytest.mark.parametrize("loss", [0, "1e-6", 1, 100, 10**6])
@pytest.mark.parametrize("noise", ["1e-3", 1, 1e308])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_extreme_deltas(scheme, noise, loss):
    run = training_run(noise_multiplier=noise, steps=300, **batches_of(scheme))
    found = delta(run, epsilon=loss, scheme=scheme)
    assert 0 <= found.lower <= found.delta <= 1
    if noise == 1e308 and loss == 1:
        assert found.delta < 1e-300
    if noise == "1e-3" and loss == 1 and scheme not in ("shuffle", "reshuffle"):
        assert found.delta > 0.99
    if noise == "1e-3" and scheme in ("shuffle", "reshuffle"):  # the chance that the batch of the record came last
        assert found.delta >= 0.01


@pytest.mark.parametrize("scheme", ["without_replacement", "poisson", "shuffle", "fixed"])
def test_only_where_an_epoch_is_a_pass_are_records_left_over(scheme):
    run = training_run(noise_multiplier=4, n=7, batch_size=2, epochs=2, leftover="dropped")
    said = " ".join(epsilon(run, delta="1e-5", scheme=scheme, orders=[4]).assumptions)
    assert ("left over are not used" in said) == (scheme in ("shuffle", "fixed"))
    assert ("b does not divide n" in said) == (scheme in ("without_replacement", "poisson"))


@pytest.mark.parametrize("scheme", ["without_replacement", "poisson"])
def test_losses_too_large_for_a_sketch(scheme):
    """Next to no noise: e^loss overflows, and a window is chosen without a sketch, or composition is used."""
    run = training_run(
        noise_multiplier="0.5",
        max_grad_norm=1,
        learning_rate="0.5",
        weight_decay="0.3",
        n=3,
        batch_size=1,
        steps=4,
        loss=scalar(feature_norm=1, curvature="0.1", bias=False),
    )
    assert 0.1 < delta(run, epsilon="0.3", scheme=scheme).delta < 1
    assert epsilon(run, delta="1e-5", scheme=scheme).epsilon > 5


def test_what_large_poisson_batches_take_of_delta_is_said():
    run = training_run(
        noise_multiplier=4,
        max_grad_norm=1,
        learning_rate="3.1",
        weight_decay="0.01",
        n=60_000,
        batch_size=600,
        epochs=1,
        loss=logistic(feature_norm=1),
    )
    found = epsilon(run, delta="1e-5", scheme="poisson")
    (said,) = (each for each in found.assumptions if "of delta" in each)
    assert 0 < float(said.split()[0]) < 1e-5
