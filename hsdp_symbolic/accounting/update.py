"""What the update of a run does: how its gradients are bounded, and why it brings two runs closer together.

Hidden-state bounds need an update that contracts, and clipping can take that away: a record whose gradient is always
clipped pulls with constant force, whatever its loss was. So a run says which update it makes. What is proved for it is
its `Footing`; a bound that asks for more is not used.

>>> from hsdp_symbolic.accounting import training_run
>>> run = training_run(noise_multiplier=8, max_grad_norm=1, n=1344, batch_size=64, epochs=15, learning_rate="0.5",
...                    weight_decay="0.01", loss=logistic(feature_norm=1, bias=False))
>>> run.footing().setting["beta"], run.footing().why
(Fraction(13, 50), 'clipped gradients of a scalar-output loss with the regulariser outside the clip (clip:scalar)')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from ..catalogue import statement as registered
from ..errors import ArgumentError, HsdpError, HypothesisError
from ..meaning import Asks
from ..setting import Setting
from ..setting.gate import admit_positive, to_fraction
from ..setting.letters import LETTERS
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

SCALAR = "clip:scalar"
SOFTMAX = "prop:smooth_strcvx_clip"
RATES = (f"{SOFTMAX}:rate", f"{SOFTMAX}:rate_clip")
CLIPPED_ONE_BY_ONE = "gradients are clipped one record at a time"
REGULARISED_OUTSIDE = "a regulariser is added after clipping, to every parameter; none is part of the loss"
PLAIN_STEPS = "the optimiser takes plain gradient steps of one learning rate: no momentum, no Adam"
HOW_IT_STEPS = (CLIPPED_ONE_BY_ONE, REGULARISED_OUTSIDE, PLAIN_STEPS)
TWO_CLASSES = "two classes: clipped gradients stay monotone and smooth"
NEVER_BITES = "clipping never bites: no gradient is longer than the clip norm"
MAY_BITE = "three or more classes, and clipping may bite: only the contraction proved for it is used"
WHAT_HELPS = (
    "say which loss is clipped, if it is logistic, huber, squared, scalar (any φ(x·θ) with φ convex and smooth) or "
    "softmax, and give weight_decay for a regulariser that is added after clipping; or vouch for a Lipschitz constant "
    "of the clipped update, if you can prove one"
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
class ScalarLoss:
    """ℓ(θ) = φ(x·θ), φ convex with a `curvature`-Lipschitz derivative, inputs x of norm at most `feature_norm`.

    With `bias` a constant 1 is appended to x. Its gradients are clipped, and the regulariser is added after that.
    """

    feature_norm: Fraction
    curvature: Fraction
    bias: bool = True
    name: str = "scalar"
    """What it was declared as, for messages and for adapters that can look."""

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        regulariser = setting["lam"] if "lam" in setting else Fraction(0)
        given: dict[str, object] = {"kappa": self.curvature, "L": self.feature_norm, "bias": int(self.bias)}
        smooth = load * standing_statement(SCALAR).exact(setting, **given)
        spelled = f"κ·(L² + {int(self.bias)})" + ("" if load == 1 else f", times {load}") + " and λ added"
        return Footing(
            setting.replace(beta=smooth + regulariser),
            ANY_BATCH,
            f"clipped gradients of a scalar-output loss with the regulariser outside the clip ({SCALAR})",
            (SourcedConstant("beta", smooth + regulariser, SCALAR, f"smoothness of the clipped loss: {spelled}"),),
            (
                f"every record's loss is φ(x·θ), φ convex with a {self.curvature}-Lipschitz derivative, and "
                f"‖x‖ ≤ {float(self.feature_norm):.9g}" + (" before a 1 is appended" if self.bias else ""),
                *HOW_IT_STEPS,
            ),
        )


@dataclass(frozen=True)
class SoftmaxLoss:
    """Cross-entropy of a softmax over `classes` linear scores, inputs of norm at most `feature_norm` (a 1 appended)."""

    classes: int
    feature_norm: Fraction

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        told = (
            f"softmax regression with {self.classes} classes on inputs of norm at most {self.feature_norm}, with or "
            "without a 1 appended",
            *HOW_IT_STEPS,
        )
        if "lam" not in setting:
            return self._lacking(setting, "without weight_decay nothing pulls the clipped update together", told)
        given: dict[str, object] = {"classes": self.classes, "L": self.feature_norm}
        try:
            smooth = load * (standing_statement(SOFTMAX).exact(setting, **given) - setting["lam"]) + setting["lam"]
        except HypothesisError:
            return self._by_rate(setting, load, told)
        return Footing(
            setting.replace(beta=smooth),
            ANY_BATCH,
            f"{TWO_CLASSES if self.classes == 2 else NEVER_BITES} ({SOFTMAX})",
            (
                SourcedConstant("lam", setting["lam"], SOFTMAX, "strong convexity: that of the regulariser"),
                SourcedConstant("beta", smooth, SOFTMAX, f"smoothness: {standing_statement(SOFTMAX).title}"),
            ),
            told,
        )

    def _by_rate(self, setting: Setting, load: Fraction, told: tuple[str, ...]) -> Footing:
        """Three or more classes, and some gradients may be clipped: what the update still contracts by."""
        if load != 1:
            problem = f"sums of gradients are divided by less than the batch size (by 1/{load} of it)"
            return self._lacking(setting, f"with {self.classes} classes, {problem}, which is not covered", told)
        label, rate = _best_rate(setting, self.feature_norm)
        if rate <= 0:
            problem = f"with {self.classes} classes clipping may make the update expand"
            return self._lacking(setting, problem, told)
        smooth = standing_statement("prop:smooth").exact(setting, L=self.feature_norm) + setting["lam"]
        return Footing(
            setting.replace(lam=rate, beta=smooth),
            ONLY_CONTRACTION,
            f"{MAY_BITE} ({label})",
            (
                SourcedConstant("lam", rate, label, "the update is (1 − ηλ)-Lipschitz with this λ, rounded down"),
                SourcedConstant("beta", smooth, "prop:smooth", "and λ added"),
            ),
            told,
        )

    def _lacking(self, setting: Setting, problem: str, told: tuple[str, ...]) -> Footing:
        return Footing(
            setting,
            ONLY_COMPOSITION,
            "clipped softmax regression for which no contraction is proved",
            assumed_by_you=told,
            lacks=f"gradients are clipped, and {problem}",
            helps=_remedies(setting, self.feature_norm),
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


def logistic(*, feature_norm: object, bias: bool = True) -> ScalarLoss:
    """Binary logistic regression: φ(u) = log(1 + e^(−yu)), whose second derivative is at most 1/4."""
    return replace(scalar(feature_norm=feature_norm, curvature=Fraction(1, 4), bias=bias), name="logistic")


def huber(*, feature_norm: object, bias: bool = True) -> ScalarLoss:
    """Huber's loss: (u − y)²/2 near y and linear far from it, so that its curvature is at most 1."""
    return replace(scalar(feature_norm=feature_norm, curvature=1, bias=bias), name="huber")


