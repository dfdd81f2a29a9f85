"""Why a test may be skipped: what is missing, and how to get it. `house/test_skips.py` allows no other way to skip."""

from __future__ import annotations

from types import ModuleType
from typing import NoReturn

import pytest

MISSING = {
    "opacus": "Opacus is not installed: run .ci/opacus, or pip install '.[opacus-test]'",
    "dp_accounting": "dp-accounting is not installed: pip install '.[test]'",
    "selenium": "selenium is not installed: pip install '.[test]'",
    "chromium": "no chromium with its driver: apt-get install chromium chromium-driver",
    "pdflatex": "no pdflatex with natbib and pgfplots: run apt-get install texlive-latex-recommended texlive-pictures",
    "paper": "the paper's LaTeX source is not at hand: put it at ../shared/paper.tex",
    "coq": "no coqc: apt-get install coq libcoq-coquelicot libcoq-interval",
    "x86-64": "sets the rounding mode of an x86-64 processor under Linux: run it on one",
    "another user": "root may write everywhere: run it as another user",
}


def module(name: str, *, missing: str) -> ModuleType:
    """The module, or the test is skipped."""
    return pytest.importorskip(name, reason=MISSING[missing])


def unless(present: object, *, missing: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not present, reason=MISSING[missing])


def skip(*, missing: str) -> NoReturn:
    pytest.skip(MISSING[missing])
