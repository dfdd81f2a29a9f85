"""The same run with its batches made in every way there is: what only the last iterate costs, what all iterates cost.

For each scheme a certified ε if only the last iterate is seen, one if every iterate is, a lower bound (the exact law of
a quadratic loss, below which no bound can be) and, for comparison, what the paper's own bound comes to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..accounting.bounds import Best, Bound, ProfileBound, RenyiBound
from ..accounting.candidates import apply
from ..accounting.conversion import Goal, admit_delta
from ..accounting.orders import best
from ..catalogue import statement
from ..errors import ArgumentError, HsdpError
from ..evaluate.enclosure import Enclosure
from ..experiment.quadratic_profile import quadratic_profile
from ..meaning import SCHEMES, Neighbouring, Scheme
from ..progress import Ticker
from ..setting import Setting
from ..setting.gate import Number
from ..standing import require_standing

DELTA = "1e-5"


def clipped(n: int, b: int, K: int, rate: str, z: int) -> Setting:
    """A run as libraries describe it: gradients clipped to norm 1, noise multiplier z, ηλ = `rate`; η = 0.1, β = 1.

    Replacing a record moves the sum of gradients by S_g = 2, and a step adds noise of standard deviation η·z/b.
    """
    eta = Fraction(1, 10)
    noise = eta * Fraction(z, b) ** 2 / 2
    return Setting(n=n, b=b, K=K, eta=eta, lam=Fraction(rate) / eta, beta=1, sigma_squared=noise, S_g=2)


RUNS: Mapping[str, Setting] = {
    "fig": Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4),
    "R1": clipped(60_000, 600, 20, "0.01", 4),
    "R2": clipped(60_000, 600, 200, "0.01", 4),
    "R3": clipped(60_000, 600, 50, "0.004", 3),
    "R5": clipped(60_000, 6000, 100, "0.02", 10),
    "million": clipped(10**6, 1000, 50, "0.001", 20),
    "large": clipped(1_228_800, 4096, 300, "0.001", 4),
}
"""Runs by name: that of the paper's figures, four of 60 000 records, and two large ones."""


@dataclass(frozen=True)
class Case:
    """One way of making batches, and the labels of what is said about it."""

    scheme: Scheme
    words: str
    hidden: str
    seen: str
    paper: str = ""
    """The paper's own bound, a Rényi divergence; empty where it has none."""
    exact: str = ""
    """The law of a quadratic loss, where that is a statement; elsewhere it is a mixture, in float64."""
    batch: int | None = None
    """Which batch holds the record, counted as Python counts, where the order is fixed."""


CASES = (
    Case(
        Scheme.FIXED,
        "fixed order, first batch",
        "gdp:cyclic",
        "gdp:composition:fixed",
        "thm:strconvexsmooth",
        "gdp:exact:fixed_order",
        0,
    ),
    Case(
        Scheme.FIXED,
        "fixed order, last batch",
        "gdp:cyclic",
        "gdp:composition:fixed",
        "thm:strconvexsmooth",
        "gdp:exact:fixed_order",
        -1,
    ),
    Case(
        Scheme.FULL_BATCH,
        "full batch",
        "gdp:gd",
        "gdp:composition:full_batch",
        "thm:GD_tighter",
        "gdp:exact:full_batch",
    ),
    Case(Scheme.SHUFFLE, "shuffled once", "profile:shuffle", "gdp:composition:fixed", "thm:shuffle"),
    Case(Scheme.RESHUFFLE, "reshuffled every epoch", "profile:reshuffle", "gdp:composition:fixed"),
    Case(
        Scheme.WITHOUT_REPLACEMENT,
        "without replacement",
        "profile:without_replacement",
        "profile:composition:without_replacement",
        "thm:amp_samp_wo_replacement",
    ),
    Case(Scheme.POISSON, "Poisson, add/remove", "profile:poisson", "profile:composition:poisson"),
    Case(Scheme.BALLS_IN_BINS, "balls in bins", "profile:balls_in_bins", "composition:balls_in_bins"),
)
"""Every scheme, in the order in which the tables list them."""


@dataclass(frozen=True)
class Row:
    """What one scheme costs: `hidden` and `seen` are never below their bounds, `lower` is never above the truth.

    A value is None where nothing is known; `refused` then says why, for each by its name.
    """

    case: Case
    run: str
    delta: Fraction
    hidden: Enclosure | None
    choices: Mapping[str, Fraction]
    """The letters that the hidden-state bound leaves free, as they were chosen: it holds whatever they are."""
    seen: Enclosure | None
    lower: Enclosure | None
    paper: Enclosure | None
    order: Fraction | float | None
    """The Rényi order at which the paper's bound was taken."""
    refused: Mapping[str, str]

    @property
    def by(self) -> str:
        """The statement that `hidden` is by: what every iterate costs, the last one costs at most."""
        return self.case.seen if self.hidden is not None and self.hidden is self.seen else self.case.hidden

    @property
    def neighbouring(self) -> Neighbouring:
        return self.case.scheme.neighbours[0]

    def record(self) -> dict[str, Any]:
        """Everything as plain data; upper values rounded up to doubles, lower ones down."""
        upper = {"hidden": self.hidden, "seen": self.seen, "paper": self.paper}
        return {
            "run": self.run,
            "scheme": str(self.case.scheme),
            "words": self.case.words,
            "neighbouring": str(self.neighbouring),
            "delta": str(self.delta),
            **{name: None if found is None else found.upper() for name, found in upper.items()},
            "lower": None if self.lower is None else self.lower.lower(),
            "statements": {"hidden": self.by, "seen": self.case.seen, "paper": self.case.paper or None},
            "choices": {name: str(value) for name, value in self.choices.items()},
            "order": None if self.order is None else float(self.order),
            "refused": dict(self.refused),
        }


