"""Hidden-state runs for Google's dp-accounting: an event that describes a run, and an accountant that composes runs.

What composes is whole runs, each of which releases its last iterate; the steps inside a run do not.

>>> from hsdp_symbolic.accounting import logistic
>>> event = HiddenStateDpEvent(
...     scheme="shuffle", noise_multiplier=8, n=1344, batch_size=64, epochs=15, learning_rate="0.5",
...     weight_decay="0.01", loss=logistic(feature_norm=1),
... )
>>> round(HiddenStatePrivacyAccountant().compose(event).get_epsilon(1e-5), 6)
0.918539
"""

from __future__ import annotations

import enum
import math
from typing import Any

import attr
from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from ..accounting.applicable import bounds_for
from ..accounting.candidates import check_scheme
from ..accounting.conversion import admit_delta, admit_epsilon
from ..accounting.counts import admit_count
from ..accounting.library import training_run
from ..accounting.run import TrainingRun, admit_leftover
from ..accounting.several import Part, delta_of_all, epsilon_of_all
from ..errors import ArgumentError
from ..meaning import Neighbouring
from ..setting.gate import to_fraction

RELATIONS = {
    NeighboringRelation.REPLACE_ONE: Neighbouring.REPLACE_ONE,
    NeighboringRelation.ADD_OR_REMOVE_ONE: Neighbouring.ADD_REMOVE,
    NeighboringRelation.REPLACE_SPECIAL: Neighbouring.ZERO_OUT,
}
"""dp-accounting's relations and ours."""


class Scheme(enum.Enum):
    """How batches are made; an enum, because dp-accounting's named tuples of an event do not keep text."""

    FIXED = "fixed"
    SHUFFLE = "shuffle"
    RESHUFFLE = "reshuffle"
    WITHOUT_REPLACEMENT = "without_replacement"
    FULL_BATCH = "full_batch"
    POISSON = "poisson"
    BALLS_IN_BINS = "balls_in_bins"

    @property
    def neighbours(self) -> tuple[Neighbouring, ...]:
        """The neighbouring relations that statements about it know, the usual one first."""
        return check_scheme(self.value).neighbours


@attr.s(frozen=True, slots=True, auto_attribs=True, kw_only=True)
class HiddenStateDpEvent(dp_event.DpEvent):
    """Noisy mini-batch gradient descent of which only the last iterate is seen.

    `epochs` of ⌊n/batch_size⌋ steps θ ← θ − learning_rate·((Σ clipped gradients + noise)/batch_size + gradient of the
    regulariser), gradients clipped to `max_grad_norm`, noise of standard deviation noise_multiplier·max_grad_norm;
    batches are made by `scheme` (a `Scheme` or its name). `weight_decay` (added after clipping), `loss`, `leftover` and
    `divisor` are as for `hsdp_symbolic.accounting.training_run`; without a loss only composition is used.
    """

    scheme: Any
    noise_multiplier: Any
    n: int
    batch_size: int
    epochs: int
    learning_rate: Any = None
    max_grad_norm: Any = 1
    weight_decay: Any = None
    loss: Any = None
    leftover: Any = None
    divisor: Any = None

    def __attrs_post_init__(self) -> None:
        """Numbers become exact, and an impossible run is refused."""
        if not isinstance(self.scheme, Scheme):
            object.__setattr__(self, "scheme", Scheme(check_scheme(self.scheme)))
        for name in ("noise_multiplier", "learning_rate", "max_grad_norm", "weight_decay"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else to_fraction(name, value))
        if self.leftover is not None:
            object.__setattr__(self, "leftover", admit_leftover(self.leftover))
        run = self.run()
        relation = self.scheme.neighbours[-1]  # there may be several; the run is looked at alike
        bounds_for(run, self.scheme.value, relation, lambda _: "only the facts of the run are looked at")
        if self.scheme is Scheme.FULL_BATCH and run.setting["b"] != run.setting["n"]:
            raise ArgumentError(
                "batch_size", self.batch_size, f"a full batch holds all n = {self.n} records", "give batch_size = n"
            )

    def run(self) -> TrainingRun:
        """The run this describes, in exact numbers."""
        told = {each.name: getattr(self, each.name) for each in attr.fields(type(self)) if each.name != "scheme"}
        return training_run(**told)


