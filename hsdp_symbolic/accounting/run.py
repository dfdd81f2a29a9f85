"""`TrainingRun`: what was run. A certificate is about a run, so everything that it depends on has to be said here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from ..errors import ArgumentError
from ..meaning import Asks, Released, Scheme
from ..setting import Setting
from ..setting.gate import admit_positive
from ..statement import Statement
from .counts import admit_count
from .losses import DECLARED
from .release import LAST, Release, admit_release
from .schedule import Schedule, admit_batch_size
from .update import Clipped, Footing, Unclipped, Update


class Leftover(StrEnum):
    """What becomes of the n mod b records that fill no batch."""

    DROPPED = "dropped"
    """They are not used in that epoch."""
    PARTIAL = "partial"
    """They make a shorter batch, the last of the epoch."""
    BLANK = "blank"
    """They make a batch that is filled up with records without gradient."""
    REPEATED = "repeated"
    """They make a batch that is filled up with other records, which are then used twice."""


ACTUAL = "actual"
"""As a divisor: every sum of gradients, and its noise, is divided by the number of records in that very batch."""


@dataclass(frozen=True)
class TrainingRun:
    """What was run: the exact setting, what its update does, and what became of records that fill no batch.

    `steps` is given where the run is not K whole epochs. `divisor` is what a sum of gradients and its noise are divided
    by, unless that is b; σ² in `setting` is as if it were b. A bare `Setting` stands for
    `TrainingRun(setting)`: the paper's algorithm, gradients unclipped.
    """

    setting: Setting
    steps: int | None = None
    update: Update = field(default_factory=Unclipped)
    leftover: Leftover | None = None
    divisor: int | str | None = None
    only_rate: bool = False
    """Whether n and b stand for the rate b/n of Poisson sampling alone."""
    records: int | None = None
    """How many records there are then, if that is known."""
    schedule: Schedule | None = None
    """The steps, where they are not all alike; `setting` then has no letter that changes."""
    released: Release = LAST
    """Which iterates may be seen."""
    projection: Fraction | None = None
    """The diameter of a convex set onto which every iterate is projected, after the noise."""
    accumulated: int = 1
    """How many batches are added up for one step; b is what they hold together."""

    def __post_init__(self) -> None:
        if not isinstance(self.setting, Setting):
            raise ArgumentError("setting", self.setting, "not a Setting", "give Setting(n=…)")
        object.__setattr__(self, "steps", None if self.steps is None else admit_count("steps", self.steps))
        if not isinstance(self.update, (Unclipped, Clipped, *DECLARED)):
            raise ArgumentError("update", self.update, "not a description of an update", "give Unclipped() or a loss")
        if not isinstance(self.update, Unclipped) and "beta" in self.setting:
            raise ArgumentError("beta", self.setting["beta"], "the loss says how smooth it is", "leave it out")
        if self.leftover is not None:
            object.__setattr__(self, "leftover", admit_leftover(self.leftover))
        object.__setattr__(self, "divisor", admit_divisor(self.divisor))
        object.__setattr__(self, "records", None if self.records is None else admit_count("records", self.records))
        if self.records is not None and not self.only_rate:
            raise ArgumentError("records", self.records, "n says how many there are", "leave it out")
        if self.divisor is not None and isinstance(self.update, Unclipped):
            raise ArgumentError("divisor", self.divisor, "the paper's step is a mean over the batch", "leave it out")
        object.__setattr__(self, "accumulated", admit_count("accumulate", self.accumulated))
        object.__setattr__(self, "released", admit_release(self.released))
        if self.projection is not None:
            object.__setattr__(self, "projection", admit_positive("projection", self.projection))
        if self.schedule is not None:
            self._check_schedule(self.schedule)

    def _check_schedule(self, schedule: Schedule) -> None:
        if not isinstance(schedule, Schedule):
            raise ArgumentError("schedule", schedule, "not a Schedule", "give Schedule.of([Stretch(…), …])")
        for name in ("n", "S_g"):
            if name not in self.setting:
                raise ArgumentError(name, None, "a schedule is given without it", f"give {name}")
        for size in self.sizes:
            admit_batch_size("b", size, int(self.setting["n"]))
        for each in schedule.stretches:
            if each.steps < 1 or each.eta <= 0 or each.sigma2 <= 0:
                problem = "without steps, or with no learning rate or noise above 0"
                raise ArgumentError("schedule", each, problem, "leave it out, or give numbers > 0")
        for letter in ("eta", "sigma2", "K"):
            if letter in self.setting:
                raise ArgumentError(letter, self.setting[letter], "the schedule says it", "leave it out")
        if self.steps != schedule.steps:
            problem = f"the schedule says what {schedule.steps} steps do"
            raise ArgumentError("steps", self.steps, problem, f"give steps = {schedule.steps}")

    def has_leftover(self) -> bool:
        return "n" in self.setting and "b" in self.setting and self.setting["n"] % self.setting["b"] != 0

    @property
    def load(self) -> Fraction:
        """The largest batch divided by what its sum of gradients is divided by, and at least 1."""
        if not isinstance(self.divisor, int) or not self.sizes:
            return Fraction(1)
        size = Fraction(max(self.sizes))
        if self.only_rate:  # b/n is all that b and n say
            size = size / self.setting["n"] * self.records if self.records is not None else Fraction(1)
        return max(Fraction(1), size / self.divisor)

    @property
    def sizes(self) -> frozenset[int]:
        """How large batches are, as far as that is said."""
        if self.schedule is not None:
            return frozenset(each.b for each in self.schedule.stretches)
        return frozenset({int(self.setting["b"])} if "b" in self.setting else ())

    def footing(self) -> Footing:
        """What is known of the update; where steps differ, of that with the largest learning rate."""
        return self.update.footing(self.typical, self.load)

    @property
    def typical(self) -> Setting:
        """The setting; where steps differ, that of a step with the largest learning rate."""
        if self.schedule is None:
            return self.setting
        step = self.schedule.largest
        return self.setting.replace(b=step.b, eta=step.eta, sigma_squared=step.sigma2)

    @property
    def is_plain(self) -> bool:
        """Whether all steps are alike, only the last iterate is seen, and nothing is projected."""
        return self.shows_the_last and self.projection is None

    @property
    def shows_the_last(self) -> bool:
        """Whether all steps are alike, and only the last iterate is seen."""
        return self.schedule is None and self.released == LAST

    def batches(self) -> int:
        """Steps in an epoch."""
        return batches_in(int(self.setting["n"]), int(self.setting["b"]), self.leftover)

    def with_epochs(self, K: int) -> TrainingRun:
        if self.schedule is not None:
            raise ArgumentError("epochs", K, "the schedule says how long the run is", "give runs of other lengths")
        return replace(self, setting=self.setting.replace(K=K), steps=None)


def batches_in(n: int, b: int, leftover: Leftover | None) -> int:
    """Steps in an epoch: ⌊n/b⌋, and one more where what is left over makes a batch of its own."""
    return -(-n // b) if leftover in (Leftover.PARTIAL, Leftover.BLANK) else n // b


def as_run(run: object) -> TrainingRun:
    """A run, or an error; a setting alone is a run of the paper's algorithm."""
    if isinstance(run, Setting):
        return TrainingRun(run)
    if isinstance(run, TrainingRun):
        return run
    raise ArgumentError(
        "run",
        run,
        f"a {type(run).__name__} does not describe a run",
        "pass Setting(n=…) or training_run(noise_multiplier=…)",
    )


