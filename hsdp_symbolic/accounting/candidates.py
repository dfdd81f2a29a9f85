"""Which statements bound a run: all whose batches are made the same way, and some from which such a bound follows.

What decides is the `scheme` of a statement. Nothing here names a theorem, so a new one is found without being added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from ..catalogue import labels, scheme_of, statement
from ..errors import ArgumentError, HsdpError, MissingArgument, TooManySteps
from ..evaluate.enclosure import Enclosure
from ..meaning import SCHEMES, Neighbouring, Quantity, Released, Scheme
from ..setting import Setting
from ..setting.letters import LETTERS, PARAMETERS
from ..standing import described, require_standing
from ..statement import Statement
from .effort import NORMAL, Effort, certified_width, check_work, is_long, sketch

if TYPE_CHECKING:
    from ..setting.arrays import Array

MOST_BATCHES_TRIED = 1000
"""Where it is not proved which batch is the worst, all are tried, up to this number."""
NEGLIGIBLE = Fraction(1, 2**100)
"""An enclosure of α·R need not be narrower than this."""
LONG_MEAN = 10**4
"""Batches beyond which a mean over all of them is faster in the certified view than in float64."""
LONGEST_RECURSION = 5 * 10**4
"""Steps that a recursion may take before it is refused, unless it settles."""
_AVAILABLE = frozenset({letter.name for letter in PARAMETERS} | {"alpha", "j0"})
_BOUNDS_A_RUN = ("theorem", "corollary", "baseline")
"""Kinds of statement that bound a run; a law is about one loss, and an equation may be about one epoch."""
QUASI_CONVEX = "a random order costs no more than the worst fixed one (Rényi divergence is quasi-convex)"
ANY_ORDER = "composition holds whatever the order of the batches"
POISSON_TOO = "a Poisson batch also holds the record with probability b/n, independently of the rest"


@dataclass(frozen=True)
class Bound:
    """A statement applied to a run: R_α as a function of the order.

    `places` are the batches that may hold the record; the worst counts. `scale` is 1 unless the run has other than K
    whole epochs and the statement is proportional to their number.
    """

    statement: Statement
    setting: Setting
    places: tuple[Mapping[str, int], ...]
    scale: Fraction
    neighbouring: Neighbouring
    why: str = ""
    rtol: Fraction | None = None
    """The relative width to enclose R_α to, for what is computed on a grid; None for the default of the statement."""

    @property
    def label(self) -> str:
        return self.statement.label

    @property
    def hidden_state(self) -> bool:
        """Whether the bound fails if intermediate iterates are seen."""
        return needs_hidden_state(self.statement)

    @property
    def same_laws(self) -> bool:
        """Whether S_g = 0, so that neighbouring datasets give the same output."""
        return self.setting["S_g"] == 0

    @property
    def sampled(self) -> bool:
        """Whether sampled Gaussian mechanisms are summed, which takes long at high orders."""
        return any(node.slow_at_high_orders for node in self.statement.functions)

    @property
    def sketched(self) -> bool:
        """Whether `numeric` is a sketch (`effort.sketch`), which is cheaper over fewer orders."""
        return is_long(self.statement)

    def enclose(self, alpha: Fraction) -> Enclosure:
        """R_α, bracketed; an error where the statement's hypotheses fail."""
        # (α − 1)·R is what matters: digits of a tiny R below that are not worth their time.
        atol = NEGLIGIBLE / (alpha * max(Fraction(1), self.scale))
        found = [
            self.statement.enclose_at(self.setting, {"alpha": alpha, **place}, rtol=self.rtol, atol=atol)
            for place in self.places
        ]
        return Enclosure(self.scale * max(each.lo for each in found), self.scale * max(each.hi for each in found))

    def numeric(self, alphas: Array) -> Array:
        """R_α in float64, for the search; infinite where the statement says nothing or doubles do not suffice."""
        import numpy as np

        if self._is_long_mean:
            return np.array([self._double(alpha) for alpha in alphas.tolist()])
        if self.sketched:
            return self._sketch(alphas)
        try:
            found = [self.statement.numeric(self.setting, alpha=alphas, **place) for place in self.places]
        except HsdpError:
            if alphas.size == 1 or np.isinf(self.numeric(alphas[:1])[0]):  # larger orders fail as well
                return np.full(alphas.size, np.inf)
            half = alphas.size // 2
            return np.concatenate([self.numeric(alphas[:half]), self.numeric(alphas[half:])])
        worst: Array = np.maximum.reduce(found) * float(self.scale)
        return worst

    def _sketch(self, alphas: Array) -> Array:
        import numpy as np

        try:
            return sketch(self.statement, self.setting, alphas) * float(self.scale)
        except HsdpError:
            return np.full(alphas.size, np.inf)

    @property
    def _is_long_mean(self) -> bool:
        """Whether float64 would add up very many batches one by one, which the certified view need not do."""
        every_term = any(node.doubles_take_every_term for node in self.statement.functions)
        return every_term and self.setting["n"] // self.setting["b"] > LONG_MEAN

    def _double(self, alpha: float) -> float:
        try:
            return self.enclose(Fraction(alpha)).upper()
        except HsdpError:
            return math.inf


