"""Facts as LaTeX: each with its reference, its premises and conclusion, and the statements that rest on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..proof.kernel import Fact
from .told import told_latex
from .views import words


def facts_latex(facts: Sequence[Fact], needed: Mapping[str, Sequence[str]]) -> str:
    """A description list of facts."""
    lines = [r"\begin{description}\raggedright"]
    for fact in facts:
        source = words(fact.reference) if fact.reference else "by definition"
        lines.append(
            rf"\item[\texttt{{{words(fact.name)}}}] ({source}) " + (words(fact.note) + "." if fact.note else "")
        )
        given = "; ".join(told_latex(each) for each in fact.premises)
        lines.append((f"If {given}, then " if given else "") + told_latex(fact.conclusion) + ".")
        labels = ", ".join(rf"\texttt{{{words(label)}}}" for label in needed.get(fact.name, ()))
        lines.append(f"Needed by {labels}." if labels else "Needed by no statement.")
    return "\n".join([*lines, r"\end{description}"])
