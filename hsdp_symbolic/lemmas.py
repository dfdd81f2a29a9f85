"""Theorems that are no statements and that something relies on: how a bound is computed, or what is said about it.

Each is named here with the statement it belongs to and with what relies on it; `hsdp verify` checks them all.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .proof.kernel import Theorem


class _Proves(Protocol):
    """A function that returns a theorem."""

    def __call__(self) -> Theorem: ...


@dataclass(frozen=True)
class Lemma:
    """A theorem that belongs to a statement: where it is proved, when first asked for, and what relies on it."""

    label: str
    place: str
    """Module and function, as in `index.PLACES`."""
    relied_on_by: str

    @property
    def name(self) -> str:
        """Its name among all of them: its statement's label and its function."""
        return f"{self.label}/{self.place.partition(':')[2].replace('_', '-')}"

    @property
    def says(self) -> str:
        """What it says, in the words of the function that proves it."""
        told = inspect.getdoc(self._function()) or ""
        return " ".join(told.partition("\n\n")[0].split())

    def theorem(self) -> Theorem:
        """The theorem; it is proved now, unless it was before."""
        return self._function()()

    def _function(self) -> _Proves:
        module, function = self.place.split(":")
        found: _Proves = getattr(import_module(f".{module}", __package__), function)
        return found


_COMPOUNDED = "how `Compounded` is enclosed"
_ACCUMULATED = "how `Accumulated` is enclosed"
_CAPPED = "how `CappedMoment` is enclosed"
_LARGEST = "how `LogMeanExp` is enclosed: the first term is the largest"
_MEAN = "how `LogMeanExp` is enclosed: its body is a nonnegative mixture of decaying exponentials in the batch"
_BRACKET = "how `ShiftControl` is enclosed: chords lie above W and tangents below"
_FARTHEST = "how `ShiftControl` is enclosed: where its grids end"
_LONGER = "how `ShiftControl` is enclosed and bounded over boxes: a longer run costs no less"
_MINORANT = "`convex_minorant`: the slopes it returns rise only where nothing is left to hide"
_TWO_POINTS = "how `ReshuffledProfile` is enclosed: two points stand for all epochs before those whose places are known"
_POOLING = "`convex_minorant`: how it gets there"
_PLANS = "`scheduled_shifts.spent`: what shifts of a plan spend"
_PROJECTED = "the accountant: what holds without a projection holds of a run that is projected"
_NEVER_ABOVE = "the statement says that it is never above the paper's"
_NEVER_COMPOSITION = "the statement says that it is never more than composition"
_ANY_PATTERN = "Σ u(gap) is a bound for any pattern of hits, whatever the Lipschitz constant"
_FORGETTING = "`accounting.forgetting`: shifts over training and the further steps"

_SENSITIVITY = "S_g of a clipped run: `accounting/sensitivity.py`"

