"""The catalogue: every statement by the paper's own label, in the paper's order."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from .errors import UnknownLabel
from .statement import Statement

_PLACES = {
    "thm:naive_RDP_baseline": "paper.gradient_descent:naive",
    "lem:post_proc": "paper.postprocessing:diffusion_rate",
    "lem:recursive": "paper.postprocessing:one_step",
    "thm:strconvexsmooth": "paper.fixed_order:strongly_convex",
    "lem:rootconvexity1": "paper.shuffle:joint_convexity",
    "thm:shuffle": "paper.shuffle:shuffled",
    "thm:amp_samp_wo_replacement": "paper.sampling:without_replacement",
    "thm:amp_samp_wo_replacement:limit": "paper.sampling:limit",
    "mironov2019": "paper.baselines:sampled_gaussian",
    "mironov2019:small_rate": "paper.baselines:small_rate",
    "prop:smooth": "paper.logistic:smoothness",
    "prop:smooth_strcvx_clip": "paper.logistic:clipped",
    "prop:smooth_strcvx_clip:active": "paper.logistic:actively_clipped",
    "prop:smooth_strcvx_clip:active_clip": "paper.logistic:tightly_clipped",
    "prop:smooth_strcvx_clip:rate": "paper.logistic:contraction",
    "prop:smooth_strcvx_clip:rate_clip": "paper.logistic:tight_contraction",
    "cor:logistic": "paper.logistic:corollary",
    "lem:i_by_e_lower": "paper.postprocessing:information_lower_bound",
    "lem:LSIseq_convex": "paper.lsi:lsi_convex",
    "lem:LSIseq_stronglyconvex": "paper.lsi:lsi_strongly_convex",
    "thm:convexsmooth": "paper.fixed_order:convex",
    "eqn:proof_strongly_convex_first_epoch": "paper.fixed_order:first_epoch",
    "balle2019": "paper.baselines:balle",
    "thm:GD_tighter": "paper.gradient_descent:tighter",
    "thm:GD_tighter:recursion": "paper.gradient_descent:exact_recursion",
    "thm:GD_baseline": "paper.gradient_descent:baseline",
    "composition:fixed": "paper.composition:each_once",
    "composition:full_batch": "paper.composition:full_batch",
    "composition:without_replacement": "paper.composition:sampled",
    "conversion:delta": "paper.conversion:to_delta",
    "conversion:epsilon": "paper.conversion:to_epsilon",
    "conversion:mironov2017": "paper.conversion:mironov",
    "strconvexsmooth:factor": "sharper.fixed_order:with_factor",
    "strconvexsmooth:split": "sharper.fixed_order:any_split",
    "shuffle:factor": "sharper.fixed_order:shuffled",
    "shift:cyclic": "sharper.shifts:cyclic",
    "shift:convex": "sharper.shifts:convex",
    "shift:shuffle": "sharper.shifts:shuffled",
    "shift:gd": "sharper.descent:by_shifts",
    "split:gd": "sharper.descent:by_split",
    "exact:fixed_order": "paper.quadratic:fixed_order",
    "exact:full_batch": "paper.quadratic:full_batch",
    "shift:pattern": "sharper.pattern:shifted_step",
    "moments:without_replacement": "sharper.moments:without_replacement",
    "split:capped": "sharper.capped:capped",
    "control:without_replacement": "sharper.control:without_replacement",
    "control:reshuffle": "sharper.control:reshuffle",
}
"""Label → module and function that derives it. A statement is derived when first asked for."""

_ALIASES = {"eps0": "eqn:proof_strongly_convex_first_epoch"}


def labels() -> tuple[str, ...]:
    """All labels, in the paper's order."""
    return tuple(_PLACES)


def statement(label: str) -> Statement:
    """The statement the paper calls `label` (`eps0` is short for the first-epoch bound).

    >>> statement("thm:convexsmooth")
    <Statement thm:convexsmooth: Privacy dynamics under convex smooth loss>
    """
    label = _ALIASES.get(label, label) if isinstance(label, str) else label
    if not isinstance(label, str) or label not in _PLACES:
        close = get_close_matches(str(label), [*_PLACES, *_ALIASES], n=2, cutoff=0.5)
        raise UnknownLabel(label, close)
    module, function = _PLACES[label].split(":")
    found: Statement = getattr(import_module(f".{module}", __package__), function)()
    return found


def statements() -> tuple[Statement, ...]:
    """All statements, in the paper's order."""
    return tuple(map(statement, _PLACES))
