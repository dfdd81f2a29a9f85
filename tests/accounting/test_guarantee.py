"""The accountant: never below the truth, never above the target, and a clear word on everything else."""

from __future__ import annotations

import json
import math
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import HsdpError, Setting, statement
from hsdp_symbolic.accounting import (
    Unreachable,
    calibrate,
    compare,
    delta,
    delta_at,
    epsilon,
    epsilon_at,
    scalar,
    training_run,
)
from hsdp_symbolic.accounting.candidates import SCHEMES, _places, check_neighbouring, covering, statements_of
from hsdp_symbolic.accounting.conversion import Goal
from hsdp_symbolic.accounting.guarantee import bounds_for
from hsdp_symbolic.accounting.orders import minimum, objective
from hsdp_symbolic.catalogue import scheme_of
from hsdp_symbolic.cli import main

FIGURE = [
    f"--{name}={value}"
    for name, value in {"n": 50, "b": 2, "K": 40, "eta": 0.02, "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}.items()
]
LIBRARY = {
    "n": 1000,
    "batch_size": 10,
    "learning_rate": "0.1",
    "max_grad_norm": 1,
    "weight_decay": 1,
    "loss": scalar(feature_norm=1, curvature=3, bias=False),  # so that λ = 1 and β = 4
}


@pytest.fixture
def only(monkeypatch):
    """Restricts the accountant to some statements, so that a test does not change as new ones join the catalogue."""

    def restrict(*chosen):
        found = [(statement(label), "") for label in chosen]
        monkeypatch.setattr("hsdp_symbolic.accounting.guarantee.covering", lambda scheme, relation: found)

    return restrict


def cli(capsys, *argv):
    """Exit code, stdout and stderr of one command."""
    try:
        code = main(list(argv))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def paper_run(figure_run, scheme):
    """The setting of the figures; Poisson sampling is accounted for with clipped gradients, the same noise and S_g."""
    if scheme != "poisson":
        return figure_run
    clipped = {"noise_multiplier": 20, "max_grad_norm": 2, "learning_rate": "0.02"}
    run = training_run(**clipped, n=50, batch_size=2, epochs=40)
    assert run.setting == figure_run.replace(lam=None, beta=None)
    return run


def to_mpf(x):
    return mpmath.mpf(x.numerator) / x.denominator


def formula(R, order, probability):
    """Canonne, Kamath & Steinke 2020, Proposition 12, to the current precision and not from the package."""
    R, order, probability = map(to_mpf, (R, order, probability))
    return R + mpmath.log1p(-1 / order) - mpmath.log(probability * order) / (order - 1)


def delta_formula(R, order, loss):
    R, order, loss = map(to_mpf, (R, order, loss))
    return mpmath.exp((order - 1) * (R - loss)) / (order - 1) * (1 - 1 / order) ** order


def draw_conversion(rng):
    def exact(low, high):
        return Fraction(repr(math.exp(rng.uniform(math.log(low), math.log(high)))))

    return exact(1e-9, 1e3), 1 + exact(1e-4, 1e4), exact(1e-30, 0.9)


def check_conversions(count, seed):
    rng, naive_below = random.Random(seed), 0
    with mpmath.workdps(60):
        for _ in range(count):
            R, order, probability = draw_conversion(rng)
            truth = max(mpmath.mpf(0), formula(R, order, probability))
            found = epsilon_at(R, order=order, delta=probability)
            assert mpmath.mpf(found.upper()) >= truth >= mpmath.mpf(found.lower())
            assert found.upper() - found.lower() <= 4e-16 * found.upper() + 1e-30
            r, a, d = float(R), float(order), float(probability)
            naive_below += mpmath.mpf(r + math.log1p(-1 / a) - math.log(d * a) / (a - 1)) < truth
            if truth > 0:
                back = delta_at(R, order=order, epsilon=Fraction(found.upper()))
                there = delta_formula(R, order, Fraction(found.upper()))
                assert mpmath.mpf(back.upper()) >= min(there, 1)
                assert back.hi <= probability
    return naive_below


def test_conversion_is_never_below_its_formula():
    assert check_conversions(400, seed=1) > 40  # plain doubles are: the test can fail


@pytest.mark.slow
def test_conversion_is_never_below_its_formula_on_many_points():
    assert check_conversions(10**5, seed=2) > 10**4


def gaussian_delta(mu, loss):
    """The exact δ(ε) of the Gaussian mechanism (Balle & Wang 2018, Theorem 8)."""
    return mpmath.ncdf(mu / 2 - loss / mu) - mpmath.exp(loss) * mpmath.ncdf(-mu / 2 - loss / mu)


@pytest.mark.parametrize("noise", ["0.3", "1", "5", "40"])
@pytest.mark.parametrize("epochs", [1, 7, 100])
def test_composition_is_never_below_the_exact_gaussian_mechanism(noise, epochs):
    run = training_run(noise_multiplier=noise, n=100, batch_size=100, epochs=epochs)
    with mpmath.workdps(60):
        mu = 2 * mpmath.sqrt(epochs) / mpmath.mpf(noise)  # replacing a record: sensitivity 2C
        for probability in ("1e-2", "1e-5", "1e-12"):
            found = epsilon(run, delta=probability, scheme="full_batch")
            assert found.bound == "composition:full_batch"
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon)) <= mpmath.mpf(probability)
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon) / 2) > mpmath.mpf(probability)  # and not far above
            back = delta(run, epsilon=found.epsilon, scheme="full_batch")
            assert gaussian_delta(mu, mpmath.mpf(found.epsilon)) <= back.delta <= float(probability) * (1 + 1e-6)


