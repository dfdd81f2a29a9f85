"""`bounds_for`: every bound that holds for a run, and why the others do not."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ..errors import ArgumentError, HsdpError
from ..meaning import Asks, Neighbouring, Scheme, Sensitivity
from ..setting import Setting
from .bounds import Bound, needs_hidden_state
from .by_losses import about_one_step, by_losses
from .by_step import STRETCHES, THEOREM, by_shifts, by_stretches, composed, composition_of
from .candidates import apply, check_neighbouring, check_scheme, covering
from .columns import Columns
from .effort import NORMAL, Effort, TooMuchWork
from .release import LAST
from .run import ACTUAL, Covered, TrainingRun, as_run, cover
from .sensitivity import Moved, moved
from .update import Unclipped

if TYPE_CHECKING:
    from ..statement import Statement

    Refuse = Callable[[Statement], str]


LOUDEST = 10**240
"""The largest μ² of one use of a record: sums over many uses then stay within doubles."""
PERMUTED = (
    "batches are permutations of the records, where another makes room for one that moves: what holds if every record "
    "picks its batch by itself (scheme balls_in_bins) is false here"
)
"""Why shuffling inherits nothing from balls in bins."""


@dataclass(frozen=True)
class Considered:
    """One statement that covers the scheme, and what became of it.

    `value` is certified, or None. A statement is skipped if it would take longer than the effort asked for allows.
    """

    label: str
    verdict: Literal["chosen", "loses", "does not apply", "skipped"]
    value: float | None
    order: Fraction | float | None
    reason: str


@dataclass(frozen=True)
class Candidates:
    """The bounds that apply to a run, the statements that do not, with reasons, and what they were applied to."""

    covered: Covered
    scheme: Scheme
    neighbouring: Neighbouring
    steps: int | None
    bounds: list[Bound]
    refused: list[Considered]
    hidden: set[str]
    """Labels of the hidden-state statements for such batches, whether they apply or not."""

    def moved_for(self, found: Statement) -> Moved:
        """S_g, for this statement."""
        whose = found.terms.sensitivity if found.terms else Sensitivity.DIFFERING
        return moved(self.covered.run, self.neighbouring, self.scheme.stated_for(self.neighbouring), whose)

    def your_word(self, labels: Collection[str], hidden: bool) -> tuple[str, ...]:
        """What you vouch for where these bounds are used: the update, if any is hidden-state, and what S_g is."""
        words = [*self.covered.footing.assumed_by_you] if hidden else []
        for bound in self.bounds:
            if bound.label in labels:
                words += self.moved_for(bound.statement).assumed
        return tuple(dict.fromkeys(words))


def bounds_for(
    run: Setting | TrainingRun,
    scheme: object,
    neighbouring: object = None,
    refuse: Refuse | None = None,
    effort: Effort = NORMAL,
) -> Candidates:
    """Every statement about batches made by `scheme`, applied to this run or refused with the reason.

    All certificates go through here.
    `refuse` may rule out a statement for what the caller knows of the run, by returning the reason.
    """
    told = as_run(run)
    chosen_scheme = check_scheme(scheme)
    relation = check_neighbouring(chosen_scheme, neighbouring)
    _check_full_batch(told, chosen_scheme)
    _check_noise(told)
    _check_added_record(told, relation)
    _check_left_out(told, relation)
    _check_batch_size_hidden(told, chosen_scheme)
    covered = cover(told, chosen_scheme)
    found = Candidates(covered, chosen_scheme, relation, told.steps, [], [], set())
    if told.schedule is None:
        _of_like_steps(found, refuse, effort)
    _of_steps_that_differ(found, refuse, effort)
    if chosen_scheme in (Scheme.SHUFFLE, Scheme.RESHUFFLE):
        found.refused.append(Considered("profile:balls_in_bins", "does not apply", None, None, PERMUTED))
    return found


def _of_like_steps(into: Candidates, refuse: Refuse | None, effort: Effort) -> None:
    """Every statement about batches made in this way, for steps that are all alike."""
    covered = into.covered
    told = covered.run
    for found, why in covering(into.scheme, into.neighbouring):
        if needs_hidden_state(found):
            into.hidden.add(found.label)
        reason = _not_met(found, covered) or (refuse(found) if refuse is not None else "")
        if reason:
            into.refused.append(Considered(found.label, "does not apply", None, None, reason))
            continue
        try:
            setting = covered.setting_for(found)
            if "S_g" in setting:
                setting = setting.replace(S_g=into.moved_for(found).value)
            into.bounds.append(apply(found, why, setting, told.steps, effort, into.neighbouring))
        except TooMuchWork as error:
            into.refused.append(Considered(found.label, "skipped", None, None, str(error)))
        except HsdpError as error:
            into.refused.append(Considered(found.label, "does not apply", None, None, str(error)))


def _of_steps_that_differ(into: Candidates, refuse: Refuse | None, effort: Effort) -> None:
    """What is said of runs whose steps differ, that end within an epoch, show more or are projected."""
    run, scheme = into.covered.run, into.scheme
    if scheme is Scheme.BALLS_IN_BINS:
        if run.schedule is not None:
            reason = "steps differ, and statements about batches whose size is left to chance are about like steps"
            into.refused.append(Considered(THEOREM, "does not apply", None, None, reason))
        return
    if scheme.draws_afresh:
        if run.schedule is not None or (run.released.hides and run.released != LAST):
            _in_stretches(into, refuse, effort)
        if run.schedule is not None:
            for found in about_one_step(scheme, scheme.stated_for(into.neighbouring)):
                if refuse is None or not refuse(found):
                    S_g = into.moved_for(found).value
                    into.bounds.append(by_losses(run, found, S_g, into.neighbouring, effort))
        return
    covered = into.covered
    no_form = covered.uncovered or (covered.uneven and Asks.LIPSCHITZ in covered.footing.provides)
    uneven = scheme.goes_through_epochs and (run.steps is not None or no_form)
    columns = None
    if run.schedule is not None:
        columns = Columns.of(run, scheme, into.neighbouring)
        try:
            into.bounds.append(composed(run, scheme, effort, into.neighbouring, columns))
        except ArgumentError as error:
            into.refused.append(Considered(composition_of(scheme), "does not apply", None, None, str(error)))
    contracts = Asks.CONTRACTION in into.covered.footing.provides and "lam" in into.covered.setting
    if run.is_plain and not uneven and (contracts or scheme is not Scheme.RESHUFFLE):
        return  # closed forms cost no more
    if run.released.hides or run.schedule is not None:
        _by_shifts(into, refuse, effort, columns)


def _by_shifts(into: Candidates, refuse: Refuse | None, effort: Effort, columns: Columns | None) -> None:
    run = into.covered.run
    if run.released.hides:
        into.hidden.add(THEOREM)
    try:
        bound, reason = by_shifts(run, into.scheme, effort, into.neighbouring, columns)
    except HsdpError as error:
        bound, reason = None, str(error)
    if bound is not None and refuse is not None:
        reason = refuse(bound.statement)
    if bound is None or reason:
        into.refused.append(Considered(THEOREM, "does not apply", None, None, reason))
    else:
        into.bounds.append(bound)


def _in_stretches(into: Candidates, refuse: Refuse | None, effort: Effort) -> None:
    """Stretches of like steps, for batches drawn afresh."""
    if into.covered.run.released.hides:
        into.hidden.add(STRETCHES)

    words: dict[str, None] = {}

    def bounds(part: TrainingRun) -> Iterable[Bound]:
        found = bounds_for(part, into.scheme, into.neighbouring, refuse, effort)
        words.update(dict.fromkeys(found.covered.words))
        return found.bounds

    found = by_stretches(into.covered.run, into.neighbouring, bounds, words)
    if found is None:
        into.refused.append(Considered(STRETCHES, "does not apply", None, None, "no divergence bounds one of them"))
    else:
        into.bounds.append(found)


def _check_full_batch(run: TrainingRun, scheme: Scheme) -> None:
    """Refuse b < n: σ² and the epochs of a clipped run are for batches of b, and ε would come out far too small.

    In the paper's letters b plays no part, unless the steps were listed epoch by epoch: then it says how many they are.
    """
    unclipped = isinstance(run.update, Unclipped)
    if scheme is not Scheme.FULL_BATCH or (unclipped and run.schedule is None):
        return
    records, name = int(run.setting["n"]), "b" if unclipped else "batch_size"
    for size in run.sizes - {records}:
        raise ArgumentError(name, size, f"a full batch holds all n = {records} records", f"give {name} = n")


def _check_noise(run: TrainingRun) -> None:
    """Refuse noise so small that losses are beyond doubles."""
    known = run.setting.values()
    if run.schedule is not None:
        steps = [(each.eta, each.sigma2, Fraction(each.b)) for each in run.schedule.stretches]
    elif {"eta", "sigma2"} <= known.keys():
        steps = [(known["eta"], known["sigma2"], known.get("b", known.get("n", Fraction(1))))]
    else:
        return
    for eta, sigma2, size in steps:
        spread = 2 * sigma2 * size**2 / eta  # the square of the noise on a sum of gradients
        if known.get("S_g", Fraction(0)) ** 2 <= LOUDEST * spread:
            continue
        square, name = (
            (sigma2, "sigma")
            if isinstance(run.update, Unclipped)
            else (4 * spread / known["S_g"] ** 2, "noise_multiplier")
        )
        root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        raise ArgumentError(
            name,
            f"{root:.3g}",
            "so little noise hides nothing, and doubles cannot hold what is lost",
            "take more noise",
        )


def _check_added_record(run: TrainingRun, relation: Neighbouring) -> None:
    """Refuse batches divided by their own size where a record is added: it may even change the noise."""
    if relation is Neighbouring.ADD_REMOVE and run.divisor == ACTUAL:
        raise ArgumentError(
            "divisor",
            run.divisor,
            "a record added or removed changes the size of a batch, and so the noise itself: no statement covers it",
            "divide by a fixed number, or use neighbouring = replace_one",
        )


def _check_left_out(run: TrainingRun, relation: Neighbouring) -> None:
    """Refuse a gradient left out of the paper's algorithm, whose S_g is about two gradients."""
    if relation is Neighbouring.ZERO_OUT and isinstance(run.update, Unclipped):
        raise ArgumentError(
            "neighbouring",
            relation.value,
            "without clipping nothing says how long the gradient of a record is: S_g is about two of them",
            "use replace_one, or describe the run by noise_multiplier and max_grad_norm",
        )


