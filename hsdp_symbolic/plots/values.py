"""The numbers of a figure: every point of a curve is a certified enclosure, rounded once to the nearest double."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from ..accounting.bounds import RenyiBound
from ..accounting.conversion import Goal
from ..accounting.orders import best
from ..catalogue import statement
from ..errors import ArgumentError
from ..evaluate.enclosure import Enclosure, enclose
from ..evaluate.program import compile_expression
from ..meaning import Quantity
from ..progress import Ticker
from ..proof.algebra import close_sums
from ..setting import Setting
from ..statement import Statement
from .common import COMPOSED
from .describe import Curve, Exact

ZERO = Enclosure(Fraction(0), Fraction(0))
DIGITS = 17
PLOTTED_RTOL = Fraction("1e-24")
"""Narrow enough that 17 digits do not depend on the engine, except at a tie."""
FOUND_RTOL = Fraction("1e-14")
"""Narrow enough for the 12 digits of what is searched for."""
SEEN_RTOL = Fraction(1, 200)
"""Narrower than can be seen, for an ε that is computed from distributions on a grid."""
SEEN_DIGITS = 5
"""Digits of what is computed on a grid or in float64: upper values are rounded up to them, lower ones down."""
LAST_EPOCH_TRIED = 10_000
"""Crossovers, where a bound falls below composition, are looked for up to this epoch."""


def values(curve: Curve, ticker: Ticker | None = None) -> list[Enclosure]:
    """The enclosure of every point of a curve, in order."""
    if curve.view == "bound" and _is_on_a_grid(source := _find(curve.source)) and curve.over in source.needs:
        return _on_a_grid(source, curve)
    found = []
    for done, point in enumerate(curve.at):
        if ticker:
            ticker.say(f"{curve.name}: {done} of {len(curve.at)} points")
        found.append(value(curve, point))
    return found


def value(curve: Curve, point: Exact) -> Enclosure:
    """One point: 0 where nothing has been trained (K = 0), for which no statement is needed."""
    if curve.over == "K" and point == 0:
        return ZERO
    arguments = (*curve.arguments.items(), (curve.over, point))
    views = {"bound": _bound, "continued": _continued, "worst": _worst, "epsilon": _epsilon, "mu": _mu, "law": _law}
    return views[curve.view](curve.source, curve.run, arguments)


def _find(source: str | Statement) -> Statement:
    return statement(source) if isinstance(source, str) else source


def _is_on_a_grid(source: Statement) -> bool:
    return source.within_reach(PLOTTED_RTOL) > PLOTTED_RTOL


def _on_a_grid(source: Statement, curve: Curve) -> list[Enclosure]:
    """Upper values of a dynamic programme: one pass, backwards from the last step, yields all numbers of epochs."""
    trained = [point for point in curve.at if point != 0 or curve.over != "K"]
    uppers = np.atleast_1d(source.numeric(curve.run, **curve.arguments, **{curve.over: trained}))
    return [ZERO] * (len(curve.at) - len(trained)) + [_point(x) for x in map(Fraction, uppers.tolist())]


@cache
def _bound(source: str | Statement, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    """Letters that are free to choose are chosen well for this point; what is then found on a grid is its upper end."""
    stated, known = _find(source), dict(arguments)
    free = stated.choices(run, known)
    found = stated.enclose_at(run, {**known, **free}, rtol=stated.within_reach(PLOTTED_RTOL))
    return _point(found.hi) if free else found


@cache
def _continued(source: str | Statement, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    """The closed form at a fraction of an epoch: pgfplots evaluates it there, though the theorem says nothing of it."""
    found, chosen = _find(source), dict(arguments)
    epochs = Fraction(chosen.pop("K"))
    admitted = found._admit(run.replace(K=1), chosen)
    return enclose(compile_expression(close_sums(found.expr)), {**admitted, "K": epochs}, rtol=PLOTTED_RTOL)


@cache
def _worst(source: str, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    """The worst divergence an attack finds, to 12 digits."""
    from ..experiment.attack import attack

    chosen = dict(arguments)
    place = int(chosen["j0"]) if "j0" in chosen else None
    found = attack(source, run.replace(K=chosen["K"]), chosen["alpha"], place=place).found
    return _twelve_digits(found)


@cache
def _epsilon(source: str | Statement, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    """ε at a δ, to 12 digits; its upper end where it is computed on a grid, or from a divergence at some good order."""
    stated, known = _find(source), dict(arguments)
    delta, on_a_grid = known.pop("delta"), _is_on_a_grid(stated)
    if stated.quantity is Quantity.DIVERGENCE:
        return _point(Fraction(_at_best_order(stated, run, Fraction(delta)).decimals(SEEN_DIGITS)[1]))
    found = stated.epsilon(run, delta, rtol=SEEN_RTOL if on_a_grid else FOUND_RTOL, **known)  # type: ignore[arg-type]
    return _point(Fraction(found.decimals(SEEN_DIGITS)[1])) if on_a_grid else _twelve_digits(as_double(found))


def _at_best_order(stated: Statement, run: Setting, delta: Fraction) -> Enclosure:
    assert stated.neighbouring is not None
    bound = RenyiBound(stated, run, ({},), stated.neighbouring, why="")  # S_g is already what the record moves
    found = best(bound, Goal("epsilon", delta)).value
    assert found is not None
    return found


@cache
def _mu(source: str | Statement, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    return _find(source).mu(run, rtol=PLOTTED_RTOL, **dict(arguments))  # type: ignore[arg-type]


@cache
def _law(source: str | Statement, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> Enclosure:
    """ε of a quadratic loss at a δ, by float64 and rounded down: no bound on such runs can be below."""
    from ..experiment.quadratic_profile import quadratic_profile

    least = Fraction(quadratic_profile(run, _find(source).scheme).epsilon_below(dict(arguments)["delta"]))
    return _point(Fraction(_point(least).decimals(SEEN_DIGITS)[0]))


def _twelve_digits(found: float) -> Enclosure:
    """The last digits of a search depend on the machine."""
    return _point(Fraction(f"{found:.11e}"))


def _point(value: Fraction) -> Enclosure:
    return Enclosure(value, value)


def as_double(found: Enclosure) -> float:
    """The double nearest to an enclosure far narrower than doubles are apart."""
    return float((found.lo + found.hi) / 2)


def as_text(found: Enclosure) -> str:
    """The value to 17 significant digits, rounded from the certified enclosure.

    >>> as_text(Enclosure(Fraction(1, 3), Fraction(1, 3))), as_text(ZERO)
    ('0.33333333333333333', '0')
    """
    middle = (found.lo + found.hi) / 2
    if not middle:
        return "0"
    context = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return str(context.divide(Decimal(middle.numerator), Decimal(middle.denominator)))


@cache
def crossover(label: str, run: Setting, arguments: tuple[tuple[str, Exact], ...]) -> int | None:
    """The first epoch from which on, up to 10 000, a bound is below composition; certified there and just before.

    None if it is not below composition by then.

    >>> run = Setting(n=50, b=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> crossover("thm:amp_samp_wo_replacement", run, (("alpha", 10),))
    34
    """
    import numpy as np

    chosen = dict(arguments)
    composed = {"alpha": chosen["alpha"]}
    epochs = np.arange(1, LAST_EPOCH_TRIED + 1)
    bound = statement(label).numeric(run, K=epochs, **chosen)
    other = statement(COMPOSED).numeric(run, K=epochs, **composed)
    above = np.flatnonzero(~(bound < other))
    if len(above) == len(epochs) or (len(above) and above[-1] == len(epochs) - 1):
        return None
    first = int(epochs[above[-1] + 1]) if len(above) else 1
    for epoch, below in ((first, True), (first - 1, False)):
        if epoch >= 1:
            one = statement(label).enclose_at(run, {"K": epoch, **chosen})
            two = statement(COMPOSED).enclose_at(run, {"K": epoch, **composed})
            if not (one.hi < two.lo if below else one.lo >= two.hi):
                raise ArgumentError(
                    "K", epoch, f"{label} and composition cannot be told apart there", "change the setting a little"
                )
    return first
