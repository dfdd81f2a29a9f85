"""`Constants`: for every kind of step of a run the Lipschitz constant proved for its update, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from ..arithmetic.doubles import double_above
from ..errors import HsdpError
from ..meaning import Asks
from ..progress import Ticker
from ..setting.arrays import Array
from .columns import Columns
from .losses import ScalarLoss
from .run import TrainingRun
from .timeline import Kind
from .update import Footing, Unclipped, checked_once, standing_statement

MOST_FOOTINGS = 5000
"""Learning rates for which it is looked up what the update does, where that depends on them in no simple way."""

LAST_ONES = "for this loss a constant is looked up for {} learning rates at most, those of the last steps"


@dataclass(frozen=True)
class Constant:
    """A Lipschitz constant, or None and why none is known; and on what footing."""

    value: Fraction | None
    reason: str
    footing: Footing

    @property
    def is_plain(self) -> bool:
        """Whether it is 1 − ηλ for a smooth convex loss, λ being that of its regulariser."""
        return Asks.CONVEX in self.footing.provides and self.value == _contraction(self.footing)


@dataclass(frozen=True)
class Constants:
    """For every kind of step, by its place."""

    factor: Array
    """Never below the constant; infinite where none is known."""
    reason: str
    """Why there is none for some steps; empty if there is one for all."""
    footing: Footing
    """That of the largest step for which a constant is known, if there is one."""

    @classmethod
    def of(cls, run: TrainingRun, columns: Columns) -> Constants:
        kinds, reason, footings = columns.kinds, "", []
        factor = np.full(len(kinds), inf)
        by_load: dict[Fraction, list[int]] = {}
        for place, kind in enumerate(kinds):
            by_load.setdefault(kind.load, []).append(place)
        plain = isinstance(run.update, (Unclipped, ScalarLoss))
        for load, places in by_load.items():
            found = _Constants(run, load, columns, np.array(places))
            factor[places] = found.factors(plain)
            reason = reason or found.reason
            footings += found.footings
        return cls(factor, reason, max(footings, key=lambda each: each[:2])[2])

    @property
    def known(self) -> bool:
        """Whether a constant is known for any step."""
        return bool(np.any(np.isfinite(self.factor)))


class _Constants:
    """Those of kinds whose batches are as full."""

    def __init__(self, run: TrainingRun, load: Fraction, columns: Columns, places: Array) -> None:
        self._run, self._load, self._columns, self._places = run, load, columns, places
        self._tried: dict[Fraction, Constant] = {}
        self.reason = ""
        self.footings: list[tuple[bool, Fraction, Footing]] = []
        """Whether a constant is known, for which learning rate, and on what footing."""

    def at(self, place: int) -> Constant:
        kind = self._columns.kinds[place]
        if kind.eta not in self._tried:
            found = _constant(self._run, self._load, kind)
            self._tried[kind.eta] = found
            self.footings.append((found.value is not None, kind.eta, found.footing))
        return self._tried[kind.eta]

    def factors(self, plain: bool) -> Array:
        """Smooth convex losses have one λ and β up to some learning rate, which is found by bisection."""
        found = np.full(len(self._places), inf)
        rest = np.arange(len(self._places))
        settled = self._longest() if plain else None
        if settled is not None:
            longest = self._columns.kinds[settled].eta
            up_to = self._columns.eta[settled]
            rates = self._columns.eta[self._places]
            short = rates < up_to  # doubles nearest to numbers tell these apart, if they differ
            for place in np.flatnonzero(rates == up_to).tolist():
                short[place] = self._columns.kinds[self._places[place]].eta <= longest
            lam = self.at(settled).footing.setting.values().get("lam", Fraction(0))
            found[short] = self._columns.contraction(lam)[self._places[short]]
            rest = np.flatnonzero(~short)
        self._one_by_one(found, rest)
        return found

    def _longest(self) -> int | None:
        """A kind with the largest learning rate at which the constant is 1 − ηλ, if there is one."""
        order = self._places[np.argsort(self._columns.eta[self._places], kind="stable")].tolist()
        if self.at(order[-1]).is_plain:
            return int(order[-1])
        good, bad = -1, len(order) - 1
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self.at(order[middle]).is_plain else (good, middle)
        return None if good < 0 else int(order[good])

    def _one_by_one(self, into: Array, which: Array) -> None:
        """Each by itself; of too many rates, those of the last steps, which hide what earlier ones did."""
        ticker = Ticker()
        with checked_once():
            for place in reversed(which.tolist()):
                here = int(self._places[place])
                if len(self._tried) >= MOST_FOOTINGS and self._columns.kinds[here].eta not in self._tried:
                    self.reason = self.reason or LAST_ONES.format(MOST_FOOTINGS)
                    continue
                ticker.say(f"Lipschitz constants of {len(self._tried)} learning rates")
                constant = self.at(here)
                if constant.value is None:
                    self.reason = self.reason or constant.reason
                else:
                    into[place] = double_above(constant.value)
        ticker.clear()


def _constant(run: TrainingRun, load: Fraction, kind: Kind) -> Constant:
    """The constant of one kind of step."""
    setting = run.setting.replace(b=kind.b if run.setting["n"] >= kind.b else None, eta=kind.eta)
    setting = setting.replace(sigma_squared=kind.sigma2, K=1)
    footing = run.update.footing(setting, load)
    reason = footing.lacks
    for asked, name, value in _WAYS:
        if asked in footing.provides:
            constant, why = _try(name, footing, value)
            if constant is not None:
                return Constant(constant, "", footing)
            reason = reason or why
    return Constant(None, reason or "nothing is known of the update", footing)


def _contraction(footing: Footing, rate: Fraction | None = None) -> Fraction:
    """1 − ηλ, at the rate of the footing or another."""
    setting = footing.setting.values()
    return 1 - (setting["eta"] if rate is None else rate) * setting.get("lam", Fraction(0))


def _nothing(footing: Footing) -> Fraction:
    return Fraction(1)


def _expansion(footing: Footing) -> Fraction:
    return footing.setting["lipschitz"]


_Constant = Callable[[Footing], Fraction]
_WAYS: tuple[tuple[Asks, str, _Constant], ...] = (
    (Asks.CONTRACTION, "gdp:cyclic", _contraction),
    (Asks.CONVEX, "gdp:convex", _nothing),
    (Asks.LIPSCHITZ, "gdp:expanding", _expansion),
)
"""What must be known of an update, the statement whose hypotheses then give a constant, and that constant."""


def _try(label: str, footing: Footing, value: _Constant) -> tuple[Fraction | None, str]:
    """The constant, if the hypotheses of the statement hold; else why not."""
    try:
        standing_statement(label).point(footing.setting.replace(n=footing.setting["b"]), j0=0)
        return value(footing), ""
    except HsdpError as error:
        return None, str(error)
