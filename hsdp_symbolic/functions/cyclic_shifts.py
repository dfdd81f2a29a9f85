"""`CyclicShifts`: the least shifts that undo hits at regular distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Expr

from .geometric import GeometricSum
from .interface import Rules, Spelled, Trend, agree, flip
from .pooled import Pooled


class CyclicShifts(Spelled):
    """The least Σa² of shifts that undo K hits, N updates apart, the last of them k updates before the end.

    A distance z ≥ 0 obeys z ← qz + hit − a and ends at 0. That `closed` is this minimum is proved in `sharper.shifts`
    (`cyclic_steered`, `cyclic_least`), and that it falls with k in `sharper.places` (`falls_with_place`).
    """

    nargs = 4  # q, N, K, k
    is_closed_in_proofs = True

    def edges(self) -> tuple[Expr, Expr]:
        """Slope and length of the minorant's first edge, in units of its second."""
        q, N, K, k = self.args
        last = GeometricSum(q**-2, k)
        slope = q ** (N - 2) * (1 + q**N) * last / ((1 + q ** (N * (K - 1))) * GeometricSum(q**2, N))
        return slope, q**2 * GeometricSum(q**2, N * (K - 1)) / last

    def closed(self) -> Expr:
        """What the last hit costs by itself, times what the pooled edges make of it."""
        q, _, _, k = self.args
        return Pooled(*self.edges()) / GeometricSum(q**-2, k)

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        return ((self, self.closed()),)

    def _eval_is_positive(self) -> bool | None:
        q, *counts = self.args
        return True if q.is_positive and all(count.is_integer and count.is_positive for count in counts) else None

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with q and K, down with N and k.

        `sharper.places` proves the last (`falls_with_place`). The others are argued and not proved: shifts that do for
        one run do for a tamer one, cut short where z reaches 0.
        """
        contraction, spacing, hits, after = map(rules.of, self.args)
        return agree([contraction, flip(spacing), hits, flip(after)])
