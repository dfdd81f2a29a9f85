"""`hsdp soundness`: random settings from all over the domain, every statement, two engines; nothing may be violated.

For each case the certified view of one engine is held against the other engine at more than twice the precision:
the truth must lie inside `enclose`, `upper` must not be below it nor more than 2 ulp above, `lower` likewise.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import cycle, islice

from hsdp_symbolic import Setting
from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.errors import ArgumentError, HypothesisError, PrecisionExhausted, TooManySteps, ValueTooLarge
from hsdp_symbolic.evaluate.enclosure import Enclosure
from hsdp_symbolic.progress import Ticker
from hsdp_symbolic.setting.letters import ARGUMENTS
from hsdp_symbolic.statement import STATEMENT_RTOL, Statement

SETTINGS_PER_PIECE = 250
MOST_DRAWS = 10
"""For one setting within the hypotheses of a statement."""
Exact = int | Fraction
TRUTH_RTOL = Fraction(1, 10**45)


@dataclass
class Tally:
    """What came out: cases compared, by statement; cases refused, by error; settings outside hypotheses; violations."""

    effective: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    violations: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.effective += other.effective
        self.refused += other.refused
        self.outside += other.outside
        self.violations += other.violations


def soundness(cases: int = 100_000, seed: int = 0, jobs: int | None = None) -> Tally:
    """Draw until `cases` settings have been compared; the same settings for a seed, whatever the number of jobs."""
    for name, value in (("cases", cases), ("seed", seed), ("jobs", 1 if jobs is None else jobs)):
        if isinstance(value, bool) or not isinstance(value, int) or value < (0 if name == "seed" else 1):
            raise ArgumentError(
                name, value, "not a suitable whole number", "give e.g. --cases 100000 --seed 0 --jobs 2"
            )
    total, ticker, chunk = Tally(), Ticker(), 0
    with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        while total.effective.total() < cases:
            missing = math.ceil((cases - total.effective.total()) / SETTINGS_PER_PIECE)
            batch = range(chunk, chunk + missing)
            chunk += missing
            for found in pool.map(_chunk, [(seed, number) for number in batch]):
                total.add(found)
                ticker.say(f"{total.effective.total():,} of {cases:,} cases, {len(total.violations)} violations")
    ticker.clear()
    return total


def report(tally: Tally) -> str:
    """The tally as text."""
    lines = [f"{label:40} {count:8,}" for label, count in sorted(tally.effective.items())]
    refused = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.refused.items())) or "none"
    return "\n".join(
        [
            *lines,
            f"{'effective cases':40} {tally.effective.total():8,}",
            f"outside a hypothesis {tally.outside:,}; refused with an error: {refused}",
            *tally.violations,
            f"violations: {len(tally.violations)}",
        ]
    )


def _chunk(task: tuple[int, int]) -> Tally:
    seed, number = task
    rng, tally = random.Random(f"{seed}/{number}"), Tally()
    in_turn = list(statements())  # each as often as any other
    rng.shuffle(in_turn)
    for found in islice(cycle(in_turn), SETTINGS_PER_PIECE):
        for _ in range(MOST_DRAWS):
            run, extra = _split(_draw(rng, found))
            try:
                verdict = faults_at(found, run, extra)
            except HypothesisError:
                tally.outside += 1
                continue
            except (TooManySteps, PrecisionExhausted, ValueTooLarge) as error:
                tally.refused[type(error).__name__] += 1
            else:
                tally.effective[found.label] += 1
                if verdict:
                    tally.violations.append(f"{found.label} at {run}, {extra}: {verdict}")
            break
    return tally


def faults_at(found: Statement, run: Setting, extra: dict[str, Exact]) -> str:
    """What is wrong with the certified views at one setting; empty if nothing is."""
    bracket = found.enclose_at(run, extra)
    if found.rtol != STATEMENT_RTOL:  # known on a grid only: another grid must agree
        other = found.enclose_at(run, extra, rtol="1/400")
        return "" if bracket.overlaps(other) else f"{other} on a finer grid, outside {bracket}"
    finer = min(TRUTH_RTOL, bracket.relative_width / 10**6) or TRUTH_RTOL
    truth = found.enclose_at(run, extra, rtol=finer, engine="mpmath")
    if not (bracket.lo <= truth.hi and truth.lo <= bracket.hi):
        return f"truth {truth} outside {bracket}"
    if bracket.lo < bracket.hi and not (bracket.lo <= truth.lo and truth.hi <= bracket.hi):
        return f"truth {truth} not inside {bracket}"
    return _rounding(bracket.upper(), truth, up=True) or _rounding(bracket.lower(), truth, up=False)


def _rounding(double: float, truth: Enclosure, *, up: bool) -> str:
    """What is wrong with a rounded double, which must be on its side of the truth, and near; empty if nothing is."""
    edge = truth.lo if up else truth.hi
    far = Fraction(math.nextafter(math.inf, 0))
    if math.isinf(double):
        return "" if abs(edge) >= far else f"infinite bound for {truth}"
    if (Fraction(double) < edge) if up else (Fraction(double) > edge):
        return f"{'upper' if up else 'lower'} {double!r} on the wrong side of {truth}"
    if abs(edge) < far and abs(Fraction(double) - edge) > 2 * Fraction(math.ulp(double)):
        return f"{'upper' if up else 'lower'} {double!r} more than 2 ulp from {truth}"
    return ""


def _draw(rng: random.Random, found: Statement) -> dict[str, Exact]:
    """A value for every letter a statement needs, log-uniform, mostly within its limits and hypotheses."""

    def between(low: float, high: float) -> Fraction:
        return Fraction(repr(math.exp(rng.uniform(math.log(low), math.log(high)))))

    def count(low: int, high: float) -> int:
        drawn = int(math.exp(rng.uniform(math.log(low), math.log(high))))
        return rng.choice([low, low + 1, drawn, drawn, drawn, drawn])

    slow = _SLOW.get(found.label, {})
    lam = between(1e-6, 1e6)
    batches, b = count(2, slow.get("batches", 1e9)), count(1, 1e5)
    step = rng.choice([between(1e-15, 0.98), between(1e-3, 0.98)])
    orders = [1 + between(1e-6, slow.get("order", 1e5)), Fraction(count(2, slow.get("order", 1e5)))]
    order, steps = rng.choice(orders), count(1, slow.get("steps", 1e3))
    drawn: dict[str, Callable[[], Exact]] = {
        "n": lambda: batches * b + rng.randrange(b),
        "b": lambda: b,
        "K": lambda: count(1, slow.get("epochs", 1e12)),
        "eta": lambda: step / lam,
        "lam": lambda: lam,
        "beta": lambda: lam * rng.choice([Fraction(1), 1 + between(1e-6, 1e-2)]),
        "sigma": lambda: between(1e-6, 1e6),
        "S_g": lambda: Fraction(0) if rng.random() < 0.05 else between(1e-6, 1e6),
        "lipschitz": lambda: 1 + rng.choice([Fraction(0), between(1e-12, 1), between(1, 1e6)]),
        "alpha": lambda: order,
        "j0": lambda: rng.choice([0, batches - 1, rng.randrange(batches)]),
        "j": lambda: rng.randint(1, batches - 1),
        "split": lambda: rng.choice([1, batches, rng.randint(1, batches)]),
        "k": lambda: count(1, slow.get("epochs", 1e12)) - 1,
        "L": lambda: rng.choice([between(1e-6, 1), between(1e-6, 1e6)]),
        "w1": lambda: rng.choice([Fraction(1), between(1e-12, 1)]),
        "classes": lambda: count(2, 1000),
        "bias": lambda: rng.randrange(2),
        "hit": lambda: rng.randrange(2),
        "T": lambda: steps,
        "window": lambda: rng.randint(1, min(steps, 200)),
        "share": lambda: between(1e-2, 0.99),
        "known": lambda: rng.randint(1, 2),
        "forgetting": lambda: count(1, 1e6),
        "degree": lambda: max(1, math.ceil(order) - 1),
        "epsilon": lambda: between(1e-9, slow.get("epsilon", 1e9)),
    }
    case = {name: drawn[name]() if name in drawn else between(1e-9, 1e9) for name in found.needs}
    if "cost" in slow and "sigma" in case:  # keep e^(α(α−1)ρ₀), or μ₀², where the slow engine or a grid can follow
        of_order = "alpha" in case
        wanted = between(1e-25 if of_order else 1e-6, slow["cost"])
        reached = Fraction(math.ceil(order)) if "whole" in slow else order  # the order whose value it is
        rho = wanted / (reached * (reached - 1) if of_order else 2)
        case["S_g"] = case["S_g"] and Fraction(1)
        case["sigma"] = Fraction(repr(float(case["eta"] / (4 * rho * b * b)) ** 0.5))
    return case


_SLOW: dict[str, dict[str, float]] = {
    "thm:shuffle": {"batches": 2e3},
    "shuffle:factor": {"batches": 2e3},
    "shift:shuffle": {"batches": 2e3},
    "cor:logistic": {"batches": 2e3},
    "thm:amp_samp_wo_replacement": {"batches": 100, "epochs": 20, "cost": 1e3},
    "thm:amp_samp_wo_replacement:limit": {"cost": 30},
    "thm:GD_tighter:recursion": {"epochs": 2e3},
    "mironov2019": {"order": 200, "cost": 1e3},
    "moments:without_replacement": {"batches": 30, "epochs": 4, "cost": 1e2},
    "split:capped": {"batches": 30, "epochs": 10, "cost": 1e3},
    "control:without_replacement": {"batches": 30, "epochs": 10, "cost": 1e3},
    "control:reshuffle": {"batches": 30, "epochs": 10, "cost": 1e3},
    "profile:shuffle": {"batches": 50, "cost": 10, "epsilon": 1},
    "profile:shuffle:expanding": {"batches": 50, "cost": 10, "epsilon": 1},
    "expanding:reshuffle": {"batches": 10, "epochs": 8, "order": 50, "cost": 50},
    "profile:reshuffle:expanding": {"batches": 30, "epochs": 10, "cost": 1, "epsilon": 1},
    "profile:reshuffle": {"batches": 30, "epochs": 30, "cost": 1, "epsilon": 1},
    "profile:without_replacement": {"batches": 100, "steps": 30, "cost": 1, "epsilon": 0.3},
    "profile:poisson": {"batches": 100, "steps": 30, "cost": 1, "epsilon": 0.3},
    "profile:composition:without_replacement": {"batches": 100, "steps": 100, "cost": 1, "epsilon": 0.3},
    "profile:composition:poisson": {"batches": 100, "steps": 100, "cost": 1, "epsilon": 0.3},
    "profile:composition:poisson_replace": {"batches": 100, "steps": 100, "cost": 1, "epsilon": 0.3},
    "secret:without_replacement": {"steps": 30, "order": 20, "cost": 10},
    "secret:poisson": {"steps": 30, "order": 20, "cost": 10},
    "seen:without_replacement": {"order": 20, "cost": 10},
    "profile:balls_in_bins": {"batches": 30, "steps": 30, "epochs": 100, "order": 20, "cost": 0.05, "epsilon": 0.3},
    "secret:balls_in_bins": {"batches": 30, "steps": 30, "epochs": 100, "order": 20, "cost": 10, "whole": 1},
    "composition:balls_in_bins": {"batches": 30, "order": 20, "cost": 10},
    "seen:poisson_replace": {"order": 20, "cost": 10},
}
"""Limits for statements that mpmath sums or iterates term by term, or that are known on a grid.

"whole": the value is that at the next whole order. Everything else is drawn from the whole domain.
"""


def _split(case: dict[str, Exact]) -> tuple[Setting, dict[str, Exact]]:
    extra = {letter.name for letter in ARGUMENTS}
    run = {name: value for name, value in case.items() if name not in extra}
    return Setting(**run), {name: value for name, value in case.items() if name in extra}
