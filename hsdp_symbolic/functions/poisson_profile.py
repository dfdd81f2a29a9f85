"""`PoissonProfile`: δ of many steps under Poisson sampling, a record added or removed, if every iterate is seen."""

from __future__ import annotations

from typing import ClassVar

from .interface import Printer
from .loss_profiles import written
from .sampled_losses import Pair
from .sampled_notes import profile_note
from .sampled_profile import SampledProfile

NAME = r"\delta_{\mathrm{P}}"


class PoissonProfile(SampledProfile):
    """The larger δ at ε, of both directions, of `steps` compositions of (1 − p)·N(0, 1) + p·N(μ, 1) and N(0, 1).

    μ² is `cost`, p is `rate`.
    """

    pairs: ClassVar[tuple[Pair, ...]] = (Pair.REMOVE, Pair.ADD)

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return profile_note(NAME, "P")