def named_run(name: str) -> Setting:
    """One of `RUNS`, whatever the case of its letters."""
    known = {each.casefold(): run for each, run in RUNS.items()}
    if name.casefold() not in known:
        raise ArgumentError("run", name, "no such run", f"use one of {', '.join(RUNS)}")
    return known[name.casefold()]


def cases_of(scheme: str | None) -> tuple[Case, ...]:
    """The cases of one scheme, or all of them."""
    if scheme is not None and scheme not in SCHEMES:
        raise ArgumentError("scheme", scheme, "no such way of making batches", f"use one of {', '.join(SCHEMES)}")
    return tuple(case for case in CASES if scheme in (None, case.scheme))


def rows(
    run: Setting, *, name: str = "", delta: Number = DELTA, scheme: str | None = None, ticker: Ticker | None = None
) -> Iterator[Row]:
    """One row for each way of making batches, as they are found.

    >>> (row,) = rows(RUNS["fig"], scheme="shuffle")
    >>> row.hidden.decimals(7)[1], row.seen.decimals(4)[1], row.lower.decimals(4)[0]
    ('0.2611562', '2.595', '0.1249')
    """
    goal, ticker = Goal("epsilon", _small(delta)), ticker or Ticker()
    for case in cases_of(scheme):
        yield _row(case, run, name, goal, ticker)


def _small(delta: Number) -> Fraction:
    found = admit_delta(delta)
    if not 0 < found < 1:
        raise ArgumentError("delta", delta, "no ε is looked for there", "give a small number such as 1e-5")
    return found


def _row(case: Case, run: Setting, name: str, goal: Goal, ticker: Ticker) -> Row:
    found: dict[str, Best] = {}
    refused: dict[str, str] = {}
    asked = {"hidden": case.hidden, "seen": case.seen, "paper": case.paper, "lower": "the law of a quadratic loss"}
    for part, label in asked.items():
        if not label:
            continue
        ticker.say(f"{name or 'this run'}, {case.words}: {label}")
        try:
            if part == "lower":
                found[part] = Best(law_epsilon(case, run, goal.given), None)
            else:
                found[part] = _best(bound_of(label, run, case.batch), goal)
        except HsdpError as error:
            refused[part] = str(error)
    nothing = Best(None, None)
    hidden, seen, paper, lower = (found.get(part, nothing) for part in asked)
    if hidden.value is not None and seen.value is not None and seen.value.hi < hidden.value.hi:
        hidden = seen
    return Row(
        case, name, goal.given, hidden.value, hidden.choices, seen.value, lower.value, paper.value, paper.order, refused
    )


def bound_of(label: str, run: Setting, batch: int | None = None) -> Bound:
    """A statement applied to a run in which the differing record is in one batch, if it asks for that.

    S_g is that of replacing a record; one that is added or removed moves a sum by half of it.
    """
    found = require_standing(statement(label))
    if found.neighbouring is Neighbouring.ADD_REMOVE:
        run = run.replace(S_g=run["S_g"] / 2)
    bound = apply(found, "", run, None)
    if "j0" not in bound.statement.needs or batch is None:
        return bound
    return replace(bound, places=({**bound.places[0], "j0": _place(run, batch)},))


def _place(run: Setting, batch: int) -> int:
    """The index of a batch that is counted from either end."""
    return batch % int(run["n"] // run["b"])


def _best(bound: Bound, goal: Goal) -> Best:
    if isinstance(bound, ProfileBound):
        return bound.best(goal)
    assert isinstance(bound, RenyiBound)
    return best(bound, goal)


def law_epsilon(case: Case, run: Setting, delta: Fraction) -> Enclosure:
    """ε at δ of the exact law of a quadratic loss: a statement, or at most that, by float64."""
    if not run["S_g"]:
        return Enclosure(Fraction(0), Fraction(0))
    if case.exact:
        found = statement(case.exact)
        place = {} if case.batch is None else {"j0": _place(run, case.batch)}
        return found.epsilon(run, delta, **place)  # type: ignore[arg-type]
    if case.scheme.neighbours[0] is Neighbouring.ADD_REMOVE:
        # As for bounds: clipped to C = S_g/2, a gradient added moves the sum by C.
        run = run.replace(S_g=run["S_g"] / 2)
    value = Fraction(quadratic_profile(run, case.scheme).epsilon_below(delta))
    return Enclosure(value, value)
