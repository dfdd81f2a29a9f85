"""Runs whose learning rate, noise or batch size is given by a list or a function, step by step or epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ..errors import ArgumentError
from ..setting import Setting
from ..setting.gate import admit_positive
from .counts import admit_count
from .release import LAST, Release
from .run import Leftover, TrainingRun, admit_leftover, batches_in
from .schedule import Per, Schedule, Stretch, admit_batch_size, admit_per, as_lists, is_planned, length_of, read

Row = Mapping[str, Fraction | int]


@dataclass(frozen=True)
class Length:
    """How long a run is said to be, in steps or in epochs, if that is said at all, and what makes an epoch."""

    n: int
    steps: int | None
    epochs: int | None
    leftover: Leftover | None

    def batches(self, size: int) -> int:
        return batches_in(self.n, size, self.leftover)


def planned_steps(
    given: Mapping[str, object], per: object, length: Length, size: str, stretch: Callable[[int, Row], Stretch]
) -> Schedule:
    """The steps of a run some of whose letters are lists or functions; `size` is the name of the batch size.

    Of a list per epoch the run may stop within the last epoch, if `steps` says so.
    """
    lists = {name: value for name, value in given.items() if is_planned(value)}
    unit = admit_per(per, lists)
    values = as_lists(lists)
    fixed = {name: _admit(length.n, size, name, value) for name, value in given.items() if name not in lists}
    count = length.epochs if unit is Per.EPOCH else length.steps
    if unit is Per.STEP and length.epochs is not None:
        if size in lists:
            raise ArgumentError("epochs", length.epochs, f"{size} changes within them", "give steps")
        count = length.epochs * length.batches(int(fixed[size]))
    rows = read(values, length_of(values, count, unit), lambda name, value: _admit(length.n, size, name, value))

    def made(alike: int, row: Row) -> Stretch:
        told = {**fixed, **row}
        steps = alike * (length.batches(int(told[size])) if unit is Per.EPOCH else 1)
        return stretch(steps, told)

    found = Schedule.of(made(alike, row) for alike, row in rows)
    return found.first(length.steps) if unit is Per.EPOCH and length.steps is not None else found


def _admit(n: int, size: str, name: str, value: object) -> Fraction | int:
    return admit_batch_size(name, value, n) if name == size else admit_positive(name, value)


def with_schedule(run: TrainingRun, schedule: Schedule, batches: Callable[[int], int]) -> TrainingRun:
    """The run with these steps; if they are all alike, without a schedule."""
    told = run.setting.replace(K=None, b=None, eta=None, sigma_squared=None)
    first = schedule.stretches[0]
    if schedule.is_constant:
        epochs, rest = divmod(schedule.steps, batches(first.b))
        setting = told.replace(b=first.b, eta=first.eta, sigma_squared=first.sigma2, K=None if rest else epochs)
        return replace(run, setting=setting, steps=schedule.steps if rest else None, schedule=None)
    sizes = {each.b for each in schedule.stretches}
    setting = told.replace(b=sizes.pop()) if len(sizes) == 1 else told
    return replace(run, setting=setting, steps=schedule.steps, schedule=schedule)


def noisier(run: TrainingRun, factor: Fraction | int) -> TrainingRun:
    """The run with every noise multiplied by a factor."""
    if run.schedule is None:
        return replace(run, setting=run.setting.replace(sigma_squared=run.setting["sigma2"] * Fraction(factor) ** 2))
    steps = (replace(each, sigma2=each.sigma2 * Fraction(factor) ** 2) for each in run.schedule.stretches)
    return replace(run, schedule=Schedule.of(steps))


def scheduled_run(
    setting: Setting,
    /,
    *,
    eta: object = None,
    sigma: object = None,
    b: object = None,
    per: object = None,
    steps: object = None,
    leftover: object = None,
    released: Release = LAST,
    projection: object = None,
) -> TrainingRun:
    """The paper's algorithm, gradients unclipped, with `eta`, `sigma` or `b` a list (`per` "epoch" or "step") or a
    function of the step, counted from 0. What is not given here is that of the setting.

    >>> run = scheduled_run(Setting(n=50, K=3, lam=1, beta=4, sigma=2, S_g=4, b=2), eta=["0.2", "0.1", "0.05"],
    ...                     per="epoch")
    >>> print(run.schedule)
    a schedule of 75 steps in 3 stretches, learning rates from 0.05 to 0.2
    """
    if not isinstance(setting, Setting):
        raise ArgumentError("setting", setting, "not a Setting", "give Setting(n=…)")
    letters = setting.values()
    square = letters.get("sigma2")
    given: dict[str, object] = {"eta": letters.get("eta") if eta is None else eta, "sigma": sigma}
    given["b"] = int(letters["b"]) if b is None and "b" in letters else b
    for name, value in (*given.items(), ("n", letters.get("n"))):
        if value is None and not (name == "sigma" and square is not None):
            raise ArgumentError(name, None, "not given", f"give {name}")
    if given["sigma"] is None:
        del given["sigma"]
    if not any(map(is_planned, given.values())):
        raise ArgumentError("eta", eta, "no letter is a list or a function", "use the Setting itself")
    left = None if leftover is None else admit_leftover(leftover)
    epochs = int(letters["K"]) if "K" in letters and steps is None else None
    length = Length(int(letters["n"]), None if steps is None else admit_count("steps", steps), epochs, left)

    def stretch(count: int, row: Row) -> Stretch:
        noise = Fraction(row["sigma"]) ** 2 if "sigma" in row else square
        assert noise is not None
        return Stretch(count, Fraction(row["eta"]), noise, int(row["b"]))

    schedule = planned_steps(given, per, length, "b", stretch)
    wide = None if projection is None else admit_positive("projection", projection)
    run = TrainingRun(setting, leftover=left, released=released, projection=wide)
    found = with_schedule(run, schedule, length.batches)
    if found.schedule is None and (per != Per.EPOCH or length.steps):  # an epoch of full batches is a single step
        return replace(found, setting=found.setting.replace(K=None), steps=schedule.steps)
    return found