def not_said_what_is_left(run: TrainingRun, size: int, left: int) -> ArgumentError:
    """The error where b does not divide n, and it was not said what becomes of the rest."""
    if run.leftover is Leftover.REPEATED:
        return ArgumentError(
            "leftover",
            run.leftover.value,
            "a record that fills up a batch is used twice in an epoch, which no statement covers",
            "drop what is left over (drop_last), or fill up with records without gradient ('blank')",
        )
    return ArgumentError(
        "leftover",
        None,
        f"n = {run.setting['n']} is no multiple of the batch size {size}: {left} of them are left over in every epoch",
        "say what becomes of them: 'dropped', 'partial' (a shorter batch) or 'blank' (a batch filled up with "
        "records without gradient)",
    )


def admit_divisor(divisor: object) -> int | str | None:
    if divisor is None or (isinstance(divisor, str) and divisor == ACTUAL):
        return divisor
    if isinstance(divisor, str):
        raise ArgumentError("divisor", divisor, "neither a number nor 'actual'", "give a whole number, or 'actual'")
    return admit_count("divisor", divisor)


def admit_leftover(leftover: object) -> Leftover:
    try:
        return Leftover(leftover)  # type: ignore[arg-type]
    except ValueError:
        ways = ", ".join(Leftover)
        raise ArgumentError("leftover", leftover, "not a way to treat leftover records", f"use one of {ways}") from None


