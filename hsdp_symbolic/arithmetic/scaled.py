"""Powers of q = 1 − step in doubles, kept as exponents until a number is needed.

Products of such powers add their exponents first, so nothing cancels, and nothing under- or overflows on the way to a
result that doubles can hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import ArgumentError
from .engines import Arb


@dataclass(frozen=True)
class LogQ:
    """log q to about 30 digits: its 32 leading bits, exact in products with whole numbers below 2^21, and the rest."""

    leading: Any
    rest: Any

    @property
    def value(self) -> Any:
        return self.leading + self.rest


@dataclass(frozen=True)
class Scaled:
    """plain · q^exponent, with the power not yet taken."""

    plain: Any
    exponent: Any
    log_q: LogQ

    @property
    def is_power(self) -> bool:
        """Whether it is a power of q and nothing else."""
        return is_one(self.plain)


def is_one(x: Any) -> bool:
    return isinstance(x, Fraction) and x == 1


@lru_cache(maxsize=1 << 16)
def log_q(step: Fraction) -> LogQ:
    """log(1 − step), computed with 256 bits."""
    engine = Arb(256)
    with engine.working():
        bounds = engine.bounds(engine.log(engine.ball(1 - step)))
    if bounds is None:
        raise ArgumentError("eta", float(step), "the update does not contract", "choose a smaller step size")
    mantissa, exponent = math.frexp(bounds[0])
    leading = math.ldexp(round(mantissa * 2**32), exponent - 32)
    return LogQ(leading, float(bounds[0] - Fraction(leading)))
