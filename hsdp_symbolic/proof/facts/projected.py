"""Iterates that are projected onto a convex set: the update maps of such a run, as one that begins with a projection.

Noise first, then the projection: so the projection after a step is taken for the beginning of the next one, and that
after the last for post-processing of what is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...symbols import distance, factor, most_1
from ..kernel import Fact
from ..propositions import Anything, Apart, Descent, Lipschitz, LipschitzUpTo, Proposition
from .definitions import RUN
from .secret import AnyApart

PLAIN = Anything("D_0")


@dataclass(frozen=True)
class AfterProjection(Proposition):
    """Every update map of `descent` is that of `plain`, with the same batch, after a projection onto a convex set.

    The set may be any closed convex one, the same throughout; noise and batches are the same.
    """

    descent: Descent | Anything
    plain: Descent | Anything
    assumable = True
    words = "each update is one of {plain} after a projection onto one convex set: {descent}"


_PROJECTED = AfterProjection(RUN, PLAIN)
_NO_FARTHER = "a projection onto a convex set takes no two points farther apart"
_THERE_TOO = "both maps are taken at one point, the projected one"

projected_lipschitz = Fact(
    "projected_lipschitz", "", (_PROJECTED, Lipschitz(PLAIN, factor)), Lipschitz(RUN, factor), _NO_FARTHER
)
projected_up_to = Fact(
    "projected_up_to",
    "",
    (_PROJECTED, LipschitzUpTo(PLAIN, factor, most_1)),
    LipschitzUpTo(RUN, factor, most_1),
    _NO_FARTHER,
)
projected_apart = Fact("projected_apart", "", (_PROJECTED, Apart(PLAIN, distance)), Apart(RUN, distance), _THERE_TOO)
projected_any_apart = Fact(
    "projected_any_apart", "", (_PROJECTED, AnyApart(PLAIN, distance)), AnyApart(RUN, distance), _THERE_TOO
)
