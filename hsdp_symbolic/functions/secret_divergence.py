"""`SecretDivergence`: the Rényi divergence of a run that reveals its early hits and keeps the late ones secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from sympy import Expr, S, exp, log

from ..setting.arrays import Array
from ..symbols import state
from .drift_weight import DriftWeight
from .expected import Expected
from .interface import Balls, BoundFunction, OfNumbers, Printer, Rules, Trend
from .loss_profiles import check_sampled, check_secret, written
from .sampled_divergence import check_order, log_moment, log_moment_in_doubles
from .sampled_notes import secret_divergence_note
from .secret_losses import BLOCKS, Secret
from .secret_search import least_place
from .squared_hits import log_squared_moment, log_squared_moment_in_doubles
from .window_divergence import WindowDivergence

NAME = r"\mathrm{R}_{\mathrm{C}}^{\mathrm{secret}}"


class SecretDivergence(OfNumbers):
    """At order α: Σ r_α(cost/f_i) over i < `window`, plus log E exp(α(α − 1)c²z²/2)/(α − 1).

    All but the order is as in `SecretProfile`, r_α is `SampledDivergence`.
    """

    nargs = 7  # rate, cost, factor, steps, window, share, order
    normalised = (0, 1, 2, 3, 4, 5, 6)
    free_at = (4, 5)
    rank = 1
    slow_at_high_orders = True

    _window: ClassVar[type[BoundFunction]] = WindowDivergence

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """From the mean, over the hits that are told, of e^((α−1)·what the window costs from where they lead)."""
        rate, cost, factor, steps, window, share, order = self.args
        drift = cost * factor ** (2 * window) / DriftWeight(share, factor, window, window) * state**2
        sampled = self._window(rate, cost, factor, window, share, order)
        body = exp((order - 1) * sampled + order * (order - 1) * drift / 2)
        mean = Expected(body, state, factor * state + 1, factor * state, rate, steps - window, S.Zero)
        return ((self, log(mean) / (order - 1)),)

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def choose(
        cls, known: Mapping[int, Fraction], *, delta: Fraction | None = None, epsilon: Fraction | None = None
    ) -> Mapping[int, Fraction]:
        """The least divergence of the order that is known."""
        rate, cost, factor, steps, order = (known[place] for place in (0, 1, 2, 3, 6))

        def cost_of(window: int, share: Fraction) -> float:
            return float(cls.array(rate, cost, factor, steps, window, share, order))

        window, share = least_place(factor, int(steps), cost_of)
        return {4: Fraction(window), 5: share}

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        return not numbers[0] * numbers[1]

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        rate, cost, factor, steps, window, share, order = numbers
        revealed = steps - window
        check_sampled(rate, cost)
        check_secret(factor, revealed, window, share)
        check_order(order)
        engine = over.engine
        secret = Secret(rate, cost, factor, int(revealed), int(window), share)
        total: Any = over.ball(Fraction(0))
        if revealed:
            square = over.mul(order * (order - 1), secret.drift(engine))
            total = log_squared_moment(over, rate, factor, int(revealed), square)
        for noise, count in secret.shares(engine):
            one = cls._step(over, rate, engine.mul(over.ball(cost), engine.inverse(noise)), order)
            total = engine.add(total, over.mul(Fraction(count), one))
        return over.mul(1 / (order - 1), total)

    @classmethod
    def _step(cls, over: Balls, rate: Fraction, cost: Any, order: Fraction) -> Any:
        """(α − 1) times the divergence of one secret step, for a cost that is an interval of the engine."""
        return log_moment(over, rate, cost, order)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        given = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in arguments))
        rows = zip(*(part.ravel().tolist() for part in given), strict=True)
        return np.array([cls._in_doubles(*row) for row in rows], dtype=np.float64).reshape(given[0].shape)

    @classmethod
    def _in_doubles(cls, *numbers: Any) -> float:
        rate, cost, factor, steps, window, share, order = numbers
        p, c, q, g, beta = float(rate), float(cost), float(factor), float(share), float(order - 1)
        stride = -(-int(window) // BLOCKS)
        spare = total = 0.0
        for start in range(0, int(window), stride):
            many = min(stride, int(window) - start)
            noise = g / max(q**start, g)
            if noise >= 1:
                many = int(window) - start
            total += many * cls._step_in_doubles(p, c / noise, beta)
            if noise >= 1:
                break
            length = many if q == 1 else (1 - q ** (2 * many)) / (1 - q * q)
            spare += (1 - noise) * q ** (2 * start) * length
        drift = c * q ** (2 * int(window)) / spare
        total += log_squared_moment_in_doubles(p, q, int(steps - window), (1 + beta) * beta * drift)
        return total / beta

    @classmethod
    def _step_in_doubles(cls, rate: float, cost: float, beta: float) -> float:
        return log_moment_in_doubles(rate, cost, beta)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with rate, cost, steps and order; of the others nothing is known (see `SecretProfile`)."""
        rate, cost, factor, steps, window, share, order = self.args
        if any(rules.depends(part) for part in (factor, window, share)):
            return None
        return rules.joint([rate, cost, steps, order])

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return secret_divergence_note(NAME, "C")
