"""`epsilon` and `delta`: the smallest certified guarantee among all statements that hold for a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ..arithmetic.doubles import double_below
from ..errors import ArgumentError, HsdpError
from ..evaluate.enclosure import Enclosure
from ..meaning import Neighbouring, Scheme
from ..progress import Ticker
from ..setting import Setting
from ..setting.letters import LETTERS
from .applicable import Candidates, Considered, bounds_for
from .bounds import Best, Bound, ProfileBound, RenyiBound
from .by_step import ByShifts, ByStretches, projected_onto
from .candidates import covering, lacking
from .conversion import Form, Goal, admit_delta, admit_epsilon, check_finite, check_form
from .effort import Effort, TooMuchWork, admit_effort, on_losses, rank, takes_long
from .orders import Loses, admit_orders, best, minimum
from .run import Leftover, TrainingRun
from .update import SourcedConstant, Unclipped, VouchedLipschitz

if TYPE_CHECKING:
    from sympy.core.relational import Relational

    from ..statement import Statement
    from .applicable import Refuse


@dataclass(frozen=True)
class Margin:
    """A hypothesis with this run's values; `margin` is how far it is from failing (0: at the limit)."""

    hypothesis: str
    left: float
    right: float
    margin: float


@dataclass(frozen=True)
class Guarantee:
    """(ε, δ)-differential privacy of a run, certified.

    The number asked for (`epsilon`, or `delta`) is never below the true value of the bound used; `lower` is the lower
    end of its enclosure. The two differ by rounding only, or by the grid that privacy losses are computed on: below
    1e-3 of ε, or 1e-2 where δ is less than 1e-9 and the effort is not "thorough". `order` is the Rényi order, None for
    a profile, which needs none; `choices` are the letters that the bound leaves free, as they were chosen: any choice
    is valid. `minimum`, if asked for, is a certified lower bound on what any order could have given with this bound.
    `update` says why the update of the run meets what the bound asks for, `assumed_by_you` what of that is the user's
    own word. Where composition is used, `note` says why, and `helps` what would make a hidden-state bound apply, if
    that is known.
    """

    epsilon: float
    delta: float
    lower: float
    order: Fraction | float | None
    bound: str
    scheme: Scheme
    neighbouring: Neighbouring
    hidden_state: bool
    considered: tuple[Considered, ...]
    hypotheses: tuple[Margin, ...]
    assumptions: tuple[str, ...]
    setting: Setting
    choices: Mapping[str, Fraction] = field(default_factory=dict)
    update: str = ""
    assumed_by_you: tuple[str, ...] = ()
    minimum: float | None = None
    title: str = ""
    """What the bound is, in words."""
    note: str = ""
    helps: str = ""
    sensitivity: SourcedConstant | None = None
    """S_g, as the bound used needs it under the neighbouring relation, and where it comes from."""


def epsilon(
    run: Setting | TrainingRun,
    /,
    *,
    delta: object,
    scheme: str,
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    conversion: Form = "best",
    certify_minimum: bool = False,
    refuse: Refuse | None = None,
    effort: str | Effort = "normal",
) -> Guarantee:
    """The smallest ε at `delta` that any applicable statement certifies, and which one it was.

    At δ = 0 there is none, unless neighbouring records have the same gradients. Profiles give ε directly. If `orders`
    or another `conversion` is asked for, only Rényi divergences are used. `refuse`, a function of a statement, rules it
    out by returning a reason. `effort` says how long is worth it: "normal" computes divergences that take long only
    where no profile holds, "thorough" always; what is skipped is among `considered`, with the reason.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> found = epsilon(run, delta="1e-5", scheme="shuffle")
    >>> found.bound, found.epsilon < 0.261157, found.hidden_state
    ('profile:shuffle', True, True)
    """
    check_form(conversion)
    goal = Goal("epsilon", admit_delta(delta), conversion)
    found = _guarantee(run, goal, scheme, neighbouring, orders, certify_minimum, refuse, admit_effort(effort))
    check_finite(goal.given, found.epsilon)
    return found


