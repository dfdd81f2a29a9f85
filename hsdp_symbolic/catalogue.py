"""The catalogue: every statement by the paper's own label, in the paper's order."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from .errors import UnknownLabel
from .statement import Statement

_PLACES = {
    "thm:naive_RDP_baseline": ("gradient_descent", "naive"),
    "lem:post_proc": ("postprocessing", "diffusion_rate"),
    "lem:recursive": ("postprocessing", "one_step"),
    "thm:strconvexsmooth": ("fixed_order", "strongly_convex"),
    "lem:rootconvexity1": ("shuffle", "joint_convexity"),
    "thm:shuffle": ("shuffle", "shuffled"),
    "thm:amp_samp_wo_replacement": ("sampling", "without_replacement"),
    "thm:amp_samp_wo_replacement:limit": ("sampling", "limit"),
    "mironov2019": ("baselines", "sampled_gaussian"),
    "mironov2019:small_rate": ("baselines", "small_rate"),
    "prop:smooth": ("logistic", "smoothness"),
    "prop:smooth_strcvx_clip": ("logistic", "clipped"),
    "prop:smooth_strcvx_clip:active": ("logistic", "actively_clipped"),
    "prop:smooth_strcvx_clip:active_clip": ("logistic", "tightly_clipped"),
    "cor:logistic": ("logistic", "corollary"),
    "lem:i_by_e_lower": ("postprocessing", "information_lower_bound"),
    "lem:LSIseq_convex": ("lsi", "lsi_convex"),
    "lem:LSIseq_stronglyconvex": ("lsi", "lsi_strongly_convex"),
    "thm:convexsmooth": ("fixed_order", "convex"),
    "eqn:proof_strongly_convex_first_epoch": ("fixed_order", "first_epoch"),
    "balle2019": ("baselines", "balle"),
    "thm:GD_tighter": ("gradient_descent", "tighter"),
    "thm:GD_tighter:recursion": ("gradient_descent", "exact_recursion"),
    "thm:GD_baseline": ("gradient_descent", "baseline"),
    "exact:fixed_order": ("quadratic", "fixed_order"),
    "exact:full_batch": ("quadratic", "full_batch"),
}
"""Label → (module of `paper/`, function that derives it). A statement is derived when first asked for."""

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
    module, function = _PLACES[label]
    found: Statement = getattr(import_module(f".paper.{module}", __package__), function)()
    return found


def statements() -> tuple[Statement, ...]:
    """All statements, in the paper's order."""
    return tuple(map(statement, _PLACES))
