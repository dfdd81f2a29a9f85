"""Amplification by Gaussian post-processing: `lem:i_by_e_lower`, `lem:post_proc`, `lem:recursive`."""

from __future__ import annotations

from functools import cache

from sympy import S

from ..proof.facts.definitions import PAIR
from ..proof.kernel import Theorem
from ..proof.propositions import AtMost, Less, LogSobolev, Noised, PerOrder
from ..proof.search import later
from ..symbols import cost_1, inverse, noise_2
from . import diffusion


@cache
def noise_shrinks() -> Theorem:
    """Independent noise of variance v multiplies the divergence, over its order, by V/(V + v), V ≥ 1/c."""
    return later(
        PerOrder(Noised(PAIR, noise_2), cost_1 * inverse / (inverse + noise_2)),
        (PerOrder(PAIR, cost_1), LogSobolev(PAIR, inverse), AtMost(S.Zero, inverse), Less(S.Zero, noise_2)),
        diffusion.noise_shrinks,
        "noise shrinks the divergence",
    )
