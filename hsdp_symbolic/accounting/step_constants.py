"""`Constants`: for every kind of step of a run the Lipschitz constant proved for its update, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..errors import HsdpError
from ..meaning import Asks
from .losses import ScalarLoss
from .run import TrainingRun
from .timeline import Kind
from .update import Footing, Unclipped, standing_statement

MOST_FOOTINGS = 500
"""Learning rates for which it is looked up what the update does, where that depends on them in no simple way."""


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
    """By learning rate and by how full a batch may be."""

    found: dict[tuple[Fraction, Fraction], Constant]

    @classmethod
    def of(cls, run: TrainingRun, kinds: Iterable[Kind]) -> Constants:
        found: dict[tuple[Fraction, Fraction], Constant] = {}
        by_load: dict[Fraction, dict[Fraction, Kind]] = {}
        for kind in kinds:
            by_load.setdefault(kind.load, {}).setdefault(kind.eta, kind)
        for load, by_rate in by_load.items():
            way = _threshold if isinstance(run.update, (Unclipped, ScalarLoss)) else _one_by_one
            found |= {(eta, load): each for eta, each in way(run, load, by_rate).items()}
        return cls(found)

    def factor(self, kind: Kind) -> Fraction | None:
        return self.found[kind.eta, kind.load].value

    @property
    def known(self) -> bool:
        """Whether a constant is known for any step."""
        return any(each.value is not None for each in self.found.values())

    @property
    def reason(self) -> str:
        """Why there is none for some steps; empty if there is one for all."""
        return next((each.reason for each in self.found.values() if each.value is None), "")

    @property
    def footing(self) -> Footing:
        """That of the largest step for which a constant is known, if there is one."""
        known = {eta: each for (eta, _), each in self.found.items() if each.value is not None}
        return known[max(known)].footing if known else next(iter(self.found.values())).footing


def _threshold(run: TrainingRun, load: Fraction, kinds: dict[Fraction, Kind]) -> dict[Fraction, Constant]:
    """Smooth convex losses have one λ and β up to some learning rate, which is found by bisection.

    Beyond it another constant may be known, which depends on the rate: each is looked up by itself.
    """
    rates = sorted(kinds)
    tried: dict[Fraction, Constant] = {}

    def at(rate: Fraction) -> Constant:
        if rate not in tried:
            tried[rate] = _constant(run, load, kinds[rate])
        return tried[rate]

    good, bad = -1, len(rates)
    while bad - good > 1:
        middle = len(rates) - 1 if bad == len(rates) and not tried else (good + bad) // 2
        good, bad = (middle, bad) if at(rates[middle]).is_plain else (good, middle)
    found = _one_by_one(run, load, {rate: kinds[rate] for rate in rates[good + 1 :]})
    for rate in rates[: good + 1]:
        footing = tried[rates[good]].footing
        found[rate] = Constant(_contraction(footing, rate), "", footing)
    return found


def _one_by_one(run: TrainingRun, load: Fraction, kinds: dict[Fraction, Kind]) -> dict[Fraction, Constant]:
    found: dict[Fraction, Constant] = {}
    for rate, kind in kinds.items():
        if len(found) < MOST_FOOTINGS:
            found[rate] = _constant(run, load, kind)
        else:
            reason = f"for this loss a constant is looked up for {MOST_FOOTINGS} learning rates at most"
            found[rate] = Constant(None, reason, next(iter(found.values())).footing)
    return found


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
