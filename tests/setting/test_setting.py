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

from hsdp_symbolic import HsdpError, Setting
from hsdp_symbolic.errors import (
    ArgumentError,
    HypothesisError,
    UnknownArgument,
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


def test_a_setting_with_long_numbers_can_be_changed():
    run = Setting(eta=Fraction(10**1500 + 1, 10**1501), sigma=Fraction(1, 3**2000))
    assert run.replace(K=3)["eta"] == run["eta"]
    assert run.replace(K=3)["sigma2"] == run["sigma2"]


def test_nothing_of_a_setting_can_be_deleted():
    run = Setting(**GOOD)
    with pytest.raises(AttributeError, match="replace"):
        del run.K
