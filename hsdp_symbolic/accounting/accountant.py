"""`HiddenStateAccountant`: the accountant as an object that is told of every step, in the shape Opacus users know.

Guarantee: `get_epsilon` never returns less than the exact ε of the bound it uses, for the steps it was told of. What no
hidden-state bound covers raises: a parameter that changes in mid-run, a step after a release.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..meaning import Scheme
from ..setting.gate import to_fraction
from .applicable import bounds_for
from .bounds import needs_hidden_state
from .candidates import check_neighbouring, check_scheme
from .conversion import admit_delta, admit_epsilon
from .counts import admit_count
from .guarantee import Guarantee, delta, epsilon
from .library import exact_rate, training_run
from .run import TrainingRun, admit_divisor, admit_leftover, batches_in
from .several import Part, Total, delta_of_all, epsilon_of_all

if TYPE_CHECKING:
    from ..statement import Statement
    from .applicable import Refuse

MECHANISM = "hidden_state"
_WHAT_COMPOSES = (
    "what does compose: (1) all iterates released, HiddenStateAccountant(…, released=True), which accounts by "
    "composition; (2) end this run here, begin another from the released iterate with an accountant of its own (and "
    "batches shuffled anew), and add the two with hsdp_symbolic.accounting.epsilon_of_all"
)


class DoesNotCompose(ArgumentError):
    """No hidden-state bound covers what was done; the message says what to do instead."""

    def __init__(self, argument: str, value: object, problem: str) -> None:
        super().__init__(argument, value, problem, _WHAT_COMPOSES)


class HiddenStateAccountant:
    """Counts the steps of one training run and gives its certified ε.

    What holds for the whole run is given here: how batches are made (`scheme`), the dataset's size `n` and the
    `batch_size` (under Poisson sampling composition does without), the clip norm (`max_grad_norm` or `clip_norm`), what
    becomes of records that fill no batch (`leftover`, and then the `divisor`), and what hidden-state bounds need
    besides: `learning_rate`, `weight_decay` and the `loss`, as for `training_run`. With `released=True` every iterate
    may be seen, and composition alone is used.

    >>> from hsdp_symbolic.accounting import logistic
    >>> accountant = HiddenStateAccountant(
    ...     scheme="shuffle", n=1344, batch_size=64, learning_rate="0.5", max_grad_norm=1, weight_decay="0.01",
    ...     loss=logistic(feature_norm=1),
    ... )
    >>> for _ in range(15 * 21):
    ...     accountant.step(noise_multiplier=8, sample_rate=1 / 21)
    >>> round(accountant.get_epsilon(delta=1e-5), 6)
    0.918539
    """

    history: list[tuple[object, object, int]]
    """(noise multiplier, sample rate, number of steps), as in Opacus."""

    def __init__(
        self,
        *,
        scheme: str,
        n: int | None = None,
        batch_size: int | None = None,
        learning_rate: object = None,
        max_grad_norm: object = None,
        clip_norm: object = None,
        weight_decay: object = None,
        loss: object = None,
        optimizer: object = None,
        leftover: object = None,
        divisor: object = None,
        lam: object = None,
        beta: object = None,
        neighbouring: str | None = None,
        released: bool = False,
    ) -> None:
        self.scheme = check_scheme(scheme)
        self.neighbouring = check_neighbouring(self.scheme, neighbouring)
        if not isinstance(released, bool):
            raise ArgumentError("released", released, "neither True nor False", "give one of the two")
        self.released = released
        if self.scheme is Scheme.FULL_BATCH and batch_size is None:
            batch_size = n
        if (n is None) != (batch_size is None) or (n is None and self.scheme is not Scheme.POISSON):
            name = "n" if n is None else "batch_size"
            raise ArgumentError(name, None, f"scheme {scheme} needs it", f"pass {name}=…")
        n = None if n is None else admit_count("n", n)
        batch_size = None if batch_size is None else admit_count("batch_size", batch_size)
        if self.scheme is Scheme.FULL_BATCH and batch_size != n:
            raise ArgumentError("batch_size", batch_size, f"a full batch holds all n = {n} records", "leave it out")
        self._facts: dict[str, object] = {
            "learning_rate": learning_rate,
            "max_grad_norm": max_grad_norm,
            "clip_norm": clip_norm,
            "weight_decay": weight_decay,
            "loss": loss,
            "optimizer": optimizer,
            "leftover": leftover,
            "divisor": divisor,
            "lam": lam,
            "beta": beta,
        }
        self._n, self._batch_size = n, batch_size
        self._leftover = None if leftover is None else admit_leftover(leftover)
        self.history = []
        self._released_after: int | None = None
        run = self._run(1, self._usual_rate() or 1, 1)  # so that bad facts are refused now
        bounds_for(run, self.scheme, self.neighbouring, _nothing)

    def step(self, *, noise_multiplier: object, sample_rate: object) -> None:
        """One update was made with this noise and sample rate."""
        to_fraction("noise_multiplier", noise_multiplier)
        exact_rate(sample_rate)
        if self._released_after is not None and not self.released:
            raise DoesNotCompose(
                "release",
                self._released_after,
                f"the iterate after {self._released_after} steps was released, and hidden-state bounds hold for runs "
                "of which only the last iterate is seen",
            )
        if self.history:
            noise, rate, steps = self.history[-1]
            if noise == noise_multiplier and rate == sample_rate:
                self.history[-1] = (noise, rate, steps + 1)
                return
            self._check_change(noise_multiplier, sample_rate)
        self._run(noise_multiplier, sample_rate, 1)
        self.history.append((noise_multiplier, sample_rate, 1))

    def release(self) -> None:
        """The current iterate is made public. It ends the run: unless `released=True`, a later step raises."""
        if not len(self):
            raise ArgumentError("release", 0, "no step was made yet", "call step() first; the start is public anyway")
        self._released_after = len(self)

    def get_epsilon(
        self, delta: object, *, orders: Iterable[object] | None = None, alphas: Iterable[object] | None = None
    ) -> float:
        """The certified ε of the steps so far; 0 before the first. `alphas` is Opacus' name for `orders`."""
        if not self.history:
            admit_delta(delta)
            return 0.0
        if orders is not None and alphas is not None:
            raise ArgumentError("alphas", alphas, "orders is given too", "give one of the two")
        return self.guarantee(delta, orders=alphas if orders is None else orders).epsilon

    def get_delta(self, epsilon: object, *, orders: Iterable[object] | None = None) -> float:
        """The certified δ of the steps so far, at `epsilon`; 0 before the first."""
        if not self.history:
            admit_epsilon("epsilon", epsilon)
            return 0.0
        parts, relation, refuse = self._parts(), self.neighbouring, self._refuse()
        if len(parts) > 1:
            return delta_of_all(parts, epsilon=epsilon, neighbouring=relation, orders=orders, refuse=refuse).delta
        (part,) = parts
        return delta(
            part.run, epsilon=epsilon, scheme=self.scheme, neighbouring=relation, orders=orders, refuse=refuse
        ).delta

    def guarantee(self, delta: object, *, orders: Iterable[object] | None = None) -> Guarantee | Total:
        """As `get_epsilon`, with the bound used, its hypotheses and all that was considered.

        Most hidden-state bounds hold at the end of an epoch. Within one, composition may be all there is: see `note`.
        """
        parts, relation, refuse = self._parts(), self.neighbouring, self._refuse()
        if len(parts) > 1:
            return epsilon_of_all(parts, delta=delta, neighbouring=relation, orders=orders, refuse=refuse)
        (part,) = parts
        return epsilon(part.run, delta=delta, scheme=self.scheme, neighbouring=relation, orders=orders, refuse=refuse)

    def __len__(self) -> int:
        """Number of steps so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return MECHANISM

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """The history, for a checkpoint, and what the accountant was constructed with, to be compared on loading."""
        found: MutableMapping[str, object] = OrderedDict() if destination is None else destination
        found["history"] = deepcopy(self.history)
        found["mechanism"] = self.mechanism()
        found["released_after"] = self._released_after
        found["facts"] = self._fingerprint()
        return found

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Restore a history saved by an accountant that was constructed alike, or raise."""
        history, mechanism, facts, released_after = _saved(state_dict)
        if mechanism != self.mechanism():
            raise ArgumentError(
                "state_dict", mechanism, "saved by another kind of accountant", "load it into one of that kind"
            )
        for name, value in self._fingerprint().items():
            if facts.get(name) != value:
                raise ArgumentError(
                    "state_dict", facts.get(name), f"its {name} differs from {value}", "use the same facts for one run"
                )
        before = self.history, self._released_after
        self.history, self._released_after = [_entry(entry) for entry in history], released_after
        try:
            if self.history:
                self._parts()
            if self._released_after not in (None, len(self)) and not self.released:
                raise DoesNotCompose("released_after", self._released_after, f"{len(self)} steps were made in all")
        except ArgumentError:
            self.history, self._released_after = before
            raise

    def _fingerprint(self) -> dict[str, str]:
        """The facts as exact text, so that they can be compared after any kind of storage."""
        run = self._run(1, self._usual_rate() or 1, 1)
        told = {"update": run.update, "leftover": run.leftover, "divisor": run.divisor, "released": self.released}
        return {
            "scheme": self.scheme.value,
            "neighbouring": self.neighbouring.value,
            **{name: str(fact) for name, fact in told.items()},
            **run.setting.replace(K=None).exact_strings(),
        }

    def _refuse(self) -> Refuse | None:
        """Where every iterate is released, the rule that refuses hidden-state statements."""
        return _hidden if self.released else None

    def _batches(self) -> int:
        if self._n is None or self._batch_size is None:
            return 1
        return batches_in(self._n, self._batch_size, self._leftover)

    def _usual_rate(self) -> Fraction | None:
        return None if self._n is None or self._batch_size is None else Fraction(self._batch_size, self._n)

    def _check_change(self, noise_multiplier: object, sample_rate: object) -> None:
        """Whether the parameters of a step may differ from those before."""
        noise, rate, _ = self.history[-1]
        name, old, new = (
            ("noise_multiplier", noise, noise_multiplier)
            if noise != noise_multiplier
            else ("sample_rate", rate, sample_rate)
        )
        if not self.released:
            raise DoesNotCompose(
                name,
                new,
                f"it was {old} for {len(self)} steps, and hidden-state bounds hold for runs of one kind of step",
            )
        if not self.scheme.draws_afresh and len(self) % self._batches():
            raise ArgumentError(
                name, new, f"it changes within an epoch of {self._batches()} steps", "change it at the end of an epoch"
            )

    def _parts(self) -> list[Part]:
        """The run, from the history (which Opacus also writes itself)."""
        if not self.history:
            raise ArgumentError("history", [], "no step was made yet", "call step() after every update")
        if len(self.history) > 1 and not self.released:
            raise DoesNotCompose("history", self.history, "parameters change in mid-run")
        parts = [Part(self._run(*_entry(entry)), self.scheme) for entry in self.history]
        for part in parts[:-1]:
            if not self.scheme.draws_afresh and isinstance(part.run, TrainingRun) and part.run.steps is not None:
                raise ArgumentError(
                    "history", self.history, "parameters change within an epoch", "change them at the end of an epoch"
                )
        return parts

    def _run(self, noise_multiplier: object, sample_rate: object, steps: object) -> TrainingRun:
        facts = {name: value for name, value in self._facts.items() if value is not None}
        if self.scheme is Scheme.POISSON:  # of which the rate of the steps is what counts
            divisor = admit_divisor(facts.pop("divisor", None))
            self._check_rate(sample_rate)
            rate = exact_rate(sample_rate)
            run = training_run(noise_multiplier=noise_multiplier, sample_rate=rate, steps=steps, **facts)
            return replace(run, divisor=divisor or self._batch_size, records=self._n)
        run = training_run(
            noise_multiplier=noise_multiplier, n=self._n, batch_size=self._batch_size, steps=steps, **facts
        )
        self._check_rate(sample_rate)
        return run

    def _check_rate(self, sample_rate: object) -> None:
        """Refuse a sample rate other than that of `n` and `batch_size`: the batches are then not what was said."""
        rate, usual = exact_rate(sample_rate), self._usual_rate()
        if usual is None:
            return
        allowed = {usual, Fraction(1, self._batches())}
        if self.scheme is Scheme.POISSON:  # a loader of ⌈n/b⌉ batches
            allowed.add(Fraction(1, math.ceil(1 / usual)))
        if not any(abs(rate - each) <= each / 10**12 for each in allowed):
            problem = f"batches of {self._batch_size} from n = {self._n} have rate {usual}"
            remedy = "say how the batches were really made: n, batch_size, and leftover if the last batch is shorter"
            raise ArgumentError("sample_rate", sample_rate, problem, remedy)


