"""`calibrate`: the parameter that just meets a target (ε, δ).

Guarantee: the certified ε at the answer never exceeds the target, and for continuous parameters is within 1e-6 of it,
or within 1e-3 of it, relatively, where it is computed on a grid.
That no smaller noise (larger K, smaller λ) would do rests on the directions of the bounds (`evaluate.trend`) where
`monotone` is true; where it is not (batch sizes change n/b, and some trends are unknown), the answer is the best among
the values scanned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from ..errors import ArgumentError, HsdpError
from ..progress import Ticker
from ..setting import Setting
from ..setting.letters import LARGEST_EXPONENT
from .applicable import bounds_for
from .by_step import ByShifts, ByStretches, Composed
from .candidates import check_scheme
from .conversion import admit_delta, admit_epsilon, check_finite
from .effort import admit_effort
from .guarantee import Guarantee, epsilon
from .library import training_run
from .planned import noisier
from .run import TrainingRun, as_run
from .update import Unclipped

TOLERANCE = 1e-6
"""How far below the target the certified ε may stay, for continuous parameters; relative to a target below 1."""
ON_A_GRID = 1e-3
"""The same, relatively, where ε is computed on a grid and its enclosure is no narrower."""
SOLVABLE = ("noise_multiplier", "sigma", "K", "b", "lam", "noise_scale")
_WIDEST = 300.0
"""Noise is sought between 10^−300 and 10^300."""
_SCAN = 48
"""Values of λ that are tried over twelve powers of ten."""
SMALLEST_TARGET = Fraction(1, 10**100)

Make = Callable[[Fraction | int], TrainingRun]


class Unreachable(ArgumentError):
    """No admissible value of the parameter meets the target; `reachable` is the least ε found."""

    def __init__(self, target: object, solve_for: str, reachable: float, at: object, note: str = "") -> None:
        self.reachable = reachable
        why = f", by composition: {note}" if note else ""
        super().__init__(
            "target_epsilon",
            target,
            f"no {solve_for} reaches it: the best is epsilon = {reachable:.6g}, at {solve_for} = {at}{why}",
            "raise the target or change another parameter",
        )


@dataclass(frozen=True)
class Calibration:
    """The solved parameter, and the certified guarantee there.

    `monotone` says whether all bounds in question are monotone in the parameter, by the rules for directions; `every`
    is true where every value up to the largest admitted meets the target.
    """

    solve_for: str
    value: Fraction | int
    target_epsilon: float
    guarantee: Guarantee
    monotone: bool
    every: bool = False


def calibrate(
    run: Setting | TrainingRun | None = None,
    /,
    *,
    target_epsilon: object,
    delta: object,
    scheme: str,
    solve_for: str = "noise_multiplier",
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    effort: str = "normal",
    **parameters: object,
) -> Calibration:
    """The smallest noise, largest K, largest batch size or smallest λ that meets (target_epsilon, delta).

    Give either a `Setting` without the parameter solved for (`sigma`, `K`, `b` or `lam`), or the keywords of
    `training_run` without it (`noise_multiplier`, `epochs`, `batch_size` or, to solve for "lam", `weight_decay`).
    To solve for "noise_scale", a factor on all noises of a run, such as those of a schedule, give all of it.

    >>> found = calibrate(target_epsilon=1, delta="1e-5", scheme="poisson", sample_rate="0.01", steps=1000)
    >>> round(float(found.value), 5), found.guarantee.epsilon <= 1
    (1.41525, True)
    """
    target = admit_epsilon("target_epsilon", target_epsilon)
    if not SMALLEST_TARGET <= target <= 1 / SMALLEST_TARGET:
        why = "no noise reaches 0" if target == 0 else "out of range"
        raise ArgumentError("target_epsilon", target_epsilon, why, "give a number > 0, from 1e-100 to 1e100")
    probability = admit_delta(delta)
    check_finite(probability, math.inf)
    check_scheme(scheme)
    listed = None if orders is None else tuple(orders)
    one_grid = replace(admit_effort(effort), close=0)  # another grid gives another value, and ε would jump

    def certified(value: Fraction | int) -> Guarantee:
        return epsilon(
            make(value), delta=probability, scheme=scheme, neighbouring=neighbouring, orders=listed, effort=one_grid
        )

    make = _maker(run, solve_for, parameters)
    problem = _Problem(solve_for, target, certified, make, scheme, neighbouring, target_epsilon)
    if solve_for in ("noise_multiplier", "sigma", "noise_scale"):
        return problem.smallest_noise()
    if solve_for == "K":
        return problem.largest_count()
    return problem.largest_batch() if solve_for == "b" else problem.smallest_convexity()


def _maker(run: Setting | TrainingRun | None, solve_for: str, parameters: dict[str, object]) -> Make:
    """The run as a function of the parameter solved for."""
    if not isinstance(solve_for, str) or solve_for not in SOLVABLE:
        raise ArgumentError("solve_for", solve_for, "cannot be solved for", f"use one of {', '.join(SOLVABLE)}")
    if solve_for == "noise_scale":
        given = {key: value for key, value in parameters.items() if value is not None}
        whole = training_run(**given) if run is None else as_run(run)
        return lambda value: noisier(whole, value)
    if run is not None:
        told = as_run(run)
        if parameters:
            raise ArgumentError("run", run, "give a Setting, or keywords, not both", "see help(calibrate)")
        if not isinstance(told.update, Unclipped):
            raise ArgumentError("run", run, "it was made from keywords", "give the keywords instead")
        if solve_for == "noise_multiplier":
            raise ArgumentError("solve_for", solve_for, "a Setting has sigma instead", "use solve_for='sigma'")
        changes = "sigma_squared" if solve_for == "sigma" else solve_for

        def changed(value: Fraction | int) -> TrainingRun:
            setting = told.setting.replace(**{changes: value**2 if solve_for == "sigma" else value})
            return replace(told, setting=setting)

        return changed
    if solve_for == "sigma":
        raise ArgumentError("solve_for", solve_for, "needs a Setting", "use solve_for='noise_multiplier'")
    name = {"K": "epochs", "b": "batch_size", "lam": "weight_decay"}.get(solve_for, solve_for)
    if parameters.get(name) is not None:
        raise ArgumentError(name, parameters[name], "is what is solved for", f"leave out {name}")
    if solve_for == "K" and parameters.get("steps") is not None:
        raise ArgumentError("steps", parameters["steps"], "the number of epochs is solved for", "leave out steps")
    given = {key: value for key, value in parameters.items() if value is not None}
    return lambda value: training_run(**{**given, name: value})


@dataclass(frozen=True)
class _Problem:
    """A target, and the certified guarantee as a function of the parameter solved for."""

    solve_for: str
    target: Fraction
    certified: Callable[[Fraction | int], Guarantee]
    make: Make
    scheme: str
    neighbouring: str | None
    given: object

    def meets(self, found: Guarantee) -> bool:
        return found.epsilon <= self.target  # a double against a rational: exact

    def close(self, found: Guarantee) -> bool:
        slack = float(self.target) - found.epsilon
        grid = min(found.epsilon - found.lower, ON_A_GRID * found.epsilon)
        return 0 <= slack <= max(TOLERANCE * min(1.0, float(self.target)) / 2, grid)

    def answer(self, value: Fraction | int, found: Guarantee, *, monotone: bool, every: bool = False) -> Calibration:
        assert self.meets(found)
        return Calibration(self.solve_for, value, float(self.target), found, monotone, every)

    def is_monotone(self, value: Fraction | int, letter: str, direction: int) -> bool:
        """Whether every bound for this run is proved to move in the wanted direction."""
        from .. import symbols
        from ..evaluate.trend import trend

        bounds = bounds_for(self.make(value), self.scheme, self.neighbouring).bounds
        if any(isinstance(bound, (ByShifts, ByStretches, Composed)) for bound in bounds):
            return False  # of these no trend was proved
        if any(node.free_at for bound in bounds for node in bound.statement.functions):
            return False  # what is chosen freely is chosen anew for every value
        trends = (trend(bound.statement.expr, getattr(symbols, letter)) for bound in bounds)
        return all(found is not None and found in (0, direction) for found in trends)

    def smallest_noise(self) -> Calibration:
        """By the secant rule on log(noise), safeguarded by bisection."""
        start = Fraction(1)
        monotone = self.is_monotone(start, "sigma2", -1)
        low, high = self._bracket_noise(start)
        value, found = self._refine(low, high, _ten_to)
        return self.answer(value, found, monotone=monotone)

    def _bracket_noise(self, start: Fraction) -> tuple[float, float]:
        """log10 of two noises, the first too small, the second enough."""
        found = self.certified(start)
        here, step = 0.0, 0.5
        upwards = not self.meets(found)
        while abs(here) < _WIDEST:
            there = max(-_WIDEST, min(_WIDEST, here + (step if upwards else -step)))
            found = self.certified(_ten_to(there))
            if self.meets(found) == upwards:
                return (here, there) if upwards else (there, here)
            here, step = there, min(2 * step, 40)
        if upwards:
            raise Unreachable(self.given, self.solve_for, found.epsilon, f"{float(_ten_to(here)):.3g}", found.note)
        raise ArgumentError(
            "target_epsilon",
            self.given,
            f"met by any {self.solve_for} down to 1e-{abs(here):.0f}",
            "there is nothing to solve for",
        )

    def _refine(self, low: float, high: float, at: Callable[[float], Fraction]) -> tuple[Fraction, Guarantee]:
        """Close in from both sides; `high` meets the target, `low` does not."""
        best_value, best = at(high), self.certified(at(high))
        aim = float(self.target) * (1 - TOLERANCE / 8 * min(1.0, 1 / float(self.target)))
        below, above = self._miss(self.certified(at(low)), aim), self._miss(best, aim)
        ticker = Ticker()
        for turn in range(200):
            ticker.say(f"{self.solve_for} between {float(at(low)):.9g} and {float(at(high)):.9g}")
            if self.close(best):
                break
            guess = (low + high) / 2
            if turn % 3 and math.isfinite(below) and above < below:
                guess = high + (low - high) * above / (above - below)
                margin = abs(high - low) * 1e-3
                guess = min(max(guess, min(low, high) + margin), max(low, high) - margin)
            if guess in (low, high):
                break
            found = self.certified(at(guess))
            if self.meets(found):
                high, above, best_value, best = guess, self._miss(found, aim), at(guess), found
            else:
                low, below = guess, self._miss(found, aim)
        ticker.clear()
        return best_value, best

    def _miss(self, found: Guarantee, aim: float) -> float:
        """How far log ε is above the aim."""
        return math.log(max(found.epsilon, 1e-300) / aim) if math.isfinite(found.epsilon) else math.inf

    def largest_count(self) -> Calibration:
        """By doubling and bisection over whole numbers of epochs."""
        found = self.certified(1)
        if not self.meets(found):
            raise Unreachable(self.given, self.solve_for, found.epsilon, 1, found.note)
        monotone = self.is_monotone(1, "K", 1)
        most, good, kept = 10**LARGEST_EXPONENT, 1, found
        top = self._or_none(most)
        if top is not None and self.meets(top):
            return self.answer(most, top, monotone=monotone, every=True)
        bad = most
        while good * 2 < bad:
            middle = good * 2 if bad == most else math.isqrt(good * bad)
            trial = self._or_none(middle)
            if trial is not None and self.meets(trial):
                good, kept = middle, trial
            else:
                bad = middle
        while bad - good > 1:
            middle = (good + bad) // 2
            trial = self._or_none(middle)
            if trial is not None and self.meets(trial):
                good, kept = middle, trial
            else:
                bad = middle
        return self.answer(good, kept, monotone=monotone)

    def _or_none(self, value: Fraction | int) -> Guarantee | None:
        try:
            return self.certified(value)
        except HsdpError:
            return None

    def largest_batch(self) -> Calibration:
        """By going through batch sizes from n down; n/b jumps, so nothing is monotone."""
        setting = self.make(1).setting
        if "n" not in setting:
            raise ArgumentError("n", None, "needed to solve for the batch size", "give n")
        ticker = Ticker()
        least: tuple[float, int, str] | None = None
        for size in _batch_sizes(int(setting["n"])):
            ticker.say(f"batch size {size}")
            found = self._or_none(size)
            if found is None:
                continue
            if self.meets(found):
                ticker.clear()
                return self.answer(size, found, monotone=False)
            if least is None or found.epsilon < least[0]:
                least = found.epsilon, size, found.note
        ticker.clear()
        if least is None:
            self.certified(1)  # raises, and says why
        assert least is not None
        raise Unreachable(self.given, self.solve_for, *least)

    def smallest_convexity(self) -> Calibration:
        """By a scan from the largest λ the hypotheses allow, then closing in on the last that fails."""
        run = self.make(Fraction(1, 10**40))
        footing = run.footing()
        setting = footing.setting
        if footing.lacks:
            raise ArgumentError("lam", None, footing.lacks, footing.helps)
        if "beta" not in setting or "eta" not in setting:
            raise ArgumentError("beta", None, "needed to solve for lam", "give beta and the step size")
        near = Fraction(10**9 - 1, 10**9)
        if isinstance(run.update, Unclipped):
            most = min(setting["beta"], (2 / setting["eta"] - setting["beta"]) * near)
        else:  # β grows with the regulariser
            most = (1 / setting["eta"] - (setting["beta"] - setting["lam"]) / 2) * near
        if most <= 0:
            raise ArgumentError(
                "eta",
                setting["eta"],
                f"too long a step for a loss of smoothness beta = {setting['beta']}",
                "choose eta < 2/beta",
            )

        def at(exponent: float) -> Fraction:
            return _shortened(most * _ten_to(exponent))

        reach = [-12 * step / _SCAN for step in range(_SCAN, -1, -1)]
        monotone = self.is_monotone(most, "lam", -1)
        found = self.certified(at(reach[0]))
        if self.meets(found):
            raise ArgumentError(
                "target_epsilon",
                self.given,
                f"met without strong convexity: epsilon = {found.epsilon:.6g} by {found.bound}",
                "there is nothing to solve for",
            )
        if monotone:
            found = self.certified(most)
            if not self.meets(found):
                raise Unreachable(self.given, self.solve_for, found.epsilon, float(most), found.note)
            value, found = self._refine(reach[0], 0.0, at)
            return self.answer(value, found, monotone=True)
        ticker = Ticker()
        least = math.inf, 0.0, ""
        for before, exponent in pairwise(reach):
            ticker.say(f"lam = {float(at(exponent)):.6g}")
            found = self.certified(at(exponent))
            if self.meets(found):
                value, found = self._refine(before, exponent, at)
                return self.answer(value, found, monotone=False)
            least = min(least, (found.epsilon, float(at(exponent)), found.note))
        raise Unreachable(self.given, self.solve_for, *least)


def _shortened(value: Fraction) -> Fraction:
    """A positive rational cut to 12 significant decimal digits, so that it can be printed and read back."""
    unit = Fraction(10) ** (
        math.floor((math.log2(value.numerator) - math.log2(value.denominator)) * math.log10(2)) - 11
    )
    return value // unit * unit


def _ten_to(exponent: float) -> Fraction:
    """10^exponent as a rational of 12 significant digits."""
    whole = math.floor(exponent)
    return Fraction(f"{10 ** (exponent - whole):.12f}") * Fraction(10) ** whole


def _batch_sizes(n: int) -> list[int]:
    """Batch sizes to try, largest first: all of them for small n, else the ends of the stretches of equal n/b."""
    if n <= 256:
        return list(range(n, 0, -1))
    counts = sorted({max(1, round(1.02**power)) for power in range(math.ceil(math.log(n, 1.02)) + 1)})
    return sorted({size for count in counts if count <= n for size in (n // count, n // (count + 1) + 1)}, reverse=True)
