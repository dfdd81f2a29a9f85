"""`epsilon` and `delta`: the smallest certified guarantee among all statements that hold for a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..doubles import double_above, double_below
from ..enclosure import Enclosure
from ..errors import ArgumentError, HsdpError
from ..setting import Setting
from .candidates import ADD_REMOVE, Bound, apply, check_neighbouring, check_scheme, covering, is_released
from .conversion import Form, Goal, admit_delta, admit_epsilon, check_form
from .effort import NORMAL, Effort, TooMuchWork, admit_effort, rank
from .library import TrainingRun
from .orders import Best, Loses, admit_orders, best, minimum

if TYPE_CHECKING:
    from sympy.core.relational import Relational

    from ..statement import Statement

    Refuse = Callable[[Statement], str]


@dataclass(frozen=True)
class Considered:
    """One statement that covers the scheme, and what became of it.

    `value` is certified, or None; a statement that is skipped would have taken longer than the effort asked for.
    """

    label: str
    verdict: Literal["chosen", "loses", "does not apply", "skipped"]
    value: float | None
    order: Fraction | float | None
    reason: str


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
    end of its enclosure. The two differ by rounding only, or by the grid of a dynamic programme (below 1e-3 of ε, but
    for long ones; `effort="thorough"` refines it). `minimum`, if asked for, is a certified lower bound on
    what any order could have given with this bound. `note` says so where composition is all there is.
    """

    epsilon: float
    delta: float
    lower: float
    order: Fraction | float | None
    bound: str
    scheme: str
    neighbouring: str
    hidden_state: bool
    considered: tuple[Considered, ...]
    hypotheses: tuple[Margin, ...]
    assumptions: tuple[str, ...]
    setting: Setting
    minimum: float | None = None
    note: str = ""


def bounds_for(
    run: Setting | TrainingRun,
    scheme: Any,
    neighbouring: Any = None,
    refuse: Refuse | None = None,
    effort: Effort = NORMAL,
) -> tuple[list[Bound], list[Considered], str]:
    """The bounds that may hold for a run, the statements that cannot and why, and the neighbouring relation.

    `refuse` may rule out a statement for what the caller knows of the run, by returning the reason.
    """
    setting, steps = _unpack(run)
    chosen_scheme = check_scheme(scheme)
    relation = check_neighbouring(chosen_scheme, neighbouring)
    if chosen_scheme == "full_batch" and isinstance(run, TrainingRun) and setting["b"] != setting["n"]:
        # σ² and the number of epochs were computed for batches of b: ε would come out far too small
        raise ArgumentError(
            "batch_size", int(setting["b"]), f"a full batch holds all n = {setting['n']} records", "give batch_size = n"
        )
    bounds, refused = [], []
    for found, why in covering(chosen_scheme, relation):
        if refuse is not None and (reason := refuse(found)):
            refused.append(Considered(found.label, "does not apply", None, None, reason))
            continue
        try:
            bounds.append(apply(found, why, setting, steps, relation, effort))
        except TooMuchWork as error:
            refused.append(Considered(found.label, "skipped", None, None, str(error)))
        except HsdpError as error:
            refused.append(Considered(found.label, "does not apply", None, None, str(error)))
    return bounds, refused, relation


def _unpack(run: object) -> tuple[Setting, int | None]:
    if isinstance(run, Setting):
        return run, None
    if isinstance(run, TrainingRun):
        return run.setting, run.steps
    raise ArgumentError(
        "run", run, f"a {type(run).__name__} is no run", "pass Setting(n=…) or training_run(noise_multiplier=…)"
    )


def epsilon(
    run: Setting | TrainingRun,
    /,
    *,
    delta: Any,
    scheme: str,
    neighbouring: str | None = None,
    orders: Iterable[Any] | None = None,
    conversion: Form = "best",
    certify_minimum: bool = False,
    refuse: Refuse | None = None,
    effort: str | Effort = "normal",
) -> Guarantee:
    """The smallest ε at `delta` that any applicable statement certifies, and which one it was.

    `refuse`, a function of a statement, rules it out by returning a reason. `effort` says how long dynamic programmes
    may take: "quick" does without, "normal" gives them ten or twenty seconds, "thorough" minutes; what is skipped is
    among `considered`, with the reason.

    >>> run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> found = epsilon(run, delta="1e-5", scheme="shuffle")
    >>> found.epsilon < 0.3064, found.hidden_state
    (True, True)
    """
    check_form(conversion)
    goal = Goal("epsilon", admit_delta(delta), conversion)
    return _guarantee(run, goal, scheme, neighbouring, orders, certify_minimum, refuse, admit_effort(effort))


def delta(
    run: Setting | TrainingRun,
    /,
    *,
    epsilon: Any,
    scheme: str,
    neighbouring: str | None = None,
    orders: Iterable[Any] | None = None,
    refuse: Refuse | None = None,
    effort: str | Effort = "normal",
) -> Guarantee:
    """The smallest δ at `epsilon` that any applicable statement certifies, and which one it was."""
    goal = Goal("delta", admit_epsilon("epsilon", epsilon))
    return _guarantee(run, goal, scheme, neighbouring, orders, False, refuse, admit_effort(effort))


