"""Losses whose clipped gradients are understood: how Lipschitz an update by them is, and what is proved of it.

Clipped, a convex loss of one score stays convex and smooth (`clip:scalar`), so that everything applies. Any other
convex or smooth loss leaves a Lipschitz constant of the update (`clip:convex`, `clip:smooth`). Below 1 it is a
contraction; at 1 or above, bounds for updates that expand are left. Of several constants the least is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from ..errors import ArgumentError, HypothesisError
from ..setting import Setting
from ..setting.gate import admit_positive, to_fraction
from ..setting.letters import LETTERS
from .lipschitz import OF_CONVEX, OF_SMOOTH, Constants, by_constant, decay_of, of_clipped, of_softmax, rounded
from .update import (
    ANY_BATCH,
    CLIPPED_ONE_BY_ONE,
    PLAIN_STEPS,
    Footing,
    SourcedConstant,
    Update,
    VouchedLipschitz,
    standing_statement,
    vouched,
)

SCALAR = "clip:scalar"
LOGISTIC = "clip:logistic"
OFFSET = Fraction(1, 10**6)
"""What clippers (Opacus' for one) may add to the norm that they divide by."""
SOFTMAX, SOFTMAX_ANY = "prop:smooth_strcvx_clip", "clip:softmax:convex"
"""Where clipping keeps softmax losses convex: the paper's, with a bias, and with or without."""
REGULARISED_OUTSIDE = "a regulariser is added after clipping, to every parameter; none is part of the loss"
HOW_IT_STEPS = (CLIPPED_ONE_BY_ONE, REGULARISED_OUTSIDE, PLAIN_STEPS)
TWO_CLASSES = "two classes: clipped gradients stay monotone and smooth"
NEVER_BITES = "clipping never bites: no gradient is longer than the clip norm"
MAY_BITE = "three or more classes, and clipping may bite: only the contraction proved for it is used"
OUTSIDE, WITHIN = REGULARISERS = ("outside", "inside")
"""Where a regulariser may be added: after clipping, or to every record's loss before it."""
LONG_STEP = "a step longer than the loss is smooth: only the contraction proved for it is used"
INSIDE = "a regulariser inside the clip is clipped with the loss"


class Loss(Protocol):
    """A loss of single records."""

    @property
    def is_convex(self) -> bool: ...

    def smoothness(self, setting: Setting) -> Fraction:
        """A Lipschitz constant of its gradients, before clipping and without any regulariser."""

    def told(self) -> str:
        """What its gradients are taken to be."""


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
    slope: Fraction | None = None
    """The largest |φ'|, if that is known."""

    @property
    def is_convex(self) -> bool:
        return True

    def smoothness(self, setting: Setting) -> Fraction:
        given: dict[str, object] = {"kappa": self.curvature, "L": self.feature_norm, "bias": int(self.bias)}
        return standing_statement(SCALAR).exact(setting, **given)

    def told(self) -> str:
        steep = "" if self.slope is None else f" of size at most {self.slope}"
        kind = ", that of binary logistic regression" if self.is_logistic else ""
        return (
            f"every record's loss is φ(x·θ){kind}, φ convex with a {self.curvature}-Lipschitz derivative{steep}, and "
            f"‖x‖ ≤ {float(self.feature_norm):.9g}" + (" before a 1 is appended" if self.bias else "")
        )

    @property
    def is_logistic(self) -> bool:
        return self.name == "logistic"

    @property
    def _features(self) -> dict[str, Fraction]:
        return {"L": self.feature_norm, "bias": Fraction(self.bias)}

    def longest(self) -> SourcedConstant | None:
        """How long a gradient can be before it is clipped, if that is known."""
        if self.is_logistic:
            return of_gradients("gradient:logistic", self._features)
        return None if self.slope is None else of_gradients("gradient:scalar", {"slope": self.slope, **self._features})

    def labels_apart(self) -> SourcedConstant | None:
        """How far apart the gradients for two labels can be, if that is known."""
        return of_gradients("gradient:logistic", self._features, beside=True) if self.is_logistic else None

    def _clipped(self, setting: Setting) -> tuple[Fraction, str, str]:
        """How smooth the clipped loss is, by which statement, and in symbols."""
        plain = self.smoothness(setting)
        if self.is_logistic:
            try:
                found = rounded(standing_statement(LOGISTIC).enclose_at(setting, self._features).hi)[1]
            except HypothesisError:  # the clip norm is not small
                return plain, SCALAR, f"κ·(L² + {int(self.bias)})"
            # beyond C a clipper that adds OFFSET to norms lets slopes rise by p(1 − p)‖x‖²·OFFSET/C, at most
            if found < plain and found * setting["S_g"] > OFFSET * (self.feature_norm**2 + int(self.bias)):
                return found, LOGISTIC, f"C·(√(L² + {int(self.bias)}) − C)"
        return plain, SCALAR, f"κ·(L² + {int(self.bias)})"

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        regulariser = decay_of(setting)
        smooth, label, spelled = self._clipped(setting)
        smooth *= load
        if setting["eta"] * (smooth + 2 * regulariser) >= 2:
            return self._long(setting, smooth, label)
        spelled += ("" if load == 1 else f", times {load}") + " and λ added"
        kind = "the binary logistic loss" if label == LOGISTIC else "a scalar-output loss"
        return Footing(
            setting.replace(beta=smooth + regulariser),
            ANY_BATCH,
            f"clipped gradients of {kind} with the regulariser outside the clip ({label})",
            (SourcedConstant("beta", smooth + regulariser, label, f"smoothness of the clipped loss: {spelled}"),),
            (self.told(), *HOW_IT_STEPS),
        )

    def _long(self, setting: Setting, smooth: Fraction, label: str) -> Footing:
        """The step is too long for the clipped loss, whose gradients are those of a convex smooth one all the same."""
        clipped = of_clipped(smooth, OF_CONVEX)

        def constants(at: Setting) -> Constants:
            if at["eta"] * (smooth + 2 * decay_of(at)) < 2:
                yield label, 1 - at["eta"] * decay_of(at)
            yield from clipped(at)

        problem = f"a step of eta = {setting['eta']} is too long for so smooth a loss"
        return by_constant(setting, constants, LONG_STEP, problem, (self.told(), *HOW_IT_STEPS))


@dataclass(frozen=True)
class SoftmaxLoss:
    """Cross-entropy of a softmax over `classes` linear scores, inputs of norm at most `feature_norm`.

    With `bias` a constant 1 is appended to them.
    """

    classes: int
    feature_norm: Fraction
    bias: bool = True

    @property
    def is_convex(self) -> bool:
        return True

    def smoothness(self, setting: Setting) -> Fraction:
        return standing_statement("smooth:softmax").exact(setting, **self._features)

    def told(self) -> str:
        return f"softmax regression with {self.classes} classes on inputs of norm at most {self.feature_norm}" + (
            " before a 1 is appended" if self.bias else ", and no bias"
        )

    @property
    def _features(self) -> dict[str, Fraction]:
        return {"L": self.feature_norm, "bias": Fraction(self.bias)}

    @property
    def _keeps_convex(self) -> str:
        """What says where clipping keeps it convex."""
        return SOFTMAX if self.bias else SOFTMAX_ANY

    def never_bites(self, clip: Fraction) -> bool:
        """Whether no gradient is longer than `clip`, with however many classes."""
        try:
            standing_statement(self._keeps_convex).exact(Setting(lam=1, S_g=2 * clip), classes=3, **self._features)
        except HypothesisError:
            return False
        return True

    def gradient_bound(self) -> str:
        """The largest norm of a gradient, in six digits, rounded up."""
        found = standing_statement("gradient:softmax").enclose_at(Setting(), self._features)
        nearest = Fraction(f"{float(found.hi):.6g}")
        return f"{float(nearest):.6g}" if self.never_bites(nearest) else found.decimals(6)[1]

    def longest(self) -> SourcedConstant:
        """How long a gradient can be before it is clipped."""
        return of_gradients("gradient:softmax", self._features)

    def labels_apart(self) -> SourcedConstant:
        """How far apart the gradients for two labels can be."""
        return of_gradients("gradient:softmax", self._features, beside=True)

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        if "lam" not in setting:
            return self._bent(setting, load)
        keeps = standing_statement(self._keeps_convex)
        try:
            plain = keeps.exact(setting, classes=self.classes, **self._features) - setting["lam"]
        except HypothesisError:
            return self._bent(setting, load)
        smooth = load * plain + setting["lam"]
        return Footing(
            setting.replace(beta=smooth),
            ANY_BATCH,
            f"{TWO_CLASSES if self.classes == 2 else NEVER_BITES} ({keeps.label})",
            (
                SourcedConstant("lam", setting["lam"], keeps.label, "strong convexity: that of the regulariser"),
                SourcedConstant("beta", smooth, keeps.label, f"smoothness: {keeps.title}"),
            ),
            (self.told(), *HOW_IT_STEPS),
        )

    def _bent(self, setting: Setting, load: Fraction) -> Footing:
        """Some gradients may be clipped: the least constant proved for the update."""
        ways = of_clipped(load * self.smoothness(setting), OF_CONVEX), of_softmax(self._features, load)

        def constants(at: Setting) -> Constants:
            for way in ways:
                yield from way(at)

        if "lam" not in setting:
            problem = "without weight_decay nothing pulls the clipped update together"
        else:
            problem = f"with {self.classes} classes clipping may make the update expand"
        never = f"max_grad_norm >= {self.gradient_bound()}, which never bites"
        others = (never, "two classes")
        return by_constant(setting, constants, MAY_BITE, problem, (self.told(), *HOW_IT_STEPS), others)


@dataclass(frozen=True)
class RecordLoss:
    """Any loss of single records with `lipschitz_gradient`-Lipschitz gradients, convex or not."""

    lipschitz_gradient: Fraction
    is_convex: bool

    def smoothness(self, setting: Setting) -> Fraction:
        return self.lipschitz_gradient

    def told(self) -> str:
        kind = "convex" if self.is_convex else "convex or not"
        return f"every record's loss has {self.lipschitz_gradient}-Lipschitz gradients; it is {kind}"

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        constants = of_clipped(load * self.lipschitz_gradient, OF_CONVEX if self.is_convex else OF_SMOOTH)
        kind = "clipped gradients of a convex smooth loss" if self.is_convex else "clipped gradients of a smooth loss"
        problem = (
            "clipping may make the update expand"
            if "lam" in setting
            else "without weight_decay nothing pulls the clipped update together"
        )
        return by_constant(setting, constants, kind, problem, (self.told(), *HOW_IT_STEPS))


@dataclass(frozen=True)
class RegularisedInside:
    """A loss to which (`strength`/2)·‖θ‖² is added, record by record, before gradients are clipped."""

    loss: ScalarLoss | SoftmaxLoss | RecordLoss
    strength: Fraction

    def footing(self, setting: Setting, load: Fraction = Fraction(1)) -> Footing:
        smooth = load * (self.loss.smoothness(setting) + self.strength)
        constants = of_clipped(smooth, OF_CONVEX if self.loss.is_convex else OF_SMOOTH)
        decay = decay_of(setting)
        else_ = f"another {decay}·θ is added after clipping" if decay else "nothing else is added"
        part = f"({self.strength}/2)·‖θ‖² is part of every record's loss, and clipped with it; {else_}"
        told = (self.loss.told(), CLIPPED_ONE_BY_ONE, part, PLAIN_STEPS)
        problem = INSIDE if decay else f"{INSIDE}, so that nothing contracts"
        found = by_constant(setting, constants, INSIDE, problem, told)
        return replace(found, helps="let the optimiser add it after clipping: regulariser='outside'")


DECLARED = (ScalarLoss, SoftmaxLoss, RecordLoss, RegularisedInside, VouchedLipschitz)
"""What a clipped run may say of its loss."""


def logistic(*, feature_norm: object, bias: bool = True) -> ScalarLoss:
    """Binary logistic regression: φ(u) = log(1 + e^(−yu)), whose second derivative is at most 1/4."""
    found = scalar(feature_norm=feature_norm, curvature=Fraction(1, 4), bias=bias, slope=1)
    return replace(found, name="logistic")


def huber(*, feature_norm: object, bias: bool = True, slope: object = None) -> ScalarLoss:
    """Huber's loss: (u − y)²/2 near y and linear far from it, with that `slope`; its curvature is at most 1."""
    return replace(scalar(feature_norm=feature_norm, curvature=1, bias=bias, slope=slope), name="huber")


def squared(*, feature_norm: object, bias: bool = True) -> ScalarLoss:
    """Least squares as `torch.nn.MSELoss` has it: φ(u) = (u − y)², whose curvature is 2."""
    return replace(scalar(feature_norm=feature_norm, curvature=2, bias=bias), name="squared")


def scalar(*, feature_norm: object, curvature: object, bias: bool = True, slope: object = None) -> ScalarLoss:
    """Any loss φ(x·θ) with φ convex and a `curvature`-Lipschitz derivative, at most `slope` in size, if given."""
    steep = None if slope is None else admit_positive("slope", slope)
    norm, curved = admit_positive("feature_norm", feature_norm), admit_positive("curvature", curvature)
    return ScalarLoss(norm, curved, _admit_bias(bias), slope=steep)


def _admit_bias(bias: object) -> bool:
    if isinstance(bias, bool):
        return bias
    raise ArgumentError("bias", bias, "neither True nor False", "say whether a constant 1 is appended to x")


def softmax(*, classes: object, feature_norm: object, bias: bool = True) -> SoftmaxLoss:
    """Softmax regression; two classes are `classes=2`, one score for each. `bias`: a constant 1 is appended to x."""
    if isinstance(classes, str) or not LETTERS["classes"].admits(number := to_fraction("classes", classes)):
        raise ArgumentError("classes", classes, "not a number of classes", "give a whole number, at least 2")
    return SoftmaxLoss(int(number), admit_positive("feature_norm", feature_norm), _admit_bias(bias))


def smoothed_hinge(*, feature_norm: object, width: object = 1, bias: bool = True) -> ScalarLoss:
    """The hinge max(0, 1 − yu) with its kink rounded off over `width`: its slope rises at no more than 1/width."""
    curvature = 1 / admit_positive("width", width)
    return replace(scalar(feature_norm=feature_norm, curvature=curvature, bias=bias, slope=1), name="smoothed_hinge")


def convex(*, smoothness: object) -> RecordLoss:
    """Any convex loss of single records whose gradients are `smoothness`-Lipschitz before they are clipped."""
    return RecordLoss(admit_positive("smoothness", smoothness), is_convex=True)


def smooth(*, smoothness: object) -> RecordLoss:
    """Any loss of single records, convex or not, whose gradients are `smoothness`-Lipschitz before they are clipped."""
    return RecordLoss(admit_positive("smoothness", smoothness), is_convex=False)


_Maker = Callable[..., Update]  # type: ignore[explicit-any]  # each has keywords of its own
_LOSSES: dict[str, tuple[_Maker, tuple[str, ...], tuple[str, ...]]] = {
    "logistic": (logistic, ("feature_norm",), ("bias",)),
    "huber": (huber, ("feature_norm",), ("bias", "slope")),
    "squared": (squared, ("feature_norm",), ("bias",)),
    "scalar": (scalar, ("feature_norm", "curvature"), ("bias", "slope")),
    "smoothed_hinge": (smoothed_hinge, ("feature_norm",), ("width", "bias")),
    "softmax": (softmax, ("feature_norm", "classes"), ("bias",)),
    "convex": (convex, ("smoothness",), ()),
    "smooth": (smooth, ("smoothness",), ()),
    "vouched": (vouched, ("lipschitz",), ()),
}
"""For each named loss: the function that makes it, the arguments that function needs, and those it may be given."""
LOSSES = tuple(_LOSSES)


def named_loss(name: object, **facts: object) -> Update:
    """A loss by its name, for the command line and for files."""
    if not isinstance(name, str) or name not in _LOSSES:
        raise ArgumentError(
            "loss",
            name,
            "no loss of that name is known here",
            f"use one of {', '.join(LOSSES)}; cross-entropy is logistic for two classes with one score, softmax else",
        )
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
    if loss is None or isinstance(loss, DECLARED):
        return loss
    raise ArgumentError(
        "loss",
        loss,
        f"a {type(loss).__name__} does not describe a loss",
        f"give {', '.join(f'{name}(…)' for name in LOSSES)}",
    )


def inside(loss: Update, strength: Fraction) -> RegularisedInside:
    """The same loss with a regulariser that is part of it, and clipped with it."""
    if isinstance(loss, (ScalarLoss, SoftmaxLoss, RecordLoss)):
        return RegularisedInside(loss, strength)
    raise ArgumentError(
        "regulariser", WITHIN, "you vouch for the update, regulariser and all", "leave weight_decay and it out"
    )


def of_gradients(label: str, letters: Mapping[str, Fraction], *, beside: bool = False) -> SourcedConstant:
    """What a statement says of gradients before they are clipped, or what is proved beside it, a root: rounded up."""
    from ..evaluate.enclosure import enclose, exact
    from ..evaluate.program import compile_expression

    found = standing_statement(label)
    value = found.beside[0].proposition.value if beside else found.expr
    down, up = rounded(enclose(compile_expression(value), letters).hi)
    is_above = down**2 >= exact(compile_expression(value**2), letters)
    return SourcedConstant("S_g", down if is_above else up, label, found.title)