@pytest.mark.smoke
def test_mironovs_form_is_larger(figure_run):
    best = epsilon(figure_run, delta="1e-5", scheme="shuffle")
    simple = epsilon(figure_run, delta="1e-5", scheme="shuffle", conversion="mironov2017")
    assert best.epsilon < simple.epsilon < 2 * best.epsilon
    at = {"order": best.order, "delta": "1e-5"}
    assert epsilon_at("0.1", conversion="mironov2017", **at).hi > epsilon_at("0.1", **at).hi


def test_an_enclosure_of_zero_is_no_trouble():
    assert epsilon_at(0, order=2, delta="1/4").hi < Fraction(1, 10**30)  # log(1/2) − log(1/2), exactly


# Choosing a bound


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_smallest_of_all_applicable_bounds_is_chosen(figure_run, scheme):
    run = paper_run(figure_run, scheme)
    found = epsilon(run, delta="1e-5", scheme=scheme)
    relation = check_neighbouring(scheme, None)
    assert {entry.label for entry in found.considered} == {s.label for s, _ in covering(scheme, relation)}
    values = [entry.value for entry in found.considered if entry.value is not None]
    assert found.epsilon == min(values)
    width = 1e-3 if found.bound.startswith("control") else 1e-15
    assert found.lower <= found.epsilon <= found.lower * (1 + width)
    assert all(entry.reason for entry in found.considered)
    assert all(each.margin >= 0 for each in found.hypotheses)
    assert found.hypotheses
    assert found.assumptions
    bound = next(each for each in bounds_for(run, scheme).bounds if each.label == found.bound)
    with mpmath.workdps(40):
        R = bound.enclose(found.order)
        assert formula(R.lo, found.order, Fraction(1, 10**5)) <= found.epsilon * (1 + mpmath.mpf(10) ** -25)


@pytest.mark.smoke
def test_what_is_hidden_and_what_is_not(figure_run):
    results = {scheme: epsilon(paper_run(figure_run, scheme), delta="1e-5", scheme=scheme) for scheme in SCHEMES}
    assert results["shuffle"].epsilon < 0.3179
    assert results["shuffle"].hidden_state
    assert "last iterate" in " ".join(results["shuffle"].assumptions)
    assert results["shuffle"].note == ""
    assert not results["poisson"].hidden_state
    assert "no hidden-state statement covers poisson" in results["poisson"].note
    assert results["poisson"].neighbouring == "add_remove"
    assert {result.neighbouring for name, result in results.items() if name != "poisson"} == {"replace_one"}
    assert results["full_batch"].bound.startswith("composition") != results["full_batch"].hidden_state


