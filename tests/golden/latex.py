"""The LaTeX and Markdown that is kept: every view of every statement."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from hsdp_symbolic import Setting, labels, statement, statements
from hsdp_symbolic.setting.letters import LETTERS
from hsdp_symbolic.tex import views
from hsdp_symbolic.tex.document import document
from hsdp_symbolic.tex.macros import macros

HERE = Path(__file__).parent
STATEMENTS = HERE / "statements.json"
FIGURE = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
CHOICES = {"alpha": 15, "j0": 24, "j": 3, "k": 2, "t": "1/100", "c": "1/3", "sigma_mul": "7/2", "classes": 2}
CHOICES |= {"T": 12, "window": 10, "share": "1/2", "known": 2, "degree": 5, "epsilon": "1/20", "forgetting": 25}
"""What the figures say of the letters besides the run, and a choice where they say nothing; 1 for any other letter."""
DERIVED_IN_MARKDOWN = ("thm:GD_baseline", "thm:convexsmooth", "lem:post_proc")


def values_view(label: str, form: views.Format) -> str:
    found = statement(label)
    chosen = {name: CHOICES.get(name, 1) for name in found.needs if name in LETTERS and name not in FIGURE_LETTERS}
    if label == "clip:logistic":  # which is for clip norms that are small beside the features
        chosen["L"] = 4
    return views.render(views.values(found, FIGURE, **chosen), form)


FIGURE_LETTERS = FIGURE.exact_strings().keys()


def hypotheses_view(label: str, form: views.Format) -> str:
    found = statement(label)
    return views.render([*views.hypotheses(found), views.display(found)], form)


@cache
def derivation_view(label: str, form: views.Format) -> str:
    steps, passed = views.derivation(statement(label))
    assert passed, label
    return views.render(steps, form)


@cache
def whole_document() -> str:
    text, passed = document(statements())
    assert passed
    return text


def markdown() -> str:
    parts = []
    for label in labels():
        parts += [f"## {label}\n", hypotheses_view(label, "markdown"), values_view(label, "markdown")]
        parts += [derivation_view(label, "markdown")] if label in DERIVED_IN_MARKDOWN else []
    return "\n".join(parts)


FILES = {
    "document.tex": whole_document,
    "macros.tex": lambda: macros(statements()),
    "values.tex": lambda: "\n".join(f"% {label}\n{values_view(label, 'latex')}" for label in labels()),
    "markdown.md": markdown,
}


def statements_text() -> str:
    found = {label: statement(label).latex().split("\n") for label in labels()}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def kept() -> dict[Path, Callable[[], str]]:
    """Every kept file, and what makes its text."""
    return {STATEMENTS: statements_text, **{HERE / name: view for name, view in FILES.items()}}
