"""`SecretProfile`: δ of a run that reveals its early hits, forgets them, and keeps the late ones secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from sympy import Expr, S

from ..setting.arrays import Array
from ..symbols import state
from .drift_weight import DriftWeight
from .expected import Expected
from .interface import Balls, BoundFunction, OfNumbers, Printer, Rules, Trend, agree, flip
from .loss_profiles import Hidden, Run, check_sampled, check_secret, deltas, epsilons, written
from .loss_sketch import NO_LOSS, Sketched, sketch_over, sketch_secret
from .sampled_losses import Pair
from .sampled_notes import secret_profile_note
from .secret_losses import Secret
from .secret_search import best_window
from .window_profile import WindowProfile

NAME = r"\delta_{\mathrm{C}}^{\mathrm{secret}}"


class SecretProfile(OfNumbers):
    """δ at ε: the mean over z of the profile of G(cz) composed with C_rate(G(√(cost/f_i))) for i < `window`.

    z = Σ factor^i·h_i over i < `steps` − `window`, the h_i independent and 1 with chance `rate`; i counts back from the
    end of each stretch; c² = cost·factor^(2·window)/Σ factor^(2i)(1 − f_i), and f_i is the share of its noise that step
    i spends on its own hit: min(1, share·factor^(−r⌊i/r⌋)) with r = ⌈window/64⌉. Every choice of `window` and `share`
    is valid. `secret_losses` says how it is computed.
    """

    nargs = 7  # rate, cost, factor, steps, window, share, epsilon
    normalised = (0, 1, 2, 3, 4, 5, 6)
    free_at = (4, 5)
    on_a_grid = solves = True
    rank = 1
    loudest = Fraction(5)
    pairs: ClassVar[tuple[Pair, ...]] = (Pair.BOTH,)

    _window: ClassVar[type[BoundFunction]] = WindowProfile

    def definition(self) -> Sequence[tuple[Expr, Expr]]:
        """The mean, over the hits that are told, of what the window gives from the distance they lead to."""
        rate, cost, factor, steps, window, share, epsilon = self.args
        drift = cost * factor ** (2 * window) / DriftWeight(share, factor, window, window) * state**2
        body = self._window(rate, cost, factor, window, share, drift, epsilon)
        return ((self, Expected(body, state, factor * state + 1, factor * state, rate, steps - window, S.Zero)),)

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True

    @classmethod
    def choose(
        cls, known: Mapping[int, Fraction], *, delta: Fraction | None = None, epsilon: Fraction | None = None
    ) -> Mapping[int, Fraction]:
        rate, cost, factor, steps = (known[place] for place in range(4))
        poisson = Pair.BOTH not in cls.pairs
        window, share = best_window(rate, cost, factor, int(steps), delta=delta, epsilon=epsilon, poisson=poisson)
        return {4: Fraction(window), 5: share}

    @classmethod
    def runs(cls, *numbers: Fraction) -> list[Run]:
        rate, cost, factor, steps, window, share = numbers
        check_sampled(rate, cost)
        check_secret(factor, steps - window, window, share)
        secret = Secret(rate, cost, factor, int(steps - window), int(window), share)
        return [Hidden(pair, secret) for pair in cls.pairs]

    @classmethod
    def vanishes(cls, *numbers: Fraction) -> bool:
        rate, cost, *_, epsilon = numbers
        return epsilon >= 0 and not rate * cost

    @classmethod
    def enclosed(cls, over: Balls, *numbers: Fraction) -> Any:
        *others, epsilon = numbers
        if not numbers[0] * numbers[1]:
            return over.add(Fraction(1), over.mul(Fraction(-1), over.exp(epsilon)))
        return over.engine.interval(*deltas(cls.runs(*others), over.engine.name, epsilon, over.tolerance))

    @classmethod
    def solved(cls, engine: str, delta: Fraction, rtol: Fraction, *others: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds on the least ε ≥ 0 at which it is at most `delta`; `others` are all arguments but ε."""
        return epsilons(cls.runs(*others), engine, delta, rtol)

    @classmethod
    def array(cls, *arguments: Any) -> Array:
        """To a few per cent: a sketch with fewer stairs of shares, and no bound."""
        return sketch_over(cls._sketches, cls._roughly, arguments)

    @classmethod
    def _sketches(cls, *others: Fraction) -> list[Sketched]:
        rate, cost, factor, steps, window, share = others
        if not rate * cost:
            return [NO_LOSS]
        numbers = rate, cost, factor, int(steps - window), int(window), float(share)
        return [sketch_secret(pair, *numbers) for pair in cls.pairs]

    @classmethod
    def _roughly(cls, *numbers: Fraction) -> float:
        *others, epsilon = numbers
        return 0.0 if cls.vanishes(*numbers) else float(deltas(cls.runs(*others), "arb", epsilon, Fraction(1, 20))[1])

    def sign(self, sign: Callable[[Expr], int]) -> int:
        return 1

    def trend(self, rules: Rules) -> Trend | None:
        """Up with rate, cost and steps, down with ε; for the others no rule tells.

        With a higher rate each secret step has a larger profile (see `SampledProfile`), and z is more likely to be
        large; with the cost all profiles rise, and with more revealed steps z. The factor makes z larger, but also the
        noise that late steps have to spare; window and share shift cost from one part to the other.
        """
        rate, cost, factor, steps, window, share, epsilon = self.args
        if any(rules.depends(part) for part in (factor, window, share)):
            return None
        return agree([*map(rules.of, (rate, cost, steps)), flip(rules.of(epsilon))])

    def tex(self, printer: Printer) -> str:
        return written(printer, NAME, self.args)

    def tex_note(self, printer: Printer) -> str:
        return secret_profile_note(NAME, "C")
