"""`BinsWindow`: what the secret epochs of balls in bins cost a copy that is to meet the run."""

from __future__ import annotations

from .interface import BoundFunction, Printer


class BinsWindow(BoundFunction):
    """The moment of order α of `known` secret epochs of `count` batches; the larger of both directions.

    In the i-th step from the end the copy drifts by a_i = drift·w_i, w_i the `ShiftWeight` of the window, in units of
    a use of the record, of which μ² is `cost`. Record removed: the mean, over the places of α copies of it in every
    epoch, each by itself and each place as likely, of the product over the steps of
    e^(μ²(C(c, 2) + (α − 1)·a·c + C(α, 2)·a²)), c being the number of copies placed there. Record added: the exponential
    of α(α − 1)·(μ²/2)·Σ(a_i + 1/N)² and of (α − 1)·known·(μ²/2)·(1 − 1/N). Only proofs use it.
    """

    nargs = 7  # count, cost, q, known, window, drift, order
    only_in_proofs = True

    def _eval_is_positive(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def tex(self, printer: Printer) -> str:
        return rf"M_{{{printer._print(self.args[-1])}, \mathrm{{bins}}}}\left({printer._print(self.args[5])}\right)"