def _guarantee(
    run: Any,
    goal: Goal,
    scheme: Any,
    neighbouring: Any,
    orders: Any,
    certify_minimum: bool,
    refuse: Refuse | None,
    effort: Effort,
) -> Guarantee:
    wanted = admit_orders(orders)
    bounds, refused, relation = bounds_for(run, scheme, neighbouring, refuse, effort)
    held, lost = certified(bounds, goal, wanted)
    refused = lost + refused
    if not held:
        raise _nothing_holds(run, scheme, refused)
    chosen, found = min(held, key=lambda pair: pair[1].upper)
    least = double_below(minimum(chosen, goal)) if certify_minimum else None
    entries = [
        Considered(bound.label, "chosen", result.upper, result.order, "the smallest")
        if bound is chosen
        else Considered(bound.label, "loses", result.upper, result.order, f"{goal.seeks} {result.upper:.6g} is larger")
        for bound, result in held
    ]
    setting, steps = _unpack(run)
    given = double_above(goal.given)  # a guarantee at δ (or ε) is one at any larger δ (ε)
    return Guarantee(
        epsilon=found.upper if goal.seeks == "epsilon" else given,
        delta=found.upper if goal.seeks == "delta" else given,
        lower=found.lower,
        order=found.order,
        bound=chosen.label,
        scheme=scheme,
        neighbouring=relation,
        hidden_state=chosen.hidden_state,
        considered=tuple(sorted(entries, key=_rank)) + tuple(refused),
        hypotheses=tuple(margins(chosen, found.order)),
        assumptions=_assumptions(chosen, setting, steps, scheme),
        setting=setting,
        minimum=least,
        note=_note(chosen, scheme, relation),
    )


def certified(
    bounds: Iterable[Bound],
    goal: Goal,
    orders: tuple[Fraction | float, ...] | None,
    *,
    all_of_them: bool = False,
) -> tuple[list[tuple[Bound, Best]], list[Considered]]:
    """Every bound at its best order, and those that fail or, unless `all_of_them` are wanted, cannot win.

    Closed forms come first: where one of them certifies 0, the rest need not be evaluated, and what takes long starts
    from the order that is best for them.
    """
    held: list[tuple[Bound, Best]] = []
    refused: list[Considered] = []
    for bound in sorted(bounds, key=lambda bound: rank(bound.statement)):
        leader, least = min(held, key=lambda pair: pair[1].upper, default=(None, Best(None, None)))
        if leader is not None and least.upper == 0 and not all_of_them:
            refused.append(Considered(bound.label, "loses", None, None, f"{leader.label} already certifies 0"))
            continue
        try:
            to_beat = math.inf if all_of_them else least.upper
            held.append((bound, best(bound, goal, orders, near=least.order, beats=to_beat)))
        except Loses as loss:
            refused.append(Considered(bound.label, "loses", None, loss.order, f"{goal.seeks} {loss}"))
        except HsdpError as error:
            refused.append(Considered(bound.label, "does not apply", None, None, str(error)))
    return held, refused


def _rank(entry: Considered) -> tuple[bool, float]:
    return entry.verdict != "chosen", entry.value or 0.0


def _nothing_holds(run: Any, scheme: str, refused: list[Considered]) -> HsdpError:
    """The error for a run about which no statement says anything."""
    reasons = "; ".join(f"{entry.label}: {entry.reason}" for entry in refused)
    return ArgumentError("run", _unpack(run)[0], f"no statement for {scheme} applies", f"see why: {reasons}")


def _note(chosen: Bound, scheme: str, relation: str) -> str:
    if chosen.hidden_state:
        return ""
    if any(not is_released(found) for found, _ in covering(scheme, relation)):
        return "composition is the smallest here; it holds even if every iterate is released"
    return f"no hidden-state statement covers {scheme} under {relation}: this is composition over all iterates"


def margins(bound: Bound, order: Fraction | float | None) -> Iterator[Margin]:
    """The hypotheses of the bound used, with this run's values."""
    from sympy import Or

    from ..tex import plain

    values = dict(bound.setting.values()) | {name: Fraction(place) for name, place in bound.places[-1].items()}
    values["alpha"] = order if isinstance(order, Fraction) else Fraction(2)
    for hypothesis in bound.statement.hypotheses:
        alternatives = hypothesis.args if isinstance(hypothesis, Or) else (hypothesis,)
        left, right, margin = max((_sides(each, values) for each in alternatives), key=lambda sides: sides[2])
        yield Margin(" or ".join(map(plain, alternatives)), left, right, margin)


def _sides(hypothesis: Relational, values: dict[str, Fraction]) -> tuple[float, float, float]:
    """Both sides of a hypothesis in doubles, and the slack between them (rounded down)."""
    from ..enclosure import value_of
    from ..program import compile_expression

    low, high = (value_of(compile_expression(side), values) for side in (hypothesis.lts, hypothesis.gts))
    slack = Enclosure(high.lo - low.hi, high.lo - low.hi).lower()
    sides = low.upper(), high.lower()
    return (*(sides if hypothesis.lts == hypothesis.lhs else sides[::-1]), slack)


def _assumptions(chosen: Bound, setting: Setting, steps: int | None, scheme: str) -> tuple[str, ...]:
    found = [*chosen.statement.assumes, *([chosen.why] if chosen.why else [])]
    if chosen.label == ADD_REMOVE:
        found.append("neighbouring datasets differ in one record, added or removed")
    if {"n", "b"} <= setting.values().keys() and scheme != "full_batch" and setting["n"] % setting["b"]:
        left = "" if scheme in ("poisson", "without_replacement") else ", and what is left over is not used"
        found.append(f"an epoch has n/b = {setting['n'] // setting['b']} steps; b does not divide n{left}")
    if scheme == "full_batch" and "b" in setting and setting["b"] != setting["n"]:
        found.append(f"every step uses all n = {setting['n']} records; b = {setting['b']} plays no part")
    if steps is not None:
        found.append(f"{steps} steps, which are no whole number of epochs")
    return tuple(found)
