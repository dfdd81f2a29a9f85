"""Where to split an epoch: the choice `strconvexsmooth:split` leaves open."""

from __future__ import annotations

import numpy as np

from ..catalogue import statement
from ..errors import ArgumentError
from ..setting import Setting

MOST_SPLITS = 10**6
"""Splits that `best_split` compares."""


def best_split(run: Setting) -> int:
    """The split for which `strconvexsmooth:split` is least at a setting, in float64; any split gives a valid bound.

    >>> from hsdp_symbolic import Setting
    >>> run = Setting(n=50, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> best_split(run), best_split(run.replace(K=10**6))
    (25, 12)
    """
    batches = int(run["n"] // run["b"])
    if batches > MOST_SPLITS:
        raise ArgumentError("n", run["n"], f"{batches} batches are too many splits to compare", "use n/b up to 10^6")
    values = statement("strconvexsmooth:split").numeric(run, alpha=2, j0=0, split=np.arange(1, batches + 1))
    return 1 + int(np.argmin(values))