def delta(
    run: Setting | TrainingRun,
    /,
    *,
    epsilon: object,
    scheme: str,
    neighbouring: str | None = None,
    orders: Iterable[object] | None = None,
    refuse: Refuse | None = None,
    effort: str | Effort = "normal",
) -> Guarantee:
    """The smallest δ at `epsilon` that any applicable statement certifies, and which one it was."""
    goal = Goal("delta", admit_epsilon("epsilon", epsilon))
    return _guarantee(run, goal, scheme, neighbouring, orders, False, refuse, admit_effort(effort))


def _guarantee(
    run: Setting | TrainingRun,
    goal: Goal,
    scheme: str,
    neighbouring: str | None,
    orders: Iterable[object] | None,
    certify_minimum: bool,
    refuse: Refuse | None,
    effort: Effort,
) -> Guarantee:
    wanted = admit_orders(orders)
    candidates = bounds_for(run, scheme, neighbouring, refuse, effort)
    held, lost = certified(candidates.bounds, goal, wanted, effort)
    refused = lost + candidates.refused
    if not held:
        raise nothing_holds(candidates, refused)
    chosen, found = min(held, key=lambda pair: pair[1].upper)
    least = _minimum(chosen, goal, found) if certify_minimum else None
    entries = [
        Considered(bound.label, "chosen", result.upper, result.order, "the smallest")
        if bound is chosen
        else Considered(bound.label, "loses", result.upper, result.order, f"{goal.seeks} {result.upper:.6g} is larger")
        for bound, result in held
    ]
    footing, given = candidates.covered.footing, goal.reported()
    considered = tuple(sorted(entries, key=_rank)) + tuple(refused)
    note = "" if chosen.hidden_state else why_composition(candidates, considered)
    return Guarantee(
        epsilon=found.upper if goal.seeks == "epsilon" else given,
        delta=min(1.0, found.upper) if goal.seeks == "delta" else given,
        lower=found.lower if goal.seeks == "epsilon" else min(1.0, found.lower),
        order=found.order,
        bound=chosen.label,
        scheme=candidates.scheme,
        neighbouring=candidates.neighbouring,
        hidden_state=chosen.hidden_state,
        considered=considered,
        hypotheses=tuple(margins(chosen, found)),
        assumptions=(*_assumptions(chosen, candidates), *_share_of_delta(chosen, found)),
        setting=candidates.covered.setting_for(chosen.statement),
        choices=found.choices,
        update=footing.why if chosen.hidden_state else "any: each step is a Gaussian mechanism by itself",
        assumed_by_you=candidates.your_word((chosen.label,), chosen.hidden_state),
        minimum=least,
        title=chosen.title,
        note=note,
        helps=what_helps(candidates, note),
        sensitivity=candidates.moved_for(chosen.statement).constant,
    )


def _minimum(chosen: Bound, goal: Goal, found: Best) -> float:
    """A lower bound on what the bound used could have given: a profile gives one number."""
    return double_below(minimum(chosen, goal)) if isinstance(chosen, RenyiBound) else found.lower


