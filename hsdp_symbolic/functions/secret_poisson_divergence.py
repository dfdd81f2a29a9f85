"""`SecretPoissonDivergence`: as `SecretDivergence`, under Poisson sampling, a record added or removed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from .interface import Balls, BoundFunction, Printer
from .loss_profiles import written
from .poisson_window_divergence import PoissonWindowDivergence
from .sampled_gaussian import SampledGaussian
from .sampled_notes import secret_divergence_note
from .secret_divergence import SecretDivergence

NAME = r"\mathrm{R}_{\mathrm{P}}^{\mathrm{secret}}"


class SecretPoissonDivergence(SecretDivergence):
    """See `SecretDivergence`, with the sampled Gaussian (`SampledGaussian`, ρ = cost/(2f_i)) for secret steps.

    That is the divergence when a record is removed; when one is added it is no larger (Mironov, Talwar & Zhang 2019).
    """

    _window: ClassVar[type[BoundFunction]] = PoissonWindowDivergence

    @classmethod
    def _step(cls, over: Balls, rate: Fraction, cost: Any, order: Fraction) -> Any:
        """Between its values at both ends of the cost: it rises with it."""
        engine = over.engine
        low, high = (SampledGaussian.enclosed(over, rate, end / 2, order) for end in over.bounds(cost))
        return engine.interval(over.bounds(low)[0], over.bounds(high)[1])

    @classmethod
    def _step_in_doubles(cls, rate: float, cost: float, beta: float) -> float:
        return float(SampledGaussian.array(rate, cost / 2, 1 + beta))

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return secret_divergence_note(NAME, "P")