def test_a_statement_outside_its_hypotheses_says_so(figure_run):
    found = epsilon(figure_run.replace(eta="0.45"), delta="1e-5", scheme="shuffle")
    refused = {entry.label: entry.reason for entry in found.considered if entry.verdict == "does not apply"}
    assert "assumes eta < 2/(beta + lam)" in refused["thm:shuffle"]
    assert found.bound != "thm:shuffle"
    bare = Setting(**{k: v for k, v in figure_run.exact_strings().items() if k not in ("lam", "beta")})
    found = epsilon(bare, delta="1e-5", scheme="shuffle")
    assert found.bound == "composition:fixed"
    assert any("needs it (strong convexity" in entry.reason for entry in found.considered)


def test_no_lemma_and_no_law_is_taken_for_a_bound_of_a_run():
    for scheme in SCHEMES:
        for found in statements_of(scheme):
            assert found.scheme == scheme_of(found.label) == scheme
            assert not found.label.startswith(("lem:", "prop:", "conversion:", "exact:", "eqn:"))
    bounded = {found.label for scheme in SCHEMES for found in statements_of(scheme)}
    assert {"thm:shuffle", "composition:fixed", "mironov2019", "control:reshuffle"} <= bounded


@pytest.mark.parametrize("n", [50, 51, 7, 4])
def test_the_worst_batch_is_the_worst(figure_run, n):
    run = figure_run.replace(n=n)
    for found in statements_of("fixed"):
        if "j0" in found.needs:
            places = _places(found, run)
            assert len(places) <= 2
            every = [found.enclose(run, alpha=15, j0=j0).hi for j0 in range(n // 2)]
            assert max(found.enclose(run, alpha=15, **place).hi for place in places) == max(every)
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
    assert found.bound == "composition:without_replacement"
    assert found.epsilon > epsilon(run, delta="1e-5", scheme="poisson").epsilon


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
    found = epsilon(run, delta=probability, scheme=scheme)
    bound = next(each for each in bounds_for(run, scheme).bounds if each.label == found.bound)
    goal = Goal("epsilon", Fraction(probability))
    if not bound.sketched:
        values = objective(bound, goal, 1 + np.geomspace(1e-3, 1e5, 700))
        assert found.epsilon <= values.min() * (1 + 1e-7)
        return
    values = objective(bound, goal, 1 + np.geomspace(1e-3, 1e5, 700))  # a sketch, over a wide range the coarsest
    assert found.epsilon <= values.min() * 1.05
    for factor in ("0.9", "0.98", "1.02", "1.1"):
        order = 1 + (found.order - 1) * Fraction(factor)
        assert goal.at(bound.enclose(order), order).upper() > found.epsilon


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
        epsilon(figure_run, delta=1, scheme="shuffle", certify_minimum=True)


def test_given_orders(figure_run):
    free = epsilon(figure_run, delta="1e-5", scheme="shuffle")
    found = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[2, 34, 64, math.inf, "35.5"])
    assert found.order == 34
    assert free.epsilon <= found.epsilon < free.epsilon * 1.01
    alone = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[math.inf])
    assert alone.epsilon == math.inf
    assert delta(figure_run, epsilon=1, scheme="shuffle", orders=["inf"]).delta == 1


def test_delta_and_epsilon_are_inverse(figure_run):
    for scheme in SCHEMES:
        run = paper_run(figure_run, scheme)
        loss = epsilon(run, delta="1e-6", scheme=scheme).epsilon
        found = delta(run, epsilon=loss, scheme=scheme)
        exact = not found.bound.startswith("control")  # whose order is found on a sketch
        assert 0.999e-6 < found.delta <= 1e-6 * (1 + (1e-9 if exact else 1e-3))


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
    dp_accounting = pytest.importorskip("dp_accounting")
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
    rdp = pytest.importorskip("opacus.accountants.analysis.rdp")
    orders = [2, 3, 4, 5, 8, 16, 32, 64]
    values = rdp.compute_rdp(q=0.01, noise_multiplier=1.1, steps=steps, orders=orders)
    theirs, _ = rdp.get_privacy_spent(orders=orders, rdp=values, delta=1e-5)
    run = training_run(noise_multiplier="1.1", sample_rate="0.01", steps=steps)
    assert epsilon(run, delta="1e-5", scheme="poisson", orders=orders).epsilon == pytest.approx(theirs, rel=1e-9)