def _check_batch_size_hidden(run: TrainingRun, scheme: Scheme) -> None:
    """Refuse batches of chance sizes that are divided by them: what a record does, or the noise, tells who else is in.

    Then it is seen in which batch a record may be, and nothing is gained from its being drawn in secret.
    """
    if not scheme.leaves_sizes_to_chance:
        return
    if run.divisor == ACTUAL:
        raise ArgumentError(
            "divisor",
            run.divisor,
            f"the noise of a batch would tell its size, left to chance by {scheme}, and so who may be in it: no "
            "statement covers that",
            "divide by a fixed number, such as the expected batch size",
        )
    if isinstance(run.update, Unclipped):
        raise ArgumentError(
            "scheme",
            scheme.value,
            f"in the paper's letters a step is a mean over its batch, and batches of {scheme} differ in size: no "
            "statement covers that",
            f"if sums of clipped gradients are divided by one number, describe the run so: {_as_libraries_do(run)}",
        )


def _as_libraries_do(run: TrainingRun) -> str:
    """The same noise and sensitivity in the names that libraries use, as far as they are known."""
    known = run.setting.values()
    if not {"b", "eta", "sigma2", "S_g"} <= known.keys() or not known["S_g"]:
        return "noise_multiplier, max_grad_norm, n, batch_size, learning_rate"
    clip = known["S_g"] / 2
    noise = math.sqrt(2 * known["sigma2"] / known["eta"]) * float(known["b"] / clip)
    return (
        f"noise_multiplier = {noise:.9g}, max_grad_norm = {float(clip):.9g}, batch_size = {known['b']}, "
        f"learning_rate = {float(known['eta']):.9g}"
    )


