"""The values of every statement that are kept: whatever is rebuilt must give the same numbers to the last bit.

Kept are both ends of certified enclosures by both engines, exact rationals, and the doubles of the NumPy view over
arrays. Text is kept to the last bit; numbers, of statements whose last bits depend on the machine, are near enough if
`same` says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from hsdp_symbolic import HsdpError, Setting, labels, statement
from hsdp_symbolic.evaluate.enclosure import Enclosure
from hsdp_symbolic.functions.gap_moment import GapMoment
from hsdp_symbolic.statement import Statement

VALUES = Path(__file__).parent / "values.json"

RUNS = {
    "figure": Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4),
    "logistic": Setting(n=480, b=24, K=12, eta="0.05", lam="0.04", beta="1.3", sigma="0.7", S_g=2),
    "full batch": Setting(n=30, b=30, K=25, eta="0.1", lam="0.5", beta=2, sigma="1.5", S_g=3),
}
ARGUMENTS = {
    "alpha": 6, "j0": 3, "j": 4, "k": 2, "t": "0.01", "c": "1.7", "L": 1, "R": "0.3", "dR": "0.1", "u": "0.2",
    "R1": "0.4", "R2": "0.7", "w1": "0.25", "sigma_mul": "1.3", "classes": 3, "kappa": "0.25", "bias": 1,
    "slope": "1.5", "beta0": 2, "lam0": "0.1", "eps_norm": "0.1", "removed": "0.6", "delta": "1e-5", "epsilon": 2,
    "split": 5, "hit": 1,
    "T": 5, "window": 4, "share": "0.5", "known": 1, "lipschitz": "1.02", "forgetting": 6, "noise_ratio": "1.5",
    "degree": 3,
}  # fmt: skip
ARRAYS = {"alpha": [2, "3.5", 20], "eta": ["0.001", "0.01", "0.05"], "K": [1, 2, 7]}


def arguments_of(found: Statement) -> dict[str, Any]:
    found_at = {name: ARGUMENTS[name] for name in found.needs if name in ARGUMENTS}
    return found_at | ({"epsilon": "0.02"} if found.is_profile and "epsilon" in found.needs else {})


def bits(x: Fraction) -> str:
    """Both ends of an enclosure may have thousands of digits: enough of them to tell any two apart."""
    return str(x) if x.denominator.bit_length() < 200 else f"{float(x).hex()} {hash(x)}"


def is_rough(found: Statement) -> bool:
    """Whether its values come from distributions on grids, or from scalar products, in which NumPy's order may vary."""
    return any(node.solves or node.free_at or isinstance(node, GapMoment) for node in found.functions)


def values_of(found: Statement) -> dict[str, Any]:
    """Every view of a statement at every run whose hypotheses hold; at one, if that takes distributions on a grid."""
    on_grids = any(node.solves for node in found.functions)
    return {name: values_at(found, run) for name, run in RUNS.items() if name == "figure" or not on_grids}


def values_at(found: Statement, run: Setting) -> dict[str, Any]:
    given, written = arguments_of(found), float if is_rough(found) else float.hex
    told: dict[str, Any] = {
        engine: attempt(lambda e=engine: ends(found, found.enclose(run, engine=e, rtol=rtol_of(found), **given)))
        for engine in ("arb", "mpmath")
    }
    told["exact"] = attempt(lambda: bits(found.exact(run, **given)))
    told["numeric"] = attempt(lambda: written(float(found.numeric(run, **given))))
    for letter, values in ARRAYS.items():
        if letter in found.needs:
            over = {**given, letter: values}
            told[f"numeric over {letter}"] = attempt(
                lambda over=over: [written(float(x)) for x in found.numeric(run, **over).ravel()]
            )
    return told


def same(kept: Any, found: Any) -> bool:
    """Whether a view is what it was: text to the last bit, numbers to six digits."""
    if isinstance(kept, dict) and isinstance(found, dict):
        return kept.keys() == found.keys() and all(same(kept[name], found[name]) for name in kept)
    if isinstance(kept, list) and isinstance(found, list):
        return len(kept) == len(found) and all(map(same, kept, found))
    if isinstance(kept, float) and isinstance(found, float):
        return math.isclose(kept, found, rel_tol=1e-6)
    return bool(kept == found)


def rtol_of(found: Statement) -> str:
    return found.rtol if Fraction(found.rtol) < Fraction(1, 10**9) else "0.05"


def ends(found: Statement, bracket: Enclosure) -> list[Any]:
    kept: Callable[[Fraction], Any] = float if is_rough(found) else bits
    return [kept(bracket.lo), kept(bracket.hi)]


def attempt(view: Any) -> Any:
    try:
        return view()
    except HsdpError as refusal:
        return type(refusal).__name__


def values_text() -> str:
    return json.dumps({label: values_of(statement(label)) for label in labels()}, indent=1) + "\n"


def kept() -> dict[Path, Callable[[], str]]:
    """Every kept file, and what makes its text."""
    return {VALUES: values_text}
