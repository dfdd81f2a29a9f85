"""`PoissonWindowDivergence`: the Rényi divergence that the secret hits of a run's last steps cost."""

from __future__ import annotations

from .interface import BoundFunction, Printer


class PoissonWindowDivergence(BoundFunction):
    """The sum over i < window of R_α of the pairs of `PoissonProfile`, of cost/f_i; f_i is the `NoiseShare` of i.

    The larger of the two directions each time.

    Only proofs use it.
    """

    nargs = 6  # p, cost, q, window, g, order
    only_in_proofs = True

    def _eval_is_nonnegative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def tex(self, printer: Printer) -> str:
        return rf"R_{{{printer._print(self.args[-1])}, \mathrm{{window}}}}"
