"""`DriftWeight`: how much noise the last steps have left for a drift, after what hides their hits."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from .interface import BoundFunction, must_count
from .noise_share import NoiseShare


class DriftWeight(BoundFunction):
    """Σ_(i<k) q^(2i)·(1 − f_i), f_i being the `NoiseShare` of a window. Only proofs use it."""

    nargs = 4  # g, q, window, k
    only_in_proofs = True

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """No step, and one step more."""
        share, factor, window, count = self.args
        must_count(count)
        more = factor ** (2 * count) * (1 - NoiseShare(share, factor, window, count))
        return (self.func(share, factor, window, S.Zero), S.Zero), (
            self.func(share, factor, window, count + 1),
            self + more,
        )
