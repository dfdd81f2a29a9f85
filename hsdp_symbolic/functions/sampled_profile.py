"""`SampledProfile`: δ of many steps, each on a batch drawn afresh, if every iterate is seen."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

from sympy import Expr

from ..setting.arrays import Array
from .gaussian_profile import GaussianProfile
from .interface import Balls, OfNumbers, Printer, Rules, Trend, agree, flip
from .loss_profiles import Repeated, Run, check_count, check_sampled, deltas, epsilons, written
from .loss_sketch import NO_LOSS, Sketched, sketch_over, sketch_repeated
from .sampled_losses import Pair
from .sampled_notes import profile_note

NAME = r"\delta_{\mathrm{C}}"


class SampledProfile(OfNumbers):
    """δ at ε of `steps` compositions of the Gaussian pair of μ² = `cost`, subsampled without replacement at `rate`.

    One step has the profile p·δ_G(μ; log(1 + (e^ε − 1)/p)) for ε ≥ 0, and 1 − e^ε + e^ε·(that at −ε) below (Balle,
    Barthe & Gaboardi 2018): at every ε, so that it may be composed (Zhu, Dong & Wang 2022).
    """

    nargs = 4  # rate, cost, steps, epsilon
    normalised = (0, 1, 2, 3)
    on_a_grid = solves = True
    rank = 1
    pairs: ClassVar[tuple[Pair, ...]] = (Pair.BOTH,)

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def runs(cls, rate: Fraction, cost: Fraction, steps: Fraction) -> list[Run]:
        check_sampled(rate, cost)
        check_count("steps", steps)
        return [Repeated(pair, rate, cost, int(steps)) for pair in cls.pairs]

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        rate, cost, steps, epsilon = numbers
        return epsilon >= 0 and not rate * cost * steps

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        rate, cost, steps, epsilon = numbers
        if rate == 1 or not rate * cost * steps:
            return GaussianProfile.ball(over, rate * cost * steps, epsilon)
        return over.engine.interval(*deltas(cls.runs(rate, cost, steps), over.engine.name, epsilon, over.tolerance))

    @classmethod
    def solved(cls, engine: str, delta: Fraction, rtol: Fraction, *others: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds on the least ε ≥ 0 at which it is at most `delta`; `others` are all arguments but ε."""
        return epsilons(cls.runs(*others), engine, delta, rtol)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """To a few parts in a thousand, or per cent where it is tiny."""
        return sketch_over(cls._sketches, cls._roughly, arguments)

    @classmethod
    def _sketches(cls, rate: Fraction, cost: Fraction, steps: Fraction) -> list[Sketched]:
        if not rate * cost * steps:
            return [NO_LOSS]
        return [sketch_repeated(pair, rate, cost, int(steps)) for pair in cls.pairs]

    @classmethod
    def _roughly(cls, *numbers: Fraction) -> float:
        *others, epsilon = numbers
        return 0.0 if cls.vanishes(*numbers) else float(deltas(cls.runs(*others), "arb", epsilon, Fraction(1, 20))[1])

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with rate, cost and steps, down with ε.

        A hockey-stick divergence at γ ≥ 1 is convex in the rate of a mixture, and 0 at rate 0, so it rises with the
        rate; for γ < 1 it is 1 − γ plus γ times one at 1/γ. A larger cost and one more step are never harder to see.
        All this holds at every ε, and passes on to compositions.
        """
        rate, cost, steps, epsilon = map(rules.of, self.args)
        return agree([rate, cost, steps, flip(epsilon)])

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return profile_note(NAME, "C")
