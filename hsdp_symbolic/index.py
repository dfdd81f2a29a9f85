"""The index: every label, in the paper's order, with what can be said of its statement before it is derived.

It imports no derivation, so that asking for a label's place costs nothing; `catalogue` makes the statements.
"""

from __future__ import annotations

from .meaning import Scheme

PLACES: dict[str, tuple[Scheme, str]] = {
    "thm:naive_RDP_baseline": (Scheme.FIXED, "paper.gradient_descent:naive"),
    "lem:post_proc": (Scheme.NONE, "paper.postprocessing:diffusion_rate"),
    "lem:recursive": (Scheme.NONE, "paper.postprocessing:one_step"),
    "thm:strconvexsmooth": (Scheme.FIXED, "paper.fixed_order:strongly_convex"),
    "lem:rootconvexity1": (Scheme.NONE, "paper.shuffle:joint_convexity"),
    "thm:shuffle": (Scheme.SHUFFLE, "paper.shuffle:shuffled"),
    "thm:amp_samp_wo_replacement": (Scheme.WITHOUT_REPLACEMENT, "paper.sampling:without_replacement"),
    "thm:amp_samp_wo_replacement:limit": (Scheme.WITHOUT_REPLACEMENT, "paper.sampling:limit"),
    "mironov2019": (Scheme.POISSON, "paper.baselines:sampled_gaussian"),
    "mironov2019:small_rate": (Scheme.NONE, "paper.baselines:small_rate"),
    "prop:smooth": (Scheme.NONE, "paper.logistic:smoothness"),
    "prop:smooth_strcvx_clip": (Scheme.NONE, "paper.logistic:clipped"),
    "prop:smooth_strcvx_clip:active": (Scheme.NONE, "paper.logistic:actively_clipped"),
    "prop:smooth_strcvx_clip:active_clip": (Scheme.NONE, "paper.logistic:tightly_clipped"),
    "prop:smooth_strcvx_clip:rate": (Scheme.NONE, "paper.logistic:contraction"),
    "prop:smooth_strcvx_clip:rate_clip": (Scheme.NONE, "paper.logistic:tight_contraction"),
    "clip:scalar": (Scheme.NONE, "sharper.clipping:scalar_output"),
    "clip:logistic": (Scheme.NONE, "sharper.clipped_logistic:logistic"),
    "clip:convex": (Scheme.NONE, "sharper.clipped_updates:convex"),
    "clip:convex:attained": (Scheme.NONE, "sharper.clipped_updates:convex_attained"),
    "smooth:softmax": (Scheme.NONE, "sharper.clipped_softmax:smooth_softmax"),
    "clip:softmax:convex": (Scheme.NONE, "sharper.clipped_softmax:keeps_convex"),
    "clip:softmax": (Scheme.NONE, "sharper.clipped_softmax:softmax"),
    "clip:smooth": (Scheme.NONE, "sharper.clipped_updates:smooth"),
    "gradient:scalar": (Scheme.NONE, "sharper.sensitivity:scalar"),
    "gradient:logistic": (Scheme.NONE, "sharper.sensitivity:logistic"),
    "gradient:softmax": (Scheme.NONE, "sharper.sensitivity:softmax"),
    "cor:logistic": (Scheme.SHUFFLE, "paper.logistic:corollary"),
    "lem:i_by_e_lower": (Scheme.NONE, "paper.postprocessing:information_lower_bound"),
    "lem:LSIseq_convex": (Scheme.NONE, "paper.lsi:lsi_convex"),
    "lem:LSIseq_stronglyconvex": (Scheme.NONE, "paper.lsi:lsi_strongly_convex"),
    "thm:convexsmooth": (Scheme.FIXED, "paper.fixed_order:convex"),
    "eqn:proof_strongly_convex_first_epoch": (Scheme.FIXED, "paper.fixed_order:first_epoch"),
    "balle2019": (Scheme.FIXED, "paper.baselines:balle"),
    "thm:GD_tighter": (Scheme.FULL_BATCH, "paper.gradient_descent:tighter"),
    "thm:GD_tighter:recursion": (Scheme.FULL_BATCH, "paper.gradient_descent:exact_recursion"),
    "thm:GD_baseline": (Scheme.FULL_BATCH, "paper.gradient_descent:baseline"),
    "composition:fixed": (Scheme.FIXED, "paper.composition:each_once"),
    "composition:full_batch": (Scheme.FULL_BATCH, "paper.composition:full_batch"),
    "composition:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "paper.composition:sampled"),
    "conversion:delta": (Scheme.NONE, "paper.conversion:to_delta"),
    "conversion:epsilon": (Scheme.NONE, "paper.conversion:to_epsilon"),
    "conversion:mironov2017": (Scheme.NONE, "paper.conversion:mironov"),
    "strconvexsmooth:factor": (Scheme.FIXED, "sharper.fixed_order:with_factor"),
    "strconvexsmooth:split": (Scheme.FIXED, "sharper.fixed_order:any_split"),
    "shuffle:factor": (Scheme.SHUFFLE, "sharper.fixed_order:shuffled"),
    "shift:cyclic": (Scheme.FIXED, "sharper.shifts:cyclic"),
    "shift:convex": (Scheme.FIXED, "sharper.shifts:convex"),
    "shift:shuffle": (Scheme.SHUFFLE, "sharper.shifts:shuffled"),
    "shift:gd": (Scheme.FULL_BATCH, "sharper.descent:by_shifts"),
    "split:gd": (Scheme.FULL_BATCH, "sharper.descent:by_split"),
    "gdp:cyclic": (Scheme.FIXED, "sharper.gaussian:cyclic"),
    "gdp:convex": (Scheme.FIXED, "sharper.gaussian:convex"),
    "gdp:expanding": (Scheme.FIXED, "sharper.expanding:fixed"),
    "gdp:gd": (Scheme.FULL_BATCH, "sharper.gaussian:full_batch"),
    "gdp:composition:fixed": (Scheme.FIXED, "sharper.gaussian:each_once"),
    "gdp:composition:full_batch": (Scheme.FULL_BATCH, "sharper.gaussian:all_at_once"),
    "profile:shuffle": (Scheme.SHUFFLE, "sharper.profiles:shuffled"),
    "profile:shuffle:expanding": (Scheme.SHUFFLE, "sharper.expanding:shuffled"),
    "profile:reshuffle": (Scheme.RESHUFFLE, "sharper.reshuffled:reshuffle"),
    "profile:reshuffle:expanding": (Scheme.RESHUFFLE, "sharper.expanding_profile:reshuffle"),
    "profile:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.secret:without_replacement"),
    "secret:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.secret:without_replacement_divergence"),
    "profile:poisson": (Scheme.POISSON, "sharper.secret:poisson"),
    "secret:poisson": (Scheme.POISSON, "sharper.secret:poisson_divergence_statement"),
    "seen:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.seen:divergence_without_replacement"),
    "seen:poisson_replace": (Scheme.POISSON, "sharper.seen:divergence_poisson_replace"),
    "profile:composition:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.seen:without_replacement"),
    "profile:balls_in_bins": (Scheme.BALLS_IN_BINS, "sharper.bins:profile_statement"),
    "secret:balls_in_bins": (Scheme.BALLS_IN_BINS, "sharper.bins:divergence_statement"),
    "composition:balls_in_bins": (Scheme.BALLS_IN_BINS, "sharper.bins:composition"),
    "profile:composition:poisson": (Scheme.POISSON, "sharper.seen:poisson"),
    "profile:composition:poisson_replace": (Scheme.POISSON, "sharper.seen:poisson_replace"),
    "unlearn:zero_out": (Scheme.NONE, "sharper.unlearning:zero_out"),
    "unlearn:convex": (Scheme.NONE, "sharper.unlearning:convex"),
    "unlearn:every_step": (Scheme.NONE, "sharper.unlearning:every_step"),
    "unlearn:expanding": (Scheme.NONE, "sharper.forgetting_expanding:expanding"),
    "exact:fixed_order": (Scheme.FIXED, "paper.quadratic:fixed_order"),
    "exact:full_batch": (Scheme.FULL_BATCH, "paper.quadratic:full_batch"),
    "gdp:exact:fixed_order": (Scheme.FIXED, "paper.quadratic:fixed_order_gaussian"),
    "gdp:exact:full_batch": (Scheme.FULL_BATCH, "paper.quadratic:full_batch_gaussian"),
    "shift:pattern": (Scheme.NONE, "sharper.pattern:shifted_step"),
    "moments:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.moments:without_replacement"),
    "split:capped": (Scheme.WITHOUT_REPLACEMENT, "sharper.capped:capped"),
    "control:without_replacement": (Scheme.WITHOUT_REPLACEMENT, "sharper.control:without_replacement"),
    "expanding:reshuffle": (Scheme.RESHUFFLE, "sharper.expanding_reshuffled:reshuffle"),
    "control:reshuffle": (Scheme.RESHUFFLE, "sharper.control:reshuffle"),
}
"""Label → how the batches are made, and the module and function that derives it, when first asked for."""

ALIASES = {"eps0": "eqn:proof_strongly_convex_first_epoch"}
"""Other names for a label."""


def labels() -> tuple[str, ...]:
    """All labels, in the paper's order."""
    return tuple(PLACES)


def scheme_of(label: str) -> Scheme:
    """How the batches of the algorithm a statement bounds are made, without deriving it; empty for a lemma.

    >>> scheme_of("thm:shuffle"), scheme_of("lem:post_proc")
    (<Scheme.SHUFFLE: 'shuffle'>, <Scheme.NONE: ''>)
    """
    return PLACES[label][0]
