"""`GaussianProfile`: how well two Gaussians a distance apart can be told from each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr, S

from ..errors import ArgumentError, NotRational, OutsideDoubleRange
from ..setting.arrays import Array
from .interface import Arithmetic, Balls, Doubles, Pointwise, Printer, Rules, Trend, agree, flip

_LARGE = 2**13
"""erfc beyond this is less than any number that an enclosure tells from 0, and its asymptotic series is precise."""
_POINTS_AT_ONCE = 2048


class GaussianProfile(Pointwise):
    """δ of N(0, 1) and N(μ, 1) at ε, by the cost μ²: Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), for every real ε.

    It is the largest P(A) − e^ε·Q(A) over all sets A, whichever of the two is P (Balle & Wang 2018, Theorem 8). For
    μ = 0 that is 0, or 1 − e^ε if ε < 0.
    """

    nargs = 2  # cost = μ², epsilon
    normalised = (0, 1)
    moves_in_proofs = True

    @classmethod
    def eval(cls, cost: Expr, epsilon: Expr) -> Expr | None:
        return S.Zero if cost.is_zero and epsilon.is_nonnegative else None

    def _eval_is_real(self) -> bool | None:
        cost, epsilon = self.args
        return True if cost.is_nonnegative and epsilon.is_real else None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._eval_is_real()

    def _eval_is_positive(self) -> bool | None:
        cost, epsilon = self.args
        return True if epsilon.is_real and (cost.is_positive or (cost.is_nonnegative and epsilon.is_negative)) else None

    @classmethod
    def exact(cls, over: Arithmetic, cost: Any, epsilon: Any) -> Any:
        if cost == 0 and epsilon >= 0:
            return Fraction(0)
        raise NotRational(cls.__name__)

    @classmethod
    def ball(cls, over: Balls, cost: Any, epsilon: Any) -> Any:
        if isinstance(cost, Fraction) and cost == 0:
            return over.positive_part(over.add(Fraction(1), over.mul(Fraction(-1), over.exp(epsilon))))
        if not (_is_narrow(over, cost) and _is_narrow(over, epsilon)):
            return cls._between(over, cost, epsilon)
        if isinstance(cost, Fraction) and cost < 0:
            raise _negative(cost)
        engine = over.engine
        near, far = _places(over, cost, epsilon)
        above = engine.erfc(near)
        if _exceeds(over, near, _LARGE):  # next to nothing, and some part of it
            return engine.mul(engine.interval(Fraction(0), Fraction(1)), above)
        below = _scaled_tail(over, near, far, epsilon)
        return over.mul(Fraction(1, 2), over.add(above, over.mul(Fraction(-1), below)))

    @classmethod
    def _between(cls, over: Balls, cost: Any, epsilon: Any) -> Any:
        """From the ends of wide intervals: it rises with the cost and falls with ε."""
        (least, most), (low, high) = over.bounds(cost), over.bounds(epsilon)
        if most < 0:
            raise _negative(most)
        bottom, top = cls.ball(over, max(Fraction(0), least), high), cls.ball(over, most, low)
        return over.engine.interval(over.bounds(bottom)[0], over.bounds(top)[1])

    @classmethod
    def doubles(cls, over: Doubles, cost: Any, epsilon: Any) -> Any:
        if isinstance(cost, Fraction) and cost and not float(cost):
            raise OutsideDoubleRange("the cost")
        return over.record(_in_doubles, *_two_doubles(over, cost), *_two_doubles(over, epsilon))

    def presumes(self) -> Sequence[Expr]:
        return () if self.args[0].is_nonnegative else (self.args[0],)

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with the cost, down with ε.

        Its derivative in μ is the normal density at ε/μ − μ/2, that in ε is −e^ε·Φ(−ε/μ − μ/2).
        """
        cost, epsilon = map(rules.of, self.args)
        return agree([cost, flip(epsilon)])

    def tex(self, printer: Printer) -> str:
        cost, epsilon = map(printer._print, self.args)
        return rf"\delta_{{\mathrm{{G}}}}\left(\sqrt{{{cost}}}; {epsilon}\right)"

    def tex_note(self, printer: Printer) -> str:
        return (
            r"\text{where}\ \delta_{\mathrm{G}}(\mu; \varepsilon)\ "
            r"\text{is the profile of}\ \mathcal{N}(0, 1)\ \text{and}\ \mathcal{N}(\mu, 1)"
        )


def _negative(cost: Fraction) -> ArgumentError:
    return ArgumentError("cost", float(cost), "a squared distance is not negative", "give a cost of 0 or more")


