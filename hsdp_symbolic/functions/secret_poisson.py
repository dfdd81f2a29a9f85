"""`SecretPoisson`: as `SecretProfile`, under Poisson sampling, a record added or removed."""

from __future__ import annotations

from typing import ClassVar

from .interface import BoundFunction, Printer
from .loss_profiles import written
from .poisson_window_profile import PoissonWindowProfile
from .sampled_losses import Pair
from .sampled_notes import secret_profile_note
from .secret_profile import SecretProfile

NAME = r"\delta_{\mathrm{P}}^{\mathrm{secret}}"


class SecretPoisson(SecretProfile):
    """The larger δ at ε of both directions; see `SecretProfile`, with the pair of `PoissonProfile` for secret steps."""

    pairs: ClassVar[tuple[Pair, ...]] = (Pair.REMOVE, Pair.ADD)
    _window: ClassVar[type[BoundFunction]] = PoissonWindowProfile

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return secret_profile_note(NAME, "P")
