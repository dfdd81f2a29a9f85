"""The catalogue: every statement by the paper's own label, in the paper's order."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from .errors import UnknownLabel
from .statement import Scheme, Statement

_PLACES: dict[str, tuple[Scheme, str]] = {
    "thm:naive_RDP_baseline": ("fixed", "paper.gradient_descent:naive"),
    "lem:post_proc": ("", "paper.postprocessing:diffusion_rate"),
    "lem:recursive": ("", "paper.postprocessing:one_step"),
    "thm:strconvexsmooth": ("fixed", "paper.fixed_order:strongly_convex"),
    "lem:rootconvexity1": ("", "paper.shuffle:joint_convexity"),
    "thm:shuffle": ("shuffle", "paper.shuffle:shuffled"),
    "thm:amp_samp_wo_replacement": ("without_replacement", "paper.sampling:without_replacement"),
    "thm:amp_samp_wo_replacement:limit": ("without_replacement", "paper.sampling:limit"),
    "mironov2019": ("poisson", "paper.baselines:sampled_gaussian"),
    "mironov2019:small_rate": ("", "paper.baselines:small_rate"),
    "prop:smooth": ("", "paper.logistic:smoothness"),
    "prop:smooth_strcvx_clip": ("", "paper.logistic:clipped"),
    "prop:smooth_strcvx_clip:active": ("", "paper.logistic:actively_clipped"),
    "prop:smooth_strcvx_clip:active_clip": ("", "paper.logistic:tightly_clipped"),
    "prop:smooth_strcvx_clip:rate": ("", "paper.logistic:contraction"),
    "prop:smooth_strcvx_clip:rate_clip": ("", "paper.logistic:tight_contraction"),
    "cor:logistic": ("shuffle", "paper.logistic:corollary"),
    "lem:i_by_e_lower": ("", "paper.postprocessing:information_lower_bound"),
    "lem:LSIseq_convex": ("", "paper.lsi:lsi_convex"),
    "lem:LSIseq_stronglyconvex": ("", "paper.lsi:lsi_strongly_convex"),
    "thm:convexsmooth": ("fixed", "paper.fixed_order:convex"),
    "eqn:proof_strongly_convex_first_epoch": ("fixed", "paper.fixed_order:first_epoch"),
    "balle2019": ("fixed", "paper.baselines:balle"),
    "thm:GD_tighter": ("full_batch", "paper.gradient_descent:tighter"),
    "thm:GD_tighter:recursion": ("full_batch", "paper.gradient_descent:exact_recursion"),
    "thm:GD_baseline": ("full_batch", "paper.gradient_descent:baseline"),
    "composition:fixed": ("fixed", "paper.composition:each_once"),
    "composition:full_batch": ("full_batch", "paper.composition:full_batch"),
    "composition:without_replacement": ("without_replacement", "paper.composition:sampled"),
    "conversion:delta": ("", "paper.conversion:to_delta"),
    "conversion:epsilon": ("", "paper.conversion:to_epsilon"),
    "conversion:mironov2017": ("", "paper.conversion:mironov"),
    "strconvexsmooth:factor": ("fixed", "sharper.fixed_order:with_factor"),
    "strconvexsmooth:split": ("fixed", "sharper.fixed_order:any_split"),
    "shuffle:factor": ("shuffle", "sharper.fixed_order:shuffled"),
    "shift:cyclic": ("fixed", "sharper.shifts:cyclic"),
    "shift:convex": ("fixed", "sharper.shifts:convex"),
    "shift:shuffle": ("shuffle", "sharper.shifts:shuffled"),
    "shift:gd": ("full_batch", "sharper.descent:by_shifts"),
    "split:gd": ("full_batch", "sharper.descent:by_split"),
    "exact:fixed_order": ("fixed", "paper.quadratic:fixed_order"),
    "exact:full_batch": ("full_batch", "paper.quadratic:full_batch"),
    "shift:pattern": ("", "sharper.pattern:shifted_step"),
    "moments:without_replacement": ("without_replacement", "sharper.moments:without_replacement"),
    "split:capped": ("without_replacement", "sharper.capped:capped"),
    "control:without_replacement": ("without_replacement", "sharper.control:without_replacement"),
    "control:reshuffle": ("reshuffle", "sharper.control:reshuffle"),
}
"""Label → how the batches are made, and the module and function that derives it, when first asked for."""

_ALIASES = {"eps0": "eqn:proof_strongly_convex_first_epoch"}


def labels() -> tuple[str, ...]:
    """All labels, in the paper's order."""
    return tuple(_PLACES)


def scheme_of(label: str) -> Scheme:
    """How the batches of the algorithm a statement bounds are made, without deriving it; empty for a lemma.

    >>> scheme_of("thm:shuffle"), scheme_of("lem:post_proc")
    ('shuffle', '')
    """
    return _PLACES[label][0]


def statement(label: str) -> Statement:
    """The statement the paper calls `label` (`eps0` is short for the first-epoch bound).

    >>> statement("thm:convexsmooth")
    <Statement thm:convexsmooth: Privacy dynamics under convex smooth loss>
    """
    label = _ALIASES.get(label, label) if isinstance(label, str) else label
    if not isinstance(label, str) or label not in _PLACES:
        close = get_close_matches(str(label), [*_PLACES, *_ALIASES], n=2, cutoff=0.5)
        raise UnknownLabel(label, close)
    module, function = _PLACES[label][1].split(":")
    found: Statement = getattr(import_module(f".{module}", __package__), function)()
    return found


def statements() -> tuple[Statement, ...]:
    """All statements, in the paper's order."""
    return tuple(map(statement, _PLACES))