def certified(
    bounds: Iterable[Bound],
    goal: Goal,
    orders: tuple[Fraction | float, ...] | None,
    effort: Effort,
    *,
    all_of_them: bool = False,
) -> tuple[list[tuple[Bound, Best]], list[Considered]]:
    """Every bound at its best, and those that fail, are skipped or, unless `all_of_them` are wanted, cannot win.

    Profiles come first, closed forms before what takes longer. Where one certifies 0, or less than any double that is
    not 0, the rest need not be evaluated; where it certifies less than the effort asked for follows privacy losses down
    to, those need not.
    """
    held: list[tuple[Bound, Best]] = []
    refused: list[Considered] = []
    ticker = Ticker()
    by_order = orders is not None or goal.conversion != "best"
    for bound in sorted(bounds, key=lambda bound: _turn(bound, goal)):
        ticker.say(f"{goal.seeks} by {bound.label}")
        leader, least = min(held, key=lambda pair: pair[1].upper, default=(None, Best(None, None)))
        if leader is not None and least.upper <= LEAST_DOUBLE and not all_of_them:
            least_of_all = "0" if least.upper == 0 else "less than any double"
            reason = f"{leader.label} already certifies {least_of_all}"
            refused.append(Considered(bound.label, "loses", None, None, reason))
            continue
        spare = isinstance(bound, RenyiBound) and takes_long(bound.statement) and not (by_order or effort.everything)
        if spare and _has_profile(held):
            refused.append(Considered(bound.label, "skipped", None, None, PROFILE_FIRST))
            continue
        if goal.seeks == "delta" and on_losses(bound.statement) and least.upper < 2.0**-effort.bits:
            assert leader is not None
            reason = f"{leader.label} gives {least.upper:.3g}, and losses are followed down to 2^-{effort.bits}"
            refused.append(Considered(bound.label, "skipped", None, None, reason))
            continue
        try:
            if isinstance(bound, ProfileBound):
                if by_order:
                    refused.append(Considered(bound.label, "does not apply", None, None, BY_ORDER))
                    continue
                held.append((bound, bound.best(goal)))
            else:
                assert isinstance(bound, RenyiBound)
                to_beat = math.inf if all_of_them else least.upper
                held.append((bound, best(bound, goal, orders, near=least.order, beats=to_beat)))
        except Loses as loss:
            refused.append(Considered(bound.label, "loses", None, loss.order, f"{goal.seeks} {loss}"))
        except TooMuchWork as error:
            refused.append(Considered(bound.label, "skipped", None, None, str(error)))
        except HsdpError as error:
            refused.append(Considered(bound.label, "does not apply", None, None, str(error)))
    ticker.clear()
    return held, refused


def _turn(bound: Bound, goal: Goal) -> tuple[bool | int, ...]:
    """When it is tried: profiles first; but where δ is looked for, what tells at once that it is tiny comes first."""
    by_divergence, how_soon = isinstance(bound, RenyiBound), rank(bound.statement)
    if goal.seeks == "epsilon":
        return by_divergence, how_soon
    return takes_long(bound.statement) and by_divergence, on_losses(bound.statement), by_divergence, how_soon


LEAST_DOUBLE = 5e-324
PROFILE_FIRST = "a divergence that takes long, and a profile holds already; effort 'thorough' computes it too"
BY_ORDER = "a profile, and a Rényi order or conversion was asked for"


def _has_profile(held: Iterable[tuple[Bound, Best]]) -> bool:
    """Whether a profile that needs what the run hides was found."""
    return any(isinstance(bound, ProfileBound) and bound.hidden_state for bound, _ in held)


def _rank(entry: Considered) -> tuple[bool, float]:
    return entry.verdict != "chosen", entry.value or 0.0


LIBRARY_NAMES = {
    "lam": "weight_decay (a regulariser added after clipping)",
    "beta": "the loss that is clipped",
    "eta": "learning_rate",
    "n": "n (size of the dataset)",
}
"""How to name what is missing in a run that was described by the libraries' names."""


def nothing_holds(candidates: Candidates, refused: Iterable[Considered]) -> HsdpError:
    """The error for a run about which no statement says anything."""
    missing = [_lacking(found, candidates) for found, _ in covering(candidates.scheme, candidates.neighbouring)]
    if missing and all(missing):
        name = min(missing, key=len)[0]
        return ArgumentError(name, None, f"not given ({LETTERS[name].meaning})", f"give {name}")
    entries = list(refused)
    by_reason = {why: [each.label for each in entries if each.reason == why] for why in (e.reason for e in entries)}
    reasons = "; ".join(f"{', '.join(labels)}: {why}" for why, labels in by_reason.items())
    setting = candidates.covered.run.setting
    problem = f"no statement for {candidates.scheme} applies ({reasons})"
    return ArgumentError("run", setting, problem, "change what keeps one from applying, or take another scheme")


