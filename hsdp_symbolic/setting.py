"""`Setting`: the exact parameters of one training run, and the gate every number enters by.

Guarantee: whatever passes the gate is an exact rational in the letter's range; whatever does not is
refused with an error naming the argument, the value and the remedy. Text is parsed by a fixed pattern,
never evaluated.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .errors import ArgumentError, UnknownArgument
from .letters import LETTERS, PARAMETERS, Letter

Number = int | str | float | Fraction | Decimal
"""What the gate accepts (and SymPy or NumPy numbers of the same kinds)."""

MAX_DIGITS = 1000
MAX_EXPONENT = 1000
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,6}))?", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_HOW_TO_WRITE = "write it as an int, a string such as '0.02' or '1/50', a Fraction, a Decimal or a float"


def to_fraction(name: str, value: object) -> Fraction:
    """The exact rational that `value` stands for.

    A float is read as its shortest decimal (`0.02` means 1/50, not the binary number nearest to it).

    >>> to_fraction("eta", 0.02), to_fraction("eta", "1/50"), to_fraction("eta", "2e-2")
    (Fraction(1, 50), Fraction(1, 50), Fraction(1, 50))
    """
    if isinstance(value, bool) or not (isinstance(value, (numbers.Rational, float, Decimal, str)) or _is_numpy(value)):
        raise ArgumentError(name, value, f"a {type(value).__name__} is not an exact number", _HOW_TO_WRITE)
    if isinstance(value, numbers.Rational):
        result = Fraction(int(value.numerator), int(value.denominator))
    else:
        result = _parse(name, value, str(value).strip())
    too_long = max(result.numerator.bit_length(), result.denominator.bit_length()) > 4 * (MAX_DIGITS + MAX_EXPONENT)
    if too_long:
        raise ArgumentError(name, value, f"more than {MAX_DIGITS + MAX_EXPONENT} digits", "round it to fewer digits")
    return result


def _parse(name: str, value: object, text: str) -> Fraction:
    if len(text) > MAX_DIGITS:
        raise ArgumentError(name, value, f"longer than {MAX_DIGITS} characters", "round it to fewer digits")
    if _RATIO.fullmatch(text):
        top, bottom = text.split("/")
        if int(bottom) == 0:
            raise ArgumentError(name, value, "division by zero", "give a non-zero denominator")
        return Fraction(int(top), int(bottom))
    match = _DECIMAL.fullmatch(text)
    if not match:
        problem = "not a finite number" if _is_non_finite(text) else "not a number"
        raise ArgumentError(name, value, problem, _HOW_TO_WRITE)
    if abs(int(match.group(1) or 0)) > MAX_EXPONENT:
        raise ArgumentError(
            name, value, f"outside 10^-{MAX_EXPONENT} to 10^{MAX_EXPONENT}", "choose a less extreme value"
        )
    return Fraction(text)


def _is_numpy(value: object) -> bool:
    return isinstance(value, numbers.Real) and type(value).__module__ == "numpy"


def _is_non_finite(text: str) -> bool:
    return text.lstrip("+-").lower() in {"nan", "snan", "inf", "infinity"}


def admit_positive(name: str, value: object) -> Fraction:
    """`value` as an exact rational above 0, or an `ArgumentError`; for what is no letter of the paper."""
    result = to_fraction(name, value)
    if result <= 0:
        raise ArgumentError(name, value, "must be positive", "give a number > 0")
    return result


def admit(name: str, value: object) -> Fraction:
    """`value` as an exact rational within the range of the letter `name`, or an `ArgumentError`."""
    letter = LETTERS[name] if name in LETTERS else Letter(name, "", name)
    result = to_fraction(name, value)
    if not letter.admits(result):
        raise ArgumentError(name, value, f"{letter.meaning} is out of range", f"give {letter.describe_range()}")
    return result


class Setting:
    """The exact parameters of one training run (immutable).

    Every parameter is keyword-only and optional: a statement asks for those it needs. The noise may be
    given as `sigma` or, where only its square is rational, as `sigma_squared`.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> run.replace(K=1)["K"], run["sigma2"]
    (Fraction(1, 1), Fraction(4, 1))
    """

    __slots__ = ("_values",)
    _values: dict[str, Fraction]

    def __init__(
        self,
        *,
        n: Number | None = None,
        b: Number | None = None,
        K: Number | None = None,
        eta: Number | None = None,
        lam: Number | None = None,
        beta: Number | None = None,
        sigma: Number | None = None,
        sigma_squared: Number | None = None,
        S_g: Number | None = None,
        **unknown: object,
    ) -> None:
        for name, value in unknown.items():
            raise UnknownArgument(name, value, "not a parameter of a setting", _ONE_OF)
        given = {"n": n, "b": b, "K": K, "eta": eta, "lam": lam, "beta": beta, "S_g": S_g}
        values = {name: admit(name, value) for name, value in given.items() if value is not None}
        if sigma is not None and sigma_squared is not None:
            raise ArgumentError("sigma_squared", sigma_squared, "sigma is given too", "give one of the two")
        if sigma is not None:
            values["sigma2"] = admit("sigma", sigma) ** 2
        elif sigma_squared is not None:
            values["sigma2"] = admit("sigma_squared", sigma_squared)
        _check_pairs(values)
        object.__setattr__(self, "_values", values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Setting is immutable; use .replace(...)")

    def __getitem__(self, name: str) -> Fraction:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Setting({', '.join(f'{k}={v!r}' for k, v in self.exact_strings().items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.exact_strings(),)

    def replace(self, **changes: Number | None) -> Setting:
        """A copy with some parameters changed (checked like any other setting)."""
        merged: dict[str, Any] = dict(self.exact_strings())
        if {"sigma", "sigma_squared"} & changes.keys():
            merged.pop("sigma", None)
            merged.pop("sigma_squared", None)
        return Setting(**{**merged, **changes})

    def exact_strings(self) -> dict[str, str]:
        """The parameters as exact text (`1/50`), in the paper's order; feeds `Setting(**…)` back."""
        found = {}
        for letter in PARAMETERS:
            if letter.name in self._values:
                found[letter.name] = str(self._values[letter.name])
            elif letter.name == "sigma" and "sigma2" in self._values:
                root = _exact_root(self._values["sigma2"])
                found.update({"sigma": str(root)} if root else {"sigma_squared": str(self._values["sigma2"])})
        return found

    def values(self) -> Mapping[str, Fraction]:
        """The exact values by name; the noise appears as `sigma2`, its square."""
        return dict(self._values)


PARAMETER_NAMES = frozenset({letter.name for letter in PARAMETERS} | {"sigma_squared"})
_ONE_OF = f"use one of {', '.join(sorted(PARAMETER_NAMES))}"


def _restore(strings: dict[str, Any]) -> Setting:
    return Setting(**strings)


def _exact_root(value: Fraction) -> Fraction | None:
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


def _check_pairs(values: Mapping[str, Fraction]) -> None:
    if "n" in values and "b" in values and values["b"] > values["n"]:
        raise ArgumentError(
            "b", int(values["b"]), f"a mini-batch cannot exceed the dataset of n = {values['n']}", "choose b <= n"
        )
    if "lam" in values and "beta" in values and values["beta"] < values["lam"]:
        raise ArgumentError(
            "beta",
            str(values["beta"]),
            f"no loss is {values['lam']}-strongly convex and less smooth than that",
            f"choose beta >= lam = {values['lam']}",
        )
