"""The bounds against the algorithm they are about: simulated chains, and exact laws of the quadratic loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from sympy import Ge, Rational
from sympy.core.relational import Relational

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.catalogue import labels
from hsdp_symbolic.experiment.attack import FIGURE, LIKE, Attack, attack, is_target, suited
from hsdp_symbolic.experiment.bound_and_truth import BoundAndTruth, bound_and_truth
from hsdp_symbolic.experiment.quadratic_profile import quadratic_profile
from hsdp_symbolic.proof.checks import Check, Evidence, Method, Verdict
from hsdp_symbolic.symbols import R, bound

from ..claim import Claim, Group

_FAST = Setting(n=2, b=1, K=2, eta="0.95", lam=1, beta="1.05", sigma=1, S_g="1/2")
"""Contracts so fast that little stays hidden: here the bounds are within a small factor of the truth."""
_ANY_SIZE = _FAST.replace(eta="0.4", beta="1.2")
"""The same for batches whose size is left to chance, however large they are."""
_LOGISTIC = Setting(n=4, b=1, K=2, eta="0.5", lam="0.5", S_g=1)
_LETTERS: dict[str, Any] = {"alpha": 2, "j0": 1, "L": 1, "sigma_mul": 4, "classes": 2, "eps_norm": 0}
SAMPLES = 20_000
_GRID = 1e-6
"""What densities on a grid may be wrong by: bounds that are attained are compared with them."""


@dataclass(frozen=True)
class Simulated(Check):
    """The bound, times `scale`, is not below the interval that simulated chains give."""

    label: str
    run: Setting
    scale: Fraction = Fraction(1)
    seed: int = 0

    def verify(self) -> Evidence:
        found = self._compared()
        most = found.bound * float(self.scale)
        scope = f"{SAMPLES:,} chains, seed {self.seed}, {self.run}, alpha = 2"
        seen = f"estimate {found.estimate:.4g} in [{found.ci[0]:.4g}, {found.ci[1]:.4g}], bound {most:.4g}"
        verdict = Verdict.CONSISTENT if most >= found.ci[0] else Verdict.REFUTED
        return Evidence(Method.SIMULATION, verdict, scope, seen)

    def _compared(self) -> BoundAndTruth:
        return _compared(self.label, self.run, self.seed)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        found = self._compared()
        yield "a bound just below the interval", replace(self, scale=Fraction(found.ci[0] / found.bound * 0.99))

    def formula(self) -> Relational:
        return Ge(bound * Rational(*self.scale.as_integer_ratio()), R, evaluate=False)


@cache
def _compared(label: str, run: Setting, seed: int) -> BoundAndTruth:
    return bound_and_truth(label, run, samples=SAMPLES, seed=seed, **_LETTERS)


@dataclass(frozen=True)
class Survives(Check):
    """No quadratic loss found, with curvatures the statement allows, has an exact divergence above the bound."""

    label: str
    run: Setting
    alpha: int
    place: int | None
    scale: Fraction = Fraction(1)

    def verify(self) -> Evidence:
        found = _attacked(self.label, self.run, self.alpha, self.place)
        most = found.bound.hi * self.scale
        seen = f"worst divergence {found.found:.6g} ({found.instance}), bound {float(most):.6g}"
        verdict = Verdict.CONSISTENT if Fraction(found.found) <= most * (1 + Fraction(1, 10**9)) else Verdict.REFUTED
        return Evidence(Method.SIMULATION, verdict, f"{self.run}, alpha = {self.alpha}", seen)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        found = _attacked(self.label, self.run, self.alpha, self.place)
        yield "a bound just below the worst instance", replace(self, scale=Fraction(0.99 / found.ratio))

    def formula(self) -> Relational:
        return Ge(bound * Rational(*self.scale.as_integer_ratio()), R, evaluate=False)


@dataclass(frozen=True)
class AboveQuadratic(Check):
    """δ at ε, times `scale`, is not below that of the quadratic loss, whose two laws are known."""

    label: str
    run: Setting
    epsilon: str
    scale: Fraction = Fraction(1)

    def verify(self) -> Evidence:
        most, true = self._both()
        verdict = Verdict.CONSISTENT if true <= most * float(self.scale) * (1 + _GRID) else Verdict.REFUTED
        seen = f"δ of the quadratic loss {true:.6g}, bound {most * float(self.scale):.6g}"
        return Evidence(Method.SIMULATION, verdict, f"{self.run}, epsilon = {self.epsilon}", seen)

    def _both(self) -> tuple[float, float]:
        return _above(self.label, self.run, self.epsilon)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        most, true = self._both()
        yield "a bound just below the quadratic loss", replace(self, scale=Fraction(0.99 * true / most))

    def formula(self) -> Relational:
        return Ge(bound * Rational(*self.scale.as_integer_ratio()), R, evaluate=False)


@cache
def _above(label: str, run: Setting, epsilon: str) -> tuple[float, float]:
    found = statement(label)
    first: dict[str, Any] = {"j0": 0} if "j0" in found.needs else {}
    exact = quadratic_profile(run, found.scheme).delta(float(Fraction(epsilon)))
    return found.delta(suited(run, found), epsilon, **first).upper(), exact


@cache
def _attacked(label: str, run: Setting, alpha: int, place: int | None) -> Attack:
    return attack(label, run, alpha, place=place)


def groups() -> tuple[Group, ...]:
    return tuple(partial(_of, label) for label in labels())


def _of(label: str) -> list[Claim]:
    """A bound against simulated chains and against the worst quadratic loss; nothing where there is no algorithm."""
    bound = statement(label)
    if bound.is_profile and not bound.scheme:
        return []
    if bound.is_profile and bound.kind != "law":
        says = "δ is not below that of the quadratic loss"
        check = AboveQuadratic(label, FIGURE.replace(K=10), "1/100")
        return [Claim(f"{label}/quadratic", label, "not in the paper", says, check)]
    if not is_target(bound):
        return []
    scheme = bound.scheme
    run: Any = _LOGISTIC if label == "cor:logistic" else _ANY_SIZE if scheme in LIKE else _FAST
    if label == "eqn:proof_strongly_convex_first_epoch":
        run = run.replace(K=1)
    says = f"the bound holds for simulated descent with {scheme.replace('_', ' ')} batches"
    found = [Claim(f"{label}/simulated", label, "not in the paper", says, Simulated(label, run))]
    if label != "cor:logistic":
        says = "no quadratic loss found exceeds the bound"
        if scheme == "fixed":
            first = Survives(label, FIGURE.replace(K=1), 15, 0)
            found.append(Claim(f"{label}/attacked-first", label, "not in the paper", f"{says}, first batch", first))
        last = Survives(label, run, 2, 1 if scheme == "fixed" else None)
        found.append(Claim(f"{label}/attacked", label, "not in the paper", says, last))
    return found
