"""`Setting`: the exact parameters of one training run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..errors import ArgumentError, UnknownArgument
from .gate import Number, admit
from .letters import PARAMETERS


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
