"""From the libraries' parameters to the paper's: here alone noise multiplier and clip norm become σ² and S_g.

A DP-SGD library updates θ ← θ − lr·(Σ clipped gradients + z·C·N(0, I))/b − lr·λθ, with weight decay λ. The paper's step
is θ ← θ − η·(mean gradient) + √(2ησ²)·N(0, I). So η = lr and 2ησ² = (lr·z·C/b)², an exact rational. Where a library
divides by another number than the batch size, noise and sensitivity change in proportion (`run.cover`). Replacing one
record moves a sum of gradients of norm at most C by up to 2C, so S_g = 2C in the setting of a run; what it is under
another neighbouring relation, or for a loss with shorter gradients, is found where a bound is applied (`sensitivity`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from ..errors import ArgumentError
from ..setting import Setting
from ..setting.gate import admit, admit_positive, to_fraction
from ..setting.letters import LARGEST_EXPONENT
from .counts import admit_count
from .losses import OUTSIDE, REGULARISERS, admit_loss, inside
from .planned import Length, Row, planned_steps, with_schedule
from .release import admit_release, require_within
from .run import TrainingRun, admit_divisor, admit_leftover
from .schedule import Schedule, Stretch, is_planned
from .update import Clipped, Update

REPLACE_ONE_FACTOR = 2
"""S_g over the clip norm, for neighbouring datasets that differ in one record, replaced."""


def _either(first: str, a: object, second: str, b: object) -> None:
    if (a is None) == (b is None):
        problem = f"{second} is given too" if a is not None else f"neither {first} nor {second} is given"
        raise ArgumentError(first, a, problem, "give one of the two")


def _batches(n: object, sample_rate: object, batch_size: object) -> tuple[int, int]:
    """Dataset size and batch size; from the rate alone, any pair of that ratio will do."""
    _either("sample_rate", sample_rate, "batch_size", batch_size)
    if batch_size is not None:
        if n is None:
            raise ArgumentError("n", None, "batch_size is given without it", "give n, or sample_rate")
        size, records = admit_count("batch_size", batch_size), admit_count("n", n)
        if size > records:
            raise ArgumentError(
                "batch_size",
                batch_size,
                f"a batch cannot exceed the dataset of n = {records}",
                "choose batch_size <= n",
            )
        return records, size
    rate = exact_rate(sample_rate)
    if n is None:
        if rate.denominator > 10**LARGEST_EXPONENT:
            raise ArgumentError("sample_rate", sample_rate, "it has too many digits", "round it to 30 digits")
        return rate.denominator, rate.numerator
    size_exact = rate * admit_count("n", n)
    if size_exact.denominator != 1:
        raise ArgumentError(
            "sample_rate", sample_rate, f"n·sample_rate = {size_exact} is not a whole number", "give batch_size instead"
        )
    return admit_count("n", n), int(size_exact)


def exact_rate(sample_rate: object) -> Fraction:
    """The rate that is meant: a float equal to the double of 1/m means 1/m, since its decimals may be a little less."""
    rate = to_fraction("sample_rate", sample_rate)
    if not 0 < rate <= 1:
        raise ArgumentError(
            "sample_rate", sample_rate, "a record is sampled with probability above 0, at most 1", "give b/n, e.g. 0.01"
        )
    whole = round(1 / rate)
    if isinstance(sample_rate, float) and sample_rate == 1 / whole:
        return Fraction(1, whole)
    return rate


def training_run(
    *,
    noise_multiplier: object,
    max_grad_norm: object = None,
    clip_norm: object = None,
    sample_rate: object = None,
    batch_size: object = None,
    n: object = None,
    steps: object = None,
    epochs: object = None,
    learning_rate: object = None,
    weight_decay: object = None,
    regulariser: object = OUTSIDE,
    loss: object = None,
    optimizer: object = "sgd",
    leftover: object = None,
    divisor: object = None,
    lam: object = None,
    beta: object = None,
    per: object = None,
    accumulate: object = None,
    released: object = "last",
    projection: object = None,
) -> TrainingRun:
    """The run a DP-SGD library's parameters describe: gradients are clipped, one record at a time.

    `max_grad_norm` and `clip_norm` are two names for the norm C gradients are clipped to, 1 unless given. An epoch is
    ⌊n/b⌋ steps, and one more where what is `leftover` makes a batch of its own ("partial", "blank"; or "dropped").
    `divisor` is what sums of gradients are divided by, if not the batch size ("actual": each batch by its own). With
    `accumulate`, so many batches of `batch_size` are added up for one step, with noise once: an epoch has to end with a
    step, since one that goes on into the next epoch may use a record twice.

    Hidden-state bounds need a Lipschitz constant of the update: say the `learning_rate`, the `weight_decay` (the λ of
    λθ, added *after* clipping) and which `loss` it is: `logistic`, `huber`, `smoothed_hinge`, `squared`, `scalar`,
    `softmax`, `convex`, `smooth` or `vouched` of `hsdp_symbolic.accounting`. Without a loss nothing is known of an
    update by clipped gradients, whatever `lam` and `beta` are, and only composition is used. The same goes for any
    `optimizer` but plain "sgd". With `regulariser="inside"` the penalty (`weight_decay`/2)·‖θ‖² is part of every
    record's loss, and clipped with it: then nothing contracts, and bounds for updates that expand are what is left.

    >>> from hsdp_symbolic.accounting import logistic
    >>> run = training_run(noise_multiplier=10, max_grad_norm=2, n=50, batch_size=2, epochs=40, learning_rate="0.02",
    ...                    weight_decay="0.1", loss=logistic(feature_norm=3))
    >>> run.setting
    Setting(n='50', b='2', K='40', eta='1/50', lam='1/10', sigma='1', S_g='4')
    >>> run.footing().setting["beta"]
    Fraction(13, 5)
    """
    planned = any(map(is_planned, (learning_rate, noise_multiplier, batch_size)))
    clip = _clip_norm(max_grad_norm, clip_norm)
    together = 1 if accumulate is None else admit_count("accumulate", accumulate)
    if together > 1:
        batch_size = _together(batch_size, together)
    left = None if leftover is None else admit_leftover(leftover)
    _check_about_loss(learning_rate, {"lam": lam, "beta": beta, "weight_decay": weight_decay, "loss": loss})
    known = admit_loss(loss)
    if known is not None and max_grad_norm is None and clip_norm is None:
        raise ArgumentError(
            "max_grad_norm", None, "a clipped loss is given without it", "give the norm it is clipped to"
        )
    update = _update(known, lam, beta, optimizer)
    decay = None if weight_decay is None else to_fraction("weight_decay", weight_decay)
    if decay is not None and decay < 0:
        raise ArgumentError("weight_decay", weight_decay, "a negative one pushes iterates apart", "give a number >= 0")
    if _is_inside(regulariser, decay) and decay:
        update, decay = inside(update, decay) if known is update else update, None
    if divisor is not None and batch_size is None:
        raise ArgumentError("divisor", divisor, "it means nothing without a batch size", "give n and batch_size")
    if is_planned(batch_size):
        records, size = admit_count("n", n), batch_size
    else:
        records, size = _batches(n, sample_rate, batch_size)
    rate = 1 if learning_rate is None else learning_rate
    given = {"learning_rate": rate, "noise_multiplier": noise_multiplier, "batch_size": size}
    length = Length(
        records,
        None if steps is None else admit_count("steps", steps),
        None if epochs is None else admit_count("epochs", epochs),
        left,
    )
    if not planned or None not in (steps, epochs):
        _either("steps", steps, "epochs", epochs)
    if not planned and per is not None:
        raise ArgumentError("per", per, "nothing is given per step or epoch", "leave it out")

    scales: dict[tuple[int, int, int], Fraction] = {}

    def stretch(count: int, row: Row) -> Stretch:
        eta, noise, b = row["learning_rate"], row["noise_multiplier"], int(row["batch_size"])
        key = noise.numerator, noise.denominator, b
        if key not in scales:
            scales[key] = Fraction(noise * clip / b) ** 2 / 2  # σ²/η
        return Stretch(count, eta if isinstance(eta, Fraction) else Fraction(eta), eta * scales[key], b)

    schedule = (planned_steps if planned else _alike)(given, per, length, "batch_size", stretch)
    shown = admit_release(released)
    require_within(shown, schedule.steps)
    run = TrainingRun(
        Setting(n=records, lam=decay or None, S_g=REPLACE_ONE_FACTOR * clip),
        None,
        update,
        left,
        admit_divisor(divisor),
        n is None,
        released=shown,
        projection=None if projection is None else admit_positive("projection", projection),
        accumulated=together,
    )
    return with_schedule(run, schedule, length.batches)


def _alike(
    given: Mapping[str, object], per: object, length: Length, size: str, stretch: Callable[[int, Row], Stretch]
) -> Schedule:
    """Steps that are all alike."""
    row: dict[str, Fraction | int] = {
        name: admit_positive(name, given[name]) for name in ("noise_multiplier", "learning_rate")
    }
    row[size] = admit_count(size, given[size])
    if length.steps is not None:
        return Schedule((stretch(length.steps, row),))
    assert length.epochs is not None
    return Schedule((stretch(length.epochs * length.batches(int(row[size])), row),))


def _clip_norm(max_grad_norm: object, clip_norm: object) -> Fraction:
    """The norm gradients are clipped to, by either name; 1 unless given."""
    if max_grad_norm is not None and clip_norm is not None:
        raise ArgumentError("clip_norm", clip_norm, "max_grad_norm is given too", "give one of the two")
    name, value = ("clip_norm", clip_norm) if max_grad_norm is None else ("max_grad_norm", max_grad_norm)
    return Fraction(1) if value is None else admit_positive(name, value)


def _check_about_loss(learning_rate: object, facts: Mapping[str, object]) -> None:
    for fact, told in facts.items():
        if learning_rate is None and told is not None:
            raise ArgumentError("learning_rate", None, f"{fact} is given without it", "give the learning rate")


def _together(batch_size: object, count: int) -> object:
    """The batch that so many batches make."""
    if batch_size is None:
        raise ArgumentError("batch_size", None, "accumulate is given without it", "give n and batch_size")
    if callable(batch_size):
        return lambda step: admit_count("batch_size", batch_size(step)) * count
    if is_planned(batch_size):
        assert isinstance(batch_size, Iterable)
        return [admit_count("batch_size", each) * count for each in batch_size]
    return admit_count("batch_size", batch_size) * count


def _is_inside(regulariser: object, decay: Fraction | None) -> bool:
    """Whether the regulariser is part of what is clipped."""
    if not isinstance(regulariser, str) or regulariser not in REGULARISERS:
        ways = " or ".join(REGULARISERS)
        raise ArgumentError("regulariser", regulariser, "neither before clipping nor after", f"use {ways}")
    if regulariser == OUTSIDE:
        return False
    if decay is None:
        raise ArgumentError("weight_decay", None, "a regulariser inside the clip is given without it", "give both")
    return True


def _update(loss: Update | None, lam: object, beta: object, optimizer: object) -> Update:
    """What is known of a clipped update; λ and β of the loss before clipping say nothing about it."""
    given = {name: admit(name, value) for name, value in (("lam", lam), ("beta", beta)) if value is not None}
    told = Setting(**given).exact_strings()
    if not isinstance(optimizer, str):
        raise ArgumentError("optimizer", optimizer, "not the name of an optimiser", "give 'sgd', 'adam', 'momentum', …")
    if optimizer.lower() != "sgd":
        return Clipped(
            because=f"the optimiser is {optimizer}, and hidden-state statements are about plain gradient steps",
            optimizer=optimizer,
        )
    if loss is None:
        return Clipped(tuple(f"{name} = {value}" for name, value in told.items()))
    for name, value in told.items():
        instead = (
            "leave it out"
            if name == "beta"
            else ("call it weight_decay; if it is part of the loss, and clipped with it, say regulariser='inside' too")
        )
        raise ArgumentError(name, value, "the loss says how convex and smooth it is", instead)
    return loss