def test_steps_that_end_within_an_epoch():
    run = training_run(noise_multiplier=5, steps=250, **LIBRARY)
    assert run.steps == 250
    found = epsilon(run, delta="1e-5", scheme="shuffle")
    assert found.bound == "composition:fixed"
    three = training_run(noise_multiplier=5, epochs=3, **LIBRARY)
    whole = epsilon(three, delta="1e-5", scheme="reshuffle", effort="quick")
    assert found.epsilon == whole.epsilon  # a record is used at most three times in two and a half epochs
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
    composed = [next(e.value for e in each.considered if e.label.startswith("composition")) for each in sampled]
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


@pytest.mark.parametrize(("name", "value", "named"), INVALID)
def test_invalid_input_is_an_error_on_the_command_line(capsys, name, value, named):
    given = {"noise-multiplier": "1", "sample-rate": "0.01", "steps": "10", "delta": "1e-5"}
    text = f'"{value}"' if isinstance(value, str) else str(value[0]) if isinstance(value, list) else str(value)
    given[name.replace("_", "-")] = text
    code, out, err = cli(capsys, "epsilon", "--scheme", "poisson", *(f"--{key}={item}" for key, item in given.items()))
    assert (code, out) == (2, "")
    assert err.startswith(f"hsdp: error: {named} = ")
    assert err.count("\n") == 1


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
        ({"sample_rate": "0.013", "n": 50}, "is no batch size"),
        ({"sample_rate": "1e-300"}, "too fine"),
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
        ({"neighbouring": "zero_out"}, "no such relation"),
        ({"orders": []}, "no order at all"),
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
    with pytest.raises(HsdpError, match="a dict is no run"):
        epsilon({"n": 50}, delta="1e-5", scheme="shuffle")
    with pytest.raises(HsdpError, match=r"b = None: not given \(size of a mini-batch\)"):
        epsilon(Setting(n=50), delta="1e-5", scheme="shuffle")


