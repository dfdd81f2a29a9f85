"""Regularised logistic regression with clipped gradients: which constants are proved for it, and the ε that follows.

As printed, the paper's proposition on clipped gradients fails for three or more classes. So there are three cases: two
classes, and clipping that never bites, where it holds; and for the rest the contraction proved here in its place, with
which only those theorems are used that ask of the update map no more than its Lipschitz constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..catalogue import statement
from ..errors import ArgumentError, HsdpError, HypothesisError
from ..letters import LETTERS
from ..setting import Setting, to_fraction
from .candidates import check_neighbouring, check_scheme, covering, is_released
from .guarantee import Guarantee, epsilon
from .library import REPLACE_ONE_FACTOR, TrainingRun, admit_count, training_run

if TYPE_CHECKING:
    from ..statement import Statement

PROPOSITION = "prop:smooth_strcvx_clip"
RATES = (f"{PROPOSITION}:rate", f"{PROPOSITION}:rate_clip")
LIPSCHITZ_SUFFICES = frozenset(
    {"thm:strconvexsmooth", "thm:shuffle", "thm:amp_samp_wo_replacement", "thm:amp_samp_wo_replacement:limit"}
)
"""Theorems that follow from lem:recursive and the log-Sobolev constants alone, which ask for an L-Lipschitz update."""
TWO_CLASSES = "two classes: clipped gradients stay monotone and smooth"
NEVER_BITES = "clipping never bites: the clip norm is at least any gradient's norm"
COMPOSITION_ONLY = "no hidden-state statement covers these batches; composition needs no constants of the loss"
MAY_BITE = "three or more classes, and clipping may bite: only the contraction proved for it is used"


class NotProved(ArgumentError):
    """Clipping may break the hypotheses of every hidden-state bound, so none is claimed."""


@dataclass(frozen=True)
class Source:
    """A constant of the run, and the statement (or the convention) it comes from."""

    name: str
    value: Fraction
    comes_from: str
    says: str


@dataclass(frozen=True)
class LogisticPrivacy:
    """The certified guarantee of a logistic regression, composition beside it, and where its constants come from."""

    guarantee: Guarantee
    composition: Guarantee
    case: str
    sources: tuple[Source, ...]
    run: TrainingRun


def logistic_privacy(
    *,
    n: Any,
    classes: Any,
    feature_norm: Any,
    clip_norm: Any,
    lam: Any,
    learning_rate: Any,
    batch_size: Any,
    epochs: Any,
    noise_multiplier: Any,
    delta: Any,
    scheme: str = "shuffle",
    neighbouring: str | None = None,
    orders: Iterable[Any] | None = None,
) -> LogisticPrivacy:
    """The certified ε of DP-SGD on regularised logistic regression (Algorithm 3 of the paper).

    Features are clipped to norm `feature_norm` (the paper's L) and a 1 is appended; the gradient of each record's
    unregularised loss is clipped to `clip_norm`, and λθ is added to the mean. An epoch has ⌊n/b⌋ steps. Where no
    hidden-state bound is proved for the constants (three or more classes, a clip norm that may bite, λ too small or a
    step too long), it raises `NotProved`.

    >>> run = dict(n=1000, feature_norm=1, clip_norm=1, lam="0.5", learning_rate="0.1", batch_size=50, epochs=20)
    >>> found = logistic_privacy(classes=2, noise_multiplier=8, delta="1e-5", **run)
    >>> found.guarantee.bound, found.guarantee.epsilon < found.composition.epsilon
    ('shift:shuffle', True)
    >>> logistic_privacy(classes=3, noise_multiplier=8, delta="1e-5", **run | dict(lam="0.1"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hsdp_symbolic.accounting.logistic.NotProved: clip_norm = 1: with classes = 3 ...
    """
    relation = check_neighbouring(check_scheme(scheme), neighbouring)
    if scheme == "full_batch" and batch_size != n:
        raise ArgumentError("batch_size", batch_size, f"a full batch holds all n = {n} records", "give batch_size = n")
    given: dict[str, Any] = {
        "noise_multiplier": noise_multiplier,
        "clip_norm": _positive("clip_norm", clip_norm),
        "n": n,
        "batch_size": batch_size,
        "epochs": epochs,
        "learning_rate": _positive("learning_rate", learning_rate),
    }
    number, L, convexity = _classes(classes), _positive("feature_norm", feature_norm), _positive("lam", lam)
    run = training_run(**given)
    if any(not is_released(found) for found, _ in covering(scheme, relation)):
        case, sources = constants(run.setting.replace(lam=convexity), classes=number, feature_norm=L)
        run = training_run(**given, **{source.name: source.value for source in sources})
    else:
        case, sources = COMPOSITION_ONLY, ()
    options: dict[str, Any] = {"delta": delta, "scheme": scheme, "neighbouring": neighbouring, "orders": orders}
    found = epsilon(run, **options, refuse=_asks_for_more if case == MAY_BITE else None)
    return LogisticPrivacy(
        guarantee=replace(found, assumptions=_assumptions(found)),
        composition=epsilon(run, **options, refuse=_is_hidden),
        case=case,
        sources=(*sources, *_conventions(run, relation)),
        run=run,
    )


def constants(setting: Setting, *, classes: int, feature_norm: Fraction) -> tuple[str, tuple[Source, ...]]:
    """λ and β of the clipped, regularised gradient, or `NotProved`; `setting` has λ of the regulariser, η and S_g."""
    proposition = statement(PROPOSITION)
    try:
        beta = proposition.exact(setting, classes=classes, L=feature_norm)
    except HypothesisError as refusal:
        return MAY_BITE, _contraction(setting, classes, feature_norm, refusal)
    return TWO_CLASSES if classes == 2 else NEVER_BITES, (
        Source("lam", setting["lam"], PROPOSITION, "strong convexity: that of the regulariser"),
        Source("beta", beta, PROPOSITION, f"smoothness: {proposition.title}"),
    )


def _contraction(setting: Setting, classes: int, L: Fraction, refusal: HypothesisError) -> tuple[Source, ...]:
    """The best proved λ′ for which the update is (1 − ηλ′)-Lipschitz, and the smoothness with it."""
    label, rate = _best_rate(setting, L)
    if rate <= 0:
        raise NotProved(
            "clip_norm",
            setting["S_g"] / REPLACE_ONE_FACTOR,
            f"with classes = {classes} clipping may make the update expand, so no hidden-state bound is proved "
            f"({refusal.hypothesis} fails)",
            _remedies(setting, L),
        )
    return (
        Source("lam", rate, label, "the update is (1 − ηλ)-Lipschitz with this λ, rounded down"),
        Source("beta", statement("prop:smooth").exact(setting, L=L) + setting["lam"], "prop:smooth", "and λ added"),
    )


def _best_rate(setting: Setting, L: Fraction) -> tuple[str, Fraction]:
    """The larger of the two contractions, rounded down to a short decimal; at most 0 where there is none."""
    found = []
    for label in RATES:
        try:
            found.append((label, Fraction(statement(label).enclose(setting, L=L).decimals(12)[0])))
        except HsdpError:  # a step too long for the statement, or a value too close to 0 to tell
            found.append((label, Fraction(0)))
    return max(found, key=lambda pair: pair[1])


def _remedies(setting: Setting, L: Fraction) -> str:
    """What would be enough, each remedy found by trying it."""
    found = []
    for halvings in range(1, 41):
        rate = setting["eta"] / 2**halvings
        if _best_rate(setting.replace(eta=rate), L)[1] > 0:
            found.append(f"learning_rate <= {float(rate):.3g}")
            break
    else:
        lost = setting["lam"] - max(
            statement(f"{PROPOSITION}:{name}").enclose(setting, L=L).lo for name in ("active", "active_clip")
        )
        found.append(f"lam > {float(lost):.4g} (with a small step)")
    found.append(f"clip_norm >= {gradient_bound(L)}, which never bites")
    return f"use {', or '.join(found)}, or two classes, or composition (`hsdp epsilon` without lam and beta)"


def gradient_bound(feature_norm: Fraction) -> str:
    """The largest norm of an unclipped gradient (beside prop:smooth), in six digits, rounded up."""
    from ..enclosure import value_of
    from ..nodes import undisplay
    from ..program import compile_expression

    ((_, expression),) = statement("prop:smooth").also
    return value_of(compile_expression(undisplay(expression)), {"L": feature_norm}).decimals(6)[1]


def _conventions(run: TrainingRun, relation: str) -> tuple[Source, ...]:
    setting = run.setting
    whose = "a record is replaced" if relation == "replace_one" else "for a record replaced; half of it for one added"
    return (
        Source("S_g", setting["S_g"], "convention", f"{REPLACE_ONE_FACTOR}·clip_norm: {whose}"),
        Source("sigma_squared", setting["sigma2"], "cor:logistic", "η/2·(noise_multiplier·clip_norm/b)²"),
    )


def _assumptions(found: Guarantee) -> tuple[str, ...]:
    """What is left to assume: the constants of the loss are proved, given how features and gradients are clipped."""
    from ..paper.lsi import LOSS

    proved = LOSS.partition("{}")[0]
    left = (assumption for assumption in found.assumptions if not assumption.startswith(proved))
    return *statement(PROPOSITION).assumes, *left


def _asks_for_more(found: Statement) -> str:
    if is_released(found) or found.label in LIPSCHITZ_SUFFICES:
        return ""
    return "it asks for convex losses, and clipped gradients of three or more classes have none"


def _is_hidden(found: Statement) -> str:
    return "" if is_released(found) else "composition is asked for"


def _classes(value: object) -> int:
    number = admit_count("classes", value)
    if not LETTERS["classes"].admits(Fraction(number)):
        raise ArgumentError("classes", value, "there is nothing to classify", "give at least 2 classes")
    return number


def _positive(name: str, value: object) -> Fraction:
    result = to_fraction(name, value)
    if result <= 0:
        raise ArgumentError(name, value, "must be positive", "give a number > 0")
    return result
