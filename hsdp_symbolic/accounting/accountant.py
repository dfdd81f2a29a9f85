"""`HiddenStateAccountant`: the accountant as an object that is told of every step, in the shape Opacus users know.

Guarantee: `get_epsilon` never returns less than the exact ε of the bound it uses, for the steps it was told of.
Learning rate and noise may change in mid-run, and iterates may be released on the way.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

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
from .planned import with_schedule
from .release import EVERY, LAST, checkpoints
from .run import TrainingRun, admit_divisor, admit_leftover, batches_in
from .schedule import Schedule, Stretch
from .several import Part, Total, delta_of_all, epsilon_of_all

if TYPE_CHECKING:
    from ..statement import Statement
    from .applicable import Refuse

MECHANISM = "hidden_state"


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
        regulariser: object = None,
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
            "regulariser": regulariser,
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
        self.learning_rates: list[tuple[object, int]] = []
        """(Learning rate, number of steps), where a step was told of one; None stands for that given here."""
        self._released_after: list[int] = []
        run = self._run(1, self._usual_rate() or 1, 1)  # so that bad facts are refused now
        bounds_for(run, self.scheme, self.neighbouring, _nothing)

    def step(self, *, noise_multiplier: object, sample_rate: object, learning_rate: object = None) -> None:
        """One update was made with this noise and sample rate; and learning rate, where it is not that given before."""
        to_fraction("noise_multiplier", noise_multiplier)
        exact_rate(sample_rate)
        if learning_rate is not None and self._facts["learning_rate"] is None:
            problem = "the accountant was made without one"
            raise ArgumentError("learning_rate", learning_rate, problem, "give HiddenStateAccountant the first one")
        alike = self.history and self.history[-1][:2] == (noise_multiplier, sample_rate)
        if not alike or learning_rate is not None:
            self._run(noise_multiplier, sample_rate, 1, learning_rate)
        self._note_rate(learning_rate, len(self))
        if alike:
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def _note_rate(self, learning_rate: object, told: int) -> None:
        """The learning rate of the step after so many."""
        if learning_rate is None and not self.learning_rates:
            return
        missing = told - sum(steps for _, steps in self.learning_rates)
        if missing:
            self.learning_rates.append((None, missing))
        if self.learning_rates and self.learning_rates[-1][0] == learning_rate:
            self.learning_rates[-1] = (learning_rate, self.learning_rates[-1][1] + 1)
        else:
            self.learning_rates.append((learning_rate, 1))

    def release(self) -> None:
        """The current iterate is made public; later steps are accounted for with it."""
        if not len(self):
            raise ArgumentError("release", 0, "no step was made yet", "call step() first; the start is public anyway")
        if len(self) not in self._released_after:
            self._released_after.append(len(self))

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

        Where composition is all there is, `note` says why.
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
        found["released_after"] = list(self._released_after)
        found["learning_rates"] = list(self.learning_rates)
        found["facts"] = self._fingerprint()
        return found

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Restore a history saved by an accountant that was constructed alike, or raise."""
        history, mechanism, facts, released_after, rates = _saved(state_dict)
        if mechanism != self.mechanism():
            raise ArgumentError(
                "state_dict", mechanism, "saved by another kind of accountant", "load it into one of that kind"
            )
        for name, value in self._fingerprint().items():
            if facts.get(name) != value:
                raise ArgumentError(
                    "state_dict", facts.get(name), f"its {name} differs from {value}", "use the same facts for one run"
                )
        before = self.history, self._released_after, self.learning_rates
        self.history = [_entry(entry) for entry in history]
        self._released_after, self.learning_rates = released_after, rates
        try:
            if self.history:
                self._parts()
            for name, steps in (("released_after", released_after), ("learning_rates", [sum(n for _, n in rates)])):
                if max(steps, default=0) > len(self):
                    problem = f"{len(self)} steps were made in all"
                    raise ArgumentError(name, max(steps), problem, "pass what state_dict() returned")
        except ArgumentError:
            self.history, self._released_after, self.learning_rates = before
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

    def _alike(self) -> Iterator[tuple[object, object, object, int]]:
        """Noise, sample rate, learning rate and number of steps: of steps that are alike, in order."""
        rates = [*self.learning_rates, (None, len(self))]
        place, left = 0, rates[0][1]
        for noise, sample_rate, steps in map(_entry, self.history):
            while steps:
                count = min(steps, left)
                if count:
                    yield noise, sample_rate, rates[place][0], count
                steps, left = steps - count, left - count
                if not left and place + 1 < len(rates):
                    place, left = place + 1, rates[place + 1][1]

    def _parts(self) -> list[Part]:
        """The run, from the history (which Opacus also writes itself).

        Where batches are drawn afresh, steps of different kinds and what follows a release are parts of their own.
        """
        if not self.history:
            raise ArgumentError("history", [], "no step was made yet", "call step() after every update")
        runs = [self._run(noise, sample, steps, rate) for noise, sample, rate, steps in self._alike()]
        shows = EVERY if self.released else checkpoints(*(each for each in self._released_after if each < len(self)))
        if len(runs) == 1 and (self.released or shows == LAST):
            return [Part(runs[0], self.scheme)]
        if self.scheme.draws_afresh:
            cuts = () if self.released else self._released_after
            return [Part(each, self.scheme) for each in _cut(runs, cuts)]
        schedule = Schedule.of(
            Stretch(_length(run, self.scheme), run.setting["eta"], run.setting["sigma2"], int(run.setting["b"]))
            for run in runs
        )
        return [Part(with_schedule(replace(runs[0], released=shows), schedule, lambda _: self._batches()), self.scheme)]

    def _run(
        self, noise_multiplier: object, sample_rate: object, steps: object, learning_rate: object = None
    ) -> TrainingRun:
        facts = {name: value for name, value in self._facts.items() if value is not None}
        if learning_rate is not None:
            facts["learning_rate"] = learning_rate
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