def squared(*, feature_norm: object, bias: bool = True) -> ScalarLoss:
    """Least squares as `torch.nn.MSELoss` has it: φ(u) = (u − y)², whose curvature is 2."""
    return replace(scalar(feature_norm=feature_norm, curvature=2, bias=bias), name="squared")


def scalar(*, feature_norm: object, curvature: object, bias: bool = True) -> ScalarLoss:
    """Any loss φ(x·θ) with φ convex and a `curvature`-Lipschitz derivative."""
    if not isinstance(bias, bool):
        raise ArgumentError("bias", bias, "neither True nor False", "say whether a constant 1 is appended to x")
    return ScalarLoss(admit_positive("feature_norm", feature_norm), admit_positive("curvature", curvature), bias)


def softmax(*, classes: object, feature_norm: object) -> SoftmaxLoss:
    """Softmax regression; two classes are `classes=2`, one score for each."""
    if isinstance(classes, str) or not LETTERS["classes"].admits(number := to_fraction("classes", classes)):
        raise ArgumentError("classes", classes, "not a number of classes", "give a whole number, at least 2")
    return SoftmaxLoss(int(number), admit_positive("feature_norm", feature_norm))


def vouched(*, lipschitz: object) -> VouchedLipschitz:
    """You vouch that the clipped update, regulariser included, is `lipschitz`-Lipschitz; it is printed as your word."""
    return VouchedLipschitz(admit_positive("lipschitz", lipschitz))


