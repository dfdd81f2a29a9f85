"""S_g of a run: how far a record can move a sum of gradients, under a neighbouring relation, and where that is proved.

For clipped gradients it is twice the longest one where a record is replaced, and its length where a record is left out;
where its label alone differs, no more than gradients for two labels are apart. No clipped gradient is longer than the
clip norm, nor than the loss says (`sharper/sensitivity.py` has the proofs). Rounded up where it is irrational.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ..errors import ArgumentError
from ..meaning import Neighbouring, Sensitivity
from .losses import RegularisedInside, ScalarLoss, SoftmaxLoss
from .run import TrainingRun
from .update import SourcedConstant, Unclipped

CLIP_NORM = "clip norm"
YOURS = "your word"
LONGEST = "no clipped gradient is longer"


@dataclass(frozen=True)
class Moved:
    """S_g, and what the loss must be for that; nothing beyond clipping if `assumed` is empty."""

    constant: SourcedConstant
    assumed: tuple[str, ...] = ()

    @property
    def value(self) -> Fraction:
        return self.constant.value


def moved(run: TrainingRun, relation: Neighbouring, stated: Neighbouring, whose: Sensitivity) -> Moved:
    """S_g for a statement about the relation `stated`, applied to a run under `relation`."""
    if isinstance(run.update, Unclipped):
        if "S_g" not in run.setting:
            raise ArgumentError("S_g", None, "not given", "give S_g")
        return _told(run.setting["S_g"], relation)
    longest = longest_gradient(run)
    if stated is Neighbouring.ADD_REMOVE:
        return longest
    any_two = _times_two(longest)
    if relation is Neighbouring.REPLACE_ONE or whose is Sensitivity.ANY_TWO:
        return any_two
    if relation is Neighbouring.ZERO_OUT:
        return longest
    labels = _labels_apart(run)
    pair = any_two if labels is None or any_two.value <= labels.value else labels
    return max(pair, longest, key=_value) if whose is Sensitivity.LEFT_OUT else pair


def _value(found: Moved) -> Fraction:
    return found.value


def _told(S_g: Fraction, relation: Neighbouring) -> Moved:
    """S_g as it was given, for a record replaced; of the length of one gradient it says nothing."""
    assert relation in (Neighbouring.REPLACE_ONE, Neighbouring.LABEL_ONLY)
    return Moved(SourcedConstant("S_g", S_g, YOURS, "as it was given"))


def moved_apart(run: TrainingRun, relation: Neighbouring) -> Fraction:
    """S_g for statements about a record replaced, of whose gradients only those of the two records matter."""
    return moved(run, relation, Neighbouring.REPLACE_ONE, Sensitivity.DIFFERING).value


def longest_gradient(run: TrainingRun) -> Moved:
    """How long a clipped gradient can be: the clip norm, or what the loss says if that is less."""
    clip = run.setting["S_g"] / 2
    update = run.update
    bound = update.longest() if isinstance(update, ScalarLoss | SoftmaxLoss) else None
    if bound is None or clip <= bound.value:
        return Moved(SourcedConstant("S_g", clip, CLIP_NORM, f"clip_norm: {LONGEST}"))
    assert isinstance(update, ScalarLoss | SoftmaxLoss)
    return Moved(replace(bound, says=f"its bound: {LONGEST}"), (update.told(),))


def _times_two(longest: Moved) -> Moved:
    found = longest.constant
    return replace(longest, constant=replace(found, value=2 * found.value, says=f"2·{found.says}"))


def _labels_apart(run: TrainingRun) -> Moved | None:
    """How far apart gradients for two labels are: a regulariser inside the clip is the same for both."""
    update = run.update.loss if isinstance(run.update, RegularisedInside) else run.update
    bound = update.labels_apart() if isinstance(update, ScalarLoss | SoftmaxLoss) else None
    if bound is None:
        return None
    assert isinstance(update, ScalarLoss | SoftmaxLoss)
    return Moved(
        replace(bound, says="its bound: clipped gradients for two labels are no farther apart"), (update.told(),)
    )