def falling(over: Balls, cost: Any, epsilon: Any) -> Any:
    """How fast the profile falls with ε: e^ε·Φ(−ε/μ − μ/2)."""
    near, far = _places(over, cost, epsilon)
    return over.mul(Fraction(1, 2), _scaled_tail(over, near, far, epsilon))


def _places(over: Balls, cost: Any, epsilon: Any) -> tuple[Any, Any]:
    """(ε/μ − μ/2)/√2 and (ε/μ + μ/2)/√2: Φ(−x) is erfc(x/√2)/2."""
    engine, half = over.engine, over.mul(Fraction(1, 2), cost)
    scale = engine.inverse(engine.sqrt(over.ball(over.mul(Fraction(2), cost))))
    sides = (over.add(epsilon, over.mul(Fraction(side), half)) for side in (-1, 1))
    near, far = (over.ball(over.mul(side, scale)) for side in sides)
    return near, far


def _scaled_tail(over: Balls, near: Any, far: Any, epsilon: Any) -> Any:
    """e^ε·erfc(far), where ε = far² − near².

    Far out it is e^(−near²) times e^(x²)·erfc(x) = (1 − 1/(2x²) + 1·3/(2x²)² − …)/(x√π) at x = far. The truth lies
    between any two successive partial sums (DLMF 7.12.1): between none and all of the last term is right.
    """
    engine = over.engine
    if not _exceeds(over, far, _LARGE):
        return engine.mul(engine.exp(over.ball(epsilon)), engine.erfc(far))
    inverse = engine.inverse(far)
    ratio = over.mul(Fraction(-1, 2), inverse, inverse)
    term = total = over.ball(Fraction(1))
    terms = engine.precision // 13 + 2  # each is less than 2^−13 of the one before it
    for place in range(terms):
        term = over.mul(Fraction(2 * place + 1), term, ratio)
        total = engine.add(total, term)
    last = over.mul(Fraction(2 * terms + 1), term, ratio, engine.interval(Fraction(0), Fraction(1)))
    series = over.mul(engine.add(total, last), inverse, engine.inverse(engine.sqrt(engine.pi())))
    return engine.mul(engine.exp(over.mul(Fraction(-1), near, near)), series)


def _is_narrow(over: Balls, x: Any) -> bool:
    """Whether it is a number, or an interval that has half of the digits."""
    if isinstance(x, Fraction):
        return True
    one = over.engine.bounds(over.mul(x, over.engine.inverse(x)))  # not x itself, which may be very long
    return one is not None and (one[1] - one[0]) ** 2 <= over.engine.resolution


def _exceeds(over: Balls, x: Any, limit: int) -> bool:
    """Whether x > limit > 0 is seen."""
    inverse = over.engine.bounds(over.add(Fraction(1), over.engine.inverse(x)))  # not x itself, likewise
    return inverse is not None and inverse[0] > 1 and limit * (inverse[1] - 1) < 1


def _two_doubles(over: Doubles, x: Any) -> tuple[Any, float]:
    """A value as a double and, if it is an exact number, what that leaves."""
    value = over.value(x)
    return value, float(x - Fraction(value)) if isinstance(x, Fraction) else 0.0


def _in_doubles(cost: Array, cost_rest: Array, epsilon: Array, epsilon_rest: Array, *, out: Array) -> Array:
    given = np.broadcast_arrays(cost, cost_rest, epsilon, epsilon_rest)
    c, c_rest, e, e_rest = (np.asarray(part, dtype=np.float64).ravel() for part in given)
    with np.errstate(all="ignore"):
        falling = e < 0
        found = profile(c, np.abs(e), c_rest, np.where(falling, -e_rest, e_rest))
        out[...] = np.where(falling, np.exp(e) * found - np.expm1(e), found).reshape(given[0].shape)
    return out


def profile(cost: Array, epsilon: Array, cost_rest: Any = 0.0, epsilon_rest: Any = 0.0) -> Array:
    """For ε ≥ 0, over arrays of one axis, to about 1e-14 of the value; the rests are small corrections.

    With x = ε/μ − μ/2, y = x + μ, density φ and R(s) = ∫ e^(−st − t²/2) dt over t > 0 (so that Φ(−s) = φ(s)·R(s)), it
    is φ(x)·(R(x) − R(y)) = φ(x)·∫ e^(−xt − t²/2)·(1 − e^(−μt)) dt, in which nothing cancels. Where x < −1 it is
    1 − φ(x)·(R(−x) + R(y)), which is more than a half.
    """
    place = _Place(cost, epsilon, cost_rest, epsilon_rest)
    mu, x, far = place.mu, place.x, place.far
    density = np.exp(-place.exponent) * (1 - place.correction) / _ROOT
    out = np.zeros(x.shape)
    near = ~far & (density > 0) & (cost > 0)
    out[near] = density[near] * mills_difference(x[near], mu[near])
    out[far] = 1 - density[far] * (mills(-x[far]) + mills(x[far] + mu[far]))
    return out