def needs_hidden_state(found: Statement) -> bool:
    """Whether a statement bounds the last iterate only."""
    return found.released is Released.LAST


def check_scheme(scheme: object) -> Scheme:
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ArgumentError("scheme", scheme, "no such way of making batches", f"use one of {', '.join(SCHEMES)}")
    return Scheme(scheme)


def check_neighbouring(scheme: Scheme, neighbouring: object) -> Neighbouring:
    """The neighbouring relation to account for; for Poisson sampling both exist and add_remove is the default."""
    if neighbouring is None:
        return Neighbouring.ADD_REMOVE if scheme == Scheme.POISSON else Neighbouring.REPLACE_ONE
    if not isinstance(neighbouring, str) or neighbouring not in list(Neighbouring):
        raise ArgumentError("neighbouring", neighbouring, "no such relation", f"use {' or '.join(Neighbouring)}")
    if neighbouring == Neighbouring.ADD_REMOVE and scheme != Scheme.POISSON:
        raise ArgumentError(
            "neighbouring",
            str(neighbouring),
            f"no statement for {scheme} covers it",
            "use replace_one, or scheme poisson",
        )
    return Neighbouring(neighbouring)


@cache
def statements_of(scheme: Scheme, released: Released | None = None) -> tuple[Statement, ...]:
    """The upper bounds stated for `scheme`, as functions of a setting, an order and a batch; their proofs stand.

    With `released`, only those that hold when these iterates may be seen; no other is derived.
    """
    found = (statement(label) for label in labels() if scheme_of(label) == scheme and _may_bound(label, released))
    wanted = (each for each in found if _bounds_a_run(each) and released in (None, each.released))
    return tuple(map(require_standing, wanted))


def _may_bound(label: str, released: Released | None) -> bool:
    """Whether a statement may qualify, by what is recorded of it; `_bounds_a_run` asks the statement itself."""
    about = described(label)
    return about["kind"] in _BOUNDS_A_RUN and released in (None, about["released"])


def _bounds_a_run(found: Statement) -> bool:
    return (
        found.kind in _BOUNDS_A_RUN
        and found.quantity is Quantity.DIVERGENCE
        and found.relation != ">="
        and _AVAILABLE.issuperset(found.needs)
    )


def covering(scheme: Scheme, neighbouring: Neighbouring) -> Iterator[tuple[Statement, str]]:
    """Statements that bound a run under `scheme`, each with the reason where it is stated for another."""
    for found in statements_of(scheme):
        if found.neighbouring == neighbouring:
            yield found, ""
    if scheme == Scheme.SHUFFLE:
        for found in statements_of(Scheme.FIXED):
            yield found, QUASI_CONVEX if needs_hidden_state(found) else ANY_ORDER
    elsewhere = {Scheme.RESHUFFLE: (Scheme.FIXED, ANY_ORDER), Scheme.POISSON: (Scheme.WITHOUT_REPLACEMENT, POISSON_TOO)}
    if scheme in elsewhere and neighbouring == Neighbouring.REPLACE_ONE:
        other, why = elsewhere[scheme]
        yield from ((found, why) for found in statements_of(other, Released.EVERY))