UNLIKE_STEPS = (
    "steps differ, and where batches are drawn afresh hidden-state bounds are about steps that are alike: of each "
    "stretch of these by itself, which costs more here"
)
LIKE_STEPS = (
    "one learning rate and one noise throughout; or batches that take the records in turn (reshuffle), for which "
    "hidden-state bounds cover steps that differ"
)


def what_helps(candidates: Candidates, note: str) -> str:
    """What would make a hidden-state bound apply, if that is known; `note` says why there is none."""
    if note == UNLIKE_STEPS:
        return LIKE_STEPS
    footing = candidates.covered.footing
    return footing.helps if note and note == footing.lacks else ""


def why_composition(candidates: Candidates, considered: Iterable[Considered]) -> str:
    """Why no hidden-state bound is used: what is missing, or that composition is smaller."""
    covered, scheme = candidates.covered, candidates.scheme
    if not candidates.hidden:
        return f"no hidden-state statement covers {scheme} under {candidates.neighbouring}"
    if covered.run.schedule is not None and scheme.draws_afresh:
        return covered.footing.lacks or UNLIKE_STEPS
    entries = [entry for entry in considered if entry.label in candidates.hidden]
    hides = any(bound.hidden_state for bound in candidates.bounds)  # stretches of steps need not
    if not entries or (hides and any(entry.verdict == "loses" for entry in entries)):
        return "composition is the smallest here; it holds even if every iterate is released"
    if covered.footing.lacks:
        return covered.footing.lacks
    if covered.uncovered:
        return covered.uncovered
    missing = _missing(candidates)
    if missing:
        clipped = not isinstance(covered.run.update, Unclipped)
        meanings = " and ".join(
            LIBRARY_NAMES[name] if clipped and name in LIBRARY_NAMES else f"{name} ({LETTERS[name].meaning})"
            for name in missing
        )
        return f"hidden-state bounds need {meanings}, not given here"
    return f"no hidden-state bound applies: {entries[0].reason}"


def _missing(candidates: Candidates) -> tuple[str, ...]:
    """The letters missing for the hidden-state statement that lacks fewest; none if one has all it needs."""
    from ..catalogue import labels, statement

    stated = candidates.hidden.intersection(labels())
    missing = [_lacking(statement(label), candidates) for label in stated]
    return min(missing, key=lambda names: ("lipschitz" in names, len(names), names), default=())


def _lacking(found: Statement, candidates: Candidates) -> tuple[str, ...]:
    return lacking(found, candidates.covered.setting_for(found), candidates.steps)


def margins(bound: Bound, found: Best) -> Iterator[Margin]:
    """The hypotheses of the bound used, with this run's values."""
    from sympy import Or

    from ..tex import plain

    values = dict(bound.setting.values()) | {name: Fraction(place) for name, place in bound.places[-1].items()}
    values |= found.choices
    values["alpha"] = found.order if isinstance(found.order, Fraction) else Fraction(2)
    for hypothesis in bound.statement.hypotheses:
        alternatives = hypothesis.args if isinstance(hypothesis, Or) else (hypothesis,)
        if not all(_letters(each) <= values.keys() for each in alternatives):
            continue  # where steps differ, there is no one number of epochs, nor always a constant
        left, right, margin = max((_sides(each, values) for each in alternatives), key=lambda sides: sides[2])
        yield Margin(" or ".join(map(plain, alternatives)), left, right, margin)


def _letters(hypothesis: Relational) -> frozenset[str]:
    """What a hypothesis needs values of."""
    from ..evaluate.program import compile_expression

    return compile_expression(hypothesis.lhs).leaves | compile_expression(hypothesis.rhs).leaves


def _sides(hypothesis: Relational, values: dict[str, Fraction]) -> tuple[float, float, float]:
    """Both sides of a hypothesis in doubles, and the slack between them (rounded down)."""
    from ..evaluate.enclosure import value_of
    from ..evaluate.program import compile_expression

    low, high = (value_of(compile_expression(side), values) for side in (hypothesis.lts, hypothesis.gts))
    slack = Enclosure(high.lo - low.hi, high.lo - low.hi).lower()
    sides = low.upper(), high.lower()
    return (*(sides if hypothesis.lts == hypothesis.lhs else sides[::-1]), slack)


