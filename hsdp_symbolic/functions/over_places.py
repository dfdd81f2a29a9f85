"""`OverPlaces`: the mean of a function of how far a copy is away, over the places of a record in the told epochs."""

from __future__ import annotations

from .interface import Binding, Printer


class OverPlaces(Binding):
    """The mean of `of` at `state` = Σ_(e < told) q^(count·e + i_e), each i_e one of 0, …, count − 1, each as likely.

    Only proofs use it.
    """

    nargs = 5  # of, state, q, count, told
    only_in_proofs = True

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive else None

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None

    def tex(self, printer: Printer) -> str:
        of, state, factor, count, told = map(printer._print, self.args)
        places = rf"{state} = \sum_{{e < {told}}} {factor}^{{{count} e + i_e}}"
        return rf"\underset{{{places}}}{{\mathrm{{E}}}}\left[{of}\right]"