def _length(run: TrainingRun, scheme: Scheme) -> int:
    """How many steps it makes."""
    if run.steps is not None:
        return run.steps
    return int(run.setting["K"]) * (1 if scheme is Scheme.FULL_BATCH else run.batches())


def _cut(runs: Iterable[TrainingRun], ends: Iterable[int]) -> Iterator[TrainingRun]:
    """The same steps, in parts that end wherever an iterate was released."""
    cuts, done = sorted(ends), 0
    for run in runs:
        end = done + _length(run, Scheme.POISSON)
        for cut in (*(each for each in cuts if done < each < end), end):
            yield replace(run, setting=run.setting.replace(K=None), steps=cut - done)
            done = cut


_Saved: TypeAlias = tuple[list[object], str, Mapping[str, object], list[int], list[tuple[object, int]]]


def _saved(state_dict: object) -> _Saved:
    """History, mechanism, facts, releases and learning rates, from a saved accountant that may be damaged."""
    if not isinstance(state_dict, Mapping) or not {"history", "mechanism"} <= state_dict.keys():
        raise ArgumentError("state_dict", state_dict, "not a saved accountant", "pass what state_dict() returned")
    history, mechanism, facts = state_dict["history"], state_dict["mechanism"], state_dict.get("facts")
    released, rates = state_dict.get("released_after", []), state_dict.get("learning_rates", [])
    for name, value, shape in (
        ("history", history, list),
        ("mechanism", mechanism, str),
        ("facts", facts, Mapping),
        ("released_after", released, list),
        ("learning_rates", rates, list),
    ):
        if not isinstance(value, shape):
            problem = f"its {name} is damaged or missing"
            raise ArgumentError("state_dict", value, problem, "pass what state_dict() returned")
    pairs = [each if isinstance(each, (tuple, list)) and len(each) == 2 else (each, None) for each in rates]
    return (
        history,
        mechanism,
        state_dict["facts"],
        [admit_count("released_after", each) for each in released],
        [(rate, admit_count("learning_rates", steps)) for rate, steps in pairs],
    )


def _entry(entry: object) -> tuple[object, object, int]:
    """One entry of a history that may have been written by others."""
    if not isinstance(entry, (tuple, list)) or len(entry) != 3:
        raise ArgumentError(
            "history", entry, "not an entry of a history", "give (noise_multiplier, sample_rate, steps)"
        )
    noise, rate, steps = entry
    return noise, rate, admit_count("steps", steps)