def _not_met(found: Statement, covered: Covered) -> str:
    """Why the update of this run is not known to do what a statement asks for; empty if it is."""
    if needs_hidden_state(found):
        if not covered.run.shows_the_last:
            return "it is about the last iterate alone, of steps that are alike"
        if covered.run.projection is not None and found.asks not in OF_ANY_MAP:
            return NO_GRADIENT_STEP
        if covered.uncovered:
            return covered.uncovered
    if covered.uneven and found.asks is Asks.LIPSCHITZ:
        return UNEVEN
    if found.asks in covered.footing.provides:
        return ""
    if found.asks is Asks.LIPSCHITZ and not covered.footing.lacks:
        return "it is for updates that need not contract, and this one does"
    return covered.footing.lacks or "it asks for smooth convex losses, and here the update is only known to contract"


OF_ANY_MAP = frozenset({Asks.CONTRACTION, Asks.SIZED_CONTRACTION, Asks.LIPSCHITZ})
"""What is asked of an update map that it keeps after a projection (`sharper.projected`)."""
NO_GRADIENT_STEP = "a projected step is no gradient step of a convex loss; what is known of it is a Lipschitz constant"
UNEVEN = (
    "the last batch of an epoch is shorter than the others, and where updates need not contract it is not known to be "
    "the worst place for a record; what shifts spend step by step holds (dropping that batch would help)"
)
