"""`unlearning`: how many further steps, or how much noise in them, until a record is forgotten.

Compared are the model of a run that was trained with a record and then went on without it, and that of the run that
never had it; only the model after the further steps is released. If the trained model was released before, no further
step takes that back: the two models together tell as much as the trained one did by itself, for which `epsilon` is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt

from ..errors import ArgumentError
from ..evaluate.enclosure import Enclosure
from ..meaning import Asks, Scheme
from ..progress import Ticker
from ..setting import Setting
from ..setting.gate import admit_positive
from .candidates import check_scheme
from .conversion import Goal, admit_delta, admit_epsilon
from .counts import admit_count
from .forgetting import THEOREM, TITLE, ShiftsOfForgetting
from .release import LAST
from .run import ACTUAL, Covered, TrainingRun, as_run, cover
from .sensitivity import longest_gradient
from .update import WHAT_HELPS, Clipped, Unclipped, standing_statement

ONCE = {
    Asks.CONTRACTION: "unlearn:zero_out",
    Asks.CONVEX: "unlearn:convex",
    Asks.LIPSCHITZ: "unlearn:expanding",
}
"""What holds where an epoch uses a record at most once, by what is known of the update; the best first."""
EVERY_STEP = "unlearn:every_step"
"""What holds whenever a record is used, for updates that contract."""
ON_SECRET_NOISE = frozenset({EVERY_STEP, ONCE[Asks.LIPSCHITZ], THEOREM})
"""What counts on the noise of training."""
SECRET, KNOWN = "secret", "known"
"""What the noise of training may be."""
DIGITS = 7
"""Digits of a noise multiplier that is solved for."""
MOST_STEPS = 10**12
QUIETEST, LOUDEST = -9, 12
"""Powers of ten between which a noise multiplier is looked for."""
WHAT_IT_MEANS = (
    "released is the model after the further steps and none before it: if the trained model was released, no further "
    "step takes that back",
    "the record's gradient is left out of sums that are divided by a fixed number; batches and noise are the same "
    "whether it is there or not",
)


@dataclass(frozen=True)
class Unlearning:
    """After `steps` further steps of this noise, forgetting is (epsilon, delta)-close to never having had the record.

    `epsilon` is rounded up. `solved_for` says which of epsilon, steps and noise_multiplier was looked for; fewer steps
    (to one), or less noise (to seven digits), would not do with this bound. `needs_training_noise` says whether the
    bound counts on the noise of training being secret; where it does not, that noise may be known.
    """

    epsilon: float
    delta: float
    steps: int
    noise_multiplier: Fraction
    solved_for: str
    bound: str
    title: str
    scheme: Scheme
    needs_training_noise: bool
    update: str
    assumptions: tuple[str, ...]
    assumed_by_you: tuple[str, ...]
    setting: Setting


@dataclass(frozen=True)
class _Problem:
    """The bounds that hold for a run, and its settings for them."""

    covered: Covered
    scheme: Scheme
    bounds: tuple[tuple[str, Setting], ...]
    shifts: ShiftsOfForgetting | None
    """None if the noise of training is known."""
    trained_with: Fraction
    """The square of the noise multiplier in training."""
    delta: Fraction

    def epsilon(self, steps: int, noise_multiplier: Fraction | None) -> tuple[Enclosure, str]:
        """The least of the bounds after so many steps of this noise (None: that of training)."""
        ratio = Fraction(1) if noise_multiplier is None else noise_multiplier**2 / self.trained_with
        squares = {
            label: standing_statement(label).enclose(at, forgetting=steps, noise_ratio=ratio).hi
            for label, at in self.bounds
        }
        label = min(squares, key=lambda each: squares[each])
        by_shifts = inf if self.shifts is None else self.shifts.square(steps, ratio)
        if by_shifts < squares[label]:
            exactly = Fraction(by_shifts)
            return Goal("epsilon", self.delta).of_gaussian(Enclosure(exactly, exactly)), THEOREM
        found = standing_statement(label)
        return found.epsilon(dict(self.bounds)[label], self.delta, forgetting=steps, noise_ratio=ratio), label


def unlearning(
    run: TrainingRun,
    /,
    *,
    scheme: str,
    delta: object,
    epsilon: object = None,
    steps: object = None,
    noise_multiplier: object = None,
    training_noise: object = SECRET,
) -> Unlearning:
    """How close forgetting a record is to never having had it: ε after `steps`, or what it takes to reach `epsilon`.

    With `epsilon` alone, the smallest number of further steps; with `steps` alone, the ε reached; with both, the
    smallest noise multiplier of these steps. `noise_multiplier` is that of the further steps, by default training's.
    With `training_noise="known"` nothing counts on the noise of training: whoever compares may know it.

    >>> from hsdp_symbolic.accounting import logistic, training_run
    >>> run = training_run(n=1344, batch_size=64, epochs=15, learning_rate="0.5", weight_decay="0.01",
    ...                    noise_multiplier=8, max_grad_norm=1, loss=logistic(feature_norm=1))
    >>> found = unlearning(run, scheme="reshuffle", delta="1e-5", epsilon="0.1")
    >>> found.steps, found.epsilon <= 0.1, found.bound
    (224, True, 'unlearn:expanding/by-shifts')
    >>> unlearning(run, scheme="reshuffle", delta="1e-5", epsilon="0.1", training_noise="known").bound
    'unlearn:zero_out'
    """
    probability = admit_delta(delta)
    if not 0 < probability < 1:
        raise ArgumentError("delta", delta, "no Gaussian noise forgets with certainty", "give 0 < delta < 1, e.g. 1e-5")
    target = None if epsilon is None else admit_epsilon("epsilon", epsilon)
    if target == 0:
        raise ArgumentError("epsilon", epsilon, "no noise reaches 0", "give a number > 0")
    further = None if steps is None else admit_count("steps", steps)
    louder = None if noise_multiplier is None else admit_positive("noise_multiplier", noise_multiplier)
    if target is None and further is None:
        raise ArgumentError("epsilon", None, "neither it nor steps is given", "give the epsilon to reach, or steps")
    if target is not None and further is not None and louder is not None:
        raise ArgumentError("noise_multiplier", noise_multiplier, "nothing is left to solve for", "leave one out")
    if not isinstance(training_noise, str) or training_noise not in (SECRET, KNOWN):
        raise ArgumentError("training_noise", training_noise, "it is secret or known", f"give {SECRET!r} or {KNOWN!r}")
    problem = _problem(run, check_scheme(scheme), probability, secret=training_noise == SECRET)
    if target is None:
        assert further is not None
        return _answer(problem, further, louder, "epsilon")
    if further is None:
        return _answer(problem, _fewest_steps(problem, target, louder), louder, "steps")
    return _answer(problem, further, _least_noise(problem, target, further), "noise_multiplier")


def _problem(given: TrainingRun, scheme: Scheme, delta: Fraction, *, secret: bool) -> _Problem:
    """The bounds that hold for a run, or an error that says what is missing."""
    run = as_run(given)
    if isinstance(run.update, Unclipped):
        raise ArgumentError(
            "run",
            run.setting,
            "without clipping, the mean over a batch is another one when a record is left out",
            "describe it by training_run(noise_multiplier=…, max_grad_norm=…, loss=…)",
        )
    if run.released != LAST:
        raise ArgumentError(
            "released",
            run.released,
            "what was seen during training is not forgotten by training on",
            "leave it out if only the model after the further steps is seen; for what was seen, ask for an epsilon",
        )
    if run.schedule is not None:
        raise ArgumentError(
            "per",
            None,
            "no statement about forgetting is about steps that differ",
            "describe training by one learning rate, noise and batch size",
        )
    if run.projection is not None:
        raise ArgumentError(
            "projection",
            run.projection,
            "no statement about forgetting is about iterates that are projected",
            "leave it out if they are not",
        )
    if run.divisor == ACTUAL:
        raise ArgumentError(
            "divisor", run.divisor, "leaving a record out would change the noise", "divide by a fixed number"
        )
    if scheme is Scheme.FULL_BATCH and run.setting["b"] != run.setting["n"]:
        raise ArgumentError(
            "batch_size", int(run.setting["b"]), "a full batch holds all records", "give batch_size = n"
        )
    covered = cover(run, scheme)
    if covered.uncovered:
        raise ArgumentError("run", run.setting, covered.uncovered, "change that; no other statement covers forgetting")
    known = _known(covered, scheme)
    bounds = _bounds(covered, scheme, known)
    shifts = _shifts(bounds[-1][1], scheme, known) if secret else None
    if not secret:
        bounds = _for_known_noise(bounds)
    setting = run.setting
    clip = setting["S_g"] / 2
    square = 2 * setting["sigma2"] * setting["b"] ** 2 / (setting["eta"] * clip**2)
    return _Problem(covered, scheme, bounds, shifts, square, delta)


def _known(covered: Covered, scheme: Scheme) -> Asks:
    """What is known of the update that a bound can use, or an error."""
    footing = covered.footing
    setting, provides = footing.setting, footing.provides
    if "lam" in setting and Asks.CONTRACTION in provides:
        found = Asks.CONTRACTION
    elif "beta" in setting and Asks.CONVEX in provides:
        found = Asks.CONVEX
    elif "lipschitz" in setting and Asks.LIPSCHITZ in provides:
        found = Asks.LIPSCHITZ
    else:
        why = footing.lacks or "updates are not known to bring runs together, nor to keep them as close as they are"
        update = covered.run.update
        if isinstance(update, Clipped) and update.optimizer:
            problem = f"a record may stay in the model: {why}"
            raise ArgumentError("optimizer", update.optimizer, problem, "take plain gradient steps ('sgd')")
        told = None if isinstance(update, Clipped) else str(update)
        raise ArgumentError("loss", told, f"a record may stay in the model: {why}", footing.helps or WHAT_HELPS)
    if scheme.leaves_sizes_to_chance:
        _check_large_batches(covered, found, scheme)
    return found


def _check_large_batches(covered: Covered, known: Asks, scheme: Scheme) -> None:
    """Refuse batches whose size is left to chance, and may be so large that the update is not known to contract."""
    setting, provides = covered.footing.setting, covered.footing.provides
    if Asks.SIZED_CONTRACTION not in provides:
        raise ArgumentError(
            "scheme",
            scheme.value,
            "what is known of the update is known for batches of one size",
            "use batches of a fixed size",
        )
    regulariser = setting["lam"] if known is Asks.CONTRACTION else Fraction(0)
    steepest = 2 / (2 * regulariser + (setting["beta"] - regulariser) * setting["n"] / setting["b"])
    if setting["eta"] > steepest:
        raise ArgumentError(
            "learning_rate",
            float(setting["eta"]),
            "a batch may hold all records, and an update by them all is not known to contract",
            f"use a learning rate of at most {float(steepest):.3g}, or batches of a fixed size",
        )


def _bounds(covered: Covered, scheme: Scheme, known: Asks) -> tuple[tuple[str, Setting], ...]:
    """The statements that hold, each with its setting, in which S_g is how long a clipped gradient can be."""
    run, setting = covered.run, covered.setting
    setting = setting.replace(S_g=longest_gradient(run).value)
    batches = int(setting["n"] // setting["b"])
    if run.steps is not None and scheme.goes_through_epochs:
        raise ArgumentError(
            "steps",
            run.steps,
            f"training ends within an epoch of {batches} steps, and what it leaves behind is known at the end of one",
            f"stop at steps = {-(-run.steps // batches) * batches}",
        )
    per_epoch = 1 if scheme is Scheme.FULL_BATCH else batches
    length = int(setting["K"]) * per_epoch if run.steps is None else run.steps
    whenever = setting.replace(n=setting["b"], K=length)  # an epoch is a step, and any step may use the record
    found = [(EVERY_STEP, whenever)] if known is Asks.CONTRACTION else []
    return (*found, (ONCE[known], setting if scheme.goes_through_epochs else whenever))


def _for_known_noise(bounds: tuple[tuple[str, Setting], ...]) -> tuple[tuple[str, Setting], ...]:
    """Those that do not count on the noise of training, or an error."""
    found = tuple((label, at) for label, at in bounds if label not in ON_SECRET_NOISE)
    if not found:
        raise ArgumentError(
            "training_noise",
            KNOWN,
            "what an update that expands leaves behind is hidden in training, or never",
            "keep it secret",
        )
    return found


def _shifts(setting: Setting, scheme: Scheme, known: Asks) -> ShiftsOfForgetting:
    """The same run, as shifts see it."""
    batches = int(setting["n"] // setting["b"]) if scheme.goes_through_epochs else 1
    constants = {Asks.CONTRACTION: lambda: 1 - setting["eta"] * setting["lam"], Asks.CONVEX: lambda: Fraction(1)}
    factor = constants.get(known, lambda: setting["lipschitz"])()
    in_order = scheme in (Scheme.FIXED, Scheme.SHUFFLE)
    return ShiftsOfForgetting(setting, factor, batches, int(setting["K"]), in_order)


def _answer(problem: _Problem, steps: int, noise: Fraction | None, solved_for: str) -> Unlearning:
    """What is reached after these steps."""
    value, label = problem.epsilon(steps, noise)
    covered, scheme = problem.covered, problem.scheme
    words = []
    if not scheme.draws_afresh and scheme is not Scheme.FULL_BATCH:
        words.append("an epoch of training uses a record at most once, and is finished before the next begins")
    if scheme not in (Scheme.FIXED, Scheme.FULL_BATCH):
        words.append("a random order costs no more than the worst fixed one (profiles are quasi-convex)")
    if label in ON_SECRET_NOISE:
        words.append("the noise of training is secret, and stays so")
    own = _rounded_up(sqrt(problem.trained_with)) if noise is None else noise
    return Unlearning(
        epsilon=value.upper(),
        delta=float(problem.delta),
        steps=steps,
        noise_multiplier=own,
        solved_for=solved_for,
        bound=label,
        title=TITLE if label == THEOREM else standing_statement(label).title,
        scheme=scheme,
        needs_training_noise=label in ON_SECRET_NOISE,
        update=covered.footing.why,
        assumptions=(*WHAT_IT_MEANS, *words, *covered.words),
        assumed_by_you=covered.footing.assumed_by_you,
        setting=problem.bounds[-1][1] if label == THEOREM else dict(problem.bounds)[label],
    )


def _fewest_steps(problem: _Problem, target: Fraction, noise: Fraction | None) -> int:
    """By doubling, then bisection: all these bounds fall with the number of steps."""
    ticker = Ticker()

    def enough(steps: int) -> bool:
        ticker.say(f"{steps} further steps")
        return problem.epsilon(steps, noise)[0].upper() <= target

    most = 1
    while not enough(most):
        if most > MOST_STEPS:
            reached = problem.epsilon(most, noise)[0].upper()
            raise ArgumentError(
                "epsilon",
                float(target),
                f"no number of further steps reaches it: epsilon = {reached:.6g} after {most}",
                "give steps and epsilon, and the noise that it takes is found, or use weight_decay",
            )
        most *= 2
    found = _first(most // 2, most, enough)
    ticker.clear()
    return found


def _first(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """The first number above `low` that is enough; `high` is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _least_noise(problem: _Problem, target: Fraction, steps: int) -> Fraction:
    """The least multiplier of seven digits: all these bounds fall as the noise rises."""
    ticker = Ticker()
    scale = 10 ** (DIGITS - 1)

    def multiplier(index: int) -> Fraction:
        power, digits = divmod(index, 9 * scale)
        return Fraction((scale + digits) * Fraction(10) ** (power + QUIETEST) / scale)

    def enough(index: int) -> bool:
        ticker.say(f"noise multiplier {float(multiplier(index)):.7g}")
        return problem.epsilon(steps, multiplier(index))[0].upper() <= target

    loudest = (LOUDEST - QUIETEST) * 9 * scale
    if not enough(loudest):
        raise ArgumentError(
            "epsilon", float(target), f"no noise multiplier up to 1e{LOUDEST} reaches it", "give a larger epsilon"
        )
    found = _first(-1, loudest, enough)
    ticker.clear()
    return multiplier(found)


def _rounded_up(value: float) -> Fraction:
    """A number as a short decimal where it is one, to the nearest double."""
    short = Fraction(f"{value:.12g}")
    return short if abs(float(short) - value) <= 1e-12 * value else Fraction(value)