class HiddenStatePrivacyAccountant(PrivacyAccountant):
    """Composes `HiddenStateDpEvent`s; certified, never below the bound used.

    Neighbouring datasets differ in one record, replaced; or, if all runs draw their batches by Poisson sampling or as
    balls in bins, in one record added or removed (`NeighboringRelation.ADD_OR_REMOVE_ONE`). `REPLACE_SPECIAL` is for
    one record whose gradient is left out.
    """

    def __init__(self, neighboring_relation: NeighboringRelation = NeighboringRelation.REPLACE_ONE) -> None:
        if neighboring_relation not in RELATIONS:
            raise ArgumentError(
                "neighboring_relation",
                neighboring_relation,
                "hidden-state bounds are for datasets that differ in one record",
                "use NeighboringRelation.REPLACE_ONE, REPLACE_SPECIAL or, for Poisson sampling, ADD_OR_REMOVE_ONE",
            )
        super().__init__(neighboring_relation)
        self._counts: dict[HiddenStateDpEvent, int] = {}
        self._non_private = False

    @property
    def _relation(self) -> Neighbouring:
        return RELATIONS[self.neighboring_relation]

    def _maybe_compose(
        self, event: dp_event.DpEvent, count: int, do_compose: bool
    ) -> PrivacyAccountant.CompositionErrorDetails | None:
        match event:
            case dp_event.NoOpDpEvent():
                return None
            case dp_event.NonPrivateDpEvent():
                self._non_private |= do_compose and count > 0
                return None
            case dp_event.SelfComposedDpEvent():
                return self._maybe_compose(event.event, event.count * count, do_compose)
            case dp_event.ComposedDpEvent():
                found = (self._maybe_compose(each, count, do_compose) for each in event.events)
                return next((error for error in found if error is not None), None)
            case HiddenStateDpEvent() if self._relation not in event.scheme.neighbours:
                added = self._relation is Neighbouring.ADD_REMOVE
                return PrivacyAccountant.CompositionErrorDetails(
                    invalid_event=event,
                    error_message="batches of a fixed size know no record added or removed: use REPLACE_ONE"
                    if added
                    else "balls in bins know no record replaced: use ADD_OR_REMOVE_ONE",
                )
            case HiddenStateDpEvent():
                if do_compose and count:
                    self._counts[event] = self._counts.get(event, 0) + admit_count("count", count)
                return None
        return PrivacyAccountant.CompositionErrorDetails(
            invalid_event=event,
            error_message=(
                "a hidden-state run is one HiddenStateDpEvent, and composes with other whole runs only: single steps "
                "do not compose under a hidden-state bound; for them use dp_accounting.rdp.RdpAccountant"
            ),
        )

    def _parts(self) -> list[Part]:
        return [Part(event.run(), event.scheme.value, count) for event, count in self._counts.items()]

    def get_epsilon(self, target_delta: float) -> float:
        """The certified ε of everything composed so far, at `target_delta`."""
        probability = admit_delta(target_delta)
        if self._non_private:
            return math.inf
        if not self._counts:
            return 0.0
        if not probability:
            return math.inf  # as the library's own accountants say it
        return epsilon_of_all(self._parts(), delta=probability, neighbouring=self._relation).epsilon

    def get_delta(self, target_epsilon: float) -> float:
        """The certified δ of everything composed so far, at `target_epsilon`."""
        loss = admit_epsilon("target_epsilon", target_epsilon)
        if self._non_private:
            return 1.0
        return delta_of_all(self._parts(), epsilon=loss, neighbouring=self._relation).delta if self._counts else 0.0
