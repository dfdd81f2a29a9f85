"""From Lipschitz constants of an update by clipped gradients to what may be used of it, and what would be enough.

Of several proved constants the least is taken. Below 1 it is a contraction; at 1 or above, bounds for updates that
expand are left. λ is rounded down and c up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from ..errors import HypothesisError
from ..evaluate.enclosure import Enclosure
from ..setting import Setting
from .update import ONLY_COMPOSITION, ONLY_CONTRACTION, ONLY_LIPSCHITZ, Footing, SourcedConstant, standing_statement

OF_CONVEX = ("clip:convex", "clip:smooth")
OF_SMOOTH = ("clip:smooth",)
OF_SOFTMAX = "clip:softmax"
DIGITS = 12
"""How many digits a constant is rounded to, to the side on which it says less."""
Constants = Iterator[tuple[str, Fraction]]
"""Labels of statements, each with a Lipschitz constant that it gives, none too small."""
ConstantsAt = Callable[[Setting], Constants]
"""What they give at a setting."""


def decay_of(setting: Setting) -> Fraction:
    """The λ of the regulariser added after clipping, if there is one."""
    return setting["lam"] if "lam" in setting else Fraction(0)


def of_clipped(smooth: Fraction, labels: tuple[str, ...]) -> ConstantsAt:
    """Lipschitz constants of updates by clipped gradients of losses that are so smooth, none too small."""
    standing = [standing_statement(label) for label in labels]  # once: settings are tried by the dozen

    def constants(setting: Setting) -> Constants:
        decay = decay_of(setting)
        for found in standing:
            try:
                yield found.label, found.enclose(setting, beta0=smooth, lam0=decay).hi
            except HypothesisError:  # a step too long, or too short, for this one
                continue

    return constants


def of_softmax(features: Mapping[str, Fraction], load: Fraction) -> ConstantsAt:
    """The same for softmax regression, by its clip norm; sums divided by less are a longer step on a weaker decay."""
    standing = standing_statement(OF_SOFTMAX)

    def constants(setting: Setting) -> Constants:
        longer, decay = setting.replace(eta=setting["eta"] * load), decay_of(setting) / load
        try:
            yield OF_SOFTMAX, standing.enclose_at(longer, {**features, "lam0": decay}).hi
        except HypothesisError:
            return

    return constants


def _least(constants: Constants) -> tuple[str, Fraction] | None:
    return min(constants, key=lambda pair: pair[1], default=None)


def by_constant(
    setting: Setting,
    constants: ConstantsAt,
    why: str,
    problem: str,
    told: tuple[str, ...],
    others: tuple[str, ...] = (),
) -> Footing:
    """What follows from the least of several Lipschitz constants of the update; `others` would be enough too."""
    least, expands = _least(constants(setting)), f"gradients are clipped, and {problem}"
    if least is None:
        words = "a clipped update of which no Lipschitz constant is proved"
        return Footing(setting, ONLY_COMPOSITION, words, assumed_by_you=told, lacks=expands)
    label, constant = least
    if constant < 1 and (rate := rounded((1 - constant) / setting["eta"])[0]) > 0:
        says = "the update is (1 − ηλ)-Lipschitz with this λ, rounded down"
        source = SourcedConstant("lam", rate, label, says)
        # β plays no part once the update contracts; it must not be below λ
        return Footing(setting.replace(lam=rate, beta=rate), ONLY_CONTRACTION, f"{why} ({label})", (source,), told)
    constant = max(Fraction(1), rounded(constant)[1])
    source = SourcedConstant("lipschitz", constant, label, "the update is c-Lipschitz with this c, rounded up")
    words = f"an update that may expand, by a known factor ({label})"
    enough = remedies(setting, constants, others)
    return Footing(setting.replace(lipschitz=constant), ONLY_LIPSCHITZ, words, (source,), told, expands, enough)


def rounded(value: Fraction) -> tuple[Fraction, Fraction]:
    """The short decimals next to a number, not above and not below it."""
    down, up = Enclosure(value, value).decimals(DIGITS)
    return Fraction(down), Fraction(up)


def remedies(setting: Setting, constants: ConstantsAt, others: tuple[str, ...]) -> str:
    """What would be enough for a contraction; the numbers in it were tried."""

    def contracts(at: Setting) -> bool:
        least = _least(constants(at))
        return least is not None and least[1] < 1

    if "lam" not in setting:
        return f"use weight_decay, with {' or '.join([*others, 'a small learning_rate'])}"
    for halvings in range(1, 41):
        rate = setting["eta"] / 2**halvings
        if contracts(setting.replace(eta=rate)):
            return f"use {', or '.join([f'learning_rate <= {float(rate):.3g}', *others])}"

    def enough(decay: Fraction) -> bool:
        return contracts(setting.replace(lam=decay, eta=Fraction(1, 10**6) / decay))

    decay = rounded(setting["lam"])[1]
    while not enough(2 * decay):
        decay *= 2
    while not enough(decay):
        decay = Fraction(f"{float(decay * Fraction(21, 20)):.3g}")
    return f"use {', or '.join([f'weight_decay >= {float(decay):.3g} (with a small step)', *others])}"
