"""Regularised logistic regression with clipped gradients (Section 5 of the paper): its ε, and why.

As printed, the paper's proposition on clipped gradients fails for three or more classes. What is proved instead is in
`losses.SoftmaxLoss`; here is what `epsilon` gives for such a run, with composition beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..setting.gate import admit_positive
from .bounds import needs_hidden_state
from .candidates import check_neighbouring, check_scheme
from .guarantee import Guarantee, epsilon
from .library import training_run
from .losses import OUTSIDE, softmax
from .run import TrainingRun
from .update import SourcedConstant

if TYPE_CHECKING:
    from ..statement import Statement
    from .applicable import Refuse


@dataclass(frozen=True)
class LogisticPrivacy:
    """The certified guarantee of a logistic regression, composition beside it, and where its constants come from.

    `case` says why the update contracts, or why composition is used.
    """

    guarantee: Guarantee
    composition: Guarantee
    case: str
    sources: tuple[SourcedConstant, ...]
    run: TrainingRun


def logistic_privacy(
    *,
    n: object,
    classes: object,
    feature_norm: object,
    clip_norm: object,
    lam: object,
    learning_rate: object,
    batch_size: object,
    epochs: object,
    noise_multiplier: object,
    delta: object,
    scheme: str = "shuffle",
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    leftover: object = None,
    divisor: object = None,
    regulariser: object = OUTSIDE,
) -> LogisticPrivacy:
    """The certified ε of DP-SGD on regularised logistic regression (Algorithm 3 of the paper).

    Features are clipped to norm `feature_norm` (the paper's L) and a 1 is appended; the gradient of each record's
    unregularised loss is clipped to `clip_norm`, and λθ is added to the mean; with `regulariser="inside"` λθ is clipped
    with it. Where no contraction is proved (three or more classes, a clip norm that may bite, λ too small or a step too
    long), bounds for updates that expand are left, and composition; `note` says why, and `helps` what would help.

    >>> run = dict(n=1000, feature_norm=1, clip_norm=1, learning_rate="0.1", batch_size=50, epochs=20, delta="1e-5")
    >>> found = logistic_privacy(classes=2, noise_multiplier=8, lam="0.5", **run)
    >>> found.guarantee.bound, found.guarantee.epsilon < found.composition.epsilon
    ('profile:shuffle', True)
    >>> logistic_privacy(classes=3, noise_multiplier=8, lam="0.1", **run).guarantee.bound
    'profile:shuffle:expanding'
    """
    chosen = check_scheme(scheme)
    check_neighbouring(chosen, neighbouring)
    admit_positive("lam", lam)  # without a regulariser it is another loss
    run = training_run(
        noise_multiplier=noise_multiplier,
        clip_norm=admit_positive("clip_norm", clip_norm),
        n=n,
        batch_size=batch_size,
        epochs=epochs,
        learning_rate=learning_rate,
        weight_decay=lam,
        loss=softmax(classes=classes, feature_norm=feature_norm),
        leftover=leftover,
        divisor=divisor,
        regulariser=regulariser,
    )

    def certified(refuse: Refuse | None = None) -> Guarantee:
        return epsilon(run, delta=delta, scheme=chosen, neighbouring=neighbouring, orders=orders, refuse=refuse)

    found, footing = certified(), run.footing()
    return LogisticPrivacy(
        guarantee=found,
        composition=certified(_is_hidden) if found.hidden_state else found,
        case=footing.why if found.hidden_state else found.note,
        sources=(*(footing.sources if found.hidden_state else ()), *_conventions(run, found)),
        run=run,
    )


def _conventions(run: TrainingRun, found: Guarantee) -> tuple[SourcedConstant, ...]:
    noise = "η/2·(noise_multiplier·clip_norm/b)²"
    sensitivity = () if found.sensitivity is None else (found.sensitivity,)
    return *sensitivity, SourcedConstant("sigma_squared", run.setting["sigma2"], "cor:logistic", noise)


def _is_hidden(found: Statement) -> str:
    return "composition is asked for" if needs_hidden_state(found) else ""
