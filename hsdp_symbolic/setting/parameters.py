"""`Setting`: the exact parameters of one training run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from fractions import Fraction
from typing import NoReturn

from ..errors import ArgumentError, UnknownArgument
from .gate import Number, admit
from .letters import PARAMETERS


@dataclass(frozen=True, init=False, repr=False)
class Setting:
    """The exact parameters of one training run (immutable).

    Every parameter is keyword-only and optional: a statement asks for those it needs. The noise may be
    given as `sigma` or, where only its square is rational, as `sigma_squared`; its square is what is kept.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> run.replace(K=1)["K"], run["sigma2"]
    (Fraction(1, 1), Fraction(4, 1))
    """

    n: Fraction | None
    b: Fraction | None
    K: Fraction | None
    eta: Fraction | None
    lam: Fraction | None
    beta: Fraction | None
    S_g: Fraction | None
    lipschitz: Fraction | None
    sigma2: Fraction | None

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
        lipschitz: Number | None = None,
        **unknown: object,
    ) -> None:
        for name, value in unknown.items():
            raise UnknownArgument(name, value, "not a parameter of a setting", _ONE_OF)
        given = {"n": n, "b": b, "K": K, "eta": eta, "lam": lam, "beta": beta, "S_g": S_g, "lipschitz": lipschitz}
        values = {name: admit(name, value) for name, value in given.items() if value is not None}
        if sigma is not None and sigma_squared is not None:
            raise ArgumentError("sigma_squared", sigma_squared, "sigma is given too", "give one of the two")
        if sigma is not None:
            values["sigma2"] = admit("sigma", sigma) ** 2
        elif sigma_squared is not None:
            values["sigma2"] = admit("sigma_squared", sigma_squared)
        _check_pairs(values)
        for field in fields(self):
            object.__setattr__(self, field.name, values.get(field.name))

    def __getitem__(self, name: str) -> Fraction:
        return self.values()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values()

    def __repr__(self) -> str:
        return f"Setting({', '.join(f'{name}={text!r}' for name, text in self.exact_strings().items())})"

    def replace(self, **changes: Number | None) -> Setting:
        """A copy with some parameters changed (checked like any other setting)."""
        kept = self._arguments()
        if {"sigma", "sigma_squared"} & changes.keys():
            kept.pop("sigma", None)
            kept.pop("sigma_squared", None)
        return Setting(**{**kept, **changes})

    def exact_strings(self) -> dict[str, str]:
        """The parameters as exact text (`1/50`), in the paper's order; `Setting(**…)` of it is an equal setting."""
        return {name: str(value) for name, value in self._arguments().items()}

    def values(self) -> dict[str, Fraction]:
        """The exact values by name; the noise appears as `sigma2`, its square."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def _arguments(self) -> dict[str, Fraction]:
        """What to call `Setting` with for an equal one, in the paper's order."""
        values = self.values()
        if "sigma2" in values:
            square = values.pop("sigma2")
            root = _exact_root(square)
            values.update({"sigma_squared": square} if root is None else {"sigma": root})
        order = [name for letter in PARAMETERS for name in (letter.name, f"{letter.name}_squared")]
        return {name: values[name] for name in order if name in values}


def _refuse(setting: object, name: str, value: object = None) -> NoReturn:
    raise FrozenInstanceError("a Setting is immutable; use .replace(...)")


# A frozen dataclass comes with a refusal of its own, which names no remedy.
Setting.__setattr__ = Setting.__delattr__ = _refuse  # type: ignore[method-assign]

PARAMETER_NAMES = frozenset({letter.name for letter in PARAMETERS} | {"sigma_squared"})
_ONE_OF = f"use one of {', '.join(sorted(PARAMETER_NAMES))}"


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
            f"a {values['lam']}-strongly convex loss is not smooth with a smaller constant than that",
            f"choose beta >= lam = {values['lam']}",
        )