def _hidden(found: Statement) -> str:
    """Rules out statements about runs of which only the last iterate is seen."""
    return "every iterate may be seen" if needs_hidden_state(found) else ""


def _nothing(found: Statement) -> str:
    """Rules out every statement, so that `bounds_for` looks at the run and at nothing else."""
    return "only the facts of the run are looked at"


def _saved(state_dict: object) -> tuple[list[object], str, Mapping[str, object], int | None]:
    """History, mechanism, facts and what was released, from a saved accountant that may be damaged."""
    if not isinstance(state_dict, Mapping) or not {"history", "mechanism"} <= state_dict.keys():
        raise ArgumentError("state_dict", state_dict, "not a saved accountant", "pass what state_dict() returned")
    history, mechanism = state_dict["history"], state_dict["mechanism"]
    facts, released_after = state_dict.get("facts"), state_dict.get("released_after")
    for name, value, shape in (
        ("history", history, list),
        ("mechanism", mechanism, str),
        ("facts", facts, Mapping),
        ("released_after", released_after, int | None),
    ):
        if not isinstance(value, shape):
            problem = f"its {name} is damaged or missing"
            raise ArgumentError("state_dict", value, problem, "pass what state_dict() returned")
    return history, mechanism, state_dict["facts"], released_after


def _entry(entry: object) -> tuple[object, object, int]:
    """One entry of a history that may have been written by others."""
    if not isinstance(entry, (tuple, list)) or len(entry) != 3:
        raise ArgumentError(
            "history", entry, "not an entry of a history", "give (noise_multiplier, sample_rate, steps)"
        )
    noise, rate, steps = entry
    return noise, rate, admit_count("steps", steps)
