"""`GeometricSum`: 1 + x + … + x^(k−1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, Integer, Pow, S

from ..arithmetic.scaled import Scaled, log_q
from ..arithmetic.tape import Traced
from ..errors import NotRational, UnsupportedNode
from ..setting.arrays import Array
from ..symbols import eta, lam, q, q_half
from .interface import Arithmetic, Balls, Doubles, Pointwise, Printer, Rules, Trend

_LETTERS = ("s", "r", "l")


class GeometricSum(Pointwise):
    """1 + x + … + x^(k−1), kept whole: no 0/0 at x = 1, increasing in x ≥ 0 and in k.

    >>> from sympy import Rational
    >>> GeometricSum(Rational(1, 2), 3)
    7/4
    """

    nargs = 2
    is_closed_in_proofs = moves_in_proofs = True
    tex_swallows = tex_grouped = True

    @classmethod
    def eval(cls, x: Expr, k: Expr) -> Expr | None:
        if k in (S.Zero, S.One) or x is S.One:
            return k
        if x.is_Rational and k.is_Integer and 0 < k <= 64:
            return (1 - x**k) / (1 - x)
        return None

    def closed(self) -> Expr:
        """(1 − x^k)/(1 − x), for x ≠ 1."""
        x, k = self.args
        return (1 - x**k) / (1 - x)

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        x, k = self.args
        if not (k.is_nonnegative or x.is_nonzero):
            raise UnsupportedNode(f"{self}: for fewer than 0 terms the next sum is not 1 + x·(this one) where x = 0")
        return (GeometricSum(x, Integer(0)), Integer(0)), (GeometricSum(x, k + 1), 1 + x * self)

    def _eval_is_nonnegative(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_positive else None

    def _eval_is_real(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative or (x.is_real and k.is_integer and k.is_nonnegative) else None

    @classmethod
    def exact(cls, over: Arithmetic, x: Any, k: Any) -> Any:
        if x == 1:
            return k
        return over.mul(over.add(Fraction(1), over.mul(Fraction(-1), over.power(x, k))), 1 / (1 - x))

    @classmethod
    def ball(cls, over: Balls, x: Any, k: Any) -> Any:
        engine = over.engine
        if not isinstance(x, Fraction):
            below = engine.add(over.ball(Fraction(1)), over.mul(Fraction(-1), x))
            powers = over.add(Fraction(1), over.mul(Fraction(-1), over.power(x, k)))
            return over.mul(powers, engine.inverse(below))
        if not (isinstance(k, Fraction) and k.denominator == 1):
            raise NotRational(f"the non-integer exponent {k}")
        if x == 1 or over.power_bits(x, int(k)) <= over.max_bits:
            return cls.exact(over, x, k)
        base, scale, minus_one = over.kept(
            ("geometric sum", x.numerator, x.denominator),
            lambda: (engine.ball(x), engine.ball(1 / (x - 1)), engine.ball(Fraction(-1))),
        )
        return engine.mul(engine.add(engine.power(base, int(k)), minus_one), scale)

    @classmethod
    def series(cls, over: Any, x: Any, k: Any) -> Any:
        if isinstance(k, Fraction):
            return cls.ball(over, x, k)
        if isinstance(x, Fraction) and x == 1:
            return k
        below = over.engine.inverse(over.ball(over.add(x, Fraction(-1))))
        grown = over.engine.exp(over.engine.mul(k, over.log(x)))
        return over.mul(over.add(grown, Fraction(-1)), below)

    @classmethod
    def doubles(cls, over: Doubles, x: Any, k: Any) -> Any:
        if not isinstance(x, Scaled):
            return cls._of_numbers(over, x, k)
        if not x.is_power:
            raise UnsupportedNode("the NumPy view sums powers of q only; use .enclose(...)")
        if isinstance(x.exponent, Fraction) and x.exponent == 0:
            return k
        if isinstance(x.exponent, Fraction) and x.exponent < 0:
            # Σ q^(−as) = q^(−a(k−1)) Σ q^(as): the growing power joins the other exponents.
            falling = replace(x, exponent=-x.exponent)
            grown = over.mul(x.exponent, over.add(k, Fraction(-1)))
            return replace(x, plain=cls.doubles(over, falling, k), exponent=grown)
        if isinstance(x.exponent, Traced):  # may be 0 somewhere
            return over.record(_powers, x.exponent, x.log_q.value, k)
        log_x = over.value(x.exponent) * x.log_q.value
        return np.expm1(over.value(k) * log_x) * (1.0 / np.expm1(log_x))

    @classmethod
    def _of_numbers(cls, over: Doubles, x: Any, k: Any) -> Any:
        """For x > 0 that is no power of q; where x is exact, so is 1 − x before its logarithm is taken."""
        if not isinstance(x, Fraction):
            return over.record(_powers, 1.0, over.record(np.log, x), k)
        if x == 1:
            return k
        log_x = log_q(1 - x).value
        return np.expm1(over.value(k) * log_x) * (1.0 / np.expm1(log_x))

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1 if min(map(sign, self.args)) > 0 else 0

    def trend(self, rules: Rules) -> Trend | None:
        return rules.joint(self.args) if rules.sign(self.args[0]) > 0 else None

    def with_step_in_front(self, sign: Callable[[Expr], int]) -> Expr:
        """With 1 − x = ηλ·(1 + q + …) in front, if x is a positive power of q or of q_half."""
        x, k = self.args
        base, power = (x.base, x.exp) if isinstance(x, Pow) else (x, Integer(1))
        if base not in (q, q_half) or sign(power) <= 0:
            return self
        return (1 - x**k) / (eta * (lam if base == q else lam / 2) * GeometricSum(base, power))

    def tex(self, printer: Printer) -> str:
        x, k = self.args
        index = printer.free_letter(x, *_LETTERS)
        return rf"\sum_{{{index}=0}}^{{{printer.one_less(k)}}} {printer.raised_to(x, index)}"


def _powers(exponent: Array, log_q: Array, k: Array, *, out: Array) -> Array:
    """1 + x + … + x^(k−1) for x = q^exponent, where the exponent may be 0."""
    log_x = exponent * log_q
    with np.errstate(invalid="ignore"):
        out[...] = np.where(log_x == 0, k, np.expm1(k * log_x) / np.expm1(log_x))
    return out