_Maker = Callable[..., Update]  # type: ignore[explicit-any]  # each has keywords of its own
_LOSSES: dict[str, tuple[_Maker, tuple[str, ...], tuple[str, ...]]] = {
    "logistic": (logistic, ("feature_norm",), ("bias",)),
    "huber": (huber, ("feature_norm",), ("bias",)),
    "squared": (squared, ("feature_norm",), ("bias",)),
    "scalar": (scalar, ("feature_norm", "curvature"), ("bias",)),
    "softmax": (softmax, ("feature_norm", "classes"), ()),
    "vouched": (vouched, ("lipschitz",), ()),
}
"""For each named loss: the function that makes it, the arguments that function needs, and those it may be given."""
LOSSES = tuple(_LOSSES)


def named_loss(name: object, **facts: object) -> Update:
    """A loss by its name, for the command line and for files."""
    if not isinstance(name, str) or name not in _LOSSES:
        raise ArgumentError("loss", name, "no contraction is proved for such a loss", f"use one of {', '.join(LOSSES)}")
    make, needed, optional = _LOSSES[name]
    for fact, value in facts.items():
        if fact not in (*needed, *optional):
            asked = ", ".join((*needed, *optional))
            raise ArgumentError(fact, value, f"loss {name} does not ask for it", f"it asks for {asked}")
    for fact in needed:
        if facts.get(fact) is None:
            raise ArgumentError(fact, None, f"loss {name} needs it", f"give {fact}")
    return make(**facts)


def admit_loss(loss: object) -> Update | None:
    """A loss as given for a run, or an error."""
    if loss is None or isinstance(loss, (ScalarLoss, SoftmaxLoss, VouchedLipschitz)):
        return loss
    raise ArgumentError(
        "loss",
        loss,
        f"a {type(loss).__name__} does not describe a loss",
        "give logistic(…), huber(…), squared(…), scalar(…), softmax(…) or vouched(…)",
    )


def standing_statement(label: str) -> Statement:
    """A statement whose proof stands."""
    return require_standing(registered(label))


def _best_rate(setting: Setting, L: Fraction) -> tuple[str, Fraction]:
    """The larger of the two proved rates of contraction, rounded down to a short decimal; at most 0 if none."""
    found = []
    for label in RATES:
        try:
            found.append((label, Fraction(standing_statement(label).enclose(setting, L=L).decimals(12)[0])))
        except HsdpError:  # a step too long for the statement, or a value too close to 0 to tell
            found.append((label, Fraction(0)))
    return max(found, key=lambda pair: pair[1])


def _remedies(setting: Setting, L: Fraction) -> str:
    """What would be enough for a contraction; the numbers in it were tried."""
    found = [f"max_grad_norm >= {gradient_bound(L)}, which never bites", "two classes"]
    if "lam" not in setting:
        return f"use weight_decay, with {' or '.join(found)} or a small learning_rate"
    for halvings in range(1, 41):
        rate = setting["eta"] / 2**halvings
        if _best_rate(setting.replace(eta=rate), L)[1] > 0:
            return f"use {', or '.join([f'learning_rate <= {float(rate):.3g}', *found])}"
    lost = setting["lam"] - max(
        standing_statement(f"{SOFTMAX}:{name}").enclose(setting, L=L).lo for name in ("active", "active_clip")
    )
    return f"use {', or '.join([f'weight_decay > {float(lost):.4g} (with a small step)', *found])}"


def never_bites(clip: Fraction, feature_norm: Fraction) -> bool:
    """Whether no gradient of softmax regression, with however many classes, is longer than `clip`."""
    try:
        standing_statement(SOFTMAX).exact(Setting(lam=1, S_g=2 * clip), classes=3, L=feature_norm)
    except HypothesisError:
        return False
    return True


def gradient_bound(feature_norm: Fraction) -> str:
    """The largest norm of an unclipped softmax gradient (beside prop:smooth), in six digits, rounded up."""
    from ..evaluate.enclosure import value_of
    from ..evaluate.program import compile_expression

    (longest,) = standing_statement("prop:smooth").beside
    found = value_of(compile_expression(longest.proposition.value), {"L": feature_norm})
    nearest = Fraction(f"{float(found.hi):.6g}")
    return f"{float(nearest):.6g}" if never_bites(nearest, feature_norm) else found.decimals(6)[1]