def log_profile(cost: Array, epsilon: Array) -> tuple[Array, Array]:
    """log δ, and how fast it falls with ε, for cost > 0 and ε ≥ 0: also where δ is too small for a double."""
    place = _Place(cost, epsilon)
    mu, x, far = place.mu, place.x, place.far
    log_density = -place.exponent - place.correction - math.log(_ROOT)
    beyond = mills(x + mu)
    value = np.log(mills_difference(np.where(far, 0.0, x), mu)) + log_density
    value[far] = np.log1p(-np.exp(log_density[far]) * (mills(-x[far]) + beyond[far]))
    return value, np.exp(log_density - value) * beyond


_ROOT = math.sqrt(2 * math.pi)


class _Place:
    """μ, x = ε/μ − μ/2, whether that is below −1, and x²/2 as an exponent and a correction: twice as many digits."""

    def __init__(self, cost: Array, epsilon: Array, cost_rest: Any = 0.0, epsilon_rest: Any = 0.0) -> None:
        half = cost / 2
        over = epsilon - half
        virtual = over - epsilon
        rest = (epsilon - (over - virtual)) - (half + virtual) + (epsilon_rest - cost_rest / 2)
        size = np.frexp(over)[1]  # scaled to about 1, lest a square be too small or too large
        top, rest, bottom = np.ldexp(over, -size), np.ldexp(rest, -size), np.ldexp(cost, 1 - 2 * size)
        square, square_rest = _product(top, top)
        with np.errstate(over="ignore", invalid="ignore"):  # a cost next to nothing: δ is 0 to all digits
            quotient = square / bottom
            back, back_rest = _product(quotient, bottom)
            left = (square - back) - back_rest + square_rest + 2 * top * rest
            correction = left / bottom - quotient * (cost_rest / cost)
        self.mu = np.sqrt(cost)
        self.x, self.exponent = over / self.mu, quotient
        self.correction = np.where(np.isfinite(correction), correction, 0.0)
        self.far = self.x < -1


def _product(x: Array, y: Array) -> tuple[Array, Array]:
    """x·y as a double and its rounding error (Dekker)."""
    product = x * y
    (x1, x2), (y1, y2) = ((high := 134217729.0 * z - (134217729.0 * z - z), z - high) for z in (x, y))
    return product, ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2


def _nodes() -> tuple[Array, Array]:
    """Nodes and weights of the double-exponential rule for integrals over t > 0 that decay like e^(−t)."""
    step = 0.1
    u = step * np.arange(-38, 43)
    t = np.exp(u - np.exp(-u))
    return t, step * t * (1 + np.exp(-u))


_T, _WEIGHTS = _nodes()


def mills(x: Array) -> Array:
    """R(x) = ∫ e^(−xt − t²/2) dt over t > 0, for x ≥ −1, to about 1e-15 of the value."""
    return _integral(x, lambda t, _: np.ones_like(t), x)


def mills_difference(x: Array, mu: Array) -> Array:
    """R(x) − R(x + μ), for x ≥ −1 and μ > 0, likewise."""
    out = _integral(x, lambda t, mu: -np.expm1(-mu * t), mu)
    wide = mu > 30 * (1 + np.maximum(x, 0))  # 1 − e^(−μt) is steep then, and the second part is small
    out[wide] = mills(x[wide]) - mills(x[wide] + mu[wide])
    return out


def _integral(x: Array, factor: Callable[[Array, Array], Array], argument: Array) -> Array:
    out = np.empty(x.shape)
    for start in range(0, len(x), _POINTS_AT_ONCE):
        piece = slice(start, start + _POINTS_AT_ONCE)
        here = x[piece, None]
        scale = 1 / (np.maximum(here, 0) + 1)
        t = scale * _T
        out[piece] = scale[:, 0] * ((np.exp(-t * (here + t / 2)) * factor(t, argument[piece, None])) @ _WEIGHTS)
    return out
