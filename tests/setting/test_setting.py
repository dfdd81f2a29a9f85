"""The gate: what enters is exact and in range; what is not is refused by name, value and remedy."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from hsdp_symbolic import HsdpError, Setting, labels, statement
from hsdp_symbolic.errors import (
    ArgumentError,
    HypothesisError,
    MissingArgument,
    TooManySteps,
    UnknownArgument,
    UnknownLabel,
    ValueTooLarge,
)
from hsdp_symbolic.setting.gate import to_fraction

GOOD = {"n": 50, "b": 2, "K": 40, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


@pytest.mark.parametrize(
    "value",
    [
        "0.02",
        "2e-2",
        " .02 ",
        "1/50",
        "+0.0200",
        0.02,
        np.float64(0.02),
        np.float32(0.02),
        Decimal("0.02"),
        Fraction(1, 50),
        sympy.Rational(1, 50),
    ],
)
@pytest.mark.smoke
def test_one_fiftieth_in_every_spelling(value):
    assert to_fraction("eta", value) == Fraction(1, 50)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_decimal(x):
    assert to_fraction("eta", x) == Fraction(repr(x))


@pytest.mark.parametrize("value", [7, np.int32(7), np.uint64(7), sympy.Integer(7), "7", 7.0, Fraction(7), Decimal(7)])
@pytest.mark.smoke
def test_seven_in_every_spelling(value):
    assert Setting(n=value)["n"] == 7


BAD_NUMBERS = [
    float("nan"),
    float("inf"),
    float("-inf"),
    np.float64("nan"),
    Decimal("NaN"),
    Decimal("Infinity"),
    "nan",
    "inf",
    "-Infinity",
    "",
    " ",
    "abc",
    "1,5",
    "1_000",
    "0x10",
    "1e",
    "1/0",
    "1//2",
    "١",
    "__import__('os').system('true')",
    "lambda: 1",
    "1+1",
    "pi",
    "1e1000000",
    "1e99999999999",
    "9" * 2000,
    10**5000,
    1e308 * 10,
    True,
    False,
    np.True_,
    None.__class__,
    [1],
    (1,),
    {1},
    {},
    b"1",
    1j,
    object(),
    sympy.Symbol("x"),
    sympy.Float("0.02"),
    sympy.pi,
    sympy.oo,
    sympy.nan,
    np.array([1, 2]),
]


@pytest.mark.parametrize("name", ["n", "b", "K", "eta", "lam", "beta", "sigma", "S_g", "sigma_squared"])
@pytest.mark.parametrize("value", BAD_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_not_a_number_is_refused(name, value):
    given_values = {key: good for key, good in GOOD.items() if not (name == "sigma_squared" and key == "sigma")}
    with pytest.raises(ArgumentError) as caught:
        Setting(**{**given_values, name: value})
    told = str(caught.value)
    assert told.startswith(f"{name} = ")
    assert ";" in told, "a remedy follows"
    assert "\n" not in told
    assert len(told) < 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, value) for name in ("n", "b", "K") for value in (0, -1, "1.5", Fraction(1, 2), 10**31)],
        *[(name, value) for name in ("eta", "lam", "beta", "sigma", "sigma_squared") for value in (0, -1, "-0.5")],
        ("S_g", -1),
    ],
)
def test_out_of_range_is_refused(name, value):
    with pytest.raises(ArgumentError, match=f"^{name} = .*; give "):
        Setting(**{name: value})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"b": 51}, "choose b <= n"),
        ({"beta": "0.5"}, "choose beta >= lam = 1"),
        ({"sigma_squared": 4}, "give one of the two"),
    ],
)
def test_combinations_that_cannot_be(changes, told):
    with pytest.raises(ArgumentError, match=told):
        Setting(**{**GOOD, **changes})


@pytest.mark.parametrize(
    ("label", "changes", "told"),
    [
        (
            "thm:strconvexsmooth",
            {"eta": "0.4"},
            r"eta = 2/5: .* assumes eta < 2/\(beta \+ lam\); choose eta < .* = 2/5",
        ),
        ("thm:strconvexsmooth", {"eta": 1}, "choose eta <"),
        ("thm:strconvexsmooth", {"b": 26}, "b = 26: .* choose b <= n/2 = 25"),
        ("thm:strconvexsmooth", {"j0": 25}, "j0 = 25: .* choose j0 <= N - 1 = 24"),
        ("thm:strconvexsmooth", {"j0": -1}, "j0 = -1: .*whole number from 0"),
        ("thm:strconvexsmooth", {"j0": "1.5"}, "j0 = '1.5'"),
        ("thm:strconvexsmooth", {"alpha": 1}, "alpha = 1: .*> 1"),
        ("thm:strconvexsmooth", {"alpha": "0.5"}, "alpha = '0.5'"),
        ("thm:strconvexsmooth", {"alpha": float("nan")}, "alpha = nan: not a finite"),
        ("thm:strconvexsmooth", {"alpha": True}, "alpha = True"),
        ("thm:strconvexsmooth", {"K": 0}, "K = 0"),
        ("thm:convexsmooth", {"eta": "0.5"}, "choose eta < 2/beta = 1/2"),
        ("eps0", {"j": 0}, "choose j >= 1"),
        ("eps0", {"j": 26}, "choose j <= N = 25"),
        ("lem:LSIseq_convex", {"k": 0, "j": 0}, r"N\*k \+ j = 0"),
        ("lem:LSIseq_stronglyconvex", {"k": 40, "j": 0}, "choose k <= K - 1 = 39"),
        ("lem:recursive", {"hit": 2, "u": 1, "c": 1, "L": 1}, "hit = 2"),
    ],
)
@pytest.mark.parametrize("view", ["exact", "enclose", "upper", "lower", "numeric"])
@pytest.mark.smoke
def test_outside_the_hypotheses_there_is_no_number(label, changes, told, view):
    arguments = {"alpha": 15, "j0": 0, "j": 1, "k": 1, **changes}
    with pytest.raises(ArgumentError, match=told):
        getattr(statement(label), view)(Setting(**GOOD), **arguments)


class TestViewsAskForWhatTheyNeed:
    def test_missing_argument(self, figure_run):
        with pytest.raises(MissingArgument, match=r"^j0 = None: thm:strconvexsmooth needs it .*pass j0="):
            statement("thm:strconvexsmooth").upper(figure_run, alpha=15)

    def test_missing_parameter(self):
        with pytest.raises(MissingArgument, match="sigma"):
            statement("thm:convexsmooth").upper(Setting(n=4, b=1, K=1, eta="0.1", beta=1, S_g=1), alpha=2, j0=0)

    def test_a_parameter_it_does_not_need_may_be_missing(self):
        run = Setting(n=4, b=1, K=1, eta="0.1", beta=1, sigma=1, S_g=1)
        assert statement("thm:convexsmooth").upper(run, alpha=2, j0=0) > 0

    def test_unknown_argument(self, figure_run):
        with pytest.raises(UnknownArgument, match="thm:convexsmooth takes n, b, K, eta, beta, sigma, S_g, alpha, j0"):
            statement("thm:convexsmooth").upper(figure_run, order=2)

    def test_not_a_setting(self):
        with pytest.raises(UnknownArgument, match="is not a Setting"):
            statement("thm:convexsmooth").upper(GOOD, alpha=2, j0=0)

    def test_parameters_may_be_overridden_in_the_call(self, figure_run):
        found = statement("thm:strconvexsmooth")
        assert found.exact(figure_run, alpha=15, j0=3, K=2) == found.exact(figure_run.replace(K=2), alpha=15, j0=3)
        assert found.exact(figure_run, alpha=15, j0=3, sigma_squared=4) == found.exact(figure_run, alpha=15, j0=3)

    def test_zero_sensitivity_costs_nothing(self, figure_run):
        assert statement("thm:strconvexsmooth").upper(figure_run, alpha=15, j0=3, S_g=0) == 0
        assert statement("thm:strconvexsmooth").numeric(figure_run, alpha=15, j0=3, S_g=0) == 0


class TestLabels:
    @pytest.mark.parametrize(
        ("label", "told"),
        [
            ("thm:strconvexsmoth", "did you mean thm:strconvexsmooth"),
            ("thm:nothing at all", "hsdp list|did you mean"),
            ("", "hsdp list"),
            (None, "no such statement"),
            (7, "no such statement"),
            ("__import__('os')", "no such statement"),
        ],
    )
    def test_unknown(self, label, told):
        with pytest.raises(UnknownLabel, match=told):
            statement(label)

    def test_order_is_the_papers(self):
        assert labels()[:4] == ("thm:naive_RDP_baseline", "lem:post_proc", "lem:recursive", "thm:strconvexsmooth")


class TestSetting:
    def test_is_immutable_hashable_and_equal_by_value(self):
        run = Setting(**GOOD)
        with pytest.raises(AttributeError, match="replace"):
            run.K = 3
        assert {run: 1}[Setting(**{**GOOD, "eta": 0.02})] == 1
        assert run != run.replace(K=3)

    def test_text_reads_back(self):
        run = Setting(**GOOD)
        assert Setting(**run.exact_strings()) == run
        assert repr(run.replace(K=1)) == (
            "Setting(n='50', b='2', K='1', eta='1/50', lam='1', beta='4', sigma='2', S_g='4')"
        )

    def test_pickles(self):
        run = Setting(**GOOD)
        assert pickle.loads(pickle.dumps(run)) == run

    def test_noise_known_only_by_its_square(self):
        run = Setting(sigma_squared=250)
        assert run.exact_strings() == {"sigma_squared": "250"}
        assert run.replace(sigma=3)["sigma2"] == 9
        assert Setting(sigma_squared="9/4").exact_strings() == {"sigma": "3/2"}

    def test_replace_refuses_unknown_names(self):
        with pytest.raises(UnknownArgument, match="use one of"):
            Setting(**GOOD).replace(epochs=3)

    def test_every_refusal_is_ours(self):
        assert issubclass(HypothesisError, HsdpError)
        assert issubclass(ArgumentError, ValueError)


def test_errors_cross_from_one_process_to_another():
    for error in (ArgumentError("n", -1, "negative", "give more"), ValueTooLarge(10**9), TooManySteps(10**9, "a mean")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_a_setting_with_long_numbers_can_be_changed():
    run = Setting(eta=Fraction(10**1500 + 1, 10**1501), sigma=Fraction(1, 3**2000))
    assert run.replace(K=3)["eta"] == run["eta"]
    assert run.replace(K=3)["sigma2"] == run["sigma2"]


def test_nothing_of_a_setting_can_be_deleted():
    run = Setting(**GOOD)
    with pytest.raises(AttributeError, match="replace"):
        del run.K
