"""The catalogue: every statement by the paper's own label, in the paper's order."""

from __future__ import annotations

from difflib import get_close_matches

from .errors import UnknownLabel
from .index import ALIASES, PLACES, labels, scheme_of
from .meaning import OF_A_RUN, Scheme
from .statement import Statement, listed

__all__ = ["labels", "scheme_of", "statement", "statements"]


def statement(label: str) -> Statement:
    """The statement the paper calls `label` (`eps0` is short for the first-epoch bound).

    >>> statement("thm:convexsmooth")
    <Statement thm:convexsmooth: Privacy dynamics under convex smooth loss>
    """
    label = ALIASES.get(label, label) if isinstance(label, str) else label
    if not isinstance(label, str) or label not in PLACES:
        close = get_close_matches(str(label), [*PLACES, *ALIASES], n=2, cutoff=0.5)
        raise UnknownLabel(label, close)
    found = listed(label)
    _check(label, found)
    return found


def _check(label: str, found: Statement) -> None:
    """An error unless a statement has the label it is listed under and, if it bounds a run, says on what terms."""
    bounds_a_run = scheme_of(label) is not Scheme.NONE and found.kind != "law"
    if found.label != label or (bounds_a_run and (found.terms is None or found.quantity not in OF_A_RUN)):
        raise TypeError(
            f"index.py lists {label}, and {found!r} has another label, or bounds a run without saying on what terms"
        )
    if found.terms is not None and found.quantity in OF_A_RUN and found.scheme is not scheme_of(label):
        raise TypeError(f"index.py says {scheme_of(label)!r} of {label}, and its theorem {found.scheme!r}")


def statements() -> tuple[Statement, ...]:
    """All statements, in the paper's order."""
    return tuple(map(statement, PLACES))