EXTREMES = [
    {"delta": 0},
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


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("changes", EXTREMES, ids=str)
def test_extremes_are_answered_in_time(scheme, changes):
    given = {"noise_multiplier": 1, "steps": 300, **batches_of(scheme)}
    given |= {name: value for name, value in changes.items() if name in given}
    options = {"delta": "1e-5", **{name: value for name, value in changes.items() if name in ("delta", "orders")}}
    epsilon(training_run(**{**given, "noise_multiplier": 3}), delta="1e-4", scheme=scheme)  # not the derivation's time
    started = time.process_time()
    found = epsilon(training_run(**given), scheme=scheme, **options)
    assert time.process_time() - started < 2
    assert found.epsilon >= found.lower >= 0
    if changes.get("delta") == 0:
        assert found.epsilon == math.inf
    if changes.get("delta") == 1 or changes.get("noise_multiplier") == 1e308:
        assert found.epsilon == 0
    if isinstance(found.order, Fraction):  # the answer is right: at its order, by the formula, to 60 digits
        bound = next(each for each in bounds_for(training_run(**given), scheme).bounds if each.label == found.bound)
        with mpmath.workdps(60):
            assert formula(bound.enclose(found.order).lo, found.order, Fraction(options["delta"])) <= found.epsilon


def test_no_sensitivity_no_loss(figure_run):
    found = epsilon(figure_run.replace(S_g=0), delta=0, scheme="shuffle")
    assert found.epsilon == 0
    assert delta(figure_run.replace(S_g=0), epsilon=0, scheme="reshuffle").delta == 0


@pytest.mark.parametrize("loss", [0, "1e-6", 1, 100, 10**6])
@pytest.mark.parametrize("noise", ["1e-3", 1, 1e308])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_extreme_deltas(scheme, noise, loss):
    run = training_run(noise_multiplier=noise, steps=300, **batches_of(scheme))
    found = delta(run, epsilon=loss, scheme=scheme)
    assert 0 <= found.lower <= found.delta <= 1
    if noise == 1e308 and loss == 1:
        assert found.delta < 1e-300
    if noise == "1e-3" and loss == 1:
        assert found.delta == 1


# Calibration


def draw_target(rng):
    """A run without its noise, and a target."""

    def log_uniform(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    n = rng.choice([50, 1000, 60000])
    size = rng.choice([1, 2, n // 25, n // 7])
    run = {"n": n, "batch_size": size, "epochs": rng.randint(1, 60), "learning_rate": "0.05", "weight_decay": "0.5"}
    run |= {"loss": scalar(feature_norm=1, curvature="3.5", bias=False), "max_grad_norm": 1, "leftover": "dropped"}
    scheme = rng.choice(["fixed", "shuffle", "reshuffle", "full_batch", "poisson"])
    if scheme == "full_batch":
        run["batch_size"] = n
    target = Fraction(f"{log_uniform(0.01, 20):.6g}")
    return run, scheme, target, Fraction(f"{log_uniform(1e-12, 1e-2):.3g}")


def check_calibrations(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        run, scheme, target, probability = draw_target(rng)
        options = {"delta": probability, "scheme": scheme, "effort": "normal" if number % 10 == 0 else "quick"}
        found = calibrate(target_epsilon=target, **options, **run)
        again = epsilon(training_run(noise_multiplier=float(found.value), **run), **options)
        assert again.epsilon == found.guarantee.epsilon  # what is printed is what was certified
        assert again.epsilon <= target
        assert float(target) - again.epsilon <= 1e-6 * min(1, target)
        less = epsilon(training_run(noise_multiplier=found.value * Fraction(999, 1000), **run), **options)
        assert less.epsilon > target


def test_calibrated_noise_never_misses():
    check_calibrations(12, seed=3)


@pytest.mark.slow
def test_calibrated_noise_never_misses_on_many_targets():
    check_calibrations(1000, seed=4)


def test_calibrating_epochs(figure_run):
    run = {"noise_multiplier": 2, "sample_rate": "0.01"}
    found = calibrate(target_epsilon=1, delta="1e-5", scheme="poisson", solve_for="K", **run)
    assert found.guarantee.epsilon <= 1
    assert epsilon(training_run(epochs=found.value + 1, **run), delta="1e-5", scheme="poisson").epsilon > 1
    assert found.monotone
    assert not found.every
    forever = calibrate(figure_run, target_epsilon=1, delta="1e-5", scheme="shuffle", solve_for="K")
    assert (forever.every, forever.value) == (True, 10**30)


def test_calibrating_convexity(figure_run, only):
    only("thm:shuffle", "composition:fixed")
    found = calibrate(figure_run, target_epsilon="0.4", delta="1e-5", scheme="shuffle", solve_for="lam")
    assert 0.4 - 1e-6 <= found.guarantee.epsilon <= 0.4
    assert (
        epsilon(figure_run.replace(lam=found.value * Fraction(99, 100)), delta="1e-5", scheme="shuffle").epsilon > 0.4
    )
    with pytest.raises(Unreachable, match=r"the best is epsilon = 0\.29"):
        calibrate(figure_run, target_epsilon="0.2", delta="1e-5", scheme="shuffle", solve_for="lam")
    with pytest.raises(HsdpError, match="met without strong convexity"):
        calibrate(figure_run, target_epsilon="5", delta="1e-5", scheme="shuffle", solve_for="lam")


def test_calibrating_the_batch_size():
    run = {"noise_multiplier": "1.1", "n": 100, "epochs": 3}
    found = calibrate(target_epsilon=3, delta="1e-5", scheme="poisson", solve_for="b", **run)
    assert found.guarantee.epsilon <= 3
    assert not found.monotone
    for size in range(found.value + 1, 101):
        assert epsilon(training_run(batch_size=size, **run), delta="1e-5", scheme="poisson").epsilon > 3
    with pytest.raises(Unreachable):
        calibrate(target_epsilon="1e-4", delta="1e-5", scheme="poisson", solve_for="b", **run)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_epsilon": 0}, "no noise reaches 0"),
        ({"target_epsilon": -1}, "not negative"),
        ({"target_epsilon": NAN}, "not a finite number"),
        ({"delta": 0}, "no noise_multiplier reaches it"),
        ({"solve_for": "eta"}, "cannot be solved for"),
        ({"solve_for": "sigma"}, "needs a Setting"),
        ({"noise_multiplier": 1}, "is what is solved for"),
        ({"solve_for": "K", "noise_multiplier": 1}, "leave out steps"),
    ],
)
def test_calibration_refuses(options, message):
    given = {"target_epsilon": 1, "delta": "1e-5", "scheme": "poisson", "sample_rate": "0.01", "steps": 100}
    with pytest.raises(HsdpError, match=message):
        calibrate(**{**given, **options})


# Comparison


def test_comparison_and_crossovers(figure_run, only):
    only("thm:strconvexsmooth", "balle2019", "composition:fixed")
    found = compare(figure_run, delta="1e-5", scheme="fixed")
    curves = dict(found.curves)
    assert found.epochs == (1, 2, 5, 10, 20, 40)
    (crossing,) = found.crossovers
    assert (crossing.K, crossing.before, crossing.after) == (7, "balle2019", "thm:strconvexsmooth")
    assert crossing.certified
    for K, smaller, larger in ((6, "balle2019", "thm:strconvexsmooth"), (7, "thm:strconvexsmooth", "balle2019")):
        values = {
            entry.label: entry.value
            for entry in epsilon(figure_run.replace(K=K), delta="1e-5", scheme="fixed").considered
        }
        assert values[smaller] < values[larger]
    assert curves["thm:strconvexsmooth"][-1] == epsilon(figure_run, delta="1e-5", scheme="fixed").epsilon


def test_a_comparison_across_schemes_that_do_not_apply(figure_run):
    bare = Setting(**{k: v for k, v in figure_run.exact_strings().items() if k != "lam"})
    found = compare(bare, delta="1e-5", scheme="shuffle", epochs=[3, 1])
    assert found.epochs == (1, 3)
    assert "thm:shuffle" in dict(found.does_not_apply)
    with pytest.raises(HsdpError, match="no number of epochs"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[])
    with pytest.raises(HsdpError, match="not a whole number"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[1.5])


# The command line


def test_epsilon_json(capsys, figure_run):
    code, out, err = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    keys = {"epsilon", "lower", "delta", "order", "bound", "scheme", "neighbouring", "considered"}
    assert keys <= found.keys()
    assert found["epsilon"] == epsilon(figure_run, delta="1e-5", scheme="shuffle").epsilon
    assert found["bound"] == epsilon(figure_run, delta="1e-5", scheme="shuffle").bound
    assert found["delta"] == 1e-5
    assert {entry["label"] for entry in found["considered"]} >= {"thm:shuffle", "composition:fixed"}


def test_infinite_epsilon_is_valid_json(capsys):
    code, out, _ = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "0", "--json")
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail)["epsilon"] == "inf"


def test_report(capsys, only):
    only("thm:shuffle", "composition:fixed")
    code, out, _ = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--certify-minimum")
    assert code == 0
    for text in ("(0.31782854988", "thm:shuffle", "margin 0.38", "last iterate", "composition:fixed", "any order"):
        assert text in out


def test_delta_on_the_command_line(capsys, figure_run):
    code, out, _ = cli(capsys, "delta", "--scheme", "shuffle", *FIGURE, "--epsilon", "0.3", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["epsilon"] == 0.3
    assert found["delta"] == delta(figure_run, epsilon="0.3", scheme="shuffle").delta
    # the double 0.3 is smaller than 3/10, and what is certified is about the double
    assert found["delta"] == delta(figure_run, epsilon=Fraction(0.3), scheme="shuffle").delta


def test_calibrate_on_the_command_line(capsys, only):
    run = ["--scheme", "poisson", "--sample-rate", "0.01", "--steps", "1000", "--delta", "1e-5"]
    code, out, _ = cli(capsys, "calibrate", "--epsilon", "1", *run, "--json")
    found = json.loads(out)
    assert code == 0
    assert {"noise_multiplier", "epsilon", "bound"} <= found.keys()
    assert 1 - 1e-6 <= found["epsilon"] <= 1
    code, out, _ = cli(capsys, "epsilon", *run, "--noise-multiplier", repr(found["noise_multiplier"]), "--json")
    assert json.loads(out)["epsilon"] == found["epsilon"]
    letters = [option for option in FIGURE if not option.startswith("--K")]
    only("composition:fixed")
    code, out, _ = cli(
        capsys, "calibrate", "--epsilon", "1", "--scheme", "reshuffle", "--delta", "1e-5", *letters, "--solve-for", "K"
    )
    assert code == 0
    assert out.startswith("K = 6, by composition: ")


def test_compare_on_the_command_line(capsys, tmp_path, only):
    only("thm:strconvexsmooth", "balle2019", "composition:fixed")
    code, out, _ = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--json", "--at", "1,10")
    found = json.loads(out)
    assert code == 0
    assert found["epochs"] == [1, 10]
    assert [each["K"] for each in found["crossovers"]] == []
    code, out, _ = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5")
    assert "from K = 7 on thm:strconvexsmooth is smaller than balle2019 (certified)" in out
    code, _, err = cli(capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--plot", "x.docx")
    assert code == 2
    assert "no such picture format" in err
    pytest.importorskip("matplotlib")
    target = tmp_path / "bounds.svg"
    code, _, _ = cli(
        capsys, "compare", "--scheme", "fixed", *FIGURE, "--delta", "1e-5", "--at", "1,10", "--plot", str(target)
    )
    assert code == 0
    assert "<svg" in target.read_text()


def test_a_run_from_a_file(capsys, tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'scheme = "shuffle"\ndelta = 1e-5\nn = 50\nb = 2\nK = 40\neta = 0.02\nlam = 1\nbeta = 4\nsigma = 2\nS_g = 4\n'
    )
    _, direct, _ = cli(capsys, "epsilon", "--scheme", "shuffle", *FIGURE, "--delta", "1e-5", "--json")
    code, out, _ = cli(capsys, "epsilon", "--from", str(file), "--json")
    assert (code, out) == (0, direct)
    _, out, _ = cli(capsys, "epsilon", "--from", str(file), "--K", "1", "--json")
    assert json.loads(out)["epsilon"] < json.loads(direct)["epsilon"]  # the command line wins
    library = tmp_path / "library.toml"
    library.write_text("noise_multiplier = 1.1\nsample_rate = 0.01\nsteps = 1000\norders = [2, 4, 8.5]\n")
    code, out, _ = cli(capsys, "epsilon", "--from", str(library), "--scheme", "poisson", "--delta", "1e-5", "--json")
    assert code == 0
    assert json.loads(out)["order"] == 8.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = ", "cannot be read"),
        ("colour = 3", "'colour' is no option"),
        ("[n]\nx = 1", "n is a table"),
        ("steps = 10.0\nnoise_multiplier = 1\nsample_rate = 0.5", "steps = '10.0': not a whole number"),
        ("n = 50\nb = 2\nnoise_multiplier = 1", "mixed with noise_multiplier"),
        ("sample_rate = 0.5\nsteps = 3", "noise_multiplier = None: not given"),
        ("noise_multiplier = nan\nsample_rate = 0.5\nsteps = 3", "not a finite number"),
    ],
)
def test_a_bad_file(capsys, tmp_path, text, message):
    file = tmp_path / "run.toml"
    file.write_text(text)
    code, out, err = cli(capsys, "epsilon", "--from", str(file), "--scheme", "poisson", "--delta", "1e-5")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["epsilon", *FIGURE, "--delta", "1e-5"], "scheme = None: not given"),
        (["epsilon", *FIGURE, "--scheme", "shuffle"], "delta = None: not given"),
        (["calibrate", *FIGURE[:-2], "--scheme", "shuffle", "--delta", "1e-5"], "epsilon = None: not given"),
        (["epsilon", "--from", "/nonexistent.toml"], "cannot be read"),
    ],
)
def test_missing_options(capsys, arguments, message):
    code, _, err = cli(capsys, *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("scheme", ["without_replacement", "poisson", "shuffle", "fixed"])
def test_only_where_an_epoch_is_a_pass_are_records_left_over(scheme):
    run = training_run(noise_multiplier=4, n=7, batch_size=2, epochs=2, leftover="dropped")
    said = " ".join(epsilon(run, delta="1e-5", scheme=scheme, orders=[4]).assumptions)
    assert ("left over are not used" in said) == (scheme in ("shuffle", "fixed"))
    assert ("b does not divide n" in said) == (scheme in ("without_replacement", "poisson"))
