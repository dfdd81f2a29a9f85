"""Which statements bound a run: all whose batches are made the same way, and some from which such a bound follows.

What decides is the `scheme` of a statement. Nothing here names a theorem, so a new one is found without being added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from ..catalogue import labels, scheme_of, statement
from ..errors import ArgumentError, MissingArgument, TooManySteps
from ..meaning import OF_A_RUN, SCHEMES, Neighbouring, Quantity, Released, Scheme
from ..setting import Setting
from ..setting.letters import LETTERS, PARAMETERS
from ..standing import described, require_standing
from ..statement import Statement
from .bounds import Bound, GaussianBound, ProfileBound, RenyiBound, free_letters, needs_hidden_state
from .effort import NORMAL, Effort, certified_width, check_loudness, check_work

MOST_BATCHES_TRIED = 1000
"""Where it is not proved which batch is the worst, all are tried, up to this number."""
LONGEST_RECURSION = 5 * 10**4
"""Steps that a recursion may take before it is refused, unless it settles."""
SUPPLIED = frozenset({"alpha", "epsilon", "j0", "T"})
"""Letters that the accountant finds by itself, T from the number of epochs or of steps."""
_AVAILABLE = frozenset({letter.name for letter in PARAMETERS} | SUPPLIED)
_BOUNDS_A_RUN = ("theorem", "corollary", "baseline")
"""Kinds of statement that bound a run; a law is about one loss, and an equation may be about one epoch."""
QUASI_CONVEX = "a random order costs no more than the worst fixed one (divergences and profiles are quasi-convex)"
ANY_ORDER = "composition holds whatever the order of the batches"

_ONE_SIZE = " (with a record more or less, batches of one size hold other records)"


def check_scheme(scheme: object) -> Scheme:
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ArgumentError("scheme", scheme, "no such way of making batches", f"use one of {', '.join(SCHEMES)}")
    return Scheme(scheme)


def check_neighbouring(scheme: Scheme, neighbouring: object) -> Neighbouring:
    """The neighbouring relation to account for; for Poisson sampling both exist and add_remove is the default."""
    known = scheme.neighbours
    if neighbouring is None:
        return known[0]
    if not isinstance(neighbouring, str) or neighbouring not in list(Neighbouring):
        raise ArgumentError("neighbouring", neighbouring, "no such relation", f"use {' or '.join(Neighbouring)}")
    if neighbouring not in known:
        raise ArgumentError(
            "neighbouring",
            str(neighbouring),
            f"no statement for {scheme} covers it{_ONE_SIZE if scheme.goes_through_epochs else ''}",
            _instead(known, neighbouring),
        )
    return Neighbouring(neighbouring)


def _instead(known: tuple[Neighbouring, ...], asked: str) -> str:
    """What to ask for where a relation makes no sense."""
    others = f"use {', '.join(known[:-1])} or {known[-1]}"
    if asked == Neighbouring.ADD_REMOVE:
        schemes = " or ".join(each for each in SCHEMES if asked in each.neighbours)
        return f"{others} (the gradient is left out, and batches stay as they are), or scheme {schemes}"
    return f"{others}, or batches that are not left to chance"


@cache
def statements_of(scheme: Scheme, released: Released | None = None) -> tuple[Statement, ...]:
    """The upper bounds stated for `scheme`, as functions of a setting, an order and a batch; their proofs stand.

    With `released`, only those that hold when these iterates may be seen; no other is derived.
    """
    found = (statement(label) for label in labels() if scheme_of(label) == scheme and _may_bound(label, released))
    wanted = (each for each in found if _bounds_a_run(each) and released in (None, each.released))
    return tuple(map(require_standing, wanted))


def _may_bound(label: str, released: Released | None) -> bool:
    """Whether a statement may qualify, by what is recorded of it; `_bounds_a_run` asks the statement itself."""
    about = described(label)
    return about["kind"] in _BOUNDS_A_RUN and released in (None, about["released"])


def _bounds_a_run(found: Statement) -> bool:
    return (
        found.kind in _BOUNDS_A_RUN
        and found.quantity in OF_A_RUN
        and found.relation != ">="
        and _AVAILABLE.union(free_letters(found)).issuperset(found.needs)
    )


def covering(scheme: Scheme, neighbouring: Neighbouring) -> Iterator[tuple[Statement, str]]:
    """Statements that bound a run under `scheme`, each with the reason where it is stated for another."""
    stated = scheme.stated_for(neighbouring)
    for found in statements_of(scheme):
        if found.neighbouring == stated:
            yield found, ""
    if scheme == Scheme.SHUFFLE:
        for found in statements_of(Scheme.FIXED):
            yield found, QUASI_CONVEX if needs_hidden_state(found) else ANY_ORDER
    if scheme == Scheme.RESHUFFLE:
        yield from ((found, ANY_ORDER) for found in statements_of(Scheme.FIXED, Released.EVERY))


def apply(
    found: Statement,
    why: str,
    setting: Setting,
    steps: int | None,
    effort: Effort = NORMAL,
    relation: Neighbouring | None = None,
) -> Bound:
    """`found` for this run, or an error that says why it does not apply, `TooMuchWork` if the `effort` forbids it.

    S_g is for the `relation` that is meant, that of the statement unless another is given. `steps` is None where the
    run is K whole epochs.
    """
    for name in lacking(found, setting, steps):
        raise MissingArgument(found.label, name, LETTERS[name].meaning)
    scale = Fraction(1)
    if steps is not None and "K" in found.needs:
        setting, scale = _partial_epochs(found, setting, steps)
    _check_length(found, setting)
    check_work(found, setting, effort)
    relation = relation or found.neighbouring
    assert relation is not None
    check_loudness(found, setting, effort)
    places = _places(found, setting, steps)
    if found.is_profile:
        assert scale == 1
        kind = GaussianBound if found.quantity is Quantity.GAUSSIAN else ProfileBound
        return kind(found, setting, places, relation, why, effort)
    return RenyiBound(found, setting, places, relation, why, scale, certified_width(found, setting, effort))


def lacking(found: Statement, setting: Setting, steps: int | None) -> tuple[str, ...]:
    """The letters that a statement needs and neither the run gives nor the accountant finds by itself."""
    known = {*setting.values(), *SUPPLIED, *free_letters(found), *(["sigma"] if "sigma2" in setting else [])}
    if "T" in found.needs and steps is None and "K" not in setting:
        known -= {"T"}
    return tuple(name for name in found.needs if name not in known and not (name == "K" and steps is not None))


def _partial_epochs(found: Statement, setting: Setting, steps: int) -> tuple[Setting, Fraction]:
    """For a number of steps: a setting of whole epochs, and what to multiply its bound by."""
    from ..symbols import K

    batches = int(setting["n"] // setting["b"]) if found.scheme is not Scheme.FULL_BATCH else 1
    if steps % batches == 0:
        return setting.replace(K=steps // batches), Fraction(1)
    if needs_hidden_state(found):
        raise ArgumentError(
            "steps",
            steps,
            f"{found.label} holds at the end of an epoch of n/b = {batches} steps",
            f"stop at steps = {max(1, steps // batches) * batches}",
        )
    if not found.is_profile and found.scheme.draws_afresh and not (found.expr / K).has(K):
        return setting.replace(K=1), Fraction(steps, batches)
    return setting.replace(K=-(-steps // batches)), Fraction(1)  # a record is used at most once in each epoch begun


def _check_length(found: Statement, setting: Setting) -> None:
    """Refuse a recursion that, at the rate of ηλ a step, neither ends nor settles within a reasonable time."""
    if any(node.is_recursion for node in found.functions):
        steps = int(setting["K"] * (1 if found.scheme is Scheme.FULL_BATCH else setting["n"] // setting["b"]))
        if steps > LONGEST_RECURSION and setting["eta"] * setting["lam"] * LONGEST_RECURSION < 20:
            raise TooManySteps(steps, "a recursion")


def _places(found: Statement, setting: Setting, steps: int | None) -> tuple[Mapping[str, int], ...]:
    """The batches among which the worst is, for a statement about a record in batch j0; and the number of steps."""
    length = {}
    if "T" in found.needs:
        length["T"] = int(setting["K"] * (setting["n"] // setting["b"])) if steps is None else steps
    if "j0" not in found.needs:
        return (length,)
    last = int(setting["n"] // setting["b"]) - 1
    candidates = _worst_places(found, last)
    if candidates is None:
        if last >= MOST_BATCHES_TRIED:
            raise ArgumentError(
                "n/b", last + 1, f"it is not known for which batch {found.label} is worst", "use fewer batches"
            )
        candidates = range(last + 1)
    return tuple({"j0": place, **length} for place in candidates)


def _worst_places(found: Statement, last: int) -> Sequence[int] | None:
    """The batches that can be worst, by the proved trend of the statement in j0; None if no trend is proved."""
    from sympy import Eq, Piecewise

    from ..evaluate.trend import trend
    from ..functions.interface import Trend
    from ..symbols import N, j0

    response = trend(found.expr, j0)
    if response is not None:
        return (last,) if response is Trend.UP else (0,)
    ends = [case for case in found.expr.atoms(Piecewise) if case.args[0].cond == Eq(j0, N - 1)]
    inside = found.expr.subs({case: case.args[1].expr for case in ends})
    if ends and trend(inside, j0) is Trend.UP:  # rising up to the batch before the last, which is a case of its own
        return tuple({max(0, last - 1), last})
    return None