LEMMAS = (
    Lemma("thm:shuffle", "paper.shuffle:falls_with_steps", _LARGEST),
    Lemma("thm:shuffle", "paper.shuffle:mixture_of_exponentials", _MEAN),
    Lemma("thm:amp_samp_wo_replacement", "paper.sampling:increment_falls", _ACCUMULATED),
    Lemma("thm:amp_samp_wo_replacement", "paper.sampling:map_rises", _ACCUMULATED),
    Lemma("thm:amp_samp_wo_replacement", "paper.sampling:map_convex", _ACCUMULATED),
    Lemma("thm:amp_samp_wo_replacement", "paper.sampling:slope_at_rest", _ACCUMULATED),
    Lemma("thm:amp_samp_wo_replacement", "paper.sampling:accumulated_stays_below", _ACCUMULATED),
    Lemma("clip:convex", "sharper.clipped_updates:contracts_below", "the statement says where it contracts"),
    Lemma("clip:convex", "sharper.clipped_updates:expands_from", "the statement says where it contracts"),
    Lemma("gradient:scalar", "sharper.sensitivity:replaced_by_clip", _SENSITIVITY),
    Lemma("gradient:scalar", "sharper.sensitivity:replaced_by_norm", _SENSITIVITY),
    Lemma("gradient:scalar", "sharper.sensitivity:left_out_by_clip", _SENSITIVITY),
    Lemma("gradient:scalar", "sharper.sensitivity:left_out_by_norm", _SENSITIVITY),
    Lemma("gradient:logistic", "sharper.sensitivity:relabelled", _SENSITIVITY),
    Lemma("thm:GD_tighter:recursion", "paper.gradient_descent:factor_increases", _COMPOUNDED),
    Lemma("thm:GD_tighter:recursion", "paper.gradient_descent:factor_at_limit", _COMPOUNDED),
    Lemma("thm:GD_tighter:recursion", "paper.gradient_descent:limit_below_one", _COMPOUNDED),
    Lemma("thm:GD_tighter:recursion", "paper.gradient_descent:recursion_at_most_tighter", _NEVER_ABOVE),
    Lemma(
        "composition:without_replacement",
        "paper.composition:by_poisson_sampling",
        "the same bound for Poisson sampling",
    ),
    Lemma("conversion:epsilon", "paper.conversion:slope_in_order", "which orders are tried: none beyond α = 1/δ"),
    Lemma("strconvexsmooth:split", "sharper.fixed_order:larger_split_for_two_epochs", "what is said of the best split"),
    Lemma("strconvexsmooth:split", "sharper.fixed_order:middle_split_in_the_limit", "what is said of the best split"),
    Lemma("shift:cyclic", "sharper.shifts:cyclic_least", "`CyclicShifts`: no shifts spend less"),
    Lemma("shift:convex", "sharper.shifts:convex_least", "thm:convexsmooth cannot be improved by shifts"),
    Lemma("shift:shuffle", "sharper.places:falls_with_place", _LARGEST),
    Lemma("shift:shuffle", "sharper.places:slope_rises", _MEAN),
    Lemma("shift:shuffle", "sharper.places:first_edge_stays", _MEAN),
    Lemma("shift:shuffle", "sharper.places:chord_decays", _MEAN),
    Lemma("shift:shuffle", "sharper.places:series", _MEAN),
    Lemma("shift:gd", "sharper.descent:attained", "the statement says that it is tight"),
    Lemma("gdp:cyclic", "sharper.projected:projected_cyclic", _PROJECTED),
    Lemma("gdp:expanding", "sharper.expanding:at_most_composition", _NEVER_COMPOSITION),
    Lemma("gdp:expanding", "sharper.expanding:without_expansion", "`gdp:convex` is its case c = 1"),
    Lemma("gdp:expanding", "sharper.any_pattern:every_hit", _ANY_PATTERN),
    Lemma("gdp:expanding", "sharper.any_pattern:pattern_at_most_composition", _ANY_PATTERN),
    Lemma("gdp:expanding", "sharper.projected:projected_expanding", _PROJECTED),
    Lemma("profile:reshuffle:expanding", "sharper.expanding_profile:at_most_composition", _NEVER_COMPOSITION),
    Lemma("expanding:reshuffle", "sharper.expanding_reshuffled:at_most_composition", _NEVER_COMPOSITION),
    Lemma("unlearn:expanding", "sharper.forgetting_expanding:at_most_composition", _NEVER_COMPOSITION),
    Lemma(
        "unlearn:expanding", "sharper.forgetting_expanding:by_shifts", "how `hsdp unlearn` uses the noise of training"
    ),
    Lemma("shift:pattern", "sharper.minorant:any_shifts", "`convex_minorant`: any path below the points gives a bound"),
    Lemma("shift:pattern", "sharper.minorant:best_shifts", _MINORANT),
    Lemma("shift:pattern", "sharper.minorant:least_shifts", _MINORANT),
    Lemma("shift:pattern", "sharper.minorant:pooled_below_first", _POOLING),
    Lemma("shift:pattern", "sharper.minorant:pooled_below_second", _POOLING),
    Lemma("shift:pattern", "sharper.schedules:planned_schedule", _PLANS),
    Lemma("shift:pattern", "sharper.schedules:planned_releases", f"{_PLANS}, where several iterates are seen"),
    Lemma("shift:pattern", "sharper.schedules:planned_mean", f"{_PLANS}, where a mean of iterates is released"),
    Lemma("shift:pattern", "sharper.schedules:planned_in_set", "`scheduled_shifts.spent_in_set`"),
    Lemma("shift:pattern", "sharper.schedules:over_groups", "`mixture_profile.mixture_delta`"),
    Lemma("profile:shuffle", "sharper.projected:projected_shuffled", _PROJECTED),
    Lemma("profile:reshuffle", "sharper.reshuffled:only_ends", _TWO_POINTS),
    Lemma("profile:reshuffle", "sharper.projected:projected_reshuffled", _PROJECTED),
    Lemma("moments:without_replacement", "sharper.moments:at_most_paper", _NEVER_ABOVE),
    Lemma("split:capped", "sharper.capped:at_most_paper", _NEVER_ABOVE),
    Lemma("split:capped", "sharper.capped:bounded", _CAPPED),
    Lemma("split:capped", "sharper.capped:hit_rises", _CAPPED),
    Lemma("split:capped", "sharper.capped:hit_slope", _CAPPED),
    Lemma("profile:without_replacement", "sharper.projected:projected_drawn", _PROJECTED),
    Lemma(
        "profile:composition:without_replacement",
        "sharper.seen:steps_that_differ",
        "composition of steps that differ, their privacy losses multiplied out",
    ),
    Lemma("profile:poisson", "sharper.secret_steps:sized_contraction", "which updates are taken to contract"),
    Lemma("profile:poisson", "sharper.projected:projected_poisson", _PROJECTED),
    Lemma("control:without_replacement", "sharper.programme:rises_drawn", _BRACKET),
    Lemma("control:without_replacement", "sharper.programme:convex_drawn", _BRACKET),
    Lemma("control:without_replacement", "sharper.programme:longer_drawn", _LONGER),
    Lemma("control:without_replacement", "sharper.programme:farthest", _FARTHEST),
    Lemma("control:reshuffle", "sharper.programme:rises_reshuffled", _BRACKET),
    Lemma("control:reshuffle", "sharper.programme:convex_reshuffled", _BRACKET),
    Lemma("control:reshuffle", "sharper.programme:longer_reshuffled", _LONGER),
)
"""In the paper's order. What is part of a statement's own proof, or of one of these, is checked with that."""