@dataclass(frozen=True)
class Covered:
    """What statements are applied to in place of a run: steps that are all alike and cost at least as much.

    `words` say how it differs from the run; `uncovered`, unless empty, why no hidden-state statement covers it.
    """

    run: TrainingRun
    footing: Footing
    words: tuple[str, ...]
    uncovered: str
    composed: Setting | None = None
    """Where it differs, the setting that composition is applied to."""
    uneven: bool = False
    """Whether every epoch is shuffled anew, and its last batch holds a record with less chance than the others."""

    @property
    def setting(self) -> Setting:
        """The setting, with the λ and β of the update."""
        return self.footing.setting

    def setting_for(self, found: Statement) -> Setting:
        """The setting that a statement is applied to."""
        return self.setting if self.composed is None or found.released is Released.LAST else self.composed


def cover(run: TrainingRun, scheme: Scheme) -> Covered:
    """What statements are applied to in place of `run`, or an error where it is not known what was run.

    A shorter batch whose sum is divided by the same number as the others' has the same sensitivity and noise, and no
    larger smoothness: it costs what a full one does. It is the last of its epoch, where a record costs most, and holds
    the record with less than an equal chance. So ⌈n/b⌉ full batches cost at least as much. A batch divided by its own
    size has a noise of its own: composition covers it, and what looks at every step (`scheduled`). In the paper's
    letters, where the noise does not depend on the size of a batch, nothing does.
    """
    _check_accumulated(run, scheme)
    if run.schedule is not None:
        if scheme.draws_afresh:
            _check_none_left(run, scheme)
        _check_unclipped(run)
        return Covered(run, run.footing(), (), "")
    if scheme is Scheme.POISSON:
        return _poisson(run)
    words: list[str] = []
    uncovered, setting = "", run.setting
    if not scheme.goes_through_epochs:
        uncovered = _drawn_afresh(run, scheme)
    elif {"n", "b"} <= setting.values().keys():
        if run.has_leftover():
            setting, uncovered = _with_leftover(run, words)
        setting = _in_units_of_the_divisor(run, setting, words)
    footing = _that_never_expands(run.update.footing(setting, run.load))
    uneven = scheme is Scheme.RESHUFFLE and run.has_leftover() and run.leftover is not Leftover.DROPPED
    return Covered(run, footing, tuple(words), uncovered, uneven=uneven)


def _that_never_expands(footing: Footing) -> Footing:
    """Steps on smooth convex losses are 1-Lipschitz if not too long; that matters where they do not contract."""
    setting = footing.setting
    if Asks.CONVEX not in footing.provides or not {"eta", "beta"} <= setting.values().keys() or "lipschitz" in setting:
        return footing
    contracts = "lam" in setting and setting["eta"] * (setting["lam"] + setting["beta"]) < 2
    if contracts or setting["eta"] * setting["beta"] >= 2:
        return footing
    return replace(footing, setting=setting.replace(lipschitz=1), provides=footing.provides | {Asks.LIPSCHITZ})


