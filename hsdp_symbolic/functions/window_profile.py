"""`WindowProfile`: δ of the last steps of a run whose hits are secret, from a given distance of a drifted copy."""

from __future__ import annotations

from .interface import BoundFunction, Printer


class WindowProfile(BoundFunction):
    """The profile at ε of C_p(G(√(cost/f_i))) for every i < window, and G(√drift) besides.

    f_i being the `NoiseShare` of i. Only proofs use it.
    """

    nargs = 7  # p, cost, q, window, g, drift, epsilon
    only_in_proofs = True

    def _eval_is_nonnegative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def tex(self, printer: Printer) -> str:
        *_, drift, epsilon = map(printer._print, self.args)
        return rf"\delta_{{\mathrm{{window}}}}\left({drift}; {epsilon}\right)"
