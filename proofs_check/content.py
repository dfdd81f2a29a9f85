"""The key of a claim: a hash of everything that decides it, not of how it prints.

Two symbols may print alike and differ in what is assumed of them (`q` > 0, or any `q`), and two trees may print as one
formula. So the key is made of the tree itself: classes by their full names, symbols with their assumptions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction

from sympy import Dummy, Expr, Rational, Symbol, Tuple
from sympy.core.basic import Atom
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.singleton import Singleton
from sympy.logic.boolalg import Boolean

from hsdp_symbolic.proof.kernel import Theorem

COVERED = ("hsdp_symbolic", "proofs_check", "sympy", "fractions", "builtins")
"""Packages whose classes may occur: others are not in the fingerprint (`cache.py`), and may change unnoticed."""


class NoKey(Exception):
    """A claim has a part that cannot be hashed, so its verdict is not remembered."""


def key_of(claim: object) -> str | None:
    """The claim's key; None if a part of it cannot be hashed: such a claim is decided every time."""
    try:
        tree = _Content().of(claim)
    except NoKey:
        return None
    return hashlib.sha256(json.dumps(tree).encode()).hexdigest()


class _Content:
    """Turns an object into nested lists and strings; bound dummies are numbered in the order they are met."""

    def __init__(self) -> None:
        self._dummies: dict[Dummy, int] = {}

    def of(self, thing: object) -> object:
        if thing is None or type(thing) in (str, bool, int):
            return [type(thing).__name__, str(thing)]
        if isinstance(thing, UndefinedFunction):
            return ["unknown function", thing.__name__, sorted(map(str, thing.default_assumptions.items()))]
        if isinstance(thing, type):
            return ["class", _name(thing)]
        if isinstance(thing, Expr | Boolean | Tuple):
            return self._expression(thing)
        name = _name(type(thing))
        if isinstance(thing, Theorem):  # its proof follows from the sources, which are in the fingerprint
            return [name, *(self.of(getattr(thing, part)) for part in ("name", "proposition", "hypotheses"))]
        if isinstance(thing, Enum):
            return [name, thing.name]
        if isinstance(thing, Fraction):
            return [name, str(thing)]
        if is_dataclass(thing):
            return [name, *([field.name, self.of(getattr(thing, field.name))] for field in fields(thing))]
        if type(thing) in (tuple, list):
            return [name, *map(self.of, thing)]  # type: ignore[call-overload]
        if isinstance(thing, Mapping):
            return [name, *([self.of(key), self.of(value)] for key, value in thing.items())]
        raise NoKey(name)

    def _expression(self, expr: Expr) -> object:
        if isinstance(expr, AppliedUndef):
            assumed = sorted(map(str, type(expr).default_assumptions.items()))
            return ["function", type(expr).__name__, assumed, *map(self.of, expr.args)]
        name = _name(type(expr))
        if isinstance(expr, Symbol):
            number = self._dummies.setdefault(expr, len(self._dummies)) if isinstance(expr, Dummy) else None
            return [name, expr.name, number, sorted(map(str, expr.assumptions0.items()))]
        if isinstance(expr, Rational):
            return [name, str(expr.p), str(expr.q)]
        if isinstance(expr, Atom) and not isinstance(type(expr), Singleton):
            raise NoKey(name)
        return [name, *map(self.of, expr.args)]


def _name(kind: type) -> str:
    if str(kind.__module__).partition(".")[0] not in COVERED:
        raise NoKey(kind.__qualname__)
    return f"{kind.__module__}.{kind.__qualname__}"