def _in_units_of_the_divisor(run: TrainingRun, setting: Setting, words: list[str]) -> Setting:
    """The same number of batches, each as large as the divisor, with the noise that goes with it."""
    size, divisor = setting["b"], run.divisor
    if not isinstance(divisor, int) or divisor == size:
        return setting
    words.append(f"sums over batches of {size} are divided by {divisor}")
    noise = setting["sigma2"] * (size / divisor) ** 2
    return setting.replace(n=setting["n"] // size * divisor, b=divisor, sigma_squared=noise)


def _check_accumulated(run: TrainingRun, scheme: Scheme) -> None:
    """Refuse batches added up for one step that may hold a record twice: it would count twice in one sum."""
    together = run.accumulated
    if together == 1:
        return
    if scheme.draws_afresh:
        raise ArgumentError(
            "accumulate",
            together,
            f"under {scheme} every batch is a draw of its own, and two that are added up may hold one record twice",
            "if they are parts of one draw, give batch_size = the number of records in all of them",
        )
    records = int(run.setting["n"])
    for size in run.sizes:
        part, left = size // together, records % (size // together)
        if left and run.leftover in (None, Leftover.REPEATED) and scheme.goes_through_epochs:
            raise not_said_what_is_left(run, part, left)
        batches = batches_in(records, part, run.leftover)
        if batches % together:
            raise ArgumentError(
                "accumulate",
                together,
                f"an epoch has {batches} batches of {part}, and what is left of them goes on into the next epoch: such "
                "a step may use a record twice, which no statement covers",
                "make a step of what is left, or drop it, when an epoch ends, and describe that by leftover and "
                f"batch_size = {size}",
            )


def _check_unclipped(run: TrainingRun) -> None:
    """Refuse shorter batches of the paper's algorithm, whose noise does not depend on their size."""
    if isinstance(run.update, Unclipped) and run.leftover not in (None, Leftover.DROPPED):
        raise ArgumentError(
            "leftover",
            run.leftover.value,
            "the mean over a shorter batch is more sensitive, and the paper's noise is the same",
            "drop what is left over; or, for clipped gradients whose regulariser is added after clipping, describe the "
            "run by noise_multiplier, weight_decay and divisor",
        )


def _check_none_left(run: TrainingRun, scheme: Scheme) -> None:
    if run.leftover not in (None, Leftover.DROPPED) and (run.schedule is not None or run.has_leftover()):
        raise ArgumentError(
            "leftover",
            run.leftover.value,
            f"under {scheme} no step takes the records in turn, so that none are left over",
            "leave it out",
        )


def _drawn_afresh(run: TrainingRun, scheme: Scheme) -> str:
    """For steps that draw from all records or use all: why no hidden-state statement covers the run, if none does."""
    _check_none_left(run, scheme)
    if isinstance(run.divisor, int) and run.divisor != run.setting["b"]:
        return f"sums over batches of {run.setting['b']} are divided by {run.divisor}"
    return ""


def _poisson(run: TrainingRun) -> Covered:
    """Poisson batches: how large they can be, for what they are divided by, decides whether their updates contract.

    Where only a rate and the number of records are known, hidden-state statements are applied to a few records more,
    each drawn with at least that rate, which costs no less (all these bounds rise with either).
    """
    _check_none_left(run, Scheme.POISSON)
    setting, uncovered = run.setting, ""
    words: tuple[str, ...] = ()
    if run.only_rate and (run.records is None or run.divisor is None):
        unknown = "the number of records" if run.records is None else "what sums of gradients are divided by"
        uncovered = f"{unknown} is not given, and decides whether a large Poisson batch contracts (give n, batch_size)"
    elif run.records is not None:
        rate = setting["b"] / setting["n"]
        size = -(-(rate * run.records) // 1)
        size += size // rate < run.records
        noise = setting["sigma2"] * (setting["b"] / size) ** 2
        setting = setting.replace(n=size // rate, b=size, sigma_squared=noise)
        exact = setting["n"] == run.records and size == rate * run.records
        words = (
            ()
            if exact
            else (
                f"{run.records} records, drawn at rate {float(rate):.6g}, are accounted for as {setting['n']} at "
                f"{size}/{setting['n']}",
            )
        )
    load = setting["b"] / run.divisor if isinstance(run.divisor, int) else Fraction(1)
    return Covered(run, run.update.footing(setting, load), words, uncovered, run.setting)


def _with_leftover(run: TrainingRun, words: list[str]) -> tuple[Setting, str]:
    """The setting of equal batches that stands for a run whose batches are not all equal."""
    setting = run.setting
    size, records = int(setting["b"]), int(setting["n"])
    left, count = records % size, records // size + 1
    match run.leftover:
        case None | Leftover.REPEATED:
            raise not_said_what_is_left(run, size, left)
        case Leftover.DROPPED:
            words.append(f"an epoch has {count - 1} batches of {size}; the {left} left over are not used in it")
            return setting.replace(n=records - left), ""  # whether they are the same in every epoch or not
    if isinstance(run.update, Unclipped):
        differs = (
            f"the mean over a batch of {left} is {Fraction(size, left)} times as sensitive as over {size}"
            if run.leftover is Leftover.PARTIAL
            else "a batch with blank records is less convex than the others"
        )
        raise ArgumentError(
            "leftover",
            run.leftover.value,
            f"{differs}, and the paper's statements are about batches that are all alike",
            "drop what is left over; or, for clipped gradients whose regulariser is added after clipping, describe the "
            "run by noise_multiplier, weight_decay and divisor",
        )
    if run.leftover is Leftover.PARTIAL and run.divisor is None:
        raise ArgumentError(
            "divisor",
            None,
            f"the last batch of an epoch has {left} records, the others {size}",
            f"say what sums of gradients are divided by: {size} for all of them, or 'actual' for each its own size",
        )
    words.append(
        f"an epoch has {count} batches, the last of {left} records: accounted for as {count} batches of {size}"
    )
    return setting.replace(n=count * size), (
        f"the last batch of an epoch is divided by its own size {left}, so its noise is not that of the others, and "
        "hidden-state statements are about steps of one kind (dropping it, or one divisor for all, would help)"
        if run.divisor == ACTUAL
        else ""
    )