def apply(found: Statement, why: str, setting: Setting, steps: int | None, effort: Effort = NORMAL) -> Bound:
    """`found` for this run, or an error that says why it does not apply, `TooMuchWork` if the `effort` forbids it.

    `steps` is None where the run is K whole epochs.
    """
    for name in found.needs:
        letter = "sigma2" if name == "sigma" else name
        if letter not in setting and name not in ("alpha", "j0") and not (name == "K" and steps is not None):
            raise MissingArgument(found.label, name, LETTERS[name].meaning)
    scale = Fraction(1)
    if steps is not None and "K" in found.needs:
        setting, scale = _partial_epochs(found, setting, steps)
    _check_length(found, setting)
    check_work(found, setting, effort)
    relation = found.neighbouring
    assert relation is not None
    if relation is Neighbouring.ADD_REMOVE:  # clipped to C = S_g/2, a gradient added or removed moves the sum by C
        setting = setting.replace(S_g=setting["S_g"] / 2)
    return Bound(found, setting, _places(found, setting), scale, relation, why, certified_width(found, setting, effort))


def _partial_epochs(found: Statement, setting: Setting, steps: int) -> tuple[Setting, Fraction]:
    """For a number of steps: a setting of whole epochs, and what to multiply its bound by."""
    from ..symbols import K

    batches = int(setting["n"] // setting["b"]) if found.scheme is not Scheme.FULL_BATCH else 1
    if steps % batches == 0:
        return setting.replace(K=steps // batches), Fraction(1)
    if needs_hidden_state(found):
        raise ArgumentError(
            "steps",
            steps,
            f"{found.label} holds at the end of an epoch of n/b = {batches} steps",
            f"stop at steps = {max(1, steps // batches) * batches}",
        )
    if found.scheme.draws_afresh and not (found.expr / K).has(K):
        return setting.replace(K=1), Fraction(steps, batches)
    return setting.replace(K=-(-steps // batches)), Fraction(1)  # a record is used at most once in each epoch begun


def _check_length(found: Statement, setting: Setting) -> None:
    """Refuse a recursion that, at the rate of ηλ a step, neither ends nor settles within a reasonable time."""
    if any(node.is_recursion for node in found.functions):
        steps = int(setting["K"] * (1 if found.scheme is Scheme.FULL_BATCH else setting["n"] // setting["b"]))
        if steps > LONGEST_RECURSION and setting["eta"] * setting["lam"] * LONGEST_RECURSION < 20:
            raise TooManySteps(steps, "a recursion")


def _places(found: Statement, setting: Setting) -> tuple[Mapping[str, int], ...]:
    """The batches among which the worst is, for a statement about a record in batch j0."""
    if "j0" not in found.needs:
        return ({},)
    last = int(setting["n"] // setting["b"]) - 1
    candidates = _worst_places(found, last)
    if candidates is None:
        if last >= MOST_BATCHES_TRIED:
            raise ArgumentError(
                "n/b", last + 1, f"it is not known for which batch {found.label} is worst", "use fewer batches"
            )
        candidates = range(last + 1)
    return tuple({"j0": place} for place in candidates)


def _worst_places(found: Statement, last: int) -> Sequence[int] | None:
    """The batches that can be worst, by the proved trend of the statement in j0; None if no trend is proved."""
    from sympy import Eq, Piecewise

    from ..evaluate.trend import trend
    from ..functions.interface import Trend
    from ..symbols import N, j0

    response = trend(found.expr, j0)
    if response is not None:
        return (last,) if response is Trend.UP else (0,)
    ends = [case for case in found.expr.atoms(Piecewise) if case.args[0].cond == Eq(j0, N - 1)]
    inside = found.expr.subs({case: case.args[1].expr for case in ends})
    if ends and trend(inside, j0) is Trend.UP:  # rising up to the batch before the last, which is a case of its own
        return tuple({max(0, last - 1), last})
    return None
