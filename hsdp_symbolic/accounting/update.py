"""What the update of a run does: how its gradients are bounded, and how far it may pull two runs apart or together.

Hidden-state bounds need a Lipschitz constant of the update, and clipping can take away that the loss had one below 1: a
record whose gradient is always clipped pulls with constant force, whatever its loss was. So a run says which update it
makes. What is proved for it is its `Footing`; a bound that asks for more is not used.

>>> from hsdp_symbolic.accounting import logistic, training_run
>>> run = training_run(noise_multiplier=8, max_grad_norm=1, n=1344, batch_size=64, epochs=15, learning_rate="0.5",
...                    weight_decay="0.01", loss=logistic(feature_norm=1, bias=False))
>>> run.footing().setting["beta"], run.footing().why
(Fraction(13, 50), 'clipped gradients of a scalar-output loss with the regulariser outside the clip (clip:scalar)')
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ..catalogue import statement as registered
from ..meaning import Asks
from ..setting import Setting
from ..setting.gate import admit_positive
from ..standing import require_standing
from ..statement import Statement

EVERYTHING = frozenset({Asks.NOTHING, Asks.CONTRACTION, Asks.STRONGLY_CONVEX, Asks.CONVEX})
"""A smooth loss, convex or strongly convex as λ says, meets whatever a bound asks for."""
ANY_BATCH = EVERYTHING | {Asks.SIZED_CONTRACTION}
"""The same where every record's loss is convex and smooth by itself, and λ that of a regulariser of its own."""
ONLY_CONTRACTION = frozenset({Asks.NOTHING, Asks.CONTRACTION})
ONLY_LIPSCHITZ = frozenset({Asks.NOTHING, Asks.LIPSCHITZ})
"""The update may expand, by no more than a known constant."""
ONLY_COMPOSITION = frozenset({Asks.NOTHING})

CLIPPED_ONE_BY_ONE = "gradients are clipped one record at a time"
PLAIN_STEPS = (
    "the optimiser takes plain gradient steps, with one learning rate for all parameters: no momentum, no Adam"
)
WHAT_HELPS = (
    "say which loss is clipped, if it is logistic, huber, smoothed_hinge, squared, scalar (any φ(x·θ) with φ convex "
    "and smooth), softmax, convex (any convex smooth loss) or smooth, and give weight_decay for a regulariser added "
    "after clipping; or vouch for a Lipschitz constant of the clipped update, if you can prove one"
)


@dataclass(frozen=True)
class SourcedConstant:
    """A constant of the run, and the statement (or the convention) it comes from."""

    name: str
    value: Fraction
    comes_from: str
    says: str


@dataclass(frozen=True)
class Footing:
    """What is known of the update of a run, and why.

    `setting` has the λ and β, or the Lipschitz constant, that hold for the update as it is made, after clipping; bounds
    that ask for what is in `provides` may be used. Where that is too little for bounds that need a contraction, `lacks`
    says why, and `helps` what would be enough.
    """

    setting: Setting
    provides: frozenset[Asks]
    why: str
    sources: tuple[SourcedConstant, ...] = ()
    assumed_by_you: tuple[str, ...] = ()
    lacks: str = ""
    helps: str = ""


class Update(Protocol):
    """How a run's gradients are bounded, and why its update contracts."""

    def footing(self, setting: Setting, load: Fraction) -> Footing:
        """What is proved for this update.

        `setting` has the λ of the regulariser outside the clip, if there is one; `load` is the largest batch over the
        number its sum of gradients is divided by, which multiplies the smoothness.
        """


@dataclass(frozen=True)
class Unclipped:
    """The paper's own setting: every record's gradient is used as it is; λ, β and S_g are those of the losses."""

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        assert load == 1
        convexity = "λ-strongly convex" if "lam" in setting else "convex"
        told = [f"no gradient is clipped: each record's loss, as it is, is β-smooth and {convexity}"]
        told = told if "beta" in setting else []
        provides = EVERYTHING
        if "lipschitz" in setting:
            told.append(
                f"no gradient is clipped, and the update, whatever its batch, is {setting['lipschitz']}-Lipschitz"
            )
            provides |= {Asks.LIPSCHITZ}
        return Footing(
            setting, provides, "gradients are not clipped, and bounded as the losses are", assumed_by_you=tuple(told)
        )


@dataclass(frozen=True)
class Clipped:
    """Clipped gradients of which it is not known that the update contracts: composition is all there is."""

    told: tuple[str, ...] = ()
    """λ and β as they were given: they are about the loss before clipping."""
    because: str = ""
    """Why hidden-state bounds are out of the question whatever the loss is, if they are."""
    optimizer: str = ""
    """The optimiser, if that is why."""

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        if self.because:
            return Footing(setting, ONLY_COMPOSITION, self.because, lacks=self.because)
        if self.told:
            are = "are" if len(self.told) > 1 else "is"
            problem = f"{' and '.join(self.told)} {are} about the loss before clipping, and clipping can undo that"
        else:
            problem = "nothing is known of the clipped loss"
        return Footing(
            setting,
            ONLY_COMPOSITION,
            "clipped gradients of a loss of which nothing is known",
            lacks=f"gradients are clipped, so the update need not contract: {problem}",
            helps=WHAT_HELPS,
        )


@dataclass(frozen=True)
class VouchedLipschitz:
    """The user's own word that the clipped update, regulariser and all, is `constant`-Lipschitz."""

    constant: Fraction

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        told = (
            f"with every batch that may occur, the update θ ↦ θ − η·(clipped gradients, summed and divided, + "
            f"regulariser) is {self.constant}-Lipschitz",
            PLAIN_STEPS,
        )
        if self.constant >= 1:
            return Footing(
                setting.replace(lipschitz=self.constant),
                ONLY_LIPSCHITZ,
                f"an update you vouch to be {self.constant}-Lipschitz",
                assumed_by_you=told,
                lacks=f"the update you vouch for need not contract: its Lipschitz constant {self.constant} is not < 1",
                helps="vouch for a constant below 1, if there is one",
            )
        modulus = (1 - self.constant) / setting["eta"]
        every_batch = 2 * setting["b"] * self.constant / (setting["eta"] * (setting["n"] + 1))
        return Footing(  # a β at which a batch of all records is not too large: you vouch for it too
            setting.replace(lam=modulus, beta=modulus + every_batch),
            ONLY_CONTRACTION | {Asks.SIZED_CONTRACTION},
            f"an update you vouch to be {self.constant}-Lipschitz",
            (SourcedConstant("lam", modulus, "your word", "(1 − constant)/η; β plays no part"),),
            told,
        )


def vouched(*, lipschitz: object) -> VouchedLipschitz:
    """You vouch that the clipped update, regulariser included, is `lipschitz`-Lipschitz; it is printed as your word."""
    return VouchedLipschitz(admit_positive("lipschitz", lipschitz))


_checked: ContextVar[dict[str, Statement] | None] = ContextVar("_checked", default=None)


@contextmanager
def checked_once() -> Iterator[None]:
    """Within it, whether a proof stands is looked at when its statement is first asked for, and not again."""
    token = _checked.set({})
    try:
        yield
    finally:
        _checked.reset(token)


def standing_statement(label: str) -> Statement:
    """A statement whose proof stands."""
    checked = _checked.get()
    if checked is None:
        return require_standing(registered(label))
    if label not in checked:
        checked[label] = require_standing(registered(label))
    return checked[label]