def _share_of_delta(chosen: Bound, found: Best) -> Iterator[str]:
    """What of δ is spent whatever ε is, if anything."""
    if isinstance(chosen, ProfileBound) and not chosen.same_laws:
        spent = chosen.statement.added(chosen.setting, **chosen.places[-1], **found.choices)
        if spent is not None:
            yield f"{spent.upper():.3g} of delta is the chance of a batch so large that its update need not contract"


def _assumptions(chosen: Bound, candidates: Candidates) -> tuple[str, ...]:
    """What is assumed of the run and cannot be checked here."""
    covered, used = candidates.covered, chosen.statement
    run, setting = covered.run, covered.run.setting
    words = replace(used.terms, neighbouring=candidates.neighbouring).words if used.terms else ()
    if not isinstance(run.update, Unclipped):  # what the loss must be is settled by the footing
        clip = setting["S_g"] / 2
        bounded = (
            f"every record's gradient is clipped to norm {clip}"
            if chosen.hidden_state
            else "every record's gradient is clipped, and noise_multiplier is the noise over that norm"
        )
        words = (bounded, *words[1:])
    if candidates.neighbouring is Neighbouring.ZERO_OUT and isinstance(run.update, VouchedLipschitz):
        words = (*words, "what you vouch for holds for batches in which the gradient of a record is left out, too")
    by_step = isinstance(chosen, (ByShifts, ByStretches))
    if isinstance(chosen, (ByShifts, ByStretches)):
        words = (*words[:1], *chosen.words)
    found = [*words, *used.assumes, *([chosen.why] if chosen.why else []), *(() if by_step else covered.words)]
    if run.schedule is not None:
        found.append(str(run.schedule))
    if run.projection is not None and chosen.hidden_state and not isinstance(chosen, ByShifts):
        found.append(projected_onto(run.projection))
    return tuple(found + list(_about_batches(chosen, candidates)))


def _about_batches(chosen: Bound, candidates: Candidates) -> Iterator[str]:
    """What is assumed of how batches are made."""
    scheme, run, setting = candidates.scheme, candidates.covered.run, candidates.covered.run.setting
    if scheme.goes_through_epochs and (chosen.hidden_state or run.schedule is not None):
        yield "every pass through the records is finished before the next begins"
        if run.leftover is Leftover.DROPPED and len(run.sizes) > 1:
            yield "a pass ends where fewer records are left than the batch before it, or the next one, holds"
    elif scheme.goes_through_epochs:
        passes = setting["K"] if run.steps is None else -(-run.steps // run.batches())
        yield f"no more than {passes} passes through the records are begun"
    if scheme is Scheme.POISSON:
        yield "every record is in a batch by a draw of its own: none is left out because a batch is large"
    if scheme is Scheme.BALLS_IN_BINS:
        yield (
            "every record picks one of the batches of an epoch by itself, anew in every epoch and each as likely: no "
            "batch is cut or filled up to a size; batches that are permutations of the records do not do that"
        )
        yield "sums over a batch, and their noise, are divided by one number, whatever its size"
        if run.has_leftover():
            yield f"b does not divide n, and an epoch has ⌊n/b⌋ = {run.batches()} batches"
    if scheme.draws_afresh and run.steps is None and run.has_leftover():
        yield f"b does not divide n, and an epoch is ⌊n/b⌋ = {run.batches()} steps"
    if scheme is Scheme.FULL_BATCH and "b" in setting and setting["b"] != setting["n"]:
        yield f"every step uses all n = {setting['n']} records; b = {setting['b']} plays no part"
    in_epochs = run.schedule is None and scheme not in (Scheme.POISSON, Scheme.FULL_BATCH)
    if in_epochs and run.steps is not None and run.steps % run.batches():
        yield f"{run.steps} steps, which are no whole number of epochs"
